/* SPDX-License-Identifier: MIT */
/*
 * Writing a capture in bounded memory. Records gather in a buffer; a full one is sorted and goes out as a run of chunks. When
 * all runs turn out to follow one another (the rule), the file is then as it should be; else they are merged into a second one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/crc.h"
#include "replay/trace_out.h"
#include "replay/trace_put.h"

#define RUN_RECORDS ((size_t)8 * CHUNK_RECORDS)
#define RUN_ORDERED \
	((size_t)2 * \
	 CHUNK_RECORDS) /* as long as runs follow one another they may be short, and stay in the cache */

struct trace_writer {
	char *path;
	struct trace_out out; /* the file that the runs are in */
	struct trace_put put; /* its buffer grows to RUN_RECORDS */
	struct trace_rec *spare; /* to sort the buffer: as large, or NULL */
	bool based;
	uint64_t base_ns; /* subtracted from what is written: the first start of the first run */
	struct trace_run *run;
	unsigned n_runs;
	bool runs_ordered;
	uint16_t *slot; /* hash of the names: device + 1 */
	uint32_t n_slots; /* a power of two, more than twice the devices */
};

/*
 * IOs come when they complete: of a full buffer so many stay for those that started before them, and runs do not overlap. Whole
 * chunks go out, so that a capture's chunks (and its digest) are the same however its records came.
 */
#define KEEP_RECORDS ((size_t)CHUNK_RECORDS)
#define NEAR_RECORDS ((size_t)64) /* that a record is put behind without sorting */

#define DEVICES_MAX 65535u
#define SLOTS_MIN 64u

int trace_writer_open(const char *path, struct trace_writer **ret_writer, struct err *err)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	int rc = 0;

	if (w) {
		trace_out_init(&w->out);
		w->path = strdup(path);
		w->n_slots = SLOTS_MIN;
		w->slot = calloc(SLOTS_MIN, sizeof(*w->slot));
		w->put.ordered = w->runs_ordered = true;
	}
	if (!w || !w->path || !w->slot)
		rc = err_set(err, -ENOMEM, "%s: no memory to write a capture", path);
	if (!rc)
		rc = trace_out_open(&w->out, path, err);
	if (rc) {
		trace_writer_drop(w);
		return rc;
	}
	*ret_writer = w;
	return 0;
}

void trace_writer_drop(struct trace_writer *w)
{
	if (!w)
		return;
	trace_out_release(&w->out);
	free(w->put.device);
	free(w->run);
	free(w->slot);
	free(w->spare);
	free(w->put.buf);
	free(w->path);
	free(w);
}

/* Where a name is, or would be. */
static uint32_t find_slot(const struct trace_writer *w, const char *name)
{
	uint32_t h = crc32c(0, name, strlen(name)) & (w->n_slots - 1);

	while (w->slot[h] && strcmp(w->put.device[w->slot[h] - 1].name, name) != 0)
		h = (h + 1) & (w->n_slots - 1);
	return h;
}

/* Room for one more device, in the table and in the hash. */
static int grow_devices(struct trace_writer *w, struct err *err)
{
	if (w->put.n_devices == DEVICES_MAX)
		return err_set(err, -E2BIG, "the capture has more than %u devices", DEVICES_MAX);
	if ((w->put.n_devices & (w->put.n_devices - 1)) == 0) {
		size_t cap = w->put.n_devices ? 2 * (size_t)w->put.n_devices : 1;
		struct trace_device *p = realloc(w->put.device, cap * sizeof(*p));

		if (!p)
			return err_set(err, -ENOMEM, "no memory for the capture's devices");
		w->put.device = p;
	}
	if (2 * (w->put.n_devices + 1) >= w->n_slots) {
		uint16_t *slot = calloc(2 * (size_t)w->n_slots, sizeof(*slot));

		if (!slot)
			return err_set(err, -ENOMEM, "no memory for the capture's devices");
		free(w->slot);
		w->slot = slot;
		w->n_slots *= 2;
		for (unsigned i = 0; i < w->put.n_devices; i++)
			w->slot[find_slot(w, w->put.device[i].name)] = (uint16_t)(i + 1);
	}
	return 0;
}

int trace_writer_device(struct trace_writer *w, const char *name, uint16_t *ret_dev,
			struct err *err)
{
	char cut[sizeof(w->put.device->name)];
	uint32_t h;
	int rc;

	snprintf(cut, sizeof(cut), "%s", name);
	h = find_slot(w, cut);
	if (!w->slot[h]) {
		rc = grow_devices(w, err);
		if (rc)
			return rc;
		w->put.device[w->put.n_devices] = (struct trace_device){ .ios = 0 };
		memcpy(w->put.device[w->put.n_devices].name, cut, sizeof(cut));
		h = find_slot(w, cut);
		w->slot[h] = (uint16_t)(++w->put.n_devices);
	}
	*ret_dev = (uint16_t)(w->slot[h] - 1);
	return 0;
}

/* Merges [a, b) and [b, c) of @from to the same places of @to; equal ones keep their order. */
static void merge_two(const struct trace_rec *from, struct trace_rec *to, size_t a, size_t b,
		      size_t c)
{
	size_t i = a, j = b;

	while (a < c)
		to[a++] = j == c || (i < b && !trace_before(&from[j], &from[i])) ? from[i++]
										 : from[j++];
}

static int sort_buffer(struct trace_writer *w, struct err *err)
{
	if (!w->spare)
		w->spare = malloc(w->put.cap * sizeof(*w->spare));
	if (!w->spare)
		return err_set(err, -ENOMEM, "%s: no memory to sort the capture", w->path);
	for (size_t width = 1; width < w->put.n; width *= 2) {
		struct trace_rec *t = w->spare;

		for (size_t a = 0; a < w->put.n; a += 2 * width) {
			size_t b = a + width < w->put.n ? a + width : w->put.n;
			size_t c = a + 2 * width < w->put.n ? a + 2 * width : w->put.n;

			merge_two(w->put.buf, t, a, b, c);
		}
		w->spare = w->put.buf;
		w->put.buf = t;
	}
	return 0;
}

/* The first @n records of the buffer go out as a run. */
static int flush(struct trace_writer *w, size_t n, struct err *err)
{
	struct trace_run *r;
	int rc = 0;

	if (n == 0)
		return 0;
	if (!w->put.ordered)
		rc = sort_buffer(w, err);
	if (rc)
		return rc;
	if ((w->n_runs & (w->n_runs - 1)) == 0) {
		r = realloc(w->run, (w->n_runs ? 2 * (size_t)w->n_runs : 1) * sizeof(*r));
		if (!r)
			return err_set(err, -ENOMEM, "%s: no memory to sort the capture", w->path);
		w->run = r;
	}
	if (!w->based)
		w->base_ns = w->put.buf[0].io.start_ns;
	w->based = true;
	r = &w->run[w->n_runs];
	*r = (struct trace_run){ .first_chunk = w->out.n_chunks };
	for (size_t i = 0; i < n && !rc; i += CHUNK_RECORDS)
		rc = trace_out_chunk(&w->out, w->put.buf + i,
				     n - i < CHUNK_RECORDS ? n - i : CHUNK_RECORDS, w->base_ns,
				     err);
	if (rc)
		return rc;
	r->end_chunk = w->out.n_chunks;
	if (w->n_runs &&
	    (int64_t)(w->put.buf[0].io.start_ns - w->base_ns) < w->run[w->n_runs - 1].last_ns)
		w->runs_ordered = false;
	r->last_ns = (int64_t)(w->put.buf[n - 1].io.start_ns - w->base_ns);
	w->n_runs++;
	w->put.n -= n;
	memmove(w->put.buf, w->put.buf + n, w->put.n * sizeof(*w->put.buf));
	w->put.ordered = true;
	return 0;
}

static int grow(struct trace_writer *w, struct err *err)
{
	size_t cap = w->put.cap ? 4 * w->put.cap : RUN_RECORDS / 1024;
	struct trace_rec *p = realloc(w->put.buf, cap * sizeof(*p));

	if (!p)
		return err_set(err, -ENOMEM, "%s: no memory for the capture's records", w->path);
	free(w->spare);
	w->spare = NULL;
	w->put.buf = p;
	w->put.cap = cap;
	return 0;
}

/* To its place at the end of what is in order; one that would have to go far back waits for the sort. */
static void put(struct trace_writer *w, const struct trace_rec *rec)
{
	size_t at = w->put.n, least = at > NEAR_RECORDS ? at - NEAR_RECORDS : 0;

	if (at == 0 || !trace_before(rec, &w->put.buf[at - 1])) {
		w->put.buf[w->put.n++] = *rec;
		return;
	}
	while (w->put.ordered && at > least && trace_before(rec, &w->put.buf[at - 1]))
		at--;
	if (!w->put.ordered || (at && trace_before(rec, &w->put.buf[at - 1]))) {
		w->put.ordered = false;
		at = w->put.n;
	}
	if (at < w->put.n)
		memmove(w->put.buf + at + 1, w->put.buf + at,
			(w->put.n - at) * sizeof(*w->put.buf));
	w->put.buf[at] = *rec;
	w->put.n++;
}

int trace_writer_add(struct trace_writer *w, const struct trace_rec *rec, struct err *err)
{
	size_t full = w->runs_ordered ? RUN_ORDERED : RUN_RECORDS;
	int rc = 0;

	BUG_ON(rec->io.dev >= w->put.n_devices || rec->io.op >= TRACE_OPS);
	if (w->put.n >= full)
		rc = flush(w, full - KEEP_RECORDS, err);
	if (!rc && w->put.n == w->put.cap)
		rc = grow(w, err);
	if (rc)
		return rc;
	trace_put_device(&w->put, &rec->io);
	put(w, rec);
	full = w->runs_ordered ? RUN_ORDERED : RUN_RECORDS;
	w->put.room = w->put.cap < full ? w->put.cap : full;
	return 0;
}

struct trace_put *trace_writer_put(struct trace_writer *w)
{
	return &w->put;
}

/* Runs that overlap become a second file, in order. */
static int merge(struct trace_writer *w, struct err *err)
{
	struct trace_out to;
	int rc;

	trace_out_init(&to);
	rc = trace_out_open(&to, w->path, err);
	if (!rc)
		rc = trace_out_merge(&w->out, w->run, w->n_runs, &to, err);
	if (rc) {
		trace_out_release(&to);
		return rc;
	}
	trace_out_release(&w->out);
	w->out = to;
	return 0;
}

int trace_writer_commit(struct trace_writer *w, const char *name, struct trace_report *report,
			struct err *err)
{
	int rc = flush(w, w->put.n, err);

	free(w->put.buf);
	free(w->spare);
	w->put.buf = w->spare = NULL;
	if (!rc && !w->runs_ordered)
		rc = merge(w, err);
	memcpy(report->ios, w->out.ios, sizeof(report->ios));
	memcpy(report->bytes, w->out.bytes, sizeof(report->bytes));
	if (!rc)
		rc = trace_out_seal(&w->out, name, report, w->put.device, w->put.n_devices, err);
	if (!rc)
		rc = trace_out_publish(&w->out, w->path, err);
	trace_writer_drop(w);
	return rc;
}
