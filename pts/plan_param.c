/* SPDX-License-Identifier: MIT */
/* Parameters: the definition's values, those of --set and --scale, and whether that is the operator's choice to make. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/plan_ctx.h"

/* "a, b c" to words. */
static struct span split(struct arena *a, const char *s)
{
	struct word w[128];
	unsigned n = 0;

	while (n < 128) {
		s += strspn(s, " \t,");
		size_t len = strcspn(s, " \t,");
		if (!len)
			break;
		w[n++] = (struct word){ arena_strndup(a, s, len), false };
		s += len;
	}
	return (struct span){ n ? arena_memdup(a, w, n * sizeof w[0]) : NULL, n };
}

static bool same_words(struct span a, struct span b)
{
	if (a.n != b.n)
		return false;
	for (unsigned i = 0; i < a.n; i++)
		if (strcmp(a.w[i].s, b.w[i].s))
			return false;
	return true;
}

/* "6h..24h": both ends and the value of one kind. */
static bool in_range(struct arena *a, const char *range, const char *s)
{
	const char *dots = strstr(range, "..");
	uint64_t lo, hi, v;

	if (!dots)
		return false;
	const char *low = arena_strndup(a, range, (size_t)(dots - range));
	if (!parse_time(low, &lo) && !parse_time(dots + 2, &hi))
		return !parse_time(s, &v) && v >= lo && v <= hi;
	if (!parse_size(low, &lo) && !parse_size(dots + 2, &hi))
		return !parse_size(s, &v) && v >= lo && v <= hi;
	return false;
}

/* "client": any value is the operator's choice under that profile. */
static bool in_choice(struct ctx *c, struct span choice, const char *s)
{
	for (unsigned i = 0; i < choice.n; i++) {
		const char *w = choice.w[i].s;
		if (!strcmp(w, "any") || !strcmp(w, s) || in_range(c->a, w, s) ||
		    (!strcmp(w, "client") && c->env->profile == PROFILE_CLIENT))
			return true;
	}
	return false;
}

/* "param threads = profile", "param qd = profile": the value of the profile at hand. */
static struct span of_profile(struct ctx *c, const struct param *p, struct span words)
{
	bool threads = !strcmp(p->name, "threads");
	struct word w = { NULL, false };

	if ((!threads && strcmp(p->name, "qd")) || words.n != 1 || strcmp(words.w[0].s, "profile"))
		return words;
	w.s = arena_fmt(c->a, "%u", threads ? c->profile->threads : c->profile->qd);
	return (struct span){ arena_memdup(c->a, &w, sizeof w), 1 };
}

static void judge_choice(struct ctx *c, const struct param *p, struct span was, struct span now)
{
	struct buf b = BUF_INIT;
	bool outside = false;

	for (unsigned i = 0; i < now.n; i++)
		outside |= !in_choice(c, p->choice, now.w[i].s);
	if (!outside || same_words(was, now) || !was.n)
		return;
	buf_fmt(&b, "test %s: %s = ", c->test->name, p->name);
	span_text(now, &b);
	if (p->choice.n == 1 && !strcmp(p->choice.w[0].s, "client")) {
		buf_str(&b, " instead of ");
		span_text(was, &b);
		buf_str(&b, ", the operator's choice under the client profile only");
	} else if (p->choice.n) {
		buf_str(&b, " is outside its choice ");
		span_text(p->choice, &b);
	} else {
		buf_str(&b, " instead of ");
		span_text(was, &b);
	}
	ctx_deviation(c, c->test->clause, arena_strdup(c->a, buf_cstr(&b)));
	buf_release(&b);
}

/* The text of --set for a param (the last one given), or NULL. */
static const char *set_of(const struct plan_env *env, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	for (unsigned i = 0; i < env->n_set; i++)
		if (!strncmp(env->set[i], name, n) && env->set[i][n] == '=')
			found = env->set[i];
	return found;
}

static bool clean(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s == 0x7f || *s == '"' || *s == '@' || *s == '#')
			return false;
	return true;
}

static int take_set(struct ctx *c, struct param_val *pv, const char *set)
{
	const struct param *p = pv->param;
	struct span was = pv->words;
	const char *value = strchr(set, '=') + 1;

	pv->set = set;
	pv->words = of_profile(c, p, split(c->a, value));
	if (!strcmp(p->name, "capture"))
		return err_set(c->err, -EINVAL, "--set %s: the capture is given with --capture",
			       set);
	if (!clean(value))
		return err_set(c->err, -EINVAL, "--set %s: an unusable character in the value",
			       p->name);
	if (!pv->words.n)
		return err_set(c->err, -EINVAL, "--set %s: a value is missing", set);
	judge_choice(c, p, was, pv->words);
	return 0;
}

/* --scale goes to tests that may have several; one with a single choice, as the native replay, keeps it. */
static bool takes_scales(const struct param *p)
{
	return !strcmp(p->name, "scales") && !(p->choice.n == 1 && strcmp(p->choice.w[0].s, "any"));
}

int params_take(struct ctx *c)
{
	unsigned n = 0;

	for (const struct param *p = c->test->param; p; p = p->next)
		n++;
	c->param = arena_array(c->a, struct param_val, n + 1);
	for (const struct param *p = c->test->param; p; p = p->next) {
		struct param_val *pv = &c->param[c->n_params++];
		const char *set = set_of(c->env, p->name);
		pv->param = p;
		pv->words = of_profile(
			c, p, c->env->quick && p->value.quick.n ? p->value.quick : p->value.normal);
		if (!set && c->env->scales && takes_scales(p))
			set = arena_fmt(c->a, "scales=%s", c->env->scales);
		if (!set)
			continue;
		int rc = take_set(c, pv, set);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- JSON of what was used ---- */

static void json_words(struct json *j, const char *key, struct span w)
{
	struct buf b = BUF_INIT;
	uint64_t v;

	span_text(w, &b);
	if (w.n == 1 && !parse_uint(w.w[0].s, 0, INT64_MAX, &v))
		json_uint(j, key, v);
	else
		json_str(j, key, buf_cstr(&b));
	buf_release(&b);
}

static bool has_param(const struct ctx *c, const char *name)
{
	for (unsigned i = 0; i < c->n_params; i++)
		if (!strcmp(c->param[i].param->name, name))
			return true;
	return false;
}

static void json_profile(struct ctx *c, struct json *j)
{
	char num[32];

	json_str(j, "profile", c->env->profile == PROFILE_CLIENT ? "client" : "enterprise");
	json_bool(j, "quick", c->env->quick);
	json_str(j, "write-cache", c->profile->write_cache ? "on" : "off");
	json_str(j, "range", arena_fmt(c->a, "%s%%", fmt_double(num, sizeof num, c->range_pct)));
	if (c->seg_amount) {
		json_uint(j, "range-amount-bytes", c->seg_amount);
		json_uint(j, "range-segments", c->n_seg);
	}
	if (!has_param(c, "threads"))
		json_uint(j, "threads", c->profile->threads);
	if (!has_param(c, "qd"))
		json_uint(j, "qd", c->profile->qd);
}

const char *params_json(struct ctx *c)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_profile(c, &j);
	for (unsigned i = 0; i < c->n_params; i++) {
		const struct param_val *pv = &c->param[i];
		if (!strcmp(pv->param->name, "capture"))
			json_str(&j, "capture", c->env->capture ? c->env->capture->name : NULL);
		else
			json_words(&j, pv->param->name, pv->words);
	}
	json_end_object(&j);
	const char *s = arena_strdup(c->a, buf_cstr(&b));
	buf_release(&b);
	return s;
}

/* ---- what the command line says, before any drive is known ---- */

static const char *const *all_params(struct arena *a, const struct def *const *test, unsigned n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		for (const struct param *p = test[i]->param; p; p = p->next)
			count++;
	const char **list = arena_array(a, const char *, count + 1);
	count = 0;
	for (unsigned i = 0; i < n; i++)
		for (const struct param *p = test[i]->param; p; p = p->next)
			list[count++] = p->name;
	return list;
}

static bool in_list(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (!strcmp(*list, s))
			return true;
	return false;
}

static int check_set(struct arena *a, const char *set, const char *const *names, struct err *err)
{
	const char *eq = strchr(set, '=');
	char show[48];

	lex_show(show, set);
	if (!eq || eq == set)
		return err_set(err, -EINVAL, "--set '%s': it is written --set PARAM=VALUE", show);
	const char *name = arena_strndup(a, set, (size_t)(eq - set));
	if (in_list(names, name))
		return 0;
	const char *near = nearest_word(name, names);
	if (near)
		return err_set(err, -EINVAL,
			       "--set: no test here has a param '%s' (did you mean '%s'?)",
			       lex_show(show, name), near);
	return err_set(err, -EINVAL, "--set: no test here has a param '%s'", lex_show(show, name));
}

/* The same parameter said twice on one command line: neither may win silently. */
static int check_twice(const struct plan_env *env, unsigned i, struct err *err)
{
	const char *set = env->set[i];
	size_t n = strcspn(set, "=");
	char show[48];

	for (unsigned k = 0; k < i; k++)
		if (strcspn(env->set[k], "=") == n && !strncmp(env->set[k], set, n))
			return err_set(err, -EINVAL, "--set: '%.*s' is set twice", (int)n,
				       lex_show(show, set));
	if (env->scales && n == 6 && !strncmp(set, "scales", n))
		return err_set(err, -EINVAL, "--set scales=... and --scale say it twice");
	if (env->capture && n == 7 && !strncmp(set, "capture", n))
		return err_set(err, -EINVAL, "--set capture=... and --capture say it twice");
	return 0;
}

static bool any_scales(const struct def *const *test, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (const struct param *p = test[i]->param; p; p = p->next)
			if (takes_scales(p))
				return true;
	return false;
}

int plan_check_sets(const struct def *const *test, unsigned n, const struct plan_env *env,
		    struct err *err)
{
	struct arena a = ARENA_INIT;
	const char *const *names = all_params(&a, test, n);
	int rc = 0;

	for (unsigned i = 0; i < env->n_set && !rc; i++) {
		rc = check_set(&a, env->set[i], names, err);
		if (!rc)
			rc = check_twice(env, i, err);
	}
	if (!rc && env->scales && !any_scales(test, n))
		rc = err_set(err, -EINVAL, "--scale: no test here replays with scales");
	if (!rc && env->capture && !in_list(names, "capture"))
		rc = err_set(err, -EINVAL, "--capture: no test here uses a capture");
	for (unsigned i = 0; i < n && !rc && !env->capture; i++)
		for (const struct param *p = test[i]->param; p && !rc; p = p->next)
			if (!strcmp(p->name, "capture"))
				rc = err_set(err, -EINVAL, "test %s needs --capture",
					     test[i]->name);
	arena_release(&a);
	return rc;
}

bool plan_uses_capture(const struct def *test)
{
	for (const struct param *p = test->param; p; p = p->next)
		if (!strcmp(p->name, "capture"))
			return true;
	return false;
}

const char *plan_own_capture(const struct def *test)
{
	for (const struct param *p = test->param; p; p = p->next)
		if (!strcmp(p->name, "capture") && p->value.normal.n)
			return p->value.normal.w[0].s;
	return NULL;
}
