/* SPDX-License-Identifier: MIT */
/* How long a plan still takes: for progress lines, from any step and round. */
#include <math.h>

#include "pts/base/steady.h"
#include "pts/plan.h"

#define FILL_GUESS 500e6 /* bytes/s, until the drive has shown its own rate */
#define ROUNDS_GUESS 25 /* of a loop without a limit of its own */

struct span {
	double min_ns, max_ns;
};

static double step_ns(const struct step *s, double fill_bytes_per_s)
{
	double ns = 0;

	if (s->na)
		return 0;
	if (s->op == STEP_FILL)
		return (double)s->bytes / (fill_bytes_per_s > 0 ? fill_bytes_per_s : FILL_GUESS) *
		       1e9;
	if (s->op == STEP_RUN || s->op == STEP_IDLE)
		return (double)s->time_ns;
	for (unsigned i = 0; s->op == STEP_REPLAY && i < s->n_replay; i++)
		ns += (double)s->replay[i].duration_ns;
	return ns;
}

/* What is left of the loop's time limit when @spent_ns of it are gone; -1 without a limit. */
static double limit_left(const struct step *l, double spent_ns)
{
	double left = -1;

	for (unsigned i = 0; i < l->n_conds; i++) {
		double v = fmax((double)l->cond[i].value - spent_ns, 0);

		if (l->cond[i].kind == COND_TIME && (left < 0 || v < left))
			left = v;
	}
	return left;
}

static void cap(struct span *s, double limit_ns)
{
	if (limit_ns < 0)
		return;
	s->max_ns = fmin(s->max_ns, limit_ns);
	s->min_ns = fmin(s->min_ns, s->max_ns);
}

/* Rounds that a loop still takes at the least and at the most, after @done; a limit of time alone makes the most. */
static struct span loop_span(const struct step *l, struct span round, unsigned done,
			     double limit_ns)
{
	unsigned max = l->rounds ? l->rounds : ROUNDS_GUESS,
		 min = STEADY_WINDOW < max ? STEADY_WINDOW : max;
	struct span out = { round.min_ns * (min > done ? min - done : 0),
			    round.max_ns * (max > done ? max - done : 0) };

	if (!l->rounds && limit_ns >= 0)
		out.max_ns = limit_ns;
	cap(&out, limit_ns);
	return out;
}

static unsigned repeat_end(const struct plan *p, unsigned head)
{
	for (unsigned i = head + 1; i < p->n; i++)
		if (p->step[i].op == STEP_AGAIN && p->step[i].head == head)
			return i;
	BUG("repeat without an end at step %u", head);
}

static struct span sum(const struct plan *p, unsigned from, unsigned to, double fill_bytes_per_s)
{
	struct span out = { 0, 0 };

	for (unsigned i = from; i < to; i++) {
		const struct step *s = &p->step[i];
		struct span in = { 0, 0 };
		double one = step_ns(s, fill_bytes_per_s);

		out.min_ns += one;
		out.max_ns += one;
		if (s->op == STEP_LOOP) {
			in = loop_span(s, sum(p, i + 1, s->end, fill_bytes_per_s), 0,
				       limit_left(s, 0));
			i = s->end;
		} else if (s->op == STEP_REPEAT) {
			unsigned end = repeat_end(p, i);

			in = sum(p, i + 1, end, fill_bytes_per_s);
			in.min_ns *= s->rounds;
			in.max_ns *= s->rounds;
			i = end;
		}
		out.min_ns += in.min_ns;
		out.max_ns += in.max_ns;
	}
	return out;
}

static const struct step *loop_around(const struct plan *p, unsigned at)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->step[i].op == STEP_LOOP && i < at && at <= p->step[i].end)
			return &p->step[i];
	return NULL;
}

void plan_left(const struct plan *p, const struct plan_at *at, uint64_t *ret_min_ns,
	       uint64_t *ret_max_ns)
{
	const struct step *l = at->round ? loop_around(p, at->step) : NULL;
	double fill = at->fill_bytes_per_s;
	struct span out = { 0, 0 }, rest;
	unsigned from = at->step;

	if (l) {
		unsigned head = (unsigned)(l - p->step);
		double limit = limit_left(l, (double)at->loop_ns);

		out = loop_span(l, sum(p, head + 1, l->end, fill), at->round, limit);
		rest = sum(p, from, l->end, fill); /* of this round */
		out.min_ns += rest.min_ns;
		out.max_ns += rest.max_ns;
		cap(&out, limit);
		from = l->end + 1;
	}
	rest = sum(p, from, p->n, fill);
	*ret_min_ns = (uint64_t)(out.min_ns + rest.min_ns);
	*ret_max_ns = (uint64_t)(out.max_ns + rest.max_ns);
}
