/* SPDX-License-Identifier: MIT */
/* Charts of a grid as inline SVG, and the pieces of markup that every page of the HTML report is made of. */
#ifndef REPORTS_SVG_H
#define REPORTS_SVG_H

#include "pts/base/buf.h"
#include "reports/grid.h"

/* Escaped, good for text and for a double-quoted attribute; what is no clean UTF-8 becomes '?'. */
void html_text(struct buf *out, const char *s);
/* A number as the workbook shows it: rounded once, by its format, with groups of thousands. Returns @out (n >= 80). */
const char *html_num(char *out, size_t n, enum numfmt fmt, double v);
/* A length or place: at most one decimal. */
void svg_len(struct buf *out, double v);
/* About how wide the text is at this font size: for margins and legends. */
double svg_text_width(const char *s, double font_px, bool bold);
void svg_color(struct buf *out, uint32_t rgb);

/* Cells by their place, so that a chart finds its numbers. */
struct grid_index;
struct grid_index *grid_index_new(const struct grid *g);
void grid_index_free(struct grid_index *ix);
/* NULL: an empty cell, or no such sheet. */
const struct cell *grid_index_cell(const struct grid_index *ix, const char *sheet, uint32_t row,
				   uint32_t col);

/* What a chart draws, looked up. */
struct plot_line {
	const struct series *s;
	double *x, *y; /* [n]; NAN where a cell is empty or no number */
	unsigned n;
};
struct plot {
	const struct chart *c;
	struct plot_line *line;
	unsigned n_lines;
	const char **category; /* [n_categories] of charts whose x is text; "" unnamed */
	unsigned n_categories;
	struct arena arena;
};
void plot_init(struct plot *p, const struct chart *c, const struct grid_index *ix);
void plot_release(struct plot *p);
/* Whether its places along x are names, not numbers. */
bool plot_named(const struct chart *c);
/* As the format of the axis says; without one, as short as it can be. */
const char *plot_num(char *out, size_t n, enum numfmt fmt, double v);

/* An axis laid out over pixels. */
#define TICKS_MAX 24
struct scale {
	double min, max, from, to; /* values; pixels of both */
	bool log;
	double tick[TICKS_MAX];
	unsigned n_ticks;
};
/* Ends and ticks, as the axis asks or round ones that hold [low, high]; @zero: bars stand on 0. */
void scale_init(struct scale *s, const struct axis *a, double low, double high, bool zero);
double scale_at(const struct scale *s, double v);
/* Leaves out every second tick until no more than @n are left. */
void scale_thin(struct scale *s, unsigned n);

/* Space around the plot, and the plot, in pixels. */
struct frame {
	double w, h, x0, y0, x1, y1;
};

struct drawing {
	const struct plot *p;
	struct buf *out;
	struct frame f;
	struct scale x, y;
	double label; /* widest label of the y axis */
	bool tips; /* few enough points for a hover text each */
};

/* The marks of all series; the axes are there already. */
void svg_marks(struct drawing *d);
/* The sign of a series in a legend or at a point. */
void svg_marker(struct buf *out, const struct series *s, unsigned shape, double x, double y);
void svg_stroke(struct buf *out, const struct series *s);

/* A chart is shown at no less than this share of its size: narrow windows scroll it within its box. */
#define SVG_LEAST 0.62

/* A whole <svg> element with <title> and <desc>. */
void svg_plot(const struct plot *p, const char *name, struct buf *out);

#endif
