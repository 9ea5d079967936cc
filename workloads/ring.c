/* SPDX-License-Identifier: MIT */
#include "workloads/ring.h"

#include <liburing.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pts/base/buf.h"
#include "workloads/fault.h"
#include "workloads/pass.h"

static bool passes(const struct ring_conf *c)
{
	return c->pass && c->pass->nsid;
}

static int disabled_sysctl(void)
{
	struct buf b = BUF_INIT;
	int v = 0;

	if (!buf_read_file(&b, "/proc/sys/kernel/io_uring_disabled", 64) && b.len)
		v = buf_cstr(&b)[0] - '0';
	buf_release(&b);
	return v;
}

static int setup_error(int rc, struct err *err)
{
	int sysctl = rc == -EPERM ? disabled_sysctl() : 0;

	if (rc == -ENOSYS)
		return err_set(
			err, rc,
			"this kernel has no io_uring (ENOSYS): Linux 5.11 or later is needed");
	if (sysctl > 0)
		return err_set(
			err, rc,
			"io_uring is forbidden here: sysctl kernel.io_uring_disabled=%d (EPERM)",
			sysctl);
	if (rc == -EPERM || rc == -EACCES)
		return err_set(
			err, rc,
			"io_uring is forbidden here (EPERM), as a rule by a container's seccomp "
			"profile");
	if (rc == -ENOMEM)
		return err_set(err, rc, "no memory for an io_uring (ENOMEM): raise ulimit -l");
	return err_set(err, rc, "io_uring_setup: %s", strerror(-rc));
}

/* The best set-up the kernel takes, in falling order. */
static int setup_entries(struct ring *r, const struct ring_conf *c, unsigned entries)
{
	static const unsigned wish[] = { IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
					 IORING_SETUP_COOP_TASKRUN, 0 };
	int rc = -EINVAL;

	for (unsigned i = 0; i < 3 && rc == -EINVAL; i++) {
		struct io_uring_params p = { .flags = wish[i] | IORING_SETUP_CLAMP };
		if (c->polled)
			p.flags |= IORING_SETUP_IOPOLL;
		if (passes(c))
			p.flags |= IORING_SETUP_SQE128 | IORING_SETUP_CQE32;
		rc = io_uring_queue_init_params(entries, r->uring, &p);
		r->defer = i == 0;
		if (!rc && !(p.features & IORING_FEAT_EXT_ARG)) {
			io_uring_queue_exit(r->uring);
			rc = -ENOSYS; /* before 5.11: no waiting with a time limit */
		}
	}
	return rc;
}

static int setup(struct ring *r, const struct ring_conf *c, struct err *err)
{
	int rc = setup_entries(r, c, c->entries);

	/* Little lockable memory: a smaller ring, and time for the kernel to give back that of rings just closed. */
	for (int i = 0; i < 10 && rc == -ENOMEM; i++) {
		struct timespec ts = { 0, 20000000 };
		rc = setup_entries(r, c, c->least_entries);
		if (rc == -ENOMEM)
			nanosleep(&ts, NULL);
	}
	if (rc == -EINVAL && passes(c))
		return err_set(
			err, -EOPNOTSUPP,
			"this kernel's io_uring has no NVMe passthrough: Linux 5.19 or later "
			"is needed");
	if (rc)
		return setup_error(rc, err);
	if (r->uring->sq.ring_entries < c->least_entries) {
		io_uring_queue_exit(r->uring);
		return err_set(err, -EINVAL, "a queue depth of %u is more than io_uring takes",
			       c->least_entries);
	}
	return 0;
}

static void lay_open(struct ring *r)
{
	struct io_uring *u = r->uring;

	r->sq_ktail = u->sq.ktail;
	r->sqes = u->sq.sqes;
	r->sq_mask = u->sq.ring_mask;
	r->cq_khead = u->cq.khead;
	r->cq_ktail = u->cq.ktail;
	r->cqes = u->cq.cqes;
	r->cq_mask = u->cq.ring_mask;
	r->entries = u->sq.ring_entries;
	for (unsigned i = 0; i < u->sq.ring_entries; i++)
		u->sq.array[i] = i;
	memset(r->sqes, 0, (u->sq.ring_entries * sizeof *r->sqes) << r->wide);
}

#define BUFFERS_MAX 16384u /* the kernel's limit */

static bool register_buffers(struct ring *r, const struct ring_conf *c)
{
	size_t piece = passes(c) ? c->pass->max_bytes : c->buffer_bytes, n, bytes = c->buffer_bytes;
	struct iovec *iov;
	int rc;

	if (!c->buffers || (bytes + piece - 1) / piece > BUFFERS_MAX)
		return false;
	n = (bytes + piece - 1) / piece;
	iov = calloc(n, sizeof *iov);
	BUG_ON(!iov);
	for (size_t i = 0; i < n; i++) {
		size_t at = i * piece, len = bytes - at < piece ? bytes - at : piece;
		iov[i] = (struct iovec){ (char *)c->buffers + at, len };
	}
	rc = io_uring_register_buffers(r->uring, iov, (unsigned)n);
	free(iov);
	return !rc;
}

static void register_all(struct ring *r, const struct ring_conf *c)
{
	int fd = passes(c) ? c->pass->fd : c->fd;

	r->fixed_buffers = register_buffers(r, c);
	r->fixed_file = !io_uring_register_files(r->uring, &fd, 1);
	r->ring_fd = io_uring_register_ring_fd(r->uring) == 1;
	r->fd = r->uring->enter_ring_fd;
	r->enter_flags = r->ring_fd ? IORING_ENTER_REGISTERED_RING : 0;
	r->target = r->fixed_file ? 0 : fd;
}

static uint64_t file_word(const struct ring *r)
{
	return (r->fixed_file ? RING_FIXED_FILE_FLAG : 0) | (uint64_t)(uint32_t)r->target << 32;
}

static void set_heads(struct ring *r)
{
	for (int op = 0; op < 2; op++) {
		unsigned code = op ? (r->fixed_buffers ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE)
				   : (r->fixed_buffers ? IORING_OP_READ_FIXED : IORING_OP_READ);
		r->head_word[op] = code | file_word(r);
	}
}

/* ---- NVMe passthrough ---- */

struct ring_nvme ring_nvme_of(const struct ring *r, const struct pass *p, uint64_t file)
{
	uint64_t fixed = r->fixed_buffers ? IORING_URING_CMD_FIXED : 0;

	return (struct ring_nvme){ .word = { IORING_OP_URING_CMD | file, NVME_URING_CMD_IO,
					     fixed << 32 },
				   .buffers = fixed ? r->buffers : 0,
				   .buffer_shift = fixed ? r->buffer_shift : 63,
				   .nsid = p->nsid,
				   .lba_shift = (unsigned)__builtin_ctz(p->lba_bytes),
				   .max_bytes = p->max_bytes };
}

uint64_t ring_nvme_head(const struct ring_nvme *v, uint8_t opcode)
{
	return opcode | (uint64_t)v->nsid << 32;
}

static void set_nvme(struct ring *r, const struct pass *p)
{
	r->nvme = ring_nvme_of(r, p, file_word(r));
	r->head_word[0] = ring_nvme_head(&r->nvme, NVME_OP_READ);
	r->head_word[1] = ring_nvme_head(&r->nvme, NVME_OP_WRITE);
}

/* The result of reading block 0 to @to: the drive's answer (>= 0), or what the kernel says. */
static int read_one(struct ring *r, void *to)
{
	int n, res = -EIO;

	ring_put_nvme(r, &r->nvme,
		      (uint64_t[4]){ r->head_word[0], 0, (uintptr_t)to, 1u << r->nvme.lba_shift },
		      NULL);
	do {
		n = ring_enter(r, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		r->taken += n > 0 ? (unsigned)n : 0;
	} while (n == -EINTR || n == -EAGAIN || (n >= 0 && ring_cq_tail(r) == r->head));
	if (n < 0)
		return n;
	res = ring_cqe(r, r->head)->res;
	ring_cq_done(r, r->head + 1);
	return res;
}

/* Whether it works at all, and with registered buffers, shows only when it is tried: on the memory that will be used. */
static int try_nvme(struct ring *r, const struct ring_conf *c, struct err *err)
{
	size_t bytes = c->pass->lba_bytes;
	void *own = aligned_alloc(4096, 65536), *at;
	int res;

	BUG_ON(!own);
	r->fixed_buffers &= c->buffer_bytes >= bytes;
	r->node = c->pass->path;
	r->buffers = (uintptr_t)c->buffers;
	r->buffer_shift = (unsigned)__builtin_ctz(c->pass->max_bytes);
	set_nvme(r, c->pass);
	at = r->fixed_buffers ? c->buffers : own;
	if (at != own)
		memcpy(own, at, bytes);
	res = read_one(r, at);
	if (at != own)
		memcpy(at, own, bytes);
	if (res < 0 && r->fixed_buffers) {
		r->fixed_buffers = false; /* before Linux 6.1 */
		set_nvme(r, c->pass);
		res = read_one(r, own);
	}
	free(own);
	if (res >= 0)
		return 0;
	return err_set(err, res == -ENODEV || res == -ENXIO ? -ENODEV : -EOPNOTSUPP,
		       "%s takes no NVMe commands by io_uring: %s", c->pass->path, strerror(-res));
}

int ring_open(struct ring *r, const struct ring_conf *c, struct err *err)
{
	int rc;

	memset(r, 0, sizeof *r);
	r->uring = calloc(1, sizeof *r->uring);
	if (!r->uring)
		return err_set(err, -ENOMEM, "no memory");
	rc = setup(r, c, err);
	if (rc) {
		free(r->uring);
		r->uring = NULL;
		return rc;
	}
	r->polled = c->polled;
	r->wide = passes(c);
	lay_open(r);
	register_all(r, c);
	set_heads(r);
	rc = r->wide ? try_nvme(r, c, err) : 0;
	if (!rc && c->fault)
		rc = fault_ring_open(r, c->fault, err);
	if (rc)
		ring_close(r);
	return rc;
}

void ring_close(struct ring *r)
{
	if (!r->uring)
		return;
	/* The kernel takes a ring down later; the drive or its lock must be free by then for who opens it next. */
	if (r->fixed_file)
		io_uring_unregister_files(r->uring);
	io_uring_queue_exit(r->uring);
	fault_ring_close(r);
	free(r->uring);
	memset(r, 0, sizeof *r);
}

void ring_describe(const struct ring *r, char *out, size_t n)
{
	char how[128] = "";

	if (r->wide)
		snprintf(how, sizeof how, " passthrough on %s, up to %u KiB a command", r->node,
			 r->nvme.max_bytes / 1024);
	snprintf(out, n, "io_uring%s, %s%s%s%s%s", how,
		 r->fixed_buffers ? "registered buffers" : "buffers not registered",
		 r->fixed_file ? ", registered file" : ", file not registered",
		 r->ring_fd ? ", registered ring" : "", r->defer ? ", DEFER_TASKRUN" : "",
		 r->polled ? ", polled" : "");
}
