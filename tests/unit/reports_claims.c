/* SPDX-License-Identifier: MIT */
/* Claims and prices files: what is read, what is refused with file and line; verdicts; Student's t. */
#include <unistd.h>

#include "reports/claims_words.h"
#include "reports/prices.h"
#include "reports/student.h"
#include "tests/test.h"

static char path[] = "/tmp/pts-claims-XXXXXX";

static void write_ini(const char *text)
{
	static bool made;
	FILE *f;

	if (!made) {
		int fd = mkstemp(path);
		CHECK(fd >= 0);
		close(fd);
		made = true;
	}
	f = fopen(path, "w");
	CHECK(f);
	fputs(text, f);
	fclose(f);
}

__attribute__((destructor)) static void remove_ini(void)
{
	unlink(path);
}

#define HEAD "[one]\ntest = iops\naccess = rnd 4k r\n"
#define WHOLE HEAD "metric = iops\nvalue = 1000\n"

static void takes(const char *text, struct claims *c)
{
	struct err err = { "" };

	DO(write_ini(text));
	CHECK_MSG(!claims_read(path, c, &err), "%s", err.msg);
}

/* @wants begins with ":LINE: ". */
static void refuses(const char *text, const char *wants)
{
	struct claims c;
	struct err err = { "" };

	DO(write_ini(text));
	int rc = claims_read(path, &c, &err);
	claims_release(&c);
	CHECK_MSG(rc == -22, "taken: %s", text);
	CHECK_MSG(!strncmp(err.msg, path, strlen(path)), "names no file: %s", err.msg);
	CHECK_MSG(strstr(err.msg + strlen(path), wants) == err.msg + strlen(path), "not \"%s\": %s",
		  wants, err.msg);
}

TEST(a_claim_with_all_its_keys)
{
	struct claims c;

	DO(takes("# brief rev 3\n[Read QoS]\nmodel = NV*\ntest = LAT\naccess = RND 4 KiB 65/35\n"
		 "tc = 1\nqd = 8\nsection = 2\nmetric = p999\nvalue = 0.25 ms\ntolerance = 3.5 %\n"
		 "condition = 4 KiB, QD=8; typical = yes\nbetter = lower\n",
		 &c));
	CHECK_INT(c.n, 1);
	const struct claim *one = &c.v[0];
	CHECK_STR(one->name, "Read QoS");
	CHECK_INT(one->line, 2);
	CHECK_STR(one->model, "NV*");
	CHECK_STR(one->test, "LAT");
	CHECK_STR(one->tcqd, "T1Q8");
	CHECK_STR(one->section, "2");
	CHECK_STR(one->metric, "lat_p999_ns");
	CHECK_STR(one->condition, "4 KiB, QD=8; typical = yes");
	CHECK_NEAR(one->value, 250e3, 1e-15);
	CHECK_NEAR(one->tolerance, 0.035, 1e-15);
	CHECK(one->unit == UNIT_NS && one->lower_is_better);
	CHECK_STR(one->cell.pattern, "RND");
	CHECK_INT(one->cell.block_bytes, 4096);
	CHECK_NEAR(one->cell.read_pct, 65, 1e-15);
	CHECK_INT(strlen(c.sha256), 64);
	CHECK(!strchr(c.file, '/'));
	claims_release(&c);
}

TEST(no_file_is_no_claims)
{
	struct claims c;
	struct err err = { "" };

	CHECK(!claims_read(NULL, &c, &err));
	CHECK_INT(c.n, 0);
	claims_release(&c);
	CHECK_INT(claims_read("/nonexistent/x.ini", &c, &err), -2);
	CHECK(strstr(err.msg, "/nonexistent/x.ini"));
	claims_release(&c);
}

TEST(what_is_missing)
{
	DO(refuses("[one]\nmetric = iops\nvalue = 1\n", ":1: claim 'one' has no access"));
	DO(refuses(HEAD "value = 1\n", ":1: claim 'one' has no metric"));
	DO(refuses("\n\n" HEAD "metric = iops\n", ":3: claim 'one' has no value"));
	DO(refuses(WHOLE "[empty]\n", ":6: claim 'empty' has no access"));
	DO(refuses(WHOLE "condition =\n", ":6: 'condition' has no value"));
	DO(refuses("", ": no claim in it"));
	DO(refuses("# nothing\n", ": no claim in it"));
}

TEST(what_is_there_twice_or_unknown)
{
	DO(refuses(WHOLE "test = lat\n", ":6: 'test' was given in line 2 already"));
	DO(refuses(WHOLE "[two]\naccess = x\nmetric = iops\nvalue = 1\n[one]\naccess = y\n"
			 "metric = iops\nvalue = 2\n",
		   ":10: claim 'one' was begun in line 1 already"));
	DO(refuses(WHOLE "qdepth = 3\n", ":6: unknown key 'qdepth' (did you mean 'qd'?)"));
	DO(refuses(WHOLE "zzzzzz = 3\n", ":6: unknown key 'zzzzzz'"));
	DO(refuses("test = iops\n" WHOLE, ":1: 'test' stands before the first [section]"));
	DO(refuses("[one\n", ":1: section without ']'"));
	DO(refuses("[]\n", ":1: section without a name"));
	DO(refuses(WHOLE "nonsense\n", ":6: not \"key = value\""));
	DO(refuses(WHOLE "condition = \xff\n", ":6: not UTF-8"));
}

TEST(one_title_of_two_drives)
{
	struct claims c;

	DO(takes(WHOLE "model = A\n" WHOLE "model = B\n", &c));
	CHECK_INT(c.n, 2);
	claims_release(&c);
	DO(refuses(WHOLE "model = A\n" WHOLE "model = A\n", ":7: claim 'one' was begun in line 1"));
}

TEST(metrics_by_their_words)
{
	static const char *const good[][2] = { { "iops", "iops" },
					       { "IOPS", "iops" },
					       { "bytes_per_s", "bytes_per_s" },
					       { "throughput", "bytes_per_s" },
					       { "art", "art_ns" },
					       { "p50", "lat_p50_ns" },
					       { "p99", "lat_p99_ns" },
					       { "P999", "lat_p999_ns" },
					       { "p9999", "lat_p9999_ns" },
					       { "lat_p99999_ns", "lat_p99999_ns" },
					       { "mrt", "mrt_ns" },
					       { "art_mean_of_rounds_ns",
						 "art_mean_of_rounds_ns" } };

	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		const struct metric_word *m = metric_find(good[i][0]);
		CHECK_MSG(m, "%s", good[i][0]);
		CHECK_STR(m->key, good[i][1]);
		CHECK(metric_of_key(m->key) == m);
	}
	for (const char *const *w = metric_words(); *w; w++)
		CHECK_MSG(metric_find(*w), "%s", *w);
	DO(refuses(HEAD "metric = ipos\nvalue = 1\n", ":4: unknown metric 'ipos' (did you mean"));
	DO(refuses(HEAD "metric = power\nvalue = 1\n", ":4: unknown metric 'power'"));
	CHECK(!metric_find(""));
	CHECK(!metric_find("iops art"));
	CHECK(metric_find("99.9 %") == metric_find("p999") &&
	      metric_find("99%") == metric_find("p99"));
}

static void value_is(const char *metric, const char *text, double wants)
{
	const struct metric_word *m = metric_find(metric);
	double v = NAN;
	const char *why = value_read(text, m->unit, metric, &v);

	CHECK_MSG(!why, "%s %s: %s", metric, text, why);
	CHECK_NEAR(v, wants, 1e-15);
}

TEST(values_with_their_units)
{
	DO(value_is("iops", "950000", 950000));
	DO(value_is("iops", "950k", 950000));
	DO(value_is("iops", "1.2M IOPS", 1.2e6));
	DO(value_is("iops", "950 kIOPS", 950000));
	DO(value_is("mbps", "6800", 6800e6));
	DO(value_is("mbps", "6800 MB/s", 6800e6));
	DO(value_is("throughput", "6.8 GB/s", 6.8e9));
	DO(value_is("bytes_per_s", "6800000000", 6.8e9));
	DO(value_is("bytes_per_s", "1 GiB/s", 1073741824));
	DO(value_is("art", "82 us", 82e3));
	DO(value_is("p99", "14us", 14e3));
	DO(value_is("p99", "14 \xc2\xb5s", 14e3));
	DO(value_is("mrt", "0.1 ms", 1e5));
	DO(value_is("mrt", "1.5s", 1.5e9));
	DO(value_is("p999", "900 ns", 900));
}

TEST(values_that_are_none)
{
	static const char *const bad[][2] = {
		{ "iops", "0" },	  { "iops", "-5" },	 { "iops", "1,000,000" },
		{ "iops", "fast" },	  { "iops", "5 us" },	 { "iops", "1e6" },
		{ "iops", "1.2.3" },	  { "iops", "inf" },	 { "iops", "." },
		{ "throughput", "6800" }, { "mbps", "6800 us" }, { "mbps", "6800 Mb/s" },
		{ "art", "82" },	  { "art", "82 m" },	 { "art", "82 MB/s" },
		{ "art", "nan us" },	  { "art", "" }
	};
	double v;

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct metric_word *m = metric_find(bad[i][0]);
		CHECK_MSG(value_read(bad[i][1], m->unit, bad[i][0], &v), "%s = %s is taken",
			  bad[i][0], bad[i][1]);
	}
	DO(refuses(HEAD "metric = art\nvalue = 82\n",
		   ":5: value is a time with its unit: ns, us, ms or s, not '82'"));
	DO(refuses(HEAD "metric = iops\nvalue = 1,000\n", ":5: value is written without ','"));
}

TEST(tolerances_and_depths)
{
	double v;

	CHECK(!percent_read("3 %", &v) && fabs(v - 0.03) < 1e-15);
	CHECK(!percent_read("0.5%", &v) && fabs(v - 0.005) < 1e-15);
	CHECK(!percent_read("0", &v) && v == 0);
	CHECK(percent_read("3", &v) && percent_read("-3 %", &v) && percent_read("%", &v));
	DO(refuses(WHOLE "tolerance = 0.03\n", ":6: tolerance is a percentage such as '3 %'"));
	DO(refuses(WHOLE "tolerance = 100 %\n", ":6: tolerance is below 100 %"));
	DO(refuses(WHOLE "tc = 0\n", ":6: tc is a number from 1"));
	DO(refuses(WHOLE "qd = many\n", ":6: qd is a number from 1"));
	DO(refuses(WHOLE "qd = 99999\n", ":6: qd is a number from 1"));
	DO(refuses(WHOLE "better = bigger\n", ":6: better is higher or lower, not 'bigger'"));
}

static void access_is(const char *text, const char *pattern, int64_t bytes, double read_pct)
{
	struct access a;

	CHECK_MSG(access_read(text, true, &a), "%s", text);
	CHECK_STR(a.pattern, pattern);
	CHECK_INT(a.block_bytes, bytes);
	CHECK_MSG(fabs(a.read_pct - read_pct) < 1e-9, "%s: %g", text, a.read_pct);
}

TEST(accesses_as_people_and_reports_write_them)
{
	struct access a;

	DO(access_is("RND 4 KiB R", "RND", 4096, 100));
	DO(access_is("rnd 4k w", "RND", 4096, 0));
	DO(access_is("Random 4KB Read", "RND", 4096, 100));
	DO(access_is("RND 4K 65/35", "RND", 4096, 65));
	DO(access_is("seq-128k-w", "SEQ", 131072, 0));
	DO(access_is("rnd-4k-70-30", "RND", 4096, 70));
	DO(access_is("SEQ 1 MiB R", "SEQ", 1048576, 100));
	DO(access_is("SEQ 1024K 100/0", "SEQ", 1048576, 100));
	DO(access_is("RND 0.5 KiB W", "RND", 512, 0));
	DO(access_is("rnd 512 b r", "RND", 512, 100));
	DO(access_is("RND 4 KiB R/W 0/100", "RND", 4096, 0));
	DO(access_is("RND 8 KiB R/W 65/35 T32Q32 (demand variation)", "RND", 8192, 65));
	DO(access_is("rnd-8k-65-35 rw 0/100", "RND", 8192, 0));
	DO(access_is("4KB Random Read", "RND", 4096, 100));
	DO(access_is("128 KB sequential writes", "SEQ", 131072, 0));
	DO(access_is("4K 70/30 R/W random", "RND", 4096, 70));
	DO(access_is("random 70 30 8k", "RND", 8192, 70));
	CHECK(access_read("RND 4 KiB R T4Q32", false, &a) && a.tc == 4 && a.qd == 32);
	CHECK(access_read("RND 4 KiB R", false, &a) && a.tc == 0 && a.qd == 0);
	CHECK(!access_read("RND 4 KiB R T4Q32x", true, &a));
	CHECK(!access_read("RND 4 KiB R T0Q1", true, &a));
	CHECK(!access_read("RND 4 KiB R (x)", false, &a) &&
	      access_read("RND 4 KiB R (x)", true, &a));
	CHECK(!access_read("RND 4 KiB", true, &a));
	CHECK(!access_read("RND R", true, &a));
	CHECK(!access_read("4k r", true, &a));
	CHECK(!access_read("RND 4x R", true, &a));
	CHECK(!access_read("RND 4k 65/36", true, &a));
	CHECK(!access_read("", true, &a));
	CHECK(!access_read("rnd rnd 4k r", true, &a) && !access_read("rnd 4k 8k r", true, &a));
	CHECK(!access_read("rnd 4k r w", true, &a) && !access_read("rnd 4k r fast", true, &a));
	CHECK(access_is_meant("rnd 4k 60/50") && access_is_meant("4k read"));
	CHECK(!access_is_meant("operating point max") && !access_is_meant("50%"));
	CHECK(!access_is_meant("cbw rw 40/60") && !access_is_meant("Wait State 5 *"));
	CHECK(!access_read("RND 99999999999999999999k R", true, &a));
	DO(refuses("[one]\naccess = seq 128k w t1q1\nqd = 1\nmetric = iops\nvalue = 1\n",
		   ":2: access is without T and Q where tc or qd are given"));
}

TEST(names_of_accesses)
{
	CHECK(words_match("operating point max", "Operating  point max"));
	CHECK(words_match("wait state 5 *", "Wait State 5 (5 s / 25 s idle)"));
	CHECK(!words_match("wait state 5 *", "Wait State 15 (5 s / 75 s idle)"));
	CHECK(!words_match("max", "operating point max"));
	CHECK(drive_matches("NV*", "NV7400", "S1") && drive_matches("S1", "NV7400", "S1  "));
	CHECK(!drive_matches("NV", "NV7400", "S1"));
	CHECK(drive_matches("[X]", "[X]", "")); /* a model as it stands, whatever it holds */
}

/* ---- verdicts ---- */

/* A run of one test with two cells at two depths. */
struct rig {
	struct dataset d;
	struct test t;
	struct section s;
	struct combo combo[3];
	struct measure round[WINDOW_ROUNDS];
	struct result r;
};

static void rig_make(struct rig *x)
{
	static const double iops[WINDOW_ROUNDS] = { 98, 99, 100, 101, 102 };

	*x = (struct rig){ .t = { .name = "iops",
				  .sheet = "IOPS",
				  .formal = true,
				  .finished = true,
				  .verdict = "passed",
				  .reason = "",
				  .write_cache = "off",
				  .steady = 1 } };
	x->s = (struct section){
		.number = 1, .label = "", .steady = 1, .window_first = 1, .window_last = 5
	};
	for (unsigned i = 0; i < 3; i++)
		x->combo[i] = (struct combo){ .read_pct = 100,
					      .block_bytes = i == 2 ? 8192 : 4096,
					      .threads = 4,
					      .qd = i ? 32 : 8,
					      .label = "",
					      .access = "",
					      .pattern = "RND",
					      .title = "RND",
					      .n_window = WINDOW_ROUNDS,
					      .iops = 100 + i,
					      .bytes_per_s = NAN,
					      .art_ns = 5000,
					      .art_rounds_ns = 6000,
					      .p50_ns = -1,
					      .p99_ns = -1,
					      .p999_ns = -1,
					      .p9999_ns = -1,
					      .p99999_ns = -1,
					      .mrt_ns = 9000,
					      .ios = 500 };
	for (unsigned i = 0; i < WINDOW_ROUNDS; i++) {
		x->round[i] = (struct measure){ .iops = iops[i] };
		x->combo[0].window[i] = x->combo[1].window[i] = x->combo[2].window[i] =
			&x->round[i];
	}
	x->s.combo = x->combo;
	x->s.n_combos = 3;
	x->t.section = &x->s;
	x->t.n_sections = 1;
	x->d = (struct dataset){ .model = "NV7400", .serial = "S1", .test = &x->t, .n_tests = 1 };
}

static void check_is(struct rig *x, const char *claim, enum claim_verdict v, const char *why)
{
	struct claims c;
	struct claim_check k;

	DO(takes(claim, &c));
	CHECK(claim_check(&c.v[0], &x->d, &k));
	CHECK_MSG(k.verdict == v, "%s: %s (%s)", claim, claim_verdict_name(k.verdict), k.why);
	CHECK_MSG(strstr(k.why, why), "not \"%s\": %s", why, k.why);
	CHECK(isnan(k.measured) == (v == CLAIM_NOT_ASSESSED));
	claims_release(&c);
}

#define OF(access) "[x]\ntest = iops\naccess = " access "\nmetric = iops\n"

TEST(the_verdict_hangs_on_the_limit)
{
	struct rig x;

	rig_make(&x);
	DO(check_is(&x, OF("rnd 8k r") "value = 102\n", CLAIM_MET, ""));
	DO(check_is(&x, OF("rnd 8k r") "value = 102.1\n", CLAIM_MISSED, ""));
	DO(check_is(&x, OF("rnd 8k r") "value = 102.1\ntolerance = 1 %\n", CLAIM_MET, ""));
	DO(check_is(&x, OF("rnd 8k r") "value = 120\ntolerance = 15 %\n", CLAIM_MET, ""));
	DO(check_is(&x, OF("rnd 8k r") "value = 120.1\ntolerance = 15 %\n", CLAIM_MISSED, ""));
	DO(check_is(&x, OF("rnd 8k r") "value = 90\nbetter = lower\n", CLAIM_MISSED, ""));
	DO(check_is(&x, "[x]\naccess = rnd 8k r\nmetric = art\nvalue = 5 us\n", CLAIM_MET, ""));
	DO(check_is(&x, "[x]\naccess = rnd 8k r\nmetric = art\nvalue = 4.9 us\n", CLAIM_MISSED,
		    ""));
	DO(check_is(&x, "[x]\naccess = rnd 8k r\nmetric = art\nvalue = 4.9 us\ntolerance = 3 %\n",
		    CLAIM_MET, ""));
	DO(check_is(&x, "[x]\naccess = rnd 8k r\nmetric = mrt\nvalue = 8 us\n", CLAIM_MISSED, ""));
}

TEST(the_numbers_of_a_check)
{
	struct rig x;
	struct claims c;
	struct claim_check k;

	rig_make(&x);
	DO(takes(OF("rnd 8k r") "value = 120\ntolerance = 10 %\n", &c));
	CHECK(claim_check(&c.v[0], &x.d, &k));
	CHECK_NEAR(k.measured, 102, 1e-15);
	CHECK_NEAR(k.limit, 108, 1e-12);
	CHECK_NEAR(k.difference, -0.15, 1e-12);
	/* 98 to 102: s = sqrt(2.5), of a mean of 100, of five rounds */
	CHECK_NEAR(k.uncertainty, sqrt(2.5) / 100 / sqrt(5), 1e-12);
	CHECK_STR(k.under, "IOPS T4Q32, WCD, SS 1-5");
	CHECK(k.test == &x.t && !k.result);
	claims_release(&c);
}

TEST(other_conditions_are_no_verdict)
{
	struct rig x;

	rig_make(&x);
	DO(check_is(&x, OF("rnd 4k r") "value = 1\n", CLAIM_NOT_ASSESSED,
		    "ambiguous: IOPS T4Q8, IOPS T4Q32"));
	DO(check_is(&x, OF("rnd 4k r") "qd = 8\nvalue = 100\n", CLAIM_MET, ""));
	DO(check_is(&x, OF("rnd 4k r t4q8") "value = 100\n", CLAIM_MET, ""));
	DO(check_is(&x, OF("rnd 4k r") "tc = 4\nqd = 32\nvalue = 101.5\n", CLAIM_MISSED, ""));
	DO(check_is(&x, OF("rnd 8k r") "tc = 1\nqd = 1\nvalue = 1\n", CLAIM_NOT_ASSESSED,
		    "claimed at T1Q1, measured at IOPS T4Q32"));
	DO(check_is(&x, OF("rnd 16k r") "value = 1\n", CLAIM_NOT_ASSESSED,
		    "not measured: no rnd 16k r in iops"));
	DO(check_is(&x, OF("seq 8k r") "value = 1\n", CLAIM_NOT_ASSESSED, "not measured"));
	DO(check_is(&x, "[x]\ntest = lat\naccess = rnd 8k r\nmetric = iops\nvalue = 1\n",
		    CLAIM_NOT_ASSESSED, "the run has no test lat"));
	DO(check_is(&x, OF("rnd 8k r") "section = 3\nvalue = 1\n", CLAIM_NOT_ASSESSED,
		    "section 3"));
	DO(check_is(&x, "[x]\naccess = rnd 8k r\nmetric = p999\nvalue = 1 ms\n", CLAIM_NOT_ASSESSED,
		    "too few I/Os for 99.9 % RT: 500"));
}

TEST(what_is_not_reported_is_not_assessed)
{
	struct rig x;

	rig_make(&x);
	x.s.steady = x.t.steady = 0;
	x.t.status = STATUS_NOT_VALID;
	DO(check_is(&x, OF("rnd 8k r") "value = 1\n", CLAIM_NOT_ASSESSED,
		    "steady state not reached"));
	rig_make(&x);
	x.t.finished = false;
	x.t.status = STATUS_NOT_VALID;
	x.t.reason = "not finished";
	DO(check_is(&x, OF("rnd 8k r") "value = 1\n", CLAIM_NOT_ASSESSED,
		    "test iops is not finished"));
	rig_make(&x);
	x.d.tampered = "cell 3";
	DO(check_is(&x, OF("rnd 8k r") "value = 1\n", CLAIM_NOT_ASSESSED, "changed after the run"));
	rig_make(&x);
	x.combo[2].n_window = 0;
	x.combo[2].iops = NAN;
	DO(check_is(&x, OF("rnd 8k r") "value = 1\n", CLAIM_NOT_ASSESSED, "not reported"));
}

TEST(a_claim_of_another_drive)
{
	struct rig x;
	struct claims c;
	struct claim_check k;
	struct claim_checks all;
	struct arena a = ARENA_INIT;

	rig_make(&x);
	DO(takes(OF("rnd 8k r") "value = 102\nmodel = NV*\n"
				"[y]\naccess = rnd 8k r\nmetric = iops\nvalue = 103\nmodel = S1\n"
				"[z]\naccess = rnd 8k r\nmetric = iops\nvalue = 1\nmodel = C9\n"
				"[q]\naccess = rnd 9k r\nmetric = iops\nvalue = 1\n",
		 &c));
	CHECK(!claim_check(&c.v[2], &x.d, &k));
	claims_check(&c, &x.d, &a, &all);
	CHECK_INT(all.n, 3);
	CHECK_INT(all.n_met, 1);
	CHECK_INT(all.n_missed, 1);
	CHECK_INT(all.n_open, 1);
	CHECK_STR(claims_counts(&a, &all), "1 of 3 met, 1 missed, 1 not assessed");
	claims_release(&c);
	arena_release(&a);
}

TEST(a_line_of_the_summary_is_its_cell)
{
	struct rig x;
	struct claims c;
	struct claim_check k;

	rig_make(&x);
	x.r = (struct result){ .test = &x.t,
			       .section = &x.s,
			       .access = "RND 8 KiB R",
			       .tcqd = "T4Q32",
			       .metric = "IOPS",
			       .key = "iops",
			       .value = x.combo[2].iops,
			       .cv = 0.02,
			       .reported = true };
	x.d.result = &x.r;
	x.d.n_results = 1;
	DO(takes(OF("rnd 8k r") "value = 100\n", &c));
	CHECK(claim_check(&c.v[0], &x.d, &k));
	CHECK(k.verdict == CLAIM_MET && k.result == &x.r);
	x.r.value = 50; /* another line of the same access: which one is meant? */
	CHECK(claim_check(&c.v[0], &x.d, &k));
	CHECK(k.verdict == CLAIM_NOT_ASSESSED && strstr(k.why, "ambiguous"));
	claims_release(&c);
}

/* ---- prices ---- */

static void prices_refuse(const char *text, const char *wants)
{
	struct prices p;
	struct err err = { "" };

	DO(write_ini(text));
	int rc = prices_read(path, &p, &err);
	prices_release(&p);
	CHECK_MSG(rc == -22, "taken: %s", text);
	CHECK_MSG(strstr(err.msg, path) == err.msg &&
			  strstr(err.msg + strlen(path), wants) == err.msg + strlen(path),
		  "not \"%s\": %s", wants, err.msg);
}

TEST(prices_weights_and_the_quote)
{
	struct prices p;
	struct err err = { "" };

	DO(write_ini("[NV7400*]\nprice = 612.50\ncurrency = USD\npower_w = 18.6\n"
		     "rated_tbw = 7 PB\ndwpd = 1\n[*]\nprice = 400\n"
		     "[weights]\niops/RND 4 KiB R/*/iops = 30 %\n*/lat_p99999_ns = 70\n"
		     "[quote]\nnote = quotation of 2026-11-20, 1,000 units\ncurrency = USD\n"));
	CHECK_MSG(!prices_read(path, &p, &err), "%s", err.msg);
	CHECK_INT(p.n, 2);
	CHECK_STR(p.currency, "USD");
	CHECK_STR(p.note, "quotation of 2026-11-20, 1,000 units");
	const struct price *v = price_find(&p, "NV7400-3T8  ", "S9");
	CHECK(v == &p.v[0]);
	CHECK_NEAR(v->price, 612.5, 1e-15);
	CHECK_NEAR(v->power_w, 18.6, 1e-15);
	CHECK_NEAR(v->rated_tbw_bytes, 7e15, 1e-15);
	CHECK_NEAR(v->dwpd, 1, 1e-15);
	v = price_find(&p, "C9", "S9");
	CHECK(v == &p.v[1] && isnan(v->power_w) && isnan(v->rated_tbw_bytes) && isnan(v->dwpd));
	CHECK_INT(p.n_weights, 2);
	CHECK_STR(p.weight[1].metric, "*/lat_p99999_ns");
	CHECK_NEAR(p.weight[0].percent, 30, 1e-15);
	CHECK_INT(p.weight[1].line, 11);
	prices_release(&p);
	CHECK(!prices_read(NULL, &p, &err) && !price_find(&p, "a", "b"));
	CHECK_INT(prices_read("/nonexistent/p.ini", &p, &err), -2);
	prices_release(&p);
}

TEST(prices_that_are_refused)
{
	DO(prices_refuse("[A]\nprice = 0\n", ":2: price is a number above 0"));
	DO(prices_refuse("[A]\nprice = 1,200\n", ":2: price is a number above 0"));
	DO(prices_refuse("[A]\nprice = $5\n", ":2: price is a number above 0"));
	DO(prices_refuse("[A]\ncost = 5\n", ":2: unknown key 'cost'"));
	DO(prices_refuse("[A]\npricee = 5\n", ":2: unknown key 'pricee' (did you mean 'price'?)"));
	DO(prices_refuse("[A]\n[B]\nprice = 1\n", ":1: [A] says nothing"));
	DO(prices_refuse("[A]\nprice = 1\n[A]\nprice = 2\n", ":3: [A] is there twice"));
	DO(prices_refuse("[A]\nprice = 1\nprice = 2\n", ":3: 'price' was given in line 2"));
	DO(prices_refuse("[A]\nprice = 1\ncurrency = USD\n[B]\nprice = 2\ncurrency = EUR\n",
			 ":6: currency is 'EUR', but 'USD' in line 3"));
	DO(prices_refuse("[A]\nrated_tbw = 3 GB\n", ":2: rated_tbw is a number of TB"));
	DO(prices_refuse("[A]\npower_w = 18 W\n", ":2: power_w is a number above 0"));
	DO(prices_refuse("[weights]\niops/* = 120\n", ":2: iops/* is a percentage from 0 to 100"));
	DO(prices_refuse("[weights]\niops/* = much\n", ":2: iops/* is a percentage"));
	DO(prices_refuse("[weights]\niops/* = 0\n", ":1: [weights] has no weight above 0"));
	DO(prices_refuse("[weights]\na = 1\n[weights]\nb = 1\n", ":3: [weights] is there twice"));
	DO(prices_refuse("[quote]\nnotes = x\n", ":2: unknown key 'notes' (did you mean 'note'?)"));
	DO(prices_refuse("price = 3\n", ":1: 'price' stands before the first [section]"));
	DO(prices_refuse("", ": nothing in it"));
}

/* ---- Student's t ---- */

/* Computed by numeric integration of the density (Gauss-Legendre, 60 x 40 points) in another language; whole degrees as printed
 * in any table of the distribution: 12.706, 4.303, 3.182, 2.776 ... */
TEST(t95_against_tables_and_integration)
{
	static const double table[][2] = {
		{ 1, 12.706204736174707 },    { 2, 4.302652729749464 },
		{ 3, 3.182446305283709 },     { 4, 2.7764451051977943 },
		{ 5, 2.570581835636316 },     { 7.3, 2.3450667365477043 },
		{ 9.25, 2.2528715602166316 }, { 10, 2.228138851986275 },
		{ 30, 2.0422724563012378 },   { 120, 1.9799304050824431 },
		{ 1000, 1.9623390808264136 }
	};

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
		CHECK_NEAR(student_t95(table[i][0]), table[i][1], 1e-9);
	CHECK_NEAR(student_t95(1), tan(0.475 * M_PI), 1e-12); /* one degree: Cauchy */
	CHECK_NEAR(student_t95(1e9), 1.959963984540054, 1e-8); /* the normal distribution */
	CHECK(isnan(student_t95(0)) && isnan(student_t95(-1)) && isnan(student_t95(NAN)));
}

TEST(p_of_t)
{
	static const double table[][3] = { { 1, 1, 0.5 },
					   { 2.5, 3.7, 0.07182202291182677 },
					   { 0.1, 12, 0.9219955704568263 },
					   { 6, 4.2, 0.003316585660448183 },
					   { 12, 60, 1.378632264181776e-17 },
					   { -2.2, 8.5, 0.05705604740936687 },
					   { 50, 2, 0.0003997601598880805 } };

	for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
		CHECK_NEAR(student_p(table[i][0], table[i][1]), table[i][2], 1e-9);
	CHECK(student_p(0, 5) == 1 && student_p(INFINITY, 5) == 0);
	for (double v = 0.5; v < 200; v *= 1.7) /* and back */
		CHECK_NEAR(student_p(student_t95(v), v), 0.05, 1e-12);
}

static void welch_is(const double *a, unsigned n, const double *b, unsigned m, const double *wants)
{
	struct welch w = welch_test(a, n, b, m), back = welch_test(b, m, a, n);

	CHECK_NEAR(w.t, wants[0], 1e-9);
	CHECK_NEAR(w.degrees, wants[1], 1e-9);
	CHECK_NEAR(w.p, wants[2], 1e-9);
	CHECK_NEAR(back.t, -w.t, 1e-12);
	CHECK_NEAR(back.p, w.p, 1e-12);
}

TEST(welch_against_integration)
{
	static const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
				    21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
	static const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
				    24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 22.2 };
	static const double base[] = { 196800, 195100, 198200 };
	static const double nv[] = { 214420, 212900, 215300 }, c9[] = { 233900, 219800, 241200 };
	static const double d2[] = { 171500, 172800 };
	static const double two[] = { 100, 101 }, four[] = { 100.5, 140, 99, 120 };

	DO(welch_is(a, 15, b, 15,
		    (double[]){ -2.6972624600548745, 27.908429606317476, 0.011721411297770164 }));
	DO(welch_is(base, 3, nv, 3,
		    (double[]){ -15.385691678551476, 3.780521773562013, 0.00015059037744593966 }));
	DO(welch_is(base, 3, c9, 3,
		    (double[]){ -5.506188705604235, 2.081424137407651, 0.02876208143619089 }));
	DO(welch_is(base, 3, d2, 2,
		    (double[]){ 22.17357826512306, 2.998267971184584, 0.00020157832592889257 }));
	DO(welch_is(two, 2, four, 4,
		    (double[]){ -1.4884938715682026, 3.016082631279114, 0.2328955872167548 }));
}

TEST(welch_without_spread_or_samples)
{
	static const double a[] = { 5, 5, 5 }, b[] = { 6, 6 }, c[] = { 5, 7 };

	CHECK(isnan(welch_test(a, 1, b, 2).p) && isnan(welch_test(a, 3, b, 1).p));
	CHECK(isnan(welch_test(a, 0, b, 0).p));
	CHECK(welch_test(a, 3, b, 2).p == 0 && isinf(welch_test(a, 3, b, 2).t));
	CHECK(welch_test(a, 3, a, 2).p == 1 && welch_test(a, 3, a, 2).t == 0);
	CHECK(welch_test(a, 3, c, 2).p > 0.05 && welch_test(a, 3, c, 2).p < 1);
}

TEST_MAIN
