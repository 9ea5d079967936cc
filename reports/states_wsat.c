/* SPDX-License-Identifier: MIT */
/* Write saturation (spec 10): the states a drive goes through from fresh to steady. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/states.h"

#define FOB_FIRST 5 /* minutes of which the highest is the level of FOB */
#define FOB_LOW 2 /* minutes in a row below it that end FOB */

unsigned wsat_fob(const double *iops, unsigned n)
{
	double level = 0;
	unsigned low = 0;

	for (unsigned i = 0; i < n && i < FOB_FIRST; i++)
		level = fmax(level, iops[i]);
	for (unsigned i = 0; i < n; i++) {
		low = iops[i] < WSAT_FOB_SHARE * level * (1 - 1e-9) ? low + 1 : 0;
		if (low == FOB_LOW)
			return i + 1 - FOB_LOW;
	}
	return n;
}

/* ---- the samples of the window, or the last ones ---- */

static void pick_samples(struct wsat *w)
{
	const struct section *s = w->section;
	const struct combo *c = s->n_combos ? &s->combo[0] : NULL;

	if (!c)
		return;
	if (c->n_window) {
		memcpy(w->sample, c->window, sizeof w->sample);
		w->n_samples = c->n_window;
		return;
	}
	for (unsigned i = c->n_rounds; i-- > 0 && w->n_samples < WINDOW_ROUNDS;) {
		if (!c->round[i])
			continue;
		memmove(w->sample + 1, w->sample, (WINDOW_ROUNDS - 1) * sizeof *w->sample);
		w->sample[0] = c->round[i];
		w->n_samples++;
	}
}

static void judge_samples(struct wsat *w)
{
	double mean = 0, sq = 0, low = INFINITY, high = -INFINITY, slope = 0;
	unsigned n = w->n_samples;

	w->deviation_iops = w->data_excursion = w->slope_excursion = NAN;
	for (unsigned i = 0; i < n; i++)
		mean += w->sample[i]->iops / n;
	for (unsigned i = 0; i < n; i++) {
		double v = w->sample[i]->iops;
		sq += (v - mean) * (v - mean);
		low = fmin(low, v);
		high = fmax(high, v);
		slope += (i - 2.0) * v / 10; /* least squares over five rounds one apart */
	}
	if (n > 1)
		w->deviation_iops = sqrt(sq / (n - 1));
	if (n == WINDOW_ROUNDS && mean > 0) {
		w->data_excursion = (high - low) / mean;
		w->slope_excursion = fabs(slope) * (WINDOW_ROUNDS - 1) / mean;
	}
}

/* ---- states ---- */

static unsigned minute_at(const struct wsat *w, const struct measure *m)
{
	for (unsigned i = 0; i < w->n_minutes; i++)
		if (w->minute[i] == m)
			return i;
	return w->n_minutes;
}

static void state_span(struct wsat *w, struct wsat_state *s)
{
	const struct measure *from = w->minute[s->first], *to = w->minute[s->first + s->n - 1];
	uint64_t start = w->minute[0]->start_ns;

	s->from_ns = (double)(from->start_ns - start);
	s->to_ns = (double)(to->start_ns + to->elapsed_ns - start);
	s->from_bytes = (double)from->host_bytes_written - (double)from->write_bytes;
	s->to_bytes = (double)to->host_bytes_written;
}

/* IOPS and MB/s over the whole time, ART over all IOs. */
static void state_rates(struct wsat_state *s, const struct measure *const *m, unsigned n)
{
	double ios = 0, bytes = 0, ns = 0;

	for (unsigned i = 0; i < n; i++) {
		ios += (double)m[i]->ios;
		bytes += (double)m[i]->bytes;
		ns += (double)m[i]->elapsed_ns;
		if (m[i]->mrt_ns > s->mrt_ns)
			s->mrt_ns = m[i]->mrt_ns;
	}
	s->iops = ios * 1e9 / ns;
	s->bytes_per_s = bytes * 1e9 / ns;
	s->art_ns = measures_art(m, n);
}

/* Means of the samples, as the PTS reports a window; ART over all their IOs, as in the other states. */
static void sample_rates(struct wsat_state *s, const struct measure *const *m, unsigned n)
{
	s->iops = s->bytes_per_s = 0;
	s->art_ns = measures_art(m, n);
	for (unsigned i = 0; i < n; i++) {
		s->iops += m[i]->iops / n;
		s->bytes_per_s += m[i]->bytes_per_s / n;
		if (m[i]->mrt_ns > s->mrt_ns)
			s->mrt_ns = m[i]->mrt_ns;
	}
}

static int state_percentile(struct dataset *d, struct wsat_state *s, const struct measure *const *m,
			    unsigned n, struct err *err)
{
	struct hist *h = hist_new();
	uint64_t ns;
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = measure_hist(d, m[i]->cell_id, h, err);
	if (!rc && hist_percentile(h, P99999, &ns)) {
		s->p99999_ns = (int64_t)ns;
		s->above = hist_above(h, P99999);
	}
	free(h);
	return rc;
}

static void split(struct wsat *w)
{
	struct wsat_state *s = w->state;
	unsigned end = w->n_samples ? minute_at(w, w->sample[0]) : w->n_minutes;
	double *iops = calloc(end + 1, sizeof *iops);

	BUG_ON(!iops);
	for (unsigned i = 0; i < end; i++)
		iops[i] = w->minute[i]->iops;
	s[WSAT_FOB].n = wsat_fob(iops, end);
	free(iops);
	s[WSAT_TRANSITION].first = s[WSAT_FOB].n;
	s[WSAT_TRANSITION].n = end - s[WSAT_FOB].n;
	s[WSAT_LAST].first = end;
	if (w->n_samples)
		s[WSAT_LAST].n = minute_at(w, w->sample[w->n_samples - 1]) + 1 - end;
}

static int fill_states(struct dataset *d, struct wsat *w, struct err *err)
{
	static const char *const name[] = { "FOB", "Transition", "Steady state" };
	int rc = 0;

	split(w);
	for (unsigned i = 0; !rc && i < WSAT_PERIODS; i++) {
		struct wsat_state *s = &w->state[i];
		const struct measure *const *m = i == WSAT_LAST ? w->sample : w->minute + s->first;
		unsigned n = i == WSAT_LAST ? w->n_samples : s->n;
		s->name = name[i];
		s->iops = s->bytes_per_s = s->art_ns = NAN;
		s->mrt_ns = s->p99999_ns = -1;
		if (!s->n)
			continue;
		state_span(w, s);
		if (i == WSAT_LAST)
			sample_rates(s, m, n);
		else
			state_rates(s, m, n);
		rc = state_percentile(d, s, m, n, err);
	}
	if (w->section->steady != 1)
		w->state[WSAT_LAST].name = w->test->finished ? "NOT STEADY" : "last rounds";
	return rc;
}

static void find_worst(struct wsat *w)
{
	const struct wsat_state *s = &w->state[WSAT_LAST];
	const struct curve *c = &w->curve;

	w->worst_iops = NAN;
	w->worst_cell = -1;
	for (unsigned i = 0; s->n && i < c->n; i++) {
		double from = c->end_ns[i] - c->span_ns[i];
		if (c->span_ns[i] != 1e9 || from < s->from_ns - 1 || c->end_ns[i] > s->to_ns + 1 ||
		    c->iops[i] >= w->worst_iops)
			continue;
		double in_cell = from - (double)(c->cell[i]->start_ns - w->minute[0]->start_ns);
		w->worst_iops = c->iops[i];
		w->worst_cell = c->cell[i]->cell_id;
		w->worst_second = (unsigned)(in_cell / 1e9 + 0.5);
	}
}

int wsat_of(struct dataset *d, const struct test *t, const struct wsat **ret, struct err *err)
{
	struct wsat *w = arena_new(&d->arena, struct wsat);

	w->test = t;
	w->section = &t->section[0];
	w->minute = measures_of(d, t, "wdpc sample", &w->n_minutes);
	pick_samples(w);
	judge_samples(w);
	int rc = fill_states(d, w, err);
	if (!rc)
		rc = curve_load(d, w->minute, w->n_minutes, &w->curve, err);
	find_worst(w);
	*ret = w;
	return rc;
}

int wsat_load(struct dataset *d, const struct test *t, struct err *err)
{
	return wsat_of(d, t, &d->wsat, err);
}
