/* SPDX-License-Identifier: MIT */
/* Captured workloads: facts of the capture, sums of replays, streams, the account of an exact replay; runs that lack some. */
#include "reports/page.h"
#include "reports/report.h"
#include "reports/rwsw.h"
#include "reports/sheet.h"
#include "reports/states.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

struct loaded {
	struct fix f;
	struct reader *r;
	struct dataset d;
};

#define PARAMS \
	"{\"profile\":\"enterprise\",\"range\":\"100%\",\"threads\":4,\"qd\":32,\"capture\":" \
	"\"app\"}"

static void start(struct loaded *l, const char *test, const char *clause)
{
	struct fix_opts o = { 0 };

	*l = (struct loaded){ .r = NULL };
	DO(fix_open(&l->f));
	DO(fix_run(&l->f, &o));
	l->f.params = PARAMS;
	DO(fix_test(&l->f, test, "A title", clause));
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
static void drop(struct loaded *l)
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
	dataset_release(&l->d);
	read_close(l->r);
	fix_close(&l->f);
}

/* ---- what a run stores of its capture ---- */

#define W4 "\"op\":\"W\",\"access\":\"SEQ\",\"block_bytes\":4096"
#define R8 "\"op\":\"R\",\"access\":\"RND\",\"block_bytes\":8192"
#define W1 "\"op\":\"W\",\"access\":\"RND\",\"block_bytes\":1024"

static void put_capture(struct loaded *l, const char *streams, uint64_t ios)
{
	struct capture_row c = { .run = l->f.run,
				 .name = "app",
				 .format = "blktrace",
				 .sha256 = "0123456789abcdef",
				 .records = 200,
				 .reads = 25,
				 .writes = 75,
				 .duration_ns = 4000000000,
				 .devices = "[\"sda\",\"sdb\"]",
				 .lost = 0,
				 .step_ns = 1000000000 };
	struct capture_account_row a = { .run = l->f.run,
					 .event = "D",
					 .level = "block",
					 .began_utc = "2026-01-02T03:04:05Z",
					 .digest = "00",
					 .seq_rule = "window 32",
					 .ios = ios,
					 .n_streams = 3,
					 .n_dominant = 2,
					 .n_steps = 4,
					 .coverage_pct = 90,
					 .qd_avg = 3,
					 .qd_max = 6,
					 .streams = streams };

	CHECK_MSG(!store_capture(l->f.s, &c, &l->f.err), "%s", l->f.err.msg);
	CHECK_MSG(!store_capture_account(l->f.s, &a, &l->f.err), "%s", l->f.err.msg);
}

static void put_steps(struct loaded *l, const struct capture_step_row *row, unsigned n)
{
	struct capture_step_row s[8];

	for (unsigned i = 0; i < n; i++) {
		s[i] = row[i];
		s[i].run = l->f.run;
		s[i].step = i + 1;
		s[i].start_ns = i * 1000000000ull;
	}
	CHECK_MSG(!store_capture_step(l->f.s, s, n, &l->f.err), "%s", l->f.err.msg);
}

static void put_app(struct loaded *l)
{
	static const struct capture_step_row step[] = {
		{ .ios = 50,
		  .bytes = 1,
		  .qd_avg = 0.2,
		  .qd_max = 2,
		  .art_ns = 1e6,
		  .streams = "[{" W4 ",\"ios\":40},{" R8 ",\"ios\":5},{" W1 ",\"ios\":5}]" },
		{ .ios = 0, .qd_avg = NAN, .qd_max = -1, .art_ns = NAN, .streams = "[]" },
		{ .ios = 40,
		  .bytes = 1,
		  .qd_avg = 5.6,
		  .qd_max = 6,
		  .art_ns = 1e6,
		  .streams = "[{" W4 ",\"ios\":20},{" R8 ",\"ios\":20}]" },
		/* a stream that the table does not tell is one of the others */
		{ .ios = 10,
		  .bytes = 1,
		  .qd_avg = 1,
		  .qd_max = 1,
		  .art_ns = 1e6,
		  .streams = "[{" W4 ",\"ios\":5},{\"op\":\"W\",\"access\":\"RND\","
			     "\"block_bytes\":512,\"ios\":5}]" },
	};

	DO(put_capture(l,
		       "[{" W4 ",\"ios\":65,\"share_pct\":65,\"normalized_pct\":72.2},"
		       "{" R8 ",\"ios\":25,\"share_pct\":25,\"normalized_pct\":27.8},"
		       "{" W1 ",\"ios\":5,\"share_pct\":5,\"normalized_pct\":null}]",
		       100));
	DO(put_steps(l, step, 4));
}

/* ---- steps of a replay ---- */

struct step {
	int oio;
	uint64_t ios[2]; /* W4, R8 */
	uint64_t art_ns, mrt_ns;
	double share[2]; /* asked */
	bool partial, no_streams;
	const char *label;
};

static void put_step(struct loaded *l, double scale, const struct step *s)
{
	struct stream_row stream[] = {
		{ "W", "SEQ", 4096, s->ios[0], (double)s->ios[0], 1e5, 1, -1 },
		{ "R", "RND", 8192, s->ios[1], (double)s->ios[1], 1e5, 1, -1 },
	};
	struct hist *h = hist_new();
	char workload[256];
	uint64_t ios = s->ios[0] + s->ios[1];
	struct cell_hist ch = { "W", "service", h };
	int64_t id;

	snprintf(workload, sizeof workload, "[{" W4 ",\"share_pct\":%g},{" R8 ",\"share_pct\":%g}]",
		 s->share[0], s->share[1]);
	for (uint64_t i = 0; i + 1 < ios; i++)
		hist_add(h, s->art_ns);
	if (ios)
		hist_add(h, s->mrt_ns);
	struct cell_row row = { .at = l->f.at,
				.phase = "replay",
				.round = -1,
				.round_try = -1,
				.step = 6,
				.label = s->label,
				.member = -1,
				.access = ios ? "app step" : "idle",
				.threads = 1,
				.qd = s->oio,
				.oio = s->oio,
				.scale = scale,
				.read_pct = NAN,
				.block_bytes = -1,
				.workload = ios ? workload : "[]",
				.start_ns = l->f.clock_ns,
				.elapsed_ns = 1000000000,
				.read_ios = s->ios[1],
				.write_ios = s->ios[0],
				.read_bytes = s->ios[1] * 8192,
				.write_bytes = s->ios[0] * 4096,
				.art_ns = ios ? (double)s->art_ns : NAN,
				.mrt_ns = ios ? (int64_t)s->mrt_ns : -1,
				.min_ns = 1,
				.p50_ns = -1,
				.p99_ns = -1,
				.p999_ns = -1,
				.p9999_ns = -1,
				.p99999_ns = -1,
				.rate_iops = NAN,
				.inflight_avg = ios ? s->oio * 0.5 : 0,
				.little_pct = NAN,
				.cpu_sys_pct = NAN,
				.cpu_total_pct = NAN,
				.temperature_c = NAN,
				.partial = s->partial,
				.stream = stream,
				.n_streams = ios && !s->no_streams ? 2 : 0,
				.hist = &ch,
				.n_hist = ios ? 1 : 0 };

	CHECK_MSG(!store_cell(l->f.s, &row, &id, &l->f.err), "%s", l->f.err.msg);
	l->f.clock_ns += row.elapsed_ns;
	free(h);
}

static const struct step native[] = {
	{ .oio = 1,
	  .ios = { 80000, 20000 },
	  .art_ns = 100000,
	  .mrt_ns = 900000,
	  .share = { 80, 20 } },
	{ .oio = 0 },
	{ .oio = 6,
	  .ios = { 50000, 50000 },
	  .art_ns = 300000,
	  .mrt_ns = 5000000,
	  .share = { 52, 48 } },
	{ .oio = 1, .ios = { 100000, 0 }, .art_ns = 200000, .mrt_ns = 400000, .share = { 100, 0 } },
};

static void finish(struct loaded *l)
{
	DO(fix_section_end(&l->f, -1, 0, ""));
	DO(fix_test_end(&l->f, -1));
	DO(fix_end(&l->f, "done"));
}

static const struct workload *cap_of(const struct loaded *l)
{
	static const struct workload none;

	return l->d.rwsw ? &l->d.rwsw->cap : &none;
}

TEST(a_capture_and_its_replay)
{
	struct loaded l;

	DO(start(&l, "replay-native", "RWSW-7"));
	DO(put_app(&l));
	for (unsigned i = 0; i < 4; i++)
		DO(put_step(&l, 1, &native[i]));
	DO(finish(&l));
	DO(load(&l));
	const struct workload *w = cap_of(&l);
	CHECK(w->stored && !w->shares_only);
	CHECK_STR(w->devices, "sda, sdb");
	CHECK_STR(w->began, "2026-01-02T03:04:05Z");
	CHECK_INT(w->n_all, 3);
	CHECK_INT(w->n_streams, 3);
	CHECK_INT(w->n_used, 2);
	CHECK_NEAR(w->used_pct, 90, 1e-12);
	CHECK_STR(w->stream[1].name, "RND 8K R");
	CHECK(w->stream[0].used && !w->stream[2].used);
	CHECK_INT(w->n_steps, 4);
	CHECK_INT(w->n_idle, 1);
	CHECK_INT(w->qd_low, 1); /* 0.2 is one */
	CHECK_INT(w->qd_high, 6);
	CHECK_NEAR(w->step[0].of[0], 40, 1e-12);
	CHECK_NEAR(w->step[0].of[2], 5, 1e-12);
	CHECK_NEAR(w->step[3].of[3], 5, 1e-12); /* the others */
	CHECK_NEAR(w->step[1].of[3], 0, 1e-12);
	CHECK_INT(l.d.rwsw->n_replays, 1);
	const struct replay_scale *s = &l.d.rwsw->replay[0].scale[0];
	CHECK_INT(s->n, 4);
	CHECK_INT(s->n_idle, 1);
	CHECK_INT(s->ios, 300000);
	CHECK_NEAR(s->iops, 100000, 1e-12); /* over three active seconds */
	CHECK_NEAR(s->bytes_per_s, (230000 * 4096.0 + 70000 * 8192.0) / 3, 1e-12);
	CHECK_NEAR(s->art_ns, 200000, 1e-12); /* weighted by IOs */
	CHECK_INT(s->mrt_ns, 5000000);
	CHECK_INT(s->levels.n, 300000);
	CHECK_INT(s->levels.above, 3); /* the three slowest: each step's own */
	CHECK_NEAR((double)s->levels.p99999_ns, 300000, 0.005);
	CHECK_INT(s->oio_low, 1);
	CHECK_INT(s->oio_high, 6);
	CHECK_NEAR(s->oio_avg, 8.0 / 3, 1e-12);
	CHECK_NEAR(s->inflight_avg, 4.0 / 3, 1e-12);
	CHECK_INT(s->of_sum[0], 230000);
	CHECK_NEAR(s->asked[0], (80 + 52 + 100) / 3.0, 1e-12);
	CHECK_NEAR(s->mix_error, 2 / 3.0, 1e-9);
	CHECK_INT(sheet_kind(&l.d.test[0]), SHEET_REPLAY);
	bool told = false;
	for (unsigned i = 0; i < l.d.n_results; i++)
		told |= l.d.result[i].unit == UNIT_IOPS && l.d.result[i].reported &&
			fabs(l.d.result[i].value - 100000) < 1e-6;
	CHECK(told);
	DO(drop(&l));
}

TEST(scales_apart_and_in_order)
{
	struct loaded l;
	static const double scale[] = { 1, 2, 0.5 };

	DO(start(&l, "replay-scaled", "RWSW-7"));
	DO(put_app(&l));
	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = 0; i < 4; i++) {
			struct step s = native[i];
			s.ios[0] = s.ios[0] / 100 * (k + 1);
			s.ios[1] = s.ios[1] / 100 * (k + 1);
			DO(put_step(&l, scale[k], &s));
		}
	DO(finish(&l));
	DO(load(&l));
	const struct replay *r = &l.d.rwsw->replay[0];
	CHECK_INT(r->n, 3);
	CHECK_STR(r->scale[1].name, "x2");
	CHECK_STR(r->scale[2].name, "x0.5");
	for (unsigned k = 0; k < 3; k++)
		CHECK_NEAR(r->scale[k].iops, 1000 * (k + 1), 1e-12);
	CHECK_INT(r->scale[0].levels.p99999_ns, -1); /* 3,000 IOs are too few */
	DO(drop(&l));
}

/* Interrupted in a step: it counts for nothing, the rest stands as it is. */
TEST(a_replay_that_was_interrupted)
{
	struct loaded l;
	struct step cut = native[2];

	cut.partial = true;
	DO(start(&l, "replay-scaled", "RWSW-7"));
	DO(put_app(&l));
	DO(put_step(&l, 1, &native[0]));
	DO(put_step(&l, 1, &cut));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	const struct replay_scale *s = &l.d.rwsw->replay[0].scale[0];
	CHECK_INT(s->n, 1);
	CHECK_NEAR(s->iops, 100000, 1e-12);
	CHECK(isnan(s->iops_cv));
	for (unsigned i = 0; i < l.d.n_results; i++)
		CHECK(!l.d.result[i].reported);
	DO(drop(&l));
}

TEST(a_replay_of_which_nothing_was_done)
{
	struct loaded l;

	DO(start(&l, "replay-native", "RWSW-7"));
	DO(fix_end(&l.f, "interrupted"));
	DO(load(&l));
	CHECK_INT(l.d.rwsw->n_replays, 1);
	CHECK_INT(l.d.rwsw->replay[0].n, 0);
	CHECK(!cap_of(&l)->stored);
	DO(drop(&l));
}

/* What `idle honor` leaves of a step is idle time, no step of its own, and not in the active seconds. */
TEST(the_rest_of_a_step_is_no_step)
{
	struct step rest = { .oio = 0, .label = "step 1 idle" };
	struct loaded l;

	DO(start(&l, "replay-native", "RWSW-7"));
	DO(put_app(&l));
	DO(put_step(&l, 1, &native[0]));
	DO(put_step(&l, 1, &rest));
	DO(put_step(&l, 1, &native[2]));
	DO(finish(&l));
	DO(load(&l));
	const struct replay_scale *s = &l.d.rwsw->replay[0].scale[0];
	CHECK_INT(s->n, 2);
	CHECK_INT(s->n_idle, 0);
	CHECK_NEAR(s->iops, 100000, 1e-12);
	CHECK_INT(s->of_sum[0], 130000);
	DO(drop(&l));
}

TEST(only_idle_steps)
{
	struct loaded l;

	DO(start(&l, "replay-native", "RWSW-7"));
	DO(put_step(&l, 1, &native[1]));
	DO(put_step(&l, 1, &native[1]));
	DO(finish(&l));
	DO(load(&l));
	const struct replay_scale *s = &l.d.rwsw->replay[0].scale[0];
	CHECK_INT(s->n_idle, 2);
	CHECK(isnan(s->iops) && isnan(s->art_ns) && isnan(s->mix_error));
	DO(drop(&l));
}

/* A database of an earlier program: no rows of the capture. The cells tell the streams. */
TEST(no_rows_of_the_capture)
{
	struct loaded l;
	struct step composite = native[0];
	char sample[256];
	int64_t id;

	DO(start(&l, "replay-native", "RWSW-7"));
	snprintf(sample, sizeof sample, "[{" W4 ",\"share_pct\":70},{" R8 ",\"share_pct\":30}]");
	struct cell_row row = { .at = l.f.at,
				.phase = "sample",
				.round = 1,
				.round_try = 0,
				.member = -1,
				.access = "composite app top 9",
				.threads = 4,
				.qd = 32,
				.oio = 128,
				.scale = NAN,
				.read_pct = 30,
				.block_bytes = -1,
				.workload = sample,
				.elapsed_ns = 1000000000,
				.write_ios = 100,
				.art_ns = 1e5,
				.mrt_ns = 100000,
				.min_ns = 1,
				.p50_ns = -1,
				.p99_ns = -1,
				.p999_ns = -1,
				.p9999_ns = -1,
				.p99999_ns = -1,
				.rate_iops = NAN,
				.little_pct = NAN,
				.cpu_sys_pct = NAN,
				.cpu_total_pct = NAN,
				.temperature_c = NAN };
	CHECK_MSG(!store_cell(l.f.s, &row, &id, &l.f.err), "%s", l.f.err.msg);
	composite.no_streams = true;
	DO(put_step(&l, 2, &composite));
	DO(put_step(&l, 2, &native[2]));
	DO(finish(&l));
	DO(load(&l));
	const struct workload *w = cap_of(&l);
	CHECK(!w->stored);
	CHECK_STR(w->name, "app"); /* of the test's parameter */
	CHECK_INT(w->n_used, 2);
	CHECK_NEAR(w->stream[0].normalized_pct, 70, 1e-12);
	CHECK(isnan(w->stream[0].share_pct));
	CHECK_INT(w->qd_low, 1); /* 1 at x2 */
	CHECK_INT(w->qd_high, 3);
	CHECK_INT(w->step_ns, 1000000000);
	DO(drop(&l));
}

/* A map of shares counts no IOs: its steps hold percents. */
TEST(a_map_of_shares)
{
	struct loaded l;
	static const struct capture_step_row step[] = {
		{ .qd_avg = 14,
		  .qd_max = -1,
		  .art_ns = NAN,
		  .streams = "[{" W4 ",\"ios\":null,\"share_pct\":75},{" R8
			     ",\"ios\":null,\"share_pct\":20}]" },
	};

	DO(start(&l, "replay-native", "RWSW-7"));
	DO(put_capture(&l,
		       "[{" W4 ",\"ios\":null,\"share_pct\":75,\"normalized_pct\":78.9},{" R8
		       ",\"ios\":null,\"share_pct\":20,\"normalized_pct\":21.1}]",
		       0));
	DO(put_steps(&l, step, 1));
	DO(put_step(&l, 1, &native[2]));
	DO(finish(&l));
	DO(load(&l));
	const struct workload *w = cap_of(&l);
	CHECK(w->shares_only);
	CHECK_INT(w->n_idle, 0);
	CHECK_INT(w->qd_high, 14);
	CHECK_NEAR(w->step[0].of[0], 75, 1e-12);
	CHECK_NEAR(w->step[0].of[2], 5, 1e-12);
	DO(drop(&l));
}

/* ---- streams one by one; the composite in one loop ---- */

static void put_loop(struct loaded *l, const char *access, uint32_t bs, double iops)
{
	double y[5];

	for (int r = 1; r <= 5; r++) {
		struct fix_cell c = { .phase = "sample",
				      .access = access,
				      .round = r,
				      .iops = iops,
				      .art_ns = 128e9 / iops,
				      .seconds = 1,
				      .bs = bs,
				      .tc = 4,
				      .qd = 32,
				      .mrt_ns = 9000000 };
		struct round_row row;
		struct steady_check check;
		fix_put(&l->f, &c);
		y[r - 1] = iops;
		fix_check(&l->f, "iops of sample", y, r, &row, &check);
		CHECK_MSG(!store_round(l->f.s, &row, 1, &l->f.err), "%s", l->f.err.msg);
	}
	DO(fix_section_end(&l->f, 1, 5, "steady"));
}

TEST(streams_alone_and_their_harmonic_mean)
{
	struct loaded l;
	struct arena a = ARENA_INIT;

	*(&l) = (struct loaded){ .r = NULL };
	DO(fix_open(&l.f));
	DO(fix_run(&l.f, &(struct fix_opts){ 0 }));
	l.f.params = PARAMS;
	DO(fix_test(&l.f, "individual-streams", "Individual Streams-WSAT", "RWSW-9"));
	DO(fix_attempt(&l.f, "individual-streams"));
	DO(put_capture(&l,
		       "[{" W4 ",\"ios\":75,\"share_pct\":75,\"normalized_pct\":75},{" W1
		       ",\"ios\":25,\"share_pct\":25,\"normalized_pct\":25}]",
		       100));
	DO(fix_section(&l.f, "SEQ 4K W"));
	DO(put_loop(&l, "SEQ 4K W", 4096, 300000));
	DO(fix_section(&l.f, "RND 1K W"));
	DO(put_loop(&l, "RND 1K W", 1024, 50000));
	DO(fix_test_end(&l.f, 1));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	const struct test *t = &l.d.test[0];
	struct stream_alone s[2];
	CHECK_INT(sheet_kind(t), SHEET_STREAMS);
	CHECK_INT(rwsw_alone(&l.d, t, &a, s), 2);
	CHECK_STR(s[1].name, "RND 1K W");
	CHECK_INT(s[1].stream, 1);
	CHECK_NEAR(rwsw_alone_mean(cap_of(&l), s, 2), 100 / (75 / 300000.0 + 25 / 50000.0), 1e-12);
	s[1].combo = NULL; /* one without a value: no mean of the others */
	CHECK(isnan(rwsw_alone_mean(cap_of(&l), s, 2)));
	arena_release(&a);
	DO(drop(&l));
}

TEST(the_composite_has_the_pages_of_wsat)
{
	struct loaded l;

	DO(start(&l, "multi-wsat", "RWSW-8"));
	DO(put_loop(&l, "composite app top 9", 0, 80000));
	DO(fix_test_end(&l.f, 1));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(sheet_kind(&l.d.test[0]), SHEET_MULTI);
	const struct wsat *w = rwsw_multi(&l.d, &l.d.test[0]);
	CHECK(w != NULL);
	CHECK_NEAR(w->state[WSAT_LAST].iops, 80000, 1e-12);
	DO(drop(&l));
}

/* ---- exact replay ---- */

static void exact(struct loaded *l, bool cell)
{
	struct hist *service = hist_new(), *response = hist_new();
	struct cell_hist h[] = { { "W", "service", service }, { "W", "response", response } };
	struct second_row second[] = { { 0, 60, 1, 1e5, 200000 }, { 1, 40, 1, 1e5, 300000 } };
	int64_t id;

	for (unsigned i = 0; i < 100; i++) {
		hist_add(service, 100000);
		hist_add(response, 150000);
	}
	struct cell_row row = { .at = l->f.at,
				.phase = "replay",
				.round = -1,
				.round_try = -1,
				.member = -1,
				.access = "exact replay",
				.threads = 1,
				.qd = -1,
				.oio = -1,
				.scale = NAN,
				.read_pct = 0,
				.block_bytes = -1,
				.workload = "[]",
				.elapsed_ns = 2000000000,
				.write_ios = 100,
				.write_bytes = 409600,
				.art_ns = 150000,
				.mrt_ns = 150000,
				.min_ns = 150000,
				.p50_ns = 150000,
				.p99_ns = 150000,
				.p999_ns = -1,
				.p9999_ns = -1,
				.p99999_ns = -1,
				.rate_iops = 50,
				.inflight_avg = 0.5,
				.little_pct = NAN,
				.cpu_sys_pct = NAN,
				.cpu_total_pct = NAN,
				.temperature_c = NAN,
				.second = second,
				.n_seconds = 2,
				.hist = h,
				.n_hist = 2 };
	if (cell)
		CHECK_MSG(!store_cell(l->f.s, &row, &id, &l->f.err), "%s", l->f.err.msg);
	free(service);
	free(response);
}

static void put_fidelity(struct loaded *l, bool valid)
{
	struct fidelity_row f = { .run = l->f.run,
				  .test = "replay",
				  .attempt = l->f.at.attempt,
				  .loops = 1,
				  .speed = "native",
				  .fit = "clip",
				  .order = "allow",
				  .devices = "{\"sda\":\"/dev/nvme1n1\"}",
				  .why_dropped = "{\"flushes\":7,\"beyond the end\":3}",
				  .records = 110,
				  .issued = 100,
				  .dropped = 10,
				  .late_p50_ns = 100,
				  .late_p99_ns = 9000,
				  .late_p999_ns = -1,
				  .late_max_ns = 20000,
				  .span_error_pct = -0.004,
				  .span_asked_ns = 2000000000,
				  .span_ns = 1999920000,
				  .depth_asked_avg = NAN,
				  .depth_asked_max = -1,
				  .depth_avg = 0.5,
				  .depth_max = 4,
				  .valid = valid,
				  .why_invalid = valid ? NULL : "3 errors" };

	CHECK_MSG(!store_fidelity(l->f.s, &f, &l->f.err), "%s", l->f.err.msg);
}

TEST(an_exact_replay_and_its_account)
{
	struct loaded l;

	for (int valid = 1; valid >= 0; valid--) {
		DO(start(&l, "replay", "-"));
		DO(put_app(&l));
		DO(exact(&l, true));
		DO(put_fidelity(&l, valid));
		DO(finish(&l));
		DO(load(&l));
		const struct replay *r = rwsw_replay(&l.d, &l.d.test[0]);
		CHECK(r && r->fidelity && r->cell);
		CHECK_INT(r->n, 0); /* not by steps */
		CHECK_INT(r->fidelity->issued, 100);
		CHECK_INT(r->fidelity->late_p999_ns, -1);
		CHECK(isnan(r->fidelity->depth_asked_avg));
		CHECK_INT(r->fidelity->valid, valid);
		CHECK_INT(r->n_seconds, 2);
		CHECK_NEAR(r->service.art_ns, 100000, 1e-12);
		CHECK_NEAR(r->response.art_ns, 150000, 1e-12);
		bool told = false;
		for (unsigned i = 0; i < l.d.n_results; i++)
			told |= l.d.result[i].reported && l.d.result[i].value == 50;
		CHECK_INT(told, valid); /* what is not true to the capture is no result */
		DO(drop(&l));
	}
}

TEST(an_exact_replay_that_never_began)
{
	struct loaded l;

	DO(start(&l, "replay", "-"));
	DO(exact(&l, false));
	DO(fix_end(&l.f, "failed"));
	DO(load(&l));
	CHECK_INT(sheet_kind(&l.d.test[0]), SHEET_REPLAY);
	DO(drop(&l));
}

/* ---- small parts ---- */

TEST(points_of_a_map)
{
	CHECK_INT(rwsw_bin(1, 360), 1);
	CHECK_INT(rwsw_bin(360, 360), 1);
	CHECK_INT(rwsw_bin(361, 360), 2);
	CHECK_INT(rwsw_bin(1800, 360), 5); /* 30 min of seconds */
	CHECK_INT(rwsw_bin(86400, 360), 300); /* a day: 240 would do */
	for (unsigned n = 1; n < 100000; n += 77)
		CHECK((n + rwsw_bin(n, 360) - 1) / rwsw_bin(n, 360) <= 360);
}

TEST(spans_and_ranges_in_words)
{
	struct arena a = ARENA_INIT;

	CHECK_STR(rwsw_span(&a, 50e6), "50 ms");
	CHECK_STR(rwsw_span(&a, 1e9), "1 s");
	CHECK_STR(rwsw_span(&a, 14.02e9), "14.02 s");
	CHECK_STR(rwsw_span(&a, 90e9), "90 s");
	CHECK_STR(rwsw_span(&a, 1800e9), "30 min");
	CHECK_STR(rwsw_span(&a, 86400e9), "24 h");
	CHECK_STR(rwsw_range(&a, 1, 14), "1 - 14");
	CHECK_STR(rwsw_range(&a, 3, 3), "3");
	CHECK_STR(rwsw_stream_name(&a, "W", "SEQ", 512), "SEQ 0.5K W");
	arena_release(&a);
}

TEST_MAIN
