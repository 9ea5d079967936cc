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

void sha256_hex(const char *data, size_t len, char ret[65])
{
	static const char digit[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, (const uint8_t *)data);
	sha256_digest(&ctx, sizeof sum, sum);
	for (size_t i = 0; i < sizeof sum; i++) {
		ret[2 * i] = digit[sum[i] >> 4];
		ret[2 * i + 1] = digit[sum[i] & 15];
	}
	ret[64] = '\0';
}

static void put_value(struct buf *out, const char *name, struct sqlite3_stmt *st, int col)
{
	buf_fmt(out, "%s=", name);
	switch (sqlite3_column_type(st, col)) {
	case SQLITE_NULL:
		buf_str(out, "n");
		break;
	case SQLITE_INTEGER:
		buf_fmt(out, "i%" PRId64, (int64_t)sqlite3_column_int64(st, col));
		break;
	case SQLITE_FLOAT:
		buf_fmt(out, "r%.17g", sqlite3_column_double(st, col));
		break;
	default: {
		const void *data = sqlite3_column_blob(st, col);
		int len = sqlite3_column_bytes(st, col);

		buf_fmt(out, "%c%d:", sqlite3_column_type(st, col) == SQLITE_TEXT ? 't' : 'b', len);
		buf_add(out, data ? data : "", (size_t)len);
	}
	}
	buf_str(out, "\n");
}

struct row_hash {
	int64_t run; /* it says it belongs to */
	char hash[65];
	char stamp[65]; /* "" when the row has none */
};

/* 1 the row exists and was hashed, 0 it does not, or an error. */
static int hash_row(struct db *d, const struct evidence_table *t, int64_t row, const char *before,
		    struct row_hash *ret, struct err *err)
{
	struct sqlite3_stmt *st = db_stmt(d, t->sql, err);
	struct buf text = BUF_INIT, stamp = BUF_INIT;
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
	buf_fmt(&text, "%spts-row/1 %s\n", before, t->name);
	for (int i = 1; i < sqlite3_column_count(st); i++) {
		const char *name = sqlite3_column_name(st, i);

		put_value(*name == '~' ? &stamp : &text, name, st, i);
	}
	sha256_hex(text.s, text.len, ret->hash);
	ret->stamp[0] = '\0';
	if (stamp.len) {
		buf_release(&text);
		buf_fmt(&text, "%s", ret->hash);
		buf_add(&text, stamp.s, stamp.len);
		sha256_hex(text.s, text.len, ret->stamp);
	}
	buf_release(&text);
	buf_release(&stamp);
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

int evidence_add(struct db *d, int64_t run, const char *table, int64_t row, struct err *err)
{
	const struct evidence_table *t = evidence_table(table);
	struct row_hash h;
	char before[65];
	int64_t rows, sealed;
	int rc = db_int(d, err, 0, &sealed,
			"SELECT EXISTS (SELECT 1 FROM chain JOIN event ON tbl = 'event' AND "
			"event_id = row_id WHERE event.run_id = ? AND kind = 'seal')",
			"i", run);

	BUG_ON(!t);
	if (!rc && sealed)
		rc = err_set(err, -EINVAL, "%s: run %" PRId64 " has ended and is sealed", d->path,
			     run);
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
	int rc = name_row(a->d, table, row, &name, a->err);

	if (!rc)
		fault(a, buf_cstr(&name), text);
	buf_release(&name);
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

/* A seal must be the last entry, and say how many rows came before it and what their head was. */
static int audit_seal(struct audit *a, int64_t rows, const char *head)
{
	struct sqlite3_stmt *st = db_stmt(
		a->d,
		"SELECT n, json_extract(detail, '$.rows'), json_extract(detail, '$.head')"
		" FROM event JOIN chain ON tbl = 'event' AND row_id = event_id"
		" WHERE event.run_id = ? AND kind = 'seal' ORDER BY n",
		a->err);
	bool sealed = false;
	int rc;

	if (!st)
		return -EIO;
	sqlite3_bind_int64(st, 1, a->run);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t n = sqlite3_column_int64(st, 0);

		sealed = true;
		if (n != rows)
			fault(a, "seal", "rows follow it");
		else if (sqlite3_column_int64(st, 1) != rows - 1)
			fault(a, "seal", "row count differs");
		else if (!same(sqlite3_column_text(st, 2), head))
			fault(a, "seal", "head differs");
	}
	sqlite3_reset(st);
	if (rc != SQLITE_DONE)
		return db_fail(a->d, a->err, "seal");
	int64_t ended = 0;
	rc = db_int(a->d, a->err, 0, &ended,
		    "SELECT 1 FROM run_end WHERE run_id = ? AND state IN ('done', 'failed')", "i",
		    a->run);
	if (!rc && ended && !sealed)
		fault(a, "seal", "missing");
	return rc;
}

/* Walks the entries; ret_head becomes the hash before the last one. */
static int audit_entries(struct audit *a, int64_t *ret_rows, char ret_head[65])
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
		memcpy(ret_head, before, 65);
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

int evidence_check_run(struct db *d, int64_t run, struct buf *faults, struct err *err)
{
	struct audit a = { d, run, faults, 0, err };
	char head[65] = "";
	int64_t rows = 0;
	int rc = audit_entries(&a, &rows, head);

	if (!rc && rows == 0)
		fault(&a, "chain", "missing");
	if (!rc)
		rc = audit_seal(&a, rows, head);
	if (a.lines > FAULTS_MAX)
		buf_fmt(faults, "run %" PRId64 ": and %u more\n", run, a.lines - FAULTS_MAX);
	return rc;
}

/* Rows of a table that no chain knows. */
static int audit_strays(struct db *d, const struct evidence_table *t, struct buf *faults,
			struct err *err)
{
	struct audit a = { d, 0, faults, 0, err };
	struct buf sql = BUF_INIT;
	struct sqlite3_stmt *st, *one;
	int rc = SQLITE_ERROR, bad = 0;

	buf_fmt(&sql,
		"SELECT rowid FROM %s t WHERE NOT EXISTS (SELECT 1 FROM chain WHERE tbl = '%s' AND "
		"row_id = t.rowid)",
		t->name, t->name);
	st = db_stmt(d, buf_cstr(&sql), err);
	buf_release(&sql);
	if (!st)
		return -EIO;
	while (!bad && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t row = sqlite3_column_int64(st, 0);

		one = db_stmt(d, t->sql, err);
		if (one) {
			sqlite3_bind_int64(one, 1, row);
			a.run = sqlite3_step(one) == SQLITE_ROW ? sqlite3_column_int64(one, 0) : 0;
			sqlite3_reset(one);
		}
		bad = one ? fault_row(&a, t->name, row, "row not in chain") : -EIO;
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
		rc = audit_strays(d, t, faults, err);
	if (!rc)
		rc = audit_hosts(d, faults, err);
	if (!rc)
		rc = audit_documents(d, faults, err);
	return rc;
}
