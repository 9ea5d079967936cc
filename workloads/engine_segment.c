/* SPDX-License-Identifier: MIT */
/* A worker's way through the segments of a job: begin, budget, seconds, passing on, what goes wrong. */
#include "workloads/engine_impl.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static struct seg_state *state_of(struct worker *w)
{
	return &w->e->seg[w->seg];
}

static unsigned busy(const struct worker *w)
{
	return w->n_slots - w->n_free;
}

/* ---- what to issue ---- */

static bool claim_ios(struct worker *w, struct gen_budget *b, uint64_t n, uint64_t *ret_got)
{
	uint64_t old = atomic_fetch_add(&b->ios, n);

	if (old >= b->max_ios)
		return false;
	*ret_got = n < b->max_ios - old ? n : b->max_ios - old;
	return true;
}

/* Time-bound closed loops get credit for ever, IO-bound ones for a handful; byte-bound ones ask for each IO. */
bool worker_draw(struct worker *w, struct gen_io *ret)
{
	struct gen_budget *b = &state_of(w)->budget;
	bool each = w->rate || b->max_bytes || w->gen.exact || w->split;
	uint64_t got = UINT64_MAX >> 1;

	if (w->dry)
		return false;
	if (b->max_ios)
		w->dry = !claim_ios(w, b, each ? 1 : w->claim, &got);
	if (w->dry)
		return false;
	if (b->max_bytes || w->gen.exact) {
		w->dry = !gen_next_budget(&w->gen, b, ret);
		return !w->dry;
	}
	gen_next(&w->gen, &w->gen.draw, w->gen.n_streams == 1, ret);
	w->credit = each ? 0 : got - 1;
	return true;
}

bool worker_next_io(struct worker *w, struct gen_io *ret)
{
	/* The slot in hand counts as busy. */
	if (w->rate || busy(w) > w->target || atomic_load(&w->e->cut))
		return false;
	return worker_draw(w, ret);
}

/* ---- seconds ---- */

static unsigned lanes_of(const struct access *a)
{
	return (a ? a->n_streams : 0) + IO_OPS;
}

static struct second totals(const struct worker *w)
{
	struct second s = { 0 };
	unsigned n = lanes_of(w->e->job->seg[w->seg].acc);

	for (unsigned i = 0; i < n; i++) {
		s.ios += w->part->lane[i].ios;
		s.bytes += part_lane_bytes(w->part, i);
		s.sum_ns += w->part->lane[i].sum_ns;
	}
	return s;
}

/* The largest latency of the interval, kept for the segment. */
static uint64_t take_max(struct worker *w)
{
	unsigned n = lanes_of(w->e->job->seg[w->seg].acc);
	struct part *p = w->part;
	uint64_t max = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t ns = p->lane[i].max_ns;
		max = ns > max ? ns : max;
		p->max_ns[i] = ns > p->max_ns[i] ? ns : p->max_ns[i];
		p->lane[i].max_ns = 0;
	}
	return max;
}

/* Books what was counted since the last call into the interval that is now over. */
static void second_close(struct worker *w)
{
	struct second now = totals(w), *base = &w->second_base;
	struct part *p = w->part;
	uint32_t i = base->index;

	if (i >= p->seconds_cap) {
		p->seconds_full = true;
		i = p->seconds_cap - 1;
	}
	struct second *s = &p->second[i];
	uint64_t max_ns = take_max(w);
	s->index = i;
	s->ios += now.ios - base->ios;
	s->bytes += now.bytes - base->bytes;
	s->sum_ns += now.sum_ns - base->sum_ns;
	if (max_ns > s->max_ns)
		s->max_ns = max_ns;
	if (i >= p->n_seconds)
		p->n_seconds = i + 1;
	now.index = base->index;
	*base = now;
}

static void second_roll(struct worker *w, uint64_t t)
{
	uint64_t start = state_of(w)->start, step = w->e->interval_ticks;
	uint64_t i = (t - start) / step;

	second_close(w);
	w->second_base.index = i < UINT32_MAX ? (uint32_t)i : UINT32_MAX;
	w->second_end = start + (i + 1) * step;
}

/* ---- does the target run IO inside of the submitting call? ---- */

#define PROBE_NS 1000000u /* to the first probe but one; then twice as long each time */
#define PROBE_MAX_NS 64000000u

/* Now and then a submission does not wait: a target that runs synchronously has done all of it by then, whatever the depth. */
static void probe(struct worker *w, uint64_t t)
{
	unsigned seen = ring_cq_tail(&w->ring) - w->ring.head;
	uint64_t most = tick_from_ns(&w->e->clock, PROBE_MAX_NS);

	if (w->wait) {
		w->wait = t < w->probe_at || w->closing;
	} else if (w->live > 0) {
		w->part->probes++;
		w->part->probes_done += seen >= (unsigned)w->live;
		w->wait = 1;
		w->probe_at = t + w->probe_step;
		w->probe_step = w->probe_step * 2 < most ? w->probe_step * 2 : most;
	}
}

static void probe_begin(struct worker *w)
{
	bool can = w->target && !w->rate && !w->ring.polled && !w->split;

	w->wait = !can;
	w->probe_at = can ? 0 : TICK_NEVER;
	w->probe_step = tick_from_ns(&w->e->clock, PROBE_NS);
}

/* When to look up from IO. */
static void set_event(struct worker *w, uint64_t end)
{
	uint64_t at = end < w->second_end && !w->closing ? end : w->second_end;

	at = w->probe_at < at ? w->probe_at : at;
	w->event = w->wait ? at : 0;
}

/* ---- entering a segment ---- */

static void set_lanes(struct worker *w, const struct access *a)
{
	unsigned streams = a ? a->n_streams : 0;

	for (unsigned i = 0; i < lanes_of(a); i++) {
		struct lane *y = &w->part->lane[i];
		y->op = i < streams ? a->stream[i].op : (uint8_t)(i - streams);
		y->len = i < streams ? a->stream[i].bytes : 0;
		y->head = w->ring.head_word[y->op];
		y->fine = w->part->fine[y->op];
		if (i < streams)
			w->gen.stream[i].user = y;
	}
}

static unsigned same_lane(const struct access *from, unsigned i, uint8_t op,
			  const struct access *to)
{
	for (unsigned j = 0; i < from->n_streams && j < to->n_streams; j++) {
		const struct stream *a = &from->stream[i], *b = &to->stream[j];
		if (a->op == b->op && a->order == b->order && a->bytes == b->bytes)
			return j;
	}
	return to->n_streams + op;
}

/* IOs of the earlier mix complete in this segment: into the stream that is the same, or beside the streams. */
static void adopt(struct worker *w, const struct part *was, unsigned k)
{
	const struct segment *from = &w->e->job->seg[k - 1], *to = &w->e->job->seg[k];

	for (unsigned i = 0; i < w->n_slots; i++) {
		struct slot *s = &w->slot[i];
		if (!s->lane)
			continue;
		unsigned j = same_lane(from->acc, (unsigned)(s->lane - was->lane), s->lane->op,
				       to->acc);
		s->lane = &w->part->lane[j];
		if (!(from->rate_iops > 0))
			s->due = s->t_sub; /* a closed loop's IO was due when it was sent */
	}
}

/* Absolute due times: IO n of worker j of T is due at start + (j + n * T) / rate. */
static void rate_begin(struct worker *w, const struct segment *s, uint64_t start)
{
	double per_s = 1e9 * 0x1p32 / (double)w->mult; /* ticks */
	double first = per_s / s->rate_iops * w->id, step = per_s / s->rate_iops * s->threads;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	w->due = start + (uint64_t)first;
	w->due_frac = (uint64_t)((first - (double)(uint64_t)first) * 0x1p64);
	w->due_step = (uint64_t)step;
	w->due_step_frac = (uint64_t)((step - (double)(uint64_t)step) * 0x1p64);
	/* Spin the last 60 us before an IO where a core can be spared for it. */
	w->spin_ticks = (long)s->threads < cpus ? tick_from_ns(&w->e->clock, 60000) : 0;
}

static void configure(struct worker *w, unsigned k)
{
	struct engine *e = w->e;
	const struct segment *s = &e->job->seg[k];

	w->seg = k;
	w->part = &w->parts[e->need.double_parts ? k & 1 : 0];
	w->target = s->acc ? engine_depth(s, w->id) : 0;
	w->rate = s->acc && s->rate_iops > 0 && w->target;
	w->split = s->acc && w->ring.wide && access_max_bytes(s->acc) > w->ring.nvme.max_bytes;
	w->how = e->target.no_latency && !w->rate ? HOW_BARE
		 : w->rate || e->dump		  ? HOW_FULL
						  : HOW_PLAIN;
	w->how |= w->ring.wide ? HOW_NVME : 0;
	w->credit = 0;
	w->dry = w->closing = false;
	uint64_t share = s->stop.ios / ((uint64_t)(s->threads ? s->threads : 1) * 64);
	w->claim = share < 1 ? 1 : share > 1024 ? 1024 : share;
}

static void init_gen(struct worker *w, unsigned k)
{
	const struct job *j = w->e->job;
	const struct segment *s = &j->seg[k];
	struct gen_conf c = { .acc = s->acc,
			      .range = &j->range,
			      .lba_bytes = w->e->target.lba_bytes,
			      .cursor = j->cursor,
			      .n_cursors = j->n_cursors,
			      .seed = s->seed,
			      .thread = w->id };
	struct err err = { "" };

	if (s->acc && gen_init(&w->gen, &c, &err)) /* cannot be: the job was checked */
		BUG("segment %u: %s", k, err.msg);
}

/* @tick: the end of the segment before, when nothing was drained; 0: now. */
static enum step enter(struct worker *w, unsigned k, uint64_t tick)
{
	struct engine *e = w->e;
	init_gen(w, k);
	if (!tick)
		tick = tick_now(w->tsc);
	if (!engine_enter_segment(e, w, k, tick))
		return STEP_END;
	const struct part *was = w->part;
	configure(w, k);
	set_lanes(w, e->job->seg[k].acc);
	uint64_t start = state_of(w)->start;
	if (busy(w)) /* only between two segments that do IO: else it was drained */
		adopt(w, was, k);
	w->part->carried_in = busy(w);
	w->sqe_base = w->ring.tail;
	w->t_live = start;
	w->area = 0;
	w->live_max = w->live;
	w->second_base = (struct second){ 0 };
	w->second_end = start + e->interval_ticks;
	probe_begin(w);
	set_event(w, atomic_load(&state_of(w)->end));
	if (w->rate)
		rate_begin(w, &e->job->seg[k], start);
	else
		worker_top_up(w);
	return STEP_ON;
}

static void arm_wake(struct worker *w)
{
	if (w->wake_armed || w->ring.polled)
		return;
	/* One poll on the eventfd per ring lets main reach a worker that waits for a slow drive. */
	w->wake_lane.len = UINT32_MAX; /* no result equals it */
	w->wake.lane = &w->wake_lane;
	uint64_t head = IORING_OP_POLL_ADD | (uint64_t)(uint32_t)w->e->wake_fd << 32;
	ring_put(&w->ring, (uint64_t[4]){ head, 0, 0, (uint64_t)POLLIN << 32 }, &w->wake);
	w->wake_armed = true;
}

enum step worker_begin(struct worker *w)
{
	w->tsc = w->e->clock.tsc;
	w->mult = w->e->clock.mult;
	w->ticks_limit = tick_from_ns(&w->e->clock, ((uint64_t)1 << HIST_MAX_BITS) - 1);
	w->live = 0;
	w->n_batch = 0;
	arm_wake(w);
	return enter(w, 0, 0);
}

/* ---- passing on ---- */

/* Waits for all in flight; counts nothing. */
static void drain(struct worker *w)
{
	struct ring *r = &w->ring;

	while (busy(w) && !w->broken) {
		worker_flush(w, 1);
		unsigned head = r->head, tail = ring_cq_tail(r);
		for (; head != tail; head++) {
			const struct io_uring_cqe *c = ring_cqe(r, head);
			struct slot *s = (struct slot *)(uintptr_t)c->user_data;
			int res = c->res;
			w->done++;
			if (s == &w->wake) {
				w->wake_armed = false;
				continue;
			}
			if (r->wide && !worker_answer(w, s, &res))
				continue;
			w->live--;
			s->lane = NULL;
			w->free[w->n_free++] = s;
		}
		ring_cq_done(r, head);
		atomic_store(&w->pub_done, w->done);
	}
	w->live = 0;
	atomic_store(&w->pub_live, 0);
}

/* Everyone has drained before anyone goes on. */
static void barrier(struct engine *e, struct seg_state *st)
{
	pthread_mutex_lock(&e->mu);
	st->arrived++;
	if (st->arrived == e->active)
		pthread_cond_broadcast(&e->to_workers);
	while (st->arrived < e->active && !atomic_load(&e->cut))
		pthread_cond_wait(&e->to_workers, &e->mu);
	pthread_mutex_unlock(&e->mu);
}

/* The job ends before segment @k. */
static bool is_beyond(const struct engine *e, unsigned k)
{
	return atomic_load(&e->cut) && (k > e->cut_seg || e->cut_seg == UINT_NONE);
}

/*
 * The part that segment k+1 will use was the one of k-1: main must have taken it over. STEP_AGAIN: that took time; STEP_END:
 * it never will.
 */
static enum step wait_merged(struct engine *e, unsigned k)
{
	if (atomic_load(&e->merged) >= k)
		return STEP_ON;
	pthread_mutex_lock(&e->mu);
	e->collector_late = true;
	while (atomic_load(&e->merged) < k && !is_beyond(e, k + 1))
		pthread_cond_wait(&e->to_workers, &e->mu);
	bool merged = atomic_load(&e->merged) >= k;
	pthread_mutex_unlock(&e->mu);
	return merged ? STEP_AGAIN : STEP_END;
}

static void close_part(struct worker *w, uint64_t end, bool by_time)
{
	struct part *p = w->part;
	uint64_t bound = atomic_load(&state_of(w)->end), due_until = end < bound ? end : bound;

	second_close(w);
	for (unsigned i = 0; i < lanes_of(w->e->job->seg[w->seg].acc); i++)
		p->lane[i].max_ns = p->max_ns[i];
	if (end > w->t_live) {
		w->area += (end - w->t_live) * (uint64_t)(int64_t)w->live;
	} else { /* the last batch was stamped a little after the end */
		uint64_t beyond = (w->t_live - end) * (uint64_t)(int64_t)w->live;

		w->area -= beyond < w->area ? beyond : w->area;
	}
	w->t_live = end;
	p->area_ticks = w->area;
	p->inflight_max = w->live_max > 0 ? (unsigned)w->live_max : 0;
	p->carried_out = busy(w);
	p->sqes = (uint32_t)(w->ring.tail - w->sqe_base);
	p->by_time = by_time;
	p->last_tick = end;
	if (w->rate && w->due < due_until)
		p->overdue = (due_until - w->due) / (w->due_step ? w->due_step : 1);
}

/* The job ends with this segment. */
static bool is_last(const struct worker *w)
{
	const struct engine *e = w->e;

	return w->seg + 1 == e->job->n || (atomic_load(&e->cut) && w->seg >= e->cut_seg);
}

/* Counting in this segment is over for this worker, at @end. */
static enum step pass(struct worker *w, uint64_t end, bool by_time)
{
	struct engine *e = w->e;
	struct seg_state *st = state_of(w);
	unsigned k = w->seg;

	if (w->n_batch)
		worker_flush(w, 0);
	close_part(w, end, by_time);
	pthread_mutex_lock(&e->mu);
	st->over = true;
	bool last = is_last(w);
	if (busy(w) && (last || st->drain))
		st->cut = true; /* IOs that it should have waited for are lost */
	atomic_fetch_add(&st->passed, 1);
	pthread_cond_broadcast(&e->to_workers);
	pthread_cond_signal(&e->to_main);
	pthread_mutex_unlock(&e->mu);
	w->credit = 0;
	if (last || st->drain)
		drain(w);
	if (last)
		return STEP_END;
	if (st->drain)
		barrier(e, st);
	enum step merged = wait_merged(e, k);
	enum step step = merged == STEP_END ? STEP_END : enter(w, k + 1, st->drain ? 0 : end);
	if (step == STEP_END)
		drain(w);
	return step == STEP_ON && (merged == STEP_AGAIN || st->drain) ? STEP_AGAIN : step;
}

/* What is in flight will not be heard of, or not in time. */
static bool is_left(const struct worker *w)
{
	return w->broken || atomic_load(&w->e->cut) == CUT_LEAVE;
}

/*
 * The time is up or the job cut, and nothing follows without a gap: no more IOs are issued, those in flight are waited for and
 * count, so that the slowest IO of a cell is never the one that is lost, and no byte that a failing one has written.
 */
static bool close_down(struct worker *w)
{
	if (!busy(w) || is_left(w) || !(is_last(w) || state_of(w)->drain))
		return false;
	w->part->cut_short = atomic_load(&w->e->cut) && !w->dry;
	w->closing = w->dry = true;
	w->credit = 0;
	return true;
}

#define CUT_LOOK_NS \
	20000000u /* how often a worker that waits for its last IOs looks whether it should still */

/* Of a job that is cut, the last IOs: waited for, but not beyond CUT_LEAVE. */
static enum step wait_cut(struct worker *w)
{
	w->wait = 0; /* from here on it is only waited here */
	if (ring_cq_tail(&w->ring) != w->ring.head)
		return STEP_ON;
	if (w->n_batch || w->ring.polled)
		worker_flush(w, 0);
	else
		worker_wait(w, CUT_LOOK_NS);
	return STEP_AGAIN;
}

enum step worker_event(struct worker *w, uint64_t t)
{
	uint64_t end = atomic_load(&state_of(w)->end);

	if (is_beyond(w->e, w->seg)) {
		drain(w); /* too far already: what was done here is dropped */
		return STEP_END;
	}
	if (w->closing && is_left(w))
		return pass(w, end > w->t_live ? end : w->t_live, true);
	while (t >= end && !w->closing && !close_down(w)) {
		enum step step = pass(w, end, true);
		if (step != STEP_ON)
			return step;
		end = atomic_load(&state_of(w)->end);
	}
	if (t >= w->second_end)
		second_roll(w, t);
	if (!atomic_load(&w->e->cut))
		probe(w, t);
	set_event(w, end);
	return w->closing && atomic_load(&w->e->cut) ? wait_cut(w) : STEP_ON;
}

enum step worker_idle(struct worker *w)
{
	struct engine *e = w->e;
	struct seg_state *st = state_of(w);

	if (w->dry)
		return pass(w, w->t_live, false);
	if (w->target && !w->rate && !atomic_load(&e->cut)) {
		worker_top_up(w);
		return STEP_ON;
	}
	/* This segment has no use for the thread. */
	atomic_store(&w->pub_live, w->live);
	pthread_mutex_lock(&e->mu);
	while (!st->over && !(atomic_load(&e->cut) && e->cut_seg <= w->seg))
		pthread_cond_wait(&e->to_workers, &e->mu);
	pthread_mutex_unlock(&e->mu);
	uint64_t end = atomic_load(&st->end), now = tick_now(w->tsc);
	return pass(w, end < now ? end : now, end < now);
}

/* ---- what goes wrong ---- */

static void count_errno(struct part *p, int e)
{
	for (unsigned i = 0; i < RESULT_ERRNOS; i++) {
		if (p->errnos[i].n && p->errnos[i].err != e)
			continue;
		p->errnos[i].err = e;
		p->errnos[i].n++;
		return;
	}
}

static const char *errno_name(int e)
{
	const char *name = strerrorname_np(e);

	return name ? name : "?";
}

static void requeue(struct worker *w, struct slot *s)
{
	worker_put_again(w, s);
	w->live++;
	w->done--;
	w->part->requeued++;
}

static void report(struct worker *w, const struct slot *s, int res, uint64_t t)
{
	char why[160], status[32] = "";
	const char *verb = s->lane->op == IO_WRITE ? "write" : "read";

	if (w->nvme_status)
		snprintf(status, sizeof status, ", NVMe status 0x%x", w->nvme_status);
	if (res < 0)
		snprintf(why, sizeof why, "%s of %u bytes at offset %llu: %s (%s%s)", verb, s->len,
			 (unsigned long long)s->off, strerrordesc_np(-res), errno_name(-res),
			 status);
	else
		snprintf(why, sizeof why, "%s of %u bytes at offset %llu moved only %d", verb,
			 s->len, (unsigned long long)s->off, res);
	engine_cut(w->e, w->seg, t + 1, -EIO, why);
}

bool worker_bad(struct worker *w, struct slot *s, int res, uint64_t t)
{
	if (s == &w->wake) {
		w->live++; /* it never counted as an IO */
		w->done--;
		w->wake_armed = false;
		if (!atomic_load(&w->e->cut)) {
			arm_wake(w);
			w->part->rearmed++;
		}
		return false;
	}
	if (res == (int)s->len) {
		worker_account_odd(w, s, t);
		return true;
	}
	if (res == -EAGAIN && !is_left(w)) {
		requeue(w, s);
		return false;
	}
	if (res < 0) {
		w->part->errors++;
		count_errno(w->part, -res);
	} else {
		w->part->short_ios++;
	}
	w->credit = 0;
	if (!atomic_load(&w->e->cut))
		report(w, s, res, t);
	return true;
}

/* The ring itself fails: nothing in flight will be heard of again. */
void worker_fatal(struct worker *w, int rc)
{
	char why[160];

	w->broken = true;
	snprintf(why, sizeof why, "io_uring_enter: %s (%s)", strerrordesc_np(-rc), errno_name(-rc));
	engine_cut(w->e, w->seg, tick_now(w->tsc), -EIO, why);
}
