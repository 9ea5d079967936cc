/* SPDX-License-Identifier: MIT */
#include "reports/compare_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/save.h"
#include "schema/read.h"

#define COMPARE(name) extern const struct compare_sheet cmp_##name;
#include "compares.inc"
#undef COMPARE

static const struct compare_sheet *const sheets[] = {
#define COMPARE(name) &cmp_##name,
#include "compares.inc"
#undef COMPARE
};

#define N_SHEETS (sizeof sheets / sizeof sheets[0])

static int by_order(const void *a, const void *b)
{
	const struct compare_sheet *x = *(const struct compare_sheet *const *)a;
	const struct compare_sheet *y = *(const struct compare_sheet *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void build_sheets(const struct comparison *c, struct grid *g)
{
	const struct compare_sheet *list[N_SHEETS];

	memcpy(list, sheets, sizeof list);
	qsort(list, N_SHEETS, sizeof *list, by_order);
	for (unsigned i = 0; i < N_SHEETS; i++)
		if (list[i]->applies(c))
			list[i]->build(c, g);
}

/* "runs 1, 2, 5" */
static const char *run_list(const struct comparison *c, struct arena *a)
{
	const char *out = "runs ";

	for (unsigned i = 0; i < c->n_runs; i++)
		out = arena_fmt(a, "%s%s%lld", out, i ? ", " : "", (long long)c->run[i].d.run_id);
	return out;
}

/* Facts of the file come from the latest run, never from the clock: same database, same bytes. */
static void set_facts(struct grid *g, const struct comparison *c)
{
	struct arena *a = &g->arena;
	const struct dataset *last = &c->run[0].d;
	const char *state = c->n_differ ? "NOT COMPARABLE" : "COMPARABLE";

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct dataset *d = &c->run[i].d;
		const char *when = *d->ended_utc ? d->ended_utc : d->started_utc;
		if (utc_time(when) > g->created) {
			g->created = utc_time(when);
			last = d;
		}
	}
	g->title = "SSD Comparison";
	g->command = "pts compare RUN RUN...";
	g->subject = grid_clean(a,
				arena_fmt(a, "%u candidates, %s", c->n_candidates, run_list(c, a)));
	g->author = grid_clean(a, last->software);
	g->footer_left = grid_clean(a, arena_fmt(a, "comparison of %s", run_list(c, a)));
	if (strlen(g->footer_left) > 80)
		g->footer_left = arena_fmt(a, "comparison of %u runs", c->n_runs);
	g->footer_right = grid_clean(a, arena_fmt(a, "%s / %s", last->software, last->spec));
	grid_property(g, "Runs", run_list(c, a));
	grid_property(g, "Baseline", c->candidate[c->baseline].label);
	grid_property(g, "Comparability", state);
}

static bool told_before(const struct comparison *c, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (c->condition[i].gate == GATE_DIFFERS &&
		    !strcmp(c->condition[i].name, c->condition[at].name))
			return true;
	return false;
}

/* Each name once, however many tests it differs in. */
static void told(const struct comparison *c, struct compared *ret)
{
	size_t at = 0;

	ret->n_differ = c->n_differ;
	ret->prices_idle = c->prices_idle;
	ret->differ[0] = 0;
	for (unsigned i = 0; i < c->n_conditions && at < sizeof ret->differ - 1; i++)
		if (c->condition[i].gate == GATE_DIFFERS && !told_before(c, i))
			at += (size_t)snprintf(ret->differ + at, sizeof ret->differ - at, "%s%s",
					       at ? ", " : "", c->condition[i].name);
}

static void told_claims(const struct comparison *c, struct compared *ret)
{
	struct claim_check k;

	for (unsigned i = 0; i < c->claims.n; i++) {
		for (unsigned r = 0; r < c->n_runs; r++) {
			if (!claim_check(&c->claims.v[i], &c->run[r].d, &k))
				continue;
			ret->claims++;
			ret->claims_met += k.verdict == CLAIM_MET;
			ret->claims_missed += k.verdict == CLAIM_MISSED;
			ret->claims_open += k.verdict == CLAIM_NOT_ASSESSED;
		}
	}
}

static void make(struct output *o, const struct comparison *c)
{
	if (output_has_json(o))
		compare_json(c, &o->json);
	if (output_has_grid(o)) {
		set_facts(&o->grid, c);
		build_sheets(c, &o->grid);
	}
}

static int load_and_make(struct output *o, const char *db, const struct compare_options *q,
			 struct compared *ret, struct err *err)
{
	struct comparison c;
	struct reader *r;
	int rc = read_open(db, &r, err);

	if (rc)
		return rc;
	rc = read_snapshot(r, err);
	if (!rc) {
		rc = comparison_load(r, q, &c, err);
		if (!rc) {
			make(o, &c);
			told(&c, ret);
			told_claims(&c, ret);
		}
		comparison_release(&c);
	}
	read_close(r);
	return rc;
}

int compare_write(const char *db, const struct compare_options *q, const char *out,
		  struct compared *ret, struct err *err)
{
	struct output o;
	int rc = output_init(&o, out, err);

	if (!rc)
		rc = output_spares(out, db, err);
	if (!rc)
		rc = output_spares(out, q->claims, err);
	if (!rc)
		rc = output_spares(out, q->prices, err);
	if (!rc)
		rc = load_and_make(&o, db, q, ret, err);
	if (!rc)
		rc = output_save(&o, out, err);
	output_release(&o);
	return rc;
}
