/* SPDX-License-Identifier: MIT */
/* Drives x threads: the steps of a scaling test as a matrix for each mix and size. */
#ifndef REPORTS_SCALE_H
#define REPORTS_SCALE_H

#include "reports/dataset.h"

#define SCALE_SIDE 64 /* drives, thread counts */
#define SCALE_LOADS 16

/* One mix and size. */
struct scale_load {
	const char *access;
	const struct measure *first; /* one of its cells */
	int64_t block_bytes;
	double read_pct;
	unsigned n_tc, n_drives, n_cells;
	int tc[SCALE_SIDE], drives[SCALE_SIDE]; /* lowest first */
	const struct measure *cell[SCALE_SIDE][SCALE_SIDE]; /* [tc][drives]: the sum rows */
};

/* At most SCALE_LOADS, in the order measured, into @ret; returns how many. */
unsigned scale_loads(const struct dataset *d, const struct test *t, struct scale_load *ret);
/* A member's row of the same step. */
bool scale_is_member(const struct measure *m, const struct measure *sum);
unsigned scale_member_rows(const struct dataset *d, const struct measure *sum);

/* IOPS / (drives x IOPS of one drive at the same threads); NAN where one drive was not measured. */
double scale_efficiency(double iops, double drives, double one_iops);
/* The fastest cell with so many drives (index); NULL none. */
const struct measure *scale_best(const struct scale_load *l, unsigned drives);

#endif
