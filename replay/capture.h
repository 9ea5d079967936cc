/* SPDX-License-Identifier: MIT */
/* A capture as the tests use it: analysed into streams and steps, from a canonical capture or from a stream map (streammap.h). */
#ifndef REPLAY_CAPTURE_H
#define REPLAY_CAPTURE_H

#include "replay/analysis.h"
#include "replay/schedule.h"

struct capture_choice {
	struct seq_rule rule;
	uint64_t step_ns; /* 0 = 1 s; a stream map brings its own */
};

struct capture_about { /* for the database and reports; strings "" and numbers 0 where unknown */
	char name[TRACE_NAME], format[32], event[16], source[256], level[32];
	char began_utc[32]; /* of the first IO */
	uint64_t records, ios, reads, writes, bytes_read, bytes_written;
	uint64_t duration_ns, step_ns;
	uint64_t lost, digest;
	unsigned n_streams; /* all; facts hold the largest ones */
	double qd_max;
	bool qd_known, is_map; /* map: shares only, no IO of its own */
	char seq_rule[64]; /* "window 32", "strict", "as the capture says" */
	char devices[1024]; /* names, separated by ", " */
};

struct capture;

/* @path: a file, or the name of a stream map that pts brings along. -EINVAL with the reason. */
int capture_load(const char *path, const struct capture_choice *choice, struct capture **ret,
		 struct err *err) must_check;
void capture_free(struct capture *c); /* NULL is fine */
const struct capture_facts *capture_facts(const struct capture *c); /* live as long as @c */
const struct capture_about *capture_about(const struct capture *c);
/* Its steps in full: for the database. */
const struct analysis *capture_analysis(const struct capture *c);

#endif
