/* SPDX-License-Identifier: MIT */
/* Integrity of a database: SQLite's own checks, sums that must agree, and the chains. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pts/base/buf.h"
#include "schema/evidence.h"
#include "schema/read_private.h"
#include "schema/shape.h"

#define CELL_NAME \
	"'run ' || c.run_id || ': cell ' || c.ordinal || ' (' || c.test || ' test'" \
	" || coalesce(', round ' || c.round, '') || ')'"

/* Each gives one text for each fault. */
static const char *const fault_sql[] = {
	"SELECT 'file: ' || integrity_check FROM pragma_integrity_check(20)"
	" WHERE integrity_check <> 'ok'",

	"SELECT 'table ' || \"table\" || ', row ' || coalesce(rowid, '?') || ': refers to a "
	"missing row of '"
	" || parent FROM pragma_foreign_key_check() LIMIT 20",

	"SELECT " CELL_NAME " || ': its seconds hold ' || sum(e.value ->> 1) || ' IOs, the cell '"
	" || (c.read_ios + c.write_ios) FROM cell_series s JOIN cell c USING (cell_id),"
	" json_each(s.seconds) e GROUP BY s.cell_id"
	" HAVING sum(e.value ->> 1) <> c.read_ios + c.write_ios LIMIT 20",

	"SELECT " CELL_NAME " || ': its seconds hold ' || sum(e.value ->> 2) || ' bytes, the cell '"
	" || (c.read_bytes + c.write_bytes) FROM cell_series s JOIN cell c USING (cell_id),"
	" json_each(s.seconds) e GROUP BY s.cell_id"
	" HAVING sum(e.value ->> 2) <> c.read_bytes + c.write_bytes LIMIT 20",

	"SELECT " CELL_NAME
	" || ': the buckets of its ' || h.op || ' ' || h.kind || ' histogram hold '"
	" || sum(k.value) || ' IOs of ' || h.ios FROM cell_hist h JOIN cell c USING (cell_id),"
	" json_each(h.buckets) b, json_each(b.value) k GROUP BY h.id HAVING sum(k.value) <> h.ios"
	" LIMIT 20",

	"SELECT " CELL_NAME " || ': its ' || h.op || ' ' || h.kind || ' histogram holds ' || h.ios"
	" || ' IOs, the cell ' || iif(h.op = 'R', c.read_ios, c.write_ios)"
	" FROM cell_hist h JOIN cell c USING (cell_id)"
	" WHERE h.ios <> iif(h.op = 'R', c.read_ios, c.write_ios) LIMIT 20",

	/* The rows of the members follow the one that sums them up. */
	"SELECT " CELL_NAME
	" || ': its members hold ' || coalesce(sum(m.read_ios + m.write_ios), 0)"
	" || ' IOs in ' || count(m.cell_id) || ' rows, the sum of ' || x.members || ' is '"
	" || (c.read_ios + c.write_ios) FROM cell_set x JOIN cell c USING (cell_id)"
	" LEFT JOIN cell m ON m.run_id = c.run_id AND m.member IS NOT NULL"
	" AND m.ordinal BETWEEN c.ordinal + 1 AND c.ordinal + x.members GROUP BY c.cell_id"
	" HAVING count(m.cell_id) <> x.members"
	" OR total(m.read_ios + m.write_ios) <> c.read_ios + c.write_ios"
	" OR total(m.read_bytes + m.write_bytes) <> c.read_bytes + c.write_bytes LIMIT 20",
};

static int check_sql(struct reader *r, const char *sql, struct buf *faults, struct err *err)
{
	struct rows *q = read_rows(r, err, sql, "");

	if (!q)
		return -EIO;
	while (rows_next(q))
		buf_fmt(faults, "%s\n", rows_text(q, 0));
	return rows_close(q, err);
}

static int check_runs(struct reader *r, struct buf *faults, struct buf *summary, struct err *err)
{
	struct rows *q = read_rows(
		r, err,
		"SELECT run_id, state, (SELECT count(*) FROM chain c WHERE c.run_id = v.run_id), "
		"sealed, digest FROM v_run v ORDER BY run_id",
		"");
	int rc = 0, rc_close;

	if (!q)
		return -EIO;
	while (!rc && rows_next(q)) {
		size_t before = faults->len;

		rc = evidence_check_run(&r->db, rows_int(q, 0), faults, err);
		buf_fmt(summary, "run %" PRId64 ": %s, %" PRId64 " rows, %s, head %s: %s\n",
			rows_int(q, 0), rows_text(q, 1), rows_int(q, 2),
			rows_int(q, 3) ? "sealed" : "not sealed", rows_text(q, 4),
			faults->len == before ? "chain ok" : "chain broken");
	}
	rc_close = rows_close(q, err);
	return rc ? rc : rc_close;
}

/* A damaged file cannot be read to the end: that is a fault found, not an error of ours. */
static int or_fault(int rc, struct buf *faults, struct err *err)
{
	if (rc != -EIO && rc != -EINVAL)
		return rc;
	if (err->msg[0])
		buf_fmt(faults, "reading stopped: %s\n", err->msg);
	err->msg[0] = '\0';
	return 0;
}

static int check_all(struct reader *r, struct buf *ret_faults, struct buf *ret_summary,
		     struct err *err)
{
	int rc = or_fault(shape_check(&r->db, ret_faults, NULL, err), ret_faults, err);

	for (size_t i = 0; i < sizeof fault_sql / sizeof *fault_sql && !rc; i++)
		rc = or_fault(check_sql(r, fault_sql[i], ret_faults, err), ret_faults, err);
	if (!rc)
		rc = or_fault(check_runs(r, ret_faults, ret_summary, err), ret_faults, err);
	if (!rc)
		rc = or_fault(evidence_check_shared(&r->db, ret_faults, err), ret_faults, err);
	return rc;
}

int read_check(struct reader *r, struct buf *ret_faults, struct buf *ret_summary, struct err *err)
{
	/* One moment: a row and its entry of the chain are written together, so they must be read
	 * together. */
	int rc = or_fault(db_exec(&r->db, "SAVEPOINT audit", err), ret_faults, err), rc_end;

	if (rc)
		return rc;
	rc = check_all(r, ret_faults, ret_summary, err);
	rc_end = db_exec(&r->db, "RELEASE audit", err);
	return rc ? rc : rc_end;
}

int read_check_others(struct reader *r, struct buf *ret_notes, struct err *err)
{
	return shape_check(&r->db, NULL, ret_notes, err);
}

int read_check_run(struct reader *r, int64_t run, struct buf *ret_faults, struct err *err)
{
	return or_fault(evidence_check_run(&r->db, run, ret_faults, err), ret_faults, err);
}

int read_check_evidence(struct reader *r, int64_t run, struct buf *ret_faults, struct err *err)
{
	int rc = or_fault(shape_check(&r->db, ret_faults, NULL, err), ret_faults, err);

	return rc ? rc
		  : or_fault(evidence_check_all(&r->db, run, ret_faults, err), ret_faults, err);
}
