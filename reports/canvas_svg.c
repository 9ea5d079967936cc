/* SPDX-License-Identifier: MIT */
/* The drawing calls of a canvas as SVG elements. Lines of one pen that follow one another share an element. */
#include <stdlib.h>

#include "reports/canvas.h"
#include "reports/svg.h"

struct canvas_pen {
	struct buf *out;
	bool open; /* a path of this colour and width is being written */
	uint32_t rgb;
	double width;
	struct point2 last;
};

static void put_point(struct buf *out, const char *op, struct point2 p)
{
	buf_str(out, op);
	svg_len(out, p.x);
	buf_str(out, " ");
	svg_len(out, p.y);
}

static void pen_up(struct canvas_pen *pen)
{
	if (!pen->open)
		return;
	buf_str(pen->out, "\" fill=\"none\" stroke-linecap=\"round\" stroke-width=\"");
	svg_len(pen->out, pen->width);
	buf_str(pen->out, "\" stroke=\"");
	svg_color(pen->out, pen->rgb);
	buf_str(pen->out, "\"/>\n");
	pen->open = false;
}

void canvas_init_svg(struct canvas *c, unsigned width, unsigned height, struct buf *out)
{
	*c = (struct canvas){ .width = width, .height = height };
	c->pen = calloc(1, sizeof *c->pen);
	BUG_ON(!c->pen);
	c->pen->out = out;
}

void canvas_end_svg(struct canvas *c)
{
	pen_up(c->pen);
	free(c->pen);
	c->pen = NULL;
}

void canvas_polygon_svg(struct canvas *c, const struct point2 *p, unsigned n, uint32_t rgb)
{
	struct buf *out = c->pen->out;

	pen_up(c->pen);
	for (unsigned i = 0; i < n; i++)
		put_point(out, i ? "L" : "<path d=\"M", p[i]);
	buf_str(out, "Z\" fill=\"");
	svg_color(out, rgb);
	buf_str(out, "\"/>");
}

void canvas_line_svg(struct canvas *c, struct point2 a, struct point2 b, double width, uint32_t rgb)
{
	struct canvas_pen *pen = c->pen;

	if (pen->open && (pen->rgb != rgb || pen->width < width || pen->width > width))
		pen_up(pen);
	bool joined = pen->open && pen->last.x >= a.x && pen->last.x <= a.x && pen->last.y >= a.y &&
		      pen->last.y <= a.y;
	if (!joined)
		put_point(pen->out, pen->open ? "M" : "<path d=\"M", a);
	put_point(pen->out, "L", b);
	*pen = (struct canvas_pen){ pen->out, true, rgb, width, b };
}

void canvas_text_svg(struct canvas *c, struct point2 at, const struct text_style *style,
		     const char *s)
{
	struct buf *out = c->pen->out;

	pen_up(c->pen);
	buf_str(out, "<text");
	if (style->upward) {
		buf_str(out, " transform=\"translate(");
		svg_len(out, at.x + style->size / 2);
		buf_str(out, " ");
		svg_len(out, at.y);
		buf_str(out, ")rotate(-90)\"");
	} else {
		buf_str(out, " x=\"");
		svg_len(out, at.x);
		buf_str(out, "\" y=\"");
		svg_len(out, at.y + style->size / 2);
		buf_str(out, "\"");
	}
	buf_str(out, " font-size=\"");
	svg_len(out, style->size * 1.42);
	buf_fmt(out, "\"%s text-anchor=\"%s\" fill=\"", style->bold ? " font-weight=\"bold\"" : "",
		style->anchor == 'c'   ? "middle"
		: style->anchor == 'r' ? "end"
				       : "start");
	svg_color(out, style->rgb);
	buf_str(out, "\">");
	html_text(out, s);
	buf_str(out, "</text>\n");
}
