/* SPDX-License-Identifier: MIT */
/* What is written does not compress and no 4 KiB come twice. */
#include <zlib.h>

#include "tests/test.h"
#include "workloads/data.h"

#define SLOTS 32

/* Each test is made with all that this CPU can do. */
static const struct data_way *way;

#define EACH_WAY(statement) \
	for (unsigned at = 0; (way = data_way(at)); at++) \
	DO(statement)

static uint64_t hash(const void *block, unsigned bytes)
{
	const uint64_t *p = block;
	uint64_t h = 0;

	for (unsigned i = 0; i < bytes / 8; i++)
		h = (h ^ p[i]) * 0x9fb21c651e98df25ull + (h >> 29);
	return h;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* As a worker does: its slots in turn, filled once, renewed before each write. Pieces of @grain bytes are looked at. */
static void no_two_equal(uint32_t bytes, uint64_t total, unsigned grain)
{
	char *pool = aligned_alloc(4096, (size_t)bytes * SLOTS);
	uint64_t n = total / grain, at = 0, stamp = 12345;
	uint64_t *seen = malloc(n * sizeof *seen);

	data_fill(pool, (size_t)bytes * SLOTS, stamp);
	for (unsigned i = 0; at < n; i++) {
		char *block = pool + (size_t)bytes * (i % SLOTS);
		stamp = way->renew((uintptr_t)block, bytes, stamp);
		for (uint32_t k = 0; k < bytes && at < n; k += grain)
			seen[at++] = hash(block + k, grain);
	}
	qsort(seen, n, sizeof *seen, compare);
	uint64_t equal = 0;
	for (uint64_t i = 1; i < n; i++)
		equal += seen[i] == seen[i - 1];
	free(seen);
	free(pool);
	CHECK_INT(equal, 0);
}

TEST(no_two_equal_4k_blocks_in_1_gib)
{
	EACH_WAY(no_two_equal(4096, (uint64_t)1 << 30, 4096));
	EACH_WAY(no_two_equal(128 << 10, (uint64_t)256 << 20, 4096));
	EACH_WAY(no_two_equal(1 << 20, (uint64_t)256 << 20, 4096));
}

/* What a drive that dedups sectors, or a compressor with a window of any length, would live on. */
TEST(no_two_equal_pieces_at_any_distance)
{
	EACH_WAY(no_two_equal(128 << 10, (uint64_t)64 << 20, 512));
	EACH_WAY(no_two_equal(4096, (uint64_t)32 << 20, 64));
	EACH_WAY(no_two_equal(128 << 10, (uint64_t)32 << 20, 64));
	EACH_WAY(no_two_equal(512, (uint64_t)16 << 20, 32));
	EACH_WAY(no_two_equal(128 << 10, (uint64_t)32 << 20, 16));
}

static double ratio(uint32_t bytes)
{
	uLong total = 16 << 20;
	uLongf out = compressBound(total);
	char *data = malloc(total), *pool = aligned_alloc(4096, (size_t)bytes * SLOTS);
	Bytef *packed = malloc(out);
	uint64_t stamp = 1;

	data_fill(pool, (size_t)bytes * SLOTS, 99);
	for (uLong at = 0, i = 0; at < total; at += bytes, i++) {
		char *block = pool + (size_t)bytes * (i % SLOTS);
		stamp = way->renew((uintptr_t)block, bytes, stamp);
		memcpy(data + at, block, bytes);
	}
	if (compress2(packed, &out, (const Bytef *)data, total, 1) != Z_OK)
		abort();
	free(data);
	free(pool);
	free(packed);
	return (double)out / (double)total;
}

static void incompressible(uint32_t bytes)
{
	CHECK(ratio(bytes) > 0.99);
}

TEST(does_not_compress)
{
	/* The window of the compressor holds several renewed copies of a small slot set. */
	EACH_WAY(incompressible(4096));
	EACH_WAY(incompressible(128 << 10));
}

/* Where the engine keeps no more write data than what is in flight, the shortest match counts, at any distance. */
TEST(all_means_all)
{
	for (unsigned at = 0; (way = data_way(at)); at++)
		if (way->all)
			DO(no_two_equal(4096, (uint64_t)32 << 20, 16));
}

/* How many of the 8 words of each line have changed: all, or one in the blocks that are 4 KiB and more. */
static bool lines_renewed(const uint64_t *now, const uint64_t *was, uint32_t bytes)
{
	unsigned want = way->all || bytes % 4096 ? 8 : 1;

	for (uint32_t i = 0; i + 8 <= bytes / 8; i += 8) {
		unsigned changed = 0;
		for (unsigned k = 0; k < 8; k++)
			changed += now[i + k] != was[i + k];
		if (changed != want)
			return false;
	}
	return true;
}

static void every_line_is_made_new(unsigned shift)
{
	uint64_t x[1024 + 8], y[1024], *a = x + shift, *b = y, state = 7;

	data_fill(a, sizeof y, 1);
	memcpy(b, a, sizeof y);
	for (uint32_t bytes = 8; bytes <= sizeof y; bytes += bytes < 1024 ? 8 : 512) {
		state = way->renew((uintptr_t)a, bytes, state);
		CHECK(lines_renewed(a, b, bytes));
		CHECK(!memcmp(a + bytes / 8, b + bytes / 8, sizeof y - bytes));
		memcpy(b, a, sizeof y);
	}
}

/* Wherever in a line a block begins. */
TEST(every_line_is_made_new_and_nothing_else)
{
	for (unsigned shift = 0; shift < 8; shift += 3)
		EACH_WAY(every_line_is_made_new(shift));
}

/* Word by word the whole block becomes another one. */
static void every_word_goes(void)
{
	uint64_t a[512], b[512], state = 11;

	data_fill(a, sizeof a, 1);
	memcpy(b, a, sizeof a);
	for (int i = 0; i < 200; i++)
		state = way->renew((uintptr_t)a, sizeof a, state);
	for (int i = 0; i < 512; i++)
		CHECK(a[i] != b[i]);
}

TEST(no_word_stays_for_ever)
{
	EACH_WAY(every_word_goes());
}

TEST_MAIN
