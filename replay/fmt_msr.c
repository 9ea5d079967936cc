/* SPDX-License-Identifier: MIT */
/* MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime; times in filetime of 100 ns. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	struct column_field f[8];

	if (columns_split(head, n, ',', f, 8) != 7)
		return 0;
	return strlen(f[0].s) == 18 && strspn(f[0].s, "0123456789") == 18 &&
			       strncmp(f[0].s, "12", 2) == 0 &&
			       (strcmp(f[3].s, "Read") == 0 || strcmp(f[3].s, "Write") == 0)
		       ? 90
		       : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.start = (struct column_time){ 0, 0, 100 };
	c.response = (struct column_time){ 6, 0, 100 };
	c.device = 1;
	c.device2 = 2;
	c.op = 3;
	c.off = 4;
	c.len = 5;
	c.least = 7;
	c.epoch = EPOCH_FILETIME;
	c.clock = "filetime, 100 ns";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_msr = {
	.name = "msr",
	.title = "MSR Cambridge CSV",
	.detect = detect,
	.import = import,
};
