/* SPDX-License-Identifier: MIT */
/* The writer: runs, tests, and what is said about them. Cells are in store_cell.c. */
#include "schema/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "schema/chain.h"
#include "schema/evidence.h"
#include "schema/shape.h"
#include "schema/store_private.h"

static int open_as(const char *path, enum db_mode mode, struct store **ret_store, struct err *err)
{
	struct store *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	rc = db_open(&s->db, path, mode, embed_migrations, err);
	if (rc) {
		free(s);
		return rc;
	}
	rc = shape_refuse(&s->db, err);
	if (rc)
		store_close(s);
	else
		*ret_store = s;
	return rc;
}

int store_open(const char *path, struct store **ret_store, struct err *err)
{
	return open_as(path, DB_CREATE, ret_store, err);
}

int store_open_existing(const char *path, struct store **ret_store, struct err *err)
{
	return open_as(path, DB_WRITE, ret_store, err);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	if (s->db.depth)
		db_rollback(&s->db);
	db_checkpoint(&s->db); /* a reader may hold the file: then closing would not do it */
	db_close(&s->db);
	free(s);
}

int store_begin(struct store *s, struct err *err)
{
	return db_begin(&s->db, err);
}

int store_commit(struct store *s, struct err *err)
{
	return db_commit(&s->db, err);
}

void store_abort(struct store *s)
{
	db_rollback(&s->db);
}

bool store_failed(const struct store *s)
{
	return s->db.failed;
}

int store_add(struct store *s, struct insert *in, int64_t run, int64_t *ret_id)
{
	int64_t id;
	int rc = insert_row(in, &id);

	if (!rc)
		rc = evidence_add(&s->db, run, in->table, id, in->err);
	if (!rc && ret_id)
		*ret_id = id;
	return rc;
}

int store_insert_at(struct store *s, const char *table, const struct where *at, struct insert *ret,
		    struct err *err)
{
	int rc = insert_begin(&s->db, table, ret, err);

	if (rc)
		return rc;
	insert_int(ret, "run_id", at->run);
	insert_text(ret, "test", at->test);
	insert_int(ret, "attempt", at->attempt);
	insert_int(ret, "section", at->section);
	return 0;
}

void store_rest(struct store *s)
{
	if (!s->db.depth)
		db_checkpoint(&s->db);
}

static const char *utc_now(char out[32])
{
	return fmt_utc(out, 32, clock_wall_ns());
}

/* ---- runs ---- */

static int add_facts(struct store *s, int64_t host, const struct key_value *fact, struct err *err)
{
	struct insert in;
	int64_t id;
	int rc = 0;

	for (int n = 1; fact && fact->key && !rc; fact++, n++) {
		rc = insert_begin(&s->db, "host_fact", &in, err);
		if (rc)
			break;
		insert_int(&in, "host_id", host);
		insert_int(&in, "n", n);
		insert_text(&in, "key", fact->key);
		insert_text(&in, "value", fact->value);
		rc = insert_row(&in, &id);
	}
	return rc;
}

/* The host with these facts, new or known. */
static int put_host(struct store *s, const struct key_value *facts, int64_t *ret_host,
		    struct err *err)
{
	struct buf text = BUF_INIT;
	struct insert in;
	char digest[65];
	int rc;

	for (const struct key_value *f = facts; f && f->key; f++)
		evidence_host_fact(&text, f->key, f->value);
	sha256_hex(buf_cstr(&text), text.len, digest);
	buf_release(&text);
	rc = db_int(&s->db, err, 0, ret_host, "SELECT host_id FROM host WHERE digest = ?", "t",
		    digest);
	if (rc || *ret_host)
		return rc;
	rc = insert_begin(&s->db, "host", &in, err);
	if (rc)
		return rc;
	insert_text(&in, "digest", digest);
	rc = insert_row(&in, ret_host);
	return rc ? rc : add_facts(s, *ret_host, facts, err);
}

static int insert_run(struct store *s, const struct run_row *r, int64_t host, int64_t *ret_run,
		      struct err *err)
{
	struct insert in;
	char now[32];
	int rc = insert_begin(&s->db, "run", &in, err);

	if (rc)
		return rc;
	insert_text(&in, "uuid", r->uuid);
	insert_text(&in, "campaign", r->campaign);
	insert_int(&in, "host_id", host);
	insert_text(&in, "dut", r->dut);
	insert_text(&in, "dut_path", r->dut_path);
	insert_text(&in, "vendor", r->vendor);
	insert_text(&in, "model", r->model);
	insert_text(&in, "serial", r->serial);
	insert_text(&in, "wwid", r->wwid);
	insert_text(&in, "firmware", r->firmware);
	insert_text(&in, "interface", r->interface);
	insert_int(&in, "capacity_bytes", (int64_t)r->capacity_bytes);
	insert_int(&in, "lba_bytes", r->lba_bytes);
	insert_text(&in, "profile", r->profile);
	insert_int(&in, "quick", r->quick);
	insert_int(&in, "simulated", r->simulated);
	insert_text(&in, "spec", r->spec);
	insert_int(&in, "definition_set", r->definition_set);
	insert_text(&in, "software", r->software);
	insert_int(&in, "seed", (int64_t)r->seed);
	insert_text(&in, "note", r->note);
	insert_text(&in, "started_utc", utc_now(now));
	return insert_row(&in, ret_run);
}

static int add_args(struct store *s, int64_t run, const struct key_value *arg, struct err *err)
{
	struct insert in;
	int64_t id;
	int rc = 0;

	for (int n = 1; arg && arg->key && !rc; arg++, n++) {
		rc = insert_begin(&s->db, "run_arg", &in, err);
		if (rc)
			break;
		insert_int(&in, "run_id", run);
		insert_int(&in, "n", n);
		insert_text(&in, "key", arg->key);
		insert_text(&in, "value", arg->value);
		rc = insert_row(&in, &id);
	}
	return rc;
}

static int add_info(struct store *s, int64_t run, const struct key_value *info, struct err *err)
{
	struct insert in;
	int rc = 0;

	for (; info && info->key && !rc; info++) {
		rc = insert_begin(&s->db, "run_info", &in, err);
		if (rc)
			break;
		insert_int(&in, "run_id", run);
		insert_text(&in, "key", info->key);
		insert_text(&in, "value", info->value);
		rc = store_add(s, &in, run, NULL);
	}
	return rc;
}

int store_run_begin(struct store *s, const struct run_row *row, int64_t *ret_run, struct err *err)
{
	int64_t host = 0, run = 0;
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = put_host(s, row->host, &host, err);
	if (!rc)
		rc = insert_run(s, row, host, &run, err);
	/* The run's own entry covers its arguments: they come first. */
	if (!rc)
		rc = add_args(s, run, row->args, err);
	if (!rc)
		rc = evidence_add(&s->db, run, "run", run, err);
	if (!rc)
		rc = add_info(s, run, row->info, err);
	rc = db_end(&s->db, rc, err);
	if (!rc)
		*ret_run = run;
	return rc;
}

static int put_member(struct store *s, const struct member_row *r, struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "member", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_int(&in, "member", r->member);
	insert_text(&in, "dut", r->dut);
	insert_text(&in, "dut_path", r->dut_path);
	insert_text(&in, "vendor", r->vendor);
	insert_text(&in, "model", r->model);
	insert_text(&in, "serial", r->serial);
	insert_text(&in, "wwid", r->wwid);
	insert_text(&in, "firmware", r->firmware);
	insert_text(&in, "interface", r->interface);
	insert_int(&in, "capacity_bytes", (int64_t)r->capacity_bytes);
	insert_int(&in, "lba_bytes", r->lba_bytes);
	insert_text(&in, "identity", r->identity);
	return store_add(s, &in, r->run, NULL);
}

int store_member(struct store *s, const struct member_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	return rc ? rc : db_end(&s->db, put_member(s, row, err), err);
}

static int put_event(struct store *s, int64_t run, const char *kind, const char *detail,
		     struct err *err)
{
	struct insert in;
	char now[32];
	int rc = insert_begin(&s->db, "event", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", run);
	insert_text(&in, "utc", utc_now(now));
	insert_text(&in, "kind", kind);
	insert_text(&in, "detail", detail);
	return store_add(s, &in, run, NULL);
}

static int put_seal(struct store *s, int64_t run, struct err *err)
{
	struct buf detail = BUF_INIT;
	char head[65];
	int64_t rows;
	int rc = evidence_head(&s->db, run, &rows, head, err);

	if (rc)
		return rc;
	buf_fmt(&detail, "{\"rows\":%" PRId64 ",\"head\":\"%s\"}", rows, head);
	rc = put_event(s, run, "seal", detail.s, err);
	buf_release(&detail);
	return rc;
}

static int put_run_end(struct store *s, int64_t run, const char *state, struct err *err)
{
	struct insert in;
	char now[32];
	int rc = insert_begin(&s->db, "run_end", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", run);
	insert_text(&in, "state", state);
	insert_text(&in, "utc", utc_now(now));
	return store_add(s, &in, run, NULL);
}

int store_run_end(struct store *s, int64_t run, const char *state, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = put_run_end(s, run, state, err);
	if (!rc && (!strcmp(state, "done") || !strcmp(state, "failed")))
		rc = put_seal(s, run, err);
	rc = db_end(&s->db, rc, err);
	if (!rc)
		store_rest(s);
	return rc;
}

int store_event(struct store *s, int64_t run, const char *kind, const char *detail, struct err *err)
{
	int rc;

	if (!strcmp(kind, "seal"))
		BUG("a seal is written by store_run_end() alone");
	rc = db_begin(&s->db, err);
	if (rc)
		return rc;
	return db_end(&s->db, put_event(s, run, kind, detail, err), err);
}

static int put_deviation(struct store *s, int64_t run, const char *clause, const char *text,
			 struct err *err)
{
	struct insert in;
	int64_t known;
	int rc = db_int(&s->db, err, 0, &known,
			"SELECT 1 FROM deviation WHERE run_id = ? AND clause = ? AND text = ?",
			"itt", run, clause, text);

	if (rc || known)
		return rc;
	rc = insert_begin(&s->db, "deviation", &in, err);
	if (rc)
		return rc;
	insert_int(&in, "run_id", run);
	insert_text(&in, "clause", clause);
	insert_text(&in, "text", text);
	return store_add(s, &in, run, NULL);
}

int store_deviation(struct store *s, int64_t run, const char *clause, const char *text,
		    struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	if (!clause || !*clause)
		clause = "-";
	return db_end(&s->db, put_deviation(s, run, clause, text, err), err);
}

/* ---- tests ---- */

/* Keeps a text once; ret_hash is its SHA-256. */
static int put_document(struct store *s, const char *body, char ret_hash[65], struct err *err)
{
	struct insert in;
	int64_t id, known;
	int rc;

	body = body ? body : "";
	sha256_hex(body, strlen(body), ret_hash);
	rc = db_int(&s->db, err, 0, &known, "SELECT 1 FROM document WHERE hash = ?", "t", ret_hash);
	if (rc || known)
		return rc;
	rc = insert_begin(&s->db, "document", &in, err);
	if (rc)
		return rc;
	insert_text(&in, "hash", ret_hash);
	insert_text(&in, "body", body);
	return insert_row(&in, &id);
}

static int put_test(struct store *s, const struct test_row *r, struct err *err)
{
	struct insert in;
	char definition[65], plan[65];
	int rc = put_document(s, r->definition, definition, err);

	if (!rc)
		rc = put_document(s, r->plan, plan, err);
	if (!rc)
		rc = insert_begin(&s->db, "test", &in, err);
	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_int(&in, "ordinal", r->ordinal);
	insert_text(&in, "test", r->test);
	insert_text(&in, "title", r->title);
	insert_text(&in, "clause", r->clause);
	insert_text(&in, "definition_hash", definition);
	insert_text(&in, "plan_hash", plan);
	insert_text(&in, "params", r->params);
	insert_int(&in, "formal", r->formal);
	return store_add(s, &in, r->run, NULL);
}

int store_test(struct store *s, const struct test_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	return db_end(&s->db, put_test(s, row, err), err);
}

static int put_attempt(struct store *s, int64_t run, const char *test, int64_t *ret_attempt,
		       struct err *err)
{
	struct insert in;
	char now[32];
	int rc = db_int(&s->db, err, 1, ret_attempt,
			"SELECT MAX(attempt) + 1 FROM attempt WHERE run_id = ? AND test = ?", "it",
			run, test);

	if (!rc)
		rc = insert_begin(&s->db, "attempt", &in, err);
	if (rc)
		return rc;
	insert_int(&in, "run_id", run);
	insert_text(&in, "test", test);
	insert_int(&in, "attempt", *ret_attempt);
	insert_text(&in, "utc", utc_now(now));
	return store_add(s, &in, run, NULL);
}

int store_attempt(struct store *s, int64_t run, const char *test, unsigned *ret_attempt,
		  struct err *err)
{
	int64_t attempt = 0;
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = db_end(&s->db, put_attempt(s, run, test, &attempt, err), err);
	if (!rc)
		*ret_attempt = (unsigned)attempt;
	return rc;
}

static int put_section(struct store *s, const struct section_row *r, struct err *err)
{
	struct insert in;
	int rc = store_insert_at(s, "section", &r->at, &in, err);

	if (rc)
		return rc;
	insert_text(&in, "label", r->label);
	insert_text(&in, "purge_method", r->purge_method);
	insert_opt(&in, "purge_verified", r->purge_verified);
	return store_add(s, &in, r->at.run, NULL);
}

int store_section(struct store *s, const struct section_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	return db_end(&s->db, put_section(s, row, err), err);
}

static int put_section_end(struct store *s, const struct section_end_row *r, struct err *err)
{
	struct insert in;
	int rc = store_insert_at(s, "section_end", &r->at, &in, err);

	if (rc)
		return rc;
	insert_opt(&in, "steady", r->steady);
	insert_opt(&in, "window_first", r->window_first);
	insert_opt(&in, "window_last", r->window_last);
	insert_opt(&in, "rounds", r->rounds);
	insert_text(&in, "ended_by", r->ended_by);
	return store_add(s, &in, r->at.run, NULL);
}

int store_section_end(struct store *s, const struct section_end_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	return db_end(&s->db, put_section_end(s, row, err), err);
}

static int put_test_end(struct store *s, const struct test_end_row *r, struct err *err)
{
	struct insert in;
	char now[32];
	int rc = insert_begin(&s->db, "test_end", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_text(&in, "test", r->test);
	insert_int(&in, "attempt", r->attempt);
	insert_opt(&in, "steady", r->steady);
	insert_text(&in, "verdict", r->verdict);
	insert_text(&in, "write_cache", r->write_cache);
	insert_text(&in, "detail", r->detail);
	insert_text(&in, "utc", utc_now(now));
	return store_add(s, &in, r->run, NULL);
}

int store_test_end(struct store *s, const struct test_end_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = db_end(&s->db, put_test_end(s, row, err), err);
	if (!rc)
		store_rest(s);
	return rc;
}
