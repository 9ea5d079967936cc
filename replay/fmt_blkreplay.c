/* SPDX-License-Identifier: MIT */
/* blkreplay .load: text, "start ; sector; length ; op ; delay ; duration", rows; seconds, sectors of 512. The text may come again. */
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	const char *at = memmem(head, n, "start ;", 7);

	return at && (at == head || at[-1] == '\n') ? 90 : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.separator = ';';
	c.header = "start ;";
	c.digits_only = true;
	c.start = (struct column_time){ 0, 9, 1 };
	c.off = 1;
	c.off_unit = 512;
	c.len = 2;
	c.len_unit = 512;
	c.op = 3;
	c.response = (struct column_time){ 4, 9, 1 };
	c.response2 = (struct column_time){ 5, 9, 1 };
	c.zero_unknown = true;
	c.least = 6;
	c.clock = "s from the start";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_blkreplay = {
	.name = "blkreplay",
	.title = "blkreplay load",
	.detect = detect,
	.import = import,
};
