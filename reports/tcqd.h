/* SPDX-License-Identifier: MIT */
/* A small matrix under a title: thread counts as rows, depths (or drives) as columns, one heat scale. */
#ifndef REPORTS_TCQD_H
#define REPORTS_TCQD_H

#include "reports/grid.h"

struct tcqd {
	const char *title;
	enum look look; /* of the title */
	const char *corner; /* "TC \ QD" */
	const char *row_word, *col_word; /* "TC", "QD" */
	const int *row, *col; /* numbers of the heads */
	unsigned n_rows, n_cols;
	enum scale_kind scale;
	/* One cell; @at is its place. */
	void (*put)(const struct tcqd *t, unsigned i, unsigned k, struct area at);
	void *ctx;
	uint32_t first_row; /* set by tcqd_put(): of its values, for formulas that refer to them */
	uint32_t first_col;
	struct grid_sheet *s; /* set by tcqd_put() */
};

/* Writes it at (row, col), 1 + n_cols columns wide; returns the first row below. */
uint32_t tcqd_put(struct tcqd *t, struct grid_sheet *s, uint32_t row, uint32_t col);
/* Rows it takes. */
uint32_t tcqd_rows(const struct tcqd *t);
/* Place of a cell. */
struct area tcqd_at(const struct tcqd *t, unsigned i, unsigned k);

#endif
