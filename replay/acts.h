/* SPDX-License-Identifier: MIT */
/* The event letters of blkparse and the kernel's blk tracer, and what follows them on the line. */
#ifndef REPLAY_ACTS_H
#define REPLAY_ACTS_H

#include "replay/format.h"

/*
 * "D  WS 788200 + 8 [fio]": act, rwbs, then by the act. Fills act, op, flags, sector, bytes, error of @ev. 1 an event to be
 * given on; 0 one that is skipped (counted under its name); -EINVAL: not such a line (no message).
 */
int acts_parse(struct import *im, const char *p, struct import_event *ev) must_check;

/* "sector + n" or the like of an IO, then its error in the last brackets if it is a completion. */
bool acts_place(const char **p, uint64_t *ret_sector, uint64_t *ret_sectors);
int acts_error(const char *p);

#endif
