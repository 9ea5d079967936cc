/* SPDX-License-Identifier: MIT */
/* What a worker needs before the clock starts: slots, buffers, ring, counters. All touched, so that no page faults later. */
#include "workloads/engine_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "pts/base/buf.h"
#include "workloads/data.h"

#define READ_POOL_BYTES ((uint64_t)4 << 20)
#define WRITE_POOL_BYTES ((uint64_t)16 << 20) /* of all workers together, and at least ... */
#define WRITE_WORKER_BYTES ((uint64_t)1 << 20) /* ... this of each */
/* Of each where every word is renewed: fits into the cache of a core. */
#define WRITE_CACHED_BYTES ((uint64_t)128 << 10)
#define HUGE_BYTES ((size_t)2 << 20)
/* Wake-up poll included. A batch that would wrap is issued the slow way: not too often. */
#define RING_ENTRIES_MIN 256

/* What a worker's region has to hold: write data, then what is read. */
struct layout {
	uint64_t write_unit, read_unit; /* the largest IO of each kind, aligned */
	uint64_t write_bytes, read_bytes;
};

static uint64_t up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Each slot writes from a part of its own, through which it goes round, and every block is renewed before it is written. Where
 * that does not change every word, 16 MiB keep the rest out of the window of compressors. What is read is not looked at, so
 * slots may share read buffers once there are 4 MiB of them; reads never go into write data, since a fresh drive would leave
 * zeros to be written.
 */
/*
 * With passthrough a region is registered in pieces of the largest command, and no command may reach over the line between two:
 * areas are powers of two, which either divide such a piece or are several.
 */
static uint64_t area_of(const struct engine *e, uint64_t bytes)
{
	uint64_t area = up(bytes, most(e->target.mem_align, 4096)), two = 4096;

	if (!e->target.pass.nsid || !area)
		return area;
	while (two < area)
		two *= 2;
	return two;
}

static struct layout layout_of(const struct engine *e, unsigned depth)
{
	struct layout l = { .write_unit = area_of(e, e->need.write_bytes),
			    .read_unit = area_of(e, e->need.read_bytes) };

	if (l.write_unit) {
		uint64_t pool = most(WRITE_POOL_BYTES / e->active, WRITE_WORKER_BYTES);
		pool = data_way(0)->all ? WRITE_CACHED_BYTES : pool;
		l.write_bytes = depth * most(l.write_unit, area_of(e, pool / depth));
		if (e->target.pass.nsid)
			l.write_bytes = up(l.write_bytes, e->target.pass.max_bytes);
	}
	if (l.read_unit) {
		uint64_t bufs = most(READ_POOL_BYTES / l.read_unit, 1);
		l.read_bytes = l.read_unit * (bufs < depth ? bufs : depth);
	}
	return l;
}

unsigned engine_parts(const struct engine *e)
{
	uint64_t max = e->target.pass.max_bytes;

	return max ? (unsigned)((most(most(e->need.read_bytes, e->need.write_bytes), 1) + max - 1) /
				max)
		   : 1;
}

static unsigned depth_of(const struct engine *e, unsigned id)
{
	unsigned depth = 1;

	for (unsigned i = 0; i < e->job->n; i++) {
		unsigned d = e->job->seg[i].acc ? engine_depth(&e->job->seg[i], id) : 0;
		if (d > depth)
			depth = d;
	}
	return depth;
}

/* The largest IO of each slot must fit; a smaller pool of write data than wished is kept. */
static bool fits(const struct worker *w, const struct layout *l, unsigned depth)
{
	return w->ring.uring && depth * engine_parts(w->e) + 2 <= w->ring.entries &&
	       depth <= w->slots_cap && l->write_unit * depth <= w->write_bytes &&
	       l->read_bytes <= w->read_bytes;
}

uint64_t available_bytes(void)
{
	struct buf b = BUF_INIT;
	struct rlimit as = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned long long kib = 0;

	if (!buf_read_file(&b, "/proc/meminfo", 1 << 16)) {
		const char *at = strstr(buf_cstr(&b), "MemAvailable:");
		if (at)
			kib = strtoull(at + 13, NULL, 10);
	}
	buf_release(&b);
	getrlimit(RLIMIT_AS, &as);
	uint64_t bytes = kib ? kib * 1024 : UINT64_MAX;
	return as.rlim_cur < bytes ? as.rlim_cur : bytes;
}

int memory_check(const struct engine *e, struct err *err)
{
	uint64_t need = 0, have = available_bytes();

	for (unsigned i = 0; i < e->active; i++) {
		unsigned depth = depth_of(e, i);
		const struct worker *w = i < e->n_workers ? e->worker[i] : NULL;
		struct layout l = layout_of(e, depth);
		if (w && fits(w, &l, depth))
			continue;
		need += l.write_bytes + l.read_bytes;
		if (w && have < UINT64_MAX - w->memory_bytes)
			have += w->memory_bytes; /* given back first */
	}
	if (need > have)
		return err_set(
			err, -ENOMEM,
			"%u threads at this depth and block size need %llu bytes of buffers; "
			"%llu bytes of memory are available",
			e->active, (unsigned long long)need, (unsigned long long)have);
	return 0;
}

void worker_release_io(struct worker *w)
{
	ring_close(&w->ring);
	w->wake_armed = false;
	if (w->memory)
		munmap(w->memory, w->memory_bytes);
	free(w->slot);
	free(w->free);
	w->memory = NULL;
	w->slot = NULL;
	w->free = NULL;
	w->memory_bytes = w->write_bytes = w->read_bytes = 0;
	w->slots_cap = 0;
}

static int map_buffers(struct worker *w, const struct layout *l, unsigned depth, struct err *err)
{
	size_t total = l->write_bytes + l->read_bytes;

	if (total) {
		void *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p == MAP_FAILED)
			return err_set(err, -ENOMEM, "no memory for %zu bytes of IO buffers",
				       total);
		w->memory = p;
		w->memory_bytes = total;
		if (total >= HUGE_BYTES)
			madvise(p, total, MADV_HUGEPAGE); /* if it can be: the TLB misses less */
		data_fill(p, l->write_bytes, w->stamp);
		memset(w->memory + l->write_bytes, 0, l->read_bytes);
	}
	w->write_bytes = l->write_bytes;
	w->read_bytes = l->read_bytes;
	w->slot = calloc(depth, sizeof *w->slot);
	w->free = calloc(depth, sizeof(struct slot *));
	if (!w->slot || !w->free)
		return err_set(err, -ENOMEM, "no memory for %u slots", depth);
	w->slots_cap = depth;
	return 0;
}

static int prepare_io_memory(struct worker *w, const struct layout *l, unsigned depth,
			     struct err *err)
{
	unsigned entries = depth * engine_parts(w->e) + 2;
	int rc;

	worker_release_io(w);
	rc = map_buffers(w, l, depth, err);
	if (rc)
		return rc;
	struct ring_conf c = { .fd = w->e->target.fd,
			       .entries = entries < RING_ENTRIES_MIN ? RING_ENTRIES_MIN : entries,
			       .least_entries = entries,
			       .buffers = w->memory,
			       .buffer_bytes = w->memory_bytes,
			       .polled = w->e->polled,
			       .pass = &w->e->target.pass,
			       .fault = w->e->target.fault };
	return ring_open(&w->ring, &c, err);
}

/* Cuts the region anew for this job's depth and block sizes. */
static void cut_slots(struct worker *w, const struct layout *l, unsigned depth)
{
	uint64_t unit = most(w->e->target.mem_align, 4096);
	uint64_t span = w->write_bytes / depth / unit * unit;
	if (w->ring.wide)
		while (span & (span - 1))
			span &= span - 1; /* area_of() */
	uint64_t reads = l->read_unit ? w->read_bytes / l->read_unit : 0;

	w->write_span = span;
	w->write_mask = (uint32_t)unit - 1;
	w->n_slots = depth;
	w->n_free = 0;
	for (unsigned i = depth; i-- > 0;) {
		char *read = w->memory + w->write_bytes + (reads ? l->read_unit * (i % reads) : 0);
		w->slot[i] = (struct slot){ .write_base = (uintptr_t)w->memory + span * i };
		w->slot[i].addr[IO_READ] = (uintptr_t)read;
		w->free[w->n_free++] = &w->slot[i];
	}
}

/* ---- counters ---- */

static size_t part_words(const struct need *n)
{
	size_t hists = (n->read_bytes != 0) + (n->write_bytes != 0);

	return FINE_BUCKETS * hists * (n->response ? 2 : 1) +
	       (size_t)COARSE_BUCKETS * (n->streams + IO_OPS);
}

static void part_layout(struct part *p, const struct need *n)
{
	uint64_t *at = p->slab;

	for (int op = 0; op < IO_OPS; op++) {
		bool used = op == IO_READ ? n->read_bytes : n->write_bytes;
		p->fine[op] = used ? at : NULL;
		at += used ? FINE_BUCKETS : 0;
		p->response[op].count = used && n->response ? at : NULL;
		at += used && n->response ? FINE_BUCKETS : 0;
	}
	for (unsigned i = 0; i < n->streams + IO_OPS; i++, at += COARSE_BUCKETS)
		p->lane[i].coarse = at;
}

uint64_t part_lane_bytes(const struct part *p, unsigned lane)
{
	return p->lane[lane].ios * p->lane[lane].len + (uint64_t)p->odd_bytes[lane];
}

void part_reset(struct part *p, const struct need *n)
{
	memset(p->slab, 0, part_words(n) * sizeof *p->slab);
	memset(p->second, 0, p->n_seconds * sizeof *p->second);
	/* Only what counts: of IOs carried into the next segment the worker still wants to know which lane they were in. */
	for (unsigned i = 0; i < n->streams + IO_OPS; i++) {
		struct lane *y = &p->lane[i];
		y->ios = y->sum_ns = y->max_ns = 0;
		y->min_ns = UINT64_MAX;
	}
	for (int op = 0; op < IO_OPS; op++)
		p->response[op] = (struct part_response){ .count = p->response[op].count,
							  .min_ns = UINT64_MAX };
	memset(p->odd_bytes, 0, sizeof p->odd_bytes);
	memset(p->max_ns, 0, sizeof p->max_ns);
	p->n_seconds = 0;
	p->seconds_full = p->cut_short = false;
	p->carried_in = p->carried_out = p->sqes = p->requeued = p->rearmed = p->parts = 0;
	p->short_ios = p->errors = p->clock_back = 0;
	p->probes = p->probes_done = 0;
	memset(p->errnos, 0, sizeof p->errnos);
	p->area_ticks = p->late_ticks = p->overdue = 0;
	p->dump_n = 0;
}

static int part_prepare(struct part *p, const struct need *n, struct err *err)
{
	size_t words = part_words(n);

	if (words > p->slab_words) {
		free(p->slab);
		p->slab = malloc(words * sizeof *p->slab);
		p->slab_words = p->slab ? words : 0;
	}
	if (n->seconds > p->seconds_cap) {
		free(p->second);
		p->second = calloc(n->seconds, sizeof *p->second); /* touched as time goes by */
		p->seconds_cap = p->second ? n->seconds : 0;
		p->n_seconds = 0;
	}
	if (!p->slab || !p->second)
		return err_set(err, -ENOMEM, "no memory for %zu bytes of counters",
			       words * sizeof *p->slab + n->seconds * sizeof *p->second);
	part_layout(p, n);
	part_reset(p, n);
	return 0;
}

int worker_prepare(struct worker *w, struct err *err)
{
	const struct need *n = &w->e->need;
	unsigned depth = depth_of(w->e, w->id);
	struct layout l = layout_of(w->e, depth);
	int rc = 0;

	w->renew = data_way(0)->renew;
	if (!w->stamp)
		w->stamp = rng_seed(w->e->job->seg[0].seed, 0x64617461, w->id, 0);
	if (!fits(w, &l, depth))
		rc = prepare_io_memory(w, &l, depth, err);
	for (int i = 0; i <= n->double_parts && !rc; i++)
		rc = part_prepare(&w->parts[i], n, err);
	if (!rc)
		cut_slots(w, &l, depth);
	return rc;
}

void worker_release(struct worker *w)
{
	worker_release_io(w);
	for (int i = 0; i < 2; i++) {
		free(w->parts[i].slab);
		free(w->parts[i].second);
		free(w->parts[i].dump);
	}
}
