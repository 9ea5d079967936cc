/* SPDX-License-Identifier: MIT */
/* Opening: what is there, whether it is ours, WAL, migrations. */
#include "schema/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"

int db_newest(const struct embed *list)
{
	int n = 0;

	for (const struct embed *m = list; m->name; m++, n++) {
		char number[16];

		snprintf(number, sizeof number, "%04d_", n + 1);
		if (strncmp(m->name, number, 5))
			BUG("migration %s is not number %d", m->name, n + 1);
	}
	return n;
}

/* One transaction for each, so that another process that migrates at the same time finds it done.
 */
static int migrate_one(struct db *d, const struct embed *list, int newest, bool *ret_done,
		       struct err *err)
{
	char set_version[48];
	int64_t version = 0;
	int rc = db_begin(d, err);

	if (rc)
		return rc;
	rc = db_int(d, err, 0, &version, "PRAGMA user_version", "");
	if (!rc && version < newest) {
		const struct embed *m = &list[version];

		snprintf(set_version, sizeof set_version, "PRAGMA user_version = %d",
			 (int)version + 1);
		rc = db_exec(d, m->data, err);
		if (!rc)
			rc = db_exec(d, set_version, err);
		if (rc)
			err_prefix(err, rc, "migration %s", m->name);
	}
	rc = db_end(d, rc, err);
	if (!rc)
		*ret_done = version >= newest;
	return rc;
}

int db_migrate(struct db *d, const struct embed *list, struct err *err)
{
	int newest = db_newest(list), rc = 0;
	bool done = false;

	while (!done && !rc)
		rc = migrate_one(d, list, newest, &done, err);
	return rc;
}

/* The change to WAL does not wait for others by itself in every case. */
static int set_wal(struct db *d, struct err *err)
{
	for (int tries = 0;; tries++) {
		struct sqlite3_stmt *st = db_stmt(d, "PRAGMA journal_mode = WAL", err);
		int step = st ? sqlite3_step(st) : SQLITE_ERROR;
		bool wal = step == SQLITE_ROW &&
			   !strcmp((const char *)sqlite3_column_text(st, 0), "wal");

		if (step == SQLITE_ROW && !wal) {
			sqlite3_reset(st);
			return err_set(err, -ENOTSUP,
				       "%s: this file system cannot hold a live database (no "
				       "shared memory)",
				       d->path);
		}
		if (!wal && (sqlite3_errcode(d->sq) != SQLITE_BUSY || tries > DB_BUSY_MS / 10))
			return db_fail(d, err, "");
		sqlite3_reset(st);
		if (wal)
			return 0;
		usleep(10000);
	}
}

void db_folder(const char *path, struct buf *ret)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		buf_str(ret, ".");
	else
		buf_add(ret, path, slash == path ? 1 : (size_t)(slash - path));
}

/* A writer makes two more files beside it. */
static int look_folder(const char *path, struct err *err)
{
	struct buf dir = BUF_INIT;
	int rc = 0;

	db_folder(path, &dir);
	if (access(buf_cstr(&dir), W_OK | X_OK))
		rc = err_set(err, -errno, "%s: its folder: %s", path, strerror(errno));
	buf_release(&dir);
	return rc;
}

/* Neither a folder, nor absent unless we make it; and not a pipe that would hang us. */
static int look(const char *path, enum db_mode mode, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return err_set(err, -errno, "%s: %s", path, strerror(errno));
		return mode == DB_CREATE ? look_folder(path, err)
					 : err_set(err, -ENOENT, "%s: no such database", path);
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s: is a directory, not a database", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", path);
	if (access(path, mode == DB_READ ? R_OK : R_OK | W_OK))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	return mode == DB_READ ? 0 : look_folder(path, err);
}

static int cannot_open(struct db *d, struct err *err)
{
	int sys = sqlite3_system_errno(d->sq);

	if (sqlite3_errcode(d->sq) == SQLITE_CANTOPEN && sys)
		return err_set(err, -sys, "%s: %s", d->path, strerror(sys));
	return db_fail(d, err, "");
}

/*
 * Another writer has the file. SQLite's own handler would soon look only every 100 ms, and never meet the short gaps that
 * one leaves who commits once a second (pts/interp_cell.c).
 */
static int wait_turn(void *arg, int count)
{
	struct db *d = arg;
	uint64_t now = clock_mono_ns(), max = (uint64_t)(d->busy_ms ? d->busy_ms : DB_BUSY_MS);

	if (!count)
		d->busy_since_ns = now;
	if (now - d->busy_since_ns >= max * 1000000)
		return 0;
	usleep(2000);
	return 1;
}

static int open_handle(struct db *d, const char *name, int flags, struct err *err)
{
	/* One thread works with it: no lock at each column. */
	if (sqlite3_open_v2(name, &d->sq, flags | SQLITE_OPEN_NOMUTEX, NULL)) {
		if (!d->sq)
			return err_set(err, -ENOMEM, "%s: out of memory", d->path);
		return cannot_open(d, err);
	}
	sqlite3_extended_result_codes(d->sq, 1);
	sqlite3_busy_handler(d->sq, wait_turn, d);
	return 0;
}

/* A file name as an SQLite URI. */
static void uri_of(const char *path, struct buf *ret)
{
	buf_str(ret, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_fmt(ret, "%%%02x", (unsigned char)*path);
		else
			buf_add(ret, path, 1);
	buf_str(ret, "?immutable=1");
}

static int64_t log_bytes(const char *path)
{
	struct buf name = BUF_INIT;
	struct stat st;
	int64_t n = 0;

	buf_fmt(&name, "%s-wal", path);
	if (!stat(buf_cstr(&name), &st))
		n = st.st_size;
	buf_release(&name);
	return n;
}

/* A read-only folder has no place for WAL's shared memory: without a log the file alone is all
 * there is. */
static int open_immutable(struct db *d, struct err *err)
{
	struct buf uri = BUF_INIT;
	int rc;

	if (log_bytes(d->path))
		return err_set(err, -EROFS,
			       "%s: its folder cannot be written and it has an open log (-wal); "
			       "copy both elsewhere",
			       d->path);
	sqlite3_close(d->sq);
	d->sq = NULL;
	uri_of(d->path, &uri);
	rc = open_handle(d, buf_cstr(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
	buf_release(&uri);
	return rc;
}

static int probe(struct db *d)
{
	return sqlite3_exec(d->sq, "SELECT COUNT(*) FROM sqlite_master", NULL, NULL, NULL);
}

/* Opens for reading. The file is opened read-write, so that SQLite takes its side files away again,
 * but never written. */
static int open_reading(struct db *d, struct err *err)
{
	int rc = open_handle(d, d->path, SQLITE_OPEN_READWRITE, err), sq;

	if (rc)
		return rc;
	/* With a log left by a killed writer, closing would move it into the file. */
	if (log_bytes(d->path))
		sqlite3_db_config(d->sq, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sq = probe(d);
	if (sq == SQLITE_OK)
		return db_exec(d, "PRAGMA query_only = 1", err);
	if ((sq & 0xff) != SQLITE_CANTOPEN && (sq & 0xff) != SQLITE_READONLY)
		return db_fail(d, err, "");
	rc = open_immutable(d, err);
	if (!rc && probe(d))
		rc = db_fail(d, err, "");
	return rc;
}

/* Ours, and of which migration; *ret_version 0 for an empty file. */
static int identify(struct db *d, int newest, int64_t *ret_version, struct err *err)
{
	int64_t id = 0, tables = 0;
	int rc = db_int(d, err, 0, &tables, "SELECT COUNT(*) FROM sqlite_master", "");

	if (!rc)
		rc = db_int(d, err, 0, &id, "PRAGMA application_id", "");
	if (!rc)
		rc = db_int(d, err, 0, ret_version, "PRAGMA user_version", "");
	if (rc)
		return rc;
	if (id == 0 && *ret_version == 0 && tables == 0)
		return 0;
	if (id != DB_APPLICATION_ID)
		return err_set(err, -EINVAL, "%s: not a pts database", d->path);
	if (*ret_version > newest)
		return err_set(err, -EINVAL,
			       "%s: made by a newer pts (its schema is %d, this pts knows %d)",
			       d->path, (int)*ret_version, newest);
	return 0;
}

static int set_up(struct db *d, struct err *err)
{
	int rc = set_wal(d, err);

	if (rc)
		return rc;
	/* Checkpoints are ours to time: never while a cell is measured. */
	return db_exec(d,
		       "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		       "PRAGMA wal_autocheckpoint = 0",
		       err);
}

static int open_any(struct db *d, enum db_mode mode, const struct embed *list, int64_t *ret_version,
		    struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | (mode == DB_CREATE ? SQLITE_OPEN_CREATE : 0);
	int rc = look(d->path, mode, err);

	if (!rc)
		rc = mode == DB_READ ? open_reading(d, err) : open_handle(d, d->path, flags, err);
	if (!rc)
		rc = identify(d, db_newest(list), ret_version, err);
	if (!rc && mode != DB_CREATE && *ret_version == 0)
		rc = err_set(err, -EINVAL, "%s: not a pts database (empty)", d->path);
	return rc;
}

static void db_init(struct db *d, const char *path)
{
	memset(d, 0, sizeof *d);
	d->path = strdup(path);
	BUG_ON(!d->path);
}

int db_open(struct db *d, const char *path, enum db_mode mode, const struct embed *list,
	    struct err *err)
{
	int64_t version = 0;
	int rc;

	db_init(d, path);
	rc = open_any(d, mode, list, &version, err);
	if (!rc && mode != DB_CREATE && version < db_newest(list))
		rc = err_set(err, -EINVAL,
			     "%s: made by an older pts (schema %d, now %d); run: pts db migrate "
			     "--db %s",
			     path, (int)version, db_newest(list), path);
	if (!rc && mode != DB_READ)
		rc = set_up(d, err);
	if (!rc && mode == DB_CREATE)
		rc = db_migrate(d, list, err);
	if (rc)
		db_close(d);
	return rc;
}

int db_open_any(struct db *d, const char *path, const struct embed *list, int *ret_version,
		struct err *err)
{
	int64_t version = 0;
	int rc;

	db_init(d, path);
	rc = open_any(d, DB_READ, list, &version, err);
	if (rc)
		db_close(d);
	else
		*ret_version = (int)version;
	return rc;
}

int db_open_model(struct db *d, const struct embed *list, struct err *err)
{
	int rc;

	db_init(d, ":memory:");
	rc = open_handle(d, d->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
	for (const struct embed *m = list; m->name && !rc; m++)
		rc = db_exec(d, m->data, err);
	if (rc)
		db_close(d);
	return rc;
}

void db_close(struct db *d)
{
	for (unsigned i = 0; i < d->n_cached; i++) {
		sqlite3_finalize(d->cached[i].st);
		free(d->cached[i].sql);
	}
	sqlite3_close(d->sq);
	free(d->path);
	memset(d, 0, sizeof *d);
}
