/* SPDX-License-Identifier: MIT */
/* The caching mode page (08h): whether the drive's write cache is on, and switching it, for now only (no SP). */
#include <errno.h>
#include <string.h>

#include "workloads/dut_scsi_impl.h"

#define CACHING 0x08
#define WCE 0x04 /* in byte 2 of the page */
#define PAGE_MOST 32

enum control { CURRENT, CHANGEABLE };

struct mode_page {
	uint8_t b[PAGE_MOST];
	unsigned len;
	bool six; /* came by MODE SENSE (6), goes by MODE SELECT (6) */
	uint32_t lba_bytes; /* of the block descriptor; 0 none */
};

/* @n bytes: header, block descriptors, page. */
static int parse(const uint8_t *b, unsigned n, struct mode_page *p)
{
	unsigned head = p->six ? 4 : 8;
	unsigned descriptors = p->six ? b[3] : scsi_be16(b + 6);
	unsigned at = head + descriptors;
	bool longlba = !p->six && b[4] & 1;

	if (n < head || at + 3 > n || (b[at] & 0x3f) != CACHING)
		return -EOPNOTSUPP;
	if (longlba && descriptors >= 16)
		p->lba_bytes = scsi_be32(b + head + 12);
	else if (!longlba && descriptors >= 8)
		p->lba_bytes = (uint32_t)scsi_be(b + head + 5, 3);
	p->len = 2u + b[at + 1];
	if (p->len < 3 || p->len > PAGE_MOST || at + p->len > n)
		return -EOPNOTSUPP;
	memcpy(p->b, b + at, p->len);
	return 0;
}

static int mode_sense(struct scsi_drive *s, enum control control, bool six, struct mode_page *ret,
		      struct scsi_cmd *c)
{
	uint8_t b[128] = { 0 };
	struct mode_page p = { .six = six };
	uint8_t page = (uint8_t)(control << 6 | CACHING);
	int rc;

	*c = (struct scsi_cmd){ .name = six ? "MODE SENSE (6)" : "MODE SENSE (10)",
				.data = b,
				.bytes = sizeof b };
	if (six) {
		memcpy(c->cdb, (uint8_t[6]){ 0x1a, 0, page, 0, sizeof b }, 6);
		c->cdb_len = 6;
	} else {
		memcpy(c->cdb, (uint8_t[10]){ 0x5a, 0, page, [8] = sizeof b }, 10);
		c->cdb_len = 10;
	}
	rc = scsi_send(s, c);
	if (!rc)
		rc = parse(b, c->got, &p);
	c->data = NULL;
	if (!rc)
		*ret = p;
	return rc;
}

/* The longer form first; drives, and bridges more so, may know only one. */
static int read_page(struct scsi_drive *s, enum control control, struct mode_page *ret,
		     struct err *err)
{
	struct scsi_cmd c;
	int rc = mode_sense(s, control, false, ret, &c);

	if (rc == -EOPNOTSUPP)
		rc = mode_sense(s, control, true, ret, &c);
	if (rc == -EOPNOTSUPP)
		return err_set(err, rc, "%s: the drive tells nothing of a write cache", s->path);
	return rc ? scsi_error(s, &c, rc, err) : 0;
}

int scsi_cache(struct scsi_drive *s, bool *ret_on, bool *ret_can, struct err *err)
{
	struct mode_page now, can;
	int rc = read_page(s, CURRENT, &now, err);
	struct err none = { "" };

	if (rc)
		return rc;
	*ret_on = now.b[2] & WCE;
	*ret_can = !read_page(s, CHANGEABLE, &can, &none) && can.b[2] & WCE;
	return 0;
}

uint32_t scsi_pending_lba_bytes(struct scsi_drive *s)
{
	struct mode_page now;
	struct err none = { "" };

	return read_page(s, CURRENT, &now, &none) ? 0 : now.lba_bytes;
}

/* Header without block descriptors, then the page as it was read but for the bit. */
static int write_page(struct scsi_drive *s, struct mode_page *p, struct err *err)
{
	uint8_t b[8 + PAGE_MOST] = { 0 };
	unsigned head = p->six ? 4 : 8;
	struct scsi_cmd c = { .name = p->six ? "MODE SELECT (6)" : "MODE SELECT (10)",
			      .out = true,
			      .data = b,
			      .bytes = head + p->len };

	p->b[0] &= 0x3f; /* PS is not for MODE SELECT */
	memcpy(b + head, p->b, p->len);
	c.cdb[0] = p->six ? 0x15 : 0x55;
	c.cdb[1] = 0x10; /* PF; SP 0: a power cycle brings the former state back */
	c.cdb[p->six ? 4 : 8] = (uint8_t)c.bytes;
	c.cdb_len = p->six ? 6 : 10;
	return scsi_do(s, &c, err);
}

int scsi_write_cache(struct scsi_drive *s, bool on, bool *ret_was, struct err *err)
{
	struct mode_page page;
	bool was, now, can;
	int rc;

	if (s->ata)
		return ata_write_cache(s, on, ret_was, err);
	rc = scsi_cache(s, &was, &can, err);
	if (!rc && was != on && !can)
		rc = err_set(err, -EOPNOTSUPP, "%s: the drive's write cache cannot be switched",
			     s->path);
	if (!rc && was != on)
		rc = read_page(s, CURRENT, &page, err);
	if (!rc && was != on) {
		page.b[2] = (uint8_t)(on ? page.b[2] | WCE : page.b[2] & ~WCE);
		rc = write_page(s, &page, err);
	}
	if (!rc)
		rc = scsi_cache(s, &now, &can, err);
	if (!rc && now != on)
		rc = err_set(err, -EIO,
			     "%s: MODE SELECT answered ok, but the write cache is still %s",
			     s->path, now ? "on" : "off");
	if (rc)
		return rc;
	if (was != on)
		scsi_rescan(s); /* or it would go on flushing, or not, as before */
	*ret_was = was;
	return 0;
}
