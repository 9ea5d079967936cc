/* SPDX-License-Identifier: MIT */
/* What a cell is to be read with: a target that runs synchronously, a depth that was not reached. And no latency on request. */
#include <pthread.h>
#include <time.h>

#include "tests/unit/workloads_rig.h"

#define BLOCK 4096u
#define SYNC "target runs synchronously"
#define DEPTH "depth not achieved: "

static bool noted(const struct rig *g, const char *what)
{
	return strstr(g->r[0].note, what);
}

static void run_zero(struct rig *g, unsigned threads, unsigned qd, uint64_t ios)
{
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), threads, qd,
		    (struct bound){ .ios = ios });
	CHECK_INT(rig_run(g), 0);
	DO(rig_consistent(g, 0));
}

TEST(U24_a_target_that_runs_synchronously_is_told)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	DO(run_zero(g, 1, 1, 100000));
	CHECK_MSG(noted(g, SYNC), "%s", g->r[0].note);
	DO(run_zero(g, 2, 8, 100000));
	CHECK_MSG(noted(g, SYNC), "%s", g->r[0].note);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 4,
		    (struct bound){ .time_ns = 200 * MS });
	CHECK_INT(rig_run(g), 0);
	CHECK_MSG(noted(g, SYNC), "%s", g->r[0].note);
	rig_close(g);
}

TEST(U24_a_depth_that_is_not_reached_is_told)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	/* Batches of 8 are done before the next one is sent. */
	DO(run_zero(g, 1, 32, 200000));
	CHECK_MSG(noted(g, DEPTH) && noted(g, " of 32 in flight"), "%s", g->r[0].note);
	CHECK(g->r[0].inflight_avg < 0.95 * 32);
	DO(run_zero(g, 1, 32, 1000));
	CHECK_MSG(!noted(g, DEPTH), "too few to tell: %s", g->r[0].note);
	rig_close(g);
}

/* ---- an asynchronous target: a pipe that is fed late ---- */

static void *feed_late(void *arg)
{
	static const char block[BLOCK];
	struct timespec ts = { 0, 1000000 };
	struct rig *g = arg;

	for (unsigned i = 0; i < 200; i++) {
		nanosleep(&ts, NULL);
		if (write(g->peer, block, sizeof block) != (ssize_t)sizeof block)
			abort();
	}
	return NULL;
}

TEST(an_asynchronous_target_is_not_taken_for_a_synchronous_one)
{
	static const unsigned depth[] = { 1, 4 };

	for (unsigned i = 0; i < 2; i++) {
		int fd[2];
		pthread_t feeder;
		if (pipe2(fd, O_CLOEXEC))
			abort();
		struct rig *g = rig_open_fd(fd[0], 1 << 20, NULL);
		g->peer = fd[1];
		rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, depth[i],
			    (struct bound){ .ios = 200 });
		if (pthread_create(&feeder, NULL, feed_late, g))
			abort();
		int rc = rig_run(g);
		pthread_join(feeder, NULL);
		CHECK_INT(rc, 0);
		CHECK_INT(rig_ios(g, 0), 200);
		CHECK_MSG(!noted(g, SYNC) && !noted(g, DEPTH), "%s", g->r[0].note);
		CHECK_MSG(g->r[0].inflight_avg > 0.9 * depth[i], "%g", g->r[0].inflight_avg);
		rig_close(g);
	}
}

/* ---- without latency ---- */

TEST(without_latency_ios_are_counted_all_the_same)
{
	struct engine_target t = { .fd = open("/dev/zero", O_RDWR | O_CLOEXEC),
				   .capacity_bytes = 1 << 30,
				   .lba_bytes = 512,
				   .mem_align = 4096,
				   .no_latency = true };
	struct rig *g = rig_open_fd(t.fd, 1 << 30, NULL);

	engine_close(g->e);
	CHECK_INT(engine_open(&t, &g->e, &g->err), 0);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 8, (struct bound){ .ios = 54321 });
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->r[0].op[IO_READ].ios, 54321);
	CHECK_INT(g->r[0].op[IO_READ].bytes, 54321ull * BLOCK);
	CHECK_INT(g->r[0].prepared, 54321);
	CHECK_INT(g->second_ios[0], 54321);
	CHECK(!g->r[0].op[IO_READ].service);
	CHECK(!g->r[0].note[0] || !noted(g, DEPTH));
	rig_close(g);
}

TEST_MAIN
