/* SPDX-License-Identifier: MIT */
/*
 * Private to schema/: whether tables, views and triggers of a file are those that the migrations make. A view that somebody
 * redefined tells other numbers than the rows that the chains vouch for.
 */
#ifndef SCHEMA_SHAPE_H
#define SCHEMA_SHAPE_H

#include "pts/base/buf.h"
#include "schema/db.h"

/*
 * One line for each table or view that is missing or another one, for each trigger that is another one or a stranger's on a
 * table of pts. @notes: what does no harm, a missing trigger or index, objects of the user's own. Either may be NULL.
 */
int shape_check(struct db *d, struct buf *faults, struct buf *notes, struct err *err) must_check;

/* -EINVAL with the first fault. */
int shape_refuse(struct db *d, struct err *err) must_check;

#endif
