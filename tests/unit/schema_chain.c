/* SPDX-License-Identifier: MIT */
/* The evidence chain: equal runs have equal digests, and any change by hand is found and named. */
#include "tests/unit/schema_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "schema/chain.h"

#define UUID1 "11112222-3333-4444-8555-666677778888"
#define UUID2 "22229999-3333-4444-8555-666677778888"

TEST(sha256_vectors)
{
	char hex[65];

	sha256_hex("", 0, hex);
	CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex("abc", 3, hex);
	CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* A cell of a set of one drive: its sum and its member. */
static void add_set(struct store *st)
{
	struct member_row m = { .run = 1,
				.member = 1,
				.dut = "file:a",
				.dut_path = "/a",
				.model = "scratch file",
				.capacity_bytes = 1 << 20,
				.lba_bytes = 512,
				.identity = "file 1:2" };
	struct sample *s = sample_new();
	struct rng rng;
	int64_t cell;

	rng_init(&rng, 1);
	sample_fill(s, &rng, 1, "iops", 6);
	s->row.members = 1;
	s->row.span_first_ns = 59000000000;
	s->row.span_last_ns = 60000000000;
	OK(store_member(st, &m, &E));
	OK(store_cell(st, &s->row, &cell, &E));
	s->row.members = 0;
	s->row.member = 1;
	OK(store_cell(st, &s->row, &cell, &E));
	sample_free(s);
}

static void add_extras(struct store *st)
{
	struct where at = { 1, "iops", 1, 1 };

	DO(add_set(st));
	OK(store_void_round(st, &at, 1, 1, "a stop", &E));
	OK(store_deviation(st, 1, "7.2", "quick", &E));
	OK(store_event(st, 1, "note", "{\"a\":\"b\"}", &E));
	OK(store_run_end(st, 1, "done", &E));
}

/* Takes the triggers away, as a forger would first. */
static void disarm(const char *path)
{
	struct buf all = BUF_INIT;
	struct reader *r;
	struct rows *q;

	OK(read_open(path, &r, &E));
	q = read_rows(r, &E, "SELECT name FROM sqlite_master WHERE type = 'trigger'", "");
	CHECK_MSG(q, "%s", E.msg);
	while (rows_next(q))
		buf_fmt(&all, "DROP TRIGGER %s;", rows_text(q, 0));
	OK(rows_close(q, &E));
	read_close(r);
	OK(by_hand(path, all.s));
	buf_release(&all);
}

/* What a run keeps of its capture, and the account of an exact replay. */
static void add_captured(struct store *st)
{
	struct capture_row c = { 1,    "gps", "blktrace", "ab",	     9, 2,  3,
				 4096, 8192,  1000,	  "[\"a\"]", 0, 500 };
	struct capture_account_row a = { .run = 1,
					 .source = "gps.blktrace.0",
					 .event = "D",
					 .level = "block",
					 .digest = "0123456789abcdef",
					 .seq_rule = "window 32",
					 .ios = 5,
					 .n_streams = 3,
					 .n_dominant = 2,
					 .n_steps = 1,
					 .coverage_pct = 80,
					 .qd_avg = 1.5,
					 .qd_max = 4,
					 .streams = "[]" };
	struct capture_step_row s = { 1, 1, 0, 5, 12288, 1.5, 4, 2e5, "[]" };
	struct fidelity_row f = { .run = 1,
				  .test = "replay",
				  .attempt = 1,
				  .loops = 1,
				  .speed = "native",
				  .fit = "refuse",
				  .order = "allow",
				  .devices = "{}",
				  .why_dropped = "{}",
				  .late_p50_ns = 1,
				  .late_p99_ns = 2,
				  .late_p999_ns = 3,
				  .late_max_ns = 4,
				  .valid = true,
				  .why_invalid = "no" };

	OK(store_capture(st, &c, &E));
	OK(store_capture_account(st, &a, &E));
	OK(store_capture_step(st, &s, 1, &E));
	OK(store_fidelity(st, &f, &E));
}

/* A database with a row in every table that the writer fills. */
static void full_db(const char *path)
{
	struct where at = { 1, "iops", 1, 1 };
	struct section_end_row se = { at, 1, 1, 5, 5, "steady" };
	struct test_end_row te = { 1, "iops", 1, 1, "steady", "off", "detail" };
	struct point_row p = { at, "max", 2, 16, 1e5, 1.5e5, 1000000, "highest" };
	struct store *st;

	OK(store_open(path, &st, &E));
	OK(write_run(st, UUID1, 5, 2, NULL));
	OK(store_section_end(st, &se, &E));
	OK(store_point(st, &p, &E));
	OK(store_test_end(st, &te, &E));
	DO(add_captured(st));
	DO(add_extras(st));
	store_close(st);
	DO(disarm(path));
}

/* A view as text, without what may differ between equal runs. */
static void dump(struct reader *r, const char *view, const char *where, struct buf *out)
{
	struct buf sql = BUF_INIT;
	struct rows *q;

	buf_fmt(&sql, "SELECT * FROM %s %s", view, where);
	q = read_rows(r, &E, sql.s, "");
	buf_release(&sql);
	CHECK_MSG(q, "%s", E.msg);
	while (rows_next(q)) {
		for (int c = 0; c < rows_columns(q); c++) {
			const char *name = rows_column(q, c);
			size_t n = strlen(name);

			if (n > 3 && (!strcmp(name + n - 3, "_id") || !strcmp(name + n - 3, "utc")))
				continue;
			if (strcmp(name, "utc") && strcmp(name, "uuid") && strcmp(name, "campaign"))
				buf_fmt(out, "%s=%s ", name, rows_text(q, c));
		}
		buf_str(out, "\n");
	}
	OK(rows_close(q, &E));
}

TEST(equal_runs_are_equal)
{
	static const char *const view[] = { "v_run",	"v_test",      "v_section", "v_cell",
					    "v_stream", "v_histogram", "v_second",  "v_steady",
					    "v_point",	"v_event",     "v_info",    "v_round" };
	const char *a = scratch("a.db"), *b = scratch("b.db");
	struct store *st;
	struct reader *ra, *rb;
	struct run_row other = *sample_run("33339999-3333-4444-8555-666677778888", 7);
	static const struct key_value host[] = { { "cpu", "Other" }, { NULL, NULL } };
	int64_t run;

	OK(write_db(a, UUID1, 5, 2, "done"));
	/* In b another run comes first, so that every id differs. */
	OK(store_open(b, &st, &E));
	other.host = host;
	OK(store_run_begin(st, &other, &run, &E));
	OK(write_run(st, UUID2, 5, 2, "done"));
	store_close(st);
	CHECK_STR(ask(a, "SELECT digest FROM v_run"),
		  ask(b, "SELECT digest FROM v_run WHERE run_id = 2"));
	OK(read_open(a, &ra, &E));
	OK(read_open(b, &rb, &E));
	for (size_t i = 0; i < sizeof view / sizeof *view; i++) {
		struct buf ta = BUF_INIT, tb = BUF_INIT;

		DO(dump(ra, view[i], "WHERE run_id = 1", &ta));
		DO(dump(rb, view[i], "WHERE run_id = 2", &tb));
		CHECK(ta.len > 0);
		CHECK_MSG(!strcmp(ta.s, tb.s), "%s differs", view[i]);
		buf_release(&ta);
		buf_release(&tb);
	}
	read_close(ra);
	read_close(rb);
	CHECK_STR(faults_of(b), "");
}

TEST(different_runs_differ)
{
	const char *a = scratch("d1.db"), *b = scratch("d2.db");

	OK(write_db(a, UUID1, 2, 2, NULL));
	OK(write_db(b, UUID1, 2, 3, NULL));
	CHECK(strcmp(ask(a, "SELECT digest FROM v_run"), ask(b, "SELECT digest FROM v_run")));
}

/* @sql done by hand to a copy; what the check says. */
static const char *tampered(const char *path, const char *sql)
{
	static char name[160];
	struct buf data = BUF_INIT;
	FILE *f;

	snprintf(name, sizeof name, "%s.t", path);
	remove(name);
	if (buf_read_file(&data, path, 1 << 26))
		return "by hand: cannot copy";
	f = fopen(name, "w");
	fwrite(data.s, 1, data.len, f);
	fclose(f);
	buf_release(&data);
	E.msg[0] = '\0';
	if (by_hand(name, sql)) {
		err_prefix(&E, 0, "by hand");
		return E.msg;
	}
	return faults_of(name);
}

#define NAMED(sql, text) \
	do { \
		const char *f_ = tampered(db, sql); \
		CHECK_MSG(strstr(f_, text), "%s: %s", sql, f_); \
	} while (0)

TEST(changes_are_named)
{
	const char *db = scratch("named.db");

	DO(full_db(db));
	CHECK_STR(faults_of(db), "");
	CHECK_STR(tampered(db, ""), "");
	NAMED("UPDATE cell SET read_ios = read_ios + 1 WHERE ordinal = 4",
	      "run 1: cell 4 (iops test, round 2): hash differs\n");
	NAMED("UPDATE cell SET read_ios = read_ios + 1 WHERE ordinal = 4", "its seconds hold");
	NAMED("UPDATE cell_set SET span_first_ns = 1",
	      "run 1: cell 11 (iops test, round 6): spans of its members: hash differs\n");
	NAMED("UPDATE cell SET write_ios = 0 WHERE member = 1", "its members hold");
	NAMED("DELETE FROM cell WHERE member = 1",
	      "its members hold 0 IOs in 0 rows, the sum of 1 is");
	NAMED("UPDATE member SET dut = 'file:b'", "run 1: member 1 (file:b): hash differs\n");
	NAMED("UPDATE member SET identity = 'x'",
	      "run 1: member 1 (file:a): time, identity or arguments differ\n");
	NAMED("UPDATE cell SET art_ns = 1.0 WHERE ordinal = 10",
	      "run 1: cell 10 (iops test, round 5): hash differs\n");
	NAMED("UPDATE cell_hist SET buckets = replace(buckets, ',1', ',2') WHERE id = 1",
	      "run 1: cell 1 (iops test, round 1): R service histogram: hash differs\n");
	NAMED("UPDATE cell_series SET seconds = replace(seconds, '[0,', '[0,1') WHERE cell_id = 2",
	      "run 1: cell 2 (iops test, round 1): per-second series: hash differs\n");
	NAMED("UPDATE cell_series SET seconds = '[[' WHERE cell_id = 2", "malformed JSON");
	NAMED("UPDATE cell_stream SET ios = 1 WHERE cell_id = 2 AND stream = 2",
	      "cell 2 (iops test, round 1): stream 2: hash differs\n");
	NAMED("DELETE FROM cell_hist WHERE cell_id = 3 AND op = 'W'", "row missing\n");
	NAMED("DELETE FROM cell WHERE cell_id = 3", "cell row 3, entry ");
	NAMED("DELETE FROM deviation", "run 1: deviation row 1, entry ");
	NAMED("INSERT INTO deviation (run_id, clause, text) VALUES (1, '9', 'more')",
	      "run 1: deviation (9: more): row not in chain\n");
	NAMED("INSERT INTO chain SELECT run_id, n + 1, 'cell', 99, hash, NULL FROM chain ORDER BY "
	      "n "
	      "DESC LIMIT 1",
	      "run 1: seal: rows follow it\n");
	NAMED("UPDATE run SET model = 'Better'", "run 1: its description: hash differs\n");
	NAMED("UPDATE run SET started_utc = '2020-01-01T00:00:00.000Z'",
	      "run 1: its description: time, identity or arguments differ\n");
	NAMED("UPDATE run_arg SET value = 'sim:pm'", "its description: time, identity");
	NAMED("UPDATE host_fact SET value = 'x' WHERE n = 1",
	      "host 1: its facts differ from their digest\n");
	NAMED("UPDATE document SET body = 'y' WHERE body = 'RUN' || char(10)",
	      "its text differs from its hash\n");
	NAMED("UPDATE round SET steady = 1 WHERE round = 5",
	      "steady-state check of round 5: hash differs\n");
	NAMED("UPDATE capture SET sha256 = 'cd'", "run 1: capture gps: hash differs\n");
	NAMED("UPDATE capture_account SET seq_rule = 'strict'",
	      "run 1: how the capture was read: hash differs\n");
	NAMED("UPDATE capture_step SET qd_avg = 9.0", "run 1: capture step 1: hash differs\n");
	NAMED("UPDATE test_end SET verdict = 'done'", "run 1: iops test, verdict: hash differs\n");
	NAMED("UPDATE event SET detail = json_set(detail, '$.head', 'aa') WHERE kind = 'seal'",
	      "run 1: seal: head differs\n");
	NAMED("UPDATE event SET detail = json_set(detail, '$.rows', 3) WHERE kind = 'seal'",
	      "run 1: seal: row count differs\n");
	NAMED("DELETE FROM event WHERE kind = 'seal'; DELETE FROM chain WHERE n = (SELECT MAX(n) "
	      "FROM chain)",
	      "run 1: seal: missing\n");
	NAMED("DELETE FROM chain WHERE n = 5", "run 1: chain: entries are missing\n");
	NAMED("DELETE FROM chain", "run 1: chain: missing\n");
}

/* A forger who also puts the right hash beside the changed row: the entry after it tells. */
TEST(rehashed_row_is_found)
{
	const char *db = scratch("rehash.db"), *copy = scratch("rehash.db.t");
	struct buf sql = BUF_INIT;
	const char *said;

	DO(full_db(db));
	said = tampered(db, "UPDATE point SET reason = 'better'");
	CHECK_STR(said, "run 1: iops test, section 1, point max: hash differs\n");
	/* the hash the changed row would have had: SHA-256 over the text that chain.c documents */
	struct buf text = BUF_INIT;
	char hash[65];
	buf_str(&text,
		ask(copy, "SELECT hash FROM chain WHERE n = (SELECT n - 1 FROM chain WHERE tbl = "
			  "'point')"));
	buf_str(&text, "pts-row/1 point\ntest=t4:iops\nattempt=i1\nsection=i1\npoint=t3:max\n"
		       "threads=i2\nqd=i16\niops=r100000\nart_ns=r150000\np99999_ns=i1000000\n"
		       "reason=t6:better\n");
	sha256_hex(text.s, text.len, hash);
	buf_fmt(&sql,
		"UPDATE point SET reason = 'better'; UPDATE chain SET hash = '%s' WHERE tbl = "
		"'point'",
		hash);
	said = tampered(db, sql.s);
	CHECK_STR(said, "run 1: iops test, verdict: hash differs\n");
	buf_release(&sql);
	buf_release(&text);
}

/* Every stored value of every table, one after the other. */
TEST(any_value_changed_is_found)
{
	const char *db = scratch("any.db");
	struct reader *r;
	struct rows *q;
	int columns = 0;

	DO(full_db(db));
	OK(read_open(db, &r, &E));
	q = read_rows(
		r, &E,
		"SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) "
		"c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'",
		"");
	CHECK_MSG(q, "%s", E.msg);
	for (; rows_next(q); columns++) {
		const char *t = rows_text(q, 0), *c = rows_text(q, 1), *type = rows_text(q, 2);
		struct buf sql = BUF_INIT;

		buf_fmt(&sql,
			"UPDATE %s SET %s = CASE typeof(%s) WHEN 'text' THEN %s || '0' WHEN 'null' "
			"THEN %s ELSE %s + 1000 END WHERE %s IS (SELECT %s FROM %s LIMIT 1)",
			t, c, c, c, !strcmp(type, "TEXT") ? "'x'" : "1", c, c, c, t);
		const char *said = tampered(db, sql.s);

		CHECK_MSG(*said && strncmp(said, "by hand", 7), "%s: \"%s\"", sql.s, said);
		buf_release(&sql);
	}
	OK(rows_close(q, &E));
	read_close(r);
	CHECK_MSG(columns > 180, "%d columns tried", columns);
}

/* A forger who cuts the tail off together with its entries leaves a sound shorter chain: only the
 * printed head tells. */
TEST(head_tells_a_cut_tail)
{
	const char *db = scratch("cut.db");
	char head[80];

	DO(full_db(db));
	snprintf(head, sizeof head, "%s", ask(db, "SELECT digest FROM v_run"));
	CHECK_STR(
		tampered(db,
			 "DELETE FROM event WHERE event_id IN (SELECT row_id FROM chain WHERE tbl "
			 "= 'event'); DELETE FROM run_end; DELETE FROM chain WHERE tbl IN "
			 "('event', 'run_end')"),
		"");
	CHECK(strcmp(head, ask(scratch("cut.db.t"), "SELECT digest FROM v_run")));
}

TEST_MAIN
