/* SPDX-License-Identifier: MIT */
/* The access line of a stored plan: which sizes, directions and LBA groups an access has, and how often. */
#ifndef REPORTS_ACCESS_TEXT_H
#define REPORTS_ACCESS_TEXT_H

#include "reports/dataset.h"

#define ACCESS_SIZES 64
#define ACCESS_ZONES 16

struct access_size { /* one pattern and size, reads and writes together */
	const char *pattern; /* "RND" */
	uint64_t bytes;
	double read_share, write_share; /* % of the accesses */
};

struct access_zone {
	double from_pct, to_pct, share; /* of the ActiveRange; of the accesses */
};

struct access_mix {
	struct access_size size[ACCESS_SIZES];
	unsigned n_sizes;
	struct access_zone zone[ACCESS_ZONES];
	unsigned n_zones;
	double mean_bytes;
};

/* False where the plan has no such access, or it cannot be read. */
bool access_parse(const char *plan, const char *name, struct access_mix *ret);
/* The range that a test works in, of its stored plan; 0 unknown. */
uint64_t plan_range_bytes(const struct test *t);

#endif
