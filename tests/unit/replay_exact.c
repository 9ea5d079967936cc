/* SPDX-License-Identifier: MIT */
/* Exact replay: what becomes of each record, before anything is issued. */
#include <errno.h>
#include <unistd.h>

#include "replay/exact.h"
#include "tests/test.h"

static struct err E;
static char path[64];

#define OK(call) CHECK_MSG(!(call), "%s: %s", #call, E.msg)

struct rec {
	uint64_t start_ns, off;
	uint32_t len;
	enum trace_op op;
	const char *dev;
	uint64_t response_ns;
};

static int add(struct trace_writer *w, const struct rec *r)
{
	struct trace_rec t = { .io = { .start_ns = r->start_ns,
				       .off = r->off,
				       .len = r->len,
				       .op = (uint8_t)r->op },
			       .response_ns = r->response_ns ? r->response_ns : TRACE_NO_RESPONSE };
	int rc = trace_writer_device(w, r->dev, &t.io.dev, &E);

	return rc ? rc : trace_writer_add(w, &t, &E);
}

static struct trace *capture(const struct rec *r, unsigned n)
{
	struct trace_report report = { .format = "test", .event = "D" };
	struct trace_writer *w;
	struct trace *t = NULL;

	snprintf(path, sizeof path, "/tmp/pts-exact-%d.cap", (int)getpid());
	E.msg[0] = 0;
	if (trace_writer_open(path, &w, &E))
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if (add(w, &r[i]))
			return NULL;
	if (trace_writer_commit(w, "test", &report, &E) || trace_open(path, true, &t, &E))
		t = NULL;
	unlink(path);
	return t;
}

#define U44_N 1024
#define U44_STRIDE 102400u
#define U44_TARGET ((uint64_t)64 << 20)

static struct trace *u44(void)
{
	static struct rec r[U44_N];

	for (unsigned i = 0; i < U44_N; i++)
		r[i] = (struct rec){ i * 1000000ull, (uint64_t)i * U44_STRIDE,
				     4096,	     TRACE_READ,
				     "sda",	     0 };
	return capture(r, U44_N);
}

static struct exact_target target[2] = { { "first", U44_TARGET, 512 },
					 { "second", U44_TARGET, 512 } };
static struct exact_map map[2];

static struct exact_conf conf(enum exact_fit fit)
{
	target[0] = (struct exact_target){ "first", U44_TARGET, 512 };
	map[0] = map[1] = (struct exact_map){ 0 };
	return (struct exact_conf){ .fit = fit,
				    .speed_milli = EXACT_NATIVE,
				    .loops = 1,
				    .target = target,
				    .n_targets = 2,
				    .map = map };
}

static struct timed_io io[8192];

static unsigned load_all(struct exact *x)
{
	unsigned n = 0;
	int got;

	while ((got = exact_load(x, io + n, 100, &E)) > 0)
		n += (unsigned)got;
	return got < 0 ? 0 : n;
}

TEST(refuses_with_the_numbers)
{
	struct trace *t = u44();
	struct exact_conf c = conf(FIT_REFUSE);
	struct exact *x;

	CHECK_MSG(t, "%s", E.msg);
	CHECK_INT(exact_open(t, &c, &x, &E), -EINVAL);
	CHECK_MSG(strstr(E.msg, "368 of 1024 records do not fit first of 67108864 bytes: the first "
				"is record 656 at offset 67174400"),
		  "%s", E.msg);
	trace_close(t);
}

TEST(clips_and_counts)
{
	struct trace *t = u44();
	struct exact_conf c = conf(FIT_CLIP);
	struct exact *x;

	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->planned, 656);
	CHECK_INT(exact_account(x)->dropped[DROP_CLIPPED], 368);
	CHECK_INT(load_all(x), 656);
	for (unsigned i = 0; i < 656; i++)
		CHECK(io[i].off == (uint64_t)i * U44_STRIDE && io[i].due_ns == i * 1000000ull &&
		      io[i].len == 4096);
	exact_close(x);
	trace_close(t);
}

TEST(wraps_to_the_start)
{
	struct trace *t = u44();
	struct exact_conf c = conf(FIT_WRAP);
	struct exact *x;

	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->moved, 368);
	CHECK_INT(load_all(x), 1024);
	CHECK_INT(io[655].off, 655 * U44_STRIDE);
	CHECK_INT(io[656].off, 65536);
	for (unsigned i = 0; i < 1024; i++)
		CHECK(io[i].off % 4096 == 0 && io[i].off + io[i].len <= U44_TARGET);
	exact_close(x);
	trace_close(t);
}

TEST(scales_all_inside)
{
	struct trace *t = u44();
	struct exact_conf c = conf(FIT_SCALE);
	struct exact *x;
	uint64_t top = 0;

	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 1024);
	for (unsigned i = 0; i < 1024; i++) {
		CHECK(io[i].off % 4096 == 0 && io[i].off + io[i].len <= U44_TARGET);
		top = io[i].off > top ? io[i].off : top;
	}
	CHECK_MSG(top > U44_TARGET / 100 * 95, "%llu: the target is not used up to its end",
		  (unsigned long long)top);
	exact_close(x);
	trace_close(t);
}

/* Scaling moves whole extents: a sequence stays one inside of them. */
TEST(scaling_keeps_sequences)
{
	static struct rec r[4000];
	unsigned n = sizeof r / sizeof *r, broken = 0;
	struct exact_conf c = conf(FIT_SCALE);
	struct trace *t;
	struct exact *x;

	for (unsigned i = 0; i < n; i++)
		r[i] = (struct rec){ i, i * 65536ull, 65536, TRACE_WRITE, "sda", 0 };
	t = capture(r, n);
	CHECK_MSG(t, "%s", E.msg);
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), n);
	for (unsigned i = 1; i < n; i++)
		broken += io[i].off != io[i - 1].off + 65536;
	CHECK_MSG(broken < n / 16 + 1, "%u of %u are no longer sequential", broken, n);
	exact_close(x);
	trace_close(t);
}

/* A target that holds all of it is used as it is, whatever the policy. */
TEST(large_targets_change_nothing)
{
	static const enum exact_fit fit[] = { FIT_REFUSE, FIT_CLIP, FIT_WRAP, FIT_SCALE };
	struct trace *t = u44();

	for (unsigned k = 0; k < 4; k++) {
		struct exact_conf c = conf(fit[k]);
		struct exact *x;

		target[0].capacity_bytes = (uint64_t)1 << 30;
		OK(exact_open(t, &c, &x, &E));
		CHECK_INT(exact_account(x)->moved, 0);
		CHECK_INT(load_all(x), 1024);
		CHECK_INT(io[1023].off, 1023 * U44_STRIDE);
		exact_close(x);
	}
	trace_close(t);
}

TEST(odd_sizes_are_widened_to_blocks)
{
	const struct rec r[] = { { 0, 512, 512, TRACE_READ, "sda", 0 },
				 { 1, 4096, 4096, TRACE_READ, "sda", 0 },
				 { 2, 4000, 200, TRACE_WRITE, "sda", 0 },
				 { 3, 8191, 1, TRACE_READ, "sda", 0 } };
	struct exact_conf c = conf(FIT_REFUSE);
	struct trace *t = capture(r, 4);
	struct exact *x;

	target[0].lba_bytes = 4096;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->rounded, 3);
	CHECK_INT(load_all(x), 4);
	CHECK(io[0].off == 0 && io[0].len == 4096);
	CHECK(io[1].off == 4096 && io[1].len == 4096);
	CHECK(io[2].off == 0 && io[2].len == 8192);
	CHECK(io[3].off == 4096 && io[3].len == 4096);
	CHECK_INT(exact_account(x)->max_write_bytes, 8192);
	exact_close(x);
	trace_close(t);
}

/* An IO over the end of the target, one longer than all of it, an offset near 2^64. */
TEST(straddling_and_huge)
{
	const struct rec r[] = { { 0, 8192, 8192, TRACE_READ, "sda", 0 },
				 { 1, 0, 16384, TRACE_READ, "sda", 0 },
				 { 2, 12288 - 512, 1024, TRACE_WRITE, "sda", 0 },
				 { 3, INT64_MAX - 100, 512, TRACE_READ, "sda", 0 } };
	struct exact_conf c = conf(FIT_WRAP);
	struct trace *t = capture(r, 4);
	struct exact *x;

	CHECK_MSG(t, "%s", E.msg);
	target[0].capacity_bytes = 12288;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->dropped[DROP_LARGE], 1);
	CHECK_INT(exact_account(x)->dropped[DROP_CLIPPED], 1); /* its end is beyond 2^63 */
	CHECK_INT(load_all(x), 2);
	for (unsigned i = 0; i < 2; i++)
		CHECK(io[i].off + io[i].len <= 12288 && io[i].off % 512 == 0);
	exact_close(x);
	trace_close(t);
}

TEST(flushes_and_discards_only_when_asked)
{
	const struct rec r[] = { { 0, 0, 4096, TRACE_READ, "sda", 0 },
				 { 1, 0, 0, TRACE_FLUSH, "sda", 0 },
				 { 2, 4096, 8192, TRACE_DISCARD, "sda", 0 },
				 { 3, 0, 0, TRACE_OTHER, "sda", 0 },
				 { 4, 0, 0, TRACE_READ, "sda", 0 } };
	struct exact_conf c = conf(FIT_REFUSE);
	struct trace *t = capture(r, 5);
	struct exact *x;

	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 1);
	CHECK_INT(exact_account(x)->dropped[DROP_FLUSH], 1);
	CHECK_INT(exact_account(x)->dropped[DROP_DISCARD], 1);
	CHECK_INT(exact_account(x)->dropped[DROP_OTHER], 1);
	CHECK_INT(exact_account(x)->dropped[DROP_EMPTY], 1);
	CHECK_INT(exact_account(x)->writes, 0);
	exact_close(x);
	c.flushes = c.discards = true;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 3);
	CHECK(io[1].op == TIMED_FLUSH && io[2].op == TIMED_DISCARD && io[2].len == 8192);
	CHECK_INT(exact_account(x)->writes, 1); /* a discard changes data: needs consent */
	exact_close(x);
	trace_close(t);
}

TEST(speeds_and_loops)
{
	const struct rec r[] = { { 5000, 0, 4096, TRACE_READ, "sda", 0 },
				 { 6000, 0, 4096, TRACE_READ, "sda", 0 },
				 { 9000, 0, 4096, TRACE_READ, "sda", 0 } };
	struct exact_conf c = conf(FIT_REFUSE);
	struct trace *t = capture(r, 3);
	struct exact *x;

	c.speed_milli = 4000;
	c.loops = 3;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->loop_ns, 6000); /* span and a mean gap */
	CHECK_INT(load_all(x), 9);
	CHECK(io[0].due_ns == 0 && io[1].due_ns == 250 && io[2].due_ns == 1000);
	CHECK(io[3].due_ns == 1500 && io[8].due_ns == (2 * 6000 + 4000) / 4);
	exact_close(x);
	c.speed_milli = EXACT_ASAP;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 9);
	CHECK_INT(io[8].due_ns, 0);
	exact_close(x);
	trace_close(t);
}

TEST(devices_have_targets_or_are_named)
{
	const struct rec r[] = { { 0, 0, 4096, TRACE_READ, "sda", 0 },
				 { 1, 0, 4096, TRACE_READ, "sdb", 0 },
				 { 2, 4096, 4096, TRACE_READ, "sdb", 0 } };
	struct exact_conf c = conf(FIT_REFUSE);
	struct trace *t = capture(r, 3);
	struct exact *x;

	map[1].target = EXACT_UNMAPPED;
	CHECK_INT(exact_open(t, &c, &x, &E), -EINVAL);
	CHECK_MSG(strstr(E.msg, "no target for sdb (2 records)"), "%s", E.msg);
	map[1].target = EXACT_LEFT_OUT;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->dropped[DROP_DEVICE], 2);
	exact_close(x);
	map[1] = (struct exact_map){ .target = 1, .base_bytes = 1 << 20 };
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 3);
	CHECK(io[0].target == 0 && io[1].target == 1 && io[1].off == 1 << 20);
	exact_close(x);
	map[0].target = map[1].target = EXACT_LEFT_OUT;
	E.msg[0] = 0;
	CHECK_INT(exact_open(t, &c, &x, &E), -EINVAL);
	CHECK_MSG(strstr(E.msg, "none of the 3 records"), "%s", E.msg);
	trace_close(t);
}

/* Half of the room behind the offset: what does not fit there is said so. */
TEST(base_takes_from_the_room)
{
	struct trace *t = u44();
	struct exact_conf c = conf(FIT_WRAP);
	struct exact *x;

	map[0].base_bytes = U44_TARGET / 2;
	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(load_all(x), 1024);
	for (unsigned i = 0; i < 1024; i++)
		CHECK(io[i].off >= U44_TARGET / 2 && io[i].off + io[i].len <= U44_TARGET);
	exact_close(x);
	trace_close(t);
}

TEST(depth_of_the_capture)
{
	const struct rec r[] = { { 0, 0, 4096, TRACE_READ, "sda", 1000 },
				 { 500, 0, 4096, TRACE_READ, "sda", 1000 },
				 { 5000, 0, 4096, TRACE_READ, "sda", 500 } };
	struct exact_conf c = conf(FIT_REFUSE);
	struct trace *t = capture(r, 3);
	struct exact *x;

	OK(exact_open(t, &c, &x, &E));
	CHECK_INT(exact_account(x)->depth_max, 2);
	CHECK_NEAR(exact_account(x)->depth_avg, 2500.0 / 5500, 1e-9); /* idle time counts */
	exact_close(x);
	trace_close(t);
}

TEST_MAIN
