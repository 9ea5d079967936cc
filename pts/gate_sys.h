/* SPDX-License-Identifier: MIT */
/*
 * What /sys and /proc say of block devices, mounts, swap and loops: private to the gate and the host facts. @root is a prefix
 * of /sys, /proc and /dev for tests, "" on a real machine. Reading only; a file that is not there is "no", never an error.
 */
#ifndef PTS_GATE_SYS_H
#define PTS_GATE_SYS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"

enum { SYS_PATH = 640, SYS_NAME = 96 };

struct sys_dev {
	unsigned major, minor;
};

static inline bool sys_same(struct sys_dev a, struct sys_dev b)
{
	return a.major == b.major && a.minor == b.minor;
}

/* First line of the file at the formatted path, trimmed. False, and "" in @ret, when it cannot be read. */
bool sys_line(char *ret, size_t n, const char *fmt, ...) printf_like(3, 4);
bool sys_exists(const char *fmt, ...) printf_like(1, 2);
/* The number at the formatted path, or @dflt. */
long long sys_num(long long dflt, const char *fmt, ...) printf_like(2, 3);

/* The block device behind a path, symlinks followed. -ENOTBLK it is something else, -ENOENT ... */
int sys_resolve(const char *root, const char *path, struct sys_dev *ret) must_check;
/* Its folder in /sys, without symlinks. */
bool sys_dir(const char *root, struct sys_dev dev, char *ret, size_t n);
/* The number of the block device whose /sys folder is @dir. */
bool sys_dev_of(const char *dir, struct sys_dev *ret);
/* "/dev/NAME" of the device whose /sys folder is @dir. */
void sys_dev_path(const char *dir, char *ret, size_t n);
/* The whole disk of a partition's folder; false where @dir is no partition. */
bool sys_parent(const char *dir, char *ret, size_t n);

/* What a loop device reads from and writes to. */
struct sys_backing {
	char path
		[PATH_MAX]; /* as the kernel names it, which another mount namespace may not know */
	bool known; /* the rest is */
	bool block; /* a block device: @dev; else a file */
	struct sys_dev dev;
	dev_t file_dev;
	ino_t file_ino;
};
/* @dir: the /sys folder of a block device. False: it is no loop device, or one without a backing file. */
bool sys_backing(const char *root, const char *dir, struct sys_backing *ret);

/* Lines of a table below /proc, and entries of /sys/block, one at a time. Strings live until the next call. */
struct sys_lines {
	struct buf text;
	size_t at;
};
void sys_lines_open(struct sys_lines *l, const char *root, const char *path);
char *sys_lines_next(struct sys_lines *l); /* NULL at the end */
void sys_lines_close(struct sys_lines *l);

struct sys_mount {
	struct sys_dev dev;
	char *point, *type, *source;
};
/* Parses a line of mountinfo in place. */
bool sys_mount_parse(char *line, struct sys_mount *ret);

struct sys_swap {
	char *path;
	bool is_file;
};
bool sys_swap_parse(char *line, struct sys_swap *ret);

/* The name in front of a " (deleted)"; true when there was one. */
bool sys_cut_deleted(char *path);

#endif
