/* SPDX-License-Identifier: MIT */
/* Read-only side: SQL over the public views without <sqlite3.h>. Never creates, migrates or writes the file. */
#ifndef SCHEMA_READ_H
#define SCHEMA_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/base/hist.h"

struct reader;
struct rows;

/*
 * -ENOENT, -EINVAL (not a pts database; a newer schema; a table or view that is not the one pts makes) with a message that
 * names the file. Here v_run.state is "interrupted" for a run that says running while no process works on it.
 */
int read_open(const char *path, struct reader **ret_reader, struct err *err) must_check;
/* The same, but tables and views may be any: read_check() and read_check_evidence() tell of them. */
int read_open_doubted(const char *path, struct reader **ret_reader, struct err *err) must_check;
void read_close(struct reader *r);
/* All that is read from here to read_close() is of one moment, whatever a writer adds meanwhile. */
int read_snapshot(struct reader *r, struct err *err) must_check;

/*
 * Prepares a query. @types names the bound arguments in order: 'i' int64_t, 't' const char *, 'd' double; "" for none.
 * NULL on error (message set). Then: while (rows_next(q) == 1) ...; int rc = rows_close(q, err).
 */
struct rows *read_rows(struct reader *r, struct err *err, const char *sql, const char *types, ...);
int rows_next(struct rows *q); /* 1 a row, 0 no more (or an error, told by rows_close) */
bool rows_is_null(struct rows *q, int col);
int64_t rows_int(struct rows *q, int col); /* 0 where NULL */
double rows_num(struct rows *q, int col); /* NAN where NULL */
const char *rows_text(struct rows *q, int col); /* "" where NULL; valid until the next rows_next */
const char *rows_column(struct rows *q, int col); /* its name */
int rows_columns(struct rows *q);
int rows_column_type(struct rows *q, int col); /* 'i' 'd' 't' or 0 for NULL, of this row */
int rows_close(struct rows *q, struct err *err) must_check;

/* RUN as people name it: a run_id, the head of a uuid (>= 4 characters), "last". -ENOENT, or -EINVAL when ambiguous. */
int read_run(struct reader *r, const char *name, int64_t *ret_run, struct err *err) must_check;

/* Adds the stored histogram of (cell, op "R"|"W", kind) to @into: counts, min, max, sum. 0 also when there is none. */
int read_hist(struct reader *r, int64_t cell, const char *op, const char *kind, struct hist *into,
	      struct err *err) must_check;

/* Integrity: SQLite's own check, then each run's chain. One line for each fault in @ret_faults; 0 or an error of reading. */
struct buf;
int read_check(struct reader *r, struct buf *ret_faults, struct buf *ret_summary,
	       struct err *err) must_check;

/* SHA-256 in hexadecimal digits: for the list of the files of a report. */
void bytes_sha256(const void *data, size_t n, char ret[65]);

/* One line for each object of the file that pts does not make, or misses without harm. */
int read_check_others(struct reader *r, struct buf *ret_notes, struct err *err) must_check;

/* The chain of one run only. */
int read_check_run(struct reader *r, int64_t run, struct buf *ret_faults,
		   struct err *err) must_check;
/* The same, with rows of the run that no chain knows, its host, its definitions and plans; each line names its table. */
int read_check_evidence(struct reader *r, int64_t run, struct buf *ret_faults,
			struct err *err) must_check;

#endif
