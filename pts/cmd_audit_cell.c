/* SPDX-License-Identifier: MIT */
/*
 * Every number of a cell from what it was made of: its histograms, its seconds, its streams.
 * PTS[GEN-3.1-RT] PTS[GEN-9-PCT]: percentiles are nearest rank over all IOs of the cell, reads and writes together.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cmd_audit.h"

#define SUM_TOLERANCE 1e-9 /* of sums over means that were rounded to doubles */

bool audit_same(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)) + 1e-300;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= SUM_TOLERANCE * fmax(fabs(a), fabs(b)) + 1e-6;
}

/* The rows of a table that belong to cells come in the order of the cells. */
static struct acell *cell_of(struct audit *a, int64_t id, unsigned *hint)
{
	for (unsigned i = 0; i < a->n_cells; i++) {
		unsigned k = (*hint + i) % a->n_cells;

		if (a->cell[k].id == id) {
			*hint = k;
			return &a->cell[k];
		}
	}
	return NULL;
}

/* ---- histograms ---- */

struct one_hist { /* a row of cell_hist */
	const char *op, *kind;
	uint64_t ios, min, max;
	bool exact; /* the sum is an integer */
	unsigned __int128 sum;
	const char *buckets;
};

/* The latencies of the cell at hand. */
struct merged {
	struct acell *cell;
	struct hist *all[2]; /* service, response */
	struct hist *one;
	uint64_t n[2][2]; /* of kind and op */
	double sum[2]; /* of kind */
};

/* {"I": [count of bucket I, of I + 1, ...], ...} into a histogram of counts. */
static int parse_buckets(const char *s, struct hist *h)
{
	char *end;

	if (*s++ != '{')
		return -EINVAL;
	while (*s == '"') {
		unsigned long i = strtoul(s + 1, &end, 10);

		if (end[0] != '"' || end[1] != ':' || end[2] != '[')
			return -EINVAL;
		for (s = end + 2; *s == '[' || *s == ','; s = end, i++) {
			uint64_t count = strtoull(s + 1, &end, 10);

			if (end == s + 1 || i >= HIST_BUCKETS)
				return -EINVAL;
			h->count[i] += count;
			h->n += count;
		}
		if (*s++ != ']')
			return -EINVAL;
		s += *s == ',';
	}
	return *s == '}' ? 0 : -EINVAL;
}

/* Counts, extremes and sum of one row against one another. */
static void check_hist(struct audit *a, const struct one_hist *o, const struct hist *h,
		       const char *row)
{
	unsigned first = 0, last = HIST_BUCKETS - 1;
	unsigned __int128 low = 0, high = 0;

	if (h->n != o->ios || !h->n) {
		audit_fault(a, row, "its buckets hold %" PRIu64 " IOs of %" PRIu64, h->n, o->ios);
		return;
	}
	while (!h->count[first])
		first++;
	while (!h->count[last])
		last--;
	if (first != hist_index(o->min))
		audit_fault(a, row,
			    "its shortest latency is %" PRIu64
			    " ns, its first bucket begins at %" PRIu64,
			    o->min, hist_low(first));
	if (last != hist_index(o->max))
		audit_fault(a, row,
			    "its longest latency is %" PRIu64
			    " ns, its last bucket begins at %" PRIu64,
			    o->max, hist_low(last));
	for (unsigned i = first; i <= last; i++) {
		low += (unsigned __int128)hist_low(i) * h->count[i];
		high += (unsigned __int128)(hist_high(i) - 1) * h->count[i];
	}
	if (last == HIST_BUCKETS - 1) /* longer ones are in the last bucket, too */
		high = ~(unsigned __int128)0;
	if (o->exact ? o->sum < low || o->sum > high
		     : (double)o->sum < (double)low * (1 - SUM_TOLERANCE) ||
			       (double)o->sum > (double)high * (1 + SUM_TOLERANCE))
		audit_fault(a, row, "the sum of its latencies does not fit its buckets");
}

static void add_hist(struct audit *a, struct merged *m, const struct one_hist *o)
{
	unsigned kind = !strcmp(o->kind, "response"), op = !strcmp(o->op, "W");
	const char *row = arena_fmt(&a->arena, "%s: %s %s histogram", audit_cell_name(a, m->cell),
				    o->op, o->kind);

	hist_reset(m->one);
	if (parse_buckets(o->buckets, m->one)) {
		audit_fault(a, row, "its buckets cannot be read");
		return;
	}
	check_hist(a, o, m->one, row);
	m->one->min = o->min;
	m->one->max = o->max;
	m->one->sum = o->sum;
	hist_merge(m->all[kind], m->one);
	m->n[kind][op] += o->ios;
	m->sum[kind] += (double)o->sum;
	a->done.histograms++;
}

static void check_ns(struct audit *a, const struct acell *c, const char *what, int64_t stored,
		     int64_t now)
{
	if (stored != now)
		audit_fault(a, audit_cell_name(a, c),
			    "its %s is %" PRId64 " ns, its histograms give %" PRId64, what, stored,
			    now);
}

static void check_percentiles(struct audit *a, const struct acell *c, const struct hist *h)
{
	const struct {
		const char *name;
		uint32_t ppm;
		int64_t stored;
	} p[] = { { "50 %", P50, c->p50_ns },
		  { "99 %", P99, c->p99_ns },
		  { "99.9 %", P999, c->p999_ns },
		  { "99.99 %", P9999, c->p9999_ns },
		  { "99.999 %", P99999, c->p99999_ns } };

	for (unsigned i = 0; i < sizeof p / sizeof *p; i++) {
		uint64_t ns;

		check_ns(a, c, p[i].name, p[i].stored,
			 hist_percentile(h, p[i].ppm, &ns) ? (int64_t)ns : -1);
	}
}

/* Little's law: IOPS x mean service time against the depth that was measured. */
static void check_little(struct audit *a, const struct acell *c, double sum_ns)
{
	double pct = NAN;

	if (sum_ns > 0 && c->elapsed_ns && c->inflight_avg > 0)
		pct = (sum_ns / (double)c->elapsed_ns / c->inflight_avg - 1) * 100;
	if (isnan(pct) != isnan(c->little_pct) || fabs(pct - c->little_pct) > 1e-9)
		audit_fault(a, audit_cell_name(a, c), "its little_pct is %.9g, its sums give %.9g",
			    c->little_pct, pct);
}

static void check_latencies(struct audit *a, struct merged *m)
{
	struct acell *c = m->cell;
	bool response = c->rate_iops > 0 && m->all[1]->n;
	const struct hist *h = m->all[response];
	const char *row = audit_cell_name(a, c);

	for (unsigned kind = 0; kind < 2; kind++)
		if ((m->all[kind]->n || !kind) &&
		    (m->n[kind][0] != c->read_ios || m->n[kind][1] != c->write_ios))
			audit_fault(a, row,
				    "it holds %" PRIu64 " reads and %" PRIu64
				    " writes, its %s histograms %" PRIu64 " and %" PRIu64,
				    c->read_ios, c->write_ios, kind ? "response" : "service",
				    m->n[kind][0], m->n[kind][1]);
	c->service_ns = m->sum[0];
	if (!audit_same(c->sum_ns, h->n ? (double)h->sum : 0))
		audit_fault(a, row, "its sum_ns is %.17g, its histograms give %.17g", c->sum_ns,
			    (double)h->sum);
	if (!audit_same(c->art_ns, h->n ? hist_mean(h) : NAN))
		audit_fault(a, row, "its art_ns is %.17g, its histograms give %.17g", c->art_ns,
			    hist_mean(h));
	check_ns(a, c, "longest response time", c->mrt_ns, h->n ? (int64_t)h->max : -1);
	check_ns(a, c, "shortest response time", c->min_ns, h->n ? (int64_t)h->min : -1);
	check_percentiles(a, c, h);
	check_little(a, c, m->sum[0]);
	a->done.cells++;
}

static void merged_begin(struct merged *m, struct acell *c)
{
	m->cell = c;
	hist_reset(m->all[0]);
	hist_reset(m->all[1]);
	memset(m->n, 0, sizeof m->n);
	memset(m->sum, 0, sizeof m->sum);
}

static void take_hist(struct audit *a, struct merged *m, struct rows *q)
{
	struct one_hist o = { .op = rows_text(q, 1),
			      .kind = rows_text(q, 2),
			      .ios = (uint64_t)rows_int(q, 3),
			      .min = (uint64_t)rows_int(q, 4),
			      .max = (uint64_t)rows_int(q, 5),
			      .exact = rows_column_type(q, 6) == 'i',
			      .buckets = rows_text(q, 7) };

	o.sum = o.exact ? (unsigned __int128)rows_int(q, 6)
			: (unsigned __int128)fmin(fmax(rows_num(q, 6), 0), 1e38);
	add_hist(a, m, &o);
}

static int check_hists(struct audit *a, struct merged *m)
{
	struct rows *q = read_rows(
		a->rd, a->err,
		"SELECT c.cell_id, op, kind, h.ios, h.min_ns, h.max_ns, h.sum_ns, buckets"
		" FROM cell c LEFT JOIN cell_hist h USING (cell_id) WHERE c.run_id = ?"
		" ORDER BY c.cell_id",
		"i", a->run);
	unsigned hint = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct acell *c = cell_of(a, rows_int(q, 0), &hint);

		if (!c)
			continue;
		if (m->cell && m->cell != c)
			check_latencies(a, m);
		if (m->cell != c)
			merged_begin(m, c);
		if (!rows_is_null(q, 1))
			take_hist(a, m, q);
	}
	if (m->cell)
		check_latencies(a, m);
	return rows_close(q, a->err);
}

/* ---- seconds ---- */

struct second_sums {
	uint64_t ios, bytes, mrt;
	double ns;
	unsigned n;
};

/* [[second, ios, bytes, art, mrt], ...]; art and mrt are null in a second without IOs. */
static int parse_seconds(const char *s, struct second_sums *ret)
{
	char *end;

	if (*s++ != '[')
		return -EINVAL;
	while (*s == '[') {
		double v[5] = { 0 };
		uint64_t whole[5] = { 0 };

		for (unsigned i = 0; i < 5; i++, s = end) {
			s++;
			if (!strncmp(s, "null", 4)) {
				end = (char *)(uintptr_t)s + 4;
				continue;
			}
			whole[i] = strtoull(s, &end, 10);
			if (i == 3)
				v[i] = strtod(s, &end);
			if (end == s)
				return -EINVAL;
		}
		if (*s++ != ']')
			return -EINVAL;
		s += *s == ',';
		ret->ios += whole[1];
		ret->bytes += whole[2];
		ret->ns += (double)whole[1] * v[3];
		ret->mrt = whole[4] > ret->mrt ? whole[4] : ret->mrt;
		ret->n++;
	}
	return strcmp(s, "]") ? -EINVAL : 0;
}

static void check_series(struct audit *a, const struct acell *c, const char *json)
{
	struct second_sums s = { 0 };
	const char *row = arena_fmt(&a->arena, "%s: per-second series", audit_cell_name(a, c));

	if (parse_seconds(json, &s)) {
		audit_fault(a, row, "it cannot be read");
		return;
	}
	a->done.seconds += s.n;
	if (s.ios != c->read_ios + c->write_ios)
		audit_fault(a, row, "its seconds hold %" PRIu64 " IOs, the cell %" PRIu64, s.ios,
			    c->read_ios + c->write_ios);
	if (s.bytes != c->read_bytes + c->write_bytes)
		audit_fault(a, row, "its seconds hold %" PRIu64 " bytes, the cell %" PRIu64,
			    s.bytes, c->read_bytes + c->write_bytes);
	if (c->rate_iops > 0)
		return;
	if (s.ios && (int64_t)s.mrt != c->mrt_ns)
		audit_fault(a, row,
			    "its longest response time is %" PRIu64 " ns, the cell's %" PRId64,
			    s.mrt, c->mrt_ns);
	if (!near(s.ns, c->sum_ns))
		audit_fault(a, row, "its response times sum to %.12g ns, the cell's to %.12g", s.ns,
			    c->sum_ns);
}

static int check_seconds(struct audit *a)
{
	struct rows *q = read_rows(
		a->rd, a->err,
		"SELECT c.cell_id, seconds FROM cell c JOIN cell_series USING (cell_id)"
		" WHERE c.run_id = ? ORDER BY c.cell_id",
		"i", a->run);
	unsigned hint = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		const struct acell *c = cell_of(a, rows_int(q, 0), &hint);

		if (c)
			check_series(a, c, rows_text(q, 1));
	}
	return rows_close(q, a->err);
}

/* ---- streams ---- */

struct stream_sums {
	uint64_t ios[2], bytes[2]; /* R, W */
	int64_t mrt;
	double ns;
	unsigned n;
};

/* Most IOs that the segment before can have left in flight: its own depth, or what it took over itself. */
static uint64_t left_over_most(const struct audit *a, const struct acell *c)
{
	int most = 0;

	for (const struct acell *p = c - 1; p >= a->cell && p->step == c->step; p--)
		if (p->member == c->member)
			most = p->oio > most ? p->oio : most;
	return (uint64_t)most;
}

/* A replay does not drain between its steps: IOs of a mix that this step does not have count to the cell alone. */
static void check_streams_replay(struct audit *a, const struct acell *c,
				 const struct stream_sums *s, const char *row)
{
	uint64_t ios = c->read_ios + c->write_ios, own = s->ios[0] + s->ios[1];

	if (s->ios[0] > c->read_ios || s->ios[1] > c->write_ios || s->bytes[0] > c->read_bytes ||
	    s->bytes[1] > c->write_bytes || ios - own > left_over_most(a, c))
		audit_fault(a, row,
			    "they hold %" PRIu64 " reads and %" PRIu64 " writes, the cell %" PRIu64
			    " and %" PRIu64 ": more than the step before can have left",
			    s->ios[0], s->ios[1], c->read_ios, c->write_ios);
	if (s->mrt > c->mrt_ns || s->ns > c->sum_ns * (1 + SUM_TOLERANCE))
		audit_fault(a, row, "their response times are more than those of the cell");
}

static void check_streams(struct audit *a, const struct acell *c, const struct stream_sums *s)
{
	const char *row = arena_fmt(&a->arena, "%s: its streams", audit_cell_name(a, c));
	bool whole = !c->short_ios && strcmp(c->phase, "wipc"); /* a fill shortens its last IO */

	if (!s->n)
		return;
	a->done.streams += s->n;
	if (!strcmp(c->phase, "replay") && s->ios[0] + s->ios[1] != c->read_ios + c->write_ios) {
		check_streams_replay(a, c, s, row);
		return;
	}
	if (s->ios[0] != c->read_ios || s->ios[1] != c->write_ios)
		audit_fault(a, row,
			    "they hold %" PRIu64 " reads and %" PRIu64 " writes, the cell %" PRIu64
			    " and %" PRIu64,
			    s->ios[0], s->ios[1], c->read_ios, c->write_ios);
	if (whole && (s->bytes[0] != c->read_bytes || s->bytes[1] != c->write_bytes))
		audit_fault(a, row,
			    "they read %" PRIu64 " and wrote %" PRIu64 " bytes, the cell %" PRIu64
			    " and %" PRIu64,
			    s->bytes[0], s->bytes[1], c->read_bytes, c->write_bytes);
	if (c->rate_iops > 0)
		return;
	if (s->mrt != c->mrt_ns)
		audit_fault(a, row,
			    "their longest response time is %" PRId64 " ns, the cell's %" PRId64,
			    s->mrt, c->mrt_ns);
	if (!near(s->ns, c->sum_ns))
		audit_fault(a, row, "their response times sum to %.12g ns, the cell's to %.12g",
			    s->ns, c->sum_ns);
}

static void take_stream(struct audit *a, const struct acell *c, struct rows *q,
			struct stream_sums *s)
{
	unsigned op = !strcmp(rows_text(q, 1), "W");
	uint64_t ios = (uint64_t)rows_int(q, 3);
	double iops = c->elapsed_ns ? (double)ios * 1e9 / (double)c->elapsed_ns : 0;
	int64_t mrt = rows_is_null(q, 6) ? -1 : rows_int(q, 6);

	if (!audit_same(rows_num(q, 4), iops))
		audit_fault(a, audit_cell_name(a, c),
			    "stream %" PRId64 ": its iops is %.17g, its IOs give %.17g",
			    rows_int(q, 7), rows_num(q, 4), iops);
	s->ios[op] += ios;
	s->bytes[op] += ios * (uint64_t)rows_int(q, 2);
	s->mrt = mrt > s->mrt ? mrt : s->mrt;
	s->ns += ios ? (double)ios * rows_num(q, 5) : 0;
	s->n++;
}

static int check_all_streams(struct audit *a)
{
	struct rows *q = read_rows(
		a->rd, a->err,
		"SELECT c.cell_id, s.op, s.block_bytes, s.ios, s.iops, s.art_ns, s.mrt_ns,"
		" s.stream FROM cell c JOIN cell_stream s USING (cell_id) WHERE c.run_id = ?"
		" ORDER BY c.cell_id",
		"i", a->run);
	struct stream_sums sums = { .mrt = -1 };
	const struct acell *last = NULL;
	unsigned hint = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		const struct acell *c = cell_of(a, rows_int(q, 0), &hint);

		if (!c)
			continue;
		if (last && last != c) {
			check_streams(a, last, &sums);
			sums = (struct stream_sums){ .mrt = -1 };
		}
		last = c;
		take_stream(a, c, q, &sums);
	}
	if (last)
		check_streams(a, last, &sums);
	return rows_close(q, a->err);
}

/* The rows of a set's drives follow the one that sums them up. */
static void check_members(struct audit *a, unsigned at)
{
	const struct acell *sum = &a->cell[at];
	uint64_t ios[2] = { 0 }, bytes[2] = { 0 };
	int n = 0;

	for (unsigned i = at + 1; i < a->n_cells && n < sum->members; i++, n++) {
		const struct acell *c = &a->cell[i];

		if (c->member < 1 || c->step != sum->step || c->segment != sum->segment ||
		    c->round != sum->round || strcmp(c->test, sum->test))
			break;
		ios[0] += c->read_ios;
		ios[1] += c->write_ios;
		bytes[0] += c->read_bytes;
		bytes[1] += c->write_bytes;
	}
	if (n != sum->members)
		audit_fault(a, audit_cell_name(a, sum),
			    "it sums up %d drives, rows of %d follow it", sum->members, n);
	else if (ios[0] != sum->read_ios || ios[1] != sum->write_ios ||
		 bytes[0] != sum->read_bytes || bytes[1] != sum->write_bytes)
		audit_fault(a, audit_cell_name(a, sum),
			    "its IOs or bytes are not the sum of its %d drives", n);
}

int audit_cells(struct audit *a)
{
	struct merged m = { .all = { hist_new(), hist_new() }, .one = hist_new() };
	int rc = check_hists(a, &m);

	free(m.all[0]);
	free(m.all[1]);
	free(m.one);
	for (unsigned i = 0; i < a->n_cells; i++)
		if (a->cell[i].members)
			check_members(a, i);
	if (!rc)
		rc = check_seconds(a);
	return rc ? rc : check_all_streams(a);
}
