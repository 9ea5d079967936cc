/* SPDX-License-Identifier: MIT */
/* Throughput test (spec 8): per block size convergence and window, then table and bars of all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/steady.h"
#include "reports/plots.h"
#include "reports/sheet.h"

#define COMBOS_MAX 16

static bool applies(const struct dataset *d)
{
	const struct test *t = dataset_test(d, "tp");

	return t && t->n_sections;
}

static const char *direction(const struct combo *c)
{
	return c->read_pct >= 100 ? "Read" : c->read_pct <= 0 ? "Write" : c->title;
}

static const char *size_text(struct arena *a, const struct section *s)
{
	return s->n_combos ? arena_fmt(a, "%s/%sKiB", s->combo[0].pattern,
				       kib_text(a, s->combo[0].block_bytes))
			   : s->label;
}

/* Write on the left, read on the right, each with its rounds from 0. */
static void page_convergence(struct page *p, const struct section *s)
{
	struct arena *a = &p->s->grid->arena;
	const struct combo *list[COMBOS_MAX];
	const char *name[COMBOS_MAX];
	struct convergence all = {
		.s = s, .combo = list, .name = name, .field = FIELD_MBS, .y_title = "MB/s"
	};

	page_begin(
		p, "Plot",
		arena_fmt(a, "Throughput SS Convergence - Write and Read - %s", size_text(a, s)));
	page_banner(p, s);
	for (unsigned i = s->n_combos; i-- > 0 && all.n < COMBOS_MAX;) {
		list[all.n] = &s->combo[i];
		name[all.n++] = s->combo[i].title;
	}
	for (unsigned i = 0; i < all.n && i < 2; i++) {
		struct convergence one = all;
		uint32_t col = i * 8;
		put_fmt(p->s, AREA(p->row, col, p->row, col + 7), LOOK_HEAD_PLATFORM,
			"SS Convergence - %s - %s", direction(list[i]), size_text(a, s));
		one.combo = list + i;
		one.name = name + i;
		one.n = 1;
		convergence_chart(
			p, &one,
			(struct place){ p->row + 1, col, 8 * PAGE_COL_PX - 4, 22 * ROW_PX });
	}
	convergence_table(p, &all, p->row + 25);
}

/* ---- the table of all sizes ---- */

/*
 * Spec 22 #6: the steady state is that of the tracked direction; the same rounds of the other one are told as well. From
 * the rounds, as the check was: equal to the stored one where there is one.
 */
static bool window_check(const struct section *s, const struct combo *c, struct steady_check *ret)
{
	double y[STEADY_WINDOW];

	if (c->n_window != STEADY_WINDOW || s->window_first < 0)
		return false;
	for (unsigned i = 0; i < STEADY_WINDOW; i++)
		y[i] = c->window[i]->bytes_per_s;
	steady_check(y, (unsigned)s->window_first, ret);
	return true;
}

static void put_row(struct page *p, const struct section *s, const struct combo *c, uint32_t row)
{
	struct grid_sheet *g = p->s;
	struct arena *a = &g->grid->arena;
	struct steady_check k;
	bool window = window_check(s, c, &k);
	enum look look = result_look(s, LOOK_STRONG);
	enum look verdict = s->steady == 1 ? LOOK_GOOD : s->steady == 0 ? LOOK_BAD : LOOK_NA;

	put_fmt(g, AREA(row, 0, row, 1), LOOK_ROW_HEAD, "%s %s KiB", c->pattern,
		kib_text(a, c->block_bytes));
	put_text(g, AT(row, 2), LOOK_CENTER, mix_text(a, c->read_pct));
	put_num(g, AREA(row, 3, row, 4), STYLE(look, NUM_GROUP1), c->bytes_per_s / 1e6);
	put_num(g, AREA(row, 5, row, 6), STYLE(result_look(s, LOOK_CELL), NUM_GROUP1), c->iops);
	put_num(g, AT(row, 7), STYLE(LOOK_CENTER, NUM_PCT2), c->bytes_cv);
	put_text(g, AT(row, 8), LOOK_CENTER, mean_text(a, s));
	put_num(g, AT(row, 9), STYLE(LOOK_CENTER, NUM_PCT1), window ? k.range / k.average : NAN);
	put_num(g, AT(row, 10), STYLE(LOOK_CENTER, NUM_PCT1), window ? 0.2 : NAN);
	put_num(g, AT(row, 11), STYLE(LOOK_CENTER, NUM_PCT1),
		window ? k.slope_excursion / k.average : NAN);
	put_num(g, AT(row, 12), STYLE(LOOK_CENTER, NUM_PCT1), window ? 0.1 : NAN);
	put_text(g, AREA(row, 13, row, 15), verdict,
		 s->steady == 1	  ? "STEADY - valid"
		 : s->steady == 0 ? "NOT REACHED - not valid"
				  : "n.a.");
}

static uint32_t put_table(struct page *p, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 1, "Block size" },
		      { 2, 2, "R/W" },
		      { 3, 4, "MB/s" },
		      { 5, 6, "IOPS" },
		      { 7, 7, "CV" },
		      { 8, 8, "Rounds" },
		      { 9, 9, "Data exc." },
		      { 10, 10, "Allowed" },
		      { 11, 11, "Slope exc." },
		      { 12, 12, "Allowed" },
		      { 13, 15, "Steady state" } };

	put_text(p->s, AREA(row, 0, row, 15), LOOK_HEAD_PLATFORM,
		 "Throughput (MB/s = 10^6 B/s), mean of the window rounds");
	row++;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
	row++;
	for (unsigned i = 0; i < p->t->n_sections; i++)
		for (unsigned k = p->t->section[i].n_combos; k-- > 0;)
			put_row(p, &p->t->section[i], &p->t->section[i].combo[k], row++);
	put_text(p->s, AREA(row, 0, row, 15), LOOK_NOTE,
		 "The steady state of a block size is that of its tracking variable; the excursions"
		 " of the other direction, in the same rounds, are for information.");
	return row + 1;
}

/* One bar for each size and direction; those of a section that is not steady are hatched red. */
static void put_bars(struct page *p, uint32_t row, uint32_t rows)
{
	struct chart c = chart_new(CHART_COLUMN, "R/W mix and block size", "MB/s");
	struct arena *a = &p->s->grid->arena;
	uint32_t *color = arena_array(a, uint32_t, COMBOS_MAX);
	const char *label[COMBOS_MAX];
	double v[COMBOS_MAX];
	struct series one = { .name = "MB/s", .labels = true, .label_fmt = NUM_GROUP1 };
	unsigned n = 0;
	struct plots pl;

	for (unsigned i = 0; i < p->t->n_sections; i++) {
		const struct section *s = &p->t->section[i];
		for (unsigned k = s->n_combos; k-- > 0 && n < COMBOS_MAX; n++) {
			const struct combo *x = &s->combo[k];
			label[n] = arena_fmt(a, "%s %s%s", size_text(a, s),
					     mix_text(a, x->read_pct),
					     s->steady == 0 ? " (NOT STEADY)" : "");
			v[n] = x->bytes_per_s / 1e6;
			color[n] = x->read_pct <= 0 ? 0xC8553D : 0x2E75B6;
			one.hatched |= (uint64_t)(s->steady == 0) << n;
		}
	}
	if (!n)
		return;
	plots_begin(&pl, p->s->grid, "TP: 2-D plot");
	one.x = plots_labels(&pl, "cell", label, n);
	one.y = plots_column(&pl, "MB/s", v, n);
	one.point_color = color;
	one.n_points = n;
	chart_place(&c, (struct place){ row, 0, PAGE_COLS * PAGE_COL_PX, rows * ROW_PX });
	c.legend = LEGEND_NONE;
	c.y.min = 0;
	c.y.fmt = NUM_GROUP;
	c.series = &one;
	c.n_series = 1;
	grid_chart(p->s, &c);
}

static void page_table(struct page *p)
{
	page_begin(p, "Table", "Throughput - Tabular Data and 2-D Plot - all block sizes");
	page_banner(p, NULL);
	uint32_t row = put_table(p, p->row);
	put_text(p->s, AREA(row + 1, 0, row + 1, 15), LOOK_HEAD_PLATFORM,
		 "2-D Plot (blue read, red write; hatched: steady state not reached)");
	uint32_t left = p->next > row + 5 ? p->next - row - 4 : 12;
	put_bars(p, row + 2, left);
}

static void build(const struct dataset *d, struct grid *g)
{
	const struct test *t = dataset_test(d, "tp");
	struct header h;
	struct page p;

	header_fill(&h, d, t, &g->arena);
	h.setup[3].value = "SEQ W, block size of the test";
	page_open(&p, g, d, t, &h);
	for (unsigned i = 0; i < t->n_sections; i++) {
		page_convergence(&p, &t->section[i]);
		for (unsigned k = 0; k < t->section[i].n_tracks; k++)
			window_page(&p, &t->section[i], &t->section[i].track[k]);
	}
	page_table(&p);
	page_close(&p);
}

const struct sheet sheet_tp = { 110, applies, build };
