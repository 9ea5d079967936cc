/* SPDX-License-Identifier: MIT */
#include "workloads/ring.h"

#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pts/base/buf.h"
#include "workloads/fault.h"

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
	memset(r->sqes, 0, u->sq.ring_entries * sizeof *r->sqes);
}

static void register_all(struct ring *r, const struct ring_conf *c)
{
	struct iovec iov = { c->buffers, c->buffer_bytes };
	int fd = c->fd;

	r->fixed_buffers = c->buffers && !io_uring_register_buffers(r->uring, &iov, 1);
	r->fixed_file = !io_uring_register_files(r->uring, &fd, 1);
	r->ring_fd = io_uring_register_ring_fd(r->uring) == 1;
	r->fd = r->uring->enter_ring_fd;
	r->enter_flags = r->ring_fd ? IORING_ENTER_REGISTERED_RING : 0;
	r->target = r->fixed_file ? 0 : c->fd;
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
	lay_open(r);
	register_all(r, c);
	for (int op = 0; op < 2; op++) {
		unsigned code = op ? (r->fixed_buffers ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE)
				   : (r->fixed_buffers ? IORING_OP_READ_FIXED : IORING_OP_READ);
		r->head_word[op] = code | (r->fixed_file ? RING_FIXED_FILE_FLAG : 0) |
				   (uint64_t)(uint32_t)r->target << 32;
	}
	rc = c->fault ? fault_ring_open(r, c->fault, err) : 0;
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
	snprintf(out, n, "io_uring, %s%s%s%s%s",
		 r->fixed_buffers ? "registered buffers" : "buffers not registered",
		 r->fixed_file ? ", registered file" : ", file not registered",
		 r->ring_fd ? ", registered ring" : "", r->defer ? ", DEFER_TASKRUN" : "",
		 r->polled ? ", polled" : "");
}
