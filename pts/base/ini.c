/* SPDX-License-Identifier: MIT */
#include "pts/base/ini.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "pts/base/words.h"

struct reading {
	struct arena *a;
	struct ini_file *to;
	struct err *err;
};

/* Room doubles at each power of two. */
static bool is_full(unsigned n)
{
	return (n & (n - 1)) == 0;
}

static void add_section(struct reading *r, const char *name, unsigned line)
{
	struct ini_file *f = r->to;

	if (is_full(f->n)) {
		struct ini_section *v = arena_array(r->a, struct ini_section, f->n * 2 + 1);
		if (f->n)
			memcpy(v, f->v, f->n * sizeof *v);
		f->v = v;
	}
	f->v[f->n++] = (struct ini_section){ .name = arena_strdup(r->a, name), .line = line };
}

static void add_pair(struct reading *r, struct ini_section *s, const struct ini_pair *p)
{
	if (is_full(s->n)) {
		struct ini_pair *v = arena_array(r->a, struct ini_pair, s->n * 2 + 1);
		if (s->n)
			memcpy(v, s->v, s->n * sizeof *v);
		s->v = v;
	}
	s->v[s->n++] = *p;
}

static int take(void *arg, const char *section, const char *key, const char *value, unsigned line)
{
	struct reading *r = arg;
	const char *file = r->to->name;

	if (!key) {
		add_section(r, section, line);
		return 0;
	}
	if (!r->to->n)
		return err_set(r->err, -EINVAL, "%s:%u: '%.60s' stands before the first [section]",
			       file, line, key);
	struct ini_section *s = &r->to->v[r->to->n - 1];
	const struct ini_pair *before = ini_pair(s, key);
	if (before)
		return err_set(r->err, -EINVAL, "%s:%u: '%.60s' was given in line %u already", file,
			       line, key, before->line);
	if (!*value)
		return err_set(r->err, -EINVAL, "%s:%u: '%.60s' has no value", file, line, key);
	add_pair(r, s,
		 &(struct ini_pair){ arena_strdup(r->a, key), arena_strdup(r->a, value), line });
	return 0;
}

int ini_sections(const char *name, const char *text, size_t len, struct arena *a,
		 struct ini_file *ret, struct err *err)
{
	struct reading r = { a, ret, err };

	*ret = (struct ini_file){ .name = name };
	return ini_read_sections(name, text, len, take, &r, err);
}

const struct ini_pair *ini_pair(const struct ini_section *s, const char *key)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].key, key))
			return &s->v[i];
	return NULL;
}

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (!strcmp(key, *keys))
			return true;
	return false;
}

int ini_only(const struct ini_file *f, const struct ini_section *s, const char *const *keys,
	     struct err *err)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct ini_pair *p = &s->v[i];
		if (is_one_of(p->key, keys))
			continue;
		const char *near = nearest_word(p->key, keys);
		return err_set(err, -EINVAL, "%s:%u: unknown key '%.60s'%s%s%s", f->name, p->line,
			       p->key, near ? " (did you mean '" : "", near ? near : "",
			       near ? "'?)" : "");
	}
	return 0;
}
