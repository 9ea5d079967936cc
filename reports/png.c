/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "pts/base/err.h"
#include "reports/canvas.h"

static void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static void add_chunk(struct buf *out, const char *type, const uint8_t *data, size_t len)
{
	uint8_t word[4];
	uLong crc = crc32(0, (const Bytef *)type, 4);

	if (len)
		crc = crc32(crc, data, (uInt)len);
	put32(word, (uint32_t)len);
	buf_add(out, (const char *)word, 4);
	buf_add(out, type, 4);
	buf_add(out, (const char *)data, len);
	put32(word, (uint32_t)crc);
	buf_add(out, (const char *)word, 4);
}

/* Rows as they are (filter 0): flat colours pack better so than as differences. */
static uint8_t *filtered(const struct canvas *c, size_t *ret_len)
{
	size_t row = (size_t)c->width * 3;
	uint8_t *raw = malloc((row + 1) * c->height);

	BUG_ON(!raw);
	for (unsigned y = 0; y < c->height; y++) {
		raw[y * (row + 1)] = 0;
		memcpy(raw + y * (row + 1) + 1, c->rgb + y * row, row);
	}
	*ret_len = (row + 1) * c->height;
	return raw;
}

void canvas_png(const struct canvas *c, unsigned dpi, struct buf *out)
{
	uint8_t head[13] = { 0 }, phys[9];
	size_t len;
	uint8_t *raw = filtered(c, &len);
	uLongf packed = compressBound(len);
	uint8_t *z = malloc(packed);

	/* Half the time of level 6 for a tenth more bytes. */
	BUG_ON(!z || compress2(z, &packed, raw, len, 3) != Z_OK);
	put32(head, c->width);
	put32(head + 4, c->height);
	head[8] = 8; /* bits */
	head[9] = 2; /* RGB */
	put32(phys, (uint32_t)(dpi / 0.0254 + 0.5)); /* pixels per metre */
	put32(phys + 4, (uint32_t)(dpi / 0.0254 + 0.5));
	phys[8] = 1;
	buf_add(out, "\x89PNG\r\n\x1a\n", 8);
	add_chunk(out, "IHDR", head, sizeof head);
	add_chunk(out, "pHYs", phys, sizeof phys);
	add_chunk(out, "IDAT", z, packed);
	add_chunk(out, "IEND", NULL, 0);
	free(raw);
	free(z);
}
