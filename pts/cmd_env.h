/* SPDX-License-Identifier: MIT */
/* What run, resume and plan share: the library of definitions, the tests asked for, and the environment of their plans. */
#ifndef PTS_CMD_ENV_H
#define PTS_CMD_ENV_H

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "pts/cmd.h"
#include "pts/def.h"
#include "pts/plan.h"
#include "replay/capture.h"
#include "workloads/dut.h"

struct cmd_env {
	struct def_lib lib; /* built-in and $PTS_DEF_PATH */
	const struct def **test; /* in order, each once */
	unsigned n_tests;
	struct plan_env env; /* after cmd_env_build(); strings borrowed from the options */
	struct capture *capture; /* of --capture; NULL */
	char capture_sha256[65]; /* of its file; "" none */
	struct arena arena;
};

/*
 * Loads the library, resolves the words (tests, suites) and checks what needs no drive: --profile, --set names, --seed,
 * --scale, that --capture is given where it must be. On error everything is released again.
 */
int cmd_env_load(const struct opts *o, const char *const *words, unsigned n, struct cmd_env *ret,
		 struct err *err) must_check;

/* Options that contradict one another: a target named twice, quiet with what talks. Prints its error; an exit code. */
int cmd_env_contradictions(const struct opts *o);

/*
 * Fills e->env for a drive. The seed is that of --seed, else 1: cmd_run sets e->env.seed to the run's before it compiles.
 * May be called again for another drive.
 */
int cmd_env_build(const struct opts *o, const struct dut_info *info, struct cmd_env *e,
		  struct err *err) must_check;

void cmd_env_release(struct cmd_env *e);

#endif
