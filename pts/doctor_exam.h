/* SPDX-License-Identifier: MIT */
/* One examination: the rows so far and what the checks read from. Private to doctor*.c. */
#ifndef PTS_DOCTOR_EXAM_H
#define PTS_DOCTOR_EXAM_H

#include "pts/doctor.h"
#include "pts/gate_sys.h"
#include "pts/host.h"

struct exam {
	struct arena *arena;
	const struct doctor_conf *conf;
	const char *root;
	const struct key_value *facts; /* of host.h: what is recorded with a run too */
	struct doctor *out;
};

/* A row; then, if something is to be changed, the advice of that row. */
void exam_say(struct exam *x, const char *check, enum doctor_verdict v, const char *fmt, ...)
	printf_like(4, 5);
void exam_advise(struct exam *x, const char *fmt, ...) printf_like(2, 3);

const char *exam_fact(const struct exam *x, const char *key); /* "" where it is not known */
unsigned exam_cpus(const struct exam *x); /* online; at least 1 */
/* "Key: value" of a file below the root. False, and "" in @ret, when it has none. */
bool exam_field(const struct exam *x, const char *file, const char *key, char *ret, size_t n);

/* The next range of "0-3,8,10-11"; false at the end. */
bool cpulist_next(const char **list, unsigned *ret_lo, unsigned *ret_hi);
bool cpulist_has(const char *list, unsigned cpu);

void exam_host(struct exam *x);
void exam_target(struct exam *x);

#endif
