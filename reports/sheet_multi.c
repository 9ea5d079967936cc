/* SPDX-License-Identifier: MIT */
/* Multi-WSAT (spec 17.4): the streams of a capture in their shares, in one loop to steady state. Pages of WSAT. */
#include "reports/rwsw.h"
#include "reports/sheet.h"
#include "reports/states.h"

static bool applies(const struct dataset *d)
{
	return d->rwsw && sheet_any(d, SHEET_MULTI);
}

static void build_one(const struct dataset *d, struct grid *g, const struct test *t)
{
	wsat_sheet(d, g, rwsw_multi(d, t));
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_MULTI, build_one);
}

const struct sheet sheet_multi = { 184, applies, build };
