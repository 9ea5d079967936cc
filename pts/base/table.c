/* SPDX-License-Identifier: MIT */
#include "pts/base/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "pts/base/json.h"

#define GAP 2 /* blanks between two columns */

struct cell {
	bool set; /* false: null */
	const char *text;
	int64_t i;
	double num;
};

struct row {
	struct row *next;
	struct cell cell[];
};

struct table {
	const struct column *col;
	unsigned n_cols, n_rows, at; /* at: next cell of the open row */
	struct row *first, *open, **end;
	struct arena arena;
};

static struct row *row_new(struct table *t)
{
	return arena_alloc(&t->arena, sizeof(struct row) + t->n_cols * sizeof(struct cell));
}

struct table *table_new(const struct column *col, unsigned n)
{
	struct table *t = calloc(1, sizeof *t);

	if (!t)
		BUG("out of memory");
	t->col = col;
	t->n_cols = n;
	t->end = &t->first;
	t->open = row_new(t);
	return t;
}

static enum column_type type_of_next(const struct table *t)
{
	BUG_ON(t->at >= t->n_cols);
	return t->col[t->at].type;
}

void table_text(struct table *t, const char *s)
{
	enum column_type type = type_of_next(t);

	BUG_ON(type != COL_TEXT && type != COL_WORDS);
	if (s)
		t->open->cell[t->at] = (struct cell){ .set = true,
						      .text = arena_strdup(&t->arena, s) };
	t->at++;
}

void table_int(struct table *t, int64_t v)
{
	enum column_type type = type_of_next(t);

	BUG_ON(type != COL_INT && type != COL_BOOL);
	t->open->cell[t->at++] = (struct cell){ .set = true, .i = v };
}

void table_num(struct table *t, double v)
{
	BUG_ON(type_of_next(t) != COL_NUM);
	t->open->cell[t->at++] = (struct cell){ .set = v == v, .num = v };
}

void table_null(struct table *t)
{
	BUG_ON(t->at >= t->n_cols);
	t->at++;
}

void table_row(struct table *t)
{
	*t->end = t->open;
	t->end = &t->open->next;
	t->n_rows++;
	t->at = 0;
	t->open = row_new(t);
}

unsigned table_rows(const struct table *t)
{
	return t->n_rows;
}

/* Characters of UTF-8 text. */
static unsigned width_of(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Text of a drive or a file goes to a terminal: control characters become '?'. */
static void add_clean(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_add(b, (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
}

static void number_text(const struct column *col, double v, struct buf *b)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	buf_fmt(b, col->fmt ? col->fmt : "%.1f", v);
#pragma GCC diagnostic pop
}

static void cell_text(const struct column *col, const struct cell *c, struct buf *b)
{
	if (!c->set) {
		buf_str(b, "-");
		return;
	}
	switch (col->type) {
	case COL_TEXT:
	case COL_WORDS:
		add_clean(b, c->text);
		break;
	case COL_INT:
		buf_fmt(b, "%" PRId64, c->i);
		break;
	case COL_NUM:
		number_text(col, c->num, b);
		break;
	case COL_BOOL:
		buf_str(b, c->i ? "yes" : "no");
		break;
	}
}

static void pad(struct buf *b, unsigned n)
{
	buf_fmt(b, "%*s", (int)n, "");
}

/* One line: cell @text of each column, padded to @width. @row NULL prints the headings. */
static void line_text(const struct table *t, const struct row *row, const unsigned *width,
		      struct buf *out)
{
	struct buf b = BUF_INIT;
	unsigned blanks = 0; /* owed before the next cell, so that no line ends in blanks */

	for (unsigned i = 0; i < t->n_cols; i++) {
		const struct column *col = &t->col[i];
		bool right = col->type == COL_INT || col->type == COL_NUM;
		unsigned fill;

		if (!col->head)
			continue;
		b.len = 0;
		buf_str(&b, row ? "" : col->head);
		if (row)
			cell_text(col, &row->cell[i], &b);
		fill = width[i] - width_of(b.s);
		pad(out, blanks + (right ? fill : 0));
		buf_add(out, b.s, b.len);
		blanks = GAP + (right ? 0 : fill);
	}
	buf_str(out, "\n");
	buf_release(&b);
}

void table_print(const struct table *t, struct buf *out)
{
	unsigned *width = calloc(t->n_cols + 1, sizeof *width);
	struct buf b = BUF_INIT;

	if (!width)
		BUG("out of memory");
	for (unsigned i = 0; i < t->n_cols; i++) {
		if (t->col[i].head)
			width[i] = width_of(t->col[i].head);
		for (const struct row *r = t->first; r; r = r->next) {
			b.len = 0;
			cell_text(&t->col[i], &r->cell[i], &b);
			if (width_of(buf_cstr(&b)) > width[i])
				width[i] = width_of(buf_cstr(&b));
		}
	}
	line_text(t, NULL, width, out);
	for (const struct row *r = t->first; r; r = r->next)
		line_text(t, r, width, out);
	buf_release(&b);
	free(width);
}

static void words_json(const char *words, const char *key, struct json *j)
{
	json_array(j, key);
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		struct buf b = BUF_INIT;

		n = strcspn(words, " ");
		buf_add(&b, words, n);
		json_str(j, NULL, buf_cstr(&b));
		buf_release(&b);
	}
	json_end_array(j);
}

static void cell_json(const struct column *col, const struct cell *c, struct json *j)
{
	if (!c->set) {
		json_null(j, col->key);
		return;
	}
	switch (col->type) {
	case COL_TEXT:
		json_str(j, col->key, c->text);
		break;
	case COL_WORDS:
		words_json(c->text, col->key, j);
		break;
	case COL_INT:
		json_int(j, col->key, c->i);
		break;
	case COL_NUM:
		json_num(j, col->key, c->num);
		break;
	case COL_BOOL:
		json_bool(j, col->key, c->i != 0);
		break;
	}
}

void table_json(const struct table *t, struct json *j, const char *key)
{
	json_array(j, key);
	for (const struct row *r = t->first; r; r = r->next) {
		json_object(j, NULL);
		for (unsigned i = 0; i < t->n_cols; i++) {
			if (t->col[i].key)
				cell_json(&t->col[i], &r->cell[i], j);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t);
}
