/* SPDX-License-Identifier: MIT */
/* The thread of timed IO. Nothing here locks, allocates, logs or reads a file once the clock runs. */
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/time_types.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "pts/base/buf.h"
#include "workloads/fault.h"
#include "workloads/timed_impl.h"

#define SPIN_NS 60000u /* from here on the thread does not sleep */
#define QUIET_NS 1500u /* from here on it does not even look for completions */
#define NAP_NS \
	50000000u /* nothing sleeps longer: clocks may differ a little, and a stop is to be seen */
#define LEAD_NS 2000000u /* from start to the first IO */
#define SECOND_NS 1000000000u

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* ---- in flight over time ---- */

static void live_until(struct timed *t, struct timed_target *g, uint64_t now)
{
	if (now > t->t_live) {
		t->area_ns += (now - t->t_live) * t->live;
		t->t_live = now;
	}
	if (now > g->t_live) {
		g->area_ns += (now - g->t_live) * g->live;
		g->t_live = now;
	}
}

static void live_add(struct timed *t, struct timed_target *g, uint64_t now)
{
	live_until(t, g, now);
	t->live++;
	g->live++;
	if (t->live > t->live_max)
		t->live_max = t->live;
	if (g->live > g->live_max)
		g->live_max = g->live;
}

/* ---- seconds ---- */

/* No room: the interval stays open and takes in the next one. */
static void push_second(struct timed *t, unsigned target)
{
	struct second *s = &t->target[target].now;
	uint64_t tail = atomic_load_explicit(&t->s_tail, memory_order_relaxed);

	if (!s->ios ||
	    tail - atomic_load_explicit(&t->s_head, memory_order_acquire) == SERIES_QUEUE)
		return;
	t->series[tail % SERIES_QUEUE] = (struct series_item){ (uint16_t)target, *s };
	atomic_store_explicit(&t->s_tail, tail + 1, memory_order_release);
	*s = (struct second){ 0 };
}

static void roll(struct timed *t, uint64_t now)
{
	for (unsigned i = 0; i < t->job.n_targets; i++)
		push_second(t, i);
	t->second_index = (uint32_t)((now - t->t0) / SECOND_NS);
	t->second_end = t->t0 + ((uint64_t)t->second_index + 1) * SECOND_NS;
}

/* ---- completions ---- */

static void count_errno(struct timed_target *g, int e)
{
	for (unsigned i = 0; i < RESULT_ERRNOS; i++) {
		if (g->errnos[i].n && g->errnos[i].err != e)
			continue;
		g->errnos[i].err = e;
		g->errnos[i].n++;
		return;
	}
}

static void fatal(struct timed *t, int rc, const char *why)
{
	if (!t->rc)
		t->rc = err_set(&t->err, rc, "%s", why);
	atomic_store(&t->cut, TIMED_CUT);
}

static void bad(struct timed *t, struct timed_target *g, int res)
{
	if (res < 0) {
		g->errors++;
		count_errno(g, -res);
	} else {
		g->short_ios++;
	}
	if (res == -ENODEV || res == -ENXIO || res == -ESHUTDOWN)
		fatal(t, -ENODEV, "the drive is gone");
	else if (++t->bad_run == BAD_IN_A_ROW)
		fatal(t, -EIO, "a thousand IOs in a row failed");
}

static void good(struct timed *t, struct timed_target *g, const struct timed_slot *s, uint64_t now)
{
	uint64_t service = now - s->t_sub, due = t->t0 + s->io.due_ns;
	uint64_t response = t->job.asap || now < due ? service : now - due;

	t->bad_run = 0;
	if (s->io.op >= IO_OPS) {
		t->result.discards += s->io.op == TIMED_DISCARD;
		t->result.flushes += s->io.op == TIMED_FLUSH;
		return;
	}
	hist_add(g->service[s->io.op], service);
	if (!t->job.asap)
		hist_add(g->response[s->io.op], response < service ? service : response);
	g->ios[s->io.op]++;
	g->bytes[s->io.op] += s->io.len;
	if (!g->now.ios)
		g->now.index = t->second_index;
	g->now.ios++;
	g->now.bytes += s->io.len;
	g->now.sum_ns += service;
	if (service > g->now.max_ns)
		g->now.max_ns = service;
	t->pub_bytes += s->io.len;
}

static void give_back(struct timed *t, struct timed_slot *s)
{
	if (s->claim != NO_CLAIM)
		pool_free(&t->pool, s->claim);
	t->free[t->n_free++] = s;
}

static void complete(struct timed *t, struct timed_slot *s, int res, uint64_t now)
{
	struct timed_target *g = &t->target[s->io.target];
	bool whole = s->io.op < IO_OPS ? res >= 0 && (uint64_t)res == s->io.len : res >= 0;

	/* A drive that is gone may end at once, so that its IOs come back with nothing: no short ones. */
	if (!res && s->io.op < IO_OPS && fault_gone(t->job.target[s->io.target].fault))
		res = -ENODEV;
	live_until(t, g, now);
	t->live--;
	g->live--;
	g->last_done_ns = t->last_done_ns = now;
	overlap_remove(&t->over, s);
	if (whole)
		good(t, g, s, now);
	else
		bad(t, g, res);
	give_back(t, s);
	t->done++;
}

/* Discards do not come here: a drive's go by ioctl. */
static void put_nvme(struct timed *t, struct timed_slot *s)
{
	const struct timed_io *io = &s->io;
	const struct timed_target *g = &t->target[io->target];
	struct io_uring_sqe *sqe = ring_entry(&t->ring, t->ring.tail);
	uint64_t head = g->head[io->op];

	BUG_ON(io->op != TIMED_READ && t->job.target[io->target].pass.read_only);
	ring_put_nvme(&t->ring, &g->nvme, (uint64_t[4]){ head, io->off, s->addr, io->len }, s);
	if (io->op == TIMED_FLUSH) /* carries no data, names no block */
		memset((char *)sqe + NVME_SQE_ADDR, 0, NVME_SQE_WORDS);
}

static void put(struct timed *t, struct timed_slot *s)
{
	const struct timed_io *io = &s->io;
	uint64_t head = t->target[io->target].head[io->op];
	uint64_t fsync = (uint64_t)IORING_FSYNC_DATASYNC << 32;
	uint64_t punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	if (t->ring.wide)
		put_nvme(t, s);
	else if (io->op == TIMED_FLUSH)
		ring_put(&t->ring, (uint64_t[4]){ head, 0, 0, fsync }, s);
	else if (io->op == TIMED_DISCARD) /* its length stands where others have the address */
		ring_put(&t->ring, (uint64_t[4]){ head, io->off, io->len, punch }, s);
	else
		ring_put(&t->ring, (uint64_t[4]){ head, io->off, s->addr, io->len }, s);
}

/* Put into the ring; the kernel did not take them yet. */
static unsigned untaken(const struct timed *t)
{
	return t->ring.tail - t->ring.taken;
}

static void publish(struct timed *t)
{
	atomic_store_explicit(&t->pub_done, t->done, memory_order_relaxed);
	atomic_store_explicit(&t->pub_issued, t->result.issued, memory_order_relaxed);
	atomic_store_explicit(&t->pub_live, t->live + untaken(t), memory_order_relaxed);
}

/* What a read or write would have given for a command's result. */
static int answer(const struct timed_slot *s, int res)
{
	if (res > 0)
		return -pass_errno(res);
	return res || s->io.op >= IO_OPS ? res : (int)s->io.len;
}

/* True: something came. */
static bool reap(struct timed *t)
{
	struct ring *r = &t->ring;
	unsigned head, tail;
	uint64_t now;

	if (t->job.dry)
		return false;
	head = r->head;
	tail = ring_cq_tail(r);
	if (head == tail)
		return false;
	now = tick_gettime_ns();
	if (now >= t->second_end)
		roll(t, now);
	for (; head != tail; head++) {
		const struct io_uring_cqe *c = ring_cqe(r, head);
		struct timed_slot *s = (struct timed_slot *)(uintptr_t)c->user_data;
		int res = r->wide ? answer(s, c->res) : c->res;

		if ((res == -EAGAIN || res == -EINTR) && t->cut != TIMED_LEAVE)
			put(t, s); /* was not done: once more */
		else
			complete(t, s, res, now);
	}
	ring_cq_done(r, tail);
	publish(t);
	return true;
}

/* ---- submissions ---- */

static void stamp(struct timed *t, struct timed_slot *s, uint64_t now)
{
	struct timed_target *g = &t->target[s->io.target];
	uint64_t due = t->t0 + s->io.due_ns;

	s->t_sub = now;
	s->issued = true;
	live_add(t, g, now);
	g->prepared += s->io.op < IO_OPS;
	t->result.issued++;
	if (!t->job.asap)
		hist_add(t->late, now > due ? now - due : 0);
	if (!t->any) {
		t->any = true;
		t->first_due = s->io.due_ns;
		t->first_sub = now;
	}
	if (s->io.due_ns > t->last_due)
		t->last_due = s->io.due_ns;
	t->last_sub = now;
	if (s->number > t->newest)
		t->newest = s->number;
	else if (s->number < t->newest)
		t->result.reordered++;
}

/* An IO is issued when the kernel takes it, not before: what it refused is offered again. */
static void took(struct timed *t, unsigned n, uint64_t now)
{
	for (; n; n--) {
		const struct io_uring_sqe *sqe = ring_entry(&t->ring, t->ring.taken++);
		struct timed_slot *s = (struct timed_slot *)(uintptr_t)sqe->user_data;

		if (!s->issued) /* else it comes round once more */
			stamp(t, s, now);
	}
}

static void enter(struct timed *t, unsigned least, uint64_t ns)
{
	struct __kernel_timespec ts = { .tv_sec = (long long)(ns / SECOND_NS),
					.tv_nsec = (long long)(ns % SECOND_NS) };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&ts };
	uint64_t now = untaken(t) ? tick_gettime_ns() : 0;
	int n = least ? ring_enter(&t->ring, least, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
				   &arg, sizeof arg)
		      : ring_enter(&t->ring, 0, IORING_ENTER_GETEVENTS, NULL, 0);

	if (n >= 0) {
		took(t, (unsigned)n, now);
	} else if (n != -EINTR && n != -ETIME && n != -EAGAIN && n != -EBUSY) {
		fatal(t, n, "io_uring_enter failed");
		atomic_store(&t->cut, TIMED_LEAVE);
	}
}

/* Blocks, for io_uring has no discard of block devices before Linux 6.12; punching a hole would write zeroes. */
static void discard_now(struct timed *t, struct timed_slot *s)
{
	uint64_t range[2] = { s->io.off, s->io.len };
	int res;

	stamp(t, s, tick_gettime_ns());
	publish(t);
	res = ioctl(t->job.target[s->io.target].fd, BLKDISCARD, range) ? -errno : 0;
	t->result.discards_sync++;
	complete(t, s, res, tick_gettime_ns());
}

static void flush_dry(struct timed *t)
{
	uint64_t now = tick_gettime_ns();

	for (unsigned i = 0; i < t->n_batch; i++)
		stamp(t, t->batch[i], now);
	now = tick_gettime_ns();
	for (unsigned i = 0; i < t->n_batch; i++)
		complete(t, t->batch[i], (int)t->batch[i]->io.len, now);
}

static void flush(struct timed *t)
{
	if (t->job.dry)
		flush_dry(t);
	else
		enter(t, 0, 0);
	t->n_batch = 0;
	if (t->discard)
		discard_now(t, t->discard);
	t->discard = NULL;
	publish(t);
}

/* Nothing more goes along with this batch; a discard that blocks is its last. */
static bool batch_full(const struct timed *t)
{
	return t->n_batch == TIMED_BATCH || t->discard;
}

/* Into the ring, to be handed over by flush(). */
static void place(struct timed *t, struct timed_slot *s)
{
	overlap_add(&t->over, s);
	t->batch[t->n_batch++] = s;
	if (s->io.op == TIMED_DISCARD && t->target[s->io.target].block)
		t->discard = s;
	else if (!t->job.dry)
		put(t, s);
}

static bool overlaps_held(const struct timed *t, const struct timed_io *io, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (overlap_two(&t->held[i]->io, io))
			return true;
	return false;
}

/* Those that wait no longer go, by age. */
static void release_held(struct timed *t)
{
	unsigned kept = 0;

	t->held_done = t->done;
	for (unsigned i = 0; i < t->n_held; i++) {
		struct timed_slot *s = t->held[i];

		if (batch_full(t) || overlap_finds(&t->over, &s->io) ||
		    overlaps_held(t, &s->io, kept))
			t->held[kept++] = s;
		else
			place(t, s);
	}
	t->n_held = kept;
}

static void go(struct timed *t, struct timed_slot *s)
{
	bool conflict = overlap_finds(&t->over, &s->io) || overlaps_held(t, &s->io, t->n_held);

	t->result.conflicts += conflict;
	if (!conflict || !t->job.order) {
		place(t, s);
		return;
	}
	t->result.held++;
	t->held[t->n_held++] = s;
}

/* ---- the next request ---- */

static bool is_due(const struct timed *t, const struct timed_io *io, uint64_t now)
{
	return t->job.asap || t->t0 + io->due_ns <= now;
}

static void no_room(struct timed *t, const struct timed_io *io, uint64_t now)
{
	if (t->job.asap || t->stalled_since || !is_due(t, io, now))
		return;
	t->result.stalls++;
	t->stalled_since = now;
}

static void room_again(struct timed *t)
{
	if (!t->stalled_since)
		return;
	t->result.stall_ns += tick_gettime_ns() - t->stalled_since;
	t->stalled_since = 0;
}

static bool nothing_queued(struct timed *t, uint64_t head)
{
	if (head != atomic_load_explicit(&t->q_tail, memory_order_acquire))
		return false;
	if (!atomic_load_explicit(&t->q_end, memory_order_acquire) && !t->starving) {
		t->starving = true;
		t->result.starved++;
	}
	return true;
}

/* Takes the next request off the queue and makes its slot and data ready, as a rule before it is due. */
static void prepare(struct timed *t, uint64_t now)
{
	uint64_t head = atomic_load_explicit(&t->q_head, memory_order_relaxed);
	const struct timed_io *io = &t->queue[head % QUEUE_IOS];
	struct timed_slot *s;

	if (nothing_queued(t, head))
		return;
	if (!t->n_free) {
		no_room(t, io, now);
		return;
	}
	s = t->free[t->n_free - 1];
	s->claim = NO_CLAIM;
	if (io->op == TIMED_WRITE) {
		s->addr = pool_take(&t->pool, io->len, &s->claim);
		if (!s->addr) {
			no_room(t, io, now);
			return;
		}
		t->pool.state = t->pool.way->renew(s->addr, (uint32_t)io->len, t->pool.state);
	} else {
		s->addr = (uintptr_t)t->memory + t->pool.bytes +
			  (uint64_t)(s - t->slot) % t->read_bufs * t->read_unit;
	}
	room_again(t);
	t->starving = false;
	t->n_free--;
	s->issued = false;
	s->io = *io;
	s->number = ++t->number;
	t->next = s;
	atomic_store_explicit(&t->q_head, head + 1, memory_order_release);
}

static struct timed_slot *take_due(struct timed *t, uint64_t now)
{
	struct timed_slot *s;

	if (!t->next)
		prepare(t, now);
	s = t->next;
	if (!s || !is_due(t, &s->io, now))
		return NULL;
	t->next = NULL;
	return s;
}

/* ---- waiting ---- */

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void nap(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };

	nanosleep(&ts, NULL);
}

/* Towards a due time: sleeps while it is far, then looks for completions, then only at the clock. */
static void wait_due(struct timed *t, uint64_t due, uint64_t now)
{
	uint64_t left = due > now ? due - now : 0;
	bool busy = t->live || untaken(t);

	if (left > SPIN_NS && busy)
		enter(t, 1, lesser(left - SPIN_NS, NAP_NS));
	else if (left > SPIN_NS)
		nap(lesser(left - SPIN_NS, NAP_NS));
	else if (left > QUIET_NS && busy)
		enter(t, 0, 0);
	else
		while (tick_gettime_ns() < due)
			;
}

static void idle(struct timed *t, uint64_t now)
{
	bool busy = t->live || untaken(t);

	if (t->next)
		wait_due(t, t->t0 + t->next->io.due_ns, now);
	else if (busy && !t->starving)
		enter(t, 1, NAP_NS); /* only a completion helps, or it is the end */
	else if (busy)
		enter(t, 0, 0);
	else
		relax();
}

/* ---- the loop ---- */

static bool over(struct timed *t)
{
	return !t->next && !t->n_held && !t->live && !untaken(t) &&
	       atomic_load_explicit(&t->q_end, memory_order_acquire) &&
	       atomic_load_explicit(&t->q_head, memory_order_relaxed) ==
		       atomic_load_explicit(&t->q_tail, memory_order_acquire);
}

/* Cut short: what was not issued stays so. */
static bool wind_up(struct timed *t)
{
	t->next = NULL;
	t->n_held = 0;
	if (!t->live || t->cut == TIMED_LEAVE)
		return false;
	enter(t, 1, NAP_NS);
	reap(t);
	return true;
}

static bool turn(struct timed *t)
{
	struct timed_slot *s;
	bool came = reap(t);
	uint64_t now = tick_gettime_ns();

	if (now >= t->second_end)
		roll(t, now);
	if (atomic_load_explicit(&t->cut, memory_order_relaxed))
		return wind_up(t);
	if (t->n_held && t->done != t->held_done)
		release_held(t);
	while (!batch_full(t) && (s = take_due(t, now)))
		go(t, s);
	if (t->n_batch)
		flush(t);
	else if (over(t))
		return false;
	else if (!came)
		idle(t, now);
	return true;
}

static bool is_block(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISBLK(st.st_mode);
}

static void set_nvme(struct timed *t, unsigned i, uint64_t file)
{
	struct timed_target *g = &t->target[i];

	g->nvme = ring_nvme_of(&t->ring, &t->job.target[i].pass, file);
	g->head[TIMED_READ] = ring_nvme_head(&g->nvme, NVME_OP_READ);
	g->head[TIMED_WRITE] = ring_nvme_head(&g->nvme, NVME_OP_WRITE);
	g->head[TIMED_FLUSH] = ring_nvme_head(&g->nvme, NVME_OP_FLUSH);
}

static int open_ring(struct timed *t)
{
	const struct engine_target *g = t->job.target;
	struct ring_conf c = { .fd = g->fd,
			       .entries = t->n_slots < 256 ? 256 : t->n_slots,
			       .least_entries = t->n_slots,
			       .buffers = t->memory,
			       .buffer_bytes = t->memory_bytes,
			       .polled = g->polled,
			       .pass = &t->pass,
			       .fault = g->fault };
	int rc;

	t->pass = g->pass;
	for (unsigned i = 1; i < t->job.n_targets; i++)
		if (g[i].pass.max_bytes < t->pass.max_bytes)
			t->pass.max_bytes = g[i].pass.max_bytes;
	rc = ring_open(&t->ring, &c, &t->err);
	if (rc)
		return rc;
	ring_describe(&t->ring, t->text, sizeof t->text);
	for (unsigned i = 0; i < t->job.n_targets; i++) {
		uint64_t *head = t->target[i].head;
		int fd = i ? t->ring.wide ? g[i].pass.fd : g[i].fd : t->ring.target;
		uint64_t file = (uint64_t)(uint32_t)fd << 32;
		uint64_t fixed = !i && t->ring.fixed_file ? RING_FIXED_FILE_FLAG : 0;

		t->target[i].block = is_block(g[i].fd);
		if (t->ring.wide) {
			set_nvme(t, i, fixed | file);
			continue;
		}
		head[TIMED_READ] = (t->ring.head_word[0] & 0xff) | fixed | file;
		head[TIMED_WRITE] = (t->ring.head_word[1] & 0xff) | fixed | file;
		head[TIMED_DISCARD] = IORING_OP_FALLOCATE | fixed | file;
		head[TIMED_FLUSH] = IORING_OP_FSYNC | fixed | file;
	}
	return 0;
}

static void start_clock(struct timed *t)
{
	/* without a clock the first IO goes at once: a lead would count it before the beginning */
	t->t0 = tick_gettime_ns() + (t->job.asap ? 0 : LEAD_NS);
	t->t_live = t->t0;
	for (unsigned i = 0; i < t->job.n_targets; i++)
		t->target[i].t_live = t->t0;
	t->second_end = t->t0 + SECOND_NS;
}

void *timed_main(void *arg)
{
	struct timed *t = arg;

	prctl(PR_SET_NAME, "pts-timed");
	prctl(PR_SET_TIMERSLACK, 1ul);
	t->rc = t->job.dry ? 0 : open_ring(t);
	atomic_store(&t->ready, true);
	while (!t->rc && !atomic_load(&t->go))
		nap(1000000);
	if (!t->rc) {
		start_clock(t);
		while (turn(t))
			;
		roll(t, tick_gettime_ns());
	}
	atomic_store(&t->finished, true);
	/* What still lies in a drive that hangs may be written into memory: neither is touched. */
	if (!t->live)
		ring_close(&t->ring);
	return NULL;
}
