/* SPDX-License-Identifier: MIT */
/*
 * A claim against a run. What it may be of: the lines of the Summary and each cell of the loops; where none of these is
 * like it, each step outside of the loops. One that fits is judged; several are none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reports/claims_words.h"
#include "reports/page.h"

#define FOUND_MAX 64
#define LIST_MAX 6 /* of several that would do, named */

/* Something measured that a claim may be of. */
struct found {
	const struct test *t;
	const struct section *s;
	const struct result *r;
	const struct combo *c;
	const struct measure *m;
	int tc, qd; /* 0 unknown */
	double value, uncertainty;
	uint64_t ios; /* of the histogram of a percentile */
	bool reported;
};

struct search {
	const struct claim *claim;
	const struct dataset *d;
	struct found v[FOUND_MAX], other[FOUND_MAX]; /* other: the same at another TC/QD */
	unsigned n, n_other;
	bool test_there, access_there;
};

const char *claim_verdict_name(enum claim_verdict v)
{
	static const char *const name[] = { "NOT ASSESSED", "PASS", "FAIL" };

	return name[v];
}

double claim_shown(const struct claim *c, double base)
{
	return c->unit == UNIT_NS ? base / 1e3 : unit_shown(c->unit, base);
}

const char *claim_unit(const struct claim *c)
{
	return c->unit == UNIT_NS ? "us" : unit_name(c->unit);
}

const char *claim_metric(const struct claim *c)
{
	return metric_of_key(c->metric)->title;
}

/* ---- collecting ---- */

/* A mean worked out twice may differ in its last digits. */
static bool same_value(const struct found *a, const struct found *b)
{
	return (isnan(a->value) && isnan(b->value)) || (!a->reported && !b->reported) ||
	       fabs(a->value - b->value) <= 1e-9 * fabs(a->value);
}

/* A line of the Summary and the cell it is made of are one. */
static bool is_again(struct found *a, const struct found *b)
{
	if (a->t != b->t || a->s != b->s || a->tc != b->tc || a->qd != b->qd || !same_value(a, b) ||
	    (a->r && b->r) || (a->m && b->m) || (a->c && b->c))
		return false;
	a->r = a->r ? a->r : b->r;
	a->c = a->c ? a->c : b->c;
	a->ios = a->ios ? a->ios : b->ios;
	if (isnan(a->uncertainty))
		a->uncertainty = b->uncertainty;
	return true;
}

static void add(struct found *list, unsigned *n, const struct found *f)
{
	for (unsigned i = 0; i < *n; i++)
		if (is_again(&list[i], f))
			return;
	if (*n < FOUND_MAX)
		list[(*n)++] = *f;
}

/* The access of @f is the claim's: does its depth fit, too? */
static void consider(struct search *x, const struct found *f)
{
	const struct claim *c = x->claim;
	bool depth = (!c->tc || c->tc == f->tc) && (!c->qd || c->qd == f->qd);

	if (depth)
		add(x->v, &x->n, f);
	else
		add(x->other, &x->n_other, f);
}

static bool is_section(const struct claim *c, const struct section *s)
{
	char number[16];

	if (!*c->section)
		return true;
	if (!s)
		return false;
	snprintf(number, sizeof number, "%d", s->number);
	return !strcmp(c->section, number) || words_match(c->section, s->label);
}

static bool is_metric(const char *wanted, const char *key)
{
	return !strcmp(wanted, key) ||
	       (!strcmp(wanted, "art_ns") && !strcmp(key, "art_mean_of_rounds_ns"));
}

static bool is_text(const struct claim *c, const char *text)
{
	struct access a;

	if (words_match(c->access, text))
		return true;
	return *c->cell.pattern && access_read(text, true, &a) && access_same(&c->cell, &a);
}

static void read_tcqd(const char *text, int *tc, int *qd)
{
	if (sscanf(text, "T%dQ%d", tc, qd) != 2)
		*tc = *qd = 0;
}

static double of_rounds(double cv, unsigned n)
{
	return n > 1 ? cv / sqrt(n) : NAN;
}

static void look_results(struct search *x, const struct test *t)
{
	for (unsigned i = 0; i < x->d->n_results; i++) {
		const struct result *r = &x->d->result[i];
		if (r->test != t || !is_section(x->claim, r->section) ||
		    !is_text(x->claim, r->access))
			continue;
		x->access_there = true;
		if (!is_metric(x->claim->metric, r->key))
			continue;
		struct found f = { .t = t,
				   .s = r->section,
				   .r = r,
				   .value = r->value,
				   .uncertainty = of_rounds(r->cv, WINDOW_ROUNDS),
				   .reported = r->reported };
		read_tcqd(r->tcqd, &f.tc, &f.qd);
		consider(x, &f);
	}
}

/* ---- cells of the loops ---- */

static double ns_or_nan(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
}

/* Where the test reports the mean of the rounds' ARTs, a claim of its ART is of that (spec 9). */
static bool art_is_of_rounds(const struct test *t, const struct section *s)
{
	for (unsigned i = 0; i < s->n_tracks; i++)
		if (s->track[i].unit == UNIT_NS)
			return true;
	return !strcmp(t->name, "lat");
}

static double combo_value(const struct combo *c, const char *key, bool rounds)
{
	const struct {
		const char *key;
		double value;
	} values[] = {
		{ "iops", c->iops },
		{ "bytes_per_s", c->bytes_per_s },
		{ "art_ns", rounds ? c->art_rounds_ns : c->art_ns },
		{ "art_mean_of_rounds_ns", c->art_rounds_ns },
		{ "lat_p50_ns", ns_or_nan(c->p50_ns) },
		{ "lat_p99_ns", ns_or_nan(c->p99_ns) },
		{ "lat_p999_ns", ns_or_nan(c->p999_ns) },
		{ "lat_p9999_ns", ns_or_nan(c->p9999_ns) },
		{ "lat_p99999_ns", ns_or_nan(c->p99999_ns) },
		{ "mrt_ns", ns_or_nan(c->mrt_ns) },
	};

	for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++)
		if (!strcmp(values[i].key, key))
			return values[i].value;
	return NAN;
}

static double measure_value_of(const struct measure *m, const char *key)
{
	const struct {
		const char *key;
		double value;
	} values[] = {
		{ "iops", m->iops },
		{ "bytes_per_s", m->bytes_per_s },
		{ "art_ns", m->art_ns },
		{ "art_mean_of_rounds_ns", m->art_ns },
		{ "lat_p50_ns", ns_or_nan(m->p50_ns) },
		{ "lat_p99_ns", ns_or_nan(m->p99_ns) },
		{ "lat_p999_ns", ns_or_nan(m->p999_ns) },
		{ "lat_p9999_ns", ns_or_nan(m->p9999_ns) },
		{ "lat_p99999_ns", ns_or_nan(m->p99999_ns) },
		{ "mrt_ns", ns_or_nan(m->mrt_ns) },
	};

	for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++)
		if (!strcmp(values[i].key, key))
			return values[i].value;
	return NAN;
}

/* Spread of the rounds' own values; a maximum is no mean, and has none. */
static double combo_uncertainty(const struct combo *c, const char *key)
{
	double v[WINDOW_ROUNDS], sum = 0;

	if (!strcmp(key, "mrt_ns"))
		return NAN;
	for (unsigned i = 0; i < c->n_window; i++) {
		v[i] = measure_value_of(c->window[i], key);
		sum += v[i];
	}
	if (!c->n_window || !isfinite(sum))
		return NAN;
	return of_rounds(coefficient_of_variation(v, c->n_window, sum / c->n_window), c->n_window);
}

static bool is_combo(const struct claim *claim, const struct combo *c)
{
	const struct access a = { .pattern = c->pattern,
				  .block_bytes = c->block_bytes,
				  .read_pct = c->read_pct };

	if (*claim->cell.pattern && access_same(&claim->cell, &a))
		return true;
	return words_match(claim->access, c->title) || words_match(claim->access, c->access) ||
	       (*c->label && words_match(claim->access, c->label));
}

static void look_combos(struct search *x, const struct test *t)
{
	for (unsigned i = 0; i < t->n_sections; i++) {
		const struct section *s = &t->section[i];
		for (unsigned k = 0; k < s->n_combos; k++) {
			const struct combo *c = &s->combo[k];
			if (!is_section(x->claim, s) || !is_combo(x->claim, c))
				continue;
			x->access_there = true;
			struct found f = {
				.t = t,
				.s = s,
				.c = c,
				.tc = c->threads,
				.qd = c->qd,
				.value = combo_value(c, x->claim->metric, art_is_of_rounds(t, s)),
				.uncertainty = combo_uncertainty(c, x->claim->metric),
				.ios = c->ios,
				.reported = t->finished && strcmp(t->verdict, "failed") &&
					    s->steady != 0 && c->n_window > 0,
			};
			consider(x, &f);
		}
	}
}

/* ---- steps outside of the loops ---- */

static bool is_measure(const struct claim *claim, const struct measure *m)
{
	const char *pattern = !strncasecmp(m->access, "seq", 3)	  ? "SEQ"
			      : !strncasecmp(m->access, "rnd", 3) ? "RND"
								  : "MIX";
	const struct access a = { .pattern = pattern,
				  .block_bytes = m->block_bytes,
				  .read_pct = m->read_pct };

	if (*claim->cell.pattern && isfinite(m->read_pct) && access_same(&claim->cell, &a))
		return true;
	return words_match(claim->access, m->access) ||
	       (*m->label && words_match(claim->access, m->label));
}

/* A step at a rate is answered for from when each IO was due. */
static double step_value(const struct section *s, const struct measure *m, const char *key)
{
	for (unsigned i = 0; s && i < s->n_rated; i++) {
		const struct levels *l = &s->rated[i].response;
		if (s->rated[i].m != m)
			continue;
		const struct measure as = { .iops = m->iops,
					    .bytes_per_s = m->bytes_per_s,
					    .art_ns = l->art_ns,
					    .mrt_ns = l->mrt_ns,
					    .p50_ns = l->p50_ns,
					    .p99_ns = l->p99_ns,
					    .p999_ns = l->p999_ns,
					    .p9999_ns = l->p9999_ns,
					    .p99999_ns = l->p99999_ns };
		return measure_value_of(&as, key);
	}
	return measure_value_of(m, key);
}

static void look_steps(struct search *x, const struct test *t)
{
	for (unsigned i = 0; i < x->d->n_measures; i++) {
		const struct measure *m = &x->d->measure[i];
		if (!measure_counts(m, t) || !measure_is_step(m) || !is_measure(x->claim, m))
			continue;
		const struct section *s = section_at(t, m->section);
		if (!is_section(x->claim, s))
			continue;
		x->access_there = true;
		struct found f = { .t = t,
				   .s = s,
				   .m = m,
				   .tc = m->threads,
				   .qd = m->qd,
				   .value = step_value(s, m, x->claim->metric),
				   .uncertainty = NAN,
				   .ios = m->ios,
				   .reported = t->finished && strcmp(t->verdict, "failed") &&
					       (!s || s->steady != 0) };
		consider(x, &f);
	}
}

static void look(struct search *x)
{
	const struct dataset *d = x->d;

	for (unsigned pass = 0; pass < 2 && !x->n; pass++) {
		for (unsigned i = 0; i < d->n_tests; i++) {
			const struct test *t = &d->test[i];
			if (*x->claim->test && strcasecmp(x->claim->test, t->name))
				continue;
			x->test_there = true;
			if (pass) {
				look_steps(x, t);
				continue;
			}
			look_results(x, t);
			look_combos(x, t);
		}
	}
}

/* ---- judging ---- */

/* "IOPS T4Q32", with the section where the test has several. */
static void put_place(char *out, size_t n, const struct found *f)
{
	char depth[32] = "", part[64] = "";

	if (f->tc > 0)
		snprintf(depth, sizeof depth, " T%dQ%d", f->tc, f->qd);
	if (f->t->n_sections > 1 && f->s)
		snprintf(part, sizeof part, *f->s->label ? " (%d: %.32s)" : " (section %d%.0s)",
			 f->s->number, f->s->label);
	snprintf(out, n, "%s%s%s", f->t->sheet, part, depth);
}

static const char *access_of(const struct found *f)
{
	return f->r ? f->r->access : f->c ? f->c->title : *f->m->label ? f->m->label : f->m->access;
}

/* Places that are alike are told apart by what was done there. */
static bool is_unique(const struct found *v, unsigned count, unsigned i)
{
	char one[160], other[160];

	put_place(one, sizeof one, &v[i]);
	for (unsigned k = 0; k < count; k++) {
		put_place(other, sizeof other, &v[k]);
		if (k != i && !strcmp(one, other))
			return false;
	}
	return true;
}

static void put_list(char *out, size_t n, const struct found *v, unsigned count)
{
	size_t used = 0;

	*out = '\0';
	for (unsigned i = 0; i < count && i < LIST_MAX && used < n; i++) {
		bool unique = is_unique(v, count, i);
		char place[160];
		put_place(place, sizeof place, &v[i]);
		used += (size_t)snprintf(out + used, n - used, "%s%s%s%.40s%s", i ? ", " : "",
					 place, unique ? "" : " '", unique ? "" : access_of(&v[i]),
					 unique ? "" : "'");
	}
	if (count > LIST_MAX && used < n)
		snprintf(out + used, n - used, " and %u more", count - LIST_MAX);
}

static void put_under(struct claim_check *k, const struct dataset *d, const struct found *f)
{
	const char *cache = cache_text(f->t, true);
	char place[160], rounds[48] = "";

	put_place(place, sizeof place, f);
	if (f->s && f->s->steady == 1 && f->s->window_first > 0)
		snprintf(rounds, sizeof rounds, ", SS %d-%d", f->s->window_first,
			 f->s->window_last);
	snprintf(k->under, sizeof k->under, "%.80s, %s%s%s", place, cache, rounds,
		 d->quick	? ", quick"
		 : f->t->formal ? ""
				: ", definition changed");
}

static const char *na_reason(const struct search *x)
{
	const struct claim *c = x->claim;

	for (unsigned i = 0; i < x->d->n_na; i++) {
		const struct na_cell *v = &x->d->na[i];
		if (*c->cell.pattern && v->block_bytes == c->cell.block_bytes &&
		    fabs(v->read_pct - c->cell.read_pct) < 1e-9 &&
		    (!*c->test || !strcasecmp(c->test, v->test)))
			return v->reason;
	}
	return NULL;
}

/* Nothing like it was measured: why? */
static void why_none(const struct search *x, struct claim_check *k)
{
	const struct claim *c = x->claim;
	const char *na = na_reason(x);
	char list[240];

	if (x->n_other) {
		put_list(list, sizeof list, x->other, x->n_other);
		snprintf(k->why, sizeof k->why, "claimed at %s, measured at %s", c->tcqd, list);
	} else if (!x->test_there) {
		snprintf(k->why, sizeof k->why, "not measured: the run has no test %.40s", c->test);
	} else if (na) {
		snprintf(k->why, sizeof k->why, "n/a on this drive: %.100s", na);
	} else if (x->access_there) {
		snprintf(k->why, sizeof k->why, "not measured: its %.60s has no %s", c->access,
			 claim_metric(c));
	} else {
		snprintf(k->why, sizeof k->why, "not measured: no %.60s in %.40s%s%.40s", c->access,
			 *c->test ? c->test : "this run", *c->section ? " section " : "",
			 c->section);
	}
}

static bool lacks_steady(const struct found *f)
{
	return f->s ? f->s->steady == 0 : f->t->steady == 0;
}

/* What was found is no value to judge: why? "": it is one. */
static void why_not(const struct search *x, const struct found *f, struct claim_check *k)
{
	if (x->d->tampered) {
		snprintf(k->why, sizeof k->why, "stored rows were changed after the run");
	} else if (lacks_steady(f)) {
		k->unsteady = true;
		snprintf(k->why, sizeof k->why, "steady state not reached");
	} else if (f->t->status == STATUS_NOT_RUN || !f->reported) {
		snprintf(k->why, sizeof k->why, "not reported: test %.40s is %.60s", f->t->name,
			 *f->t->reason ? f->t->reason : "without a result");
	} else if (isnan(f->value) && x->claim->unit == UNIT_NS && f->ios) {
		snprintf(k->why, sizeof k->why, "too few I/Os for %s: %llu", claim_metric(x->claim),
			 (unsigned long long)f->ios);
	} else if (isnan(f->value)) {
		snprintf(k->why, sizeof k->why, "no value measured");
	}
}

static void judge(struct claim_check *k, const struct found *f)
{
	const struct claim *c = k->claim;

	k->measured = f->value;
	k->difference = (f->value - c->value) / c->value;
	k->uncertainty = f->uncertainty;
	/* as wide as the limits of steady state, so that no unit changes a verdict */
	bool met = c->lower_is_better ? f->value <= k->limit * (1 + 1e-9)
				      : f->value >= k->limit * (1 - 1e-9);
	k->verdict = met ? CLAIM_MET : CLAIM_MISSED;
}

bool claim_check(const struct claim *c, const struct dataset *d, struct claim_check *ret)
{
	struct search x = { .claim = c, .d = d };

	if (*c->model && !drive_matches(c->model, d->model, d->serial))
		return false;
	*ret = (struct claim_check){ .claim = c,
				     .measured = NAN,
				     .difference = NAN,
				     .uncertainty = NAN,
				     .limit = c->value * (c->lower_is_better ? 1 + c->tolerance
									     : 1 - c->tolerance) };
	look(&x);
	if (x.n > 1) {
		char list[240];
		put_list(list, sizeof list, x.v, x.n);
		snprintf(ret->why, sizeof ret->why, "ambiguous: %s", list);
		return true;
	}
	const struct found *f = x.n ? &x.v[0] : x.n_other ? &x.other[0] : NULL;
	if (f && (x.n || x.n_other == 1))
		put_under(ret, d, f);
	if (!x.n) {
		why_none(&x, ret);
		return true;
	}
	ret->test = f->t;
	ret->result = f->r;
	why_not(&x, f, ret);
	if (!*ret->why)
		judge(ret, f);
	return true;
}

void claims_check(const struct claims *c, const struct dataset *d, struct arena *a,
		  struct claim_checks *ret)
{
	*ret = (struct claim_checks){ .v = arena_array(a, struct claim_check, c->n + 1) };
	for (unsigned i = 0; i < c->n; i++) {
		struct claim_check *k = &ret->v[ret->n];
		if (!claim_check(&c->v[i], d, k))
			continue;
		ret->n++;
		ret->n_met += k->verdict == CLAIM_MET;
		ret->n_missed += k->verdict == CLAIM_MISSED;
		ret->n_open += k->verdict == CLAIM_NOT_ASSESSED;
	}
}

const char *claims_counts(struct arena *a, const struct claim_checks *c)
{
	return arena_fmt(a, "%u of %u met, %u missed, %u not assessed", c->n_met, c->n, c->n_missed,
			 c->n_open);
}

void claims_warn(struct dataset *d)
{
	for (unsigned i = 0; i < d->checks->n; i++) {
		const struct claim_check *k = &d->checks->v[i];
		const struct claim *c = k->claim;
		if (k->verdict == CLAIM_MET)
			continue;
		bool missed = k->verdict == CLAIM_MISSED;
		struct warning *w = dataset_warn(d, missed ? SEV_FAIL : SEV_WARN, "all", "-");
		w->what = missed ? arena_fmt(&d->arena,
					     "Claim \"%s\" missed: %s %.6g %s, limit %.6g %s"
					     " (%s).",
					     c->name, claim_metric(c), claim_shown(c, k->measured),
					     claim_unit(c), claim_shown(c, k->limit), claim_unit(c),
					     k->under)
				 : arena_fmt(&d->arena, "Claim \"%s\" not assessed: %s.", c->name,
					     k->why);
		w->effect = missed ? "The drive is not what its vendor claims."
				   : "No verdict on this claim.";
		w->evidence = arena_fmt(&d->arena, "%s:%u", d->claims->file, c->line);
	}
}
