/* SPDX-License-Identifier: MIT */
/* Parts of the recorder: what its files share. */
#ifndef REPLAY_RECORD_PRIV_H
#define REPLAY_RECORD_PRIV_H

#include <linux/blktrace_api.h>
#include <stddef.h>

#include "pts/base/buf.h"
#include "replay/record.h"

/* ---- the file (record_out.c) ---- */

struct record_out {
	int fd;
	const char *name;
	unsigned char *buf;
	size_t n;
	uint64_t bytes; /* written: whole records */
	uint64_t aio; /* asynchronous fdatasync; 0: not to be had */
	bool syncing;
};

int out_open(struct record_out *o, int fd, const char *name, struct err *err) must_check;
int out_record(struct record_out *o, const struct blk_io_trace *t, struct err *err) must_check;
/* "pts: lost 12": as a message of blktrace, which other readers pass over. */
int out_message(struct record_out *o, const char *text, struct err *err) must_check;
int out_wall_clock(struct record_out *o, struct err *err) must_check;
/* To the kernel. */
int out_flush(struct record_out *o, struct err *err) must_check;
/* To the disk: asked for, not waited for; one at a time. */
int out_sync(struct record_out *o, struct err *err) must_check;
void out_close(struct record_out *o); /* not the fd */

/* ---- which target an event belongs to (record_target.c) ---- */

/* Turns @t into a record of its target (device, sector); false: of none. */
bool target_claim(const struct record_target *t, unsigned n, struct blk_io_trace *rec);

/* ---- tracefs (record_tracefs.c) ---- */

struct tracefs {
	int root; /* the folder of tracefs */
	int inst; /* an instance of our own, in which we hold a lock */
	char name[96];
};

/* Finds tracefs, mounting it for this process alone where it is not; cleans up after recorders that were killed. */
int tracefs_open(struct tracefs *t, struct err *err) must_check;
/* Makes the instance @prefix.PID[@suffix]. */
int tracefs_instance(struct tracefs *t, const char *prefix, const char *suffix,
		     struct err *err) must_check;
/* Removes the instance. */
void tracefs_close(struct tracefs *t);

int tfs_write(int dir, const char *file, const char *text); /* 0 or -errno */
int tfs_read(int dir, const char *file, struct buf *b); /* the whole file; 0 or -errno */
bool tfs_line(int dir, const char *file, char *ret, size_t n); /* its first line */
int tfs_set(int dir, const char *file, const char *text, struct err *err) must_check;
/* Of all CPUs: events that did not fit into the buffer. */
uint64_t tfs_lost(int dir);
/* In kB of each CPU; so little that all CPUs together stay in bounds, where @bytes is 0. */
int tfs_buffer(int dir, uint64_t bytes, uint64_t *ret_bytes, struct err *err) must_check;

/* ---- sources ---- */

struct source_sink {
	const struct record_opts *o;
	struct record_out *out;
	uint64_t ios, records;
};

/* Counts it, and writes it where it is of a target. */
int sink_record(struct source_sink *s, struct blk_io_trace *rec, struct err *err) must_check;

/* record_events.c: per-CPU binary ring pages of an instance. */
struct events;
int events_open(struct tracefs *t, const struct record_opts *o, struct events **ret,
		uint64_t *ret_buffer, struct err *err) must_check;
/* Waits for at most @ms for much to have come. */
void events_wait(struct events *e, unsigned ms);
/* Takes what there is. @last: nothing will come any more. */
int events_read(struct events *e, struct source_sink *s, bool last, struct err *err) must_check;
int events_stop(struct events *e, struct err *err) must_check;
uint64_t events_lost(const struct events *e);
void events_close(struct events *e); /* NULL is fine */

/* record_blk.c: the blk tracer's stream. */
struct blk;
int blk_open(struct tracefs *t, const struct record_opts *o, struct blk **ret, uint64_t *ret_buffer,
	     struct err *err) must_check;
void blk_wait(struct blk *b, unsigned ms);
int blk_read(struct blk *b, struct source_sink *s, struct err *err) must_check;
int blk_stop(struct blk *b, struct err *err) must_check;
uint64_t blk_lost(const struct blk *b);
void blk_close(struct blk *b); /* puts all settings back; NULL is fine */
#define BLK_PREFIX "ptsblk"
/* What a killed recorder left of the global tracer: its instance's name says what was there before. */
void blk_restore(int root, const char *instance);

#endif
