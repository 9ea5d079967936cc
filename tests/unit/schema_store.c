/* SPDX-License-Identifier: MIT */
/* What is written comes back through the views, and the rules of a run hold. */
#include "tests/unit/schema_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "pts/base/held.h"

#define UUID1 "11112222-3333-4444-8555-666677778888"
#define UUID2 "11119999-3333-4444-8555-666677778888"

/* The columns of the interface, in its order. */
static const struct {
	const char *view, *columns;
} promised[] = {
	{ "v_run",
	  "run_id,uuid,campaign,host_id,dut,vendor,model,serial,firmware,capacity_bytes,"
	  "lba_bytes,interface,profile,quick,spec,definition_set,software,seed,started_utc,"
	  "ended_utc,state,compliant,deviations,simulated,digest" },
	{ "v_host", "host_id,key,value" },
	{ "v_info", "run_id,key,value" },
	{ "v_member", "run_id,member,dut,vendor,model,serial,firmware,capacity_bytes,lba_bytes" },
	{ "v_test", "run_id,test,attempt,definition_hash,params,purge_method,purge_verified,"
		    "write_cache,steady,window_first,window_last,rounds,verdict,void" },
	{ "v_section", "run_id,test,attempt,section,section_label,purge_method,purge_verified,"
		       "steady,window_first,window_last,rounds" },
	{ "v_cell",
	  "cell_id,run_id,test,attempt,section,section_label,phase,round,round_try,step,label,"
	  "member,access,threads,qd,oio,scale,read_pct,block_bytes,workload,start_ns,elapsed_ns,"
	  "ios,read_ios,write_ios,bytes,read_bytes,write_bytes,errors,iops,bytes_per_s,art_ns,"
	  "mrt_ns,lat_p50_ns,lat_p99_ns,lat_p999_ns,lat_p9999_ns,lat_p99999_ns,inflight_avg,"
	  "threads_seen,cpu_sys_pct,cpu_total_pct,temperature_c,host_bytes_written,in_window,"
	  "partial,void" },
	{ "v_stream", "cell_id,stream,op,access,block_bytes,ios,iops,art_ns,mrt_ns,lat_p99999_ns" },
	{ "v_histogram", "cell_id,op,kind,low_ns,high_ns,count" },
	{ "v_second", "cell_id,second,ios,bytes,art_ns,mrt_ns" },
	{ "v_steady", "run_id,test,attempt,section,variable,round,first_round,y1,y2,y3,y4,y5,"
		      "average,range,range_allowed,slope,intercept,slope_excursion,slope_allowed,"
		      "correlation,steady" },
	{ "v_point", "run_id,test,section,point,threads,qd,iops,art_ns,lat_p99999_ns,reason" },
	{ "v_capture", "run_id" },
	{ "v_capture_step", "run_id" },
	{ "v_fidelity", "run_id" },
	{ "v_deviation", "run_id,clause,text" },
	{ "v_event", "event_id,run_id,utc,kind,detail,hash" },
};

TEST(views_have_their_columns)
{
	const char *db = scratch("columns.db");
	struct reader *r;

	OK(write_db(db, UUID1, 1, 1, NULL));
	OK(read_open(db, &r, &E));
	for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
		struct buf names = BUF_INIT, sql = BUF_INIT;

		buf_fmt(&sql, "SELECT * FROM %s", promised[i].view);
		struct rows *q = read_rows(r, &E, buf_cstr(&sql), "");

		CHECK_MSG(q, "%s: %s", promised[i].view, E.msg);
		for (int c = 0; c < rows_columns(q); c++)
			buf_fmt(&names, "%s%s", c ? "," : "", rows_column(q, c));
		buf_str(&names, ",");
		CHECK_MSG(!strncmp(names.s, promised[i].columns, strlen(promised[i].columns)) &&
				  names.s[strlen(promised[i].columns)] == ',',
			  "%s: %s", promised[i].view, names.s);
		OK(rows_close(q, &E));
		buf_release(&names);
		buf_release(&sql);
	}
	read_close(r);
}

TEST(file_is_marked)
{
	const char *db = scratch("mark.db");

	OK(write_db(db, UUID1, 1, 1, "done"));
	CHECK_STR(ask(db, "PRAGMA application_id"), "1347703601");
	CHECK_INT(strtol(ask(db, "PRAGMA user_version"), NULL, 10), db_newest(embed_migrations));
	CHECK_STR(ask(db, "PRAGMA journal_mode"), "wal");
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT "
			  "LIKE 'sqlite%' AND sql NOT LIKE '%STRICT%'"),
		  "0");
}

TEST(cell_comes_back)
{
	const char *db = scratch("cell.db");
	struct store *st;
	struct reader *r;
	struct hist *h = hist_new();
	struct sample *s = sample_new();
	struct rng rng;
	int64_t cell;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 5, 2, NULL));
	rng_init(&rng, 5);
	sample_fill(s, &rng, 1, "iops", 6);
	OK(store_cell(st, &s->row, &cell, &E));
	store_close(st);
	CHECK_INT(cell, 11);

	OK(read_open(db, &r, &E));
	struct rows *q = read_rows(
		r, &E,
		"SELECT ios, iops, bytes_per_s, lat_p50_ns, lat_p99999_ns, label, "
		"member, scale, read_pct, art_ns FROM v_cell WHERE cell_id = ?",
		"i", cell);
	CHECK_INT(rows_next(q), 1);
	CHECK_INT(rows_int(q, 0), s->row.read_ios + s->row.write_ios);
	CHECK_NEAR(rows_num(q, 1), (double)rows_int(q, 0) / 60, 1e-15);
	CHECK_NEAR(rows_num(q, 2), (double)rows_int(q, 0) * 4096 / 60, 1e-15);
	CHECK_INT(rows_int(q, 3), 80001);
	CHECK(rows_is_null(q, 4) && rows_is_null(q, 5) && rows_is_null(q, 6));
	CHECK(isnan(rows_num(q, 7)));
	CHECK(rows_num(q, 8) == 65 && rows_num(q, 9) == 81234.5);
	CHECK_INT(rows_column_type(q, 0), 'i');
	CHECK_INT(rows_column_type(q, 1), 'd');
	CHECK_INT(rows_column_type(q, 5), 0);
	CHECK_INT(rows_next(q), 0);
	OK(rows_close(q, &E));

	for (int op = 0; op < 2; op++) {
		hist_reset(h);
		OK(read_hist(r, cell, op ? "W" : "R", "service", h, &E));
		CHECK(!memcmp(h, s->h[op], sizeof *h));
	}
	OK(read_hist(r, cell, "R", "response", h, &E));
	CHECK(!memcmp(h, s->h[1], sizeof *h)); /* nothing stored, nothing added */
	OK(read_hist(r, cell, "R", "service", h, &E));
	hist_merge(s->h[1], s->h[0]);
	CHECK(!memcmp(h, s->h[1], sizeof *h));
	read_close(r);
	free(h);
	sample_free(s);
}

TEST(histogram_view_has_every_bucket)
{
	const char *db = scratch("hist.db");
	struct store *st;
	struct sample *s = sample_new();
	struct rng rng;
	int64_t cell;
	struct reader *r;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	rng_init(&rng, 5);
	sample_fill(s, &rng, 1, "iops", 2);
	/* Limits: 0, both sides of the first octaves, and what is clipped into the last bucket. */
	const uint64_t edge[] = { 0,	1,   254, 255,	  256,	      257,
				  511,	512, 513, 100000, 1ull << 47, (1ull << 48) - 1,
				  1023, 1024 };
	hist_reset(s->h[0]);
	for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
		hist_add_n(s->h[0], edge[i], i + 1);
	s->row.read_ios = s->h[0]->n;
	OK(store_cell(st, &s->row, &cell, &E));
	store_close(st);
	OK(read_open(db, &r, &E));
	struct rows *q = read_rows(r, &E,
				   "SELECT low_ns, high_ns, count, op, kind FROM v_histogram WHERE "
				   "cell_id = ? AND op = 'R'",
				   "i", cell);
	unsigned seen = 0, want = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		want += s->h[0]->count[i] > 0;
	for (int64_t last = -1; rows_next(q); seen++) {
		uint64_t low = (uint64_t)rows_int(q, 0);
		unsigned i = hist_index(low);

		CHECK(rows_int(q, 0) > last);
		last = rows_int(q, 0);
		CHECK_INT(hist_low(i), low);
		CHECK_INT(hist_high(i), rows_int(q, 1));
		CHECK_INT(s->h[0]->count[i], rows_int(q, 2));
	}
	CHECK_INT(seen, want);
	OK(rows_close(q, &E));
	read_close(r);
	sample_free(s);
}

TEST(latencies_of_a_step_are_read_back)
{
	const char *db = scratch("step.db");
	struct hist_of of = { .step = 7, .round_first = 42, .round_last = 44 };
	struct hist *want = hist_new(), *all = hist_new(), *got = hist_new();
	struct sample *s = sample_new();
	struct rng rng;
	struct store *st;
	int64_t cell;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	rng_init(&rng, 5);
	for (int round = 41; round <= 46; round++) {
		sample_fill(s, &rng, 1, "iops", round);
		of.at = s->row.at;
		s->row.step = round == 43 ? 8 : 7; /* another step */
		s->row.partial = round == 46;
		OK(store_cell(st, &s->row, &cell, &E));
		for (int op = 0; op < 2 && s->row.step == 7 && !s->row.partial; op++) {
			if (round != 42)
				hist_merge(all, s->h[op]);
			if (round == 44)
				hist_merge(want, s->h[op]);
		}
	}
	OK(store_void_round(st, &of.at, 42, s->row.round_try, "test", &E));
	OK(store_step_hist(st, &of, got, &E)); /* of three only one counts */
	CHECK(want->n > 1000);
	CHECK(!memcmp(got, want, sizeof *got));
	of.round_first = 41;
	of.round_last = 46;
	hist_reset(got);
	OK(store_step_hist(st, &of, got, &E));
	CHECK(!memcmp(got, all, sizeof *got)); /* 41, 44, 45 */
	of.round_first = -1; /* those of write_run(), too */
	hist_reset(got);
	OK(store_step_hist(st, &of, got, &E));
	CHECK(got->n > all->n);
	of.step = 99;
	hist_reset(got);
	OK(store_step_hist(st, &of, got, &E));
	CHECK_INT(got->n, 0);
	store_close(st);
	free(want);
	free(all);
	free(got);
	sample_free(s);
}

TEST(huge_sums_stay_near)
{
	const char *db = scratch("sum.db");
	struct store *st;
	struct sample *s = sample_new();
	struct hist *h = hist_new();
	struct rng rng;
	int64_t cell;
	struct reader *r;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	rng_init(&rng, 5);
	sample_fill(s, &rng, 1, "iops", 2);
	hist_reset(s->h[0]);
	hist_add_n(s->h[0], 1ull << 40, 1ull << 30);
	OK(store_cell(st, &s->row, &cell, &E));
	store_close(st);
	OK(read_open(db, &r, &E));
	OK(read_hist(r, cell, "R", "service", h, &E));
	CHECK(h->sum == (unsigned __int128)1 << 70);
	read_close(r);
	free(h);
	sample_free(s);
}

TEST(seconds_add_up)
{
	const char *db = scratch("seconds.db");

	OK(write_db(db, UUID1, 2, 2, NULL));
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_second"), "240");
	CHECK_STR(ask(db,
		      "SELECT COUNT(*) FROM v_cell c WHERE ios = (SELECT SUM(ios) FROM v_second s "
		      "WHERE s.cell_id = c.cell_id) AND bytes = (SELECT SUM(bytes) FROM v_second "
		      "s WHERE s.cell_id = c.cell_id)"),
		  "4");
	CHECK_STR(ask(db,
		      "SELECT COUNT(*) FROM v_second WHERE mrt_ns = 9999999 AND art_ns > 1234 AND "
		      "second = 59"),
		  "4");
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_stream WHERE lat_p99999_ns IS NULL AND mrt_ns = "
			  "777777"),
		  "8");
}

TEST(idle_is_a_cell)
{
	const char *db = scratch("idle.db");
	struct store *st;
	int64_t cell;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	struct cell_row idle = { .at = { 1, "iops", 1, 1 },
				 .phase = "idle",
				 .round = -1,
				 .round_try = -1,
				 .member = -1,
				 .scale = NAN,
				 .read_pct = NAN,
				 .elapsed_ns = 5000000000,
				 .art_ns = NAN,
				 .mrt_ns = -1,
				 .p50_ns = -1,
				 .cpu_sys_pct = -1 };
	OK(store_cell(st, &idle, &cell, &E));
	store_close(st);
	CHECK_STR(ask(db,
		      "SELECT ios || ' ' || iops || ' ' || bytes_per_s || ' ' || bytes || ' ' || "
		      "errors || ' ' || in_window || ' ' || void FROM v_cell WHERE phase = 'idle'"),
		  "0 0.0 0.0 0 0 0 0");
	CHECK_STR(ask(db,
		      "SELECT round IS NULL AND art_ns IS NULL AND mrt_ns IS NULL AND cpu_sys_pct "
		      "IS NULL FROM v_cell WHERE phase = 'idle'"),
		  "1");
	CHECK_STR(faults_of(db), "");
}

TEST(window_and_verdicts)
{
	const char *db = scratch("window.db");

	OK(write_db(db, UUID1, 7, 2, "done"));
	CHECK_STR(ask(db, "SELECT group_concat(DISTINCT round) FROM v_cell WHERE in_window"),
		  "3,4,5,6,7");
	CHECK_STR(
		ask(db,
		    "SELECT steady || window_first || window_last || rounds || verdict || void || "
		    "purge_method || purge_verified || write_cache FROM v_test"),
		"1377steady0punch1off");
	CHECK_STR(ask(db, "SELECT group_concat(round || ':' || first_round) FROM v_steady"),
		  "5:1,6:2,7:3");
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_round WHERE value > 0"), "7");
	CHECK_STR(ask(db, "SELECT point || threads || qd || lat_p99999_ns FROM v_point"),
		  "max2161000000");
	CHECK_STR(ask(db, "SELECT state || compliant || deviations || sealed FROM v_run"),
		  "done101");
	CHECK_STR(ask(db, "SELECT value FROM v_host WHERE key = 'cpu'"), "Testomatic 2");
	CHECK_STR(ask(db, "SELECT value FROM v_info WHERE key = 'operator'"), "Ann O'Nymous");
	CHECK_STR(ask(db, "SELECT group_concat(value) FROM (SELECT value FROM run_arg ORDER BY n)"),
		  "sim:ent-nvme?size=1g,SIM1,SIM2");
	CHECK_STR(ask(db,
		      "SELECT json_extract(detail, '$.head') = digest FROM v_event, v_run WHERE "
		      "kind = 'seal'"),
		  "1");
	CHECK_STR(ask(db, "SELECT definition || plan FROM v_test"), "test x\nRUN\n");
}

TEST(void_rounds_and_attempts)
{
	const char *db = scratch("void.db");
	struct where at = { 1, "iops", 1, 1 };
	struct store *st;
	unsigned attempt;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 2, 2, NULL));
	OK(store_void_round(st, &at, 2, 1, "EIO in the round", &E));
	CHECK_STR(ask(db, "SELECT group_concat(round || void) FROM v_cell"), "10,10,21,21");
	OK(store_void_round(st, &at, 2, 2, "another try", &E));
	CHECK_STR(ask(db, "SELECT SUM(void) FROM v_cell"), "2");
	CHECK_STR(ask(db, "SELECT attempts || finished FROM v_planned"), "10");
	OK(store_attempt(st, 1, "iops", &attempt, &E));
	CHECK_INT(attempt, 2);
	CHECK_STR(ask(db, "SELECT group_concat(attempt || void) FROM v_test"), "11,20");
	CHECK_STR(ask(db, "SELECT SUM(void) FROM v_cell"), "4");
	store_close(st);
	CHECK_STR(faults_of(db), "");
}

/* As a process that works on the run does (pts/cmd_progress.c). */
static void hold(const char *db, const char *uuid)
{
	char name[200];
	int fd;

	held_name(name, sizeof name, db, uuid);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB));
}

TEST(states_of_a_run)
{
	const char *db = scratch("state.db");
	struct store *st;
	unsigned attempt;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	CHECK_STR(ask(db, "SELECT state || (ended_utc IS NULL) || sealed FROM v_run"),
		  "interrupted10"); /* no process works on it */
	DO(hold(db, UUID1));
	CHECK_STR(ask(db, "SELECT state || (ended_utc IS NULL) || sealed FROM v_run"), "running10");
	OK(store_run_end(st, 1, "interrupted", &E));
	CHECK_STR(ask(db, "SELECT state || (ended_utc IS NULL) || sealed FROM v_run"),
		  "interrupted00");
	OK(store_event(st, 1, "resume", NULL, &E));
	CHECK_STR(ask(db, "SELECT state FROM v_run"), "running");
	OK(store_attempt(st, 1, "iops", &attempt, &E));
	OK(store_run_end(st, 1, "hung", &E));
	CHECK_STR(ask(db, "SELECT state FROM v_run"), "hung");
	OK(store_run_end(st, 1, "failed", &E));
	CHECK_STR(ask(db, "SELECT state || sealed || compliant FROM v_run"), "failed10");
	FAILS(store_event(st, 1, "note", NULL, &E), -EINVAL, "run 1 has ended and is sealed");
	FAILS(store_attempt(st, 1, "iops", &attempt, &E), -EINVAL, "sealed");
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM event"), "2");
	store_close(st);
	CHECK_STR(faults_of(db), "");
}

TEST(a_failed_run_goes_on_behind_its_seal)
{
	const char *db = scratch("again.db");
	char head[80];
	struct store *st;
	unsigned attempt;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, "failed"));
	snprintf(head, sizeof head, "%s", ask(db, "SELECT digest FROM v_run WHERE sealed"));
	CHECK_INT(strlen(head), 64);
	FAILS(store_deviation(st, 1, "-", "x", &E), -EINVAL, "sealed");
	OK(store_event(st, 1, "resume", "{\"failed_attempt\":1}", &E));
	CHECK_STR(ask(db, "SELECT state || sealed FROM v_run"),
		  "interrupted0"); /* running, unheld */
	OK(store_attempt(st, 1, "iops", &attempt, &E));
	CHECK_INT(attempt, 2);
	CHECK_STR(faults_of(db), "");
	OK(store_run_end(st, 1, "failed", &E));
	OK(store_event(st, 1, "resume", NULL, &E)); /* as often as it takes */
	OK(store_run_end(st, 1, "done", &E));
	CHECK_STR(ask(db, "SELECT state || sealed FROM v_run"), "done1");
	CHECK(strcmp(ask(db, "SELECT digest FROM v_run"), head));
	CHECK_STR(ask(db,
		      "SELECT digest = (SELECT hash FROM chain WHERE run_id = 1 AND n = (SELECT "
		      "max(n) - 1 FROM chain)) FROM v_run"),
		  "1");
	FAILS(store_event(st, 1, "resume", NULL, &E), -EINVAL, "sealed"); /* it is done */
	store_close(st);
	CHECK_STR(faults_of(db), "");
}

TEST(compliance_needs_everything)
{
	const char *db = scratch("compliant.db");
	struct store *st;
	int64_t run;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 5, 1, NULL));
	OK(store_deviation(st, 1, "7.2", "quick", &E));
	OK(store_deviation(st, 1, "7.2", "quick", &E));
	OK(store_deviation(st, 1, NULL, "other", &E));
	OK(store_run_end(st, 1, "done", &E));
	CHECK_STR(ask(db, "SELECT state || compliant || deviations FROM v_run"), "done02");
	CHECK_STR(ask(db, "SELECT group_concat(clause || text) FROM v_deviation"),
		  "7.2quick,-other");

	/* done, no deviation, but its test never came to an end */
	struct test_row t;
	OK(store_run_begin(st, sample_run(UUID2, 1), &run, &E));
	t = sample_test(run, "tp", 1);
	OK(store_test(st, &t, &E));
	OK(store_run_end(st, run, "done", &E));
	CHECK_STR(ask(db, "SELECT compliant FROM v_run WHERE run_id = 2"), "0");

	struct run_row sim = *sample_run("99999999-0000-4000-8000-000000000000", 1);
	sim.simulated = true;
	OK(store_run_begin(st, &sim, &run, &E));
	t = sample_test(run, "tp", 1);
	OK(store_test(st, &t, &E));
	unsigned attempt;
	OK(store_attempt(st, run, "tp", &attempt, &E));
	struct test_end_row te = { run, "tp", 1, -1, "done", NULL, NULL };
	OK(store_test_end(st, &te, &E));
	OK(store_run_end(st, run, "done", &E));
	CHECK_STR(ask(db, "SELECT compliant || simulated FROM v_run WHERE run_id = 3"), "01");
	store_close(st);
}

TEST(hosts_and_texts_are_kept_once)
{
	const char *db = scratch("host.db");
	static const struct key_value other[] = { { "cpu", "Other" }, { NULL, NULL } };
	struct store *st;
	int64_t run;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	OK(write_run(st, UUID2, 1, 1, NULL));
	CHECK_STR(ask(db, "SELECT group_concat(host_id) FROM v_run"), "1,1");
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM document"), "2");
	struct run_row row = *sample_run("99999999-0000-4000-8000-000000000000", 1);
	row.host = other;
	OK(store_run_begin(st, &row, &run, &E));
	CHECK_STR(ask(db, "SELECT group_concat(host_id) FROM v_run"), "1,1,2");
	row.uuid = "99999999-0000-4000-8000-000000000001";
	row.host = row.info = row.args = NULL;
	OK(store_run_begin(st, &row, &run, &E));
	FAILS(store_run_begin(st, &row, &run, &E), -EINVAL, "host.db: run: UNIQUE");
	store_close(st);
	CHECK_STR(faults_of(db), "");
}

TEST(transactions_join)
{
	const char *db = scratch("tx.db");
	struct store *st;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 1, 1, NULL));
	OK(store_begin(st, &E));
	OK(store_event(st, 1, "a", NULL, &E));
	OK(store_event(st, 1, "b", "{}", &E));
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM event"), "0");
	OK(store_commit(st, &E));
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM event"), "2");
	OK(store_begin(st, &E));
	OK(store_event(st, 1, "c", NULL, &E));
	store_abort(st);
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM event"), "2");
	/* A failed call inside undoes the whole. */
	OK(store_begin(st, &E));
	OK(store_event(st, 1, "d", NULL, &E));
	FAILS(store_event(st, 1, "e", "{not json", &E), -EINVAL, "tx.db: event: CHECK");
	E.msg[0] = '\0';
	CHECK_INT(store_commit(st, &E), -EIO);
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM event"), "2");
	OK(store_event(st, 1, "f", NULL, &E));
	FAILS(store_event(st, 99, "f", NULL, &E), -EINVAL, "tx.db");
	store_close(st);
	CHECK_STR(ask(db, "SELECT group_concat(kind) FROM event"), "a,b,f");
	CHECK_STR(faults_of(db), "");
}

TEST(evidence_is_append_only)
{
	const char *db = scratch("append.db");
	struct reader *r;

	OK(write_db(db, UUID1, 5, 1, "done"));
	OK(read_open(db, &r, &E));
	struct rows *q = read_rows(
		r, &E,
		"SELECT m.name, (SELECT name FROM pragma_table_info(m.name) LIMIT "
		"1) FROM sqlite_master m WHERE type = 'table' AND m.name NOT LIKE "
		"'sqlite%'",
		"");
	int tables = 0;
	while (rows_next(q)) {
		struct buf sql = BUF_INIT;
		const char *t = rows_text(q, 0), *c = rows_text(q, 1);

		buf_fmt(&sql, "SELECT COUNT(*) FROM %s", t);
		if (strcmp(ask(db, sql.s), "0")) {
			buf_release(&sql);
			buf_fmt(&sql, "UPDATE %s SET %s = %s", t, c, c);
			FAILS(by_hand(db, sql.s), -EINVAL, "evidence is only ever added");
			buf_release(&sql);
			buf_fmt(&sql, "DELETE FROM %s", t);
			FAILS(by_hand(db, sql.s), -EINVAL, "evidence is only ever added");
			tables++;
		}
		buf_release(&sql);
	}
	OK(rows_close(q, &E));
	read_close(r);
	CHECK_INT(tables, 20); /* all but round_void, deviation and those of captures */
}

TEST(runs_by_name)
{
	const char *db = scratch("names.db");
	struct store *st;
	struct reader *r;
	int64_t run;

	OK(store_open(db, &st, &E));
	OK(read_open(db, &r, &E));
	FAILS(read_run(r, "last", &run, &E), -ENOENT, "no runs yet");
	OK(store_run_begin(st, sample_run(UUID1, 1), &run, &E));
	OK(store_run_begin(st, sample_run(UUID2, 1ull << 63), &run, &E));
	OK(read_run(r, "last", &run, &E));
	CHECK_INT(run, 2);
	OK(read_run(r, "1", &run, &E));
	CHECK_INT(run, 1);
	OK(read_run(r, "11112", &run, &E));
	CHECK_INT(run, 1);
	OK(read_run(r, UUID2, &run, &E));
	CHECK_INT(run, 2);
	FAILS(read_run(r, "1111", &run, &E), -EINVAL, "more than one run begins with '1111'");
	FAILS(read_run(r, "111", &run, &E), -ENOENT, "no run '111' (a run is");
	FAILS(read_run(r, "99999", &run, &E), -ENOENT, "no run '99999'");
	FAILS(read_run(r, "", &run, &E), -ENOENT, "no run ''");
	FAILS(read_run(r, "%%%%%", &run, &E), -ENOENT, "no run '%%%%%'");
	FAILS(read_run(r, "x';DROP TABLE run;--", &run, &E), -ENOENT, "no run");
	CHECK_STR(ask(db, "SELECT printf('%x', seed) FROM v_run WHERE run_id = 2"),
		  "8000000000000000");
	read_close(r);
	store_close(st);
}

TEST_MAIN
