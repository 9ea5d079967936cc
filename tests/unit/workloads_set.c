/* SPDX-License-Identifier: MIT */
/* A set of drives: its name, sums of results, running files and simulated drives, and what goes wrong. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/dut_set_impl.h"

#define MS 1000000ull
#define KEPT 8

static char dir[64];
static struct err err;

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	return remove(path);
}

static void end_dir(void)
{
	if (dir[0])
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	dir[0] = 0;
}

static void make_dir(void)
{
	end_dir();
	snprintf(dir, sizeof dir, "/tmp/pts-unit-XXXXXX");
	if (!mkdtemp(dir))
		abort();
}

/* "%" in @text becomes the scratch folder. */
static const char *set(const char *text)
{
	static char out[1024];
	size_t n = 0;

	for (; *text; text++)
		n += (size_t)snprintf(out + n, sizeof out - n, "%.*s", *text == '%' ? 63 : 1,
				      *text == '%' ? dir : text);
	out[n] = 0;
	return out;
}

static int open_set(const char *name, enum dut_open_mode mode, struct dut **d)
{
	struct dut_options opt = { .seed = 5 };

	err = (struct err){ "" };
	*d = NULL;
	return dut_open(name, mode, &opt, d, &err);
}

/* ---- names ---- */

static void split_is(const char *name, unsigned n, const char *const *want)
{
	struct set_names s;
	struct buf b = BUF_INIT;

	CHECK_INT(set_names_split(name, &s, &err), 0);
	CHECK_INT(s.n, n);
	for (unsigned i = 0; i < n; i++)
		CHECK_STR(s.v[i], want[i]);
	set_names_join(&s, &b);
	CHECK_STR(buf_cstr(&b), name);
	buf_release(&b);
	set_names_release(&s);
}

TEST(names_come_apart_and_together)
{
	DO(split_is("set:/dev/a", 1, (const char *const[]){ "/dev/a" }));
	DO(split_is("set:file:a?size=1g,sim:pm", 2,
		    (const char *const[]){ "file:a?size=1g", "sim:pm" }));
	DO(split_is("set:file:a\\,b,file:c\\\\,file:\\d", 2,
		    (const char *const[]){ "file:a,b", "file:c\\,file:\\d" }));
}

TEST(names_that_are_none)
{
	static const char *const poor[] = { "set:",
					    "set:,/dev/a",
					    "set:/dev/a,",
					    "set:/dev/a,,/dev/b",
					    "set:set:/dev/a,/dev/b",
					    "set:nosuch",
					    "set:/dev/a,fault:eio@1:set:/dev/b",
					    "fault:eio@1:set:/dev/a,/dev/b",
					    "set:file:a?size=x" };
	struct dut_name n;

	for (unsigned i = 0; i < sizeof poor / sizeof *poor; i++) {
		err = (struct err){ "" };
		CHECK_MSG(dut_name_parse(poor[i], &n, &err) == -EINVAL, "%s", poor[i]);
		CHECK(err.msg[0]);
	}
}

TEST(what_a_name_tells)
{
	struct dut_name n;

	err = (struct err){ "" };
	CHECK_INT(dut_name_parse("set:sim:pm?seed=9,sim:ent-nvme", &n, &err), 0);
	CHECK(n.kind == DUT_SET && n.simulated && n.has_seed && n.seed == 9);
	CHECK_INT(dut_name_parse("set:/dev/a,fault:eio@3\\,deadline=2s:file:b", &n, &err), 0);
	CHECK(!n.simulated && !n.has_seed);
	CHECK_STR(n.fault, "eio@3,deadline=2s");
	CHECK_INT(dut_name_parse("set:sim:pm,file:a", &n, &err), -EINVAL);
	CHECK(strstr(err.msg, "real or of simulated"));
}

/* ---- sums ---- */

static struct hist *hist_of(uint64_t first, unsigned n)
{
	struct hist *h = hist_new();

	for (unsigned i = 0; i < n; i++)
		hist_add(h, first + i);
	return h;
}

static struct second one[] = { { 0, 3, 30, 300, 9 }, { 2, 4, 40, 400, 5 } };
static struct second two[] = { { 0, 1, 10, 100, 7 }, { 1, 5, 50, 500, 8 }, { 4, 6, 60, 6, 1 } };

static void two_results(struct result *a, struct result *b)
{
	*a = (struct result){ .start_ns = 1000,
			      .elapsed_ns = 500,
			      .second = one,
			      .n_seconds = 2,
			      .prepared = 9,
			      .errors = 2,
			      .inflight_avg = 4,
			      .inflight_max = 4,
			      .threads_seen = 2,
			      .cpu_total_pct = 30,
			      .cpu_sys_pct = -1,
			      .temperature_c = NAN };
	*b = *a;
	b->start_ns = 1100;
	b->elapsed_ns = 1000;
	b->second = two;
	b->n_seconds = 3;
	b->temperature_c = 40;
	snprintf(a->note, sizeof a->note, "slow");
	a->op[IO_READ] = (struct tally){ .ios = 7, .bytes = 70, .service = hist_of(100, 7) };
	b->op[IO_READ] = (struct tally){ .ios = 5, .bytes = 50, .service = hist_of(300, 5) };
	b->op[IO_WRITE] = (struct tally){ .ios = 5, .service = hist_of(90, 5) };
	a->stream[1] = (struct stream_tally){ .ios = 3, .max_ns = 11 };
	b->stream[1] = (struct stream_tally){ .ios = 4, .max_ns = 10 };
	a->errnos[0].err = b->errnos[1].err = EIO;
	a->errnos[0].n = b->errnos[1].n = 2;
	b->errnos[0].err = ENODATA;
	b->errnos[0].n = 3;
}

static void counts_add_up(const struct result *r)
{
	CHECK_INT(r->op[IO_READ].ios, 12);
	CHECK_INT(r->op[IO_READ].bytes, 120);
	CHECK_INT(r->op[IO_READ].service->n, 12);
	CHECK_INT(r->op[IO_READ].service->min, 100);
	CHECK_INT(r->op[IO_READ].service->max, 304);
	CHECK_INT(r->op[IO_READ].service->count[hist_index(302)], 1);
	CHECK_INT(r->op[IO_WRITE].service->n, 5);
	CHECK(!r->op[IO_READ].response);
	CHECK(r->stream[1].ios == 7 && r->stream[1].max_ns == 11);
	CHECK(r->prepared == 18 && r->errors == 4);
	CHECK(r->errnos[0].err == EIO && r->errnos[0].n == 4);
	CHECK(r->errnos[1].err == ENODATA && r->errnos[1].n == 3);
	CHECK_INT(r->n_seconds, 4);
	CHECK(r->second[0].ios == 4 && r->second[0].bytes == 40 && r->second[0].sum_ns == 400 &&
	      r->second[0].max_ns == 9);
	CHECK(r->second[1].index == 1 && r->second[2].index == 2 && r->second[3].index == 4 &&
	      r->second[3].ios == 6);
}

static void times_are_spans(const struct result *r)
{
	CHECK_INT(r->start_ns, 1000);
	CHECK_INT(r->elapsed_ns, 1100);
	CHECK_INT(r->first_done_ns, 500);
	CHECK_NEAR(r->inflight_avg, (4 * 500 + 4 * 1000) / 1100.0, 1e-12);
	CHECK(r->inflight_max == 8 && r->threads_seen == 4);
	CHECK_NEAR(r->temperature_c, 40, 0);
	CHECK_NEAR(r->cpu_total_pct, 30, 0);
	CHECK_NEAR(r->cpu_sys_pct, -1, 0);
	CHECK_STR(r->note, "member 2: slow");
}

TEST(a_sum_has_everything)
{
	struct result a, b;
	struct member_result m[] = { { 2, &a }, { 5, &b } };
	struct result_box box = { .r = { .start_ns = 0 } };

	two_results(&a, &b);
	for (int again = 0; again < 2; again++) { /* a box is used more than once */
		result_box_sum(&box, m, 2);
		DO(counts_add_up(&box.r));
		DO(times_are_spans(&box.r));
		CHECK_INT(box.r.n_members, 2);
		CHECK(box.r.member[1].member == 5 && box.r.member[1].result == &b);
	}
	free((void *)(uintptr_t)a.op[IO_READ].service);
	free((void *)(uintptr_t)b.op[IO_READ].service);
	free((void *)(uintptr_t)b.op[IO_WRITE].service);
	result_box_release(&box);
}

/* ---- running ---- */

struct run {
	struct dut *d;
	struct access acc[2];
	struct segment seg[KEPT];
	_Atomic uint64_t cursor[8];
	struct job job;
	pthread_t caller;
	bool elsewhere; /* called in another thread */
	unsigned sealed, stop_after;
	struct {
		struct result r; /* pointers are gone */
		unsigned n, member[4];
		uint64_t ios[4], bytes[4], start[4], elapsed[4], hist[4], errors[4];
		uint64_t hist_sum, second_ios;
		bool add_up, in_order;
	} k[KEPT];
};

static uint64_t ios_of(const struct result *r)
{
	return r->op[IO_READ].ios + r->op[IO_WRITE].ios;
}

static uint64_t bytes_of(const struct result *r)
{
	return r->op[IO_READ].bytes + r->op[IO_WRITE].bytes;
}

/* All buckets of the members add up to those of the sum. */
static bool hists_add_up(const struct result *r, int op)
{
	const struct hist *sum = r->op[op].service;

	for (unsigned i = 0; sum && i < HIST_BUCKETS; i++) {
		uint64_t n = 0;

		for (unsigned m = 0; m < r->n_members; m++) {
			const struct hist *h = r->member[m].result->op[op].service;

			n += h ? h->count[i] : 0;
		}
		if (n != sum->count[i])
			return false;
	}
	return true;
}

static int keep(void *arg, unsigned k, const struct result *r)
{
	struct run *g = arg;
	__typeof__(&g->k[0]) to = &g->k[k];
	uint64_t ios = 0, bytes = 0;

	g->elsewhere |= !pthread_equal(pthread_self(), g->caller);
	to->in_order = k == g->sealed++;
	to->r = *r;
	to->n = r->n_members;
	for (unsigned m = 0; m < r->n_members; m++) {
		const struct result *x = r->member[m].result;

		to->member[m] = r->member[m].member;
		ios += to->ios[m] = ios_of(x);
		bytes += to->bytes[m] = bytes_of(x);
		to->start[m] = x->start_ns;
		to->elapsed[m] = x->elapsed_ns;
		to->errors[m] = x->errors;
	}
	for (unsigned i = 0; i < r->n_seconds; i++)
		to->second_ios += r->second[i].ios;
	to->add_up = ios == ios_of(r) && bytes == bytes_of(r) && to->second_ios == ios &&
		     hists_add_up(r, IO_READ) && hists_add_up(r, IO_WRITE);
	return g->stop_after && g->sealed >= g->stop_after;
}

static void run_init(struct run *g, struct dut *d)
{
	memset(g, 0, sizeof *g);
	g->d = d;
	g->caller = pthread_self();
	for (unsigned i = 0; i < 2; i++) { /* random writes, and a fill */
		g->acc[i] =
			(struct access){ .name = "t", .n_streams = 1, .regions = 1, .exact = i };
		g->acc[i].stream[0] = (struct stream){ .share = 1,
						       .bytes = i ? 65536 : 4096,
						       .op = IO_WRITE,
						       .order = i ? IO_SEQ : IO_RND,
						       .cursor = i ? 0 : CURSOR_NONE };
	}
	g->job = (struct job){ .seg = g->seg,
			       .range = { .bytes = d->info.member_bytes },
			       .cursor = g->cursor,
			       .n_cursors = 2,
			       .sealed = keep,
			       .arg = g };
}

static void timed(struct run *g, uint64_t ns)
{
	g->seg[g->job.n++] = (struct segment){
		.acc = &g->acc[0], .threads = 2, .qd = 2, .stop = { .time_ns = ns }, .seed = 3
	};
}

static void fill(struct run *g, uint64_t bytes)
{
	g->seg[g->job.n++] = (struct segment){
		.acc = &g->acc[1], .threads = 1, .qd = 4, .stop = { .bytes = bytes }, .seed = 3
	};
}

static void idle(struct run *g, uint64_t ns)
{
	g->seg[g->job.n++] = (struct segment){ .stop = { .time_ns = ns } };
}

static int go(struct run *g)
{
	err = (struct err){ "" };
	return g->d->ops->run(g->d, &g->job, &err);
}

static struct dut *two_files(const char *name)
{
	struct dut *d;

	make_dir();
	if (open_set(set(name), DUT_WRITE, &d)) {
		printf("# %s\n", err.msg);
		return NULL;
	}
	return d;
}

TEST(files_at_once)
{
	struct dut *d = two_files("set:file:%/a?size=8m,file:%/b?size=16m");
	struct run g;

	CHECK(d);
	CHECK(d->info.kind == DUT_SET && d->info.members == 2);
	CHECK_INT(d->info.capacity_bytes, 24 << 20);
	CHECK_INT(d->info.member_bytes, 8 << 20);
	CHECK_STR(d->info.model, "2 x scratch file");
	run_init(&g, d);
	fill(&g, 8 << 20);
	timed(&g, 60 * MS);
	timed(&g, 60 * MS);
	timed(&g, 60 * MS);
	idle(&g, 20 * MS);
	timed(&g, 60 * MS);
	CHECK_INT(go(&g), 0);
	CHECK_INT(g.sealed, 6);
	CHECK(!g.elsewhere);
	for (unsigned k = 0; k < 6; k++) {
		CHECK_MSG(g.k[k].add_up && g.k[k].in_order, "segment %u", k);
		CHECK(g.k[k].n == 2 && g.k[k].member[0] == 1 && g.k[k].member[1] == 2);
		CHECK(g.k[k].r.first_done_ns <= g.k[k].r.elapsed_ns && !g.k[k].r.partial);
	}
	CHECK_INT(g.k[0].bytes[0], 8 << 20);
	CHECK_INT(g.k[0].bytes[1], 8 << 20);
	CHECK_INT(atomic_load(&g.cursor[0]), atomic_load(&g.cursor[2])); /* one for each member */
	CHECK_INT(ios_of(&g.k[4].r), 0);
	/* without a gap from one timed segment to the next */
	for (unsigned m = 0; m < 2; m++) {
		CHECK_INT(g.k[1].elapsed[m], 60 * MS);
		uint64_t end = g.k[1].start[m] + g.k[1].elapsed[m], next = g.k[2].start[m];
		CHECK(next >= end - 1000 && next <= end + 1000);
	}
	CHECK_INT(g.k[3].r.threads_seen, 4);
	dut_close(d);
}

TEST(members_of_a_range)
{
	struct dut *d = two_files("set:file:%/a?size=4m,file:%/b?size=4m,file:%/c?size=4m");
	struct run g;

	CHECK(d);
	run_init(&g, d);
	timed(&g, 30 * MS);
	g.job.member_first = 2;
	g.job.member_last = 3;
	CHECK_INT(go(&g), 0);
	CHECK(g.k[0].n == 2 && g.k[0].member[0] == 2 && g.k[0].member[1] == 3);
	CHECK(g.k[0].add_up && g.k[0].ios[0] && g.k[0].ios[1]);
	g.job.member_last = 2;
	g.sealed = 0;
	CHECK_INT(go(&g), 0);
	CHECK(g.k[0].n == 1 && g.k[0].member[0] == 2);
	dut_close(d);
}

TEST(enough_and_stop)
{
	struct dut *d = two_files("set:file:%/a?size=4m,file:%/b?size=4m");
	volatile int stop = 1;
	struct run g;

	CHECK(d);
	run_init(&g, d);
	for (unsigned i = 0; i < 6; i++)
		timed(&g, 40 * MS);
	g.stop_after = 2;
	CHECK_INT(go(&g), 0);
	CHECK_INT(g.sealed, 2);
	g.sealed = 0;
	g.stop_after = 0;
	g.seg[0].stop.time_ns = 100000 * MS;
	g.job.stop = &stop;
	CHECK_INT(go(&g), -EINTR);
	CHECK(g.sealed <= 1);
	CHECK(!g.sealed || g.k[0].r.partial);
	stop = 0;
	g.sealed = 0;
	g.seg[0].stop.time_ns = 40 * MS;
	CHECK_INT(go(&g), 0); /* and the set can be used on */
	CHECK_INT(g.sealed, 6);
	dut_close(d);
}

TEST(one_member_fails)
{
	struct dut *d = two_files("set:file:%/a?size=4m,fault:eio@40:file:%/b?size=4m");
	struct run g;

	CHECK(d);
	run_init(&g, d);
	timed(&g, 60000 * MS);
	timed(&g, 60000 * MS);
	CHECK_INT(go(&g), -EIO);
	CHECK_MSG(strstr(err.msg, "member 2 (fault:eio@40:file:"), "%s", err.msg);
	CHECK(!strstr(err.msg, "member 1"));
	CHECK_INT(g.sealed, 1);
	CHECK(g.k[0].r.partial && g.k[0].r.errors == 1 && g.k[0].add_up);
	CHECK(g.k[0].n == 2 && g.k[0].errors[0] == 0 && g.k[0].errors[1] == 1);
	dut_close(d);
}

TEST(one_member_hangs)
{
	struct dut *d = two_files(
		"set:fault:never@30+\\,deadline=200ms:file:%/a?size=4m,file:%/b?size=4m");
	struct run g;

	CHECK(d);
	run_init(&g, d);
	timed(&g, 60000 * MS);
	CHECK_INT(go(&g), -ETIMEDOUT);
	CHECK_MSG(strstr(err.msg, "member 1 (fault:never@30+"), "%s", err.msg);
	CHECK(g.sealed == 1 && g.k[0].r.partial && g.k[0].n >= 1);
	dut_close(d);
}

TEST(one_cannot_begin)
{
	struct dut *d = two_files("set:file:%/a?size=4m,file:%/b?size=8m");
	struct run g;

	CHECK(d);
	run_init(&g, d);
	timed(&g, 60000 * MS);
	g.job.range.bytes = 8 << 20; /* more than member 1 has */
	CHECK_INT(go(&g), -EINVAL);
	CHECK(strstr(err.msg, "member 1") && !strstr(err.msg, "member 2"));
	CHECK_INT(g.sealed, 0);
	dut_close(d);
}

TEST(purge_of_each)
{
	struct dut *d = two_files("set:file:%/a?size=4m,file:%/b?size=8m");
	struct purge_report p;

	CHECK(d);
	CHECK(d->info.purge_auto == PURGE_PUNCH && d->info.purge_methods == 1u << PURGE_PUNCH);
	CHECK_INT(d->ops->purge(d, PURGE_PUNCH, &p, &err), 0);
	CHECK(p.verified && p.method == PURGE_PUNCH && !p.survivors);
	CHECK_INT(p.canaries, p.member[0].canaries + p.member[1].canaries);
	CHECK(p.member[0].verified && p.member[1].verified);
	CHECK_INT(d->ops->purge(d, PURGE_BLKDISCARD, &p, &err), -EOPNOTSUPP);
	CHECK(strstr(err.msg, "member 1 (file:"));
	dut_close(d);
}

TEST(the_same_drive_twice)
{
	struct dut *d;
	char a[128], l[128];
	int fd;

	make_dir();
	CHECK_INT(open_set(set("set:file:%/a?size=4m,file:%/b?size=4m,file:%/./a?size=4m"),
			   DUT_WRITE, &d),
		  -EINVAL);
	CHECK(strstr(err.msg, "members 1 (") && strstr(err.msg, "and 3 (") &&
	      strstr(err.msg, "same drive"));
	snprintf(a, sizeof a, "%s/a", dir);
	CHECK(access(a, F_OK)); /* nothing was made */
	fd = open(a, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 4 << 20) && !close(fd));
	snprintf(l, sizeof l, "%s/l", dir);
	CHECK(!symlink(a, l));
	CHECK_INT(open_set(set("set:file:%/a,file:%/l"), DUT_READ, &d), -EINVAL);
	CHECK(!unlink(l) && !link(a, l));
	CHECK_INT(open_set(set("set:file:%/a,file:%/l"), DUT_READ, &d), -EINVAL);
	CHECK_INT(open_set("set:sim:pm?seed=3,sim:pm?seed=3", DUT_READ, &d), -EINVAL);
	CHECK_INT(open_set("set:sim:pm,sim:pm", DUT_READ, &d), 0);
	CHECK_STR(d->member[0]->info.serial, "SIM5");
	CHECK_STR(d->member[1]->info.serial, "SIM6");
	dut_close(d);
	end_dir();
}

TEST(a_member_that_is_not_there)
{
	struct dut *d;

	CHECK_INT(open_set("set:sim:pm,sim:nosuch", DUT_READ, &d), -ENOENT);
	CHECK(strstr(err.msg, "member 2"));
}

/* ---- simulated ---- */

TEST(virtual_clocks_advance_together)
{
	struct dut *d;
	struct run g;
	struct purge_report p;

	CHECK_INT(open_set("set:sim:ent-nvme?size=100g,sim:client-slc?size=100g,sim:pm?size=100g",
			   DUT_WRITE, &d),
		  0);
	CHECK_INT(d->ops->purge(d, d->info.purge_auto, &p, &err), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(d->member[i]->ops->now(d->member[i]), d->ops->now(d));
	run_init(&g, d);
	fill(&g, 20ull << 30);
	timed(&g, 60000 * MS);
	CHECK_INT(go(&g), 0);
	CHECK(g.sealed == 2 && g.k[0].add_up && g.k[1].add_up && !g.elsewhere);
	CHECK(g.k[0].r.first_done_ns < g.k[0].r.elapsed_ns);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_INT(g.k[0].bytes[i], 20ull << 30);
		CHECK_INT(g.k[0].start[i], g.k[0].start[0]);
		CHECK_INT(g.k[1].start[i], g.k[0].start[0] + g.k[0].r.elapsed_ns);
		CHECK_INT(g.k[1].elapsed[i], 60000 * MS);
	}
	CHECK_INT(g.k[1].r.first_done_ns, g.k[1].r.elapsed_ns);
	g.job.member_first = g.job.member_last = 2;
	g.sealed = 0;
	CHECK_INT(go(&g), 0);
	for (unsigned i = 0; i < 3; i++) /* those without work, too */
		CHECK_INT(d->member[i]->ops->now(d->member[i]), d->ops->now(d));
	dut_close(d);
}

/* The state of a member's cache, by switching it to what it is. */
static bool cache_of(struct dut *d, unsigned i)
{
	bool was;

	if (d->member[i]->ops->write_cache(d->member[i], true, &was, &err) ||
	    d->member[i]->ops->write_cache(d->member[i], was, &(bool){ false }, &err))
		abort();
	return was;
}

TEST(caches_are_put_back_as_they_were)
{
	struct dut *d;
	bool was;

	CHECK_INT(open_set("set:sim:client-slc,sim:client-slc", DUT_WRITE, &d), 0);
	CHECK(d->info.has_write_cache);
	CHECK_INT(d->ops->write_cache(d, true, &was, &err), 0);
	CHECK_INT(d->ops->write_cache(d, false, &was, &err), 0);
	CHECK(was && !cache_of(d, 0) && !cache_of(d, 1));
	/* not alike: said to have been the other way */
	CHECK_INT(d->member[1]->ops->write_cache(d->member[1], true, &was, &err), 0);
	CHECK_INT(d->ops->write_cache(d, false, &was, &err), 0);
	CHECK(was && !cache_of(d, 0) && !cache_of(d, 1));
	CHECK_INT(d->ops->write_cache(d, false, &was, &err),
		  0); /* once more, after the next purge */
	CHECK_INT(d->ops->write_cache(d, true, &was, &err), 0);
	CHECK(!cache_of(d, 0) && cache_of(d, 1));
	dut_close(d);
}

TEST(health_of_all)
{
	struct dut *d;
	struct health h, m;

	CHECK_INT(open_set("set:sim:ent-nvme,sim:client-slc", DUT_READ, &d), 0);
	CHECK_INT(d->ops->health(d, &h, &err), 0);
	CHECK(h.have_temperature);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(d->member[i]->ops->health(d->member[i], &m, &err), 0);
		CHECK(h.temperature_c >= m.temperature_c);
	}
	dut_close(d);
}

TEST(scratch_goes)
{
	end_dir();
}

TEST_MAIN
