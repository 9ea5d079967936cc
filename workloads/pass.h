/* SPDX-License-Identifier: MIT */
/*
 * NVMe passthrough: reads and writes as NVMe commands to a namespace's character device, /dev/ngXnY, beside its block device, which
 * stays open for exclusive use. Commands go by io_uring (ring.h); this is how they are found and what their answers mean.
 */
#ifndef WORKLOADS_PASS_H
#define WORKLOADS_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"

/* Of zeros: none, block IO. */
struct pass {
	uint32_t nsid; /* 0: none */
	int fd; /* of the character device */
	uint32_t lba_bytes;
	uint32_t
		max_bytes; /* the most that one command moves, a power of two; larger IOs are several commands */
	bool read_only;
	const char *no_poll; /* why completions cannot be polled for; NULL: they can */
	char path[64]; /* "/dev/ng0n1" */
};

/*
 * The passthrough device of block device @fd, which is made sure of: it is the same namespace of the same controller. -EOPNOTSUPP with
 * the reason where there is none, for partitions, for formats with metadata; else as it comes.
 */
int pass_open(int fd, bool read_only, struct pass *ret, struct err *err) must_check;
int pass_dup(const struct pass *p, struct pass *ret, struct err *err) must_check;
void pass_close(struct pass *p); /* one of zeros is fine */

/* As in struct pass: of a queue that polls, on a kernel of this release. */
const char *pass_no_poll(bool queue_polls, const char *release);

/* The errno that the kernel's block layer makes of NVMe status @status, as completions carry it (> 0). */
int pass_errno(int status);

/*
 * The kernel's limits as sysfs tells: bytes of one command whose buffers are pages that lie anywhere, down to a power of two.
 * 0: nothing is told.
 */
uint32_t pass_max_bytes(const char *root, unsigned major, unsigned minor);
/* Of the 4096 bytes of Identify Namespace: the block size of the format in use. -EOPNOTSUPP where blocks carry more than data. */
int pass_format(const uint8_t ns[4096], uint32_t *ret_lba_bytes, struct err *err) must_check;

#endif
