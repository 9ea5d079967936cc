/* SPDX-License-Identifier: MIT */
/* Unpackers behind one seam: packed bytes in, plain bytes out. Private to input.c. */
#ifndef REPLAY_UNPACK_H
#define REPLAY_UNPACK_H

#include <stddef.h>

#include "pts/base/err.h"

struct unpack;

/*
 * An unpacker for the file that begins with these bytes. *ret is NULL for a plain file. bzip2 and zip are refused by name.
 */
int unpack_open(const unsigned char *head, size_t n, struct unpack **ret_unpack,
		struct err *err) must_check;
void unpack_close(struct unpack *u); /* NULL is fine */

struct unpack_io {
	const unsigned char *in;
	size_t in_n; /* left of the input; moved on */
	unsigned char *out;
	size_t out_n; /* room left; moved on */
};

/* One step: takes what it can and fills what it can. @end: no more input will come. 0; 1 the stream is complete; -EINVAL
 * damaged or cut (message in @err, without the file's name). */
int unpack_step(struct unpack *u, struct unpack_io *io, int end, struct err *err) must_check;

#endif
