/* SPDX-License-Identifier: MIT */
/* pts.compare/1: base units (IO/s, bytes/s, ns), nothing rounded, null where there is no value; in the order of the sheets. */
#include <math.h>
#include <string.h>

#include "reports/claims_data.h"
#include "reports/compare_write.h"

static void put_run(const struct comparison *c, unsigned i, struct json *j)
{
	const struct subject *s = &c->run[i];
	const struct dataset *d = &s->d;

	json_object(j, NULL);
	json_int(j, "run_id", d->run_id);
	json_text(j, "uuid", d->uuid);
	json_text(j, "label", s->label);
	json_text(j, "candidate", c->candidate[s->candidate].label);
	json_text(j, "vendor", d->vendor);
	json_text(j, "model", d->model);
	json_text(j, "serial", d->serial);
	json_text(j, "firmware", d->firmware);
	json_text(j, "interface", d->interface);
	json_text(j, "transport", s->transport);
	json_text(j, "layout", s->layout);
	json_uint(j, "members", s->members);
	json_int(j, "capacity_bytes", d->capacity_bytes);
	json_int(j, "lba_bytes", d->lba_bytes);
	json_text(j, "started_utc", d->started_utc);
	json_text(j, "ended_utc", d->ended_utc);
	json_text(j, "state", d->state);
	json_text(j, "software", d->software);
	json_text(j, "digest", d->digest);
	json_bool(j, "sealed", d->sealed);
	json_text(j, "tampered", d->tampered);
	json_bool(j, "simulated", d->simulated);
	json_text(j, "verdict", verdict_name(d->verdict));
	json_uint(j, "tests", d->n_tests);
	json_uint(j, "tests_valid", d->n_valid);
	json_array(j, "deviations");
	for (unsigned k = 0; k < d->n_deviations; k++) {
		json_object(j, NULL);
		json_text(j, "clause", d->deviation[k].clause);
		json_text(j, "text", d->deviation[k].text);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void put_candidate(const struct comparison *c, unsigned i, struct json *j)
{
	const struct candidate *one = &c->candidate[i];

	json_object(j, NULL);
	json_text(j, "label", one->label);
	json_text(j, "name", one->name);
	json_bool(j, "baseline", one->baseline);
	json_array(j, "run_ids");
	for (unsigned k = 0; k < one->n_runs; k++)
		json_int(j, NULL, c->run[one->run[k]].d.run_id);
	json_end_array(j);
	json_uint(j, "units", one->n_units);
	json_num(j, "score", one->score);
	if (one->rank)
		json_uint(j, "rank", one->rank);
	else
		json_null(j, "rank");
	json_num(j, "scored_pct", one->scored);
	json_num(j, "price", one->cost);
	json_num(j, "score_per_100_price", 100 * one->score / one->cost);
	json_num(j, "price_per_kiops", one->cost_per_kiops);
	json_num(j, "iops_per_w", one->iops_per_w);
	json_num(j, "price_per_tbw", one->cost_per_tbw);
	json_end_object(j);
}

static void put_condition(const struct comparison *c, const struct condition *one, struct json *j)
{
	static const char *const gates[] = { "same", "unknown", "note", "differs" };

	json_object(j, NULL);
	json_text(j, "test", one->test);
	json_text(j, "condition", one->name);
	json_text(j, "gate", gates[one->gate]);
	json_bool(j, "of_what_is_compared", one->subject);
	json_array(j, "values");
	for (unsigned i = 0; i < c->n_runs; i++)
		json_str(j, NULL, *one->value[i] ? one->value[i] : NULL);
	json_end_array(j);
	json_text(j, "text", one->text);
	json_end_object(j);
}

static void put_measured_json(const struct measured *v, struct json *j)
{
	json_bool(j, "reported", v->reported);
	json_num(j, "value", v->value);
	json_num(j, "cv", v->cv);
	json_text(j, "why", v->why);
}

static void put_of(const struct comparison *c, const struct metric *m, unsigned i, struct json *j)
{
	double delta = metric_delta(c, m, i);

	json_object(j, NULL);
	json_text(j, "candidate", c->candidate[i].label);
	put_measured_json(&m->of[i], j);
	json_uint(j, "samples", m->of[i].n);
	json_num(j, "unit_cv", m->of[i].unit_cv);
	json_num(j, "delta", delta);
	if (isfinite(delta) && isfinite(m->noise))
		json_bool(j, "inside_noise", fabs(delta) <= m->noise);
	else
		json_null(j, "inside_noise");
	json_end_object(j);
}

static void put_metric(const struct comparison *c, const struct metric *m, struct json *j)
{
	static const char *const units[] = { "iops", "bytes_per_s", "ns" };

	json_object(j, NULL);
	json_text(j, "key", m->key);
	json_text(j, "test", m->test);
	json_text(j, "access", m->access);
	json_text(j, "tcqd", m->tcqd);
	json_text(j, "metric", m->metric);
	json_text(j, "title", m->title);
	json_text(j, "unit", units[m->unit]);
	json_bool(j, "lower_is_better", m->lower_is_better);
	json_num(j, "weight_pct", m->weight);
	json_num(j, "noise", m->noise);
	json_text(j, "best", m->best < 0 ? NULL : c->candidate[m->best].label);
	json_array(j, "candidates");
	for (unsigned i = 0; i < c->n_candidates; i++)
		put_of(c, m, i, j);
	json_end_array(j);
	json_array(j, "runs");
	for (unsigned i = 0; i < c->n_runs; i++) {
		json_object(j, NULL);
		json_int(j, "run_id", c->run[i].d.run_id);
		put_measured_json(&m->run[i], j);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void put_claim(const struct comparison *c, unsigned run, const struct claim_check *k,
		      struct json *j)
{
	json_object(j, NULL);
	json_int(j, "run_id", c->run[run].d.run_id);
	json_text(j, "run", c->run[run].label);
	claim_json(k, j);
	json_end_object(j);
}

static void put_claims(const struct comparison *c, struct json *j)
{
	struct claim_check k;

	json_array(j, "claims");
	for (unsigned i = 0; i < c->claims.n; i++)
		for (unsigned r = 0; r < c->n_runs; r++)
			if (claim_check(&c->claims.v[i], &c->run[r].d, &k))
				put_claim(c, r, &k, j);
	json_end_array(j);
}

static void put_head(const struct comparison *c, struct json *j)
{
	json_str(j, "schema", "pts.compare/1");
	json_bool(j, "comparable", !c->n_differ);
	json_uint(j, "conditions_differ", c->n_differ);
	json_uint(j, "conditions_unknown", c->n_unknown);
	json_bool(j, "simulated", c->simulated);
	json_bool(j, "tampered", c->doubted);
	json_text(j, "baseline", c->candidate[c->baseline].label);
	json_text(j, "currency", c->prices.currency);
	json_text(j, "prices_note", c->prices.note);
	json_text(j, "kiops_metric", c->kiops ? c->kiops->key : NULL);
}

void compare_json(const struct comparison *c, struct json *j)
{
	json_object(j, NULL);
	put_head(c, j);
	json_array(j, "runs");
	for (unsigned i = 0; i < c->n_runs; i++)
		put_run(c, i, j);
	json_end_array(j);
	json_array(j, "candidates");
	for (unsigned i = 0; i < c->n_candidates; i++)
		put_candidate(c, i, j);
	json_end_array(j);
	json_array(j, "conditions");
	for (unsigned i = 0; i < c->n_conditions; i++)
		put_condition(c, &c->condition[i], j);
	json_end_array(j);
	json_array(j, "metrics");
	for (unsigned i = 0; i < c->n_metrics; i++)
		put_metric(c, &c->metric[i], j);
	json_end_array(j);
	put_claims(c, j);
	units_json(c, j);
	sheets_json(c, j);
	json_array(j, "notes");
	for (unsigned i = 0; i < c->n_remarks; i++)
		json_str(j, NULL, c->remark[i]);
	json_end_array(j);
	json_end_object(j);
}
