/* SPDX-License-Identifier: MIT */
/* Looking after a database: what `pts db` does. */
#ifndef SCHEMA_ADMIN_H
#define SCHEMA_ADMIN_H

#include <stdint.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "schema/read.h"

struct table;

struct admin_info {
	int schema, schema_known; /* of the file; the newest of this pts */
	uint64_t size_bytes, log_bytes; /* the file; what is still in its -wal */
	int64_t runs, cells, drives, hosts; /* 0 when the schema is older */
	char first_utc[32], last_utc[32]; /* "" without runs */
};

/* Any schema up to the newest; changes nothing. -EINVAL, -ENOENT as read_open(). */
int admin_info(const char *path, struct admin_info *ret, struct err *err) must_check;

/* Existing files only. */
int admin_migrate(const char *path, int *ret_from, int *ret_to, struct err *err) must_check;

/* A copy of one moment, also while runs write; @to must not exist (-EEXIST), and exists only when
 * it is complete. */
int admin_backup(const char *path, const char *to, struct err *err) must_check;

struct merge_result {
	unsigned added, present; /* runs copied; runs that were there already */
	struct buf said; /* a line for each run; buf_release() it */
};
/*
 * Copies all runs of @from into @into (created when there is none), each in one transaction, with
 * its chain. A run that is there already (by uuid) is left as it is. -EBADMSG when @from has
 * faults; nothing is copied then.
 */
int admin_merge(const char *into, const char *from, struct merge_result *ret,
		struct err *err) must_check;

/* The chain of each run: columns run_id, uuid, state, sealed, rows, digest. */
struct table *admin_chains(struct reader *r, struct err *err);

#endif
