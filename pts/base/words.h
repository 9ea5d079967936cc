/* SPDX-License-Identifier: MIT */
/* Words of people's files: the nearest valid word for an error message, and ini files. */
#ifndef PTS_BASE_WORDS_H
#define PTS_BASE_WORDS_H

#include <stddef.h>

struct err;

/* The word of @list (NULL-terminated) nearest to @word by edit distance, or NULL when none is near enough to be meant. */
const char *nearest_word(const char *word, const char *const *list);

/*
 * ini: "[section]", "key = value", "#" or ";" comments. Calls @fn for each pair with its line; its non-zero return
 * ends the reading and is returned. Lines that are malformed or
 * no UTF-8 are -EINVAL with "NAME:LINE: ...". @text needs no NUL at @len.
 */
int ini_read(const char *name, const char *text, size_t len,
	     int (*fn)(void *arg, const char *section, const char *key, const char *value,
		       unsigned line),
	     void *arg, struct err *err) __attribute__((warn_unused_result));

/* The same, told of each section's line as well: @fn with a NULL @key and @value, also of one without pairs. */
int ini_read_sections(const char *name, const char *text, size_t len,
		      int (*fn)(void *arg, const char *section, const char *key, const char *value,
				unsigned line),
		      void *arg, struct err *err) __attribute__((warn_unused_result));

#endif
