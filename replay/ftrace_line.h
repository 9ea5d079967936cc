/* SPDX-License-Identifier: MIT */
/* What stands before an event in the kernel's trace as text, whoever printed it; and the lines that are no events. */
#ifndef REPLAY_FTRACE_LINE_H
#define REPLAY_FTRACE_LINE_H

#include "replay/format.h"

struct ftrace_head {
	uint64_t pid, cpu;
	int64_t time_ns;
};

/* Moves *p behind "comm-PID [CPU] FLAGS SEC.USEC: "; false: there is none, and *p stays. */
bool ftrace_head(const char **p, struct ftrace_head *ret);
/* A line without such a head: a comment, lost events, else a bad one. */
int ftrace_other(struct import *im, const struct input *in, const char *line,
		 struct err *err) must_check;

#endif
