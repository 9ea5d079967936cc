/* SPDX-License-Identifier: MIT */
/*
 * PTS[GEN-3.1-DATA], what is written: buffers hold distinct random data from the start, and before each write they are renewed with a random mask
 * of that write, for a small part of the cost of drawing each block anew. How, depends on what the CPU can do:
 *
 *	all	Every word changes: nothing comes again, at any distance. The write data of a thread need be no larger than what
 *		is in flight, and stays in the CPU's cache. With vectors of 64 bytes no slower than the other.
 *	lines	So do blocks above 64 KiB (where preconditioning writes) and those of no whole 4 KiB. In the others one word,
 *		drawn at random, of every 64 bytes changes: no 64 bytes come again; shorter pieces do after the thread has gone
 *		round its write data, which the engine keeps beyond the window of usual compressors.
 */
#ifndef WORKLOADS_DATA_H
#define WORKLOADS_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/rng.h"

/* Fills @buf (a multiple of 8 bytes) with random data of @seed, which never repeats within 2^67 bytes. */
void data_fill(void *buf, size_t bytes, uint64_t seed);

struct data_way {
	const char *name;
	bool all;
	/*
	 * Makes the block new (@bytes a multiple of 8) and returns the next state. Masks are hashes of the thread's own counter,
	 * so the sum of the masks that a word has seen does not come back in any practical time.
	 */
	uint64_t (*renew)(uint64_t addr, uint32_t bytes, uint64_t state);
};

/* The @i-th best of those that this CPU can do; NULL behind the last. */
const struct data_way *data_way(unsigned i);

#endif
