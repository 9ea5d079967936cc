/* SPDX-License-Identifier: MIT */
/*
 * Recording live block IO: reads the kernel's block events of the devices asked for, and nothing of the devices themselves.
 *
 * While it goes on the file is a stream of blktrace records (version 7) and only grows, in whole records: what a kill leaves
 * is valid to the last one and `pts import` reads it. The caller turns it into a capture afterwards (import_file()).
 *
 * Of a device with a request queue the requests are recorded (issue, completion, requeue), of one without (dm, md, zram, brd)
 * the bios (queue, completion); never both, so no IO counts twice. Of a partition its disk is recorded, and of that what lies
 * inside, with offsets from the partition's start; a flush says not for which partition it is and is left out.
 */
#ifndef REPLAY_RECORD_H
#define REPLAY_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"

#define RECORD_TARGETS_MAX 64
#define RECORD_ALIASES_MAX 64

/* A device to record. Numbers of devices as the kernel has them in its events: major << 20 | minor. */
struct record_target {
	const char *path; /* as given */
	char name[64]; /* "nvme0n1p2" */
	char disk_name[64]; /* "nvme0n1" */
	uint32_t dev, disk;
	/* under which its IO is seen: of a bio it may be the disk's or any partition's */
	uint32_t alias[RECORD_ALIASES_MAX];
	unsigned n_aliases;
	bool bio, part;
	uint64_t first_sector, sectors; /* of a partition, 512 bytes each */
};

/* -ENOENT, -ENOTBLK ... with the reason. */
int record_target_open(const char *path, struct record_target *ret, struct err *err) must_check;
/* -EINVAL: two of them would record the same IO: one twice, a disk and its partition, a device and one that it lies on. */
int record_targets_check(const struct record_target *t, unsigned n, struct err *err) must_check;
/*
 * Does a file on the device @file_dev (st_dev) end up on one of the targets? Its index, or -1. @why gets the way in words.
 * File systems that have no device of their own are not looked through.
 */
int record_lies_on(const struct record_target *t, unsigned n, uint64_t file_dev);

enum record_via { RECORD_EVENTS, RECORD_BLK };

struct record_state {
	uint64_t elapsed_ns, ios, lost;
};

struct record_opts {
	const struct record_target *target;
	unsigned n_targets;
	enum record_via via;
	int fd; /* where the records go: empty, O_APPEND */
	const char *out; /* its name, for messages */
	uint64_t for_ns; /* 0: until @stop */
	uint64_t buffer_bytes; /* of the kernel's, each CPU; 0: 8 MiB, less where there are many */
	const volatile sig_atomic_t *stop;
	/* once with elapsed_ns 0, when what is done now will be recorded; then about once a second; may be NULL */
	void (*progress)(void *arg, const struct record_state *s);
	void *arg;
};

struct record_result {
	uint64_t elapsed_ns, cpu_ns;
	uint64_t ios; /* starts seen */
	uint64_t records, lost; /* events */
	uint64_t buffer_bytes; /* of each CPU, as it was */
	const char *path; /* which one, in words */
};

/*
 * Records. Whatever happens, the kernel's settings are as before when it returns; what a killed recorder left behind is
 * removed at the next start. -EPERM not allowed, -ENOSYS no such events here, -EBUSY, -EIO, -ENOSPC.
 */
int record_run(const struct record_opts *o, struct record_result *ret, struct err *err) must_check;

#endif
