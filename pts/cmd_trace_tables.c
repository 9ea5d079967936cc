/* SPDX-License-Identifier: MIT */
/* Streams and steps of a capture, as tables and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "pts/base/json.h"
#include "pts/base/table.h"
#include "pts/base/units.h"
#include "pts/cmd_trace.h"

static void json_rule(struct json *j, const struct trace_shown *s)
{
	json_str(j, "seq_rule", s->map ? "map" : s->a->rule.strict ? "strict" : "window");
	if (s->map || s->a->rule.strict)
		json_null(j, "seq_window");
	else
		json_uint(j, "seq_window", s->a->rule.window);
}

/* IOs, of a map of shares null. */
static void json_ios(struct json *j, const struct trace_shown *s, const char *key, uint64_t ios)
{
	if (s->shares_only)
		json_null(j, key);
	else
		json_uint(j, key, ios);
}

static void json_kind(struct json *j, const struct stream_stat *s)
{
	json_str(j, "op", s->op == IO_WRITE ? "W" : "R");
	json_str(j, "access", s->order == IO_SEQ ? "SEQ" : "RND");
	json_uint(j, "block_bytes", s->bytes);
}

static void json_response(struct json *j, const struct response_sum *r)
{
	if (r->n) {
		json_num(j, "art_ns", r->sum_ns / (double)r->n);
		json_uint(j, "mrt_ns", r->max_ns);
	} else {
		json_null(j, "art_ns");
		json_null(j, "mrt_ns");
	}
}

static void streams_json(const struct trace_shown *shown, struct buf *out)
{
	const struct analysis *a = shown->a;
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.trace.streams/1");
	json_str(&j, "name", shown->name);
	json_rule(&j, shown);
	json_ios(&j, shown, "ios", a->ios);
	json_ios(&j, shown, "seq_ios", a->seq_ios);
	json_uint(&j, "stream_count", a->n_streams);
	json_uint(&j, "dominant_count", a->n_dominant);
	json_num(&j, "coverage_pct", a->coverage_pct);
	json_array(&j, "streams");
	for (unsigned i = 0; i < a->n_streams; i++) {
		const struct stream_stat *s = &a->stream[i];

		json_object(&j, NULL);
		json_kind(&j, s);
		json_ios(&j, shown, "ios", s->ios);
		json_num(&j, "share_pct", s->share_pct);
		if (i < a->n_dominant)
			json_num(&j, "normalized_pct", s->normalized_pct);
		else
			json_null(&j, "normalized_pct");
		json_response(&j, &s->response);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	buf_str(out, "\n");
}

static const struct column stream_columns[] = {
	{ NULL, "STREAM", COL_TEXT, NULL },   { NULL, "IOs", COL_INT, NULL },
	{ NULL, "SHARE %", COL_NUM, "%.2f" }, { NULL, "NORMALISED %", COL_NUM, "%.2f" },
	{ NULL, "ART ms", COL_NUM, "%.3f" },  { NULL, "MRT ms", COL_NUM, "%.3f" },
};

static void add_response(struct table *t, const struct response_sum *r)
{
	if (r->n) {
		table_num(t, r->sum_ns / (double)r->n / 1e6);
		table_num(t, (double)r->max_ns / 1e6);
	} else {
		table_null(t);
		table_null(t);
	}
}

static void text_rule(const struct trace_shown *s, struct buf *out)
{
	const struct analysis *a = s->a;

	if (s->map)
		buf_str(out, "SEQ: as the stream map says\n");
	else if (a->rule.strict)
		buf_str(out, "SEQ: strict, an IO that starts where the one before it on its device "
			     "ended\n");
	else
		buf_fmt(out,
			"SEQ: window, an IO that starts where one of the last %u of its device and "
			"direction ended\n",
			a->rule.window);
}

static void add_ios(struct table *t, const struct trace_shown *s, uint64_t ios)
{
	if (s->shares_only)
		table_null(t);
	else
		table_int(t, (int64_t)ios);
}

static void streams_text(const struct trace_shown *shown, struct buf *out)
{
	const struct analysis *a = shown->a;
	struct table *t = table_new(stream_columns,
				    sizeof(stream_columns) / sizeof(stream_columns[0]));
	char name[48];

	for (unsigned i = 0; i < a->n_dominant; i++) {
		const struct stream_stat *s = &a->stream[i];

		table_text(t, stream_name(s, name, sizeof(name)));
		add_ios(t, shown, s->ios);
		table_num(t, s->share_pct);
		table_num(t, s->normalized_pct);
		add_response(t, &s->response);
		table_row(t);
	}
	buf_fmt(out, "%s: ", shown->name);
	if (!shown->shares_only)
		buf_fmt(out, "%" PRIu64 " IOs, ", a->ios);
	buf_fmt(out, "%u streams; these %u cover %.2f %%\n", a->n_streams, a->n_dominant,
		a->coverage_pct);
	text_rule(shown, out);
	table_print(t, out);
	table_free(t);
}

/* Depths: a map has the mean at most. */
static void json_depth(struct json *j, const struct trace_shown *shown, unsigned i)
{
	const struct step_stat *s = &shown->a->step[i];
	double step_ns = (double)trace_step_ns(shown, i);

	if (!shown->a->qd_known) {
		json_null(j, "qd_avg");
		json_null(j, "qd_max");
		json_null(j, "qd_time_mean");
		json_null(j, "busy_pct");
		return;
	}
	json_num(j, "qd_avg", step_qd_avg(s));
	if (shown->map)
		json_null(j, "qd_max");
	else
		json_uint(j, "qd_max", s->qd_max);
	json_num(j, "qd_time_mean", s->qd_area_ns / step_ns);
	json_num(j, "busy_pct", 100.0 * (double)s->busy_ns / step_ns);
}

static void json_step(struct json *j, const struct trace_shown *shown, unsigned i)
{
	const struct analysis *a = shown->a;
	const struct step_stat *s = &a->step[i];

	json_object(j, NULL);
	json_uint(j, "start_ns", s->start_ns);
	json_uint(j, "duration_ns", trace_step_ns(shown, i));
	json_ios(j, shown, "ios", s->ios);
	json_ios(j, shown, "reads", s->reads);
	json_ios(j, shown, "writes", s->writes);
	json_ios(j, shown, "bytes", s->bytes);
	json_depth(j, shown, i);
	json_response(j, &s->response);
	json_array(j, "streams");
	for (uint32_t k = 0; k < s->n_streams; k++) {
		const struct step_stream *p = &a->step_stream[s->first + k];

		json_object(j, NULL);
		json_kind(j, &a->stream[p->stream]);
		json_ios(j, shown, "ios", p->ios);
		json_num(j, "share_pct", 100.0 * (double)p->ios / (double)s->ios);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void steps_json(const struct trace_shown *shown, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.trace.steps/1");
	json_str(&j, "name", shown->name);
	json_rule(&j, shown);
	json_uint(&j, "step_ns", shown->a->step_ns);
	json_bool(&j, "qd_known", shown->a->qd_known);
	json_array(&j, "steps");
	for (unsigned i = 0; i < shown->a->n_steps; i++)
		json_step(&j, shown, i);
	json_end_array(&j);
	json_end_object(&j);
	buf_str(out, "\n");
}

static const struct column step_columns[] = {
	{ NULL, "START s", COL_NUM, "%.3f" }, { NULL, "IOs", COL_INT, NULL },
	{ NULL, "READS", COL_INT, NULL },     { NULL, "WRITES", COL_INT, NULL },
	{ NULL, "MB", COL_NUM, "%.3f" },      { NULL, "QD avg", COL_NUM, "%.2f" },
	{ NULL, "QD max", COL_INT, NULL },    { NULL, "BUSY %", COL_NUM, "%.1f" },
	{ NULL, "ART ms", COL_NUM, "%.3f" },  { NULL, "MRT ms", COL_NUM, "%.3f" },
	{ NULL, "MOST", COL_TEXT, NULL },
};

/* The stream with most IOs of the step; streams are in the order of the capture's shares. */
static void add_most(struct table *t, const struct analysis *a, const struct step_stat *s)
{
	const struct step_stream *most = NULL;
	char name[48], text[80];

	for (uint32_t k = 0; k < s->n_streams; k++)
		if (!most || a->step_stream[s->first + k].ios > most->ios)
			most = &a->step_stream[s->first + k];
	if (!most) {
		table_null(t);
		return;
	}
	snprintf(text, sizeof(text), "%s %.1f %%",
		 stream_name(&a->stream[most->stream], name, sizeof(name)),
		 100.0 * (double)most->ios / (double)s->ios);
	table_text(t, text);
}

static void add_step(struct table *t, const struct trace_shown *shown, unsigned i)
{
	const struct analysis *a = shown->a;
	const struct step_stat *s = &a->step[i];

	table_num(t, (double)s->start_ns / 1e9);
	add_ios(t, shown, s->ios);
	add_ios(t, shown, s->reads);
	add_ios(t, shown, s->writes);
	if (shown->shares_only)
		table_null(t);
	else
		table_num(t, (double)s->bytes / 1e6);
	if (a->qd_known)
		table_num(t, step_qd_avg(s));
	else
		table_null(t);
	if (a->qd_known && !shown->map) {
		table_int(t, s->qd_max);
		table_num(t, 100.0 * (double)s->busy_ns / (double)a->step_ns);
	} else {
		table_null(t);
		table_null(t);
	}
	add_response(t, &s->response);
	add_most(t, a, s);
	table_row(t);
}

/* More rows of text would take more than 256 MiB; as JSON the limit is that of the analysis. */
#define TEXT_STEPS_MAX 400000u

static void steps_text(const struct trace_shown *shown, struct buf *out)
{
	const struct analysis *a = shown->a;
	struct table *t = table_new(step_columns, sizeof(step_columns) / sizeof(step_columns[0]));
	char len[32];

	for (unsigned i = 0; i < a->n_steps; i++)
		add_step(t, shown, i);
	buf_fmt(out, "%s: %u steps of %s%s\n", shown->name, a->n_steps,
		fmt_time(len, sizeof(len), a->step_ns),
		!a->qd_known ? shown->map ? "; the map does not say the queue depth"
					  : "; no completions, so the native queue depth is unknown"
		: shown->map ? ""
			     : "; QD avg is over the busy time of a step");
	text_rule(shown, out);
	table_print(t, out);
	table_free(t);
}

static int show(const struct opts *o, struct analysis *a, struct trace_shown *shown, bool steps)
{
	struct trace_choice c;
	struct buf out = BUF_INIT;
	int rc = trace_choose(o, &c);

	if (rc)
		return rc;
	if (steps && !o->json && a->n_steps > TEXT_STEPS_MAX)
		return cmd_usage(o,
				 "%u steps are too many for a table: choose a longer step "
				 "(--step), or --json",
				 a->n_steps);
	analysis_dominate(a, c.top, c.cover_pct);
	shown->a = a;
	if (steps)
		(o->json ? steps_json : steps_text)(shown, &out);
	else
		(o->json ? streams_json : streams_text)(shown, &out);
	rc = cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return rc;
}

static int analysed(const struct opts *o, struct trace *t, bool steps)
{
	struct trace_shown shown = { .name = trace_head(t)->name };
	struct trace_choice c;
	struct analysis a;
	struct err err = { "" };
	int rc = trace_choose(o, &c);

	if (rc)
		return rc;
	if (!steps && !c.step_ns) /* streams ask for no steps: one holds all */
		c.step_ns = trace_head(t)->duration_ns + 1;
	rc = analysis_run(t, &c.rule, c.step_ns, &a, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = show(o, &a, &shown, steps);
	analysis_release(&a);
	return rc;
}

uint64_t trace_step_ns(const struct trace_shown *s, unsigned i)
{
	return s->map ? s->map->step_ns[i] : s->a->step_ns;
}

int trace_map(const struct opts *o, struct streammap *m, bool steps)
{
	struct trace_shown shown = { .name = m->name[0] ? m->name : "a stream map",
				     .map = m,
				     .shares_only = m->shares_only };

	if (o->seq_rule || o->seq_window || o->step)
		return cmd_usage(o, "a stream map brings its own streams and steps: --seq-rule, "
				    "--seq-window and --step are for captures");
	return show(o, &m->a, &shown, steps);
}

int trace_streams(const struct opts *o, struct trace *t)
{
	return analysed(o, t, false);
}

int trace_steps(const struct opts *o, struct trace *t)
{
	return analysed(o, t, true);
}
