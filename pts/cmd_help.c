/* SPDX-License-Identifier: MIT */
/* pts help [COMMAND], pts COMMAND -h: the table in words. */
#include "pts/base/words.h"
#include "pts/cmd_opts.h"

static void option_line(const struct option_def *d, struct buf *out)
{
	struct buf left = BUF_INIT;

	if (d->letter)
		buf_fmt(&left, "-%c, ", d->letter);
	buf_fmt(&left, "--%s%s%s", d->name, d->value ? " " : "", d->value ? d->value : "");
	buf_fmt(out, "  %-28s %s\n", buf_cstr(&left), d->help);
	buf_release(&left);
}

void command_help(const struct command *c, struct buf *out)
{
	buf_fmt(out, "usage: pts %s%s%s\n%s\n\n", c->name, *c->synopsis ? " " : "", c->synopsis,
		c->text);
	for (const struct option_def *d = option_defs; d->name; d++)
		if (command_takes(c, d))
			option_line(d, out);
	buf_fmt(out, "  %-28s %s\n", "-h, --help", "this text");
}

static void overview(struct buf *out)
{
	buf_str(out,
		"usage: pts COMMAND [WORDS] [OPTIONS]\n"
		"SNIA Solid State Storage Performance Test Specification, run and reported\n\n");
	for (const struct command *c = commands; c->name; c++)
		buf_fmt(out, "  %-11s %s\n", c->name, c->text);
	buf_str(out,
		"\n'pts help COMMAND' tells its options; the manual is pts(1), the language of "
		"definitions pts-def(5).\n"
		"Exit codes: 0 good, 1 done but bad (not steady), 2 usage or refused, 3 device or "
		"system, 4 interrupted.\n");
}

int cmd_help(const struct opts *o)
{
	struct buf text = BUF_INIT;
	const char *list[32], *near;
	unsigned n = 0;
	int rc;

	if (!o->arg.n) {
		overview(&text);
	} else if (command_find(o->arg.v[0])) {
		command_help(command_find(o->arg.v[0]), &text);
	} else {
		for (const struct command *c = commands; c->name; c++)
			list[n++] = c->name;
		list[n] = NULL;
		near = nearest_word(o->arg.v[0], list);
		return near ? cmd_usage(o, "unknown command '%s' (did you mean '%s'?)", o->arg.v[0],
					near)
			    : cmd_usage(o, "unknown command '%s'", o->arg.v[0]);
	}
	rc = cmd_out(o, &text, EXIT_GOOD);
	buf_release(&text);
	return rc;
}
