/* SPDX-License-Identifier: MIT */
/*
 * Purge of block devices and files, with proof: before it, blocks all over the drive are marked; after it, none of the marks
 * may be readable. A method that answers ok and keeps the data is found out so.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "workloads/data.h"
#include "workloads/dut_real.h"
#include "workloads/purge_marks.h"

#define CANARIES 1024 /* random ones; the first and the last block besides */
#define CHUNK_BYTES ((uint64_t)16 << 30) /* between two looks at the stop flag */

struct canary { /* at the head of a marked block */
	char magic[16];
	uint64_t nonce[2]; /* of this purge: an older mark is no survivor */
	uint64_t lba;
};

struct canaries {
	uint64_t lba[CANARIES + 2];
	unsigned n;
	uint64_t nonce[2];
	uint32_t bytes; /* of a block */
	char *block;
};

static int compare_lba(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* First, last and random ones, each once, in rising order; all blocks of a very small target. */
static void choose(struct canaries *c, uint64_t blocks)
{
	struct rng rng;
	unsigned n = 0;

	rng_init(&rng, c->nonce[0]);
	c->lba[n++] = 0;
	if (blocks > 1)
		c->lba[n++] = blocks - 1;
	while (n < CANARIES + 2 && n < blocks) {
		unsigned keep = 1;

		for (; n < CANARIES + 2 && n < blocks; n++)
			c->lba[n] = blocks <= CANARIES + 2 ? n - 1 : rng_below(&rng, blocks);
		qsort(c->lba, n, sizeof c->lba[0], compare_lba);
		for (unsigned i = 1; i < n; i++)
			if (c->lba[i] != c->lba[keep - 1])
				c->lba[keep++] = c->lba[i];
		n = keep;
	}
	c->n = n;
}

static int canaries_init(struct canaries *c, const struct dut_real *r, struct err *err)
{
	c->bytes = r->d.info.lba_bytes;
	c->block = aligned_alloc(4096, c->bytes > 4096 ? c->bytes : 4096);
	if (!c->block)
		return err_set(err, -ENOMEM, "no memory");
	if (getrandom(c->nonce, sizeof c->nonce, 0) != sizeof c->nonce)
		return err_set(err, -EIO, "getrandom: %s", strerror(errno));
	choose(c, r->d.info.capacity_bytes / c->bytes);
	return 0;
}

static struct canary canary_of(const struct canaries *c, uint64_t lba)
{
	struct canary y = { .magic = "pts purge canary",
			    .nonce = { c->nonce[0], c->nonce[1] },
			    .lba = lba };

	return y;
}

static bool stopped(const struct dut_real *r)
{
	return r->d.stop && *r->d.stop;
}

static int mark(const struct dut_real *r, struct canaries *c, struct err *err)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct canary y = canary_of(c, c->lba[i]);
		data_fill(c->block, c->bytes, rng_seed(c->nonce[0], c->nonce[1], y.lba, 0));
		memcpy(c->block, &y, sizeof y);
		ssize_t n = pwrite(r->fd, c->block, c->bytes, (off_t)(y.lba * c->bytes));
		if (n != (ssize_t)c->bytes)
			return err_set(err, n < 0 ? -errno : -EIO,
				       "%s: marking block %llu before the purge: %s",
				       r->d.info.path, (unsigned long long)y.lba,
				       n < 0 ? strerror(errno) : "short");
		if (stopped(r))
			return err_set(err, -EINTR, "interrupted");
	}
	/* Out of any volatile cache: what is not on the medium cannot prove its erasure. */
	if (fdatasync(r->fd))
		return err_set(err, -errno, "%s: flush: %s", r->d.info.path, strerror(errno));
	return 0;
}

/* @when: "before" or "after", for the message. */
static int look(const struct dut_real *r, struct canaries *c, const char *when, uint64_t *ret_found,
		struct err *err)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct canary y = canary_of(c, c->lba[i]);
		ssize_t n = pread(r->fd, c->block, c->bytes, (off_t)(y.lba * c->bytes));
		if (n != (ssize_t)c->bytes)
			return err_set(err, n < 0 ? -errno : -EIO,
				       "%s: reading block %llu back %s the purge: %s",
				       r->d.info.path, (unsigned long long)y.lba, when,
				       n < 0 ? strerror(errno) : "short");
		found += !memcmp(c->block, &y, sizeof y);
	}
	*ret_found = found;
	return 0;
}

/* ---- erasing ---- */

static int discard(struct dut_real *r, struct purge_report *p, struct err *err)
{
	uint64_t size = r->d.info.capacity_bytes;

	for (uint64_t at = 0; at < size; at += CHUNK_BYTES) {
		uint64_t range[2] = { at, size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES };
		if (stopped(r))
			return err_set(err, -EINTR, "interrupted");
		if (ioctl(r->fd, BLKDISCARD, range))
			return err_set(err, errno == EOPNOTSUPP ? -EOPNOTSUPP : -errno,
				       "%s: BLKDISCARD: %s", r->d.info.path, strerror(errno));
	}
	snprintf(p->detail, sizeof p->detail, "BLKDISCARD over %llu bytes",
		 (unsigned long long)size);
	return 0;
}

static int cut_and_grow(struct dut_real *r, struct purge_report *p, struct err *err)
{
	if (ftruncate(r->fd, 0) || ftruncate(r->fd, (off_t)r->d.info.capacity_bytes))
		return err_set(err, -errno, "%s: ftruncate: %s", r->d.info.path, strerror(errno));
	snprintf(p->detail, sizeof p->detail, "ftruncate to 0 and back to %llu bytes",
		 (unsigned long long)r->d.info.capacity_bytes);
	return 0;
}

static int punch(struct dut_real *r, struct purge_report *p, struct err *err)
{
	uint64_t size = r->d.info.capacity_bytes;

	for (uint64_t at = 0; at < size; at += CHUNK_BYTES) {
		uint64_t n = size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES;
		if (stopped(r))
			return err_set(err, -EINTR, "interrupted");
		if (!fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
			       (off_t)n))
			continue;
		if (errno == EOPNOTSUPP)
			return cut_and_grow(r, p, err);
		return err_set(err, -errno, "%s: punching a hole: %s", r->d.info.path,
			       strerror(errno));
	}
	snprintf(p->detail, sizeof p->detail, "hole punched over %llu bytes",
		 (unsigned long long)size);
	return 0;
}

static int erase(struct dut_real *r, struct purge_report *p, struct err *err)
{
	int rc;

	p->started_ns = clock_mono_ns();
	switch (p->method) {
	case PURGE_PUNCH:
		rc = punch(r, p, err);
		break;
	case PURGE_BLKDISCARD:
		rc = discard(r, p, err);
		break;
	default:
		rc = commands_purge(r, p->method, p->detail, err);
	}
	p->elapsed_ns = clock_mono_ns() - p->started_ns;
	return rc;
}

static bool has_partitions(const struct dut_real *r)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *d = NULL;

	if (!fstat(r->fd, &st)) {
		snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(st.st_rdev),
			 minor(st.st_rdev));
		d = opendir(path);
	}
	while (d && !found && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "%s/partition", e->d_name);
		found = !faccessat(dirfd(d), path, F_OK, 0);
	}
	if (d)
		closedir(d);
	return found;
}

/* The kernel goes on to show partitions whose table was erased, until it looks again. That it may not is no fault of the purge. */
static void forget_partitions(const struct dut_real *r)
{
	if (r->d.info.kind == DUT_BLOCK && r->d.info.formal && has_partitions(r) &&
	    ioctl(r->fd, BLKRRPART)) {
	}
}

/* A drive that was taken out answers as it likes: writes end with "no space left", reads with no bytes. */
static int if_gone(const struct dut_real *r, int rc, struct err *err)
{
	uint64_t bytes = 0;

	if (!rc || rc == -EINTR || rc == -ETIMEDOUT || rc == -ENODEV ||
	    r->d.info.kind != DUT_BLOCK || (!ioctl(r->fd, BLKGETSIZE64, &bytes) && bytes))
		return rc;
	return err_prefix(err, -ENODEV, "%s is gone", r->d.info.path);
}

int purge_real(struct dut_real *r, enum purge_method m, struct purge_report *ret, struct err *err)
{
	struct purge_report p = { .method = m == PURGE_AUTO ? r->d.info.purge_auto : m };
	struct canaries c = { .n = 0 };
	int rc = 0;

	if (r->fd < 0)
		return err_set(err, -EBADF, "%s was not opened for a purge", r->d.info.name);
	if (r->lost[0])
		return err_set(err, -EIO, "%s: no purge after one that left it like this: %s",
			       r->d.info.path, r->lost);
	if (!(r->d.info.purge_methods & 1u << p.method))
		return err_set(err, -EOPNOTSUPP, "%s: purge by %s is not possible here",
			       r->d.info.path, purge_method_name(p.method));
	rc = commands_ready(r, p.method, err);
	if (!rc)
		rc = canaries_init(&c, r, err);
	if (!rc)
		rc = mark(r, &c, err);
	if (!rc) /* a drive that drops what it is given proves nothing */
		rc = look(r, &c, "before", &p.canaries, err);
	if (!rc)
		rc = erase(r, &p, err);
	if (!rc) /* after a failure nothing is read: what the drive does then may not be known */
		rc = look(r, &c, "after", &p.survivors, err);
	free(c.block);
	ret->canaries = p.canaries;
	ret->elapsed_ns = p.elapsed_ns;
	if (rc)
		return if_gone(r, rc, err);
	p.verified = !p.survivors && p.canaries == c.n;
	if (p.verified)
		forget_partitions(r);
	*ret = p;
	if (p.survivors)
		return err_set(err, -EBADE,
			       "%s: purge NOT VERIFIED: %s answered ok, but %llu of %llu marked "
			       "blocks are still readable",
			       r->d.info.path, purge_method_name(p.method),
			       (unsigned long long)p.survivors, (unsigned long long)p.canaries);
	return 0;
}

/* ---- a purge by somebody else ---- */

struct purge_marks {
	struct canaries c;
	uint64_t set; /* of these, readable before */
};

static int real_of_marks(struct dut *d, struct dut_real **ret, struct err *err)
{
	bool real = d->info.kind == DUT_FILE || d->info.kind == DUT_BLOCK;

	*ret = real ? (struct dut_real *)d : NULL; /* d is its first member */
	return real && (*ret)->fd >= 0
		       ? 0
		       : err_set(err, -EBADF, "%s was not opened for a purge", d->info.name);
}

int purge_marks_set(struct dut *d, struct purge_marks **ret, struct err *err)
{
	struct purge_marks *m;
	struct dut_real *r;
	int rc = real_of_marks(d, &r, err);

	if (rc)
		return rc;
	m = calloc(1, sizeof *m);
	BUG_ON(!m);
	rc = canaries_init(&m->c, r, err);
	if (!rc)
		rc = mark(r, &m->c, err);
	if (!rc)
		rc = look(r, &m->c, "before", &m->set, err);
	rc = if_gone(r, rc, err);
	if (rc) {
		purge_marks_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}

int purge_marks_look(struct dut *d, struct purge_marks *m, struct purge_report *ret,
		     struct err *err)
{
	struct dut_real *r;
	int rc = real_of_marks(d, &r, err);

	if (rc)
		return rc;
	rc = look(r, &m->c, "after", &ret->survivors, err);
	if (rc)
		return if_gone(r, rc, err);
	ret->canaries = m->set;
	ret->verified = !ret->survivors && m->set == m->c.n;
	if (ret->survivors)
		return err_set(
			err, -EBADE,
			"%s: purge NOT VERIFIED: %llu of %llu marked blocks are still readable",
			r->d.info.path, (unsigned long long)ret->survivors,
			(unsigned long long)m->set);
	return 0;
}

void purge_marks_free(struct purge_marks *m)
{
	if (m)
		free(m->c.block);
	free(m);
}
