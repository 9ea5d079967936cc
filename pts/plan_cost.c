/* SPDX-License-Identifier: MIT */
/* What a plan costs in time and written bytes, at the least and at the most (spec 15). */
#include <math.h>

#include "pts/base/steady.h"
#include "pts/plan_ctx.h"

#define ROUNDS_UNKNOWN 25 /* of a loop whose end only a rate could tell */

struct side {
	double ns, bytes, cells;
};

struct cost {
	struct side min, max;
};

struct rates {
	double fill_bytes_per_s, write_iops;
};

static void side_add(struct side *a, const struct side *b, double times)
{
	a->ns += b->ns * times;
	a->bytes += b->bytes * times;
	a->cells += b->cells * times;
}

/* Bytes written by an access in a time: writes at the guessed rate, never faster than a fill. */
static double run_bytes(const struct access *a, double ns, const struct rates *r)
{
	double all = 0, written = 0;

	if (!a || r->write_iops <= 0)
		return 0;
	for (unsigned i = 0; i < a->n_streams; i++) {
		all += a->stream[i].share;
		if (a->stream[i].op == IO_WRITE)
			written += a->stream[i].share * a->stream[i].bytes;
	}
	double bytes_per_s = written / all * r->write_iops;
	if (r->fill_bytes_per_s > 0)
		bytes_per_s = fmin(bytes_per_s, r->fill_bytes_per_s);
	return bytes_per_s * ns / 1e9;
}

static struct side step_cost(const struct step *s, const struct rates *r)
{
	struct side c = { 0, 0, 0 };

	if (s->na)
		return c;
	if (s->op == STEP_FILL) {
		c.bytes = (double)s->bytes;
		c.ns = r->fill_bytes_per_s > 0 ? c.bytes / r->fill_bytes_per_s * 1e9 : 0;
		c.cells = 1;
	} else if (s->op == STEP_RUN || s->op == STEP_IDLE) {
		c.ns = (double)s->time_ns;
		c.bytes = run_bytes(s->access, c.ns, r);
		c.cells = s->every_ns ? ceil(c.ns / (double)s->every_ns) : 1;
	} else if (s->op == STEP_REPLAY) {
		for (unsigned i = 0; i < s->n_replay; i++) {
			double ns = (double)s->replay[i].duration_ns;
			c.ns += ns;
			c.bytes += run_bytes(s->replay_access[i], ns, r);
		}
		c.cells = s->n_replay;
	}
	return c;
}

static struct cost range_cost(const struct plan *p, unsigned from, unsigned to,
			      const struct rates *r);

/* What is left of @c when it is cut at a share of itself. */
static void side_cut(struct side *c, double part)
{
	if (!(part < 1))
		return;
	c->ns *= part;
	c->bytes *= part;
	c->cells = ceil(c->cells * part);
}

/* The last round ends where steadiness is checked. */
static unsigned check_at(const struct plan *p, unsigned head)
{
	for (unsigned i = head + 1; i < p->step[head].end; i++)
		if (p->step[i].op == STEP_CHECK)
			return i;
	return p->step[head].end;
}

static struct cost loop_cost(const struct plan *p, unsigned head, const struct rates *r)
{
	const struct step *l = &p->step[head];
	struct side round = range_cost(p, head + 1, l->end, r).max;
	struct side last = range_cost(p, head + 1, check_at(p, head), r).max;
	struct cost c = { { 0, 0, 0 }, { 0, 0, 0 } };
	unsigned most = l->rounds ? l->rounds : 0, least = 0;

	for (unsigned i = 0; i < l->n_conds; i++) {
		const struct cond *k = &l->cond[i];
		double by_time = round.ns > 0 ? ceil((double)k->value / round.ns) + 1 : 0;
		if (k->kind == COND_STEADY)
			least = STEADY_WINDOW;
		else if (k->kind == COND_TIME && (!most || by_time < most))
			most = (unsigned)fmin(by_time, 1e6);
	}
	most = most ? most : ROUNDS_UNKNOWN;
	least = least && least < most ? least : most;
	side_add(&c.min, &round, least - 1);
	side_add(&c.min, &last, 1);
	side_add(&c.max, &round, most - 1);
	side_add(&c.max, &last, 1);
	for (unsigned i = 0; i < l->n_conds; i++) {
		double v = (double)l->cond[i].value;
		if (l->cond[i].kind == COND_TIME && c.max.ns > 0)
			side_cut(&c.max, v / c.max.ns);
		if (l->cond[i].kind == COND_WRITTEN && c.max.bytes > 0)
			side_cut(&c.max, v / c.max.bytes);
	}
	if (c.min.ns > c.max.ns)
		c.min = c.max;
	return c;
}

static struct cost range_cost(const struct plan *p, unsigned from, unsigned to,
			      const struct rates *r)
{
	struct cost out = { { 0, 0, 0 }, { 0, 0, 0 } };

	for (unsigned i = from; i < to; i++) {
		const struct step *s = &p->step[i];
		struct cost c = { step_cost(s, r), { 0, 0, 0 } };
		double times = 1;
		c.max = c.min;
		if (s->op == STEP_LOOP)
			c = loop_cost(p, i, r);
		if (s->op == STEP_REPEAT) {
			c = range_cost(p, i + 1, s->end, r);
			times = s->rounds;
		}
		if (s->op == STEP_LOOP || s->op == STEP_REPEAT)
			i = s->end;
		side_add(&out.min, &c.min, times);
		side_add(&out.max, &c.max, times);
	}
	return out;
}

void plan_cost(const struct plan *p, double fill_bytes_per_s, double write_iops_guess,
	       struct plan_cost *ret)
{
	struct rates r = { fill_bytes_per_s, write_iops_guess };
	struct cost c = range_cost(p, 0, p->n, &r);

	ret->min_ns = (uint64_t)llround(c.min.ns);
	ret->max_ns = (uint64_t)llround(c.max.ns);
	ret->min_bytes = (uint64_t)c.min.bytes;
	ret->max_bytes = (uint64_t)c.max.bytes;
	ret->cells_min = (unsigned)c.min.cells;
	ret->cells_max = (unsigned)c.max.cells;
}
