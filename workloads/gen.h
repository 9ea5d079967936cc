/* SPDX-License-Identifier: MIT */
/*
 * The synthetic source: draws a stream by its share of the IO count, then the place of the IO. One struct gen a thread;
 * threads share only the SEQ cursors of the job and, in segments bounded by bytes or IOs, a budget.
 */
#ifndef WORKLOADS_GEN_H
#define WORKLOADS_GEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/base/rng.h"
#include "workloads/access.h"
#include "workloads/source.h"

/* Inlined into the engine's loop, so that the generator's state stays in registers. */
#define gen_inline inline __attribute__((always_inline))

/*
 * Draws of streams and places: a multiplicative congruential generator of 128 bits whose upper half is used; period 2^126, and
 * a seed picks the place in it. Cheaper than xoshiro256** and as good in every bit that is used.
 */
struct draw {
	unsigned __int128 state; /* odd */
};

static gen_inline uint64_t draw_next(struct draw *d)
{
	d->state *= 0xda942042e4dd58b5ull;
	return (uint64_t)(d->state >> 64);
}

enum gen_kind { GEN_UNIFORM, GEN_SEQ, GEN_ODD };

struct gen_stream {
	uint64_t base; /* first byte of its region; RND: 0 */
	uint64_t unit; /* RND: distance of the places where an IO may begin */
	uint64_t n; /* RND: number of such places; SEQ: bytes of its region */
	_Atomic uint64_t *cursor; /* SEQ */
	void *user; /* the engine's */
	uint32_t bytes;
	uint8_t op, kind; /* enum io_op, enum gen_kind */
	bool seq;
} __attribute__((aligned(64)));

/* One draw. */
struct gen_io {
	const struct gen_stream *stream;
	uint64_t off;
	uint32_t len;
};

struct gen_zone {
	uint64_t upto; /* of a uniform 64-bit draw: in this zone when below */
	double from, to;
};

struct gen {
	struct source src;
	struct draw draw;
	struct rng odd_rng;
	unsigned n_streams;
	/* Alias table (Vose): column by the high part of draw * n, itself or its alias by the low part, of 24 bits. */
	uint32_t keep[ACCESS_STREAMS_MAX];
	uint8_t alias[ACCESS_STREAMS_MAX];
	struct gen_stream stream[ACCESS_STREAMS_MAX];
	unsigned n_zones;
	struct gen_zone zone[ACCESS_ZONES_MAX + 1];
	struct active_range range;
	uint32_t lba_bytes;
	bool exact;
};

struct gen_conf {
	const struct access *acc;
	const struct active_range *range;
	uint32_t lba_bytes;
	_Atomic uint64_t *cursor;
	unsigned n_cursors;
	uint64_t seed; /* of the segment */
	unsigned thread;
};

/* What a segment may still issue, shared by its threads. */
struct gen_budget {
	_Atomic uint64_t ios, bytes; /* handed out so far */
	uint64_t max_ios, max_bytes; /* 0 = no such bound */
	uint64_t start; /* exact: where in the range the first IO begins */
};

/* Checks what cannot be (sizes, regions, cursors, zones) and prepares the draw. */
int gen_init(struct gen *g, const struct gen_conf *c, struct err *err) must_check;
/*
 * Moves the cursors that @g uses to a multiple of the stream's block size, and for exact accesses takes the start over into
 * @b. Once a segment, before any thread draws from it.
 */
void gen_begin(struct gen *g, struct gen_budget *b);
/* exact: puts the position back into the cursor, after the last draw of a segment. */
void gen_end(struct gen *g, struct gen_budget *b);

/* Place of an IO of @s with zones or segments; off the fast path. More draws come from a generator of their own. */
uint64_t gen_place_odd(struct gen *g, const struct gen_stream *s, uint64_t draw);
/*
 * The next IO within the budget's bytes; false = used up. Exact accesses: cut to the end of the range and of the budget, every
 * byte once a pass, by whichever thread. The budget's IO count is the caller's business.
 */
bool gen_next_budget(struct gen *g, struct gen_budget *b, struct gen_io *ret);

static gen_inline uint64_t gen_advance(const struct gen_stream *s)
{
	uint64_t old = atomic_load_explicit(s->cursor, memory_order_relaxed), at;

	do {
		at = old + s->bytes <= s->n ? old : 0; /* wraps before a short tail */
	} while (!atomic_compare_exchange_weak_explicit(
		s->cursor, &old, at + s->bytes, memory_order_relaxed, memory_order_relaxed));
	return s->base + at;
}

#define GEN_PICK_BITS 24

/*
 * One draw an IO: the stream comes from its lowest 24 bits, the place from the highest ones, of which no drive needs 40
 * (2^40 blocks of 512 bytes are half an exabyte).
 */
static gen_inline const struct gen_stream *gen_pick(const struct gen *g, uint64_t draw, bool single)
{
	if (single)
		return g->stream;
	uint32_t x = ((uint32_t)draw & ((1u << GEN_PICK_BITS) - 1)) * g->n_streams;
	uint32_t col = x >> GEN_PICK_BITS;

	return &g->stream[(x & ((1u << GEN_PICK_BITS) - 1)) < g->keep[col] ? col : g->alias[col]];
}

static gen_inline uint64_t gen_place(struct gen *g, const struct gen_stream *s, uint64_t draw)
{
	if (s->kind == GEN_UNIFORM)
		return (uint64_t)(((unsigned __int128)draw * s->n) >> 64) * s->unit;
	if (s->kind == GEN_SEQ)
		return gen_advance(s);
	return gen_place_odd(g, s, draw);
}

/* @d: g->draw, perhaps a copy that lives in registers. @single: there is one stream only. */
static gen_inline void gen_next(struct gen *g, struct draw *d, bool single, struct gen_io *ret)
{
	uint64_t draw = draw_next(d);
	const struct gen_stream *s = gen_pick(g, draw, single);

	*ret = (struct gen_io){ s, gen_place(g, s, draw), s->bytes };
}

#endif
