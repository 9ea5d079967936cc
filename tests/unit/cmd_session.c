/* SPDX-License-Identifier: MIT */
/* What a run sees to about its drive: notes for after a crash, is it the same still, what a purge of another target reaches. */
#include "tests/test.h"

#include <errno.h>

#include "pts/cmd_session.h"
#include "pts/left.h"
#include "tests/unit/cmd_main.h"
#include "tests/unit/pts_tree.h"

static struct err err;
static struct left l[LEFT_MAX];
static struct opts o = { .command = "purge", .db = "x.db", .quiet = true };

static int begin(struct session *s)
{
	static char name[PATH_MAX];
	int rc;

	tree_begin_in("/tmp");
	setenv("XDG_STATE_HOME", root, 1);
	err.msg[0] = 0;
	snprintf(name, sizeof name, "file:%s/f?size=128k", root);
	o.dut.v[0] = name;
	o.dut.n = 1;
	*s = (struct session){ .o = &o };
	rc = session_look(s, &o, &err);
	if (!rc)
		rc = session_gate(s, &err);
	return rc ? rc : session_open_dut(s, &err);
}

static void end(struct session *s)
{
	session_close(s);
	tree_end();
}

TEST(U06_a_note_is_there_before_and_gone_after)
{
	struct session s;
	unsigned before, between, after;
	int rc = begin(&s);

	CHECK_MSG(!rc, "%s", err.msg);
	before = left_of(o.db, &s.facts, l);
	rc = s.dut->record(s.dut->arg, "ata-password", "set for an erase", &err);
	between = left_of(o.db, &s.facts, l);
	s.dut->tell(s.dut->arg, "43 %");
	rc = rc ? rc : session_purged(&s, &err);
	after = left_of(o.db, &s.facts, l);
	end(&s);
	CHECK_MSG(!rc, "%s", err.msg);
	CHECK_INT(before, 0);
	CHECK_INT(between, 1);
	CHECK_INT(after, 0);
}

TEST(a_note_that_cannot_be_kept_stops_the_purge)
{
	struct session s;
	int rc = begin(&s);

	CHECK_MSG(!rc, "%s", err.msg);
	setenv("XDG_STATE_HOME", "/proc/nosuch", 1);
	o.db = "/proc/x.db";
	rc = s.dut->record(s.dut->arg, "ata-password", "set for an erase", &err);
	o.db = "x.db";
	end(&s);
	CHECK(rc < 0);
}

TEST(a_note_of_another_purge_stays)
{
	struct session s;
	unsigned after;
	int rc = begin(&s);

	CHECK_MSG(!rc, "%s", err.msg);
	rc = left_put(o.db, &s.facts, "ata-password", "of yesterday", &err);
	rc = rc ? rc : session_purged(&s, &err);
	after = left_of(o.db, &s.facts, l);
	end(&s);
	CHECK_MSG(!rc, "%s", err.msg);
	CHECK_INT(after, 1);
}

TEST(U03_a_target_that_shrinks_is_not_the_same)
{
	struct session s;
	char path[PATH_MAX];
	int rc = begin(&s), same, cut;

	CHECK_MSG(!rc, "%s", err.msg);
	same = session_same(&s, &err);
	rc = truncate(in_tree(path, "f"), 65536);
	cut = session_same(&s, &err);
	end(&s);
	CHECK_INT(rc, 0);
	CHECK_INT(same, 0);
	CHECK_INT(cut, -ENODEV);
	CHECK_MSG(strstr(err.msg, "capacity was 131072, is 65536"), "%s", err.msg);
}

TEST(U05_targets_side_by_side_that_erase_one_another)
{
	static struct session a, b;
	static struct dut_info in_a, in_b;

	snprintf(in_a.path, sizeof in_a.path, "/dev/nvme0n1");
	snprintf(in_b.path, sizeof in_b.path, "/dev/nvme0n2");
	a.targets.info = &in_a;
	b.targets.info = &in_b;
	a.targets.name.n = b.targets.name.n = 1;
	CHECK(!session_reaches(&a, &b));
	a.reach.n = 2;
	snprintf(a.reach.path[0], sizeof a.reach.path[0], "nvme0 nsid 3");
	CHECK(!session_reaches(&a, &b));
	snprintf(a.reach.path[1], sizeof a.reach.path[1], "/dev/nvme0n2");
	CHECK(session_reaches(&a, &b));
	CHECK(!session_reaches(&b, &a));
}

/* Between the look and the opening for writing a name may come to mean another drive of the same size. */
TEST(U03_a_name_that_means_another_drive_is_not_opened)
{
	static struct dut_info was = { .kind = DUT_BLOCK,
				       .capacity_bytes = 4096,
				       .lba_bytes = 512 };
	static char identity[] = "file 1:2", *identities[] = { identity };
	static char name[] = "/dev/nosuch";
	struct targets t = { .info = &was, .identity = identities };
	struct dut d = { .info = was };
	int rc;

	err.msg[0] = 0;
	t.name.v[0] = name;
	t.name.n = 1;
	snprintf(was.serial, sizeof was.serial, "S1");
	snprintf(d.info.serial, sizeof d.info.serial, "S2");
	CHECK_INT(targets_unchanged(&t, &d, &err), -EPERM);
	CHECK_MSG(strstr(err.msg, "serial was 'S1', is 'S2'"), "%s", err.msg);
	d.info = was;
	d.info.serial[0] = was.serial[0] = 0;
	err.msg[0] = 0;
	rc = targets_unchanged(&t, &d, &err); /* no serial: what is behind it tells */
	CHECK_INT(rc, -EPERM);
	CHECK_MSG(strstr(err.msg, "became another drive"), "%s", err.msg);
	identity[0] = 0;
	CHECK_INT(targets_unchanged(&t, &d, &err), 0);
}

TEST_MAIN
