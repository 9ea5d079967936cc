/* SPDX-License-Identifier: MIT */
/*
 * An open loop on a drive in virtual time: the engine's own loop, with a clock and a ring made here. 1000 IOPS at queue depth 1,
 * each IO takes 0.1 ms, one of them a second.
 */
#include <fcntl.h>

#include "tests/test.h"
#include "workloads/engine_impl.h"

#define ENTRIES 16u
#define US 1000ull
#define MS (1000 * US)
#define IOS 10000u
#define STALLED 3000u
#define LANES (ACCESS_STREAMS_MAX + IO_OPS)

static uint64_t now_ns;

/* ---- the drive: one IO after the other ---- */

static unsigned sq_tail, cq_head, cq_tail;
static struct io_uring_sqe sqes[ENTRIES];
static struct io_uring_cqe cqes[ENTRIES];
static struct {
	uint64_t done_ns, user;
	int res;
} flight[ENTRIES];
static unsigned in_flight, issued;
static uint64_t free_ns; /* when the drive has done all it was given */

static void drive_takes(const struct io_uring_sqe *q)
{
	uint64_t begin = free_ns > now_ns ? free_ns : now_ns;

	free_ns = begin + (issued++ == STALLED ? 1000 * MS : 100 * US);
	flight[in_flight].done_ns = free_ns;
	flight[in_flight].user = q->user_data;
	flight[in_flight++].res = (int)q->len;
}

static unsigned drive_gives(void)
{
	unsigned n = 0;

	while (n < in_flight && flight[n].done_ns <= now_ns) {
		cqes[cq_tail++ % ENTRIES] = (struct io_uring_cqe){ .user_data = flight[n].user,
								   .res = flight[n].res };
		n++;
	}
	memmove(flight, flight + n, (in_flight - n) * sizeof *flight);
	in_flight -= n;
	return n;
}

/* Time goes on only here: to the next completion, or to the end of the wait. */
static int drive_enter(struct ring *r, unsigned least, unsigned flags, const void *arg,
		       size_t arg_bytes)
{
	const struct io_uring_getevents_arg *a = arg;
	unsigned n = r->tail - r->taken;
	uint64_t until = UINT64_MAX;

	for (unsigned i = 0; i < n; i++)
		drive_takes(&sqes[(r->taken + i) % ENTRIES]);
	if (a) {
		const struct __kernel_timespec *ts = (const void *)(uintptr_t)a->ts;
		until = now_ns + (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
	}
	if (!drive_gives() && least) {
		BUG_ON(!in_flight && !a);
		uint64_t next = in_flight ? flight[0].done_ns : UINT64_MAX;
		now_ns = next < until ? next : until;
		drive_gives();
	}
	return (int)n;
}

static uint64_t drive_now(bool tsc)
{
	return now_ns;
}

#define tick_now drive_now
#define ring_enter drive_enter
#include "workloads/engine_worker.c"

/* ---- a worker of it ---- */

static struct seg_state state;
static struct segment segment;
static struct job job;
static struct engine engine;
static uint64_t service[FINE_BUCKETS], response[FINE_BUCKETS], coarse[COARSE_BUCKETS];

static struct worker *worker_new(void)
{
	static struct access acc = { .name = "test", .n_streams = 1, .regions = 1 };
	struct worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
	struct gen_conf c = { .acc = &acc, .range = &job.range, .lba_bytes = 512, .seed = 1 };
	struct err err = { "" };

	acc.stream[0] = (struct stream){ 1, 4096, IO_READ, IO_RND, CURSOR_NONE, 0 };
	memset(w, 0, sizeof *w);
	segment = (struct segment){ .acc = &acc, .threads = 1, .qd = 1, .rate_iops = 1000 };
	job = (struct job){ .seg = &segment, .n = 1, .range = { .bytes = 1 << 30 } };
	state.budget.max_ios = IOS;
	state.end = TICK_NEVER;
	engine.job = &job;
	engine.seg = &state;
	w->e = &engine;
	w->mult = (uint64_t)1 << 32; /* a tick is a ns */
	w->ticks_limit = (uint64_t)1 << HIST_MAX_BITS;
	w->event = TICK_NEVER;
	w->how = HOW_FULL;
	w->rate = true;
	w->wait = 1;
	w->target = w->n_slots = w->n_free = 1;
	w->due_step = MS;
	w->slot = calloc(1, sizeof *w->slot);
	w->free = calloc(1, sizeof *w->free);
	w->free[0] = w->slot;
	w->part = &w->parts[0];
	w->part->fine[IO_READ] = service;
	w->part->lane[0] = (struct lane){
		.fine = service, .coarse = coarse, .min_ns = UINT64_MAX, .len = 4096
	};
	w->part->response[IO_READ] = (struct part_response){ .count = response,
							     .min_ns = UINT64_MAX };
	w->ring = (struct ring){ .sq_ktail = &sq_tail,
				 .sqes = sqes,
				 .sq_mask = ENTRIES - 1,
				 .cq_khead = &cq_head,
				 .cq_ktail = &cq_tail,
				 .cqes = cqes,
				 .cq_mask = ENTRIES - 1 };
	if (gen_init(&w->gen, &c, &err))
		abort();
	w->gen.stream[0].user = &w->part->lane[0];
	return w;
}

/* Nearest rank: the bucket in which the IO of that rank lies. */
static unsigned bucket_at(const uint64_t *count, unsigned rank)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < FINE_BUCKETS; i++) {
		seen += count[i];
		if (seen >= rank)
			return i;
	}
	return FINE_BUCKETS;
}

static uint64_t later_than(const uint64_t *count, uint64_t ns)
{
	uint64_t n = 0;

	for (uint64_t i = bucket_of(ns) + 1; i < FINE_BUCKETS; i++)
		n += count[i];
	return n;
}

/* During the stall 1000 IOs become due; then each IO that is done takes 0.9 ms off what the next one waits. */
TEST(U25_a_stall_is_seen_by_all_that_were_due)
{
	struct worker *w = worker_new();

	while (w->part->lane[0].ios < IOS) {
		reap(w, now_ns, HOW_FULL);
		if (w->part->lane[0].ios < IOS)
			CHECK_INT(rate_turn(w), STEP_ON);
	}
	CHECK_INT(issued, IOS);
	CHECK_INT(w->part->response[IO_READ].n, IOS);
	/* service: the drive's view, where the stall is one IO of 10000 */
	CHECK_INT(bucket_at(service, IOS / 100 * 99), bucket_of(100 * US));
	CHECK_INT(later_than(service, MS), 1);
	CHECK_INT(w->part->lane[0].max_ns, 1000 * MS);
	/* response: from when it was due */
	unsigned p99 = bucket_at(response, IOS / 100 * 99);
	CHECK(p99 >= bucket_of(910 * MS / 100 * 97) && p99 <= bucket_of(910 * MS / 100 * 103));
	CHECK_INT(later_than(response, MS), 1110);
	CHECK_INT(w->part->response[IO_READ].min_ns, 100 * US);
	CHECK_INT(w->part->response[IO_READ].max_ns, 1000 * MS);
	/* sent late: the first one that had to wait, by the stall less its own period */
	CHECK_INT(w->part->late_ticks, 999 * MS);
	/* all done 0.1 ms after the last was due: it caught up */
	CHECK_INT(now_ns, (IOS - 1) * MS + 100 * US);
	free(w->free);
	free(w->slot);
	free(w);
}

TEST_MAIN
