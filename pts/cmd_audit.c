/* SPDX-License-Identifier: MIT */
/* pts audit: the evidence of a run worked out again from its rows, and each clause of the PTS judged by them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/cmd.h"
#include "pts/cmd_audit.h"

#define HEAD_MIN 16 /* digits of a head that are enough */
#define WIDTH 100
#define INDENT 14
#define RANGES_SHOWN 6

/* ---- the evidence ---- */

/* Lines of the chain's check; "run N: " before them says nothing here. */
static void take_faults(struct audit *a, const char *text)
{
	char prefix[32];
	struct buf b = BUF_INIT;

	buf_fmt(&b, "run %" PRId64 ": ", a->run);
	prefix[0] = 0;
	strncat(prefix, buf_cstr(&b), sizeof prefix - 1);
	buf_release(&b);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n"),
		       skip = strncmp(p, prefix, strlen(prefix)) ? 0 : strlen(prefix);
		char *line = arena_strndup(&a->arena, p + skip, n - skip),
		     *colon = strstr(line, ": ");

		if (colon) {
			*colon = 0;
			audit_fault(a, line, "%s", colon + 2);
		} else {
			audit_fault(a, "evidence", "%s", line);
		}
		p += n + (p[n] == '\n');
	}
}

static int check_chain(struct audit *a)
{
	struct buf faults = BUF_INIT;
	int rc = read_check_evidence(a->rd, a->run, &faults, a->err);

	take_faults(a, buf_cstr(&faults));
	buf_release(&faults);
	return rc;
}

/* Where in the chain the head is that was given; 0 nowhere. */
static int find_head(struct audit *a, const char *head)
{
	struct rows *q = read_rows(
		a->rd, a->err,
		"SELECT n FROM chain WHERE run_id = ?1 AND substr(hash, 1, length(?2)) = "
		"lower(?2) ORDER BY n DESC LIMIT 1",
		"it", a->run, head);

	if (!q)
		return -EIO;
	if (rows_next(q) == 1)
		a->head_at = rows_int(q, 0);
	if (!a->head_at)
		audit_fault(
			a, "chain",
			"no entry of it has the head %s that was given: it was rebuilt, or is of "
			"another run",
			head);
	return rows_close(q, a->err);
}

/* Every attempt, also those that were given up: their rows are evidence as well. */
static void walk_all(struct audit *a)
{
	for (unsigned t = 0; t < a->n_tests; t++) {
		struct atest *test = &a->test[t];
		int last = 0;

		for (unsigned i = 0; i < a->n_sections && test->planned; i++) {
			const struct asection *s = &a->section[i];

			if (strcmp(s->test, test->name) || s->attempt == last)
				continue;
			last = s->attempt;
			audit_walk(a, test, last);
		}
	}
}

/* Rows that cannot be read are faults of the evidence, not errors of ours. */
static int unreadable(struct audit *a, int rc)
{
	if (rc != -EIO && rc != -EINVAL)
		return rc;
	audit_fault(a, "evidence", "reading stopped: %s", a->err->msg);
	a->err->msg[0] = 0;
	return 0;
}

static int work(struct audit *a, const char *head)
{
	int rc = check_chain(a);

	if (!rc && head)
		rc = find_head(a, head);
	if (!rc)
		rc = audit_load(a);
	if (!rc)
		rc = audit_cells(a);
	if (!rc)
		walk_all(a);
	return rc ? unreadable(a, rc) : audit_judge(a);
}

/* ---- rows as ranges ---- */

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static unsigned range_end(const struct row_list *l, unsigned i)
{
	while (i + 1 < l->n && l->id[i + 1] <= l->id[i] + 1)
		i++;
	return i;
}

static void rows_text_of(const char *name, const struct row_list *l, struct buf *out)
{
	unsigned ranges = 0;

	if (!l->n)
		return;
	if (out->len)
		buf_str(out, "; ");
	buf_fmt(out, "%s%s ", name, l->n > 1 ? "s" : "");
	for (unsigned i = 0, end; i < l->n; i = end + 1, ranges++) {
		end = range_end(l, i);
		if (ranges == RANGES_SHOWN) {
			buf_fmt(out, " ... (%u)", l->n);
			return;
		}
		buf_fmt(out, "%s%" PRId64, ranges ? ", " : "", l->id[i]);
		if (l->id[end] != l->id[i])
			buf_fmt(out, "-%" PRId64, l->id[end]);
	}
}

static void rows_json(const char *name, const struct row_list *l, struct json *j)
{
	json_array(j, name);
	for (unsigned i = 0, end; i < l->n; i = end + 1) {
		end = range_end(l, i);
		json_array(j, NULL);
		json_int(j, NULL, l->id[i]);
		json_int(j, NULL, l->id[end]);
		json_end_array(j);
	}
	json_end_array(j);
}

static void sort_rows(struct audit *a)
{
	for (unsigned i = 0; i < a->n_findings; i++) {
		struct row_list *l[] = { &a->finding[i].cells, &a->finding[i].events,
					 &a->finding[i].rounds, &a->finding[i].points };

		for (unsigned k = 0; k < 4; k++)
			if (l[k]->n)
				qsort(l[k]->id, l[k]->n, sizeof *l[k]->id, by_id);
	}
}

/* ---- what came out ---- */

struct counts {
	unsigned n[AUDIT_VERDICTS];
	unsigned other; /* than met */
};

static struct counts count(const struct audit *a)
{
	struct counts c = { .other = 0 };

	for (unsigned i = 0; i < a->n_findings; i++) {
		c.n[a->finding[i].verdict]++;
		c.other += a->finding[i].verdict != AUDIT_MET;
	}
	return c;
}

/* Words of @text, broken at the width, with @indent blanks before each further line. */
static void wrap(const char *text, unsigned at, struct buf *out)
{
	unsigned col = at;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (col > INDENT && col + n + 1 > WIDTH) {
			buf_fmt(out, "\n%*s", INDENT, "");
			col = INDENT;
		} else if (col > at || (at > INDENT && col == at)) {
			buf_str(out, col == at ? "" : " ");
			col += col != at;
		}
		buf_add(out, text, n);
		col += (unsigned)n;
		text += n;
		while (*text == ' ' || *text == '\n')
			text++;
		if (col == at)
			col++;
	}
	buf_str(out, "\n");
}

static void finding_text(const struct finding *f, struct buf *out)
{
	struct buf rows = BUF_INIT, head = BUF_INIT;

	buf_fmt(&head, "%s [%s] ", f->clause->id, f->clause->mark);
	if (f->section)
		buf_fmt(&head, "section %d%s%s: ", f->section->section,
			*f->section->label ? ", " : "", f->section->label);
	buf_str(&head, f->clause->text);
	buf_fmt(out, "%-*s", INDENT, audit_verdict_name(f->verdict));
	wrap(buf_cstr(&head), INDENT, out);
	buf_fmt(out, "%*s", INDENT, "");
	wrap(f->done, INDENT, out);
	rows_text_of("cell", &f->cells, &rows);
	rows_text_of("event", &f->events, &rows);
	rows_text_of("round row", &f->rounds, &rows);
	rows_text_of("point row", &f->points, &rows);
	if (rows.len) {
		buf_fmt(out, "%*s", INDENT, "");
		wrap(buf_cstr(&rows), INDENT, out);
	}
	buf_release(&rows);
	buf_release(&head);
}

static void heading(const struct finding *f, struct buf *out)
{
	if (!f->test) {
		buf_str(out, "\nthe run\n");
		return;
	}
	buf_fmt(out, "\n%s, %s", f->test->name, f->test->title);
	if (f->test->attempt)
		buf_fmt(out, ": attempt %d, %s", f->test->attempt,
			f->test->finished ? f->test->verdict : "not finished");
	buf_str(out, "\n");
}

static void head_text(const struct audit *a, struct buf *out)
{
	struct counts c = count(a);

	buf_fmt(out, "run %" PRId64 " %s: %s, %s, %s, %s, definition set %" PRId64 "%s\n", a->run,
		a->uuid, a->dut, a->model, a->profile, a->spec, a->definition_set,
		a->quick ? ", --quick" : "");
	buf_fmt(out, "state: %s, %s\n", a->state, a->sealed ? "sealed" : "not sealed");
	buf_fmt(out, "head: %s, %" PRId64 " rows%s\n", a->digest, a->rows,
		!a->head_given			    ? ""
		: !a->head_at			    ? ", NOT the one given"
		: a->head_at == a->rows - a->sealed ? ", the one given"
		: a->head_at < a->rows - a->sealed  ? ", the one given is an earlier entry of it"
						    : ", the one given");
	buf_fmt(out,
		"evidence: %s (worked out again: %u cells, %u histograms, %u seconds, %u "
		"steady-state checks, %u "
		"points)\n",
		a->n_faults ? "BROKEN" : "intact", a->done.cells, a->done.histograms,
		a->done.seconds, a->done.checks, a->done.points);
	for (unsigned i = 0; i < a->n_faults && i < AUDIT_FAULTS_SHOWN; i++)
		buf_fmt(out, "  %s\n", a->fault[i]);
	if (a->n_faults > AUDIT_FAULTS_SHOWN)
		buf_fmt(out, "  and %u more\n", a->n_faults - AUDIT_FAULTS_SHOWN);
	buf_fmt(out, "clauses: %u met, %u deviation%s, %u not met, %u not measured\n",
		c.n[AUDIT_MET], c.n[AUDIT_DEVIATION], c.n[AUDIT_DEVIATION] == 1 ? "" : "s",
		c.n[AUDIT_NOT_MET], c.n[AUDIT_NOT_MEASURED]);
}

static void print_text(const struct audit *a, struct buf *out)
{
	const struct atest *test = NULL;

	head_text(a, out);
	for (unsigned i = 0; i < a->n_tests; i++)
		if (!strcmp(a->test[i].clause, "-"))
			buf_fmt(out, "%s is no test of the PTS: no clause is about it\n",
				a->test[i].name);
	for (unsigned i = 0; i < a->n_findings; i++) {
		const struct finding *f = &a->finding[i];

		if (!i || f->test != test)
			heading(f, out);
		test = f->test;
		finding_text(f, out);
	}
}

/* ---- JSON ---- */

static void finding_json(const struct finding *f, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "clause", f->clause->id);
	json_str(j, "spec_section", f->clause->spec);
	json_str(j, "mark", f->clause->mark);
	json_str(j, "test", f->test ? f->test->name : NULL);
	if (f->test && f->test->attempt)
		json_int(j, "attempt", f->test->attempt);
	else
		json_null(j, "attempt");
	if (f->section)
		json_int(j, "section", f->section->section);
	else
		json_null(j, "section");
	json_str(j, "section_label", f->section && *f->section->label ? f->section->label : NULL);
	json_str(j, "requirement", f->clause->text);
	json_str(j, "done", f->done);
	json_str(j, "verdict", audit_verdict_name(f->verdict));
	json_object(j, "rows");
	rows_json("cells", &f->cells, j);
	rows_json("events", &f->events, j);
	rows_json("rounds", &f->rounds, j);
	rows_json("points", &f->points, j);
	json_end_object(j);
	json_end_object(j);
}

static void evidence_json(const struct audit *a, struct json *j)
{
	json_object(j, "evidence");
	json_bool(j, "intact", !a->n_faults);
	json_int(j, "rows", a->rows);
	json_str(j, "head", a->digest);
	if (a->head_given)
		json_bool(j, "head_found", a->head_at != 0);
	else
		json_null(j, "head_found");
	json_uint(j, "cells", a->done.cells);
	json_uint(j, "histograms", a->done.histograms);
	json_uint(j, "seconds", a->done.seconds);
	json_uint(j, "streams", a->done.streams);
	json_uint(j, "steady_checks", a->done.checks);
	json_uint(j, "points", a->done.points);
	json_uint(j, "fault_count", a->n_faults);
	json_array(j, "faults");
	for (unsigned i = 0; i < a->n_faults && i < AUDIT_FAULTS_SHOWN; i++)
		json_str(j, NULL, a->fault[i]);
	json_end_array(j);
	json_end_object(j);
}

static void print_json(const struct audit *a, struct buf *out)
{
	static const char *const keys[AUDIT_VERDICTS] = { "met", "deviations", "not_met",
							  "not_measured" };
	struct counts c = count(a);
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.audit/1");
	json_int(&j, "run_id", a->run);
	json_str(&j, "uuid", a->uuid);
	json_str(&j, "state", a->state);
	json_bool(&j, "sealed", a->sealed);
	json_bool(&j, "simulated", a->simulated);
	json_bool(&j, "quick", a->quick);
	json_str(&j, "profile", a->profile);
	json_bool(&j, "conforms", !a->n_faults && !c.other && a->sealed);
	evidence_json(a, &j);
	json_object(&j, "clause_count");
	for (unsigned i = 0; i < AUDIT_VERDICTS; i++)
		json_uint(&j, keys[i], c.n[i]);
	json_end_object(&j);
	json_array(&j, "clauses");
	for (unsigned i = 0; i < a->n_findings; i++)
		finding_json(&a->finding[i], &j);
	json_end_array(&j);
	json_array(&j, "deviations");
	for (unsigned i = 0; i < a->n_deviations; i++)
		json_str(&j, NULL, a->deviation[i]);
	json_end_array(&j);
	json_end_object(&j);
	buf_str(out, "\n");
}

/* ---- the command ---- */

static void audit_init(struct audit *a, struct err *err)
{
	const char **text[] = { &a->uuid,  &a->state,	 &a->dut,      &a->dut_path,   &a->vendor,
				&a->model, &a->serial,	 &a->firmware, &a->interface,  &a->profile,
				&a->spec,  &a->software, &a->digest,   &a->started_utc };

	a->err = err;
	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		*text[i] = "";
}

static void audit_release(struct audit *a)
{
	for (unsigned i = 0; i < a->n_tests; i++)
		if (a->test[i].planned)
			plan_release(&a->test[i].plan);
	read_close(a->rd);
	arena_release(&a->arena);
}

static int audit_run(const struct opts *o, struct audit *a)
{
	int rc = read_open_doubted(o->db, &a->rd, a->err);

	if (!rc)
		rc = read_snapshot(a->rd, a->err);
	if (!rc)
		rc = read_run(a->rd, o->arg.n ? o->arg.v[0] : "last", &a->run, a->err);
	a->head_given = o->head != NULL;
	return rc ? rc : work(a, o->head);
}

int cmd_audit(const struct opts *o)
{
	struct err err = { "" };
	struct audit a = { .run = 0 };
	struct buf out = BUF_INIT;
	int rc;

	if (o->arg.n > 1)
		return cmd_usage(o, "one run at a time");
	if (o->head && (strlen(o->head) < HEAD_MIN || strlen(o->head) > 64 ||
			o->head[strspn(o->head, "0123456789abcdefABCDEF")]))
		return cmd_usage(
			o, "--head takes the %d to 64 hex digits that a report prints, not '%s'",
			HEAD_MIN, o->head);
	audit_init(&a, &err);
	rc = audit_run(o, &a);
	if (rc) {
		rc = cmd_fail(o, exit_of(rc), &err);
	} else {
		sort_rows(&a);
		if (o->json)
			print_json(&a, &out);
		else
			print_text(&a, &out);
		rc = cmd_out(o, &out, a.n_faults || count(&a).other ? EXIT_BAD : EXIT_GOOD);
	}
	buf_release(&out);
	audit_release(&a);
	return rc;
}
