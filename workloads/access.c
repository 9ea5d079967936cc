/* SPDX-License-Identifier: MIT */
#include "workloads/access.h"

#include "pts/base/rng.h"

static uint64_t down(uint64_t v, uint64_t unit)
{
	return v - v % unit;
}

/* As coarse as leaves at least 64 places to choose from, so that large IOs in a segment stay aligned; at most 1 MiB. */
static uint64_t placement_unit(uint64_t room, uint32_t lba_bytes)
{
	uint64_t unit = lba_bytes;

	while (unit < (1u << 20) && room / (unit * 2) >= 64)
		unit *= 2;
	return unit;
}

/*
 * Spec 3.5: the range in n_seg equal cells, one segment at a random place in each, at least one LBA free behind it:
 * no two touch, the first lies in the first part and the last in the last.
 */
uint64_t range_segment_offset(const struct active_range *r, uint32_t i, uint32_t lba_bytes)
{
	uint64_t cell = down(r->bytes / r->n_seg, lba_bytes);
	uint64_t need = r->seg_bytes + lba_bytes;
	uint64_t room = cell > need ? cell - need : 0;
	uint64_t unit = placement_unit(room, lba_bytes);

	/* Cells on the grid of places too: an aligned offset in an unaligned cell would be unaligned. */
	if (down(cell, unit) >= need)
		cell = down(cell, unit);
	room = cell > need ? cell - need : 0;
	uint64_t draw = rng_seed(r->seed, 0x7365676d656e7473ull, i, 0);
	uint64_t place = (uint64_t)(((unsigned __int128)draw * (room / unit + 1)) >> 64);
	uint64_t last = r->n_seg > 1 && i == r->n_seg - 1 ? down(r->bytes, unit) - cell * r->n_seg
							  : 0;

	return cell * i + down(last, unit) + place * unit;
}

double access_read_pct(const struct access *a)
{
	double all = 0, reads = 0;

	for (unsigned i = 0; i < a->n_streams; i++) {
		all += a->stream[i].share;
		if (a->stream[i].op == IO_READ)
			reads += a->stream[i].share;
	}
	return all > 0 ? 100 * reads / all : 0;
}

double access_mean_bytes(const struct access *a)
{
	double all = 0, bytes = 0;

	for (unsigned i = 0; i < a->n_streams; i++) {
		all += a->stream[i].share;
		bytes += a->stream[i].share * a->stream[i].bytes;
	}
	return all > 0 ? bytes / all : 0;
}

uint32_t access_max_bytes(const struct access *a)
{
	uint32_t max = 0;

	for (unsigned i = 0; i < a->n_streams; i++)
		if (a->stream[i].bytes > max)
			max = a->stream[i].bytes;
	return max;
}
