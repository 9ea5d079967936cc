/* SPDX-License-Identifier: MIT */
/* A report as a folder of CSV files. */
#ifndef REPORTS_REPORT_CSV_H
#define REPORTS_REPORT_CSV_H

#include "reports/grid.h"

/*
 * One file a sheet in @dir, which is made where there is none, with README.txt and SHA256SUMS; each written beside its
 * place, flushed and renamed. Other files of the folder stay as they are.
 */
int report_csv(const struct grid *g, const char *dir, struct err *err) must_check;

#endif
