/* SPDX-License-Identifier: MIT */
/*
 * Unit-to-unit variation: the samples of each candidate, their spread, how well their mean is known, and whether a
 * difference to the baseline is more than the spread of units (Welch). A drive that was measured twice is one unit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare_parts.h"
#include "reports/compare_write.h"

#define DATA_SHEET "D_units"
#define ACROSS 5 /* samples of a row */
#define TABLES_MAX 12 /* metrics with a table */
#define LEVEL 0.05 /* of a difference called significant */

enum {
	C_NAME,
	C_SAMPLE = 2,
	C_MEAN = C_SAMPLE + ACROSS,
	C_DEVIATION,
	C_CV,
	C_HALF,
	C_CHANGE,
	C_P,
	C_VERDICT, /* three columns */
};

/* The units of a candidate in one metric. */
struct units {
	double v[COMPARE_RUNS]; /* of the units with a result */
	const char *why[COMPARE_RUNS]; /* of the units without one */
	unsigned n, n_out;
	bool repeated; /* a unit is the mean of several runs */
	bool unknown; /* runs without a serial: taken for one unit */
	double mean, deviation, half;
	struct area at; /* cells of the samples */
};

struct units_build {
	struct cmp_page p;
	const struct metric *m;
	bool base; /* values in base units, else as shown */
	struct units u[COMPARE_RUNS]; /* by candidate */
};

static bool applies(const struct comparison *c)
{
	return c->n_metrics > 0;
}

/* ---- the numbers ---- */

static bool same_unit(const struct comparison *c, unsigned a, unsigned b)
{
	return !strcmp(c->run[a].d.serial, c->run[b].d.serial);
}

/* The unit that run is one of: the mean of all its runs that count. */
static void add_unit(struct units_build *x, struct units *u, const struct candidate *of,
		     unsigned first)
{
	const struct comparison *c = x->p.c;
	const char *why = NULL;
	double sum = 0;
	unsigned n = 0, runs = 0;

	for (unsigned i = first; i < of->n_runs; i++) {
		const struct measured *m = &x->m->run[of->run[i]];
		if (!same_unit(c, of->run[first], of->run[i]))
			continue;
		runs++;
		if (m->reported && isfinite(m->value)) {
			sum += x->base ? m->value : compare_shown(x->m->unit, m->value);
			n++;
		} else if (!why) {
			why = m->reported ? "n/a" : m->why;
		}
	}
	if (n)
		u->v[u->n++] = sum / n;
	else
		u->why[u->n_out++] = why;
	u->repeated |= runs > 1;
	u->unknown |= runs > 1 && !*c->run[of->run[first]].d.serial;
}

static void add_units(struct units_build *x, unsigned candidate)
{
	const struct candidate *of = &x->p.c->candidate[candidate];
	struct units *u = &x->u[candidate];

	*u = (struct units){ .deviation = NAN, .half = NAN };
	for (unsigned i = 0; i < of->n_runs; i++) {
		bool seen = false;
		for (unsigned k = 0; k < i; k++)
			seen |= same_unit(x->p.c, of->run[i], of->run[k]);
		if (!seen)
			add_unit(x, u, of, i);
	}
	double sum = 0;
	for (unsigned i = 0; i < u->n; i++)
		sum += u->v[i];
	u->mean = u->n ? sum / u->n : NAN;
	if (u->n < 2)
		return;
	u->deviation = coefficient_of_variation(u->v, u->n, u->mean) * fabs(u->mean);
	u->half = student_t95(u->n - 1) * u->deviation / sqrt(u->n);
}

static struct welch against_base(const struct units_build *x, unsigned candidate)
{
	const struct units *u = &x->u[candidate], *b = &x->u[x->p.c->baseline];

	return welch_test(u->v, u->n, b->v, b->n);
}

/* ---- a table ---- */

static unsigned sample_rows(const struct units *u)
{
	unsigned n = u->n + u->n_out;

	return n > ACROSS ? (n + ACROSS - 1) / ACROSS : 1;
}

static enum numfmt fmt_of(const struct metric *m)
{
	return compare_fmt(m->unit);
}

static void put_samples(struct units_build *x, struct units *u, uint32_t row)
{
	unsigned rows = sample_rows(u);

	u->at = AREA(row, C_SAMPLE, row + rows - 1, C_SAMPLE + ACROSS - 1);
	for (unsigned i = 0; i < rows * ACROSS; i++) {
		struct area at = AT(row + i / ACROSS, C_SAMPLE + i % ACROSS);
		if (i < u->n)
			put_num(x->p.s, at, STYLE(LOOK_CELL, fmt_of(x->m)), u->v[i]);
		else if (i < u->n + u->n_out)
			cmp_put_missing(&x->p, at, u->why[i - u->n]);
		else
			put_text(x->p.s, at, LOOK_CELL, "");
	}
}

/* The numbers of a row below its samples, as tall as they are. */
static struct area cell(const struct units *u, unsigned col, unsigned col2)
{
	return AREA(u->at.row, col, u->at.row2, col2);
}

static void put_spread(struct units_build *x, const struct units *u)
{
	struct grid *g = x->p.s->grid;
	const char *v = grid_ref(g, u->at, false);
	const char *mean = grid_ref(g, AT(u->at.row, C_MEAN), false);
	const char *deviation = grid_ref(g, AT(u->at.row, C_DEVIATION), false);
	enum numfmt fmt = x->m->unit == UNIT_NS && u->deviation < 100 ? NUM_2 : fmt_of(x->m);

	if (u->n)
		put_formula(x->p.s, cell(u, C_MEAN, C_MEAN), STYLE(LOOK_FORMULA, fmt), u->mean,
			    "=AVERAGE(%s)", v);
	else
		put_text(x->p.s, cell(u, C_MEAN, C_MEAN), LOOK_NA, "n/a");
	if (u->n < 2) {
		for (unsigned col = C_DEVIATION; col <= C_HALF; col++)
			put_text(x->p.s, cell(u, col, col), LOOK_NA, "n/a");
		return;
	}
	put_formula(x->p.s, cell(u, C_DEVIATION, C_DEVIATION), STYLE(LOOK_FORMULA, fmt),
		    u->deviation, "=STDEV(%s)", v);
	put_formula(x->p.s, cell(u, C_CV, C_CV), STYLE(LOOK_FORMULA, NUM_PCT2),
		    u->deviation / u->mean, "=%s/%s", deviation, mean);
	put_formula(x->p.s, cell(u, C_HALF, C_HALF), STYLE(LOOK_FORMULA, fmt), u->half,
		    "=TINV(0.05,COUNT(%s)-1)*%s/SQRT(COUNT(%s))", v, deviation, v);
}

static void put_change(struct units_build *x, unsigned candidate)
{
	const struct units *u = &x->u[candidate], *b = &x->u[x->p.c->baseline];
	struct grid *g = x->p.s->grid;

	if (candidate == x->p.c->baseline || !u->n || !b->n) {
		put_text(x->p.s, cell(u, C_CHANGE, C_CHANGE), LOOK_NA, "-");
		return;
	}
	put_formula(x->p.s, cell(u, C_CHANGE, C_CHANGE), STYLE(LOOK_FORMULA, NUM_DELTA),
		    u->mean / b->mean - 1, "=%s/%s-1", grid_ref(g, AT(u->at.row, C_MEAN), false),
		    grid_ref(g, AT(b->at.row, C_MEAN), false));
}

/* Why nothing can be said of a difference; NULL: it can. */
static const char *no_statement(const struct units_build *x, unsigned candidate)
{
	const struct units *u = &x->u[candidate], *b = &x->u[x->p.c->baseline];

	if (!u->n || !b->n)
		return "no result";
	if (u->n < 2)
		return "one sample, no statement possible";
	if (b->n < 2)
		return "baseline: one sample, no statement possible";
	return NULL;
}

static void put_verdict(struct units_build *x, unsigned candidate)
{
	const struct units *u = &x->u[candidate], *b = &x->u[x->p.c->baseline];
	struct area p = cell(u, C_P, C_P), at = cell(u, C_VERDICT, PAGE_COLS - 1);
	struct grid *g = x->p.s->grid;

	if (candidate == x->p.c->baseline) {
		put_text(x->p.s, p, LOOK_NA, "-");
		put_text(x->p.s, at, LOOK_CENTER, "baseline");
		return;
	}
	if (no_statement(x, candidate)) {
		put_text(x->p.s, p, LOOK_NA, "n/a");
		put_text(x->p.s, at, LOOK_NA, no_statement(x, candidate));
		return;
	}
	struct welch w = against_base(x, candidate);
	bool better = (u->mean < b->mean) == x->m->lower_is_better;
	enum look look = !(w.p < LEVEL) ? LOOK_NA : better ? LOOK_GOOD : LOOK_WARN;
	const char *word = better ? "significant: better" : "significant: worse";
	if (isinf(w.t) || w.t == 0) /* samples without any spread: TTEST divides by it */
		put_num(x->p.s, p, STYLE(LOOK_CELL, NUM_4), w.p);
	else
		put_formula(x->p.s, p, STYLE(LOOK_FORMULA, NUM_4), w.p, "=TTEST(%s,%s,2,3)",
			    grid_ref(g, u->at, false), grid_ref(g, b->at, false));
	put_formula_text(x->p.s, at, look, w.p < LEVEL ? word : "not significant",
			 arena_fmt(x->p.a, "=IF(%s<0.05,\"%s\",\"not significant\")",
				   grid_ref(g, AT(u->at.row, C_P), false), word));
}

static void put_heads(struct units_build *x)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { C_NAME, 1, "Drive" },
		      { C_MEAN, C_MEAN, "Mean" },
		      { C_DEVIATION, C_DEVIATION, "Std dev" },
		      { C_CV, C_CV, "Unit-to-unit CV" },
		      { C_HALF, C_HALF, "95 % CI half-width" },
		      { C_CHANGE, C_CHANGE, "v base" },
		      { C_P, C_P, "p (Welch)" },
		      { C_VERDICT, PAGE_COLS - 1, "Significant at 5 %?" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		cmp_head(&x->p, heads[i].col, heads[i].col2, heads[i].head);
	for (unsigned i = 0; i < ACROSS; i++)
		cmp_head(&x->p, C_SAMPLE + i, C_SAMPLE + i, arena_fmt(x->p.a, "Sample %u", i + 1));
	cmp_heads_end(&x->p);
}

static void put_table(struct units_build *x)
{
	const struct comparison *c = x->p.c;
	unsigned rows = 4;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		add_units(x, i);
		rows += sample_rows(&x->u[i]);
	}
	cmp_room(&x->p, rows);
	cmp_table(&x->p, LOOK_SECTION, "%s (%s, %s is better)", x->m->title,
		  compare_unit(x->m->unit), x->m->lower_is_better ? "lower" : "higher");
	put_heads(x);
	for (unsigned i = 0; i < c->n_candidates; i++) {
		put_samples(x, &x->u[i], x->p.row);
		x->p.row += sample_rows(&x->u[i]);
	}
	for (unsigned i = 0; i < c->n_candidates; i++) {
		put_text(x->p.s, cell(&x->u[i], C_NAME, 1), LOOK_ROW_HEAD,
			 candidate_head(x->p.a, &c->candidate[i]));
		put_spread(x, &x->u[i]);
		put_change(x, i);
		put_verdict(x, i);
	}
	x->p.row++;
}

/* ---- which units these are ---- */

static const char *units_text(struct units_build *x, const struct candidate *of)
{
	const struct comparison *c = x->p.c;
	const char *list = "";

	for (unsigned i = 0; i < of->n_runs; i++) {
		const struct dataset *d = &c->run[of->run[i]].d;
		list = arena_fmt(x->p.a, "%s%sS/N %s (run %lld)", list, i ? ", " : "",
				 *d->serial ? d->serial : "not recorded", (long long)d->run_id);
	}
	return list;
}

static void put_samples_list(struct units_build *x)
{
	const struct comparison *c = x->p.c;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct units *u = &x->u[i];
		cmp_note(&x->p, "%s: %s%s%s", c->candidate[i].label,
			 units_text(x, &c->candidate[i]),
			 u->unknown    ? "; without a serial they count as one unit"
			 : u->repeated ? "; a drive measured more than once is one unit, the mean"
					 " of its runs"
				       : "",
			 u->repeated ? " (on the other sheets each run counts once)" : "");
	}
	cmp_note(&x->p,
		 "Samples are drives, not runs. The half-width is TINV(0.05, n - 1) x s / sqrt(n):"
		 " with two or three samples it is wide, and it is shown because a decision on one"
		 " unit hides the spread of units. A difference is called significant where Welch's"
		 " two-sided test (variances not taken for equal) gives p < 0.05; of twenty such"
		 " statements one is wrong by chance. With one sample no statement is possible.");
}

/* ---- all metrics as rows, and as JSON ---- */

static const char *statement(const struct units_build *x, unsigned i)
{
	if (i == x->p.c->baseline)
		return "baseline";
	if (no_statement(x, i))
		return no_statement(x, i);
	return against_base(x, i).p < LEVEL ? "significant" : "not significant";
}

static void put_number(struct grid_sheet *s, uint32_t row, unsigned col, double v)
{
	if (isfinite(v))
		put_num(s, AT(row, col), STYLE(LOOK_CELL, NUM_GENERAL), v);
}

static void put_data_row(struct units_build *x, struct grid_sheet *s, uint32_t row, unsigned i)
{
	const struct candidate *c = &x->p.c->candidate[i];
	const struct units *u = &x->u[i], *b = &x->u[x->p.c->baseline];
	bool base = i == x->p.c->baseline;
	struct welch w = against_base(x, i);
	const double v[] = { u->n,
			     u->mean,
			     u->deviation,
			     u->deviation / u->mean,
			     u->half,
			     base ? NAN : u->mean / b->mean - 1,
			     base ? NAN : w.t,
			     base ? NAN : w.degrees,
			     base ? NAN : w.p };

	put_text(s, AT(row, 0), LOOK_CELL, x->m->key);
	put_text(s, AT(row, 1), LOOK_CELL, c->label);
	put_text(s, AT(row, 2), LOOK_CENTER, compare_unit(x->m->unit));
	for (unsigned k = 0; k < sizeof v / sizeof v[0]; k++)
		put_number(s, row, 3 + k, v[k]);
	put_text(s, AT(row, 12), LOOK_CELL, statement(x, i));
	for (unsigned k = 0; k < u->n; k++)
		put_number(s, row, 13 + k, u->v[k]);
}

static void put_json(const struct units_build *x, unsigned i, struct json *j)
{
	const struct units *u = &x->u[i], *b = &x->u[x->p.c->baseline];
	struct welch w = against_base(x, i);
	static const char *const units[] = { "iops", "bytes_per_s", "ns" };
	bool base = i == x->p.c->baseline;

	json_object(j, NULL);
	json_str(j, "metric", x->m->key);
	json_str(j, "candidate", x->p.c->candidate[i].label);
	json_array(j, "samples");
	for (unsigned k = 0; k < u->n; k++)
		json_num(j, NULL, u->v[k]);
	json_end_array(j);
	json_str(j, "unit", units[x->m->unit]);
	json_num(j, "mean", u->mean);
	json_num(j, "std_dev", u->deviation);
	json_num(j, "cv", u->deviation / u->mean);
	json_num(j, "half_width_95", u->half);
	json_num(j, "change", base ? NAN : u->mean / b->mean - 1);
	json_num(j, "welch_t", base ? NAN : w.t);
	json_num(j, "welch_degrees", base ? NAN : w.degrees);
	json_num(j, "welch_p", base ? NAN : w.p);
	json_str(j, "statement", statement(x, i));
	json_end_object(j);
}

static void put_data(struct units_build *x)
{
	static const char *const heads[] = { "metric",	  "candidate",	   "unit",
					     "samples",	  "mean",	   "std_dev",
					     "cv",	  "half_width_95", "change",
					     "welch_t",	  "welch_degrees", "welch_p",
					     "statement", "sample_1 ..." };
	enum { N_HEADS = sizeof heads / sizeof heads[0] };
	const struct comparison *c = x->p.c;
	struct grid_sheet *s = grid_sheet(x->p.s->grid, DATA_SHEET, ROLE_DATA);
	uint32_t row = 1;

	s->color = 0x7F7F7F;
	s->freeze_rows = 1;
	grid_col_width(s, 0, 0, 260);
	grid_col_width(s, 1, N_HEADS + 4, 95);
	for (unsigned i = 0; i < N_HEADS; i++)
		put_text(s, AT(0, i), LOOK_HEAD, heads[i]);
	for (unsigned i = 0; i < c->n_metrics; i++) {
		x->m = &c->metric[i];
		for (unsigned k = 0; k < c->n_candidates; k++)
			add_units(x, k);
		for (unsigned k = 0; k < c->n_candidates; k++)
			put_data_row(x, s, row++, k);
	}
}

void units_json(const struct comparison *c, struct json *j)
{
	struct units_build x = { .p.c = c, .base = true };

	json_array(j, "units");
	for (unsigned i = 0; i < c->n_metrics; i++) {
		x.m = &c->metric[i];
		for (unsigned k = 0; k < c->n_candidates; k++)
			add_units(&x, k);
		for (unsigned k = 0; k < c->n_candidates; k++)
			put_json(&x, k, j);
	}
	json_end_array(j);
}

static bool any_scored(const struct comparison *c)
{
	for (unsigned i = 0; i < c->n_metrics; i++)
		if (c->metric[i].weight > 0)
			return true;
	return false;
}

static bool all_single(const struct comparison *c)
{
	for (unsigned i = 0; i < c->n_candidates; i++)
		if (c->candidate[i].n_runs > 1)
			return false;
	return true;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct units_build x = { 0 };
	bool scored = any_scored(c);
	unsigned tables = 0, limit = all_single(c) ? 1 : TABLES_MAX;

	cmp_open(&x.p, c, g, "Repeatability", "Unit-to-unit variation - samples of each drive");
	x.p.s->color = 0x8064A2;
	cmp_begin(&x.p, "Repeatability: the metrics of the score, unit by unit (all metrics: sheet"
			" D_units)");
	for (unsigned i = 0; i < c->n_metrics && tables < limit; i++) {
		if (scored && !(c->metric[i].weight > 0))
			continue;
		x.m = &c->metric[i];
		put_table(&x);
		tables++;
	}
	put_samples_list(&x);
	cmp_close(&x.p);
	put_data(&x);
}

const struct compare_sheet cmp_units = { 260, applies, build };
