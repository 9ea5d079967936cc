/* SPDX-License-Identifier: MIT */
#include "schema/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "pts/base/table.h"
#include "schema/read_private.h"

/* ---- info, migrate ---- */

static uint64_t size_of(const char *path, const char *ending)
{
	struct buf name = BUF_INIT;
	struct stat st;
	uint64_t n = 0;

	buf_fmt(&name, "%s%s", path, ending);
	if (!stat(buf_cstr(&name), &st))
		n = (uint64_t)st.st_size;
	buf_release(&name);
	return n;
}

static int count_all(struct reader *r, struct admin_info *ret, struct err *err)
{
	struct rows *q = read_rows(r, err,
				   "SELECT (SELECT COUNT(*) FROM run), (SELECT COUNT(*) FROM cell),"
				   " (SELECT COUNT(*) FROM host),"
				   " (SELECT COUNT(DISTINCT coalesce(model, '') || char(10) ||"
				   " coalesce(serial, dut_path, dut)) FROM run),"
				   " (SELECT MIN(started_utc) FROM run),"
				   " (SELECT MAX(started_utc) FROM run)",
				   "");

	if (!q)
		return -EIO;
	if (rows_next(q)) {
		ret->runs = rows_int(q, 0);
		ret->cells = rows_int(q, 1);
		ret->hosts = rows_int(q, 2);
		ret->drives = rows_int(q, 3);
		snprintf(ret->first_utc, sizeof ret->first_utc, "%s", rows_text(q, 4));
		snprintf(ret->last_utc, sizeof ret->last_utc, "%s", rows_text(q, 5));
	}
	return rows_close(q, err);
}

int admin_info(const char *path, struct admin_info *ret, struct err *err)
{
	struct reader r;
	int rc;

	memset(ret, 0, sizeof *ret);
	ret->size_bytes = size_of(path, "");
	ret->log_bytes = size_of(path, "-wal");
	ret->schema_known = db_newest(embed_migrations);
	rc = db_open_any(&r.db, path, embed_migrations, &ret->schema, err);
	if (rc)
		return rc;
	if (ret->schema == ret->schema_known)
		rc = count_all(&r, ret, err);
	db_close(&r.db);
	return rc;
}

int admin_migrate(const char *path, int *ret_from, int *ret_to, struct err *err)
{
	struct db d;
	int from, rc = db_open_any(&d, path, embed_migrations, &from, err);

	if (rc)
		return rc;
	db_close(&d);
	rc = db_open(&d, path, DB_CREATE, embed_migrations, err);
	if (rc)
		return rc;
	db_close(&d);
	*ret_from = from;
	*ret_to = db_newest(embed_migrations);
	return 0;
}

/* ---- backup ---- */

/* Copies page by page; one read transaction, so that it is of one moment. */
static int copy_pages(struct db *from, const char *temp, const char *to, struct err *err)
{
	struct db d = { .path = (char *)(uintptr_t)to };
	sqlite3_backup *b;
	int rc = 0;

	if (sqlite3_open_v2(temp, &d.sq, SQLITE_OPEN_READWRITE, NULL)) {
		rc = d.sq ? db_fail(&d, err, "") : err_set(err, -ENOMEM, "%s: out of memory", to);
		sqlite3_close(d.sq);
		return rc;
	}
	b = sqlite3_backup_init(d.sq, "main", from->sq, "main");
	if (b)
		sqlite3_backup_step(b, -1);
	if (!b || sqlite3_backup_finish(b))
		rc = db_fail(&d, err, "backup");
	sqlite3_close(d.sq);
	return rc;
}

/* Durable under a name that is free. */
static int publish(int fd, const char *temp, const char *to, struct err *err)
{
	struct buf folder = BUF_INIT;
	int dir;

	if (fsync(fd))
		return err_set(err, -errno, "%s: %s", to, strerror(errno));
	/* Not every file system knows NOREPLACE; admin_backup() has looked before. */
	if (renameat2(AT_FDCWD, temp, AT_FDCWD, to, RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(temp, to)))
		return err_set(err, -errno, "%s: %s", to, strerror(errno));
	db_folder(to, &folder);
	dir = open(buf_cstr(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	buf_release(&folder);
	if (dir >= 0) {
		fsync(dir);
		close(dir);
	}
	return 0;
}

static int backup_open(struct db *from, const char *path, const char *to, struct err *err)
{
	struct buf temp = BUF_INIT;
	struct stat st;
	int fd, rc;

	buf_fmt(&temp, "%s.XXXXXX", to);
	fd = mkstemp(temp.s);
	if (fd < 0) {
		rc = err_set(err, -errno, "%s: %s", to, strerror(errno));
		buf_release(&temp);
		return rc;
	}
	rc = copy_pages(from, temp.s, to, err);
	if (!rc && (stat(path, &st) || fchmod(fd, st.st_mode & 0777)))
		rc = err_set(err, -errno, "%s: %s", to, strerror(errno));
	if (!rc)
		rc = publish(fd, temp.s, to, err);
	close(fd);
	if (rc)
		unlink(temp.s);
	buf_release(&temp);
	return rc;
}

int admin_backup(const char *path, const char *to, struct err *err)
{
	struct db from;
	struct stat st;
	int version, rc;

	if (!lstat(to, &st))
		return err_set(err, -EEXIST, "%s: exists; a backup replaces nothing", to);
	rc = db_open_any(&from, path, embed_migrations, &version, err);
	if (rc)
		return rc;
	rc = backup_open(&from, path, to, err);
	db_close(&from);
	return rc;
}

/* ---- tables ---- */

/* Fills a table from a query whose columns are the table's; NULL on error. */
static struct table *table_of(struct reader *r, const struct column *col, unsigned n,
			      const char *sql, struct err *err)
{
	struct rows *q = read_rows(r, err, sql, "");
	struct table *t;

	if (!q)
		return NULL;
	BUG_ON((unsigned)rows_columns(q) != n);
	t = table_new(col, n);
	while (rows_next(q)) {
		for (unsigned c = 0; c < n; c++)
			if (rows_is_null(q, (int)c))
				table_null(t);
			else if (col[c].type == COL_TEXT)
				table_text(t, rows_text(q, (int)c));
			else
				table_int(t, rows_int(q, (int)c));
		table_row(t);
	}
	if (!rows_close(q, err))
		return t;
	table_free(t);
	return NULL;
}

struct table *admin_chains(struct reader *r, struct err *err)
{
	static const struct column col[] = {
		{ "run_id", "run", COL_INT, NULL },   { "uuid", "uuid", COL_TEXT, NULL },
		{ "state", "state", COL_TEXT, NULL }, { "sealed", "sealed", COL_BOOL, NULL },
		{ "rows", "rows", COL_INT, NULL },    { "digest", "head", COL_TEXT, NULL },
	};

	return table_of(r, col, sizeof col / sizeof *col,
			"SELECT run_id, uuid, state, sealed, (SELECT COUNT(*) FROM v_chain c WHERE "
			"c.run_id = v.run_id), digest FROM v_run v ORDER BY run_id",
			err);
}
