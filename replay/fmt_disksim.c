/* SPDX-License-Identifier: MIT */
/* DiskSim ASCII: time device block blocks flags; sectors of 512, flags in hex whose bit 0 means read. DiskSim counts in ms. */
#include "replay/simulators.h"

static int detect(const char *head, size_t n)
{
	return simulator_detect(head, n, true);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	return simulator_import(im, in[0], true, err);
}

const struct trace_format fmt_disksim = {
	.name = "disksim",
	.title = "DiskSim ASCII (--time-unit is needed; DiskSim's own is ms)",
	.takes = TAKES_UNIT,
	.detect = detect,
	.import = import,
};
