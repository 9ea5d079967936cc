/* SPDX-License-Identifier: MIT */
/* A chart as one <svg> element: title, axes with units, legend; svg_marks.c draws what is between them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/svg.h"

#define TICK_PX 12.0
#define NAME_PX 12.5
#define ROOM 1.18 /* phones show letters larger than the margins were laid out for */
#define LEFT_PX 84.0 /* charts above one another keep one left edge */
#define WIDEST 1100.0
#define NARROWEST 480.0

static void put_text_at(struct buf *out, const char *class, double x, double y, const char *anchor)
{
	buf_fmt(out, "<text class=\"%s\" x=\"", class);
	svg_len(out, x);
	buf_str(out, "\" y=\"");
	svg_len(out, y);
	buf_fmt(out, "\" text-anchor=\"%s\">", anchor);
}

static void put_words(struct buf *out, const char *text)
{
	html_text(out, text);
	buf_str(out, "</text>");
}

static void put_rule(struct buf *out, const char *class, const double from[2], const double to[2])
{
	buf_fmt(out, "<path class=\"%s\" d=\"M", class);
	svg_len(out, from[0]);
	buf_str(out, " ");
	svg_len(out, from[1]);
	buf_str(out, "L");
	svg_len(out, to[0]);
	buf_str(out, " ");
	svg_len(out, to[1]);
	buf_str(out, "\"/>");
}

/* ---- what the values span ---- */

static void span_stacked(const struct plot *p, double *low, double *high)
{
	for (unsigned i = 0; i < p->n_categories; i++) {
		double sum = 0;
		for (unsigned k = 0; k < p->n_lines; k++)
			if (i < p->line[k].n && isfinite(p->line[k].y[i]))
				sum += p->line[k].y[i];
		*low = fmin(*low, sum);
		*high = fmax(*high, sum);
	}
}

/* Lowest and highest of the values along @axis ('x' or 'y'); only those above 0 on a log axis. */
static void span(const struct plot *p, char axis, bool log, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	if (axis == 'y' && (p->c->kind == CHART_STACK || p->c->kind == CHART_AREA)) {
		span_stacked(p, low, high);
		return;
	}
	for (unsigned k = 0; k < p->n_lines; k++) {
		const struct plot_line *l = &p->line[k];
		for (unsigned i = 0; i < l->n; i++) {
			double v = axis == 'x' ? l->x[i] : l->y[i];
			if (!isfinite(l->y[i]) || !isfinite(v) || (log && v <= 0))
				continue;
			*low = fmin(*low, v);
			*high = fmax(*high, v);
		}
	}
}

/* ---- legend ---- */

static bool in_legend(const struct plot *p, unsigned i)
{
	return p->line[i].s->name && *p->line[i].s->name && p->c->legend != LEGEND_NONE;
}

static double entry_width(const struct plot *p, unsigned i)
{
	return 44 + svg_text_width(p->line[i].s->name, TICK_PX, false) * ROOM;
}

static void put_entry(struct drawing *d, unsigned i, double x, double y)
{
	const struct series *s = d->p->line[i].s;
	enum chart_kind kind = d->p->c->kind;

	if (kind == CHART_LINE || kind == CHART_SCATTER) {
		double from[2] = { x, y };
		if (s->width > 0) {
			buf_str(d->out, "<path d=\"M");
			svg_len(d->out, from[0]);
			buf_str(d->out, " ");
			svg_len(d->out, from[1]);
			buf_str(d->out, "h24\"");
			svg_stroke(d->out, s);
			buf_str(d->out, "/>");
		}
		if (s->markers) {
			svg_marker(d->out, s, i, x + 12, y);
			buf_str(d->out, "/>");
		}
	} else {
		buf_str(d->out, "<rect x=\"");
		svg_len(d->out, x + 8);
		buf_str(d->out, "\" y=\"");
		svg_len(d->out, y - 6);
		buf_str(d->out, "\" width=\"14\" height=\"12\" fill=\"");
		svg_color(d->out, s->color);
		buf_str(d->out, "\"/>");
	}
	put_text_at(d->out, "t", x + 29, y + 4, "start");
	put_words(d->out, s->name);
	buf_str(d->out, "\n");
}

/* Entries in centred lines from @y downwards, or (out NULL) only measured; returns the height. */
static double legend_lines(struct drawing *d, double y, bool draw)
{
	double room = d->f.w - 24, top = y;
	unsigned n = d->p->n_lines;

	for (unsigned i = 0; i < n;) {
		double width = 0;
		unsigned end = i;
		while (end < n && (end == i || width + entry_width(d->p, end) <= room)) {
			width += in_legend(d->p, end) ? entry_width(d->p, end) : 0;
			end++;
		}
		double x = (d->f.w - width) / 2;
		for (; i < end; i++) {
			if (!in_legend(d->p, i))
				continue;
			if (draw)
				put_entry(d, i, x, y + 9);
			x += entry_width(d->p, i);
		}
		y += width > 0 ? 20 : 0;
	}
	return y - top;
}

static double legend_width(const struct plot *p)
{
	double widest = 0;

	for (unsigned i = 0; i < p->n_lines; i++)
		if (in_legend(p, i))
			widest = fmax(widest, entry_width(p, i));
	return widest;
}

/* Names beside the plot, evenly from the middle; without room for them, below. */
static bool legend_beside(const struct drawing *d)
{
	return d->p->c->legend == LEGEND_RIGHT && legend_width(d->p) < d->f.w * 0.34 &&
	       d->p->n_lines * 19.0 < d->f.h - 40;
}

static void put_column(struct drawing *d)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->p->n_lines; i++)
		n += in_legend(d->p, i);
	double y = (d->f.y0 + d->f.y1) / 2 - n * 19.0 / 2 + 9;
	for (unsigned i = 0; i < d->p->n_lines; i++) {
		if (!in_legend(d->p, i))
			continue;
		put_entry(d, i, d->f.x1 + 16, y);
		y += 19;
	}
}

/* ---- axes ---- */

static enum numfmt tick_fmt(const struct axis *a)
{
	return a->fmt == NUM_PAD ? NUM_GROUP : a->fmt; /* it pads for spreadsheets only */
}

static double widest_tick(const struct scale *s, const struct axis *a)
{
	double w = 0;
	char v[80];

	for (unsigned i = 0; i < s->n_ticks; i++)
		w = fmax(w, svg_text_width(plot_num(v, sizeof v, tick_fmt(a), s->tick[i]), TICK_PX,
					   false));
	return w * ROOM;
}

static double widest_category(const struct plot *p)
{
	double w = 0;

	for (unsigned i = 0; i < p->n_categories; i++)
		w = fmax(w, svg_text_width(p->category[i], TICK_PX, false));
	return w * ROOM;
}

static void value_axis_up(struct drawing *d, const struct axis *a)
{
	char v[80];

	for (unsigned i = 0; i < d->y.n_ticks; i++) {
		double y = scale_at(&d->y, d->y.tick[i]);
		double from[2] = { d->f.x0, y }, to[2] = { d->f.x1, y };
		if (a->grid)
			put_rule(d->out, "g", from, to);
		put_text_at(d->out, "t", d->f.x0 - 8, y + 4, "end");
		put_words(d->out, plot_num(v, sizeof v, tick_fmt(a), d->y.tick[i]));
	}
	buf_str(d->out, "\n");
}

static void value_axis_along(struct drawing *d, const struct axis *a)
{
	char v[80];

	for (unsigned i = 0; i < d->x.n_ticks; i++) {
		double x = scale_at(&d->x, d->x.tick[i]);
		double from[2] = { x, a->grid ? d->f.y0 : d->f.y1 }, to[2] = { x, d->f.y1 + 4 };
		put_rule(d->out, a->grid ? "g" : "e", from, to);
		put_text_at(d->out, "t", x, d->f.y1 + 18, "middle");
		put_words(d->out, plot_num(v, sizeof v, tick_fmt(a), d->x.tick[i]));
	}
	buf_str(d->out, "\n");
}

/* Every name where there is room, else every second, third ... */
static void names_along(struct drawing *d)
{
	const struct plot *p = d->p;
	unsigned n = p->n_categories, step = 1, named = 0;
	double slot = (d->f.x1 - d->f.x0) / (n ? n : 1);

	for (unsigned i = 0; i < n; i++)
		named += *p->category[i] != 0;
	/* a sheet that leaves names out itself has made the room */
	while (named * 2 > n && slot * step < widest_category(p) + 6 && step < n)
		step++;
	for (unsigned i = 0; i < n; i += step) {
		double x = d->f.x0 + slot * (i + 0.5);
		if (p->c->x.on_tick && n > 1)
			x = d->f.x0 + (d->f.x1 - d->f.x0) * i / (n - 1);
		if (!*p->category[i])
			continue;
		put_text_at(d->out, "t", x, d->f.y1 + 18, "middle");
		put_words(d->out, p->category[i]);
	}
	buf_str(d->out, "\n");
}

static void names_up(struct drawing *d)
{
	unsigned n = d->p->n_categories;

	for (unsigned i = 0; i < n; i++) {
		put_text_at(d->out, "t", d->f.x0 - 8,
			    d->f.y1 - (d->f.y1 - d->f.y0) * (i + 0.5) / n + 4, "end");
		put_words(d->out, d->p->category[i]);
	}
}

static void axis_titles(struct drawing *d, double x_title_y)
{
	const struct chart *c = d->p->c;
	double middle = (d->f.y0 + d->f.y1) / 2;

	if (c->x.title) {
		put_text_at(d->out, "a", (d->f.x0 + d->f.x1) / 2, x_title_y, "middle");
		put_words(d->out, c->x.title);
	}
	if (!c->y.title)
		return;
	double width = svg_text_width(c->y.title, NAME_PX, true), room = d->f.h - 8;
	buf_str(d->out, "<text class=\"a\" text-anchor=\"middle\" transform=\"translate(16 ");
	svg_len(d->out,
		fmin(fmax(middle, width / 2 + 4), fmax(d->f.h - width / 2 - 4, d->f.h / 2)));
	buf_str(d->out, ")rotate(-90)\"");
	if (width > room) { /* squeezed into the height of a low panel */
		buf_str(d->out, " lengthAdjust=\"spacingAndGlyphs\" textLength=\"");
		svg_len(d->out, room);
		buf_str(d->out, "\"");
	}
	buf_str(d->out, ">");
	put_words(d->out, c->y.title);
	buf_str(d->out, "\n");
}

static void put_axes(struct drawing *d, double x_title_y)
{
	const struct chart *c = d->p->c;
	double corner[2] = { d->f.x0, d->f.y1 }, top[2] = { d->f.x0, d->f.y0 };
	double end[2] = { d->f.x1, d->f.y1 };

	if (c->kind == CHART_BAR) {
		value_axis_along(d, &c->x);
		names_up(d);
	} else {
		value_axis_up(d, &c->y);
		if (plot_named(c))
			names_along(d);
		else
			value_axis_along(d, &c->x);
	}
	axis_titles(d, x_title_y);
	put_rule(d->out, "e", top, corner);
	put_rule(d->out, "e", corner, end);
	buf_str(d->out, "\n");
}

/* ---- layout ---- */

static void set_scales(struct drawing *d)
{
	const struct chart *c = d->p->c;
	bool lying = c->kind == CHART_BAR, bars = c->kind != CHART_LINE && c->kind != CHART_SCATTER;
	double low, high;

	span(d->p, 'y', lying ? c->x.log : c->y.log, &low, &high);
	if (lying) {
		scale_init(&d->x, &c->x, low, high * (isfinite(c->x.max) ? 1 : 1.1), true);
		return;
	}
	scale_init(&d->y, &c->y, low, high, bars);
	if (plot_named(c))
		return;
	span(d->p, 'x', c->x.log, &low, &high);
	scale_init(&d->x, &c->x, low, high, false);
}

static double left_margin(const struct drawing *d)
{
	const struct chart *c = d->p->c;
	double label = c->kind == CHART_BAR ? widest_category(d->p) : widest_tick(&d->y, &c->y);

	return fmin(fmax(LEFT_PX, label + (c->y.title ? 38 : 18)), d->f.w * 0.45);
}

/* Returns where the title of the x axis stands. */
static double set_frame(struct drawing *d)
{
	const struct chart *c = d->p->c;
	bool beside = legend_beside(d);
	double lines = c->legend == LEGEND_NONE || beside ? 0 : legend_lines(d, 0, false);
	double top = (c->title ? 30 : 12) + (c->legend == LEGEND_TOP ? lines + 4 : 0);
	double bottom = 26 + (c->x.title ? 20 : 0) + (c->legend == LEGEND_TOP ? 0 : lines);

	d->f.x0 = left_margin(d);
	/* the last label along x stands half beyond the plot */
	double right = fmax(26, d->x.n_ticks ? widest_tick(&d->x, &c->x) / 2 + 6 : 0);
	d->f.x1 = d->f.w - (beside ? legend_width(d->p) + 20 : right);
	d->f.y0 = top;
	d->f.y1 = fmax(d->f.h - bottom, top + 40);
	d->x.from = d->f.x0;
	d->x.to = d->f.x1;
	d->y.from = d->f.y1;
	d->y.to = d->f.y0;
	scale_thin(&d->y, (unsigned)((d->f.y1 - d->f.y0) / 17));
	if (d->x.n_ticks)
		scale_thin(&d->x,
			   (unsigned)((d->f.x1 - d->f.x0) / (widest_tick(&d->x, &c->x) + 14)));
	if (c->title) {
		put_text_at(d->out, "h", d->f.w / 2, 19, "middle");
		put_words(d->out, c->title);
	}
	if (beside)
		put_column(d);
	else if (lines > 0)
		legend_lines(d, c->legend == LEGEND_TOP ? top - lines - 2 : d->f.h - lines - 2,
			     true);
	return d->f.y1 + 37;
}

/* ---- words for those who cannot see it ---- */

static void describe_series(struct buf *out, const struct plot_line *l, enum numfmt fmt)
{
	double low = INFINITY, high = -INFINITY;
	unsigned n = 0;
	char a[80], b[80];

	for (unsigned i = 0; i < l->n; i++) {
		if (!isfinite(l->y[i]))
			continue;
		low = fmin(low, l->y[i]);
		high = fmax(high, l->y[i]);
		n++;
	}
	html_text(out, l->s->name ? l->s->name : "series");
	if (n)
		buf_fmt(out, ": %u value%s from %s to %s", n, n == 1 ? "" : "s",
			plot_num(a, sizeof a, fmt, low), plot_num(b, sizeof b, fmt, high));
	else
		buf_str(out, ": no value");
}

static void describe(const struct plot *p, const char *name, struct buf *out)
{
	static const char *const kinds[] = { "Line chart",	"Scatter chart", "Column chart",
					     "Stacked columns", "Stacked areas", "Bar chart" };

	buf_str(out, "<title>");
	html_text(out, name);
	buf_str(out, "</title><desc>");
	buf_fmt(out, "%s. ", kinds[p->c->kind]);
	for (unsigned i = 0; i < 2; i++) {
		const struct axis *a = i ? &p->c->y : &p->c->x;
		if (!a->title)
			continue;
		buf_str(out, i ? "Upwards: " : "Along: ");
		html_text(out, a->title);
		buf_str(out, a->log ? " (log). " : ". ");
	}
	for (unsigned i = 0; i < p->n_lines; i++) {
		describe_series(out, &p->line[i], NUM_GENERAL);
		buf_str(out, i + 1 < p->n_lines ? "; " : ".");
	}
	buf_str(out, "</desc>\n");
}

void svg_plot(const struct plot *p, const char *name, struct buf *out)
{
	double w = p->c->width_px, shrink = fmin(1, WIDEST / (w > 0 ? w : WIDEST));
	struct drawing d = { .p = p, .out = out };

	d.f.w = fmax(w * shrink, NARROWEST);
	d.f.h = fmax(p->c->height_px * (shrink < 1 ? (shrink + 1) / 2 : 1), 180);
	buf_str(out, "<svg viewBox=\"0 0 ");
	svg_len(out, d.f.w);
	buf_str(out, " ");
	svg_len(out, d.f.h);
	buf_fmt(out, "\" role=\"img\" style=\"min-width:%.0fpx\">", d.f.w * SVG_LEAST);
	describe(p, name, out);
	set_scales(&d);
	put_axes(&d, set_frame(&d));
	/* what lies outside of the plot is cut off, a point on its edge is not */
	const double pad = 8, top = 16;
	buf_str(out, "<svg x=\"");
	svg_len(out, d.f.x0 - pad);
	buf_str(out, "\" y=\"");
	svg_len(out, d.f.y0 - top);
	buf_str(out, "\" width=\"");
	svg_len(out, d.f.x1 - d.f.x0 + 2 * pad);
	buf_str(out, "\" height=\"");
	svg_len(out, d.f.y1 - d.f.y0 + top + pad);
	buf_str(out, "\"><g transform=\"translate(");
	svg_len(out, pad - d.f.x0);
	buf_str(out, " ");
	svg_len(out, top - d.f.y0);
	buf_str(out, ")\">\n");
	svg_marks(&d);
	buf_str(out, "</g></svg></svg>\n");
}
