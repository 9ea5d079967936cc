/* SPDX-License-Identifier: MIT */
/* --info FILE: what no tool can read of a drive and of who measures it; read by run and plan, stored with the run. */
#ifndef PTS_CMD_INFO_H
#define PTS_CMD_INFO_H

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "schema/store.h"

#define INFO_MAX 256

struct info {
	struct key_value v[INFO_MAX + 1]; /* ends with key NULL; in the order of the file */
	unsigned n;
	double rated_tbw_bytes; /* 0: not given */
	struct arena arena;
};

/*
 * Reads @file (NULL: empty). Keys are a fixed list (pts(1)) and x_NAME for a lab's own; an unknown one, one that is there
 * twice or has no value, a rated_tbw that is no amount: -EINVAL with FILE:LINE. Release with info_release(), also on error.
 */
int info_read(const char *file, struct info *ret, struct err *err) must_check;
void info_release(struct info *i);

#endif
