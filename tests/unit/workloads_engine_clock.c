/* SPDX-License-Identifier: MIT */
/* Inside the loop: a clock that steps back, bucket arithmetic, a drive that answers "again". */
#include "workloads/engine_worker.c"

#include <fcntl.h>

#include "tests/test.h"

TEST(U26_a_step_back_is_counted_and_clamped)
{
	struct engine *e = calloc(1, sizeof *e);
	struct worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
	struct slot s = { .t_sub = 1000 };
	static uint64_t fine[FINE_BUCKETS], coarse[COARSE_BUCKETS];

	memset(w, 0, sizeof *w);
	w->e = e;
	w->mult = (uint64_t)1 << 32;
	w->ticks_limit = (uint64_t)1 << HIST_MAX_BITS;
	w->part = &w->parts[0];
	w->part->lane[0] =
		(struct lane){ .fine = fine, .coarse = coarse, .min_ns = UINT64_MAX, .len = 4096 };
	s.lane = &w->part->lane[0];
	account(w, &s, 900, false);
	CHECK_INT(w->part->clock_back, 1);
	account(w, &s, 1000, false);
	account(w, &s, 1005, false);
	CHECK_INT(w->part->clock_back, 1);
	CHECK_INT(w->part->lane[0].ios, 3);
	CHECK_INT(w->part->lane[0].min_ns, 0);
	CHECK_INT(w->part->lane[0].max_ns, 5);
	CHECK_INT(w->part->lane[0].sum_ns, 5);
	CHECK_INT(fine[bucket_of(0)], 2);
	CHECK_INT(fine[bucket_of(5)], 1);
	account(w, &s, 1000 + ((uint64_t)1 << 50), false);
	CHECK_INT(fine[FINE_BUCKETS - 1], 1);
	CHECK_INT(w->part->lane[0].max_ns, (uint64_t)1 << 50);
	free(w);
	free(e);
}

/* The worker's buckets are those of struct hist: same neighbours stay apart, same ones together. */
TEST(buckets_are_those_of_hist)
{
	for (uint64_t v = 0; v < (uint64_t)1 << 47; v += v / 300 + 1)
		for (uint64_t d = 0; d < 2; d++) {
			bool fine = bucket_of(v) == bucket_of(v + d),
			     hist = hist_index(v) == hist_index(v + d);
			CHECK_MSG(fine == hist, "%llu + %llu", (unsigned long long)v,
				  (unsigned long long)d);
			CHECK(bucket_of(v) < FINE_BUCKETS - 1);
		}
	CHECK_INT(bucket_of((uint64_t)1 << 48), FINE_BUCKETS - 1);
	CHECK_INT(bucket_of(UINT64_MAX), FINE_BUCKETS - 1);
}

/* The same IO goes out again, once more in flight; it keeps its first time stamp and counts nowhere yet. */
TEST(U33_again_is_sent_again)
{
	struct ring_conf c = { .fd = open("/dev/zero", O_RDWR), .entries = 8, .least_entries = 8 };
	struct engine *e = calloc(1, sizeof *e);
	struct worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
	struct slot s = { .t_sub = 1000, .off = 81920, .len = 4096, .addr = { 4096, 8192 } };
	struct err err = { "" };

	memset(w, 0, sizeof *w);
	w->e = e;
	w->part = &w->parts[0];
	w->part->lane[0] = (struct lane){ .len = 4096, .op = IO_WRITE };
	s.lane = &w->part->lane[0];
	w->done = 7;
	CHECK_INT(ring_open(&w->ring, &c, &err), 0);
	CHECK(!worker_bad(w, &s, -EAGAIN, 2000));
	const struct io_uring_sqe *sqe = &w->ring.sqes[0];
	CHECK_INT(w->ring.tail, 1);
	CHECK_INT(sqe->opcode, IORING_OP_WRITE);
	CHECK_INT(sqe->off, 81920);
	CHECK_INT(sqe->addr, 8192);
	CHECK_INT(sqe->len, 4096);
	CHECK(sqe->user_data == (uintptr_t)&s);
	CHECK_INT(w->live, 1);
	CHECK_INT(w->done, 6);
	CHECK_INT(w->part->requeued, 1);
	CHECK_INT(w->part->errors + w->part->short_ios, 0);
	CHECK_INT(s.t_sub, 1000);
	ring_close(&w->ring);
	close(c.fd);
	free(w);
	free(e);
}

TEST_MAIN
