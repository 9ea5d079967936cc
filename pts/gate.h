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
#include "workloads/dut_layout.h"

struct gate_request {
	const struct dut_info *info; /* of dut_open(DUT_READ) */
	const char *dut; /* as given */
	const char *const *destroy; /* words of --destroy */
	unsigned n_destroy;
	bool force_signature;
	bool agreed; /* consent was given in another way: no word is asked for */
	const char *sysroot; /* tests: prefix of /sys and /proc, NULL or "" otherwise */
};

/* 0 may be written to; -EPERM refused. */
int gate_check(const struct gate_request *rq, struct err *err) must_check;

/* The word --destroy wants for this drive: its serial, or its path where it has none. "" : none needed (sim, own file). */
const char *gate_word(const struct dut_info *info);

/*
 * What purge by @m of the target erases besides (dut_purge_reach()): -EPERM that names all of it, unless the user agreed to
 * @all_namespaces; then each that is a block device here passes the gate as the target does, but for the word.
 */
int gate_reach(const struct gate_request *rq, enum purge_method m, const struct purge_reach *reach,
	       bool all_namespaces, struct err *err) must_check;

/* What md array or dm device @path is, if it is one. */
bool gate_layout(const char *sysroot, const char *path, struct layout *ret);
/* Its uuid, of an array also from a member's superblock; "" not to be had. */
void gate_layout_uuid(const char *sysroot, const struct layout *l, char *ret, unsigned n);
/* The uuid of an array, or /dev/mapper/NAME, stands for its path as a word. */
bool gate_layout_named(const struct gate_request *rq, const char *word);

/* Of an array that a hook is to purge: a word for each drive it lies on. */
int gate_members(const struct gate_request *rq, struct err *err) must_check;
bool gate_member_named(const struct gate_request *rq, const char *word);

/* True if a word of --destroy is one of this target, whether it needs consent or not. */
bool gate_names(const struct gate_request *rq, const char *word);

/* What uses a drive now, in words: "mounted on /mnt (partition /dev/loop0p1)"; "" nothing. For `pts devices`. */
void gate_users(const char *path, const char *sysroot, char *ret, unsigned n);

/* What a drive carries, in words: "gpt partition table, ext4 file system on /dev/loop0p1"; "" nothing. 0 or -errno. */
int gate_signature(const char *path, const char *sysroot, char *ret, unsigned n) must_check;

#endif
