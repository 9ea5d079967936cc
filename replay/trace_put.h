/* SPDX-License-Identifier: MIT */
/*
 * The buffer of a trace_writer, so that a record that goes to its end costs no call: tens of millions of them come that way.
 * Private to trace_write.c and import.c.
 */
#ifndef REPLAY_TRACE_PUT_H
#define REPLAY_TRACE_PUT_H

#include "replay/trace.h"

struct trace_put {
	struct trace_rec *buf;
	size_t n, cap;
	size_t room; /* so many may be in it before trace_writer_add() has to see to it */
	bool ordered; /* buf is in order as it stands */
	struct trace_device *device;
	unsigned n_devices;
};

struct trace_put *trace_writer_put(struct trace_writer *w); /* lives as long as @w */

static inline bool trace_before(const struct trace_rec *a, const struct trace_rec *b)
{
	if (a->io.start_ns == b->io.start_ns)
		return (int32_t)(a->order - b->order) < 0;
	return (int64_t)a->io.start_ns < (int64_t)b->io.start_ns;
}

static inline void trace_put_device(struct trace_put *p, const struct trace_io *io)
{
	struct trace_device *d = &p->device[io->dev];
	uint64_t bytes = trace_io_bytes(io);

	d->ios += io->op <= TRACE_WRITE;
	if (bytes && io->off + bytes > d->end_bytes)
		d->end_bytes = io->off + bytes;
}

/* False: nothing was done, and trace_writer_add() is to be called. */
static inline bool trace_put_last(struct trace_put *p, const struct trace_rec *rec)
{
	if (p->n >= p->room || p->n == 0 || rec->io.dev >= p->n_devices ||
	    rec->io.op >= TRACE_OPS || trace_before(rec, &p->buf[p->n - 1]))
		return false;
	trace_put_device(p, &rec->io);
	p->buf[p->n++] = *rec;
	return true;
}

#endif
