/* SPDX-License-Identifier: MIT */
/* The drive of an interrupted run, found again by its identity. */
#ifndef PTS_CMD_RESUME_H
#define PTS_CMD_RESUME_H

#include "pts/cmd_targets.h"

/*
 * The name that a target has now: @dut, as the run named it, when that is the drive still or none is found. Told on stderr
 * when it is another one; a word of --destroy that was the path of before (among @given, the words as stored) then is that of
 * now.
 */
const char *resume_find(const char *dut, const struct stored_target *was,
			const struct opt_list *given, struct opts *o, struct arena *a);
/* -EPERM and both values, when model, serial, firmware, capacity or LBA size differ. */
int resume_same_info(const struct dut_info *was, const struct dut_info *now,
		     struct err *err) must_check;
/* @was: as recorded, NULL by a pts that did not; @dut: for messages. */
int resume_same_identity(const char *was, const char *is, const char *dut,
			 struct err *err) must_check;

#endif
