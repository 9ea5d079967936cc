/* SPDX-License-Identifier: MIT */
/* Clauses about amounts and times: fills, durations, rounds as they are built, wait states, histograms. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/cmd_audit.h"

static void none_measured(struct judging *j)
{
	judge_text(j, "no such cell was measured");
	judge_say(j, AUDIT_NOT_MEASURED);
}

static bool labelled(const struct judging *j, const struct acell *c)
{
	const char *label = judge_arg(j, "label");

	return !label || !strcmp(label, c->label);
}

/* ---- fills ---- */

struct filled {
	uint64_t bytes;
	const struct acell *first;
	unsigned n;
};

/* "100 W SEQ 128k"; "block" stands for the block of the section's rounds. */
static bool streams_fit(const struct judging *j, const struct acell *c, const char *want)
{
	const char *block = strstr(want, " block");
	uint64_t bytes = 0;
	char size[32];

	if (!block)
		return !strcmp(want, judge_streams(j->a, c));
	for (unsigned i = 0; i < j->a->n_cells; i++)
		if (judge_takes(j, &j->a->cell[i], "round") && j->a->cell[i].section == c->section)
			bytes = (uint64_t)j->a->cell[i].block_bytes;
	if (!bytes) /* not come so far */
		return true;
	return !strcmp(judge_streams(j->a, c),
		       arena_fmt(&j->a->arena, "%.*s %s", (int)(block - want), want,
				 fmt_block(size, sizeof size, bytes)));
}

static void fill_section(struct judging *j, int section, double want)
{
	const char *streams = judge_arg(j, "streams");
	double cap = (double)j->a->capacity_bytes;
	struct filled f = { 0 };

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, "wipc") || c->section != section)
			continue;
		f.bytes += c->write_bytes;
		f.first = f.first ? f.first : c;
		f.n++;
		judge_cell(j, c);
		if (!streams_fit(j, c, streams))
			judge_say(j, judge_by_plan(j));
	}
	if (!f.n) {
		none_measured(j);
		return;
	}
	judge_text(j, "section %d: %s wrote %.3f x the capacity at T%dQ%d (%" PRIu64 " bytes)",
		   section, f.first->access, (double)f.bytes / cap, f.first->threads, f.first->qd,
		   f.bytes);
	if ((double)f.bytes < want * cap - 2 * j->a->lba_bytes)
		judge_say(j, judge_by_plan(j));
}

/* PTS[IOPS-2.2] PTS[TP-2] PTS[LAT-2] PTS[WSAT-2-NOFILL] PTS[HIR-2-NOFILL] PTS[XSR-1] PTS[DIRTH-1] PTS[RWSW-7-FILL]
 * PTS[RWSW-8-NOFILL] */
void judge_fill(struct judging *j)
{
	const char *amount = judge_arg(j, "amount");
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_cells && judge_arg(j, "none"); i++) {
		if (!judge_takes(j, &j->a->cell[i], "wipc"))
			continue;
		n++;
		judge_cell(j, &j->a->cell[i]);
	}
	if (judge_arg(j, "none")) {
		judge_text(j, n ? "%u fills" : "no fill before it", n);
		if (n)
			judge_say(j, judge_by_plan(j));
		return;
	}
	for (unsigned i = 0; i < j->a->n_sections; i++) {
		const struct asection *s = &j->a->section[i];

		if (s->attempt == j->t->attempt && !strcmp(s->test, j->t->name) && ++n)
			fill_section(j, s->section, strtod(amount, NULL));
	}
	if (!n)
		none_measured(j);
}

/* ---- durations ---- */

struct lasting {
	uint64_t asked_ns, asked_total_ns; /* of the plan; of the first cell */
	uint64_t shortest_ns, longest_ns, sum_ns;
	unsigned n, short_cells, other, steps; /* other: asked differently from the clause */
	int last_step;
};

/* What the plan asks of a cell: its own time, and that of its whole step. */
static uint64_t asked(const struct judging *j, const struct acell *c, uint64_t *ret_total)
{
	const struct step *s = judge_step(j, c);

	*ret_total = s ? s->time_ns : 0;
	if (!s)
		return 0;
	if (s->op == STEP_REPLAY)
		return c->segment < (int)s->n_replay ? s->replay[c->segment].duration_ns : 0;
	return s->every_ns ? s->every_ns : s->time_ns;
}

static void last_add(struct judging *j, const struct acell *c, struct lasting *l)
{
	uint64_t each = judge_time(j, "each"), total = judge_time(j, "total"), all;
	uint64_t ns = asked(j, c, &all);

	if (!l->n) {
		l->asked_ns = ns;
		l->asked_total_ns = all;
		l->shortest_ns = UINT64_MAX;
	}
	l->steps += !l->n || c->step != l->last_step;
	l->last_step = c->step;
	l->n++;
	l->sum_ns += c->elapsed_ns;
	l->shortest_ns = c->elapsed_ns < l->shortest_ns ? c->elapsed_ns : l->shortest_ns;
	l->longest_ns = c->elapsed_ns > l->longest_ns ? c->elapsed_ns : l->longest_ns;
	l->other += ns && ((each && ns != each) || (total && all != total));
	if (ns &&
	    c->elapsed_ns + ns / 100 + 1000000 < ns) { /* it may end with its last IO, 1 % before */
		l->short_cells++;
		judge_cell(j, c);
	}
}

static void last_say(struct judging *j, const struct lasting *l)
{
	char t[32], u[32];

	if (!l->n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells of %s asked, they lasted %.3f to %.3f s", l->n,
		   l->asked_ns ? fmt_time(t, sizeof t, l->asked_ns) : "a time not",
		   (double)l->shortest_ns / 1e9, (double)l->longest_ns / 1e9);
	if (judge_time(j, "total"))
		judge_text(j, "%s a step, %s in all", fmt_time(t, sizeof t, l->asked_total_ns),
			   fmt_span(u, sizeof u, l->sum_ns));
	if (l->other) {
		judge_text(j, "%s is wanted",
			   judge_arg(j, "total") && l->asked_ns == judge_time(j, "each")
				   ? judge_arg(j, "total")
				   : judge_arg(j, "each"));
		judge_say(j, judge_by_plan(j));
	}
	if (!l->short_cells)
		return;
	judge_text(j, "%u lasted less than asked", l->short_cells);
	judge_say(j, AUDIT_NOT_MET);
}

/* PTS[RWSW-8-MINUTE] PTS[IOPS-3.2-MINUTE] PTS[TP-3-MINUTE] PTS[LAT-3-MINUTE] PTS[WSAT-2-MINUTE] PTS[HIR-3A] PTS[HIR-3C] PTS[XSR-2-AG1]
 * PTS[XSR-2-AG2] PTS[XSR-2-AG3] PTS[DIRTH-3B-MINUTE] PTS[DIRTH-5-PRE] */
void judge_duration(struct judging *j)
{
	const char *streams = judge_arg(j, "streams");
	struct lasting l = { 0 };
	const struct acell *odd = NULL;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, judge_arg(j, "phase")) || !labelled(j, c))
			continue;
		judge_cell(j, c);
		last_add(j, c, &l);
		if (streams && !streams_fit(j, c, streams))
			odd = odd ? odd : c;
	}
	last_say(j, &l);
	if (!odd)
		return;
	judge_text(j, "the access is %s", odd->access);
	judge_say(j, judge_by_plan(j));
}

/* PTS[HIR-3-SUM] PTS[XSR-2-SUM]: what was asked for must come to the time exactly. */
void judge_total(struct judging *j)
{
	uint64_t want = judge_time(j, "time"), sum = 0, lasted = 0, all;
	char t[32], u[32];
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, judge_arg(j, "phase")))
			continue;
		judge_cell(j, c);
		sum += asked(j, c, &all);
		lasted += c->elapsed_ns;
		n++;
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells of %s asked in all, lasting %s", n, fmt_time(t, sizeof t, sum),
		   fmt_span(u, sizeof u, lasted));
	if (sum == want)
		return;
	judge_text(j, "%s is wanted", judge_arg(j, "time"));
	judge_say(j, !j->t->finished ? AUDIT_NOT_MEASURED : judge_by_plan(j));
}

/* ---- how a round is built ---- */

struct part { /* cells of one phase that follow one another */
	const char *phase;
	uint64_t asked_ns;
};

#define PARTS_MAX 8

struct shape {
	struct part part[PARTS_MAX];
	unsigned n;
};

static void shape_read(const struct judging *j, struct shape *s)
{
	const char *list = judge_arg(j, "rounds");

	s->n = 0;
	while (*list && s->n < PARTS_MAX) {
		size_t len = strcspn(list, ","), name = strcspn(list, ":");
		char *time = arena_strndup(&j->a->arena, list + name + 1, len - name - 1);

		s->part[s->n].phase = arena_strndup(&j->a->arena, list, name);
		if (parse_time(time, &s->part[s->n++].asked_ns))
			BUG("clause %s: bad time '%s'", j->c->id, time);
		list += len + (list[len] == ',');
	}
}

static void shape_add(struct shape *s, const struct acell *c, uint64_t ns)
{
	if (!s->n || strcmp(s->part[s->n - 1].phase, c->phase)) {
		if (s->n == PARTS_MAX)
			return;
		s->part[s->n++] = (struct part){ .phase = c->phase };
	}
	s->part[s->n - 1].asked_ns += ns;
}

enum fit { FITS, OTHER_TIMES, OTHER_ORDER };

/* The last round may be cut short: by a check in its midst, or by the end of the loop. */
static enum fit shape_fits(const struct shape *want, const struct shape *is, bool last)
{
	enum fit fit = FITS;

	for (unsigned i = 0; i < is->n; i++) {
		if (i >= want->n || strcmp(want->part[i].phase, is->part[i].phase))
			return OTHER_ORDER;
		if (is->part[i].asked_ns != want->part[i].asked_ns && !(last && i + 1 == is->n))
			fit = OTHER_TIMES;
	}
	return is->n == want->n || last ? fit : OTHER_ORDER;
}

static void shape_say(struct judging *j, const struct shape *s)
{
	struct buf b = BUF_INIT;
	char t[32];

	for (unsigned i = 0; i < s->n; i++)
		buf_fmt(&b, "%s%s %s", i ? ", " : "", s->part[i].phase,
			fmt_time(t, sizeof t, s->part[i].asked_ns));
	judge_text(j, "a round is %s", buf_cstr(&b));
	buf_release(&b);
}

struct rounds_seen {
	struct shape want, is, first, odd;
	unsigned n;
	enum fit worst;
};

static void round_close(struct rounds_seen *r, bool last)
{
	enum fit fit;

	if (!r->is.n)
		return;
	fit = shape_fits(&r->want, &r->is, last);
	if (!r->n++)
		r->first = r->is;
	if (fit > r->worst) {
		r->worst = fit;
		r->odd = r->is;
	}
	r->is.n = 0;
}

/* PTS[RWSW-7-PRE] PTS[RWSW-8-ROUND] PTS[WSAT-2-ROUND] PTS[HIR-2-ROUND] PTS[DIRTH-2] PTS[DIRTH-3A] */
void judge_shape(struct judging *j)
{
	struct rounds_seen r = { .worst = FITS };
	int round = -1;
	uint64_t all;

	shape_read(j, &r.want);
	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, NULL) || c->round < 0)
			continue;
		if (c->round != round)
			round_close(&r, false);
		round = c->round;
		judge_cell(j, c);
		shape_add(&r.is, c, asked(j, c, &all));
	}
	round_close(&r, true);
	if (!r.n) {
		none_measured(j);
		return;
	}
	unsigned closed = j->s && j->s->ended && j->s->rounds >= 0 ? (unsigned)j->s->rounds : r.n;
	judge_text(j, "%u rounds%s", closed < r.n ? closed : r.n,
		   closed < r.n ? " and a part of one" : "");
	shape_say(j, r.worst == FITS ? &r.first : &r.odd);
	if (r.worst != FITS)
		judge_say(j, judge_by_plan(j));
}

/* ---- sequential streams ---- */

static bool cursor_at(const char *json, unsigned index, uint64_t *ret)
{
	const char *p = json + (*json == '[');

	while (index-- && p) {
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	if (!p || *p < '0' || *p > '9')
		return false;
	*ret = strtoull(p, NULL, 10);
	return true;
}

/* Bytes by which a cell's stream moved on, short of or past what it transferred; in the stream's region, round about. */
static uint64_t cursor_off(const struct judging *j, const struct step *s, const struct acell *c,
			   uint64_t before, uint64_t after)
{
	uint64_t bytes = c->read_bytes + c->write_bytes, region = j->t->plan.range.bytes;
	uint64_t ahead, off, block = s->access->stream[0].bytes;

	region /= s->access->regions ? s->access->regions : 1;
	region -= block ? region % block : 0;
	if (!region)
		return bytes;
	ahead = (after + region - before % region) % region;
	off = (ahead + region - bytes % region) % region;
	return off < region - off ? off : region - off;
}

struct seq_seen {
	const struct acell *odd;
	unsigned n;
};

/* A cell of one stream that goes on where this drive's cell before it had stopped. */
static void sequential_cell(struct judging *j, const struct acell *last, const struct acell *c,
			    struct seq_seen *ret)
{
	const struct step *s = judge_step(j, c);
	uint64_t before, after;

	if (!last || !s || !s->access || !judge_takes_row(j, c, "round") ||
	    s->access->n_streams != 1 || s->access->stream[0].cursor == CURSOR_NONE ||
	    !cursor_at(last->cursors, s->access->stream[0].cursor, &before) ||
	    !cursor_at(c->cursors, s->access->stream[0].cursor, &after))
		return;
	ret->n++;
	judge_cell(j, c);
	if (cursor_off(j, s, c, before, after) >
	    ((uint64_t)c->oio + 1) * s->access->stream[0].bytes)
		ret->odd = ret->odd ? ret->odd : c;
}

/* PTS[TP-3-SEQ]: of a set each drive has its own position, in its own rows. */
void judge_sequential(struct judging *j)
{
	const struct acell **last = arena_array(&j->a->arena, const struct acell *,
						j->a->members + 1);
	struct seq_seen seen = { 0 };

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		unsigned m = c->member > 0 ? (unsigned)c->member : 0;

		if (c->members || m > j->a->members || !audit_row_of(j->t, c))
			continue;
		sequential_cell(j, last[m], c, &seen);
		last[m] = c;
	}
	if (!seen.n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells%s, each begins where its direction had ended", seen.n,
		   j->a->members > 1 ? " of the drives" : "");
	if (!seen.odd)
		return;
	judge_text(j, "but cell %" PRId64, seen.odd->ordinal);
	judge_say(j, AUDIT_NOT_MET);
}

/* ---- wait states, access groups ---- */

struct state {
	char label[32];
	unsigned count, idle;
};

/* Labels in the order of their cells; idle cells belong to the label before. */
static unsigned states_seen(struct judging *j, struct state *s, unsigned max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (judge_takes(j, c, "idle") && n) {
			s[n - 1].idle++;
			judge_cell(j, c);
		}
		if (!judge_takes(j, c, "stimulus"))
			continue;
		judge_cell(j, c);
		if (!n || strcmp(s[n - 1].label, c->label)) {
			if (n == max)
				return n + 1;
			snprintf(s[n].label, sizeof s[n].label, "%s", c->label);
			s[n].count = s[n].idle = 0;
			n++;
		}
		s[n - 1].count++;
	}
	return n;
}

/* PTS[HIR-3] PTS[XSR-2] */
void judge_states(struct judging *j)
{
	const char *list = judge_arg(j, "labels"), *stimulus = judge_arg(j, "stimulus");
	struct state s[16];
	unsigned n = states_seen(j, s, 16), i = 0;
	struct buf b = BUF_INIT;
	bool right = n <= 16;

	if (!n) {
		none_measured(j);
		return;
	}
	for (const char *p = list; *p; i++) {
		size_t len = strcspn(p, ",");

		right &= i < n && strlen(s[i].label) == len && !strncmp(s[i].label, p, len);
		right &= !stimulus || (i < n && s[i].count == strtoul(stimulus, NULL, 10) &&
				       s[i].idle == strtoul(judge_arg(j, "idle"), NULL, 10));
		p += len + (p[len] == ',');
	}
	right &= i == n;
	for (i = 0; i < n && i < 16; i++)
		buf_fmt(&b, s[i].idle ? "%s%s: %u bursts, %u waits" : "%s%s: %u cells",
			i ? ", " : "", s[i].label, s[i].count, s[i].idle);
	judge_text(j, "%s", buf_cstr(&b));
	buf_release(&b);
	if (!right)
		judge_say(j, !j->t->finished ? AUDIT_NOT_MEASURED : judge_by_plan(j));
}

/* PTS[HIR-3B] */
void judge_idle(struct judging *j)
{
	uint64_t slack = judge_time(j, "max"), all, late = 0;
	const struct acell *odd = NULL;
	unsigned n = 0;
	char t[32];

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		uint64_t want;

		if (!judge_takes(j, c, "idle"))
			continue;
		want = asked(j, c, &all);
		n++;
		judge_cell(j, c);
		late = c->elapsed_ns > want && c->elapsed_ns - want > late ? c->elapsed_ns - want
									   : late;
		if (c->read_ios || c->write_ios || c->elapsed_ns < want ||
		    c->elapsed_ns > want + slack)
			odd = odd ? odd : c;
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u waits without an IO, %s longer than asked at the most", n,
		   late ? fmt_span(t, sizeof t, late) : "never");
	if (!odd)
		return;
	judge_text(j, "cell %" PRId64 ": %" PRIu64 " IOs in %.3f s", odd->ordinal,
		   odd->read_ios + odd->write_ios, (double)odd->elapsed_ns / 1e9);
	judge_say(j, AUDIT_NOT_MET);
}

/* ---- histograms ---- */

static const struct acell *last_of_loop(const struct judging *j, const struct acell *before)
{
	const struct acell *c = NULL;

	for (unsigned i = 0; i < j->a->n_cells && &j->a->cell[i] != before; i++)
		if (judge_takes(j, &j->a->cell[i], "sample,wdpc"))
			c = &j->a->cell[i];
	return c;
}

/* PTS[LAT-4] PTS[WSAT-3] PTS[DIRTH-5]: every IO of the capture is in its histogram, as audit_cells() has seen. */
void judge_histogram(struct judging *j)
{
	const char *streams = judge_arg(j, "streams");
	uint64_t each = judge_time(j, "each"), ios = 0, all;
	unsigned n = 0, want = (unsigned)strtoul(judge_arg(j, "count"), NULL, 10);
	bool other = false, odd = false;
	char t[32];

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		const struct acell *like = NULL;

		if (!judge_takes(j, c, "histogram"))
			continue;
		if (judge_arg(j, "same"))
			like = last_of_loop(j, c);
		n++;
		judge_cell(j, c);
		ios += c->read_ios + c->write_ios;
		other |= asked(j, c, &all) != each;
		odd |= (like && strcmp(like->workload, c->workload)) ||
		       (streams && !streams_fit(j, c, streams)) || isnan(c->service_ns);
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u of %s wanted, %" PRIu64 " response times in their histograms", n,
		   fmt_time(t, sizeof t, each), ios);
	if (n != want)
		judge_say(j, j->t->finished ? judge_by_plan(j) : AUDIT_NOT_MEASURED);
	if (other) {
		judge_text(j, "another time was asked for");
		judge_say(j, judge_by_plan(j));
	}
	if (odd) {
		judge_text(j, "of another access");
		judge_say(j, judge_by_plan(j));
	}
}
