/* SPDX-License-Identifier: MIT */
/* What is reported and what is not: results of the Summary, warnings, status of tests, verdict of the run. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/dataset.h"
#include "reports/rwsw.h"
#include "reports/states.h"

#define FASTEST_MAX 32 /* loads of a test of steps that the Summary tells */
#define LARGE_BYTES 65536 /* from here on throughput is what is asked for */

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

/* Cut short it has no account yet: what was planned tells. */
bool test_is_exact(const struct test *t)
{
	return !strcmp(t->name, "replay") && !strcmp(t->clause, "-") &&
	       !strcmp(t->title, "Exact replay of a capture");
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

struct warning *dataset_warn(struct dataset *d, enum severity severity, const char *test,
			     const char *clause)
{
	return warn(d, severity, test, clause);
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

/* Why the account of an exact replay is not valid; NULL: it is, or there is none. */
static const char *replay_fault(const struct dataset *d, const struct test *t)
{
	const struct replay *r = rwsw_replay(d, t);

	if (!r || !r->fidelity || r->fidelity->valid != 0)
		return NULL;
	return *r->fidelity->why_invalid ? r->fidelity->why_invalid : "not within the limits";
}

static void warn_replay(struct dataset *d, const struct test *t, const char *why)
{
	struct warning *w = warn(d, SEV_FAIL, t->name, "-");

	w->what = arena_fmt(&d->arena, "The replay is NOT VALID: %s.", why);
	w->effect = "Its times and rates are not those of the capture's load.";
	w->evidence = "v_fidelity: valid, why_invalid";
}

static void warn_cells(struct dataset *d, const struct test *t)
{
	unsigned errors = 0, voids = 0, partial = 0, little = 0;

	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		if (strcmp(m->test, t->name) || m->member >= 0)
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
	dataset_event_warnings(d);
}

bool governor_slow(const struct dataset *d)
{
	const char *g = pairs_get(&d->host, "cpu_governor");

	return !d->simulated && g && strcmp(g, "performance") && strcmp(g, "unknown");
}

static void warn_host(struct dataset *d)
{
	if (!governor_slow(d))
		return;
	struct warning *w = warn(d, SEV_WARN, "all", "-");
	w->what = arena_fmt(&d->arena, "CPU governor \"%s\": not every CPU was kept at its speed.",
			    pairs_get(&d->host, "cpu_governor"));
	w->effect = "At low load latencies include the time in which a CPU speeds up.";
	w->evidence = "v_host: cpu_governor";
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
		changed |=
			!d->test[i].formal; /* an exact replay is no procedure of the PTS either */
	}
	if (bad || changed || d->n_not_valid)
		d->verdict = VERDICT_NOT_CONFORMANT;
	else
		d->verdict = d->compliant ? VERDICT_CONFORMANT : VERDICT_DEVIATIONS;
}

void dataset_warnings(struct dataset *d)
{
	warn_run(d);
	warn_host(d);
	for (unsigned i = 0; i < d->n_tests; i++) {
		struct test *t = &d->test[i];
		const char *why = replay_fault(d, t);
		if (why)
			warn_replay(d, t, why);
		else if (!t->finished || !strcmp(t->verdict, "failed"))
			warn_unfinished(d, t);
		for (unsigned k = 0; k < t->n_sections; k++)
			if (t->section[k].steady == 0)
				warn_unsteady(d, t, &t->section[k]);
		warn_purge(d, t);
		warn_cells(d, t);
		warn_na(d, t);
		warn_percentiles(d, t);
		judge_test(t);
		if (why && t->status <= STATUS_WARN) {
			t->status = STATUS_NOT_VALID;
			t->reason = why;
		}
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

#define ROUNDS_ART "ART, mean of rounds"
#define ROUNDS_ART_KEY "art_mean_of_rounds_ns"

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
		r->metric = ROUNDS_ART; /* LAT: spec 9 */
		r->key = ROUNDS_ART_KEY;
		r->value = c->art_rounds_ns;
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
			static const char *const metric[] = { "IOPS", "Throughput", ROUNDS_ART };
			static const char *const key[] = { "iops", "bytes_per_s", ROUNDS_ART_KEY };
			struct result *r = add_result(d, t, s);
			const struct track *v = &s->track[k];
			r->access = *s->label ? arena_fmt(&d->arena, "%s (%s)", v->title, s->label)
					      : v->title;
			r->unit = v->unit;
			r->metric = metric[v->unit];
			r->key = key[v->unit];
			if (v->combo)
				r->tcqd = tcqd_text(&d->arena, v->combo->threads, v->combo->qd);
			if (!v->check)
				continue;
			r->value = v->check->average;
			r->cv = coefficient_of_variation(v->check->y, WINDOW_ROUNDS, r->value);
		}
	}
	return n;
}

/* Mean of each wait state, beside the steady state that is tracked. */
static unsigned hir_results(struct dataset *d, const struct hir *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct hir_state *s = &h->state[i];
		struct result *r = add_result(d, h->test, h->section);
		r->access = arena_fmt(&d->arena, "Wait State %.4g (%.4g s / %.4g s idle)",
				      s->number, s->burst_ns / 1e9, s->wait_ns / 1e9);
		if (s->n_bursts)
			r->tcqd = tcqd_text(&d->arena, s->burst[0]->threads, s->burst[0]->qd);
		r->metric = "IOPS";
		r->key = "iops";
		r->value = s->mean_iops;
	}
	return h->n;
}

static unsigned xsr_results(struct dataset *d, const struct xsr *x)
{
	for (unsigned i = 0; i < x->n; i++) {
		const struct xsr_group *g = &x->group[i];
		struct result *r = add_result(d, x->test, x->section);
		r->access = arena_fmt(&d->arena, "%s (%s)", g->title, g->label);
		r->tcqd = tcqd_text(&d->arena, g->step[0]->threads, g->step[0]->qd);
		r->unit = UNIT_BYTES_PER_S;
		r->metric = "Mean throughput";
		r->key = "bytes_per_s";
		r->value = g->mean_bps;
	}
	return x->n;
}

const struct section *section_at(const struct test *t, int number)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].number == number)
			return &t->section[i];
	return NULL;
}

static const struct combo *combo_at(const struct section *s, int threads, int qd)
{
	for (unsigned i = 0; s && i < s->n_combos; i++)
		if (s->combo[i].threads == threads && s->combo[i].qd == qd)
			return &s->combo[i];
	return NULL;
}

/* Its name; with the section where several of the test have a point of that name. */
static const char *point_access(struct dataset *d, const struct operating_point *p,
				const struct section *s)
{
	bool again = false;

	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *o = &d->point[i];
		again |= o->section != p->section && !strcmp(o->test, p->test) &&
			 !strcmp(o->point, p->point);
	}
	return arena_fmt(&d->arena, "operating point %s%s%s", p->point, again && s ? ", " : "",
			 again && s ? s->label : "");
}

static struct result *point_result(struct dataset *d, const struct test *t,
				   const struct operating_point *p)
{
	const struct section *s = section_at(t, p->section);
	const struct combo *c = combo_at(s, p->threads, p->qd);
	struct result *r = add_result(d, t, s);

	r->access = point_access(d, p, s);
	r->tcqd = tcqd_text(&d->arena, p->threads, p->qd);
	r->metric = "IOPS";
	r->key = "iops";
	r->value = p->iops;
	r->cv = c ? c->iops_cv : NAN;
	return r;
}

/* Response times are told of the fastest point only: their place is the page of the test. */
static void point_times(struct dataset *d, const struct test *t, const struct operating_point *p)
{
	struct result *r = point_result(d, t, p);

	r->unit = UNIT_NS;
	r->metric = "ART";
	r->key = "art_ns";
	r->value = p->art_ns;
	r->cv = NAN;
	if (p->p99999_ns < 0)
		return;
	r = point_result(d, t, p);
	r->unit = UNIT_NS;
	r->metric = "99.999 % RT";
	r->key = "lat_p99999_ns";
	r->value = (double)p->p99999_ns;
	r->cv = NAN;
}

static unsigned point_results(struct dataset *d, const struct test *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *p = &d->point[i];
		if (strcmp(p->test, t->name))
			continue;
		point_result(d, t, p);
		if (strcmp(p->point, "min") && strcmp(p->point, "mid"))
			point_times(d, t, p);
		n++;
	}
	return n;
}

static struct result *scale_result(struct dataset *d, const struct test *t,
				   const struct replay_scale *s)
{
	struct result *r = add_result(d, t, t->n_sections ? &t->section[0] : NULL);

	r->access = arena_fmt(&d->arena, "replay %s, %u steps", s->name, s->n);
	r->tcqd = s->oio_high ? arena_fmt(&d->arena, "OIO %d-%d", s->oio_low, s->oio_high) : "-";
	r->metric = "IOPS";
	r->key = "iops";
	r->value = s->iops;
	return r;
}

static void scale_time(struct dataset *d, const struct test *t, const struct replay_scale *s,
		       bool art)
{
	struct result *r = scale_result(d, t, s);

	r->unit = UNIT_NS;
	r->metric = art ? "ART" : "99.999 % RT";
	r->key = art ? "art_ns" : "lat_p99999_ns";
	r->value = art ? s->art_ns : s->levels.p99999_ns < 0 ? NAN : (double)s->levels.p99999_ns;
}

/* Each scale has its IOPS; response times are told of the native one. */
static unsigned replay_results(struct dataset *d, const struct replay *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		scale_result(d, p->test, &p->scale[i]);
		if (i)
			continue;
		scale_time(d, p->test, &p->scale[i], true);
		scale_time(d, p->test, &p->scale[i], false);
	}
	if (p->cell && !p->cell->partial) {
		struct result *r = add_result(d, p->test, NULL);
		r->access = "exact replay";
		r->metric = "IOPS";
		r->key = "iops";
		r->value = p->cell->iops;
		r->reported &= p->fidelity->valid != 0;
	}
	return p->n + (p->cell != NULL);
}

static bool same_load(const struct measure *a, const struct measure *b)
{
	return a->section == b->section && !strcmp(a->access, b->access) &&
	       a->block_bytes == b->block_bytes &&
	       (a->read_pct == b->read_pct || (isnan(a->read_pct) && isnan(b->read_pct)));
}

/* Of a test of steps alone, each load's fastest, over threads, depths and drives. */
static unsigned fastest_results(struct dataset *d, const struct test *t)
{
	const struct measure *best[FASTEST_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		unsigned k = 0;
		if (strcmp(m->test, t->name) || strcmp(m->phase, "step") || !measure_counts(m, t))
			continue;
		while (k < n && !same_load(best[k], m))
			k++;
		if (k == n && n < FASTEST_MAX)
			best[n++] = m;
		else if (k < n && m->iops > best[k]->iops)
			best[k] = m;
	}
	for (unsigned i = 0; i < n; i++) {
		bool large = best[i]->block_bytes >= LARGE_BYTES;
		struct result *r = add_result(d, t, section_at(t, best[i]->section));
		r->access = arena_fmt(&d->arena, "fastest of %s", best[i]->access);
		r->tcqd = tcqd_text(&d->arena, best[i]->threads, best[i]->qd);
		r->unit = large ? UNIT_BYTES_PER_S : UNIT_IOPS;
		r->metric = large ? "Throughput" : "IOPS";
		r->key = large ? "bytes_per_s" : "iops";
		r->value = large ? best[i]->bytes_per_s : best[i]->iops;
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
		if (d->hir && d->hir->test == t)
			n += hir_results(d, d->hir);
		if (d->xsr && d->xsr->test == t)
			n += xsr_results(d, d->xsr);
		if (rwsw_replay(d, t))
			n += replay_results(d, rwsw_replay(d, t));
		if (!n)
			n += fastest_results(d, t);
		if (!n) { /* a test without a measured round still has its line */
			struct result *r = add_result(d, t, NULL);
			r->metric = "see its page";
			r->key = "none";
			r->reported = t->status <= STATUS_WARN;
		}
	}
}
