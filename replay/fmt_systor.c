/* SPDX-License-Identifier: MIT */
/* SYSTOR 17: Timestamp,Response,IOType,LUN,Offset,Size with a header; seconds, bytes. A row without a type had no response. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	return n > 27 && strncmp(head, "Timestamp,Response,IOType,", 26) == 0 ? 95 : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.header = "Timestamp,";
	c.start = (struct column_time){ 0, 9, 1 };
	c.response = (struct column_time){ 1, 9, 1 };
	c.op = 2;
	c.device = 3;
	c.off = 4;
	c.len = 5;
	c.least = 6;
	c.epoch = EPOCH_UNIX;
	c.clock = "s since 1970";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_systor = {
	.name = "systor",
	.title = "SYSTOR 17 CSV",
	.detect = detect,
	.import = import,
};
