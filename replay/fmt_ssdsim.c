/* SPDX-License-Identifier: MIT */
/* SSDSim and MQSim ASCII: time device sector sectors type; sectors of 512, 1 reads and 0 writes, times without a fraction. */
#include "replay/simulators.h"

static int detect(const char *head, size_t n)
{
	return simulator_detect(head, n, false);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	return simulator_import(im, in[0], false, err);
}

const struct trace_format fmt_ssdsim = {
	.name = "ssdsim",
	.title = "SSDSim and MQSim ASCII (--time-unit is needed; mostly ns)",
	.takes = TAKES_UNIT,
	.detect = detect,
	.import = import,
};
