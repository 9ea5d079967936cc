/* SPDX-License-Identifier: MIT */
/* Clauses about the run, its drive, and the conditions of a test. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/cmd.h"
#include "pts/cmd_audit.h"
#include "pts/def.h"
#include "workloads/dut.h"

/* ---- the run ---- */

/* PTS[GEN-3.1-DRIVE] */
void judge_drive(struct judging *j)
{
	struct audit *a = j->a;
	char cap[32];

	judge_text(j, "%s%s%s, serial %s, %s in blocks of %u", a->vendor, *a->vendor ? " " : "",
		   a->model, *a->serial ? a->serial : "none",
		   fmt_capacity(cap, sizeof cap, (uint64_t)a->capacity_bytes), a->lba_bytes);
	for (unsigned i = 0; i < a->n_deviations; i++) {
		const char *d = a->deviation[i];

		if (!strstr(d, "SIMULATED") && !strstr(d, "the target is") &&
		    !strstr(d, "faults injected"))
			continue;
		judge_text(j, "%s", d + strcspn(d, " ") + 1);
		judge_say(j, AUDIT_DEVIATION);
	}
	if (a->simulated)
		judge_say(j, AUDIT_DEVIATION);
}

static bool has(const struct audit *a, const char *item)
{
	const struct {
		const char *name, *value;
	} own[] = {
		{ "vendor", a->vendor },       { "model", a->model },
		{ "serial", a->serial },       { "firmware", a->firmware },
		{ "interface", a->interface }, { "capacity", a->capacity_bytes > 0 ? "x" : "" }
	};

	for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(own[i].name, item))
			return *own[i].value;
	for (unsigned i = 0; i < a->n_given; i++)
		if (!strcmp(a->given[i], item))
			return true;
	return false;
}

/* Those of the comma-separated @list that are not known, blanks between. */
static char *missing_of(const struct judging *j, const char *list)
{
	struct buf b = BUF_INIT;
	char *out;

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		char *item = arena_strndup(&j->a->arena, p, len);

		if (!has(j->a, item))
			buf_fmt(&b, "%s%s", b.len ? " " : "", item);
		p += len + (p[len] == ',');
	}
	out = arena_strdup(&j->a->arena, buf_cstr(&b));
	buf_release(&b);
	return out;
}

/* PTS[GEN-6-ITEMS] */
void judge_recorded(struct judging *j)
{
	const char *need = missing_of(j, judge_arg(j, "need"));
	const char *info = missing_of(j, judge_arg(j, "info"));

	judge_text(j, "%u facts of host and operator, %s, begun %s", j->a->n_given, j->a->software,
		   j->a->started_utc);
	if (*need) {
		judge_text(j, "not known: %s", need);
		judge_say(j, AUDIT_NOT_MEASURED);
	}
	if (*info)
		judge_text(j, "not given with --info: %s", info);
}

/* PTS[GEN-3.1-RT] PTS[GEN-9-PCT] */
void judge_numbers(struct judging *j)
{
	struct audit *a = j->a;

	if (!strcmp(judge_arg(j, "what"), "cells"))
		judge_text(j,
			   "%u cells worked out again from %u histograms, %u seconds, %u streams",
			   a->done.cells, a->done.histograms, a->done.seconds, a->done.streams);
	else
		judge_text(j, "percentiles of %u cells worked out again", a->done.cells);
	if (!a->done.cells)
		judge_say(j, AUDIT_NOT_MEASURED);
	if (!a->n_faults)
		return;
	judge_text(j, "the evidence does not hold (%u faults above)", a->n_faults);
	judge_say(j, AUDIT_NOT_MET);
}

/* PTS[GEN-22-DEV] */
void judge_deviations(struct judging *j)
{
	if (!j->a->n_deviations)
		judge_text(j, "no deviation was recorded");
	for (unsigned i = 0; i < j->a->n_deviations; i++) {
		judge_text(j, "%s",
			   j->a->deviation[i] + (strncmp(j->a->deviation[i], "-: ", 3) ? 0 : 3));
		judge_say(j, AUDIT_DEVIATION);
	}
}

/* ---- the test as a whole ---- */

/* The built-in definition of that name, as text; NULL. */
static char *built_in_text(struct audit *a, const char *name)
{
	struct def_lib lib;
	struct err err = { "" };
	struct buf b = BUF_INIT;
	char *out = NULL;
	const struct def *d;

	if (def_lib_load(&lib, NULL, &err))
		return NULL;
	d = def_find(&lib, DEF_TEST, name);
	if (d) {
		def_text(&lib, d, &b);
		out = arena_strdup(&a->arena, buf_cstr(&b));
	}
	buf_release(&b);
	def_lib_release(&lib);
	return out;
}

/* PTS[GEN-2-SET] */
void judge_formal(struct judging *j)
{
	const char *own = built_in_text(j->a, j->t->name);
	bool same = own && !strcmp(own, j->t->definition);

	if (!j->t->formal) {
		judge_text(j, same ? "the definition set's text, with values it does not allow"
				   : "a definition of the operator's");
		judge_say(j, AUDIT_DEVIATION);
	} else if (same) {
		judge_text(j, "the text of definition set %" PRId64, j->a->definition_set);
	} else if (!strcmp(j->a->software, pts_software())) {
		judge_text(j, "said to be of definition set %" PRId64 ", which has another text",
			   j->a->definition_set);
		judge_say(j, AUDIT_NOT_MET);
	} else {
		judge_text(j, "definition set %" PRId64 " of %s; this pts has another text",
			   j->a->definition_set, j->a->software);
	}
	if (!j->t->stuck)
		return;
	judge_text(j, "the stored plan cannot be read: %s", j->t->stuck);
	judge_say(j, AUDIT_NOT_MEASURED);
}

/* PTS[GEN-4-END] PTS[RWSW-7-STEPS] */
void judge_complete(struct judging *j)
{
	if (!j->t->finished) {
		judge_text(j, "attempt %d did not come to its end", j->t->attempt);
		judge_say(j, AUDIT_NOT_MEASURED);
	} else if (!strcmp(j->t->verdict, "failed")) {
		judge_text(j, "it failed: %s", j->t->detail);
		judge_say(j, AUDIT_NOT_MET);
	} else {
		judge_text(j, "attempt %d: %s%s", j->t->attempt, j->t->verdict,
			   j->t->walked ? ", every cell where the plan has it" : "");
	}
}

/* PTS[GEN-3.1-RNG] PTS[GEN-3.1-DATA]: what pts does by its construction. */
void judge_built_in(struct judging *j)
{
	if (j->a->simulated) {
		judge_text(j, "a simulated drive has neither addresses nor data");
		judge_say(j, AUDIT_NOT_MEASURED);
	} else if (!strcmp(judge_arg(j, "what"), "rng")) {
		judge_text(j,
			   "seed %" PRId64 " of the run; 64 bits, by multiplication without bias",
			   j->a->seed);
	} else {
		judge_text(
			j,
			"each write is filled anew from the seed; not compressible, no duplicates");
	}
}

/* ---- conditions ---- */

/* The purge event of a section: the last one between its row and the row before. */
static const struct aevent *purge_event(const struct judging *j, const struct asection *s)
{
	const struct aevent *found = NULL;
	int64_t from = j->t->n;

	for (unsigned i = 0; i < j->a->n_sections; i++) {
		const struct asection *o = &j->a->section[i];

		if (o->attempt == s->attempt && !strcmp(o->test, s->test) && o->n < s->n &&
		    o->n > from)
			from = o->n;
	}
	for (unsigned i = 0; i < j->a->n_events; i++) {
		const struct aevent *e = &j->a->event[i];

		if (!strcmp(e->kind, "purge") && e->n > from && e->n < s->n &&
		    !strcmp(e->test, s->test))
			found = e;
	}
	return found;
}

static bool wants_purge(const struct judging *j, const struct asection *s)
{
	for (unsigned i = 0; j->t->planned && i < j->t->plan.n; i++) {
		const struct step *p = &j->t->plan.step[i];

		if ((int)p->section == s->section && p->opens_section)
			return p->op == STEP_PURGE;
	}
	return s->section == 1;
}

static void purge_section(struct judging *j, const struct asection *s)
{
	const struct aevent *e = purge_event(j, s);
	bool method = !strcmp(judge_arg(j, "what"), "method"), allowed;
	enum purge_method m = PURGE_NONE;

	if (e)
		judge_row(j->a, &j->f->events, e->id);
	if (!*s->purge_method || !e || e->ok == 0) {
		judge_text(j, "section %d: no purge that held", s->section);
		judge_say(j, j->a->n_deviations ? AUDIT_DEVIATION : AUDIT_NOT_MET);
		return;
	}
	if (!method) {
		judge_text(j, "section %d: purged by %s, %s, before its first cell", s->section,
			   s->purge_method, s->purge_verified == 1 ? "read back" : "not read back");
		if (s->purge_verified != 1)
			judge_say(j, AUDIT_DEVIATION);
		return;
	}
	allowed = !purge_method_parse(s->purge_method, &m) && purge_method_is_pts(m);
	judge_text(j, "%s%s", s->purge_method,
		   allowed || j->a->simulated ? "" : ", which is no purge of the PTS");
	if (!allowed && !j->a->simulated)
		judge_say(j, AUDIT_DEVIATION);
}

/* PTS[GEN-3.2-PURGE] PTS[GEN-3.2-METHOD] */
void judge_purge(struct judging *j)
{
	unsigned n = 0;

	for (unsigned i = 0; i < j->a->n_sections; i++) {
		const struct asection *s = &j->a->section[i];

		if (s->attempt != j->t->attempt || strcmp(s->test, j->t->name) ||
		    !wants_purge(j, s))
			continue;
		n++;
		purge_section(j, s);
	}
	if (n)
		return;
	judge_text(j, "no section begins with a purge");
	judge_say(j, j->t->finished ? judge_by_plan(j) : AUDIT_NOT_MEASURED);
}

/* PTS[GEN-3.3-WC] */
void judge_write_cache(struct judging *j)
{
	const char *want = j->a->client ? "on" : "off", *now = NULL;

	for (unsigned i = 0; i < j->a->n_events; i++) {
		const struct aevent *e = &j->a->event[i];

		if (strcmp(e->kind, "write-cache") || e->n < j->t->n ||
		    strcmp(e->test, j->t->name) || !*e->asked)
			continue;
		judge_row(j->a, &j->f->events, e->id);
		now = e->now;
	}
	if (j->t->finished && *j->t->write_cache)
		now = j->t->write_cache;
	if (!now || !*now) {
		judge_text(j, "nothing was recorded of it");
		judge_say(j, AUDIT_NOT_MEASURED);
	} else if (!strcmp(now, "none")) {
		judge_text(j, "the drive has no volatile write cache");
	} else if (!strcmp(now, want)) {
		judge_text(j, "set %s and read back", now);
	} else {
		judge_text(j, "it is %s, %s is wanted", now, want);
		judge_say(j, strcmp(now, "unknown") ? AUDIT_NOT_MET : AUDIT_DEVIATION);
	}
}

/* PTS[GEN-3.5-AR] */
void judge_range(struct judging *j)
{
	const char *pct = judge_arg(j, j->a->client ? "client" : "enterprise");
	uint64_t cap = (uint64_t)j->a->capacity_bytes, want, fills = j->t->plan.fill_range.bytes;
	char is[32], all[32];

	if (!j->t->planned) {
		judge_say(j, AUDIT_NOT_MEASURED);
		return;
	}
	want = (uint64_t)((unsigned __int128)cap * strtoul(pct, NULL, 10) / 100);
	want -= j->a->lba_bytes ? want % j->a->lba_bytes : 0;
	judge_text(j, "%s of %s (%.4g %%), %s %% is wanted", fmt_capacity(is, sizeof is, fills),
		   fmt_capacity(all, sizeof all, cap),
		   cap ? 100.0 * (double)fills / (double)cap : 0, pct);
	if (j->t->plan.range.n_seg)
		judge_text(j, "%u segments of %" PRIu64 " bytes", j->t->plan.range.n_seg,
			   j->t->plan.range.seg_bytes);
	if (fills + j->a->lba_bytes < want || fills > want + j->a->lba_bytes)
		judge_say(j, AUDIT_DEVIATION);
}

/* Idle time between two cells, where no purge lies between; 0 when they touch. */
static uint64_t gap_between(const struct judging *j, const struct acell *c, const struct acell *d)
{
	uint64_t end = c->start_ns + c->elapsed_ns;

	for (int i = c->step + 1; j->t->planned && i <= d->step && i < (int)j->t->plan.n; i++)
		if (j->t->plan.step[i].op == STEP_PURGE)
			return 0;
	return d->start_ns > end ? d->start_ns - end : 0;
}

/* PTS[GEN-4-GAP] */
void judge_gapless(struct judging *j)
{
	const struct acell *last = NULL, *at = NULL;
	uint64_t worst = 0, limit = judge_time(j, "max");
	unsigned n = 0;
	char t[32];

	for (unsigned i = 0; i < j->a->n_cells; i++) {
		const struct acell *c = &j->a->cell[i];
		uint64_t gap;

		if (!audit_of(j->t, c))
			continue;
		gap = last && !c->void_ && !last->void_ ? gap_between(j, last, c) : 0;
		if (gap > worst) {
			worst = gap;
			at = c;
		}
		last = c;
		n++;
	}
	if (!n) {
		judge_say(j, AUDIT_NOT_MEASURED);
		return;
	}
	judge_text(j, "%u cells, the longest pause between two is %s", n,
		   worst ? fmt_span(t, sizeof t, worst) : "none");
	if (at && worst > limit) {
		judge_cell(j, at);
		judge_say(j, AUDIT_NOT_MET);
	}
	if (!j->t->continued)
		return;
	judge_text(j, "continued inside after an interruption");
	judge_say(j, AUDIT_DEVIATION);
}
