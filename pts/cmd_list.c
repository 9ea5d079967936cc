/* SPDX-License-Identifier: MIT */
/* pts list KIND: what there is, as a table or JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/embed.h"
#include "pts/base/table.h"
#include "pts/base/words.h"
#include "pts/cmd.h"
#include "pts/cmd_progress.h"
#include "pts/def.h"
#include "reports/report.h"
#include "replay/format.h"
#include "replay/streammap.h"
#include "schema/read.h"

/* ---- definitions ---- */

static const struct column test_columns[] = {
	{ "name", "TEST", COL_TEXT, NULL },   { "clause", "CLAUSE", COL_TEXT, NULL },
	{ "title", "TITLE", COL_TEXT, NULL }, { "source", "SOURCE", COL_TEXT, NULL },
	{ "formal", NULL, COL_BOOL, NULL },
};
static const struct column workload_columns[] = {
	{ "name", "WORKLOAD", COL_TEXT, NULL }, { "title", "TITLE", COL_TEXT, NULL },
	{ "origin", "ORIGIN", COL_TEXT, NULL }, { "source", "SOURCE", COL_TEXT, NULL },
	{ "formal", NULL, COL_BOOL, NULL },
};
static const struct column suite_columns[] = {
	{ "name", "SUITE", COL_TEXT, NULL },  { "tests", "TESTS", COL_WORDS, NULL },
	{ "title", "TITLE", COL_TEXT, NULL }, { "source", "SOURCE", COL_TEXT, NULL },
	{ "formal", NULL, COL_BOOL, NULL },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_row(struct table *t, const struct def_summary *s)
{
	table_text(t, s->name);
	table_text(t, strcmp(s->clause, "-") ? s->clause : NULL);
	table_text(t, s->title);
	table_text(t, s->source);
	table_int(t, s->formal);
	table_row(t);
}

static void workload_row(struct table *t, const struct def_summary *s)
{
	table_text(t, s->name);
	table_text(t, s->title);
	table_text(t, s->origin);
	table_text(t, s->source);
	table_int(t, s->formal);
	table_row(t);
}

static void suite_row(struct table *t, struct def_lib *lib, const struct def_summary *s)
{
	struct buf names = BUF_INIT;
	struct err err = { "" };
	const struct def **test;
	unsigned n = 0;

	if (def_resolve(lib, &s->name, 1, &test, &n, &err))
		n = 0;
	for (unsigned i = 0; i < n; i++)
		buf_fmt(&names, i ? " %s" : "%s", def_summary(test[i]).name);
	table_text(t, s->name);
	table_text(t, buf_cstr(&names));
	table_text(t, *s->title ? s->title : NULL);
	table_text(t, s->source);
	table_int(t, s->formal);
	table_row(t);
	buf_release(&names);
}

static struct table *list_defs(enum def_kind kind, struct def_lib *lib)
{
	struct table *t;

	if (kind == DEF_TEST)
		t = table_new(test_columns, COUNT(test_columns));
	else if (kind == DEF_WORKLOAD)
		t = table_new(workload_columns, COUNT(workload_columns));
	else
		t = table_new(suite_columns, COUNT(suite_columns));
	for (const struct def *d = def_next(lib, NULL); d; d = def_next(lib, d)) {
		struct def_summary s = def_summary(d);
		if (s.kind != kind)
			continue;
		if (kind == DEF_TEST)
			test_row(t, &s);
		else if (kind == DEF_WORKLOAD)
			workload_row(t, &s);
		else
			suite_row(t, lib, &s);
	}
	return t;
}

/* ---- runs ---- */

static const struct column run_columns[] = {
	{ "run_id", "RUN", COL_INT, NULL },
	{ "uuid", "UUID", COL_TEXT, NULL },
	{ "started_utc", "STARTED", COL_TEXT, NULL },
	{ "ended_utc", NULL, COL_TEXT, NULL },
	{ "dut", "DUT", COL_TEXT, NULL },
	{ "model", "MODEL", COL_TEXT, NULL },
	{ "serial", "SERIAL", COL_TEXT, NULL },
	{ "profile", "PROFILE", COL_TEXT, NULL },
	{ "quick", "QUICK", COL_BOOL, NULL },
	{ "tests", "TESTS", COL_WORDS, NULL },
	{ "state", "STATE", COL_TEXT, NULL },
	{ "deviations", "DEVIATIONS", COL_INT, NULL },
	{ "simulated", NULL, COL_BOOL, NULL },
};

static void run_row(struct table *t, struct rows *q, const char *db)
{
	for (unsigned i = 0; i < COUNT(run_columns); i++) {
		if (rows_is_null(q, (int)i))
			table_null(t);
		else if (!strcmp(run_columns[i].key, "state"))
			table_text(t, progress_state(db, rows_text(q, 1), rows_text(q, (int)i)));
		else if (run_columns[i].type == COL_TEXT || run_columns[i].type == COL_WORDS)
			table_text(t, rows_text(q, (int)i));
		else
			table_int(t, rows_int(q, (int)i));
	}
	table_row(t);
}

static int list_runs(const char *db, struct table **ret, struct err *err)
{
	static const char sql[] =
		"SELECT run_id, uuid, started_utc, ended_utc, dut, model, serial, profile, quick,"
		" (SELECT group_concat(test, ' ') FROM (SELECT test FROM v_test t"
		"  WHERE t.run_id = r.run_id AND NOT t.void ORDER BY t.ordinal)),"
		" state, deviations, simulated FROM v_run r ORDER BY run_id";
	struct reader *reader;

	int rc = read_open(db, &reader, err);
	if (rc)
		return rc;
	struct rows *q = read_rows(reader, err, sql, "");
	struct table *t = table_new(run_columns, COUNT(run_columns));
	while (q && rows_next(q) == 1)
		run_row(t, q, db);
	rc = q ? rows_close(q, err) : -EIO;
	read_close(reader);
	if (rc)
		table_free(t);
	else
		*ret = t;
	return rc;
}

/* ---- sheets, formats, captures ---- */

static const struct column name_columns[] = { { "name", "NAME", COL_TEXT, NULL } };

static struct table *list_names(const char *const *names)
{
	struct table *t = table_new(name_columns, COUNT(name_columns));

	for (; *names; names++) {
		table_text(t, *names);
		table_row(t);
	}
	return t;
}

static const struct column format_columns[] = { { "name", "FORMAT", COL_TEXT, NULL },
						{ "title", "TITLE", COL_TEXT, NULL } };

static struct table *list_formats(void)
{
	struct table *t = table_new(format_columns, COUNT(format_columns));

	for (unsigned i = 0; trace_formats[i]; i++) {
		table_text(t, trace_formats[i]->name);
		table_text(t, trace_formats[i]->title);
		table_row(t);
	}
	return t;
}

static const struct column capture_columns[] = { { "name", "CAPTURE", COL_TEXT, NULL },
						 { "title", "TITLE", COL_TEXT, NULL },
						 { "streams", "STREAMS", COL_INT, NULL },
						 { "steps", "STEPS", COL_INT, NULL },
						 { "source", "SOURCE", COL_TEXT, NULL } };

/* The stream maps that pts brings along. */
static int list_captures(struct table **ret, struct err *err)
{
	struct table *t = table_new(capture_columns, COUNT(capture_columns));
	int rc = 0;

	for (const struct embed *e = embed_maps; e->name && !rc; e++) {
		struct streammap m;
		char name[64];

		rc = streammap_parse(e->name, e->data, e->len, &m, err);
		if (rc)
			break;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(e->name, "."), e->name);
		table_text(t, name);
		table_text(t, m.name);
		table_int(t, m.a.n_streams);
		table_int(t, m.a.n_steps);
		table_text(t, m.source);
		table_row(t);
		streammap_release(&m);
	}
	if (rc)
		table_free(t);
	else
		*ret = t;
	return rc;
}

/* ---- the command ---- */

static void print_list(const struct opts *o, const char *kind, const struct table *t,
		       struct buf *out)
{
	struct json j = JSON_INIT(out);

	if (!o->json) {
		table_print(t, out);
		return;
	}
	json_object(&j, NULL);
	json_str(&j, "schema", "pts.list/1");
	table_json(t, &j, kind);
	json_end_object(&j);
	buf_str(out, "\n");
}

static int make_list(const struct opts *o, unsigned kind, struct def_lib *lib, struct table **ret,
		     struct err *err)
{
	if (kind <= DEF_SUITE) {
		int rc = def_lib_load(lib, getenv("PTS_DEF_PATH"), err);
		if (!rc)
			*ret = list_defs((enum def_kind)kind, lib);
		return rc;
	}
	if (kind == 5)
		return list_runs(o->db, ret, err);
	if (kind == 6)
		return list_captures(ret, err);
	*ret = kind == 3 ? list_formats() : list_names(report_sheets());
	return 0;
}

int cmd_list(const struct opts *o)
{
	static const char *const kinds[] = { "tests",  "workloads", "suites",	"formats",
					     "sheets", "runs",	    "captures", NULL };
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct def_lib lib = { .arena = ARENA_INIT };
	struct table *t = NULL;
	unsigned kind = 0;

	if (o->arg.n != 1)
		return cmd_usage(
			o,
			"list what? tests, workloads, suites, formats, sheets, runs or captures");
	while (kinds[kind] && strcmp(kinds[kind], o->arg.v[0]))
		kind++;
	if (!kinds[kind]) {
		const char *near = nearest_word(o->arg.v[0], kinds);
		return near ? cmd_usage(o, "unknown list '%s' (did you mean '%s'?)", o->arg.v[0],
					near)
			    : cmd_usage(o, "unknown list '%s'", o->arg.v[0]);
	}
	int rc = make_list(o, kind, &lib, &t, &err);
	if (rc) {
		rc = cmd_fail(o, exit_of(rc), &err);
	} else {
		print_list(o, kinds[kind], t, &out);
		rc = cmd_out(o, &out, EXIT_GOOD);
		table_free(t);
	}
	def_lib_release(&lib);
	buf_release(&out);
	return rc;
}
