/* SPDX-License-Identifier: MIT */
/* Plans back from their text: every plan kept in tests/golden reads back to the same text; mistakes name their line. */
#include <dirent.h>
#include <errno.h>

#include "pts/base/rng.h"
#include "pts/plan_read.h"
#include "tests/test.h"

static void round_trip(const char *path)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct err err = { "" };
	struct plan p;
	int rc = buf_read_file(&text, path, 64u << 20);

	CHECK_MSG(!rc, "%s: %s", path, strerror(-rc));
	rc = plan_read(buf_cstr(&text), &p, &err);
	CHECK_MSG(!rc, "%s: %s", path, err.msg);
	plan_text(&p, &again);
	CHECK_MSG(!strcmp(buf_cstr(&text), buf_cstr(&again)), "%s does not read back", path);
	plan_release(&p);
	buf_release(&text);
	buf_release(&again);
}

TEST(every_golden_plan_reads_back)
{
	DIR *d = opendir("tests/golden");
	struct dirent *e;
	unsigned n = 0;

	CHECK(d);
	while ((e = readdir(d))) {
		char path[512];

		if (strncmp(e->d_name, "plan-", 5))
			continue;
		snprintf(path, sizeof path, "tests/golden/%s", e->d_name);
		DO(round_trip(path));
		n++;
	}
	closedir(d);
	CHECK(n >= 100);
}

static const char small[] =
	"test x \"T\" clause X\n"
	"params {}\n"
	"write-cache off\n"
	"range 4096 bytes, fills 4096 bytes\n"
	"access \"a\": 65 R rnd 4k, 35 W rnd 8k; zones 0-5%:50 5-100%:50; align 512\n"
	"section 1\n"
	"    0 LOOP rounds 25 then stop until steady or written 8192 bytes or time 6h; "
	"track art of sample rw 65/35 bs 4k threads 2 qd 3 label q\n"
	"    1   RUN a T2Q3 rate $peak.iops * 0.5 90s every 1m as sample label \"q\"\n"
	"    2 UNTIL -> 0\n"
	"    3 PICK mid by nearest iops to (highest + lowest) / 2 of sample where art < 5ms "
	"tie 1% lowest oio lowest tc else lowest art\n"
	"    4 END\n";

TEST(fields_are_what_the_text_says)
{
	struct err err = { "" };
	struct plan p;
	const struct step *s;

	CHECK(!plan_read(small, &p, &err));
	CHECK_STR(p.name, "x");
	CHECK(p.n == 5 && p.n_sections == 1 && !p.write_cache);
	s = &p.step[0];
	CHECK(s->op == STEP_LOOP && s->rounds == 25 && s->then == THEN_STOP && s->n_conds == 3);
	CHECK(s->cond[1].value == 8192 && s->cond[2].value == 6 * 3600ull * 1000000000);
	CHECK(s->end == 2 && p.step[2].head == 0 && !s->own_check && s->n_tracks == 1);
	CHECK(s->track[0].var == VAR_ART && s->track[0].sel.read_pct == 65 &&
	      s->track[0].sel.block_bytes == 4096 && s->track[0].sel.threads == 2 &&
	      s->track[0].sel.qd == 3);
	CHECK_STR(s->track[0].sel.phase, "sample");
	CHECK_STR(s->track[0].sel.label, "q");
	s = &p.step[1];
	CHECK(s->threads.k == 2 && s->qd.k == 3 && s->rate.k == 0.5 && s->rate.field == REF_IOPS);
	CHECK(s->time_ns == 90000000000ull && s->every_ns == 60000000000ull && s->read_pct == 65 &&
	      s->block_bytes == 0 && s->access->n_zones == 2);
	s = &p.step[3];
	CHECK(s->rule == PICK_NEAREST_IOPS_MID && s->art_below_ns == 5e6 && s->tie_pct == 1 &&
	      s->tie_lowest_oio && s->tie_lowest_tc && s->else_lowest_art);
	plan_release(&p);
}

TEST(mistakes_name_their_line)
{
	static const struct {
		const char *text, *says;
	} mistake[] = {
		{ "", "does not come to its end" },
		{ "test x \"T\" clause X\nsection 1\n    0 END\nwhat\n", "line 4" },
		{ "test x \"T\" clause X\nsection 1\n    0 JUMP\n", "line 3: unknown step" },
		{ "test x \"T\" clause X\nsection 1\n    1 END\n", "not in order" },
		{ "test x \"T\" clause X\nsection 1\n    0 RUN b T1Q1 1m as round\n",
		  "unknown access" },
		{ "test x \"T\" clause X\nsection 1\n    0 LOOP until steady\n    1 END\n",
		  "does not come to its end" },
		{ "test x \"T\" clause X\nsection 1\n    0 UNTIL -> 0\n", "closes nothing" },
		{ "test x \"T\" clause X\nsection 1\n    0 IDLE soon as idle\n",
		  "a time is missing" },
		{ "test x \"T\" clause X\nsection 1\n    0 END of it\n", "unknown words" },
		{ "test x \"T\" clause X\nsection 1\n    0 LOOP until steady\n    1 LOOP until "
		  "steady\n",
		  "too deep" },
		{ "test x \"T\" clause X\nsection 1\n    0 REPEAT 3\n    1 UNTIL -> 0\n",
		  "closes nothing" },
		{ "test x \"T\" clause X\nsection 1\n    0 REPEAT 3\n    1 AGAIN -> 7\n",
		  "another block" },
		{ "test x \"T\" clause X\nsection 1\n    0 REPEAT 3\nsection 2\n", "not in order" },
		{ "test x \"T\" clause X\nsection 1\n    0 CHECK\n", "no loop" },
		{ "test x \"T\" clause X\nsection 1\n    0 PICK a T1e9Q1\n", "out of range" },
		{ "test x \"T\" clause X\nsection 1\n    0 REPLAY scale 0 1 steps 1s qd avg idle "
		  "ignore as "
		  "replay\n",
		  "no scale" },
	};

	for (unsigned i = 0; i < sizeof mistake / sizeof *mistake; i++) {
		struct err err = { "" };
		struct plan p;

		CHECK(plan_read(mistake[i].text, &p, &err) == -EINVAL);
		CHECK_MSG(strstr(err.msg, mistake[i].says), "'%s' in '%s'", mistake[i].says,
			  err.msg);
	}
}

/* A plan that somebody wrote over: refused or read, and what was read is a plan that ends. */
TEST(plans_written_over_do_no_harm)
{
	static const char *const path[] = { "tests/golden/plan-dirth-client-4kn.txt",
					    "tests/golden/plan-hir-enterprise.txt",
					    "tests/golden/plan-replay-scaled-client-quick.txt" };
	static const char with[] = "0123456789 -.,;:$%\"QTx\nRUNLOOP";
	uint64_t seed = 5;
	unsigned taken = 0;

	for (unsigned i = 0; i < 6000; i++) {
		struct buf text = BUF_INIT, again = BUF_INIT;
		struct err err = { "" };
		struct plan p;

		CHECK(!buf_read_file(&text, path[i % 3], 1u << 20));
		for (unsigned k = 0; k < 1 + i % 3; k++)
			text.s[rng_split(&seed) % text.len] =
				with[rng_split(&seed) % (sizeof with - 1)];
		if (!plan_read(buf_cstr(&text), &p, &err)) {
			taken++;
			CHECK(p.n && p.step[p.n - 1].op == STEP_END);
			plan_text(&p, &again);
			plan_release(&p);
		} else {
			CHECK(err.msg[0]);
		}
		buf_release(&text);
		buf_release(&again);
	}
	CHECK(taken > 100 && taken < 5900);
}

TEST_MAIN
