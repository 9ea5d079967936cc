/* SPDX-License-Identifier: MIT */
/* pts completion bash: a script made of the table. Names of tests and runs are asked of pts itself when they are wanted. */
#include <string.h>

#include "pts/cmd_opts.h"

/* Text with '|' as blanks. */
static void add_words(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_add(out, *s == '|' ? " " : s, 1);
}

static void command_case(const struct command *c, struct buf *out)
{
	buf_fmt(out, "\t%s)\n\t\topts='-h --help", c->name);
	for (const struct option_def *d = option_defs; d->name; d++) {
		if (!command_takes(c, d))
			continue;
		if (d->letter)
			buf_fmt(out, " -%c", d->letter);
		buf_fmt(out, " --%s", d->name);
	}
	buf_str(out, "' words='");
	add_words(out, c->words ? c->words : "");
	buf_str(out, "' ;;\n");
}

static void value_case(const struct option_def *d, struct buf *out)
{
	if (d->kind == OPTION_FLAG)
		return;
	buf_fmt(out, "\t--%s", d->name);
	if (d->letter)
		buf_fmt(out, " | -%c", d->letter);
	if (d->choices) {
		buf_str(out, ") COMPREPLY=($(compgen -W '");
		add_words(out, d->choices);
		buf_str(out, "' -- \"$cur\")); return ;;\n");
	} else {
		buf_str(out, ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
	}
}

static void names_with_value(struct buf *out)
{
	const char *bar = "";

	for (const struct option_def *d = option_defs; d->name; d++) {
		if (d->kind == OPTION_FLAG)
			continue;
		buf_fmt(out, "%s--%s", bar, d->name);
		if (d->letter)
			buf_fmt(out, " | -%c", d->letter);
		bar = " | ";
	}
}

static const char head[] = /* "--profile=c" comes as three words */
	"# bash completion of pts: eval \"$(pts completion bash)\"\n"
	"_pts()\n{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev= cmd= opts= words= w i\n"
	"\t((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\t[ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\t[ \"$cur\" = = ] && cur=\n"
	"\tCOMPREPLY=()\n"
	"\tcase $prev in\n";

static const char tail[] =
	"' -- \"$cur\")) ;;\n"
	"\t\t@*) COMPREPLY+=($(compgen -W \"$(pts list \"${w#@}\" 2>/dev/null |\n"
	"\t\t\tawk 'NR > 1 { print $1 }')\" -- \"$cur\")) ;;\n"
	"\t\t*) COMPREPLY+=($(compgen -W \"$w\" -- \"$cur\")) ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"}\n"
	"complete -o default -F _pts pts\n";

static void script(struct buf *out)
{
	buf_str(out, head);
	for (const struct option_def *d = option_defs; d->name; d++)
		value_case(d, out);
	buf_str(out, "\tesac\n"
		     "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		     "\t\tcase ${COMP_WORDS[i]} in\n"
		     "\t\t");
	names_with_value(out);
	buf_str(out, ") [ \"${COMP_WORDS[i + 1]}\" = = ] && ((i++)); ((i++)) ;;\n"
		     "\t\t-*) ;;\n"
		     "\t\t*) cmd=${COMP_WORDS[i]}; break ;;\n"
		     "\t\tesac\n"
		     "\tdone\n"
		     "\tcase $cmd in\n");
	for (const struct command *c = commands; c->name; c++)
		command_case(c, out);
	buf_str(out, "\t'') words='@commands' opts='-h --help --version' ;;\n"
		     "\tesac\n"
		     "\tcase $cur in -*) words=$opts ;; esac\n"
		     "\tfor w in $words; do\n"
		     "\t\tcase $w in\n"
		     "\t\t@commands) COMPREPLY+=($(compgen -W '");
	for (const struct command *c = commands; c->name; c++)
		buf_fmt(out, "%s%s", c == commands ? "" : " ", c->name);
	buf_str(out, tail);
}

int cmd_completion(const struct opts *o)
{
	struct buf text = BUF_INIT;
	int rc;

	if (strcmp(o->arg.v[0], "bash"))
		return cmd_usage(o, "only for bash, not '%s'", o->arg.v[0]);
	script(&text);
	rc = cmd_out(o, &text, EXIT_GOOD);
	buf_release(&text);
	return rc;
}
