/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "reports/panels.h"

struct time_unit time_unit_of(double whole_ns)
{
	if (whole_ns < 120e9)
		return (struct time_unit){ 1e9, "s", "Time (seconds)" };
	return (struct time_unit){ 60e9, "min", "Time (minutes)" };
}

void axis_time(struct axis *a, double end)
{
	static const double unit[] = { 0.1, 0.2, 0.5, 1,   2,	5,   10,  15,	20,
				       30,  60,	 120, 180, 240, 360, 720, 1440, 2880 };
	unsigned i = 0;

	while (i + 1 < sizeof unit / sizeof unit[0] && end / unit[i] > 13)
		i++;
	a->unit = unit[i];
	a->min = 0;
	a->max = fmax(ceil(end / a->unit - 1e-3), 1) *
		 a->unit; /* the last step ends a little late */
	a->fmt = a->unit < 1 ? NUM_1 : NUM_GROUP;
	a->grid = true;
}

void axis_fills(struct axis *a, double end)
{
	if (end >= 1 && end <= 16) {
		a->min = 0;
		a->unit = 1;
		a->max = ceil(end - 0.03); /* the last step goes a little beyond 4 */
	} else {
		axis_round(a, 0, end > 0 ? end : 1);
	}
	a->fmt = a->max >= 2 ? NUM_GROUP : a->max > 0.1 ? NUM_2 : NUM_4;
	a->grid = true;
}

void axis_from_zero(struct axis *a, const double *v, unsigned n)
{
	double top = 0;

	for (unsigned i = 0; i < n; i++)
		if (isfinite(v[i]))
			top = fmax(top, v[i]);
	double unit = pow(10, floor(log10(top > 0 ? top : 1)));
	a->unit = top / unit > 5 ? unit : top / unit > 2.5 ? unit / 2 : unit / 5;
	a->min = 0;
	a->max = ceil(top / a->unit - 1e-9) * a->unit;
	if (a->max <= 0)
		a->max = 1;
	a->fmt = axis_fmt(a->max);
}

void panel_put(struct page *p, struct chart *c, struct place at, struct series *series, unsigned n)
{
	chart_place(c, at);
	c->series = series;
	c->n_series = n;
	grid_chart(p->s, c);
}

struct place panel_place(const struct page *p, unsigned half)
{
	const uint32_t rows = 14;

	return (struct place){ p->row + half * rows, 0, PAGE_COLS * PAGE_COL_PX, rows * ROW_PX };
}

void panel_banner(struct page *p, const struct section *s)
{
	page_banner(p, s->steady == 0 ? s : NULL);
}

const char *rounds_range(struct grid *g, const struct measure *const *m, unsigned n,
			 enum rounds_col col)
{
	uint32_t first, last;

	for (unsigned i = 1; i < n; i++)
		if (m[i]->index != m[0]->index + i)
			return NULL;
	if (!n || grid_part(g, m[0]->index + 1, &first) != grid_part(g, m[n - 1]->index + 1, &last))
		return NULL;
	return arena_fmt(&g->arena, "%s:%s",
			 grid_data_ref(g, ROUNDS_SHEET, m[0]->index + 1, (uint32_t)col),
			 grid_ref(g, AT(last, col), false));
}

const char *rounds_list(struct grid *g, const struct measure *const *m, unsigned n,
			enum rounds_col col)
{
	const char *list = "";

	for (unsigned i = 0; i < n; i++)
		list = arena_fmt(&g->arena, "%s%s%s", list, i ? "," : "",
				 grid_data_ref(g, ROUNDS_SHEET, m[i]->index + 1, (uint32_t)col));
	return list;
}

void put_heads(struct page *p, uint32_t row, const struct table_head *h, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_text(p->s, AREA(row, h[i].col, row, h[i].col2), LOOK_HEAD, h[i].text);
}
