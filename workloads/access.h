/* SPDX-License-Identifier: MIT */
/* What to do to a drive, as plain values: access patterns, segments, jobs. No pointers into an engine. */
#ifndef WORKLOADS_ACCESS_H
#define WORKLOADS_ACCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ACCESS_STREAMS_MAX 64
#define ACCESS_ZONES_MAX 8
#define CURSOR_NONE 0xffffu

enum io_op { IO_READ, IO_WRITE, IO_OPS };
enum io_order { IO_RND, IO_SEQ };

/* One IO stream: a unique {RND or SEQ, size, R or W} (spec 1), drawn by its share of the IO count. */
struct stream {
	double share; /* > 0; shares of an access need not sum to 1 or 100 */
	uint32_t bytes; /* size of each IO; a multiple of the LBA size */
	uint8_t op; /* enum io_op */
	uint8_t order; /* enum io_order */
	uint16_t
		cursor; /* SEQ: index into job.cursor; streams that share one run through it together. RND: CURSOR_NONE */
	uint16_t region; /* SEQ: this stream's region of the ActiveRange, 0 .. access.regions-1 */
};

/* Locality: @share of the RND IOs fall uniformly into [from, to) of the ActiveRange (fractions 0..1). */
struct zone {
	double from, to, share;
};

struct access {
	char name
		[80]; /* "RND 4K 65/35", "rnd-4k-w", "composite gps.cap top 9": for people and the database */
	unsigned n_streams;
	struct stream stream[ACCESS_STREAMS_MAX];
	unsigned n_zones; /* 0 = uniform over the range */
	struct zone zone[ACCESS_ZONES_MAX];
	unsigned
		regions; /* SEQ regions: the ActiveRange is cut into this many equal contiguous parts; >= 1 */
	uint32_t align; /* RND offsets are multiples of this; 0 = of the IO's own size */
	bool exact; /* FILL: the last IO of a pass is shortened so that every byte of the range is covered once a pass */
};

/* ActiveRange (spec 3.5): bytes from LBA 0. With segments, IO touches only @n_seg pieces of @seg_bytes spread over it. */
struct active_range {
	uint64_t bytes; /* a multiple of the LBA size; of the largest block used, except for FILL */
	uint32_t n_seg; /* 0 = the whole range */
	uint64_t
		seg_bytes; /* RND: segment, then an aligned offset in it. SEQ: through the segments in address order */
	uint64_t seed; /* places the segments: same seed, same places */
};

struct bound { /* the first one reached ends the segment; 0 = no such bound; never all 0 */
	uint64_t time_ns;
	uint64_t
		bytes; /* the last IO is shortened (exact) or left out so that no more than this is done */
	uint64_t ios;
};

/* One cell: a mix at a depth until a bound. The engine passes from a segment to the next without draining. */
struct segment {
	const struct access *acc; /* NULL = no IO at all for stop.time_ns (idle) */
	unsigned threads, qd; /* OS threads, and outstanding IOs of each */
	unsigned
		oio; /* total outstanding when it is not threads * qd (replay): split over threads, sums exactly; else 0 */
	double rate_iops; /* > 0: open loop, IOs due at equal distances; latency kept from submission (service) and from due time (response) */
	struct bound stop;
	uint64_t seed; /* of this segment; per-thread seeds are derived with rng_seed() */
};

struct result;
struct progress { /* of the segment now running; told about once a second */
	unsigned segment;
	uint64_t elapsed_ns, ios, bytes, errors;
};

struct job {
	const struct segment *seg;
	unsigned n;
	struct active_range range;
	_Atomic uint64_t *
		cursor; /* the test's SEQ positions in bytes within their region; carried from job to job */
	unsigned n_cursors;
	uint64_t interval_ns; /* of the series; 0 = 1 s */
	uint64_t deadline_ns; /* a worker that gives no sign for so long is hung; 0 = 60 s */
	/*
	 * A segment is over. Called in the caller's thread, in order, the result valid only during the call; while the
	 * next segment runs, if there is one. Non-zero: stop the job (0 is then returned by run; the part of the next
	 * segment done meanwhile is dropped and its IOs waited for). A result with errors also ends the job.
	 */
	int (*sealed)(void *arg, unsigned segment, const struct result *r);
	void (*progress)(void *arg, const struct progress *p); /* may be NULL */
	void *arg;
	const volatile int *
		stop; /* set by a signal handler: seal what there is with partial = true and return -EINTR; may be NULL */
	/* Real drives: all is prepared, the first IO goes when it returns 0; else there is none and run returns it. May be NULL. */
	int (*ready)(void *arg);
	/* A set of drives: its members first..last work, from 1; 0: all. @cursor then has n_cursors for each of its members. */
	unsigned member_first, member_last;
};

/* Offset of segment @i of the range; for tests and reports. */
uint64_t range_segment_offset(const struct active_range *r, uint32_t i, uint32_t lba_bytes);

/* Share of IOs that are reads, 0..100; mean IO size in bytes. */
double access_read_pct(const struct access *a);
double access_mean_bytes(const struct access *a);
uint32_t access_max_bytes(const struct access *a);

#endif
