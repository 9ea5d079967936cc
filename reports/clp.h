/* SPDX-License-Identifier: MIT */
/* Response time histogram and confidence level plot (spec 9), two printed pages for a capture. */
#ifndef REPORTS_CLP_H
#define REPORTS_CLP_H

#include "reports/plots.h"

/* Pages "RT Histogram - CLP" and "Exceedance and Confidence Levels". */
void clp_pages(struct page *p, const struct section *s, const struct capture_hist *h);

#endif
