/* SPDX-License-Identifier: MIT */
/*
 * tracefs, and an instance of it: buffers and settings of our own, which disturb no one else's. An instance is ours as long as
 * we hold a lock on its folder; one whose lock is free was left by a recorder that was killed, and is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"

#define INSTANCE_PREFIX "pts"

int tfs_write(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int tfs_read(int dir, const char *file, struct buf *b)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	char part[4096];
	ssize_t n;
	int rc = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, part, sizeof(part))) > 0)
		buf_add(b, part, (size_t)n);
	if (n < 0)
		rc = -errno;
	close(fd);
	return rc;
}

bool tfs_line(int dir, const char *file, char *ret, size_t n)
{
	struct buf b = BUF_INIT;
	int rc = tfs_read(dir, file, &b);

	snprintf(ret, n, "%.*s", rc ? 0 : (int)strcspn(buf_cstr(&b), "\n"), buf_cstr(&b));
	buf_release(&b);
	return !rc;
}

int tfs_set(int dir, const char *file, const char *text, struct err *err)
{
	int rc = tfs_write(dir, file, text);

	return rc ? err_set(err, rc == -EINVAL || rc == -ENOENT ? -ENOSYS : rc,
			    "tracefs: '%s' cannot be written to %s: %s", text, file, strerror(-rc))
		  : 0;
}

/* ---- numbers of all CPUs ---- */

static uint64_t count_of(const char *stats, const char *key)
{
	const char *p = strstr(stats, key);

	return p && (p == stats || p[-1] == '\n') ? strtoull(p + strlen(key), NULL, 10) : 0;
}

uint64_t tfs_lost(int dir)
{
	int fd = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t lost = 0;
	char file[300];

	while (d && (e = readdir(d))) {
		struct buf b = BUF_INIT;

		snprintf(file, sizeof(file), "%s/stats", e->d_name);
		if (e->d_name[0] != '.' && !tfs_read(fd, file, &b))
			lost += count_of(buf_cstr(&b), "overrun: ") +
				count_of(buf_cstr(&b), "commit overrun: ") +
				count_of(buf_cstr(&b), "dropped events: ");
		buf_release(&b);
	}
	if (d)
		closedir(d);
	return lost;
}

#define BUFFER_BYTES ((uint64_t)8 << 20)
#define BUFFERS_BYTES ((uint64_t)512 << 20)

int tfs_buffer(int dir, uint64_t bytes, uint64_t *ret_bytes, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char text[32];
	int rc;

	if (!bytes) {
		bytes = BUFFERS_BYTES / (uint64_t)(cpus > 0 ? cpus : 1);
		bytes = bytes > BUFFER_BYTES ? BUFFER_BYTES : bytes < 1 << 20 ? 1 << 20 : bytes;
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(bytes + 1023) / 1024);
	rc = tfs_write(dir, "buffer_size_kb", text);
	if (rc)
		return err_set(err, rc, "trace buffers of %s kB for each of %ld CPUs: %s", text,
			       cpus, strerror(-rc));
	*ret_bytes = bytes;
	return 0;
}

/* ---- where it is ---- */

static int open_at(const char *path, uint64_t *ret_why)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			*ret_why = EPERM;
		return -1;
	}
	if (!fstatfs(fd, &fs) && (unsigned long)fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -1;
}

/* Mounted nowhere: a mount that only this process has, and that ends with it. */
static int mount_detached(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1, why;

	if (fs < 0)
		return -errno;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	why = errno;
	close(fs);
	return fd < 0 ? -why : fd;
}

static int find(int *ret, struct err *err)
{
	uint64_t why = 0;
	int fd = open_at("/sys/kernel/tracing", &why);

	if (fd < 0)
		fd = open_at("/sys/kernel/debug/tracing", &why);
	if (fd < 0) {
		fd = mount_detached();
		why = fd < 0 && why != EPERM ? (uint64_t)-fd : why;
	}
	if (fd < 0 && (why == EPERM || why == EACCES))
		return err_set(err, -EPERM,
			       "the kernel's block events may not be read: that takes root, and a "
			       "kernel that is not locked down for confidentiality");
	if (fd < 0)
		return err_set(err, -ENOSYS,
			       "no tracefs, the kernel's file system of trace events: %s",
			       strerror((int)why));
	*ret = fd;
	return 0;
}

/* ---- instances ---- */

/* The lock of an instance; -1 when another has it, or the instance is gone. */
static int lock(int instances, const char *name)
{
	int fd = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat now, then;

	if (fd < 0)
		return -1;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &then) &&
	    !fstatat(instances, name, &now, AT_SYMLINK_NOFOLLOW) && now.st_ino == then.st_ino)
		return fd;
	close(fd);
	return -1;
}

static void remove_instance(int instances, int inst, const char *name)
{
	(void)tfs_write(inst, "tracing_on", "0");
	(void)tfs_write(inst, "events/enable", "0");
	for (int i = 0; i < 50; i++) { /* busy while someone reads it */
		if (!unlinkat(instances, name, AT_REMOVEDIR) || errno != EBUSY)
			return;
		usleep(20000);
	}
}

static void sweep(int root, int instances)
{
	int fd = dup(instances);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		bool blk = strncmp(e->d_name, BLK_PREFIX ".", strlen(BLK_PREFIX ".")) == 0;
		int inst;

		if (!blk && strncmp(e->d_name, INSTANCE_PREFIX ".", strlen(INSTANCE_PREFIX ".")))
			continue;
		inst = lock(instances, e->d_name);
		if (inst < 0)
			continue;
		if (blk)
			blk_restore(root, e->d_name);
		remove_instance(instances, inst, e->d_name);
		close(inst);
	}
	if (d)
		closedir(d);
}

static int instances_of(const struct tracefs *t, struct err *err)
{
	int fd = openat(t->root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_set(err, -ENOSYS, "tracefs has no instances: %s", strerror(errno)) : fd;
}

int tracefs_open(struct tracefs *t, struct err *err)
{
	int rc, instances;

	*t = (struct tracefs){ .root = -1, .inst = -1 };
	rc = find(&t->root, err);
	if (rc)
		return rc;
	instances = instances_of(t, err);
	if (instances < 0)
		return instances;
	sweep(t->root, instances);
	close(instances);
	return 0;
}

/* Another recorder that cleans up may take a new one for left behind, until it is locked: then once more. */
int tracefs_instance(struct tracefs *t, const char *prefix, const char *suffix, struct err *err)
{
	int instances = instances_of(t, err), why = EBUSY;

	if (instances < 0)
		return instances;
	for (int i = 0; i < 20 && t->inst < 0; i++) {
		snprintf(t->name, sizeof(t->name), i ? "%s.%ld%s-%d" : "%s.%ld%s", prefix,
			 (long)getpid(), suffix, i);
		if (!mkdirat(instances, t->name, 0700))
			t->inst = lock(instances, t->name);
		else if (errno != EEXIST)
			why = errno, i = 20;
	}
	close(instances);
	if (t->inst < 0)
		return err_set(err, why == EACCES ? -EPERM : -why,
			       "tracefs: no instance %s can be made: %s", t->name, strerror(why));
	return 0;
}

void tracefs_close(struct tracefs *t)
{
	struct err err = { "" };
	int instances = t->root < 0 ? -1 : instances_of(t, &err);

	if (instances >= 0 && t->inst >= 0)
		remove_instance(instances, t->inst, t->name);
	if (instances >= 0)
		close(instances);
	if (t->inst >= 0)
		close(t->inst);
	if (t->root >= 0)
		close(t->root);
	*t = (struct tracefs){ .root = -1, .inst = -1 };
}
