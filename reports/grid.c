/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid.h"
#include "reports/plot3d.h"

#define SHEET_NAME_MAX 31
#define CELL_TEXT_MAX 32767
#define COLUMNS_MAX 64

void grid_init(struct grid *g)
{
	*g = (struct grid){ .prefix = "", .max_rows = 1048576, .title = "", .subject = "" };
	g->author = g->footer_left = g->footer_right = "";
	g->command = "pts report RUN";
}

static void sheet_free(struct grid_sheet *s)
{
	free(s->cell);
	free(s->chart);
	free(s->picture);
	free(s->scale);
	free(s->height);
	free(s->width);
	free(s->page_break);
	free(s->taken);
}

void grid_release(struct grid *g)
{
	for (struct grid_sheet *s = g->first; s; s = s->next)
		sheet_free(s);
	arena_release(&g->arena);
}

static void grid_mistake(struct grid_sheet *s, const char *what, struct area at)
{
	struct grid *g = s->grid;

	if (!g->rc)
		g->rc = err_set(&g->err, -EINVAL, "sheet %s: %s at row %u, column %u", s->name,
				what, at.row + 1, at.col + 1);
}

/* Room for one more entry of a growing array; zeroed. */
static void *grow(void *array, size_t *n, size_t *cap, size_t size)
{
	char **base = array;

	if (*n == *cap) {
		*cap = *cap ? *cap * 2 : 32;
		*base = realloc(*base, *cap * size);
		BUG_ON(!*base);
	}
	void *p = *base + *n * size;
	memset(p, 0, size);
	++*n;
	return p;
}

/* Length of the UTF-8 sequence at @s, 0 when it is not one that XML may hold. */
static unsigned utf8_len(const unsigned char *s)
{
	unsigned n = s[0] < 0x80 ? 1 : (s[0] & 0xe0) == 0xc0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;
	uint32_t code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	if (n == 1)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (n == 4 && (s[0] & 0xf8) != 0xf0)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
	    (code & 0xfffe) == 0xfffe || (code >= 0x80 && code < 0xa0))
		return 0;
	return n;
}

const char *grid_clean(struct arena *a, const char *s)
{
	size_t len = strlen(s);

	while (len && (s[len - 1] == ' ' || s[len - 1] == '\n'))
		len--;
	while (len && *s == ' ')
		s++, len--;
	if (len > CELL_TEXT_MAX)
		len = CELL_TEXT_MAX;
	char *out = arena_alloc(a, len + 1), *o = out;
	for (size_t i = 0; i < len;) {
		unsigned n = utf8_len((const unsigned char *)s + i);
		if (!n || i + n > len) {
			*o++ = s[i] == '\n' || s[i] == '\t' ? ' ' : '?';
			i++;
			continue;
		}
		memcpy(o, s + i, n);
		o += n, i += n;
	}
	*o = 0;
	return out;
}

const char *grid_sheet_name(struct grid *g, const char *name)
{
	char *out = arena_fmt(&g->arena, "%s%s", g->prefix, name);

	for (char *p = out; *p; p++)
		if (strchr(":\\/?*[]'", *p) || (unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '_';
	if (strlen(out) > SHEET_NAME_MAX)
		out[SHEET_NAME_MAX] = 0;
	return out;
}

struct grid_sheet *grid_find(const struct grid *g, const char *name)
{
	for (struct grid_sheet *s = g->first; s; s = s->next)
		if (!strncmp(s->name, g->prefix, strlen(g->prefix)) &&
		    !strcmp(s->name + strlen(g->prefix), name))
			return s;
	return NULL;
}

static bool name_taken(const struct grid *g, const char *name)
{
	for (const struct grid_sheet *s = g->first; s; s = s->next)
		if (!strcasecmp(s->name, name))
			return true;
	return false;
}

/* Pages stand before data, whatever the order in which they were made. */
static void link_sheet(struct grid *g, struct grid_sheet *s)
{
	struct grid_sheet **at = &g->first;

	while (*at && !(s->role == ROLE_PAGE && (*at)->role == ROLE_DATA))
		at = &(*at)->next;
	s->next = *at;
	*at = s;
}

struct grid_sheet *grid_sheet(struct grid *g, const char *name, enum sheet_role role)
{
	struct grid_sheet *s = arena_new(&g->arena, struct grid_sheet);
	const char *full = grid_sheet_name(g, name);

	for (unsigned i = 2; name_taken(g, full) || !*full; i++)
		full = arena_fmt(&g->arena, "%.26s %u", grid_sheet_name(g, name), i);
	s->grid = g;
	s->name = full;
	s->role = role;
	link_sheet(g, s);
	g->n_sheets++;
	return s;
}

/* Marks the area as used; false (and a mistake) when a part of it was used before. */
static bool take(struct grid_sheet *s, struct area at)
{
	if (at.row2 < at.row || at.col2 < at.col || at.col2 >= COLUMNS_MAX) {
		grid_mistake(s, "bad area", at);
		return false;
	}
	if (at.row2 >= s->n_taken) {
		size_t n = (size_t)at.row2 * 2 + 64;
		s->taken = realloc(s->taken, n * sizeof *s->taken);
		BUG_ON(!s->taken);
		memset(s->taken + s->n_taken, 0, (n - s->n_taken) * sizeof *s->taken);
		s->n_taken = n;
	}
	uint64_t bits = (~0ull >> (63 - (at.col2 - at.col))) << at.col;
	for (uint32_t r = at.row; r <= at.row2; r++) {
		if (s->taken[r] & bits) {
			grid_mistake(s, "areas overlap", at);
			return false;
		}
		s->taken[r] |= bits;
	}
	return true;
}

static struct cell *add_cell(struct grid_sheet *s, struct area at, unsigned style)
{
	if (!take(s, at))
		return &s->grid->sink;
	struct cell *c = grow(&s->cell, &s->n_cells, &s->cap_cells, sizeof *c);
	c->at = at;
	c->style = style;
	c->value = NAN;
	c->text = "";
	if (at.row2 + 1 > s->n_rows)
		s->n_rows = at.row2 + 1;
	return c;
}

void put_text(struct grid_sheet *s, struct area at, enum look look, const char *text)
{
	struct cell *c = add_cell(s, at, STYLE(look, NUM_GENERAL));

	c->kind = CELL_TEXT;
	c->text = grid_clean(&s->grid->arena, text);
}

__attribute__((format(printf, 2, 0))) static const char *format(struct grid_sheet *s,
								const char *fmt, va_list ap)
{
	char tmp[4096];

	vsnprintf(tmp, sizeof tmp, fmt, ap);
	return arena_strdup(&s->grid->arena, tmp);
}

void put_fmt(struct grid_sheet *s, struct area at, enum look look, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_text(s, at, look, format(s, fmt, ap));
	va_end(ap);
}

void put_num(struct grid_sheet *s, struct area at, unsigned style, double v)
{
	if (!isfinite(v)) {
		put_text(s, at, LOOK_NA, "n/a");
		return;
	}
	struct cell *c = add_cell(s, at, style);
	c->kind = CELL_NUMBER;
	c->value = v;
}

void put_int(struct grid_sheet *s, struct area at, enum look look, int64_t v)
{
	/* 2^53: beyond it a spreadsheet's double would change the digits */
	if (v > 9007199254740992 || v < -9007199254740992)
		put_fmt(s, at, look, "%lld", (long long)v);
	else
		put_num(s, at, STYLE(look, NUM_INT), (double)v);
}

void put_formula(struct grid_sheet *s, struct area at, unsigned style, double v, const char *fmt,
		 ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *formula = format(s, fmt, ap);
	va_end(ap);
	if (!isfinite(v)) {
		put_text(s, at, LOOK_NA, "n/a");
		return;
	}
	struct cell *c = add_cell(s, at, style);
	c->kind = CELL_FORMULA;
	c->value = v;
	c->formula = formula;
}

void put_formula_text(struct grid_sheet *s, struct area at, enum look look, const char *value,
		      const char *formula)
{
	struct cell *c = add_cell(s, at, STYLE(look, NUM_GENERAL));

	c->kind = CELL_FORMULA_TEXT;
	c->text = grid_clean(&s->grid->arena, value);
	c->formula = arena_strdup(&s->grid->arena, formula);
}

void put_link(struct grid_sheet *s, struct area at, const char *text, const char *sheet)
{
	struct cell *c = add_cell(s, at, STYLE(LOOK_LINK, NUM_GENERAL));

	c->kind = CELL_LINK;
	c->text = grid_clean(&s->grid->arena, text);
	c->formula = grid_sheet_name(s->grid, sheet);
}

void grid_row_height(struct grid_sheet *s, uint32_t row, double px)
{
	struct row_height *h = grow(&s->height, &s->n_heights, &s->cap_heights, sizeof *h);

	h->row = row;
	h->px = px;
}

void grid_col_width(struct grid_sheet *s, uint32_t col, uint32_t col2, double px)
{
	struct col_width *w = grow(&s->width, &s->n_widths, &s->cap_widths, sizeof *w);

	w->col = col;
	w->col2 = col2;
	w->px = px;
}

void grid_page_break(struct grid_sheet *s, uint32_t before_row)
{
	*(uint32_t *)grow(&s->page_break, &s->n_breaks, &s->cap_breaks,
			  sizeof(uint32_t)) = before_row;
}

void grid_color_scale(struct grid_sheet *s, struct area at, enum scale_kind kind)
{
	struct color_scale *c = grow(&s->scale, &s->n_scales, &s->cap_scales, sizeof *c);

	c->at = at;
	c->kind = kind;
}

/* A copy that lives as long as the grid: what describes a run is released before the grid is written. */
static const char *keep(struct grid_sheet *s, const char *text)
{
	return text ? grid_clean(&s->grid->arena, text) : NULL;
}

static void keep_series(struct grid_sheet *s, struct chart *to, const struct series *from)
{
	struct series *one = &to->series[to->n_series++];

	*one = *from;
	one->name = keep(s, from->name);
	if (from->point_color)
		one->point_color = arena_memdup(&s->grid->arena, from->point_color,
						from->n_points * sizeof *from->point_color);
}

void grid_chart(struct grid_sheet *s, const struct chart *c)
{
	struct chart copy = *c;

	copy.title = keep(s, c->title);
	copy.x.title = keep(s, c->x.title);
	copy.y.title = keep(s, c->y.title);
	copy.series = arena_array(&s->grid->arena, struct series, c->n_series + 1);
	copy.n_series = 0;
	for (unsigned i = 0; i < c->n_series; i++)
		if (c->series[i].y.sheet)
			keep_series(s, &copy, &c->series[i]);
	if (!copy.n_series)
		return;
	struct chart *to = grow(&s->chart, &s->n_charts, &s->cap_charts, sizeof *to);
	*to = copy;
}

void grid_picture(struct grid_sheet *s, const struct picture *p)
{
	struct picture *copy = grow(&s->picture, &s->n_pictures, &s->cap_pictures, sizeof *copy);

	*copy = *p;
	copy->alt = keep(s, p->alt);
	if (p->plot) {
		copy->svg_width = p->plot->width;
		copy->svg_height = p->plot->height;
		return;
	}
	copy->png = arena_memdup(&s->grid->arena, p->png, p->len);
	copy->svg = p->svg ? arena_strdup(&s->grid->arena, p->svg) : NULL;
}

void grid_property(struct grid *g, const char *name, const char *value)
{
	if (g->n_properties < sizeof g->property / sizeof g->property[0])
		g->property[g->n_properties++] = (struct grid_property){ name, grid_clean(&g->arena,
											  value) };
}

static const char *col_name(char out[4], uint32_t col)
{
	char *p = out + 3;

	*p = 0;
	for (uint32_t c = col + 1; c && p > out; c = (c - 1) / 26)
		*--p = (char)('A' + (c - 1) % 26);
	return memmove(out, p, strlen(p) + 1);
}

const char *grid_ref(struct grid *g, struct area at, bool absolute)
{
	char a[4], b[4];
	const char *d = absolute ? "$" : "";

	col_name(a, at.col);
	col_name(b, at.col2);
	if (at.row == at.row2 && at.col == at.col2)
		return arena_fmt(&g->arena, "%s%s%s%u", d, a, d, at.row + 1);
	return arena_fmt(&g->arena, "%s%s%s%u:%s%s%s%u", d, a, d, at.row + 1, d, b, d, at.row2 + 1);
}

unsigned grid_part(const struct grid *g, uint32_t row, uint32_t *ret_row)
{
	uint32_t per = g->max_rows - 1; /* each part begins with the head row */

	*ret_row = row ? 1 + (row - 1) % per : 0;
	return row ? (row - 1) / per : 0;
}

const char *grid_data_ref(struct grid *g, const char *sheet, uint32_t row, uint32_t col)
{
	uint32_t r;
	unsigned part = grid_part(g, row, &r);
	const char *name = grid_sheet_name(g, sheet);

	if (part)
		name = arena_fmt(&g->arena, "%.24s (%u)", name, part + 1);
	return arena_fmt(&g->arena, "'%s'!%s", name, grid_ref(g, AT(r, col), false));
}
