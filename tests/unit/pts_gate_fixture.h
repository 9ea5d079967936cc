/* SPDX-License-Identifier: MIT */
/* A machine for the gate's tests: small trees of /sys, /proc and /dev built in a folder of their own. */
#ifndef TESTS_UNIT_PTS_GATE_FIXTURE_H
#define TESTS_UNIT_PTS_GATE_FIXTURE_H

#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>

#include "pts/gate.h"
#include "tests/unit/pts_tree.h"

static struct err err;

/* ---- building a machine ---- */

/* A device whose folder is /sys/devices/@dir, and 1 MiB of zeroes as /dev/NAME. */
static inline void device(const char *dir, const char *number)
{
	const char *name = strrchr(dir, '/') + 1;
	char path[PATH_MAX], folder[PATH_MAX], line[32];

	snprintf(folder, sizeof folder, "/sys/devices/%s", dir);
	snprintf(path, sizeof path, "%s/dev", folder);
	snprintf(line, sizeof line, "%s\n", number);
	put(path, line);
	snprintf(path, sizeof path, "/sys/dev/block/%s", number);
	link_to(path, folder);
	snprintf(path, sizeof path, "/sys/class/block/%s", name);
	link_to(path, folder);
	snprintf(path, sizeof path, "/dev/%s", name);
	put(path, "");
	snprintf(path, sizeof path, "%s/dev/%s", root, name);
	if (truncate(path, 1 << 20))
		abort();
}

static inline void partition(const char *dir, const char *number)
{
	char path[PATH_MAX];

	device(dir, number);
	snprintf(path, sizeof path, "/sys/devices/%s/partition", dir);
	put(path, "1\n");
}

static inline void holder(const char *lower, const char *upper)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof path, "/sys/devices/%s/holders/%s", lower, strrchr(upper, '/') + 1);
	snprintf(target, sizeof target, "/sys/devices/%s", upper);
	link_to(path, target);
}

static inline void mounted(const char *number, const char *point, const char *type,
			   const char *source)
{
	char line[512];

	snprintf(line, sizeof line, "36 35 %s / %s rw,noatime shared:1 - %s %s rw\n", number, point,
		 type, source);
	add("/proc/self/mountinfo", line);
}

static inline void swapped(const char *path)
{
	char line[512];

	snprintf(line, sizeof line, "%s   partition\t1048572\t0\t-2\n", path);
	add("/proc/swaps", line);
}

#define NVME "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1"

/* nvme0n1 with two partitions, a root drive sda, nothing else. */
static inline void machine(void)
{
	tree_begin_in("/tmp");
	memset(&err, 0, sizeof err);
	device(NVME, "259:0");
	device("pci0000:00/ata1/sda", "8:0");
	partition("pci0000:00/ata1/sda/sda1", "8:1");
	partition("pci0000:00/ata1/sda/sda2", "8:2");
	put("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	mounted("8:1", "/", "ext4", "/dev/root");
	mounted("0:22", "/proc", "proc", "proc");
}

static inline void with_partitions(void)
{
	machine();
	partition(NVME "/nvme0n1p1", "259:1");
	partition(NVME "/nvme0n1p2", "259:2");
}

static inline void done(void)
{
	tree_end();
}

/* ---- asking ---- */

static inline struct dut_info drive(const char *path, const char *serial)
{
	struct dut_info in = { .kind = DUT_BLOCK, .capacity_bytes = 1920383410176 };

	snprintf(in.path, sizeof in.path, "%s", path);
	snprintf(in.name, sizeof in.name, "%s", path);
	snprintf(in.serial, sizeof in.serial, "%s", serial);
	snprintf(in.model, sizeof in.model, "ACME 9000");
	return in;
}

static inline int ask_as(const char *dut, const struct dut_info *in, const char *word, bool force)
{
	struct gate_request rq = { .info = in,
				   .dut = dut,
				   .destroy = &word,
				   .n_destroy = word ? 1 : 0,
				   .force_signature = force,
				   .sysroot = root };

	err.msg[0] = '\0';
	return gate_check(&rq, &err);
}

static inline int ask(const char *path, const char *serial, const char *word)
{
	struct dut_info in = drive(path, serial);

	return ask_as(path, &in, word, false);
}

static inline bool says(const char *text)
{
	return strstr(err.msg, text) != NULL;
}

/* Takes the machine away before it judges, so that a failed test leaves nothing behind. */
#define REFUSED(call, text) \
	do { \
		int rc_ = (call); \
		if (rc_ != -EPERM || !says(text)) \
			done(); \
		CHECK_MSG(rc_ == -EPERM && says(text), "%d \"%s\", not refused with \"%s\"", rc_, \
			  err.msg, text); \
	} while (0)
#define GOOD(call) \
	do { \
		int rc_ = (call); \
		if (rc_) \
			done(); \
		CHECK_MSG(!rc_, "%d \"%s\"", rc_, err.msg); \
	} while (0)

#endif
