/* SPDX-License-Identifier: MIT */
/* What is reported and what is not: results of the Summary, warnings, status of tests, verdict of the run. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/dataset.h"

const char *verdict_name(enum verdict v)
{
	static const char *const name[] = { "CONFORMANT", "CONFORMANT WITH DEVIATIONS",
					    "NOT CONFORMANT" };

	return name[v];
}

const char *status_name(enum test_status s)
{
	static const char *const name[] = { "valid", "valid, warnings", "NOT VALID", "NOT RUN" };

	return name[s];
}

enum test_status result_status(const struct result *r)
{
	if (r->test->status == STATUS_NOT_RUN)
		return STATUS_NOT_RUN;
	if (!r->reported)
		return STATUS_NOT_VALID;
	return r->test->n_warnings ? STATUS_WARN : STATUS_VALID;
}

const char *severity_name(enum severity s)
{
	static const char *const name[] = { "FAIL", "WARN", "INFO" };

	return name[s];
}

/* ---- warnings ---- */

static struct warning *warn(struct dataset *d, enum severity severity, const char *test,
			    const char *clause)
{
	if (d->n_warnings == d->cap_warnings) {
		unsigned cap = d->cap_warnings * 2 + 32;
		struct warning *v = arena_array(&d->arena, struct warning, cap);
		if (d->n_warnings)
			memcpy(v, d->warning, d->n_warnings * sizeof *v);
		d->warning = v;
		d->cap_warnings = cap;
	}
	struct warning *w = &d->warning[d->n_warnings++];
	*w = (struct warning){ severity, test, clause, "", "", "" };
	for (unsigned i = 0; i < d->n_tests; i++)
		if (!strcmp(d->test[i].name, test) && severity == SEV_WARN)
			d->test[i].n_warnings++;
	return w;
}

static void warn_unsteady(struct dataset *d, const struct test *t, const struct section *s)
{
	struct warning *w = warn(d, SEV_FAIL, t->name, "5");
	const char *part = *s->label ? arena_fmt(&d->arena, " (%s)", s->label) : "";

	w->what = arena_fmt(&d->arena, "Steady state not reached%s in %d rounds.", part, s->rounds);
	for (unsigned i = 0; i < s->n_tracks; i++) {
		const struct check_row *c = s->track[i].check;
		if (!c || c->steady)
			continue;
		w->what = arena_fmt(&d->arena,
				    "%s %s: data excursion %.1f %%, slope %.1f %% of the average"
				    " in rounds %d-%d.",
				    w->what, s->track[i].title, 100 * c->range / c->average,
				    100 * c->slope_excursion / c->average, c->first_round,
				    c->first_round + WINDOW_ROUNDS - 1);
	}
	w->effect =
		"Its values are not reported; the test is NOT VALID, the report NOT CONFORMANT.";
	w->evidence = arena_fmt(&d->arena, "v_steady: test %s, section %d", t->name, s->number);
}

static void warn_unfinished(struct dataset *d, const struct test *t)
{
	struct warning *w = warn(d, SEV_FAIL, t->name, "-");

	if (!t->attempt)
		w->what = "The test was planned and not run.";
	else if (*t->detail)
		w->what = arena_fmt(&d->arena, "The test failed: %s", t->detail);
	else
		w->what = "The test did not come to its end.";
	w->effect = "No values of this test are reported.";
	w->evidence = arena_fmt(&d->arena, "v_planned: test %s, attempts %d", t->name, t->attempt);
}

static void warn_cells(struct dataset *d, const struct test *t)
{
	unsigned errors = 0, voids = 0, partial = 0, little = 0;

	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		if (strcmp(m->test, t->name))
			continue;
		errors += m->errors > 0;
		voids += m->void_;
		partial += m->partial;
		little += !m->void_ && !m->partial && fabs(m->little_pct) > 2;
	}
	if (errors) {
		struct warning *w = warn(d, SEV_WARN, t->name, "5");
		w->what = arena_fmt(&d->arena, "I/O errors in %u measured steps.", errors);
		w->effect = "A round with an error is void and was repeated once.";
		w->evidence = "v_cell: errors > 0";
	}
	if (voids || partial) {
		struct warning *w = warn(d, SEV_INFO, t->name, "5");
		w->what = arena_fmt(&d->arena, "%u void and %u partial measured steps.", voids,
				    partial);
		w->effect = "Kept as evidence, in no result.";
		w->evidence = "v_cell: void, partial";
	}
	if (little) {
		struct warning *w = warn(d, SEV_INFO, t->name, "-");
		w->what = arena_fmt(&d->arena,
				    "IOPS x ART differs by more than 2 %% from the I/Os measured"
				    " in flight in %u steps (self-check).",
				    little);
		w->effect =
			"Short steps and slow hosts show this; response times may carry host time.";
		w->evidence = "v_cell: little_pct";
	}
}

static void warn_na(struct dataset *d, const struct test *t)
{
	unsigned n = 0;
	const char *reason = "";

	for (unsigned i = 0; i < d->n_na; i++) {
		if (!strcmp(d->na[i].test, t->name)) {
			n++;
			reason = d->na[i].reason;
		}
	}
	if (!n)
		return;
	struct warning *w = warn(d, SEV_INFO, t->name, t->clause);
	w->what = arena_fmt(&d->arena, "%u cells cannot be measured on this drive: %s.", n, reason);
	w->effect = "Skipped in every round and printed n/a.";
	w->evidence = "v_event: cell-na";
}

static void warn_percentiles(struct dataset *d, const struct test *t)
{
	unsigned few = 0, none = 0;

	if (strcmp(t->name, "lat"))
		return;
	for (unsigned i = 0; i < t->n_sections; i++) {
		for (unsigned k = 0; k < t->section[i].n_combos; k++) {
			const struct combo *c = &t->section[i].combo[k];
			none += c->n_window && c->p99999_ns < 0;
			few += c->p99999_ns >= 0 && c->above < 100;
		}
	}
	if (!few && !none)
		return;
	struct warning *w = warn(d, SEV_INFO, t->name, "9");
	w->what = arena_fmt(&d->arena,
			    "99.999 %% response time: %u cells have fewer than 100 I/Os above it,"
			    " %u have too few I/Os for it.",
			    few, none);
	w->effect = "The former are amber, the latter print n/a.";
	w->evidence = "v_histogram";
}

static void warn_purge(struct dataset *d, const struct test *t)
{
	if (t->purge_verified == 1 || !*t->purge_method)
		return;
	struct warning *w = warn(d, SEV_WARN, t->name, "3.2");
	w->what = t->purge_verified == 0
			  ? "The purge was found incomplete by reading back."
			  : "It is not known whether the purge held: it was not verified.";
	w->effect = "The drive may have held data when the test began.";
	w->evidence = "v_section: purge_verified";
}

static void warn_run(struct dataset *d)
{
	if (strcmp(d->state, "done")) {
		struct warning *w = warn(d, SEV_FAIL, "all", "-");
		w->what = arena_fmt(&d->arena, "The run is not complete: state \"%s\".", d->state);
		w->effect = "The report is NOT CONFORMANT.";
		w->evidence = "v_run: state";
	}
	if (d->tampered) {
		struct warning *w = warn(d, SEV_FAIL, "all", "-");
		w->what = arena_fmt(&d->arena, "Stored rows were changed after the run: %s",
				    d->tampered);
		w->effect = "The values are no evidence; the report is NOT CONFORMANT.";
		w->evidence = "pts db check";
	}
	if (d->simulated) {
		struct warning *w = warn(d, SEV_WARN, "all", "-");
		w->what = "SIMULATED: the values come from a model of a drive, none was measured.";
		w->effect = "No value of this report is a result of any drive.";
		w->evidence = "v_run: simulated";
	}
	for (unsigned i = 0; i < d->n_deviations; i++) {
		if (d->simulated && !strncmp(d->deviation[i].text, "SIMULATED", 9))
			continue; /* said above */
		struct warning *w = warn(d, SEV_WARN, "all", d->deviation[i].clause);
		w->what = d->deviation[i].text;
		w->effect = "A deviation from the definition set.";
		w->evidence = "v_deviation";
	}
	for (unsigned i = 0; i < d->n_events; i++) {
		const struct event *e = &d->event[i];
		bool error = !strcmp(e->kind, "error");
		if (!error && strcmp(e->kind, "warning"))
			continue;
		struct warning *w = warn(d, SEV_WARN, "all", "-");
		w->what = arena_fmt(&d->arena, "%s: %s", error ? "Error" : "Warning", e->detail);
		w->effect = error ? "The round was repeated, or the test ended." : "";
		w->evidence = arena_fmt(&d->arena, "event %lld", (long long)e->id);
	}
}

/* ---- status ---- */

static bool unsteady(const struct test *t)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].steady == 0)
			return true;
	return t->steady == 0;
}

static void judge_test(struct test *t)
{
	t->reason = "";
	if (!t->attempt) {
		t->status = STATUS_NOT_RUN;
		t->reason = "not run";
	} else if (!t->finished) {
		t->status = STATUS_NOT_VALID;
		t->reason = "not finished";
	} else if (!strcmp(t->verdict, "failed")) {
		t->status = STATUS_NOT_VALID;
		t->reason = "failed";
	} else if (unsteady(t)) {
		t->status = STATUS_NOT_VALID;
		t->reason = "steady state not reached";
	} else {
		t->status = t->n_warnings ? STATUS_WARN : STATUS_VALID;
	}
}

/*
 * A run that changed the procedure (quick values, a changed definition) or lacks a valid result does not conform.
 * Other deviations leave the procedure whole: they are listed on the cover.
 */
static void judge_run(struct dataset *d)
{
	bool changed = d->quick, bad = strcmp(d->state, "done") || !d->n_tests || d->tampered;

	for (unsigned i = 0; i < d->n_tests; i++) {
		bool valid = d->test[i].status <= STATUS_WARN;
		d->n_valid += valid;
		d->n_not_valid += !valid;
		changed |= !d->test[i].formal;
	}
	if (bad || changed || d->n_not_valid)
		d->verdict = VERDICT_NOT_CONFORMANT;
	else
		d->verdict = d->compliant ? VERDICT_CONFORMANT : VERDICT_DEVIATIONS;
}

void dataset_warnings(struct dataset *d)
{
	warn_run(d);
	for (unsigned i = 0; i < d->n_tests; i++) {
		struct test *t = &d->test[i];
		if (!t->finished || !strcmp(t->verdict, "failed"))
			warn_unfinished(d, t);
		for (unsigned k = 0; k < t->n_sections; k++)
			if (t->section[k].steady == 0)
				warn_unsteady(d, t, &t->section[k]);
		warn_purge(d, t);
		warn_cells(d, t);
		warn_na(d, t);
		warn_percentiles(d, t);
		judge_test(t);
	}
	judge_run(d);
}

/* ---- results ---- */

static struct result *add_result(struct dataset *d, const struct test *t, const struct section *s)
{
	if (d->n_results == d->cap_results) {
		unsigned cap = d->cap_results * 2 + 32;
		struct result *v = arena_array(&d->arena, struct result, cap);
		if (d->n_results)
			memcpy(v, d->result, d->n_results * sizeof *v);
		d->result = v;
		d->cap_results = cap;
	}
	struct result *r = &d->result[d->n_results++];
	*r = (struct result){ .test = t, .section = s, .value = NAN, .cv = NAN, .read_pct = -1 };
	r->access = r->tcqd = "-";
	r->reported = t->finished && strcmp(t->verdict, "failed") && (!s || s->steady != 0);
	return r;
}

static void combo_result(struct dataset *d, const struct test *t, const struct section *s,
			 const struct combo *c, enum unit unit)
{
	struct result *r = add_result(d, t, s);

	r->access = c->title;
	r->tcqd = tcqd_text(&d->arena, c->threads, c->qd);
	r->unit = unit;
	r->read_pct = isfinite(c->read_pct) ? (int)c->read_pct : -1;
	if (unit == UNIT_IOPS) {
		r->metric = "IOPS";
		r->key = "iops";
		r->value = c->iops;
		r->cv = c->iops_cv;
	} else if (unit == UNIT_BYTES_PER_S) {
		r->metric = "Throughput";
		r->key = "bytes_per_s";
		r->value = c->bytes_per_s;
		r->cv = c->bytes_cv;
	} else {
		r->metric = "ART";
		r->key = "art_ns";
		r->value = c->art_ns;
		r->cv = c->art_cv;
	}
}

static void time_result(struct dataset *d, const struct test *t, const struct combo *c,
			const char *key)
{
	bool max = !strcmp(key, "mrt_ns");
	struct result *r = add_result(d, t, &t->section[0]);
	int64_t ns = max ? c->mrt_ns : c->p99999_ns;

	r->access = c->title;
	r->tcqd = tcqd_text(&d->arena, c->threads, c->qd);
	r->unit = UNIT_NS;
	r->metric = max ? "MRT" : "99.999 % RT";
	r->key = key;
	r->value = ns < 0 ? NAN : (double)ns;
}

static unsigned iops_results(struct dataset *d, const struct test *t)
{
	static const struct {
		double read_pct;
		int64_t bytes;
	} shown[] = { { 100, 4096 }, { 65, 4096 },  { 0, 4096 },
		      { 65, 8192 },  { 65, 65536 }, { 100, 1048576 } };
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		const struct combo *c = section_combo(&t->section[0], shown[i].read_pct,
						      shown[i].bytes);
		if (c && ++n)
			combo_result(d, t, &t->section[0], c, UNIT_IOPS);
	}
	return n;
}

static unsigned tp_results(struct dataset *d, const struct test *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_sections; i++)
		for (unsigned k = 0; k < t->section[i].n_combos; k++, n++)
			combo_result(d, t, &t->section[i], &t->section[i].combo[k],
				     UNIT_BYTES_PER_S);
	return n;
}

static unsigned lat_results(struct dataset *d, const struct test *t)
{
	const struct combo *r = section_combo(&t->section[0], 100, 4096);
	const struct combo *w = section_combo(&t->section[0], 0, 4096);

	if (r)
		combo_result(d, t, &t->section[0], r, UNIT_NS);
	if (w) {
		combo_result(d, t, &t->section[0], w, UNIT_NS);
		time_result(d, t, w, "lat_p99999_ns");
		time_result(d, t, w, "mrt_ns");
	}
	return (r != NULL) + (w != NULL);
}

static unsigned track_results(struct dataset *d, const struct test *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n_sections; i++) {
		const struct section *s = &t->section[i];
		for (unsigned k = 0; k < s->n_tracks; k++, n++) {
			static const char *const metric[] = { "IOPS", "Throughput", "ART" };
			static const char *const key[] = { "iops", "bytes_per_s", "art_ns" };
			struct result *r = add_result(d, t, s);
			const struct track *v = &s->track[k];
			r->access = *s->label ? arena_fmt(&d->arena, "%s (%s)", v->title, s->label)
					      : v->title;
			r->unit = v->unit;
			r->metric = metric[v->unit];
			r->key = key[v->unit];
			if (v->combo)
				r->tcqd = tcqd_text(&d->arena, v->combo->threads, v->combo->qd);
			if (v->check)
				r->value = v->check->average;
		}
	}
	return n;
}

static const struct section *section_at(const struct test *t, int number)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].number == number)
			return &t->section[i];
	return NULL;
}

static unsigned point_results(struct dataset *d, const struct test *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *p = &d->point[i];
		if (strcmp(p->test, t->name))
			continue;
		struct result *r = add_result(d, t, section_at(t, p->section));
		r->access = arena_fmt(&d->arena, "operating point %s", p->point);
		r->tcqd = tcqd_text(&d->arena, p->threads, p->qd);
		r->metric = "IOPS";
		r->key = "iops";
		r->value = p->iops;
		n++;
	}
	return n;
}

void dataset_results(struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++) {
		const struct test *t = &d->test[i];
		unsigned n = 0;
		if (t->n_sections && !strcmp(t->name, "iops"))
			n = iops_results(d, t);
		else if (t->n_sections && !strcmp(t->name, "tp"))
			n = tp_results(d, t);
		else if (t->n_sections && !strcmp(t->name, "lat"))
			n = lat_results(d, t);
		if (!n)
			n = track_results(d, t);
		n += point_results(d, t);
		if (!n) { /* a test without a measured round still has its line */
			struct result *r = add_result(d, t, NULL);
			r->metric = "see its page";
			r->key = "none";
			r->reported = t->status <= STATUS_WARN;
		}
	}
}
