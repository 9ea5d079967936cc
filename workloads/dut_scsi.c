/* SPDX-License-Identifier: MIT */
/* A SAS or SATA drive: what it is, how large, which commands it knows; and so by which methods it can be purged. */
#include "workloads/dut_scsi.h"

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
#include <time.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "workloads/dut_real.h"
#include "workloads/dut_scsi_impl.h"

#define DISK 0x00
#define ZONED_DISK 0x14
#define PAGE_BYTES 252 /* fits the one-byte lengths of old drives */

static void sleep_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- INQUIRY ---- */

/* @n bytes of ASCII, which end nowhere. */
static void text_of(char *out, size_t size, const uint8_t *in, unsigned n)
{
	char raw[256];

	snprintf(raw, sizeof raw, "%.*s", (int)(n < 255 ? n : 255), (const char *)in);
	clean_text(out, size, raw);
}

/* Vital product data: @ret_len bytes of the page are there, its header with them; 0 without an error: no such page. */
static int vpd(struct scsi_drive *s, uint8_t page, uint8_t out[PAGE_BYTES], unsigned *ret_len)
{
	struct scsi_cmd c = { .name = "INQUIRY",
			      .cdb = { 0x12, 1, page, 0, PAGE_BYTES },
			      .cdb_len = 6,
			      .data = out,
			      .bytes = PAGE_BYTES };
	int rc;

	memset(out, 0, PAGE_BYTES);
	rc = scsi_send(s, &c);
	*ret_len = 0;
	if (rc == -ENODEV || rc == -ETIMEDOUT || rc == -EACCES)
		return rc;
	if (rc || c.got < 4 || out[1] != page)
		return 0;
	*ret_len = 4u + scsi_be16(out + 2);
	if (*ret_len > c.got)
		*ret_len = c.got;
	return 0;
}

static int ask_inquiry(struct scsi_drive *s, struct err *err)
{
	uint8_t b[96] = { 0 };
	struct scsi_cmd c = { .name = "INQUIRY",
			      .cdb = { 0x12, 0, 0, 0, sizeof b },
			      .cdb_len = 6,
			      .data = b,
			      .bytes = sizeof b };
	int rc = scsi_send(s, &c);

	if (rc == -ENOTTY || rc == -EINVAL)
		return err_set(err, -ENOTTY, "%s takes no SCSI commands", s->path);
	if (rc)
		return scsi_error(s, &c, rc, err);
	if (c.got < 36 || b[0] >> 5)
		return err_set(err, -ENODEV, "%s: INQUIRY: no drive is connected there", s->path);
	if ((b[0] & 0x1f) != DISK && (b[0] & 0x1f) != ZONED_DISK)
		return err_set(err, -ENOTTY, "%s is no disk (SCSI device type %02xh)", s->path,
			       b[0] & 0x1f);
	text_of(s->vendor, sizeof s->vendor, b + 8, 8);
	text_of(s->model, sizeof s->model, b + 16, 16);
	text_of(s->firmware, sizeof s->firmware, b + 32, 4);
	/* How SAT tells ATA drives behind whatever controller; bridges of USB have names of their own, and break erases. */
	if (!strcmp(s->vendor, "ATA"))
		s->ata = true;
	return 0;
}

/* One designator of page 83h: names of the drive; of its port only how that is attached. */
static void read_designator(struct scsi_drive *s, const uint8_t *d, unsigned n, unsigned *rank)
{
	static const char *const transports[] = {
		[0] = "fc", [6] = "sas", [8] = "sata", [9] = "usb"
	};
	unsigned association = d[1] >> 4 & 3, type = d[1] & 0xf, protocol = d[0] >> 4, better;

	if (d[1] & 0x80 && association == 1 && protocol < 10 && transports[protocol])
		snprintf(s->transport, sizeof s->transport, "%s", transports[protocol]);
	if (association || (type != 2 && type != 3) || (n != 8 && n != 12 && n != 16))
		return;
	better = type * 100 + n; /* NAA before EUI-64, the longer before the shorter */
	if (better <= *rank)
		return;
	*rank = better;
	snprintf(s->wwid, sizeof s->wwid, "%s.", type == 3 ? "naa" : "eui");
	for (unsigned i = 0; i < n; i++)
		snprintf(s->wwid + 4 + 2 * i, 3, "%02x", d[4 + i]);
}

static int ask_names(struct scsi_drive *s)
{
	uint8_t b[PAGE_BYTES];
	unsigned n = 0, rank = 0;
	int rc = vpd(s, 0x80, b, &n);

	if (!rc && n > 4)
		text_of(s->serial, sizeof s->serial, b + 4, n - 4);
	if (!rc)
		rc = vpd(s, 0x83, b, &n);
	for (unsigned at = 4; !rc && at + 4 <= n && at + 4 + b[at + 3] <= n; at += 4u + b[at + 3])
		read_designator(s, b + at, b[at + 3], &rank);
	return rc;
}

static int ask_limits(struct scsi_drive *s)
{
	uint8_t b[PAGE_BYTES];
	unsigned n = 0;
	int rc = vpd(s, 0xb0, b, &n);

	s->unmap_blocks = !rc && n >= 24 ? scsi_be32(b + 20) : 0;
	if (!rc)
		rc = vpd(s, 0xb1, b, &n);
	s->rotating = !rc && n >= 6 && scsi_be16(b + 4) > 1; /* 1: no medium that turns */
	if (!rc)
		rc = vpd(s, 0xb2, b, &n);
	if (rc || n < 6 || !(b[5] & 0x80))
		s->unmap_blocks = 0;
	s->thin_write_same = !rc && n >= 6 && b[5] & 0x40;
	return rc;
}

/* ---- capacity ---- */

int scsi_read_capacity(struct scsi_drive *s, struct scsi_capacity *ret, struct err *err)
{
	uint8_t b[32] = { 0 };
	struct scsi_cmd c = { .name = "READ CAPACITY (16)",
			      .cdb = { 0x9e, 0x10, [13] = sizeof b },
			      .cdb_len = 16,
			      .data = b,
			      .bytes = sizeof b };
	int rc = scsi_do(s, &c, err);

	if (rc)
		return rc;
	*ret = (struct scsi_capacity){ .blocks = scsi_be(b, 8) + 1,
				       .lba_bytes = scsi_be32(b + 8),
				       .protection = b[12] & 1 ? (b[12] >> 1 & 7) + 1 : 0,
				       .exponent = b[13] >> 4 };
	if (c.got < 12 || !ret->lba_bytes || !ret->blocks || ret->protection > 3)
		return err_set(err, -EIO, "%s: READ CAPACITY (16): no sensible answer", s->path);
	return 0;
}

/* A format from another host, or a swap: the kernel goes on believing what was. */
static int compare_capacity(const struct scsi_drive *s, struct err *err)
{
	const struct scsi_capacity *c = &s->capacity;
	uint64_t bytes = 0;
	int lba = 0;

	if (ioctl(s->fd, BLKGETSIZE64, &bytes) || ioctl(s->fd, BLKSSZGET, &lba))
		return 0; /* not of a block device */
	if (bytes == c->blocks * c->lba_bytes && (uint32_t)lba == c->lba_bytes)
		return 0;
	return err_set(err, -ENODEV,
		       "%s: the drive says %llu bytes in blocks of %u, the kernel believes %llu in "
		       "blocks of %d: let it look again (echo 1 > /sys/block/NAME/device/rescan)",
		       s->path, (unsigned long long)(c->blocks * c->lba_bytes), c->lba_bytes,
		       (unsigned long long)bytes, lba);
}

static int ask_capacity(struct scsi_drive *s, struct err *err)
{
	struct err none = { "" };
	int rc = scsi_read_capacity(s, &s->capacity, &none);

	if (rc == -EOPNOTSUPP ||
	    rc == -EIO) /* an old drive, or one that is damaged: purge will tell */
		return 0;
	return rc ? err_set(err, rc, "%s", none.msg) : compare_capacity(s, err);
}

/* ---- REPORT SUPPORTED OPERATION CODES ---- */

/* One command, by its service action where @action is not 0. */
static enum scsi_known knows(struct scsi_drive *s, uint8_t opcode, uint8_t action)
{
	uint8_t b[32] = { 0 };
	struct scsi_cmd c = { .name = "REPORT SUPPORTED OPERATION CODES",
			      .cdb = { 0xa3, 0x0c, action ? 2 : 1, opcode, 0, action, 0, 0, 0,
				       sizeof b },
			      .cdb_len = 12,
			      .data = b,
			      .bytes = sizeof b };

	if (scsi_send(s, &c) || c.got < 4)
		return SCSI_UNKNOWN;
	switch (b[1] & 7) {
	case 1:
		return SCSI_NO;
	case 3: /* as the standard has it */
	case 5: /* in the vendor's manner */
		return SCSI_YES;
	default:
		return SCSI_UNKNOWN;
	}
}

static void ask_commands(struct scsi_drive *s)
{
	s->format = knows(s, 0x04, 0);
	for (uint8_t kind = 1; kind < SANITIZE_KINDS; kind++)
		s->sanitize[kind] = s->format == SCSI_UNKNOWN && kind > 1 &&
						    s->sanitize[kind - 1] == SCSI_UNKNOWN
					    ? SCSI_UNKNOWN /* it answers no such question */
					    : knows(s, 0x48, kind);
}

int scsi_ask(struct scsi_drive *s, struct err *err)
{
	bool on, can = false;
	struct err none = { "" };
	int rc = ask_capacity(s, err);

	if (rc)
		return rc;
	if (s->ata)
		return ata_ask(s, err);
	ask_commands(s);
	scsi_find_logs(s);
	s->cache_switch = !scsi_cache(s, &on, &can, &none) && can;
	return 0;
}

/* ---- opening ---- */

/*
 * What must not be sent commands: a partition, whose drive they would reach; and bridges of USB, of which some hang by a question
 * that they do not know, and some break an erase.
 */
static const char *hands_off(int fd)
{
	char path[80], real[PATH_MAX];
	struct stat st;
	size_t n;

	if (fstat(fd, &st) || !S_ISBLK(st.st_mode))
		return NULL;
	n = (size_t)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(st.st_rdev),
			     minor(st.st_rdev));
	if (realpath(path, real) && strstr(real, "/usb"))
		return "is behind a bridge of USB: no commands are sent through it";
	snprintf(path + n, sizeof path - n, "/partition");
	return access(path, F_OK) ? NULL : "is a partition: commands would reach the whole drive";
}

void scsi_rescan(const struct scsi_drive *s)
{
	char path[80];
	struct stat st;
	int fd;

	if (fstat(s->fd, &st) || !S_ISBLK(st.st_mode))
		return;
	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/device/rescan", major(st.st_rdev),
		 minor(st.st_rdev));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) !=
	    1) { /* then the kernel keeps what it knew, which is no fault of the drive */
	}
	close(fd);
}

static int open_path(struct scsi_drive *s, struct err *err)
{
	const char *why;

	/* For reading: closing one that was open for writing makes udev look at the drive in the midst of a run. */
	s->fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0)
		return err_set(err, errno == EPERM ? -EACCES : -errno, "%s: %s", s->path,
			       strerror(errno));
	why = hands_off(s->fd);
	return why ? err_set(err, -ENOTTY, "%s %s", s->path, why) : 0;
}

enum scsi_running scsi_running_now(struct scsi_drive *s)
{
	struct scsi_cmd c = { .name = "TEST UNIT READY", .cdb_len = 6 };

	if (scsi_send(s, &c) != -EBUSY || c.key != 2 || c.asc != 4)
		return SCSI_IDLE;
	return c.ascq == 0x04 ? SCSI_FORMATTING : c.ascq == 0x1b ? SCSI_SANITIZING : SCSI_IDLE;
}

static int open_drive(struct scsi_drive *s, struct err *err)
{
	int rc = open_path(s, err);

	if (!rc)
		rc = ask_inquiry(s, err);
	if (rc)
		return rc;
	s->running = scsi_running_now(s);
	rc = ask_names(s);
	if (!rc)
		rc = ask_limits(s);
	if (rc)
		return err_set(err, rc, "%s: INQUIRY of its pages: %s", s->path, strerror(-rc));
	return s->running && !s->ata ? 0 : scsi_ask(s, err);
}

int scsi_open(const char *path, bool sata, struct scsi_drive **ret, struct err *err)
{
	struct scsi_drive *s = calloc(1, sizeof *s);
	int rc;

	BUG_ON(!s);
	snprintf(s->path, sizeof s->path, "%s", path);
	s->ata = sata;
	s->now_ns = clock_mono_ns;
	s->sleep_ms = sleep_ms;
	rc = open_drive(s, err);
	if (rc) {
		scsi_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

bool scsi_is(const struct scsi_drive *s, unsigned major, unsigned minor)
{
	struct stat st;

	return !fstat(s->fd, &st) && st.st_rdev == makedev(major, minor);
}

void scsi_close(struct scsi_drive *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* ---- facts ---- */

static void fill(char *out, size_t n, const char *s)
{
	if (s[0])
		snprintf(out, n, "%s", s);
}

static void choose_running(const struct scsi_drive *s, struct dut_info *d)
{
	d->purge_auto = s->running == SCSI_FORMATTING ? PURGE_SCSI_FORMAT : PURGE_SCSI_SANITIZE;
	d->purge_methods |= 1u << d->purge_auto;
	snprintf(d->auto_why, sizeof d->auto_why,
		 "%s runs in the drive already: it is waited for, then begun anew",
		 s->running == SCSI_FORMATTING ? "a format" : "a sanitize");
}

/* What is weaker than the drive's own erase, and why. */
static void choose_discard(const struct scsi_drive *s, struct dut_info *d)
{
	bool possible = d->purge_methods & 1u << PURGE_BLKDISCARD;
	const char *why =
		s->format == SCSI_UNKNOWN
			? "the drive does not tell which commands it knows, so FORMAT UNIT "
			  "is not chosen for it"
		: s->sanitize[SANITIZE_OVERWRITE] == SCSI_YES
			? "no FORMAT UNIT, and of SANITIZE only overwrite, which leaves the "
			  "drive full"
			: "the drive knows neither SANITIZE nor FORMAT UNIT";

	const char *discard = s->unmap_blocks	   ? ": discard (UNMAP)"
			      : s->thin_write_same ? ": discard (WRITE SAME)"
						   : ": discard";

	d->purge_auto = possible ? PURGE_BLKDISCARD : PURGE_NONE;
	snprintf(d->auto_why, sizeof d->auto_why, "%s%s%s", why,
		 possible ? discard : "; it takes no discard either",
		 s->format == SCSI_UNKNOWN ? " (--method scsi-format asks it)" : "");
}

static void choose(const struct scsi_drive *s, struct dut_info *d)
{
	bool block = s->sanitize[SANITIZE_BLOCK] == SCSI_YES;
	bool crypto = s->sanitize[SANITIZE_CRYPTO] == SCSI_YES;
	bool overwrite = s->sanitize[SANITIZE_OVERWRITE] == SCSI_YES;

	if (s->running) {
		choose_running(s, d);
		return;
	}
	if (s->format != SCSI_NO)
		d->purge_methods |= 1u << PURGE_SCSI_FORMAT;
	if (block || crypto || overwrite)
		d->purge_methods |= 1u << PURGE_SCSI_SANITIZE;
	if (block || crypto) {
		d->purge_auto = PURGE_SCSI_SANITIZE;
		snprintf(d->auto_why, sizeof d->auto_why, "the drive knows SANITIZE %s",
			 block ? "block erase" : "cryptographic erase");
	} else if (s->format == SCSI_YES) {
		d->purge_auto = PURGE_SCSI_FORMAT;
		snprintf(d->auto_why, sizeof d->auto_why,
			 "the drive knows FORMAT UNIT, no block or cryptographic SANITIZE");
	} else {
		choose_discard(s, d);
	}
}

/* The PTS is for solid state; what goes over each track takes its time. */
static void note_rotation(const struct scsi_drive *s, struct dut_info *d)
{
	size_t n = strlen(d->auto_why);

	if (s->rotating && d->purge_auto != PURGE_NONE && d->purge_auto != PURGE_BLKDISCARD)
		snprintf(d->auto_why + n, sizeof d->auto_why - n,
			 "; its medium rotates: that may take a day");
}

void scsi_facts(const struct scsi_drive *s, struct dut_info *d)
{
	fill(d->serial, sizeof d->serial, s->serial);
	fill(d->wwid, sizeof d->wwid, s->wwid);
	d->erasing = s->running != SCSI_IDLE;
	if (s->ata) {
		ata_facts(s, d);
		note_rotation(s, d);
		return;
	}
	fill(d->vendor, sizeof d->vendor, s->vendor);
	fill(d->model, sizeof d->model, s->model);
	fill(d->firmware, sizeof d->firmware, s->firmware);
	fill(d->transport, sizeof d->transport, s->transport);
	d->has_write_cache = s->cache_switch;
	choose(s, d);
	note_rotation(s, d);
}
