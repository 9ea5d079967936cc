/* SPDX-License-Identifier: MIT */
/*
 * What is written: buffers hold distinct random data from the start, and before each write every word of the block is changed by
 * a random mask of that write. So nothing that was written comes again, at any granularity or distance, and nothing compresses,
 * for a small part of the cost of drawing each block anew.
 */
#ifndef WORKLOADS_DATA_H
#define WORKLOADS_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "pts/base/rng.h"

/* Fills @buf (a multiple of 8 bytes) with random data of @seed, which never repeats within 2^67 bytes. */
void data_fill(void *buf, size_t bytes, uint64_t seed);

/*
 * Makes the block new (@bytes a multiple of 8) and returns the next state. Masks are drawn from the thread's own splitmix64
 * sequence: each is there once, so the sum of the masks that a word has seen does not come back in any practical time.
 */
uint64_t data_renew(uint64_t addr, uint32_t bytes, uint64_t state);

#endif
