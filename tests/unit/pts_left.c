/* SPDX-License-Identifier: MIT */
/* Notes for after a crash: they last, are found again, and go when all went well. */
#include "tests/test.h"

#include "pts/left.h"
#include "tests/unit/pts_tree.h"

static struct err err;
static struct left l[LEFT_MAX];

static struct dut_info drive(const char *path, const char *serial)
{
	struct dut_info d = { .kind = DUT_BLOCK };

	snprintf(d.path, sizeof d.path, "%s", path);
	snprintf(d.serial, sizeof d.serial, "%s", serial);
	snprintf(d.model, sizeof d.model, "ACME 9000");
	return d;
}

static void begin(void)
{
	tree_begin_in("/tmp");
	setenv("XDG_STATE_HOME", root, 1);
	err.msg[0] = 0;
}

TEST(a_note_is_found_and_goes)
{
	struct dut_info d = drive("/dev/sda", "S 1/\"x\""), other = drive("/dev/sdb", "S2");

	begin();
	CHECK_INT(left_of("x.db", &d, l), 0);
	CHECK_MSG(!left_put("x.db", &d, "ata-password", "a password\nof 32 bytes", &err), "%s",
		  err.msg);
	CHECK_MSG(!left_put("x.db", &other, "ata-password", "another", &err), "%s", err.msg);
	CHECK_INT(left_list("x.db", l), 2);
	CHECK_INT(left_of("x.db", &d, l), 1);
	CHECK_STR(l[0].serial, "S 1/\"x\"");
	CHECK_STR(l[0].detail, "a password of 32 bytes");
	CHECK_STR(l[0].what, "ata-password");
	CHECK_STR(l[0].path, "/dev/sda");
	CHECK(strlen(l[0].utc) >= 20);
	CHECK(!left_remove("x.db", &d, &err));
	CHECK_INT(left_of("x.db", &d, l), 0);
	CHECK_INT(left_of("x.db", &other, l), 1);
	CHECK(!left_remove("x.db", &d, &err)); /* nothing to do is fine */
	tree_end();
}

TEST(the_same_drive_under_another_name)
{
	struct dut_info d = drive("/dev/sda", "S1"), moved = drive("/dev/sdc", "S1"),
			in_its_place = drive("/dev/sda", "S2");

	begin();
	CHECK(!left_put("x.db", &d, "ata-password", "a", &err));
	CHECK_INT(left_of("x.db", &moved, l), 1);
	CHECK_INT(left_of("x.db", &in_its_place, l), 0);
	CHECK(!left_put("x.db", &moved, "ata-password", "b", &err)); /* in place of the older */
	CHECK_INT(left_of("x.db", &d, l), 1);
	CHECK_STR(l[0].detail, "b");
	tree_end();
}

TEST(where_the_state_cannot_be_kept_it_lies_beside_the_database)
{
	struct dut_info d = drive("/dev/sda", "S1");
	char db[PATH_MAX];

	begin();
	put("file", "no folder");
	setenv("XDG_STATE_HOME", in_tree(db, "file"), 1);
	in_tree(db, "x.db");
	CHECK_MSG(!left_put(db, &d, "ata-password", "a", &err), "%s", err.msg);
	CHECK_INT(left_of(db, &d, l), 1);
	CHECK_MSG(!strncmp(l[0].file, root, strlen(root)), "%s", l[0].file);
	tree_end();
}

TEST(nowhere_is_an_error)
{
	struct dut_info d = drive("/dev/sda", "S1");

	begin();
	put("file", "no folder");
	setenv("XDG_STATE_HOME", "/proc/nosuch", 1);
	CHECK(left_put("/proc/x.db", &d, "ata-password", "a", &err));
	CHECK(strstr(err.msg, "no note can be kept in /proc"));
	tree_end();
}

TEST(what_is_no_note_is_none)
{
	begin();
	put("pts/a.pts-left", "");
	put("pts/b.pts-left", "something else\nwhat=x\npath=y\n");
	put("pts/c.pts-left", "pts left/1\nwhat=x\n"); /* of no drive */
	put("pts/d.pts-left.new", "pts left/1\nwhat=x\npath=/dev/sda\n");
	CHECK_INT(left_list("x.db", l), 0);
	put("pts/e.pts-left", "pts left/1\nunknown=1\nwhat=x\npath=/dev/sda\n");
	CHECK_INT(left_list("x.db", l), 1);
	tree_end();
}

TEST(the_note_of_a_drive_among_too_many)
{
	struct dut_info d = drive("/dev/sda", "S1");
	char name[64], text[128];

	begin();
	CHECK_MSG(!left_put("x.db", &d, "ata-password", "a", &err), "%s", err.msg);
	for (unsigned i = 0; i < 2 * LEFT_MAX; i++) {
		snprintf(name, sizeof name, "pts/T%u.pts-left", i);
		snprintf(text, sizeof text, "pts left/1\nwhat=x\npath=/dev/sdb\nserial=T%u\n", i);
		put(name, text);
	}
	CHECK_INT(left_list("x.db", l), LEFT_MAX);
	CHECK_INT(left_of("x.db", &d, l), 1);
	CHECK_MSG(!left_remove("x.db", &d, &err), "%s", err.msg);
	CHECK_INT(left_of("x.db", &d, l), 0);
	tree_end();
}

TEST(a_note_of_somebody_else_does_no_harm)
{
	char path[PATH_MAX];

	begin();
	put("pts/a.pts-left", "pts left/1\nwhat=x\npath=/dev/sda\ndetail=\033]0;x\007y\177\n");
	if (mkfifo(in_tree(path, "pts/b.pts-left"), 0600)) /* nobody writes to it: not waited for */
		abort();
	CHECK_INT(left_list("x.db", l), 1);
	CHECK_STR(l[0].detail, " ]0;x y ");
	tree_end();
}

TEST_MAIN
