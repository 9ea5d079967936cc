/* SPDX-License-Identifier: MIT */
/* The outer shape of definition files: tests, workloads, suites, profiles. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/def_ast.h"

static const char *const top_words[] = { "test",   "workload", "suite", "enterprise",
					 "client", "quick",    "set",	NULL };

int parse_bad(struct parser *ps, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	return err_set(ps->err, -EINVAL, "%s:%u: %s", ps->lx.file, ps->lx.line, msg);
}

int parse_unknown(struct parser *ps, const char *what, const char *word, const char *const *list)
{
	const char *near = nearest_word(word, list);
	char show[48];

	lex_show(show, word);
	if (near)
		return parse_bad(ps, "unknown %s '%s' (did you mean '%s'?)", what, show, near);
	return parse_bad(ps, "unknown %s '%s'", what, show);
}

bool def_name_ok(const char *s)
{
	size_t n = strlen(s);

	if (!n || n >= DEF_NAME_MAX || s[0] < 'a' || s[0] > 'z')
		return false;
	return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == n;
}

/* Reads the next line of a block; -EINVAL when the text ends, blamed on the line that opened it. */
static int line_in_block(struct parser *ps, unsigned opened, const char *what, struct span *ret)
{
	int rc = lex_line(&ps->lx, ret);

	if (rc < 0)
		return rc;
	if (rc == 1)
		return 0;
	ps->lx.line = opened;
	return parse_bad(ps, "this '%s' has no 'end'", what);
}

static int end_line(struct parser *ps, struct span w)
{
	char show[48];

	if (w.n > 1)
		return parse_bad(ps, "unexpected '%s' after 'end'", lex_show(show, w.w[1].s));
	return 0;
}

static struct def *def_new(struct parser *ps, enum def_kind kind)
{
	struct def *d = arena_new(ps->arena, struct def);

	d->kind = kind;
	d->name = d->title = d->clause = "";
	d->source = ps->source;
	d->file = ps->lx.file;
	d->line = ps->lx.line;
	d->builtin = ps->builtin;
	return d;
}

static void def_append(struct parser *ps, struct def *d)
{
	if (!ps->tail)
		ps->tail = &ps->first;
	*ps->tail = d;
	ps->tail = &d->next;
}

static int take_name(struct parser *ps, struct span w, struct def *d)
{
	char show[48];

	if (w.n < 2)
		return parse_bad(ps, "'%s' needs a name", w.w[0].s);
	if (w.w[1].quoted || !def_name_ok(w.w[1].s))
		return parse_bad(ps, "bad name '%s': small letters, digits, '-' and '_'",
				 lex_show(show, w.w[1].s));
	d->name = w.w[1].s;
	return 0;
}

/* ---- test ---- */

static int test_header(struct parser *ps, struct span w, struct def *d)
{
	static const char *const words[] = { "like", "clause", NULL };
	unsigned i = 2;
	char show[48];

	int rc = take_name(ps, w, d);
	if (rc)
		return rc;
	if (i + 1 < w.n && !w.w[i].quoted && !strcmp(w.w[i].s, "like")) {
		d->like = w.w[i + 1].s;
		d->like_line = ps->lx.line;
		i += 2;
	}
	if (i < w.n && !w.w[i].quoted)
		return parse_unknown(ps, "word", w.w[i].s, words);
	if (i >= w.n)
		return parse_bad(ps, "test '%s' needs a \"title\"", d->name);
	d->title = w.w[i++].s;
	if (i >= w.n)
		return parse_bad(ps, "test '%s' needs 'clause ID' ('-' for none)", d->name);
	if (strcmp(w.w[i].s, "clause"))
		return parse_unknown(ps, "word", w.w[i].s, words);
	if (i + 1 >= w.n)
		return parse_bad(ps, "'clause' needs an id ('-' for none)");
	d->clause = w.w[i + 1].s;
	if (i + 2 < w.n)
		return parse_bad(ps, "unexpected '%s'", lex_show(show, w.w[i + 2].s));
	return 0;
}

/* Cuts @w at the word @key: what stands before it and after it. False when it is not there. */
static bool cut(struct span w, const char *key, struct span *before, struct span *after)
{
	for (unsigned i = 0; i < w.n; i++) {
		if (w.w[i].quoted || strcmp(w.w[i].s, key))
			continue;
		*before = (struct span){ w.w, i };
		*after = (struct span){ w.w + i + 1, w.n - i - 1 };
		return true;
	}
	*before = w;
	*after = (struct span){ NULL, 0 };
	return false;
}

static int param_line(struct parser *ps, struct def *d, struct span w)
{
	char show[48];
	struct span value, rest = { w.w + 3, w.n > 3 ? w.n - 3 : 0 };

	if (w.n < 3 || strcmp(w.w[2].s, "="))
		return parse_bad(ps, "a param is written: param NAME = VALUE [choice ...]");
	if (!def_name_ok(w.w[1].s) || !strcmp(w.w[1].s, "members"))
		return parse_bad(ps, "bad name '%s' of a param", lex_show(show, w.w[1].s));
	for (const struct param *p = d->param; p; p = p->next)
		if (!strcmp(p->name, w.w[1].s))
			return parse_bad(ps, "param '%s' is there twice", p->name);
	struct param *p = arena_new(ps->arena, struct param), **tail = &d->param;
	p->name = w.w[1].s;
	p->file = ps->lx.file;
	p->line = ps->lx.line;
	p->words = w;
	if (cut(rest, "choice", &value, &p->choice) && !p->choice.n)
		return parse_bad(ps, "'choice' needs values, a range LOW..HIGH, or 'any'");
	if (cut(value, "quick", &p->value.normal, &p->value.quick) && !p->value.quick.n)
		return parse_bad(ps, "'quick' needs a value");
	while (*tail)
		tail = &(*tail)->next;
	*tail = p;
	return 0;
}

struct open_block {
	struct node **tail;
	unsigned line;
	const char *word;
};

static int body_statement(struct parser *ps, struct def *d, struct span w, struct open_block *stack,
			  unsigned *depth)
{
	const char *s = w.w[0].s;
	struct node *n;

	if (!strcmp(s, "param")) {
		if (*depth)
			return parse_bad(ps, "a param stands directly in its test");
		return param_line(ps, d, w);
	}
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(s, top_words[i]))
			return parse_bad(ps, "'%s' inside test '%s': is an 'end' missing?", s,
					 d->name);
	if (d->like)
		return parse_bad(ps, "a test like another has only 'param' lines, not '%s'",
				 s[0] && strlen(s) < 40 ? s : "...");
	int rc = stmt_parse(ps, w, &n);
	if (rc)
		return rc;
	*stack[*depth].tail = n;
	stack[*depth].tail = &n->next;
	if (!stmt_is_block(n->kind))
		return 0;
	if (++*depth == DEF_DEPTH_MAX)
		return parse_bad(ps, "blocks nested too deeply");
	stack[*depth] = (struct open_block){ &n->child, ps->lx.line, s };
	return 0;
}

static int parse_test(struct parser *ps, struct span w)
{
	struct def *d = def_new(ps, DEF_TEST);
	struct open_block stack[DEF_DEPTH_MAX] = { { &d->body, ps->lx.line, "test" } };
	unsigned depth = 0;

	int rc = test_header(ps, w, d);
	while (!rc) {
		rc = line_in_block(ps, stack[depth].line, stack[depth].word, &w);
		if (rc)
			break;
		if (strcmp(w.w[0].s, "end")) {
			rc = body_statement(ps, d, w, stack, &depth);
			continue;
		}
		rc = end_line(ps, w);
		if (rc || !depth)
			break;
		depth--;
	}
	if (!rc && !d->like && !d->body)
		rc = parse_bad(ps, "test '%s' does nothing", d->name);
	if (!rc)
		def_append(ps, d);
	return rc;
}

/* ---- workload, suite ---- */

static int keep_line(struct parser *ps, struct def *d, struct span w)
{
	unsigned n = d->n_lines;

	if (n == 256)
		return parse_bad(ps, "too many lines in '%s'", d->name);
	if (!n) {
		d->line_words = arena_array(ps->arena, struct span, 256);
		d->line_no = arena_array(ps->arena, unsigned, 256);
	}
	d->line_words[n] = w;
	d->line_no[n] = ps->lx.line;
	d->n_lines++;
	return 0;
}

static int workload_header(struct parser *ps, struct span w, struct def *d)
{
	int rc = take_name(ps, w, d);

	if (rc)
		return rc;
	if (w.n != 5 || !w.w[2].quoted || strcmp(w.w[3].s, "source"))
		return parse_bad(
			ps, "a workload begins: workload NAME \"TITLE\" source \"WHERE FROM\"");
	d->title = w.w[2].s;
	d->clause = w.w[4].s;
	d->wl = arena_new(ps->arena, struct workload_def);
	d->wl->read_pct = -1;
	return 0;
}

static int parse_workload(struct parser *ps, struct span w)
{
	struct def *d = def_new(ps, DEF_WORKLOAD);
	unsigned opened = ps->lx.line;

	int rc = workload_header(ps, w, d);
	if (!rc &&
	    (!strcmp(d->name, "rnd") || !strcmp(d->name, "seq") || !strcmp(d->name, "composite")))
		rc = parse_bad(ps, "'%s' has a meaning of its own and names no workload", d->name);
	while (!rc) {
		rc = line_in_block(ps, opened, "workload", &w);
		if (rc)
			break;
		if (!strcmp(w.w[0].s, "end")) {
			rc = end_line(ps, w);
			break;
		}
		rc = keep_line(ps, d, w);
		if (!rc)
			rc = workload_line(ps, d, w);
	}
	if (!rc)
		rc = workload_done(ps, d);
	if (!rc)
		def_append(ps, d);
	return rc;
}

static int parse_suite(struct parser *ps, struct span w)
{
	struct def *d = def_new(ps, DEF_SUITE);
	unsigned opened = ps->lx.line;
	char show[48];

	int rc = take_name(ps, w, d);
	if (!rc && (w.n > 3 || (w.n == 3 && !w.w[2].quoted)))
		rc = parse_bad(ps, "a suite begins: suite NAME [\"TITLE\"]");
	if (!rc && w.n == 3)
		d->title = w.w[2].s;
	while (!rc) {
		rc = line_in_block(ps, opened, "suite", &w);
		if (rc)
			break;
		if (!strcmp(w.w[0].s, "end")) {
			rc = end_line(ps, w);
			break;
		}
		if (w.n > 1)
			rc = parse_bad(ps, "one test a line in a suite, not '%s' too",
				       lex_show(show, w.w[1].s));
		else
			rc = keep_line(ps, d, w);
	}
	if (!rc && !d->n_lines)
		rc = parse_bad(ps, "suite '%s' is empty", d->name);
	if (!rc)
		def_append(ps, d);
	return rc;
}

/* ---- profiles.pts ---- */

static int profile_word(struct parser *ps, struct profile_side *s, const char *key, const char *val)
{
	static const char *const keys[] = { "write-cache", "range", "threads", "qd", NULL };
	static const char *const states[] = { "on", "off", NULL };
	uint64_t v = 0;
	char show[48];
	int rc = 0;

	if (!strcmp(key, "write-cache")) {
		if (strcmp(val, "on") && strcmp(val, "off"))
			return parse_unknown(ps, "state", val, states);
		s->write_cache = !strcmp(val, "on");
		return 0;
	}
	if (!strcmp(key, "range"))
		rc = parse_pct(val, &s->range_pct) || s->range_pct <= 0 || s->range_pct > 100;
	else if (!strcmp(key, "threads"))
		rc = parse_uint(val, 1, 256, &v);
	else if (!strcmp(key, "qd"))
		rc = parse_uint(val, 1, 1024, &v);
	else
		return parse_unknown(ps, "word", key, keys);
	if (rc)
		return parse_bad(ps, "bad value '%s' of '%s'", lex_show(show, val), key);
	if (!strcmp(key, "threads"))
		s->threads = (unsigned)v;
	else if (!strcmp(key, "qd"))
		s->qd = (unsigned)v;
	return 0;
}

static int parse_profile(struct parser *ps, struct span w)
{
	struct profile_side *s = &ps->profile.side[!strcmp(w.w[0].s, "client")];

	if (s->set)
		return parse_bad(ps, "profile '%s' is there twice", w.w[0].s);
	if (w.n != 9)
		return parse_bad(
			ps, "a profile is written: %s write-cache on|off range PCT threads N qd N",
			w.w[0].s);
	*s = (struct profile_side){ .set = true, .range_pct = -1 };
	for (unsigned i = 1; i < 9; i += 2) {
		int rc = profile_word(ps, s, w.w[i].s, w.w[i + 1].s);
		if (rc)
			return rc;
	}
	if (!s->threads || !s->qd || s->range_pct <= 0)
		return parse_bad(ps, "profile '%s' misses range, threads or qd", w.w[0].s);
	return 0;
}

static int parse_quick(struct parser *ps, struct span w)
{
	uint64_t v;

	if (w.n != 3 || strcmp(w.w[1].s, "range"))
		return parse_bad(ps, "it is written: quick range SIZE");
	if (parse_size(w.w[2].s, &v) || v < 1u << 20)
		return parse_bad(ps, "bad size of the quick range (at least 1m)");
	ps->profile.quick_range_bytes = v;
	return 0;
}

static int parse_set(struct parser *ps, struct span w)
{
	uint64_t v;

	if (w.n != 2 || parse_uint(w.w[1].s, 1, 1000000, &v))
		return parse_bad(ps, "it is written: set NUMBER");
	ps->set = (int)v;
	return 0;
}

int def_parse_text(struct parser *ps, const char *file, const char *text, size_t len)
{
	struct span w;
	int rc;

	ps->lx.arena = ps->arena;
	ps->lx.err = ps->err;
	lex_init(&ps->lx, arena_strdup(ps->arena, file), text, len);
	while ((rc = lex_line(&ps->lx, &w)) == 1) {
		const char *s = w.w[0].s;
		if (!strcmp(s, "test"))
			rc = parse_test(ps, w);
		else if (!strcmp(s, "workload"))
			rc = parse_workload(ps, w);
		else if (!strcmp(s, "suite"))
			rc = parse_suite(ps, w);
		else if (!strcmp(s, "enterprise") || !strcmp(s, "client"))
			rc = parse_profile(ps, w);
		else if (!strcmp(s, "quick"))
			rc = parse_quick(ps, w);
		else if (!strcmp(s, "set"))
			rc = parse_set(ps, w);
		else
			rc = parse_unknown(ps, "word", s, top_words);
		if (rc)
			return rc;
	}
	return rc;
}
