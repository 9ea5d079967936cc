/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/analysis.h"
#include "replay/classify.h"
#include "replay/inflight.h"
#include "workloads/access.h"

/* Together they keep an analysis in some 256 MiB. A week has 604800 s. */
#define STEPS_MAX 800000u
#define STREAMS_MAX (1u << 19)
#define STEP_STREAMS_MAX ((uint64_t)1 << 23)

#define STEP_DEFAULT_NS 1000000000u
#define TOP_DEFAULT 9u
#define COVER_DEFAULT_PCT 80.0

struct scan {
	struct analysis *a;
	struct classify *classify;
	struct inflight inflight;
	uint32_t *slot; /* hash of the streams: index + 1 */
	uint32_t n_slots;
	uint32_t *count; /* per stream, IOs of the step now read */
	uint32_t *touched, n_touched; /* streams with a count */
	unsigned streams_cap, steps_cap;
	uint64_t step_streams_cap;
	uint64_t last_start_ns;
};

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "no memory to analyse the capture");
}

/* Room for one more in an array that doubles. */
static int grow(void **array, uint64_t n, uint64_t *cap, size_t each)
{
	uint64_t want = *cap ? 2 * *cap : 64;
	void *p;

	if (n < *cap)
		return 0;
	p = realloc(*array, want * each);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = want;
	return 0;
}

static uint32_t stream_hash(uint8_t op, uint8_t order, uint64_t bytes)
{
	return (uint32_t)(((bytes << 2 | (uint64_t)order << 1 | op) * 0x9e3779b97f4a7c15u) >> 32);
}

static int grow_streams(struct scan *s)
{
	struct analysis *a = s->a;
	unsigned cap = s->streams_cap ? 2 * s->streams_cap : 256;
	struct stream_stat *rows = realloc(a->stream, cap * sizeof(*rows));
	uint32_t *count = rows ? realloc(s->count, cap * sizeof(*count)) : NULL;
	uint32_t *touched = count ? realloc(s->touched, cap * sizeof(*touched)) : NULL;
	uint32_t *slot = touched ? calloc(4u * cap, sizeof(*slot)) : NULL;

	if (rows)
		a->stream = rows;
	if (count)
		s->count = count;
	if (touched)
		s->touched = touched;
	if (!slot)
		return -ENOMEM;
	free(s->slot);
	s->slot = slot;
	s->n_slots = 4u * cap;
	s->streams_cap = cap;
	for (unsigned i = 0; i < a->n_streams; i++) {
		uint32_t h = stream_hash(rows[i].op, rows[i].order, rows[i].bytes) % s->n_slots;

		while (slot[h])
			h = (h + 1) % s->n_slots;
		slot[h] = i + 1;
	}
	return 0;
}

/* -ENOMEM; -E2BIG: STREAMS_MAX are there already. */
static int stream_of(struct scan *s, uint8_t op, uint8_t order, uint64_t bytes, uint32_t *ret)
{
	struct analysis *a = s->a;
	uint32_t h;

	if (a->n_streams == s->streams_cap && a->n_streams < STREAMS_MAX && grow_streams(s))
		return -ENOMEM;
	for (h = stream_hash(op, order, bytes) % s->n_slots; s->slot[h]; h = (h + 1) % s->n_slots) {
		const struct stream_stat *r = &a->stream[s->slot[h] - 1];

		if (r->op == op && r->order == order && r->bytes == bytes) {
			*ret = s->slot[h] - 1;
			return 0;
		}
	}
	if (a->n_streams == STREAMS_MAX)
		return -E2BIG;
	a->stream[a->n_streams] = (struct stream_stat){ .op = op, .order = order, .bytes = bytes };
	s->count[a->n_streams] = 0;
	s->slot[h] = a->n_streams + 1;
	*ret = a->n_streams++;
	return 0;
}

static void add_response(struct response_sum *r, uint64_t ns)
{
	if (ns == TRACE_NO_RESPONSE)
		return;
	r->n++;
	r->sum_ns += (double)ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
}

/* The step's own mix goes to its place. */
static int close_step(struct scan *s, struct err *err)
{
	struct analysis *a = s->a;
	struct step_stat *row = &a->step[a->n_steps - 1];

	row->first = (uint32_t)a->n_step_streams;
	row->n_streams = s->n_touched;
	if (a->n_step_streams + s->n_touched > STEP_STREAMS_MAX)
		return err_set(err, -E2BIG,
			       "the steps have more than %llu streams together: choose a longer "
			       "one (--step)",
			       (unsigned long long)STEP_STREAMS_MAX);
	for (uint32_t i = 0; i < s->n_touched; i++) {
		uint32_t stream = s->touched[i];

		if (grow((void **)&a->step_stream, a->n_step_streams, &s->step_streams_cap,
			 sizeof(*a->step_stream)))
			return out_of_memory(err);
		a->step_stream[a->n_step_streams++] = (struct step_stream){ stream,
									    s->count[stream] };
		s->count[stream] = 0;
	}
	s->n_touched = 0;
	return 0;
}

static int too_many_steps(struct err *err)
{
	return err_set(err, -E2BIG,
		       "the capture has more than %u steps of that length: choose a longer one "
		       "(--step)",
		       STEPS_MAX);
}

static int open_step(struct scan *s, struct err *err)
{
	struct analysis *a = s->a;
	uint64_t cap = s->steps_cap;

	if (a->n_steps == STEPS_MAX)
		return too_many_steps(err);
	if (grow((void **)&a->step, a->n_steps, &cap, sizeof(*a->step)))
		return out_of_memory(err);
	s->steps_cap = (unsigned)cap;
	a->step[a->n_steps] = (struct step_stat){ .start_ns = a->n_steps * a->step_ns };
	a->n_steps++;
	return 0;
}

/* Steps up to the one that holds @t are there, the earlier ones closed. */
static int reach_step(struct scan *s, uint64_t t, struct err *err)
{
	struct analysis *a = s->a;

	while (a->n_steps == 0 || t >= a->n_steps * a->step_ns) {
		int rc = 0;

		if (a->n_steps)
			rc = close_step(s, err);
		if (!rc)
			rc = open_step(s, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* IOs in flight over [from, to), laid upon the steps that the time falls into. */
static void lay_inflight(void *arg, uint64_t from, uint64_t to, unsigned depth)
{
	struct analysis *a = arg;

	if (depth > a->qd_max)
		a->qd_max = depth;
	a->qd_area_ns += (double)(to - from) * depth;
	a->busy_ns += depth ? to - from : 0;
	for (uint64_t i = from / a->step_ns; i < a->n_steps; i++) {
		struct step_stat *r = &a->step[i];
		uint64_t begin = from > r->start_ns ? from : r->start_ns;
		uint64_t end = to < r->start_ns + a->step_ns ? to : r->start_ns + a->step_ns;

		if (depth > r->qd_max)
			r->qd_max = depth;
		if (end > begin) {
			r->qd_area_ns += (double)(end - begin) * depth;
			r->busy_ns += depth ? end - begin : 0;
		}
		if (to <= r->start_ns + a->step_ns)
			break;
	}
}

static int scan_io(struct scan *s, const struct trace_rec *rec, struct err *err)
{
	struct analysis *a = s->a;
	uint8_t op = rec->io.op == TRACE_WRITE ? IO_WRITE : IO_READ, order;
	uint64_t bytes = trace_io_bytes(&rec->io);
	struct step_stat *step;
	uint32_t stream;
	int rc = reach_step(s, rec->io.start_ns, err);

	if (rc)
		return rc;
	rc = classify_io(s->classify, &rec->io, &order);
	if (!rc)
		rc = stream_of(s, op, order, bytes, &stream);
	if (rc == -E2BIG)
		return err_set(err, rc,
			       "the capture has more than %u streams: hardly two of its IOs are of "
			       "one size",
			       STREAMS_MAX);
	if (!rc && rec->response_ns != TRACE_NO_RESPONSE)
		rc = inflight_add(&s->inflight, rec->io.start_ns, rec->response_ns);
	if (rc)
		return out_of_memory(err);
	step = &a->step[a->n_steps - 1];
	step->ios++;
	step->bytes += bytes;
	*(op == IO_WRITE ? &step->writes : &step->reads) += 1;
	*(op == IO_WRITE ? &step->write_bytes : &step->read_bytes) += bytes;
	add_response(&step->response, rec->response_ns);
	add_response(&a->stream[stream].response, rec->response_ns);
	a->stream[stream].ios++;
	if (s->count[stream]++ == 0)
		s->touched[s->n_touched++] = stream;
	a->ios++;
	a->seq_ios += order == IO_SEQ;
	a->qd_known |= rec->response_ns != TRACE_NO_RESPONSE;
	a->span_ns = rec->io.start_ns;
	return 0;
}

struct ranked {
	struct stream_stat row;
	uint32_t was;
};

static int by_share(const void *x, const void *y)
{
	const struct ranked *p = x, *q = y;

	if (p->row.ios != q->row.ios)
		return p->row.ios < q->row.ios ? 1 : -1;
	if (p->row.bytes != q->row.bytes)
		return p->row.bytes < q->row.bytes ? -1 : 1;
	if (p->row.op != q->row.op)
		return p->row.op < q->row.op ? -1 : 1;
	return (p->row.order < q->row.order) - (p->row.order > q->row.order);
}

static int by_stream(const void *x, const void *y)
{
	const struct step_stream *p = x, *q = y;

	return (p->stream > q->stream) - (p->stream < q->stream);
}

/* Streams by falling share, the steps' references after them. */
int analysis_rank(struct analysis *a)
{
	struct ranked *r = malloc(a->n_streams * sizeof(*r));
	uint32_t *now = malloc(a->n_streams * sizeof(*now));

	if (!r || !now) {
		free(r);
		free(now);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->n_streams; i++)
		r[i] = (struct ranked){ a->stream[i], i };
	qsort(r, a->n_streams, sizeof(*r), by_share);
	for (uint32_t i = 0; i < a->n_streams; i++) {
		a->stream[i] = r[i].row;
		a->stream[i].share_pct = 100.0 * (double)r[i].row.ios / (double)a->ios;
		now[r[i].was] = i;
	}
	for (uint64_t i = 0; i < a->n_step_streams; i++)
		a->step_stream[i].stream = now[a->step_stream[i].stream];
	for (unsigned i = 0; i < a->n_steps; i++)
		qsort(a->step_stream + a->step[i].first, a->step[i].n_streams,
		      sizeof(*a->step_stream), by_stream);
	free(r);
	free(now);
	return 0;
}

static int scan_all(struct scan *s, struct trace *t, struct err *err)
{
	struct trace_cursor c = { 0 };
	struct trace_rec rec;
	uint64_t first_ns = 0;
	bool any = false;
	int rc;

	if (trace_head(t)->duration_ns / s->a->step_ns >= STEPS_MAX)
		return too_many_steps(err);
	while ((rc = trace_next(t, &c, &rec, err)) == 1) {
		if (rec.io.op != TRACE_READ && rec.io.op != TRACE_WRITE)
			continue;
		if (!any)
			first_ns = rec.io.start_ns;
		any = true;
		rec.io.start_ns -= first_ns;
		rc = scan_io(s, &rec, err);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	if (!any)
		return err_set(err, -EINVAL, "%s holds no read and no write", trace_head(t)->name);
	inflight_finish(&s->inflight);
	s->a->end_ns = s->inflight.t_ns;
	rc = close_step(s, err);
	if (!rc && analysis_rank(s->a))
		rc = out_of_memory(err);
	return rc;
}

int analysis_run(struct trace *t, const struct seq_rule *rule, uint64_t step_ns,
		 struct analysis *ret, struct err *err)
{
	struct analysis a = { .rule = *rule, .step_ns = step_ns ? step_ns : STEP_DEFAULT_NS };
	struct scan s = { .a = &a };
	int rc;

	if (!a.rule.window)
		a.rule.window = SEQ_WINDOW_DEFAULT;
	s.classify = classify_new(&a.rule);
	inflight_init(&s.inflight, lay_inflight, &a);
	rc = s.classify ? scan_all(&s, t, err) : out_of_memory(err);
	classify_free(s.classify);
	inflight_release(&s.inflight);
	free(s.slot);
	free(s.count);
	free(s.touched);
	if (rc) {
		analysis_release(&a);
		return rc;
	}
	analysis_dominate(&a, 0, 0);
	*ret = a;
	return 0;
}

void analysis_release(struct analysis *a)
{
	free(a->stream);
	free(a->step);
	free(a->step_stream);
	*a = (struct analysis){ .ios = 0 };
}

void analysis_dominate(struct analysis *a, unsigned top, double cover_pct)
{
	uint64_t sum = 0, covered = 0;
	unsigned n;

	if (!top && cover_pct <= 0) {
		top = TOP_DEFAULT;
		cover_pct = COVER_DEFAULT_PCT;
	}
	for (n = 0; n < a->n_streams; n++) {
		if (n >= top && 100.0 * (double)sum >= cover_pct * (double)a->ios)
			break;
		sum += a->stream[n].ios;
	}
	for (unsigned i = 0; i < a->n_streams; i++)
		a->stream[i].normalized_pct = i < n ? 100.0 * (double)a->stream[i].ios / (double)sum
						    : 0;
	covered = sum;
	a->n_dominant = n;
	a->coverage_pct = a->ios ? 100.0 * (double)covered / (double)a->ios : 0;
}

double step_qd_avg(const struct step_stat *s)
{
	return s->busy_ns ? s->qd_area_ns / (double)s->busy_ns : 0;
}
