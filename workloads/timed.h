/* SPDX-License-Identifier: MIT */
/*
 * Timed IO: requests that are due at moments of one clock, on one or several targets, issued by one thread and one io_uring.
 * Deadlines are absolute: an IO that is late delays no other. The thread sleeps until shortly before the next one is due and
 * spins from there; it takes completions only while it waits. Requests come from the caller's thread, which loads them ahead
 * of need, so that no file is read and no page faults between two deadlines, whatever the length.
 *
 * Three latencies: how late an IO was issued (due to issue), service (issue to completion) and response (due to completion).
 */
#ifndef WORKLOADS_TIMED_H
#define WORKLOADS_TIMED_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/base/hist.h"
#include "workloads/engine.h"
#include "workloads/result.h"

#define TIMED_TARGETS_MAX 64
#define TIMED_DEPTH 1024 /* IOs in flight unless the job says otherwise */
#define TIMED_DEPTH_MAX 16384
#define TIMED_IO_MAX 0x7ffff000u /* the kernel moves no more in one IO */

enum timed_op { TIMED_READ, TIMED_WRITE, TIMED_DISCARD, TIMED_FLUSH, TIMED_OPS };

struct timed_io {
	uint64_t due_ns; /* since the start; never before that of the one before */
	uint64_t off, len; /* bytes; READ and WRITE up to TIMED_IO_MAX */
	uint16_t target;
	uint8_t op; /* enum timed_op */
};

struct timed_progress {
	uint64_t issued, done, elapsed_ns, bytes;
};

struct timed_job {
	const struct engine_target *
		target; /* only fd, pass (of all or of none), lba_bytes, mem_align, polled and fault are looked at */
	unsigned n_targets;
	bool dry; /* every IO is done as soon as it is issued; targets are never touched */
	bool asap; /* due times mean nothing: as many as @depth allows */
	bool order; /* an IO that overlaps one in flight, with a write among them, waits for it */
	unsigned depth; /* at most in flight; 0 = TIMED_DEPTH */
	uint64_t max_read_bytes, max_write_bytes; /* largest IO to come */
	uint64_t deadline_ns; /* without any completion: the drive hangs; 0 = 60 s */
	uint64_t seed; /* of write data */
	const volatile int *stop;
	/* On the caller's thread: up to @n requests; how many, 0 = the end, -Exxx ends the run. */
	int (*load)(void *arg, struct timed_io *ret, unsigned n, struct err *err);
	/* On the caller's thread, about once a second; may be NULL. */
	void (*progress)(void *arg, const struct timed_progress *p);
	void *arg;
};

struct timed_result {
	/* Of all targets together; of several with the member rows. R and W only. start_ns is 0. */
	struct result all;
	uint64_t issued; /* all ops that the kernel took; == done + bad + hung */
	uint64_t hung; /* never came back */
	uint64_t discards, flushes; /* done */
	uint64_t discards_sync; /* tried on block devices, by an ioctl that holds up all else */
	const struct hist *late;
	uint64_t conflicts, held,
		reordered; /* held: waited for one in flight; reordered: overtaken meanwhile */
	uint64_t stalls, stall_ns; /* an IO was due, and all slots or write buffers in flight */
	uint64_t starved; /* times that the loader was behind */
	uint64_t span_asked_ns, span_ns; /* first to last issue: as due, as done */
	bool partial; /* stopped, hung, or cut short by an error */
};

struct timed;

/* Memory, ring and thread. -ENOMEM says what was needed. */
int timed_open(const struct timed_job *job, struct timed **ret, struct err *err) must_check;
/*
 * Runs to the end. 0; -EINTR stopped; -ETIMEDOUT hung, or the kernel took nothing for as long: the process should leave, without timed_close(); -ENODEV gone; -EIO a
 * thousand IOs in a row failed; what load() returned. IOs that fail are counted, the others go on.
 */
int timed_run(struct timed *t, struct err *err) must_check;
/* After timed_run(), whatever it returned; lives as long as @t. */
const struct timed_result *timed_result(const struct timed *t);
/* "io_uring, registered buffers, ..." */
const char *timed_text(const struct timed *t);
void timed_close(struct timed *t); /* NULL is fine */

#endif
