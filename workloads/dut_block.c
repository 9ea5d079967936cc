/* SPDX-License-Identifier: MIT */
/* Block devices, and the operations that files share with them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "workloads/dut_layout.h"
#include "workloads/dut_real.h"
#include "workloads/engine.h"
#include "workloads/fault.h"

/* ---- operations of both ---- */

static struct dut_real *real_of(struct dut *d)
{
	return (struct dut_real *)d; /* d is its first member */
}

static int real_run(struct dut *d, const struct job *job, struct err *err)
{
	struct dut_real *r = real_of(d);

	if (r->lost[0])
		return err_set(err, -EIO, "%s: no IO after a purge that left it like this: %s",
			       d->info.name, r->lost);
	if (!r->engine)
		return err_set(err, -EBADF, "%s was not opened for a run", d->info.name);
	struct job j = *job;
	if (r->deadline_ns)
		j.deadline_ns = r->deadline_ns;
	return engine_run(r->engine, &j, err);
}

static int real_purge(struct dut *d, enum purge_method m, struct purge_report *ret, struct err *err)
{
	return purge_real(real_of(d), m, ret, err);
}

static int real_write_cache(struct dut *d, bool on, bool *ret_was, struct err *err)
{
	return commands_write_cache(real_of(d), on, ret_was, err);
}

static uint64_t real_now(struct dut *d)
{
	return clock_mono_ns();
}

static int real_health(struct dut *d, struct health *ret, struct err *err)
{
	return commands_health(real_of(d), ret, err);
}

static void real_close(struct dut *d)
{
	struct dut_real *r = real_of(d);

	engine_close(r->engine);
	commands_close(r);
	pass_close(&r->pass);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

static const struct dut_ops real_ops = {
	.purge = real_purge,
	.write_cache = real_write_cache,
	.run = real_run,
	.now = real_now,
	.health = real_health,
	.close = real_close,
};

struct dut_real *dut_real_new(const struct dut_request *q, enum dut_kind kind)
{
	struct dut_real *r = calloc(1, sizeof *r);

	BUG_ON(!r);
	r->d.ops = &real_ops;
	r->d.info.kind = kind;
	snprintf(r->d.info.name, sizeof r->d.info.name, "%s", q->typed);
	r->fd = -1;
	r->d.info.numa_node = -1;
	r->polled = q->opt->polled;
	r->passthrough = q->opt->passthrough;
	snprintf(r->fault, sizeof r->fault, "%s", q->name->fault);
	if (q->opt->dump_latencies)
		snprintf(r->dump_latencies, sizeof r->dump_latencies, "%s", q->opt->dump_latencies);
	return r;
}

int dut_real_start(struct dut_real *r, struct err *err)
{
	struct dut_info *d = &r->d.info;
	struct engine_target t = { .fd = r->fd,
				   .capacity_bytes = d->capacity_bytes,
				   .lba_bytes = d->lba_bytes,
				   .mem_align = d->dio_mem_align,
				   .polled = r->polled,
				   .pass = r->pass,
				   .dump_latencies = r->dump_latencies[0] ? r->dump_latencies
									  : NULL };
	int rc = r->fault[0] ? fault_open(r->fault, &t.fault, err) : 0;

	if (!rc && t.fault)
		r->deadline_ns = fault_deadline_ns(t.fault);
	if (!rc)
		rc = engine_open(&t, &r->engine, err);
	if (!rc)
		snprintf(r->d.engine, sizeof r->d.engine, "%s%s%s", engine_text(r->engine),
			 r->buffered ? ", through the page cache: the file system refuses O_DIRECT"
				     : "",
			 t.fault ? ", faults injected" : "");
	return rc;
}

/* ---- block devices ---- */

static int open_error(const char *path, int e, struct err *err)
{
	switch (e) {
	case EBUSY:
		return err_set(err, -EBUSY,
			       "%s is in use: mounted, swap, part of a RAID or LVM, or open "
			       "exclusively elsewhere",
			       path);
	case EACCES:
	case EPERM:
		return err_set(err, -EACCES, "%s: no permission (are you root?)", path);
	case EROFS:
		return err_set(err, -EROFS, "%s is read-only", path);
	default:
		return err_set(err, -e, "%s: %s", path, strerror(e));
	}
}

static int find_block(struct dut_real *r, const char *path, struct stat *st, struct err *err)
{
	char real[PATH_MAX];

	if (!realpath(path, real) || stat(real, st))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISBLK(st->st_mode))
		return err_set(err, -EINVAL, "%s is no block device%s", path,
			       S_ISREG(st->st_mode) ? "; a file is named file:PATH" : "");
	snprintf(r->d.info.path, sizeof r->d.info.path, "%.511s", real);
	return 0;
}

static int ask_device(struct dut_real *r, int fd, struct err *err)
{
	struct dut_info *d = &r->d.info;
	uint64_t bytes = 0;
	int lba = 0, ro = 0;

	if (ioctl(fd, BLKGETSIZE64, &bytes) || ioctl(fd, BLKSSZGET, &lba) ||
	    ioctl(fd, BLKROGET, &ro))
		return err_set(err, -errno, "%s: %s", d->path, strerror(errno));
	d->capacity_bytes = bytes;
	d->lba_bytes = (uint32_t)lba;
	if (ro && r->fd == fd)
		return err_set(err, -EROFS, "%s is read-only", d->path);
	return 0;
}

static int open_for_facts(struct dut_real *r, struct err *err)
{
	int fd = open(r->d.info.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0) /* sysfs, which asks for no rights, has told the sizes */
		return (errno == EACCES || errno == EPERM) && r->d.info.capacity_bytes
			       ? 0
			       : open_error(r->d.info.path, errno, err);
	rc = ask_device(r, fd, err);
	if (!rc && r->passthrough && !(rc = pass_open(fd, true, &r->pass, err)))
		pass_close(&r->pass); /* it could be had */
	close(fd);
	return rc;
}

static int open_for_run(struct dut_real *r, const struct stat *st, struct err *err)
{
	struct stat now;
	int rc;

	if (sysfs_host_managed("/sys", major(st->st_rdev), minor(st->st_rdev)))
		return err_set(
			err, -EINVAL,
			"%s is a host-managed zoned drive: it takes no random writes, which the "
			"PTS needs",
			r->d.info.path);
	r->fd = open(r->d.info.path, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
	if (r->fd < 0)
		return open_error(r->d.info.path, errno, err);
	if (fstat(r->fd, &now) || !S_ISBLK(now.st_mode) || now.st_rdev != st->st_rdev)
		return err_set(err, -ENODEV, "%s became another device meanwhile", r->d.info.path);
	rc = ask_device(r, r->fd, err);
	if (!rc && r->passthrough)
		rc = pass_open(r->fd, false, &r->pass, err);
	return rc ? rc : dut_real_start(r, err);
}

int dut_block_open(const struct dut_request *q, struct dut **ret, struct err *err)
{
	struct dut_real *r = dut_real_new(q, DUT_BLOCK);
	struct dut_info *d = &r->d.info;
	struct layout layout;
	struct stat st;
	int rc = find_block(r, q->name->path, &st, err);

	if (!rc) {
		sysfs_facts("/sys", major(st.st_rdev), minor(st.st_rdev), r);
		if (layout_find("/sys", major(st.st_rdev), minor(st.st_rdev), &layout))
			layout_facts(&layout, d);
		d->dio_mem_align = 4096; /* more than any drive asks for */
		d->purge_auto = d->purge_methods & 1u << PURGE_BLKDISCARD ? PURGE_BLKDISCARD
									  : PURGE_NONE;
		rc = q->mode == DUT_WRITE ? open_for_run(r, &st, err) : open_for_facts(r, err);
	}
	if (!rc && (!d->capacity_bytes || !d->lba_bytes))
		rc = err_set(err, -EINVAL, "%s has no capacity", d->path);
	if (!rc && d->capacity_bytes < d->lba_bytes)
		rc = err_set(err, -EINVAL, "%s: %llu bytes are no whole block of %u", d->path,
			     (unsigned long long)d->capacity_bytes, d->lba_bytes);
	if (!rc)
		rc = commands_open(r, major(st.st_rdev), minor(st.st_rdev), err);
	if (rc) {
		real_close(&r->d);
		return rc;
	}
	*ret = &r->d;
	return 0;
}
