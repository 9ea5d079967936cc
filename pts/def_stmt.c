/* SPDX-License-Identifier: MIT */
/* One statement of a test's body: which words it takes, and where their values stand. What the values mean is the compiler's. */
#include <errno.h>
#include <string.h>

#include "pts/base/words.h"
#include "pts/def_ast.h"
#include "pts/plan.h"

const char *const stmt_words[] = { "range",   "purge", "fill",	"run",	 "idle",
				   "replay",  "loop",  "track", "check", "repeat",
				   "foreach", "pick",  "param", "end",	 NULL };
const char *const phase_words[] = { "wipc",	"wdpc",	    "sample",  "irpw",	    "round",
				    "step",	"prewrite", "maximum", "histogram", "idle",
				    "baseline", "stimulus", "replay",  NULL };

struct opt_word {
	const char *word;
	enum opt opt;
};

static const struct opt_word run_opts[] = {
	{ "rw", O_RW },	      { "bs", O_BS },	  { "threads", O_THREADS }, { "qd", O_QD },
	{ "at", O_AT },	      { "rate", O_RATE }, { "on", O_MEMBERS },	    { "for", O_FOR },
	{ "every", O_EVERY }, { "as", O_AS },	  { "label", O_LABEL },	    { NULL, OPTS },
};
static const struct opt_word fill_opts[] = {
	{ "rw", O_RW }, { "bs", O_BS }, { "threads", O_THREADS }, { "qd", O_QD }, { NULL, OPTS },
};
static const struct opt_word idle_opts[] = { { "label", O_LABEL }, { NULL, OPTS } };
static const struct opt_word replay_opts[] = {
	{ "top", O_TOP }, { "cover", O_COVER }, { "scale", O_SCALE }, { "step", O_STEP },
	{ "qd", O_QD },	  { "idle", O_IDLE },	{ "label", O_LABEL }, { NULL, OPTS },
};
static const struct opt_word range_opts[] = {
	{ "amount", O_AMOUNT },
	{ "segments", O_SEGMENTS },
	{ NULL, OPTS },
};
static const struct opt_word repeat_opts[] = { { NULL, OPTS } };
static const struct opt_word loop_opts[] = {
	{ "rounds", O_ROUNDS }, { "then", O_THEN }, { "label", O_LABEL },
	{ "until", OPTS },	{ NULL, OPTS },
};
static const struct opt_word select_opts[] = {
	{ "rw", O_RW }, { "bs", O_BS },	      { "threads", O_THREADS },
	{ "qd", O_QD }, { "label", O_LABEL }, { NULL, OPTS },
};

bool stmt_is_block(enum stmt kind)
{
	return kind == ST_LOOP || kind == ST_REPEAT || kind == ST_FOREACH;
}

/* The statement being read: its words and how far it was read. */
struct cur {
	struct parser *ps;
	struct span w;
	unsigned i;
	struct node *n;
};

static bool more(const struct cur *c)
{
	return c->i < c->w.n;
}

static const char *peek(const struct cur *c)
{
	return more(c) && !c->w.w[c->i].quoted ? c->w.w[c->i].s : "";
}

static bool take(struct cur *c, const char *word)
{
	if (strcmp(peek(c), word))
		return false;
	c->i++;
	return true;
}

static int bad_unknown(struct cur *c, const struct opt_word *opts)
{
	const char *list[16];
	unsigned n = 0;

	for (; opts[n].word && n < 15; n++)
		list[n] = opts[n].word;
	list[n] = NULL;
	return parse_unknown(c->ps, "word", c->w.w[c->i].s, list);
}

static int expect_end(struct cur *c)
{
	char show[48];

	if (!more(c))
		return 0;
	return parse_bad(c->ps, "unexpected '%s'", lex_show(show, c->w.w[c->i].s));
}

/* One word, or an expression A * B where @expr. */
static int take_words(struct cur *c, const char *after, bool expr, struct span *ret)
{
	if (!more(c) || !strcmp(peek(c), "quick"))
		return parse_bad(c->ps, "'%s' needs a value", after);
	*ret = (struct span){ c->w.w + c->i, 1 };
	c->i++;
	if (!expr || strcmp(peek(c), "*"))
		return 0;
	if (c->i + 1 >= c->w.n)
		return parse_bad(c->ps, "'*' needs a value after it");
	ret->n = 3;
	c->i += 2;
	return 0;
}

static int take_value(struct cur *c, const char *after, bool expr, struct value *ret)
{
	if (ret->normal.n)
		return parse_bad(c->ps, "'%s' is there twice", after);
	int rc = take_words(c, after, expr, &ret->normal);
	if (!rc && take(c, "quick"))
		rc = take_words(c, "quick", expr, &ret->quick);
	return rc;
}

static const struct opt_word *find_opt(const struct opt_word *opts, const char *word)
{
	for (; opts->word; opts++)
		if (!strcmp(opts->word, word))
			return opts;
	return NULL;
}

/* A value that stands for itself begins with a digit or is a $name. */
static bool is_bare_value(const struct cur *c)
{
	const char *s = peek(c);

	return *s == '$' || (*s >= '0' && *s <= '9');
}

static int take_option(struct cur *c, const struct opt_word *opts, bool bare)
{
	const struct opt_word *o = find_opt(opts, peek(c));

	if (!o && bare && is_bare_value(c))
		return take_value(c, "it", false, &c->n->opt[O_VALUE]);
	if (!o)
		return bad_unknown(c, opts);
	c->i++;
	if (o->opt == O_MEMBERS && !take(c, "members"))
		return parse_bad(c->ps, "it is written: on members FIRST..LAST");
	return take_value(c, o->word, o->opt == O_RATE, &c->n->opt[o->opt]);
}

static int take_options(struct cur *c, const struct opt_word *opts, bool bare)
{
	int rc = 0;

	while (!rc && more(c))
		rc = take_option(c, opts, bare);
	return rc;
}

/* composite of $capture [top N] [cover PCT]: the access is these words. */
static int take_composite(struct cur *c)
{
	unsigned from = c->i++;

	if (!take(c, "of") || !more(c))
		return parse_bad(c->ps, "it is written: composite of $capture [top N|cover PCT]");
	c->i++;
	while (!strcmp(peek(c), "top") || !strcmp(peek(c), "cover")) {
		if (c->i + 1 >= c->w.n)
			return parse_bad(c->ps, "'%s' needs a value", peek(c));
		c->i += 2;
	}
	c->n->access = (struct span){ c->w.w + from, c->i - from };
	return 0;
}

static int take_access(struct cur *c)
{
	if (!more(c))
		return parse_bad(c->ps, "'%s' needs an access: a workload, rnd, seq or composite",
				 c->w.w[0].s);
	if (!strcmp(peek(c), "composite"))
		return take_composite(c);
	c->n->access = (struct span){ c->w.w + c->i, 1 };
	c->i++;
	return 0;
}

static int need(struct cur *c, enum opt o, const char *what)
{
	if (c->n->opt[o].normal.n)
		return 0;
	return parse_bad(c->ps, "'%s' needs %s", c->w.w[0].s, what);
}

static int parse_run(struct cur *c)
{
	int rc = take_access(c);

	if (!rc)
		rc = take_options(c, run_opts, false);
	if (!rc)
		rc = need(c, O_FOR, "'for TIME'");
	if (!rc && c->n->opt[O_AT].normal.n &&
	    (c->n->opt[O_THREADS].normal.n || c->n->opt[O_QD].normal.n))
		rc = parse_bad(c->ps, "'at' gives threads and qd: they cannot be given too");
	return rc;
}

static int parse_fill(struct cur *c)
{
	int rc = take_access(c);

	if (!rc)
		rc = take_options(c, fill_opts, true);
	if (!rc)
		rc = need(c, O_VALUE, "an amount, as 2x or 10g");
	return rc;
}

static int parse_bare(struct cur *c, const struct opt_word *opts, const char *what)
{
	int rc = take_value(c, c->w.w[0].s, false, &c->n->opt[O_VALUE]);

	if (!rc)
		rc = take_options(c, opts, false);
	if (!rc)
		rc = need(c, O_VALUE, what);
	return rc;
}

static int parse_range(struct cur *c)
{
	int rc = parse_bare(c, range_opts, "a part of the drive, as 75%");

	if (!rc && !c->n->opt[O_AMOUNT].normal.n != !c->n->opt[O_SEGMENTS].normal.n)
		rc = parse_bad(c->ps, "'amount' and 'segments' go together");
	return rc;
}

static int parse_purge(struct cur *c)
{
	static const struct opt_word opts[] = { { "optional", OPTS }, { NULL, OPTS } };

	c->n->optional = take(c, "optional");
	if (more(c) && !c->n->optional)
		return bad_unknown(c, opts);
	return expect_end(c);
}

static int parse_replay(struct cur *c)
{
	int rc;

	if (!more(c))
		return parse_bad(c->ps, "'replay' needs a capture: replay $capture scale N");
	c->n->access = (struct span){ c->w.w + c->i++, 1 };
	rc = take_options(c, replay_opts, false);
	if (!rc)
		rc = need(c, O_SCALE, "'scale N'");
	return rc;
}

static int take_condition(struct cur *c)
{
	static const char *const words[] = { "steady", "written", "time", NULL };

	if (!more(c))
		return parse_bad(c->ps,
				 "'until' needs a condition: steady, written AMOUNT, time TIME");
	if (take(c, "steady")) {
		if (c->n->opt[O_UNTIL_STEADY].normal.n)
			return parse_bad(c->ps, "'steady' is there twice");
		c->n->opt[O_UNTIL_STEADY].normal = (struct span){ c->w.w + c->i - 1, 1 };
		return 0;
	}
	if (take(c, "written"))
		return take_value(c, "written", false, &c->n->opt[O_WRITTEN]);
	if (take(c, "time"))
		return take_value(c, "time", false, &c->n->opt[O_TIME]);
	return parse_unknown(c->ps, "condition", c->w.w[c->i].s, words);
}

static int parse_loop(struct cur *c)
{
	int rc = 0;

	while (!rc && more(c) && strcmp(peek(c), "until"))
		rc = take_option(c, loop_opts, false);
	if (rc)
		return rc;
	if (!take(c, "until"))
		return parse_bad(c->ps, "a loop needs 'until CONDITION'");
	do {
		rc = take_condition(c);
	} while (!rc && take(c, "or"));
	if (!rc && more(c)) {
		static const struct opt_word or_opts[] = { { "or", OPTS },
							   { "quick", OPTS },
							   { NULL, OPTS } };
		rc = bad_unknown(c, or_opts);
	}
	if (!rc && c->n->opt[O_THEN].normal.n && !c->n->opt[O_ROUNDS].normal.n)
		rc = parse_bad(c->ps, "'then' goes with 'rounds'");
	return rc;
}

/* [PHASE] at the head of a selector. */
static int take_phase(struct cur *c)
{
	if (!more(c))
		return parse_bad(c->ps,
				 "'of' needs a selector: a phase, rw, bs, threads, qd, label");
	if (find_opt(select_opts, peek(c)))
		return 0;
	for (const char *const *p = phase_words; *p; p++) {
		if (!strcmp(*p, peek(c))) {
			c->n->phase = *p;
			c->i++;
			return 0;
		}
	}
	return parse_unknown(c->ps, "phase", c->w.w[c->i].s, phase_words);
}

static int parse_track(struct cur *c)
{
	static const char *const vars[] = { "iops", "bytes_per_s", "art", NULL };
	static const char *const of[] = { "of", NULL };

	if (!more(c))
		return parse_bad(c->ps, "it is written: track VARIABLE of SELECTOR");
	for (unsigned i = 0; vars[i]; i++)
		if (!strcmp(vars[i], peek(c)))
			c->n->name = vars[i];
	if (!c->n->name)
		return parse_unknown(c->ps, "variable", c->w.w[c->i].s, vars);
	c->i++;
	if (!more(c))
		return parse_bad(c->ps, "it is written: track %s of SELECTOR", c->n->name);
	if (!take(c, "of"))
		return parse_unknown(c->ps, "word", c->w.w[c->i].s, of);
	int rc = take_phase(c);
	return rc ? rc : take_options(c, select_opts, false);
}

static int parse_check(struct cur *c)
{
	return expect_end(c);
}

static int parse_repeat(struct cur *c)
{
	return parse_bare(c, repeat_opts, "a number of times");
}

static int parse_foreach(struct cur *c)
{
	char show[48];
	unsigned i;

	if (!more(c) || !def_name_ok(peek(c)) || !strcmp(peek(c), "members"))
		return parse_bad(c->ps, "'foreach' needs the name of a variable, not '%s'",
				 more(c) ? lex_show(show, c->w.w[c->i].s) : "");
	c->n->name = peek(c);
	c->i++;
	if (!take(c, "in"))
		return parse_bad(c->ps, "it is written: foreach %s in LIST", c->n->name);
	c->n->streams = !strcmp(peek(c), "streams");
	for (i = c->i; i < c->w.n && strcmp(c->w.w[i].s, "quick"); i++)
		;
	c->n->list.normal = (struct span){ c->w.w + c->i, i - c->i };
	if (i < c->w.n)
		c->n->list.quick = (struct span){ c->w.w + i + 1, c->w.n - i - 1 };
	if (!c->n->list.normal.n || (i < c->w.n && !c->n->list.quick.n))
		return parse_bad(c->ps, "'foreach' needs a list of values");
	if (!c->n->streams)
		return 0;
	if (i < c->w.n || c->n->list.normal.n < 3 || strcmp(c->n->list.normal.w[1].s, "of"))
		return parse_bad(c->ps, "it is written: streams of $capture [top N|cover PCT]");
	return 0;
}

/* ---- pick ---- */

static int take_phrase(struct cur *c, const char *const *words)
{
	for (; *words; words++)
		if (!take(c, *words))
			return -EINVAL;
	return 0;
}

static int pick_rule(struct cur *c)
{
	static const char *const rules[] = { "highest", "nearest", NULL };
	static const char *const mid[] = { "iops",   "to", "(", "highest", "+",
					   "lowest", ")",  "/", "2",	   NULL };

	if (take(c, "highest")) {
		c->n->rule = PICK_HIGHEST_IOPS;
		return take(c, "iops") ? 0 : parse_bad(c->ps, "it is written: by highest iops");
	}
	if (take(c, "nearest")) {
		c->n->rule = PICK_NEAREST_IOPS_MID;
		if (take_phrase(c, mid))
			return parse_bad(
				c->ps, "it is written: by nearest iops to (highest + lowest) / 2");
		return 0;
	}
	return parse_unknown(c->ps, "rule", more(c) ? c->w.w[c->i].s : "", rules);
}

static int pick_tie(struct cur *c)
{
	int rc = take_value(c, "tie", false, &c->n->opt[O_TIE]);

	while (!rc && take(c, "lowest")) {
		if (take(c, "oio"))
			c->n->tie_oio = true;
		else if (take(c, "tc"))
			c->n->tie_tc = true;
		else
			rc = parse_bad(c->ps, "after a tie: lowest oio, lowest tc");
	}
	if (!rc && !c->n->tie_oio && !c->n->tie_tc)
		rc = parse_bad(c->ps, "a tie needs 'lowest oio' or 'lowest tc'");
	return rc;
}

static int pick_clause(struct cur *c)
{
	static const struct opt_word words[] = {
		{ "of", OPTS }, { "where", OPTS }, { "tie", OPTS }, { "else", OPTS }, { NULL, OPTS }
	};

	if (!c->n->phase && take(c, "of"))
		return take_phase(c);
	if (take(c, "where")) {
		if (!take(c, "art") || !take(c, "<"))
			return parse_bad(c->ps, "it is written: where art < TIME");
		return take_value(c, "art <", false, &c->n->opt[O_BELOW]);
	}
	if (take(c, "tie"))
		return pick_tie(c);
	if (!c->n->else_art && take(c, "else")) {
		c->n->else_art = true;
		if (!take(c, "lowest") || !take(c, "art"))
			return parse_bad(c->ps, "it is written: else lowest art");
		return 0;
	}
	return bad_unknown(c, words);
}

static int parse_pick(struct cur *c)
{
	static const char *const words[] = { "at", "by", NULL };
	static const struct opt_word at_opts[] = { { "threads", O_THREADS },
						   { "qd", O_QD },
						   { NULL, OPTS } };
	int rc = 0;

	if (!more(c) || !def_name_ok(peek(c)))
		return parse_bad(c->ps, "'pick' needs the name of a point");
	c->n->name = peek(c);
	c->i++;
	if (take(c, "at")) {
		c->n->rule = PICK_AT;
		rc = take_options(c, at_opts, false);
		if (!rc)
			rc = need(c, O_THREADS, "'threads N'");
		return rc ? rc : need(c, O_QD, "'qd N'");
	}
	if (!take(c, "by"))
		return parse_unknown(c->ps, "word", more(c) ? c->w.w[c->i].s : "", words);
	rc = pick_rule(c);
	while (!rc && more(c))
		rc = pick_clause(c);
	return rc;
}

int stmt_parse(struct parser *ps, struct span words, struct node **ret)
{
	static int (*const parse[STMTS])(struct cur *) = {
		[ST_RANGE] = parse_range,
		[ST_PURGE] = parse_purge,
		[ST_FILL] = parse_fill,
		[ST_RUN] = parse_run,
		[ST_IDLE] = NULL,
		[ST_REPLAY] = parse_replay,
		[ST_LOOP] = parse_loop,
		[ST_TRACK] = parse_track,
		[ST_CHECK] = parse_check,
		[ST_REPEAT] = parse_repeat,
		[ST_FOREACH] = parse_foreach,
		[ST_PICK] = parse_pick,
	};
	struct node *n = arena_new(ps->arena, struct node);
	struct cur c = { ps, words, 1, n };
	int kind = 0, rc;

	while (kind < STMTS && strcmp(stmt_words[kind], words.w[0].s))
		kind++;
	if (kind == STMTS || words.w[0].quoted)
		return parse_unknown(ps, "word", words.w[0].s, stmt_words);
	n->kind = (enum stmt)kind;
	n->file = ps->lx.file;
	n->line = ps->lx.line;
	n->words = words;
	if (kind == ST_IDLE)
		rc = parse_bare(&c, idle_opts, "a time");
	else
		rc = parse[kind](&c);
	if (!rc)
		*ret = n;
	return rc;
}
