/* SPDX-License-Identifier: MIT */
/* A drive looked for by what it is: names change by a reboot, a reset, a re-plug. sysfs alone is read, no drive is asked. */
#include "pts/identity.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/gate.h"
#include "pts/gate_sys.h"
#include "workloads/dut_real.h"

static bool facts_of(const char *root, const char *path, struct dut_info *ret)
{
	struct dut_real r = { .fd = -1 };
	char sys[PATH_MAX], dir[SYS_PATH], disk[SYS_PATH];
	struct sys_dev dev;
	struct layout l;

	if (sys_resolve(root, path, &dev) || !sys_dir(root, dev, dir, sizeof dir) ||
	    sys_num(0, "%s/hidden", dir) == 1)
		return false;
	snprintf(sys, sizeof sys, "%s/sys", root);
	sysfs_facts(sys, dev.major, dev.minor, &r);
	*ret = r.d.info;
	ret->kind = DUT_BLOCK;
	snprintf(ret->path, sizeof ret->path, "%s", path);
	if (!sys_parent(dir, disk, sizeof disk))
		memcpy(disk, dir, sizeof disk);
	ret->nsid = (uint32_t)sys_num(0, "%s/nsid", disk);
	if (gate_layout(root, path, &l))
		layout_text(&l, ret->layout, sizeof ret->layout);
	return true;
}

/* What of an array's text stays when a member of it is another: its uuid, or its name. */
static const char *lasting_line(const char *text, size_t *ret_len)
{
	static const char *const keys[] = { "\nuuid=", "\nname=" };

	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(text, keys[i]);

		if (!at)
			continue;
		*ret_len = strcspn(at + 1, "\n");
		return at + 1;
	}
	*ret_len = strlen(text);
	return text;
}

static bool same_text(const char *a, const char *b)
{
	size_t n, m;
	const char *x = lasting_line(a, &n), *y = lasting_line(b, &m);

	return n == m && n && !strncmp(x, y, n);
}

/* "3" of ", partition 3" at the end; "" a whole drive. */
static const char *partition_of(const char *identity)
{
	const char *at = strstr(identity, "partition ");

	return at ? at + strlen("partition ") : "";
}

/* The kernel's text of a SATA drive's model is cut at 16 characters. */
static bool same_model(const char *a, const char *b)
{
	size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

	return !strncmp(a, b, n) && (n >= 16 || strlen(a) == strlen(b));
}

/*
 * 0 it is another; 1 it may be it; 2 it is. A serial is that of the drive: its namespaces and partitions share it. A wwid may be
 * told otherwise by another kernel, so that a namespace with that serial and number counts as well.
 */
static unsigned likeness(const char *root, const struct dut_info *id, const char *identity,
			 const struct dut_info *d)
{
	bool both_nsid = id->nsid && d->nsid, both_wwid = id->wwid[0] && d->wwid[0], same;
	struct buf now = BUF_INIT;
	unsigned like;

	if (id->serial[0] && (strcmp(id->serial, d->serial) || !same_model(id->model, d->model)))
		return 0;
	if (both_nsid && id->nsid != d->nsid)
		return 0;
	identity_text(root, d, &now);
	if (!id->serial[0])
		same = identity[0] && same_text(identity, buf_cstr(&now));
	else
		same = !strcmp(partition_of(identity), partition_of(buf_cstr(&now)));
	buf_release(&now);
	like = both_wwid && strcmp(id->wwid, d->wwid) ? both_nsid : 2;
	return same ? like : 0;
}

static int named_only(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

bool identity_find(const char *sysroot, const struct dut_info *id, const char *identity,
		   char ret_path[128])
{
	char dir[PATH_MAX], path[SYS_NAME];
	struct dirent **list = NULL;
	struct dut_info d;
	unsigned best = 0;
	int n;

	if (id->path[0] && facts_of(sysroot, id->path, &d))
		best = likeness(sysroot, id, identity, &d);
	if (best)
		snprintf(ret_path, 128, "%.127s", id->path);
	snprintf(dir, sizeof dir, "%s/sys/class/block", sysroot);
	n = best < 2 ? scandir(dir, &list, named_only, versionsort) : 0;
	for (int i = 0; i < n; i++) {
		unsigned like;

		sys_dev_path(list[i]->d_name, path, sizeof path);
		free(list[i]);
		like = best < 2 && facts_of(sysroot, path, &d) ? likeness(sysroot, id, identity, &d)
							       : 0;
		if (like <= best)
			continue;
		snprintf(ret_path, 128, "%s", path);
		best = like;
	}
	free(list);
	return best;
}
