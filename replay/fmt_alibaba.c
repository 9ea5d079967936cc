/* SPDX-License-Identifier: MIT */
/* Alibaba block traces: device_id,opcode,offset,length,timestamp; bytes, us since 1970. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	struct column_field f[6];

	if (columns_split(head, n, ',', f, 6) != 5)
		return 0;
	return (strcmp(f[1].s, "R") == 0 || strcmp(f[1].s, "W") == 0) &&
			       strspn(f[4].s, "0123456789") == 16
		       ? 90
		       : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.device = 0;
	c.op = 1;
	c.off = 2;
	c.len = 3;
	c.start = (struct column_time){ 4, 3, 1 };
	c.least = 5;
	c.epoch = EPOCH_UNIX;
	c.clock = "us since 1970";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_alibaba = {
	.name = "alibaba",
	.title = "Alibaba cloud block CSV",
	.detect = detect,
	.import = import,
};
