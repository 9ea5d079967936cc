/* SPDX-License-Identifier: MIT */
/*
 * Kernel trace events as text: tracefs (trace, trace_pipe), trace-cmd report, perf script, and the blk tracer's lines. They
 * differ in what stands before the event: "comm-PID [CPU] FLAGS SEC.USEC: event: body", with or without flags, or
 * "comm PID [CPU] SEC.USEC: block:event: body". comm may hold anything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/acts.h"
#include "replay/fields.h"
#include "replay/ftrace_line.h"

static const struct event_row {
	const char *name;
	int act; /* -1: only counted */
	bool sized; /* rwbs is followed by the bytes */
} event_rows[] = {
	{ "block_rq_issue", EVENT_ISSUE, true },
	{ "block_rq_complete", EVENT_COMPLETE, false },
	{ "block_bio_queue", EVENT_QUEUE, false },
	{ "block_bio_complete", EVENT_COMPLETE, false },
	{ "block_rq_requeue", EVENT_REQUEUE, false },
};

static int detect(const char *head, size_t n)
{
	char text[4096];

	snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) - 1 ? n : sizeof(text) - 1),
		 head);
	if (strncmp(text, "# tracer:", 9) == 0)
		return 95;
	if (strncmp(text, "cpus=", 5) == 0)
		return 95;
	return strstr(text, ": block_rq_") || strstr(text, " block:block_") ||
			       strstr(text, ": block_bio_")
		       ? 90
		       : 0;
}

/* "7,0 WS 4096 () 2104240 + 8 be,0,4 [fio]"; without the bytes and the command for other events. */
static bool take_body(const char *p, const struct event_row *row, char *name, size_t n,
		      struct import_event *ev)
{
	uint64_t major, minor, bytes = 0, sectors;
	const char *rwbs, *s;
	uint8_t op;

	take_blanks(&p);
	if (!take_u64(&p, &major) || !take_char(&p, ',') || !take_u64(&p, &minor))
		return false;
	snprintf(name, n, "%" PRIu64 ",%" PRIu64, major, minor);
	take_blanks(&p);
	rwbs = s = p;
	if (!take_rwbs(&s, 0, &op, &ev->flags))
		return false;
	take_blanks(&s);
	if (row->sized && !take_u64(&s, &bytes))
		return false;
	take_blanks(&s);
	if (*s == '(') {
		s = strchr(s, ')');
		if (!s)
			return false;
		s++;
	}
	if (!acts_place(&s, &ev->sector, &sectors))
		return false;
	if (__builtin_mul_overflow(sectors, 512, &ev->bytes))
		return false;
	ev->key = ev->sector;
	ev->act = (uint8_t)row->act;
	ev->error = row->act == EVENT_COMPLETE ? acts_error(s) : 0;
	return take_rwbs(&rwbs, ev->bytes, &ev->op, &ev->flags);
}

static const struct event_row *row_of(const char **p, const char **ret_name)
{
	const char *s = *p;

	(void)take_word(&s, "block:");
	*ret_name = s;
	for (size_t i = 0; i < sizeof(event_rows) / sizeof(event_rows[0]); i++) {
		size_t n = strlen(event_rows[i].name);

		if (strncmp(s, event_rows[i].name, n) == 0 && s[n] == ':') {
			*p = s + n + 1;
			return &event_rows[i];
		}
	}
	return NULL;
}

/* The blk tracer's lines: "7,0    D  WS 2104240 + 8 [fio]" behind the same head. */
static int blk_line(struct import *im, const char *p, char *name, size_t n, struct import_event *ev)
{
	uint64_t major, minor;

	if (!take_u64(&p, &major) || !take_char(&p, ',') || !take_u64(&p, &minor))
		return -EINVAL;
	snprintf(name, n, "%" PRIu64 ",%" PRIu64, major, minor);
	return acts_parse(im, p, ev);
}

static int read_body(struct import *im, const struct input *in, const char *p,
		     struct import_event *ev, struct err *err)
{
	const struct event_row *row;
	const char *event, *body = p;
	char name[48], other[40];
	int rc;

	row = row_of(&body, &event);
	if (row || (*p >= '0' && *p <= '9'))
		import_record(im);
	if (row) {
		if (!take_body(body, row, name, sizeof(name), ev))
			return import_bad(im, in, err, "event", "the event cannot be read: '%.80s'",
					  p);
	} else if (*p >= '0' && *p <= '9') {
		rc = blk_line(im, p, name, sizeof(name), ev);
		if (rc < 0)
			return import_bad(im, in, err, "event", "the event cannot be read: '%.80s'",
					  p);
		if (rc == 0)
			return 0;
	} else {
		snprintf(other, sizeof(other), "%.*s", (int)strcspn(event, ": "), event);
		import_skip(im, other[0] ? other : "no event");
		return 0;
	}
	rc = import_device(im, name, &ev->dev, err);
	return rc ? rc : import_event(im, in, ev, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct import_event ev;
	char *line;
	const char *p;
	size_t len;
	int rc;

	import_clock(im, "us of the trace clock");
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		struct ftrace_head h;

		p = line;
		if (!ftrace_head(&p, &h)) {
			rc = ftrace_other(im, in[0], line, err);
			if (rc)
				return rc;
			continue;
		}
		ev = (struct import_event){ .time_ns = h.time_ns,
					    .cpu = (uint32_t)h.cpu,
					    .pid = (uint32_t)h.pid,
					    .seq = (uint32_t)input_lineno(in[0]),
					    .op = TRACE_OTHER };
		rc = read_body(im, in[0], p, &ev, err);
		if (rc)
			return rc;
	}
	return rc;
}

const struct trace_format fmt_ftrace = {
	.name = "ftrace",
	.title = "kernel trace events as text: tracefs, trace-cmd report, perf script, blk tracer",
	.detect = detect,
	.import = import,
};
