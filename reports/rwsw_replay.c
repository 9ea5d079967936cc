/* SPDX-License-Identifier: MIT */
/* Replays by steps: what each scale of the queue depth came to (spec 17.1, 17.2), and the account of an exact replay. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/rwsw.h"
#include "reports/sheet.h"
#include "reports/states.h"
#include "schema/read.h"

#define SCALES_MAX 64

bool rwsw_is(const struct test *t)
{
	return !strncmp(t->clause, "RWSW", 4) || pairs_get(&t->params, "capture") != NULL;
}

bool rwsw_has_replay(const struct test *t)
{
	return !strcmp(t->clause, "RWSW-7") || strstr(t->plan, " REPLAY ") != NULL ||
	       !strcmp(t->name, "replay");
}

const struct replay *rwsw_replay(const struct dataset *d, const struct test *t)
{
	for (unsigned i = 0; d->rwsw && i < d->rwsw->n_replays; i++)
		if (d->rwsw->replay[i].test == t)
			return &d->rwsw->replay[i];
	return NULL;
}

/* ---- steps by scale ---- */

static bool is_idle(const struct measure *m)
{
	return !m->ios && m->oio <= 0;
}

static struct replay_scale *scale_of(struct dataset *d, struct replay *r, const struct measure *m)
{
	double scale = m->scale > 0 ? m->scale : 1;

	for (unsigned i = 0; i < r->n; i++)
		if (r->scale[i].scale == scale)
			return &r->scale[i];
	if (r->n == SCALES_MAX)
		return NULL;
	struct replay_scale *s = &r->scale[r->n++];
	*s = (struct replay_scale){ .scale = scale, .mrt_ns = -1 };
	s->name = arena_fmt(&d->arena, "x%.6g", scale);
	return s;
}

/* The rest of a step under `idle honor`: a cell of its own, but no step. */
static bool is_rest(const struct measure *m)
{
	size_t n = strlen(m->label);

	return is_idle(m) && n > 5 && !strcmp(m->label + n - 5, " idle");
}

static int collect(struct dataset *d, struct replay *r)
{
	r->scale = arena_array(&d->arena, struct replay_scale, SCALES_MAX);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; pass && i < r->n; i++) {
			struct replay_scale *s = &r->scale[i];
			s->step = arena_array(&d->arena, const struct measure *, s->n + 1);
			s->n = 0;
		}
		for (unsigned i = 0; i < d->n_measures; i++) {
			const struct measure *m = &d->measure[i];
			if (!measure_counts(m, r->test) || strcmp(m->phase, "replay") || is_rest(m))
				continue;
			struct replay_scale *s = scale_of(d, r, m);
			if (s && pass)
				s->step[s->n] = m;
			if (s)
				s->n++;
		}
	}
	return 0;
}

/* ---- sums ---- */

static void add_step(struct replay_scale *s, const struct measure *m, double *art, double *known)
{
	double ns = (double)m->elapsed_ns;

	s->ios += m->ios;
	s->bytes += m->bytes;
	s->active_ns += ns;
	*art += m->ios && isfinite(m->art_ns) ? m->art_ns * (double)m->ios : 0;
	if (m->mrt_ns > s->mrt_ns)
		s->mrt_ns = m->mrt_ns;
	s->art_step_ns = fmax(s->art_step_ns, m->ios ? m->art_ns : NAN);
	if (m->oio > 0) {
		s->oio_low = s->oio_low && s->oio_low < m->oio ? s->oio_low : m->oio;
		s->oio_high = s->oio_high > m->oio ? s->oio_high : m->oio;
		s->oio_avg += m->oio * ns;
	}
	if (isfinite(m->inflight_avg)) {
		s->inflight_avg += m->inflight_avg * ns;
		*known += ns;
	}
}

static double step_cv(const struct replay_scale *s)
{
	double sq = 0, mean = 0;
	unsigned n = s->n - s->n_idle;

	for (unsigned i = 0; i < s->n; i++)
		mean += is_idle(s->step[i]) ? 0 : s->step[i]->iops / n;
	for (unsigned i = 0; i < s->n; i++)
		if (!is_idle(s->step[i]))
			sq += (s->step[i]->iops - mean) * (s->step[i]->iops - mean);
	return n > 1 && mean > 0 ? sqrt(sq / (n - 1)) / mean : NAN;
}

static int sum_up(struct dataset *d, struct replay_scale *s, struct hist *h, struct err *err)
{
	double art = 0, known = 0;
	int rc = 0;

	hist_reset(h);
	s->art_step_ns = NAN;
	for (unsigned i = 0; !rc && i < s->n; i++) {
		const struct measure *m = s->step[i];
		if (is_idle(m)) {
			s->n_idle++;
			continue;
		}
		add_step(s, m, &art, &known);
		rc = measure_hist(d, m->cell_id, h, err);
	}
	levels_of(h, &s->levels);
	s->iops = s->active_ns > 0 ? (double)s->ios * 1e9 / s->active_ns : NAN;
	s->bytes_per_s = s->active_ns > 0 ? (double)s->bytes * 1e9 / s->active_ns : NAN;
	s->art_ns = s->ios ? art / (double)s->ios : NAN;
	s->oio_avg = s->oio_high && s->active_ns > 0 ? s->oio_avg / s->active_ns : NAN;
	s->inflight_avg = known > 0 ? s->inflight_avg / known : NAN;
	s->iops_cv = step_cv(s);
	return rc;
}

/* ---- streams of the steps ---- */

struct cursor { /* the steps of a scale in the order of their cells */
	struct replay_scale *s;
	unsigned at;
};

static bool go_to(struct cursor *c, int64_t cell)
{
	while (c->at < c->s->n && c->s->step[c->at]->cell_id < cell)
		c->at++;
	return c->at < c->s->n && c->s->step[c->at]->cell_id == cell;
}

static int load_streams(struct dataset *d, const struct workload *w, struct replay_scale *s,
			struct err *err)
{
	struct cursor c = { s, 0 };
	struct rows *q = read_rows(d->reader, err,
				   "SELECT cell_id, op, coalesce(access, ''), block_bytes, ios"
				   " FROM v_stream WHERE run_id = ? AND cell_id BETWEEN ? AND ?"
				   " ORDER BY cell_id",
				   "iii", d->run_id, s->step[0]->cell_id,
				   s->step[s->n - 1]->cell_id);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		if (!go_to(&c, rows_int(q, 0)))
			continue;
		unsigned k = rwsw_stream_find(w, rows_text(q, 1), rows_text(q, 2), rows_int(q, 3));
		uint64_t ios = (uint64_t)rows_int(q, 4);
		s->of[c.at * (w->n_streams + 1) + k] += ios;
		s->of_sum[k] += ios;
	}
	return rows_close(q, err);
}

/* What each step asked for: its shares of the IOs it made. */
static int load_asked(struct dataset *d, const struct workload *w, struct replay_scale *s,
		      struct err *err)
{
	struct cursor c = { s, 0 };
	struct rows *q = read_rows(d->reader, err,
				   "SELECT c.cell_id, j.value ->> '$.op', coalesce(j.value ->>"
				   " '$.access', ''), j.value ->> '$.block_bytes', j.value ->>"
				   " '$.share_pct' FROM v_cell c, json_each(c.workload) j WHERE"
				   " c.run_id = ? AND c.cell_id BETWEEN ? AND ? ORDER BY c.cell_id",
				   "iii", d->run_id, s->step[0]->cell_id,
				   s->step[s->n - 1]->cell_id);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		if (!go_to(&c, rows_int(q, 0)))
			continue;
		unsigned k = rwsw_stream_find(w, rows_text(q, 1), rows_text(q, 2), rows_int(q, 3));
		if (k < w->n_streams)
			s->asked[k] += rows_num(q, 4) * (double)s->step[c.at]->ios;
	}
	return rows_close(q, err);
}

static void judge_mix(const struct workload *w, struct replay_scale *s)
{
	uint64_t all = 0;

	s->mix_error = NAN;
	for (unsigned k = 0; k <= w->n_streams; k++)
		all += s->of_sum[k];
	for (unsigned k = 0; k < w->n_streams; k++) {
		s->asked[k] = s->ios ? s->asked[k] / (double)s->ios : NAN;
		double got = all ? 100.0 * (double)s->of_sum[k] / (double)all : NAN;
		if (s->asked[k] > 0 || got > 0)
			s->mix_error = fmax(s->mix_error, fabs(got - s->asked[k]));
	}
}

static int fill_streams(struct dataset *d, const struct workload *w, struct replay_scale *s,
			struct err *err)
{
	size_t row = w->n_streams + 1;

	s->of = arena_array(&d->arena, uint64_t, row * s->n + 1);
	s->of_sum = arena_array(&d->arena, uint64_t, row);
	s->asked = arena_array(&d->arena, double, row);
	int rc = load_streams(d, w, s, err);
	if (!rc)
		rc = load_asked(d, w, s, err);
	judge_mix(w, s);
	return rc;
}

/* What a run without rows of its capture tells of it. */
static void learn(struct workload *w, const struct replay_scale *s)
{
	if (!w->qd_high && s->oio_high) {
		w->qd_low = (int)fmax(1, round(s->oio_low / s->scale));
		w->qd_high = (int)fmax(1, round(s->oio_high / s->scale));
	}
	if (w->step_ns <= 0 && s->n > 1)
		w->step_ns = (int64_t)(s->step[1]->start_ns - s->step[0]->start_ns);
}

static int load_seconds(struct dataset *d, struct replay *r, struct err *err)
{
	unsigned room = (unsigned)fmin((double)r->cell->elapsed_ns / 1e9 + 3, 1e7);
	struct rows *q = read_rows(d->reader, err,
				   "SELECT second, ios, art_ns, mrt_ns FROM v_second WHERE"
				   " cell_id = ? ORDER BY second",
				   "i", r->cell->cell_id);

	if (!q)
		return -EIO;
	r->second = arena_array(&d->arena, double, room);
	r->ios = arena_array(&d->arena, double, room);
	r->art_ns = arena_array(&d->arena, double, room);
	r->mrt_ns = arena_array(&d->arena, double, room);
	while (r->n_seconds < room && rows_next(q) == 1) {
		unsigned i = r->n_seconds++;
		r->second[i] = rows_num(q, 0);
		r->ios[i] = rows_num(q, 1);
		r->art_ns[i] = rows_num(q, 2);
		r->mrt_ns[i] = rows_num(q, 3);
	}
	return rows_close(q, err);
}

/* The one cell of an exact replay; also what was done until it was cut short. */
static int load_exact(struct dataset *d, struct replay *r, struct err *err)
{
	for (unsigned i = 0; i < d->n_measures && !r->cell; i++) {
		const struct measure *m = &d->measure[i];
		if (!strcmp(m->test, r->test->name) && m->attempt == r->test->attempt &&
		    m->member < 0 && !strcmp(m->phase, "replay"))
			r->cell = m;
	}
	if (!r->cell)
		return 0;
	int rc = levels_load(d, r->cell->cell_id, "service", &r->service, err);
	if (!rc)
		rc = levels_load(d, r->cell->cell_id, "response", &r->response, err);
	return rc ? rc : load_seconds(d, r, err);
}

static int load_replay(struct dataset *d, struct rwsw *x, const struct test *t, struct err *err)
{
	struct replay *r = &x->replay[x->n_replays];
	struct hist *h = hist_new();

	*r = (struct replay){ .test = t };
	int rc = rwsw_fidelity(d, t, &r->fidelity, err);
	if (!rc && r->fidelity)
		rc = load_exact(d, r, err);
	if (!rc && !r->fidelity)
		rc = collect(d, r);
	for (unsigned i = 0; !rc && i < r->n; i++) {
		rc = sum_up(d, &r->scale[i], h, err);
		if (!rc)
			rc = fill_streams(d, &x->cap, &r->scale[i], err);
		learn(&x->cap, &r->scale[i]);
	}
	free(h);
	x->n_replays += r->n || r->fidelity || rwsw_has_replay(t);
	return rc;
}

int rwsw_replays(struct dataset *d, struct rwsw *x, struct err *err)
{
	int rc = 0;

	x->replay = arena_array(&d->arena, struct replay, d->n_tests + 1);
	for (unsigned i = 0; !rc && i < d->n_tests; i++)
		if (d->test[i].attempt)
			rc = load_replay(d, x, &d->test[i], err);
	return rc;
}

/* ---- exact replay ---- */

struct fact {
	const char *name;
	int64_t *i;
	double *d;
	const char **s;
};

static void take(struct dataset *d, struct rows *q, int col, const struct fact *f)
{
	bool null = rows_is_null(q, col);

	if (f->i)
		*f->i = null ? -1 : rows_int(q, col);
	if (f->d)
		*f->d = rows_num(q, col);
	if (f->s)
		*f->s = arena_strdup(&d->arena, rows_text(q, col));
}

/* By name: the view has grown before. */
static void take_fidelity(struct dataset *d, struct rows *q, struct fidelity *f)
{
	int64_t valid = -1;
	const struct fact all[] = {
		{ "speed", .s = &f->speed },
		{ "fit", .s = &f->fit },
		{ "conflict_order", .s = &f->order },
		{ "devices", .s = &f->devices },
		{ "why_dropped", .s = &f->why_dropped },
		{ "why_invalid", .s = &f->why_invalid },
		{ "records", .i = &f->records },
		{ "issued", .i = &f->issued },
		{ "dropped", .i = &f->dropped },
		{ "reordered", .i = &f->reordered },
		{ "moved", .i = &f->moved },
		{ "rounded", .i = &f->rounded },
		{ "loops", .i = &f->loops },
		{ "late_p50_ns", .i = &f->late_p50_ns },
		{ "late_p99_ns", .i = &f->late_p99_ns },
		{ "late_p999_ns", .i = &f->late_p999_ns },
		{ "late_max_ns", .i = &f->late_max_ns },
		{ "span_error_pct", .d = &f->span_error_pct },
		{ "span_asked_ns", .i = &f->span_asked_ns },
		{ "span_ns", .i = &f->span_ns },
		{ "stalls", .i = &f->stalls },
		{ "stall_ns", .i = &f->stall_ns },
		{ "starved", .i = &f->starved },
		{ "conflicts", .i = &f->conflicts },
		{ "depth_asked_avg", .d = &f->depth_asked_avg },
		{ "depth_avg", .d = &f->depth_avg },
		{ "depth_asked_max", .i = &f->depth_asked_max },
		{ "depth_max", .i = &f->depth_max },
		{ "short_ios", .i = &f->short_ios },
		{ "errors", .i = &f->errors },
		{ "hung", .i = &f->hung },
		{ "valid", .i = &valid },
	};

	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
		if (all[i].i)
			*all[i].i = -1;
		if (all[i].d)
			*all[i].d = NAN;
		if (all[i].s)
			*all[i].s = "";
		for (int c = 0; c < rows_columns(q); c++)
			if (!strcmp(rows_column(q, c), all[i].name))
				take(d, q, c, &all[i]);
	}
	f->valid = (int)valid;
}

int rwsw_fidelity(struct dataset *d, const struct test *t, const struct fidelity **ret,
		  struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT * FROM v_fidelity WHERE run_id = ? AND test = ? AND"
				   " attempt = ?",
				   "iti", d->run_id, t->name, (int64_t)t->attempt);

	if (!q)
		return -EIO;
	if (rows_next(q) == 1) {
		struct fidelity *f = arena_new(&d->arena, struct fidelity);
		f->test = t->name;
		f->attempt = t->attempt;
		take_fidelity(d, q, f);
		*ret = f;
	}
	return rows_close(q, err);
}

/* ---- all of it ---- */

static bool any_rwsw(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (rwsw_is(&d->test[i]) || rwsw_has_replay(&d->test[i]))
			return true;
	return false;
}

static int load_multi(struct dataset *d, struct rwsw *x, struct err *err)
{
	int rc = 0;

	x->multi = arena_array(&d->arena, const struct wsat *, d->n_tests + 1);
	for (unsigned i = 0; !rc && i < d->n_tests; i++)
		if (sheet_kind(&d->test[i]) == SHEET_MULTI)
			rc = wsat_of(d, &d->test[i], &x->multi[x->n_multi++], err);
	return rc;
}

const struct wsat *rwsw_multi(const struct dataset *d, const struct test *t)
{
	for (unsigned i = 0; d->rwsw && i < d->rwsw->n_multi; i++)
		if (d->rwsw->multi[i] && d->rwsw->multi[i]->test == t)
			return d->rwsw->multi[i];
	return NULL;
}

unsigned rwsw_alone(const struct dataset *d, const struct test *t, struct arena *a,
		    struct stream_alone *ret)
{
	const struct workload *w = &d->rwsw->cap;

	for (unsigned i = 0; i < t->n_sections; i++) {
		const struct section *s = &t->section[i];
		const struct combo *c = s->n_combos ? &s->combo[0] : NULL;
		ret[i] = (struct stream_alone){
			.section = s, .combo = c, .stream = w->n_streams, .name = s->label
		};
		if (!c)
			continue;
		const char *op = c->read_pct >= 100 ? "R" : "W";
		ret[i].stream = rwsw_stream_find(w, op, c->pattern, c->block_bytes);
		ret[i].name = rwsw_stream_name(a, op, c->pattern, c->block_bytes);
	}
	return t->n_sections;
}

double rwsw_alone_mean(const struct workload *w, const struct stream_alone *s, unsigned n)
{
	double sum = 0, time = 0;

	for (unsigned i = 0; i < n; i++) {
		double share = s[i].stream < w->n_streams ? w->stream[s[i].stream].normalized_pct
							  : NAN;
		double iops = s[i].combo ? s[i].combo->iops : NAN;
		if (!(share > 0) || !(iops > 0))
			return NAN;
		sum += share;
		time += share / iops;
	}
	return n ? sum / time : NAN;
}

int dataset_rwsw(struct dataset *d, struct err *err)
{
	struct rwsw *x = arena_new(&d->arena, struct rwsw);

	if (!any_rwsw(d))
		return 0;
	int rc = rwsw_workload(d, &x->cap, err);
	if (!rc)
		rc = rwsw_replays(d, x, err);
	if (!rc)
		rc = load_multi(d, x, err);
	d->rwsw = x;
	return rc;
}
