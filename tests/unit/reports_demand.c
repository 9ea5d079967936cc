/* SPDX-License-Identifier: MIT */
/* Demand variation worked out from plain structs: groups of one total OIO, means, operating points, access lines. */
#include "reports/access_text.h"
#include "reports/demand.h"
#include "reports/sheet.h"
#include "tests/test.h"

static const int depths[] = { 32, 16, 8, 6, 4, 2, 1 };
#define SIDE 7
#define CELLS (SIDE * SIDE)

/* A DIRTH test with its 49 cells; IOPS and ART invented so that Little's law holds. */
struct rig {
	struct arena a;
	struct dataset d;
	struct test t;
	struct section s[2];
	struct combo combo[CELLS];
	struct measure cell[CELLS], more[16];
	struct operating_point point[3];
	struct capture_hist hist[3];
	struct demand m;
};

static double iops_of(int toio)
{
	return 200000.0 * toio / (toio + 12.0);
}

static void rig_cells(struct rig *r)
{
	struct combo *c = r->combo;

	for (unsigned i = 0; i < SIDE; i++) {
		for (unsigned k = 0; k < SIDE; k++, c++) {
			int toio = depths[i] * depths[k];
			/* pairs of one total differ by their thread count */
			double iops = iops_of(toio) * (1 + 0.01 * i);
			*c = (struct combo){ .read_pct = 65,
					     .block_bytes = 8192,
					     .threads = depths[i],
					     .qd = depths[k],
					     .label = "",
					     .access = "rnd-8k-65-35",
					     .pattern = "RND",
					     .title = "RND 8 KiB 65/35",
					     .n_window = 1,
					     .iops = iops,
					     .bytes_per_s = iops * 8192,
					     .art_ns = toio / iops * 1e9,
					     .ios = (uint64_t)(iops * 1e6),
					     .inflight = toio,
					     .p99999_ns = 1000000 + 1000 * toio,
					     .mrt_ns = 5000000 };
			struct measure *m = &r->cell[c - r->combo];
			*m = (struct measure){ .test = "dirth",
					       .phase = "round",
					       .threads = c->threads,
					       .qd = c->qd,
					       .ios = c->ios,
					       .elapsed_ns = (uint64_t)1e15,
					       .art_ns = c->art_ns,
					       .rate_iops = NAN,
					       .inflight_avg = toio,
					       .threads_seen = c->threads,
					       .cpu_sys_pct = 1,
					       .cpu_total_pct = 2 };
			c->window[0] = m;
		}
	}
}

static struct rig *rig_new(void)
{
	struct rig *r = calloc(1, sizeof *r);

	rig_cells(r);
	r->s[0] = (struct section){ .number = 1, .label = "", .steady = 1 };
	r->s[1] = (struct section){
		.number = 2, .label = "loop 2", .steady = 1, .combo = r->combo, .n_combos = CELLS
	};
	r->t = (struct test){ .name = "dirth",
			      .title = "",
			      .clause = "DIRTH",
			      .sheet = "DIRTH",
			      .plan = "",
			      .attempt = 1,
			      .section = r->s,
			      .n_sections = 2 };
	r->d = (struct dataset){ .test = &r->t, .n_tests = 1 };
	return r;
}

static void rig_free(struct rig *r)
{
	for (unsigned i = 0; i < 3; i++)
		free(r->hist[i].hist);
	arena_release(&r->a);
	free(r);
}

TEST(the_eighteen_totals_and_their_pairs)
{
	static const int toio[] = { 1,	2,  4,	6,  8,	 12,  16,  24,	32,
				    36, 48, 64, 96, 128, 192, 256, 512, 1024 };
	static const unsigned pairs[] = { 1, 2, 3, 2, 4, 2, 5, 2, 6, 1, 2, 5, 2, 4, 2, 3, 2, 1 };
	struct rig *r = rig_new();

	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_INT(r->m.n_cells, 49);
	CHECK_INT(r->m.n_tc, 7);
	CHECK_INT(r->m.n_qd, 7);
	CHECK_INT(r->m.tc[0], 32);
	CHECK_INT(r->m.qd[6], 1);
	CHECK_INT(r->m.n_toio, 18);
	for (unsigned i = 0; i < 18; i++) {
		CHECK_INT(r->m.toio[i].toio, toio[i]);
		CHECK_INT(r->m.toio[i].pairs, pairs[i]);
		CHECK_INT(r->m.toio[i].n, pairs[i]);
	}
	rig_free(r);
}

TEST(means_of_a_total)
{
	struct rig *r = rig_new();
	double iops = 0;

	demand_init(&r->m, &r->d, &r->t, &r->a);
	for (unsigned i = 0; i < r->m.n_toio; i++) {
		const struct demand_toio *g = &r->m.toio[i];
		iops = 0;
		for (unsigned k = 0; k < g->pairs; k++) {
			CHECK_INT(g->cell[k]->threads * g->cell[k]->qd, g->toio);
			iops += g->cell[k]->iops;
		}
		CHECK_NEAR(g->iops, iops / g->pairs, 1e-12);
		CHECK_NEAR(g->iops * g->art_ns / 1e9, g->toio, 1e-12);
		CHECK_NEAR(g->p99999_ns, 1e6 + 1000 * g->toio, 1e-12);
		CHECK_NEAR(g->cpu_total_pct, 2, 1e-12);
	}
	CHECK_NEAR(r->m.little_worst_pct + 1, 1, 1e-7);
	rig_free(r);
}

TEST(a_cell_without_a_mean_leaves_its_total)
{
	struct rig *r = rig_new();
	struct combo *t32q1 = &r->combo[6], *t6q6 = &r->combo[3 * SIDE + 3];

	CHECK_INT(t6q6->threads * t6q6->qd, 36);
	t32q1->n_window = t6q6->n_window = 0;
	r->cell[0].art_ns *= 1.03;
	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_INT(r->m.n_cells, 49);
	CHECK_INT(r->m.n_results, 47);
	CHECK_INT(r->m.toio[8].toio, 32);
	CHECK_INT(r->m.toio[8].pairs, 6);
	CHECK_INT(r->m.toio[8].n, 5);
	CHECK(isfinite(r->m.toio[8].iops));
	CHECK_INT(r->m.toio[9].n, 0); /* the only pair of 36 */
	CHECK(isnan(r->m.toio[9].iops));
	CHECK(isnan(r->m.toio[9].art_ns));
	CHECK_NEAR(r->m.little_worst_pct, 3, 1e-7);
	CHECK_INT(r->m.little_cell->qd, 32);
	rig_free(r);
}

/* Rounds of different length and speed: what was in flight is by time, ART by IOs. Of cells at a rate, art holds the waiting. */
TEST(littles_law_of_rounds_that_differ)
{
	struct rig *r = rig_new();
	struct combo *c = &r->combo[0];
	struct measure second = r->cell[0];

	second.elapsed_ns /= 10;
	second.ios = r->cell[0].ios / 2; /* five times as fast, the same depth */
	second.art_ns = r->cell[0].art_ns / 5;
	c->window[1] = &second;
	c->n_window = 2;
	c->iops *= 3; /* the mean of one and five */
	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_NEAR(r->m.little_worst_pct + 1, 1, 1e-7);
	demand_init(&r->m, &r->d, &r->t, &r->a);
	second.rate_iops = 1000;
	second.art_ns *= 7;
	second.little_pct = 0;
	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_NEAR(r->m.little_worst_pct + 1, 1, 1e-7);
	second.little_pct = 11; /* of a tenth of 11 parts of the time */
	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_NEAR(r->m.little_worst_pct, 1, 1e-7);
	rig_free(r);
}

static void add_more(struct rig *r, const char *phase, int step, int tc, int qd)
{
	struct measure *m = &r->more[r->d.n_measures++];

	*m = (struct measure){ .test = "dirth",
			       .phase = phase,
			       .attempt = 1,
			       .section = 2,
			       .round = -1,
			       .step = step,
			       .member = -1,
			       .threads = tc,
			       .qd = qd };
	if (strcmp(phase, "histogram"))
		return;
	r->hist[r->s[1].n_hists] = (struct capture_hist){ m, hist_new() };
	r->s[1].hist = r->hist;
	r->s[1].n_hists++;
}

static void rig_points(struct rig *r, const int tc[3], const int qd[3])
{
	static const char *const names[] = { "max", "min", "mid" }; /* as picked */

	for (unsigned i = 0; i < 3; i++)
		r->point[i] = (struct operating_point){ .test = "dirth",
							.point = names[i],
							.reason = "",
							.section = 2,
							.threads = tc[i],
							.qd = qd[i] };
	r->d.point = r->point;
	r->d.n_points = 3;
	r->d.measure = r->more;
}

TEST(points_in_the_order_of_the_pages_with_their_steps)
{
	static const int tc[] = { 8, 1, 4 }, qd[] = { 16, 1, 8 };
	struct rig *r = rig_new();

	rig_points(r, tc, qd);
	for (unsigned i = 0; i < 3; i++)
		add_more(r, "prewrite", 61, 8, 16);
	add_more(r, "histogram", 62, 8, 16);
	add_more(r, "prewrite", 63, 4, 8);
	add_more(r, "histogram", 64, 4, 8);
	add_more(r, "prewrite", 65, 1, 1);
	demand_init(&r->m, &r->d, &r->t, &r->a);
	CHECK_INT(r->m.n_points, 3);
	CHECK_STR(r->m.point[0].name, "Max IOPS");
	CHECK_STR(r->m.point[1].name, "Mid IOPS");
	CHECK_STR(r->m.point[2].name, "Min IOPS");
	CHECK_INT(r->m.point[0].n_minutes, 3);
	CHECK(r->m.point[0].hist->m == &r->more[3]);
	CHECK(r->m.point[1].hist->m == &r->more[5]);
	CHECK_INT(r->m.point[2].n_minutes, 1); /* the run ended here */
	CHECK(!r->m.point[2].hist);
	CHECK_INT(r->m.point[0].cell->threads, 8);
	CHECK_INT(r->m.point[0].cell->qd, 16);
	rig_free(r);
}

TEST(two_points_in_one_cell)
{
	static const int tc[] = { 1, 1, 1 }, qd[] = { 1, 1, 1 };
	struct rig *r = rig_new();

	rig_points(r, tc, qd);
	for (int step = 61; step < 67; step += 2) {
		add_more(r, "prewrite", step, 1, 1);
		add_more(r, "prewrite", step, 1, 1);
		add_more(r, "histogram", step + 1, 1, 1);
	}
	demand_init(&r->m, &r->d, &r->t, &r->a);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(r->m.point[i].n_minutes, 2);
		CHECK(r->m.point[i].hist == &r->hist[i]);
		CHECK(r->m.point[i].minute[0] == &r->more[3 * i]);
	}
	rig_free(r);
}

TEST(which_tests_have_such_a_sheet)
{
	struct rig *r = rig_new();

	CHECK_INT(sheet_kind(&r->t), SHEET_DIRTH);
	r->t.clause = "-";
	r->t.name = "mine"; /* by its shape */
	CHECK_INT(sheet_kind(&r->t), SHEET_DIRTH);
	r->combo[5].access = "another"; /* no one access */
	CHECK_INT(sheet_kind(&r->t), SHEET_GENERAL);
	r->t.clause = "CBW";
	CHECK_INT(sheet_kind(&r->t), SHEET_CBW);
	r->t.clause = "RWSW-10";
	r->t.name = "rwsw-dirth";
	CHECK_INT(sheet_kind(&r->t), SHEET_DIRTH);
	r->t.name = "iops";
	CHECK_INT(sheet_kind(&r->t), SHEET_OWN);
	r->t.name = "curve";
	CHECK_INT(sheet_kind(&r->t), SHEET_CURVE);
	r->t.n_sections = 0;
	CHECK_INT(sheet_kind(&r->t), SHEET_GENERAL);
	rig_free(r);
}

TEST(the_access_line_of_a_plan)
{
	static const char plan[] =
		"test cbw\nrange 1000000 bytes, fills 2000000 bytes\n"
		"access \"cbw rw 0/100\": 100 W rnd 4k\n"
		"access \"cbw rw 40/60\": 1.6 R rnd 0.5k, 2.4 W rnd 0.5k, 38.4 R rnd 4k,"
		" 57.6 W seq 4k cursor 0 region 1/1; zones 0-5%:50 5-20%:30 20-100%:20; align 512\n"
		"access \"bad\": 1.6 R rnd\n";
	struct test t = { .plan = plan };
	struct access_mix *m = calloc(1, sizeof *m);

	CHECK(access_parse(plan, "cbw rw 40/60", m));
	CHECK_INT(m->n_sizes, 3);
	CHECK_INT(m->size[0].bytes, 512);
	CHECK_NEAR(m->size[0].read_share, 1.6, 1e-12);
	CHECK_NEAR(m->size[0].write_share, 2.4, 1e-12);
	CHECK_STR(m->size[1].pattern, "RND");
	CHECK_STR(m->size[2].pattern, "SEQ");
	CHECK_NEAR(m->size[2].write_share, 57.6, 1e-12);
	CHECK_NEAR(m->mean_bytes, 0.04 * 512 + 0.96 * 4096, 1e-12);
	CHECK_INT(m->n_zones, 3);
	CHECK_NEAR(m->zone[1].from_pct, 5, 1e-12);
	CHECK_NEAR(m->zone[2].to_pct, 100, 1e-12);
	CHECK_NEAR(m->zone[0].share, 50, 1e-12);
	CHECK_INT(plan_range_bytes(&t), 1000000);
	CHECK(!access_parse(plan, "bad", m));
	CHECK(!access_parse(plan, "cbw", m));
	free(m);
}

TEST_MAIN
