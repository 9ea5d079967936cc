/* SPDX-License-Identifier: MIT */
/* Thinning, one-second curves, states of WSAT, wait states of HIR, recovery of XSR. */
#include "reports/report.h"
#include "reports/states.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

struct loaded {
	struct fix f;
	struct reader *r;
	struct dataset d;
};

static void start(struct loaded *l, const char *test, const char *plan)
{
	struct fix_opts o = { 0 };

	*l = (struct loaded){ .r = NULL };
	DO(fix_open(&l->f));
	DO(fix_run(&l->f, &o));
	l->f.plan = plan;
	DO(fix_test(&l->f, test, "a title", "CLAUSE"));
	DO(fix_attempt(&l->f, test));
	DO(fix_section(&l->f, ""));
}

static void load(struct loaded *l)
{
	struct err err = { "" };

	store_close(l->f.s);
	l->f.s = NULL;
	CHECK_MSG(!read_open(l->f.db, &l->r, &err), "%s", err.msg);
	CHECK_MSG(!dataset_load(l->r, l->f.run, &l->d, &err), "%s", err.msg);
}

/* Whatever the run holds, its workbook is sound and its text and JSON can be written. */
static void check_reports(struct loaded *l)
{
	static const char *const ends[] = { "xlsx", "txt", "json" };
	struct buf out = BUF_INIT;
	struct err err = { "" };
	char path[96];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/report.%s", l->f.dir, ends[i]);
		CHECK_MSG(!report_write(l->f.db, &l->f.run, 1, path, &err), "%s", err.msg);
		if (i == 0)
			CHECK_MSG(lint(&out, path, NULL, NULL) <= 0, "%s", buf_cstr(&out));
		unlink(path);
	}
	buf_release(&out);
}

static void drop(struct loaded *l)
{
	DO(check_reports(l));
	dataset_release(&l->d);
	read_close(l->r);
	fix_close(&l->f);
}

/* ---- thinning ---- */

TEST(few_values_are_all_drawn)
{
	double y[] = { 3, 1, 2, NAN };
	unsigned index[8];

	CHECK_INT(series_thin(y, 4, 8, index), 4);
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(index[i], i);
	CHECK_INT(series_thin(y, 0, 8, index), 0);
}

/* 86,400 values, a spike and a hole anywhere: both are drawn, in order, each once, the ends too. */
TEST(thinning_keeps_first_last_and_extremes_of_each_bucket)
{
	enum { N = 86400, MAX = 2000 };
	double *y = malloc(N * sizeof *y);
	unsigned *index = malloc(MAX * sizeof *index);
	struct rng rng;

	CHECK(y && index);
	rng_init(&rng, 11);
	for (unsigned i = 0; i < N; i++)
		y[i] = 1000 + rng_unit(&rng);
	y[43210] = 5000;
	y[43211] = 0;
	y[86399] = 7;
	unsigned n = series_thin(y, N, MAX, index), seen = 0;
	CHECK(n <= MAX && n > MAX / 2);
	CHECK_INT(index[0], 0);
	CHECK_INT(index[n - 1], N - 1);
	for (unsigned i = 1; i < n; i++)
		CHECK(index[i] > index[i - 1]);
	for (unsigned b = 0; b < MAX / 4; b++) {
		unsigned from = (unsigned)((uint64_t)N * b / (MAX / 4));
		unsigned to = (unsigned)((uint64_t)N * (b + 1) / (MAX / 4));
		double low = INFINITY, high = -INFINITY, low_kept = INFINITY, high_kept = -INFINITY;
		for (unsigned i = from; i < to; i++) {
			low = fmin(low, y[i]);
			high = fmax(high, y[i]);
		}
		CHECK_INT(index[seen], from);
		for (; seen < n && index[seen] < to; seen++) {
			low_kept = fmin(low_kept, y[index[seen]]);
			high_kept = fmax(high_kept, y[index[seen]]);
		}
		CHECK_INT(index[seen - 1], to - 1);
		CHECK(low == low_kept && high == high_kept);
	}
	CHECK_INT(seen, n);
	free(y);
	free(index);
}

TEST(gaps_are_no_extremes)
{
	double y[64];
	unsigned index[8], n;

	for (unsigned i = 0; i < 64; i++)
		y[i] = NAN;
	n = series_thin(y, 64, 8, index);
	CHECK_INT(n, 4);
	y[10] = 1;
	y[12] = 2;
	n = series_thin(y, 64, 8, index);
	bool low = false, high = false;
	for (unsigned i = 0; i < n; i++) {
		low |= index[i] == 10;
		high |= index[i] == 12;
	}
	CHECK(low && high);
}

/* ---- the pure rules ---- */

TEST(fob_ends_with_two_low_minutes_in_a_row)
{
	double drop[] = { 500, 510, 505, 100, 495, 500, 300, 250, 200, 190 };
	double cache[] = { 500, 100, 100, 100, 100, 100 };
	double ramp[] = { 100, 500, 510, 500, 505, 500, 200, 200 };
	double never[] = { 100, 101, 99, 100 };
	double edge[] = { 100, 90, 90, 89.9, 89.9 }; /* 90 % itself is not below */

	CHECK_INT(wsat_fob(drop, 10), 6);
	CHECK_INT(wsat_fob(cache, 6), 1);
	CHECK_INT(wsat_fob(ramp, 8), 6);
	CHECK_INT(wsat_fob(never, 4), 4);
	CHECK_INT(wsat_fob(edge, 5), 3);
	CHECK_INT(wsat_fob(edge, 0), 0);
}

TEST(recovery_is_the_first_value_at_the_level)
{
	double tp[] = { 10, 50, 99.9, 100, 101 };

	CHECK_INT(xsr_recovery(tp, 5, 100), 4);
	CHECK_INT(xsr_recovery(tp, 5, 100 * (1 + 1e-12)), 4); /* rounding of a mean */
	CHECK_INT(xsr_recovery(tp, 5, 10), 1);
	CHECK_INT(xsr_recovery(tp, 5, 102), 0);
	CHECK_INT(xsr_recovery(tp, 0, 1), 0);
}

/* ---- one-second rows ---- */

/* A stall is a second of no I/O, whether its row is there or not; half a second at the end is a point, less is none. */
TEST(curve_of_seconds)
{
	static const struct second_row rows[] = { { .second = 0, .ios = 100, .bytes = 409600 },
						  { .second = 1, .ios = 90, .bytes = 368640 },
						  { .second = 3, .ios = 110, .bytes = 450560 },
						  { .second = 4, .ios = 60, .bytes = 245760 } };
	struct fix_cell with = { .phase = "wdpc",
				 .access = "rnd-4k-w",
				 .bs = 4096,
				 .round = 1,
				 .tc = 1,
				 .qd = 1,
				 .art_ns = 1e6,
				 .mrt_ns = 2000000,
				 .second = rows };
	struct loaded l;
	struct curve c;
	unsigned n;

	DO(start(&l, "wsat", "    0 PURGE\n"));
	with.seconds = 4.5;
	with.iops = 80; /* 360 of 4.5 s */
	with.n_seconds = 4;
	DO(fix_put(&l.f, &with));
	with.seconds = 4.25;
	with.iops = 300 / 4.25;
	with.n_seconds = 3;
	DO(fix_put(&l.f, &with));
	with.seconds = 0.25; /* shorter than a second: the cell itself */
	with.iops = 400;
	with.n_seconds = 1;
	DO(fix_put(&l.f, &with));
	with.seconds = 2; /* no rows: the cell itself */
	with.iops = 50;
	with.n_seconds = 0;
	DO(fix_put(&l.f, &with));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	const struct measure **m = measures_of(&l.d, &l.d.test[0], "wdpc", &n);
	CHECK_INT(n, 4);
	CHECK_INT(curve_load(&l.d, m, n, &c, &l.f.err), 0);
	static const double iops[] = { 100, 90, 0, 110, 120, 100, 90, 0, 110, 400, 50 };
	static const double end_s[] = { 1, 2, 3, 4, 4.5, 5.5, 6.5, 7.5, 8.5, 9, 11 };
	CHECK_INT(c.n, 11);
	CHECK_INT(c.n_seconds, 8);
	for (unsigned i = 0; i < c.n; i++) {
		CHECK_NEAR(c.iops[i], iops[i], 1e-9);
		CHECK_NEAR(c.end_ns[i], end_s[i] * 1e9, 1e-9);
	}
	CHECK_NEAR(c.written_bytes[1], 190 * 4096.0, 1e-9);
	CHECK_NEAR(c.written_bytes[4], 360 * 4096.0, 1e-9);
	CHECK_NEAR(c.written_bytes[10], (360 + 300 + 100 + 100) * 4096.0, 1e-9);
	drop(&l);
}

/* ---- WSAT ---- */

#define WSAT_PLAN \
	"range 3840755982336 bytes, fills 3840755982336 bytes\n" \
	"    0 PURGE\n" \
	"    1 LOOP until steady; track iops of sample\n" \
	"    2   RUN rnd-4k-w T4Q32 30m every 1m as wdpc\n" \
	"    3   RUN rnd-4k-w T4Q32 1m as sample\n"

static void minute(struct fix *f, int round, bool sample, double iops)
{
	struct fix_cell c = { .phase = sample ? "sample" : "wdpc",
			      .access = "rnd-4k-w",
			      .round = round,
			      .bs = 4096,
			      .tc = 4,
			      .qd = 32,
			      .iops = iops,
			      .art_ns = 128e9 / iops,
			      .mrt_ns = (uint64_t)(1e12 / iops),
			      .seconds = 60 };

	DO(fix_put(f, &c));
}

/* Rounds of three minutes and a sample: ten minutes at 800 k, ten falling, then 200 k. */
static void wsat_rounds(struct fix *f, int rounds, bool drifting)
{
	double y[64];
	unsigned n = 0;
	bool steady = false;

	CHECK(!store_begin(f->s, &f->err));
	for (int r = 1; r <= rounds; r++) {
		struct round_row row;
		struct steady_check check;
		for (unsigned i = 0; i < 4; i++, n++) {
			double v = n < 10 ? 800000 : n < 20 ? 500000 - 20000 * (n - 10.0) : 200000;
			v += n >= 20 ? 1000 * (r % 3) : 0;
			v *= drifting && n >= 20 ? 1 + 0.3 * (r % 2) : 1;
			DO(minute(f, r, i == 3, v));
			y[r - 1] = v;
		}
		steady = fix_check(f, "iops of sample", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	DO(fix_section_end(f, steady, rounds, steady ? "steady" : "written"));
	DO(fix_test_end(f, steady));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
}

TEST(wsat_states_of_a_steady_drive)
{
	struct loaded l;

	DO(start(&l, "wsat", WSAT_PLAN));
	DO(wsat_rounds(&l.f, 10, false));
	DO(load(&l));
	const struct wsat *w = l.d.wsat;
	CHECK(w != NULL);
	CHECK_INT(w->n_minutes, 40);
	CHECK_INT(w->section->steady, 1);
	CHECK_INT(w->section->window_last, 10);
	CHECK_INT(w->state[WSAT_FOB].first, 0);
	CHECK_INT(w->state[WSAT_FOB].n, 10);
	CHECK_NEAR(w->state[WSAT_FOB].iops, 800000, 1e-12);
	CHECK_NEAR(w->state[WSAT_FOB].to_bytes, 800000.0 * 600 * 4096, 1e-12);
	/* the window begins with the sample of round 6: minute 24 */
	CHECK_INT(w->state[WSAT_TRANSITION].first, 10);
	CHECK_INT(w->state[WSAT_TRANSITION].n, 13);
	CHECK_INT(w->state[WSAT_LAST].first, 23);
	CHECK_INT(w->state[WSAT_LAST].n, 17);
	CHECK_INT(w->n_samples, 5);
	CHECK_INT(w->sample[0]->round, 6);
	/* the value of the state is that of the Summary and of the check */
	const struct track *t = &w->section->track[0];
	CHECK_NEAR(w->state[WSAT_LAST].iops, t->check->average, 1e-12);
	CHECK_NEAR(w->data_excursion, t->check->range / t->check->average, 1e-9);
	CHECK_NEAR(w->slope_excursion, t->check->slope_excursion / t->check->average, 1e-9);
	CHECK(isnan(w->worst_iops)); /* no one-second rows in this fixture */
	CHECK_INT(w->curve.n, 40);
	CHECK_INT(w->curve.n_seconds, 0);
	CHECK_NEAR(w->curve.written_bytes[39], w->state[WSAT_LAST].to_bytes, 1e-12);
	drop(&l);
}

TEST(wsat_without_steady_state_says_so)
{
	struct loaded l;

	DO(start(&l, "wsat", WSAT_PLAN));
	DO(wsat_rounds(&l.f, 10, true));
	DO(load(&l));
	CHECK_INT(l.d.wsat->section->steady, 0);
	CHECK_STR(l.d.wsat->state[WSAT_LAST].name, "NOT STEADY");
	CHECK_INT(l.d.wsat->n_samples, 5);
	for (unsigned i = 0; i < l.d.n_results; i++)
		CHECK(!l.d.result[i].reported);
	drop(&l);
}

/* Ended by bytes after three rounds: three samples, no excursions. */
TEST(wsat_shorter_than_a_window)
{
	struct loaded l;

	DO(start(&l, "wsat", WSAT_PLAN));
	DO(wsat_rounds(&l.f, 3, false));
	DO(load(&l));
	const struct wsat *w = l.d.wsat;
	CHECK_INT(w->n_samples, 3);
	CHECK(isnan(w->data_excursion) && isnan(w->slope_excursion));
	CHECK(isfinite(w->deviation_iops));
	CHECK_INT(w->state[WSAT_FOB].n, 3); /* until the first of these samples */
	CHECK_INT(w->state[WSAT_TRANSITION].n, 0);
	CHECK_STR(ended_text(w->section), "limit of bytes written");
	drop(&l);
}

/* A round that was made void and repeated: its minutes are in no state and on no curve. */
TEST(wsat_void_round)
{
	struct loaded l;

	DO(start(&l, "wsat", WSAT_PLAN));
	CHECK(!store_begin(l.f.s, &l.f.err));
	for (unsigned i = 0; i < 4; i++)
		DO(minute(&l.f, 1, i == 3, 800000));
	CHECK(!store_void_round(l.f.s, &l.f.at, 1, 0, "an error", &l.f.err));
	CHECK(!store_commit(l.f.s, &l.f.err));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK_INT(l.d.n_measures, 4);
	CHECK_INT(l.d.wsat->n_minutes, 0);
	CHECK_INT(l.d.wsat->n_samples, 0);
	drop(&l);
}

/* Interrupted in the first round, and before anything was measured. */
TEST(wsat_interrupted)
{
	struct loaded l;

	DO(start(&l, "wsat", WSAT_PLAN));
	for (unsigned i = 0; i < 3; i++)
		DO(minute(&l.f, 1, false, 800000 - i * 1000.0));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK_INT(l.d.wsat->n_minutes, 3);
	CHECK_INT(l.d.wsat->n_samples, 0);
	CHECK_INT(l.d.wsat->state[WSAT_FOB].n, 3);
	CHECK_INT(l.d.wsat->state[WSAT_LAST].n, 0);
	drop(&l);
	DO(start(&l, "wsat", WSAT_PLAN));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK_INT(l.d.wsat->n_minutes, 0);
	CHECK_INT(l.d.wsat->curve.n, 0);
	drop(&l);
}

/* ---- HIR ---- */

static struct fix_cell hir_cell(const char *phase, double iops, double seconds)
{
	return (struct fix_cell){ .phase = phase,
				  .access = *phase == 'i' ? "idle" : "rnd-4k-w",
				  .bs = 4096,
				  .tc = 4,
				  .qd = 32,
				  .iops = iops,
				  .art_ns = iops > 0 ? 128e9 / iops : NAN,
				  .mrt_ns = 9000000,
				  .seconds = seconds };
}

TEST(hir_wait_states)
{
	struct loaded l;
	struct fix *f = &l.f;
	double y[5];

	DO(start(&l, "hir", "    6   RUN rnd-4k-w T4Q32 5s as stimulus label \"10s\"\n"));
	CHECK(!store_begin(f->s, &f->err));
	for (int r = 1; r <= 5; r++) {
		struct round_row row;
		struct steady_check check;
		DO(minute(f, r, true, 100000));
		y[r - 1] = 100000;
		fix_check(f, "iops of sample", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	f->label = "10s";
	for (unsigned i = 0; i < 4; i++) {
		struct fix_cell burst = hir_cell("stimulus", 100000 + 5000.0 * (i + 1), 5);
		struct fix_cell idle = hir_cell("idle", 0, 10);
		DO(fix_put(f, &burst));
		DO(fix_put(f, &idle));
	}
	for (unsigned i = 0; i < 4; i++) {
		struct fix_cell base = hir_cell("baseline", 130000 - 10000.0 * i, 5);
		DO(fix_put(f, &base));
	}
	DO(fix_section_end(f, 1, 5, "steady"));
	DO(fix_test_end(f, 1));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
	DO(load(&l));
	const struct hir *h = l.d.hir;
	CHECK(h && h->n == 1);
	CHECK_NEAR(h->ss_iops, 100000, 1e-12);
	const struct hir_state *s = &h->state[0];
	CHECK_INT(s->n_bursts, 4);
	CHECK_INT(s->n_base, 4);
	CHECK_NEAR(s->mean_iops, 112500, 1e-12);
	CHECK_NEAR(s->wait_ns, 10e9, 1e-12);
	CHECK_NEAR(s->idle_ns, 10e9, 1e-12);
	/* the second burst is at 110 %: it ends after 5 + 10 + 5 s */
	CHECK_NEAR(s->reach_ns, 20e9, 1e-12);
	CHECK_NEAR(s->back_ns, 15e9, 1e-12);
	CHECK_NEAR(h->end_ns - h->start_ns, 80e9, 1e-12);
	drop(&l);
}

/* ---- XSR ---- */

static void xsr_group(struct fix *f, const char *label, uint32_t bs, const double *mbs, unsigned n)
{
	f->label = label;
	for (unsigned i = 0; i < n; i++) {
		struct fix_cell c = { .phase = "stimulus",
				      .access = bs > 8192 ? "seq-1024k-w" : "rnd-8k-w",
				      .bs = bs,
				      .tc = 1,
				      .qd = 32,
				      .iops = mbs[i] * 1e6 / bs,
				      .art_ns = 1e6 + i,
				      .mrt_ns = 5000000 + i,
				      .seconds = 60 };
		DO(fix_put(f, &c));
	}
}

TEST(xsr_groups_and_recovery)
{
	static const double first[] = { 1048.576, 1048.576, 1048.576, 1048.576 };
	static const double second[] = { 300, 200 }, third[] = { 200, 800, 1000, 1048.576 };
	struct loaded l;

	DO(start(&l, "xsr", "    0 PURGE\n"));
	CHECK(!store_begin(l.f.s, &l.f.err));
	DO(xsr_group(&l.f, "ag1", 1048576, first, 4));
	DO(xsr_group(&l.f, "ag2", 8192, second, 2));
	DO(xsr_group(&l.f, "ag3", 1048576, third, 4));
	DO(fix_test_end(&l.f, -1));
	CHECK(!store_commit(l.f.s, &l.f.err));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	const struct xsr *x = l.d.xsr;
	CHECK(x && x->n == 3);
	CHECK_STR(x->group[1].title, "RND 8 KiB W");
	CHECK_NEAR(x->group[0].mean_bps, 1048.576e6, 1e-9);
	CHECK_NEAR(x->group[2].end_bps, 1048.576e6, 1e-9);
	CHECK_NEAR(x->group[2].start_ns, 360e9, 1e-12);
	CHECK_NEAR(x->group[1].art_peak_ns, 1e6 + 1, 1e-12);
	CHECK_INT(x->group[0].mrt_peak_ns, 5000003);
	CHECK_INT(x->last_hour_steps, 1); /* shorter than an hour: its last eighth */
	CHECK_INT(x->recovery, 4);
	CHECK_INT(x->recovery_hour, 3);
	CHECK_NEAR(xsr_recovery_min(x, x->recovery), 4, 1e-12);
	CHECK(isnan(xsr_recovery_min(x, 0)));
	drop(&l);
}

/* Interrupted in the second group: nothing is known of a recovery. */
TEST(xsr_interrupted)
{
	static const double first[] = { 1000, 1000 };
	struct loaded l;

	DO(start(&l, "xsr", "    0 PURGE\n"));
	DO(xsr_group(&l.f, "ag1", 1048576, first, 2));
	DO(xsr_group(&l.f, "ag2", 8192, first, 1));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK_INT(l.d.xsr->n, 2);
	CHECK_INT(l.d.xsr->recovery, -1);
	drop(&l);
	DO(start(&l, "xsr", "    0 PURGE\n"));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK(l.d.xsr && l.d.xsr->n == 0);
	drop(&l);
}

TEST_MAIN
