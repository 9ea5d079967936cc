/* SPDX-License-Identifier: MIT */
/* Tables, views and triggers of a file against those that the migrations make. */
#include "tests/unit/schema_fixture.h"

#include <errno.h>

#define UUID1 "11111111-2222-4333-8444-555555555555"

static const char *made(const char *name)
{
	const char *db = scratch(name);

	return write_db(db, UUID1, 2, 1, "done") ? "(not made)" : db;
}

/* What a doubting reader finds in run 1, or (notes) what is not of pts. */
static const char *seen_in(const char *path, bool notes)
{
	static char text[4096];
	struct buf lines = BUF_INIT;
	struct reader *r;
	int rc = read_open_doubted(path, &r, &E);

	if (rc)
		return E.msg;
	rc = notes ? read_check_others(r, &lines, &E) : read_check_evidence(r, 1, &lines, &E);
	read_close(r);
	snprintf(text, sizeof text, "%s", rc ? E.msg : buf_cstr(&lines));
	buf_release(&lines);
	return text;
}

static const char *notes_of(const char *path)
{
	return seen_in(path, true);
}

static const char *doubts_of(const char *path)
{
	return seen_in(path, false);
}

/* @sql changes the file: then it is refused for reading and for writing, with @fault, and a check tells it. */
static void refused(const char *sql, const char *fault)
{
	const char *db = made("refused.db");
	char line[200];
	struct reader *r;
	struct store *st;

	OK(by_hand(db, sql));
	FAILS(read_open(db, &r, &E), -EINVAL, fault);
	FAILS(store_open(db, &st, &E), -EINVAL, fault);
	FAILS(store_open_existing(db, &st, &E), -EINVAL, fault);
	snprintf(line, sizeof line, "%s\n", fault);
	CHECK_STR(doubts_of(db), line);
	unlink(db);
}

TEST(what_pts_made_is_in_shape)
{
	const char *db = made("fine.db");

	CHECK_STR(faults_of(db), "");
	CHECK_STR(doubts_of(db), "");
	CHECK_STR(notes_of(db), "");
}

TEST(a_redefined_view_is_refused)
{
	DO(refused("DROP VIEW v_deviation; CREATE VIEW v_deviation AS SELECT run_id, clause, text "
		   "FROM "
		   "deviation WHERE 0",
		   "view v_deviation: not the one that pts makes"));
	DO(refused("DROP VIEW v_deviation", "view v_deviation: missing"));
	/* under the same name, but another thing */
	DO(refused("DROP VIEW v_deviation; CREATE TABLE v_deviation (run_id, clause, text)",
		   "view v_deviation: missing"));
}

TEST(blanks_and_comments_are_no_change)
{
	const char *db = made("blanks.db");

	OK(by_hand(db, "DROP VIEW v_deviation; CREATE VIEW v_deviation AS\n\tSELECT /* all */ "
		       "run_id, "
		       "clause,  text -- of it\n FROM deviation"));
	CHECK_STR(faults_of(db), "");
	DO(refused("DROP VIEW v_deviation; CREATE VIEW v_deviation AS SELECT run_id, clause, "
		   "'text' FROM deviation",
		   "view v_deviation: not the one that pts makes"));
}

TEST(a_changed_table_or_trigger_is_refused)
{
	DO(refused("ALTER TABLE deviation ADD COLUMN more TEXT",
		   "table deviation: not the one that pts makes"));
	DO(refused("DROP TRIGGER deviation_no_delete; CREATE TRIGGER deviation_no_delete BEFORE "
		   "DELETE ON deviation BEGIN SELECT 1; END",
		   "trigger deviation_no_delete: not the one that pts makes"));
	DO(refused("CREATE TRIGGER sly BEFORE INSERT ON deviation BEGIN SELECT RAISE(IGNORE); END",
		   "trigger sly: not of pts, on a table of it"));
	DO(refused("CREATE TABLE json_each (key, value)",
		   "table json_each: not of pts, under the name of a function it uses"));
}

TEST(what_is_the_users_own_is_a_note)
{
	const char *db = made("own.db");

	OK(by_hand(db,
		   "CREATE TABLE lab (x); CREATE VIEW mine AS SELECT * FROM v_cell; CREATE INDEX "
		   "quick ON cell (art_ns);"
		   "CREATE TRIGGER lab_t AFTER INSERT ON lab BEGIN SELECT 1; END;"
		   "DROP TRIGGER cell_no_update"));
	CHECK_STR(faults_of(db), "");
	CHECK_STR(notes_of(db), "trigger cell_no_update: missing\n"
				"table lab: not of pts\nview mine: not of pts\n"
				"index quick: not of pts\ntrigger lab_t: not of pts\n");
}

TEST_MAIN
