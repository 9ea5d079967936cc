/* SPDX-License-Identifier: MIT */
#include "workloads/dut_layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "workloads/dut_real.h"

enum { DIR_BYTES = 600, DEPTH_MAX = 8 };

/* "" and false where there is no such file. */
static bool attribute(char *out, size_t n, const char *dir, const char *name)
{
	struct buf b = BUF_INIT;
	char path[DIR_BYTES + 64];
	bool ok;

	out[0] = 0;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	ok = !buf_read_file(&b, path, 4096);
	if (ok)
		clean_text(out, n, buf_cstr(&b));
	buf_release(&b);
	return ok;
}

static unsigned number(const char *dir, const char *name)
{
	char text[32];
	uint64_t v;

	attribute(text, sizeof text, dir, name);
	return parse_uint(text, 0, UINT_MAX, &v) ? 0 : (unsigned)v;
}

static bool device_of(const char *dir, unsigned *ret_major, unsigned *ret_minor)
{
	char text[32];

	attribute(text, sizeof text, dir, "dev");
	return sscanf(text, "%u:%u", ret_major, ret_minor) == 2;
}

/* ---- what it lies on ---- */

static int slaves_only(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int slaves(const char *dir, struct dirent ***ret)
{
	char path[DIR_BYTES + 16];

	snprintf(path, sizeof path, "%s/slaves", dir);
	return scandir(path, ret, slaves_only, versionsort);
}

/* A drive at the bottom; each once. */
static void add_member(struct layout *l, const char *root, const char *dir)
{
	struct dut_real facts = { .fd = -1 };
	const char *name = strrchr(dir, '/') + 1;
	struct layout_member *m = &l->member[l->n];
	unsigned major, minor;
	char path[sizeof m->path];

	snprintf(path, sizeof path, "/dev/%.50s", name);
	for (char *c = path; *c; c++)
		*c = *c == '!' ? '/' : *c;
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->member[i].path, path))
			return;
	if (l->n == LAYOUT_MEMBERS_MAX || !device_of(dir, &major, &minor))
		return;
	sysfs_facts(root, major, minor, &facts);
	*m = (struct layout_member){ .capacity_bytes = facts.d.info.capacity_bytes };
	memcpy(m->path, path, sizeof path);
	memcpy(m->model, facts.d.info.model, sizeof m->model);
	memcpy(m->serial, facts.d.info.serial, sizeof m->serial);
	memcpy(m->firmware, facts.d.info.firmware, sizeof m->firmware);
	memcpy(m->wwid, facts.d.info.wwid, sizeof m->wwid);
	l->n++;
}

/* Returns how many lie directly below. */
static unsigned walk(struct layout *l, const char *root, const char *dir, unsigned depth)
{
	struct dirent **list = NULL;
	int n = slaves(dir, &list);

	for (int i = 0; i < n; i++) {
		char link[DIR_BYTES + NAME_MAX + 16], real[PATH_MAX];

		snprintf(link, sizeof link, "%s/slaves/%s", dir, list[i]->d_name);
		free(list[i]);
		if (!realpath(link, real) || strlen(real) >= DIR_BYTES || depth == DEPTH_MAX)
			continue;
		if (!walk(l, root, real, depth + 1))
			add_member(l, root, real);
	}
	free(list);
	return n > 0 ? (unsigned)n : 0;
}

/* ---- what it is ---- */

/* The kind of the first target, which sysfs does not tell: "linear", "crypt". Only the kernel's own control device knows. */
static void dm_type(unsigned major, unsigned minor, char *ret, size_t n)
{
	union {
		struct dm_ioctl head;
		char bytes[4096];
	} u;
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	memset(&u, 0, sizeof u);
	u.head.version[0] = 4;
	u.head.data_size = sizeof u;
	u.head.data_start = sizeof u.head;
	u.head.dev = makedev(major, minor);
	u.head.flags = DM_STATUS_TABLE_FLAG;
	if (!ioctl(fd, DM_TABLE_STATUS, &u) && u.head.target_count) {
		struct dm_target_spec spec;

		memcpy(&spec, u.bytes + u.head.data_start, sizeof spec);
		snprintf(ret, n, "%.15s", spec.target_type);
	}
	close(fd);
}

static bool is_md(struct layout *l, const char *dir)
{
	char text[32];

	if (!attribute(l->level, sizeof l->level, dir, "md/level"))
		return false;
	snprintf(l->kind, sizeof l->kind, "md");
	attribute(l->uuid, sizeof l->uuid, dir, "md/uuid");
	l->disks = number(dir, "md/raid_disks");
	l->missing = number(dir, "md/degraded");
	attribute(text, sizeof text, dir, "md/sync_action");
	if (strcmp(text, "idle") && strcmp(text, "frozen"))
		snprintf(l->sync, sizeof l->sync, "%s", text);
	return true;
}

static bool is_dm(struct layout *l, const char *dir)
{
	static const char *const known[][2] = { { "LVM-", "lvm" },
						{ "CRYPT-", "crypt" },
						{ "mpath-", "multipath" } };

	if (!attribute(l->name, sizeof l->name, dir, "dm/name"))
		return false;
	snprintf(l->kind, sizeof l->kind, "dm");
	attribute(l->uuid, sizeof l->uuid, dir, "dm/uuid");
	for (unsigned i = 0; i < 3; i++)
		if (!strncmp(l->uuid, known[i][0], strlen(known[i][0])))
			snprintf(l->level, sizeof l->level, "%s", known[i][1]);
	return true;
}

bool layout_find(const char *root, unsigned major, unsigned minor, struct layout *ret)
{
	char link[DIR_BYTES], real[PATH_MAX];
	unsigned below;

	*ret = (struct layout){ .n = 0 };
	snprintf(link, sizeof link, "%s/dev/block/%u:%u", root, major, minor);
	if (!realpath(link, real) || strlen(real) >= DIR_BYTES ||
	    !(is_md(ret, real) || is_dm(ret, real)))
		return false;
	if (ret->kind[0] == 'd' && !strcmp(root, "/sys"))
		dm_type(major, minor, ret->level, sizeof ret->level);
	below = walk(ret, root, real, 0);
	if (!ret->disks)
		ret->disks = below;
	return true;
}

void layout_text(const struct layout *l, char *ret, unsigned n)
{
	char missing[32] = "";

	if (l->missing)
		snprintf(missing, sizeof missing, ", %u missing", l->missing);
	snprintf(ret, n, "%s%s%s of %u%s", l->kind, l->level[0] ? " " : "", l->level, l->disks,
		 missing);
}

void layout_facts(const struct layout *l, struct dut_info *d)
{
	layout_text(l, d->layout, sizeof d->layout);
	if (!d->model[0])
		snprintf(d->model, sizeof d->model, "%s", d->layout);
	if (!d->interface[0])
		snprintf(d->interface, sizeof d->interface, "%s", l->kind);
}
