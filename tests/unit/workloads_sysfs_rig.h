/* SPDX-License-Identifier: MIT */
/* Made-up trees of sysfs, under a folder that the test makes and removes. */
#ifndef TESTS_UNIT_WORKLOADS_SYSFS_RIG_H
#define TESTS_UNIT_WORKLOADS_SYSFS_RIG_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static char root[64];

/* A file with a text, and the folders above it. */
static void put(const char *name, const char *text)
{
	char path[512], *slash = path;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, name);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	CHECK_MSG(f, "%s", path);
	fputs(text, f);
	fclose(f);
}

/* A link @name to @to. */
static void tie(const char *to, const char *name)
{
	char path[512], target[512];

	put(name, ""); /* makes the folders */
	snprintf(path, sizeof path, "%s/%s", root, name);
	snprintf(target, sizeof target, "%s/%s", root, to);
	unlink(path);
	CHECK(!symlink(target, path));
}

#endif
