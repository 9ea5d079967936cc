/* SPDX-License-Identifier: MIT */
/* The writer reads back: latencies of cells it has stored. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>

#include "schema/store_private.h"

/* Response times where IOs were due at a rate, else service times: as the cell's own percentiles. */
#define HISTS_OF_STEP \
	" FROM v_cell c JOIN cell_hist h USING (cell_id)" \
	" WHERE c.run_id = ?1 AND c.test = ?2 AND c.attempt = ?3 AND c.section = ?4" \
	" AND c.step = ?5 AND (?6 < 0 OR c.round BETWEEN ?6 AND ?7)" \
	" AND c.member IS NULL AND NOT c.void AND NOT c.partial" \
	" AND h.kind = iif(c.rate_iops IS NULL, 'service', 'response')"

static sqlite3_stmt *step_query(struct store *s, const char *sql, const struct hist_of *of,
				struct err *err)
{
	sqlite3_stmt *q = db_stmt(&s->db, sql, err);

	if (!q)
		return NULL;
	if (sqlite3_bind_int64(q, 1, of->at.run) ||
	    sqlite3_bind_text(q, 2, of->at.test, -1, SQLITE_TRANSIENT) ||
	    sqlite3_bind_int64(q, 3, of->at.attempt) || sqlite3_bind_int64(q, 4, of->at.section) ||
	    sqlite3_bind_int64(q, 5, of->step) || sqlite3_bind_int(q, 6, of->round_first) ||
	    sqlite3_bind_int(q, 7, of->round_last)) {
		db_fail(&s->db, err, "reading back");
		return NULL;
	}
	return q;
}

static void add_exact(struct hist *into, sqlite3_stmt *q)
{
	uint64_t min = (uint64_t)sqlite3_column_int64(q, 0);
	uint64_t max = (uint64_t)sqlite3_column_int64(q, 1);

	if (min < into->min)
		into->min = min;
	if (max > into->max)
		into->max = max;
	into->sum += sqlite3_column_type(q, 2) == SQLITE_INTEGER
			     ? (unsigned __int128)sqlite3_column_int64(q, 2)
			     : (unsigned __int128)sqlite3_column_double(q, 2);
}

static void add_bucket(struct hist *into, sqlite3_stmt *q)
{
	int64_t index = sqlite3_column_int64(q, 0), count = sqlite3_column_int64(q, 1);

	if (index < 0 || index >= HIST_BUCKETS || count < 0)
		return; /* none that this program wrote */
	into->count[index] += (uint64_t)count;
	into->n += (uint64_t)count;
}

static int each(struct store *s, sqlite3_stmt *q, void (*add)(struct hist *, sqlite3_stmt *),
		struct hist *into, struct err *err)
{
	int rc;

	while ((rc = sqlite3_step(q)) == SQLITE_ROW)
		add(into, q);
	if (rc != SQLITE_DONE)
		return db_fail(&s->db, err, "reading back");
	sqlite3_reset(q);
	return 0;
}

int store_step_hist(struct store *s, const struct hist_of *of, struct hist *into, struct err *err)
{
	sqlite3_stmt *q = step_query(s, "SELECT h.min_ns, h.max_ns, h.sum_ns" HISTS_OF_STEP, of,
				     err);
	int rc = q ? each(s, q, add_exact, into, err) : -EIO;

	if (rc)
		return rc;
	q = step_query(s,
		       "SELECT CAST(b.key AS INTEGER) + k.key, k.value FROM"
		       " (SELECT h.buckets" HISTS_OF_STEP ") h,"
		       " json_each(h.buckets) b, json_each(b.value) k",
		       of, err);
	return q ? each(s, q, add_bucket, into, err) : -EIO;
}
