/* SPDX-License-Identifier: MIT */
/* Rows on their way to the sink: pages become the IO that they were of, stamps of whole seconds are spread. */
#ifndef REPLAY_ROWS_H
#define REPLAY_ROWS_H

#include "replay/format.h"

struct rows_rule {
	uint64_t
		join_ns; /* a row that goes on where one of its pid, op and device ended this short ago belongs to it; 0 = off */
	bool spread; /* rows of one start are spread evenly over the second that it stands for */
};

struct rows;

struct rows *rows_new(struct import *im, const struct input *in,
		      const struct rows_rule *rule); /* NULL: no memory */
int rows_push(struct rows *r, const struct import_row *row, struct err *err) must_check;
int rows_end(struct rows *r, struct err *err) must_check; /* gives on what is held back */
void rows_free(struct rows *r); /* NULL is fine */

#endif
