/* SPDX-License-Identifier: MIT */
#ifndef REPORTS_REPORT_JSON_H
#define REPORTS_REPORT_JSON_H

#include "pts/base/json.h"
#include "reports/dataset.h"

/* One run as an object of the array "runs" of pts.report/1. */
void report_json_run(const struct dataset *d, struct json *j);

#endif
