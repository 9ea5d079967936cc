/* SPDX-License-Identifier: MIT */
/* Reading a claims file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "pts/base/ini.h"
#include "pts/base/units.h"
#include "pts/base/words.h"
#include "reports/claims_words.h"
#include "schema/read.h"

#define FILE_MAX (1u << 20) /* bytes */
#define TESTS_MAX 256 /* names a message may choose from */

static const char *const keys[] = { "test",	 "access",    "tc",    "qd",
				    "section",	 "metric",    "value", "better",
				    "tolerance", "condition", "model", NULL };

/* One section of the file, while it becomes a claim. */
struct taking {
	struct claims *to;
	const struct ini_file *f;
	const struct ini_section *s;
	struct claim *c;
	struct err *err;
};

static const char *text_of(const struct taking *t, const char *key)
{
	const struct ini_pair *p = ini_pair(t->s, key);

	return p ? p->value : "";
}

static unsigned line_of(const struct taking *t, const char *key)
{
	const struct ini_pair *p = ini_pair(t->s, key);

	return p ? p->line : t->s->line;
}

static int bad(const struct taking *t, const char *key, const char *wants)
{
	return err_set(t->err, -EINVAL, "%s:%u: %s is %s, not '%.60s'", t->f->name, line_of(t, key),
		       key, wants, text_of(t, key));
}

static int take_needed(struct taking *t)
{
	static const char *const needed[] = { "access", "metric", "value", NULL };

	for (unsigned i = 0; needed[i]; i++)
		if (!ini_pair(t->s, needed[i]))
			return err_set(t->err, -EINVAL, "%s:%u: claim '%.60s' has no %s",
				       t->f->name, t->s->line, t->s->name, needed[i]);
	return 0;
}

static int take_access(struct taking *t)
{
	struct access loose;

	t->c->access = text_of(t, "access");
	t->c->cell.pattern = "";
	if (access_read(t->c->access, false, &t->c->cell)) {
		t->c->tc = t->c->cell.tc;
		t->c->qd = t->c->cell.qd;
		if (t->c->tc && (ini_pair(t->s, "tc") || ini_pair(t->s, "qd")))
			return bad(t, "access", "without T and Q where tc or qd are given");
		return 0;
	}
	/* "SEQ 1024 KiB W (ag1)" is a name, as a report prints it; another one is a cell's, or a mistake: claims_tests() */
	t->c->doubtful = access_is_meant(t->c->access) && !access_read(t->c->access, true, &loose);
	return 0;
}

static int take_depth(struct taking *t, const char *key, int *ret)
{
	uint64_t v;

	if (!ini_pair(t->s, key))
		return 0;
	if (parse_uint(text_of(t, key), 1, 65535, &v))
		return bad(t, key, "a number from 1 to 65535");
	*ret = (int)v;
	return 0;
}

static int take_tcqd(struct taking *t)
{
	struct claim *c = t->c;
	int rc = take_depth(t, "tc", &c->tc);

	if (!rc)
		rc = take_depth(t, "qd", &c->qd);
	if (rc)
		return rc;
	c->tcqd = c->tc && c->qd ? arena_fmt(&t->to->arena, "T%dQ%d", c->tc, c->qd)
		  : c->tc	 ? arena_fmt(&t->to->arena, "T%d", c->tc)
		  : c->qd	 ? arena_fmt(&t->to->arena, "Q%d", c->qd)
				 : "";
	return 0;
}

static int take_metric(struct taking *t)
{
	const char *word = text_of(t, "metric");
	const struct metric_word *m = metric_find(word);
	const char *near = m ? NULL : nearest_word(word, metric_words());

	if (!m)
		return err_set(t->err, -EINVAL, "%s:%u: unknown metric '%.60s'%s%s%s", t->f->name,
			       line_of(t, "metric"), word, near ? " (did you mean '" : "",
			       near ? near : "",
			       near ? "'?)"
				    : ": iops, mbps, art, p50, p99, p999, p9999, p99999, mrt");
	t->c->metric = m->key;
	t->c->unit = m->unit;
	t->c->lower_is_better = m->unit == UNIT_NS;
	const char *wrong = value_read(text_of(t, "value"), m->unit, word, &t->c->value);
	return wrong ? bad(t, "value", wrong) : 0;
}

static int take_rule(struct taking *t)
{
	const char *better = text_of(t, "better");

	if (*better && strcmp(better, "higher") && strcmp(better, "lower"))
		return bad(t, "better", "higher or lower");
	if (*better)
		t->c->lower_is_better = !strcmp(better, "lower");
	if (!ini_pair(t->s, "tolerance"))
		return 0;
	if (percent_read(text_of(t, "tolerance"), &t->c->tolerance))
		return bad(t, "tolerance", "a percentage such as '3 %'");
	return t->c->tolerance < 1 ? 0 : bad(t, "tolerance", "below 100 %");
}

/* Twice the same title is another drive's claim, or a mistake. */
static int check_once(const struct taking *t)
{
	for (unsigned i = 0; i < t->to->n; i++) {
		const struct claim *b = &t->to->v[i];
		if (!strcmp(b->name, t->c->name) && !strcmp(b->model, t->c->model))
			return err_set(t->err, -EINVAL,
				       "%s:%u: claim '%.60s' was begun in line %u already%s",
				       t->f->name, t->c->line, t->c->name, b->line,
				       *b->model ? "" : " (of another drive: give both a model)");
	}
	return 0;
}

static int take_claim(struct taking *t)
{
	struct claim *c = t->c;
	int rc = ini_only(t->f, t->s, keys, t->err);

	*c = (struct claim){ .name = t->s->name,
			     .line = t->s->line,
			     .line_test = line_of(t, "test"),
			     .line_access = line_of(t, "access"),
			     .model = text_of(t, "model"),
			     .test = text_of(t, "test"),
			     .section = text_of(t, "section"),
			     .condition = text_of(t, "condition") };
	if (!rc)
		rc = take_needed(t);
	if (!rc)
		rc = take_access(t);
	if (!rc)
		rc = take_tcqd(t);
	if (!rc)
		rc = take_metric(t);
	if (!rc)
		rc = take_rule(t);
	if (!rc)
		rc = check_once(t);
	if (!rc)
		t->to->n++;
	return rc;
}

static int take_file(const struct ini_file *f, struct claims *ret, struct err *err)
{
	int rc = 0;

	if (!f->n)
		return err_set(err, -EINVAL,
			       "%s: no claim in it: a claim is a [title] and its keys", f->name);
	ret->v = arena_array(&ret->arena, struct claim, f->n);
	for (unsigned i = 0; !rc && i < f->n; i++) {
		struct taking t = { ret, f, &f->v[i], &ret->v[ret->n], err };
		rc = take_claim(&t);
	}
	return rc;
}

int claims_read(const char *file, struct claims *ret, struct err *err)
{
	struct buf text = BUF_INIT;
	struct ini_file f;
	char digest[65];

	*ret = (struct claims){ .file = "", .path = "", .sha256 = "" };
	if (!file)
		return 0;
	int rc = buf_read_file(&text, file, FILE_MAX);
	if (rc)
		rc = err_set(err, rc == -ENOENT ? rc : -EINVAL, "--claims %s: %s", file,
			     strerror(-rc));
	if (!rc) {
		const char *slash = strrchr(file, '/');
		bytes_sha256(buf_cstr(&text), text.len, digest);
		ret->sha256 = arena_strdup(&ret->arena, digest);
		ret->path = arena_strdup(&ret->arena, file);
		ret->file = arena_strdup(&ret->arena, slash ? slash + 1 : file);
		rc = ini_sections(ret->path, buf_cstr(&text), text.len, &ret->arena, &f, err);
	}
	if (!rc)
		rc = take_file(&f, ret, err);
	buf_release(&text);
	return rc;
}

void claims_release(struct claims *c)
{
	arena_release(&c->arena);
	*c = (struct claims){ .n = 0 };
}

/* ---- names of tests ---- */

static void add_word(const char **list, unsigned *n, const char *word)
{
	if (*n < TESTS_MAX - 1)
		list[(*n)++] = word;
}

/* Those that pts brings along, and those of runs. */
static int known_tests(struct arena *a, struct reader *r, const char **list, struct err *err)
{
	unsigned n = 0;

	for (const struct embed *e = embed_defs; e->name; e++) {
		const char *line = strstr(e->data, "\ntest ");
		if (line)
			add_word(list, &n, arena_strndup(a, line + 6, strcspn(line + 6, " \n")));
	}
	struct rows *q = read_rows(r, err, "SELECT DISTINCT test FROM v_planned ORDER BY 1", "");
	if (!q)
		return -EIO;
	while (rows_next(q) == 1)
		add_word(list, &n, arena_strdup(a, rows_text(q, 0)));
	list[n] = NULL;
	return rows_close(q, err);
}

static bool is_known(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcasecmp(word, *list))
			return true;
	return false;
}

static int check_test(const struct claims *c, const struct claim *one, const char *const *list,
		      struct err *err)
{
	const char *near = nearest_word(one->test, list);

	if (!*one->test || is_known(one->test, list))
		return 0;
	return err_set(err, -EINVAL, "%s:%u: unknown test '%.60s'%s%s%s", c->path, one->line_test,
		       one->test, near ? " (did you mean '" : "", near ? near : "",
		       near ? "'?)" : "; no run here has one");
}

/* Some cell is called so. */
static int check_name(const struct claims *c, const struct claim *one, struct reader *r,
		      struct err *err)
{
	bool found = false;

	if (!one->doubtful)
		return 0;
	struct rows *q = read_rows(r, err,
				   "SELECT access FROM v_cell UNION SELECT label FROM v_cell", "");
	if (!q)
		return -EIO;
	while (!found && rows_next(q) == 1)
		found = words_match(one->access, rows_text(q, 0));
	int rc = rows_close(q, err);
	if (rc || found)
		return rc;
	return err_set(err, -EINVAL,
		       "%s:%u: access is a pattern, a size and R, W or a mix, as 'RND 4 KiB 65/35',"
		       " not '%.60s'",
		       c->path, one->line_access, one->access);
}

int claims_tests(const struct claims *c, struct reader *r, struct err *err)
{
	const char *list[TESTS_MAX];
	struct arena a = ARENA_INIT;
	int rc = c->n ? known_tests(&a, r, list, err) : 0;

	for (unsigned i = 0; !rc && i < c->n; i++) {
		rc = check_test(c, &c->v[i], list, err);
		if (!rc)
			rc = check_name(c, &c->v[i], r, err);
	}
	arena_release(&a);
	return rc;
}
