/* SPDX-License-Identifier: MIT */
/*
 * The simulated drive: an analytic model of an SSD on a virtual clock. Nothing sleeps: running a
 * job, being idle and purging take no time of the host and let the virtual clock, which starts at
 * 0, go on. Parameters are an ini file (workloads/sim).
 *
 * What a job gives follows from the ini, the seed and what was done to the drive since its last
 * purge, bit for bit: a test that is begun again from its purge gives the same numbers. Histograms
 * are filled from the configured distribution to the last IO, so percentiles and ceilings are known
 * beforehand. The series of a segment longer than 2^17 intervals is kept in rows of 2, 4, 8, ...
 * intervals (second.index is the first of them); its sums are the cell's, exactly.
 */
#ifndef WORKLOADS_DUT_SIM_H
#define WORKLOADS_DUT_SIM_H

#include "pts/base/err.h"
#include "workloads/dut.h"

/*
 * Opens the profile n->path: a built-in one ("ent-nvme"), or an ini file of the user's own when it
 * contains '/' or ends in ".ini". @name is the whole DUT name as typed. @opt may be NULL. -EINVAL
 * with "FILE:LINE: ..." for what the ini says wrongly, -ENOENT for a profile that is not there;
 * -EOPNOTSUPP for opt->dump_latencies (there are no single IOs to dump).
 */
int dut_sim_open(const struct dut_name *n, const char *name, const struct dut_options *opt,
		 struct dut **ret_dut, struct err *err) must_check;

/*
 * All that the numbers of an open simulated drive follow from, a line "name=value" each: its seed and every parameter as it
 * holds, size included.
 */
struct buf;
void dut_sim_params(const struct dut *d, struct buf *out);

#endif
