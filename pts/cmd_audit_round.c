/* SPDX-License-Identifier: MIT */
/* Steady-state checks, ends of sections and operating points, worked out again from the cells. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cmd_audit.h"
#include "pts/pick_rule.h"

static double cell_iops(const struct acell *c)
{
	double sec = (double)c->elapsed_ns / 1e9;

	return sec > 0 ? (double)(c->read_ios + c->write_ios) / sec : 0;
}

static double cell_rate(const struct acell *c)
{
	double sec = (double)c->elapsed_ns / 1e9;

	return sec > 0 ? (double)(c->read_bytes + c->write_bytes) / sec : 0;
}

/* PTS[GEN-5-TRACK]: the mean over the cells of the round that the selector takes, ART weighted by IOs. */
static double tracked_value(const struct walk *w, const struct track *t)
{
	double sum = 0, weight = 0;

	for (unsigned i = w->loop.first_of_try; i < w->k; i++) {
		const struct acell *c = w->cell[i];
		double ios = (double)(c->read_ios + c->write_ios);
		double by = t->var == VAR_ART ? ios : 1;

		if (c->partial || c->round != w->loop.round ||
		    !selector_matches(&t->sel, &w->p->step[c->step]))
			continue;
		sum += by * (t->var == VAR_IOPS	 ? cell_iops(c)
			     : t->var == VAR_ART ? (ios > 0 ? c->art_ns : 0)
						 : cell_rate(c));
		weight += by;
	}
	return weight > 0 ? sum / weight : NAN;
}

static void keep_value(struct walk *w, unsigned track, double v)
{
	unsigned n = w->loop.step->n_tracks, need = (unsigned)w->loop.round, cap = w->loop.cap;

	if (need > cap) {
		double *y;

		cap = cap ? 2 * cap : 32;
		y = calloc((size_t)cap * n, sizeof *y);
		BUG_ON(!y);
		for (unsigned t = 0; t < n && w->loop.cap; t++)
			memcpy(y + (size_t)t * cap, w->loop.y + (size_t)t * w->loop.cap,
			       w->loop.cap * sizeof *y);
		free(w->loop.y);
		w->loop.y = y;
		w->loop.cap = cap;
	}
	w->loop.y[(size_t)track * w->loop.cap + need - 1] = v;
}

static struct around *find_round(struct walk *w, const struct track *t)
{
	for (unsigned i = 0; i < w->a->n_rounds; i++) {
		struct around *r = &w->a->round[i];

		if (!r->seen && r->attempt == w->attempt && r->section == w->section &&
		    r->round == w->loop.round && r->round_try == w->loop.round_try &&
		    !strcmp(r->variable, t->text) && !strcmp(r->test, w->t->name))
			return r;
	}
	return NULL;
}

static const char *round_name(struct walk *w, const struct around *r)
{
	return arena_fmt(&w->a->arena, "%s test, section %d, steady-state check of round %d (%s)",
			 r->test, r->section, r->round, r->variable);
}

/* A stored check against the one worked out from the cells. */
static void compare_check(struct walk *w, const struct around *r, const struct steady_check *now)
{
	const struct steady_check *was = &r->check;
	const struct {
		const char *name;
		double was, now;
	} v[] = { { "y1", was->y[0], now->y[0] },
		  { "y2", was->y[1], now->y[1] },
		  { "y3", was->y[2], now->y[2] },
		  { "y4", was->y[3], now->y[3] },
		  { "y5", was->y[4], now->y[4] },
		  { "average", was->average, now->average },
		  { "range", was->range, now->range },
		  { "range_allowed", was->range_allowed, now->range_allowed },
		  { "slope", was->slope, now->slope },
		  { "intercept", was->intercept, now->intercept },
		  { "slope_excursion", was->slope_excursion, now->slope_excursion },
		  { "slope_allowed", was->slope_allowed, now->slope_allowed },
		  { "correlation", was->correlation, now->correlation } };
	double scale = 1e-9 * fabs(now->average); /* small differences of large numbers */

	for (unsigned i = 0; i < sizeof v / sizeof *v; i++) {
		double slack = i == sizeof v / sizeof *v - 1 ? 1e-9 : scale;

		if (audit_same(v[i].was, v[i].now) || fabs(v[i].was - v[i].now) <= slack)
			continue;
		audit_fault(w->a, round_name(w, r), "%s is %.17g, the cells give %.17g", v[i].name,
			    v[i].was, v[i].now);
	}
	if (was->first_round != now->first_round || was->steady != now->steady)
		audit_fault(w->a, round_name(w, r),
			    "window from %u, %s; the cells give from %u, %s", was->first_round,
			    was->steady ? "steady" : "not steady", now->first_round,
			    now->steady ? "steady" : "not steady");
	w->a->done.checks++;
	if (w->sec)
		w->sec->checks++;
}

/* One tracked variable in the round that closes. 1 steady, 0 not, -1 the row is not there. */
static int check_track(struct walk *w, unsigned t, bool full)
{
	const struct track *track = &w->loop.step->track[t];
	struct around *r = find_round(w, track);
	double v = tracked_value(w, track);
	struct steady_check c;

	if (!r)
		return -1;
	r->seen = true;
	keep_value(w, t, v);
	if (!audit_same(r->value, v))
		audit_fault(w->a, round_name(w, r), "value is %.17g, the cells give %.17g",
			    r->value, v);
	if (r->full != full)
		audit_fault(w->a, round_name(w, r),
			    full ? "the window is full, and there is no check"
				 : "a check, though the window is not full");
	if (!full)
		return 0;
	steady_check(w->loop.y + (size_t)t * w->loop.cap + w->loop.round - STEADY_WINDOW,
		     (unsigned)(w->loop.round - STEADY_WINDOW + 1), &c);
	if (r->full)
		compare_check(w, r, &c);
	return c.steady;
}

/* PTS[GEN-5-WINDOW]: all tracked variables, the same five rounds; the first such window ends the loop. */
void walk_check(struct walk *w)
{
	const struct step *l = w->loop.step;
	int round = w->loop.round;
	bool full = round - w->loop.valid_from + 1 >= STEADY_WINDOW, steady = full && l->n_tracks;

	for (unsigned t = 0; t < l->n_tracks; t++) {
		int rc = check_track(w, t, full);

		if (rc < 0 && w->k == w->n && !(w->sec && w->sec->ended)) {
			w->over = true; /* interrupted before the round closed */
			return;
		}
		if (rc < 0) {
			walk_break(w,
				   arena_fmt(&w->a->arena, "%s test, section %d", w->t->name,
					     w->section),
				   "no steady-state check of round %d (%s)", round,
				   l->track[t].text);
			return;
		}
		steady &= rc == 1;
	}
	w->loop.window_last = round;
	w->loop.window_first = round - STEADY_WINDOW + 1 > w->loop.valid_from
				       ? round - STEADY_WINDOW + 1
				       : w->loop.valid_from;
	w->loop.full = full;
	w->loop.steady = steady;
	w->a->done.windows += full;
	for (unsigned i = 0; i < l->n_conds; i++)
		if (l->cond[i].kind == COND_STEADY && steady) {
			walk_loop_end(w, "steady");
			return;
		}
	if (l->rounds && round >= (int)l->rounds)
		walk_loop_end(w, "rounds");
}

/* ---- sections ---- */

static void section_fault(struct walk *w, const char *what, int was, int now)
{
	if (was != now)
		audit_fault(w->a,
			    arena_fmt(&w->a->arena, "%s, end", audit_section_name(w->a, w->sec)),
			    "%s is %d, the cells give %d", what, was, now);
}

void walk_section_close(struct walk *w)
{
	struct asection *s = w->sec;
	bool looped = s && s->looped;

	w->sec = NULL;
	if (!s || w->loop.open)
		return;
	if (looped) {
		w->any_loop = true;
		w->all_steady &= w->loop.steady;
	}
	if (!s->ended)
		return;
	w->sec = s;
	section_fault(w, "steady", s->steady, looped ? w->loop.steady : -1);
	section_fault(w, "rounds", s->rounds, looped ? w->loop.window_last : 0);
	section_fault(w, "window_first", s->window_first,
		      looped && w->loop.full ? w->loop.window_first : -1);
	section_fault(w, "window_last", s->window_last,
		      looped && w->loop.full ? w->loop.window_last : -1);
	if (strcmp(s->ended_by, looped ? w->loop.ended_by : ""))
		audit_fault(w->a, arena_fmt(&w->a->arena, "%s, end", audit_section_name(w->a, s)),
			    "ended by '%s', the cells give '%s'", s->ended_by,
			    looped ? w->loop.ended_by : "");
	w->sec = NULL;
}

/* ---- operating points ---- */

static struct pick_scope scope_of(const struct walk *w, const struct step *pick)
{
	return (struct pick_scope){ .plan = w->p,
				    .pick = pick,
				    .section = (unsigned)w->section,
				    .loop = w->loop.step,
				    .window_first = w->loop.window_first,
				    .window_last = w->loop.window_last };
}

static bool counts(const struct walk *w, const struct pick_scope *scope, const struct acell *c)
{
	if (c->void_ && c->attempt == w->t->attempt) /* of an earlier attempt all cells are void */
		return false;
	if (c->partial || c->errors || c->short_ios || !(c->read_ios + c->write_ios))
		return false;
	return pick_takes(scope, (unsigned)c->step, (unsigned)c->section, c->round);
}

static unsigned candidates(const struct walk *w, const struct step *pick, struct pick_cell *c)
{
	struct pick_scope scope = scope_of(w, pick);

	for (unsigned i = 0; i < w->k; i++) {
		const struct acell *m = w->cell[i];

		if (!counts(w, &scope, m))
			continue;
		c[m->step].step = (unsigned)m->step;
		c[m->step].threads = (unsigned)m->threads;
		c[m->step].qd = (unsigned)m->qd;
		pick_add(&c[m->step], m->read_ios + m->write_ios, cell_iops(m), m->art_ns);
	}
	return pick_means(c, w->p->n);
}

static struct apoint *find_point(struct walk *w, const char *name)
{
	for (unsigned i = 0; i < w->a->n_points; i++) {
		struct apoint *p = &w->a->point[i];

		if (!p->seen && p->attempt == w->attempt && p->section == w->section &&
		    !strcmp(p->point, name) && !strcmp(p->test, w->t->name))
			return p;
	}
	return NULL;
}

/* Five nines of a point: over all IOs of its plan step's cells, in the window. */
static int64_t point_p99999(struct walk *w, const struct step *pick, const struct pick_choice *ch)
{
	static const char *const kinds[] = { "response", "service" };
	struct pick_scope scope = scope_of(w, pick);
	struct hist *h = hist_new();
	uint64_t ns;
	int64_t ret = -1;
	bool bad = false;

	for (unsigned i = 0; i < w->k && !bad; i++) {
		const struct acell *m = w->cell[i];
		const char *kind = kinds[!(m->rate_iops > 0)];
		struct err ignored = { "" };

		if (m->step != (int)ch->step || !counts(w, &scope, m))
			continue;
		bad = read_hist(w->a->rd, m->id, "R", kind, h, &ignored) ||
		      read_hist(w->a->rd, m->id, "W", kind, h, &ignored);
	}
	if (!bad && hist_percentile(h, P99999, &ns))
		ret = (int64_t)ns;
	free(h);
	return ret;
}

static void compare_point(struct walk *w, const struct step *s, struct apoint *p,
			  const struct pick_choice *ch)
{
	const char *row = arena_fmt(&w->a->arena, "%s test, section %d, point %s", p->test,
				    p->section, p->point);
	unsigned before = w->a->n_faults;
	int64_t five_nines;

	if (p->threads != (int)ch->threads || p->qd != (int)ch->qd)
		audit_fault(w->a, row, "it is T%dQ%d, the cells give T%uQ%u (%s)", p->threads,
			    p->qd, ch->threads, ch->qd, ch->reason);
	else if (!audit_same(p->iops, ch->iops) || !audit_same(p->art_ns, ch->art_ns))
		audit_fault(w->a, row,
			    "it is %.17g IOPS at %.17g ns, the cells give %.17g at %.17g", p->iops,
			    p->art_ns, ch->iops, ch->art_ns);
	if (strcmp(p->reason, ch->reason))
		audit_fault(w->a, row, "its reason is '%s', the cells give '%s'", p->reason,
			    ch->reason);
	five_nines = p->p99999_ns < 0 ? -1 : point_p99999(w, s, ch);
	if (p->p99999_ns >= 0 && p->p99999_ns != five_nines)
		audit_fault(w->a, row, "its p99999_ns is %" PRId64 ", the histograms give %" PRId64,
			    p->p99999_ns, five_nines);
	p->right = w->a->n_faults == before;
	w->a->done.points++;
}

/* PTS[DIRTH-4.1] PTS[DIRTH-4.2] PTS[DIRTH-4.3] PTS[DIRTH-4.4]: chosen once more, by the rule of the stored plan. */
void walk_pick(struct walk *w)
{
	const struct step *s = &w->p->step[w->pc];
	unsigned at[2] = { (unsigned)s->threads.k, (unsigned)s->qd.k }, n;
	struct pick_cell *c = calloc(w->p->n, sizeof *c);
	struct apoint *p = find_point(w, s->point);
	struct pick_choice ch;

	BUG_ON(!c);
	n = candidates(w, s, c);
	if (!p || !n || pick_choose(s, at, c, n, &ch)) {
		free(c);
		if (p || (w->sec && w->sec->ended))
			walk_break(w,
				   arena_fmt(&w->a->arena, "%s test, section %d, point %s",
					     w->t->name, w->section, s->point),
				   p ? "no cell it could be picked from" : "missing");
		w->over = true;
		return;
	}
	free(c);
	p->seen = true;
	compare_point(w, s, p, &ch);
	if (w->n_points == sizeof w->point / sizeof *w->point)
		return;
	w->point[w->n_points].name = s->point;
	w->point[w->n_points].threads = ch.threads;
	w->point[w->n_points].qd = ch.qd;
	w->point[w->n_points].members = step_members(w->p, &w->p->step[ch.step]);
	w->point[w->n_points++].iops = ch.iops;
}
