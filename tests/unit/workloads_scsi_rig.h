/* SPDX-License-Identifier: MIT */
/*
 * A drive that is a list of commands and their answers: this program's ioctl() is the one that libsgutils2 calls. A command
 * other than the next of the list, another direction, length or time, and what is sent beyond the list, is a failure that
 * scsi_over() tells. The file behind it is an ordinary one.
 */
#ifndef TESTS_UNIT_WORKLOADS_SCSI_RIG_H
#define TESTS_UNIT_WORKLOADS_SCSI_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut_scsi_impl.h"

enum { NO_DATA = SG_DXFER_NONE, TO_DRIVE = SG_DXFER_TO_DEV, FROM_DRIVE = SG_DXFER_FROM_DEV };

struct line {
	uint8_t cdb[16], cdb_len;
	int direction;
	unsigned bytes; /* of the data */
	uint8_t data[512]; /* given, or wanted */
	unsigned given; /* bytes; fewer than asked for: a short answer */
	unsigned timeout_ms; /* 0: whatever */
	uint8_t status, sense[64];
	unsigned sense_len, host_status;
	int error; /* of the ioctl itself */
};

static struct line script[600];
static unsigned script_lines, script_at;
static char script_fault[400]; /* the first that was wrong */
static char trail[2000]; /* opcodes (of ATA: commands) in order, and what else tests add */
static uint64_t kernel_bytes, fake_ns;
static int kernel_lba;
static unsigned naps; /* 100 ms each */
static void (*on_command)(void); /* called after each */
static int (*drive_model)(struct sg_io_hdr *h); /* in place of the script */

__attribute__((unused)) static void trail_add(const char *word)
{
	size_t n = strlen(trail);

	snprintf(trail + n, sizeof trail - n, "%s%s", n ? " " : "", word);
}

static void script_wrong(const char *fmt, ...) printf_like(1, 2);
static void script_wrong(const char *fmt, ...)
{
	va_list ap;

	if (script_fault[0])
		return;
	va_start(ap, fmt);
	vsnprintf(script_fault, sizeof script_fault, fmt, ap);
	va_end(ap);
}

static const char *hex(const uint8_t *b, unsigned n)
{
	static char out[2][3 * 64];
	static unsigned turn;
	char *o = out[turn ^= 1];

	o[0] = 0;
	for (unsigned i = 0; i < n && i < 60; i++)
		snprintf(o + 3 * i, 4, "%02x ", b[i]);
	return o;
}

static void answer(const struct line *l, struct sg_io_hdr *h)
{
	if (l->direction == FROM_DRIVE && !l->sense_len) {
		unsigned n = l->given < h->dxfer_len ? l->given : h->dxfer_len;
		memcpy(h->dxferp, l->data, n);
		h->resid = (int)(h->dxfer_len - n);
	}
	h->status = l->status;
	h->host_status = (unsigned short)l->host_status;
	if (l->sense_len) {
		unsigned n = l->sense_len < h->mx_sb_len ? l->sense_len : h->mx_sb_len;
		memcpy(h->sbp, l->sense, n);
		h->sb_len_wr = (unsigned char)n;
		h->driver_status = 8; /* sense is there */
	}
	h->info = l->status || l->host_status || l->sense_len ? SG_INFO_CHECK : 0;
}

static int play(struct sg_io_hdr *h)
{
	const struct line *l = script + script_at;

	if (script_at >= script_lines) {
		script_wrong("sent beyond the script: %s", hex(h->cmdp, h->cmd_len));
		errno = EIO;
		return -1;
	}
	script_at++;
	if (l->cdb_len != h->cmd_len || memcmp(l->cdb, h->cmdp, h->cmd_len))
		script_wrong("command %u: %snot %s", script_at, hex(h->cmdp, h->cmd_len),
			     hex(l->cdb, l->cdb_len));
	if (l->direction != h->dxfer_direction || l->bytes != h->dxfer_len)
		script_wrong("command %u: direction %d, %u bytes, not %d, %u", script_at,
			     h->dxfer_direction, h->dxfer_len, l->direction, l->bytes);
	else if (l->direction == TO_DRIVE && memcmp(l->data, h->dxferp, l->bytes))
		script_wrong("command %u: data %snot %s", script_at, hex(h->dxferp, l->bytes),
			     hex(l->data, l->bytes));
	if (l->timeout_ms && l->timeout_ms != h->timeout)
		script_wrong("command %u: timeout %u ms, not %u", script_at, h->timeout,
			     l->timeout_ms);
	if (l->error) {
		errno = l->error;
		return -1;
	}
	answer(l, h);
	return 0;
}

/* The library's and the product's alike. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == BLKGETSIZE64 && kernel_bytes) {
		*(uint64_t *)arg = kernel_bytes;
		return 0;
	}
	if (request == BLKSSZGET && kernel_bytes) {
		*(int *)arg = kernel_lba;
		return 0;
	}
	if (request != SG_IO) {
		errno = ENOTTY;
		return -1;
	}
	struct sg_io_hdr *h = arg;
	char word[8];
	snprintf(word, sizeof word, "%02x", h->cmdp[0] == 0x85 ? h->cmdp[14] : h->cmdp[0]);
	trail_add(word);
	rc = drive_model ? drive_model(h) : play(h);
	if (on_command)
		on_command();
	return rc;
}

/* ---- writing the script ---- */

static unsigned bytes_of(const char *text, uint8_t *out, unsigned most)
{
	unsigned n = 0;
	char *end;

	for (const char *p = text; n < most; p = end) {
		unsigned long v = strtoul(p, &end, 16);
		if (end == p)
			break;
		out[n++] = (uint8_t)v;
	}
	return n;
}

/* A command without data that ends well. */
static struct line *expect(const char *cdb)
{
	struct line *l = script + script_lines;

	if (script_lines + 1 >= sizeof script / sizeof *script)
		abort();
	script_lines++;
	memset(l, 0, sizeof *l);
	l->cdb_len = (uint8_t)bytes_of(cdb, l->cdb, 16);
	l->direction = NO_DATA;
	return l;
}

/* One that asks for @bytes, and is given those of @data (in hex). */
__attribute__((unused)) static struct line *expect_in(const char *cdb, unsigned bytes,
						      const char *data)
{
	struct line *l = expect(cdb);

	l->direction = FROM_DRIVE;
	l->bytes = bytes;
	l->given = bytes_of(data, l->data, sizeof l->data);
	return l;
}

__attribute__((unused)) static struct line *expect_out(const char *cdb, const char *data)
{
	struct line *l = expect(cdb);

	l->direction = TO_DRIVE;
	l->bytes = bytes_of(data, l->data, sizeof l->data);
	return l;
}

/* Fixed sense data. */
__attribute__((unused)) static struct line *fails(struct line *l, unsigned key, unsigned asc,
						  unsigned ascq)
{
	l->status = 2;
	l->sense_len = 18;
	l->sense[0] = 0x70;
	l->sense[2] = (uint8_t)key;
	l->sense[7] = 10;
	l->sense[12] = (uint8_t)asc;
	l->sense[13] = (uint8_t)ascq;
	return l;
}

__attribute__((unused)) static struct line *with_progress(struct line *l, unsigned of_65536)
{
	l->sense[15] = 0x80;
	l->sense[16] = (uint8_t)(of_65536 >> 8);
	l->sense[17] = (uint8_t)of_65536;
	return l;
}

/* ---- around a test ---- */

static char tells[40][160];
static unsigned n_tells;
static volatile int stop_flag;

__attribute__((unused)) static void note_tell(void *arg, const char *text)
{
	if (n_tells < 40)
		snprintf(tells[n_tells++], sizeof tells[0], "%s", text);
}

static uint64_t fake_now(void)
{
	return fake_ns;
}

static void fake_sleep(unsigned ms)
{
	fake_ns += ms * 1000000ull;
	naps++;
}

static void scsi_begin(void)
{
	script_lines = script_at = n_tells = naps = 0;
	script_fault[0] = trail[0] = 0;
	kernel_bytes = 0;
	stop_flag = 0;
	fake_ns = 1000000000;
	on_command = NULL;
	drive_model = NULL;
}

/* All that was written was sent, and nothing else. */
__attribute__((unused)) static void scsi_over(void)
{
	CHECK_MSG(!script_fault[0], "%s", script_fault);
	CHECK_MSG(script_at == script_lines, "%u of %u commands were sent", script_at,
		  script_lines);
}

/* Opens "the drive", with the clock of the test; what the script says about that must have been written. */
__attribute__((unused)) static int scsi_open_file(bool sata, struct scsi_drive **ret,
						  struct err *err)
{
	char path[] = "/tmp/pts-unit-scsi-XXXXXX";
	int fd = mkstemp(path), rc;

	if (fd < 0)
		abort();
	close(fd);
	*err = (struct err){ "" };
	rc = scsi_open(path, sata, ret, err);
	unlink(path);
	if (rc)
		return rc;
	snprintf((*ret)->path, sizeof(*ret)->path, "/dev/sdx");
	(*ret)->now_ns = fake_now;
	(*ret)->sleep_ms = fake_sleep;
	return 0;
}

#endif
