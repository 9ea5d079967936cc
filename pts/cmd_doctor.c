/* SPDX-License-Identifier: MIT */
/* pts doctor: is this host fit for a formal run, and what to change. Reads only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pts/base/table.h"
#include "pts/cmd.h"
#include "pts/doctor.h"
#include "pts/left.h"

static const struct column columns[] = {
	{ "check", "CHECK", COL_TEXT, NULL },
	{ "verdict", "VERDICT", COL_TEXT, NULL },
	{ "found", "FOUND", COL_TEXT, NULL },
	{ "advice", "CHANGE", COL_TEXT, NULL },
};

struct patient {
	struct doctor_target target;
	struct dut_info info;
	struct dut_name name;
	struct health health;
};

/* A drive that we may not open is looked at from outside. */
static int look_at(const char *dut, struct patient *ret, struct err *err)
{
	struct dut_options opt = { .seed = 0 };
	struct err denied = { "" };
	struct dut *d = NULL;
	int rc = dut_name_parse(dut, &ret->name, err);

	if (!rc && ret->name.kind == DUT_SET)
		rc = err_set(err, -EINVAL, "looks at one drive at a time, not at a set");
	if (rc)
		return rc;
	ret->target = (struct doctor_target){ .dut = dut,
					      .path = ret->name.kind == DUT_SIM ? ""
										: ret->name.path };
	rc = dut_open(dut, DUT_READ, &opt, &d, &denied);
	if (rc == -EACCES || rc == -EPERM)
		return 0;
	if (rc)
		return err_set(err, rc, "%s", denied.msg);
	ret->info = d->info;
	ret->target.info = &ret->info;
	if (d->ops->health && !d->ops->health(d, &ret->health, &denied))
		ret->target.health = &ret->health;
	dut_close(d);
	ret->target.nowait = doctor_nowait_probe(&ret->info);
	return 0;
}

static struct table *table_of(const struct doctor *doc)
{
	struct table *t = table_new(columns, sizeof columns / sizeof *columns);

	for (unsigned i = 0; i < doc->n; i++) {
		const struct doctor_check *c = &doc->check[i];

		table_text(t, c->check);
		table_text(t, doctor_verdict_name(c->verdict));
		table_text(t, c->found);
		table_text(t, c->advice);
		table_row(t);
	}
	return t;
}

static void conclude(const struct doctor *doc, struct buf *out)
{
	unsigned count[DOCTOR_UNKNOWN + 1] = { 0 };

	for (unsigned i = 0; i < doc->n; i++)
		count[doc->check[i].verdict]++;
	buf_fmt(out, "%s for a formal run: %u ok, %u warn, %u bad, %u unknown\n",
		doc->fit ? "fit" : "not fit", count[DOCTOR_OK], count[DOCTOR_WARN],
		count[DOCTOR_BAD], count[DOCTOR_UNKNOWN]);
}

static void print(const struct opts *o, const struct doctor *doc, struct buf *out)
{
	struct table *t = table_of(doc);
	struct json j = JSON_INIT(out);

	if (o->json) {
		json_object(&j, NULL);
		json_str(&j, "schema", "pts.doctor/1");
		table_json(t, &j, "checks");
		json_bool(&j, "fit", doc->fit);
		json_end_object(&j);
		buf_str(out, "\n");
	} else {
		table_print(t, out);
		conclude(doc, out);
	}
	table_free(t);
}

/* What crashed purges left, of the target or, without one, of all drives. */
static void add_left(struct arena *a, const struct opts *o, const struct patient *p,
		     struct doctor *doc)
{
	struct left *l = calloc(LEFT_MAX, sizeof *l);
	unsigned n;

	BUG_ON(!l);
	n = left_list(o->db, l);
	for (unsigned i = 0; i < n && doc->n < DOCTOR_CHECKS_MAX; i++) {
		if (o->dut.n && !(p->target.info && left_is_of(&l[i], &p->info)))
			continue;
		doc->check[doc->n++] = (struct doctor_check){
			"unfinished-purge", DOCTOR_BAD,
			arena_fmt(a, "%s, serial %s, since %s: %s", l[i].path,
				  l[i].serial[0] ? l[i].serial : "none", l[i].utc, l[i].detail),
			arena_fmt(a, "pts purge --recover --dut %s --destroy '%s'", l[i].path,
				  l[i].serial[0] ? l[i].serial : l[i].path)
		};
		doc->fit = false;
	}
	free(l);
}

int cmd_doctor(const struct opts *o)
{
	struct arena a = ARENA_INIT;
	struct buf out = BUF_INIT;
	struct err err = { "" };
	struct patient p = { 0 };
	struct doctor_live live;
	struct doctor_conf conf = { "", o->db, &live, o->dut.n ? &p.target : NULL };
	struct doctor doc;
	int rc;

	if (o->dut.n > 1)
		return cmd_usage(o, "looks at one --dut at a time, not %u", o->dut.n);
	if (o->dut.n) {
		rc = look_at(o->dut.v[0], &p, &err);
		if (rc)
			return cmd_fail(o, exit_of(rc), &err);
	}
	doctor_measure(&live);
	doctor_examine(&a, &conf, &doc);
	add_left(&a, o, &p, &doc);
	print(o, &doc, &out);
	rc = cmd_out(o, &out, doc.fit ? EXIT_GOOD : EXIT_BAD);
	buf_release(&out);
	arena_release(&a);
	return rc;
}
