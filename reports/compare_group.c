/* SPDX-License-Identifier: MIT */
/* Which runs are samples of one candidate, and what each is called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/compare_priv.h"

/* ---- what a run is ---- */

static const char *fact(const struct dataset *d, const char *key)
{
	const char *v = pairs_get(&d->host, key);

	return v ? v : "";
}

const char *drive_fact(struct arena *a, const struct dataset *d, const char *key)
{
	const char *all = fact(d, key);

	for (unsigned i = 1; !*fact(d, key) && i <= d->host.n; i++) {
		const char *one = fact(d, arena_fmt(a, "member%u_%s", i, key));
		if (*one && !strstr(all, one))
			all = arena_fmt(a, "%s%s%s", all, *all ? " + " : "", one);
	}
	return all;
}

static unsigned members_of(const struct dataset *d)
{
	int n = 1;
	const char *of = strstr(fact(d, "dev_layout"), " of ");
	uint64_t told;

	for (unsigned i = 0; i < d->n_measures; i++)
		if (d->measure[i].member > n)
			n = d->measure[i].member;
	if (n == 1 && of && !parse_uint(of + 4, 2, 1024, &told))
		n = (int)told;
	return (unsigned)n;
}

void subject_describe(struct comparison *c, struct subject *s)
{
	struct arena *a = &c->arena;
	struct dataset *d = &s->d;
	const char *layout = fact(d, "dev_layout");
	char size[32];

	s->members = members_of(d);
	s->transport = grid_clean(a, drive_fact(a, d, "dev_transport"));
	if (*layout)
		s->layout = grid_clean(a, layout);
	else if (!strncmp(d->dut, "set:", 4))
		s->layout = arena_fmt(a, "set of %u", s->members);
	else
		s->layout = "one drive";
	fmt_capacity(size, sizeof size, (uint64_t)d->capacity_bytes);
	s->name = grid_clean(a, arena_fmt(a, "%s%s%s %s%s%s", d->vendor, *d->vendor ? " " : "",
					  *d->model ? d->model : d->dut, size,
					  *d->serial ? ", S/N " : "", d->serial));
}

/* ---- candidates ---- */

static bool test_alike(const struct test *a, const struct test *b)
{
	if (strcmp(a->name, b->name) || !a->attempt || !b->attempt)
		return true;
	if (strcmp(a->definition_hash, b->definition_hash) ||
	    strcmp(a->write_cache, b->write_cache) || strcmp(a->purge_method, b->purge_method) ||
	    a->params.n != b->params.n)
		return false;
	for (unsigned i = 0; i < a->params.n; i++) {
		const char *v = pairs_get(&b->params, a->params.v[i].key);
		if (strcmp(v ? v : "", a->params.v[i].value))
			return false;
	}
	return true;
}

static bool tests_alike(const struct dataset *a, const struct dataset *b)
{
	for (unsigned i = 0; i < a->n_tests; i++)
		for (unsigned k = 0; k < b->n_tests; k++)
			if (!test_alike(&a->test[i], &b->test[k]))
				return false;
	return true;
}

/* Two runs of one kind of drive, measured in one way. */
static bool alike(const struct subject *a, const struct subject *b)
{
	const struct dataset *x = &a->d, *y = &b->d;
	const char *pairs[][2] = { { x->vendor, y->vendor },	   { x->model, y->model },
				   { x->firmware, y->firmware },   { x->profile, y->profile },
				   { x->interface, y->interface }, { a->transport, b->transport },
				   { a->layout, b->layout } };

	for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (strcmp(pairs[i][0], pairs[i][1]))
			return false;
	return x->capacity_bytes == y->capacity_bytes && x->lba_bytes == y->lba_bytes &&
	       x->quick == y->quick && x->simulated == y->simulated && a->members == b->members &&
	       tests_alike(x, y);
}

static bool fits(const struct comparison *c, const struct candidate *to, unsigned run)
{
	for (unsigned i = 0; i < to->n_runs; i++)
		if (!alike(&c->run[to->run[i]], &c->run[run]))
			return false;
	return true;
}

static void join(struct comparison *c, bool together)
{
	c->n_candidates = 0;
	for (unsigned i = 0; i < c->n_runs; i++) {
		unsigned at = together ? 0 : c->n_candidates;
		while (at < c->n_candidates && !fits(c, &c->candidate[at], i))
			at++;
		struct candidate *to = &c->candidate[at];
		if (at == c->n_candidates) {
			*to = (struct candidate){ .label = "" };
			c->n_candidates++;
		}
		to->run[to->n_runs++] = i;
		c->run[i].candidate = at;
	}
}

/* Drives are told apart by their serials: runs without one may all be of the same drive, and count as one. */
static unsigned units_of(const struct comparison *c, const struct candidate *of)
{
	unsigned n = 0;

	for (unsigned i = 0; i < of->n_runs; i++) {
		const char *serial = c->run[of->run[i]].d.serial;
		bool known = false;
		for (unsigned k = 0; k < i; k++)
			known |= !strcmp(serial, c->run[of->run[k]].d.serial);
		n += !known;
	}
	return n;
}

/* ---- labels ---- */

enum kind { BY_MODEL, BY_FIRMWARE, BY_LAYOUT, BY_TRANSPORT, BY_CAPACITY, BY_LBA, BY_SERIAL, KINDS };

/* As much as fits a column's head; names of vendors before their models say nothing there. */
static const char *short_text(struct arena *a, const char *text, const char *vendor, size_t max)
{
	size_t skip = strlen(vendor);
	const char *s = grid_clean(a, text);

	if (skip && !strncasecmp(s, vendor, skip) && s[skip] == ' ')
		s += skip + 1;
	size_t len = strlen(s);
	if (len <= max)
		return s;
	len = max;
	while (len && s[len] != ' ') /* whole words, where the first is not too long */
		len--;
	if (len)
		return arena_strndup(a, s, len);
	len = max - 1;
	while (len && ((unsigned char)s[len] & 0xc0) == 0x80) /* not inside a character */
		len--;
	return arena_fmt(a, "%.*s~", (int)len, s);
}

static const char *label_by(struct comparison *c, const struct subject *s, enum kind k)
{
	struct arena *a = &c->arena;
	const struct dataset *d = &s->d;
	char size[32];

	switch (k) {
	case BY_MODEL:
		return short_text(a, d->model, d->vendor, LABEL_MAX);
	case BY_FIRMWARE:
		return *d->firmware
			       ? short_text(a, arena_fmt(a, "FW %s", d->firmware), "", LABEL_MAX)
			       : "";
	case BY_LAYOUT:
		return short_text(a, s->layout, "", LABEL_MAX);
	case BY_TRANSPORT:
		return s->transport;
	case BY_CAPACITY:
		return arena_strdup(a,
				    fmt_capacity(size, sizeof size, (uint64_t)d->capacity_bytes));
	case BY_LBA:
		return arena_fmt(a, "LBA %u", d->lba_bytes);
	default:
		return *d->serial ? short_text(a, d->serial, "", LABEL_MAX) : "";
	}
}

static bool all_differ(const char *const *label, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!*label[i])
			return false;
		for (unsigned k = 0; k < i; k++)
			if (!strcasecmp(label[i], label[k]))
				return false;
	}
	return true;
}

/* @pair: behind the model's name. True: they are all different. */
static bool try_labels(struct comparison *c, enum kind k, bool pair, const char **label)
{
	struct arena *a = &c->arena;

	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct subject *s = &c->run[c->candidate[i].run[0]];
		const char *word = label_by(c, s, k);
		const char *model = short_text(a, s->d.model, s->d.vendor, LABEL_MAX * 2 / 3);
		if (k == BY_SERIAL && c->candidate[i].n_units > 1)
			return false; /* it would be the name of one of them */
		label[i] = pair && *word ? arena_fmt(a, "%s %s", model, word) : word;
	}
	return all_differ(label, c->n_candidates);
}

/* By what alone tells all of them apart; else by the model with a second word; else by their runs. */
static void label_candidates(struct comparison *c)
{
	const char *label[COMPARE_RUNS];
	bool found = false;

	for (unsigned k = 0; k < BY_SERIAL && !found; k++)
		found = try_labels(c, (enum kind)k, false, label);
	for (unsigned k = BY_MODEL + 1; k < BY_SERIAL && !found; k++)
		found = try_labels(c, (enum kind)k, true, label);
	if (!found)
		found = try_labels(c, BY_SERIAL, false, label);
	for (unsigned i = 0; i < c->n_candidates; i++) {
		const struct subject *s = &c->run[c->candidate[i].run[0]];
		c->candidate[i].label =
			found ? label[i] : arena_fmt(&c->arena, "run %lld", (long long)s->d.run_id);
	}
}

static void label_runs(struct comparison *c, const struct candidate *of)
{
	for (unsigned i = 0; i < of->n_runs; i++)
		c->run[of->run[i]].label = of->n_runs == 1 ? of->label
							   : arena_fmt(&c->arena, "%s #%u",
								       of->label, i + 1);
}

/* ---- colours ---- */

#define BASE_GREY 0x7F7F7Fu

/* Well apart from one another and from grey; beyond those, the same ones darker. */
static uint32_t color_of(unsigned i)
{
	static const uint32_t colors[] = { 0x2E75B6, 0xED7D31, 0x70AD47, 0x7030A0, 0xBF9000,
					   0x00A99D, 0xC55A8A, 0x1F3864, 0x9E480E, 0x5B9BD5 };
	static const unsigned n = sizeof colors / sizeof colors[0];
	uint32_t rgb = colors[i % n], out = 0;

	for (unsigned k = 0; k < 24; k += 8) {
		uint32_t part = rgb >> k & 0xff;
		for (unsigned dark = i / n; dark; dark--)
			part = part * 2 / 3;
		out |= part << k;
	}
	return out;
}

void compare_group(struct comparison *c, unsigned baseline)
{
	char size[32];
	unsigned color = 0;

	c->candidate = arena_array(&c->arena, struct candidate, c->n_runs);
	join(c, true);
	if (c->n_candidates < 2)
		join(c, false);
	c->baseline = c->run[baseline].candidate;
	c->candidate[c->baseline].baseline = true;
	for (unsigned i = 0; i < c->n_candidates; i++)
		c->candidate[i].n_units = units_of(c, &c->candidate[i]);
	label_candidates(c);
	for (unsigned i = 0; i < c->n_candidates; i++) {
		struct candidate *one = &c->candidate[i];
		const struct dataset *d = &c->run[one->run[0]].d;
		fmt_capacity(size, sizeof size, (uint64_t)d->capacity_bytes);
		one->name = grid_clean(&c->arena, arena_fmt(&c->arena, "%s%s%s %s", d->vendor,
							    *d->vendor ? " " : "",
							    *d->model ? d->model : d->dut, size));
		one->color = one->baseline ? BASE_GREY : color_of(color++);
		label_runs(c, one);
	}
}
