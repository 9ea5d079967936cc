/* SPDX-License-Identifier: MIT */
/* An ini file as a list of sections, each with its pairs and their lines: for files whose sections are things of one kind. */
#ifndef PTS_BASE_INI_H
#define PTS_BASE_INI_H

#include "pts/base/arena.h"
#include "pts/base/err.h"

struct ini_pair {
	const char *key, *value;
	unsigned line;
};

struct ini_section {
	const char *name;
	unsigned line;
	struct ini_pair *v;
	unsigned n;
};

struct ini_file {
	const char *name; /* as it was named, for messages */
	struct ini_section *v;
	unsigned n;
};

/*
 * -EINVAL with "NAME:LINE: ..." also for a key before the first section, one that is there twice in a section, and one without a
 * value. Texts are of @a.
 */
int ini_sections(const char *name, const char *text, size_t len, struct arena *a,
		 struct ini_file *ret, struct err *err) must_check;
/* The pair of that key, or NULL. */
const struct ini_pair *ini_pair(const struct ini_section *s, const char *key);
/* -EINVAL where a key of the section is none of @keys (ends with NULL), naming the nearest. */
int ini_only(const struct ini_file *f, const struct ini_section *s, const char *const *keys,
	     struct err *err) must_check;

#endif
