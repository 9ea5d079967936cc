/* SPDX-License-Identifier: MIT */
#ifndef REPORTS_REPORT_JSON_H
#define REPORTS_REPORT_JSON_H

#include "pts/base/json.h"
#include "reports/dataset.h"

/* One run as an object of the array "runs" of pts.report/1. */
void report_json_run(const struct dataset *d, struct json *j);
/* Objects "wsat", "hir", "xsr" of these tests. */
void report_json_states(const struct dataset *d, const struct test *t, struct json *j);
/* "demand" of DIRTH, CBW and their like; "steps" and "points" of curve, bounded, scale. */
void report_json_demand(const struct dataset *d, const struct test *t, struct json *j);
/* The capture of the run, when it has one; what a test of it came to. */
void report_json_capture(const struct dataset *d, struct json *j);
void report_json_rwsw(const struct dataset *d, const struct test *t, struct json *j);
struct wsat;
void report_json_wsat(const struct wsat *w, struct json *j);

#endif
