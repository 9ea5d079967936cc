/* SPDX-License-Identifier: MIT */
/*
 * A stream map: what a published table of a workload says, as text, without any single IO. Comma-separated:
 *
 *	# stream-map 1
 *	# name: GPS Nav Portal, Drive0
 *	# source: where the figures are from
 *	# level: block                        or file
 *	step,start_s,duration_s,qd,access,block_bytes,op,ios
 *	0,0,1,3.5,SEQ,4096,W,120
 *	0,0,1,3.5,RND,16384,W,77
 *	1,1,1,,,,,0                           a step without IO
 *
 * A row for each step and stream; steps rise by one from 0 and follow one another without a gap. qd is the mean queue depth
 * of the step, empty where it is not known. The last column may be share_pct instead of ios: then there are shares only.
 */
#ifndef REPLAY_STREAMMAP_H
#define REPLAY_STREAMMAP_H

#include <stddef.h>

#include "replay/analysis.h"

struct streammap {
	char name[TRACE_NAME], source[256], level[32];
	bool shares_only; /* ios of the analysis count thousandths of a percent */
	bool qd_known;
	uint64_t duration_ns, digest;
	struct analysis a; /* steps may differ in length: see step_ns of each */
	uint64_t *step_ns;
	double *step_qd; /* 0 unknown */
};

bool streammap_is(const char *text, size_t n);
/* @file for messages. -EINVAL with FILE:LINE. */
int streammap_parse(const char *file, const char *text, size_t n, struct streammap *ret,
		    struct err *err) must_check;
void streammap_release(struct streammap *m);

#endif
