/* SPDX-License-Identifier: MIT */
#include "replay/exact.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "replay/inflight.h"

#define ALIGN_MAX 4096u /* alignment that wrapping keeps, beyond the LBA size */
#define EXTENT_MAX ((uint64_t)1 << 20) /* scale moves extents of this size, or smaller ones */
#define EXTENTS_MIN 64
#define NAMES_MAX 12 /* of devices in a message */

const char *const exact_drop_names[EXACT_DROPS] = { "clipped", "discards", "flushes", "other",
						    "empty",   "too_long", "device" };

struct exact {
	struct trace *t;
	struct exact_conf conf;
	struct exact_account acc;
	struct trace_cursor at;
	unsigned loop;
	double area_ns; /* of the capture's depth */
};

/* ---- one record ---- */

enum place { PLACE_FITS, PLACE_MOVED, PLACE_BEYOND, PLACE_LARGE };

static uint64_t down(uint64_t v, uint64_t unit)
{
	return v - v % unit;
}

static uint64_t wrap(uint64_t off, uint64_t room)
{
	uint64_t whole = room >= EXTENT_MAX ? down(room, ALIGN_MAX) : room;

	return off % whole;
}

/* Extents of the device onto those of the target; several may come to lie on one. */
static uint64_t scale(uint64_t off, uint64_t room, uint64_t source)
{
	uint64_t unit = EXTENT_MAX;

	while (unit > ALIGN_MAX && room / unit < EXTENTS_MIN)
		unit /= 2;
	uint64_t have = room / unit, want = (source + unit - 1) / unit;

	if (!have || have >= want)
		return off % (room ? room : 1);
	return (uint64_t)((unsigned __int128)(off / unit) * have / want) * unit + off % unit;
}

/* Puts [*off, *off + len) into the @room bytes that the device has on the target. */
static enum place fit_in(const struct exact *x, uint64_t *off, uint64_t len, uint64_t room,
			 uint64_t source)
{
	uint64_t at = *off;

	if (len <= room && at <= room - len && (x->conf.fit != FIT_SCALE || source <= room))
		return PLACE_FITS;
	if (x->conf.fit == FIT_REFUSE || x->conf.fit == FIT_CLIP)
		return PLACE_BEYOND;
	if (len > room)
		return PLACE_LARGE;
	at = x->conf.fit == FIT_WRAP ? wrap(at, room) : scale(at, room, source);
	if (at > room - len)
		at = room - len;
	if (at == *off)
		return PLACE_FITS;
	*off = at;
	return PLACE_MOVED;
}

/* Widens to whole blocks. True: it was not. */
static bool to_blocks(uint64_t *off, uint64_t *len, uint32_t lba)
{
	uint64_t from = down(*off, lba), to = *off + *len;

	to = down(to + lba - 1, lba);
	if (from == *off && to - from == *len)
		return false;
	*len = to - from;
	*off = from;
	return true;
}

static int drop_of(const struct exact *x, const struct trace_io *io)
{
	uint64_t len = trace_io_bytes(io);

	if (x->conf.map[io->dev].target == EXACT_LEFT_OUT)
		return DROP_DEVICE;
	switch (io->op) {
	case TRACE_FLUSH:
		return x->conf.flushes ? -1 : DROP_FLUSH;
	case TRACE_DISCARD:
		if (!x->conf.discards)
			return DROP_DISCARD;
		break;
	case TRACE_READ:
	case TRACE_WRITE:
		if (len > TIMED_IO_MAX)
			return DROP_LARGE;
		break;
	default:
		return DROP_OTHER;
	}
	return len ? -1 : DROP_EMPTY;
}

static enum timed_op op_of(const struct trace_io *io)
{
	return io->op == TRACE_WRITE	 ? TIMED_WRITE
	       : io->op == TRACE_DISCARD ? TIMED_DISCARD
	       : io->op == TRACE_FLUSH	 ? TIMED_FLUSH
					 : TIMED_READ;
}

struct made {
	struct timed_io io; /* due_ns on the capture's clock */
	bool moved, rounded;
};

/* -1 an IO, else why it is dropped. */
static int make_io(const struct exact *x, const struct trace_io *rec, struct made *ret)
{
	const struct exact_map *m = &x->conf.map[rec->dev];
	const struct exact_target *g;
	uint64_t off = rec->off, len = trace_io_bytes(rec), room, source;
	int drop = drop_of(x, rec);
	enum place p;

	if (drop >= 0)
		return drop;
	*ret = (struct made){ .io = { .due_ns = rec->start_ns,
				      .target = (uint16_t)m->target,
				      .op = (uint8_t)op_of(rec) } };
	if (rec->op == TRACE_FLUSH)
		return -1;
	g = &x->conf.target[m->target];
	room = (g->capacity_bytes ? g->capacity_bytes : INT64_MAX) - m->base_bytes;
	room = down(room, g->lba_bytes);
	if (off > INT64_MAX - len)
		return DROP_CLIPPED;
	ret->rounded = to_blocks(&off, &len, g->lba_bytes);
	source = trace_head(x->t)->device[rec->dev].end_bytes;
	p = fit_in(x, &off, len, room, source);
	if (p >= PLACE_BEYOND)
		return p == PLACE_LARGE ? DROP_LARGE : DROP_CLIPPED;
	ret->moved = p == PLACE_MOVED;
	ret->io.off = off + m->base_bytes;
	ret->io.len = len;
	return -1;
}

/* ---- the pass before ---- */

static void most(uint64_t *v, uint64_t than)
{
	if (than > *v)
		*v = than;
}

static void take_depth(void *arg, uint64_t from, uint64_t to, unsigned depth)
{
	struct exact *x = arg;

	if (depth > x->acc.depth_max)
		x->acc.depth_max = depth;
	x->area_ns += (double)depth * (double)(to - from);
}

static void account(struct exact *x, const struct trace_io *rec, uint64_t number)
{
	struct exact_account *a = &x->acc;
	struct made m;
	int drop = make_io(x, rec, &m);

	a->records++;
	if (drop == DROP_CLIPPED && !a->not_fitting++) {
		a->first_bad = number;
		a->first_bad_off = rec->off;
	}
	if (drop >= 0) {
		a->dropped[drop]++;
		return;
	}
	if (!a->planned++)
		a->first_ns = rec->start_ns;
	a->last_ns = rec->start_ns;
	a->moved += m.moved;
	a->rounded += m.rounded;
	a->writes += m.io.op == TIMED_WRITE || m.io.op == TIMED_DISCARD;
	a->discards += m.io.op == TIMED_DISCARD;
	if (m.io.op == TIMED_READ)
		most(&a->max_read_bytes, m.io.len);
	if (m.io.op == TIMED_WRITE)
		most(&a->max_write_bytes, m.io.len);
}

static bool is_rw(const struct trace_io *io)
{
	return io->op == TRACE_READ || io->op == TRACE_WRITE;
}

static int depth_of(struct exact *x, struct inflight *f, const struct trace_cursor *c, uint64_t i,
		    struct err *err)
{
	uint64_t response = c->response ? c->response[i] : TRACE_NO_RESPONSE;

	if (response == TRACE_NO_RESPONSE || !is_rw(&c->io[i]))
		return 0;
	return inflight_add(f, c->io[i].start_ns, response) ? err_set(err, -ENOMEM, "out of memory")
							    : 0;
}

static int pass(struct exact *x, struct err *err)
{
	struct trace_cursor c = { 0 };
	struct inflight f;
	int rc;

	inflight_init(&f, take_depth, x);
	while ((rc = trace_window(x->t, &c, err)) > 0) {
		uint64_t i = c.next - c.first;

		for (rc = 0; i < c.n && !rc; i++, c.next++) {
			account(x, &c.io[i], c.next);
			rc = depth_of(x, &f, &c, i, err);
		}
		if (rc)
			break;
	}
	if (!rc)
		inflight_finish(&f);
	inflight_release(&f);
	/* over all of the time, idle or not, as the achieved depth is measured */
	x->acc.depth_avg = f.t_ns ? x->area_ns / (double)f.t_ns : NAN;
	return rc;
}

/* Loops keep the pace: the next pass begins a mean gap after the last IO of the one before. */
static void set_loop(struct exact_account *a)
{
	uint64_t span = a->last_ns - a->first_ns;

	a->loop_ns = span + (a->planned > 1 ? span / (a->planned - 1) : 0);
}

/* ---- refusals ---- */

static void list_devices(const struct exact *x, const uint64_t *n, struct buf *out)
{
	const struct trace_head *h = trace_head(x->t);
	unsigned listed = 0, more = 0;

	for (unsigned d = 0; d < h->n_devices; d++) {
		if (!n[d])
			continue;
		if (listed == NAMES_MAX) {
			more++;
			continue;
		}
		buf_fmt(out, "%s%s (%" PRIu64 " records)", listed++ ? ", " : "", h->device[d].name,
			n[d]);
	}
	if (more)
		buf_fmt(out, " and %u more", more);
}

static bool has_unmapped(const struct exact *x)
{
	for (unsigned d = 0; d < trace_head(x->t)->n_devices; d++)
		if (x->conf.map[d].target == EXACT_UNMAPPED)
			return true;
	return false;
}

/* Devices whose records would be replayed but have no target. */
static int check_map(struct exact *x, struct err *err)
{
	unsigned n_devices = trace_head(x->t)->n_devices;
	uint64_t *n, all = 0;
	struct trace_cursor c = { 0 };
	struct buf names = BUF_INIT;
	int rc;

	if (!has_unmapped(x))
		return 0;
	n = calloc(n_devices, sizeof *n);
	BUG_ON(!n);
	while ((rc = trace_window(x->t, &c, err)) > 0)
		for (uint64_t i = c.next - c.first; i < c.n; i++, c.next++) {
			const struct trace_io *io = &c.io[i];
			bool lost = x->conf.map[io->dev].target == EXACT_UNMAPPED;

			n[io->dev] += lost;
			all += lost;
		}
	list_devices(x, n, &names);
	if (!rc && all)
		rc = err_set(err, -EINVAL, "no target for %s: --device-map DEVICE=DUT names it",
			     buf_cstr(&names));
	buf_release(&names);
	free(n);
	return rc;
}

static int check_account(const struct exact *x, struct err *err)
{
	const struct exact_account *a = &x->acc;
	const struct exact_target *g;
	struct trace_cursor c = { .next = a->first_bad };
	int rc;

	if (a->not_fitting && x->conf.fit == FIT_REFUSE) {
		rc = trace_window(x->t, &c, err);
		if (rc <= 0)
			return rc ? rc : err_set(err, -EIO, "the capture changed meanwhile");
		g = &x->conf.target[x->conf.map[c.io[c.next - c.first].dev].target];
		return err_set(err, -EINVAL,
			       "%" PRIu64 " of %" PRIu64 " records do not fit %s of %" PRIu64
			       " bytes: the first is record %" PRIu64 " at offset %" PRIu64
			       " (--fit clip, wrap or scale says what becomes of them)",
			       a->not_fitting, a->records, g->name, g->capacity_bytes, a->first_bad,
			       a->first_bad_off);
	}
	if (!a->planned)
		return err_set(err, -EINVAL, "none of the %" PRIu64 " records can be replayed",
			       a->records);
	return 0;
}

int exact_open(struct trace *t, const struct exact_conf *conf, struct exact **ret, struct err *err)
{
	struct exact *x = calloc(1, sizeof *x);
	int rc;

	BUG_ON(!x || !conf->loops);
	x->t = t;
	x->conf = *conf;
	rc = check_map(x, err);
	if (!rc)
		rc = pass(x, err);
	if (!rc)
		rc = check_account(x, err);
	if (rc) {
		exact_close(x);
		return rc;
	}
	set_loop(&x->acc);
	*ret = x;
	return 0;
}

void exact_close(struct exact *x)
{
	free(x);
}

const struct exact_account *exact_account(const struct exact *x)
{
	return &x->acc;
}

/* ---- the IOs ---- */

static uint64_t due_of(const struct exact *x, uint64_t start_ns)
{
	unsigned __int128 at = start_ns - x->acc.first_ns;

	if (x->conf.speed_milli == EXACT_ASAP)
		return 0;
	at += (unsigned __int128)x->loop * x->acc.loop_ns;
	return (uint64_t)(at * EXACT_NATIVE / x->conf.speed_milli);
}

static unsigned load_window(struct exact *x, struct timed_io *ret, unsigned n)
{
	struct trace_cursor *c = &x->at;
	unsigned got = 0;

	for (uint64_t i = c->next - c->first; i < c->n && got < n; i++, c->next++) {
		struct made m;

		if (make_io(x, &c->io[i], &m) >= 0)
			continue;
		ret[got] = m.io;
		ret[got++].due_ns = due_of(x, m.io.due_ns);
	}
	return got;
}

int exact_load(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	struct exact *x = arg;
	unsigned got = 0;

	while (!got) {
		int rc = trace_window(x->t, &x->at, err);

		if (rc < 0)
			return rc;
		if (rc)
			got = load_window(x, ret, n);
		else if (++x->loop < x->conf.loops)
			x->at.next = 0;
		else
			return 0;
	}
	return (int)got;
}
