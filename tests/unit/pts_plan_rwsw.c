/* SPDX-License-Identifier: MIT */
/* Plans of the tests that work from a capture: replays, composites, depths (spec 16, 17). */
#include <errno.h>
#include <math.h>

#include "pts/plan_read.h"
#include "tests/unit/pts_plan_rig.h"

TEST(replays_have_a_job_a_scale)
{
	DO(compile("replay-scaled", false, true, false));
	CHECK_INT(count(STEP_REPLAY), 6);
	const struct step *s = nth(STEP_REPLAY, 5);
	CHECK(s->scale == 32 && s->n_replay == 4 && !s->time_ns);
	CHECK_INT(s->replay[0].duration_ns, 50000000);
	CHECK(s->replay_access[0] && !s->replay_access[1] && !s->replay_access[2]);
	/* Step 4 has three of the streams; they keep region and cursor of the composite. */
	const struct access *a = s->replay_access[3], *all = nth(STEP_RUN, 0)->access;
	CHECK_INT(a->n_streams, 4);
	CHECK_INT(a->regions, 5);
	CHECK_INT(a->stream[2].region, all->stream[3].region);
	CHECK_INT(a->stream[2].cursor, all->stream[3].cursor);
	DO(compile("replay-native", false, false, true));
	s = nth(STEP_REPLAY, 0);
	CHECK_INT(s->replay[0].duration_ns, 1000000000);
	CHECK(deviates("rounded up"));
}

/* Spec 17.2: qd 0.2 is 1, and 32 at x32; qd 14 becomes 448. */
TEST(depth_of_a_step_times_the_scale)
{
	static const unsigned scale[] = { 1, 2, 4, 8, 16, 32 };

	DO(compile("replay-scaled", false, false, false));
	for (unsigned i = 0; i < 6; i++) {
		const struct step *s = nth(STEP_REPLAY, i);

		CHECK_INT(replay_step_oio(s, 0), scale[i]);
		CHECK_INT(replay_step_oio(s, 1), 0);
		CHECK_INT(replay_step_oio(s, 3), 14 * scale[i]);
		/* the steps of all scales are the same ones */
		CHECK(s->replay_access[3] == nth(STEP_REPLAY, 0)->replay_access[3]);
	}
	CHECK_INT(compile_set("replay-native", "depth=max"), 0);
	CHECK_INT(replay_step_oio(nth(STEP_REPLAY, 0), 0), 3);
	CHECK_INT(replay_step_oio(nth(STEP_REPLAY, 0), 3), 21);
	CHECK_INT(plan.n_deviations, 0);
}

static double share_of(const struct access *a, unsigned i)
{
	double sum = 0;

	for (unsigned k = 0; k < a->n_streams; k++)
		sum += a->stream[k].share;
	return 100 * a->stream[i].share / sum;
}

/* Spec 16.1: the renormalised shares of GPS Nav Drive0. */
TEST(dominant_streams_are_renormalised)
{
	static const double deck[] = { 28.0, 19.9, 16.2, 15.7, 6.5, 5.1, 2.98, 2.86, 2.75 };

	DO(compile("multi-wsat", false, false, false));
	const struct access *a = nth(STEP_RUN, 0)->access;
	CHECK_INT(a->n_streams, 9);
	for (unsigned i = 0; i < 9; i++)
		CHECK_MSG(fabs(share_of(a, i) - deck[i]) <= 0.06, "stream %u: %.3f, not %.2f", i,
			  share_of(a, i), deck[i]);
	CHECK_INT(plan.n_dominant, 9);
	CHECK(fabs(plan.coverage_pct - 88.73) < 1e-9);
	/* in step 1 they are 95 % of the IOs */
	DO(compile("replay-native", false, false, false));
	a = nth(STEP_REPLAY, 0)->replay_access[0];
	CHECK(fabs(share_of(a, 0) - 30 / 0.95) < 1e-9 && fabs(share_of(a, 8) - 4 / 0.95) < 1e-9);
}

/* Spec 22, row 32: N streams, or as many as cover the share, whichever is more. */
TEST(dominant_streams_by_number_or_coverage)
{
	const struct def *d = test_named("multi-wsat");
	const char *set[] = { "top=2", "cover=50%" };
	struct plan_env env = plan_facts_env(d, false, false, false);

	env.set = set;
	env.n_set = 2;
	CHECK_INT(try_plan(d, &env), 0);
	CHECK_INT(plan.n_dominant, 3);
	CHECK_INT(plan.n_deviations, 0);
	set[0] = "top=5";
	CHECK_INT(try_plan(d, &env), 0);
	CHECK_INT(plan.n_dominant, 5);
	set[1] = "cover=99%"; /* the facts end before */
	CHECK_INT(try_plan(d, &env), 0);
	CHECK_INT(plan.n_dominant, 10);
	CHECK(deviates("its 10 largest streams cover 90.7 % of its IOs, 99.0 % were asked for"));
}

TEST(idle_shares_are_segments_of_their_own)
{
	static const unsigned no[] = { 1, 1, 2, 3, 4 };
	static const uint64_t ms[] = { 120, 880, 1000, 1000, 1000 };
	static const char *const label[] = { "step 1", "step 1 idle", "step 2", "step 3",
					     "step 4" };
	char text[32];

	CHECK_INT(compile_set("replay-native", "idle=honor"), 0);
	const struct step *s = nth(STEP_REPLAY, 0);
	CHECK_INT(s->n_replay, 5);
	for (unsigned i = 0; i < 5; i++) {
		CHECK_INT(s->replay_no[i], no[i]);
		CHECK_INT(s->replay[i].duration_ns, ms[i] * 1000000);
		CHECK(!s->replay_access[i] == (i >= 1 && i <= 3));
		cell_label(s, i, text, sizeof text);
		CHECK_STR(text, label[i]);
	}
	CHECK_INT(plan.n_deviations, 0);
	DO(compile("replay-native", false, false, false));
	CHECK_INT(nth(STEP_REPLAY, 0)->n_replay, 4);
}

/* A capture without completions, a map without qd: nothing is guessed. */
TEST(unknown_depth_is_said)
{
	static const struct {
		const char *test, *set, *says;
	} v[] = {
		{ "replay-native", NULL, "or give a depth: --set depth=N" },
		{ "replay-scaled", "depth=max", "it has no completions" },
		{ "replay-scaled", "idle=honor", "import it again with --assume-rt TIME" },
		{ "replay-native", "depth=deep", "unknown depth 'deep'" },
		{ "replay-native", "depth=0", "bad number '0' of qd" },
		{ "multi-wsat", NULL, "or give a depth: --set oio=N" },
		{ "replay-native", "depth=3", NULL },
		{ "multi-wsat", "oio=3", NULL },
		{ "individual-streams", NULL, NULL },
		{ "rwsw-dirth", NULL, NULL },
	};
	struct capture_facts facts = *plan_facts_capture();

	facts.qd_avg = 0;
	for (unsigned i = 0; i < sizeof v / sizeof *v; i++) {
		const struct def *d = test_named(v[i].test);
		struct plan_env env = plan_facts_env(d, false, false, false);

		env.capture = &facts;
		env.set = &v[i].set;
		env.n_set = v[i].set != NULL;
		int rc = try_plan(d, &env);
		CHECK_MSG(rc == (v[i].says ? -EINVAL : 0), "%s %s: %s", v[i].test, v[i].set,
			  err.msg);
		CHECK_MSG(!v[i].says || strstr(err.msg, v[i].says), "%s: %s", v[i].says, err.msg);
	}
	facts.is_map = true;
	struct plan_env env = plan_facts_env(test_named("replay-native"), false, false, false);
	env.capture = &facts;
	CHECK_INT(try_plan(test_named("replay-native"), &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "its column qd is empty"), "%s", err.msg);
}

TEST(a_map_says_the_depth_of_each_step)
{
	struct capture_facts facts = *plan_facts_capture();
	struct capture_step step[4];
	struct plan_env env = plan_facts_env(test_named("replay-native"), false, false, false);

	memcpy(step, facts.step, sizeof step);
	step[3].qd_avg = 0;
	facts.step = step;
	env.capture = &facts;
	CHECK_INT(try_plan(test_named("replay-native"), &env), 0);
	CHECK_INT(replay_step_oio(nth(STEP_REPLAY, 0), 3), 1); /* of a trace: one at a time */
	facts.is_map = true;
	CHECK_INT(try_plan(test_named("replay-native"), &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "step 4 of stream map gps.cap has IO and no qd"), "%s", err.msg);
}

/* "idle honor" needs to know how long the drive was busy. */
TEST(idle_shares_must_be_known)
{
	struct capture_facts facts = *plan_facts_capture();
	struct capture_step step[4];
	const char *set[] = { "idle=honor", "depth=2" };
	struct plan_env env = plan_facts_env(test_named("replay-native"), false, false, false);

	memcpy(step, facts.step, sizeof step);
	step[0].busy_pct = 0;
	facts.step = step;
	env.capture = &facts;
	env.set = set;
	env.n_set = 2;
	CHECK_INT(try_plan(test_named("replay-native"), &env), -EINVAL);
	CHECK_MSG(strstr(err.msg, "how long step 1 of capture gps.cap was idle"), "%s", err.msg);
}

/* The text of a plan says all of a replay: it reads back, as pts audit does. */
TEST(replays_read_back)
{
	static const char *const set[] = { "idle=honor", "depth=5", "depth=max", "top=1" };

	for (unsigned i = 0; i < 4; i++) {
		struct buf text = BUF_INIT, again = BUF_INIT;
		struct plan back;

		CHECK_INT(compile_set("replay-scaled", set[i]), 0);
		plan_text(&plan, &text);
		CHECK_MSG(!plan_read(buf_cstr(&text), &back, &err), "%s: %s", set[i], err.msg);
		plan_text(&back, &again);
		CHECK_MSG(!strcmp(buf_cstr(&text), buf_cstr(&again)), "%s:\n%s%s", set[i],
			  buf_cstr(&text), buf_cstr(&again));
		CHECK_INT(back.n, plan.n);
		for (unsigned k = 0; k < plan.n; k++) {
			const struct step *a = &plan.step[k], *b = &back.step[k];

			CHECK_INT(b->n_replay, a->n_replay);
			for (unsigned n = 0; n < a->n_replay; n++)
				CHECK(replay_step_oio(a, n) == replay_step_oio(b, n) &&
				      a->replay_no[n] == b->replay_no[n]);
		}
		plan_release(&back);
		buf_release(&text);
		buf_release(&again);
	}
}

#define REPLAY_HEAD "test x \"T\" clause X\nsection 1\n    0 REPLAY scale 1 2 steps 2s qd avg idle "

TEST(torn_replays_are_refused)
{
	static const struct {
		const char *text, *says;
	} torn[] = {
		{ REPLAY_HEAD "ignore as replay\n      1: 1s idle\n    1 END\n",
		  "line 5: a step of the capture is missing" },
		{ REPLAY_HEAD "ignore as replay\n      2: 1s idle\n",
		  "line 4: a step of the capture" },
		{ REPLAY_HEAD "ignore as replay\n      1: 1s idle\n      1: 1s idle\n",
		  "line 5: a step of the capture" },
		{ REPLAY_HEAD "ignore as replay\n      1: 1s oio 1 T1 access \"a\"\n",
		  "not told before" },
		{ REPLAY_HEAD
		  "ignore as replay\n      1: 1s idle\n      2: 1s idle\n      3: 1s idle\n",
		  "line 6: a step of the capture" },
		{ REPLAY_HEAD "honor as replay\n      1: 1s oio 1 T1 access \"a\": 1 W rnd 4k\n"
			      "      1: 1s oio 1 T1 access \"a\": 1 W rnd 4k\n",
		  "line 5: the depth is missing" },
		{ REPLAY_HEAD "honor as replay\n      1: 1s oio 1 T1 access \"a\": 1 W rnd 4k\n"
			      "      1: 1s idle\n      1: 1s idle\n",
		  "line 6: a step of the capture" },
		{ "test x \"T\" clause X\nsection 1\n      1: 1s idle\n", "no step of a replay" },
	};

	for (unsigned i = 0; i < sizeof torn / sizeof *torn; i++) {
		struct err why = { "" };
		struct plan p;

		CHECK_INT(plan_read(torn[i].text, &p, &why), -EINVAL);
		CHECK_MSG(strstr(why.msg, torn[i].says), "'%s' in '%s'", torn[i].says, why.msg);
	}
}

TEST(captures_must_be_given)
{
	const struct def *d = test_named("rwsw-dirth");
	struct plan_env env = { .capacity_bytes = 1 << 30, .lba_bytes = 512, .members = 4 };

	CHECK_INT(try_plan(d, &env), -EINVAL);
	CHECK_STR(err.msg, "test rwsw-dirth needs --capture");
	err.msg[0] = 0;
	CHECK_INT(plan_check_sets(&d, 1, &env, &err), -EINVAL);
	CHECK_STR(err.msg, "test rwsw-dirth needs --capture");
}

TEST_MAIN
