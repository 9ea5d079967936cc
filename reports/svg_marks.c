/* SPDX-License-Identifier: MIT */
/* Lines, points, columns, bars and areas of a chart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/svg.h"

#define TIP_POINTS 600 /* of a chart: beyond them a hover text each would outweigh the report */
#define TEXT_INK "#404040"

void svg_stroke(struct buf *out, const struct series *s)
{
	static const char *const dashes[] = { "", "7 4", "12 5", "2 4" };

	buf_str(out, " fill=\"none\" stroke=\"");
	svg_color(out, s->color);
	buf_str(out, "\" stroke-width=\"");
	svg_len(out, s->width);
	buf_str(out, "\"");
	if (s->dash != DASH_SOLID)
		buf_fmt(out, " stroke-dasharray=\"%s\"", dashes[s->dash]);
}

/* Each series has a shape of its own: a print in black and white still tells them apart. */
void svg_marker(struct buf *out, const struct series *s, unsigned shape, double x, double y)
{
	static const char *const shapes[] = {
		"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
		"m-3.2-3.2h6.4v6.4h-6.4z",
		"m0-4.4l4.2 7.4h-8.4z",
		"m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
		"m0 4.4l4.2-7.4h-8.4z",
		"m-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
	};
	const char *path = shapes[shape % 6];

	if (s->named)
		path = "m0-7l7 7l-7 7l-7-7z";
	buf_str(out, "<path d=\"M");
	svg_len(out, x);
	buf_str(out, " ");
	svg_len(out, y);
	buf_fmt(out, "%s\" fill=\"", path);
	svg_color(out, s->color);
	buf_str(out, "\"");
}

/* Ends the element that is open, with a hover text where there are few points. */
static void tip(struct drawing *d, const char *element, const struct plot_line *l, unsigned i)
{
	char v[80];

	if (!d->tips) {
		buf_str(d->out, "/>");
		return;
	}
	buf_str(d->out, "><title>");
	if (l->s->name && *l->s->name) {
		html_text(d->out, l->s->name);
		buf_str(d->out, ": ");
	}
	if (plot_named(d->p->c))
		html_text(d->out, i < d->p->n_categories ? d->p->category[i] : "");
	else
		html_text(d->out, plot_num(v, sizeof v, NUM_GENERAL, l->x[i]));
	buf_str(d->out, ", ");
	enum numfmt fmt = l->s->label_fmt;
	html_text(d->out, plot_num(v, sizeof v, fmt, l->y[i]));
	buf_fmt(d->out, "</title></%s>", element);
}

static bool drawable(const struct drawing *d, double x, double y)
{
	return isfinite(x) && isfinite(y) && (!d->x.log || x > 0) && (!d->y.log || y > 0);
}

/* Categories stand in the middle of their slots; those of an area begin and end at the edges. */
static double place_x(const struct drawing *d, double x)
{
	unsigned n = d->p->n_categories;

	if (!plot_named(d->p->c))
		return scale_at(&d->x, x);
	if (d->p->c->x.on_tick)
		return d->f.x0 + (d->f.x1 - d->f.x0) * (n > 1 ? (x - 1) / (n - 1) : 0.5);
	return d->f.x0 + (d->f.x1 - d->f.x0) * (x - 0.5) / (n ? n : 1);
}

/* Far outside of the plot a place is as good as just outside, and short. */
static double near_plot(const struct frame *f, double y)
{
	return fmin(fmax(y, f->y0 - 2 * f->h), f->y1 + 2 * f->h);
}

static void put_line(struct drawing *d, const struct plot_line *l)
{
	bool pen = false, any = false;

	for (unsigned i = 0; i < l->n; i++) {
		if (!drawable(d, l->x[i], l->y[i])) {
			pen = false;
			continue;
		}
		buf_str(d->out, !any ? "<path d=\"M" : pen ? "L" : "M");
		svg_len(d->out, place_x(d, l->x[i]));
		buf_str(d->out, " ");
		svg_len(d->out, near_plot(&d->f, scale_at(&d->y, l->y[i])));
		pen = any = true;
	}
	if (!any)
		return;
	buf_str(d->out, "\"");
	svg_stroke(d->out, l->s);
	buf_str(d->out, " stroke-linejoin=\"round\"/>\n");
}

static void put_label(struct drawing *d, double x, double y, const char *anchor, const char *text)
{
	buf_str(d->out, "<text class=\"v\" x=\"");
	svg_len(d->out, x);
	buf_str(d->out, "\" y=\"");
	svg_len(d->out, y);
	buf_fmt(d->out, "\" text-anchor=\"%s\">", anchor);
	html_text(d->out, text);
	buf_str(d->out, "</text>");
}

static void put_points(struct drawing *d, const struct plot_line *l, unsigned index)
{
	char v[80];

	for (unsigned i = 0; i < l->n; i++) {
		if (!drawable(d, l->x[i], l->y[i]))
			continue;
		double x = place_x(d, l->x[i]), y = scale_at(&d->y, l->y[i]);
		if (y < d->f.y0 - 1 || y > d->f.y1 + 1 || x < d->f.x0 - 1 || x > d->f.x1 + 1)
			continue;
		if (l->s->markers) {
			svg_marker(d->out, l->s, index, x, y);
			tip(d, "path", l, i);
		}
		double at = fmin(fmax(x, d->f.x0 + 12), d->f.x1 - 12);
		if (l->s->named)
			put_label(d, at, fmax(y - 11, d->f.y0 + 10), "middle", l->s->name);
		else if (l->s->labels)
			put_label(d, at, fmax(y - 7, d->f.y0 + 10), "middle",
				  plot_num(v, sizeof v, l->s->label_fmt, l->y[i]));
	}
	buf_str(d->out, "\n");
}

/* Red stripes: the value of a test that is not steady. */
static void put_stripes(struct buf *out, double x, double y, double w, double h)
{
	buf_str(out, "<path d=\"");
	for (double k = 7; k < w + h; k += 7) {
		double ax = fmax(0, k - h), bx = fmin(w, k);
		buf_str(out, "M");
		svg_len(out, x + ax);
		buf_str(out, " ");
		svg_len(out, y + fmin(k, h));
		buf_str(out, "L");
		svg_len(out, x + bx);
		buf_str(out, " ");
		svg_len(out, y + k - bx);
	}
	buf_str(out, "\" stroke=\"#c00000\" stroke-width=\"1.5\"/>");
}

static void put_rect(struct drawing *d, const struct plot_line *l, unsigned i, struct frame r)
{
	const struct series *s = l->s;
	bool hatched = i < 64 && (s->hatched >> i & 1);
	uint32_t fill = s->point_color && i < s->n_points ? s->point_color[i] : s->color;

	buf_str(d->out, "<rect x=\"");
	svg_len(d->out, fmin(r.x0, r.x1));
	buf_str(d->out, "\" y=\"");
	svg_len(d->out, fmin(r.y0, r.y1));
	buf_str(d->out, "\" width=\"");
	svg_len(d->out, fmax(fabs(r.x1 - r.x0), 0.5));
	buf_str(d->out, "\" height=\"");
	svg_len(d->out, fmax(fabs(r.y1 - r.y0), 0.5));
	buf_str(d->out, "\" fill=\"");
	svg_color(d->out, hatched ? 0xffffff : fill);
	buf_str(d->out, hatched ? "\" stroke=\"#c00000\"" : "\"");
	tip(d, "rect", l, i);
	if (hatched)
		put_stripes(d->out, fmin(r.x0, r.x1), fmin(r.y0, r.y1), fabs(r.x1 - r.x0),
			    fabs(r.y1 - r.y0));
}

/* One column or bar; @k of @n slots beside one another, from value @base to @top. */
static void put_bar(struct drawing *d, const struct plot_line *l, unsigned i, const double slot[2],
		    const double value[2])
{
	bool lying = d->p->c->kind == CHART_BAR;
	const struct scale *s = lying ? &d->x : &d->y;
	double a = scale_at(s, fmax(value[0], s->min)), b = scale_at(s, fmin(value[1], s->max));
	struct frame r = lying ? (struct frame){ 0, 0, a, slot[0], b, slot[1] }
			       : (struct frame){ 0, 0, slot[0], a, slot[1], b };
	char v[80];

	put_rect(d, l, i, r);
	if (!l->s->labels)
		return;
	plot_num(v, sizeof v, l->s->label_fmt, l->y[i]);
	if (lying)
		put_label(d, b + 5, (slot[0] + slot[1]) / 2 + 4, "start", v);
	else
		put_label(d, (slot[0] + slot[1]) / 2, b - 5, "middle", v);
}

/* As spreadsheets do: the gap is a share of a column, columns may overlap by a share of it. */
static void bar_slot(const struct drawing *d, unsigned k, unsigned i, double ret[2])
{
	const struct chart *c = d->p->c;
	bool stacked = c->kind == CHART_STACK, lying = c->kind == CHART_BAR;
	unsigned n = stacked ? 1 : d->p->n_lines, cats = d->p->n_categories;
	double overlap = stacked ? 0 : c->overlap / 100.0, gap = (c->gap > 0 ? c->gap : 0) / 100.0;
	double from = lying ? d->f.y1 : d->f.x0, to = lying ? d->f.y0 : d->f.x1;
	double whole = (to - from) / (cats ? cats : 1);
	double one = whole / (n - (n - 1) * overlap + gap);
	double at = from + whole * i + one * gap / 2 + (stacked ? 0 : k) * one * (1 - overlap);

	ret[0] = at;
	ret[1] = at + one;
}

static void put_bars(struct drawing *d)
{
	const struct scale *s = d->p->c->kind == CHART_BAR ? &d->x : &d->y;
	double slot[2], value[2];

	for (unsigned i = 0; i < d->p->n_categories; i++) {
		double sum = 0;
		for (unsigned k = 0; k < d->p->n_lines; k++) {
			const struct plot_line *l = &d->p->line[k];
			if (i >= l->n || !isfinite(l->y[i]) || (s->log && l->y[i] <= 0))
				continue;
			bool stacked = d->p->c->kind == CHART_STACK;
			bar_slot(d, k, i, slot);
			value[0] = stacked ? sum : s->log ? s->min : fmin(0, l->y[i]);
			value[1] = stacked ? sum + l->y[i] : s->log ? l->y[i] : fmax(0, l->y[i]);
			sum += l->y[i];
			put_bar(d, l, i, slot, value);
		}
		buf_str(d->out, "\n");
	}
}

static void area_corner(struct drawing *d, bool first, double x, double v)
{
	buf_str(d->out, first ? "<path d=\"M" : "L");
	svg_len(d->out, place_x(d, x));
	buf_str(d->out, " ");
	svg_len(d->out, near_plot(&d->f, scale_at(&d->y, v)));
}

static void put_areas(struct drawing *d)
{
	struct arena a = ARENA_INIT;
	unsigned n = d->p->n_categories;
	double *low = arena_array(&a, double, n + 1), *high = arena_array(&a, double, n + 1);

	for (unsigned k = 0; k < d->p->n_lines; k++) {
		const struct plot_line *l = &d->p->line[k];
		for (unsigned i = 0; i < n; i++) {
			low[i] = high[i];
			high[i] += i < l->n && isfinite(l->y[i]) ? l->y[i] : 0;
		}
		for (unsigned i = 0; i < n; i++)
			area_corner(d, i == 0, i + 1.0, high[i]);
		for (unsigned i = n; i-- > 0;)
			area_corner(d, false, i + 1.0, low[i]);
		buf_str(d->out, n ? "Z\" fill=\"" : "");
		if (n) {
			svg_color(d->out, l->s->color);
			buf_str(d->out, "\"/>\n");
		}
	}
	arena_release(&a);
}

void svg_marks(struct drawing *d)
{
	enum chart_kind kind = d->p->c->kind;
	unsigned points = 0;

	for (unsigned i = 0; i < d->p->n_lines; i++)
		points += d->p->line[i].n;
	d->tips = points <= TIP_POINTS;
	if (kind == CHART_AREA) {
		put_areas(d);
		return;
	}
	if (kind != CHART_LINE && kind != CHART_SCATTER) {
		put_bars(d);
		return;
	}
	for (unsigned i = 0; i < d->p->n_lines; i++)
		if (d->p->line[i].s->width > 0)
			put_line(d, &d->p->line[i]);
	for (unsigned i = 0; i < d->p->n_lines; i++)
		if (d->p->line[i].s->markers || d->p->line[i].s->labels)
			put_points(d, &d->p->line[i], i);
}
