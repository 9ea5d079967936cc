/* SPDX-License-Identifier: MIT */
/*
 * A segment: the model is advanced row by row of the series; what the rows have in common is
 * gathered into a few groups of like latency, and the groups fill the histograms. Counts are whole:
 * streams get theirs by largest remainder, rows and groups by rounding a running total, so every
 * sum is the cell's.
 */
#include "workloads/dut_sim_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/rng.h"

#define ROWS_MAX (1u << 17) /* a day and a half of seconds */
#define GROUPS_MAX 8
#define GROUPS_MANY_STREAMS 3 /* of mixes with more than MANY_STREAMS */
#define MANY_STREAMS 4
#define ALIKE 0.04 /* latencies within this belong to one group */
#define SEC_NS 1000000000ull
#define FAIL_AFTER_S 1.0 /* into a segment that fails by its number */

struct row { /* running totals at its end */
	uint64_t index;
	double ios, latency_s;
};

struct group { /* sums over its IOs; of rates: IOs x value */
	double ios, mean_s, busy, slow, wait_s;
	double queue_s[ACCESS_STREAMS_MAX]; /* with slow */
	double late_from_s, late_to_s; /* behind the due times, at its start and end */
};

struct sim_cell {
	/* what runs */
	struct sim_model *m;
	const struct job *job;
	const struct segment *seg;
	struct sim_mix mix;
	double oio, limit_s; /* limit_s INFINITY without a time bound */
	uint64_t limit_ios; /* UINT64_MAX without */
	/* how far it got */
	double t_s, ios, latency_s, backlog, late_max_s;
	bool counted, cut, gone;
	bool failed; /* IOs failed, which ended it */
	double fail_s; /* when they will, by its number; INFINITY never */
	struct row row[ROWS_MAX];
	unsigned n_rows;
	uint64_t stride; /* intervals a row */
	struct group group[GROUPS_MAX + 1];
	unsigned n_groups;
	/* what came of it */
	struct sim_hist stream[ACCESS_STREAMS_MAX], op[IO_OPS], response[IO_OPS];
	struct second second[ROWS_MAX];
};

struct sim_cell *sim_cell_new(void)
{
	struct sim_cell *c = calloc(1, sizeof *c);

	if (!c)
		BUG("out of memory");
	return c;
}

void sim_cell_free(struct sim_cell *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++)
		free(c->stream[i].h);
	for (unsigned op = 0; op < IO_OPS; op++) {
		free(c->op[op].h);
		free(c->response[op].h);
	}
	free(c);
}

/* ---- counts ---- */

/* Splits @n IOs over the streams by largest remainder. */
static void apportion(const struct sim_mix *x, uint64_t n, uint64_t *ret)
{
	double rest[ACCESS_STREAMS_MAX];
	uint64_t left = n;

	for (unsigned i = 0; i < x->n; i++) {
		double want = x->s[i].share * (double)n;

		ret[i] = (uint64_t)fmin(floor(want), (double)left);
		rest[i] = want - (double)ret[i];
		left -= ret[i];
	}
	while (left) {
		unsigned most = 0;

		for (unsigned i = 1; i < x->n; i++)
			if (rest[i] > rest[most])
				most = i;
		ret[most]++;
		rest[most] -= 1;
		left--;
	}
}

static uint64_t bytes_of(const struct access *a, const uint64_t *ios)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < a->n_streams; i++)
		sum += ios[i] * a->stream[i].bytes;
	return sum;
}

/*
 * A FILL covers the range pass by pass, the last IO of a pass shortened: IOs for the first @bytes
 * from LBA 0, and back.
 */
static uint64_t fill_ios(uint64_t bytes, uint64_t range, uint64_t block)
{
	return bytes / range * ((range + block - 1) / block) + (bytes % range + block - 1) / block;
}

static uint64_t fill_bytes(uint64_t ios, uint64_t range, uint64_t block)
{
	uint64_t pass = (range + block - 1) / block, part = ios % pass * block;

	return ios / pass * range + (part < range ? part : range);
}

static bool is_fill(const struct access *a)
{
	return a->exact && a->n_streams == 1;
}

static uint64_t range_bytes(const struct active_range *r)
{
	return r->n_seg ? r->n_seg * r->seg_bytes : r->bytes;
}

static uint64_t fill_start(const struct job *job, const struct stream *s)
{
	return atomic_load(&job->cursor[s->cursor]) % range_bytes(&job->range);
}

/* How many IOs fit into a bound in bytes. */
static uint64_t ios_in(const struct sim_cell *c, uint64_t bytes)
{
	const struct access *a = c->seg->acc;
	uint64_t n, ios[ACCESS_STREAMS_MAX], range = range_bytes(&c->job->range);

	if (is_fill(a)) {
		uint64_t from = fill_start(c->job, &a->stream[0]), block = a->stream[0].bytes;

		return fill_ios(from + bytes, range, block) - fill_ios(from, range, block);
	}
	for (n = (uint64_t)((double)bytes / c->mix.bytes) + 1;; n--) {
		apportion(&c->mix, n, ios);
		if (bytes_of(a, ios) <= bytes)
			return n;
	}
}

static uint64_t bytes_done(const struct sim_cell *c, const uint64_t *ios, uint64_t n)
{
	const struct access *a = c->seg->acc;
	uint64_t range = range_bytes(&c->job->range), from, block, bytes;

	if (!is_fill(a) || !n)
		return bytes_of(a, ios);
	from = fill_start(c->job, &a->stream[0]);
	block = a->stream[0].bytes;
	bytes = fill_bytes(fill_ios(from, range, block) + n, range, block) - from;
	/* the last IO of all is shortened too */
	return c->seg->stop.bytes && bytes > c->seg->stop.bytes ? c->seg->stop.bytes : bytes;
}

/* ---- groups ---- */

static double group_mean(const struct group *g)
{
	return g->mean_s / g->ios;
}

static void group_add(struct group *to, const struct group *g, unsigned n_streams)
{
	if (!to->ios)
		to->late_from_s = g->late_from_s;
	to->late_to_s = g->late_to_s;
	to->ios += g->ios;
	to->mean_s += g->mean_s;
	to->busy += g->busy;
	to->slow += g->slow;
	to->wait_s += g->wait_s;
	for (unsigned i = 0; i < n_streams; i++)
		to->queue_s[i] += g->queue_s[i];
}

static bool alike(const struct group *a, const struct group *b)
{
	return fabs(group_mean(a) / group_mean(b) - 1) < ALIKE &&
	       fabs(a->busy / a->ios - b->busy / b->ios) < ALIKE;
}

/* Joins the two neighbours that differ least. */
static void join_nearest(struct sim_cell *c)
{
	unsigned at = 0;
	double least = INFINITY;

	for (unsigned i = 0; i + 1 < c->n_groups; i++) {
		double d = fabs(log(group_mean(&c->group[i]) / group_mean(&c->group[i + 1])));

		if (d < least) {
			least = d;
			at = i;
		}
	}
	group_add(&c->group[at], &c->group[at + 1], c->mix.n);
	c->n_groups--;
	memmove(&c->group[at + 1], &c->group[at + 2], (c->n_groups - at - 1) * sizeof c->group[0]);
}

static void gather(struct sim_cell *c, const struct sim_rate *r, double ios, double late_from_s)
{
	unsigned most = c->mix.n > MANY_STREAMS ? GROUPS_MANY_STREAMS : GROUPS_MAX;
	struct group g = { .ios = ios, .mean_s = ios * r->mean_s, .busy = ios * r->busy };

	g.slow = ios * r->slow;
	g.wait_s = ios * r->wait_s;
	for (unsigned i = 0; i < c->mix.n; i++)
		g.queue_s[i] = ios * r->slow * r->queue_s[i];
	g.late_from_s = late_from_s;
	g.late_to_s = c->seg->rate_iops > 0 ? c->backlog / c->seg->rate_iops : 0;
	if (c->n_groups && alike(&c->group[c->n_groups - 1], &g)) {
		group_add(&c->group[c->n_groups - 1], &g, c->mix.n);
		return;
	}
	c->group[c->n_groups++] = g;
	if (c->n_groups > most)
		join_nearest(c);
}

/* ---- time ---- */

static bool over(const struct sim_cell *c)
{
	return c->counted || c->failed || c->gone || c->t_s >= c->limit_s;
}

/* One step of the model, no longer than until @end_s. */
static void step(struct sim_cell *c, double noise, double end_s)
{
	double due = c->seg->rate_iops, late_s = due > 0 ? c->backlog / due : 0, dt, done;
	/* a backlog is worked off at full speed */
	struct sim_load load = { c->oio, c->backlog > 0 ? INFINITY : due, noise };
	struct sim_rate r;

	sim_rate(c->m, &c->mix, &load, &r);
	dt = fmin(sim_horizon(c->m, &c->mix, &r), end_s - c->t_s);
	if (c->t_s < c->fail_s)
		dt = fmin(dt, c->fail_s - c->t_s);
	if (c->backlog > 0 && r.iops > due)
		dt = fmin(dt, fmax(c->backlog / (r.iops - due), 1e-6));
	done = r.iops * dt;
	if (c->limit_ios != UINT64_MAX && c->ios + done >= (double)c->limit_ios) {
		done = (double)c->limit_ios - c->ios;
		dt = done / r.iops;
		c->counted = true;
	}
	sim_advance(c->m, &c->mix, &r, dt);
	c->t_s = !c->counted && c->t_s + dt > end_s - 1e-9 ? end_s : c->t_s + dt;
	c->ios += done;
	c->latency_s += done * r.mean_s;
	if (due > 0)
		c->backlog = fmax(c->backlog + due * dt - done, 0);
	if (c->backlog < 1e-6)
		c->backlog = 0;
	if (due > 0)
		c->late_max_s = fmax(c->late_max_s, fmax(c->backlog / due, r.wait_s));
	if (done > 0)
		gather(c, &r, done, late_s);
	c->failed = c->t_s >= c->fail_s || sim_fails_by_bytes(c->m);
	c->gone = sim_gone(c->m);
}

/* The series is full: two rows become one. */
static void halve_rows(struct sim_cell *c)
{
	for (unsigned i = 0; i < ROWS_MAX / 2; i++) {
		uint64_t index = c->row[2 * i].index;

		c->row[i] = c->row[2 * i + 1];
		c->row[i].index = index;
	}
	c->n_rows = ROWS_MAX / 2;
	c->stride *= 2;
}

static void run_rows(struct sim_cell *c)
{
	double interval_s = (double)(c->job->interval_ns ? c->job->interval_ns : SEC_NS) / 1e9;
	uint64_t index = 0;

	while (!over(c)) {
		double noise = sim_noise(c->m, index), end_s;

		if (c->job->stop && *c->job->stop) {
			c->cut = true;
			return;
		}
		if (c->n_rows == ROWS_MAX)
			halve_rows(c);
		end_s = fmin((double)(index + c->stride) * interval_s, c->limit_s);
		while (!over(c) && c->t_s < end_s)
			step(c, noise, end_s);
		c->row[c->n_rows++] = (struct row){ index, c->ios, c->latency_s };
		index += c->stride;
	}
}

/* ---- result ---- */

static struct sim_latency latency_of(const struct sim_cell *c, const struct group *g, unsigned i)
{
	const struct sim_stream *s = &c->mix.s[i];
	double slow = g->slow / g->ios;

	return (struct sim_latency){ .factor = s->factor,
				     .shift_s = s->shift_s,
				     .queue_s = g->queue_s[i] / g->ios / slow,
				     .slow = slow };
}

/* The running total of @n over the groups up to @upto (IOs), rounded. */
static uint64_t share_of(uint64_t n, double upto, double all)
{
	double want = (double)n * (upto / all);

	return upto >= all ? n : (uint64_t)fmin(want + 0.5, (double)n);
}

static void fill_group(struct sim_cell *c, const struct group *g, const uint64_t *n)
{
	struct sim_curve curve[IO_OPS];
	bool have[IO_OPS] = { false };

	for (unsigned i = 0; i < c->mix.n; i++) {
		struct sim_latency l = latency_of(c, g, i);
		unsigned op = c->mix.s[i].op;

		if (!n[i])
			continue;
		if (!have[op])
			sim_shape_curve(&c->m->shape[op], &c->m->grid, g->busy / g->ios,
					&curve[op]);
		have[op] = true;
		l.base = &curve[op];
		l.last = sim_luck(c->m, (unsigned)(g - c->group) * ACCESS_STREAMS_MAX + i);
		sim_hist_fill(&c->stream[i], &c->m->grid, &l, n[i]);
		if (!(c->seg->rate_iops > 0))
			continue;
		l.queue_s += g->wait_s / g->ios / l.slow;
		l.late_s = fmin(g->late_from_s, g->late_to_s);
		l.spread_s = fabs(g->late_to_s - g->late_from_s);
		sim_hist_fill(&c->response[op], &c->m->grid, &l, n[i]);
	}
}

static void fill_hists(struct sim_cell *c, const uint64_t *ios)
{
	uint64_t done[ACCESS_STREAMS_MAX] = { 0 }, n[ACCESS_STREAMS_MAX];
	double upto = 0, all = 0;

	for (unsigned i = 0; i < c->mix.n; i++)
		sim_hist_reset(&c->stream[i]);
	for (unsigned op = 0; op < IO_OPS; op++) {
		sim_hist_reset(&c->op[op]);
		sim_hist_reset(&c->response[op]);
	}
	for (unsigned k = 0; k < c->n_groups; k++)
		all += c->group[k].ios;
	for (unsigned k = 0; k < c->n_groups; k++) {
		upto += c->group[k].ios;
		for (unsigned i = 0; i < c->mix.n; i++) {
			n[i] = share_of(ios[i], k + 1 == c->n_groups ? all : upto, all) - done[i];
			done[i] += n[i];
		}
		fill_group(c, &c->group[k], n);
	}
	for (unsigned i = 0; i < c->mix.n; i++) {
		sim_hist_seal(&c->stream[i]);
		sim_hist_merge(&c->op[c->mix.s[i].op], &c->stream[i]);
	}
	for (unsigned op = 0; op < IO_OPS; op++)
		sim_hist_seal(&c->response[op]);
}

static void tally(struct sim_cell *c, const uint64_t *ios, uint64_t bytes, struct result *ret)
{
	const struct access *a = c->seg->acc;

	for (unsigned i = 0; i < c->mix.n; i++) {
		const struct hist *h = c->stream[i].h;
		struct tally *t = &ret->op[c->mix.s[i].op];
		struct stream_tally *s = &ret->stream[i];

		s->ios = ios[i];
		s->bytes = is_fill(a) ? bytes : ios[i] * a->stream[i].bytes;
		s->max_ns = h->max;
		s->sum_ns = h->sum;
		s->lat = ios[i] ? h : NULL;
		t->ios += s->ios;
		t->bytes += s->bytes;
		ret->prepared += s->ios;
	}
	for (unsigned op = 0; op < IO_OPS; op++) {
		if (!ret->op[op].ios)
			continue;
		ret->op[op].service = c->op[op].h;
		if (c->seg->rate_iops > 0)
			ret->op[op].response = c->response[op].h;
	}
}

/* The slowest IOs fall into the rows at random, from the slowest on, until each row has its own. */
static void row_maxima(struct sim_cell *c, unsigned n_rows)
{
	unsigned need = n_rows, budget = 8 * n_rows + 64;
	const struct sim_hist *rd = &c->op[IO_READ], *wr = &c->op[IO_WRITE];
	unsigned i = rd->hi > wr->hi ? rd->hi : wr->hi;
	uint64_t v = rd->h->max > wr->h->max ? rd->h->max : wr->h->max, most = v;
	struct rng rng;

	rng_init(&rng, rng_seed(c->m->seed, 3, c->m->st.cells, 0));
	for (; need && budget; i--) {
		uint64_t k = rd->h->count[i] + wr->h->count[i],
			 mid = (hist_low(i) + hist_high(i)) / 2;

		for (; k && need && budget; k--, budget--) {
			struct second *s = &c->second[rng_below(&rng, n_rows)];

			need -= !s->max_ns;
			if (!s->max_ns)
				s->max_ns = v;
			v = mid < most ? mid : most;
		}
		if (!i)
			break;
	}
	for (unsigned r = 0; r < n_rows; r++) {
		struct second *s = &c->second[r];
		uint64_t mean = (s->sum_ns + s->ios - 1) / s->ios;

		if (!s->max_ns)
			s->max_ns = v;
		if (s->max_ns < mean)
			s->max_ns = mean < most ? mean : most;
	}
}

static void series(struct sim_cell *c, struct result *ret)
{
	uint64_t n = ret->prepared, bytes = ret->op[0].bytes + ret->op[1].bytes;
	unsigned __int128 sum = c->op[0].h->sum + c->op[1].h->sum, sum_done = 0;
	uint64_t ios_done = 0, bytes_upto = 0;

	for (unsigned i = 0; i < c->n_rows; i++) {
		bool last = i + 1 == c->n_rows;
		uint64_t upto = last ? n : (uint64_t)fmin(c->row[i].ios, (double)n);
		uint64_t b = (uint64_t)((unsigned __int128)bytes * upto / (n ? n : 1));
		unsigned __int128 s = (unsigned __int128)((long double)sum *
							  (c->row[i].latency_s / c->latency_s));

		if (last || s > sum)
			s = sum;
		if (upto == ios_done)
			continue;
		c->second[ret->n_seconds++] = (struct second){ .index = (uint32_t)c->row[i].index,
							       .ios = upto - ios_done,
							       .bytes = b - bytes_upto,
							       .sum_ns = (uint64_t)(s - sum_done) };
		ios_done = upto;
		bytes_upto = b;
		sum_done = s;
	}
	if (ret->n_seconds) /* what rounding left of rows that had no whole IO */
		c->second[ret->n_seconds - 1].sum_ns += (uint64_t)(sum - sum_done);
	if (n)
		row_maxima(c, ret->n_seconds);
}

static void host_side(const struct sim_cell *c, struct result *ret)
{
	const struct sim_conf *conf = &c->m->conf;
	unsigned __int128 sum = c->op[0].h->sum + c->op[1].h->sum;
	double s = (double)ret->elapsed_ns / 1e9;
	double iops = s > 0 ? (double)ret->prepared / s : 0;

	ret->inflight_avg = s > 0 ? (double)sum / (double)ret->elapsed_ns : 0;
	ret->inflight_max = (unsigned)c->oio;
	if (c->seg->rate_iops > 0 && ret->late_max_ns == 0)
		ret->inflight_max = (unsigned)fmin(c->oio, ceil(2 * ret->inflight_avg));
	if (ret->inflight_max > ret->prepared)
		ret->inflight_max = (unsigned)ret->prepared;
	ret->threads_seen = ret->prepared < c->seg->threads ? (unsigned)ret->prepared
							    : c->seg->threads;
	/* one CPU busy for cpu_us an IO; 30 % more in user space */
	ret->cpu_sys_pct = fmin(conf->cpu_idle_pct + iops * conf->cpu_us / 1e4 / conf->cpus, 100);
	ret->cpu_total_pct = fmin(ret->cpu_sys_pct * 1.3, 100);
}

/* Positions go on as the real engine's would: whole blocks, starting anew before a short tail. */
static void move_cursors(const struct sim_cell *c, const struct result *r)
{
	const struct access *a = c->seg->acc;
	unsigned regions = a->regions ? a->regions : 1;
	uint64_t size = range_bytes(&c->job->range) / regions, unit = access_max_bytes(a);

	if (regions > 1 && size >= unit)
		size -= size % unit;
	for (unsigned i = 0; i < a->n_streams; i++) {
		const struct stream *s = &a->stream[i];
		uint64_t at, wrap = a->exact ? size : size - size % s->bytes;

		if (s->order != IO_SEQ || !r->stream[i].ios)
			continue;
		at = atomic_load(&c->job->cursor[s->cursor]);
		if (!a->exact)
			at = (at + s->bytes - 1) / s->bytes * s->bytes;
		atomic_store(&c->job->cursor[s->cursor], (at + r->stream[i].bytes) % wrap);
	}
}

static void finish(struct sim_cell *c, struct result *ret)
{
	uint64_t ios[ACCESS_STREAMS_MAX], n = (uint64_t)(c->ios + 1e-6);

	if (c->counted)
		n = c->limit_ios;
	apportion(&c->mix, n, ios);
	fill_hists(c, ios);
	tally(c, ios, bytes_done(c, ios, n), ret);
	series(c, ret);
	ret->late_max_ns = c->late_max_s * 1e9;
	host_side(c, ret);
	move_cursors(c, ret);
	if (!c->failed)
		return;
	ret->errors = ret->errnos[0].n = (uint64_t)c->m->conf.ev.error_ios;
	ret->prepared += ret->errors;
	ret->errnos[0].err = EIO;
	c->m->media_errors += c->m->conf.ev.error_ios;
	c->m->st.failed = true;
}

static void begin(struct sim_cell *c, struct sim_model *m, const struct job *job,
		  const struct segment *seg)
{
	c->m = m;
	c->job = job;
	c->seg = seg;
	c->oio = seg->oio ? seg->oio : (double)seg->threads * seg->qd;
	c->limit_s = seg->stop.time_ns ? (double)seg->stop.time_ns / 1e9 : INFINITY;
	c->limit_ios = seg->stop.ios ? seg->stop.ios : UINT64_MAX;
	c->t_s = c->ios = c->latency_s = c->backlog = c->late_max_s = 0;
	c->cut = c->counted = false;
	c->gone = m->gone;
	c->failed = false;
	c->fail_s = INFINITY;
	c->n_rows = c->n_groups = 0;
	c->stride = 1;
	if (!seg->acc)
		return;
	if (sim_fails_by_number(m))
		c->fail_s = fmin(FAIL_AFTER_S, c->limit_s / 2);
	sim_mix_init(&c->mix, m, seg->acc, &job->range);
	if (seg->stop.bytes) {
		uint64_t n = ios_in(c, seg->stop.bytes);

		c->limit_ios = n < c->limit_ios ? n : c->limit_ios;
	}
	c->counted = c->limit_ios == 0;
}

/* To the nanosecond where a time bound ended it. */
static uint64_t elapsed_ns(const struct sim_cell *c)
{
	if (c->counted || c->cut || c->failed || c->gone)
		return (uint64_t)(c->t_s * 1e9 + 0.5);
	return c->seg->stop.time_ns;
}

int sim_cell_run(struct sim_cell *c, struct sim_model *m, const struct job *job,
		 const struct segment *seg, struct result *ret)
{
	memset(ret, 0, sizeof *ret);
	begin(c, m, job, seg);
	ret->cpu_sys_pct = ret->cpu_total_pct = m->conf.cpu_idle_pct;
	if (seg->acc)
		run_rows(c);
	else
		sim_idle(m, c->limit_s);
	ret->elapsed_ns = elapsed_ns(c);
	ret->second = c->second;
	if (seg->acc)
		finish(c, ret);
	ret->partial = c->cut || c->failed || c->gone;
	ret->temperature_c = m->st.temperature_c;
	m->st.cells++;
	return c->gone ? -ENODEV : c->failed ? -EIO : c->cut ? -EINTR : 0;
}
