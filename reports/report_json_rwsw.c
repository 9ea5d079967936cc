/* SPDX-License-Identifier: MIT */
/* The capture of a run, its replays and streams in pts.report/1: base units, null where unknown. */
#include <math.h>
#include <string.h>

#include "reports/report_json.h"
#include "reports/rwsw.h"
#include "reports/sheet.h"
#include "reports/states.h"

/* ---- the capture ---- */

static void put_stream(const struct io_stream *s, struct json *j)
{
	json_object(j, NULL);
	json_text(j, "stream", s->name);
	json_text(j, "op", s->op);
	json_text(j, "access", s->access);
	json_int(j, "block_bytes", s->block_bytes);
	json_count(j, "ios", s->ios ? (int64_t)s->ios : -1);
	json_num(j, "share_pct", s->share_pct);
	json_num(j, "normalized_pct", s->normalized_pct);
	json_bool(j, "used", s->used);
	json_end_object(j);
}

static void put_step(const struct workload_step *s, const struct workload *w, struct json *j)
{
	json_object(j, NULL);
	json_num(j, "start_ns", s->start_ns);
	json_count(j, "ios", w->shares_only ? -1 : (int64_t)s->ios);
	json_count(j, "bytes", w->shares_only ? -1 : (int64_t)s->bytes);
	json_num(j, "qd_avg", s->qd_avg);
	json_count(j, "qd_max", s->qd_max);
	json_num(j, "art_ns", s->art_ns);
	json_end_object(j);
}

void report_json_capture(const struct dataset *d, struct json *j)
{
	const struct workload *w = d->rwsw ? &d->rwsw->cap : NULL;

	if (!w)
		return;
	json_object(j, "capture");
	json_text(j, "name", w->name);
	json_text(j, "format", w->format);
	json_text(j, "event", w->event);
	json_text(j, "level", w->level);
	json_text(j, "devices", w->devices);
	json_text(j, "sha256", w->sha256);
	json_text(j, "began_utc", w->began);
	json_text(j, "seq_rule", w->seq_rule);
	json_count(j, "records", w->records);
	json_count(j, "ios", w->ios);
	json_count(j, "lost", w->lost);
	json_count(j, "duration_ns", w->duration_ns);
	json_count(j, "step_ns", w->step_ns);
	json_count(j, "stream_count", w->n_all ? (int64_t)w->n_all : -1);
	json_uint(j, "streams_used", w->n_used);
	json_num(j, "coverage_pct", w->used_pct);
	json_count(j, "native_qd_min", w->qd_low ? w->qd_low : -1);
	json_count(j, "native_qd_max", w->qd_high ? w->qd_high : -1);
	json_array(j, "streams");
	for (unsigned i = 0; i < w->n_streams; i++)
		put_stream(&w->stream[i], j);
	json_end_array(j);
	json_array(j, "steps");
	for (unsigned i = 0; i < w->n_steps; i++)
		put_step(&w->step[i], w, j);
	json_end_array(j);
	json_end_object(j);
}

/* ---- replays ---- */

static void put_levels(const struct levels *l, struct json *j)
{
	json_count(j, "lat_p50_ns", l->p50_ns);
	json_count(j, "lat_p99_ns", l->p99_ns);
	json_count(j, "lat_p999_ns", l->p999_ns);
	json_count(j, "lat_p9999_ns", l->p9999_ns);
	json_count(j, "lat_p99999_ns", l->p99999_ns);
	json_uint(j, "ios_above_p99999", l->above);
}

static void put_mix(const struct workload *w, const struct replay_scale *s, struct json *j)
{
	json_array(j, "streams");
	for (unsigned k = 0; k < w->n_streams; k++) {
		if (!s->of_sum[k] && !(s->asked[k] > 0))
			continue;
		json_object(j, NULL);
		json_text(j, "stream", w->stream[k].name);
		json_uint(j, "ios", s->of_sum[k]);
		json_num(j, "asked_pct", s->asked[k]);
		json_end_object(j);
	}
	json_end_array(j);
	json_uint(j, "other_stream_ios", s->of_sum[w->n_streams]);
	json_num(j, "mix_error_points", s->mix_error);
}

static void put_scale(const struct workload *w, const struct test *t, const struct replay_scale *s,
		      struct json *j)
{
	json_object(j, NULL);
	json_num(j, "scale", s->scale);
	json_uint(j, "steps", s->n);
	json_uint(j, "idle_steps", s->n_idle);
	json_bool(j, "reported",
		  t->finished && (!t->n_sections || t->section[0].steady != 0) && s->ios);
	json_count(j, "oio_min", s->oio_high ? s->oio_low : -1);
	json_count(j, "oio_max", s->oio_high ? s->oio_high : -1);
	json_num(j, "oio_avg", s->oio_avg);
	json_num(j, "inflight_avg", s->inflight_avg);
	json_uint(j, "ios", s->ios);
	json_uint(j, "bytes", s->bytes);
	json_num(j, "active_ns", s->active_ns);
	json_num(j, "iops", s->iops);
	json_num(j, "bytes_per_s", s->bytes_per_s);
	json_num(j, "art_ns", s->art_ns);
	put_levels(&s->levels, j);
	json_count(j, "mrt_ns", s->mrt_ns);
	json_num(j, "art_step_max_ns", s->art_step_ns);
	json_num(j, "iops_cv", s->iops_cv);
	put_mix(w, s, j);
	json_end_object(j);
}

static void put_fidelity(const struct fidelity *f, struct json *j)
{
	json_object(j, "fidelity");
	json_text(j, "speed", f->speed);
	json_text(j, "fit", f->fit);
	json_text(j, "conflict_order", f->order);
	json_text(j, "devices", f->devices);
	json_count(j, "loops", f->loops);
	json_count(j, "records", f->records);
	json_count(j, "issued", f->issued);
	json_count(j, "dropped", f->dropped);
	json_text(j, "why_dropped", f->why_dropped);
	json_count(j, "reordered", f->reordered);
	json_count(j, "moved", f->moved);
	json_count(j, "rounded", f->rounded);
	json_count(j, "conflicts", f->conflicts);
	json_count(j, "late_p50_ns", f->late_p50_ns);
	json_count(j, "late_p99_ns", f->late_p99_ns);
	json_count(j, "late_p999_ns", f->late_p999_ns);
	json_count(j, "late_max_ns", f->late_max_ns);
	json_num(j, "span_error_pct", f->span_error_pct);
	json_count(j, "span_asked_ns", f->span_asked_ns);
	json_count(j, "span_ns", f->span_ns);
	json_count(j, "stalls", f->stalls);
	json_count(j, "stall_ns", f->stall_ns);
	json_count(j, "starved", f->starved);
	json_num(j, "depth_asked_avg", f->depth_asked_avg);
	json_count(j, "depth_asked_max", f->depth_asked_max);
	json_num(j, "depth_avg", f->depth_avg);
	json_count(j, "depth_max", f->depth_max);
	json_count(j, "short_ios", f->short_ios);
	json_count(j, "errors", f->errors);
	json_count(j, "hung", f->hung);
	if (f->valid < 0)
		json_null(j, "valid");
	else
		json_bool(j, "valid", f->valid != 0);
	json_text(j, "why_invalid", f->why_invalid);
	json_end_object(j);
}

static void put_kind(const char *name, const struct levels *l, struct json *j)
{
	json_object(j, name);
	json_uint(j, "ios", l->n);
	json_num(j, "art_ns", l->art_ns);
	put_levels(l, j);
	json_count(j, "mrt_ns", l->mrt_ns);
	json_end_object(j);
}

static void put_replay(const struct dataset *d, const struct replay *r, struct json *j)
{
	json_object(j, "replay");
	json_array(j, "scales");
	for (unsigned i = 0; i < r->n; i++)
		put_scale(&d->rwsw->cap, r->test, &r->scale[i], j);
	json_end_array(j);
	if (r->fidelity)
		put_fidelity(r->fidelity, j);
	if (r->cell) {
		json_count(j, "cell_id", r->cell->cell_id);
		json_num(j, "iops", r->cell->iops);
		put_kind("service", &r->service, j);
		if (r->response.n)
			put_kind("response", &r->response, j);
	}
	json_end_object(j);
}

/* ---- streams one by one ---- */

static void put_alone(const struct dataset *d, const struct test *t, struct json *j)
{
	struct arena a = ARENA_INIT;
	struct stream_alone *s = arena_array(&a, struct stream_alone, t->n_sections + 1);
	const struct workload *w = &d->rwsw->cap;
	unsigned n = rwsw_alone(d, t, &a, s);

	json_array(j, "streams_alone");
	for (unsigned i = 0; i < n; i++) {
		const struct combo *c = s[i].combo;
		const struct io_stream *of = s[i].stream < w->n_streams ? &w->stream[s[i].stream]
									: NULL;
		json_object(j, NULL);
		json_text(j, "stream", s[i].name);
		json_int(j, "section", s[i].section->number);
		json_num(j, "normalized_pct", of ? of->normalized_pct : NAN);
		json_bool(j, "reported", c && c->n_window && s[i].section->steady != 0);
		json_num(j, "iops", c ? c->iops : NAN);
		json_num(j, "bytes_per_s", c ? c->bytes_per_s : NAN);
		json_num(j, "art_ns", c ? c->art_ns : NAN);
		json_count(j, "lat_p99999_ns", c ? c->p99999_ns : -1);
		json_count(j, "mrt_ns", c ? c->mrt_ns : -1);
		json_end_object(j);
	}
	json_end_array(j);
	json_num(j, "harmonic_mean_iops", rwsw_alone_mean(w, s, n));
	arena_release(&a);
}

void report_json_rwsw(const struct dataset *d, const struct test *t, struct json *j)
{
	const struct replay *r = rwsw_replay(d, t);
	const struct wsat *w = rwsw_multi(d, t);

	if (r)
		put_replay(d, r, j);
	if (w)
		report_json_wsat(w, j);
	if (d->rwsw && t->attempt && sheet_kind(t) == SHEET_STREAMS)
		put_alone(d, t, j);
}
