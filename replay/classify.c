/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/classify.h"
#include "workloads/access.h"

struct ends { /* of a device and direction: where its last IOs ended, the oldest first */
	uint64_t *at;
	unsigned n;
};

struct classify {
	struct seq_rule rule;
	struct ends *ends; /* by device * 2 + direction; strict: the device's one in both */
	unsigned n;
};

struct classify *classify_new(const struct seq_rule *rule)
{
	struct classify *c = calloc(1, sizeof(*c));

	if (c)
		c->rule = *rule;
	return c;
}

void classify_free(struct classify *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n; i++)
		free(c->ends[i].at);
	free(c->ends);
	free(c);
}

static struct ends *ends_of(struct classify *c, unsigned i, unsigned window)
{
	if (i >= c->n) {
		unsigned n = i + 16;
		struct ends *e = realloc(c->ends, n * sizeof(*e));

		if (!e)
			return NULL;
		memset(e + c->n, 0, (n - c->n) * sizeof(*e));
		c->ends = e;
		c->n = n;
	}
	if (!c->ends[i].at)
		c->ends[i].at = malloc(window * sizeof(uint64_t));
	return c->ends[i].at ? &c->ends[i] : NULL;
}

static void forget(struct ends *e, unsigned i)
{
	memmove(e->at + i, e->at + i + 1, (e->n - i - 1) * sizeof(*e->at));
	e->n--;
}

int classify_io(struct classify *c, const struct trace_io *io, uint8_t *ret_order)
{
	unsigned window = c->rule.strict ? 1 : c->rule.window;
	unsigned which = io->dev * 2u + (!c->rule.strict && io->op == TRACE_WRITE);
	struct ends *e = ends_of(c, which, window);
	bool seq = false;

	if (!e)
		return -ENOMEM;
	for (unsigned i = 0; i < e->n && !seq; i++)
		if (e->at[i] == io->off) { /* the oldest such end is used up */
			seq = true;
			forget(e, i);
		}
	if (e->n == window)
		forget(e, 0);
	e->at[e->n++] = io->off + trace_io_bytes(io);
	if (io->flags & (TRACE_IS_SEQ | TRACE_IS_RND))
		seq = io->flags & TRACE_IS_SEQ;
	*ret_order = seq ? IO_SEQ : IO_RND;
	return 0;
}
