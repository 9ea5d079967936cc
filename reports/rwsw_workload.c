/* SPDX-License-Identifier: MIT */
/* The capture of a run: its facts, IO streams and steps. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/rwsw.h"
#include "schema/read.h"

const char *rwsw_stream_name(struct arena *a, const char *op, const char *access,
			     int64_t block_bytes)
{
	return arena_fmt(a, "%s%s%sK %s", access, *access ? " " : "", kib_text(a, block_bytes), op);
}

unsigned rwsw_stream_find(const struct workload *w, const char *op, const char *access,
			  int64_t block_bytes)
{
	unsigned i = 0;

	while (i < w->n_streams &&
	       (w->stream[i].block_bytes != block_bytes || strcmp(w->stream[i].op, op) ||
		strcmp(w->stream[i].access, access)))
		i++;
	return i;
}

/* ---- facts ---- */

static const char *text_of(struct dataset *d, struct rows *q, int col)
{
	return arena_strdup(&d->arena, rows_text(q, col));
}

static int64_t int_of(struct rows *q, int col)
{
	return rows_is_null(q, col) ? -1 : rows_int(q, col);
}

/* By name: the view only grows. */
static void take_fact(struct dataset *d, struct workload *w, struct rows *q, int col)
{
	const struct {
		const char *name;
		const char **to;
	} text[] = { { "name", &w->name },	  { "format", &w->format },
		     { "sha256", &w->sha256 },	  { "devices", &w->devices },
		     { "level", &w->level },	  { "began_utc", &w->began },
		     { "event", &w->event },	  { "streams", &w->list },
		     { "seq_rule", &w->seq_rule } };
	const struct {
		const char *name;
		int64_t *to;
	} num[] = { { "records", &w->records },
		    { "reads", &w->reads },
		    { "writes", &w->writes },
		    { "bytes_read", &w->bytes_read },
		    { "bytes_written", &w->bytes_written },
		    { "duration_ns", &w->duration_ns },
		    { "lost", &w->lost },
		    { "ios", &w->ios },
		    { "step_ns", &w->step_ns } };
	const char *name = rows_column(q, col);

	for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++)
		if (!strcmp(name, text[i].name))
			*text[i].to = text_of(d, q, col);
	for (unsigned i = 0; i < sizeof num / sizeof num[0]; i++)
		if (!strcmp(name, num[i].name))
			*num[i].to = int_of(q, col);
	if (!strcmp(name, "n_streams") && !rows_is_null(q, col))
		w->n_all = (unsigned)rows_int(q, col);
	if (!strcmp(name, "coverage_pct"))
		w->used_pct = rows_num(q, col);
}

/* ["sda","sdb"] -> "sda, sdb" */
static const char *list_text(struct arena *a, const char *json)
{
	char *s = arena_alloc(a, 2 * strlen(json) + 1), *to = s;
	bool quoted = false;

	for (; *json; json++) {
		quoted ^= *json == '"';
		if (!quoted && *json == ',')
			to = stpcpy(to, ", ");
		else if (*json != '"' && (quoted || !strchr("[]", *json)))
			*to++ = *json;
	}
	return s;
}

static int load_facts(struct dataset *d, struct workload *w, struct err *err)
{
	struct rows *q = read_rows(d->reader, err, "SELECT * FROM v_capture WHERE run_id = ?", "i",
				   d->run_id);

	if (!q)
		return -EIO;
	*w = (struct workload){ .name = "" };
	w->format = w->sha256 = w->devices = w->level = w->began = w->seq_rule = w->event =
		w->list = "";
	w->records = w->reads = w->writes = w->bytes_read = w->bytes_written = -1;
	w->duration_ns = w->lost = w->step_ns = w->ios = -1;
	w->used_pct = NAN;
	if (rows_next(q) == 1) {
		w->stored = true;
		for (int i = 0; i < rows_columns(q); i++)
			take_fact(d, w, q, i);
		w->devices = list_text(&d->arena, w->devices);
	}
	for (unsigned i = 0; !w->stored && i < d->n_tests; i++) {
		const char *name = pairs_get(&d->test[i].params, "capture");
		w->name = name ? name : w->name;
	}
	return rows_close(q, err);
}

/* ---- streams ---- */

static struct io_stream *add_stream(struct dataset *d, struct workload *w, struct rows *q, int col)
{
	const char *op = rows_text(q, col), *access = rows_text(q, col + 1);
	int64_t bytes = rows_int(q, col + 2);
	unsigned i = rwsw_stream_find(w, op, access, bytes);

	if (i < w->n_streams || w->n_streams == RWSW_STREAMS)
		return i < w->n_streams ? &w->stream[i] : NULL;
	struct io_stream *s = &w->stream[w->n_streams++];
	*s = (struct io_stream){ .op = text_of(d, q, col),
				 .access = text_of(d, q, col + 1),
				 .block_bytes = bytes,
				 .share_pct = NAN,
				 .normalized_pct = NAN };
	s->name = rwsw_stream_name(&d->arena, s->op, s->access, bytes);
	return s;
}

/* The cell with most streams: a composite, or a stream alone. 0 none. */
static int widest_cell(struct dataset *d, int64_t *ret_cell, int64_t *ret_streams, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT cell_id, json_array_length(workload) AS n FROM v_cell"
				   " WHERE run_id = ? AND phase IN ('wdpc', 'sample', 'round',"
				   " 'irpw') AND json_array_length(workload) > 0 AND test IN"
				   " (SELECT test FROM v_planned WHERE run_id = ? AND"
				   " json_extract(params, '$.capture') IS NOT NULL)"
				   " ORDER BY n DESC, cell_id LIMIT 1",
				   "ii", d->run_id, d->run_id);

	if (!q)
		return -EIO;
	*ret_cell = *ret_streams = 0;
	if (rows_next(q) == 1) {
		*ret_cell = rows_int(q, 0);
		*ret_streams = rows_int(q, 1);
	}
	return rows_close(q, err);
}

#define STREAM_COLUMNS \
	"j.value ->> '$.op', coalesce(j.value ->> '$.access', " \
	"''), j.value ->> '$.block_bytes', j.value ->> '$.share_pct'"

/* Of cells: streams of a composite, or one by one. */
static int take_used(struct dataset *d, struct workload *w, struct rows *q, struct err *err)
{
	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct io_stream *s = add_stream(d, w, q, 0);
		if (!s)
			continue;
		s->used = true;
		s->normalized_pct = rows_num(q, 3);
	}
	w->n_used = w->n_streams;
	return rows_close(q, err);
}

/* What the tests of a run are made of, where it kept no rows of its capture. */
static int streams_of_cells(struct dataset *d, struct workload *w, struct err *err)
{
	int64_t cell, n;
	int rc = widest_cell(d, &cell, &n, err);

	if (rc || n > 1)
		return rc ? rc
			  : take_used(d, w,
				      read_rows(d->reader, err,
						"SELECT " STREAM_COLUMNS
						" FROM v_cell c, json_each(c.workload) j"
						" WHERE c.cell_id = ? ORDER BY j.key",
						"i", cell),
				      err);
	rc = take_used(d, w,
		       read_rows(d->reader, err,
				 "SELECT " STREAM_COLUMNS " FROM v_cell c, json_each(c.workload) j"
				 " WHERE c.run_id = ? AND c.phase = 'sample' AND"
				 " json_array_length(c.workload) = 1 GROUP BY 1, 2, 3 ORDER BY"
				 " min(c.cell_id)",
				 "i", d->run_id),
		       err);
	for (unsigned i = 0; w->n_used > 1 && i < w->n_used; i++)
		w->stream[i].normalized_pct = NAN; /* each alone: 100 % */
	return rc;
}

/* The largest streams of the capture; those that the tests took have a normalised share. */
static int streams_of_capture(struct dataset *d, struct workload *w, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT " STREAM_COLUMNS ", j.value ->> '$.ios', j.value ->>"
				   " '$.normalized_pct' FROM json_each(?) j ORDER BY j.key",
				   "t", w->list);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct io_stream *s = add_stream(d, w, q, 0);
		if (!s)
			continue;
		s->share_pct = rows_num(q, 3);
		s->ios = (uint64_t)rows_int(q, 4);
		s->normalized_pct = rows_num(q, 5);
		s->used = !rows_is_null(q, 5);
		w->n_used += s->used;
	}
	return rows_close(q, err);
}

/* ---- steps ---- */

static void take_step(struct dataset *d, struct workload *w, struct rows *q)
{
	struct workload_step *s = &w->step[w->n_steps++];

	*s = (struct workload_step){ .start_ns = rows_num(q, 0),
				     .ios = (uint64_t)rows_int(q, 1),
				     .bytes = (uint64_t)rows_int(q, 2),
				     .qd_avg = rows_num(q, 3),
				     .qd_max = int_of(q, 4),
				     .art_ns = rows_num(q, 5) };
	s->of = arena_array(&d->arena, double, w->n_streams + 1);
	s->of[w->n_streams] = w->shares_only ? 100 : (double)s->ios;
}

/* IOs (of a map of shares, %) by stream; what the streams told leave is that of the others. */
static int load_map(struct dataset *d, struct workload *w, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT s.start_ns, j.value ->> '$.op', coalesce(j.value ->>"
				   " '$.access', ''), j.value ->> '$.block_bytes', j.value ->>"
				   " '$.ios', j.value ->> '$.share_pct' FROM v_capture_step s,"
				   " json_each(s.streams) j WHERE s.run_id = ? ORDER BY s.step",
				   "i", d->run_id);
	unsigned at = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		double start = rows_num(q, 0);
		while (at < w->n_steps && w->step[at].start_ns != start)
			at++;
		if (at == w->n_steps)
			break;
		struct workload_step *s = &w->step[at];
		double v = rows_num(q, w->shares_only ? 5 : 4), *rest = &s->of[w->n_streams];
		unsigned i = rwsw_stream_find(w, rows_text(q, 1), rows_text(q, 2), rows_int(q, 3));
		s->any = true;
		if (i == w->n_streams || isnan(v))
			continue;
		s->of[i] += v;
		*rest = fmax(0, *rest - v);
	}
	return rows_close(q, err);
}

/* Depths and idle steps. */
static void judge_steps(struct workload *w)
{
	for (unsigned i = 0; i < w->n_steps; i++) {
		struct workload_step *s = &w->step[i];
		s->any |= s->ios > 0;
		if (!s->any) {
			s->of[w->n_streams] = 0;
			w->n_idle++;
			continue;
		}
		if (!(s->qd_avg > 0))
			continue;
		int qd = (int)fmax(1, round(s->qd_avg));
		w->qd_low = w->qd_low && w->qd_low < qd ? w->qd_low : qd;
		w->qd_high = w->qd_high > qd ? w->qd_high : qd;
	}
}

static int load_steps(struct dataset *d, struct workload *w, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT count(*) FROM v_capture_step WHERE run_id = ?", "i",
				   d->run_id);

	if (!q)
		return -EIO;
	unsigned n = rows_next(q) == 1 ? (unsigned)rows_int(q, 0) : 0;
	int rc = rows_close(q, err);
	if (rc)
		return rc;
	w->step = arena_array(&d->arena, struct workload_step, n + 1);
	q = read_rows(d->reader, err,
		      "SELECT start_ns, ios, bytes, qd_avg, qd_max, art_ns FROM v_capture_step"
		      " WHERE run_id = ? ORDER BY step",
		      "i", d->run_id);
	if (!q)
		return -EIO;
	while (w->n_steps < n && rows_next(q) == 1)
		take_step(d, w, q);
	return rows_close(q, err);
}

int rwsw_workload(struct dataset *d, struct workload *w, struct err *err)
{
	int rc = load_facts(d, w, err);

	w->stream = arena_array(&d->arena, struct io_stream, RWSW_STREAMS);
	w->shares_only = w->ios == 0;
	if (!rc)
		rc = *w->list ? streams_of_capture(d, w, err) : streams_of_cells(d, w, err);
	if (!rc)
		rc = load_steps(d, w, err);
	if (!rc)
		rc = load_map(d, w, err);
	if (!rc)
		judge_steps(w);
	return rc;
}
