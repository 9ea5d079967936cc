/* SPDX-License-Identifier: MIT */
#include "pts/gate_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void trim(char *s)
{
	size_t n = strcspn(s, "\n");

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		n--;
	s[n] = '\0';
	n = strspn(s, " \t");
	memmove(s, s + n, strlen(s + n) + 1);
}

static bool read_line(char *ret, size_t n, const char *path)
{
	FILE *f = fopen(path, "re");
	bool ok = f && n <= INT_MAX && fgets(ret, (int)n, f);

	if (f)
		fclose(f);
	if (ok)
		trim(ret);
	else
		ret[0] = '\0';
	return ok;
}

bool sys_line(char *ret, size_t n, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	return read_line(ret, n, path);
}

bool sys_exists(const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	return !access(path, F_OK);
}

long long sys_num(long long dflt, const char *fmt, ...)
{
	char path[PATH_MAX], line[64], *end;
	va_list ap;
	long long v;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	if (!read_line(line, sizeof line, path))
		return dflt;
	errno = 0;
	v = strtoll(line, &end, 10);
	return errno || end == line || *end ? dflt : v;
}

/* In a fake tree a device is known by its name alone: /dev/cciss/c0d0 is cciss!c0d0 in /sys. */
static int resolve_fake(const char *root, const char *path, struct sys_dev *ret)
{
	char dir[PATH_MAX], name[SYS_NAME];

	if (strncmp(path, "/dev/", 5))
		return -ENOTBLK;
	snprintf(name, sizeof name, "%s", path + 5);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '!' : *c;
	snprintf(dir, sizeof dir, "%s/sys/class/block/%s", root, name);
	return sys_dev_of(dir, ret) ? 0 : -ENOENT;
}

int sys_resolve(const char *root, const char *path, struct sys_dev *ret)
{
	struct stat st;

	if (root[0])
		return resolve_fake(root, path, ret);
	if (stat(path, &st))
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	ret->major = major(st.st_rdev);
	ret->minor = minor(st.st_rdev);
	return 0;
}

bool sys_dir(const char *root, struct sys_dev dev, char *ret, size_t n)
{
	char link[PATH_MAX], real[PATH_MAX];

	snprintf(link, sizeof link, "%s/sys/dev/block/%u:%u", root, dev.major, dev.minor);
	if (!realpath(link, real) || strlen(real) >= n)
		return false;
	snprintf(ret, n, "%s", real);
	return true;
}

bool sys_dev_of(const char *dir, struct sys_dev *ret)
{
	char line[64];
	struct sys_dev d;

	if (!sys_line(line, sizeof line, "%s/dev", dir) ||
	    sscanf(line, "%u:%u", &d.major, &d.minor) != 2)
		return false;
	*ret = d;
	return true;
}

void sys_dev_path(const char *dir, char *ret, size_t n)
{
	const char *name = strrchr(dir, '/');

	snprintf(ret, n, "/dev/%s", name ? name + 1 : dir);
	for (char *c = ret; *c; c++)
		*c = *c == '!' ? '/' : *c;
}

bool sys_parent(const char *dir, char *ret, size_t n)
{
	const char *slash = strrchr(dir, '/');

	if (!slash || !sys_exists("%s/partition", dir))
		return false;
	snprintf(ret, n, "%.*s", (int)(slash - dir), dir);
	return true;
}

/* Who may open the loop device asks it: true of deleted and renamed files, and of those of other mount namespaces. */
static bool backing_asked(const char *root, const char *dir, struct sys_backing *ret)
{
	struct loop_info64 info;
	char name[SYS_NAME], path[PATH_MAX];
	bool ok;
	int fd;

	sys_dev_path(dir, name, sizeof name);
	snprintf(path, sizeof path, "%s%s", root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	ok = !ioctl(fd, LOOP_GET_STATUS64, &info);
	close(fd);
	if (!ok)
		return false;
	ret->block = info.lo_rdevice;
	ret->dev = (struct sys_dev){ major(info.lo_rdevice), minor(info.lo_rdevice) };
	ret->file_dev = info.lo_device;
	ret->file_ino = info.lo_inode;
	return true;
}

static bool backing_named(const char *root, const char *path, struct sys_backing *ret)
{
	char full[PATH_MAX];
	struct stat st;

	ret->block = !sys_resolve(root, path, &ret->dev);
	if (ret->block)
		return true;
	snprintf(full, sizeof full, "%s%s", root, path);
	if (stat(full, &st) || !S_ISREG(st.st_mode))
		return false;
	ret->file_dev = st.st_dev;
	ret->file_ino = st.st_ino;
	return true;
}

bool sys_backing(const char *root, const char *dir, struct sys_backing *ret)
{
	if (!sys_line(ret->path, sizeof ret->path, "%s/loop/backing_file", dir))
		return false;
	ret->known = backing_asked(root, dir, ret) || backing_named(root, ret->path, ret) ||
		     (sys_cut_deleted(ret->path) && backing_named(root, ret->path, ret));
	return true;
}

void sys_lines_open(struct sys_lines *l, const char *root, const char *path)
{
	char full[PATH_MAX];

	*l = (struct sys_lines){ BUF_INIT, 0 };
	snprintf(full, sizeof full, "%s%s", root, path);
	if (buf_read_file(&l->text, full, (size_t)16 << 20))
		buf_release(&l->text);
}

char *sys_lines_next(struct sys_lines *l)
{
	char *line, *end;

	if (!l->text.s || l->at >= l->text.len)
		return NULL;
	line = l->text.s + l->at;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	l->at = end ? (size_t)(end - l->text.s) + 1 : l->text.len;
	return line;
}

void sys_lines_close(struct sys_lines *l)
{
	buf_release(&l->text);
}

/* The kernel writes blank, tab, newline and backslash of a path as \ooo. */
static char *unescape(char *s)
{
	char *to = s;

	for (char *c = s; *c; to++) {
		if (c[0] == '\\' && c[1] >= '0' && c[1] <= '3' && c[2] >= '0' && c[2] <= '7' &&
		    c[3] >= '0' && c[3] <= '7') {
			*to = (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + (c[3] - '0'));
			c += 4;
		} else {
			*to = *c++;
		}
	}
	*to = '\0';
	return s;
}

/* "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw": fields before " - " may grow. */
bool sys_mount_parse(char *line, struct sys_mount *ret)
{
	char *field[5], *rest = strstr(line, " - ");
	struct sys_mount m;

	if (!rest)
		return false;
	*rest = '\0';
	rest += 3;
	for (unsigned i = 0; i < 5; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return false;
	}
	m.type = strsep(&rest, " ");
	m.source = strsep(&rest, " ");
	if (!m.source || sscanf(field[2], "%u:%u", &m.dev.major, &m.dev.minor) != 2)
		return false;
	m.point = unescape(field[4]);
	unescape(m.source);
	*ret = m;
	return true;
}

/* "/dev/sda2   partition   8388604 0 -2"; the first line is a heading. */
bool sys_swap_parse(char *line, struct sys_swap *ret)
{
	char *path = strsep(&line, " \t");

	if (!line || path[0] != '/')
		return false;
	line += strspn(line, " \t");
	ret->is_file = !strncmp(line, "file", 4);
	ret->path = unescape(path);
	return true;
}

bool sys_cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path), m = sizeof mark - 1;

	if (n <= m || strcmp(path + n - m, mark))
		return false;
	path[n - m] = '\0';
	return true;
}
