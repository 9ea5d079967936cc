/* SPDX-License-Identifier: MIT */
/* Private to dut_set*.c: the members and their runners, results kept and summed up. */
#ifndef WORKLOADS_DUT_SET_IMPL_H
#define WORKLOADS_DUT_SET_IMPL_H

#include <pthread.h>

#include "workloads/dut_set.h"

/* ---- results (dut_set_sum.c) ---- */

/* A result that outlives the call it was handed out in; or the sum of some. */
struct result_box {
	struct result r;
	struct hist *service[IO_OPS], *response[IO_OPS], *stream[ACCESS_STREAMS_MAX];
	struct second *second, *spare;
	uint32_t second_cap, spare_cap;
	struct member_result member[SET_MEMBERS_MAX];
};

/* A copy with all it points to. */
void result_box_keep(struct result_box *b, const struct result *r);
/*
 * Counts are added, histograms merged; it lasts from the first submission to the last completion; IOs in flight are added, each
 * member's weighed by its share of that time.
 */
void result_box_sum(struct result_box *b, const struct member_result *m, unsigned n);
void result_box_release(struct result_box *b);

/* ---- members ---- */

#define SET_SLOTS 2 /* sealed segments that a member may be ahead of the collector */

struct set_member {
	struct set *set;
	unsigned no; /* from 1 */
	struct dut *dut;
	char *name;
	bool cache_was;
	struct purge_report purge;
	struct result_box box[SET_SLOTS];
	/* its runner: a thread, parked between calls */
	pthread_t thread;
	bool has_thread;
	struct job job;
	/* under set.mu */
	int (*work)(struct set_member *m); /* NULL: parked */
	int rc;
	struct err err;
	unsigned sealed; /* segments of the stretch */
	struct progress progress;
	bool told; /* it said how far it is */
};

struct set {
	struct dut d; /* first: a struct dut * is a struct set * */
	struct set_member m[SET_MEMBERS_MAX];
	struct dut *dut[SET_MEMBERS_MAX]; /* d.member */
	unsigned n;
	bool cache_asked, cache_mixed; /* the last switch; members were not alike before it */
	enum purge_method method;
	struct purge_report purge[SET_MEMBERS_MAX];
	struct result_box sum;
	pthread_mutex_t mu;
	pthread_cond_t to_members, to_main;
	bool exiting;
	/* the stretch that runs */
	volatile int halt; /* job.stop of the members */
	bool enough; /* what comes now is dropped */
	unsigned first, last; /* members in it, indices */
	unsigned ready, taken; /* members prepared, segments handed out */
};

static inline struct set *set_of(struct dut *d)
{
	return (struct set *)d;
}

/* dut_set_run.c */
int set_run(struct dut *d, const struct job *job, struct err *err) must_check;
/* Calls @work for all members, of real ones at the same time. The first failure, with the member's name. */
int set_each(struct set *s, int (*work)(struct set_member *m), struct err *err) must_check;
/* Simulated: idle until all virtual clocks show the same. */
int set_align(struct set *s, uint64_t range_bytes, struct err *err) must_check;
void set_runners_end(struct set *s);

#endif
