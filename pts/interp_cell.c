/* SPDX-License-Identifier: MIT */
/* One measuring step: the job for the drive, and a row for each sealed segment. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "pts/cell_row.h"
#include "pts/interp_priv.h"

#define SERIES_NS 1000000000ull
#define COMMIT_EVERY_NS 1000000000ull /* where cells follow without a gap */
#define COMMIT_GAP_US 10000 /* in which another writer can take the file: it looks every 2 ms */

/* The job of a step while it runs. */
struct cell_job {
	struct interp *in;
	unsigned index; /* plan step */
	const struct step *s;
	struct segment *seg;
	unsigned n,
		first; /* segments; the first of them that is run now (earlier ones were recalled) */
	bool ended; /* a condition of the loop was met */
	bool failed; /* a row could not be stored */
	bool had_errors;
};

bool recalling(const struct interp *in)
{
	return in->ctx->recall && in->recalled < in->ctx->recall->n_cells;
}

const struct point *point_find(const struct interp *in, const char *name)
{
	for (unsigned i = in->n_points; i-- > 0;)
		if (!strcmp(in->point[i].name, name))
			return &in->point[i];
	return NULL;
}

double expr_value(const struct interp *in, const struct expr *e)
{
	const struct point *p;

	if (e->field == REF_NONE)
		return e->k;
	p = point_find(in, e->point);
	if (!p)
		BUG("point '%s' used before it was picked: the compiler lets no such plan through",
		    e->point);
	/* A load is of each drive of a set, and so is the rate that comes of a point. */
	return e->k * (e->field == REF_IOPS	 ? p->iops / p->members
		       : e->field == REF_THREADS ? p->threads
						 : p->qd);
}

static void fill_segment(struct cell_job *cj, unsigned i)
{
	struct interp *in = cj->in;
	const struct step *s = cj->s;
	struct segment *g = &cj->seg[i];
	uint64_t every = s->every_ns ? s->every_ns : s->time_ns, name = 0;

	for (const char *c = in->plan->name; *c; c++)
		name = rng_mix(name ^ (unsigned char)*c);
	g->seed = rng_seed(in->ctx->seed ^ name, cj->index,
			   (uint64_t)(in->loop.open ? in->loop.round : 0),
			   ((uint64_t)in->loop.round_try << 32) | i);
	g->acc = s->access;
	if (s->op == STEP_REPLAY) {
		g->acc = s->replay_access[i];
		g->oio = replay_step_oio(s, i);
		g->threads = g->acc ? replay_threads(g->oio) : 0;
		g->qd = g->acc ? replay_thread_depth(g->oio, g->threads, 0) : 0;
		g->stop.time_ns = s->replay[i].duration_ns;
		return;
	}
	if (s->op == STEP_FILL)
		g->stop.bytes = s->bytes;
	else
		g->stop.time_ns = i + 1 < cj->n ? every : s->time_ns - every * (cj->n - 1);
	if (!s->access)
		return;
	g->threads = (unsigned)expr_value(in, &s->threads);
	g->qd = (unsigned)expr_value(in, &s->qd);
	g->rate_iops = expr_value(in, &s->rate);
}

static void make_job(struct cell_job *cj)
{
	const struct step *s = cj->s;

	cj->n = 1;
	if (s->op == STEP_REPLAY)
		cj->n = s->n_replay;
	else if (s->op == STEP_RUN && s->every_ns)
		cj->n = (unsigned)((s->time_ns + s->every_ns - 1) / s->every_ns);
	cj->seg = calloc(cj->n, sizeof *cj->seg);
	BUG_ON(!cj->seg);
	for (unsigned i = 0; i < cj->n; i++)
		fill_segment(cj, i);
}

/* ---- a result as a row ---- */

struct row_parts {
	struct cell_row row;
	struct stream_row stream[ACCESS_STREAMS_MAX];
	struct cell_hist hist[2 * IO_OPS];
	struct second_row *second;
	char label[128];
	struct buf workload, errnos, cursors, note;
};

static const char *op_letter(unsigned op)
{
	return op == IO_READ ? "R" : "W";
}

static void put_workload(struct row_parts *p, const struct access *a)
{
	struct json j = JSON_INIT(&p->workload);
	double sum = 0;

	json_array(&j, NULL);
	for (unsigned i = 0; a && i < a->n_streams; i++)
		sum += a->stream[i].share;
	for (unsigned i = 0; a && i < a->n_streams; i++) {
		json_object(&j, NULL);
		json_str(&j, "op", op_letter(a->stream[i].op));
		json_str(&j, "access", a->stream[i].order == IO_SEQ ? "SEQ" : "RND");
		json_uint(&j, "block_bytes", a->stream[i].bytes);
		json_num(&j, "share_pct", 100 * a->stream[i].share / sum);
		json_end_object(&j);
	}
	json_end_array(&j);
	p->row.workload = buf_cstr(&p->workload);
}

static void put_streams(struct row_parts *p, const struct access *a, const struct result *r)
{
	unsigned n = a ? a->n_streams : 0;

	for (unsigned i = 0; i < n; i++) {
		const struct stream_tally *t = &r->stream[i];
		struct stream_row *s = &p->stream[i];
		uint64_t five_nines;

		s->op = op_letter(a->stream[i].op);
		s->access = a->stream[i].order == IO_SEQ ? "SEQ" : "RND";
		s->block_bytes = a->stream[i].bytes;
		s->ios = t->ios;
		s->iops = r->elapsed_ns ? (double)t->ios * 1e9 / (double)r->elapsed_ns : 0;
		s->art_ns = t->ios ? (double)t->sum_ns / (double)t->ios : NAN;
		s->mrt_ns = t->ios ? (int64_t)t->max_ns : -1;
		s->p99999_ns = t->lat && hist_percentile(t->lat, P99999, &five_nines)
				       ? (int64_t)five_nines
				       : -1;
	}
	p->row.stream = p->stream;
	p->row.n_streams = n;
}

/* Little's law as a self-check: IOPS x mean service time against the in-flight that was counted. */
static double little_pct(const struct result *r)
{
	unsigned __int128 sum = 0;

	for (unsigned op = 0; op < IO_OPS; op++)
		if (r->op[op].service)
			sum += r->op[op].service->sum;
	if (!sum || !r->elapsed_ns || !(r->inflight_avg > 0))
		return NAN;
	return ((double)sum / (double)r->elapsed_ns / r->inflight_avg - 1) * 100;
}

/* Of one member (from 1), or of all. */
static void put_cursors(struct row_parts *p, const struct interp *in, int member)
{
	struct json j = JSON_INIT(&p->cursors);
	unsigned members = member > 0 ? 1 : in->plan->members;
	const _Atomic uint64_t *first = in->cursor + (member > 0 ? (unsigned)member - 1 : 0) *
							     in->plan->n_cursors;

	json_array(&j, NULL);
	for (unsigned i = 0; i < members * in->plan->n_cursors; i++)
		json_uint(&j, NULL, first[i]);
	json_end_array(&j);
	p->row.cursors = in->plan->n_cursors ? buf_cstr(&p->cursors) : NULL;
}

static void put_identity(struct cell_job *cj, unsigned i, struct row_parts *p)
{
	struct interp *in = cj->in;
	const struct segment *g = &cj->seg[i];
	const struct step *s = cj->s;
	struct cell_row *w = &p->row;

	w->at = in->at;
	w->phase = s->phase;
	w->round = in->loop.open ? in->loop.round : -1;
	w->round_try = in->loop.open ? in->loop.round_try : -1;
	w->step = cj->index;
	w->segment = i;
	cell_label(s, i, p->label, sizeof p->label);
	w->label = p->label;
	w->member = -1;
	w->access = g->acc ? g->acc->name : "idle";
	w->threads = g->acc ? (int)g->threads : 0;
	w->qd = g->acc ? (int)g->qd : 0;
	w->oio = g->acc ? (int)(g->oio ? g->oio : g->threads * g->qd) : 0;
	w->scale = s->op == STEP_REPLAY ? s->scale : NAN;
	w->read_pct = !g->acc ? NAN : s->op == STEP_REPLAY ? access_read_pct(g->acc) : s->read_pct;
	w->block_bytes = g->acc && s->block_bytes ? (int64_t)s->block_bytes : -1;
	w->rate_iops = g->rate_iops > 0 ? g->rate_iops : NAN;
}

/* The row of a set sums up, and says how long it took until the first and until the last drive was done. */
static void put_set(struct cell_job *cj, struct row_parts *p, const struct result *r)
{
	p->row.oio *= (int)step_members(cj->in->plan, cj->s);
	p->row.rate_iops *= step_members(cj->in->plan, cj->s); /* unknown stays unknown */
	p->row.members = r->n_members;
	p->row.span_first_ns = r->first_done_ns;
	p->row.span_last_ns = r->elapsed_ns;
}

static uint64_t *written_of(struct interp *in, int member)
{
	return member > 0 ? &in->member_written[member - 1] : &in->written;
}

/* @member: of a set, from 1; -1: the sum of a set, or a drive alone. */
static int store_row(struct cell_job *cj, unsigned i, const struct result *r, int member)
{
	struct interp *in = cj->in;
	struct row_parts p = { .row = { .partial = r->partial } };
	struct cell_row *w = &p.row;
	int64_t id;
	int rc;

	put_identity(cj, i, &p);
	w->member = member;
	if (r->n_members)
		put_set(cj, &p, r);
	w->start_ns = r->start_ns - in->started_ns;
	w->elapsed_ns = r->elapsed_ns;
	w->read_ios = r->op[IO_READ].ios;
	w->write_ios = r->op[IO_WRITE].ios;
	w->read_bytes = r->op[IO_READ].bytes;
	w->write_bytes = r->op[IO_WRITE].bytes;
	w->prepared = r->prepared;
	w->short_ios = r->short_ios;
	w->errors = r->errors;
	w->inflight_avg = r->inflight_avg;
	w->inflight_max = (int)r->inflight_max;
	w->threads_seen = (int)r->threads_seen;
	w->cpu_sys_pct = r->cpu_sys_pct < 0 ? NAN : r->cpu_sys_pct;
	w->cpu_total_pct = r->cpu_total_pct < 0 ? NAN : r->cpu_total_pct;
	w->temperature_c = isnan(r->temperature_c) && member < 0 ? health_temperature(in)
								 : r->temperature_c;
	w->host_bytes_written = *written_of(in, member) + r->op[IO_WRITE].bytes;
	w->little_pct = little_pct(r);
	put_workload(&p, cj->seg[i].acc);
	put_streams(&p, cj->seg[i].acc, r);
	p.second = cell_row_seconds(&p.row, r);
	hist_reset(in->merged);
	cell_row_latencies(&p.row, p.hist, in->merged, r, cj->seg[i].rate_iops > 0);
	cell_row_errnos(&p.row, &p.errnos, r);
	put_cursors(&p, in, member);
	buf_str(&p.note, r->note);
	if (member < 0)
		health_note(in, &p.note);
	if (in->ctx->dut->info.simulated)
		buf_fmt(&p.note, "%scommitted at most once a second", p.note.len ? "; " : "");
	else if (i + 1 < cj->n)
		buf_fmt(&p.note, "%scommitted while the next cell ran", p.note.len ? "; " : "");
	w->note = buf_cstr(&p.note);
	rc = store_cell(in->ctx->store, w, &id, in->err);
	free(p.second);
	buf_release(&p.workload);
	buf_release(&p.errnos);
	buf_release(&p.cursors);
	buf_release(&p.note);
	return rc;
}

/* A drive's row; of a set the sum and its members' in one transaction. */
static int store_result(struct cell_job *cj, unsigned i, const struct result *r)
{
	struct store *st = cj->in->ctx->store;
	int rc, rc_end;

	if (!r->n_members)
		return store_row(cj, i, r, -1);
	rc = store_begin(st, cj->in->err);
	if (rc)
		return rc;
	rc = store_row(cj, i, r, -1);
	for (unsigned k = 0; k < r->n_members && !rc; k++)
		rc = store_row(cj, i, r->member[k].result, (int)r->member[k].member);
	rc_end = store_commit(st, cj->in->err); /* after a failure it undoes all */
	return rc ? rc : rc_end;
}

static void count_written(struct interp *in, const struct result *r)
{
	in->written += r->op[IO_WRITE].bytes;
	for (unsigned k = 0; k < r->n_members; k++)
		*written_of(in,
			    (int)r->member[k].member) += r->member[k].result->op[IO_WRITE].bytes;
}

/* ---- sums, conditions ---- */

static void remember(struct interp *in, const struct cell_sum *c)
{
	if (in->n_cells == in->cells_cap) {
		in->cells_cap = in->cells_cap ? 2 * in->cells_cap : 256;
		in->cell = realloc(in->cell, in->cells_cap * sizeof *in->cell);
		BUG_ON(!in->cell);
	}
	in->cell[in->n_cells++] = *c;
	in->live.cells = in->n_cells;
	if (c->ios) {
		in->live.iops = c->iops;
		in->live.bytes_per_s = c->bytes_per_s;
	}
}

/* written and time are tested after every cell (definitions.md). */
static bool cond_met(struct interp *in)
{
	const struct step *l = in->loop.step;

	if (!in->loop.open)
		return false;
	for (unsigned i = 0; i < l->n_conds; i++) {
		const struct cond *c = &l->cond[i];

		if (c->kind == COND_WRITTEN && in->written >= c->value * in->plan->members)
			in->loop.ended_by = "written";
		else if (c->kind == COND_TIME &&
			 in->ctx->dut->ops->now(in->ctx->dut) - in->loop.began_ns >= c->value)
			in->loop.ended_by = "time";
		else
			continue;
		return true;
	}
	return false;
}

static void sum_cell(struct cell_job *cj, uint64_t ios, uint64_t bytes, uint64_t elapsed_ns,
		     double art_ns)
{
	struct interp *in = cj->in;
	double sec = (double)elapsed_ns / 1e9;
	struct cell_sum c = { .step = cj->index,
			      .section = in->at.section,
			      .loop = in->loop.open ? in->loop.ordinal : 0,
			      .round = in->loop.open ? in->loop.round : 0,
			      .round_try = in->loop.open ? in->loop.round_try : 0,
			      .ios = ios,
			      .art_ns = ios ? art_ns : 0 };

	c.iops = sec > 0 ? (double)ios / sec : 0;
	c.bytes_per_s = sec > 0 ? (double)bytes / sec : 0;
	remember(in, &c);
}

static double result_art(const struct cell_job *cj, unsigned i, const struct result *r)
{
	unsigned __int128 sum = 0;
	uint64_t n = 0;

	for (unsigned op = 0; op < IO_OPS; op++) {
		const struct hist *h = r->op[op].service;

		if (cj->seg[i].rate_iops > 0 && r->op[op].response)
			h = r->op[op].response;
		sum += h ? h->sum : 0;
		n += h ? h->n : 0;
	}
	return n ? (double)sum / (double)n : 0;
}

/*
 * Cells of a simulated drive take no time of anybody: a durable transaction each would be all that a run waits for. But where
 * several runs write into one file, none may keep it for a second.
 */
static bool shares_tx(const struct interp *in)
{
	return in->ctx->dut->info.simulated && !in->ctx->one_of_many;
}

/* PTS[GEN-4-GAP]: cells that follow one another without a gap share a transaction, so that commits come at most once a second. */
static int tx_open(struct cell_job *cj)
{
	if ((cj->n == 1 && !shares_tx(cj->in)) || cj->in->in_tx)
		return 0;
	if (store_begin(cj->in->ctx->store, cj->in->err))
		return -EIO;
	cj->in->in_tx = true;
	return 0;
}

int cells_commit(struct interp *in, struct err *err)
{
	int rc;

	if (!in->in_tx)
		return 0;
	in->in_tx = false;
	if (store_failed(in->ctx->store)) {
		store_abort(in->ctx->store);
		return 0;
	}
	rc = store_commit(in->ctx->store, err);
	if (in->ctx->dut->info.simulated) /* others who write into the file get their turn */
		usleep(COMMIT_GAP_US);
	in->last_commit_ns = clock_mono_ns();
	return rc;
}

static int tx_close(struct interp *in, bool now)
{
	if (!in->in_tx || (!now && clock_mono_ns() - in->last_commit_ns < COMMIT_EVERY_NS))
		return 0;
	return cells_commit(in, in->err);
}

static int recalled_matches(const struct cell_job *cj, unsigned i, const struct recalled_cell *c)
{
	struct interp *in = cj->in;

	if (c->step == cj->index && c->segment == i && c->section == in->at.section &&
	    c->round == (in->loop.open ? in->loop.round : -1))
		return 0;
	return err_set(in->err, -EINVAL,
		       "cannot continue inside: the stored cells do not follow this plan (step %u, "
		       "stored %u)",
		       cj->index, c->step);
}

/* Takes one stored cell instead of measuring it again. 0, 1 the loop's condition was met, or an error. */
static int recall_one(struct cell_job *cj, unsigned i)
{
	struct interp *in = cj->in;
	const struct recalled_cell *c = &in->ctx->recall->cell[in->recalled];
	int rc = recalled_matches(cj, i, c);

	if (rc)
		return rc;
	if (in->loop.open && c->round_try > in->loop.round_try) { /* the first try was void */
		in->loop.round_try = c->round_try;
		in->loop.valid_from = in->loop.round;
	}
	in->recalled++;
	in->written += c->write_bytes;
	for (unsigned k = 0; !recalling(in) && k < in->ctx->recall->n_members; k++)
		in->member_written[k] = in->ctx->recall->member_written[k];
	sum_cell(cj, c->ios, c->read_bytes + c->write_bytes, c->elapsed_ns, c->art_ns);
	return cond_met(in);
}

/* What the drive says of itself after a cell. That it wants the test to stop does not touch the cell. */
static int look(struct cell_job *cj, unsigned i)
{
	bool idle_next = i + 1 < cj->n ? !cj->seg[i + 1].acc
				       : health_idle_after(cj->in->plan, cj->index);
	int rc = health_cell(cj->in, cj->index, i, idle_next);

	return rc == HEALTH_STOP ? 0 : rc;
}

static int sealed(void *arg, unsigned i, const struct result *r)
{
	struct cell_job *cj = arg;
	struct interp *in = cj->in;
	uint64_t bytes = r->op[IO_READ].bytes + r->op[IO_WRITE].bytes;

	i += cj->first;
	if (recalling(in)) { /* a simulated drive goes the same way again */
		int rc = recall_one(cj, i);

		cj->failed = rc < 0;
		cj->ended = rc > 0;
		return rc != 0;
	}
	if (tx_open(cj) || look(cj, i) || store_result(cj, i, r)) {
		cj->failed = true;
		return 1;
	}
	count_written(in, r);
	if (r->errors || r->short_ios)
		cj->had_errors = true;
	if (r->errors || r->short_ios || r->partial)
		return 1;
	sum_cell(cj, r->op[IO_READ].ios + r->op[IO_WRITE].ios, bytes, r->elapsed_ns,
		 result_art(cj, i, r));
	cj->ended = cond_met(in);
	if (tx_close(in, cj->ended)) {
		cj->failed = true;
		return 1;
	}
	return cj->ended || in->watch.stop;
}

static void progress(void *arg, const struct progress *p)
{
	struct cell_job *cj = arg;
	struct live *l = &cj->in->live;
	const struct segment *g = &cj->seg[cj->first + p->segment];

	l->cell_elapsed_ns = p->elapsed_ns;
	l->cell_ns = g->stop.time_ns;
	l->cell_bytes = p->bytes;
	l->cell_bytes_total = g->stop.bytes * step_members(cj->in->plan, cj->s);
	if (p->elapsed_ns) {
		l->iops = (double)p->ios * 1e9 / (double)p->elapsed_ns;
		l->bytes_per_s = (double)p->bytes * 1e9 / (double)p->elapsed_ns;
	}
	live_tell(cj->in);
}

/* Takes stored cells for the head of the job; the drive itself goes on only behind them. */
static int recall_head(struct cell_job *cj)
{
	int rc = 0;

	if (cj->in->ctx->dut->info.simulated)
		return 0;
	while (!rc && cj->first < cj->n && recalling(cj->in))
		rc = recall_one(cj, cj->first++);
	if (rc < 0)
		return rc;
	cj->ended = rc;
	return 0;
}

static int event_errors(struct cell_job *cj, int rc, const char *why)
{
	struct buf b = BUF_INIT, what = BUF_INIT;
	struct json j = JSON_INIT(&b);
	struct interp *in = cj->in;

	step_text(in->plan, cj->index, &what);
	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	json_int(&j, "round", in->loop.open ? in->loop.round : 0);
	json_str(&j, "cell", buf_cstr(&what));
	json_str(&j, "error", why);
	json_end_object(&j);
	if (store_event(in->ctx->store, in->ctx->run, "error", buf_cstr(&b), in->err))
		rc = -EIO;
	buf_release(&b);
	buf_release(&what);
	return rc;
}

static int finish(struct cell_job *cj, int rc, struct err *why)
{
	struct interp *in = cj->in;

	if (rc == -ETIMEDOUT)
		in->ctx->hung = true;
	if (tx_close(in, !shares_tx(in) || cj->failed) || cj->failed)
		return in->err->msg[0] ? -EIO
				       : err_set(in->err, -EIO, "a result could not be stored");
	if (rc == -EINTR)
		return err_set(in->err, rc, "stopped");
	if (in->watch.stop && !rc && !cj->had_errors)
		return err_set(in->err, HEALTH_STOP, "critical warning of the drive");
	if (rc || cj->had_errors) {
		if (!why->msg[0])
			err_set(why, rc, "IO error");
		rc = event_errors(cj, rc ? rc : -EIO, why->msg);
		return err_set(in->err, rc, "%s", why->msg);
	}
	return cj->ended;
}

int cell_run(struct interp *in, unsigned index)
{
	const struct step *s = &in->plan->step[index];
	struct cell_job cj = { .in = in, .index = index, .s = s };
	struct err why = { "" };
	struct job job = { .range = s->op == STEP_FILL ? in->plan->fill_range : in->plan->range,
			   .cursor = in->cursor,
			   .n_cursors = in->plan->n_cursors,
			   .interval_ns = SERIES_NS,
			   .sealed = sealed,
			   .progress = progress,
			   .arg = &cj,
			   .stop = in->ctx->stop,
			   .member_first = s->member_first,
			   .member_last = s->member_last };
	int rc;

	make_job(&cj);
	rc = recall_head(&cj);
	if (rc || cj.ended || cj.first == cj.n) {
		free(cj.seg);
		return rc ? rc : cj.ended;
	}
	job.seg = cj.seg + cj.first;
	job.n = cj.n - cj.first;
	in->live.cell_elapsed_ns = in->live.cell_bytes = 0;
	in->live.cell_bytes_total = cj.seg[cj.first].stop.bytes * step_members(in->plan, s);
	in->live.cell_ns = cj.seg[cj.first].stop.time_ns;
	live_tell(in);
	rc = in->ctx->dut->ops->run(in->ctx->dut, &job, &why);
	rc = finish(&cj, rc, &why);
	free(cj.seg);
	return rc;
}
