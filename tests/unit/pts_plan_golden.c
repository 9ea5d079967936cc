/* SPDX-License-Identifier: MIT */
/*
 * Every built-in test compiled for two profiles, formal and quick, 512 and 4096-byte blocks, compared with the plan kept in
 * tests/golden. PTS_GOLDEN=write rewrites them: read the difference before you commit it.
 */
#include <errno.h>

#include "pts/def.h"
#include "pts/plan.h"
#include "tests/plan_facts.h"
#include "tests/test.h"

static struct def_lib lib;

static bool load(void)
{
	static bool done;
	struct err err = { "" };

	if (!done && def_lib_load(&lib, NULL, &err)) {
		printf("# %s\n", err.msg);
		return false;
	}
	return done = true;
}

static void compare(const char *path, const struct buf *text)
{
	struct buf old = BUF_INIT;

	if (getenv("PTS_GOLDEN")) {
		FILE *f = fopen(path, "w");
		CHECK(f && fwrite(text->s, 1, text->len, f) == text->len && !fclose(f));
		return;
	}
	int rc = buf_read_file(&old, path, 64u << 20);
	bool same = !rc && !strcmp(buf_cstr(&old), buf_cstr(text));
	buf_release(&old);
	CHECK_MSG(!rc, "%s: %s", path, strerror(-rc));
	CHECK_MSG(same, "%s differs (PTS_GOLDEN=write rewrites it)", path);
}

static void golden(const struct def *d, const struct plan_env *env)
{
	struct err err = { "" };
	struct plan plan;
	struct buf text = BUF_INIT;
	char path[256];

	int rc = plan_compile(&lib, d, env, &plan, &err);
	CHECK_MSG(!rc, "%s: %s", def_summary(d).name, err.msg);
	plan_text(&plan, &text);
	snprintf(path, sizeof path, "tests/golden/plan-%s-%s%s%s.txt", plan.name,
		 env->profile == PROFILE_CLIENT ? "client" : "enterprise",
		 env->quick ? "-quick" : "", env->lba_bytes == 4096 ? "-4kn" : "");
	compare(path, &text);
	buf_release(&text);
	plan_release(&plan);
}

TEST(U19_plans_are_as_kept)
{
	CHECK(load());
	for (const struct def *d = def_next(&lib, NULL); d; d = def_next(&lib, d)) {
		if (def_summary(d).kind != DEF_TEST)
			continue;
		for (unsigned i = 0; i < 8; i++) {
			struct plan_env env = plan_facts_env(d, i & 1, i & 2, i & 4);
			DO(golden(d, &env));
		}
	}
	def_lib_release(&lib);
}

TEST_MAIN
