/* SPDX-License-Identifier: MIT */
/* Fields of a line of text. Each takes what it knows from *p, moves *p behind it, and is false (nothing moved) if it is not there. */
#ifndef REPLAY_FIELDS_H
#define REPLAY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void take_blanks(const char **p);
bool take_char(const char **p, char c);
bool take_word(const char **p, const char *word); /* exactly these characters */
bool take_u64(const char **p, uint64_t *ret); /* decimal; false also when it does not fit */
bool take_hex(const char **p, uint64_t *ret); /* with or without 0x */
/*
 * A decimal number with or without a fraction, in units of 10^@digits (9 at most): "1.5" with 9 digits is 1500000000. More digits than
 * that are cut; a sign is taken. False when it does not fit.
 */
bool take_fixed(const char **p, unsigned digits, int64_t *ret);
int64_t fixed_unit(unsigned digits); /* 10^@digits */

/* An rwbs word ("WS", "FWFSM", "RA") and the bytes of its IO to enum trace_op and flags; moves behind the word. */
bool take_rwbs(const char **p, uint64_t bytes, uint8_t *ret_op, uint8_t *ret_flags);

/*
 * The first @n (1 to 8) characters as digits, all at once: moved to the upper end of a word whose lower bytes are '0', then
 * pairs, fours and all eight are added up. False: some is no digit.
 */
static inline bool up_to_eight(const char *s, size_t n, uint64_t *ret)
{
	uint64_t v;

	memcpy(&v, s, 8);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	if (n < 8)
		v = v << (8 * (8 - n)) | 0x3030303030303030 >> (8 * n);
	if ((v & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030 ||
	    ((v + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030)
		return false;
	v = (v & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
	v = (v & 0x00ff00ff00ff00ff) * 6553601 >> 16;
	*ret = (v & 0x0000ffff0000ffff) * 42949672960001 >> 32;
	return true;
}

/*
 * All @n characters as decimal digits; false also when it does not fit. Faster where the length is known; 8 bytes from the last
 * character on must be readable, as they are in lines of input.h.
 */
static inline bool whole_digits(const char *s, size_t n, uint64_t *ret)
{
	uint64_t high, low;
	const char *end = s + n;

	if (n == 0)
		return false;
	if (n <= 8)
		return up_to_eight(s, n, ret);
	if (n > 16)
		return take_u64(&s, ret) && s == end;
	if (!up_to_eight(s, n - 8, &high) || !up_to_eight(s + n - 8, 8, &low))
		return false;
	*ret = high * 100000000 + low;
	return true;
}

#endif
