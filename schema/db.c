/* SPDX-License-Identifier: MIT */
#include "schema/db.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "pts/base/buf.h"

static int code_of(struct sqlite3 *sq)
{
	int sys = sqlite3_system_errno(sq);

	switch (sqlite3_errcode(sq) & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_IOERR:
		return sys == ENOSPC || sys == EDQUOT ? -ENOSPC : -EIO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
		return sys ? -sys : -EIO;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_NOTADB:
	case SQLITE_CONSTRAINT:
	case SQLITE_ERROR:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EINVAL;
	default: /* CORRUPT and the like */
		return -EIO;
	}
}

int db_fail(struct db *d, struct err *err, const char *doing)
{
	int code = code_of(d->sq);
	const char *why = sqlite3_errmsg(d->sq);

	d->failed = true;
	if (d->depth)
		d->broken = true;
	if (code == -ENOSPC)
		why = "no space left on the disk";
	else if (code == -EBUSY)
		why = "locked by another process for too long";
	else if (code == -EROFS)
		why = "cannot be written (permissions, or a read-only file system)";
	else if (sqlite3_errcode(d->sq) == SQLITE_NOTADB)
		why = "not a pts database";
	return err_set(err, code, "%s: %s%s%s", d->path, doing, *doing ? ": " : "", why);
}

struct sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *err)
{
	struct sqlite3_stmt *st;
	unsigned i;

	for (i = 0; i < d->n_cached; i++) {
		if (strcmp(d->cached[i].sql, sql))
			continue;
		sqlite3_reset(d->cached[i].st);
		sqlite3_clear_bindings(d->cached[i].st);
		return d->cached[i].st;
	}
	BUG_ON(d->n_cached == DB_STATEMENTS);
	if (sqlite3_prepare_v3(d->sq, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL)) {
		(void)db_fail(d, err, "");
		return NULL;
	}
	d->cached[i].sql = strdup(sql);
	BUG_ON(!d->cached[i].sql);
	d->cached[i].st = st;
	d->n_cached++;
	return st;
}

int db_exec(struct db *d, const char *sql, struct err *err)
{
	return sqlite3_exec(d->sq, sql, NULL, NULL, NULL) ? db_fail(d, err, "") : 0;
}

static int bind_text(struct sqlite3_stmt *st, int at, const char *s)
{
	return s ? sqlite3_bind_text(st, at, s, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(st, at);
}

int db_bind(struct sqlite3_stmt *st, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int at = 1; *types && rc == SQLITE_OK; types++, at++) {
		if (*types == 'i')
			rc = sqlite3_bind_int64(st, at, va_arg(ap, int64_t));
		else if (*types == 'd')
			rc = sqlite3_bind_double(st, at, va_arg(ap, double));
		else if (*types == 't')
			rc = bind_text(st, at, va_arg(ap, const char *));
		else
			BUG("type '%c' of an argument", *types);
	}
	return rc;
}

int db_int(struct db *d, struct err *err, int64_t missing, int64_t *ret, const char *sql,
	   const char *types, ...)
{
	struct sqlite3_stmt *st = db_stmt(d, sql, err);
	va_list ap;
	int rc;

	if (!st)
		return code_of(d->sq);
	va_start(ap, types);
	rc = db_bind(st, types, ap);
	va_end(ap);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		rc = db_fail(d, err, "");
		sqlite3_reset(st);
		return rc;
	}
	if (rc == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
		*ret = sqlite3_column_int64(st, 0);
	else
		*ret = missing;
	sqlite3_reset(st);
	return 0;
}

/* ---- transactions ---- */

int db_begin(struct db *d, struct err *err)
{
	if (d->broken)
		return err_set(err, -EIO, "%s: the transaction failed before", d->path);
	if (d->depth == 0) {
		int rc = db_exec(d, "BEGIN IMMEDIATE", err);
		if (rc)
			return rc;
	}
	d->depth++;
	return 0;
}

void db_rollback(struct db *d)
{
	/* Many errors make SQLite roll back by itself. */
	for (unsigned i = 0; i < d->n_cached; i++)
		sqlite3_reset(d->cached[i].st);
	if (!sqlite3_get_autocommit(d->sq))
		sqlite3_exec(d->sq, "ROLLBACK", NULL, NULL, NULL);
	d->depth = 0;
	d->broken = false;
}

int db_commit(struct db *d, struct err *err)
{
	int rc;

	BUG_ON(d->depth == 0);
	if (d->depth > 1) {
		d->depth--;
		return 0;
	}
	if (d->broken) {
		db_rollback(d);
		return err_set(err, -EIO, "%s: the transaction failed before", d->path);
	}
	rc = db_exec(d, "COMMIT", err);
	if (rc)
		db_rollback(d);
	d->depth = 0;
	return rc;
}

int db_end(struct db *d, int rc, struct err *err)
{
	if (!rc)
		return db_commit(d, err);
	/* Nested: the owner of the outermost one must learn of it, so its transaction stays open,
	 * broken. */
	if (d->depth > 1) {
		d->depth--;
		d->broken = true;
	} else if (d->depth == 1) {
		db_rollback(d);
	}
	return rc;
}

void db_checkpoint(struct db *d)
{
	sqlite3_wal_checkpoint_v2(d->sq, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

/* ---- inserts by name ---- */

/* INSERT INTO t (a, b) VALUES (:a, :b) over all columns of the table. */
static int insert_sql(struct db *d, const char *table, struct buf *ret, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, "SELECT name FROM pragma_table_info(?)", err);
	struct buf values = BUF_INIT;
	const char *comma = "";

	if (!st)
		return code_of(d->sq);
	sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
	buf_fmt(ret, "INSERT INTO %s (", table);
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		buf_fmt(ret, "%s%s", comma, name);
		buf_fmt(&values, "%s:%s", comma, name);
		comma = ", ";
	}
	buf_fmt(ret, ") VALUES (%s)", buf_cstr(&values));
	buf_release(&values);
	if (!*comma)
		return err_set(err, -EINVAL, "%s: no table '%s'", d->path, table);
	return sqlite3_reset(st) ? db_fail(d, err, table) : 0;
}

int insert_begin(struct db *d, const char *table, struct insert *ret, struct err *err)
{
	struct sqlite3_stmt *st = NULL;
	struct buf head = BUF_INIT, sql = BUF_INIT;
	int rc = 0;

	buf_fmt(&head, "INSERT INTO %s (", table);
	for (unsigned i = 0; i < d->n_cached && !st; i++)
		if (!strncmp(d->cached[i].sql, head.s, head.len))
			st = db_stmt(d, d->cached[i].sql, err);
	buf_release(&head);
	if (!st) {
		rc = insert_sql(d, table, &sql, err);
		st = rc ? NULL : db_stmt(d, buf_cstr(&sql), err);
		if (!rc && !st)
			rc = code_of(d->sq);
		buf_release(&sql);
	}
	*ret = (struct insert){ d, st, table, err };
	return rc;
}

static int place_of(struct insert *in, const char *column)
{
	char name[64] = ":";
	int at;

	strncat(name, column, sizeof name - 2);
	at = sqlite3_bind_parameter_index(in->st, name);
	if (!at)
		BUG("no column '%s' in table '%s'", column, in->table);
	return at;
}

void insert_int(struct insert *in, const char *column, int64_t v)
{
	sqlite3_bind_int64(in->st, place_of(in, column), v);
}

void insert_opt(struct insert *in, const char *column, int64_t v)
{
	if (v >= 0)
		insert_int(in, column, v);
}

void insert_num(struct insert *in, const char *column, double v)
{
	if (isfinite(v))
		sqlite3_bind_double(in->st, place_of(in, column), v);
}

void insert_text(struct insert *in, const char *column, const char *s)
{
	if (s && *s)
		sqlite3_bind_text(in->st, place_of(in, column), s, -1, SQLITE_STATIC);
}

void insert_column(struct insert *in, const char *column, struct sqlite3_stmt *from, int col)
{
	sqlite3_bind_value(in->st, place_of(in, column), sqlite3_column_value(from, col));
}

int insert_row(struct insert *in, int64_t *ret_rowid)
{
	int rc = 0;

	if (sqlite3_step(in->st) != SQLITE_DONE)
		rc = db_fail(in->db, in->err, in->table);
	else
		*ret_rowid = sqlite3_last_insert_rowid(in->db->sq);
	sqlite3_reset(in->st);
	sqlite3_clear_bindings(in->st); /* the texts are the caller's */
	return rc;
}
