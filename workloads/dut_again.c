/* SPDX-License-Identifier: MIT */
#include "workloads/dut_again.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "workloads/dut_real.h"

/* The kernel numbers disks as they appear: a number that is another means another disk under the same name. */
static bool same_disk(int fd, unsigned major, unsigned minor)
{
	struct buf b = BUF_INIT;
	char path[96];
	uint64_t mine = 0, theirs = 0;
	bool known;

	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/diskseq", major, minor);
	known = !buf_read_file(&b, path, 64) && b.len;
	if (known) {
		b.s[strcspn(b.s, "\n")] = 0;
		known = !parse_uint(b.s, 0, UINT64_MAX, &theirs) &&
			!ioctl(fd, BLKGETDISKSEQ, &mine);
	}
	buf_release(&b);
	return !known || mine == theirs;
}

static int block_again(const struct dut_real *r, struct dut_info *ret, struct err *err)
{
	const char *path = r->d.info.path;
	struct dut_real now = { .fd = -1 };
	struct stat st;
	uint64_t bytes = 0;
	int lba = 0;

	if (fstat(r->fd, &st) || ioctl(r->fd, BLKGETSIZE64, &bytes) ||
	    ioctl(r->fd, BLKSSZGET, &lba) || !bytes)
		return err_set(err, -ENODEV, "%s is gone", path);
	if (!same_disk(r->fd, major(st.st_rdev), minor(st.st_rdev)))
		return err_set(err, -ENODEV, "%s is gone, another drive is in its place", path);
	sysfs_facts("/sys", major(st.st_rdev), minor(st.st_rdev), &now);
	if (!now.d.info.capacity_bytes)
		return err_set(err, -ENODEV, "%s is gone", path);
	*ret = now.d.info;
	ret->capacity_bytes = bytes;
	ret->lba_bytes = (uint32_t)lba;
	return 0;
}

static int file_again(const struct dut_real *r, struct dut_info *ret, struct err *err)
{
	const char *path = r->d.info.path;
	struct stat mine, named;

	if (fstat(r->fd, &mine))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (stat(path, &named) || named.st_ino != mine.st_ino || named.st_dev != mine.st_dev)
		return err_set(err, -ENODEV, "%s was removed or is another file now", path);
	*ret = r->d.info;
	ret->capacity_bytes = (uint64_t)mine.st_size;
	return 0;
}

int dut_again(const struct dut *d, struct dut_info *ret, struct err *err)
{
	const struct dut_real *r = (const struct dut_real *)d; /* of files and block devices */
	struct dut_info now = d->info;
	int rc = 0;

	if (d->info.kind == DUT_SIM || d->info.kind == DUT_SET) {
		*ret = now;
		return 0;
	}
	if (r->fd < 0)
		return err_set(err, -EBADF, "%s was opened for its facts only", d->info.name);
	rc = d->info.kind == DUT_FILE ? file_again(r, &now, err) : block_again(r, &now, err);
	if (rc)
		return rc;
	now.kind = d->info.kind;
	memcpy(now.path, d->info.path, sizeof now.path);
	*ret = now;
	return 0;
}

bool dut_differs(const struct dut_info *was, const struct dut_info *is, char *ret, unsigned n)
{
	const struct {
		const char *what, *was, *is;
	} text[] = { { "serial", was->serial, is->serial },
		     { "model", was->model, is->model },
		     { "wwid", was->wwid, is->wwid },
		     { "firmware", was->firmware, is->firmware } };
	const struct {
		const char *what;
		uint64_t was, is;
	} number[] = { { "capacity", was->capacity_bytes, is->capacity_bytes },
		       { "LBA size", was->lba_bytes, is->lba_bytes } };
	unsigned len = 0;

	ret[0] = 0;
	for (unsigned i = 0; i < sizeof text / sizeof *text && len < n; i++)
		if (strcmp(text[i].was, text[i].is))
			len += (unsigned)snprintf(ret + len, n - len, "%s%s was '%s', is '%s'",
						  len ? ", " : "", text[i].what, text[i].was,
						  text[i].is);
	for (unsigned i = 0; i < sizeof number / sizeof *number && len < n; i++)
		if (number[i].was != number[i].is)
			len += (unsigned)snprintf(ret + len, n - len, "%s%s was %llu, is %llu",
						  len ? ", " : "", number[i].what,
						  (unsigned long long)number[i].was,
						  (unsigned long long)number[i].is);
	return len != 0;
}
