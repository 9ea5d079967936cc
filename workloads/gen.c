/* SPDX-License-Identifier: MIT */
#include "workloads/gen.h"

#include <errno.h>
#include <string.h>

static uint64_t down(uint64_t v, uint64_t unit)
{
	return v - v % unit;
}

/* ---- the mix ---- */

static int check_shares(const struct access *a, double *ret_sum, struct err *err)
{
	double sum = 0;

	if (!a->n_streams || a->n_streams > ACCESS_STREAMS_MAX)
		return err_set(err, -EINVAL, "%s: %u streams; 1 to %d are possible", a->name,
			       a->n_streams, ACCESS_STREAMS_MAX);
	for (unsigned i = 0; i < a->n_streams; i++) {
		double share = a->stream[i].share;
		if (!(share > 0) || !(share < 1e300))
			return err_set(err, -EINVAL, "%s: stream %u has a share of %g", a->name,
				       i + 1, share);
		sum += share;
	}
	*ret_sum = sum;
	return 0;
}

static uint32_t fraction24(double f)
{
	return f >= 1 ? 1u << GEN_PICK_BITS : (uint32_t)(f * (1u << GEN_PICK_BITS) + 0.5);
}

static uint64_t fraction64(double f) /* of 2^64 */
{
	return f >= 1 ? UINT64_MAX : f <= 0 ? 0 : (uint64_t)(f * 0x1p64);
}

/* PTS[GEN-3.1-MIX] */
static void alias_build(struct gen *g, const struct access *a, double sum)
{
	double p[ACCESS_STREAMS_MAX];
	unsigned small[ACCESS_STREAMS_MAX], large[ACCESS_STREAMS_MAX], ns = 0, nl = 0;
	unsigned n = a->n_streams;

	for (unsigned i = 0; i < n; i++) {
		p[i] = a->stream[i].share / sum * n;
		g->keep[i] = fraction24(1);
		g->alias[i] = (uint8_t)i;
		if (p[i] < 1)
			small[ns++] = i;
		else
			large[nl++] = i;
	}
	while (ns && nl) {
		unsigned s = small[--ns], l = large[nl - 1];
		g->keep[s] = fraction24(p[s]);
		g->alias[s] = (uint8_t)l;
		p[l] -= 1 - p[s];
		if (p[l] < 1) {
			small[ns++] = l;
			nl--;
		}
	}
}

/* ---- places ---- */

static uint64_t linear_bytes(const struct active_range *r)
{
	return r->n_seg ? r->n_seg * r->seg_bytes : r->bytes;
}

static int check_range(const struct gen_conf *c, struct err *err)
{
	const struct active_range *r = c->range;

	if (!r->bytes || r->bytes % c->lba_bytes)
		return err_set(err, -EINVAL,
			       "ActiveRange of %llu bytes is no multiple of the %u-byte LBA",
			       (unsigned long long)r->bytes, c->lba_bytes);
	if (!r->n_seg)
		return 0;
	if (!r->seg_bytes || r->seg_bytes % c->lba_bytes)
		return err_set(err, -EINVAL,
			       "segments of %llu bytes are no multiple of the %u-byte LBA",
			       (unsigned long long)r->seg_bytes, c->lba_bytes);
	if (r->seg_bytes > r->bytes / r->n_seg)
		return err_set(err, -EINVAL, "%u segments of %llu bytes do not fit into %llu bytes",
			       r->n_seg, (unsigned long long)r->seg_bytes,
			       (unsigned long long)r->bytes);
	return 0;
}

static int init_seq(struct gen *g, const struct gen_conf *c, unsigned i, struct err *err)
{
	const struct access *a = c->acc;
	const struct stream *in = &a->stream[i];
	struct gen_stream *s = &g->stream[i];
	unsigned regions = a->regions ? a->regions : 1;
	uint64_t size = linear_bytes(c->range) / regions, unit = access_max_bytes(a);

	if (in->cursor >= c->n_cursors)
		return err_set(err, -EINVAL, "%s: SEQ stream %u has no cursor", a->name, i + 1);
	if (in->region >= regions)
		return err_set(err, -EINVAL, "%s: stream %u is in region %u of %u", a->name, i + 1,
			       in->region + 1, regions);
	/* Regions begin at multiples of the block size, so that SEQ IOs stay aligned. */
	if (regions > 1)
		size = down(size, size >= unit ? unit : c->lba_bytes);
	s->seq = true;
	s->kind = c->range->n_seg ? GEN_ODD : GEN_SEQ;
	s->cursor = &c->cursor[in->cursor];
	s->base = size * in->region;
	s->n = size;
	return 0;
}

static void init_rnd(struct gen *g, const struct gen_conf *c, unsigned i)
{
	const struct access *a = c->acc;
	struct gen_stream *s = &g->stream[i];
	uint64_t span = c->range->n_seg ? c->range->seg_bytes : c->range->bytes;

	s->kind = c->range->n_seg || a->n_zones ? GEN_ODD : GEN_UNIFORM;
	s->unit = a->align ? a->align : s->bytes;
	s->n = span >= s->bytes ? (span - s->bytes) / s->unit + 1 : 0;
}

static int init_stream(struct gen *g, const struct gen_conf *c, unsigned i, struct err *err)
{
	const struct access *a = c->acc;
	const struct stream *in = &a->stream[i];
	struct gen_stream *s = &g->stream[i];
	int rc = 0;

	*s = (struct gen_stream){ .bytes = in->bytes, .op = in->op };
	if (!in->bytes || in->bytes % c->lba_bytes)
		return err_set(err, -EINVAL,
			       "%s: IOs of %u bytes are no multiple of the %u-byte LBA", a->name,
			       in->bytes, c->lba_bytes);
	if (in->op >= IO_OPS)
		return err_set(err, -EINVAL, "%s: stream %u neither reads nor writes", a->name,
			       i + 1);
	if (in->order == IO_SEQ)
		rc = init_seq(g, c, i, err);
	else
		init_rnd(g, c, i);
	if (!rc && (s->seq ? s->n < s->bytes && !a->exact : !s->n))
		return err_set(err, -EINVAL, "%s: IOs of %u bytes do not fit into %llu bytes",
			       a->name, in->bytes, (unsigned long long)linear_bytes(c->range));
	if (!rc && s->seq && !a->exact && c->range->n_seg && c->range->seg_bytes < s->bytes)
		return err_set(err, -EINVAL, "%s: IOs of %u bytes do not fit into segments of %llu",
			       a->name, in->bytes, (unsigned long long)c->range->seg_bytes);
	return rc;
}

/* Blocks of the zone, of whole IOs, so that neighbours do not overlap: [first, first + n) of the places of @s. */
static uint64_t zone_places(const struct gen_zone *z, const struct gen_stream *s,
			    uint64_t *ret_first)
{
	uint64_t first = (uint64_t)(z->from * (double)s->n + 0.5);
	uint64_t end = z->to >= 1 ? s->n : (uint64_t)(z->to * (double)s->n + 0.5);

	*ret_first = first;
	return end > first ? end - first : 0;
}

static int check_zone(const struct gen *g, const struct access *a, const struct gen_zone *z,
		      struct err *err)
{
	uint64_t first;

	if (!(z->from >= 0) || !(z->to <= 1) || !(z->from < z->to))
		return err_set(err, -EINVAL, "%s: zone from %g to %g", a->name, z->from, z->to);
	for (unsigned i = 0; i < g->n_streams; i++)
		if (!g->stream[i].seq && !zone_places(z, &g->stream[i], &first))
			return err_set(err, -EINVAL, "%s: no IO of %u bytes fits into zone %g-%g",
				       a->name, g->stream[i].bytes, z->from, z->to);
	return 0;
}

/* Shares below 1 in sum leave the rest to the whole range. */
static int init_zones(struct gen *g, const struct access *a, struct err *err)
{
	double sum = 0;

	if (a->n_zones > ACCESS_ZONES_MAX)
		return err_set(err, -EINVAL, "%s: %u zones", a->name, a->n_zones);
	if (a->n_zones && g->range.n_seg)
		return err_set(err, -EINVAL, "%s: zones in a segmented range", a->name);
	for (unsigned i = 0; i < a->n_zones; i++) {
		const struct zone *in = &a->zone[i];
		struct gen_zone *z = &g->zone[i];
		sum += in->share;
		*z = (struct gen_zone){ fraction64(sum), in->from, in->to };
		if (!(in->share > 0) || sum > 1 + 1e-9)
			return err_set(err, -EINVAL,
				       "%s: zone shares are above 0 and sum to at most 1", a->name);
		int rc = check_zone(g, a, z, err);
		if (rc)
			return rc;
	}
	g->n_zones = a->n_zones;
	if (g->n_zones && sum < 1 - 1e-9)
		g->zone[g->n_zones++] = (struct gen_zone){ UINT64_MAX, 0, 1 };
	if (g->n_zones)
		g->zone[g->n_zones - 1].upto = UINT64_MAX;
	return 0;
}

static int source_of_gen(struct source *s, struct io *ret)
{
	struct gen *g = (struct gen *)s; /* src is its first member */
	struct gen_io io;

	gen_next(g, &g->draw, g->n_streams == 1, &io);
	*ret = (struct io){ .off = io.off,
			    .len = io.len,
			    .stream = (uint16_t)(io.stream - g->stream),
			    .op = io.stream->op };
	return 1;
}

int gen_init(struct gen *g, const struct gen_conf *c, struct err *err)
{
	const struct access *a = c->acc;
	double sum = 1;
	int rc;

	memset(g, 0, sizeof *g);
	g->src.next = source_of_gen;
	g->range = *c->range;
	g->lba_bytes = c->lba_bytes;
	g->exact = a->exact;
	rc = check_shares(a, &sum, err);
	if (!rc)
		rc = check_range(c, err);
	if (!rc && a->align % c->lba_bytes)
		rc = err_set(err, -EINVAL, "%s: align %u is no multiple of the %u-byte LBA",
			     a->name, a->align, c->lba_bytes);
	if (rc)
		return rc;
	g->n_streams = a->n_streams;
	alias_build(g, a, sum);
	for (unsigned i = 0; i < a->n_streams && !rc; i++)
		rc = init_stream(g, c, i, err);
	if (!rc && a->exact && (a->n_streams != 1 || !g->stream[0].seq))
		rc = err_set(err, -EINVAL, "%s: exact needs one SEQ stream", a->name);
	if (!rc)
		rc = init_zones(g, a, err);
	if (rc)
		return rc;
	uint64_t seed = rng_seed(c->seed, 0x67656e, c->thread, 0);
	g->draw.state = (unsigned __int128)rng_split(&seed) << 64;
	g->draw.state |= rng_split(&seed) | 1;
	rng_init(&g->odd_rng, rng_seed(c->seed, 0x67656e, c->thread, 1));
	return 0;
}

void gen_begin(struct gen *g, struct gen_budget *b)
{
	for (unsigned i = 0; i < g->n_streams; i++) {
		struct gen_stream *s = &g->stream[i];
		if (!s->seq)
			continue;
		uint64_t at = atomic_load(s->cursor), unit = g->exact ? g->lba_bytes : s->bytes;
		/* Threads of the segment before may still draw from it. */
		while (at % unit &&
		       !atomic_compare_exchange_weak(s->cursor, &at, at + unit - at % unit))
			;
		at = (at + unit - 1) / unit * unit;
		b->start = at;
	}
}

void gen_end(struct gen *g, struct gen_budget *b)
{
	if (g->exact)
		atomic_store(g->stream[0].cursor,
			     (b->start + atomic_load(&b->bytes)) % g->stream[0].n);
}

/* ---- drawing ---- */

/* From a position in the segments laid end to end to one on the drive. */
static uint64_t place_of(const struct gen *g, uint64_t linear)
{
	const struct active_range *r = &g->range;

	if (!r->n_seg)
		return linear;
	return range_segment_offset(r, (uint32_t)(linear / r->seg_bytes), g->lba_bytes) +
	       linear % r->seg_bytes;
}

/* SEQ through the segments in address order; none crosses the end of its segment. */
static uint64_t advance_segments(const struct gen *g, const struct gen_stream *s)
{
	uint64_t seg = g->range.seg_bytes, old = atomic_load(s->cursor), at;

	do {
		at = s->base + old;
		if (at % seg + s->bytes > seg)
			at += seg - at % seg;
		if (at + s->bytes > s->base + s->n)
			at = s->base % seg + s->bytes > seg ? s->base + seg - s->base % seg
							    : s->base;
	} while (!atomic_compare_exchange_weak(s->cursor, &old, at - s->base + s->bytes));
	return place_of(g, at);
}

uint64_t gen_place_odd(struct gen *g, const struct gen_stream *s, uint64_t draw)
{
	uint64_t first, n, more = rng_next(&g->odd_rng);

	if (s->seq)
		return advance_segments(g, s);
	if (g->range.n_seg) {
		uint32_t i = (uint32_t)(((unsigned __int128)more * g->range.n_seg) >> 64);
		return range_segment_offset(&g->range, i, g->lba_bytes) +
		       (uint64_t)(((unsigned __int128)draw * s->n) >> 64) * s->unit;
	}
	const struct gen_zone *z = g->zone;
	while (more > z->upto)
		z++;
	n = zone_places(z, s, &first);
	return (first + (uint64_t)(((unsigned __int128)draw * n) >> 64)) * s->unit;
}

static bool next_exact(struct gen *g, struct gen_budget *b, struct gen_io *ret)
{
	const struct gen_stream *s = &g->stream[0];
	uint64_t done = atomic_load(&b->bytes), at, len;

	do {
		at = (b->start + done) % s->n;
		len = s->bytes < s->n - at ? s->bytes : s->n - at;
		if (g->range.n_seg && len > g->range.seg_bytes - at % g->range.seg_bytes)
			len = g->range.seg_bytes - at % g->range.seg_bytes;
		if (b->max_bytes && done >= b->max_bytes)
			return false;
		if (b->max_bytes && len > b->max_bytes - done)
			len = b->max_bytes - done;
	} while (!atomic_compare_exchange_weak(&b->bytes, &done, done + len));
	*ret = (struct gen_io){ s, place_of(g, at), (uint32_t)len };
	return true;
}

bool gen_next_budget(struct gen *g, struct gen_budget *b, struct gen_io *ret)
{
	if (g->exact)
		return next_exact(g, b, ret);
	uint64_t draw = draw_next(&g->draw);
	const struct gen_stream *s = gen_pick(g, draw, g->n_streams == 1);
	uint64_t done = atomic_load(&b->bytes);

	do {
		if (b->max_bytes && s->bytes > b->max_bytes - done)
			return false;
	} while (!atomic_compare_exchange_weak(&b->bytes, &done, done + s->bytes));
	*ret = (struct gen_io){ s, gen_place(g, s, draw), s->bytes };
	return true;
}
