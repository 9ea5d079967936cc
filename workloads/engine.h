/* SPDX-License-Identifier: MIT */
/*
 * The IO engine: runs jobs on a file descriptor, one OS thread and one io_uring per worker. Threads, rings and buffers live as
 * long as the engine and stay parked between jobs; a job that needs more makes them grow. Any descriptor that reads and writes
 * will do: a block device, a file, /dev/zero, a pipe.
 *
 * What counts where: an IO counts in the segment in which it completes. Time bounds run from the first submission. Between two
 * segments bounded by time alone nothing is drained and the bound is exact. Elsewhere (the last segment of a job; before and
 * after one bounded by bytes or IOs, or an idle one) no IO is issued after the bound, those in flight are waited for and
 * count, and the segment lasts until the last of them: no latency, error or byte is lost, and IOPS x ART is the in-flight.
 * Bytes and IO bounds are exact. A job that is cut short (an error, a stop) ends in the same way, with what is in flight waited
 * for: until the deadline after an error, a second after a stop. Only what has not come by then is left out.
 */
#ifndef WORKLOADS_ENGINE_H
#define WORKLOADS_ENGINE_H

#include <stddef.h>

#include "pts/base/err.h"
#include "workloads/access.h"
#include "workloads/pass.h"
#include "workloads/result.h"

struct engine;
struct fault;

struct engine_target {
	int fd; /* stays the caller's; open as long as the engine */
	uint64_t capacity_bytes;
	uint32_t lba_bytes, mem_align;
	bool polled; /* try; falls back, see engine_text() */
	struct pass pass; /* NVMe commands in place of IO to @fd; stays the caller's, as @fd does */
	bool no_latency; /* counts IOs only, no latency: to tell what recording them costs, never for results */
	const char *dump_latencies; /* see struct dut_options */
	struct fault
		*fault; /* tests only (fault.h), the engine's from engine_open() on; NULL: none */
};

/* Probes what io_uring can do here. -ENOSYS, -EPERM with the cause in words. */
int engine_open(const struct engine_target *t, struct engine **ret, struct err *err) must_check;
/* "io_uring, registered buffers, file and ring, DEFER_TASKRUN" */
const char *engine_text(const struct engine *e);
/* As dut_ops.run. Must not be called again after -ETIMEDOUT. */
int engine_run(struct engine *e, const struct job *job, struct err *err) must_check;
/* Ends the threads. After a hang it leaves them and their memory alone: the drive may still write into it. */
void engine_close(struct engine *e);
/* Does it complete a read by polling? */
bool engine_can_poll(const struct engine_target *t);
/* Memory that buffers may take now: what the system has left, within the limit of the process. */
uint64_t available_bytes(void);

#endif
