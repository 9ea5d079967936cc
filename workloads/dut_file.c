/* SPDX-License-Identifier: MIT */
/* Regular files as DUTs: created, marked as ours, opened around the page cache. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "workloads/dut_real.h"

#define DEFAULT_BYTES ((uint64_t)1 << 30)
#define MARKER ".pts-scratch"
#define MARKER_TITLE "scratch file of pts, may be overwritten by it\n"

/* ---- the marker beside it ---- */

static void marker_path(char *out, size_t n, const char *path)
{
	snprintf(out, n, "%s%s", path, MARKER);
}

static void marker_text(char *out, size_t n, const struct stat *st)
{
	snprintf(out, n, MARKER_TITLE "device %u:%u inode %llu\n", major(st->st_dev),
		 minor(st->st_dev), (unsigned long long)st->st_ino);
}

bool dut_file_is_ours(const char *path)
{
	struct buf b = BUF_INIT;
	char marker[PATH_MAX + 32], want[256];
	struct stat st;
	bool ours = false;

	marker_path(marker, sizeof marker, path);
	if (!stat(path, &st) && S_ISREG(st.st_mode) && !buf_read_file(&b, marker, 4096)) {
		marker_text(want, sizeof want, &st);
		ours = !strcmp(buf_cstr(&b), want);
	}
	buf_release(&b);
	return ours;
}

/* One left over from a file that is gone is replaced, anything else by that name is not. */
static int remove_stale_marker(const char *marker, struct err *err)
{
	struct buf b = BUF_INIT;
	int rc = buf_read_file(&b, marker, 4096);
	bool stale = !rc && !strncmp(buf_cstr(&b), MARKER_TITLE, strlen(MARKER_TITLE));

	buf_release(&b);
	if (rc == -ENOENT)
		return 0;
	if (!stale)
		return err_set(err, -EEXIST, "%s is in the way: it is no marker of pts", marker);
	return unlink(marker) ? err_set(err, -errno, "%s: %s", marker, strerror(errno)) : 0;
}

static int write_marker(const char *path, const struct stat *st, struct err *err)
{
	char marker[PATH_MAX + 32], text[256];
	int rc, fd;

	marker_path(marker, sizeof marker, path);
	marker_text(text, sizeof text, st);
	rc = remove_stale_marker(marker, err);
	if (rc)
		return rc;
	fd = open(marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", marker, strerror(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		rc = err_set(err, -(errno ? errno : EIO), "%s: %s", marker, strerror(errno));
		unlink(marker);
	}
	close(fd);
	return rc;
}

/* ---- what is there ---- */

static int open_error(const char *path, int e, struct err *err)
{
	switch (e) {
	case EACCES:
	case EPERM:
		return err_set(err, -EACCES, "%s: no permission to read and write it", path);
	case EROFS:
		return err_set(err, -EROFS, "%s: the file system is read-only", path);
	case ETXTBSY:
		return err_set(err, -EBUSY, "%s is in use", path);
	case ENOENT:
	case ENOTDIR:
		return err_set(err, -EINVAL, "%s: the folder does not exist", path);
	default:
		return err_set(err, -e, "%s: %s", path, strerror(e));
	}
}

static int check_type(const char *path, const struct stat *st, struct err *err)
{
	const char *what = S_ISDIR(st->st_mode)				  ? "a folder"
			   : S_ISBLK(st->st_mode) || S_ISCHR(st->st_mode) ? "a device"
			   : S_ISFIFO(st->st_mode)			  ? "a pipe"
			   : S_ISSOCK(st->st_mode)			  ? "a socket"
									  : NULL;

	if (what)
		return err_set(err, -EINVAL, "%s is %s; file: takes regular files%s", path, what,
			       S_ISBLK(st->st_mode) ? " (a device is named as it is: /dev/NAME)"
						    : "");
	return 0;
}

/* 0 and @ret_new. A file that is there has its real path in info.path. */
static int find_file(struct dut_real *r, const char *path, struct stat *st, bool *ret_new,
		     struct err *err)
{
	char real[PATH_MAX];
	struct stat link;
	int rc;

	*ret_new = false;
	if (stat(path, st)) {
		if (errno != ENOENT)
			return open_error(path, errno, err);
		if (!lstat(path, &link))
			return err_set(err, -EINVAL, "%s is a symbolic link to nothing", path);
		*ret_new = true;
		snprintf(r->d.info.path, sizeof r->d.info.path, "%.511s", path);
		return 0;
	}
	rc = check_type(path, st, err);
	if (rc)
		return rc;
	if (!realpath(path, real))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (strlen(real) >= sizeof r->d.info.path)
		return err_set(err, -EINVAL, "%s: the path is too long", path);
	snprintf(r->d.info.path, sizeof r->d.info.path, "%.511s", real);
	return 0;
}

/* An existing file's size is what it is, unless pts made it. */
static int check_size(const struct dut_real *r, const struct dut_name *n, const struct stat *st,
		      uint64_t *ret_bytes, struct err *err)
{
	uint64_t is = (uint64_t)st->st_size;
	bool ours = dut_file_is_ours(r->d.info.path);

	if (!is && !(ours && n->size_bytes))
		return err_set(err, -EINVAL, "%s is empty (0 bytes)", r->d.info.path);
	if (!ours && n->size_bytes && n->size_bytes != is)
		return err_set(
			err, -EINVAL,
			"%s has %llu bytes and pts did not make it: it cannot be given another "
			"size",
			r->d.info.path, (unsigned long long)is);
	*ret_bytes = n->size_bytes ? n->size_bytes : is;
	return 0;
}

static const char *fs_name(long type)
{
	switch ((unsigned long)type) {
	case EXT4_SUPER_MAGIC:
		return "ext4";
	case XFS_SUPER_MAGIC:
		return "xfs";
	case BTRFS_SUPER_MAGIC:
		return "btrfs";
	case TMPFS_MAGIC:
		return "tmpfs";
	case OVERLAYFS_SUPER_MAGIC:
		return "overlay";
	case NFS_SUPER_MAGIC:
		return "nfs";
	default:
		return "another file system";
	}
}

static void file_facts(struct dut_real *r)
{
	struct dut_info *d = &r->d.info;
	char dir[sizeof d->path];
	struct statfs fs;

	snprintf(dir, sizeof dir, "%s", d->path);
	char *slash = strrchr(dir, '/');
	snprintf(d->model, sizeof d->model, "scratch file");
	if (!statfs(d->path, &fs) || !(slash ? (slash[1] = 0, statfs(dir, &fs)) : statfs(".", &fs)))
		snprintf(d->interface, sizeof d->interface, "file on %s", fs_name(fs.f_type));
	d->purge_methods = 1u << PURGE_PUNCH;
	d->purge_auto = PURGE_PUNCH;
	d->lba_bytes = 512;
	d->dio_mem_align = 4096;
}

/* ---- direct IO ---- */

static bool reads_at(int fd, uint32_t align)
{
	void *buf = aligned_alloc(4096, 65536);
	bool ok = buf && pread(fd, buf, align, align) >= 0;

	free(buf);
	return ok;
}

/* Smallest IO that the file system takes around its cache: what statx says, else what works. */
static uint32_t find_lba(int fd, uint32_t *mem_align)
{
	struct statx x = { 0 };
	uint32_t lba = 512;

#ifdef STATX_DIOALIGN
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) && x.stx_mask & STATX_DIOALIGN) {
		if (x.stx_dio_offset_align > lba)
			lba = x.stx_dio_offset_align;
		if (x.stx_dio_mem_align > *mem_align)
			*mem_align = x.stx_dio_mem_align;
	}
#endif
	while (lba < 4096 && !reads_at(fd, lba))
		lba *= 2;
	return lba;
}

static int go_direct(struct dut_real *r, struct err *err)
{
	struct dut_info *d = &r->d.info;
	int flags = fcntl(r->fd, F_GETFL);

	if (fcntl(r->fd, F_SETFL, flags | O_DIRECT)) {
		if (errno != EINVAL)
			return err_set(err, -errno, "%s: O_DIRECT: %s", d->path, strerror(errno));
		r->buffered = true;
	} else {
		d->lba_bytes = find_lba(r->fd, &d->dio_mem_align);
	}
	if (d->capacity_bytes % d->lba_bytes)
		return err_set(err, -EINVAL, "%s: %llu bytes are no multiple of the %u-byte block",
			       d->path, (unsigned long long)d->capacity_bytes, d->lba_bytes);
	return 0;
}

/* ---- opening ---- */

/* The kernel gives the lock of a killed process free some time after it is gone: in use is only what stays in use. */
static int lock(struct dut_real *r, struct err *err)
{
	const struct timespec tenth = { 0, 100000000 };

	for (unsigned i = 0; flock(r->fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK)
			return err_set(err, -errno, "%s: %s", r->d.info.path, strerror(errno));
		if (i == 20)
			return err_set(err, -EBUSY, "%s is in use by another pts", r->d.info.path);
		nanosleep(&tenth, NULL);
	}
	return 0;
}

static int set_size(struct dut_real *r, uint64_t bytes, struct err *err)
{
	if (ftruncate(r->fd, (off_t)bytes))
		return err_set(err, -errno, "%s: a size of %llu bytes: %s", r->d.info.path,
			       (unsigned long long)bytes, strerror(errno));
	return 0;
}

static int create(struct dut_real *r, struct err *err)
{
	struct dut_info *d = &r->d.info;
	char marker[PATH_MAX + 32], real[PATH_MAX];
	struct stat st;
	int rc;

	r->fd = open(d->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (r->fd < 0)
		return open_error(d->path, errno, err);
	if (realpath(d->path, real))
		snprintf(d->path, sizeof d->path, "%.511s", real);
	rc = lock(r, err);
	if (!rc && fstat(r->fd, &st))
		rc = err_set(err, -errno, "%s: %s", d->path, strerror(errno));
	if (!rc)
		rc = write_marker(d->path, &st, err);
	if (!rc)
		rc = set_size(r, d->capacity_bytes, err);
	if (!rc)
		rc = go_direct(r, err);
	if (rc) { /* what was made here goes again; a marker that is in the way stays */
		if (dut_file_is_ours(d->path)) {
			marker_path(marker, sizeof marker, d->path);
			unlink(marker);
		}
		unlink(d->path);
	}
	return rc;
}

static int reopen(struct dut_real *r, const struct stat *st, struct err *err)
{
	struct dut_info *d = &r->d.info;
	struct stat now;
	int rc;

	r->fd = open(d->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0)
		return open_error(d->path, errno, err);
	if (fstat(r->fd, &now) || now.st_ino != st->st_ino || now.st_dev != st->st_dev)
		return err_set(err, -EBUSY, "%s became another file meanwhile", d->path);
	rc = lock(r, err);
	if (!rc && (uint64_t)st->st_size != d->capacity_bytes)
		rc = set_size(r, d->capacity_bytes, err);
	return rc ? rc : go_direct(r, err);
}

static int open_facts(struct dut_real *r, struct err *err)
{
	struct dut_info *d = &r->d.info;
	int fd = open(d->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return open_error(d->path, errno, err);
	if (!fcntl(fd, F_SETFL, O_DIRECT | O_NONBLOCK))
		d->lba_bytes = find_lba(fd, &d->dio_mem_align);
	close(fd);
	return 0;
}

static int open_file(struct dut_real *r, const struct dut_request *q, struct err *err)
{
	struct dut_info *d = &r->d.info;
	struct stat st;
	bool is_new;
	int rc = find_file(r, q->name->path, &st, &is_new, err);

	if (rc)
		return rc;
	file_facts(r);
	if (is_new)
		d->capacity_bytes = q->name->size_bytes ? q->name->size_bytes : DEFAULT_BYTES;
	else
		rc = check_size(r, q->name, &st, &d->capacity_bytes, err);
	if (!rc && d->capacity_bytes % d->lba_bytes)
		rc = err_set(err, -EINVAL, "%s: %llu bytes are no multiple of 512", d->path,
			     (unsigned long long)d->capacity_bytes);
	if (!rc && q->mode == DUT_READ)
		return is_new ? 0 : open_facts(r, err);
	if (!rc)
		rc = is_new ? create(r, err) : reopen(r, &st, err);
	return rc ? rc : dut_real_start(r, err);
}

int dut_file_open(const struct dut_request *q, struct dut **ret, struct err *err)
{
	struct dut_real *r = dut_real_new(q, DUT_FILE);
	int rc = open_file(r, q, err);

	if (rc) {
		dut_close(&r->d);
		return rc;
	}
	*ret = &r->d;
	return 0;
}
