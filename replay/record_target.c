/* SPDX-License-Identifier: MIT */
/* Which devices to record, and to which of them an event belongs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"

static uint32_t kernel_dev(unsigned major, unsigned minor)
{
	return major << 20 | minor;
}

static bool line_of(char *ret, size_t n, const char *dir, const char *file)
{
	char path[PATH_MAX];
	struct buf b = BUF_INIT;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	rc = buf_read_file(&b, path, 65536);
	snprintf(ret, n, "%.*s", rc ? 0 : (int)strcspn(buf_cstr(&b), "\n"), buf_cstr(&b));
	buf_release(&b);
	return !rc;
}

static bool dev_of(const char *dir, uint32_t *ret)
{
	char line[64], *colon;
	uint64_t major, minor;

	if (!line_of(line, sizeof(line), dir, "dev") || !(colon = strchr(line, ':')))
		return false;
	*colon = '\0';
	if (parse_uint(line, 0, 4095, &major) || parse_uint(colon + 1, 0, 0xfffff, &minor))
		return false;
	*ret = kernel_dev((unsigned)major, (unsigned)minor);
	return true;
}

static bool has(const char *dir, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return access(path, F_OK) == 0;
}

/* Its folder in /sys, without symlinks. */
static bool sys_dir(unsigned major, unsigned minor, char ret[PATH_MAX])
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	return realpath(path, ret) != NULL;
}

static const char *base_name(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static int alias(struct record_target *t, uint32_t dev, struct err *err)
{
	if (t->n_aliases == RECORD_ALIASES_MAX)
		return err_set(err, -EINVAL, "%s: has more than %d partitions", t->path,
			       RECORD_ALIASES_MAX - 1);
	t->alias[t->n_aliases++] = dev;
	return 0;
}

/* A bio carries the number of the partition that it was sent to. */
static int alias_partitions(struct record_target *t, const char *disk, struct err *err)
{
	DIR *d = opendir(disk);
	char path[PATH_MAX];
	struct dirent *e;
	uint32_t dev;
	int rc = 0;

	while (d && !rc && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", disk, e->d_name);
		if (e->d_name[0] != '.' && has(path, "partition") && dev_of(path, &dev))
			rc = alias(t, dev, err);
	}
	if (d)
		closedir(d);
	return rc;
}

static int read_partition(struct record_target *t, const char *dir, struct err *err)
{
	char start[32], size[32];

	if (!line_of(start, sizeof(start), dir, "start") ||
	    !line_of(size, sizeof(size), dir, "size") ||
	    parse_uint(start, 0, UINT64_MAX >> 10, &t->first_sector) ||
	    parse_uint(size, 1, UINT64_MAX >> 10, &t->sectors))
		return err_set(err, -EINVAL, "%s: /sys does not say where the partition lies",
			       t->path);
	return 0;
}

int record_target_open(const char *path, struct record_target *ret, struct err *err)
{
	struct record_target t = { .path = path };
	char dir[PATH_MAX], disk[PATH_MAX];
	struct stat st;
	int rc;

	if (stat(path, &st))
		return err_set(err, -ENOENT, "%s: %s", path, strerror(errno));
	if (!S_ISBLK(st.st_mode))
		return err_set(err, -EINVAL,
			       "%s: is no block device: only the kernel's block devices have "
			       "events to record",
			       path);
	t.dev = kernel_dev(major(st.st_rdev), minor(st.st_rdev));
	if (!sys_dir(major(st.st_rdev), minor(st.st_rdev), dir))
		return err_set(err, -ENOENT, "%s: /sys does not know the device", path);
	snprintf(t.name, sizeof(t.name), "%s", base_name(dir));
	memcpy(disk, dir, sizeof(disk));
	t.part = has(dir, "partition");
	if (t.part && strrchr(disk, '/'))
		*strrchr(disk, '/') = '\0';
	snprintf(t.disk_name, sizeof(t.disk_name), "%s", base_name(disk));
	if (!dev_of(disk, &t.disk))
		return err_set(err, -ENOENT, "%s: /sys does not know the disk of it", path);
	t.bio = !has(disk, "mq"); /* no hardware queue, no requests */
	rc = alias(&t, t.disk, err);
	if (!rc && t.bio)
		rc = alias_partitions(&t, disk, err);
	if (!rc && t.part)
		rc = read_partition(&t, dir, err);
	if (!rc)
		*ret = t;
	return rc;
}

/* ---- what lies on what ---- */

#define BELOW_DEPTH 16 /* of stacked devices; the kernel allows fewer */

static bool below(const char *dir, const struct record_target *t, unsigned depth);

/* The device of the file behind a loop device. */
static bool below_loop(const char *dir, const struct record_target *t, unsigned depth)
{
	char file[PATH_MAX], next[PATH_MAX];
	struct stat st;
	dev_t dev;

	if (!line_of(file, sizeof(file), dir, "loop/backing_file") || stat(file, &st))
		return false;
	dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	return sys_dir(major(dev), minor(dev), next) && below(next, t, depth + 1);
}

static bool below_members(const char *dir, const struct record_target *t, unsigned depth)
{
	char path[PATH_MAX], next[PATH_MAX];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/slaves", dir);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/slaves/%s", dir, e->d_name);
		if (e->d_name[0] != '.' && realpath(path, next))
			found = below(next, t, depth + 1);
	}
	if (d)
		closedir(d);
	return found;
}

/* Is the device whose folder @dir is the target, or does it lie on it? A disk lies on each of its partitions here. */
static bool below(const char *dir, const struct record_target *t, unsigned depth)
{
	char disk[PATH_MAX];
	uint32_t dev;

	if (depth > BELOW_DEPTH || !dev_of(dir, &dev))
		return false;
	if (dev == t->dev || (!t->part && dev == t->disk))
		return true;
	memcpy(disk, dir, sizeof(disk));
	if (has(dir, "partition")) {
		if (strrchr(disk, '/'))
			*strrchr(disk, '/') = '\0';
		if (!dev_of(disk, &dev) || (!t->part && dev == t->disk))
			return dev == t->disk;
	}
	return below_members(disk, t, depth) || below_members(dir, t, depth) ||
	       below_loop(disk, t, depth);
}

int record_lies_on(const struct record_target *t, unsigned n, uint64_t file_dev)
{
	char dir[PATH_MAX];

	if (!sys_dir(major(file_dev), minor(file_dev), dir))
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (below(dir, &t[i], 0))
			return (int)i;
	return -1;
}

static int check_pair(const struct record_target *a, const struct record_target *b, struct err *err)
{
	char dir[PATH_MAX];

	if (a->dev == b->dev)
		return err_set(err, -EINVAL, "%s and %s are the same device", a->path, b->path);
	if (a->disk == b->disk && (!a->part || !b->part))
		return err_set(err, -EINVAL,
			       "%s is a part of %s: its IO would count twice; name one of them",
			       a->part ? a->path : b->path, a->part ? b->path : a->path);
	if (sys_dir(a->dev >> 20, a->dev & 0xfffff, dir) && a->disk != b->disk && below(dir, b, 0))
		return err_set(err, -EINVAL,
			       "%s lies on %s: its IO would count twice; record them one at a time",
			       a->path, b->path);
	return 0;
}

int record_targets_check(const struct record_target *t, unsigned n, struct err *err)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			int rc = i == k ? 0 : check_pair(&t[i], &t[k], err);

			if (rc)
				return rc;
		}
	return 0;
}

/* ---- events ---- */

static bool is_of(const struct record_target *t, const struct blk_io_trace *rec)
{
	uint64_t sectors = (rec->bytes + 511ull) / 512;
	bool ours = false;

	for (unsigned i = 0; i < t->n_aliases && !ours; i++)
		ours = t->alias[i] == rec->device;
	if (!ours || !t->part)
		return ours;
	return sectors && rec->sector >= t->first_sector && sectors <= t->sectors &&
	       rec->sector - t->first_sector <= t->sectors - sectors;
}

bool target_claim(const struct record_target *t, unsigned n, struct blk_io_trace *rec)
{
	for (unsigned i = 0; i < n; i++) {
		if (!is_of(&t[i], rec))
			continue;
		rec->device = t[i].dev;
		rec->sector -= t[i].first_sector;
		return true;
	}
	return false;
}
