/* SPDX-License-Identifier: MIT */
/* Runs tests/tools/xlsx_lint.py from a unit test. */
#ifndef TESTS_UNIT_REPORTS_LINT_H
#define TESTS_UNIT_REPORTS_LINT_H

#include <sys/wait.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "tests/test.h"

#define LINT "tests/tools/xlsx_lint.py"

/* Runs the lint (or its listing of cells); what it prints goes to @out. -1: no Python here. */
static int lint(struct buf *out, const char *a, const char *b, const char *c)
{
	int fd[2], status;
	char chunk[4096];
	ssize_t n;

	if (access(LINT, R_OK) || access("/usr/bin/python3", X_OK) || pipe(fd))
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		close(fd[0]);
		execl("/usr/bin/python3", "python3", LINT, a, b, c, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	while ((n = read(fd[0], chunk, sizeof chunk)) > 0)
		buf_add(out, chunk, (size_t)n);
	close(fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif
