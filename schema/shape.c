/* SPDX-License-Identifier: MIT */
#include "schema/shape.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* Functions that views and queries of pts are made of: a table of that name would stand before them. */
static const char *const taken[] = { "json_each", "json_tree", "pragma_" };

struct shape {
	struct db *d, *model; /* the file; an empty database in memory, made by the migrations */
	struct buf *faults, *notes;
	struct err *err;
};

/* The end of a quoted text or a comment that begins at @p; @p where there is none. */
static const char *skip(const char *p, bool *ret_comment)
{
	const char *end = NULL;

	*ret_comment = false;
	if (*p == '\'' || *p == '"' || *p == '`') {
		end = strchr(p + 1, *p);
		return end ? end + 1 : p + strlen(p);
	}
	*ret_comment = !strncmp(p, "--", 2) || !strncmp(p, "/*", 2);
	if (!*ret_comment)
		return p;
	end = *p == '-' ? strchr(p, '\n') : strstr(p + 2, "*/");
	return !end ? p + strlen(p) : *p == '-' ? end : end + 2;
}

/* SQL without comments, with one blank between words. */
static void plain_sql(const char *sql, struct buf *out)
{
	bool comment, gap = false;

	for (const char *p = sql ? sql : "", *end; *p; p = end) {
		end = skip(p, &comment);
		if (comment || (end == p && isspace((unsigned char)*p))) {
			end += end == p;
			gap = true;
			continue;
		}
		end += end == p;
		if (gap && out->len)
			buf_str(out, " ");
		gap = false;
		buf_add(out, p, (size_t)(end - p));
	}
}

static bool same_sql(const char *a, const char *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	bool same;

	plain_sql(a, &x);
	plain_sql(b, &y);
	same = !strcmp(buf_cstr(&x), buf_cstr(&y));
	buf_release(&x);
	buf_release(&y);
	return same;
}

/* Text of an object, to be freed; NULL with 0 when there is none. */
static int find_sql(struct db *d, const char *type, const char *name, char **ret, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(
		d, "SELECT sql FROM main.sqlite_master WHERE type = ? AND name = ?", err);
	const char *sql;
	int rc;

	*ret = NULL;
	if (!st)
		return -EIO;
	sqlite3_bind_text(st, 1, type, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		sql = (const char *)sqlite3_column_text(st, 0);
		*ret = strdup(sql ? sql : "");
		BUG_ON(!*ret);
	}
	rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_fail(d, err, "schema");
	sqlite3_reset(st);
	return rc;
}

static void say(struct buf *out, const char *type, const char *name, const char *what)
{
	if (out)
		buf_fmt(out, "%s %.80s: %s\n", type, name, what);
}

/* One that pts makes. Triggers and indexes only hinder or help: without them no row tells anything else. */
static int check_own(struct shape *s, const char *type, const char *name, const char *sql)
{
	bool bears = !strcmp(type, "table") || !strcmp(type, "view");
	char *is;
	int rc = find_sql(s->d, type, name, &is, s->err);

	if (rc)
		return rc;
	if (!is)
		say(bears ? s->faults : s->notes, type, name, "missing");
	else if (!same_sql(is, sql))
		say(!strcmp(type, "index") ? s->notes : s->faults, type, name,
		    "not the one that pts makes");
	free(is);
	return 0;
}

static bool is_taken(const char *name)
{
	for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
		if (!sqlite3_strnicmp(name, taken[i], (int)strlen(taken[i])))
			return true;
	return false;
}

/* One that pts may not know: @on is the table of a trigger. */
static int check_other(struct shape *s, const char *type, const char *name, const char *on)
{
	char *known, *table = NULL, *view = NULL;
	int rc = find_sql(s->model, type, name, &known, s->err);

	if (!rc && !strcmp(type, "trigger"))
		rc = find_sql(s->model, "table", on, &table, s->err);
	if (!rc && !strcmp(type, "trigger"))
		rc = find_sql(s->model, "view", on, &view, s->err);
	if (!rc && !known && (table || view))
		say(s->faults, type, name, "not of pts, on a table of it");
	else if (!rc && !known && is_taken(name))
		say(s->faults, type, name, "not of pts, under the name of a function it uses");
	else if (!rc && !known)
		say(s->notes, type, name, "not of pts");
	free(known);
	free(table);
	free(view);
	return rc;
}

/* Calls check_own() for each object of the model, or check_other() for each of the file. */
static int each(struct shape *s, bool own)
{
	struct db *d = own ? s->model : s->d;
	struct sqlite3_stmt *st = db_stmt(d,
					  "SELECT type, name, tbl_name, sql FROM main.sqlite_master"
					  " WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid",
					  s->err);
	int rc = 0, step = SQLITE_DONE;

	if (!st)
		return -EIO;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(st, 0),
			   *name = (const char *)sqlite3_column_text(st, 1);

		rc = own ? check_own(s, type, name, (const char *)sqlite3_column_text(st, 3))
			 : check_other(s, type, name, (const char *)sqlite3_column_text(st, 2));
	}
	if (!rc && step != SQLITE_DONE)
		rc = db_fail(d, s->err, "schema");
	sqlite3_reset(st);
	return rc;
}

int shape_check(struct db *d, struct buf *faults, struct buf *notes, struct err *err)
{
	struct db model;
	struct shape s = { .d = d, .model = &model, .faults = faults, .notes = notes, .err = err };
	int rc = db_open_model(&model, embed_migrations, err);

	if (rc)
		return rc;
	rc = each(&s, true);
	if (!rc)
		rc = each(&s, false);
	db_close(&model);
	return rc;
}

int shape_refuse(struct db *d, struct err *err)
{
	struct buf faults = BUF_INIT;
	int rc = shape_check(d, &faults, NULL, err);

	if (!rc && faults.len)
		rc = err_set(err, -EINVAL,
			     "%s: %.*s; its numbers cannot be trusted (pts db check --db %s tells "
			     "all)",
			     d->path, (int)strcspn(faults.s, "\n"), faults.s, d->path);
	buf_release(&faults);
	return rc;
}
