/* SPDX-License-Identifier: MIT */
/* Which sheet a test gets, by what it is made like: a user's `test my-dirth like dirth` has that of dirth. */
#include <string.h>

#include "reports/demand.h"
#include "reports/rwsw.h"
#include "reports/sheet.h"

static bool has_rates(const struct test *t)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].n_rated >= 3)
			return true;
	return false;
}

enum sheet_kind sheet_kind(const struct test *t)
{
	if (t->attempt && rwsw_has_replay(t))
		return SHEET_REPLAY;
	if (!t->attempt || !t->n_sections)
		return SHEET_GENERAL;
	if (sheet_is_own(t->name))
		return SHEET_OWN;
	if (demand_is(t))
		return demand_is_cbw(t) ? SHEET_CBW : SHEET_DIRTH;
	if (!strcmp(t->name, "scale") || strstr(t->plan, " on members "))
		return SHEET_SCALE;
	if (!strcmp(t->name, "bounded") ||
	    (pairs_get(&t->params, "limit") &&
	     (pairs_get(&t->params, "access") || strstr(t->plan, " where art < "))))
		return SHEET_BOUNDED;
	if (!strcmp(t->name, "curve") || has_rates(t))
		return SHEET_CURVE;
	if (rwsw_is(t))
		return *t->section[0].label ? SHEET_STREAMS : SHEET_MULTI;
	return SHEET_GENERAL;
}

bool sheet_any(const struct dataset *d, enum sheet_kind kind)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (sheet_kind(&d->test[i]) == kind)
			return true;
	return false;
}

void sheet_each(const struct dataset *d, struct grid *g, enum sheet_kind kind,
		void (*make)(const struct dataset *d, struct grid *g, const struct test *t))
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (sheet_kind(&d->test[i]) == kind)
			make(d, g, &d->test[i]);
}
