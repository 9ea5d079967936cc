/* SPDX-License-Identifier: MIT */
/* What the dataset makes of a database: windows, means, verdicts, what is not reported. */
#include "reports/dataset.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"

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
	dataset_release(&l->d);
	read_close(l->r);
	fix_close(&l->f);
}

static const struct result *result_of(const struct dataset *d, const char *test, const char *access,
				      const char *key)
{
	for (unsigned i = 0; i < d->n_results; i++)
		if (!strcmp(d->result[i].test->name, test) && !strcmp(d->result[i].key, key) &&
		    !strcmp(d->result[i].access, access))
			return &d->result[i];
	return NULL;
}

static const struct warning *warning_with(const struct dataset *d, enum severity v,
					  const char *text)
{
	for (unsigned i = 0; i < d->n_warnings; i++)
		if (d->warning[i].severity == v && strstr(d->warning[i].what, text))
			return &d->warning[i];
	return NULL;
}

static void start(struct loaded *l, const struct fix_opts *o, const char *test)
{
	DO(fix_open(&l->f));
	DO(fix_run(&l->f, o));
	DO(fix_test(&l->f, test, "a title", "CLAUSE"));
}

TEST(a_formal_run_conforms)
{
	struct fix_opts o = { 0 };
	struct loaded l;

	DO(fix_basic(&l.f, &o, false));
	DO(load(&l));
	CHECK_INT(l.d.n_tests, 3);
	CHECK_INT(l.d.verdict, VERDICT_CONFORMANT);
	CHECK_INT(l.d.n_valid, 3);
	CHECK_INT(l.d.test[0].status, STATUS_VALID);
	CHECK_INT(l.d.test[0].section[0].n_combos, 56);
	CHECK_INT(l.d.test[0].section[0].n_tracks, 3);
	CHECK_INT(l.d.test[1].n_sections, 2);
	CHECK_STR(l.d.test[1].section[1].label, "128k");
	CHECK_INT(l.d.test[2].section[0].n_hists, 1);
	CHECK_STR(l.d.test[0].sheet, "IOPS");
	drop(&l);
}

/* Mean, sample CV and maximum of the window, against the rows of the view by plain SQL. */
TEST(window_means_equal_sql)
{
	struct fix_opts o = { 0 };
	struct loaded l;
	struct err err = { "" };

	DO(fix_basic(&l.f, &o, false));
	DO(load(&l));
	const struct section *s = &l.d.test[0].section[0];
	CHECK_INT(s->window_last - s->window_first, 4);
	for (unsigned i = 0; i < s->n_combos; i++) {
		const struct combo *c = &s->combo[i];
		struct rows *q = read_rows(
			l.r, &err,
			"SELECT AVG(iops), AVG(bytes_per_s), AVG(art_ns), MAX(mrt_ns), COUNT(*),"
			" AVG(iops * iops), SUM(ios * art_ns) / SUM(ios), AVG(mrt_ns) FROM v_cell "
			"WHERE run_id = ? AND test = 'iops' AND"
			" read_pct = ? AND block_bytes = ? AND in_window",
			"idi", l.f.run, c->read_pct, c->block_bytes);
		CHECK(q && rows_next(q) == 1);
		CHECK_INT(rows_int(q, 4), 5);
		CHECK_INT(c->n_window, 5);
		CHECK_NEAR(c->iops, rows_num(q, 0), 1e-12);
		CHECK_NEAR(c->bytes_per_s, rows_num(q, 1), 1e-12);
		CHECK_NEAR(c->art_ns, rows_num(q, 6), 1e-12);
		CHECK_NEAR(c->art_rounds_ns, rows_num(q, 2), 1e-12);
		CHECK_NEAR(c->mrt_rounds_ns, rows_num(q, 7), 1e-12);
		CHECK_INT(c->mrt_ns, rows_int(q, 3));
		double variance = (rows_num(q, 5) - c->iops * c->iops) * 5 / 4;
		CHECK_NEAR(c->iops_cv, sqrt(variance) / c->iops, 1e-4); /* cancellation */
		CHECK(!rows_close(q, &err));
	}
	drop(&l);
}

/* 99.999 % from the merged histograms, counted again bucket by bucket in the view. */
TEST(five_nines_equal_a_count_over_the_view)
{
	struct fix_opts o = { 0 };
	struct loaded l;
	struct err err = { "" };

	DO(fix_basic(&l.f, &o, false));
	DO(load(&l));
	const struct combo *c = section_combo(&l.d.test[2].section[0], 0, 4096);
	CHECK(c && c->n_window == 5 && c->p99999_ns > 0);
	struct rows *q = read_rows(l.r, &err,
				   "SELECT low_ns, high_ns, SUM(count) FROM v_histogram JOIN v_cell"
				   " USING (cell_id) WHERE test = 'lat' AND in_window AND"
				   " read_pct = 0 AND block_bytes = 4096 GROUP BY 1 ORDER BY 1",
				   "");
	int64_t seen = 0, rank = (int64_t)ceil(0.99999 * (double)c->ios), low = 0, high = 0;
	CHECK(q);
	while (rows_next(q) == 1 && seen < rank) {
		low = rows_int(q, 0);
		high = rows_int(q, 1);
		seen += rows_int(q, 2);
	}
	CHECK(!rows_close(q, &err));
	CHECK_MSG(c->p99999_ns >= low && c->p99999_ns < high, "%lld not in [%lld, %lld)",
		  (long long)c->p99999_ns, (long long)low, (long long)high);
	CHECK(c->above == c->ios - (uint64_t)rank);
	CHECK(c->p99999_ns <= c->mrt_ns);
	drop(&l);
}

TEST(tracked_values_and_checks)
{
	struct fix_opts o = { 0 };
	struct loaded l;

	DO(fix_basic(&l.f, &o, false));
	DO(load(&l));
	const struct section *s = &l.d.test[0].section[0];
	const struct track *t = &s->track[0];
	CHECK_STR(t->title, "RND 4 KiB R/W 0/100");
	CHECK_INT(t->unit, UNIT_IOPS);
	CHECK(t->combo == section_combo(s, 0, 4096));
	CHECK(t->check && t->check->steady);
	CHECK_INT(t->check->first_round, s->window_first);
	for (unsigned i = 0; i < 5; i++)
		CHECK_NEAR(t->check->y[i], t->value[s->window_first - 1 + (int)i], 1e-15);
	CHECK_STR(l.d.test[1].section[0].track[0].title, "SEQ 1024 KiB R/W 0/100");
	CHECK_INT(l.d.test[1].section[0].track[0].unit, UNIT_BYTES_PER_S);
	CHECK_INT(l.d.test[2].section[0].track[0].unit, UNIT_NS);
	drop(&l);
}

TEST(a_test_that_is_not_steady_is_shouted)
{
	struct fix_opts o = { 0 };
	struct loaded l;

	DO(fix_basic(&l.f, &o, true));
	DO(load(&l));
	CHECK_INT(l.d.verdict, VERDICT_NOT_CONFORMANT);
	CHECK_INT(l.d.test[1].status, STATUS_NOT_VALID);
	CHECK_STR(l.d.test[1].reason, "steady state not reached");
	CHECK_INT(l.d.test[1].section[0].steady, 1);
	CHECK_INT(l.d.test[1].section[1].steady, 0);
	const struct result *good = result_of(&l.d, "tp", "SEQ 1024 KiB W", "bytes_per_s");
	const struct result *bad = result_of(&l.d, "tp", "SEQ 128 KiB W", "bytes_per_s");
	CHECK(good && good->reported);
	CHECK(bad && !bad->reported);
	CHECK(warning_with(&l.d, SEV_FAIL, "not reached (128k) in 25 rounds"));
	CHECK(strstr(steady_text(&l.d.arena, &l.d.test[1], NULL), "NOT REACHED (128k)"));
	drop(&l);
}

TEST(simulated_and_deviating_runs)
{
	struct fix_opts o = { .simulated = true };
	struct loaded l;

	DO(start(&l, &o, "tp"));
	DO(fix_tp(&l.f, false));
	CHECK(!store_deviation(l.f.s, l.f.run, "-", "SIMULATED: a model", &l.f.err));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.verdict, VERDICT_DEVIATIONS);
	CHECK(l.d.simulated);
	CHECK_INT(l.d.n_deviations, 1);
	CHECK(warning_with(&l.d, SEV_WARN, "SIMULATED"));
	drop(&l);
}

TEST(a_quick_run_does_not_conform)
{
	struct fix_opts o = { .quick = true };
	struct loaded l;

	DO(start(&l, &o, "tp"));
	DO(fix_tp(&l.f, false));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.verdict, VERDICT_NOT_CONFORMANT);
	CHECK_INT(l.d.n_not_valid, 0);
	drop(&l);
}

TEST(cells_a_4k_drive_cannot_do)
{
	struct fix_opts o = { .lba = 4096 };
	struct fix_iops i = { .rounds = 9 };
	struct loaded l;

	DO(start(&l, &o, "iops"));
	DO(fix_iops(&l.f, &i));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.test[0].section[0].n_combos, 49);
	CHECK_INT(l.d.n_na, 7);
	CHECK_STR(dataset_na(&l.d, "iops", 65, 512), "LBA 4096");
	CHECK(!dataset_na(&l.d, "iops", 65, 4096));
	CHECK(!dataset_na(&l.d, "lat", 65, 512));
	CHECK(warning_with(&l.d, SEV_INFO, "7 cells"));
	CHECK_INT(l.d.verdict, VERDICT_CONFORMANT);
	drop(&l);
}

TEST(no_rounds_one_round_four_rounds)
{
	const int rounds[] = { 0, 1, 4 };

	for (unsigned i = 0; i < 3; i++) {
		struct fix_opts o = { 0 };
		struct fix_iops p = { .rounds = rounds[i] };
		struct loaded l;
		DO(start(&l, &o, "iops"));
		DO(fix_iops(&l.f, &p));
		DO(fix_end(&l.f, "done"));
		DO(load(&l));
		CHECK_INT(l.d.verdict, VERDICT_NOT_CONFORMANT);
		CHECK_INT(l.d.test[0].section[0].n_combos, rounds[i] ? 56 : 0);
		CHECK_INT(l.d.test[0].section[0].n_tracks, rounds[i] ? 3 : 0);
		if (rounds[i])
			CHECK(!l.d.test[0].section[0].track[0].check);
		for (unsigned k = 0; k < l.d.n_results; k++)
			CHECK(!l.d.result[k].reported);
		drop(&l);
	}
}

TEST(all_values_equal)
{
	struct fix_opts o = { 0 };
	struct fix_iops p = { .rounds = 5, .equal = true };
	struct loaded l;

	DO(start(&l, &o, "iops"));
	DO(fix_iops(&l.f, &p));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.verdict, VERDICT_CONFORMANT);
	const struct combo *c = section_combo(&l.d.test[0].section[0], 0, 4096);
	CHECK(c->iops_cv == 0);
	CHECK(l.d.test[0].section[0].track[0].check->correlation == 0);
	drop(&l);
}

/* A round voided and repeated, a partial cell, an attempt given up: none of them in a result. */
TEST(void_rows_are_in_no_result)
{
	struct fix_opts o = { 0 };
	struct loaded l;
	struct fix_cell c = { .phase = "round",
			      .access = "SEQ 1024K 0/100",
			      .round = 1,
			      .iops = 1,
			      .art_ns = 1,
			      .bs = 1048576,
			      .tc = 1,
			      .qd = 32,
			      .seconds = 60 };

	DO(start(&l, &o, "tp"));
	DO(fix_attempt(&l.f, "tp"));
	DO(fix_section(&l.f, "1024k"));
	DO(fix_put(&l.f, &c)); /* of an attempt that never ends */
	DO(fix_tp(&l.f, false));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.test[0].attempt, 2);
	CHECK_INT(l.d.test[0].section[0].n_combos, 2);
	const struct combo *w = section_combo(&l.d.test[0].section[0], 0, 1048576);
	CHECK(w && w->round[0]->iops > 1000);
	CHECK(l.d.measure[0].void_);
	CHECK_INT(l.d.verdict, VERDICT_CONFORMANT);
	CHECK(warning_with(&l.d, SEV_INFO, "1 void"));
	drop(&l);
}

TEST(tests_that_were_not_run_or_failed)
{
	struct fix_opts o = { 0 };
	struct loaded l;
	struct test_end_row failed = { .test = "lat",
				       .attempt = 1,
				       .steady = -1,
				       .verdict = "failed",
				       .write_cache = "off",
				       .detail = "the drive stopped answering" };

	DO(start(&l, &o, "tp"));
	DO(fix_test(&l.f, "lat", "Latency", "LAT"));
	DO(fix_test(&l.f, "iops", "IOPS", "IOPS"));
	DO(fix_tp(&l.f, false));
	DO(fix_attempt(&l.f, "lat"));
	DO(fix_section(&l.f, ""));
	failed.run = l.f.run;
	CHECK(!store_test_end(l.f.s, &failed, &l.f.err));
	DO(fix_end(&l.f, "failed"));
	DO(load(&l));
	CHECK_INT(l.d.verdict, VERDICT_NOT_CONFORMANT);
	CHECK_INT(l.d.test[0].status, STATUS_VALID);
	CHECK_INT(l.d.test[1].status, STATUS_NOT_VALID);
	CHECK_INT(l.d.test[2].status, STATUS_NOT_RUN);
	CHECK(warning_with(&l.d, SEV_FAIL, "stopped answering"));
	CHECK(warning_with(&l.d, SEV_FAIL, "planned and not run"));
	CHECK(warning_with(&l.d, SEV_FAIL, "state \"failed\""));
	drop(&l);
}

TEST(an_empty_histogram)
{
	struct fix_opts o = { 0 };
	struct loaded l;

	DO(start(&l, &o, "lat"));
	DO(fix_lat(&l.f, 6, 0));
	DO(fix_end(&l.f, "done"));
	DO(load(&l));
	CHECK_INT(l.d.test[0].section[0].n_hists, 1);
	CHECK_INT(l.d.test[0].section[0].hist[0].hist->n, 0);
	drop(&l);
}

TEST(an_unknown_run)
{
	struct fix_opts o = { 0 };
	struct loaded l;
	struct err err = { "" };

	DO(start(&l, &o, "tp"));
	store_close(l.f.s);
	l.f.s = NULL;
	CHECK(!read_open(l.f.db, &l.r, &err));
	CHECK_INT(dataset_load(l.r, 77, &l.d, &err), -ENOENT);
	CHECK(strstr(err.msg, "no run 77"));
	read_close(l.r);
	fix_close(&l.f);
}

TEST(words_and_units)
{
	struct arena a = ARENA_INIT;

	CHECK_STR(mix_text(&a, 65), "65/35");
	CHECK_STR(mix_text(&a, NAN), "-");
	CHECK_STR(kib_text(&a, 512), "0.5");
	CHECK_STR(kib_text(&a, 1048576), "1024");
	CHECK_STR(kib_text(&a, -1), "mixed");
	CHECK_STR(tcqd_text(&a, 4, 32), "T4Q32");
	CHECK_NEAR(unit_shown(UNIT_BYTES_PER_S, 6.7e9), 6700, 1e-15);
	CHECK_NEAR(unit_shown(UNIT_NS, 80100), 0.0801, 1e-12);
	arena_release(&a);
}

TEST_MAIN
