/* SPDX-License-Identifier: MIT */
/* Compiles a test for a drive. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "pts/plan_ctx.h"

/* The ActiveRange begins at LBA 0; with --quick it is short (spec 3.5). */
void range_set(struct ctx *c)
{
	uint32_t lba = c->env->lba_bytes;
	long double part = (long double)c->capacity_bytes * (long double)c->range_pct / 100;

	c->range_bytes = (uint64_t)part;
	if (c->env->quick && c->range_bytes > c->lib->profile->quick_range_bytes)
		c->range_bytes = c->lib->profile->quick_range_bytes;
	c->range_bytes = c->range_bytes / lba * lba;
}

static int ctx_init(struct ctx *c)
{
	const struct plan_env *env = c->env;
	const struct profile_def *p = c->lib->profile;

	if (!env->lba_bytes || env->capacity_bytes < env->lba_bytes)
		return err_set(c->err, -EINVAL, "a drive of %llu bytes: nothing to test",
			       (unsigned long long)env->capacity_bytes);
	c->profile = &p->side[env->profile == PROFILE_CLIENT];
	c->capacity_bytes = env->capacity_bytes / env->lba_bytes * env->lba_bytes;
	c->range_pct = c->profile->range_pct;
	c->formal = true;
	c->loop = c->repeat = -1;
	range_set(c);
	if (env->quick)
		ctx_deviation(c, "-", "--quick: short times, few rounds, a small range");
	if (p->changed) {
		c->formal = false;
		ctx_deviation(c, "-",
			      arena_fmt(c->a, "the profiles are not as in definition set %d",
					c->lib->set));
	}
	ctx_formal(c, c->test);
	return params_take(c);
}

/* AR amount and segments: the pieces must fit their k-th part of the range and leave a gap. */
static int segments_place(struct ctx *c, struct active_range *r)
{
	uint64_t part = r->bytes / c->n_seg, seg = c->seg_amount / c->n_seg;

	if (c->env->quick && seg > part / 2)
		seg = part / 2;
	seg = seg / c->largest * c->largest;
	if (!seg || seg + (c->n_seg > 1 ? c->env->lba_bytes : 0) > part)
		return err_set(c->err, -EINVAL,
			       "test %s: %u segments of %llu bytes do not fit the range of %llu",
			       c->test->name, c->n_seg, (unsigned long long)seg,
			       (unsigned long long)r->bytes);
	r->n_seg = c->n_seg;
	r->seg_bytes = seg;
	r->seed = rng_seed(c->env->seed, 0x5e6, c->n_seg, 0);
	return 0;
}

static int ranges_make(struct ctx *c)
{
	struct plan *p = c->plan;
	uint64_t bytes = c->range_bytes;
	char b[32];

	if (c->largest)
		bytes = bytes / c->largest * c->largest;
	if (!bytes || bytes < c->need_bytes)
		return err_set(
			c->err, -EINVAL,
			"test %s: the drive is too small: %llu usable bytes, %llu needed for "
			"blocks of %s",
			c->test->name, (unsigned long long)c->range_bytes,
			(unsigned long long)(c->need_bytes > c->largest ? c->need_bytes
									: c->largest),
			fmt_block(b, sizeof b, c->largest));
	p->range = (struct active_range){ .bytes = bytes };
	p->fill_range = (struct active_range){ .bytes = c->range_bytes };
	return c->n_seg && c->largest ? segments_place(c, &p->range) : 0;
}

static int plan_build(struct ctx *c)
{
	struct plan *p = c->plan;
	struct step *s;

	int rc = ctx_init(c);
	if (!rc)
		rc = block_compile(c, c->test->body);
	c->at = NULL;
	c->blame = NULL;
	if (!rc)
		rc = step_new(c, STEP_END, &s);
	if (!rc)
		rc = ranges_make(c);
	if (rc)
		return rc;
	p->def = c->test;
	p->name = c->test->name;
	p->title = c->test->title;
	p->clause = c->test->clause;
	p->step = c->step;
	p->n = c->n;
	p->n_cursors = c->n_cursors;
	p->members = c->env->members ? c->env->members : 1;
	p->n_sections = c->section;
	p->write_cache = c->profile->write_cache;
	p->params = params_json(c);
	p->formal = c->formal;
	p->deviation = c->deviation;
	p->n_deviations = c->n_deviations;
	return 0;
}

static int compile(struct ctx *c)
{
	struct plan p = { .arena = ARENA_INIT };
	struct plan *ret = c->plan;

	c->plan = &p;
	c->a = &p.arena;
	int rc = plan_build(c);
	if (rc)
		arena_release(&p.arena);
	else
		*ret = p;
	return rc;
}

int plan_compile(const struct def_lib *lib, const struct def *test, const struct plan_env *env,
		 struct plan *ret, struct err *err)
{
	struct ctx c = { .lib = lib, .test = test, .env = env, .plan = ret, .err = err };

	BUG_ON(test->kind != DEF_TEST);
	return compile(&c);
}

void cell_label(const struct step *s, unsigned segment, char *out, size_t n)
{
	const char *idle = "";

	if (s->op != STEP_REPLAY || segment >= s->n_replay) {
		snprintf(out, n, "%s", s->label);
		return;
	}
	if (segment && s->replay_no[segment] == s->replay_no[segment - 1])
		idle = " idle";
	snprintf(out, n, "%s%sstep %u%s", s->label, *s->label ? " " : "", s->replay_no[segment],
		 idle);
}

unsigned replay_step_oio(const struct step *s, unsigned segment)
{
	const struct capture_step *c = &s->replay[segment];

	return s->replay_access[segment] ? replay_oio(s->qd_max ? c->qd_max : c->qd_avg, s->scale)
					 : 0;
}

unsigned step_members(const struct plan *p, const struct step *s)
{
	return s->member_first ? s->member_last - s->member_first + 1 : p->members;
}

void plan_release(struct plan *p)
{
	arena_release(&p->arena);
	*p = (struct plan){ .arena = ARENA_INIT };
}

int plan_try(const struct def_lib *lib, const struct def *test, struct err *err)
{
	static const struct capture_stream stream[] = { { IO_WRITE, IO_SEQ, 4096, 60 },
							{ IO_READ, IO_RND, 8192, 40 } };
	static const double share[] = { 60, 40 };
	static const struct capture_step step[] = { { 1000000000, 2, 4, 50, share } };
	static const struct capture_facts facts = { "a capture", 2, stream, 1, step, 2, false };

	for (unsigned quick = 0; quick < 2; quick++) {
		struct plan_env env = { .capacity_bytes = 1ull << 40,
					.lba_bytes = 512,
					.members = 2,
					.quick = quick,
					.capture = &facts };
		struct plan p;
		struct ctx c = {
			.lib = lib, .test = test, .env = &env, .plan = &p, .err = err, .trial = true
		};
		int rc = compile(&c);
		if (rc)
			return rc;
		plan_release(&p);
	}
	return 0;
}
