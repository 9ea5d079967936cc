/* SPDX-License-Identifier: MIT */
#include "workloads/pass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "workloads/dut_nvme.h"

#define PAGE_BYTES 4096u
#define COMMAND_KIB \
	2048u /* more than the PTS or the block layer asks for; buffers are cut to such pieces */
#define BLOCKS_MAX 65536u /* of a command: NLB has 16 bits */
#define IDENTIFY 0x06
#define TYPE_NVM 0 /* CNS 00h: Identify Namespace */

/* ---- limits ---- */

static uint64_t queue_number(const char *root, unsigned major, unsigned minor, const char *name)
{
	struct buf b = BUF_INIT;
	char path[600];
	uint64_t v = 0;

	snprintf(path, sizeof path, "%.400s/dev/block/%u:%u/queue/%s", root, major, minor, name);
	if (!buf_read_file(&b, path, 64)) {
		char text[64];
		snprintf(text, sizeof text, "%.*s", (int)strcspn(buf_cstr(&b), "\n"), buf_cstr(&b));
		if (parse_uint(text, 0, UINT64_MAX, &v))
			v = 0;
	}
	buf_release(&b);
	return v;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t pass_max_bytes(const char *root, unsigned major, unsigned minor)
{
	uint64_t kib = queue_number(root, major, minor, "max_hw_sectors_kb");
	uint64_t pages = queue_number(root, major, minor, "max_segments"), bytes;

	if (!kib || !pages)
		return 0;
	bytes = lesser(kib, COMMAND_KIB) * 1024;
	bytes = lesser(bytes, lesser(pages, COMMAND_KIB) * PAGE_BYTES);
	while (bytes & (bytes - 1))
		bytes &= bytes - 1;
	return (uint32_t)bytes;
}

/* ---- polling ---- */

/*
 * Before 6.5 the kernel polls by a pointer that is no longer valid once another thread, which polls the same queue, has taken the
 * completion: it crashes.
 */
const char *pass_no_poll(bool queue_polls, const char *release)
{
	unsigned long major, minor = 0;
	char *end;

	if (!queue_polls)
		return "the queue does not poll (nvme.poll_queues)";
	major = strtoul(release, &end, 10);
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	if (major < 6 || (major == 6 && minor < 5))
		return "Linux before 6.5 crashes when two threads poll for NVMe passthrough";
	return NULL;
}

static const char *ask_poll(const struct stat *st)
{
	struct utsname u;

	if (uname(&u))
		u.release[0] = 0;
	return pass_no_poll(queue_number("/sys", major(st->st_rdev), minor(st->st_rdev), "io_poll"),
			    u.release);
}

/* ---- formats ---- */

int pass_format(const uint8_t ns[4096], uint32_t *ret_lba_bytes, struct err *err)
{
	unsigned flbas = ns[26], i = (flbas & 0xf) | (flbas & 0x60) >> 1;
	const uint8_t *f = ns + 128 + (size_t)i * 4;
	unsigned metadata = f[0] | (unsigned)f[1] << 8, shift = f[2];

	if (shift < 9 || shift > 16)
		return err_set(err, -EOPNOTSUPP, "LBA format %u has blocks of 2^%u bytes", i,
			       shift);
	if (metadata)
		return err_set(err, -EOPNOTSUPP,
			       "LBA format %u has %u bytes of metadata a block, which passthrough "
			       "does not carry",
			       i, metadata);
	*ret_lba_bytes = 1u << shift;
	return 0;
}

static int ask_format(struct pass *p, struct err *err)
{
	uint8_t *ns = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
	struct nvme_admin_cmd c = { .opcode = IDENTIFY,
				    .nsid = p->nsid,
				    .addr = (uintptr_t)ns,
				    .data_len = PAGE_BYTES,
				    .cdw10 = TYPE_NVM };
	int rc;

	BUG_ON(!ns);
	memset(ns, 0, PAGE_BYTES);
	rc = ioctl(p->fd, NVME_IOCTL_ADMIN_CMD, &c);
	rc = rc < 0   ? err_set(err, -errno, "Identify Namespace: %s", strerror(errno))
	     : rc > 0 ? err_set(err, -EOPNOTSUPP, "Identify Namespace: NVMe status 0x%x", rc)
		      : pass_format(ns, &p->lba_bytes, err);
	free(ns);
	return rc;
}

/* ---- opening ---- */

/* The node in /dev is the device that sysfs knows by this name. */
static bool is_node_of(const struct stat *st, const char *name)
{
	struct buf b = BUF_INIT;
	char path[128], want[32];
	bool is;

	snprintf(want, sizeof want, "%u:%u\n", major(st->st_rdev), minor(st->st_rdev));
	snprintf(path, sizeof path, "/sys/class/nvme-generic/%s/dev", name);
	is = S_ISCHR(st->st_mode) && !buf_read_file(&b, path, 64) && !strcmp(buf_cstr(&b), want);
	buf_release(&b);
	return is;
}

static int find_generic(int fd, struct stat *st, struct nvme_place *ret, struct err *err)
{
	struct err why = { "" };

	if (fstat(fd, st))
		return err_set(err, -errno, "%s", strerror(errno));
	if (!S_ISBLK(st->st_mode))
		return err_set(err, -EOPNOTSUPP, "it is no NVMe drive");
	if (nvme_place_find("/sys", major(st->st_rdev), minor(st->st_rdev), ret, &why))
		return err_set(err, -EOPNOTSUPP, "%s", why.msg);
	if (!ret->generic[0])
		return err_set(err, -EOPNOTSUPP,
			       "%s has no /dev/ngXnY (Linux 5.13 or later makes them)", ret->block);
	return 0;
}

/* Both devices are the same namespace; blocks are what the block device says. */
static int fits(struct pass *p, int fd, const struct nvme_place *place, struct err *err)
{
	int lba = 0, rc;

	if (ioctl(fd, NVME_IOCTL_ID) != (int)place->nsid ||
	    ioctl(p->fd, NVME_IOCTL_ID) != (int)place->nsid)
		return err_set(err, -ENODEV, "%s and %s are not the same namespace", p->path,
			       place->block);
	p->nsid = place->nsid;
	rc = ask_format(p, err);
	if (rc)
		return rc;
	if (ioctl(fd, BLKSSZGET, &lba) || (uint32_t)lba != p->lba_bytes)
		return err_set(err, -EOPNOTSUPP, "blocks of %u bytes in the drive, of %d in Linux",
			       p->lba_bytes, lba);
	return 0;
}

static int open_node(struct pass *p, const struct nvme_place *place, struct err *err)
{
	struct stat st;

	snprintf(p->path, sizeof p->path, "/dev/%s", place->generic);
	p->fd = open(p->path, (p->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW);
	if (p->fd < 0)
		return err_set(err, errno == ENOENT ? -EOPNOTSUPP : -errno, "%s: %s", p->path,
			       strerror(errno));
	if (fstat(p->fd, &st) || !is_node_of(&st, place->generic))
		return err_set(err, -ENODEV, "%s is not the device that /sys calls %s", p->path,
			       place->generic);
	return 0;
}

int pass_open(int fd, bool read_only, struct pass *ret, struct err *err)
{
	struct pass p = { .fd = -1, .read_only = read_only };
	struct nvme_place place;
	struct stat st;
	int rc = find_generic(fd, &st, &place, err);

	if (!rc)
		rc = open_node(&p, &place, err);
	if (!rc)
		rc = fits(&p, fd, &place, err);
	if (!rc) {
		p.max_bytes = (uint32_t)lesser(
			pass_max_bytes("/sys", major(st.st_rdev), minor(st.st_rdev)),
			(uint64_t)p.lba_bytes * BLOCKS_MAX);
		p.no_poll = ask_poll(&st);
		if (p.max_bytes < PAGE_BYTES || p.max_bytes < p.lba_bytes)
			rc = err_set(err, -EOPNOTSUPP, "/sys does not tell the largest command");
	}
	if (rc) {
		if (p.fd >= 0)
			close(p.fd);
		return err_prefix(err, rc, "--engine passthrough");
	}
	*ret = p;
	return 0;
}

int pass_dup(const struct pass *p, struct pass *ret, struct err *err)
{
	int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", p->path, strerror(errno));
	*ret = *p;
	ret->fd = fd;
	return 0;
}

void pass_close(struct pass *p)
{
	if (p->nsid)
		close(p->fd);
	*p = (struct pass){ .nsid = 0 };
}

/* ---- answers ---- */

int pass_errno(int status)
{
	static const struct {
		uint16_t status;
		int err;
	} known[] = {
		{ 0x001, EOPNOTSUPP }, /* invalid opcode */
		{ 0x002, EOPNOTSUPP }, /* invalid field */
		{ 0x00b, EOPNOTSUPP }, /* invalid namespace or format */
		{ 0x021, EREMOTEIO }, /* command interrupted */
		{ 0x080, EREMOTEIO }, /* LBA out of range */
		{ 0x081, ENOSPC }, /* capacity exceeded */
		{ 0x082, EREMOTEIO }, /* namespace not ready */
		{ 0x083, EBADE }, /* reservation conflict */
		{ 0x180, EOPNOTSUPP }, /* conflicting attributes */
		{ 0x181, EILSEQ }, /* invalid protection information */
		{ 0x182, ENODATA }, /* write to a read-only range */
		{ 0x280, ENODATA }, /* write fault */
		{ 0x281, ENODATA }, /* unrecovered read error */
		{ 0x282, EILSEQ }, /* guard, application tag, reference tag check */
		{ 0x283, EILSEQ },     { 0x284, EILSEQ }, { 0x285, ENODATA }, /* compare failure */
		{ 0x286, ENODATA }, /* access denied */
		{ 0x287, ENODATA }, /* deallocated or unwritten block */
		{ 0x370, ENOLINK } /* the host gave up the path */
	};

	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].status == (status & 0x7ff))
			return known[i].err;
	return EIO;
}
