/* SPDX-License-Identifier: MIT */
/*
 * pts-bench engine: the IO engine alone, the same objects as in pts. It writes to nothing but /dev/null, /dev/zero, a regular
 * file named with --scratch and a loop device named with --destroy.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "pts/base/units.h"
#include "workloads/engine.h"

#define CHAR_TARGET_BYTES ((uint64_t)1 << 30) /* what /dev/zero and /dev/null are taken for */
#define LOOP_MAJOR 7
#define CURSORS 4

struct bench {
	const char *target, *scratch, *destroy;
	uint64_t qd, threads, ios, time_ns, streams, block, size, seed;
	double read_pct; /* < 0: not given */
	bool no_latency, json, help;
	/* as it runs */
	struct engine_target t;
	struct access acc;
	struct rusage before;
	struct hist *lat;
	double user_us, sys_us; /* CPU of the process, in the job */
	uint64_t ios_done, bytes_done;
	struct result r; /* its pointers are gone */
};

static const char usage_text[] =
	"usage: pts-bench engine --target PATH [--qd N] [--threads N] [--ios N | --seconds S]\n"
	"                        [--streams N] [--rw R/W|read|write] [--bs 4k] [--no-latency] "
	"[--json]\n"
	"                        [--scratch PATH [--size 1g]] [--destroy PATH] [--seed N]\n"
	"       pts-bench --help\n"
	"Written to are only /dev/null, /dev/zero, the regular file --scratch names, the loop "
	"device\n"
	"--destroy names. --ios is the total of all threads.\n";

static int parse_rw(const char *s, double *ret)
{
	unsigned long r, w;
	char *end;

	if (!strcmp(s, "read") || !strcmp(s, "write")) {
		*ret = *s == 'r' ? 100 : 0;
		return 0;
	}
	r = strtoul(s, &end, 10);
	if (*end != '/' || r > 100)
		return -EINVAL;
	w = strtoul(end + 1, &end, 10);
	if (*end || r + w != 100)
		return -EINVAL;
	*ret = (double)r;
	return 0;
}

static int parse_seconds(const char *s, uint64_t *ret_ns)
{
	double v;

	if (parse_number(s, &v) || !(v > 0) || v > 1e6)
		return -EINVAL;
	*ret_ns = (uint64_t)(v * 1e9);
	return 0;
}

enum {
	TARGET = 1,
	QD,
	THREADS,
	IOS,
	SECONDS,
	STREAMS,
	RW,
	BS,
	SIZE,
	SEED,
	SCRATCH,
	DESTROY,
	BARE,
	JSON,
	HELP
};

static const struct option options[] = {
	{ "target", 1, NULL, TARGET },	 { "qd", 1, NULL, QD },
	{ "threads", 1, NULL, THREADS }, { "ios", 1, NULL, IOS },
	{ "seconds", 1, NULL, SECONDS }, { "streams", 1, NULL, STREAMS },
	{ "rw", 1, NULL, RW },		 { "bs", 1, NULL, BS },
	{ "size", 1, NULL, SIZE },	 { "seed", 1, NULL, SEED },
	{ "scratch", 1, NULL, SCRATCH }, { "destroy", 1, NULL, DESTROY },
	{ "no-latency", 0, NULL, BARE }, { "json", 0, NULL, JSON },
	{ "help", 0, NULL, HELP },	 { 0 }
};

static int take_word(struct bench *b, int option, const char *v)
{
	switch (option) {
	case TARGET:
		b->target = v;
		return 0;
	case SCRATCH:
		b->scratch = v;
		return 0;
	case DESTROY:
		b->destroy = v;
		return 0;
	case BARE:
		b->no_latency = true;
		return 0;
	case JSON:
		b->json = true;
		return 0;
	case HELP:
		b->help = true;
		return 0;
	}
	return -EINVAL;
}

static int take_number(struct bench *b, int option, const char *v)
{
	switch (option) {
	case QD:
		return parse_uint(v, 1, 16384, &b->qd);
	case THREADS:
		return parse_uint(v, 1, 1024, &b->threads);
	case IOS:
		return parse_uint(v, 1, UINT64_MAX >> 8, &b->ios);
	case SECONDS:
		return parse_seconds(v, &b->time_ns);
	case STREAMS:
		return parse_uint(v, 1, ACCESS_STREAMS_MAX, &b->streams);
	case RW:
		return parse_rw(v, &b->read_pct);
	case BS: /* whole sectors, and no more than one IO can be */
		return parse_size(v, &b->block) || !b->block || b->block % 512 ||
				       b->block > (256 << 20)
			       ? -EINVAL
			       : 0;
	case SIZE:
		return parse_size(v, &b->size) || !b->size ? -EINVAL : 0;
	case SEED:
		return parse_uint(v, 0, UINT64_MAX >> 1, &b->seed);
	}
	return take_word(b, option, v);
}

static int parse(struct bench *b, int argc, char **argv)
{
	int option, at;

	while ((option = getopt_long(argc, argv, "", options, &at)) != -1) {
		if (option == '?')
			return -EINVAL;
		if (take_number(b, option, optarg)) {
			fprintf(stderr, "pts-bench: --%s '%s'?\n", options[at].name, optarg);
			return -EINVAL;
		}
	}
	if (b->help)
		return 0;
	const char *wrong = !b->target		     ? "no --target"
			    : optind != argc	     ? "a word too many"
			    : b->size && !b->scratch ? "--size is that of a new --scratch file"
						     : NULL;
	if (wrong) {
		fprintf(stderr, "pts-bench: %s\n", wrong);
		return -EINVAL;
	}
	if (b->read_pct < 0)
		b->read_pct = b->streams > 1 ? 65 : 100;
	if (!b->ios && !b->time_ns)
		b->time_ns = 2000000000u;
	return 0;
}

/* ---- the target, and whether it may be written to ---- */

static bool names(const char *word, const struct stat *st)
{
	struct stat named;

	return word && !stat(word, &named) && named.st_dev == st->st_dev &&
	       named.st_ino == st->st_ino && named.st_rdev == st->st_rdev;
}

static const char *why_not_written(const struct bench *b, const struct stat *st)
{
	if (S_ISCHR(st->st_mode))
		return st->st_rdev == makedev(1, 3) || st->st_rdev == makedev(1, 5)
			       ? NULL
			       : "it is neither /dev/null nor /dev/zero";
	if (S_ISREG(st->st_mode))
		return names(b->scratch, st) ? NULL : "--scratch does not name this file";
	if (!S_ISBLK(st->st_mode) || major(st->st_rdev) != LOOP_MAJOR)
		return "no block device but a loop device is written to";
	return names(b->destroy, st) ? NULL : "--destroy does not name it";
}

static int make_scratch(const struct bench *b, struct err *err)
{
	struct stat st;

	if (!b->scratch || strcmp(b->scratch, b->target) || !stat(b->target, &st))
		return 0;
	int fd = open(b->target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	uint64_t size = b->size ? b->size : CHAR_TARGET_BYTES;
	int rc = fd < 0 || ftruncate(fd, (off_t)size) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc ? err_set(err, rc, "%s: %s", b->target, strerror(-rc)) : 0;
}

static int target_facts(struct bench *b, const struct stat *st, struct err *err)
{
	int lba = 512;

	b->t.capacity_bytes = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : CHAR_TARGET_BYTES;
	if (S_ISBLK(st->st_mode) &&
	    (ioctl(b->t.fd, BLKGETSIZE64, &b->t.capacity_bytes) || ioctl(b->t.fd, BLKSSZGET, &lba)))
		return err_set(err, -errno, "%s: %s", b->target, strerror(errno));
	b->t.lba_bytes = (uint32_t)lba;
	b->t.mem_align = 4096;
	b->t.no_latency = b->no_latency;
	b->t.capacity_bytes -= b->t.capacity_bytes % b->block;
	return b->t.capacity_bytes
		       ? 0
		       : err_set(err, -EINVAL, "%s holds no block of that size", b->target);
}

static int open_target(struct bench *b, struct err *err)
{
	bool writes = b->read_pct < 100;
	struct stat st;
	int rc = make_scratch(b, err);

	if (rc)
		return rc;
	if (stat(b->target, &st))
		return err_set(err, -errno, "%s: %s", b->target, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode) && !S_ISCHR(st.st_mode))
		return err_set(err, -EINVAL, "%s is neither a file nor a device", b->target);
	const char *why = writes ? why_not_written(b, &st) : NULL;
	if (why)
		return err_set(err, -EPERM, "%s is not written to: %s", b->target, why);
	int flags = (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	if (S_ISBLK(st.st_mode) && writes)
		flags |= O_EXCL;
	b->t.fd = open(b->target, flags | (S_ISCHR(st.st_mode) ? 0 : O_DIRECT));
	if (b->t.fd < 0 && errno == EINVAL)
		b->t.fd = open(b->target, flags); /* a file system without direct IO */
	if (b->t.fd < 0)
		return err_set(err, -errno, "%s: %s", b->target, strerror(errno));
	struct stat now;
	if (fstat(b->t.fd, &now) || now.st_dev != st.st_dev || now.st_ino != st.st_ino ||
	    now.st_rdev != st.st_rdev)
		return err_set(err, -EPERM, "%s was replaced meanwhile", b->target);
	return target_facts(b, &st, err);
}

/* ---- the job ---- */

/* Both ops in turn, every third stream sequential through one cursor of its op. One stream and both ops make two. */
static void make_access(struct bench *b)
{
	struct access *a = &b->acc;
	bool both = b->read_pct > 0 && b->read_pct < 100;
	unsigned n = both && b->streams < 2 ? 2 : (unsigned)b->streams;
	unsigned count[IO_OPS] = { both ? (n + 1) / 2 : n, both ? n / 2 : n };

	*a = (struct access){ .name = "bench", .n_streams = n, .regions = 1 };
	for (unsigned i = 0; i < n; i++) {
		uint8_t op = both ? i % 2 : b->read_pct > 0 ? IO_READ : IO_WRITE;
		bool seq = n > 2 && i % 3 == 2;
		a->stream[i] = (struct stream){
			.share = (op == IO_READ ? b->read_pct : 100 - b->read_pct) / count[op],
			.bytes = (uint32_t)b->block,
			.op = op,
			.order = seq ? IO_SEQ : IO_RND,
			.cursor = seq ? op : CURSOR_NONE
		};
	}
}

static double us_between(struct timeval from, struct timeval to)
{
	return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_usec - from.tv_usec);
}

static void take_cpu(struct bench *b)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	b->user_us = us_between(b->before.ru_utime, now.ru_utime);
	b->sys_us = us_between(b->before.ru_stime, now.ru_stime);
}

static int sealed(void *arg, unsigned k, const struct result *r)
{
	struct bench *b = arg;

	take_cpu(b);
	b->r = *r;
	for (int op = 0; op < IO_OPS; op++) {
		b->ios_done += r->op[op].ios;
		b->bytes_done += r->op[op].bytes;
		if (r->op[op].service)
			hist_merge(b->lat, r->op[op].service);
	}
	return 0;
}

static int run(struct bench *b, struct engine **ret, struct err *err)
{
	_Atomic uint64_t cursor[CURSORS] = { 0 };
	struct segment s = { .acc = &b->acc,
			     .threads = (unsigned)b->threads,
			     .qd = (unsigned)b->qd,
			     .stop = { .time_ns = b->time_ns, .ios = b->ios },
			     .seed = b->seed };
	struct job j = { .seg = &s,
			 .n = 1,
			 .range = { .bytes = b->t.capacity_bytes },
			 .cursor = cursor,
			 .n_cursors = CURSORS,
			 .sealed = sealed,
			 .arg = b };
	int rc = engine_open(&b->t, ret, err);

	getrusage(RUSAGE_SELF, &b->before);
	return rc ? rc : engine_run(*ret, &j, err);
}

/* ---- what came out ---- */

static double iops(const struct bench *b)
{
	return b->r.elapsed_ns ? (double)b->ios_done * 1e9 / (double)b->r.elapsed_ns : 0;
}

static void put_ns(struct json *j, const char *key, const struct bench *b, uint32_t ppm)
{
	uint64_t ns;

	if (hist_percentile(b->lat, ppm, &ns))
		json_uint(j, key, ns);
	else
		json_null(j, key);
}

static void print_json(const struct bench *b, const struct engine *e)
{
	struct buf out = BUF_INIT;
	struct json j = JSON_INIT(&out);
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	json_object(&j, NULL);
	json_str(&j, "schema", "pts.bench-engine/1");
	json_uint(&j, "ios", b->ios_done);
	json_num(&j, "iops", iops(b));
	json_uint(&j, "elapsed_ns", b->r.elapsed_ns);
	json_uint(&j, "bytes", b->bytes_done);
	put_ns(&j, "lat_p50_ns", b, P50);
	put_ns(&j, "lat_p99_ns", b, P99);
	double ios = b->ios_done ? (double)b->ios_done : NAN;
	json_num(&j, "cpu_us_per_io", (b->user_us + b->sys_us) / ios);
	json_num(&j, "cpu_sys_us_per_io", b->sys_us / ios);
	json_num(&j, "inflight_avg", b->r.inflight_avg);
	json_uint(&j, "rss_bytes", (uint64_t)u.ru_maxrss * 1024);
	json_str(&j, "engine", engine_text(e));
	json_str(&j, "note", b->r.note);
	json_end_object(&j);
	printf("%s\n", buf_cstr(&out));
	buf_release(&out);
}

static void print_text(const struct bench *b, const struct engine *e)
{
	uint64_t p50 = 0, p99 = 0;

	printf("%s\n%llu IOs in %.3f s: %.0f IOPS, %.3f us of CPU an IO, %.2f in flight\n",
	       engine_text(e), (unsigned long long)b->ios_done, (double)b->r.elapsed_ns / 1e9,
	       iops(b), b->ios_done ? (b->user_us + b->sys_us) / (double)b->ios_done : 0,
	       b->r.inflight_avg);
	if (hist_percentile(b->lat, P50, &p50) && hist_percentile(b->lat, P99, &p99))
		printf("latency p50 %llu ns, p99 %llu ns\n", (unsigned long long)p50,
		       (unsigned long long)p99);
	if (b->r.note[0])
		printf("%s\n", b->r.note);
}

static int help(void)
{
	fputs(usage_text, stdout);
	return fflush(stdout) || ferror(stdout) ? 3 : 0;
}

static int bench_engine(int argc, char **argv)
{
	static char program[] = "pts-bench";
	struct bench b = { .qd = 32,
			   .threads = 1,
			   .streams = 1,
			   .block = 4096,
			   .seed = 1,
			   .read_pct = -1,
			   .t = { .fd = -1 } };
	struct err err = { "" };
	struct engine *e = NULL;

	argv[0] = program; /* what getopt_long() begins its messages with */
	if (parse(&b, argc, argv))
		return 2;
	if (b.help)
		return help();
	b.lat = hist_new();
	make_access(&b);
	int rc = open_target(&b, &err);
	if (rc)
		rc = 2;
	else if (run(&b, &e, &err))
		rc = 3;
	else if (b.json)
		print_json(&b, e);
	else
		print_text(&b, e);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = err_set(&err, -EIO, "cannot write the result") ? 3 : 0;
	if (rc)
		fprintf(stderr, "pts-bench: %s\n", err.msg);
	engine_close(e);
	if (b.t.fd >= 0)
		close(b.t.fd);
	free(b.lat);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "engine"))
		return bench_engine(argc - 1, argv + 1);
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return help();
	fputs(usage_text, stderr);
	return 2;
}
