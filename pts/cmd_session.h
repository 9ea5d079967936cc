/* SPDX-License-Identifier: MIT */
/* What run and resume share: target, plans, gate, store; tests one after the other; the end of a run. */
#ifndef PTS_CMD_SESSION_H
#define PTS_CMD_SESSION_H

#include "pts/cmd.h"
#include "pts/cmd_env.h"
#include "pts/cmd_progress.h"
#include "pts/cmd_targets.h"
#include "pts/interp.h"

struct session {
	const struct opts *o;
	struct cmd_env env;
	bool env_loaded;
	struct dut_name name;
	struct dut_info facts; /* as read before anything was opened for writing */
	struct targets targets; /* and of each drive of a set */
	struct dut *dut;
	struct plan *plan; /* one a test, compiled */
	unsigned n_plans;
	struct store *store;
	int64_t run;
	char uuid[37];
	enum purge_method method;
	uint64_t seed;
	struct progress_out progress;
	const char *cache_was; /* resume: see struct run_ctx */
	char link[32]; /* the drive's, as first seen in this run; "" not told */
	bool hung;
	bool storage_failed; /* the error that ended the last test is that of the database */
	unsigned bad; /* tests that ended without steady state */
};

/*
 * Set by SIGINT, SIGTERM, SIGHUP after session_signals(); a second signal ends the process at once, unless it comes with the
 * first, as from timeout(1), which tells the process and then its group.
 */
extern volatile int session_stop;
void session_signals(void);

/*
 * Everything that can be found out and refused without writing: words, options, the target's facts, the plans, the gate.
 * @words: tests and suites. On error the session is to be closed all the same.
 */
int session_prepare(struct session *s, const struct opts *o, const char *const *words, unsigned n,
		    struct err *err) must_check;

/* Opens the target for writing; needs session_prepare(). */
int session_open_dut(struct session *s, struct err *err) must_check;

/* Runs test @i (a new attempt, or inside the one of @recall). As interp_test(); counts bad verdicts, prints a line. */
int session_test(struct session *s, unsigned i, const struct recall *recall,
		 struct err *err) must_check;

/* Stores how the run ended and says it; @rc is 0 or the error that ended it. Returns the exit code. */
int session_end(struct session *s, int rc, struct err *err);

void session_close(struct session *s);

/* A random uuid in text. */
int session_uuid(char ret[37], struct err *err) must_check;

#endif
