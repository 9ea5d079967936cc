/* SPDX-License-Identifier: MIT */
/* D_rounds: every measured step as numbers, with its row id in the database. Formulas of other sheets point here. */
#include <math.h>
#include <stdio.h>

#include "reports/page.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	return d->n_measures > 0;
}

static void put_id(struct grid_sheet *s, uint32_t row, enum rounds_col col, int64_t v)
{
	if (v >= 0)
		put_int(s, AT(row, col), LOOK_CELL, v);
}

static void put_us(struct grid_sheet *s, uint32_t row, enum rounds_col col, double ns)
{
	if (isfinite(ns) && ns >= 0)
		put_num(s, AT(row, col), STYLE(LOOK_CELL, NUM_GROUP1), ns / 1e3);
}

static void put_value(struct grid_sheet *s, uint32_t row, enum rounds_col col, enum numfmt fmt,
		      double v)
{
	if (isfinite(v))
		put_num(s, AT(row, col), STYLE(LOOK_CELL, fmt), v);
}

static void put_where(struct grid_sheet *s, const struct measure *m, uint32_t row)
{
	put_id(s, row, RC_CELL, m->cell_id);
	put_text(s, AT(row, RC_TEST), LOOK_CENTER, m->test);
	put_id(s, row, RC_ATTEMPT, m->attempt);
	put_id(s, row, RC_SECTION, m->section);
	put_text(s, AT(row, RC_PHASE), LOOK_CENTER, m->phase);
	put_id(s, row, RC_ROUND, m->round);
	put_id(s, row, RC_TRY, m->round_try);
	put_text(s, AT(row, RC_WINDOW), m->in_window ? LOOK_GOOD : LOOK_CENTER,
		 m->in_window ? "yes" : "no");
	put_text(s, AT(row, RC_VOID), m->void_ ? LOOK_WARN : LOOK_CENTER, m->void_ ? "yes" : "no");
	put_text(s, AT(row, RC_PARTIAL), m->partial ? LOOK_WARN : LOOK_CENTER,
		 m->partial ? "yes" : "no");
	put_text(s, AT(row, RC_LABEL), LOOK_CENTER, m->label);
	put_text(s, AT(row, RC_ACCESS), LOOK_CELL, m->access);
	put_value(s, row, RC_BLOCK, NUM_GENERAL,
		  m->block_bytes < 0 ? NAN : (double)m->block_bytes / 1024);
	put_value(s, row, RC_READ, NUM_GENERAL, m->read_pct);
	put_id(s, row, RC_TC, m->threads);
	put_id(s, row, RC_QD, m->qd);
	put_id(s, row, RC_MEMBER, m->member);
}

static void put_values(struct grid_sheet *s, const struct measure *m, uint32_t row)
{
	put_value(s, row, RC_SECONDS, NUM_3, (double)m->elapsed_ns / 1e9);
	put_int(s, AT(row, RC_IOS), LOOK_CELL, (int64_t)m->ios);
	put_value(s, row, RC_IOPS, NUM_GROUP1, m->iops);
	put_value(s, row, RC_MBS, NUM_GROUP1, m->bytes_per_s / 1e6);
	put_us(s, row, RC_ART, m->art_ns);
	put_us(s, row, RC_P50, (double)m->p50_ns);
	put_us(s, row, RC_P99, (double)m->p99_ns);
	put_us(s, row, RC_P999, (double)m->p999_ns);
	put_us(s, row, RC_P9999, (double)m->p9999_ns);
	put_us(s, row, RC_P99999, (double)m->p99999_ns);
	put_us(s, row, RC_MRT, (double)m->mrt_ns);
	put_value(s, row, RC_INFLIGHT, NUM_2, m->inflight_avg);
	put_value(s, row, RC_LITTLE, NUM_2, m->little_pct);
	put_value(s, row, RC_CPU_SYS, NUM_1, m->cpu_sys_pct);
	put_value(s, row, RC_CPU, NUM_1, m->cpu_total_pct);
	put_value(s, row, RC_TEMP, NUM_1, m->temperature_c);
	put_int(s, AT(row, RC_ERRORS), LOOK_CELL, (int64_t)m->errors);
	put_value(s, row, RC_WRITTEN, NUM_3, (double)m->host_bytes_written / 1e9);
	put_value(s, row, RC_RATE, NUM_GROUP1, m->rate_iops);
}

static void build(const struct dataset *d, struct grid *g)
{
	static const char *const heads[RC_MAX] = {
		"cell_id",     "test",	      "attempt", "section",    "phase",	   "round",
		"try",	       "in window",   "void",	 "partial",    "label",	   "access",
		"block KiB",   "read %",      "TC",	 "QD",	       "seconds",  "I/Os",
		"IOPS",	       "MB/s",	      "ART us",	 "50 % us",    "99 % us",  "99.9 % us",
		"99.99 % us",  "99.999 % us", "MRT us",	 "in flight",  "Little %", "CPU sys %",
		"CPU total %", "temp C",      "errors",	 "written GB", "member",   "rate IO/s"
	};
	struct grid_sheet *s = grid_sheet(g, ROUNDS_SHEET, ROLE_DATA);

	s->color = 0x7F7F7F;
	s->freeze_rows = 1;
	s->freeze_cols = 2;
	s->filter_cols = RC_MAX;
	s->repeat_rows = 1;
	grid_row_height(s, 0, 34);
	grid_col_width(s, 0, RC_MAX - 1, 76);
	grid_col_width(s, RC_ACCESS, RC_ACCESS, 150);
	for (uint32_t c = 0; c < RC_MAX; c++)
		put_text(s, AT(0, c), LOOK_HEAD, heads[c]);
	for (unsigned i = 0; i < d->n_measures; i++) {
		put_where(s, &d->measure[i], i + 1);
		put_values(s, &d->measure[i], i + 1);
	}
}

const struct sheet sheet_rounds = { 900, applies, build };
