/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "replay/inflight.h"

void inflight_init(struct inflight *f, inflight_fn *fn, void *arg)
{
	*f = (struct inflight){ .fn = fn, .arg = arg };
}

void inflight_release(struct inflight *f)
{
	free(f->end);
	f->end = NULL;
}

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t t = *a;

	*a = *b;
	*b = t;
}

static void pop(struct inflight *f)
{
	f->end[0] = f->end[--f->n];
	for (unsigned i = 0, least = 0;; i = least) {
		unsigned l = 2 * i + 1, r = l + 1;

		if (l < f->n && f->end[l] < f->end[least])
			least = l;
		if (r < f->n && f->end[r] < f->end[least])
			least = r;
		if (least == i)
			return;
		swap(&f->end[i], &f->end[least]);
	}
}

static int push(struct inflight *f, uint64_t end_ns)
{
	if (f->n == f->cap) {
		unsigned cap = f->cap ? 2 * f->cap : 256;
		uint64_t *p = realloc(f->end, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		f->end = p;
		f->cap = cap;
	}
	f->end[f->n] = end_ns;
	for (unsigned i = f->n++; i && f->end[i] < f->end[(i - 1) / 2]; i = (i - 1) / 2)
		swap(&f->end[i], &f->end[(i - 1) / 2]);
	return 0;
}

static void tell(struct inflight *f, uint64_t until_ns)
{
	f->fn(f->arg, f->t_ns, until_ns, f->n);
	f->t_ns = until_ns;
}

static void complete_until(struct inflight *f, uint64_t t_ns)
{
	while (f->n && f->end[0] <= t_ns) {
		tell(f, f->end[0]);
		pop(f);
	}
}

int inflight_add(struct inflight *f, uint64_t start_ns, uint64_t response_ns)
{
	complete_until(f, start_ns);
	tell(f, start_ns);
	if (push(f, start_ns + response_ns))
		return -ENOMEM;
	tell(f, start_ns); /* the depth counts, however short it lasts */
	return 0;
}

void inflight_finish(struct inflight *f)
{
	complete_until(f, UINT64_MAX);
}
