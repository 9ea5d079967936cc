/* SPDX-License-Identifier: MIT */
/* The loop that IOs go through. Nothing here locks, allocates or logs. */
#include "workloads/engine_impl.h"

#include <errno.h>
#include <linux/time_types.h>
#include <string.h>

#include "workloads/data.h"

/* IOs in flight, integrated up to @t: counted by submissions and completions, not taken from latencies. */
static always_inline void live_until(struct worker *w, uint64_t t)
{
	if (likely(t > w->t_live)) {
		w->area += (t - w->t_live) * (uint64_t)(int64_t)w->live;
		w->t_live = t;
	}
}

static void note_late(struct worker *w, uint64_t t)
{
	for (unsigned i = 0; i < w->n_batch; i++) {
		uint64_t late = t > w->batch[i]->due ? t - w->batch[i]->due : 0;
		if (late > w->part->late_ticks)
			w->part->late_ticks = late;
	}
}

/* Falls through from the last slot to the first. */
static always_inline void stamp(struct slot *const *batch, unsigned n, uint64_t t)
{
	_Static_assert(ENGINE_BATCH == 8, "one case for each slot of a batch");
	switch (n) {
	case 8:
		batch[7]->t_sub = t; /* fall through */
	case 7:
		batch[6]->t_sub = t; /* fall through */
	case 6:
		batch[5]->t_sub = t; /* fall through */
	case 5:
		batch[4]->t_sub = t; /* fall through */
	case 4:
		batch[3]->t_sub = t; /* fall through */
	case 3:
		batch[2]->t_sub = t; /* fall through */
	case 2:
		batch[1]->t_sub = t; /* fall through */
	case 1:
		batch[0]->t_sub = t;
	}
}

/* All of a batch carry the time just before it is handed over. */
static always_inline void stamp_batch(struct worker *w, const unsigned how)
{
	unsigned n = w->n_batch;

	if (!(how & HOW_BARE)) {
		uint64_t t = tick_now(w->tsc);

		if (n == 1)
			w->batch[0]->t_sub = t;
		else
			stamp(w->batch, n, t);
		if (how & HOW_FULL && w->rate)
			note_late(w, t);
		live_until(w, t);
	}
	w->n_batch = 0;
	w->live += (int)n;
	if (w->live > w->live_max)
		w->live_max = w->live;
	atomic_store_explicit(&w->pub_live, w->live, memory_order_relaxed);
}

static void submit_failed(struct worker *w, int rc)
{
	if (rc != -EINTR && rc != -ETIME && rc != -EAGAIN && rc != -EBUSY)
		worker_fatal(w, rc);
}

/* The kernel may take fewer than offered: the rest goes with the next call. */
static always_inline void submit(struct worker *w, unsigned min_complete, unsigned flags)
{
	int n = ring_enter(&w->ring, min_complete, flags, NULL, 0);

	if (likely(n >= 0))
		w->ring.taken += (unsigned)n;
	else
		submit_failed(w, n);
}

static always_inline void flush(struct worker *w, unsigned min_complete, const unsigned how)
{
	stamp_batch(w, how);
	_Static_assert(IORING_ENTER_GETEVENTS == 1, "wait for one, or do not wait");
	submit(w, min_complete, min_complete);
}

void worker_flush(struct worker *w, unsigned min_complete)
{
	flush(w, min_complete, HOW_FULL);
}

/* The next stretch of the slot's write data, made new. */
static always_inline void fresh_data(struct worker *w, struct slot *s, uint32_t len)
{
	uint64_t at = s->write_at;

	if (unlikely(at + len > w->write_span))
		at = 0;
	s->write_at = (at + len + w->write_mask) & ~(uint64_t)w->write_mask;
	at += s->write_base;
	s->addr[IO_WRITE] = at;
	w->stamp = w->renew(at, len, w->stamp);
}

static always_inline bool is_nvme(const unsigned how)
{
	return how & HOW_NVME;
}

/* The same where one command must not reach over a line of the grid of registered buffers: what does begins at one. */
static always_inline void fresh_data_nvme(struct worker *w, struct slot *s, uint32_t len)
{
	uint64_t at = s->write_at, grid = w->ring.nvme.max_bytes;

	if (unlikely((at ^ (at + len - 1)) & -grid))
		s->write_at = (at + grid - 1) & -grid;
	fresh_data(w, s, len);
}

/* Writes the IO into the slot and into an entry of the ring. */
static always_inline void put_io(struct worker *w, struct io_uring_sqe *sqe, struct slot *s,
				 const struct gen_io *io, const unsigned how)
{
	struct lane *y = io->stream->user;
	unsigned op = io->stream->op;

	s->off = io->off;
	s->len = io->len;
	s->lane = y;
	if (is_nvme(how)) {
		if (op == IO_WRITE)
			fresh_data_nvme(w, s, io->len);
		ring_fill_nvme(&w->ring.nvme, sqe,
			       (uint64_t[4]){ y->head, io->off, s->addr[op], io->len }, s);
		return;
	}
	if (op == IO_WRITE)
		fresh_data(w, s, io->len);
	ring_fill(sqe, (uint64_t[4]){ y->head, io->off, s->addr[op], io->len }, s);
}

/* As many commands as it takes. */
static void put_parts(struct worker *w, struct slot *s)
{
	uint32_t most = w->ring.nvme.max_bytes;
	uint64_t addr = s->addr[s->lane->op], head = w->ring.head_word[s->lane->op];

	s->parts = 0;
	for (uint64_t at = 0; at < s->len; at += most, s->parts++) {
		uint64_t len = s->len - at < most ? s->len - at : most;
		ring_put_nvme(&w->ring, &w->ring.nvme,
			      (uint64_t[4]){ head, s->off + at, addr + at, len }, s);
	}
	w->part->parts += s->parts - 1u;
}

void worker_put_again(struct worker *w, struct slot *s)
{
	unsigned op = s->lane->op;

	if (w->ring.wide)
		put_parts(w, s);
	else
		ring_put(&w->ring,
			 (uint64_t[4]){ w->ring.head_word[op], s->off, s->addr[op], s->len }, s);
}

bool worker_answer(struct worker *w, struct slot *s, int *res)
{
	if (!s->bad && *res)
		s->bad = (int16_t)*res;
	if (s->parts > 1) {
		s->parts--;
		return false;
	}
	w->nvme_status = s->bad > 0 ? s->bad : 0;
	*res = !s->bad ? (int)s->len : s->bad > 0 ? -pass_errno(s->bad) : s->bad;
	s->bad = 0;
	return true;
}

static void batch_io(struct worker *w, struct slot *s, const struct gen_io *io)
{
	if (w->n_batch == ENGINE_BATCH)
		worker_flush(w, 0);
	if (!w->ring.wide) {
		put_io(w, ring_entry(&w->ring, w->ring.tail++), s, io, HOW_PLAIN);
	} else {
		put_io(w, ring_entry(&w->ring, w->ring.tail), s, io, HOW_NVME);
		put_parts(w, s);
	}
	w->batch[w->n_batch++] = s;
}

/* Plus FINE_FIRST. @ns < 2^HIST_MAX_BITS. */
static always_inline uint64_t raw_bucket_of(uint64_t ns)
{
	union {
		double d;
		uint64_t bits;
	} v = { .d = (double)(int64_t)ns + 0.5 };

	return v.bits >> FINE_SHIFT;
}

static uint64_t bucket_of(uint64_t ns)
{
	return ns >> HIST_MAX_BITS ? FINE_BUCKETS - 1 : raw_bucket_of(ns) - FINE_FIRST;
}

static void dump_latency(struct part *p, uint64_t ns)
{
	if (p->dump_n == p->dump_cap) {
		size_t cap = p->dump_cap ? p->dump_cap * 2 : 1 << 16;
		uint64_t *v = realloc(p->dump, cap * sizeof *v);
		BUG_ON(!v);
		p->dump = v;
		p->dump_cap = cap;
	}
	p->dump[p->dump_n++] = ns;
}

/* Beyond what every IO gets: response time of open loops, raw latencies. */
static void account_more(struct worker *w, struct slot *s, uint64_t t, uint64_t ns)
{
	struct part_response *r = &w->part->response[s->lane->op];

	if (w->e->dump)
		dump_latency(w->part, ns);
	if (!w->rate)
		return;
	uint64_t resp = t > s->due ? tick_to_ns(t - s->due, w->mult) : 0;
	if (resp < ns)
		resp = ns; /* sent a little before its time */
	r->count[bucket_of(resp)]++;
	r->n++;
	r->sum_ns += resp;
	if (resp < r->min_ns)
		r->min_ns = resp;
	if (resp > r->max_ns)
		r->max_ns = resp;
}

static always_inline void account_sums(struct lane *y, uint64_t ns)
{
	y->ios++;
	y->sum_ns += ns;
	if (ns > y->max_ns)
		y->max_ns = ns;
	if (ns < y->min_ns)
		y->min_ns = ns;
}

/* A clock that stepped back, or a latency of days. */
static __attribute__((noinline)) void account_extreme(struct worker *w, struct slot *s,
						      uint64_t ticks)
{
	struct lane *y = s->lane;
	uint64_t ns = 0;

	if ((int64_t)ticks < 0)
		w->part->clock_back++;
	else
		ns = tick_to_ns(ticks, w->mult);
	y->fine[bucket_of(ns)]++;
	y->coarse[bucket_of(ns) >> COARSE_SHIFT]++;
	account_sums(y, ns);
	if (w->how & HOW_FULL)
		account_more(w, s, w->t_reap, ns);
}

static always_inline void account(struct worker *w, struct slot *s, uint64_t t, const unsigned how)
{
	struct lane *y = s->lane;

	if (how & HOW_BARE) {
		y->ios++;
		return;
	}
	uint64_t ticks = t - s->t_sub;

	if (unlikely(ticks >= w->ticks_limit)) {
		account_extreme(w, s, ticks);
		return;
	}
	uint64_t ns = tick_to_ns(ticks, w->mult), i = raw_bucket_of(ns);

	y->fine[i - FINE_FIRST]++;
	y->coarse[(i >> COARSE_SHIFT) - (FINE_FIRST >> COARSE_SHIFT)]++;
	account_sums(y, ns);
	if (how & HOW_FULL)
		account_more(w, s, t, ns);
}

void worker_account_odd(struct worker *w, struct slot *s, uint64_t t)
{
	if (w->how & HOW_BARE)
		account(w, s, t, HOW_BARE);
	else
		account(w, s, t, HOW_FULL);
	w->part->odd_bytes[s->lane - w->part->lane] += (int64_t)s->len - s->lane->len;
}

/* The slow way: the budget, a depth that is to fall, open loops. */
static void issue_one(struct worker *w, struct slot *s)
{
	struct gen_io io;

	if (w->credit) {
		w->credit--;
		gen_next(&w->gen, &w->gen.draw, w->gen.n_streams == 1, &io);
	} else if (!worker_next_io(w, &io)) {
		s->lane = NULL;
		w->free[w->n_free++] = s;
		return;
	}
	batch_io(w, s, &io);
}

/* Completions among which are some that are not good, or for which there is no credit. */
static __attribute__((noinline)) void reap_slowly(struct worker *w, const struct io_uring_cqe *c,
						  unsigned n)
{
	for (; n--; c += 1u + w->ring.wide) {
		struct slot *s = (struct slot *)(uintptr_t)c->user_data;
		int res = c->res;

		if (w->ring.wide && s != &w->wake && !worker_answer(w, s, &res)) {
			w->live++; /* the IO is still in flight */
			w->done--;
			continue;
		}
		if (res == (int)s->lane->len)
			account(w, s, w->t_reap, w->how);
		else if (!worker_bad(w, s, res, w->t_reap))
			continue;
		issue_one(w, s);
	}
}

/* Of its lane's size and done. A command's answer is 0, and moves all or nothing. */
static always_inline bool is_good(const struct io_uring_cqe *c, const unsigned how)
{
	const struct slot *s = (const struct slot *)(uintptr_t)c->user_data;

	return is_nvme(how) ? !c->res && s->len == s->lane->len : c->res == (int)s->lane->len;
}

/*
 * Counts good completions from @c on and puts the next IO of each into the batch and the ring, whose entries lie side by side.
 * Returns how many; less than @n: the next one is not good.
 */
static always_inline unsigned turn_over(struct worker *w, const struct io_uring_cqe *c, unsigned n,
					const unsigned how, const bool single)
{
	const unsigned step = is_nvme(how) ? 2 : 1; /* entries of a ring */
	struct io_uring_sqe *sqe = ring_entry_of(&w->ring, w->ring.tail, is_nvme(how));
	struct draw draw = w->gen.draw; /* in registers for a while */
	struct slot **batch = w->batch;
	uint64_t t = w->t_reap;

	for (const struct io_uring_cqe *end = c + (size_t)n * step; c != end;
	     c += step, sqe += step) {
		struct slot *s = (struct slot *)(uintptr_t)c->user_data;
		struct gen_io io;

		if (unlikely(!is_good(c, how)))
			break;
		account(w, s, t, how);
		gen_next(&w->gen, &draw, single, &io);
		put_io(w, sqe, s, &io, how);
		*batch++ = s;
	}
	w->gen.draw = draw;
	return (unsigned)(batch - w->batch);
}

static always_inline void reap_batch(struct worker *w, const struct io_uring_cqe *c, unsigned n,
				     const unsigned how)
{
	unsigned done = 0;

	if (likely(w->credit >= n)) {
		done = w->gen.n_streams == 1 ? turn_over(w, c, n, how, true)
					     : turn_over(w, c, n, how, false);
		w->credit -= done;
		w->n_batch = done;
		w->ring.tail += done;
	}
	if (unlikely(done < n))
		reap_slowly(w, c + (is_nvme(how) ? 2 * (size_t)done : done), n - done);
}

/* What low depths do: one completion, one new IO, without the ado of a batch. */
static always_inline void reap_one(struct worker *w, const struct io_uring_cqe *c,
				   const unsigned how)
{
	struct slot *s = (struct slot *)(uintptr_t)c->user_data;
	struct gen_io io;

	account(w, s, w->t_reap, how);
	w->credit--;
	gen_next(&w->gen, &w->gen.draw, w->gen.n_streams == 1, &io);
	put_io(w, ring_entry_of(&w->ring, w->ring.tail++, is_nvme(how)), s, &io, how);
	w->batch[0] = s;
	w->n_batch = 1;
}

static always_inline unsigned lesser(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* A batch lies side by side in both rings: it ends where one of them wraps. */
static always_inline void reap_batches(struct worker *w, unsigned head, unsigned tail,
				       const unsigned how)
{
	const struct ring *r = &w->ring;

	while (head != tail) {
		unsigned at = head & r->cq_mask, n = tail - head;
		n = lesser(n, ENGINE_BATCH);
		n = lesser(n, r->cq_mask + 1 - at);
		n = lesser(n, ring_room(r));
		if (unlikely(w->n_batch))
			flush(w, 0, how);
		head += n;
		reap_batch(w, ring_cqe_of(r, at, is_nvme(how)), n, how);
	}
}

/* Takes what has completed by @t and puts the next IOs into its place. */
static always_inline void reap(struct worker *w, uint64_t t, const unsigned how)
{
	struct ring *r = &w->ring;
	unsigned head = r->head, tail = ring_cq_tail(r), n = tail - head;
	const struct io_uring_cqe *first = ring_cqe_of(r, head, is_nvme(how));

	live_until(w, t);
	w->live -= (int)n;
	w->done += n;
	w->t_reap = t;
	if (n == 1 && likely(w->credit) && likely(!w->n_batch) && likely(is_good(first, how)))
		reap_one(w, first, how);
	else
		reap_batches(w, head, tail, how);
	ring_cq_done(r, tail);
	atomic_store_explicit(&w->pub_done, w->done, memory_order_relaxed);
}

void worker_top_up(struct worker *w)
{
	while (w->n_free && w->n_slots - w->n_free < w->target) {
		unsigned before = w->n_free;
		issue_one(w, w->free[--w->n_free]);
		if (w->n_free == before)
			break;
	}
}

/* ---- open loop ---- */

static void next_due(struct worker *w)
{
	uint64_t frac = w->due_frac + w->due_step_frac;

	w->due += w->due_step + (frac < w->due_frac);
	w->due_frac = frac;
}

/* Every IO that is due, in order; those that find no free slot wait, and their response time grows. */
static void issue_due(struct worker *w, uint64_t t)
{
	struct gen_io io;

	while (w->due <= t && w->n_free && worker_draw(w, &io)) {
		struct slot *s = w->free[--w->n_free];
		batch_io(w, s, &io);
		s->due = w->due;
		next_due(w);
	}
}

void worker_wait(struct worker *w, uint64_t ns)
{
	struct __kernel_timespec ts = { .tv_sec = (long long)(ns / 1000000000u),
					.tv_nsec = (long long)(ns % 1000000000u) };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&ts };
	int n = ring_enter(&w->ring, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg,
			   sizeof arg);

	if (n >= 0)
		w->ring.taken += (unsigned)n;
	else
		submit_failed(w, n);
}

/* Sleeps towards the next due time or event, or looks once when it is near. */
static void wait_due(struct worker *w)
{
	uint64_t until = w->due < w->event ? w->due : w->event, t = tick_now(w->tsc);
	uint64_t left = until > t + w->spin_ticks ? until - t - w->spin_ticks : 0;

	if (left)
		worker_wait(w, tick_to_ns(left, w->mult));
	else
		submit(w, 0, IORING_ENTER_GETEVENTS);
}

static enum step rate_turn(struct worker *w)
{
	issue_due(w, tick_now(w->tsc));
	if (w->dry && w->n_free == w->n_slots)
		return worker_idle(w);
	if (!w->n_free || w->dry) {
		worker_flush(w, w->wait);
		return STEP_ON;
	}
	stamp_batch(w, HOW_FULL);
	wait_due(w);
	return STEP_ON;
}

/* ---- the loop ---- */

/* Turns until a segment comes that wants another loop. */
static always_inline enum step turns(struct worker *w, const unsigned how)
{
	enum step step = STEP_ON;

	do {
		uint64_t t = tick_now(w->tsc);

		if (unlikely(t >= w->event) ||
		    unlikely(atomic_load_explicit(&w->e->cut, memory_order_relaxed))) {
			step = worker_event(w, t);
			if (step != STEP_ON || w->how != how)
				continue;
		}
		reap(w, t, how);
		if (how & HOW_FULL && w->rate)
			step = rate_turn(w);
		else if (unlikely(w->n_free == w->n_slots))
			step = worker_idle(w);
		else
			flush(w, w->wait, how);
	} while (step != STEP_END && w->how == how);
	return step;
}

static enum step turns_block(struct worker *w)
{
	return w->how == HOW_PLAIN  ? turns(w, HOW_PLAIN)
	       : w->how == HOW_FULL ? turns(w, HOW_FULL)
				    : turns(w, HOW_BARE);
}

static enum step turns_nvme(struct worker *w)
{
	return w->how & HOW_FULL   ? turns(w, HOW_FULL | HOW_NVME)
	       : w->how & HOW_BARE ? turns(w, HOW_BARE | HOW_NVME)
				   : turns(w, HOW_PLAIN | HOW_NVME);
}

void worker_run(struct worker *w)
{
	enum step step = worker_begin(w);

	while (step != STEP_END)
		step = w->ring.wide ? turns_nvme(w) : turns_block(w);
}
