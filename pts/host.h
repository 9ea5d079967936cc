/* SPDX-License-Identifier: MIT */
/* The machine a run was made on: CPU, memory, kernel, board, clock, and the target's queue settings; recorded, never changed. */
#ifndef PTS_HOST_H
#define PTS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "pts/base/arena.h"
#include "schema/store.h"

/* Facts as key/value, sorted by key, ends with key NULL, in the arena. @dev_path may be "" ; then no queue facts. */
const struct key_value *host_facts(struct arena *a, const char *dev_path);
/* The same with a prefix of /sys, /proc and /etc, for tests. */
const struct key_value *host_facts_at(struct arena *a, const char *sysroot, const char *dev_path);
/* The folder in /sys of the whole disk that @path is, is a partition of, or lies on as a file; false where there is none. */
bool host_disk(const char *sysroot, const char *path, char *ret, size_t n);

#endif
