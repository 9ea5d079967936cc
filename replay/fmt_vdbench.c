/* SPDX-License-Identifier: MIT */
/*
 * vdbench's replay flat file (swat): big-endian words of 8 bytes. Word 0: 0xEEEE, type 5, version 0, a spare byte, length of the
 * record in words; then start, response, device, lba (bytes), size and pid, and a flag whose 1 means read. us from the start
 * unless --time-unit says otherwise.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "replay/columns.h"
#include "replay/wire.h"

#define RECORD_WORDS 7u
#define WORDS_MAX 4096u
#define TYPE_IO 5

static int detect(const char *head, size_t n)
{
	return n >= RECORD_WORDS * 8 && get_be(head, 2) == 0xeeee && get_be(head + 5, 3) >= 1 &&
			       get_be(head + 5, 3) <= WORDS_MAX
		       ? 90
		       : 0;
}

static int64_t to_ns(uint64_t v, const struct column_time *unit)
{
	for (unsigned i = 0; i < unit->digits; i++)
		v = v > INT64_MAX / 10 ? INT64_MAX : v * 10;
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int read_io(struct import *im, const struct input *in, const char *p,
		   const struct column_time *unit, struct err *err)
{
	struct import_row row = { .start_ns = to_ns(get_be(p + 8, 8), unit),
				  .response_ns = (uint64_t)to_ns(get_be(p + 16, 8), unit),
				  .off = get_be(p + 32, 8),
				  .bytes = get_be(p + 40, 4),
				  .pid = (uint32_t)get_be(p + 44, 4),
				  .op = get_be(p + 48, 1) == 1 ? TRACE_READ : TRACE_WRITE };
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "%" PRIu64, get_be(p + 24, 8));
	rc = import_device(im, name, &row.dev, err);
	return rc ? rc : import_row(im, in, &row, err);
}

/* 1 read, 0 the end */
static int read_record(struct import *im, struct input *in, const struct column_time *unit,
		       struct err *err)
{
	const char *p;
	size_t left, words;
	int rc = input_peek(in, WORDS_MAX * 8, &p, &left, err);

	if (rc || left == 0)
		return rc;
	words = left < 8 ? 0 : get_be(p + 5, 3);
	if (left >= 8 && (get_be(p, 2) != 0xeeee || words == 0 || words > WORDS_MAX)) {
		rc = import_bad(im, in, err, "no record", "no record of a flat file begins here");
		input_skip(in, 8);
		return rc ? rc : 1;
	}
	if (left < 8 || left < words * 8) {
		import_skip(im, "cut off at the end of the file");
		return 0;
	}
	import_record(im);
	if (get_be(p + 2, 1) == TYPE_IO && words >= RECORD_WORDS)
		rc = read_io(im, in, p, unit, err);
	else
		import_skip(im, "other record");
	input_skip(in, words * 8);
	return rc ? rc : 1;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	const char *said = import_options(im)->time_unit;
	struct column_time unit = { 0, 3, 1 };
	int rc;

	if (said && (!columns_unit(said, &unit) || unit.times != 1))
		return err_set(err, -EINVAL, "--time-unit of a flat file is s, ms, us or ns");
	import_clock(im, said ? "as --time-unit says, from the start" : "us from the start");
	do {
		rc = read_record(im, in[0], &unit, err);
	} while (rc == 1);
	return rc;
}

const struct trace_format fmt_vdbench = {
	.name = "vdbench",
	.title = "vdbench replay flat file",
	.binary = true,
	.takes = TAKES_UNIT,
	.detect = detect,
	.import = import,
};
