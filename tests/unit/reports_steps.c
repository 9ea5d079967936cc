/* SPDX-License-Identifier: MIT */
/* DIRTH-like loops, rate curves and matrices from a database to numbers, pages and files. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "pts/base/buf.h"
#include "reports/dataset.h"
#include "reports/demand.h"
#include "reports/report.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

struct loaded {
	struct fix f;
	struct reader *r;
	struct dataset d;
};

static void load(struct loaded *l)
{
	struct err err = { "" };

	store_close(l->f.s);
	l->f.s = NULL;
	CHECK_MSG(!read_open(l->f.db, &l->r, &err), "%s", err.msg);
	CHECK_MSG(!dataset_load(l->r, l->f.run, &l->d, &err), "%s", err.msg);
}

static void drop(struct loaded *l)
{
	char path[128];
	static const char *const files[] = { "a.xlsx", "a.txt", "a.json" };

	dataset_release(&l->d);
	read_close(l->r);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", l->f.dir, files[i]);
		unlink(path);
	}
	fix_close(&l->f);
}

/* Workbook without a fault; the text of the report in @text. */
static void write_all(struct loaded *l, struct buf *text)
{
	static const char *const files[] = { "a.json", "a.txt", "a.xlsx" };
	char path[128];
	struct err err = { "" };
	struct buf out = BUF_INIT;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", l->f.dir, files[i]);
		CHECK_MSG(!report_write(l->f.db, &l->f.run, 1, path, &err), "%s", err.msg);
		if (i == 1)
			CHECK(!buf_read_file(text, path, 1u << 26));
	}
	int rc = lint(&out, path, NULL, NULL);
	CHECK_MSG(rc <= 0, "%s", buf_cstr(&out));
	buf_release(&out);
}

static void start(struct loaded *l, const char *test, const char *title, const char *clause)
{
	struct fix_opts o = { 0 };

	DO(fix_open(&l->f));
	DO(fix_run(&l->f, &o));
	DO(fix_test(&l->f, test, title, clause));
	DO(fix_attempt(&l->f, test));
}

/* ---- a small DIRTH: TC 2 1 x QD 4 2 1 ---- */

static const int tcs[] = { 2, 1 }, qds[] = { 4, 2, 1 };

struct small {
	int rounds;
	bool wild; /* never steady */
	bool gap; /* T1Q2 is missing in round 4 */
	bool points;
};

static void dirth_cell(struct fix *f, struct fix_cell *c, struct hist *h)
{
	fix_hist(h, c->art_ns, (uint64_t)(c->iops * c->seconds));
	c->hist = h;
	c->mrt_ns = h->max;
	fix_put(f, c);
}

/* IOPS differ by round, so that plain and weighted means of ART do, too. */
static void dirth_round(struct fix *f, const struct small *o, int r, struct hist *h, double *ret_y)
{
	struct fix_cell ir = { .phase = "irpw",
			       .access = "w",
			       .round = r,
			       .bs = 8192,
			       .tc = 2,
			       .qd = 4,
			       .iops = 1000,
			       .art_ns = 8e6,
			       .seconds = 300 };

	fix_put(f, &ir);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 3; k++) {
			int toio = tcs[i] * qds[k];
			double iops = 1000.0 * toio * (1 + (o->wild ? 0.5 : 0.01) * (r % 3));
			struct fix_cell c = { .phase = "round",
					      .access = "rnd-mix",
					      .round = r,
					      .read_pct = 65,
					      .bs = 8192,
					      .tc = tcs[i],
					      .qd = qds[k],
					      .iops = iops,
					      .art_ns = toio / iops * 1e9,
					      .seconds = 60 };
			if (o->gap && r == 4 && tcs[i] == 1 && qds[k] == 2)
				continue;
			DO(dirth_cell(f, &c, h));
			if (toio == 8)
				*ret_y = (double)(uint64_t)(iops * 60) / 60;
		}
	}
}

static void dirth_points(struct fix *f, struct hist *h)
{
	static const struct {
		const char *name;
		int tc, qd;
	} p[] = { { "max", 2, 4 }, { "min", 1, 1 }, { "mid", 2, 2 } };

	for (unsigned i = 0; i < 3; i++) {
		struct point_row row = { .at = f->at,
					 .point = p[i].name,
					 .threads = p[i].tc,
					 .qd = p[i].qd,
					 .iops = 1000,
					 .art_ns = 1e6,
					 .p99999_ns = -1,
					 .reason = "a reason in words" };
		CHECK_MSG(!store_point(f->s, &row, &f->err), "%s", f->err.msg);
	}
	for (unsigned i = 0; i < 3; i++) {
		struct fix_cell c = { .phase = "prewrite",
				      .access = "w",
				      .bs = 8192,
				      .tc = p[i].tc,
				      .qd = p[i].qd,
				      .iops = 900,
				      .art_ns = 1e6,
				      .seconds = 60 };
		unsigned step = f->step;
		for (unsigned k = 0; k < 4; k++) {
			f->step = step;
			fix_put(f, &c);
		}
		c = (struct fix_cell){ .phase = "histogram",
				       .access = "rnd-mix",
				       .read_pct = 65,
				       .bs = 8192,
				       .tc = p[i].tc,
				       .qd = p[i].qd,
				       .iops = 1000,
				       .art_ns = 1e6,
				       .seconds = 600 };
		DO(dirth_cell(f, &c, h));
	}
}

static void dirth(struct loaded *l, const struct small *o)
{
	struct fix *f = &l->f;
	struct hist *h = hist_new();
	struct round_row row;
	struct steady_check check;
	double y[64] = { 0 };
	bool steady = true;

	DO(start(l, "dirth", "Demand", "DIRTH"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	for (int r = 1; r <= 5; r++) {
		struct fix_cell c = { .phase = "sample",
				      .access = "w",
				      .round = r,
				      .bs = 8192,
				      .tc = 2,
				      .qd = 4,
				      .iops = 1000,
				      .art_ns = 8e6,
				      .seconds = 60 };
		fix_put(f, &c);
		y[r - 1] = 1000;
		fix_check(f, "iops of sample", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	DO(fix_section_end(f, 1, 5, "steady"));
	DO(fix_section(f, "loop 2"));
	for (int r = 1; r <= o->rounds; r++) {
		DO(dirth_round(f, o, r, h, &y[r - 1]));
		steady = fix_check(f, "iops of threads 2 qd 4", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	DO(fix_section_end(f, steady, o->rounds, steady ? "steady" : "rounds"));
	if (o->points)
		DO(dirth_points(f, h));
	DO(fix_test_end(f, steady));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
	free(h);
}

TEST(means_of_the_window_and_of_all_its_ios)
{
	struct small o = { .rounds = 6, .points = true };
	struct loaded l;
	struct arena a = ARENA_INIT;
	struct demand *m = arena_new(&a, struct demand);
	double iops = 0, ios = 0, sum = 0, plain = 0;

	DO(dirth(&l, &o));
	DO(load(&l));
	demand_init(m, &l.d, &l.d.test[0], &a);
	CHECK_INT(m->n_results, 6);
	const struct combo *c = m->cell[0][0];
	CHECK_INT(c->n_window, 5);
	for (unsigned i = 0; i < 5; i++) {
		CHECK_INT(c->window[i]->round, 2 + i);
		iops += c->window[i]->iops / 5;
		plain += c->window[i]->art_ns / 5;
		ios += (double)c->window[i]->ios;
		sum += (double)c->window[i]->ios * c->window[i]->art_ns;
	}
	CHECK_NEAR(c->iops, iops, 1e-12);
	CHECK_NEAR(c->art_ns, sum / ios, 1e-12);
	CHECK_NEAR(c->art_rounds_ns, plain, 1e-12);
	CHECK(fabs(c->art_ns / plain - 1) > 1e-5); /* they do differ */
	CHECK_NEAR(c->iops * c->art_ns / 1e9, 8, 1e-6);
	CHECK(c->p99_ns > 0 && c->p99_ns < c->p999_ns && c->p999_ns < c->p9999_ns);
	CHECK_STR(l.d.test[0].section[1].track[0].title, "RND 8 KiB R/W 65/35 T2Q4");
	arena_release(&a);
	drop(&l);
}

TEST(all_pages_and_their_numbers)
{
	struct small o = { .rounds = 6, .points = true };
	struct buf text = BUF_INIT;
	struct loaded l;

	DO(dirth(&l, &o));
	DO(load(&l));
	DO(write_all(&l, &text));
	for (unsigned p = 1; p <= 15; p++) {
		char want[32];
		snprintf(want, sizeof want, "Plot P%u - ", p);
		CHECK_MSG(strstr(buf_cstr(&text), want), "no page %s", want);
	}
	CHECK(strstr(buf_cstr(&text), "Table P15"));
	CHECK(strstr(buf_cstr(&text), "a reason in words"));
	CHECK(strstr(buf_cstr(&text), "within 2 % at all 6 cells"));
	buf_release(&text);
	drop(&l);
}

TEST(an_unsteady_loop_is_shouted_and_has_no_results)
{
	struct small o = { .rounds = 25, .wild = true };
	struct buf text = BUF_INIT;
	struct loaded l;

	DO(dirth(&l, &o));
	DO(load(&l));
	CHECK_INT(l.d.test[0].section[1].steady, 0);
	DO(write_all(&l, &text));
	CHECK(strstr(buf_cstr(&text), "STEADY STATE NOT REACHED - loop 2 did not settle in 25"));
	CHECK(strstr(buf_cstr(&text), "mean of rounds 21-25, NOT ACHIEVED"));
	CHECK(strstr(buf_cstr(&text), "none was picked"));
	CHECK(strstr(buf_cstr(&text), "P9-P14"));
	CHECK(!strstr(buf_cstr(&text), "Plot P10 "));
	buf_release(&text);
	drop(&l);
}

TEST(a_cell_missing_in_a_round_has_no_mean)
{
	struct small o = { .rounds = 6, .gap = true };
	struct buf text = BUF_INIT;
	struct loaded l;
	struct arena a = ARENA_INIT;
	struct demand *m = arena_new(&a, struct demand);

	DO(dirth(&l, &o));
	DO(load(&l));
	demand_init(m, &l.d, &l.d.test[0], &a);
	CHECK_INT(m->n_cells, 6);
	CHECK_INT(m->n_results, 5);
	CHECK_INT(m->toio[1].toio, 2);
	CHECK_INT(m->toio[1].pairs, 2);
	CHECK_INT(m->toio[1].n, 1);
	DO(write_all(&l, &text));
	buf_release(&text);
	arena_release(&a);
	drop(&l);
}

TEST(a_loop_that_was_only_begun)
{
	struct small o = { .rounds = 0 };
	struct buf text = BUF_INIT;
	struct loaded l;

	DO(dirth(&l, &o));
	DO(load(&l));
	DO(write_all(&l, &text));
	CHECK(strstr(buf_cstr(&text), "Plot P3-P15"));
	buf_release(&text);
	drop(&l);
}

/* ---- curve ---- */

static void put_rated(struct fix *f, double rate, struct hist *h)
{
	struct fix_cell c = { .phase = "step",
			      .access = "rnd-4k-r",
			      .read_pct = 100,
			      .bs = 4096,
			      .tc = 4,
			      .qd = 4,
			      .iops = fmin(rate, 10000),
			      .art_ns = 4e5,
			      .seconds = 60,
			      .rate = rate };

	dirth_cell(f, &c, h);
}

TEST(a_rate_curve)
{
	struct buf text = BUF_INIT;
	struct hist *h = hist_new();
	struct loaded l;
	struct fix *f = &l.f;

	DO(start(&l, "curve", "Response time against load", "-"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	struct fix_cell max = { .phase = "maximum",
				.access = "rnd-4k-r",
				.read_pct = 100,
				.bs = 4096,
				.tc = 4,
				.qd = 4,
				.iops = 10000,
				.art_ns = 1.6e6,
				.seconds = 60 };
	fix_put(f, &max);
	struct point_row peak = { .at = f->at,
				  .point = "peak",
				  .threads = 4,
				  .qd = 4,
				  .iops = 10000,
				  .art_ns = 1.6e6,
				  .p99999_ns = -1,
				  .reason = "" };
	CHECK(!store_point(f->s, &peak, &f->err));
	for (int i = 1; i <= 12; i++)
		DO(put_rated(f, 1000.0 * i, h));
	free(h);
	DO(fix_section_end(f, -1, 0, ""));
	DO(fix_test_end(f, -1));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.test[0].section[0].n_rated, 12);
	const struct rated *r = &l.d.test[0].section[0].rated[8];
	CHECK_NEAR(r->m->rate_iops, 9000, 1e-12);
	CHECK(r->service.n > 500000 && r->service.p99_ns > 0);
	CHECK_INT(r->response.n, 0); /* the fixture stores service times only */
	DO(write_all(&l, &text));
	CHECK(strstr(buf_cstr(&text), "Response Time against Load - rnd-4k-r, T4Q4"));
	CHECK(strstr(buf_cstr(&text), "10000 IOPS")); /* found maximum */
	CHECK(strstr(buf_cstr(&text), "83.3%") || strstr(buf_cstr(&text), "0.833"));
	buf_release(&text);
	drop(&l);
}

/* ---- scale ---- */

#define DRIVES 4

TEST(a_matrix_of_drives_and_threads)
{
	struct buf plan = BUF_INIT, text = BUF_INIT;
	struct fix_opts o = { 0 };
	struct loaded l;
	struct fix *f = &l.f;

	buf_str(&plan, "test scale\nsection 1\n");
	for (unsigned i = 0; i < DRIVES * 2; i++)
		buf_fmt(&plan, "%5u RUN RND 8K 100/0 T%uQ1 on members 1..%u 1m as step\n", i,
			i % 2 ? 10 : 1, i / 2 + 1);
	DO(fix_open(f));
	DO(fix_run(f, &o));
	f->plan = buf_cstr(&plan);
	DO(fix_test(f, "scale", "Drives x threads", "-"));
	DO(fix_attempt(f, "scale"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	for (unsigned i = 0; i < DRIVES * 2; i++) {
		unsigned drives = i / 2 + 1, tc = i % 2 ? 10 : 1;
		struct fix_cell c = { .phase = "step",
				      .access = "RND 8K 100/0",
				      .read_pct = 100,
				      .bs = 8192,
				      .tc = (int)tc,
				      .qd = 1,
				      .art_ns = 1e5,
				      .seconds = 60,
				      .iops = 10000.0 * tc * drives };
		if (drives == 4 && tc == 10)
			c.iops *= 0.875;
		fix_put(f, &c);
	}
	DO(fix_section_end(f, -1, 0, ""));
	DO(fix_test_end(f, -1));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
	DO(load(&l));
	CHECK_INT(asked_members(&l.d.test[0], &l.d.measure[5]), 3);
	DO(write_all(&l, &text));
	CHECK(strstr(buf_cstr(&text),
		     "Scaling Matrix - drives x threads per drive (RND 8K 100/0)"));
	CHECK(strstr(buf_cstr(&text), "87.5"));
	CHECK(strstr(buf_cstr(&text), "1 to 4"));
	buf_release(&text);
	buf_release(&plan);
	drop(&l);
}

TEST(a_matrix_inside_a_bound)
{
	struct buf text = BUF_INIT;
	struct fix_opts o = { 0 };
	struct loaded l;
	struct fix *f = &l.f;

	DO(fix_open(f));
	DO(fix_run(f, &o));
	f->params = "{\"access\":\"rnd-4k-70-30\",\"limit\":\"300us\"}";
	DO(fix_test(f, "my-bounded", "Best IOPS inside a response time", "-"));
	DO(fix_attempt(f, "my-bounded"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	for (int tc = 1; tc <= 4; tc *= 2) {
		for (int qd = 1; qd <= 4; qd *= 2) {
			struct fix_cell c = { .phase = "step",
					      .access = "rnd-4k-70-30",
					      .read_pct = 70,
					      .bs = 4096,
					      .tc = tc,
					      .qd = qd,
					      .art_ns = 50000.0 * tc * qd,
					      .iops = 20000,
					      .seconds = 1 };
			fix_put(f, &c);
		}
	}
	struct point_row best = { .at = f->at,
				  .point = "best",
				  .threads = 2,
				  .qd = 2,
				  .iops = 20000,
				  .art_ns = 2e5,
				  .p99999_ns = -1,
				  .reason = "because" };
	CHECK(!store_point(f->s, &best, &f->err));
	DO(fix_section_end(f, -1, 0, ""));
	DO(fix_test_end(f, -1));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
	DO(load(&l));
	DO(write_all(&l, &text));
	CHECK(strstr(buf_cstr(&text), "bound: ART below 0.3 ms"));
	CHECK(strstr(buf_cstr(&text), "6 of 9 cells are inside the bound"));
	CHECK(strstr(buf_cstr(&text), "because"));
	buf_release(&text);
	drop(&l);
}

TEST_MAIN
