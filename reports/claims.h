/* SPDX-License-Identifier: MIT */
/* What a vendor claims of a drive, from an ini (--claims), held against what a run measured. */
#ifndef REPORTS_CLAIMS_H
#define REPORTS_CLAIMS_H

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "reports/dataset.h"

/* An access as people write it: "RND 4 KiB R", "rnd 4k 65/35", "seq 128k w". */
struct access {
	const char *pattern; /* "RND" "SEQ"; "": no such access, a name */
	int64_t block_bytes;
	double read_pct;
	int tc, qd; /* 0 not said */
};

struct claim {
	const char *name; /* of its section: "RND 4K read" */
	unsigned line; /* where its section begins */
	unsigned line_test, line_access;
	bool doubtful; /* begins like an access and is none: a name of the runs, or a mistake */
	const char *model; /* of which drives; "" all. Matches model or serial as fnmatch */
	const char *test, *access, *tcqd, *metric; /* tcqd: "" any; metric: key of struct result */
	const char *section; /* of the test: its number or label; "" any */
	const char *condition; /* as the vendor words it; "" none */
	struct access cell; /* what @access says, when it is of that kind */
	int tc, qd; /* 0 any */
	double value, tolerance; /* base unit; a part of 1 */
	enum unit unit;
	bool lower_is_better;
};

struct claims {
	struct claim *v;
	unsigned n;
	const char *file; /* its name without folders */
	const char *path; /* as it was named, for messages */
	const char *sha256; /* of the file */
	struct arena arena;
};

/* -EINVAL FILE:LINE and the mistake. @file NULL: none. Release with claims_release(), also on error. */
int claims_read(const char *file, struct claims *ret, struct err *err) must_check;
void claims_release(struct claims *c);
/* -EINVAL FILE:LINE where a claim is of a test, or an access, that neither pts knows nor any run of the database. */
int claims_tests(const struct claims *c, struct reader *r, struct err *err) must_check;

enum claim_verdict { CLAIM_NOT_ASSESSED, CLAIM_MET, CLAIM_MISSED };
struct claim_check {
	const struct claim *claim;
	const struct test *test; /* that was measured; NULL: none */
	const struct result *result; /* NULL: no line of the Summary is like it */
	double measured, limit, difference; /* base unit; difference: part of the claim, + more */
	double uncertainty; /* standard, of the mean of the rounds, part of 1; NAN */
	enum claim_verdict verdict;
	bool unsteady; /* not assessed, for want of a steady state */
	char under[128]; /* "IOPS T4Q32, WCD, SS 1-5"; "" not measured */
	char why[320]; /* not assessed: "steady state not reached", "not measured" ...; else "" */
};
/* False: the claim is of another drive. */
bool claim_check(const struct claim *c, const struct dataset *d, struct claim_check *ret);
const char *claim_verdict_name(enum claim_verdict v); /* "PASS" "FAIL" "NOT ASSESSED" */

struct claim_checks {
	struct claim_check *v; /* of the claims that are of this drive */
	unsigned n, n_met, n_missed, n_open;
};
void claims_check(const struct claims *c, const struct dataset *d, struct arena *a,
		  struct claim_checks *ret);
/* Warnings of the claims of @d that are missed or not assessed. */
void claims_warn(struct dataset *d);
/* "5 of 8 met, 2 missed, 1 not assessed" */
const char *claims_counts(struct arena *a, const struct claim_checks *c);

/* In the unit that a claim's table shows: IOPS, MB/s, us. */
double claim_shown(const struct claim *c, double base);
const char *claim_unit(const struct claim *c);
const char *claim_metric(const struct claim *c); /* "99.9 % RT" */

#endif
