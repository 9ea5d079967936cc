/* SPDX-License-Identifier: MIT */
/* Where each number comes from and how a third party checks it. */
#include <stdio.h>
#include <string.h>

#include "reports/page.h"
#include "reports/sheet.h"

#define EVENTS_MAX 300

static bool applies(const struct dataset *d)
{
	return true;
}

static uint32_t put_pair(struct grid_sheet *s, uint32_t row, const char *key, const char *value)
{
	put_text(s, AREA(row, 0, row, 2), LOOK_KEY, key);
	put_text(s, AREA(row, 3, row, 15), LOOK_MONO, *value ? value : "-");
	return row + 1;
}

/* Of a set each step is a row that sums up, and one of each drive. */
static const char *steps_text(struct arena *a, const struct dataset *d)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < d->n_measures; i++)
		steps += d->measure[i].member < 0;
	if (steps == d->n_measures)
		return arena_fmt(a, "%u measured steps", steps);
	return arena_fmt(a, "%u measured steps, of them %u rows of single drives", steps,
			 d->n_measures - steps);
}

static uint32_t put_run(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	struct arena *a = &s->grid->arena;

	row = put_pair(s, row, "Run",
		       arena_fmt(a, "%lld   uuid %s%s%s", (long long)d->run_id, d->uuid,
				 *d->campaign ? "   campaign " : "", d->campaign));
	row = put_pair(s, row, "Run state", d->state);
	row = put_pair(s, row,
		       d->tampered ? "Chain BROKEN"
		       : d->sealed ? "Chain head (sealed)"
				   : "Chain (not sealed)",
		       d->digest);
	row = put_pair(s, row, "Tool", d->software);
	row = put_pair(
		s, row, "Method",
		arena_fmt(a, "%s (%s), definition set %d", d->spec, d->profile, d->definition_set));
	row = put_pair(s, row, "Target", d->dut);
	row = put_pair(s, row, "Random seed", d->seed);
	row = put_pair(s, row, "Started / ended (UTC)",
		       arena_fmt(a, "%s / %s", d->started_utc, *d->ended_utc ? d->ended_utc : "-"));
	row = put_pair(s, row, "Records",
		       arena_fmt(a, "%s, %u events", steps_text(a, d), d->n_events));
	return put_pair(s, row, "Note", d->note);
}

static uint32_t put_tests(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	struct arena *a = &s->grid->arena;

	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION, "Tests: definitions, plans, parameters");
	row++;
	for (unsigned i = 0; i < d->n_tests; i++) {
		const struct test *t = &d->test[i];
		const char *params = "";
		for (unsigned k = 0; k < t->params.n; k++)
			params = arena_fmt(a, "%s%s%s=%s", params, k ? " " : "", t->params.v[k].key,
					   t->params.v[k].value);
		row = put_pair(s, row, arena_fmt(a, "%s (clause %s)", t->sheet, t->clause),
			       arena_fmt(a, "%s, attempt %d, %s", t->title, t->attempt,
					 test_is_exact(t)
						 ? "no test of the PTS: no definition to follow"
					 : t->formal ? "definition unchanged"
						     : "definition CHANGED or not of the set"));
		row = put_pair(s, row, "  definition SHA-256", t->definition_hash);
		row = put_pair(s, row, "  plan SHA-256", t->plan_hash);
		row = put_pair(s, row, "  parameters", params);
	}
	return row + 1;
}

static uint32_t put_pairs(struct grid_sheet *s, const char *title, const struct pairs *p,
			  uint32_t row)
{
	if (!p->n)
		return row;
	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION, title);
	row++;
	for (unsigned i = 0; i < p->n; i++) { /* two to a line */
		uint32_t col = i % 2 * 8;
		put_text(s, AREA(row, col, row, col + 2), LOOK_KEY, p->v[i].key);
		put_text(s, AREA(row, col + 3, row, col + 7), LOOK_VALUE, p->v[i].value);
		row += i % 2;
	}
	return row + (p->n % 2) + 1;
}

static uint32_t put_events(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	put_fmt(s, AREA(row, 0, row, 15), LOOK_SECTION,
		"Events: what was done to the drive and the run (%u)", d->n_events);
	row++;
	put_text(s, AT(row, 0), LOOK_HEAD, "Event");
	put_text(s, AREA(row, 1, row, 3), LOOK_HEAD, "UTC");
	put_text(s, AREA(row, 4, row, 5), LOOK_HEAD, "Kind");
	put_text(s, AREA(row, 6, row, 15), LOOK_HEAD, "Detail");
	row++;
	for (unsigned i = 0; i < d->n_events && i < EVENTS_MAX; i++, row++) {
		const struct event *e = &d->event[i];
		put_int(s, AT(row, 0), LOOK_CENTER, e->id);
		put_text(s, AREA(row, 1, row, 3), LOOK_MONO, e->utc);
		put_text(s, AREA(row, 4, row, 5), LOOK_VALUE, e->kind);
		put_text(s, AREA(row, 6, row, 15), LOOK_VALUE, e->detail);
	}
	if (d->n_events > EVENTS_MAX) {
		put_fmt(s, AREA(row, 0, row, 15), LOOK_NOTE, "%u more in view v_event",
			d->n_events - EVENTS_MAX);
		row++;
	}
	return row + 1;
}

static void put_how(struct grid_sheet *s, const struct dataset *d, uint32_t row)
{
	struct arena *a = &s->grid->arena;
	const char *lines[] = {
		"pts db check  - the file is sound and each run's chain is whole",
		arena_fmt(a,
			  "pts report %.8s -o again.xlsx  - the same database gives the same bytes",
			  d->uuid),
		arena_fmt(a,
			  "sqlite3 FILE \"SELECT digest FROM v_run WHERE run_id = %lld\"  - must "
			  "be the"
			  " chain head above",
			  (long long)d->run_id),
		"sqlite3 FILE \"SELECT * FROM v_cell WHERE cell_id = N\"  - the row behind a line "
		"of"
		" D_rounds",
	};

	put_text(s, AREA(row, 0, row, 15), LOOK_SECTION, "How to check this report");
	row++;
	for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++, row++)
		put_fmt(s, AREA(row, 0, row, 15), LOOK_MONO, "%u. %s", i + 1, lines[i]);
}

static void build(const struct dataset *d, struct grid *g)
{
	struct grid_sheet *s = page_plain(
		g, "Provenance", "Provenance and Evidence",
		"How each number can be traced to a row of the database, and how a third party"
		" checks it.");
	uint32_t row = put_run(s, d, 3) + 1;

	row = put_tests(s, d, row);
	row = put_pairs(s, "Test platform", &d->host, row);
	row = put_pairs(s, "Information given by the operator", &d->info, row);
	row = put_events(s, d, row);
	put_how(s, d, row);
}

const struct sheet sheet_provenance = { 600, applies, build };
