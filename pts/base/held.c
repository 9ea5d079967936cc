/* SPDX-License-Identifier: MIT */
#include "pts/base/held.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

void held_name(char *ret, size_t n, const char *db, const char *uuid)
{
	snprintf(ret, n, "%s-%s.progress", db, uuid);
}

bool held_run(const char *db, const char *uuid)
{
	char path[4096];
	bool held;
	int fd;

	held_name(path, sizeof path, db, uuid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) < 0;
	close(fd);
	return held;
}
