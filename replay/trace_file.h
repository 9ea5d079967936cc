/* SPDX-License-Identifier: MIT */
/*
 * The capture file, version 1. Little-endian; every structure below lies in the file as it stands here.
 *
 *	struct file_head          at 0, alone in the first 4096 bytes, the rest of them 0
 *	chunk, chunk, ...         each at a multiple of 4096; up to 65,536 records, by rising start_ns:
 *	    struct trace_io[n]        24 bytes a record
 *	    uint64_t response_ns[n]   only with CHUNK_RESPONSE; UINT64_MAX = not known
 *	    uint32_t pid[n]           only with CHUNK_PID; 0 = not known
 *	struct file_chunk[]       the index of the chunks, at index_off
 *	text                      devices and the import report, "key value" lines (trace_text.c), at text_off
 *
 * CRC-32C guards the head (its own field taken as 0), the index, the text and each chunk. A reader of version 1 refuses
 * other versions; new keys of the text are no new version.
 */
#ifndef REPLAY_TRACE_FILE_H
#define REPLAY_TRACE_FILE_H

#include "pts/base/buf.h"
#include "replay/trace.h"

#define FILE_MAGIC "PTScap\r\n" /* a transfer as text breaks it, and shows */
#define FILE_VERSION 1
#define FILE_ALIGN 4096u
#define CHUNK_RECORDS 65536u

enum chunk_flag { CHUNK_RESPONSE = 1, CHUNK_PID = 2 };

struct file_chunk {
	uint64_t off; /* in the file */
	uint64_t first_ns, last_ns; /* start_ns of its first and last record */
	uint32_t n, flags, crc, zero;
};

struct file_head {
	char magic[8];
	uint32_t version, head_bytes; /* 4096 */
	uint64_t n; /* records */
	uint64_t first_ns,
		duration_ns; /* start of the first R or W; from there to that of the last one */
	uint64_t digest; /* of records and device names; not of the report */
	uint64_t index_off, text_off, text_bytes;
	uint32_t n_chunks, n_devices;
	uint32_t index_crc, text_crc, crc, zero;
	char name[TRACE_NAME];
};

_Static_assert(sizeof(struct trace_io) == 24, "the hot record");
_Static_assert(sizeof(struct file_chunk) == 40, "an entry of the index");

static inline uint64_t chunk_bytes(uint32_t n, uint32_t flags)
{
	return (uint64_t)n * (sizeof(struct trace_io) + (flags & CHUNK_RESPONSE ? 8 : 0) +
			      (flags & CHUNK_PID ? 4 : 0));
}

/* Report and devices as text, and back. Unknown keys are passed over. -EINVAL: a line that cannot be read. */
void trace_text_write(struct buf *b, const struct trace_report *r, const struct trace_device *dev,
		      unsigned n_devices);
/* @ret_dev gets a malloc()ed table of @n_devices. */
int trace_text_read(const char *text, size_t n, struct trace_report *ret_report, unsigned n_devices,
		    struct trace_device **ret_dev, struct err *err) must_check;

#endif
