/* SPDX-License-Identifier: MIT */
/*
 * What must be known of a drive after a crash, such as the password that an erase sets: a note in a small file outside of any
 * database, on the disk before the drive is touched, and taken away when all went well. The folder is $XDG_STATE_HOME/pts, else
 * /var/lib/pts; where that cannot be written, the folder of the database.
 */
#ifndef PTS_LEFT_H
#define PTS_LEFT_H

#include <limits.h>

#include "pts/base/err.h"
#include "workloads/dut.h"

#define LEFT_MAX 64

struct left {
	char what[32]; /* "ata-password" */
	char path[128], model[64], serial[64], wwid[80]; /* of the drive, as it was then */
	char detail[400]; /* in words */
	char utc[32];
	char file[PATH_MAX]; /* the note */
};

/* Durable when it returns 0: file and folder are synced. @db: of the options. An older note of the same kind is replaced. */
int left_put(const char *db, const struct dut_info *d, const char *what, const char *detail,
	     struct err *err) must_check;
/* Notes of all drives, at most LEFT_MAX; returns how many. What cannot be read is no note. */
unsigned left_list(const char *db, struct left ret[LEFT_MAX]);
/* Those of one drive. */
bool left_is_of(const struct left *l, const struct dut_info *d);
unsigned left_of(const char *db, const struct dut_info *d, struct left ret[LEFT_MAX]);
/* Takes away those of a drive. */
int left_remove(const char *db, const struct dut_info *d, struct err *err) must_check;

#endif
