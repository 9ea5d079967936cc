/* SPDX-License-Identifier: MIT */
/* Five columns that several simulators share, each with a time unit of its own that the file does not say. */
#ifndef REPLAY_SIMULATORS_H
#define REPLAY_SIMULATORS_H

#include "replay/columns.h"

/* A time with a fraction is DiskSim's; without one it could be either's, with the same score. */
int simulator_detect(const char *head, size_t n, bool disksim);
int simulator_import(struct import *im, struct input *in, bool disksim, struct err *err) must_check;

#endif
