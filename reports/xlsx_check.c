/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "pts/base/buf.h"
#include "reports/xlsx_check.h"

#define FILE_MAX ((size_t)1 << 31)
#define CENTRAL 0x02014b50u
#define END 0x06054b50u
#define END_LEN 22u

struct part { /* an entry of the zip's central directory */
	char name[128];
	uint32_t crc, packed, size, at;
	unsigned method;
};

static uint32_t get(const struct buf *b, size_t at, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes && at + i < b->len; i++)
		v |= (uint32_t)(unsigned char)b->s[at + i] << (8 * i);
	return v;
}

static char *inflated(const struct buf *b, const struct part *p)
{
	size_t data = p->at + 30 + get(b, p->at + 26, 2) + get(b, p->at + 28, 2);
	char *out = malloc((size_t)p->size + 1);
	z_stream z = { 0 };

	BUG_ON(!out);
	out[p->size] = 0;
	if (data + p->packed > b->len || (p->method != 0 && p->method != 8))
		goto bad;
	if (p->method == 0) {
		memcpy(out, b->s + data, p->size);
		return out;
	}
	z.next_in = (Bytef *)(b->s + data);
	z.avail_in = p->packed;
	z.next_out = (Bytef *)out;
	z.avail_out = p->size;
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		goto bad;
	int rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (rc == Z_STREAM_END && z.total_out == p->size)
		return out;
bad:
	free(out);
	return NULL;
}

/* The text ends with the end tag of its first element, or that element is empty. */
static int root_closed(const char *xml)
{
	const char *root = xml;
	char tag[80];

	do {
		root = strchr(root, '<');
		if (!root || !*++root)
			return 0;
	} while (*root == '?' || *root == '!');
	int n = snprintf(tag, sizeof tag, "</%.*s>", (int)strcspn(root, " />\n"), root);
	size_t len = strlen(xml);
	while (len && (xml[len - 1] == '\n' || xml[len - 1] == ' '))
		len--;
	if (len >= (size_t)n && !memcmp(xml + len - n, tag, (size_t)n))
		return 1;
	return len > 2 && !memcmp(xml + len - 2, "/>", 2) && !strchr(root, '<');
}

/* The row number at the end of "A1:AJ8707". */
static unsigned long row_of(const char *ref)
{
	const char *end = ref + strcspn(ref, "\"");

	while (end > ref && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return strtoul(end, NULL, 10);
}

/*
 * The last row is the one that the sheet's head tells. Rows that the library writes one by one go through a file of their
 * own, and where that is cut off it goes on without a word.
 */
static int rows_there(const char *xml, size_t len)
{
	static const char head[] = "<dimension ref=\"", row[] = "<row r=\"";
	const char *ref = strstr(xml, head), *at = xml + len;

	if (!ref)
		return 0;
	ref += sizeof head - 1;
	while ((at = memrchr(xml, '<', (size_t)(at - xml))))
		if (!strncmp(at, row, sizeof row - 1))
			return strtoul(at + sizeof row - 1, NULL, 10) == row_of(ref);
	return !strncmp(ref, "A1\"", 3);
}

static int check_part(const struct buf *b, const struct part *p, struct err *err)
{
	char *text = inflated(b, p);
	const char *dot = strrchr(p->name, '.');
	int rc = 0;

	if (!text || crc32(0, (const Bytef *)text, p->size) != p->crc)
		rc = err_set(err, -EIO, "the workbook's part %s was written wrongly", p->name);
	else if (dot && (!strcmp(dot, ".xml") || !strcmp(dot, ".rels")) && !root_closed(text))
		rc = err_set(err, -EIO,
			     "the workbook's part %s is cut off: no space for temporary files?",
			     p->name);
	else if (!strncmp(p->name, "xl/worksheets/sheet", 19) && !rows_there(text, p->size))
		rc = err_set(err, -EIO,
			     "rows of the workbook's part %s are missing: no space for temporary"
			     " files?",
			     p->name);
	free(text);
	return rc;
}

static int check_all(const struct buf *b, size_t end, struct err *err)
{
	size_t at = get(b, end + 16, 4);
	unsigned n = get(b, end + 10, 2);

	for (unsigned i = 0; i < n; i++) {
		unsigned name = get(b, at + 28, 2);
		struct part p = { .method = get(b, at + 10, 2),
				  .crc = get(b, at + 16, 4),
				  .packed = get(b, at + 20, 4),
				  .size = get(b, at + 24, 4),
				  .at = get(b, at + 42, 4) };
		if (get(b, at, 4) != CENTRAL || at + 46 + name > b->len)
			return err_set(err, -EIO, "the workbook's directory is damaged");
		snprintf(p.name, sizeof p.name, "%.*s", (int)name, b->s + at + 46);
		int rc = check_part(b, &p, err);
		if (rc)
			return rc;
		at += 46 + name + get(b, at + 30, 2) + get(b, at + 32, 2);
	}
	return 0;
}

int xlsx_check(const char *path, struct err *err)
{
	struct buf b = BUF_INIT;
	int rc = buf_read_file(&b, path, FILE_MAX);

	if (rc)
		rc = err_set(err, rc, "cannot read back %s: %s", path, strerror(-rc));
	else if (b.len < END_LEN || get(&b, b.len - END_LEN, 4) != END)
		rc = err_set(err, -EIO, "the workbook is cut off");
	else
		rc = check_all(&b, b.len - END_LEN, err);
	buf_release(&b);
	return rc;
}
