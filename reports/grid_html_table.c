/* SPDX-License-Identifier: MIT */
/* Cells as headings, notes and tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid_html.h"

#define EDGES_MAX 66
#define SHORT 18 /* letters of a row's head that stay on one line */
#define FULL 0.98 /* a cell over this share of the width is a line of its own */

static bool is_number(const struct cell *c)
{
	return c->kind == CELL_NUMBER || c->kind == CELL_FORMULA;
}

const char *html_shown(const struct cell *c, char tmp[80])
{
	if (is_number(c))
		return html_num(tmp, 80, STYLE_FMT(c->style), c->value);
	return c->text;
}

/* ---- heat ---- */

struct heat {
	double low, high;
};

static struct heat heat_span(const struct grid_sheet *s, const struct area *at)
{
	struct heat h = { INFINITY, -INFINITY };

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];
		if (!is_number(c) || c->at.row < at->row || c->at.row > at->row2 ||
		    c->at.col < at->col || c->at.col > at->col2)
			continue;
		h.low = fmin(h.low, c->value);
		h.high = fmax(h.high, c->value);
	}
	return h;
}

static uint32_t mixed(uint32_t a, uint32_t b, double k)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < 3; i++) {
		double x = (double)(a >> (16 - 8 * i) & 255), y = (double)(b >> (16 - 8 * i) & 255);
		out = out << 8 | (uint32_t)lrint(x + (y - x) * k);
	}
	return out;
}

/* Values of a table go over powers of ten: the logarithm shows the small ones apart, too. */
static double heat_place(const struct heat *h, double v)
{
	if (!(h->high > h->low))
		return 0.5;
	if (h->low > 0)
		return log(v / h->low) / log(h->high / h->low);
	return (v - h->low) / (h->high - h->low);
}

/* A look that says something by its own ground (amber: few I/Os) keeps it. */
static bool takes_heat(const struct cell *c)
{
	enum look k = STYLE_LOOK(c->style);

	return is_number(c) && (k == LOOK_CELL || k == LOOK_CENTER || k == LOOK_PLAIN ||
				k == LOOK_FORMULA || k == LOOK_STRONG || k == LOOK_VALUE);
}

bool html_heat(const struct grid_sheet *s, const struct cell *c, uint32_t *ret_rgb)
{
	for (size_t i = 0; i < s->n_scales; i++) {
		const struct color_scale *k = &s->scale[i];
		if (!takes_heat(c) || k->kind >= SCALE_VERDICT || c->at.row < k->at.row ||
		    c->at.row > k->at.row2 || c->at.col < k->at.col || c->at.col > k->at.col2)
			continue;
		struct heat h = heat_span(s, &k->at);
		double at = heat_place(&h, c->value);
		if (k->kind == SCALE_BLUE || k->kind == SCALE_ORANGE) {
			*ret_rgb = mixed(0xffffff, k->kind == SCALE_BLUE ? 0x9dc3e6 : 0xf4b183, at);
			return true;
		}
		if (k->kind == SCALE_LOW_GREEN)
			at = 1 - at;
		*ret_rgb = at < 0.5 ? mixed(0xf8cbad, 0xfff2cc, at * 2)
				    : mixed(0xfff2cc, 0xa9d18e, at * 2 - 1);
		return true;
	}
	return false;
}

/* ---- lines that are no tables ---- */

static bool is_band(enum look k)
{
	return k == LOOK_BIG_GOOD || k == LOOK_BIG_BAD || k == LOOK_BIG_WARN ||
	       k == LOOK_SIMULATED || k == LOOK_BANNER_BAD || k == LOOK_COUNTS;
}

static bool is_words(enum look k)
{
	return k == LOOK_PLAIN || k == LOOK_NOTE || k == LOOK_WRAP || k == LOOK_NA ||
	       k == LOOK_VALUE || k == LOOK_CELL || k == LOOK_GOOD || k == LOOK_WARN ||
	       k == LOOK_BAD || k == LOOK_SUBJECT || k == LOOK_SUBTITLE || k == LOOK_MONO;
}

static bool is_block_head(enum look k)
{
	return k == LOOK_SECTION || k == LOOK_PAGE_BAR || k == LOOK_TITLE || k == LOOK_TEST_BAR ||
	       k == LOOK_HEAD_PLATFORM || k == LOOK_HEAD_DEVICE || k == LOOK_HEAD_SETUP ||
	       k == LOOK_HEAD_TEST;
}

static void put_value(struct html *h, const struct cell *c)
{
	char tmp[80];
	unsigned no = 0;

	if (c->kind != CELL_LINK) {
		html_text(h->out, html_shown(c, tmp));
		return;
	}
	for (const struct grid_sheet *s = h->grid->first; s; s = s->next) {
		no++;
		if (strcmp(s->name, c->formula))
			continue;
		if (s->role == ROLE_DATA)
			buf_str(h->out, "<a href=\"#data\">");
		else
			buf_fmt(h->out, "<a href=\"#s%u\">", no);
		html_text(h->out, c->text);
		buf_str(h->out, "</a>");
		return;
	}
	html_text(h->out, c->text);
}

static void put_element(struct html *h, const char *tag, const char *more, const struct cell *c)
{
	char class[40];

	buf_fmt(h->out, "<%s class=\"%s%s\">", tag, more, html_class(STYLE_LOOK(c->style), class));
	put_value(h, c);
	buf_fmt(h->out, "</%s>\n", tag);
}

static void put_band(struct html *h, const struct cell *c)
{
	enum look k = STYLE_LOOK(c->style);

	put_element(h, "div", k == LOOK_COUNTS || k == LOOK_SIMULATED ? "band " : "band big ", c);
}

/* "STEADY STATE DETERMINATION (live formulas)": they live in the workbook only. */
static void put_heading(struct html *h, const struct cell *c)
{
	const char *live = strstr(c->text, " (live formulas)");
	bool plain = STYLE_LOOK(c->style) == LOOK_SECTION;
	char class[40];

	buf_fmt(h->out, "<h%c class=\"heading%s%s\">", h->heading, plain ? "" : " ",
		plain ? "" : html_class(STYLE_LOOK(c->style), class));
	if (live)
		html_text(h->out, arena_strndup(&h->arena, c->text, (size_t)(live - c->text)));
	else
		put_value(h, c);
	buf_fmt(h->out, "</h%c>\n", h->heading);
}

/* A cell alone in its row: a heading, a band, or a line of text. False: it belongs to a table. */
static bool put_alone(struct html *h, const struct box *b)
{
	const struct cell *c = box_cell(b);
	enum look k = STYLE_LOOK(c->style);

	if (is_block_head(k))
		put_heading(h, c);
	else if (is_band(k))
		put_band(h, c);
	else if (is_words(k) && (k == LOOK_GOOD || k == LOOK_WARN || k == LOOK_BAD))
		put_element(h, "div", "band ", c);
	else if (is_words(k))
		put_element(h, "p", k == LOOK_NOTE ? "text note " : "text ", c);
	else
		return false;
	return true;
}

/* ---- tables ---- */

struct table {
	const struct box *b; /* sorted from above */
	size_t n;
	uint32_t edge[EDGES_MAX]; /* first columns of the table's columns, and the end */
	unsigned n_edges;
	uint32_t first_row, last_row;
	double width, sheet_px;
};

static void add_edge(struct table *t, uint32_t col)
{
	unsigned at = t->n_edges;

	for (unsigned i = 0; i < t->n_edges; i++)
		if (t->edge[i] == col)
			return;
	if (t->n_edges == EDGES_MAX)
		return;
	for (; at && t->edge[at - 1] > col; at--)
		t->edge[at] = t->edge[at - 1];
	t->edge[at] = col;
	t->n_edges++;
}

static unsigned edge_of(const struct table *t, uint32_t col)
{
	unsigned i = 0;

	while (i + 1 < t->n_edges && t->edge[i] < col)
		i++;
	return i;
}

static bool is_head(enum look k)
{
	return k == LOOK_HEAD || k == LOOK_HEAD_WINDOW;
}

static bool is_row_head(enum look k)
{
	return k == LOOK_ROW_HEAD || k == LOOK_KEY ||
	       (k >= LOOK_KEY_PLATFORM && k <= LOOK_KEY_TEST);
}

static void put_cell(struct html *h, const struct table *t, const struct cell *c)
{
	enum look k = STYLE_LOOK(c->style);
	unsigned cols = edge_of(t, c->at.col2 + 1) - edge_of(t, c->at.col);
	const char *tag = is_head(k) || is_row_head(k) ? "th" : "td";
	char class[40];
	uint32_t rgb;

	buf_fmt(h->out, "<%s", tag);
	if (*tag == 't' && tag[1] == 'h')
		buf_fmt(h->out, " scope=\"%s\"", is_head(k) ? "col" : "row");
	if (cols > 1)
		buf_fmt(h->out, " colspan=\"%u\"", cols);
	if (c->at.row2 > c->at.row)
		buf_fmt(h->out, " rowspan=\"%u\"", c->at.row2 - c->at.row + 1);
	buf_fmt(h->out, " class=\"%s%s%s%s\"", html_class(k, class),
		look_def(k)->border ? " b" : "", is_number(c) && !look_def(k)->align ? " n" : "",
		is_row_head(k) && strlen(c->text) <= SHORT ? " s"
		: t->n_edges <= 3			   ? " anywhere"
							   : "");
	if (c->kind == CELL_FORMULA) {
		buf_str(h->out, " title=\"in the workbook: ");
		html_text(h->out, c->formula);
		buf_str(h->out, "\"");
	}
	if (html_heat(h->sheet, c, &rgb))
		buf_fmt(h->out, " style=\"background:#%06x\"", rgb);
	buf_str(h->out, ">");
	put_value(h, c);
	buf_fmt(h->out, "</%s>", tag);
}

static void put_blank(struct html *h, unsigned cols)
{
	if (cols > 1)
		buf_fmt(h->out, "<td colspan=\"%u\"></td>", cols);
	else if (cols)
		buf_str(h->out, "<td></td>");
}

/* @busy[i]: the column is held by a cell from above up to before that row. */
static size_t put_row(struct html *h, const struct table *t, size_t i, uint32_t row, uint32_t *busy)
{
	unsigned at = 0, n = t->n_edges - 1;

	buf_str(h->out, "<tr>");
	while (at < n) {
		unsigned blank = at;
		const struct cell *c = i < t->n && box_cell(&t->b[i])->at.row == row
					       ? box_cell(&t->b[i])
					       : NULL;
		unsigned next = c ? edge_of(t, c->at.col) : n;
		while (blank < next && busy[blank] <= row)
			blank++;
		put_blank(h, blank - at);
		at = blank;
		if (at < next) { /* held from above */
			at++;
			continue;
		}
		if (!c)
			break;
		put_cell(h, t, c);
		unsigned end = edge_of(t, c->at.col2 + 1);
		for (; at < end; at++)
			busy[at] = c->at.row2 + 1;
		i++;
	}
	buf_str(h->out, "</tr>\n");
	return i;
}

static bool head_row(const struct table *t, size_t i, uint32_t row)
{
	bool any = false;

	for (; i < t->n && box_cell(&t->b[i])->at.row == row; i++) {
		const struct cell *c = box_cell(&t->b[i]);
		if (!is_head(STYLE_LOOK(c->style)) || c->at.row2 > row)
			return false;
		any = true;
	}
	return any;
}

static double col_px(const struct grid_sheet *s, uint32_t col)
{
	double px = 64;

	for (size_t i = 0; i < s->n_widths; i++)
		if (col >= s->width[i].col && col <= s->width[i].col2)
			px = s->width[i].px;
	return px;
}

static void put_columns(struct html *h, const struct table *t)
{
	buf_str(h->out, "<colgroup>");
	for (unsigned i = 0; i + 1 < t->n_edges; i++) {
		double px = 0;
		for (uint32_t c = t->edge[i]; c < t->edge[i + 1]; c++)
			px += col_px(h->sheet, c);
		buf_str(h->out, "<col style=\"width:");
		svg_len(h->out, 100 * px / t->width);
		buf_str(h->out, "%\">");
	}
	buf_str(h->out, "</colgroup>\n");
}

static void put_rows(struct html *h, const struct table *t)
{
	uint32_t busy[EDGES_MAX] = { 0 };
	size_t i = 0;
	bool head = head_row(t, 0, t->first_row);

	buf_str(h->out, head ? "<thead>\n" : "<tbody>\n");
	for (uint32_t row = t->first_row; row <= t->last_row; row++) {
		if (head && !head_row(t, i, row)) {
			buf_str(h->out, "</thead><tbody>\n");
			head = false;
		}
		i = put_row(h, t, i, row, busy);
	}
	buf_str(h->out, head ? "</thead>" : "</tbody>");
}

static void put_table(struct html *h, const struct box *b, size_t n)
{
	struct table t = { .b = b, .n = n, .width = boxes_width(b, n) };

	t.first_row = box_cell(&b[0])->at.row;
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = box_cell(&b[i]);
		add_edge(&t, c->at.col);
		add_edge(&t, c->at.col2 + 1);
		t.last_row = c->at.row2 > t.last_row ? c->at.row2 : t.last_row;
	}
	buf_str(h->out, "<div class=\"scroll\" tabindex=\"0\"><table");
	bool wide = t.width > 420 && t.n_edges > 3, part = t.width < h->width * 0.8;
	if (wide)
		buf_fmt(h->out, " style=\"min-width:%.0fpx", t.width * 0.62);
	if (part)
		buf_fmt(h->out, "%smax-width:%.0fpx", wide ? ";" : " style=\"", t.width);
	if (wide || part)
		buf_str(h->out, "\"");
	buf_str(h->out, ">");
	put_columns(h, &t);
	put_rows(h, &t);
	buf_str(h->out, "</table></div>\n");
}

/* ---- rows ---- */

static size_t row_len(const struct box *b, size_t n, size_t from)
{
	size_t k = from;

	while (k < n && box_cell(&b[k])->at.row == box_cell(&b[from])->at.row)
		k++;
	return k - from;
}

static bool put_bands(struct html *h, const struct box *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_band(box_look(&b[i])))
			return false;
	buf_str(h->out, "<div class=\"bands\">\n");
	for (size_t i = 0; i < n; i++)
		put_band(h, box_cell(&b[i]));
	buf_str(h->out, "</div>\n");
	return true;
}

/* A row that is one heading, band or line of text is written here; false: it is of a table. */
static bool put_line_row(struct html *h, const struct box *b, size_t n, double width)
{
	if (n > 1)
		return put_bands(h, b, n);
	return b->x1 - b->x0 >= width * FULL && put_alone(h, b);
}

/* Rows that follow one another, nothing beside them. */
static void put_block(struct html *h, const struct box *b, size_t n)
{
	double width = boxes_width(b, n);
	size_t table = 0; /* boxes of the rows that wait to be a table */

	for (size_t i = 0; i < n;) {
		size_t len = row_len(b, n, i);
		struct buf kept = *h->out, line = BUF_INIT;
		*h->out = line;
		bool alone = put_line_row(h, b + i, len, width);
		line = *h->out;
		*h->out = kept;
		if (alone && table)
			put_table(h, b + i - table, table);
		table = alone ? 0 : table + len;
		buf_str(h->out, buf_cstr(&line));
		buf_release(&line);
		i += len;
	}
	if (table)
		put_table(h, b + n - table, table);
}

static void put_columns_of(struct html *h, struct box *b, size_t n, const double *cut, unsigned k)
{
	buf_str(h->out, "<div class=\"cols\">\n");
	for (unsigned i = 0; i < k; i++) {
		struct box *part = arena_array(&h->arena, struct box, n + 1);
		size_t len = 0;
		for (size_t j = 0; j < n; j++)
			if (b[j].x0 >= cut[i] - 1 && (i + 1 == k || b[j].x0 < cut[i + 1] - 1))
				part[len++] = b[j];
		double width = boxes_width(part, len);
		buf_fmt(h->out, "<div style=\"flex:%.0f 1 min(100%%,%.0fpx)\">\n", width,
			width * 0.7);
		html_cells(h, part, len);
		buf_str(h->out, "</div>\n");
	}
	buf_str(h->out, "</div>\n");
}

/* Where a block falls into columns: at gaps that no cell bridges, and at heads that stand side by side. */
static unsigned find_cuts(struct html *h, const struct box *b, size_t n, double cut[EDGES_MAX])
{
	struct box *by_x = arena_memdup(&h->arena, b, n * sizeof *b);
	size_t heads = row_len(b, n, 0), groups = 0;
	unsigned k = 0;

	boxes_sort(by_x, n, CUT_ACROSS);
	for (size_t i = 0; i < n && k < EDGES_MAX; groups++) {
		size_t len = 1;
		double end = by_x[i].x1;
		while (i + len < n && by_x[i + len].x0 < end + 2) {
			end = fmax(end, by_x[i + len].x1);
			len++;
		}
		cut[k++] = by_x[i].x0;
		i += len;
	}
	if (groups > 1)
		return k;
	k = 0;
	for (size_t i = 0; i < heads && k < EDGES_MAX; i++) {
		if (!is_block_head(box_look(&b[i])))
			return 1;
		for (size_t j = 0; j < n; j++)
			if (b[j].x0 < b[i].x0 - 1 && b[j].x1 > b[i].x0 + 1)
				return 1;
		cut[k++] = b[i].x0;
	}
	return k;
}

void html_cells(struct html *h, struct box *b, size_t n)
{
	double cut[EDGES_MAX];

	boxes_sort(b, n, CUT_DOWN);
	for (size_t i = 0; i < n;) {
		size_t len = 1;
		double end = b[i].y1;
		while (i + len < n && b[i + len].y0 < end + 2) {
			end = fmax(end, b[i + len].y1);
			len++;
		}
		unsigned k = find_cuts(h, b + i, len, cut);
		if (k > 1)
			put_columns_of(h, b + i, len, cut, k);
		else
			put_block(h, b + i, len);
		i += len;
	}
}
