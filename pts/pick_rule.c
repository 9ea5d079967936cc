/* SPDX-License-Identifier: MIT */
#include "pts/pick_rule.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

bool pick_windowed(const struct pick_scope *p)
{
	return !p->pick->pick_phase && p->loop && p->loop->section == p->section;
}

bool pick_takes(const struct pick_scope *p, unsigned step, unsigned section, int round)
{
	const struct step *s = &p->plan->step[step], *loop = p->loop;

	if (s->op != STEP_RUN || section != p->section)
		return false;
	if (p->pick->pick_phase)
		return !strcmp(s->phase, p->pick->pick_phase);
	if (!pick_windowed(p))
		return !strcmp(s->phase, "step");
	return step > (unsigned)(loop - p->plan->step) && step < loop->end &&
	       !strcmp(s->phase, "round") && round >= p->window_first && round <= p->window_last;
}

void pick_add(struct pick_cell *c, uint64_t ios, double iops, double art_ns)
{
	c->art_ns += art_ns * (double)ios;
	c->iops += iops;
	c->ios += ios;
	c->rounds++;
}

unsigned pick_means(struct pick_cell *c, unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!c[i].rounds)
			continue;
		c[i].iops /= c[i].rounds;
		c[i].art_ns /= (double)c[i].ios;
		c[left++] = c[i];
	}
	return left;
}

static bool fewer_oio(const struct step *s, const struct pick_cell *a, const struct pick_cell *b)
{
	unsigned oa = a->threads * a->qd, ob = b->threads * b->qd;

	if (s->tie_lowest_oio && oa != ob)
		return oa < ob;
	return s->tie_lowest_tc && a->threads < b->threads;
}

static const struct pick_cell *lowest_art(const struct pick_cell *c, unsigned n)
{
	const struct pick_cell *best = c;

	for (unsigned i = 1; i < n; i++)
		if (c[i].art_ns < best->art_ns)
			best = &c[i];
	return best;
}

/* PTS[DIRTH-4.1]: moves the cells below the ART ceiling to the front and returns their number. */
static unsigned below_ceiling(struct pick_cell *c, unsigned n, double ceiling_ns)
{
	unsigned m = 0;

	for (unsigned i = 0; i < n; i++)
		if (ceiling_ns <= 0 || c[i].art_ns < ceiling_ns) {
			struct pick_cell below = c[i];

			c[i] = c[m];
			c[m++] = below;
		}
	return m;
}

/* PTS[DIRTH-4.2]: near ties go to the lowest total OIO, then to fewer threads. */
static const struct pick_cell *highest(const struct step *s, const struct pick_cell *c, unsigned n,
				       double high)
{
	const struct pick_cell *best = NULL;

	for (unsigned i = 0; i < n; i++)
		if (c[i].iops >= high * (1 - s->tie_pct / 100) &&
		    (!best || fewer_oio(s, &c[i], best) ||
		     (!fewer_oio(s, best, &c[i]) && c[i].iops > best->iops)))
			best = &c[i];
	return best;
}

/* PTS[DIRTH-4.4] */
static const struct pick_cell *nearest(const struct step *s, const struct pick_cell *c, unsigned n,
				       double mid)
{
	const struct pick_cell *best = NULL;
	double slack = HUGE_VAL;

	for (unsigned i = 0; i < n; i++)
		slack = fmin(slack, fabs(c[i].iops - mid));
	slack += mid * (s->tie_pct / 100 + 1e-12);
	for (unsigned i = 0; i < n; i++)
		if (fabs(c[i].iops - mid) <= slack && (!best || fewer_oio(s, &c[i], best)))
			best = &c[i];
	return best;
}

static const struct pick_cell *choose(const struct step *s, const struct pick_cell *c, unsigned n,
				      char *why, size_t len)
{
	double high = c[0].iops, low = c[0].iops;

	for (unsigned i = 1; i < n; i++) {
		high = fmax(high, c[i].iops);
		low = fmin(low, c[i].iops);
	}
	if (s->rule == PICK_HIGHEST_IOPS) {
		snprintf(why, len, "highest IOPS %.0f, within %g %% of it the lowest total OIO",
			 high, s->tie_pct);
		return highest(s, c, n, high);
	}
	snprintf(why, len, "IOPS nearest to (%.0f + %.0f) / 2 = %.0f", high, low, (high + low) / 2);
	return nearest(s, c, n, (high + low) / 2);
}

static void take(const struct pick_cell *c, struct pick_choice *ret)
{
	ret->threads = c->threads;
	ret->qd = c->qd;
	ret->iops = c->iops;
	ret->art_ns = c->art_ns;
	ret->step = c->step;
}

/* PTS[DIRTH-4.3] */
static int choose_at(const unsigned at[2], const struct pick_cell *c, unsigned n,
		     struct pick_choice *ret)
{
	for (unsigned i = 0; i < n; i++) {
		if (c[i].threads != at[0] || c[i].qd != at[1])
			continue;
		take(&c[i], ret);
		snprintf(ret->reason, sizeof ret->reason, "always T%uQ%u", at[0], at[1]);
		return 0;
	}
	return -ENOENT;
}

int pick_choose(const struct step *rule, const unsigned at[2], struct pick_cell *c, unsigned n,
		struct pick_choice *ret)
{
	double ceiling_ms = rule->art_below_ns / 1e6;
	char why[300];
	unsigned ok;

	*ret = (struct pick_choice){ 0 };
	if (rule->rule == PICK_AT)
		return choose_at(at, c, n, ret);
	ok = below_ceiling(c, n, rule->art_below_ns);
	if (!ok && !rule->else_lowest_art)
		return -ERANGE;
	if (!ok) {
		ret->fallback = true;
		take(lowest_art(c, n), ret);
		snprintf(ret->reason, sizeof ret->reason,
			 "no cell with ART < %g ms: the one with the lowest ART", ceiling_ms);
		return 0;
	}
	take(choose(rule, c, ok, why, sizeof why), ret);
	if (rule->art_below_ns > 0)
		snprintf(ret->reason, sizeof ret->reason, "%s; of %u cells, %u with ART < %g ms",
			 why, n, ok, ceiling_ms);
	else
		snprintf(ret->reason, sizeof ret->reason, "%s; of %u cells", why, n);
	return 0;
}
