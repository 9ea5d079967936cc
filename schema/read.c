/* SPDX-License-Identifier: MIT */
#include "schema/read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "pts/base/buf.h"
#include "pts/base/held.h"
#include "pts/base/units.h"
#include "schema/evidence.h"
#include "schema/read_private.h"
#include "schema/shape.h"

/* pts_held(uuid): a process works on that run. */
static void held(struct sqlite3_context *c, int n, struct sqlite3_value **v)
{
	const struct db *d = sqlite3_user_data(c);
	const char *uuid = (const char *)sqlite3_value_text(v[0]);

	(void)n;
	sqlite3_result_int(c, uuid && held_run(d->path, uuid));
}

/* v_run as everyone sees it, but with the state of a run whose process is gone. */
static int run_view(struct db *d, struct buf *ret, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, "SELECT name FROM pragma_table_info('v_run', 'main')",
					  err);
	const char *comma = "";
	int step;

	if (!st)
		return -EIO;
	buf_str(ret, "CREATE TEMP VIEW v_run AS SELECT");
	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		if (strcmp(name, "state"))
			buf_fmt(ret, "%s %s", comma, name);
		else
			buf_fmt(ret,
				"%s iif(state = 'running' AND NOT pts_held(uuid), 'interrupted', "
				"state) AS state",
				comma);
		comma = ",";
	}
	buf_str(ret, " FROM main.v_run");
	step = step == SQLITE_DONE ? 0 : db_fail(d, err, "v_run");
	sqlite3_reset(st);
	return step;
}

static int look_for_processes(struct db *d, struct err *err)
{
	struct buf sql = BUF_INIT;
	int64_t only = 0;
	int rc = db_int(d, err, 0, &only, "PRAGMA query_only", "");

	if (!rc && sqlite3_create_function(d->sq, "pts_held", 1, SQLITE_UTF8, d, held, NULL, NULL))
		rc = db_fail(d, err, "");
	if (!rc)
		rc = run_view(d, &sql, err);
	if (!rc && only)
		rc = db_exec(d, "PRAGMA query_only = 0", err);
	if (!rc)
		rc = db_exec(d, buf_cstr(&sql), err);
	if (!rc && only)
		rc = db_exec(d, "PRAGMA query_only = 1", err);
	buf_release(&sql);
	return rc;
}

static int open_as(const char *path, bool doubted, struct reader **ret_reader, struct err *err)
{
	struct reader *r = calloc(1, sizeof *r);
	struct err ignored = { "" };
	int rc;

	if (!r)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	rc = db_open(&r->db, path, DB_READ, embed_migrations, err);
	if (rc) {
		free(r);
		return rc;
	}
	if (!doubted)
		rc = shape_refuse(&r->db, err);
	if (!rc)
		rc = look_for_processes(&r->db, doubted ? &ignored : err);
	if (rc && !doubted)
		read_close(r);
	else
		*ret_reader = r;
	return doubted ? 0 : rc;
}

int read_open(const char *path, struct reader **ret_reader, struct err *err)
{
	return open_as(path, false, ret_reader, err);
}

int read_open_doubted(const char *path, struct reader **ret_reader, struct err *err)
{
	return open_as(path, true, ret_reader, err);
}

void read_close(struct reader *r)
{
	if (!r)
		return;
	db_close(&r->db);
	free(r);
}

int read_snapshot(struct reader *r, struct err *err)
{
	int64_t runs;
	int rc = db_exec(&r->db, "BEGIN", err);

	/* The moment is that of the first read. */
	return rc ? rc : db_int(&r->db, err, 0, &runs, "SELECT COUNT(*) FROM run", "");
}

/* ---- rows ---- */

struct rows {
	struct db *db;
	struct sqlite3_stmt *st;
	int rc; /* of the last step */
};

struct rows *read_rows(struct reader *r, struct err *err, const char *sql, const char *types, ...)
{
	struct rows *q = calloc(1, sizeof *q);
	va_list ap;
	int rc;

	BUG_ON(!q);
	q->db = &r->db;
	if (sqlite3_prepare_v2(r->db.sq, sql, -1, &q->st, NULL)) {
		(void)db_fail(&r->db, err, "");
		free(q);
		return NULL;
	}
	va_start(ap, types);
	rc = db_bind(q->st, types, ap);
	va_end(ap);
	if (rc)
		BUG("%d arguments do not fit: %s", (int)strlen(types), sql);
	q->rc = SQLITE_ROW;
	return q;
}

int rows_next(struct rows *q)
{
	if (q->rc == SQLITE_ROW)
		q->rc = sqlite3_step(q->st);
	return q->rc == SQLITE_ROW;
}

bool rows_is_null(struct rows *q, int col)
{
	return sqlite3_column_type(q->st, col) == SQLITE_NULL;
}

int64_t rows_int(struct rows *q, int col)
{
	return sqlite3_column_int64(q->st, col);
}

double rows_num(struct rows *q, int col)
{
	return rows_is_null(q, col) ? NAN : sqlite3_column_double(q->st, col);
}

const char *rows_text(struct rows *q, int col)
{
	const void *s = sqlite3_column_text(q->st, col);

	return s ? s : "";
}

const char *rows_column(struct rows *q, int col)
{
	return sqlite3_column_name(q->st, col);
}

int rows_columns(struct rows *q)
{
	return sqlite3_column_count(q->st);
}

int rows_column_type(struct rows *q, int col)
{
	switch (sqlite3_column_type(q->st, col)) {
	case SQLITE_NULL:
		return 0;
	case SQLITE_INTEGER:
		return 'i';
	case SQLITE_FLOAT:
		return 'd';
	default:
		return 't';
	}
}

int rows_close(struct rows *q, struct err *err)
{
	int rc = 0;

	if (q->rc != SQLITE_ROW && q->rc != SQLITE_DONE)
		rc = db_fail(q->db, err, "");
	sqlite3_finalize(q->st);
	free(q);
	return rc;
}

/* ---- runs by name ---- */

static int run_by_uuid(struct reader *r, const char *head, int64_t *ret_run, struct err *err)
{
	struct rows *q = read_rows(r, err,
				   "SELECT run_id FROM run WHERE substr(uuid, 1, length(?1)) = "
				   "lower(?1) LIMIT 2",
				   "t", head);
	int n = 0, rc;

	if (!q)
		return -EIO;
	while (rows_next(q)) {
		*ret_run = rows_int(q, 0);
		n++;
	}
	rc = rows_close(q, err);
	if (rc)
		return rc;
	if (n > 1)
		return err_set(err, -EINVAL, "%s: more than one run begins with '%s'", r->db.path,
			       head);
	return n ? 0 : err_set(err, -ENOENT, "%s: no run '%s'", r->db.path, head);
}

int read_run(struct reader *r, const char *name, int64_t *ret_run, struct err *err)
{
	uint64_t number;
	int64_t run = 0;
	int rc;

	if (!strcmp(name, "last")) {
		rc = db_int(&r->db, err, 0, &run, "SELECT MAX(run_id) FROM run", "");
		if (!rc && !run)
			rc = err_set(err, -ENOENT, "%s: no runs yet", r->db.path);
	} else {
		rc = 0;
		if (!parse_uint(name, 1, INT64_MAX, &number))
			rc = db_int(&r->db, err, 0, &run, "SELECT run_id FROM run WHERE run_id = ?",
				    "i", (int64_t)number);
		if (!rc && !run && strlen(name) >= 4)
			rc = run_by_uuid(r, name, &run, err);
		else if (!rc && !run)
			rc = err_set(err, -ENOENT,
				     "%s: no run '%s' (a run is its number, the first 4 or more "
				     "characters of its uuid, or 'last')",
				     r->db.path, name);
	}
	if (!rc)
		*ret_run = run;
	return rc;
}
