/* SPDX-License-Identifier: MIT */
/* Words of a claims file: accesses, metrics, values with their units. */
#ifndef REPORTS_CLAIMS_WORDS_H
#define REPORTS_CLAIMS_WORDS_H

#include "reports/claims.h"

/*
 * "RND 4 KiB R", "rnd 4k r", "Random 4KB 70/30", "seq-128k-w", "RND 4 KiB R/W 0/100", each with "T4Q32" behind it or not. False: it
 * is none. With @loose what follows as "(...)" is passed over, as results have it.
 */
bool access_read(const char *text, bool loose, struct access *ret);
/* Begins like one, so that what cannot be read is a mistake. */
bool access_is_meant(const char *text);
bool access_same(const struct access *a, const struct access *b);
/* Alike but for case and blanks; @pattern may have * and ?. */
bool words_match(const char *pattern, const char *text);
/* Of the drive's model or serial, as fnmatch or as it stands. */
bool drive_matches(const char *pattern, const char *model, const char *serial);

/* A metric by any of its names; NULL: none. */
struct metric_word {
	const char *key; /* of struct result: "lat_p99_ns" */
	const char *title; /* "99 % RT" */
	enum unit unit;
	const char *words; /* what it is also called, blanks between */
};
const struct metric_word *metric_find(const char *word);
const struct metric_word *metric_of_key(const char *key);
/* All words, for the nearest one. Ends with NULL. */
const char *const *metric_words(void);

/*
 * "950000", "950k IOPS", "6800 MB/s", "0.1 ms", into the base unit. NULL, or what is wrong with it. Of @word the unit is known where
 * it says it (mbps).
 */
const char *value_read(const char *text, enum unit unit, const char *word, double *ret);
/* "3 %" -> 0.03; "0". */
int percent_read(const char *text, double *ret) must_check;

#endif
