/* SPDX-License-Identifier: MIT */
#include "pts/gate_use.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NODES_MAX = 4096 }; /* a tree that large is a loop in somebody's /sys */

/* ---- the tree ---- */

static bool tree_find(const struct use_tree *t, struct sys_dev dev, unsigned *ret)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (!sys_same(t->node[i].dev, dev))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

bool use_is_lvm(const char *dir)
{
	char uuid[SYS_NAME];

	return sys_line(uuid, sizeof uuid, "%s/dm/uuid", dir) && !strncmp(uuid, "LVM-", 4);
}

static bool left_out(const struct use_tree *t, const char *dir, enum use_how how, unsigned from)
{
	if (from || !t->n || how != t->leave.slices)
		return false;
	return how == USE_PARTITION || (how == USE_HOLDER && use_is_lvm(dir));
}

static void tree_add(struct use_tree *t, const char *dir, enum use_how how, unsigned from)
{
	struct use_node *n;
	struct sys_dev dev;
	unsigned seen;

	if (!sys_dev_of(dir, &dev) || tree_find(t, dev, &seen) || t->n >= NODES_MAX ||
	    sys_same(dev, t->leave.above) || left_out(t, dir, how, from))
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 16;
		t->node = realloc(t->node, t->cap * sizeof *t->node);
		BUG_ON(!t->node);
	}
	n = &t->node[t->n++];
	n->dev = dev;
	n->how = how;
	n->from = from;
	snprintf(n->dir, sizeof n->dir, "%s", dir);
	sys_dev_path(dir, n->path, sizeof n->path);
}

/* Partitions are folders in the disk's folder; holders are links to the folders of what lies on it. */
static void tree_children(struct use_tree *t, unsigned at, enum use_how how)
{
	char dir[PATH_MAX], real[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s%s", t->node[at].dir, how == USE_HOLDER ? "/holders" : "");
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		char name[PATH_MAX + NAME_MAX + 2];

		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		if (e->d_name[0] == '.' || !realpath(name, real) || strlen(real) >= SYS_PATH)
			continue;
		if (how == USE_HOLDER || sys_exists("%s/partition", real))
			tree_add(t, real, how, at);
	}
	if (d)
		closedir(d);
}

/* A loop device on a block device leaves no trace in its holders/. */
static void tree_loop(struct use_tree *t, const char *name)
{
	char link[PATH_MAX], real[PATH_MAX];
	struct sys_backing below;
	unsigned at;

	snprintf(link, sizeof link, "%s/sys/block/%s", t->root, name);
	if (realpath(link, real) && strlen(real) < SYS_PATH && sys_backing(t->root, real, &below) &&
	    below.known && below.block && tree_find(t, below.dev, &at))
		tree_add(t, real, USE_LOOP, at);
}

static void tree_loops(struct use_tree *t)
{
	char dir[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/block", t->root);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		if (!strncmp(e->d_name, "loop", 4))
			tree_loop(t, e->d_name);
	}
	if (d)
		closedir(d);
}

static void tree_grow(struct use_tree *t)
{
	unsigned done = 0, before;

	do {
		for (; done < t->n; done++) {
			tree_children(t, done, USE_PARTITION);
			tree_children(t, done, USE_HOLDER);
		}
		before = t->n;
		tree_loops(t);
	} while (t->n > before);
}

int use_tree_build(const char *root, const char *path, struct use_tree *ret)
{
	char dir[SYS_PATH];
	struct sys_dev dev;
	int rc = sys_resolve(root, path, &dev);

	if (rc)
		return rc;
	if (!sys_dir(root, dev, dir, sizeof dir))
		return -ENXIO;
	return use_tree_build_at(root, dir, (struct use_leave){ .slices = USE_ITSELF }, ret);
}

int use_tree_build_at(const char *root, const char *dir, struct use_leave leave,
		      struct use_tree *ret)
{
	struct use_tree t = { .root = root, .leave = leave };

	tree_add(&t, dir, USE_ITSELF, 0);
	if (!t.n)
		return -ENXIO;
	tree_grow(&t);
	*ret = t;
	return 0;
}

void use_tree_release(struct use_tree *t)
{
	free(t->node);
	*t = (struct use_tree){ .root = "" };
}

/* ---- uses ---- */

struct finder {
	const struct use_tree *tree;
	struct use_report *ret;
	unsigned flags;
};

/* "/dev/dm-0 (vg-root)", and what lies below it as far as the device asked for. */
static void place(const struct use_tree *t, unsigned at, char *ret, size_t n)
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = at; i && len < n; i = t->node[i].from) {
		const struct use_node *u = &t->node[i];
		char alias[SYS_NAME];

		sys_line(alias, sizeof alias, "%s/dm/name", u->dir);
		len += (size_t)snprintf(ret + len, n - len, "%s%s%s%s%s%s", i == at ? " (" : " on ",
					u->how == USE_PARTITION ? "partition " : "", u->path,
					alias[0] ? " '" : "", alias, alias[0] ? "'" : "");
	}
	if (len && len < n)
		snprintf(ret + len, n - len, ")");
}

enum { USES_SHOWN = 4 };

void use_report_add(struct use_report *r, const char *hint, const char *fmt, ...)
{
	size_t len = strlen(r->text);
	va_list ap;

	if (r->n++ >= USES_SHOWN)
		return;
	if (len && len + 3 < sizeof r->text) {
		memcpy(r->text + len, "; ", 3);
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(r->text + len, sizeof r->text - len, fmt, ap);
	va_end(ap);
	if (!r->hint)
		r->hint = hint;
}

static void report(const struct finder *f, unsigned at, const char *hint, const char *what)
{
	char where[300];

	place(f->tree, at, where, sizeof where);
	use_report_add(f->ret, hint, "%s%s", what, where);
}

static bool system_point(const char *p)
{
	static const char *const list[] = { "/", "/boot", "/boot/efi", "/efi", "/usr", "/var" };

	for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
		if (!strcmp(p, list[i]))
			return true;
	}
	return false;
}

/* btrfs and others mount under a number of no device: there the source tells, several joined by ':'. */
static bool mount_source(const struct use_tree *t, char *source, unsigned *ret)
{
	char *one;
	struct sys_dev dev;

	while ((one = strsep(&source, ":")) != NULL) {
		if (one[0] == '/' && !sys_resolve(t->root, one, &dev) && tree_find(t, dev, ret))
			return true;
	}
	return false;
}

static void find_mounts(struct finder *f)
{
	struct sys_lines l;
	struct sys_mount m;
	char *line, what[300];
	unsigned at;

	sys_lines_open(&l, f->tree->root, "/proc/self/mountinfo");
	while ((line = sys_lines_next(&l)) != NULL) {
		if (!sys_mount_parse(line, &m) ||
		    !(m.dev.major ? tree_find(f->tree, m.dev, &at)
				  : mount_source(f->tree, m.source, &at)))
			continue;
		if ((f->flags & USE_SYSTEM_ONLY) && !system_point(m.point))
			continue;
		f->ret->system |= system_point(m.point);
		snprintf(what, sizeof what, "mounted on %s", m.point);
		report(f, at, "unmount it first", what);
	}
	sys_lines_close(&l);
}

static void find_swaps(struct finder *f)
{
	struct sys_lines l;
	struct sys_swap s;
	struct sys_dev dev;
	char *line;
	unsigned at;

	sys_lines_open(&l, f->tree->root, "/proc/swaps");
	while ((line = sys_lines_next(&l)) != NULL) {
		if (!sys_swap_parse(line, &s) || s.is_file)
			continue;
		sys_cut_deleted(s.path);
		if (sys_resolve(f->tree->root, s.path, &dev) || !tree_find(f->tree, dev, &at))
			continue;
		report(f, at, "take it out of use with swapoff first", "used as swap");
		f->ret->system |= !!(f->flags & USE_SYSTEM_ONLY);
	}
	sys_lines_close(&l);
}

/* A mounted btrfs names each of its devices here; mountinfo names one. */
static void find_btrfs(struct finder *f, const char *uuid)
{
	char dir[PATH_MAX], real[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/fs/btrfs/%s/devices", f->tree->root, uuid);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		char name[PATH_MAX + NAME_MAX + 2];
		struct sys_dev dev;
		unsigned at;

		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.' && realpath(name, real) && sys_dev_of(real, &dev) &&
		    tree_find(f->tree, dev, &at))
			report(f, at, "unmount it first", "member of a mounted btrfs");
	}
	if (d)
		closedir(d);
}

static void find_btrfses(struct finder *f)
{
	char dir[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/sys/fs/btrfs", f->tree->root);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.')
			find_btrfs(f, e->d_name);
	}
	if (d)
		closedir(d);
}

static void find_holders(struct finder *f)
{
	for (unsigned i = 1; i < f->tree->n; i++) {
		const struct use_node *u = &f->tree->node[i];

		if (u->how == USE_HOLDER && !(f->flags & USE_HELD_IS_FINE))
			report(f, i,
			       "stop what holds it first (mdadm --stop, vgchange -an, dmsetup "
			       "remove)",
			       "held by another device");
		else if (u->how == USE_LOOP)
			report(f, i, "detach it first (losetup -d)", "held by a loop device");
	}
}

/* What the NVMe target of the kernel gives to other hosts it does not hold: it opens the device as anyone would. */
static void find_exports(struct finder *f)
{
	char pattern[PATH_MAX];
	glob_t g;

	snprintf(pattern, sizeof pattern,
		 "%s/sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path", f->tree->root);
	if (glob(pattern, GLOB_NOSORT, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *path = g.gl_pathv[i];
		int folder = (int)(strrchr(path, '/') - path);
		char device[PATH_MAX], enabled[8];
		struct sys_dev dev;
		unsigned at;

		if (sys_line(enabled, sizeof enabled, "%.*s/enable", folder, path) &&
		    !strcmp(enabled, "1") && sys_line(device, sizeof device, "%s", path) &&
		    !sys_resolve(f->tree->root, device, &dev) && tree_find(f->tree, dev, &at))
			report(f, at, "switch its namespace off in the target first (nvmetcli)",
			       "exported to other hosts by nvmet");
	}
	globfree(&g);
}

void use_look(const struct use_tree *t, unsigned flags, struct use_report *ret)
{
	struct finder f = { t, ret, flags };

	find_mounts(&f);
	find_swaps(&f);
	if (!ret->n && !(flags & USE_SYSTEM_ONLY))
		find_btrfses(&f);
	if (!ret->n && !(flags & USE_SYSTEM_ONLY))
		find_exports(&f);
	if (!ret->n && !(flags & USE_SYSTEM_ONLY))
		find_holders(&f);
}

void use_find(const struct use_tree *t, struct use_report *ret)
{
	size_t len;

	*ret = (struct use_report){ .text = "" };
	use_look(t, 0, ret);
	if (!ret->n)
		use_look_below(t, ret);
	if (!ret->n)
		use_look_ways(t, ret);
	if (ret->system)
		ret->hint = "it carries the running system: name another drive";
	len = strlen(ret->text);
	if (ret->n > USES_SHOWN)
		snprintf(ret->text + len, sizeof ret->text - len, "; and %u more",
			 ret->n - USES_SHOWN);
}
