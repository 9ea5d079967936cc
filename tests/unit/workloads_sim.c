/* SPDX-License-Identifier: MIT */
/* The simulated drive as a DUT: what it promises to whoever runs jobs on it. */
#include "tests/unit/workloads_sim_rig.h"

#include <errno.h>
#include <pthread.h>

/* ---- sums ---- */

static void check_series(const struct cell *c)
{
	const struct result *r = &c->r;
	uint64_t ios = 0, bytes = 0, max = 0, last = 0;
	unsigned __int128 sum = 0;

	for (unsigned i = 0; i < r->n_seconds; i++) {
		const struct second *s = &r->second[i];

		CHECK(s->ios > 0);
		CHECK(i == 0 || s->index > last);
		CHECK(s->sum_ns <= (unsigned __int128)s->max_ns * s->ios);
		ios += s->ios;
		bytes += s->bytes;
		sum += s->sum_ns;
		max = s->max_ns > max ? s->max_ns : max;
		last = s->index;
	}
	CHECK_INT(ios, r->op[0].ios + r->op[1].ios);
	CHECK_INT(bytes, r->op[0].bytes + r->op[1].bytes);
	CHECK(sum == c->op[0].sum + c->op[1].sum);
	CHECK_INT(max, c->op[0].max > c->op[1].max ? c->op[0].max : c->op[1].max);
}

static void check_hist(const struct hist *h, uint64_t ios)
{
	uint64_t n = 0;
	unsigned first = HIST_BUCKETS, last = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		n += h->count[i];
		if (h->count[i] && first == HIST_BUCKETS)
			first = i;
		if (h->count[i])
			last = i;
	}
	CHECK_INT(h->n, ios);
	CHECK_INT(n, ios);
	if (!ios)
		return;
	CHECK_INT(hist_index(h->min), first);
	CHECK_INT(hist_index(h->max), last);
	CHECK(h->sum >= (unsigned __int128)h->min * ios);
	CHECK(h->sum <= (unsigned __int128)h->max * ios);
}

static void check_sums(const struct access *a, double oio)
{
	const struct result *r = &cell.r;
	uint64_t ios[IO_OPS] = { 0 }, bytes[IO_OPS] = { 0 };
	unsigned __int128 sum[IO_OPS] = { 0 };

	for (unsigned i = 0; i < a->n_streams; i++) {
		unsigned op = a->stream[i].op;

		ios[op] += r->stream[i].ios;
		bytes[op] += r->stream[i].bytes;
		sum[op] += r->stream[i].sum_ns;
		CHECK(r->stream[i].max_ns <= cell.op[op].max);
	}
	for (unsigned op = 0; op < IO_OPS; op++) {
		CHECK_INT(ios[op], r->op[op].ios);
		CHECK_INT(bytes[op], r->op[op].bytes);
		CHECK(sum[op] == cell.op[op].sum);
		CHECK((r->op[op].service != NULL) == (ios[op] > 0));
		DO(check_hist(&cell.op[op], ios[op]));
	}
	CHECK_INT(r->prepared, ios[0] + ios[1]);
	CHECK_INT(r->errors + r->short_ios + r->clock_back, 0);
	CHECK_STR(r->note, "");
	/* Little's law: what was in flight is the latencies' sum over the time */
	CHECK_NEAR(cell.iops * cell.art_ns / 1e9, r->inflight_avg, 1e-9);
	CHECK(oio <= 0 || fabs(r->inflight_avg / oio - 1) < 2e-3);
	DO(check_series(&cell));
}

static struct access composite(void)
{
	static const uint32_t size[] = { 512,  1024, 1536, 2048,  2560,	 3072,
					 3584, 4096, 8192, 16384, 32768, 65536 };
	static const double pct[] = { 4, 1, 1, 1, 1, 1, 1, 67, 10, 7, 3, 3 };
	struct access a = { .regions = 1, .n_zones = 3 };

	for (unsigned i = 0; i < 24; i++)
		a.stream[a.n_streams++] = (struct stream){ .share = pct[i / 2] * (i % 2 ? 60 : 40),
							   .bytes = size[i / 2],
							   .op = i % 2 ? IO_WRITE : IO_READ,
							   .order = IO_RND,
							   .cursor = CURSOR_NONE };
	a.zone[0] = (struct zone){ 0, 0.05, 0.5 };
	a.zone[1] = (struct zone){ 0.05, 0.2, 0.3 };
	a.zone[2] = (struct zone){ 0.2, 1, 0.2 };
	return a;
}

TEST(sums_of_every_kind_of_cell)
{
	static const char *const profile[] = { "ent-nvme", "client-slc", "pm" };
	struct access a[] = { mix(4096, IO_RND, 0), mix(512, IO_RND, 65), mix(1 << 20, IO_SEQ, 90),
			      composite() };
	struct dut *d;

	for (unsigned p = 0; p < 3; p++) {
		CHECK(!open_sim(profile[p], 0, 3, &d));
		for (unsigned i = 0; i < 4; i++) {
			CHECK(run(d, a[i], 4, 32, MIN) > 0);
			DO(check_sums(&a[i], 128));
			CHECK(run(d, a[i], 1, 1, 5 * SEC) > 0);
			DO(check_sums(&a[i], 1));
			CHECK(run(d, a[i], 32, 32, 30 * MIN) > 0);
			DO(check_sums(&a[i], 1024));
			CHECK_INT(cell.r.threads_seen, 32);
			CHECK_INT(cell.r.inflight_max, 1024);
			CHECK_INT(cell.r.n_seconds, 1800);
		}
		done(d);
	}
}

TEST(few_ios)
{
	struct access a = mix(4096, IO_RND, 50);
	struct segment g = { .acc = &a, .threads = 4, .qd = 8 };
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	for (uint64_t n = 1; n < 40; n++) {
		g.stop.ios = n;
		CHECK_INT(run_seg(d, &g, 0), 0);
		CHECK_INT(cell.r.prepared, n);
		CHECK(cell.r.elapsed_ns > 0);
		DO(check_sums(&a, 0));
		CHECK_INT(cell.r.threads_seen, n < 4 ? n : 4);
		CHECK_INT(cell.r.inflight_max, n < 32 ? n : 32);
	}
	g.stop.ios = 0;
	g.stop.bytes = 4000; /* no room for one */
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK_INT(cell.r.prepared, 0);
	CHECK_INT(cell.r.n_seconds, 0);
	CHECK(!cell.r.op[0].service && !cell.r.op[1].service);
	done(d);
}

/* ---- configured numbers come back ---- */

#define FLAT_BUSY(dir) \
	"[" dir ".busy]\nmin_x = 1\np50_x = 1\np90_x = 1\np99_x = 1\np999_x = 1\np9999_x = " \
	"1\np99999_x = 1\nmax_x = 1\n"
#define LATENCY \
	"min_us = 50\np50_us = 83.25\np90_us = 120\np99_us = 201.7\np999_us = 555\np9999_us = " \
	"1234\n" \
	"p99999_us = 5432.1\nmax_us = 20000\n"

static void check_percentiles(const struct hist *h)
{
	static const uint32_t ppm[] = { P50, 900000, P99, P999, P9999, P99999 };
	static const double us[] = { 83.25, 120, 201.7, 555, 1234, 5432.1 };
	uint64_t ns;

	for (unsigned i = 0; i < 6; i++) {
		CHECK(hist_percentile(h, ppm[i], &ns));
		CHECK_NEAR((double)ns, us[i] * 1e3, 0.004);
	}
	CHECK(h->min >= 50000 && h->max <= 20000000);
}

TEST(configured_percentiles_come_back)
{
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "[read]\n" LATENCY FLAT_BUSY(
				    "read") "[write]\n" LATENCY FLAT_BUSY("write")));
	for (unsigned i = 0; i < 2; i++) {
		CHECK(run(d, mix(4096, IO_RND, i ? 0 : 100), 1, 1, HOUR) > 0);
		DO(check_percentiles(&cell.op[i]));
		CHECK_NEAR(cell.iops * cell.art_ns, 1e9, 1e-6); /* one at a time */
	}
	/* just enough for five nines */
	struct access a = mix(4096, IO_RND, 100);
	struct segment g = { .acc = &a, .threads = 1, .qd = 1, .stop.ios = 100000 };

	CHECK_INT(run_seg(d, &g, 0), 0);
	DO(check_percentiles(&cell.op[IO_READ]));
	done(d);
}

TEST(configured_ceilings_come_back)
{
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	CHECK(run(d, mix(4096, IO_RND, 100), 32, 32, MIN) > 0);
	CHECK_INT(cell.r.op[IO_READ].ios, 850000 * 60);
	CHECK(run(d, mix(4096, IO_RND, 0), 32, 32, MIN) > 0); /* fresh */
	CHECK_INT(cell.r.op[IO_WRITE].ios, 520000 * 60);
	CHECK(run(d, mix(1 << 20, IO_RND, 100), 32, 32, MIN) > 0);
	CHECK_NEAR(cell.mb_s, 6800, 1e-5);
	CHECK(run(d, mix(1 << 20, IO_SEQ, 0), 1, 32, MIN) > 0);
	CHECK_NEAR(cell.mb_s, 2700, 1e-5);
	done(d);
}

TEST(steady_write_iops_follow_from_write_amplification)
{
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "[gc]\nwa_steady = 4\nnand_mb_s = 2048\n"));
	CHECK_INT(fill(d, 131072, 0, 2 * ENT_BYTES), 0);
	for (unsigned i = 0; i < 12; i++)
		CHECK(run(d, mix(4096, IO_RND, 0), 4, 32, HOUR) > 0);
	CHECK_NEAR(cell.iops, 2048e6 / 4 / 4096, 1e-4);
	done(d);
}

/* ---- bounds ---- */

TEST(bounds_are_exact)
{
	struct access a = mix(4096, IO_RND, 65), odd = composite();
	struct segment g = { .acc = &a, .threads = 4, .qd = 32, .stop.time_ns = 1234567891 };
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK_INT(cell.r.elapsed_ns, 1234567891);
	CHECK_INT(d->ops->now(d), 1234567891);
	g.stop.time_ns = 0;
	g.stop.ios = 1000003;
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK_INT(cell.r.prepared, 1000003);
	g.stop.bytes = 4096 * 1000 + 17; /* sooner than the IOs */
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK_INT(cell.r.prepared, 1000);
	g.acc = &odd;
	g.stop = (struct bound){ .bytes = 123456789 };
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK(cell.r.op[0].bytes + cell.r.op[1].bytes <= 123456789);
	CHECK(cell.r.op[0].bytes + cell.r.op[1].bytes > 123456789 - 65536);
	g.stop.time_ns = SEC / 1000; /* sooner than the bytes */
	CHECK_INT(run_seg(d, &g, 0), 0);
	CHECK_INT(cell.r.elapsed_ns, SEC / 1000);
	done(d);
}

TEST(fill_covers_every_byte)
{
	uint64_t range = 1000 * 131072 + 512; /* the last IO of a pass has one block */
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	CHECK_INT(fill(d, 131072, range, 2 * range), 0);
	CHECK_INT(cell.r.op[IO_WRITE].bytes, 2 * range);
	CHECK_INT(cell.r.op[IO_WRITE].ios, 2002);
	CHECK_INT(cursors[IO_WRITE], 0);
	CHECK_INT(fill(d, 131072, range, range / 2 - 256), 0); /* ends inside an IO */
	CHECK_INT(cell.r.op[IO_WRITE].bytes, range / 2 - 256);
	done(d);
}

TEST(thirty_terabytes)
{
	uint64_t size = 30ull << 40;
	struct access a = mix(131072, IO_SEQ, 0);
	struct dut *d;

	CHECK(!open_sim("ent-nvme", size, 3, &d));
	CHECK_INT(d->info.capacity_bytes, size);
	CHECK_INT(fill(d, 131072, 0, 2 * size), 0);
	CHECK_INT(cell.r.op[IO_WRITE].bytes, 2 * size);
	CHECK_INT(cell.r.op[IO_WRITE].ios, 2 * size / 131072);
	CHECK_NEAR((double)cell.r.elapsed_ns / 1e9, (double)(2 * size) / 2700e6, 0.01);
	CHECK_INT(cell.r.n_seconds, (cell.r.elapsed_ns + SEC - 1) / SEC);
	DO(check_sums(&a, 32));
	for (unsigned i = 0; i < 12; i++) /* days */
		CHECK(run(d, mix(4096, IO_RND, 0), 32, 32, 24 * HOUR) > 0);
	CHECK(cell.iops > 110000 && cell.iops < 130000);
	CHECK(d->ops->now(d) > 12 * 24 * HOUR);
	CHECK_INT(cell.r.n_seconds, 86400);
	done(d);
}

TEST(series_of_days)
{
	struct access a = mix(4096, IO_RND, 50);
	struct dut *d;

	CHECK(!open_sim("pm", 0, 3, &d));
	for (unsigned days = 1; days < 5; days++) {
		unsigned each = days == 1 ? 1 : days < 4 ? 2 : 4; /* 2^17 rows at most */

		CHECK(run(d, a, 1, 1, days * 24 * HOUR) > 0);
		DO(check_sums(&a, 1));
		CHECK_INT(cell.r.n_seconds, days * 86400 / each);
		CHECK_INT(cell.r.second[0].index, 0);
		CHECK_INT(cell.r.second[1].index, each);
		CHECK_INT(cell.r.second[cell.r.n_seconds - 1].index, days * 86400 - each);
	}
	done(d);
}

/* ---- the same again ---- */

#define N_DIGEST 30
struct digest {
	uint64_t v[N_DIGEST * 4];
};

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	for (const unsigned char *b = p; n; n--, b++)
		h = (h ^ *b) * 0x100000001b3ull;
	return h;
}

static void play(struct dut *d, struct digest *ret)
{
	struct access a[] = { mix(4096, IO_RND, 0), mix(65536, IO_RND, 65),
			      mix(131072, IO_SEQ, 0) };

	for (unsigned i = 0; i < N_DIGEST; i++) {
		uint64_t *v = ret->v + (size_t)i * 4;

		if (i % 7 == 6)
			idle(d, 5 * SEC);
		run(d, a[i % 3], 4, 8, (1 + i % 4) * 10 * MIN);
		v[0] = cell.r.op[0].ios + cell.r.op[1].ios;
		v[1] = hash(hash(0, cell.op, sizeof cell.op), cell.second,
			    cell.r.n_seconds * sizeof cell.second[0]);
		v[2] = hash(0, &cell.r.inflight_avg, sizeof(double));
		v[3] = hash(hash(0, &cell.r.temperature_c, sizeof(double)), &cell.r.cpu_sys_pct,
			    sizeof(double));
	}
}

TEST(same_seed_same_numbers_and_a_purge_starts_anew)
{
	struct digest one, two, purged, other;
	struct dut *d;

	CHECK(!open_sim("client-slc", 0, 3, &d));
	play(d, &one);
	done(d);
	CHECK(!open_sim("client-slc", 0, 3, &d));
	play(d, &two);
	uint64_t before = d->ops->now(d);

	CHECK_INT(purge(d), 0);
	CHECK(d->ops->now(d) > before);
	play(d, &purged);
	done(d);
	CHECK(!open_sim("client-slc", 0, 4, &d));
	play(d, &other);
	done(d);
	CHECK(!memcmp(&one, &two, sizeof one));
	CHECK(!memcmp(&one, &purged, sizeof one));
	for (unsigned i = 0; i < N_DIGEST; i++)
		CHECK(one.v[i * 4] != other.v[i * 4]);
}

/* ---- jobs ---- */

TEST(sealed_may_stop_and_clock_is_continuous)
{
	struct access a = mix(4096, IO_RND, 100);
	struct segment g[4] = { { .acc = &a, .threads = 1, .qd = 4, .stop.time_ns = SEC },
				{ .stop.time_ns = 7 * SEC },
				{ .acc = &a, .oio = 5, .threads = 3, .qd = 2, .stop.time_ns = SEC },
				{ .acc = &a, .threads = 1, .qd = 1, .stop.time_ns = SEC } };
	struct job j = { .seg = g, .n = 4, .range.bytes = 1 << 30, .sealed = keep, .arg = &cell };
	struct err err = { "" };
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	CHECK_INT(d->ops->now(d), 0);
	cell.stop_after = 2;
	CHECK_INT(d->ops->run(d, &j, &err), 0);
	CHECK_INT(cell.sealed, 2);
	CHECK_INT(cell.r.start_ns, SEC);
	CHECK_INT(cell.r.elapsed_ns, 7 * SEC);
	CHECK_INT(cell.r.prepared, 0);
	CHECK_INT(d->ops->now(d), 8 * SEC);
	cell.stop_after = 5;
	CHECK_INT(d->ops->run(d, &j, &err), 0);
	CHECK_INT(cell.sealed, 5);
	CHECK_NEAR(cell.r.inflight_avg, 5, 2e-3); /* oio, not 3 * 2 */
	CHECK_INT(cell.r.start_ns, 16 * SEC);
	done(d);
}

static volatile int stop_now;

static void *stopper(void *arg)
{
	volatile unsigned *sealed = arg;

	while (*sealed < 3)
		usleep(100);
	stop_now = 1;
	return NULL;
}

TEST(stop_flag)
{
	enum { N = 100000 };
	struct access a = mix(4096, IO_RND, 100);
	struct segment *g = calloc(N, sizeof *g);
	struct job j = { .seg = g, .n = N, .range.bytes = 1 << 30, .sealed = keep, .arg = &cell };
	struct err err = { "" };
	pthread_t t;
	struct dut *d;

	for (unsigned i = 0; i < N; i++)
		g[i] = (struct segment){ .acc = &a, .threads = 1, .qd = 4, .stop.time_ns = MIN };
	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	j.stop = &stop_now;
	stop_now = 1;
	CHECK_INT(d->ops->run(d, &j, &err), -EINTR);
	CHECK_INT(cell.sealed, 0);
	stop_now = 0;
	CHECK(!pthread_create(&t, NULL, stopper, &cell.sealed));
	CHECK_INT(d->ops->run(d, &j, &err), -EINTR);
	pthread_join(t, NULL);
	CHECK(cell.sealed >= 3 && cell.sealed < N);
	CHECK(cell.r.partial ? cell.r.elapsed_ns < MIN : cell.r.elapsed_ns == MIN);
	DO(check_sums(&a, 0));
	stop_now = 0;
	done(d);
	free(g);
}

TEST(impossible_segments)
{
	struct access a = mix(4096, IO_RND, 100);
	struct segment g = { .acc = &a, .threads = 1, .qd = 1 };
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	CHECK_INT(run_seg(d, &g, 0), -EINVAL); /* would never end */
	g.stop.ios = 1;
	g.qd = 0;
	CHECK_INT(run_seg(d, &g, 0), -EINVAL);
	g.qd = 1;
	a.stream[0].share = 0;
	CHECK_INT(run_seg(d, &g, 0), -EINVAL);
	g.acc = NULL;
	CHECK_INT(run_seg(d, &g, 0), -EINVAL); /* idle by IO count */
	g.acc = &a;
	a.stream[0].share = 1;
	a.stream[0].bytes = 1000; /* no multiple of the LBA */
	CHECK_INT(run_seg(d, &g, 0), -EINVAL);
	a.stream[0].bytes = 8192;
	CHECK_INT(run_seg(d, &g, 4096), -EINVAL); /* does not fit */
	CHECK_INT(run_seg(d, &g, d->info.capacity_bytes + 512), -EINVAL);
	CHECK_INT(cell.sealed, 0);
	done(d);
}

TEST(cursors_move_on)
{
	struct access a = mix(65536, IO_SEQ, 0);
	struct segment g = { .acc = &a, .threads = 4, .qd = 1, .stop.ios = 10 };
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	a.regions = 3;
	CHECK_INT(run_seg(d, &g, 3 * 65536 * 7), 0); /* regions of 7 IOs */
	CHECK_INT(cursors[IO_WRITE], 3 * 65536);
	CHECK_INT(run_seg(d, &g, 3 * 65536 * 7), 0);
	CHECK_INT(cursors[IO_WRITE], 6 * 65536);
	CHECK_INT(cursors[IO_READ], 0);
	a.regions = 1;
	CHECK_INT(run_seg(d, &g, 1 << 20), 0); /* 6 + 10 of 16 */
	CHECK_INT(cursors[IO_WRITE], 0);
	done(d);
}

/* ---- open loop ---- */

static double run_rate(struct dut *d, double rate, uint64_t time_ns)
{
	struct access a = mix(4096, IO_RND, 100);
	struct segment g = { .acc = &a, .threads = 32, .qd = 32, .rate_iops = rate };

	g.stop.time_ns = time_ns;
	return run_seg(d, &g, 0) ? NAN : cell.iops;
}

TEST(open_loop_below_the_ceiling)
{
	double was = 0;
	struct access a = mix(4096, IO_RND, 100);
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	for (unsigned pct = 10; pct < 100; pct += 10) {
		double rate = 8500.0 * pct;

		CHECK_NEAR(run_rate(d, rate, MIN), rate, 1e-6);
		DO(check_sums(&a, 0));
		DO(check_hist(&cell.response[IO_READ], cell.r.prepared));
		CHECK(cell.art_ns > was); /* more load, longer queue */
		CHECK(hist_mean(&cell.response[IO_READ]) >= cell.art_ns);
		CHECK(hist_mean(&cell.response[IO_READ]) < 2 * cell.art_ns);
		CHECK(cell.r.inflight_avg < 1024);
		was = cell.art_ns;
	}
	done(d);
}

TEST(open_loop_above_the_ceiling)
{
	struct access a = mix(4096, IO_RND, 100);
	double late = 60 * (1 - 850.0 / 1000); /* seconds behind after a minute */
	uint64_t median;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET));
	CHECK_NEAR(run_rate(d, 1e6, MIN), 850000, 1e-6);
	DO(check_sums(&a, 1024));
	DO(check_hist(&cell.response[IO_READ], cell.r.prepared));
	CHECK_NEAR(cell.art_ns, 1024e9 / 850000, 1e-3); /* service knows nothing of it */
	CHECK_NEAR(cell.r.late_max_ns, late * 1e9, 1e-3);
	CHECK_NEAR((double)cell.response[IO_READ].max, late * 1e9, 0.005);
	CHECK(hist_percentile(&cell.response[IO_READ], P50, &median));
	CHECK_NEAR((double)median, late * 1e9 / 2, 0.005);
	CHECK_NEAR(run_rate(d, 1e6, 2 * MIN), 850000, 1e-6);
	CHECK_NEAR(cell.r.late_max_ns, 2 * late * 1e9, 1e-3);
	done(d);
}

/* ---- identity, purge, cache ---- */

TEST(facts)
{
	struct dut_name n = { .kind = DUT_SIM, .path = "ent-nvme", .size_bytes = 100000000001 };
	struct dut_options opt = { .seed = 77 };
	struct err err = { "" };
	struct health h;
	struct dut *d;

	CHECK_INT(dut_sim_open(&n, "sim:ent-nvme?size=x", &opt, &d, &err), 0);
	CHECK_INT(d->info.kind, DUT_SIM);
	CHECK(!strcmp(d->info.name, "sim:ent-nvme?size=x"));
	CHECK_STR(d->info.vendor, "SIMULATED");
	CHECK_STR(d->info.serial, "SIM77");
	CHECK_INT(d->info.capacity_bytes, 100000000001 / 512 * 512);
	CHECK_INT(d->info.lba_bytes, 512);
	CHECK(d->info.simulated && d->info.formal);
	CHECK_NEAR(d->info.rated_tbw_bytes, 3500e12 * 1e11 / ENT_BYTES, 1e-6);
	CHECK(!d->ops->health(d, &h, &err));
	CHECK(h.have_temperature && !h.critical);
	CHECK_NEAR(h.temperature_c, 36, 1e-9);
	done(d);
	opt.dump_latencies = "file";
	CHECK_INT(dut_sim_open(&n, "sim:x", &opt, &d, &err), -EOPNOTSUPP);
	opt.dump_latencies = NULL;
	n.size_bytes = 4096;
	err.msg[0] = '\0';
	CHECK_INT(dut_sim_open(&n, "sim:x", &opt, &d, &err), -EINVAL);
	CHECK(!open_ini(&d, "[drive]\nlike = pm\nlba = 4096\ncapacity = 1000001k\n"));
	CHECK_INT(d->info.lba_bytes, 4096);
	CHECK_INT(d->info.capacity_bytes, 1000000 * 1024);
	done(d);
}

TEST(purge_methods)
{
	struct purge_report p;
	struct err err = { "" };
	bool was;
	struct dut *d;

	CHECK(!open_sim("ent-nvme", 0, 3, &d));
	CHECK_INT(d->info.purge_auto, PURGE_SIM);
	CHECK_INT(d->ops->purge(d, PURGE_AUTO, &p, &err), 0);
	CHECK_INT(p.method, PURGE_SIM);
	CHECK(p.verified && p.survivors == 0);
	CHECK_INT(p.elapsed_ns, 12 * SEC);
	CHECK_INT(d->ops->now(d), 12 * SEC);
	CHECK_INT(d->ops->purge(d, PURGE_NVME_FORMAT, &p, &err), 0);
	CHECK_INT(p.method, PURGE_NVME_FORMAT);
	CHECK_INT(p.started_ns, 12 * SEC);
	CHECK_INT(d->ops->purge(d, PURGE_BLKDISCARD, &p, &err), -EOPNOTSUPP);
	CHECK(strstr(err.msg, "sim or nvme-format"));
	CHECK_INT(d->ops->purge(d, PURGE_NONE, &p, &err), -EOPNOTSUPP);
	CHECK_INT(d->ops->write_cache(d, false, &was, &err), -EOPNOTSUPP); /* protected buffer */
	done(d);
}

TEST(write_cache_switch)
{
	struct err err = { "" };
	double on, off;
	bool was;
	struct dut *d;

	CHECK(!open_sim("client-slc", 0, 3, &d));
	CHECK(d->info.has_write_cache);
	on = run(d, mix(4096, IO_RND, 0), 1, 1, SEC);
	CHECK_INT(d->ops->write_cache(d, false, &was, &err), 0);
	CHECK(was);
	off = run(d, mix(4096, IO_RND, 0), 1, 1, SEC);
	CHECK(off < on / 10);
	CHECK_INT(purge(d), 0); /* a setting, not data: stays */
	CHECK_INT(d->ops->write_cache(d, true, &was, &err), 0);
	CHECK(!was);
	CHECK(run(d, mix(4096, IO_RND, 0), 1, 1, SEC) > on * 0.9);
	done(d);
}

/* ---- ini files ---- */

static void check_refused(const char *text, const char *say)
{
	struct dut *d;

	CHECK_MSG(open_ini(&d, "%s", text) == -EINVAL, "taken: %s", text);
	CHECK_MSG(strstr(ini_err.msg, say), "'%.300s' does not say '%.100s'", ini_err.msg, say);
}

TEST(ini_mistakes)
{
#define LIKE "[drive]\nlike = pm\n"
	DO(check_refused(LIKE "[read]\nipos = 3\n",
			 ".ini:4: unknown key 'ipos' (did you mean 'iops'?)"));
	DO(check_refused(LIKE "[raed]\niops = 3\n",
			 ".ini:4: unknown section 'raed' (did you mean 'read'?)"));
	DO(check_refused(LIKE "lke = pm\n", "did you mean 'like'"));
	DO(check_refused(LIKE "[read]\niops = many\n", ".ini:4: iops = many is not a number"));
	DO(check_refused(LIKE "[read]\niops = 0\n", "out of range (1 to 1000000000)"));
	DO(check_refused(LIKE "[read]\niops = 5\niops = 6\n", ".ini:5: iops was given in line 4"));
	DO(check_refused(LIKE "capacity = big\n", "is not a size"));
	DO(check_refused(LIKE "[cache]\nvolatile = maybe\n", "is not yes or no"));
	DO(check_refused(LIKE "lba = 1024\n", "lba is 512 or 4096"));
	DO(check_refused(LIKE "[read]\np99_us = 1\n", "[read] does not rise"));
	DO(check_refused(LIKE "[write.busy]\nmax_x = 0.1\n", "[write.busy] does not rise"));
	DO(check_refused(LIKE "[gc]\nwa_steady = 0.5\n", "wa_steady is 0"));
	DO(check_refused(LIKE "[thermal]\nfull_c = 1\n", "full_c is below idle_c"));
	DO(check_refused("[read]\niops = 5\n[drive]\nlike = pm\n",
			 ".ini:4: like = pm must be the first"));
	DO(check_refused("[read]\niops = 5\n", "[drive] model is missing"));
}

TEST(profiles_that_are_not_there)
{
	struct dut_name n = { .kind = DUT_SIM, .path = "ent-nvm" };
	struct err err = { "" };
	struct dut *d;

	CHECK_INT(dut_sim_open(&n, "sim:ent-nvm", NULL, &d, &err), -ENOENT);
	CHECK(strstr(err.msg, "did you mean 'ent-nvme'"));
	CHECK(strstr(err.msg, "client-slc, ent-nvme, pm"));
	err.msg[0] = '\0';
	snprintf(n.path, sizeof n.path, "/nowhere/x.ini");
	CHECK_INT(dut_sim_open(&n, "sim:/nowhere/x.ini", NULL, &d, &err), -ENOENT);
	CHECK(strstr(err.msg, "/nowhere/x.ini: "));
	err.msg[0] = '\0';
	snprintf(n.path, sizeof n.path, "/tmp/");
	CHECK_INT(dut_sim_open(&n, "sim:/tmp/", NULL, &d, &err), -EISDIR);
	CHECK_INT(open_ini(&d, "[drive]\nlike = nothing\n"), -ENOENT);
	CHECK(strstr(ini_err.msg, ".ini:2: no simulated drive 'nothing'"));
}

TEST_MAIN
