/* SPDX-License-Identifier: MIT */
/* The best IOPS inside a response time: the TC x QD cells of each access of such a test, and which of them is the best. */
#ifndef REPORTS_BOUNDED_H
#define REPORTS_BOUNDED_H

#include "reports/dataset.h"

#define BOUNDED_SIDE 15
#define BOUNDED_LOADS 32 /* accesses of a test */

struct bounded {
	const struct test *t;
	const struct section *s;
	const char *access;
	const struct measure *first; /* one of its cells */
	unsigned n_tc, n_qd, n_cells, n_inside;
	int tc[BOUNDED_SIDE], qd[BOUNDED_SIDE]; /* lowest first */
	const struct measure *cell[BOUNDED_SIDE][BOUNDED_SIDE];
	double limit_ns; /* NAN: not to be read from the parameters */
	const struct operating_point *best; /* NULL: none was picked */
};

/* At most BOUNDED_LOADS, in the order measured, into @ret; returns how many. */
unsigned bounded_loads(const struct dataset *d, const struct test *t, struct bounded *ret);
bool bounded_inside(const struct bounded *b, const struct measure *m);
/* The cell that was picked, or NULL. */
const struct measure *bounded_best(const struct bounded *b);
/* "0.3 ms"; "unknown". */
const char *bounded_limit(const struct bounded *b, struct arena *a);

#endif
