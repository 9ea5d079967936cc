/* SPDX-License-Identifier: MIT */
/* The list of clauses, and who judges which of them where. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/embed.h"
#include "pts/base/units.h"
#include "pts/cmd_audit.h"

#define FIELDS 6

const char *audit_verdict_name(enum verdict v)
{
	static const char *const name[AUDIT_VERDICTS] = { "met", "deviation", "not met",
							  "not measured" };

	return name[v];
}

/* Who judges; once a test, once a section, or once a section with a loop. */
enum scope { ONCE, SECTIONS, LOOPS };

static const struct judge {
	const char *name;
	void (*fn)(struct judging *j);
	enum scope scope;
} judges[] = {
	{ "purge", judge_purge, ONCE },
	{ "write-cache", judge_write_cache, ONCE },
	{ "range", judge_range, ONCE },
	{ "fill", judge_fill, ONCE },
	{ "built-in", judge_built_in, ONCE },
	{ "recorded", judge_recorded, ONCE },
	{ "gapless", judge_gapless, ONCE },
	{ "formal", judge_formal, ONCE },
	{ "drive", judge_drive, ONCE },
	{ "deviations", judge_deviations, ONCE },
	{ "complete", judge_complete, ONCE },
	{ "numbers", judge_numbers, ONCE },
	{ "load", judge_load, ONCE },
	{ "same-load", judge_same_load, ONCE },
	{ "order", judge_order, LOOPS },
	{ "sections", judge_sections, ONCE },
	{ "duration", judge_duration, ONCE },
	{ "shape", judge_shape, LOOPS },
	{ "access", judge_access, ONCE },
	{ "zones", judge_zones, ONCE },
	{ "mix", judge_mix, ONCE },
	{ "sequential", judge_sequential, ONCE },
	{ "total", judge_total, ONCE },
	{ "states", judge_states, ONCE },
	{ "idle", judge_idle, ONCE },
	{ "rounds", judge_rounds, LOOPS },
	{ "tracks", judge_tracks, LOOPS },
	{ "steady", judge_steady, LOOPS },
	{ "window", judge_window, LOOPS },
	{ "marked", judge_marked, ONCE },
	{ "void", judge_void, ONCE },
	{ "stop", judge_stop, LOOPS },
	{ "histogram", judge_histogram, ONCE },
	{ "ceiling", judge_ceiling, ONCE },
	{ "point", judge_point, ONCE },
};

static const struct judge *judge_find(const char *name)
{
	for (unsigned i = 0; i < sizeof judges / sizeof *judges; i++)
		if (!strcmp(judges[i].name, name))
			return &judges[i];
	return NULL;
}

/* ---- the list ---- */

static int clause_line(struct audit *a, char *line, unsigned n, struct clause *ret)
{
	char *field[FIELDS] = { line }, *end = line;
	char *blank;

	for (unsigned i = 1; i < FIELDS; i++) {
		end = strstr(field[i - 1], " | ");
		if (!end)
			return err_set(a->err, -EINVAL, "clauses.txt:%u: %u fields are wanted", n,
				       FIELDS);
		*end = 0;
		field[i] = end + 3;
	}
	*ret = (struct clause){ .id = field[0],
				.spec = field[1],
				.mark = field[2],
				.scope = field[3],
				.judge = field[4],
				.args = "",
				.text = field[5] };
	blank = strchr(field[4], ' ');
	if (blank) {
		*blank = 0;
		ret->args = blank + 1;
	}
	return judge_find(ret->judge)
		       ? 0
		       : err_set(a->err, -EINVAL, "clauses.txt:%u: unknown judge '%s'", n,
				 ret->judge);
}

int audit_clauses(struct audit *a, const struct clause **ret, unsigned *ret_n)
{
	const struct embed *e = embed_find(embed_clauses, "clauses.txt");
	struct clause *list = NULL;
	unsigned cap = 0, n = 0, line = 0;
	char *text;
	int rc = 0;

	BUG_ON(!e);
	text = arena_strndup(&a->arena, e->data, e->len);
	for (char *p = text, *next; *p && !rc; p = next) {
		size_t len = strcspn(p, "\n");

		next = p + len + (p[len] == '\n');
		p[len] = 0;
		line++;
		if (!len || *p == '#')
			continue;
		list = audit_grow(a, list, &n, &cap, sizeof *list);
		rc = clause_line(a, p, line, &list[n - 1]);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

/* ---- what judges say ---- */

void judge_say(struct judging *j, enum verdict v)
{
	static const unsigned char rank[AUDIT_VERDICTS] = { [AUDIT_MET] = 0,
							    [AUDIT_NOT_MEASURED] = 1,
							    [AUDIT_DEVIATION] = 2,
							    [AUDIT_NOT_MET] = 3 };

	if (rank[v] > rank[j->f->verdict])
		j->f->verdict = v;
}

enum verdict judge_by_plan(const struct judging *j)
{
	return j->t->formal && !j->a->quick ? AUDIT_NOT_MET : AUDIT_DEVIATION;
}

void judge_text(struct judging *j, const char *fmt, ...)
{
	char text[800];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (j->done.len)
		buf_str(&j->done, "; ");
	buf_str(&j->done, text);
}

/* Arguments are "key=value; flag; key=value". */
static const char *arg_at(const char *args, const char *key, size_t *ret_len)
{
	size_t n = strlen(key);

	for (const char *p = args; *p;) {
		size_t len = strcspn(p, ";");

		if (!strncmp(p, key, n) && (p[n] == '=' || len == n)) {
			*ret_len = len > n ? len - n - 1 : 0;
			return p + n + (len > n);
		}
		p += len + (p[len] == ';');
		p += *p == ' ';
	}
	return NULL;
}

const char *judge_arg(const struct judging *j, const char *key)
{
	size_t len;
	const char *v = arg_at(j->c->args, key, &len);

	return v ? arena_strndup(&j->a->arena, v, len) : NULL;
}

uint64_t judge_time(const struct judging *j, const char *key)
{
	const char *v = judge_arg(j, key);
	uint64_t ns = 0;

	if (v && parse_time(v, &ns))
		BUG("clause %s: bad time '%s'", j->c->id, v);
	return ns;
}

void judge_row(struct audit *a, struct row_list *l, int64_t id)
{
	if (l->n && l->id[l->n - 1] == id)
		return;
	l->id = audit_grow(a, l->id, &l->n, &l->cap, sizeof *l->id);
	l->id[l->n - 1] = id;
}

void judge_cell(struct judging *j, const struct acell *c)
{
	judge_row(j->a, &j->f->cells, c->id);
}

/* Is @word one of "a,b,c"? */
static bool listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");

		if (len == n && !strncmp(p, word, n))
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

bool judge_takes(const struct judging *j, const struct acell *c, const char *phase)
{
	return c->member < 0 && judge_takes_row(j, c, phase);
}

bool judge_takes_row(const struct judging *j, const struct acell *c, const char *phase)
{
	return audit_row_of(j->t, c) && !c->partial && !c->void_ &&
	       (!phase || listed(phase, c->phase)) && (!j->s || c->section == j->s->section);
}

const struct step *judge_step(const struct judging *j, const struct acell *c)
{
	if (!j->t->planned || c->step < 0 || c->step >= (int)j->t->plan.n)
		return NULL;
	return &j->t->plan.step[c->step];
}

/* ---- who judges what ---- */

static void judge_one(struct audit *a, const struct clause *c, struct atest *t, struct asection *s)
{
	struct judging j = { .a = a, .c = c, .t = t, .s = s };

	j.f = audit_add(a, finding, n_findings, cap_findings);
	j.f->clause = c;
	j.f->test = t;
	j.f->section = s;
	if (t && !t->attempt) {
		judge_say(&j, AUDIT_NOT_MEASURED);
		judge_text(&j, "the test was not run");
	} else {
		judge_find(c->judge)->fn(&j);
	}
	j.f->done = arena_strdup(&a->arena, buf_cstr(&j.done));
	buf_release(&j.done);
}

static void judge_test(struct audit *a, const struct clause *c, struct atest *t)
{
	enum scope scope = judge_find(c->judge)->scope;
	struct judging j = { .a = a, .c = c };
	const char *only = judge_arg(&j, "section");
	unsigned n = 0;

	for (unsigned i = 0; i < a->n_sections && scope != ONCE && t->attempt; i++) {
		struct asection *s = &a->section[i];

		if (s->attempt != t->attempt || strcmp(s->test, t->name) ||
		    (scope == LOOPS && !s->looped))
			continue;
		n++;
		if (!only || s->section == (int)strtol(only, NULL, 10))
			judge_one(a, c, t, s);
	}
	if (!n)
		judge_one(a, c, t, NULL);
}

static bool is_of_pts(const char *clause)
{
	static const char *const ids =
		"IOPS,TP,LAT,WSAT,HIR,XSR,CBW,DIRTH,RWSW-7,RWSW-8,RWSW-9,RWSW-10";

	return listed(ids, clause);
}

int audit_judge(struct audit *a)
{
	const struct clause *list;
	unsigned n;
	int rc = audit_clauses(a, &list, &n);

	for (unsigned i = 0; i < n && !rc; i++)
		if (!strcmp(list[i].scope, "run"))
			judge_one(a, &list[i], NULL, NULL);
	for (unsigned t = 0; t < a->n_tests && !rc; t++)
		for (unsigned i = 0; i < n; i++)
			if (is_of_pts(a->test[t].clause) &&
			    (!strcmp(list[i].scope, "*") ||
			     listed(list[i].scope, a->test[t].clause)))
				judge_test(a, &list[i], &a->test[t]);
	return rc;
}
