/* SPDX-License-Identifier: MIT */
#include "reports/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/report_csv.h"

time_t utc_time(const char *s)
{
	struct tm tm = { 0 };

	if (sscanf(s, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec) != 6)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

/* The document, with the JSON of the same run made before as data in it. */
static void make_html(struct output *o)
{
	struct buf page = BUF_INIT;

	grid_write_html(&o->grid, buf_cstr(&o->text), &page);
	buf_release(&o->text);
	o->text = page;
}

static int write_buf(const struct buf *b, const char *path, struct err *err)
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
	int rc = o->kind == OUTPUT_XLSX ? grid_write_xlsx(&o->grid, path, err)
					: write_buf(&o->text, path, err);

	return rc ? rc : flush_path(path, O_RDWR, err);
}

/* A signal that ends the program waits until the file is in its place: it would leave one under the other name. */
static void hold_signals(sigset_t *ret_before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, ret_before);
}

static int save_as(const struct output *o, const char *real, struct err *err)
{
	char folder[PATH_MAX] = "./";
	struct buf temp = BUF_INIT;
	int rc;

	const char *slash = strrchr(real, '/');
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - real + 1), real);
	buf_fmt(&temp, "%s.%s.%ld.tmp", folder, slash ? slash + 1 : real, (long)getpid());
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

static int save_file(const struct output *o, const char *out, struct err *err)
{
	char real[PATH_MAX];
	sigset_t before;
	int rc = resolve(out, real, err);

	if (rc)
		return rc;
	hold_signals(&before);
	rc = save_as(o, real, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int kind_of(const char *out, enum output_kind *ret, struct err *err)
{
	static const char *const ends[] = { ".xlsx", ".html", ".txt", ".json", "/" };
	size_t len = strlen(out);
	struct stat st;

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t n = strlen(ends[i]);
		if (len >= n && !strcmp(out + len - n, ends[i]) && (len > n || *out == '/')) {
			*ret = (enum output_kind)i;
			return 0;
		}
	}
	if (!stat(out, &st) && S_ISDIR(st.st_mode)) {
		*ret = OUTPUT_CSV;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "%s: its name must end in .xlsx, .html, .txt, .json, or in / for a folder of"
		       " CSV files",
		       out);
}

int save_text(const struct buf *text, const char *path, struct err *err)
{
	struct output o = { .kind = OUTPUT_TEXT, .text = *text };

	return save_file(&o, path, err);
}

int output_init(struct output *o, const char *out, struct err *err)
{
	*o = (struct output){ .text = BUF_INIT };
	o->json = (struct json)JSON_INIT(&o->text);
	grid_init(&o->grid);
	return kind_of(out, &o->kind, err);
}

int output_spares(const char *out, const char *input, struct err *err)
{
	struct stat a, b;

	if (!input || stat(out, &a) || stat(input, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return 0;
	return err_set(err, -EINVAL,
		       "%s is what the report is made from (%s), and is never written over", out,
		       input);
}

void output_release(struct output *o)
{
	grid_release(&o->grid);
	buf_release(&o->text);
}

bool output_has_grid(const struct output *o)
{
	return o->kind != OUTPUT_JSON;
}

bool output_has_json(const struct output *o)
{
	return o->kind == OUTPUT_JSON || o->kind == OUTPUT_HTML;
}

int output_save(struct output *o, const char *out, struct err *err)
{
	if (o->grid.rc)
		return err_set(err, o->grid.rc, "%s", o->grid.err.msg);
	if (o->kind == OUTPUT_CSV)
		return report_csv(&o->grid, out, err);
	if (output_has_json(o))
		buf_str(&o->text, "\n");
	if (o->kind == OUTPUT_TEXT)
		grid_write_text(&o->grid, &o->text);
	if (o->kind == OUTPUT_HTML)
		make_html(o);
	return save_file(o, out, err);
}
