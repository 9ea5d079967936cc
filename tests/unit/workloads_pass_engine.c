/* SPDX-License-Identifier: MIT */
/*
 * The engine and timed IO over NVMe passthrough, on a drive made here: it takes the commands out of the ring as the kernel would,
 * moves data from and to memory, and answers. It stands where faults do (fault.h), so that all else is the engine's own.
 */
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/workloads_rig.h"
#include "workloads/fault.h"
#include "workloads/ring.h"
#include "workloads/timed.h"

#define LBA 512u
#define DRIVE_BYTES (4u << 20)
#define PIECE (16u << 10)
#define NODE 77 /* the descriptor of the drive, as it were */

/* ---- the drive ---- */

struct fault { /* what a test wants of it; there is one for all rings */
	uint64_t bad_lba, bad_lbas; /* commands that touch these blocks fail ... */
	int status; /* ... with this */
	uint64_t nth, nth_status; /* and the nth command */
};

struct fault_ring { /* a ring's; completions are shown in the kernel's queue */
	struct fault *f;
	uint64_t poll_user;
	int poll_fd;
	unsigned tail;
};

static struct {
	pthread_mutex_t mu;
	uint8_t mem[DRIVE_BYTES];
	uint8_t filled[DRIVE_BYTES / LBA]; /* blocks that were written */
	_Atomic uint64_t commands, reads, writes, flushes, blocks, fixed, odd;
	uint64_t largest;
	char odd_why[128];
} drive = { .mu = PTHREAD_MUTEX_INITIALIZER };

#define ODD(...) \
	do { \
		if (!drive.odd++) \
			snprintf(drive.odd_why, sizeof drive.odd_why, __VA_ARGS__); \
	} while (0)

/* As the kernel: a registered buffer holds all of the command, or it is refused. */
static int check_buffer(const struct ring *r, const struct io_uring_sqe *q,
			const struct nvme_uring_cmd *c)
{
	uint64_t from = r->buffers + (uint64_t)q->buf_index * PIECE;

	if (!(q->uring_cmd_flags & IORING_URING_CMD_FIXED))
		return 0;
	drive.fixed++;
	if (c->data_len && (c->addr < from || c->addr + c->data_len > from + PIECE))
		ODD("%u bytes at %llu of buffer %u", c->data_len,
		    (unsigned long long)(c->addr - from), q->buf_index);
	return drive.odd ? -EFAULT : 0;
}

static int check_command(const struct io_uring_sqe *q, const struct nvme_uring_cmd *c)
{
	uint64_t n = (c->cdw12 & 0xffff) + 1ull;

	if (q->opcode != IORING_OP_URING_CMD || q->cmd_op != NVME_URING_CMD_IO || c->nsid != 5)
		ODD("opcode %u, op %x, namespace %u", q->opcode, q->cmd_op, c->nsid);
	if (c->opcode == NVME_OP_FLUSH ? c->data_len || c->addr || c->cdw10 || c->cdw12
				       : c->cdw12 > 0xffff || n * LBA != c->data_len)
		ODD("opcode %u: %llu blocks, %u bytes", c->opcode, (unsigned long long)n,
		    c->data_len);
	if (c->data_len > PIECE || c->metadata || c->cdw2 || c->cdw3 || c->cdw13 || c->cdw14 ||
	    c->cdw15 || c->flags)
		ODD("%u bytes, or words that are not zero", c->data_len);
	return drive.odd ? -EINVAL : 0;
}

static int move_data(const struct fault *f, const struct nvme_uring_cmd *c)
{
	uint64_t lba = c->cdw10 | (uint64_t)c->cdw11 << 32, n = c->data_len / LBA;
	void *buf = (void *)(uintptr_t)c->addr;

	if ((lba + n) * LBA > DRIVE_BYTES)
		return 0x4080;
	if (f && f->bad_lbas && lba < f->bad_lba + f->bad_lbas && f->bad_lba < lba + n)
		return f->status;
	drive.blocks += n;
	if (c->data_len > drive.largest)
		drive.largest = c->data_len;
	if (c->opcode == NVME_OP_WRITE) {
		memcpy(drive.mem + lba * LBA, buf, c->data_len);
		memset(drive.filled + lba, 1, n);
		drive.writes++;
	} else {
		memcpy(buf, drive.mem + lba * LBA, c->data_len);
		drive.reads++;
	}
	return 0;
}

static int run_command(const struct ring *r, const struct io_uring_sqe *q)
{
	const struct nvme_uring_cmd *c = (const struct nvme_uring_cmd *)q->cmd;
	const struct fault *f = r->fault ? r->fault->f : NULL;
	int rc = check_command(q, c);
	uint64_t nth = ++drive.commands;

	if (!rc)
		rc = check_buffer(r, q, c);
	if (rc)
		return rc;
	if (f && f->nth == nth)
		return (int)f->nth_status;
	if (c->opcode == NVME_OP_FLUSH) {
		drive.flushes++;
		return 0;
	}
	return move_data(f, c);
}

static void show(struct ring *r, uint64_t user, int res)
{
	unsigned tail = *r->cq_ktail;
	struct io_uring_cqe *c = ring_cqe(r, tail);

	c->user_data = user;
	c->res = res;
	__atomic_store_n(r->cq_ktail, tail + 1, __ATOMIC_RELEASE);
}

static void take(struct ring *r, struct fault_ring *q)
{
	for (unsigned n = r->tail - r->taken, i = 0; i < n; i++) {
		const struct io_uring_sqe *s = ring_entry(r, r->taken + i);

		if (s->opcode == IORING_OP_POLL_ADD && q) {
			q->poll_user = s->user_data;
			q->poll_fd = s->fd;
			continue;
		}
		pthread_mutex_lock(&drive.mu);
		int res = run_command(r, s);
		pthread_mutex_unlock(&drive.mu);
		show(r, s->user_data, res);
	}
}

static void look_at_poll(struct ring *r, struct fault_ring *q)
{
	struct pollfd p = { .fd = q->poll_fd, .events = POLLIN };

	if (!q->poll_user || poll(&p, 1, 0) != 1)
		return;
	show(r, q->poll_user, POLLIN);
	q->poll_user = 0;
}

/* Like the call of the kernel: all that was offered is taken and done at once. */
static int drive_enter(struct ring *r)
{
	unsigned n = r->tail - r->taken;

	take(r, r->fault);
	if (r->fault)
		look_at_poll(r, r->fault);
	return (int)n;
}

int ring_enter_faulty(struct ring *r, struct ring_offer o, const void *arg)
{
	int n = drive_enter(r);

	while (o.least && ring_cq_tail(r) == r->head && r->fault->poll_user) {
		struct pollfd p = { .fd = r->fault->poll_fd, .events = POLLIN };
		if (!poll(&p, 1, arg ? 1 : 100) && arg)
			return n ? n : -ETIME;
		look_at_poll(r, r->fault);
	}
	return n;
}

/* ---- in place of fault.c ---- */

int fault_ring_open(struct ring *r, struct fault *f, struct err *err)
{
	r->fault = calloc(1, sizeof *r->fault);
	r->fault->f = f;
	return 0;
}

void fault_ring_close(struct ring *r)
{
	free(r->fault);
	r->fault = NULL;
}

int fault_open(const char *spec, struct fault **ret, struct err *err)
{
	return -ENOSYS;
}

void fault_close(struct fault *f)
{
}

uint64_t fault_deadline_ns(const struct fault *f)
{
	return 0;
}

bool fault_gone(const struct fault *f)
{
	return false;
}

/* The command by which an opening ring tries the drive comes before faults. */
#define ring_enter(r, least, flags, arg, n) drive_enter(r)
#include "workloads/ring.c"

/* ---- an engine on it ---- */

static struct fault wish;

static struct engine_target target(void)
{
	struct engine_target t = { .fd = open("/dev/zero", O_RDWR | O_CLOEXEC),
				   .capacity_bytes = DRIVE_BYTES,
				   .lba_bytes = LBA,
				   .mem_align = 4096,
				   .fault = &wish };

	t.pass = (struct pass){ .nsid = 5, .fd = NODE, .lba_bytes = LBA, .max_bytes = PIECE };
	snprintf(t.pass.path, sizeof t.pass.path, "/dev/ng5n5");
	t.pass.fd = t.fd; /* a ring registers it */
	return t;
}

static void drive_reset(void)
{
	pthread_mutex_lock(&drive.mu);
	memset(drive.mem, 0, sizeof drive.mem);
	memset(drive.filled, 0, sizeof drive.filled);
	drive.commands = drive.reads = drive.writes = drive.flushes = 0;
	drive.blocks = drive.fixed = drive.odd = 0;
	drive.largest = 0;
	wish = (struct fault){ .nth = 0 };
	pthread_mutex_unlock(&drive.mu);
}

static struct rig *rig_drive(void)
{
	struct rig *g = calloc(1, sizeof *g);
	struct engine_target t = target();

	drive_reset();
	g->fd = t.fd;
	g->peer = -1;
	if (engine_open(&t, &g->e, &g->err)) {
		printf("# %s\n", g->err.msg);
		exit(77);
	}
	g->job = (struct job){ .seg = g->seg,
			       .n = 1,
			       .range = { .bytes = DRIVE_BYTES },
			       .cursor = g->cursor,
			       .n_cursors = 4,
			       .sealed = rig_sealed,
			       .arg = g };
	return g;
}

static uint64_t ios_of(const struct result *r)
{
	return r->op[IO_READ].ios + r->op[IO_WRITE].ios;
}

TEST(what_it_says)
{
	struct rig *g = rig_drive();

	CHECK_MSG(strstr(engine_text(g->e), "io_uring passthrough on /dev/ng5n5, up to 16 KiB a "
					    "command, registered buffers"),
		  "%s", engine_text(g->e));
	rig_close(g);
}

TEST(a_fill_writes_each_block_once)
{
	struct rig *g = rig_drive();
	uint64_t zero = 0;

	rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 8192), 1, 16,
		    (struct bound){ .bytes = DRIVE_BYTES });
	CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
	CHECK_MSG(!drive.odd, "%s", drive.odd_why);
	CHECK_INT(g->r[0].op[IO_WRITE].ios, DRIVE_BYTES / 8192);
	CHECK_INT(drive.blocks - drive.reads,
		  DRIVE_BYTES / LBA); /* opening rings read one block each */
	for (unsigned i = 0; i < DRIVE_BYTES / LBA; i++) {
		CHECK_MSG(drive.filled[i], "block %u was not written", i);
		zero += !drive.mem[i * LBA] &&
			!memcmp(drive.mem + i * LBA, drive.mem + i * LBA + 1, LBA - 1);
	}
	CHECK_INT(zero, 0); /* random data */
	CHECK(drive.fixed >= DRIVE_BYTES / 8192);
	rig_close(g);
}

/* Every IO of any size, mixed, on several threads and depths: the drive checks each command. */
TEST(mixes_of_sizes)
{
	static const uint32_t sizes[] = { 512, 4096, 1536, 16384, 12288 };
	struct rig *g = rig_drive();
	struct access a = rig_access(IO_READ, IO_RND, 4096);

	a.n_streams = 5;
	for (unsigned i = 0; i < 5; i++)
		a.stream[i] = (struct stream){ .share = 1,
					       .bytes = sizes[i],
					       .op = i & 1 ? IO_READ : IO_WRITE,
					       .order = IO_RND,
					       .cursor = CURSOR_NONE };
	for (unsigned qd = 1; qd < 40; qd = qd * 3 + 1) {
		g->sealed = 0;
		rig_segment(g, 0, a, 2, qd, (struct bound){ .ios = 5000 });
		CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
		CHECK_MSG(!drive.odd, "QD%u: %s", qd, drive.odd_why);
		CHECK_INT(ios_of(&g->r[0]), 5000);
		CHECK_INT(g->r[0].prepared, 5000);
		CHECK_INT(g->r[0].inflight_max <= 2 * qd, 1);
	}
	rig_close(g);
}

/* IOs above the largest command: several commands, one IO. */
TEST(large_ios_are_several_commands)
{
	struct rig *g = rig_drive();
	uint64_t before;

	rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 65536 + 8192), 1, 3,
		    (struct bound){ .ios = 50 });
	before = drive.writes;
	CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
	CHECK_MSG(!drive.odd, "%s", drive.odd_why);
	CHECK_INT(g->r[0].op[IO_WRITE].ios, 50);
	CHECK_INT(g->r[0].op[IO_WRITE].bytes, 50 * (65536 + 8192));
	CHECK_INT(g->r[0].prepared, 50);
	CHECK_INT(drive.writes - before, 50 * 5);
	CHECK_INT(g->r[0].inflight_max, 3);
	CHECK_INT(g->r[0].second[0].ios, 50);
	CHECK_MSG(strstr(g->r[0].note, "IOs above 16 KiB sent as several commands"), "%s",
		  g->r[0].note);
	rig_close(g);
}

/* From large ones to small ones to large ones without a gap: what is in flight goes along. */
TEST(without_a_gap)
{
	struct rig *g = rig_drive();
	uint64_t blocks = 0;

	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, 131072), 2, 4,
		    (struct bound){ .time_ns = 40 * MS });
	rig_segment(g, 1, rig_access(IO_READ, IO_RND, 4096), 2, 8,
		    (struct bound){ .time_ns = 40 * MS });
	rig_segment(g, 2, rig_access(IO_READ, IO_RND, 40960), 1, 2,
		    (struct bound){ .time_ns = 40 * MS });
	g->job.n = 3;
	CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
	CHECK_MSG(!drive.odd, "%s", drive.odd_why);
	for (unsigned k = 0; k < 3; k++) {
		CHECK(ios_of(&g->r[k]) > 0);
		CHECK_INT(g->r[k].prepared, ios_of(&g->r[k]));
		CHECK_INT(g->r[k].errors + g->r[k].short_ios, 0);
		CHECK(g->r[k].inflight_max <= 16);
		for (unsigned op = 0; op < IO_OPS; op++)
			blocks += g->r[k].op[op].bytes / LBA;
	}
	CHECK(drive.blocks - blocks <
	      8); /* what was counted was done; opening rings took the rest */
	rig_close(g);
}

TEST(a_rate)
{
	struct rig *g = rig_drive();

	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, 40960), 1, 8, (struct bound){ .ios = 200 });
	g->seg[0].rate_iops = 4000;
	CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
	CHECK_MSG(!drive.odd, "%s", drive.odd_why);
	CHECK_INT(g->r[0].op[IO_WRITE].ios, 200);
	CHECK_INT(g->r[0].op[IO_WRITE].response->n, 200);
	rig_close(g);
}

/* ---- what goes wrong ---- */

TEST(a_block_that_cannot_be_read)
{
	struct rig *g = rig_drive();

	wish = (struct fault){ .bad_lba = 1000, .bad_lbas = 1, .status = 0x4281 };
	rig_segment(g, 0, rig_access(IO_READ, IO_SEQ, 4096), 1, 4,
		    (struct bound){ .bytes = DRIVE_BYTES });
	CHECK_INT(engine_run(g->e, &g->job, &g->err), -EIO);
	CHECK_MSG(strstr(g->err.msg, "read of 4096 bytes at offset 512000: No data available "
				     "(ENODATA, NVMe status 0x4281)"),
		  "%s", g->err.msg);
	CHECK_INT(g->r[0].errors, 1);
	CHECK_INT(g->r[0].errnos[0].err, ENODATA);
	CHECK_INT(g->r[0].short_ios, 0);
	CHECK_INT(g->r[0].prepared, ios_of(&g->r[0]) + 1);
	CHECK(g->r[0].partial);
	rig_close(g);
}

/* One of the commands of an IO fails, be it the first, one between or the last: the IO fails, once. */
TEST(a_part_that_fails)
{
	for (unsigned part = 0; part < 5; part++) {
		struct rig *g = rig_drive();

		wish = (struct fault){ .nth = drive.commands + 7 + part, .nth_status = 0x280 };
		rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 5 * PIECE), 1, 1,
			    (struct bound){ .ios = 20 });
		/* the ring takes one command when it is opened, the first IO five */
		CHECK_INT(engine_run(g->e, &g->job, &g->err), -EIO);
		CHECK_MSG(strstr(g->err.msg, "write of 81920 bytes at offset"), "%s", g->err.msg);
		CHECK_INT(g->r[0].errors, 1);
		CHECK_INT(g->r[0].errnos[0].err, ENODATA);
		CHECK_INT(g->r[0].prepared, ios_of(&g->r[0]) + 1);
		rig_close(g);
	}
}

TEST(again)
{
	struct rig *g = rig_drive();

	wish = (struct fault){ .nth = drive.commands + 40, .nth_status = (uint64_t)-EAGAIN };
	rig_segment(g, 0, rig_access(IO_WRITE, IO_SEQ, 3 * PIECE), 1, 2,
		    (struct bound){ .ios = 60 });
	CHECK_MSG(!engine_run(g->e, &g->job, &g->err), "%s", g->err.msg);
	CHECK_INT(g->r[0].op[IO_WRITE].ios, 60);
	CHECK_INT(g->r[0].prepared, 60);
	CHECK_MSG(strstr(g->r[0].note, "1 IOs sent again"), "%s", g->r[0].note);
	rig_close(g);
}

/* ---- timed IO ---- */

static struct timed_io list[200];
static unsigned n_list, at_list;

static int load_list(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	unsigned k = 0;

	while (k < n && at_list < n_list)
		ret[k++] = list[at_list++];
	return (int)k;
}

TEST(timed_io_with_flushes)
{
	struct engine_target t[2] = { target(), target() };
	struct timed_job j = { .target = t,
			       .n_targets = 2,
			       .asap = true,
			       .depth = 8,
			       .max_read_bytes = PIECE,
			       .max_write_bytes = PIECE,
			       .load = load_list };
	const struct timed_result *r;
	struct timed *timed;
	struct err err = { "" };

	drive_reset();
	t[0].fault = t[1].fault = &wish;
	n_list = 200;
	at_list = 0;
	for (unsigned i = 0; i < 200; i++)
		list[i] = (struct timed_io){ .off = i * PIECE,
					     .len = i % 10 == 9 ? 0 : LBA * (1 + i % 32),
					     .op = i % 10 == 9 ? TIMED_FLUSH
						   : i & 1     ? TIMED_READ
							       : TIMED_WRITE,
					     .target = i % 3 == 0 };
	CHECK_MSG(!timed_open(&j, &timed, &err), "%s", err.msg);
	CHECK_MSG(!timed_run(timed, &err), "%s", err.msg);
	CHECK_MSG(!drive.odd, "%s", drive.odd_why);
	r = timed_result(timed);
	CHECK_INT(r->flushes, 20);
	CHECK_INT(drive.flushes, 20);
	CHECK_INT(drive.writes, 100);
	CHECK_INT(r->all.op[IO_WRITE].ios, 100);
	CHECK_INT(r->all.op[IO_READ].ios, 80);
	CHECK_INT(r->all.prepared, 180);
	CHECK(strstr(timed_text(timed), "io_uring passthrough on /dev/ng5n5"));
	timed_close(timed);
	close(t[0].fd);
	close(t[1].fd);
}

TEST(timed_io_that_fails_goes_on)
{
	struct engine_target t = target();
	struct timed_job j = { .target = &t,
			       .n_targets = 1,
			       .asap = true,
			       .max_read_bytes = 4096,
			       .load = load_list };
	const struct timed_result *r;
	struct timed *timed;
	struct err err = { "" };

	drive_reset();
	wish = (struct fault){ .bad_lba = 80, .bad_lbas = 8, .status = 0x281 };
	n_list = 200;
	at_list = 0;
	for (unsigned i = 0; i < 200; i++)
		list[i] = (struct timed_io){ .off = i % 100 * 4096, .len = 4096, .op = TIMED_READ };
	CHECK_MSG(!timed_open(&j, &timed, &err), "%s", err.msg);
	CHECK_MSG(!timed_run(timed, &err), "%s", err.msg);
	r = timed_result(timed);
	CHECK_INT(r->all.errors, 2);
	CHECK_INT(r->all.errnos[0].err, ENODATA);
	CHECK_INT(r->all.op[IO_READ].ios, 198);
	timed_close(timed);
	close(t.fd);
}

TEST(timed_io_above_the_largest_command_is_refused)
{
	struct engine_target t = target();
	struct timed_job j = {
		.target = &t, .n_targets = 1, .max_read_bytes = PIECE + LBA, .load = load_list
	};
	struct timed *timed;
	struct err err = { "" };

	CHECK_INT(timed_open(&j, &timed, &err), -EOPNOTSUPP);
	CHECK_MSG(strstr(err.msg,
			 "an IO of 16896 bytes; one command of /dev/ng5n5 moves at most 16384"),
		  "%s", err.msg);
	close(t.fd);
}

TEST_MAIN
