/* SPDX-License-Identifier: MIT */
/* pts status: what the database and the progress file beside it know of a run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pts/cmd_progress.h"
#include "schema/read.h"

struct status {
	int64_t run;
	char uuid[40], state[24], dut[512], model[80], started[40], ended[40];
	int64_t cells, deviations;
	bool held; /* a process works on it */
	bool replay; /* an exact one */
	struct buf live_json, live_text;
};

static void status_release(struct status *s)
{
	buf_release(&s->live_json);
	buf_release(&s->live_text);
}

static int load(const struct opts *o, struct reader *rd, struct status *s, struct err *err)
{
	struct rows *q;
	int rc = read_run(rd, o->arg.n ? o->arg.v[0] : "last", &s->run, err);

	if (rc)
		return rc;
	q = read_rows(rd, err,
		      "SELECT uuid, state, dut, model, started_utc, ended_utc, deviations, (SELECT "
		      "count(*) FROM "
		      "v_cell c WHERE c.run_id = r.run_id AND c.member IS NULL), EXISTS (SELECT 1 "
		      "FROM v_planned p WHERE p.run_id = r.run_id AND p.test = 'replay' AND "
		      "p.clause = '-' AND p.title = 'Exact replay of a capture') FROM v_run r "
		      "WHERE run_id = ?",
		      "i", s->run);
	if (!q)
		return -EIO;
	if (rows_next(q) == 1) {
		snprintf(s->uuid, sizeof s->uuid, "%s", rows_text(q, 0));
		snprintf(s->state, sizeof s->state, "%s", rows_text(q, 1));
		snprintf(s->dut, sizeof s->dut, "%s", rows_text(q, 2));
		snprintf(s->model, sizeof s->model, "%s", rows_text(q, 3));
		snprintf(s->started, sizeof s->started, "%s", rows_text(q, 4));
		snprintf(s->ended, sizeof s->ended, "%s", rows_text(q, 5));
		s->deviations = rows_int(q, 6);
		s->cells = rows_int(q, 7);
		s->replay = rows_int(q, 8);
	}
	rc = rows_close(q, err);
	s->held = progress_read(o->db, s->uuid, &s->live_json, &s->live_text);
	if (s->held)
		snprintf(s->state, sizeof s->state, "running");
	else if (strcmp(progress_state(o->db, s->uuid, s->state), s->state))
		snprintf(s->state, sizeof s->state, "interrupted");
	return rc;
}

/* One row a test: both the text and the JSON print these columns. */
static int put_tests(struct reader *rd, const struct status *s, struct buf *text, struct json *j,
		     struct err *err)
{
	struct rows *q = read_rows(rd, err,
				   "SELECT t.test, t.attempt, t.verdict, t.rounds, t.window_first, "
				   "t.window_last, t.steady FROM "
				   "v_test t WHERE t.run_id = ? AND t.void = 0",
				   "i", s->run);

	if (!q)
		return -EIO;
	if (j)
		json_array(j, "tests");
	while (rows_next(q) == 1) {
		bool open = rows_is_null(q, 2);
		const char *verdict = open ? (s->held ? "running" : "not finished")
					   : rows_text(q, 2);

		if (text)
			buf_fmt(text, "  %-20s %-14s", rows_text(q, 0), verdict);
		if (text && !rows_is_null(q, 5) && rows_int(q, 6))
			buf_fmt(text, " rounds %lld-%lld", (long long)rows_int(q, 4),
				(long long)rows_int(q, 5));
		if (text)
			buf_str(text, "\n");
		if (!j)
			continue;
		json_object(j, NULL);
		json_str(j, "test", rows_text(q, 0));
		json_int(j, "attempt", rows_int(q, 1));
		json_str(j, "verdict", open ? NULL : rows_text(q, 2));
		json_int(j, "rounds", rows_int(q, 3));
		json_end_object(j);
	}
	if (j)
		json_end_array(j);
	return rows_close(q, err);
}

static int print_json(struct reader *rd, const struct status *s, struct buf *out, struct err *err)
{
	struct json j = JSON_INIT(out);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.status/1");
	json_int(&j, "run_id", s->run);
	json_str(&j, "uuid", s->uuid);
	json_str(&j, "state", s->state);
	json_str(&j, "dut", s->dut);
	json_str(&j, "model", s->model);
	json_str(&j, "started_utc", s->started);
	json_str(&j, "ended_utc", s->ended[0] ? s->ended : NULL);
	json_int(&j, "cells", s->cells);
	json_int(&j, "deviations", s->deviations);
	rc = put_tests(rd, s, NULL, &j, err);
	if (s->live_json.len)
		json_raw(&j, "now", buf_cstr(&s->live_json));
	else
		json_null(&j, "now");
	json_end_object(&j);
	buf_str(out, "\n");
	return rc;
}

static int print_text(struct reader *rd, const struct status *s, struct buf *out, struct err *err)
{
	int rc;

	buf_fmt(out, "run %lld %s: %s\n  %s%s%s\n  started %s%s%s, %lld cells, %lld deviations\n",
		(long long)s->run, s->uuid, s->state, s->dut, s->model[0] ? ", " : "", s->model,
		s->started, s->ended[0] ? ", ended " : "", s->ended, (long long)s->cells,
		(long long)s->deviations);
	rc = put_tests(rd, s, out, NULL, err);
	if (s->live_text.len && s->held)
		buf_fmt(out, "now: %s\n", buf_cstr(&s->live_text));
	else if (s->replay)
		buf_str(out,
			s->held || !strcmp(s->state, "done")
				? ""
				: "an exact replay cannot be gone on with: begin it again with "
				  "pts replay\n");
	else if (!strcmp(s->state, "interrupted") || !strcmp(s->state, "hung"))
		buf_fmt(out, "go on with: pts resume %lld\n", (long long)s->run);
	else if (!strcmp(s->state, "failed"))
		buf_fmt(out, "begin the failed test again, then the rest: pts resume %lld\n",
			(long long)s->run);
	return rc;
}

/* Prints the state once. @ret_going: somebody works on the run. */
static int show(const struct opts *o, bool *ret_going)
{
	struct status s = { .run = 0 };
	struct buf out = BUF_INIT;
	struct err err = { "" };
	struct reader *rd;
	int rc = read_open(o->db, &rd, &err), code;

	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = load(o, rd, &s, &err);
	if (!rc)
		rc = o->json ? print_json(rd, &s, &out, &err) : print_text(rd, &s, &out, &err);
	read_close(rd);
	*ret_going = s.held;
	if (!rc && o->watch && !o->json && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	code = rc ? cmd_fail(o, exit_of(rc), &err) : cmd_out(o, &out, EXIT_GOOD);
	status_release(&s);
	buf_release(&out);
	return code;
}

int cmd_status(const struct opts *o)
{
	const struct timespec second = { 1, 0 };
	bool going = false;
	int code;

	if (o->arg.n > 1)
		return cmd_usage(o, "one run at a time");
	do {
		code = show(o, &going);
		if (o->watch && going && code == EXIT_GOOD)
			nanosleep(&second, NULL);
	} while (o->watch && going && code == EXIT_GOOD);
	return code;
}
