/* SPDX-License-Identifier: MIT */
/*
 * fio's iolog. Version 3: "USEC FILE action [OFFSET LEN]", times from the start of the job. Version 2 has no times but "FILE wait
 * USEC" lines: from the wait before it, as documented; with --time-unit ms in ms from the start, as fio itself reads them.
 * Jobs that share a file write their version line and their own times into it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "replay/fields.h"
#include "replay/format.h"

struct reader {
	struct import *im;
	struct input *in;
	int version;
	bool wait_absolute;
	int64_t now_ns; /* version 2 */
	char file[256];
	uint16_t dev;
};

static int detect(const char *head, size_t n)
{
	return n > 19 && (strncmp(head, "fio version 2 iolog", 19) == 0 ||
			  strncmp(head, "fio version 3 iolog", 19) == 0)
		       ? 100
		       : 0;
}

static const struct action {
	const char *word;
	int op; /* -1: not an IO */
} actions[] = {
	{ "read", TRACE_READ },
	{ "write", TRACE_WRITE },
	{ "trim", TRACE_DISCARD },
	{ "sync", TRACE_FLUSH },
	{ "datasync", TRACE_FLUSH },
	{ "sync_file_range", TRACE_FLUSH },
	{ "add", -1 },
	{ "open", -1 },
	{ "close", -1 },
};

static const struct action *action_of(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strlen(actions[i].word) == n && strncmp(word, actions[i].word, n) == 0)
			return &actions[i];
	return NULL;
}

static size_t take_name(const char **p, const char **ret)
{
	size_t n = strcspn(*p, " \t");

	*ret = *p;
	*p += n;
	take_blanks(p);
	return n;
}

static int set_file(struct reader *r, const char *name, size_t n, struct err *err)
{
	if (strlen(r->file) == n && n && strncmp(r->file, name, n) == 0)
		return 0;
	snprintf(r->file, sizeof(r->file), "%.*s", (int)(n < 255 ? n : 255), name);
	return import_device(r->im, r->file, &r->dev, err);
}

static int bad(struct reader *r, struct err *err, const char *what, const char *line)
{
	return import_bad(r->im, r->in, err, what, "%s: '%.80s'", what, line);
}

static int read_io(struct reader *r, const struct action *a, const char *p, const char *line,
		   struct err *err)
{
	struct import_row row = { .start_ns = r->now_ns,
				  .op = (uint8_t)a->op,
				  .dev = r->dev,
				  .response_ns = TRACE_NO_RESPONSE };

	if (!take_u64(&p, &row.off) || (take_blanks(&p), !take_u64(&p, &row.bytes)) ||
	    (take_blanks(&p), *p))
		return bad(r, err, "offset and length are not to be read", line);
	if (row.op == TRACE_FLUSH)
		row.off = row.bytes = 0;
	return import_row(r->im, r->in, &row, err);
}

static int read_wait(struct reader *r, const char *p, const char *line, struct err *err)
{
	int64_t v;

	if (!take_fixed(&p, 0, &v) || v < 0 || __builtin_mul_overflow(v, 1000, &v) ||
	    (r->wait_absolute ? __builtin_mul_overflow(v, 1000, &r->now_ns)
			      : __builtin_add_overflow(r->now_ns, v, &r->now_ns)))
		return bad(r, err, "the wait is not to be read", line);
	import_skip(r->im, "wait");
	return 0;
}

static int read_line(struct reader *r, const char *line, struct err *err)
{
	const struct action *a;
	const char *p = line, *name, *word;
	uint64_t usec = 0;
	size_t n, k;
	int rc;

	import_record(r->im);
	take_blanks(&p);
	if (r->version == 3 && (!take_u64(&p, &usec) || *p != ' ' || usec > INT64_MAX / 1000))
		return bad(r, err, "no time at the start of the line", line);
	take_blanks(&p);
	n = take_name(&p, &name);
	k = take_name(&p, &word);
	if (r->version == 2 && k == 4 && strncmp(word, "wait", 4) == 0)
		return read_wait(r, p, line, err);
	a = action_of(word, k);
	if (!n || !a)
		return bad(r, err, "no action of an iolog", line);
	if (a->op < 0) {
		import_skip(r->im, "file event");
		return 0;
	}
	if (r->version == 3)
		r->now_ns = (int64_t)usec * 1000;
	rc = set_file(r, name, n, err);
	return rc ? rc : read_io(r, a, p, line, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	const char *unit = import_options(im)->time_unit;
	struct reader r = { .im = im, .in = in[0] };
	char *line;
	size_t len;
	int rc;

	if (unit && strcmp(unit, "ms") != 0 && strcmp(unit, "us") != 0)
		return err_set(err, -EINVAL,
			       "--time-unit of an iolog is us or, for the waits of version 2, ms");
	r.wait_absolute = unit && strcmp(unit, "ms") == 0;
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		if (strncmp(line, "fio version ", 12) == 0) {
			if (strcmp(line, "fio version 2 iolog") != 0 &&
			    strcmp(line, "fio version 3 iolog") != 0)
				return err_set(err, -EINVAL,
					       "%s:%llu: '%.40s': pts reads versions 2 and 3",
					       input_path(in[0]),
					       (unsigned long long)input_lineno(in[0]), line);
			r.version = line[12] - '0';
			r.now_ns = 0;
			import_skip(im, "header or comment");
			continue;
		}
		if (!line[strspn(line, " \t")]) {
			import_skip(im, "header or comment");
			continue;
		}
		if (!r.version)
			return err_set(err, -EINVAL,
				       "%s:1: the line 'fio version 3 iolog' is missing",
				       input_path(in[0]));
		rc = read_line(&r, line, err);
		if (rc)
			return rc;
	}
	import_clock(im, r.version == 2 ? (r.wait_absolute ? "ms waits from the start" : "us waits")
					: "us from the start of the job");
	return rc;
}

const struct trace_format fmt_iolog = {
	.name = "iolog",
	.title = "fio iolog, versions 2 and 3",
	.detect = detect,
	.takes = TAKES_UNIT,
	.import = import,
};
