/* SPDX-License-Identifier: MIT */
/* Claims: drives across, each with claim, measured and verdict; by how many a claim is met. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/claims_data.h"
#include "reports/compare_parts.h"

#define ACROSS 4 /* drives beside one another; more go below */
#define NOTES_MAX 40
#define BLOCK_ROWS(n) ((n) + 4) /* two heads, the claims, the counts, a gap */

enum { C_NAME, C_UNIT, C_TOLERANCE, C_FIRST, C_MET = C_FIRST + 3 * ACROSS };

/* What became of a claim with one candidate. */
struct fate {
	const struct claim *claim; /* NULL: none of that title is of this drive */
	struct claim_check worst; /* of its samples that were assessed; else of one that was not */
	unsigned n, assessed; /* samples */
	const struct subject *of; /* whose the worst is */
};

struct claims_build {
	struct cmp_page p;
	const char **name; /* titles, each once */
	unsigned n;
	struct fate *fate; /* [title][candidate] */
	uint32_t top; /* first row of the first block */
};

static bool applies(const struct comparison *c)
{
	return c->claims.n > 0;
}

static struct fate *fate_at(const struct claims_build *x, unsigned row, unsigned candidate)
{
	return &x->fate[row * x->p.c->n_candidates + candidate];
}

/* ---- collecting ---- */

static void add_name(struct claims_build *x, const char *name)
{
	for (unsigned i = 0; i < x->n; i++)
		if (!strcmp(x->name[i], name))
			return;
	x->name[x->n++] = name;
}

static bool is_worse(const struct claim_check *a, const struct claim_check *b)
{
	return a->claim->lower_is_better ? a->measured > b->measured : a->measured < b->measured;
}

static void take(struct fate *f, const struct claim_check *k, const struct subject *of)
{
	bool assessed = k->verdict != CLAIM_NOT_ASSESSED;

	f->claim = f->claim ? f->claim : k->claim;
	f->n++;
	if (!f->of || (assessed && (!f->assessed || is_worse(k, &f->worst)))) {
		f->worst = *k;
		f->of = of;
	}
	f->assessed += assessed;
}

/* The first claim of that title which is of this run's drive. */
static bool check(const struct comparison *c, const char *name, const struct dataset *d,
		  struct claim_check *ret)
{
	for (unsigned i = 0; i < c->claims.n; i++)
		if (!strcmp(c->claims.v[i].name, name) && claim_check(&c->claims.v[i], d, ret))
			return true;
	return false;
}

static void collect(struct claims_build *x)
{
	const struct comparison *c = x->p.c;
	struct claim_check k;

	x->name = arena_array(x->p.a, const char *, c->claims.n + 1);
	for (unsigned i = 0; i < c->claims.n; i++)
		add_name(x, c->claims.v[i].name);
	x->fate = arena_array(x->p.a, struct fate, x->n * c->n_candidates + 1);
	for (unsigned i = 0; i < x->n; i++)
		for (unsigned r = 0; r < c->n_runs; r++)
			if (check(c, x->name[i], &c->run[r].d, &k))
				take(fate_at(x, i, c->run[r].candidate), &k, &c->run[r]);
}

/* ---- the table ---- */

static const struct claim *any_claim(const struct claims_build *x, unsigned row)
{
	for (unsigned i = 0; i < x->p.c->n_candidates; i++)
		if (fate_at(x, row, i)->claim)
			return fate_at(x, row, i)->claim;
	for (unsigned i = 0;; i++) /* of a drive that is not compared */
		if (!strcmp(x->p.c->claims.v[i].name, x->name[row]))
			return &x->p.c->claims.v[i];
}

/* NAN: not all drives have the same. */
static double tolerance_of(const struct claims_build *x, unsigned row)
{
	double same = any_claim(x, row)->tolerance;

	for (unsigned i = 0; i < x->p.c->n_candidates; i++) {
		const struct claim *c = fate_at(x, row, i)->claim;
		if (c && c->tolerance != same)
			return NAN;
	}
	return same;
}

static uint32_t row_at(const struct claims_build *x, unsigned candidate, unsigned row)
{
	return x->top + candidate / ACROSS * BLOCK_ROWS(x->n) + 2 + row;
}

static uint32_t col_at(unsigned candidate)
{
	return C_FIRST + 3 * (candidate % ACROSS);
}

/* "Met by" stands beside the last drive of a block. */
static uint32_t met_at(const struct claims_build *x, unsigned first)
{
	unsigned left = x->p.c->n_candidates - first;

	return col_at(first + (left < ACROSS ? left : ACROSS) - 1) + 3;
}

static void put_verdict(struct claims_build *x, const struct fate *f, struct area at, bool literal)
{
	struct grid *g = x->p.s->grid;
	const char *measured = grid_ref(g, AT(at.row, at.col - 1), false);
	const char *claim = grid_ref(g, AT(at.row, at.col - 2), false);
	const char *tolerance = literal ? fmt_double(arena_alloc(x->p.a, 32), 32,
						     f->claim->tolerance)
					: grid_ref(g, AT(at.row, C_TOLERANCE), false);
	bool lower = f->claim->lower_is_better;

	put_formula_text(x->p.s, at, f->worst.verdict == CLAIM_MET ? LOOK_GOOD : LOOK_BAD,
			 claim_verdict_name(f->worst.verdict),
			 arena_fmt(x->p.a, "=IF(%s%s%s*(1%c%s)*(1%c1E-9),\"PASS\",\"FAIL\")",
				   measured, lower ? "<=" : ">=", claim, lower ? '+' : '-',
				   tolerance, lower ? '+' : '-'));
}

static void put_fate(struct claims_build *x, const struct fate *f, struct area at, bool literal)
{
	struct grid_sheet *s = x->p.s;

	if (!f->claim) {
		for (unsigned i = 0; i < 3; i++)
			put_text(s, AT(at.row, at.col + i), LOOK_NA, "-");
		return;
	}
	double value = claim_shown(f->claim, f->claim->value);
	put_num(s, at, STYLE(LOOK_INPUT, claim_fmt(f->claim, value)), value);
	if (!f->assessed) {
		enum look look = f->worst.unsteady ? LOOK_BAD : LOOK_NA;
		put_text(s, AT(at.row, at.col + 1), look, f->worst.unsteady ? "not steady" : "n/a");
		put_text(s, AT(at.row, at.col + 2), look, claim_verdict_name(CLAIM_NOT_ASSESSED));
		return;
	}
	double shown = claim_shown(f->claim, f->worst.measured);
	put_num(s, AT(at.row, at.col + 1), STYLE(LOOK_CELL, claim_fmt(f->claim, shown)), shown);
	put_verdict(x, f, AT(at.row, at.col + 2), literal);
}

static void put_heads(struct claims_build *x, unsigned first)
{
	const struct comparison *c = x->p.c;
	static const char *const sub[] = { "Claim", "Measured", "Verdict" };
	const struct {
		unsigned col;
		const char *head;
	} ends[] = { { C_NAME, "Claim" },
		     { C_UNIT, "Unit" },
		     { C_TOLERANCE, "Tolerance" },
		     { met_at(x, first), "Met by" } };
	struct grid_sheet *s = x->p.s;
	uint32_t row = row_at(x, first, 0) - 2;

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		put_text(s, AT(row, ends[i].col), LOOK_HEAD, "");
		put_text(s, AT(row + 1, ends[i].col), LOOK_HEAD, ends[i].head);
	}
	for (unsigned i = first; i < c->n_candidates && i < first + ACROSS; i++) {
		uint32_t col = col_at(i);
		put_text(s, AREA(row, col, row, col + 2), LOOK_HEAD,
			 candidate_head(x->p.a, &c->candidate[i]));
		for (unsigned k = 0; k < 3; k++)
			put_text(s, AT(row + 1, col + k), LOOK_HEAD, sub[k]);
	}
}

/* Over all blocks, also the drives below: "2 of 3". */
static void put_met(struct claims_build *x, unsigned row, struct area at)
{
	struct buf text = BUF_INIT;
	unsigned met = 0, of = 0;

	for (unsigned i = 0; i < x->p.c->n_candidates; i++) {
		const struct fate *f = fate_at(x, row, i);
		if (!f->claim)
			continue;
		met += f->worst.verdict == CLAIM_MET;
		buf_fmt(&text, "%s(%s=\"PASS\")", of++ ? "+" : "=",
			grid_ref(x->p.s->grid, AT(row_at(x, i, row), col_at(i) + 2), false));
	}
	if (of)
		put_formula_text(x->p.s, at, LOOK_CENTER, arena_fmt(x->p.a, "%u of %u", met, of),
				 arena_fmt(x->p.a, "%s&\" of %u\"", buf_cstr(&text), of));
	else
		put_text(x->p.s, at, LOOK_NA, "-");
	buf_release(&text);
}

static void put_row(struct claims_build *x, unsigned first, unsigned row)
{
	const struct claim *c = any_claim(x, row);
	uint32_t at = row_at(x, first, row);
	double tolerance = tolerance_of(x, row);

	put_text(x->p.s, AT(at, C_NAME), LOOK_ROW_HEAD, claim_text(x->p.a, x->name[row], 48));
	put_text(x->p.s, AT(at, C_UNIT), LOOK_CENTER, claim_unit(c));
	if (isnan(tolerance))
		put_text(x->p.s, AT(at, C_TOLERANCE), LOOK_NA, "differ");
	else
		put_num(x->p.s, AT(at, C_TOLERANCE), STYLE(LOOK_INPUT, NUM_PCT1), tolerance);
	for (unsigned i = first; i < x->p.c->n_candidates && i < first + ACROSS; i++)
		put_fate(x, fate_at(x, row, i), AT(at, col_at(i)), isnan(tolerance));
	put_met(x, row, AT(at, met_at(x, first)));
}

static void put_counts(struct claims_build *x, unsigned first)
{
	uint32_t top = row_at(x, first, 0), row = row_at(x, first, x->n);

	put_text(x->p.s, AREA(row, C_NAME, row, C_TOLERANCE), LOOK_KEY, "Claims met");
	for (unsigned i = first; i < x->p.c->n_candidates && i < first + ACROSS; i++) {
		struct area verdicts = AREA(top, col_at(i) + 2, row - 1, col_at(i) + 2);
		unsigned met = 0;
		for (unsigned k = 0; k < x->n; k++)
			met += fate_at(x, k, i)->worst.verdict == CLAIM_MET;
		put_formula(x->p.s, AT(row, col_at(i) + 2), STYLE(LOOK_FORMULA, NUM_INT), met,
			    "=COUNTIF(%s,\"PASS\")", grid_ref(x->p.s->grid, verdicts, false));
		grid_color_scale(x->p.s, verdicts, SCALE_VERDICT);
	}
}

/* ---- what the table leaves open ---- */

static const char *note_of(struct claims_build *x, unsigned row, unsigned candidate)
{
	const struct fate *f = fate_at(x, row, candidate);
	const char *who = x->p.c->candidate[candidate].label;

	if (!f->claim)
		return NULL;
	if (!f->assessed)
		return arena_fmt(x->p.a, "%s, %s: not assessed: %s", x->name[row], who,
				 f->worst.why);
	if (f->assessed < f->n)
		return arena_fmt(x->p.a, "%s, %s: the worst of %u samples, %u were not assessed",
				 x->name[row], who, f->assessed, f->n - f->assessed);
	return NULL;
}

static void put_notes(struct claims_build *x)
{
	unsigned n = 0;

	for (unsigned i = 0; i < x->n; i++) {
		for (unsigned k = 0; k < x->p.c->n_candidates; k++) {
			const char *note = note_of(x, i, k);
			if (!note || ++n > NOTES_MAX)
				continue;
			put_text(x->p.s, AREA(x->p.row, 0, x->p.row, PAGE_COLS - 1), LOOK_NOTE,
				 note);
			x->p.row++;
		}
	}
	if (n > NOTES_MAX)
		put_fmt(x->p.s, AREA(x->p.row, 0, x->p.row, PAGE_COLS - 1), LOOK_NOTE,
			"%u more on sheet D_claims", n - NOTES_MAX);
	x->p.row += n > NOTES_MAX;
}

static void put_rule(struct claims_build *x)
{
	const struct claims *c = &x->p.c->claims;
	uint32_t row = x->p.row + 1;

	grid_row_height(x->p.s, row, 44);
	put_fmt(x->p.s, AREA(row, 0, row, PAGE_COLS - 1), LOOK_NOTE,
		"Claims of %s (SHA-256 %.8s...); their conditions and the uncertainty of each value"
		" are on sheet D_claims and in each drive's own report. Decision rule (ISO/IEC"
		" 17025 7.8.6): simple acceptance against claim x (1 - tolerance), or x (1 +"
		" tolerance) where lower is better. Of several samples of a drive the worst one"
		" counts. Yellow cells are inputs: the verdicts follow.",
		c->file, c->sha256);
	x->p.row = row + 1;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct claims_build x = { .p = { .c = c, .a = &g->arena } };

	x.p.s = compare_page(c, g, "Claims", "Vendor Claims - claimed, measured, met?", &x.p.row);
	x.p.s->color = 0x70AD47;
	grid_col_width(x.p.s, C_NAME, C_NAME, 160);
	grid_col_width(x.p.s, C_UNIT, C_TOLERANCE, 60);
	grid_col_width(x.p.s, C_FIRST, C_MET - 1, 75);
	grid_col_width(x.p.s, C_MET, C_MET, 68);
	collect(&x);
	x.top = x.p.row + 1;
	for (unsigned first = 0; first < c->n_candidates; first += ACROSS) {
		put_heads(&x, first);
		for (unsigned i = 0; i < x.n; i++)
			put_row(&x, first, i);
		put_counts(&x, first);
		x.p.row = row_at(&x, first, x.n) + 2;
	}
	put_notes(&x);
	put_rule(&x);
	for (unsigned i = 0; i < c->n_runs; i++) {
		struct claim_checks k;
		claims_check(&c->claims, &c->run[i].d, &g->arena, &k);
		claims_rows(g, &c->run[i].d, &k);
	}
}

const struct compare_sheet cmp_claims = { 250, applies, build };
