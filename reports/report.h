/* SPDX-License-Identifier: MIT */
/* Reports: from the database alone to a workbook, an HTML page, a text, a JSON document or a folder of CSV files. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include <stdint.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"

/*
 * Writes the report of runs (run_id) of @db to @out, its kind taken from the ending: .xlsx .html .txt .json, "/" or
 * an existing folder: CSV files in it (others -EINVAL).
 * Written beside the place under another name, flushed and renamed: on any error @out is what it was before.
 * Same database, same bytes.
 */
int report_write(const char *db, const int64_t *run, unsigned n_runs, const char *out,
		 struct err *err) must_check;

struct report_request {
	const char *db;
	const int64_t *run;
	unsigned n_runs;
	const char *out;
	const char *claims; /* a file; NULL: none */
};

struct report_claims { /* over all runs */
	unsigned n, met, missed, open;
};

/* The same, with the claims of a vendor held against each run: -EINVAL FILE:LINE for a mistake in their file, before @out is touched. */
int report_write_claims(const struct report_request *q, struct report_claims *ret,
			struct err *err) must_check;

/* Names of the sheets that exist, NULL-terminated: for `pts list sheets`. */
const char *const *report_sheets(void);

#endif
