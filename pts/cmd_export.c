/* SPDX-License-Identifier: MIT */
/* pts export: the views of a run as one JSON document or as CSV. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/cmd.h"
#include "schema/read.h"

static const struct {
	const char *key; /* in the document; NULL: in a folder of CSV files only */
	const char *view, *order;
} part[] = {
	{ "info", "v_info", "" },
	{ "tests", "v_test", " ORDER BY ordinal, attempt" },
	{ "sections", "v_section", " ORDER BY test, attempt, section" },
	{ "cells", "v_cell", " ORDER BY cell_id" },
	{ "streams", "v_stream", " ORDER BY cell_id, stream" },
	{ "steady", "v_steady", "" },
	{ "points", "v_point", "" },
	{ "captures", "v_capture", "" },
	{ "capture_steps", "v_capture_step", " ORDER BY step" },
	{ "fidelity", "v_fidelity", "" },
	{ "deviations", "v_deviation", "" },
	{ "events", "v_event", " ORDER BY event_id" },
	{ NULL, "v_run", "" },
	{ NULL, "v_second", " ORDER BY cell_id, second" },
	{ NULL, "v_histogram", " ORDER BY cell_id, op, kind, low_ns" },
};
#define N_PARTS (sizeof part / sizeof *part)

static bool one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

static bool is_flag(const char *column)
{
	static const char *const flags[] = { "quick",	  "compliant",	    "simulated", "sealed",
					     "formal",	  "purge_verified", "steady",	 "ended",
					     "in_window", "partial",	    "void",	 "valid",
					     NULL };

	return one_of(column, flags);
}

/* Columns that hold JSON, checked when they were written. */
static bool is_json(const char *view, const char *column)
{
	static const char *const json[] = { "params",  "workload",    "devices",
					    "streams", "why_dropped", NULL };

	return one_of(column, json) || (!strcmp(view, "v_event") && !strcmp(column, "detail"));
}

/* ---- JSON ---- */

static void value_json(struct json *j, struct rows *q, int c, const char *view)
{
	const char *key = rows_column(q, c);

	switch (rows_column_type(q, c)) {
	case 0:
		json_null(j, key);
		break;
	case 'i':
		if (is_flag(key))
			json_bool(j, key, rows_int(q, c) != 0);
		else
			json_int(j, key, rows_int(q, c));
		break;
	case 'd':
		json_num(j, key, rows_num(q, c));
		break;
	default:
		if (is_json(view, key))
			json_raw(j, key, rows_text(q, c));
		else
			json_str(j, key, rows_text(q, c));
	}
}

static void row_json(struct json *j, const char *key, struct rows *q, const char *view)
{
	json_object(j, key);
	for (int c = 0; c < rows_columns(q); c++)
		value_json(j, q, c, view);
	json_end_object(j);
}

static struct rows *part_rows(struct reader *r, int64_t run, size_t i, struct err *err)
{
	struct buf sql = BUF_INIT;
	struct rows *q;

	buf_fmt(&sql, "SELECT * FROM %s WHERE run_id = ?%s", part[i].view, part[i].order);
	q = read_rows(r, err, buf_cstr(&sql), "i", run);
	buf_release(&sql);
	return q;
}

static int part_json(struct json *j, struct reader *r, int64_t run, size_t i, struct err *err)
{
	struct rows *q = part_rows(r, run, i, err);

	if (!q)
		return -EIO;
	json_array(j, part[i].key);
	while (rows_next(q))
		row_json(j, NULL, q, part[i].view);
	json_end_array(j);
	return rows_close(q, err);
}

/* "key": object of the query's only row, or of key and value pairs. */
static int head_json(struct json *j, struct reader *r, int64_t run, struct err *err)
{
	struct rows *q = read_rows(r, err, "SELECT * FROM v_run WHERE run_id = ?", "i", run);
	int rc;

	if (!q)
		return -EIO;
	if (rows_next(q))
		row_json(j, "run", q, "v_run");
	rc = rows_close(q, err);
	if (rc)
		return rc;
	q = read_rows(r, err,
		      "SELECT key, value FROM v_host JOIN v_run USING (host_id) WHERE run_id = ?",
		      "i", run);
	if (!q)
		return -EIO;
	json_object(j, "host");
	while (rows_next(q))
		json_str(j, rows_text(q, 0), rows_is_null(q, 1) ? NULL : rows_text(q, 1));
	json_end_object(j);
	return rows_close(q, err);
}

static int export_json(struct reader *r, int64_t run, struct buf *out, struct err *err)
{
	struct json j = JSON_INIT(out);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.export/1");
	rc = head_json(&j, r, run, err);
	for (size_t i = 0; i < N_PARTS && !rc; i++)
		if (part[i].key)
			rc = part_json(&j, r, run, i, err);
	json_end_object(&j);
	buf_str(out, "\n");
	return rc;
}

/* ---- CSV (RFC 4180) ---- */

static void field_csv(struct buf *out, const char *s)
{
	if (!strpbrk(s, ",\"\r\n") && *s != ' ') {
		buf_str(out, s);
		return;
	}
	buf_str(out, "\"");
	for (; *s; s++) {
		if (*s == '"')
			buf_str(out, "\"");
		buf_add(out, s, 1);
	}
	buf_str(out, "\"");
}

static void row_csv(struct buf *out, struct rows *q)
{
	for (int c = 0; c < rows_columns(q); c++) {
		char number[32];

		if (c)
			buf_str(out, ",");
		if (rows_column_type(q, c) == 'd')
			buf_str(out, fmt_double(number, sizeof number, rows_num(q, c)));
		else
			field_csv(out, rows_text(q, c));
	}
	buf_str(out, "\r\n");
}

static int export_csv(struct reader *r, int64_t run, size_t i, struct buf *out, struct err *err)
{
	struct rows *q = part_rows(r, run, i, err);

	if (!q)
		return -EIO;
	for (int c = 0; c < rows_columns(q); c++)
		buf_fmt(out, "%s%s", c ? "," : "", rows_column(q, c));
	buf_str(out, "\r\n");
	while (rows_next(q))
		row_csv(out, q);
	return rows_close(q, err);
}

/* ---- where it goes ---- */

static int write_all(int fd, const char *path, const struct buf *text, struct err *err)
{
	const char *s = buf_cstr(text);

	for (size_t at = 0; at < text->len;) {
		ssize_t n = write(fd, s + at, text->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) /* the system's failure whatever its name, never the user's mistake */
			return err_set(err, -EIO, "%s: %s", path, strerror(errno));
		at += (size_t)n;
	}
	return 0;
}

/* A pipe or a terminal cannot be renamed over: written to as it is. Never a drive. */
static int write_special(const char *path, const struct stat *st, const struct buf *text,
			 struct err *err)
{
	int fd, rc;

	if (S_ISBLK(st->st_mode) || S_ISDIR(st->st_mode))
		return err_set(err, S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL, "%s: is a %s", path,
			       S_ISDIR(st->st_mode) ? "directory" : "drive");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = write_all(fd, path, text, err);
	if (close(fd) && !rc)
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	return rc;
}

/* Whole or not at all: under another name beside it, flushed, renamed. */
static int write_file(const char *path, const struct buf *text, struct err *err)
{
	struct buf temp = BUF_INIT;
	struct stat st;
	mode_t mask;
	int fd, rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_special(path, &st, text, err);
	buf_fmt(&temp, "%s.XXXXXX", path);
	fd = mkstemp(temp.s);
	if (fd < 0) {
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
		buf_release(&temp);
		return rc;
	}
	mask = umask(0);
	umask(mask);
	rc = write_all(fd, path, text, err);
	if (!rc && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (close(fd) && !rc)
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!rc && rename(temp.s, path))
		rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (rc)
		unlink(temp.s);
	buf_release(&temp);
	return rc;
}

static int write_folder(const char *dir, struct reader *r, int64_t run, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < N_PARTS && !rc; i++) {
		struct buf text = BUF_INIT, path = BUF_INIT;

		buf_fmt(&path, "%s/%s.csv", dir, part[i].view);
		rc = export_csv(r, run, i, &text, err);
		if (!rc)
			rc = write_file(buf_cstr(&path), &text, err);
		buf_release(&text);
		buf_release(&path);
	}
	return rc;
}

static size_t cells_part(void)
{
	size_t i = 0;

	while (strcmp(part[i].view, "v_cell"))
		i++;
	return i;
}

static bool same_file(const struct stat *a, const char *path)
{
	struct stat b;

	return !stat(path, &b) && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* The exit code, the message said. */
static int export_run(const struct opts *o, struct reader *r, int64_t run)
{
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct stat st;
	bool to_file = o->output && strcmp(o->output, "-");
	bool there = to_file && !stat(o->output, &st);
	int rc, code;

	if (there && same_file(&st, o->db))
		return cmd_usage(o, "%s is the database itself", o->output);
	if (there && o->csv && S_ISDIR(st.st_mode)) {
		rc = write_folder(o->output, r, run, &err);
		return rc ? cmd_fail(o, exit_of(rc), &err) : EXIT_GOOD;
	}
	rc = o->csv ? export_csv(r, run, cells_part(), &out, &err)
		    : export_json(r, run, &out, &err);
	if (!rc && to_file)
		rc = write_file(o->output, &out, &err);
	if (rc)
		code = cmd_fail(o, exit_of(rc), &err);
	else
		code = to_file ? EXIT_GOOD : cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return code;
}

int cmd_export(const struct opts *o)
{
	struct err err = { "" };
	struct reader *r;
	int64_t run;
	int rc, code;

	if (o->json == o->csv)
		return cmd_usage(o, "say --json or --csv");
	if (o->arg.n > 1)
		return cmd_usage(o, "one RUN at a time");
	rc = read_open(o->db, &r, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = read_snapshot(r, &err);
	if (!rc)
		rc = read_run(r, o->arg.n ? o->arg.v[0] : "last", &run, &err);
	code = rc ? cmd_fail(o, exit_of(rc), &err) : export_run(o, r, run);
	read_close(r);
	return code;
}
