/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD over pts and a real SCSI or SATA disk of a VM: the erases that no such disk knows are answered here, by a discard of
 * the whole disk and a few looks of progress; all other commands reach the disk. For tests/vm/scsi_erase.sh.
 *
 *   FAKE_STATE=FILE	the drive's ATA security, kept there: "enabled locked frozen erasing PASSWORD"
 *   FAKE_SANITIZE=1	a SATA drive knows SANITIZE
 *   FAKE_CRASH=OP	the process dies by SIGKILL when ATA command or SCSI opcode OP (hex) is sent, before it is done
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <scsi/sg.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOKS 3 /* while it is erasing, unless FAKE_LOOKS says more */

struct state {
	int enabled, locked, frozen, erasing;
	char password[33];
};

static int real_ioctl(int fd, unsigned long request, void *arg)
{
	int (*next)(int, unsigned long, ...);

	*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	return next(fd, request, arg);
}

static int looks(void)
{
	const char *n = getenv("FAKE_LOOKS");

	return n ? (int)strtol(n, NULL, 10) : LOOKS;
}

static struct state load(void)
{
	struct state s = { 0 };
	FILE *f = fopen(getenv("FAKE_STATE"), "r");

	if (f) {
		if (fscanf(f, "%d %d %d %d %32s", &s.enabled, &s.locked, &s.frozen, &s.erasing,
			   s.password) < 4)
			s = (struct state){ 0 };
		fclose(f);
	}
	return s;
}

static void save(const struct state *s)
{
	FILE *f = fopen(getenv("FAKE_STATE"), "w");

	if (!f)
		abort();
	fprintf(f, "%d %d %d %d %s\n", s->enabled, s->locked, s->frozen, s->erasing, s->password);
	fclose(f);
}

/* The disk behind a descriptor that cannot write. */
static void erase(int fd)
{
	char link[64], path[256] = "";
	uint64_t range[2] = { 0, 0 };
	int disk;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) < 0)
		abort();
	disk = open(path, O_RDWR | O_CLOEXEC);
	if (disk < 0 || real_ioctl(disk, BLKGETSIZE64, &range[1]) ||
	    real_ioctl(disk, BLKDISCARD, range))
		abort();
	close(disk);
}

static int sense(struct sg_io_hdr *h, const uint8_t *b, unsigned n)
{
	h->status = 2;
	h->driver_status = 8;
	h->info |= SG_INFO_CHECK;
	h->sb_len_wr = (unsigned char)n;
	memcpy(h->sbp, b, n);
	return 0;
}

static int fine(struct sg_io_hdr *h)
{
	h->status = 0;
	h->host_status = h->driver_status = 0;
	h->info = 0;
	h->resid = 0;
	return 0;
}

static int registers(struct sg_io_hdr *h, unsigned count, unsigned lba, unsigned error)
{
	const uint8_t b[22] = { 0x72,
				error ? 0x0b : 1,
				0,
				error ? 0 : 0x1d,
				[7] = 14,
				0x09,
				12,
				1,
				(uint8_t)error,
				(uint8_t)(count >> 8),
				(uint8_t)count,
				[15] = (uint8_t)lba,
				[17] = (uint8_t)(lba >> 8),
				[20] = 0x40,
				error ? 0x51 : 0x50 };

	fine(h);
	return sense(h, b, sizeof b);
}

/* ---- SATA ---- */

static int identify(int fd, struct sg_io_hdr *h, const struct state *s)
{
	uint8_t *b = h->dxferp;
	int rc = real_ioctl(fd, SG_IO, h);

	b[2 * 82] |= 2;
	b[2 * 89] = 1; /* two minutes */
	b[2 * 59 + 1] = getenv("FAKE_SANITIZE") ? 0x90 : 0; /* block erase */
	b[2 * 128] = (uint8_t)(0x21 | s->enabled << 1 | s->locked << 2 | s->frozen << 3);
	b[2 * 255] = b[2 * 255 + 1] = 0; /* no checksum */
	return rc;
}

static bool security(int fd, struct state *s, uint8_t command, const char *sector)
{
	bool same = sector && !strncmp(s->password, sector + 2, 32);

	if (s->frozen)
		return false;
	switch (command) {
	case 0xf1:
		if (!s->locked)
			snprintf(s->password, sizeof s->password, "%.32s", sector + 2);
		s->enabled |= !s->locked;
		return !s->locked;
	case 0xf2:
		s->locked &= !same;
		return same;
	case 0xf3:
		return true;
	case 0xf4:
		if (!same || !s->enabled)
			return false;
		erase(fd);
		s->enabled = s->locked = 0;
		return true;
	default:
		if (!same || s->locked)
			return false;
		s->enabled = 0;
		return true;
	}
}

static int sanitize(int fd, struct sg_io_hdr *h, struct state *s)
{
	if (h->cmdp[4] == 0x12) { /* block erase */
		erase(fd);
		s->erasing = looks();
	} else if (s->erasing) {
		s->erasing--;
	}
	save(s);
	return s->erasing ? registers(h, 0x4000, 0x1000, 0) : registers(h, 0x8000, 0xffff, 0);
}

static int ata(int fd, struct sg_io_hdr *h)
{
	struct state s = load();
	uint8_t command = h->cmdp[14];
	bool done;

	if (command == 0xec)
		return identify(fd, h, &s);
	if (command == 0xb4 && getenv("FAKE_SANITIZE"))
		return sanitize(fd, h, &s);
	if (command < 0xf1 || command > 0xf6)
		return real_ioctl(fd, SG_IO, h);
	done = security(fd, &s, command, h->dxfer_len ? h->dxferp : NULL);
	save(&s);
	return done ? fine(h) : registers(h, 0, 0, 0x04);
}

/* ---- SAS ---- */

static int look(struct sg_io_hdr *h, struct state *s)
{
	const unsigned at = --s->erasing < 4 ? 0x4000u * (4 - (unsigned)s->erasing) - 1 : 0;
	const uint8_t b[18] = {
		0x70, 0, 2, [7] = 10, [12] = 4, 0x1b, [15] = 0x80, (uint8_t)(at >> 8), (uint8_t)at
	};

	save(s);
	fine(h);
	return sense(h, b, sizeof b);
}

static int scsi(int fd, struct sg_io_hdr *h)
{
	struct state s = load();
	const uint8_t *c = h->cmdp;

	if (c[0] == 0xa3 && c[1] == 0x0c) {
		static const uint8_t yes[4] = { 0, 3, 0, 10 };

		fine(h);
		memset(h->dxferp, 0, h->dxfer_len);
		memcpy(h->dxferp, yes, sizeof yes);
		return 0;
	}
	if (c[0] == 0x48 || c[0] == 0x04) {
		erase(fd);
		s.erasing = looks();
		save(&s);
		return fine(h);
	}
	if (c[0] == 0x00 && s.erasing)
		return look(h, &s);
	return real_ioctl(fd, SG_IO, h);
}

int ioctl(int fd, unsigned long request, ...)
{
	const char *crash = getenv("FAKE_CRASH");
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request != SG_IO)
		return real_ioctl(fd, request, arg);
	struct sg_io_hdr *h = arg;
	if (crash && strtoul(crash, NULL, 16) == (h->cmdp[0] == 0x85 ? h->cmdp[14] : h->cmdp[0]))
		raise(SIGKILL);
	return h->cmdp[0] == 0x85 ? ata(fd, h) : scsi(fd, h);
}
