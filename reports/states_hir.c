/* SPDX-License-Identifier: MIT */
/* Host idle recovery (spec 11): wait states of bursts and idle spans, each followed by its baseline. */
#include <math.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/states.h"

double hir_reach(const struct measure *const *m, unsigned n, double level, bool up)
{
	for (unsigned i = 0; i < n; i++) {
		bool there = up ? m[i]->iops >= level * (1 - 1e-9)
				: m[i]->iops <= level * (1 + 1e-9);
		if (there)
			return (double)(m[i]->start_ns + m[i]->elapsed_ns - m[0]->start_ns);
	}
	return NAN;
}

static double mean_iops(const struct measure *const *m, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += m[i]->iops;
	return n ? sum / n : NAN;
}

/* Of the last tenth, at least one. */
static double last_iops(const struct measure *const *m, unsigned n)
{
	unsigned k = (n + 9) / 10;

	return mean_iops(m + (n - k), k);
}

static struct hir_state *state_of(struct dataset *d, struct hir *h, const char *label)
{
	uint64_t ns;

	for (unsigned i = 0; i < h->n; i++)
		if (!strcmp(h->state[i].label, label))
			return &h->state[i];
	if (h->n == HIR_STATES_MAX)
		return NULL;
	struct hir_state *s = &h->state[h->n++];
	*s = (struct hir_state){ .label = label, .wait_ns = NAN };
	if (!parse_time(label, &ns))
		s->wait_ns = (double)ns;
	s->burst = arena_array(&d->arena, const struct measure *, d->n_measures + 1);
	s->base = arena_array(&d->arena, const struct measure *, d->n_measures + 1);
	return s;
}

/* Idle spans have no label: they belong to the bursts before them. */
static void collect(struct dataset *d, struct hir *h, const struct measure *const *m, unsigned n)
{
	struct hir_state *now = NULL;
	double idle = 0;
	unsigned idles = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(m[i]->phase, "idle")) {
			idle += (double)m[i]->elapsed_ns;
			idles++;
		} else {
			struct hir_state *s = state_of(d, h, m[i]->label);
			if (s && s != now)
				idle = idles = 0;
			now = s;
			if (s && !strcmp(m[i]->phase, "stimulus"))
				s->burst[s->n_bursts++] = m[i];
			else if (s)
				s->base[s->n_base++] = m[i];
		}
		if (now)
			now->idle_ns = idles ? idle / idles : NAN;
	}
}

static void judge(const struct hir *h, struct hir_state *s)
{
	const struct measure *first = s->n_bursts ? s->burst[0] : NULL;

	if (first) {
		uint64_t asked = asked_ns(h->test, first);
		s->burst_ns = asked ? (double)asked : (double)first->elapsed_ns;
		s->start_ns = (double)first->start_ns;
	}
	s->base_start_ns = s->n_base ? (double)s->base[0]->start_ns : NAN;
	s->number = s->burst_ns > 0 && isfinite(s->wait_ns) ? s->wait_ns / s->burst_ns : NAN;
	s->mean_iops = mean_iops(s->burst, s->n_bursts);
	s->base_iops = mean_iops(s->base, s->n_base);
	s->end_iops = last_iops(s->burst, s->n_bursts);
	s->base_end_iops = last_iops(s->base, s->n_base);
	s->reach_ns = s->back_ns = NAN;
	if (isfinite(h->ss_iops)) {
		s->reach_ns = hir_reach(s->burst, s->n_bursts, HIR_OVER * h->ss_iops, true);
		s->back_ns = hir_reach(s->base, s->n_base, HIR_OVER * h->ss_iops, false);
	}
}

void hir_load(struct dataset *d, const struct test *t)
{
	struct hir *h = arena_new(&d->arena, struct hir);
	unsigned n;

	h->test = t;
	h->section = &t->section[0];
	h->combo = h->section->n_combos ? &h->section->combo[0] : NULL;
	h->ss_iops = h->combo && h->combo->n_window ? h->combo->iops : NAN;
	const struct measure **m = measures_of(d, t, "stimulus idle baseline", &n);
	collect(d, h, m, n);
	for (unsigned i = 0; i < h->n; i++)
		judge(h, &h->state[i]);
	h->start_ns = n ? (double)m[0]->start_ns : 0;
	h->end_ns = n ? (double)(m[n - 1]->start_ns + m[n - 1]->elapsed_ns) : 0;
	d->hir = h;
}
