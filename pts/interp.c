/* SPDX-License-Identifier: MIT */
/* The interpreter: one branch for each opcode; loops, rounds, sections and their verdicts. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/interp_priv.h"

static uint64_t now(const struct interp *in)
{
	return in->ctx->dut->ops->now(in->ctx->dut);
}

int note_deviation(struct interp *in, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n = snprintf(text, sizeof text, "%s: ", in->plan->name);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
	va_end(ap);
	return store_deviation(in->ctx->store, in->ctx->run, in->plan->clause, text, in->err);
}

void live_tell(struct interp *in)
{
	struct live *l = &in->live;
	const struct step *s = &in->plan->step[in->pc];
	struct plan_at at = { .step = in->pc };
	struct buf what = BUF_INIT;

	if (!in->ctx->live)
		return;
	l->test = in->plan->name;
	l->test_index = in->ctx->test_index;
	l->tests = in->ctx->tests;
	l->phase = s->phase ? s->phase : "";
	l->round = in->loop.open ? in->loop.round : 0;
	l->rounds_max = in->loop.open ? in->loop.step->rounds : 0;
	l->step = in->pc + 1;
	l->steps = in->plan->n;
	l->steady = in->loop.state;
	if (in->loop.open) {
		at.round = (unsigned)in->loop.round;
		at.loop_ns = now(in) - in->loop.began_ns;
	}
	if (s->op == STEP_FILL) /* its own rate; that of other cells says nothing of a fill */
		at.fill_bytes_per_s = l->bytes_per_s / in->plan->members;
	plan_left(in->plan, &at, &l->left_min_ns, &l->left_max_ns);
	step_text(in->plan, in->pc, &what);
	l->cell = buf_cstr(&what);
	in->ctx->live(in->ctx->arg, l);
	buf_release(&what);
}

/* ---- sections ---- */

static int section_close(struct interp *in)
{
	struct section_end_row row = {
		.at = in->at, .steady = -1, .window_first = -1, .window_last = -1, .rounds = 0
	};

	if (!in->section_open)
		return 0;
	in->section_open = false;
	if (in->section_looped) {
		row.steady = in->section_steady;
		row.rounds =
			in->loop.window_last; /* closed ones: the limit of a loop may cut one */
		row.window_first = in->loop.full ? in->loop.window_first : -1;
		row.window_last = in->loop.full ? in->loop.window_last : -1;
		row.ended_by = in->loop.ended_by;
		in->any_loop = true;
		in->all_steady &= in->section_steady;
	}
	if (in->sections_ended++ < (in->ctx->recall ? in->ctx->recall->sections_ended : 0))
		return 0;
	return store_section_end(in->ctx->store, &row, in->err);
}

/* A real drive is not purged again where cells of the section are there to go on from. */
static bool recalls_section(const struct interp *in, unsigned section)
{
	return recalling(in) && !in->ctx->dut->info.simulated &&
	       in->ctx->recall->cell[in->recalled].section == section;
}

/* A section begins at a step that opens one; its purge, when it starts with one, belongs into its row. */
static int section_enter(struct interp *in, const struct step *s)
{
	struct section_row row = { .label = s->section_label, .purge_verified = -1 };
	bool stored = in->sections_seen < (in->ctx->recall ? in->ctx->recall->sections : 0);
	int rc = section_close(in);

	if (rc)
		return rc;
	in->sections_seen++;
	in->at.section = s->section;
	in->section_open = true;
	in->section_looped = in->section_steady = false;
	row.at = in->at;
	if (s->op == STEP_PURGE) {
		written_reset(in);
		if (!stored || !recalls_section(in, s->section))
			rc = drive_purge(in, s, &row);
		if (rc == -EINTR)
			return rc;
	}
	if (!stored &&
	    store_section(in->ctx->store, &row, in->err)) /* a purge that failed is told, too */
		return -EIO;
	return rc || s->op != STEP_PURGE ? rc : drive_cache(in);
}

static int purge_within(struct interp *in, const struct step *s)
{
	struct section_row row = { .at = in->at };
	int rc = recalling(in) && !in->ctx->dut->info.simulated ? 0 : drive_purge(in, s, &row);

	written_reset(in);
	return rc ? rc : drive_cache(in);
}

/* ---- loops ---- */

static void loop_begin(struct interp *in, unsigned index)
{
	const struct step *s = &in->plan->step[index];
	struct loop_run *l = &in->loop;

	free(l->y);
	*l = (struct loop_run){ .step = s,
				.ordinal = l->ordinal + 1,
				.open = true,
				.round = 1,
				.round_try = 1,
				.valid_from = 1,
				.began_ns = now(in),
				.repeats = in->repeats };
	in->section_looped = true;
}

/* PTS[GEN-5-TRACK]: value of a tracked variable in the current round: the mean over its cells, ART weighted by IOs. NAN: no such cell. */
static double tracked_value(const struct interp *in, const struct track *t)
{
	double sum = 0, weight = 0;

	for (unsigned i = 0; i < in->n_cells; i++) {
		const struct cell_sum *c = &in->cell[i];
		double w = t->var == VAR_ART ? (double)c->ios : 1;

		if (c->loop != in->loop.ordinal || c->round != in->loop.round || c->voided ||
		    !selector_matches(&t->sel, &in->plan->step[c->step]))
			continue;
		sum += w * (t->var == VAR_IOPS	? c->iops
			    : t->var == VAR_ART ? c->art_ns
						: c->bytes_per_s);
		weight += w;
	}
	return weight > 0 ? sum / weight : NAN;
}

static void keep_value(struct loop_run *l, unsigned track, double v)
{
	unsigned need = (unsigned)l->round, cap = l->rounds_cap, n = l->step->n_tracks;
	double *y;

	if (need > cap) {
		cap = cap ? 2 * cap : 32;
		y = calloc((size_t)cap * n, sizeof *y);
		BUG_ON(!y || need > cap);
		for (unsigned t = 0; t < n && l->rounds_cap; t++)
			memcpy(y + (size_t)t * cap, l->y + (size_t)t * l->rounds_cap,
			       l->rounds_cap * sizeof *y);
		free(l->y);
		l->y = y;
		l->rounds_cap = cap;
	}
	l->y[(size_t)track * l->rounds_cap + need - 1] = v;
}

static void say_state(struct loop_run *l, const struct steady_check *c)
{
	snprintf(l->state, sizeof l->state,
		 "rounds %u-%d: range %.1f %% of 20, slope %.1f %% of 10", c->first_round, l->round,
		 100 * c->range / c->average, 100 * c->slope_excursion / c->average);
}

/* PTS[GEN-5-WINDOW]: closes the round with its checks: all tracked variables must be steady in the same window. */
static int round_check(struct interp *in)
{
	struct loop_run *l = &in->loop;
	unsigned n = l->step->n_tracks;
	bool full = l->round - l->valid_from + 1 >= STEADY_WINDOW, steady = full && n;
	struct round_row *row = calloc(n + 1, sizeof *row);
	struct steady_check *check = calloc(n + 1, sizeof *check);
	int rc = 0;

	BUG_ON(!row || !check);

	for (unsigned t = 0; t < n; t++) {
		double v = tracked_value(in, &l->step->track[t]);

		keep_value(l, t, v);
		row[t] = (struct round_row){ .at = in->at,
					     .round = l->round,
					     .round_try = l->round_try,
					     .variable = l->step->track[t].text,
					     .value = v };
		if (!full)
			continue;
		steady_check(l->y + (size_t)t * l->rounds_cap + l->round - STEADY_WINDOW,
			     (unsigned)(l->round - STEADY_WINDOW + 1), &check[t]);
		row[t].check = &check[t];
		steady &= check[t].steady;
		if (!t || !check[t].steady)
			say_state(l, &check[t]);
	}
	l->window_last = l->round;
	l->window_first = l->round - STEADY_WINDOW + 1 > l->valid_from
				  ? l->round - STEADY_WINDOW + 1
				  : l->valid_from;
	l->full = full;
	l->steady = steady;
	if (in->rounds_seen++ >= (in->ctx->recall ? in->ctx->recall->rounds_closed : 0) && n)
		rc = store_round(in->ctx->store, row, n, in->err);
	free(row);
	free(check);
	return rc;
}

/* PTS[GEN-5-MARK]: leaves the loop; what happens when it was not steady is the definition's. 0, 1 the test is to end here, or an error. */
static int loop_end(struct interp *in, const char *by)
{
	struct loop_run *l = &in->loop;

	l->open = false;
	l->ended_by = by;
	in->repeats = l->repeats;
	in->section_steady = l->steady;
	in->pc = l->step->end + 1;
	if (l->steady)
		return 0;
	if (note_deviation(
		    in, "steady state not achieved: %d rounds, ended by %s%s%s", l->window_last, by,
		    in->plan->n_sections > 1 ? ", section " : "",
		    in->plan->n_sections > 1
			    ? (l->step->section_label[0] ? l->step->section_label : "of the loop")
			    : ""))
		return -EIO;
	if (l->step->then == THEN_ABORT)
		return err_set(in->err, -ECANCELED,
			       "steady state not achieved, and the definition says: abort");
	return l->step->then == THEN_STOP;
}

/* CHECK, or the end of a block without one. */
static int do_check(struct interp *in)
{
	struct loop_run *l = &in->loop;
	int rc = round_check(in);

	if (rc)
		return rc;
	for (unsigned i = 0; i < l->step->n_conds; i++)
		if (l->step->cond[i].kind == COND_STEADY && l->steady)
			return loop_end(in, "steady");
	if (l->step->rounds && l->round >= (int)l->step->rounds)
		return loop_end(in, "rounds");
	return 0;
}

static int do_until(struct interp *in)
{
	struct loop_run *l = &in->loop;
	int rc;

	if (!l->step->own_check) {
		rc = do_check(in);
		if (rc || !l->open)
			return rc;
	}
	l->round++;
	l->round_try = 1;
	in->pc = in->plan->step[in->pc].head + 1;
	return 0;
}

/*
 * PTS[GEN-5-VOID]: an error voids the round; it is repeated once under the same number, pre-writes included, and the window
 * starts anew. An error of the storage says nothing about the round: nothing more is written of it.
 */
static int round_again(struct interp *in, int rc)
{
	struct loop_run *l = &in->loop;
	struct err why = *in->err;

	if (!l->open || l->round_try > 1 || (rc != -EIO && rc != -ENODATA) ||
	    store_failed(in->ctx->store))
		return rc;
	in->err->msg[0] = 0;
	if (store_void_round(in->ctx->store, &in->at, l->round, l->round_try, why.msg, in->err))
		return -EIO;
	for (unsigned i = 0; i < in->n_cells; i++)
		if (in->cell[i].loop == l->ordinal && in->cell[i].round == l->round)
			in->cell[i].voided = true;
	l->round_try++;
	l->valid_from = l->round;
	in->repeats = l->repeats;
	in->pc = (unsigned)(l->step - in->plan->step) + 1;
	return 0;
}

/* ---- steps ---- */

/* A cell that cannot be is an event; that its block size is missing in the test is a deviation, told once (store keeps one). */
static int note_na(struct interp *in, const struct step *s)
{
	char size[32];
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	if ((in->loop.open && in->loop.round > 1) || recalling(in))
		return 0;
	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	json_uint(&j, "step", in->pc);
	json_str(&j, "access", s->access ? s->access->name : NULL);
	json_uint(&j, "block_bytes", s->block_bytes);
	json_num(&j, "read_pct", s->read_pct);
	json_str(&j, "reason", s->na);
	json_end_object(&j);
	rc = store_event(in->ctx->store, in->ctx->run, "cell-na", buf_cstr(&b), in->err);
	buf_release(&b);
	if (rc || !s->block_bytes)
		return rc;
	return note_deviation(in, "cells of %s not measured: %s",
			      fmt_block(size, sizeof size, s->block_bytes), s->na);
}

static int do_cell(struct interp *in, const struct step *s)
{
	int rc;

	if (s->na) {
		in->pc++;
		return s->op == STEP_RUN ? note_na(in, s) : 0;
	}
	if (s->op == STEP_FILL && s->access->stream[0].cursor != CURSOR_NONE && !recalling(in))
		for (unsigned m = 0; m < in->plan->members; m++)
			in->cursor[m * in->plan->n_cursors + s->access->stream[0].cursor] = 0;
	rc = cell_run(in, in->pc);
	if (rc < 0)
		return round_again(in, rc);
	if (rc > 0) /* written or time: the loop ends with this cell, in the midst of its round */
		return loop_end(in, in->loop.ended_by);
	in->pc++;
	return 0;
}

static void do_repeat(struct interp *in, const struct step *s)
{
	if (s->op == STEP_REPEAT) {
		BUG_ON(in->repeats == REPEAT_DEPTH);
		in->repeat[in->repeats].step = in->pc;
		in->repeat[in->repeats++].left = s->rounds;
		in->pc++;
		return;
	}
	BUG_ON(!in->repeats);
	if (--in->repeat[in->repeats - 1].left) {
		in->pc = s->head + 1;
		return;
	}
	in->repeats--;
	in->pc++;
}

/* One step. 0 go on at in->pc, 1 the test is over, or an error. */
static int do_step(struct interp *in)
{
	const struct step *s = &in->plan->step[in->pc];
	int rc = s->opens_section ? section_enter(in, s) : 0;

	if (rc)
		return rc;
	switch (s->op) {
	case STEP_PURGE:
		rc = s->opens_section ? 0 : purge_within(in, s);
		in->pc++;
		return rc;
	case STEP_FILL:
	case STEP_RUN:
	case STEP_REPLAY:
	case STEP_IDLE:
		return do_cell(in, s);
	case STEP_LOOP:
		loop_begin(in, in->pc++);
		return 0;
	case STEP_CHECK:
		in->pc++;
		return do_check(in);
	case STEP_UNTIL:
		return do_until(in);
	case STEP_REPEAT:
	case STEP_AGAIN:
		do_repeat(in, s);
		return 0;
	case STEP_PICK:
		in->pc++;
		return pick_run(in, s);
	case STEP_END:
		return 1;
	}
	BUG("opcode %d", s->op);
}

/* PTS[GEN-4-END] */
static int finish_test(struct interp *in, enum test_verdict *ret)
{
	struct test_end_row row = { .run = in->at.run,
				    .test = in->at.test,
				    .attempt = in->at.attempt };
	int rc = section_close(in);

	if (!rc)
		rc = health_end(in);
	if (!rc)
		rc = cells_commit(in, in->err);
	if (rc)
		return rc;
	*ret = !in->any_loop	? VERDICT_DONE
	       : in->all_steady ? VERDICT_STEADY
				: VERDICT_NOT_ACHIEVED;
	row.steady = in->any_loop ? in->all_steady : -1;
	row.verdict = *ret == VERDICT_DONE     ? "done"
		      : *ret == VERDICT_STEADY ? "steady"
					       : "not achieved";
	row.write_cache = in->cache_state;
	return store_test_end(in->ctx->store, &row, in->err);
}

/*
 * The drive, or the definition, failed the test. A failed storage did not: what it holds is whole, the attempt has no end
 * and is begun again by resume.
 */
static void fail_test(struct interp *in, int rc)
{
	struct test_end_row row = { .run = in->at.run,
				    .test = in->at.test,
				    .attempt = in->at.attempt,
				    .steady = -1,
				    .verdict = "failed",
				    .write_cache = in->cache_state,
				    .detail = in->err->msg };
	struct err ignored = { "" };

	if (cells_commit(in, &ignored) && !in->err->msg[0])
		*in->err = ignored;
	if (store_failed(in->ctx->store) || rc == -EINTR || rc == HEALTH_STOP)
		return;
	if (store_test_end(in->ctx->store, &row, &ignored))
		err_prefix(in->err, rc, "(the failure itself could not be stored: %s)",
			   ignored.msg);
}

static int begin_attempt(struct interp *in)
{
	const struct recall *r = in->ctx->recall;
	unsigned cursors = in->plan->n_cursors * in->plan->members;

	in->cursor = calloc(cursors + 1, sizeof *in->cursor);
	in->member_written = calloc(in->plan->members, sizeof *in->member_written);
	in->merged = hist_new();
	BUG_ON(!in->cursor || !in->member_written);
	in->started_ns = now(in);
	in->last_commit_ns = clock_mono_ns();
	in->all_steady = true;
	if (!r)
		return store_attempt(in->ctx->store, in->ctx->run, in->plan->name, &in->at.attempt,
				     in->err);
	in->at.attempt = r->attempt;
	for (unsigned i = 0; i < r->n_cursors && i < cursors && !in->ctx->dut->info.simulated; i++)
		in->cursor[i] = r->cursor[i];
	return 0;
}

int interp_test(struct run_ctx *ctx, const struct plan *p, enum test_verdict *ret_verdict,
		struct err *err)
{
	struct interp in = {
		.ctx = ctx, .plan = p, .err = err, .at = { .run = ctx->run, .test = p->name }
	};
	int rc = begin_attempt(&in);

	if (!rc)
		rc = health_begin(&in);
	while (!rc) {
		in.live.cell_elapsed_ns = in.live.cell_ns = in.live.cell_bytes =
			in.live.cell_bytes_total = 0;
		live_tell(&in);
		if (ctx->stop && *ctx->stop)
			rc = err_set(err, -EINTR, "stopped");
		else
			rc = do_step(&in);
	}
	drive_restore(&in);
	if (rc == 1 && drive_same(&in))
		rc = -ENODEV;
	if (rc == 1)
		rc = finish_test(&in, ret_verdict);
	if (rc)
		fail_test(&in, rc);
	ctx->storage_failed = store_failed(ctx->store);
	free(in.loop.y);
	free(in.cell);
	free(in.point);
	free(in.cursor);
	free(in.member_written);
	free(in.merged);
	return rc;
}
