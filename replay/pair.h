/* SPDX-License-Identifier: MIT */
/*
 * Events to IOs: which event is the IO (issue where a device has any, else queue), and which completion belongs to it (at
 * the same device and sector, of the same operation: the oldest open start of just its size, else the oldest larger one, of
 * which it is a part, else the oldest). Events come in order of time. Private to import.c.
 */
#ifndef REPLAY_PAIR_H
#define REPLAY_PAIR_H

#include "replay/format.h"

struct pair;

struct pair_sink {
	int (*io)(void *arg, const struct trace_rec *rec, struct err *err);
	void (*skip)(void *arg, const char *reason, uint64_t n); /* when the source has ended */
	void *arg;
};

struct pair *pair_new(const struct pair_sink *sink); /* NULL: no memory */
void pair_free(struct pair *p);
int pair_event(struct pair *p, const struct import_event *ev, struct err *err) must_check;
/* The source has ended: what is open goes out without a response. The counts go into @r. */
int pair_finish(struct pair *p, struct trace_report *r, struct err *err) must_check;

#endif
