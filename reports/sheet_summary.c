/* SPDX-License-Identifier: MIT */
/* The cover: verdict, deviations, what was tested, results at a glance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/claims.h"
#include "reports/plots.h"
#include "reports/sheet.h"

#define DEVIATIONS_SHOWN 12
#define PAGE_PX 900 /* height of a printed page */
#define SMALLER 1.27 /* so much more fits on one page in smaller print that still can be read */
#define BARS_ROWS 10
#define FOOT_ROWS 3

static bool applies(const struct dataset *d)
{
	return true;
}

static enum look verdict_look(enum verdict v)
{
	return v == VERDICT_CONFORMANT	 ? LOOK_BIG_GOOD
	       : v == VERDICT_DEVIATIONS ? LOOK_BIG_WARN
					 : LOOK_BIG_BAD;
}

static const char *counts(const struct dataset *d, struct arena *a)
{
	unsigned rule = 0, steady = 0, warnings = 0;

	for (unsigned i = 0; i < d->n_tests; i++) {
		rule += d->test[i].has_rule;
		steady += d->test[i].has_rule && d->test[i].status <= STATUS_WARN;
	}
	for (unsigned i = 0; i < d->n_warnings; i++)
		warnings += d->warning[i].severity != SEV_INFO;
	return arena_fmt(
		a, "%u of %u tests at steady state - %u not valid - deviations: %u - warnings: %u",
		steady, rule, d->n_not_valid, d->n_deviations, warnings);
}

static bool only_exact(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (!test_is_exact(&d->test[i]))
			return false;
	return d->n_tests > 0;
}

static const char *statement(const struct dataset *d, struct arena *a)
{
	if (d->verdict == VERDICT_CONFORMANT)
		return arena_fmt(a, "This run conforms to definition set %d of %s (%s).",
				 d->definition_set, d->spec, d->profile);
	if (d->verdict == VERDICT_DEVIATIONS)
		return arena_fmt(a,
				 "This run follows definition set %d of %s (%s) with the deviations"
				 " below.",
				 d->definition_set, d->spec, d->profile);
	if (d->quick)
		return "A quick run: times and amounts are not those of the PTS.";
	if (d->n_not_valid && only_exact(d))
		return "An exact replay without a valid result: see sheet Warnings.";
	if (only_exact(d))
		return "An exact replay of a capture: no test of the PTS.";
	if (d->n_not_valid)
		return "A test is without a valid result: see sheet Warnings.";
	return "A definition was changed: this is not the PTS procedure.";
}

static uint32_t put_claims(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	const struct claim_checks *k = d->checks;
	enum look look = k->n_missed ? LOOK_BAD : k->n_open || !k->n ? LOOK_WARN : LOOK_GOOD;

	put_text(s, AREA(row, 0, row, 2), LOOK_KEY, "Vendor's claims");
	put_fmt(s, AREA(row, 3, row, 6), LOOK_VALUE, "%s", d->claims->file);
	if (k->n)
		put_fmt(s, AREA(row, 7, row, 13), look, "%s", claims_counts(&s->grid->arena, k));
	else
		put_text(s, AREA(row, 7, row, 13), look, "none of them is of this drive");
	put_link(s, AREA(row, 14, row, 15), "Spec check", "Spec check");
	return row + 1;
}

static uint32_t put_verdict(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	struct arena *a = &s->grid->arena;

	grid_row_height(s, row, 36);
	put_text(s, AREA(row, 0, row, 5), verdict_look(d->verdict), verdict_name(d->verdict));
	put_text(s, AREA(row, 6, row, 15), LOOK_COUNTS, counts(d, a));
	row++;
	if (d->simulated) {
		grid_row_height(s, row, 26);
		put_text(s, AREA(row, 0, row, 15), LOOK_SIMULATED,
			 "SIMULATED - every value comes from a model; no drive was measured");
		row++;
	}
	put_text(s, AREA(row, 0, row, 15), LOOK_NOTE, statement(d, a));
	return d->claims ? put_claims(s, d, row + 1) : row + 1;
}

static uint32_t put_deviations(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	put_fmt(s, AREA(row, 0, row, 15), LOOK_SECTION, "Deviations (%u)", d->n_deviations);
	row++;
	for (unsigned i = 0; i < d->n_deviations && i < DEVIATIONS_SHOWN; i++, row++) {
		put_text(s, AREA(row, 0, row, 1), LOOK_KEY, d->deviation[i].clause);
		put_text(s, AREA(row, 2, row, 15), LOOK_VALUE, d->deviation[i].text);
	}
	if (d->n_deviations > DEVIATIONS_SHOWN) {
		put_fmt(s, AREA(row, 0, row, 15), LOOK_NOTE, "%u more on sheet Warnings",
			d->n_deviations - DEVIATIONS_SHOWN);
		row++;
	}
	if (!d->n_deviations) {
		put_text(s, AREA(row, 0, row, 15), LOOK_NOTE, "none");
		row++;
	}
	return row + 1;
}

static const char *info(const struct dataset *d, const char *key)
{
	const char *v = pairs_get(&d->info, key);

	return v ? v : "-";
}

static const char *host(const struct dataset *d, const char *key)
{
	const char *v = pairs_get(&d->host, key);

	return v ? v : "-";
}

static const char *written(const struct dataset *d, struct arena *a)
{
	double bytes = 0;

	for (unsigned i = 0; i < d->n_measures; i++)
		if (d->measure[i].member < 0)
			bytes += (double)d->measure[i].write_bytes;
	char text[32];

	return arena_fmt(a, "%s (%.2f drive fills)",
			 fmt_capacity(text, sizeof text, (uint64_t)bytes),
			 bytes / (double)d->capacity_bytes);
}

static const char *temperature(const struct dataset *d, struct arena *a)
{
	double low = NAN, high = NAN;

	for (unsigned i = 0; i < d->n_tests; i++) {
		low = fmin(low, d->test[i].temp_min);
		high = fmax(high, d->test[i].temp_max);
	}
	return isfinite(low) ? arena_fmt(a, "%.0f - %.0f C", low, high) : "not recorded";
}

static const char *methods(const struct dataset *d, struct arena *a)
{
	const char *list = "";

	for (unsigned i = 0; i < d->n_tests; i++)
		list = arena_fmt(a, "%s%s%s", list, i ? ", " : "", d->test[i].sheet);
	return arena_fmt(a, "%s (%s): %s", d->spec, d->profile, list);
}

static uint32_t put_subject(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	struct arena *a = &s->grid->arena;
	const char *cache = d->n_tests ? cache_text(&d->test[0], false) : "-";
	char size[32];
	const struct pair left[] = {
		{ "Device under test",
		  arena_fmt(a, "%s %s, %s, %s, %s", d->vendor, d->model,
			    fmt_capacity(size, sizeof size, (uint64_t)d->capacity_bytes),
			    d->interface, d->dut) },
		{ "Serial / firmware / WWID",
		  arena_fmt(a, "%s / %s / %s", *d->serial ? d->serial : "-",
			    *d->firmware ? d->firmware : "-", *d->wwid ? d->wwid : "-") },
		{ "Test platform",
		  arena_fmt(a, "%s, %s C / %s T, %s, kernel %s", host(d, "cpu_model"),
			    host(d, "cpu_cores"), host(d, "cpu_threads"), host(d, "os"),
			    host(d, "kernel")) },
		{ "Customer / lab",
		  arena_fmt(a, "%s / %s", info(d, "customer"), info(d, "operator")) },
		{ "Test period (UTC)",
		  arena_fmt(a, "%s to %s", d->started_utc, *d->ended_utc ? d->ended_utc : "-") },
		{ "Method", methods(d, a) },
		{ "Evidence", arena_fmt(a, "run %lld, %s %s", (long long)d->run_id,
					d->tampered ? "CHAIN BROKEN,"
					: d->sealed ? "sealed, chain head"
						    : "not sealed, chain at",
					d->digest) },
	};
	const struct pair right[] = {
		{ "Ambient / inlet", info(d, "ambient") },
		{ "Composite temp.", temperature(d, a) },
		{ "Governor", arena_fmt(a, "%s%s", host(d, "cpu_governor"),
					governor_slow(d) ? " - WARNING" : "") },
		{ "Scheduler", host(d, "dev_scheduler") },
		{ "Host writes in run", written(d, a) },
		{ "Write cache / PLP", arena_fmt(a, "%s / %s", cache, info(d, "plp")) },
		{ "Decision rule", "steady state per PTS 2.1.24" },
	};

	put_text(s, AREA(row, 0, row, 9), LOOK_SECTION, "Subject");
	put_text(s, AREA(row, 10, row, 15), LOOK_SECTION, "Conditions");
	row++;
	for (unsigned i = 0; i < sizeof left / sizeof left[0]; i++, row++) {
		put_text(s, AREA(row, 0, row, 2), LOOK_KEY, left[i].key);
		put_text(s, AREA(row, 3, row, 9), LOOK_VALUE, left[i].value);
		put_text(s, AREA(row, 10, row, 11), LOOK_KEY, right[i].key);
		put_text(s, AREA(row, 12, row, 15),
			 strstr(right[i].value, " - WARNING") ? LOOK_WARN : LOOK_VALUE,
			 right[i].value);
	}
	return row + 1;
}

static enum numfmt value_fmt(const struct result *r)
{
	double shown = unit_shown(r->unit, r->value);

	if (r->unit != UNIT_NS)
		return unit_fmt(r->unit);
	return !strcmp(r->key, "mrt_ns")	  ? NUM_2
	       : !strcmp(r->key, "lat_p99999_ns") ? NUM_3
						  : ms_fmt(shown);
}

static void result_value(struct grid_sheet *s, const struct result *r, uint32_t row)
{
	struct area at = AREA(row, 7, row, 8);

	if (!r->reported)
		put_text(s, at, LOOK_BAD, "not reported");
	else
		put_num(s, at, STYLE(LOOK_STRONG, value_fmt(r)), unit_shown(r->unit, r->value));
	put_text(s, AT(row, 9), LOOK_CENTER, r->reported ? unit_name(r->unit) : "-");
	put_num(s, AT(row, 10), STYLE(LOOK_CENTER, NUM_PCT2), r->reported ? r->cv : NAN);
}

/* "REACHED", "NOT REACHED", "n.a.", "not run". */
static const char *reached(struct arena *a, const struct result *r)
{
	const char *text;

	if (!r->test->attempt)
		return "not run";
	if (!r->test->has_rule)
		return "n.a.";
	text = steady_text(a, r->test, r->section);
	return *text == 'n' ? text : *text == 'N' ? "NOT REACHED" : "REACHED";
}

static void put_result(struct grid_sheet *s, const struct result *r, uint32_t row)
{
	struct arena *a = &s->grid->arena;
	const char *steady = reached(a, r);
	enum look look = *steady == 'N' ? LOOK_BAD : *steady == 'n' ? LOOK_NA : LOOK_GOOD;
	static const enum look looks[] = { [STATUS_VALID] = LOOK_GOOD,
					   [STATUS_WARN] = LOOK_WARN,
					   [STATUS_NOT_VALID] = LOOK_BAD,
					   [STATUS_NOT_RUN] = LOOK_BAD };
	enum test_status status = result_status(r);

	put_text(s, AT(row, 0), LOOK_ROW_HEAD, r->test->sheet);
	put_fmt(s, AREA(row, 1, row, 3), LOOK_VALUE, "%s", r->access);
	put_text(s, AT(row, 4), LOOK_CENTER, r->tcqd);
	put_fmt(s, AREA(row, 5, row, 6), LOOK_VALUE, "%s", r->metric);
	result_value(s, r, row);
	put_text(s, AREA(row, 11, row, 12), look, steady);
	put_text(s, AT(row, 13), LOOK_CENTER, r->section ? window_text(a, r->section) : "-");
	put_text(s, AT(row, 14), looks[status], status_name(status));
	if (r->test->attempt)
		put_link(s, AT(row, 15), r->test->sheet, r->test->sheet);
	else
		put_text(s, AT(row, 15), LOOK_NA, "-");
}

/* Pixels of the rows from @first up to @row. */
static double rows_px(const struct grid_sheet *s, uint32_t first, uint32_t row)
{
	double px = row > first ? (row - first) * (double)ROW_PX : 0;

	for (size_t i = 0; i < s->n_heights; i++)
		if (s->height[i].row >= first && s->height[i].row < row)
			px += s->height[i].px - ROW_PX;
	return px;
}

/* The first row of the printed page on which @row is. */
static uint32_t page_top(const struct grid_sheet *s)
{
	return s->n_breaks ? s->page_break[s->n_breaks - 1] : 0;
}

/* A new page before @row unless @n rows more fit on this one. */
static void keep_together(struct grid_sheet *s, uint32_t row, uint32_t n)
{
	if (!s->one_page && rows_px(s, page_top(s), row) + n * (double)ROW_PX > PAGE_PX)
		grid_page_break(s, row);
}

static uint32_t put_result_heads(struct grid_sheet *s, uint32_t row, const char *title)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Test" },		{ 1, 3, "Access pattern" }, { 4, 4, "TC/QD" },
		      { 5, 6, "Metric" },	{ 7, 8, "Value" },	    { 9, 9, "Unit" },
		      { 10, 10, "5-round CV" }, { 11, 12, "Steady state" }, { 13, 13, "Rounds" },
		      { 14, 14, "Status" },	{ 15, 15, "Page" } };

	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION, title);
	row++;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD, heads[i].head);
	return row + 1;
}

/* Results of the same test from the @i-th on. */
static uint32_t together(const struct dataset *d, unsigned i)
{
	unsigned n = i;

	while (n < d->n_results && d->result[n].test == d->result[i].test)
		n++;
	return n - i;
}

/* A test that does not fit on the page begins the next, with heads of its own. */
static uint32_t put_results(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	unsigned breaks = (unsigned)s->n_breaks;

	row = put_result_heads(s, row, "Results at a glance");
	for (unsigned i = 0; i < d->n_results; i++, row++) {
		if (i && d->result[i].test != d->result[i - 1].test)
			keep_together(s, row, together(d, i));
		if (s->n_breaks > breaks) {
			breaks = (unsigned)s->n_breaks;
			row = put_result_heads(s, row, "Results at a glance (continued)");
		}
		put_result(s, &d->result[i], row);
	}
	if (!d->n_results) {
		put_text(s, AREA(row, 0, row, 15), LOOK_NA, "no test in this run");
		row++;
	}
	return row + 1;
}

#define BARS_MAX 9

static bool has_bars(const struct dataset *d)
{
	const struct test *t = dataset_test(d, "iops");

	return t && t->n_sections && t->status <= STATUS_WARN;
}

static uint32_t put_bars(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	static const double mix[] = { 100, 65, 0 };
	static const int64_t size[] = { 4096, 8192, 65536 };
	double v[BARS_MAX], top = 0;
	const char *name[BARS_MAX];
	uint32_t color[BARS_MAX];
	unsigned n = 0;
	struct plots pl;

	const struct test *t = dataset_test(d, "iops");
	if (!has_bars(d))
		return row;
	for (unsigned i = 0; i < 9; i++) {
		const struct combo *one = section_combo(&t->section[0], mix[i % 3], size[i / 3]);
		if (!one || !one->n_window)
			continue;
		v[n] = one->iops;
		name[n] = one->title + 4; /* without "RND " */
		color[n++] = mix_color(one->read_pct);
	}
	if (!n)
		return row;
	keep_together(s, row, BARS_ROWS + FOOT_ROWS);
	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION,
		 "Steady-state IOPS by block size and R/W mix (detail: sheet IOPS)");
	plots_begin(&pl, s->grid, "Summary: steady-state IOPS");
	struct chart c = chart_new(CHART_COLUMN, NULL, "IOPS");
	struct series one = { .name = "IOPS",
			      .x = plots_labels(&pl, "cell", name, n),
			      .y = plots_column(&pl, "IOPS", v, n),
			      .color = 0x2E75B6,
			      .labels = true,
			      .label_fmt = NUM_GROUP,
			      .point_color = color,
			      .n_points = n };
	chart_place(&c, (struct place){ row + 1, 0, PAGE_COLS * PAGE_COL_PX, 8 * ROW_PX });
	c.legend = LEGEND_NONE;
	c.gap = 40;
	for (unsigned i = 0; i < n; i++)
		top = fmax(top, v[i]);
	axis_round(&c.y, 0, top * 1.15); /* room for the labels */
	c.y.fmt = NUM_GROUP;
	c.series = &one;
	c.n_series = 1;
	grid_chart(s, &c);
	return row + BARS_ROWS;
}

static void put_foot(struct grid_sheet *s, uint32_t row)
{
	keep_together(s, row, FOOT_ROWS);
	put_text(
		s, AREA(row, 0, row, 15), LOOK_NOTE,
		"The results relate only to the unit tested (serial number above). Values without a"
		" steady state are not PTS results. In the format of the SNIA SSS PTS; no"
		" certification is claimed.");
	row += 2;
	put_text(s, AREA(row, 0, row, 3), LOOK_SIGN, "Tested by:");
	put_text(s, AREA(row, 6, row, 9), LOOK_SIGN, "Reviewed by:");
	put_text(s, AREA(row, 12, row, 15), LOOK_SIGN, "Approved by:");
}

static void build(const struct dataset *d, struct grid *g)
{
	struct arena *a = &g->arena;
	struct grid_sheet *s = page_plain(g, "Summary", "SSD Performance Qualification Report",
					  arena_fmt(a, "%s (%s)   |   %s%s%s   |   %s%s", d->spec,
						    d->profile, d->vendor, *d->vendor ? " " : "",
						    d->model, d->software,
						    d->simulated ? "   |   SIMULATED" : ""));
	s->color = d->verdict == VERDICT_CONFORMANT   ? 0x70AD47
		   : d->verdict == VERDICT_DEVIATIONS ? 0xFFC000
						      : 0xC00000;
	uint32_t row = put_verdict(s, d, 2);
	row = put_deviations(s, d, row);
	row = put_subject(s, d, row);
	uint32_t more = 4 + d->n_results + (has_bars(d) ? BARS_ROWS : 0) + FOOT_ROWS;
	s->one_page = rows_px(s, 0, row + more) <= PAGE_PX * SMALLER &&
		      rows_px(s, 0, row + more) > PAGE_PX;
	row = put_results(s, d, row);
	row = put_bars(s, d, row);
	put_foot(s, row);
}

const struct sheet sheet_summary = { 10, applies, build };
