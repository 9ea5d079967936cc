/* SPDX-License-Identifier: MIT */
/* From the parts of the workers to one result. Main thread only, after the workers have passed on. */
#include "workloads/engine_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "pts/base/buf.h"

static struct part *part_of(struct engine *e, unsigned worker, unsigned k)
{
	return &e->worker[worker]->parts[e->need.double_parts ? k & 1 : 0];
}

/* ---- CPU of the whole host, from /proc/stat ---- */

/* Ticks since boot: all, not idle, in the kernel. */
static bool cpu_read(uint64_t ret[3])
{
	struct buf b = BUF_INIT;
	unsigned long long v[8] = { 0 };
	int n = 0;

	if (!buf_read_file(&b, "/proc/stat", 1 << 20))
		n = sscanf(buf_cstr(&b), "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0],
			   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	buf_release(&b);
	if (n < 4)
		return false;
	/* user nice system idle iowait irq softirq steal */
	ret[0] = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
	ret[1] = ret[0] - v[3] - v[4];
	ret[2] = v[2] + v[5] + v[6];
	return true;
}

void seal_cpu_start(struct engine *e)
{
	if (!cpu_read(e->cpu))
		memset(e->cpu, 0, sizeof e->cpu);
}

static void fill_cpu(struct engine *e, struct result *r)
{
	uint64_t now[3];
	bool ok = e->cpu[0] && cpu_read(now) && now[0] > e->cpu[0];

	r->cpu_total_pct = r->cpu_sys_pct = -1;
	if (ok) {
		double all = (double)(now[0] - e->cpu[0]);
		r->cpu_total_pct = 100 * (double)(now[1] - e->cpu[1]) / all;
		r->cpu_sys_pct = 100 * (double)(now[2] - e->cpu[2]) / all;
	}
	seal_cpu_start(e);
}

/* ---- histograms ---- */

/* First whole value of a worker's bucket; below 256 it is the only one. */
static uint64_t fine_low(unsigned i)
{
	union {
		uint64_t bits;
		double d;
	} v = { .bits = (i + FINE_FIRST) << FINE_SHIFT };

	return (uint64_t)v.d;
}

static void add_counts(struct hist *h, const uint64_t *fine)
{
	for (unsigned i = 0; fine && i < FINE_BUCKETS; i++) {
		if (!fine[i])
			continue;
		h->count[hist_index(fine_low(i))] += fine[i];
		h->n += fine[i];
	}
}

static void add_extremes(struct hist *h, uint64_t sum_ns, uint64_t min_ns, uint64_t max_ns)
{
	h->sum += sum_ns;
	if (min_ns < h->min)
		h->min = min_ns;
	if (max_ns > h->max)
		h->max = max_ns;
}

/* A coarse bucket goes into the middle one of the buckets that it covers. */
static void add_coarse(struct hist *h, const struct lane *p)
{
	for (unsigned i = 0; i < COARSE_BUCKETS; i++) {
		if (!p->coarse[i])
			continue;
		uint64_t low = fine_low(i << COARSE_SHIFT),
			 high = fine_low((i + 1) << COARSE_SHIFT);
		h->count[hist_index(low + (high - low) / 2)] += p->coarse[i];
		h->n += p->coarse[i];
	}
	add_extremes(h, p->sum_ns, p->min_ns, p->max_ns);
}

static struct hist *clean(struct hist **h)
{
	if (!*h)
		*h = hist_new();
	else
		hist_reset(*h);
	return *h;
}

static void merge_streams(struct engine *e, unsigned k, const struct access *a, struct result *r)
{
	for (unsigned s = 0; a && s < a->n_streams; s++) {
		struct stream_tally *t = &r->stream[s];
		struct hist *h = clean(&e->stream_hist[s]);
		for (unsigned i = 0; i < e->active; i++) {
			const struct part *p = part_of(e, i, k);
			t->ios += p->lane[s].ios;
			t->bytes += part_lane_bytes(p, s);
			add_coarse(h, &p->lane[s]);
		}
		t->sum_ns = h->sum;
		t->max_ns = h->max;
		t->lat = t->ios ? h : NULL;
	}
}

/* Sum and extremes of an op are those of its streams, and of IOs left over from the mix before. */
static void merge_op_lanes(const struct part *p, const struct access *a, int op, struct result *r,
			   struct hist *h)
{
	unsigned n = (a ? a->n_streams : 0) + IO_OPS;

	for (unsigned i = 0; i < n; i++) {
		const struct lane *y = &p->lane[i];
		if (!y->ios || y->op != op)
			continue;
		r->op[op].ios += y->ios;
		r->op[op].bytes += part_lane_bytes(p, i);
		add_extremes(h, y->sum_ns, y->min_ns, y->max_ns);
	}
}

static void merge_op(struct engine *e, unsigned k, int op, struct result *r)
{
	const struct access *a = e->job->seg[k].acc;
	struct hist *h = clean(&e->hist[op]), *resp = NULL;

	if (a && e->job->seg[k].rate_iops > 0)
		resp = clean(&e->response[op]);
	for (unsigned i = 0; i < e->active; i++) {
		const struct part *p = part_of(e, i, k);
		const struct part_response *q = &p->response[op];
		add_counts(h, p->fine[op]);
		merge_op_lanes(p, a, op, r, h);
		if (resp) {
			add_counts(resp, q->count);
			add_extremes(resp, q->sum_ns, q->min_ns, q->max_ns);
		}
	}
	BUG_ON(h->n != r->op[op].ios && !e->target.no_latency);
	r->op[op].service = h->n ? h : NULL;
	r->op[op].response = resp && resp->n ? resp : NULL;
}

/* ---- series ---- */

#define SECONDS_STORED (1u << 20) /* rows of a series at the most: 12 days */

static void merge_seconds(struct engine *e, unsigned k, struct result *r)
{
	uint64_t interval = e->job->interval_ns ? e->job->interval_ns : 1000000000u;
	uint32_t n = 0, out = 0;

	for (unsigned i = 0; i < e->active; i++)
		n = part_of(e, i, k)->n_seconds > n ? part_of(e, i, k)->n_seconds : n;
	uint64_t whole = (r->elapsed_ns + interval - 1) / interval;
	if (whole > n)
		n = whole < SECONDS_STORED ? (uint32_t)whole : SECONDS_STORED;
	if (n > e->seconds_cap) {
		free(e->second);
		e->second = calloc(n, sizeof *e->second);
		BUG_ON(!e->second);
		e->seconds_cap = n;
	}
	for (uint32_t at = 0; at < n; at++) {
		struct second sum = { .index = at };
		for (unsigned i = 0; i < e->active; i++) {
			const struct part *p = part_of(e, i, k);
			const struct second *s = at < p->n_seconds ? &p->second[at] : NULL;
			sum.ios += s ? s->ios : 0;
			sum.bytes += s ? s->bytes : 0;
			sum.sum_ns += s ? s->sum_ns : 0;
			sum.max_ns = s && s->max_ns > sum.max_ns ? s->max_ns : sum.max_ns;
		}
		e->second[out++] = sum; /* a second without a completion is the one to look at */
	}
	r->second = e->second;
	r->n_seconds = out;
}

/* ---- accounts ---- */

static void merge_errno(struct result *r, int err, uint64_t n)
{
	for (unsigned i = 0; n && i < RESULT_ERRNOS; i++) {
		if (r->errnos[i].n && r->errnos[i].err != err)
			continue;
		r->errnos[i].err = err;
		r->errnos[i].n += n;
		return;
	}
}

static void sort_errnos(struct result *r)
{
	for (unsigned i = 1; i < RESULT_ERRNOS; i++)
		for (unsigned j = i; j && r->errnos[j].n > r->errnos[j - 1].n; j--) {
			__typeof__(r->errnos[0]) t = r->errnos[j];
			r->errnos[j] = r->errnos[j - 1];
			r->errnos[j - 1] = t;
		}
}

/* Every IO that was handed over is accounted for: good, short, failed, or still in flight. */
static uint64_t balance(const struct part *p, const struct access *a)
{
	unsigned n = (a ? a->n_streams : 0) + IO_OPS;
	uint64_t over = p->carried_in + p->sqes - p->requeued - p->rearmed - p->parts -
			p->carried_out;
	uint64_t done = p->short_ios + p->errors;

	for (unsigned s = 0; s < n; s++)
		done += p->lane[s].ios;
	if (over != done)
		BUG("IOs do not balance: %llu came in, %llu submitted, %llu left over, %llu done",
		    (unsigned long long)p->carried_in, (unsigned long long)p->sqes,
		    (unsigned long long)p->carried_out, (unsigned long long)done);
	return over;
}

static void merge_accounts(struct engine *e, unsigned k, struct result *r)
{
	const struct access *a = e->job->seg[k].acc;

	for (unsigned i = 0; i < e->active; i++) {
		const struct part *p = part_of(e, i, k);
		uint64_t done = balance(p, a), late = tick_to_ns(p->late_ticks, e->clock.mult);
		r->prepared += done;
		r->short_ios += p->short_ios;
		r->errors += p->errors;
		r->clock_back += p->clock_back;
		r->inflight_max += p->inflight_max;
		r->inflight_avg += (double)p->area_ticks;
		r->threads_seen += done > p->short_ios + p->errors;
		if ((double)late > r->late_max_ns)
			r->late_max_ns = (double)late;
		for (unsigned n = 0; n < RESULT_ERRNOS; n++)
			merge_errno(r, p->errnos[n].err, p->errnos[n].n);
	}
	sort_errnos(r);
}

/* From the first submission to the last completion; exactly the time bound where the next segment follows without a gap. */
static void fill_times(struct engine *e, unsigned k, struct result *r)
{
	const struct seg_state *st = &e->seg[k];
	uint64_t end = st->start;
	bool by_time = false, cut_short = false;

	for (unsigned i = 0; i < e->active; i++) {
		const struct part *p = part_of(e, i, k);
		by_time |= p->by_time;
		cut_short |= p->by_time || p->cut_short;
		if (p->last_tick > end)
			end = p->last_tick;
	}
	r->partial = (cut_short && st->cut) || r->errors || r->short_ios;
	uint64_t bound = atomic_load(&st->end);
	if (by_time && end < bound)
		end = bound;
	r->elapsed_ns = by_time && !st->cut && end == bound
				? e->job->seg[k].stop.time_ns
				: tick_to_ns(end - st->start, e->clock.mult);
	r->start_ns = e->job_start_ns;
	if (st->start > e->job_start.tick)
		r->start_ns += tick_to_ns(st->start - e->job_start.tick, e->clock.mult);
	r->inflight_avg = end > st->start ? r->inflight_avg / (double)(end - st->start) : 0;
}

/* ---- notes ---- */

static void note(struct result *r, const char *fmt, ...) printf_like(2, 3);
static void note(struct result *r, const char *fmt, ...)
{
	size_t n = strlen(r->note);
	va_list ap;

	if (n && n + 3 < sizeof r->note) {
		strncat(r->note, "; ", sizeof r->note - n - 1);
		n += 2;
	}
	va_start(ap, fmt);
	vsnprintf(r->note + n, sizeof r->note - n, fmt, ap);
	va_end(ap);
}

/* Threads that the kernel made to do our IO, because it could not be started without blocking. */
static unsigned punt_workers(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	for (struct dirent *t; d && (t = readdir(d));) {
		struct buf b = BUF_INIT;
		char path[300];
		snprintf(path, sizeof path, "/proc/self/task/%s/comm", t->d_name);
		if (isdigit((unsigned char)t->d_name[0]) && !buf_read_file(&b, path, 64))
			n += !strncmp(buf_cstr(&b), "iou-wrk", 7);
		buf_release(&b);
	}
	if (d)
		closedir(d);
	return n;
}

#define DEPTH_LEAST_IOS 1000 /* below, filling and emptying the queue is most of it */

/* What was asked for and what the target made of it. */
static void note_depth(struct engine *e, unsigned k, struct result *r)
{
	const struct segment *s = &e->job->seg[k];
	unsigned probes = 0, done = 0, depth = s->oio ? s->oio : s->threads * s->qd;
	uint64_t least = depth * 40ull > DEPTH_LEAST_IOS ? depth * 40ull : DEPTH_LEAST_IOS;

	if (!s->acc || s->rate_iops > 0)
		return;
	for (unsigned i = 0; i < e->active; i++) {
		probes += part_of(e, i, k)->probes;
		done += part_of(e, i, k)->probes_done;
	}
	if (done && done * 10ull >= probes * 9ull)
		note(r, "target runs synchronously");
	if (e->target.no_latency)
		return; /* nor how long anything was in flight */
	if (r->prepared > least && !r->partial && !r->errors && r->inflight_avg < 0.95 * depth)
		note(r, "depth not achieved: %.1f of %u in flight", r->inflight_avg, depth);
}

static void note_overflow(struct result *r)
{
	uint64_t n = 0;

	for (int op = 0; op < IO_OPS; op++)
		n += r->op[op].service ? hist_overflow(r->op[op].service) : 0;
	if (n)
		note(r, "%llu IOs longer than the histogram reaches (78 h)", (unsigned long long)n);
}

static void note_clock(struct engine *e, struct result *r)
{
	double ppm = tick_drift_ppm(&e->clock, e->job_start, tick_sample(&e->clock));

	if (ppm > 50)
		note(r, "TSC off by %.0f ppm, not used from the next cell on", ppm);
	if (r->clock_back)
		note(r, "the clock stepped back: latency of %llu IOs taken as 0",
		     (unsigned long long)r->clock_back);
	e->clock_off |= ppm > 50;
}

static void note_split(const struct engine *e, unsigned k, struct result *r)
{
	const struct access *a = e->job->seg[k].acc;
	uint32_t max = e->target.pass.max_bytes;

	if (a && max && access_max_bytes(a) > max)
		note(r, "IOs above %u KiB sent as several commands", max / 1024);
}

static void fill_note(struct engine *e, unsigned k, struct result *r)
{
	uint64_t requeued = 0, overdue = 0;
	unsigned unregistered = 0, punts = e->job->seg[k].acc ? punt_workers() : 0;
	bool full = false;

	for (unsigned i = 0; i < e->active; i++) {
		const struct part *p = part_of(e, i, k);
		requeued += p->requeued;
		overdue += p->overdue;
		full |= p->seconds_full;
		unregistered += e->worker[i]->memory && !e->worker[i]->ring.fixed_buffers;
	}
	if (punts)
		note(r, "IO punted to kernel workers (%u of them)", punts);
	note_depth(e, k, r);
	note_overflow(r);
	note_split(e, k, r);
	if (unregistered)
		note(r, "buffers not registered (ulimit -l)");
	if (requeued)
		note(r, "%llu IOs sent again after EAGAIN", (unsigned long long)requeued);
	if (overdue)
		note(r, "%llu IOs due but not sent by the end", (unsigned long long)overdue);
	if (full)
		note(r, "series longer than its memory, last interval holds the rest");
	if (e->collector_late)
		note(r, "the collector was late, workers waited");
	note_clock(e, r);
}

static void dump_part(struct engine *e, unsigned k)
{
	for (unsigned i = 0; e->dump && i < e->active; i++) {
		const struct part *p = part_of(e, i, k);
		for (size_t n = 0; n < p->dump_n; n++)
			fprintf(e->dump, "%llu\n", (unsigned long long)p->dump[n]);
	}
	if (e->dump)
		fflush(e->dump);
}

/* An exact segment keeps its position in the budget; back into the test's cursor with it. */
static void seal_cursor(struct engine *e, unsigned k)
{
	struct gen_conf c = { .acc = e->job->seg[k].acc,
			      .range = &e->job->range,
			      .lba_bytes = e->target.lba_bytes,
			      .cursor = e->job->cursor,
			      .n_cursors = e->job->n_cursors };
	struct gen g;
	struct err err = { "" };

	if (gen_init(&g, &c, &err))
		BUG("segment %u: %s", k, err.msg);
	gen_end(&g, &e->seg[k].budget);
}

int seal_segment(struct engine *e, unsigned k)
{
	const struct segment *s = &e->job->seg[k];
	struct result r;

	memset(&r, 0, sizeof r);
	for (int op = 0; op < IO_OPS; op++)
		merge_op(e, k, op, &r);
	merge_streams(e, k, s->acc, &r);
	merge_accounts(e, k, &r);
	fill_times(e, k, &r);
	merge_seconds(e, k, &r);
	fill_cpu(e, &r);
	fill_note(e, k, &r);
	r.temperature_c =
		NAN; /* asking wakes an idle drive: who runs the job knows when it may be */
	BUG_ON(r.prepared != r.op[IO_READ].ios + r.op[IO_WRITE].ios + r.short_ios + r.errors);
	dump_part(e, k);
	if (s->acc && s->acc->exact)
		seal_cursor(e, k);
	for (unsigned i = 0; i < e->active; i++) {
		part_reset(part_of(e, i, k), &e->need);
		e->worker[i]->base_done = atomic_load(&e->worker[i]->pub_done);
	}
	return e->job->sealed(e->job->arg, k, &r);
}

void seal_release(struct engine *e)
{
	for (int op = 0; op < IO_OPS; op++) {
		free(e->hist[op]);
		free(e->response[op]);
	}
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++)
		free(e->stream_hist[i]);
	free(e->second);
}
