/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), by the processor's instruction where it has one. */
#ifndef PTS_BASE_CRC_H
#define PTS_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Of @n bytes, going on from @crc: 0 to begin with. crc32c(0, "123456789", 9) is 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

#endif
