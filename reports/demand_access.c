/* SPDX-License-Identifier: MIT */
/* First page of a composite workload: access probabilities and LBA groups (spec 13). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/access_text.h"
#include "reports/demand_priv.h"

struct access_page {
	struct demand_build *x;
	const struct access_mix *mix;
	uint32_t row;
};

static void put_head(struct grid_sheet *s, uint32_t row, uint32_t col, const char *const *head)
{
	for (unsigned i = 0; head[i]; i++)
		put_text(s, AT(row, col + i), LOOK_HEAD, head[i]);
}

/* Returns the first row below. */
static uint32_t put_sizes(struct access_page *p, unsigned shown)
{
	static const char *const heads[] = { "Pattern",	 "Size (KiB)", "% accesses", "% reads",
					     "% writes", "% of bytes", NULL };
	struct grid_sheet *s = p->x->page.s;
	uint32_t row = p->row, first = row + 2, last = first + shown - 1;
	double sum = 0;

	put_text(s, AREA(row, 0, row, 5), LOOK_HEAD_PLATFORM, "ACCESS PROBABILITIES");
	put_head(s, row + 1, 0, heads);
	const char *size = grid_ref(s->grid, AREA(first, 1, last, 1), true);
	const char *share = grid_ref(s->grid, AREA(first, 2, last, 2), true);
	for (unsigned i = 0; i < shown; i++) {
		const struct access_size *z = &p->mix->size[i];
		double all = z->read_share + z->write_share;
		uint32_t r = first + i;
		put_text(s, AT(r, 0), LOOK_CENTER, z->pattern);
		put_num(s, AT(r, 1), STYLE(LOOK_ROW_HEAD, NUM_GENERAL), (double)z->bytes / 1024);
		put_num(s, AT(r, 2), STYLE(LOOK_CELL, NUM_2), all);
		put_num(s, AT(r, 3), STYLE(LOOK_CELL, NUM_2), z->read_share);
		put_num(s, AT(r, 4), STYLE(LOOK_CELL, NUM_2), z->write_share);
		put_formula(s, AT(r, 5), STYLE(LOOK_FORMULA, NUM_2),
			    all * (double)z->bytes / p->mix->mean_bytes,
			    "=100*%s*%s/SUMPRODUCT(%s,%s)", grid_ref(s->grid, AT(r, 1), false),
			    grid_ref(s->grid, AT(r, 2), false), size, share);
		sum += all;
	}
	put_text(s, AREA(last + 1, 0, last + 1, 1), LOOK_KEY, "Sum");
	put_formula(s, AT(last + 1, 2), STYLE(LOOK_FORMULA, NUM_2), sum, "=SUM(%s)", share);
	put_text(s, AREA(last + 2, 0, last + 2, 1), LOOK_KEY, "Mean I/O (KiB)");
	put_formula(s, AT(last + 2, 2), STYLE(LOOK_FORMULA, NUM_3), p->mix->mean_bytes / 1024,
		    "=SUMPRODUCT(%s,%s)/SUM(%s)", size, share, share);
	return last + 3;
}

/* What the loop moved: bytes of the window rounds over their I/Os. */
static uint32_t put_measured(struct access_page *p, uint32_t row)
{
	const struct demand *m = p->x->m;
	uint64_t bytes = 0, ios = 0, writes = 0;

	for (unsigned i = 0; i < m->n_tc; i++) {
		for (unsigned k = 0; k < m->n_qd; k++) {
			const struct combo *c = m->cell[i][k];
			for (unsigned r = 0; c && r < c->n_window; r++) {
				bytes += c->window[r]->bytes;
				ios += c->window[r]->ios;
				writes += c->window[r]->write_ios;
			}
		}
	}
	if (!ios)
		return row;
	put_text(p->x->page.s, AREA(row, 0, row, 1), LOOK_KEY, "  measured");
	put_num(p->x->page.s, AT(row, 2), STYLE(LOOK_CELL, NUM_3),
		(double)bytes / (double)ios / 1024);
	put_text(p->x->page.s, AREA(row + 1, 0, row + 1, 1), LOOK_KEY, "% writes measured");
	put_num(p->x->page.s, AT(row + 1, 2), STYLE(LOOK_CELL, NUM_2),
		100.0 * (double)writes / (double)ios);
	return row + 2;
}

static uint32_t put_zones(struct access_page *p, uint32_t row)
{
	static const char *const heads[] = { "Group", "Accesses %", "From %", "To %", "GB", NULL };
	struct grid_sheet *s = p->x->page.s;
	double range = (double)plan_range_bytes(p->x->m->t);

	put_text(s, AREA(row, 7, row, 11), LOOK_HEAD_DEVICE, "LBA GROUPS (of the ActiveRange)");
	put_head(s, row + 1, 7, heads);
	row += 2;
	for (unsigned i = 0; i < p->mix->n_zones; i++, row++) {
		const struct access_zone *z = &p->mix->zone[i];
		put_fmt(s, AT(row, 7), LOOK_ROW_HEAD, "Group %c", 'A' + (int)i);
		put_num(s, AT(row, 8), STYLE(LOOK_CELL, NUM_1), z->share);
		put_num(s, AT(row, 9), STYLE(LOOK_CELL, NUM_1), z->from_pct);
		put_num(s, AT(row, 10), STYLE(LOOK_CELL, NUM_1), z->to_pct);
		put_num(s, AT(row, 11), STYLE(LOOK_CELL, NUM_GROUP1),
			range > 0 ? range * (z->to_pct - z->from_pct) / 100 / 1e9 : NAN);
	}
	if (!p->mix->n_zones)
		put_text(s, AREA(row, 7, row, 11), LOOK_NA, "one: the whole range");
	return row;
}

static void put_chart(struct access_page *p, unsigned shown, uint32_t row)
{
	struct chart c = chart_new(CHART_COLUMN, "I/O size (KiB)", "% of accesses");
	struct series series[2];
	const char *label[ACCESS_SIZES];
	double v[2][ACCESS_SIZES], top = 0;
	struct plots pl;

	plots_begin(&pl, p->x->page.s->grid,
		    arena_fmt(p->x->a, "%s: access probabilities", p->x->m->t->sheet));
	for (unsigned i = 0; i < shown; i++) {
		const struct access_size *z = &p->mix->size[i];
		bool seq = !strcmp(z->pattern, "SEQ");
		label[i] = arena_fmt(p->x->a, "%s%s", seq ? "SEQ " : "",
				     kib_text(p->x->a, (int64_t)z->bytes));
		v[0][i] = z->read_share;
		v[1][i] = z->write_share;
		top = fmax(top, fmax(z->read_share, z->write_share));
	}
	struct range names = plots_labels(&pl, "KiB", label, shown);
	for (unsigned i = 0; i < 2; i++)
		series[i] = (struct series){ .name = i ? "writes" : "reads",
					     .x = names,
					     .y = plots_column(&pl, i ? "writes" : "reads", v[i],
							       shown),
					     .color = mix_color(i ? 0 : 100),
					     .labels = true,
					     .label_fmt = NUM_1 };
	chart_place(&c, (struct place){ row, 7, 9 * PAGE_COL_PX,
					(p->x->page.next - row - 3) * ROW_PX });
	axis_round(&c.y, 0, top * 1.05);
	c.y.fmt = NUM_INT;
	c.legend = LEGEND_TOP;
	c.gap = 50;
	c.series = series;
	c.n_series = 2;
	grid_chart(p->x->page.s, &c);
}

void demand_access_page(struct demand_build *x)
{
	const struct section *s = x->m->dv ? x->m->dv : x->m->pre;
	const struct combo *c = s && s->n_combos ? &s->combo[0] : NULL;
	struct access_mix *mix = arena_new(x->a, struct access_mix);
	struct access_page p = { .x = x, .mix = mix };

	if (!c || !access_parse(x->m->t->plan, c->access, mix) || mix->n_sizes < 2)
		return;
	unsigned shown = mix->n_sizes > 24 ? 24 : mix->n_sizes;
	demand_page(x, s, "", "Table",
		    arena_fmt(x->a, "%s - Access Probabilities and LBA Groups", c->access));
	p.row = x->page.row;
	uint32_t row = put_sizes(&p, shown);
	row = put_measured(&p, row);
	put_chart(&p, shown, put_zones(&p, p.row) + 1);
	if (shown < mix->n_sizes)
		put_fmt(x->page.s, AREA(row + 1, 0, row + 1, 5), LOOK_NOTE,
			"%u more sizes: the plan holds all.", mix->n_sizes - shown);
	put_text(x->page.s, AREA(x->page.next - 2, 0, x->page.next - 2, 15), LOOK_NOTE,
		 "Size and LBA group are drawn independently for each I/O, the LBA uniformly in"
		 " its group. Measured: over the rounds of the window.");
}
