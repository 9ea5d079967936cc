/* SPDX-License-Identifier: MIT */
/* pts compare RUN... -o FILE: runs side by side, from the database alone. */
#include <errno.h>
#include <stdio.h>

#include "pts/cmd.h"
#include "reports/compare_write.h"
#include "schema/read.h"

static int find_runs(const struct opts *o, int64_t *run, int64_t *ret_baseline, struct err *err)
{
	struct reader *r;
	int rc = read_open(o->db, &r, err);

	if (rc)
		return rc;
	for (unsigned i = 0; !rc && i < o->arg.n; i++)
		rc = read_run(r, o->arg.v[i], &run[i], err);
	if (!rc && o->baseline)
		rc = read_run(r, o->baseline, ret_baseline, err);
	read_close(r);
	return rc;
}

static int tell_claims(const struct opts *o, const struct compared *how)
{
	if (!o->claims || (o->quiet && !how->claims_missed))
		return EXIT_GOOD;
	if (!how->claims)
		fprintf(stderr, "pts: compare: claims: none of %s is of these drives\n", o->claims);
	else
		fprintf(stderr, "pts: compare: claims: %u of %u met, %u missed, %u not assessed\n",
			how->claims_met, how->claims, how->claims_missed, how->claims_open);
	return how->claims_missed ? EXIT_BAD : EXIT_GOOD;
}

/* What differs is a verdict, not an error: the file is written, and it says so. */
static int tell(const struct opts *o, const struct compared *how)
{
	struct err err = { "" };
	int claims = tell_claims(o, how);

	if (how->prices_idle && !o->quiet)
		fprintf(stderr, "pts: compare: prices: none of %s is of these drives\n", o->prices);
	if (!how->n_differ)
		return claims;
	err_set(&err, -EINVAL, "not comparable: %u condition%s (%s): see the red lines of %s",
		how->n_differ, how->n_differ == 1 ? " differs" : "s differ", how->differ,
		o->output);
	return cmd_fail(o, EXIT_BAD, &err);
}

int cmd_compare(const struct opts *o)
{
	int64_t run[OPTS_LIST_MAX];
	struct compare_options q = { .run = run,
				     .n = o->arg.n,
				     .claims = o->claims,
				     .prices = o->prices,
				     .doubted = o->allow_tampered };
	struct compared how = { .n_differ = 0 };
	struct err err = { "" };

	if (!o->output)
		return cmd_usage(o, "where to? -o FILE.xlsx, .html, .txt, .json or DIR/");
	if (o->arg.n < 2)
		return cmd_usage(o, "nothing to compare with: name two runs or more");
	int rc = find_runs(o, run, &q.baseline, &err);
	if (!rc)
		rc = compare_write(o->db, &q, o->output, &how, &err);
	if (rc) /* evidence that is none is a bad input */
		return cmd_fail(o, rc == -EBADMSG ? EXIT_USAGE : exit_of(rc), &err);
	return tell(o, &how);
}
