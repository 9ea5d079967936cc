/* SPDX-License-Identifier: MIT */
#include "pts/cmd_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/base/words.h"

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

static int take_capture(const struct opts *o, struct err *err)
{
	if (!o->capture)
		return 0;
	return err_set(err, -EOPNOTSUPP,
		       "--capture %s: this version of pts cannot read captures yet", o->capture);
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
	return rc ? rc : take_capture(o, err);
}

int cmd_env_load(const struct opts *o, const char *const *words, unsigned n, struct cmd_env *ret,
		 struct err *err)
{
	struct cmd_env e = { .arena = ARENA_INIT };

	int rc = env_options(o, &e.env, err);
	if (rc)
		return rc;
	rc = def_lib_load(&e.lib, getenv("PTS_DEF_PATH"), err);
	if (rc)
		return rc;
	rc = def_resolve(&e.lib, words, n, &e.test, &e.n_tests, err);
	if (!rc && !e.n_tests)
		rc = err_set(err, -EINVAL, "no test named");
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
	e->env.capacity_bytes = info->capacity_bytes;
	e->env.lba_bytes = info->lba_bytes;
	e->env.members = 1;
	return 0;
}

void cmd_env_release(struct cmd_env *e)
{
	def_lib_release(&e->lib);
	arena_release(&e->arena);
}
