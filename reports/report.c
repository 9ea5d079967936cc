/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/claims.h"
#include "reports/dataset.h"
#include "reports/grid.h"
#include "reports/report.h"
#include "reports/report_json.h"
#include "reports/save.h"
#include "reports/sheet.h"
#include "schema/read.h"

#define SHEET(name) extern const struct sheet sheet_##name;
#include "sheets.inc"
#undef SHEET

static const struct sheet *const sheets[] = {
#define SHEET(name) &sheet_##name,
#include "sheets.inc"
#undef SHEET
};

#define N_SHEETS (sizeof sheets / sizeof sheets[0])

const char *const *report_sheets(void)
{
	static const char *const names[] = {
#define SHEET(name) #name,
#include "sheets.inc"
#undef SHEET
		NULL
	};

	return names;
}

/* ---- building ---- */

static int by_order(const void *a, const void *b)
{
	const struct sheet *x = *(const struct sheet *const *)a;
	const struct sheet *y = *(const struct sheet *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void build_sheets(const struct dataset *d, struct grid *g)
{
	const struct sheet *list[N_SHEETS];

	memcpy(list, sheets, sizeof list);
	qsort(list, N_SHEETS, sizeof *list, by_order);
	for (unsigned i = 0; i < N_SHEETS; i++)
		if (list[i]->applies(d))
			list[i]->build(d, g);
}

/* At the foot of each sheet, also of those that are no test's page: what must not be overlooked on any. */
static const char *unpurged(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (!d->test[i].purge_verified)
			return " - NOT PURGED";
	return "";
}

/* Facts of the file come from the run, never from the clock: same database, same bytes. */
static void set_facts(struct grid *g, const struct dataset *d)
{
	const char *when = *d->ended_utc ? d->ended_utc : d->started_utc;

	if (!g->created)
		g->created = utc_time(when);
	g->title = "SSD Performance Qualification Report";
	g->subject = grid_clean(&g->arena,
				arena_fmt(&g->arena, "%s %s %s", d->vendor, d->model, d->serial));
	g->author = grid_clean(&g->arena, d->software);
	g->footer_left = grid_clean(&g->arena,
				    arena_fmt(&g->arena, "run %lld / %.8s%s", (long long)d->run_id,
					      d->uuid, unpurged(d)));
	g->footer_right = grid_clean(&g->arena,
				     arena_fmt(&g->arena, "%s / %s", d->software, d->spec));
	grid_property(g, arena_fmt(&g->arena, "%sRun", g->prefix), d->uuid);
	grid_property(g, arena_fmt(&g->arena, "%sChain head", g->prefix), d->digest);
	grid_property(g, arena_fmt(&g->arena, "%sVerdict", g->prefix), verdict_name(d->verdict));
}

/* What is being made. */
struct making {
	const struct report_request *q;
	struct output o;
	struct reader *r;
	struct claims claims;
	struct report_claims counts;
};

static void hold_claims(struct making *m, struct dataset *d)
{
	struct claim_checks *k = arena_new(&d->arena, struct claim_checks);

	if (!m->q->claims)
		return;
	claims_check(&m->claims, d, &d->arena, k);
	d->claims = &m->claims;
	d->checks = k;
	claims_warn(d);
	m->counts.n += k->n;
	m->counts.met += k->n_met;
	m->counts.missed += k->n_missed;
	m->counts.open += k->n_open;
}

static int add_run(struct making *m, int64_t run, struct err *err)
{
	struct output *o = &m->o;
	struct dataset d;
	int rc = dataset_load(m->r, run, &d, err);

	if (rc)
		return rc;
	hold_claims(m, &d);
	if (output_has_json(o))
		report_json_run(&d, &o->json);
	if (output_has_grid(o)) {
		if (m->q->n_runs > 1)
			o->grid.prefix = arena_fmt(&o->grid.arena, "r%lld ", (long long)run);
		set_facts(&o->grid, &d);
		build_sheets(&d, &o->grid);
	}
	dataset_release(&d);
	return 0;
}

static int make(struct making *m, struct err *err)
{
	struct output *o = &m->o;
	int rc = claims_tests(&m->claims, m->r, err);

	if (rc)
		return rc;
	if (output_has_json(o)) {
		json_object(&o->json, NULL);
		json_str(&o->json, "schema", "pts.report/1");
		json_array(&o->json, "runs");
	}
	for (unsigned i = 0; !rc && i < m->q->n_runs; i++)
		rc = add_run(m, m->q->run[i], err);
	if (!rc && output_has_json(o)) {
		json_end_array(&o->json);
		json_end_object(&o->json);
	}
	return rc;
}

int report_write_claims(const struct report_request *q, struct report_claims *ret, struct err *err)
{
	struct making m = { .q = q };
	int rc = output_init(&m.o, q->out, err);

	if (!rc && !q->n_runs)
		rc = err_set(err, -EINVAL, "no run");
	if (!rc)
		rc = output_spares(q->out, q->db, err);
	if (!rc)
		rc = output_spares(q->out, q->claims, err);
	if (!rc)
		rc = claims_read(q->claims, &m.claims, err);
	if (!rc)
		rc = read_open(q->db, &m.r, err);
	if (!rc)
		rc = read_snapshot(m.r, err);
	if (!rc)
		rc = make(&m, err);
	if (m.r)
		read_close(m.r);
	if (!rc)
		rc = output_save(&m.o, q->out, err);
	if (!rc)
		*ret = m.counts;
	output_release(&m.o);
	claims_release(&m.claims);
	return rc;
}

int report_write(const char *db, const int64_t *run, unsigned n_runs, const char *out,
		 struct err *err)
{
	const struct report_request q = { .db = db, .run = run, .n_runs = n_runs, .out = out };
	struct report_claims none;

	return report_write_claims(&q, &none, err);
}
