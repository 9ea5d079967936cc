/* SPDX-License-Identifier: MIT */
#include "pts/base/words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/err.h"
#include "pts/base/json.h"

#define WORD_MAX 48 /* longer ones are not compared */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment), upper and lower case alike. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX + 1;
	for (unsigned i = 0; i <= la; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++)
		for (size_t j = 1; j <= lb; j++) {
			char ca = lower(a[i - 1]), cb = lower(b[j - 1]);

			d[i][j] = min2(d[i - 1][j - 1] + (ca != cb),
				       min2(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && ca == lower(b[j - 2]) && lower(a[i - 2]) == cb)
				d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[la][lb];
}

/* Length of the shorter word when the longer one begins with it ("qdepth" for "qd"), else 0. */
static unsigned prefix_len(const char *a, const char *b)
{
	unsigned n = 0;

	while (a[n] && b[n] && lower(a[n]) == lower(b[n]))
		n++;
	return a[n] && b[n] ? 0 : n;
}

const char *nearest_word(const char *word, const char *const *list)
{
	const char *best = NULL, *longest = NULL;
	unsigned best_d = 0, longest_n = 1;

	for (; *list; list++) {
		size_t len = strlen(*list) > strlen(word) ? strlen(*list) : strlen(word);
		unsigned d = distance(word, *list), n = prefix_len(word, *list);

		/* a third of the letters may be wrong, never all of them */
		if (d <= (len + 2) / 3 && d < len && (!best || d < best_d)) {
			best = *list;
			best_d = d;
		}
		if (n > longest_n) {
			longest = *list;
			longest_n = n;
		}
	}
	return best ? best : longest;
}

/* One reading of an ini file: where it is, and what it calls. */
struct ini {
	const char *name;
	int (*fn)(void *arg, const char *section, const char *key, const char *value,
		  unsigned line);
	void *arg;
	struct err *err;
	char *section;
	unsigned line;
	bool sections; /* each is told of */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static char *trim(char *s)
{
	size_t n;

	while (is_blank(*s))
		s++;
	n = strlen(s);
	while (n && is_blank(s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

static int ini_section(struct ini *ini, char *s)
{
	size_t n = strlen(s);

	if (s[n - 1] != ']')
		return err_set(ini->err, -EINVAL, "%s:%u: section without ']': %s", ini->name,
			       ini->line, s);
	s[n - 1] = '\0';
	ini->section = trim(s + 1);
	if (!ini->section[0])
		return err_set(ini->err, -EINVAL, "%s:%u: section without a name", ini->name,
			       ini->line);
	return ini->sections ? ini->fn(ini->arg, ini->section, NULL, NULL, ini->line) : 0;
}

static int ini_line(struct ini *ini, char *s)
{
	char *eq, *key;

	s = trim(s);
	if (!*s || *s == '#' || *s == ';')
		return 0;
	if (!text_is_utf8(s))
		return err_set(ini->err, -EINVAL, "%s:%u: not UTF-8", ini->name, ini->line);
	if (*s == '[')
		return ini_section(ini, s);
	eq = strchr(s, '=');
	if (!eq)
		return err_set(ini->err, -EINVAL, "%s:%u: not \"key = value\": %s", ini->name,
			       ini->line, s);
	*eq = '\0';
	key = trim(s);
	if (!*key)
		return err_set(ini->err, -EINVAL, "%s:%u: no key before '='", ini->name, ini->line);
	return ini->fn(ini->arg, ini->section, key, trim(eq + 1), ini->line);
}

static int ini_text(struct ini *ini, const char *text, size_t len)
{
	static char no_section[1];
	char *copy = strndup(text, len), *at = copy, *next;
	int rc = 0;

	ini->section = no_section;
	if (!copy)
		BUG("out of memory");
	if (strlen(copy) != len)
		rc = err_set(ini->err, -EINVAL, "%s: not a text file", ini->name);
	if (!strncmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	for (; !rc && at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		ini->line++;
		rc = ini_line(ini, at);
	}
	free(copy);
	return rc;
}

int ini_read(const char *name, const char *text, size_t len,
	     int (*fn)(void *arg, const char *section, const char *key, const char *value,
		       unsigned line),
	     void *arg, struct err *err)
{
	struct ini ini = { .name = name, .fn = fn, .arg = arg, .err = err };

	return ini_text(&ini, text, len);
}

int ini_read_sections(const char *name, const char *text, size_t len,
		      int (*fn)(void *arg, const char *section, const char *key, const char *value,
				unsigned line),
		      void *arg, struct err *err)
{
	struct ini ini = { .name = name, .fn = fn, .arg = arg, .err = err, .sections = true };

	return ini_text(&ini, text, len);
}
