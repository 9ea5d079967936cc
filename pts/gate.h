/* SPDX-License-Identifier: MIT */
/*
 * The safety gate: is this target in use, does it carry data, has the user named it twice? Asked before anything is opened
 * for writing. A refusal is a message with the reason and what to do, and -EPERM (exit 2).
 */
#ifndef PTS_GATE_H
#define PTS_GATE_H

#include <stdbool.h>

#include "pts/base/err.h"
#include "workloads/dut.h"

struct gate_request {
	const struct dut_info *info; /* of dut_open(DUT_READ) */
	const char *dut; /* as given */
	const char *const *destroy; /* words of --destroy */
	unsigned n_destroy;
	bool force_signature;
	const char *sysroot; /* tests: prefix of /sys and /proc, NULL or "" otherwise */
};

/* 0 may be written to; -EPERM refused. */
int gate_check(const struct gate_request *rq, struct err *err) must_check;

/* The word --destroy wants for this drive: its serial, or its path where it has none. "" : none needed (sim, own file). */
const char *gate_word(const struct dut_info *info);

/* True if a word of --destroy is one of this target, whether it needs consent or not. */
bool gate_names(const struct gate_request *rq, const char *word);

/* What uses a drive now, in words: "mounted on /mnt (partition /dev/loop0p1)"; "" nothing. For `pts devices`. */
void gate_users(const char *path, const char *sysroot, char *ret, unsigned n);

/* What a drive carries, in words: "gpt partition table, ext4 file system on /dev/loop0p1"; "" nothing. 0 or -errno. */
int gate_signature(const char *path, const char *sysroot, char *ret, unsigned n) must_check;

#endif
