/* SPDX-License-Identifier: MIT */
/* pts plan: a dry run. Every step, how long, how much is written, what would be recorded as deviation. Writes nothing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/cmd_env.h"

/* What an unknown drive is taken to do; said beside every figure that hangs on it. */
#define FILL_GUESS 500e6 /* bytes/s */
#define WRITE_GUESS 50e3 /* IOPS */

struct dry {
	const struct opts *o;
	struct cmd_env env;
	struct dut_info info;
	double rated_tbw_bytes; /* 0 unknown */
	struct plan_cost all;
	struct buf text;
	struct json j;
};

/* ---- rated endurance of --info ---- */

static int take_rated(void *arg, const char *section, const char *key, const char *value,
		      unsigned line)
{
	char num[32], *blank;
	double v;
	double *ret = arg;

	(void)section;
	(void)line;
	if (strcmp(key, "rated_tbw"))
		return 0;
	snprintf(num, sizeof num, "%s", value);
	blank = strpbrk(num, " \tTP");
	bool peta = strchr(value, 'P');
	if (blank)
		*blank = 0;
	if (parse_number(num, &v) || v <= 0)
		return -EINVAL;
	*ret = v * (peta ? 1e15 : 1e12);
	return 0;
}

static int rated_of_info(const struct opts *o, double *ret, struct err *err)
{
	struct buf b = BUF_INIT;

	if (!o->info)
		return 0;
	int rc = buf_read_file(&b, o->info, 1 << 20);
	if (rc)
		err_set(err, rc, "--info %s: %s", o->info, strerror(-rc));
	else
		rc = ini_read(o->info, buf_cstr(&b), b.len, take_rated, ret, err);
	buf_release(&b);
	if (rc)
		return err_set(err, -EINVAL, "--info %s: rated_tbw is a number of TB, or '3.5 PB'",
			       o->info);
	return 0;
}

/* ---- text ---- */

static const char *drive_writes(const struct dry *d, uint64_t bytes, char out[160])
{
	char cap[32];
	int n = snprintf(out, 160, "%s (%.2f drive writes", fmt_capacity(cap, sizeof cap, bytes),
			 (double)bytes / (double)d->info.capacity_bytes);

	double pct = d->rated_tbw_bytes > 0 ? (double)bytes / d->rated_tbw_bytes * 100 : 0;

	if (pct >= 0.01)
		snprintf(out + n, 160 - (size_t)n, ", %.2f %% of the rated endurance)", pct);
	else if (d->rated_tbw_bytes > 0)
		snprintf(out + n, 160 - (size_t)n, ", under 0.01 %% of the rated endurance)");
	else
		snprintf(out + n, 160 - (size_t)n, ")");
	return out;
}

static uint64_t fill_bytes(const struct plan *p)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < p->n; i++)
		sum += p->step[i].op == STEP_FILL && !p->step[i].na ? p->step[i].bytes : 0;
	return sum;
}

static void cost_text(struct dry *d, const struct plan_cost *c)
{
	char a[64], b[64], w[160];

	buf_fmt(&d->text, "duration  %s to %s (fills taken at %.0f MB/s)\n",
		fmt_span(a, sizeof a, c->min_ns), fmt_span(b, sizeof b, c->max_ns),
		FILL_GUESS / 1e6);
	buf_fmt(&d->text, "cells     %u to %u\n", c->cells_min, c->cells_max);
	buf_fmt(&d->text, "written   about %s", drive_writes(d, c->min_bytes, w));
	if (c->max_bytes != c->min_bytes)
		buf_fmt(&d->text, " if steady at once, about %s if never",
			drive_writes(d, c->max_bytes, w));
	buf_fmt(&d->text, "; guessed: cells write at %.0f IOPS, none above %.0f MB/s\n",
		WRITE_GUESS, FILL_GUESS / 1e6);
}

static void head_text(struct dry *d)
{
	char cap[32];

	buf_fmt(&d->text, "dut       %s%s%s, %s, LBA %u%s\n", d->info.name,
		*d->info.model ? ", " : "", d->info.model,
		fmt_capacity(cap, sizeof cap, d->info.capacity_bytes), d->info.lba_bytes,
		d->info.simulated ? ", SIMULATED" : "");
	buf_fmt(&d->text, "profile   %s%s, definition set %d\n",
		d->env.env.profile == PROFILE_CLIENT ? "client" : "enterprise",
		d->env.env.quick ? ", quick" : "", d->env.lib.set);
}

/* What is known now of what a run would be recorded with, beside the deviations of its plans. */
static const char *dut_deviation(const struct dut_info *info)
{
	if (info->simulated)
		return "SIMULATED: a model, no drive was measured";
	if (!info->formal)
		return info->kind == DUT_FILE ? "the target is a file, not a drive"
					      : "the target is not a whole drive";
	return NULL;
}

static void plan_print(struct dry *d, const struct plan *p, const struct plan_cost *c)
{
	char w[160];

	buf_str(&d->text, "\n");
	plan_text(p, &d->text);
	buf_fmt(&d->text, "fills     %s\n", drive_writes(d, fill_bytes(p), w));
	cost_text(d, c);
	if (!p->n_deviations)
		buf_str(&d->text, "deviations of this test: none\n");
}

static void total_print(struct dry *d)
{
	const char *dev = dut_deviation(&d->info);

	buf_fmt(&d->text, "\nall       %u test%s\n", d->env.n_tests,
		d->env.n_tests == 1 ? "" : "s");
	cost_text(d, &d->all);
	if (dev)
		buf_fmt(&d->text, "deviation -: %s\n", dev);
}

/* ---- JSON ---- */

static void cost_json(struct dry *d, const struct plan_cost *c)
{
	struct json *j = &d->j;

	json_uint(j, "duration_min_ns", c->min_ns);
	json_uint(j, "duration_max_ns", c->max_ns);
	json_uint(j, "cells_min", c->cells_min);
	json_uint(j, "cells_max", c->cells_max);
	json_uint(j, "written_min_bytes", c->min_bytes);
	json_uint(j, "written_max_bytes", c->max_bytes);
	json_num(j, "drive_writes_min", (double)c->min_bytes / (double)d->info.capacity_bytes);
	json_num(j, "drive_writes_max", (double)c->max_bytes / (double)d->info.capacity_bytes);
	if (d->rated_tbw_bytes > 0)
		json_num(j, "rated_tbw_max_pct", (double)c->max_bytes / d->rated_tbw_bytes * 100);
	else
		json_null(j, "rated_tbw_max_pct");
}

static void deviation_json(struct json *j, const char *clause, const char *text)
{
	json_object(j, NULL);
	json_str(j, "clause", clause);
	json_str(j, "text", text);
	json_end_object(j);
}

static void uint_or_null(struct json *j, const char *key, uint64_t v)
{
	if (v)
		json_uint(j, key, v);
	else
		json_null(j, key);
}

static void step_json(struct json *j, const struct plan *p, unsigned i)
{
	static const char *const ops[] = { "purge", "fill",  "run",    "replay", "idle", "loop",
					   "check", "until", "repeat", "again",	 "pick", "end" };
	const struct step *s = &p->step[i];
	struct buf b = BUF_INIT;
	bool cell = s->op == STEP_RUN || s->op == STEP_FILL;

	step_text(p, i, &b);
	json_object(j, NULL);
	json_uint(j, "step", i);
	json_str(j, "op", ops[s->op]);
	json_str(j, "text", buf_cstr(&b));
	json_uint(j, "section", s->section);
	json_str(j, "phase", s->phase);
	json_str(j, "label", *s->label ? s->label : NULL);
	json_str(j, "na", s->na);
	json_str(j, "access", s->access ? s->access->name : NULL);
	json_num(j, "read_pct", s->read_pct);
	uint_or_null(j, "block_bytes", s->block_bytes);
	uint_or_null(j, "threads", cell && !s->threads.point ? (uint64_t)s->threads.k : 0);
	uint_or_null(j, "qd", cell && !s->qd.point ? (uint64_t)s->qd.k : 0);
	json_str(j, "point", s->at ? s->at : s->point);
	uint_or_null(j, "time_ns", s->time_ns);
	uint_or_null(j, "every_ns", s->every_ns);
	uint_or_null(j, "fill_bytes", s->bytes);
	json_end_object(j);
	buf_release(&b);
}

static void plan_json(struct dry *d, const struct plan *p, const struct plan_cost *c)
{
	struct json *j = &d->j;

	json_object(j, NULL);
	json_str(j, "test", p->name);
	json_str(j, "title", p->title);
	json_str(j, "clause", p->clause);
	json_bool(j, "formal", p->formal);
	json_raw(j, "params", p->params);
	json_uint(j, "range_bytes", p->range.bytes);
	json_uint(j, "sections", p->n_sections);
	json_uint(j, "fill_bytes", fill_bytes(p));
	cost_json(d, c);
	json_array(j, "deviations");
	for (unsigned i = 0; i < p->n_deviations; i++)
		deviation_json(j, p->deviation[i].clause, p->deviation[i].text);
	json_end_array(j);
	json_array(j, "steps");
	for (unsigned i = 0; i < p->n; i++)
		step_json(j, p, i);
	json_end_array(j);
	json_end_object(j);
}

static void head_json(struct dry *d)
{
	struct json *j = &d->j;
	const char *dev = dut_deviation(&d->info);

	json_object(j, NULL);
	json_str(j, "schema", "pts.plan/1");
	json_str(j, "dut", d->info.name);
	json_str(j, "model", *d->info.model ? d->info.model : NULL);
	json_uint(j, "capacity_bytes", d->info.capacity_bytes);
	json_uint(j, "lba_bytes", d->info.lba_bytes);
	json_bool(j, "simulated", d->info.simulated);
	json_str(j, "profile", d->env.env.profile == PROFILE_CLIENT ? "client" : "enterprise");
	json_bool(j, "quick", d->env.env.quick);
	json_int(j, "definition_set", d->env.lib.set);
	json_num(j, "fill_guess_bytes_per_s", FILL_GUESS);
	json_num(j, "write_guess_iops", WRITE_GUESS);
	json_num(j, "write_guess_max_bytes_per_s", FILL_GUESS);
	json_array(j, "deviations");
	if (dev)
		deviation_json(j, "-", dev);
	json_end_array(j);
	json_array(j, "tests");
}

/* ---- the command ---- */

static void add_cost(struct plan_cost *all, const struct plan_cost *c)
{
	all->min_ns += c->min_ns;
	all->max_ns += c->max_ns;
	all->min_bytes += c->min_bytes;
	all->max_bytes += c->max_bytes;
	all->cells_min += c->cells_min;
	all->cells_max += c->cells_max;
}

static int plan_one(struct dry *d, const struct def *test, struct err *err)
{
	struct plan_cost c;
	struct plan p;

	int rc = plan_compile(&d->env.lib, test, &d->env.env, &p, err);
	if (rc)
		return rc;
	plan_cost(&p, FILL_GUESS, WRITE_GUESS, &c);
	add_cost(&d->all, &c);
	if (d->o->json)
		plan_json(d, &p, &c);
	else
		plan_print(d, &p, &c);
	plan_release(&p);
	return 0;
}

static int read_facts(struct dry *d, struct err *err)
{
	struct dut_options opt = { .seed = d->env.env.seed };
	struct dut *dut;

	int rc = dut_open(d->o->dut.v[0], DUT_READ, &opt, &dut, err);
	if (rc)
		return rc;
	d->info = dut->info;
	dut_close(dut);
	d->rated_tbw_bytes = d->info.rated_tbw_bytes;
	return rated_of_info(d->o, &d->rated_tbw_bytes, err);
}

static int plan_all(struct dry *d, struct err *err)
{
	int rc = read_facts(d, err);

	if (!rc)
		rc = cmd_env_build(d->o, &d->info, &d->env, err);
	if (rc)
		return rc;
	if (d->o->json)
		head_json(d);
	else
		head_text(d);
	for (unsigned i = 0; i < d->env.n_tests && !rc; i++)
		rc = plan_one(d, d->env.test[i], err);
	if (rc || !d->o->json) {
		if (!rc)
			total_print(d);
		return rc;
	}
	json_end_array(&d->j);
	cost_json(d, &d->all);
	json_end_object(&d->j);
	buf_str(&d->text, "\n");
	return 0;
}

int cmd_plan(const struct opts *o)
{
	struct err err = { "" };
	struct dry d = { .o = o, .text = BUF_INIT };

	d.j = (struct json)JSON_INIT(&d.text);
	if (!o->arg.n)
		return cmd_usage(o, "which TEST or SUITE? (pts list tests, pts list suites)");
	if (o->dut.n != 1)
		return cmd_usage(o, "one --dut DUT is wanted: %s",
				 o->dut.n ? "plan them one by one" : "none is given");
	int rc = cmd_env_load(o, o->arg.v, o->arg.n, &d.env, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = plan_all(&d, &err);
	rc = rc ? cmd_fail(o, exit_of(rc), &err) : cmd_out(o, &d.text, EXIT_GOOD);
	buf_release(&d.text);
	cmd_env_release(&d.env);
	return rc;
}
