/* SPDX-License-Identifier: MIT */
/* Definitions back to text: one blank between words, tabs for depth, `like` resolved, no comments. */
#include <string.h>

#include "pts/def_ast.h"

/* Nothing stands between "(" and the word after it, or before ")". */
static bool blank_between(const struct word *a, const struct word *b)
{
	return (a->quoted || strcmp(a->s, "(")) && (b->quoted || strcmp(b->s, ")"));
}

void span_text(struct span s, struct buf *out)
{
	for (unsigned i = 0; i < s.n; i++) {
		if (i && blank_between(&s.w[i - 1], &s.w[i]))
			buf_str(out, " ");
		buf_fmt(out, s.w[i].quoted ? "\"%s\"" : "%s", s.w[i].s);
	}
}

static void indent(struct buf *out, unsigned depth)
{
	while (depth--)
		buf_str(out, "\t");
}

static void body_text(const struct node *n, unsigned depth, struct buf *out)
{
	for (; n; n = n->next) {
		indent(out, depth);
		span_text(n->words, out);
		buf_str(out, "\n");
		if (!stmt_is_block(n->kind))
			continue;
		body_text(n->child, depth + 1, out);
		indent(out, depth);
		buf_str(out, "end\n");
	}
}

static bool plain(const char *s)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	return *s && strspn(s, chars) == strlen(s);
}

static void test_text(const struct def *d, struct buf *out)
{
	buf_fmt(out, "test %s \"%s\" clause ", d->name, d->title);
	buf_fmt(out, plain(d->clause) ? "%s\n" : "\"%s\"\n", d->clause);
	for (const struct param *p = d->param; p; p = p->next) {
		buf_str(out, "\t");
		span_text(p->words, out);
		buf_str(out, "\n");
	}
	body_text(d->body, 1, out);
}

static void lines_text(const struct def *d, struct buf *out)
{
	for (unsigned i = 0; i < d->n_lines; i++) {
		buf_str(out, "\t");
		span_text(d->line_words[i], out);
		buf_str(out, "\n");
	}
}

void def_text(const struct def_lib *lib, const struct def *d, struct buf *out)
{
	(void)lib;
	if (d->kind == DEF_TEST) {
		test_text(d, out);
	} else if (d->kind == DEF_WORKLOAD) {
		buf_fmt(out, "workload %s \"%s\" source \"%s\"\n", d->name, d->title, d->clause);
		lines_text(d, out);
	} else {
		buf_fmt(out, *d->title ? "suite %s \"%s\"\n" : "suite %s\n", d->name, d->title);
		lines_text(d, out);
	}
	buf_str(out, "end\n");
}
