/* SPDX-License-Identifier: MIT */
/* What an open target is now: drives are pulled, swapped and re-sized while they are under test. */
#ifndef WORKLOADS_DUT_AGAIN_H
#define WORKLOADS_DUT_AGAIN_H

#include "workloads/dut.h"

/*
 * Asks the kernel, through the open descriptor and sysfs, nothing of the drive itself: path, model, serial, firmware, wwid,
 * capacity and LBA size as of now. -ENODEV: it is gone, or another is in its place. Of a set: ask of each member.
 */
int dut_again(const struct dut *d, struct dut_info *ret, struct err *err) must_check;
/* "capacity was 1073741824, is 536870912" of what differs; false when nothing does. */
bool dut_differs(const struct dut_info *was, const struct dut_info *is, char *ret, unsigned n);

#endif
