/* SPDX-License-Identifier: MIT */
/* Clauses about rounds, steady state and operating points. The arithmetic was done again by the walk. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_audit.h"

/* LOOPS judges come without a section where no loop was begun. */
static bool no_loop(struct judging *j)
{
	if (j->s)
		return false;
	judge_text(j, "no round was begun");
	judge_say(j, AUDIT_NOT_MEASURED);
	return true;
}

static bool of_section(const struct judging *j, const struct around *r)
{
	return r->attempt == j->t->attempt && r->section == j->s->section &&
	       !strcmp(r->test, j->t->name);
}

/* The checks of the window that counts: one for each tracked variable. */
static bool of_window(const struct judging *j, const struct around *r)
{
	return of_section(j, r) && r->full && r->round == j->s->window_last;
}

/* ---- rounds ---- */

/* PTS[GEN-5-MAX25] */
void judge_rounds(struct judging *j)
{
	int max = (int)strtol(judge_arg(j, "max"), NULL, 10), limit;

	if (no_loop(j))
		return;
	limit = (int)j->s->loop->rounds;
	judge_text(j, "%d rounds of at most %d%s%s", j->s->rounds < 0 ? 0 : j->s->rounds, limit,
		   *j->s->ended_by ? ", ended by " : "", j->s->ended_by);
	if (j->s->rounds > max || (j->s->steady == 0 && limit < max))
		judge_say(j, AUDIT_DEVIATION);
	if (!j->s->ended)
		judge_say(j, AUDIT_NOT_MEASURED);
}

/* Is @text one of the comma-separated @list? */
static bool among(const char *list, const char *text)
{
	size_t n = strlen(text);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");

		if (len == n && !strncmp(p, text, n))
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

/* PTS[GEN-5-TRACK] PTS[RWSW-7-TRACK] PTS[RWSW-8-TRACK] PTS[IOPS-3.2.1.2.2] PTS[TP-3-TRACK] PTS[LAT-3-TRACK] PTS[WSAT-2-TRACK] PTS[HIR-2-TRACK]
 * PTS[DIRTH-2-TRACK] PTS[DIRTH-3-TRACK] */
void judge_tracks(struct judging *j)
{
	const char *want = judge_arg(j, "want");
	unsigned rows = 0, wanted = 1;
	bool right = true;

	if (no_loop(j))
		return;
	for (const char *p = want; p && *p; p++)
		wanted += *p == ',';
	for (unsigned i = 0; i < j->s->loop->n_tracks; i++) {
		judge_text(j, "%s", j->s->loop->track[i].text);
		right &= !want || among(want, j->s->loop->track[i].text);
	}
	for (unsigned i = 0; i < j->a->n_rounds; i++) {
		if (!of_section(j, &j->a->round[i]))
			continue;
		rows++;
		judge_row(j->a, &j->f->rounds, j->a->round[i].id);
	}
	judge_text(j, "%u values worked out again from their cells", rows);
	if (!right || (want && j->s->loop->n_tracks != wanted))
		judge_say(j, judge_by_plan(j));
	if (!rows)
		judge_say(j, AUDIT_NOT_MEASURED);
}

/* ---- steady state ---- */

static void say_check(struct judging *j, const struct around *r, bool range, bool slope)
{
	const struct steady_check *c = &r->check;

	judge_row(j->a, &j->f->rounds, r->id);
	if (range)
		judge_text(j, "rounds %u-%d, %s: range %.2f %% of the average", c->first_round,
			   r->round, r->variable, 100 * c->range / c->average);
	if (slope)
		judge_text(j, "rounds %u-%d, %s: the line moves %.2f %% of the average",
			   c->first_round, r->round, r->variable,
			   100 * c->slope_excursion / c->average);
}

/* PTS[GEN-5-RANGE] PTS[GEN-5-SLOPE] PTS[WSAT-2-STEADY] PTS[RWSW-7-STEADY] PTS[RWSW-8-STEADY] */
void judge_steady(struct judging *j)
{
	const char *what = judge_arg(j, "what");
	bool range = strcmp(what, "slope"), slope = strcmp(what, "range"), holds = true;
	unsigned n = 0;

	if (no_loop(j))
		return;
	for (unsigned i = 0; i < j->a->n_rounds; i++) {
		const struct around *r = &j->a->round[i];
		const struct steady_check *c = &r->check;

		if (!of_window(j, r))
			continue;
		n++;
		say_check(j, r, range, slope);
		holds &= !range || c->range <= c->range_allowed * (1 + 1e-9);
		holds &= !slope || c->slope_excursion <= c->slope_allowed * (1 + 1e-9);
	}
	if (!n)
		judge_text(j, "%d rounds closed, no window of five",
			   j->s->rounds < 0 ? 0 : j->s->rounds);
	if (!j->s->ended)
		judge_say(j, AUDIT_NOT_MEASURED);
	else if (!n || !holds)
		judge_say(j, judge_arg(j, "lenient") ? AUDIT_DEVIATION : AUDIT_NOT_MET);
}

/* PTS[GEN-5-WINDOW] */
void judge_window(struct judging *j)
{
	if (no_loop(j))
		return;
	for (unsigned i = 0; i < j->a->n_rounds; i++)
		if (of_section(j, &j->a->round[i]) && j->a->round[i].full)
			judge_row(j->a, &j->f->rounds, j->a->round[i].id);
	judge_text(j, "%u checks worked out again", j->s->checks);
	if (!j->s->ended) {
		judge_text(j, "the loop did not come to its end");
		judge_say(j, AUDIT_NOT_MEASURED);
	} else if (!j->s->worked) {
		judge_text(j, "the rows do not follow the plan");
		judge_say(j, AUDIT_NOT_MET);
	} else if (j->s->steady == 1) {
		judge_text(j, "rounds %d-%d are the first that hold, the loop ended there",
			   j->s->window_first, j->s->window_last);
	} else if (j->s->window_last <
		   0) { /* its limit came first: there is nothing to be judged */
		judge_text(j, "%d rounds closed, no window of five", j->s->rounds);
		judge_say(j, AUDIT_NOT_MEASURED);
	} else {
		judge_text(j, "none holds; the last is rounds %d-%d", j->s->window_first,
			   j->s->window_last);
	}
}

/* PTS[GEN-5-MARK] */
void judge_marked(struct judging *j)
{
	bool unsteady = false, marked = !strcmp(j->t->verdict, "not achieved"), told = false;

	for (unsigned i = 0; i < j->a->n_sections; i++) {
		const struct asection *s = &j->a->section[i];

		unsteady |= s->attempt == j->t->attempt && !strcmp(s->test, j->t->name) &&
			    s->steady == 0;
	}
	for (unsigned i = 0; i < j->a->n_deviations; i++)
		told |= strstr(j->a->deviation[i], j->t->name) &&
			strstr(j->a->deviation[i], "steady state not achieved");
	if (!j->t->finished || !strcmp(j->t->verdict, "failed")) {
		judge_text(j, "the test did not come to its end");
		judge_say(j, AUDIT_NOT_MEASURED);
		return;
	}
	judge_text(j, "verdict '%s'%s", j->t->verdict, told ? ", and a deviation is recorded" : "");
	if (unsteady != marked || unsteady != told)
		judge_say(j, AUDIT_NOT_MET);
}

/* PTS[GEN-5-VOID] */
void judge_void(struct judging *j)
{
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_voided; i++) {
		const struct avoid *v = &j->a->voided[i];

		if (v->attempt != j->t->attempt || strcmp(v->test, j->t->name))
			continue;
		n++;
		judge_text(j, "section %d, round %d, try %d: %s", v->section, v->round,
			   v->round_try, v->reason);
		for (unsigned k = 0; k < j->a->n_cells; k++) {
			const struct acell *c = &j->a->cell[k];

			if (audit_of(j->t, c) && c->void_ && c->section == v->section &&
			    c->round == v->round)
				judge_cell(j, c);
		}
	}
	if (!n)
		judge_text(j, "no round with an error");
}

/* PTS[WSAT-2.4] */
void judge_stop(struct judging *j)
{
	uint64_t low = judge_time(j, "low"), high = judge_time(j, "high"), limit = 0, bytes = 0;
	uint64_t want = (uint64_t)j->a->capacity_bytes * strtoul(judge_arg(j, "written"), NULL, 10);
	bool steady = false;
	char t[32];

	if (no_loop(j))
		return;
	for (unsigned i = 0; i < j->s->loop->n_conds; i++) {
		const struct cond *c = &j->s->loop->cond[i];

		steady |= c->kind == COND_STEADY;
		bytes = c->kind == COND_WRITTEN ? c->value : bytes;
		limit = c->kind == COND_TIME ? c->value : limit;
	}
	judge_text(j, "until %ssteady, %.3f x the capacity, %s: ended by %s after %d rounds",
		   steady ? "" : "not ", (double)bytes / (double)j->a->capacity_bytes,
		   limit ? fmt_time(t, sizeof t, limit) : "no limit",
		   *j->s->ended_by ? j->s->ended_by : "nothing yet",
		   j->s->rounds < 0 ? 0 : j->s->rounds);
	if (!steady || bytes + j->a->lba_bytes < want || bytes > want + j->a->lba_bytes ||
	    limit < low || limit > high)
		judge_say(j, judge_by_plan(j));
	if (!j->s->ended)
		judge_say(j, AUDIT_NOT_MEASURED);
	else if (!j->s->worked)
		judge_say(j, AUDIT_NOT_MET);
}

/* ---- operating points ---- */

static const struct apoint *point_of(const struct judging *j, const char *name)
{
	for (unsigned i = 0; i < j->a->n_points; i++) {
		const struct apoint *p = &j->a->point[i];

		if (p->attempt == j->t->attempt && !strcmp(p->point, name) &&
		    !strcmp(p->test, j->t->name))
			return p;
	}
	return NULL;
}

static const struct step *pick_of(const struct judging *j, const char *name)
{
	for (unsigned i = 0; j->t->planned && i < j->t->plan.n; i++) {
		const struct step *s = &j->t->plan.step[i];

		if (s->op == STEP_PICK && !strcmp(s->point, name))
			return s;
	}
	return NULL;
}

/* The rule of the plan against the clause's. */
static bool rule_fits(const struct judging *j, const struct step *s)
{
	const char *rule = judge_arg(j, "rule"), *tie = judge_arg(j, "tie"),
		   *at = judge_arg(j, "at");
	unsigned threads = 0, qd = 0;
	char is[32];

	if (at)
		return s->rule == PICK_AT && sscanf(at, "%u/%u", &threads, &qd) == 2 &&
		       s->threads.k == threads && s->qd.k == qd;
	if (s->rule != (strcmp(rule, "highest") ? PICK_NEAREST_IOPS_MID : PICK_HIGHEST_IOPS))
		return false;
	return among(tie, fmt_double(is, sizeof is, s->tie_pct)) && s->tie_lowest_oio &&
	       s->tie_lowest_tc;
}

/* PTS[DIRTH-4.2] PTS[DIRTH-4.3] PTS[DIRTH-4.4] */
void judge_point(struct judging *j)
{
	const char *name = judge_arg(j, "name");
	const struct apoint *p = point_of(j, name);
	const struct step *s = pick_of(j, name);

	if (!p || !s) {
		judge_text(j, "it was not picked");
		judge_say(j, AUDIT_NOT_MEASURED);
		return;
	}
	judge_row(j->a, &j->f->points, p->id);
	judge_text(j, "T%dQ%d, %.0f IOPS, ART %.3f ms: %s", p->threads, p->qd, p->iops,
		   p->art_ns / 1e6, p->reason);
	judge_text(j, p->right ? "chosen again from the cells" : "the cells give another");
	if (!p->right)
		judge_say(j, AUDIT_NOT_MET);
	if (!rule_fits(j, s)) {
		judge_text(j, "by another rule than the clause's");
		judge_say(j, judge_by_plan(j));
	}
}

/* PTS[DIRTH-4.1] PTS[DIRTH-4.5] */
void judge_ceiling(struct judging *j)
{
	bool fallback = judge_arg(j, "fallback") != NULL;
	uint64_t below = judge_time(j, "below");
	unsigned n = 0, fell = 0;

	for (unsigned i = 0; i < j->a->n_points; i++) {
		const struct apoint *p = &j->a->point[i];
		const struct step *s = pick_of(j, p->point);

		if (p->attempt != j->t->attempt || strcmp(p->test, j->t->name) || !s ||
		    s->rule == PICK_AT)
			continue;
		n++;
		judge_row(j->a, &j->f->points, p->id);
		fell += !strncmp(p->reason, "no cell with ART", 16);
		if (fallback)
			continue;
		judge_text(j, "%s: ART %.3f ms, the ceiling is %g ms", p->point, p->art_ns / 1e6,
			   s->art_below_ns / 1e6);
		if (s->art_below_ns != (double)below)
			judge_say(j, judge_by_plan(j));
		if (p->art_ns >= (double)below)
			judge_say(j, AUDIT_DEVIATION);
	}
	if (!n) {
		judge_text(j, "no point was picked");
		judge_say(j, AUDIT_NOT_MEASURED);
	} else if (fallback) {
		judge_text(j, fell ? "%u points were taken so" : "not needed", fell);
		if (fell)
			judge_say(j, AUDIT_DEVIATION);
	}
}
