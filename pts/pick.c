/* SPDX-License-Identifier: MIT */
/*
 * Operating points (spec 14): the cells of the measurement window, each the mean over its rounds (ART weighted by IOs);
 * MaxIOPS under an ART ceiling with the near-tie rule, MinIOPS, MidIOPS; the choice is told in words.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/interp_priv.h"

struct candidate {
	unsigned threads, qd;
	uint64_t ios;
	double iops, art_ns;
	unsigned rounds;
};

bool selector_matches(const struct selector *sel, const struct step *c)
{
	if (strcmp(sel->phase ? sel->phase : "round", c->phase ? c->phase : ""))
		return false;
	if (sel->read_pct >= 0 && fabs(sel->read_pct - c->read_pct) > 1e-9)
		return false;
	if (sel->block_bytes && sel->block_bytes != c->block_bytes)
		return false;
	if (sel->threads && (c->threads.point || (unsigned)c->threads.k != sel->threads))
		return false;
	if (sel->qd && (c->qd.point || (unsigned)c->qd.k != sel->qd))
		return false;
	return !sel->label || !strcmp(sel->label, c->label ? c->label : "");
}

static bool cell_counts(const struct interp *in, const struct step *pick, const struct cell_sum *c)
{
	const struct step *s = &in->plan->step[c->step];
	bool of_loop = in->loop.step && !pick->pick_phase && c->loop;

	if (c->voided || !c->ios || c->section != in->at.section)
		return false;
	if (pick->pick_phase)
		return !strcmp(pick->pick_phase, s->phase);
	if (!in->loop.step || in->loop.step->section != c->section)
		return true;
	return of_loop && c->loop == in->loop.ordinal && !strcmp(s->phase, "round") &&
	       c->round >= in->loop.window_first && c->round <= in->loop.window_last;
}

/* Gathers one candidate for each plan step that was measured. Returns how many; @ret is malloc'ed, indexed like @step_of. */
static unsigned gather(const struct interp *in, const struct step *pick, struct candidate **ret)
{
	struct candidate *c = calloc(in->plan->n, sizeof *c);
	unsigned n = 0;

	BUG_ON(!c);
	for (unsigned i = 0; i < in->n_cells; i++) {
		const struct cell_sum *m = &in->cell[i];
		struct candidate *k = &c[m->step];

		if (!cell_counts(in, pick, m))
			continue;
		k->threads = (unsigned)expr_value(in, &in->plan->step[m->step].threads);
		k->qd = (unsigned)expr_value(in, &in->plan->step[m->step].qd);
		k->art_ns += m->art_ns * (double)m->ios;
		k->iops += m->iops;
		k->ios += m->ios;
		k->rounds++;
	}
	for (unsigned i = 0; i < in->plan->n; i++) {
		if (!c[i].rounds)
			continue;
		c[i].iops /= c[i].rounds;
		c[i].art_ns /= (double)c[i].ios;
		c[n++] = c[i];
	}
	*ret = c;
	return n;
}

static bool fewer_oio(const struct step *s, const struct candidate *a, const struct candidate *b)
{
	unsigned oa = a->threads * a->qd, ob = b->threads * b->qd;

	if (s->tie_lowest_oio && oa != ob)
		return oa < ob;
	return s->tie_lowest_tc && a->threads < b->threads;
}

static const struct candidate *lowest_art(const struct candidate *c, unsigned n)
{
	const struct candidate *best = c;

	for (unsigned i = 1; i < n; i++)
		if (c[i].art_ns < best->art_ns)
			best = &c[i];
	return best;
}

/* Moves the cells below the ART ceiling to the front and returns their number. */
static unsigned below_ceiling(struct candidate *c, unsigned n, double ceiling_ns)
{
	unsigned m = 0;

	for (unsigned i = 0; i < n; i++)
		if (ceiling_ns <= 0 || c[i].art_ns < ceiling_ns)
			c[m++] = c[i];
	return m;
}

static const struct candidate *choose(const struct step *s, const struct candidate *c, unsigned n,
				      char *why, size_t len)
{
	double high = c[0].iops, low = c[0].iops, mid, slack;
	const struct candidate *best = NULL;

	for (unsigned i = 1; i < n; i++) {
		high = fmax(high, c[i].iops);
		low = fmin(low, c[i].iops);
	}
	if (s->rule == PICK_HIGHEST_IOPS) {
		for (unsigned i = 0; i < n; i++)
			if (c[i].iops >= high * (1 - s->tie_pct / 100) &&
			    (!best || fewer_oio(s, &c[i], best) ||
			     (!fewer_oio(s, best, &c[i]) && c[i].iops > best->iops)))
				best = &c[i];
		snprintf(why, len, "highest IOPS %.0f, within %g %% of it the lowest total OIO",
			 high, s->tie_pct);
		return best;
	}
	mid = (high + low) / 2;
	slack = HUGE_VAL;
	for (unsigned i = 0; i < n; i++)
		slack = fmin(slack, fabs(c[i].iops - mid));
	slack += mid * (s->tie_pct / 100 + 1e-12);
	for (unsigned i = 0; i < n; i++)
		if (fabs(c[i].iops - mid) <= slack && (!best || fewer_oio(s, &c[i], best)))
			best = &c[i];
	snprintf(why, len, "IOPS nearest to (%.0f + %.0f) / 2 = %.0f", high, low, mid);
	return best;
}

static int store_pick(struct interp *in, const struct step *s, const struct point *pt)
{
	struct point_row row = { .at = in->at,
				 .point = s->point,
				 .threads = (int)pt->threads,
				 .qd = (int)pt->qd,
				 .iops = pt->iops,
				 .art_ns = pt->art_ns,
				 .p99999_ns = -1,
				 .reason = pt->reason };

	if (in->points_seen++ < (in->ctx->recall ? in->ctx->recall->points : 0))
		return 0;
	return store_point(in->ctx->store, &row, in->err);
}

static int pick_at(struct interp *in, const struct step *s, const struct candidate *c, unsigned n,
		   struct point *pt)
{
	pt->threads = (unsigned)expr_value(in, &s->threads);
	pt->qd = (unsigned)expr_value(in, &s->qd);
	for (unsigned i = 0; i < n; i++) {
		if (c[i].threads != pt->threads || c[i].qd != pt->qd)
			continue;
		pt->iops = c[i].iops;
		pt->art_ns = c[i].art_ns;
		snprintf(pt->reason, sizeof pt->reason, "always T%uQ%u", pt->threads, pt->qd);
		return 0;
	}
	return err_set(in->err, -EINVAL, "pick %s: no measured cell at T%uQ%u", s->point,
		       pt->threads, pt->qd);
}

static int pick_by(struct interp *in, const struct step *s, struct candidate *c, unsigned n,
		   struct point *pt)
{
	unsigned ok = below_ceiling(c, n, s->art_below_ns);
	const struct candidate *best;
	char why[300];

	if (ok) {
		best = choose(s, c, ok, why, sizeof why);
		if (s->art_below_ns > 0)
			snprintf(pt->reason, sizeof pt->reason,
				 "%s; of %u cells, %u with ART < %g ms", why, n, ok,
				 s->art_below_ns / 1e6);
		else
			snprintf(pt->reason, sizeof pt->reason, "%s; of %u cells", why, n);
	} else if (s->else_lowest_art) {
		best = lowest_art(c, n);
		snprintf(pt->reason, sizeof pt->reason,
			 "no cell with ART < %g ms: the one with the lowest ART",
			 s->art_below_ns / 1e6);
		if (note_deviation(in,
				   "point %s: no cell with ART < %g ms, the lowest ART was taken",
				   s->point, s->art_below_ns / 1e6))
			return -EIO;
	} else {
		return err_set(in->err, -EINVAL, "pick %s: no cell with ART < %g ms", s->point,
			       s->art_below_ns / 1e6);
	}
	pt->threads = best->threads;
	pt->qd = best->qd;
	pt->iops = best->iops;
	pt->art_ns = best->art_ns;
	return 0;
}

int pick_run(struct interp *in, const struct step *s)
{
	struct candidate *c;
	unsigned n = gather(in, s, &c);
	struct point *pt;
	int rc;

	if (!n) {
		free(c);
		return err_set(in->err, -EINVAL,
			       "line %u: pick %s: no measured cell to choose from", s->line,
			       s->point);
	}
	in->point = realloc(in->point, (in->n_points + 1) * sizeof *in->point);
	BUG_ON(!in->point);
	pt = &in->point[in->n_points];
	*pt = (struct point){ .name = s->point };
	rc = s->rule == PICK_AT ? pick_at(in, s, c, n, pt) : pick_by(in, s, c, n, pt);
	free(c);
	if (rc)
		return rc;
	in->n_points++;
	return store_pick(in, s, pt);
}
