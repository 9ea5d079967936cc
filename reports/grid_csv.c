/* SPDX-License-Identifier: MIT */
/* Sheets as CSV (RFC 4180): comma, CR LF, quotes where needed, as many fields in each row; UTF-8 without a mark. */
#include <stdlib.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "reports/grid.h"

static int by_place(const void *a, const void *b)
{
	const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;

	if (x->at.row != y->at.row)
		return x->at.row < y->at.row ? -1 : 1;
	return x->at.col < y->at.col ? -1 : x->at.col > y->at.col;
}

static void put_string(struct buf *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		buf_str(out, s);
		return;
	}
	buf_str(out, "\"");
	for (; *s; s++)
		buf_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	buf_str(out, "\"");
}

/* What a spreadsheet that opens the file would compute, in quotes or not; a lone sign or a number is none. */
static bool would_compute(const char *s)
{
	double v;

	s += strspn(s, " ");
	return *s && strchr("=+-@", *s) && s[1] && parse_number(s, &v);
}

static void put_value(struct buf *out, const struct cell *c)
{
	struct buf text = BUF_INIT;
	char tmp[40];

	if (c->kind == CELL_NUMBER || c->kind == CELL_FORMULA) {
		buf_str(out, fmt_double(tmp, sizeof tmp, c->value));
		return;
	}
	buf_fmt(&text, "%s%s", would_compute(c->text) ? "'" : "", c->text);
	put_string(out, buf_cstr(&text));
	buf_release(&text);
}

static void put_commas(struct buf *out, uint32_t n)
{
	while (n--)
		buf_str(out, ",");
}

void grid_write_csv(const struct grid_sheet *s, struct buf *out)
{
	const struct cell **v = calloc(s->n_cells + 1, sizeof *v);
	uint32_t cols = 1, row = 0, col = 0;

	BUG_ON(!v);
	for (size_t i = 0; i < s->n_cells; i++) {
		v[i] = &s->cell[i];
		cols = v[i]->at.col2 + 1 > cols ? v[i]->at.col2 + 1 : cols;
	}
	qsort(v, s->n_cells, sizeof *v, by_place);
	for (size_t i = 0; i < s->n_cells; i++) {
		for (; row < v[i]->at.row; row++, col = 0) {
			put_commas(out, cols - 1 - col);
			buf_str(out, "\r\n");
		}
		put_commas(out, v[i]->at.col - col);
		col = v[i]->at.col;
		put_value(out, v[i]);
	}
	put_commas(out, cols - 1 - col);
	buf_str(out, "\r\n");
	free(v);
}
