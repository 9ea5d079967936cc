/* SPDX-License-Identifier: MIT */
/* IOPS test: the eight pages of the PTS (spec 7). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/matrix.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	const struct test *t = dataset_test(d, "iops");

	return t && t->n_sections;
}

struct iops {
	struct page page;
	const struct dataset *d;
	const struct test *t;
	const struct section *s;
	struct matrix m;
};

/* A.1: all block sizes at R/W 0/100, in the order of the loop. */
static void page_convergence(struct iops *x)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct combo *list[MATRIX_MAX];
	const char *name[MATRIX_MAX];
	struct convergence c = {
		.s = x->s, .combo = list, .name = name, .field = FIELD_IOPS, .y_title = "IOPS"
	};

	for (unsigned i = 0; i < x->m.n_size; i++) {
		if (!x->m.n_mix || x->m.mix[0] != 0 || !x->m.cell[i][0])
			continue;
		list[c.n] = x->m.cell[i][0];
		name[c.n++] = arena_fmt(a, "%s KiB", kib_text(a, x->m.size[i]));
	}
	page_begin(&x->page, "Plot",
		   "IOPS Steady State Convergence Plot - All Block Sizes, R/W 0/100");
	page_banner(&x->page, NULL);
	convergence_chart(&x->page, &c,
			  (struct place){ x->page.row, 0, PAGE_COLS * PAGE_COL_PX, 20 * ROW_PX });
	convergence_table(&x->page, &c, x->page.row + 21);
}

static void pages_window(struct iops *x)
{
	if (x->s->n_tracks) {
		const struct track *t = &x->s->track[0];
		page_begin(&x->page, "Plot",
			   arena_fmt(&x->page.s->grid->arena,
				     "Steady State Measurement - Tracking Variable %s, all rounds",
				     t->title));
		page_banner(&x->page, x->s);
		window_chart(&x->page, x->s, t,
			     (struct place){ x->page.row, 0, PAGE_COLS * PAGE_COL_PX, 29 * ROW_PX },
			     false);
	}
	for (unsigned i = 0; i < x->s->n_tracks; i++)
		window_page(&x->page, x->s, &x->s->track[i]);
}

/* ---- the table ---- */

struct table {
	struct iops *x;
	uint32_t row, step; /* step: columns a mix takes */
};

static struct area table_at(const struct table *t, uint32_t row, unsigned mix)
{
	uint32_t col = 2 + mix * t->step;

	return AREA(row, col, row, col + t->step - 1);
}

static void table_head(struct table *t, enum look look, const char *title)
{
	struct grid_sheet *s = t->x->page.s;
	struct arena *a = &s->grid->arena;
	uint32_t last = 1 + t->x->m.n_mix * t->step;

	put_text(s, AREA(t->row, 0, t->row, last), look, title);
	t->row++;
	put_text(s, AREA(t->row, 0, t->row, 1), LOOK_HEAD, "BS (KiB) \\ R/W %");
	for (unsigned k = 0; k < t->x->m.n_mix; k++)
		put_text(s, table_at(t, t->row, k), LOOK_HEAD, mix_text(a, t->x->m.mix[k]));
	t->row++;
	for (unsigned i = 0; i < t->x->m.n_size; i++)
		put_fmt(s, AREA(t->row + i, 0, t->row + i, 1), LOOK_ROW_HEAD, "RND %s KiB",
			kib_text(a, t->x->m.size[i]));
}

/* "'D_rounds'!S7,'D_rounds'!S63,...": the rounds behind a mean. */
static const char *round_refs(struct grid *g, const struct combo *c)
{
	const char *list = "";

	for (unsigned i = 0; i < c->n_window; i++)
		list = arena_fmt(&g->arena, "%s%s%s", list, i ? "," : "",
				 grid_data_ref(g, ROUNDS_SHEET, c->window[i]->index + 1, RC_IOPS));
	return list;
}

enum table_kind { TABLE_IOPS, TABLE_MBS, TABLE_CV };

static void table_cell(struct table *t, enum table_kind kind, unsigned i, unsigned k,
		       uint32_t iops_row)
{
	struct grid_sheet *s = t->x->page.s;
	const struct combo *c = t->x->m.cell[i][k];
	struct area at = table_at(t, t->row + i, k);
	const char *iops = grid_ref(s->grid, table_at(t, iops_row + i, k), false);
	enum look look = result_look(t->x->s, LOOK_FORMULA);

	if (!c || !c->n_window) {
		matrix_put_missing(s, at, &t->x->m, i, k);
		return;
	}
	iops = grid_ref(s->grid, AT(iops_row + i, 2 + k * t->step), false);
	if (kind == TABLE_IOPS)
		put_formula(s, at, STYLE(look, NUM_GROUP1), c->iops, "=AVERAGE(%s)",
			    round_refs(s->grid, c));
	else if (kind == TABLE_MBS)
		put_formula(s, at, STYLE(look, NUM_GROUP1), c->iops * (double)c->block_bytes / 1e6,
			    "=%s*%lld/1000000", iops, (long long)c->block_bytes);
	else
		put_formula(s, at, STYLE(look, NUM_PCT2), c->iops_cv, "=STDEV(%s)/%s",
			    round_refs(s->grid, c), iops);
}

static void put_table(struct table *t, enum table_kind kind, uint32_t *iops_row)
{
	static const struct {
		enum look look;
		const char *title;
		enum scale_kind scale;
	} kinds[] = {
		{ LOOK_HEAD_PLATFORM, "IOPS (mean of the window rounds)", SCALE_GREEN_RED },
		{ LOOK_HEAD_DEVICE, "Throughput, MB/s (10^6 B/s)", SCALE_BLUE },
		{ LOOK_HEAD_SETUP, "Coefficient of variation over the window rounds",
		  SCALE_ORANGE },
	};
	const struct matrix *m = &t->x->m;

	table_head(t, kinds[kind].look, kinds[kind].title);
	if (kind == TABLE_IOPS)
		*iops_row = t->row;
	for (unsigned i = 0; i < m->n_size; i++)
		for (unsigned k = 0; k < m->n_mix; k++)
			table_cell(t, kind, i, k, *iops_row);
	if (m->n_size && m->n_mix && t->x->s->steady != 0)
		grid_color_scale(t->x->page.s,
				 AREA(t->row, 2, t->row + m->n_size - 1, 1 + m->n_mix * t->step),
				 kinds[kind].scale);
	t->row += m->n_size;
}

static void page_table(struct iops *x)
{
	struct table t = { .x = x, .step = x->m.n_mix ? 14 / x->m.n_mix : 1 };
	uint32_t iops_row = 0;

	t.step = t.step ? t.step : 1;
	page_begin(&x->page, "Table",
		   arena_fmt(&x->page.s->grid->arena,
			     "IOPS - All R/W Mix & Block Size - Tabular Data (mean of rounds %s%s)",
			     mean_text(&x->page.s->grid->arena, x->s),
			     x->s->steady == 0 ? ", NOT ACHIEVED" : ""));
	page_banner(&x->page, x->s);
	t.row = x->page.row;
	/* blank lines between the tables only while all three fit their printed page */
	uint32_t gap = t.row + 3 * (2 + x->m.n_size) + 2 <= x->page.next ? 1 : 0;
	put_table(&t, TABLE_IOPS, &iops_row);
	t.row += gap;
	put_table(&t, TABLE_MBS, &iops_row);
	t.row += gap;
	put_table(&t, TABLE_CV, &iops_row);
	while (x->page.next < t.row)
		x->page.next += BODY_ROWS;
}

static void page_2d(struct iops *x)
{
	struct arena *a = &x->page.s->grid->arena;
	struct chart c = chart_new(CHART_LINE, "Block size (KiB)", "IOPS (log scale)");
	struct series series[MATRIX_MAX];
	const char *label[MATRIX_MAX];
	double v[MATRIX_MAX], all[MATRIX_MAX * MATRIX_MAX];
	unsigned n = 0;
	struct plots pl;

	plots_begin(&pl, x->page.s->grid, "IOPS: 2-D plot");
	for (unsigned i = 0; i < x->m.n_size; i++)
		label[i] = kib_text(a, x->m.size[i]);
	struct range names = plots_labels(&pl, "KiB", label, x->m.n_size);
	for (unsigned k = x->m.n_mix; k-- > 0;) { /* reads first, as they lie on top */
		const char *name = mix_text(a, x->m.mix[k]);
		for (unsigned i = 0; i < x->m.n_size; i++)
			all[n * x->m.n_size + i] = v[i] = matrix_value(&x->m, i, k, MATRIX_IOPS);
		series[n++] = (struct series){ .name = name,
					       .x = names,
					       .y = plots_column(&pl, name, v, x->m.n_size),
					       .color = mix_color(x->m.mix[k]),
					       .width = 2,
					       .markers = true };
	}
	page_begin(&x->page, "Plot", "IOPS - All R/W Mix & Block Size - 2-D Plot");
	page_banner(&x->page, x->s);
	chart_place(&c, (struct place){ x->page.row, 0, PAGE_COLS * PAGE_COL_PX, 29 * ROW_PX });
	axis_decades(&c.y, all, n * x->m.n_size);
	c.y.min = fmin(c.y.min, 1); /* spec 7: from 1 */
	c.y.fmt = NUM_GROUP;
	c.legend = LEGEND_RIGHT;
	c.series = series;
	c.n_series = n;
	if (n)
		grid_chart(x->page.s, &c);
}

static void page_3d(struct iops *x)
{
	page_begin(&x->page, "Plot", "IOPS - All R/W Mix & Block Size - 3-D Columns");
	page_banner(&x->page, x->s);
	matrix_picture(&x->page, &x->m, MATRIX_IOPS, "IOPS",
		       "IOPS by block size and R/W mix as columns; the table holds the values");
	put_text(x->page.s, AREA(x->page.row + 30, 0, x->page.row + 30, PAGE_COLS - 1), LOOK_NOTE,
		 "Picture of the table of this sheet (the charts of a workbook written here have no"
		 " third axis); front row 100 % write, back row 100 % read.");
}

/* "4K 0/100, 64K 65/35, 1024K 100/0" */
static const char *tracked(struct arena *a, const struct section *s)
{
	const char *list = "";

	for (unsigned i = 0; i < s->n_tracks; i++) {
		const struct combo *c = s->track[i].combo;
		list = arena_fmt(a, "%s%s%s", list, i ? ", " : "",
				 c ? arena_fmt(a, "%sK %s", kib_text(a, c->block_bytes),
					       mix_text(a, c->read_pct))
				   : s->track[i].variable);
	}
	return list;
}

static void build(const struct dataset *d, struct grid *g)
{
	const struct test *t = dataset_test(d, "iops");
	struct iops x = { .d = d, .t = t, .s = &t->section[0] };
	struct header h;

	header_fill(&h, d, t, &g->arena);
	if (x.s->n_tracks > 1)
		h.test[5] = (struct pair){ arena_fmt(&g->arena, "Tracking (all %u)", x.s->n_tracks),
					   tracked(&g->arena, x.s) };
	matrix_init(&x.m, d, t, x.s);
	page_open(&x.page, g, d, t, &h);
	page_convergence(&x);
	pages_window(&x);
	page_table(&x);
	page_2d(&x);
	page_3d(&x);
	page_close(&x.page);
}

const struct sheet sheet_iops = { 100, applies, build };
