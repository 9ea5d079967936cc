/* SPDX-License-Identifier: MIT */
/* Events that a reader must know of, in words: those of one kind in one test are one warning. */
#include <stdio.h>
#include <string.h>

#include "reports/dataset.h"

#define TEXTS_SHOWN 3

/* What an event of a kind does to the results. */
static const struct kind {
	const char *kind, *head, *effect;
} kinds[] = {
	{ "error", "Error", "The round was repeated, or the test ended." },
	{ "warning", "Warning", "" },
	{ "throttle", "Throttling", "The cells meanwhile, named by their notes, are slower." },
	{ "link", "Link", "Cells of one table were measured over different links." },
	{ "critical", "Critical warning", "The drive may be near its end." },
};

static const struct kind *kind_of(const struct event *e)
{
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(e->kind, kinds[i].kind))
			return &kinds[i];
	return NULL;
}

static bool together(const struct event *a, const struct event *b)
{
	return !strcmp(a->kind, b->kind) && !strcmp(a->test, b->test);
}

static bool first_of_its_kind(const struct dataset *d, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (together(&d->event[i], &d->event[n]))
			return false;
	return true;
}

/* "round 3, RND 4K 0/100 T4Q32 1m as round, 2026-01-31T09:00:00.000Z" */
static const char *place(struct arena *a, const struct event *e)
{
	const char *cell = e->cell + (strncmp(e->cell, "RUN ", 4) ? 0 : 4);
	const char *round = e->round > 0 ? arena_fmt(a, "round %d, ", e->round) : "";

	return arena_fmt(a, "%s%s%s%s", round, cell, *cell ? ", " : "", e->utc);
}

struct group { /* the events of one kind in one test */
	struct arena *a;
	const struct event *first, *last;
	unsigned n, n_texts, others; /* others: events with a text that is not kept */
	const char *text[TEXTS_SHOWN];
	unsigned count[TEXTS_SHOWN];
	uint64_t cells;
};

static void group_add(struct group *g, const struct event *e)
{
	const char *text = *e->now ? arena_fmt(g->a, "%s (first %s, now %s)", e->text, e->first,
					       e->now)
				   : e->text;
	unsigned i = 0;

	g->first = g->first ? g->first : e;
	g->last = e;
	g->n++;
	g->cells += e->cells;
	while (i < g->n_texts && strcmp(g->text[i], text))
		i++;
	if (i == TEXTS_SHOWN) {
		g->others++;
		return;
	}
	g->text[i] = text;
	g->count[i]++;
	g->n_texts += i == g->n_texts;
}

static const char *group_words(const struct group *g, const char *head)
{
	const char *s = arena_fmt(g->a, "%s: ", head);

	for (unsigned i = 0; i < g->n_texts; i++) {
		const char *sep = i ? "; " : "";
		s = g->count[i] == 1
			    ? arena_fmt(g->a, "%s%s%s", s, sep, g->text[i])
			    : arena_fmt(g->a, "%s%s%s (%u times)", s, sep, g->text[i], g->count[i]);
	}
	if (g->others)
		s = arena_fmt(g->a, "%s; %u more of other words", s, g->others);
	if (g->cells)
		s = arena_fmt(g->a, "%s; %llu cell%s meanwhile", s, (unsigned long long)g->cells,
			      g->cells == 1 ? "" : "s");
	if (g->n == 1)
		return arena_fmt(g->a, "%s. At: %s.", s, place(g->a, g->first));
	return arena_fmt(g->a, "%s. First at: %s. Last at: %s.", s, place(g->a, g->first),
			 place(g->a, g->last));
}

static void warn_group(struct dataset *d, unsigned at, const struct kind *k)
{
	struct group g = { .a = &d->arena };
	const char *test = d->event[at].test;
	struct warning *w;

	for (unsigned i = at; i < d->n_events; i++)
		if (together(&d->event[at], &d->event[i]))
			group_add(&g, &d->event[i]);
	w = dataset_warn(d, SEV_WARN, *test ? test : "all", "-");
	w->what = group_words(&g, k->head);
	w->effect = k->effect;
	w->evidence = g.n == 1 ? arena_fmt(&d->arena, "v_event %lld", (long long)g.first->id)
			       : arena_fmt(&d->arena, "v_event: %u of kind %s, %lld to %lld", g.n,
					   k->kind, (long long)g.first->id, (long long)g.last->id);
}

void dataset_event_warnings(struct dataset *d)
{
	for (unsigned i = 0; i < d->n_events; i++) {
		const struct kind *k = kind_of(&d->event[i]);

		if (k && first_of_its_kind(d, i))
			warn_group(d, i, k);
	}
}
