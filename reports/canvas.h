/* SPDX-License-Identifier: MIT */
/* A small picture: filled polygons, lines and text with soft edges, written as PNG. */
#ifndef REPORTS_CANVAS_H
#define REPORTS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/buf.h"

struct canvas {
	unsigned width, height;
	uint8_t *rgb; /* rows of width * 3 bytes */
	float *cover; /* of one row, while a polygon is drawn; zero between rows */
	unsigned first, end; /* pixels of the row that were touched */
	struct canvas_pen *pen; /* of a canvas that writes SVG; NULL: pixels */
};

struct point2 {
	double x, y;
};

/* White. Aborts when memory is gone. */
void canvas_init(struct canvas *c, unsigned width, unsigned height);
void canvas_release(struct canvas *c);

/* A canvas whose calls append SVG elements to @out instead; ended by canvas_end_svg(), not released. */
void canvas_init_svg(struct canvas *c, unsigned width, unsigned height, struct buf *out);
void canvas_end_svg(struct canvas *c);

void canvas_polygon(struct canvas *c, const struct point2 *p, unsigned n, uint32_t rgb);
/* With round ends. */
void canvas_line(struct canvas *c, struct point2 a, struct point2 b, double width, uint32_t rgb);

struct text_style {
	double size; /* height of a capital letter, pixels */
	bool bold;
	char anchor; /* 'l' 'c' 'r': what of the text stands at the point */
	bool upward; /* turned by 90 degrees, read from below */
	uint32_t rgb;
};

/* @at is the middle of the capital letters' height. Characters without a shape are drawn as a blank. */
void canvas_text(struct canvas *c, struct point2 at, const struct text_style *style, const char *s);
double canvas_text_width(const struct text_style *style, const char *s);

/* @dpi goes into the file, so that a sheet shows 192 dpi at half its pixels. */
void canvas_png(const struct canvas *c, unsigned dpi, struct buf *out);

/* Shape of a character as strokes: "m x y" moves, "l x y" draws, "a cx cy rx ry from to" and "c ..." draw arcs
 * (degrees, 90 is down; c is joined to the last point). Capitals reach from 0 to 28, small letters from 9. */
const char *glyph_path(char ch, double *ret_width);
#define GLYPH_CAP 28.0

/* What the calls above do on a canvas that writes SVG. */
void canvas_polygon_svg(struct canvas *c, const struct point2 *p, unsigned n, uint32_t rgb);
void canvas_line_svg(struct canvas *c, struct point2 a, struct point2 b, double width,
		     uint32_t rgb);
void canvas_text_svg(struct canvas *c, struct point2 at, const struct text_style *style,
		     const char *s);

#endif
