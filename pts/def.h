/* SPDX-License-Identifier: MIT */
/*
 * The library of definitions: tests, workloads, suites and profiles as text (pts-def(5)), built in and from the folders
 * of PTS_DEF_PATH (":"-separated; *.pts and *.wl there; a name found there hides the built-in one). Parsing is strict:
 * "FILE:LINE: unknown word 'qdepth' (did you mean 'qd'?)".
 */
#ifndef PTS_DEF_H
#define PTS_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "pts/base/buf.h"

enum def_kind { DEF_TEST, DEF_WORKLOAD, DEF_SUITE };

struct def; /* one parsed definition */

struct def_lib {
	struct arena arena;
	struct def *first; /* all definitions, sorted by kind and name */
	struct profile_def *profile;
	int set; /* number of the built-in definition set (profiles.pts: "set N") */
};

struct def_summary {
	enum def_kind kind;
	const char *name, *title, *clause; /* "" where a kind has none */
	const char *source; /* "built-in" or the file */
	const char *origin; /* WORKLOAD: where its numbers come from; else "" */
	bool formal; /* built-in and not hidden by a changed copy */
};

/* Parses everything. @path may be NULL. -EINVAL with the place of the mistake; -ENOENT for a folder that is not there. */
int def_lib_load(struct def_lib *lib, const char *path, struct err *err) must_check;
/* The same; the words that are files (def_is_file()) are read first and hide what has the same names elsewhere. */
int def_lib_load_files(struct def_lib *lib, const char *const *words, unsigned n, const char *path,
		       struct err *err) must_check;
/* "my/suite.pts": a word of the command line that names a file of definitions. */
bool def_is_file(const char *word);
void def_lib_release(struct def_lib *lib);

const struct def *def_find(const struct def_lib *lib, enum def_kind kind, const char *name);
const struct def *def_next(const struct def_lib *lib,
			   const struct def *d); /* NULL starts; iterates in order */
struct def_summary def_summary(const struct def *d);

/*
 * The definition as it runs, in its own language, normalised (`like` resolved, one blank between words): what pts show
 * prints, what is stored and hashed with a run. Parsing it again gives the same text.
 */
void def_text(const struct def_lib *lib, const struct def *d, struct buf *out);

/*
 * Resolves command-line words to tests in order: a test's name, a suite's (its tests), or a file's (its suites, else its tests). -EINVAL for an unknown name with
 * the nearest one. @ret_tests is in the library's arena.
 */
int def_resolve(struct def_lib *lib, const char *const *words, unsigned n,
		const struct def ***ret_tests, unsigned *ret_n, struct err *err) must_check;

#endif
