/* SPDX-License-Identifier: MIT */
/* A machine made of files: small trees of /sys, /proc and /dev in a folder of their own. Names may begin with '/' or not. */
#ifndef TESTS_UNIT_PTS_TREE_H
#define TESTS_UNIT_PTS_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static inline void tree_begin_in(const char *dir)
{
	snprintf(root, sizeof root, "%s/pts-tree.XXXXXX", dir);
	if (!mkdtemp(root))
		abort();
}

/* In memory where that can be had: some thousand small files. */
static inline void tree_begin(void)
{
	tree_begin_in(access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	return remove(path);
}

static inline void tree_end(void)
{
	nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *in_tree(char out[PATH_MAX], const char *name)
{
	snprintf(out, PATH_MAX, "%s/%s", root, name + (*name == '/'));
	return out;
}

static inline void make_parents(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof dir, "%s", path);
	for (char *c = dir + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(dir, 0755);
		*c = '/';
	}
}

static inline void tree_write(const char *name, const char *text, const char *mode)
{
	char path[PATH_MAX];

	make_parents(in_tree(path, name));
	FILE *f = fopen(path, mode);
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

/* In place of what is there. */
static inline void put(const char *name, const char *text)
{
	tree_write(name, text, "w");
}

/* Behind what is there. */
static inline void add(const char *name, const char *text)
{
	tree_write(name, text, "a");
}

/* Without a file, as on a machine that does not tell. */
static inline void take(const char *name)
{
	char path[PATH_MAX];

	if (unlink(in_tree(path, name)))
		abort();
}

static inline void link_as(const char *name, const char *to)
{
	char path[PATH_MAX];

	make_parents(in_tree(path, name));
	if (symlink(to, path))
		abort();
}

/* To another place of the tree. */
static inline void link_to(const char *name, const char *target)
{
	char to[PATH_MAX];

	link_as(name, in_tree(to, target));
}

#endif
