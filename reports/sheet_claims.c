/* SPDX-License-Identifier: MIT */
/* Spec check: what the vendor claims, what was measured, the verdict by formulas that follow the yellow cells; D_claims. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/claims_data.h"
#include "reports/plots.h"
#include "reports/sheet.h"

#define PAGE_PX 890
#define NAME_MAX_SHOWN 48
#define BARS_MAX 30 /* of one chart */
#define BAR_PX 28
#define BAR_MIN_PX 14 /* rather than another page */
#define NOTE_PX 60
#define CHART_PX 76 /* of its title and axis */

enum col {
	C_NAME = 0, /* two columns */
	C_CONDITION = 2, /* three */
	C_VALUE = 5,
	C_UNIT,
	C_BETTER,
	C_TOLERANCE,
	C_LIMIT,
	C_MEASURED,
	C_UNDER, /* two */
	C_DIFFERENCE = 13,
	C_UNCERTAINTY,
	C_VERDICT
};

static bool applies(const struct dataset *d)
{
	return d->claims != NULL;
}

/* ---- the table ---- */

/* "ART, RND 4 KiB R, T1Q1; 4 KiB, QD=1, typical": what it is held against, then the vendor's words. */
static const char *condition(struct arena *a, const struct claim *c)
{
	return arena_fmt(a, "%s, %s%s%s%s%s", claim_metric(c), claim_text(a, c->access, 60),
			 *c->tcqd && !c->cell.tc ? ", " : "", c->cell.tc ? "" : c->tcqd,
			 *c->condition ? "; " : "", claim_text(a, c->condition, 240));
}

/* Pixels of a row in which that much text wraps. */
static double lines_px(const char *text, unsigned chars_per_line)
{
	size_t lines = (strlen(text) + chars_per_line - 1) / chars_per_line;

	return lines < 2 ? ROW_PX + 2 : 6 + 15.0 * (double)lines;
}

static double row_px(struct arena *a, const struct claim_check *k)
{
	double px = lines_px(condition(a, k->claim), 38),
	       name = lines_px(k->claim->name, NAME_MAX_SHOWN);
	double said = *k->why ? lines_px(k->why, 50) : lines_px(k->under, 27);

	return fmin(fmax(fmax(px, name), said), 150);
}

static void put_rule(struct grid_sheet *s, const struct claim_check *k, uint32_t row)
{
	const struct claim *c = k->claim;
	double value = claim_shown(c, c->value), limit = claim_shown(c, k->limit);
	uint32_t r = row + 1;

	put_num(s, AT(row, C_VALUE), STYLE(LOOK_INPUT, claim_fmt(c, value)), value);
	put_text(s, AT(row, C_UNIT), LOOK_CENTER, claim_unit(c));
	put_text(s, AT(row, C_BETTER), LOOK_CENTER, c->lower_is_better ? "lower" : "higher");
	put_num(s, AT(row, C_TOLERANCE), STYLE(LOOK_INPUT, NUM_PCT1), c->tolerance);
	put_formula(s, AT(row, C_LIMIT), STYLE(LOOK_FORMULA, claim_fmt(c, limit)), limit,
		    "=IF(H%u=\"lower\",F%u*(1+I%u),F%u*(1-I%u))", r, r, r, r, r);
}

static void put_verdict(struct grid_sheet *s, const struct claim_check *k, uint32_t row)
{
	uint32_t r = row + 1;

	put_formula_text(s, AT(row, C_VERDICT), k->verdict == CLAIM_MET ? LOOK_GOOD : LOOK_BAD,
			 claim_verdict_name(k->verdict),
			 arena_fmt(&s->grid->arena,
				   "=IF(H%u=\"lower\",IF(K%u<=J%u*(1+1E-9),\"PASS\",\"FAIL\"),"
				   "IF(K%u>=J%u*(1-1E-9),\"PASS\",\"FAIL\"))",
				   r, r, r, r, r));
}

static void put_measured(struct grid_sheet *s, const struct claim_check *k, uint32_t row)
{
	double shown = claim_shown(k->claim, k->measured);
	uint32_t r = row + 1;

	put_num(s, AT(row, C_MEASURED), STYLE(LOOK_STRONG, claim_fmt(k->claim, shown)), shown);
	put_text(s, AREA(row, C_UNDER, row, C_UNDER + 1), LOOK_WRAP, k->under);
	put_formula(s, AT(row, C_DIFFERENCE), STYLE(LOOK_FORMULA, NUM_DELTA), k->difference,
		    "=(K%u-F%u)/F%u", r, r, r);
	put_num(s, AT(row, C_UNCERTAINTY), STYLE(LOOK_CELL, NUM_PCT2), k->uncertainty);
	put_verdict(s, k, row);
}

static void put_open(struct grid_sheet *s, const struct claim_check *k, uint32_t row)
{
	enum look look = k->unsteady ? LOOK_BAD : LOOK_NA;

	put_text(s, AT(row, C_MEASURED), look, "n/a");
	put_fmt(s, AREA(row, C_UNDER, row, C_UNCERTAINTY), LOOK_WRAP, "%s", k->why);
	put_text(s, AT(row, C_VERDICT), look, claim_verdict_name(k->verdict));
}

static void put_claim(struct grid_sheet *s, const struct claim_check *k, uint32_t row)
{
	struct arena *a = &s->grid->arena;

	grid_row_height(s, row, row_px(a, k));
	put_text(s, AREA(row, C_NAME, row, C_NAME + 1), LOOK_ROW_HEAD,
		 claim_text(a, k->claim->name, NAME_MAX_SHOWN));
	put_text(s, AREA(row, C_CONDITION, row, C_CONDITION + 2), LOOK_WRAP,
		 condition(a, k->claim));
	put_rule(s, k, row);
	if (k->verdict == CLAIM_NOT_ASSESSED)
		put_open(s, k, row);
	else
		put_measured(s, k, row);
}

static uint32_t put_heads(struct grid_sheet *s, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { C_NAME, 1, "Claim" },
		      { C_CONDITION, 4, "Conditions: as held against, as stated by vendor" },
		      { C_VALUE, C_VALUE, "Claim value" },
		      { C_UNIT, C_UNIT, "Unit" },
		      { C_BETTER, C_BETTER, "Better" },
		      { C_TOLERANCE, C_TOLERANCE, "Tolerance" },
		      { C_LIMIT, C_LIMIT, "Limit" },
		      { C_MEASURED, C_MEASURED, "Measured" },
		      { C_UNDER, C_UNDER + 1, "Measured under" },
		      { C_DIFFERENCE, C_DIFFERENCE, "Difference" },
		      { C_UNCERTAINTY, C_UNCERTAINTY, "Std unc. (5 rds)" },
		      { C_VERDICT, C_VERDICT, "Verdict" } };

	grid_row_height(s, row, 30);
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD, heads[i].head);
	return row + 1;
}

/* Live counts of the verdicts above. */
static uint32_t put_counts(struct grid_sheet *s, const struct claim_checks *k, uint32_t row)
{
	static const struct {
		const char *word, *title;
	} rows[] = { { "PASS", "Claims met" },
		     { "FAIL", "Claims missed" },
		     { "NOT ASSESSED", "Claims not assessed" } };
	const unsigned count[] = { k->n_met, k->n_missed, k->n_open };
	uint32_t first = row + 1 - k->n, last = row;

	for (unsigned i = 0; i < 3; i++, row++) {
		put_text(s, AREA(row, 13, row, 14), LOOK_KEY, rows[i].title);
		put_formula(s, AT(row, 15), STYLE(LOOK_FORMULA, NUM_INT), count[i],
			    "=COUNTIF(P%u:P%u,\"%s\")", first, last, rows[i].word);
	}
	return row + 1;
}

/* ---- the chart ---- */

/* Longer is better, times too. */
static double percent_of_claim(const struct claim_check *k)
{
	if (k->verdict == CLAIM_NOT_ASSESSED)
		return NAN;
	return 100 * (k->claim->lower_is_better ? k->claim->value / k->measured
						: k->measured / k->claim->value);
}

static void chart(struct grid_sheet *s, const struct claim_check *k, unsigned n, uint32_t row,
		  double px)
{
	struct chart c = chart_new(CHART_BAR, NULL, NULL);
	const char *name[BARS_MAX];
	uint32_t color[BARS_MAX];
	double v[BARS_MAX], top = 115;
	struct plots pl;

	for (unsigned i = 0; i < n; i++) { /* the first one at the top */
		const struct claim_check *one = &k[n - 1 - i];
		name[i] = arena_fmt(&s->grid->arena, "%s%s",
				    claim_text(&s->grid->arena, one->claim->name, NAME_MAX_SHOWN),
				    one->verdict == CLAIM_NOT_ASSESSED ? " (n/a)" : "");
		v[i] = percent_of_claim(one);
		color[i] = one->verdict == CLAIM_MET ? 0x70AD47 : 0xC00000;
		top = fmax(top, isnan(v[i]) ? 0 : fmin(v[i], 400));
	}
	plots_begin(&pl, s->grid, "Spec check: measured as % of claim");
	struct series one = { .name = "measured as % of claim",
			      .x = plots_labels(&pl, "claim", name, n),
			      .y = plots_column(&pl, "% of claim", v, n),
			      .color = 0x70AD47,
			      .labels = true,
			      .label_fmt = NUM_1,
			      .point_color = color,
			      .n_points = n };
	chart_place(&c, (struct place){ row, 0, PAGE_COLS * PAGE_COL_PX, (uint32_t)px });
	c.title = "Measured as % of claim (100 % = claim met; times inverted, so longer is always "
		  "better)";
	c.x.min = 0;
	c.x.unit = 20;
	c.x.max = 20 * ceil(top * 1.04 / 20);
	if (c.x.max > 260)
		axis_round(&c.x, 0, top * 1.1);
	c.x.fmt = NUM_INT;
	c.x.grid = true;
	c.y.grid = false;
	c.legend = LEGEND_NONE;
	c.gap = 35;
	c.series = &one;
	c.n_series = 1;
	grid_chart(s, &c);
}

static uint32_t put_charts(struct grid_sheet *s, const struct claim_checks *k, uint32_t row,
			   double used_px)
{
	for (unsigned at = 0; at < k->n; at += BARS_MAX) {
		unsigned n = k->n - at < BARS_MAX ? k->n - at : BARS_MAX;
		double room = PAGE_PX - used_px - NOTE_PX, px = CHART_PX + n * BAR_PX;
		unsigned judged = 0;
		for (unsigned i = 0; i < n; i++)
			judged += k->v[at + i].verdict != CLAIM_NOT_ASSESSED;
		if (!judged)
			continue;
		if (room < px && room >= CHART_PX + n * BAR_MIN_PX)
			px = room;
		if (room < px) {
			grid_page_break(s, row++);
			used_px = ROW_PX;
		}
		chart(s, &k->v[at], n, row, px);
		row += (uint32_t)(px / ROW_PX) + 2;
		used_px += px + 2 * ROW_PX;
	}
	return row;
}

static void build(const struct dataset *d, struct grid *g)
{
	const struct claim_checks *k = d->checks;
	struct grid_sheet *s = page_plain(
		g, "Spec check", "Vendor Claims Check",
		arena_fmt(
			&g->arena,
			"Claims taken from: %s (SHA-256 %.8s...). Yellow cells are inputs - change"
			" them and the verdicts follow.%s",
			d->claims->file, d->claims->sha256,
			d->simulated ? "   |   SIMULATED" : ""));
	double px = 11 * ROW_PX;
	uint32_t row = 2;

	s->color = k->n_missed ? 0xC00000 : k->n_open || !k->n ? 0xFFC000 : 0x70AD47;
	if (d->simulated) {
		grid_row_height(s, row, 26);
		put_text(s, AREA(row, 0, row, 15), LOOK_SIMULATED,
			 "SIMULATED - no drive was measured: these verdicts are of a model");
		row++;
	}
	row = put_heads(s, row + 1);
	const uint32_t heads = row;
	for (unsigned i = 0; i < k->n; i++, row++) {
		put_claim(s, &k->v[i], row);
		px += row_px(&g->arena, &k->v[i]);
	}
	if (!k->n) {
		put_text(s, AREA(row, 0, row, 15), LOOK_WARN,
			 "none of these claims is of this drive");
		return;
	}
	grid_color_scale(s, AREA(row - k->n, C_VERDICT, row - 1, C_VERDICT), SCALE_VERDICT);
	row = put_counts(s, k, row);
	if (px > PAGE_PX)
		s->repeat_rows = heads;
	row = put_charts(s, k, row, px);
	grid_row_height(s, row, 44);
	put_text(s, AREA(row, 0, row, 15), LOOK_NOTE,
		 "Decision rule (ISO/IEC 17025 7.8.6): simple acceptance against the limit, claim x"
		 " (1 - tolerance), or claim x (1 + tolerance) where lower is better. The standard"
		 " uncertainty of the five-round mean, s / sqrt(5), is shown so that a reader may"
		 " apply a guard band. A claim under other conditions than those measured is not"
		 " assessed: see also sheet Warnings. The chart shows the claims as given.");
	claims_rows(g, d, k);
}

const struct sheet sheet_claims = { 490, applies, build };
