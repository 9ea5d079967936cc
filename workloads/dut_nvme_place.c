/* SPDX-License-Identifier: MIT */
/*
 * Which controller a namespace hangs under, as sysfs tells. With native multipath the disk nvme0n1 hangs under a subsystem, and its
 * numbers are the subsystem's: nvme0 may well be another drive.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pts/base/units.h"
#include "workloads/dut_nvme_impl.h"
#include "workloads/dut_real.h"

static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof path, "%.3000s/%s", dir, name);
	return !stat(path, &st);
}

/* The number in a file; @none where there is none. */
static uint64_t number(const char *dir, const char *name, uint64_t none)
{
	char text[32];
	uint64_t v;

	sysfs_attribute(text, sizeof text, dir, name);
	return parse_uint(text, 0, UINT64_MAX, &v) ? none : v;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "00 25 38 ab", "eui.0025" and the like as their digits. */
static void digits_of(char *out, size_t n, const char *dir, const char *name)
{
	static const char hex[] = "0123456789abcdef";
	char text[80];
	size_t at = 0;

	sysfs_attribute(text, sizeof text, dir, name);
	for (const char *s = text; *s && at + 1 < n; s++) {
		const char *d = strchr(hex, *s >= 'A' && *s <= 'F' ? *s + 'a' - 'A' : *s);

		if (d && *d)
			out[at++] = *d;
	}
	out[at] = 0;
}

/* Calls @each with the real path of all that is in @dir, in rising order of the names. Stops when it returns false. */
static void folders(const char *dir, bool (*each)(void *arg, const char *path), void *arg)
{
	struct dirent **e;
	int n = scandir(dir, &e, NULL, versionsort);
	bool more = true;

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX], real[PATH_MAX];

		snprintf(path, sizeof path, "%.3000s/%s", dir, e[i]->d_name);
		if (more && e[i]->d_name[0] != '.' && realpath(path, real))
			more = each(arg, real);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
}

/* ---- one of several controllers ---- */

struct choice {
	const struct nvme_place *want;
	char dir[PATH_MAX]; /* the best so far */
	unsigned score; /* its; 0 none */
	unsigned path; /* of the controller that is looked at */
};

/* The namespace as this controller sees it, nvme0c1n1: same number, same identity. */
static bool score_path(void *arg, const char *path)
{
	struct choice *c = arg;
	char wwid[80], ana[32];

	if (number(path, "nsid", 0) != c->want->nsid)
		return true;
	sysfs_attribute(wwid, sizeof wwid, path, "wwid");
	if (wwid[0] && c->want->wwid[0] && strcmp(wwid, c->want->wwid))
		return true;
	sysfs_attribute(ana, sizeof ana, path, "ana_state");
	c->path = !ana[0] || !strcmp(ana, "optimized") ? 2 : 1;
	return false;
}

static bool score_controller(void *arg, const char *path)
{
	struct choice *c = arg;
	char state[32];

	if (!has(path, "transport"))
		return true;
	c->path = 0;
	folders(path, score_path, c);
	sysfs_attribute(state, sizeof state, path, "state");
	if (c->path && (!state[0] || !strcmp(state, "live")))
		c->path += 2;
	if (c->path > c->score) {
		c->score = c->path;
		snprintf(c->dir, sizeof c->dir, "%s", path);
	}
	return true;
}

/* ---- a namespace ---- */

/* ng0n1 beside nvme0n1: the kernel numbers both alike, sysfs ties them by nothing else. Who opens it asks it for its nsid. */
static void find_generic(struct nvme_place *p, const char *dir)
{
	const char *numbers = p->block + strspn(p->block, "nvme");
	char name[sizeof p->generic], up[PATH_MAX];

	snprintf(name, sizeof name, "ng%.28s", numbers);
	snprintf(up, sizeof up, "%.*s", (int)(base_of(dir) - dir), dir);
	if (numbers != p->block && has(up, name))
		memcpy(p->generic, name, sizeof name);
}

static void read_place(struct nvme_place *p, const char *dir, const char *ctrl)
{
	struct dut_real r = { .fd = -1 };
	char numa[16];
	uint64_t node;

	snprintf(p->ctrl, sizeof p->ctrl, "%.31s", base_of(ctrl));
	snprintf(p->ctrl_dir, sizeof p->ctrl_dir, "%.*s", (int)sizeof p->ctrl_dir - 1, ctrl);
	sysfs_attribute(p->dev, sizeof p->dev, ctrl, "dev");
	sysfs_attribute(p->serial, sizeof p->serial, ctrl, "serial");
	sysfs_attribute(p->transport, sizeof p->transport, ctrl, "transport");
	sysfs_attribute(p->address, sizeof p->address, ctrl, "address");
	sysfs_attribute(numa, sizeof numa, ctrl, "numa_node"); /* -1: none */
	p->numa_node = parse_uint(numa, 0, INT_MAX, &node) ? -1 : (int)node;
	p->capacity_bytes = number(dir, "size", 0) * 512;
	digits_of(p->eui, sizeof p->eui, dir, "eui");
	digits_of(p->nguid, sizeof p->nguid, dir, "nguid");
	find_generic(p, dir);
	health_find_link(&r, ctrl);
	health_read_link(&r, p->link);
	health_read_link_max(&r, p->link_max);
}

int nvme_place_find(const char *root, unsigned major, unsigned minor, struct nvme_place *ret,
		    struct err *err)
{
	struct nvme_place p = { .numa_node = -1 };
	struct choice c = { .want = &p };
	char path[PATH_MAX], dir[PATH_MAX], up[PATH_MAX];

	snprintf(path, sizeof path, "%.3000s/dev/block/%u:%u", root, major, minor);
	if (!realpath(path, dir))
		return err_set(err, -ENOENT, "block device %u:%u is not in sysfs", major, minor);
	if (has(dir, "partition"))
		return err_set(err, -ENOENT, "%s is a partition, not a namespace", base_of(dir));
	p.nsid = (uint32_t)number(dir, "nsid", 0);
	snprintf(p.block, sizeof p.block, "%.31s", base_of(dir));
	sysfs_attribute(p.wwid, sizeof p.wwid, dir, "wwid");
	snprintf(path, sizeof path, "%.3000s/device", dir);
	if (!p.nsid || !realpath(path, up))
		return err_set(err, -ENOENT, "%s is no NVMe namespace", p.block);
	if (has(up, "transport"))
		snprintf(c.dir, sizeof c.dir, "%s", up);
	else
		folders(up, score_controller, &c);
	if (!c.dir[0])
		return err_set(err, -ENOENT, "%s: no controller in sysfs has namespace %u", p.block,
			       p.nsid);
	read_place(&p, dir, c.dir);
	snprintf(p.root, sizeof p.root, "%s", root);
	*ret = p;
	return 0;
}

/* ---- what else is in the subsystem ---- */

struct search {
	const struct nvme_place *own;
	struct nvme_others *list;
	bool found; /* this subsystem is that of the own controller */
};

/* A disk beside the own one. What is hidden is a way to one, nvme0c1n2, and no disk. */
static bool add_disk(void *arg, const char *path)
{
	struct search *s = arg;
	struct nvme_others *l = s->list;
	uint32_t nsid = (uint32_t)number(path, "nsid", 0);

	if (!nsid || number(path, "hidden", 0) || !strcmp(base_of(path), s->own->block))
		return true;
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].block, base_of(path)))
			return true;
	if (l->n == NVME_OTHERS_MAX)
		return false;
	l->at[l->n].nsid = nsid;
	snprintf(l->at[l->n++].block, sizeof l->at->block, "%.31s", base_of(path));
	return true;
}

static bool add_controller(void *arg, const char *path)
{
	if (has(path, "transport"))
		folders(path, add_disk, arg);
	return true;
}

static bool is_own(void *arg, const char *path)
{
	struct search *s = arg;

	s->found = s->found || !strcmp(path, s->own->ctrl_dir);
	return !s->found;
}

static bool add_subsystem(void *arg, const char *path)
{
	struct search *s = arg;

	folders(path, is_own, s);
	if (s->found) {
		folders(path, add_disk, s);
		folders(path, add_controller, s);
	}
	return !s->found;
}

void nvme_place_others(const struct nvme_place *p, struct nvme_others *ret)
{
	struct search s = { .own = p, .list = ret };
	char path[PATH_MAX];

	ret->n = 0;
	folders(p->ctrl_dir, add_disk, &s);
	snprintf(path, sizeof path, "%s/class/nvme-subsystem", p->root);
	folders(path, add_subsystem, &s);
}
