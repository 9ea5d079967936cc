/* SPDX-License-Identifier: MIT */
#include "reports/tcqd.h"

uint32_t tcqd_rows(const struct tcqd *t)
{
	return 2 + t->n_rows;
}

struct area tcqd_at(const struct tcqd *t, unsigned i, unsigned k)
{
	return AT(t->first_row + i, t->first_col + k);
}

uint32_t tcqd_put(struct tcqd *t, struct grid_sheet *s, uint32_t row, uint32_t col)
{
	t->s = s;
	t->first_row = row + 2;
	t->first_col = col + 1;
	put_text(s, AREA(row, col, row, col + t->n_cols), t->look, t->title);
	put_text(s, AT(row + 1, col), LOOK_HEAD, t->corner);
	for (unsigned k = 0; k < t->n_cols; k++)
		put_fmt(s, AT(row + 1, t->first_col + k), LOOK_HEAD, "%s %d", t->col_word,
			t->col[k]);
	for (unsigned i = 0; i < t->n_rows; i++) {
		put_fmt(s, AT(t->first_row + i, col), LOOK_ROW_HEAD, "%s %d", t->row_word,
			t->row[i]);
		for (unsigned k = 0; k < t->n_cols; k++)
			t->put(t, i, k, tcqd_at(t, i, k));
	}
	if (t->n_rows && t->n_cols && t->scale != SCALE_NONE)
		grid_color_scale(s,
				 AREA(t->first_row, t->first_col, t->first_row + t->n_rows - 1,
				      t->first_col + t->n_cols - 1),
				 t->scale);
	return row + tcqd_rows(t);
}
