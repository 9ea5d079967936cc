/* SPDX-License-Identifier: MIT */
/* The proof of a purge that somebody else does, such as a user's hook: marks before it, a look for them after it. */
#ifndef WORKLOADS_PURGE_MARKS_H
#define WORKLOADS_PURGE_MARKS_H

#include "workloads/dut.h"

struct purge_marks;

/* Marks blocks of a file or block device opened with DUT_WRITE, and reads them back. Caller frees, also after closing @d. */
int purge_marks_set(struct dut *d, struct purge_marks **ret, struct err *err) must_check;
/* Looks for them on @d, which may have been opened anew; fills canaries, survivors and verified. -EBADE: some are there still. */
int purge_marks_look(struct dut *d, struct purge_marks *m, struct purge_report *ret,
		     struct err *err) must_check;
void purge_marks_free(struct purge_marks *m); /* NULL is fine */

#endif
