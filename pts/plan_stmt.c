/* SPDX-License-Identifier: MIT */
/* Statements to steps. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/plan_ctx.h"

#define STEPS_MAX 200000u

const uint64_t threads_range[2] = { 1, 256 }, qd_range[2] = { 1, 1024 };

/* ---- steps and sections ---- */

/* The labels of the foreach values in force, outermost first: "1024k". */
static void vars_text(const struct binding *b, struct buf *out)
{
	if (!b)
		return;
	vars_text(b->up, out);
	if (out->len)
		buf_str(out, " ");
	buf_str(out, b->label);
}

static void section_next(struct ctx *c, const char *label)
{
	struct buf b = BUF_INIT;

	vars_text(c->vars, &b);
	if (b.len && *label)
		buf_str(&b, " ");
	buf_str(&b, label);
	c->section_label = arena_strdup(c->a, buf_cstr(&b));
	c->open_section = true;
	buf_release(&b);
}

int step_new(struct ctx *c, enum opcode op, struct step **ret)
{
	if (c->n == STEPS_MAX)
		return ctx_bad(c, "the test has more than %u steps", STEPS_MAX);
	if (c->n == c->cap) {
		struct step *old = c->step;
		c->cap = c->cap ? 2 * c->cap : 128;
		c->step = arena_array(c->a, struct step, c->cap);
		if (old)
			memcpy(c->step, old, c->n * sizeof *old);
	}
	struct step *s = &c->step[c->n++];
	s->op = op;
	s->line = c->at ? c->at->line : c->test->line;
	if (!c->section || c->open_section) {
		c->section++;
		s->opens_section = true;
		c->open_section = false;
	}
	s->section = c->section;
	s->section_label = c->section_label ? c->section_label : "";
	s->label = "";
	s->read_pct = NAN;
	*ret = s;
	return 0;
}

/* ---- parts that several statements share ---- */

int value_constant(struct ctx *c, const struct value *v, const char *what, const uint64_t range[2],
		   struct expr *ret)
{
	uint64_t n = 0;

	int rc = value_uint(c, v, what, range, &n);
	if (!rc)
		*ret = (struct expr){ .k = (double)n };
	return rc;
}

/* threads or qd: a number, or of a point. */
static int demand(struct ctx *c, const struct node *n, enum opt o, struct expr *ret)
{
	const struct value *v = &n->opt[o];
	const char *s = "", *label = NULL;
	bool threads = o == O_THREADS;

	if (!value_given(v)) {
		*ret = (struct expr){ .k = threads ? c->profile->threads : c->profile->qd };
		return 0;
	}
	int rc = value_word(c, v, threads ? "threads" : "qd", &s);
	if (rc)
		return rc;
	if (*s != '$')
		return value_constant(c, v, threads ? "threads" : "qd",
				      threads ? threads_range : qd_range, ret);
	rc = value_expr(c, v, ret, &label);
	if (!rc && ret->field != (threads ? REF_THREADS : REF_QD))
		return ctx_bad(c, "'%s' is no number of %s", s, threads ? "threads" : "qd");
	return rc;
}

static int load_take(struct ctx *c, const struct node *n, struct step *s)
{
	int rc;

	if (value_given(&n->opt[O_AT])) {
		rc = value_point(c, &n->opt[O_AT], &s->at);
		if (rc)
			return rc;
		s->threads = (struct expr){ 1, REF_THREADS, s->at };
		s->qd = (struct expr){ 1, REF_QD, s->at };
		return 0;
	}
	rc = demand(c, n, O_THREADS, &s->threads);
	return rc ? rc : demand(c, n, O_QD, &s->qd);
}

static int phase_take(struct ctx *c, const struct node *n, const char **ret)
{
	const char *s = c->loop >= 0 ? "round" : "step";

	if (value_given(&n->opt[O_AS])) {
		int rc = value_word(c, &n->opt[O_AS], "phase", &s);
		if (rc)
			return rc;
	}
	for (const char *const *p = phase_words; *p; p++) {
		if (!strcmp(*p, s)) {
			*ret = *p;
			return 0;
		}
	}
	return ctx_unknown(c, "phase", s, phase_words);
}

static int label_take(struct ctx *c, const struct node *n, const char **ret)
{
	if (!value_given(&n->opt[O_LABEL]))
		return 0;
	return value_label(c, &n->opt[O_LABEL], ret);
}

static int members_take(struct ctx *c, const struct node *n, struct step *s)
{
	const struct value *v = &n->opt[O_MEMBERS];
	uint64_t first, last, all = c->env->members ? c->env->members : 1;
	const char *w;

	if (!value_given(v))
		return 0;
	int rc = value_word(c, v, "range of members", &w);
	if (rc)
		return rc;
	const char *dots = strstr(w, "..");
	if (!dots || parse_uint(arena_strndup(c->a, w, (size_t)(dots - w)), 1, all, &first) ||
	    parse_uint(dots + 2, first, all, &last))
		return ctx_bad(c, "bad range of members '%s' (FIRST..LAST, of %u)", w,
			       (unsigned)all);
	s->member_first = (unsigned)first;
	s->member_last = (unsigned)last;
	return 0;
}

static int times_take(struct ctx *c, const struct node *n, struct step *s)
{
	int rc = value_time(c, &n->opt[O_FOR], &s->time_ns);
	char t[32], e[32];

	if (rc || !value_given(&n->opt[O_EVERY]))
		return rc;
	rc = value_time(c, &n->opt[O_EVERY], &s->every_ns);
	if (!rc && s->time_ns % s->every_ns)
		return ctx_bad(c, "'for %s' is no multiple of 'every %s'",
			       fmt_time(t, sizeof t, s->time_ns),
			       fmt_time(e, sizeof e, s->every_ns));
	return rc;
}

/* ---- statements ---- */

static int run_compile(struct ctx *c, const struct node *n)
{
	struct step v = { .label = "" }, *s;
	struct cell_access a = { 0 };
	const char *load = NULL;

	int rc = access_build(c, n, &a);
	if (!rc)
		rc = load_take(c, n, &v);
	if (!rc && value_given(&n->opt[O_RATE]))
		rc = value_expr(c, &n->opt[O_RATE], &v.rate, &load);
	if (!rc && v.rate.point && v.rate.field != REF_IOPS)
		rc = ctx_bad(c, "a rate is of $%s.iops", v.rate.point);
	if (!rc)
		rc = members_take(c, n, &v);
	if (!rc)
		rc = times_take(c, n, &v);
	if (!rc)
		rc = phase_take(c, n, &v.phase);
	if (!rc)
		rc = label_take(c, n, &v.label);
	if (!rc)
		rc = step_new(c, STEP_RUN, &s);
	if (rc)
		return rc;
	s->access = a.access;
	s->read_pct = a.read_pct;
	s->block_bytes = a.block_bytes;
	s->na = a.na;
	s->at = v.at;
	s->threads = v.threads;
	s->qd = v.qd;
	s->rate = v.rate;
	s->member_first = v.member_first;
	s->member_last = v.member_last;
	s->time_ns = v.time_ns;
	s->every_ns = v.every_ns;
	s->phase = v.phase;
	/* A part of a measured maximum is known by its percentage, unless the text says otherwise. */
	s->label = !*v.label && load && v.rate.point ? load : v.label;
	return 0;
}

static int fill_compile(struct ctx *c, const struct node *n)
{
	struct step v = { 0 }, *s;
	struct cell_access a = { 0 };

	int rc = access_build(c, n, &a);
	if (!rc)
		rc = load_take(c, n, &v);
	if (!rc && v.threads.point)
		rc = ctx_bad(c, "a fill comes before any point");
	if (!rc)
		rc = value_amount(c, &n->opt[O_VALUE], &v.bytes);
	if (!rc)
		rc = step_new(c, STEP_FILL, &s);
	if (rc)
		return rc;
	s->phase = "wipc";
	s->access = a.access;
	s->read_pct = a.read_pct;
	s->block_bytes = a.block_bytes;
	s->threads = v.threads;
	s->qd = v.qd;
	s->bytes = v.bytes;
	return 0;
}

static int idle_compile(struct ctx *c, const struct node *n)
{
	const char *label = "";
	struct step *s;
	uint64_t ns;

	int rc = value_time(c, &n->opt[O_VALUE], &ns);
	if (!rc)
		rc = label_take(c, n, &label);
	if (!rc)
		rc = step_new(c, STEP_IDLE, &s);
	if (rc)
		return rc;
	s->phase = "idle";
	s->time_ns = ns;
	s->label = label;
	return 0;
}

static int purge_compile(struct ctx *c, const struct node *n)
{
	struct step *s;

	if (c->loop >= 0 || c->repeat >= 0)
		return ctx_bad(c, "a purge cannot stand inside a loop or repeat");
	int rc = step_new(c, STEP_PURGE, &s);
	if (!rc)
		s->optional = n->optional;
	return rc;
}

static int one_of(struct ctx *c, const struct value *v, const char *const list[3], bool *ret_second)
{
	const char *s;

	if (!value_given(v))
		return 0;
	int rc = value_word(c, v, "word", &s);
	if (rc)
		return rc;
	if (strcmp(s, list[0]) && strcmp(s, list[1]))
		return ctx_unknown(c, "word", s, list);
	*ret_second = !strcmp(s, list[1]);
	return 0;
}

struct replay_list { /* of segments that follow one another */
	struct capture_step *step;
	const struct access **access;
	unsigned *no, n;
};

static void replay_add(struct replay_list *l, const struct capture_step *cs, const struct access *a,
		       unsigned no)
{
	l->step[l->n] = *cs;
	l->access[l->n] = a;
	l->no[l->n++] = no;
}

/* The depth must be known where there is IO: that of a map is for a person to fill in; of a trace, one IO at a time (spec 17.1). */
static int replay_step_check(struct ctx *c, const struct step *s, const struct capture_step *cs,
			     unsigned no)
{
	if (c->env->capture->is_map && !(cs->qd_avg > 0))
		return ctx_bad(c, "step %u of stream map %s has IO and no qd: fill it in", no,
			       c->env->capture->name);
	if (s->idle_honor && !(cs->busy_pct > 0))
		return ctx_bad(c,
			       "how long step %u of capture %s was idle is not known: 'idle "
			       "ignore' replays it",
			       no, c->env->capture->name);
	return 0;
}

/* Adds step @no: with `idle honor` its idle share comes after its IO. */
static int replay_step(struct ctx *c, const struct step *s, struct replay_list *l, unsigned no)
{
	struct capture_step cs = c->env->capture->step[no - 1];
	const struct access *a = s->replay_access[no - 1];

	if (s->qd_fixed)
		cs.qd_avg = cs.qd_max = s->qd_fixed;
	if (s->time_ns)
		cs.duration_ns = s->time_ns;
	int rc = a ? replay_step_check(c, s, &cs, no) : 0;
	uint64_t busy_ns = (uint64_t)((double)cs.duration_ns * cs.busy_pct / 100);
	if (rc || !a || !s->idle_honor || busy_ns >= cs.duration_ns) {
		replay_add(l, &cs, a, no);
		return rc;
	}
	uint64_t idle_ns = cs.duration_ns - (busy_ns ? busy_ns : 1);
	cs.duration_ns -= idle_ns;
	replay_add(l, &cs, a, no);
	cs.duration_ns = idle_ns;
	replay_add(l, &cs, NULL, no);
	return 0;
}

/* The steps of the capture as segments, at their own length or all at @s->time_ns. */
static int replay_steps(struct ctx *c, struct step *s)
{
	unsigned n = c->env->capture->n_steps, most = s->idle_honor ? 2 * n : n;
	struct replay_list l = { arena_array(c->a, struct capture_step, most),
				 arena_array(c->a, const struct access *, most),
				 arena_array(c->a, unsigned, most), 0 };
	int rc = 0;
	double qd;

	if (!s->qd_fixed)
		rc = capture_depth(c, &qd);
	for (unsigned i = 1; i <= n && !rc; i++)
		rc = replay_step(c, s, &l, i);
	s->replay = l.step;
	s->replay_access = l.access;
	s->replay_no = l.no;
	s->n_replay = l.n;
	s->time_ns = 0; /* each segment has its own */
	return rc;
}

static int replay_composite(struct ctx *c, const struct node *n, struct composite *ret)
{
	struct word w[4];
	unsigned k = 0;
	struct span x;

	int rc = words_expand(c, n->access, &x);
	if (rc)
		return rc;
	if (x.n != 1 || strcmp(x.w[0].s, "$capture"))
		return ctx_bad(c, "a replay is of $capture");
	for (int o = O_TOP; o <= O_COVER; o++) {
		if (!value_given(&n->opt[o]))
			continue;
		w[k++] = (struct word){ o == O_TOP ? "top" : "cover", false };
		w[k].quoted = false;
		rc = value_word(c, &n->opt[o], "number", &w[k++].s);
		if (rc)
			return rc;
	}
	rc = composite_take(c, (struct span){ w, k }, ret);
	if (!rc)
		composite_round(c, ret);
	return rc;
}

/* qd avg, qd max: of the capture's steps; qd N: in all of them, where the capture does not say it. */
static int replay_depth(struct ctx *c, const struct node *n, struct step *s)
{
	static const char *const words[] = { "avg", "max", NULL };
	const struct value *v = &n->opt[O_QD];
	const char *w = "avg";
	uint64_t depth;

	int rc = value_given(v) ? value_word(c, v, "depth", &w) : 0;
	if (rc)
		return rc;
	s->qd_max = !strcmp(w, "max");
	if (s->qd_max || !strcmp(w, "avg"))
		return 0;
	if (*w < '0' || *w > '9')
		return ctx_unknown(c, "depth", w, words);
	rc = value_uint(c, v, "qd", qd_range, &depth);
	s->qd_fixed = (unsigned)depth;
	return rc;
}

static int replay_options(struct ctx *c, const struct node *n, struct step *s)
{
	static const char *const idles[] = { "ignore", "honor", NULL };
	const char *word = "native";

	int rc = value_scale(c, &n->opt[O_SCALE], &s->scale);
	if (!rc)
		rc = replay_depth(c, n, s);
	if (!rc)
		rc = one_of(c, &n->opt[O_IDLE], idles, &s->idle_honor);
	if (!rc)
		rc = label_take(c, n, &s->label);
	if (!rc && value_given(&n->opt[O_STEP]))
		rc = value_word(c, &n->opt[O_STEP], "time", &word);
	if (!rc && strcmp(word, "native"))
		rc = value_time(c, &n->opt[O_STEP], &s->time_ns);
	return rc;
}

static int replay_compile(struct ctx *c, const struct node *n)
{
	struct step v = { .label = "" }, *s;
	struct composite comp;

	if (c->loop >= 0 || c->repeat >= 0)
		return ctx_bad(c, "a replay cannot stand inside a loop or repeat");
	int rc = replay_composite(c, n, &comp);
	if (!rc)
		rc = replay_options(c, n, &v);
	if (!rc && !c->env->capture->n_steps)
		rc = ctx_bad(c, "capture %s has no steps", c->env->capture->name);
	if (!rc)
		rc = replay_accesses(c, &comp, &v.replay_access);
	if (!rc)
		rc = replay_steps(c, &v);
	if (!rc)
		rc = step_new(c, STEP_REPLAY, &s);
	if (rc)
		return rc;
	s->phase = "replay";
	s->label = v.label;
	s->scale = v.scale;
	s->qd_max = v.qd_max;
	s->qd_fixed = v.qd_fixed;
	s->idle_honor = v.idle_honor;
	s->replay = v.replay;
	s->replay_access = v.replay_access;
	s->replay_no = v.replay_no;
	s->n_replay = v.n_replay;
	return 0;
}

static int range_compile(struct ctx *c, const struct node *n)
{
	static const uint64_t seg_range[2] = { 1, 1000000 };
	uint64_t k = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (c->step[i].op != STEP_PURGE)
			return ctx_bad(c, "'range' stands before the first fill or run");
	if (c->have_range)
		return ctx_bad(c, "'range' is there twice");
	c->have_range = true;
	int rc = value_pct(c, &n->opt[O_VALUE], &c->range_pct);
	if (!rc && c->range_pct <= 0)
		return ctx_bad(c, "a range of 0%%");
	if (!rc)
		range_set(c);
	if (rc || !value_given(&n->opt[O_AMOUNT]))
		return rc;
	rc = value_amount(c, &n->opt[O_AMOUNT], &c->seg_amount);
	if (!rc)
		rc = value_uint(c, &n->opt[O_SEGMENTS], "segments", seg_range, &k);
	c->n_seg = (uint32_t)k;
	return rc;
}

/* ---- blocks ---- */

static int stmt_compile(struct ctx *c, const struct node *n)
{
	static int (*const compile[STMTS])(struct ctx *, const struct node *) = {
		[ST_RANGE] = range_compile,	[ST_PURGE] = purge_compile,
		[ST_FILL] = fill_compile,	[ST_RUN] = run_compile,
		[ST_IDLE] = idle_compile,	[ST_REPLAY] = replay_compile,
		[ST_LOOP] = loop_compile,	[ST_TRACK] = track_compile,
		[ST_CHECK] = check_compile,	[ST_REPEAT] = repeat_compile,
		[ST_FOREACH] = foreach_compile, [ST_PICK] = pick_compile,
	};

	c->at = n;
	c->blame = NULL;
	int rc = compile[n->kind](c, n);
	if (rc == -ENODATA && c->trial) {
		c->holes = true;
		return 0;
	}
	return rc;
}

/* The label of a loop, or "loop N" for the second and later ones of a block. */
static int loop_label(struct ctx *c, const struct node *n, unsigned ordinal, const char **ret)
{
	c->at = n;
	if (value_given(&n->opt[O_LABEL]))
		return value_label(c, &n->opt[O_LABEL], ret);
	*ret = ordinal > 1 ? arena_fmt(c->a, "loop %u", ordinal) : "";
	return 0;
}

/* A pass through a block with a purge or loop of its own opens a section; so does each further loop in it. */
static int section_open(struct ctx *c, const struct node *first)
{
	const struct node *loop = first;
	bool own = false;
	const char *label = "";
	int rc = 0;

	for (const struct node *n = first; n; n = n->next)
		own |= n->kind == ST_LOOP || n->kind == ST_PURGE;
	while (loop && loop->kind != ST_LOOP)
		loop = loop->next;
	if (!own)
		return 0;
	if (loop)
		rc = loop_label(c, loop, 1, &label);
	if (!rc)
		section_next(c, label);
	return rc;
}

int block_compile(struct ctx *c, const struct node *first)
{
	unsigned loops = 0;

	int rc = section_open(c, first);
	for (const struct node *n = first; n && !rc; n = n->next) {
		const char *label;
		if (n->kind == ST_LOOP && ++loops > 1) {
			rc = loop_label(c, n, loops, &label);
			if (!rc)
				section_next(c, label);
		}
		if (!rc)
			rc = stmt_compile(c, n);
	}
	return rc;
}
