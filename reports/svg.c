/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/canvas.h"
#include "reports/svg.h"

void html_text(struct buf *out, const char *s)
{
	struct arena a = ARENA_INIT;

	for (const char *p = grid_clean(&a, s); *p; p++) {
		switch (*p) {
		case '&':
			buf_str(out, "&amp;");
			break;
		case '<':
			buf_str(out, "&lt;");
			break;
		case '>':
			buf_str(out, "&gt;");
			break;
		case '"':
			buf_str(out, "&quot;");
			break;
		case '\'':
			buf_str(out, "&#39;");
			break;
		default:
			buf_add(out, p, 1);
		}
	}
	arena_release(&a);
}

const char *html_num(char *out, size_t n, enum numfmt fmt, double v)
{
	char plain[64], *o = out;

	numfmt_text(plain, sizeof plain, fmt, v);
	const char *digits = plain + strspn(plain, "-"), *p = plain;
	size_t whole = strspn(digits, "0123456789");
	if (!strchr(numfmt_code(fmt), ',') || whole < 4 || n < 80) {
		snprintf(out, n, "%s", plain);
		return out;
	}
	while (p < digits)
		*o++ = *p++;
	for (size_t left = whole; left; left--) {
		if (left < whole && left % 3 == 0)
			*o++ = ',';
		*o++ = *p++;
	}
	snprintf(o, n - (size_t)(o - out), "%s", p);
	return out;
}

void svg_len(struct buf *out, double v)
{
	double tenths = rint(v * 10);

	if (!isfinite(tenths))
		tenths = 0;
	if (fmod(tenths, 10) == 0)
		buf_fmt(out, "%.0f", tenths / 10 + 0.0);
	else
		buf_fmt(out, "%.1f", tenths / 10);
}

double svg_text_width(const char *s, double font_px, bool bold)
{
	/* The strokes of the picture's letters are a little wider than those of a text font: room to spare. */
	const struct text_style style = { .size = font_px * 0.62, .bold = bold };

	return *s ? canvas_text_width(&style, s) : 0;
}

void svg_color(struct buf *out, uint32_t rgb)
{
	buf_fmt(out, "#%06x", (unsigned)(rgb & 0xffffff));
}

/* ---- cells by their place ---- */

struct sheet_index {
	const char *name;
	const struct cell **cell;
	size_t n;
};

struct grid_index {
	struct sheet_index *sheet;
	unsigned n;
};

static int by_place(const void *a, const void *b)
{
	const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;

	if (x->at.row != y->at.row)
		return x->at.row < y->at.row ? -1 : 1;
	return x->at.col < y->at.col ? -1 : x->at.col > y->at.col;
}

struct grid_index *grid_index_new(const struct grid *g)
{
	struct grid_index *ix = calloc(1, sizeof *ix);

	BUG_ON(!ix);
	ix->sheet = calloc(g->n_sheets + 1, sizeof *ix->sheet);
	BUG_ON(!ix->sheet);
	for (const struct grid_sheet *s = g->first; s; s = s->next) {
		struct sheet_index *to = &ix->sheet[ix->n++];
		*to = (struct sheet_index){ s->name, calloc(s->n_cells + 1, sizeof *to->cell),
					    s->n_cells };
		BUG_ON(!to->cell);
		for (size_t i = 0; i < s->n_cells; i++)
			to->cell[i] = &s->cell[i];
		qsort(to->cell, to->n, sizeof *to->cell, by_place);
	}
	return ix;
}

void grid_index_free(struct grid_index *ix)
{
	for (unsigned i = 0; i < ix->n; i++)
		free(ix->sheet[i].cell);
	free(ix->sheet);
	free(ix);
}

const struct cell *grid_index_cell(const struct grid_index *ix, const char *sheet, uint32_t row,
				   uint32_t col)
{
	struct cell key = { .at = area_at(row, col) };
	const struct cell *k = &key;

	for (unsigned i = 0; i < ix->n; i++) {
		const struct sheet_index *s = &ix->sheet[i];
		if (strcmp(s->name, sheet))
			continue;
		const struct cell **hit = bsearch(&k, s->cell, s->n, sizeof *s->cell, by_place);
		return hit ? *hit : NULL;
	}
	return NULL;
}
