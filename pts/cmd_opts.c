/* SPDX-License-Identifier: MIT */
/* Parsing of the command line by the table. Options and words in any order; "--" ends the options. */
#include "pts/cmd_opts.h"

#include <stdlib.h>
#include <string.h>

#include "pts/base/words.h"

#define N_OPTIONS_MAX 128

struct parse {
	char **at; /* next argument; ends with NULL */
	struct opts *o;
	const struct command *cmd;
	const char *word0; /* the command's name as given */
	const char *unknown; /* first option that nobody knows: judged when the command is known */
	bool given[N_OPTIONS_MAX];
	bool help, words_only;
};

static const struct option_def *by_name(const char *name, size_t len)
{
	for (const struct option_def *d = option_defs; d->name; d++)
		if (strlen(d->name) == len && !memcmp(d->name, name, len))
			return d;
	return NULL;
}

static const struct option_def *by_letter(char c)
{
	for (const struct option_def *d = option_defs; d->name; d++)
		if (d->letter && d->letter == c)
			return d;
	return NULL;
}

/* "-3" and "-" are words: no option begins with a digit. */
static bool is_option(const char *s)
{
	return s[0] == '-' && s[1] && !(s[1] >= '0' && s[1] <= '9') && s[1] != '.';
}

/* Would a reader take this for an option, not for a value? */
static bool looks_like_option(const char *s)
{
	if (!strcmp(s, "--") || !strcmp(s, "--help") || !strcmp(s, "-h"))
		return true;
	if (!is_option(s))
		return false;
	if (s[1] != '-')
		return !s[2] && by_letter(s[1]);
	return by_name(s + 2, strcspn(s + 2, "=")) != NULL;
}

static int list_add(const struct opts *o, struct opt_list *l, const char *v)
{
	if (l->n == OPTS_LIST_MAX)
		return cmd_usage(o, "more than %d values", OPTS_LIST_MAX);
	l->v[l->n++] = v;
	return 0;
}

static bool is_choice(const char *choices, const char *v)
{
	size_t len = strlen(v);

	for (const char *p = choices; *p; p += strcspn(p, "|"), p += *p == '|')
		if (strcspn(p, "|") == len && !strncmp(p, v, len))
			return true;
	return false;
}

static int set_value(struct parse *p, const struct option_def *d, const char *v)
{
	char *field = (char *)p->o + d->offset;

	if (!v || !*v)
		return cmd_usage(p->o, "--%s needs a value: --%s %s", d->name, d->name, d->value);
	if (d->kind == OPTION_LIST)
		return list_add(p->o, (struct opt_list *)(void *)field, v);
	if (p->given[d - option_defs])
		return cmd_usage(p->o, "--%s is given twice", d->name);
	p->given[d - option_defs] = true;
	if (d->choices && !is_choice(d->choices, v))
		return cmd_usage(p->o, "--%s takes %s, not '%s'", d->name, d->choices, v);
	memcpy(field, &v, sizeof v);
	return 0;
}

/* @v: what follows "=" or the letter; NULL when nothing does. */
static int set_option(struct parse *p, const struct option_def *d, const char *v)
{
	p->given[d - option_defs] |= d->kind != OPTION_VALUE;
	if (d->kind != OPTION_FLAG) {
		if (!v && *p->at && !looks_like_option(*p->at))
			v = *p->at++;
		return set_value(p, d, v);
	}
	if (v)
		return cmd_usage(p->o, "--%s takes no value", d->name);
	*((bool *)p->o + d->offset) = true;
	return 0;
}

static int long_option(struct parse *p, const char *arg)
{
	size_t len = strcspn(arg + 2, "=");
	const struct option_def *d = by_name(arg + 2, len);

	if (!strcmp(arg, "--help")) {
		p->help = true;
		return 0;
	}
	if (!d) {
		p->unknown = p->unknown ? p->unknown : arg;
		return 0;
	}
	return set_option(p, d, arg[2 + len] ? arg + 2 + len + 1 : NULL);
}

/* "-q", "-qv", "-oFILE", "-o FILE" */
static int short_options(struct parse *p, const char *arg)
{
	for (const char *c = arg + 1; *c; c++) {
		const struct option_def *d = by_letter(*c);
		int rc;

		if (*c == 'h') {
			p->help = true;
			continue;
		}
		if (!d) {
			p->unknown = p->unknown ? p->unknown : arg;
			return 0;
		}
		if (d->kind != OPTION_FLAG)
			return set_option(p, d, c[1] ? c + 1 : NULL);
		rc = set_option(p, d, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

static int word(struct parse *p, const char *s)
{
	if (p->word0)
		return list_add(p->o, &p->o->arg, s);
	p->word0 = s;
	p->cmd = command_find(s);
	if (p->cmd)
		p->o->command = p->cmd->name;
	return 0;
}

static int argument(struct parse *p, const char *s)
{
	if (p->words_only || !is_option(s))
		return word(p, s);
	if (!strcmp(s, "--")) {
		p->words_only = true;
		return 0;
	}
	return s[1] == '-' ? long_option(p, s) : short_options(p, s);
}

static int unknown_option(const struct parse *p)
{
	const char *list[N_OPTIONS_MAX + 1], *name = p->unknown, *near;
	char plain[64];
	unsigned n = 0;

	while (*name == '-')
		name++;
	for (const struct option_def *d = option_defs; d->name; d++)
		if (!p->cmd || command_takes(p->cmd, d))
			list[n++] = d->name;
	list[n++] = "help";
	list[n] = NULL;
	plain[0] = '\0';
	strncat(plain, name, strcspn(name, "=") < 63 ? strcspn(name, "=") : 63);
	near = nearest_word(plain, list);
	if (!near)
		return cmd_usage(p->o, "unknown option '%s'", p->unknown);
	return cmd_usage(p->o, "unknown option '%s' (did you mean '--%s'?)", p->unknown, near);
}

static int unknown_command(const struct parse *p)
{
	const char *list[N_OPTIONS_MAX], *near;
	unsigned n = 0;

	for (const struct command *c = commands; c->name; c++)
		list[n++] = c->name;
	list[n] = NULL;
	near = nearest_word(p->word0, list);
	if (!near)
		return cmd_usage(p->o, "unknown command '%s'", p->word0);
	return cmd_usage(p->o, "unknown command '%s' (did you mean '%s'?)", p->word0, near);
}

/* What can be judged only when the command is known. */
static int check(const struct parse *p)
{
	const struct opts *o = p->o;

	if (p->unknown)
		return unknown_option(p);
	if (p->word0 && !p->cmd)
		return unknown_command(p);
	if (p->help)
		return 0;
	if (!p->cmd)
		return cmd_usage(o, "which command?");
	for (const struct option_def *d = option_defs; d->name; d++)
		if (p->given[d - option_defs] && !command_takes(p->cmd, d))
			return cmd_usage(o, "--%s is no option of %s", d->name, p->cmd->name);
	if (p->cmd->needs && !o->arg.n)
		return cmd_usage(o, "needs %s", p->cmd->needs);
	if (o->arg.n > p->cmd->max_words)
		return cmd_usage(o, "one word too many: '%s'", o->arg.v[p->cmd->max_words]);
	return 0;
}

int opts_parse(int argc, char **argv, struct opts *ret, const struct command **ret_cmd,
	       bool *ret_help)
{
	struct parse p = { .at = argc ? argv + 1 : argv, .o = ret };
	const char *env = getenv("PTS_DB");
	int rc = 0;

	memset(ret, 0, sizeof *ret);
	while (!rc && *p.at)
		rc = argument(&p, *p.at++);
	if (!rc)
		rc = check(&p);
	if (!ret->db)
		ret->db = env && *env ? env : "pts.db";
	*ret_cmd = p.cmd;
	*ret_help = p.help;
	return rc;
}
