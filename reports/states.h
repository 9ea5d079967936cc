/* SPDX-License-Identifier: MIT */
/*
 * What WSAT, HIR and XSR tell beyond their cells: states of the drive, recovery with idle time, recovery after another
 * stimulus (spec 10, 11, 12). Worked out once, for the sheets and for JSON.
 */
#ifndef REPORTS_STATES_H
#define REPORTS_STATES_H

#include "reports/series.h"

/* ---- WSAT ---- */

/*
 * FOB (fresh out of box): from the first minute until two minutes in a row fall below 90 % of the highest of the first
 * five; it ends at the latest with the measurement window. LAST: the samples of the measurement window (of the last up
 * to five rounds where there is none), as the PTS reports them. TRANSITION: the minutes between.
 */
enum wsat_period { WSAT_FOB, WSAT_TRANSITION, WSAT_LAST, WSAT_PERIODS };
#define WSAT_FOB_SHARE 0.9

struct wsat_state {
	const char *name;
	unsigned first, n; /* minutes of the loop; n 0: there is no such state */
	double from_ns, to_ns; /* since the start of the first minute */
	double from_bytes, to_bytes; /* written since the purge */
	double iops, bytes_per_s, art_ns;
	int64_t mrt_ns, p99999_ns;
	uint64_t above; /* IOs above 99.999 % */
};

struct wsat {
	const struct test *test;
	const struct section *section;
	const struct measure **minute; /* the loop, in order */
	unsigned n_minutes;
	struct curve curve;
	struct wsat_state state[WSAT_PERIODS];
	const struct measure *sample[WINDOW_ROUNDS]; /* behind WSAT_LAST */
	unsigned n_samples;
	double deviation_iops; /* of the samples; NAN below two */
	double data_excursion,
		slope_excursion; /* relative to the average; NAN without five samples */
	double worst_iops; /* lowest whole second of WSAT_LAST; NAN: none was recorded */
	int64_t worst_cell;
	unsigned worst_second; /* of that cell */
};

/* How many of the leading minutes are FOB. */
unsigned wsat_fob(const double *iops, unsigned n);

/* ---- HIR ---- */

#define HIR_OVER 1.1 /* recovered: 10 % over the steady state */
#define HIR_STATES_MAX 32

struct hir_state {
	const char *label; /* "5s" */
	double burst_ns, wait_ns; /* asked */
	double idle_ns; /* mean measured */
	double number; /* wait / burst: "Wait State 5"; NAN unknown */
	double start_ns, base_start_ns; /* since the start of the test */
	const struct measure **burst, **base;
	unsigned n_bursts, n_base;
	double mean_iops, base_iops; /* mean of the bursts, of the baseline's steps */
	double end_iops, base_end_iops; /* mean of their last tenth */
	double reach_ns,
		back_ns; /* until at, until back within HIR_OVER x SS; NAN: not in this state */
};

struct hir {
	const struct test *test;
	const struct section *section;
	const struct combo *combo; /* the preconditioning's sample */
	double ss_iops; /* mean of its window; NAN: none */
	double start_ns, end_ns; /* of the wait states, since the start of the test */
	struct hir_state state[HIR_STATES_MAX];
	unsigned n;
};

/* End of the first cell at or above (@up), at or below (not @up) the level, since @start_ns; NAN: none. */
double hir_reach(const struct measure *const *m, unsigned n, double level, bool up);

/* ---- XSR ---- */

#define XSR_GROUPS_MAX 8

struct xsr_group {
	const char *label, *title; /* "ag1"; "SEQ 1024 KiB W" */
	const struct measure **step;
	unsigned n;
	double step_ns; /* asked */
	double start_ns, end_ns; /* since the start of the first group */
	double mean_bps, end_bps; /* of all steps, of the last */
	double art_peak_ns;
	int64_t mrt_peak_ns;
};

struct xsr {
	const struct test *test;
	const struct section *section;
	struct xsr_group group[XSR_GROUPS_MAX];
	unsigned n;
	/* Recovery of the last group to the first: steps of the last group until then; 0 not yet, -1 not known. */
	int recovery, recovery_hour;
	double last_hour_bps; /* mean of the last hour of the first group, of its last eighth when it is shorter */
	unsigned last_hour_steps;
};

/* First of @n values (from 1) that is at @level or above it, with the tolerance of the steady state; 0: none. */
unsigned xsr_recovery(const double *value, unsigned n, double level);
/* Minutes until a recovery: NAN when there is none. */
double xsr_recovery_min(const struct xsr *x, int steps);

/* Fills d->wsat, d->hir, d->xsr where the run has them. */
int dataset_states(struct dataset *d, struct err *err) must_check;

/* The same of another test that is one loop of samples. */
int wsat_of(struct dataset *d, const struct test *t, const struct wsat **ret,
	    struct err *err) must_check;

/* Parts of the above, one file each. */
int wsat_load(struct dataset *d, const struct test *t, struct err *err) must_check;
void hir_load(struct dataset *d, const struct test *t);
void xsr_load(struct dataset *d, const struct test *t);

/* "RND 4 KiB W"; the name of the access where it is a mix of sizes. */
const char *measure_title(struct arena *a, const struct measure *m);
/* The cells of a test that count and have one of the phases ("wdpc sample"), in order. */
const struct measure **measures_of(struct dataset *d, const struct test *t, const char *phases,
				   unsigned *ret_n);
/* Why a loop ended, in words; "-" where it did not. */
const char *ended_text(const struct section *s);

#endif
