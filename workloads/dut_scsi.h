/* SPDX-License-Identifier: MIT */
/*
 * The command sets of SAS and SATA drives, through libsgutils2: FORMAT UNIT, SANITIZE, the caching mode page, log pages; behind
 * ATA PASS-THROUGH, SECURITY ERASE UNIT and SANITIZE DEVICE.
 */
#ifndef WORKLOADS_DUT_SCSI_H
#define WORKLOADS_DUT_SCSI_H

#include <stdbool.h>

#include "workloads/dut.h"

struct scsi_drive;

/*
 * Opens block device @path (of /dev/sdX) for commands, asks it what it is; writes nothing. -ENOTTY: it takes no SCSI commands,
 * or none may be sent: a partition, through which they would reach the whole drive, a bridge of USB; -EACCES no right; -ENODEV: its capacity is not what the
 * kernel believes. @sata: what sysfs knows; a drive that names itself "ATA" behind a SAS controller is found out besides.
 */
int scsi_open(const char *path, bool sata, struct scsi_drive **ret, struct err *err) must_check;
void scsi_close(struct scsi_drive *s); /* NULL is fine */
/* What was opened by its name has this number. */
bool scsi_is(const struct scsi_drive *s, unsigned major, unsigned minor);
/* Fills what INQUIRY, IDENTIFY and mode pages tell; purge methods, purge_auto and why. */
void scsi_facts(const struct scsi_drive *s, struct dut_info *info);
/*
 * Waits for a FORMAT UNIT or SANITIZE that runs in the drive already, say since before our own restart; 0 at once where none
 * does. Before anything is marked or read: meanwhile the drive refuses IO. Progress and stop as scsi_purge().
 */
int scsi_settle(struct scsi_drive *s, const struct dut *d, struct err *err) must_check;
/*
 * What would hinder a purge by @m, before anything is marked: what runs in the drive is waited for, a failure that makes it
 * refuse IO is left by one more of the same kind where @m is of that kind, a lock or a freeze is said.
 */
int scsi_ready(struct scsi_drive *s, enum purge_method m, const struct dut *d,
	       struct err *err) must_check;
/* As nvme_purge(). */
int scsi_purge(struct scsi_drive *s, enum purge_method m, const struct dut *d, char detail[256],
	       struct err *err) must_check;
int scsi_write_cache(struct scsi_drive *s, bool on, bool *ret_was, struct err *err) must_check;
/* Log pages, SMART, device statistics; keeps in @ret what sysfs told where the drive does not say. */
int scsi_health(struct scsi_drive *s, struct health *ret, struct err *err) must_check;

/* IDENTIFY DEVICE words 82, 85, 89, 90, 128: what security erase can do now, and what hinders it. */
enum ata_security { ATA_NONE, ATA_READY, ATA_ENABLED, ATA_LOCKED, ATA_FROZEN, ATA_EXPIRED };
enum ata_security ata_security_of(const uint16_t identify[256]);
/* In words, with what to do: "frozen by the BIOS: suspend and resume the host, or plug the drive in again". */
const char *ata_security_text(enum ata_security s);
/*
 * The password that pts sets for an erase, 32 bytes: "pts" and zeros, the same always, and documented, so that it can be undone
 * whatever was lost (with other programs, too: hdparm --security-disable pts /dev/sdX).
 */
extern const char ata_password[32];
/* Undoes a half-done erase: unlocks with that password and disables security. 0 also when there was nothing to undo. */
int ata_recover(struct scsi_drive *s, char detail[256], struct err *err) must_check;

#endif
