/* SPDX-License-Identifier: MIT */
/*
 * Tells where a run is: a line on stderr (a terminal), JSON lines (--progress=json), and a small file beside the database that
 * `pts status` reads. The file is locked by the process of the run, so that a run whose process is gone is known; it is no
 * evidence.
 */
#ifndef PTS_CMD_PROGRESS_H
#define PTS_CMD_PROGRESS_H

#include <stdbool.h>

#include "pts/base/buf.h"
#include "pts/cmd.h"
#include "pts/interp.h"

struct progress_out {
	int fd; /* of the file beside the database; -1 none */
	char path[4096];
	bool tty, json, quiet;
	const char *dut, *member; /* as named; member: prefix of lines, NULL for a run alone */
	char uuid[40];
	bool line_open; /* the terminal holds an unfinished line */
	uint64_t last_ns;
	char last_test[64];
	int last_round;
};

/* Creates and locks the file. -EBUSY: another process runs this run. A file that cannot be made only costs the status. */
int progress_open(struct progress_out *p, const struct opts *o, const char *uuid,
		  struct err *err) must_check;
/* run_ctx.live; @arg is the struct progress_out. */
void progress_live(void *arg, const struct live *l);
/* Ends an open line on the terminal before something else is said. */
void progress_break(struct progress_out *p);
/* A test is over: a line, or an object of the JSON stream. */
void progress_verdict(struct progress_out *p, const char *test, const char *verdict);
/* How a long purge goes on. */
void progress_purge(struct progress_out *p, const char *text);
/* run_ctx.warn; @arg is the struct progress_out. */
void progress_warn(void *arg, const char *test, const char *text);
/* Removes the file. */
void progress_close(struct progress_out *p);

/* v_run.state as it is: "interrupted" for one that says running while no process works on it. */
const char *progress_state(const char *db, const char *uuid, const char *state);

/* For readers: true while a process holds the run's file; @ret_json gets the last state, "" when there is none. */
bool progress_read(const char *db, const char *uuid, struct buf *ret_json, struct buf *ret_text);

#endif
