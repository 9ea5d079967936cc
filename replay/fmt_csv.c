/* SPDX-License-Identifier: MIT */
/* Columns as the user says with --map: what no format of its own is there for. */
#include <errno.h>

#include "replay/columns.h"

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	const struct import_opts *o = import_options(im);
	struct columns c;
	int rc;

	if (!o->map)
		return err_set(err, -EINVAL,
			       "csv needs --map, which says what the columns are, as in --map "
			       "ts=0:us,op=1,off=2:B,len=3:B");
	rc = columns_parse(o->map, o->time_unit, &c, err);
	return rc ? rc : columns_import(&c, im, in[0], err);
}

const struct trace_format fmt_csv = {
	.name = "csv",
	.title = "any table, one IO a line, with --map for its columns",
	.takes = TAKES_UNIT,
	.import = import,
};
