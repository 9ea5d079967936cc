/* SPDX-License-Identifier: MIT */
/* The union of what the runs measured, each line of it by run and by candidate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare_priv.h"

#define POINT "operating point "
#define FASTEST "fastest of "

static bool is_point(const struct result *r)
{
	return !strncmp(r->access, POINT, strlen(POINT));
}

/* Found at a depth that each drive has for itself. */
static bool is_found(const struct result *r)
{
	return is_point(r) || !strncmp(r->access, FASTEST, strlen(FASTEST));
}

/* The workload of a test that takes one, "" where its name says it. One made of other parameters: as its cells call it. */
static const char *workload_of(const struct result *r)
{
	const char *v = pairs_get(&r->test->params, "access");

	if (!v || !strcmp(v, r->test->name))
		return "";
	if (!strchr(v, '$'))
		return v;
	return r->section && r->section->n_combos ? r->section->combo[0].title : "";
}

/* Each drive has its operating points at a depth of its own: what they have in common is their name. */
static const char *key_of(struct arena *a, const struct result *r)
{
	const struct test *t = r->test;

	if (!is_point(r) && is_found(r))
		return arena_fmt(a, "%s/%s/-/%s", t->name, r->access, r->key);
	if (!is_point(r))
		return arena_fmt(a, "%s/%s/%s/%s", t->name, r->access, r->tcqd, r->key);
	const char *work = workload_of(r);
	return arena_fmt(a, "%s/%s%s%s/-/%s", t->name, work, *work ? " " : "",
			 r->access + strlen("operating "), r->key);
}

static const char *short_metric(const struct result *r)
{
	if (r->unit != UNIT_NS)
		return r->unit == UNIT_IOPS ? "IOPS" : "";
	return !strncmp(r->metric, "ART", 3) ? "ART" : r->metric;
}

/* "IOPS RND 4 KiB R T4Q32", "LAT RND 4 KiB R T1Q1 ART", "DIRTH rnd-8k-65-35 Max point IOPS". */
static const char *title_of(struct arena *a, const struct result *r)
{
	const struct test *t = r->test;
	const char *metric = short_metric(r), *what = r->access, *work = "";

	if (!strcmp(metric, t->sheet))
		metric = "";
	if (is_point(r)) {
		work = workload_of(r);
		what = arena_fmt(a, "%s point", r->access + strlen(POINT));
	}
	bool depth = !is_found(r) && strcmp(r->tcqd, "-") && !strstr(r->access, r->tcqd);
	return grid_clean(a, arena_fmt(a, "%s%s%s %s%s%s%s%s", t->sheet, *work ? " " : "", work,
				       what, depth ? " " : "", depth ? r->tcqd : "",
				       *metric ? " " : "", metric));
}

/* ---- a result of a run ---- */

static const char *why_not(const struct result *r)
{
	if (r->section && r->section->steady == 0)
		return "not steady";
	if (!r->test->attempt)
		return "not run";
	if (!r->test->finished)
		return "not finished";
	if (!strcmp(r->test->verdict, "failed"))
		return "failed";
	return "not valid";
}

static const char *why_missing(const struct dataset *d, const char *test)
{
	const struct test *t = dataset_test(d, test);

	return !t || !t->attempt ? "not run" : t->finished ? "n/a" : "not finished";
}

static const struct combo *combo_of(const struct result *r, struct arena *a)
{
	const struct section *s = r->section;

	for (unsigned i = 0; s && i < s->n_combos; i++) {
		const struct combo *c = &s->combo[i];
		if (!strcmp(tcqd_text(a, c->threads, c->qd), r->tcqd) &&
		    (is_point(r) || !strcmp(c->title, r->access)))
			return c;
	}
	return NULL;
}

static double time_of(const struct measure *m, const char *key)
{
	if (!strcmp(key, "lat_p99999_ns"))
		return m->p99999_ns < 0 ? NAN : (double)m->p99999_ns;
	if (!strcmp(key, "mrt_ns"))
		return m->mrt_ns < 0 ? NAN : (double)m->mrt_ns;
	return m->art_ns;
}

/* How much a time varied over the rounds of its window, where the run does not say it. */
static double rounds_cv(const struct result *r, struct arena *a)
{
	const struct combo *c = r->unit == UNIT_NS ? combo_of(r, a) : NULL;
	double v[WINDOW_ROUNDS], sum = 0;

	if (!c || c->n_window < 2)
		return NAN;
	for (unsigned i = 0; i < c->n_window; i++) {
		v[i] = time_of(c->window[i], r->key);
		sum += v[i];
	}
	return coefficient_of_variation(v, c->n_window, sum / c->n_window);
}

static void take_result(struct measured *m, const struct result *r, struct arena *a)
{
	*m = (struct measured){ .present = r->test->attempt > 0, .value = NAN, .cv = NAN };
	m->unit_cv = NAN;
	m->why = "";
	m->reported = r->reported && isfinite(r->value);
	if (m->reported) {
		m->n = 1;
		m->value = r->value;
		m->cv = isfinite(r->cv) ? r->cv : rounds_cv(r, a);
	} else {
		m->why = r->reported ? "n/a" : why_not(r);
	}
}

/* ---- the union ---- */

static struct metric *find(struct comparison *c, const char *key)
{
	for (unsigned i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metric[i].key, key))
			return &c->metric[i];
	return NULL;
}

static struct metric *add(struct comparison *c, const struct result *r, const char *key)
{
	struct arena *a = &c->arena;
	struct metric *m = &c->metric[c->n_metrics++];

	*m = (struct metric){ .key = key, .unit = r->unit, .noise = NAN, .best = -1 };
	m->test = r->test->name;
	m->access = r->access;
	m->tcqd = is_point(r) ? "-" : r->tcqd;
	m->metric = r->metric;
	m->title = title_of(a, r);
	m->lower_is_better = r->unit == UNIT_NS;
	m->run = arena_array(a, struct measured, c->n_runs);
	m->of = arena_array(a, struct measured, c->n_candidates);
	return m;
}

/* A second line of the same name in one run is another one. */
static const char *own_key(struct comparison *c, const char *key, unsigned run)
{
	const char *own = key;

	for (unsigned n = 2; n < 100; n++) {
		const struct metric *m = find(c, own);
		if (!m || !m->run[run].why)
			break;
		own = arena_fmt(&c->arena, "%s #%u", key, n);
	}
	return own;
}

static void take_run(struct comparison *c, unsigned run)
{
	const struct dataset *d = &c->run[run].d;

	for (unsigned i = 0; i < d->n_results; i++) {
		const struct result *r = &d->result[i];
		if (!r->key || !strcmp(r->key, "none"))
			continue;
		const char *key = own_key(c, grid_clean(&c->arena, key_of(&c->arena, r)), run);
		struct metric *m = find(c, key);
		if (!m)
			m = add(c, r, key);
		take_result(&m->run[run], r, &c->arena);
	}
}

static void fill_missing(struct comparison *c, struct metric *m)
{
	for (unsigned i = 0; i < c->n_runs; i++)
		if (!m->run[i].why)
			m->run[i] = (struct measured){ .value = NAN,
						       .cv = NAN,
						       .unit_cv = NAN,
						       .why = why_missing(&c->run[i].d, m->test) };
}

/* ---- by candidate ---- */

static double max_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static void take_samples(struct metric *m, const struct candidate *of, struct measured *ret)
{
	double v[COMPARE_RUNS], sum = 0;

	*ret = (struct measured){ .value = NAN, .cv = NAN, .unit_cv = NAN, .why = "" };
	for (unsigned i = 0; i < of->n_runs; i++) {
		const struct measured *one = &m->run[of->run[i]];
		ret->present |= one->present;
		if (!one->reported) {
			if (!*ret->why || one->present) /* "not steady" says more than "not run" */
				ret->why = one->why;
			continue;
		}
		v[ret->n++] = one->value;
		sum += one->value;
		ret->cv = max_known(ret->cv, one->cv);
	}
	if (!ret->n)
		return;
	ret->reported = true;
	ret->why = "";
	ret->value = sum / ret->n;
	ret->unit_cv = coefficient_of_variation(v, ret->n, ret->value);
}

static void judge(struct comparison *c, struct metric *m)
{
	double cv = NAN;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct measured *v = &m->of[i];
		take_samples(m, &c->candidate[i], &m->of[i]);
		if (!v->reported)
			continue;
		cv = max_known(cv, max_known(v->cv, v->unit_cv));
		const struct measured *best = m->best < 0 ? NULL : &m->of[m->best];
		if (!best || (m->lower_is_better ? v->value < best->value : v->value > best->value))
			m->best = (int)i;
	}
	m->noise = 2 * cv;
}

/* Tests in the order in which they are met; within one, its own order. */
static unsigned test_at(const struct comparison *c, const char *test)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_runs; i++)
		for (unsigned k = 0; k < c->run[i].d.n_tests; k++, n++)
			if (!strcmp(c->run[i].d.test[k].name, test))
				return n;
	return n;
}

static void sort_by_test(struct comparison *c)
{
	struct metric *sorted = arena_array(&c->arena, struct metric, c->n_metrics + 1);
	unsigned n = 0, tests = 0;

	for (unsigned i = 0; i < c->n_runs; i++)
		tests += c->run[i].d.n_tests;
	for (unsigned t = 0; t <= tests && n < c->n_metrics; t++)
		for (unsigned i = 0; i < c->n_metrics; i++)
			if (test_at(c, c->metric[i].test) == t)
				sorted[n++] = c->metric[i];
	c->metric = sorted;
}

void compare_metrics(struct comparison *c)
{
	unsigned most = 0;

	for (unsigned i = 0; i < c->n_runs; i++)
		most += c->run[i].d.n_results;
	c->metric = arena_array(&c->arena, struct metric, most + 1);
	for (unsigned i = 0; i < c->n_runs; i++)
		take_run(c, i);
	for (unsigned i = 0; i < c->n_metrics; i++) {
		fill_missing(c, &c->metric[i]);
		judge(c, &c->metric[i]);
	}
	sort_by_test(c);
}
