/* SPDX-License-Identifier: MIT */
/*
 * ATA SECURITY ERASE UNIT and SANITIZE DEVICE. The first needs a password set, which a crash would leave behind: it is recorded
 * before it is sent, and ata_recover() takes it off.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "workloads/dut_scsi_impl.h"

#define S_NS 1000000000ull

/* ---- security ---- */

enum { SET_PASSWORD = 0xf1, UNLOCK, ERASE_PREPARE, ERASE_UNIT, FREEZE_LOCK, DISABLE_PASSWORD };

/* Those with a sector of data: word 0 (user password, level high, normal erase: all bits 0), then the password. */
static struct ata_cmd with_password(uint8_t command, const char *name, uint8_t sector[512])
{
	memset(sector, 0, 512);
	memcpy(sector + 2, ata_password, sizeof ata_password);
	return (struct ata_cmd){ .name = name,
				 .command = command,
				 .count = 1,
				 .direction = ATA_OUT,
				 .erases = true,
				 .data = sector };
}

static int password_command(struct scsi_drive *s, uint8_t command, const char *name,
			    struct err *err)
{
	uint8_t sector[512];
	struct ata_cmd c = with_password(command, name, sector);

	return ata_do(s, &c, err);
}

static const char *state_of(const struct scsi_drive *s)
{
	uint16_t w = s->identify[128];

	return w & 1u << 2   ? "locked with the password of pts"
	       : w & 1u << 1 ? "open, with the password of pts set"
			     : "open, without a password";
}

static bool password_is_set(const struct scsi_drive *s)
{
	return s->identify[128] & (1u << 1 | 1u << 2);
}

/* Unlocks if need be, takes the password off, looks. */
static int take_off(struct scsi_drive *s, struct err *err)
{
	int rc = 0;

	if (s->identify[128] & 1u << 2)
		rc = password_command(s, UNLOCK, "SECURITY UNLOCK", err);
	if (!rc)
		rc = password_command(s, DISABLE_PASSWORD, "SECURITY DISABLE PASSWORD", err);
	if (!rc)
		rc = ata_identify(s, err);
	if (!rc && password_is_set(s))
		rc = err_set(err, -EIO,
			     "%s: SECURITY DISABLE PASSWORD answered ok, but the drive is %s",
			     s->path, state_of(s));
	return rc;
}

/* After an erase that failed: the drive is not left locked, or it is said how it is left. @why: the failure. */
static int undo(struct scsi_drive *s, int code, const struct err *why, struct err *err)
{
	struct err other = { "" };
	int rc;

	/* Without an answer its state is unknown: nothing may follow but looking, later. */
	if (code == -ETIMEDOUT || code == -ENODEV || code == -ENXIO)
		return err_set(
			err, code,
			"%s; it may be locked with the password of pts: when it answers again, "
			"run pts purge --recover",
			why->msg);
	rc = ata_identify(s, &other);
	if (rc)
		return err_set(err, code,
			       "%s; it does not identify itself any more, and may be locked: power "
			       "cycle it, then run pts purge --recover",
			       why->msg);
	if (password_is_set(s))
		rc = take_off(s, &other);
	if (rc)
		return err_set(err, code, "%s; the drive is left %s: run pts purge --recover (%s)",
			       why->msg, state_of(s), other.msg);
	return err_set(err, code, "%s; the drive is left %s", why->msg, state_of(s));
}

static int refuse_security(struct scsi_drive *s, struct err *err)
{
	enum ata_security now;
	int rc = ata_identify(s, err);

	if (rc)
		return rc;
	now = ata_security_of(s->identify);
	if (now == ATA_READY)
		return 0;
	return err_set(err, now == ATA_NONE ? -EOPNOTSUPP : -EBUSY,
		       "%s: no ATA security erase now: %s", s->path, ata_security_text(now));
}

static int record(const struct scsi_drive *s, const struct dut *d, struct err *err)
{
	char detail[200];

	if (!d || !d->record)
		return err_set(err, -EINVAL,
			       "%s: the password of a security erase must be recorded before it is "
			       "set, and there is no place for it",
			       s->path);
	snprintf(detail, sizeof detail,
		 "%s serial %s: ATA user password \"%s\" is about to be set; undo: pts purge "
		 "--recover",
		 s->path, s->serial, ata_password);
	return d->record(d->arg, "ata-password", detail, err);
}

/* Set, and seen to be set: a controller that swallows it would swallow the erase as well. */
static int set_password(struct scsi_drive *s, struct err *err)
{
	int rc = password_command(s, SET_PASSWORD, "SECURITY SET PASSWORD", err);

	if (!rc)
		rc = ata_identify(s, err);
	if (!rc && !password_is_set(s))
		rc = err_set(
			err, -EIO,
			"%s: SECURITY SET PASSWORD answered ok, but the drive has no password: the "
			"controller filters security commands",
			s->path);
	return rc;
}

static int erase_unit(struct scsi_drive *s, uint32_t timeout_s, struct err *err)
{
	uint8_t sector[512];
	struct ata_cmd prepare = { .name = "SECURITY ERASE PREPARE",
				   .command = ERASE_PREPARE,
				   .erases = true };
	struct ata_cmd erase = with_password(ERASE_UNIT, "SECURITY ERASE UNIT", sector);
	int rc = ata_do(s, &prepare, err);

	erase.timeout_s = timeout_s;
	return rc ? rc : ata_do(s, &erase, err);
}

/* Twice what the drive states, and ten minutes; where it states none or just "more", what its size needs. */
static uint32_t erase_timeout_s(const struct scsi_drive *s, char stated[64])
{
	bool more;
	unsigned minutes = ata_erase_minutes(s->identify[89], &more);
	uint32_t by_size_s = (uint32_t)(scsi_most_ns(s, SCSI_WRITING_BYTES_PER_S) / S_NS);
	uint32_t by_word_s = minutes * 60 * 2 + 600;

	if (!minutes)
		snprintf(stated, 64, "the drive states no time");
	else
		snprintf(stated, 64, "the drive states %s%u min", more ? "more than " : "",
			 minutes);
	return (!minutes || more) && by_size_s > by_word_s ? by_size_s : by_word_s;
}

static int finish_erase(struct scsi_drive *s, struct err *err)
{
	struct err why = { "" };
	int rc = ata_identify(s, err);

	if (rc || !password_is_set(s))
		return rc;
	snprintf(why.msg, sizeof why.msg,
		 "%s: SECURITY ERASE UNIT answered ok, but did not take its password off", s->path);
	return undo(s, -EIO, &why, err);
}

static int purge_security(struct scsi_drive *s, const struct dut *d, char detail[256],
			  struct err *err)
{
	char stated[64], span[48];
	uint64_t start_ns = s->now_ns();
	struct err why = { "" };
	uint32_t timeout_s;
	int rc = refuse_security(s, err);

	if (!rc)
		rc = record(s, d, err);
	if (rc)
		return rc;
	timeout_s = erase_timeout_s(s, stated);
	rc = set_password(s, &why);
	if (rc)
		return undo(s, rc, &why, err);
	scsi_tell(d, "SECURITY ERASE UNIT: sent, %s; it can be neither asked nor stopped", stated);
	rc = erase_unit(s, timeout_s, &why);
	if (rc)
		return undo(s, rc, &why, err);
	rc = finish_erase(s, err);
	if (!rc)
		snprintf(detail, 256,
			 "SECURITY ERASE UNIT (normal erase, user password; %s), password off "
			 "again, %s",
			 stated, fmt_span(span, sizeof span, s->now_ns() - start_ns));
	return rc;
}

int ata_recover(struct scsi_drive *s, char detail[256], struct err *err)
{
	enum ata_security now;
	struct err why = { "" };
	bool locked;
	int rc;

	if (!s->ata) {
		snprintf(detail, 256, "no ATA drive: nothing to undo");
		return 0;
	}
	rc = ata_identify(s, &why);
	if (rc == -EOPNOTSUPP && strcmp(s->vendor, "ATA")) {
		snprintf(detail, 256, "it takes no ATA commands: nothing to undo");
		return 0;
	}
	if (rc)
		return err_set(err, rc, "%s", why.msg);
	now = ata_security_of(s->identify);
	if (now == ATA_NONE || !password_is_set(s)) {
		snprintf(detail, 256, "no password is set: nothing to undo");
		return 0;
	}
	locked = s->identify[128] & 1u << 2;
	if (now == ATA_FROZEN || now == ATA_EXPIRED)
		return err_set(err, -EBUSY, "%s: a password is set: %s", s->path,
			       ata_security_text(now));
	rc = take_off(s, err);
	if (rc)
		return err_prefix(
			err, rc == -EIO ? -EACCES : rc,
			"the password on the drive is not that of pts, or an erase was "
			"interrupted that must be done again (hdparm --security-erase pts)");
	snprintf(detail, 256, "%spassword of pts taken off: the drive is open",
		 locked ? "unlocked, " : "");
	return 0;
}

/* ---- SANITIZE DEVICE ---- */

#define SANITIZE_DEVICE 0xb4
#define FROZEN_TEXT \
	"sanitize is frozen: power cycle the drive, without the host's BIOS freezing it again"

static const struct ata_sanitize {
	const char *what;
	uint16_t word59, features, count;
	uint64_t lba; /* a signature, so that no stray command erases */
} kinds[] = {
	{ "SANITIZE (block erase)", 1u << 15, 0x0012, 0, 0x426b4572 /* "BkEr" */ },
	{ "SANITIZE (crypto scramble)", 1u << 13, 0x0011, 0, 0x43727970 /* "Cryp" */ },
	{ "SANITIZE (overwrite)", 1u << 14, 0x0014, 1,
	  0x4f5700000000 /* "OW", pattern 0, one pass */ },
};

static struct ata_cmd status_command(void)
{
	return (struct ata_cmd){ .name = "SANITIZE STATUS EXT",
				 .command = SANITIZE_DEVICE,
				 .device = 0x40,
				 .ext = true,
				 .registers = true };
}

/* Why a sanitize cannot be, from the low byte of the LBA of one that was aborted. */
static const char *sanitize_reason(const struct ata_cmd *c)
{
	static const char *const reasons[] = {
		"the drive gives no reason",
		"the last sanitize of the drive failed: it refuses IO until one ends well",
		"the drive does not know this sanitize",
		FROZEN_TEXT,
	};
	unsigned n = (unsigned)(c->lba_back & 0xff);

	return reasons[n < 4 ? n : 0];
}

static bool has_reason(const struct ata_cmd *c)
{
	return c->have_registers && c->status & 0x21 && c->lba_back & 0xff &&
	       (c->lba_back & 0xff) < 4;
}

static int ask_status(struct scsi_drive *s, struct ata_cmd *c, struct err *err)
{
	int rc;

	*c = status_command();
	rc = ata_send(s, c);
	if (rc && !has_reason(c))
		return ata_error(s, c, rc, err);
	if (!c->have_registers)
		return err_set(
			err, -EOPNOTSUPP,
			"%s: SANITIZE STATUS EXT: the way to the drive brings no registers back, "
			"so that its progress cannot be known: use another controller or --method",
			s->path);
	return 0;
}

int ata_look(struct scsi_drive *s, struct scsi_progress *ret, struct err *err)
{
	struct scsi_progress p = { .state = SCSI_RUNNING, .of_65536 = -1 };
	unsigned low;
	struct ata_cmd c;
	int rc = ask_status(s, &c, err);

	if (rc)
		return rc;
	low = (unsigned)(c.lba_back & 0xffff);
	if (c.status & 0x21) {
		p.state = SCSI_FAILED;
		snprintf(p.why, sizeof p.why, "%s", sanitize_reason(&c));
	} else if (c.narrow ? low != 0xffff : c.count_back & 1u << 14) {
		p.of_65536 = low == 0xffff ? -1 : (int)low;
	} else if (c.narrow || c.count_back & 1u << 15) {
		p.state = SCSI_OVER;
	} else {
		p.state = SCSI_FAILED;
		snprintf(p.why, sizeof p.why,
			 "it ended, and the drive does not say that it ended well");
	}
	*ret = p;
	return 0;
}

/* Frozen or without a way back for its state: found before anything is erased. */
static int refuse_sanitize(struct scsi_drive *s, struct err *err)
{
	struct ata_cmd c;
	int rc = ata_identify(s, err);

	if (!rc && s->identify[128] & 1u << 2)
		rc = err_set(err, -EBUSY, "%s: no sanitize now: %s", s->path,
			     ata_security_text(ATA_LOCKED));
	if (!rc)
		rc = ask_status(s, &c, err);
	if (rc)
		return rc;
	if (!c.narrow && !(c.status & 0x21) && c.count_back & 1u << 13)
		return err_set(err, -EBUSY, "%s: no sanitize now: %s", s->path, FROZEN_TEXT);
	return 0;
}

static int start_sanitize(struct scsi_drive *s, const struct ata_sanitize *k, struct err *err)
{
	struct ata_cmd c = status_command();
	int rc;

	c.name = k->what;
	c.features = k->features;
	c.count = k->count;
	c.lba = k->lba;
	c.erases = true;
	c.timeout_s = 300;
	rc = ata_send(s, &c);
	if (rc && has_reason(&c))
		return err_set(err, -EBUSY, "%s: %s: %s", s->path, k->what, sanitize_reason(&c));
	return rc ? ata_error(s, &c, rc, err) : 0;
}

static int purge_sanitize(struct scsi_drive *s, const struct dut *d, char detail[256],
			  struct err *err)
{
	const struct ata_sanitize *k = kinds;
	struct scsi_wait w = { .look = ata_look };
	uint64_t start_ns = s->now_ns();
	char span[48];
	int rc = refuse_sanitize(s, err);

	if (rc)
		return rc;
	while (k < kinds + 3 && !(s->identify[59] & k->word59))
		k++;
	if (k == kinds + 3 || !(s->identify[59] & 1u << 12))
		return err_set(err, -EOPNOTSUPP, "%s: the drive has no ATA SANITIZE", s->path);
	w.what = k->what;
	w.most_ns = scsi_most_ns(s, k == kinds + 2 ? SCSI_WRITING_BYTES_PER_S
						   : SCSI_ERASING_BYTES_PER_S);
	scsi_tell(d, "%s: sent, waited for at most %s", w.what,
		  fmt_span(span, sizeof span, w.most_ns));
	rc = start_sanitize(s, k, err);
	if (!rc)
		rc = scsi_wait(s, d, &w, err);
	if (!rc)
		snprintf(detail, 256, "ATA %s, %s", w.what,
			 fmt_span(span, sizeof span, s->now_ns() - start_ns));
	return rc;
}

/* The failure of an earlier one: the drive takes no IO until one ends well. */
static int leave_failure(struct scsi_drive *s, enum purge_method m, const struct dut *d,
			 struct err *err)
{
	char ignored[256];
	struct ata_cmd c;
	struct err none = { "" };

	if (!ata_word_valid(s->identify[59]) || !(s->identify[59] & 1u << 12) ||
	    ask_status(s, &c, &none) || !has_reason(&c) || (c.lba_back & 0xff) != 1)
		return 0;
	if (m != PURGE_ATA_SANITIZE)
		return err_set(err, -EIO, "%s: %s: --method ata-sanitize", s->path,
			       sanitize_reason(&c));
	scsi_tell(d, "ata-sanitize once more, before the purge that is verified: %s",
		  sanitize_reason(&c));
	return purge_sanitize(s, d, ignored, err);
}

int ata_ready(struct scsi_drive *s, enum purge_method m, const struct dut *d, struct err *err)
{
	int rc;

	if (!s->have_identify)
		return 0;
	rc = m == PURGE_ATA_SECURITY_ERASE ? refuse_security(s, err)
	     : m == PURGE_ATA_SANITIZE	   ? refuse_sanitize(s, err)
					   : ata_identify(s, err);
	if (rc)
		return rc;
	if (s->identify[128] & 1u << 2)
		return err_set(err, -EBUSY, "%s: no purge now: %s", s->path,
			       ata_security_text(ATA_LOCKED));
	return leave_failure(s, m, d, err);
}

int ata_purge(struct scsi_drive *s, enum purge_method m, const struct dut *d, char detail[256],
	      struct err *err)
{
	if (!s->have_identify)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the controller lets no ATA commands through to the drive",
			       s->path);
	return m == PURGE_ATA_SANITIZE ? purge_sanitize(s, d, detail, err)
				       : purge_security(s, d, detail, err);
}
