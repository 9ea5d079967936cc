/* SPDX-License-Identifier: MIT */
/* Timed IO: counts, order, conflicts, faults. What depends on a quiet host is not looked at. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/rng.h"
#include "tests/test.h"
#include "workloads/fault.h"
#include "workloads/timed_impl.h"

#define FILE_BYTES (4u << 20)
#define MS 1000000ull
#define IOS_MAX 300000u

static struct err E;

struct rig {
	struct engine_target target[2];
	struct timed_job job;
	struct timed *t;
	struct timed_io *io;
	unsigned n, at;
	int rc;
};

static struct rig R;

static int next(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	struct rig *r = arg;
	unsigned left = r->n - r->at;

	n = left < n ? left : n;
	memcpy(ret, r->io + r->at, n * sizeof *ret);
	r->at += n;
	return (int)n;
}

static int file(void)
{
	char path[] = "/tmp/pts-timed.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || ftruncate(fd, FILE_BYTES))
		return -1;
	unlink(path);
	return fd;
}

static struct timed_io *more(unsigned n)
{
	struct timed_io *at = R.io + R.n;

	R.n += n;
	return at;
}

/* A new file for each target, nothing to do yet. */
static void begin(unsigned targets, const char *fault)
{
	struct timed_io *io = R.io;

	E.msg[0] = 0;
	R = (struct rig){ .io = io ? io : calloc(IOS_MAX, sizeof *io) };
	for (unsigned i = 0; i < targets; i++) {
		R.target[i] = (struct engine_target){ .fd = file(),
						      .capacity_bytes = FILE_BYTES,
						      .lba_bytes = 512,
						      .mem_align = 4096 };
		CHECK(R.target[i].fd >= 0);
	}
	if (fault)
		CHECK_MSG(!fault_open(fault, &R.target[0].fault, &E), "%s", E.msg);
	R.job = (struct timed_job){ .target = R.target,
				    .n_targets = targets,
				    .max_read_bytes = 65536,
				    .max_write_bytes = 65536,
				    .load = next,
				    .arg = &R };
	if (R.target[0].fault)
		R.job.deadline_ns = fault_deadline_ns(R.target[0].fault);
}

static const struct timed_result *play(void)
{
	R.rc = timed_open(&R.job, &R.t, &E);
	if (R.rc)
		return NULL;
	R.rc = timed_run(R.t, &E);
	return timed_result(R.t);
}

static void end(void)
{
	timed_close(R.t);
	for (unsigned i = 0; i < R.job.n_targets; i++) {
		close(R.target[i].fd);
		fault_close(R.target[i].fault);
	}
}

static struct timed_io at_block(uint64_t due_ns, unsigned block, enum timed_op op)
{
	return (struct timed_io){
		.due_ns = due_ns, .off = block * 4096ull, .len = 4096, .op = (uint8_t)op
	};
}

static uint64_t seconds_ios(const struct result *r)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < r->n_seconds; i++)
		n += r->second[i].ios;
	return n;
}

TEST(counts_agree)
{
	const struct timed_result *r;

	DO(begin(1, NULL));
	for (unsigned i = 0; i < 3000; i++)
		*more(1) = at_block(i * 20000ull, i % 1024, i % 3 ? TIMED_READ : TIMED_WRITE);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->issued, 3000);
	CHECK_INT(r->late->n, 3000);
	CHECK_INT(r->all.op[IO_READ].ios, 2000);
	CHECK_INT(r->all.op[IO_WRITE].ios, 1000);
	CHECK_INT(r->all.op[IO_WRITE].bytes, 1000 * 4096);
	CHECK_INT(r->all.prepared, 3000);
	CHECK_INT(r->all.op[IO_READ].service->n, 2000);
	CHECK_INT(r->all.op[IO_READ].response->n, 2000);
	CHECK_INT(seconds_ios(&r->all), 3000);
	CHECK(r->all.op[IO_READ].response->sum >= r->all.op[IO_READ].service->sum);
	CHECK_INT(r->span_asked_ns, 2999 * 20000);
	CHECK(r->span_ns && r->all.elapsed_ns >= r->span_asked_ns);
	CHECK(!r->hung && !r->partial && !r->all.partial && !r->reordered && !r->held);
	end();
}

TEST(targets_have_their_own_rows)
{
	const struct timed_result *r;
	uint64_t ios = 0;
	char a[4096], b[4096];

	DO(begin(2, NULL));
	for (unsigned i = 0; i < 900; i++) {
		struct timed_io *io = more(1);

		*io = at_block(i * 10000ull, i, TIMED_WRITE);
		io->target = i % 3 == 0;
	}
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->all.n_members, 2);
	CHECK_INT(r->all.member[0].result->op[IO_WRITE].ios, 600);
	CHECK_INT(r->all.member[1].result->op[IO_WRITE].ios, 300);
	CHECK_INT(r->all.op[IO_WRITE].service->n, 900);
	CHECK_INT(seconds_ios(&r->all), 900);
	for (unsigned i = 0; i < 2; i++)
		ios += seconds_ios(r->all.member[i].result);
	CHECK_INT(ios, 900);
	/* what went to one is not on the other */
	CHECK(pread(R.target[0].fd, a, 4096, 4096) == 4096);
	CHECK(pread(R.target[1].fd, b, 4096, 4096) == 4096);
	CHECK(memcmp(a, (char[4096]){ 0 }, 4096) && !memcmp(b, (char[4096]){ 0 }, 4096));
	end();
}

static int by_content(const void *a, const void *b)
{
	return memcmp(a, b, 4096);
}

TEST(written_data_never_repeats)
{
	char *all = malloc(FILE_BYTES);

	DO(begin(1, NULL));
	R.job.asap = true;
	for (unsigned i = 0; i < 1024; i++)
		*more(1) = at_block(0, i, TIMED_WRITE);
	play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK(pread(R.target[0].fd, all, FILE_BYTES, 0) == FILE_BYTES);
	qsort(all, 1024, 4096, by_content);
	for (unsigned i = 1; i < 1024; i++)
		CHECK_MSG(memcmp(all + (i - 1) * 4096, all + i * 4096, 4096), "block %u repeats",
			  i);
	free(all);
	end();
}

/* Each IO comes 100 ms late, so that all are in flight together if they may. */
static void same_block(bool order)
{
	DO(begin(1, "late=100ms"));
	R.job.order = order;
	for (unsigned i = 0; i < 8; i++)
		*more(1) = at_block(i * 1000, 5, TIMED_WRITE);
}

TEST(conflicts_are_counted_when_allowed)
{
	const struct timed_result *r;

	DO(same_block(false));
	*more(1) = at_block(9000, 6, TIMED_READ); /* beside them */
	*more(1) = at_block(9000, 6, TIMED_READ); /* reads do not hurt one another */
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->conflicts, 7);
	CHECK_INT(r->held, 0);
	CHECK(r->all.inflight_max > 1);
	end();
}

TEST(conflicts_wait_when_ordered)
{
	const struct timed_result *r;

	DO(same_block(true));
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->issued, 8);
	CHECK_INT(r->conflicts, 7);
	CHECK_INT(r->held, 7);
	CHECK_INT(r->all.inflight_max, 1);
	CHECK(r->late->max >= 7 * 100 * MS); /* the last one waited for all others */
	CHECK_INT(r->reordered, 0);
	end();
}

TEST(others_overtake_those_that_wait)
{
	const struct timed_result *r;

	DO(begin(1, "late=300ms@1"));
	R.job.order = true;
	*more(1) = at_block(0, 1, TIMED_WRITE);
	*more(1) = at_block(1000, 1, TIMED_READ);
	*more(1) = at_block(2000, 2, TIMED_WRITE);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->held, 1);
	CHECK_INT(r->reordered, 1);
	CHECK_INT(r->issued, 3);
	end();
}

TEST(a_full_queue_is_a_counted_stall)
{
	const struct timed_result *r;

	DO(begin(1, "late=20ms"));
	R.job.depth = 4;
	for (unsigned i = 0; i < 40; i++)
		*more(1) = at_block(i * 1000, i, TIMED_READ);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->issued, 40);
	CHECK_INT(r->all.inflight_max, 4);
	CHECK(r->stalls && r->stall_ns >= 20 * MS);
	CHECK(r->all.op[IO_READ].response->max >= 9 * 20 * MS);
	CHECK(r->all.op[IO_READ].service->min >= 20 * MS);
	end();
}

TEST(failures_are_counted_and_the_rest_goes_on)
{
	const struct timed_result *r;

	DO(begin(1, "eio@10,enodata@20,short@30,again@40"));
	for (unsigned i = 0; i < 100; i++)
		*more(1) = at_block(i * 1000, i, TIMED_READ);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->issued, 100);
	CHECK_INT(r->all.errors, 2);
	CHECK_INT(r->all.short_ios, 1);
	CHECK_INT(r->all.op[IO_READ].ios, 97); /* EAGAIN was sent again */
	CHECK_INT(r->all.prepared, 100);
	CHECK(r->all.partial);
	CHECK_INT(r->all.errnos[0].n + r->all.errnos[1].n, 2);
	end();
}

TEST(submissions_refused_come_later)
{
	const struct timed_result *r;

	DO(begin(1, "eagain*3,take3"));
	R.job.asap = true;
	for (unsigned i = 0; i < 500; i++)
		*more(1) = at_block(0, i, TIMED_WRITE);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->all.op[IO_WRITE].ios, 500);
	end();
}

static struct timed *volatile left_behind;

TEST(what_never_comes_is_hung)
{
	const struct timed_result *r;

	DO(begin(1, "never@50,deadline=300ms"));
	for (unsigned i = 0; i < 100; i++)
		*more(1) = at_block(i * 1000, i, TIMED_READ);
	r = play();
	CHECK_INT(R.rc, -ETIMEDOUT);
	left_behind = R.t; /* as the drive still might write into it */
	CHECK_INT(r->hung, 1);
	CHECK_INT(r->all.op[IO_READ].ios, 99);
	CHECK(r->partial);
}

TEST(what_the_kernel_refuses_is_not_issued)
{
	const struct timed_result *r;

	DO(begin(1, "eagain@4+,deadline=200ms"));
	for (unsigned i = 0; i < 200; i++)
		*more(1) = at_block(i * MS, i, TIMED_READ);
	r = play();
	CHECK_INT(R.rc, -ETIMEDOUT);
	CHECK_MSG(strstr(E.msg, "the kernel took no IO"), "%s", E.msg);
	CHECK(r->issued >= 3 && r->issued < 200);
	CHECK_INT(r->late->n, r->issued);
	CHECK_INT(r->all.prepared, r->issued);
	CHECK_INT(r->all.op[IO_READ].ios, r->issued);
	CHECK_INT(r->hung, 0);
	CHECK(r->all.inflight_max <= r->issued && r->partial);
	end();
}

TEST(a_drive_that_is_gone)
{
	const struct timed_result *r;

	DO(begin(1, "gone@100"));
	for (unsigned i = 0; i < 5000; i++)
		*more(1) = at_block(i * 2000, i % 1024, TIMED_READ);
	r = play();
	CHECK_INT(R.rc, -ENODEV);
	CHECK(r->issued < 5000 && r->partial);
	CHECK_INT(r->all.short_ios, 0);
	CHECK_INT(r->all.errors + 99, r->issued);
	CHECK_INT(r->all.errnos[0].err, ENODEV);
	end();
}

static volatile int stop;
static int next_then_stop(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	if (R.at == R.n)
		stop = 1;
	return next(arg, ret, n, err);
}

TEST(a_stop_ends_it_at_once)
{
	const struct timed_result *r;

	DO(begin(1, NULL));
	R.job.stop = &stop;
	R.job.load = next_then_stop;
	for (unsigned i = 0; i < 100; i++)
		*more(1) = at_block(i * 3600000 * MS, i, TIMED_READ); /* an hour each */
	r = play();
	CHECK_INT(R.rc, -EINTR);
	CHECK(r->partial && r->issued < 3);
	end();
}

static int fails(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	return R.at ? err_set(err, -EIO, "no more") : next(arg, ret, n < 100 ? n : 100, err);
}

TEST(a_loader_that_fails)
{
	DO(begin(1, NULL));
	R.job.load = fails;
	for (unsigned i = 0; i < 1000; i++)
		*more(1) = at_block(i * 1000, i, TIMED_READ);
	play();
	CHECK_INT(R.rc, -EIO);
	CHECK_STR(E.msg, "no more");
	end();
}

/* Longer than what is loaded ahead, nothing touched. */
TEST(dry_touches_nothing)
{
	const struct timed_result *r;

	DO(begin(1, NULL));
	close(R.target[0].fd);
	R.target[0].fd = -1;
	R.job.dry = R.job.order = true;
	for (unsigned i = 0; i < IOS_MAX; i++)
		*more(1) = at_block(i * 1000ull, i % 7, i % 2 ? TIMED_READ : TIMED_WRITE);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->issued, IOS_MAX);
	CHECK_INT(r->all.op[IO_WRITE].ios + r->all.op[IO_READ].ios, IOS_MAX);
	CHECK_INT(seconds_ios(&r->all), IOS_MAX);
	CHECK(!r->hung);
	end();
}

/* The rest comes only when all that was loaded ahead is used up. */
static int next_late(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	while (R.at >= QUEUE_IOS && R.at < R.n && R.t->pub_issued < QUEUE_IOS)
		usleep(1000);
	return next(arg, ret, n, err);
}

TEST(a_slow_loader_is_told)
{
	const struct timed_result *r;

	DO(begin(1, NULL));
	R.job.asap = R.job.dry = true;
	R.job.load = next_late;
	R.n = QUEUE_IOS + 500;
	for (unsigned i = 0; i < R.n; i++)
		R.io[i] = at_block(0, i % 1024, TIMED_READ);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->starved, 1);
	CHECK_INT(r->issued, QUEUE_IOS + 500);
	end();
}

TEST(flushes_and_discards)
{
	const struct timed_result *r;
	char b[8192];

	DO(begin(1, NULL));
	*more(1) = at_block(0, 10, TIMED_WRITE);
	*more(1) = at_block(1000, 11, TIMED_WRITE);
	*more(1) = (struct timed_io){ .due_ns = 20 * MS, .op = TIMED_FLUSH };
	*more(1) = at_block(40 * MS, 10, TIMED_DISCARD);
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->flushes, 1);
	if (!r->discards)
		SKIP("no holes in files here");
	CHECK(pread(R.target[0].fd, b, 8192, 10 * 4096) == 8192);
	CHECK(!memcmp(b, (char[4096]){ 0 }, 4096) && memcmp(b + 4096, (char[4096]){ 0 }, 4096));
	end();
}

/* Large and small writes with more in flight than the pool has room for whole ones. */
TEST(large_writes_share_a_pool)
{
	const struct timed_result *r;

	DO(begin(1, "late=5ms*3"));
	R.job.asap = true;
	R.job.max_write_bytes = 4 << 20;
	for (unsigned i = 0; i < 400; i++)
		*more(1) = (struct timed_io){ .len = i % 10 ? 4096 : 4 << 20, .op = TIMED_WRITE };
	r = play();
	CHECK_MSG(!R.rc, "%s", E.msg);
	CHECK_INT(r->all.op[IO_WRITE].ios, 400);
	end();
}

TEST(impossible_jobs_are_refused)
{
	DO(begin(1, NULL));
	R.job.depth = TIMED_DEPTH_MAX + 1;
	play();
	CHECK_INT(R.rc, -EINVAL);
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit was, few;

	getrlimit(RLIMIT_AS, &was);
	few = (struct rlimit){ 1u << 30, was.rlim_max };
	R.job.depth = 0;
	R.job.max_write_bytes = (uint64_t)TIMED_IO_MAX;
	E.msg[0] = 0;
	setrlimit(RLIMIT_AS, &few);
	play();
	setrlimit(RLIMIT_AS, &was);
	CHECK_INT(R.rc, -ENOMEM);
	CHECK_MSG(strstr(E.msg, "need 8594112512 bytes"), "%s", E.msg);
#endif
	close(R.target[0].fd);
}

/* ---- the parts ---- */

#define CLAIMS 64

TEST(write_pool_never_overlaps)
{
	static struct claim claims[CLAIMS];
	struct write_pool p = {
		.base = 1 << 20, .bytes = 1 << 20, .claim = claims, .mask = CLAIMS - 1
	};
	struct {
		uint64_t at, n;
		uint32_t claim;
	} held[CLAIMS];
	unsigned n = 0, full = 0;
	struct rng rng;

	rng_init(&rng, 7);
	for (unsigned turn = 0; turn < 100000; turn++) {
		if (n && (n == CLAIMS || rng_below(&rng, 2))) {
			unsigned k = (unsigned)rng_below(&rng, n);

			pool_free(&p, held[k].claim);
			held[k] = held[--n];
			continue;
		}
		uint64_t bytes = (1 + rng_below(&rng, 20)) * 4096;
		held[n].at = pool_take(&p, bytes, &held[n].claim);
		if (!held[n].at) {
			full++;
			continue;
		}
		held[n].n = bytes;
		CHECK(held[n].at >= p.base && held[n].at + bytes <= p.base + p.bytes);
		for (unsigned k = 0; k < n; k++)
			CHECK(held[n].at + bytes <= held[k].at ||
			      held[k].at + held[k].n <= held[n].at);
		n++;
	}
	while (n)
		pool_free(&p, held[--n].claim);
	CHECK(full && p.head == p.tail && !p.n);
}

static struct timed_io random_io(struct rng *rng)
{
	static const uint64_t len[] = { 512, 4096, 65536, 1 << 20, 4 << 20, 0 };
	struct timed_io io = { .off = rng_below(rng, 1 << 16) * 4096,
			       .len = len[rng_below(rng, 6)],
			       .target = (uint16_t)rng_below(rng, 2) };

	io.op = (uint8_t)(io.len ? rng_below(rng, 3) : TIMED_FLUSH);
	return io;
}

TEST(overlaps_are_found_exactly)
{
	static struct overlap o;
	static struct extent live[64];
	static struct timed_slot slot[64];
	struct timed_slot *in[64];
	unsigned n = 0, found = 0;
	struct rng rng;

	o.live = live;
	for (unsigned i = 0; i < 64; i++)
		in[i] = &slot[i];
	rng_init(&rng, 3);
	for (unsigned turn = 0; turn < 50000; turn++) {
		struct timed_io io = random_io(&rng);
		bool is = false;

		for (unsigned k = 0; k < n; k++)
			is |= io.len && overlap_two(&in[k]->io, &io);
		CHECK_INT(overlap_finds(&o, &io), is);
		found += is;
		if (n && (n == 64 || rng_below(&rng, 100) < 45)) {
			unsigned k = (unsigned)rng_below(&rng, n);

			overlap_remove(&o, in[k]);
			struct timed_slot *s = in[k];
			in[k] = in[--n];
			in[n] = s;
			continue;
		}
		in[n]->io = io;
		overlap_add(&o, in[n++]);
	}
	CHECK(found > 100);
	while (n)
		overlap_remove(&o, in[--n]);
	for (unsigned i = 0; i < GRAIN_SLOTS; i++)
		CHECK_INT(o.grain[i], 0);
	CHECK(!o.wide);
}

TEST_MAIN
