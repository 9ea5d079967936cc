/* SPDX-License-Identifier: MIT */
/* The gate for file: targets: regular files that nothing else uses. */
#include "pts/gate_use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *type_word(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device; name it without 'file:'";
	}
	return "no regular file";
}

static bool same_file(const char *root, const char *path, const struct stat *st)
{
	char full[PATH_MAX];
	struct stat other;

	snprintf(full, sizeof full, "%s%s", root, path);
	return !stat(full, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static bool is_swap(const char *root, const struct stat *st)
{
	struct sys_lines l;
	struct sys_swap s;
	bool found = false;
	char *line;

	sys_lines_open(&l, root, "/proc/swaps");
	while (!found && (line = sys_lines_next(&l)) != NULL)
		found = sys_swap_parse(line, &s) && s.is_file && same_file(root, s.path, st);
	sys_lines_close(&l);
	return found;
}

/* Some file systems mount a file without a loop device between. */
static bool is_mounted(const char *root, const struct stat *st, char *ret, size_t n)
{
	struct sys_lines l;
	struct sys_mount m;
	bool found = false;
	char *line;

	sys_lines_open(&l, root, "/proc/self/mountinfo");
	while (!found && (line = sys_lines_next(&l)) != NULL) {
		found = sys_mount_parse(line, &m) && m.source[0] == '/' &&
			same_file(root, m.source, st);
		if (found)
			snprintf(ret, n, "%s", m.point);
	}
	sys_lines_close(&l);
	return found;
}

/* The backing file lost its name; another name of it may be left. Who may ask the loop device asks; others go by the name. */
static bool deleted_backing(const char *root, const char *loop, const char *path,
			    const struct stat *st)
{
	struct loop_info64 info;
	char dev[PATH_MAX];
	bool same;
	int fd;

	snprintf(dev, sizeof dev, "%s/dev/%s", root, loop);
	fd = open(dev, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, LOOP_GET_STATUS64, &info))
		same = same_file(root, path, st);
	else
		same = info.lo_inode == st->st_ino && info.lo_device == st->st_dev;
	if (fd >= 0)
		close(fd);
	return same;
}

static bool loop_uses(const char *root, const char *loop, const struct stat *st)
{
	char file[PATH_MAX];

	if (!sys_line(file, sizeof file, "%s/sys/block/%s/loop/backing_file", root, loop))
		return false;
	if (same_file(root, file, st))
		return true;
	return sys_cut_deleted(file) && deleted_backing(root, loop, file, st);
}

static bool is_loop_backing(const char *root, const struct stat *st, char *ret, size_t n)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/block", root);
	d = opendir(dir);
	while (d && !found && (e = readdir(d)) != NULL) {
		found = !strncmp(e->d_name, "loop", 4) && loop_uses(root, e->d_name, st);
		if (found)
			snprintf(ret, n, "/dev/%.100s", e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_open(const char *root, const struct stat *st, char *ret, unsigned n)
{
	struct open_query q = { .root = root, .file_ino = st->st_ino };

	q.file_dev = (struct sys_dev){ major(st->st_dev), minor(st->st_dev) };
	return use_opener(&q, ret, n);
}

/* The path without symbolic links; of a file that is not there yet, that of its folder, with a '/'. */
static void real_path(const char *path, char *ret, size_t n)
{
	char dir[PATH_MAX], *slash, *real = realpath(path, NULL);
	bool whole = real != NULL;

	if (!whole) {
		snprintf(dir, sizeof dir, "%s", path);
		slash = strrchr(dir, '/');
		if (slash)
			slash[slash == dir] = '\0';
		real = realpath(slash ? dir : ".", NULL);
	}
	snprintf(ret, n, "%s%s", real ? real : path, whole ? "" : "/");
	free(real);
}

/* A name below /dev is a device that is not there (yet), or a mistake; memory files of /dev/shm are files. */
static bool below_dev(const char *path)
{
	char real[PATH_MAX];

	real_path(path, real, sizeof real);
	return !strncmp(real, "/dev/", 5) && strncmp(real, "/dev/shm/", 9);
}

static int file_type(const char *path, const struct stat *st, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, -EPERM, "%s is %s: file: takes regular files only", path,
			       type_word(st->st_mode));
	if (!(st->st_mode & 0222))
		return err_set(err, -EPERM, "%s is read-only (mode %04o): chmod it if it may go",
			       path, st->st_mode & 07777);
	if (access(path, W_OK))
		return err_set(err, -EPERM, "%s cannot be written by you: %s", path,
			       strerror(errno));
	return 0;
}

int gate_file_in_use(const char *root, const char *path, struct err *err)
{
	char who[128];
	struct stat st;
	int rc;

	if (below_dev(path))
		return err_set(err, -EPERM,
			       "%s lies in /dev: name a drive without 'file:', or a file elsewhere",
			       path);
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return err_set(err, -errno, "%s: %s", path, strerror(errno));
		if (lstat(path, &st))
			return 0;
		return err_set(err, -EPERM, "%s is a symbolic link to nothing: remove it", path);
	}
	rc = file_type(path, &st, err);
	if (rc)
		return rc;
	if (is_swap(root, &st))
		return err_set(err, -EPERM,
			       "%s is used as swap: take it out of use with swapoff first", path);
	if (is_loop_backing(root, &st, who, sizeof who))
		return err_set(err, -EPERM, "%s is in use as %s: losetup -d %s first, or name that",
			       path, who, who);
	if (is_mounted(root, &st, who, sizeof who))
		return err_set(err, -EPERM, "%s is mounted on %s: unmount it first", path, who);
	if (is_open(root, &st, who, sizeof who))
		return err_set(err, -EPERM, "%s is open in %s: end that first", path, who);
	return 0;
}
