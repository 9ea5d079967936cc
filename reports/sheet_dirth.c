/* SPDX-License-Identifier: MIT */
/* Demand Intensity / Response Time Histogram, and tests made like it (spec 14). */
#include "reports/demand.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	return sheet_any(d, SHEET_DIRTH);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_DIRTH, demand_sheet);
}

const struct sheet sheet_dirth = { 170, applies, build };
