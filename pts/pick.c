/* SPDX-License-Identifier: MIT */
/*
 * Operating points (spec 14): the cells of the measurement window, each the mean over its rounds (ART weighted by IOs);
 * the rule itself is in pick_rule.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/interp_priv.h"

static struct pick_scope scope_of(const struct interp *in, const struct step *pick)
{
	return (struct pick_scope){ .plan = in->plan,
				    .pick = pick,
				    .section = in->at.section,
				    .loop = in->loop.step,
				    .window_first = in->loop.window_first,
				    .window_last = in->loop.window_last };
}

/* What there is to choose from: one candidate for each plan step whose cells did IO. */
struct candidates {
	struct pick_cell *cell; /* malloc'ed; room for one for each plan step */
	unsigned n;
	unsigned silent; /* cells that would count, but did not do a single IO */
};

static void gather(const struct interp *in, const struct step *pick, struct candidates *ret)
{
	struct pick_scope scope = scope_of(in, pick);
	struct pick_cell *c = calloc(in->plan->n, sizeof *c);

	BUG_ON(!c);
	ret->silent = 0;
	for (unsigned i = 0; i < in->n_cells; i++) {
		const struct cell_sum *m = &in->cell[i];
		struct pick_cell *k = &c[m->step];

		if (m->voided || !pick_takes(&scope, m->step, m->section, m->round))
			continue;
		ret->silent += !m->ios;
		if (!m->ios)
			continue;
		k->step = m->step;
		k->threads = (unsigned)expr_value(in, &in->plan->step[m->step].threads);
		k->qd = (unsigned)expr_value(in, &in->plan->step[m->step].qd);
		pick_add(k, m->ios, m->iops, m->art_ns);
	}
	ret->cell = c;
	ret->n = pick_means(c, in->plan->n);
}

/* Five nines of all IOs of these cells; -1 when there are too few. */
static int five_nines(struct interp *in, const struct step *s, const struct point *pt,
		      int64_t *ret_ns)
{
	struct pick_scope scope = scope_of(in, s);
	bool window = pick_windowed(&scope);
	struct hist_of of = { .at = in->at,
			      .step = pt->step,
			      .round_first = window ? in->loop.window_first : -1,
			      .round_last = window ? in->loop.window_last : -1 };
	uint64_t ns;

	hist_reset(in->merged);
	if (store_step_hist(in->ctx->store, &of, in->merged, in->err))
		return -EIO;
	*ret_ns = hist_percentile(in->merged, P99999, &ns) ? (int64_t)ns : -1;
	return 0;
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
	if (five_nines(in, s, pt, &row.p99999_ns))
		return -EIO;
	return store_point(in->ctx->store, &row, in->err);
}

/* Why there is no point: the drive's doing, where it did no IO or was slow; else the definition's. */
static int no_point(struct interp *in, const struct step *s, const struct candidates *c)
{
	if (c->silent)
		return err_set(in->err, -EIO,
			       "line %u: pick %s: no cell to choose from: the drive completed no "
			       "IO in %u cell%s",
			       s->line, s->point, c->silent, c->silent == 1 ? "" : "s");
	return err_set(in->err, -EINVAL, "line %u: pick %s: no measured cell to choose from",
		       s->line, s->point);
}

static int choose(struct interp *in, const struct step *s, struct candidates *c, struct point *pt)
{
	unsigned at[2] = { 0, 0 };
	struct pick_choice ch;
	int rc;

	if (s->rule == PICK_AT) {
		at[0] = (unsigned)expr_value(in, &s->threads);
		at[1] = (unsigned)expr_value(in, &s->qd);
	}
	rc = pick_choose(s, at, c->cell, c->n, &ch);
	if (rc == -ENOENT)
		return err_set(in->err, c->silent ? -EIO : -EINVAL,
			       c->silent
				       ? "pick %s: no cell at T%uQ%u in which the drive completed "
					 "an IO"
				       : "pick %s: no measured cell at T%uQ%u",
			       s->point, at[0], at[1]);
	if (rc)
		return err_set(in->err, -EIO, "pick %s: no cell with ART < %g ms", s->point,
			       s->art_below_ns / 1e6);
	/* PTS[DIRTH-4.5] */
	if (ch.fallback &&
	    note_deviation(in, "point %s: no cell with ART < %g ms, the lowest ART was taken",
			   s->point, s->art_below_ns / 1e6))
		return -EIO;
	pt->threads = ch.threads;
	pt->qd = ch.qd;
	pt->iops = ch.iops;
	pt->art_ns = ch.art_ns;
	pt->step = ch.step;
	pt->members = step_members(in->plan, &in->plan->step[ch.step]);
	snprintf(pt->reason, sizeof pt->reason, "%s", ch.reason);
	return 0;
}

int pick_run(struct interp *in, const struct step *s)
{
	struct candidates c;
	struct point *pt;
	int rc;

	gather(in, s, &c);
	if (!c.n) {
		free(c.cell);
		return no_point(in, s, &c);
	}
	in->point = realloc(in->point, (in->n_points + 1) * sizeof *in->point);
	BUG_ON(!in->point);
	pt = &in->point[in->n_points];
	*pt = (struct point){ .name = s->point };
	rc = choose(in, s, &c, pt);
	free(c.cell);
	if (rc)
		return rc;
	in->n_points++;
	return store_pick(in, s, pt);
}
