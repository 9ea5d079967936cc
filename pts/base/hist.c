/* SPDX-License-Identifier: MIT */
#include "pts/base/hist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"

void hist_reset(struct hist *h)
{
	memset(h, 0, sizeof *h);
	h->min = UINT64_MAX;
}

struct hist *hist_new(void)
{
	struct hist *h = calloc(1, sizeof *h);

	if (!h)
		BUG("out of memory");
	h->min = UINT64_MAX;
	return h;
}

void hist_add_n(struct hist *h, uint64_t ns, uint64_t times)
{
	if (!times)
		return;
	h->n += times;
	h->count[hist_index(ns)] += times;
	h->sum += (unsigned __int128)ns * times;
	if (ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
}

void hist_add(struct hist *h, uint64_t ns)
{
	hist_add_n(h, ns, 1);
}

void hist_merge(struct hist *into, const struct hist *h)
{
	if (!h->n)
		return;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->count[i] += h->count[i];
	into->n += h->n;
	into->sum += h->sum;
	if (h->min < into->min)
		into->min = h->min;
	if (h->max > into->max)
		into->max = h->max;
}

uint64_t hist_low(unsigned index)
{
	unsigned octave = index >> HIST_SUB_BITS;

	if (octave == 0)
		return index;
	return (uint64_t)(HIST_SUB + (index & (HIST_SUB - 1))) << (octave - 1);
}

uint64_t hist_high(unsigned index)
{
	return hist_low(index + 1);
}

/* ceil(p * N), exactly. */
static uint64_t rank_of(uint64_t n, uint32_t ppm)
{
	return (uint64_t)(((unsigned __int128)n * ppm + 999999) / 1000000);
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

bool hist_percentile(const struct hist *h, uint32_t ppm, uint64_t *ret_ns)
{
	uint64_t rank = rank_of(h->n, ppm), seen = 0;

	/* n >= 1 / (1 - p), without a division */
	if (!h->n || ppm >= 1000000 || (unsigned __int128)h->n * (1000000 - ppm) < 1000000)
		return false;
	if (rank == 0)
		rank = 1;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->count[i];
		if (seen < rank)
			continue;
		uint64_t low = hist_low(i), width = hist_high(i) - low;
		*ret_ns = clamp(low + (width - 1) / 2, h->min, h->max);
		return true;
	}
	BUG("histogram of %" PRIu64 " IOs holds %" PRIu64, h->n, seen);
}

uint64_t hist_above(const struct hist *h, uint32_t ppm)
{
	return h->n - clamp(rank_of(h->n, ppm), 0, h->n);
}

uint64_t hist_overflow(const struct hist *h)
{
	return h->max >> HIST_MAX_BITS ? h->count[HIST_BUCKETS - 1] : 0;
}

double hist_mean(const struct hist *h)
{
	return h->n ? (double)h->sum / (double)h->n : 0;
}

void hist_json(const struct hist *h, struct buf *out)
{
	const char *comma = "";

	buf_str(out, "[");
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		buf_fmt(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma, hist_low(i),
			hist_high(i), h->count[i]);
		comma = ",";
	}
	buf_str(out, "]");
}

int hist_put(struct hist *h, uint64_t low_ns, uint64_t count)
{
	unsigned i = hist_index(low_ns);

	if (hist_low(i) != low_ns)
		return -EINVAL;
	h->count[i] += count;
	h->n += count;
	return 0;
}
