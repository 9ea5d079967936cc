/* SPDX-License-Identifier: MIT */
/* The sheet of a replay while it is built. */
#ifndef REPORTS_RWSW_REPLAY_H
#define REPORTS_RWSW_REPLAY_H

#include "reports/plots.h"
#include "reports/rwsw.h"

struct replay_build {
	struct page page;
	const struct dataset *d;
	const struct workload *w;
	const struct replay *r;
	const struct section *section; /* of its preconditioning; NULL none */
	struct arena *a; /* of the grid */
	struct plots pl;
};

/* IOPS, MB/s, response times, OIO of each step over time, in the four quarters of a place. */
void replay_panels(struct replay_build *x, const struct replay_scale *s, struct place at);
void replay_page_series(struct replay_build *x, const struct replay_scale *s);
void replay_page_overlay(struct replay_build *x); /* all scales over one another */
void replay_data(struct replay_build *x); /* D_streams: IOs of each step by stream */

void fidelity_lines(struct replay_build *x, struct header *h);
void fidelity_pages(struct replay_build *x); /* the account; rates and response times */

#endif
