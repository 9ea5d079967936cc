/* SPDX-License-Identifier: MIT */
/*
 * The only caller of libxlsxwriter. The library writes NaN, bad UTF-8 and overlapping merges without a word; the grid has
 * kept those out before, and every return code is looked at here.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <xlsxwriter.h>

#include "reports/grid.h"
#include "reports/plot3d.h"
#include "reports/xlsx_check.h"

#define COMMENT "The database is the evidence; this workbook is a view of it."

struct book {
	const struct grid *grid;
	lxw_workbook *wb;
	lxw_format *format[LOOK_MAX][NUM_MAX];
	struct arena arena; /* copies of text: the library takes char * */
	struct err *err;
	int rc; /* first failure */
};

struct part { /* one sheet of the file: a grid sheet, or a piece of a long one */
	struct book *book;
	const struct grid_sheet *sheet;
	lxw_worksheet *ws;
	unsigned index;
};

static void check(struct book *b, const char *sheet, lxw_error e)
{
	if (e == LXW_NO_ERROR || b->rc)
		return;
	const char *why = e != LXW_ERROR_CREATING_TMPFILE
				  ? lxw_strerror(e)
				  : "cannot write a temporary file beside it (is the disk full?)";
	b->rc = err_set(b->err, -EIO, "workbook, sheet %s: %s", sheet, why);
}

static char *text_of(struct book *b, const char *s)
{
	return s ? arena_strdup(&b->arena, s) : NULL;
}

static lxw_color_t color_of(uint32_t rgb)
{
	return rgb ? rgb : LXW_COLOR_BLACK;
}

static void format_align(lxw_format *f, const struct look_def *d)
{
	if (d->align == 'c')
		format_set_align(f, LXW_ALIGN_CENTER);
	else if (d->align == 'l')
		format_set_align(f, LXW_ALIGN_LEFT);
	else if (d->align == 'r')
		format_set_align(f, LXW_ALIGN_RIGHT);
	format_set_align(f, LXW_ALIGN_VERTICAL_CENTER);
	if (d->wrap)
		format_set_text_wrap(f);
	if (d->indent)
		format_set_indent(f, 1);
	if (d->shrink)
		format_set_shrink(f);
}

static lxw_format *format_of(struct book *b, unsigned style)
{
	lxw_format **slot = &b->format[STYLE_LOOK(style)][STYLE_FMT(style)];
	const struct look_def *d = look_def(STYLE_LOOK(style));

	if (*slot)
		return *slot;
	lxw_format *f = workbook_add_format(b->wb);
	format_set_font_name(f, d->mono ? "Consolas" : "Calibri");
	format_set_font_size(f, d->size);
	format_set_font_color(f, color_of(d->color));
	if (d->bold)
		format_set_bold(f);
	if (d->italic)
		format_set_italic(f);
	if (d->underline)
		format_set_underline(f, LXW_UNDERLINE_SINGLE);
	if (d->bg != 0xffffffff)
		format_set_bg_color(f, color_of(d->bg));
	if (d->border) {
		format_set_border(f, LXW_BORDER_THIN);
		format_set_border_color(f, 0xA6A6A6);
	}
	if (d->thick)
		format_set_top(f, LXW_BORDER_MEDIUM);
	format_align(f, d);
	if (STYLE_FMT(style) != NUM_GENERAL)
		format_set_num_format(f, numfmt_code(STYLE_FMT(style)));
	return *slot = f;
}

static lxw_error write_value(struct part *p, const struct cell *c, lxw_row_t row)
{
	lxw_format *f = format_of(p->book, c->style);
	lxw_col_t col = (lxw_col_t)c->at.col;
	char url[80];

	switch (c->kind) {
	case CELL_NUMBER:
		return worksheet_write_number(p->ws, row, col, c->value, f);
	case CELL_FORMULA:
		return worksheet_write_formula_num(p->ws, row, col, c->formula, f, c->value);
	case CELL_FORMULA_TEXT:
		return worksheet_write_formula_str(p->ws, row, col, c->formula, f, c->text);
	case CELL_LINK:
		snprintf(url, sizeof url, "internal:'%s'!A1", c->formula);
		return worksheet_write_url_opt(p->ws, row, col, url, f, c->text, NULL);
	default:
		return *c->text ? worksheet_write_string(p->ws, row, col, c->text, f)
				: worksheet_write_blank(p->ws, row, col, f);
	}
}

static void write_cell(struct part *p, const struct cell *c, lxw_row_t row)
{
	if (c->at.row != c->at.row2 || c->at.col != c->at.col2)
		check(p->book, p->sheet->name,
		      worksheet_merge_range(p->ws, row, (lxw_col_t)c->at.col, c->at.row2,
					    (lxw_col_t)c->at.col2, "",
					    format_of(p->book, c->style)));
	check(p->book, p->sheet->name, write_value(p, c, row));
}

/* Beside the heads of a table that is longer than a sheet. */
static void write_part_note(struct part *p, uint32_t col)
{
	const struct grid_sheet *s = p->sheet;
	uint32_t row;
	unsigned last = grid_part(p->book->grid, s->n_rows - 1, &row);
	char text[120];

	if (p->index < last)
		snprintf(text, sizeof text, "sheet %u of %u: its rows go on in '%.24s (%u)'",
			 p->index + 1, last + 1, s->name, p->index + 2);
	else
		snprintf(text, sizeof text, "sheet %u of %u: the last rows of '%s'", last + 1,
			 last + 1, s->name);
	if (last)
		check(p->book, s->name,
		      worksheet_write_string(p->ws, 0, (lxw_col_t)col, text,
					     format_of(p->book, STYLE(LOOK_STRONG, NUM_GENERAL))));
}

static void write_cells(struct part *p)
{
	uint32_t heads = 0, row;
	bool noted = false;

	for (size_t i = 0; i < p->sheet->n_cells; i++) {
		const struct cell *c = &p->sheet->cell[i];
		unsigned index = grid_part(p->book->grid, c->at.row, &row);
		if (c->at.row == 0) {
			write_cell(p, c, 0); /* again on each further part */
			heads = c->at.col2 + 1 > heads ? c->at.col2 + 1 : heads;
			continue;
		}
		if (!noted) /* before the next row: one that goes by rows cannot go back */
			write_part_note(p, heads);
		noted = true;
		if (index == p->index)
			write_cell(p, c, row);
	}
}

static lxw_chart_line line_of(const struct series *s)
{
	static const uint8_t dashes[] = { LXW_CHART_LINE_DASH_SOLID, LXW_CHART_LINE_DASH_DASH,
					  LXW_CHART_LINE_DASH_LONG_DASH,
					  LXW_CHART_LINE_DASH_ROUND_DOT };
	lxw_chart_line l = { .color = color_of(s->color),
			     .none = s->width <= 0,
			     .width = (float)s->width,
			     .dash_type = dashes[s->dash] };
	return l;
}

static void series_points(struct part *p, lxw_chart_series *ls, const struct series *s)
{
	lxw_chart_pattern hatch = { .fg_color = 0xC00000,
				    .bg_color = 0xFFFFFF,
				    .type = LXW_CHART_PATTERN_WIDE_UPWARD_DIAGONAL };
	lxw_chart_line edge = { .color = 0xC00000, .width = 1 };
	lxw_chart_fill fill[64];
	lxw_chart_point point[64];
	lxw_chart_point *list[65];
	unsigned n = s->n_points > 64 ? 64 : s->n_points;

	for (unsigned i = 0; i < n; i++) {
		fill[i] = (lxw_chart_fill){ .color = color_of(s->point_color ? s->point_color[i]
									     : s->color) };
		point[i] = (lxw_chart_point){ .fill = &fill[i] };
		if (s->hatched >> i & 1)
			point[i] = (lxw_chart_point){ .pattern = &hatch, .line = &edge };
		list[i] = &point[i];
	}
	list[n] = NULL;
	if (n)
		check(p->book, p->sheet->name, chart_series_set_points(ls, list));
}

static void set_range(lxw_chart_series *ls, const struct range *r, bool values)
{
	lxw_col_t c = (lxw_col_t)r->at.col, c2 = (lxw_col_t)r->at.col2;

	if (!r->sheet)
		return;
	if (values)
		chart_series_set_values(ls, r->sheet, r->at.row, c, r->at.row2, c2);
	else
		chart_series_set_categories(ls, r->sheet, r->at.row, c, r->at.row2, c2);
}

static void series_labels(lxw_chart_series *ls, const struct series *s)
{
	lxw_chart_font font = { .size = 9, .color = 0x404040 };

	chart_series_set_labels(ls);
	if (s->named) { /* its name as text: a switch for names leaves the values on in LibreOffice */
		char name[80];
		lxw_chart_data_label one = { .value = name };
		lxw_chart_data_label *all[] = { &one, NULL };
		snprintf(name, sizeof name, "%s", s->name);
		chart_series_set_labels_custom(ls, all);
		chart_series_set_labels_position(ls, LXW_CHART_LABEL_POSITION_ABOVE);
		return;
	}
	chart_series_set_labels_position(ls, LXW_CHART_LABEL_POSITION_OUTSIDE_END);
	chart_series_set_labels_num_format(ls, numfmt_code(s->label_fmt));
	chart_series_set_labels_font(ls, &font);
}

static bool is_filled(enum chart_kind kind)
{
	return kind != CHART_LINE && kind != CHART_SCATTER;
}

static void add_series(struct part *p, lxw_chart *lc, const struct chart *c, const struct series *s)
{
	lxw_chart_series *ls = chart_add_series(lc, NULL, NULL);
	lxw_chart_line line = line_of(s), thin = { .color = color_of(s->color), .width = 1 };
	lxw_chart_fill fill = { .color = color_of(s->color) };

	if (!ls) {
		check(p->book, p->sheet->name, LXW_ERROR_MEMORY_MALLOC_FAILED);
		return;
	}
	set_range(ls, &s->x, false);
	set_range(ls, &s->y, true);
	chart_series_set_name(ls, s->name);
	if (s->labels || s->named)
		series_labels(ls, s);
	if (is_filled(c->kind)) {
		chart_series_set_fill(ls, &fill);
		series_points(p, ls, s);
		return;
	}
	chart_series_set_line(ls, &line);
	chart_series_set_marker_type(ls, !s->markers ? LXW_CHART_MARKER_NONE
					 : s->named  ? LXW_CHART_MARKER_DIAMOND
						     : LXW_CHART_MARKER_CIRCLE);
	if (s->markers) { /* a named point stands out under the lines that pass through it */
		chart_series_set_marker_size(ls, s->named ? 11 : 6);
		chart_series_set_marker_fill(ls, &fill);
		chart_series_set_marker_line(ls, &thin);
	}
}

static void set_axis(lxw_chart_axis *axis, const struct axis *a)
{
	lxw_chart_font title = { .size = 10, .bold = 1, .color = 0x404040 };
	lxw_chart_font label = { .size = 9, .color = 0x404040 };
	lxw_chart_line grid = { .color = 0xD9D9D9, .width = 0.75 };
	lxw_chart_line edge = { .color = 0x808080, .width = 0.75 };

	if (a->title) {
		chart_axis_set_name(axis, a->title);
		chart_axis_set_name_font(axis, &title);
	}
	chart_axis_set_num_font(axis, &label);
	chart_axis_set_line(axis, &edge);
	if (a->fmt != NUM_GENERAL)
		chart_axis_set_num_format(axis, numfmt_code(a->fmt));
	if (a->log)
		chart_axis_set_log_base(axis, 10);
	if (isfinite(a->min))
		chart_axis_set_min(axis, a->min);
	if (isfinite(a->max))
		chart_axis_set_max(axis, a->max);
	if (isfinite(a->unit))
		chart_axis_set_major_unit(axis, a->unit);
	if (isfinite(a->min)) /* the other axis stays at the foot of a log scale */
		chart_axis_set_label_position(axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
	if (a->bare)
		chart_axis_set_major_tick_mark(axis, LXW_CHART_AXIS_TICK_MARK_NONE);
	if (a->on_tick)
		chart_axis_set_position(axis, LXW_CHART_AXIS_POSITION_ON_TICK);
	chart_axis_major_gridlines_set_visible(axis, a->grid);
	if (a->grid)
		chart_axis_major_gridlines_set_line(axis, &grid);
}

static void set_legend(lxw_chart *lc, enum legend legend)
{
	static const uint8_t where[] = { LXW_CHART_LEGEND_NONE, LXW_CHART_LEGEND_RIGHT,
					 LXW_CHART_LEGEND_BOTTOM, LXW_CHART_LEGEND_TOP };
	lxw_chart_font font = { .size = 9, .color = 0x404040 };

	chart_legend_set_position(lc, where[legend]);
	if (legend != LEGEND_NONE)
		chart_legend_set_font(lc, &font);
}

static void write_chart(struct part *p, const struct chart *c)
{
	static const uint8_t kinds[] = {
		LXW_CHART_LINE,		LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS,
		LXW_CHART_COLUMN,	LXW_CHART_COLUMN_STACKED,
		LXW_CHART_AREA_STACKED, LXW_CHART_BAR
	};
	lxw_chart *lc = workbook_add_chart(p->book->wb, kinds[c->kind]);
	lxw_chart_font title = { .size = 12, .bold = 1, .color = 0x1F3864 };
	lxw_chart_line border = { .color = 0xBFBFBF, .width = 0.75 };
	/* The library knows the size of an empty chart (480 x 288) and scales it. */
	lxw_chart_options o = { .x_offset = (int32_t)c->dx_px,
				.y_offset = (int32_t)c->dy_px,
				.x_scale = c->width_px / 480.0,
				.y_scale = c->height_px / 288.0,
				.object_position = LXW_OBJECT_MOVE_DONT_SIZE,
				.description = text_of(p->book, c->title) };

	if (!lc) {
		check(p->book, p->sheet->name, LXW_ERROR_MEMORY_MALLOC_FAILED);
		return;
	}
	for (unsigned i = 0; i < c->n_series; i++)
		add_series(p, lc, c, &c->series[i]);
	if (c->title) {
		chart_title_set_name(lc, c->title);
		chart_title_set_name_font(lc, &title);
	} else {
		chart_title_off(lc);
	}
	if (c->kind == CHART_AREA) /* the library forgets it, and then refuses a range */
		lc->y_axis->is_value = LXW_TRUE;
	set_axis(lc->x_axis, &c->x);
	set_axis(lc->y_axis, &c->y);
	if (c->y.log && c->y.min < 1) /* the x axis crosses at the foot, not at 1 */
		chart_axis_set_crossing(lc->y_axis, c->y.min);
	set_legend(lc, c->legend);
	chart_chartarea_set_line(lc, &border);
	chart_show_blanks_as(lc, LXW_CHART_BLANKS_AS_GAP);
	if (is_filled(c->kind) && c->kind != CHART_AREA) {
		chart_set_series_gap(lc, (uint16_t)c->gap);
		chart_set_series_overlap(lc, (int8_t)(c->kind == CHART_STACK ? 100 : c->overlap));
	}
	check(p->book, p->sheet->name,
	      worksheet_insert_chart_opt(p->ws, c->row, (lxw_col_t)c->col, lc, &o));
}

static void write_picture(struct part *p, const struct picture *pic)
{
	lxw_image_options o = { .x_offset = (int32_t)pic->dx_px,
				.y_offset = (int32_t)pic->dy_px,
				.x_scale = 1,
				.y_scale = 1,
				.object_position = LXW_OBJECT_MOVE_DONT_SIZE,
				.description = text_of(p->book, pic->alt) };
	struct buf png = BUF_INIT;

	if (pic->plot)
		plot3d_png(pic->plot, &png);
	else
		buf_add(&png, (const char *)pic->png, pic->len);
	check(p->book, p->sheet->name,
	      worksheet_insert_image_buffer_opt(p->ws, pic->row, (lxw_col_t)pic->col,
						(const unsigned char *)png.s, png.len, &o));
	buf_release(&png);
}

/* Words of a verdict in their colours: what a formula says now, not what it said when the file was written. */
static void write_verdicts(struct part *p, const struct color_scale *s)
{
	static struct {
		char word[8];
		enum look look;
	} words[] = { { "\"PASS\"", LOOK_GOOD }, { "\"FAIL\"", LOOK_BAD } };

	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
		lxw_conditional_format f = { .type = LXW_CONDITIONAL_TYPE_CELL,
					     .criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO,
					     .value_string = words[i].word,
					     .format = workbook_add_format(p->book->wb) };
		const struct look_def *d = look_def(words[i].look);
		format_set_font_color(f.format, color_of(d->color));
		format_set_bg_color(f.format, color_of(d->bg));
		format_set_bold(f.format);
		check(p->book, p->sheet->name,
		      worksheet_conditional_format_range(p->ws, s->at.row, (lxw_col_t)s->at.col,
							 s->at.row2, (lxw_col_t)s->at.col2, &f));
	}
}

static void write_scale(struct part *p, const struct color_scale *s)
{
	lxw_conditional_format f = { .type = LXW_CONDITIONAL_2_COLOR_SCALE,
				     .min_color = 0xFFFFFF,
				     .max_color = 0x9DC3E6 };

	if (s->kind == SCALE_ORANGE)
		f.max_color = 0xF4B183;
	if (s->kind == SCALE_NONE)
		return;
	if (s->kind == SCALE_VERDICT) {
		write_verdicts(p, s);
		return;
	}
	if (s->kind == SCALE_GREEN_RED || s->kind == SCALE_LOW_GREEN) {
		f.type = LXW_CONDITIONAL_3_COLOR_SCALE;
		f.min_color = 0xF8CBAD;
		f.mid_color = 0xFFF2CC;
		f.max_color = 0xA9D18E;
		f.mid_rule_type = LXW_CONDITIONAL_RULE_TYPE_PERCENTILE;
		f.mid_value = 50;
	}
	if (s->kind == SCALE_LOW_GREEN) {
		f.min_color = 0xA9D18E;
		f.max_color = 0xF8CBAD;
	}
	check(p->book, p->sheet->name,
	      worksheet_conditional_format_range(p->ws, s->at.row, (lxw_col_t)s->at.col, s->at.row2,
						 (lxw_col_t)s->at.col2, &f));
}

/* Text of a footer: "&" begins a code there. */
static const char *footer_text(char *out, size_t n, const char *s)
{
	size_t o = 0;

	for (; *s && o + 3 < n; s++) {
		if (*s == '&')
			out[o++] = '&';
		out[o++] = *s;
	}
	out[o] = 0;
	return out;
}

static void set_footer(struct part *p)
{
	char left[64], mid[64], right[64], footer[256];
	const struct grid *g = p->book->grid;

	snprintf(footer, sizeof footer, "&L&8%s&C&8%s  -  page &P of &N&R&8%s",
		 footer_text(left, sizeof left, g->footer_left),
		 footer_text(mid, sizeof mid, p->sheet->name),
		 footer_text(right, sizeof right, g->footer_right));
	check(p->book, p->sheet->name, worksheet_set_footer(p->ws, footer));
}

static void set_page(struct part *p)
{
	const struct grid_sheet *s = p->sheet;
	lxw_row_t breaks[1024];
	size_t n = s->n_breaks > 1022 ? 1022 : s->n_breaks;

	worksheet_set_landscape(p->ws);
	worksheet_set_paper(p->ws, 9); /* A4; 76 % fits Letter too */
	worksheet_set_margins(p->ws, 0.4, 0.4, 0.45, 0.6);
	worksheet_center_horizontally(p->ws);
	if (s->one_page)
		worksheet_fit_to_pages(p->ws, 1, 1);
	else if (s->role == ROLE_PAGE)
		worksheet_set_print_scale(p->ws, 76);
	else
		worksheet_fit_to_pages(p->ws, 1, 0);
	worksheet_gridlines(p->ws, s->role == ROLE_PAGE ? LXW_HIDE_ALL_GRIDLINES
							: LXW_SHOW_SCREEN_GRIDLINES);
	if (s->repeat_rows)
		check(p->book, s->name, worksheet_repeat_rows(p->ws, 0, s->repeat_rows - 1));
	if (s->print_cols) /* a chart that touches the next column would print an empty page */
		check(p->book, s->name,
		      worksheet_print_area(p->ws, 0, 0,
					   (s->print_rows ? s->print_rows : s->n_rows) - 1,
					   (lxw_col_t)(s->print_cols - 1)));
	for (size_t i = 0; i < n; i++)
		breaks[i] = s->page_break[i];
	breaks[n] = 0;
	if (n)
		check(p->book, s->name, worksheet_set_h_pagebreaks(p->ws, breaks));
	set_footer(p);
}

static void set_layout(struct part *p)
{
	const struct grid_sheet *s = p->sheet;

	if (s->role == ROLE_PAGE)
		worksheet_set_default_row(p->ws, 13.5, LXW_FALSE); /* 18 px */
	for (size_t i = 0; i < s->n_widths; i++)
		check(p->book, s->name,
		      worksheet_set_column_pixels(p->ws, (lxw_col_t)s->width[i].col,
						  (lxw_col_t)s->width[i].col2,
						  (uint32_t)s->width[i].px, NULL));
	for (size_t i = 0; i < s->n_heights; i++)
		check(p->book, s->name,
		      worksheet_set_row_pixels(p->ws, s->height[i].row, (uint32_t)s->height[i].px,
					       NULL));
	if (s->color)
		worksheet_set_tab_color(p->ws, color_of(s->color));
	if (s->freeze_rows || s->freeze_cols)
		worksheet_freeze_panes(p->ws, s->freeze_rows, (lxw_col_t)s->freeze_cols);
}

static void write_part(struct part *p)
{
	const struct grid_sheet *s = p->sheet;
	uint32_t last = s->n_rows ? s->n_rows - 1 : 0, row;
	unsigned parts = grid_part(p->book->grid, last, &row);

	set_layout(p);
	set_page(p);
	write_cells(p);
	if (p->ws->optimize_tmpfile &&
	    ferror(p->ws->optimize_tmpfile)) /* it does not look itself */
		check(p->book, s->name, LXW_ERROR_CREATING_TMPFILE);
	if (s->filter_cols)
		check(p->book, s->name,
		      worksheet_autofilter(p->ws, 0, 0,
					   p->index < parts ? p->book->grid->max_rows - 1 : row,
					   (lxw_col_t)(s->filter_cols - 1)));
	if (p->index)
		return;
	for (size_t i = 0; i < s->n_scales; i++)
		write_scale(p, &s->scale[i]);
	for (size_t i = 0; i < s->n_charts; i++)
		write_chart(p, &s->chart[i]);
	for (size_t i = 0; i < s->n_pictures; i++)
		write_picture(p, &s->picture[i]);
}

static bool is_drawn(const struct range *r, const struct grid_sheet *s)
{
	return r->sheet && !strncmp(r->sheet, s->name, strlen(s->name));
}

static bool has_chart(const struct grid *g, const struct grid_sheet *s)
{
	for (const struct grid_sheet *o = g->first; o; o = o->next)
		for (size_t i = 0; i < o->n_charts; i++)
			for (unsigned k = 0; k < o->chart[i].n_series; k++)
				if (is_drawn(&o->chart[i].series[k].x, s) ||
				    is_drawn(&o->chart[i].series[k].y, s))
					return true;
	return false;
}

/*
 * Long tables are not held in memory a second time: the library writes their rows one by one, if they come in order. A
 * sheet that charts draw it must hold: it copies the values into the charts.
 */
static bool goes_by_rows(const struct grid *g, const struct grid_sheet *s)
{
	if (s->role != ROLE_DATA || has_chart(g, s))
		return false;
	for (size_t i = 0; i < s->n_heights; i++)
		if (s->height[i].row)
			return false;
	for (size_t i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];
		if (c->kind > CELL_NUMBER || c->at.row2 != c->at.row || c->at.col2 != c->at.col ||
		    (i && c->at.row < c[-1].at.row))
			return false;
	}
	return true;
}

static void write_sheet(struct book *b, const struct grid_sheet *s)
{
	uint32_t row;
	unsigned parts = grid_part(b->grid, s->n_rows ? s->n_rows - 1 : 0, &row);
	char name[40];

	b->wb->options.constant_memory = goes_by_rows(b->grid, s);
	for (unsigned i = 0; i <= parts && !b->rc; i++) {
		snprintf(name, sizeof name, i ? "%.24s (%u)" : "%s", s->name, i + 1);
		struct part p = { .book = b, .sheet = s, .index = i };
		p.ws = workbook_add_worksheet(b->wb, name);
		if (!p.ws)
			b->rc = err_set(b->err, -EINVAL, "bad sheet name '%s'", name);
		else
			write_part(&p);
	}
}

static void set_properties(struct book *b)
{
	const struct grid *g = b->grid;
	lxw_doc_properties d = { .title = text_of(b, g->title),
				 .subject = text_of(b, g->subject),
				 .author = text_of(b, g->author),
				 .comments = text_of(b, COMMENT),
				 .created = g->created };

	check(b, "properties", workbook_set_properties(b->wb, &d));
	for (unsigned i = 0; i < g->n_properties; i++) {
		char value[256]; /* the library's limit is 255 characters */
		snprintf(value, sizeof value, "%s", g->property[i].value);
		check(b, "properties",
		      workbook_set_custom_property_string(b->wb, g->property[i].name, value));
	}
}

/* Temporary files go beside the workbook: one disk that can be full, not two. */
static char *folder_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strndup(a, path, (size_t)(slash - path + 1)) : arena_strdup(a, ".");
}

static void close_book(struct book *b)
{
	errno = 0;
	lxw_error e = workbook_close(b->wb); /* frees all, also after an error */
	if (e == LXW_NO_ERROR)
		return;
	b->rc = errno == ENOSPC ? -ENOSPC : errno == EACCES ? -EACCES : -EIO;
	b->rc = err_set(b->err, b->rc, "cannot write the workbook: %s%s%s", lxw_strerror(e),
			errno ? ": " : "", errno ? strerror(errno) : "");
}

static int copy_all(int from, int to)
{
	static const size_t CHUNK = 1 << 20;
	off_t at = 0;

	for (;;) {
		ssize_t n = sendfile(to, from, &at, CHUNK);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int copy_out(int from, const char *path, struct err *err)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc = to < 0 ? -errno : copy_all(from, to);

	if (to >= 0 && close(to) && !rc)
		rc = -errno;
	return rc ? err_set(err, rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
}

static int build_book(const struct grid *g, const char *path, char *tmpdir, struct err *err)
{
	lxw_workbook_options o = { .tmpdir = tmpdir };
	struct book b = { .grid = g, .err = err };

	b.wb = workbook_new_opt(path, &o);
	if (!b.wb)
		return err_set(err, -ENOMEM, "no memory for a workbook");
	set_properties(&b);
	for (const struct grid_sheet *s = g->first; s && !b.rc; s = s->next)
		write_sheet(&b, s);
	if (b.rc) /* closing would go on with sheets that are not there */
		lxw_workbook_free(b.wb);
	else
		close_book(&b);
	arena_release(&b.arena);
	return b.rc ? b.rc : xlsx_check(path, err);
}

/*
 * The library reports a write that fails on stderr, in words of its own: it writes into memory, and what is whole goes to
 * the disk from here. Where memory has no name (no /proc), it writes to the disk itself.
 */
int grid_write_xlsx(const struct grid *g, const char *path, struct err *err)
{
	struct arena a = ARENA_INIT;
	char name[64];

	if (g->rc)
		return err_set(err, g->rc, "%s", g->err.msg);
	int fd = memfd_create("workbook", MFD_CLOEXEC);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	bool memory = fd >= 0 && !access(name, W_OK);
	int rc = build_book(g, memory ? name : path, folder_of(&a, path), err);
	if (!rc && memory)
		rc = copy_out(fd, path, err);
	if (fd >= 0)
		close(fd);
	arena_release(&a);
	return rc;
}
