/* SPDX-License-Identifier: MIT */
/*
 * Sheets as plain text: rows of the same shape that follow one another become an aligned table. The same cells as in the
 * workbook, rounded alike; data sheets are named, not printed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid.h"

#define CELLS_MAX 64

struct line { /* cells of one row, from left to right */
	const struct cell *cell[CELLS_MAX];
	unsigned n;
};

static int by_place(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->at.row != y->at.row)
		return x->at.row < y->at.row ? -1 : 1;
	return x->at.col < y->at.col ? -1 : x->at.col > y->at.col;
}

/* In reading order. A cell over several rows stands in the first and leaves a blank in the others. */
static struct cell *sorted(const struct grid_sheet *s, size_t *ret_n)
{
	size_t n = 0, all = 1;

	for (size_t i = 0; i < s->n_cells; i++)
		all += s->cell[i].at.row2 - s->cell[i].at.row + 1;
	struct cell *v = malloc(all * sizeof *v);
	BUG_ON(!v);
	for (size_t i = 0; i < s->n_cells; i++) {
		v[n++] = s->cell[i];
		for (uint32_t r = s->cell[i].at.row + 1; r <= s->cell[i].at.row2; r++) {
			v[n] = s->cell[i];
			v[n].kind = CELL_TEXT;
			v[n].text = "";
			v[n++].at.row = r;
		}
	}
	qsort(v, n, sizeof *v, by_place);
	*ret_n = n;
	return v;
}

static const char *cell_text(const struct cell *c, char out[64])
{
	if (c->kind == CELL_NUMBER || c->kind == CELL_FORMULA)
		return numfmt_text(out, 64, STYLE_FMT(c->style), c->value);
	return c->text;
}

/* Characters, not bytes. */
static size_t shown_len(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool same_shape(const struct line *a, const struct line *b)
{
	if (a->n != b->n || a->n < 2)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (a->cell[i]->at.col != b->cell[i]->at.col ||
		    a->cell[i]->at.col2 != b->cell[i]->at.col2)
			return false;
	return true;
}

static void add_blanks(struct buf *out, size_t n)
{
	while (n--)
		buf_str(out, " ");
}

static void print_cell(struct buf *out, const struct cell *c, size_t width, bool last)
{
	char tmp[64];
	const char *s = cell_text(c, tmp);
	size_t len = shown_len(s), pad = width > len ? width - len : 0;
	bool right = c->kind == CELL_NUMBER || c->kind == CELL_FORMULA;

	if (right)
		add_blanks(out, pad);
	buf_str(out, s);
	if (!right && !last)
		add_blanks(out, pad);
	if (!last)
		buf_str(out, "  ");
}

static void print_table(struct buf *out, const struct line *l, size_t n)
{
	size_t width[CELLS_MAX] = { 0 };
	char tmp[64];

	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < l[i].n; k++) {
			size_t w = shown_len(cell_text(l[i].cell[k], tmp));
			if (w > width[k] && l[i].n > 1)
				width[k] = w;
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < l[i].n; k++)
			print_cell(out, l[i].cell[k], width[k], k + 1 == l[i].n);
		buf_str(out, "\n");
	}
}

static size_t take_lines(const struct cell *v, size_t cells, struct line *l)
{
	size_t n = 0;

	for (size_t i = 0; i < cells; i++) {
		if (i == 0 || v[i].at.row != v[i - 1].at.row)
			l[n++].n = 0;
		struct line *at = &l[n - 1];
		if (at->n < CELLS_MAX)
			at->cell[at->n++] = &v[i];
	}
	return n;
}

static uint32_t row_of(const struct line *l)
{
	return l->cell[0]->at.row;
}

static void print_sheet(struct buf *out, const struct grid_sheet *s)
{
	size_t cells, n, group;
	struct cell *v = sorted(s, &cells);
	struct line *l = calloc(cells + 1, sizeof *l);

	BUG_ON(!l);
	n = take_lines(v, cells, l);
	for (size_t i = 0; i < n; i += group) {
		if (i && row_of(&l[i]) > row_of(&l[i - 1]) + 1)
			buf_str(out, "\n");
		group = 1;
		while (i + group < n && same_shape(&l[i], &l[i + group]) &&
		       row_of(&l[i + group]) == row_of(&l[i + group - 1]) + 1)
			group++;
		print_table(out, l + i, group);
	}
	free(l);
	free(v);
}

void grid_write_text(const struct grid *g, struct buf *out)
{
	for (const struct grid_sheet *s = g->first; s; s = s->next) {
		if (s->role == ROLE_DATA)
			continue;
		buf_fmt(out, "%s======== %s ========\n", s == g->first ? "" : "\n\n", s->name);
		print_sheet(out, s);
	}
	for (const struct grid_sheet *s = g->first; s; s = s->next)
		if (s->role == ROLE_DATA)
			buf_fmt(out, "%s%s: %u rows, in the workbook (.xlsx)", "\n", s->name,
				s->n_rows ? s->n_rows - 1 : 0);
	buf_str(out, "\n");
}
