/* SPDX-License-Identifier: MIT */
#include "pts/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/doctor_exam.h"

const char *doctor_verdict_name(enum doctor_verdict v)
{
	static const char *const name[] = { "ok", "warn", "bad", "unknown" };

	BUG_ON(v > DOCTOR_UNKNOWN);
	return name[v];
}

static const char *format(struct arena *a, const char *fmt, va_list ap) printf_like(2, 0);
static const char *format(struct arena *a, const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof text, fmt, ap);
	return arena_strdup(a, text);
}

void exam_say(struct exam *x, const char *check, enum doctor_verdict v, const char *fmt, ...)
{
	struct doctor_check *c = &x->out->check[x->out->n];
	va_list ap;

	BUG_ON(x->out->n >= DOCTOR_CHECKS_MAX);
	va_start(ap, fmt);
	*c = (struct doctor_check){ check, v, format(x->arena, fmt, ap), NULL };
	va_end(ap);
	x->out->n++;
	x->out->fit &= v != DOCTOR_WARN && v != DOCTOR_BAD;
}

void exam_advise(struct exam *x, const char *fmt, ...)
{
	va_list ap;

	BUG_ON(!x->out->n);
	va_start(ap, fmt);
	x->out->check[x->out->n - 1].advice = format(x->arena, fmt, ap);
	va_end(ap);
}

const char *exam_fact(const struct exam *x, const char *key)
{
	for (const struct key_value *kv = x->facts; kv->key; kv++) {
		if (!strcmp(kv->key, key))
			return kv->value;
	}
	return "";
}

unsigned exam_cpus(const struct exam *x)
{
	unsigned long n = strtoul(exam_fact(x, "cpu_threads"), NULL, 10);

	return n && n < 1u << 20 ? (unsigned)n : 1;
}

bool exam_field(const struct exam *x, const char *file, const char *key, char *ret, size_t n)
{
	struct sys_lines l;
	size_t len = strlen(key);
	bool found = false;
	char *line;

	ret[0] = '\0';
	sys_lines_open(&l, x->root, file);
	while (!found && (line = sys_lines_next(&l)) != NULL) {
		char *colon = strchr(line, ':');

		/* "flags\t\t: fpu vme": blanks may stand before the colon */
		found = colon && !strncmp(line, key, len) &&
			len + strspn(line + len, " \t") == (size_t)(colon - line);
		if (found)
			snprintf(ret, n, "%s", colon + 1 + strspn(colon + 1, " \t"));
	}
	sys_lines_close(&l);
	return found;
}

bool cpulist_next(const char **list, unsigned *ret_lo, unsigned *ret_hi)
{
	const char *s = *list;
	char *end;
	unsigned long lo, hi;

	s += strspn(s, ", \n");
	lo = hi = strtoul(s, &end, 10);
	if (end == s)
		return false;
	if (*end == '-')
		hi = strtoul(end + 1, &end, 10);
	*list = end;
	*ret_lo = (unsigned)lo;
	*ret_hi = (unsigned)hi;
	return true;
}

bool cpulist_has(const char *list, unsigned cpu)
{
	unsigned lo, hi;

	while (cpulist_next(&list, &lo, &hi)) {
		if (cpu >= lo && cpu <= hi)
			return true;
	}
	return false;
}

void doctor_examine(struct arena *a, const struct doctor_conf *conf, struct doctor *ret)
{
	const char *path = conf->target ? conf->target->path : "";
	struct exam x = { a, conf, conf->sysroot, host_facts_at(a, conf->sysroot, path), ret };

	*ret = (struct doctor){ .fit = true };
	exam_host(&x);
	exam_target(&x);
}
