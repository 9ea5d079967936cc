/* SPDX-License-Identifier: MIT */
/*
 * Block events by an instance of tracefs: each CPU's ring is read page by page as the kernel has it (nanoseconds, no text),
 * and the CPUs are put together by time, so that the file is in order but for what interrupts do to one another.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"
#include "replay/record_ring.h"

#define QUEUE_LOW 8192u /* records of a CPU: below it more pages are read */
#define SLACK_NS 1000000 /* an event comes later into the ring than the time that it carries */

struct cpu {
	int fd;
	uint32_t number;
	uint32_t seq;
	struct blk_io_trace *q; /* read and not yet written */
	size_t at, n, cap;
	uint64_t last_ns; /* of what was read */
	bool drained;
};

struct events {
	int inst;
	struct ring_page format;
	unsigned char *page;
	size_t page_bytes;
	unsigned page_records;
	struct cpu *cpu;
	unsigned n_cpus;
	struct pollfd *poll;
	unsigned *heap, n_heap; /* CPUs with records, the earliest first */
};

/* ---- setting up ---- */

struct event_row {
	const char *name;
	uint32_t action;
	bool bio;
};

static const struct event_row event_rows[] = {
	{ "block_rq_issue", BLK_TA_ISSUE, false },
	{ "block_rq_complete", BLK_TA_COMPLETE, false },
	{ "block_rq_requeue", BLK_TA_REQUEUE, false },
	{ "block_bio_queue", BLK_TA_QUEUE, true },
	{ "block_bio_complete", BLK_TA_COMPLETE, true },
};
_Static_assert(sizeof(event_rows) / sizeof(event_rows[0]) == RING_EVENTS_MAX, "room for each");

/* "dev == 7340032 || dev == 7340033"; false: no target of that kind. */
static bool filter_of(const struct record_opts *o, bool bio, struct buf *b)
{
	const char *join = "";

	for (unsigned i = 0; i < o->n_targets; i++) {
		const struct record_target *t = &o->target[i];

		if (t->bio != bio)
			continue;
		for (unsigned k = 0; k < t->n_aliases; k++) {
			buf_fmt(b, "%sdev == %u", join, t->alias[k]);
			join = " || ";
		}
	}
	return b->len > 0;
}

static int enable_event(struct events *e, const struct event_row *row, const char *filter,
			struct err *err)
{
	char file[96];
	struct buf text = BUF_INIT;
	int rc;

	snprintf(file, sizeof(file), "events/block/%s/format", row->name);
	rc = tfs_read(e->inst, file, &text);
	if (rc)
		rc = err_set(err, -ENOSYS, "the kernel has no event %s: %s", row->name,
			     strerror(-rc));
	if (!rc)
		rc = ring_event_format(&e->format, buf_cstr(&text), row->action, err);
	buf_release(&text);
	snprintf(file, sizeof(file), "events/block/%s/filter", row->name);
	if (!rc)
		rc = tfs_set(e->inst, file, filter, err);
	snprintf(file, sizeof(file), "events/block/%s/enable", row->name);
	return rc ? rc : tfs_set(e->inst, file, "1", err);
}

static int enable(struct events *e, const struct record_opts *o, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < RING_EVENTS_MAX; i++) {
		struct buf filter = BUF_INIT;

		if (filter_of(o, event_rows[i].bio, &filter))
			rc = enable_event(e, &event_rows[i], buf_cstr(&filter), err);
		buf_release(&filter);
	}
	return rc;
}

static int read_page_format(struct events *e, const struct tracefs *t, struct err *err)
{
	struct buf text = BUF_INIT;
	uint64_t kb;
	char line[32];
	int rc = tfs_read(t->root, "events/header_page", &text);

	if (rc)
		rc = err_set(err, -ENOSYS, "tracefs: events/header_page: %s", strerror(-rc));
	else
		rc = ring_page_format(&e->format, buf_cstr(&text), err);
	buf_release(&text);
	e->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	if (tfs_line(e->inst, "buffer_subbuf_size_kb", line, sizeof(line)) &&
	    !parse_uint(line, 1, 1024, &kb))
		e->page_bytes = kb * 1024;
	return rc;
}

static int open_cpu(struct events *e, int dir, const char *name, struct err *err)
{
	struct cpu c = { .drained = false }, *more;
	char file[300];
	uint64_t number;

	if (strncmp(name, "cpu", 3) != 0 || parse_uint(name + 3, 0, 1 << 20, &number))
		return 0;
	snprintf(file, sizeof(file), "%s/trace_pipe_raw", name);
	c.number = (uint32_t)number;
	c.fd = openat(dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c.fd < 0)
		return err_set(err, -EIO, "tracefs: per_cpu/%s: %s", file, strerror(errno));
	more = realloc(e->cpu, (e->n_cpus + 1) * sizeof(*e->cpu));
	if (!more) {
		close(c.fd);
		return err_set(err, -ENOMEM, "no memory to record");
	}
	e->cpu = more;
	e->cpu[e->n_cpus++] = c;
	return 0;
}

static int open_cpus(struct events *e, struct err *err)
{
	int fd = openat(e->inst, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && !rc && (entry = readdir(d)))
		rc = open_cpu(e, fd, entry->d_name, err);
	if (d)
		closedir(d);
	if (!rc && !e->n_cpus)
		rc = err_set(err, -ENOSYS, "tracefs: no ring of any CPU can be read");
	return rc;
}

static int make_buffers(struct events *e, struct err *err)
{
	e->page_records = (unsigned)(e->page_bytes / 8);
	e->page = aligned_alloc(4096, (e->page_bytes + 4095) & ~(size_t)4095);
	e->poll = calloc(e->n_cpus, sizeof(*e->poll));
	e->heap = calloc(e->n_cpus, sizeof(*e->heap));
	if (!e->page || !e->poll || !e->heap)
		return err_set(err, -ENOMEM, "no memory to record");
	for (unsigned i = 0; i < e->n_cpus; i++)
		e->poll[i] = (struct pollfd){ .fd = e->cpu[i].fd, .events = POLLIN };
	return 0;
}

static int set_up(struct events *e, const struct tracefs *t, const struct record_opts *o,
		  uint64_t *ret_buffer, struct err *err)
{
	int rc = tfs_set(e->inst, "tracing_on", "0", err);

	if (!rc)
		rc = tfs_set(e->inst, "trace_clock", "mono", err);
	if (!rc)
		rc = tfs_buffer(e->inst, o->buffer_bytes, ret_buffer, err);
	if (!rc)
		rc = read_page_format(e, t, err);
	/* when to wake us; and what does not fit is not written over what waits. Older kernels lack the first. */
	(void)tfs_write(e->inst, "buffer_percent", "20");
	(void)tfs_write(e->inst, "options/overwrite", "0");
	if (!rc)
		rc = enable(e, o, err);
	if (!rc)
		rc = open_cpus(e, err);
	if (!rc)
		rc = make_buffers(e, err);
	return rc ? rc : tfs_set(e->inst, "tracing_on", "1", err);
}

int events_open(struct tracefs *t, const struct record_opts *o, struct events **ret,
		uint64_t *ret_buffer, struct err *err)
{
	struct events *e = calloc(1, sizeof(*e));
	int rc;

	if (!e)
		return err_set(err, -ENOMEM, "no memory to record");
	rc = tracefs_instance(t, "pts", "", err);
	e->inst = t->inst;
	if (!rc)
		rc = set_up(e, t, o, ret_buffer, err);
	if (rc) {
		events_close(e);
		return rc;
	}
	*ret = e;
	return 0;
}

void events_close(struct events *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < e->n_cpus; i++) {
		close(e->cpu[i].fd);
		free(e->cpu[i].q);
	}
	free(e->cpu);
	free(e->page);
	free(e->poll);
	free(e->heap);
	free(e);
}

int events_stop(struct events *e, struct err *err)
{
	return tfs_set(e->inst, "tracing_on", "0", err);
}

uint64_t events_lost(const struct events *e)
{
	return tfs_lost(e->inst);
}

void events_wait(struct events *e, unsigned ms)
{
	(void)poll(e->poll, e->n_cpus, (int)ms);
}

/* ---- reading ---- */

static int room(const struct events *e, struct cpu *c, struct err *err)
{
	struct blk_io_trace *q;
	size_t cap;

	if (c->at) {
		memmove(c->q, c->q + c->at, (c->n - c->at) * sizeof(*c->q));
		c->n -= c->at;
		c->at = 0;
	}
	if (c->cap - c->n >= e->page_records)
		return 0;
	cap = 2 * c->cap + QUEUE_LOW + e->page_records;
	q = realloc(c->q, cap * sizeof(*q));
	if (!q)
		return err_set(err, -ENOMEM, "no memory for events that wait");
	c->q = q;
	c->cap = cap;
	return 0;
}

/* A page of a CPU: 1 got, 0 there is none. */
static int read_page(struct events *e, struct cpu *c, struct err *err)
{
	ssize_t k = read(c->fd, e->page, e->page_bytes);
	int n;

	if (k == 0 || (k < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	if (k < 0)
		return err_set(err, -EIO, "tracefs: the ring of CPU %u: %s", c->number,
			       strerror(errno));
	n = room(e, c, err);
	if (n)
		return n;
	n = ring_page_read(&e->format, e->page, (size_t)k, c->q + c->n, e->page_records);
	if (n < 0)
		return err_set(err, -EIO, "tracefs: a page of CPU %u makes no sense", c->number);
	for (int i = 0; i < n; i++) {
		struct blk_io_trace *rec = &c->q[c->n++];

		rec->cpu = c->number;
		rec->sequence = ++c->seq;
		c->last_ns = rec->time;
	}
	return 1;
}

/* Up to which time all CPUs' events are known. */
static int fill(struct events *e, uint64_t *ret_known_ns, struct err *err)
{
	uint64_t now = clock_mono_ns(), known = now - SLACK_NS;

	for (unsigned i = 0; i < e->n_cpus; i++) {
		struct cpu *c = &e->cpu[i];
		int rc = 1;

		while (rc == 1 && c->n - c->at < QUEUE_LOW)
			rc = read_page(e, c, err);
		if (rc < 0)
			return rc;
		c->drained = rc == 0;
		if (!c->drained && c->last_ns < known)
			known = c->last_ns;
	}
	*ret_known_ns = known;
	return 0;
}

/* ---- putting the CPUs together ---- */

static uint64_t head_ns(const struct events *e, unsigned cpu)
{
	return e->cpu[cpu].q[e->cpu[cpu].at].time;
}

static void sift(struct events *e, unsigned i)
{
	for (;;) {
		unsigned least = i, child = 2 * i + 1, cpu;

		for (unsigned k = child; k < child + 2 && k < e->n_heap; k++)
			if (head_ns(e, e->heap[k]) < head_ns(e, e->heap[least]))
				least = k;
		if (least == i)
			return;
		cpu = e->heap[i];
		e->heap[i] = e->heap[least];
		e->heap[least] = cpu;
		i = least;
	}
}

static int write_until(struct events *e, struct source_sink *s, uint64_t known_ns, struct err *err)
{
	e->n_heap = 0;
	for (unsigned i = 0; i < e->n_cpus; i++)
		if (e->cpu[i].at < e->cpu[i].n)
			e->heap[e->n_heap++] = i;
	for (unsigned i = e->n_heap; i-- > 0;)
		sift(e, i);
	while (e->n_heap) {
		struct cpu *c = &e->cpu[e->heap[0]];
		int rc;

		if (c->q[c->at].time > known_ns)
			return 0;
		rc = sink_record(s, &c->q[c->at], err);
		if (rc)
			return rc;
		if (++c->at == c->n)
			e->heap[0] = e->heap[--e->n_heap];
		sift(e, 0);
	}
	return 0;
}

int events_read(struct events *e, struct source_sink *s, bool last, struct err *err)
{
	bool drained;

	do {
		uint64_t known = 0;
		int rc = fill(e, &known, err);

		drained = true;
		for (unsigned i = 0; i < e->n_cpus; i++)
			drained &= e->cpu[i].drained;
		if (!rc)
			rc = write_until(e, s, last && drained ? UINT64_MAX : known, err);
		if (rc)
			return rc;
	} while (!drained);
	return 0;
}
