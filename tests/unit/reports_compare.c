/* SPDX-License-Identifier: MIT */
/* Runs side by side: what may be compared, the union of what they measured, scores worked out by hand. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include <errno.h>

#include "pts/base/json.h"
#include "reports/compare_write.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

/* ---- a run: five rounds of up to three cells ---- */

struct drive {
	const char *model, *serial, *firmware, *test; /* test NULL: iops */
	uint32_t lba;
	double r, w, m; /* IOPS of RND 4K R, 4K W, 8K 65/35; 0: not in it */
	bool wild; /* never steady */
	bool equal; /* the same in every round */
	bool simulated;
	const char *state; /* NULL: done */
};

static void put_cell(struct fix *f, int number, double read_pct, uint32_t bs, double iops)
{
	char access[32];

	if (!(iops > 0))
		return;
	snprintf(access, sizeof access, "RND %uK %g/%g", bs / 1024, read_pct, 100 - read_pct);
	struct fix_cell c = { .phase = "round",
			      .access = access,
			      .round = number,
			      .read_pct = read_pct,
			      .bs = bs,
			      .tc = 4,
			      .qd = 32,
			      .iops = round(iops),
			      .art_ns = 128e9 / iops,
			      .mrt_ns = 9000000,
			      .seconds = 60 };
	fix_put(f, &c);
}

/* Rounds of 99, 99.5, 100, 100.5 and 101 % of the value: its mean is the value, its CV sqrt(0.625) %. */
static double share(const struct drive *k, int round)
{
	if (k->wild)
		return 1 + 0.5 * (round % 2);
	return k->equal ? 1 : 1 + 0.005 * (round - 3);
}

#define CV 0.0079056941504209484

static void put_rounds(struct fix *f, const struct drive *k, bool *ret_steady)
{
	double y[5];

	*ret_steady = false;
	for (int r = 1; r <= 5; r++) {
		struct round_row row;
		struct steady_check check;
		put_cell(f, r, 100, 4096, k->r * share(k, r));
		put_cell(f, r, 0, 4096, k->w * share(k, r));
		put_cell(f, r, 65, 8192, k->m * share(k, r));
		y[r - 1] = round(k->w * share(k, r));
		*ret_steady = fix_check(f, "iops of rw 0/100 bs 4k", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
}

static void put_run(struct fix *f, const struct drive *k)
{
	struct fix_opts o = { .model = k->model,
			      .serial = k->serial,
			      .firmware = k->firmware,
			      .lba = k->lba,
			      .simulated = k->simulated };
	const char *test = k->test ? k->test : "iops";
	bool steady;

	CHECK(!store_begin(f->s, &f->err)); /* all at once: a test is not to wait for the disk */
	DO(fix_run(f, &o));
	DO(fix_test(f, test, "Fixture", "IOPS"));
	DO(fix_attempt(f, test));
	DO(fix_section(f, ""));
	DO(fix_fill(f, 131072));
	bool any = k->r > 0 || k->w > 0 || k->m > 0;
	steady = false;
	if (any)
		DO(put_rounds(f, k, &steady));
	DO(fix_section_end(f, any ? steady : -1, any ? 5 : 0, steady ? "steady" : "rounds"));
	DO(fix_test_end(f, steady));
	DO(fix_end(f, k->state ? k->state : "done"));
	CHECK(!store_commit(f->s, &f->err));
}

struct side { /* runs side by side */
	struct fix f;
	int64_t run[COMPARE_RUNS];
	unsigned n;
	struct reader *r;
	struct comparison c;
	struct err err;
};

static void side_store(struct side *x, const struct drive *k, unsigned n)
{
	*x = (struct side){ .n = n };
	DO(fix_open(&x->f));
	for (unsigned i = 0; i < n; i++) {
		DO(put_run(&x->f, &k[i]));
		x->run[i] = x->f.run;
	}
	store_close(x->f.s);
	x->f.s = NULL;
	CHECK_MSG(!read_open(x->f.db, &x->r, &x->err), "%s", x->err.msg);
}

static int side_compare(struct side *x, const struct compare_options *more)
{
	struct compare_options o = more ? *more : (struct compare_options){ .n = 0 };

	if (!o.run) {
		o.run = x->run;
		o.n = x->n;
	}
	return comparison_load(x->r, &o, &x->c, &x->err);
}

static void side_open(struct side *x, const struct drive *k, unsigned n)
{
	DO(side_store(x, k, n));
	CHECK_MSG(!side_compare(x, NULL), "%s", x->err.msg);
}

static void side_close(struct side *x)
{
	comparison_release(&x->c);
	read_close(x->r);
	fix_close(&x->f);
}

static const struct condition *condition(const struct side *x, const char *test, const char *name)
{
	for (unsigned i = 0; i < x->c.n_conditions; i++)
		if (!strcmp(x->c.condition[i].name, name) && !strcmp(x->c.condition[i].test, test))
			return &x->c.condition[i];
	return NULL;
}

static const struct metric *metric(const struct side *x, const char *key)
{
	for (unsigned i = 0; i < x->c.n_metrics; i++)
		if (!strcmp(x->c.metric[i].key, key))
			return &x->c.metric[i];
	return NULL;
}

#define KEY_R "iops/RND 4 KiB R/T4Q32/iops"
#define KEY_W "iops/RND 4 KiB W/T4Q32/iops"
#define KEY_M "iops/RND 8 KiB 65/35/T4Q32/iops"

static bool remarked(const struct side *x, const char *text)
{
	for (unsigned i = 0; i < x->c.n_remarks; i++)
		if (strstr(x->c.remark[i], text))
			return true;
	return false;
}

/* ---- the gate ---- */

TEST(the_same_twice_is_comparable)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000, .m = 70000 },
				   { "M1", "S2", .r = 100000, .w = 50000, .m = 70000 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_INT(x.c.n_differ, 0);
	CHECK(condition(&x, "", "firmware")->gate == GATE_SAME);
	CHECK_STR(condition(&x, "", "firmware")->value[1], "1.2.0");
	CHECK(condition(&x, "", "serial number")->gate == GATE_NOTE);
	CHECK(condition(&x, "iops", "definition")->gate == GATE_SAME);
	CHECK_INT(x.c.n_candidates, 2); /* one kind of drive, and nothing to hold it against */
	CHECK_STR(x.c.candidate[0].label, "S1");
	side_close(&x);
}

TEST(what_differs_names_both_values)
{
	const struct drive k[] = { { "M1", "S1", "1.0", .lba = 512, .r = 1e5, .w = 5e4 },
				   { "M1", "S2", "1.1", .lba = 4096, .r = 1e5, .w = 5e4 } };
	struct side x;

	DO(side_open(&x, k, 2));
	const struct condition *fw = condition(&x, "", "firmware"),
			       *lba = condition(&x, "", "LBA size");
	CHECK(fw->gate == GATE_DIFFERS && lba->gate == GATE_DIFFERS);
	CHECK_STR(fw->text, "firmware: 1.0 (FW 1.0); 1.1 (FW 1.1)");
	CHECK_STR(lba->text, "LBA size: 512 bytes (FW 1.0); 4096 bytes (FW 1.1)");
	CHECK_INT(x.c.n_differ, 2);
	side_close(&x);
}

TEST(a_test_of_one_run_alone_is_no_difference)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M1", "S2", .test = "mine", .r = 1e5, .w = 5e4 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_INT(x.c.n_differ, 0);
	CHECK(condition(&x, "", "tests")->gate == GATE_NOTE);
	CHECK_STR(condition(&x, "mine", "definition")->value[0], "not run");
	side_close(&x);
}

TEST(an_interrupted_run_is_a_red_line)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M1", "S2", .r = 1e5, .w = 5e4, .state = "interrupted" } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK(condition(&x, "", "state of the run")->gate == GATE_DIFFERS);
	side_close(&x);
}

TEST(simulated_beside_a_drive)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M1", "S2", .r = 1e5, .w = 5e4, .simulated = true } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK(x.c.simulated);
	CHECK(condition(&x, "", "simulated")->gate == GATE_DIFFERS);
	side_close(&x);
}

/* ---- candidates ---- */

TEST(samples_of_a_model_are_one_candidate)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000 },
				   { "M2", "S9", .r = 90000, .w = 40000 },
				   { "M1", "S2", .r = 110000, .w = 50000 },
				   { "M1", "S2", .r = 120000, .w = 50000 } };
	struct side x;

	DO(side_open(&x, k, 4));
	CHECK_INT(x.c.n_candidates, 2);
	CHECK_STR(x.c.candidate[0].label, "M1");
	CHECK_INT(x.c.candidate[0].n_runs, 3);
	CHECK_INT(x.c.candidate[0].n_units, 2);
	CHECK_STR(x.c.run[2].label, "M1 #2");
	const struct metric *m = metric(&x, KEY_R);
	CHECK_NEAR(m->of[0].value, 110000, 1e-9);
	CHECK_INT(m->of[0].n, 3);
	CHECK_NEAR(m->of[0].unit_cv, 10000.0 / 110000, 1e-9); /* of 100, 110, 120 thousand */
	CHECK_NEAR(m->of[0].cv, CV, 1e-3);
	CHECK_NEAR(m->noise, 2 * 10000.0 / 110000, 1e-9);
	side_close(&x);
}

TEST(a_baseline_by_its_run)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000 },
				   { "M2", "S9", .r = 90000, .w = 40000 } };
	struct side x;
	struct compare_options o = { .n = 0 };

	DO(side_store(&x, k, 2));
	o.baseline = x.run[1];
	CHECK_MSG(!side_compare(&x, &o), "%s", x.err.msg);
	CHECK_INT(x.c.baseline, 1);
	CHECK(x.c.candidate[1].baseline && !x.c.candidate[0].baseline);
	CHECK_NEAR(metric_delta(&x.c, metric(&x, KEY_R), 0), 1.0 / 9, 1e-9);
	side_close(&x);
}

static void refused(struct side *x, const struct compare_options *o, const char *why)
{
	CHECK_INT(side_compare(x, o), -EINVAL);
	CHECK_MSG(strstr(x->err.msg, why), "%s", x->err.msg);
	comparison_release(&x->c);
	x->err.msg[0] = 0;
}

TEST(what_is_no_comparison)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000 },
				   { "M2", "S9", .r = 90000, .w = 40000 } };
	struct side x;
	int64_t twice[2];

	DO(side_store(&x, k, 2));
	DO(refused(&x, &(struct compare_options){ .run = x.run, .n = 1 },
		   "nothing to compare with"));
	twice[0] = twice[1] = x.run[0];
	DO(refused(&x, &(struct compare_options){ .run = twice, .n = 2 }, "named twice"));
	DO(refused(&x, &(struct compare_options){ .run = x.run, .n = 2, .baseline = 99 },
		   "not among those compared"));
	read_close(x.r);
	fix_close(&x.f);
}

/* ---- metrics ---- */

TEST(different_cells_make_a_union)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M2", "S2", .w = 6e4, .m = 7e4 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_INT(x.c.n_metrics, 3);
	CHECK(metric(&x, KEY_R)->of[0].reported && !metric(&x, KEY_R)->of[1].reported);
	CHECK_STR(metric(&x, KEY_R)->of[1].why, "n/a");
	CHECK(!metric(&x, KEY_M)->of[0].reported && metric(&x, KEY_M)->of[1].reported);
	CHECK_NEAR(metric_delta(&x.c, metric(&x, KEY_W), 1), 0.2, 1e-9);
	CHECK(isnan(metric_delta(&x.c, metric(&x, KEY_R), 1)));
	side_close(&x);
}

TEST(nothing_in_common)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M2", "S2", .test = "mine", .w = 6e4 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_STR(metric(&x, KEY_R)->of[1].why, "not run");
	CHECK(isnan(x.c.candidate[1].score));
	CHECK_INT(x.c.candidate[1].rank, 0);
	CHECK_INT(x.c.candidate[0].rank, 1);
	CHECK(remarked(&x, "M2 has no score"));
	side_close(&x);
}

TEST(a_baseline_that_was_not_steady)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4, .wild = true },
				   { "M2", "S2", .r = 1e5, .w = 5e4 } };
	struct side x;
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	DO(side_open(&x, k, 2));
	const struct metric *m = metric(&x, KEY_R);
	CHECK(m->of[0].present && !m->of[0].reported);
	CHECK_STR(m->of[0].why, "not steady");
	CHECK(isnan(m->of[0].value));
	CHECK(isnan(metric_delta(&x.c, m, 1)));
	CHECK_INT(m->best, 1);
	CHECK(condition(&x, "iops", "steady state")->gate == GATE_DIFFERS);
	CHECK(isnan(x.c.candidate[1].score));
	CHECK(remarked(&x, "M1: IOPS RND 4 KiB R T4Q32 left out: not steady"));
	compare_json(&x.c, &j);
	CHECK(strstr(buf_cstr(&b), "\"why\":\"not steady\""));
	buf_release(&b);
	side_close(&x);
}

TEST(equal_values_are_no_difference)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4, .equal = true },
				   { "M2", "S2", .r = 1e5, .w = 5e4, .equal = true } };
	struct side x;

	DO(side_open(&x, k, 2));
	const struct metric *m = metric(&x, KEY_R);
	CHECK_NEAR(m->noise, 0, 1e-12);
	CHECK_NEAR(metric_delta(&x.c, m, 1), 0, 1e-12);
	CHECK_NEAR(x.c.candidate[1].score, 100, 1e-12);
	CHECK_INT(x.c.candidate[0].rank, 1);
	CHECK_INT(x.c.candidate[1].rank, 1);
	CHECK(remarked(&x, "neither is better"));
	side_close(&x);
}

/* ---- the score ---- */

TEST(a_score_by_hand)
{
	/* weights 10 : 15 : 20 of what the headlines have here, of 45 */
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000, .m = 80000 },
				   { "M2", "S2", .r = 120000, .w = 40000, .m = 88000 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_NEAR(metric(&x, KEY_R)->weight, 1000.0 / 45, 1e-12);
	CHECK_NEAR(metric(&x, KEY_M)->weight, 2000.0 / 45, 1e-12);
	CHECK_NEAR(x.c.candidate[0].score, 100, 1e-12);
	CHECK_NEAR(x.c.candidate[1].score, 100 * (10 * 1.2 + 15 * 0.8 + 20 * 1.1) / 45, 1e-9);
	CHECK_INT(x.c.candidate[1].rank, 1);
	CHECK_STR(x.c.kiops->key, KEY_M);
	CHECK_NEAR(metric(&x, KEY_R)->noise, 2 * CV, 1e-3);
	side_close(&x);
}

TEST(a_missing_metric_drops_its_weight)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000, .m = 80000 },
				   { "M2", "S2", .r = 120000, .w = 40000 } };
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_NEAR(x.c.candidate[1].score, 100 * (10 * 1.2 + 15 * 0.8) / 25, 1e-9);
	CHECK_NEAR(x.c.candidate[1].scored, 100.0 * 25 / 45, 1e-9);
	CHECK(remarked(&x, "The score of M2 rests on 56 of 100 points"));
	side_close(&x);
}

static const char *write_file(const struct side *x, const char *name, const char *text)
{
	static char path[160];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s", x->f.dir, name);
	out = fopen(path, "w");
	if (!out)
		return NULL;
	fputs(text, out);
	fclose(out);
	return path;
}

TEST(prices_and_weights_of_the_user)
{
	const struct drive k[] = { { "M1", "S1", .r = 100000, .w = 50000, .m = 80000 },
				   { "M2", "S2", .r = 120000, .w = 40000, .m = 40000 } };
	struct compare_options o = { .n = 0 };
	struct side x;

	DO(side_store(&x, k, 2));
	o.prices = write_file(&x, "p.ini",
			      "[M2]\nprice = 200\ncurrency = EUR\npower_w = 10\n"
			      "[weights]\niops/RND 4 KiB R/* = 75\niops/* = 25\ntp/* = 3\n");
	CHECK_MSG(!side_compare(&x, &o), "%s", x.err.msg);
	unlink(o.prices);
	CHECK_NEAR(metric(&x, KEY_R)->weight, 75, 1e-12); /* the first line that fits */
	CHECK_NEAR(metric(&x, KEY_W)->weight, 25, 1e-12);
	CHECK(remarked(&x, "'tp/*'"));
	CHECK(isnan(x.c.candidate[0].cost) && isnan(x.c.candidate[0].cost_per_kiops));
	CHECK_NEAR(x.c.candidate[1].cost_per_kiops, 5, 1e-9); /* of 40,000 IOPS of 8 KiB 65/35 */
	CHECK_NEAR(x.c.candidate[1].iops_per_w, 4000, 1e-9);
	CHECK_NEAR(x.c.candidate[1].score, 100 * (75 * 1.2 + 25 * 0.8 + 25 * 0.5) / 125, 1e-9);
	side_close(&x);
}

TEST(weights_that_fit_nothing_are_a_mistake)
{
	const struct drive k[] = { { "M1", "S1", .r = 1e5, .w = 5e4 },
				   { "M2", "S2", .r = 1e5, .w = 4e4 } };
	struct compare_options o = { .n = 0 };
	struct side x;

	DO(side_store(&x, k, 2));
	o.prices = write_file(&x, "p.ini", "[weights]\n\nlat/* = 100\n");
	CHECK_INT(side_compare(&x, &o), -EINVAL);
	unlink(o.prices);
	CHECK_MSG(strstr(x.err.msg, "p.ini:3: no metric of these runs is like 'lat/*'"), "%s",
		  x.err.msg);
	side_close(&x);
}

/* ---- the files ---- */

static void write_and_lint(const struct side *x, struct buf *ret_html)
{
	static const char *const names[] = { "a.xlsx", "a.html", "a.txt", "a.json" };
	struct compare_options o = { .run = x->run, .n = x->n };
	struct compared how;
	struct buf b = BUF_INIT;
	struct err err = { "" };
	char path[160];

	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", x->f.dir, names[i]);
		CHECK_MSG(!compare_write(x->f.db, &o, path, &how, &err), "%s", err.msg);
		if (!i)
			CHECK_MSG(lint(&b, path, NULL, NULL) <= 0, "%s", buf_cstr(&b));
		else if (i == 1)
			CHECK(!buf_read_file(ret_html, path, 1u << 26));
		unlink(path);
	}
	buf_release(&b);
}

TEST(hostile_names)
{
	const struct drive k[] = { { "=cmd|' /C calc'!A0<script>alert(1)</script>&\"\xff\xfe",
				     "=1+1", .r = 1e5, .w = 5e4 },
				   { "line\nbreak and forty characters of a model name", "<b>",
				     .r = 1e5, .w = 5e4 },
				   { "../../etc/passwd", "\xc3", .r = 1e5, .w = 5e4 } };
	struct buf text = BUF_INIT;
	struct side x;

	DO(side_open(&x, k, 3));
	DO(write_and_lint(&x, &text));
	CHECK(!strstr(buf_cstr(&text), "<script>alert"));
	CHECK(text_is_utf8(buf_cstr(&text)));
	buf_release(&text);
	side_close(&x);
}

TEST(runs_without_a_result)
{
	const struct drive k[] = { { "M1", "S1", .state = "failed" },
				   { "M2", "S2", .state = "failed" } };
	struct buf html = BUF_INIT;
	struct side x;

	DO(side_open(&x, k, 2));
	CHECK_INT(x.c.n_metrics, 0);
	CHECK(remarked(&x, "no result to compare"));
	DO(write_and_lint(&x, &html));
	CHECK(strstr(buf_cstr(&html), "NOT COMPARABLE"));
	buf_release(&html);
	side_close(&x);
}

TEST(many_candidates_fit)
{
	struct drive k[26];
	char model[26][8];
	struct buf text = BUF_INIT;
	struct side x;

	for (unsigned i = 0; i < 26; i++) {
		snprintf(model[i], sizeof model[i], "M%02u", i);
		k[i] = (struct drive){ model[i], "S", .r = 1e5 + i, .w = 5e4 + i, .m = 6e4 };
	}
	DO(side_open(&x, k, 26));
	CHECK_INT(x.c.n_candidates, 26);
	DO(write_and_lint(&x, &text));
	CHECK(strstr(buf_cstr(&text), "M25"));
	buf_release(&text);
	side_close(&x);
}

TEST_MAIN
