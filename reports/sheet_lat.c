/* SPDX-License-Identifier: MIT */
/* Latency test (spec 9). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/clp.h"
#include "reports/matrix.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	const struct test *t = dataset_test(d, "lat");

	return t && t->n_sections;
}

struct lat {
	struct page page;
	const struct dataset *d;
	const struct test *t;
	const struct section *s;
	struct matrix m;
};

static void page_convergence(struct lat *x, enum measure_field field, const char *title,
			     const char *y_title)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct combo *list[MATRIX_MAX];
	const char *name[MATRIX_MAX];
	struct convergence c = {
		.s = x->s, .combo = list, .name = name, .field = field, .y_title = y_title
	};

	for (unsigned i = 0; i < x->m.n_size; i++) {
		if (!x->m.n_mix || x->m.mix[0] != 0 || !x->m.cell[i][0])
			continue;
		list[c.n] = x->m.cell[i][0];
		name[c.n++] = arena_fmt(a, "RND %s KiB W", kib_text(a, x->m.size[i]));
	}
	page_begin(&x->page, "Plot", title);
	page_banner(&x->page, x->s);
	convergence_chart(&x->page, &c,
			  (struct place){ x->page.row, 0, PAGE_COLS * PAGE_COL_PX, 24 * ROW_PX });
	convergence_table(&x->page, &c, x->page.row + 25);
}

/* ---- the table of four blocks ---- */

enum block { BLOCK_IOPS, BLOCK_ART, BLOCK_P99999, BLOCK_MRT, BLOCK_MRT_MEAN, BLOCK_ABOVE, BLOCKS };

static void block_value(struct lat *x, enum block b, unsigned i, unsigned k, struct area at)
{
	struct grid_sheet *s = x->page.s;
	const struct combo *c = x->m.cell[i][k];
	enum look look = result_look(x->s, LOOK_CELL);

	if (!c || !c->n_window) {
		matrix_put_missing(s, at, &x->m, i, k);
		return;
	}
	double art = c->art_rounds_ns / 1e6,
	       p = c->p99999_ns < 0 ? NAN : (double)c->p99999_ns / 1e6;
	if (c->p99999_ns >= 0 && c->above < 100 && (b == BLOCK_P99999 || b == BLOCK_ABOVE))
		look = LOOK_WARN;
	switch (b) {
	case BLOCK_IOPS:
		put_num(s, at, STYLE(look, NUM_GROUP1), c->iops);
		break;
	case BLOCK_ART:
		put_num(s, at, STYLE(look, ms_fmt(art)), art);
		break;
	case BLOCK_P99999:
		put_num(s, at, STYLE(look, NUM_3), p);
		break;
	case BLOCK_MRT:
		put_num(s, at, STYLE(look, NUM_2), c->mrt_ns < 0 ? NAN : (double)c->mrt_ns / 1e6);
		break;
	case BLOCK_MRT_MEAN:
		put_num(s, at, STYLE(look, NUM_2), c->mrt_rounds_ns / 1e6);
		break;
	default:
		put_num(s, at, STYLE(look, NUM_GROUP), c->p99999_ns < 0 ? NAN : (double)c->above);
	}
}

static uint32_t put_block(struct lat *x, enum block b, uint32_t row)
{
	static const char *const names[] = { [BLOCK_IOPS] = "IOPS",
					     [BLOCK_ART] = "ART (ms), round mean",
					     [BLOCK_P99999] = "99.999 % RT (ms)",
					     [BLOCK_MRT] = "MRT (ms), highest",
					     [BLOCK_MRT_MEAN] = "MRT (ms), round mean",
					     [BLOCK_ABOVE] = "I/Os above 99.999 %" };
	struct grid_sheet *s = x->page.s;
	unsigned n = x->m.n_mix;

	put_text(s, AREA(row, 0, row + n - 1, 1), LOOK_ROW_HEAD, names[b]);
	for (unsigned k = 0; k < n; k++) { /* R/W 100/0 at the top */
		unsigned mix = n - 1 - k;
		put_fmt(s, AT(row + k, 2), LOOK_ROW_HEAD, "RW %s",
			mix_text(&s->grid->arena, x->m.mix[mix]));
		for (unsigned i = 0; i < x->m.n_size && i < 5; i++)
			block_value(x, b, i, mix, AT(row + k, 3 + i));
	}
	return row + n;
}

static void put_blocks(struct lat *x, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	bool client = !strcmp(x->d->profile, "client");
	const char *depth = x->s->n_combos ? tcqd_text(&s->grid->arena, x->s->combo[0].threads,
						       x->s->combo[0].qd)
					   : "-";

	put_fmt(s, AREA(row, 0, row, 2), LOOK_HEAD, "%s, %s, %s, PD=RND",
		client ? "PTS-C" : "PTS-E", cache_text(x->t, true), depth);
	for (unsigned i = 0; i < x->m.n_size && i < 5; i++)
		put_fmt(s, AT(row, 3 + i), LOOK_HEAD, "%s KiB",
			kib_text(&s->grid->arena, x->m.size[i]));
	row++;
	for (enum block b = BLOCK_IOPS; x->m.n_mix && b < BLOCKS; b++)
		row = put_block(x, b, row);
}

/* Log bars in us, so that no value falls below 1. */
static void put_bars(struct lat *x, struct place at)
{
	static const char *const names[] = { "ART", "99.999 %", "Maximum" };
	static const uint32_t colors[] = { 0x2E75B6, 0xED7D31, 0x7F7F7F };
	struct arena *a = &x->page.s->grid->arena;
	struct chart c = chart_new(CHART_COLUMN, "R/W mix", "Response time (us, log scale)");
	struct series series[3];
	const char *label[MATRIX_MAX];
	double v[3][MATRIX_MAX];
	unsigned n = 0;
	struct plots pl;

	for (unsigned k = x->m.n_mix; k-- > 0;) {
		const struct combo *o = section_combo(x->s, x->m.mix[k], 4096);
		if (!o || !o->n_window)
			continue;
		v[0][n] = o->art_rounds_ns / 1e3;
		v[1][n] = o->p99999_ns < 0 ? NAN : (double)o->p99999_ns / 1e3;
		v[2][n] = o->mrt_ns < 0 ? NAN : (double)o->mrt_ns / 1e3;
		label[n++] = arena_fmt(a, "RW %s", mix_text(a, x->m.mix[k]));
	}
	if (!n)
		return;
	plots_begin(&pl, x->page.s->grid, "LAT: RND 4 KiB, us");
	struct range names_at = plots_labels(&pl, "mix", label, n);
	for (unsigned i = 0; i < 3; i++)
		series[i] = (struct series){ .name = names[i],
					     .x = names_at,
					     .y = plots_column(&pl, names[i], v[i], n),
					     .color = colors[i],
					     .labels = true,
					     .label_fmt = NUM_GROUP1 };
	chart_place(&c, at);
	c.title = "RND 4 KiB: ART, 99.999 %, Max";
	c.y.log = true;
	c.y.min = 1;
	c.y.fmt = NUM_GROUP;
	c.series = series;
	c.n_series = 3;
	grid_chart(x->page.s, &c);
}

static void page_table(struct lat *x)
{
	struct page *p = &x->page;

	page_begin(p, "Table", "Ave, 5 9s, Max Response Times & IOPS - Tabular Data");
	page_banner(p, x->s);
	put_blocks(x, p->row);
	put_bars(x, (struct place){ p->row, 8, 8 * PAGE_COL_PX - 2, 22 * ROW_PX });
	put_text(
		p->s, AREA(p->row + 24, 0, p->row + 26, 15), LOOK_NOTE,
		"IOPS: mean of the window rounds. Round mean: mean of the ARTs, of the MRTs of "
		"these"
		" rounds (other tests weight ART by I/Os). 99.999 % RT:"
		" nearest rank over the merged histograms of the window rounds, reads and writes as"
		" one distribution; n/a below 100,000 I/Os, amber where fewer than 100 I/Os lie"
		" above it.");
}

static void pages_3d(struct lat *x)
{
	page_begin(&x->page, "Plot",
		   "Average Response Time - All R/W Mix & Block Size - 3-D Columns");
	page_banner(&x->page, x->s);
	matrix_picture(&x->page, &x->m, MATRIX_ART_MS, "ART (ms)",
		       "Average response time by block size and R/W mix as columns");
	page_begin(&x->page, "Plot",
		   "Maximum Response Time - All R/W Mix & Block Size - 3-D Columns");
	page_banner(&x->page, x->s);
	matrix_picture(&x->page, &x->m, MATRIX_MRT_MS, "MRT (ms)",
		       "Maximum response time by block size and R/W mix as columns");
}

static void build(const struct dataset *d, struct grid *g)
{
	const struct test *t = dataset_test(d, "lat");
	struct lat x = { .d = d, .t = t, .s = &t->section[0] };
	struct header h;

	header_fill(&h, d, t, &g->arena);
	if (x.s->n_hists)
		h.test[7] = (struct pair){ "Histogram",
					   arena_fmt(&g->arena, "%s, %s", x.s->hist[0].m->access,
						     asked_text(&g->arena, t, x.s->hist[0].m)) };
	matrix_init(&x.m, d, t, x.s);
	page_open(&x.page, g, d, t, &h);
	page_convergence(&x, FIELD_ART_MS, "LAT SS Convergence - Average Latency - 100 % W",
			 "ART (ms)");
	page_convergence(&x, FIELD_MRT_MS, "LAT SS Convergence - Maximum Latency - 100 % W",
			 "MRT (ms)");
	for (unsigned i = 0; i < x.s->n_tracks; i++)
		window_page(&x.page, x.s, &x.s->track[i]);
	page_table(&x);
	pages_3d(&x);
	for (unsigned i = 0; i < x.s->n_hists; i++)
		clp_pages(&x.page, x.s, &x.s->hist[i]);
	page_close(&x.page);
}

const struct sheet sheet_lat = { 120, applies, build };
