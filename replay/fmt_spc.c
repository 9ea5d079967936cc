/* SPDX-License-Identifier: MIT */
/* SPC and UMass ASCII: ASU,LBA,SIZE,OP,TIME and optional fields; blocks of 512, bytes, seconds from the start. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	struct column_field f[6];

	if (columns_split(head, n, ',', f, 6) < 5)
		return 0;
	return strlen(f[3].s) == 1 && strchr("rRwW", f[3].s[0]) && strchr(f[4].s, '.') &&
			       strspn(f[4].s, "0123456789.") == strlen(f[4].s)
		       ? 90
		       : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.device = 0;
	c.off = 1;
	c.off_unit = 512;
	c.len = 2;
	c.op = 3;
	c.start = (struct column_time){ 4, 9, 1 };
	c.least = 5;
	c.clock = "s from the start";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_spc = {
	.name = "spc",
	.title = "SPC / UMass ASCII",
	.detect = detect,
	.import = import,
};
