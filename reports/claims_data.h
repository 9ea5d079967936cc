/* SPDX-License-Identifier: MIT */
/* Checked claims as rows and as JSON, in base units. */
#ifndef REPORTS_CLAIMS_DATA_H
#define REPORTS_CLAIMS_DATA_H

#include "pts/base/json.h"
#include "reports/claims.h"
#include "reports/grid.h"

/* Rows of the data sheet D_claims, which is made when it is not there. */
void claims_rows(struct grid *g, const struct dataset *d, const struct claim_checks *k);
/* "claims": {...} */
void claims_json(const struct claims *c, const struct claim_checks *k, struct json *j);
/* The keys of one checked claim, into an object that is open. */
void claim_json(const struct claim_check *k, struct json *j);
/* At most @max bytes of it, with "..." where it was cut. */
const char *claim_text(struct arena *a, const char *s, size_t max);
/* How a value is printed. */
enum numfmt claim_fmt(const struct claim *c, double shown);

#endif
