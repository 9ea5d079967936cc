/* SPDX-License-Identifier: MIT */
/*
 * From places on a sheet to a page that flows: the boxes are cut where a line crosses none, first across the page, then
 * from above to below. What stood side by side does so where there is room, else one below the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid_html.h"
#include "reports/plot3d.h"

#define TOUCH_PX 2.0

static int by_top(const void *a, const void *b)
{
	const struct box *x = a, *y = b;

	if (x->y0 < y->y0 || x->y0 > y->y0)
		return x->y0 < y->y0 ? -1 : 1;
	return x->x0 < y->x0 ? -1 : x->x0 > y->x0;
}

static int by_left(const void *a, const void *b)
{
	const struct box *x = a, *y = b;

	if (x->x0 < y->x0 || x->x0 > y->x0)
		return x->x0 < y->x0 ? -1 : 1;
	return x->y0 < y->y0 ? -1 : x->y0 > y->y0;
}

void boxes_sort(struct box *b, size_t n, enum cut_way way)
{
	qsort(b, n, sizeof *b, way == CUT_DOWN ? by_top : by_left);
}

size_t boxes_group(const struct box *b, size_t n, size_t from, enum cut_way way)
{
	double end = way == CUT_DOWN ? b[from].y1 : b[from].x1;
	size_t k = from + 1;

	for (; k < n; k++) {
		if ((way == CUT_DOWN ? b[k].y0 : b[k].x0) > end - TOUCH_PX)
			break;
		end = fmax(end, way == CUT_DOWN ? b[k].y1 : b[k].x1);
	}
	return k - from;
}

double boxes_width(const struct box *b, size_t n)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, b[i].x0);
		high = fmax(high, b[i].x1);
	}
	return n ? high - low : 0;
}

static bool all_cells(const struct box *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b[i].kind != BOX_CELL)
			return false;
	return true;
}

/* The boxes from @from on up to the next cut; cuts between mere cells are left to the tables. */
static size_t next_part(const struct box *b, size_t n, size_t from, enum cut_way way)
{
	size_t len = boxes_group(b, n, from, way);

	while (all_cells(b + from, len) && from + len < n) {
		size_t more = boxes_group(b, n, from + len, way);
		if (!all_cells(b + from + len, more))
			break;
		len += more;
	}
	return len;
}

static void part_open(struct html *h, double width)
{
	buf_fmt(h->out, "<div style=\"flex:%.0f 1 min(100%%,%.0fpx)\">\n", width, width * 0.7);
}

static void put_across(struct html *h, struct box *b, size_t n)
{
	buf_str(h->out, "<div class=\"cols\">\n");
	for (size_t i = 0; i < n;) {
		size_t len = next_part(b, n, i, CUT_ACROSS);
		part_open(h, boxes_width(b + i, len));
		html_region(h, b + i, len);
		buf_str(h->out, "</div>\n");
		i += len;
	}
	buf_str(h->out, "</div>\n");
}

/* Boxes that cannot be cut: the cells, then what lay over them. */
static void put_pile(struct html *h, struct box *b, size_t n)
{
	struct box *cells = arena_array(&h->arena, struct box, n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (b[i].kind == BOX_CELL)
			cells[k++] = b[i];
	if (k)
		html_cells(h, cells, k);
	for (size_t i = 0; i < n; i++)
		if (b[i].kind != BOX_CELL)
			html_figure(h, &b[i]);
}

void html_region(struct html *h, struct box *b, size_t n)
{
	boxes_sort(b, n, CUT_DOWN);
	if (all_cells(b, n)) {
		if (n)
			html_cells(h, b, n);
		return;
	}
	if (next_part(b, n, 0, CUT_DOWN) < n) {
		for (size_t i = 0; i < n;) {
			size_t len = next_part(b, n, i, CUT_DOWN);
			html_region(h, b + i, len);
			i += len;
		}
		return;
	}
	boxes_sort(b, n, CUT_ACROSS);
	if (next_part(b, n, 0, CUT_ACROSS) < n)
		put_across(h, b, n);
	else
		put_pile(h, b, n);
}

/* ---- figures ---- */

static bool same_range(const struct range *a, const struct range *b)
{
	return a->sheet && b->sheet && !strcmp(a->sheet, b->sheet) &&
	       !memcmp(&a->at, &b->at, sizeof a->at);
}

#define NUMBERS_MAX 200 /* rows of a chart's numbers; charts of more points are curves */

/* Whether the numbers make one table: as many points in each series, at the same places along x. */
static bool one_table(const struct plot *p)
{
	for (unsigned i = 0; i < p->n_lines; i++) {
		if (p->line[i].n > NUMBERS_MAX)
			return false;
		if (i && !plot_named(p->c) && !same_range(&p->line[i].s->x, &p->line[0].s->x))
			return false;
	}
	return p->n_lines > 0;
}

static void number_cell(struct buf *out, double v)
{
	char tmp[80];

	buf_str(out, "<td class=\"b n\">");
	if (isfinite(v))
		html_text(out, plot_num(tmp, sizeof tmp, NUM_GENERAL, v));
	buf_str(out, "</td>");
}

static void head_cell(struct buf *out, const char *text)
{
	buf_str(out, "<th scope=\"col\" class=\"head b\">");
	html_text(out, text ? text : "");
	buf_str(out, "</th>");
}

static void put_numbers(struct html *h, const struct plot *p)
{
	bool named = plot_named(p->c);
	const char *along = p->c->kind == CHART_BAR ? p->c->y.title : p->c->x.title;
	unsigned rows = 0;

	for (unsigned i = 0; i < p->n_lines; i++)
		rows = p->line[i].n > rows ? p->line[i].n : rows;
	buf_str(h->out, "<details><summary>Numbers behind the chart</summary>"
			"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
	head_cell(h->out, along ? along : "");
	for (unsigned i = 0; i < p->n_lines; i++)
		head_cell(h->out, p->line[i].s->name);
	buf_str(h->out, "</tr></thead><tbody>\n");
	for (unsigned r = 0; r < rows; r++) {
		buf_str(h->out, "<tr>");
		if (named) {
			buf_str(h->out, "<th scope=\"row\" class=\"row-head b\">");
			html_text(h->out, p->category[r]);
			buf_str(h->out, "</th>");
		} else {
			number_cell(h->out, r < p->line[0].n ? p->line[0].x[r] : NAN);
		}
		for (unsigned i = 0; i < p->n_lines; i++)
			number_cell(h->out, r < p->line[i].n ? p->line[i].y[r] : NAN);
		buf_str(h->out, "</tr>\n");
	}
	buf_str(h->out, "</tbody></table></div></details>\n");
}

static void put_chart(struct html *h, const struct chart *c)
{
	struct plot p;

	plot_init(&p, c, h->index);
	buf_str(h->out, "<figure><div class=\"plot\" tabindex=\"0\">");
	svg_plot(&p, c->title ? c->title : h->page_name, h->out);
	buf_str(h->out, "</div>");
	if (one_table(&p))
		put_numbers(h, &p);
	buf_str(h->out, "</figure>\n");
	plot_release(&p);
}

static void put_base64(struct buf *out, const unsigned char *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63],
				 left > 1 ? digits[v >> 6 & 63] : '=',
				 left > 2 ? digits[v & 63] : '=' };
		buf_add(out, four, 4);
	}
}

static void put_picture(struct html *h, const struct picture *p)
{
	const char *alt = p->alt ? p->alt : h->page_name;

	buf_str(h->out, "<figure><div class=\"plot\" tabindex=\"0\">");
	if (p->svg || p->plot) {
		buf_fmt(h->out,
			"<svg viewBox=\"0 0 %u %u\" role=\"img\" "
			"style=\"min-width:%.0fpx\"><title>",
			p->svg_width, p->svg_height, p->svg_width / 2.0 * SVG_LEAST);
		html_text(h->out, h->page_name);
		buf_str(h->out, "</title><desc>");
		html_text(h->out, alt);
		buf_str(h->out, "</desc>\n");
		if (p->plot)
			plot3d_svg(p->plot, h->out);
		else
			buf_str(h->out, p->svg);
		buf_str(h->out, "</svg>");
	} else {
		buf_str(h->out, "<img alt=\"");
		html_text(h->out, alt);
		buf_str(h->out, "\" src=\"data:image/png;base64,");
		put_base64(h->out, p->png, p->len);
		buf_str(h->out, "\">");
	}
	buf_str(h->out, "</div></figure>\n");
}

void html_figure(struct html *h, const struct box *b)
{
	if (b->kind == BOX_CHART)
		put_chart(h, b->what);
	else
		put_picture(h, b->what);
}
