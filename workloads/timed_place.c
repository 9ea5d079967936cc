/* SPDX-License-Identifier: MIT */
/* Where timed IO puts things: write data in a region gone round, extents in flight. */
#include "workloads/timed_impl.h"

/* ---- write data ---- */

#define WRITE_ALIGN 4096u

uint64_t pool_take(struct write_pool *p, uint64_t bytes, uint32_t *ret_claim)
{
	uint64_t need = (bytes + WRITE_ALIGN - 1) & ~(uint64_t)(WRITE_ALIGN - 1);
	uint64_t at = p->head % p->bytes, skip = at + need > p->bytes ? p->bytes - at : 0;

	if (p->n > p->mask || p->head + skip + need - p->tail > p->bytes)
		return 0;
	p->head += skip + need;
	*ret_claim = (p->first + p->n++) & p->mask;
	p->claim[*ret_claim] = (struct claim){ .end = p->head };
	return p->base + (skip ? 0 : at);
}

void pool_free(struct write_pool *p, uint32_t claim)
{
	p->claim[claim].free = true;
	while (p->n && p->claim[p->first].free) {
		p->tail = p->claim[p->first].end;
		p->first = (p->first + 1) & p->mask;
		p->n--;
	}
}

/* ---- extents ---- */

static bool changes(const struct timed_io *io)
{
	return io->op == TIMED_WRITE || io->op == TIMED_DISCARD;
}

static uint64_t end_of(const struct timed_io *io)
{
	return io->off + io->len;
}

bool overlap_two(const struct timed_io *a, const struct timed_io *b)
{
	return a->target == b->target && (changes(a) || changes(b)) && a->off < end_of(b) &&
	       b->off < end_of(a);
}

static uint64_t first_grain(const struct timed_io *io)
{
	return io->off >> GRAIN_SHIFT;
}

static uint64_t grains(const struct timed_io *io)
{
	return io->len ? ((end_of(io) - 1) >> GRAIN_SHIFT) - first_grain(io) + 1 : 0;
}

static unsigned grain_slot(const struct timed_io *io, uint64_t grain)
{
	return (unsigned)(((grain + ((uint64_t)io->target << 40)) * 0x9e3779b97f4a7c15ull) >> 52);
}

static void count(struct overlap *o, const struct timed_io *io, int by)
{
	uint64_t n = grains(io), g = first_grain(io);

	if (n > GRAINS_MAX) {
		o->wide += (unsigned)by;
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		o->grain[grain_slot(io, g + i)] += (uint32_t)by;
}

void overlap_add(struct overlap *o, struct timed_slot *s)
{
	s->live = o->n;
	o->live[o->n++] = (struct extent){ .start = s->io.off,
					   .end = end_of(&s->io),
					   .target = s->io.target,
					   .changes = changes(&s->io),
					   .slot = s };
	count(o, &s->io, 1);
}

void overlap_remove(struct overlap *o, struct timed_slot *s)
{
	struct extent *last = &o->live[--o->n];

	o->live[s->live] = *last;
	last->slot->live = s->live;
	count(o, &s->io, -1);
}

/* False: surely none. Most IOs lie where no other is. */
static bool may_overlap(const struct overlap *o, const struct timed_io *io)
{
	uint64_t n = grains(io), g = first_grain(io);
	unsigned hits = 0;

	if (o->wide || n > GRAINS_MAX)
		return true;
	for (uint64_t i = 0; i < n; i++)
		hits |= o->grain[grain_slot(io, g + i)];
	return hits;
}

bool overlap_finds(const struct overlap *o, const struct timed_io *io)
{
	bool change = changes(io);

	if (!o->n || !io->len || !may_overlap(o, io))
		return false;
	for (const struct extent *e = o->live; e < o->live + o->n; e++)
		if (e->start < end_of(io) && io->off < e->end && e->target == io->target &&
		    (change || e->changes))
			return true;
	return false;
}
