/* SPDX-License-Identifier: MIT */
/* Cross stimulus recovery (spec 12): access groups one after the other, and when the last is where the first was. */
#include <math.h>
#include <string.h>

#include "reports/states.h"

#define HOUR_NS 3600e9
#define HOUR_SHARE 0.9

unsigned xsr_recovery(const double *value, unsigned n, double level)
{
	for (unsigned i = 0; i < n; i++)
		if (value[i] >= level * (1 - 1e-9))
			return i + 1;
	return 0;
}

double xsr_recovery_min(const struct xsr *x, int steps)
{
	return steps > 0 ? steps * x->group[x->n - 1].step_ns / 60e9 : NAN;
}

static struct xsr_group *group_of(struct dataset *d, struct xsr *x, const struct measure *m)
{
	for (unsigned i = 0; i < x->n; i++)
		if (!strcmp(x->group[i].label, m->label))
			return &x->group[i];
	if (x->n == XSR_GROUPS_MAX)
		return NULL;
	struct xsr_group *g = &x->group[x->n++];
	*g = (struct xsr_group){ .label = m->label, .mrt_peak_ns = -1, .art_peak_ns = NAN };
	g->title = measure_title(&d->arena, m);
	g->step = arena_array(&d->arena, const struct measure *, d->n_measures + 1);
	return g;
}

static double mean_bps(const struct measure *const *m, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += m[i]->bytes_per_s;
	return n ? sum / n : NAN;
}

static void judge_group(const struct xsr *x, struct xsr_group *g, double start_ns)
{
	const struct measure *last = g->step[g->n - 1];
	uint64_t asked = asked_ns(x->test, g->step[0]);

	g->step_ns = asked ? (double)asked : (double)g->step[0]->elapsed_ns;
	g->start_ns = (double)g->step[0]->start_ns - start_ns;
	g->end_ns = (double)(last->start_ns + last->elapsed_ns) - start_ns;
	g->mean_bps = mean_bps(g->step, g->n);
	g->end_bps = last->bytes_per_s;
	for (unsigned i = 0; i < g->n; i++) {
		g->art_peak_ns = fmax(g->art_peak_ns, g->step[i]->art_ns);
		if (g->step[i]->mrt_ns > g->mrt_peak_ns)
			g->mrt_peak_ns = g->step[i]->mrt_ns;
	}
}

/* Of the last group against the first; the groups between disturb. */
static void judge_recovery(struct dataset *d, struct xsr *x)
{
	const struct xsr_group *first = x->group, *last = x->n ? first + x->n - 1 : first;

	x->recovery = x->recovery_hour = -1;
	x->last_hour_bps = NAN;
	if (!x->n)
		return;
	unsigned hour = (unsigned)fmin(HOUR_NS / first->step_ns + 0.5, 1e9);
	x->last_hour_steps = hour <= first->n ? hour : (first->n + 7) / 8;
	x->last_hour_bps = mean_bps(first->step + (first->n - x->last_hour_steps),
				    x->last_hour_steps);
	if (x->n < 3)
		return;
	double *v = arena_array(&d->arena, double, last->n + 1);
	for (unsigned i = 0; i < last->n; i++)
		v[i] = last->step[i]->bytes_per_s;
	x->recovery = (int)xsr_recovery(v, last->n, first->mean_bps);
	x->recovery_hour = (int)xsr_recovery(v, last->n, HOUR_SHARE * x->last_hour_bps);
}

void xsr_load(struct dataset *d, const struct test *t)
{
	struct xsr *x = arena_new(&d->arena, struct xsr);
	unsigned n;
	const struct measure **m = measures_of(d, t, "stimulus", &n);

	x->test = t;
	x->section = &t->section[0];
	for (unsigned i = 0; i < n; i++) {
		struct xsr_group *g = group_of(d, x, m[i]);
		if (g)
			g->step[g->n++] = m[i];
	}
	for (unsigned i = 0; i < x->n; i++)
		judge_group(x, &x->group[i], (double)m[0]->start_ns);
	judge_recovery(d, x);
	d->xsr = x;
}
