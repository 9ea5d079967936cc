/* SPDX-License-Identifier: MIT */
/* For tests of the engine: an engine on a descriptor or a new file, a job, and copies of the results it sealed. */
#ifndef TESTS_UNIT_WORKLOADS_RIG_H
#define TESTS_UNIT_WORKLOADS_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/engine.h"

#define RIG_SEGMENTS 8
#define MS 1000000ull

struct rig {
	struct engine *e;
	int fd;
	char path[64]; /* of a file made here, or "" */
	_Atomic uint64_t cursor[4];
	struct access acc[RIG_SEGMENTS];
	struct segment seg[RIG_SEGMENTS];
	struct job job;
	struct err err;
	/* what was sealed */
	unsigned sealed;
	struct result r[RIG_SEGMENTS];
	struct hist h[RIG_SEGMENTS][IO_OPS];
	struct hist resp[RIG_SEGMENTS];
	uint64_t second_ios[RIG_SEGMENTS], second_bytes[RIG_SEGMENTS], stream_ios[RIG_SEGMENTS];
	int stop_after; /* sealed() asks for the end after so many */
	void (*on_seal)(struct rig *g, unsigned segment);
	int peer; /* of a pipe */
};

static inline int rig_sealed(void *arg, unsigned k, const struct result *r)
{
	struct rig *g = arg;

	if (k != g->sealed)
		abort();
	g->sealed++;
	g->r[k] = *r;
	for (int op = 0; op < IO_OPS; op++) {
		hist_reset(&g->h[k][op]);
		if (r->op[op].service)
			g->h[k][op] = *r->op[op].service;
	}
	hist_reset(&g->resp[k]);
	for (int op = 0; op < IO_OPS; op++)
		if (r->op[op].response)
			hist_merge(&g->resp[k], r->op[op].response);
	g->second_ios[k] = g->second_bytes[k] = g->stream_ios[k] = 0;
	for (unsigned i = 0; i < r->n_seconds; i++) {
		g->second_ios[k] += r->second[i].ios;
		g->second_bytes[k] += r->second[i].bytes;
	}
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++)
		g->stream_ios[k] += r->stream[i].ios;
	if (g->on_seal)
		g->on_seal(g, k);
	return g->stop_after && (int)g->sealed >= g->stop_after;
}

/* NULL with a message printed when the engine cannot be opened. @path "" : a new sparse file in /tmp. */
static inline struct rig *rig_open_fd(int fd, uint64_t bytes, const char *dump)
{
	struct rig *g = calloc(1, sizeof *g);
	struct engine_target t = { .fd = fd,
				   .capacity_bytes = bytes,
				   .lba_bytes = 512,
				   .mem_align = 4096,
				   .dump_latencies = dump };

	g->fd = fd;
	g->peer = -1;
	if (engine_open(&t, &g->e, &g->err)) {
		printf("# %s\n", g->err.msg);
		exit(77);
	}
	g->job = (struct job){ .seg = g->seg,
			       .n = 1,
			       .range = { .bytes = bytes },
			       .cursor = g->cursor,
			       .n_cursors = 4,
			       .sealed = rig_sealed,
			       .arg = g };
	return g;
}

static inline struct rig *rig_open(const char *path, uint64_t bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		abort();
	return rig_open_fd(fd, bytes, NULL);
}

static inline struct rig *rig_file(uint64_t bytes)
{
	char path[64] = "/tmp/pts-unit-XXXXXX";
	int fd = mkstemp(path);
	struct rig *g;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		abort();
	fcntl(fd, F_SETFL, O_DIRECT); /* where the file system can */
	g = rig_open_fd(fd, bytes, NULL);
	memcpy(g->path, path, sizeof path);
	return g;
}

static inline void rig_close(struct rig *g)
{
	engine_close(g->e);
	close(g->fd);
	if (g->peer >= 0)
		close(g->peer);
	if (g->path[0])
		unlink(g->path);
	free(g);
}

static inline struct access rig_access(uint8_t op, uint8_t order, uint32_t bytes)
{
	struct access a = { .name = "test", .n_streams = 1, .regions = 1 };

	a.stream[0] = (struct stream){ .share = 1,
				       .bytes = bytes,
				       .op = op,
				       .order = order,
				       .cursor = order == IO_SEQ ? 0 : CURSOR_NONE };
	return a;
}

/* Segment @k: @threads x @qd until @stop. */
static inline void rig_segment(struct rig *g, unsigned k, struct access a, unsigned threads,
			       unsigned qd, struct bound stop)
{
	g->acc[k] = a;
	g->seg[k] = (struct segment){
		.acc = &g->acc[k], .threads = threads, .qd = qd, .stop = stop, .seed = 1000 + k
	};
	g->job.n = k + 1;
}

static inline int rig_run(struct rig *g)
{
	g->sealed = 0;
	g->err = (struct err){ "" };
	return engine_run(g->e, &g->job, &g->err);
}

static inline uint64_t rig_ios(const struct rig *g, unsigned k)
{
	return g->r[k].op[IO_READ].ios + g->r[k].op[IO_WRITE].ios;
}

static inline uint64_t rig_bytes(const struct rig *g, unsigned k)
{
	return g->r[k].op[IO_READ].bytes + g->r[k].op[IO_WRITE].bytes;
}

/* Everything that must agree in any sealed segment. */
static inline void rig_consistent(const struct rig *g, unsigned k)
{
	const struct result *r = &g->r[k];

	CHECK_INT(r->prepared, rig_ios(g, k) + r->short_ios + r->errors);
	CHECK_INT(g->second_ios[k], rig_ios(g, k));
	CHECK_INT(g->second_bytes[k], rig_bytes(g, k));
	CHECK(g->stream_ios[k] <= rig_ios(g, k));
	for (int op = 0; op < IO_OPS; op++) {
		const struct hist *h = &g->h[k][op];
		uint64_t n = 0, v;
		for (unsigned i = 0; i < HIST_BUCKETS; i++)
			n += h->count[i];
		CHECK_INT(h->n, r->op[op].ios);
		CHECK_INT(n, h->n);
		CHECK(!h->n || (h->min <= h->max && h->sum >= (unsigned __int128)h->min * h->n &&
				h->sum <= (unsigned __int128)h->max * h->n));
		if (hist_percentile(h, P50, &v))
			CHECK(v >= h->min && v <= h->max);
	}
}

#endif
