/* SPDX-License-Identifier: MIT */
#include "pts/cmd_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/cmd_capture_rows.h"

static int take_profile(const struct opts *o, struct plan_env *env, struct err *err)
{
	static const char *const names[] = { "enterprise", "client", NULL };

	env->profile = PROFILE_ENTERPRISE;
	if (!o->profile || !strcmp(o->profile, names[0]))
		return 0;
	env->profile = PROFILE_CLIENT;
	if (!strcmp(o->profile, names[1]))
		return 0;
	const char *near = nearest_word(o->profile, names);
	return err_set(err, -EINVAL,
		       near ? "unknown profile '%s' (did you mean '%s'?)"
			    : "unknown profile '%s': enterprise or client%s",
		       o->profile, near ? near : "");
}

/*
 * The capture of the tests: that of --capture, else the one that they name themselves, and then one that is the same for all:
 * a test that names none is not given another's. NULL none is used.
 */
static int which_capture(const struct opts *o, const struct cmd_env *e, const char **ret,
			 struct err *err)
{
	const struct def *of = NULL;
	const char *name = o->capture;

	for (unsigned i = 0; i < e->n_tests && !o->capture; i++) {
		const char *own = plan_own_capture(e->test[i]);
		const char *test = def_summary(e->test[i]).name;

		if (own && name && strcmp(own, name))
			return err_set(err, -EINVAL,
				       "test %s is of capture %s, and test %s of %s: one run has "
				       "one capture",
				       def_summary(of).name, name, test, own);
		if (own && !name) {
			name = own;
			of = e->test[i];
		}
	}
	for (unsigned i = 0; i < e->n_tests && of; i++)
		if (plan_uses_capture(e->test[i]) && !plan_own_capture(e->test[i]))
			return err_set(err, -EINVAL, "test %s needs --capture",
				       def_summary(e->test[i]).name);
	*ret = name;
	return 0;
}

/* Read once, whatever the number of drives. */
static int take_capture(const struct opts *o, struct cmd_env *e, struct err *err)
{
	const char *name = NULL;
	struct capture_choice choice = { .rule.strict = o->seq_rule &&
							!strcmp(o->seq_rule, "strict") };
	uint64_t window = SEQ_WINDOW_DEFAULT;

	int rc = which_capture(o, e, &name, err);
	if (rc || !name)
		return rc;
	if (o->seq_window && parse_uint(o->seq_window, 1, SEQ_WINDOW_MAX, &window))
		return err_set(err, -EINVAL, "--seq-window '%s' is no number from 1 to %u",
			       o->seq_window, SEQ_WINDOW_MAX);
	choice.rule.window = (unsigned)window;
	if (o->step && (parse_time(o->step, &choice.step_ns) || !choice.step_ns))
		return err_set(err, -EINVAL, "--step '%s' is no time such as 1s", o->step);
	rc = capture_sha256(name, e->capture_sha256, err);
	if (!rc)
		rc = capture_load(name, &choice, &e->capture, err);
	if (rc)
		return err_prefix(err, rc, o->capture ? "--capture" : "capture of the definition");
	e->env.capture = capture_facts(e->capture);
	return 0;
}

/* What the command line says of plans, whatever the drive. */
static int env_options(const struct opts *o, struct plan_env *env, struct err *err)
{
	env->seed = 1;
	env->quick = o->quick;
	env->set = o->set.v;
	env->n_set = o->set.n;
	env->scales = o->scale;
	int rc = take_profile(o, env, err);
	if (!rc && o->seed && parse_uint(o->seed, 0, INT64_MAX, &env->seed))
		return err_set(err, -EINVAL, "--seed '%s' is no whole number", o->seed);
	return rc;
}

int cmd_env_contradictions(const struct opts *o)
{
	for (unsigned i = 0; i < o->dut.n; i++)
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(o->dut.v[i], o->dut.v[k]))
				return cmd_usage(o, "--dut %s is given twice", o->dut.v[i]);
	if (o->note && !text_is_utf8(o->note))
		return cmd_usage(o, "--note is not UTF-8");
	if (o->quiet && o->verbose)
		return cmd_usage(o, "--quiet and --verbose contradict one another");
	if (o->quiet && o->progress)
		return cmd_usage(o, "--quiet and --progress contradict one another");
	return EXIT_GOOD;
}

int cmd_env_load(const struct opts *o, const char *const *words, unsigned n, struct cmd_env *ret,
		 struct err *err)
{
	struct cmd_env e = { .arena = ARENA_INIT };

	int rc = env_options(o, &e.env, err);
	if (!rc)
		rc = def_lib_load_files(&e.lib, o->def.n ? o->def.v : words,
					o->def.n ? o->def.n : n, getenv("PTS_DEF_PATH"), err);
	if (rc)
		return rc;
	rc = def_resolve(&e.lib, words, n, &e.test, &e.n_tests, err);
	if (!rc && !e.n_tests)
		rc = err_set(err, -EINVAL, "no test in %s", words[0]);
	if (!rc)
		rc = take_capture(o, &e, err);
	if (!rc)
		rc = plan_check_sets(e.test, e.n_tests, &e.env, err);
	if (rc)
		cmd_env_release(&e);
	else
		*ret = e;
	return rc;
}

int cmd_env_build(const struct opts *o, const struct dut_info *info, struct cmd_env *e,
		  struct err *err)
{
	int rc = env_options(o, &e->env, err);

	if (rc)
		return rc;
	/* of a set: what every member can do */
	e->env.capacity_bytes = info->members ? info->member_bytes : info->capacity_bytes;
	e->env.lba_bytes = info->lba_bytes;
	e->env.members = info->members ? info->members : 1;
	return 0;
}

void cmd_env_release(struct cmd_env *e)
{
	capture_free(e->capture);
	def_lib_release(&e->lib);
	arena_release(&e->arena);
}
