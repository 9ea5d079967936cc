/* SPDX-License-Identifier: MIT */
#include "pts/identity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void first_line(const char *path, char *ret, size_t n)
{
	FILE *f = fopen(path, "re");

	ret[0] = 0;
	if (f && fgets(ret, (int)n, f))
		ret[strcspn(ret, "\n")] = 0;
	if (f)
		fclose(f);
}

static void of_file(const char *path, char *ret, size_t n)
{
	struct stat st;

	if (stat(path, &st) == 0)
		snprintf(ret, n, "file %x:%llu", (unsigned)st.st_dev,
			 (unsigned long long)st.st_ino);
}

static void of_disk(const char *path, char *ret, size_t n)
{
	char dir[64], name[128], line[PATH_MAX], boot[64];
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return;
	snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev));
	snprintf(name, sizeof name, "%s/loop/backing_file", dir);
	first_line(name, line, sizeof line);
	if (line[0]) {
		of_file(line, ret, n);
		return;
	}
	first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	snprintf(name, sizeof name, "%s/diskseq", dir);
	first_line(name, line, sizeof line);
	snprintf(ret, n, "boot %s disk %.40s", boot, line);
}

void identity_of(const struct dut_info *d, char *ret, size_t n)
{
	ret[0] = 0;
	if (d->kind == DUT_FILE)
		of_file(d->path, ret, n);
	else if (d->wwid[0])
		snprintf(ret, n, "wwid %s", d->wwid);
	else if (d->kind == DUT_BLOCK && !d->serial[0])
		of_disk(d->path, ret, n);
}
