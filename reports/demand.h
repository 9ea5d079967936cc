/* SPDX-License-Identifier: MIT */
/*
 * Demand variation (DIRTH, CBW and tests like them; spec 13, 14): the TC x QD cells as a matrix, cells of the same total
 * OIO in one group, the operating points with what was measured at them. Worked out here, drawn by demand_pages.c.
 */
#ifndef REPORTS_DEMAND_H
#define REPORTS_DEMAND_H

#include "reports/dataset.h"
#include "reports/grid.h"

#define DEMAND_MAX 15 /* thread counts, depths */
#define DEMAND_POINTS 8
#define DEMAND_MINUTES 1024 /* steps of a pre-write that are drawn */

/* Cells of one total OIO. */
struct demand_toio {
	int toio;
	unsigned pairs, n; /* cells of the loop; those with a result */
	const struct combo *cell[DEMAND_MAX * DEMAND_MAX]; /* [pairs] */
	double iops, bytes_per_s; /* mean over the pairs */
	double art_ns; /* over all their IOs */
	double p99999_ns; /* mean over the pairs that have one */
	double cpu_total_pct;
};

struct demand_point {
	const char *key, *name; /* "max", "Max IOPS" */
	const struct operating_point *op; /* NULL: none was picked */
	const struct combo *cell; /* its cell of the matrix */
	const struct capture_hist *hist; /* NULL: not measured */
	const struct measure **minute; /* its pre-write, step by step */
	unsigned n_minutes;
};

struct demand {
	const struct test *t;
	const struct section *pre, *dv; /* preconditioning and demand variation; NULL: not begun */
	unsigned n_tc, n_qd;
	int tc[DEMAND_MAX], qd[DEMAND_MAX]; /* highest first */
	const struct combo *cell[DEMAND_MAX][DEMAND_MAX]; /* [tc][qd]; NULL not measured */
	unsigned n_cells, n_results; /* cells measured at all; with a mean over the window */
	struct demand_toio toio[DEMAND_MAX * DEMAND_MAX]; /* lowest first */
	unsigned n_toio;
	struct demand_point point[DEMAND_POINTS];
	unsigned n_points;
	const struct measure **irpw; /* pre-writes between rounds */
	unsigned n_irpw;
	double little_worst_pct; /* largest |IOs/s x service time / in flight - 1| of the cells; NAN none */
	const struct combo *little_cell;
};

/* A test made like DIRTH: by its clause, or by its shape (a loop over TC and QD). */
bool demand_is(const struct test *t);
/* One whose block sizes are a composite by definition: CBW. */
bool demand_is_cbw(const struct test *t);
void demand_init(struct demand *m, const struct dataset *d, const struct test *t, struct arena *a);

double combo_cpu_sys(const struct combo *c); /* mean over the window */
double combo_cpu_total(const struct combo *c);
double combo_inflight(const struct combo *c);
double combo_threads_seen(const struct combo *c);

/* The sheet of one such test: P1..P15 and the tables. */
void demand_sheet(const struct dataset *d, struct grid *g, const struct test *t);

#endif
