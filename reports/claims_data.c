/* SPDX-License-Identifier: MIT */
#include "reports/claims_data.h"

#include <math.h>
#include <string.h>

#define DATA_SHEET "D_claims"

enum numfmt claim_fmt(const struct claim *c, double shown)
{
	if (c->unit == UNIT_NS)
		return shown < 100 ? NUM_2 : NUM_GROUP1;
	return c->unit == UNIT_IOPS && shown >= 1000 ? NUM_GROUP : NUM_GROUP1;
}

const char *claim_text(struct arena *a, const char *s, size_t max)
{
	size_t n = max - 3;

	if (strlen(s) <= max)
		return s;
	while (n && ((unsigned char)s[n] & 0xc0) == 0x80) /* not inside of a character */
		n--;
	return arena_fmt(a, "%.*s...", (int)n, s);
}

/* ---- rows ---- */

enum {
	D_RUN,
	D_CLAIM,
	D_TEST,
	D_SECTION,
	D_ACCESS,
	D_TC,
	D_QD,
	D_METRIC,
	D_UNIT,
	D_VALUE,
	D_BETTER,
	D_TOLERANCE,
	D_LIMIT,
	D_MEASURED,
	D_DIFFERENCE,
	D_UNCERTAINTY,
	D_VERDICT,
	D_UNDER,
	D_REASON,
	D_CONDITION,
	D_MODEL,
	D_MAX
};

static struct grid_sheet *data_sheet(struct grid *g)
{
	static const char *const heads[D_MAX] = {
		"run_id", "claim",     "test",	     "section",		"access",  "tc",
		"qd",	  "metric",    "unit",	     "value",		"better",  "tolerance",
		"limit",  "measured",  "difference", "std_uncertainty", "verdict", "measured_under",
		"reason", "condition", "model"
	};
	struct grid_sheet *s = grid_find(g, DATA_SHEET);

	if (s)
		return s;
	s = grid_sheet(g, DATA_SHEET, ROLE_DATA);
	s->color = 0x7F7F7F;
	s->freeze_rows = 1;
	s->filter_cols = D_MAX;
	grid_col_width(s, 0, D_MAX - 1, 90);
	for (unsigned i = 0; i < D_MAX; i++)
		put_text(s, AT(0, i), LOOK_HEAD, heads[i]);
	return s;
}

static const char *base_unit(enum unit u)
{
	return u == UNIT_IOPS ? "iops" : u == UNIT_BYTES_PER_S ? "bytes_per_s" : "ns";
}

static void put_row(struct grid_sheet *s, uint32_t row, int64_t run, const struct claim_check *k)
{
	const struct claim *c = k->claim;
	const char *text[D_MAX] = { [D_CLAIM] = c->name,
				    [D_TEST] = c->test,
				    [D_SECTION] = c->section,
				    [D_ACCESS] = c->access,
				    [D_METRIC] = c->metric,
				    [D_UNIT] = base_unit(c->unit),
				    [D_BETTER] = c->lower_is_better ? "lower" : "higher",
				    [D_VERDICT] = claim_verdict_name(k->verdict),
				    [D_UNDER] = k->under,
				    [D_REASON] = k->why,
				    [D_CONDITION] = c->condition,
				    [D_MODEL] = c->model };
	const double number[D_MAX] = {
		[D_RUN] = (double)run,		 [D_TC] = c->tc ? c->tc : NAN,
		[D_QD] = c->qd ? c->qd : NAN,	 [D_VALUE] = c->value,
		[D_TOLERANCE] = c->tolerance,	 [D_LIMIT] = k->limit,
		[D_MEASURED] = k->measured,	 [D_DIFFERENCE] = k->difference,
		[D_UNCERTAINTY] = k->uncertainty
	};

	for (unsigned i = 0; i < D_MAX; i++) {
		if (text[i])
			put_text(s, AT(row, i), LOOK_CELL, text[i]);
		else if (isfinite(number[i]))
			put_num(s, AT(row, i), STYLE(LOOK_CELL, NUM_GENERAL), number[i]);
	}
}

void claims_rows(struct grid *g, const struct dataset *d, const struct claim_checks *k)
{
	struct grid_sheet *s = data_sheet(g);
	uint32_t row = s->n_rows;

	for (unsigned i = 0; i < k->n; i++)
		put_row(s, row++, d->run_id, &k->v[i]);
}

/* ---- JSON ---- */

void claim_json(const struct claim_check *k, struct json *j)
{
	const struct claim *c = k->claim;

	json_text(j, "claim", c->name);
	json_text(j, "test", c->test);
	json_text(j, "section", c->section);
	json_text(j, "access", c->access);
	json_count(j, "tc", c->tc ? c->tc : -1); /* 0: not given */
	json_count(j, "qd", c->qd ? c->qd : -1);
	json_text(j, "metric", c->metric);
	json_text(j, "condition", c->condition);
	json_num(j, "value", c->value);
	json_text(j, "better", c->lower_is_better ? "lower" : "higher");
	json_num(j, "tolerance", c->tolerance);
	json_num(j, "limit", k->limit);
	json_num(j, "measured", k->measured);
	json_num(j, "difference", k->difference);
	json_num(j, "std_uncertainty", k->uncertainty);
	json_text(j, "measured_under", k->under);
	json_text(j, "verdict", claim_verdict_name(k->verdict));
	json_text(j, "reason", k->why);
}

void claims_json(const struct claims *c, const struct claim_checks *k, struct json *j)
{
	json_object(j, "claims");
	json_text(j, "file", c->file);
	json_text(j, "sha256", c->sha256);
	json_uint(j, "met", k->n_met);
	json_uint(j, "missed", k->n_missed);
	json_uint(j, "not_assessed", k->n_open);
	json_array(j, "claims");
	for (unsigned i = 0; i < k->n; i++) {
		json_object(j, NULL);
		claim_json(&k->v[i], j);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}
