/* SPDX-License-Identifier: MIT */
/* NVMe passthrough: the bytes of commands, what is refused and why, what answers mean. No NVMe drive is needed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut.h"
#include "workloads/pass.h"
#include "workloads/ring.h"

#define PIECE (256u << 10)

/* ---- the bytes of a command ---- */

static uint64_t region; /* where buffers begin; nothing is read or written there */
static union {
	struct io_uring_sqe sqe;
	uint8_t byte[128];
} entry[4], want;
static struct ring R;

static void ring_make(uint32_t lba_bytes, bool fixed)
{
	const struct pass p = { .nsid = 7, .lba_bytes = lba_bytes, .max_bytes = PIECE };

	memset(entry, 0, sizeof entry);
	R = (struct ring){ .sqes = &entry[0].sqe, .sq_mask = 3, .wide = 1, .fixed_buffers = fixed };
	R.buffers = region = 0x7f0012340000;
	R.buffer_shift = 18;
	R.nvme = ring_nvme_of(&R, &p, RING_FIXED_FILE_FLAG | (uint64_t)3 << 32);
}

static struct nvme_uring_cmd *want_make(uint64_t addr, uint32_t len, bool fixed, void *user)
{
	struct nvme_uring_cmd *c = (struct nvme_uring_cmd *)want.sqe.cmd;

	memset(&want, 0, sizeof want);
	want.sqe.opcode = IORING_OP_URING_CMD;
	want.sqe.flags = IOSQE_FIXED_FILE;
	want.sqe.fd = 3;
	want.sqe.cmd_op = NVME_URING_CMD_IO;
	want.sqe.uring_cmd_flags = fixed ? IORING_URING_CMD_FIXED : 0;
	want.sqe.buf_index = fixed ? (uint16_t)((addr - region) / PIECE) : 0;
	want.sqe.user_data = (uintptr_t)user;
	c->nsid = 7;
	c->addr = addr;
	c->data_len = len;
	return c;
}

#define SAME_BYTES(i) \
	do { \
		for (unsigned k_ = 0; k_ < 128; k_++) \
			CHECK_MSG(entry[i].byte[k_] == want.byte[k_], \
				  "byte %u is 0x%02x, not 0x%02x", k_, entry[i].byte[k_], \
				  want.byte[k_]); \
	} while (0)

static void put(uint8_t opcode, uint64_t off, uint64_t addr, uint64_t len)
{
	ring_put_nvme(&R, &R.nvme, (uint64_t[4]){ ring_nvme_head(&R.nvme, opcode), off, addr, len },
		      &R);
}

TEST(a_read_of_one_block)
{
	struct nvme_uring_cmd *c;

	ring_make(512, true);
	put(NVME_OP_READ, 512 * 5, region + 4096, 512);
	c = want_make(region + 4096, 512, true, &R);
	c->opcode = 2;
	c->cdw10 = 5;
	SAME_BYTES(0);
	CHECK_INT(R.tail, 1);
}

TEST(a_write_far_out_in_the_last_buffer)
{
	uint64_t lba = 0x123456789aull;
	struct nvme_uring_cmd *c;

	ring_make(4096, true);
	put(NVME_OP_WRITE, lba * 4096, region + 9 * PIECE + 8192, 131072);
	c = want_make(region + 9 * PIECE + 8192, 131072, true, &R);
	c->opcode = 1;
	c->cdw10 = 0x3456789a;
	c->cdw11 = 0x12;
	c->cdw12 = 31; /* 32 blocks */
	SAME_BYTES(0);
}

/* The largest count of blocks fits into 16 bits; nothing of it may get into the flags above. */
TEST(the_largest_command)
{
	struct nvme_uring_cmd *c;

	ring_make(512, false);
	put(NVME_OP_READ, 0, region, 65536 * 512);
	c = want_make(region, 65536 * 512, false, &R);
	c->opcode = 2;
	c->cdw12 = 0xffff;
	SAME_BYTES(0);
}

TEST(over_the_line_between_two_buffers)
{
	struct nvme_uring_cmd *c;

	ring_make(512, true);
	put(NVME_OP_READ, 0, region + PIECE - 4096, 8192);
	c = want_make(region + PIECE - 4096, 8192, false, &R);
	c->opcode = 2;
	c->cdw12 = 15;
	SAME_BYTES(0);
	put(NVME_OP_READ, 0, region + PIECE - 4096, 4096); /* up to the line */
	c = want_make(region + PIECE - 4096, 4096, true, &R);
	c->opcode = 2;
	c->cdw12 = 7;
	SAME_BYTES(1);
}

/* The poll by which main wakes a worker uses an entry, too. */
TEST(an_entry_that_was_something_else)
{
	struct nvme_uring_cmd *c;

	ring_make(512, true);
	ring_put(&R,
		 (uint64_t[4]){ IORING_OP_POLL_ADD | (uint64_t)99 << 32, 11, 0, (uint64_t)1 << 32 },
		 &want);
	CHECK_INT(entry[0].sqe.opcode, IORING_OP_POLL_ADD);
	CHECK_INT(entry[0].sqe.poll32_events, 1);
	R.tail = 0;
	put(NVME_OP_WRITE, 4096, region, 4096);
	c = want_make(region, 4096, true, &R);
	c->opcode = 1;
	c->cdw10 = 8;
	c->cdw12 = 7;
	SAME_BYTES(0);
}

TEST(entries_lie_128_and_32_bytes_apart)
{
	static uint64_t cqes[16];

	ring_make(512, true);
	R.cqes = (struct io_uring_cqe *)cqes;
	R.cq_mask = 3;
	CHECK(ring_entry(&R, 6) == &entry[2].sqe);
	CHECK((void *)ring_cqe(&R, 7) == &cqes[12]);
	R.wide = 0;
	CHECK(ring_entry(&R, 2) == (struct io_uring_sqe *)&entry[1]);
	CHECK((void *)ring_cqe(&R, 3) == &cqes[6]);
}

/* ---- what is refused ---- */

static struct err E;

static bool told(int rc, int want_rc, const char *word)
{
	bool ok = rc == want_rc && strstr(E.msg, word);

	if (!ok)
		printf("# %d \"%s\"\n", rc, E.msg);
	E.msg[0] = 0;
	return ok;
}

TEST(no_block_device)
{
	char path[] = "/tmp/pass-XXXXXX";
	struct pass p;
	int fd = mkstemp(path), null = open("/dev/null", O_RDONLY);

	unlink(path);
	CHECK(told(pass_open(fd, false, &p, &E), -EOPNOTSUPP, "it is no NVMe drive"));
	CHECK(told(pass_open(null, true, &p, &E), -EOPNOTSUPP, "it is no NVMe drive"));
	CHECK(told(pass_open(-1, true, &p, &E), -EBADF, "--engine passthrough: Bad file"));
	close(fd);
	close(null);
}

/* A ring for it can be had, but what takes no NVMe commands is found out when it is opened. */
TEST(a_file_takes_no_commands)
{
	char path[] = "/tmp/pass-XXXXXX";
	struct pass p = { .nsid = 1, .lba_bytes = 512, .max_bytes = 65536, .path = "/tmp/x" };
	char *buf = aligned_alloc(4096, 65536);
	struct ring_conf c = { .entries = 8, .buffers = buf, .buffer_bytes = 65536, .pass = &p };
	struct ring r;
	int rc;

	p.fd = mkstemp(path);
	unlink(path);
	memset(buf, 'w', 65536);
	rc = ring_open(&r, &c, &E);
	CHECK_INT(buf[0], 'w'); /* write data is as it was */
	CHECK_INT(buf[511], 'w');
	CHECK(told(rc, -EOPNOTSUPP, "/tmp/x takes no NVMe commands by io_uring: Operation not"));
	CHECK(!r.uring);
	close(p.fd);
	free(buf);
}

TEST(other_kinds_of_dut)
{
	const struct dut_options opt = { .passthrough = true };
	char path[] = "/tmp/pass-XXXXXX", name[64];
	struct dut *d;

	close(mkstemp(path));
	unlink(path);
	snprintf(name, sizeof name, "file:%s?size=1m", path);
	CHECK(told(dut_open(name, DUT_WRITE, &opt, &d, &E), -EOPNOTSUPP, "is no NVMe drive"));
	CHECK(access(path, F_OK)); /* and was not made */
	CHECK(told(dut_open("sim:ent-nvme", DUT_READ, &opt, &d, &E), -EOPNOTSUPP,
		   "is no NVMe drive"));
	snprintf(name, sizeof name, "set:sim:pm,sim:pm?seed=2");
	CHECK(told(dut_open(name, DUT_READ, &opt, &d, &E), -EOPNOTSUPP, "is no NVMe drive"));
}

/* ---- formats ---- */

TEST(formats_with_metadata_are_refused)
{
	static uint8_t ns[4096];
	uint32_t lba = 0;

	ns[128 + 2] = 9;
	ns[132 + 2] = 12;
	ns[136] = 8;
	ns[136 + 2] = 12;
	CHECK_INT(pass_format(ns, &lba, &E), 0);
	CHECK_INT(lba, 512);
	ns[26] = 1;
	CHECK_INT(pass_format(ns, &lba, &E), 0);
	CHECK_INT(lba, 4096);
	ns[26] = 0x12; /* number 2; its metadata at the end of the data */
	CHECK(told(pass_format(ns, &lba, &E), -EOPNOTSUPP, "LBA format 2 has 8 bytes of metadata"));
	ns[26] = 0x20 | 1; /* number 17: the upper bits */
	CHECK(told(pass_format(ns, &lba, &E), -EOPNOTSUPP, "LBA format 17 has blocks of 2^0"));
	ns[128 + 17 * 4 + 2] = 13;
	CHECK_INT(pass_format(ns, &lba, &E), 0);
	CHECK_INT(lba, 8192);
}

/* ---- limits ---- */

static char root[] = "/tmp/pass-XXXXXX";

static void tell(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/dev/block/259:3/queue/%s", root, name);
	f = fopen(path, "w");
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void make_dirs(void)
{
	static const char *const dir[] = { "/dev", "/dev/block", "/dev/block/259:3",
					   "/dev/block/259:3/queue" };
	char path[128];

	if (!mkdtemp(root))
		abort();
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s%s", root, dir[i]);
		mkdir(path, 0700);
	}
}

static void remove_dirs(void)
{
	static const char *const name[] = { "/dev/block/259:3/queue/max_hw_sectors_kb",
					    "/dev/block/259:3/queue/max_segments",
					    "/dev/block/259:3/queue",
					    "/dev/block/259:3",
					    "/dev/block",
					    "/dev",
					    "" };
	char path[128];

	for (unsigned i = 0; i < 7; i++) {
		snprintf(path, sizeof path, "%s%s", root, name[i]);
		remove(path);
	}
}

TEST(the_largest_command_is_what_both_limits_allow)
{
	static const struct {
		const char *kib, *segments;
		unsigned want;
	} t[] = { { "512", "127", 256 << 10 },
		  { "512", "128", 512 << 10 },
		  { "128", "127", 128 << 10 },
		  { "2048", "33", 128 << 10 },
		  { "4", "1", 4096 },
		  { "0", "127", 0 },
		  { "x", "127", 0 },
		  { "512", "", 0 },
		  { "2147483647", "4294967295", 2u << 20 } };

	make_dirs();
	CHECK_INT(pass_max_bytes(root, 259, 3), 0); /* nothing is told */
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		tell("max_hw_sectors_kb", t[i].kib);
		tell("max_segments", t[i].segments);
		CHECK_INT(pass_max_bytes(root, 259, 3), t[i].want);
	}
	remove_dirs();
}

TEST(polling_only_where_the_kernel_survives_it)
{
	CHECK(strstr(pass_no_poll(false, "6.18.1"), "poll_queues"));
	CHECK(!pass_no_poll(true, "6.5.0-rc1"));
	CHECK(!pass_no_poll(true, "6.18.44"));
	CHECK(!pass_no_poll(true, "7.0"));
	CHECK(strstr(pass_no_poll(true, "6.1.0-57-amd64"), "before 6.5"));
	CHECK(strstr(pass_no_poll(true, "6.4.99"), "before 6.5"));
	CHECK(strstr(pass_no_poll(true, "5.19"), "before 6.5"));
	CHECK(strstr(pass_no_poll(true, ""), "before 6.5"));
}

/* ---- answers ---- */

TEST(answers_are_counted_as_the_block_layer_would)
{
	CHECK_INT(pass_errno(0x281), ENODATA);
	CHECK_INT(pass_errno(0x4281), ENODATA); /* do not retry */
	CHECK_INT(pass_errno(0x280), ENODATA);
	CHECK_INT(pass_errno(0x81), ENOSPC);
	CHECK_INT(pass_errno(0x4080), EREMOTEIO);
	CHECK_INT(pass_errno(0x83), EBADE);
	CHECK_INT(pass_errno(0x282), EILSEQ);
	CHECK_INT(pass_errno(0x2), EOPNOTSUPP);
	CHECK_INT(pass_errno(0x370), ENOLINK);
	CHECK_INT(pass_errno(0x6), EIO); /* internal error */
	CHECK_INT(pass_errno(0x371), EIO); /* aborted by the host */
	CHECK_INT(pass_errno(0x7ff), EIO);
}

TEST_MAIN
