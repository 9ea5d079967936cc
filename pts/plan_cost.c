/* SPDX-License-Identifier: MIT */
/* What a plan costs in time and written bytes, at the least and at the most (spec 15). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/steady.h"
#include "pts/base/units.h"
#include "pts/plan_ctx.h"
#include "workloads/dut.h"

#define ROUNDS_UNKNOWN 25 /* of a loop whose end only a rate could tell */

struct side {
	double ns, bytes, cells;
};

struct cost {
	struct side min, max;
};

/* ---- speeds ---- */

#define SATA_MOST 550e6 /* bytes/s: 6 Gb/s less its coding and protocol */
#define OTHER_MOST 500e6
#define SLOW_FILL 500e6
#define SMALL_IO 4096.0 /* with IOs of this size a drive may use its whole link */

/* "16.0 GT/s x4" to bytes/s; 0. Coding: up to 5 GT/s 8 of 10 bits, then 128 of 130. */
static double pcie_most(const struct dut_info *d)
{
	const char *width = strstr(d->link, " GT/s x");
	char text[32];
	uint64_t lanes;
	double gt;

	if (strncmp(d->interface, "NVMe", 4) || !width)
		return 0;
	snprintf(text, sizeof text, "%.*s", (int)(width - d->link), d->link);
	if (parse_number(text, &gt) || parse_uint(width + 7, 1, 32, &lanes))
		return 0;
	return gt * 1e9 / 8 * (double)lanes * (gt > 5 ? 128.0 / 130 : 0.8);
}

void plan_speed_of(const struct dut_info *d, struct plan_speed *ret)
{
	double most = pcie_most(d);

	*ret = (struct plan_speed){ .slow_fill_bytes_per_s = SLOW_FILL };
	if (d->most_write_bytes_per_s > 0) {
		ret->slow_fill_bytes_per_s = ret->write_bytes_per_s = d->most_write_bytes_per_s;
		ret->write_iops = d->most_write_iops;
		ret->read_iops = d->most_read_iops;
		snprintf(ret->basis, sizeof ret->basis, "the model of the simulated drive");
		return;
	}
	if (most > 0) {
		snprintf(ret->basis, sizeof ret->basis, "all that PCIe %s carries", d->link);
	} else if (!strcmp(d->interface, "SATA")) {
		most = SATA_MOST;
		snprintf(ret->basis, sizeof ret->basis, "assumed for SATA");
	} else {
		most = OTHER_MOST;
		snprintf(ret->basis, sizeof ret->basis, "assumed, its link is not known");
	}
	ret->write_bytes_per_s = most;
	ret->write_iops = most / SMALL_IO;
}

/* ---- steps ---- */

static void side_add(struct side *a, const struct side *b, double times)
{
	a->ns += b->ns * times;
	a->bytes += b->bytes * times;
	a->cells += b->cells * times;
}

/* Bytes written by an access in a time: each IO takes its share of a second, and all writes no more than the drive carries. */
static double run_bytes(const struct access *a, double ns, const struct plan_speed *r)
{
	double written = 0, seconds = 0;

	if (!a || r->write_iops <= 0)
		return 0;
	for (unsigned i = 0; i < a->n_streams; i++) {
		bool write = a->stream[i].op == IO_WRITE;
		written += write ? a->stream[i].share * a->stream[i].bytes : 0;
		seconds += a->stream[i].share /
			   (write || r->read_iops <= 0 ? r->write_iops : r->read_iops);
	}
	double bytes_per_s = written / seconds;
	if (r->write_bytes_per_s > 0)
		bytes_per_s = fmin(bytes_per_s, r->write_bytes_per_s);
	return bytes_per_s * ns / 1e9;
}

/* Drives of a set work at the same time: only the bytes are more. */
static struct side step_cost(const struct plan *p, const struct step *s, const struct plan_speed *r)
{
	struct side c = { 0, 0, 0 };

	if (s->na)
		return c;
	if (s->op == STEP_FILL) {
		c.bytes = (double)s->bytes;
		c.ns = r->write_bytes_per_s > 0 ? c.bytes / r->write_bytes_per_s * 1e9 : 0;
		c.cells = 1;
	} else if (s->op == STEP_RUN || s->op == STEP_IDLE) {
		c.ns = (double)s->time_ns;
		c.bytes = run_bytes(s->access, c.ns, r);
		c.cells = s->every_ns ? ceil(c.ns / (double)s->every_ns) : 1;
	} else if (s->op == STEP_REPLAY) {
		for (unsigned i = 0; i < s->n_replay; i++) {
			double ns = (double)s->replay[i].duration_ns;
			c.ns += ns;
			c.bytes += run_bytes(s->replay_access[i], ns, r);
		}
		c.cells = s->n_replay;
	}
	c.bytes *= step_members(p, s);
	return c;
}

static struct cost range_cost(const struct plan *p, unsigned from, unsigned to,
			      const struct plan_speed *r);

/* What is left of @c when it is cut at a share of itself. */
static void side_cut(struct side *c, double part)
{
	if (!(part < 1))
		return;
	c->ns *= part;
	c->bytes *= part;
	c->cells = ceil(c->cells * part);
}

/* A loop that ends by what is written: a slower drive than thought gets there later, or never, so that its time stays. */
static void cut_written(struct cost *c, double bytes)
{
	if (c->min.bytes > 0)
		side_cut(&c->min, bytes / c->min.bytes);
	c->max.bytes = fmin(c->max.bytes, bytes);
}

/* The last round ends where steadiness is checked. */
static unsigned check_at(const struct plan *p, unsigned head)
{
	for (unsigned i = head + 1; i < p->step[head].end; i++)
		if (p->step[i].op == STEP_CHECK)
			return i;
	return p->step[head].end;
}

static struct cost loop_cost(const struct plan *p, unsigned head, const struct plan_speed *r)
{
	const struct step *l = &p->step[head];
	struct side round = range_cost(p, head + 1, l->end, r).max;
	struct side last = range_cost(p, head + 1, check_at(p, head), r).max;
	struct cost c = { { 0, 0, 0 }, { 0, 0, 0 } };
	unsigned most = l->rounds ? l->rounds : 0, least = 0;

	for (unsigned i = 0; i < l->n_conds; i++) {
		const struct cond *k = &l->cond[i];
		double by_time = round.ns > 0 ? ceil((double)k->value / round.ns) + 1 : 0;
		if (k->kind == COND_STEADY)
			least = STEADY_WINDOW;
		else if (k->kind == COND_TIME && (!most || by_time < most))
			most = (unsigned)fmin(by_time, 1e6);
	}
	most = most ? most : ROUNDS_UNKNOWN;
	least = least && least < most ? least : most;
	side_add(&c.min, &round, least - 1);
	side_add(&c.min, &last, 1);
	side_add(&c.max, &round, most - 1);
	side_add(&c.max, &last, 1);
	for (unsigned i = 0; i < l->n_conds; i++)
		if (l->cond[i].kind == COND_TIME && c.max.ns > 0)
			side_cut(&c.max, (double)l->cond[i].value / c.max.ns);
	for (unsigned i = 0; i < l->n_conds; i++)
		if (l->cond[i].kind == COND_WRITTEN)
			cut_written(&c, (double)l->cond[i].value * p->members);
	if (c.min.ns > c.max.ns)
		c.min = c.max;
	return c;
}

/* A fill may be slow. */
static double slow_ns(const struct step *s, const struct plan_speed *r, double ns)
{
	if (s->op != STEP_FILL || s->na || r->slow_fill_bytes_per_s <= 0)
		return ns;
	return fmax(ns, (double)s->bytes / r->slow_fill_bytes_per_s * 1e9);
}

static struct cost range_cost(const struct plan *p, unsigned from, unsigned to,
			      const struct plan_speed *r)
{
	struct cost out = { { 0, 0, 0 }, { 0, 0, 0 } };

	for (unsigned i = from; i < to; i++) {
		const struct step *s = &p->step[i];
		struct cost c = { step_cost(p, s, r), { 0, 0, 0 } };
		double times = 1;
		c.max = c.min;
		c.max.ns = slow_ns(s, r, c.max.ns);
		if (s->op == STEP_LOOP)
			c = loop_cost(p, i, r);
		if (s->op == STEP_REPEAT) {
			c = range_cost(p, i + 1, s->end, r);
			times = s->rounds;
		}
		if (s->op == STEP_LOOP || s->op == STEP_REPEAT)
			i = s->end;
		side_add(&out.min, &c.min, times);
		side_add(&out.max, &c.max, times);
	}
	return out;
}

void plan_cost(const struct plan *p, const struct plan_speed *speed, struct plan_cost *ret)
{
	struct cost c = range_cost(p, 0, p->n, speed);

	ret->fill_bytes = 0;
	for (unsigned i = 0; i < p->n; i++)
		if (p->step[i].op == STEP_FILL && !p->step[i].na)
			ret->fill_bytes += p->step[i].bytes * step_members(p, &p->step[i]);
	ret->min_ns = (uint64_t)llround(c.min.ns);
	ret->max_ns = (uint64_t)llround(c.max.ns);
	ret->min_bytes = (uint64_t)c.min.bytes;
	ret->max_bytes = (uint64_t)c.max.bytes;
	ret->cells_min = (unsigned)c.min.cells;
	ret->cells_max = (unsigned)c.max.cells;
}
