/* SPDX-License-Identifier: MIT */
/* What the files of SAS and SATA drives share: a command and its answer, ATA behind it, waiting for what runs in the drive. */
#ifndef WORKLOADS_DUT_SCSI_IMPL_H
#define WORKLOADS_DUT_SCSI_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/dut_scsi.h"

/* ---- dut_scsi_cmd.c: one command ---- */

struct scsi_cmd {
	const char *name; /* for messages: "FORMAT UNIT" */
	uint8_t cdb[16], cdb_len;
	bool out; /* the data goes to the drive */
	bool erases; /* after a unit attention it is another's turn to decide */
	void *data;
	uint32_t bytes, timeout_s; /* 0 s: a minute */
	/* the answer */
	uint32_t got; /* bytes */
	uint8_t status, key, asc, ascq; /* the latter of the sense; 0 none */
	uint8_t sense[96];
	unsigned sense_len;
	unsigned transport; /* the host adapter's status, 0 fine */
};

/* Bits of what the drive says of one command. */
enum scsi_known { SCSI_UNKNOWN, SCSI_NO, SCSI_YES };

struct scsi_capacity {
	uint64_t blocks;
	uint32_t lba_bytes;
	uint8_t protection; /* 0 none, else its type */
	uint8_t exponent; /* of protection intervals in a block */
};

enum scsi_running { SCSI_IDLE, SCSI_FORMATTING, SCSI_SANITIZING };
enum { SANITIZE_OVERWRITE = 1, SANITIZE_BLOCK, SANITIZE_CRYPTO, SANITIZE_KINDS };

struct scsi_drive {
	int fd;
	char path[512];
	bool ata; /* commands go through ATA PASS-THROUGH */
	bool rotating;
	char vendor[64], model[64], serial[64], firmware[32], wwid[80], transport[16];
	enum scsi_running running; /* when it was asked */
	struct scsi_capacity capacity;
	uint32_t unmap_blocks; /* the most in one UNMAP; 0 none */
	bool thin_write_same;
	enum scsi_known format, sanitize[SANITIZE_KINDS];
	uint64_t log_pages; /* a bit for each that there is; not of ATA */
	bool cache_switch; /* it has a write cache that can be switched */
	uint16_t identify[256]; /* of ATA */
	bool have_identify;
	uint32_t statistics; /* of ATA: a bit for each page of device statistics that there is */
	/* tests have their own */
	uint64_t (*now_ns)(void);
	void (*sleep_ms)(unsigned ms);
};

/* 0, also after a recovered error; else -errno by kind, no message. Unit attentions that change nothing are passed over. */
int scsi_send(struct scsi_drive *s, struct scsi_cmd *c) must_check;
/* The message for that: cause and next step. Returns @rc. */
int scsi_error(const struct scsi_drive *s, const struct scsi_cmd *c, int rc, struct err *err);
int scsi_do(struct scsi_drive *s, struct scsi_cmd *c, struct err *err) must_check; /* both */
/* "the drive does not know this command (sense 5/20/00)" and what to do; @next may become "". */
void scsi_sense_text(const struct scsi_cmd *c, char text[200], const char **next);
/* 0..65535; -1 the sense has none. */
int scsi_sense_progress(const uint8_t *sense, unsigned len);

uint16_t scsi_be16(const uint8_t *p);
uint32_t scsi_be32(const uint8_t *p);
uint64_t scsi_be(const uint8_t *p, unsigned bytes);

/* ---- dut_scsi_wait.c ---- */

enum scsi_state { SCSI_RUNNING, SCSI_OVER, SCSI_FAILED };
struct scsi_progress {
	enum scsi_state state;
	int of_65536; /* -1 not told */
	char why[200]; /* of SCSI_FAILED */
};
struct scsi_wait {
	const char *what; /* "SANITIZE (block erase)" */
	uint64_t most_ns;
	int (*look)(struct scsi_drive *s, struct scsi_progress *ret, struct err *err);
};
/* 0 it is over; -EIO it failed; -EINTR stopped, the drive goes on; -ETIMEDOUT. */
int scsi_wait(struct scsi_drive *s, const struct dut *d, const struct scsi_wait *w,
	      struct err *err) must_check;
/* How long an erase may take: half an hour, and time for each byte at that rate. */
uint64_t scsi_most_ns(const struct scsi_drive *s, uint64_t bytes_per_s);
void scsi_tell(const struct dut *d, const char *fmt, ...) printf_like(2, 3);
/* The least rates that are waited for: blocks that are written one by one, and whole ones erased. */
#define SCSI_WRITING_BYTES_PER_S 100000000ull
#define SCSI_ERASING_BYTES_PER_S 1000000000ull

/* ---- dut_scsi.c ---- */

/* Asks for capacity, limits, commands, cache; what is not answered stays unknown. */
int scsi_ask(struct scsi_drive *s, struct err *err) must_check;
int scsi_read_capacity(struct scsi_drive *s, struct scsi_capacity *ret, struct err *err) must_check;
enum scsi_running scsi_running_now(struct scsi_drive *s);
/* The kernel looks at the drive anew: its cache, its size. */
void scsi_rescan(const struct scsi_drive *s);

/* dut_scsi_purge.c: TEST UNIT READY, and where that has no number, REQUEST SENSE. */
int scsi_look(struct scsi_drive *s, struct scsi_progress *ret, struct err *err) must_check;

/* ---- dut_scsi_cache.c ---- */

/* The caching mode page; -EOPNOTSUPP there is none. @ret_can: its WCE can be changed. */
int scsi_cache(struct scsi_drive *s, bool *ret_on, bool *ret_can, struct err *err) must_check;
/* The block length that a format would make, from the block descriptor; 0 not told. */
uint32_t scsi_pending_lba_bytes(struct scsi_drive *s);

/* ---- dut_scsi_health.c ---- */

void scsi_find_logs(struct scsi_drive *s);

/* ---- dut_ata.c: behind ATA PASS-THROUGH (16) ---- */

enum ata_data { ATA_NO_DATA, ATA_IN, ATA_OUT };
struct ata_cmd {
	const char *name;
	uint8_t command;
	uint16_t features, count;
	uint64_t lba;
	uint8_t device;
	bool ext; /* 48 bits */
	bool registers; /* the drive's registers are wanted back */
	bool erases;
	enum ata_data direction;
	void *data; /* 512 bytes */
	uint32_t timeout_s;
	/* the answer */
	bool have_registers, narrow; /* narrow: their upper bytes did not come */
	uint8_t error, status;
	uint16_t count_back;
	uint64_t lba_back;
	struct scsi_cmd scsi;
};
int ata_send(struct scsi_drive *s, struct ata_cmd *c) must_check; /* as scsi_send() */
int ata_do(struct scsi_drive *s, struct ata_cmd *c, struct err *err) must_check;
int ata_error(const struct scsi_drive *s, const struct ata_cmd *c, int rc, struct err *err);
int ata_identify(struct scsi_drive *s, struct err *err) must_check; /* into the drive */
int ata_ask(struct scsi_drive *s, struct err *err) must_check; /* all that is known of it */
void ata_facts(const struct scsi_drive *s, struct dut_info *info);
/* Minutes that IDENTIFY word 89 or 90 states; 0 not stated. @ret_more: and more. */
unsigned ata_erase_minutes(uint16_t word, bool *ret_more);
/* "bytes swapped in pairs": @n words from @w, cleaned. */
void ata_string(const uint16_t *w, unsigned n, char *out, size_t size);
bool ata_word_valid(uint16_t w);

/* ---- dut_ata_purge.c, dut_ata_health.c ---- */

int ata_purge(struct scsi_drive *s, enum purge_method m, const struct dut *d, char detail[256],
	      struct err *err) must_check;
/* Of scsi_ready(). */
int ata_ready(struct scsi_drive *s, enum purge_method m, const struct dut *d,
	      struct err *err) must_check;
/* SANITIZE STATUS EXT. */
int ata_look(struct scsi_drive *s, struct scsi_progress *ret, struct err *err) must_check;
int ata_write_cache(struct scsi_drive *s, bool on, bool *ret_was, struct err *err) must_check;
int ata_health(struct scsi_drive *s, struct health *ret, struct err *err) must_check;
void ata_find_statistics(struct scsi_drive *s);

#endif
