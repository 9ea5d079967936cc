/* SPDX-License-Identifier: MIT */
/* gzip, xz and zstd by the usual libraries, several members or frames one after the other as their own tools take them. */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "replay/unpack.h"

/* An xz stream may ask for this much; xz -9 needs 65 MiB. */
#define XZ_MEMORY_BYTES ((uint64_t)128 << 20)
#define ZSTD_WINDOW_LOG 27 /* 128 MiB, zstd's own limit unless told otherwise */

enum packing { PACK_GZIP, PACK_XZ, PACK_ZSTD };

struct unpack {
	enum packing kind;
	int between; /* a member or frame has just ended: the end of the input is a clean one here */
	z_stream z;
	lzma_stream xz;
	ZSTD_DStream *zstd;
};

static int start_gzip(struct unpack *u, struct err *err)
{
	if (inflateInit2(&u->z, 15 + 16) != Z_OK)
		return err_set(err, -ENOMEM, "no memory to unpack gzip");
	return 0;
}

static int start_xz(struct unpack *u, struct err *err)
{
	u->xz = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&u->xz, XZ_MEMORY_BYTES, LZMA_CONCATENATED) != LZMA_OK)
		return err_set(err, -ENOMEM, "no memory to unpack xz");
	return 0;
}

static int start_zstd(struct unpack *u, struct err *err)
{
	u->zstd = ZSTD_createDStream();
	if (!u->zstd ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
		return err_set(err, -ENOMEM, "no memory to unpack zstd");
	return 0;
}

static const struct packing_row {
	const char *magic;
	size_t n;
	const char *refuse; /* what to do instead; NULL = it can be unpacked */
	enum packing kind;
	int (*start)(struct unpack *u, struct err *err);
} packings[] = {
	{ "\x1f\x8b", 2, NULL, PACK_GZIP, start_gzip },
	{ "\xfd"
	  "7zXZ\0",
	  6, NULL, PACK_XZ, start_xz },
	{ "\x28\xb5\x2f\xfd", 4, NULL, PACK_ZSTD, start_zstd },
	{ "BZh", 3, "a bzip2 file: unpack it first (bunzip2)", PACK_GZIP, NULL },
	{ "PK\x03\x04", 4, "a zip archive: unpack it first (unzip)", PACK_GZIP, NULL },
};

int unpack_open(const unsigned char *head, size_t n, struct unpack **ret_unpack, struct err *err)
{
	*ret_unpack = NULL;
	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		const struct packing_row *p = &packings[i];
		struct unpack *u;
		int rc;

		if (n < p->n || memcmp(head, p->magic, p->n) != 0)
			continue;
		if (p->refuse)
			return err_set(err, -EINVAL, "%s", p->refuse);
		u = calloc(1, sizeof(*u));
		if (!u)
			return err_set(err, -ENOMEM, "no memory to unpack");
		u->kind = p->kind;
		rc = p->start(u, err);
		if (rc) {
			unpack_close(u);
			return rc;
		}
		*ret_unpack = u;
		return 0;
	}
	return 0;
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	if (u->kind == PACK_GZIP)
		inflateEnd(&u->z);
	else if (u->kind == PACK_XZ)
		lzma_end(&u->xz);
	else
		ZSTD_freeDStream(u->zstd);
	free(u);
}

static int step_gzip(struct unpack *u, struct unpack_io *io, int end, struct err *err)
{
	int rc;

	if (u->between) { /* zeros that pad a tape are not a member */
		while (io->in_n && *io->in == 0)
			io->in++, io->in_n--;
		if (io->in_n == 0)
			return end;
		if (inflateReset(&u->z) != Z_OK)
			return err_set(err, -EINVAL, "damaged gzip data");
		u->between = 0;
	}
	u->z.next_in = (Bytef *)(uintptr_t)io->in;
	u->z.avail_in = io->in_n;
	u->z.next_out = io->out;
	u->z.avail_out = io->out_n;
	rc = inflate(&u->z, Z_NO_FLUSH);
	io->in += io->in_n - u->z.avail_in;
	io->in_n = u->z.avail_in;
	io->out += io->out_n - u->z.avail_out;
	io->out_n = u->z.avail_out;
	if (rc == Z_STREAM_END)
		u->between = 1;
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		return err_set(err, -EINVAL, "damaged gzip data (%s)", u->z.msg ? u->z.msg : "?");
	else if (end && io->in_n == 0 && io->out_n)
		return err_set(err, -EINVAL, "the gzip data are cut short");
	return end && u->between && io->in_n == 0;
}

static int step_xz(struct unpack *u, struct unpack_io *io, int end, struct err *err)
{
	lzma_ret rc;

	u->xz.next_in = io->in;
	u->xz.avail_in = io->in_n;
	u->xz.next_out = io->out;
	u->xz.avail_out = io->out_n;
	rc = lzma_code(&u->xz, end ? LZMA_FINISH : LZMA_RUN);
	io->in = u->xz.next_in;
	io->in_n = u->xz.avail_in;
	io->out = u->xz.next_out;
	io->out_n = u->xz.avail_out;
	if (rc == LZMA_STREAM_END)
		return 1;
	if (rc == LZMA_BUF_ERROR && end && io->out_n)
		return err_set(err, -EINVAL, "the xz data are cut short");
	if (rc == LZMA_MEMLIMIT_ERROR)
		return err_set(err, -EINVAL, "the xz data ask for more than %llu MiB of memory",
			       (unsigned long long)(XZ_MEMORY_BYTES >> 20));
	if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
		return err_set(err, -EINVAL, "damaged xz data");
	return 0;
}

static int step_zstd(struct unpack *u, struct unpack_io *io, int end, struct err *err)
{
	ZSTD_inBuffer in = { io->in, io->in_n, 0 };
	ZSTD_outBuffer out = { io->out, io->out_n, 0 };
	size_t rc;

	if (u->between && io->in_n == 0)
		return end;
	rc = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_isError(rc))
		return err_set(err, -EINVAL, "damaged zstd data (%s)", ZSTD_getErrorName(rc));
	u->between = rc == 0;
	io->in += in.pos;
	io->in_n -= in.pos;
	io->out += out.pos;
	io->out_n -= out.pos;
	if (end && io->in_n == 0 && rc != 0 && io->out_n)
		return err_set(err, -EINVAL, "the zstd data are cut short");
	return end && u->between && io->in_n == 0;
}

int unpack_step(struct unpack *u, struct unpack_io *io, int end, struct err *err)
{
	if (u->kind == PACK_GZIP)
		return step_gzip(u, io, end, err);
	if (u->kind == PACK_XZ)
		return step_xz(u, io, end, err);
	return step_zstd(u, io, end, err);
}
