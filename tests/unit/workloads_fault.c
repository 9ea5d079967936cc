/* SPDX-License-Identifier: MIT */
/* Faults between kernel and engine: the language, and what the engine makes of each. */
#include <time.h>

#include "tests/unit/workloads_rig.h"
#include "workloads/fault.h"
#include "workloads/ring.h"

#define SIZE (8ull << 20)

/* As rig_file(), with faults. */
static struct rig *rig_faulty(const char *spec, struct fault **ret)
{
	struct rig *g = rig_file(SIZE);
	struct engine_target t = {
		.fd = g->fd, .capacity_bytes = SIZE, .lba_bytes = 512, .mem_align = 4096
	};

	engine_close(g->e);
	if (fault_open(spec, &t.fault, &g->err) || engine_open(&t, &g->e, &g->err)) {
		printf("# %s\n", g->err.msg);
		abort();
	}
	*ret = t.fault;
	return g;
}

static int run_reads(struct rig *g, unsigned threads, unsigned qd, struct bound stop)
{
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), threads, qd, stop);
	return rig_run(g);
}

TEST(words)
{
	static const char *const good[] = {
		"eio@1",    "eio",	   "ENODATA@3+", "eremoteio*7",	  "short=512@2",
		"short@1",  "zero",	   "late=1ms",	 "late=200ms@30", "never@500",
		"gone@300", "take3",	   "eagain*10",	 "ebusy@2+",	  "eintr",
		"again*2",  "deadline=2s", "take1@3",	 "eio@1,zero@2"
	};
	static const char *const poor[] = { "",	     "eio@",   "eio@0",	 "eio@x",    "eio@1-",
					    "eio*0", "take",   "take0",	 "late",     "late=@3",
					    "efoo",  "eio@1,", "short=", "deadline", "deadline=0s",
					    "@3",    "eio@+",  "*2",	 "eio@3*2" };
	struct fault *f;

	for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
		struct err err = { "" };
		CHECK_INT(fault_open(good[i], &f, &err), 0);
		CHECK(!fault_gone(f));
		fault_close(f);
	}
	for (unsigned i = 0; i < sizeof poor / sizeof *poor; i++) {
		struct err err = { "" };
		CHECK_INT(fault_open(poor[i], &f, &err), -EINVAL);
		CHECK(strstr(err.msg, "fault '"));
	}
	CHECK(!fault_gone(NULL));
}

TEST(deadline)
{
	struct err err = { "" };
	struct fault *f;

	CHECK_INT(fault_open("eio@1,deadline=1500ms", &f, &err), 0);
	CHECK_INT(fault_deadline_ns(f), 1500 * MS);
	fault_close(f);
	CHECK_INT(fault_open("eio@1", &f, &err), 0);
	CHECK_INT(fault_deadline_ns(f), 0);
	fault_close(f);
}

/* Fewer taken than offered, none taken, to be sent again: prepared = ok + short + error, and nothing is lost. */
TEST(U33_submissions_that_take_few_or_none)
{
	static const char *const spec[] = { "take3,eagain*10",
					    "take1",
					    "eagain*2",
					    "eintr*3",
					    "ebusy@1",
					    "again*5",
					    "again@1,again*3,take2,ebusy*3" };

	for (unsigned i = 0; i < sizeof spec / sizeof *spec; i++) {
		struct fault *f;
		struct rig *g = rig_faulty(spec[i], &f);
		CHECK_INT(run_reads(g, 2, 16, (struct bound){ .ios = 3000 }), 0);
		CHECK_INT(rig_ios(g, 0), 3000);
		CHECK_INT(g->r[0].errors + g->r[0].short_ios, 0);
		CHECK(!g->r[0].partial);
		CHECK(g->r[0].inflight_max <= 32);
		rig_consistent(g, 0);
		rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 65536), 1, 8,
			    (struct bound){ .bytes = SIZE });
		g->acc[0].exact = true;
		CHECK_INT(rig_run(g), 0);
		CHECK_INT(rig_bytes(g, 0), SIZE);
		rig_consistent(g, 0);
		rig_close(g);
	}
}

/* An error at each of the first IOs and around the last one: counted exactly once, the rest closed. */
TEST(nth)
{
	for (unsigned n = 1; n <= 210; n += n < 24 || n > 190 ? 1 : 17) {
		struct fault *f;
		char spec[32];
		snprintf(spec, sizeof spec, n & 1 ? "enodata@%u" : "short@%u", n);
		struct rig *g = rig_faulty(spec, &f);
		int rc = run_reads(g, 2, 4, (struct bound){ .ios = 200 });
		CHECK_INT(rc, n <= 200 ? -EIO : 0);
		CHECK_INT(g->sealed, 1);
		CHECK_INT(g->r[0].errors, n <= 200 && n & 1);
		CHECK_INT(g->r[0].short_ios, n <= 200 && !(n & 1));
		CHECK_INT(g->r[0].errnos[0].err, n <= 200 && n & 1 ? ENODATA : 0);
		CHECK_INT(g->r[0].partial, n <= 200);
		CHECK(g->r[0].prepared >= (n < 200 ? n : 200) && g->r[0].prepared <= 200);
		rig_consistent(g, 0);
		/* It came once: the engine is as good as new. */
		rc = run_reads(g, 2, 4, (struct bound){ .ios = 50 });
		CHECK_INT(rc, n <= 200 ? 0 : -EIO);
		CHECK(rc || rig_ios(g, 0) == 50);
		rig_consistent(g, 0);
		rig_close(g);
	}
}

TEST(from_then_on)
{
	struct fault *f;
	struct rig *g = rig_faulty("eio@100+", &f);

	CHECK_INT(run_reads(g, 1, 4, (struct bound){ .ios = 99 }), 0);
	CHECK_INT(run_reads(g, 1, 4, (struct bound){ .ios = 99 }), -EIO);
	CHECK_INT(rig_ios(g, 0), 0);
	CHECK_INT(g->r[0].errors, 4); /* what was in flight with it */
	CHECK_INT(g->r[0].errnos[0].n, 4);
	rig_consistent(g, 0);
	CHECK(strstr(g->err.msg, "(EIO)"));
	rig_close(g);
}

TEST(gone)
{
	struct fault *f;
	struct rig *g = rig_faulty("gone@50", &f);

	CHECK_INT(run_reads(g, 1, 1, (struct bound){ .ios = 99 }), -ENODEV);
	CHECK(fault_gone(f));
	CHECK(strstr(g->err.msg, "the drive is gone"));
	CHECK_INT(rig_ios(g, 0), 49);
	CHECK_INT(g->r[0].short_ios, 1);
	rig_consistent(g, 0);
	CHECK_INT(run_reads(g, 1, 1, (struct bound){ .ios = 99 }), -ENODEV);
	rig_close(g);
}

/* The slowest IO of a cell is never the one that is lost, in flight at its end or not. */
TEST(late)
{
	struct fault *f;
	struct rig *g = rig_faulty("late=80ms@3", &f);

	CHECK_INT(run_reads(g, 1, 1, (struct bound){ .time_ns = 1 * MS }), 0);
	bool here = g->h[0][IO_READ].max >= 80 * MS;
	if (rig_ios(g, 0) >= 3) {
		CHECK(here);
		CHECK(g->r[0].elapsed_ns >= g->h[0][IO_READ].max);
	}
	CHECK(!g->r[0].partial);
	rig_consistent(g, 0);
	CHECK_INT(run_reads(g, 1, 4, (struct bound){ .ios = 8 }), 0);
	CHECK(here || g->h[0][IO_READ].max >= 80 * MS);
	CHECK_INT(rig_ios(g, 0), 8);
	rig_consistent(g, 0);
	rig_close(g);
}

/* Held back in a segment, it completes and counts in a later one of the same job. */
TEST(late_without_a_gap)
{
	struct fault *f;
	struct rig *g = rig_faulty("late=60ms@1", &f);
	uint64_t ios = 0, slow = 0;

	for (unsigned k = 0; k < 4; k++)
		rig_segment(g, k, rig_access(IO_READ, IO_RND, 4096), 1, 2,
			    (struct bound){ .time_ns = 25 * MS });
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 4);
	for (unsigned k = 0; k < 4; k++) {
		rig_consistent(g, k);
		ios += rig_ios(g, k);
		slow += g->h[k][IO_READ].max >= 60 * MS;
	}
	CHECK(ios > 4);
	CHECK(slow > 0);
	CHECK(g->h[0][IO_READ].max < 60 * MS);
	rig_close(g);
}

/*
 * The PTS knows no time to settle within a cell. Where a definition wants one it is a step of its own, and whatever happens in
 * it, even at its end and without a gap, is in no number of the next.
 */
TEST(U17_what_settles_before_is_not_measured)
{
	struct fault *f;
	struct rig *g = rig_faulty("late=300ms@1,late=300ms@2", &f);

	for (unsigned k = 0; k < 2; k++)
		rig_segment(g, k, rig_access(IO_READ, IO_RND, 4096), 1, 1,
			    (struct bound){ .time_ns = k ? 100 * MS : 700 * MS });
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 2);
	for (unsigned k = 0; k < 2; k++) {
		uint64_t slow = 0;

		for (unsigned i = hist_index(300 * MS); i < HIST_BUCKETS; i++)
			slow += g->h[k][IO_READ].count[i];
		CHECK_INT(slow, k ? 0 : 2);
		CHECK(rig_ios(g, k) > 2);
		DO(rig_consistent(g, k));
	}
	CHECK(g->h[0][IO_READ].max >= 300 * MS && g->h[1][IO_READ].max < 300 * MS);
	rig_close(g);
}

/* Bounded by IOs, by time with the only IO lost, and by time while another worker goes on. */
TEST(never)
{
	static const struct {
		unsigned threads, qd;
		struct bound stop;
	} cell[] = { { 1, 4, { .ios = 100 } },
		     { 1, 1, { .time_ns = 20 * MS } },
		     { 2, 2, { .time_ns = 20 * MS } } };

	for (unsigned i = 0; i < sizeof cell / sizeof *cell; i++) {
		struct fault *f;
		struct rig *g = rig_faulty("never@7", &f);
		g->job.deadline_ns = 200 * MS;
		CHECK_INT(run_reads(g, cell[i].threads, cell[i].qd, cell[i].stop), -ETIMEDOUT);
		CHECK(strstr(g->err.msg, "hangs"));
		CHECK_INT(g->sealed, 1);
		CHECK(g->r[0].partial);
		CHECK_INT(g->r[0].errors + g->r[0].short_ios, 0);
		rig_consistent(g, 0);
		CHECK_INT(run_reads(g, 1, 1, cell[0].stop), -ETIMEDOUT);
		CHECK_INT(g->sealed, 0);
		/* Its threads never come back, and the job that they looked at may be gone. */
		memset(g->seg, 0xff, sizeof g->seg);
		if (g->path[0])
			unlink(g->path);
	}
}

/* The only IO of a cell does not come, and the next cell of the job would follow without a gap: this one is no result. */
TEST(never_before_a_seam)
{
	for (unsigned n = 1; n <= 4; n++) {
		struct fault *f;
		char spec[32];
		snprintf(spec, sizeof spec, "never@%u,late=1ms", n);
		struct rig *g = rig_faulty(spec, &f);
		g->job.deadline_ns = 200 * MS;
		for (unsigned k = 0; k < 3; k++)
			rig_segment(g, k, rig_access(IO_READ, IO_RND, 4096), 1, 1,
				    (struct bound){ .time_ns = 20 * MS });
		CHECK_INT(rig_run(g), -ETIMEDOUT);
		CHECK_INT(g->sealed, 1);
		CHECK(g->r[0].partial);
		CHECK_INT(rig_ios(g, 0), n - 1);
		rig_consistent(g, 0);
		memset(g->seg, 0xff, sizeof g->seg);
		unlink(g->path);
	}
}

static struct rig *write_with(const char *spec, unsigned threads, unsigned qd, int *ret_rc)
{
	struct fault *f;
	struct rig *g = rig_faulty(spec, &f);

	g->job.deadline_ns = 1000 * MS;
	for (unsigned k = 0; k < 2; k++)
		rig_segment(g, k, rig_access(IO_WRITE, IO_RND, 4096), threads, qd,
			    (struct bound){ .time_ns = 3600000 * MS });
	*ret_rc = rig_run(g);
	return g;
}

/*
 * What is in flight when an IO fails has been written all the same: it is waited for and counts. The last of the first eight fails,
 * so that all threads of a busy host are at work by then.
 */
TEST(in_flight_at_an_error)
{
	static const struct {
		unsigned threads, qd;
	} cell[] = { { 1, 8 }, { 2, 4 }, { 8, 1 } };
	int rc;

	for (unsigned i = 0; i < sizeof cell / sizeof *cell; i++) {
		struct rig *g = write_with("eio@8,late=400ms", cell[i].threads, cell[i].qd, &rc);
		CHECK_INT(rc, -EIO);
		CHECK_INT(g->sealed, 1);
		CHECK_INT(g->r[0].prepared, 8);
		CHECK_INT(g->r[0].errors, 1);
		CHECK_INT(g->r[0].op[IO_WRITE].bytes, 7 * 4096);
		CHECK(g->r[0].partial);
		CHECK(g->h[0][IO_WRITE].min >= 400 * MS && g->r[0].elapsed_ns >= 400 * MS);
		rig_consistent(g, 0);
		rig_close(g);
	}
}

/* Those that fail as well count by their errno; those to be sent again are. */
TEST(in_flight_at_an_error_and_no_better)
{
	int rc;
	struct rig *g = write_with("eio@5,enodata@6,again@7,short@8,late=50ms", 1, 8, &rc);

	CHECK_INT(rc, -EIO);
	CHECK(strstr(g->err.msg, "(EIO)"));
	CHECK_INT(g->r[0].prepared, 8);
	CHECK_INT(g->r[0].errors, 2);
	CHECK_INT(g->r[0].short_ios, 1);
	CHECK_INT(rig_ios(g, 0), 5);
	CHECK(g->r[0].errnos[0].n == 1 && g->r[0].errnos[1].n == 1);
	rig_consistent(g, 0);
	rig_close(g);
}

/* The deadline holds there, too. */
TEST(in_flight_at_an_error_and_never_back)
{
	int rc;
	struct rig *g = write_with("eio@5,never@6,late=50ms", 2, 4, &rc);

	CHECK_INT(rc, -ETIMEDOUT);
	CHECK_INT(g->sealed, 1);
	CHECK(g->r[0].partial);
	CHECK_INT(g->r[0].prepared, 7);
	CHECK_INT(g->r[0].errors, 1);
	rig_consistent(g, 0);
	memset(g->seg, 0xff, sizeof g->seg);
	unlink(g->path);
}

/* A user who wants to stop waits a second for it. */
TEST(in_flight_at_a_stop)
{
	static const char *const spec[] = { "late=300ms", "late=1500ms" };

	for (unsigned i = 0; i < 2; i++) {
		struct fault *f;
		struct rig *g = rig_faulty(spec[i], &f);
		volatile int stop = 1;
		g->job.stop = &stop;
		CHECK_INT(run_reads(g, 2, 4, (struct bound){ .time_ns = 3600000 * MS }), -EINTR);
		CHECK_INT(rig_ios(g, 0), i ? 0 : 8);
		CHECK(g->r[0].partial);
		rig_consistent(g, 0);
		rig_close(g);
	}
}

/* Given up, and then the IO comes after all: the threads find their way home with the caller's job gone. */
TEST(back_too_late)
{
	struct fault *f;
	struct rig *g = rig_faulty("late=500ms@7", &f);
	struct timespec ts = { 0, 700 * MS };

	g->job.deadline_ns = 100 * MS;
	CHECK_INT(run_reads(g, 2, 1, (struct bound){ .time_ns = 20 * MS }), -ETIMEDOUT);
	CHECK(g->r[0].partial);
	rig_consistent(g, 0);
	memset(g->seg, 0xff, sizeof g->seg);
	memset(&g->job, 0xff, sizeof g->job);
	nanosleep(&ts, NULL);
	engine_close(g->e); /* leaves them alone */
	unlink(g->path);
}

/* Without faults no ring carries anything of this. */
TEST(off)
{
	struct rig *g = rig_file(SIZE);
	struct ring_conf c = { .fd = g->fd, .entries = 4, .least_entries = 4 };
	struct ring r;

	CHECK_INT(ring_open(&r, &c, &g->err), 0);
	CHECK(!r.fault);
	ring_close(&r);
	rig_close(g);
}

TEST_MAIN
