/* SPDX-License-Identifier: MIT */
#include "pts/cell_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t pct_or_none(const struct hist *h, uint32_t ppm)
{
	uint64_t v;

	return hist_percentile(h, ppm, &v) ? (int64_t)v : -1;
}

void cell_row_latencies(struct cell_row *w, struct cell_hist hist[2 * IO_OPS], struct hist *all,
			const struct result *r, bool rated)
{
	unsigned n = 0;

	for (unsigned op = 0; op < IO_OPS; op++) {
		const struct hist *resp = r->op[op].response, *serv = r->op[op].service;
		const char *letter = op == IO_READ ? "R" : "W";

		if (rated && resp)
			hist_merge(all, resp);
		else if (serv)
			hist_merge(all, serv);
		if (serv)
			hist[n++] = (struct cell_hist){ letter, "service", serv };
		if (resp)
			hist[n++] = (struct cell_hist){ letter, "response", resp };
	}
	w->hist = hist;
	w->n_hist = n;
	w->sum_ns = all->n ? (double)all->sum : 0;
	w->art_ns = all->n ? hist_mean(all) : NAN;
	w->mrt_ns = all->n ? (int64_t)all->max : -1;
	w->min_ns = all->n ? (int64_t)all->min : -1;
	w->p50_ns = pct_or_none(all, P50);
	w->p99_ns = pct_or_none(all, P99);
	w->p999_ns = pct_or_none(all, P999);
	w->p9999_ns = pct_or_none(all, P9999);
	w->p99999_ns = pct_or_none(all, P99999);
}

struct second_row *cell_row_seconds(struct cell_row *w, const struct result *r)
{
	struct second_row *row = calloc(r->n_seconds + 1, sizeof *row);

	BUG_ON(!row);
	for (unsigned i = 0; i < r->n_seconds; i++) {
		const struct second *s = &r->second[i];

		row[i] = (struct second_row){ .second = s->index,
					      .ios = s->ios,
					      .bytes = s->bytes,
					      .art_ns = s->ios ? (double)s->sum_ns / (double)s->ios
							       : NAN,
					      .mrt_ns = s->max_ns };
	}
	w->second = row;
	w->n_seconds = r->n_seconds;
	return row;
}

void cell_row_errnos(struct cell_row *w, struct buf *text, const struct result *r)
{
	for (unsigned i = 0; i < RESULT_ERRNOS && r->errnos[i].err; i++) {
		const char *name = strerrorname_np(r->errnos[i].err);

		buf_fmt(text, "%s%s:%llu", i ? " " : "", name ? name : "?",
			(unsigned long long)r->errnos[i].n);
	}
	w->errnos = text->len ? buf_cstr(text) : NULL;
}
