/* SPDX-License-Identifier: MIT */
/* Arrays of md and devices of dm, as sysfs shows them: what they are made of, down to the drives. */
#ifndef WORKLOADS_DUT_LAYOUT_H
#define WORKLOADS_DUT_LAYOUT_H

#include <stdbool.h>

#include "workloads/dut.h"

#define LAYOUT_MEMBERS_MAX 64

struct layout_member {
	char path[64]; /* "/dev/nvme0n1", "/dev/sda1" */
	char model[64], serial[64], firmware[32], wwid[80]; /* of a partition those of its drive */
	uint64_t capacity_bytes;
};

struct layout {
	char kind[8]; /* "md" "dm" */
	char level[32]; /* "raid5", "linear"; "" not told */
	char name[128]; /* of dm; "" none */
	char uuid[140]; /* "" not told */
	unsigned disks; /* that it is made for; spares are not counted */
	unsigned missing; /* of these, now */
	char sync[32]; /* "resync", "recover": it copies by itself now; "" idle */
	unsigned n; /* drives at the bottom, spares too */
	struct layout_member member[LAYOUT_MEMBERS_MAX];
};

/* False: @major:@minor is neither md nor dm (a partition of one is not either). @root is "/sys" but in tests. */
bool layout_find(const char *root, unsigned major, unsigned minor, struct layout *ret);
/* "md raid5 of 4", "md raid5 of 4, 1 missing", "dm linear of 1". */
void layout_text(const struct layout *l, char *ret, unsigned n);
/* layout; and that as its model, which it has none of. */
void layout_facts(const struct layout *l, struct dut_info *d);

#endif
