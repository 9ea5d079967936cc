/* SPDX-License-Identifier: MIT */
/* D_hist: the response time histograms of the captures, bucket by bucket, nothing left out. */
#include <math.h>
#include <stdio.h>

#include "reports/page.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		for (unsigned k = 0; k < d->test[i].n_sections; k++)
			if (d->test[i].section[k].n_hists)
				return true;
	return false;
}

static uint32_t put_hist(struct grid_sheet *s, const struct test *t, const struct capture_hist *h,
			 uint32_t row)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->hist->count[i])
			continue;
		seen += h->hist->count[i];
		put_int(s, AT(row, 0), LOOK_CELL, h->m->cell_id);
		put_text(s, AT(row, 1), LOOK_CENTER, t->name);
		put_text(s, AT(row, 2), LOOK_CELL, h->m->access);
		put_int(s, AT(row, 3), LOOK_CELL, (int64_t)hist_low(i));
		put_int(s, AT(row, 4), LOOK_CELL, (int64_t)hist_high(i));
		put_int(s, AT(row, 5), LOOK_CELL, (int64_t)h->hist->count[i]);
		put_num(s, AT(row, 6), STYLE(LOOK_CELL, NUM_GENERAL),
			100.0 * (double)seen / (double)h->hist->n);
		row++;
	}
	return row;
}

static void build(const struct dataset *d, struct grid *g)
{
	static const char *const heads[] = { "cell_id", "test", "access",      "low ns",
					     "high ns", "I/Os", "cumulative %" };
	struct grid_sheet *s = grid_sheet(g, "D_hist", ROLE_DATA);
	uint32_t row = 1;

	s->color = 0x7F7F7F;
	s->freeze_rows = s->repeat_rows = 1;
	s->filter_cols = sizeof heads / sizeof heads[0];
	grid_col_width(s, 0, 6, 110);
	for (uint32_t c = 0; c < s->filter_cols; c++)
		put_text(s, AT(0, c), LOOK_HEAD, heads[c]);
	for (unsigned i = 0; i < d->n_tests; i++)
		for (unsigned k = 0; k < d->test[i].n_sections; k++)
			for (unsigned h = 0; h < d->test[i].section[k].n_hists; h++)
				row = put_hist(s, &d->test[i], &d->test[i].section[k].hist[h], row);
}

const struct sheet sheet_hist = { 910, applies, build };
