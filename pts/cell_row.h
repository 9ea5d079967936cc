/* SPDX-License-Identifier: MIT */
/* From what a backend counted to the row of a cell: what runs of tests and exact replays have in common. */
#ifndef PTS_CELL_ROW_H
#define PTS_CELL_ROW_H

#include "pts/base/buf.h"
#include "schema/store.h"
#include "workloads/result.h"

/*
 * PTS[GEN-3.1-RT]: histograms and latencies of the cell: with a rate from the due time (open loop), else from submission. @hist
 * is the caller's room for two an op, and @all, empty, gets all IOs of the cell; both must outlive the row.
 */
void cell_row_latencies(struct cell_row *w, struct cell_hist hist[2 * IO_OPS], struct hist *all,
			const struct result *r, bool rated);
/* The series. Returns the malloc()ed rows that @w points to. */
struct second_row *cell_row_seconds(struct cell_row *w, const struct result *r);
/* "EIO:2 ENODATA:1" into @text, which must outlive the row; NULL in the row when there was none. */
void cell_row_errnos(struct cell_row *w, struct buf *text, const struct result *r);

#endif
