/* SPDX-License-Identifier: MIT */
/* Demand variation, operating points and single steps in pts.report/1: base units, null where unknown. */
#include <math.h>
#include <string.h>

#include "reports/demand.h"
#include "reports/report_json.h"
#include "reports/sheet.h"

static void put_ns(struct json *j, const char *key, int64_t ns)
{
	if (ns < 0)
		json_null(j, key);
	else
		json_int(j, key, ns);
}

static void put_levels(struct json *j, const char *key, const struct levels *l)
{
	json_object(j, key);
	json_uint(j, "ios", l->n);
	json_num(j, "art_ns", l->art_ns);
	put_ns(j, "lat_p50_ns", l->p50_ns);
	put_ns(j, "lat_p99_ns", l->p99_ns);
	put_ns(j, "lat_p999_ns", l->p999_ns);
	put_ns(j, "lat_p9999_ns", l->p9999_ns);
	put_ns(j, "lat_p99999_ns", l->p99999_ns);
	put_ns(j, "mrt_ns", l->mrt_ns);
	json_uint(j, "ios_above_p99999", l->above);
	json_end_object(j);
}

/* ---- DIRTH, CBW ---- */

static void put_cell(const struct demand *m, const struct combo *c, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "threads", c->threads);
	json_int(j, "qd", c->qd);
	json_int(j, "oio", c->threads * c->qd);
	json_bool(j, "reported", c->n_window > 0 && m->dv->steady != 0);
	json_num(j, "iops", c->iops);
	json_num(j, "iops_cv", c->iops_cv);
	json_num(j, "bytes_per_s", c->bytes_per_s);
	json_num(j, "art_ns", c->art_ns);
	put_ns(j, "lat_p99_ns", c->p99_ns);
	put_ns(j, "lat_p999_ns", c->p999_ns);
	put_ns(j, "lat_p9999_ns", c->p9999_ns);
	put_ns(j, "lat_p99999_ns", c->p99999_ns);
	put_ns(j, "mrt_ns", c->mrt_ns);
	json_num(j, "inflight_avg", combo_inflight(c));
	json_num(j, "threads_seen", combo_threads_seen(c));
	json_num(j, "cpu_sys_pct", combo_cpu_sys(c));
	json_num(j, "cpu_total_pct", combo_cpu_total(c));
	json_end_object(j);
}

static void put_toio(const struct demand_toio *g, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "oio", g->toio);
	json_uint(j, "pairs", g->pairs);
	json_num(j, "iops", g->iops);
	json_num(j, "bytes_per_s", g->bytes_per_s);
	json_num(j, "art_ns", g->art_ns);
	json_num(j, "lat_p99999_ns", g->p99999_ns);
	json_num(j, "cpu_total_pct", g->cpu_total_pct);
	json_end_object(j);
}

static void put_point(const struct demand *m, const struct demand_point *p, struct json *j)
{
	const struct combo *c = p->cell && p->cell->n_window ? p->cell : NULL;
	struct levels l;

	json_object(j, NULL);
	json_str(j, "point", p->key);
	json_int(j, "threads", p->op->threads);
	json_int(j, "qd", p->op->qd);
	json_int(j, "oio", p->op->threads * p->op->qd);
	json_str(j, "reason", p->op->reason);
	json_bool(j, "reported", c && m->dv->steady != 0);
	json_num(j, "iops", c ? c->iops : NAN);
	json_num(j, "art_ns", c ? c->art_ns : NAN);
	put_ns(j, "lat_p99999_ns", c ? c->p99999_ns : -1);
	json_uint(j, "prewrite_steps", p->n_minutes);
	if (p->hist) {
		levels_of(p->hist->hist, &l);
		json_int(j, "histogram_cell_id", p->hist->m->cell_id);
		json_num(j, "histogram_iops", p->hist->m->iops);
		put_levels(j, "histogram", &l);
	}
	json_end_object(j);
}

static void put_demand(const struct demand *m, struct json *j)
{
	json_object(j, "demand");
	json_array(j, "threads");
	for (unsigned i = 0; i < m->n_tc; i++)
		json_int(j, NULL, m->tc[i]);
	json_end_array(j);
	json_array(j, "qd");
	for (unsigned i = 0; i < m->n_qd; i++)
		json_int(j, NULL, m->qd[i]);
	json_end_array(j);
	json_array(j, "cells");
	for (unsigned i = 0; i < m->n_tc; i++)
		for (unsigned k = 0; k < m->n_qd; k++)
			if (m->cell[i][k])
				put_cell(m, m->cell[i][k], j);
	json_end_array(j);
	json_array(j, "total_oio");
	for (unsigned i = 0; i < m->n_toio; i++)
		put_toio(&m->toio[i], j);
	json_end_array(j);
	json_array(j, "points");
	for (unsigned i = 0; i < m->n_points; i++)
		put_point(m, &m->point[i], j);
	json_end_array(j);
	json_num(j, "little_worst_pct", m->little_worst_pct);
	json_end_object(j);
}

/* ---- curve, bounded, scale ---- */

static const struct rated *rated_of(const struct test *t, const struct measure *m)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		for (unsigned k = 0; k < t->section[i].n_rated; k++)
			if (t->section[i].rated[k].m == m)
				return &t->section[i].rated[k];
	return NULL;
}

static void put_step(const struct test *t, const struct measure *m, struct json *j)
{
	const struct rated *r = rated_of(t, m);
	unsigned members = asked_members(t, m);

	json_object(j, NULL);
	json_int(j, "cell_id", m->cell_id);
	json_str(j, "phase", m->phase);
	json_str(j, "label", *m->label ? m->label : NULL);
	json_str(j, "access", m->access);
	json_int(j, "threads", m->threads);
	json_int(j, "qd", m->qd);
	if (members)
		json_uint(j, "members", members);
	json_num(j, "rate_iops", m->rate_iops);
	json_num(j, "iops", m->iops);
	json_num(j, "bytes_per_s", m->bytes_per_s);
	json_num(j, "art_ns", m->ios ? m->art_ns : NAN);
	put_ns(j, "lat_p99_ns", m->p99_ns);
	put_ns(j, "lat_p99999_ns", m->p99999_ns);
	put_ns(j, "mrt_ns", m->mrt_ns);
	if (r) {
		put_levels(j, "response", &r->response);
		put_levels(j, "service", &r->service);
	}
	json_end_object(j);
}

static void put_steps(const struct dataset *d, const struct test *t, struct json *j)
{
	json_array(j, "steps");
	for (unsigned i = 0; i < d->n_measures; i++)
		if (measure_counts(&d->measure[i], t) && measure_is_step(&d->measure[i]))
			put_step(t, &d->measure[i], j);
	json_end_array(j);
	json_array(j, "points");
	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *p = &d->point[i];
		if (strcmp(p->test, t->name))
			continue;
		json_object(j, NULL);
		json_str(j, "point", p->point);
		json_int(j, "threads", p->threads);
		json_int(j, "qd", p->qd);
		json_num(j, "iops", p->iops);
		json_num(j, "art_ns", p->art_ns);
		put_ns(j, "lat_p99999_ns", p->p99999_ns);
		json_str(j, "reason", p->reason);
		json_end_object(j);
	}
	json_end_array(j);
}

void report_json_demand(const struct dataset *d, const struct test *t, struct json *j)
{
	enum sheet_kind kind = sheet_kind(t);
	struct arena a = ARENA_INIT;

	if (kind == SHEET_CURVE || kind == SHEET_BOUNDED || kind == SHEET_SCALE) {
		put_steps(d, t, j);
		return;
	}
	if (kind != SHEET_DIRTH && kind != SHEET_CBW)
		return;
	struct demand *m = arena_new(&a, struct demand);
	demand_init(m, d, t, &a);
	put_demand(m, j);
	arena_release(&a);
}
