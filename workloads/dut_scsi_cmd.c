/* SPDX-License-Identifier: MIT */
/* One SCSI command through libsgutils2, and what its sense data means in words. */
#include <errno.h>
#include <scsi/sg_lib.h>
#include <scsi/sg_pt.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dut_scsi_impl.h"

#define ATTENTIONS 4 /* a drive may have several to tell: power on, mode parameters changed */
#define TIMEOUT_S 60
#define MOST_S 2000000 /* the library counts ms in an int */
/* Status of the host adapter. */
#define DID_NO_CONNECT 0x01
#define DID_TIME_OUT 0x03
#define DID_ABORT 0x05
#define DID_RESET 0x08
#define DID_TRANSPORT_DISRUPTED 0x0e
#define DID_TRANSPORT_FAILFAST 0x0f

uint64_t scsi_be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

uint16_t scsi_be16(const uint8_t *p)
{
	return (uint16_t)scsi_be(p, 2);
}

uint32_t scsi_be32(const uint8_t *p)
{
	return (uint32_t)scsi_be(p, 4);
}

int scsi_sense_progress(const uint8_t *sense, unsigned len)
{
	int progress;

	return sg_get_sense_progress_fld(sense, (int)len, &progress) ? progress : -1;
}

/* ---- sending ---- */

static int code_of_sense(const struct scsi_cmd *c)
{
	switch (c->key) {
	case SPC_SK_NO_SENSE:
	case SPC_SK_RECOVERED_ERROR:
	case SPC_SK_COMPLETED:
		return 0;
	case SPC_SK_NOT_READY:
		return -EBUSY;
	case SPC_SK_ILLEGAL_REQUEST:
		return -EOPNOTSUPP;
	case SPC_SK_UNIT_ATTENTION:
		return -EAGAIN;
	case SPC_SK_DATA_PROTECT:
		return -EACCES;
	default:
		return -EIO;
	}
}

static int code_of_status(const struct scsi_cmd *c)
{
	switch (c->status) {
	case SAM_STAT_GOOD:
	case SAM_STAT_CONDITION_MET:
		return 0;
	case SAM_STAT_BUSY:
	case SAM_STAT_TASK_SET_FULL:
	case SAM_STAT_RESERVATION_CONFLICT:
		return -EBUSY;
	default:
		return -EIO;
	}
}

static void read_sense(struct scsi_cmd *c)
{
	struct sg_scsi_sense_hdr h;

	if (!sg_scsi_normalize_sense(c->sense, (int)c->sense_len, &h))
		return;
	c->key = h.sense_key;
	c->asc = h.asc;
	c->ascq = h.ascq;
}

/* Of an earlier command that had been answered already: this one was not done. */
static bool deferred(const struct scsi_cmd *c)
{
	unsigned code = c->sense[0] & 0x7f;

	return c->sense_len && (code == 0x71 || code == 0x73);
}

/* The drive may have taken the command, or not: of an erase that must be known before anything follows. */
static int code_of_transport(const struct scsi_cmd *c)
{
	switch (c->transport) {
	case DID_NO_CONNECT:
		return -ENODEV;
	case DID_TIME_OUT:
		return -ETIMEDOUT;
	case DID_ABORT:
	case DID_RESET:
	case DID_TRANSPORT_DISRUPTED:
	case DID_TRANSPORT_FAILFAST:
		return c->erases ? -ETIMEDOUT : -EIO;
	default:
		return -EIO;
	}
}

static int answer_of(struct sg_pt_base *p, struct scsi_cmd *c)
{
	int resid = get_scsi_pt_resid(p), rc;

	c->status = (uint8_t)get_scsi_pt_status_response(p);
	c->got = resid > 0 && (uint32_t)resid <= c->bytes ? c->bytes - (uint32_t)resid : c->bytes;
	switch (get_scsi_pt_result_category(p)) {
	case SCSI_PT_RESULT_GOOD:
		return 0;
	case SCSI_PT_RESULT_STATUS:
		return code_of_status(c);
	case SCSI_PT_RESULT_SENSE:
		c->sense_len = (unsigned)get_scsi_pt_sense_len(p);
		read_sense(c);
		rc = code_of_sense(c);
		return !rc && deferred(c) ? -EIO : rc;
	case SCSI_PT_RESULT_TRANSPORT_ERR:
		c->transport = (unsigned)get_scsi_pt_transport_err(p);
		return code_of_transport(c);
	default:
		rc = get_scsi_pt_os_err(p);
		return rc > 0 ? -rc : -EIO;
	}
}

static uint32_t timeout_of(const struct scsi_cmd *c)
{
	return !c->timeout_s ? TIMEOUT_S : c->timeout_s < MOST_S ? c->timeout_s : MOST_S;
}

static int send_once(struct scsi_drive *s, struct scsi_cmd *c)
{
	struct sg_pt_base *p = construct_scsi_pt_obj();
	int rc;

	BUG_ON(!p);
	c->status = c->key = c->asc = c->ascq = 0;
	c->sense_len = c->transport = c->got = 0;
	memset(c->sense, 0, sizeof c->sense);
	set_scsi_pt_cdb(p, c->cdb, c->cdb_len);
	set_scsi_pt_sense(p, c->sense, sizeof c->sense);
	if (c->bytes && c->out)
		set_scsi_pt_data_out(p, c->data, (int)c->bytes);
	else if (c->bytes)
		set_scsi_pt_data_in(p, c->data, (int)c->bytes);
	rc = do_scsi_pt(p, s->fd, (int)timeout_of(c), 0);
	if (!rc)
		rc = answer_of(p, c);
	else if (rc > 0)
		rc = rc == SCSI_PT_DO_TIMEOUT ? -ETIMEDOUT : -EIO;
	destruct_scsi_pt_obj(p);
	return rc == -EPERM ? -EACCES : rc;
}

/* Power on, reset, parameters changed: the drive is the same. All else (another medium, size, identity) is looked at first. */
static bool harmless(const struct scsi_cmd *c)
{
	return c->asc == 0x29 || (c->asc == 0x2a && c->ascq != 0x09) || !c->erases;
}

int scsi_send(struct scsi_drive *s, struct scsi_cmd *c)
{
	int rc = send_once(s, c);

	for (unsigned i = 0; i < ATTENTIONS && rc == -EAGAIN && c->key && harmless(c); i++)
		rc = send_once(s, c);
	return rc;
}

/* ---- in words ---- */

#define ANY 0xff
#define OTHER_METHOD "choose another --method; a controller, a RAID or a lock may also filter it"

static const struct sense_row {
	uint8_t key, asc, ascq;
	const char *cause, *next;
} sense_rows[] = {
	{ 2, 0x04, 0x04, "a format runs in the drive", "wait for its end" },
	{ 2, 0x04, 0x1b, "a sanitize runs in the drive", "wait for its end" },
	{ 2, 0x04, 0x01, "the drive is becoming ready", "try again in a moment" },
	{ 2, 0x04, 0x02, "the drive is stopped", "start it (sg_start, power cycle)" },
	{ 2, 0x3a, ANY, "no medium in the drive", "" },
	{ 2, ANY, ANY, "the drive is not ready", "wait, then plug it in again" },
	{ ANY, 0x31, 0x03, "a sanitize of the drive failed",
	  "it refuses IO until one ends well: power cycle it, try sg_sanitize, look at its "
	  "health" },
	{ ANY, 0x31, 0x01, "a format of the drive failed",
	  "it refuses IO until one ends well: power cycle it, try sg_format, look at its health" },
	{ ANY, 0x31, ANY, "the format of the drive's medium is damaged",
	  "a format was interrupted: it refuses IO until one ends well (sg_format)" },
	{ 3, ANY, ANY, "the drive cannot read or write its medium",
	  "look at its error counters: it may be failing" },
	{ 4, ANY, ANY, "the drive's hardware failed", "power cycle it, look at its health" },
	{ 5, 0x20, ANY, "the drive does not know this command", OTHER_METHOD },
	{ 5, 0x24, ANY, "the drive does not take this form of the command", OTHER_METHOD },
	{ 5, 0x26, ANY, "the drive does not take these parameters", OTHER_METHOD },
	{ 5, 0x25, ANY, "there is no such logical unit", "look whether the drive is still there" },
	{ 5, 0x2c, ANY, "not in this order of commands", "try again" },
	{ 5, 0x30, ANY, "the medium does not fit this command", OTHER_METHOD },
	{ 5, 0x74, ANY, "the drive is locked by its security settings", "unlock it first" },
	{ 5, 0x55, 0x04, "the drive is short of resources", "try again" },
	{ 5, ANY, ANY, "the drive refuses the command", OTHER_METHOD },
	{ 6, 0x2a, 0x09, "the drive's capacity changed",
	  "rescan it, look whether it is the same drive" },
	{ 6, 0x28, ANY, "the drive's medium may have changed",
	  "look whether it is the same drive" },
	{ 6, 0x3f, ANY, "the drive's identity or firmware changed",
	  "look whether it is the same drive" },
	{ 6, ANY, ANY, "the drive was reset or changed meanwhile", "look at it, then try again" },
	{ 7, 0x27, ANY, "the drive is write-protected", "" },
	{ 7, ANY, ANY, "the drive is protected or locked", "unlock it first" },
	{ 0xb, ANY, ANY, "the drive or the controller aborted the command",
	  "a drive may be frozen or locked, a cable bad: look at the kernel's log" },
	{ ANY, ANY, ANY, "the drive failed the command", "look at the kernel's log" },
};

static const struct sense_row *find_row(const struct scsi_cmd *c)
{
	const struct sense_row *r = sense_rows;

	while ((r->key != ANY && r->key != c->key) || (r->asc != ANY && r->asc != c->asc) ||
	       (r->ascq != ANY && r->ascq != c->ascq))
		r++;
	return r;
}

/* The standard's own words for the pair of codes, in small letters where it begins; "" unknown ones. */
static void standard_words(const struct scsi_cmd *c, char out[100])
{
	static const char lead[] = "Additional sense: ";
	char text[160];

	sg_get_asc_ascq_str(c->asc, c->ascq, sizeof text, text);
	out[0] = 0;
	if (!strncmp(text, lead, sizeof lead - 1) && (c->asc || c->ascq))
		snprintf(out, 100, ": %.80s", text + sizeof lead - 1);
}

void scsi_sense_text(const struct scsi_cmd *c, char text[200], const char **next)
{
	const struct sense_row *r = find_row(c);
	char words[100] = "";

	if (r->asc == ANY || r->key == ANY)
		standard_words(c, words);
	snprintf(text, 200, "%s%s (%ssense %x/%02x/%02x)", r->cause, words,
		 deferred(c) ? "deferred " : "", c->key, c->asc, c->ascq);
	*next = r->next;
}

static void other_text(const struct scsi_cmd *c, int rc, char text[200], const char **next)
{
	*next = "";
	if (rc == -EACCES) {
		snprintf(text, 200, "no permission");
		*next = "commands to a drive need root (CAP_SYS_RAWIO)";
	} else if (rc == -ETIMEDOUT) {
		if (c->transport && c->transport != DID_TIME_OUT)
			snprintf(text, 200, "no answer: a reset or a lost link (host status %02x)",
				 c->transport);
		else
			snprintf(text, 200, "no answer within %u s", timeout_of(c));
		*next = "the drive's state is unknown: nothing more is sent to it";
	} else if (rc == -ENODEV || rc == -ENXIO) {
		snprintf(text, 200, "the drive is gone");
	} else if (c->status == SAM_STAT_RESERVATION_CONFLICT) {
		snprintf(text, 200, "another host has reserved the drive");
		*next = "release its reservation there (sg_persist)";
	} else if (c->status) {
		char status[60];
		sg_get_scsi_status_str(c->status, sizeof status, status);
		snprintf(text, 200, "status %02x: %s", c->status, status);
	} else if (c->transport) {
		snprintf(text, 200, "the host adapter failed the command (host status %02x)",
			 c->transport);
		*next = "look at the kernel's log";
	} else {
		snprintf(text, 200, "%s", strerror(-rc));
	}
}

int scsi_error(const struct scsi_drive *s, const struct scsi_cmd *c, int rc, struct err *err)
{
	const char *next;
	char text[200];

	if (c->sense_len && c->sense[0])
		scsi_sense_text(c, text, &next);
	else
		other_text(c, rc, text, &next);
	return err_set(err, rc, "%s: %s: %s%s%s", s->path, c->name, text, next[0] ? ": " : "",
		       next);
}

int scsi_do(struct scsi_drive *s, struct scsi_cmd *c, struct err *err)
{
	int rc = scsi_send(s, c);

	return rc ? scsi_error(s, c, rc, err) : 0;
}
