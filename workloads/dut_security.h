/* SPDX-License-Identifier: MIT */
#ifndef WORKLOADS_DUT_SECURITY_H
#define WORKLOADS_DUT_SECURITY_H

#include "workloads/dut.h"

/* ATA security of an open drive in words, with what to do about it; "" of a drive that has none, or was not asked. */
const char *dut_security(const struct dut *d);

#endif
