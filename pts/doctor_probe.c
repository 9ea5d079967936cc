/* SPDX-License-Identifier: MIT */
/* What the doctor has to try out: the cost of the clocks, io_uring, limits, and whether a target can start IO without blocking. */
#include "pts/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "workloads/ring.h"
#include "workloads/tick.h"

enum { ROUNDS = 20, CALLS = 2000, ALIGN = 4096, RING_ENTRIES = 32 };

/* The least of some rounds: what else runs here makes a call dearer, never cheaper. */
static double cost_ns(bool tsc)
{
	double best = INFINITY;

	for (unsigned r = 0; r < ROUNDS; r++) {
		uint64_t from = tick_gettime_ns(), took;
		volatile uint64_t sink;

		for (unsigned i = 0; i < CALLS; i++)
			sink = tick_now(tsc);
		(void)sink;
		took = tick_gettime_ns() - from;
		best = fmin(best, (double)took / CALLS);
	}
	return best;
}

static uint64_t limit(__rlimit_resource_t what)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return 0;
	return r.rlim_cur == RLIM_INFINITY ? UINT64_MAX : r.rlim_cur;
}

/* Set up as for a cell, on a file that is everywhere. */
static void try_ring(struct doctor_live *ret)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *buffers = aligned_alloc(ALIGN, ALIGN);
	struct ring_conf c = {
		.fd = fd, .entries = RING_ENTRIES, .buffers = buffers, .buffer_bytes = ALIGN
	};
	struct err err = { "" };
	struct ring r;

	if (fd < 0 || !buffers) {
		snprintf(ret->ring_error, sizeof ret->ring_error, "not tried: %s", strerror(errno));
	} else if (ring_open(&r, &c, &err)) {
		snprintf(ret->ring_error, sizeof ret->ring_error, "%s", err.msg);
	} else {
		ring_describe(&r, ret->ring, sizeof ret->ring);
		ring_close(&r);
	}
	free(buffers);
	if (fd >= 0)
		close(fd);
}

void doctor_measure(struct doctor_live *ret)
{
	struct utsname u;

	*ret = (struct doctor_live){ .gettime_ns = cost_ns(false), .rdtsc_ns = NAN };
#if defined(__x86_64__)
	ret->rdtsc_ns = cost_ns(true);
#endif
	if (!uname(&u))
		snprintf(ret->kernel, sizeof ret->kernel, "%s", u.release);
	ret->memlock_bytes = limit(RLIMIT_MEMLOCK);
	ret->open_files = limit(RLIMIT_NOFILE);
	try_ring(ret);
}

/* EAGAIN is a fine answer: it would have to wait, and said so. */
static enum doctor_nowait probe(int fd, size_t bytes)
{
	void *buffer = aligned_alloc(ALIGN, bytes);
	struct iovec iov = { buffer, bytes };
	enum doctor_nowait got = NOWAIT_NOT_TRIED;

	if (!buffer)
		return got;
	if (preadv2(fd, &iov, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN)
		got = NOWAIT_CAN;
	else if (errno == EOPNOTSUPP)
		got = NOWAIT_CANNOT;
	free(buffer);
	return got;
}

enum doctor_nowait doctor_nowait_probe(const struct dut_info *info)
{
	size_t bytes = info->lba_bytes > ALIGN ? info->lba_bytes : ALIGN;
	enum doctor_nowait got;
	int fd;

	if (info->simulated || info->capacity_bytes < bytes || bytes % ALIGN)
		return NOWAIT_NOT_TRIED;
	fd = open(info->path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NOWAIT_NOT_TRIED;
	got = probe(fd, bytes);
	close(fd);
	return got;
}
