/* SPDX-License-Identifier: MIT */
/*
 * Reads back a workbook that was just written. libxlsxwriter builds each part in a temporary file and does not look
 * whether those writes succeed: on a full disk it packs a part that ends in the middle, and reports success.
 */
#ifndef REPORTS_XLSX_CHECK_H
#define REPORTS_XLSX_CHECK_H

#include "pts/base/err.h"

/* Every part inflates, has its checksum, and closes its XML root. -EIO with the part that does not. */
int xlsx_check(const char *path, struct err *err) must_check;

#endif
