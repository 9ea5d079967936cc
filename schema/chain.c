/* SPDX-License-Identifier: MIT */
/*
 * The evidence chain. Canonical text of a row, version 1:
 *
 *	pts-row/1 TABLE\n
 *	NAME=n\n			NULL
 *	NAME=i-12\n			integer, decimal
 *	NAME=r0.10000000000000001\n	real, %.17g
 *	NAME=t5:bytes\n			text, with its length
 *
 * with one line for each covered column, in the order of schema/evidence_tables.c. Writer and audit
 * use the same function on what SELECT returns.
 */
#include "schema/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>
#include <sqlite3.h>

#include "schema/evidence.h"
#include "schema/evidence_tables.h"

#define FAULTS_MAX 20 /* lines for each run */

/* A text that is hashed as it is made: a report goes through hundreds of thousands of rows. */
struct hashed {
	struct sha256_ctx ctx;
	size_t n;
	char text[2048]; /* what is not yet in ctx */
};

static void hashed_begin(struct hashed *h)
{
	sha256_init(&h->ctx);
	h->n = 0;
}

static void hashed_flush(struct hashed *h)
{
	sha256_update(&h->ctx, h->n, (const uint8_t *)h->text);
	h->n = 0;
}

static void hashed_add(struct hashed *h, const void *data, size_t len)
{
	if (len > sizeof h->text - h->n)
		hashed_flush(h);
	if (len > sizeof h->text) {
		sha256_update(&h->ctx, len, data);
		return;
	}
	if (len)
		memcpy(h->text + h->n, data, len);
	h->n += len;
}

static void hashed_str(struct hashed *h, const char *s)
{
	hashed_add(h, s, strlen(s));
}

/* As "%" PRId64 writes it. */
static void hashed_int(struct hashed *h, int64_t v)
{
	char digits[24], *p = digits + sizeof digits;
	uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--p = (char)('0' + rest % 10);
	while (rest /= 10);
	if (v < 0)
		*--p = '-';
	hashed_add(h, p, (size_t)(digits + sizeof digits - p));
}

static void hashed_real(struct hashed *h, double v)
{
	char text[40];
	int n = snprintf(text, sizeof text, "%.17g", v);

	hashed_add(h, text, (size_t)n);
}

static void hashed_end(struct hashed *h, char ret[65])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_SIZE];

	hashed_flush(h);
	sha256_digest(&h->ctx, sizeof sum, sum);
	for (size_t i = 0; i < sizeof sum; i++) {
		ret[2 * i] = digit[sum[i] >> 4];
		ret[2 * i + 1] = digit[sum[i] & 15];
	}
	ret[64] = '\0';
}

void sha256_hex(const char *data, size_t len, char ret[65])
{
	struct hashed h;

	hashed_begin(&h);
	hashed_add(&h, data, len);
	hashed_end(&h, ret);
}

static void put_value(struct hashed *out, const char *name, struct sqlite3_stmt *st, int col)
{
	int type = sqlite3_column_type(st, col);

	hashed_str(out, name);
	switch (type) {
	case SQLITE_NULL:
		hashed_str(out, "=n");
		break;
	case SQLITE_INTEGER:
		hashed_str(out, "=i");
		hashed_int(out, (int64_t)sqlite3_column_int64(st, col));
		break;
	case SQLITE_FLOAT:
		hashed_str(out, "=r");
		hashed_real(out, sqlite3_column_double(st, col));
		break;
	default: {
		const void *data = sqlite3_column_blob(st, col);
		int len = sqlite3_column_bytes(st, col);

		hashed_str(out, type == SQLITE_TEXT ? "=t" : "=b");
		hashed_int(out, len);
		hashed_str(out, ":");
		hashed_add(out, data, (size_t)len);
	}
	}
	hashed_str(out, "\n");
}

struct row_hash {
	int64_t run; /* it says it belongs to */
	char hash[65];
	char stamp[65]; /* "" when the row has none */
};

/* The columns that are @stamps, or those that are not; false when there are none. */
static bool put_values(struct hashed *out, struct sqlite3_stmt *st, bool stamps)
{
	bool any = false;

	for (int i = 1; i < sqlite3_column_count(st); i++) {
		const char *name = sqlite3_column_name(st, i);

		if ((*name == '~') != stamps)
			continue;
		put_value(out, name, st, i);
		any = true;
	}
	return any;
}

/* 1 the row exists and was hashed, 0 it does not, or an error. */
static int hash_row(struct db *d, const struct evidence_table *t, int64_t row, const char *before,
		    struct row_hash *ret, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, t->sql, err);
	struct hashed h;
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, row);
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW) {
		rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, t->name);
		sqlite3_reset(st);
		return rc;
	}
	ret->run = sqlite3_column_int64(st, 0);
	hashed_begin(&h);
	hashed_str(&h, before);
	hashed_str(&h, "pts-row/1 ");
	hashed_str(&h, t->name);
	hashed_str(&h, "\n");
	put_values(&h, st, false);
	hashed_end(&h, ret->hash);
	hashed_begin(&h);
	hashed_str(&h, ret->hash);
	if (put_values(&h, st, true))
		hashed_end(&h, ret->stamp);
	else
		ret->stamp[0] = '\0';
	sqlite3_reset(st);
	return 1;
}

int evidence_head(struct db *d, int64_t run, int64_t *ret_rows, char ret_hash[65], struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(
		d, "SELECT n, hash FROM chain WHERE run_id = ? ORDER BY n DESC LIMIT 1", err);
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, run);
	*ret_rows = 0;
	ret_hash[0] = '\0';
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*ret_rows = sqlite3_column_int64(st, 0);
		strncat(ret_hash, (const char *)sqlite3_column_text(st, 1), 64);
	}
	rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_fail(d, err, "chain");
	sqlite3_reset(st);
	return rc;
}

static int chain_insert(struct db *d, int64_t n, const char *table, int64_t row,
			const struct row_hash *h, struct err *err)
{
	struct insert in;
	int64_t id;
	int rc = insert_begin(d, "chain", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", h->run);
	insert_int(&in, "n", n);
	insert_text(&in, "tbl", table);
	insert_int(&in, "row_id", row);
	insert_text(&in, "hash", h->hash);
	insert_text(&in, "stamp", h->stamp);
	return insert_row(&in, &id);
}

/* Behind a seal, that of a failed run, only the event that goes on with it may follow. */
static int check_open(struct db *d, int64_t run, const char *table, int64_t row, struct err *err)
{
	int64_t sealed, reopens = 0;
	int rc = db_int(d, err, 0, &sealed,
			"SELECT kind = 'seal' FROM chain JOIN event ON event_id = row_id WHERE tbl "
			"= 'event' AND "
			"chain.run_id = ?1 AND n = (SELECT MAX(n) FROM chain WHERE run_id = ?1)",
			"i", run);

	if (!rc && sealed && !strcmp(table, "event"))
		rc = db_int(d, err, 0, &reopens,
			    "SELECT kind = 'resume' AND 'failed' = (SELECT state FROM run_end "
			    "WHERE run_id = ?2 "
			    "ORDER BY id DESC LIMIT 1) FROM event WHERE event_id = ?1",
			    "ii", row, run);
	if (!rc && sealed && !reopens)
		rc = err_set(err, -EINVAL, "%s: run %" PRId64 " has ended and is sealed", d->path,
			     run);
	return rc;
}

int evidence_add(struct db *d, int64_t run, const char *table, int64_t row, struct err *err)
{
	const struct evidence_table *t = evidence_table(table);
	struct row_hash h;
	char before[65];
	int64_t rows;
	int rc = check_open(d, run, table, row, err);

	BUG_ON(!t);
	if (!rc)
		rc = evidence_head(d, run, &rows, before, err);
	if (rc)
		return rc;
	rc = hash_row(d, t, row, before, &h, err);
	if (rc < 0)
		return rc;
	if (!rc || h.run != run)
		BUG("row %" PRId64 " of %s was not inserted", row, table);
	return chain_insert(d, rows + 1, table, row, &h, err);
}

/* ---- audit ---- */

struct audit {
	struct db *d;
	int64_t run;
	struct buf *faults;
	unsigned lines;
	struct err *err;
	bool tables; /* name the table and row as well */
};

static void fault(struct audit *a, const char *row, const char *text)
{
	if (a->lines++ < FAULTS_MAX)
		buf_fmt(a->faults, "run %" PRId64 ": %s: %s\n", a->run, row, text);
}

/* Name of a row for people; its table and rowid when it is gone. */
static int name_row(struct db *d, const char *table, int64_t row, struct buf *ret, struct err *err)
{
	const struct evidence_table *t = evidence_table(table);
	struct sqlite3_stmt *st = t ? db_stmt(d, t->what, err) : NULL;
	int rc = SQLITE_DONE;

	if (t && !st)
		return -EIO;
	if (st) {
		sqlite3_bind_int64(st, 1, row);
		rc = sqlite3_step(st);
	}
	if (rc == SQLITE_ROW && sqlite3_column_text(st, 0))
		buf_str(ret, (const char *)sqlite3_column_text(st, 0));
	else
		buf_fmt(ret, "%s row %" PRId64, table, row);
	if (st)
		sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_fail(d, err, table);
}

static int fault_row(struct audit *a, const char *table, int64_t row, const char *text)
{
	struct buf name = BUF_INIT;
	struct buf what = BUF_INIT;
	int rc = name_row(a->d, table, row, &name, a->err);

	buf_str(&what, text);
	if (a->tables)
		buf_fmt(&what, " (table %s, row %" PRId64 ")", table, row);
	if (!rc)
		fault(a, buf_cstr(&name), buf_cstr(&what));
	buf_release(&name);
	buf_release(&what);
	return rc;
}

static bool same(const void *text, const char *s)
{
	return !strcmp(text ? text : "", s);
}

/* One entry: n, tbl, row_id, hash, stamp. @before is the hash stored with the entry before. */
static int audit_entry(struct audit *a, struct sqlite3_stmt *entry, const char *before)
{
	const char *table = (const char *)sqlite3_column_text(entry, 1);
	int64_t row = sqlite3_column_int64(entry, 2);
	const struct evidence_table *t = evidence_table(table);
	struct row_hash h;
	int rc = t ? hash_row(a->d, t, row, before, &h, a->err) : 0;

	if (rc < 0)
		return rc;
	if (rc == 0) {
		char name[96];

		snprintf(name, sizeof name, "%.40s row %" PRId64 ", entry %" PRId64 " of the chain",
			 table, row, (int64_t)sqlite3_column_int64(entry, 0));
		fault(a, name, "row missing");
		return 0;
	}
	if (h.run != a->run)
		return fault_row(a, table, row, "belongs to another run");
	if (!same(sqlite3_column_text(entry, 3), h.hash))
		return fault_row(a, table, row, "hash differs");
	if (!same(sqlite3_column_text(entry, 4), h.stamp))
		return fault_row(a, table, row, "time, identity or arguments differ");
	return 0;
}

/*
 * A seal says how many rows came before it and what their head was. It is the last entry, or, of a run that failed, the
 * one before that goes on with it.
 */
static int audit_seals(struct audit *a, int64_t rows, int64_t *ret_last)
{
	struct sqlite3_stmt *st = db_stmt(
		a->d,
		"SELECT c.n, json_extract(s.detail, '$.rows') = c.n - 1,"
		" json_extract(s.detail, '$.head') IS (SELECT hash FROM chain b WHERE b.run_id ="
		" c.run_id AND b.n = c.n - 1),"
		" EXISTS (SELECT 1 FROM chain f JOIN event e ON e.event_id = f.row_id WHERE"
		" f.run_id = c.run_id AND f.n = c.n + 1 AND f.tbl = 'event' AND e.kind = 'resume')"
		" AND EXISTS (SELECT 1 FROM chain f JOIN run_end e ON e.id = f.row_id WHERE"
		" f.run_id = c.run_id AND f.n = c.n - 1 AND f.tbl = 'run_end' AND e.state ="
		" 'failed')"
		" FROM chain c JOIN event s ON s.event_id = c.row_id WHERE c.tbl = 'event'"
		" AND c.run_id = ? AND s.kind = 'seal' ORDER BY c.n",
		a->err);
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, a->run);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		*ret_last = sqlite3_column_int64(st, 0);
		if (*ret_last != rows && !sqlite3_column_int(st, 3))
			fault(a, "seal", "rows follow it");
		else if (!sqlite3_column_int(st, 1))
			fault(a, "seal", "row count differs");
		else if (!sqlite3_column_int(st, 2))
			fault(a, "seal", "head differs");
	}
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : db_fail(a->d, a->err, "seal");
}

/* Whatever is done, or failed and was not gone on with, has its seal behind its end. */
static int audit_seal(struct audit *a, int64_t rows)
{
	int64_t sealed = 0, ended = 0;
	int rc = audit_seals(a, rows, &sealed);

	if (!rc)
		rc = db_int(a->d, a->err, 0, &ended,
			    "SELECT max(n) FROM chain JOIN run_end e ON tbl = 'run_end' AND row_id "
			    "= e.id WHERE "
			    "chain.run_id = ? AND state IN ('done', 'failed')",
			    "i", a->run);
	if (!rc && ended > sealed)
		fault(a, "seal", "missing");
	return rc;
}

/* Walks the entries. */
static int audit_entries(struct audit *a, int64_t *ret_rows)
{
	struct sqlite3_stmt *st = db_stmt(
		a->d, "SELECT n, tbl, row_id, hash, stamp FROM chain WHERE run_id = ? ORDER BY n",
		a->err);
	char before[65] = "";
	int64_t rows = 0;
	int rc = SQLITE_ERROR, bad = 0;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, a->run);
	while (!bad && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (sqlite3_column_int64(st, 0) != ++rows) {
			fault(a, "chain", "entries are missing");
			rows = sqlite3_column_int64(st, 0);
		}
		bad = audit_entry(a, st, before);
		before[0] = '\0';
		strncat(before, (const char *)sqlite3_column_text(st, 3), 64);
	}
	if (!bad && rc != SQLITE_DONE)
		bad = db_fail(a->d, a->err, "chain");
	sqlite3_reset(st);
	*ret_rows = rows;
	return bad;
}

static int check_run(struct audit a)
{
	int64_t rows = 0;
	int rc = audit_entries(&a, &rows);

	if (!rc && rows == 0)
		fault(&a, "chain", "missing");
	if (!rc)
		rc = audit_seal(&a, rows);
	if (a.lines > FAULTS_MAX)
		buf_fmt(a.faults, "run %" PRId64 ": and %u more\n", a.run, a.lines - FAULTS_MAX);
	return rc;
}

int evidence_check_run(struct db *d, int64_t run, struct buf *faults, struct err *err)
{
	return check_run((struct audit){ d, run, faults, 0, err, false });
}

/* Rows of a table that no chain knows; of run @only, or (0) of all. */
static int audit_strays(struct db *d, const struct evidence_table *t, int64_t only,
			struct buf *faults, struct err *err)
{
	struct audit a = { d, 0, faults, 0, err, only != 0 };
	struct buf sql = BUF_INIT;
	struct sqlite3_stmt *st, *one;
	int rc = SQLITE_ERROR, bad = 0;

	buf_fmt(&sql,
		"SELECT rowid FROM %s t WHERE NOT EXISTS (SELECT 1 FROM chain WHERE tbl = '%s' AND "
		"row_id = t.rowid)",
		t->name, t->name);
	if (only) /* by their indices: a database may hold thousands of other runs */
		buf_str(&sql,
			strncmp(t->sql, "SELECT c.run_id", 15)
				? " AND t.run_id = ?"
				: " AND t.cell_id IN (SELECT cell_id FROM cell WHERE run_id = ?)");
	st = db_stmt(d, buf_cstr(&sql), err);
	buf_release(&sql);
	if (!st)
		return -EIO;
	if (only)
		sqlite3_bind_int64(st, 1, only);
	while (!bad && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t row = sqlite3_column_int64(st, 0);

		one = db_stmt(d, t->sql, err);
		if (one) {
			sqlite3_bind_int64(one, 1, row);
			a.run = sqlite3_step(one) == SQLITE_ROW ? sqlite3_column_int64(one, 0) : 0;
			sqlite3_reset(one);
		}
		if (!one)
			bad = -EIO;
		else if (!only || !a.run || a.run == only)
			bad = fault_row(&a, t->name, row, "row not in chain");
	}
	if (!bad && rc != SQLITE_DONE)
		bad = db_fail(d, err, t->name);
	sqlite3_reset(st);
	return bad;
}

void evidence_host_fact(struct buf *text, const char *key, const char *value)
{
	if (!text->len)
		buf_str(text, "pts-host/1\n");
	buf_fmt(text, "%zu:%s=", strlen(key), key);
	if (value && *value)
		buf_fmt(text, "%zu:%s\n", strlen(value), value);
	else
		buf_str(text, "n\n");
}

int evidence_host_digest(struct db *d, int64_t host, char ret[65], struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(
		d, "SELECT key, value FROM host_fact WHERE host_id = ? ORDER BY n", err);
	struct buf text = BUF_INIT;
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, host);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		evidence_host_fact(&text, (const char *)sqlite3_column_text(st, 0),
				   (const char *)sqlite3_column_text(st, 1));
	sha256_hex(buf_cstr(&text), text.len, ret);
	buf_release(&text);
	rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, "host_fact");
	sqlite3_reset(st);
	return rc;
}

static int audit_hosts(struct db *d, struct buf *faults, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, "SELECT host_id, digest FROM host", err);
	char digest[65];
	int rc = SQLITE_ERROR, bad = 0;

	if (!st)
		return -EIO;
	while (!bad && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t host = sqlite3_column_int64(st, 0);

		bad = evidence_host_digest(d, host, digest, err);
		if (!bad && !same(sqlite3_column_text(st, 1), digest))
			buf_fmt(faults, "host %" PRId64 ": its facts differ from their digest\n",
				host);
	}
	if (!bad && rc != SQLITE_DONE)
		bad = db_fail(d, err, "host");
	sqlite3_reset(st);
	return bad;
}

static int audit_documents(struct db *d, struct buf *faults, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, "SELECT hash, body FROM document", err);
	char hash[65];
	int rc;

	if (!st)
		return -EIO;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		sha256_hex((const char *)sqlite3_column_text(st, 1),
			   (size_t)sqlite3_column_bytes(st, 1), hash);
		if (!same(sqlite3_column_text(st, 0), hash))
			buf_fmt(faults, "definition or plan %s: its text differs from its hash\n",
				(const char *)sqlite3_column_text(st, 0));
	}
	rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, "document");
	sqlite3_reset(st);
	return rc;
}

int evidence_check_shared(struct db *d, struct buf *faults, struct err *err)
{
	int rc = 0;

	for (const struct evidence_table *t = evidence_tables; t->name && !rc; t++)
		rc = audit_strays(d, t, 0, faults, err);
	if (!rc)
		rc = audit_hosts(d, faults, err);
	if (!rc)
		rc = audit_documents(d, faults, err);
	return rc;
}

/* Faults that @sql, which takes the run, gives as texts. */
static int texts(struct db *d, const char *sql, int64_t run, struct buf *faults, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, sql, err);
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		buf_fmt(faults, "%s\n", (const char *)sqlite3_column_text(st, 0));
	rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, "evidence");
	sqlite3_reset(st);
	return rc;
}

static int check_host(struct db *d, int64_t run, struct buf *faults, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d,
					  "SELECT host_id, digest FROM host WHERE host_id = "
					  "(SELECT host_id FROM run WHERE run_id = ?)",
					  err);
	char digest[65];
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, run);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		int64_t host = sqlite3_column_int64(st, 0);

		rc = evidence_host_digest(d, host, digest, err);
		if (!rc && !same(sqlite3_column_text(st, 1), digest))
			buf_fmt(faults,
				"host %" PRId64
				": its facts differ from their digest (tables host, host_fact)\n",
				host);
	} else {
		rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, "host");
		if (!rc)
			buf_fmt(faults, "host: missing (table host)\n");
	}
	sqlite3_reset(st);
	return rc;
}

/* Definitions and plans of the run's tests. */
static int check_documents(struct db *d, int64_t run, struct buf *faults, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(
		d,
		"SELECT t.test, w.hash, o.body, o.hash IS NOT NULL FROM test t JOIN (SELECT "
		"run_id, test, "
		"definition_hash AS hash FROM test UNION ALL SELECT run_id, test, plan_hash FROM "
		"test) w "
		"USING (run_id, test) LEFT JOIN document o USING (hash) WHERE t.run_id = ?",
		err);
	char hash[65];
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, run);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *body = (const char *)sqlite3_column_text(st, 2);

		sha256_hex(body ? body : "", (size_t)sqlite3_column_bytes(st, 2), hash);
		if (!sqlite3_column_int(st, 3))
			buf_fmt(faults, "definition or plan %s of %s: missing (table document)\n",
				(const char *)sqlite3_column_text(st, 1),
				(const char *)sqlite3_column_text(st, 0));
		else if (!same(sqlite3_column_text(st, 1), hash))
			buf_fmt(faults,
				"definition or plan %s of %s: its text differs from its hash "
				"(table document)\n",
				(const char *)sqlite3_column_text(st, 1),
				(const char *)sqlite3_column_text(st, 0));
	}
	rc = rc == SQLITE_DONE ? 0 : db_fail(d, err, "document");
	sqlite3_reset(st);
	return rc;
}

int evidence_check_all(struct db *d, int64_t run, struct buf *faults, struct err *err)
{
	/* Numbers that a hash does not cover say the order: they must be 1, 2, 3 ... */
	static const char *const order[] = {
		"SELECT 'arguments of the run: row ' || max(n) || ' of ' || count(*) || ' (table "
		"run_arg)'"
		" FROM run_arg WHERE run_id = ? HAVING count(*) <> coalesce(max(n), 0) OR min(n) < "
		"1",
		"SELECT 'facts of the host: row ' || max(n) || ' of ' || count(*) || ' (table "
		"host_fact)'"
		" FROM host_fact WHERE host_id = (SELECT host_id FROM run WHERE run_id = ?)"
		" HAVING count(*) <> coalesce(max(n), 0) OR min(n) < 1",
	};
	int rc = check_run((struct audit){ d, run, faults, 0, err, true });

	for (const struct evidence_table *t = evidence_tables; t->name && !rc; t++)
		rc = audit_strays(d, t, run, faults, err);
	if (!rc)
		rc = check_host(d, run, faults, err);
	if (!rc)
		rc = check_documents(d, run, faults, err);
	for (unsigned i = 0; i < sizeof order / sizeof *order && !rc; i++)
		rc = texts(d, order[i], run, faults, err);
	return rc;
}
