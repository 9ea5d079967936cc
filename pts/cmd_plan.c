/* SPDX-License-Identifier: MIT */
/* pts plan: a dry run. Every step, how long, how much is written, what would be recorded as deviation. Writes nothing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/cmd_env.h"
#include "pts/cmd_info.h"
#include "pts/cmd_targets.h"

struct dry {
	const struct opts *o;
	const char *dut; /* as the user named it */
	struct cmd_env env;
	struct dut_info info;
	struct targets targets;
	double told_tbw_bytes; /* by --info; 0 not given */
	double rated_tbw_bytes; /* 0 unknown */
	struct plan_speed speed; /* said beside every figure that hangs on it */
	struct plan_cost all;
	struct buf text;
	struct json j;
};

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

static void cost_text(struct dry *d, const struct plan_cost *c)
{
	const struct plan_speed *s = &d->speed;
	char a[64], b[64], w[160];

	buf_fmt(&d->text, "duration  %s to %s", fmt_span(a, sizeof a, c->min_ns),
		fmt_span(b, sizeof b, c->max_ns));
	if (s->slow_fill_bytes_per_s < s->write_bytes_per_s)
		buf_fmt(&d->text, " (fills taken at %.0f to %.0f MB/s)\n",
			s->slow_fill_bytes_per_s / 1e6, s->write_bytes_per_s / 1e6);
	else
		buf_fmt(&d->text, " (fills taken at %.0f MB/s)\n", s->write_bytes_per_s / 1e6);
	buf_fmt(&d->text, "cells     %u to %u\n", c->cells_min, c->cells_max);
	buf_fmt(&d->text, "fills     %s, exactly\n", drive_writes(d, c->fill_bytes, w));
	buf_fmt(&d->text, "written   about %s", drive_writes(d, c->min_bytes, w));
	if (c->max_bytes != c->min_bytes)
		buf_fmt(&d->text, " if steady at once, about %s if never",
			drive_writes(d, c->max_bytes, w));
	if (c->max_bytes != c->fill_bytes)
		buf_fmt(&d->text,
			";\n          estimate at %.0f MB/s, small writes at %.0f IOPS (%s); a "
			"faster"
			" drive writes more",
			s->write_bytes_per_s / 1e6, s->write_iops, s->basis);
	buf_str(&d->text, "\n");
}

static void capture_text(struct dry *d, const struct capture_about *b)
{
	const struct capture_facts *f = capture_facts(d->env.capture);
	char t[32];

	buf_fmt(&d->text, "capture   %s (%s), ", b->name, b->format);
	if (b->ios)
		buf_fmt(&d->text, "%llu IOs of ", (unsigned long long)b->ios);
	buf_fmt(&d->text, "%u streams, SEQ %s; %u steps in %s, QD ", b->n_streams, b->seq_rule,
		f->n_steps, fmt_span(t, sizeof t, b->duration_ns));
	if (f->qd_avg > 0)
		buf_fmt(&d->text, "%.2f on average, %g at most\n", f->qd_avg, b->qd_max);
	else
		buf_str(&d->text, "not known\n");
}

static void head_text(struct dry *d)
{
	char cap[32];

	buf_fmt(&d->text, "dut       %s%s%s, %s, LBA %u%s\n", d->info.name,
		*d->info.model ? ", " : "", d->info.model,
		fmt_capacity(cap, sizeof cap, d->info.capacity_bytes), d->info.lba_bytes,
		d->info.simulated ? ", SIMULATED" : "");
	for (unsigned i = 0; i < d->info.members; i++) {
		const struct dut_info *m = &d->targets.info[i];

		buf_fmt(&d->text, "member %-2u %s%s%s, %s, LBA %u\n", i + 1, d->targets.name.v[i],
			*m->model ? ", " : "", m->model,
			fmt_capacity(cap, sizeof cap, m->capacity_bytes), m->lba_bytes);
	}
	if (d->env.capture)
		capture_text(d, capture_about(d->env.capture));
	buf_fmt(&d->text, "profile   %s%s, definition set %d\n",
		d->env.env.profile == PROFILE_CLIENT ? "client" : "enterprise",
		d->env.env.quick ? ", quick" : "", d->env.lib.set);
}

static void plan_print(struct dry *d, const struct plan *p, const struct plan_cost *c)
{
	buf_str(&d->text, "\n");
	plan_text(p, &d->text);
	cost_text(d, c);
	if (!p->n_deviations)
		buf_str(&d->text, "deviations of this test: none\n");
}

static void total_print(struct dry *d)
{
	const char *list[TARGETS_DEVIATIONS];
	unsigned n = targets_deviations(&d->targets, &d->info, list);

	buf_fmt(&d->text, "\nall       %u test%s\n", d->env.n_tests,
		d->env.n_tests == 1 ? "" : "s");
	cost_text(d, &d->all);
	for (unsigned i = 0; i < n; i++)
		buf_fmt(&d->text, "deviation -: %s\n", list[i]);
}

/* ---- JSON ---- */

static void cost_json(struct dry *d, const struct plan_cost *c)
{
	struct json *j = &d->j;

	json_uint(j, "duration_min_ns", c->min_ns);
	json_uint(j, "duration_max_ns", c->max_ns);
	json_uint(j, "cells_min", c->cells_min);
	json_uint(j, "cells_max", c->cells_max);
	json_uint(j, "fill_bytes", c->fill_bytes);
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

/* null: not a set. */
static void members_json(struct dry *d)
{
	struct json *j = &d->j;

	if (!d->info.members) {
		json_null(j, "members");
		return;
	}
	json_array(j, "members");
	for (unsigned i = 0; i < d->info.members; i++) {
		const struct dut_info *m = &d->targets.info[i];

		json_object(j, NULL);
		json_uint(j, "member", i + 1);
		json_str(j, "dut", d->targets.name.v[i]);
		json_str(j, "model", *m->model ? m->model : NULL);
		json_uint(j, "capacity_bytes", m->capacity_bytes);
		json_uint(j, "lba_bytes", m->lba_bytes);
		json_end_object(j);
	}
	json_end_array(j);
}

/* null: no --capture. */
static void capture_json(struct dry *d)
{
	struct json *j = &d->j;
	const struct capture_about *b;
	const struct capture_facts *f;

	if (!d->env.capture) {
		json_null(j, "capture");
		return;
	}
	b = capture_about(d->env.capture);
	f = capture_facts(d->env.capture);
	json_object(j, "capture");
	json_str(j, "name", b->name);
	json_str(j, "format", b->format);
	json_str(j, "sha256", d->env.capture_sha256);
	uint_or_null(j, "ios", b->ios);
	json_uint(j, "duration_ns", b->duration_ns);
	json_str(j, "seq_rule", b->seq_rule);
	json_uint(j, "stream_count", b->n_streams);
	json_uint(j, "step_ns", b->step_ns);
	json_uint(j, "steps", f->n_steps);
	json_num(j, "qd_avg", f->qd_avg > 0 ? f->qd_avg : NAN);
	json_num(j, "qd_max", f->qd_avg > 0 ? b->qd_max : NAN);
	json_end_object(j);
}

static void head_json(struct dry *d)
{
	struct json *j = &d->j;
	const char *list[TARGETS_DEVIATIONS];
	unsigned n = targets_deviations(&d->targets, &d->info, list);

	if (d->o->dut.n > 1)
		json_object(j, NULL);
	json_str(j, "dut", d->info.name);
	json_str(j, "model", *d->info.model ? d->info.model : NULL);
	json_uint(j, "capacity_bytes", d->info.capacity_bytes);
	json_uint(j, "lba_bytes", d->info.lba_bytes);
	json_bool(j, "simulated", d->info.simulated);
	members_json(d);
	capture_json(d);
	json_str(j, "profile", d->env.env.profile == PROFILE_CLIENT ? "client" : "enterprise");
	json_bool(j, "quick", d->env.env.quick);
	json_int(j, "definition_set", d->env.lib.set);
	json_num(j, "fill_guess_bytes_per_s", d->speed.slow_fill_bytes_per_s);
	json_num(j, "write_guess_iops", d->speed.write_iops);
	json_num(j, "write_guess_max_bytes_per_s", d->speed.write_bytes_per_s);
	json_str(j, "write_guess_basis", d->speed.basis);
	json_array(j, "deviations");
	for (unsigned i = 0; i < n; i++)
		deviation_json(j, "-", list[i]);
	json_end_array(j);
	json_array(j, "tests");
}

/* ---- the command ---- */

static void add_cost(struct plan_cost *all, const struct plan_cost *c)
{
	all->min_ns += c->min_ns;
	all->max_ns += c->max_ns;
	all->fill_bytes += c->fill_bytes;
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
	plan_cost(&p, &d->speed, &c);
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

	int rc = dut_open(d->dut, DUT_READ, &opt, &dut, err);
	if (rc)
		return rc;
	d->info = dut->info;
	plan_speed_of(&d->info, &d->speed);
	targets_release(&d->targets);
	targets_take(&d->targets, d->dut, dut);
	dut_close(dut);
	d->rated_tbw_bytes = d->told_tbw_bytes > 0 ? d->told_tbw_bytes : d->info.rated_tbw_bytes;
	return 0;
}

static int plan_drive(struct dry *d, struct err *err)
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
	if (d->o->dut.n > 1)
		json_end_object(&d->j);
	return 0;
}

/* One document: of one drive its fields, of several an array "plans" of them. */
static int plan_drives(struct dry *d, struct err *err)
{
	const struct opts *o = d->o;
	int rc = 0;

	if (o->json) {
		json_object(&d->j, NULL);
		json_str(&d->j, "schema", "pts.plan/1");
	}
	if (o->json && o->dut.n > 1)
		json_array(&d->j, "plans");
	for (unsigned i = 0; !rc && i < o->dut.n; i++) {
		d->dut = o->dut.v[i];
		d->all = (struct plan_cost){ .min_ns = 0 };
		if (i && !o->json)
			buf_str(&d->text, "\n");
		rc = plan_drive(d, err);
	}
	if (rc || !o->json)
		return rc;
	if (o->dut.n > 1)
		json_end_array(&d->j);
	json_end_object(&d->j);
	buf_str(&d->text, "\n");
	return 0;
}

static int plan_all(struct dry *d, struct err *err)
{
	struct info info;
	int rc = info_read(d->o->info, &info, err);

	d->told_tbw_bytes = info.rated_tbw_bytes;
	info_release(&info);
	return rc ? rc : plan_drives(d, err);
}

int cmd_plan(const struct opts *o)
{
	struct err err = { "" };
	struct dry d = { .o = o, .text = BUF_INIT };

	d.j = (struct json)JSON_INIT(&d.text);
	if (!o->arg.n)
		return cmd_usage(o, "which TEST or SUITE? (pts list tests, pts list suites)");
	if (!o->dut.n)
		return cmd_usage(o, "on which target? --dut names it (pts devices)");
	if (cmd_env_contradictions(o))
		return EXIT_USAGE;
	int rc = cmd_env_load(o, o->arg.v, o->arg.n, &d.env, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = plan_all(&d, &err);
	rc = rc ? cmd_fail(o, exit_of(rc), &err) : cmd_out(o, &d.text, EXIT_GOOD);
	buf_release(&d.text);
	targets_release(&d.targets);
	cmd_env_release(&d.env);
	return rc;
}
