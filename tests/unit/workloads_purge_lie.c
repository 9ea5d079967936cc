/* SPDX-License-Identifier: MIT */
/* A purge that answers ok and keeps the data is found out by the marks it left. */
#include <fcntl.h>

static int lie_from; /* blocks above this offset are kept */
#define fallocate(fd, mode, at, len) lying_fallocate(fd, mode, at, len)
static int lying_fallocate(int fd, int mode, off_t at, off_t len);
#include "workloads/purge.c"
#undef fallocate

#include "tests/test.h"

static int lying_fallocate(int fd, int mode, off_t at, off_t len)
{
	return lie_from ? fallocate(fd, mode, at, lie_from) : 0;
}

static int purge_with(int from, struct purge_report *p)
{
	char path[] = "/dev/shm/pts-unit-XXXXXX";
	struct dut_real r = { .fd = mkstemp(path) };
	struct err err = { "" };

	memset(p, 0, sizeof *p);
	r.d.info = (struct dut_info){ .capacity_bytes = 16 << 20,
				      .lba_bytes = 512,
				      .purge_methods = 1u << PURGE_PUNCH };
	unlink(path);
	if (ftruncate(r.fd, 16 << 20))
		abort();
	lie_from = from;
	int rc = purge_real(&r, PURGE_PUNCH, p, &err);
	close(r.fd);
	return rc;
}

TEST(survivors_are_found)
{
	struct purge_report p;

	CHECK_INT(purge_with(0, &p), -EBADE); /* all kept */
	CHECK_INT(p.survivors, 1026);
	CHECK_INT(p.canaries, 1026);
	CHECK(!p.verified);
	CHECK_INT(purge_with((16 << 20) - 512, &p), -EBADE); /* all but the last block erased */
	CHECK_INT(p.survivors, 1);
	CHECK_INT(purge_with(16 << 20, &p), 0);
	CHECK_INT(p.survivors, 0);
	CHECK(p.verified);
}

TEST(marks_are_spread_and_each_once)
{
	static const uint64_t blocks[] = { 1, 2, 1025, 1026, 1027, 5000, (uint64_t)1 << 36 };

	for (unsigned i = 0; i < 7; i++) {
		struct canaries c = { .nonce = { 42 + i } };
		choose(&c, blocks[i]);
		CHECK_INT(c.n, blocks[i] < 1026 ? blocks[i] : 1026);
		CHECK_INT(c.lba[0], 0);
		CHECK_INT(c.lba[c.n - 1], blocks[i] - 1);
		for (unsigned k = 1; k < c.n; k++)
			CHECK(c.lba[k] > c.lba[k - 1]);
	}
}

/* Of a drive that was taken out, Linux says "no space left" to a write; whoever goes on unpurged must not go on with it. */
TEST(a_drive_that_is_gone_is_told_as_gone)
{
	struct dut_real r = { .fd = open("/dev/full", O_RDWR) };
	struct purge_report p = { .method = PURGE_NONE };
	struct err err = { "" };
	int gone, there;

	r.d.info = (struct dut_info){ .kind = DUT_BLOCK,
				      .capacity_bytes = 16 << 20,
				      .lba_bytes = 512,
				      .purge_methods = 1u << PURGE_BLKDISCARD };
	gone = purge_real(&r, PURGE_BLKDISCARD, &p, &err);
	CHECK_MSG(strstr(err.msg, "is gone: ") && strstr(err.msg, "No space left"), "%s", err.msg);
	r.d.info.kind = DUT_FILE;
	err.msg[0] = 0;
	there = purge_real(&r, PURGE_BLKDISCARD, &p, &err);
	close(r.fd);
	CHECK_INT(gone, -ENODEV);
	CHECK_INT(there, -ENOSPC);
}

TEST_MAIN
