/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay/fields.h"
#include "replay/trace.h"

void take_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t')
		++*p;
}

bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

bool take_word(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0)
		return false;
	*p += n;
	return true;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

#define DIGITS_SAFE 18 /* so many fit into 63 bits, whatever they are */

/* All digits at *p, as far as they fit. */
static inline bool take_digits(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; digit(*s) && s - *p < DIGITS_SAFE; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	if (s == *p)
		return false;
	for (; digit(*s); s++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	*ret = v;
	*p = s;
	return true;
}

bool take_u64(const char **p, uint64_t *ret)
{
	return take_digits(p, ret);
}

static int hex_value(char c)
{
	if (digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool take_hex(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	if (s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	if (hex_value(*s) < 0)
		return false;
	for (; hex_value(*s) >= 0; s++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)hex_value(*s);
	}
	*ret = v;
	*p = s;
	return true;
}

static const int64_t tens[] = { 1,	10,	 100,	   1000,      10000,
				100000, 1000000, 10000000, 100000000, 1000000000 };

int64_t fixed_unit(unsigned digits)
{
	return tens[digits];
}

bool take_fixed(const char **p, unsigned digits, int64_t *ret)
{
	const char *s = *p;
	bool minus = *s == '-';
	int64_t v, fraction = 0;
	unsigned left = digits;
	uint64_t whole;

	if (*s == '-' || *s == '+')
		s++;
	if (!take_digits(&s, &whole) || whole > INT64_MAX)
		return false;
	if (*s == '.') {
		s++;
		for (; left && digit(*s); left--)
			fraction = fraction * 10 + (*s++ - '0');
		while (digit(*s))
			s++;
	}
	if (__builtin_mul_overflow((int64_t)whole, tens[digits], &v) ||
	    __builtin_add_overflow(v, fraction * tens[left], &v))
		return false;
	*ret = minus ? -v : v;
	*p = s;
	return true;
}

bool take_rwbs(const char **p, uint64_t bytes, uint8_t *ret_op, uint8_t *ret_flags)
{
	const char *s = *p;
	bool write = false, read = false, discard = false, none = false, flush = false;
	uint8_t flags = 0;

	for (; (*s >= 'A' && *s <= 'Z'); s++) {
		bool first = !write && !read && !discard && !none;

		switch (*s) {
		case 'F': /* before the direction a flush, after it FUA; "FF" alone is a flush request */
			if (first)
				flush = true;
			else
				flags |= TRACE_FUA;
			break;
		case 'W':
			write = true;
			break;
		case 'R':
			read = true;
			break;
		case 'D':
			discard = true;
			break;
		case 'N':
			none = true;
			break;
		case 'A':
			flags |= TRACE_READAHEAD;
			break;
		case 'S':
			flags |= TRACE_SYNC;
			break;
		case 'M':
			flags |= TRACE_META;
			break;
		default: /* secure erase, zones, atomic writes: they change nothing here */
			break;
		}
	}
	if (s == *p)
		return false;
	if (flush && bytes == 0)
		*ret_op = TRACE_FLUSH;
	else if (discard)
		*ret_op = TRACE_DISCARD;
	else if (write)
		*ret_op = TRACE_WRITE;
	else
		*ret_op = read && bytes ? TRACE_READ : TRACE_OTHER;
	*ret_flags = flags;
	*p = s;
	return true;
}
