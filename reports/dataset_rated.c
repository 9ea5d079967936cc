/* SPDX-License-Identifier: MIT */
/* Percentiles of histograms; both distributions of the steps that were driven at a rate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/dataset.h"
#include "schema/read.h"

static int64_t level(const struct hist *h, uint32_t ppm)
{
	uint64_t ns;

	return hist_percentile(h, ppm, &ns) ? (int64_t)ns : -1;
}

void levels_of(const struct hist *h, struct levels *ret)
{
	*ret = (struct levels){ .n = h->n,
				.art_ns = h->n ? hist_mean(h) : NAN,
				.p50_ns = level(h, P50),
				.p99_ns = level(h, P99),
				.p999_ns = level(h, P999),
				.p9999_ns = level(h, P9999),
				.p99999_ns = level(h, P99999),
				.mrt_ns = h->n ? (int64_t)h->max : -1 };
	if (ret->p99999_ns >= 0)
		ret->above = hist_above(h, P99999);
}

int levels_load(struct dataset *d, int64_t cell, const char *kind, struct levels *ret,
		struct err *err)
{
	struct hist *h = hist_new();
	int rc = read_hist(d->reader, cell, "R", kind, h, err);

	if (!rc)
		rc = read_hist(d->reader, cell, "W", kind, h, err);
	levels_of(h, ret);
	free(h);
	return rc;
}

int dataset_rated(struct dataset *d, const struct test *t, struct section *s, struct err *err)
{
	enum { MAX = 256 };
	int rc = 0;

	for (unsigned i = 0; !rc && i < d->n_measures && s->n_rated < MAX; i++) {
		const struct measure *m = &d->measure[i];
		if (!measure_counts(m, t) || m->section != s->number || !measure_is_step(m) ||
		    !(m->rate_iops > 0))
			continue;
		if (!s->rated)
			s->rated = arena_array(&d->arena, struct rated, MAX);
		struct rated *r = &s->rated[s->n_rated++];
		r->m = m;
		rc = levels_load(d, m->cell_id, "service", &r->service, err);
		if (!rc)
			rc = levels_load(d, m->cell_id, "response", &r->response, err);
	}
	return rc;
}
