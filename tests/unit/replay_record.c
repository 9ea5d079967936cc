/* SPDX-License-Identifier: MIT */
/* The recorder without a kernel: pages of the trace buffer made by hand, and which target an event belongs to. */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "pts/base/rng.h"
#include "replay/record_priv.h"
#include "replay/record_ring.h"
#include "tests/test.h"

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"

static const char issue_format[] =
	"name: block_rq_issue\nID: 2104\n" COMMON
	"\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\nprint fmt: \"%d\"\n";
static const char complete_format[] = "name: block_rq_complete\nID: 2107\n" COMMON
				      "\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
				      "\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n";

struct page {
	_Alignas(8) unsigned char b[4096];
	size_t n; /* of its data */
};

static void page_begin(struct page *p, uint64_t time)
{
	memset(p, 0, sizeof *p);
	memcpy(p->b, &time, 8);
}

static void page_end(struct page *p, uint64_t flags)
{
	uint64_t commit = p->n | flags;

	memcpy(p->b + 8, &commit, 8);
}

static void put(struct page *p, const void *data, size_t n)
{
	memcpy(p->b + 16 + p->n, data, n);
	p->n += n;
}

static void head(struct page *p, uint32_t type, uint32_t delta)
{
	uint32_t word = type | delta << 5;

	put(p, &word, 4);
}

static void word(struct page *p, uint32_t v)
{
	put(p, &v, 4);
}

struct event {
	uint16_t id;
	int32_t pid;
	uint32_t dev;
	uint64_t sector;
	uint32_t sectors, bytes_or_error;
	const char *rwbs;
};

static void event(struct page *p, uint32_t delta, bool lengthy, const struct event *e)
{
	unsigned char d[64] = { 0 };

	memcpy(d, &e->id, 2);
	memcpy(d + 4, &e->pid, 4);
	memcpy(d + 8, &e->dev, 4);
	memcpy(d + 16, &e->sector, 8);
	memcpy(d + 24, &e->sectors, 4);
	memcpy(d + 28, &e->bytes_or_error, 4);
	memcpy(d + (e->id == 2104 ? 34 : 32), e->rwbs, strlen(e->rwbs));
	head(p, lengthy ? 0 : sizeof d / 4, delta);
	if (lengthy)
		word(p, sizeof d + 4);
	put(p, d, sizeof d);
}

static void formats(struct ring_page *f)
{
	struct err err = { "" };

	CHECK_INT(ring_page_format(f, header_page, &err), 0);
	CHECK_INT(ring_event_format(f, issue_format, BLK_TA_ISSUE, &err), 0);
	CHECK_INT(ring_event_format(f, complete_format, BLK_TA_COMPLETE, &err), 0);
	CHECK_STR(err.msg, "");
}

TEST(the_kernels_description_is_read)
{
	struct ring_page f;
	struct err err = { "" };

	DO(formats(&f));
	CHECK_INT(f.data_off, 16);
	CHECK_INT(f.commit.bytes, 8);
	CHECK_INT(f.pid.off, 4);
	CHECK_INT(f.event[0].id, 2104);
	CHECK_INT(f.event[0].rwbs.off, 34);
	CHECK_INT(f.event[0].nr_bytes.off, 28);
	CHECK_INT(f.event[1].error.off, 28);
	CHECK_INT(f.event[1].nr_bytes.bytes, 0);
	CHECK_INT(ring_page_format(&f, "", &err), -ENOSYS);
	CHECK_INT(ring_event_format(&f, "name: x\nID: 1\n", BLK_TA_ISSUE, &err), -ENOSYS);
	CHECK_INT(f.n_events, 0);
}

TEST(times_of_all_kinds)
{
	static const struct event e = { 2104, 42, 7 << 20, 800, 8, 4096, "WS" };
	static const struct event other = { 9, 1, 7 << 20, 1, 1, 512, "R" };
	struct blk_io_trace r[16];
	struct ring_page f;
	struct page p;

	DO(formats(&f));
	page_begin(&p, 1000);
	event(&p, 0, false, &e); /* 1000 */
	event(&p, 5, true, &e); /* 1005: one with its length in a word of its own */
	head(&p, 30, 7); /* a longer delta */
	word(&p, 2);
	event(&p, 1, false, &e);
	event(&p, 100, false, &other); /* of no event that is asked for; its time counts */
	head(&p, 29, 10); /* taken back by the kernel */
	word(&p, 12);
	word(&p, 0xdeadbeef);
	word(&p, 0xdeadbeef);
	event(&p, 1, false, &e);
	head(&p, 31, 123); /* an absolute time */
	word(&p, 4);
	event(&p, 1, false, &e);
	head(&p, 29, 0); /* the rest is empty */
	page_end(&p, 0x80000000u); /* events were lost before it */
	CHECK_INT(ring_page_read(&f, p.b, sizeof p.b, r, 16), 5);
	CHECK_INT(r[0].time, 1000);
	CHECK_INT(r[1].time, 1005);
	CHECK_INT(r[2].time, 1005 + 7 + (2ll << 27) + 1);
	CHECK_INT(r[3].time, r[2].time + 111);
	CHECK_INT(r[4].time, (4ll << 27) + 124);
	for (unsigned i = 0; i < 5; i++) {
		CHECK_INT(r[i].sector, 800);
		CHECK_INT(r[i].bytes, 4096);
		CHECK_INT(r[i].pid, 42);
		CHECK_INT(r[i].device, 7 << 20);
		CHECK_INT(r[i].action & 0xff, __BLK_TA_ISSUE);
	}
}

TEST(kinds_of_requests)
{
	static const struct {
		struct event e;
		uint32_t bytes, cat, error;
	} v[] = {
		{ { 2104, 1, 1, 8, 8, 4096, "R" }, 4096, BLK_TC_READ, 0 },
		{ { 2104, 1, 1, 8, 8, 4096, "RAM" },
		  4096,
		  BLK_TC_READ | BLK_TC_AHEAD | BLK_TC_META,
		  0 },
		{ { 2104, 1, 1, 0, 0, 0, "FF" }, 0, BLK_TC_FLUSH, 0 },
		{ { 2104, 1, 1, 8, 8, 4096, "FWFSM" },
		  4096,
		  BLK_TC_FLUSH | BLK_TC_WRITE | BLK_TC_FUA | BLK_TC_SYNC | BLK_TC_META,
		  0 },
		{ { 2104, 1, 1, 8, 2048, 1048576, "DS" },
		  1048576,
		  BLK_TC_DISCARD | BLK_TC_WRITE | BLK_TC_SYNC,
		  0 },
		{ { 2104, 1, 1, 0, 0, 36, "N" }, 36, BLK_TC_PC, 0 },
		{ { 2107, 0, 1, 8, 8, (uint32_t)-5, "W" }, 4096, BLK_TC_WRITE, 65531 },
		{ { 2107, 0, 1, UINT64_MAX, 0, 0, "FF" }, 0, BLK_TC_FLUSH, 0 },
	};
	struct blk_io_trace r[1];
	struct ring_page f;
	struct page p;

	DO(formats(&f));
	for (unsigned i = 0; i < sizeof v / sizeof *v; i++) {
		page_begin(&p, 1);
		event(&p, 0, false, &v[i].e);
		page_end(&p, 0);
		CHECK_INT(ring_page_read(&f, p.b, sizeof p.b, r, 1), 1);
		CHECK_INT(r->bytes, v[i].bytes);
		CHECK_INT(r->error, v[i].error);
		CHECK_INT(r->sector, v[i].e.sector);
		CHECK_MSG((r->action >> 16 & ~(BLK_TC_ISSUE | BLK_TC_COMPLETE)) == v[i].cat,
			  "%s: %x", v[i].e.rwbs, r->action >> 16);
	}
}

/* A page that makes no sense is an error, and nothing outside of it is read (the sanitizer looks). */
TEST(broken_pages)
{
	static const struct event e = { 2104, 42, 7 << 20, 800, 8, 4096, "W" };
	struct blk_io_trace r[512];
	struct rng rng;
	struct ring_page f;
	struct page p;
	unsigned bad = 0;

	DO(formats(&f));
	page_begin(&p, 1);
	event(&p, 0, false, &e);
	p.n += 5000;
	page_end(&p, 0);
	CHECK_INT(ring_page_read(&f, p.b, sizeof p.b, r, 512), -EINVAL);
	CHECK_INT(ring_page_read(&f, p.b, 8, r, 512), -EINVAL);
	page_begin(&p, 1);
	head(&p, 0, 1);
	word(&p, 1 << 30);
	page_end(&p, 0);
	CHECK_INT(ring_page_read(&f, p.b, sizeof p.b, r, 512), -EINVAL);
	page_begin(&p, 1);
	event(&p, 0, false, &e);
	p.n -= 8; /* cut in the event */
	page_end(&p, 0);
	CHECK_INT(ring_page_read(&f, p.b, sizeof p.b, r, 512), -EINVAL);
	rng_init(&rng, 7);
	for (unsigned k = 0; k < 20000; k++) {
		unsigned char *heap = malloc(512);

		for (unsigned i = 0; i < 512; i += 8) {
			uint64_t v = rng_next(&rng);

			memcpy(heap + i, &v, 8);
		}
		if (k & 1) /* one that is believed as far as it goes */
			memcpy(heap + 8, &(uint64_t){ 496 }, 8);
		bad += ring_page_read(&f, heap, 512, r, 512) < 0;
		free(heap);
	}
	CHECK(bad > 10000);
}

TEST(an_event_is_of_one_target)
{
	struct record_target t[] = {
		{ .dev = 259 << 20 | 1,
		  .disk = 259 << 20,
		  .alias = { 259 << 20 },
		  .n_aliases = 1,
		  .part = true,
		  .first_sector = 100,
		  .sectors = 50 },
		{ .dev = 9 << 20,
		  .disk = 9 << 20,
		  .alias = { 9 << 20, 9 << 20 | 1 },
		  .n_aliases = 2,
		  .bio = true },
	};
	static const struct {
		uint32_t device, bytes;
		uint64_t sector;
		uint32_t to;
		uint64_t at;
	} v[] = {
		{ 259 << 20, 4096, 100, 259 << 20 | 1, 0 },
		{ 259 << 20, 4096, 142, 259 << 20 | 1, 42 },
		{ 259 << 20, 4096, 143, 0, 0 }, /* goes past its end */
		{ 259 << 20, 4096, 99, 0, 0 },
		{ 259 << 20, 0, 100, 0, 0 }, /* a flush says not for which partition */
		{ 259 << 20, 4096, UINT64_MAX, 0, 0 },
		{ 9 << 20 | 1, 4096, 99, 9 << 20, 99 }, /* a bio by the number of the partition */
		{ 9 << 20, 0, 0, 9 << 20, 0 },
		{ 8 << 20, 4096, 100, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof v / sizeof *v; i++) {
		struct blk_io_trace r = { .device = v[i].device,
					  .bytes = v[i].bytes,
					  .sector = v[i].sector };

		CHECK_MSG(target_claim(t, 2, &r) == (v[i].to != 0), "row %u", i);
		if (!v[i].to)
			continue;
		CHECK_INT(r.device, v[i].to);
		CHECK_INT(r.sector, v[i].at);
	}
}

TEST(targets_that_count_twice_are_refused)
{
	struct record_target t[] = {
		{ .path = "/dev/a", .dev = 1, .disk = 1 },
		{ .path = "/dev/a1", .dev = 2, .disk = 1, .part = true },
		{ .path = "/dev/a2", .dev = 3, .disk = 1, .part = true },
		{ .path = "/dev/b", .dev = 1, .disk = 1 },
	};
	struct err err = { "" };

	CHECK_INT(record_targets_check(t + 1, 2, &err), 0);
	CHECK_INT(record_targets_check(t, 2, &err), -EINVAL);
	CHECK(strstr(err.msg, "/dev/a1 is a part of /dev/a"));
	t[1] = t[3];
	err.msg[0] = '\0';
	CHECK_INT(record_targets_check(t, 2, &err), -EINVAL);
	CHECK(strstr(err.msg, "the same device"));
}

TEST_MAIN
