/* SPDX-License-Identifier: MIT */
/*
 * The choice of an operating point (spec 14): pure arithmetic over cells that were measured, used by the interpreter and
 * by the audit.
 */
#ifndef PTS_PICK_RULE_H
#define PTS_PICK_RULE_H

#include "pts/plan.h"

/*
 * Which cells a point may be picked from, in words in pts-def.5: of the measurement window of the section's loop those of
 * phase round; without a loop those of phase step; with "of PHASE" those of that phase. Only runs: a fill never.
 */
struct pick_scope {
	const struct plan *plan;
	const struct step *pick; /* its PICK step */
	unsigned section; /* that the pick stands in */
	const struct step *loop; /* the last one, of whatever section; NULL none */
	int window_first, window_last; /* of that loop */
};

/* True if cells measured by plan step @step in @section and @round (-1 or 0 outside of loops) are candidates. */
bool pick_takes(const struct pick_scope *p, unsigned step, unsigned section, int round);
/* The rounds are those of a loop's window. */
bool pick_windowed(const struct pick_scope *p);

struct pick_cell { /* the rounds of one cell of the plan */
	unsigned threads, qd, rounds;
	uint64_t ios;
	double iops, art_ns; /* sums, after pick_means() means; ART weighted by IOs */
	unsigned step; /* of the plan */
};

struct pick_choice {
	unsigned threads, qd;
	double iops, art_ns;
	unsigned step; /* of the plan, whose cells were taken */
	bool fallback; /* no cell below the ART ceiling: the one with the lowest ART */
	char reason[400]; /* in words */
};

/* Adds a measurement of one round. */
void pick_add(struct pick_cell *c, uint64_t ios, double iops, double art_ns);
/* Sums to means; cells without a round are dropped. Returns how many are left, at the front. */
unsigned pick_means(struct pick_cell *c, unsigned n);

/*
 * Chooses by @rule, a PICK step, among @n >= 1 cells, which may change places; @at gives threads and depth of PICK_AT.
 * -ENOENT: none was measured at these; -ERANGE: none is below the ART ceiling and the rule says nothing else.
 */
int pick_choose(const struct step *rule, const unsigned at[2], struct pick_cell *c, unsigned n,
		struct pick_choice *ret) must_check;

/* True if a cell measured by plan step @cell is chosen by the selector. */
bool selector_matches(const struct selector *sel, const struct step *cell);

#endif
