/* SPDX-License-Identifier: MIT */
/*
 * ssdsim [OPTIONS] FILE: mounts on FILE, which must exist, a file that behaves in real time like a small SSD; put a loop device
 * over it. Data live in memory. The flash translation layer maps 4 KiB pages, collects garbage greedily when few blocks are free,
 * and every page read, program and block erase keeps one of the flash channels busy for its time. New or discarded it is fresh
 * out of the box; writes over its capacity take it through transition to steady state. SIGTERM ends it; what was written, and the
 * write amplification, go to standard error.
 */
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fuse_lowlevel.h>
#include <getopt.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#define PAGE 4096u
#define BLOCK_PAGES 64u
#define CHANNELS 8u
#define UNMAPPED UINT32_MAX
/* Garbage is collected below this many free blocks. */
#define RESERVE 4u
/* Blocks beside the user's and the over-provisioned ones: the reserve, the two open ones, and room to always find garbage. */
#define SPARE (RESERVE + 4u)
#define NSEC_PER_SEC 1000000000u

enum writer { HOST, COLLECTOR, NR_WRITERS };

struct block {
	uint32_t valid; /* pages that hold live data */
	uint32_t used; /* pages programmed since the last erase; they are used in order */
};

struct ssd {
	/* What it is: options. */
	uint64_t bytes;
	uint64_t spare_pct;
	uint64_t read_ns, program_ns, erase_ns;

	/* Flash translation layer; lock guards all below. */
	pthread_mutex_t lock;
	uint32_t pages, blocks;
	uint32_t *l2p, *p2l;
	struct block *block;
	uint32_t *free; /* a stack */
	uint32_t nr_free;
	uint32_t open[NR_WRITERS]; /* the block each writes to now */
	uint64_t busy_until_ns[CHANNELS];
	uint64_t host_pages, flash_pages;
	unsigned char *data;
};

static struct ssd ssd = {
	.bytes = 64u << 20,
	.spare_pct = 10,
	.read_ns = 60000,
	.program_ns = 200000,
	.erase_ns = 2000000,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Keeps a channel busy for ns after what it does already; returns when it is done. */
static uint64_t occupy(uint32_t channel, uint64_t ns)
{
	uint64_t *until = &ssd.busy_until_ns[channel];

	*until = later(*until, now_ns()) + ns;
	return *until;
}

static void page_drop(uint32_t lpn)
{
	uint32_t ppn = ssd.l2p[lpn];

	if (ppn == UNMAPPED)
		return;
	ssd.block[ppn / BLOCK_PAGES].valid--;
	ssd.p2l[ppn] = UNMAPPED;
	ssd.l2p[lpn] = UNMAPPED;
}

/* Maps a logical page, which must be unmapped, to the next page of the writer's block. */
static uint32_t page_place(uint32_t lpn, enum writer who)
{
	uint32_t *open = &ssd.open[who];
	struct block *b = &ssd.block[*open];
	uint32_t ppn;

	if (b->used == BLOCK_PAGES) {
		*open = ssd.free[--ssd.nr_free];
		b = &ssd.block[*open];
	}
	ppn = *open * BLOCK_PAGES + b->used++;
	b->valid++;
	ssd.l2p[lpn] = ppn;
	ssd.p2l[ppn] = lpn;
	ssd.flash_pages++;
	return ppn;
}

static bool is_open(uint32_t block)
{
	return block == ssd.open[HOST] || block == ssd.open[COLLECTOR];
}

static void block_erase(uint32_t block)
{
	ssd.block[block] = (struct block){ 0 };
	ssd.free[ssd.nr_free++] = block;
}

/* The full block with the fewest live pages. With SPARE blocks more than the user can fill, it always has a dead one. */
static uint32_t victim(void)
{
	uint32_t i, best = UNMAPPED;

	for (i = 0; i < ssd.blocks; i++) {
		if (is_open(i) || ssd.block[i].used < BLOCK_PAGES)
			continue;
		if (best == UNMAPPED || ssd.block[i].valid < ssd.block[best].valid)
			best = i;
	}
	return best;
}

/* Moves the live pages out of one block and erases it; all channels share the work, ahead of the host's next requests. */
static void collect_one(void)
{
	uint64_t cost_ns = ssd.erase_ns;
	uint32_t i, lpn, block = victim();

	for (i = 0; i < BLOCK_PAGES; i++) {
		lpn = ssd.p2l[block * BLOCK_PAGES + i];
		if (lpn == UNMAPPED)
			continue;
		page_drop(lpn);
		page_place(lpn, COLLECTOR);
		cost_ns += ssd.read_ns + ssd.program_ns;
	}
	block_erase(block);
	for (i = 0; i < CHANNELS; i++)
		occupy(i, cost_ns / CHANNELS);
}

/* The pages that a request touches; the last one is not among them. */
static uint32_t first_page(uint64_t off)
{
	return (uint32_t)(off / PAGE);
}

static uint32_t last_page(uint64_t off, uint64_t len)
{
	return (uint32_t)((off + len + PAGE - 1) / PAGE);
}

/* Both return when the flash is done with the request. */
static uint64_t flash_write(uint64_t off, uint64_t len)
{
	uint64_t done_ns = 0;
	uint32_t lpn, ppn;

	for (lpn = first_page(off); lpn < last_page(off, len); lpn++) {
		uint64_t page_off = (uint64_t)lpn * PAGE;
		bool whole = off <= page_off && off + len >= page_off + PAGE;

		/* Part of a page is read, changed and programmed anew. */
		if (!whole && ssd.l2p[lpn] != UNMAPPED)
			occupy(ssd.l2p[lpn] % CHANNELS, ssd.read_ns);
		page_drop(lpn);
		ppn = page_place(lpn, HOST);
		ssd.host_pages++;
		done_ns = later(done_ns, occupy(ppn % CHANNELS, ssd.program_ns));
		while (ssd.nr_free < RESERVE)
			collect_one();
	}
	return done_ns;
}

static uint64_t flash_read(uint64_t off, uint64_t len)
{
	uint64_t done_ns = now_ns();
	uint32_t lpn;

	/* What is not mapped is answered from the table alone. */
	for (lpn = first_page(off); lpn < last_page(off, len); lpn++) {
		if (ssd.l2p[lpn] != UNMAPPED)
			done_ns = later(done_ns, occupy(ssd.l2p[lpn] % CHANNELS, ssd.read_ns));
	}
	return done_ns;
}

/* Blocks left without a live page are erased in idle time, so that costs the host nothing. */
static void flash_discard(uint64_t off, uint64_t len)
{
	uint32_t i, lpn = last_page(off, 0);

	for (; lpn < first_page(off + len); lpn++)
		page_drop(lpn);
	for (i = 0; i < ssd.blocks; i++) {
		if (!is_open(i) && ssd.block[i].used > 0 && ssd.block[i].valid == 0)
			block_erase(i);
	}
}

/* ---- the file ---- */

static void file_init(void *user, struct fuse_conn_info *conn)
{
	(void)user;
	conn->max_background = 256;
	conn->congestion_threshold = 256;
	conn->want |= conn->capable & FUSE_CAP_ASYNC_DIO;
}

static void file_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = {
		.st_ino = 1,
		.st_mode = S_IFREG | 0600,
		.st_nlink = 1,
		.st_size = (off_t)ssd.bytes,
		.st_blocks = (blkcnt_t)(ssd.bytes / 512),
		.st_blksize = PAGE,
	};

	(void)ino;
	(void)fi;
	fuse_reply_attr(req, &st, 1.0);
}

static void file_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
			 struct fuse_file_info *fi)
{
	(void)st;
	(void)set;
	file_getattr(req, ino, fi);
}

static void file_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->direct_io = 1; /* no page cache: an SSD of the host's memory speed is no SSD */
	fuse_reply_open(req, fi);
}

static void file_read(fuse_req_t req, fuse_ino_t ino, size_t len, off_t off,
		      struct fuse_file_info *fi)
{
	uint64_t at = (uint64_t)off, done_ns;

	(void)ino;
	(void)fi;
	if (at >= ssd.bytes)
		len = 0;
	else if (len > ssd.bytes - at)
		len = ssd.bytes - at;
	pthread_mutex_lock(&ssd.lock);
	done_ns = flash_read(at, len);
	pthread_mutex_unlock(&ssd.lock);
	sleep_until(done_ns);
	/* Not under the lock: of a range that is written meanwhile a drive promises nothing either. */
	fuse_reply_buf(req, (const char *)ssd.data + (len ? at : 0), len);
}

static void file_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t len, off_t off,
		       struct fuse_file_info *fi)
{
	uint64_t at = (uint64_t)off, done_ns;

	(void)ino;
	(void)fi;
	if (at > ssd.bytes || len > ssd.bytes - at) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	pthread_mutex_lock(&ssd.lock);
	memcpy(ssd.data + at, buf, len);
	done_ns = flash_write(at, len);
	pthread_mutex_unlock(&ssd.lock);
	sleep_until(done_ns);
	fuse_reply_write(req, len);
}

static void file_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, 0);
}

/* Punching a hole and zeroing a range are what a loop device makes of a discard. */
static void file_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len,
			   struct fuse_file_info *fi)
{
	uint64_t at = (uint64_t)off, n = (uint64_t)len;

	(void)ino;
	(void)fi;
	if (!(mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))) {
		fuse_reply_err(req, mode & ~FALLOC_FL_KEEP_SIZE ? EOPNOTSUPP : 0);
		return;
	}
	if (at > ssd.bytes)
		at = ssd.bytes;
	if (n > ssd.bytes - at)
		n = ssd.bytes - at;
	pthread_mutex_lock(&ssd.lock);
	memset(ssd.data + at, 0, n);
	flash_discard(at, n);
	pthread_mutex_unlock(&ssd.lock);
	fuse_reply_err(req, 0);
}

static const struct fuse_lowlevel_ops file_ops = {
	.init = file_init,
	.getattr = file_getattr,
	.setattr = file_setattr,
	.open = file_open,
	.read = file_read,
	.write = file_write,
	.fsync = file_fsync,
	.fallocate = file_fallocate,
};

/* ---- the program ---- */

static const char usage[] =
	"usage: ssdsim [--size MIB] [--spare PCT] [--read NS] [--program NS] [--erase NS] FILE\n";

static int parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v < low || v > high) {
		fprintf(stderr, "ssdsim: '%s' is not a number in %llu..%llu\n", text,
			(unsigned long long)low, (unsigned long long)high);
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

static int parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "size", required_argument, NULL, 's' },
		{ "spare", required_argument, NULL, 'o' },
		{ "read", required_argument, NULL, 'r' },
		{ "program", required_argument, NULL, 'p' },
		{ "erase", required_argument, NULL, 'e' },
		{ 0 },
	};
	int opt, rc = 0;

	while (!rc && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's') {
			rc = parse_number(optarg, 1, 65536, &ssd.bytes);
			ssd.bytes <<= 20;
		} else if (opt == 'o') {
			rc = parse_number(optarg, 0, 400, &ssd.spare_pct);
		} else if (opt == 'r') {
			rc = parse_number(optarg, 0, NSEC_PER_SEC, &ssd.read_ns);
		} else if (opt == 'p') {
			rc = parse_number(optarg, 0, NSEC_PER_SEC, &ssd.program_ns);
		} else if (opt == 'e') {
			rc = parse_number(optarg, 0, NSEC_PER_SEC, &ssd.erase_ns);
		} else {
			rc = -EINVAL;
		}
	}
	if (!rc && optind + 1 != argc)
		rc = -EINVAL;
	if (rc)
		fputs(usage, stderr);
	return rc;
}

static int ssd_init(void)
{
	uint32_t i, flash_pages;

	ssd.pages = (uint32_t)(ssd.bytes / PAGE);
	ssd.blocks = (uint32_t)((uint64_t)ssd.pages * (100 + ssd.spare_pct) / 100 / BLOCK_PAGES) +
		     SPARE;
	flash_pages = ssd.blocks * BLOCK_PAGES;
	ssd.l2p = malloc(ssd.pages * sizeof(*ssd.l2p));
	ssd.p2l = malloc(flash_pages * sizeof(*ssd.p2l));
	ssd.block = calloc(ssd.blocks, sizeof(*ssd.block));
	ssd.free = malloc(ssd.blocks * sizeof(*ssd.free));
	ssd.data = mmap(NULL, ssd.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (!ssd.l2p || !ssd.p2l || !ssd.block || !ssd.free || ssd.data == MAP_FAILED) {
		fputs("ssdsim: out of memory\n", stderr);
		return -ENOMEM;
	}
	for (i = 0; i < ssd.pages; i++)
		ssd.l2p[i] = UNMAPPED;
	for (i = 0; i < flash_pages; i++)
		ssd.p2l[i] = UNMAPPED;
	for (i = 0; i < ssd.blocks; i++)
		ssd.free[i] = i;
	ssd.nr_free = ssd.blocks;
	ssd.open[HOST] = ssd.free[--ssd.nr_free];
	ssd.open[COLLECTOR] = ssd.free[--ssd.nr_free];
	return 0;
}

static void ssd_release(void)
{
	munmap(ssd.data, ssd.bytes);
	free(ssd.free);
	free(ssd.block);
	free(ssd.p2l);
	free(ssd.l2p);
}

/* A request sleeps in the thread that took it, so there must be as many threads as the loop device has requests in flight. */
static int serve(struct fuse_session *session)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int rc;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_clone_fd(config, 1);
	fuse_loop_cfg_set_max_threads(config, 128);
	fuse_loop_cfg_set_idle_threads(config, 128);
	rc = fuse_session_loop_mt(session, config);
	fuse_loop_cfg_destroy(config);
	return rc < 0 ? rc : 0; /* above 0: the signal that ended it */
}

static int mount_and_serve(char *program, const char *file)
{
	char o[] = "-o", name[] = "fsname=ssdsim,nodev,nosuid";
	char *argv[] = { program, o, name, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *session = fuse_session_new(&args, &file_ops, sizeof(file_ops), NULL);
	int rc = -EIO;

	if (!session)
		return rc;
	if (fuse_set_signal_handlers(session))
		goto out;
	if (fuse_session_mount(session, file))
		goto out_signals;
	rc = serve(session);
	fuse_session_unmount(session);
out_signals:
	fuse_remove_signal_handlers(session);
out:
	fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	return rc;
}

int main(int argc, char **argv)
{
	int rc;

	if (parse_options(argc, argv))
		return 2;
	if (ssd_init())
		return 1;
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul,
	      0ul); /* the threads inherit it; 50 us are much beside one page read */
	rc = mount_and_serve(argv[0], argv[optind]);
	fprintf(stderr, "ssdsim: %llu pages written, %llu programmed, write amplification %.2f\n",
		(unsigned long long)ssd.host_pages, (unsigned long long)ssd.flash_pages,
		ssd.host_pages ? (double)ssd.flash_pages / (double)ssd.host_pages : 0.0);
	ssd_release();
	return rc ? 1 : 0;
}
