/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "reports/decision.h"

#define DIFFER_SHOWN 14
#define REMARKS_SHOWN 10
#define NAMES_SHOWN 8
#define TESTS_SHOWN 3
#define TEXT_MAX 700
#define HALF_CHARS 84 /* of a line of half the width */

/* ---- conditions of one name that stand alike are told together ---- */

struct alike {
	const struct condition *first;
	unsigned n;
	const char *also; /* "tp, lat": the other tests */
};

static bool is_alike(const struct condition *a, const struct condition *b)
{
	return a->gate == b->gate && !strcmp(a->name, b->name);
}

/* False: told with an earlier one. */
static bool gather(const struct comparison *c, unsigned at, struct arena *a, struct alike *ret)
{
	*ret = (struct alike){ &c->condition[at], 1, "" };
	for (unsigned i = 0; i < at; i++)
		if (is_alike(&c->condition[i], ret->first))
			return false;
	for (unsigned i = at + 1; i < c->n_conditions; i++) {
		if (!is_alike(&c->condition[i], ret->first))
			continue;
		ret->also = arena_fmt(a, "%s%s%s", ret->also, *ret->also ? ", " : "",
				      c->condition[i].test);
		ret->n++;
	}
	return true;
}

static const char *names_that_differ(const struct comparison *c, struct arena *a)
{
	const char *out = "";
	struct alike one;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_conditions; i++) {
		if (c->condition[i].gate != GATE_DIFFERS || !gather(c, i, a, &one))
			continue;
		if (n++ < NAMES_SHOWN)
			out = arena_fmt(a, "%s%s%s", out, n > 1 ? ", " : "", one.first->name);
	}
	return n > NAMES_SHOWN ? arena_fmt(a, "%s, %u more", out, n - NAMES_SHOWN) : out;
}

/* "NV7400 TP: steady state not reached; ": what is left out of all that follows. */
static const char *tests_left_out(const struct comparison *c, struct arena *a)
{
	const char *out = "";
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_runs; i++)
		for (unsigned k = 0; k < c->run[i].d.n_tests; k++) {
			const struct test *t = &c->run[i].d.test[k];
			if (t->status <= STATUS_WARN || !t->attempt)
				continue;
			if (n++ < TESTS_SHOWN)
				out = arena_fmt(a, "%s%s %s: %s; ", out, c->run[i].label, t->sheet,
						t->reason);
		}
	return n > TESTS_SHOWN ? arena_fmt(a, "%s%u tests more; ", out, n - TESTS_SHOWN) : out;
}

void decision_banner(struct pager *p, const struct comparison *c)
{
	struct area left = AREA(p->row, 0, p->row, 6), right = AREA(p->row, 7, p->row, 15);
	struct arena *a = &p->s->grid->arena;
	unsigned checks = 0, same = 0;

	for (unsigned i = 0; i < c->n_conditions; i++) {
		checks += c->condition[i].gate != GATE_NOTE;
		same += c->condition[i].gate == GATE_SAME;
	}
	if (c->n_differ) {
		put_fmt(p->s, left, LOOK_BIG_BAD, "NOT COMPARABLE: %u of %u checks differ",
			c->n_differ, checks);
		put_fmt(p->s, right, LOOK_COUNTS, "%sdiffer: %s", tests_left_out(c, a),
			names_that_differ(c, a));
	} else {
		put_fmt(p->s, left, LOOK_BIG_GOOD, "COMPARABLE: %u of %u checks", same, checks);
		put_fmt(p->s, right, LOOK_COUNTS,
			c->n_unknown ? "not recorded of every run: %u" : "nothing differs",
			c->n_unknown);
	}
	pager_next(p, 36);
}

/* What stands behind "iops purge: ", with the test where it is of one. */
static const char *values_text(const struct alike *one, struct arena *a)
{
	const struct condition *f = one->first;
	const char *values = f->text, *name = strstr(f->text, f->name);

	if (name && !strncmp(name + strlen(f->name), ": ", 2))
		values = name + strlen(f->name) + 2;
	return arena_fmt(a, "%s%s%s%s%s", f->test, *f->test ? ": " : "", values,
			 *one->also ? "   - also: " : "", one->also);
}

void decision_differences(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;
	unsigned shown = 0;
	struct alike one;

	if (!c->n_differ)
		return;
	pager_section(p, "What differs: reasons not to compare (every condition by run: sheet"
			 " Comparability)");
	for (unsigned i = 0; i < c->n_conditions; i++) {
		if (c->condition[i].gate != GATE_DIFFERS || !gather(c, i, a, &one))
			continue;
		if (shown++ >= DIFFER_SHOWN)
			continue;
		const char *text = values_text(&one, a);
		if (strlen(text) > TEXT_MAX)
			text = arena_fmt(a, "%.*s ...", TEXT_MAX, text);
		put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_BAD, one.first->name);
		pager_text(p, LOOK_DIFFERS, 2, text);
	}
	if (shown > DIFFER_SHOWN)
		pager_text(p, LOOK_NOTE, 0,
			   arena_fmt(a, "%u more on sheet Comparability", shown - DIFFER_SHOWN));
	pager_next(p, 0);
}

void decision_remarks(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;

	for (unsigned i = 0; i < c->n_remarks && i < REMARKS_SHOWN; i++) {
		put_text(p->s, AT(p->row, 0), LOOK_WARN, "NOTE");
		pager_text(p, LOOK_WRAP, 1, c->remark[i]);
	}
	if (c->n_remarks > REMARKS_SHOWN)
		pager_text(p, LOOK_NOTE, 0,
			   arena_fmt(a, "%u more notes on sheet Sources",
				     c->n_remarks - REMARKS_SHOWN));
	if (c->n_remarks)
		pager_next(p, 0);
}

/* ---- all checks ---- */

static const char *check_text(const struct alike *one, struct arena *a)
{
	const struct condition *f = one->first;
	const char *text = f->text;

	if (f->gate == GATE_SAME && *f->test)
		text = one->n > 1 ? arena_fmt(a, "%s: the same in %u tests", f->name, one->n)
				  : arena_fmt(a, "%s: the same (%s)", f->name, f->test);
	else if (f->gate == GATE_SAME)
		text = arena_fmt(a, "%s: %s", f->name, f->value[0]);
	else if (one->n > 1)
		text = arena_fmt(a, "%s: of %s, %s", f->name, f->test, one->also);
	return strlen(text) > HALF_CHARS
		       ? grid_clean(a, arena_fmt(a, "%.*s ...", HALF_CHARS - 4, text))
		       : text;
}

void decision_checks(struct pager *p, const struct comparison *c)
{
	static const enum look looks[] = { LOOK_GOOD, LOOK_WARN, LOOK_NA, LOOK_BAD };
	static const char *const words[] = { "OK", "unknown", "note", "DIFFERS" };
	struct arena *a = &p->s->grid->arena;
	unsigned half = 0, lines = 0;
	struct alike one;

	for (unsigned i = 0; i < c->n_conditions; i++)
		lines += gather(c, i, a, &one);
	pager_need(p, (lines / 2 + 2 < 10 ? lines / 2 + 2 : 10) * ROW_PX);
	pager_section(p, "Comparability gate (a line that differs is a reason not to compare)");
	for (unsigned i = 0; i < c->n_conditions; i++) {
		unsigned col = half * PAGE_COLS / 2;
		if (!gather(c, i, a, &one))
			continue;
		enum gate gate = one.first->gate;
		if (!half)
			pager_need(p, ROW_PX);
		put_text(p->s, AT(p->row, col), looks[gate], words[gate]);
		put_text(p->s, AREA(p->row, col + 1, p->row, col + PAGE_COLS / 2 - 1), LOOK_VALUE,
			 check_text(&one, a));
		if (half)
			pager_next(p, 0);
		half = !half;
	}
	if (half)
		pager_next(p, 0);
}
