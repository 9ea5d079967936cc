/* SPDX-License-Identifier: MIT */
/*
 * The simulated drives behave like drives: regions, depth, mixes, recovery, and the PTS sequences
 * at full size.
 */
#include "tests/unit/workloads_sim_rig.h"

#include "pts/base/steady.h"

#define KIB 1024u
#define ROUNDS_MAX 25

/* First round whose window of five ends steady; 0 when none does. */
static unsigned steady_at(const double *y, unsigned n)
{
	struct steady_check s;

	for (unsigned r = STEADY_WINDOW; r <= n; r++) {
		steady_check(y + r - STEADY_WINDOW, r - STEADY_WINDOW + 1, &s);
		if (s.steady)
			return r;
	}
	return 0;
}

static double run_over(struct dut *d, struct access a, unsigned tq, uint64_t time_ns,
		       uint64_t range)
{
	struct segment g = { .acc = &a, .threads = tq >> 16, .qd = tq & 0xffff };

	g.stop.time_ns = time_ns;
	return run_seg(d, &g, range) ? NAN : cell.iops;
}
#define TQ(t, q) ((t) << 16 | (q))

static uint64_t p99999(const struct hist *h)
{
	uint64_t ns;

	return hist_percentile(h, P99999, &ns) ? ns : 0;
}

/* ---- random writes from fresh to saturated ---- */

TEST(regions_of_random_writes)
{
	double fills, fresh, steady, cliff = 0, at_fills[8] = { 0 };
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	fresh = run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
	CHECK_NEAR(fresh, 520000, 1e-6);
	fills = 60 * fresh * 4096 / ENT_BYTES;
	for (double y = fresh; fills < 8; fills += 60 * y * 4096 / ENT_BYTES) {
		y = run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
		if (fills < 1)
			CHECK_NEAR(y, fresh, 1e-6); /* spare flash lasts for 1.1 capacities */
		if (!cliff && y < fresh / 2)
			cliff = fills;
		at_fills[(unsigned)fills] = y;
	}
	steady = at_fills[7];
	CHECK(steady < fresh / 3 && steady > fresh / 5);
	CHECK(cliff > 1.1 && cliff < 1.25);
	CHECK(at_fills[1] < 1.05 * steady && at_fills[1] > 1.005 * steady); /* transition */
	CHECK(at_fills[3] < 1.01 * steady);
	for (unsigned i = 1; i < 8; i++)
		CHECK(at_fills[i] <= at_fills[i - 1]);
	/* u = exp(-(1 - u) 1.1) has u = 0.824: 2800 MB/s of flash over 1 / (1 - u) */
	double u = 0.7;

	for (unsigned i = 0; i < 1000; i++)
		u = exp(-(1 - u) * 1.1);
	CHECK_NEAR(steady, 2800e6 * (1 - u) / 4096, 0.01);
	done(d);
}

static double settled(struct dut *d, struct access a)
{
	for (unsigned i = 0; i < 24; i++)
		run(d, a, 4, 32, HOUR);
	return cell.mb_s;
}

static double settled_with_spare(const char *op, struct access a)
{
	struct dut *d;
	double y;

	if (open_ini(&d, QUIET "[gc]\nop_pct = %s\n", op))
		return NAN;
	y = settled(d, a);
	done(d);
	return y;
}

TEST(write_amplification)
{
	struct access rnd = mix(4096, IO_RND, 0), seq = mix(128 * KIB, IO_SEQ, 0), hot = rnd;
	double op7 = settled_with_spare("7", rnd), op28 = settled_with_spare("28", rnd);

	/* closed form by hand for 7 %: u = 0.871, WA 7.77; for 28 %: u = 0.597, WA 2.48 */
	CHECK_NEAR(op7, 2800 / 7.77, 0.02);
	CHECK_NEAR(op28, 2800 / 2.48, 0.02);
	CHECK_NEAR(settled_with_spare("7", seq), 2700, 1e-6); /* in order: no amplification */
	hot.n_zones = 2;
	hot.zone[0] = (struct zone){ 0, 0.1, 0.9 };
	hot.zone[1] = (struct zone){ 0.1, 1, 0.1 };
	CHECK(settled_with_spare("7", hot) > 1.3 * op7); /* locality helps */
	for (unsigned i = 0; i < 2; i++) {
		hot = rnd;
		hot.stream[1] = seq.stream[0];
		hot.stream[1].bytes = 4096;
		hot.n_streams = 2;
		hot.stream[0].share = i ? 20 : 80; /* mostly sequential lies nearer to sequential */
		hot.stream[1].share = i ? 80 : 20;

		double y = settled_with_spare("7", hot);

		CHECK_MSG(i ? y > 2 * op7 && y < 2130 : y > 1.1 * op7 && y < 1.5 * op7,
			  "%u: %.0f against %.0f", i, y, op7);
	}
}

TEST(part_of_the_drive_leaves_spare)
{
	double whole, part;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	whole = settled(d, mix(4096, IO_RND, 0));
	CHECK_INT(purge(d), 0);
	for (unsigned i = 0; i < 24; i++)
		part = run_over(d, mix(4096, IO_RND, 0), TQ(4, 32), HOUR, ENT_BYTES / 2);
	CHECK(part > 1.7 * whole / 1e6 * 1e6 / 4096 * 1e6);
	done(d);
}

/* ---- depth, mixes, sizes ---- */

TEST(depth_limits_then_saturates)
{
	double one, was = 0, was_art = 0;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	one = run(d, mix(4096, IO_RND, 100), 1, 1, MIN);
	CHECK_NEAR(one, 1e9 / cell.art_ns, 1e-5);
	for (unsigned q = 1; q <= 16; q *= 2) /* rate = outstanding / latency */
		CHECK_NEAR(run(d, mix(4096, IO_RND, 100), 1, q, MIN), q * one, 1e-4);
	for (unsigned q = 1; q <= 1024; q *= 2) {
		double y = run(d, mix(4096, IO_RND, 100), 1, q, MIN);

		CHECK(y >= was && cell.art_ns > was_art * 0.999999);
		CHECK(y < 2 * was || q <= 16); /* never more than by the depth */
		if (q > 128)
			CHECK(cell.art_ns > 1.7 * was_art); /* nearly all of it is queue */
		was = y;
		was_art = cell.art_ns;
	}
	CHECK_NEAR(was, 850000, 1e-6);
	done(d);
}

TEST(mixes_interfere)
{
	double reads, writes, both, quiet_tail;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	CHECK_INT(fill(d, 128 * KIB, 0, 2 * ENT_BYTES), 0);
	writes = settled(d, mix(4096, IO_RND, 0)) * 1e6 / 4096;
	reads = run(d, mix(4096, IO_RND, 100), 32, 32, MIN);
	quiet_tail = (double)p99999(&cell.op[IO_READ]) / cell.art_ns;
	both = run(d, mix(4096, IO_RND, 50), 32, 32, MIN);
	/* worse than sharing the drive's time */
	CHECK(both < 0.9 / (0.5 / reads + 0.5 / writes));
	CHECK(both > writes && both < reads);
	CHECK(fabs((double)cell.r.op[0].ios - (double)cell.r.op[1].ios) < 2);
	/* reads at one outstanding wait behind writes */
	run(d, mix(4096, IO_RND, 50), 2, 1, HOUR);
	double mixed = hist_mean(&cell.op[IO_READ]);
	uint64_t tail = p99999(&cell.op[IO_READ]);

	run(d, mix(4096, IO_RND, 100), 1, 1, HOUR);
	CHECK(mixed > 1.02 * cell.art_ns);
	CHECK(tail > p99999(&cell.op[IO_READ]));
	CHECK(quiet_tail > 1);
	done(d);
}

TEST(block_sizes)
{
	static const uint32_t kib[] = { 1024, 128, 64, 32, 16, 8, 4 };
	double was = 0, mb = 1e9;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	CHECK_INT(fill(d, 128 * KIB, 0, 2 * ENT_BYTES), 0);
	settled(d, mix(4096, IO_RND, 0));
	for (unsigned op = 0; op < 2; op++, was = 0, mb = 1e9) {
		for (unsigned i = 0; i < 7; i++) {
			CHECK(run(d, mix(kib[i] * KIB, IO_RND, op ? 0 : 100), 4, 32, MIN) > was);
			CHECK(cell.mb_s < mb * 1.001);
			was = cell.iops;
			mb = cell.mb_s;
		}
		/* half a KiB: as many reads, fewer writes (read, modify, write) */
		double small = run(d, mix(512, IO_RND, op ? 0 : 100), 4, 32, MIN);

		CHECK(op ? small < 0.9 * was : fabs(small / was - 1) < 0.001);
	}
	done(d);
}

TEST(tails_grow_with_writes)
{
	uint64_t fresh, worn;
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 1, &d));
	run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
	fresh = p99999(&cell.op[IO_WRITE]);
	settled(d, mix(4096, IO_RND, 0));
	run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
	worn = p99999(&cell.op[IO_WRITE]);
	CHECK(worn > fresh);
	CHECK(p99999(&cell.op[IO_WRITE]) > 3 * cell.art_ns);
	done(d);
}

/* ---- the PTS sequences, one-minute cells, whole capacity ---- */

struct iops_rounds {
	double write_4k[ROUNDS_MAX], mixed_64k[ROUNDS_MAX], read_1m[ROUNDS_MAX];
};

static void iops_round(struct dut *d, unsigned tq, uint64_t range, struct iops_rounds *y,
		       unsigned r)
{
	static const double rw[] = { 100, 95, 65, 50, 35, 5, 0 };
	static const uint32_t bs[] = { 1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB,
				       16 * KIB,   8 * KIB,   4 * KIB,	512 };

	for (unsigned i = 0; i < 7; i++)
		for (unsigned k = 0; k < 8; k++) {
			double iops = run_over(d, mix(bs[k], IO_RND, rw[i]), tq, MIN, range);

			if (rw[i] == 0 && bs[k] == 4 * KIB)
				y->write_4k[r] = iops;
			if (rw[i] == 65 && bs[k] == 64 * KIB)
				y->mixed_64k[r] = iops;
			if (rw[i] == 100 && bs[k] == 1024 * KIB)
				y->read_1m[r] = iops;
		}
}

static void check_iops_test(const char *profile, unsigned tq, double ar)
{
	struct iops_rounds y;
	uint64_t c, range;
	struct dut *d;

	CHECK(!open_sim(profile, 0, 11, &d));
	c = d->info.capacity_bytes;
	range = (uint64_t)((double)c * ar) >> 20 << 20;
	CHECK_INT(purge(d), 0);
	CHECK_INT(fill(d, 128 * KIB, range, 2 * c), 0);
	for (unsigned r = 0; r < 10; r++)
		iops_round(d, tq, range, &y, r);
	unsigned w = steady_at(y.write_4k, 10), m = steady_at(y.mixed_64k, 10);

	CHECK_MSG(w >= 5 && w <= 10, "%s: writes steady at %u", profile, w);
	CHECK_MSG(m >= 5 && m <= 10, "%s: mix steady at %u", profile, m);
	CHECK(steady_at(y.read_1m, 10) == 5);
	/* a sequentially filled drive needs time to become a random one */
	CHECK(y.mixed_64k[0] > 1.15 * y.mixed_64k[9]);
	done(d);
}

TEST(iops_test_becomes_steady)
{
	DO(check_iops_test("ent-nvme", TQ(4u, 32u), 1));
	DO(check_iops_test("client-slc", TQ(2u, 16u), 0.75));
}

static void check_tp_test(const char *profile, uint32_t block)
{
	double w[ROUNDS_MAX], r[ROUNDS_MAX];
	struct dut *d;

	CHECK(!open_sim(profile, 0, 11, &d));
	CHECK_INT(fill(d, block, 0, 2 * d->info.capacity_bytes), 0);
	for (unsigned i = 0; i < 10; i++) {
		r[i] = run(d, mix(block, IO_SEQ, 100), 1, 32, MIN);
		w[i] = run(d, mix(block, IO_SEQ, 0), 1, 32, MIN);
	}
	CHECK_INT(steady_at(w, 10), 5);
	CHECK_INT(steady_at(r, 10), 5);
	CHECK(r[9] > w[9]);
	done(d);
}

TEST(throughput_test_becomes_steady)
{
	DO(check_tp_test("ent-nvme", 1024 * KIB));
	DO(check_tp_test("ent-nvme", 128 * KIB));
	DO(check_tp_test("client-slc", 1024 * KIB));
	DO(check_tp_test("pm", 128 * KIB));
}

static unsigned latency_test(struct dut *d, unsigned rounds)
{
	static const double rw[] = { 100, 65, 0 };
	static const uint32_t bs[] = { 8 * KIB, 4 * KIB, 512 };
	double art[ROUNDS_MAX];

	if (fill(d, 128 * KIB, 0, 2 * d->info.capacity_bytes))
		return 0;
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 0; i < 9; i++) {
			run(d, mix(bs[i % 3], IO_RND, rw[i / 3]), 1, 1, MIN);
			if (i == 7)
				art[r] = cell.art_ns;
		}
	return steady_at(art, rounds);
}

TEST(latency_test_becomes_steady)
{
	static const char *const profile[] = { "ent-nvme", "client-slc", "pm" };
	struct dut *d;

	for (unsigned p = 0; p < 3; p++) {
		CHECK(!open_sim(profile[p], 0, 11, &d));
		unsigned r = latency_test(d, ROUNDS_MAX);

		CHECK_MSG(r >= 5, "%s: steady at %u", profile[p], r);
		run(d, mix(4096, IO_RND, 0), 1, 1, 20 * MIN);
		CHECK(p99999(&cell.op[IO_WRITE]) > 2 * cell.art_ns);
		done(d);
	}
}

TEST(drift_never_settles)
{
	double y[ROUNDS_MAX];
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "drift_pct_per_hour = 200\n"));
	CHECK_INT(latency_test(d, ROUNDS_MAX), 0);
	CHECK_INT(purge(d), 0);
	for (unsigned i = 0; i < ROUNDS_MAX; i++)
		y[i] = run(d, mix(1024 * KIB, IO_SEQ, 0), 1, 32, 2 * MIN);
	CHECK_INT(steady_at(y, ROUNDS_MAX), 0);
	CHECK_NEAR(y[15], sqrt(3) * y[0], 1e-3); /* half an hour of it */
	done(d);
}

TEST(write_saturation)
{
	double y[360], fills = 0;
	unsigned n = 0;
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 11, &d));
	for (; n < 360 && fills < 4; n++) {
		y[n] = run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
		fills += (double)cell.r.op[IO_WRITE].bytes / ENT_BYTES;
	}
	CHECK(fills >= 4); /* four capacities before six hours */
	CHECK(y[0] > 2.3 * y[n - 1]);
	CHECK_NEAR(y[n - 1], y[n - 5], 0.05);
	for (unsigned i = 0; i + 10 < n; i++)
		CHECK(y[i + 10] < 1.03 * y[i]);
	done(d);
}

static double wait_state(struct dut *d, unsigned wait_s)
{
	double sum = 0;

	for (unsigned i = 0; i < 360; i++) {
		sum += run(d, mix(4096, IO_RND, 0), 4, 32, 5 * SEC);
		idle(d, wait_s * SEC);
	}
	return sum / 360;
}

TEST(host_idle_recovery)
{
	static const unsigned wait_s[] = { 5, 10, 15, 25, 50 };
	double steady, was, y;
	uint64_t from;
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 11, &d));
	for (unsigned i = 0; i < 300; i++)
		steady = run(d, mix(4096, IO_RND, 0), 4, 32, MIN);
	was = 1.1 * steady;
	from = d->ops->now(d);
	for (unsigned k = 0; k < 5; k++) {
		y = wait_state(d, wait_s[k]);
		CHECK_MSG(y > was, "wait %u s: %.0f after %.0f", wait_s[k], y, was);
		was = y;
		for (unsigned i = 0; i < 360; i++)
			y = run(d, mix(4096, IO_RND, 0), 4, 32, 5 * SEC);
		CHECK_NEAR(y, steady, 0.05); /* back to the baseline */
	}
	CHECK_INT(d->ops->now(d) - from, 930 * MIN);
	done(d);
}

TEST(cross_stimulus_recovery)
{
	double mb[1320], mean = 0;
	unsigned recovered = 0;
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 11, &d));
	for (unsigned i = 0; i < 1320; i++) {
		if (i < 480 || i >= 840)
			run(d, mix(1024 * KIB, IO_SEQ, 0), 1, 32, MIN);
		else
			run(d, mix(8 * KIB, IO_RND, 0), 1, 32, MIN);
		mb[i] = cell.mb_s;
		mean += i < 480 ? mb[i] / 480 : 0;
		if (i >= 840 && !recovered && mb[i] >= mean)
			recovered = i - 840;
	}
	CHECK(mb[480] > 2 * mb[839]); /* random writes on an orderly drive start fast */
	CHECK(mb[840] < 0.4 * mean); /* sequential ones on a fragmented drive slowly */
	CHECK(mb[850] > 1.2 * mb[840] && mb[850] < 0.7 * mean);
	CHECK_MSG(recovered > 15 && recovered < 120, "recovered after %u min", recovered);
	CHECK_INT(d->ops->now(d), 22 * HOUR);
	done(d);
}

TEST(demand_intensity)
{
	static const unsigned n[] = { 32, 16, 8, 6, 4, 2, 1 };
	double iops[7][7], art[7][7];
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 11, &d));
	for (unsigned i = 0; i < 240; i++)
		run(d, mix(8 * KIB, IO_RND, 0), 32, 32, MIN);
	for (unsigned t = 0; t < 7; t++)
		for (unsigned q = 0; q < 7; q++) {
			iops[t][q] = run(d, mix(8 * KIB, IO_RND, 65), n[t], n[q], MIN);
			art[t][q] = cell.art_ns;
		}
	CHECK_NEAR(iops[0][0], iops[2][0], 0.03); /* flat where saturated */
	CHECK_NEAR(art[0][0], 4 * art[2][0], 0.03);
	CHECK(art[0][0] > 5e6 && art[2][0] < 5e6); /* the 5 ms rule decides something */
	CHECK(iops[6][6] < iops[6][0] / 6);
	CHECK_NEAR(iops[6][6], 1e9 / art[6][6], 1e-3);
	for (unsigned t = 0; t < 7; t++)
		for (unsigned q = 1; q < 7; q++)
			CHECK(iops[t][q] < 1.03 * iops[t][q - 1]);
	done(d);
}

/* ---- the other profiles ---- */

TEST(slc_cache_cliff)
{
	double fast, slow, cache = 0;
	struct dut *d;

	CHECK(!open_sim("client-slc", 0, 11, &d));
	run(d, mix(128 * KIB, IO_SEQ, 0), 1, 32, SEC);
	fast = cell.mb_s;
	CHECK(fast > 4000);
	for (cache = 0; cell.mb_s > 0.9 * fast; cache += cell.mb_s / 1e3)
		run(d, mix(128 * KIB, IO_SEQ, 0), 1, 32, SEC);
	CHECK(cache > 50 && cache < 120); /* GB: 1 + 10 % of 1 TB, less what the drive filled */
	run(d, mix(128 * KIB, IO_SEQ, 0), 1, 32, MIN);
	slow = cell.mb_s;
	CHECK(slow < fast / 4);
	CHECK_INT(idle(d, HOUR), 0); /* drains */
	run(d, mix(128 * KIB, IO_SEQ, 0), 1, 32, SEC);
	CHECK_NEAR(cell.mb_s, fast, 0.06);
	done(d);
}

TEST(persistent_memory_is_flat)
{
	double first;
	struct dut *d;

	CHECK(!open_sim("pm", 0, 11, &d));
	first = run(d, mix(4096, IO_RND, 0), 1, 1, MIN);
	CHECK(cell.art_ns < 5000);
	CHECK(p99999(&cell.op[IO_WRITE]) < 20 * cell.art_ns);
	for (unsigned i = 0; i < 24; i++)
		CHECK_NEAR(run(d, mix(4096, IO_RND, 0), 4, 32, HOUR), 3.5e6, 0.01);
	CHECK_NEAR(run(d, mix(4096, IO_RND, 0), 1, 1, MIN), first, 0.01);
	CHECK_NEAR(run(d, mix(4096, IO_RND, 100), 1, 1, MIN), first, 0.2);
	done(d);
}

TEST(heat_and_throttling)
{
	struct health h;
	struct err err = { "" };
	double full, least = 1e9;
	unsigned throttled = 0, critical = 0;
	struct dut *d;

	CHECK(!open_ini(&d,
			QUIET "[thermal]\nthrottle_c = 55\nthrottle_x = 0.5\ncritical_c = 55\n"));
	full = run(d, mix(4096, IO_RND, 100), 4, 32, 10 * SEC);
	for (unsigned i = 0; i < 60; i++) {
		least = fmin(least, run(d, mix(4096, IO_RND, 100), 32, 32, 10 * SEC));
		CHECK(!d->ops->health(d, &h, &err));
		CHECK_NEAR(h.temperature_c, cell.r.temperature_c, 1e-9);
		CHECK(i < 30 || (h.temperature_c > 51 && h.temperature_c < 56));
		throttled += h.throttled;
		critical += h.critical && strstr(h.text, "critical");
	}
	CHECK_NEAR(least, 850000 / 2, 0.01);
	CHECK(throttled > 5 && throttled < 55); /* hot, cooler by throttling, hot again */
	CHECK(critical > 0 && critical < throttled);
	CHECK_INT(idle(d, HOUR), 0);
	CHECK(!d->ops->health(d, &h, &err));
	CHECK(!h.critical && h.temperature_c < 37);
	CHECK_NEAR(run(d, mix(4096, IO_RND, 100), 4, 32, 10 * SEC), full, 1e-6);
	CHECK(cell.r.cpu_sys_pct > 5 && cell.r.cpu_total_pct >= cell.r.cpu_sys_pct);
	done(d);
}

TEST_MAIN
