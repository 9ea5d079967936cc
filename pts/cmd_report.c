/* SPDX-License-Identifier: MIT */
/* pts report RUN... -o FILE: the report of runs, from the database alone. */
#include <stdio.h>

#include "pts/cmd.h"
#include "reports/report.h"
#include "schema/read.h"

static int find_runs(const struct opts *o, int64_t *run, unsigned *ret_n, struct err *err)
{
	struct reader *r;
	int rc = read_open(o->db, &r, err);

	if (rc)
		return rc;
	*ret_n = o->arg.n ? o->arg.n : 1;
	for (unsigned i = 0; !rc && i < *ret_n; i++)
		rc = read_run(r, o->arg.n ? o->arg.v[i] : "last", &run[i], err);
	read_close(r);
	return rc;
}

/* A missed claim is a bad verdict; the file is written all the same. */
static int claims_verdict(const struct opts *o, const struct report_claims *c)
{
	if (o->claims && !c->n)
		fprintf(stderr, "pts: report: claims: none of %s is of this drive\n", o->claims);
	else if (o->claims && (!o->quiet || c->missed))
		fprintf(stderr, "pts: report: claims: %u of %u met, %u missed, %u not assessed\n",
			c->met, c->n, c->missed, c->open);
	return c->missed ? EXIT_BAD : EXIT_GOOD;
}

int cmd_report(const struct opts *o)
{
	int64_t run[OPTS_LIST_MAX];
	struct report_claims claims = { 0 };
	struct err err = { "" };
	unsigned n = 0;

	if (!o->output)
		return cmd_usage(o, "where to? -o FILE.xlsx, .html, .txt, .json or DIR/");
	int rc = find_runs(o, run, &n, &err);
	const struct report_request q = { o->db, run, n, o->output, o->claims };
	if (!rc)
		rc = report_write_claims(&q, &claims, &err);
	return rc ? cmd_fail(o, exit_of(rc), &err) : claims_verdict(o, &claims);
}
