/* SPDX-License-Identifier: MIT */
/*
 * Exact replay: which IO becomes of each record of a capture, where it goes and when it is due. The capture is looked through
 * once before anything is issued, so that what does not fit is known, and refused, beforehand.
 *
 * Flushes and discards are replayed only if asked for. Offsets and lengths that are no multiple of the target's LBA size are
 * widened to it. What lies beyond the end of a smaller target:
 *	refuse	-EINVAL with the numbers
 *	clip	is left out and counted
 *	wrap	goes on from the target's start
 *	scale	all extents of the device move together, in their order; inside an extent nothing moves, so that what was SEQ
 *		stays SEQ but at its borders
 */
#ifndef REPLAY_EXACT_H
#define REPLAY_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "replay/trace.h"
#include "workloads/timed.h"

enum exact_fit { FIT_REFUSE, FIT_CLIP, FIT_WRAP, FIT_SCALE };
enum exact_drop {
	DROP_CLIPPED, /* beyond the end of the target */
	DROP_DISCARD,
	DROP_FLUSH,
	DROP_OTHER, /* neither read, write, discard nor flush */
	DROP_EMPTY, /* no bytes */
	DROP_LARGE, /* longer than the target, or than the kernel takes in one IO */
	DROP_DEVICE, /* of a device that was left out */
	EXACT_DROPS
};
extern const char *const exact_drop_names[EXACT_DROPS]; /* "clipped", "discards", ... */

#define EXACT_NATIVE 1000u /* speed in thousandths */
#define EXACT_ASAP 0u
#define EXACT_UNMAPPED (-1)
#define EXACT_LEFT_OUT (-2)

struct exact_target {
	const char *name; /* for messages */
	uint64_t capacity_bytes; /* 0: has no end (dry) */
	uint32_t lba_bytes;
};

struct exact_map { /* of a device of the capture */
	int target; /* index, or one of the two above */
	uint64_t base_bytes; /* its offset 0 is here on the target */
};

struct exact_conf {
	enum exact_fit fit;
	uint32_t speed_milli; /* EXACT_ASAP: no clock */
	unsigned loops; /* from 1 */
	bool discards, flushes;
	const struct exact_target *target;
	unsigned n_targets;
	const struct exact_map *map; /* one a device of the capture */
};

/* Of one pass over the capture; loops repeat it. */
struct exact_account {
	uint64_t records, planned;
	uint64_t dropped[EXACT_DROPS];
	uint64_t moved, rounded;
	uint64_t writes; /* planned IOs that change data */
	uint64_t discards; /* of them */
	uint64_t max_read_bytes, max_write_bytes;
	uint64_t first_ns, last_ns; /* of what is planned, on the capture's clock */
	uint64_t loop_ns; /* from one pass to the next: its span and a mean gap */
	uint64_t not_fitting, first_bad, first_bad_off; /* records beyond the end; the first one */
	double depth_avg; /* of the capture; NAN: it knows no completions */
	unsigned depth_max;
};

struct exact;

/* Borrows @t, conf->target and conf->map. -EINVAL: devices without a target, records that do not fit, nothing to replay. */
int exact_open(struct trace *t, const struct exact_conf *conf, struct exact **ret,
	       struct err *err) must_check;
void exact_close(struct exact *x); /* NULL is fine */
const struct exact_account *exact_account(const struct exact *x);
/* timed_job.load; @arg is the struct exact. */
int exact_load(void *arg, struct timed_io *ret, unsigned n, struct err *err);

#endif
