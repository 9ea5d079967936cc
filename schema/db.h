/* SPDX-License-Identifier: MIT */
/* Private to schema/: the connection under store and reader. Errors of SQLite become -Exxx with the
 * file's name here only. */
#ifndef SCHEMA_DB_H
#define SCHEMA_DB_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "pts/base/err.h"

#define DB_APPLICATION_ID 0x50545331 /* "PTS1", also in 0001_init.sql */
#define DB_BUSY_MS 30000

struct sqlite3;
struct sqlite3_stmt;

#define DB_STATEMENTS 160

struct db {
	struct sqlite3 *sq;
	char *path;
	struct {
		char *sql;
		struct sqlite3_stmt *st;
	} cached[DB_STATEMENTS];
	unsigned n_cached;
	int busy_ms; /* how long to wait for another writer; 0 is DB_BUSY_MS */
	uint64_t busy_since_ns; /* host's clock: when that wait began */
	int depth; /* of open db_begin() */
	bool broken; /* a call failed inside: only rollback is left */
	bool failed; /* some call did, ever */
};

enum db_mode { DB_CREATE, DB_WRITE, DB_READ };

/*
 * DB_CREATE makes the file when there is none (or an empty one) and applies missing migrations of
 * @list. DB_WRITE and DB_READ want an existing file of the newest migration; DB_READ changes
 * nothing.
 */
int db_open(struct db *d, const char *path, enum db_mode mode, const struct embed *list,
	    struct err *err) must_check;
/* As DB_READ, but of any migration up to the newest. */
int db_open_any(struct db *d, const char *path, const struct embed *list, int *ret_version,
		struct err *err) must_check;
/* An empty database in memory, as the migrations of @list make it. */
int db_open_model(struct db *d, const struct embed *list, struct err *err) must_check;
void db_close(struct db *d);
/* The folder that a file is in: "." for a bare name. */
void db_folder(const char *path, struct buf *ret);

/* Applies what is missing, one transaction each. */
int db_migrate(struct db *d, const struct embed *list, struct err *err) must_check;
int db_newest(const struct embed *list);

/* The last error of the connection as -Exxx, with "FILE: DOING: why". */
int db_fail(struct db *d, struct err *err, const char *doing);
/* Prepared once, kept. NULL on error. Reset and without bindings. */
struct sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *err);
/* Any SQL without results. */
int db_exec(struct db *d, const char *sql, struct err *err) must_check;
/* First column of the first row; @missing when there is no row or it is NULL. @types as in
 * read_rows(). */
int db_int(struct db *d, struct err *err, int64_t missing, int64_t *ret, const char *sql,
	   const char *types, ...) must_check;
/* Binds arguments as in read_rows(). Returns an SQLite code. */
int db_bind(struct sqlite3_stmt *st, const char *types, va_list ap);

/* Transactions nest: only the outermost writes. After a failure inside, the outermost db_commit()
 * undoes all and fails. */
int db_begin(struct db *d, struct err *err) must_check;
int db_commit(struct db *d, struct err *err) must_check;
void db_rollback(struct db *d);
/* Ends a db_begin(): commits when @rc is 0, else undoes (all of it, when nested); returns the first
 * error. */
int db_end(struct db *d, int rc, struct err *err) must_check;
/* Moves the log into the file as far as nobody is disturbed; never an error, the log is durable. */
void db_checkpoint(struct db *d);

/*
 * An INSERT into @table by column names; columns not named are NULL. Strings "" and NULL, doubles
 * that are not finite and (opt) negative integers become NULL.
 */
struct insert {
	struct db *db;
	struct sqlite3_stmt *st;
	const char *table;
	struct err *err;
};
int insert_begin(struct db *d, const char *table, struct insert *ret, struct err *err) must_check;
void insert_int(struct insert *in, const char *column, int64_t v);
void insert_opt(struct insert *in, const char *column, int64_t v);
void insert_num(struct insert *in, const char *column, double v);
void insert_text(struct insert *in, const char *column, const char *s); /* borrowed till the row */
/* A value as it stands in a row of @from, which may be of another database. */
void insert_column(struct insert *in, const char *column, struct sqlite3_stmt *from, int col);
int insert_row(struct insert *in, int64_t *ret_rowid) must_check;

#endif
