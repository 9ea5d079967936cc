/* SPDX-License-Identifier: MIT */
/*
 * What a SATA drive says of itself: SMART status and attributes, and the device statistics log, which comes before attributes:
 * its units are the standard's, theirs the vendor's. And its write cache, by SET FEATURES.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dut_real.h"
#include "workloads/dut_scsi_impl.h"

#define SMART_SIGNATURE 0xc24f00ull /* in the middle and high byte of the LBA */
#define SMART_FAILING 0x2cf4u
#define STATISTICS 0x04
#define MOST_C 120

enum { GENERAL = 1, ERRORS = 4, TEMPERATURE = 5, SOLID_STATE = 7 };

/* ---- device statistics ---- */

static int read_statistics(struct scsi_drive *s, unsigned page, uint8_t b[512])
{
	struct ata_cmd c = { .name = "READ LOG EXT",
			     .command = 0x2f,
			     .count = 1,
			     .lba = STATISTICS | page << 8,
			     .ext = true,
			     .direction = ATA_IN,
			     .data = b };

	return ata_send(s, &c);
}

void ata_find_statistics(struct scsi_drive *s)
{
	const uint16_t *w = s->identify;
	bool logs = ((w[84] & 0xc000) == 0x4000 && w[84] & 1u << 5) ||
		    ((w[87] & 0xc000) == 0x4000 && w[87] & 1u << 5);
	uint8_t b[512] = { 0 };

	s->statistics = 0;
	if (!logs || read_statistics(s, 0, b) || b[2] != 0)
		return;
	for (unsigned i = 0; i < b[8]; i++)
		if (b[9 + i] < 32)
			s->statistics |= 1u << b[9 + i];
}

static uint64_t le(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | p[bytes];
	return v;
}

/* One statistic of @bytes; false: not supported, or not valid now. */
static bool statistic(const uint8_t *b, unsigned at, unsigned bytes, uint64_t *ret)
{
	if ((b[at + 7] & 0xc0) != 0xc0)
		return false;
	*ret = le(b + at, bytes);
	return true;
}

static uint32_t sector_bytes(const struct scsi_drive *s)
{
	const uint16_t *w = s->identify;
	bool larger = (w[106] & 0xc000) == 0x4000 && w[106] & 1u << 12;

	return larger ? ((uint32_t)w[118] << 16 | w[117]) * 2 : 512;
}

static void take_temperature(struct health *h, int c)
{
	if (c <= -40 || c > MOST_C || !c)
		return;
	h->have_temperature = true;
	h->temperature_c = health_whole_c(c);
}

static void read_one(const struct scsi_drive *s, unsigned page, const uint8_t *b, struct health *h)
{
	uint64_t v;

	if (page == GENERAL && statistic(b, 24, 6, &v)) /* logical sectors written */
		h->host_written_bytes = v * sector_bytes(s);
	else if (page == ERRORS && statistic(b, 8, 4, &v)) /* reported uncorrectable errors */
		h->media_errors = v;
	else if (page == TEMPERATURE && statistic(b, 8, 1, &v))
		take_temperature(h, (int8_t)v);
	else if (page == SOLID_STATE && statistic(b, 8, 1, &v))
		h->percentage_used = (double)v;
}

static int all_statistics(struct scsi_drive *s, struct health *h, struct err *err)
{
	static const uint8_t pages[] = { GENERAL, ERRORS, TEMPERATURE, SOLID_STATE };

	for (unsigned i = 0; i < sizeof pages; i++) {
		uint8_t b[512] = { 0 };
		int rc;

		if (!(s->statistics & 1u << pages[i]))
			continue;
		rc = read_statistics(s, pages[i], b);
		if (rc == -ENODEV || rc == -ETIMEDOUT)
			return err_set(err, rc, "%s: READ LOG EXT: %s", s->path, strerror(-rc));
		if (!rc && b[2] == pages[i])
			read_one(s, pages[i], b, h);
	}
	return 0;
}

/* ---- SMART ---- */

static struct ata_cmd smart(uint16_t feature, const char *name)
{
	return (struct ata_cmd){
		.name = name, .command = 0xb0, .features = feature, .lba = SMART_SIGNATURE
	};
}

/* The raw value of attribute @id: six bytes, in the vendor's units. */
static bool attribute(const uint8_t b[512], unsigned id, uint64_t *ret)
{
	for (unsigned at = 2; at < 2 + 30 * 12; at += 12) {
		if (b[at] != id)
			continue;
		*ret = le(b + at + 5, 6);
		return true;
	}
	return false;
}

static void read_attributes(const struct scsi_drive *s, const uint8_t b[512], struct health *h)
{
	uint64_t v;

	if (attribute(b, 190, &v)) /* of the air, where there is no other */
		take_temperature(h, (int)(v & 0xff));
	if (attribute(b, 194, &v))
		take_temperature(h, (int)(v & 0xff));
	if (attribute(b, 241, &v)) /* total LBAs written */
		h->host_written_bytes = v * sector_bytes(s);
	if (attribute(b, 187, &v)) /* reported uncorrectable errors */
		h->media_errors = v & 0xffff;
}

static int read_smart(struct scsi_drive *s, struct health *h, struct err *err)
{
	uint8_t b[512] = { 0 }, sum = 0;
	struct ata_cmd c = smart(0xd0, "SMART READ DATA");
	int rc;

	c.direction = ATA_IN;
	c.count = 1;
	c.data = b;
	rc = ata_do(s, &c, err);
	if (rc)
		return rc;
	for (unsigned i = 0; i < sizeof b; i++)
		sum = (uint8_t)(sum + b[i]);
	if (sum)
		return err_set(err, -EIO, "%s: SMART READ DATA: wrong checksum", s->path);
	read_attributes(s, b, h);
	c = smart(0xda, "SMART RETURN STATUS");
	c.registers = true;
	rc = ata_send(s, &c);
	if (!rc && c.have_registers && (c.lba_back >> 8 & 0xffff) == SMART_FAILING) {
		h->critical = true;
		snprintf(h->text, sizeof h->text, "SMART: a threshold is exceeded");
	}
	/* a controller that brings no registers back takes only this from us */
	return rc == -ENODEV || rc == -ETIMEDOUT ? ata_error(s, &c, rc, err) : 0;
}

/* After this nothing more is asked. */
static bool is_over(int rc)
{
	return rc == -ENODEV || rc == -ENXIO || rc == -ETIMEDOUT || rc == -EACCES;
}

int ata_health(struct scsi_drive *s, struct health *ret, struct err *err)
{
	const uint16_t *w = s->identify;
	bool on = ata_word_valid(w[82]) && w[82] & 1 && w[85] & 1;
	struct health h = *ret;
	struct err why = { "" };
	int smart_rc = 0, rc = 0;

	if (!s->have_identify) /* what sysfs told is all there is */
		return 0;
	if (on)
		smart_rc = read_smart(s, &h, &why);
	if (!is_over(smart_rc))
		rc = all_statistics(s, &h, err);
	if (smart_rc && (is_over(smart_rc) || !h.have_temperature))
		rc = err_set(err, smart_rc, "%s", why.msg);
	if (rc)
		return rc;
	*ret = h;
	return 0;
}

/* ---- write cache ---- */

static bool cache_on(const struct scsi_drive *s)
{
	return s->identify[85] & 1u << 5;
}

int ata_write_cache(struct scsi_drive *s, bool on, bool *ret_was, struct err *err)
{
	struct ata_cmd c = { .name = on ? "SET FEATURES (write cache on)"
					: "SET FEATURES (write cache off)",
			     .command = 0xef,
			     .features = on ? 0x02 : 0x82 };
	bool was;
	int rc;

	if (!s->have_identify)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the controller lets no ATA commands through to the drive",
			       s->path);
	rc = ata_identify(s, err);
	if (rc)
		return rc;
	if (!ata_word_valid(s->identify[82]) || !(s->identify[82] & 1u << 5))
		return err_set(err, -EOPNOTSUPP, "%s: the drive has no write cache", s->path);
	was = cache_on(s);
	if (was != on)
		rc = ata_do(s, &c, err);
	if (!rc && was != on)
		rc = ata_identify(s, err);
	if (!rc && cache_on(s) != on)
		rc = err_set(err, -EIO,
			     "%s: SET FEATURES answered ok, but the write cache is still %s",
			     s->path, on ? "off" : "on");
	if (rc)
		return rc;
	if (was != on)
		scsi_rescan(s); /* or the kernel would go on flushing, or not, as before */
	*ret_was = was;
	return 0;
}
