/* SPDX-License-Identifier: MIT */
/*
 * FIU IODedup text: "ts pid process lba n R|W major minor md5"; ns from any origin, sectors of 512. A row is one page: of a
 * larger IO there are several, tens of microseconds apart. --coalesce joins them.
 */
#include <stdio.h>
#include <string.h>

#include "replay/columns.h"

#define JOIN_NS 200000

static bool is_row(const char *line, size_t n)
{
	struct column_field f[12];
	unsigned k = columns_split(line, n, ' ', f, 12);

	if (k < 9 || k > 12) /* process may hold blanks */
		return false;
	return (strcmp(f[k - 4].s, "R") == 0 || strcmp(f[k - 4].s, "W") == 0) &&
	       strspn(f[k - 1].s, "0123456789abcdefABCDEF") == 31; /* as far as it is copied */
}

/* Heads of such files may hold the remains of an archive. */
static int detect(const char *head, size_t n)
{
	const char *line = head, *end = head + n;

	for (int i = 0; i < 10 && line < end; i++) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));

		if (!nl)
			return 0;
		if (is_row(line, (size_t)(nl + 1 - line)))
			return 90;
		line = nl + 1;
	}
	return 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct columns c = columns_none;

	c.separator = ' ';
	c.start = (struct column_time){ 0, 0, 1 };
	c.pid = 1;
	c.blanks_at = 2;
	c.off = 3;
	c.off_unit = 512;
	c.len = 4;
	c.len_unit = 512;
	c.op = 5;
	c.device = 6;
	c.device2 = 7;
	c.least = 9;
	c.rule.join_ns = import_options(im)->coalesce ? JOIN_NS : 0;
	c.clock = "ns from an origin of its own";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_fiu = {
	.name = "fiu",
	.title = "FIU IODedup text (a row a page; --coalesce joins the pages of an IO)",
	.takes = TAKES_COALESCE,
	.detect = detect,
	.import = import,
};
