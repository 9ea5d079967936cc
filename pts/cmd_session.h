/* SPDX-License-Identifier: MIT */
/* What run and resume share: target, plans, gate, store; tests one after the other; the end of a run. */
#ifndef PTS_CMD_SESSION_H
#define PTS_CMD_SESSION_H

#include "pts/cmd.h"
#include "pts/cmd_env.h"
#include "pts/cmd_progress.h"
#include "pts/cmd_targets.h"
#include "pts/interp.h"

struct session;

/* How the purge of one drive speaks: of a set each has its own, in a thread of its own. */
struct session_voice {
	struct session *s;
	unsigned member; /* of a set, from 1; else 0 */
	uint64_t last_ns;
	bool recorded; /* something to be known after a crash */
	char what[32], detail[400]; /* it; of a set stored when the purge is over */
};

struct session {
	const struct opts *o;
	struct cmd_env env;
	bool env_loaded;
	struct dut_name name;
	struct dut_info facts; /* as read before anything was opened for writing */
	struct targets targets; /* and of each drive of a set */
	struct dut *look; /* opened for these facts, until the gate has had its say */
	struct purge_reach reach; /* what purges erase besides the targets, agreed to */
	struct dut *dut;
	struct dut_info *was; /* of each drive, when it was opened for writing */
	struct session_voice voice[SET_MEMBERS_MAX + 1]; /* [0]: of a drive alone */
	char *moved; /* name of a target that a purge hook brought back under another; or NULL */
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

/* The target's facts and the method of its purges; nothing is refused yet that a gate would. To be closed all the same. */
int session_look(struct session *s, const struct opts *o, struct err *err) must_check;
/* The gate for all targets, and for what their purges reach besides. Ends the look. */
int session_gate(struct session *s, struct err *err) must_check;

/*
 * Everything that can be found out and refused without writing: words, options, the target's facts, the plans, the gate.
 * @words: tests and suites. On error the session is to be closed all the same.
 */
int session_prepare(struct session *s, const struct opts *o, const char *const *words, unsigned n,
		    struct err *err) must_check;

/* Opens the target for writing; needs session_gate(). */
int session_open_dut(struct session *s, struct err *err) must_check;

/* Runs test @i (a new attempt, or inside the one of @recall). As interp_test(); counts bad verdicts, prints a line. */
int session_test(struct session *s, unsigned i, const struct recall *recall,
		 struct err *err) must_check;

/* Stores how the run ended and says it; @rc is 0 or the error that ended it. Returns the exit code. */
int session_end(struct session *s, int rc, struct err *err);

void session_close(struct session *s);

/* ---- cmd_session_drive.c: what happens to the drive, and around it ---- */

/* What purges by the method chosen erase besides: -EPERM unless --all-namespaces was given and the gate lets each pass. */
int session_reach(struct session *s, struct err *err) must_check;
/* True when a purge of @a erases a target of @b. */
bool session_reaches(const struct session *a, const struct session *b);
/* The method of target @i, which --method auto leaves to the drive. */
enum purge_method session_method(const struct session *s, unsigned i);
/* "/dev/nvme0n1: purge by nvme-format (auto: ...)" on stderr, a line for each target. */
void session_tell_method(struct session *s);
/* Notes that a crashed purge left for a target, on stderr. */
void session_tell_left(const struct session *s);
/* Lets purges speak: progress on stderr, notes for after a crash; takes down what the drives are. */
int session_watch(struct session *s, struct err *err) must_check;
/* -ENODEV: a drive is gone, or another, or of another size than when it was opened. */
int session_same(struct session *s, struct err *err) must_check;
/* An array that rebuilds or checks itself meanwhile: told, and a deviation. */
int session_quiet(struct session *s, struct err *err) must_check;
/* Purges with the user's hook: marks, closes the target, runs it, finds the target again, looks for the marks. */
int session_hook(struct session *s, struct purge_report *ret, struct err *err) must_check;
/* A purge went well: notes are taken away. */
int session_purged(struct session *s, struct err *err) must_check;
/* The same as callbacks of a run. */
struct run_guard session_guard(struct session *s);

/* A random uuid in text. */
int session_uuid(char ret[37], struct err *err) must_check;

#endif
