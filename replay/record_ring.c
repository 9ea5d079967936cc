/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "replay/record_ring.h"

enum { /* type of an entry of the ring: 1 to 28 are words of data */
       TYPE_LONG = 0,
       TYPE_PADDING = 29,
       TYPE_TIME_EXTEND = 30,
       TYPE_TIME_STAMP = 31,
};

#define DELTA_BITS 27
#define STAMP_BITS 59 /* of an absolute time; what is above comes from the page's */
#define COMMIT_MASK 0x3fffffffu /* the two bits above say that events were lost before the page */

/* ---- the kernel's descriptions ---- */

static bool number_after(const char *line, const char *end, const char *key, unsigned *ret)
{
	const char *p = memmem(line, (size_t)(end - line), key, strlen(key));
	unsigned long v;
	char *stop;

	if (!p)
		return false;
	v = strtoul(p + strlen(key), &stop, 10);
	if (stop == p + strlen(key) || stop > end || v > 65535)
		return false;
	*ret = (unsigned)v;
	return true;
}

static bool name_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* "field:char rwbs[10];  offset:34;  size:10;  signed:0;": the last word of the declaration is the name. */
static bool field(const char *text, const char *name, struct ring_field *ret)
{
	size_t n = strlen(name);

	for (const char *p = text; (p = strstr(p, "field:")); p += 6) {
		const char *end = p + strcspn(p, "\n"), *semi = memchr(p, ';', (size_t)(end - p));
		const char *last;

		if (!semi)
			continue;
		last = memchr(p, '[', (size_t)(semi - p));
		if (!last)
			last = semi;
		if ((size_t)(last - p) <= n || memcmp(last - n, name, n) != 0 ||
		    name_char(last[-(ptrdiff_t)n - 1]))
			continue;
		return number_after(semi, end, "offset:", &ret->off) &&
		       number_after(semi, end, "size:", &ret->bytes);
	}
	return false;
}

int ring_page_format(struct ring_page *p, const char *text, struct err *err)
{
	struct ring_field data;

	*p = (struct ring_page){ .n_events = 0 };
	if (!field(text, "commit", &p->commit) || !field(text, "data", &data) ||
	    (p->commit.bytes != 4 && p->commit.bytes != 8) || p->commit.off < 8 ||
	    data.off < p->commit.off + p->commit.bytes)
		return err_set(
			err, -ENOSYS,
			"the kernel describes its trace pages in a way that pts does not know");
	p->data_off = data.off;
	return 0;
}

static bool wide(const struct ring_field *f, unsigned bytes)
{
	return f->bytes == bytes;
}

int ring_event_format(struct ring_page *p, const char *text, uint32_t action, struct err *err)
{
	const char *id = strstr(text, "ID:");
	struct ring_event e = { .action = action };
	unsigned number;
	bool ok;

	BUG_ON(p->n_events == RING_EVENTS_MAX);
	ok = id && number_after(id, id + strcspn(id, "\n"), "ID:", &number) &&
	     field(text, "common_type", &p->type) && field(text, "common_pid", &p->pid) &&
	     field(text, "dev", &e.dev) && field(text, "sector", &e.sector) &&
	     field(text, "nr_sector", &e.nr_sector) && field(text, "rwbs", &e.rwbs);
	if (ok && action == BLK_TA_COMPLETE)
		ok = (field(text, "error", &e.error) || field(text, "errors", &e.error)) &&
		     wide(&e.error, 4);
	if (!field(text, "bytes", &e.nr_bytes))
		e.nr_bytes.bytes = 0;
	ok = ok && wide(&p->type, 2) && wide(&p->pid, 4) && wide(&e.dev, 4) && wide(&e.sector, 8) &&
	     wide(&e.nr_sector, 4) && (!e.nr_bytes.bytes || wide(&e.nr_bytes, 4)) &&
	     e.rwbs.bytes > 0;
	if (!ok)
		return err_set(
			err, -ENOSYS,
			"the kernel describes a block event in a way that pts does not know");
	e.id = (uint16_t)number;
	p->event[p->n_events++] = e;
	return 0;
}

/* ---- events ---- */

static uint16_t get16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return v;
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/*
 * "FWFSM": before the direction F is a flush that goes first, after it FUA; "FF" is a flush alone. N is neither read nor
 * write: a command passed through, or write zeroes, which moves no data. It is kept, as a command.
 */
static uint32_t category(const char *s, size_t n)
{
	uint32_t c = 0;
	bool direction = false;

	for (size_t i = 0; i < n && s[i]; i++) {
		switch (s[i]) {
		case 'F':
			c |= direction ? BLK_TC_FUA : BLK_TC_FLUSH;
			break;
		case 'W':
		case 'R':
		case 'N':
			c |= s[i] == 'W' ? BLK_TC_WRITE : s[i] == 'R' ? BLK_TC_READ : BLK_TC_PC;
			direction = true;
			break;
		case 'D':
			c |= BLK_TC_DISCARD | BLK_TC_WRITE;
			direction = true;
			break;
		case 'A':
			c |= BLK_TC_AHEAD;
			break;
		case 'S':
			c |= BLK_TC_SYNC;
			break;
		case 'M':
			c |= BLK_TC_META;
			break;
		default: /* secure erase, atomic write, zones */
			break;
		}
	}
	return c;
}

static bool inside(const struct ring_field *f, size_t n)
{
	return (size_t)f->off + f->bytes <= n;
}

static bool decode(const struct ring_page *p, const unsigned char *d, size_t n,
		   struct blk_io_trace *ret)
{
	const struct ring_event *e = NULL;
	uint64_t bytes;

	if (!inside(&p->type, n) || !inside(&p->pid, n))
		return false;
	for (unsigned i = 0; i < p->n_events && !e; i++)
		if (p->event[i].id == get16(d + p->type.off))
			e = &p->event[i];
	if (!e || !inside(&e->dev, n) || !inside(&e->sector, n) || !inside(&e->nr_sector, n) ||
	    !inside(&e->nr_bytes, n) || !inside(&e->rwbs, n) || !inside(&e->error, n))
		return false;
	bytes = (uint64_t)get32(d + e->nr_sector.off) * 512;
	if (!bytes && e->nr_bytes.bytes)
		bytes = get32(d + e->nr_bytes.off);
	*ret = (struct blk_io_trace){
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.sector = get64(d + e->sector.off),
		.bytes = bytes > UINT32_MAX ? UINT32_MAX & ~511u : (uint32_t)bytes,
		.action = e->action |
			  BLK_TC_ACT(category((const char *)d + e->rwbs.off, e->rwbs.bytes)),
		.pid = get32(d + p->pid.off),
		.device = get32(d + e->dev.off),
		.error = e->error.bytes ? (uint16_t)get32(d + e->error.off) : 0
	};
	return true;
}

/* One entry of the ring. */
struct entry {
	unsigned type;
	uint64_t delta;
	const unsigned char *data; /* NULL: none */
	size_t data_bytes, bytes; /* bytes: of all of it */
};

static void entry_head(uint32_t word, struct entry *ret)
{
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	*ret = (struct entry){ .type = little ? word & 31 : word >> DELTA_BITS,
			       .delta = little ? word >> 5 : word & ((1u << DELTA_BITS) - 1) };
}

/* False: nothing that an entry could be. @left: bytes from @at to the end of the page's data. */
static bool entry_read(const unsigned char *at, size_t left, struct entry *ret)
{
	uint32_t next;

	if (left < 4)
		return false;
	entry_head(get32(at), ret);
	if (ret->type > TYPE_LONG && ret->type < TYPE_PADDING) {
		ret->data = at + 4;
		ret->data_bytes = ret->type * 4u;
		ret->bytes = 4 + ret->data_bytes;
		return ret->bytes <= left;
	}
	if (ret->type == TYPE_PADDING && !ret->delta) { /* the rest is empty */
		ret->bytes = left;
		return true;
	}
	if (left < 8)
		return false;
	next = get32(at + 4);
	switch (ret->type) {
	case TYPE_TIME_EXTEND:
	case TYPE_TIME_STAMP:
		ret->delta |= (uint64_t)next << DELTA_BITS;
		ret->bytes = 8;
		return true;
	case TYPE_PADDING: /* an event that was taken back; its time counts */
		ret->bytes = 4 + (size_t)next;
		return next >= 4 && ret->bytes <= left;
	default: /* length, then data */
		ret->data = at + 8;
		ret->data_bytes = next - 4u;
		ret->bytes = (4 + (size_t)next + 3) & ~(size_t)3;
		return next >= 4 && ret->bytes <= left;
	}
}

int ring_page_read(const struct ring_page *p, const void *page, size_t bytes,
		   struct blk_io_trace *ret, unsigned max)
{
	const unsigned char *at = page, *end;
	uint64_t time, commit;
	unsigned n = 0;

	if (bytes < p->data_off)
		return -EINVAL;
	time = get64(at);
	commit = p->commit.bytes == 8 ? get64(at + p->commit.off) : get32(at + p->commit.off);
	commit &= COMMIT_MASK;
	if (commit > bytes - p->data_off)
		return -EINVAL;
	at += p->data_off;
	end = at + commit;
	while (at < end) {
		struct entry e;

		if (!entry_read(at, (size_t)(end - at), &e))
			return -EINVAL;
		if (e.type == TYPE_TIME_STAMP)
			time = (time & ~(((uint64_t)1 << STAMP_BITS) - 1)) | e.delta;
		else
			time += e.delta;
		if (e.data && n < max && decode(p, e.data, e.data_bytes, &ret[n]))
			ret[n++].time = time;
		at += e.bytes;
	}
	return (int)n;
}
