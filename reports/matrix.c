/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/matrix.h"
#include "reports/plot3d.h"

static void add_mix(struct matrix *m, double v)
{
	unsigned at = 0;

	if (!isfinite(v))
		return;
	while (at < m->n_mix && m->mix[at] < v)
		at++;
	if (m->n_mix == MATRIX_MAX || (at < m->n_mix && m->mix[at] == v))
		return;
	memmove(m->mix + at + 1, m->mix + at, (m->n_mix - at) * sizeof *m->mix);
	m->mix[at] = v;
	m->n_mix++;
}

static void add_size(struct matrix *m, int64_t v)
{
	unsigned at = 0;

	if (v <= 0)
		return;
	while (at < m->n_size && m->size[at] < v)
		at++;
	if (m->n_size == MATRIX_MAX || (at < m->n_size && m->size[at] == v))
		return;
	memmove(m->size + at + 1, m->size + at, (m->n_size - at) * sizeof *m->size);
	m->size[at] = v;
	m->n_size++;
}

void matrix_init(struct matrix *m, const struct dataset *d, const struct test *t,
		 const struct section *s)
{
	*m = (struct matrix){ .s = s };
	for (unsigned i = 0; i < s->n_combos; i++) {
		add_mix(m, s->combo[i].read_pct);
		add_size(m, s->combo[i].block_bytes);
	}
	for (unsigned i = 0; i < d->n_na; i++) {
		if (strcmp(d->na[i].test, t->name))
			continue;
		add_mix(m, d->na[i].read_pct);
		add_size(m, d->na[i].block_bytes);
	}
	for (unsigned i = 0; i < m->n_size; i++) {
		for (unsigned k = 0; k < m->n_mix; k++) {
			m->cell[i][k] = section_combo(s, m->mix[k], m->size[i]);
			m->na[i][k] = dataset_na(d, t->name, m->mix[k], m->size[i]);
		}
	}
}

void matrix_put_missing(struct grid_sheet *s, struct area at, const struct matrix *m, unsigned size,
			unsigned mix)
{
	if (m->na[size][mix])
		put_fmt(s, at, LOOK_NA, "n/a (%s)", m->na[size][mix]);
	else
		put_text(s, at, LOOK_NA, "n/a");
}

double matrix_value(const struct matrix *m, unsigned size, unsigned mix, enum matrix_value v)
{
	const struct combo *c = m->cell[size][mix];

	if (!c || !c->n_window)
		return NAN;
	if (v == MATRIX_IOPS)
		return c->iops;
	if (v == MATRIX_ART_MS)
		return c->art_rounds_ns / 1e6; /* LAT: spec 9 */
	return c->mrt_ns < 0 ? NAN : (double)c->mrt_ns / 1e6;
}

void matrix_picture(struct page *p, const struct matrix *m, enum matrix_value v, const char *title,
		    const char *alt)
{
	struct arena *a = &p->s->grid->arena;
	struct plot3d *q = arena_new(a, struct plot3d);

	q->n_x = m->n_size;
	q->n_z = m->n_mix;
	q->x_title = "Block size (KiB)";
	q->y_title = title;
	q->z_title = "R/W mix %";
	q->width = 2080;
	q->height = 2 * 29 * ROW_PX;
	for (unsigned i = 0; i < m->n_size; i++) {
		q->x_label[i] = kib_text(a, m->size[i]);
		for (unsigned k = 0; k < m->n_mix; k++)
			q->value[i][k] = matrix_value(m, i, k, v);
	}
	for (unsigned k = 0; k < m->n_mix; k++) {
		q->z_label[k] = mix_text(a, m->mix[k]);
		q->z_color[k] = mix_color(m->mix[k]);
	}
	struct picture pic = {
		.row = p->row, .col = 1, .dx_px = 26, .dy_px = 6, .plot = q, .alt = alt
	};
	grid_picture(p->s, &pic);
}
