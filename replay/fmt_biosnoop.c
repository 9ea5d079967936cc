/* SPDX-License-Identifier: MIT */
/*
 * bcc's biosnoop: "TIME(s) COMM PID DISK T SECTOR BYTES [P] [QUE(ms)] LAT(ms)". TIME is that of the completion; COMM may hold
 * blanks. bpftrace's program of that name and perf-tools' iosnoop leave out what an IO is made of: refused.
 */
#include <errno.h>
#include <string.h>

#include "replay/columns.h"

static int detect(const char *head, size_t n)
{
	const char *nl = memchr(head, '\n', n);
	size_t line = nl ? (size_t)(nl - head) : n;

	if (memmem(head, line, "TIME(s)", 7) && memmem(head, line, "SECTOR", 6))
		return 95;
	return memmem(head, n < 400 ? n : 400, "TIME(ms)",
		      8) || memmem(head, n < 400 ? n : 400, "COMM             PID    TYPE DEV", 31)
		       ? 80
		       : 0;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct column_field f[16];
	struct columns c = columns_none;
	const char *head;
	size_t len;
	unsigned fields;
	int rc = input_head(in[0], &head, &len, err);

	if (rc)
		return rc;
	if (!memmem(head, len < 400 ? len : 400, "TIME(s)", 7))
		return err_set(err, -EINVAL,
			       "%s: has no sector, size or time of each IO (bpftrace biosnoop, "
			       "perf-tools iosnoop): it cannot be replayed",
			       input_path(in[0]));
	fields = columns_split(head, len, ' ', f, 16);
	if (fields < 8 || fields > 16)
		return err_set(err, -EINVAL, "%s:1: is no header of biosnoop", input_path(in[0]));
	c.separator = ' ';
	c.header = "TIME(s)";
	c.end = (struct column_time){ 0, 9, 1 };
	c.blanks_at = 1;
	c.pid = 2;
	c.device = 3;
	c.op = 4;
	c.off = 5;
	c.off_unit = 512;
	c.len = 6;
	c.response = (struct column_time){ (int)fields - 1, 6, 1 };
	c.least = fields;
	c.clock = "s from the first event, of the completion";
	return columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_biosnoop = {
	.name = "biosnoop",
	.title = "biosnoop of bcc",
	.detect = detect,
	.import = import,
};
