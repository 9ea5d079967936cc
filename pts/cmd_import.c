/* SPDX-License-Identifier: MIT */
/* pts import TRACE -o CAP: a foreign capture becomes one of pts. */
#include <errno.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/cmd_trace.h"
#include "replay/format.h"

static int choose(const struct opts *o, struct import_opts *ret)
{
	uint64_t v;

	*ret = (struct import_opts){ .format = o->format,
				     .map = o->map,
				     .time_unit = o->time_unit,
				     .name = o->name,
				     .skip_bad = o->skip_bad,
				     .coalesce = o->coalesce };
	if (!o->output)
		return cmd_usage(o, "where to? -o CAP");
	if (o->map && o->format && strcmp(o->format, "csv") != 0)
		return cmd_usage(
			o, "--map says the columns of a table: it goes with -f csv, not with -f %s",
			o->format);
	if (o->assume_rt && (parse_time(o->assume_rt, &ret->assume_rt_ns) || !ret->assume_rt_ns))
		return cmd_usage(o, "--assume-rt takes a time such as 200us, not '%s'",
				 o->assume_rt);
	if (o->lba) {
		if (parse_size(o->lba, &v) || v < 512 || v > 65536 || (v & (v - 1)))
			return cmd_usage(o, "--lba takes a block size such as 512 or 4k, not '%s'",
					 o->lba);
		ret->lba_bytes = (uint32_t)v;
	}
	return 0;
}

int cmd_import(const struct opts *o)
{
	struct import_opts choice;
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct trace *t;
	int rc = choose(o, &choice);

	if (rc)
		return rc;
	rc = import_file(o->arg.v[0], &choice, o->output, NULL, &err);
	if (!rc)
		rc = trace_open(o->output, false, &t, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	trace_stat_print(trace_head(t), o->json, &out);
	trace_warn(o, trace_head(t));
	trace_close(t);
	rc = cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return rc;
}
