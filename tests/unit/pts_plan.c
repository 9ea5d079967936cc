/* SPDX-License-Identifier: MIT */
/* The plan compiler: what steps a test becomes on a drive, what it costs, what it says no to. */
#include <errno.h>

#include "tests/unit/pts_plan_rig.h"
#include "workloads/dut.h"

#define MIN 60000000000ull

/* Compiles the one test "x" of a text. */
static int compile_text(const char *text, const struct plan_env *env)
{
	static struct parser ps;
	static struct def_lib own;
	struct def *x;

	test_named("iops");
	def_lib_release(&own);
	own.profile = lib.profile;
	own.set = 1;
	ps = (struct parser){ .arena = &own.arena, .err = &err, .source = "here" };
	int rc = def_parse_text(&ps, "here.pts", text, strlen(text));
	if (rc)
		return rc;
	for (x = ps.first; x->next; x = x->next)
		;
	/* Before the built-in ones, so that those are found too. */
	x->next = lib.first;
	own.first = ps.first;
	if (have_plan)
		plan_release(&plan);
	x = ps.first;
	while (strcmp(x->name, "x"))
		x = x->next;
	rc = plan_compile(&own, x, env, &plan, &err);
	have_plan = !rc;
	return rc;
}

static struct plan_env small_env(void)
{
	return (struct plan_env){ .capacity_bytes = 1 << 30, .lba_bytes = 512, .members = 4 };
}

/* ---- durations: spec 15, fills left out ---- */

static const struct plan_speed none = { 0 };

static void cost_is(const char *name, uint64_t min, uint64_t max)
{
	struct plan_cost c;

	for (int client = 0; client < 2; client++) {
		DO(compile(name, client, false, false));
		plan_cost(&plan, &none, &c);
		CHECK_MSG(c.min_ns == min * MIN, "%s: at least %.1f min", name,
			  (double)c.min_ns / MIN);
		CHECK_MSG(c.max_ns == max * MIN, "%s: at most %.1f min", name,
			  (double)c.max_ns / MIN);
	}
}

TEST(durations_are_those_of_the_spec)
{
	DO(cost_is("iops", 280, 1400));
	DO(cost_is("tp", 20, 100));
	DO(cost_is("lat", 45 + 20, 225 + 20));
	DO(cost_is("wsat", 155 + 20, 360 + 20));
	DO(cost_is("hir", 150 + 930, 750 + 930));
	DO(cost_is("xsr", 22 * 60, 22 * 60));
	DO(cost_is("dirth", 121 + 5 * 54 + 210, 721 + 25 * 54 + 210));
	DO(cost_is("cbw", 601, 2281));
}

TEST(hir_measures_for_930_minutes)
{
	uint64_t ns = 0, times = 1;

	DO(compile("hir", false, false, false));
	for (unsigned i = nth(STEP_LOOP, 0)->end + 1; i < plan.n; i++) {
		const struct step *s = &plan.step[i];
		times = s->op == STEP_REPEAT ? s->rounds : s->op == STEP_AGAIN ? 1 : times;
		ns += s->time_ns * times;
	}
	CHECK_INT(ns, 930 * MIN);
}

TEST(fills_and_writes_are_counted)
{
	const struct plan_speed fills = { .write_bytes_per_s = 1e9 };
	const struct plan_speed small = { .write_bytes_per_s = 1e9, .write_iops = 1000 };
	const struct plan_speed slow = { .slow_fill_bytes_per_s = 5e8, .write_bytes_per_s = 1e9 };
	const struct plan_speed reads = { .write_bytes_per_s = 1e9,
					  .write_iops = 1000,
					  .read_iops = 1e12 };
	struct plan_cost c;

	DO(compile("lat", false, false, false));
	plan_cost(&plan, &fills, &c);
	CHECK_INT(plan.members, 2); /* a set of two: twice the bytes in the same time */
	CHECK_INT(c.min_bytes, 2 * 2 * FACTS_CAPACITY);
	CHECK_INT(c.max_bytes, 2 * 2 * FACTS_CAPACITY);
	CHECK_NEAR((double)c.min_ns, 65.0 * MIN + 2.0 * FACTS_CAPACITY, 1e-9);
	CHECK_INT(c.cells_min, 1 + 45 + 1);
	CHECK_INT(c.cells_max, 1 + 225 + 1);
	/* 4K and 8K and 0.5K, each: 35 + 100 % of 1000 IOPS for a minute a round. */
	plan_cost(&plan, &small, &c);
	double round = 1000 * 60 * 1.35 * (8192 + 4096 + 512);
	CHECK_NEAR((double)(c.min_bytes - 4 * FACTS_CAPACITY),
		   2 * (5 * round + 1000.0 * 1200 * 4096), 1e-6);
	CHECK_INT(c.fill_bytes, 4 * FACTS_CAPACITY);
	/* reads that take no time: of 65/35 as many writes as alone */
	plan_cost(&plan, &reads, &c);
	round = 1000 * 60 * 2.0 * (8192 + 4096 + 512);
	CHECK_NEAR((double)(c.min_bytes - c.fill_bytes), 2 * (5 * round + 1000.0 * 1200 * 4096),
		   1e-6);
	plan_cost(&plan, &slow, &c); /* a fill may take longer, and writes no more */
	CHECK_NEAR((double)c.min_ns, 65.0 * MIN + 2.0 * FACTS_CAPACITY, 1e-9);
	CHECK_NEAR((double)c.max_ns, 245.0 * MIN + 4.0 * FACTS_CAPACITY, 1e-9);
	CHECK_INT(c.max_bytes, 4 * FACTS_CAPACITY);
}

/* What `pts plan` takes a drive to do: the more, the nearer it is to a bound. */
TEST(speeds_by_interface)
{
	struct dut_info d = { .interface = "NVMe", .link = "16.0 GT/s x4" };
	struct plan_speed s;

	plan_speed_of(&d, &s);
	CHECK_NEAR(s.write_bytes_per_s, 16e9 / 8 * 4 * 128 / 130, 1e-12);
	CHECK_NEAR(s.write_iops * 4096, s.write_bytes_per_s, 1e-12);
	CHECK_STR(s.basis, "all that PCIe 16.0 GT/s x4 carries");
	CHECK_NEAR(s.slow_fill_bytes_per_s, 500e6, 1e-12);
	snprintf(d.link, sizeof d.link, "5.0 GT/s x2");
	plan_speed_of(&d, &s);
	CHECK_NEAR(s.write_bytes_per_s, 1e9, 1e-12);
	snprintf(d.interface, sizeof d.interface, "SATA");
	snprintf(d.link, sizeof d.link, "6.0 Gbps");
	plan_speed_of(&d, &s);
	CHECK_NEAR(s.write_bytes_per_s, 550e6, 1e-12);
	for (unsigned i = 0; i < 4; i++) { /* what tells nothing */
		static const char *const links[] = { "", "x4", "16.0 GT/s x0", "? GT/s x4" };
		snprintf(d.interface, sizeof d.interface, "NVMe");
		snprintf(d.link, sizeof d.link, "%s", links[i]);
		plan_speed_of(&d, &s);
		CHECK_NEAR(s.write_bytes_per_s, 500e6, 1e-12);
	}
	d.most_write_bytes_per_s = 3e9;
	d.most_write_iops = 1e5;
	d.most_read_iops = 1e6;
	plan_speed_of(&d, &s);
	CHECK_NEAR(s.write_bytes_per_s, 3e9, 1e-12);
	CHECK_NEAR(s.slow_fill_bytes_per_s, 3e9, 1e-12);
	CHECK_NEAR(s.write_iops, 1e5, 1e-12);
	CHECK_NEAR(s.read_iops, 1e6, 1e-12);
}

TEST(wsat_may_end_by_what_is_written)
{
	const struct plan_speed fast = { .write_bytes_per_s = 10e9, .write_iops = 1e9 };
	struct plan_cost c;

	DO(compile("wsat", false, false, false));
	/* 10 GB/s for six hours would be more than four times the drive. */
	plan_cost(&plan, &fast, &c);
	CHECK(c.max_bytes <= 2 * (4 * FACTS_CAPACITY + 20 * 60 * 10000000000ull));
	CHECK(c.min_bytes <= c.max_bytes);
	CHECK(c.min_ns < 155 * MIN); /* as fast as that it is over before five rounds */
	CHECK_INT(c.max_ns, (360 + 20) * MIN); /* a slow drive takes its time */
}

TEST(quick_is_about_a_minute_a_test)
{
	static const char *const names[] = { "iops",	      "tp",	   "lat",     "wsat",
					     "hir",	      "xsr",	   "cbw",     "dirth",
					     "curve",	      "scale",	   "bounded", "multi-wsat",
					     "replay-native", "rwsw-dirth" };
	struct plan_cost c;

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		DO(compile(names[i], false, true, false));
		plan_cost(&plan, &none, &c);
		CHECK_MSG(c.max_ns <= 90000000000ull, "%s: %.0f s", names[i],
			  (double)c.max_ns / 1e9);
		CHECK(deviates("--quick"));
		CHECK(plan.formal);
	}
}

/* ---- ranges and fills ---- */

TEST(the_range_is_of_the_profile)
{
	DO(compile("iops", false, false, false));
	CHECK_INT(plan.range.bytes, FACTS_CAPACITY >> 20 << 20);
	CHECK_INT(plan.fill_range.bytes, FACTS_CAPACITY);
	CHECK_INT(nth(STEP_FILL, 0)->bytes, 2 * FACTS_CAPACITY);
	CHECK(!plan.write_cache);
	CHECK_INT(nth(STEP_RUN, 0)->threads.k, 4);
	CHECK_INT(nth(STEP_RUN, 0)->qd.k, 32);

	DO(compile("iops", true, false, false));
	CHECK_INT(plan.fill_range.bytes, FACTS_CAPACITY / 4 * 3);
	CHECK_INT(plan.range.bytes, (FACTS_CAPACITY / 4 * 3) >> 20 << 20);
	CHECK_INT(nth(STEP_FILL, 0)->bytes, 2 * FACTS_CAPACITY);
	CHECK(plan.write_cache);
	CHECK_INT(nth(STEP_RUN, 0)->threads.k, 2);
	CHECK_INT(nth(STEP_RUN, 0)->qd.k, 16);
}

TEST(quick_counts_its_own_range)
{
	DO(compile("wsat", true, true, false));
	CHECK_INT(plan.range.bytes, 1 << 30);
	CHECK_INT(nth(STEP_LOOP, 0)->cond[1].value, 1000ull << 30);
	DO(compile("tp", false, true, false));
	CHECK_INT(nth(STEP_FILL, 0)->bytes, 2ull << 30);
	CHECK_INT(plan.fill_range.bytes, 1 << 30);
}

TEST(a_small_drive_is_refused)
{
	struct plan_env env = small_env();
	const struct def *d = test_named("iops");

	env.capacity_bytes = 1 << 20;
	CHECK_INT(try_plan(d, &env), 0);
	CHECK_INT(plan.range.bytes, 1 << 20);
	env.capacity_bytes -= 512;
	CHECK_INT(try_plan(d, &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "too small") && strstr(err.msg, "1024k"), "%s", err.msg);
	env.capacity_bytes = 0;
	CHECK_INT(try_plan(d, &env), -EINVAL);
	/* 75 % of a megabyte and a bit holds no megabyte. */
	env.capacity_bytes = (1 << 20) + 4096;
	env.profile = PROFILE_CLIENT;
	CHECK_INT(try_plan(d, &env), -EINVAL);
}

TEST(a_huge_drive_does_not_overflow)
{
	struct plan_env env = small_env();

	env.capacity_bytes = 1ull << 55;
	CHECK_INT(try_plan(test_named("wsat"), &env), 0);
	CHECK_INT(nth(STEP_LOOP, 0)->cond[1].value, 1ull << 57);
	CHECK_INT(plan.range.bytes, 1ull << 55);
}

TEST(segments_lie_in_their_part_of_the_range)
{
	struct plan_env env = small_env();

	CHECK_INT(compile_text("test x \"X\" clause -\n range 75% amount 64m segments 16\n"
			       " run rnd rw 0/100 bs 64k for 1m\nend\n",
			       &env),
		  0);
	CHECK_INT(plan.range.bytes, (1 << 30) / 4 * 3);
	CHECK_INT(plan.range.n_seg, 16);
	CHECK_INT(plan.range.seg_bytes, 4 << 20);
	CHECK_INT(plan.fill_range.n_seg, 0);
	CHECK_INT(compile_text("test x \"X\" clause -\n range 75% amount 1g segments 16\n"
			       " run rnd rw 0/100 bs 64k for 1m\nend\n",
			       &env),
		  -EINVAL);
	CHECK_MSG(strstr(err.msg, "do not fit"), "%s", err.msg);
}

/* ---- drives with 4096-byte blocks ---- */

TEST(cells_the_drive_cannot_do_are_na)
{
	unsigned na = 0;

	DO(compile("iops", false, false, true));
	for (unsigned i = 0; i < plan.n; i++) {
		const struct step *s = &plan.step[i];
		CHECK(!s->na == !(s->op == STEP_RUN && s->block_bytes == 512));
		na += s->na && !strcmp(s->na, "n/a (LBA 4096)");
	}
	CHECK_INT(na, 7);
	CHECK_INT(count(STEP_RUN), 56);
	CHECK_INT(plan.n_deviations, 0);
}

TEST(composites_are_rounded_up)
{
	DO(compile("cbw", false, false, true));
	CHECK_MSG(deviates("0.5k as 4k 1k as 4k 1.5k as 4k"), "%u", plan.n_deviations);
	const struct access *a = nth(STEP_RUN, 0)->access;
	CHECK_INT(a->n_streams, 5);
	CHECK_INT(a->stream[0].bytes, 4096);
	CHECK_NEAR(a->stream[0].share, 77, 1e-12);
	CHECK_INT(a->align, 4096);
	CHECK_INT(a->n_zones, 3);
	CHECK_NEAR(a->zone[0].share + a->zone[1].share + a->zone[2].share, 1, 1e-12);
	DO(compile("cbw", false, false, false));
	CHECK_INT(plan.n_deviations, 0);
	CHECK_INT(nth(STEP_RUN, 0)->access->n_streams, 12);
	CHECK_INT(nth(STEP_RUN, 0)->access->align, 512);
	CHECK_NEAR(access_mean_bytes(nth(STEP_RUN, 0)->access), 7.635 * 1024, 1e-9);
}

TEST(a_loop_without_a_possible_cell_is_refused)
{
	const struct def *d = test_named("wsat");
	struct plan_env env = plan_facts_env(d, false, false, true);
	const char *set = "access=metadata";

	env.set = &set;
	env.n_set = 1;
	CHECK_INT(try_plan(d, &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "no cell that this drive (LBA 4096) can do"), "%s", err.msg);
}

/* ---- cursors and sections ---- */

TEST(cursors_follow_the_streams)
{
	struct plan_env env = small_env();

	CHECK_INT(compile_text("test x \"X\" clause -\n fill seq-128k-w 1x\n fill seq-128k-w 1x\n"
			       " foreach mix in 100/0 0/100 50/50 65/35 100/0\n"
			       "  run seq rw $mix bs 128k for 1m\n end\n"
			       " run seq-128k-w for 1m\n run rnd-4k-w for 1m\nend\n",
			       &env),
		  0);
	static const unsigned want[] = { 0, 1, 2, 3, 4, 4, 2, 3, CURSOR_NONE };
	for (unsigned i = 0; i < 9; i++) {
		const struct access *a = plan.step[i].access;
		CHECK_MSG(a->stream[0].cursor == want[i], "step %u: cursor %u", i,
			  a->stream[0].cursor);
		CHECK(a->n_streams == 1 || a->stream[1].cursor == want[i]);
	}
	CHECK_INT(plan.n_cursors, 5);
	CHECK(plan.step[0].access->exact && !plan.step[2].access->exact);
}

TEST(seq_streams_of_a_composite_have_regions)
{
	DO(compile("multi-wsat", false, false, false));
	const struct access *a = nth(STEP_RUN, 0)->access;
	unsigned region = 0;

	CHECK_INT(a->regions, 5);
	CHECK_INT(a->n_streams, 9);
	for (unsigned i = 0; i < a->n_streams; i++) {
		CHECK((a->stream[i].order == IO_SEQ) == (a->stream[i].cursor != CURSOR_NONE));
		if (a->stream[i].order == IO_SEQ)
			CHECK_INT(a->stream[i].region, region++);
	}
	CHECK_INT(nth(STEP_RUN, 0)->qd.k, 4);
	CHECK_INT(nth(STEP_RUN, 0)->threads.k, 1);
}

/* Spec 16.1: the deck's column of renormalised shares. */
TEST(shares_are_renormalised)
{
	static const double deck[] = { 28.0, 19.9, 16.2, 15.7, 6.5, 5.1, 2.98, 2.86, 2.75 };
	double sum = 0;

	DO(compile("rwsw-dirth", false, false, false));
	const struct access *a = nth(STEP_RUN, 0)->access;
	CHECK_INT(a->n_streams, 9);
	for (unsigned i = 0; i < 9; i++)
		sum += a->stream[i].share;
	for (unsigned i = 0; i < 9; i++)
		CHECK(fabs(a->stream[i].share / sum * 100 - deck[i]) <= 0.06);
}

TEST(sections_open_at_purges_and_loops)
{
	DO(compile("dirth", false, false, false));
	CHECK_INT(plan.n_sections, 2);
	CHECK(nth(STEP_PURGE, 0)->opens_section && nth(STEP_LOOP, 1)->opens_section);
	CHECK_STR(nth(STEP_PURGE, 0)->section_label, "preconditioning");
	CHECK_STR(nth(STEP_LOOP, 1)->section_label, "demand variation");
	CHECK_INT(plan.step[plan.n - 1].section, 2);
	DO(compile("tp", false, false, false));
	CHECK_INT(plan.n_sections, 2);
	CHECK_STR(nth(STEP_PURGE, 0)->section_label, "1024k");
	CHECK_STR(nth(STEP_UNTIL, 1)->section_label, "128k");
	DO(compile("individual-streams", false, false, false));
	CHECK_INT(plan.n_sections, 9);
	CHECK_STR(nth(STEP_PURGE, 3)->section_label, "SEQ 0.5K W");
	DO(compile("hir", false, false, false));
	CHECK_INT(plan.n_sections, 1);
	DO(compile("curve", false, false, false));
	CHECK_INT(plan.n_sections, 1);
}

TEST(loops_can_have_labels)
{
	struct plan_env env = small_env();

	CHECK_INT(
		compile_text(
			"test x \"X\" clause -\n foreach bs in 4k 8k\n"
			"  loop rounds 5 label first until time 1h\n   run rnd rw 0/100 bs $bs for "
			"1m\n  end\n"
			"  loop rounds 5 until time 1h\n   run rnd rw 0/100 bs $bs for 1m\n  end\n"
			" end\nend\n",
			&env),
		0);
	CHECK_INT(plan.n_sections, 4);
	CHECK_STR(nth(STEP_LOOP, 0)->section_label, "4k first");
	CHECK_STR(nth(STEP_LOOP, 1)->section_label, "4k loop 2");
	CHECK_STR(nth(STEP_LOOP, 2)->section_label, "8k first");
}

/* ---- jumps, selectors, points ---- */

TEST(jumps_point_where_they_should)
{
	DO(compile("dirth", false, false, false));
	for (unsigned i = 0; i < plan.n; i++) {
		const struct step *s = &plan.step[i];
		if (s->op == STEP_UNTIL || s->op == STEP_AGAIN)
			CHECK(plan.step[s->head].end == i);
		if (s->op == STEP_CHECK)
			CHECK(plan.step[s->head].op == STEP_LOOP && plan.step[s->head].own_check);
	}
	CHECK(!nth(STEP_LOOP, 1)->own_check);
	CHECK_INT(nth(STEP_LOOP, 1)->n_tracks, 1);
	CHECK_STR(nth(STEP_LOOP, 1)->track[0].text, "iops of threads 32 qd 32");
	CHECK_STR(nth(STEP_LOOP, 1)->track[0].sel.phase, "round");
	CHECK_INT(count(STEP_RUN), 2 + 50 + 6);
	CHECK(plan.step[plan.n - 1].op == STEP_END);
}

TEST(points_are_bound_late)
{
	DO(compile("dirth", false, false, false));
	const struct step *mid = nth(STEP_PICK, 2), *run = nth(STEP_RUN, 54);
	CHECK_INT(mid->rule, PICK_NEAREST_IOPS_MID);
	CHECK_NEAR(mid->art_below_ns, 5e6, 1e-12);
	CHECK(mid->tie_pct == 0 && mid->tie_lowest_oio && mid->tie_lowest_tc &&
	      mid->else_lowest_art);
	CHECK_STR(run->at, "mid");
	CHECK(run->threads.field == REF_THREADS && run->qd.field == REF_QD);
	CHECK_STR(run->threads.point, "mid");
	DO(compile("curve", false, false, false));
	CHECK_STR(nth(STEP_PICK, 0)->pick_phase, "maximum");
	run = nth(STEP_RUN, 4);
	CHECK(run->rate.field == REF_IOPS && !strcmp(run->rate.point, "peak"));
	CHECK_NEAR(run->rate.k, 0.3, 1e-12);
	CHECK_STR(run->label, "30%");
}

TEST(read_shares_are_as_asked)
{
	DO(compile("dirth", false, false, false));
	CHECK(nth(STEP_RUN, 0)->read_pct == 0 && nth(STEP_RUN, 3)->read_pct == 65);
	CHECK_INT(nth(STEP_RUN, 3)->block_bytes, 8192);
	DO(compile("cbw", false, false, false));
	CHECK(nth(STEP_RUN, 3)->read_pct == 40 && !nth(STEP_RUN, 3)->block_bytes);
	CHECK_NEAR(access_read_pct(nth(STEP_RUN, 3)->access), 40, 1e-12);
	CHECK_INT(nth(STEP_RUN, 3)->access->n_streams, 24);
	CHECK(isnan(nth(STEP_PURGE, 0)->read_pct));
}

/* rw on several streams: access, size and share stay, equal ones merge, the direction is drawn anew. */
TEST(rw_draws_the_direction_anew)
{
	struct plan_env env = small_env();

	CHECK_INT(
		compile_text("workload w \"W\" source \"here\"\n stream 30 read seq 8k\n"
			     " stream 20 write seq 8k\n stream 50 read rnd 4k\nend\n"
			     "test x \"X\" clause -\n run w for 1m\n run w rw 25/75 for 1m\nend\n",
			     &env),
		0);
	const struct access *own = plan.step[0].access, *drawn = plan.step[1].access;
	CHECK_INT(own->n_streams, 3);
	CHECK_INT(own->regions, 2);
	CHECK(plan.step[0].read_pct == 80);
	CHECK_INT(drawn->n_streams, 4);
	CHECK_INT(drawn->regions, 1);
	CHECK_NEAR(drawn->stream[0].share, 12.5, 1e-12);
	CHECK_NEAR(drawn->stream[1].share, 37.5, 1e-12);
	CHECK_INT(drawn->stream[0].cursor, drawn->stream[1].cursor);
	CHECK(drawn->stream[2].order == IO_RND && drawn->stream[2].op == IO_READ);
}

TEST(members_run_over_a_set)
{
	struct plan_env env = small_env();

	CHECK_INT(compile_text("test x \"X\" clause -\n foreach n in 1..$members\n"
			       "  run rnd-4k-r on members 1..$n for 1m\n end\nend\n",
			       &env),
		  0);
	CHECK_INT(count(STEP_RUN), 4);
	CHECK_INT(nth(STEP_RUN, 3)->member_first, 1);
	CHECK_INT(nth(STEP_RUN, 3)->member_last, 4);
}

/* ---- params ---- */

TEST(sets_within_the_choice_are_the_operators)
{
	CHECK_INT(compile_set("wsat", "hours=24h"), 0);
	CHECK_INT(plan.n_deviations, 0);
	CHECK_INT(nth(STEP_LOOP, 0)->cond[2].value, 24 * 60 * MIN);
	CHECK(strstr(plan.params, "\"hours\":\"24h\""));
	CHECK(strstr(plan.params, "\"threads\":4"));
	CHECK_INT(compile_set("wsat", "access=vod"), 0);
	CHECK_INT(plan.n_deviations, 0);
	CHECK_INT(compile_set("curve", "threads=8"), 0);
	CHECK(strstr(plan.params, "\"threads\":8") && !strstr(plan.params, "\"threads\":4"));
}

TEST(sets_outside_the_choice_deviate)
{
	CHECK_INT(compile_set("wsat", "hours=48h"), 0);
	CHECK_INT(plan.n_deviations, 1);
	CHECK_STR(plan.deviation[0].clause, "WSAT");
	CHECK_STR(plan.deviation[0].text, "test wsat: hours = 48h is outside its choice 6h..24h");
	CHECK_INT(compile_set("wsat", "access=rnd-8k-w"), 0);
	CHECK_INT(plan.n_deviations, 1);
	CHECK_INT(compile_set("cbw", "mix=50/50"), 0);
	CHECK_STR(plan.deviation[0].text, "test cbw: mix = 50/50 instead of 40/60");
	CHECK_INT(compile_set("cbw", "mix=40/60"), 0);
	CHECK_INT(plan.n_deviations, 0);
	CHECK(plan.formal);
}

TEST(scales_are_set_by_scale)
{
	const struct def *d = test_named("replay-native");
	struct plan_env env = plan_facts_env(d, false, false, false);

	env.scales = "1,4"; /* of others: the native replay has one scale alone */
	CHECK_INT(try_plan(d, &env), 0);
	CHECK_INT(count(STEP_REPLAY), 1);
	CHECK_INT(plan.n_deviations, 0);
	CHECK_INT(try_plan(test_named("replay-scaled"), &env), 0);
	CHECK_INT(count(STEP_REPLAY), 2);
	CHECK_INT(plan.n_deviations, 0);
	env.scales = "0";
	CHECK_INT(try_plan(test_named("replay-scaled"), &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "bad scale"), "%s", err.msg);
}

TEST(bad_sets_name_themselves)
{
	static const char *const bad[][3] = {
		{ "wsat", "hours=6x", "--set hours=6x: wsat.pts:" },
		{ "wsat", "access=rnd-4k-ww", "(did you mean 'rnd-4k-w'?)" },
		{ "wsat", "access=rnd 4k", "--set access=rnd 4k: " },
		{ "scale", "sizes=7x", "--set sizes=7x: " },
		{ "scale", "ops=50/60", "--set ops=50/60: " },
		{ "curve", "qd=0", "bad number '0' of qd" },
		{ "curve", "qd=", "a value is missing" },
		{ "dirth", "mix=@0", "an unusable character" },
		{ "dirth", "mix=$nothing", "unknown name '$nothing'" },
		{ "bounded", "limit=5", "--set limit=5: bounded.pts:" },
		{ "multi-wsat", "capture=x.cap", "--capture" },
	};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK_INT(compile_set(bad[i][0], bad[i][1]), -EINVAL);
		CHECK_MSG(strstr(err.msg, bad[i][2]), "%s %s: %s", bad[i][0], bad[i][1], err.msg);
	}
}

TEST(set_names_are_checked_over_all_tests)
{
	const struct def *d[2];
	const char *set[2] = { "hours=8h", "mix=50/50" };
	struct plan_env env = small_env();

	d[0] = test_named("wsat");
	d[1] = test_named("dirth");
	env.set = set;
	env.n_set = 2;
	CHECK_INT(plan_check_sets(d, 2, &env, &err), 0);
	CHECK_INT(try_plan(d[0], &env), 0);
	CHECK_INT(plan_check_sets(d, 1, &env, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, "no test here has a param 'mix'"), "%s", err.msg);
	set[0] = "hour=8h";
	err.msg[0] = 0;
	CHECK_INT(plan_check_sets(d, 2, &env, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, "(did you mean 'hours'?)"), "%s", err.msg);
	set[0] = "hours";
	err.msg[0] = 0;
	CHECK_INT(plan_check_sets(d, 2, &env, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, "PARAM=VALUE"), "%s", err.msg);
	env.n_set = 0;
	env.scales = "1 2";
	err.msg[0] = 0;
	CHECK_INT(plan_check_sets(d, 2, &env, &err), -EINVAL);
}

TEST(own_definitions_deviate)
{
	struct plan_env env = small_env();

	CHECK_INT(compile_text("workload w \"W\" source \"here\"\n stream 1 read rnd 4k\nend\n"
			       "test x \"X\" clause C\n run w for 1m\nend\n",
			       &env),
		  0);
	CHECK(!plan.formal);
	CHECK_MSG(deviates("test x is not part of definition set 1"), "%u", plan.n_deviations);
	CHECK(deviates("workload w is not part of definition set 1"));
	CHECK_STR(plan.deviation[0].clause, "C");
}

TEST(step_text_is_readable)
{
	struct buf b = BUF_INIT;

	DO(compile("iops", false, false, false));
	step_text(&plan, 56, &b);
	CHECK_STR(buf_cstr(&b), "RUN RND 8K 0/100 T4Q32 1m as round");
	buf_release(&b);
}

TEST_MAIN
