/* SPDX-License-Identifier: MIT */
/* Composite Block Size Workload (spec 13): the machinery of DIRTH. */
#include "reports/demand.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	return sheet_any(d, SHEET_CBW);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_CBW, demand_sheet);
}

const struct sheet sheet_cbw = { 160, applies, build };
