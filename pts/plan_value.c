/* SPDX-License-Identifier: MIT */
/* Values: $names put in, then read as what the place asks for. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/plan_ctx.h"

#define EXPAND_MAX 1024u

int ctx_bad(struct ctx *c, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(c->err, -EINVAL, "%s:%u: %s", c->at ? c->at->file : c->test->file,
		c->at ? c->at->line : c->test->line, msg);
	if (c->blame)
		err_prefix(c->err, -EINVAL, "--set %s", c->blame);
	return -EINVAL;
}

int ctx_unknown(struct ctx *c, const char *what, const char *word, const char *const *list)
{
	const char *near = nearest_word(word, list);
	char show[48];

	lex_show(show, word);
	if (near)
		return ctx_bad(c, "unknown %s '%s' (did you mean '%s'?)", what, show, near);
	return ctx_bad(c, "unknown %s '%s'", what, show);
}

void ctx_deviation(struct ctx *c, const char *clause, const char *text)
{
	for (unsigned i = 0; i < c->n_deviations; i++)
		if (!strcmp(c->deviation[i].text, text))
			return;
	if (c->n_deviations == c->cap_deviations) {
		struct plan_deviation *old = c->deviation;
		c->cap_deviations = c->cap_deviations ? 2 * c->cap_deviations : 8;
		c->deviation = arena_array(c->a, struct plan_deviation, c->cap_deviations);
		for (unsigned i = 0; i < c->n_deviations; i++)
			c->deviation[i] = old[i];
	}
	c->deviation[c->n_deviations++] = (struct plan_deviation){ clause, text };
}

bool value_given(const struct value *v)
{
	return v->normal.n != 0;
}

/* ---- $names ---- */

struct out { /* expanded words */
	struct word *w;
	unsigned n;
};

struct name { /* "$max.iops" taken apart */
	char s[DEF_NAME_MAX];
	char field[DEF_NAME_MAX];
	const char *rest; /* what follows in the word */
};

static bool is_name_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
}

static int name_take(struct ctx *c, const char *dollar, struct name *ret)
{
	const char *p = dollar + 1;
	char show[48];
	unsigned n = 0, f = 0;

	while (is_name_char(*p) && n < DEF_NAME_MAX - 1)
		ret->s[n++] = *p++;
	if (*p == '.' && p[1] >= 'a' && p[1] <= 'z')
		for (p++; is_name_char(*p) && f < DEF_NAME_MAX - 1;)
			ret->field[f++] = *p++;
	ret->s[n] = ret->field[f] = 0;
	ret->rest = p;
	if (!n || is_name_char(*p))
		return ctx_bad(c, "bad name '%s'", lex_show(show, dollar));
	return 0;
}

static int name_unknown(struct ctx *c, const struct name *nm)
{
	const char *list[128];
	unsigned n = 0;

	for (const struct binding *b = c->vars; b && n < 40; b = b->up)
		list[n++] = b->name;
	for (unsigned i = 0; i < c->n_params && n < 80; i++)
		list[n++] = c->param[i].param->name;
	for (unsigned i = 0; i < c->n_points && n < 120; i++)
		list[n++] = c->point[i];
	list[n++] = "members";
	list[n] = NULL;
	const char *near = nearest_word(nm->s, list);
	if (near)
		return ctx_bad(c, "unknown name '$%s' (did you mean '$%s'?)", nm->s, near);
	return ctx_bad(c, "unknown name '$%s'", nm->s);
}

static struct span one_word(struct ctx *c, const char *s)
{
	struct word *w = arena_new(c->a, struct word);

	w->s = s;
	return (struct span){ w, 1 };
}

bool ctx_uses_capture(const struct ctx *c)
{
	for (unsigned i = 0; i < c->n_params; i++)
		if (!strcmp(c->param[i].param->name, "capture"))
			return true;
	return false;
}

/* The param that takes a depth instead of the capture's: "depth" of a replay, else one that stands for $capture.qd_avg. */
static const char *depth_param(const struct ctx *c)
{
	const char *found = NULL;

	for (unsigned i = 0; i < c->n_params; i++) {
		const struct param_val *p = &c->param[i];

		if (c->at && c->at->kind == ST_REPLAY
			    ? !strcmp(p->param->name, "depth")
			    : p->words.n == 1 && !strncmp(p->words.w[0].s, "$capture.", 9))
			found = p->param->name;
	}
	return found;
}

int capture_depth(struct ctx *c, double *ret)
{
	const struct capture_facts *cap = c->env->capture;
	const char *param = depth_param(c);

	*ret = cap->qd_avg;
	if (*ret > 0)
		return 0;
	return ctx_bad(c, "the queue depth of capture %s is not known (%s): %s%s%s%s", cap->name,
		       cap->is_map ? "its column qd is empty" : "it has no completions",
		       cap->is_map ? "fill the column in" : "import it again with --assume-rt TIME",
		       param ? ", or give a depth: --set " : "", param ? param : "",
		       param ? "=N" : "");
}

static int capture_words(struct ctx *c, const struct name *nm, struct span *ret)
{
	static const char *const fields[] = { "qd_avg", NULL };

	if (!c->env->capture)
		return err_set(c->err, -EINVAL, "test %s needs --capture", c->test->name);
	if (!*nm->field) {
		*ret = one_word(c, "$capture");
		return 0;
	}
	if (strcmp(nm->field, "qd_avg"))
		return ctx_unknown(c, "field of $capture", nm->field, fields);
	double qd;
	int rc = capture_depth(c, &qd);
	if (rc)
		return rc;
	qd = ceil(qd);
	*ret = one_word(c, arena_fmt(c->a, "%u", qd >= 1 ? (unsigned)fmin(qd, 1e6) : 1));
	return 0;
}

static int param_words(struct ctx *c, const struct param_val *p, struct span *ret)
{
	if (p->set)
		c->blame = p->set;
	*ret = p->words;
	if (ret->n)
		return 0;
	if (c->trial)
		return -ENODATA;
	return ctx_bad(c, "param '%s' is empty: give it with --set %s=VALUE", p->param->name,
		       p->param->name);
}

/* The words a name stands for; a point stays "$max" or "$max.iops". */
static int name_words(struct ctx *c, const struct name *nm, struct span *ret)
{
	for (const struct binding *b = c->vars; b; b = b->up) {
		if (strcmp(b->name, nm->s))
			continue;
		if (b->blame)
			c->blame = b->blame;
		*ret = b->words;
		return 0;
	}
	for (unsigned i = 0; i < c->n_params; i++) {
		if (strcmp(c->param[i].param->name, nm->s))
			continue;
		if (!strcmp(nm->s, "capture"))
			return capture_words(c, nm, ret);
		return param_words(c, &c->param[i], ret);
	}
	if (!strcmp(nm->s, "members")) {
		*ret = one_word(c, arena_fmt(c->a, "%u", c->env->members ? c->env->members : 1));
		return 0;
	}
	for (unsigned i = 0; i < c->n_points; i++) {
		if (strcmp(c->point[i], nm->s))
			continue;
		*ret = one_word(c,
				arena_fmt(c->a, *nm->field ? "$%s.%s" : "$%s%s", nm->s, nm->field));
		return 0;
	}
	return name_unknown(c, nm);
}

static int expand(struct ctx *c, struct span in, unsigned depth, struct out *out);

static int push(struct ctx *c, struct out *out, const struct word *w)
{
	if (out->n == EXPAND_MAX)
		return ctx_bad(c, "too many values");
	out->w[out->n++] = *w;
	return 0;
}

/* A word that holds a $name: alone it may become several words, inside a word it must be one. */
static int expand_name(struct ctx *c, const char *s, unsigned depth, struct out *out)
{
	const char *dollar = strchr(s, '$');
	struct name nm = { 0 };
	struct span got;
	unsigned from = out->n;

	int rc = name_take(c, dollar, &nm);
	if (!rc)
		rc = name_words(c, &nm, &got);
	if (rc)
		return rc;
	bool point = got.n == 1 && got.w[0].s[0] == '$' && !got.w[0].quoted;
	if (*nm.field && !point && strcmp(nm.s, "capture"))
		return ctx_bad(c, "'$%s' is no point and has no '.%s'", nm.s, nm.field);
	/* A point, "$capture", and what a name inside them would be, are final. */
	if (point && dollar == s && !*nm.rest && !strcmp(got.w[0].s, s))
		return push(c, out, &got.w[0]);
	if (point && *nm.field && !strchr(got.w[0].s, '.'))
		got = one_word(c, arena_fmt(c->a, "%s.%s", got.w[0].s, nm.field));
	rc = expand(c, got, depth + 1, out);
	if (rc || (dollar == s && !*nm.rest))
		return rc;
	if (out->n != from + 1)
		return ctx_bad(c, "'$%s' in '%s' must be one value", nm.s, s);
	const char *joined = arena_fmt(c->a, "%.*s%s%s", (int)(dollar - s), s, out->w[from].s,
				       nm.rest);
	out->n = from;
	return expand(c, one_word(c, joined), depth + 1, out);
}

static int expand(struct ctx *c, struct span in, unsigned depth, struct out *out)
{
	int rc = 0;

	if (depth > 16)
		return ctx_bad(c, "names refer to one another in a circle");
	for (unsigned i = 0; i < in.n && !rc; i++) {
		const struct word *w = &in.w[i];
		if (w->quoted || !strchr(w->s, '$'))
			rc = push(c, out, w);
		else
			rc = expand_name(c, w->s, depth, out);
	}
	return rc;
}

int words_expand(struct ctx *c, struct span in, struct span *ret)
{
	struct word w[EXPAND_MAX];
	struct out out = { w, 0 };

	c->blame = NULL;
	int rc = expand(c, in, 0, &out);
	if (rc)
		return rc;
	ret->n = out.n;
	ret->w = out.n ? arena_memdup(c->a, w, out.n * sizeof w[0]) : NULL;
	return 0;
}

int value_words(struct ctx *c, const struct value *v, struct span *ret)
{
	return words_expand(c, c->env->quick && v->quick.n ? v->quick : v->normal, ret);
}

/* ---- kinds of values ---- */

int value_word(struct ctx *c, const struct value *v, const char *what, const char **ret)
{
	struct span w;
	int rc = value_words(c, v, &w);

	if (rc)
		return rc;
	if (w.n != 1)
		return ctx_bad(c, "%u words where one %s is wanted", w.n, what);
	*ret = w.w[0].s;
	return 0;
}

static int bad_word(struct ctx *c, const char *what, const char *s)
{
	char show[48];

	return ctx_bad(c, "bad %s '%s'", what, lex_show(show, s));
}

int value_time(struct ctx *c, const struct value *v, uint64_t *ret_ns)
{
	const char *s;
	int rc = value_word(c, v, "time", &s);

	if (!rc && (parse_time(s, ret_ns) || !*ret_ns))
		return bad_word(c, "time (a number and ns us ms s m h d)", s);
	return rc;
}

int value_uint(struct ctx *c, const struct value *v, const char *what, const uint64_t range[2],
	       uint64_t *ret)
{
	const char *s;
	int rc = value_word(c, v, what, &s);
	char show[48];

	if (!rc && parse_uint(s, range[0], range[1], ret))
		return ctx_bad(c, "bad number '%s' of %s (%llu to %llu)", lex_show(show, s), what,
			       (unsigned long long)range[0], (unsigned long long)range[1]);
	return rc;
}

int value_pct(struct ctx *c, const struct value *v, double *ret)
{
	const char *s;
	int rc = value_word(c, v, "percentage", &s);

	if (!rc && (parse_pct(s, ret) || *ret < 0 || *ret > 100))
		return bad_word(c, "percentage", s);
	return rc;
}

int value_block(struct ctx *c, const struct value *v, uint32_t *ret)
{
	const char *s;
	int rc = value_word(c, v, "block size", &s);

	if (!rc && parse_block(s, ret))
		return bad_word(c, "block size (a multiple of 512 bytes, up to 1g)", s);
	return rc;
}

int value_rw(struct ctx *c, const struct value *v, double *ret_read_pct, bool *ret_own)
{
	const char *s;
	int rc = value_word(c, v, "mix", &s);

	if (rc)
		return rc;
	*ret_own = !strcmp(s, "own");
	if (!*ret_own && parse_rw(s, ret_read_pct))
		return bad_word(c, "mix (READ/WRITE, together 100, or own)", s);
	return 0;
}

/* "2x" is twice the user capacity; twice the range with --quick. */
static int parse_amount(struct ctx *c, const char *s, uint64_t *ret)
{
	size_t n = strlen(s);
	char head[32];
	double x;

	if (n < 2 || n > sizeof head || s[n - 1] != 'x')
		return parse_size(s, ret);
	memcpy(head, s, n - 1);
	head[n - 1] = 0;
	if (parse_number(head, &x) || !(x > 0) || x > 1e6)
		return -EINVAL;
	uint64_t unit = c->env->quick ? c->range_bytes : c->capacity_bytes;
	long double bytes = (long double)x * (long double)unit;
	if (bytes > (long double)INT64_MAX)
		return -EINVAL;
	*ret = (uint64_t)bytes / c->env->lba_bytes * c->env->lba_bytes;
	return 0;
}

int value_amount(struct ctx *c, const struct value *v, uint64_t *ret_bytes)
{
	const char *s;
	int rc = value_word(c, v, "amount", &s);

	if (!rc && (parse_amount(c, s, ret_bytes) || !*ret_bytes))
		return bad_word(c, "amount (as 2x or 10g)", s);
	return rc;
}

int value_scale(struct ctx *c, const struct value *v, double *ret)
{
	const char *s;
	int rc = value_word(c, v, "scale", &s);

	if (!rc && (parse_number(s, ret) || !(*ret > 0) || *ret > 1024))
		return bad_word(c, "scale (more than 0, up to 1024)", s);
	return rc;
}

static int point_index(struct ctx *c, const char *name)
{
	for (unsigned i = 0; i < c->n_points; i++)
		if (!strcmp(c->point[i], name))
			return (int)i;
	return -1;
}

int value_point(struct ctx *c, const struct value *v, const char **ret)
{
	const char *s;
	int rc = value_word(c, v, "point", &s);
	char show[48];

	if (rc)
		return rc;
	int i = s[0] == '$' ? point_index(c, s + 1) : -1;
	if (i < 0)
		return ctx_bad(c, "'%s' is no point: write $NAME of a pick above",
			       lex_show(show, s));
	*ret = c->point[i];
	return 0;
}

/* A factor of an expression: a number, a percentage, or a point's field. */
static int take_factor(struct ctx *c, const char *s, struct expr *e, const char **label)
{
	static const char *const fields[] = { "iops", "threads", "qd", NULL };
	static const enum ref_field refs[] = { REF_IOPS, REF_THREADS, REF_QD };
	const char *dot = strchr(s, '.');
	double v;

	if (*s != '$') {
		bool pct = !parse_pct(s, &v);
		if (!pct && parse_number(s, &v))
			return bad_word(c, "number", s);
		if (pct)
			*label = s;
		e->k *= pct ? v / 100 : v;
		return 0;
	}
	if (e->point || !dot)
		return bad_word(c, "factor (a number, a %, or one $POINT.iops)", s);
	int i = point_index(c, arena_strndup(c->a, s + 1, (size_t)(dot - s - 1)));
	for (unsigned f = 0; fields[f]; f++)
		if (!strcmp(fields[f], dot + 1))
			e->field = refs[f];
	if (e->field == REF_NONE)
		return ctx_unknown(c, "field of a point", dot + 1, fields);
	if (i < 0)
		return bad_word(c, "point", s);
	e->point = c->point[i];
	return 0;
}

int value_expr(struct ctx *c, const struct value *v, struct expr *ret, const char **ret_label)
{
	struct expr e = { .k = 1 };
	struct span w;

	int rc = value_words(c, v, &w);
	for (unsigned i = 0; i < w.n && !rc; i++) {
		bool star = !strcmp(w.w[i].s, "*");
		if (star != (i % 2 == 1))
			return bad_word(c, "expression at", w.w[i].s);
		if (!star)
			rc = take_factor(c, w.w[i].s, &e, ret_label);
	}
	if (!rc && (!(e.k > 0) || w.n % 2 == 0))
		return ctx_bad(c, "a rate is more than 0");
	if (!rc)
		*ret = e;
	return rc;
}

int value_label(struct ctx *c, const struct value *v, const char **ret)
{
	struct buf b = BUF_INIT;
	struct span w;

	int rc = value_words(c, v, &w);
	if (rc)
		return rc;
	for (unsigned i = 0; i < w.n; i++)
		buf_fmt(&b, i ? " %s" : "%s", w.w[i].s);
	*ret = arena_strdup(c->a, buf_cstr(&b));
	buf_release(&b);
	return 0;
}
