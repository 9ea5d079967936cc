/* SPDX-License-Identifier: MIT */
/* What a report says in words is true of its run: caches, ranges, asked times, what is missing, which rounds. */
#include "pts/base/buf.h"
#include "reports/dataset.h"
#include "reports/page.h"
#include "reports/report.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"

/* Ends the run, takes its report as text or JSON. */
static void report_of(struct fix *f, const char *end, struct buf *out)
{
	struct err err = { "" };
	char path[128];

	if (f->s)
		store_close(f->s);
	f->s = NULL;
	snprintf(path, sizeof path, "%s/a%s", f->dir, end);
	CHECK_MSG(!report_write(f->db, &f->run, 1, path, &err), "%s", err.msg);
	buf_release(out);
	CHECK(!buf_read_file(out, path, 1u << 28));
	unlink(path);
}

static void says(const struct buf *b, const char *text)
{
	CHECK_MSG(strstr(buf_cstr(b), text), "it does not say \"%s\"", text);
}

static void says_not(const struct buf *b, const char *text)
{
	CHECK_MSG(!strstr(buf_cstr(b), text), "it says \"%s\"", text);
}

static void begin(struct fix *f, const struct fix_opts *o, const char *test)
{
	DO(fix_run(f, o));
	DO(fix_test(f, test, "a title", "CLAUSE"));
}

TEST(the_write_cache_of_the_lat_table)
{
	static const char *const state[][3] = { { "off", "WCD", "disabled (WCD)" },
						{ "on", "WCE", "enabled (WCE)" },
						{ "none", "no VWC", "no volatile write cache" },
						{ "unknown", "WC not known", "not known" } };
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	char text[64];

	for (unsigned i = 0; i < 4; i++) {
		struct test t = { .write_cache = state[i][0] };
		struct fix f;
		DO(fix_open(&f));
		f.lat_seconds = 1;
		f.write_cache = state[i][0];
		DO(begin(&f, &o, "lat"));
		DO(fix_lat(&f, 5, 1));
		DO(fix_end(&f, "done"));
		DO(report_of(&f, ".txt", &b));
		snprintf(text, sizeof text, "PTS-E, %s, T1Q1, PD=RND", state[i][1]);
		DO(says(&b, text));
		CHECK_STR(cache_text(&t, true), state[i][1]);
		CHECK_STR(cache_text(&t, false), state[i][2]);
		fix_close(&f);
	}
	buf_release(&b);
}

/* The line of the Summary with this access pattern and metric. */
static void summary_line(const struct buf *b, const char *access, const char *metric, char *out,
			 size_t n)
{
	*out = 0;
	for (const char *p = buf_cstr(b); p; p = strchr(p, '\n')) {
		p += *p == '\n';
		snprintf(out, n, "%.*s", (int)strcspn(p, "\n"), p);
		if (strstr(out, access) && strstr(out, metric) && strstr(out, "REACHED"))
			return;
	}
	*out = 0;
}

/* One status for a line of the Summary, in the workbook and in JSON, also where a test is valid in part. */
TEST(the_status_of_a_result_is_one)
{
	static const char *const want[][2] = { { "SEQ 1024 KiB R", "valid" },
					       { "SEQ 1024 KiB W", "valid" },
					       { "SEQ 128 KiB R", "NOT VALID" },
					       { "SEQ 128 KiB W", "NOT VALID" } };
	struct fix_opts o = { 0 };
	struct buf text = BUF_INIT, json = BUF_INIT;
	char line[400], key[160];
	struct fix f;

	DO(fix_open(&f));
	DO(begin(&f, &o, "tp"));
	DO(fix_tp(&f, true));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &text));
	DO(report_of(&f, ".json", &json));
	for (unsigned i = 0; i < 4; i++) {
		DO(summary_line(&text, want[i][0], "Throughput", line, sizeof line));
		CHECK_MSG(strstr(line, want[i][1]), "%s: %s", want[i][0], line);
		snprintf(key, sizeof key, "\"access\":\"%s\",\"tcqd\":\"T1Q32\"", want[i][0]);
		const char *p = strstr(buf_cstr(&json), key);
		CHECK_MSG(p, "no %s", key);
		p = strstr(p, "\"status\":\"");
		CHECK(p);
		snprintf(line, sizeof line, "%.*s", (int)strcspn(p + 10, "\""), p + 10);
		CHECK_STR(line, want[i][1]);
	}
	buf_release(&text);
	buf_release(&json);
	fix_close(&f);
}

TEST(the_rounds_of_means_without_steady_state)
{
	struct fix_iops i = { .rounds = 8, .drifting = true };
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	struct fix f;

	DO(fix_open(&f));
	DO(begin(&f, &o, "iops"));
	DO(fix_iops(&f, &i));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &b));
	DO(says(&b, "Tabular Data (mean of rounds 4-8, NOT ACHIEVED)"));
	DO(says_not(&b, "mean of rounds 8 tried"));
	buf_release(&b);
	fix_close(&f);
}

/* A capture of @n IOs; its page. */
static void captured(struct fix *f, double seconds, const char *note, struct buf *out)
{
	struct fix_opts o = { 0 };

	DO(fix_open(f));
	f->lat_seconds = 1;
	f->note = note;
	DO(begin(f, &o, "lat"));
	DO(fix_lat(f, 5, seconds));
	DO(fix_end(f, "done"));
	DO(report_of(f, ".txt", out));
}

TEST(the_axis_names_its_percentile)
{
	struct buf b = BUF_INIT;
	struct fix f;

	DO(captured(&f, 60, NULL, &b));
	DO(says(&b, "Axis to 1.1 x the 99.999 % response time"));
	fix_close(&f);
	DO(captured(&f, 0.5, NULL, &b)); /* 34 thousand */
	DO(says(&b, "Axis to 1.1 x the 99.99 % response time"));
	DO(says_not(&b, "Axis to 1.1 x the 99.999 %"));
	fix_close(&f);
	DO(captured(&f, 0.0001, NULL, &b)); /* a few */
	DO(says(&b, "Axis to 1.1 x the longest response time"));
	fix_close(&f);
	buf_release(&b);
}

TEST(none_dropped_only_where_it_is_true)
{
	struct buf b = BUF_INIT;
	struct fix f;

	DO(captured(&f, 1, "some IO punted to kernel workers (3)", &b));
	DO(says(&b, " I/Os, none dropped. "));
	fix_close(&f);
	DO(captured(&f, 1, "buffers not registered (ulimit -l); 17 IOs due but not sent by the end",
		    &b));
	DO(says(&b, " I/Os; 17 more were due and not sent by the end. "));
	DO(says_not(&b, "none dropped"));
	fix_close(&f);
	buf_release(&b);
}

#define PLAN \
	"test x \"X\" clause -\nparams {}\nwrite-cache off\n" \
	"range %s\nsection 1\n" \
	"    0 PURGE\n" \
	"    1   RUN RND 1024K 100/0 T4Q32 1m as round\n" \
	"   11   RUN rnd-4k-w T4Q32 30m every 5m as round label \"1h as x\"\n"

static void range_is(const char *range, const char *params, bool quick, const char *want)
{
	struct fix_iops i = { .rounds = 1, .seconds = 60.0701 };
	struct fix_opts o = { .quick = quick };
	struct buf b = BUF_INIT;
	char plan[600];
	struct fix f;

	snprintf(plan, sizeof plan, PLAN, range);
	DO(fix_open(&f));
	f.plan = plan;
	f.params = params;
	DO(begin(&f, &o, "iops"));
	DO(fix_iops(&f, &i));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &b));
	for (char *p = b.s; (p = strstr(p, "AR / segments"));
	     p++) { /* columns are as wide as they need */
		char *value = p + strlen("AR / segments");
		value += strspn(value, " ");
		CHECK_MSG(!strncmp(value, want, strlen(want)) && value[strlen(want)] == ' ',
			  "not \"%s\" but \"%.40s\"", want, value);
	}
	DO(says(&b, "AR / segments"));
	buf_release(&b);
	fix_close(&f);
}

TEST(the_range_that_cells_touched)
{
	const char *whole = "{\"range\":\"100%\"}";
	const char *part =
		"{\"range\":\"50%\",\"range-amount-bytes\":8589934592,\"range-segments\":2048}";

	DO(range_is("3840755982336 bytes, fills 3840755982336 bytes", whole, false, "100% / n.a."));
	DO(range_is("1073741824 bytes, fills 1073741824 bytes", whole, true,
		    "1 GiB (quick) / n.a."));
	DO(range_is(
		"1920377991168 bytes, fills 1920377991168 bytes, 2048 segments of 4194304 bytes,"
		" seed 3",
		part, false, "8 GiB in 50% / 2048"));
	DO(range_is(
		"1073741824 bytes, fills 1073741824 bytes, 2048 segments of 262144 bytes, seed 3",
		part, true, "512 MiB in 1 GiB (quick) / 2048"));
}

/* A cell lasts until its last IO came back: the header says what was asked. */
TEST(asked_times_come_from_the_plan)
{
	struct fix_iops i = { .rounds = 5, .seconds = 60.0701 };
	struct measure m = { .step = 11, .elapsed_ns = 300070000000 };
	struct fix_opts o = { 0 };
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT;
	char plan[600];
	struct fix f;

	snprintf(plan, sizeof plan, PLAN, "4096 bytes, fills 4096 bytes");
	struct test t = { .plan = plan };
	CHECK_STR(asked_text(&a, &t, &m), "300 s"); /* of each cell, not of all */
	m.step = 1;
	CHECK_STR(asked_text(&a, &t, &m), "60 s");
	CHECK_INT(asked_ns(&t, &m), 60000000000);
	for (m.step = -1; m.step < 20; m.step++)
		if (m.step != 1 && m.step != 11)
			CHECK_INT(asked_ns(&t, &m), 0);
	CHECK_STR(asked_text(&a, &t, &m), "300 s"); /* as measured, rounded */
	t.plan = "";
	CHECK_INT(asked_ns(&t, &m), 0);
	arena_release(&a);
	DO(fix_open(&f));
	f.plan = plan;
	DO(begin(&f, &o, "iops"));
	DO(fix_iops(&f, &i));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &b));
	DO(says(&b, "IOPS loop, 60 s to 300 s/step"));
	buf_release(&b);
	fix_close(&f);
}

TEST(a_check_that_did_not_pass_is_no_check_passed)
{
	const char *clean = "No deviation from the definition set";
	const char *purged = "Every purge was verified";
	struct buf b = BUF_INIT;

	struct fix_opts formal = { 0 }, simulated = { .simulated = true };
	struct fix f;

	DO(fix_basic(&f, &formal, false));
	DO(report_of(&f, ".txt", &b));
	DO(says(&b, clean));
	DO(says(&b, purged));
	fix_close(&f);
	DO(fix_open(&f));
	DO(begin(&f, &simulated, "tp"));
	CHECK(!store_deviation(f.s, f.run, "-", "SIMULATED: a model", &f.err));
	DO(fix_tp(&f, false));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &b));
	DO(says_not(&b, clean));
	DO(says(&b, purged));
	fix_close(&f);
	buf_release(&b);
}

/* A test without a loop: what its header can say it takes from the steps; what a rate does to times is said. */
TEST(a_test_of_steps_only)
{
	struct fix_cell c = { .phase = "step",
			      .access = "RND 4K 70/30",
			      .read_pct = 70,
			      .iops = 5000,
			      .art_ns = 2e5,
			      .seconds = 10.003,
			      .bs = 4096,
			      .tc = 2,
			      .qd = 8,
			      .mrt_ns = 900000 };
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;

	for (int rated = 0; rated < 2; rated++) {
		struct fix f;
		DO(fix_open(&f));
		f.plan = "test own \"Own\"\n    0 RUN RND 4K 70/30 T2Q8 10s as step\n"
			 "    1 RUN RND 4K 70/30 T2Q8 10s as step\n";
		DO(begin(&f, &o, "own"));
		DO(fix_attempt(&f, "own"));
		DO(fix_section(&f, ""));
		DO(fix_put(&f, &c));
		c.rate = rated ? 5000 : 0;
		DO(fix_put(&f, &c));
		DO(fix_section_end(&f, -1, 0, "end"));
		DO(fix_test_end(&f, -1));
		DO(fix_end(&f, "done"));
		DO(report_of(&f, ".txt", &b));
		DO(says(&b, "2 steps, 10 s"));
		DO(says(&b, "70/30"));
		DO(says(&b, "4 KiB"));
		DO(says(&b, "TC 2 / QD 8"));
		if (!rated) {
			DO(says_not(&b, "IO/s\")"));
		} else {
			DO(says(&b, "RND 4K 70/30 at 5000 IO/s"));
			DO(says(&b, "they count from when an I/O was due"));
		}
		fix_close(&f);
	}
	buf_release(&b);
}

TEST(equal_values_have_no_correlation)
{
	struct fix_iops i = { .rounds = 5, .equal = true };
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	struct fix f;

	DO(fix_open(&f));
	DO(begin(&f, &o, "iops"));
	DO(fix_iops(&f, &i));
	DO(fix_end(&f, "done"));
	DO(report_of(&f, ".txt", &b));
	unsigned lines = 0;
	for (const char *p = buf_cstr(&b); (p = strstr(p, "Correlation r")); lines++) {
		p += strlen("Correlation r");
		p += strspn(p, " ");
		CHECK_MSG(!strncmp(p, "n/a", 3), "%.20s", p);
	}
	CHECK_INT(lines, 3);
	DO(report_of(&f, ".json", &b));
	DO(says(&b, "\"correlation\":null"));
	DO(says_not(&b, "\"correlation\":0"));
	buf_release(&b);
	fix_close(&f);
}

TEST_MAIN
