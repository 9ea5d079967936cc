/* SPDX-License-Identifier: MIT */
/* WSAT's states, HIR's wait states, XSR's recovery in pts.report/1: base units, null where unknown. */
#include <math.h>
#include <string.h>

#include "reports/report_json.h"
#include "reports/states.h"

static void put_ns(struct json *j, const char *key, int64_t ns)
{
	if (ns < 0)
		json_null(j, key);
	else
		json_int(j, key, ns);
}

static void put_state(const struct wsat_state *s, const struct wsat *w, const char *name,
		      struct json *j)
{
	json_object(j, NULL);
	json_str(j, "state", name);
	json_uint(j, "steps", s->n);
	json_num(j, "minutes", s->n ? (s->to_ns - s->from_ns) / 60e9 : 0);
	json_num(j, "seconds", s->n ? (s->to_ns - s->from_ns) / 1e9 : 0);
	json_num(j, "from_ns", s->n ? s->from_ns : NAN);
	json_num(j, "to_ns", s->n ? s->to_ns : NAN);
	json_num(j, "written_from_bytes", s->n ? s->from_bytes : NAN);
	json_num(j, "written_to_bytes", s->n ? s->to_bytes : NAN);
	json_bool(j, "reported", s->n && (s != &w->state[WSAT_LAST] || w->section->steady == 1));
	json_num(j, "iops", s->iops);
	json_num(j, "bytes_per_s", s->bytes_per_s);
	json_num(j, "art_ns", s->art_ns);
	put_ns(j, "lat_p99999_ns", s->p99999_ns);
	put_ns(j, "mrt_ns", s->mrt_ns);
	json_end_object(j);
}

/* From the start of the first step of the loop to the end of its last. */
static double wsat_span_ns(const struct wsat *w)
{
	const struct measure *last = w->n_minutes ? w->minute[w->n_minutes - 1] : NULL;

	return last ? (double)(last->start_ns + last->elapsed_ns - w->minute[0]->start_ns) : 0;
}

void report_json_wsat(const struct wsat *w, struct json *j)
{
	static const char *const name[] = { "fob", "transition", "steady" };
	double mean = w->state[WSAT_LAST].iops;

	json_object(j, "wsat");
	json_array(j, "states");
	for (unsigned i = 0; i < WSAT_PERIODS; i++)
		put_state(&w->state[i], w,
			  i == WSAT_LAST && w->section->steady != 1 ? "last_rounds" : name[i], j);
	json_end_array(j);
	json_object(j, "consistency");
	json_uint(j, "samples", w->n_samples);
	json_num(j, "average_iops", mean);
	json_num(j, "deviation_iops", w->deviation_iops);
	json_num(j, "cv", w->deviation_iops / mean);
	json_num(j, "worst_second_iops", w->worst_iops);
	put_ns(j, "worst_cell_id", w->worst_cell);
	if (w->worst_cell < 0)
		json_null(j, "worst_second");
	else
		json_uint(j, "worst_second", w->worst_second);
	json_num(j, "fob_to_steady", w->state[WSAT_FOB].iops / mean);
	json_num(j, "data_excursion", w->data_excursion);
	json_num(j, "slope_excursion", w->slope_excursion);
	json_end_object(j);
	json_uint(j, "steps", w->n_minutes);
	json_num(j, "minutes", wsat_span_ns(w) / 60e9);
	json_uint(j, "seconds", w->curve.n_seconds); /* that were recorded one by one */
	json_end_object(j);
}

static void put_wait(const struct hir *h, const struct hir_state *s, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "label", s->label);
	json_num(j, "number", s->number);
	json_num(j, "burst_ns", s->burst_ns);
	json_num(j, "wait_ns", s->wait_ns);
	json_num(j, "idle_mean_ns", s->idle_ns);
	json_uint(j, "bursts", s->n_bursts);
	json_num(j, "mean_iops", s->mean_iops);
	json_num(j, "ratio_to_ss", s->mean_iops / h->ss_iops);
	json_num(j, "end_iops", s->end_iops);
	json_num(j, "reach_ns", s->reach_ns);
	json_uint(j, "baseline_steps", s->n_base);
	json_num(j, "baseline_iops", s->base_iops);
	json_num(j, "baseline_end_iops", s->base_end_iops);
	json_num(j, "back_ns", s->back_ns);
	json_end_object(j);
}

static void put_hir(const struct hir *h, struct json *j)
{
	json_object(j, "hir");
	json_num(j, "ss_iops", h->ss_iops);
	json_bool(j, "reported", h->section->steady == 1);
	json_num(j, "wait_states_ns", h->end_ns - h->start_ns);
	json_array(j, "states");
	for (unsigned i = 0; i < h->n; i++)
		put_wait(h, &h->state[i], j);
	json_end_array(j);
	json_end_object(j);
}

/* Steps of a recovery: null when it is not known, 0 "not yet". */
static void put_recovery(struct json *j, const char *steps, const char *min, const struct xsr *x,
			 int n)
{
	put_ns(j, steps, n);
	json_num(j, min, xsr_recovery_min(x, n));
}

static void put_xsr(const struct xsr *x, struct json *j)
{
	json_object(j, "xsr");
	json_array(j, "groups");
	for (unsigned i = 0; i < x->n; i++) {
		const struct xsr_group *g = &x->group[i];
		json_object(j, NULL);
		json_str(j, "label", g->label);
		json_str(j, "access", g->title);
		json_uint(j, "steps", g->n);
		json_num(j, "step_ns", g->step_ns);
		json_num(j, "start_ns", g->start_ns);
		json_num(j, "end_ns", g->end_ns);
		json_num(j, "mean_bytes_per_s", g->mean_bps);
		json_num(j, "end_bytes_per_s", g->end_bps);
		json_num(j, "art_peak_ns", g->art_peak_ns);
		put_ns(j, "mrt_peak_ns", g->mrt_peak_ns);
		json_end_object(j);
	}
	json_end_array(j);
	json_num(j, "last_hour_bytes_per_s", x->last_hour_bps);
	put_recovery(j, "recovery_steps", "recovery_min", x, x->recovery);
	put_recovery(j, "recovery_last_hour_steps", "recovery_last_hour_min", x, x->recovery_hour);
	json_end_object(j);
}

void report_json_states(const struct dataset *d, const struct test *t, struct json *j)
{
	if (d->wsat && d->wsat->test == t)
		report_json_wsat(d->wsat, j);
	if (d->hir && d->hir->test == t)
		put_hir(d->hir, j);
	if (d->xsr && d->xsr->test == t)
		put_xsr(d->xsr, j);
}
