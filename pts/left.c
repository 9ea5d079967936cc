/* SPDX-License-Identifier: MIT */
#include "pts/left.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"

#define ENDING ".pts-left"
#define FIRST "pts left/1"

/* ---- where ---- */

static void state_folder(char *ret, size_t n)
{
	const char *xdg = getenv("XDG_STATE_HOME");

	if (xdg && xdg[0] == '/')
		snprintf(ret, n, "%s/pts", xdg);
	else
		snprintf(ret, n, "/var/lib/pts");
}

static void db_folder(const char *db, char *ret, size_t n)
{
	const char *slash = strrchr(db, '/');

	if (!slash)
		snprintf(ret, n, ".");
	else
		snprintf(ret, n, "%.*s", slash == db ? 1 : (int)(slash - db), db);
}

static int sync_folder(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = fsync(fd) ? -errno : 0;
	close(fd);
	return rc;
}

/* Makes it where its parent is there, and has its name on the disk. */
static bool folder_can_be_had(const char *dir)
{
	char parent[PATH_MAX];

	if (access(dir, W_OK | X_OK)) {
		if (mkdir(dir, 0700) && errno != EEXIST)
			return false;
		db_folder(dir, parent, sizeof parent);
		if (sync_folder(parent))
			return false;
	}
	return !access(dir, W_OK | X_OK);
}

/* ---- one note ---- */

static const struct {
	const char *key;
	size_t at, size;
} field[] = {
#define FIELD(f) \
	{ \
#f, offsetof(struct left, f), sizeof(((struct left *)NULL)->f) \
	}
	FIELD(what), FIELD(path),   FIELD(model), FIELD(serial),
	FIELD(wwid), FIELD(detail), FIELD(utc)
#undef FIELD
};

static void write_text(const struct left *l, struct buf *out)
{
	buf_str(out, FIRST "\n");
	for (unsigned i = 0; i < sizeof field / sizeof *field; i++) {
		buf_fmt(out, "%s=", field[i].key);
		for (const char *c = (const char *)l + field[i].at; *c; c++)
			buf_add(out, (unsigned char)*c < ' ' ? " " : c, 1);
		buf_str(out, "\n");
	}
}

/* The folder beside a database may be anybody's: what is told of a note goes to a terminal. */
static void take_field(const char *value, char *ret, size_t n)
{
	snprintf(ret, n, "%s", value);
	for (; *ret; ret++)
		if ((unsigned char)*ret < ' ' || *ret == 0x7f)
			*ret = ' ';
}

static bool parse_text(char *text, struct left *ret)
{
	char *line = strsep(&text, "\n");

	*ret = (struct left){ .what = "" };
	if (!line || strcmp(line, FIRST))
		return false;
	while ((line = strsep(&text, "\n")) != NULL) {
		size_t n = strcspn(line, "=");

		for (unsigned i = 0; line[n] && i < sizeof field / sizeof *field; i++)
			if (strlen(field[i].key) == n && !strncmp(line, field[i].key, n))
				take_field(line + n + 1, (char *)ret + field[i].at, field[i].size);
	}
	return ret->what[0] && ret->path[0];
}

/* Of a drive without a serial its path stands for it. */
static void file_name(const char *dir, const struct left *l, char *ret, size_t n)
{
	char id[100];

	snprintf(id, sizeof id, "%s", l->serial[0] ? l->serial : l->path);
	for (char *c = id; *c; c++)
		*c = isalnum((unsigned char)*c) || strchr("-_.", *c) ? *c : '_';
	snprintf(ret, n, "%s/%s.%s" ENDING, dir, id, l->what);
}

static int write_file(const char *dir, const char *path, const struct buf *text)
{
	char new[PATH_MAX + 8];
	int fd, rc = 0;

	snprintf(new, sizeof new, "%s.new", path);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text->s, text->len) != (ssize_t)text->len)
		rc = errno ? -errno : -EIO;
	if (!rc && fsync(fd))
		rc = -errno;
	close(fd);
	if (!rc && rename(new, path))
		rc = -errno;
	if (rc)
		unlink(new);
	return rc ? rc : sync_folder(dir);
}

int left_put(const char *db, const struct dut_info *d, const char *what, const char *detail,
	     struct err *err)
{
	struct left l = { .what = "" };
	struct buf text = BUF_INIT;
	char dir[PATH_MAX], path[PATH_MAX];
	int rc;

	snprintf(l.what, sizeof l.what, "%s", what);
	snprintf(l.path, sizeof l.path, "%.127s", d->path);
	snprintf(l.model, sizeof l.model, "%s", d->model);
	snprintf(l.serial, sizeof l.serial, "%s", d->serial);
	snprintf(l.wwid, sizeof l.wwid, "%s", d->wwid);
	snprintf(l.detail, sizeof l.detail, "%s", detail);
	fmt_utc(l.utc, sizeof l.utc, clock_wall_ns());
	write_text(&l, &text);
	state_folder(dir, sizeof dir);
	rc = folder_can_be_had(dir) ? 0 : -EACCES;
	for (unsigned turn = 0; turn < 2; turn++) {
		if (!rc) {
			file_name(dir, &l, path, sizeof path);
			rc = write_file(dir, path, &text);
		}
		if (!rc || turn)
			break;
		db_folder(db, dir, sizeof dir);
		rc = 0;
	}
	buf_release(&text);
	return rc ? err_set(err, rc, "no note can be kept in %s for after a crash: %s", dir,
			    strerror(-rc))
		  : 0;
}

/* ---- all of them ---- */

bool left_is_of(const struct left *l, const struct dut_info *d)
{
	if (l->serial[0] || d->serial[0])
		return !strcmp(l->serial, d->serial);
	return !strcmp(l->path, d->path);
}

/* @of: NULL all drives. */
static unsigned list_folder(const char *dir, const struct dut_info *of, struct left *ret,
			    unsigned n)
{
	size_t end = strlen(ENDING);
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && n < LEFT_MAX && (e = readdir(d)) != NULL) {
		struct buf text = BUF_INIT;
		size_t len = strlen(e->d_name);
		char path[PATH_MAX];
		struct stat st;

		if (len <= end || strcmp(e->d_name + len - end, ENDING) ||
		    snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path ||
		    stat(path, &st) || !S_ISREG(st.st_mode)) /* a pipe would be waited for */
			continue;
		if (!buf_read_file(&text, path, 65536) && text.len && parse_text(text.s, &ret[n]) &&
		    (!of || left_is_of(&ret[n], of))) {
			snprintf(ret[n].file, sizeof ret[n].file, "%s", path);
			n++;
		}
		buf_release(&text);
	}
	if (d)
		closedir(d);
	return n;
}

static unsigned list_both(const char *db, const struct dut_info *of, struct left ret[LEFT_MAX])
{
	char state[PATH_MAX], beside[PATH_MAX];
	unsigned n;

	state_folder(state, sizeof state);
	db_folder(db, beside, sizeof beside);
	n = list_folder(state, of, ret, 0);
	return strcmp(state, beside) ? list_folder(beside, of, ret, n) : n;
}

unsigned left_list(const char *db, struct left ret[LEFT_MAX])
{
	return list_both(db, NULL, ret);
}

unsigned left_of(const char *db, const struct dut_info *d, struct left ret[LEFT_MAX])
{
	return list_both(db, d, ret);
}

int left_remove(const char *db, const struct dut_info *d, struct err *err)
{
	struct left *l = calloc(LEFT_MAX, sizeof *l);
	unsigned n;
	int rc = 0;

	BUG_ON(!l);
	n = left_of(db, d, l);
	for (unsigned i = 0; i < n; i++)
		if (unlink(l[i].file) && errno != ENOENT && !rc)
			rc = err_set(err, -errno, "%s: %s", l[i].file, strerror(errno));
	free(l);
	return rc;
}
