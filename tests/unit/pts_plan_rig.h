/* SPDX-License-Identifier: MIT */
/* What the tests of the plan compiler share: one plan at a time of a test of the built-in library. */
#ifndef TESTS_UNIT_PTS_PLAN_RIG_H
#define TESTS_UNIT_PTS_PLAN_RIG_H

#include <errno.h>

#include "pts/def_ast.h"
#include "pts/plan.h"
#include "tests/plan_facts.h"
#include "tests/test.h"

static struct def_lib lib;
static bool loaded;
static struct plan plan;
static bool have_plan;
static struct err err;

static inline const struct def *test_named(const char *name)
{
	err.msg[0] = 0;
	if (!loaded && def_lib_load(&lib, NULL, &err))
		return NULL;
	loaded = true;
	return def_find(&lib, DEF_TEST, name);
}

static inline int try_plan(const struct def *d, const struct plan_env *env)
{
	if (have_plan)
		plan_release(&plan);
	err.msg[0] = 0;
	int rc = plan_compile(&lib, d, env, &plan, &err);
	have_plan = !rc;
	return rc;
}

static inline void compile(const char *name, bool client, bool quick, bool big)
{
	const struct def *d = test_named(name);

	CHECK_MSG(d, "no test %s: %s", name, err.msg);
	struct plan_env env = plan_facts_env(d, client, quick, big);
	int rc = try_plan(d, &env);
	CHECK_MSG(!rc, "%s: %s", name, err.msg);
}

/* Compiles with one --set. */
static inline int compile_set(const char *name, const char *set)
{
	const struct def *d = test_named(name);
	struct plan_env env = plan_facts_env(d, false, false, false);

	env.set = &set;
	env.n_set = 1;
	return try_plan(d, &env);
}

static inline unsigned count(enum opcode op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < plan.n; i++)
		n += plan.step[i].op == op;
	return n;
}

static inline const struct step *nth(enum opcode op, unsigned n)
{
	for (unsigned i = 0; i < plan.n; i++)
		if (plan.step[i].op == op && !n--)
			return &plan.step[i];
	return NULL;
}

static inline bool deviates(const char *part)
{
	for (unsigned i = 0; i < plan.n_deviations; i++)
		if (strstr(plan.deviation[i].text, part))
			return true;
	return false;
}

#endif
