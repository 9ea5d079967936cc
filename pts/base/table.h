/* SPDX-License-Identifier: MIT */
/* One row description, printed as an aligned text table or as a JSON array of objects. */
#ifndef PTS_BASE_TABLE_H
#define PTS_BASE_TABLE_H

#include <stdint.h>

struct buf;
struct json;

enum column_type {
	COL_TEXT,
	COL_INT,
	COL_NUM,
	COL_BOOL,
	COL_WORDS /* text; its words, parted by single blanks, are a JSON array of strings */
};

struct column {
	const char *key; /* JSON key, with its unit: "capacity_bytes"; NULL = in text only */
	const char *head; /* heading of the text table; NULL = in JSON only */
	enum column_type type;
	const char *fmt; /* COL_NUM in text: printf format, default "%.1f" */
};

struct table;

/* @col stays the caller's and must outlive the table. */
struct table *table_new(const struct column *col, unsigned n);
/* Cells of a row are put in column order; table_row() closes the row (missing cells are null). */
void table_text(struct table *t, const char *s);
void table_int(struct table *t, int64_t v);
void table_num(struct table *t, double v);
void table_null(struct table *t);
void table_row(struct table *t);
unsigned table_rows(const struct table *t);
void table_print(const struct table *t, struct buf *out); /* text: numbers right, "-" where null */
void table_json(const struct table *t, struct json *j, const char *key);
void table_free(struct table *t);

#endif
