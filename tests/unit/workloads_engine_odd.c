/* SPDX-License-Identifier: MIT */
/*
 * The engine when things go wrong: stops, errors, short IOs, hangs, stalls, a clock that jumps. A pipe is a drive whose every
 * completion the test decides about.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "pts/base/units.h"
#include "tests/unit/workloads_rig.h"

#define BLOCK 4096u

static char block[BLOCK * 64];

static struct rig *pipe_rig(void)
{
	int fd[2];
	struct rig *g;

	if (pipe2(fd, O_CLOEXEC))
		abort();
	g = rig_open_fd(fd[0], 1 << 20, NULL);
	g->peer = fd[1];
	return g;
}

static void feed(struct rig *g, unsigned blocks)
{
	if (write(g->peer, block, blocks * BLOCK) != (ssize_t)(blocks * BLOCK))
		abort();
}

static void sleep_ms(unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

/* ---- stop ---- */

static volatile int stop_flag;

static void on_alarm(int sig)
{
	stop_flag = 1;
}

static void run_and_stop(struct rig *g, int *rc)
{
	struct itimerval soon = { .it_value = { .tv_usec = 100000 } };

	signal(SIGALRM, on_alarm);
	stop_flag = 0;
	g->job.stop = &stop_flag;
	setitimer(ITIMER_REAL, &soon, NULL);
	*rc = rig_run(g);
}

TEST(a_stop_seals_what_there_is)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);
	int rc;

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 4,
		    (struct bound){ .time_ns = 20 * MS });
	rig_segment(g, 1, rig_access(IO_READ, IO_RND, BLOCK), 3, 4,
		    (struct bound){ .time_ns = 3600000 * MS });
	run_and_stop(g, &rc);
	CHECK_INT(rc, -EINTR);
	CHECK_INT(g->sealed, 2);
	CHECK(!g->r[0].partial && g->r[1].partial);
	CHECK(rig_ios(g, 1) > 0);
	CHECK(g->r[1].elapsed_ns > 0 && g->r[1].elapsed_ns < 3600000 * MS);
	DO(rig_consistent(g, 1));
	/* The engine is as good as new. */
	g->job.stop = NULL;
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 4, (struct bound){ .ios = 1000 });
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(rig_ios(g, 0), 1000);
	rig_close(g);
}

TEST(a_stop_of_a_counted_segment)
{
	struct rig *g = rig_open("/dev/null", 1 << 30);
	struct access a = rig_access(IO_WRITE, IO_SEQ, 1 << 20);
	int rc;

	a.exact = true;
	rig_segment(g, 0, a, 2, 4, (struct bound){ .bytes = 1ull << 60 });
	run_and_stop(g, &rc);
	CHECK_INT(rc, -EINTR);
	CHECK_INT(g->sealed, 1);
	CHECK(g->r[0].partial && rig_bytes(g, 0) > 0);
	DO(rig_consistent(g, 0));
	rig_close(g);
}

static void feed_the_rest(struct rig *g, unsigned k)
{
	feed(g, 8); /* sealed before this came: only the drain sees it */
}

TEST(a_stop_does_not_wait_for_the_drive)
{
	struct rig *g = pipe_rig();
	int rc;

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 4,
		    (struct bound){ .time_ns = 3600000 * MS });
	feed(g, 3);
	g->on_seal = feed_the_rest;
	run_and_stop(g, &rc);
	CHECK_INT(rc, -EINTR);
	CHECK_INT(g->sealed, 1);
	CHECK_INT(rig_ios(g, 0), 3);
	CHECK(g->r[0].partial);
	CHECK_INT(g->r[0].inflight_max, 8);
	DO(rig_consistent(g, 0));
	rig_close(g);
}

/* ---- errors ---- */

TEST(short_reads_are_no_ios_and_end_the_segment)
{
	struct rig *g = rig_file(4 << 20);
	struct access a = rig_access(IO_READ, IO_SEQ, BLOCK);

	/* The drive shrinks under the engine: as a removed one does, it answers reads with 0 bytes, very fast. */
	CHECK_INT(ftruncate(g->fd, 1 << 20), 0);
	rig_segment(g, 0, a, 2, 4, (struct bound){ .time_ns = 3600000 * MS });
	rig_segment(g, 1, a, 2, 4, (struct bound){ .time_ns = 20 * MS });
	CHECK_INT(rig_run(g), -EIO);
	CHECK_INT(g->sealed, 1);
	CHECK(g->r[0].partial);
	CHECK_INT(g->r[0].errors, 0);
	CHECK(g->r[0].short_ios >= 1 && g->r[0].short_ios <= 8);
	/* Good ones that came back together with the bad, or after it, may be left out. */
	CHECK(rig_ios(g, 0) >= 256 - 8 && rig_ios(g, 0) <= 256);
	CHECK_MSG(strstr(g->err.msg, "read of 4096 bytes at offset ") &&
			  strstr(g->err.msg, "moved only 0"),
		  "%s", g->err.msg);
	DO(rig_consistent(g, 0));
	rig_close(g);
}

TEST(part_of_a_block_is_no_io)
{
	struct rig *g = pipe_rig();

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 1, (struct bound){ .ios = 10 });
	feed(g, 2);
	CHECK_INT(write(g->peer, block, 100), 100);
	CHECK_INT(rig_run(g), -EIO);
	CHECK_INT(rig_ios(g, 0), 2);
	CHECK_INT(g->r[0].short_ios, 1);
	CHECK(strstr(g->err.msg, "moved only 100"));
	rig_close(g);
}

TEST(failed_ios_are_counted_by_errno)
{
	struct rig *g = rig_open_fd(open("/dev/zero", O_RDONLY), 1 << 30, NULL);

	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, BLOCK), 4, 8,
		    (struct bound){ .time_ns = 10000 * MS });
	CHECK_INT(rig_run(g), -EIO);
	CHECK_INT(g->sealed, 1);
	CHECK_INT(rig_ios(g, 0), 0);
	CHECK(g->r[0].errors >= 1 && g->r[0].errors <= 32);
	CHECK_INT(g->r[0].errnos[0].err, EBADF);
	CHECK_INT(g->r[0].errnos[0].n, g->r[0].errors);
	CHECK(strstr(g->err.msg, "EBADF"));
	DO(rig_consistent(g, 0));
	/* The error ended the job, not the engine. */
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 4, 8, (struct bound){ .ios = 500 });
	CHECK_INT(rig_run(g), 0);
	rig_close(g);
}

TEST(a_full_file_system_is_named)
{
	char dir[] = "/tmp/pts-unit-full-XXXXXX", path[64];
	struct access a = rig_access(IO_WRITE, IO_SEQ, 64 << 10);

	if (!mkdtemp(dir) || mount("pts-unit", dir, "tmpfs", 0, "size=4m")) {
		rmdir(dir);
		SKIP("no right to mount a small tmpfs");
	}
	snprintf(path, sizeof path, "%s/f", dir);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	bool made = fd >= 0 && !ftruncate(fd, 64 << 20);
	struct rig *g = rig_open_fd(fd, 64 << 20, NULL);
	a.exact = true;
	rig_segment(g, 0, a, 2, 4, (struct bound){ .bytes = 64 << 20 });
	int rc = rig_run(g);
	struct err err = g->err;
	uint64_t errors = g->r[0].errors + g->r[0].short_ios;
	rig_close(g);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	CHECK(made);
	CHECK_INT(rc, -EIO);
	CHECK(errors >= 1);
	CHECK_MSG(strstr(err.msg, "ENOSPC") || strstr(err.msg, "moved only"), "%s", err.msg);
}

/* ---- hang ---- */

TEST(a_drive_that_hangs_is_given_up)
{
	struct rig *g = pipe_rig();

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 2,
		    (struct bound){ .time_ns = 3600000 * MS });
	g->job.deadline_ns = 200 * MS;
	feed(g, 5);
	CHECK_INT(rig_run(g), -ETIMEDOUT);
	CHECK_INT(g->sealed, 1); /* what was done before is evidence */
	CHECK_INT(rig_ios(g, 0), 5);
	CHECK(g->r[0].partial);
	CHECK(strstr(g->err.msg, "hangs"));
	CHECK_INT(rig_run(g), -ETIMEDOUT); /* never again */
	engine_close(g->e); /* returns, although its threads do not */
	/* The rig stays: abandoned threads still look at it. */
}

TEST(slow_is_not_hung)
{
	struct rig *g = pipe_rig();
	int rc;

	/* Nothing in flight for longer than the deadline is no hang. */
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 1,
		    (struct bound){ .time_ns = 1200 * MS });
	g->seg[0].acc = NULL;
	rig_segment(g, 1, rig_access(IO_READ, IO_RND, BLOCK), 1, 1, (struct bound){ .ios = 3 });
	g->job.deadline_ns = 1000 * MS;
	feed(g, 3);
	rc = rig_run(g);
	CHECK_INT(rc, 0);
	CHECK_INT(rig_ios(g, 1), 3);
	rig_close(g);
	/* Nor is a thread for which a segment has no use. */
	g = rig_open("/dev/zero", 1 << 30);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 4,
		    (struct bound){ .time_ns = 30 * MS });
	rig_segment(g, 1, rig_access(IO_READ, IO_RND, BLOCK), 1, 1,
		    (struct bound){ .time_ns = 1200 * MS });
	g->job.deadline_ns = 1000 * MS;
	CHECK_INT(rig_run(g), 0);
	rig_close(g);
}

/* ---- open loop ---- */

static _Atomic bool feeding;

/* A drive that is always ready, but for 300 ms. */
static void *feeder(void *arg)
{
	struct rig *g = arg;
	uint64_t start = clock_mono_ns();
	bool stalled = false;

	while (atomic_load(&feeding)) {
		if (!stalled && clock_mono_ns() - start > 300 * MS) {
			sleep_ms(300);
			stalled = true;
		}
		if (write(g->peer, block, BLOCK) < 0)
			sleep_ms(1); /* full */
	}
	return NULL;
}

static uint64_t above_ms(const struct hist *h, uint64_t ms)
{
	uint64_t n = 0;

	for (unsigned i = hist_index(ms * MS); i < HIST_BUCKETS; i++)
		n += h->count[i];
	return n;
}

/* U25: a stall of 300 ms at 1000 IOPS delays hundreds of due IOs; a closed loop's view shows the few that were in flight. */
TEST(open_loop_shows_a_stall)
{
	struct rig *g = pipe_rig();
	pthread_t t;

	fcntl(g->peer, F_SETFL, O_NONBLOCK);
	fcntl(g->peer, F_SETPIPE_SZ, 4096);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 2, (struct bound){ .ios = 1200 });
	g->seg[0].rate_iops = 1000;
	atomic_store(&feeding, true);
	CHECK_INT(pthread_create(&t, NULL, feeder, g), 0);
	int rc = rig_run(g);
	atomic_store(&feeding, false);
	pthread_join(t, NULL);
	CHECK_INT(rc, 0);
	CHECK_INT(rig_ios(g, 0), 1200); /* none is skipped */
	DO(rig_consistent(g, 0));
	const struct hist *service = &g->h[0][IO_READ], *response = &g->resp[0];
	CHECK_INT(response->n, service->n);
	CHECK(response->sum > service->sum && response->max >= service->max);
	CHECK(above_ms(response, 100) >= 150);
	CHECK(above_ms(response, 100) > 4 * above_ms(service, 100));
	CHECK(g->r[0].late_max_ns > 1e8);
	rig_close(g);
}

TEST(a_rate_is_kept)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 3, 8, (struct bound){ .ios = 2001 });
	g->seg[0].rate_iops = 5000;
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(rig_ios(g, 0), 2001);
	CHECK_INT(g->resp[0].n, 2001);
	/* Never ahead of its schedule: IO number n is due n * 200 us after the start (3 threads: within a step of each). */
	CHECK(g->r[0].elapsed_ns >= 399 * MS);
	DO(rig_consistent(g, 0));
	/* Closed loop before and after, without a drain between. */
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 8,
		    (struct bound){ .time_ns = 250 * MS });
	rig_segment(g, 1, rig_access(IO_READ, IO_RND, BLOCK), 2, 8,
		    (struct bound){ .time_ns = 250 * MS });
	g->seg[1].rate_iops = 2000;
	rig_segment(g, 2, rig_access(IO_READ, IO_RND, BLOCK), 1, 8,
		    (struct bound){ .time_ns = 250 * MS });
	CHECK_INT(rig_run(g), 0);
	CHECK(rig_ios(g, 1) <= 500 + 8 && rig_ios(g, 1) >= 1);
	CHECK(rig_ios(g, 0) > 0 && rig_ios(g, 2) > 0);
	CHECK_INT(g->resp[0].n, 0);
	CHECK_INT(g->resp[2].n, 0);
	for (unsigned k = 0; k < 3; k++)
		DO(rig_consistent(g, k));
	rig_close(g);
}

TEST_MAIN
