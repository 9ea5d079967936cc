/* SPDX-License-Identifier: MIT */
/* A capture as an iolog of version 3, so that fio can replay it. */
#ifndef REPLAY_IOLOG_H
#define REPLAY_IOLOG_H

#include <stdio.h>

#include "replay/trace.h"

struct iolog_account {
	uint64_t written;
	uint64_t skipped; /* longer than fio can read, or of no kind that it has */
	bool cut_ns; /* some time was no whole microsecond: cut, as an iolog has no finer ones */
};

/* @file: names by device index, as fio is to open them; NULL = the capture's own, blanks made underscores. -EIO. */
int iolog_write(struct trace *t, const char *const *file, FILE *out, struct iolog_account *ret,
		struct err *err) must_check;

#endif
