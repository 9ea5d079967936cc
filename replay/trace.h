/* SPDX-License-Identifier: MIT */
/*
 * The canonical capture: one file, versioned, checksummed, mmap-able. Hot records of 24 bytes sorted by start, side tables
 * beside them (response, pid), devices and the import report as text. The format itself is described in trace_file.h.
 * Read through a sliding window, so that memory stays bounded whatever the length.
 */
#ifndef REPLAY_TRACE_H
#define REPLAY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"

enum trace_op { TRACE_READ, TRACE_WRITE, TRACE_DISCARD, TRACE_FLUSH, TRACE_OTHER, TRACE_OPS };

enum trace_flag {
	TRACE_LEN512 = 1, /* len counts 512-byte sectors: a discard of 4 GiB and more */
	TRACE_SYNC = 2,
	TRACE_FUA = 4,
	TRACE_META = 8,
	TRACE_READAHEAD = 16,
	TRACE_ERROR = 32, /* completed with an error */
	TRACE_IS_SEQ = 64, /* the capture itself said sequential: never classified again */
	TRACE_IS_RND = 128,
};

struct trace_io { /* the hot record */
	uint64_t start_ns; /* since the capture's first IO */
	uint64_t off; /* bytes from the start of the device */
	uint32_t len; /* bytes, or sectors with TRACE_LEN512 */
	uint16_t dev; /* index into the device table */
	uint8_t op; /* enum trace_op */
	uint8_t flags;
};

#define TRACE_NO_RESPONSE UINT64_MAX

struct trace_rec { /* one IO with its side data */
	struct trace_io io;
	uint64_t response_ns; /* start to completion; TRACE_NO_RESPONSE where none was matched */
	uint32_t pid; /* 0 unknown */
	uint32_t order; /* for the writer: of IOs that start together the lower one is first */
};

static inline uint64_t trace_io_bytes(const struct trace_io *io)
{
	return io->flags & TRACE_LEN512 ? (uint64_t)io->len * 512 : io->len;
}

struct trace_device {
	char name[64]; /* "7,0", "hm_1", "nvme0n1": as the source names it */
	uint64_t ios, end_bytes; /* R+W IOs; highest offset + length seen (all ops with a length) */
};

#define TRACE_SKIP_REASONS 12
#define TRACE_NAME 80

/* The import report: what became of the source's records. Stored in the file, printed by import and trace stat. */
struct trace_report {
	char format[32], event[16]; /* "blktrace", "D" (issue) | "Q" (queue) | "row" */
	char source[256]; /* base name of the (first) source file */
	uint64_t records; /* events or rows of the source that were read */
	uint64_t ios[TRACE_OPS], bytes[TRACE_OPS];
	uint64_t matched, unmatched_starts, unmatched_ends;
	uint64_t lost; /* events that the source says were lost */
	uint64_t
		reordered; /* records that came with a time before that of the record before them */
	uint64_t errors; /* completions with an error */
	struct {
		char reason[48];
		uint64_t n;
	} skipped[TRACE_SKIP_REASONS]; /* reason "" ends */
	char clock
		[64]; /* "ns since boot", "filetime 100 ns", ... : the unit that the times were read with */
	char wall_clock_utc[32]; /* of the first IO, where known; "" */
	char note[160]; /* what was assumed or made up; "" */
};

struct trace_head {
	char name[TRACE_NAME]; /* base name of the source without suffix, or given */
	uint64_t n; /* records in the file, all ops */
	/* start of the first R or W; from there to the start of the last one */
	uint64_t first_ns, duration_ns;
	bool has_response, has_pid;
	unsigned n_devices;
	const struct trace_device *device;
	struct trace_report report;
	uint64_t digest; /* of the content: equal captures, equal digests */
};

struct trace;

/* Opens and checks header, tables and (with @check) the checksums of all records. Bad file: -EINVAL and where. */
int trace_open(const char *path, bool check, struct trace **ret_trace, struct err *err) must_check;
void trace_close(struct trace *t); /* NULL is fine */
const struct trace_head *trace_head(const struct trace *t); /* lives as long as @t */

/*
 * Walks the records in order. Zero-initialise, then trace_next() until it returns 0; or set @next and go on from there.
 * One cursor of a trace is used at a time, or each of several pays for mapping its window anew.
 */
struct trace_cursor {
	uint64_t next; /* record number */
	/* the window mapped now: records [first, first + n); response, pid may be NULL */
	uint64_t first, n;
	const struct trace_io *io;
	const uint64_t *response;
	const uint32_t *pid;
	uint32_t chunk;
};

/* 1 got, 0 end, -EIO read error (message in @err). */
int trace_next(struct trace *t, struct trace_cursor *c, struct trace_rec *ret,
	       struct err *err) must_check;
/* Makes the window hold record @c->next, for whoever walks @c->io itself: 1, 0 end, -EIO. */
int trace_window(struct trace *t, struct trace_cursor *c, struct err *err) must_check;

/* Writes a capture. Records may come in any order: they are sorted by (start, arrival) with bounded memory, spilling to an
 * unlinked temporary file beside @path. The file appears under @path only by trace_writer_commit() (fsync, rename). */
struct trace_writer;
int trace_writer_open(const char *path, struct trace_writer **ret_writer,
		      struct err *err) must_check;
/* @rec->io.start_ns on any origin that fits: the first start becomes 0 at commit. */
int trace_writer_add(struct trace_writer *w, const struct trace_rec *rec,
		     struct err *err) must_check;
/* Device index for a name, made when new. At most 65535: -E2BIG. */
int trace_writer_device(struct trace_writer *w, const char *name, uint16_t *ret_dev,
			struct err *err) must_check;
/* Seals the file. @report is stored, its ios and bytes filled in. Frees the writer in any case. */
int trace_writer_commit(struct trace_writer *w, const char *name, struct trace_report *report,
			struct err *err) must_check;
void trace_writer_drop(
	struct trace_writer *w); /* gives up, removes the temporary file; NULL is fine */

#endif
