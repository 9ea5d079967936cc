/* SPDX-License-Identifier: MIT */
/* Prices, power, endurance and weights of a comparison, from an ini (--prices). */
#ifndef REPORTS_PRICES_H
#define REPORTS_PRICES_H

#include "pts/base/arena.h"
#include "pts/base/err.h"

struct price {
	const char *match; /* model or serial, as fnmatch */
	double price; /* per unit; NAN not given */
	double power_w, rated_tbw_bytes, dwpd; /* NAN not given */
};

struct weight {
	const char *metric; /* key of a metric, as fnmatch */
	double percent;
	unsigned line;
};

struct prices {
	struct price *v;
	unsigned n;
	struct weight *weight;
	unsigned n_weights;
	const char *currency, *note, *file; /* "USD"; "quotation of 2026-11-20, 1,000 units" */
	struct arena arena;
};

/* -EINVAL FILE:LINE and the mistake. @file NULL: none. Release with prices_release(), also on error. */
int prices_read(const char *file, struct prices *ret, struct err *err) must_check;
void prices_release(struct prices *p);
/* The first that matches, or NULL. */
const struct price *price_find(const struct prices *p, const char *model, const char *serial);

#endif
