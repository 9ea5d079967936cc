/* SPDX-License-Identifier: MIT */
/*
 * Several drives under one load: "set:DUT,DUT,...". Threads and depth are each member's; a result is the sum, with the members'
 * own in result.member. Members are all real (drives, files) or all simulated.
 *
 * Real members have an engine each; their first IOs go at the same time. Between segments bounded by time alone each passes on
 * by its own clock, without a gap; before and after one that is drained anyhow (bounded by bytes or IOs, or idle) the early ones
 * wait for the last. Virtual clocks advance together: whoever is done early, or not in the job at all, is idle until the last
 * is done. When one member fails, the others stop; the message names it.
 */
#ifndef WORKLOADS_DUT_SET_H
#define WORKLOADS_DUT_SET_H

#include "pts/base/buf.h"
#include "workloads/dut.h"

#define SET_MEMBERS_MAX 64

struct set_names {
	char *v[SET_MEMBERS_MAX]; /* as typed, "\," become "," */
	unsigned n;
};

bool set_name_is(const char *name);
/* -EINVAL: no member, an empty one, a set inside the set, too many. */
int set_names_split(const char *name, struct set_names *ret, struct err *err) must_check;
void set_names_release(struct set_names *n);
/* The other way: "set:A,B". */
void set_names_join(const struct set_names *n, struct buf *out);

/* dut_name_parse() of a set: looks at all members; real and simulated ones do not mix. */
int set_name_parse(const char *name, struct dut_name *ret, struct err *err) must_check;

/*
 * dut_open() of a set. The same drive twice, by whatever names, is -EINVAL, found before anything is opened for writing.
 * Simulated members without a seed of their own get opt->seed, opt->seed + 1, ...
 */
int dut_set_open(const char *name, enum dut_open_mode mode, const struct dut_options *opt,
		 struct dut **ret_dut, struct err *err) must_check;

/* Drives, or slices of one drive; files under whatever names; models with one seed. */
bool dut_same_drive(const struct dut_info *a, const struct dut_info *b);

#endif
