/* SPDX-License-Identifier: MIT */
/* Names to definitions: `like`, the tests of suites. A built-in test is like a built-in one, whatever hides that. */
#include <errno.h>
#include <string.h>

#include "pts/base/words.h"
#include "pts/def_ast.h"

static int link_bad(const struct def *d, unsigned line, struct err *err, const char *what,
		    const char *name, const char *near)
{
	char show[48];

	lex_show(show, name);
	if (near)
		return err_set(err, -EINVAL, "%s:%u: %s '%s' (did you mean '%s'?)", d->file, line,
			       what, show, near);
	return err_set(err, -EINVAL, "%s:%u: %s '%s'", d->file, line, what, show);
}

/* Names of all definitions of a kind, for messages. */
static const char *const *names_of(struct def_lib *lib, enum def_kind kind)
{
	unsigned n = 0;
	const char **list;

	for (const struct def *d = lib->first; d; d = d->next)
		n += d->kind == kind;
	list = arena_array(&lib->arena, const char *, n + 1);
	n = 0;
	for (const struct def *d = lib->first; d; d = d->next)
		if (d->kind == kind)
			list[n++] = d->name;
	return list;
}

static struct param *param_find(struct param *p, const char *name)
{
	while (p && strcmp(p->name, name))
		p = p->next;
	return p;
}

static struct param **param_add(struct def_lib *lib, struct param **tail, const struct param *p)
{
	struct param *copy = arena_memdup(&lib->arena, p, sizeof *p);

	copy->next = NULL;
	*tail = copy;
	return &copy->next;
}

/* The other's params with the own ones in their place; new ones come first, since others may use them. */
static struct param *merge_params(struct def_lib *lib, struct param *own, struct param *base)
{
	struct param *first = NULL, **tail = &first;

	for (struct param *p = own; p; p = p->next)
		if (!param_find(base, p->name))
			tail = param_add(lib, tail, p);
	for (struct param *p = base; p; p = p->next) {
		struct param *mine = param_find(own, p->name);
		tail = param_add(lib, tail, mine ? mine : p);
	}
	return first;
}

static const struct def *like_target(const struct def_lib *lib, const struct def *d)
{
	for (const struct def *o = lib->first; o; o = o->next) {
		if (o->kind != DEF_TEST || strcmp(o->name, d->like))
			continue;
		if (o == d || (d->builtin && !o->builtin))
			return o->hidden;
		return o;
	}
	return NULL;
}

static int link_like(struct def_lib *lib, struct def *d, unsigned depth, struct err *err)
{
	if (!d->like || d->like_def)
		return 0;
	if (depth > 32)
		return link_bad(d, d->like_line, err,
				"a circle of tests that are like another:", d->name, NULL);
	/* The cast is safe: definitions are the library's, and const only to its users. */
	struct def *o = (struct def *)(uintptr_t)like_target(lib, d);
	if (!o)
		return !strcmp(d->like, d->name)
			       ? link_bad(d, d->like_line, err, "a test like itself:", d->name,
					  NULL)
			       : link_bad(d, d->like_line, err, "unknown test", d->like,
					  nearest_word(d->like, names_of(lib, DEF_TEST)));
	int rc = link_like(lib, o, depth + 1, err);
	if (rc)
		return rc;
	d->param = merge_params(lib, d->param, o->param);
	d->body = o->body;
	d->like_def = o;
	return 0;
}

static int link_suite(struct def_lib *lib, struct def *d, struct err *err)
{
	if (def_find(lib, DEF_TEST, d->name))
		return link_bad(d, d->line, err, "a test has the name of this suite:", d->name,
				NULL);
	d->member = arena_array(&lib->arena, const struct def *, d->n_lines);
	for (unsigned i = 0; i < d->n_lines; i++) {
		const char *name = d->line_words[i].w[0].s;
		const struct def *t = def_find(lib, DEF_TEST, name);
		if (!t)
			return link_bad(d, d->line_no[i], err, "unknown test", name,
					nearest_word(name, names_of(lib, DEF_TEST)));
		d->member[i] = t;
	}
	d->n_members = d->n_lines;
	return 0;
}

int def_link(struct def_lib *lib, struct err *err)
{
	int rc = 0;

	for (struct def *d = lib->first; d && !rc; d = d->next) {
		struct def *hidden = (struct def *)(uintptr_t)d->hidden;
		if (d->kind == DEF_TEST && hidden)
			rc = link_like(lib, hidden, 0, err);
		if (!rc && d->kind == DEF_TEST)
			rc = link_like(lib, d, 0, err);
	}
	for (struct def *d = lib->first; d && !rc; d = d->next)
		if (d->kind == DEF_SUITE)
			rc = link_suite(lib, d, err);
	return rc;
}
