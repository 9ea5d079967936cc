/* SPDX-License-Identifier: MIT */
/*
 * A controller at link level: this program's own ioctl() stands before libc's, so that libnvme's commands come here. Each command
 * must be the next one of the script, byte for byte, and gets the answer that stands there; nothing else may come.
 */
#ifndef TESTS_UNIT_WORKLOADS_NVME_RIG_H
#define TESTS_UNIT_WORKLOADS_NVME_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut_nvme_impl.h"
#include "workloads/dut_real.h"

enum { GET_LOG = 0x02, IDENTIFY = 0x06, SET_FEATURE = 0x09, GET_FEATURE = 0x0a };
enum { FORMAT = 0x80, SANITIZE = 0x84 };

struct command {
	unsigned opcode, nsid, cdw10, cdw11;
	int rc; /* status; below 0 an errno; 0 done */
	const void *data; /* a page of answer; NULL: zeros */
	unsigned result; /* dword 0 of the completion */
	unsigned sprog, sstat, scdw10, estimate_s; /* of the sanitize log, where that is asked */
	void (*effect)(void); /* what it does to the drive */
};

#define ID \
	{ \
		.opcode = IDENTIFY, .cdw10 = 1, .data = ctrl_page \
	}
#define NS \
	{ \
		.opcode = IDENTIFY, .nsid = 1, .cdw10 = 0, .data = ns_page \
	}
/* 512 bytes of log 81h */
#define SAN(progress, status) \
	{ \
		.opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .sprog = (progress), \
		.sstat = (status), .scdw10 = 2, .estimate_s = 0xffffffff \
	}

static const struct command *script;
static unsigned script_n, script_at;
static char script_wrong[400];
static uint8_t ctrl_page[4096], ns_page[4096];
static unsigned timeout_ms; /* of the last Format or Sanitize */
static uint64_t size_bytes = 1 << 20;
static int lba_bytes = 512;
static unsigned ios_after; /* reads and writes since the last Format or Sanitize */

static void le(uint8_t *at, unsigned n, uint64_t v)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static int play(struct nvme_passthru_cmd *c)
{
	const struct command *s = &script[script_at];

	if (script_wrong[0])
		return -EIO;
	if (script_at == script_n) {
		snprintf(script_wrong, sizeof script_wrong,
			 "command %u, %02x nsid %x cdw10 %x: nothing more was to come", script_at,
			 c->opcode, c->nsid, c->cdw10);
		return -EIO;
	}
	if (c->opcode != s->opcode || c->nsid != s->nsid || c->cdw10 != s->cdw10 ||
	    c->cdw11 != s->cdw11 || c->cdw12 || c->cdw13 || c->cdw14 || c->cdw15 || c->cdw2 ||
	    c->cdw3) {
		snprintf(script_wrong, sizeof script_wrong,
			 "command %u is %02x nsid %x cdw10 %x cdw11 %x, not %02x nsid %x cdw10 %x "
			 "cdw11 %x",
			 script_at, c->opcode, c->nsid, c->cdw10, c->cdw11, s->opcode, s->nsid,
			 s->cdw10, s->cdw11);
		return -EIO;
	}
	script_at++;
	if (c->opcode & 0x80) {
		timeout_ms = c->timeout_ms;
		ios_after = 0;
	}
	if (c->data_len && !s->rc) {
		uint8_t *out = (uint8_t *)(uintptr_t)c->addr;

		memset(out, 0, c->data_len);
		if (s->data)
			memcpy(out, s->data, c->data_len);
		if (c->opcode == GET_LOG && (c->cdw10 & 0xff) == 0x81) {
			le(out, 2, s->sprog);
			le(out + 2, 2, s->sstat);
			le(out + 4, 4, s->scdw10);
			le(out + 8, 4, s->estimate_s * 3); /* overwrite */
			le(out + 12, 4, s->estimate_s); /* block */
			le(out + 16, 4, s->estimate_s * 2); /* crypto */
		}
	}
	c->result = s->result;
	if (s->effect)
		s->effect();
	return s->rc;
}

static int answer(int rc)
{
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	switch (request) {
	case NVME_IOCTL_ADMIN_CMD:
		return answer(play(arg));
	case BLKGETSIZE64:
		memcpy(arg, &size_bytes, sizeof size_bytes);
		return 0;
	case BLKSSZGET:
		memcpy(arg, &lba_bytes, sizeof lba_bytes);
		return 0;
	default: /* no other command of a drive goes on from here */
		return request >> 8 == 'N' ? answer(-ENOTTY)
					   : (int)syscall(SYS_ioctl, fd, request, arg);
	}
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	ios_after++;
	return syscall(SYS_pread64, fd, buf, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	ios_after++;
	return syscall(SYS_pwrite64, fd, buf, n, at);
}

/* ---- time, and what a purge is told by ---- */

static uint64_t clock_ns;
static volatile int stop_flag;
static uint64_t stop_at_ns;
static char told[4000];

static uint64_t rig_now(void)
{
	return clock_ns;
}

static void rig_pause(uint64_t ns)
{
	clock_ns += ns;
	if (stop_at_ns && clock_ns >= stop_at_ns)
		stop_flag = 1;
}

static void rig_tell(void *arg, const char *text)
{
	size_t n = strlen(told);

	snprintf(told + n, sizeof told - n, "%s%s", n ? " | " : "", text);
}

/* ---- a drive ---- */

static struct nvme_drive *drive;
static struct dut dut;
static struct err err;

/* Serial S1, 2048 blocks of 512, Format and write cache, no Sanitize, one namespace. */
static void plain_pages(void)
{
	memset(ctrl_page, 0, sizeof ctrl_page);
	memset(ctrl_page + 4, ' ', 68);
	memcpy(ctrl_page + 4, "S1", 2);
	memcpy(ctrl_page + 24, "ACME  NVMe", 10);
	memcpy(ctrl_page + 64, "1.2", 3);
	le(ctrl_page + 256, 2, 0x02); /* OACS: Format NVM */
	le(ctrl_page + 516, 4, 4); /* NN */
	le(ctrl_page + 520, 2, 0x04); /* ONCS: DSM */
	ctrl_page[525] = 0x07; /* VWC */
	memset(ns_page, 0, sizeof ns_page);
	le(ns_page, 8, 2048);
	ns_page[128 + 2] = 9; /* LBA format 0 */
}

static struct nvme_place plain_place(void)
{
	struct nvme_place p = { .ctrl = "nvme1",
				.block = "nvme0n1",
				.nsid = 1,
				.serial = "S1",
				.transport = "pcie",
				.numa_node = -1,
				.ctrl_dir = "/nowhere/nvme1",
				.root = "/nowhere",
				.capacity_bytes = 1 << 20 };

	return p;
}

static void begin(const struct command *c, unsigned n)
{
	script = c;
	script_n = n;
	script_at = 0;
	script_wrong[0] = told[0] = 0;
	err = (struct err){ "" };
	dut = (struct dut){ .stop = &stop_flag, .tell = rig_tell };
	stop_flag = 0;
	stop_at_ns = 0;
	clock_ns = 1000000000;
	size_bytes = 1 << 20;
	lba_bytes = 512;
}

#define SCRIPT(...) \
	static const struct command commands[] = { __VA_ARGS__ }; \
	begin(commands, sizeof commands / sizeof *commands)

static int attach(void)
{
	struct nvme_place p = plain_place();
	int rc = nvme_attach(open("/dev/null", O_RDWR | O_CLOEXEC), &p, &drive, &err);

	if (rc) {
		drive = NULL;
		return rc;
	}
	drive->now = rig_now;
	drive->pause = rig_pause;
	return 0;
}

/* All of the script came, and nothing else. */
static void end(void)
{
	nvme_drive_close(drive);
	drive = NULL;
	CHECK_MSG(!script_wrong[0], "%s (%s)", script_wrong, err.msg);
	CHECK_MSG(script_at == script_n, "%u commands came, not %u (%s)", script_at, script_n,
		  err.msg);
}

#define HAS(text, part) CHECK_MSG(strstr(text, part), "\"%s\" has no \"%s\"", text, part)

#endif
