/* SPDX-License-Identifier: MIT */
/* The sheet of a demand variation test while it is built. */
#ifndef REPORTS_DEMAND_PRIV_H
#define REPORTS_DEMAND_PRIV_H

#include "reports/demand.h"
#include "reports/page.h"
#include "reports/plots.h"
#include "reports/tcqd.h"

struct demand_build {
	struct page page;
	const struct dataset *d;
	const struct demand *m;
	struct arena *a; /* of the grid */
	struct tcqd iops; /* the matrix of the tables page: others refer to it */
};

/* Begins a page under a P number ("P6"; "" none) with the banner of @s. */
void demand_page(struct demand_build *x, const struct section *s, const char *number,
		 const char *kind, const char *title);
/* "RND 8 KiB R/W 65/35" of the cells measured. */
const char *demand_access(struct arena *a, const struct demand *m);
double ms_or_nan(int64_t ns);

void demand_tables(struct demand_build *x); /* matrices and operating points */
void demand_table_load(struct demand_build *x); /* CPU, achieved threads and in-flight */
void demand_table_toio(struct demand_build *x);
void demand_access_page(struct demand_build *x); /* access probabilities, LBA groups */

void demand_variation(struct demand_build *x); /* P6 */
void demand_intensity(struct demand_build *x); /* P7 */
void demand_cpu(struct demand_build *x); /* P8 */
void demand_toio(struct demand_build *x); /* P15 */
void demand_compare(struct demand_build *x); /* distributions of the points over one another */

#endif
