/* SPDX-License-Identifier: MIT */
#include "pts/cmd_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/buf.h"

int hook_check(const char *file, struct err *err)
{
	struct stat st;

	if (stat(file, &st))
		return err_set(err, -EINVAL, "--purge-hook %.300s: %s", file, strerror(errno));
	if (!S_ISREG(st.st_mode) || access(file, X_OK))
		return err_set(err, -EINVAL, "--purge-hook %s: is no file that can be executed",
			       file);
	return 0;
}

static void set(const char *key, const char *value)
{
	if (setenv(key, value, 1))
		_exit(126);
}

/* In the child. */
static void set_environment(const struct hook *h)
{
	const struct layout *l = h->layout;
	struct buf members = BUF_INIT, serials = BUF_INIT;
	char text[64];

	set("PTS_DUT", h->path);
	if (!l)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		buf_fmt(&members, "%s%s", i ? " " : "", l->member[i].path);
		buf_fmt(&serials, "%s%s", i ? " " : "",
			l->member[i].serial[0] ? l->member[i].serial : l->member[i].path);
	}
	layout_text(l, text, sizeof text);
	set("PTS_LAYOUT", text);
	set("PTS_LEVEL", l->level);
	snprintf(text, sizeof text, "%u", l->disks);
	set("PTS_DISKS", text);
	set("PTS_UUID", h->uuid);
	set("PTS_MEMBERS", buf_cstr(&members));
	set("PTS_SERIALS", buf_cstr(&serials));
}

static void be_hook(const struct hook *h, pid_t parent)
{
	const char *argv[LAYOUT_MEMBERS_MAX + 3] = { h->file, h->path };
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0)
		_exit(126);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	set_environment(h);
	for (unsigned i = 0; h->layout && i < h->layout->n; i++)
		argv[2 + i] = h->layout->member[i].path;
	execv(h->file, (char *const *)(void *)argv);
	_exit(127);
}

/* The status of the program, ended with all it started when the user wants it so. */
static int wait_hook(const struct hook *h, pid_t pid, int *ret_status)
{
	const struct timespec step = { 0, 50000000 };
	bool told = false;

	for (;;) {
		pid_t p = waitpid(pid, ret_status, WNOHANG);

		if (p == pid)
			return told ? -EINTR : 0;
		if (p < 0 && errno != EINTR)
			return -errno;
		if (!told && h->stop && *h->stop) {
			kill(-pid, SIGTERM);
			fprintf(stderr,
				"pts: the purge hook (pid %d) was sent SIGTERM; its end is waited "
				"for\n",
				(int)pid);
			told = true;
		}
		nanosleep(&step, NULL);
	}
}

int hook_run(const struct hook *h, struct err *err)
{
	pid_t parent = getpid(), pid;
	int status = 0, rc;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "fork: %s", strerror(errno));
	if (!pid)
		be_hook(h, parent);
	setpgid(pid, pid);
	rc = wait_hook(h, pid, &status);
	if (rc == -EINTR)
		return err_set(err, rc, "interrupted");
	if (rc)
		return err_set(err, rc, "waiting for the purge hook: %s", strerror(-rc));
	if (WIFSIGNALED(status))
		return err_set(err, -EIO, "the purge hook %s was killed by signal %d", h->file,
			       WTERMSIG(status));
	if (WEXITSTATUS(status) == 127)
		return err_set(err, -EIO,
			       "the purge hook %s could not be started, or a program of it was not "
			       "found (exit 127)",
			       h->file);
	if (WEXITSTATUS(status))
		return err_set(err, -EIO, "the purge hook %s failed: exit %d", h->file,
			       WEXITSTATUS(status));
	return 0;
}
