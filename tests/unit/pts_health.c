/* SPDX-License-Identifier: MIT */
/* Health between cells, the write cache, and rounds that fail: the interpreter on a scripted drive. */
#include "tests/unit/pts_fake.h"

#define HEAD "test t \"T\" clause X\n  purge\n"

/* What the scripted drive answers, by the number of the question (from 1); the questions stand among the cells. */
static struct health (*answer)(unsigned n);
static int answer_rc;
static unsigned asked;
static struct dut_ops ops;

static int fake_health(struct dut *d, struct health *ret, struct err *err)
{
	struct fake *f = fake_of(d);

	asked++;
	f->cells_len += (size_t)snprintf(f->cells + f->cells_len, sizeof f->cells - f->cells_len,
					 "H;");
	if (answer_rc)
		return err_set(err, answer_rc, "the log cannot be read");
	*ret = answer(asked);
	return 0;
}

static double flat(const struct fake *f, const struct segment *g)
{
	(void)f;
	(void)g;
	return 1000;
}

static struct health mild(unsigned n)
{
	return (struct health){ .have_temperature = true, .temperature_c = 30 + (n > 2) };
}

static void begin(struct rig *g, const char *definition, struct health (*fn)(unsigned))
{
	DO(rig_init(g, definition, "t", flat));
	ops = fake_ops;
	ops.health = fake_health;
	g->fake.dut.ops = &ops;
	answer = fn;
	answer_rc = 0;
	asked = 0;
}

#define EVENTS(kind) "SELECT count(*) FROM v_event WHERE kind = '" kind "'"

/* ---- when the drive is asked ---- */

TEST(nobody_asks_between_a_stimulus_and_the_end_of_its_idle)
{
	struct rig g;

	DO(begin(&g,
		 HEAD "  repeat 3\n    run rnd-4k-w threads 1 qd 1 for 5s as stimulus label x\n"
		      "    idle 10s\n  end\n"
		      "  run rnd-4k-w threads 1 qd 1 for 20s every 5s as baseline\nend\n",
		 mild));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_STR(g.fake.cells, "H;rnd-4k-w;idle;H;rnd-4k-w;idle;H;rnd-4k-w;idle;H;"
				"rnd-4k-w;rnd-4k-w;H;rnd-4k-w;rnd-4k-w;H;");
	rig_release(&g);
}

/* An idle at the head of a block follows the cell at its end, and the one before the block. */
TEST(an_idle_that_comes_by_another_way)
{
	struct rig g;

	DO(begin(&g,
		 HEAD "  run rnd-4k-w threads 1 qd 1 for 20s\n  repeat 2\n    idle 20s\n"
		      "    run rnd-4k-w threads 1 qd 1 for 20s\n  end\n"
		      "  run rnd-4k-w threads 1 qd 1 for 20s\nend\n",
		 mild));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_STR(g.fake.cells, "H;rnd-4k-w;idle;H;rnd-4k-w;idle;H;rnd-4k-w;rnd-4k-w;H;");
	rig_release(&g);
}

TEST(short_cells_are_asked_after_once_in_ten_seconds)
{
	struct rig g;

	DO(begin(&g, HEAD "  run rnd-4k-w threads 1 qd 1 for 60s every 1s as step\nend\n", mild));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(asked, 1 + 6);
	/* the purge took a second, so that the first cells have the temperature of the start */
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE temperature_c IS NULL"), 0);
	CHECK_INT(rig_num(&g, "SELECT temperature_c FROM v_cell ORDER BY cell_id"), 30);
	CHECK_INT(rig_num(&g, "SELECT max(temperature_c) FROM v_cell"), 31);
	CHECK_INT(rig_num(&g, EVENTS("note")), 0);
	rig_release(&g);
}

TEST(an_old_answer_is_not_the_temperature_of_a_cell)
{
	struct rig g;

	DO(begin(&g, HEAD "  run rnd-4k-w threads 1 qd 1 for 60s\n  idle 60s\nend\n", mild));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE temperature_c IS NULL AND phase = "
			      "'step'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT temperature_c FROM v_cell WHERE phase = 'idle'"), 30);
	rig_release(&g);
}

/* ---- answers that are none ---- */

static struct health constant(unsigned n)
{
	(void)n;
	return (struct health){ .have_temperature = true, .temperature_c = 40 };
}

static struct health absurd(unsigned n)
{
	return (struct health){ .have_temperature = true, .temperature_c = n == 3 ? 33 : -273 };
}

#define MINUTES HEAD "  run rnd-4k-w threads 1 qd 1 for 6m every 1m as step\nend\n"

TEST(a_temperature_that_never_changes_is_noted)
{
	struct rig g;

	DO(begin(&g, MINUTES, constant));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'note' AND detail ->> "
			      "'$.text' LIKE '%never changed%'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE temperature_c = 40"), 6);
	rig_release(&g);
}

TEST(a_temperature_that_cannot_be_is_none)
{
	struct rig g;

	DO(begin(&g, MINUTES, absurd));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE temperature_c IS NULL"), 5);
	CHECK_INT(rig_num(&g, "SELECT max(temperature_c) FROM v_cell"), 33);
	CHECK_INT(rig_num(&g, EVENTS("note")), 1);
	rig_release(&g);
}

TEST(health_that_cannot_be_read_never_stops_a_test)
{
	struct rig g;

	DO(begin(&g, MINUTES, constant));
	answer_rc = -EIO;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE temperature_c IS NULL"), 6);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'note' AND detail ->> "
			      "'$.text' = 'the log cannot be read'"),
		  1);
	rig_release(&g);
}

/* ---- throttling, link, critical warnings ---- */

static struct health hot(unsigned n)
{
	struct health h = { .have_temperature = true, .temperature_c = 50 + n };

	h.throttled = n == 3 || n == 4;
	return h;
}

TEST(throttling_names_the_cells_it_touched)
{
	struct rig g;

	DO(begin(&g, MINUTES, hot));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	/* question 1 is before the purge, so that answers 3 and 4 are of cells 2 and 3 */
	CHECK_INT(rig_num(&g, "SELECT sum(1 << segment) FROM v_cell WHERE note LIKE '%throttled%'"),
		  6);
	CHECK_INT(rig_num(&g, EVENTS("throttle")), 2);
	CHECK_INT(rig_num(&g, "SELECT detail ->> '$.segment' FROM v_event WHERE kind = 'throttle'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT detail ->> '$.cells' FROM v_event WHERE kind = 'throttle' "
			      "ORDER BY event_id DESC"),
		  2);
	CHECK_INT(g.verdict, VERDICT_DONE);
	rig_release(&g);
}

static struct health always_hot(unsigned n)
{
	struct health h = hot(n);

	h.throttled = n > 1;
	return h;
}

TEST(throttling_at_the_end_is_told)
{
	struct rig g;

	DO(begin(&g, MINUTES, always_hot));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT detail ->> '$.cells' FROM v_event WHERE kind = 'throttle' "
			      "ORDER BY event_id DESC"),
		  6);
	rig_release(&g);
}

static struct health loose(unsigned n)
{
	struct health h = { .critical = false };

	snprintf(h.link, sizeof h.link, n == 4 || n == 5 ? "8.0 GT/s x4" : "16.0 GT/s x4");
	return h;
}

TEST(a_link_that_changes_is_told_with_its_cells)
{
	struct rig g;

	DO(begin(&g, MINUTES, loose));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, EVENTS("link")), 2);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_event WHERE kind = 'link' AND detail ->> "
			      "'$.first' = '16.0 GT/s x4' AND detail ->> '$.now' = '8.0 GT/s x4'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT sum(1 << segment) FROM v_cell WHERE note LIKE "
			      "'%link 8.0 GT/s x4, at first 16.0 GT/s x4%'"),
		  4 + 8);
	rig_release(&g);
}

/* The run keeps the link of its first test: one that was lost in between is told in the next. */
TEST(the_first_link_is_of_the_run)
{
	char link[32] = "16.0 GT/s x8";
	struct rig g;

	DO(begin(&g, MINUTES, loose));
	g.ctx.link = link;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_STR(link, "16.0 GT/s x8");
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE note LIKE "
			      "'%at first 16.0 GT/s x8%'"),
		  6);
	rig_release(&g);
}

static struct health burning(unsigned n)
{
	struct health h = { .critical = n == 4 };

	snprintf(h.text, sizeof h.text, "%s", h.critical ? "spare below its threshold" : "");
	return h;
}

TEST(a_critical_warning_stops_and_can_be_resumed)
{
	struct rig g;

	DO(begin(&g, MINUTES, burning));
	CHECK_INT(rig_run(&g), HEALTH_STOP);
	CHECK_MSG(strstr(g.err.msg, "spare below its threshold"), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE partial = 0"), 3);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE verdict IS NULL"), 1);
	CHECK_INT(rig_num(&g, EVENTS("critical")), 1);
	CHECK(g.fake.cache); /* put back */
	rig_release(&g);
}

TEST(a_critical_warning_may_be_told_and_no_more)
{
	struct rig g;

	DO(begin(&g, MINUTES, burning));
	g.ctx.critical_goes_on = true;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell"), 6);
	CHECK_INT(rig_num(&g, EVENTS("critical")), 1);
	CHECK_INT(rig_num(&g, "SELECT segment FROM v_cell WHERE note LIKE '%critical%'"), 2);
	rig_release(&g);
}

static struct health ill(unsigned n)
{
	(void)n;
	return (struct health){ .critical = true };
}

TEST(a_drive_that_is_critical_is_not_begun_with)
{
	struct rig g;

	DO(begin(&g, MINUTES, ill));
	CHECK_INT(rig_run(&g), HEALTH_STOP);
	CHECK_INT(g.fake.purges, 0);
	CHECK_STR(g.fake.cells, "H;");
	rig_release(&g);
}

/* ---- write cache ---- */

#define CACHE "SELECT count(*) FROM v_event WHERE kind = 'write-cache' AND detail ->> "

TEST(the_write_cache_is_set_told_and_put_back)
{
	struct rig g;

	DO(begin(&g, MINUTES, mild));
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK(g.fake.cache);
	CHECK_INT(rig_num(&g, CACHE "'$.was' = 'on' AND detail ->> '$.now' = 'off'"), 1);
	CHECK_INT(rig_num(&g, CACHE "'$.now' = 'on' AND detail ->> '$.put_back' = 1"), 1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE write_cache = 'off'"), 1);
	rig_release(&g);
}

TEST(the_write_cache_is_put_back_after_errors_and_stops)
{
	for (int how = 0; how < 3; how++) {
		struct rig g;

		DO(begin(&g, MINUTES, mild));
		if (how == 0)
			g.fake.fail_at = 2, g.fake.fail_n = 9;
		if (how == 1)
			g.fake.stop_at = 3;
		if (how == 2)
			g.fake.fail_at = 1, g.fake.fail_n = 9, g.fake.fail_rc = -ENODEV;
		CHECK(rig_run(&g) < 0);
		CHECK(g.fake.cache);
		CHECK_INT(rig_num(&g, CACHE "'$.put_back' = 1"), 1);
		rig_release(&g);
	}
}

static bool purge_switches_to;

static int switching_purge(struct dut *d, enum purge_method m, struct purge_report *r,
			   struct err *err)
{
	int rc = fake_purge(d, m, r, err);

	fake_of(d)->cache = purge_switches_to;
	return rc;
}

#define TWICE \
	"test t \"T\" clause X\n  foreach s in 4k 8k\n    purge\n" \
	"    run rnd rw 0/100 bs $s threads 1 qd 1 for 1m\n  end\nend\n"

/* What the drive had before the first purge is what it gets back, whatever purges do to the setting. */
TEST(a_purge_that_switches_the_cache_changes_nothing)
{
	for (int on = 0; on < 2; on++) {
		struct rig g;

		DO(begin(&g, TWICE, mild));
		ops.purge = switching_purge;
		purge_switches_to = on;
		g.fake.cache = on;
		CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
		CHECK_INT(g.fake.cache, on);
		CHECK_INT(g.fake.purges, 2);
		CHECK_INT(rig_num(&g, CACHE "'$.asked' = 'off'"), 2);
		rig_release(&g);
	}
}

/* A process that died could not put it back: the attempt after it knows what to put back. */
TEST(an_earlier_attempt_is_put_right)
{
	struct rig g;

	DO(begin(&g, MINUTES, mild));
	g.fake.cache = false;
	g.ctx.cache_was = "on";
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK(g.fake.cache);
	rig_release(&g);
}

static int no_cache(struct dut *d, bool on, bool *was, struct err *err)
{
	(void)d;
	(void)on;
	(void)was;
	return err_set(err, -EOPNOTSUPP, "cannot");
}

TEST(a_cache_that_cannot_be_switched_is_a_deviation)
{
	struct rig g;

	DO(begin(&g, TWICE, mild));
	ops.write_cache = no_cache;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_deviation WHERE text LIKE '%write cache%'"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE write_cache = 'unknown'"), 1);
	rig_release(&g);
}

/* ---- rounds that fail ---- */

#define DV \
	HEAD "  loop rounds 9 until steady\n" \
	     "    run rnd-4k-w threads 2 qd 2 for 5m as irpw\n" \
	     "    run rnd-8k-65-35 threads 2 qd 2 for 1m\n" \
	     "    run rnd-8k-65-35 threads 1 qd 1 for 1m\n" \
	     "    track iops of threads 2 qd 2\n  end\nend\n"

TEST(a_void_round_is_repeated_from_its_prewrite)
{
	struct rig g;

	DO(begin(&g, DV, mild));
	ops.health = NULL;
	g.fake.fail_at = 2 * 3 + 3; /* the last cell of round 3 */
	g.fake.fail_n = 1;
	CHECK_MSG(!rig_run(&g), "%s", g.err.msg);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_cell WHERE round = 3 AND phase = 'irpw'"), 2);
	CHECK_INT(rig_num(&g, "SELECT void FROM v_cell WHERE round = 3 AND phase = 'irpw' AND "
			      "round_try = 1"),
		  1);
	CHECK_INT(rig_num(&g, "SELECT window_first * 100 + window_last FROM v_test"), 307);
	rig_release(&g);
}

TEST(an_error_before_the_rounds_ends_the_test)
{
	struct rig g;

	DO(begin(&g,
		 HEAD "  fill seq-128k-w 1x threads 1 qd 1\n"
		      "  run rnd-4k-w threads 1 qd 1 for 1m as histogram\nend\n",
		 mild));
	g.fake.fail_at = g.fake.fail_n = 1;
	CHECK_INT(rig_run(&g), -EIO);
	CHECK_INT(rig_num(&g, "SELECT count(*) FROM v_test WHERE verdict = 'failed'"), 1);
	CHECK_INT(g.fake.segments, 1);
	rig_release(&g);
}

TEST_MAIN
