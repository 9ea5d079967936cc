/* SPDX-License-Identifier: MIT */
/* A plan back from its text, as it is stored with a run: what the audit holds the rows against. */
#ifndef PTS_PLAN_READ_H
#define PTS_PLAN_READ_H

#include "pts/plan.h"

/*
 * Reads what plan_text() wrote; plan_text() of the result is the same text again. What the text does not say stays
 * empty (def, lines of the definition, shares of a capture's steps). -EINVAL names the line. Release with
 * plan_release().
 */
int plan_read(const char *text, struct plan *ret, struct err *err) must_check;

#endif
