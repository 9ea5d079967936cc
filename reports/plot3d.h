/* SPDX-License-Identifier: MIT */
/* The PTS "3-D columns" page as a picture: spreadsheet charts of the writer have no third axis. */
#ifndef REPORTS_PLOT3D_H
#define REPORTS_PLOT3D_H

#include <stdint.h>

#include "pts/base/buf.h"

#define PLOT3D_MAX 16

struct plot3d {
	unsigned n_x, n_z; /* columns from left to right; rows from the front to the back */
	const char *x_label[PLOT3D_MAX], *z_label[PLOT3D_MAX];
	uint32_t z_color[PLOT3D_MAX];
	double value[PLOT3D_MAX][PLOT3D_MAX]; /* [x][z]; NaN: no column */
	const char *x_title, *y_title, *z_title;
	unsigned width, height; /* pixels of the picture */
};

/* A PNG of 192 dpi. */
void plot3d_png(const struct plot3d *p, struct buf *out);
/* The same by the same drawing calls, as the elements inside of an <svg>. */
void plot3d_svg(const struct plot3d *p, struct buf *out);

/* The round step of an axis to @max: 1, 2, 2.5 or 5 times a power of ten; 3 to 6 of them reach @max. */
double nice_step(double max);

#endif
