/* SPDX-License-Identifier: MIT */
/* Parts of `pts selftest`: what was looked at of a drive, and what came out. */
#ifndef PTS_CMD_SELFTEST_H
#define PTS_CMD_SELFTEST_H

#include "pts/cmd_session.h"

enum selftest_result { SELFTEST_OK, SELFTEST_FAILED, SELFTEST_NOT_OFFERED, SELFTEST_NOT_TESTED };

#define SELFTEST_ROWS_MAX 64

struct selftest_row {
	char check[48];
	enum selftest_result result;
	char found[400];
};

struct selftest {
	struct session s;
	bool over; /* the drive is gone, or its state unknown: nothing may follow */
	bool stopped;
	struct selftest_row row[SELFTEST_ROWS_MAX];
	unsigned n;
};

/* One line of the table. Returns @result. */
enum selftest_result selftest_say(struct selftest *t, const char *check,
				  enum selftest_result result, const char *fmt, ...)
	printf_like(4, 5);
/* The same after a call that gave @rc: 0 ok, -EOPNOTSUPP not offered; -EINTR, -ENODEV and -ETIMEDOUT end the test. */
void selftest_rc(struct selftest *t, const char *check, int rc, const char *good,
		 const struct err *err);

/* cmd_selftest_checks.c: all but purges. Need the drive open for writing. */
void selftest_identity(struct selftest *t);
void selftest_direct(struct selftest *t);
void selftest_engine(struct selftest *t);
void selftest_cache(struct selftest *t);
void selftest_health(struct selftest *t);
void selftest_link(struct selftest *t);
/* Other ways to issue IO: the drive is closed and opened for each. */
void selftest_ways(struct selftest *t);
void selftest_not_here(struct selftest *t);

#endif
