/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay/simulators.h"

static bool number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

int simulator_detect(const char *head, size_t n, bool disksim)
{
	struct column_field f[6];
	const char *time;
	bool fraction;

	if (columns_split(head, n, ' ', f, 6) != 5)
		return 0;
	time = f[0].s;
	fraction = strchr(time, '.') != NULL;
	if (!*time || time[strspn(time, "0123456789.")] || !number(f[1].s) || !number(f[2].s) ||
	    !number(f[3].s) || (strcmp(f[4].s, "0") != 0 && strcmp(f[4].s, "1") != 0))
		return 0;
	return fraction && !disksim ? 0 : 50;
}

int simulator_import(struct import *im, struct input *in, bool disksim, struct err *err)
{
	struct columns c = columns_none;
	int rc = columns_time(im, in, &c.start, err);

	if (rc)
		return rc;
	c.separator = ' ';
	c.start.at = 0;
	c.device = 1;
	c.off = 2;
	c.off_unit = 512;
	c.len = 3;
	c.len_unit = 512;
	c.op = 4;
	c.op_bits = disksim;
	memcpy(c.read, "1", 2);
	memcpy(c.write, "0", 2);
	c.least = 5;
	c.clock = "as --time-unit says";
	return columns_import(&c, im, in, err);
}
