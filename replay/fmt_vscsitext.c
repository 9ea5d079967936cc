/* SPDX-License-Identifier: MIT */
/* VMware vscsi as text: serial,length,nSG,read|write,LBN,timestamp; bytes, blocks of 512, us. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	return n > 40 && strncmp(head, "#Vscsi Cmd Trace.", 17) == 0 ? 95 : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.len = 1;
	c.op = 3;
	c.off = 4;
	c.off_unit = 512;
	c.start = (struct column_time){ 5, 3, 1 };
	c.least = 6;
	c.clock = "us since the host booted";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_vscsitext = {
	.name = "vscsitext",
	.title = "VMware vscsi command trace as text",
	.detect = detect,
	.import = import,
};
