/* SPDX-License-Identifier: MIT */
/*
 * Sheets as data: cells with looks and number formats, formulas together with their values, merged areas, charts and
 * pictures. Sheets are built once and written by grid_xlsx (workbook) and grid_text (plain text), so that both hold the
 * same numbers. A mistake in building (areas that overlap, a bad name) is kept as the grid's first error.
 */
#ifndef REPORTS_GRID_H
#define REPORTS_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/err.h"

/* What a cell looks like. The table of fonts and colours is in grid_style.c. */
enum look {
	LOOK_PLAIN,
	LOOK_CELL,
	LOOK_CENTER,
	LOOK_WRAP,
	LOOK_MONO,
	LOOK_NOTE,
	LOOK_TITLE,
	LOOK_SUBTITLE,
	LOOK_SECTION,
	LOOK_HEAD,
	LOOK_HEAD_WINDOW,
	LOOK_ROW_HEAD,
	LOOK_KEY,
	LOOK_VALUE,
	LOOK_WINDOW,
	LOOK_FORMULA,
	LOOK_STRONG,
	LOOK_LINK,
	LOOK_GOOD,
	LOOK_BAD,
	LOOK_WARN,
	LOOK_NA,
	LOOK_UNSTEADY, /* a number shown for information only */
	LOOK_BIG_GOOD,
	LOOK_BIG_BAD,
	LOOK_BIG_WARN,
	LOOK_SIMULATED,
	LOOK_BANNER_BAD,
	LOOK_COUNTS,
	LOOK_PAGE_BAR,
	LOOK_TEST_BAR,
	LOOK_ORG,
	LOOK_SUBJECT,
	LOOK_HEAD_PLATFORM, /* the four coloured blocks of the PTS header: heads, then keys */
	LOOK_HEAD_DEVICE,
	LOOK_HEAD_SETUP,
	LOOK_HEAD_TEST,
	LOOK_KEY_PLATFORM,
	LOOK_KEY_DEVICE,
	LOOK_KEY_SETUP,
	LOOK_KEY_TEST,
	LOOK_SIGN,
	LOOK_INPUT, /* a reader may change it: what hangs on it follows */
	LOOK_DIFFERS, /* a value that is not the same in all runs */
	LOOK_MAX
};

/* How a number is printed: decimals, grouping, percent. */
enum numfmt {
	NUM_GENERAL,
	NUM_INT,
	NUM_GROUP,
	NUM_GROUP1,
	NUM_GROUP2,
	NUM_1,
	NUM_2,
	NUM_3,
	NUM_4,
	NUM_6,
	NUM_PCT1,
	NUM_PCT2,
	NUM_DELTA, /* "+5.7%", "-8.4%" */
	NUM_EXP,
	NUM_PAD, /* as wide as five digits: panels above one another keep one left edge */
	NUM_MAX
};

struct look_def {
	const char *name; /* stable: used by tests to find cells */
	double size;
	uint32_t color, bg; /* bg 0xffffffff: none */
	char align; /* 'l' 'c' 'r', 0 by content */
	bool bold, italic, border, wrap, shrink, mono, underline, thick, indent;
};

const struct look_def *look_def(enum look look);
/* Format string of a spreadsheet. */
const char *numfmt_code(enum numfmt fmt);
/* The number as plain text, rounded as the spreadsheet shows it, without grouping; "n/a" for NaN and infinities. */
const char *numfmt_text(char *out, size_t n, enum numfmt fmt, double v);

#define STYLE(look, fmt) ((unsigned)(look) << 8 | (unsigned)(fmt))
#define STYLE_LOOK(s) ((enum look)((s) >> 8))
#define STYLE_FMT(s) ((enum numfmt)((s)&255))

struct area {
	uint32_t row, col, row2, col2;
};
static inline struct area area_at(uint32_t row, uint32_t col)
{
	return (struct area){ row, col, row, col };
}
#define AT(r, c) area_at((uint32_t)(r), (uint32_t)(c))
#define AREA(r, c, r2, c2) \
	((struct area){ (uint32_t)(r), (uint32_t)(c), (uint32_t)(r2), (uint32_t)(c2) })

enum cell_kind { CELL_TEXT, CELL_NUMBER, CELL_FORMULA, CELL_FORMULA_TEXT, CELL_LINK };

struct cell {
	struct area at;
	enum cell_kind kind;
	unsigned style;
	double value;
	const char *text; /* text, value of a text formula, or the shown text of a link */
	const char *formula; /* "=..." ; target sheet of a link */
};

enum scale_kind {
	SCALE_GREEN_RED, /* high is green */
	SCALE_BLUE,
	SCALE_ORANGE,
	SCALE_LOW_GREEN, /* times: high is red */
	SCALE_VERDICT, /* cells that say PASS green, FAIL red, also when they are formulas */
	SCALE_NONE,
};
struct color_scale {
	struct area at;
	enum scale_kind kind;
};

enum dash { DASH_SOLID, DASH_DASH, DASH_LONG, DASH_DOT };
enum chart_kind {
	CHART_LINE,
	CHART_SCATTER,
	CHART_COLUMN,
	CHART_STACK, /* columns on top of one another */
	CHART_AREA, /* areas on top of one another; needs two points */
	CHART_BAR, /* x is the axis of the values, the first category is the lowest bar */
};
enum legend { LEGEND_NONE, LEGEND_RIGHT, LEGEND_BOTTOM, LEGEND_TOP };

/* Cells that a chart draws: a column or a row of number cells (never formulas: their cache would be 0). */
struct range {
	const char *sheet;
	struct area at;
};

struct series {
	const char *name;
	struct range x, y; /* x.sheet NULL: none */
	uint32_t color;
	double width; /* points; 0 no line */
	enum dash dash;
	bool markers, labels;
	bool named; /* labelled with its name, above its points */
	uint64_t hatched; /* bit i: column i is drawn hatched red */
	const uint32_t *point_color; /* n_points fills of a column series, or NULL */
	unsigned n_points;
	enum numfmt label_fmt;
};

struct axis {
	const char *title;
	bool log;
	double min, max, unit; /* NAN: automatic */
	enum numfmt fmt;
	bool grid;
	bool bare; /* categories without tick marks */
	bool on_tick; /* categories begin and end at the edges, as those of an area do */
};

struct chart {
	enum chart_kind kind;
	const char *title; /* NULL none */
	struct axis x, y;
	enum legend legend;
	uint32_t row, col, width_px, height_px;
	uint32_t dx_px, dy_px;
	int gap, overlap; /* of columns */
	struct series *series;
	unsigned n_series;
};

struct plot3d;

struct picture {
	uint32_t row, col, dx_px, dy_px;
	const struct plot3d *plot; /* drawn by who writes it; or else NULL, and */
	const unsigned char *png;
	size_t len;
	const char *alt;
	const char *svg; /* the same as elements of an <svg> of these units; NULL: none */
	unsigned svg_width, svg_height;
};

enum sheet_role { ROLE_PAGE, ROLE_DATA };

struct row_height {
	uint32_t row;
	double px;
};

struct col_width {
	uint32_t col, col2;
	double px;
};

struct grid_sheet {
	struct grid *grid;
	const char *name;
	enum sheet_role role;
	const char *print_title; /* of the footer */
	uint32_t color; /* of the tab, 0 none */
	struct cell *cell;
	size_t n_cells, cap_cells;
	struct chart *chart;
	size_t n_charts, cap_charts;
	struct picture *picture;
	size_t n_pictures, cap_pictures;
	struct color_scale *scale;
	size_t n_scales, cap_scales;
	struct row_height *height;
	size_t n_heights, cap_heights;
	struct col_width *width;
	size_t n_widths, cap_widths;
	uint32_t *page_break;
	size_t n_breaks, cap_breaks;
	uint64_t *taken; /* per row a bit for each of the first 64 columns */
	size_t n_taken;
	uint32_t repeat_rows; /* the first rows, on each printed page */
	uint32_t print_rows, print_cols; /* what is printed; 0 everything */
	bool one_page; /* printed smaller, so that it is one */
	uint32_t freeze_rows, freeze_cols;
	uint32_t filter_cols; /* autofilter over that many columns of the data */
	uint32_t n_rows; /* rows used */
	struct grid_sheet *next;
};

struct grid_property {
	const char *name, *value;
};

struct grid {
	struct arena arena;
	struct grid_sheet *first;
	unsigned n_sheets;
	const char *prefix; /* before each sheet name, when a workbook holds several runs; "" */
	uint32_t max_rows; /* of a sheet in the file: 1,048,576; smaller in tests */
	const char *title, *subject, *author, *footer_left, *footer_right;
	const char *command; /* that writes it: "pts report RUN" */
	time_t created;
	struct grid_property property[8];
	unsigned n_properties;
	struct cell sink; /* takes what a refused area would have held */
	struct err err; /* first mistake of a builder */
	int rc;
};

void grid_init(struct grid *g);
void grid_release(struct grid *g);

/* Adds a sheet. A name that exists already gets a number; bad characters become '_', 31 characters at most. Pages come
 * before data sheets. */
struct grid_sheet *grid_sheet(struct grid *g, const char *name, enum sheet_role role);
/* The sheet of that (unprefixed) name, or NULL. */
struct grid_sheet *grid_find(const struct grid *g, const char *name);
/* The name a sheet of this (unprefixed) name has or will have. */
const char *grid_sheet_name(struct grid *g, const char *name);

/* Cells. Text is copied and cleaned: bad UTF-8 and control characters become '?'. An area is merged. */
void put_text(struct grid_sheet *s, struct area at, enum look look, const char *text);
void put_fmt(struct grid_sheet *s, struct area at, enum look look, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* NaN and infinities are written as a grey "n/a". */
void put_num(struct grid_sheet *s, struct area at, unsigned style, double v);
void put_int(struct grid_sheet *s, struct area at, enum look look, int64_t v);
/* A live formula ("=...") with the value it has. */
void put_formula(struct grid_sheet *s, struct area at, unsigned style, double v, const char *fmt,
		 ...) __attribute__((format(printf, 5, 6)));
void put_formula_text(struct grid_sheet *s, struct area at, enum look look, const char *value,
		      const char *formula);
/* A link to another sheet of this workbook, by its unprefixed name. */
void put_link(struct grid_sheet *s, struct area at, const char *text, const char *sheet);

void grid_row_height(struct grid_sheet *s, uint32_t row, double px);
void grid_col_width(struct grid_sheet *s, uint32_t col, uint32_t col2, double px);
void grid_page_break(struct grid_sheet *s, uint32_t before_row);
void grid_color_scale(struct grid_sheet *s, struct area at, enum scale_kind kind);
/* The chart is copied, with its texts and the series that have values; without any it is left out. */
void grid_chart(struct grid_sheet *s, const struct chart *c);
/* Copied, with the PNG; a plot, with its texts, lives in the grid's arena already. */
void grid_picture(struct grid_sheet *s, const struct picture *p);
void grid_property(struct grid *g, const char *name, const char *value);

/* "$C$5", "$C$5:$G$5" with @absolute, else "C5". Returns text of the arena. */
const char *grid_ref(struct grid *g, struct area at, bool absolute);
/* "'D_rounds'!K7": a cell of a data sheet, also when it goes on in a further sheet of the file. */
const char *grid_data_ref(struct grid *g, const char *sheet, uint32_t row, uint32_t col);
/* The part of a data sheet with this row: 0 for the first sheet; @ret_row is the row there (the head row is repeated). */
unsigned grid_part(const struct grid *g, uint32_t row, uint32_t *ret_row);

/* Valid UTF-8 without control characters, from whatever a device says; blanks around it are cut. */
const char *grid_clean(struct arena *a, const char *s);

/* Writers. @path is written from scratch; text is appended to @out. */
int grid_write_xlsx(const struct grid *g, const char *path, struct err *err) must_check;
void grid_write_text(const struct grid *g, struct buf *out);
/* One document that asks for nothing from elsewhere; @json is embedded as data, NULL none. */
void grid_write_html(const struct grid *g, const char *json, struct buf *out);
/* Rows of a sheet as RFC 4180, each cell in the field of its (first) column; numbers as they are, not as they look. */
void grid_write_csv(const struct grid_sheet *s, struct buf *out);

#endif
