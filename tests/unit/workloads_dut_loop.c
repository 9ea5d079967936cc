/* SPDX-License-Identifier: MIT */
/* Real block devices: loop devices of 512 and 4096 byte sectors, made and released here. */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut.h"
#include "workloads/engine.h"

#define BYTES (16 << 20)

struct loop {
	int control, fd, back, number;
	char path[32], file[64];
};

static bool loop_open(struct loop *l, unsigned sector)
{
	struct loop_config c = { .block_size = sector };

	snprintf(l->file, sizeof l->file, "/tmp/pts-unit-loop-XXXXXX");
	int back = mkostemp(l->file, O_CLOEXEC);
	c.fd = (unsigned)back;
	l->fd = -1;
	l->control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 8 && l->control >= 0 && l->fd < 0 && !ftruncate(back, BYTES); i++) {
		l->number = ioctl(l->control, LOOP_CTL_GET_FREE);
		snprintf(l->path, sizeof l->path, "/dev/loop%d", l->number);
		l->fd = l->number < 0 ? -1 : open(l->path, O_RDWR | O_CLOEXEC);
		if (l->fd >= 0 && ioctl(l->fd, LOOP_CONFIGURE, &c)) { /* another was faster */
			close(l->fd);
			l->fd = -1;
		}
	}
	l->back = back;
	unlink(l->file);
	return l->fd >= 0;
}

static void loop_close(struct loop *l)
{
	if (l->fd >= 0)
		ioctl(l->fd, LOOP_CLR_FD);
	close(l->fd);
	close(l->back);
	close(l->control);
}

static uint64_t ios, bytes, short_ios;
static int sealed(void *arg, unsigned k, const struct result *r)
{
	ios = r->op[IO_READ].ios + r->op[IO_WRITE].ios;
	bytes = r->op[IO_READ].bytes + r->op[IO_WRITE].bytes;
	short_ios = r->short_ios + r->errors;
	return 0;
}

static int run(struct dut *d, uint8_t op, uint8_t order, uint32_t size, struct bound stop,
	       struct err *err)
{
	_Atomic uint64_t cursor = 0;
	struct access a = { .name = "x", .n_streams = 1, .regions = 1, .exact = order == IO_SEQ };
	struct segment s = { &a, 2, 4, 0, 0, stop, 1 };
	struct job j = { .seg = &s,
			 .n = 1,
			 .range = { .bytes = d->info.capacity_bytes },
			 .cursor = &cursor,
			 .n_cursors = 1,
			 .sealed = sealed };

	a.stream[0] = (struct stream){ 1, size, op, order, order == IO_SEQ ? 0 : CURSOR_NONE, 0 };
	return d->ops->run(d, &j, err);
}

static void whole_round(struct loop *l, unsigned sector)
{
	struct err err = { "" };
	struct purge_report p;
	struct dut *d, *other;

	CHECK_INT(dut_open(l->path, DUT_READ, NULL, &d, &err), 0);
	CHECK_INT(d->info.capacity_bytes, BYTES);
	CHECK_INT(d->info.lba_bytes, sector);
	CHECK_STR(d->info.model, "loop");
	CHECK_STR(d->info.serial, "");
	CHECK_STR(d->info.interface, "loop");
	CHECK_STR(d->info.path, l->path);
	CHECK(d->info.formal);
	dut_close(d);
	CHECK_INT(dut_open(l->path, DUT_WRITE, NULL, &d, &err), 0);
	CHECK_INT(dut_open(l->path, DUT_WRITE, NULL, &other, &err), -EBUSY);
	CHECK_MSG(strstr(err.msg, "in use"), "%s", err.msg);
	err = (struct err){ "" };
	CHECK_INT(
		run(d, IO_WRITE, IO_SEQ, 128 << 10, (struct bound){ .bytes = 2ull * BYTES }, &err),
		0);
	CHECK_INT(bytes, 2ull * BYTES);
	CHECK_INT(run(d, IO_READ, IO_RND, 4096, (struct bound){ .ios = 2000 }, &err), 0);
	CHECK_INT(ios, 2000);
	CHECK_INT(short_ios, 0);
	int rc = run(d, IO_READ, IO_RND, 512, (struct bound){ .ios = 10 }, &err);
	CHECK_INT(rc, sector == 512 ? 0 : -EINVAL); /* 0.5 KiB cannot be on a 4Kn drive */
	if (!(d->info.purge_methods & 1u << PURGE_BLKDISCARD)) {
		dut_close(d);
		SKIP("no discard on this loop device");
	}
	err = (struct err){ "" };
	rc = d->ops->purge(d, PURGE_AUTO, &p, &err);
	dut_close(d);
	CHECK_MSG(!rc, "%s", err.msg);
	CHECK_INT(p.method, PURGE_BLKDISCARD);
	CHECK(p.verified && p.canaries == 1026);
}

static void with_loop(unsigned sector)
{
	struct loop l;

	if (!loop_open(&l, sector)) {
		loop_close(&l);
		SKIP("no right to make a loop device");
	}
	whole_round(&l, sector);
	loop_close(&l);
}

TEST(loop_512)
{
	with_loop(512);
}

TEST(loop_4096)
{
	with_loop(4096);
}

static void *vanish(void *arg)
{
	struct loop *l = arg;
	struct timespec soon = { 0, 100000000 };

	nanosleep(&soon, NULL);
	if (ftruncate(l->back, 0) || ioctl(l->fd, LOOP_SET_CAPACITY))
		abort();
	return NULL;
}

/* A drive that is taken away answers reads at once with nothing, or with errors: these are no IOs, and the run ends. */
TEST(a_drive_that_vanishes_gives_no_ios)
{
	struct err err = { "" };
	struct loop l;
	struct dut *d;
	pthread_t t;

	if (!loop_open(&l, 512)) {
		loop_close(&l);
		SKIP("no right to make a loop device");
	}
	int rc = dut_open(l.path, DUT_WRITE, NULL, &d, &err);
	if (!rc) {
		if (pthread_create(&t, NULL, vanish, &l))
			abort();
		rc = run(d, IO_READ, IO_RND, 4096, (struct bound){ .time_ns = 3600000000000 },
			 &err);
		pthread_join(t, NULL);
		dut_close(d);
	}
	loop_close(&l);
	CHECK_MSG(rc == -ENODEV, "%d: %s", rc, err.msg);
	CHECK_MSG(strstr(err.msg, "the drive is gone"), "%s", err.msg);
	CHECK(ios > 0 && bytes == ios * 4096);
	CHECK(short_ios >= 1 && short_ios <= 8);
}

/* The kernel answers a read at the capacity with 0 bytes and no error. */
TEST(U22_a_read_at_the_capacity_is_no_io)
{
	_Atomic uint64_t cursor = BYTES;
	struct access a = { .name = "x", .n_streams = 1, .regions = 1 };
	struct segment s = { &a, 1, 1, 0, 0, { .ios = 1 }, 1 };
	struct job j = { .seg = &s,
			 .n = 1,
			 .range = { .bytes = BYTES + 4096 },
			 .cursor = &cursor,
			 .n_cursors = 1,
			 .sealed = sealed };
	struct err err = { "" };
	struct engine *e;
	struct loop l;
	int rc;

	if (!loop_open(&l, 512)) {
		loop_close(&l);
		SKIP("no right to make a loop device");
	}
	struct engine_target t = {
		.fd = l.fd, .capacity_bytes = BYTES + 4096, .lba_bytes = 512, .mem_align = 4096
	};
	a.stream[0] = (struct stream){ 1, 4096, IO_READ, IO_SEQ, 0, 0 };
	ios = bytes = short_ios = UINT64_MAX;
	rc = engine_open(&t, &e, &err);
	if (!rc) {
		rc = engine_run(e, &j, &err);
		engine_close(e);
	}
	loop_close(&l);
	CHECK_INT(rc, -EIO);
	CHECK_INT(ios, 0);
	CHECK_INT(bytes, 0);
	CHECK_INT(short_ios, 1);
	CHECK_MSG(strstr(err.msg, "read of 4096 bytes at offset 16777216 moved only 0"), "%s",
		  err.msg);
}

TEST_MAIN
