/* SPDX-License-Identifier: MIT */
/* What a capture file says in words: the import report and the devices, a "key value" line each. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace_file.h"

enum text_kind { TEXT_STR, TEXT_U64, TEXT_OPS };

static const struct text_key {
	const char *key;
	enum text_kind kind;
	size_t at, size; /* field of struct trace_report */
} text_keys[] = {
#define STR(f) \
	{ \
#f, TEXT_STR, offsetof(struct trace_report, f), \
			sizeof(((struct trace_report *)0)->f) \
	}
#define U64(f) \
	{ \
#f, TEXT_U64, offsetof(struct trace_report, f), 8 \
	}
#define OPS(f) \
	{ \
#f, TEXT_OPS, offsetof(struct trace_report, f), 8 * TRACE_OPS \
	}
	STR(format),
	STR(event),
	STR(source),
	U64(records),
	U64(matched),
	U64(unmatched_starts),
	U64(unmatched_ends),
	U64(lost),
	U64(reordered),
	U64(errors),
	OPS(ios),
	OPS(bytes),
	STR(clock),
	STR(wall_clock_utc),
	STR(note),
#undef STR
#undef U64
#undef OPS
};

/* A value stays on its line, whatever a source's name holds. */
static void add_clean(struct buf *b, const char *s)
{
	for (; *s; s++) {
		char c = (unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s;

		buf_add(b, &c, 1);
	}
	buf_str(b, "\n");
}

void trace_text_write(struct buf *b, const struct trace_report *r, const struct trace_device *dev,
		      unsigned n_devices)
{
	for (size_t i = 0; i < sizeof(text_keys) / sizeof(text_keys[0]); i++) {
		const struct text_key *k = &text_keys[i];
		const char *at = (const char *)r + k->at;

		buf_fmt(b, "%s ", k->key);
		if (k->kind == TEXT_STR) {
			add_clean(b, at);
			continue;
		}
		for (size_t j = 0; j < k->size / 8; j++)
			buf_fmt(b, "%s%" PRIu64, j ? " " : "",
				((const uint64_t *)(const void *)at)[j]);
		buf_str(b, "\n");
	}
	for (unsigned i = 0; i < TRACE_SKIP_REASONS && r->skipped[i].reason[0]; i++) {
		buf_fmt(b, "skipped %" PRIu64 " ", r->skipped[i].n);
		add_clean(b, r->skipped[i].reason);
	}
	for (unsigned i = 0; i < n_devices; i++) {
		buf_fmt(b, "device %" PRIu64 " %" PRIu64 " ", dev[i].ios, dev[i].end_bytes);
		add_clean(b, dev[i].name);
	}
}

/* @n numbers of a line; *s moves behind them and one blank. */
static int take_numbers(const char **s, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *end;

		if (**s < '0' || **s > '9')
			return -EINVAL;
		errno = 0;
		ret[i] = strtoull(*s, &end, 10);
		if (errno || (*end != ' ' && *end != '\0'))
			return -EINVAL;
		*s = *end ? end + 1 : end;
	}
	return 0;
}

static int read_known(const struct text_key *k, const char *value, struct trace_report *r)
{
	char *at = (char *)r + k->at;

	if (k->kind != TEXT_STR)
		return take_numbers(&value, (uint64_t *)(void *)at, k->size / 8);
	snprintf(at, k->size, "%s", value);
	return 0;
}

struct text_reader {
	struct trace_report *report;
	struct trace_device *dev;
	unsigned n_devices, devices, skips;
};

static int read_line(struct text_reader *t, char *line)
{
	char *blank = strchr(line, ' ');
	const char *value;
	uint64_t v[2];

	if (!blank)
		return -EINVAL;
	*blank = '\0';
	value = blank + 1;
	if (strcmp(line, "skipped") == 0 && t->skips < TRACE_SKIP_REASONS) {
		if (take_numbers(&value, v, 1))
			return -EINVAL;
		t->report->skipped[t->skips].n = v[0];
		snprintf(t->report->skipped[t->skips++].reason,
			 sizeof(t->report->skipped[0].reason), "%s", value);
		return 0;
	}
	if (strcmp(line, "device") == 0) {
		if (t->devices == t->n_devices || take_numbers(&value, v, 2))
			return -EINVAL;
		t->dev[t->devices].ios = v[0];
		t->dev[t->devices].end_bytes = v[1];
		snprintf(t->dev[t->devices++].name, sizeof(t->dev[0].name), "%s", value);
		return 0;
	}
	for (size_t i = 0; i < sizeof(text_keys) / sizeof(text_keys[0]); i++)
		if (strcmp(line, text_keys[i].key) == 0)
			return read_known(&text_keys[i], value, t->report);
	return 0;
}

int trace_text_read(const char *text, size_t n, struct trace_report *ret_report, unsigned n_devices,
		    struct trace_device **ret_dev, struct err *err)
{
	struct text_reader t = { .report = ret_report, .n_devices = n_devices };
	char *copy = strndup(text, n), *save = NULL;
	int rc = 0;

	t.dev = calloc(n_devices ? n_devices : 1, sizeof(*t.dev));
	if (!copy || !t.dev)
		rc = err_set(err, -ENOMEM, "no memory for the capture's tables");
	memset(ret_report, 0, sizeof(*ret_report));
	for (char *l = rc ? NULL : strtok_r(copy, "\n", &save); l && !rc;
	     l = strtok_r(NULL, "\n", &save))
		if (read_line(&t, l))
			rc = err_set(err, -EINVAL, "a line of the capture's text cannot be read");
	if (!rc && t.devices != n_devices)
		rc = err_set(err, -EINVAL, "the capture's text names %u devices, its head %u",
			     t.devices, n_devices);
	free(copy);
	if (rc) {
		free(t.dev);
		return rc;
	}
	*ret_dev = t.dev;
	return 0;
}
