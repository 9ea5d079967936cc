/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/err.h"
#include "reports/canvas.h"

#define SUB 4 /* lines per pixel row on which edges are cut; along a line the cover is exact */
#define CUTS_MAX 64
#define GAP 7.0 /* between letters, in glyph units */

void canvas_init(struct canvas *c, unsigned width, unsigned height)
{
	size_t bytes = (size_t)width * height * 3;

	c->pen = NULL;
	c->width = width;
	c->height = height;
	c->rgb = malloc(bytes);
	c->cover = calloc(width, sizeof *c->cover);
	c->first = width;
	c->end = 0;
	BUG_ON(!c->rgb || !c->cover);
	memset(c->rgb, 255, bytes);
}

void canvas_release(struct canvas *c)
{
	free(c->rgb);
	free(c->cover);
	c->rgb = NULL;
	c->cover = NULL;
}

/* Adds a span of one sub-line, with partly covered pixels at its ends. */
static void add_span(struct canvas *c, double a, double b)
{
	a = a > 0 ? a : 0;
	b = b < c->width ? b : c->width;
	if (a >= b)
		return;
	unsigned first = (unsigned)a, last = (unsigned)b;
	if (first < c->first)
		c->first = first;
	if (last >= c->end)
		c->end = last + 1 < c->width ? last + 1 : c->width;
	if (first == last) {
		c->cover[first] += (float)((b - a) / SUB);
		return;
	}
	c->cover[first] += (float)((first + 1.0 - a) / SUB);
	for (unsigned x = first + 1; x < last; x++)
		c->cover[x] += 1.0f / SUB;
	if (last < c->width)
		c->cover[last] += (float)((b - last) / SUB);
}

/* A few at most, most often two. */
static void sort(double *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		double one = v[i];
		unsigned at = i;
		for (; at && v[at - 1] > one; at--)
			v[at] = v[at - 1];
		v[at] = one;
	}
}

static void cut_line(struct canvas *c, const struct point2 *p, unsigned n, double y)
{
	double cut[CUTS_MAX];
	unsigned k = 0;

	for (unsigned i = 0; i < n && k < CUTS_MAX; i++) {
		const struct point2 *a = &p[i], *b = i + 1 < n ? a + 1 : p;
		if ((a->y <= y) != (b->y <= y))
			cut[k++] = a->x + (y - a->y) * (b->x - a->x) / (b->y - a->y);
	}
	sort(cut, k);
	for (unsigned i = 0; i + 1 < k; i += 2)
		add_span(c, cut[i], cut[i + 1]);
}

/* Colours what the sub-lines of a row have covered, and clears it for the next. */
static void blend_row(struct canvas *c, unsigned y, uint32_t rgb)
{
	uint8_t *row = c->rgb + (size_t)y * c->width * 3;

	for (unsigned x = c->first; x < c->end; x++) {
		float k = c->cover[x];
		c->cover[x] = 0;
		if (k <= 0)
			continue;
		uint8_t *to = row + x * 3;
		for (unsigned i = 0; i < 3; i++) {
			uint8_t full = rgb >> (16 - 8 * i) & 255;
			to[i] = k >= 1 ? full : (uint8_t)lrintf((float)to[i] * (1 - k) + full * k);
		}
	}
	c->first = c->width;
	c->end = 0;
}

void canvas_polygon(struct canvas *c, const struct point2 *p, unsigned n, uint32_t rgb)
{
	double low = c->height, high = 0;

	if (c->pen) {
		canvas_polygon_svg(c, p, n, rgb);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		low = fmin(low, p[i].y);
		high = fmax(high, p[i].y);
	}
	unsigned y0 = (unsigned)fmax(low, 0), y1 = (unsigned)fmin(ceil(high), c->height);
	for (unsigned y = y0; y < y1; y++) {
		for (unsigned s = 0; s < SUB; s++)
			cut_line(c, p, n, y + (s + 0.5) / SUB);
		blend_row(c, y, rgb);
	}
}

/* A capsule: the rectangle around the line with a half circle at each end. */
void canvas_line(struct canvas *c, struct point2 a, struct point2 b, double width, uint32_t rgb)
{
	enum { ARC = 9 };
	struct point2 p[2 * ARC];
	double dir = atan2(b.y - a.y, b.x - a.x), r = width / 2;

	if (c->pen) {
		canvas_line_svg(c, a, b, width, rgb);
		return;
	}
	for (unsigned i = 0; i < ARC; i++) {
		double t = M_PI * i / (ARC - 1) - M_PI / 2;
		p[i] = (struct point2){ b.x + r * cos(dir + t), b.y + r * sin(dir + t) };
		p[ARC + i] = (struct point2){ a.x - r * cos(dir + t), a.y - r * sin(dir + t) };
	}
	canvas_polygon(c, p, 2 * ARC, rgb);
}

struct pen {
	struct canvas *c;
	const struct text_style *style;
	struct point2 origin; /* of the glyph's own (0, 0) */
	struct point2 last;
	double scale, width;
};

static struct point2 pen_place(const struct pen *p, double x, double y)
{
	double u = x * p->scale, v = y * p->scale;

	if (p->style->upward)
		return (struct point2){ p->origin.x + v, p->origin.y - u };
	return (struct point2){ p->origin.x + u, p->origin.y + v };
}

static void pen_to(struct pen *p, double x, double y)
{
	struct point2 to = pen_place(p, x, y);

	canvas_line(p->c, p->last, to, p->width, p->style->rgb);
	p->last = to;
}

static void pen_arc(struct pen *p, const double v[6], bool joined)
{
	enum { STEPS = 20 };

	for (unsigned i = 0; i <= STEPS; i++) {
		double t = (v[4] + (v[5] - v[4]) * i / STEPS) * M_PI / 180;
		double x = v[0] + v[2] * cos(t), y = v[1] + v[3] * sin(t);
		if (i == 0 && !joined)
			p->last = pen_place(p, x, y);
		else
			pen_to(p, x, y);
	}
}

static void draw_glyph(struct pen *p, const char *path)
{
	while (*path) {
		char op = *path++;
		double v[6] = { 0 };
		unsigned n = op == 'm' || op == 'l' ? 2 : 6;
		for (unsigned i = 0; i < n; i++) {
			char *end;
			v[i] = strtod(path, &end);
			path = end;
		}
		if (op == 'm')
			p->last = pen_place(p, v[0], v[1]);
		else if (op == 'l')
			pen_to(p, v[0], v[1]);
		else
			pen_arc(p, v, op == 'c');
		while (*path == ' ')
			path++;
	}
}

static double pen_weight(const struct text_style *style)
{
	return style->bold ? 4.6 : 3.0;
}

double canvas_text_width(const struct text_style *style, const char *s)
{
	double w = 0, one;

	for (; *s; s++) {
		glyph_path(*s, &one);
		w += one + GAP + (style->bold ? 1 : 0);
	}
	return (w - GAP) * style->size / GLYPH_CAP;
}

void canvas_text(struct canvas *c, struct point2 at, const struct text_style *style, const char *s)
{
	double total = canvas_text_width(style, s), one;
	double back = style->anchor == 'c' ? total / 2 : style->anchor == 'r' ? total : 0;
	struct pen p = { c, style, at, at, style->size / GLYPH_CAP, 0 };

	if (c->pen) {
		canvas_text_svg(c, at, style, s);
		return;
	}
	p.width = pen_weight(style) * p.scale;
	if (style->upward)
		p.origin = (struct point2){ at.x - style->size / 2, at.y + back };
	else
		p.origin = (struct point2){ at.x - back, at.y - style->size / 2 };
	for (; *s; s++) {
		draw_glyph(&p, glyph_path(*s, &one));
		double step = (one + GAP + (style->bold ? 1 : 0)) * p.scale;
		if (style->upward)
			p.origin.y -= step;
		else
			p.origin.x += step;
	}
}
