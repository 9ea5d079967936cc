/* SPDX-License-Identifier: MIT */
/* The drives of one --dut: itself, or the members of a set. Gate, identity and consent are of each. */
#ifndef PTS_CMD_TARGETS_H
#define PTS_CMD_TARGETS_H

#include "pts/base/arena.h"
#include "pts/cmd.h"
#include "schema/read.h"
#include "schema/store.h"
#include "workloads/dut_set.h"

#define TARGETS_DEVIATIONS 5

struct targets {
	struct set_names name;
	struct dut_info *info; /* name.n of them */
	char **identity; /* identity_of_dut() of each */
	bool set;
};

/* Takes over names and facts of an open target. */
void targets_take(struct targets *t, const char *name, const struct dut *d);
void targets_release(struct targets *t);

/* The safety gate for each, with the consents of @o; all before anything is opened for writing. */
int targets_gate(const struct targets *t, const struct opts *o, struct err *err) must_check;
/* Marks those words of --destroy that name one of the targets. */
void targets_named(const struct targets *t, const struct opts *o, bool ret_named[]);
/* What deviates from the PTS by the drives alone. Returns how many. */
unsigned targets_deviations(const struct targets *t, const struct dut_info *all,
			    const char *ret[TARGETS_DEVIATIONS]);
/* Results must survive the drive: a database that is itself a target is refused. */
int targets_db_apart(const struct targets *t, const char *db, struct err *err) must_check;
/* -EPERM when one of them is not as it was looked at. */
int targets_unchanged(const struct targets *t, const struct dut *d, struct err *err) must_check;

/* The name by which resume finds it from any folder, without injected faults. @d: opened for the run. */
const char *targets_lasting(const struct targets *t, const struct dut *d, struct arena *a);
/* Facts of the host with those of each member's device as "member1_dev_scheduler"; ends with key NULL. */
const struct key_value *targets_host(const struct targets *t, const struct dut *d, struct arena *a);
/* Of a set: a row for each member; else nothing. */
int targets_store(const struct targets *t, const struct dut *d, struct store *st, int64_t run,
		  struct err *err) must_check;

/* What the database holds of a set's members. */
struct stored_target {
	struct dut_info
		id; /* model, serial, firmware, capacity_bytes, lba_bytes, wwid, nsid, path */
	const char *identity; /* "" none */
};
/* @ret: SET_MEMBERS_MAX of them. */
int targets_load(struct reader *rd, int64_t run, struct arena *a, struct stored_target *ret,
		 unsigned *ret_n, struct err *err) must_check;

#endif
