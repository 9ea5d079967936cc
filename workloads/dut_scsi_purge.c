/* SPDX-License-Identifier: MIT */
/*
 * FORMAT UNIT and SANITIZE of SAS drives: begun with IMMED, then watched by TEST UNIT READY. Neither changes the length of
 * blocks or the protection of the drive.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "workloads/dut_scsi_impl.h"

/* ---- how it goes on ---- */

/* Some drives have the number only here. */
static int asked_progress(struct scsi_drive *s)
{
	uint8_t b[96] = { 0 };
	struct scsi_cmd c = { .name = "REQUEST SENSE",
			      .cdb = { 0x03, 0, 0, 0, sizeof b },
			      .cdb_len = 6,
			      .data = b,
			      .bytes = sizeof b };

	return scsi_send(s, &c) || !c.got ? -1 : scsi_sense_progress(b, c.got);
}

static bool is_running(const struct scsi_cmd *c)
{
	/* 01 becoming ready, 04 format, 07 operation, 1b sanitize in progress */
	return c->key == 2 && c->asc == 0x04 &&
	       (c->ascq == 0x01 || c->ascq == 0x04 || c->ascq == 0x07 || c->ascq == 0x1b);
}

int scsi_look(struct scsi_drive *s, struct scsi_progress *ret, struct err *err)
{
	struct scsi_cmd c = { .name = "TEST UNIT READY", .cdb_len = 6 };
	struct scsi_progress p = { .state = SCSI_RUNNING, .of_65536 = -1 };
	int rc = scsi_send(s, &c);
	const char *next;

	if (!rc) {
		p.state = SCSI_OVER;
	} else if (is_running(&c)) {
		p.of_65536 = scsi_sense_progress(c.sense, c.sense_len);
		if (p.of_65536 < 0)
			p.of_65536 = asked_progress(s);
	} else if (c.sense_len &&
		   c.asc == 0x31) { /* format or sanitize failed, medium format damaged */
		p.state = SCSI_FAILED;
		scsi_sense_text(&c, p.why, &next);
		size_t n = strlen(p.why);
		snprintf(p.why + n, sizeof p.why - n, "; %s", next);
	} else if (rc != -EAGAIN) { /* more unit attentions than are passed over */
		return scsi_error(s, &c, rc, err);
	}
	*ret = p;
	return 0;
}

int scsi_settle(struct scsi_drive *s, const struct dut *d, struct err *err)
{
	bool format = s->running == SCSI_FORMATTING;
	struct scsi_wait w = {
		.what = format ? "FORMAT UNIT that ran already" : "SANITIZE that ran already",
		.look = s->ata ? ata_look : scsi_look,
	};
	int rc;

	if (!s->running)
		return 0;
	w.most_ns = scsi_most_ns(s, SCSI_WRITING_BYTES_PER_S);
	scsi_tell(d, "%s: waiting for its end", w.what);
	rc = scsi_wait(s, d, &w, err);
	if (rc == -EIO) { /* it failed: what is asked for now is the way out */
		scsi_tell(d, "%s", err->msg);
		err->msg[0] = 0;
		rc = 0;
	}
	if (rc)
		return rc;
	s->running = SCSI_IDLE;
	return scsi_ask(s, err);
}

/* ---- FORMAT UNIT ---- */

static int check_capacity(struct scsi_drive *s, struct err *err)
{
	struct scsi_capacity now, was = s->capacity;
	int rc = scsi_read_capacity(s, &now, err);

	if (rc)
		return rc;
	s->capacity = now;
	if (now.blocks == was.blocks && now.lba_bytes == was.lba_bytes &&
	    now.protection == was.protection)
		return 0;
	return err_set(err, -ENODEV,
		       "%s: the drive came back with %llu blocks of %u bytes, protection type %u; "
		       "before, %llu of %u, type %u",
		       s->path, (unsigned long long)now.blocks, now.lba_bytes, now.protection,
		       (unsigned long long)was.blocks, was.lba_bytes, was.protection);
}

/* A MODE SELECT that someone left behind becomes true with the next format. */
static int check_pending(struct scsi_drive *s, struct err *err)
{
	uint32_t pending = scsi_pending_lba_bytes(s);

	if (!s->capacity.blocks)
		return err_set(
			err, -EIO,
			"%s: the drive does not tell its capacity, which a format would have "
			"to keep",
			s->path);
	if (pending && pending != s->capacity.lba_bytes)
		return err_set(err, -EINVAL,
			       "%s: a MODE SELECT has left blocks of %u bytes for the next format; "
			       "they are %u now, and a purge does not change them",
			       s->path, pending, s->capacity.lba_bytes);
	return 0;
}

static int format(struct scsi_drive *s, const struct scsi_wait *w, struct err *err)
{
	static const uint8_t fmtpinfo[] = { 0, 2, 3, 3 }; /* of protection types */
	uint8_t list[8] = { 0 };
	const struct scsi_capacity *now = &s->capacity;
	bool longlist = now->exponent != 0;
	struct scsi_cmd c = { .name = "FORMAT UNIT",
			      .cdb = { 0x04 },
			      .cdb_len = 6,
			      .out = true,
			      .erases = true,
			      .data = list,
			      .bytes = longlist ? 8 : 4,
			      /* a drive that knows no IMMED answers at the end */
			      .timeout_s = (uint32_t)(w->most_ns / 1000000000) };

	c.cdb[1] = (uint8_t)(fmtpinfo[now->protection] << 6 | longlist << 5 | 1 << 4);
	list[0] = now->protection == 3; /* protection fields usage */
	list[1] = 1 << 1; /* IMMED; all else as the drive has it */
	list[3] = longlist ? now->exponent : 0;
	return scsi_do(s, &c, err);
}

static int purge_format(struct scsi_drive *s, const struct dut *d, char detail[256],
			struct err *err)
{
	struct scsi_wait w = { .what = "FORMAT UNIT",
			       .most_ns = scsi_most_ns(s, SCSI_WRITING_BYTES_PER_S),
			       .look = scsi_look };
	uint64_t start_ns = s->now_ns();
	char span[48];
	int rc = check_pending(s, err);

	if (rc)
		return rc;
	scsi_tell(d, "FORMAT UNIT: sent, waited for at most %s",
		  fmt_span(span, sizeof span, w.most_ns));
	rc = format(s, &w, err);
	if (!rc)
		rc = scsi_wait(s, d, &w, err);
	if (!rc)
		rc = check_capacity(s, err);
	if (rc)
		return rc;
	snprintf(detail, 256, "FORMAT UNIT, blocks of %u bytes and protection type %u kept, %s",
		 s->capacity.lba_bytes, s->capacity.protection,
		 fmt_span(span, sizeof span, s->now_ns() - start_ns));
	return 0;
}

/* ---- SANITIZE ---- */

static const char *const kind_names[SANITIZE_KINDS] = {
	[SANITIZE_OVERWRITE] = "SANITIZE (overwrite)",
	[SANITIZE_BLOCK] = "SANITIZE (block erase)",
	[SANITIZE_CRYPTO] = "SANITIZE (cryptographic erase)",
};

static int sanitize(struct scsi_drive *s, uint8_t kind, struct err *err)
{
	/* One pass; a pattern of four bytes, zero. */
	uint8_t list[8] = { 1, 0, 0, 4 };
	struct scsi_cmd c = { .name = kind_names[kind],
			      .cdb = { 0x48, (uint8_t)(0x80 | kind) }, /* IMMED */
			      .cdb_len = 10,
			      .erases = true,
			      .timeout_s = 600 };

	if (kind == SANITIZE_OVERWRITE) {
		c.out = true;
		c.data = list;
		c.bytes = sizeof list;
		c.cdb[8] = sizeof list;
	}
	return scsi_do(s, &c, err);
}

static int purge_sanitize(struct scsi_drive *s, const struct dut *d, char detail[256],
			  struct err *err)
{
	uint8_t kind = s->sanitize[SANITIZE_BLOCK] == SCSI_YES	  ? SANITIZE_BLOCK
		       : s->sanitize[SANITIZE_CRYPTO] == SCSI_YES ? SANITIZE_CRYPTO
								  : SANITIZE_OVERWRITE;
	struct scsi_wait w = { .what = kind_names[kind],
			       .most_ns = scsi_most_ns(s, kind == SANITIZE_OVERWRITE
								  ? SCSI_WRITING_BYTES_PER_S
								  : SCSI_ERASING_BYTES_PER_S),
			       .look = scsi_look };
	uint64_t start_ns = s->now_ns();
	char span[48];
	int rc;

	if (s->sanitize[kind] != SCSI_YES)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the drive does not say that it knows SANITIZE", s->path);
	scsi_tell(d, "%s: sent, waited for at most %s", w.what,
		  fmt_span(span, sizeof span, w.most_ns));
	rc = sanitize(s, kind, err);
	if (!rc)
		rc = scsi_wait(s, d, &w, err);
	if (!rc)
		rc = check_capacity(s, err);
	if (!rc)
		snprintf(detail, 256, "%s, %s", w.what,
			 fmt_span(span, sizeof span, s->now_ns() - start_ns));
	return rc;
}

/* ---- all of them ---- */

/* The way out of a failure is to do it once more; only then can blocks be marked, for the one that is verified. */
static int leave_failure(struct scsi_drive *s, enum purge_method m, const struct dut *d,
			 const char *why, struct err *err)
{
	char ignored[256];

	if (m != PURGE_SCSI_FORMAT && m != PURGE_SCSI_SANITIZE)
		return err_set(err, -EIO, "%s: %s", s->path, why);
	scsi_tell(d, "%s once more, before the purge that is verified: %s", purge_method_name(m),
		  why);
	return m == PURGE_SCSI_FORMAT ? purge_format(s, d, ignored, err)
				      : purge_sanitize(s, d, ignored, err);
}

int scsi_ready(struct scsi_drive *s, enum purge_method m, const struct dut *d, struct err *err)
{
	struct scsi_progress p;
	int rc;

	if (!s->ata && !s->running)
		s->running = scsi_running_now(s);
	rc = scsi_settle(s, d, err);
	if (rc || s->ata)
		return rc ? rc : ata_ready(s, m, d, err);
	rc = scsi_look(s, &p, err);
	if (!rc && p.state == SCSI_FAILED)
		rc = leave_failure(s, m, d, p.why, err);
	if (!rc && m == PURGE_SCSI_FORMAT)
		rc = check_pending(s, err);
	return rc;
}

int scsi_purge(struct scsi_drive *s, enum purge_method m, const struct dut *d, char detail[256],
	       struct err *err)
{
	int rc = scsi_settle(s, d, err);
	bool is_ata = m == PURGE_ATA_SECURITY_ERASE || m == PURGE_ATA_SANITIZE;

	if (rc)
		return rc;
	if (s->ata && is_ata)
		return ata_purge(s, m, d, detail, err);
	if (!s->ata && m == PURGE_SCSI_FORMAT)
		return purge_format(s, d, detail, err);
	if (!s->ata && m == PURGE_SCSI_SANITIZE)
		return purge_sanitize(s, d, detail, err);
	return err_set(err, -EOPNOTSUPP, "%s: purge by %s is nothing for a %s drive", s->path,
		       purge_method_name(m), s->ata ? "SATA" : "SAS");
}
