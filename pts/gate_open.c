/* SPDX-License-Identifier: MIT */
/* Which processes have a file or drive open: a look at /proc/PID/fd and maps, as far as we are allowed to. */
#include "pts/gate_use.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool tree_has(const struct use_tree *t, struct sys_dev dev)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (sys_same(t->node[i].dev, dev))
			return true;
	}
	return false;
}

static bool fd_writes(const char *root, const char *pid, const char *fd)
{
	char line[128];
	struct sys_lines l;
	char path[PATH_MAX], *s;
	bool writes = false;

	snprintf(path, sizeof path, "/proc/%s/fdinfo/%s", pid, fd);
	sys_lines_open(&l, root, path);
	while ((s = sys_lines_next(&l)) != NULL) {
		snprintf(line, sizeof line, "%s", s);
		if (!strncmp(line, "flags:", 6))
			writes = (strtoul(line + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
	}
	sys_lines_close(&l);
	return writes;
}

/* No question to a file server that may be dead: AT_STATX_DONT_SYNC. */
static bool fd_matches(const struct open_query *q, const char *pid, const char *fd)
{
	char path[PATH_MAX], target[8];
	struct statx st;
	bool same;

	snprintf(path, sizeof path, "%s/proc/%s/fd/%s", q->root, pid, fd);
	if (readlink(path, target, sizeof target) < 1 || target[0] != '/' ||
	    statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st))
		return false;
	if (q->tree)
		same = S_ISBLK(st.stx_mode) &&
		       tree_has(q->tree, (struct sys_dev){ st.stx_rdev_major, st.stx_rdev_minor });
	else
		same = st.stx_ino == q->file_ino &&
		       sys_same(q->file_dev,
				(struct sys_dev){ st.stx_dev_major, st.stx_dev_minor });
	return same && (q->readers || fd_writes(q->root, pid, fd));
}

static bool pid_has_open(const struct open_query *q, const char *pid)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/proc/%s/fd", q->root, pid);
	d = opendir(dir);
	while (d && !found && (e = readdir(d)) != NULL)
		found = e->d_name[0] != '.' && fd_matches(q, pid, e->d_name);
	if (d)
		closedir(d);
	return found;
}

/* A file may be closed and still mapped: a program's code, a library, a database. */
static bool pid_has_mapped(const struct open_query *q, const char *pid)
{
	char path[PATH_MAX], *s;
	struct sys_lines l;
	bool found = false;

	if (q->tree)
		return false;
	snprintf(path, sizeof path, "/proc/%s/maps", pid);
	sys_lines_open(&l, q->root, path);
	while (!found && (s = sys_lines_next(&l)) != NULL) {
		struct sys_dev d;
		unsigned long long ino;
		char how[8]; /* "rw-s" */

		found = sscanf(s, "%*s %7s %*s %x:%x %llu", how, &d.major, &d.minor, &ino) == 4 &&
			ino == q->file_ino && sys_same(d, q->file_dev) &&
			(q->readers || (how[1] == 'w' && how[3] == 's'));
	}
	sys_lines_close(&l);
	return found;
}

/*
 * The kernel lets go of a file some time after a killed process is gone, while its last IO comes back: busy is only what
 * stays busy.
 */
int use_claimed(const char *root, const char *path)
{
	const struct timespec tenth = { 0, 100000000 };
	char full[PATH_MAX];
	int rc = 0;

	snprintf(full, sizeof full, "%s%s", root, path);
	for (unsigned i = 0; i < 20; i++) {
		int fd = open(full, O_RDONLY | O_EXCL | O_NONBLOCK | O_CLOEXEC);

		rc = fd < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
		if (rc != -EBUSY)
			break;
		nanosleep(&tenth, NULL);
	}
	return rc;
}

/* This process, and the pts that started it for this very target. */
static bool pid_is_ours(const char *pid)
{
	char path[64], mine[PATH_MAX], theirs[PATH_MAX];
	long n = strtol(pid, NULL, 10);
	ssize_t a, b;

	if (n == getpid())
		return true;
	if (n != getppid())
		return false;
	snprintf(path, sizeof path, "/proc/%ld/exe", n);
	a = readlink("/proc/self/exe", mine, sizeof mine);
	b = readlink(path, theirs, sizeof theirs);
	return a > 0 && a == b && !memcmp(mine, theirs, (size_t)a);
}

bool use_opener(const struct open_query *q, char *ret, unsigned n)
{
	char dir[PATH_MAX], name[64];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/proc", q->root);
	d = opendir(dir);
	while (d && !found && (e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) || pid_is_ours(e->d_name))
			continue;
		found = pid_has_open(q, e->d_name) || pid_has_mapped(q, e->d_name);
		if (!found)
			continue;
		if (!sys_line(name, sizeof name, "%s/proc/%s/comm", q->root, e->d_name))
			snprintf(name, sizeof name, "a process");
		snprintf(ret, n, "%s (pid %.10s)", name, e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}
