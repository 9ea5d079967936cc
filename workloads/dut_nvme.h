/* SPDX-License-Identifier: MIT */
/*
 * The command set of an NVMe namespace, through libnvme. Admin commands go to the namespace's own controller, found through sysfs
 * (never by editing names), with its own nsid (never the broadcast one).
 */
#ifndef WORKLOADS_DUT_NVME_H
#define WORKLOADS_DUT_NVME_H

#include <stdbool.h>

#include "workloads/dut.h"

struct nvme_drive;

/*
 * Where a namespace's controller is, as sysfs tells: @root is "/sys" but in tests. "nvme1" for nvme0n1 where that hangs under nvme1.
 * -ENOENT: no NVMe namespace.
 */
struct nvme_place {
	char ctrl[32]; /* "nvme1" */
	char block[32]; /* "nvme0n1" */
	char generic[32]; /* "ng0n1"; "" none */
	uint32_t nsid;
	char serial[64], transport[16], wwid[80], link[32], link_max[32];
	int numa_node;
	/* of the controller: its folder in sysfs, "241:1" of its character device, "0000:01:00.0" or "traddr=..." */
	char ctrl_dir[512], dev[16], address[80];
	char eui[24], nguid[40]; /* of the namespace: hexadecimal digits only; "" not told */
	uint64_t capacity_bytes;
	char root[64]; /* as given */
};
int nvme_place_find(const char *root, unsigned major, unsigned minor, struct nvme_place *ret,
		    struct err *err) must_check;

/*
 * Opens the controller of block device @major:@minor, asks it to identify itself. -ENOENT: no NVMe namespace; -EACCES no right. Fits
 * its answers to what sysfs says: another serial is -ENODEV.
 */
int nvme_drive_open(unsigned major, unsigned minor, struct nvme_drive **ret,
		    struct err *err) must_check;
void nvme_drive_close(struct nvme_drive *n); /* NULL is fine */
/* True: a sanitize is in progress. */
bool nvme_erasing(struct nvme_drive *n);
/* Fills what identify tells: model, serial, firmware, wwid, transport, nsid, write cache, purge methods, purge_auto and why. */
void nvme_facts(const struct nvme_drive *n, struct dut_info *info);
/*
 * Before the marks of a purge by @m are written: waits for a sanitize that is in progress (begun before we were started again, or by
 * others). After one that failed the drive takes nothing but a sanitize: where @m is one it is done, else -EIO.
 */
int nvme_ready(struct nvme_drive *n, enum purge_method m, const struct dut *d,
	       struct err *err) must_check;
/* Progress and stop as struct dut tells. 0; -EOPNOTSUPP; -EINTR; -ETIMEDOUT (state unknown: nothing may follow); -EIO ... */
int nvme_purge(struct nvme_drive *n, enum purge_method m, const struct dut *d, char detail[256],
	       struct err *err) must_check;
int nvme_write_cache(struct nvme_drive *n, bool on, bool *ret_was, struct err *err) must_check;
/* SMART / Health log, and what of it is throttling; keeps what sysfs told where the log does not say. */
int nvme_health(struct nvme_drive *n, struct health *ret, struct err *err) must_check;
int nvme_reach(struct nvme_drive *n, enum purge_method m, struct purge_reach *ret,
	       struct err *err) must_check;

#endif
