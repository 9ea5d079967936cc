/* SPDX-License-Identifier: MIT */
/* Sheets of the comparison that need facts no simulated drive has: ways to a drive, RAID layouts, samples left out. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "reports/compare_figures.h"
#include "reports/compare_write.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

extern const struct compare_sheet cmp_fabric, cmp_layout, cmp_corners, cmp_dirth, cmp_curve,
	cmp_scale, cmp_replay, cmp_matrix;

struct compared_runs {
	struct fix f;
	int64_t run[16];
	unsigned n;
	struct reader *r;
	struct comparison c;
	struct grid g;
};

/* ---- runs: a loop over two cells ---- */

struct kind {
	const char *model, *serial, *transport, *layout;
	double read_iops, write_iops;
	bool wild; /* never steady */
};

static void put_round(struct fix *f, const struct kind *k, int r, double *ret_y)
{
	double by = k->wild ? 1 + 0.5 * (r % 2) : 1 + 0.01 * (r - 3);

	for (int read = 100; read >= 0; read -= 100) {
		double iops = round((read ? k->read_iops : k->write_iops) * by);
		struct fix_cell c = { .phase = "round",
				      .access = read ? "RND 4K 100/0" : "RND 4K 0/100",
				      .round = r,
				      .read_pct = read,
				      .bs = 4096,
				      .tc = 4,
				      .qd = 32,
				      .iops = iops,
				      .art_ns = 128e9 / iops,
				      .seconds = 60 };
		fix_put(f, &c);
		*ret_y = iops;
	}
}

static void put_run(struct compared_runs *x, const struct kind *k)
{
	struct fix_opts o = { .model = k->model,
			      .serial = k->serial,
			      .transport = k->transport,
			      .layout = k->layout };
	struct fix *f = &x->f;
	bool steady = false;
	double y[5];

	DO(fix_run(f, &o));
	x->run[x->n++] = f->run;
	DO(fix_test(f, "loop", "A loop", "-"));
	DO(fix_attempt(f, "loop"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	for (int r = 1; r <= 5; r++) {
		struct round_row row;
		struct steady_check check;
		DO(put_round(f, k, r, &y[r - 1]));
		steady = fix_check(f, "iops of rw 0/100 bs 4k", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	DO(fix_section_end(f, steady, 5, steady ? "steady" : "rounds"));
	DO(fix_test_end(f, steady));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
}

static void begin(struct compared_runs *x)
{
	*x = (struct compared_runs){ .n = 0 };
	DO(fix_open(&x->f));
}

static void load(struct compared_runs *x)
{
	struct compare_options o = { .run = x->run, .n = x->n };
	struct err err = { "" };

	store_close(x->f.s);
	x->f.s = NULL;
	CHECK_MSG(!read_open(x->f.db, &x->r, &err), "%s", err.msg);
	CHECK_MSG(!comparison_load(x->r, &o, &x->c, &err), "%s", err.msg);
	grid_init(&x->g);
}

static void drop(struct compared_runs *x)
{
	grid_release(&x->g);
	comparison_release(&x->c);
	read_close(x->r);
	fix_close(&x->f);
}

/* ---- cells ---- */

static const struct cell *cell_at(const struct grid_sheet *s, uint32_t row, uint32_t col)
{
	for (size_t i = 0; i < s->n_cells; i++)
		if (s->cell[i].at.row == row && s->cell[i].at.col == col)
			return &s->cell[i];
	return NULL;
}

/* The first row from @from on whose first cell says this; UINT32_MAX none. */
static uint32_t row_of(const struct grid_sheet *s, const char *text, uint32_t from)
{
	for (uint32_t r = from; r < s->n_rows; r++) {
		const struct cell *c = cell_at(s, r, 0);
		if (c && c->text && !strcmp(c->text, text))
			return r;
	}
	return UINT32_MAX;
}

static double value_at(const struct grid_sheet *s, uint32_t row, uint32_t col)
{
	const struct cell *c = cell_at(s, row, col);

	return c && (c->kind == CELL_NUMBER || c->kind == CELL_FORMULA) ? c->value : NAN;
}

static const char *text_at(const struct grid_sheet *s, uint32_t row, uint32_t col)
{
	const struct cell *c = cell_at(s, row, col);

	return c && c->text ? c->text : "";
}

/* ---- direct and fabric ---- */

static const struct kind direct = { "NV1", "S1", "pcie", NULL, 400000, 100000, false };
static const struct kind remote = { "NV1", "S1", "tcp", NULL, 300000, 99500, false };

TEST(a_fabric_beside_the_direct_way)
{
	struct compared_runs x;

	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &remote));
	DO(load(&x));
	CHECK(cmp_fabric.applies(&x.c));
	cmp_fabric.build(&x.c, &x.g);
	CHECK_MSG(!x.g.rc, "%s", x.g.err.msg);
	const struct grid_sheet *s = grid_find(&x.g, "Direct v fabric");
	CHECK(s);
	uint32_t r = row_of(s, "LOOP: RND 4 KiB R", 0);
	CHECK(r != UINT32_MAX);
	CHECK_NEAR(value_at(s, r, 4), 400000, 1e-9);
	CHECK_NEAR(value_at(s, r, 5), 300000, 1e-9);
	CHECK_NEAR(value_at(s, r, 6), -0.25, 1e-9);
	/* ART weighted by I/Os: 128 in flight over the mean of the rounds' IOPS */
	CHECK_NEAR(value_at(s, r, 7), 128e6 / 400000, 1e-6);
	CHECK_NEAR(value_at(s, r, 9), 128e6 / 300000 - 128e6 / 400000, 1e-6);
	/* rounds of 0.98 0.99 1 1.01 1.02: sample deviation sqrt(0.001/4) */
	CHECK_NEAR(value_at(s, r, 12), 2 * sqrt(0.001 / 4), 1e-4);
	CHECK_STR(text_at(s, r, 13), "slower, beyond the noise");
	r = row_of(s, "LOOP: RND 4 KiB W", 0);
	CHECK_STR(text_at(s, r, 13), "inside the noise");
	drop(&x);
}

TEST(a_fabric_in_json)
{
	struct compared_runs x;
	struct buf text = BUF_INIT;
	struct json j = JSON_INIT(&text);

	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &remote));
	DO(load(&x));
	json_object(&j, NULL);
	cmp_fabric_json(&x.c, &j);
	json_end_object(&j);
	CHECK(strstr(buf_cstr(&text), "\"load\": \"RND 4 KiB R\"") ||
	      strstr(buf_cstr(&text), "\"load\":\"RND 4 KiB R\""));
	CHECK(strstr(buf_cstr(&text), "-0.25"));
	buf_release(&text);
	drop(&x);
}

TEST(with_samples_a_verdict_is_a_test)
{
	struct kind a = direct, b = remote;
	struct compared_runs x;

	DO(begin(&x));
	for (unsigned i = 0; i < 3; i++) {
		static const char *const serial[] = { "S1", "S2", "S3" };
		a.serial = b.serial = serial[i];
		a.write_iops = 100000 + 1000 * i;
		b.write_iops = 100500 + 1000 * i;
		b.read_iops = 300000 + 1000 * i;
		DO(put_run(&x, &a));
		DO(put_run(&x, &b));
	}
	DO(load(&x));
	CHECK_INT(x.c.n_candidates, 2);
	cmp_fabric.build(&x.c, &x.g);
	const struct grid_sheet *s = grid_find(&x.g, "Direct v fabric");
	uint32_t r = row_of(s, "LOOP: RND 4 KiB R", 0);
	CHECK_NEAR(value_at(s, r, 5), 301000, 1e-9); /* the mean of the samples */
	CHECK(strstr(text_at(s, r, 13), "slower, significant"));
	r = row_of(s, "LOOP: RND 4 KiB W", 0);
	CHECK(strstr(text_at(s, r, 13), "no significant difference"));
	drop(&x);
}

TEST(nothing_to_say_without_a_fabric)
{
	struct kind other = direct, unknown = direct;
	struct compared_runs x;

	other.model = "NV2";
	unknown.transport = NULL;
	unknown.model = "NV3";
	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &other));
	DO(put_run(&x, &unknown));
	DO(load(&x));
	CHECK(!cmp_fabric.applies(&x.c));
	CHECK(!cmp_layout.applies(&x.c));
	drop(&x);
}

TEST(a_target_with_another_name_is_told)
{
	struct kind linux_target = remote;
	struct compared_runs x;

	linux_target.model = "Linux";
	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &linux_target));
	DO(load(&x));
	CHECK(cmp_fabric.applies(&x.c));
	cmp_fabric.build(&x.c, &x.g);
	const struct grid_sheet *s = grid_find(&x.g, "Direct v fabric");
	bool told = false;
	for (uint32_t r = 0; r < s->n_rows; r++)
		told |= strstr(text_at(s, r, 0), "The models named differ: NV1, Linux") != NULL;
	CHECK(told);
	drop(&x);
}

/* ---- tests under other names ---- */

static const struct test one_test = { .name = "one", .sheet = "ONE" };
static const struct test other_test = { .name = "other", .sheet = "OTHER" };

/* Runs 0 and 1 of candidate 0, run 2 of candidate 1; which tests each has. */
static void groups_of(struct cmp_groups *g, struct arena *a, struct comparison *c,
		      const struct test *const *has)
{
	struct cmp_page p = { .c = c, .a = a };

	for (unsigned r = 0; r < 3; r++) {
		c->run[r].d.test = arena_memdup(a, has[r], sizeof *has[r]);
		c->run[r].d.n_tests = 1;
	}
	for (unsigned r = 0; r < 3; r++)
		cmp_group_add(g, &p, r, has[r], "RND 4 KiB R", has[r]);
}

TEST(one_test_under_two_names_is_one_and_two_tests_are_two)
{
	struct candidate k[2] = { { .run = { 0, 1 }, .n_runs = 2 }, { .run = { 2 }, .n_runs = 1 } };
	struct subject run[3] = { { .candidate = 0 }, { .candidate = 0 }, { .candidate = 1 } };
	struct comparison c = { .run = run, .n_runs = 3, .candidate = k, .n_candidates = 2 };
	const struct test *across[] = { &one_test, &one_test, &other_test };
	const struct test *within[] = { &one_test, &other_test, &other_test };
	struct cmp_groups g = { .n = 0 }, h = { .n = 0 };
	struct arena a = { 0 };

	groups_of(&g, &a, &c, across);
	CHECK_INT(g.n, 1);
	CHECK(g.v[0]->of[0] && g.v[0]->of[1] && g.v[0]->of[2]);
	CHECK_INT(cmp_tried(&c, g.v[0], 0), 2);
	groups_of(&h, &a, &c, within);
	CHECK_INT(h.n, 2);
	CHECK(h.v[0]->of[0] && !h.v[0]->of[1] && !h.v[0]->of[2]);
	CHECK(h.v[1]->of[1] && h.v[1]->of[2]);
	CHECK_INT(cmp_tried(&c, h.v[1], 0), 1);
	arena_release(&a);
}

/* ---- layouts ---- */

TEST(raid_against_single_drives)
{
	static const struct kind one = { "NV1", "S1", "pcie", NULL, 400000, 100000, false };
	static const struct kind raid5 = { "md0", "", "", "md raid5 of 4", 1440000, 50000, false };
	static const struct kind raid0 = { "md1", "", "", "md raid0 of 4", 1600000, 400000, false };
	struct compared_runs x;

	DO(begin(&x));
	DO(put_run(&x, &raid5));
	DO(put_run(&x, &one));
	DO(put_run(&x, &raid0));
	DO(load(&x));
	CHECK(cmp_layout.applies(&x.c));
	cmp_layout.build(&x.c, &x.g);
	CHECK_MSG(!x.g.rc, "%s", x.g.err.msg);
	const struct grid_sheet *s = grid_find(&x.g, "Layouts");
	uint32_t r = row_of(s, "LOOP: RND 4 KiB R", 0), w = row_of(s, "LOOP: RND 4 KiB W", 0);
	CHECK(r != UINT32_MAX && w != UINT32_MAX);
	/* the single drive comes first, whichever the baseline is */
	CHECK_NEAR(value_at(s, r, 4), 400000, 1e-9);
	CHECK_NEAR(value_at(s, r, 7), 1, 1e-9);
	CHECK_NEAR(value_at(s, r, 8), 1440000, 1e-9);
	CHECK_NEAR(value_at(s, r, 11), 0.9, 1e-9);
	CHECK_NEAR(value_at(s, w, 11), 0.125, 1e-9);
	CHECK_NEAR(value_at(s, w, 15), 1, 1e-9);
	const struct cell *live = cell_at(s, r, 11);
	CHECK(live->kind == CELL_FORMULA && strstr(live->formula, "/(4*$E$"));
	uint32_t penalty = row_of(s, "LOOP: RND 4 KiB W", w + 1);
	CHECK_NEAR(value_at(s, penalty, 6), 8, 1e-9); /* 4 x 100,000 / 50,000 */
	CHECK_NEAR(value_at(s, penalty, 8), 1, 1e-9);
	CHECK(row_of(s, "LOOP: RND 4 KiB R", w + 1) == UINT32_MAX);
	drop(&x);
}

TEST(without_a_single_drive_no_efficiency)
{
	static const struct kind raid5 = { "md0", "", "", "md raid5 of 4", 1440000, 50000, false };
	static const struct kind raid0 = { "md1", "", "", "md raid0 of 4", 1600000, 400000, false };
	struct compared_runs x;

	DO(begin(&x));
	DO(put_run(&x, &raid5));
	DO(put_run(&x, &raid0));
	DO(load(&x));
	cmp_layout.build(&x.c, &x.g);
	const struct grid_sheet *s = grid_find(&x.g, "Layouts");
	uint32_t r = row_of(s, "LOOP: RND 4 KiB R", 0);
	CHECK_STR(text_at(s, r, 7), "n/a");
	CHECK(isnan(value_at(s, r, 11)));
	drop(&x);
}

/* ---- what is left out ---- */

TEST(a_sample_that_is_not_steady_is_left_out)
{
	struct kind good = direct, bad = direct, other = direct;
	struct compared_runs x;

	good.serial = "S2";
	good.read_iops = 410000;
	bad.serial = "S3";
	bad.read_iops = 900000;
	bad.wild = true;
	other.model = "NV2";
	other.transport = "tcp";
	other.wild = true;
	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &good));
	DO(put_run(&x, &bad));
	DO(put_run(&x, &other));
	DO(load(&x));
	CHECK_INT(x.c.n_candidates, 2);
	cmp_fabric.build(&x.c, &x.g);
	const struct grid_sheet *s = grid_find(&x.g, "Direct v fabric");
	uint32_t r = row_of(s, "LOOP: RND 4 KiB R", 0);
	CHECK_NEAR(value_at(s, r, 4), 405000, 1e-9);
	CHECK_STR(text_at(s, r, 5), "not steady");
	CHECK(STYLE_LOOK(cell_at(s, r, 5)->style) == LOOK_BAD);
	CHECK_STR(text_at(s, r, 13), "-");
	drop(&x);
}

/* ---- whole workbooks ---- */

TEST(a_workbook_of_all_of_it)
{
	static const struct kind raid = { "md0", "", "", "md raid5 of 4", 1440000, 50000, false };
	struct compared_runs x;
	struct buf out = BUF_INIT;
	struct err err = { "" };
	struct compared how;
	char path[128];

	DO(begin(&x));
	DO(put_run(&x, &direct));
	DO(put_run(&x, &remote));
	DO(put_run(&x, &raid));
	DO(load(&x));
	snprintf(path, sizeof path, "%s/c.xlsx", x.f.dir);
	struct compare_options o = { .run = x.run, .n = x.n };
	CHECK_MSG(!compare_write(x.f.db, &o, path, &how, &err), "%s", err.msg);
	int rc = lint(&out, path, NULL, NULL);
	CHECK_MSG(rc <= 0, "%s", buf_cstr(&out));
	buf_release(&out);
	if (!getenv("KEEP_FIXTURE"))
		unlink(path);
	drop(&x);
}

TEST_MAIN
