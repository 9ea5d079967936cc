/* SPDX-License-Identifier: MIT */
/* Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID; whole seconds (spread), sectors of 512, 0 reads and 1 writes. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	struct column_field f[6];

	if (columns_split(head, n, ',', f, 6) != 5)
		return 0;
	return strspn(f[0].s, "0123456789") == 10 && !f[0].s[10] &&
			       (strcmp(f[3].s, "0") == 0 || strcmp(f[3].s, "1") == 0)
		       ? 90
		       : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.start = (struct column_time){ 0, 9, 1 };
	c.off = 1;
	c.off_unit = 512;
	c.len = 2;
	c.len_unit = 512;
	c.op = 3;
	memcpy(c.read, "0", 2);
	memcpy(c.write, "1", 2);
	c.device = 4;
	c.least = 5;
	c.epoch = EPOCH_UNIX;
	c.rule.spread = true;
	c.clock = "s since 1970, whole";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_tencent = {
	.name = "tencent",
	.title = "Tencent cloud block CSV",
	.detect = detect,
	.import = import,
};
