/* SPDX-License-Identifier: MIT */
/* The gate for file: targets, and for files behind loop devices: regular files that nothing else uses. */
#include "pts/gate_use.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct file_id {
	dev_t dev;
	ino_t ino;
};

static bool same_file(const char *root, const char *path, struct file_id id)
{
	char full[PATH_MAX];
	struct stat other;

	snprintf(full, sizeof full, "%s%s", root, path);
	return !stat(full, &other) && other.st_dev == id.dev && other.st_ino == id.ino;
}

static bool is_swap(const char *root, struct file_id id)
{
	struct sys_lines l;
	struct sys_swap s;
	bool found = false;
	char *line;

	sys_lines_open(&l, root, "/proc/swaps");
	while (!found && (line = sys_lines_next(&l)) != NULL)
		found = sys_swap_parse(line, &s) && s.is_file && same_file(root, s.path, id);
	sys_lines_close(&l);
	return found;
}

/* Some file systems mount a file without a loop device between. */
static bool is_mounted(const char *root, struct file_id id, char *ret, size_t n)
{
	struct sys_lines l;
	struct sys_mount m;
	bool found = false;
	char *line;

	sys_lines_open(&l, root, "/proc/self/mountinfo");
	while (!found && (line = sys_lines_next(&l)) != NULL) {
		found = sys_mount_parse(line, &m) && m.source[0] == '/' &&
			same_file(root, m.source, id);
		if (found)
			snprintf(ret, n, "%s", m.point);
	}
	sys_lines_close(&l);
	return found;
}

static bool loop_uses(const char *root, const char *name, struct file_id id)
{
	char dir[PATH_MAX];
	struct sys_backing b;

	snprintf(dir, sizeof dir, "%s/sys/block/%s", root, name);
	return !strncmp(name, "loop", 4) && sys_backing(root, dir, &b) && b.known && !b.block &&
	       b.file_dev == id.dev && b.file_ino == id.ino;
}

static bool is_loop_backing(const char *root, struct file_id id, char *ret, size_t n)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/block", root);
	d = opendir(dir);
	while (d && !found && (e = readdir(d)) != NULL) {
		found = loop_uses(root, e->d_name, id);
		if (found)
			snprintf(ret, n, "/dev/%.100s", e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_open(const char *root, struct file_id id, bool readers, char who[static 128])
{
	struct open_query q = { .root = root, .file_ino = id.ino, .readers = readers };

	q.file_dev = (struct sys_dev){ major(id.dev), minor(id.dev) };
	return use_opener(&q, who, 128);
}

/* ---- the file behind a loop device ---- */

/* Even without a user it is refused: whoever made it has something in mind with the same bytes. */
static void other_loop(const char *root, const char *dir, struct use_report *ret)
{
	struct use_tree tree;
	struct use_report use = { .text = "" };
	char path[SYS_NAME];

	sys_dev_path(dir, path, sizeof path);
	if (!use_tree_build_at(root, dir, (struct use_leave){ .slices = USE_ITSELF }, &tree)) {
		use_look(&tree, 0, &use);
		use_tree_release(&tree);
	}
	ret->system |= use.system;
	if (use.n)
		use_report_add(ret, use.hint, "also behind %s, which is %s", path, use.text);
	else
		use_report_add(ret, "detach that first (losetup -d)", "also behind %s", path);
}

static void other_loops(const char *root, struct file_id id, struct sys_dev loop,
			struct use_report *ret)
{
	char dir[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/block", root);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		char link[PATH_MAX + NAME_MAX + 2], real[PATH_MAX];
		struct sys_dev dev;

		snprintf(link, sizeof link, "%s/%s", dir, e->d_name);
		if (loop_uses(root, e->d_name, id) && realpath(link, real) &&
		    !(sys_dev_of(real, &dev) && sys_same(dev, loop)))
			other_loop(root, real, ret);
	}
	if (d)
		closedir(d);
}

void use_look_file(const char *root, const struct sys_backing *file, struct sys_dev loop,
		   struct use_report *ret)
{
	struct file_id id = { file->file_dev, file->file_ino };
	char who[128], point[128];

	if (is_swap(root, id))
		use_report_add(ret, "take it out of use with swapoff first", "used as swap");
	if (is_mounted(root, id, point, sizeof point))
		use_report_add(ret, "unmount it first", "mounted on %s", point);
	other_loops(root, id, loop, ret);
	if (!ret->n && is_open(root, id, false, who))
		use_report_add(ret, "end that first", "open for writing in %s", who);
}

/* ---- file: targets ---- */

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
	struct file_id id;
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
	id = (struct file_id){ st.st_dev, st.st_ino };
	if (is_swap(root, id))
		return err_set(err, -EPERM,
			       "%s is used as swap: take it out of use with swapoff first", path);
	if (is_loop_backing(root, id, who, sizeof who))
		return err_set(err, -EPERM, "%s is in use as %s: losetup -d %s first, or name that",
			       path, who, who);
	if (is_mounted(root, id, who, sizeof who))
		return err_set(err, -EPERM, "%s is mounted on %s: unmount it first", path, who);
	if (is_open(root, id, true, who))
		return err_set(err, -EPERM, "%s is open in %s: end that first", path, who);
	return 0;
}
