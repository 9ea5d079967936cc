/* SPDX-License-Identifier: MIT */
/* Inside of the HTML writer: a sheet's cells, charts and pictures are boxes on a plane, laid out anew for any width. */
#ifndef REPORTS_GRID_HTML_H
#define REPORTS_GRID_HTML_H

#include "reports/grid.h"
#include "reports/svg.h"

enum box_kind { BOX_CELL, BOX_CHART, BOX_PICTURE };

struct box {
	double x0, y0, x1, y1; /* pixels of the sheet */
	enum box_kind kind;
	const void *what; /* struct cell, chart or picture */
};
static inline const struct cell *box_cell(const struct box *b)
{
	return b->what;
}
static inline enum look box_look(const struct box *b)
{
	return STYLE_LOOK(box_cell(b)->style);
}

struct html {
	const struct grid *grid;
	struct grid_index *index;
	struct buf *out;
	const struct grid_sheet *sheet; /* at work */
	unsigned sheet_no;
	const char *page_name; /* of the page at work: names its charts */
	char heading; /* level of the headings within a page: '3', '4' below a title of its own */
	double width; /* pixels of the whole page */
	struct arena arena;
};

/* Boxes of cells, charts and pictures, whatever stands beside whatever. */
void html_region(struct html *h, struct box *b, size_t n);
/* Boxes that are all cells: headings, notes, tables. */
void html_cells(struct html *h, struct box *b, size_t n);
void html_figure(struct html *h, const struct box *b);

/* Orders boxes from above, or from the left; the groups that no box joins follow one another. */
enum cut_way { CUT_DOWN, CUT_ACROSS };
void boxes_sort(struct box *b, size_t n, enum cut_way way);
/* Boxes from @from on that hang together; 2 px of overlap do not join. */
size_t boxes_group(const struct box *b, size_t n, size_t from, enum cut_way way);
double boxes_width(const struct box *b, size_t n);

/* Text of a cell as shown: numbers by their format. Valid until @tmp goes. */
const char *html_shown(const struct cell *c, char tmp[80]);
/* Colour of a cell in a scale of its sheet; false: none. */
bool html_heat(const struct grid_sheet *s, const struct cell *c, uint32_t *ret_rgb);

/* Looks as classes of CSS ("good", "key-2"), dark enough or light enough to be read. */
const char *html_class(enum look look, char tmp[40]);
void html_style(struct buf *out, const struct grid *g);
/* Ratio of luminances as WCAG 2 has it, and the ink moved away from the ground until it reaches 4.5. */
double html_contrast(uint32_t ink, uint32_t ground);
uint32_t html_ink(uint32_t ink, uint32_t ground);

#endif
