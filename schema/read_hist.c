/* SPDX-License-Identifier: MIT */
/* Stored histograms. A report reads thousands: their text is taken apart here, not by SQL. */
#include <errno.h>
#include <inttypes.h>

#include <sqlite3.h>

#include "schema/read_private.h"

/* {"I": [count, count, ...], ...}: the counts of the buckets I, I+1, ... */
struct text {
	const char *p;
	struct hist *into;
};

static void skip_blanks(struct text *t)
{
	while (*t->p == ' ' || *t->p == '\n' || *t->p == '\t' || *t->p == '\r')
		t->p++;
}

static bool take_char(struct text *t, char c)
{
	skip_blanks(t);
	if (*t->p != c)
		return false;
	t->p++;
	return true;
}

static bool take_number(struct text *t, uint64_t *ret)
{
	uint64_t v = 0;
	const char *from = t->p;

	for (; *t->p >= '0' && *t->p <= '9'; t->p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*t->p - '0'), &v))
			return false;
	*ret = v;
	return t->p != from && v <= INT64_MAX;
}

static bool take_counts(struct text *t, uint64_t index)
{
	uint64_t count;

	if (!take_char(t, '['))
		return false;
	if (take_char(t, ']'))
		return true;
	do {
		skip_blanks(t);
		if (!take_number(t, &count) || index >= HIST_BUCKETS)
			return false;
		t->into->count[index++] += count;
		t->into->n += count;
	} while (take_char(t, ','));
	return take_char(t, ']');
}

static bool take_buckets(struct text *t)
{
	uint64_t index;

	if (!take_char(t, '{'))
		return false;
	if (take_char(t, '}'))
		return true;
	do {
		if (!take_char(t, '"') || !take_number(t, &index) || *t->p++ != '"' ||
		    !take_char(t, ':') || !take_counts(t, index))
			return false;
	} while (take_char(t, ','));
	return take_char(t, '}');
}

static void add_exact(struct hist *into, struct sqlite3_stmt *st)
{
	uint64_t min = (uint64_t)sqlite3_column_int64(st, 0);
	uint64_t max = (uint64_t)sqlite3_column_int64(st, 1);

	if (min < into->min)
		into->min = min;
	if (max > into->max)
		into->max = max;
	into->sum += sqlite3_column_type(st, 2) == SQLITE_INTEGER
			     ? (unsigned __int128)sqlite3_column_int64(st, 2)
			     : (unsigned __int128)sqlite3_column_double(st, 2);
}

int read_hist(struct reader *r, int64_t cell, const char *op, const char *kind, struct hist *into,
	      struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(&r->db,
					  "SELECT min_ns, max_ns, sum_ns, buckets FROM cell_hist"
					  " WHERE cell_id = ? AND op = ? AND kind = ?",
					  err);
	int rc;

	if (!st)
		return -EIO;
	if (sqlite3_bind_int64(st, 1, cell) || sqlite3_bind_text(st, 2, op, -1, SQLITE_TRANSIENT) ||
	    sqlite3_bind_text(st, 3, kind, -1, SQLITE_TRANSIENT))
		return db_fail(&r->db, err, "");
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		struct text t = { (const char *)sqlite3_column_text(st, 3), into };

		add_exact(into, st);
		rc = t.p && take_buckets(&t)
			     ? 0
			     : err_set(err, -EIO, "%s: cell %" PRId64 ": damaged histogram",
				       r->db.path, cell);
	} else {
		rc = rc == SQLITE_DONE ? 0 : db_fail(&r->db, err, "");
	}
	sqlite3_reset(st);
	return rc;
}
