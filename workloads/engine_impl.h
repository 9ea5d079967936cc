/* SPDX-License-Identifier: MIT */
/* Inside of the engine: shared by engine*.c only. */
#ifndef WORKLOADS_ENGINE_IMPL_H
#define WORKLOADS_ENGINE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "pts/base/hist.h"
#include "workloads/engine.h"
#include "workloads/gen.h"
#include "workloads/ring.h"
#include "workloads/tick.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define always_inline inline __attribute__((always_inline))

#define ENGINE_THREADS_MAX 1024
#define ENGINE_DEPTH_MAX 16384
#define ENGINE_BATCH 8 /* SQEs a submission: bounds by how much an IO looks older than it is */
#define ENGINE_POLL_NS 50000000u /* how often main looks for a stop and for hung workers */
#define TICK_NEVER UINT64_MAX
#define UINT_NONE (~0u)

/* ---- what one worker counts in one segment; read by main once the worker has passed on ---- */

/*
 * Workers count in buckets named by the upper bits of the latency as a double: the exponent and 8 bits of the mantissa, which
 * for whole numbers are just the octaves of 256 buckets of struct hist, found without a branch. Half a nanosecond is added, so
 * that 0 ns has a bucket too; it moves no whole number into another one. They become a hist when sealed.
 */
#define FINE_BUCKETS ((HIST_MAX_BITS + 1) << HIST_SUB_BITS)
#define FINE_SHIFT (52 - HIST_SUB_BITS)
#define FINE_FIRST (0x3feull << HIST_SUB_BITS) /* of 0.5 */
#define COARSE_SHIFT 4 /* streams: 16 sub-buckets an octave */
#define COARSE_BUCKETS (FINE_BUCKETS >> COARSE_SHIFT)

/*
 * One for each stream of the access; after them one an op for IOs of an earlier mix that has no such stream here (len 0).
 * A cache line. Its bytes are ios * len + part.odd_bytes. (Neighbours are no pairs that a compiler would put into a vector.)
 */
struct lane {
	uint64_t *fine; /* of its op, service times; n, sum, min and max come from the lanes */
	uint64_t ios;
	uint64_t *coarse;
	uint64_t sum_ns, min_ns, head; /* head: first word of its SQEs */
	uint64_t max_ns; /* of the interval now running; of the segment once it is closed */
	uint32_t len;
	uint8_t op; /* enum io_op */
};

struct part_response {
	uint64_t *count;
	uint64_t n, sum_ns, min_ns, max_ns;
};

struct part {
	struct lane lane[ACCESS_STREAMS_MAX + IO_OPS] __attribute__((aligned(64)));
	int64_t odd_bytes[ACCESS_STREAMS_MAX +
			  IO_OPS]; /* of good IOs that were not of the lane's size */
	uint64_t max_ns[ACCESS_STREAMS_MAX + IO_OPS]; /* of the intervals that are over */
	uint64_t *fine[IO_OPS];
	struct part_response response[IO_OPS];
	struct second *second; /* by index; intervals without IO have ios == 0 */
	uint32_t n_seconds, seconds_cap;
	bool seconds_full;
	bool cut_short; /* the worker would have issued more, had the job not been cut */
	/* accounts */
	unsigned probes, probes_done; /* submissions that did not wait; after which all was done */
	uint64_t carried_in, carried_out, sqes, requeued, rearmed, parts, short_ios, errors,
		clock_back;
	struct {
		int err;
		uint64_t n;
	} errnos[RESULT_ERRNOS];
	uint64_t area_ticks; /* IOs in flight, summed over ticks */
	uint64_t late_ticks,
		overdue; /* rate: latest submission; IOs due but not submitted by the end */
	unsigned inflight_max;
	bool by_time;
	uint64_t last_tick;
	uint64_t *dump; /* raw latencies, when asked for */
	size_t dump_n, dump_cap;
	uint64_t *slab;
	size_t slab_words;
};

/* ---- segments as they run ---- */

enum cut {
	CUT_NOT,
	CUT_END, /* no more IOs are issued; those in flight are waited for and count */
	CUT_LEAVE /* nor are they waited for any longer */
};

struct seg_state {
	_Atomic uint64_t end; /* tick; TICK_NEVER without a time bound. Lowered by engine_cut() */
	uint64_t start; /* tick of the first submission */
	bool begun, over; /* under engine.mu */
	bool cut; /* ended before its bound */
	bool drain; /* nothing may be in flight when the next segment begins */
	unsigned arrived;
	_Atomic unsigned passed; /* workers that are done counting */
	struct gen_budget budget;
};

struct slot {
	uint64_t t_sub;
	struct lane *lane; /* NULL while free */
	uint64_t off, due;
	uint32_t len;
	uint16_t parts; /* NVMe commands in flight of an IO that takes several; else 0 or 1 */
	int16_t bad; /* the first bad answer to one of them */
	uint64_t write_at; /* where in its write data the next block comes from */
	uint64_t addr[IO_OPS]; /* of this IO */
	uint64_t write_base;
};

struct engine;

/* What is kept of each IO, and how it is sent: a loop of its own for each, made from the same source. */
enum how {
	HOW_PLAIN,
	HOW_FULL = 1, /* rate or dump, the long way */
	HOW_BARE = 2, /* counted only */
	HOW_NVME = 4 /* with one of them: NVMe passthrough */
};

struct worker {
	/* hot */
	struct ring ring;
	uint64_t event; /* tick at which something other than IO is to be done */
	unsigned
		wait; /* completions that a submission waits for: 1, or 0 to see whether the target runs it at once */
	uint64_t credit; /* IOs that may be issued before asking worker_next_io() */
	uint64_t mult;
	uint64_t
		ticks_limit; /* latencies from here on, and negative ones, are counted the long way */
	bool tsc;
	unsigned how; /* of this segment: enum how */
	unsigned n_free, n_batch;
	struct slot **free;
	struct part *part;
	uint64_t t_reap; /* when the completions now looked at were seen */
	uint64_t t_live, area; /* IOs in flight over time */
	int live, live_max;
	uint64_t done;
	uint64_t stamp, write_span; /* span: bytes of write data of each slot */
	uint64_t (*renew)(uint64_t addr, uint32_t bytes, uint64_t state); /* data.h */
	uint32_t write_mask; /* memory alignment - 1 */
	struct slot *batch[ENGINE_BATCH];
	struct gen gen;
	/* seen by main while it runs */
	_Atomic uint64_t pub_done;
	_Atomic int pub_live;
	/* warm */
	struct engine *e;
	unsigned id, seg, target;
	bool dry; /* the segment's budget is used up */
	bool closing; /* its time is up; what is in flight still counts */
	bool split; /* some of its IOs take several NVMe commands */
	bool rate;
	uint64_t due, due_step, due_frac, due_step_frac; /* ticks and 2^-64 of them */
	uint64_t spin_ticks;
	uint64_t claim; /* IOs taken from the budget at a time */
	struct second second_base;
	uint64_t second_end; /* tick */
	uint64_t probe_at, probe_step; /* ticks */
	unsigned sqe_base;
	struct slot *slot;
	unsigned n_slots, slots_cap;
	struct slot wake;
	struct lane wake_lane;
	int nvme_status; /* of the IO that failed last; 0: not the drive said so */
	bool wake_armed, broken; /* broken: its ring does not take anything any more */
	struct part parts[2];
	char *memory;
	size_t memory_bytes, write_bytes, read_bytes;
	/* parking, under engine.mu */
	pthread_t thread;
	uint64_t job_seen;
	int rc;
	struct err err;
	/* main's view */
	uint64_t seen_done, seen_ns, base_done;
};

/* What a job asks of each worker. */
struct need {
	unsigned threads, depth; /* most workers, most slots of one */
	uint64_t read_bytes, write_bytes; /* largest IO of each kind; 0 = none */
	unsigned streams;
	bool response, double_parts;
	uint32_t seconds;
};

struct engine {
	struct engine_target target;
	char text[256];
	bool polled;
	struct tick clock;
	int wake_fd;
	/* the pool */
	struct worker **worker;
	unsigned n_workers;
	pthread_mutex_t mu;
	pthread_cond_t to_workers, to_main;
	bool exiting, hung;
	uint64_t job_id;
	/* the job now running */
	const struct job *job;
	struct job own_job; /* a copy with its segments: a worker given up may still look at them */
	struct segment *own_seg;
	struct need need;
	unsigned active, ready, finished; /* workers in the job, prepared, through */
	bool go, cancelled;
	uint64_t job_start_ns; /* both at the same moment */
	struct tick_pair job_start;
	uint64_t interval_ticks, deadline_ns;
	struct seg_state *seg;
	_Atomic unsigned merged; /* segments whose parts main has taken over */
	_Atomic int cut; /* enum cut: the job ends with segment cut_seg */
	unsigned cut_seg; /* UINT_NONE: none at all is to be sealed */
	int cut_rc;
	char cut_why[256];
	_Atomic bool collector_late;
	bool clock_off;
	/* main's */
	FILE *dump;
	struct hist *hist[IO_OPS], *response[IO_OPS], *stream_hist[ACCESS_STREAMS_MAX];
	struct second *second;
	uint32_t seconds_cap;
	uint64_t cpu[3], progress_ns;
	unsigned punting;
};

/* engine.c */
/* Ends segment @k at @tick and the job with it; the first caller gives the reason. */
void engine_cut(struct engine *e, unsigned k, uint64_t tick, int rc, const char *why);
/* Locked: the first worker to come begins the segment. False: the job ends before it. */
bool engine_enter_segment(struct engine *e, struct worker *w, unsigned k, uint64_t tick);
unsigned engine_depth(const struct segment *s, unsigned worker);
bool engine_counted(const struct segment *s); /* bounded by bytes or IOs */

/* engine_pool.c */
int pool_grow(struct engine *e, unsigned threads, struct err *err) must_check;
/* Starts the prepared job on its workers, once all are ready. */
int pool_start(struct engine *e, struct err *err) must_check;
void pool_close(struct engine *e);

/* engine_mem.c */
unsigned engine_parts(const struct engine *e); /* commands that the largest IO takes */
int memory_check(const struct engine *e, struct err *err) must_check;
int worker_prepare(struct worker *w, struct err *err) must_check;
void worker_release(struct worker *w);
void worker_release_io(struct worker *w); /* slots, buffers and ring: the next job gets new ones */
void part_reset(struct part *p, const struct need *n);
uint64_t part_lane_bytes(const struct part *p, unsigned lane);

/* engine_worker.c */
void worker_run(struct worker *w);
void worker_flush(struct worker *w, unsigned min_complete);
/* For a completion, so long at the most. */
void worker_wait(struct worker *w, uint64_t ns);
void worker_top_up(struct worker *w);
/* Puts the slot's IO into the ring again. */
void worker_put_again(struct worker *w, struct slot *s);
/* One of the slot's NVMe commands was answered: *@res becomes what a read or write would have given. False: others are to come. */
bool worker_answer(struct worker *w, struct slot *s, int *res);
/* A good IO that is not of its lane's size, off the fast path. */
void worker_account_odd(struct worker *w, struct slot *s, uint64_t t);

/* engine_segment.c: the way from one segment to the next */
enum step { STEP_ON, STEP_AGAIN, STEP_END };
enum step worker_begin(struct worker *w);
/* The time has come, or the job is cut. STEP_ON: go on with completions seen at @t. */
enum step worker_event(struct worker *w, uint64_t t);
/* Nothing in flight and nothing to issue. */
enum step worker_idle(struct worker *w);
/* The slow half of issuing: depth lowered, budget. False: do not issue. */
bool worker_next_io(struct worker *w, struct gen_io *ret);
/* An IO within the segment's budget; false: none is left. */
bool worker_draw(struct worker *w, struct gen_io *ret);
/* A completion that is not good. True: the slot is free for the next IO. */
bool worker_bad(struct worker *w, struct slot *s, int res, uint64_t t);
void worker_fatal(struct worker *w, int rc);

/* engine_seal.c */
/* Merges the parts of segment @k and hands the result out. What sealed() returned. */
int seal_segment(struct engine *e, unsigned k);
void seal_cpu_start(struct engine *e);
void seal_release(struct engine *e);

#endif
