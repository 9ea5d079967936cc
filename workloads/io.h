/* SPDX-License-Identifier: MIT */
/* One request to a drive. */
#ifndef WORKLOADS_IO_H
#define WORKLOADS_IO_H

#include <stdint.h>

struct io {
	uint64_t off; /* bytes from LBA 0 */
	uint64_t due_ns; /* since the start of the segment; 0 where the source has no clock */
	uint32_t len;
	uint16_t stream; /* index into access.stream */
	uint8_t op; /* enum io_op */
};

#endif
