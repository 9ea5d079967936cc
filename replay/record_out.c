/* SPDX-License-Identifier: MIT */
/*
 * The file while a recording goes on: blktrace records, appended and never touched again. It is brought to the disk about
 * once a second by an asynchronous fdatasync (Linux AIO), since a busy disk may take long, and the kernel's buffers would run
 * over meanwhile.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"

#define OUT_BYTES ((size_t)1 << 20)

int out_open(struct record_out *o, int fd, const char *name, struct err *err)
{
	aio_context_t ctx = 0;

	*o = (struct record_out){ .fd = fd, .name = name, .buf = malloc(OUT_BYTES) };
	if (!o->buf)
		return err_set(err, -ENOMEM, "no memory to record");
	if (!syscall(SYS_io_setup, 1, &ctx))
		o->aio = ctx;
	return 0;
}

void out_close(struct record_out *o)
{
	if (o->aio) /* waits for the fdatasync under way */
		(void)syscall(SYS_io_destroy, (aio_context_t)o->aio);
	free(o->buf);
	*o = (struct record_out){ .fd = -1 };
}

static int bad_write(const struct record_out *o, int rc, struct err *err)
{
	return err_set(err, rc, "%s: %s", o->name, strerror(-rc));
}

/* Of the first @done bytes of the buffer those that are whole records. */
static size_t whole(const struct record_out *o, size_t done)
{
	struct blk_io_trace t;
	size_t at = 0, n = 0;

	while (at + n <= done) {
		at += n;
		if (at + sizeof(t) > done)
			break;
		memcpy(&t, o->buf + at, sizeof(t));
		n = sizeof(t) + t.pdu_len;
	}
	return at;
}

/* A disk that is full in the midst of a record: back to the end of the last one. */
static int cut_back(struct record_out *o, size_t done, int why, struct err *err)
{
	o->bytes += whole(o, done);
	o->n = 0;
	if (ftruncate(o->fd, (off_t)o->bytes))
		return err_set(err, why, "%s: %s, and its last record is cut", o->name,
			       strerror(-why));
	return bad_write(o, why, err);
}

int out_flush(struct record_out *o, struct err *err)
{
	size_t done = 0;

	while (done < o->n) {
		ssize_t k = write(o->fd, o->buf + done, o->n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return cut_back(o, done, k < 0 ? -errno : -EIO, err);
		done += (size_t)k;
	}
	o->bytes += o->n;
	o->n = 0;
	return 0;
}

static int put(struct record_out *o, const void *p, size_t n, struct err *err)
{
	int rc = o->n + n > OUT_BYTES ? out_flush(o, err) : 0;

	if (rc)
		return rc;
	memcpy(o->buf + o->n, p, n);
	o->n += n;
	return 0;
}

int out_record(struct record_out *o, const struct blk_io_trace *t, struct err *err)
{
	return put(o, t, sizeof(*t), err);
}

static int notify(struct record_out *o, uint32_t action, const void *data, size_t n,
		  struct err *err)
{
	unsigned char raw[sizeof(struct blk_io_trace) + 256];
	struct blk_io_trace t = { .magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
				  .time = clock_mono_ns(),
				  .action = action,
				  .pdu_len = (uint16_t)n };

	BUG_ON(n > 256);
	memcpy(raw, &t, sizeof(t));
	memcpy(raw + sizeof(t), data, n);
	return put(o, raw, sizeof(t) + n, err);
}

int out_message(struct record_out *o, const char *text, struct err *err)
{
	return notify(o, BLK_TN_MESSAGE, text, strlen(text), err);
}

int out_wall_clock(struct record_out *o, struct err *err)
{
	uint64_t wall = clock_wall_ns();
	uint32_t v[2] = { (uint32_t)(wall / 1000000000), (uint32_t)(wall % 1000000000) };

	return notify(o, BLK_TN_TIMESTAMP, v, sizeof(v), err);
}

/* 1: the one under way has ended, or none was. */
static int sync_ended(struct record_out *o, struct err *err)
{
	struct io_event ev;
	struct timespec now = { 0, 0 };

	if (!o->syncing)
		return 1;
	if (syscall(SYS_io_getevents, (aio_context_t)o->aio, 0, 1, &ev, &now) != 1)
		return 0;
	o->syncing = false;
	return ev.res < 0 ? bad_write(o, (int)ev.res, err) : 1;
}

int out_sync(struct record_out *o, struct err *err)
{
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_FDSYNC, .aio_fildes = (uint32_t)o->fd };
	struct iocb *list[] = { &cb };
	int rc = sync_ended(o, err);

	if (rc != 1)
		return rc;
	if (o->aio && syscall(SYS_io_submit, (aio_context_t)o->aio, 1, list) == 1) {
		o->syncing = true;
		return 0;
	}
	return fdatasync(o->fd) ? bad_write(o, -errno, err) : 0;
}
