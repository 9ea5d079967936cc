/* SPDX-License-Identifier: MIT */
/* What the tests of the simulated drive share: opening one, running a cell, keeping what it did. */
#ifndef TESTS_UNIT_WORKLOADS_SIM_RIG_H
#define TESTS_UNIT_WORKLOADS_SIM_RIG_H

#include <stdarg.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut_sim.h"

#define SEC 1000000000ull
#define MIN (60 * SEC)
#define HOUR (60 * MIN)
#define ENT_BYTES 1920383410176ull

struct cell { /* the last segment that was sealed */
	struct result r;
	struct hist op[IO_OPS], response[IO_OPS];
	struct second second[1 << 17];
	unsigned sealed; /* how many so far */
	unsigned stop_after; /* of sealed; 0 never */
	double iops, art_ns, mb_s;
};
static struct cell cell;

static struct access mix(uint32_t bytes, enum io_order order, double read_pct)
{
	struct access a = { .regions = 1 };

	for (unsigned op = 0; op < IO_OPS; op++) {
		double share = op == IO_READ ? read_pct : 100 - read_pct;

		if (share > 0)
			a.stream[a.n_streams++] = (struct stream){
				.share = share,
				.bytes = bytes,
				.op = (uint8_t)op,
				.order = (uint8_t)order,
				.cursor = order == IO_SEQ ? (uint16_t)op : CURSOR_NONE,
			};
	}
	return a;
}

static int keep(void *arg, unsigned segment, const struct result *r)
{
	struct cell *c = arg;
	unsigned __int128 sum = 0;

	(void)segment;
	c->r = *r;
	for (unsigned op = 0; op < IO_OPS; op++) {
		if (r->op[op].service)
			c->op[op] = *r->op[op].service;
		else
			hist_reset(&c->op[op]);
		if (r->op[op].response)
			c->response[op] = *r->op[op].response;
		sum += c->op[op].sum;
	}
	memcpy(c->second, r->second, r->n_seconds * sizeof c->second[0]);
	c->r.second = c->second;
	c->sealed++;
	c->iops = (double)r->prepared * 1e9 / (double)r->elapsed_ns;
	c->mb_s = (double)(r->op[0].bytes + r->op[1].bytes) * 1e3 / (double)r->elapsed_ns;
	c->art_ns = r->prepared ? (double)sum / (double)r->prepared : 0;
	return c->stop_after && c->sealed >= c->stop_after;
}

static _Atomic uint64_t cursors[2];

/* Runs one segment over @bytes of the drive (0: all of it). */
static int run_seg(struct dut *d, const struct segment *g, uint64_t bytes)
{
	struct err err = { "" };
	struct job j = { .seg = g, .n = 1, .cursor = cursors, .n_cursors = 2 };

	j.range.bytes = bytes ? bytes : d->info.capacity_bytes;
	j.sealed = keep;
	j.arg = &cell;
	return d->ops->run(d, &j, &err);
}

/* IOPS of @time_ns at @threads x @qd. */
static double run(struct dut *d, struct access a, unsigned threads, unsigned qd, uint64_t time_ns)
{
	struct segment g = { .acc = &a, .threads = threads, .qd = qd, .stop.time_ns = time_ns };

	return run_seg(d, &g, 0) ? NAN : cell.iops;
}

__attribute__((unused)) static int fill(struct dut *d, uint32_t block, uint64_t range,
					uint64_t bytes)
{
	struct access a = mix(block, IO_SEQ, 0);
	struct segment g = { .acc = &a, .threads = 1, .qd = 32, .stop.bytes = bytes };

	a.exact = true;
	return run_seg(d, &g, range);
}

__attribute__((unused)) static int idle(struct dut *d, uint64_t time_ns)
{
	struct segment g = { .stop.time_ns = time_ns };

	return run_seg(d, &g, 0);
}

__attribute__((unused)) static int purge(struct dut *d)
{
	struct purge_report p;
	struct err err = { "" };

	return d->ops->purge(d, PURGE_AUTO, &p, &err);
}

static int open_sim(const char *profile, uint64_t size, uint64_t seed, struct dut **ret)
{
	struct dut_name n = { .kind = DUT_SIM, .size_bytes = size, .seed = seed, .has_seed = true };
	static struct err err;

	err.msg[0] = '\0';
	snprintf(n.path, sizeof n.path, "%s", profile);
	return dut_sim_open(&n, profile, NULL, ret, &err);
}

/* A drive of an ini written here; what it said when it failed is in ini_err. */
static struct err ini_err;
__attribute__((unused, format(printf, 2, 3))) static int open_ini(struct dut **ret, const char *fmt,
								  ...)
{
	char path[] = "/tmp/pts-sim-XXXXXX.ini";
	struct dut_name n = { .kind = DUT_SIM };
	int fd = mkstemps(path, 4), rc;
	va_list ap;

	if (fd < 0)
		return -1;
	va_start(ap, fmt);
	vdprintf(fd, fmt, ap);
	va_end(ap);
	close(fd);
	ini_err.msg[0] = '\0';
	snprintf(n.path, sizeof n.path, "%s", path);
	rc = dut_sim_open(&n, "sim:own", NULL, ret, &ini_err);
	unlink(path);
	return rc;
}

#define QUIET "[drive]\nlike = ent-nvme\n[noise]\ncell_pct = 0\nsecond_pct = 0\n"

__attribute__((unused)) static void done(struct dut *d)
{
	d->ops->close(d);
	memset(&cell, 0, sizeof cell);
	memset(cursors, 0, sizeof cursors);
}

#endif
