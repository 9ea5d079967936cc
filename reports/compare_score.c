/* SPDX-License-Identifier: MIT */
/* Weights, scores, ranks, prices; and how much they can be relied upon. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare_priv.h"

/* ---- weights ---- */

/* What is scored unless the user says it: a part for each of these that a run has. */
static const struct {
	const char *key; /* as fnmatch */
	double weight;
} headlines[] = {
	{ "iops/RND 4 KiB R/*/iops", 10 },	     { "iops/RND 4 KiB W/*/iops", 15 },
	{ "iops/RND 8 KiB 65?35/*/iops", 20 },	     { "tp/SEQ 128 KiB R/*/bytes_per_s", 5 },
	{ "tp/SEQ 128 KiB W/*/bytes_per_s", 5 },     { "lat/RND 4 KiB R/*/art_*", 5 },
	{ "dirth/* point max/-/lat_p99999_ns", 20 }, { "*/replay x1,*/iops", 20 },
};

static bool any_reported(const struct comparison *c, const struct metric *m)
{
	for (unsigned i = 0; i < c->n_candidates; i++)
		if (m->of[i].reported)
			return true;
	return false;
}

static double weights_sum(const struct comparison *c)
{
	double sum = 0;

	for (unsigned i = 0; i < c->n_metrics; i++)
		sum += c->metric[i].weight;
	return sum;
}

/*
 * Without a headline: all alike. The rates, where there are some: the response time at a point that was chosen for its rate inside a
 * bound is there to be used up.
 */
static void equal_weights(struct comparison *c)
{
	bool rates = false;

	for (unsigned i = 0; i < c->n_metrics; i++)
		rates |= c->metric[i].unit != UNIT_NS && any_reported(c, &c->metric[i]);
	for (unsigned i = 0; i < c->n_metrics; i++) {
		struct metric *m = &c->metric[i];
		m->weight = any_reported(c, m) && (!rates || m->unit != UNIT_NS) ? 1 : 0;
	}
}

static void default_weights(struct comparison *c)
{
	for (unsigned k = 0; k < sizeof headlines / sizeof headlines[0]; k++)
		for (unsigned i = 0; i < c->n_metrics; i++) {
			struct metric *m = &c->metric[i];
			if (m->weight > 0 || !any_reported(c, m) ||
			    fnmatch(headlines[k].key, m->key, 0))
				continue;
			m->weight = headlines[k].weight;
			break;
		}
	if (!(weights_sum(c) > 0))
		equal_weights(c);
	double sum = weights_sum(c);
	for (unsigned i = 0; i < c->n_metrics && sum > 0; i++)
		c->metric[i].weight *= 100 / sum;
}

/* The first line that fits a metric is its weight. */
static int given_weights(struct comparison *c, struct err *err)
{
	const struct prices *p = &c->prices;
	unsigned used = 0;

	for (unsigned k = 0; k < p->n_weights; k++) {
		bool fits = false;
		for (unsigned i = 0; i < c->n_metrics; i++) {
			bool earlier = false;
			if (fnmatch(p->weight[k].metric, c->metric[i].key, 0))
				continue;
			fits = true;
			for (unsigned e = 0; e < k; e++)
				earlier |= !fnmatch(p->weight[e].metric, c->metric[i].key, 0);
			if (!earlier)
				c->metric[i].weight = p->weight[k].percent;
		}
		used += fits;
		if (!fits)
			compare_remark(c,
				       arena_fmt(&c->arena,
						 "Weight '%s' (%s:%u): no metric of these runs"
						 " is like that",
						 p->weight[k].metric, p->file, p->weight[k].line));
	}
	if (!used)
		return err_set(err, -EINVAL,
			       "%s:%u: no metric of these runs is like '%s', nor like any other"
			       " weight",
			       p->file, p->weight[0].line, p->weight[0].metric);
	return 0;
}

int compare_weights(struct comparison *c, struct err *err)
{
	if (c->prices.n_weights)
		return given_weights(c, err);
	default_weights(c);
	return 0;
}

/* ---- scores ---- */

/* How many times as good as the baseline; NAN where one of them has no value. */
static double ratio_of(const struct comparison *c, const struct metric *m, unsigned candidate)
{
	const struct measured *base = &m->of[c->baseline], *v = &m->of[candidate];

	if (!base->reported || !v->reported || !(base->value > 0) || !(v->value > 0))
		return NAN;
	return m->lower_is_better ? base->value / v->value : v->value / base->value;
}

/* With the weight of one metric changed (@moved NULL: none). */
static double score_of(const struct comparison *c, unsigned candidate, const struct metric *moved,
		       double by, double *ret_weight)
{
	double sum = 0, weight = 0;

	for (unsigned i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metric[i];
		double w = fmax(0, m->weight + (m == moved ? by : 0));
		double ratio = ratio_of(c, m, candidate);
		if (!isfinite(ratio) || !(w > 0))
			continue;
		sum += w * ratio;
		weight += w;
	}
	*ret_weight = weight;
	return weight > 0 ? 100 * sum / weight : NAN;
}

static unsigned rank_of(const double *score, unsigned n, unsigned i)
{
	unsigned better = 0;

	if (!isfinite(score[i]))
		return 0;
	for (unsigned k = 0; k < n; k++)
		better += isfinite(score[k]) && score[k] > score[i];
	return better + 1;
}

/* A price per 1,000 IOPS is of 8 KiB 65/35, or of what comes nearest. */
static const struct metric *kiops_metric(const struct comparison *c)
{
	static const char *const keys[] = { "iops/RND 8 KiB 65?35/*/iops",
					    "dirth/* point max/-/iops",
					    "iops/RND 4 KiB 65?35/*/iops",
					    "iops/RND 4 KiB W/*/iops",
					    "iops/*/iops",
					    "*/replay x1,*/iops",
					    "*/iops" };

	for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++)
		for (unsigned i = 0; i < c->n_metrics; i++)
			if (!fnmatch(keys[k], c->metric[i].key, 0) &&
			    any_reported(c, &c->metric[i]))
				return &c->metric[i];
	return NULL;
}

static void price_candidate(struct comparison *c, unsigned i)
{
	struct candidate *one = &c->candidate[i];
	const struct subject *s = &c->run[one->run[0]];

	one->price = price_find(&c->prices, s->d.model, s->d.serial);
	one->cost = one->price ? one->price->price * s->members : NAN;
	one->cost_per_kiops = one->iops_per_w = one->cost_per_tbw = NAN;
	if (one->price && one->price->rated_tbw_bytes > 0)
		one->cost_per_tbw = one->price->price / (one->price->rated_tbw_bytes / 1e12);
	if (!c->kiops || !c->kiops->of[i].reported || !(c->kiops->of[i].value > 0))
		return;
	one->cost_per_kiops = one->cost / (c->kiops->of[i].value / 1000);
	if (one->price && one->price->power_w > 0)
		one->iops_per_w = c->kiops->of[i].value / (one->price->power_w * s->members);
}

void compare_score(struct comparison *c)
{
	double score[COMPARE_RUNS];

	c->kiops = kiops_metric(c);
	for (unsigned i = 0; i < c->n_candidates; i++) {
		score[i] = score_of(c, i, NULL, 0, &c->candidate[i].scored);
		price_candidate(c, i);
	}
	for (unsigned i = 0; i < c->n_candidates; i++) {
		c->candidate[i].score = score[i];
		c->candidate[i].rank = rank_of(score, c->n_candidates, i);
	}
}

/* ---- what a reader must know ---- */

/* A value that was measured and is no result. */
static void remark_left_out(struct comparison *c)
{
	unsigned more = 0;

	for (unsigned i = 0; i < c->n_metrics; i++)
		for (unsigned k = 0; k < c->n_runs; k++) {
			const struct metric *m = &c->metric[i];
			const struct measured *v = &m->run[k];
			if (!v->present || v->reported || !strcmp(v->why, "n/a"))
				continue;
			if (m->weight > 0)
				compare_remark(c, arena_fmt(&c->arena, "%s: %s left out: %s",
							    c->run[k].label, m->title, v->why));
			else
				more++;
		}
	if (more)
		compare_remark(c, arena_fmt(&c->arena,
					    "%u value%s that %s not scored %s left out, too: see"
					    " sheet Metrics",
					    more, more == 1 ? "" : "s", more == 1 ? "is" : "are",
					    more == 1 ? "is" : "are"));
}

static void remark_missing(struct comparison *c)
{
	double all = weights_sum(c);

	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct candidate *one = &c->candidate[i];
		if (!isfinite(one->score))
			compare_remark(c,
				       arena_fmt(&c->arena,
						 "%s has no score: no weighted metric that both it"
						 " and the baseline have",
						 one->label));
		else if (one->scored < all * (1 - 1e-9))
			compare_remark(c,
				       arena_fmt(&c->arena,
						 "The score of %s rests on %.0f of %.0f points of"
						 " the weights: a missing metric's weight is"
						 " dropped",
						 one->label, one->scored, all));
	}
}

static int first_of(const double *score, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (rank_of(score, n, i) == 1)
			return (int)i;
	return -1;
}

/* Whether some rank is another one when one weight moves; the first place is told by name. */
static bool moves(struct comparison *c, const struct metric *m, double by)
{
	double score[COMPARE_RUNS], now[COMPARE_RUNS], weight;
	unsigned n = c->n_candidates;
	bool changed = false;

	for (unsigned i = 0; i < n; i++) {
		now[i] = c->candidate[i].score;
		score[i] = score_of(c, i, m, by, &weight);
	}
	for (unsigned i = 0; i < n; i++)
		changed |= rank_of(now, n, i) != rank_of(score, n, i);
	int was = first_of(now, n), is = first_of(score, n);
	if (was >= 0 && is >= 0 && was != is)
		compare_remark(c,
			       arena_fmt(&c->arena,
					 "The first place goes from %s to %s when the weight of %s"
					 " is %.3g in place of %.3g",
					 c->candidate[was].label, c->candidate[is].label, m->title,
					 fmax(0, m->weight + by), m->weight));
	return changed;
}

#define WEIGHT_STEP 5.0 /* points of 100 */

static void remark_weights(struct comparison *c)
{
	const char *which = "";
	double step = WEIGHT_STEP * weights_sum(c) / 100;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metric[i];
		if (!(m->weight > 0))
			continue;
		bool less = moves(c, m, -step), more = moves(c, m, step);
		if (!less && !more)
			continue;
		if (n++ < 3)
			which = arena_fmt(&c->arena, "%s%s%s", which, n > 1 ? "; " : "", m->title);
	}
	if (n)
		compare_remark(c, arena_fmt(&c->arena,
					    "The ranks change when one weight moves by %.3g points:"
					    " %s%s",
					    step, which, n > 3 ? " ..." : ""));
}

/* Noise of a score, points: that of its metrics, which vary apart from one another. */
static double score_noise(const struct comparison *c, unsigned candidate)
{
	double sum = 0, weight = 0;

	for (unsigned i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metric[i];
		double ratio = ratio_of(c, m, candidate);
		if (!(m->weight > 0) || !isfinite(ratio))
			continue;
		weight += m->weight;
		if (isfinite(m->noise))
			sum += pow(m->weight * ratio * m->noise, 2);
	}
	return weight > 0 ? 100 * sqrt(sum) / weight : NAN;
}

static void remark_top_two(struct comparison *c)
{
	int first = -1, second = -1;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		double v = c->candidate[i].score;
		if (!isfinite(v))
			continue;
		if (first < 0 || v > c->candidate[first].score) {
			second = first;
			first = (int)i;
		} else if (second < 0 || v > c->candidate[second].score) {
			second = (int)i;
		}
	}
	if (second < 0)
		return;
	const struct candidate *a = &c->candidate[first], *b = &c->candidate[second];
	double noise = fmax(score_noise(c, (unsigned)first), score_noise(c, (unsigned)second));
	if (a->score - b->score <= noise)
		compare_remark(c,
			       arena_fmt(&c->arena,
					 "%s and %s differ by %.2f points of the score, inside the"
					 " noise of %.2f: neither is better by these runs",
					 a->label, b->label, a->score - b->score, noise));
}

/* A price list that is of none of these drives is most likely one with a model written otherwise. */
static void remark_prices(struct comparison *c)
{
	for (unsigned i = 0; i < c->n_candidates; i++)
		if (c->candidate[i].price)
			return;
	if (!c->prices.n)
		return;
	c->prices_idle = true;
	compare_remark(
		c, arena_fmt(&c->arena, "No price: none of %s is of these drives", c->prices.file));
}

void compare_remarks(struct comparison *c)
{
	remark_prices(c);
	remark_left_out(c);
	remark_missing(c);
	if (c->n_candidates > 1) {
		remark_top_two(c);
		remark_weights(c);
	}
	if (!c->n_metrics)
		compare_remark(c, "These runs have no result to compare");
}
