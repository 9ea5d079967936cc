/* SPDX-License-Identifier: MIT */
#include "pts/cmd.h"

int cmd_version(const struct opts *o)
{
	struct buf text = BUF_INIT;
	int rc;

	buf_str(&text, pts_software());
	rc = cmd_out(o, &text, EXIT_GOOD);
	buf_release(&text);
	return rc;
}
