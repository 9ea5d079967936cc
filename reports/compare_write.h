/* SPDX-License-Identifier: MIT */
/* The comparison as a workbook, an HTML page, a text, a JSON document or a folder of CSV files. */
#ifndef REPORTS_COMPARE_WRITE_H
#define REPORTS_COMPARE_WRITE_H

#include "pts/base/json.h"
#include "reports/compare.h"

struct compared { /* how it came out, for the exit code */
	unsigned n_differ; /* conditions that are not the same */
	char differ[512]; /* their names, for people */
	unsigned claims, claims_met, claims_missed, claims_open; /* over all runs */
	bool prices_idle; /* the prices are of none of the drives */
};

/*
 * Writes the comparison of runs of @db to @out, its kind taken from the ending as report_write() does. On any error @out is
 * what it was before. Same database and files, same bytes.
 */
int compare_write(const char *db, const struct compare_options *o, const char *out,
		  struct compared *ret, struct err *err) must_check;

/* pts.compare/1: the numbers of the sheets, unrounded, in base units; null where there is none. */
void compare_json(const struct comparison *c, struct json *j);

/* What single sheets have to say in JSON: keys of the document that is open. */
void sheets_json(const struct comparison *c, struct json *j);

/* Array "units": each metric of each candidate with its samples, their spread, and Welch's test against the baseline. */
void units_json(const struct comparison *c, struct json *j);

#endif
