/* SPDX-License-Identifier: MIT */
/* pts: one command from purge to report. Dispatch, and how commands speak to the outside. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/cmd_opts.h"

const char *pts_software(void)
{
	return PTS_SOFTWARE;
}

/* Names of files and drives are in messages: what a terminal would obey becomes '?'. */
static void complain(const struct opts *o, const char *msg)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "pts: %s%s", o->command ? o->command : "", o->command ? ": " : "");
	if (o->member)
		buf_fmt(&b, "%s: ", o->member);
	for (const char *p = msg; *p; p++)
		buf_add(&b, ((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f ? "?" : p, 1);
	fprintf(stderr, "%s\n", buf_cstr(&b));
	buf_release(&b);
}

int cmd_fail(const struct opts *o, int exit_code, const struct err *err)
{
	complain(o, err->msg[0] ? err->msg : "failed");
	return exit_code;
}

int cmd_usage(const struct opts *o, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char msg[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	for (char *p = msg; (p = strchr(p, '\n'));)
		*p = '?';
	complain(o, msg);
	buf_fmt(&b, o->command ? "try 'pts %s -h'\n" : "try 'pts help'\n", o->command);
	fputs(buf_cstr(&b), stderr);
	buf_release(&b);
	return EXIT_USAGE;
}

int exit_of(int rc)
{
	switch (rc < 0 ? -rc : rc) {
	case 0:
		return EXIT_GOOD;
	case EINTR:
		return EXIT_STOPPED;
	case EINVAL:
	case ENOENT:
	case EPERM:
	case EEXIST:
	case EISDIR:
	case ENOTDIR:
	case EFBIG:
	case ERANGE:
	case EDOM:
	case E2BIG:
	case ENAMETOOLONG:
	case EOPNOTSUPP:
		return EXIT_USAGE;
	default:
		return EXIT_DEVICE;
	}
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int cmd_out(const struct opts *o, const struct buf *text, int exit_code)
{
	struct err err = { "" };
	int rc = write_all(STDOUT_FILENO, buf_cstr(text), text->len);

	if (!rc && text->len && text->s[text->len - 1] != '\n')
		rc = write_all(STDOUT_FILENO, "\n", 1);
	if (!rc)
		return exit_code;
	err_set(&err, rc, "cannot write the result: %s", strerror(-rc));
	return cmd_fail(o, EXIT_DEVICE, &err);
}

/*
 * With stdout closed, the next file opened would take its number, and a message could end up on a drive. The stand-ins
 * refuse what they are not for, so that a lost result is still an error.
 */
static void guard_std_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			exit(EXIT_DEVICE);
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	struct buf text = BUF_INIT;
	struct opts o;
	bool help;
	int rc;

	guard_std_streams();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file grown to its limit is an error like a full disk */
	if (argc == 2 && !strcmp(argv[1], "--version"))
		argv[1] += 2;
	rc = opts_parse(argc, argv, &o, &cmd, &help);
	if (rc)
		return rc;
	if (!help)
		return cmd->fn(&o);
	if (!cmd)
		return cmd_help(&o);
	command_help(cmd, &text);
	rc = cmd_out(&o, &text, EXIT_GOOD);
	buf_release(&text);
	return rc;
}
