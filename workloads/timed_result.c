/* SPDX-License-Identifier: MIT */
/* Timed IO: what was counted, as results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/timed_impl.h"

static void add_second(struct timed_target *g, const struct second *s)
{
	if (g->n_seconds == g->cap_seconds) {
		unsigned cap = g->cap_seconds ? 2 * g->cap_seconds : 64;
		struct second *p = realloc(g->second, cap * sizeof *p);

		BUG_ON(!p);
		g->second = p;
		g->cap_seconds = cap;
	}
	g->second[g->n_seconds++] = *s;
}

void timed_collect(struct timed *t)
{
	uint64_t head = t->s_head, tail = atomic_load(&t->s_tail);

	for (; head != tail; head++) {
		const struct series_item *i = &t->series[head % SERIES_QUEUE];

		add_second(&t->target[i->target], &i->s);
	}
	atomic_store(&t->s_head, head);
}

static void sum_second(struct second *into, const struct second *s)
{
	into->ios += s->ios;
	into->bytes += s->bytes;
	into->sum_ns += s->sum_ns;
	if (s->max_ns > into->max_ns)
		into->max_ns = s->max_ns;
}

/* Several series by rising index become one. */
static unsigned merge_seconds(struct timed *t, struct second *out)
{
	unsigned at[TIMED_TARGETS_MAX] = { 0 }, n = 0;

	for (;;) {
		uint32_t least = UINT32_MAX;

		for (unsigned i = 0; i < t->job.n_targets; i++)
			if (at[i] < t->target[i].n_seconds &&
			    t->target[i].second[at[i]].index < least)
				least = t->target[i].second[at[i]].index;
		if (least == UINT32_MAX)
			return n;
		out[n] = (struct second){ .index = least };
		for (unsigned i = 0; i < t->job.n_targets; i++)
			if (at[i] < t->target[i].n_seconds &&
			    t->target[i].second[at[i]].index == least)
				sum_second(&out[n], &t->target[i].second[at[i]++]);
		n++;
	}
}

static uint64_t span(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static void copy_errnos(struct result *r, const struct timed_target *g)
{
	for (unsigned i = 0; i < RESULT_ERRNOS && g->errnos[i].n; i++) {
		unsigned k = 0;

		while (k < RESULT_ERRNOS && r->errnos[k].err &&
		       r->errnos[k].err != g->errnos[i].err)
			k++;
		if (k == RESULT_ERRNOS)
			continue;
		r->errnos[k].err = g->errnos[i].err;
		r->errnos[k].n += g->errnos[i].n;
	}
}

/* From the clock's start to the last completion, or issue. */
static void common(const struct timed *t, struct result *r, uint64_t last_done_ns)
{
	uint64_t end = last_done_ns > t->last_sub ? last_done_ns : t->last_sub;

	r->elapsed_ns = span(t->t0, end) ? span(t->t0, end) : 1;
	r->threads_seen = t->done > 0;
	r->cpu_sys_pct = r->cpu_total_pct = -1;
	r->temperature_c = NAN;
	r->late_max_ns = t->late->n ? (double)t->late->max : 0;
	r->partial = t->result.partial || r->errors || r->short_ios;
}

static void fill_target(struct timed *t, unsigned i, struct result *r)
{
	struct timed_target *g = &t->target[i];

	for (unsigned op = 0; op < IO_OPS; op++)
		r->op[op] = (struct tally){ .ios = g->ios[op],
					    .bytes = g->bytes[op],
					    .service = g->ios[op] ? g->service[op] : NULL,
					    .response = g->response[op]->n ? g->response[op]
									   : NULL };
	r->second = g->second;
	r->n_seconds = g->n_seconds;
	r->prepared = g->prepared;
	r->short_ios = g->short_ios;
	r->errors = g->errors;
	copy_errnos(r, g);
	r->inflight_max = g->live_max;
	common(t, r, t->last_done_ns);
	r->inflight_avg = (double)g->area_ns / (double)r->elapsed_ns;
}

static void fill_sum(struct timed *t, struct result *r)
{
	unsigned most = 0;

	for (unsigned i = 0; i < t->job.n_targets; i++) {
		struct timed_target *g = &t->target[i];

		for (unsigned op = 0; op < IO_OPS; op++) {
			hist_merge(t->sum[op], g->service[op]);
			hist_merge(t->sum[IO_OPS + op], g->response[op]);
			r->op[op].ios += g->ios[op];
			r->op[op].bytes += g->bytes[op];
		}
		r->prepared += g->prepared;
		r->short_ios += g->short_ios;
		r->errors += g->errors;
		copy_errnos(r, g);
		most += g->n_seconds;
	}
	for (unsigned op = 0; op < IO_OPS; op++) {
		r->op[op].service = t->sum[op]->n ? t->sum[op] : NULL;
		r->op[op].response = t->sum[IO_OPS + op]->n ? t->sum[IO_OPS + op] : NULL;
	}
	t->sum_second = calloc(most + 1, sizeof *t->sum_second);
	BUG_ON(!t->sum_second);
	r->second = t->sum_second;
	r->n_seconds = merge_seconds(t, t->sum_second);
	r->inflight_max = t->live_max;
	common(t, r, t->last_done_ns);
	r->inflight_avg = (double)t->area_ns / (double)r->elapsed_ns;
}

void timed_sum(struct timed *t)
{
	struct timed_result *r = &t->result;
	unsigned n = t->job.n_targets;

	r->late = t->late;
	r->hung = t->live;
	r->span_asked_ns = t->any ? t->last_due - t->first_due : 0;
	r->span_ns = t->any ? t->last_sub - t->first_sub : 0;
	if (t->job.asap)
		r->span_asked_ns = 0;
	for (unsigned i = 0; i < 2 * IO_OPS; i++)
		t->sum[i] = hist_new();
	fill_sum(t, &r->all);
	if (n < 2)
		return;
	t->member_result = calloc(n, sizeof *t->member_result);
	t->member = calloc(n, sizeof *t->member);
	BUG_ON(!t->member_result || !t->member);
	for (unsigned i = 0; i < n; i++) {
		fill_target(t, i, &t->member_result[i]);
		t->member[i] = (struct member_result){ i + 1, &t->member_result[i] };
	}
	r->all.member = t->member;
	r->all.n_members = n;
	r->all.first_done_ns = r->all.elapsed_ns;
	for (unsigned i = 0; i < n; i++)
		if (span(t->t0, t->target[i].last_done_ns) < r->all.first_done_ns)
			r->all.first_done_ns = span(t->t0, t->target[i].last_done_ns);
}

void timed_result_release(struct timed *t)
{
	for (unsigned i = 0; i < 2 * IO_OPS; i++)
		free(t->sum[i]);
	free(t->sum_second);
	free(t->member);
	free(t->member_result);
}
