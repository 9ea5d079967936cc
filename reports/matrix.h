/* SPDX-License-Identifier: MIT */
/* The block size x R/W mix matrix of a section: order, lookup, tables, 2-D and 3-D plots. */
#ifndef REPORTS_MATRIX_H
#define REPORTS_MATRIX_H

#include "reports/plots.h"

#define MATRIX_MAX 16

struct matrix {
	const struct section *s;
	unsigned n_mix, n_size;
	double mix[MATRIX_MAX]; /* read percent, 0 first (spec 7: 0/100 left) */
	int64_t size[MATRIX_MAX]; /* bytes, smallest first */
	const struct combo *cell[MATRIX_MAX][MATRIX_MAX]; /* [size][mix]; NULL not measured */
	const char *na[MATRIX_MAX][MATRIX_MAX]; /* reason; NULL */
};

/* From what was measured and from the cells the drive cannot do. */
void matrix_init(struct matrix *m, const struct dataset *d, const struct test *t,
		 const struct section *s);

/* "n/a (LBA 4096)" or "-" where there is no combination. */
void matrix_put_missing(struct grid_sheet *s, struct area at, const struct matrix *m, unsigned size,
			unsigned mix);

enum matrix_value { MATRIX_IOPS, MATRIX_ART_MS, MATRIX_MRT_MS };
double matrix_value(const struct matrix *m, unsigned size, unsigned mix, enum matrix_value v);

/* A 3-D picture at (row, 0), 30 rows high. */
void matrix_picture(struct page *p, const struct matrix *m, enum matrix_value v, const char *title,
		    const char *alt);

#endif
