/* SPDX-License-Identifier: MIT */
#include "pts/cmd_capture_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "pts/base/json.h"

#define BATCH 256u /* steps that are stored together */

int capture_sha256(const char *path, char ret[65], struct err *err)
{
	const struct embed *own;
	struct err why = { "" };
	char name[128];
	int rc = file_sha256(path, ret, &why);

	if (!rc)
		return 0;
	snprintf(name, sizeof name, "%s.csv", path);
	own = rc == -ENOENT ? embed_find(embed_maps, name) : NULL;
	if (!own)
		return err_set(err, -EINVAL, "%s", why.msg);
	bytes_sha256(own->data, own->len, ret);
	return 0;
}

/* A map that has shares only counts no IOs. */
static bool counts_ios(const struct capture *c)
{
	return !capture_about(c)->is_map || capture_about(c)->ios;
}

/* "a, b" to a JSON array. */
static void put_devices(const char *names, struct buf *out)
{
	struct json j = JSON_INIT(out);
	char one[128];

	json_array(&j, NULL);
	while (*names) {
		const char *end = strstr(names, ", ");
		size_t n = end ? (size_t)(end - names) : strlen(names);

		snprintf(one, sizeof one, "%.*s", (int)n, names);
		json_str(&j, NULL, one);
		names += n + (end ? 2 : 0);
	}
	json_end_array(&j);
}

static void put_kind(struct json *j, const struct stream_stat *s)
{
	json_object(j, NULL);
	json_str(j, "op", s->op == IO_WRITE ? "W" : "R");
	json_str(j, "access", s->order == IO_SEQ ? "SEQ" : "RND");
	json_uint(j, "block_bytes", s->bytes);
}

static void put_ios(struct json *j, const struct capture *c, uint64_t ios)
{
	if (counts_ios(c))
		json_uint(j, "ios", ios);
	else
		json_null(j, "ios");
}

/* The largest streams; what the tests took of them has a normalised share. */
static void put_streams(const struct capture_used *u, struct buf *out)
{
	const struct analysis *a = capture_analysis(u->capture);
	struct json j = JSON_INIT(out);

	json_array(&j, NULL);
	for (unsigned i = 0; i < capture_facts(u->capture)->n_streams; i++) {
		const struct stream_stat *s = &a->stream[i];

		put_kind(&j, s);
		put_ios(&j, u->capture, s->ios);
		json_num(&j, "share_pct", s->share_pct);
		if (i < u->n_dominant)
			json_num(&j, "normalized_pct", 100 * s->share_pct / u->coverage_pct);
		else
			json_null(&j, "normalized_pct");
		json_end_object(&j);
	}
	json_end_array(&j);
}

static int store_about(struct store *s, int64_t run, const struct capture_used *u, struct err *err)
{
	const struct capture_about *b = capture_about(u->capture);
	struct buf devices = BUF_INIT;
	struct capture_row row = { .run = run,
				   .name = b->name,
				   .format = b->format,
				   .sha256 = u->sha256,
				   .records = b->records,
				   .reads = b->reads,
				   .writes = b->writes,
				   .bytes_read = b->bytes_read,
				   .bytes_written = b->bytes_written,
				   .duration_ns = b->duration_ns,
				   .lost = b->is_map ? -1 : (int64_t)b->lost,
				   .step_ns = (int64_t)b->step_ns };

	put_devices(b->devices, &devices);
	row.devices = buf_cstr(&devices);
	int rc = store_capture(s, &row, err);
	buf_release(&devices);
	return rc;
}

static int store_account(struct store *s, int64_t run, const struct capture_used *u,
			 struct err *err)
{
	const struct capture_about *b = capture_about(u->capture);
	const struct capture_facts *f = capture_facts(u->capture);
	struct buf streams = BUF_INIT;
	char digest[17];
	struct capture_account_row row = { .run = run,
					   .source = b->source,
					   .event = b->event,
					   .level = b->level,
					   .began_utc = b->began_utc,
					   .digest = digest,
					   .seq_rule = b->seq_rule,
					   .ios = b->ios,
					   .n_streams = b->n_streams,
					   .n_dominant = u->n_dominant,
					   .n_steps = f->n_steps,
					   .coverage_pct = u->n_dominant ? u->coverage_pct : NAN,
					   .qd_avg = b->qd_known ? f->qd_avg : NAN,
					   .qd_max = b->qd_known ? b->qd_max : NAN };

	snprintf(digest, sizeof digest, "%016" PRIx64, b->digest);
	put_streams(u, &streams);
	row.streams = buf_cstr(&streams);
	int rc = store_capture_account(s, &row, err);
	buf_release(&streams);
	return rc;
}

/* Streams of a step with their shares of its IOs, of those that a test can take. */
static const char *step_streams(const struct capture *c, const struct step_stat *s, struct arena *a)
{
	const struct analysis *an = capture_analysis(c);
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	json_array(&j, NULL);
	for (uint32_t k = 0; k < s->n_streams; k++) {
		const struct step_stream *p = &an->step_stream[s->first + k];

		if (p->stream >= capture_facts(c)->n_streams)
			continue;
		put_kind(&j, &an->stream[p->stream]);
		put_ios(&j, c, p->ios);
		json_num(&j, "share_pct", 100.0 * p->ios / (double)s->ios);
		json_end_object(&j);
	}
	json_end_array(&j);
	const char *text = arena_strdup(a, buf_cstr(&b));
	buf_release(&b);
	return text;
}

static struct capture_step_row step_row(const struct capture *c, unsigned i, struct arena *a)
{
	const struct step_stat *s = &capture_analysis(c)->step[i];
	const struct capture_step *f = &capture_facts(c)->step[i];
	const struct capture_about *b = capture_about(c);
	bool counts = counts_ios(c);

	/* of a map only the mean depth is known; a step without IO has none */
	return (struct capture_step_row){
		.step = i + 1,
		.start_ns = s->start_ns,
		.ios = counts ? s->ios : 0,
		.bytes = counts ? s->bytes : 0,
		.qd_avg = b->qd_known && (!b->is_map || f->qd_avg > 0 || !s->ios) ? f->qd_avg : NAN,
		.qd_max = b->qd_known && !b->is_map ? (int64_t)s->qd_max : -1,
		.art_ns = s->response.n ? s->response.sum_ns / (double)s->response.n : NAN,
		.streams = step_streams(c, s, a)
	};
}

static int store_steps(struct store *s, int64_t run, const struct capture *c, struct err *err)
{
	unsigned n = capture_facts(c)->n_steps;
	struct capture_step_row row[BATCH];
	int rc = 0;

	for (unsigned i = 0; i < n && !rc;) {
		struct arena a = ARENA_INIT;
		unsigned k = 0;

		for (; k < BATCH && i < n; k++, i++) {
			row[k] = step_row(c, i, &a);
			row[k].run = run;
		}
		rc = store_capture_step(s, row, k, err);
		arena_release(&a);
	}
	return rc;
}

int capture_store(struct store *s, int64_t run, const struct capture_used *u, struct err *err)
{
	int rc = store_about(s, run, u, err);

	if (!rc)
		rc = store_account(s, run, u, err);
	return rc ? rc : store_steps(s, run, u->capture, err);
}
