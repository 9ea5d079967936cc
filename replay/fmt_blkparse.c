/* SPDX-License-Identifier: MIT */
/* What blkparse prints by default: "259,0    0        1     0.000000000   140  D  WS 788200 + 8 [fio]". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/acts.h"
#include "replay/fields.h"
#include "replay/format.h"

struct head { /* of a line, before the act */
	uint64_t major, minor, cpu, seq, pid;
	int64_t time_ns;
};

static bool take_head(const char **p, struct head *h)
{
	const char *s = *p;

	take_blanks(&s);
	if (!take_u64(&s, &h->major) || !take_char(&s, ',') ||
	    (take_blanks(&s), !take_u64(&s, &h->minor)))
		return false;
	take_blanks(&s);
	if (!take_u64(&s, &h->cpu) || (take_blanks(&s), !take_u64(&s, &h->seq)))
		return false;
	take_blanks(&s);
	const char *point = s + strspn(s, "0123456789");
	if (*point != '.' || strspn(point + 1, "0123456789") != 9 ||
	    !take_fixed(&s, 9, &h->time_ns))
		return false;
	take_blanks(&s);
	if (!take_u64(&s, &h->pid) || *s != ' ')
		return false;
	take_blanks(&s);
	*p = s;
	return true;
}

/* Some line of the first ones is such an event. */
static int detect(const char *head, size_t n)
{
	const char *line = head, *end = head + n;

	for (int i = 0; i < 40 && line < end; i++) {
		const char *nl = memchr(line, '\n', (size_t)(end - line)), *p;
		size_t len = nl ? (size_t)(nl - line) : (size_t)(end - line);
		char text[256];
		struct head h;

		snprintf(text, sizeof(text), "%.*s", (int)(len < 255 ? len : 255), line);
		p = text;
		if (take_head(&p, &h) && ((*p >= 'A' && *p <= 'Z') || *p == 'm'))
			return 90;
		line += len + 1;
	}
	return 0;
}

/* Lines that blkparse prints after the events, and those that people put in. */
static bool is_trailer(const char *line)
{
	static const char *const starts[] = { "CPU",	" Reads",     " Read",	 " Writes",
					      "Total",	"Throughput", "Events",	 "Skips",
					      "Input ", " IO ",	      " Merges", "#" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return line[strspn(line, " \t")] == '\0' ||
	       (strstr(line, ":") && strstr(line, " entries")) ||
	       (strchr(line, '(') && strstr(line, "):"));
}

static int read_event(struct import *im, const struct input *in, const struct head *h,
		      const char *p, struct err *err)
{
	struct import_event ev = { .time_ns = h->time_ns,
				   .cpu = (uint32_t)h->cpu,
				   .seq = (uint32_t)h->seq,
				   .pid = (uint32_t)h->pid,
				   .op = TRACE_OTHER };
	char name[48];
	int rc;

	import_record(im);
	rc = acts_parse(im, p, &ev);
	if (rc < 0)
		return import_bad(im, in, err, "no event", "the event cannot be read: '%.60s'", p);
	if (rc == 0)
		return 0;
	snprintf(name, sizeof(name), "%" PRIu64 ",%" PRIu64, h->major, h->minor);
	rc = import_device(im, name, &ev.dev, err);
	return rc ? rc : import_event(im, in, &ev, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	char *line;
	size_t len;
	int rc;

	import_clock(im, "ns from the first event");
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		const char *p = line;
		struct head h;

		if (take_head(&p, &h))
			rc = read_event(im, in[0], &h, p, err);
		else if (is_trailer(line))
			import_skip(im, "header or summary");
		else
			rc = import_bad(im, in[0], err, "no event", "is no blkparse event: '%.60s'",
					line);
		if (rc < 0)
			return rc;
	}
	return rc;
}

const struct trace_format fmt_blkparse = {
	.name = "blkparse",
	.title = "blkparse text in its default format",
	.detect = detect,
	.import = import,
};
