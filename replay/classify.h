/* SPDX-License-Identifier: MIT */
/* RND or SEQ, IO by IO in the order of their starts (spec 16.2). */
#ifndef REPLAY_CLASSIFY_H
#define REPLAY_CLASSIFY_H

#include "replay/analysis.h"

struct classify;

struct classify *classify_new(const struct seq_rule *rule); /* NULL: no memory */
void classify_free(struct classify *c);
/* @ret_order: enum io_order. R and W only. -ENOMEM. */
int classify_io(struct classify *c, const struct trace_io *io, uint8_t *ret_order) must_check;

#endif
