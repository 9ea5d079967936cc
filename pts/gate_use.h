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

/* node[0] is the device asked for; then, breadth first, all that lies on it. */
struct use_tree {
	const char *root;
	struct use_node *node;
	unsigned n, cap;
};

/* -ENOENT, -ENOTBLK as sys_resolve(); -ENXIO the device is not in /sys. */
int use_tree_build(const char *root, const char *path, struct use_tree *ret) must_check;
void use_tree_release(struct use_tree *t);

/* A use in words, and what ends it. @text is "" when nothing uses the device. */
struct use_report {
	char text[640];
	const char *hint;
	bool system; /* carries /, /boot or swap */
	unsigned n;
};

/* Mounts, swap and holders of the tree's devices; of a partition also what claims its disk as a whole, or the system on it. */
void use_find(const struct use_tree *t, struct use_report *ret);

/* Processes that have something open. With a tree: block devices of a tree for writing; else the file dev:ino, any way. */
struct open_query {
	const char *root;
	const struct use_tree *tree; /* NULL: a file */
	struct sys_dev file_dev;
	unsigned long long file_ino;
	bool readers; /* of the tree's devices too */
};
/* "qemu-system-x86 (pid 123)" in @ret; false when nobody (that we may look at) has. */
bool use_opener(const struct open_query *q, char *ret, unsigned n);

/* The gate's part for file: targets. Type and use; consent is asked by the caller. */
int gate_file_in_use(const char *root, const char *path, struct err *err) must_check;

#endif
