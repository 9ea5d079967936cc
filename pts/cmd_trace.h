/* SPDX-License-Identifier: MIT */
/* Parts of `pts trace` and `pts import`. */
#ifndef PTS_CMD_TRACE_H
#define PTS_CMD_TRACE_H

#include "pts/cmd.h"
#include "replay/analysis.h"
#include "replay/streammap.h"
#include "workloads/access.h"

/* stat, as text or JSON; what import prints as well. */
void trace_stat_print(const struct trace_head *h, bool json, struct buf *out);
/* Notes for people on stderr: lost events, unmatched IOs, times that look wrong. */
void trace_warn(const struct opts *o, const struct trace_head *h);

/* What streams and steps are printed of: a capture, or a stream map. */
struct trace_shown {
	const char *name;
	const struct analysis *a;
	const struct streammap *map; /* NULL: a capture */
	bool shares_only; /* of a map: its counts of IOs mean nothing */
};

uint64_t trace_step_ns(const struct trace_shown *s, unsigned i);
int trace_map(const struct opts *o, struct streammap *m, bool steps);
int trace_streams(const struct opts *o, struct trace *t);
int trace_steps(const struct opts *o, struct trace *t);
int trace_cut(const struct opts *o, struct trace *t);
int trace_export(const struct opts *o, struct trace *t);

/* The text of a stream map: a file that begins as one, or one that pts brings along, by its name. False: neither. */
bool trace_find_map(const char *path, struct buf *text);
/* --seq-rule, --seq-window, --step, --top, --cover. An exit code, 0 = fine. */
struct trace_choice {
	struct seq_rule rule;
	uint64_t step_ns;
	unsigned top;
	double cover_pct;
};
int trace_choose(const struct opts *o, struct trace_choice *ret);
/* "SEQ 4K W" */
const char *stream_name(const struct stream_stat *s, char *out, size_t n);

#endif
