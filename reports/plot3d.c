/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "reports/canvas.h"
#include "reports/plot3d.h"

#define INK 0x404040
#define WALL_EDGE 0xC3CAD9

/* Parallel projection: the viewer stands to the right of and above the front edge. */
struct view {
	struct canvas canvas;
	const struct plot3d *p;
	struct point2 origin, x, z, y; /* screen vectors of the whole axes */
	double top; /* value at the upper end of the value axis */
	double unit; /* pixels of a capital letter of the labels */
};

double nice_step(double max)
{
	if (!(max > 0))
		return 1;
	double power = pow(10, floor(log10(max))), m = max / power;

	return power * (m <= 1 ? 0.2 : m <= 1.5 ? 0.25 : m <= 2.5 ? 0.5 : m <= 5 ? 1 : 2);
}

static struct point2 place(const struct view *v, double x, double z, double y)
{
	return (struct point2){ v->origin.x + v->x.x * x + v->z.x * z + v->y.x * y,
				v->origin.y + v->x.y * x + v->z.y * z + v->y.y * y };
}

static uint32_t shade(uint32_t rgb, double k)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < 3; i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 255);
		c = k <= 1 ? c * k : c + (255 - c) * (k - 1);
		out = out << 8 | (uint32_t)lrint(fmin(c, 255));
	}
	return out;
}

static void face(struct view *v, const struct point2 p[4], uint32_t rgb, uint32_t edge)
{
	canvas_polygon(&v->canvas, p, 4, rgb);
	for (unsigned i = 0; i < 4; i++)
		canvas_line(&v->canvas, p[i], p[(i + 1) % 4], v->unit / 14, edge);
}

static void draw_room(struct view *v)
{
	struct point2 left[4] = { place(v, 0, 0, 0), place(v, 0, 1, 0), place(v, 0, 1, 1),
				  place(v, 0, 0, 1) };
	struct point2 back[4] = { place(v, 0, 1, 0), place(v, 1, 1, 0), place(v, 1, 1, 1),
				  place(v, 0, 1, 1) };
	struct point2 ground[4] = { place(v, 0, 0, 0), place(v, 1, 0, 0), place(v, 1, 1, 0),
				    place(v, 0, 1, 0) };

	face(v, left, 0xE9EDF5, WALL_EDGE);
	face(v, back, 0xF5F6FA, WALL_EDGE);
	face(v, ground, 0xF0F2F7, WALL_EDGE);
}

static const char *grouped(char out[40], double value)
{
	char digits[32];
	char *o = out;

	if (value < 1000 && value != floor(value)) {
		snprintf(out, 40, "%.4g", value);
		return out;
	}
	int n = snprintf(digits, sizeof digits, "%.0f", value);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			*o++ = ',';
		*o++ = digits[i];
	}
	*o = 0;
	return out;
}

static void draw_scale(struct view *v, double step)
{
	struct text_style s = { v->unit, false, 'r', false, INK };
	double widest = 0;
	char text[40];

	for (unsigned i = 0; i * step <= v->top * 1.0001; i++) {
		double y = i * step / v->top;
		struct point2 a = place(v, 0, 0, y), b = place(v, 0, 1, y), c = place(v, 1, 1, y);
		canvas_line(&v->canvas, a, b, v->unit / 14, WALL_EDGE);
		canvas_line(&v->canvas, b, c, v->unit / 14, WALL_EDGE);
		canvas_line(&v->canvas, (struct point2){ a.x - v->unit * 0.6, a.y }, a,
			    v->unit / 12, 0x808080);
		grouped(text, i * step);
		widest = fmax(widest, canvas_text_width(&s, text));
		canvas_text(&v->canvas, (struct point2){ a.x - v->unit * 1.1, a.y }, &s, text);
	}
	struct text_style t = { v->unit * 1.1, true, 'c', true, INK };
	struct point2 mid = place(v, 0, 0, 0.5);
	mid.x -= v->unit * 2.8 + widest;
	canvas_text(&v->canvas, mid, &t, v->p->y_title);
}

static void draw_box(struct view *v, unsigned x, unsigned z)
{
	double w = 1.0 / v->p->n_x, d = 1.0 / v->p->n_z;
	double mx = v->p->n_x > 4 ? 0.19 : 0.3,
	       mz = v->p->n_z > 4 ? 0.17 : 0.3; /* gaps beside it */
	double x0 = w * (x + mx), x1 = w * (x + 1 - mx), z0 = d * (z + mz), z1 = d * (z + 1 - mz);
	double y = v->p->value[x][z] / v->top;
	uint32_t c = v->p->z_color[z], edge = shade(c, 0.55);
	struct point2 front[4] = { place(v, x0, z0, 0), place(v, x1, z0, 0), place(v, x1, z0, y),
				   place(v, x0, z0, y) };
	struct point2 right[4] = { place(v, x1, z0, 0), place(v, x1, z1, 0), place(v, x1, z1, y),
				   place(v, x1, z0, y) };
	struct point2 roof[4] = { place(v, x0, z0, y), place(v, x1, z0, y), place(v, x1, z1, y),
				  place(v, x0, z1, y) };

	face(v, right, shade(c, 0.68), edge);
	face(v, front, c, edge);
	face(v, roof, shade(c, 1.35), edge);
}

/* From the far corner to the near one, so that a nearer column covers what is behind it. */
static void draw_boxes(struct view *v)
{
	for (unsigned z = v->p->n_z; z-- > 0;)
		for (unsigned x = 0; x < v->p->n_x; x++)
			if (isfinite(v->p->value[x][z]) && v->p->value[x][z] >= 0)
				draw_box(v, x, z);
}

static void draw_names(struct view *v)
{
	struct text_style s = { v->unit, false, 'c', false, INK };
	struct text_style t = { v->unit * 1.1, true, 'c', false, INK };
	const struct plot3d *p = v->p;

	for (unsigned i = 0; i < p->n_x; i++) {
		struct point2 at = place(v, (i + 0.5) / p->n_x, 0, 0);
		canvas_text(&v->canvas,
			    (struct point2){ at.x - v->unit * 0.4, at.y + v->unit * 1.5 }, &s,
			    p->x_label[i]);
	}
	s.anchor = 'l';
	for (unsigned i = 0; i < p->n_z; i++) {
		struct point2 at = place(v, 1, (i + 0.5) / p->n_z, 0);
		canvas_text(&v->canvas,
			    (struct point2){ at.x + v->unit * 0.9, at.y + v->unit * 0.3 }, &s,
			    p->z_label[i]);
	}
	struct point2 mid = place(v, 0.36, 0, 0);
	canvas_text(&v->canvas, (struct point2){ mid.x, mid.y + v->unit * 5 }, &t, p->x_title);
	mid = place(v, 1, 0.5, 0);
	t.anchor = 'l';
	canvas_text(&v->canvas, (struct point2){ mid.x + v->unit * 6.6, mid.y + v->unit * 2 }, &t,
		    p->z_title);
}

static double highest(const struct plot3d *p)
{
	double max = 0;

	for (unsigned x = 0; x < p->n_x; x++)
		for (unsigned z = 0; z < p->n_z; z++)
			if (isfinite(p->value[x][z]))
				max = fmax(max, p->value[x][z]);
	return max;
}

/* On the canvas of @v, which is as large as the plot asks. */
static void draw(struct view *v)
{
	const struct plot3d *p = v->p;
	double w = p->width, h = p->height, max = highest(p), step = nice_step(max);

	v->unit = h / 52;
	v->top = max > 0 ? ceil(max / step) * step : 1;
	v->origin = (struct point2){ w * 0.17, h * 0.69 };
	v->x = (struct point2){ w * 0.46, h * 0.165 };
	v->z = (struct point2){ w * 0.21, -h * 0.275 };
	v->y = (struct point2){ 0, -h * 0.375 };
	draw_room(v);
	draw_scale(v, step);
	draw_boxes(v);
	draw_names(v);
}

void plot3d_png(const struct plot3d *p, struct buf *out)
{
	struct view v = { .p = p };

	canvas_init(&v.canvas, p->width, p->height);
	draw(&v);
	canvas_png(&v.canvas, 192, out);
	canvas_release(&v.canvas);
}

void plot3d_svg(const struct plot3d *p, struct buf *out)
{
	struct view v = { .p = p };

	canvas_init_svg(&v.canvas, p->width, p->height, out);
	draw(&v);
	canvas_end_svg(&v.canvas);
}
