/* SPDX-License-Identifier: MIT */
/*
 * The drive as a handful of numbers. Each IO costs a share of the drive's time: of its controller
 * (1 / iops), its interface (bytes / mb_s) or its flash (bytes x write amplification / nand_mb_s),
 * whichever is most. The reciprocal of the mean cost is the ceiling; below it, a closed loop runs
 * at outstanding IOs / latency.
 */
#include "workloads/dut_sim_model.h"

#include <math.h>
#include <string.h>

#include "pts/base/rng.h"

#define MB 1e6
#define SMALL 4096.0 /* bytes of the IOs that latencies are given for */
#define SLC_REUSE 0.9 /* a full SLC cache is used again once drained below this share of it */
#define THROTTLE_BACK_C 3.0 /* degrees below throttle_c where full speed comes back */
#define FAR 1e-3 /* a state closer than this to where it tends is there */
#define STEP_FILLS (1 / 64.0) /* of the capacity, written in one step while a state moves */
#define CLIFF_STEP (1 / 8.0) /* of cliff_fills, while garbage collection sets in */
#define STEP_MIN_S 1e-6

void sim_model_purge(struct sim_model *m)
{
	m->st = (struct sim_state){ .free = m->physical, .temperature_c = m->conf.idle_c };
}

void sim_model_init(struct sim_model *m)
{
	m->capacity = (double)m->conf.capacity_bytes;
	m->physical = m->capacity * (1 + m->conf.op_pct / 100);
	m->cache_on = m->conf.cache_volatile;
	m->wa_at[0] = -1;
	sim_grid_init(&m->grid, &m->conf);
	for (unsigned op = 0; op < IO_OPS; op++)
		sim_shape_init(&m->shape[op], &m->grid, &m->conf.dir[op]);
	sim_model_purge(m);
}

/* ---- an access as the model sees it ---- */

static void mix_stream(struct sim_stream *s, const struct sim_model *m, const struct stream *from)
{
	const struct sim_conf *c = &m->conf;
	double unit = (double)c->map_unit_bytes, bytes = from->bytes,
	       units = ceil(bytes / unit) * unit;
	bool rnd = from->order == IO_RND;

	*s = (struct sim_stream){
		.bytes = bytes, .nand_bytes = bytes, .factor = 1, .op = from->op
	};
	s->shift_s = fmax(bytes - SMALL, 0) / (c->dir[from->op].xfer_mb_s * MB);
	if (from->op == IO_READ) {
		s->factor = rnd ? 1 : c->seq_x; /* read ahead */
		return;
	}
	if (c->cache_volatile && !m->cache_on)
		s->factor = c->cache_off_x;
	if (rnd && units > bytes) { /* read, modify, write; sequential ones are gathered first */
		s->nand_bytes = units;
		s->extra_s = 1 / c->dir[IO_READ].iops;
		s->shift_s += c->rmw_us * 1e-6;
	}
}

/* Zones, and what is outside of them; IOs that belong to no zone go anywhere. */
static void mix_zones(struct sim_mix *x, const struct access *a)
{
	double rest = 1, outside = 1;

	if (!a->n_zones)
		return;
	for (unsigned i = 0; i < a->n_zones; i++) {
		rest -= a->zone[i].share;
		x->zone_s[i] = a->zone[i].to - a->zone[i].from;
		outside -= x->zone_s[i];
	}
	rest = fmax(rest, 0);
	for (unsigned i = 0; i < a->n_zones; i++)
		x->zone_w[i] = a->zone[i].share + rest * x->zone_s[i];
	x->n_zones = a->n_zones;
	if (outside > 1e-9) {
		x->zone_s[x->n_zones] = outside;
		x->zone_w[x->n_zones++] = rest * outside;
	}
	for (unsigned i = 0; i < x->n_zones; i++)
		x->zone_op_sum += sqrt(x->zone_w[i] * x->zone_s[i]);
}

void sim_mix_init(struct sim_mix *x, const struct sim_model *m, const struct access *a,
		  const struct active_range *r)
{
	double sum = 0, rnd_bytes = 0;

	memset(x, 0, sizeof *x);
	x->n = a->n_streams;
	x->range = r->n_seg ? (double)r->n_seg * (double)r->seg_bytes : (double)r->bytes;
	for (unsigned i = 0; i < x->n; i++)
		sum += a->stream[i].share;
	for (unsigned i = 0; i < x->n; i++) {
		struct sim_stream *s = &x->s[i];

		mix_stream(s, m, &a->stream[i]);
		s->share = a->stream[i].share / sum;
		x->share[s->op] += s->share;
		x->bytes += s->share * s->bytes;
		if (s->op != IO_WRITE)
			continue;
		x->write_bytes += s->share * s->bytes;
		/* IOs as large as an erase unit leave no holes */
		if (a->stream[i].order == IO_RND)
			rnd_bytes += s->share * s->bytes /
				     (1 + s->bytes / (double)m->conf.erase_unit_bytes);
	}
	x->rnd = x->write_bytes > 0 ? rnd_bytes / x->write_bytes : 0;
	mix_zones(x, a);
}

/* ---- write amplification ---- */

/*
 * Uniform random writes, blocks reclaimed oldest first: a block's share u of still valid data when
 * its turn comes solves u = exp(-(1 - u) / rho), and each host write costs 1 / (1 - u). Newton from
 * below: the function is concave.
 */
double sim_wa_uniform(double rho)
{
	double u = 0;

	if (rho < 1e-3)
		return 1;
	for (unsigned i = 0; i < 60; i++) {
		double e = exp(-(1 - u) / rho), step = (e - u) / (1 - e / rho);

		u += step;
		if (step < 1e-14)
			break;
	}
	return 1 / (1 - u);
}

/*
 * With hot and cold zones kept apart, each gets spare space by the square root of its writes times
 * its size.
 */
static double wa_zoned(const struct sim_model *m, const struct sim_mix *x)
{
	double spare = m->physical - m->st.valid, wa = 0;

	for (unsigned i = 0; i < x->n_zones; i++) {
		double data = x->zone_s[i] * m->st.valid;
		double own = spare * sqrt(x->zone_w[i] * x->zone_s[i]) / x->zone_op_sum;

		if (x->zone_w[i] > 0)
			wa += x->zone_w[i] * sim_wa_uniform(data / (data + own));
	}
	return wa;
}

static double wa_random(struct sim_model *m, const struct sim_mix *x)
{
	double rho = m->st.valid / m->physical;

	if (m->conf.wa_steady)
		return m->conf.wa_steady;
	if (x->n_zones)
		return wa_zoned(m, x);
	if (m->wa_at[0] != rho) {
		m->wa_at[1] = sim_wa_uniform(rho);
		m->wa_at[0] = rho;
	}
	return m->wa_at[1];
}

static double wa_now(struct sim_model *m, const struct sim_mix *x)
{
	if (m->st.free > 0 || m->st.frag <= 0)
		return 1;
	return 1 + (wa_random(m, x) - 1) * m->st.frag * m->st.gc;
}

/* ---- rates ---- */

static double slc_size(const struct sim_model *m)
{
	double empty = fmax(1 - m->st.valid / m->capacity, 0);

	return m->capacity * (m->conf.slc_static_pct + m->conf.slc_dynamic_pct * empty) / 100;
}

static bool slc_in_use(const struct sim_model *m)
{
	return !m->st.slc_full && m->st.slc < slc_size(m);
}

/* Seconds that @bytes take of the interface. */
static double link_cost(const struct sim_model *m, enum io_op op, double bytes)
{
	return fmax(bytes / (m->conf.dir[op].mb_s * MB), bytes / sim_link_bytes_s(m));
}

static double read_cost(const struct sim_model *m, const struct sim_stream *s)
{
	return fmax(1 / m->conf.dir[IO_READ].iops, link_cost(m, IO_READ, s->bytes));
}

/* Seconds of flash a byte that the host writes. */
static double flash_s_per_byte(struct sim_model *m, const struct sim_mix *x)
{
	if (slc_in_use(m))
		return 1 / (m->conf.slc_mb_s * MB);
	return wa_now(m, x) / (m->conf.nand_mb_s * MB);
}

static double write_cost(const struct sim_model *m, const struct sim_stream *s, double flash)
{
	double link = link_cost(m, IO_WRITE, s->bytes);

	return fmax(fmax(1 / m->conf.dir[IO_WRITE].iops, link), s->nand_bytes * flash) + s->extra_s;
}

/*
 * Throughput over its ceiling at @u = outstanding IOs over those that would just fill the drive
 * without a queue: u while the drive is mostly idle, 1 from full_x on, so that both ends are exact.
 * Between them the slope of log over log falls from 1 to 0 by a power, which makes both the curve
 * and its slope continuous, and the curve concave.
 */
static double knee(const struct sim_conf *c, double u)
{
	double from = 1 - c->knee, span, left;

	if (u <= from)
		return u;
	if (u >= c->full_x || from >= 1)
		return 1;
	span = log(c->full_x / from);
	left = log(c->full_x / u) / span;
	return pow(from, pow(left, span / -log(from)));
}

double sim_speed(const struct sim_model *m, double noise)
{
	const struct sim_conf *c = &m->conf;
	double drift = pow(1 + c->drift_pct_per_hour / 100, m->st.age_s / 3600);
	double swing = 1 + c->swing_pct / 100 * sin(2 * M_PI * m->st.age_s / c->swing_s);

	return noise * drift * swing * sim_throttle_x(m);
}

struct costs { /* of drive time, seconds an IO */
	double s[ACCESS_STREAMS_MAX];
	double op[IO_OPS]; /* share of the IOs x cost */
	double mean; /* with what reads and writes do to one another */
};

static void get_costs(struct sim_model *m, const struct sim_mix *x, struct costs *c)
{
	double flash = x->share[IO_WRITE] > 0 ? flash_s_per_byte(m, x) : 0, sum;

	c->op[IO_READ] = c->op[IO_WRITE] = 0;
	for (unsigned i = 0; i < x->n; i++) {
		const struct sim_stream *s = &x->s[i];

		c->s[i] = s->op == IO_READ ? read_cost(m, s) : write_cost(m, s, flash);
		c->op[s->op] += s->share * c->s[i];
	}
	sum = c->op[IO_READ] + c->op[IO_WRITE];
	c->mean = sum * (1 + m->conf.interference_pct / 100 * 4 * c->op[IO_READ] / sum *
				     c->op[IO_WRITE] / sum);
}

/* Mean latency of the mix without a queue, seconds, when writes take @busy of the drive's time. */
static double base_mean(const struct sim_model *m, const struct sim_mix *x, double busy)
{
	double mean = 0, shape[IO_OPS];

	for (unsigned op = 0; op < IO_OPS; op++)
		shape[op] = x->share[op] > 0 ? sim_shape_mean(&m->shape[op], busy) : 0;
	for (unsigned i = 0; i < x->n; i++) {
		const struct sim_stream *s = &x->s[i];

		mean += s->share * (s->factor * shape[s->op] + s->shift_s);
	}
	return mean;
}

/* Open loop: waiting inside the drive by its utilisation, and before it for a free slot. */
static void open_loop(struct sim_rate *r, const struct sim_load *load, double base, double cost)
{
	double rho = r->iops / r->max_iops, most = load->oio / r->iops - base;

	r->mean_s = base + fmin(cost * r->util / (2 * fmax(1 - r->util, 1e-9)), fmax(most, 0));
	/* Sakasegawa's approximation of M/M/c with c = outstanding IOs */
	r->wait_s = r->mean_s * pow(rho, sqrt(2 * (load->oio + 1)) - 1) /
		    (load->oio * fmax(1 - rho, 1e-9));
}

void sim_rate(struct sim_model *m, const struct sim_mix *x, const struct sim_load *load,
	      struct sim_rate *r)
{
	double factor = sim_speed(m, load->noise), base, busy, due = load->due_iops / factor;
	struct costs c;

	get_costs(m, x, &c);
	/*
	 * how busy writes keep the drive hangs on its rate, and that on latency: one step from the
	 * quiet drive suffices
	 */
	busy = knee(&m->conf, load->oio * c.mean / base_mean(m, x, 0));
	if (due > 0)
		busy = fmin(busy, due * c.mean);
	busy *= c.op[IO_WRITE] / (c.op[IO_READ] + c.op[IO_WRITE]);
	base = base_mean(m, x, busy);
	r->busy = busy;
	r->util = knee(&m->conf, load->oio * c.mean / base);
	r->max_iops = r->iops = r->util / c.mean;
	r->mean_s = load->oio / r->iops;
	r->wait_s = 0;
	if (due > 0 && due < r->max_iops) {
		r->iops = due;
		r->util = due * c.mean;
		open_loop(r, load, base, c.mean);
	}
	for (unsigned i = 0; i < x->n; i++)
		r->queue_s[i] = fmax(r->mean_s - base, 0) * c.s[i] /
				(c.op[IO_READ] + c.op[IO_WRITE]);
	r->nand_x = x->share[IO_WRITE] > 0 && !slc_in_use(m) ? wa_now(m, x) : 1;
	r->slow = 1 / factor;
	r->max_iops *= factor;
	r->iops *= factor;
	r->mean_s *= r->slow;
	r->wait_s *= r->slow;
}

/* ---- state ---- */

/* Bytes a second that the SLC cache is emptied by: the less, the more the host does; then none. */
static double drain_rate(const struct sim_model *m, double util)
{
	double quiet = fmax(1 - 100 * util / m->conf.slc_drain_load_pct, 0);

	return m->st.slc > 0 ? m->conf.slc_drain_mb_s * MB * quiet : 0;
}

static double sooner(double a, double b)
{
	return b > 0 && b < a ? b : a;
}

double sim_horizon(const struct sim_model *m, const struct sim_mix *x, const struct sim_rate *r)
{
	const struct sim_state *s = &m->st;
	double w = r->iops * x->write_bytes, size = slc_size(m);
	double dt = sim_event_in(m, r->iops * x->bytes), fill = w - drain_rate(m, r->util);

	if (w <= 0)
		return fmax(dt, STEP_MIN_S);
	if (s->free > 0)
		dt = sooner(dt, s->free / w);
	if (slc_in_use(m) && fill > 0)
		dt = sooner(dt, (size - s->slc) / fill);
	if (s->slc_full && fill < 0)
		dt = sooner(dt, (s->slc - SLC_REUSE * size) / -fill);
	if (fabs(x->rnd - s->frag) > FAR || x->range - s->valid > FAR * x->range)
		dt = sooner(dt, STEP_FILLS * m->capacity / w);
	if (s->free <= 0 && s->gc < 1 - FAR)
		dt = sooner(dt, CLIFF_STEP * m->conf.cliff_fills * m->capacity / w);
	return fmax(dt, STEP_MIN_S);
}

static void heat(struct sim_model *m, double util, double dt)
{
	const struct sim_conf *c = &m->conf;
	struct sim_state *s = &m->st;
	double work = util * sim_throttle_x(m); /* a slower drive stays cooler */
	double target = c->idle_c + (c->full_c - c->idle_c) * work;

	s->temperature_c += (target - s->temperature_c) * -expm1(-dt / c->rise_s);
	if (!c->throttle_c)
		return;
	if (s->temperature_c >= c->throttle_c)
		s->throttled = true;
	else if (s->temperature_c < c->throttle_c - THROTTLE_BACK_C)
		s->throttled = false;
}

/* Writes @bytes: what becomes valid, and how scattered the drive is afterwards. */
static void lay_down(struct sim_model *m, const struct sim_mix *x, double bytes)
{
	struct sim_state *s = &m->st;
	double room = x->range - s->valid, rnd = bytes * x->rnd, seq = bytes - rnd;
	double fills = x->rnd > s->frag ? m->conf.transition_fills : m->conf.clean_fills;

	if (room > 0)
		s->valid += fmin(room * -expm1(-rnd * m->conf.cover_x / x->range) + seq, room);
	s->frag += (x->rnd - s->frag) * -expm1(-bytes / m->capacity / fills);
	s->written += bytes;
}

/* How far garbage collection is after @bytes more: the first blocks to be reclaimed are the emptiest. */
static double ripen(const struct sim_model *m, double bytes)
{
	double left = 1 - m->st.gc, over = m->conf.cliff_fills * m->capacity;

	return over > 0 ? 1 - left * exp(-bytes / over) : 1;
}

static void use_space(struct sim_model *m, double bytes, double util, double dt)
{
	struct sim_state *s = &m->st;
	double size = slc_size(m);

	if (s->free <= 0)
		s->gc = ripen(m, bytes);
	s->free -= bytes;
	if (s->free < m->capacity * 1e-12)
		s->free = 0;
	if (slc_in_use(m) || s->slc > 0)
		s->slc += (slc_in_use(m) ? bytes : 0) - drain_rate(m, util) * dt;
	s->slc = fmin(fmax(s->slc, 0), size);
	if (size > 0 && s->slc >= size * (1 - 1e-9))
		s->slc_full = true;
	else if (s->slc <= size * SLC_REUSE)
		s->slc_full = false;
}

void sim_advance(struct sim_model *m, const struct sim_mix *x, const struct sim_rate *r, double dt)
{
	double bytes = r->iops * x->write_bytes * dt;

	m->throttle_seen |= sim_throttled(m);
	use_space(m, bytes, r->util, dt);
	if (bytes > 0)
		lay_down(m, x, bytes);
	m->host_written += bytes;
	m->nand_written += bytes * r->nand_x;
	m->st.moved += r->iops * x->bytes * dt;
	heat(m, r->util, dt);
	m->st.age_s += dt;
}

/*
 * Garbage is collected ahead of need only while the host is quiet: clean flash up to a pool's
 * worth.
 */
static void reclaim(struct sim_model *m, double dt)
{
	double room = m->physical - m->st.valid, pool = m->capacity * m->conf.pool_pct / 100;

	pool = fmin(pool, room);
	if (m->st.free < pool)
		m->st.free = fmin(m->st.free + m->conf.idle_mb_s * MB * dt, pool);
}

void sim_idle(struct sim_model *m, double dt)
{
	use_space(m, 0, 0, dt);
	reclaim(m, dt);
	heat(m, 0, dt);
	m->st.age_s += dt;
}

/* ---- noise ---- */

/* Near enough normal, deviation 1, never beyond 3.5. */
static double bell(uint64_t seed)
{
	struct rng r;
	double sum = -2;

	rng_init(&r, seed);
	for (unsigned i = 0; i < 4; i++)
		sum += rng_unit(&r);
	return sum * sqrt(3);
}

double sim_noise(const struct sim_model *m, uint64_t row)
{
	double pct = 0;

	if (m->conf.cell_pct)
		pct += m->conf.cell_pct * bell(rng_seed(m->seed, 1, m->st.cells, 0));
	if (m->conf.second_pct)
		pct += m->conf.second_pct * bell(rng_seed(m->seed, 2, m->st.cells, row));
	return fmax(1 + pct / 100, 0.02);
}

double sim_luck(const struct sim_model *m, unsigned part)
{
	struct rng r;

	if (!m->conf.cell_pct)
		return 0.5;
	rng_init(&r, rng_seed(m->seed, 4, m->st.cells, part));
	return 1 - rng_unit(&r);
}
