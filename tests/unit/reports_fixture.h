/* SPDX-License-Identifier: MIT */
/* Databases with invented numbers for the tests of reports: written through schema/store.h, as a run would. */
#ifndef TESTS_UNIT_REPORTS_FIXTURE_H
#define TESTS_UNIT_REPORTS_FIXTURE_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/hist.h"
#include "pts/base/rng.h"
#include "pts/base/steady.h"
#include "schema/store.h"
#include "tests/test.h"

struct fix {
	struct store *s;
	int64_t run;
	struct err err;
	struct rng rng;
	char dir[64], db[96];
	struct where at;
	uint64_t clock_ns, written;
	unsigned step, ordinal;
	uint32_t lba;
	uint64_t capacity;
	double lat_seconds; /* of a LAT cell; 0: 60 */
	const char *plan, *params, *write_cache, *note; /* of what comes next; NULL: as usual */
	const char *label; /* of the cells; NULL: none */
};

struct fix_opts {
	const char *model, *serial;
	bool simulated, quick;
	uint32_t lba;
	const char *note, *governor; /* NULL: performance */
	const char *firmware; /* NULL: 1.2.0 */
	const char *transport, *layout; /* facts of the drive; NULL: not recorded */
};

/* A folder of its own under /tmp and an empty database. */
static void fix_open(struct fix *f)
{
	*f = (struct fix){ .lba = 512, .capacity = 3840755982336ull };
	rng_init(&f->rng, 7);
	snprintf(f->dir, sizeof f->dir, "/tmp/pts-reports-XXXXXX");
	CHECK(mkdtemp(f->dir));
	snprintf(f->db, sizeof f->db, "%s/pts.db", f->dir);
	CHECK_MSG(!store_open(f->db, &f->s, &f->err), "%s", f->err.msg);
}

static void fix_close(struct fix *f)
{
	char cmd[6][128];
	const char *files[] = { "pts.db", "pts.db-wal", "pts.db-shm", "pts.db-journal" };

	if (f->s)
		store_close(f->s);
	f->s = NULL;
	if (getenv("KEEP_FIXTURE"))
		return;
	for (unsigned i = 0; i < 4; i++) {
		snprintf(cmd[i], sizeof cmd[i], "%s/%s", f->dir, files[i]);
		unlink(cmd[i]);
	}
	rmdir(f->dir);
}

static void fix_run(struct fix *f, const struct fix_opts *o)
{
	const struct key_value host[] = {
		{ "bios_version", "1.4a" },
		{ "board_name", "X12-FIX" },
		{ "board_vendor", "Boardmaker" },
		{ "cpu_cores", "32" },
		{ "cpu_governor", o->governor ? o->governor : "performance" },
		{ "cpu_model", "Example CPU 2.6 GHz" },
		{ "cpu_threads", "64" },
		{ "dev_link_speed", "16.0 GT/s PCIe" },
		{ "dev_link_speed_max", "16.0 GT/s PCIe" },
		{ "dev_link_width", "4" },
		{ "dev_link_width_max", "4" },
		{ "dev_pci_address", "0000:5e:00.0" },
		{ "dev_scheduler", "none" },
		{ "kernel", "6.1.0-28-amd64" },
		{ "memory_bytes", "274877906944" },
		{ "os", "Debian GNU/Linux 12 (bookworm)" },
		{ "system_product", "Rack 25" },
		{ "system_vendor", "Example" },
		{ o->transport ? "dev_transport"
		  : o->layout  ? "dev_layout"
			       : NULL,
		  o->transport ? o->transport : o->layout },
		{ o->transport && o->layout ? "dev_layout" : NULL, o->layout },
		{ NULL, NULL }
	};
	static const struct key_value info[] = { { "operator", "Example Lab" },
						 { "customer", "Example Corp" },
						 { "ambient", "22.4 - 23.1 C" },
						 { "nand_type", "3D TLC" },
						 { "plp", "yes" },
						 { NULL, NULL } };
	static const struct key_value args[] = { { NULL, NULL } };
	static unsigned count;
	char uuid[40];

	snprintf(uuid, sizeof uuid, "%08x-1111-4222-8333-444455556666", 0xabc00000u + count++);
	f->lba = o->lba ? o->lba : 512;
	f->ordinal = 0;
	struct run_row row = { .uuid = uuid,
			       .dut = o->simulated ? "sim:ent-nvme?size=3840g&seed=7"
						   : "/dev/nvme1n1",
			       .dut_path = "/dev/nvme1n1",
			       .vendor = "NORTHWIND (invented)",
			       .model = o->model ? o->model : "NV7400-3T84",
			       .serial = o->serial ? o->serial : "NW74X0019B",
			       .wwid = "eui.0025385b71b0a1c4",
			       .firmware = o->firmware ? o->firmware : "1.2.0",
			       .interface = "NVMe 1.4, PCIe",
			       .capacity_bytes = f->capacity,
			       .lba_bytes = f->lba,
			       .profile = "enterprise",
			       .quick = o->quick,
			       .simulated = o->simulated,
			       .spec = "SNIA SSS PTS 2.0.2",
			       .definition_set = 1,
			       .software = "pts 0.1.0 (fixture)",
			       .seed = 42,
			       .note = o->note,
			       .host = host,
			       .info = info,
			       .args = args };
	CHECK_MSG(!store_run_begin(f->s, &row, &f->run, &f->err), "%s", f->err.msg);
}

static void fix_test(struct fix *f, const char *name, const char *title, const char *clause)
{
	char definition[64];

	snprintf(definition, sizeof definition, "test %s\nend\n", name);
	struct test_row row = {
		.run = f->run,
		.ordinal = ++f->ordinal,
		.test = name,
		.title = title,
		.clause = clause,
		.definition = definition,
		.plan = f->plan ? f->plan : "PURGE\n",
		.params = f->params ? f->params
				    : "{\"profile\":\"enterprise\",\"range\":\"100%\","
				      "\"threads\":4,\"qd\":32}",
		.formal = true
	};
	CHECK_MSG(!store_test(f->s, &row, &f->err), "%s", f->err.msg);
}

static void fix_attempt(struct fix *f, const char *test)
{
	f->at = (struct where){ .run = f->run, .test = test };
	f->clock_ns = f->written = f->step = 0;
	CHECK_MSG(!store_attempt(f->s, f->run, test, &f->at.attempt, &f->err), "%s", f->err.msg);
}

static void fix_section(struct fix *f, const char *label)
{
	f->at.section++;
	struct section_row row = {
		.at = f->at, .label = label, .purge_method = "nvme-format", .purge_verified = 1
	};
	CHECK_MSG(!store_section(f->s, &row, &f->err), "%s", f->err.msg);
}

struct fix_cell {
	const char *phase, *access;
	int round; /* 0: outside a loop */
	double read_pct, iops, art_ns, seconds;
	uint32_t bs;
	int tc, qd;
	uint64_t mrt_ns;
	const struct hist *hist;
	bool partial;
	uint64_t errors;
	double rate; /* 0: none */
	const struct second_row *second; /* n_seconds of them */
	unsigned n_seconds;
};

static void fix_put(struct fix *f, const struct fix_cell *c)
{
	uint64_t ios = (uint64_t)(c->iops * c->seconds);
	uint64_t reads = (uint64_t)((double)ios * c->read_pct / 100);
	struct cell_hist h = { c->read_pct >= 50 ? "R" : "W", "service", c->hist };
	uint64_t p[5];
	static const uint32_t ppm[] = { P50, P99, P999, P9999, P99999 };

	for (unsigned i = 0; i < 5; i++)
		if (!c->hist || !hist_percentile(c->hist, ppm[i], &p[i]))
			p[i] = UINT64_MAX;
	f->written += (ios - reads) * c->bs;
	struct cell_row row = { .at = f->at,
				.phase = c->phase,
				.round = c->round ? c->round : -1,
				.round_try = c->round ? 0 : -1,
				.step = f->step++,
				.member = -1,
				.label = f->label,
				.access = c->access,
				.threads = c->tc,
				.qd = c->qd,
				.oio = c->tc * c->qd,
				.scale = NAN,
				.read_pct = c->read_pct,
				.block_bytes = c->bs,
				.start_ns = f->clock_ns,
				.elapsed_ns = (uint64_t)(c->seconds * 1e9),
				.read_ios = reads,
				.write_ios = ios - reads,
				.read_bytes = reads * c->bs,
				.write_bytes = (ios - reads) * c->bs,
				.errors = c->errors,
				.art_ns = c->art_ns,
				.mrt_ns = (int64_t)c->mrt_ns,
				.min_ns = (int64_t)(c->art_ns / 2),
				.p50_ns = (int64_t)p[0],
				.p99_ns = (int64_t)p[1],
				.p999_ns = (int64_t)p[2],
				.p9999_ns = (int64_t)p[3],
				.p99999_ns = (int64_t)p[4],
				.sum_ns = c->art_ns * (double)ios,
				.rate_iops = c->rate > 0 ? c->rate : NAN,
				.note = f->note,
				.inflight_avg = c->tc * c->qd,
				.inflight_max = c->tc * c->qd,
				.threads_seen = c->tc,
				.little_pct = 0.1,
				.cpu_sys_pct = 3.5,
				.cpu_total_pct = 6,
				.temperature_c = 42 + f->step % 9,
				.host_bytes_written = f->written,
				.partial = c->partial,
				.second = c->second,
				.n_seconds = c->n_seconds,
				.hist = &h,
				.n_hist = c->hist ? 1 : 0 };
	int64_t id;

	f->clock_ns += row.elapsed_ns;
	CHECK_MSG(!store_cell(f->s, &row, &id, &f->err), "%s", f->err.msg);
}

/* Within +-k of v, from the fixture's own generator. */
static double fix_noise(struct fix *f, double v, double k)
{
	return v * (1 + k * (2 * rng_unit(&f->rng) - 1));
}

/* Closes a round for one variable whose values so far are y[0..round-1]. Returns whether it is steady. */
static bool fix_check(struct fix *f, const char *variable, const double *y, int round,
		      struct round_row *row, struct steady_check *check)
{
	*row = (struct round_row){ .at = f->at,
				   .round = round,
				   .round_try = 0,
				   .variable = variable,
				   .value = y[round - 1] };
	if (round < STEADY_WINDOW)
		return false;
	steady_check(y + round - STEADY_WINDOW, (unsigned)(round - STEADY_WINDOW + 1), check);
	row->check = check;
	return check->steady;
}

static void fix_section_end(struct fix *f, int steady, int rounds, const char *by)
{
	struct section_end_row row = { .at = f->at,
				       .steady = steady,
				       .window_first = rounds >= 5 ? rounds - 4
						       : rounds	   ? 1
								   : -1,
				       .window_last = rounds ? rounds : -1,
				       .rounds = rounds,
				       .ended_by = by };
	CHECK_MSG(!store_section_end(f->s, &row, &f->err), "%s", f->err.msg);
}

static void fix_test_end(struct fix *f, int steady)
{
	struct test_end_row row = { .run = f->run,
				    .test = f->at.test,
				    .attempt = f->at.attempt,
				    .steady = steady,
				    .verdict = steady == 1   ? "steady"
					       : steady == 0 ? "not achieved"
							     : "done",
				    .write_cache = f->write_cache ? f->write_cache : "off" };
	CHECK_MSG(!store_test_end(f->s, &row, &f->err), "%s", f->err.msg);
}

static void fix_end(struct fix *f, const char *state)
{
	CHECK_MSG(!store_run_end(f->s, f->run, state, &f->err), "%s", f->err.msg);
}

static void fix_fill(struct fix *f, uint32_t bs)
{
	struct fix_cell c = { .phase = "wipc",
			      .bs = bs,
			      .tc = 1,
			      .qd = 32,
			      .art_ns = 2e6,
			      .mrt_ns = 9000000,
			      .iops = 4e9 / bs };

	c.access = "seq-128k-w";
	c.seconds = 2.0 * (double)f->capacity / 4e9;
	fix_put(f, &c);
}

/* ---- IOPS ---- */

static double fix_iops_of(double read_pct, uint32_t bs, int round)
{
	double kib = bs / 1024.0, w = kib < 4 ? 24000 : 735000 / kib, r = kib < 4 ? 1024000 : 0;

	if (kib >= 4)
		r = fmin(1041000, 6.75e6 / kib);
	double v = 1 / (read_pct / 100 / r + (1 - read_pct / 100) / w);
	return v * (1 + 0.6 * (1 - read_pct / 100) * exp(-(round - 1) / 1.3));
}

struct fix_iops {
	int rounds; /* rounds made; steady is what the check says of the last */
	bool equal; /* all values of a cell equal in every round */
	bool drifting; /* never steady */
	double seconds;
};

static void fix_iops(struct fix *f, const struct fix_iops *o)
{
	static const double mix[] = { 100, 95, 65, 50, 35, 5, 0 };
	static const uint32_t size[] = { 1048576, 131072, 65536, 32768, 16384, 8192, 4096, 512 };
	static const char *const variable[] = { "iops of rw 0/100 bs 4k", "iops of rw 65/35 bs 64k",
						"iops of rw 100/0 bs 1024k" };
	double y[3][64];
	bool steady = false;

	DO(fix_attempt(f, "iops"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	DO(fix_fill(f, 131072));
	for (int r = 1; r <= o->rounds; r++) {
		struct round_row row[3];
		struct steady_check check[3];
		for (unsigned m = 0; m < 7; m++) {
			for (unsigned i = 0; i < 8; i++) {
				if (size[i] < f->lba)
					continue;
				double v = fix_iops_of(mix[m], size[i], o->equal ? 9 : r);
				v = o->equal ? floor(v) : fix_noise(f, v, 0.008);
				if (o->drifting)
					v *= 1 + 0.3 * (r % 3);
				char access[32];
				snprintf(access, sizeof access, "RND %uK %g/%g", size[i] / 1024,
					 mix[m], 100 - mix[m]);
				struct fix_cell c = { .phase = "round",
						      .access = access,
						      .round = r,
						      .read_pct = mix[m],
						      .iops = v,
						      .art_ns = 128e9 / v,
						      .bs = size[i],
						      .tc = 4,
						      .qd = 32,
						      .mrt_ns = (uint64_t)(1e12 / v),
						      .seconds = o->seconds ? o->seconds : 60 };
				DO(fix_put(f, &c));
				/* the value as v_cell works it out */
				v = (double)(uint64_t)(c.iops * c.seconds) * 1e9 /
				    (double)(uint64_t)(c.seconds * 1e9);
				if (mix[m] == 0 && size[i] == 4096)
					y[0][r - 1] = v;
				if (mix[m] == 65 && size[i] == 65536)
					y[1][r - 1] = v;
				if (mix[m] == 100 && size[i] == 1048576)
					y[2][r - 1] = v;
			}
		}
		steady = true;
		for (unsigned t = 0; t < 3; t++)
			steady &= fix_check(f, variable[t], y[t], r, &row[t], &check[t]);
		CHECK_MSG(!store_round(f->s, row, 3, &f->err), "%s", f->err.msg);
	}
	for (unsigned m = 0; f->lba > 512 && m < 7; m++) {
		char detail[200];
		snprintf(detail, sizeof detail,
			 "{\"test\":\"iops\",\"step\":%u,\"access\":\"rnd\",\"block_bytes\":512,"
			 "\"read_pct\":%g,\"reason\":\"n/a (LBA %u)\"}",
			 m, mix[m], f->lba);
		CHECK(!store_event(f->s, f->run, "cell-na", detail, &f->err));
	}
	DO(fix_section_end(f, o->rounds ? steady : -1, o->rounds, steady ? "steady" : "rounds"));
	DO(fix_test_end(f, o->rounds ? steady : 0));
	CHECK(!store_commit(f->s, &f->err));
}

/* ---- TP: 1024k settles in 7 rounds; 128k does or does not in 25 ---- */

static void fix_tp_section(struct fix *f, const char *label, uint32_t bs, int rounds, bool wild)
{
	double y[64];
	bool steady = false;

	DO(fix_section(f, label));
	DO(fix_fill(f, bs));
	for (int r = 1; r <= rounds; r++) {
		struct round_row row;
		struct steady_check check;
		for (int read = 100; read >= 0; read -= 100) {
			double b = read ? 6.71e9 : 4.1e9 * (1 + 0.06 * exp(-r / 1.5));
			b = fix_noise(f, b, 0.003);
			if (wild && !read)
				b *= r % 6 < 2 ? 0.65 : 1;
			char access[32];
			snprintf(access, sizeof access, "SEQ %uK %d/%d", bs / 1024, read,
				 100 - read);
			struct fix_cell c = { .phase = "round",
					      .access = access,
					      .round = r,
					      .read_pct = read,
					      .iops = b / bs,
					      .bs = bs,
					      .tc = 1,
					      .qd = 32,
					      .art_ns = 32e9 / (b / bs),
					      .mrt_ns = 70000000,
					      .seconds = 60 };
			DO(fix_put(f, &c));
			if (!read) /* as v_cell works it out */
				y[r - 1] = (double)((uint64_t)(c.iops * 60) * bs) / 60;
		}
		steady = fix_check(f, "bytes_per_s of rw 0/100", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	DO(fix_section_end(f, steady, rounds, steady ? "steady" : "rounds"));
}

static void fix_tp(struct fix *f, bool wild)
{
	DO(fix_attempt(f, "tp"));
	CHECK(!store_begin(f->s, &f->err));
	DO(fix_tp_section(f, "1024k", 1048576, 7, false));
	DO(fix_tp_section(f, "128k", 131072, wild ? 25 : 7, wild));
	DO(fix_test_end(f, wild ? 0 : 1));
	CHECK(!store_commit(f->s, &f->err));
}

/* ---- LAT ---- */

/* A body, a knee and a tail, drawn by shape: n IOs around @ns. */
static void fix_hist(struct hist *h, double ns, uint64_t n)
{
	hist_reset(h);
	for (int i = -60; i <= 60; i++) {
		double z = i / 15.0, w = exp(-z * z / 2) / 37.6;
		hist_add_n(h, (uint64_t)(ns * exp(0.16 * z)), (uint64_t)((double)n * 0.984 * w));
		hist_add_n(h, (uint64_t)(4 * ns * exp(0.25 * z)),
			   (uint64_t)((double)n * 0.0155 * w));
		hist_add_n(h, (uint64_t)(30 * ns * exp(0.3 * z)), (uint64_t)((double)n * 2e-4 * w));
	}
	hist_add_n(h, (uint64_t)(400 * ns), n / 2000000 + 1);
}

static void fix_lat_cell(struct fix *f, struct fix_cell *c, struct hist *h, double ns)
{
	fix_hist(h, ns, (uint64_t)(0.95e9 / ns * c->seconds));
	c->hist = h;
	c->art_ns = hist_mean(h);
	c->iops = (double)h->n / c->seconds;
	c->mrt_ns = h->max;
	fix_put(f, c);
}

static void fix_lat(struct fix *f, int rounds, double hist_seconds)
{
	static const double mix[] = { 100, 65, 0 };
	static const uint32_t size[] = { 8192, 4096, 512 };
	struct hist *h = hist_new();
	double y[64];
	bool steady = false;

	DO(fix_attempt(f, "lat"));
	DO(fix_section(f, ""));
	CHECK(!store_begin(f->s, &f->err));
	DO(fix_fill(f, 131072));
	for (int r = 1; r <= rounds; r++) {
		struct round_row row;
		struct steady_check check;
		for (unsigned m = 0; m < 3; m++) {
			for (unsigned i = 0; i < 3; i++) {
				double ns = mix[m] == 100 ? 78000 : mix[m] == 65 ? 56000 : 13800;
				char access[32];
				ns *= i == 0 ? 1.07 : i == 2 && mix[m] == 0 ? 1.34 : 1;
				ns = fix_noise(f, ns * (1 + 0.3 * exp(-r / 1.2)), 0.004);
				snprintf(access, sizeof access, "RND %gK %g/%g", size[i] / 1024.0,
					 mix[m], 100 - mix[m]);
				struct fix_cell c = { .phase = "round",
						      .access = access,
						      .round = r,
						      .read_pct = mix[m],
						      .bs = size[i],
						      .tc = 1,
						      .qd = 1,
						      .seconds = f->lat_seconds > 0 ? f->lat_seconds
										    : 60 };
				DO(fix_lat_cell(f, &c, h, ns));
				if (mix[m] == 0 && size[i] == 4096)
					y[r - 1] = c.art_ns;
			}
		}
		steady = fix_check(f, "art of rw 0/100 bs 4k", y, r, &row, &check);
		CHECK_MSG(!store_round(f->s, &row, 1, &f->err), "%s", f->err.msg);
	}
	struct fix_cell c = { .phase = "histogram",
			      .access = "RND 4K 0/100",
			      .bs = 4096,
			      .tc = 1,
			      .qd = 1,
			      .seconds = hist_seconds };
	if (hist_seconds > 0) {
		DO(fix_lat_cell(f, &c, h, 13900));
	} else { /* a capture in which nothing completed */
		hist_reset(h);
		c.hist = h;
		c.seconds = 1;
		c.art_ns = NAN;
		DO(fix_put(f, &c));
	}
	free(h);
	DO(fix_section_end(f, steady, rounds, steady ? "steady" : "rounds"));
	DO(fix_test_end(f, steady));
	CHECK(!store_commit(f->s, &f->err));
}

/* The three basic tests, steady, as a formal run of a drive. */
__attribute__((unused)) static void fix_basic(struct fix *f, const struct fix_opts *o, bool wild_tp)
{
	struct fix_iops iops = { .rounds = 9 };

	DO(fix_open(f));
	DO(fix_run(f, o));
	DO(fix_test(f, "iops", "IOPS - Block Size x RW Mix Matrix", "IOPS"));
	DO(fix_test(f, "tp", "Throughput", "TP"));
	DO(fix_test(f, "lat", "Latency", "LAT"));
	DO(fix_iops(f, &iops));
	DO(fix_tp(f, wild_tp));
	DO(fix_lat(f, 8, 1200));
	DO(fix_end(f, "done"));
}

#endif
