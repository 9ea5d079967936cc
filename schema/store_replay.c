/* SPDX-License-Identifier: MIT */
/* The writer: captures that a run worked from, and how true an exact replay was. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <nettle/sha2.h>

#include "schema/store_private.h"

static int put_capture(struct store *s, const struct capture_row *r, struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "capture", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_text(&in, "name", r->name && *r->name ? r->name : "unnamed");
	insert_text(&in, "format", r->format);
	insert_text(&in, "sha256", r->sha256);
	insert_int(&in, "records", (int64_t)r->records);
	insert_int(&in, "reads", (int64_t)r->reads);
	insert_int(&in, "writes", (int64_t)r->writes);
	insert_int(&in, "bytes_read", (int64_t)r->bytes_read);
	insert_int(&in, "bytes_written", (int64_t)r->bytes_written);
	insert_int(&in, "duration_ns", (int64_t)r->duration_ns);
	insert_text(&in, "devices", r->devices);
	insert_opt(&in, "lost", r->lost);
	insert_opt(&in, "step_ns", r->step_ns);
	return store_add(s, &in, r->run, NULL);
}

int store_capture(struct store *s, const struct capture_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	return rc ? rc : db_end(&s->db, put_capture(s, row, err), err);
}

static int put_capture_account(struct store *s, const struct capture_account_row *r,
			       struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "capture_account", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_text(&in, "source", r->source);
	insert_text(&in, "event", r->event);
	insert_text(&in, "level", r->level);
	insert_text(&in, "began_utc", r->began_utc);
	insert_text(&in, "digest", r->digest);
	insert_int(&in, "ios", (int64_t)r->ios);
	insert_text(&in, "seq_rule", r->seq_rule);
	insert_int(&in, "n_streams", r->n_streams);
	insert_int(&in, "n_dominant", r->n_dominant);
	insert_num(&in, "coverage_pct", r->coverage_pct);
	insert_int(&in, "n_steps", r->n_steps);
	insert_num(&in, "qd_avg", r->qd_avg);
	insert_num(&in, "qd_max", r->qd_max);
	insert_text(&in, "streams", r->streams);
	return store_add(s, &in, r->run, NULL);
}

int store_capture_account(struct store *s, const struct capture_account_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	return rc ? rc : db_end(&s->db, put_capture_account(s, row, err), err);
}

static int put_step(struct store *s, const struct capture_step_row *r, struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "capture_step", &in, err);

	if (rc)
		return rc;
	insert_int(&in, "run_id", r->run);
	insert_int(&in, "step", r->step);
	insert_int(&in, "start_ns", (int64_t)r->start_ns);
	insert_int(&in, "ios", (int64_t)r->ios);
	insert_int(&in, "bytes", (int64_t)r->bytes);
	insert_num(&in, "qd_avg", r->qd_avg);
	insert_opt(&in, "qd_max", r->qd_max);
	insert_num(&in, "art_ns", r->art_ns);
	insert_text(&in, "streams", r->streams);
	return store_add(s, &in, r->run, NULL);
}

int store_capture_step(struct store *s, const struct capture_step_row *row, unsigned n,
		       struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < n && !rc; i++)
		rc = put_step(s, &row[i], err);
	return db_end(&s->db, rc, err);
}

static void insert_who(struct insert *in, const struct fidelity_row *r)
{
	insert_int(in, "run_id", r->run);
	insert_text(in, "test", r->test);
	insert_int(in, "attempt", r->attempt);
}

static int put_fidelity(struct store *s, const struct fidelity_row *r, struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "fidelity", &in, err);

	if (rc)
		return rc;
	insert_who(&in, r);
	insert_int(&in, "issued", (int64_t)r->issued);
	insert_int(&in, "dropped", (int64_t)r->dropped);
	insert_int(&in, "reordered", (int64_t)r->reordered);
	insert_opt(&in, "late_p50_ns", r->late_p50_ns);
	insert_opt(&in, "late_p99_ns", r->late_p99_ns);
	insert_opt(&in, "late_max_ns", r->late_max_ns);
	insert_num(&in, "span_error_pct", r->span_error_pct);
	return store_add(s, &in, r->run, NULL);
}

static int put_account(struct store *s, const struct fidelity_row *r, struct err *err)
{
	struct insert in;
	int rc = insert_begin(&s->db, "fidelity_account", &in, err);

	if (rc)
		return rc;
	insert_who(&in, r);
	insert_text(&in, "speed", r->speed);
	insert_text(&in, "fit", r->fit);
	insert_text(&in, "conflict_order", r->order);
	insert_int(&in, "loops", r->loops);
	insert_text(&in, "devices", r->devices);
	insert_int(&in, "records", (int64_t)r->records);
	insert_text(&in, "why_dropped", r->why_dropped);
	insert_int(&in, "moved", (int64_t)r->moved);
	insert_int(&in, "rounded", (int64_t)r->rounded);
	insert_opt(&in, "late_p999_ns", r->late_p999_ns);
	insert_int(&in, "stalls", (int64_t)r->stalls);
	insert_int(&in, "stall_ns", (int64_t)r->stall_ns);
	insert_int(&in, "starved", (int64_t)r->starved);
	insert_int(&in, "conflicts", (int64_t)r->conflicts);
	insert_num(&in, "depth_asked_avg", r->depth_asked_avg);
	insert_opt(&in, "depth_asked_max", r->depth_asked_max);
	insert_num(&in, "depth_avg", r->depth_avg);
	insert_opt(&in, "depth_max", r->depth_max);
	insert_int(&in, "span_asked_ns", (int64_t)r->span_asked_ns);
	insert_int(&in, "span_ns", (int64_t)r->span_ns);
	insert_int(&in, "short_ios", (int64_t)r->short_ios);
	insert_int(&in, "errors", (int64_t)r->errors);
	insert_int(&in, "hung", (int64_t)r->hung);
	insert_int(&in, "valid", r->valid);
	insert_text(&in, "why_invalid", r->why_invalid);
	return store_add(s, &in, r->run, NULL);
}

int store_fidelity(struct store *s, const struct fidelity_row *row, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = put_fidelity(s, row, err);
	if (!rc)
		rc = put_account(s, row, err);
	return db_end(&s->db, rc, err);
}

static int sum_file(FILE *f, struct sha256_ctx *ctx)
{
	static _Thread_local uint8_t block[65536];
	size_t n;

	while ((n = fread(block, 1, sizeof block, f)))
		sha256_update(ctx, n, block);
	return ferror(f) ? -EIO : 0;
}

static void sum_hex(struct sha256_ctx *ctx, char ret[65])
{
	uint8_t sum[SHA256_DIGEST_SIZE];

	sha256_digest(ctx, sizeof sum, sum);
	for (unsigned i = 0; i < sizeof sum; i++)
		snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

void bytes_sha256(const void *data, size_t n, char ret[65])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, n, data);
	sum_hex(&ctx, ret);
}

int file_sha256(const char *path, char ret[65], struct err *err)
{
	FILE *f = fopen(path, "re");
	struct sha256_ctx ctx;
	int rc;

	if (!f)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	sha256_init(&ctx);
	rc = sum_file(f, &ctx);
	fclose(f);
	if (rc)
		return err_set(err, rc, "%s: read error", path);
	sum_hex(&ctx, ret);
	return 0;
}
