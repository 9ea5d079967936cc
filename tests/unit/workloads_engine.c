/* SPDX-License-Identifier: MIT */
/* The engine doing its work: bounds, accounts, depth, segments, cursors, fills, data. */
#include <sys/stat.h>
#include <zlib.h>

#include "tests/unit/workloads_rig.h"

#define BLOCK 4096u

static struct bound for_ms(uint64_t ms)
{
	return (struct bound){ .time_ns = ms * MS };
}

static struct bound for_ios(uint64_t n)
{
	return (struct bound){ .ios = n };
}

/* The time bound ends the issuing; what is in flight still counts, so that Little's law holds to the last IO. */
TEST(time_bound_and_accounts_agree)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	g->job.interval_ns = 20 * MS;
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 2, 8, for_ms(210));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 1);
	CHECK(g->r[0].elapsed_ns >= 210 * MS);
	CHECK_NEAR((double)g->h[0][IO_READ].sum / (double)g->r[0].elapsed_ns, g->r[0].inflight_avg,
		   1e-3);
	CHECK(rig_ios(g, 0) > 0);
	CHECK_INT(g->stream_ios[0], rig_ios(g, 0));
	CHECK_INT(rig_bytes(g, 0), rig_ios(g, 0) * BLOCK);
	CHECK_INT(g->r[0].n_seconds, (g->r[0].elapsed_ns + 20 * MS - 1) / (20 * MS));
	CHECK_INT(g->r[0].clock_back, 0);
	CHECK(!g->r[0].partial);
	CHECK_INT(g->h[0][IO_READ].max, g->r[0].stream[0].max_ns);
	CHECK(g->h[0][IO_READ].sum == g->r[0].stream[0].sum_ns);
	DO(rig_consistent(g, 0));
	rig_close(g);
}

TEST(ios_bound_is_exact)
{
	static const unsigned threads[] = { 1, 3, 8 };
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	for (unsigned i = 0; i < 3; i++) {
		for (uint64_t n = 1; n < 40000; n = n * 7 + 3) {
			rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), threads[i], 4,
				    for_ios(n));
			CHECK_INT(rig_run(g), 0);
			CHECK_INT(rig_ios(g, 0), n);
			DO(rig_consistent(g, 0));
		}
	}
	rig_close(g);
}

TEST(bytes_bound_is_exact)
{
	struct rig *g = rig_open("/dev/null", 1 << 30);

	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, BLOCK), 3, 5,
		    (struct bound){ .bytes = 777 * BLOCK + 512 });
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(rig_bytes(g, 0), 777 * BLOCK); /* what does not fit whole is left out */
	DO(rig_consistent(g, 0));
	rig_close(g);
}

TEST(depth_times_count_is_little)
{
	static const unsigned depth[] = { 1, 4, 32, 100 };
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	for (unsigned i = 0; i < 4; i++) {
		rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, depth[i], for_ios(100000));
		CHECK_INT(rig_run(g), 0);
		double art = hist_mean(&g->h[0][IO_READ]);
		double iops = 100000 / ((double)g->r[0].elapsed_ns / 1e9);
		CHECK_NEAR(iops * art / 1e9, g->r[0].inflight_avg, 0.02);
		CHECK_INT(g->r[0].inflight_max, depth[i]);
	}
	rig_close(g);
}

/* Threads and depth are not swapped, and what was reached is measured. */
TEST(U16_threads_and_depth)
{
	struct rig *g = rig_file(16 << 20);

	/* Written first: holes are answered without a wait, and a thread that never waits keeps its CPU. */
	rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 1 << 20), 1, 4, for_ios(16));
	CHECK_INT(rig_run(g), 0);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 8, 1, for_ms(400));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->r[0].threads_seen, 8);
	CHECK_INT(g->r[0].inflight_max, 8);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 1, 8, for_ms(250));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->r[0].threads_seen, 1);
	CHECK_INT(g->r[0].inflight_max, 8);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, BLOCK), 3, 1, for_ms(250));
	g->seg[0].oio = 8; /* 3 + 3 + 2 */
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->r[0].inflight_max, 8);
	g->seg[0].oio = 2; /* the third thread has nothing to do */
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->r[0].inflight_max, 2);
	CHECK_INT(g->r[0].threads_seen, 2);
	rig_close(g);
}

TEST(a_mix_is_counted_by_stream)
{
	struct access a = { .name = "mix", .regions = 1, .n_streams = 3 };
	struct rig *g = rig_file(64 << 20);

	a.stream[0] = (struct stream){ 65, 4096, IO_READ, IO_RND, CURSOR_NONE, 0 };
	a.stream[1] = (struct stream){ 25, 8192, IO_WRITE, IO_SEQ, 1, 0 };
	a.stream[2] = (struct stream){ 10, 512, IO_WRITE, IO_RND, CURSOR_NONE, 0 };
	rig_segment(g, 0, a, 4, 4, for_ios(20000));
	CHECK_INT(rig_run(g), 0);
	const struct result *r = &g->r[0];
	CHECK_INT(r->stream[0].ios + r->stream[1].ios + r->stream[2].ios, 20000);
	CHECK_INT(r->op[IO_READ].ios, r->stream[0].ios);
	CHECK_INT(r->op[IO_WRITE].bytes, r->stream[1].ios * 8192 + r->stream[2].ios * 512);
	CHECK(fabs((double)r->stream[0].ios / 200 - 65) < 2);
	CHECK(fabs((double)r->stream[1].ios / 200 - 25) < 2);
	CHECK_INT(atomic_load(&g->cursor[1]) / 8192, r->stream[1].ios);
	CHECK_INT(atomic_load(&g->cursor[0]), 0);
	DO(rig_consistent(g, 0));
	rig_close(g);
}

/* ---- segments ---- */

TEST(segments_follow_without_a_gap)
{
	struct rig *g = rig_file(64 << 20);

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 4, 8, for_ms(200));
	rig_segment(g, 1, rig_access(IO_WRITE, IO_RND, 8192), 1, 2, for_ms(200));
	rig_segment(g, 2, rig_access(IO_READ, IO_RND, 4096), 2, 1, for_ms(200));
	rig_segment(g, 3, rig_access(IO_WRITE, IO_SEQ, 4096), 3, 5, for_ms(200));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 4);
	for (unsigned k = 0; k < 4; k++) {
		if (k < 3)
			CHECK_INT(g->r[k].elapsed_ns, 200 * MS);
		else /* until the last IO is back */
			CHECK(g->r[k].elapsed_ns >= 200 * MS);
		int64_t gap = (int64_t)(g->r[k].start_ns - g->r[0].start_ns) -
			      (int64_t)(k * 200 * MS);
		CHECK(llabs(gap) <= 4); /* rounding of ticks */
		DO(rig_consistent(g, k));
	}
	/* Not drained: what segment 0 had in flight completes, and counts, in segment 1. */
	CHECK(g->r[1].op[IO_READ].ios > 0 && g->r[1].op[IO_READ].ios <= 32);
	CHECK(g->stream_ios[1] == g->r[1].op[IO_WRITE].ios);
	CHECK(g->r[2].op[IO_WRITE].ios <= 2);
	CHECK(rig_ios(g, 0) > 0 && rig_ios(g, 3) > 0);
	rig_close(g);
}

TEST(counted_and_idle_segments_are_clean)
{
	struct rig *g = rig_file(64 << 20);

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 4, 8, for_ms(30));
	rig_segment(g, 1, rig_access(IO_WRITE, IO_SEQ, 4096), 2, 4, for_ios(501));
	rig_segment(g, 2, rig_access(IO_READ, IO_RND, 4096), 1, 1, for_ms(30));
	g->seg[2].acc = NULL; /* idle */
	rig_segment(g, 3, rig_access(IO_READ, IO_RND, 4096), 3, 3, for_ios(99));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 4);
	for (unsigned k = 0; k < 4; k++)
		DO(rig_consistent(g, k));
	CHECK_INT(rig_ios(g, 1), 501);
	CHECK_INT(g->r[1].op[IO_READ].ios, 0);
	CHECK_INT(rig_ios(g, 2), 0);
	CHECK_INT(g->r[2].elapsed_ns, 30 * MS);
	CHECK_INT(rig_ios(g, 3), 99);
	CHECK(g->r[3].start_ns >= g->r[2].start_ns + 30 * MS);
	rig_close(g);
}

TEST(the_caller_may_end_the_job)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	for (unsigned k = 0; k < 5; k++)
		rig_segment(g, k, rig_access(IO_READ, IO_RND, 4096), 2, 2, for_ms(20));
	g->stop_after = 2;
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(g->sealed, 2);
	g->stop_after = 0;
	CHECK_INT(rig_run(g), 0); /* and the next one is whole */
	CHECK_INT(g->sealed, 5);
	rig_close(g);
}

/* ---- cursors, fills, data ---- */

static uint64_t data_bytes(int fd, uint64_t from, uint64_t to)
{
	static char buf[1 << 20] __attribute__((aligned(4096)));
	uint64_t n = 0;

	for (uint64_t at = from; at < to; at += sizeof buf) {
		uint64_t want = to - at < sizeof buf ? to - at : sizeof buf;
		ssize_t got = pread(fd, buf, want, (off_t)at);
		for (ssize_t i = 0; i + 511 < got; i += 512)
			n += memcmp(buf + i, buf + i + 1, 511) ? 512 : 0;
	}
	return n;
}

/* Four threads through one cursor write one run of blocks; the next job goes on where it stopped. */
TEST(seq_goes_on_from_job_to_job)
{
	struct rig *g = rig_file(64 << 20);

	for (uint64_t job = 1; job <= 3; job++) {
		rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 4096), 4, 4, for_ios(1000));
		CHECK_INT(rig_run(g), 0);
		CHECK_INT(atomic_load(&g->cursor[0]), job * 1000 * 4096);
		CHECK_INT(data_bytes(g->fd, 0, job * 1000 * 4096), job * 1000 * 4096);
		CHECK_INT(data_bytes(g->fd, job * 1000 * 4096, 64 << 20), 0);
	}
	rig_close(g);
}

TEST(fill_is_exact)
{
	static const unsigned threads[] = { 1, 4, 7 };
	struct access a = rig_access(IO_WRITE, IO_SEQ, 128 << 10);

	a.exact = true;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t size = (uint64_t)(8 << 20) + 4096 * 3;
		struct rig *g = rig_file(size);
		rig_segment(g, 0, a, threads[i], 4, (struct bound){ .bytes = 2 * size });
		CHECK_INT(rig_run(g), 0);
		CHECK_INT(rig_bytes(g, 0), 2 * size);
		CHECK_INT(rig_ios(g, 0), 2 * 65);
		CHECK_INT(g->r[0].stream[0].bytes, 2 * size);
		CHECK_INT(data_bytes(g->fd, 0, size), size);
		DO(rig_consistent(g, 0));
		rig_close(g);
	}
}

/* As written, at QD1 with one small block after the other, 32 MiB do not compress by 1 %. */
TEST(U28_written_data_does_not_compress)
{
	enum { BYTES = 32 << 20 };
	struct rig *g = rig_file(BYTES);
	char *data = aligned_alloc(4096, BYTES);
	uLongf out = compressBound(BYTES);
	Bytef *packed = malloc(out);

	fcntl(g->fd, F_SETFL, 0); /* through the page cache, for speed */
	rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 4096), 1, 1, for_ios(BYTES / 4096));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(pread(g->fd, data, BYTES, 0), BYTES);
	CHECK_INT(compress2(packed, &out, (const Bytef *)data, BYTES, 1), Z_OK);
	CHECK(out > BYTES / 100 * 99ul);
	free(packed);
	free(data);
	rig_close(g);
}

/* Reads of a fresh drive bring zeros: they must not end up in what is written next. */
TEST(reads_do_not_spoil_write_data)
{
	struct access a = { .name = "mix", .regions = 1, .n_streams = 2 };
	struct rig *g = rig_file(64 << 20);

	a.stream[0] = (struct stream){ 1, 4096, IO_READ, IO_RND, CURSOR_NONE, 0 };
	a.stream[1] = (struct stream){ 1, 4096, IO_WRITE, IO_SEQ, 0, 0 };
	rig_segment(g, 0, a, 2, 8, for_ios(8000));
	CHECK_INT(rig_run(g), 0);
	uint64_t n = g->r[0].op[IO_WRITE].bytes;
	CHECK_INT(data_bytes(g->fd, 0, n), n);
	rig_close(g);
}

/* ---- refusals ---- */

TEST(impossible_jobs_are_refused)
{
	struct rig *g = rig_open("/dev/zero", 1 << 30);

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 1, 1, (struct bound){ 0 });
	CHECK_INT(rig_run(g), -EINVAL);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 0, 1, for_ms(1));
	CHECK_INT(rig_run(g), -EINVAL);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 1, 0, for_ms(1));
	CHECK_INT(rig_run(g), -EINVAL);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 1000), 1, 1, for_ms(1));
	CHECK_INT(rig_run(g), -EINVAL);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 1, 1, for_ms(1));
	g->job.range.bytes = 2ull << 30;
	CHECK_INT(rig_run(g), -EINVAL);
	CHECK_INT(g->sealed, 0);
	rig_close(g);
}

/* Computed before anything is allocated, and said in bytes. */
TEST(U35_memory_need_is_told)
{
	struct rig *g = rig_open("/dev/null", 1 << 30);

	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, 1 << 20), 1000, 10000, for_ms(10));
	CHECK_INT(rig_run(g), -ENOMEM);
	CHECK_MSG(strstr(g->err.msg, "10485760000000 bytes"), "%s", g->err.msg);
	CHECK_INT(g->sealed, 0);
	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, 4096), 2, 2, for_ios(100));
	CHECK_INT(rig_run(g), 0);
	CHECK_INT(rig_ios(g, 0), 100);
	rig_close(g);
}

/* ---- percentiles against raw latencies ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(percentiles_equal_those_of_raw_latencies)
{
	enum { N = 200000 };
	static const uint32_t ppm[] = { P50, 900000, P99, P999, P9999 };
	char path[] = "/tmp/pts-unit-dump-XXXXXX";
	close(mkstemp(path));
	unlink(path);
	struct rig *g = rig_open_fd(open("/dev/zero", O_RDWR), 1 << 30, path);
	uint64_t *raw = malloc(N * sizeof *raw), v;
	unsigned n = 0;
	char line[64];

	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 2, 16, for_ios(N));
	CHECK_INT(rig_run(g), 0);
	FILE *f = fopen(path, "r");
	while (n < N && fgets(line, sizeof line, f))
		raw[n++] = strtoull(line, NULL, 10);
	CHECK_INT(n, N);
	CHECK(!fgets(line, sizeof line, f));
	fclose(f);
	unlink(path);
	qsort(raw, N, sizeof *raw, compare);
	const struct hist *h = &g->h[0][IO_READ];
	unsigned __int128 sum = 0;
	for (unsigned i = 0; i < N; i++)
		sum += raw[i];
	CHECK(h->sum == sum);
	CHECK_INT(h->min, raw[0]);
	CHECK_INT(h->max, raw[N - 1]);
	for (unsigned i = 0; i < 5; i++) {
		CHECK(hist_percentile(h, ppm[i], &v));
		uint64_t want = raw[((uint64_t)ppm[i] * N + 999999) / 1000000 - 1];
		CHECK_MSG(fabs((double)v / (double)want - 1) <= 0.004, "%u ppm: %llu, raw %llu",
			  ppm[i], (unsigned long long)v, (unsigned long long)want);
	}
	/* Every single bucket holds what the raw latencies say: none is counted beside its bucket. */
	for (unsigned i = 0; i < N; i++)
		CHECK(h->count[hist_index(raw[i])] > 0);
	free(raw);
	rig_close(g);
}

TEST_MAIN
