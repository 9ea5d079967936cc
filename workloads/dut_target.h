/* SPDX-License-Identifier: MIT */
/* What an open file: or block DUT gives to who issues IO himself (timed.h), beside its own engine. */
#ifndef WORKLOADS_DUT_TARGET_H
#define WORKLOADS_DUT_TARGET_H

#include "workloads/dut.h"
#include "workloads/engine.h"

/*
 * A descriptor and faults of its own. Of a DUT opened for its facts (DUT_READ) the descriptor is read-only, so that nothing can
 * be written by it whatever happens; of one opened with DUT_WRITE it writes. -EINVAL: sim: and set: have none.
 */
int dut_target_open(struct dut *d, struct engine_target *ret, struct err *err) must_check;
void dut_target_close(struct engine_target *t); /* one of zeros is fine; t->fd < 0 too */

#endif
