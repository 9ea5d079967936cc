/* SPDX-License-Identifier: MIT */
/*
 * Whether a process works on a run: it holds a lock on the progress file beside the database (pts/cmd_progress.h). A run
 * that says "running" and is held by nobody was killed.
 */
#ifndef PTS_BASE_HELD_H
#define PTS_BASE_HELD_H

#include <stdbool.h>
#include <stddef.h>

/* The file beside @db of the run @uuid. */
void held_name(char *ret, size_t n, const char *db, const char *uuid);
bool held_run(const char *db, const char *uuid);

#endif
