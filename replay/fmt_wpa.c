/* SPDX-License-Identifier: MIT */
/*
 * Disk IO as Windows Performance Analyzer exports it: a table whose columns the header names, with the numbers of the locale of
 * the machine: "1.795,900" or "1,795.900". Times with their nine decimals tell which sign is which.
 */
#include <errno.h>
#include <string.h>

#include "replay/columns.h"
#include "replay/fields.h"
#include "replay/quoted.h"

struct reader {
	struct import *im;
	struct input *in;
	char separator, decimal, thousands;
	int op, start, end, size, off, disk, count; /* columns; count -1: none */
	unsigned least;
};

static bool is_header(const char *line, size_t n)
{
	return memmem(line, n, "Init Time (s)", 13) && memmem(line, n, "Complete Time (s)", 17);
}

static int detect(const char *head, size_t n)
{
	const char *nl = memchr(head, '\n', n);

	return is_header(head, nl ? (size_t)(nl - head) : n) ? 95 : 0;
}

static int read_header(struct reader *r, char *line, struct err *err)
{
	static const char separators[] = { ';', '\t', ',' };
	const struct {
		const char *name;
		int *to;
	} columns[] = { { "IO Type", &r->op },
			{ "Init Time (s)", &r->start },
			{ "Complete Time (s)", &r->end },
			{ "Size", &r->size },
			{ "Min Offset", &r->off },
			{ "Disk", &r->disk } };
	struct quoted q;

	if (strncmp(line, "\xef\xbb\xbf", 3) == 0) /* a mark that it is UTF-8 */
		line += 3;
	for (size_t i = 0; i < sizeof(separators); i++)
		if (strchr(line, separators[i])) {
			r->separator = separators[i];
			break;
		}
	quoted_split(line, r->separator, &q);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		*columns[i].to = quoted_find(&q, columns[i].name);
		/* "Disk" is also how "Disk Service Time" begins */
		for (unsigned k = 0; columns[i].to == &r->disk && k < q.n; k++)
			if (strcmp(q.field[k], "Disk") == 0)
				r->disk = (int)k;
		if (*columns[i].to < 0)
			return err_set(err, -EINVAL, "%s:1: the header has no column '%s'",
				       input_path(r->in), columns[i].name);
		if ((unsigned)*columns[i].to >= r->least)
			r->least = (unsigned)*columns[i].to + 1;
	}
	r->count = quoted_find(&q, "Count");
	if (r->count >= (int)r->least)
		r->least = (unsigned)r->count + 1;
	return 0;
}

/* The last sign in a time that is none of its digits. */
static bool learn_locale(struct reader *r, const char *time)
{
	const char *last = NULL;

	for (const char *s = time; *s; s++)
		if (*s == '.' || *s == ',')
			last = s;
	if (!last || strspn(last + 1, "0123456789") != strlen(last + 1) || strlen(last + 1) < 6)
		return false;
	r->decimal = *last;
	r->thousands = *last == '.' ? ',' : '.';
	return true;
}

/* A blank of some kind between thousands: ' ', no-break space, narrow no-break space, apostrophe. */
static size_t group_sign(const struct reader *r, const char *s)
{
	static const char *const signs[] = { " ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xa0" };

	if (*s == r->thousands)
		return 1;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strncmp(s, signs[i], strlen(signs[i])) == 0)
			return strlen(signs[i]);
	return 0;
}

/* To a plain "1795.900". False: a group that is not of three digits, or other signs. */
static bool plain_number(const struct reader *r, const char *s, char *ret, size_t n)
{
	size_t at = 0, digits = strspn(s, "0123456789");
	bool grouped = false;

	for (;;) {
		size_t sign;

		if (digits == 0 || at + digits + 2 > n || (grouped ? digits != 3 : 0))
			return false;
		memcpy(ret + at, s, digits);
		at += digits;
		s += digits;
		sign = group_sign(r, s);
		if (!sign)
			break;
		if (!grouped && digits > 3)
			return false;
		grouped = true;
		s += sign;
		digits = strspn(s, "0123456789");
	}
	if (*s == r->decimal) {
		digits = strspn(s + 1, "0123456789");
		if (digits == 0 || at + digits + 2 > n)
			return false;
		ret[at++] = '.';
		memcpy(ret + at, s + 1, digits);
		at += digits;
		s += 1 + digits;
	}
	ret[at] = '\0';
	return *s == '\0';
}

static bool take_time(const struct reader *r, const char *s, int64_t *ret)
{
	char plain[40];
	const char *p = plain;

	return plain_number(r, s, plain, sizeof(plain)) && take_fixed(&p, 9, ret) && !*p;
}

/* Whole: a fraction of a byte is a misread locale. */
static bool take_whole(const struct reader *r, const char *s, uint64_t *ret)
{
	char plain[40];
	const char *p = plain;

	if (s[0] == '0' && (s[1] | 0x20) == 'x')
		return take_hex(&s, ret) && !*s;
	return plain_number(r, s, plain, sizeof(plain)) && take_u64(&p, ret) && !*p;
}

static int bad(const struct reader *r, struct err *err, const char *what, const char *field)
{
	return import_bad(r->im, r->in, err, what, "is no %s: '%.40s'", what, field);
}

static int take_op(const struct reader *r, const char *word, uint8_t *ret)
{
	static const struct {
		const char *word;
		uint8_t op;
	} words[] = { { "Read", TRACE_READ }, { "Write", TRACE_WRITE }, { "Flush", TRACE_FLUSH } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i].word) == 0) {
			*ret = words[i].op;
			return 1;
		}
	import_skip(r->im, "other IO type");
	return 0;
}

static int read_row(struct reader *r, const struct quoted *q, struct err *err)
{
	struct import_row row = { .op = TRACE_OTHER };
	uint64_t count = 1;
	int64_t end;
	int rc;

	if (q->n < r->least)
		return import_bad(r->im, r->in, err, "too few columns", "%u columns; %u are needed",
				  q->n, r->least);
	if (!r->decimal && !learn_locale(r, q->field[r->start]))
		return bad(r, err, "time in seconds with its decimals", q->field[r->start]);
	if (!take_op(r, q->field[r->op], &row.op))
		return 0;
	if (!take_time(r, q->field[r->start], &row.start_ns))
		return bad(r, err, "time", q->field[r->start]);
	if (!take_time(r, q->field[r->end], &end) || end < row.start_ns)
		return bad(r, err, "time of completion", q->field[r->end]);
	if (r->count >= 0 && (!take_whole(r, q->field[r->count], &count) || count != 1))
		return import_bad(r->im, r->in, err, "several IOs in a row",
				  "Count is %.20s: export the table without grouping, one IO a row",
				  q->field[r->count]);
	if (row.op != TRACE_FLUSH && !take_whole(r, q->field[r->off], &row.off))
		return bad(r, err, "offset", q->field[r->off]);
	if (row.op != TRACE_FLUSH && !take_whole(r, q->field[r->size], &row.bytes))
		return bad(r, err, "size", q->field[r->size]);
	row.response_ns = (uint64_t)(end - row.start_ns);
	rc = import_device(r->im, q->field[r->disk], &row.dev, err);
	return rc ? rc : import_row(r->im, r->in, &row, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct reader r = { .im = im, .in = in[0] };
	bool begun = false;
	struct quoted q;
	char *line;
	size_t len;
	int rc;

	import_clock(im, "s from the start of the trace");
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		if (!begun && !is_header(line, len))
			return err_set(err, -EINVAL, "%s:1: is no header of a WPA export",
				       input_path(in[0]));
		if (!begun || !line[strspn(line, " \t")]) {
			rc = begun ? 0 : read_header(&r, line, err);
			import_skip(im, "header or comment");
			begun = true;
		} else {
			quoted_split(line, r.separator, &q);
			import_record(im);
			rc = read_row(&r, &q, err);
		}
		if (rc)
			return rc;
	}
	return rc;
}

const struct trace_format fmt_wpa = {
	.name = "wpa",
	.title = "Windows Performance Analyzer export (any locale)",
	.detect = detect,
	.import = import,
};
