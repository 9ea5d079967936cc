/* SPDX-License-Identifier: MIT */
/* Clauses about the cells of a test: what is done, in which order, for how long, at which load. */
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

/* The next of "a,b,c" into @ret; false at the end. */
static bool next_item(const char **list, char *ret, size_t size)
{
	size_t len = strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(ret, size, "%.*s", (int)len, *list);
	*list += len + ((*list)[len] == ',');
	return true;
}

/* ---- streams as they were asked for ---- */

struct asked_stream {
	char op, order[4];
	uint64_t bytes;
	double share;
};

#define STREAMS_MAX 64

/* v_cell.workload: [{"op":"W","access":"SEQ","block_bytes":131072,"share_pct":100}, ...] */
static unsigned parse_workload(const char *json, struct asked_stream *ret)
{
	unsigned n = 0;

	for (const char *p = strchr(json, '{'); p && n < STREAMS_MAX; p = strchr(p + 1, '{')) {
		struct asked_stream *s = &ret[n];
		const char *op = strstr(p, "\"op\":\""), *access = strstr(p, "\"access\":\"");
		const char *bytes = strstr(p, "\"block_bytes\":"),
			   *share = strstr(p, "\"share_pct\":");

		if (!op || !access || !bytes || !share)
			break;
		s->op = op[6];
		snprintf(s->order, sizeof s->order, "%.3s", access + 10);
		s->bytes = strtoull(bytes + 14, NULL, 10);
		s->share = strtod(share + 12, NULL);
		n++;
	}
	return n;
}

/* "100 W RND 4k", "65 R RND 8k + 35 W RND 8k" */
static const char *streams_text(struct audit *a, const struct asked_stream *s, unsigned n)
{
	struct buf b = BUF_INIT;
	char size[32], *out;

	for (unsigned i = 0; i < n; i++)
		buf_fmt(&b, "%s%.6g %c %s %s", i ? " + " : "", s[i].share, s[i].op, s[i].order,
			fmt_block(size, sizeof size, s[i].bytes));
	out = arena_strdup(&a->arena, buf_cstr(&b));
	buf_release(&b);
	return out;
}

const char *judge_streams(struct audit *a, const struct acell *c)
{
	struct asked_stream s[STREAMS_MAX];
	unsigned n = parse_workload(c->workload, s);

	return streams_text(a, s, n);
}

static double asked_read_pct(const struct asked_stream *s, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += s[i].op == 'R' ? s[i].share : 0;
	return sum;
}

/* "0.5k:4,1k:1": shares of the sizes, whatever the direction. */
static bool sizes_as(const char *want, const struct asked_stream *s, unsigned n)
{
	double rest = 100;
	char item[32];

	while (next_item(&want, item, sizeof item)) {
		char *colon = strchr(item, ':');
		double share = colon ? strtod(colon + 1, NULL) : 0, is = 0;
		uint64_t bytes = 0;

		if (colon)
			*colon = 0;
		if (parse_size(item, &bytes))
			return false;
		for (unsigned i = 0; i < n; i++)
			is += s[i].bytes == bytes ? s[i].share : 0;
		if (fabs(is - share) > 1e-6)
			return false;
		rest -= is;
	}
	return fabs(rest) < 1e-6;
}

static bool all_order(const char *order, const struct asked_stream *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(s[i].order, order))
			return false;
	return n > 0;
}

/* True when the streams are as the clause's arguments say. */
static bool access_fits(const struct judging *j, const struct asked_stream *s, unsigned n)
{
	const char *streams = judge_arg(j, "streams"), *order = judge_arg(j, "order");
	const char *sizes = judge_arg(j, "sizes"), *rw = judge_arg(j, "rw");

	if (streams && strcmp(streams, streams_text(j->a, s, n)))
		return false;
	if (order && !all_order(order, s, n))
		return false;
	if (rw && fabs(asked_read_pct(s, n) - strtod(rw, NULL)) > 1e-6)
		return false;
	return !sizes || sizes_as(sizes, s, n);
}

/* PTS[IOPS-3.2-RND] PTS[WSAT-1] PTS[HIR-2-ACCESS] PTS[CBW-0-SIZES] PTS[CBW-0-MIX] PTS[CBW-2-MIX] PTS[DIRTH-0-MIX] PTS[DIRTH-0-ACCESS] */
void judge_access(struct judging *j)
{
	const char *phase = judge_arg(j, "phase"), *odd = NULL, *first = NULL;
	struct asked_stream s[STREAMS_MAX];
	unsigned cells = 0, wrong = 0;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		unsigned n;

		if (!judge_takes(j, c, phase))
			continue;
		n = parse_workload(c->workload, s);
		cells++;
		judge_cell(j, c);
		first = first ? first : c->access;
		if (access_fits(j, s, n))
			continue;
		wrong++;
		odd = odd ? odd : n > 4 ? c->access : streams_text(j->a, s, n);
	}
	if (!cells) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells of %s", cells, first);
	if (!wrong)
		return;
	judge_text(j, "%u of them are %s", wrong, odd);
	if (!judge_arg(j, "choice"))
		judge_say(j, judge_by_plan(j));
}

/* PTS[CBW-0-LBA]: "0-5:50,5-20:30": the first %, the last %, the share of the accesses. */
void judge_zones(struct judging *j)
{
	const struct access *a = NULL;
	const char *want = j->c->args;
	unsigned i = 0;
	char item[48];

	for (unsigned k = 0; j->t->planned && k < j->t->plan.n && !a; k++)
		if (j->t->plan.step[k].phase && !strcmp(j->t->plan.step[k].phase, "round"))
			a = j->t->plan.step[k].access;
	if (!a) {
		none_measured(j);
		return;
	}
	for (; next_item(&want, item, sizeof item); i++) {
		double from = 0, to = 0, share = 0;
		const struct zone *z = &a->zone[i];

		if (sscanf(item, "%lf-%lf:%lf", &from, &to, &share) != 3 || i >= a->n_zones ||
		    fabs(z->from * 100 - from) > 1e-6 || fabs(z->to * 100 - to) > 1e-6 ||
		    fabs(z->share * 100 - share) > 1e-6)
			judge_say(j, judge_by_plan(j));
	}
	if (i != a->n_zones)
		judge_say(j, judge_by_plan(j));
	judge_text(j, "%u zones in the plan of %s", a->n_zones, a->name);
}

/* PTS[GEN-3.1-MIX]: besides @max, five standard deviations of the draw are allowed for. */
void judge_mix(struct judging *j)
{
	double max = strtod(judge_arg(j, "max"), NULL), worst = 0, over = -1;
	const struct acell *at = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		double ios = (double)(c->read_ios + c->write_ios), p = c->read_pct / 100, off,
		       slack;

		if (!judge_takes(j, c, NULL) || !(ios > 0) || isnan(p))
			continue;
		n++;
		off = fabs(100 * (double)c->read_ios / ios - c->read_pct);
		slack = p > 0 && p < 1 ? max + 500 * sqrt(p * (1 - p) / ios) : 0;
		worst = fmax(worst, off);
		if (off - slack > fmax(over, 1e-9)) {
			over = off - slack;
			at = c;
		}
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells, off by %.3f points of a percent at the most", n, worst);
	if (!at)
		return;
	judge_cell(j, at);
	judge_say(j, AUDIT_NOT_MET);
}

/* ---- load ---- */

/* PTS[IOPS-2.1] PTS[IOPS-3.1] PTS[TP-2-LOAD] PTS[LAT-3-LOAD] PTS[WSAT-2-LOAD] PTS[HIR-2-LOAD] PTS[XSR-2-LOAD] PTS[DIRTH-2-LOAD]
 * PTS[RWSW-9-LOAD] */
void judge_load(struct judging *j)
{
	const char *phase = judge_arg(j, "phase"), *want = judge_arg(j, j->a->client ? "c" : "e");
	const char *choice = judge_arg(j, "choice");
	unsigned n = 0, tc = 0, qd = 0, other = 0;
	const struct acell *odd = NULL, *first = NULL;

	if (want && sscanf(want, "%u/%u", &tc, &qd) != 2)
		BUG("clause %s: bad load", j->c->id);
	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, phase))
			continue;
		n++;
		judge_cell(j, c);
		first = first ? first : c;
		if (!want || (c->threads == (int)tc && c->qd == (int)qd))
			continue;
		other++;
		odd = odd ? odd : c;
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells at T%dQ%d", n - other,
		   odd && !(n - other) ? (int)tc : first->threads,
		   odd && !(n - other) ? (int)qd : first->qd);
	if (!other)
		return;
	judge_text(j, "%u at T%dQ%d", other, odd->threads, odd->qd);
	if (choice && (!strcmp(choice, "both") || j->a->client))
		judge_text(j, "the operator's choice");
	else
		judge_say(j, judge_by_plan(j));
}

/* PTS[GEN-3.1-SAMELOAD] */
void judge_same_load(struct judging *j)
{
	const struct acell *first = NULL, *odd = NULL, *few = NULL;
	unsigned n = 0, silent = 0;

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, NULL) || !strcmp(c->phase, "wipc") ||
		    !strcmp(c->phase, "idle"))
			continue;
		n++;
		first = first ? first : c;
		if (c->threads != first->threads || c->qd != first->qd)
			odd = odd ? odd : c;
		if (!(c->read_ios +
		      c->write_ios)) /* nothing came back in its time: no thread can be seen */
			silent++;
		else if (c->threads_seen >= 0 && c->threads_seen < c->threads)
			few = few ? few : c;
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u cells at T%dQ%d", n, first->threads, first->qd);
	if (odd) {
		judge_text(j, "one at T%dQ%d", odd->threads, odd->qd);
		judge_cell(j, odd);
		judge_say(j, judge_by_plan(j));
	}
	if (silent) {
		judge_text(j, "in %u of them no I/O was completed", silent);
		judge_say(j, AUDIT_NOT_MEASURED);
	}
	if (!few)
		return;
	judge_text(j, "%d threads were seen at work of %d", few->threads_seen, few->threads);
	judge_cell(j, few);
	judge_say(j, AUDIT_DEVIATION);
}

/* ---- order ---- */

struct axis { /* one loop of the order: values of mix, size, tc or qd */
	const char *key;
	double value[16];
	unsigned n;
};

static void axis_read(const struct judging *j, const char *key, struct axis *x)
{
	const char *list = judge_arg(j, key);
	char item[32];

	x->key = key;
	x->n = 0;
	while (list && x->n < 16 && next_item(&list, item, sizeof item)) {
		uint64_t bytes = 0;

		x->value[x->n] = strtod(item, NULL); /* of 65/35 the reads */
		if (!strcmp(key, "size")) {
			BUG_ON(parse_size(item, &bytes));
			x->value[x->n] = (double)bytes;
		}
		x->n++;
	}
}

static double axis_of(const struct acell *c, const char *key)
{
	return !strcmp(key, "mix")    ? c->read_pct
	       : !strcmp(key, "size") ? (double)c->block_bytes
	       : !strcmp(key, "tc")   ? c->threads
				      : c->qd;
}

/* Did the plan leave out cells of this block, as the drive cannot do it? */
static bool left_out(const struct judging *j, const struct axis *x, double value)
{
	if (strcmp(x->key, "size"))
		return false;
	for (unsigned i = 0; j->t->planned && i < j->t->plan.n; i++)
		if (j->t->plan.step[i].na && (double)j->t->plan.step[i].block_bytes == value)
			return true;
	return false;
}

struct order {
	struct axis outer, inner;
	unsigned left; /* cells a round that were left out */
	struct {
		double outer, inner;
	} place[64];
	unsigned n;
};

static void order_make(const struct judging *j, struct order *o)
{
	static const char *const keys[][2] = { { "mix", "size" }, { "tc", "qd" } };
	unsigned k = judge_arg(j, "tc") != NULL;

	memset(o, 0, sizeof *o);
	axis_read(j, keys[k][0], &o->outer);
	axis_read(j, keys[k][1], &o->inner);
	for (unsigned i = 0; i < o->outer.n; i++)
		for (unsigned m = 0; m < (o->inner.n ? o->inner.n : 1) && o->n < 64; m++) {
			double inner = o->inner.n ? o->inner.value[m] : NAN;

			if (o->inner.n && left_out(j, &o->inner, inner)) {
				o->left++;
				continue;
			}
			o->place[o->n].outer = o->outer.value[i];
			o->place[o->n++].inner = inner;
		}
}

static bool at_place(const struct order *o, unsigned i, const struct acell *c)
{
	return i < o->n && fabs(axis_of(c, o->outer.key) - o->place[i].outer) < 1e-6 &&
	       (isnan(o->place[i].inner) ||
		fabs(axis_of(c, o->inner.key) - o->place[i].inner) < 1e-6);
}

/* PTS[IOPS-3.2] PTS[TP-3] PTS[LAT-3] PTS[DIRTH-3B] */
void judge_order(struct judging *j)
{
	unsigned at = 0, rounds = 0, n = 0;
	const struct acell *odd = NULL;
	struct order o;
	int round = -1;

	order_make(j, &o);
	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];

		if (!judge_takes(j, c, "round"))
			continue;
		if (c->round != round) {
			odd = odd || round < 0 || at == o.n ? odd
							    : c; /* the round before is not whole */
			at = 0;
			rounds++;
			round = c->round;
		}
		odd = odd || at_place(&o, at, c) ? odd : c;
		at++;
		n++;
		judge_cell(j, c);
	}
	if (!n) {
		none_measured(j);
		return;
	}
	judge_text(j, "%u rounds of %u cells", rounds, o.n);
	if (o.left) {
		judge_text(j, "%u cells a round were left out: the drive has blocks of %u", o.left,
			   j->a->lba_bytes);
		judge_say(j, AUDIT_DEVIATION);
	}
	if (!odd && (at == o.n || !j->t->finished))
		return;
	judge_text(j,
		   odd ? "not in this order from cell %" PRId64 " on"
		       : "the last round is not whole",
		   odd ? odd->ordinal : 0);
	judge_say(j, judge_by_plan(j));
}

/* PTS[TP-0] */
void judge_sections(struct judging *j)
{
	const char *want = judge_arg(j, "blocks");
	unsigned n = 0, purges = 0;
	char size[32], item[32];

	for (unsigned i = 0; i < j->a->n_sections; i++) {
		const struct asection *s = &j->a->section[i];
		const struct acell *c = NULL;

		if (s->attempt != j->t->attempt || strcmp(s->test, j->t->name))
			continue;
		for (unsigned k = 0; k < j->a->n_cells && !c; k++)
			if (judge_takes(j, &j->a->cell[k], "round") &&
			    j->a->cell[k].section == s->section)
				c = &j->a->cell[k];
		purges += *s->purge_method != 0;
		n++;
		judge_text(j, "section %d: %s, %s", s->section,
			   c ? fmt_block(size, sizeof size, (uint64_t)c->block_bytes) : "no round",
			   *s->purge_method ? "purged" : "not purged");
		if (!next_item(&want, item, sizeof item) || !c || strcmp(item, size))
			judge_say(j, c ? judge_by_plan(j) : AUDIT_NOT_MEASURED);
	}
	if (*want)
		judge_say(j, j->t->finished ? judge_by_plan(j) : AUDIT_NOT_MEASURED);
	if (purges < n)
		judge_say(j, AUDIT_DEVIATION);
}
