/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/rows.h"

#define SECOND_NS 1000000000
#define JOIN_MAX 64u /* IOs that grow at a time: processes that write at once */
#define SPREAD_MAX \
	((size_t)4 << 20) /* rows of a second held in memory; what is beyond them starts anew */

struct growing {
	struct import_row row;
	int64_t last_ns; /* start of the row that came last */
};

struct rows {
	struct import *im;
	const struct input *in;
	struct rows_rule rule;
	struct growing grow[JOIN_MAX]; /* by start: they go on in the order in which they came */
	unsigned n_grow;
	uint64_t joined;
	struct import_row *held;
	size_t n_held, cap;
	bool spread_any;
};

struct rows *rows_new(struct import *im, const struct input *in, const struct rows_rule *rule)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (r) {
		r->im = im;
		r->in = in;
		r->rule = *rule;
	}
	return r;
}

void rows_free(struct rows *r)
{
	if (r)
		free(r->held);
	free(r);
}

/* ---- pages of one IO ---- */

static int give_oldest(struct rows *r, struct err *err)
{
	struct import_row row = r->grow[0].row;

	memmove(r->grow, r->grow + 1, --r->n_grow * sizeof(r->grow[0]));
	return import_row(r->im, r->in, &row, err);
}

static bool goes_on(const struct rows *r, const struct growing *g, const struct import_row *row)
{
	return g->row.pid == row->pid && g->row.op == row->op && g->row.dev == row->dev &&
	       g->row.off + g->row.bytes == row->off && row->start_ns >= g->last_ns &&
	       (uint64_t)row->start_ns - (uint64_t)g->last_ns < r->rule.join_ns &&
	       row->bytes <= UINT32_MAX - g->row.bytes;
}

static int push_page(struct rows *r, const struct import_row *row, struct err *err)
{
	int rc = 0;

	/* The sink refuses such: not to be added up with. */
	if (row->off > INT64_MAX || row->bytes > UINT32_MAX)
		return import_row(r->im, r->in, row, err);
	for (unsigned i = r->n_grow; i-- > 0;) {
		struct growing *g = &r->grow[i];

		if (!goes_on(r, g, row))
			continue;
		g->row.bytes += row->bytes;
		g->last_ns = row->start_ns;
		r->joined++;
		return 0;
	}
	while (!rc && r->n_grow &&
	       (r->n_grow == JOIN_MAX || row->start_ns < r->grow[0].last_ns ||
		(uint64_t)row->start_ns - (uint64_t)r->grow[0].last_ns >= r->rule.join_ns))
		rc = give_oldest(r, err);
	r->grow[r->n_grow++] = (struct growing){ *row, row->start_ns };
	return rc;
}

/* ---- seconds ---- */

static int give_second(struct rows *r, struct err *err)
{
	size_t n = r->n_held;
	int rc = 0;

	r->n_held = 0;
	r->spread_any |= n > 1;
	for (size_t i = 0; i < n && !rc; i++) {
		r->held[i].start_ns += (int64_t)(i * SECOND_NS / n);
		rc = import_row(r->im, r->in, &r->held[i], err);
	}
	return rc;
}

static int hold(struct rows *r, const struct import_row *row, struct err *err)
{
	int rc = 0;

	if (row->start_ns > INT64_MAX - SECOND_NS)
		return import_row(r->im, r->in, row, err);
	if (r->n_held && (r->held[0].start_ns != row->start_ns || r->n_held == SPREAD_MAX))
		rc = give_second(r, err);
	if (rc)
		return rc;
	if (r->n_held == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 1024;
		struct import_row *p = realloc(r->held, cap * sizeof(*p));

		if (!p)
			return err_set(err, -ENOMEM, "no memory for the rows of a second");
		r->held = p;
		r->cap = cap;
	}
	r->held[r->n_held++] = *row;
	return 0;
}

int rows_push(struct rows *r, const struct import_row *row, struct err *err)
{
	if (r->rule.join_ns)
		return push_page(r, row, err);
	if (r->rule.spread)
		return hold(r, row, err);
	return import_row(r->im, r->in, row, err);
}

int rows_end(struct rows *r, struct err *err)
{
	int rc = give_second(r, err);

	while (!rc && r->n_grow)
		rc = give_oldest(r, err);
	if (r->joined)
		import_skip_many(r->im, "page joined to the IO before it", r->joined);
	if (r->spread_any)
		import_note(r->im, "stamps of whole seconds: IOs are spread evenly within each; "
				   "depth and gaps inside a second mean nothing");
	return rc;
}
