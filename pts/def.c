/* SPDX-License-Identifier: MIT */
/* The library of definitions: the built-in set, and the folders that hide parts of it. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/embed.h"
#include "pts/base/words.h"
#include "pts/def_ast.h"

static int def_compare(const struct def *a, const struct def *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Puts @d in its place; one of the same name that is there already hides it. */
static int lib_insert(struct def_lib *lib, struct def *d, struct err *err)
{
	struct def **at = &lib->first;
	int order = 1;

	while (*at && (order = def_compare(*at, d)) < 0)
		at = &(*at)->next;
	if (!*at || order) {
		d->next = *at;
		*at = d;
		return 0;
	}
	if ((*at)->source == d->source)
		return err_set(err, -EINVAL, "%s:%u: '%s' is already defined at %s:%u", d->file,
			       d->line, d->name, (*at)->file, (*at)->line);
	if (d->builtin)
		(*at)->hidden = d;
	return 0;
}

static int lib_take(struct def_lib *lib, struct parser *ps)
{
	struct def *next;

	for (struct def *d = ps->first; d; d = next) {
		next = d->next;
		int rc = lib_insert(lib, d, ps->err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Profiles of the first folder that has them count; the built-in ones come last and tell whether those differ. */
static void take_profile(struct profile_def *to, const struct profile_def *from)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct profile_side *f = &from->side[i];
		struct profile_side *t = &to->side[i];
		if (!f->set)
			continue;
		if (!t->set)
			*t = *f;
		else
			to->changed |= t->write_cache != f->write_cache ||
				       t->threads != f->threads || t->range_pct != f->range_pct ||
				       t->qd != f->qd;
	}
	if (!to->quick_range_bytes)
		to->quick_range_bytes = from->quick_range_bytes;
}

static int load_builtin(struct def_lib *lib, struct err *err)
{
	const struct embed *const lists[] = { embed_defs, embed_workloads };
	struct parser ps = {
		.arena = &lib->arena, .err = err, .builtin = true, .source = "built-in"
	};

	for (unsigned i = 0; i < 2; i++) {
		for (const struct embed *e = lists[i]; e->name; e++) {
			int rc = def_parse_text(&ps, e->name, e->data, e->len);
			if (rc)
				return rc;
		}
	}
	lib->set = ps.set;
	take_profile(lib->profile, &ps.profile);
	return lib_take(lib, &ps);
}

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);

	return n > e && name[0] != '.' && !strcmp(name + n - e, ending);
}

static int wanted(const struct dirent *d)
{
	return has_ending(d->d_name, ".pts") || has_ending(d->d_name, ".wl");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_file(struct parser *ps, const char *path)
{
	struct buf text = BUF_INIT;

	int rc = buf_read_file(&text, path, DEF_FILE_MAX);
	if (rc == -EFBIG)
		rc = err_set(ps->err, -EINVAL, "%s: larger than 1 MiB: not a definition", path);
	else if (rc)
		err_set(ps->err, rc, "%s: %s", path, strerror(-rc));
	else
		rc = def_parse_text(ps, path, buf_cstr(&text), text.len);
	buf_release(&text);
	return rc;
}

static int load_folder(struct def_lib *lib, const char *folder, struct err *err)
{
	struct parser ps = { .arena = &lib->arena, .err = err };
	struct dirent **list;
	int rc = 0, n = scandir(folder, &list, wanted, by_name);

	if (n < 0 && errno == ENOENT)
		return err_set(err, -ENOENT, "PTS_DEF_PATH: there is no folder '%s'", folder);
	if (n < 0)
		return err_set(err, -EINVAL, "PTS_DEF_PATH: '%s': %s", folder, strerror(errno));
	ps.source = arena_strdup(&lib->arena, folder);
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = load_file(&ps, arena_fmt(ps.arena, "%s/%s", folder, list[i]->d_name));
		free(list[i]);
	}
	free(list);
	if (rc)
		return rc;
	take_profile(lib->profile, &ps.profile);
	return lib_take(lib, &ps);
}

/* A file named on the command line. */
static int load_single(struct def_lib *lib, const char *file, struct err *err)
{
	struct parser ps = { .arena = &lib->arena, .err = err };
	int rc;

	ps.source = arena_strdup(&lib->arena, file);
	rc = load_file(&ps, ps.source);
	if (rc)
		return rc;
	take_profile(lib->profile, &ps.profile);
	return lib_take(lib, &ps);
}

bool def_is_file(const char *word)
{
	return has_ending(word, ".pts") || strchr(word, '/');
}

static int load_path(struct def_lib *lib, const char *path, struct err *err)
{
	int rc = 0;

	while (path && *path && !rc) {
		size_t n = strcspn(path, ":");
		if (n)
			rc = load_folder(lib, arena_strndup(&lib->arena, path, n), err);
		path += n;
		path += *path == ':';
	}
	return rc;
}

static int lib_check(struct def_lib *lib, struct err *err)
{
	const struct profile_def *p = lib->profile;
	int rc = def_link(lib, err);

	if (!rc && (!p->side[0].set || !p->side[1].set || !p->quick_range_bytes))
		rc = err_set(err, -EINVAL, "profiles.pts: enterprise, client or quick is missing");
	for (const struct def *d = lib->first; d && !rc; d = d->next)
		if (d->kind == DEF_TEST)
			rc = plan_try(lib, d, err);
	return rc;
}

int def_lib_load_files(struct def_lib *lib, const char *const *words, unsigned n, const char *path,
		       struct err *err)
{
	int rc = 0;

	*lib = (struct def_lib){ .arena = ARENA_INIT };
	lib->profile = arena_new(&lib->arena, struct profile_def);
	for (unsigned i = 0; i < n && !rc; i++)
		if (def_is_file(words[i]))
			rc = load_single(lib, words[i], err);
	if (!rc)
		rc = load_path(lib, path, err);
	if (!rc)
		rc = load_builtin(lib, err);
	if (!rc)
		rc = lib_check(lib, err);
	if (rc)
		def_lib_release(lib);
	return rc;
}

int def_lib_load(struct def_lib *lib, const char *path, struct err *err)
{
	return def_lib_load_files(lib, NULL, 0, path, err);
}

void def_lib_release(struct def_lib *lib)
{
	arena_release(&lib->arena);
	*lib = (struct def_lib){ .arena = ARENA_INIT };
}

const struct def *def_find(const struct def_lib *lib, enum def_kind kind, const char *name)
{
	for (const struct def *d = lib->first; d; d = d->next)
		if (d->kind == kind && !strcmp(d->name, name))
			return d;
	return NULL;
}

const struct def *def_next(const struct def_lib *lib, const struct def *d)
{
	return d ? d->next : lib->first;
}

static bool same_text(const struct def *a, const struct def *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;

	def_text(NULL, a, &x);
	def_text(NULL, b, &y);
	bool same = !strcmp(buf_cstr(&x), buf_cstr(&y));
	buf_release(&x);
	buf_release(&y);
	return same;
}

struct def_summary def_summary(const struct def *d)
{
	return (struct def_summary){
		.kind = d->kind,
		.name = d->name,
		.title = d->title,
		.clause = d->kind == DEF_TEST ? d->clause : "",
		.source = d->builtin ? "built-in" : d->file,
		.origin = d->kind == DEF_WORKLOAD ? d->clause : "",
		.formal = d->builtin || (d->hidden && same_text(d, d->hidden)),
	};
}

static void add_once(const struct def **list, unsigned *n, const struct def *d)
{
	for (unsigned i = 0; i < *n; i++)
		if (list[i] == d)
			return;
	list[(*n)++] = d;
}

static int resolve_unknown(struct def_lib *lib, const char *word, struct err *err)
{
	unsigned n = 0;
	char show[48];
	const char **names, *near;

	for (const struct def *d = lib->first; d; d = d->next)
		n++;
	names = arena_array(&lib->arena, const char *, n + 1);
	n = 0;
	for (const struct def *d = lib->first; d; d = d->next)
		if (d->kind != DEF_WORKLOAD)
			names[n++] = d->name;
	lex_show(show, word);
	if (def_find(lib, DEF_WORKLOAD, word))
		return err_set(err, -EINVAL,
			       "'%s' is a workload; a test runs it, as in: wsat --set access=%s",
			       show, show);
	near = nearest_word(word, names);
	if (near)
		return err_set(err, -EINVAL, "unknown test or suite '%s' (did you mean '%s'?)",
			       show, near);
	return err_set(err, -EINVAL, "unknown test or suite '%s' (pts list tests)", show);
}

static void add_suite(const struct def **list, unsigned *n, const struct def *suite)
{
	for (unsigned k = 0; k < suite->n_members; k++)
		add_once(list, n, suite->member[k]);
}

/* The suites of a file in the order of its lines; of one without suites, its tests. */
/* A file of words that defines nothing at all was meant to define something. */
static bool file_is_empty(const struct def_lib *lib, const char *file)
{
	for (const struct def *d = lib->first; d; d = d->next)
		if (!strcmp(d->file, file))
			return false;
	return true;
}

static void add_file(const struct def_lib *lib, const char *file, const struct def **list,
		     unsigned *n)
{
	static const enum def_kind kinds[] = { DEF_SUITE, DEF_TEST };
	unsigned before = *n;

	for (unsigned k = 0; k < 2 && *n == before; k++) {
		const struct def *next = NULL;
		unsigned line = 0;

		do {
			next = NULL;
			for (const struct def *d = lib->first; d; d = d->next)
				if (d->kind == kinds[k] && !strcmp(d->file, file) &&
				    d->line > line && (!next || d->line < next->line))
					next = d;
			if (next && kinds[k] == DEF_SUITE)
				add_suite(list, n, next);
			else if (next)
				add_once(list, n, next);
			line = next ? next->line : 0;
		} while (next);
	}
}

int def_resolve(struct def_lib *lib, const char *const *words, unsigned n,
		const struct def ***ret_tests, unsigned *ret_n, struct err *err)
{
	unsigned all = 0, count = 0;
	const struct def **list;

	for (const struct def *d = lib->first; d; d = d->next)
		all += d->kind == DEF_TEST;
	list = arena_array(&lib->arena, const struct def *, all + 1);
	for (unsigned i = 0; i < n; i++) {
		const struct def *d = def_find(lib, DEF_TEST, words[i]);
		if (d) {
			add_once(list, &count, d);
			continue;
		}
		d = def_find(lib, DEF_SUITE, words[i]);
		if (d)
			add_suite(list, &count, d);
		else if (def_is_file(words[i]) && file_is_empty(lib, words[i]))
			return err_set(err, -EINVAL, "%s: it defines no test", words[i]);
		else if (def_is_file(words[i]))
			add_file(lib, words[i], list, &count);
		else
			return resolve_unknown(lib, words[i], err);
	}
	*ret_tests = list;
	*ret_n = count;
	return 0;
}
