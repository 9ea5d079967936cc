/* SPDX-License-Identifier: MIT */
/* All runs of another database into this one: rows in the order of their chains, ids new, hashes as
 * they are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "schema/admin.h"
#include "schema/evidence.h"
#include "schema/read_private.h"
#include "schema/shape.h"

struct merge {
	struct reader *from;
	struct db *into;
	struct err *err;
	int64_t from_run, run, host;
	int64_t *cell; /* pairs: id there, id here; rising */
	size_t n_cells, cap;
};

static void cells_add(struct merge *m, int64_t there, int64_t here)
{
	if (m->n_cells == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 256;
		m->cell = realloc(m->cell, 2 * m->cap * sizeof *m->cell);
		BUG_ON(!m->cell);
	}
	m->cell[2 * m->n_cells] = there;
	m->cell[2 * m->n_cells++ + 1] = here;
}

/* Rows of a cell follow it closely, so the search ends soon. 0: unknown, refused by the foreign
 * key. */
static int64_t cells_find(const struct merge *m, int64_t there)
{
	for (size_t i = m->n_cells; i-- > 0;)
		if (m->cell[2 * i] == there)
			return m->cell[2 * i + 1];
	return 0;
}

/* The column that is the table's own id, given anew. */
static const char *own_id(const char *table)
{
	if (!strcmp(table, "run"))
		return "run_id";
	if (!strcmp(table, "cell"))
		return "cell_id";
	if (!strcmp(table, "event"))
		return "event_id";
	return "id";
}

static void insert_copy(struct merge *m, struct insert *in, struct sqlite3_stmt *row, int col)
{
	const char *name = sqlite3_column_name(row, col);

	if (!strcmp(name, own_id(in->table)))
		return;
	if (!strcmp(name, "run_id"))
		insert_int(in, name, m->run);
	else if (!strcmp(name, "host_id"))
		insert_int(in, name, m->host);
	else if (!strcmp(name, "cell_id"))
		insert_int(in, name, cells_find(m, sqlite3_column_int64(row, col)));
	else
		insert_column(in, name, row, col);
}

/* Copies the row that @row stands on; a text that is here already is not copied again. */
static int copy_row(struct merge *m, const char *table, struct sqlite3_stmt *row, int64_t *ret_id)
{
	struct insert in;
	int64_t known = 0;
	int rc = 0;

	if (!strcmp(table, "document"))
		rc = db_int(m->into, m->err, 0, &known, "SELECT 1 FROM document WHERE hash = ?",
			    "t", (const char *)sqlite3_column_text(row, 0));
	if (rc || known)
		return rc;
	rc = insert_begin(m->into, table, &in, m->err);
	if (rc)
		return rc;
	for (int c = 0; c < sqlite3_column_count(row); c++)
		insert_copy(m, &in, row, c);
	return insert_row(&in, ret_id);
}

/* Copies all rows of a query over the source with one argument. @ret_last: id of the last one. */
static int copy_rows(struct merge *m, const char *table, const char *sql, int64_t arg,
		     int64_t *ret_last)
{
	struct db *from = &m->from->db;
	struct sqlite3_stmt *st = db_stmt(from, sql, m->err);
	int rc = 0, step = SQLITE_DONE;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, arg);
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW)
		rc = copy_row(m, table, st, ret_last);
	if (!rc && step != SQLITE_DONE)
		rc = db_fail(from, m->err, table);
	sqlite3_reset(st);
	return rc;
}

static int copy_host(struct merge *m)
{
	struct rows *q = read_rows(
		m->from, m->err,
		"SELECT host_id, digest FROM host JOIN run USING (host_id) WHERE "
		"run_id = ?",
		"i", m->from_run);
	int64_t there = 0, id;
	int rc = 0, rc_close;

	if (!q)
		return -EIO;
	m->host = 0;
	if (rows_next(q)) {
		there = rows_int(q, 0);
		rc = db_int(m->into, m->err, 0, &m->host,
			    "SELECT host_id FROM host WHERE digest = ?", "t", rows_text(q, 1));
	}
	rc_close = rows_close(q, m->err);
	if (rc || rc_close || m->host)
		return rc ? rc : rc_close;
	rc = copy_rows(m, "host", "SELECT digest FROM host WHERE host_id = ?", there, &m->host);
	if (!rc)
		rc = copy_rows(m, "host_fact", "SELECT * FROM host_fact WHERE host_id = ?", there,
			       &id);
	return rc;
}

/* The row of one entry of the chain, and the entry. */
static int copy_entry(struct merge *m, struct sqlite3_stmt *entry)
{
	const char *table = (const char *)sqlite3_column_text(entry, 1);
	int64_t there = sqlite3_column_int64(entry, 2), here = 0, id;
	struct buf sql = BUF_INIT;
	struct insert in;
	int rc;

	buf_fmt(&sql, "SELECT * FROM %s WHERE rowid = ?", table);
	rc = copy_rows(m, table, buf_cstr(&sql), there, &here);
	buf_release(&sql);
	if (!rc && !strcmp(table, "run"))
		m->run = here;
	if (!rc && !strcmp(table, "cell"))
		cells_add(m, there, here);
	if (!rc)
		rc = insert_begin(m->into, "chain", &in, m->err);
	if (rc)
		return rc;
	insert_int(&in, "run_id", m->run);
	insert_column(&in, "n", entry, 0);
	insert_text(&in, "tbl", table);
	insert_int(&in, "row_id", here);
	insert_column(&in, "hash", entry, 3);
	insert_column(&in, "stamp", entry, 4);
	return insert_row(&in, &id);
}

static int copy_chain(struct merge *m)
{
	struct db *from = &m->from->db;
	struct sqlite3_stmt *st = db_stmt(
		from, "SELECT n, tbl, row_id, hash, stamp FROM chain WHERE run_id = ? ORDER BY n",
		m->err);
	int rc = 0, step = SQLITE_DONE;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, m->from_run);
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW)
		rc = copy_entry(m, st);
	if (!rc && step != SQLITE_DONE)
		rc = db_fail(from, m->err, "chain");
	sqlite3_reset(st);
	return rc;
}

static int copy_run(struct merge *m)
{
	struct buf faults = BUF_INIT;
	int64_t id;
	int rc = copy_host(m);

	m->n_cells = 0;
	if (!rc)
		rc = copy_rows(m, "document",
			       "SELECT hash, body FROM document WHERE hash IN (SELECT"
			       " definition_hash FROM test WHERE run_id = ?1 UNION SELECT plan_hash"
			       " FROM test WHERE run_id = ?1)",
			       m->from_run, &id);
	if (!rc)
		rc = copy_chain(m);
	if (!rc)
		rc = copy_rows(m, "run_arg", "SELECT * FROM run_arg WHERE run_id = ?", m->from_run,
			       &id);
	/* What arrived is what was measured, or nothing arrives. */
	if (!rc)
		rc = evidence_check_run(m->into, m->run, &faults, m->err);
	if (!rc && faults.len)
		rc = err_set(m->err, -EBADMSG, "%s", faults.s);
	buf_release(&faults);
	return rc;
}

static int known_run(struct merge *m, const char *uuid, const char *digest,
		     struct merge_result *ret)
{
	int64_t here, equal = 0;
	int rc = db_int(m->into, m->err, 0, &here, "SELECT run_id FROM run WHERE uuid = ?", "t",
			uuid);

	if (!rc && here)
		rc = db_int(m->into, m->err, 0, &equal,
			    "SELECT digest = ? FROM v_run WHERE run_id = ?", "ti", digest, here);
	if (rc || !here)
		return rc;
	ret->present++;
	buf_fmt(&ret->said, "run %" PRId64 " of %s is here already, as run %" PRId64 "%s\n",
		m->from_run, m->from->db.path, here, equal ? "" : " (with another head)");
	return 1;
}

static int merge_run(struct merge *m, const char *uuid, const char *digest,
		     struct merge_result *ret)
{
	int rc = db_begin(m->into, m->err), known = 0;

	if (rc)
		return rc;
	known = known_run(m, uuid, digest, ret);
	rc = known < 0 ? known : 0;
	if (!known)
		rc = copy_run(m);
	rc = db_end(m->into, rc, m->err);
	if (rc || known)
		return rc;
	ret->added++;
	buf_fmt(&ret->said, "run %" PRId64 " of %s is now run %" PRId64 "\n", m->from_run,
		m->from->db.path, m->run);
	return 0;
}

static int merge_runs(struct merge *m, struct merge_result *ret)
{
	struct rows *q = read_rows(m->from, m->err,
				   "SELECT run_id, uuid, digest FROM v_run ORDER BY run_id", "");
	int rc = 0, rc_close;

	if (!q)
		return -EIO;
	while (!rc && rows_next(q)) {
		m->from_run = rows_int(q, 0);
		rc = merge_run(m, rows_text(q, 1), rows_text(q, 2), ret);
	}
	rc_close = rows_close(q, m->err);
	return rc ? rc : rc_close;
}

/* Evidence with faults is not spread. */
static int check_source(struct reader *from, struct err *err)
{
	struct buf faults = BUF_INIT, summary = BUF_INIT;
	int rc = read_check(from, &faults, &summary, err);

	if (!rc && faults.len)
		rc = err_set(err, -EBADMSG, "%s has faults, nothing is merged; the first: %.*s",
			     from->db.path, (int)strcspn(faults.s, "\n"), faults.s);
	buf_release(&faults);
	buf_release(&summary);
	return rc;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

int admin_merge(const char *into, const char *from, struct merge_result *ret, struct err *err)
{
	struct db d;
	struct merge m = { .into = &d, .err = err };
	int rc;

	memset(ret, 0, sizeof *ret);
	if (same_file(into, from))
		return err_set(err, -EINVAL, "%s and %s are the same file", into, from);
	rc = read_open(from, &m.from, err);
	if (rc)
		return rc;
	rc = read_snapshot(m.from, err);
	if (!rc)
		rc = check_source(m.from, err);
	if (!rc)
		rc = db_open(&d, into, DB_CREATE, embed_migrations, err);
	if (!rc) {
		rc = shape_refuse(&d, err);
		if (!rc)
			rc = merge_runs(&m, ret);
		db_close(&d);
	}
	free(m.cell);
	read_close(m.from);
	return rc;
}
