/* SPDX-License-Identifier: MIT */
/*
 * xperf's dumper: between BeginHeader and EndHeader each event names its columns; rows are logged at completion, so that an IO
 * starts its ElapsedTime earlier. us from the start of the trace. Newer rows have a CPU column that older headers do not name.
 */
#include <errno.h>
#include <string.h>

#include "replay/columns.h"
#include "replay/fields.h"
#include "replay/quoted.h"

struct layout { /* of one event; columns, -1 none */
	const char *event;
	uint8_t op;
	bool known;
	unsigned columns;
	int time, process, thread, off, size, elapsed, disk;
	bool has_cpu;
};

enum { LAYOUTS = 3 };

struct reader {
	struct import *im;
	struct input *in;
	struct layout layout[LAYOUTS];
};

static int detect(const char *head, size_t n)
{
	while (n && (*head == ' ' || *head == '\r' || *head == '\n'))
		head++, n--;
	return n >= 11 && strncmp(head, "BeginHeader", 11) == 0 ? 95 : 0;
}

static struct layout *layout_of(struct reader *r, const char *event)
{
	for (int i = 0; i < LAYOUTS; i++)
		if (strcmp(r->layout[i].event, event) == 0)
			return &r->layout[i];
	return NULL;
}

static int read_header(struct reader *r, char *line, struct err *err)
{
	struct layout *l;
	struct quoted q;

	quoted_split(line, ',', &q);
	l = layout_of(r, q.field[0]);
	if (!l)
		return 0;
	l->known = true;
	l->columns = q.n;
	l->time = quoted_find(&q, "TimeStamp");
	l->process = quoted_find(&q, "Process");
	l->thread = quoted_find(&q, "ThreadID");
	l->off = quoted_find(&q, "ByteOffset");
	l->size = quoted_find(&q, "IOSize");
	l->elapsed = quoted_find(&q, "ElapsedTime");
	l->disk = quoted_find(&q, "DiskNum");
	l->has_cpu = quoted_find(&q, "CPU") >= 0;
	if (l->time < 0 || l->elapsed < 0 || l->disk < 0 ||
	    (l->op != TRACE_FLUSH && (l->off < 0 || l->size < 0)))
		return err_set(
			err, -EINVAL,
			"%s:%llu: %s lacks one of TimeStamp, ByteOffset, IOSize, ElapsedTime, "
			"DiskNum",
			input_path(r->in), (unsigned long long)input_lineno(r->in), l->event);
	return 0;
}

/* The row's own field for a column of the header: a CPU that the header does not name comes after ThreadID. */
static const char *field(const struct layout *l, const struct quoted *q, int column)
{
	unsigned at = (unsigned)column;

	if (!l->has_cpu && q->n == l->columns + 1 && l->thread >= 0 && column > l->thread)
		at++;
	return at < q->n ? q->field[at] : "";
}

static bool whole_number(const char *s, uint64_t *ret)
{
	if (s[0] == '0' && (s[1] | 0x20) == 'x')
		return take_hex(&s, ret) && !*s;
	return take_u64(&s, ret) && !*s;
}

static bool whole_time(const char *s, int64_t *ret)
{
	return take_fixed(&s, 3, ret) && !*s && *ret >= 0;
}

/* "xperf.exe (3984)" */
static uint32_t pid_of(const char *process)
{
	const char *p = strrchr(process, '(');
	uint64_t pid = 0;

	if (!p)
		return 0;
	p++;
	take_blanks(&p);
	return take_u64(&p, &pid) ? (uint32_t)pid : 0;
}

static int bad(const struct reader *r, struct err *err, const char *what, const char *text)
{
	return import_bad(r->im, r->in, err, what, "is no %s: '%.40s'", what, text);
}

static int read_row(struct reader *r, const struct layout *l, const struct quoted *q,
		    struct err *err)
{
	struct import_row row = { .op = l->op };
	int64_t end, elapsed;
	int rc;

	if (q->n < l->columns)
		return import_bad(r->im, r->in, err, "too few columns", "%u columns; %u are needed",
				  q->n, l->columns);
	if (!whole_time(field(l, q, l->time), &end))
		return bad(r, err, "time", field(l, q, l->time));
	if (!whole_time(field(l, q, l->elapsed), &elapsed))
		return bad(r, err, "elapsed time", field(l, q, l->elapsed));
	if (l->op != TRACE_FLUSH && !whole_number(field(l, q, l->off), &row.off))
		return bad(r, err, "offset", field(l, q, l->off));
	if (l->op != TRACE_FLUSH && !whole_number(field(l, q, l->size), &row.bytes))
		return bad(r, err, "size", field(l, q, l->size));
	row.start_ns = end - elapsed;
	row.response_ns = (uint64_t)elapsed;
	if (l->process >= 0)
		row.pid = pid_of(field(l, q, l->process));
	rc = import_device(r->im, field(l, q, l->disk), &row.dev, err);
	return rc ? rc : import_row(r->im, r->in, &row, err);
}

static int read_event(struct reader *r, char *line, struct err *err)
{
	const struct layout *l;
	struct quoted q;

	quoted_split(line, ',', &q);
	l = layout_of(r, q.field[0]);
	if (!l) {
		import_skip(r->im, "other event");
		return 0;
	}
	import_record(r->im);
	if (!l->known)
		return import_bad(r->im, r->in, err, "event without a header",
				  "the header does not name the columns of %s", l->event);
	return read_row(r, l, &q, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct reader r = { .im = im,
			    .in = in[0],
			    .layout = { { .event = "DiskRead", .op = TRACE_READ },
					{ .event = "DiskWrite", .op = TRACE_WRITE },
					{ .event = "DiskFlush", .op = TRACE_FLUSH } } };
	bool header = true;
	char *line;
	size_t len;
	int rc;

	import_clock(im, "us from the start of the trace, of the completion");
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		if (!header && line[strspn(line, " \t")]) {
			rc = read_event(&r, line, err);
		} else {
			import_skip(im, "header or comment");
			if (strstr(line, "EndHeader"))
				header = false;
			else if (header)
				rc = read_header(&r, line, err);
			rc = rc < 0 ? rc : 0;
		}
		if (rc < 0)
			return rc;
	}
	if (!rc && header)
		return err_set(err, -EINVAL, "%s: has no EndHeader", input_path(in[0]));
	return rc;
}

const struct trace_format fmt_xperf = {
	.name = "xperf",
	.title = "xperf dumper text (Windows, SNIA Microsoft traces)",
	.detect = detect,
	.import = import,
};
