/* SPDX-License-Identifier: MIT */
/* Lines of tables in which a field may be quoted and then hold the separator. */
#ifndef REPLAY_QUOTED_H
#define REPLAY_QUOTED_H

#include <stdbool.h>
#include <stddef.h>

#define QUOTED_MAX 64

struct quoted {
	char *field[QUOTED_MAX]; /* without quotes and without the blanks around them */
	unsigned n;
};

/* Cuts @line in place. What is beyond QUOTED_MAX fields is left out. */
void quoted_split(char *line, char separator, struct quoted *ret);
/* The field that begins so, -1 none. */
int quoted_find(const struct quoted *q, const char *start);

#endif
