/* SPDX-License-Identifier: MIT */
/* The writer: measured steps, closed rounds, operating points. */
#include <errno.h>
#include <inttypes.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "schema/store_private.h"

/* Buckets that are empty between two that are not are written out up to this many: shorter than a
 * new key. */
#define GAP_MAX 4

/* {"I": [count of bucket I, of I + 1, ...], ...}; see cell_hist in 0001_init.sql. */
static void buckets_text(const struct hist *h, struct buf *out)
{
	unsigned next = 0, gap = 0; /* next: the bucket that the open list would take */

	buf_str(out, "{");
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		gap = i - next;
		if (next && gap <= GAP_MAX) {
			while (gap--)
				buf_str(out, ",0");
			buf_fmt(out, ",%" PRIu64, h->count[i]);
		} else {
			buf_fmt(out, "%s\"%u\":[%" PRIu64, next ? "]," : "", i, h->count[i]);
		}
		next = i + 1;
	}
	buf_str(out, next ? "]}" : "}");
}

static int put_hist(struct store *s, const struct cell_row *r, int64_t cell,
		    const struct cell_hist *c, struct err *err)
{
	const struct hist *h = c->hist;
	struct buf buckets = BUF_INIT;
	struct insert in;
	int rc = insert_begin(&s->db, "cell_hist", &in, err);

	if (rc)
		return rc;
	buckets_text(h, &buckets);
	insert_int(&in, "cell_id", cell);
	insert_text(&in, "op", c->op);
	insert_text(&in, "kind", c->kind);
	insert_int(&in, "ios", (int64_t)h->n);
	insert_int(&in, "min_ns", (int64_t)h->min);
	insert_int(&in, "max_ns", (int64_t)h->max);
	if (h->sum <= INT64_MAX)
		insert_int(&in, "sum_ns", (int64_t)h->sum);
	else
		insert_num(&in, "sum_ns", (double)h->sum);
	insert_text(&in, "buckets", buckets.s);
	rc = store_add(s, &in, r->at.run, NULL);
	buf_release(&buckets);
	return rc;
}

static int put_hists(struct store *s, const struct cell_row *r, int64_t cell, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < r->n_hist && !rc; i++)
		if (r->hist[i].hist && r->hist[i].hist->n)
			rc = put_hist(s, r, cell, &r->hist[i], err);
	return rc;
}

static int put_series(struct store *s, const struct cell_row *r, int64_t cell, struct err *err)
{
	struct buf text = BUF_INIT;
	struct json j = JSON_INIT(&text);
	struct insert in;
	int rc;

	if (!r->n_seconds)
		return 0;
	rc = insert_begin(&s->db, "cell_series", &in, err);
	if (rc)
		return rc;
	json_array(&j, NULL);
	for (const struct second_row *t = r->second; t < r->second + r->n_seconds; t++) {
		json_array(&j, NULL);
		json_uint(&j, NULL, t->second);
		json_uint(&j, NULL, t->ios);
		json_uint(&j, NULL, t->bytes);
		json_num(&j, NULL, t->art_ns);
		if (t->ios)
			json_uint(&j, NULL, t->mrt_ns);
		else
			json_null(&j, NULL);
		json_end_array(&j);
	}
	json_end_array(&j);
	insert_int(&in, "cell_id", cell);
	insert_text(&in, "seconds", text.s);
	rc = store_add(s, &in, r->at.run, NULL);
	buf_release(&text);
	return rc;
}

static int put_streams(struct store *s, const struct cell_row *r, int64_t cell, struct err *err)
{
	struct insert in;
	int rc = 0;

	for (unsigned i = 0; i < r->n_streams && !rc; i++) {
		const struct stream_row *t = &r->stream[i];

		rc = insert_begin(&s->db, "cell_stream", &in, err);
		if (rc)
			break;
		insert_int(&in, "cell_id", cell);
		insert_int(&in, "stream", i + 1);
		insert_text(&in, "op", t->op);
		insert_text(&in, "access", t->access);
		insert_int(&in, "block_bytes", t->block_bytes);
		insert_int(&in, "ios", (int64_t)t->ios);
		insert_num(&in, "iops", t->iops);
		insert_num(&in, "art_ns", t->art_ns);
		insert_opt(&in, "mrt_ns", t->mrt_ns);
		insert_opt(&in, "p99999_ns", t->p99999_ns);
		rc = store_add(s, &in, r->at.run, NULL);
	}
	return rc;
}

static void insert_asked(struct insert *in, const struct cell_row *r)
{
	insert_text(in, "phase", r->phase);
	insert_opt(in, "round", r->round);
	insert_opt(in, "round_try", r->round_try);
	insert_int(in, "step", r->step);
	insert_int(in, "segment", r->segment);
	insert_text(in, "label", r->label);
	insert_opt(in, "member", r->member);
	insert_text(in, "access", r->access);
	insert_opt(in, "threads", r->threads);
	insert_opt(in, "qd", r->qd);
	insert_opt(in, "oio", r->oio);
	insert_num(in, "scale", r->scale);
	insert_num(in, "read_pct", r->read_pct);
	insert_opt(in, "block_bytes", r->block_bytes);
	insert_text(in, "workload", r->workload);
	insert_num(in, "rate_iops", r->rate_iops);
}

static void insert_measured(struct insert *in, const struct cell_row *r)
{
	insert_int(in, "start_ns", (int64_t)r->start_ns);
	insert_int(in, "elapsed_ns", (int64_t)r->elapsed_ns);
	insert_int(in, "read_ios", (int64_t)r->read_ios);
	insert_int(in, "write_ios", (int64_t)r->write_ios);
	insert_int(in, "read_bytes", (int64_t)r->read_bytes);
	insert_int(in, "write_bytes", (int64_t)r->write_bytes);
	insert_int(in, "prepared", (int64_t)r->prepared);
	insert_int(in, "short_ios", (int64_t)r->short_ios);
	insert_int(in, "errors", (int64_t)r->errors);
	insert_text(in, "errnos", r->errnos);
	insert_num(in, "art_ns", r->art_ns);
	insert_opt(in, "mrt_ns", r->mrt_ns);
	insert_opt(in, "min_ns", r->min_ns);
	insert_opt(in, "p50_ns", r->p50_ns);
	insert_opt(in, "p99_ns", r->p99_ns);
	insert_opt(in, "p999_ns", r->p999_ns);
	insert_opt(in, "p9999_ns", r->p9999_ns);
	insert_opt(in, "p99999_ns", r->p99999_ns);
	insert_num(in, "sum_ns", r->sum_ns);
	insert_num(in, "inflight_avg", r->inflight_avg);
	insert_opt(in, "inflight_max", r->inflight_max);
	insert_opt(in, "threads_seen", r->threads_seen);
	insert_num(in, "little_pct", r->little_pct);
	if (r->cpu_sys_pct >= 0) /* < 0 unknown */
		insert_num(in, "cpu_sys_pct", r->cpu_sys_pct);
	if (r->cpu_total_pct >= 0)
		insert_num(in, "cpu_total_pct", r->cpu_total_pct);
	insert_num(in, "temperature_c", r->temperature_c);
	insert_int(in, "host_bytes_written", (int64_t)r->host_bytes_written);
	insert_int(in, "partial", r->partial);
	insert_text(in, "note", r->note);
	insert_text(in, "cursors", r->cursors);
}

static int put_set(struct store *s, const struct cell_row *r, int64_t cell, struct err *err)
{
	struct insert in;
	int rc = r->members ? insert_begin(&s->db, "cell_set", &in, err) : 0;

	if (rc || !r->members)
		return rc;
	insert_int(&in, "cell_id", cell);
	insert_int(&in, "members", r->members);
	insert_int(&in, "span_first_ns", (int64_t)r->span_first_ns);
	insert_int(&in, "span_last_ns", (int64_t)r->span_last_ns);
	return store_add(s, &in, r->at.run, NULL);
}

static int put_cell(struct store *s, const struct cell_row *r, int64_t *ret_cell, struct err *err)
{
	struct insert in;
	int64_t ordinal;
	int rc = db_int(&s->db, err, 1, &ordinal,
			"SELECT MAX(ordinal) + 1 FROM cell WHERE run_id = ?", "i", r->at.run);

	if (!rc)
		rc = store_insert_at(s, "cell", &r->at, &in, err);
	if (rc)
		return rc;
	insert_int(&in, "ordinal", ordinal);
	insert_asked(&in, r);
	insert_measured(&in, r);
	rc = store_add(s, &in, r->at.run, ret_cell);
	if (!rc)
		rc = put_streams(s, r, *ret_cell, err);
	if (!rc)
		rc = put_series(s, r, *ret_cell, err);
	if (!rc)
		rc = put_hists(s, r, *ret_cell, err);
	return rc ? rc : put_set(s, r, *ret_cell, err);
}

int store_cell(struct store *s, const struct cell_row *row, int64_t *ret_cell, struct err *err)
{
	int64_t cell = 0;
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = db_end(&s->db, put_cell(s, row, &cell, err), err);
	if (!rc)
		*ret_cell = cell;
	return rc;
}

int store_void_round(struct store *s, const struct where *at, int round, int round_try,
		     const char *reason, struct err *err)
{
	struct insert in;
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = store_insert_at(s, "round_void", at, &in, err);
	if (!rc) {
		insert_opt(&in, "round", round);
		insert_opt(&in, "round_try", round_try);
		insert_text(&in, "reason", reason && *reason ? reason : "unknown");
		rc = store_add(s, &in, at->run, NULL);
	}
	return db_end(&s->db, rc, err);
}

static void insert_check(struct insert *in, const struct steady_check *c)
{
	static const char *const y[STEADY_WINDOW] = { "y1", "y2", "y3", "y4", "y5" };

	insert_int(in, "first_round", c->first_round);
	for (int i = 0; i < STEADY_WINDOW; i++)
		insert_num(in, y[i], c->y[i]);
	insert_num(in, "average", c->average);
	insert_num(in, "range", c->range);
	insert_num(in, "range_allowed", c->range_allowed);
	insert_num(in, "slope", c->slope);
	insert_num(in, "intercept", c->intercept);
	insert_num(in, "slope_excursion", c->slope_excursion);
	insert_num(in, "slope_allowed", c->slope_allowed);
	insert_num(in, "correlation", c->correlation);
	insert_int(in, "steady", c->steady);
}

static int put_round(struct store *s, const struct round_row *r, struct err *err)
{
	struct insert in;
	int rc = store_insert_at(s, "round", &r->at, &in, err);

	if (rc)
		return rc;
	insert_int(&in, "round", r->round);
	insert_opt(&in, "round_try", r->round_try);
	insert_text(&in, "variable", r->variable);
	insert_num(&in, "value", r->value);
	if (r->check)
		insert_check(&in, r->check);
	return store_add(s, &in, r->at.run, NULL);
}

int store_round(struct store *s, const struct round_row *row, unsigned n, struct err *err)
{
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < n && !rc; i++)
		rc = put_round(s, &row[i], err);
	return db_end(&s->db, rc, err);
}

int store_point(struct store *s, const struct point_row *row, struct err *err)
{
	struct insert in;
	int rc = db_begin(&s->db, err);

	if (rc)
		return rc;
	rc = store_insert_at(s, "point", &row->at, &in, err);
	if (!rc) {
		insert_text(&in, "point", row->point);
		insert_opt(&in, "threads", row->threads);
		insert_opt(&in, "qd", row->qd);
		insert_num(&in, "iops", row->iops);
		insert_num(&in, "art_ns", row->art_ns);
		insert_opt(&in, "p99999_ns", row->p99999_ns);
		insert_text(&in, "reason", row->reason);
		rc = store_add(s, &in, row->at.run, NULL);
	}
	return db_end(&s->db, rc, err);
}
