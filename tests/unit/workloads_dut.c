/* SPDX-License-Identifier: MIT */
/* DUT names, purge methods, files as DUTs, facts from sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "tests/test.h"
#include "workloads/dut_real.h"

static char dir[64];
static struct err err;

static void make_dir(void)
{
	snprintf(dir, sizeof dir, "/tmp/pts-unit-XXXXXX");
	if (!mkdtemp(dir))
		abort();
	err = (struct err){ "" };
}

static void remove_dir(void)
{
	static const char *const names[] = { "a", "a.pts-scratch", "b", "b.pts-scratch", "l", "f" };
	char path[128];

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		unlink(path);
	}
	if (rmdir(dir))
		abort();
}

static const char *in(const char *prefix, const char *name)
{
	static char path[4][160];
	static unsigned n;
	char *out = path[n++ % 4];

	snprintf(out, sizeof path[0], "%s%s/%s", prefix, dir, name);
	return out;
}

static int try_open(const char *name, enum dut_open_mode mode, struct dut **d)
{
	err = (struct err){ "" };
	*d = NULL;
	return dut_open(name, mode, NULL, d, &err);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

/* ---- names ---- */

TEST(names)
{
	struct dut_name n;

	CHECK_INT(dut_name_parse("/dev/nvme0n1", &n, &err), 0);
	CHECK_INT(n.kind, DUT_BLOCK);
	CHECK_STR(n.path, "/dev/nvme0n1");
	CHECK_INT(dut_name_parse("file:/tmp/x?size=2g", &n, &err), 0);
	CHECK_INT(n.kind, DUT_FILE);
	CHECK_STR(n.path, "/tmp/x");
	CHECK_INT(n.size_bytes, 2ull << 30);
	CHECK_INT(dut_name_parse("file:x", &n, &err), 0);
	CHECK_INT(n.size_bytes, 0);
	CHECK_INT(dut_name_parse("sim:ent-nvme?size=30t&seed=7", &n, &err), 0);
	CHECK_INT(n.kind, DUT_SIM);
	CHECK_STR(n.path, "ent-nvme");
	CHECK_INT(n.size_bytes, 30ull << 40);
	CHECK(n.has_seed && n.seed == 7);
}

TEST(bad_names_say_why)
{
	static const struct {
		const char *name, *why;
	} bad[] = {
		{ "nvme0n1", "is no DUT name" },
		{ "/dev/", "is no DUT name" },
		{ "", "is no DUT name" },
		{ "file:", "nothing after the colon" },
		{ "sim:?size=1g", "nothing after" },
		{ "file:x?size=0", "size '0'" },
		{ "file:x?size=big", "size 'big'" },
		{ "file:x?siz=1g", "did you mean 'size'?" },
		{ "file:x?seed=1", "unknown option" },
		{ "sim:pm?seed=x", "seed 'x'" },
		{ "file:/dev/loop0", "a device is named" },
	};
	struct dut_name n;

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = { "" };
		CHECK_INT(dut_name_parse(bad[i].name, &n, &e), -EINVAL);
		CHECK_MSG(strstr(e.msg, bad[i].why), "%s: %s", bad[i].name, e.msg);
	}
}

TEST(purge_methods)
{
	const char *const *names = purge_method_names();
	enum purge_method m;
	unsigned n = 0, pts = 0;

	for (; names[n]; n++) {
		CHECK_INT(purge_method_parse(names[n], &m), 0);
		CHECK_INT(m, n + 1);
		CHECK_STR(purge_method_name(m), names[n]);
		pts += purge_method_is_pts(m);
	}
	CHECK_INT(n, PURGE_HOOK - 1); /* which is asked for by --purge-hook */
	CHECK_INT(pts, 8);
	CHECK_INT(purge_method_parse("none", &m), 0);
	CHECK_INT(purge_method_parse("format", &m), -EINVAL);
}

/* ---- files ---- */

TEST(a_new_file_is_made_marked_and_taken_again)
{
	struct dut *d, *other;
	struct stat st;

	make_dir();
	CHECK_INT(try_open(in("file:", "a?size=64m"), DUT_READ, &d), 0);
	CHECK_INT(d->info.capacity_bytes, 64 << 20);
	CHECK(d->info.kind == DUT_FILE && !d->info.formal && d->info.purge_auto == PURGE_PUNCH);
	dut_close(d);
	CHECK(stat(in("", "a"), &st) && errno == ENOENT); /* looking creates nothing */
	CHECK_INT(try_open(in("file:", "a"), DUT_READ, &d), 0);
	CHECK_INT(d->info.capacity_bytes, 1 << 30);
	dut_close(d);

	CHECK_INT(try_open(in("file:", "a?size=64m"), DUT_WRITE, &d), 0);
	CHECK_MSG(strstr(d->engine, "io_uring"), "%s", d->engine);
	CHECK(dut_file_is_ours(in("", "a")));
	CHECK_INT(stat(in("", "a"), &st), 0);
	CHECK_INT(st.st_size, 64 << 20);
	CHECK_INT(try_open(in("file:", "a"), DUT_WRITE, &other), -EBUSY);
	CHECK_MSG(strstr(err.msg, "another pts"), "%s", err.msg);
	dut_close(d);

	CHECK_INT(try_open(in("file:", "a"), DUT_WRITE, &d), 0); /* keeps its size */
	CHECK_INT(d->info.capacity_bytes, 64 << 20);
	dut_close(d);
	CHECK_INT(try_open(in("file:", "a?size=32m"), DUT_WRITE, &d), 0); /* ours: may change */
	dut_close(d);
	CHECK_INT(stat(in("", "a"), &st), 0);
	CHECK_INT(st.st_size, 32 << 20);
	remove_dir();
}

TEST(a_file_that_pts_did_not_make_is_never_resized)
{
	struct dut *d;
	struct stat st;

	make_dir();
	put_file(in("", "b"), "precious");
	CHECK_INT(truncate(in("", "b"), 8192), 0);
	CHECK(!dut_file_is_ours(in("", "b")));
	CHECK_INT(try_open(in("file:", "b?size=1m"), DUT_WRITE, &d), -EINVAL);
	CHECK_MSG(strstr(err.msg, "pts did not make it"), "%s", err.msg);
	CHECK_INT(try_open(in("file:", "b"), DUT_WRITE, &d), 0); /* the gate has asked before */
	CHECK_INT(d->info.capacity_bytes, 8192);
	dut_close(d);
	CHECK(!dut_file_is_ours(in("", "b")));
	/* Another file put in the place of ours is not ours. */
	CHECK_INT(try_open(in("file:", "a?size=1m"), DUT_WRITE, &d), 0);
	dut_close(d);
	CHECK_INT(rename(in("", "b"), in("", "a")), 0);
	CHECK(!dut_file_is_ours(in("", "a")));
	CHECK_INT(stat(in("", "a"), &st), 0);
	CHECK_INT(st.st_size, 8192);
	remove_dir();
}

TEST(what_is_no_file_is_refused)
{
	struct dut *d;

	make_dir();
	for (enum dut_open_mode m = DUT_READ; m <= DUT_WRITE; m++) {
		char name[80];
		snprintf(name, sizeof name, "file:%s", dir);
		CHECK_INT(try_open(name, m, &d), -EINVAL);
		CHECK_MSG(strstr(err.msg, "is a folder"), "%s", err.msg);
		put_file(in("", "a"), "");
		CHECK_INT(try_open(in("file:", "a"), m, &d), -EINVAL);
		CHECK_MSG(strstr(err.msg, "empty"), "%s", err.msg);
		CHECK_INT(try_open(in("file:", "a?size=1m"), m, &d), -EINVAL);
		CHECK_INT(symlink("/dev/null", in("", "l")), 0);
		CHECK_INT(try_open(in("file:", "l"), m, &d), -EINVAL);
		CHECK_MSG(strstr(err.msg, "is a device"), "%s", err.msg);
		CHECK_INT(unlink(in("", "l")), 0);
		CHECK_INT(symlink("nowhere", in("", "l")), 0);
		CHECK_INT(try_open(in("file:", "l"), m, &d), -EINVAL);
		CHECK_MSG(strstr(err.msg, "link to nothing"), "%s", err.msg);
		CHECK_INT(unlink(in("", "l")), 0);
		CHECK_INT(mkfifo(in("", "f"), 0600), 0);
		CHECK_INT(try_open(in("file:", "f"), m, &d), -EINVAL);
		CHECK_MSG(strstr(err.msg, "is a pipe"), "%s", err.msg);
		CHECK_INT(unlink(in("", "f")), 0);
		CHECK_INT(try_open(in("file:", "b?size=1000"), m, &d), -EINVAL);
		CHECK_INT(access(in("", "b"), F_OK), -1);
	}
	CHECK_INT(try_open(in("file:", "no/such"), DUT_WRITE, &d), -EINVAL);
	CHECK_INT(try_open("/dev/null", DUT_READ, &d), -EINVAL);
	CHECK_MSG(strstr(err.msg, "no block device"), "%s", err.msg);
	CHECK_INT(try_open("/dev/no-such-drive", DUT_READ, &d), -ENOENT);
	remove_dir();
}

TEST(something_in_the_marker_s_place_stays)
{
	struct dut *d;

	make_dir();
	put_file(in("", "a.pts-scratch"), "my notes\n");
	CHECK_INT(try_open(in("file:", "a?size=1m"), DUT_WRITE, &d), -EEXIST);
	CHECK_INT(access(in("", "a"), F_OK), -1);
	struct buf b = BUF_INIT;
	CHECK_INT(buf_read_file(&b, in("", "a.pts-scratch"), 100), 0);
	CHECK_STR(buf_cstr(&b), "my notes\n");
	buf_release(&b);
	remove_dir();
}

static unsigned sealed_ios;
static int sealed(void *arg, unsigned k, const struct result *r)
{
	sealed_ios = (unsigned)r->op[IO_WRITE].ios;
	return 0;
}

static int write_all(struct dut *d)
{
	_Atomic uint64_t cursor = 0;
	struct access a = { .name = "fill", .n_streams = 1, .regions = 1, .exact = true };
	struct segment s = { &a, 1, 8, 0, 0, { .bytes = d->info.capacity_bytes }, 1 };
	struct job j = { .seg = &s,
			 .n = 1,
			 .range = { .bytes = d->info.capacity_bytes },
			 .cursor = &cursor,
			 .n_cursors = 1,
			 .sealed = sealed };

	a.stream[0] = (struct stream){ 1, 128 << 10, IO_WRITE, IO_SEQ, 0, 0 };
	return d->ops->run(d, &j, &err);
}

TEST(purge_of_a_file_is_proven)
{
	struct purge_report p;
	struct dut *d;
	struct stat st;
	struct health h;
	bool was;

	make_dir();
	CHECK_INT(try_open(in("file:", "a?size=16m"), DUT_WRITE, &d), 0);
	CHECK_INT(write_all(d), 0);
	CHECK_INT(sealed_ios, 128);
	CHECK_INT(stat(in("", "a"), &st), 0);
	CHECK(st.st_blocks >= 16 << 11);
	CHECK_INT(d->ops->purge(d, PURGE_AUTO, &p, &err), 0);
	CHECK_INT(p.method, PURGE_PUNCH);
	CHECK(p.verified && p.canaries == 1026 && !p.survivors);
	CHECK_MSG(strstr(p.detail, "16777216 bytes"), "%s", p.detail);
	CHECK_INT(stat(in("", "a"), &st), 0);
	CHECK_INT(st.st_size, 16 << 20);
	CHECK(st.st_blocks < 16 << 8);
	CHECK_INT(d->ops->purge(d, PURGE_BLKDISCARD, &p, &err), -EOPNOTSUPP);
	err = (struct err){ "" };
	CHECK_INT(d->ops->purge(d, PURGE_NVME_FORMAT, &p, &err), -EOPNOTSUPP);
	CHECK_MSG(strstr(err.msg, "nvme-format"), "%s", err.msg);
	CHECK_INT(d->ops->write_cache(d, false, &was, &err), -EOPNOTSUPP);
	CHECK_INT(d->ops->health(d, &h, &err), 0);
	CHECK(!h.have_temperature);
	volatile int stop = 1;
	d->stop = &stop;
	CHECK_INT(d->ops->purge(d, PURGE_PUNCH, &p, &err), -EINTR);
	dut_close(d);
	remove_dir();
}

TEST(facts_only_means_facts_only)
{
	struct purge_report p;
	struct dut *d;

	make_dir();
	put_file(in("", "b"), "precious");
	CHECK_INT(truncate(in("", "b"), 8192), 0);
	CHECK_INT(try_open(in("file:", "b"), DUT_READ, &d), 0);
	CHECK(write_all(d) < 0);
	CHECK(d->ops->purge(d, PURGE_PUNCH, &p, &err) < 0);
	dut_close(d);
	struct buf b = BUF_INIT;
	CHECK_INT(buf_read_file(&b, in("", "b"), 10000), 0);
	CHECK(!strncmp(buf_cstr(&b), "precious", 8));
	buf_release(&b);
	remove_dir();
}

/* Asked for on a target that cannot, polling is refused by one probe IO, and the run goes on with interrupts. */
TEST(U32_polling_falls_back)
{
	struct dut_options opt = { .polled = true };
	struct dut *d;

	make_dir();
	CHECK_INT(dut_open(in("file:", "a?size=16m"), DUT_WRITE, &opt, &d, &err), 0);
	CHECK_MSG(strstr(d->engine, "polling not possible here") || strstr(d->engine, "polled"),
		  "%s", d->engine);
	CHECK_INT(write_all(d), 0);
	CHECK_INT(sealed_ios, 128);
	dut_close(d);
	remove_dir();
}

/* ---- sysfs ---- */

TEST(text_is_cleaned)
{
	char out[32];

	clean_text(out, sizeof out, "  SAMSUNG   MZ\t\n7L3 \x01 \xff\xc3\xa9 ");
	CHECK_STR(out, "SAMSUNG MZ 7L3 \xc3\xa9");
	clean_text(out, sizeof out, "\x80\xfe");
	CHECK_STR(out, "");
	clean_text(out, 8, "0123456789");
	CHECK(strlen(out) < 8);
}

static void fake(const char *root, const char *name, const char *text)
{
	char path[256], *slash = path;

	snprintf(path, sizeof path, "%s/%s", root, name);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	put_file(path, text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

TEST(facts_of_drives)
{
	struct dut_real r = { .fd = -1 };
	struct dut_info *d = &r.d.info;
	char root[] = "/tmp/pts-unit-sys-XXXXXX";

	CHECK(mkdtemp(root));
	fake(root, "dev/block/259:0/device/model", "ACME  9000 \n");
	fake(root, "dev/block/259:0/device/serial", "  S123\n");
	fake(root, "dev/block/259:0/device/firmware_rev", "1.0\n");
	fake(root, "dev/block/259:0/size", "1000\n");
	fake(root, "dev/block/259:0/wwid", "eui.0025\n");
	fake(root, "dev/block/259:0/queue/logical_block_size", "4096\n");
	fake(root, "dev/block/259:0/queue/discard_max_bytes", "2147483648\n");
	fake(root, "dev/block/259:0/queue/zoned", "none\n");
	fake(root, "dev/block/259:0/device/hwmon3/temp1_input", "41850\n");
	fake(root, "dev/block/8:0/device/vendor", "0x1af4\n");
	fake(root, "dev/block/8:0/queue/zoned", "host-managed\n");
	fake(root, "dev/block/8:0/queue/discard_max_bytes", "0\n");
	sysfs_facts(root, 259, 0, &r);
	CHECK_STR(d->model, "ACME 9000");
	CHECK_STR(d->serial, "S123");
	CHECK_STR(d->firmware, "1.0");
	CHECK_STR(d->wwid, "eui.0025");
	CHECK_INT(d->capacity_bytes, 512000);
	CHECK_INT(d->lba_bytes, 4096);
	CHECK(d->formal && d->purge_methods == 1u << PURGE_BLKDISCARD);
	CHECK(strstr(r.temperature, "hwmon3/temp1_input"));
	CHECK(!sysfs_host_managed(root, 259, 0));
	r = (struct dut_real){ .fd = -1 };
	sysfs_facts(root, 8, 0, &r);
	CHECK_STR(d->vendor, "");
	CHECK_INT(d->purge_methods, 0);
	CHECK(sysfs_host_managed(root, 8, 0));
	CHECK_INT(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

TEST(U11_no_command_after_a_purge_without_an_answer)
{
	struct dut_real r = { .fd = -1, .lost = "no answer in time" };
	struct health h;
	struct err e = { "" };
	bool was;

	CHECK_INT(commands_write_cache(&r, true, &was, &e), -EIO);
	CHECK_MSG(strstr(e.msg, "no answer in time"), "%s", e.msg);
	CHECK_INT(commands_health(&r, &h, &e), -EIO);
}

TEST_MAIN
