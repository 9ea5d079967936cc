/* SPDX-License-Identifier: MIT */
/* Charts over time and drive fills, and references to the rows behind a mean: what WSAT, HIR and XSR share. */
#ifndef REPORTS_PANELS_H
#define REPORTS_PANELS_H

#include "reports/plots.h"
#include "reports/sheet.h"

/* Time as charts show it: minutes, seconds where all is over in two minutes (quick runs). */
struct time_unit {
	double ns;
	const char *name; /* "min" */
	const char *axis; /* "Time (minutes)" */
};
struct time_unit time_unit_of(double whole_ns);

/* From 0 to at least @end, ticks of 1, 2, 5, 10, 15, 30, 60, 120 ... */
void axis_time(struct axis *a, double end);
/* Ticks 1, 2, 3, 4 of drive fills (spec 10); finer where the drive was not filled once. */
void axis_fills(struct axis *a, double end);
/* From 0 to above the highest of @v. */
void axis_from_zero(struct axis *a, const double *v, unsigned n);

/* Places the chart with these series; nothing is drawn when none has a value. */
void panel_put(struct page *p, struct chart *c, struct place at, struct series *series, unsigned n);
/* Half a page high, over its whole width: upper (0) and lower (1). */
struct place panel_place(const struct page *p, unsigned half);

/* Banner of a test of one section: not steady, or not finished. */
void panel_banner(struct page *p, const struct section *s);

/* "'D_rounds'!S7:S36"; NULL when the rows of these cells do not follow one another. */
const char *rounds_range(struct grid *g, const struct measure *const *m, unsigned n,
			 enum rounds_col col);
/* "'D_rounds'!S37,'D_rounds'!S68": one by one. */
const char *rounds_list(struct grid *g, const struct measure *const *m, unsigned n,
			enum rounds_col col);

/* Heads of a table: columns from-to and a text each. */
struct table_head {
	unsigned col, col2;
	const char *text;
};
void put_heads(struct page *p, uint32_t row, const struct table_head *h, unsigned n);

#endif
