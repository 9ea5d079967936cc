/* SPDX-License-Identifier: MIT */
/* What makes a target without a serial number the same one later: stored with a run, compared by resume. */
#ifndef PTS_IDENTITY_H
#define PTS_IDENTITY_H

#include <stddef.h>

#include "pts/base/buf.h"
#include "workloads/dut.h"

/*
 * "file DEV:INODE" of a file target or of the file below a loop device; "boot ID disk N" of another drive that has neither
 * serial nor wwid (the kernel numbers disks as they appear); the wwid of one that has; "" where model and serial say it all.
 */
void identity_of(const struct dut_info *d, char *ret, size_t n);

/* The same of an open target. Of a simulated drive all that its numbers follow from, a line "name=value" each. */
void identity_text(const struct dut *d, struct buf *out);
/* In words what differs between two of them: "gc.wa_steady was 4.2, is 5, and 2 more"; "" nothing. */
void identity_diff(const char *was, const char *is, struct buf *out);

#endif
