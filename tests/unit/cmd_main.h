/* SPDX-License-Identifier: MIT */
/* For tests of parts of commands: what main.c gives them. Errors are not printed. */
#ifndef TESTS_UNIT_CMD_MAIN_H
#define TESTS_UNIT_CMD_MAIN_H

#include "pts/base/buf.h"
#include "pts/cmd.h"

const char *pts_software(void)
{
	return "pts test";
}

int cmd_fail(const struct opts *o, int exit_code, const struct err *err)
{
	return exit_code;
}

int cmd_usage(const struct opts *o, const char *fmt, ...)
{
	return EXIT_USAGE;
}

int exit_of(int rc)
{
	return rc ? EXIT_DEVICE : EXIT_GOOD;
}

int cmd_out(const struct opts *o, const struct buf *text, int exit_code)
{
	return exit_code;
}

#endif
