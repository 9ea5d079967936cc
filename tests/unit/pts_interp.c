/* SPDX-License-Identifier: MIT */
/* The interpreter on a scripted drive: rounds, windows, voids, conditions, points, sections. */
#include "schema/store_private.h"
#include "tests/unit/pts_fake.h"

#define HEAD "test t \"T\" clause X\n  purge\n"
#define LOOP \
	"  loop rounds 9 until steady\n" \
	"    run rnd rw 0/100 bs 8k threads 1 qd 1 for 1m\n" \
	"    run rnd rw 0/100 bs 4k threads 1 qd 1 for 1m\n" \
	"    track iops of rw 0/100 bs 4k\n" \
	"  end\n"

static double flat(const struct fake *f, const struct segment *g)
{
	(void)f;
	(void)g;
	return 1000;
}

/* 1000, 1200, 1440, ...: never steady. Two cells a round. */
static double rising(const struct fake *f, const struct segment *g)
{
	(void)g;
	return 1000 * pow(1.2, (f->segments - 1) / 2);
}

TEST(steady_at_the_first_window)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_STEADY);
	CHECK_INT(g.fake.segments, 10);
	CHECK_INT(g.fake.purges, 1);
	CHECK(g.fake.cache); /* put back */
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell"), 10);
	CHECK_INT(rig_num(&g, "SELECT sum(in_window) FROM v_cell"), 10);
	CHECK_INT(
		rig_num(&g, "SELECT window_last FROM v_test WHERE steady = 1 AND window_first = 1"),
		5);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_steady WHERE steady = 1"), 1);
	CHECK_INT(
		rig_num(&g,
			"SELECT purge_verified FROM v_section WHERE purge_method = 'nvme-format'"),
		1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_deviation"), 0);
	rig_release(&g);
}

TEST(not_achieved_goes_on_and_says_so)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD LOOP "  run rnd rw 0/100 bs 4k threads 1 qd 1 for 1m as histogram\nend\n",
		    "t", rising));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_NOT_ACHIEVED);
	CHECK_INT(g.fake.segments, 19);
	CHECK_INT(rig_num(&g, "SELECT window_first FROM v_test WHERE steady = 0 AND rounds = 9 AND "
			      "window_last = 9"),
		  5);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_deviation WHERE text LIKE '%steady state not "
			      "achieved%'"),
		  1);
	rig_release(&g);
}

/* 1000 * 1.2^i, a cell a round. */
static double rising_each(const struct fake *f, const struct segment *g)
{
	(void)g;
	return 1000 * pow(1.2, f->segments - 1);
}

TEST(U14_25_rounds_and_never_steady)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop rounds 25 until steady\n"
			 "    run rnd rw 0/100 bs 4k threads 1 qd 1 for 1m\n"
			 "    track iops of rw 0/100 bs 4k\n  end\nend\n",
		    "t", rising_each));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_NOT_ACHIEVED);
	CHECK_INT(g.fake.segments, 25);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_steady WHERE steady = 0"), 21);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_steady WHERE steady"), 0);
	CHECK_INT(rig_num(&g, "SELECT rounds FROM v_test WHERE steady = 0 AND window_first = 21 "
			      "AND window_last = 25 AND verdict = 'not achieved'"),
		  25);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE in_window AND round > 20"), 5);
	CHECK_INT(rig_num(&g, "SELECT sum(in_window) FROM v_cell"), 5);
	CHECK_NEAR(rig_num(&g, "SELECT iops FROM v_cell WHERE round = 25"), 1000 * pow(1.2, 24),
		   1e-6);
	rig_release(&g);
}

TEST(an_error_voids_the_round_once)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.fail_at = 6; /* second cell of round 3 */
	g.fake.fail_n = 1;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_STEADY);
	/* rounds 1 2, half of 3 void, then 3..7: the window starts anew after the void one */
	CHECK_INT(g.fake.segments, 2 * 2 + 2 + 5 * 2);
	CHECK_INT(rig_num(&g, "SELECT window_first FROM v_test WHERE window_last = 7"), 3);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE void = 1 AND round = 3 AND "
			      "round_try = 1"),
		  2);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE void = 0 AND round = 3 AND "
			      "round_try = 2"),
		  2);
	CHECK_INT(rig_num(&g, "SELECT errors FROM v_cell WHERE errors > 0"), 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'error'"), 1);
	CHECK_INT(rig_num(&g, "SELECT sum(in_window) FROM v_cell"), 10);
	rig_release(&g);
}

/* ---- the storage ---- */

static struct store *full_store; /* takes no cell from segment full_at on, but small rows */
static unsigned full_at;

static double flat_until_full(const struct fake *f, const struct segment *g)
{
	struct err ignored = { "" };

	(void)g;
	if (f->segments == full_at &&
	    db_exec(&full_store->db,
		    "CREATE TEMP TRIGGER full BEFORE INSERT ON cell BEGIN SELECT RAISE(ABORT, "
		    "'no room'); END",
		    &ignored))
		abort();
	return 1000;
}

/* No row says that the round was at fault, none that the test failed: it is begun again by resume. */
static void full_disk(bool simulated)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat_until_full));
	g.fake.dut.info.simulated = simulated;
	full_store = g.store;
	full_at = 6; /* second cell of round 3 */
	CHECK_INT(rig_run(&g), -EIO);
	CHECK_MSG(strstr(g.err.msg, "no room"), "%s", g.err.msg);
	CHECK(g.ctx.storage_failed);
	CHECK_INT(g.fake.segments, 6); /* not tried again */
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM round_void"), 0);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM test_end"), 0);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'error'"), 0);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM attempt"), 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell"), simulated ? 0 : 5);
	rig_release(&g);
}

TEST(a_full_disk_is_no_fault_of_the_round)
{
	DO(full_disk(false));
	DO(full_disk(true));
}

TEST(a_second_error_ends_the_test)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.fail_at = 6;
	g.fake.fail_n = 2;
	CHECK_INT(rig_run(&g), -EIO);
	CHECK_MSG(strstr(g.err.msg, "EIO"), "%s", g.err.msg);
	CHECK_INT(g.fake.segments, 7);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE verdict = 'failed'"), 1);
	rig_release(&g);
}

TEST(a_drive_that_is_gone_is_not_tried_again)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.fail_at = 3;
	g.fake.fail_n = 99;
	g.fake.fail_rc = -ENODEV;
	CHECK_INT(rig_run(&g), -ENODEV);
	CHECK_INT(g.fake.segments, 3);
	rig_release(&g);
}

TEST(a_stop_keeps_a_partial_cell)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.stop_at = 4;
	CHECK_INT(rig_run(&g), -EINTR);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE partial = 1"), 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE partial = 0"), 3);
	CHECK(g.fake.cache);
	rig_release(&g);
}

TEST(a_purge_that_leaves_data_stops_the_test)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.purge_rc = -EBADE;
	CHECK_INT(rig_run(&g), -EBADE);
	CHECK_MSG(strstr(g.err.msg, "3 canaries survived"), "%s", g.err.msg);
	CHECK_INT(g.fake.segments, 0);
	rig_release(&g);
}

TEST(allow_unpurged_is_a_deviation)
{
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.purge_rc = -EBADE;
	g.ctx.allow_unpurged = true;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_deviation WHERE text LIKE '%not purged%'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT purge_verified FROM v_section"), 0);
	rig_release(&g);
}

TEST(U11_after_a_purge_without_an_answer_nothing_follows)
{
	static const int lost[] = { -ETIMEDOUT, -ENODEV };

	for (unsigned i = 0; i < 2; i++) {
		struct rig g;

		DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
		g.fake.purge_rc = lost[i];
		g.ctx.allow_unpurged = true; /* that is for a drive whose state is known */
		CHECK_INT(rig_run(&g), lost[i]);
		CHECK_MSG(strstr(g.err.msg, "state of the drive is unknown"), "%s", g.err.msg);
		CHECK_INT(g.fake.segments, 0);
		rig_release(&g);
	}
}

/* What the command sees to. */
struct watcher {
	struct fake *fake;
	unsigned asked, other_at; /* from that question on it is another drive */
	int hook_rc;
	bool lost; /* the hook does not bring it back */
	unsigned hooks, purged;
	unsigned looks, used_at; /* from that look on a namespace that it would erase is used */
};

static int watch_same(void *arg, struct err *err)
{
	struct watcher *w = arg;

	return ++w->asked >= w->other_at && w->other_at ? err_set(err, -ENODEV, "another") : 0;
}

static int watch_reach(void *arg, struct err *err)
{
	struct watcher *w = arg;

	return ++w->looks >= w->used_at && w->used_at ? err_set(err, -EPERM, "in use") : 0;
}

static int watch_hook(void *arg, struct dut **ret, struct purge_report *r, struct err *err)
{
	struct watcher *w = arg;

	w->hooks++;
	*ret = w->lost ? NULL : &w->fake->dut;
	*r = (struct purge_report){ .method = PURGE_HOOK, .verified = true, .canaries = 1026 };
	return w->hook_rc ? err_set(err, w->hook_rc, "hook failed") : 0;
}

static int watch_purged(void *arg, struct err *err)
{
	((struct watcher *)arg)->purged++;
	return 0;
}

static int run_watched(struct rig *g, struct watcher *w, bool hook)
{
	struct purge_reach reach = { .n = 1 };
	struct run_guard guard = { .same = watch_same,
				   .reach_free = watch_reach,
				   .hook = watch_hook,
				   .purged = watch_purged,
				   .reach = &reach,
				   .arg = w };

	snprintf(reach.path[0], sizeof reach.path[0], "/dev/nvme0n2");
	w->fake = &g->fake;
	g->ctx.guard = &guard;
	if (hook)
		g->ctx.method = PURGE_HOOK;
	return rig_run(g);
}

TEST(U03_another_drive_ends_the_test)
{
	struct watcher first = { .other_at = 1 }, last = { .other_at = 2 };
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_INT(run_watched(&g, &first, false), -ENODEV);
	CHECK_INT(g.fake.purges, 0); /* not even purged */
	rig_release(&g);
	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_INT(run_watched(&g, &last, false), -ENODEV);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE verdict = 'failed'"), 1);
	rig_release(&g);
}

TEST(U05_what_it_would_erase_besides_is_looked_at_before_each_purge)
{
	struct watcher w = { .used_at = 2 };
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "\tpurge\nend\n", "t", flat));
	CHECK_INT(run_watched(&g, &w, false), -EPERM);
	CHECK_INT(w.looks, 2);
	CHECK_INT(g.fake.purges, 1); /* the second was not done */
	rig_release(&g);
}

TEST(U05_what_a_purge_reached_is_in_its_event)
{
	struct watcher w = { .asked = 0 };
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_MSG(!run_watched(&g, &w, false), "%s", g.err.msg);
	CHECK_INT(w.purged, 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'purge' AND detail ->> "
			      "'$.reach[0]' = '/dev/nvme0n2' AND detail ->> '$.auto'"),
		  1);
	rig_release(&g);
}

TEST(U08_a_hook_in_place_of_a_method)
{
	struct watcher good = { .asked = 0 }, bad = { .hook_rc = -EIO },
		       gone = { .hook_rc = -EIO, .lost = true };
	struct rig g;

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_MSG(!run_watched(&g, &good, true), "%s", g.err.msg);
	CHECK_INT(good.hooks, 1);
	CHECK_INT(g.fake.purges, 0);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_section WHERE purge_method = 'hook'"), 1);
	rig_release(&g);
	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	CHECK_INT(run_watched(&g, &bad, true), -EIO);
	CHECK_INT(g.fake.segments + bad.purged, 0);
	rig_release(&g);
	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.ctx.allow_unpurged = true;
	CHECK_INT(run_watched(&g, &gone, true), -ENODEV); /* there is nothing to measure */
	CHECK_INT(g.fake.segments, 0);
	rig_release(&g);
}

/* 1 GiB drive, 4 KiB at 1000/s: 60 s write 234 MiB, so the fifth minute passes 1x in the midst of the 10-minute run. */
TEST(written_is_tested_after_every_cell)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop until steady or written 1x\n"
			 "    run rnd-4k-w threads 1 qd 1 for 10m every 1m as wdpc\n"
			 "    run rnd-4k-w threads 1 qd 1 for 1m as sample\n"
			 "    track iops of sample\n  end\n"
			 "  run rnd-4k-w threads 1 qd 1 for 2m as histogram\nend\n",
		    "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_NOT_ACHIEVED);
	CHECK_INT(g.fake.segments, 5 + 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE phase = 'wdpc'"), 5);
	CHECK_INT(rig_num(&g, "SELECT max(host_bytes_written) FROM v_cell"),
		  (5 + 2) * 60 * 1000 * 4096ll);
	rig_release(&g);
}

TEST(time_is_tested_after_every_cell)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop until steady or time 30m\n"
			 "    run rnd-4k-r threads 1 qd 1 for 12m every 2m as wdpc\n"
			 "    run rnd-4k-r threads 1 qd 1 for 1m as sample\n"
			 "    track iops of sample\n  end\nend\n",
		    "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	/* 13 minutes a round: 13 + 13 + 2 + 2 = 30 */
	CHECK_INT(g.fake.segments, 7 + 7 + 2);
	CHECK_INT(rig_num(&g, "SELECT max(start_ns + elapsed_ns) FROM v_cell") / 60e9, 30);
	rig_release(&g);
}

/* The selection vector of the spec, section 14. */
static double vector(const struct fake *f, const struct segment *g)
{
	static const struct {
		unsigned tc, qd;
		double iops;
	} v[] = { { 1, 1, 10e3 },   { 2, 4, 60e3 },    { 4, 8, 105e3 },
		  { 8, 16, 199e3 }, { 16, 16, 200e3 }, { 32, 32, 201e3 } };

	(void)f;
	for (unsigned i = 0; i < 6; i++)
		if (v[i].tc == g->threads && v[i].qd == g->qd)
			return v[i].iops;
	return 1;
}

#define CELLS \
	"    run rnd-4k-w threads 32 qd 32 for 1m\n" \
	"    run rnd-4k-w threads 16 qd 16 for 1m\n" \
	"    run rnd-4k-w threads 8 qd 16 for 1m\n" \
	"    run rnd-4k-w threads 4 qd 8 for 1m\n" \
	"    run rnd-4k-w threads 2 qd 4 for 1m\n" \
	"    run rnd-4k-w threads 1 qd 1 for 1m\n" \
	"    track iops of threads 32 qd 32\n  end\n"

TEST(points_of_the_selection_vector)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop rounds 25 until steady\n" CELLS
			 "  pick max by highest iops where art < 5ms tie 1% lowest oio lowest tc "
			 "else lowest art\n"
			 "  pick strict by highest iops where art < 5ms tie 0% lowest oio lowest "
			 "tc else lowest art\n"
			 "  pick min at threads 1 qd 1\n"
			 "  pick mid by nearest iops to (highest + lowest) / 2 where art < 5ms tie "
			 "0% lowest oio lowest tc "
			 "else lowest art\n"
			 "  run rnd-4k-w at $max for 1m as histogram\nend\n",
		    "t", vector));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_point WHERE point = 'max'"), 8016);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_point WHERE point = 'strict'"),
		  16016);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_point WHERE point = 'min'"), 1001);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_point WHERE point = 'mid'"), 4008);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_cell WHERE phase = 'histogram'"),
		  8016);
	rig_release(&g);
}

TEST(no_cell_below_the_ceiling)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop rounds 25 until steady\n" CELLS
			 "  pick max by highest iops where art < 1us tie 1% lowest oio lowest tc "
			 "else lowest art\n"
			 "end\n",
		    "t", vector));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT threads * 1000 + qd FROM v_point WHERE point = 'max'"), 1001);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_deviation WHERE text LIKE '%lowest ART%'"),
		  1);
	rig_release(&g);
}

/* Nothing comes back at depth 1. */
static double silent_at_depth_one(const struct fake *f, const struct segment *g)
{
	(void)f;
	return g->acc && g->qd == 1 ? 0 : 1000;
}

/* The drive's failure, exit 3, not a mistake of the definition. */
TEST(cells_without_an_io_are_no_candidates)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  run rnd-4k-r threads 1 qd 1 for 1m\n"
			 "  run rnd-4k-r threads 1 qd 1 for 1m\n"
			 "  pick max by highest iops\nend\n",
		    "t", silent_at_depth_one));
	CHECK_INT(rig_run(&g), -EIO);
	CHECK_STR(g.err.msg, "line 5: pick max: no cell to choose from: the drive completed no IO "
			     "in 2 cells");
	rig_release(&g);
	DO(rig_init(&g,
		    HEAD "  run rnd-4k-r threads 1 qd 1 for 1m\n"
			 "  run rnd-4k-r threads 1 qd 4 for 1m\n"
			 "  pick max by highest iops\n  pick min at threads 1 qd 1\nend\n",
		    "t", silent_at_depth_one));
	CHECK_INT(rig_run(&g), -EIO);
	CHECK_INT(rig_num(&g, "SELECT qd FROM v_point"), 4);
	CHECK_STR(g.err.msg, "pick min: no cell at T1Q1 in which the drive completed an IO");
	rig_release(&g);
}

TEST(a_rate_hangs_on_a_point)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  run rnd-4k-r threads 2 qd 4 for 1m as maximum\n"
			 "  pick peak by highest iops of maximum\n"
			 "  foreach load in 10% 120%\n"
			 "    run rnd-4k-r threads 2 qd 4 rate $peak.iops * $load for 1m\n"
			 "  end\nend\n",
		    "t", vector));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_DONE);
	CHECK_INT(
		rig_num(&g,
			"SELECT rate_iops FROM cell WHERE rate_iops IS NOT NULL ORDER BY cell_id"),
		6000);
	CHECK_INT(rig_num(&g, "SELECT max(rate_iops) FROM cell"), 72000);
	rig_release(&g);
}

TEST(repeats_and_idle)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  repeat 3\n    run rnd-4k-w threads 1 qd 1 for 5s as stimulus label x\n "
			 "   idle 10s\n  end\n"
			 "end\n",
		    "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.fake.segments, 6);
	CHECK_STR(g.fake.cells, "rnd-4k-w;idle;rnd-4k-w;idle;rnd-4k-w;idle;");
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE phase = 'idle' AND ios = 0 AND "
			      "elapsed_ns = 10000000000"),
		  3);
	rig_release(&g);
}

/* dirth's preconditioning: sample, check, then the rest of the round; 121 minutes at the earliest. */
TEST(a_check_of_its_own_ends_the_loop_at_once)
{
	struct rig g;

	DO(rig_init(&g,
		    HEAD "  loop rounds 25 until steady\n"
			 "    run rnd-4k-w threads 1 qd 1 for 1m as sample\n"
			 "    track iops of sample\n    check\n"
			 "    run rnd-4k-w threads 1 qd 1 for 29m every 1m as wdpc\n  end\nend\n",
		    "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.fake.now_ns / 60000000000ull, 121);
	CHECK_INT(g.verdict, VERDICT_STEADY);
	rig_release(&g);
}

TEST(each_pass_with_a_purge_is_a_section)
{
	struct rig g;

	DO(rig_init(&g,
		    "test t \"T\" clause X\n  foreach size in 1024k 128k\n    purge\n"
		    "    fill seq rw 0/100 bs $size 2x threads 1 qd 32\n    loop rounds 25 until "
		    "steady\n"
		    "      run seq rw 0/100 bs $size threads 1 qd 32 for 1m\n"
		    "      track bytes_per_s of rw 0/100\n    end\n  end\nend\n",
		    "t", flat));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.fake.purges, 2);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_section WHERE steady = 1 AND rounds = 5"), 2);
	CHECK_INT(rig_num(&g, "SELECT section FROM v_section WHERE section_label = '128k'"), 2);
	CHECK_INT(
		rig_num(&g, "SELECT write_bytes FROM v_cell WHERE phase = 'wipc' AND section = 2"),
		2ll << 30);
	CHECK_INT(rig_num(&g, "SELECT steady FROM v_test"), 1);
	rig_release(&g);
}

/* Inside again: stored cells stand for what was done, the drive goes on behind them, verdicts are those of a whole run. */
TEST(continuing_inside_takes_stored_cells)
{
	struct rig g;
	struct recalled_cell c[5];
	struct recall r = {
		.attempt = 1, .cell = c, .n_cells = 5, .sections = 1, .rounds_closed = 2
	};

	DO(rig_init(&g, HEAD LOOP "end\n", "t", flat));
	g.fake.stop_at = 6;
	CHECK_INT(rig_run(&g), -EINTR);
	for (unsigned i = 0; i < 5; i++)
		c[i] = (struct recalled_cell){ .section = 1,
					       .step = 2 + i % 2,
					       .round = 1 + (int)i / 2,
					       .round_try = 1,
					       .ios = 60000,
					       .write_bytes = 60000ull * (i % 2 ? 4096 : 8192),
					       .elapsed_ns = 60000000000ull,
					       .art_ns = 1e6 };
	g.ctx.recall = &r;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(g.verdict, VERDICT_STEADY);
	CHECK_INT(g.fake.purges, 1);
	CHECK_INT(g.fake.segments, 6 + 5);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE partial = 0"), 10);
	CHECK_INT(rig_num(&g, "SELECT max(host_bytes_written) FROM v_cell"),
		  5 * 60000 * (4096ll + 8192));
	CHECK_INT(rig_num(&g, "SELECT window_last FROM v_test WHERE steady = 1"), 5);
	rig_release(&g);
}

TEST_MAIN
