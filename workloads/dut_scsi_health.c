/* SPDX-License-Identifier: MIT */
/* What a SAS drive says of itself in its log pages: temperature, failure prediction, endurance, error and write counters. */
#include <errno.h>
#include <scsi/sg_lib.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dut_real.h"
#include "workloads/dut_scsi_impl.h"

#define LOG_BYTES 512
#define MOST_C 120 /* what a drive cannot have and live */

enum {
	WRITE_ERRORS = 0x02,
	READ_ERRORS = 0x03,
	VERIFY_ERRORS = 0x05,
	TEMPERATURE = 0x0d,
	SOLID_STATE = 0x11,
	EXCEPTIONS = 0x2f
};

struct log_page {
	uint8_t b[LOG_BYTES];
	unsigned len;
};

/* Cumulative values. -ENOENT: the drive has no such page. */
static int log_sense(struct scsi_drive *s, uint8_t page, struct log_page *ret, struct scsi_cmd *c)
{
	int rc;

	memset(ret, 0, sizeof *ret);
	*c = (struct scsi_cmd){ .name = "LOG SENSE",
				.cdb = { 0x4d, 0, (uint8_t)(0x40 | page), 0, 0, 0, 0,
					 LOG_BYTES >> 8, LOG_BYTES & 0xff },
				.cdb_len = 10,
				.data = ret->b,
				.bytes = LOG_BYTES };
	rc = scsi_send(s, c);
	c->data = NULL;
	if (rc)
		return rc == -EOPNOTSUPP ? -ENOENT : rc;
	ret->len = 4u + scsi_be16(ret->b + 2);
	ret->len = ret->len < c->got ? ret->len : c->got;
	return ret->len < 4 || (ret->b[0] & 0x3f) != page ? -ENOENT : 0;
}

void scsi_find_logs(struct scsi_drive *s)
{
	struct log_page p;
	struct scsi_cmd c;

	s->log_pages = 0;
	if (log_sense(s, 0, &p, &c))
		return;
	for (unsigned i = 4; i < p.len; i++)
		s->log_pages |= 1ull << (p.b[i] & 0x3f);
}

/* Bytes of parameter @code, @ret_len of them; NULL: not there. */
static const uint8_t *parameter(const struct log_page *p, unsigned code, unsigned *ret_len)
{
	for (unsigned at = 4; at + 4 <= p->len; at += 4u + p->b[at + 3]) {
		if (at + 4u + p->b[at + 3] > p->len)
			break;
		if (scsi_be16(p->b + at) != code)
			continue;
		*ret_len = p->b[at + 3];
		return p->b + at + 4;
	}
	return NULL;
}

/* A counter of up to eight bytes; 0 not there. */
static uint64_t counter(const struct log_page *p, unsigned code)
{
	unsigned n = 0;
	const uint8_t *v = parameter(p, code, &n);

	return v && n && n <= 8 ? scsi_be(v, n) : 0;
}

static void take_temperature(struct health *h, unsigned c)
{
	if (!c || c > MOST_C) /* 0 and FFh: not told */
		return;
	h->have_temperature = true;
	h->temperature_c = health_whole_c(c);
}

static void read_temperature(const struct log_page *p, struct health *h)
{
	unsigned n = 0;
	const uint8_t *v = parameter(p, 0, &n);

	if (v && n >= 2)
		take_temperature(h, v[1]);
}

/* Failure prediction (5Dh) and warnings (0Bh); temperature where the other page has none. */
static void read_exceptions(const struct log_page *p, struct health *h)
{
	unsigned n = 0;
	const uint8_t *v = parameter(p, 0, &n);
	char text[160];

	if (!v || n < 2)
		return;
	if (n >= 3 && !h->have_temperature)
		take_temperature(h, v[2]);
	if (v[0] != 0x5d && v[0] != 0x0b)
		return;
	h->critical = true;
	sg_get_asc_ascq_str(v[0], v[1], sizeof text, text);
	snprintf(h->text, sizeof h->text, "%s (%02x/%02x)",
		 strncmp(text, "Additional sense: ", 18) ? "failure predicted" : text + 18, v[0],
		 v[1]);
}

static void read_solid_state(const struct log_page *p, struct health *h)
{
	unsigned n = 0;
	const uint8_t *v = parameter(p, 1, &n);

	if (v && n >= 4) /* percentage used endurance indicator */
		h->percentage_used = v[3];
}

static void read_page(uint8_t page, const struct log_page *p, struct health *h)
{
	switch (page) {
	case TEMPERATURE:
		read_temperature(p, h);
		break;
	case EXCEPTIONS:
		read_exceptions(p, h);
		break;
	case SOLID_STATE:
		read_solid_state(p, h);
		break;
	case WRITE_ERRORS: /* 5: bytes processed; 6: errors that were not corrected, as in the others */
		if (counter(p, 5))
			h->host_written_bytes = counter(p, 5);
		h->media_errors += counter(p, 6);
		break;
	default:
		h->media_errors += counter(p, 6);
	}
}

int scsi_health(struct scsi_drive *s, struct health *ret, struct err *err)
{
	static const uint8_t pages[] = { TEMPERATURE,  EXCEPTIONS,  SOLID_STATE,
					 WRITE_ERRORS, READ_ERRORS, VERIFY_ERRORS };
	struct health h = *ret;
	struct log_page p;
	struct scsi_cmd c;

	if (s->ata)
		return ata_health(s, ret, err);
	if (s->log_pages & (1ull << WRITE_ERRORS | 1ull << READ_ERRORS | 1ull << VERIFY_ERRORS))
		h.media_errors = 0;
	for (unsigned i = 0; i < sizeof pages; i++) {
		if (!(s->log_pages & 1ull << pages[i]))
			continue;
		int rc = log_sense(s, pages[i], &p, &c);
		if (rc == -ENOENT)
			continue;
		if (rc)
			return scsi_error(s, &c, rc, err);
		read_page(pages[i], &p, &h);
	}
	*ret = h;
	return 0;
}
