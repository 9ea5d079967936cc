/* SPDX-License-Identifier: MIT */
/* Plans as text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/plan_ctx.h"

static void add_time(struct buf *out, uint64_t ns)
{
	char t[32];

	buf_str(out, fmt_time(t, sizeof t, ns));
}

static void add_num(struct buf *out, double v)
{
	char t[32];

	buf_str(out, fmt_double(t, sizeof t, v));
}

static void add_expr(struct buf *out, const struct expr *e)
{
	static const char *const fields[] = { "", "iops", "threads", "qd" };

	if (!e->point) {
		add_num(out, e->k);
		return;
	}
	buf_fmt(out, "$%s.%s", e->point, fields[e->field]);
	if (e->k != 1) {
		buf_str(out, " * ");
		add_num(out, e->k);
	}
}

/* "T4Q32", "at $max" */
static void add_load(struct buf *out, const struct step *s)
{
	if (s->at) {
		buf_fmt(out, " at $%s", s->at);
		return;
	}
	buf_str(out, " T");
	add_expr(out, &s->threads);
	buf_str(out, "Q");
	add_expr(out, &s->qd);
}

static void add_phase(struct buf *out, const struct step *s)
{
	buf_fmt(out, " as %s", s->phase);
	if (*s->label)
		buf_fmt(out, " label \"%s\"", s->label);
	if (s->na)
		buf_fmt(out, ": %s", s->na);
}

static void run_text(const struct step *s, struct buf *out)
{
	buf_fmt(out, "RUN %s", s->access->name);
	add_load(out, s);
	if (s->rate.k > 0) {
		buf_str(out, " rate ");
		add_expr(out, &s->rate);
	}
	if (s->member_first)
		buf_fmt(out, " on members %u..%u", s->member_first, s->member_last);
	buf_str(out, " ");
	add_time(out, s->time_ns);
	if (s->every_ns) {
		buf_str(out, " every ");
		add_time(out, s->every_ns);
	}
	add_phase(out, s);
}

static void fill_text(const struct step *s, struct buf *out)
{
	buf_fmt(out, "FILL %s", s->access->name);
	add_load(out, s);
	buf_fmt(out, " %llu bytes", (unsigned long long)s->bytes);
	add_phase(out, s);
}

/* The idle end of a step, with `idle honor`. */
static bool idle_share(const struct step *s, unsigned i)
{
	return i && s->replay_no[i] == s->replay_no[i - 1];
}

static void replay_text(const struct step *s, struct buf *out)
{
	unsigned idle = 0, steps = s->n_replay ? s->replay_no[s->n_replay - 1] : 0;
	uint64_t total_ns = 0;

	for (unsigned i = 0; i < s->n_replay; i++) {
		idle += !s->replay_access[i] && !idle_share(s, i);
		total_ns += s->replay[i].duration_ns;
	}
	buf_str(out, "REPLAY scale ");
	add_num(out, s->scale);
	buf_fmt(out, " %u steps", steps);
	if (idle)
		buf_fmt(out, " (%u idle)", idle);
	buf_str(out, " ");
	add_time(out, total_ns);
	if (s->qd_fixed)
		buf_fmt(out, " qd %u", s->qd_fixed);
	else
		buf_str(out, s->qd_max ? " qd max" : " qd avg");
	buf_str(out, s->idle_honor ? " idle honor" : " idle ignore");
	add_phase(out, s);
}

static void cond_text(const struct cond *c, struct buf *out)
{
	if (c->kind == COND_STEADY)
		buf_str(out, "steady");
	else if (c->kind == COND_WRITTEN)
		buf_fmt(out, "written %llu bytes", (unsigned long long)c->value);
	else
		buf_str(out, "time ");
	if (c->kind == COND_TIME)
		add_time(out, c->value);
}

static void loop_text(const struct step *s, struct buf *out)
{
	static const char *const thens[] = { "go-on", "stop", "abort" };

	buf_str(out, "LOOP");
	if (s->rounds)
		buf_fmt(out, " rounds %u then %s", s->rounds, thens[s->then]);
	for (unsigned i = 0; i < s->n_conds; i++) {
		buf_str(out, i ? " or " : " until ");
		cond_text(&s->cond[i], out);
	}
	for (unsigned i = 0; i < s->n_tracks; i++)
		buf_fmt(out, "; track %s", s->track[i].text);
}

static void pick_text(const struct step *s, struct buf *out)
{
	static const char *const rules[] = { "", "by highest iops",
					     "by nearest iops to (highest + lowest) / 2" };

	buf_fmt(out, "PICK %s", s->point);
	if (s->rule == PICK_AT) {
		add_load(out, s);
		return;
	}
	buf_fmt(out, " %s", rules[s->rule]);
	if (s->pick_phase)
		buf_fmt(out, " of %s", s->pick_phase);
	if (s->art_below_ns > 0) {
		buf_str(out, " where art < ");
		add_time(out, (uint64_t)s->art_below_ns);
	}
	if (s->tie_lowest_oio || s->tie_lowest_tc) {
		buf_str(out, " tie ");
		add_num(out, s->tie_pct);
		buf_fmt(out, "%%%s%s", s->tie_lowest_oio ? " lowest oio" : "",
			s->tie_lowest_tc ? " lowest tc" : "");
	}
	if (s->else_lowest_art)
		buf_str(out, " else lowest art");
}

void step_text(const struct plan *p, unsigned i, struct buf *out)
{
	const struct step *s = &p->step[i];

	switch (s->op) {
	case STEP_PURGE:
		buf_str(out, s->optional ? "PURGE optional" : "PURGE");
		break;
	case STEP_FILL:
		fill_text(s, out);
		break;
	case STEP_RUN:
		run_text(s, out);
		break;
	case STEP_REPLAY:
		replay_text(s, out);
		break;
	case STEP_IDLE:
		buf_str(out, "IDLE ");
		add_time(out, s->time_ns);
		add_phase(out, s);
		break;
	case STEP_LOOP:
		loop_text(s, out);
		break;
	case STEP_CHECK:
		buf_str(out, "CHECK");
		break;
	case STEP_UNTIL:
		buf_fmt(out, "UNTIL -> %u", s->head);
		break;
	case STEP_REPEAT:
		buf_fmt(out, "REPEAT %u", s->rounds);
		break;
	case STEP_AGAIN:
		buf_fmt(out, "AGAIN -> %u", s->head);
		break;
	case STEP_PICK:
		pick_text(s, out);
		break;
	case STEP_END:
		buf_str(out, "END");
		break;
	}
}

/* ---- the whole plan ---- */

static void access_text(const struct access *a, struct buf *out)
{
	char b[32];

	buf_fmt(out, "access \"%s\":", a->name);
	for (unsigned i = 0; i < a->n_streams; i++) {
		const struct stream *s = &a->stream[i];
		buf_str(out, i ? ", " : " ");
		add_num(out, s->share);
		buf_fmt(out, " %s %s %s", s->op == IO_READ ? "R" : "W",
			s->order == IO_SEQ ? "seq" : "rnd", fmt_block(b, sizeof b, s->bytes));
		if (s->order == IO_SEQ)
			buf_fmt(out, " cursor %u region %u/%u", s->cursor, s->region + 1u,
				a->regions);
	}
	for (unsigned i = 0; i < a->n_zones; i++) {
		buf_str(out, i ? " " : "; zones ");
		add_num(out, a->zone[i].from * 100);
		buf_str(out, "-");
		add_num(out, a->zone[i].to * 100);
		buf_str(out, "%:");
		add_num(out, a->zone[i].share * 100);
	}
	if (a->align)
		buf_fmt(out, "; align %u", a->align);
	if (a->exact)
		buf_str(out, "; exact");
	buf_str(out, "\n");
}

static bool seen_before(const struct plan *p, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (p->step[k].access == p->step[i].access)
			return true;
	return false;
}

static void accesses_text(const struct plan *p, struct buf *out)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->step[i].access && !seen_before(p, i))
			access_text(p->step[i].access, out);
}

static void header_text(const struct plan *p, struct buf *out)
{
	buf_fmt(out, "test %s \"%s\" clause %s\n", p->name, p->title, p->clause);
	buf_fmt(out, "params %s\n", p->params);
	buf_fmt(out, "write-cache %s\n", p->write_cache ? "on" : "off");
	buf_fmt(out, "range %llu bytes, fills %llu bytes", (unsigned long long)p->range.bytes,
		(unsigned long long)p->fill_range.bytes);
	if (p->range.n_seg)
		buf_fmt(out, ", %u segments of %llu bytes, seed %llu", p->range.n_seg,
			(unsigned long long)p->range.seg_bytes, (unsigned long long)p->range.seed);
	buf_str(out, "\n");
	for (unsigned i = 0; i < p->n_deviations; i++)
		buf_fmt(out, "deviation %s: %s\n", p->deviation[i].clause, p->deviation[i].text);
	accesses_text(p, out);
}

/* An earlier replay of the very same accesses: another scale. */
static bool replayed_before(const struct plan *p, unsigned i)
{
	const struct step *s = &p->step[i];

	for (unsigned k = 0; k < i; k++) {
		const struct step *e = &p->step[k];
		if (e->op == STEP_REPLAY && e->n_replay == s->n_replay &&
		    !memcmp(e->replay_access, s->replay_access,
			    s->n_replay * sizeof s->replay_access[0]))
			return true;
	}
	return false;
}

/* What a replay does in each of its steps: depth, threads, streams; these are told once for all scales. */
static void replay_steps_text(const struct plan *p, unsigned step, unsigned depth, struct buf *out)
{
	const struct step *s = &p->step[step];
	bool before = replayed_before(p, step);

	for (unsigned i = 0; i < s->n_replay; i++) {
		const struct capture_step *r = &s->replay[i];
		buf_fmt(out, "      %*s%u: ", (int)(2 * depth), "", s->replay_no[i]);
		add_time(out, r->duration_ns);
		if (!s->replay_access[i]) {
			/* what IO there was is not of the dominant streams */
			buf_str(out, r->qd_max > 0 && !idle_share(s, i)
					     ? " idle (no dominant stream)\n"
					     : " idle\n");
			continue;
		}
		unsigned oio = replay_step_oio(s, i);
		buf_fmt(out, " oio %u T%u ", oio, replay_threads(oio));
		if (before)
			buf_fmt(out, "access \"%s\"\n", s->replay_access[i]->name);
		else
			access_text(s->replay_access[i], out);
	}
}

void plan_text(const struct plan *p, struct buf *out)
{
	unsigned depth = 0;

	header_text(p, out);
	for (unsigned i = 0; i < p->n; i++) {
		const struct step *s = &p->step[i];
		if (s->opens_section) {
			buf_fmt(out, "section %u", s->section);
			buf_fmt(out, *s->section_label ? " \"%s\"\n" : "%s\n", s->section_label);
		}
		depth -= s->op == STEP_UNTIL || s->op == STEP_AGAIN;
		buf_fmt(out, "%5u %*s", i, (int)(2 * depth), "");
		step_text(p, i, out);
		buf_str(out, "\n");
		if (s->op == STEP_REPLAY)
			replay_steps_text(p, i, depth, out);
		depth += s->op == STEP_LOOP || s->op == STEP_REPEAT;
	}
}
