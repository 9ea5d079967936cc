/* SPDX-License-Identifier: MIT */
/* pts report RUN... -o FILE: the report of runs, from the database alone. */
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

int cmd_report(const struct opts *o)
{
	int64_t run[OPTS_LIST_MAX];
	struct err err = { "" };
	unsigned n = 0;

	if (!o->output)
		return cmd_usage(o, "where to? -o FILE.xlsx, .html, .txt, .json or DIR/");
	int rc = find_runs(o, run, &n, &err);
	if (!rc)
		rc = report_write(o->db, run, n, o->output, &err);
	return rc ? cmd_fail(o, exit_of(rc), &err) : EXIT_GOOD;
}
