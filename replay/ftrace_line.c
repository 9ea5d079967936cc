/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay/fields.h"
#include "replay/ftrace_line.h"

/* " 12.345678:" with or without flags such as "d..1." or "1..." before it. */
static bool take_time(const char **p, int64_t *ret)
{
	const char *s = *p;

	take_blanks(&s);
	if (s[strspn(s, "0123456789")] != '.' || !strchr("0123456789", s[0])) {
		s += strcspn(s, " ");
		take_blanks(&s);
	} else if (s[strspn(s, "0123456789.")] != ':') { /* flags that begin with digits */
		s += strcspn(s, " ");
		take_blanks(&s);
	}
	if (!take_fixed(&s, 9, ret) || !take_char(&s, ':'))
		return false;
	take_blanks(&s);
	*p = s;
	return true;
}

/* comm may hold anything, brackets too: the "[000]" before a time is the one. */
bool ftrace_head(const char **p, struct ftrace_head *ret)
{
	if (**p == '#')
		return false;
	for (const char *b = strchr(*p, '['); b; b = strchr(b + 1, '[')) {
		const char *s = b + 1, *pid = b;

		if (!take_u64(&s, &ret->cpu) || !take_char(&s, ']') ||
		    !take_time(&s, &ret->time_ns))
			continue;
		while (pid > *p && pid[-1] == ' ')
			pid--;
		while (pid > *p && pid[-1] >= '0' && pid[-1] <= '9')
			pid--;
		ret->pid = 0;
		(void)take_u64(&pid, &ret->pid);
		*p = s;
		return true;
	}
	return false;
}

/* "CPU:1 [LOST 123 EVENTS]" */
static bool is_lost(struct import *im, const char *line)
{
	const char *p = strstr(line, "[LOST ");
	uint64_t n;

	if (!p)
		return false;
	p += strlen("[LOST ");
	if (take_u64(&p, &n))
		import_lost(im, n);
	return true;
}

int ftrace_other(struct import *im, const struct input *in, const char *line, struct err *err)
{
	bool header = line[0] == '#' || strncmp(line, "cpus=", 5) == 0 ||
		      line[strspn(line, " \t")] == '\0' || strncmp(line, "version = ", 10) == 0;

	if (!header && !is_lost(im, line))
		return import_bad(im, in, err, "no event", "is no line of a trace: '%.60s'", line);
	import_skip(im, "header");
	return 0;
}
