/* SPDX-License-Identifier: MIT */
/* The synthetic source: uniformity, mixes, cursors, regions, segments, exact fills. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "tests/test.h"
#include "workloads/gen.h"

#define TIB ((uint64_t)1 << 40)

static _Atomic uint64_t cursor[4];

static struct access one(uint8_t op, uint8_t order, uint32_t bytes)
{
	struct access a = { .name = "test", .n_streams = 1, .regions = 1 };

	a.stream[0] = (struct stream){ .share = 1,
				       .bytes = bytes,
				       .op = op,
				       .order = order,
				       .cursor = order == IO_SEQ ? 0 : CURSOR_NONE };
	return a;
}

static int init(struct gen *g, const struct access *a, const struct active_range *r, uint64_t seed,
		unsigned thread)
{
	struct err err = { "" };
	struct gen_conf c = { a, r, 512, cursor, 4, seed, thread };

	return gen_init(g, &c, &err);
}

static void draw(struct gen *g, struct io *io)
{
	if (source_next(&g->src, io) != 1)
		abort();
}

TEST(U18_uniform_over_16_tib)
{
	struct access a = one(IO_READ, IO_RND, 4096);
	struct active_range r = { .bytes = 16 * TIB };
	unsigned count[64] = { 0 };
	uint64_t max = 0;
	double chi2 = 0;
	struct gen g;
	struct io io;

	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	for (int i = 0; i < 1000000; i++) {
		draw(&g, &io);
		CHECK(io.off % 4096 == 0 && io.off + io.len <= r.bytes);
		count[io.off / (r.bytes / 64)]++;
		max = io.off > max ? io.off : max;
	}
	for (int i = 0; i < 64; i++)
		chi2 += (count[i] - 15625.0) * (count[i] - 15625.0) / 15625.0;
	CHECK_MSG(chi2 < 103.4, "chi-square %.1f of 63 degrees of freedom: p < 0.001", chi2);
	CHECK(max > r.bytes / 1000 * 999);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rusage use; /* no map of what was drawn */
	CHECK(!getrusage(RUSAGE_SELF, &use) && use.ru_maxrss < 64 << 10);
#endif
}

/* The last place of a range that is no multiple of the block is used, none beyond it. */
TEST(every_place_of_a_small_range)
{
	struct access a = one(IO_READ, IO_RND, 4096);
	struct active_range r = { .bytes = 10 * 4096 + 512 };
	unsigned count[10] = { 0 };
	struct gen g;
	struct io io;

	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	for (int i = 0; i < 10000; i++) {
		draw(&g, &io);
		count[io.off / 4096]++;
	}
	for (int i = 0; i < 10; i++)
		CHECK(count[i] > 800 && count[i] < 1200);
	a.align = 512; /* 4 KiB IOs at any LBA */
	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	CHECK_INT(g.stream[0].n, 10 * 8 + 1 - 7);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(U18_no_two_threads_share_offsets)
{
	struct access a = one(IO_READ, IO_RND, 4096);
	struct active_range r = { .bytes = 16 * TIB };
	static uint64_t off[64 * 100];
	struct gen g;
	struct io io;

	for (unsigned t = 0; t < 64; t++) {
		CHECK_INT(init(&g, &a, &r, 7, t), 0);
		for (int i = 0; i < 100; i++) {
			draw(&g, &io);
			off[t * 100 + i] = io.off;
		}
	}
	qsort(off, 6400, sizeof off[0], compare);
	for (int i = 1; i < 6400; i++)
		CHECK(off[i] != off[i - 1]);
	/* Another seed, other offsets; the same seed, the same. */
	CHECK_INT(init(&g, &a, &r, 8, 63), 0);
	draw(&g, &io);
	CHECK(!bsearch(&io.off, off, 6400, sizeof off[0], compare));
	CHECK_INT(init(&g, &a, &r, 7, 63), 0);
	draw(&g, &io);
	CHECK(bsearch(&io.off, off, 6400, sizeof off[0], compare));
}

TEST(mix_by_share_of_the_io_count)
{
	struct active_range r = { .bytes = TIB };
	struct access a = { .name = "mix", .regions = 1, .n_streams = 9 };
	static const double share[9] = { 30, 20, 15, 10, 8, 7, 5, 4, 1 };
	unsigned count[9] = { 0 }, reads = 0;
	struct gen g;
	struct io io;

	for (unsigned i = 0; i < 9; i++)
		a.stream[i] = (struct stream){ share[i], 512u << i, i > 2, IO_RND, CURSOR_NONE, 0 };
	CHECK_NEAR(access_read_pct(&a), 65, 1e-12);
	CHECK_INT(init(&g, &a, &r, 3, 0), 0);
	for (int i = 0; i < 1000000; i++) {
		draw(&g, &io);
		CHECK(io.stream < 9 && io.len == 512u << io.stream && io.op == (io.stream > 2));
		count[io.stream]++;
		reads += io.op == IO_READ;
	}
	CHECK(fabs(reads / 1e4 - 65) < 0.5);
	for (unsigned i = 0; i < 9; i++)
		CHECK_MSG(fabs(count[i] / 1e4 - share[i]) < 0.2, "stream %u: %.2f %%", i,
			  count[i] / 1e4);
}

TEST(zones)
{
	struct active_range r = { .bytes = TIB };
	struct access a = one(IO_WRITE, IO_RND, 4096);
	unsigned in[4] = { 0 };
	struct gen g;
	struct io io;

	a.n_zones = 3; /* 20 % are left to the whole range */
	a.zone[0] = (struct zone){ 0, 0.05, 0.4 };
	a.zone[1] = (struct zone){ 0.05, 0.2, 0.3 };
	a.zone[2] = (struct zone){ 0.5, 1, 0.1 };
	CHECK_INT(init(&g, &a, &r, 5, 0), 0);
	for (int i = 0; i < 200000; i++) {
		draw(&g, &io);
		double at = (double)io.off / (double)r.bytes;
		in[at < 0.05 ? 0 : at < 0.2 ? 1 : at < 0.5 ? 2 : 3]++;
	}
	CHECK_NEAR(in[0], 200000 * (0.4 + 0.2 * 0.05), 0.02);
	CHECK_NEAR(in[1], 200000 * (0.3 + 0.2 * 0.15), 0.02);
	CHECK_NEAR(in[2], 200000 * (0.2 * 0.3), 0.04);
	CHECK_NEAR(in[3], 200000 * (0.1 + 0.2 * 0.5), 0.02);
}

/* Spec 3.5: no two touch, first in the first part, last in the last, same seed same places. */
TEST(segments_of_a_range)
{
	for (unsigned n = 1; n < 200; n += 13) {
		struct active_range r = { .bytes = (uint64_t)1000 << 30,
					  .n_seg = n,
					  .seg_bytes = ((uint64_t)400 << 30) / n / 4096 * 4096,
					  .seed = n };
		uint64_t end = 0;
		for (unsigned i = 0; i < n; i++) {
			uint64_t at = range_segment_offset(&r, i, 512);
			CHECK(at % 4096 == 0);
			CHECK(!i || at >= end + 512);
			CHECK_INT(at, range_segment_offset(&r, i, 512));
			end = at + r.seg_bytes;
			CHECK(end <= r.bytes);
			CHECK(i || at < r.bytes / n);
			CHECK(i < n - 1 || at + n >= r.bytes / n * (n - 1));
		}
	}
}

static bool in_segment(const struct active_range *r, const struct io *io)
{
	for (unsigned i = 0; i < r->n_seg; i++) {
		uint64_t at = range_segment_offset(r, i, 512);
		if (io->off >= at && io->off + io->len <= at + r->seg_bytes)
			return true;
	}
	return false;
}

TEST(io_stays_in_segments)
{
	struct active_range r = { .bytes = 1 << 30, .n_seg = 16, .seg_bytes = 1 << 20, .seed = 9 };
	struct access rnd = one(IO_READ, IO_RND, 8192), seq = one(IO_READ, IO_SEQ, 65536);
	uint64_t last = 0, passes = 0;
	struct gen g;
	struct io io;

	CHECK_INT(init(&g, &rnd, &r, 1, 0), 0);
	for (int i = 0; i < 5000; i++) {
		draw(&g, &io);
		CHECK(in_segment(&r, &io));
	}
	atomic_store(&cursor[0], 0);
	CHECK_INT(init(&g, &seq, &r, 1, 0), 0);
	for (int i = 0; i < 16 * 16 * 3; i++) { /* three times through, in address order */
		draw(&g, &io);
		CHECK(in_segment(&r, &io));
		passes += io.off <= last;
		last = io.off;
	}
	CHECK_INT(passes, 2);
}

/* ---- SEQ ---- */

struct runner {
	pthread_t thread;
	struct gen g;
	struct gen_budget *budget;
	uint64_t *off;
	uint32_t *len;
	unsigned n, cap;
};

static void *run_seq(void *arg)
{
	struct runner *r = arg;
	struct io io;

	for (r->n = 0; r->n < r->cap; r->n++) {
		draw(&r->g, &io);
		r->off[r->n] = io.off;
	}
	return NULL;
}

static void *run_exact(void *arg)
{
	struct runner *r = arg;
	struct gen_io io;

	for (r->n = 0; r->n < r->cap && gen_next_budget(&r->g, r->budget, &io); r->n++) {
		r->off[r->n] = io.off;
		r->len[r->n] = io.len;
	}
	return NULL;
}

static void run_all(struct runner *r, unsigned n, void *(*fn)(void *))
{
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&r[i].thread, NULL, fn, &r[i]))
			abort();
	for (unsigned i = 0; i < n; i++)
		pthread_join(r[i].thread, NULL);
}

/* Four threads draw through one cursor: together they see each block once, in two jobs that follow. */
TEST(seq_is_one_stream_across_threads)
{
	enum { N = 5000 };
	struct access a = one(IO_WRITE, IO_SEQ, 4096);
	struct active_range r = { .bytes = (uint64_t)4096 * 4 * N * 2 };
	static struct runner run[4];
	static uint64_t off[4][N], all[4 * N];

	atomic_store(&cursor[0], 0);
	for (unsigned job = 0; job < 2; job++) {
		for (unsigned t = 0; t < 4; t++) {
			CHECK_INT(init(&run[t].g, &a, &r, 1, t), 0);
			run[t].off = off[t];
			run[t].cap = N;
		}
		run_all(run, 4, run_seq);
		memcpy(all, off, sizeof all);
		for (unsigned t = 0; t < 4; t++) /* each thread's own order is rising */
			for (unsigned i = 1; i < N; i++)
				CHECK(off[t][i] > off[t][i - 1]);
		qsort(all, 4 * N, sizeof all[0], compare);
		for (unsigned i = 0; i < 4 * N; i++)
			CHECK_INT(all[i], 4096 * ((uint64_t)job * 4 * N + i));
	}
}

TEST(seq_wraps_before_a_short_tail_and_keeps_to_its_region)
{
	struct access a = one(IO_READ, IO_SEQ, 4096);
	struct active_range r = { .bytes = 4096 * 10 + 512 };
	struct gen_budget b = { .max_ios = 0 };
	struct gen g;
	struct io io;

	atomic_store(&cursor[0], 512); /* left over from cells of 512 bytes: aligned first */
	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	gen_begin(&g, &b);
	for (unsigned i = 1; i < 35; i++) {
		draw(&g, &io);
		CHECK_INT(io.off, i % 10 * 4096);
	}
	a.regions = 3;
	a.stream[0].region = 2;
	r.bytes = 4096 * 31;
	atomic_store(&cursor[0], 0);
	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	for (unsigned i = 0; i < 25; i++) {
		draw(&g, &io);
		CHECK_INT(io.off, (20 + i % 10) * 4096);
	}
}

/* FILL: every LBA exactly twice, in IOs that never overlap, for any number of threads and odd sizes. */
static void fill_twice(unsigned threads, uint64_t lbas, uint32_t block_lbas, uint64_t start,
		       unsigned n_seg)
{
	struct access a = one(IO_WRITE, IO_SEQ, block_lbas * 512);
	struct active_range r = { .bytes = lbas * 512 };
	struct gen_budget b = { .max_bytes = lbas * 512 * 2 };
	struct runner *run = calloc(threads, sizeof *run);
	unsigned char *seen = calloc(1, lbas);
	unsigned cap = (unsigned)(lbas * 2 / block_lbas + 8 + 2 * n_seg);

	a.exact = true;
	if (n_seg) {
		r = (struct active_range){ lbas * 512 * 3, n_seg, lbas / n_seg * 512, 1 };
		seen = realloc(seen, lbas * 3);
		memset(seen, 0, lbas * 3);
	}
	atomic_store(&cursor[0], start * 512);
	for (unsigned t = 0; t < threads; t++) {
		if (init(&run[t].g, &a, &r, 1, t))
			abort();
		run[t].budget = &b;
		run[t].cap = cap;
		run[t].off = calloc(cap, sizeof(uint64_t));
		run[t].len = calloc(cap, sizeof(uint32_t));
	}
	gen_begin(&run[0].g, &b);
	run_all(run, threads, run_exact);
	gen_end(&run[0].g, &b);
	uint64_t bytes = 0;
	for (unsigned t = 0; t < threads; t++) {
		for (unsigned i = 0; i < run[t].n; i++) {
			bytes += run[t].len[i];
			for (uint64_t k = 0; k < run[t].len[i] / 512; k++)
				seen[run[t].off[i] / 512 + k]++;
		}
		free(run[t].off);
		free(run[t].len);
	}
	uint64_t twice = 0, wrong = 0;
	for (uint64_t i = 0; i < (n_seg ? lbas * 3 : lbas); i++) {
		twice += seen[i] == 2;
		wrong += seen[i] != 2 && seen[i] != 0;
	}
	free(seen);
	free(run);
	CHECK_INT(bytes, lbas * 512 * 2);
	CHECK_INT(twice, lbas);
	CHECK_INT(wrong, 0);
	CHECK_INT(atomic_load(&cursor[0]), start * 512);
}

TEST(fill_writes_every_lba_exactly_twice)
{
	static const unsigned threads[] = { 1, 4, 7 };

	for (unsigned i = 0; i < 3; i++) {
		DO(fill_twice(threads[i], 65536, 256, 0, 0));
		DO(fill_twice(threads[i], 65537, 256, 0, 0)); /* a last IO of one LBA */
		DO(fill_twice(threads[i], 65431, 255, 0, 0));
		DO(fill_twice(threads[i], 100, 256, 0, 0)); /* smaller than a block */
		DO(fill_twice(threads[i], 65537, 256, 777, 0)); /* from where it stopped */
		DO(fill_twice(threads[i], 65536, 100, 0, 8)); /* through segments */
	}
}

/* Byte budgets of other accesses: never more, whole IOs only. */
TEST(byte_budget)
{
	struct access a = one(IO_WRITE, IO_RND, 4096);
	struct active_range r = { .bytes = TIB };
	struct gen_budget b = { .max_bytes = 4096 * 1000 + 512 };
	struct gen_io io;
	struct gen g;
	unsigned n = 0;

	CHECK_INT(init(&g, &a, &r, 1, 0), 0);
	while (gen_next_budget(&g, &b, &io)) {
		CHECK_INT(io.len, 4096);
		n++;
	}
	CHECK_INT(n, 1000);
	CHECK_INT(atomic_load(&b.bytes), 4096 * 1000);
}

TEST(what_cannot_be_is_refused)
{
	struct active_range r = { .bytes = 1 << 20 };
	struct access a = one(IO_READ, IO_RND, 4096);
	struct gen g;

	a.stream[0].share = 0;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_RND, 4096 + 256);
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_RND, 2 << 20);
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_SEQ, 2 << 20);
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_SEQ, 4096);
	a.stream[0].cursor = 4;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_SEQ, 4096);
	a.stream[0].region = 1;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_RND, 4096);
	a.exact = true;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_RND, 4096);
	a.n_zones = 1;
	a.zone[0] = (struct zone){ 0.5, 0.4, 1 };
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a.zone[0] = (struct zone){ 0, 0.0001, 1 };
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a = one(IO_READ, IO_RND, 4096);
	r.bytes = 1000;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	r = (struct active_range){ 1 << 20, 4, 1 << 19, 0 };
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
	a.n_streams = 0;
	CHECK_INT(init(&g, &a, &r, 1, 0), -EINVAL);
}

TEST_MAIN
