/* SPDX-License-Identifier: MIT */
/* A scripted drive for interpreter tests: a function says the rate of each segment, errors are injected by number. */
#ifndef TESTS_PTS_FAKE_H
#define TESTS_PTS_FAKE_H

#include <errno.h>
#include <unistd.h>

#include "pts/interp.h"
#include "schema/read.h"
#include "tests/test.h"

#define FAKE_CAPACITY (1ull << 30)

struct fake {
	struct dut dut;
	uint64_t now_ns;
	unsigned jobs, segments; /* run so far */
	double (*rate)(const struct fake *f, const struct segment *g); /* IOPS */
	double art_ns; /* of every IO; 0: oio / rate */
	unsigned fail_at,
		fail_n; /* segments fail_at .. fail_at + fail_n - 1 (from 1) end with an IO error */
	int fail_rc;
	unsigned stop_at; /* this segment is stopped (partial, -EINTR) */
	unsigned purges;
	int purge_rc;
	bool cache;
	char cells[1 << 16]; /* names of the cells in order, for checks of the sequence */
	size_t cells_len;
	struct hist *h;
};

static struct fake *fake_of(struct dut *d)
{
	return (struct fake *)d;
}

static uint64_t fake_now(struct dut *d)
{
	return fake_of(d)->now_ns;
}

static int fake_purge(struct dut *d, enum purge_method m, struct purge_report *r, struct err *err)
{
	struct fake *f = fake_of(d);

	f->purges++;
	f->now_ns += 1000000000;
	r->method = m;
	r->verified = !f->purge_rc;
	r->canaries = 1026;
	return f->purge_rc ? err_set(err, f->purge_rc, "3 canaries survived") : 0;
}

static int fake_cache(struct dut *d, bool on, bool *was, struct err *err)
{
	(void)err;
	*was = fake_of(d)->cache;
	fake_of(d)->cache = on;
	return 0;
}

static void fake_result(struct fake *f, const struct segment *g, struct result *r, bool bad)
{
	double iops = g->acc ? f->rate(f, g) : 0, sec;
	unsigned op = g->acc ? g->acc->stream[0].op : IO_READ;
	uint32_t size = g->acc ? g->acc->stream[0].bytes : 0;
	uint64_t ios;

	if (g->stop.bytes) {
		ios = g->stop.bytes / size;
		sec = iops > 0 ? (double)ios / iops : 0;
	} else {
		sec = (double)g->stop.time_ns / 1e9;
		ios = (uint64_t)(iops * sec + 0.5);
	}
	*r = (struct result){ .start_ns = f->now_ns,
			      .elapsed_ns = (uint64_t)(sec * 1e9 + 0.5),
			      .cpu_sys_pct = -1,
			      .cpu_total_pct = -1,
			      .temperature_c = NAN,
			      .threads_seen = g->threads,
			      .prepared = ios + bad,
			      .errors = bad };
	if (bad)
		r->errnos[0].err = EIO, r->errnos[0].n = 1;
	hist_reset(f->h);
	if (ios)
		hist_add_n(f->h,
			   (uint64_t)(f->art_ns > 0 ? f->art_ns : g->threads * g->qd / iops * 1e9),
			   ios);
	r->inflight_avg = g->threads * g->qd;
	r->op[op].ios = ios;
	r->op[op].bytes = ios * size;
	r->op[op].service = ios ? f->h : NULL;
	f->now_ns += r->elapsed_ns;
}

static int fake_run(struct dut *d, const struct job *job, struct err *err)
{
	struct fake *f = fake_of(d);
	struct result r;

	f->jobs++;
	for (unsigned i = 0; i < job->n; i++) {
		const struct segment *g = &job->seg[i];
		bool bad = ++f->segments >= f->fail_at && f->fail_at &&
			   f->segments < f->fail_at + f->fail_n;

		f->cells_len += (size_t)snprintf(f->cells + f->cells_len,
						 sizeof f->cells - f->cells_len, "%s%s;",
						 g->acc ? g->acc->name : "idle", bad ? "!" : "");
		fake_result(f, g, &r, bad);
		r.partial = f->segments == f->stop_at;
		if (job->sealed(job->arg, i, &r) && !bad && !r.partial)
			return 0;
		if (r.partial)
			return -EINTR;
		if (bad)
			return err_set(err, f->fail_rc ? f->fail_rc : -EIO, "1 IO failed: EIO");
	}
	return 0;
}

static void fake_close(struct dut *d)
{
	(void)d;
}

static const struct dut_ops fake_ops = { .purge = fake_purge,
					 .write_cache = fake_cache,
					 .run = fake_run,
					 .now = fake_now,
					 .close = fake_close };

/* A test of a definition text on the scripted drive with a database of its own. */
struct rig {
	struct fake fake;
	struct def_lib lib;
	struct plan plan;
	struct store *store;
	struct run_ctx ctx;
	char dir[64], db[96];
	struct err err;
	enum test_verdict verdict;
	bool have_lib, have_plan;
};

static void rig_init(struct rig *g, const char *definition, const char *test,
		     double (*rate)(const struct fake *, const struct segment *))
{
	char path[128];
	FILE *f;
	struct plan_env env = {
		.capacity_bytes = FAKE_CAPACITY, .lba_bytes = 512, .members = 1, .seed = 5
	};
	static const struct key_value none[] = { { NULL, NULL } };
	struct run_row run = { .uuid = "11111111-2222-3333-4444-555555555555",
			       .dut = "fake",
			       .profile = "enterprise",
			       .spec = "x",
			       .software = "test",
			       .capacity_bytes = FAKE_CAPACITY,
			       .lba_bytes = 512,
			       .host = none,
			       .info = none,
			       .args = none };
	struct test_row tr = { .ordinal = 1,
			       .test = test,
			       .title = "t",
			       .clause = "X",
			       .definition = "d",
			       .plan = "p",
			       .params = "{}" };

	memset(g, 0, sizeof *g);
	snprintf(g->dir, sizeof g->dir, "/tmp/pts-interp-XXXXXX");
	CHECK(mkdtemp(g->dir));
	snprintf(path, sizeof path, "%s/t.pts", g->dir);
	snprintf(g->db, sizeof g->db, "%s/t.db", g->dir);
	f = fopen(path, "w");
	CHECK(f);
	fputs(definition, f);
	fclose(f);
	CHECK_MSG(!def_lib_load(&g->lib, g->dir, &g->err), "%s", g->err.msg);
	g->have_lib = true;
	CHECK(def_find(&g->lib, DEF_TEST, test));
	CHECK_MSG(
		!plan_compile(&g->lib, def_find(&g->lib, DEF_TEST, test), &env, &g->plan, &g->err),
		"%s", g->err.msg);
	g->have_plan = true;
	CHECK_MSG(!store_open(g->db, &g->store, &g->err), "%s", g->err.msg);
	CHECK_MSG(!store_run_begin(g->store, &run, &g->ctx.run, &g->err), "%s", g->err.msg);
	tr.run = g->ctx.run;
	CHECK_MSG(!store_test(g->store, &tr, &g->err), "%s", g->err.msg);
	g->fake.dut.ops = &fake_ops;
	g->fake.dut.info = (struct dut_info){ .kind = DUT_BLOCK,
					      .capacity_bytes = FAKE_CAPACITY,
					      .lba_bytes = 512,
					      .has_write_cache = true,
					      .purge_auto = PURGE_NVME_FORMAT,
					      .purge_methods = 1u << PURGE_NVME_FORMAT };
	g->fake.rate = rate;
	g->fake.cache = true;
	g->fake.h = hist_new();
	g->ctx.dut = &g->fake.dut;
	g->ctx.store = g->store;
	g->ctx.method = PURGE_AUTO;
	g->ctx.seed = 5;
}

static int rig_run(struct rig *g)
{
	g->err.msg[0] = 0;
	return interp_test(&g->ctx, &g->plan, &g->verdict, &g->err);
}

/* One number from the database; NAN for NULL or no row. */
static double rig_num(struct rig *g, const char *sql)
{
	struct reader *rd;
	struct rows *q;
	double v = NAN;
	struct err err = { "" };

	if (read_open(g->db, &rd, &err))
		return NAN;
	q = read_rows(rd, &err, sql, "");
	if (q && rows_next(q) == 1)
		v = rows_num(q, 0);
	if (q && rows_close(q, &err))
		v = NAN;
	if (err.msg[0])
		printf("# %s: %s\n", sql, err.msg);
	read_close(rd);
	return v;
}

static void rig_release(struct rig *g)
{
	char cmd[3][128];

	store_close(g->store);
	if (g->have_plan)
		plan_release(&g->plan);
	if (g->have_lib)
		def_lib_release(&g->lib);
	free(g->fake.h);
	snprintf(cmd[0], sizeof cmd[0], "%s/t.pts", g->dir);
	snprintf(cmd[1], sizeof cmd[1], "%s-wal", g->db);
	snprintf(cmd[2], sizeof cmd[2], "%s-shm", g->db);
	for (int i = 0; i < 3; i++)
		unlink(cmd[i]);
	unlink(g->db);
	rmdir(g->dir);
}

#endif
