/* SPDX-License-Identifier: MIT */
/* What the database keeps of the capture that a run works from. */
#ifndef PTS_CMD_CAPTURE_ROWS_H
#define PTS_CMD_CAPTURE_ROWS_H

#include "pts/base/err.h"
#include "pts/plan.h"
#include "replay/capture.h"
#include "schema/store.h"

/* SHA-256 of what capture_load() takes for @path: a file, or a map that pts brings along. -EINVAL: neither. */
int capture_sha256(const char *path, char ret[65], struct err *err) must_check;

/* What was said with --capture, and what it was. */
struct capture_used {
	const struct capture *capture;
	const char *sha256;
	unsigned n_dominant; /* of the plans that use it */
	double coverage_pct;
};

/* The capture, how it was read, and each of its steps. */
int capture_store(struct store *s, int64_t run, const struct capture_used *u,
		  struct err *err) must_check;

#endif
