/* SPDX-License-Identifier: MIT */
/* ATA behind ATA PASS-THROUGH (16): a command and its registers, and what IDENTIFY DEVICE tells. */
#include <errno.h>
#include <scsi/sg_lib.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dut_real.h"
#include "workloads/dut_scsi_impl.h"

#define SECTOR 512

const char ata_password[32] = "pts";

/* ---- one command ---- */

static void put_cdb(const struct ata_cmd *c, uint8_t cdb[16])
{
	static const uint8_t protocol[] = { [ATA_NO_DATA] = 3, [ATA_IN] = 4, [ATA_OUT] = 5 };
	/* Data: as many blocks of 512 bytes as the count says, from the drive (bit 3) or to it. */
	static const uint8_t transfer[] = { [ATA_NO_DATA] = 0, [ATA_IN] = 0x0e, [ATA_OUT] = 0x06 };

	memset(cdb, 0, 16);
	cdb[0] = 0x85;
	cdb[1] = (uint8_t)(protocol[c->direction] << 1 | c->ext);
	cdb[2] = (uint8_t)(transfer[c->direction] | (c->registers ? 0x20 : 0));
	cdb[4] = (uint8_t)c->features;
	cdb[6] = (uint8_t)c->count;
	cdb[8] = (uint8_t)c->lba;
	cdb[10] = (uint8_t)(c->lba >> 8);
	cdb[12] = (uint8_t)(c->lba >> 16);
	cdb[13] = c->device;
	cdb[14] = c->command;
	if (!c->ext)
		return;
	cdb[3] = (uint8_t)(c->features >> 8);
	cdb[5] = (uint8_t)(c->count >> 8);
	cdb[7] = (uint8_t)(c->lba >> 24);
	cdb[9] = (uint8_t)(c->lba >> 32);
	cdb[11] = (uint8_t)(c->lba >> 40);
}

/* From sense data: the descriptor of SAT, or the few bytes that fit the fixed form. */
static void read_registers(struct ata_cmd *c)
{
	const uint8_t *s = c->scsi.sense;
	const uint8_t *d = sg_scsi_sense_desc_find(s, (int)c->scsi.sense_len, 0x09);
	bool fixed = (s[0] & 0x7f) == 0x70 && c->scsi.asc == 0 && c->scsi.ascq == 0x1d;

	if (d && d + 14 <= s + c->scsi.sense_len && d[1] >= 12) {
		c->have_registers = true;
		c->narrow = c->ext && !(d[2] & 1);
		c->error = d[3];
		c->status = d[13];
		c->count_back = (uint16_t)(d[5] | (d[2] & 1 ? d[4] << 8 : 0));
		c->lba_back = d[7] | (uint64_t)d[9] << 8 | (uint64_t)d[11] << 16;
		if (d[2] & 1)
			c->lba_back |= (uint64_t)d[6] << 24 | (uint64_t)d[8] << 32 |
				       (uint64_t)d[10] << 40;
	} else if (fixed && c->scsi.sense_len >= 12) {
		c->have_registers = c->narrow = true;
		c->error = s[3];
		c->status = s[4];
		c->count_back = s[6];
		c->lba_back = s[9] | (uint64_t)s[10] << 8 | (uint64_t)s[11] << 16;
	}
}

int ata_send(struct scsi_drive *s, struct ata_cmd *c)
{
	int rc;

	c->scsi = (struct scsi_cmd){ .name = c->name,
				     .cdb_len = 16,
				     .out = c->direction == ATA_OUT,
				     .erases = c->erases,
				     .data = c->data,
				     .bytes = c->direction == ATA_NO_DATA ? 0 : SECTOR,
				     .timeout_s = c->timeout_s };
	c->have_registers = c->narrow = false;
	put_cdb(c, c->scsi.cdb);
	rc = scsi_send(s, &c->scsi);
	c->scsi.data = NULL;
	read_registers(c);
	if (!rc && c->direction == ATA_IN && c->scsi.got < SECTOR)
		rc = -EIO;
	/* ERR or DF, though the layer above called it a success */
	return !rc && c->have_registers && c->status & 0x21 ? -EIO : rc;
}

int ata_error(const struct scsi_drive *s, const struct ata_cmd *c, int rc, struct err *err)
{
	if (c->have_registers && c->status & 0x21)
		return err_set(
			err, rc,
			"%s: %s: the drive refuses the command (ATA error %02x, status %02x)%s",
			s->path, c->name, c->error, c->status,
			c->error & 0x04 ? ": not supported, or not in its present state" : "");
	if (!c->scsi.sense_len && rc == -EIO && !c->scsi.status && !c->scsi.transport)
		return err_set(err, rc, "%s: %s: fewer than 512 bytes came", s->path, c->name);
	return scsi_error(s, &c->scsi, rc, err);
}

int ata_do(struct scsi_drive *s, struct ata_cmd *c, struct err *err)
{
	int rc = ata_send(s, c);

	return rc ? ata_error(s, c, rc, err) : 0;
}

/* ---- IDENTIFY DEVICE ---- */

void ata_string(const uint16_t *w, unsigned n, char *out, size_t size)
{
	char raw[2 * 64 + 1];

	for (unsigned i = 0; i < n && i < 64; i++) {
		raw[2 * i] = (char)(w[i] >> 8);
		raw[2 * i + 1] = (char)(w[i] & 0xff);
	}
	raw[2 * (n < 64 ? n : 64)] = 0;
	clean_text(out, size, raw);
}

/* Words of features that the drive does not keep are 0000h or FFFFh. */
bool ata_word_valid(uint16_t w)
{
	return w && w != 0xffff;
}

/* Word 255: A5h means that the high byte makes the sum of all bytes zero. */
static bool sum_is_right(const uint8_t b[SECTOR])
{
	uint8_t sum = 0;

	for (unsigned i = 0; i < SECTOR; i++)
		sum = (uint8_t)(sum + b[i]);
	return b[510] != 0xa5 || !sum;
}

int ata_identify(struct scsi_drive *s, struct err *err)
{
	uint8_t b[SECTOR] = { 0 };
	struct ata_cmd c = { .name = "IDENTIFY DEVICE",
			     .command = 0xec,
			     .count = 1,
			     .direction = ATA_IN,
			     .data = b,
			     .timeout_s = 20 };
	int rc = ata_do(s, &c, err);

	if (rc)
		return rc;
	if (b[1] & 0x80 || !sum_is_right(b))
		return err_set(err, -EIO, "%s: IDENTIFY DEVICE: %s", s->path,
			       b[1] & 0x80 ? "no ATA drive" : "wrong checksum");
	for (unsigned i = 0; i < 256; i++)
		s->identify[i] = (uint16_t)(b[2 * i] | b[2 * i + 1] << 8);
	s->have_identify = true;
	return 0;
}

/* Words 108-111, valid by bit 8 of word 87. */
static void find_wwn(struct scsi_drive *s)
{
	const uint16_t *w = s->identify;
	bool told = (w[87] & 0xc000) == 0x4000 && w[87] & 1u << 8;

	if (!s->wwid[0] && told)
		snprintf(s->wwid, sizeof s->wwid, "naa.%04x%04x%04x%04x", w[108], w[109], w[110],
			 w[111]);
}

int ata_ask(struct scsi_drive *s, struct err *err)
{
	const uint16_t *w = s->identify;
	struct scsi_progress p;
	struct err none = { "" };
	char text[64];
	int rc = ata_identify(s, &none);

	if (rc == -ENODEV || rc == -EACCES || rc == -ETIMEDOUT)
		return err_set(err, rc, "%s", none.msg);
	if (rc) /* a controller that lets no ATA commands through: then there is discard */
		return 0;
	ata_string(w + 10, 10, text, sizeof text);
	if (text[0])
		snprintf(s->serial, sizeof s->serial, "%s", text);
	ata_string(w + 23, 4, s->firmware, sizeof s->firmware);
	ata_string(w + 27, 20, s->model, sizeof s->model);
	find_wwn(s);
	s->rotating = ata_word_valid(w[217]) && w[217] > 1;
	s->cache_switch = ata_word_valid(w[82]) && w[82] & 1u << 5;
	s->running = SCSI_IDLE;
	if (ata_word_valid(w[59]) && w[59] & 1u << 12 && !ata_look(s, &p, &none) &&
	    p.state == SCSI_RUNNING)
		s->running = SCSI_SANITIZING;
	ata_find_statistics(s);
	return 0;
}

/* ---- security ---- */

enum ata_security ata_security_of(const uint16_t identify[256])
{
	uint16_t w = identify[128];
	bool said_no = ata_word_valid(identify[82]) && !(identify[82] & 1u << 1);

	if (!ata_word_valid(w) || !(w & 1) || said_no)
		return ATA_NONE;
	if (w & 1u << 3) /* before all else: frozen, it takes no command of this set */
		return ATA_FROZEN;
	if (w & 1u << 4)
		return ATA_EXPIRED;
	if (w & 1u << 2)
		return ATA_LOCKED;
	return w & 1u << 1 ? ATA_ENABLED : ATA_READY;
}

const char *ata_security_text(enum ata_security s)
{
	switch (s) {
	case ATA_NONE:
		return "the drive has no ATA security: choose another --method";
	case ATA_READY:
		return "security erase is possible";
	case ATA_ENABLED:
		return "a password is set on the drive: if pts set it, run pts purge --recover; "
		       "else "
		       "take it off with its own password (hdparm --security-disable)";
	case ATA_LOCKED:
		return "the drive is locked with a password: if pts set it, run pts purge "
		       "--recover; else unlock it with its own (hdparm --security-unlock)";
	case ATA_FROZEN:
		return "frozen by the BIOS: suspend and resume the host, or plug the drive in "
		       "again "
		       "while the host runs, then run this again";
	case ATA_EXPIRED:
		return "too many wrong passwords: power cycle the drive, then run this again";
	}
	return "unknown";
}

unsigned ata_erase_minutes(uint16_t word, bool *ret_more)
{
	/* ACS-3: with bit 15 set, 15 bits count; else only 8, of which 255 means more than 508 minutes. */
	unsigned most = word & 0x8000 ? 0x7fff : 0xff, n = word & most;

	*ret_more = n == most;
	return n == most ? (most - 1) * 2 : n * 2;
}

/* ---- facts ---- */

static void choose(const struct scsi_drive *s, struct dut_info *d)
{
	const uint16_t *w = s->identify;
	enum ata_security security = s->have_identify ? ata_security_of(w) : ATA_NONE;
	uint16_t kinds = s->have_identify && ata_word_valid(w[59]) ? w[59] : 0;
	bool set = kinds & 1u << 12, block = set && kinds & 1u << 15,
	     crypto = set && kinds & 1u << 13;
	bool discard = d->purge_methods & 1u << PURGE_BLKDISCARD;
	const char *why;

	if (block || crypto || (set && kinds & 1u << 14))
		d->purge_methods |= 1u << PURGE_ATA_SANITIZE;
	if (security != ATA_NONE) /* also where something hinders it now: then it says what */
		d->purge_methods |= 1u << PURGE_ATA_SECURITY_ERASE;
	if (block || crypto) {
		d->purge_auto = PURGE_ATA_SANITIZE;
		why = block ? "the drive knows ATA SANITIZE (block erase)"
			    : "the drive knows ATA SANITIZE (crypto scramble)";
	} else if (security != ATA_NONE) {
		/* not discard when it is frozen: a weaker method is chosen by people */
		d->purge_auto = PURGE_ATA_SECURITY_ERASE;
		why = security == ATA_READY ? "the drive knows ATA SECURITY ERASE, no block or "
					      "crypto SANITIZE"
					    : ata_security_text(security);
	} else {
		d->purge_auto = discard ? PURGE_BLKDISCARD : PURGE_NONE;
		why = !s->have_identify ? "the controller lets no ATA commands through"
					: "the drive has neither ATA SANITIZE nor ATA security";
	}
	snprintf(d->auto_why, sizeof d->auto_why, "%s", why);
}

void ata_facts(const struct scsi_drive *s, struct dut_info *d)
{
	if (s->have_identify && s->model[0])
		snprintf(d->model, sizeof d->model, "%s", s->model);
	if (s->have_identify && s->firmware[0])
		snprintf(d->firmware, sizeof d->firmware, "%s", s->firmware);
	snprintf(d->transport, sizeof d->transport, "sata");
	d->has_write_cache = s->cache_switch;
	choose(s, d);
}
