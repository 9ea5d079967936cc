/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/pair.h"

#define NONE UINT32_MAX
#define BUCKETS_MIN 1024u

/*
 * A device is asked for by its queue events until one of them is issued. So many IOs may wait for that: a device with a
 * request queue issues within its depth, one without never does. Of all devices together half of OPEN_MAX may wait.
 */
#define WAIT_MAX 65536u

/* More IOs than any device has in flight: of so many open ones the older half is given up, their completions are lost. */
#define OPEN_MAX (1u << 18)

struct open_io {
	struct trace_rec rec;
	uint64_t key; /* what its completion is to have: moves on with a partial one */
	uint64_t left; /* bytes that are not complete yet */
	uint32_t next; /* of the bucket, or of the free ones */
	uint8_t act; /* EVENT_QUEUE, EVENT_ISSUE */
	bool done; /* of a waiting device: complete, and kept until it is known what counts */
};

enum device_mode { MODE_OPEN, MODE_QUEUE, MODE_ISSUE };

struct pair_device {
	enum device_mode mode;
	uint32_t waiting; /* IOs by queue events that may yet turn out not to count */
};

enum left_out { LEFT_QUEUE, LEFT_OTHER, LEFT_NO_BYTES, LEFT_REQUEUED, LEFT_MERGE, LEFT_REASONS };

static const char *const left_words[LEFT_REASONS] = {
	[LEFT_QUEUE] = "queue event of an issued IO",
	[LEFT_OTHER] = "neither read, write, discard nor flush",
	[LEFT_NO_BYTES] = "completion of no bytes",
	[LEFT_REQUEUED] = "requeued",
	[LEFT_MERGE] = "merge",
};

struct pair {
	struct pair_sink sink;
	uint64_t left_out[LEFT_REASONS];
	struct open_io *io;
	uint32_t n_io, cap, free, in_use;
	uint32_t *head, *tail; /* buckets: oldest first */
	uint32_t n_buckets;
	struct pair_device *dev;
	uint32_t n_dev;
	uint32_t order, waiting; /* waiting: of all devices */
	uint64_t matched, unmatched_starts, unmatched_ends, errors, issues, queues;
};

struct pair *pair_new(const struct pair_sink *sink)
{
	struct pair *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink = *sink;
	p->free = NONE;
	return p;
}

void pair_free(struct pair *p)
{
	if (!p)
		return;
	free(p->io);
	free(p->head);
	free(p->tail);
	free(p->dev);
	free(p);
}

static uint32_t bucket_of(const struct pair *p, uint16_t dev, uint64_t key)
{
	uint64_t h = (key ^ (uint64_t)dev << 48) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32) & (p->n_buckets - 1);
}

static void put(struct pair *p, uint32_t i)
{
	uint32_t b = bucket_of(p, p->io[i].rec.io.dev, p->io[i].key);

	p->io[i].next = NONE;
	if (p->head[b] == NONE)
		p->head[b] = i;
	else
		p->io[p->tail[b]].next = i;
	p->tail[b] = i;
}

/* Twice the buckets; the open ones go in again by age, which is their order. */
static int grow_buckets(struct pair *p)
{
	uint32_t n = p->n_buckets ? 2 * p->n_buckets : BUCKETS_MIN, was = p->n_buckets;
	uint32_t *head = malloc(n * sizeof(*head)), *tail = malloc(n * sizeof(*tail)),
		 *old = p->head;

	if (!head || !tail) {
		free(head);
		free(tail);
		return -ENOMEM;
	}
	memset(head, 0xff, n * sizeof(*head));
	free(p->tail);
	p->head = head;
	p->tail = tail;
	p->n_buckets = n;
	for (uint32_t b = 0; b < was; b++) /* a bucket's IOs keep their order among themselves */
		for (uint32_t i = old[b], next; i != NONE; i = next) {
			next = p->io[i].next;
			put(p, i);
		}
	free(old);
	return 0;
}

static int new_io(struct pair *p, uint32_t *ret, struct err *err)
{
	if (p->free != NONE) {
		*ret = p->free;
		p->free = p->io[p->free].next;
	} else {
		if (p->n_io == p->cap) {
			uint32_t cap = p->cap ? 2 * p->cap : 1024;
			struct open_io *io = realloc(p->io, (size_t)cap * sizeof(*io));

			if (!io)
				return err_set(err, -ENOMEM, "no memory for the IOs in flight");
			p->io = io;
			p->cap = cap;
		}
		*ret = p->n_io++;
	}
	if (++p->in_use > p->n_buckets && grow_buckets(p))
		return err_set(err, -ENOMEM, "no memory for the IOs in flight");
	return 0;
}

static void drop_io(struct pair *p, uint32_t i)
{
	p->io[i].next = p->free;
	p->free = i;
	p->in_use--;
}

/* Back into the table among those of its age: what was begun first is found first. */
static void put_by_age(struct pair *p, uint32_t i)
{
	uint32_t b = bucket_of(p, p->io[i].rec.io.dev, p->io[i].key), prev = NONE, at = p->head[b];

	while (at != NONE && p->io[at].rec.order < p->io[i].rec.order) {
		prev = at;
		at = p->io[at].next;
	}
	if (at == NONE) {
		put(p, i);
		return;
	}
	p->io[i].next = at;
	if (prev == NONE)
		p->head[b] = i;
	else
		p->io[prev].next = i;
}

/*
 * How well an open IO fits an end at its place: of several the best is the one, of equal ones the oldest. A read's end without
 * bytes says no operation, nor does one that ends whatever has its key (bytes UINT64_MAX).
 */
enum fit { FIT_NONE, FIT_SMALLER, FIT_PART, FIT_EXACT };

static enum fit fit_of(const struct open_io *o, const struct import_event *ev)
{
	bool any_op = ev->op == TRACE_OTHER && ev->bytes == UINT64_MAX;
	bool no_bytes = ev->op == TRACE_OTHER && ev->bytes == 0;

	if (any_op || (no_bytes && o->rec.io.op == TRACE_READ))
		return FIT_EXACT;
	if (o->rec.io.op != ev->op)
		return FIT_NONE;
	if (o->left == ev->bytes)
		return FIT_EXACT;
	return o->left > ev->bytes ? FIT_PART : FIT_SMALLER;
}

/* So many that fit somehow are looked at: with more at one place which is which cannot be told. */
#define FIT_LOOKS 1024

/* Takes the open IO of that kind that fits best at that place out of the table, or NONE. */
static uint32_t take(struct pair *p, const struct import_event *ev, uint8_t act)
{
	uint32_t b, prev = NONE, best = NONE, before = NONE;
	enum fit best_fit = FIT_NONE;
	int looks = 0;

	if (!p->n_buckets)
		return NONE;
	b = bucket_of(p, ev->dev, ev->key);
	for (uint32_t i = p->head[b]; i != NONE && best_fit < FIT_EXACT && looks < FIT_LOOKS;
	     prev = i, i = p->io[i].next) {
		const struct open_io *o = &p->io[i];
		enum fit fit;

		if (o->rec.io.dev != ev->dev || o->key != ev->key || o->act != act || o->done)
			continue;
		fit = fit_of(o, ev);
		looks += fit != FIT_NONE;
		if (fit <= best_fit)
			continue;
		best_fit = fit;
		best = i;
		before = prev;
	}
	if (best == NONE)
		return NONE;
	if (before == NONE)
		p->head[b] = p->io[best].next;
	else
		p->io[before].next = p->io[best].next;
	if (p->tail[b] == best)
		p->tail[b] = before;
	return best;
}

static int device(struct pair *p, uint16_t dev, struct pair_device **ret, struct err *err)
{
	if (dev >= p->n_dev) {
		uint32_t n = dev + 16u;
		struct pair_device *d = realloc(p->dev, n * sizeof(*d));

		if (!d)
			return err_set(err, -ENOMEM, "no memory for the capture's devices");
		memset(d + p->n_dev, 0, (n - p->n_dev) * sizeof(*d));
		p->dev = d;
		p->n_dev = n;
	}
	*ret = &p->dev[dev];
	return 0;
}

static bool is_rw(const struct trace_rec *r)
{
	return r->io.op == TRACE_READ || r->io.op == TRACE_WRITE;
}

static int emit(struct pair *p, const struct open_io *o, struct err *err)
{
	if (is_rw(&o->rec) && o->rec.response_ns != TRACE_NO_RESPONSE)
		p->matched++;
	if (o->act == EVENT_ISSUE)
		p->issues++;
	else
		p->queues++;
	return p->sink.io(p->sink.arg, &o->rec, err);
}

/* What settle() and give_up() do with an open IO. */
enum fate { FATE_STAYS, FATE_COUNTS, FATE_WAS_QUEUE };

struct sweep {
	enum fate (*fate)(const struct pair *p, const struct open_io *o, const void *arg);
	const void *arg;
};

/* Goes over all open IOs; a bucket's remaining ones keep their order. */
static int sweep_all(struct pair *p, const struct sweep *sweep, struct err *err)
{
	for (uint32_t b = 0; b < p->n_buckets; b++) {
		uint32_t *link = &p->head[b], last = NONE;

		while (*link != NONE) {
			uint32_t i = *link;
			struct open_io *o = &p->io[i];
			enum fate fate = sweep->fate(p, o, sweep->arg);
			int rc = 0;

			if (fate == FATE_STAYS) {
				last = i;
				link = &o->next;
				continue;
			}
			*link = o->next;
			if (fate == FATE_WAS_QUEUE)
				p->left_out[LEFT_QUEUE]++;
			else
				rc = emit(p, o, err);
			drop_io(p, i);
			if (rc)
				return rc;
		}
		p->tail[b] = last;
	}
	return 0;
}

struct settling {
	uint16_t dev;
	bool keep;
};

static enum fate fate_of_waiting(const struct pair *p, const struct open_io *o, const void *arg)
{
	const struct settling *s = arg;

	if (o->rec.io.dev != s->dev || o->act != EVENT_QUEUE || (s->keep && !o->done))
		return FATE_STAYS;
	return s->keep ? FATE_COUNTS : FATE_WAS_QUEUE;
}

/* It is known what counts of a waiting device: its IOs by queue events (@keep), or they were those of issued ones. */
static int settle(struct pair *p, uint16_t dev, bool keep, struct err *err)
{
	const struct settling s = { dev, keep };

	p->waiting -= p->dev[dev].waiting;
	p->dev[dev].waiting = 0;
	return sweep_all(p, &(struct sweep){ fate_of_waiting, &s }, err);
}

/* Only IOs that count are given up: those of waiting devices are at most half. */
static enum fate fate_of_old(const struct pair *p, const struct open_io *o, const void *arg)
{
	bool counts = p->dev[o->rec.io.dev].mode != MODE_OPEN;

	return counts && p->order - o->rec.order > OPEN_MAX / 2 ? FATE_COUNTS : FATE_STAYS;
}

static int give_up_old(struct pair *p, struct err *err)
{
	uint32_t was = p->in_use;
	int rc = sweep_all(p, &(struct sweep){ fate_of_old, NULL }, err);

	p->unmatched_starts += was - p->in_use;
	return rc;
}

/* Does this start event count? 1, 0 (counted as skipped), <0. The first issue of a device makes its queue events void. */
static int start_counts(struct pair *p, struct pair_device *d, const struct import_event *ev,
			struct err *err)
{
	if (ev->act == EVENT_QUEUE && d->mode == MODE_ISSUE) {
		p->left_out[LEFT_QUEUE]++;
		return 0;
	}
	if (ev->act == EVENT_QUEUE || d->mode == MODE_ISSUE)
		return 1;
	if (d->mode == MODE_QUEUE)
		return err_set(err, -EINVAL,
			       "a device issues its first IO after more than %u were queued: "
			       "capture issue events alone",
			       WAIT_MAX);
	d->mode = MODE_ISSUE;
	int rc = settle(p, ev->dev, false, err);
	return rc ? rc : 1;
}

static void fill(struct open_io *o, const struct import_event *ev, uint32_t order)
{
	*o = (struct open_io){ .key = ev->key, .left = ev->bytes, .act = ev->act };
	o->rec.io = (struct trace_io){ .start_ns = (uint64_t)ev->time_ns,
				       .off = ev->sector * 512,
				       .len = (uint32_t)ev->bytes,
				       .dev = ev->dev,
				       .op = ev->op,
				       .flags = ev->flags };
	if (ev->bytes > UINT32_MAX) {
		o->rec.io.len = (uint32_t)(ev->bytes / 512);
		o->rec.io.flags |= TRACE_LEN512;
	}
	if (ev->op == TRACE_FLUSH) { /* its completions carry neither place nor size */
		o->rec.io.off = 0;
		o->done = true;
	}
	o->rec.response_ns = TRACE_NO_RESPONSE;
	o->rec.pid = ev->pid;
	o->rec.order = order;
}

static int start(struct pair *p, struct pair_device *d, const struct import_event *ev,
		 struct err *err)
{
	uint32_t i = NONE;
	int rc = start_counts(p, d, ev, err);

	if (rc != 1)
		return rc;
	if (p->in_use >= OPEN_MAX && (rc = give_up_old(p, err)) != 0)
		return rc;
	rc = new_io(p, &i, err);
	if (rc)
		return rc;
	fill(&p->io[i], ev, p->order++);
	if (ev->op == TRACE_FLUSH && d->mode != MODE_OPEN) {
		rc = emit(p, &p->io[i], err);
		drop_io(p, i);
		return rc;
	}
	put(p, i);
	if (d->mode != MODE_OPEN)
		return 0;
	d->waiting++;
	p->waiting++;
	if (d->waiting <= WAIT_MAX && p->waiting <= OPEN_MAX / 2)
		return 0;
	d->mode = MODE_QUEUE;
	return settle(p, ev->dev, true, err);
}

static int complete(struct pair *p, const struct pair_device *d, const struct import_event *ev,
		    struct err *err)
{
	uint32_t i = take(p, ev, d->mode == MODE_ISSUE ? EVENT_ISSUE : EVENT_QUEUE);
	struct open_io *o;
	int rc = 0;

	if (i == NONE) {
		p->unmatched_ends++;
		return 0;
	}
	o = &p->io[i];
	if (!ev->error && ev->bytes && ev->bytes < o->left) { /* the rest completes further on */
		o->left -= ev->bytes;
		o->key += ev->bytes / 512;
		put_by_age(p, i);
		return 0;
	}
	o->rec.response_ns = (uint64_t)ev->time_ns - o->rec.io.start_ns;
	if (ev->error) {
		o->rec.io.flags |= TRACE_ERROR;
		p->errors++;
	}
	if (d->mode == MODE_OPEN) {
		o->done = true;
		put(p, i);
		return 0;
	}
	rc = emit(p, o, err);
	drop_io(p, i);
	return rc;
}

int pair_event(struct pair *p, const struct import_event *ev, struct err *err)
{
	struct pair_device *d = NULL;
	uint32_t i;
	int rc = device(p, ev->dev, &d, err);

	if (rc)
		return rc;
	switch ((enum event_act)ev->act) {
	case EVENT_QUEUE:
	case EVENT_ISSUE:
		if (ev->op == TRACE_OTHER) {
			p->left_out[LEFT_OTHER]++;
			return 0;
		}
		return start(p, d, ev, err);
	case EVENT_COMPLETE:
		if (ev->bytes == 0 && !ev->error) {
			p->left_out[LEFT_NO_BYTES]++;
			return 0;
		}
		return complete(p, d, ev, err);
	case EVENT_REQUEUE:
		i = take(p, ev, EVENT_ISSUE);
		p->left_out[LEFT_REQUEUED]++;
		if (i != NONE)
			drop_io(p, i);
		return 0;
	case EVENT_MERGE:
		p->left_out[LEFT_MERGE]++;
		return 0;
	}
	return 0;
}

int pair_finish(struct pair *p, struct trace_report *r, struct err *err)
{
	uint64_t open = p->unmatched_starts;

	for (uint32_t i = 0; i < p->n_dev; i++)
		if (p->dev[i].waiting && p->dev[i].mode == MODE_OPEN) {
			int rc = settle(p, (uint16_t)i, true, err);

			if (rc)
				return rc;
		}
	for (uint32_t b = 0; b < p->n_buckets; b++)
		for (uint32_t i = p->head[b]; i != NONE; i = p->io[i].next) {
			int rc;

			open++;
			rc = emit(p, &p->io[i], err);
			if (rc)
				return rc;
		}
	for (unsigned i = 0; i < LEFT_REASONS; i++)
		if (p->left_out[i])
			p->sink.skip(p->sink.arg, left_words[i], p->left_out[i]);
	r->matched = p->matched;
	r->unmatched_starts = open;
	r->unmatched_ends = p->unmatched_ends;
	r->errors = p->errors;
	snprintf(r->event, sizeof(r->event), "%s",
		 p->issues && p->queues ? "D, Q"
		 : p->queues		? "Q"
					: "D");
	return 0;
}
