/* SPDX-License-Identifier: MIT */
/* Facts for plan tests: two drives, and a small capture with the nine streams of GPS Nav Drive0 (spec 16.1). */
#ifndef TESTS_PLAN_FACTS_H
#define TESTS_PLAN_FACTS_H

#include <stdbool.h>

#include "pts/plan.h"

#define FACTS_CAPACITY 1920383410176ull

static inline const struct capture_facts *plan_facts_capture(void)
{
	static const struct capture_stream stream[] = {
		{ IO_WRITE, IO_SEQ, 4096, 24.8 },  { IO_WRITE, IO_RND, 16384, 17.7 },
		{ IO_WRITE, IO_SEQ, 16384, 14.4 }, { IO_WRITE, IO_SEQ, 512, 13.9 },
		{ IO_WRITE, IO_SEQ, 1024, 5.8 },   { IO_WRITE, IO_RND, 4096, 4.5 },
		{ IO_WRITE, IO_RND, 1024, 2.65 },  { IO_WRITE, IO_RND, 28672, 2.54 },
		{ IO_WRITE, IO_SEQ, 1536, 2.44 },  { IO_READ, IO_RND, 8192, 2.0 },
	};
	static const double steps[][10] = {
		{ 30, 20, 15, 10, 5, 5, 3, 3, 4, 5 },
		{ 0 }, /* nothing at all */
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 100 }, /* only what is not dominant */
		{ 10, 10, 0, 40, 0, 0, 0, 40, 0, 0 },
	};
	static const struct capture_step step[] = {
		{ 1000000000, 0.2, 3, 12, steps[0] },
		{ 1000000000, 0, 0, 0, steps[1] },
		{ 1000000000, 1.4, 2, 80, steps[2] },
		{ 1000000000, 14, 21, 100, steps[3] },
	};
	static const struct capture_facts facts = { "gps.cap", 10, stream, 4, step, 3.2, false };

	return &facts;
}

static inline struct plan_env plan_facts_env(const struct def *d, bool client, bool quick, bool big)
{
	struct plan_env env = {
		.capacity_bytes = FACTS_CAPACITY,
		.lba_bytes = big ? 4096 : 512,
		.members = 2,
		.profile = client ? PROFILE_CLIENT : PROFILE_ENTERPRISE,
		.quick = quick,
		.seed = 7,
		.capture = d && plan_uses_capture(d) ? plan_facts_capture() : NULL,
	};

	return env;
}

#endif
