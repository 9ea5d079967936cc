/* SPDX-License-Identifier: MIT */
/* Warnings, deviations and exclusions; the checks that raised none. */
#include <stdio.h>
#include <string.h>

#include "reports/page.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	return true;
}

/* Pixels of a row whose longest text wraps: merged cells do not grow by themselves. */
static double wrapped_px(const char *text, unsigned chars_per_line)
{
	return 18.0 + 14.0 * (double)(strlen(text) / chars_per_line);
}

static uint32_t put_warning(struct grid_sheet *s, const struct warning *w, unsigned n, uint32_t row)
{
	static const enum look looks[] = { LOOK_BAD, LOOK_WARN, LOOK_NA };
	double px = wrapped_px(w->what, 62), effect = wrapped_px(w->effect, 44);

	px = px > effect ? px : effect;
	px = px > 360 ? 360 : px;
	grid_row_height(s, row, px);
	put_fmt(s, AT(row, 0), LOOK_ROW_HEAD, "W-%02u", n);
	put_text(s, AT(row, 1), looks[w->severity], severity_name(w->severity));
	put_text(s, AT(row, 2), LOOK_CENTER, w->test);
	put_text(s, AT(row, 3), LOOK_CENTER, w->clause);
	put_text(s, AREA(row, 4, row, 8), LOOK_WRAP, w->what);
	put_text(s, AREA(row, 9, row, 12), LOOK_WRAP, w->effect);
	put_text(s, AREA(row, 13, row, 15), LOOK_WRAP, w->evidence);
	return row + 1;
}

/* A check that had nothing to look at has not passed. */
static bool looked_at(const struct dataset *d, const char *evidence)
{
	bool rule = false, purge = false, formal = true;

	for (unsigned i = 0; i < d->n_tests; i++) {
		rule |= d->test[i].has_rule;
		purge |= *d->test[i].purge_method != 0;
		formal &= d->test[i].formal;
	}
	if (!strcmp(evidence, "v_steady"))
		return rule;
	if (!strcmp(evidence, "v_section: purge"))
		return purge;
	if (!strcmp(evidence, "v_deviation")) /* as the cover counts them, SIMULATED among them */
		return !d->n_deviations && !d->quick && !d->simulated && formal;
	return d->n_measures > 0;
}

static bool none_of(const struct dataset *d, const char *evidence)
{
	for (unsigned i = 0; i < d->n_warnings; i++)
		if (!strncmp(d->warning[i].evidence, evidence, strlen(evidence)))
			return false;
	return d->n_measures > 0 && looked_at(d, evidence);
}

static uint32_t put_passed(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	static const struct {
		const char *evidence, *text;
	} checks[] = {
		{ "v_steady", "Every loop with a steady-state rule reached steady state" },
		{ "v_planned", "Every test of the plan came to its end" },
		{ "v_section: purge", "Every purge was verified by reading back" },
		{ "v_cell: errors", "No I/O error in any measured step" },
		{ "v_cell: void", "No void round, no partial step" },
		{ "v_cell: little", "IOPS x ART agrees with the I/Os measured in flight (2 %)" },
		{ "v_event: cell-na", "Every cell of the tests could be measured on this drive" },
		{ "v_deviation", "No deviation from the definition set" },
	};

	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION,
		 "Checks passed (none of these raised a warning)");
	row++;
	for (unsigned i = 0; i < sizeof checks / sizeof checks[0]; i++) {
		if (!none_of(d, checks[i].evidence))
			continue;
		put_text(s, AT(row, 0), LOOK_GOOD, "OK");
		put_fmt(s, AREA(row, 1, row, 15), LOOK_PLAIN, "%s", checks[i].text);
		row++;
	}
	return row;
}

static void build(const struct dataset *d, struct grid *g)
{
	struct grid_sheet *s = page_plain(
		g, "Warnings", "Warnings, Deviations and Exclusions",
		"What a reader must know before using a number of this report. FAIL = result not"
		" valid, WARN = usable with care, INFO.");
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "No." },		 { 1, 1, "Severity" },
		      { 2, 2, "Test" },		 { 3, 3, "Clause" },
		      { 4, 8, "What happened" }, { 9, 12, "Effect on the results" },
		      { 13, 15, "Evidence" } };
	uint32_t row = 3;
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD, heads[i].head);
	row++;
	for (enum severity v = SEV_FAIL; v <= SEV_INFO; v++)
		for (unsigned i = 0; i < d->n_warnings; i++)
			if (d->warning[i].severity == v)
				row = put_warning(s, &d->warning[i], ++n, row);
	if (!n) {
		put_text(s, AREA(row, 0, row, 15), LOOK_GOOD, "none");
		row++;
	}
	put_passed(s, d, row + 1);
}

const struct sheet sheet_warnings = { 20, applies, build };
