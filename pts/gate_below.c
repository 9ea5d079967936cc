/* SPDX-License-Identifier: MIT */
/*
 * What the target lies on, down to the last drive and file: a partition's disk, what is behind a loop device, the members of dm
 * and md. Writing to the target writes there, so another use of it is a use of the target. /sys names no holder for a loop
 * device, and the kernel lets two of them have the same file, so an exclusive open of the target tells nothing of it.
 */
#include "pts/gate_use.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { WAY_PART, WAY_LOOP, WAY_MEMBER };

struct step {
	struct sys_dev dev;
	enum way way; /* what step @from is to this one */
	unsigned from;
	char dir[SYS_PATH], path[SYS_NAME];
};

enum { STEPS_MAX = 1024 };

/* step[0] is the target; a step is on the list before what lies below it. */
struct walk {
	const char *root;
	struct step *step;
	unsigned n, cap;
	struct use_report *ret;
};

static void step_add(struct walk *w, const char *dir, enum way way, unsigned from)
{
	struct sys_dev dev;
	struct step *s;

	if (!sys_dev_of(dir, &dev) || w->n >= STEPS_MAX)
		return;
	for (unsigned i = 0; i < w->n; i++) {
		if (sys_same(w->step[i].dev, dev))
			return;
	}
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 8;
		w->step = realloc(w->step, w->cap * sizeof *w->step);
		BUG_ON(!w->step);
	}
	s = &w->step[w->n++];
	*s = (struct step){ .dev = dev, .way = way, .from = from };
	snprintf(s->dir, sizeof s->dir, "%s", dir);
	sys_dev_path(dir, s->path, sizeof s->path);
}

/* ---- in words ---- */

/* "it lies on /dev/loop1, which lies on /dev/sdb1, a partition of /dev/sdb"; "its disk /dev/loop0 lies on ..." */
static void way_words(const struct walk *w, unsigned at, struct buf *out)
{
	const struct step *s = &w->step[at];
	bool part = s->way == WAY_PART;

	if (!at)
		return;
	way_words(w, s->from, out);
	if (!s->from)
		buf_fmt(out, "%s %s", part ? "its disk" : "it lies on", s->path);
	else if (part)
		buf_fmt(out, ", a partition of %s", s->path);
	else if (!w->step[s->from].from && w->step[s->from].way == WAY_PART)
		buf_fmt(out, " lies on %s", s->path);
	else
		buf_fmt(out, ", which lies on %s", s->path);
}

/* @file: what lies below step @at, "" for the step itself. */
static void tell(const struct walk *w, unsigned at, const char *file, const struct use_report *use)
{
	const struct step *s = &w->step[at];
	bool disk = at && !s->from && s->way == WAY_PART;
	struct use_report *r = w->ret;
	struct buf way = BUF_INIT;

	way_words(w, at, &way);
	if (file[0])
		buf_fmt(&way, "%s %.160s",
			!at    ? "it lies on"
			: disk ? " lies on"
			       : ", which lies on",
			file);
	snprintf(r->text, sizeof r->text, "%s%s is %s", buf_cstr(&way),
		 disk && !file[0] ? "" : ", which", use->text);
	buf_release(&way);
	r->n = use->n;
	r->hint = use->hint;
	r->system |= use->system;
}

/* ---- looking ---- */

/* A drive that a mount, a pool or a program of another namespace has is only seen by asking for it exclusively. */
static void look_open(const struct use_tree *t, enum way way, struct use_report *ret)
{
	struct open_query q = { .root = t->root, .tree = t };
	char who[128];

	if (use_opener(&q, who, sizeof who))
		use_report_add(ret, "end that first", "open for writing in %s", who);
	else if (way == WAY_LOOP && use_claimed(t->root, t->node[0].path) == -EBUSY)
		use_report_add(ret, "end that first",
			       "opened exclusively by another program, container or the kernel "
			       "(ZFS?)");
}

/*
 * A loop device lies on all of the drive, so any other use counts. Of slices (partitions, LVM's volumes) those beside the
 * target's own matter only where the system lives on them, and a member may have several holders, of which one is used.
 */
static void look_at(const struct walk *w, unsigned at)
{
	const struct step *s = &w->step[at], *above = &w->step[s->from];
	struct use_leave leave = { .above = above->dev, .slices = USE_ITSELF };
	struct use_report use = { .text = "" };
	struct use_tree tree;

	if (s->way == WAY_PART)
		leave.slices = USE_PARTITION;
	else if (s->way == WAY_MEMBER && use_is_lvm(above->dir))
		leave.slices = USE_HOLDER;
	if (use_tree_build_at(w->root, s->dir, leave, &tree))
		return;
	use_look(&tree, s->way == WAY_MEMBER ? USE_HELD_IS_FINE : 0, &use);
	if (!use.n)
		look_open(&tree, s->way, &use);
	use_tree_release(&tree);
	if (!use.n && leave.slices != USE_ITSELF) {
		leave.slices = USE_ITSELF;
		if (use_tree_build_at(w->root, s->dir, leave, &tree))
			return;
		use_look(&tree, USE_SYSTEM_ONLY, &use);
		use_tree_release(&tree);
	}
	if (use.n)
		tell(w, at, "", &use);
}

/* ---- going down ---- */

static void below_loop(struct walk *w, unsigned at)
{
	struct use_report use = { .text = "" };
	char dir[SYS_PATH];
	struct sys_backing b;

	if (!sys_backing(w->root, w->step[at].dir, &b))
		return;
	if (b.known && b.block && sys_dir(w->root, b.dev, dir, sizeof dir)) {
		step_add(w, dir, WAY_LOOP, at);
		return;
	}
	if (b.known && !b.block)
		use_look_file(w->root, &b, w->step[at].dev, &use);
	else
		use_report_add(&use, "detach and attach it again (losetup)",
			       "not to be found, so that its users cannot be told");
	if (use.n)
		tell(w, at, b.path, &use);
}

static void below_members(struct walk *w, unsigned at)
{
	char dir[PATH_MAX], real[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/slaves", w->step[at].dir);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		char name[PATH_MAX + NAME_MAX + 2];

		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.' && realpath(name, real) && strlen(real) < SYS_PATH)
			step_add(w, real, WAY_MEMBER, at);
	}
	if (d)
		closedir(d);
}

void use_look_below(const struct use_tree *t, struct use_report *ret)
{
	struct walk w = { .root = t->root, .ret = ret };
	char disk[SYS_PATH];

	step_add(&w, t->node[0].dir, WAY_PART, 0);
	for (unsigned i = 0; i < w.n && !ret->n; i++) {
		if (i)
			look_at(&w, i);
		if (ret->n)
			break;
		if (sys_parent(w.step[i].dir, disk, sizeof disk))
			step_add(&w, disk, WAY_PART, i);
		below_loop(&w, i);
		below_members(&w, i);
	}
	free(w.step);
}

/* ---- other ways to the same drive ---- */

enum { WWID = 256 };

/* NVMe tells it at the namespace, SCSI at the device below; @dir is a whole disk's folder. "" none. */
static void wwid_of(const char *dir, char ret[WWID])
{
	if (!sys_line(ret, WWID, "%s/wwid", dir))
		sys_line(ret, WWID, "%s/device/wwid", dir);
}

/* Looks at /sys/block/@name: the disk @disk by another way? And used there? */
static void look_way(const char *root, const char *disk, const char *name, struct use_report *ret)
{
	char link[PATH_MAX], real[PATH_MAX], mine[WWID], theirs[WWID], path[SYS_NAME];
	struct use_report use = { .text = "" };
	struct use_tree tree;

	snprintf(link, sizeof link, "%s/sys/block/%s", root, name);
	if (!realpath(link, real) || strlen(real) >= SYS_PATH || !strcmp(real, disk) ||
	    sys_num(0, "%s/hidden", real) == 1)
		return;
	wwid_of(disk, mine);
	wwid_of(real, theirs);
	if (!mine[0] || strcmp(mine, theirs) ||
	    use_tree_build_at(root, real, (struct use_leave){ .slices = USE_ITSELF }, &tree))
		return;
	use_look(&tree, 0, &use);
	if (!use.n)
		look_open(&tree, WAY_LOOP, &use);
	use_tree_release(&tree);
	if (!use.n)
		return;
	sys_dev_path(real, path, sizeof path);
	snprintf(ret->text, sizeof ret->text, "the same drive is %s too, which is %.400s", path,
		 use.text);
	ret->n = use.n;
	ret->hint = use.hint;
	ret->system |= use.system;
}

void use_look_ways(const struct use_tree *t, struct use_report *ret)
{
	char disk[SYS_PATH], dir[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if (!sys_parent(t->node[0].dir, disk, sizeof disk))
		snprintf(disk, sizeof disk, "%s", t->node[0].dir);
	snprintf(dir, sizeof dir, "%s/sys/block", t->root);
	d = opendir(dir);
	while (d && !ret->n && (e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.')
			look_way(t->root, disk, e->d_name, ret);
	}
	if (d)
		closedir(d);
}
