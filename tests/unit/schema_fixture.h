/* SPDX-License-Identifier: MIT */
/* A scratch folder, and a run of made-up measurements that is the same for the same seed. */
#ifndef TESTS_SCHEMA_FIXTURE_H
#define TESTS_SCHEMA_FIXTURE_H

#include <ftw.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/rng.h"
#include "schema/db.h"
#include "schema/read.h"
#include "schema/store.h"
#include "tests/test.h"

#define FIXTURE __attribute__((unused)) static

static struct err E;
static char scratch_dir[64];

static int scratch_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

FIXTURE void scratch_clean(void)
{
	if (scratch_dir[0])
		nftw(scratch_dir, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
	scratch_dir[0] = '\0';
}

/* A path in a folder of its own, removed when the program ends. */
FIXTURE const char *scratch(const char *name)
{
	static char path[8][128];
	static unsigned turn;

	if (!scratch_dir[0]) {
		snprintf(scratch_dir, sizeof scratch_dir, "/tmp/pts-schema-XXXXXX");
		if (!mkdtemp(scratch_dir))
			abort();
		atexit(scratch_clean);
	}
	turn = (turn + 1) % 8;
	snprintf(path[turn], sizeof path[turn], "%s/%s", scratch_dir, name);
	return path[turn];
}

#define OK(call) \
	do { \
		E.msg[0] = '\0'; \
		int rc_ = (call); \
		CHECK_MSG(rc_ == 0, "%s: %d %s", #call, rc_, E.msg); \
	} while (0)
#define FAILS(call, code, text) \
	do { \
		E.msg[0] = '\0'; \
		int rc_ = (call); \
		CHECK_MSG(rc_ == (code), "%s: %d %s", #call, rc_, E.msg); \
		CHECK_MSG(strstr(E.msg, text), "\"%s\" lacks \"%s\"", E.msg, text); \
	} while (0)

/* What a stranger does with the sqlite3 shell: no triggers, no foreign keys. */
FIXTURE int by_hand(const char *path, const char *sql)
{
	struct db d;
	int rc = db_open(&d, path, DB_WRITE, embed_migrations, &E);

	if (rc)
		return rc;
	rc = db_exec(&d,
		     "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;"
		     "PRAGMA synchronous = OFF",
		     &E);
	if (!rc)
		rc = db_exec(&d, sql, &E);
	db_close(&d);
	return rc;
}

/* The first value of a query, as text; "" for none. */
FIXTURE const char *ask(const char *path, const char *sql)
{
	static char text[4][8192];
	static unsigned turn;
	struct reader *r;
	struct rows *q;

	turn = (turn + 1) % 4;
	snprintf(text[turn], sizeof text[turn], "(error)");
	E.msg[0] = '\0';
	if (read_open(path, &r, &E))
		return E.msg;
	q = read_rows(r, &E, sql, "");
	if (!q) {
		read_close(r);
		return E.msg;
	}
	snprintf(text[turn], sizeof text[turn], "%s", rows_next(q) ? rows_text(q, 0) : "");
	if (rows_close(q, &E))
		snprintf(text[turn], sizeof text[turn], "%s", E.msg);
	read_close(r);
	return text[turn];
}

/* All faults that read_check() finds. */
FIXTURE const char *faults_of(const char *path)
{
	static char text[8192];
	struct buf faults = BUF_INIT, summary = BUF_INIT;
	struct reader *r;
	int rc = read_open(path, &r, &E);

	if (!rc) {
		rc = read_check(r, &faults, &summary, &E);
		read_close(r);
	}
	snprintf(text, sizeof text, "%s", rc ? E.msg : buf_cstr(&faults));
	buf_release(&faults);
	buf_release(&summary);
	return text;
}

FIXTURE const struct run_row *sample_run(const char *uuid, uint64_t seed)
{
	static const struct key_value host[] = {
		{ "cpu", "Testomatic 2" }, { "kernel", "6.1" }, { "governor", "" }, { NULL, NULL }
	};
	static const struct key_value info[] = { { "operator", "Ann O'Nymous" },
						 { "ambient", "25 C" },
						 { NULL, NULL } };
	static const struct key_value args[] = { { "dut", "sim:ent-nvme?size=1g" },
						 { "destroy", "SIM1" },
						 { "destroy", "SIM2" },
						 { NULL, NULL } };
	static struct run_row r;

	r = (struct run_row){ .uuid = uuid,
			      .dut = "sim:ent-nvme?size=1g",
			      .vendor = "ACME",
			      .model = "Sim",
			      .serial = "SIM1",
			      .interface = "nvme",
			      .capacity_bytes = 1000000000,
			      .lba_bytes = 512,
			      .profile = "enterprise",
			      .spec = "SNIA SSS PTS 2.0.2",
			      .definition_set = 1,
			      .software = "pts test",
			      .seed = seed,
			      .host = host,
			      .info = info,
			      .args = args };
	return &r;
}

FIXTURE struct test_row sample_test(int64_t run, const char *name, unsigned ordinal)
{
	return (struct test_row){ .run = run,
				  .ordinal = ordinal,
				  .test = name,
				  .title = "A test",
				  .clause = "7",
				  .definition = "test x\n",
				  .plan = "RUN\n",
				  .params = "{\"a\":1}",
				  .formal = true };
}

/* A cell with @seconds seconds and some 1500 buckets; @h[0] reads, @h[1] writes, filled here. */
struct sample {
	struct hist *h[2];
	struct second_row second[60];
	struct stream_row stream[2];
	struct cell_hist ch[2];
	struct cell_row row;
};

FIXTURE struct sample *sample_new(void)
{
	struct sample *s = calloc(1, sizeof *s);

	s->h[0] = hist_new();
	s->h[1] = hist_new();
	return s;
}

FIXTURE void sample_free(struct sample *s)
{
	free(s->h[0]);
	free(s->h[1]);
	free(s);
}

FIXTURE void sample_fill(struct sample *s, struct rng *rng, int64_t run, const char *test,
			 int round)
{
	uint64_t ios[2] = { 0, 0 };

	for (int op = 0; op < 2; op++)
		hist_reset(s->h[op]);
	for (unsigned t = 0; t < 60; t++) {
		unsigned n = 150 + (unsigned)rng_below(rng, 50);

		s->second[t] = (struct second_row){ t, n, n * 4096ull, 1234.5 + rng_unit(rng),
						    9999999 };
		for (unsigned i = 0; i < n; i++) {
			int op = rng_below(rng, 100) >= 65;
			double u = rng_unit(rng);

			hist_add(s->h[op], (uint64_t)(80000 * (1 + u * u * u * u * 60)));
			ios[op]++;
		}
	}
	for (int op = 0; op < 2; op++) {
		s->ch[op] = (struct cell_hist){ op ? "W" : "R", "service", s->h[op] };
		s->stream[op] = (struct stream_row){ op ? "W" : "R",	   "RND", 4096,	  ios[op],
						     (double)ios[op] / 60, 123.5, 777777, -1 };
	}
	s->row = (struct cell_row){ .at = { run, test, 1, 1 },
				    .phase = "round",
				    .round = round,
				    .round_try = 1,
				    .step = 7,
				    .label = "",
				    .member = -1,
				    .access = "RND 4K 65/35",
				    .threads = 2,
				    .qd = 16,
				    .oio = 32,
				    .scale = NAN,
				    .read_pct = 65,
				    .block_bytes = 4096,
				    .workload = "[\"rnd 4k 65/35\"]",
				    .start_ns = 1000000000ull * (unsigned)round,
				    .elapsed_ns = 60000000000ull,
				    .read_ios = ios[0],
				    .write_ios = ios[1],
				    .read_bytes = ios[0] * 4096,
				    .write_bytes = ios[1] * 4096,
				    .prepared = ios[0] + ios[1],
				    .art_ns = 81234.5,
				    .mrt_ns = 9999999,
				    .min_ns = 80000,
				    .p50_ns = 80001,
				    .p99_ns = 90000,
				    .p999_ns = 90001,
				    .p9999_ns = 90002,
				    .p99999_ns = -1,
				    .sum_ns = 81234.5 * (double)(ios[0] + ios[1]),
				    .rate_iops = NAN,
				    .inflight_avg = 31.9,
				    .inflight_max = 32,
				    .threads_seen = 2,
				    .little_pct = 0.25,
				    .cpu_sys_pct = 1.5,
				    .cpu_total_pct = 3.25,
				    .temperature_c = 41,
				    .host_bytes_written = ios[1] * 4096,
				    .cursors = "[]",
				    .stream = s->stream,
				    .n_streams = 2,
				    .second = s->second,
				    .n_seconds = 60,
				    .hist = s->ch,
				    .n_hist = 2 };
}

/* A whole run of one test "iops" with @rounds rounds of @cells cells; ended in @state unless NULL.
 */
FIXTURE int write_run(struct store *st, const char *uuid, int rounds, int cells, const char *state)
{
	struct where at = { 0, "iops", 1, 1 };
	struct sample *s = sample_new();
	struct rng rng;
	unsigned attempt;
	int64_t run, cell;
	int rc = store_run_begin(st, sample_run(uuid, 42), &run, &E);
	struct test_row t = sample_test(run, "iops", 1);
	struct section_row sec = { at, "", "punch", 1 };

	rng_init(&rng, 42);
	sec.at.run = at.run = run;
	rc = rc ? rc : store_test(st, &t, &E);
	rc = rc ? rc : store_attempt(st, run, "iops", &attempt, &E);
	rc = rc ? rc : store_section(st, &sec, &E);
	for (int r = 1; r <= rounds && !rc; r++) {
		struct steady_check check = { .first_round = (unsigned)r - 4,
					      .average = 100.25 * r };
		struct round_row row = { at,	     r,
					 1,	     "iops of rw 65/35",
					 1000.0 / r, r >= 5 ? &check : NULL };

		for (int c = 0; c < cells && !rc; c++) {
			sample_fill(s, &rng, run, "iops", r);
			rc = store_cell(st, &s->row, &cell, &E);
		}
		rc = rc ? rc : store_round(st, &row, 1, &E);
	}
	if (state) {
		struct section_end_row se = { at, 1, rounds - 4, rounds, rounds, "steady" };
		struct test_end_row te = { run, "iops", 1, 1, "steady", "off", NULL };
		struct point_row p = { at, "max", 2, 16, 1e5, 1.5e5, 1000000, "highest" };

		rc = rc ? rc : store_section_end(st, &se, &E);
		rc = rc ? rc : store_point(st, &p, &E);
		rc = rc ? rc : store_test_end(st, &te, &E);
		rc = rc ? rc : store_event(st, run, "note", "{\"x\":1}", &E);
		rc = rc ? rc : store_run_end(st, run, state, &E);
	}
	sample_free(s);
	return rc;
}

FIXTURE int write_db(const char *path, const char *uuid, int rounds, int cells, const char *state)
{
	struct store *st;
	int rc = store_open(path, &st, &E);

	if (rc)
		return rc;
	rc = write_run(st, uuid, rounds, cells, state);
	store_close(st);
	return rc;
}

#endif
