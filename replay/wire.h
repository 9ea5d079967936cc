/* SPDX-License-Identifier: MIT */
/* Numbers as binary files have them, wherever they lie. */
#ifndef REPLAY_WIRE_H
#define REPLAY_WIRE_H

#include <stdint.h>

/* @bytes 1 to 8 */
static inline uint64_t get_le(const void *p, unsigned bytes)
{
	const unsigned char *b = p;
	uint64_t v = 0;

	while (bytes)
		v = v << 8 | b[--bytes];
	return v;
}

static inline uint64_t get_be(const void *p, unsigned bytes)
{
	const unsigned char *b = p;
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | b[i];
	return v;
}

#endif
