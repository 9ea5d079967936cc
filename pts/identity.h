/* SPDX-License-Identifier: MIT */
/*
 * What makes a target the same one later, whatever its name: stored with a run, compared by resume. @sysroot is a prefix of
 * /sys, /proc and /dev for tests, else "".
 */
#ifndef PTS_IDENTITY_H
#define PTS_IDENTITY_H

#include <stddef.h>

#include "pts/base/buf.h"
#include "workloads/dut.h"

/*
 * "file DEV:INODE" of a file target or of the file below a loop device; "boot ID disk N" of another drive that has neither
 * serial nor wwid (the kernel numbers disks as they appear); the wwid of one that has; "" where model and serial say it all. Of
 * a partition ", partition N" besides.
 */
void identity_of(const char *sysroot, const struct dut_info *d, char *ret, size_t n);

/* The same; of an array what it is made of, a line "name=value" each. */
void identity_text(const char *sysroot, const struct dut_info *d, struct buf *out);
/* The same of an open target. Of a simulated drive all that its numbers follow from, a line "name=value" each. */
void identity_of_dut(const struct dut *d, struct buf *out);
/* In words what differs between two of them: "gc.wa_steady was 4.2, is 5, and 2 more"; "" nothing. */
void identity_diff(const char *was, const char *is, struct buf *out);

/*
 * The drive of that identity among all block devices here, under whatever name: @id has model, serial, wwid, nsid and the path
 * it had, which is kept when that is the drive still; @identity is as identity_text() gave it, or "". False: none is it.
 */
bool identity_find(const char *sysroot, const struct dut_info *id, const char *identity,
		   char ret_path[128]);

#endif
