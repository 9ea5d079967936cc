/* SPDX-License-Identifier: MIT */
/* The recorder: waits, reads, writes, once a second brings it to the disk and counts what was lost; puts all back at the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"

#define WAIT_MS 100
#define SECOND_NS ((uint64_t)1000000000)

struct recorder {
	const struct record_opts *o;
	struct tracefs fs;
	struct record_out out;
	struct source_sink sink;
	struct events *events;
	struct blk *blk;
	uint64_t begin_ns, lost, buffer_bytes;
};

int sink_record(struct source_sink *s, struct blk_io_trace *rec, struct err *err)
{
	uint32_t act = rec->action & 0xff;

	if (!target_claim(s->o->target, s->o->n_targets, rec))
		return 0;
	s->records++;
	s->ios += act == __BLK_TA_QUEUE || act == __BLK_TA_ISSUE;
	return out_record(s->out, rec, err);
}

static uint64_t cpu_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		return 0;
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * SECOND_NS +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

/* What an importer cannot know by the events: the wall clock, and names of the devices. */
static int begin(struct recorder *r, struct err *err)
{
	int rc = out_wall_clock(&r->out, err);

	for (unsigned i = 0; !rc && i < r->o->n_targets; i++) {
		const struct record_target *t = &r->o->target[i];
		char text[128];

		snprintf(text, sizeof(text), "pts: device %u,%u %s", t->dev >> 20, t->dev & 0xfffff,
			 t->name);
		rc = out_message(&r->out, text, err);
	}
	return rc ? rc : out_flush(&r->out, err);
}

static int take(struct recorder *r, bool last, struct err *err)
{
	int rc = r->blk ? blk_read(r->blk, &r->sink, err)
			: events_read(r->events, &r->sink, last, err);

	return rc ? rc : out_flush(&r->out, err);
}

static int count_lost(struct recorder *r, struct err *err)
{
	uint64_t lost = r->blk ? blk_lost(r->blk) : events_lost(r->events);
	char text[64];

	if (lost <= r->lost)
		return 0;
	snprintf(text, sizeof(text), "pts: lost %" PRIu64, lost - r->lost);
	r->lost = lost;
	return out_message(&r->out, text, err);
}

static int each_second(struct recorder *r, struct err *err)
{
	struct record_state s;
	int rc = count_lost(r, err);

	if (!rc)
		rc = out_flush(&r->out, err);
	if (!rc)
		rc = out_sync(&r->out, err);
	s = (struct record_state){ clock_mono_ns() - r->begin_ns, r->sink.ios, r->lost };
	if (!rc && r->o->progress)
		r->o->progress(r->o->arg, &s);
	return rc;
}

static void wait_ms(struct recorder *r, uint64_t left_ns)
{
	uint64_t ms = left_ns / 1000000 + 1;

	if (r->blk)
		blk_wait(r->blk, ms < WAIT_MS ? (unsigned)ms : WAIT_MS);
	else
		events_wait(r->events, ms < WAIT_MS ? (unsigned)ms : WAIT_MS);
}

static int loop(struct recorder *r, struct err *err)
{
	uint64_t end = r->o->for_ns ? r->begin_ns + r->o->for_ns : UINT64_MAX;
	uint64_t next = r->begin_ns + SECOND_NS, now;

	while (!*r->o->stop && (now = clock_mono_ns()) < end) {
		int rc;

		wait_ms(r, end - now);
		rc = take(r, false, err);
		now = clock_mono_ns();
		if (!rc && now >= next) {
			rc = each_second(r, err);
			next = now + SECOND_NS;
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int stop(struct recorder *r, struct err *err)
{
	int rc = r->blk ? blk_stop(r->blk, err) : events_stop(r->events, err);

	if (!rc)
		rc = take(r, true, err);
	if (!rc)
		rc = count_lost(r, err);
	if (!rc)
		rc = out_flush(&r->out, err);
	return rc ? rc : out_sync(&r->out, err);
}

static int record(struct recorder *r, struct err *err)
{
	int rc = tracefs_open(&r->fs, err);

	if (!rc)
		rc = begin(r, err);
	if (!rc && r->o->via == RECORD_BLK)
		rc = blk_open(&r->fs, r->o, &r->blk, &r->buffer_bytes, err);
	else if (!rc)
		rc = events_open(&r->fs, r->o, &r->events, &r->buffer_bytes, err);
	r->begin_ns = clock_mono_ns();
	if (!rc && r->o->progress)
		r->o->progress(r->o->arg, &(struct record_state){ .elapsed_ns = 0 });
	if (!rc)
		rc = loop(r, err);
	return rc ? rc : stop(r, err);
}

int record_run(const struct record_opts *o, struct record_result *ret, struct err *err)
{
	struct recorder r = { .o = o, .fs = { .root = -1, .inst = -1 } };
	uint64_t cpu = cpu_ns();
	int rc = out_open(&r.out, o->fd, o->out, err);

	if (rc)
		return rc;
	r.sink = (struct source_sink){ .o = o, .out = &r.out };
	rc = record(&r, err);
	events_close(r.events);
	blk_close(r.blk);
	tracefs_close(&r.fs);
	out_close(&r.out);
	*ret = (struct record_result){
		.elapsed_ns = clock_mono_ns() - r.begin_ns,
		.cpu_ns = cpu_ns() - cpu,
		.ios = r.sink.ios,
		.records = r.sink.records,
		.lost = r.lost,
		.buffer_bytes = r.buffer_bytes,
		.path = o->via == RECORD_BLK ? "the blk tracer's binary stream"
					     : "block events, an instance's binary rings"
	};
	return rc;
}
