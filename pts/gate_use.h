/* SPDX-License-Identifier: MIT */
/* Who uses a block device: its partitions and all that is stacked on them, mounts, swap. Private to the gate. */
#ifndef PTS_GATE_USE_H
#define PTS_GATE_USE_H

#include <stdbool.h>

#include "pts/base/err.h"
#include "pts/gate_sys.h"
#include "workloads/dut.h"

enum use_how { USE_ITSELF, USE_PARTITION, USE_HOLDER, USE_LOOP };

struct use_node {
	struct sys_dev dev;
	enum use_how how;
	unsigned from; /* index of the node it lies on */
	char dir[SYS_PATH]; /* its folder in /sys */
	char path[SYS_NAME]; /* "/dev/NAME" */
};

/* What a tree is to be built without, when it is not that of the target but of what the target lies on. */
struct use_leave {
	struct sys_dev above; /* the target's side, and all that is on nothing else */
	enum use_how
		slices; /* USE_PARTITION: its partitions; USE_HOLDER: LVM's volumes on it; else USE_ITSELF */
};

/* node[0] is the device asked for; then, breadth first, all that lies on it. */
struct use_tree {
	const char *root;
	struct use_node *node;
	unsigned n, cap;
	struct use_leave leave;
};

/* -ENOENT, -ENOTBLK as sys_resolve(); -ENXIO the device is not in /sys. */
int use_tree_build(const char *root, const char *path, struct use_tree *ret) must_check;
/* The same by the device's folder in /sys. */
int use_tree_build_at(const char *root, const char *dir, struct use_leave leave,
		      struct use_tree *ret) must_check;
void use_tree_release(struct use_tree *t);
/* A logical volume of LVM, which sees to it that its volumes do not overlap, as partitions do not. */
bool use_is_lvm(const char *dir);

/* A use in words, and what ends it. @text is "" when nothing uses the device. */
struct use_report {
	char text[640];
	const char *hint;
	bool system; /* carries /, /boot or swap */
	unsigned n;
};

/* One more use; after the fourth they are only counted. */
void use_report_add(struct use_report *r, const char *hint, const char *fmt, ...) printf_like(3, 4);

/* Of a tree: only what the machine itself lives on; holders are fine as long as nothing uses them. */
enum { USE_SYSTEM_ONLY = 1, USE_HELD_IS_FINE = 2 };
/* Appends mounts, swap and holders of the tree's devices. */
void use_look(const struct use_tree *t, unsigned flags, struct use_report *ret);
/* What else uses the devices and files that node[0] lies on: a disk, what is behind a loop device, members of dm and md. */
void use_look_below(const struct use_tree *t, struct use_report *ret);
/* A drive with two ports, without multipath over them, is two disks: uses of the other one. */
void use_look_ways(const struct use_tree *t, struct use_report *ret);
/* All of these. */
void use_find(const struct use_tree *t, struct use_report *ret);

/* Processes that have something open for writing: block devices of a tree, or a file. */
struct open_query {
	const char *root;
	const struct use_tree *tree; /* NULL: a file */
	struct sys_dev file_dev;
	unsigned long long file_ino;
	bool readers; /* those that have it open for reading too */
};
/* "qemu-system-x86 (pid 123)" in @ret; false when nobody (that we may look at) has. */
bool use_opener(const struct open_query *q, char *ret, unsigned n);

/* Tries to open a device exclusively, for reading. 0; -EBUSY it stays in use; -errno. */
int use_claimed(const char *root, const char *path) must_check;

/* Uses of the file behind a loop device other than that loop device. */
void use_look_file(const char *root, const struct sys_backing *file, struct sys_dev loop,
		   struct use_report *ret);

/* The gate's part for file: targets. Type and use; consent is asked by the caller. */
int gate_file_in_use(const char *root, const char *path, struct err *err) must_check;

#endif
