/* SPDX-License-Identifier: MIT */
/* A sheet of the report: one file sheet_NAME.c each, found by its name (make writes the list). */
#ifndef REPORTS_SHEET_H
#define REPORTS_SHEET_H

#include "reports/dataset.h"
#include "reports/grid.h"

struct sheet {
	int order; /* place in the workbook */
	bool (*applies)(const struct dataset *d);
	void (*build)(const struct dataset *d, struct grid *g);
};

/* Columns of the data sheet D_rounds that formulas of other sheets use. */
#define ROUNDS_SHEET "D_rounds"
enum rounds_col {
	RC_CELL,
	RC_TEST,
	RC_ATTEMPT,
	RC_SECTION,
	RC_PHASE,
	RC_ROUND,
	RC_TRY,
	RC_WINDOW,
	RC_VOID,
	RC_PARTIAL,
	RC_LABEL,
	RC_ACCESS,
	RC_BLOCK,
	RC_READ,
	RC_TC,
	RC_QD,
	RC_SECONDS,
	RC_IOS,
	RC_IOPS,
	RC_MBS,
	RC_ART,
	RC_P50,
	RC_P99,
	RC_P999,
	RC_P9999,
	RC_P99999,
	RC_MRT,
	RC_INFLIGHT,
	RC_LITTLE,
	RC_CPU_SYS,
	RC_CPU,
	RC_TEMP,
	RC_ERRORS,
	RC_WRITTEN,
	RC_MEMBER,
	RC_RATE,
	RC_MAX
};

/* Whether a test has a sheet of its own; all others get the general one. */
bool sheet_is_own(const char *test);

/* The sheet of a test by its make, so that a user's test like one of these has theirs. */
enum sheet_kind {
	SHEET_GENERAL,
	SHEET_OWN, /* by its name */
	SHEET_DIRTH,
	SHEET_CBW,
	SHEET_CURVE,
	SHEET_BOUNDED,
	SHEET_SCALE,
	SHEET_REPLAY,
	SHEET_STREAMS,
	SHEET_MULTI
};
enum sheet_kind sheet_kind(const struct test *t);
bool sheet_any(const struct dataset *d, enum sheet_kind kind);
void sheet_each(const struct dataset *d, struct grid *g, enum sheet_kind kind,
		void (*make)(const struct dataset *d, struct grid *g, const struct test *t));

#endif
