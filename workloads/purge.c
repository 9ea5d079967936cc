/* SPDX-License-Identifier: MIT */
/*
 * Purge of block devices and files, with proof: before it, blocks all over the drive are marked; after it, none of the marks
 * may be readable. A method that answers ok and keeps the data is found out so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "workloads/data.h"
#include "workloads/dut_real.h"

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

static int look(const struct dut_real *r, struct canaries *c, uint64_t *ret_survivors,
		struct err *err)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct canary y = canary_of(c, c->lba[i]);
		ssize_t n = pread(r->fd, c->block, c->bytes, (off_t)(y.lba * c->bytes));
		if (n != (ssize_t)c->bytes)
			return err_set(err, n < 0 ? -errno : -EIO,
				       "%s: reading block %llu back after the purge: %s",
				       r->d.info.path, (unsigned long long)y.lba,
				       n < 0 ? strerror(errno) : "short");
		found += !memcmp(c->block, &y, sizeof y);
	}
	*ret_survivors = found;
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
	rc = p->method == PURGE_PUNCH ? punch(r, p, err) : discard(r, p, err);
	p->elapsed_ns = clock_mono_ns() - p->started_ns;
	return rc;
}

int purge_real(struct dut_real *r, enum purge_method m, struct purge_report *ret, struct err *err)
{
	struct purge_report p = { .method = m == PURGE_AUTO ? r->d.info.purge_auto : m };
	struct canaries c = { .n = 0 };
	int rc = 0;

	if (r->fd < 0)
		return err_set(err, -EBADF, "%s was not opened for a purge", r->d.info.name);
	if (!(r->d.info.purge_methods & 1u << p.method))
		return err_set(err, -EOPNOTSUPP, "%s: purge by %s is not possible here",
			       r->d.info.path, purge_method_name(p.method));
	rc = canaries_init(&c, r, err);
	if (!rc)
		rc = mark(r, &c, err);
	if (!rc) /* a drive that drops what it is given proves nothing */
		rc = look(r, &c, &p.canaries, err);
	if (!rc)
		rc = erase(r, &p, err);
	if (!rc)
		rc = look(r, &c, &p.survivors, err);
	free(c.block);
	if (rc)
		return rc;
	p.verified = !p.survivors && p.canaries == c.n;
	*ret = p;
	if (p.survivors)
		return err_set(err, -EBADE,
			       "%s: purge NOT VERIFIED: %s answered ok, but %llu of %llu marked "
			       "blocks are still readable",
			       r->d.info.path, purge_method_name(p.method),
			       (unsigned long long)p.survivors, (unsigned long long)p.canaries);
	return 0;
}
