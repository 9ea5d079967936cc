/* SPDX-License-Identifier: MIT */
/* pts.report/1: the same numbers as the sheets, unrounded, in base units; null where unknown or not reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/claims_data.h"
#include "reports/report_json.h"

static void put_pairs(struct json *j, const char *key, const struct pairs *p)
{
	json_object(j, key);
	for (unsigned i = 0; i < p->n; i++)
		json_text(j, p->v[i].key, p->v[i].value);
	json_end_object(j);
}

static void put_run(const struct dataset *d, struct json *j)
{
	json_int(j, "run_id", d->run_id);
	json_text(j, "uuid", d->uuid);
	json_text(j, "campaign", d->campaign);
	json_text(j, "verdict", verdict_name(d->verdict));
	json_bool(j, "conformant", d->verdict == VERDICT_CONFORMANT);
	json_bool(j, "simulated", d->simulated);
	json_bool(j, "quick", d->quick);
	json_text(j, "profile", d->profile);
	json_text(j, "spec", d->spec);
	json_int(j, "definition_set", d->definition_set);
	json_text(j, "software", d->software);
	json_text(j, "seed", d->seed);
	json_text(j, "started_utc", d->started_utc);
	json_text(j, "ended_utc", d->ended_utc);
	json_text(j, "state", d->state);
	json_text(j, "digest", d->digest);
	json_bool(j, "sealed", d->sealed);
	json_text(j, "note", d->note);
}

static void put_device(const struct dataset *d, struct json *j)
{
	json_object(j, "device");
	json_text(j, "dut", d->dut);
	json_text(j, "vendor", d->vendor);
	json_text(j, "model", d->model);
	json_text(j, "serial", d->serial);
	json_text(j, "firmware", d->firmware);
	json_text(j, "wwid", d->wwid);
	json_text(j, "interface", d->interface);
	json_int(j, "capacity_bytes", d->capacity_bytes);
	json_int(j, "lba_bytes", d->lba_bytes);
	json_end_object(j);
}

static void put_account(const struct dataset *d, struct json *j)
{
	json_array(j, "deviations");
	for (unsigned i = 0; i < d->n_deviations; i++) {
		json_object(j, NULL);
		json_text(j, "clause", d->deviation[i].clause);
		json_text(j, "text", d->deviation[i].text);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "warnings");
	for (unsigned i = 0; i < d->n_warnings; i++) {
		const struct warning *w = &d->warning[i];
		json_object(j, NULL);
		json_text(j, "severity", severity_name(w->severity));
		json_text(j, "test", w->test);
		json_text(j, "clause", w->clause);
		json_text(j, "what", w->what);
		json_text(j, "effect", w->effect);
		json_text(j, "evidence", w->evidence);
		json_end_object(j);
	}
	json_end_array(j);
}

/* value and cv are null where the test is not steady: what is not reported stands nowhere as a result. */
static void put_summary(const struct dataset *d, struct json *j)
{
	json_array(j, "summary");
	for (unsigned i = 0; i < d->n_results; i++) {
		const struct result *r = &d->result[i];
		json_object(j, NULL);
		json_text(j, "test", r->test->name);
		json_count(j, "section", r->section ? r->section->number : -1);
		json_text(j, "access", r->access);
		json_text(j, "tcqd", r->tcqd);
		json_text(j, "metric", r->key);
		json_num(j, "value", r->reported ? r->value : NAN);
		json_num(j, "shown", r->reported ? unit_shown(r->unit, r->value) : NAN);
		json_text(j, "unit", unit_name(r->unit));
		json_num(j, "cv", r->reported ? r->cv : NAN);
		json_bool(j, "reported", r->reported);
		json_flag(j, "steady", r->section ? r->section->steady : -1);
		json_text(j, "status", status_name(result_status(r)));
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_combo(const struct combo *c, const struct section *s, struct json *j)
{
	json_object(j, NULL);
	json_text(j, "title", c->title);
	json_text(j, "access", c->access);
	json_text(j, "label", c->label);
	json_num(j, "read_pct", c->read_pct);
	json_count(j, "block_bytes", c->block_bytes);
	json_count(j, "threads", c->threads);
	json_count(j, "qd", c->qd);
	json_bool(j, "reported", s->steady != 0 && c->n_window > 0);
	json_num(j, "iops", c->iops);
	json_num(j, "iops_cv", c->iops_cv);
	json_num(j, "bytes_per_s", c->bytes_per_s);
	json_num(j, "art_ns", c->art_ns);
	json_num(j, "art_mean_of_rounds_ns", c->art_rounds_ns);
	json_count(j, "mrt_ns", c->mrt_ns);
	json_num(j, "mrt_mean_of_rounds_ns", c->mrt_rounds_ns);
	json_count(j, "lat_p99999_ns", c->p99999_ns);
	json_uint(j, "ios", c->ios);
	json_uint(j, "ios_above_p99999", c->above);
	json_array(j, "rounds");
	for (unsigned i = 0; i < c->n_rounds; i++) {
		if (!c->round[i])
			continue;
		json_object(j, NULL);
		json_int(j, "round", c->round[i]->round);
		json_int(j, "cell_id", c->round[i]->cell_id);
		json_num(j, "iops", c->round[i]->iops);
		json_num(j, "bytes_per_s", c->round[i]->bytes_per_s);
		json_num(j, "art_ns", c->round[i]->art_ns);
		json_count(j, "mrt_ns", c->round[i]->mrt_ns);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void put_check(const struct track *t, struct json *j)
{
	const struct check_row *c = t->check;

	json_object(j, NULL);
	json_text(j, "variable", t->variable);
	json_flag(j, "steady", c ? c->steady : -1);
	if (c) {
		json_int(j, "first_round", c->first_round);
		json_array(j, "values");
		for (unsigned i = 0; i < WINDOW_ROUNDS; i++)
			json_num(j, NULL, c->y[i]);
		json_end_array(j);
		json_num(j, "average", c->average);
		json_num(j, "range", c->range);
		json_num(j, "range_allowed", c->range_allowed);
		json_num(j, "slope", c->slope);
		json_num(j, "intercept", c->intercept);
		json_num(j, "slope_excursion", c->slope_excursion);
		json_num(j, "slope_allowed", c->slope_allowed);
		/* of five equal values there is none */
		json_num(j, "correlation", c->range > 0 ? c->correlation : NAN);
	}
	json_end_object(j);
}

static void put_percentile(struct json *j, const char *key, const struct hist *h, uint32_t ppm)
{
	uint64_t ns;

	if (hist_percentile(h, ppm, &ns))
		json_uint(j, key, ns);
	else
		json_null(j, key);
}

static void put_hist(const struct capture_hist *c, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "cell_id", c->m->cell_id);
	json_text(j, "access", c->m->access);
	json_num(j, "iops", c->m->iops);
	json_uint(j, "ios", c->hist->n);
	json_num(j, "art_ns", c->hist->n ? hist_mean(c->hist) : NAN);
	put_percentile(j, "lat_p50_ns", c->hist, P50);
	put_percentile(j, "lat_p99_ns", c->hist, P99);
	put_percentile(j, "lat_p999_ns", c->hist, P999);
	put_percentile(j, "lat_p9999_ns", c->hist, P9999);
	put_percentile(j, "lat_p99999_ns", c->hist, P99999);
	json_count(j, "min_ns", c->hist->n ? (int64_t)c->hist->min : -1);
	json_count(j, "mrt_ns", c->hist->n ? (int64_t)c->hist->max : -1);
	json_end_object(j);
}

static void put_section(const struct section *s, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "section", s->number);
	json_text(j, "label", s->label);
	json_text(j, "purge_method", s->purge_method);
	json_flag(j, "purge_verified", s->purge_verified);
	json_flag(j, "steady", s->steady);
	json_count(j, "window_first", s->window_first);
	json_count(j, "window_last", s->window_last);
	json_int(j, "rounds", s->rounds);
	json_text(j, "ended_by", s->ended_by);
	json_array(j, "checks");
	for (unsigned i = 0; i < s->n_tracks; i++)
		put_check(&s->track[i], j);
	json_end_array(j);
	json_array(j, "cells");
	for (unsigned i = 0; i < s->n_combos; i++)
		put_combo(&s->combo[i], s, j);
	json_end_array(j);
	json_array(j, "histograms");
	for (unsigned i = 0; i < s->n_hists; i++)
		put_hist(&s->hist[i], j);
	json_end_array(j);
	json_end_object(j);
}

static void put_na(const struct dataset *d, const struct test *t, struct json *j)
{
	json_array(j, "cells_na");
	for (unsigned i = 0; i < d->n_na; i++) {
		if (strcmp(d->na[i].test, t->name))
			continue;
		json_object(j, NULL);
		json_count(j, "block_bytes", d->na[i].block_bytes);
		json_num(j, "read_pct", d->na[i].read_pct);
		json_text(j, "reason", d->na[i].reason);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_test(const struct dataset *d, const struct test *t, struct json *j)
{
	json_object(j, NULL);
	json_text(j, "test", t->name);
	json_text(j, "title", t->title);
	json_text(j, "clause", t->clause);
	json_bool(j, "formal", t->formal);
	json_count(j, "attempt", t->attempt ? t->attempt : -1);
	json_bool(j, "finished", t->finished);
	json_text(j, "verdict", t->verdict);
	json_text(j, "status", status_name(t->status));
	json_text(j, "reason", t->reason);
	json_text(j, "definition_hash", t->definition_hash);
	json_text(j, "plan_hash", t->plan_hash);
	put_pairs(j, "params", &t->params);
	json_text(j, "purge_method", t->purge_method);
	json_flag(j, "purge_verified", t->purge_verified);
	json_text(j, "write_cache", t->write_cache);
	json_flag(j, "steady", t->steady);
	json_array(j, "sections");
	for (unsigned i = 0; i < t->n_sections; i++)
		put_section(&t->section[i], j);
	json_end_array(j);
	put_na(d, t, j);
	report_json_states(d, t, j);
	report_json_demand(d, t, j);
	report_json_rwsw(d, t, j);
	json_end_object(j);
}

void report_json_run(const struct dataset *d, struct json *j)
{
	json_object(j, NULL);
	put_run(d, j);
	put_device(d, j);
	put_pairs(j, "host", &d->host);
	put_pairs(j, "info", &d->info);
	put_account(d, j);
	put_summary(d, j);
	if (d->claims)
		claims_json(d->claims, d->checks, j);
	else
		json_null(j, "claims");
	report_json_capture(d, j);
	json_array(j, "tests");
	for (unsigned i = 0; i < d->n_tests; i++)
		put_test(d, &d->test[i], j);
	json_end_array(j);
	json_end_object(j);
}
