/* SPDX-License-Identifier: MIT */
/* Loops, repeats, foreach and picks. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/plan_ctx.h"

static const uint64_t count_range[2] = { 1, 1000000 };

/* ---- loops ---- */

static int rounds_take(struct ctx *c, const struct node *n, struct step *s)
{
	static const char *const words[] = { "go-on", "stop", "abort", NULL };
	uint64_t rounds = 0;
	const char *then = "go-on";
	int rc = 0;

	if (value_given(&n->opt[O_ROUNDS]))
		rc = value_uint(c, &n->opt[O_ROUNDS], "rounds", count_range, &rounds);
	if (!rc && value_given(&n->opt[O_THEN]))
		rc = value_word(c, &n->opt[O_THEN], "word", &then);
	if (rc)
		return rc;
	s->rounds = (unsigned)rounds;
	for (unsigned i = 0; words[i]; i++) {
		if (!strcmp(words[i], then)) {
			s->then = (enum loop_then)i;
			return 0;
		}
	}
	return ctx_unknown(c, "word", then, words);
}

static int conditions_take(struct ctx *c, const struct node *n, struct step *s)
{
	struct cond *cond = arena_array(c->a, struct cond, 3);
	int rc = 0;

	if (value_given(&n->opt[O_UNTIL_STEADY]))
		cond[s->n_conds++].kind = COND_STEADY;
	if (value_given(&n->opt[O_WRITTEN])) {
		cond[s->n_conds].kind = COND_WRITTEN;
		rc = value_amount(c, &n->opt[O_WRITTEN], &cond[s->n_conds++].value);
	}
	if (!rc && value_given(&n->opt[O_TIME])) {
		cond[s->n_conds].kind = COND_TIME;
		rc = value_time(c, &n->opt[O_TIME], &cond[s->n_conds++].value);
	}
	s->cond = cond;
	return rc;
}

static bool selects(const struct selector *sel, const struct step *s)
{
	if (s->op != STEP_RUN || s->na || (sel->phase && strcmp(sel->phase, s->phase)))
		return false;
	if (sel->read_pct >= 0 && fabs(sel->read_pct - s->read_pct) > 1e-9)
		return false;
	if (sel->block_bytes && sel->block_bytes != s->block_bytes)
		return false;
	if (sel->threads && (s->threads.point || (double)sel->threads != s->threads.k))
		return false;
	if (sel->qd && (s->qd.point || (double)sel->qd != s->qd.k))
		return false;
	return !sel->label || !strcmp(sel->label, s->label);
}

/* A loop that can come to an end, and whose tracked cells exist on this drive. */
static int loop_check(struct ctx *c, const struct step *head, unsigned first)
{
	bool steady = false, timed = head->rounds != 0, written = false, writes = false;
	unsigned cells = 0;

	for (unsigned i = 0; i < head->n_conds; i++) {
		steady |= head->cond[i].kind == COND_STEADY;
		timed |= head->cond[i].kind == COND_TIME;
		written |= head->cond[i].kind == COND_WRITTEN;
	}
	for (unsigned i = first; i < c->n; i++) {
		const struct step *s = &c->step[i];
		cells += s->op == STEP_RUN && !s->na;
		writes |= s->op == STEP_RUN && !s->na && s->read_pct < 100;
	}
	if (c->holes)
		return 0;
	if (!cells)
		return ctx_bad(c, "the loop has no cell that this drive (LBA %u) can do",
			       c->env->lba_bytes);
	if (steady && !c->n_tracks)
		return ctx_bad(c, "a loop until steady needs a 'track'");
	if (!timed && !(written && writes))
		return ctx_bad(c, "the loop may never end: it needs 'rounds', 'time', or 'written' "
				  "with cells that write");
	for (unsigned t = 0; t < c->n_tracks; t++) {
		bool found = false;
		for (unsigned i = first; i < c->n; i++)
			found |= selects(&c->track[t].sel, &c->step[i]);
		if (!found)
			return ctx_bad(
				c, "'track %s' matches no cell of the loop that this drive can do",
				c->track[t].text);
	}
	return 0;
}

static int loop_close(struct ctx *c, const struct node *n, unsigned head)
{
	struct step *s;

	c->at = n;
	c->blame = NULL;
	int rc = loop_check(c, &c->step[head], head + 1);
	if (!rc)
		rc = step_new(c, STEP_UNTIL, &s);
	if (rc)
		return rc;
	s->head = head;
	s = &c->step[head];
	s->head = head;
	s->end = c->n - 1;
	s->own_check = c->own_check;
	s->n_tracks = c->n_tracks;
	s->track = arena_memdup(c->a, c->track, sizeof c->track[0] * (c->n_tracks + 1));
	c->loop = -1;
	return 0;
}

int loop_compile(struct ctx *c, const struct node *n)
{
	struct step v = { 0 }, *s;

	if (c->loop >= 0 || c->repeat >= 0)
		return ctx_bad(c, "a loop cannot stand inside a loop or repeat");
	int rc = rounds_take(c, n, &v);
	if (!rc)
		rc = conditions_take(c, n, &v);
	if (!rc)
		rc = step_new(c, STEP_LOOP, &s);
	if (rc)
		return rc;
	s->rounds = v.rounds;
	s->then = v.then;
	s->cond = v.cond;
	s->n_conds = v.n_conds;
	c->loop = (int)c->n - 1;
	c->own_check = false;
	c->n_tracks = 0;
	unsigned head = c->n - 1;
	rc = block_compile(c, n->child);
	return rc ? rc : loop_close(c, n, head);
}

int check_compile(struct ctx *c, const struct node *n)
{
	struct step *s;

	(void)n;
	if (c->loop < 0)
		return ctx_bad(c, "'check' stands inside a loop");
	int rc = step_new(c, STEP_CHECK, &s);
	if (rc)
		return rc;
	s->head = (unsigned)c->loop;
	c->own_check = true;
	return 0;
}

static int selector_take(struct ctx *c, const struct node *n, struct selector *ret)
{
	uint64_t threads = 0, qd = 0;
	bool own = false;
	int rc = 0;

	*ret = (struct selector){ .phase = n->phase ? n->phase : "round", .read_pct = -1 };
	if (value_given(&n->opt[O_RW]))
		rc = value_rw(c, &n->opt[O_RW], &ret->read_pct, &own);
	if (!rc && own)
		return ctx_bad(c, "'own' selects nothing");
	if (!rc && value_given(&n->opt[O_BS]))
		rc = value_block(c, &n->opt[O_BS], &ret->block_bytes);
	if (!rc && value_given(&n->opt[O_THREADS]))
		rc = value_uint(c, &n->opt[O_THREADS], "threads", threads_range, &threads);
	if (!rc && value_given(&n->opt[O_QD]))
		rc = value_uint(c, &n->opt[O_QD], "qd", qd_range, &qd);
	if (!rc && value_given(&n->opt[O_LABEL]))
		rc = value_label(c, &n->opt[O_LABEL], &ret->label);
	ret->threads = (unsigned)threads;
	ret->qd = (unsigned)qd;
	return rc;
}

int track_compile(struct ctx *c, const struct node *n)
{
	struct track *t = &c->track[c->n_tracks];
	struct buf b = BUF_INIT;
	struct span w;

	if (c->loop < 0)
		return ctx_bad(c, "'track' stands inside a loop");
	if (c->n_tracks == sizeof c->track / sizeof c->track[0])
		return ctx_bad(c, "too many tracks");
	int rc = selector_take(c, n, &t->sel);
	if (!rc)
		rc = words_expand(c, (struct span){ n->words.w + 1, n->words.n - 1 }, &w);
	if (rc)
		return rc;
	t->var = n->name[0] == 'i' ? VAR_IOPS : n->name[0] == 'b' ? VAR_BYTES_PER_S : VAR_ART;
	span_text(w, &b);
	t->text = arena_strdup(c->a, buf_cstr(&b));
	buf_release(&b);
	c->n_tracks++;
	return 0;
}

int repeat_compile(struct ctx *c, const struct node *n)
{
	uint64_t times;
	struct step *s;

	if (c->repeat >= 0)
		return ctx_bad(c, "a repeat cannot stand inside a repeat");
	int rc = value_uint(c, &n->opt[O_VALUE], "repeats", count_range, &times);
	if (!rc)
		rc = step_new(c, STEP_REPEAT, &s);
	if (rc)
		return rc;
	s->rounds = (unsigned)times;
	unsigned head = c->n - 1;
	c->repeat = (int)head;
	rc = block_compile(c, n->child);
	if (!rc && c->n == head + 1 && !c->holes)
		return ctx_bad(c, "the repeat is empty");
	c->at = n;
	if (!rc)
		rc = step_new(c, STEP_AGAIN, &s);
	if (rc)
		return rc;
	s->head = head;
	c->step[head].head = head;
	c->step[head].end = c->n - 1;
	c->repeat = -1;
	return 0;
}

/* ---- foreach ---- */

struct values {
	struct word *w;
	const char **label;
	unsigned n;
};

/* "1..10" to ten words; any other word to itself. */
static int add_values(struct ctx *c, const char *s, struct values *to)
{
	const char *dots = strstr(s, "..");
	uint64_t lo = 1, hi = 1;

	if (dots && (parse_uint(arena_strndup(c->a, s, (size_t)(dots - s)), 0, 1000000, &lo) ||
		     parse_uint(dots + 2, lo, lo + 1000, &hi)))
		return ctx_bad(c, "bad range '%s'", s);
	for (uint64_t i = lo; i <= hi; i++) {
		if (to->n == 1024)
			return ctx_bad(c, "more than 1024 values");
		const char *word = dots ? arena_fmt(c->a, "%u", (unsigned)i) : s;
		to->w[to->n] = (struct word){ word, false };
		to->label[to->n++] = *word == '$' ? word + 1 : word;
	}
	return 0;
}

static int stream_values(struct ctx *c, const struct node *n, struct values *to)
{
	struct composite comp;
	struct span w;

	int rc = value_words(c, &n->list, &w);
	if (rc)
		return rc;
	if (w.n < 3 || strcmp(w.w[2].s, "$capture"))
		return ctx_bad(c, "the streams are of $capture");
	rc = composite_take(c, (struct span){ w.w + 3, w.n - 3 }, &comp);
	if (rc)
		return rc;
	for (unsigned i = 0; i < comp.n_streams; i++) {
		to->w[i] = (struct word){ arena_fmt(c->a, "@%u", i), false };
		to->label[i] = stream_label(c, &c->env->capture->stream[i]);
	}
	to->n = comp.n_streams;
	return 0;
}

static int list_take(struct ctx *c, const struct node *n, struct values *to)
{
	struct span w;

	to->w = arena_array(c->a, struct word, 1024);
	to->label = arena_array(c->a, const char *, 1024);
	if (n->streams)
		return stream_values(c, n, to);
	int rc = value_words(c, &n->list, &w);
	for (unsigned i = 0; i < w.n && !rc; i++)
		rc = add_values(c, w.w[i].s, to);
	if (!rc && !to->n)
		return ctx_bad(c, "the list is empty");
	return rc;
}

static bool name_taken(struct ctx *c, const char *name)
{
	for (const struct binding *b = c->vars; b; b = b->up)
		if (!strcmp(b->name, name))
			return true;
	for (unsigned i = 0; i < c->n_params; i++)
		if (!strcmp(c->param[i].param->name, name))
			return true;
	return !strcmp(name, "members");
}

static bool is_point(const struct ctx *c, const char *name)
{
	for (unsigned i = 0; i < c->n_points; i++)
		if (!strcmp(c->point[i], name))
			return true;
	return false;
}

int foreach_compile(struct ctx *c, const struct node *n)
{
	struct values list = { 0 };

	if (name_taken(c, n->name) || is_point(c, n->name))
		return ctx_bad(c, "the name '%s' is taken already", n->name);
	int rc = list_take(c, n, &list);
	const char *blame = c->blame;
	const struct binding *up = c->vars;
	for (unsigned i = 0; i < list.n && !rc; i++) {
		struct binding *b = arena_new(c->a, struct binding);
		*b = (struct binding){ n->name, { &list.w[i], 1 }, list.label[i], blame, up };
		c->vars = b;
		rc = block_compile(c, n->child);
		c->vars = up;
	}
	return rc;
}

/* ---- pick ---- */

static int point_add(struct ctx *c, const char *name)
{
	if (is_point(c, name))
		return 0;
	if (name_taken(c, name))
		return ctx_bad(c, "the name '%s' is taken already", name);
	if (!c->point)
		c->point = arena_array(c->a, const char *, 64);
	if (c->n_points == 64)
		return ctx_bad(c, "too many points");
	c->point[c->n_points++] = name;
	return 0;
}

static int pick_values(struct ctx *c, const struct node *n, struct step *s)
{
	uint64_t below = 0;
	int rc = 0;

	if (n->rule == PICK_AT) {
		rc = value_constant(c, &n->opt[O_THREADS], "threads", threads_range, &s->threads);
		if (!rc)
			rc = value_constant(c, &n->opt[O_QD], "qd", qd_range, &s->qd);
		return rc;
	}
	if (value_given(&n->opt[O_BELOW]))
		rc = value_time(c, &n->opt[O_BELOW], &below);
	if (!rc && value_given(&n->opt[O_TIE]))
		rc = value_pct(c, &n->opt[O_TIE], &s->tie_pct);
	s->art_below_ns = (double)below;
	return rc;
}

/* The phases that only bring the drive into a state: nothing of them is ever picked. */
static bool only_prepares(const char *phase)
{
	static const char *const prepare[] = { "wipc", "wdpc", "prewrite", "idle" };

	for (unsigned i = 0; i < sizeof prepare / sizeof *prepare; i++)
		if (!strcmp(phase, prepare[i]))
			return true;
	return false;
}

/* Something was measured so far that pick_takes() may choose from. */
static bool pickable(const struct ctx *c, const struct node *n)
{
	for (unsigned i = 0; i < c->n; i++) {
		const char *phase = c->step[i].phase;

		if (c->step[i].op == STEP_RUN &&
		    (n->phase ? !strcmp(phase, n->phase)
			      : !strcmp(phase, "round") || !strcmp(phase, "step")))
			return true;
	}
	return false;
}

int pick_compile(struct ctx *c, const struct node *n)
{
	struct step v = { 0 }, *s;

	if (c->loop >= 0 || c->repeat >= 0)
		return ctx_bad(c, "a pick cannot stand inside a loop or repeat");
	if (n->phase && only_prepares(n->phase))
		return ctx_bad(c, "a pick is of cells that were measured, not of %s", n->phase);
	if (n->rule != PICK_AT && !pickable(c, n) && !c->holes)
		return ctx_bad(c, "nothing was measured that '%s' could be picked from", n->name);
	int rc = pick_values(c, n, &v);
	if (!rc)
		rc = point_add(c, n->name);
	if (!rc)
		rc = step_new(c, STEP_PICK, &s);
	if (rc)
		return rc;
	s->point = n->name;
	s->rule = (enum pick_rule)n->rule;
	s->pick_phase = n->phase;
	s->threads = v.threads;
	s->qd = v.qd;
	s->art_below_ns = v.art_below_ns;
	s->tie_pct = v.tie_pct;
	s->tie_lowest_oio = n->tie_oio;
	s->tie_lowest_tc = n->tie_tc;
	s->else_lowest_art = n->else_art;
	return 0;
}
