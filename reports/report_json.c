/* SPDX-License-Identifier: MIT */
/* pts.report/1: the same numbers as the sheets, unrounded, in base units; null where unknown or not reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/claims_data.h"
#include "reports/report_json.h"

/* Texts of devices may hold anything: the same cleaning as in cells. */
static void put_str(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && *s ? s : NULL);
}

static void put_count(struct json *j, const char *key, int64_t v)
{
	if (v < 0)
		json_null(j, key);
	else
		json_int(j, key, v);
}

static void put_flag(struct json *j, const char *key, int v)
{
	if (v < 0)
		json_null(j, key);
	else
		json_bool(j, key, v != 0);
}

static void put_pairs(struct json *j, const char *key, const struct pairs *p)
{
	json_object(j, key);
	for (unsigned i = 0; i < p->n; i++)
		put_str(j, p->v[i].key, p->v[i].value);
	json_end_object(j);
}

static void put_run(const struct dataset *d, struct json *j)
{
	json_int(j, "run_id", d->run_id);
	put_str(j, "uuid", d->uuid);
	put_str(j, "campaign", d->campaign);
	put_str(j, "verdict", verdict_name(d->verdict));
	json_bool(j, "conformant", d->verdict == VERDICT_CONFORMANT);
	json_bool(j, "simulated", d->simulated);
	json_bool(j, "quick", d->quick);
	put_str(j, "profile", d->profile);
	put_str(j, "spec", d->spec);
	json_int(j, "definition_set", d->definition_set);
	put_str(j, "software", d->software);
	put_str(j, "seed", d->seed);
	put_str(j, "started_utc", d->started_utc);
	put_str(j, "ended_utc", d->ended_utc);
	put_str(j, "state", d->state);
	put_str(j, "digest", d->digest);
	json_bool(j, "sealed", d->sealed);
	put_str(j, "note", d->note);
}

static void put_device(const struct dataset *d, struct json *j)
{
	json_object(j, "device");
	put_str(j, "dut", d->dut);
	put_str(j, "vendor", d->vendor);
	put_str(j, "model", d->model);
	put_str(j, "serial", d->serial);
	put_str(j, "firmware", d->firmware);
	put_str(j, "wwid", d->wwid);
	put_str(j, "interface", d->interface);
	json_int(j, "capacity_bytes", d->capacity_bytes);
	json_int(j, "lba_bytes", d->lba_bytes);
	json_end_object(j);
}

static void put_account(const struct dataset *d, struct json *j)
{
	json_array(j, "deviations");
	for (unsigned i = 0; i < d->n_deviations; i++) {
		json_object(j, NULL);
		put_str(j, "clause", d->deviation[i].clause);
		put_str(j, "text", d->deviation[i].text);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "warnings");
	for (unsigned i = 0; i < d->n_warnings; i++) {
		const struct warning *w = &d->warning[i];
		json_object(j, NULL);
		put_str(j, "severity", severity_name(w->severity));
		put_str(j, "test", w->test);
		put_str(j, "clause", w->clause);
		put_str(j, "what", w->what);
		put_str(j, "effect", w->effect);
		put_str(j, "evidence", w->evidence);
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
		put_str(j, "test", r->test->name);
		put_count(j, "section", r->section ? r->section->number : -1);
		put_str(j, "access", r->access);
		put_str(j, "tcqd", r->tcqd);
		put_str(j, "metric", r->key);
		json_num(j, "value", r->reported ? r->value : NAN);
		json_num(j, "shown", r->reported ? unit_shown(r->unit, r->value) : NAN);
		put_str(j, "unit", unit_name(r->unit));
		json_num(j, "cv", r->reported ? r->cv : NAN);
		json_bool(j, "reported", r->reported);
		put_flag(j, "steady", r->section ? r->section->steady : -1);
		put_str(j, "status", status_name(result_status(r)));
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_combo(const struct combo *c, const struct section *s, struct json *j)
{
	json_object(j, NULL);
	put_str(j, "title", c->title);
	put_str(j, "access", c->access);
	put_str(j, "label", c->label);
	json_num(j, "read_pct", c->read_pct);
	put_count(j, "block_bytes", c->block_bytes);
	put_count(j, "threads", c->threads);
	put_count(j, "qd", c->qd);
	json_bool(j, "reported", s->steady != 0 && c->n_window > 0);
	json_num(j, "iops", c->iops);
	json_num(j, "iops_cv", c->iops_cv);
	json_num(j, "bytes_per_s", c->bytes_per_s);
	json_num(j, "art_ns", c->art_ns);
	json_num(j, "art_mean_of_rounds_ns", c->art_rounds_ns);
	put_count(j, "mrt_ns", c->mrt_ns);
	json_num(j, "mrt_mean_of_rounds_ns", c->mrt_rounds_ns);
	put_count(j, "lat_p99999_ns", c->p99999_ns);
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
		put_count(j, "mrt_ns", c->round[i]->mrt_ns);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void put_check(const struct track *t, struct json *j)
{
	const struct check_row *c = t->check;

	json_object(j, NULL);
	put_str(j, "variable", t->variable);
	put_flag(j, "steady", c ? c->steady : -1);
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
	put_str(j, "access", c->m->access);
	json_num(j, "iops", c->m->iops);
	json_uint(j, "ios", c->hist->n);
	json_num(j, "art_ns", c->hist->n ? hist_mean(c->hist) : NAN);
	put_percentile(j, "lat_p50_ns", c->hist, P50);
	put_percentile(j, "lat_p99_ns", c->hist, P99);
	put_percentile(j, "lat_p999_ns", c->hist, P999);
	put_percentile(j, "lat_p9999_ns", c->hist, P9999);
	put_percentile(j, "lat_p99999_ns", c->hist, P99999);
	put_count(j, "min_ns", c->hist->n ? (int64_t)c->hist->min : -1);
	put_count(j, "mrt_ns", c->hist->n ? (int64_t)c->hist->max : -1);
	json_end_object(j);
}

static void put_section(const struct section *s, struct json *j)
{
	json_object(j, NULL);
	json_int(j, "section", s->number);
	put_str(j, "label", s->label);
	put_str(j, "purge_method", s->purge_method);
	put_flag(j, "purge_verified", s->purge_verified);
	put_flag(j, "steady", s->steady);
	put_count(j, "window_first", s->window_first);
	put_count(j, "window_last", s->window_last);
	json_int(j, "rounds", s->rounds);
	put_str(j, "ended_by", s->ended_by);
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
		put_count(j, "block_bytes", d->na[i].block_bytes);
		json_num(j, "read_pct", d->na[i].read_pct);
		put_str(j, "reason", d->na[i].reason);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_test(const struct dataset *d, const struct test *t, struct json *j)
{
	json_object(j, NULL);
	put_str(j, "test", t->name);
	put_str(j, "title", t->title);
	put_str(j, "clause", t->clause);
	json_bool(j, "formal", t->formal);
	put_count(j, "attempt", t->attempt ? t->attempt : -1);
	json_bool(j, "finished", t->finished);
	put_str(j, "verdict", t->verdict);
	put_str(j, "status", status_name(t->status));
	put_str(j, "reason", t->reason);
	put_str(j, "definition_hash", t->definition_hash);
	put_str(j, "plan_hash", t->plan_hash);
	put_pairs(j, "params", &t->params);
	put_str(j, "purge_method", t->purge_method);
	put_flag(j, "purge_verified", t->purge_verified);
	put_str(j, "write_cache", t->write_cache);
	put_flag(j, "steady", t->steady);
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
