/* SPDX-License-Identifier: MIT */
/*
 * A capture format: one file fmt_NAME.c each, found by its name (make writes the list). A format turns its source into rows
 * or events and hands them to a sink; pairing, sorting, counting and the file are the sink's work (import.c, pair.c).
 */
#ifndef REPLAY_FORMAT_H
#define REPLAY_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "replay/input.h"
#include "replay/trace.h"

/* What the user said; NULL, 0 where nothing. */
struct import_opts {
	const char *format; /* -f NAME */
	const char *map; /* --map COLUMNS of the generic CSV */
	const char *time_unit; /* --time-unit s|ms|us|ns|ps|100ns */
	const char *name; /* of the capture; default from the file's name */
	uint32_t lba_bytes; /* of nvme events; 0 = 512 */
	uint64_t assume_rt_ns; /* constant response where the source has none; 0 = none */
	bool skip_bad; /* count bad records instead of stopping at the first */
	bool coalesce; /* FIU: join pages of one IO */
};

/* One IO of a row format. Times on the source's own clock in ns (an integer base subtracted first by the format). */
struct import_row {
	int64_t start_ns;
	uint64_t response_ns; /* TRACE_NO_RESPONSE where unknown */
	uint64_t off, bytes;
	uint32_t pid;
	uint16_t dev; /* from import_device() */
	uint8_t op, flags; /* enum trace_op, enum trace_flag */
};

/* One event of an event format (blktrace, ftrace ...). Any order: a reorder window sorts them by (time, cpu, sequence), those of text by time alone: of one stamp as they came. */
enum event_act { EVENT_QUEUE, EVENT_ISSUE, EVENT_COMPLETE, EVENT_REQUEUE, EVENT_MERGE };
struct import_event {
	int64_t time_ns;
	uint64_t sector; /* 512 bytes; of a start */
	uint64_t bytes; /* of a completion: those of this one, UINT64_MAX = all */
	uint64_t
		key; /* a completion finds its start by it and the device; of block events the sector */
	uint32_t seq, cpu, pid;
	uint16_t dev;
	uint8_t act; /* enum event_act */
	uint8_t op,
		flags; /* op: TRACE_OTHER = not an IO to count (see trace-formats 2: a zero-byte completion) */
	int error; /* of a completion, negative errno */
};

struct import; /* the sink */

/* Device index for the source's own name of it. */
int import_device(struct import *im, const char *name, uint16_t *ret_dev,
		  struct err *err) must_check;
/* Both look whether time, place and length can be, and call import_bad() with @in if not. */
int import_row(struct import *im, const struct input *in, const struct import_row *row,
	       struct err *err) must_check;
int import_event(struct import *im, const struct input *in, const struct import_event *ev,
		 struct err *err) must_check;
/* What a device is to be called that the source names @name: "7,0" -> "loop0". Said before its first event. */
void import_device_name(struct import *im, const char *name, const char *call_it);
/* Counts a record of the source (each event or row once, also those that are skipped). */
void import_record(struct import *im);
void import_records(struct import *im, uint64_t n);
/* Counts a skipped record under a reason in words ("notify", "header", "merge"). Never an error. */
void import_skip(struct import *im, const char *reason);
void import_skip_many(struct import *im, const char *reason, uint64_t n);
/* Something that a reader of the report should know; several are joined. */
void import_note(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void import_lost(struct import *im, uint64_t n);
void import_clock(struct import *im, const char *text);
void import_wall_clock(struct import *im, int64_t at_ns, int64_t utc_ns);
/*
 * A record that makes no sense. With --skip-bad counts it under @reason and returns 0; else -EINVAL with
 * "FILE:LINE: ..." (text formats) or "FILE: byte N: ..." (binary ones). The format returns what this returns if not 0.
 */
int import_bad(struct import *im, const struct input *in, struct err *err, const char *reason,
	       const char *fmt, ...) must_check __attribute__((format(printf, 5, 6)));
const struct import_opts *import_options(const struct import *im);

/* Options that mean something to a format; given to another one they are a mistake of the user. */
enum format_takes { TAKES_UNIT = 1, TAKES_LBA = 2, TAKES_COALESCE = 4 };

struct trace_format {
	const char *name; /* as -f takes it */
	const char *title; /* one line for pts list formats */
	bool binary;
	unsigned takes; /* enum format_takes */
	/* 0 no, 1..100 how surely. Looks at the first bytes only; two formats with the same highest score = ambiguous. */
	int (*detect)(const char *head, size_t n);
	/*
	 * Other files of the same capture (per-CPU siblings), @path among them, in any order; NULL = just the one. The
	 * names are malloc()ed, those given so far also after an error; import.c frees them and opens each.
	 */
	int (*siblings)(const char *path, char ***ret_paths, unsigned *ret_n, struct err *err);
	/* Reads all @n inputs to their ends. */
	int (*import)(struct import *im, struct input **in, unsigned n, struct err *err);
};

extern const struct trace_format
	*const trace_formats[]; /* NULL-terminated; generated from the file names */

/* Imports @path into the capture @out. 0, or -EINVAL ... with one message. @ret_report may be NULL. */
int import_file(const char *path, const struct import_opts *o, const char *out,
		struct trace_report *ret_report, struct err *err) must_check;

#endif
