/* SPDX-License-Identifier: MIT */
/* Private to schema/: rows into the chain, and the chain checked against the rows. */
#ifndef SCHEMA_EVIDENCE_H
#define SCHEMA_EVIDENCE_H

#include <stdint.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "schema/db.h"

/* Appends row @row of @table, just inserted: reads it back and hashes what was read. -EINVAL when
 * the run is sealed. */
int evidence_add(struct db *d, int64_t run, const char *table, int64_t row,
		 struct err *err) must_check;
/* Number of rows and hash of the last one ("" and 0 of a new run). */
int evidence_head(struct db *d, int64_t run, int64_t *ret_rows, char ret_hash[65],
		  struct err *err) must_check;

/* One fact of a host in the text that its digest is over; @value NULL or "" is no value. */
void evidence_host_fact(struct buf *text, const char *key, const char *value);
/* SHA-256 over the facts of a host as stored. */
int evidence_host_digest(struct db *d, int64_t host, char ret[65], struct err *err) must_check;

/* One line for each fault of a run's chain; 0 or an error of reading. */
int evidence_check_run(struct db *d, int64_t run, struct buf *faults, struct err *err) must_check;
/* The same for rows that belong to no chain, and for what runs share. */
int evidence_check_shared(struct db *d, struct buf *faults, struct err *err) must_check;
/* Both of one run: its chain, its rows outside of it, its host, its definitions and plans. Lines name
 * the table as well. */
int evidence_check_all(struct db *d, int64_t run, struct buf *faults, struct err *err) must_check;

#endif
