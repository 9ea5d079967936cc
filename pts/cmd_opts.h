/* SPDX-License-Identifier: MIT */
/* The table of commands and options: parsing, help, completion and the test of the manual page read it, nothing else says it twice. */
#ifndef PTS_CMD_OPTS_H
#define PTS_CMD_OPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "pts/cmd.h"

struct command {
	const char *name;
	int (*fn)(const struct opts *o);
	const char *synopsis; /* without "pts NAME" */
	const char *text; /* one line */
	const char *options; /* names it takes, blanks between; -h is taken by all */
	const char *needs; /* "a NAME": at least one word; NULL: none needed */
	unsigned max_words;
	const char *words; /* completion: "a|b" choices, or "@KIND" of `pts list KIND`; "" files */
};

enum option_kind { OPTION_FLAG, OPTION_VALUE, OPTION_LIST };

struct option_def {
	const char *name;
	char letter; /* 0: none */
	enum option_kind kind;
	size_t offset; /* in struct opts */
	const char *value; /* "FILE" */
	const char *choices; /* "enterprise|client"; NULL: any text */
	const char *help;
};

extern const struct command commands[]; /* ends with name NULL */
extern const struct option_def option_defs[]; /* ends with name NULL */

const struct command *command_find(const char *name);
bool command_takes(const struct command *c, const struct option_def *d);

/*
 * Parses the command line. 0 and a filled @ret; EXIT_USAGE after a message on stderr. With -h only as much is checked
 * as is needed to know the command (*ret_cmd NULL: pts -h).
 */
int opts_parse(int argc, char **argv, struct opts *ret, const struct command **ret_cmd,
	       bool *ret_help);

/* The lines of `pts COMMAND -h`. */
void command_help(const struct command *c, struct buf *out);

#endif
