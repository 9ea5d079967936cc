/* SPDX-License-Identifier: MIT */
/* Inside of timed IO: shared by timed*.c only. */
#ifndef WORKLOADS_TIMED_IMPL_H
#define WORKLOADS_TIMED_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "workloads/data.h"
#include "workloads/ring.h"
#include "workloads/tick.h"
#include "workloads/timed.h"

#define QUEUE_IOS (1u << 18) /* loaded ahead: more than a second of 200,000 IO/s */
#define SERIES_QUEUE 1024u
#define TIMED_BATCH 8 /* IOs a submission: bounds by how much one looks older than it is */
#define BAD_IN_A_ROW 1000
#define NO_CLAIM UINT32_MAX

enum timed_cut {
	TIMED_GO,
	TIMED_CUT,
	TIMED_LEAVE
}; /* issue no more; nor wait for what is in flight */

struct timed_slot {
	struct timed_io io;
	uint64_t t_sub;
	uint64_t number; /* of the request, in the order of the queue */
	uint64_t addr;
	uint32_t live; /* its place in the table of what is in flight */
	uint32_t claim; /* of the write pool; NO_CLAIM */
	bool issued; /* the kernel took it */
};

/* ---- write data: one region gone round; stretches are given back in any order ---- */

struct claim {
	uint64_t end;
	bool free;
};

struct write_pool {
	uint64_t base, bytes;
	uint64_t head, tail; /* positions that only grow; [tail, head) is in use */
	struct claim *claim; /* a ring of them in the order in which they were taken */
	uint32_t mask, first, n;
	const struct data_way *way;
	uint64_t state;
};

/* 0: no room now. @ret_claim goes to pool_free(). */
uint64_t pool_take(struct write_pool *p, uint64_t bytes, uint32_t *ret_claim);
void pool_free(struct write_pool *p, uint32_t claim);

/* ---- what is in flight, by place: who overlaps whom ---- */

#define GRAIN_SHIFT 16 /* 64 KiB */
#define GRAINS_MAX 16 /* an IO over more of them is looked for the slow way */
#define GRAIN_SLOTS 4096u

struct extent {
	uint64_t start, end;
	uint16_t target;
	bool changes; /* writes or discards */
	struct timed_slot *slot;
};

struct overlap {
	struct extent *live; /* dense */
	unsigned n, wide;
	uint32_t grain[GRAIN_SLOTS]; /* how many lie on it, by hash */
};

void overlap_add(struct overlap *o, struct timed_slot *s);
void overlap_remove(struct overlap *o, struct timed_slot *s);
/* Is there one in flight that overlaps, with a change among the two? */
bool overlap_finds(const struct overlap *o, const struct timed_io *io);
bool overlap_two(const struct timed_io *a, const struct timed_io *b);

/* ---- counting ---- */

struct series_item {
	uint16_t target;
	struct second s;
};

struct timed_target {
	struct hist *service[IO_OPS], *response[IO_OPS];
	uint64_t ios[IO_OPS], bytes[IO_OPS];
	uint64_t prepared, short_ios, errors;
	uint64_t area_ns, t_live; /* IOs in flight, integrated up to t_live */
	uint64_t last_done_ns;
	unsigned live, live_max;
	struct second now; /* the interval that runs */
	struct {
		int err;
		uint64_t n;
	} errnos[RESULT_ERRNOS];
	uint64_t head[TIMED_OPS]; /* first word of its SQEs; with passthrough of its commands */
	struct ring_nvme nvme; /* passthrough */
	bool block; /* a block device: discards by ioctl */
	/* the caller's: intervals that are over */
	struct second *second;
	unsigned n_seconds, cap_seconds;
};

struct timed {
	struct timed_job job;
	uint64_t deadline_ns;
	/* ---- between both threads ---- */
	struct timed_io *queue;
	_Atomic uint64_t q_head, q_tail; /* taken; filled */
	_Atomic bool q_end; /* nothing comes any more */
	struct series_item *series;
	_Atomic uint64_t s_head, s_tail;
	_Atomic int cut;
	_Atomic bool ready, go, finished;
	_Atomic uint64_t pub_issued, pub_done, pub_bytes;
	_Atomic uint64_t pub_live; /* in flight, and those that the kernel did not take yet */
	_Atomic uint64_t t0;

	/* ---- the submitter's ---- */
	pthread_t thread;
	bool started;
	struct ring ring;
	struct pass pass; /* of the first target, with the smallest command of all */
	int rc;
	struct err err;
	struct timed_slot *slot, **free;
	unsigned n_slots, n_free;
	struct timed_slot *batch[TIMED_BATCH];
	unsigned n_batch;
	struct timed_slot *discard; /* the last of the batch, if it goes by ioctl; else NULL */
	void *memory; /* the write pool, then what is read, which nobody looks at */
	size_t memory_bytes;
	uint64_t read_unit, read_bufs;
	struct write_pool pool;
	struct overlap over;
	struct timed_slot *next; /* made ready while there was time; NULL: none */
	struct timed_slot **held; /* by age: wait for one in flight that they overlap */
	unsigned n_held;
	uint64_t held_done; /* IOs done when they were last looked at */
	uint64_t number, newest; /* requests taken; the latest of them that was issued */
	unsigned live, live_max;
	uint64_t area_ns, t_live;
	uint64_t first_due, last_due, first_sub, last_sub; /* the due ones since t0 */
	uint64_t stalled_since; /* 0: not stalled */
	uint64_t second_end, last_done_ns, done;
	uint32_t second_index;
	unsigned bad_run;
	bool starving, any;
	struct hist *late;
	struct timed_target *target;

	struct timed_result result;
	struct result *member_result;
	struct member_result *member;
	struct hist *sum[2 * IO_OPS];
	struct second *sum_second;
	char text[256];
};

/* timed_loop.c: what the thread does. */
void *timed_main(void *arg);
/* timed_result.c */
void timed_collect(struct timed *t); /* takes over the intervals that are over */
void timed_sum(struct timed *t);
void timed_result_release(struct timed *t);

#endif
