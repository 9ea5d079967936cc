/* SPDX-License-Identifier: MIT */
/* pts trace stat|streams|steps|cut|export CAP: what is in a capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/embed.h"
#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/cmd_trace.h"

static int trace_stat(const struct opts *o, struct trace *t)
{
	struct buf out = BUF_INIT;
	int rc;

	trace_stat_print(trace_head(t), o->json, &out);
	if (!o->json)
		trace_warn(o, trace_head(t));
	rc = cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return rc;
}

static const struct trace_action {
	const char *word;
	int (*fn)(const struct opts *o, struct trace *t);
} actions[] = { { "stat", trace_stat },
		{ "streams", trace_streams },
		{ "steps", trace_steps },
		{ "cut", trace_cut },
		{ "export", trace_export } };

int trace_choose(const struct opts *o, struct trace_choice *ret)
{
	uint64_t v;

	*ret = (struct trace_choice){ .rule.strict = o->seq_rule &&
						     strcmp(o->seq_rule, "strict") == 0 };
	if (o->seq_window) {
		if (parse_uint(o->seq_window, 1, SEQ_WINDOW_MAX, &v))
			return cmd_usage(o, "--seq-window takes 1 to %u, not '%s'", SEQ_WINDOW_MAX,
					 o->seq_window);
		ret->rule.window = (unsigned)v;
	}
	if (o->step && (parse_time(o->step, &ret->step_ns) || !ret->step_ns))
		return cmd_usage(o, "--step takes a time such as 1s, not '%s'", o->step);
	if (o->top) {
		if (parse_uint(o->top, 1, 1000000, &v))
			return cmd_usage(o, "--top takes a number of streams, not '%s'", o->top);
		ret->top = (unsigned)v;
	}
	if (o->cover && (parse_number(o->cover, &ret->cover_pct) || ret->cover_pct <= 0 ||
			 ret->cover_pct > 100))
		return cmd_usage(o, "--cover takes a percentage, not '%s'", o->cover);
	return 0;
}

const char *stream_name(const struct stream_stat *s, char *out, size_t n)
{
	snprintf(out, n, "%s %.10gK %s", s->order == IO_SEQ ? "SEQ" : "RND",
		 (double)s->bytes / 1024, s->op == IO_WRITE ? "W" : "R");
	return out;
}

#define MAP_BYTES_MAX ((size_t)256 << 20)

bool trace_find_map(const char *path, struct buf *text)
{
	char name[128];
	const struct embed *own;
	FILE *f = fopen(path, "re");

	if (f) {
		char head[64];
		size_t n = fread(head, 1, sizeof(head), f);

		fclose(f);
		return streammap_is(head, n) && buf_read_file(text, path, MAP_BYTES_MAX) == 0;
	}
	snprintf(name, sizeof(name), "%s.csv", path);
	own = embed_find(embed_maps, name);
	if (own)
		buf_add(text, own->data, own->len);
	return own != NULL;
}

static int on_map(const struct opts *o, const struct trace_action *a, const struct buf *text)
{
	struct err err = { "" };
	struct streammap m;
	int rc;

	if (a->fn != trace_streams && a->fn != trace_steps)
		return cmd_usage(o,
				 "%s is a stream map and has no IOs of its own: streams and steps "
				 "are what it has",
				 o->arg.v[1]);
	rc = streammap_parse(o->arg.v[1], text->s, text->len, &m, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = trace_map(o, &m, a->fn == trace_steps);
	streammap_release(&m);
	return rc;
}

static int on_capture(const struct opts *o, const struct trace_action *a)
{
	struct buf text = BUF_INIT;
	struct err err = { "" };
	struct trace *t;
	int rc;

	if (trace_find_map(o->arg.v[1], &text)) {
		rc = on_map(o, a, &text);
		buf_release(&text);
		return rc;
	}
	buf_release(&text);
	rc = trace_open(o->arg.v[1], true, &t, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = a->fn(o, t);
	trace_close(t);
	return rc;
}

int cmd_trace(const struct opts *o)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(o->arg.v[0], actions[i].word) != 0)
			continue;
		if (o->arg.n != 2)
			return cmd_usage(o, "%s needs a capture: pts trace %s CAP", actions[i].word,
					 actions[i].word);
		return on_capture(o, &actions[i]);
	}
	return cmd_usage(o, "'%s' is none of stat, streams, steps, cut, export", o->arg.v[0]);
}
