/* SPDX-License-Identifier: MIT */
/* Loading: the runs, the files of the user, then one step after the other. */
#include "reports/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare_priv.h"
#include "schema/read.h"

void *compare_grown(struct comparison *c, const void *v, unsigned n, size_t size)
{
	bool full = !(n & (n - 1)); /* room is for powers of two */
	char *out;

	if (!full)
		return NULL;
	out = arena_alloc(&c->arena, (n ? 2 * (size_t)n : 1) * size);
	if (n)
		memcpy(out, v, n * size);
	return out;
}

void compare_remark(struct comparison *c, const char *text)
{
	void *more = compare_grown(c, c->remark, c->n_remarks, sizeof *c->remark);

	if (more)
		c->remark = more;
	c->remark[c->n_remarks++] = text;
}

static int check_options(const struct compare_options *o, unsigned *ret_baseline, struct err *err)
{
	*ret_baseline = 0;
	if (o->n < 2)
		return err_set(err, -EINVAL, "nothing to compare with: name two runs or more");
	if (o->n > COMPARE_RUNS)
		return err_set(err, -EINVAL, "%u runs: no more than %d can be compared", o->n,
			       COMPARE_RUNS);
	for (unsigned i = 0; i < o->n; i++)
		for (unsigned k = 0; k < i; k++)
			if (o->run[i] == o->run[k])
				return err_set(err, -EINVAL, "run %lld is named twice",
					       (long long)o->run[i]);
	for (unsigned i = 0; i < o->n; i++) {
		if (o->run[i] == o->baseline)
			*ret_baseline = i;
		else if (o->baseline && i + 1 == o->n && o->run[*ret_baseline] != o->baseline)
			return err_set(err, -EINVAL,
				       "run %lld is to be the baseline, and is not among those"
				       " compared",
				       (long long)o->baseline);
	}
	return 0;
}

/* What would make a comparison of numbers that are none. */
static int check_subject(struct comparison *c, const struct dataset *d, struct err *err)
{
	if (!strcmp(d->state, "running"))
		return err_set(err, -EINVAL,
			       "run %lld is still running: compare it when it has ended",
			       (long long)d->run_id);
	if (d->tampered && !c->doubted)
		return err_set(err, -EBADMSG,
			       "run %lld: its stored rows were changed after the run (%s); what"
			       " they say is no evidence (--allow-tampered compares all the same,"
			       " and says so on each sheet)",
			       (long long)d->run_id, d->tampered);
	c->simulated |= d->simulated;
	return 0;
}

static int load_subjects(struct comparison *c, const struct compare_options *o, struct err *err)
{
	c->run = arena_array(&c->arena, struct subject, o->n);
	for (unsigned i = 0; i < o->n; i++) {
		struct subject *s = &c->run[i];
		int rc = dataset_load(c->reader, o->run[i], &s->d, err);
		if (rc)
			return rc;
		c->n_runs++;
		rc = check_subject(c, &s->d, err);
		if (rc)
			return rc;
		subject_describe(c, s);
	}
	return 0;
}

static bool any_tampered(const struct comparison *c)
{
	for (unsigned i = 0; i < c->n_runs; i++)
		if (c->run[i].d.tampered)
			return true;
	return false;
}

int comparison_load(struct reader *r, const struct compare_options *o, struct comparison *ret,
		    struct err *err)
{
	unsigned baseline;

	*ret = (struct comparison){ .reader = r, .doubted = o->doubted };
	int rc = check_options(o, &baseline, err);
	if (!rc)
		rc = claims_read(o->claims, &ret->claims, err);
	if (!rc)
		rc = claims_tests(&ret->claims, r, err);
	if (!rc)
		rc = prices_read(o->prices, &ret->prices, err);
	if (!rc)
		rc = load_subjects(ret, o, err);
	if (rc)
		return rc;
	ret->doubted = any_tampered(ret);
	compare_group(ret, baseline);
	compare_gate(ret);
	compare_metrics(ret);
	rc = compare_weights(ret, err);
	if (rc)
		return rc;
	compare_score(ret);
	compare_remarks(ret);
	return 0;
}

void comparison_release(struct comparison *c)
{
	for (unsigned i = 0; i < c->n_runs; i++)
		dataset_release(&c->run[i].d);
	claims_release(&c->claims);
	prices_release(&c->prices);
	arena_release(&c->arena);
	*c = (struct comparison){ .n_runs = 0 };
}

double metric_delta(const struct comparison *c, const struct metric *m, unsigned candidate)
{
	const struct measured *base = &m->of[c->baseline], *v = &m->of[candidate];

	if (!base->reported || !v->reported || !(base->value > 0))
		return NAN;
	return v->value / base->value - 1;
}

double compare_shown(enum unit u, double base)
{
	return u == UNIT_NS ? base / 1e3 : u == UNIT_BYTES_PER_S ? base / 1e6 : base;
}

const char *compare_unit(enum unit u)
{
	return u == UNIT_NS ? "us" : u == UNIT_BYTES_PER_S ? "MB/s" : "IOPS";
}

enum numfmt compare_fmt(enum unit u)
{
	return u == UNIT_IOPS ? NUM_GROUP : NUM_GROUP1;
}

const char *candidate_head(struct arena *a, const struct candidate *c)
{
	return c->baseline ? arena_fmt(a, "%s (base)", c->label) : c->label;
}
