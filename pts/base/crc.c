/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "pts/base/crc.h"

#define POLYNOMIAL 0x82f63b78u /* reversed */

static uint32_t by_bits(uint32_t crc, const unsigned char *p, size_t n)
{
	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc,
								 const unsigned char *p, size_t n)
{
	uint64_t c = crc, word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	while (n--)
		c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
	return (uint32_t)c;
}

static int have_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#else
#define by_instruction by_bits
static int have_instruction(void)
{
	return 0;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
	return ~(have_instruction() ? by_instruction : by_bits)(~crc, data, n);
}
