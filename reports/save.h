/* SPDX-License-Identifier: MIT */
/* What is being written, and how it gets to its place: whole, or not at all. */
#ifndef REPORTS_SAVE_H
#define REPORTS_SAVE_H

#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "pts/base/json.h"
#include "reports/grid.h"

enum output_kind { OUTPUT_XLSX, OUTPUT_HTML, OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_CSV };

struct output {
	enum output_kind kind;
	struct grid grid; /* not of OUTPUT_JSON */
	struct buf text;
	struct json json; /* into text; of OUTPUT_JSON and OUTPUT_HTML */
};

/* The kind is taken from the ending of @out; -EINVAL for others. Release with output_release(), also on error. */
int output_init(struct output *o, const char *out, struct err *err) must_check;
/* -EINVAL where @out is, by whatever name, the file @input (NULL: none): what a report is made from is never written over. */
int output_spares(const char *out, const char *input, struct err *err) must_check;
void output_release(struct output *o);
bool output_has_grid(const struct output *o);
bool output_has_json(const struct output *o);
/* Written beside the place under another name, flushed and renamed: on any error @out is what it was before. */
int output_save(struct output *o, const char *out, struct err *err) must_check;

/* A text in the same way. */
int save_text(const struct buf *text, const char *path, struct err *err) must_check;

/* "2026-11-30T09:41:05.123Z" as a time; 0 when it is none. */
time_t utc_time(const char *s);

#endif
