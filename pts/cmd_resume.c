/* SPDX-License-Identifier: MIT */
/*
 * pts resume: goes on with a run that was interrupted, or, when it is named, with one that failed; with the target, the options
 * and the consent stored with it. Finished tests stand; the interrupted or failed one begins again from its purge, unless
 * --continue-inside. The drive is found by identity and passes the whole gate again; any difference is a refusal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_capture_rows.h"
#include "pts/cmd_resume.h"
#include "pts/cmd_session.h"
#include "schema/read.h"

struct stored_run {
	int64_t run;
	char uuid[37];
	struct dut_info id; /* as recorded */
	const char *identity; /* of a target without serial; "" none */
	struct stored_target member[SET_MEMBERS_MAX]; /* of a set */
	unsigned n_members;
	uint64_t member_written[SET_MEMBERS_MAX];
	struct opts opts; /* as the run was asked for */
	const char *test[OPTS_LIST_MAX];
	bool finished[OPTS_LIST_MAX];
	bool failed; /* the run did: named by the user, its failed test is begun again */
	unsigned failed_attempt; /* of the test that did; 0: none says so */
	const char *why; /* it did */
	const char *definition[OPTS_LIST_MAX], *plan[OPTS_LIST_MAX];
	unsigned n_tests;
	const char *cache_was; /* NULL: whoever changed it has put it back */
	struct arena arena;
	/* --continue-inside: the attempt that goes on */
	struct recall recall;
	struct recalled_cell *cell;
	uint64_t *cursor;
};

/* A run that failed is gone on with when it is named: something may have to be mended first. */
static int none_interrupted(struct reader *rd, const char *db, struct err *err)
{
	struct rows *q = read_rows(
		rd, err,
		"SELECT run_id FROM v_run WHERE state = 'failed' AND run_id = (SELECT max(run_id) "
		"FROM run)",
		"");
	int64_t failed = 0;
	int rc;

	if (!q)
		return -EIO;
	if (rows_next(q) == 1)
		failed = rows_int(q, 0);
	rc = rows_close(q, err);
	if (rc)
		return rc;
	if (!failed)
		return err_set(err, -ENOENT, "%s holds no interrupted run", db);
	return err_set(err, -ENOENT,
		       "%s holds no interrupted run; run %lld failed: pts resume %lld begins its "
		       "failed test again",
		       db, (long long)failed, (long long)failed);
}

/* The newest run that no process works on and that has no end. */
static int last_interrupted(struct reader *rd, const char *db, int64_t *ret, struct err *err)
{
	struct rows *q = read_rows(rd, err,
				   "SELECT run_id, uuid FROM v_run WHERE state IN "
				   "('interrupted', 'running', 'hung') ORDER BY run_id DESC",
				   "");
	bool found = false;
	int rc;

	if (!q)
		return -EIO;
	while (!found && rows_next(q) == 1) {
		struct buf a = BUF_INIT, b = BUF_INIT;

		if (!progress_read(db, rows_text(q, 1), &a, &b)) {
			*ret = rows_int(q, 0);
			found = true;
		}
		buf_release(&a);
		buf_release(&b);
	}
	rc = rows_close(q, err);
	return rc ? rc : found ? 0 : none_interrupted(rd, db, err);
}

/* The stored target and consent are trusted only while nobody changed a row of the run. */
static int check_chain(const struct stored_run *s, struct reader *rd, struct err *err)
{
	struct buf faults = BUF_INIT;
	int rc = read_check_run(rd, s->run, &faults, err);

	if (!rc && faults.len)
		rc = err_set(err, -EINVAL, "rows of run %lld were changed, it cannot go on: %.200s",
			     (long long)s->run, buf_cstr(&faults));
	buf_release(&faults);
	return rc;
}

static void take_identity(struct stored_run *s, struct rows *q, char state[24])
{
	struct dut_info *d = &s->id;

	snprintf(s->uuid, sizeof s->uuid, "%s", rows_text(q, 0));
	snprintf(state, 24, "%s", rows_text(q, 1));
	snprintf(d->model, sizeof d->model, "%s", rows_text(q, 2));
	snprintf(d->serial, sizeof d->serial, "%s", rows_text(q, 3));
	snprintf(d->firmware, sizeof d->firmware, "%s", rows_text(q, 4));
	d->capacity_bytes = (uint64_t)rows_int(q, 5);
	d->lba_bytes = (uint32_t)rows_int(q, 6);
	s->opts.seed = arena_fmt(&s->arena, "%lld", (long long)rows_int(q, 7));
	snprintf(d->wwid, sizeof d->wwid, "%s", rows_text(q, 8));
	snprintf(d->path, sizeof d->path, "%s", rows_text(q, 9));
	d->nsid = (uint32_t)rows_int(q, 10);
}

static int load_identity(struct stored_run *s, struct reader *rd, struct err *err)
{
	struct rows *q = read_rows(
		rd, err,
		"SELECT uuid, state, model, serial, firmware, capacity_bytes, lba_bytes, seed, "
		"wwid, dut_path, (SELECT value FROM v_host h WHERE h.host_id = r.host_id AND key "
		"= 'dev_nsid') FROM v_run r WHERE run_id = ?",
		"i", s->run);
	char state[24] = "";
	int rc;

	if (!q)
		return -EIO;
	if (rows_next(q) == 1)
		take_identity(s, q, state);
	rc = rows_close(q, err);
	s->failed = !strcmp(state, "failed");
	if (!rc && !strcmp(state, "done"))
		return err_set(err, -EINVAL, "run %lld is done: there is nothing to go on with",
			       (long long)s->run);
	return rc;
}

static void add_word(struct opt_list *l, const char *v)
{
	if (l->n < OPTS_LIST_MAX)
		l->v[l->n++] = v;
}

static void take_arg(struct opts *o, const char *key, const char *v, const char **ret_identity)
{
	const struct {
		const char *key;
		const char **to;
	} text[] = { { "profile", &o->profile },   { "method", &o->method },
		     { "engine", &o->engine },	   { "capture", &o->capture },
		     { "scale", &o->scale },	   { "on-critical", &o->on_critical },
		     { "seq-rule", &o->seq_rule }, { "seq-window", &o->seq_window },
		     { "step", &o->step },	   { "purge-hook", &o->purge_hook } };
	const struct {
		const char *key;
		bool *to;
	} flag[] = { { "quick", &o->quick },
		     { "polled", &o->polled },
		     { "allow-unpurged", &o->allow_unpurged },
		     { "all-namespaces", &o->all_namespaces },
		     { "force-signature", &o->force_signature } };
	const struct {
		const char *key;
		struct opt_list *to;
	} list[] = { { "dut", &o->dut },
		     { "test", &o->arg },
		     { "destroy", &o->destroy },
		     { "set", &o->set },
		     { "def", &o->def } };

	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		if (!strcmp(key, text[i].key) && !*text[i].to) /* said anew, it holds */
			*text[i].to = v;
	for (unsigned i = 0; i < sizeof flag / sizeof *flag; i++)
		if (!strcmp(key, flag[i].key))
			*flag[i].to = true;
	if (!strcmp(key, "identity"))
		*ret_identity = v;
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
		if (!strcmp(key, list[i].key))
			add_word(list[i].to, v);
}

static int load_args(struct stored_run *s, struct reader *rd, struct err *err)
{
	struct rows *q = read_rows(
		rd, err, "SELECT key, value FROM run_arg WHERE run_id = ? ORDER BY n", "i", s->run);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1)
		take_arg(&s->opts, arena_strdup(&s->arena, rows_text(q, 0)),
			 arena_strdup(&s->arena, rows_text(q, 1)), &s->identity);
	return rows_close(q, err);
}

/* A run goes on with the very capture it began with. */
static int check_capture(struct stored_run *s, struct reader *rd, struct err *err)
{
	struct rows *q;
	char was[65] = "", is[65];

	if (!s->opts.capture)
		return 0;
	q = read_rows(rd, err, "SELECT sha256 FROM v_capture WHERE run_id = ?", "i", s->run);
	if (!q)
		return -EIO;
	if (rows_next(q) == 1)
		snprintf(was, sizeof was, "%s", rows_text(q, 0));
	int rc = rows_close(q, err);
	if (rc || !was[0])
		return rc;
	rc = capture_sha256(s->opts.capture, is, err);
	if (rc)
		return err_prefix(err, rc, "the capture of the run (--capture names it anew)");
	if (strcmp(was, is))
		return err_set(err, -EPERM,
			       "capture %s is not the one the run began with: its SHA-256 was "
			       "%.16s..., is %.16s...",
			       s->opts.capture, was, is);
	return 0;
}

/* The write cache as it was before a process that died without putting it back. */
static int load_cache(struct stored_run *s, struct reader *rd, struct err *err)
{
	struct rows *q = read_rows(
		rd, err,
		"SELECT detail ->> '$.was' FROM v_event WHERE run_id = ? AND kind = 'write-cache' "
		"AND detail ->> '$.was' IN ('on', 'off') AND event_id > "
		"(SELECT coalesce(max(event_id), 0) FROM v_event WHERE run_id = ? AND kind = "
		"'write-cache' AND detail ->> '$.put_back') ORDER BY event_id LIMIT 1",
		"ii", s->run, s->run);

	if (!q)
		return -EIO;
	if (rows_next(q) == 1)
		s->cache_was = arena_strdup(&s->arena, rows_text(q, 0));
	return rows_close(q, err);
}

static int load_tests(struct stored_run *s, struct reader *rd, struct err *err)
{
	struct rows *q = read_rows(
		rd, err,
		"SELECT t.test, d.body, p.body, EXISTS (SELECT 1 FROM v_test v WHERE v.run_id = "
		"t.run_id AND "
		"v.test = t.test AND v.void = 0 AND v.verdict IN ('steady', 'not achieved', "
		"'done')) "
		"FROM test t JOIN document d ON d.hash = t.definition_hash JOIN document p ON "
		"p.hash = t.plan_hash WHERE t.run_id = ? ORDER BY t.ordinal",
		"i", s->run);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1 && s->n_tests < OPTS_LIST_MAX) {
		unsigned i = s->n_tests++;

		s->test[i] = arena_strdup(&s->arena, rows_text(q, 0));
		s->definition[i] = arena_strdup(&s->arena, rows_text(q, 1));
		s->plan[i] = arena_strdup(&s->arena, rows_text(q, 2));
		s->finished[i] = rows_int(q, 3) != 0;
	}
	return rows_close(q, err);
}

/* Which test made the run fail, for the account of it. */
static int load_failure(struct stored_run *s, const struct opts *o, struct reader *rd,
			struct err *err)
{
	unsigned i = 0;
	struct rows *q;

	if (!s->failed)
		return 0;
	if (o->continue_inside)
		return err_set(err, -EINVAL,
			       "run %lld failed: its failed test begins again, --continue-inside "
			       "is for an interrupted one",
			       (long long)s->run);
	while (i < s->n_tests && s->finished[i])
		i++;
	if (i == s->n_tests)
		return 0;
	q = read_rows(rd, err,
		      "SELECT attempt, detail FROM v_test WHERE run_id = ? AND test = ? AND void = "
		      "0 AND verdict = 'failed'",
		      "it", s->run, s->test[i]);
	if (!q)
		return -EIO;
	if (rows_next(q) == 1) {
		s->failed_attempt = (unsigned)rows_int(q, 0);
		s->why = arena_strdup(&s->arena, rows_text(q, 1));
	}
	return rows_close(q, err);
}

static int count(struct reader *rd, const char *sql, int64_t run, const char *test, unsigned *ret,
		 struct err *err)
{
	struct rows *q = read_rows(rd, err, sql, "iti", run, test, (int64_t)*ret);

	if (!q)
		return -EIO;
	*ret = rows_next(q) == 1 ? (unsigned)rows_int(q, 0) : 0;
	return rows_close(q, err);
}

#define OF_ATTEMPT " WHERE run_id = ?1 AND test = ?2 AND attempt = ?3"

static int recall_counts(struct stored_run *s, struct reader *rd, const char *test, struct err *err)
{
	static const char *const sql[] = {
		"SELECT count(*) FROM section" OF_ATTEMPT,
		"SELECT count(*) FROM section_end" OF_ATTEMPT,
		"SELECT count(DISTINCT section * 1000000 + round) FROM round r" OF_ATTEMPT
		" AND NOT EXISTS (SELECT 1 FROM round_void v WHERE v.run_id = r.run_id AND v.test "
		"= r.test AND "
		"v.attempt = r.attempt AND v.section = r.section AND v.round = r.round AND "
		"v.round_try = r.round_try)",
		"SELECT count(*) FROM point" OF_ATTEMPT,
	};
	unsigned *to[] = { &s->recall.sections, &s->recall.sections_ended, &s->recall.rounds_closed,
			   &s->recall.points };

	for (unsigned i = 0; i < 4; i++) {
		*to[i] = s->recall.attempt;
		if (count(rd, sql[i], s->run, test, to[i], err))
			return -EIO;
	}
	return 0;
}

/* Positions of the SEQ streams after the last cell: a JSON array of numbers. */
static void parse_cursors(struct stored_run *s, const char *json)
{
	char *end;

	s->cursor = calloc(strlen(json) / 2 + 1, sizeof *s->cursor);
	BUG_ON(!s->cursor);
	s->recall.n_cursors = 0;
	for (const char *p = json; *p; p = *end ? end : end) {
		while (*p && (*p < '0' || *p > '9'))
			p++;
		if (!*p)
			break;
		s->cursor[s->recall.n_cursors++] = strtoull(p, &end, 10);
	}
	s->recall.cursor = s->cursor;
}

static int load_recall(struct stored_run *s, struct reader *rd, const char *test, struct err *err)
{
	unsigned cap = 0;
	struct rows *q = read_rows(
		rd, err,
		"SELECT v.section, v.step, c.segment, coalesce(v.round, -1), "
		"coalesce(v.round_try, -1), v.ios, "
		"v.read_bytes, v.write_bytes, v.elapsed_ns, coalesce(v.art_ns, "
		"0.0), c.cursors, v.attempt FROM "
		"v_cell v JOIN cell c USING (cell_id) WHERE v.run_id = ?1 AND "
		"v.test = ?2 AND v.partial = 0 AND "
		"v.member IS NULL AND v.void = 0 AND v.attempt = (SELECT max(attempt) FROM attempt "
		"WHERE run_id = ?1 AND test = ?2) "
		"ORDER BY cell_id",
		"it", s->run, test);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		if (s->recall.n_cells == cap) {
			cap = cap ? 2 * cap : 256;
			s->cell = realloc(s->cell, cap * sizeof *s->cell);
			BUG_ON(!s->cell);
		}
		s->cell[s->recall.n_cells++] =
			(struct recalled_cell){ .section = (unsigned)rows_int(q, 0),
						.step = (unsigned)rows_int(q, 1),
						.segment = (unsigned)rows_int(q, 2),
						.round = (int)rows_int(q, 3),
						.round_try = (int)rows_int(q, 4),
						.ios = (uint64_t)rows_int(q, 5),
						.read_bytes = (uint64_t)rows_int(q, 6),
						.write_bytes = (uint64_t)rows_int(q, 7),
						.elapsed_ns = (uint64_t)rows_int(q, 8),
						.art_ns = rows_num(q, 9) };
		s->recall.attempt = (unsigned)rows_int(q, 11);
		free(s->cursor);
		parse_cursors(s, rows_text(q, 10));
	}
	s->recall.cell = s->cell;
	return rows_close(q, err);
}

/* What each drive of a set was written since its purge. */
static int load_written(struct stored_run *s, struct reader *rd, const char *test, struct err *err)
{
	unsigned section = s->recall.cell[s->recall.n_cells - 1].section;
	struct rows *q = read_rows(
		rd, err,
		"SELECT member, host_bytes_written FROM v_cell WHERE run_id = ? "
		"AND test = ? AND attempt = ? AND section = ? AND member > 0 AND "
		"partial = 0 AND void = 0 ORDER BY cell_id",
		"itii", s->run, test, (int64_t)s->recall.attempt, (int64_t)section);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1)
		if (rows_int(q, 0) <= SET_MEMBERS_MAX)
			s->member_written[rows_int(q, 0) - 1] = (uint64_t)rows_int(q, 1);
	s->recall.member_written = s->member_written;
	s->recall.n_members = s->n_members;
	return rows_close(q, err);
}

static int load(struct stored_run *s, const struct opts *o, struct err *err)
{
	struct reader *rd;
	int rc = read_open(o->db, &rd, err);

	if (rc)
		return rc;
	s->opts = *o;
	s->opts.arg.n = 0;
	rc = o->arg.n && strcmp(o->arg.v[0], "last") ? read_run(rd, o->arg.v[0], &s->run, err)
						     : last_interrupted(rd, o->db, &s->run, err);
	if (!rc)
		rc = check_chain(s, rd, err);
	if (!rc)
		rc = load_identity(s, rd, err);
	if (!rc)
		rc = targets_load(rd, s->run, &s->arena, s->member, &s->n_members, err);
	if (!rc)
		rc = load_args(s, rd, err);
	if (!rc)
		rc = check_capture(s, rd, err);
	if (!rc)
		rc = load_cache(s, rd, err);
	if (!rc)
		rc = load_tests(s, rd, err);
	if (!rc)
		rc = load_failure(s, o, rd, err);
	for (unsigned i = 0; !rc && o->continue_inside && i < s->n_tests; i++) {
		if (s->finished[i])
			continue;
		rc = load_recall(s, rd, s->test[i], err);
		if (!rc && s->recall.n_cells)
			rc = recall_counts(s, rd, s->test[i], err);
		if (!rc && s->recall.n_cells && s->n_members)
			rc = load_written(s, rd, s->test[i], err);
		break;
	}
	read_close(rd);
	if (!rc && s->n_tests && !s->opts.arg.n)
		rc = err_set(
			err, -EINVAL,
			"run %lld is an exact replay, which cannot be gone on with: begin it again "
			"with pts replay",
			(long long)s->run);
	if (!rc && (!s->n_tests || !s->opts.dut.n))
		rc = err_set(err, -EINVAL, "run %lld has no target or no tests stored",
			     (long long)s->run);
	return rc;
}

/* The target of the run, each drive of a set, under the name it has now. */
static int find_drives(struct stored_run *s, struct err *err)
{
	const struct opt_list given = s->opts.destroy;
	const char **dut = &s->opts.dut.v[0];
	struct set_names n = { .n = 0 };
	struct buf b = BUF_INIT;
	int rc;

	if (!set_name_is(*dut)) {
		const struct stored_target t = { s->id, s->identity ? s->identity : "" };

		*dut = resume_find(*dut, &t, &given, &s->opts, &s->arena);
		return 0;
	}
	rc = set_names_split(*dut, &n, err);
	if (!rc && n.n != s->n_members)
		rc = err_set(err, -EINVAL, "run %lld is of %u drives, its target names %u",
			     (long long)s->run, s->n_members, n.n);
	for (unsigned i = 0; i < n.n && !rc; i++) {
		const char *now = resume_find(n.v[i], &s->member[i], &given, &s->opts, &s->arena);

		if (now == n.v[i])
			continue;
		free(n.v[i]);
		n.v[i] = strdup(now);
		BUG_ON(!n.v[i]);
	}
	if (!rc) {
		set_names_join(&n, &b);
		*dut = arena_strdup(&s->arena, buf_cstr(&b));
	}
	buf_release(&b);
	set_names_release(&n);
	return rc;
}

static int check_identity(const struct stored_run *s, const struct session *ses, struct err *err)
{
	const struct targets *t = &ses->targets;
	int rc = 0;

	for (unsigned i = 0; i < s->n_members && i < t->name.n && !rc; i++) {
		rc = resume_same_info(&s->member[i].id, &t->info[i], err);
		if (!rc)
			rc = resume_same_identity(s->member[i].identity, t->identity[i],
						  t->name.v[i], err);
		if (rc)
			err_prefix(err, rc, "member %u", i + 1);
	}
	if (!rc)
		rc = resume_same_info(&s->id, &ses->facts, err);
	if (!rc && !t->set)
		rc = resume_same_identity(s->identity, t->identity[0], s->opts.dut.v[0], err);
	return rc;
}

/* A run is finished with the very text it was begun with. */
static int check_plans(const struct stored_run *s, const struct session *ses, struct err *err)
{
	int rc = ses->n_plans == s->n_tests
			 ? 0
			 : err_set(err, -EPERM, "the tests of the run are not the same any more");

	for (unsigned i = 0; !rc && i < s->n_tests; i++) {
		struct buf def = BUF_INIT, plan = BUF_INIT;

		def_text(&ses->env.lib, ses->plan[i].def, &def);
		plan_text(&ses->plan[i], &plan);
		if (strcmp(buf_cstr(&def), s->definition[i]))
			rc = err_set(err, -EPERM,
				     "the definition of %s is not the one the run began with",
				     s->test[i]);
		else if (strcmp(buf_cstr(&plan), s->plan[i]))
			rc = err_set(err, -EPERM,
				     "the plan of %s is not the one the run began with",
				     s->test[i]);
		buf_release(&def);
		buf_release(&plan);
	}
	return rc;
}

static int tell_event(const struct stored_run *s, struct session *ses, const char *test,
		      struct err *err)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "test", test);
	if (test)
		json_bool(&j, "inside", s->recall.n_cells != 0);
	if (s->failed_attempt) {
		json_uint(&j, "failed_attempt", s->failed_attempt);
		json_str(&j, "why", s->why);
	}
	json_end_object(&j);
	rc = store_event(ses->store, s->run, "resume", buf_cstr(&b), err);
	buf_release(&b);
	return rc;
}

static int tell_deviation(const struct stored_run *s, struct session *ses, const char *test,
			  struct err *err)
{
	struct buf b = BUF_INIT;
	int rc;

	if (s->recall.n_cells)
		buf_fmt(&b, "%s: continued inside the test after an interruption", test);
	else if (s->failed_attempt)
		buf_fmt(&b, "%s: attempt %u failed and was begun again from its purge: %s", test,
			s->failed_attempt, *s->why ? s->why : "unknown why");
	rc = b.len ? store_deviation(ses->store, s->run, "-", buf_cstr(&b), err) : 0;
	buf_release(&b);
	return rc;
}

/* One transaction: a run is never gone on with untold. */
static int tell_resumed(const struct stored_run *s, struct session *ses, struct err *err)
{
	const char *test;
	unsigned i = 0;
	int rc = store_begin(ses->store, err);

	if (rc)
		return rc;
	while (i < s->n_tests && s->finished[i])
		i++;
	test = i < s->n_tests ? s->test[i] : NULL;
	rc = tell_event(s, ses, test, err);
	if (!rc && test)
		rc = tell_deviation(s, ses, test, err);
	if (!rc)
		return store_commit(ses->store, err);
	store_abort(ses->store);
	return rc;
}

static int go_on(struct stored_run *s, struct session *ses, struct err *err)
{
	bool first = true;
	int rc = 0;

	for (unsigned i = 0; !rc && i < s->n_tests; i++) {
		if (s->finished[i])
			continue;
		rc = session_test(ses, i, first && s->recall.n_cells ? &s->recall : NULL, err);
		first = false;
	}
	return rc;
}

/* Tests that ended without steady state before the interruption count in the exit code as well. */
static int count_bad(struct stored_run *s, struct session *ses, struct err *err)
{
	struct reader *rd;
	struct rows *q;
	int rc = read_open(s->opts.db, &rd, err);

	if (rc)
		return rc;
	q = read_rows(rd, err,
		      "SELECT count(*) FROM v_test WHERE run_id = ? AND void = 0 AND verdict = "
		      "'not achieved'",
		      "i", s->run);
	if (q && rows_next(q) == 1)
		ses->bad = (unsigned)rows_int(q, 0);
	rc = q ? rows_close(q, err) : -EIO;
	read_close(rd);
	return rc;
}

static int resume(struct stored_run *s, struct session *ses, struct err *err)
{
	int rc;

	rc = find_drives(s, err);
	if (!rc)
		rc = session_prepare(ses, &s->opts, s->opts.arg.v, s->opts.arg.n, err);
	if (!rc)
		rc = check_identity(s, ses, err);
	if (!rc)
		rc = check_plans(s, ses, err);
	if (!rc)
		rc = store_open_existing(s->opts.db, &ses->store, err);
	if (!rc)
		rc = progress_open(&ses->progress, &s->opts, s->uuid, err);
	if (!rc)
		rc = session_open_dut(ses, err);
	if (!rc)
		rc = count_bad(s, ses, err);
	if (!rc)
		session_tell_method(ses);
	if (!rc)
		rc = tell_resumed(s, ses, err);
	return rc;
}

int cmd_resume(const struct opts *o)
{
	struct stored_run s = { .run = 0 };
	struct session ses = { .o = o };
	struct err err = { "" };
	int rc, code;

	if (o->arg.n > 1)
		return cmd_usage(o, "one run at a time");
	ses.progress.fd = -1;
	session_signals();
	rc = load(&s, o, &err);
	if (!rc)
		rc = resume(&s, &ses, &err);
	if (rc) {
		code = cmd_fail(o, exit_of(rc), &err);
	} else {
		ses.run = s.run;
		ses.cache_was = s.cache_was;
		memcpy(ses.uuid, s.uuid, sizeof ses.uuid);
		rc = go_on(&s, &ses, &err);
		code = session_end(&ses, rc, &err);
	}
	session_close(&ses);
	free(s.cell);
	free(s.cursor);
	arena_release(&s.arena);
	return code;
}
