/* SPDX-License-Identifier: MIT */
/* Where every figure of a comparison comes from: the runs with their evidence, their deviations, the user's files. */
#include <string.h>

#include "reports/compare_table.h"

static bool applies(const struct comparison *c)
{
	return true;
}

static void run_heads(struct pager *p)
{
	static const struct {
		unsigned col, col2;
		const char *text;
	} heads[] = { { 0, 1, "Run of" },
		      { 2, 2, "Run ID" },
		      { 3, 3, "UUID" },
		      { 4, 4, "Serial" },
		      { 5, 10, "SHA-256 (head of the chain)" },
		      { 11, 12, "Tool" },
		      { 13, 13, "Ended (UTC)" },
		      { 14, 14, "Evidence" },
		      { 15, 15, "Valid tests" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(p->row, heads[i].col, p->row, heads[i].col2), LOOK_HEAD,
			 heads[i].text);
	pager_next(p, 0);
}

static void run_line(struct pager *p, const struct comparison *c, unsigned i)
{
	struct grid_sheet *s = p->s;
	const struct subject *one = &c->run[i];
	const struct dataset *d = &one->d;
	bool all = d->n_valid == d->n_tests && d->n_tests;
	uint32_t r = p->row;

	put_text(s, AREA(r, 0, r, 1), LOOK_ROW_HEAD, one->label);
	put_fmt(s, AT(r, 2), LOOK_CENTER, "%lld", (long long)d->run_id);
	put_fmt(s, AT(r, 3), LOOK_MONO, "%.8s", d->uuid);
	put_text(s, AT(r, 4), LOOK_VALUE, *d->serial ? d->serial : "-");
	put_text(s, AREA(r, 5, r, 10), LOOK_MONO, d->digest);
	put_text(s, AREA(r, 11, r, 12), LOOK_VALUE, d->software);
	put_fmt(s, AT(r, 13), LOOK_VALUE, "%.16s", *d->ended_utc ? d->ended_utc : "-");
	put_text(s, AT(r, 14),
		 d->tampered ? LOOK_BAD
		 : d->sealed ? LOOK_GOOD
			     : LOOK_WARN,
		 d->tampered ? "BROKEN"
		 : d->sealed ? "sealed"
			     : "not sealed");
	put_fmt(s, AT(r, 15), all ? LOOK_GOOD : LOOK_WARN, "%u/%u", d->n_valid, d->n_tests);
	pager_next(p, 0);
}

static void put_runs(struct pager *p, const struct comparison *c)
{
	pager_section(p, "Runs");
	run_heads(p);
	for (unsigned i = 0; i < c->n_runs; i++) {
		if (pager_need(p, ROW_PX))
			run_heads(p);
		run_line(p, c, i);
	}
	pager_next(p, 0);
}

/* ---- definitions and plans ---- */

static void hash_heads(struct pager *p)
{
	put_text(p->s, AT(p->row, 0), LOOK_HEAD, "Test");
	put_text(p->s, AREA(p->row, 1, p->row, 2), LOOK_HEAD, "Runs");
	put_text(p->s, AREA(p->row, 3, p->row, 8), LOOK_HEAD, "SHA-256 of the definition");
	put_text(p->s, AREA(p->row, 9, p->row, 14), LOOK_HEAD, "SHA-256 of the plan");
	put_text(p->s, AT(p->row, 15), LOOK_HEAD, "Result");
	pager_next(p, 0);
}

static bool same_line(const struct test *a, const struct test *b)
{
	return !strcmp(a->definition_hash, b->definition_hash) &&
	       !strcmp(a->plan_hash, b->plan_hash) && a->status == b->status;
}

/* The runs from @run on whose test is like this one; NULL: an earlier run has told it. */
static const char *runs_alike(const struct comparison *c, unsigned run, const struct test *t,
			      struct arena *a)
{
	const char *list = "";

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *of = dataset_test(&c->run[i].d, t->name);
		if (!of || !same_line(of, t))
			continue;
		if (i < run)
			return NULL;
		list = arena_fmt(a, "%s%s%lld", list, *list ? ", " : "",
				 (long long)c->run[i].d.run_id);
	}
	return list;
}

#define RUNS_CHARS 24 /* of a line of two columns */

static void hash_line(struct pager *p, const struct test *t, const char *runs)
{
	static const enum look looks[] = { LOOK_GOOD, LOOK_WARN, LOOK_BAD, LOOK_NA };
	size_t lines = (strlen(runs) + RUNS_CHARS - 1) / RUNS_CHARS;
	double px = lines > 1 ? 4 + 14.0 * (double)lines : ROW_PX;

	if (pager_need(p, px))
		hash_heads(p);
	put_text(p->s, AT(p->row, 0), LOOK_ROW_HEAD, t->name);
	put_text(p->s, AREA(p->row, 1, p->row, 2), LOOK_WRAP, runs);
	put_text(p->s, AREA(p->row, 3, p->row, 8), LOOK_MONO, t->definition_hash);
	put_text(p->s, AREA(p->row, 9, p->row, 14), LOOK_MONO, t->plan_hash);
	put_text(p->s, AT(p->row, 15), looks[t->status],
		 t->status <= STATUS_WARN ? status_name(t->status) : t->reason);
	pager_next(p, px);
}

static bool told_before(const struct comparison *c, unsigned run, const char *test)
{
	for (unsigned i = 0; i < run; i++)
		if (dataset_test(&c->run[i].d, test))
			return true;
	return false;
}

static void put_hashes_of(struct pager *p, const struct comparison *c, const char *test)
{
	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *t = dataset_test(&c->run[i].d, test);
		const char *runs = t ? runs_alike(c, i, t, &p->s->grid->arena) : NULL;
		if (runs)
			hash_line(p, t, runs);
	}
}

static void put_hashes(struct pager *p, const struct comparison *c)
{
	pager_need(p, 6 * ROW_PX);
	pager_section(p, "Definitions and plans, test by test");
	hash_heads(p);
	for (unsigned i = 0; i < c->n_runs; i++)
		for (unsigned k = 0; k < c->run[i].d.n_tests; k++)
			if (!told_before(c, i, c->run[i].d.test[k].name))
				put_hashes_of(p, c, c->run[i].d.test[k].name);
	pager_next(p, 0);
}

/* ---- deviations, notes, files ---- */

/* Runs with this very deviation; NULL: told with an earlier one. */
static const char *runs_deviating(const struct comparison *c, unsigned run,
				  const struct deviation *v, struct arena *a)
{
	const char *list = "";

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct dataset *d = &c->run[i].d;
		bool has = false;
		for (unsigned k = 0; k < d->n_deviations && !has; k++)
			has = !strcmp(d->deviation[k].text, v->text) &&
			      !strcmp(d->deviation[k].clause, v->clause);
		if (has && i < run)
			return NULL;
		if (has)
			list = arena_fmt(a, "%s%s%lld", list, *list ? ", " : "",
					 (long long)d->run_id);
	}
	return list;
}

static void deviation_line(struct pager *p, const char *runs, const char *clause, const char *text,
			   bool bad)
{
	double px = strlen(runs) > RUNS_CHARS
			    ? 4 + 14.0 * (double)((strlen(runs) + RUNS_CHARS - 1) / RUNS_CHARS)
			    : ROW_PX;

	pager_need(p, px > 2 * ROW_PX ? px : 2 * ROW_PX);
	put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_WRAP, runs);
	put_text(p->s, AT(p->row, 2), bad ? LOOK_BAD : LOOK_KEY, clause);
	if (px > ROW_PX) {
		put_text(p->s, AREA(p->row, 3, p->row, PAGE_COLS - 1), LOOK_WRAP, text);
		pager_next(p, px);
	} else {
		pager_text(p, LOOK_WRAP, 3, text);
	}
}

static void deviation_heads(struct pager *p)
{
	put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_HEAD, "Runs");
	put_text(p->s, AT(p->row, 2), LOOK_HEAD, "Clause");
	put_text(p->s, AREA(p->row, 3, p->row, PAGE_COLS - 1), LOOK_HEAD, "Deviation");
	pager_next(p, 0);
}

static void put_deviations(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;
	unsigned n = 0;

	pager_need(p, 5 * ROW_PX);
	pager_section(p, "Deviations of the runs");
	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct dataset *d = &c->run[i].d;
		for (unsigned k = 0; k < d->n_deviations; k++) {
			const char *runs = runs_deviating(c, i, &d->deviation[k], a);
			if (runs && !n++)
				deviation_heads(p);
			if (runs)
				deviation_line(p, runs, d->deviation[k].clause,
					       d->deviation[k].text, false);
		}
		if (d->tampered && !n++)
			deviation_heads(p);
		if (d->tampered)
			deviation_line(p, arena_fmt(a, "%lld", (long long)d->run_id), "TAMPERED",
				       d->tampered, true);
	}
	if (!n)
		pager_text(p, LOOK_NOTE, 0, "none");
	pager_next(p, 0);
}

static void put_notes(struct pager *p, const struct comparison *c)
{
	pager_need(p, 4 * ROW_PX);
	pager_section(p, "Notes");
	for (unsigned i = 0; i < c->n_remarks; i++) {
		pager_need(p, 2 * ROW_PX);
		pager_text(p, LOOK_WRAP, 0, c->remark[i]);
	}
	if (!c->n_remarks)
		pager_text(p, LOOK_NOTE, 0, "none");
	pager_next(p, 0);
}

static void put_files(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;

	if (!c->claims.n && !*c->prices.file)
		return;
	pager_need(p, 4 * ROW_PX);
	pager_section(p, "Files of the user");
	if (c->claims.n)
		pager_text(p, LOOK_WRAP, 0,
			   arena_fmt(a, "Claims: %s, %u claims, SHA-256 %s", c->claims.file,
				     c->claims.n, c->claims.sha256 ? c->claims.sha256 : "-"));
	if (*c->prices.file)
		pager_text(p, LOOK_WRAP, 0,
			   arena_fmt(a, "Prices and weights: %s%s%s", c->prices.file,
				     *c->prices.note ? ", " : "", c->prices.note));
	pager_next(p, 0);
}

static void build(const struct comparison *c, struct grid *g)
{
	uint32_t row;
	struct grid_sheet *s = compare_page(c, g, "Sources", "Sources", &row);
	struct pager p = pager_at(s, row, (row - 2) * 26 + 56);

	pager_text(&p, LOOK_NOTE, 0,
		   "Every figure of this comparison was read from these runs; nothing was typed in"
		   " by hand except the yellow cells and the user's files. Check a run with: pts"
		   " audit RUN --head HASH");
	pager_next(&p, 0);
	put_runs(&p, c);
	put_files(&p, c);
	put_deviations(&p, c);
	put_notes(&p, c);
	put_hashes(&p, c);
	pager_text(&p, LOOK_NOTE, 0,
		   "The results relate only to the items tested. In the format of the SNIA SSS PTS;"
		   " no certification is claimed.");
}

const struct compare_sheet cmp_sources = { .order = 900, .applies = applies, .build = build };
