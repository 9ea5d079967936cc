/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/json.h"
#include "reports/dataset.h"
#include "reports/grid.h"
#include "reports/report.h"
#include "reports/report_csv.h"
#include "reports/report_json.h"
#include "reports/sheet.h"
#include "schema/read.h"

#define SHEET(name) extern const struct sheet sheet_##name;
#include "sheets.inc"
#undef SHEET

static const struct sheet *const sheets[] = {
#define SHEET(name) &sheet_##name,
#include "sheets.inc"
#undef SHEET
};

#define N_SHEETS (sizeof sheets / sizeof sheets[0])

const char *const *report_sheets(void)
{
	static const char *const names[] = {
#define SHEET(name) #name,
#include "sheets.inc"
#undef SHEET
		NULL
	};

	return names;
}

/* ---- building ---- */

static int by_order(const void *a, const void *b)
{
	const struct sheet *x = *(const struct sheet *const *)a;
	const struct sheet *y = *(const struct sheet *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void build_sheets(const struct dataset *d, struct grid *g)
{
	const struct sheet *list[N_SHEETS];

	memcpy(list, sheets, sizeof list);
	qsort(list, N_SHEETS, sizeof *list, by_order);
	for (unsigned i = 0; i < N_SHEETS; i++)
		if (list[i]->applies(d))
			list[i]->build(d, g);
}

/* "2026-11-30T09:41:05.123Z"; 0 when it is none. */
static time_t utc_time(const char *s)
{
	struct tm tm = { 0 };

	if (sscanf(s, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec) != 6)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

/* Facts of the file come from the run, never from the clock: same database, same bytes. */
static void set_facts(struct grid *g, const struct dataset *d)
{
	const char *when = *d->ended_utc ? d->ended_utc : d->started_utc;

	if (!g->created)
		g->created = utc_time(when);
	g->title = "SSD Performance Qualification Report";
	g->subject = grid_clean(&g->arena,
				arena_fmt(&g->arena, "%s %s %s", d->vendor, d->model, d->serial));
	g->author = grid_clean(&g->arena, d->software);
	g->footer_left = grid_clean(
		&g->arena, arena_fmt(&g->arena, "run %lld / %.8s", (long long)d->run_id, d->uuid));
	g->footer_right = grid_clean(&g->arena,
				     arena_fmt(&g->arena, "%s / %s", d->software, d->spec));
	grid_property(g, arena_fmt(&g->arena, "%sRun", g->prefix), d->uuid);
	grid_property(g, arena_fmt(&g->arena, "%sChain head", g->prefix), d->digest);
	grid_property(g, arena_fmt(&g->arena, "%sVerdict", g->prefix), verdict_name(d->verdict));
}

enum kind { KIND_XLSX, KIND_HTML, KIND_TEXT, KIND_JSON, KIND_CSV };

struct output {
	enum kind kind;
	struct grid grid;
	struct buf text;
	struct json json;
};

static int add_run(struct output *o, struct reader *r, int64_t run, unsigned n_runs,
		   struct err *err)
{
	struct dataset d;
	int rc = dataset_load(r, run, &d, err);

	if (rc)
		return rc;
	if (o->kind == KIND_JSON || o->kind == KIND_HTML)
		report_json_run(&d, &o->json);
	if (o->kind != KIND_JSON) {
		if (n_runs > 1)
			o->grid.prefix = arena_fmt(&o->grid.arena, "r%lld ", (long long)run);
		set_facts(&o->grid, &d);
		build_sheets(&d, &o->grid);
	}
	dataset_release(&d);
	return 0;
}

/* The document, with the JSON of the same run made before as data in it. */
static void make_html(struct output *o)
{
	struct buf page = BUF_INIT;

	grid_write_html(&o->grid, buf_cstr(&o->text), &page);
	buf_release(&o->text);
	o->text = page;
}

static int make(struct output *o, const char *db, const int64_t *run, unsigned n, struct err *err)
{
	struct reader *r;
	int rc = read_open(db, &r, err);

	if (rc)
		return rc;
	if (o->kind == KIND_JSON || o->kind == KIND_HTML) {
		json_object(&o->json, NULL);
		json_str(&o->json, "schema", "pts.report/1");
		json_array(&o->json, "runs");
	}
	for (unsigned i = 0; !rc && i < n; i++)
		rc = add_run(o, r, run[i], n, err);
	read_close(r);
	if (rc)
		return rc;
	if (o->kind == KIND_JSON || o->kind == KIND_HTML) {
		json_end_array(&o->json);
		json_end_object(&o->json);
		buf_str(&o->text, "\n");
	}
	if (o->grid.rc)
		return err_set(err, o->grid.rc, "%s", o->grid.err.msg);
	if (o->kind == KIND_TEXT)
		grid_write_text(&o->grid, &o->text);
	if (o->kind == KIND_HTML)
		make_html(o);
	return 0;
}

/* ---- writing: beside the place, flushed, renamed ---- */

static int write_text(const struct buf *b, const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	size_t done = 0;
	int rc = 0;

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (!rc && done < b->len) {
		ssize_t n = write(fd, b->s + done, b->len - done);
		if (n < 0 && errno != EINTR)
			rc = err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return rc;
}

static int flush_path(const char *path, int flags, struct err *err)
{
	int fd = open(path, flags | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd))
		rc = err_set(err, -errno, "cannot flush %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The file itself where @out is a link; refuses what is no regular file. */
static int resolve(const char *out, char real[PATH_MAX], struct err *err)
{
	struct stat st;

	if (stat(out, &st)) {
		if (errno != ENOENT)
			return err_set(err, -errno, "%s: %s", out, strerror(errno));
		if (snprintf(real, PATH_MAX, "%s", out) >= PATH_MAX)
			return err_set(err, -ENAMETOOLONG, "%s: name too long", out);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a regular file", out);
	if (!realpath(out, real))
		return err_set(err, -errno, "%s: %s", out, strerror(errno));
	return 0;
}

/* Writes and flushes the file at @path, which exists and is empty. */
static int fill(const struct output *o, const char *path, struct err *err)
{
	int rc = o->kind == KIND_XLSX ? grid_write_xlsx(&o->grid, path, err)
				      : write_text(&o->text, path, err);

	return rc ? rc : flush_path(path, O_RDWR, err);
}

static int save(const struct output *o, const char *out, struct err *err)
{
	char real[PATH_MAX], folder[PATH_MAX] = ".";
	int rc = resolve(out, real, err);
	struct buf temp = BUF_INIT;

	if (rc)
		return rc;
	const char *slash = strrchr(real, '/');
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - real + 1), real);
	buf_fmt(&temp, "%s/.%s.%ld.tmp", folder, slash ? slash + 1 : real, (long)getpid());
	const char *path = buf_cstr(&temp);
	unlink(path); /* of an earlier process of this number, killed while writing */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = err_set(err, -errno, "cannot write in %s: %s", folder, strerror(errno));
		buf_release(&temp);
		return rc;
	}
	close(fd);
	rc = fill(o, path, err);
	if (!rc && rename(path, real))
		rc = err_set(err, -errno, "%s: %s", real, strerror(errno));
	if (rc)
		unlink(path);
	else
		rc = flush_path(folder, O_RDONLY | O_DIRECTORY, err);
	buf_release(&temp);
	return rc;
}

int report_save(const struct buf *text, const char *path, struct err *err)
{
	struct output o = { .kind = KIND_TEXT, .text = *text };

	return save(&o, path, err);
}

static int kind_of(const char *out, enum kind *ret, struct err *err)
{
	static const char *const ends[] = { ".xlsx", ".html", ".txt", ".json", "/" };
	size_t len = strlen(out);
	struct stat st;

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t n = strlen(ends[i]);
		if (len >= n && !strcmp(out + len - n, ends[i]) && (len > n || *out == '/')) {
			*ret = (enum kind)i;
			return 0;
		}
	}
	if (!stat(out, &st) && S_ISDIR(st.st_mode)) {
		*ret = KIND_CSV;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "%s: its name must end in .xlsx, .html, .txt, .json, or in / for a folder of"
		       " CSV files",
		       out);
}

int report_write(const char *db, const int64_t *run, unsigned n_runs, const char *out,
		 struct err *err)
{
	struct output o = { .text = BUF_INIT, .json = JSON_INIT(&o.text) };
	int rc = kind_of(out, &o.kind, err);

	if (rc)
		return rc;
	if (!n_runs)
		return err_set(err, -EINVAL, "no run");
	grid_init(&o.grid);
	rc = make(&o, db, run, n_runs, err);
	if (!rc)
		rc = o.kind == KIND_CSV ? report_csv(&o.grid, out, err) : save(&o, out, err);
	grid_release(&o.grid);
	buf_release(&o.text);
	return rc;
}
