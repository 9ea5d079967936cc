/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay/quoted.h"

static char *skip_blanks(char *s)
{
	return s + strspn(s, " \t");
}

/* From behind the first quote; a doubled one stands for itself. Returns what follows the last. */
static char *unquote(char *s)
{
	char *to = s;

	while (*s && !(s[0] == '"' && s[1] != '"')) {
		s += s[0] == '"';
		*to++ = *s++;
	}
	if (*s)
		s++;
	*to = '\0';
	return s;
}

void quoted_split(char *line, char separator, struct quoted *ret)
{
	char *s = line;

	ret->n = 0;
	while (s && ret->n < QUOTED_MAX) {
		char *end;

		s = skip_blanks(s);
		if (*s == '"') {
			ret->field[ret->n++] = s + 1;
			s = unquote(s + 1);
			s = strchr(s, separator);
			s = s ? s + 1 : NULL;
			continue;
		}
		ret->field[ret->n++] = s;
		end = strchr(s, separator);
		s = end ? end + 1 : NULL;
		if (!end)
			end = ret->field[ret->n - 1] + strlen(ret->field[ret->n - 1]);
		while (end > ret->field[ret->n - 1] && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
	}
}

int quoted_find(const struct quoted *q, const char *start)
{
	for (unsigned i = 0; i < q->n; i++)
		if (strncmp(q->field[i], start, strlen(start)) == 0)
			return (int)i;
	return -1;
}
