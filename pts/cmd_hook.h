/* SPDX-License-Identifier: MIT */
/* A program of the user's that purges what pts cannot: it stops an array, purges its members and builds it again. */
#ifndef PTS_CMD_HOOK_H
#define PTS_CMD_HOOK_H

#include "pts/base/err.h"
#include "workloads/dut_layout.h"

struct hook {
	const char *file; /* an executable, its whole path */
	const char *path; /* of the target, closed */
	const struct layout *layout; /* NULL: no array */
	const char *uuid; /* of the array; "" not known */
	const volatile int *stop; /* when it becomes non-zero the program is ended: -EINTR */
};

/* -EINVAL and why: no regular file, or none that can be executed. */
int hook_check(const char *file, struct err *err) must_check;
/*
 * Runs FILE PATH [MEMBER...] with PTS_DUT, and of an array PTS_LAYOUT, PTS_LEVEL, PTS_DISKS, PTS_UUID, PTS_MEMBERS and
 * PTS_SERIALS in its environment; its output goes to stderr, its input is empty. 0; -EINTR; -EIO it failed.
 */
int hook_run(const struct hook *h, struct err *err) must_check;

#endif
