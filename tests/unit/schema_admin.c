/* SPDX-License-Identifier: MIT */
/* Looking after a database: info, migrate, backup, merge, lists. */
#include "tests/unit/schema_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "pts/base/json.h"
#include "pts/base/table.h"
#include "schema/admin.h"

#define UUID1 "11112222-3333-4444-8555-666677778888"
#define UUID2 "22229999-3333-4444-8555-666677778888"
#define UUID3 "33339999-3333-4444-8555-666677778888"

static void two_runs(const char *path, const char *a, const char *b)
{
	struct store *st;

	OK(store_open(path, &st, &E));
	OK(write_run(st, a, 5, 2, "done"));
	OK(write_run(st, b, 2, 1, "interrupted"));
	store_close(st);
}

TEST(info_counts)
{
	const char *db = scratch("info.db");
	struct admin_info i;
	struct stat st;

	DO(two_runs(db, UUID1, UUID2));
	OK(admin_info(db, &i, &E));
	CHECK_INT(i.schema, db_newest(embed_migrations));
	CHECK_INT(i.schema_known, db_newest(embed_migrations));
	CHECK_INT(i.runs, 2);
	CHECK_INT(i.cells, 12);
	CHECK_INT(i.drives, 1);
	CHECK_INT(i.hosts, 1);
	CHECK(!stat(db, &st) && i.size_bytes == (uint64_t)st.st_size && i.log_bytes == 0);
	CHECK(strlen(i.first_utc) > 20 && strcmp(i.first_utc, i.last_utc) <= 0);
	FAILS(admin_info(scratch("none"), &i, &E), -ENOENT, "none: no such database");
}

TEST(migrate_says_from_and_to)
{
	const char *db = scratch("migrate.db");
	int from, to;

	DO(two_runs(db, UUID1, UUID2));
	OK(admin_migrate(db, &from, &to, &E));
	CHECK(from == db_newest(embed_migrations) && to == from);
	FAILS(admin_migrate(scratch("none"), &from, &to, &E), -ENOENT, "no such database");
	CHECK(access(scratch("none"), F_OK));
}

/* As the first pts made it. */
TEST(the_first_schema_is_brought_up)
{
	const struct embed first[] = { embed_migrations[0], { NULL, NULL, 0 } };
	const char *db = scratch("first.db");
	struct reader *r;
	struct db d;
	int from, to;

	OK(db_open(&d, db, DB_CREATE, first, &E));
	db_close(&d);
	FAILS(read_open(db, &r, &E), -EINVAL, "made by an older pts (schema 1,");
	OK(admin_migrate(db, &from, &to, &E));
	CHECK(from == 1 && to == db_newest(embed_migrations));
	DO(two_runs(db, UUID1, UUID2));
	CHECK_STR(ask(db, "SELECT count(*), count(members) FROM v_cell"), "12");
	CHECK_STR(ask(db, "SELECT count(*) FROM v_member"), "0");
}

TEST(backup_is_whole_and_replaces_nothing)
{
	const char *db = scratch("from.db"), *to = scratch("copy.db");
	struct store *st;

	OK(store_open(db, &st, &E));
	OK(write_run(st, UUID1, 5, 2, "done"));
	OK(write_run(st, UUID2, 2, 1, NULL)); /* still being written */
	OK(admin_backup(db, to, &E));
	OK(store_run_end(st, 2, "failed", &E));
	store_close(st);
	CHECK_STR(faults_of(to), "");
	CHECK_STR(ask(to, "SELECT group_concat(state) FROM v_run"), "done,interrupted");
	CHECK_STR(ask(to, "SELECT COUNT(*) FROM v_cell"), "12");
	FAILS(admin_backup(db, to, &E), -EEXIST, "copy.db: exists");
	FAILS(admin_backup(db, scratch("no/where.db"), &E), -ENOENT, "where.db");
	FAILS(admin_backup(scratch("none"), scratch("c2.db"), &E), -ENOENT, "none: no such");
	CHECK(access(scratch("c2.db"), F_OK));
	/* A copy is a database like any other. */
	OK(store_open_existing(to, &st, &E));
	OK(store_run_end(st, 2, "done", &E));
	store_close(st);
	CHECK_STR(faults_of(to), "");
}

TEST(merge_brings_runs_as_they_are)
{
	const char *a = scratch("ma.db"), *b = scratch("mb.db"), *sum = scratch("sum.db");
	char digests[512];
	struct merge_result m;

	DO(two_runs(a, UUID1, UUID2));
	OK(write_db(b, UUID3, 6, 2, "failed"));
	OK(admin_merge(sum, a, &m, &E));
	CHECK_INT(m.added, 2);
	CHECK_INT(m.present, 0);
	CHECK(strstr(m.said.s, "ma.db is now run 2\n"));
	buf_release(&m.said);
	OK(admin_merge(sum, b, &m, &E));
	CHECK_INT(m.added, 1);
	CHECK(strstr(m.said.s, "run 1 of ") && strstr(m.said.s, "mb.db is now run 3\n"));
	buf_release(&m.said);
	CHECK_STR(faults_of(sum), "");
	snprintf(digests, sizeof digests, "%s,%s",
		 ask(a, "SELECT group_concat(digest || state) FROM v_run"),
		 ask(b, "SELECT digest || state FROM v_run"));
	CHECK_STR(ask(sum, "SELECT group_concat(digest || state) FROM v_run"), digests);
	CHECK_STR(ask(sum, "SELECT group_concat(uuid) FROM v_run"), UUID1 "," UUID2 "," UUID3);
	CHECK_STR(ask(sum,
		      "SELECT group_concat(n) FROM (SELECT COUNT(*) AS n FROM run_arg GROUP BY "
		      "run_id)"),
		  "3,3,3");
	CHECK_STR(ask(sum, "SELECT COUNT(*) FROM v_host"), "3");
	CHECK_STR(ask(sum, "SELECT COUNT(DISTINCT plan) || COUNT(*) FROM v_test"), "13");
	CHECK_STR(ask(sum, "SELECT SUM(count) = (SELECT SUM(ios) FROM v_cell) FROM v_histogram"),
		  "1");
	/* Started where they started. */
	CHECK_STR(ask(sum, "SELECT started_utc || ended_utc FROM v_run WHERE run_id = 3"),
		  ask(b, "SELECT started_utc || ended_utc FROM v_run"));

	/* Again: nothing new, and both ways. */
	OK(admin_merge(sum, a, &m, &E));
	CHECK_INT(m.added, 0);
	CHECK_INT(m.present, 2);
	CHECK(strstr(m.said.s, "ma.db is here already, as run 2\n"));
	buf_release(&m.said);
	OK(admin_merge(b, sum, &m, &E));
	CHECK_INT(m.added, 2);
	CHECK_INT(m.present, 1);
	buf_release(&m.said);
	CHECK_STR(faults_of(b), "");
	/* A merged run that was interrupted can go on. */
	struct store *st;
	OK(store_open(sum, &st, &E));
	OK(store_event(st, 2, "resume", NULL, &E));
	OK(store_run_end(st, 2, "done", &E));
	store_close(st);
	CHECK_STR(faults_of(sum), "");
	OK(admin_merge(sum, a, &m, &E));
	CHECK(strstr(m.said.s, "as run 2 (with another head)\n"));
	buf_release(&m.said);
}

TEST(merge_refuses)
{
	const char *a = scratch("ra.db"), *b = scratch("rb.db");
	struct merge_result m;

	DO(two_runs(a, UUID1, UUID2));
	OK(write_db(b, UUID3, 6, 2, "failed"));
	FAILS(admin_merge(a, a, &m, &E), -EINVAL, "are the same file");
	FAILS(admin_merge(a, scratch("none"), &m, &E), -ENOENT, "none: no such database");
	FAILS(admin_merge(scratch("new.db"), scratch("none"), &m, &E), -ENOENT, "none");
	CHECK(access(scratch("new.db"), F_OK)); /* not made for nothing */
	OK(by_hand(b, "DROP TRIGGER cell_no_update; UPDATE cell SET art_ns = 1 WHERE ordinal = 3"));
	FAILS(admin_merge(a, b, &m, &E), -EBADMSG,
	      "rb.db has faults, nothing is merged; the first: run 1: cell 3 (iops test, round 2)");
	CHECK_STR(ask(a, "SELECT COUNT(*) FROM run"), "2");
}

TEST(chains_are_listed)
{
	const char *db = scratch("list.db");
	struct buf text = BUF_INIT, doc = BUF_INIT;
	struct json j = JSON_INIT(&doc);
	struct reader *r;
	struct table *t;

	DO(two_runs(db, UUID1, UUID2));
	OK(read_open(db, &r, &E));
	t = admin_chains(r, &E);
	CHECK_MSG(t, "%s", E.msg);
	CHECK_INT(table_rows(t), 2);
	table_print(t, &text);
	CHECK(strstr(text.s, "interrupted") && strstr(text.s, UUID1));
	table_json(t, &j, NULL);
	CHECK(strstr(doc.s, "\"uuid\":\"" UUID2 "\"") && strstr(doc.s, "\"sealed\":true"));
	table_free(t);
	read_close(r);
	buf_release(&text);
	buf_release(&doc);
}

TEST_MAIN
