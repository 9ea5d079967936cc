/* SPDX-License-Identifier: MIT */
/* The steps of comparison_load(). */
#ifndef REPORTS_COMPARE_PRIV_H
#define REPORTS_COMPARE_PRIV_H

#include "reports/compare.h"

#define LABEL_MAX 18 /* characters of a label: two lines of a column's head */

/* What a run is, in the words that the labels are made of. */
void subject_describe(struct comparison *c, struct subject *s);
/* Runs into candidates, labels and colours. @baseline: index of a run. */
void compare_group(struct comparison *c, unsigned baseline);
/* The columns of a table: which of the runs are of this candidate. */
void compare_gate(struct comparison *c);
void compare_metrics(struct comparison *c);
int compare_weights(struct comparison *c, struct err *err) must_check;
void compare_score(struct comparison *c);
void compare_remarks(struct comparison *c);

/* A fact of the drive ("dev_link_speed"), of a set those of its members, each once; "" not recorded. */
const char *drive_fact(struct arena *a, const struct dataset *d, const char *key);

/* A larger array with the same @n entries when there is no room for one more; else NULL. */
void *compare_grown(struct comparison *c, const void *v, unsigned n, size_t size);
/* Adds a line to the remarks. */
void compare_remark(struct comparison *c, const char *text);

#endif
