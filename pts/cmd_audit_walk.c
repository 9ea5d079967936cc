/* SPDX-License-Identifier: MIT */
/*
 * The stored plan gone through once more over the stored cells, as the interpreter goes: which cell comes next, when a
 * round closes, when a loop ends, what is picked. Whatever the rows say otherwise is a fault.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cmd_audit.h"

/* `time` of a loop counts from its begin, which is no row: its first cell starts a little later. */
#define TIME_SLACK_NS 2000000000ull
#define STEPS_MAX 1000000u /* of a plan without cells: somebody made it up */

void walk_break(struct walk *w, const char *row, const char *fmt, ...)
{
	char text[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	audit_fault(w->a, row, "%s", text);
	w->broken = true;
}

/* ---- one cell ---- */

static bool expr_known(const struct walk *w, const struct expr *e, double *ret)
{
	*ret = e->k;
	if (e->field == REF_NONE)
		return true;
	for (unsigned i = w->n_points; i-- > 0;) {
		if (strcmp(w->point[i].name, e->point))
			continue;
		*ret = e->k * (e->field == REF_IOPS	 ? w->point[i].iops / w->point[i].members
			       : e->field == REF_THREADS ? w->point[i].threads
							 : w->point[i].qd);
		return true;
	}
	return false;
}

static unsigned segments_of(const struct step *s)
{
	if (s->op == STEP_REPLAY)
		return s->n_replay;
	if (s->op == STEP_RUN && s->every_ns)
		return (unsigned)((s->time_ns + s->every_ns - 1) / s->every_ns);
	return 1;
}

static void check_load(struct walk *w, const struct step *s, const struct acell *c)
{
	const char *row = audit_cell_name(w->a, c);
	double threads, qd, rate;

	if (s->op == STEP_REPLAY && !c->no_load) {
		unsigned oio = replay_step_oio(s, (unsigned)c->segment);
		unsigned members = c->members ? (unsigned)c->members : 1;

		if (c->oio != (int)(oio * members) ||
		    c->threads != (oio ? (int)replay_threads(oio) : 0))
			audit_fault(w->a, row, "it is of T%d, oio %d; the plan wants T%u, oio %u",
				    c->threads, c->oio, oio ? replay_threads(oio) : 0,
				    oio * members);
		return;
	}
	if (s->op == STEP_IDLE || c->no_load)
		return;
	if (expr_known(w, &s->threads, &threads) && expr_known(w, &s->qd, &qd) &&
	    (c->threads != threads || c->qd != qd))
		audit_fault(w->a, row, "it is of T%dQ%d, the plan wants T%.0fQ%.0f", c->threads,
			    c->qd, threads, qd);
	if (c->oio >= 0 && c->oio != (int64_t)c->threads * c->qd * (c->members ? c->members : 1))
		audit_fault(w->a, row, "oio is %d, not %d x %d", c->oio, c->threads, c->qd);
	if (s->rate.k > 0 && expr_known(w, &s->rate, &rate)) {
		rate *= c->members ? c->members : 1; /* each drive's */
		if (!audit_same(rate, c->rate_iops))
			audit_fault(w->a, row, "its rate is %.17g IO/s, the plan wants %.17g",
				    c->rate_iops, rate);
	}
}

static bool same_pct(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-6;
}

/* What the plan says of a cell against what the row says. */
static void check_cell(struct walk *w, const struct step *s, const struct acell *c)
{
	const struct access *acc = s->op == STEP_REPLAY ? s->replay_access[c->segment] : s->access;
	const char *row = audit_cell_name(w->a, c), *name = acc ? acc->name : "idle";
	char label[128];

	cell_label(s, (unsigned)c->segment, label, sizeof label);
	if (strcmp(s->phase, c->phase) || strcmp(label, c->label))
		audit_fault(w->a, row, "it is of phase %s, label '%s'; the plan wants %s, '%s'",
			    c->phase, c->label, s->phase, label);
	if (strcmp(name, c->access))
		audit_fault(w->a, row, "it is of access %s, the plan wants %s", c->access, name);
	if (s->op == STEP_RUN && (!same_pct(s->read_pct, c->read_pct) ||
				  (c->block_bytes < 0 ? 0 : c->block_bytes) != s->block_bytes))
		audit_fault(w->a, row, "its mix or block is not that of the plan");
	check_load(w, s, c);
}

/* Bytes written since the purge (TGBW). Continuing inside a test forgets cells that were cut off. */
static void check_written(struct walk *w, const struct acell *c)
{
	if (c->written != w->written + c->write_bytes && w->t->continued)
		w->written = c->written - c->write_bytes;
	w->written += c->write_bytes;
	if (c->written == w->written)
		return;
	audit_fault(w->a, audit_cell_name(w->a, c),
		    "host_bytes_written is %" PRIu64 ", the cells since the purge wrote %" PRIu64,
		    c->written, w->written);
	w->written = c->written;
}

static bool in_loop(const struct walk *w, const struct acell *c)
{
	unsigned head = (unsigned)(w->loop.step - w->p->step);

	return (unsigned)c->step > head && (unsigned)c->step < w->loop.step->end &&
	       c->section == w->section;
}

/* "time" was reached, surely or, within the slack, as the rows go on. */
static bool time_met(const struct walk *w, const struct cond *cond, const struct acell *c)
{
	uint64_t spent = c->start_ns + c->elapsed_ns - w->cell[w->loop.first]->start_ns;
	uint64_t slack = TIME_SLACK_NS + cond->value / 1000;

	if (spent >= cond->value)
		return true;
	if (spent + slack < cond->value)
		return false;
	return w->sec && !strcmp(w->sec->ended_by, "time") &&
	       (w->k == w->n || !in_loop(w, w->cell[w->k]));
}

/* written and time are tested after every cell. PTS[WSAT-2.4] */
static bool cond_met(struct walk *w, const struct acell *c)
{
	if (!w->loop.open)
		return false;
	for (unsigned i = 0; i < w->loop.step->n_conds; i++) {
		const struct cond *cond = &w->loop.step->cond[i];

		if (cond->kind == COND_WRITTEN && w->written >= cond->value * w->p->members)
			walk_loop_end(w, "written");
		else if (cond->kind == COND_TIME && time_met(w, cond, c))
			walk_loop_end(w, "time");
		else
			continue;
		return true;
	}
	return false;
}

void walk_loop_end(struct walk *w, const char *by)
{
	w->loop.open = false;
	w->loop.ended_by = by;
	w->repeats = 0;
	w->pc = w->loop.step->end + 1;
	if (w->sec)
		w->sec->worked = true;
	if (w->loop.steady)
		return;
	if (w->loop.step->then == THEN_ABORT)
		w->over = true;
	if (w->loop.step->then == THEN_STOP)
		w->pc = w->p->n - 1;
}

/* A round with an error is void and repeated once, the window starts anew. PTS[GEN-5-VOID] */
static void round_again(struct walk *w, const struct acell *c)
{
	struct audit *a = w->a;

	for (unsigned i = 0; i < a->n_voided; i++) {
		struct avoid *v = &a->voided[i];

		if (v->seen || strcmp(v->test, w->t->name) || v->attempt != w->attempt ||
		    v->section != w->section || v->round != c->round ||
		    v->round_try != c->round_try)
			continue;
		v->seen = true;
		if (!w->loop.open || w->loop.round_try > 1)
			walk_break(w, audit_cell_name(a, c),
				   "its round was repeated more than once");
		w->loop.round_try++;
		w->loop.valid_from = w->loop.round;
		w->loop.first_of_try = w->k;
		w->repeats = 0;
		w->pc = (unsigned)(w->loop.step - w->p->step) + 1;
		return;
	}
	w->over = true; /* the test failed here */
}

/* True when the row is the next cell of the plan. */
static bool expect(struct walk *w, const struct acell *c, unsigned segment)
{
	int round = w->loop.open ? w->loop.round : -1, try = w->loop.open ? w->loop.round_try : -1;
	const struct step *s = &w->p->step[w->pc];
	struct buf what = BUF_INIT;

	if (c->step == (int)w->pc && c->segment == (int)segment && c->section == w->section &&
	    c->round == round && c->round_try == try)
		return true;
	if (w->t->continued && w->loop.open && c->step == (int)w->pc && c->round == round) {
		w->loop.round_try =
			c->round_try; /* an earlier try was void before the interruption */
		return true;
	}
	step_text(w->p, w->pc, &what);
	walk_break(w, audit_cell_name(w->a, c),
		   "out of order: section %d, step %d, segment %d, round %d; the plan wants "
		   "section %u, step "
		   "%u (%s), segment %u, round %d",
		   c->section, c->step, c->segment, c->round, s->section, w->pc, buf_cstr(&what),
		   segment, round);
	buf_release(&what);
	return false;
}

static void walk_cells(struct walk *w)
{
	const struct step *s = &w->p->step[w->pc];
	unsigned n = segments_of(s);

	for (unsigned i = 0; i < n; i++) {
		const struct acell *c;

		if (w->k == w->n) {
			w->over = true;
			return;
		}
		c = w->cell[w->k];
		if (!expect(w, c, i))
			return;
		w->k++;
		check_cell(w, s, c);
		check_written(w, c);
		if (c->partial && w->k < w->n && w->t->continued) {
			i--; /* measured anew after the interruption */
			continue;
		}
		if (c->errors || c->short_ios) {
			round_again(w, c);
			return;
		}
		if (c->partial) {
			w->over = true;
			return;
		}
		if (cond_met(w, c))
			return;
	}
	w->pc++;
}

/* ---- steps ---- */

static void section_enter(struct walk *w, const struct step *s)
{
	walk_section_close(w);
	w->section = (int)s->section;
	w->sec = audit_section(w->a, w->t->name, w->attempt, w->section);
	w->loop.step = NULL;
	if (!w->sec) {
		w->over = true; /* interrupted before */
		return;
	}
	w->sec->seen = true;
	if (strcmp(w->sec->label, s->section_label))
		audit_fault(w->a, audit_section_name(w->a, w->sec),
			    "its label is '%s', the plan says '%s'", w->sec->label,
			    s->section_label);
}

static void loop_begin(struct walk *w)
{
	const struct step *s = &w->p->step[w->pc++];

	free(w->loop.y);
	memset(&w->loop, 0, sizeof w->loop);
	w->loop.step = s;
	w->loop.open = true;
	w->loop.round = w->loop.round_try = w->loop.valid_from = 1;
	w->loop.first = w->loop.first_of_try = w->k;
	if (w->sec) {
		w->sec->looped = true;
		w->sec->loop = s;
	}
}

static void do_repeat(struct walk *w, const struct step *s)
{
	if (s->op == STEP_REPEAT) {
		w->repeat[w->repeats].step = w->pc;
		w->repeat[w->repeats++].left = s->rounds;
		w->pc++;
	} else if (--w->repeat[w->repeats - 1].left) {
		w->pc = s->head + 1;
	} else {
		w->repeats--;
		w->pc++;
	}
}

/* UNTIL, and CHECK where the text has its own. */
static void do_until(struct walk *w, const struct step *s)
{
	if (s->op == STEP_CHECK || !w->loop.step->own_check) {
		walk_check(w);
		if (w->over || w->broken || !w->loop.open)
			return;
	}
	w->pc++;
	if (s->op == STEP_CHECK)
		return;
	w->loop.round++;
	w->loop.round_try = 1;
	w->loop.first_of_try = w->k;
	w->pc = s->head + 1;
}

static void do_step(struct walk *w)
{
	const struct step *s = &w->p->step[w->pc];

	if (s->opens_section)
		section_enter(w, s);
	if (w->over)
		return;
	switch (s->op) {
	case STEP_PURGE:
		w->written = 0;
		w->pc++;
		break;
	case STEP_FILL:
	case STEP_RUN:
	case STEP_REPLAY:
	case STEP_IDLE:
		if (s->na)
			w->pc++;
		else
			walk_cells(w);
		break;
	case STEP_LOOP:
		loop_begin(w);
		break;
	case STEP_CHECK:
	case STEP_UNTIL:
		do_until(w, s);
		break;
	case STEP_REPEAT:
	case STEP_AGAIN:
		do_repeat(w, s);
		break;
	case STEP_PICK:
		walk_pick(w);
		w->pc++;
		break;
	case STEP_END:
		walk_section_close(w);
		w->over = true;
		break;
	}
}

/* ---- the end ---- */

static void check_verdict(struct walk *w)
{
	const char *verdict = !w->any_loop ? "done" : w->all_steady ? "steady" : "not achieved";
	int steady = w->any_loop ? w->all_steady : -1;
	const char *row = arena_fmt(&w->a->arena, "%s test, verdict", w->t->name);

	if (!w->t->finished || w->attempt != w->t->attempt || !strcmp(w->t->verdict, "failed"))
		return;
	if (w->p->step[w->pc].op != STEP_END) {
		audit_fault(w->a, row, "it is '%s', but its cells end before the plan does",
			    w->t->verdict);
		return;
	}
	if (strcmp(w->t->verdict, verdict) || w->t->steady != steady)
		audit_fault(w->a, row, "it is '%s' (steady %d), its rows give '%s' (steady %d)",
			    w->t->verdict, w->t->steady, verdict, steady);
	else
		w->t->walked = true;
}

static bool mine(const struct walk *w, const char *test, int attempt)
{
	return attempt == w->attempt && !strcmp(test, w->t->name);
}

/* Rows that the plan, gone through, has no place for. */
static void check_left(struct walk *w)
{
	struct audit *a = w->a;

	if (w->k < w->n)
		audit_fault(a, audit_cell_name(a, w->cell[w->k]), "the plan has no place for it");
	for (unsigned i = 0; i < a->n_rounds; i++)
		if (!a->round[i].seen && mine(w, a->round[i].test, a->round[i].attempt))
			audit_fault(a,
				    arena_fmt(&a->arena,
					      "%s test, section %d, steady-state check of round %d",
					      a->round[i].test, a->round[i].section,
					      a->round[i].round),
				    "the plan has no place for it");
	for (unsigned i = 0; i < a->n_points; i++)
		if (!a->point[i].seen && mine(w, a->point[i].test, a->point[i].attempt))
			audit_fault(a,
				    arena_fmt(&a->arena, "%s test, section %d, point %s",
					      a->point[i].test, a->point[i].section,
					      a->point[i].point),
				    "the plan has no place for it");
	for (unsigned i = 0; i < a->n_sections; i++)
		if (!a->section[i].seen && mine(w, a->section[i].test, a->section[i].attempt))
			audit_fault(a, audit_section_name(a, &a->section[i]),
				    "the plan has no place for it");
	for (unsigned i = 0; i < a->n_voided; i++)
		if (!a->voided[i].seen && mine(w, a->voided[i].test, a->voided[i].attempt) &&
		    a->voided[i].round_try == 1)
			audit_fault(a,
				    arena_fmt(&a->arena, "%s test, section %d, void round %d",
					      a->voided[i].test, a->voided[i].section,
					      a->voided[i].round),
				    "no cell of it has an error");
}

static void gather(struct walk *w)
{
	w->cell = arena_array(&w->a->arena, struct acell *, w->a->n_cells + 1);
	for (unsigned i = 0; i < w->a->n_cells; i++) {
		struct acell *c = &w->a->cell[i];

		if (c->member < 0 && mine(w, c->test, c->attempt))
			w->cell[w->n++] = c;
	}
}

void audit_walk(struct audit *a, struct atest *t, int attempt)
{
	struct walk *w = arena_new(&a->arena, struct walk);

	w->a = a;
	w->t = t;
	w->attempt = attempt;
	w->p = &t->plan;
	w->all_steady = true;
	gather(w);
	for (unsigned steps = 0; !w->over && !w->broken; steps++) {
		if (steps > STEPS_MAX + 4 * w->n)
			walk_break(w, arena_fmt(&a->arena, "%s test", t->name),
				   "its plan never ends");
		else
			do_step(w);
	}
	if (!w->broken) {
		check_verdict(w);
		check_left(w);
	}
	free(w->loop.y);
}
