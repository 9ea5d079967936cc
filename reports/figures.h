/* SPDX-License-Identifier: MIT */
/*
 * The figures a run is known by, one for each load of each test, all in one form: the Max IOPS point of a demand variation, the
 * peak of a curve, the best cell inside a bound, each scale of a replay, each stream alone, all drives of a scaling test, the
 * cells of a loop. Comparisons of ways to a drive, of layouts and of many workloads are made of them.
 */
#ifndef REPORTS_FIGURES_H
#define REPORTS_FIGURES_H

#include "reports/dataset.h"

enum figure_kind {
	FIGURE_CELL, /* of a loop: mean over the window */
	FIGURE_STEP, /* the fastest step of an access, outside loops */
	FIGURE_MAX, /* of a demand variation */
	FIGURE_PEAK, /* what a curve's shares are shares of */
	FIGURE_BEST, /* inside a response time */
	FIGURE_REPLAY, /* one scale */
	FIGURE_STREAM, /* alone */
	FIGURE_SCALE /* all drives, fastest thread count */
};

struct figure {
	enum figure_kind kind;
	const struct test *t;
	const char *access; /* "RND 4 KiB R", "oracle-80-20" */
	const char *what; /* the access with what tells it apart: "RND 8 KiB R/W 65/35, Max IOPS" */
	const char *tcqd;
	const char *pattern; /* "RND" "SEQ"; "" of several or none known */
	int64_t block_bytes; /* 0: of several */
	double read_pct;
	double iops, bytes_per_s, art_ns, p99999_ns; /* NAN unknown */
	double cv; /* of the rounds' IOPS; NAN */
	bool inside; /* of a bound: FIGURE_BEST */
	const char *why; /* it is no result: "not steady"; NULL */
};

/* Why the values of a test, or of one section of it, are no results: "not run", "not steady" ...; NULL: they are. */
const char *why_no_result(const struct test *t, const struct section *s);
/* All of a run, in the order of its tests. Of the arena. */
unsigned figures_load(const struct dataset *d, struct arena *a, struct figure **ret);
/* "RND 4 KiB R/W 65/35" of an access that is called by no more than that, else its name: "oracle-80-20". */
const char *access_title(struct arena *a, const struct measure *m);

#endif
