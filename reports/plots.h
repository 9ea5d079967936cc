/* SPDX-License-Identifier: MIT */
/* Numbers that charts draw, on a data sheet of their own, and the plots that several tests share. */
#ifndef REPORTS_PLOTS_H
#define REPORTS_PLOTS_H

#include "reports/page.h"

/* A block of columns on D_plots under a title; columns are added from left to right. */
struct plots {
	struct grid_sheet *s;
	uint32_t row, col;
};

void plots_begin(struct plots *p, struct grid *g, const char *title);
/* NaN leaves the cell empty: charts show a gap. No sheet in the range when all are NaN: no such series is drawn. */
struct range plots_column(struct plots *p, const char *head, const double *v, unsigned n);
struct range plots_labels(struct plots *p, const char *head, const char *const *text, unsigned n);

/* A chart with sensible axes and colours, automatic ranges. */
struct chart chart_new(enum chart_kind kind, const char *x_title, const char *y_title);
/* Round ends for an axis that holds [low, high]. */
void axis_round(struct axis *a, double low, double high);
/* Powers of ten around the values that are above zero. */
void axis_decades(struct axis *a, const double *v, unsigned n);

/* Where a chart stands: first cell and size in pixels. */
struct place {
	uint32_t row, col, width_px, height_px;
};
void chart_place(struct chart *c, struct place at);

/*
 * Steady state measurement window (spec 20): the tracked variable, its average, +-10 % lines and the least-squares line
 * over the window. Zoomed to the window, or all rounds from 0.
 */
void window_chart(struct page *p, const struct section *s, const struct track *t, struct place at,
		  bool zoom);
/* Its determination table with live formulas, 4 columns wide from @col. */
void window_table(struct page *p, const struct section *s, const struct track *t, uint32_t row,
		  uint32_t col);
/* A whole page of both. */
void window_page(struct page *p, const struct section *s, const struct track *t);

/* Convergence (spec 20): rounds from 1, y from 0, one series for each of the combinations. */
enum measure_field { FIELD_IOPS, FIELD_MBS, FIELD_ART_MS, FIELD_MRT_MS };
struct convergence {
	const struct section *s;
	const struct combo *const *combo;
	const char *const *name;
	unsigned n;
	enum measure_field field;
	bool log;
	const char *y_title;
};
void convergence_chart(struct page *p, const struct convergence *c, struct place at);
/* Rounds as columns (the window green), window average and CV as live formulas. */
void convergence_table(struct page *p, const struct convergence *c, uint32_t row);
double measure_value(const struct measure *m, enum measure_field f);

#endif
