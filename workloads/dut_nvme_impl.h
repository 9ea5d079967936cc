/* SPDX-License-Identifier: MIT */
/* What the files of the NVMe backend share. libnvme's own types stay inside them. */
#ifndef WORKLOADS_DUT_NVME_IMPL_H
#define WORKLOADS_DUT_NVME_IMPL_H

#include <stddef.h>

#include "workloads/dut_nvme.h"

#define NVME_OTHERS_MAX 256

/* The other disks of the same subsystem, those of its other controllers too. */
struct nvme_others {
	unsigned n;
	struct {
		uint32_t nsid;
		char block[32];
	} at[NVME_OTHERS_MAX];
};
void nvme_place_others(const struct nvme_place *p, struct nvme_others *ret);

/* Of identify controller. */
struct nvme_caps {
	char serial[64], model[64], firmware[32];
	bool format; /* OACS */
	bool format_reaches_all, erase_reaches_all; /* FNA */
	bool crypto, block, overwrite; /* SANICAP */
	bool ns_management, dsm, write_cache;
	uint32_t nn;
};

/* Of identify namespace. */
struct nvme_ns {
	uint64_t blocks;
	uint32_t lba_bytes;
	uint8_t format; /* index of the LBA format in use */
	bool extended; /* metadata at the end of each block */
	uint8_t protection; /* type, 0 none */
	bool protection_first;
	uint16_t metadata_bytes;
	char eui[24], nguid[40];
};

struct nvme_heat { /* counters of thermal management in the SMART log: transitions and seconds, light and heavy */
	uint32_t count[4];
};

struct nvme_drive {
	int fd; /* of the controller's character device */
	struct nvme_place place;
	struct nvme_caps caps;
	struct nvme_ns ns;
	bool unknown; /* a command ran out of time: what the drive does now is not known */
	bool alone; /* Format reaches no other namespace */
	bool have_heat;
	struct nvme_heat heat; /* when it was asked last */
	/* real time, but in tests */
	uint64_t (*now)(void);
	void (*pause)(uint64_t ns);
};

/* Takes over @fd. Asks the controller who it is; -ENODEV when that is not what sysfs says (fd is closed then, too). */
int nvme_attach(int fd, const struct nvme_place *p, struct nvme_drive **ret,
		struct err *err) must_check;
/* Asks again. Must be right before any command that follows one that ran out of time. */
int nvme_drive_identify(struct nvme_drive *n, struct err *err) must_check;
int nvme_trusted(struct nvme_drive *n, struct err *err) must_check;

/* Status code and type of a completion: 11 bits. */
static inline unsigned nvme_code(int rc)
{
	return rc > 0 ? (unsigned)rc & 0x7ff : 0;
}
#define NVME_CODE_SANITIZE_RUNS 0x01d
/*
 * What came of a libnvme call, @rc: 0; else err_set() with @what, the status in hexadecimal, its cause and the next step. -EBUSY a
 * sanitize runs, -EROFS write protected, -EACCES locked or no right, -ETIMEDOUT no answer (@n is unknown then), -ENODEV, -EIO.
 */
int nvme_result(struct nvme_drive *n, int rc, const char *what, struct err *err) must_check;
/* "0x4001, Invalid Command Opcode: CAUSE; NEXT STEP" of a status as libnvme returns it. */
void nvme_status_text(int rc, char *out, size_t n);

#endif
