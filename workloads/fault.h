/* SPDX-License-Identifier: MIT */
/*
 * Faults on purpose, for tests only: between the kernel's ring and the engine, which does not know. A target named
 * fault:SPEC:DUT gets them; SPEC is a list joined by ',' of
 *
 *	WHAT@N	the Nth completion of the target, counted over all threads since it was opened, from 1
 *	WHAT@N+	from the Nth on
 *	WHAT*K	every Kth
 *	WHAT	every one
 *
 * where WHAT is
 *
 *	eio, enodata ...	it fails with this errno (any name of errno(3); eagain: see below)
 *	short, short=512	it moved half of what was asked for, or so many bytes
 *	zero			it moved nothing
 *	late=200ms		it comes so much later
 *	never			it never comes
 *	again			it fails with EAGAIN, which the engine has to send again
 *	gone			with it the drive is gone: this and all later ones move 0 bytes, the capacity is 0
 *
 * or, counted by calls that submit instead of by completions,
 *
 *	take3			the call takes at most 3 of the entries offered
 *	eagain, ebusy, eintr	the call fails with this errno and takes none
 *
 * and deadline=2s sets the time without a completion after which the drive counts as hung. Of several that fit one completion
 * the first counts. The IO itself is always done: only what is heard of it is changed.
 */
#ifndef WORKLOADS_FAULT_H
#define WORKLOADS_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"

struct fault; /* of a target, shared by its rings */
struct ring;

/* -EINVAL with the word that is wrong. */
int fault_open(const char *spec, struct fault **ret, struct err *err) must_check;
void fault_close(struct fault *f); /* NULL is fine */
uint64_t fault_deadline_ns(const struct fault *f); /* 0: not set */
bool fault_gone(const struct fault *f); /* NULL is fine: false */

/* ring.c: puts the faults between the open ring and its user; and takes what that needs back. */
int fault_ring_open(struct ring *r, struct fault *f, struct err *err) must_check;
void fault_ring_close(struct ring *r);

#endif
