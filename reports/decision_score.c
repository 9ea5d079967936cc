/* SPDX-License-Identifier: MIT */
/* Candidates, the weighted score and the rank with their live formulas, bars of the score. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/decision.h"
#include "reports/plots.h"

#define SCORE_SHEET "D_score"
#define COL_PRICE 10
#define MODEL_CHARS 38 /* of a line of three columns */
#define COL_PER_GB 11

/* ---- candidates ---- */

static const char *currency(const struct comparison *c)
{
	return *c->prices.currency ? c->prices.currency : "price";
}

/* As the first word of a line. */
static const char *currency_first(const struct comparison *c)
{
	return *c->prices.currency ? c->prices.currency : "Price";
}

static bool any_price(const struct comparison *c)
{
	for (unsigned i = 0; i < c->n_candidates; i++)
		if (isfinite(c->candidate[i].cost))
			return true;
	return false;
}

static const char *endurance(const struct comparison *c, const struct candidate *one,
			     struct arena *a)
{
	const struct dataset *d = &c->run[one->run[0]].d;
	const char *dwpd = pairs_get(&d->info, "rated_dwpd");
	const char *tbw = pairs_get(&d->info, "rated_tbw");
	const struct price *p = one->price;

	if (p && isfinite(p->dwpd))
		return arena_fmt(a, "%.3g DWPD", p->dwpd);
	if (p && isfinite(p->rated_tbw_bytes))
		return arena_fmt(a, "%.0f TBW", p->rated_tbw_bytes / 1e12);
	if (dwpd)
		return arena_fmt(a, "%s DWPD", dwpd);
	return tbw ? arena_fmt(a, "%s%s", tbw, strpbrk(tbw, "TPtp") ? "" : " TBW") : "-";
}

static const char *run_ids(const struct comparison *c, const struct candidate *one, struct arena *a)
{
	const char *out = "";

	for (unsigned i = 0; i < one->n_runs; i++)
		out = arena_fmt(a, "%s%s%lld", out, i ? ", " : "",
				(long long)c->run[one->run[i]].d.run_id);
	return out;
}

static void valid_tests(struct grid_sheet *s, uint32_t row, const struct comparison *c,
			const struct candidate *one)
{
	unsigned valid = 0, all = 0;

	for (unsigned i = 0; i < one->n_runs; i++) {
		valid += c->run[one->run[i]].d.n_valid;
		all += c->run[one->run[i]].d.n_tests;
	}
	put_fmt(s, AT(row, 15), valid == all && all ? LOOK_GOOD : LOOK_WARN, "%u/%u", valid, all);
}

static void put_price(struct grid_sheet *s, uint32_t row, const struct comparison *c,
		      const struct candidate *one)
{
	const struct dataset *d = &c->run[one->run[0]].d;
	double gb = (double)d->capacity_bytes / 1e9;

	if (!isfinite(one->cost)) {
		put_text(s, AT(row, COL_PRICE), LOOK_NA, "n/a");
		put_text(s, AT(row, COL_PER_GB), LOOK_NA, "n/a");
		return;
	}
	put_num(s, AT(row, COL_PRICE), STYLE(LOOK_INPUT, NUM_GROUP2), one->cost);
	put_formula(s, AT(row, COL_PER_GB), STYLE(LOOK_FORMULA, NUM_4), one->cost / gb, "=%s/%.17g",
		    grid_ref(s->grid, AT(row, COL_PRICE), false), gb);
}

static void candidate_heads(struct pager *p, const struct comparison *c)
{
	static const struct {
		unsigned col, col2;
		const char *text;
	} heads[] = { { 0, 1, "" },	     { 2, 4, "Model" },	    { 5, 5, "Capacity" },
		      { 6, 6, "Firmware" },  { 7, 8, "Interface" }, { 9, 9, "Endurance" },
		      { 12, 12, "Samples" }, { 13, 14, "Run IDs" }, { 15, 15, "Valid tests" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(p->row, heads[i].col, p->row, heads[i].col2), LOOK_HEAD,
			 heads[i].text);
	bool any = any_price(c);
	bool money = any && *c->prices.currency;
	put_fmt(p->s, AT(p->row, COL_PRICE), LOOK_HEAD, money ? "Price %s" : "Price", currency(c));
	put_fmt(p->s, AT(p->row, COL_PER_GB), LOOK_HEAD, money ? "%s / GB" : "Price / GB",
		currency(c));
	pager_next(p, 0);
}

static void candidate_line(struct pager *p, const struct comparison *c, unsigned i)
{
	struct grid_sheet *s = p->s;
	struct arena *a = &s->grid->arena;
	const struct candidate *one = &c->candidate[i];
	const struct subject *first = &c->run[one->run[0]];
	const struct dataset *d = &first->d;
	char size[32];
	bool plain = !strcmp(first->layout, "one drive");

	put_text(s, AREA(p->row, 0, p->row, 1), LOOK_ROW_HEAD, candidate_head(a, one));
	const char *model = arena_fmt(a, "%s%s%s%s%s", d->vendor, *d->vendor ? " " : "",
				      *d->model ? d->model : d->dut, plain ? "" : ", ",
				      plain ? "" : first->layout);
	put_text(s, AREA(p->row, 2, p->row, 4), LOOK_WRAP, model);
	put_text(s, AT(p->row, 5), LOOK_CENTER,
		 fmt_capacity(size, sizeof size, (uint64_t)d->capacity_bytes));
	put_text(s, AT(p->row, 6), LOOK_VALUE, *d->firmware ? d->firmware : "-");
	put_text(s, AREA(p->row, 7, p->row, 8), LOOK_VALUE, *d->interface ? d->interface : "-");
	put_text(s, AT(p->row, 9), LOOK_VALUE, endurance(c, one, a));
	put_price(s, p->row, c, one);
	if (one->n_units == one->n_runs)
		put_fmt(s, AT(p->row, 12), LOOK_CENTER, "%u", one->n_runs);
	else
		put_fmt(s, AT(p->row, 12), LOOK_VALUE, "%u of %u drive%s", one->n_runs,
			one->n_units, one->n_units == 1 ? "" : "s");
	put_text(s, AREA(p->row, 13, p->row, 14), LOOK_VALUE, run_ids(c, one, a));
	valid_tests(s, p->row, c, one);
	size_t lines = strlen(model) / MODEL_CHARS + 1;
	pager_next(p, lines > 1 ? 4 + 14.0 * (double)lines : 0);
}

void decision_candidates(struct pager *p, const struct comparison *c, struct decision *d)
{
	pager_need(p, (c->n_candidates < 20 ? c->n_candidates + 2 : 8) * ROW_PX);
	pager_section(p, "Candidates");
	candidate_heads(p, c);
	d->price_col = COL_PRICE;
	d->price_row = arena_array(&p->s->grid->arena, uint32_t, c->n_candidates);
	for (unsigned i = 0; i < c->n_candidates; i++) {
		if (pager_need(p, ROW_PX))
			candidate_heads(p, c);
		d->price_row[i] = p->row;
		candidate_line(p, c, i);
	}
	pager_next(p, 0);
}

/* ---- the data sheet of the score: what each metric adds ---- */

enum score_col { SC_CANDIDATE, SC_METRIC, SC_WEIGHT, SC_RATIO, SC_NAME = 5, SC_SCORE, SC_RANK };

struct scoring {
	const struct comparison *c;
	struct decision *d;
	struct grid_sheet *page, *data;
	unsigned *metric, n; /* those with a weight */
};

static const char *ref_of(struct grid_sheet *s, struct area at)
{
	return arena_fmt(&s->grid->arena, "'%s'!%s", s->name, grid_ref(s->grid, at, true));
}

/* Times as good as the baseline, by the two cells of the page; 0 where one of them has no number. */
static void put_ratio(const struct scoring *sc, uint32_t row, unsigned metric, unsigned candidate)
{
	const struct comparison *c = sc->c;
	const struct metric *m = &c->metric[metric];
	const struct area *of = &sc->d->value[metric * c->n_candidates];
	const struct measured *base = &m->of[c->baseline], *v = &m->of[candidate];
	const char *b = ref_of(sc->page, of[c->baseline]), *x = ref_of(sc->page, of[candidate]);
	const char *up = m->lower_is_better ? b : x, *down = m->lower_is_better ? x : b;
	double ratio = m->lower_is_better ? base->value / v->value : v->value / base->value;

	if (!base->reported || !v->reported || !isfinite(ratio))
		ratio = 0;
	put_formula(sc->data, AT(row, SC_RATIO), STYLE(LOOK_FORMULA, NUM_GENERAL), ratio,
		    "=IF(ISNUMBER(%s/%s),%s/%s,0)", up, down, up, down);
}

static void put_rows_of(const struct scoring *sc, unsigned candidate)
{
	for (unsigned k = 0; k < sc->n; k++) {
		uint32_t row = 1 + candidate * sc->n + k;
		const struct metric *m = &sc->c->metric[sc->metric[k]];
		struct area weight = AT(sc->d->weight_row[sc->metric[k]], sc->d->weight_col);

		put_text(sc->data, AT(row, SC_CANDIDATE), LOOK_CELL,
			 sc->c->candidate[candidate].label);
		put_text(sc->data, AT(row, SC_METRIC), LOOK_CELL, m->title);
		put_formula(sc->data, AT(row, SC_WEIGHT), STYLE(LOOK_FORMULA, NUM_GENERAL),
			    m->weight / 100, "=%s", ref_of(sc->page, weight));
		put_ratio(sc, row, sc->metric[k], candidate);
	}
}

/* The scores stand in one column: a rank is over all of them. */
static void put_score_of(const struct scoring *sc, unsigned candidate)
{
	struct grid *g = sc->data->grid;
	const struct candidate *one = &sc->c->candidate[candidate];
	uint32_t first = 1 + candidate * sc->n, last = first + sc->n - 1, row = 1 + candidate;
	const char *w = grid_ref(g, AREA(first, SC_WEIGHT, last, SC_WEIGHT), true);
	const char *v = grid_ref(g, AREA(first, SC_RATIO, last, SC_RATIO), true);
	const char *all = grid_ref(g, AREA(1, SC_SCORE, sc->c->n_candidates, SC_SCORE), true);

	put_text(sc->data, AT(row, SC_NAME), LOOK_CELL, one->label);
	put_formula(sc->data, AT(row, SC_SCORE), STYLE(LOOK_FORMULA, NUM_GENERAL), one->score,
		    "=IF(SUMIF(%s,\">0\",%s)>0,100*SUMPRODUCT(%s,%s)/SUMIF(%s,\">0\",%s),0)", v, w,
		    w, v, v, w);
	put_formula(sc->data, AT(row, SC_RANK), STYLE(LOOK_FORMULA, NUM_INT),
		    one->rank ? one->rank : NAN, "=RANK(%s,%s)",
		    grid_ref(g, AT(row, SC_SCORE), true), all);
}

static void put_score_data(struct scoring *sc)
{
	static const struct {
		unsigned col;
		const char *text;
	} heads[] = { { SC_CANDIDATE, "candidate" },
		      { SC_METRIC, "metric" },
		      { SC_WEIGHT, "weight" },
		      { SC_RATIO, "times_as_good_as_baseline" },
		      { SC_NAME, "candidate" },
		      { SC_SCORE, "score" },
		      { SC_RANK, "rank" } };
	struct grid_sheet *s = sc->data;

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AT(0, heads[i].col), LOOK_HEAD, heads[i].text);
	grid_col_width(s, SC_CANDIDATE, SC_CANDIDATE, 140);
	grid_col_width(s, SC_METRIC, SC_METRIC, 300);
	grid_col_width(s, SC_WEIGHT, SC_RATIO, 120);
	grid_col_width(s, SC_NAME, SC_RANK, 120);
	s->freeze_rows = 1;
	for (unsigned i = 0; i < sc->c->n_candidates && sc->n; i++) {
		put_rows_of(sc, i);
		put_score_of(sc, i);
	}
}

/* ---- the table of the score ---- */

static void put_weight(const struct scoring *sc, struct pager *p, const struct block *b, unsigned m,
		       bool first)
{
	double weight = sc->c->metric[m].weight / 100;
	struct area at = AT(p->row, b->weight);

	if (!first) {
		struct area of = AT(sc->d->weight_row[m], sc->d->weight_col);
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_PCT1), weight, "=%s",
			    grid_ref(p->s->grid, of, true));
		return;
	}
	put_num(p->s, at, STYLE(LOOK_INPUT, NUM_PCT1), weight);
	sc->d->weight_row[m] = p->row;
	sc->d->weight_col = b->weight;
}

static void put_sum(const struct scoring *sc, struct pager *p, const struct block *b)
{
	struct grid *g = p->s->grid;
	const char *list = "";
	double sum = 0;

	for (unsigned k = 0; k < sc->n; k++) {
		uint32_t row = sc->d->weight_row[sc->metric[k]];
		list = arena_fmt(&g->arena, "%s%s%s", list, k ? "+" : "",
				 grid_ref(g, AT(row, sc->d->weight_col), false));
		sum += sc->c->metric[sc->metric[k]].weight / 100;
	}
	put_formula(p->s, AT(p->row, b->weight), STYLE(LOOK_FORMULA, NUM_PCT1), sum, "=%s", list);
}

static void put_values(const struct scoring *sc, struct pager *p, const struct block *b, bool first)
{
	const struct comparison *c = sc->c;

	for (unsigned k = 0; k < sc->n; k++) {
		unsigned m = sc->metric[k];
		if (pager_need(p, ROW_PX))
			block_heads(p, c, b);
		block_line(p, c, b, &c->metric[m]);
		put_weight(sc, p, b, m, first);
		for (unsigned i = first ? 0 : 1; i < b->n; i++)
			sc->d->value[m * c->n_candidates + b->list[i]] = AT(p->row, b->value + i);
		pager_next(p, 0);
	}
}

enum foot { FOOT_SCORE, FOOT_RANK, FOOT_PER_PRICE, FOOT_KIOPS, FOOT_TBW, FOOT_WATT, FEET };

static bool foot_applies(const struct comparison *c, enum foot f)
{
	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct candidate *one = &c->candidate[i];
		if (f <= FOOT_RANK || (f == FOOT_PER_PRICE && isfinite(one->cost)) ||
		    (f == FOOT_KIOPS && isfinite(one->cost_per_kiops)) ||
		    (f == FOOT_TBW && isfinite(one->cost_per_tbw)) ||
		    (f == FOOT_WATT && isfinite(one->iops_per_w)))
			return true;
	}
	return false;
}

static const char *foot_name(const struct comparison *c, enum foot f, struct arena *a)
{
	const char *of = c->kiops ? c->kiops->title : "";

	switch (f) {
	case FOOT_SCORE:
		return "Weighted score (baseline = 100)";
	case FOOT_RANK:
		return "Rank";
	case FOOT_PER_PRICE:
		return arena_fmt(a, "Score per 100 %s%s", *c->prices.currency ? "" : "of ",
				 currency(c));
	case FOOT_KIOPS:
		return arena_fmt(a, "%s per kIOPS (%s)", currency_first(c), of);
	case FOOT_TBW:
		return arena_fmt(a, "%s per TB of rated endurance", currency_first(c));
	default:
		return arena_fmt(a, "IOPS per W, as rated (%s)", of);
	}
}

static void foot_cell(const struct scoring *sc, struct pager *p, struct area at, unsigned candidate,
		      enum foot f)
{
	const struct candidate *one = &sc->c->candidate[candidate];
	struct grid *g = p->s->grid;
	const char *score = ref_of(sc->data, AT(1 + candidate, SC_SCORE));
	const char *price = grid_ref(g, AT(sc->d->price_row[candidate], sc->d->price_col), true);
	const struct metric *k = sc->c->kiops;

	if (f == FOOT_SCORE)
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_1), one->score, "=%s", score);
	else if (f == FOOT_RANK)
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_INT), one->rank ? one->rank : NAN,
			    "=%s", ref_of(sc->data, AT(1 + candidate, SC_RANK)));
	else if (f == FOOT_PER_PRICE)
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_1),
			    isfinite(one->score) ? 100 * one->score / one->cost : NAN, "=100*%s/%s",
			    score, price);
	else if (f == FOOT_KIOPS)
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_GROUP2), one->cost_per_kiops,
			    "=%s/(%.17g/1000)", price, k ? k->of[candidate].value : 1);
	else if (f == FOOT_TBW)
		put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_4), one->cost_per_tbw, "=%s/%.17g",
			    price, one->cost / one->cost_per_tbw);
	else
		put_num(p->s, at, STYLE(LOOK_CELL, NUM_GROUP), one->iops_per_w);
}

static void put_feet(const struct scoring *sc, struct pager *p, const struct block *b)
{
	struct arena *a = &p->s->grid->arena;

	for (unsigned f = 0; f < FEET; f++) {
		if (!foot_applies(sc->c, (enum foot)f))
			continue;
		put_text(p->s, AREA(p->row, 0, p->row, b->weight - 1), LOOK_KEY,
			 foot_name(sc->c, (enum foot)f, a));
		if (f == FOOT_SCORE)
			put_sum(sc, p, b);
		for (unsigned i = 0; i < b->n; i++)
			foot_cell(sc, p, AT(p->row, b->value + i), b->list[i], (enum foot)f);
		pager_next(p, 0);
	}
}

static double block_px(const struct scoring *sc)
{
	unsigned feet = 0;

	for (unsigned f = 0; f < FEET; f++)
		feet += foot_applies(sc->c, (enum foot)f);
	return HEAD_PX + (sc->n < 24 ? sc->n + feet : 8) * ROW_PX;
}

static void put_blocks(struct scoring *sc, struct pager *p)
{
	struct block b;
	unsigned n = block_count(sc->c);

	for (unsigned i = 0; i < n; i++) {
		block_init(&b, sc->c, i, true);
		if (i)
			pager_need(p, block_px(sc));
		block_heads(p, sc->c, &b);
		put_values(sc, p, &b, i == 0);
		put_feet(sc, p, &b);
		pager_next(p, 0);
	}
}

void decision_scores(struct pager *p, const struct comparison *c, struct decision *d)
{
	struct arena *a = &p->s->grid->arena;
	struct scoring sc = { .c = c, .d = d, .page = p->s, .data = NULL };

	d->weight_row = arena_array(a, uint32_t, c->n_metrics + 1);
	d->value = arena_array(a, struct area, (size_t)c->n_metrics * c->n_candidates + 1);
	sc.metric = arena_array(a, unsigned, c->n_metrics + 1);
	for (unsigned i = 0; i < c->n_metrics; i++)
		if (c->metric[i].weight > 0)
			sc.metric[sc.n++] = i;
	pager_need(p, block_px(&sc) + ROW_PX);
	pager_section(p, "Weighted score (yellow: your input; score and rank follow). Score of a"
			 " metric = value / baseline, or baseline / value where lower is better");
	if (!sc.n) {
		pager_text(p, LOOK_NA, 0, "no metric to score by");
		return;
	}
	sc.data = grid_sheet(p->s->grid, SCORE_SHEET, ROLE_DATA);
	put_blocks(&sc, p);
	put_score_data(&sc);
	pager_text(p, LOOK_NOTE, 0,
		   "Score: weighted mean x 100; the weight of a missing metric is dropped. Noise: 2"
		   " x the largest CV, of the rounds or between samples. A difference inside it is"
		   " grey and must not decide a purchase; green is better than the baseline, amber"
		   " worse; without a known noise it has no colour. Bars show the scores as this"
		   " file was written.");
	pager_next(p, 0);
}

/* ---- bars ---- */

struct bar {
	const struct candidate *of;
	double v;
};

static int by_value(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;

	return x->v < y->v ? -1 : x->v > y->v;
}

static double score_bar(const struct candidate *one)
{
	return one->score;
}

static double price_bar(const struct candidate *one)
{
	return 100 * one->score / one->cost;
}

/* The best on top. */
static void put_bars(struct pager *p, const struct comparison *c, const char *title,
		     double (*value)(const struct candidate *one), struct place at)
{
	struct bar bar[COMPARE_RUNS] = { { NULL, 0 } };
	const char *name[COMPARE_RUNS];
	uint32_t color[COMPARE_RUNS];
	double v[COMPARE_RUNS], top = 0;
	unsigned n = 0;
	struct plots pl;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		bar[n] = (struct bar){ &c->candidate[i], value(&c->candidate[i]) };
		n += isfinite(bar[n].v);
	}
	qsort(bar, n, sizeof *bar, by_value);
	for (unsigned i = 0; i < n; i++) {
		name[i] = candidate_head(&p->s->grid->arena, bar[i].of);
		color[i] = bar[i].of->color;
		v[i] = bar[i].v;
		top = fmax(top, v[i]);
	}
	plots_begin(&pl, p->s->grid, title);
	struct chart ch = chart_new(CHART_BAR, NULL, NULL);
	struct series one = { .name = title,
			      .x = plots_labels(&pl, "candidate", name, n),
			      .y = plots_column(&pl, title, v, n),
			      .color = 0x2E75B6,
			      .labels = true,
			      .label_fmt = NUM_1,
			      .point_color = color,
			      .n_points = n };
	chart_place(&ch, at);
	ch.dy_px = 3; /* its edge is not to lie on that of a page */
	ch.title = title;
	ch.legend = LEGEND_NONE;
	ch.gap = 40;
	axis_round(&ch.x, 0, top * 1.12); /* room for the labels */
	ch.x.fmt = NUM_GROUP;
	ch.x.grid = true;
	ch.y.grid = false;
	ch.y.bare = true;
	ch.series = &one;
	ch.n_series = 1;
	if (n)
		grid_chart(p->s, &ch);
}

void decision_charts(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;
	uint32_t height = 76 + (c->n_candidates > 12 ? 16 : 26) * c->n_candidates;
	bool price = any_price(c), any = false;
	unsigned rows = (height + ROW_PX - 1) / ROW_PX;

	for (unsigned i = 0; i < c->n_candidates; i++)
		any |= isfinite(c->candidate[i].score);
	if (!any)
		return;
	pager_need(p, (rows + 1) * ROW_PX);
	uint32_t half = PAGE_COLS / 2 * PAGE_COL_PX;
	put_bars(p, c, "Weighted score (baseline = 100)", score_bar,
		 (struct place){ p->row, 0, price ? half : 2 * half, rows * ROW_PX });
	if (price)
		put_bars(p, c, arena_fmt(a, "Score points per 100 %s", currency(c)), price_bar,
			 (struct place){ p->row, PAGE_COLS / 2, half, rows * ROW_PX });
	for (unsigned i = 0; i <= rows; i++)
		pager_next(p, 0);
}
