/* SPDX-License-Identifier: MIT */
/* Reads the text of plan_text.c. */
#include "pts/plan_read_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"

#define TRACKS_MAX 16
#define REPLAY_MAX 10000000u

/* ---- steps ---- */

static int take_expr(struct reading *r, struct expr *e)
{
	char *dot;

	e->k = 1;
	if (*r->p != '$')
		return read_num(r, &e->k);
	r->p++;
	char *w = read_word(r, "Q"); /* "$max.threads" before "Q..." */
	dot = strchr(w, '.');
	if (!dot)
		return read_bad(r, "a value of a point is missing");
	*dot = 0;
	e->point = w;
	e->field = !strcmp(dot + 1, "iops")	 ? REF_IOPS
		   : !strcmp(dot + 1, "threads") ? REF_THREADS
						 : REF_QD;
	return read_eat(r, " * ") ? read_num(r, &e->k) : 0;
}

static int take_load(struct reading *r, struct step *s)
{
	int rc;

	if (read_eat(r, " at $")) {
		s->at = read_word(r, ";:");
		s->threads = (struct expr){ 1, REF_THREADS, s->at };
		s->qd = (struct expr){ 1, REF_QD, s->at };
		return 0;
	}
	if (!read_eat(r, " T"))
		return read_bad(r, "threads are missing");
	rc = take_expr(r, &s->threads);
	if (!rc && !read_eat(r, "Q"))
		return read_bad(r, "a depth is missing");
	if (!rc)
		rc = take_expr(r, &s->qd);
	if (!rc && (!(s->threads.k >= 0 && s->threads.k < 1e6) || !(s->qd.k >= 0 && s->qd.k < 1e6)))
		return read_bad(r, "threads or depth out of range");
	return rc;
}

static int take_phase(struct reading *r, struct step *s)
{
	int rc = 0;

	if (!read_eat(r, " as "))
		return read_bad(r, "a phase is missing");
	s->phase = read_word(r, ":");
	if (read_eat(r, " label ")) {
		const char *na = strstr(r->p, "\": ");

		if (na) { /* the label ends before the reason */
			s->label = arena_strndup(r->a, r->p + 1, (size_t)(na - r->p - 1));
			r->p = na + 1;
		} else {
			rc = read_quoted(r, true, &s->label);
		}
	}
	if (!rc && read_eat(r, ": ")) {
		s->na = arena_strdup(r->a, r->p);
		r->p += strlen(r->p);
	}
	return rc;
}

/* What the cells of an access ask for: share of reads, and the block when there is one size only. */
static void take_mix(struct step *s)
{
	const struct access *a = s->access;

	s->read_pct = access_read_pct(a);
	s->block_bytes = a->stream[0].bytes;
	for (unsigned i = 1; i < a->n_streams; i++)
		if (a->stream[i].bytes != s->block_bytes)
			s->block_bytes = 0;
}

static int read_run(struct reading *r, struct step *s)
{
	int rc;

	s->access = read_known_access(r, false);
	if (!s->access)
		return read_bad(r, "unknown access");
	take_mix(s);
	rc = take_load(r, s);
	if (!rc && read_eat(r, " rate "))
		rc = take_expr(r, &s->rate);
	if (!rc && read_eat(r, " on members ")) {
		rc = read_unsigned(r, &s->member_first);
		if (!rc && !read_eat(r, ".."))
			return read_bad(r, "the last member is missing");
		if (!rc)
			rc = read_unsigned(r, &s->member_last);
	}
	if (!rc && !read_eat(r, " "))
		return read_bad(r, "a time is missing");
	if (!rc)
		rc = read_time(r, &s->time_ns);
	if (!rc && read_eat(r, " every "))
		rc = read_time(r, &s->every_ns);
	return rc ? rc : take_phase(r, s);
}

static int read_fill(struct reading *r, struct step *s)
{
	int rc;

	s->access = read_known_access(r, true);
	if (!s->access)
		return read_bad(r, "unknown access");
	take_mix(s);
	rc = take_load(r, s);
	if (!rc && !read_eat(r, " "))
		return read_bad(r, "an amount is missing");
	if (!rc)
		rc = read_uint(r, &s->bytes);
	if (!rc && !read_eat(r, " bytes"))
		return read_bad(r, "'bytes' is missing");
	return rc ? rc : take_phase(r, s);
}

static int read_replay_depth(struct reading *r, struct step *s)
{
	s->qd_max = read_eat(r, " qd max");
	if (s->qd_max || read_eat(r, " qd avg"))
		return 0;
	return read_eat(r, " qd ") ? read_unsigned(r, &s->qd_fixed)
				   : read_bad(r, "'qd' is missing");
}

static int read_replay(struct reading *r, struct step *s)
{
	unsigned n, idle;
	uint64_t total;
	int rc;

	if (!read_eat(r, "scale "))
		return read_bad(r, "a scale is missing");
	rc = read_num(r, &s->scale);
	if (!rc && !read_eat(r, " "))
		return read_bad(r, "steps are missing");
	if (!rc)
		rc = read_unsigned(r, &n);
	if (!rc && !read_eat(r, " steps "))
		return read_bad(r, "'steps' is missing");
	if (!rc && read_eat(r, "(")) {
		rc = read_unsigned(r, &idle);
		if (!rc && !read_eat(r, " idle) "))
			return read_bad(r, "'idle' is missing");
	}
	if (!rc)
		rc = read_time(r, &total);
	if (rc)
		return rc;
	rc = read_replay_depth(r, s);
	if (rc)
		return rc;
	s->idle_honor = read_eat(r, " idle honor");
	if (!s->idle_honor && !read_eat(r, " idle ignore"))
		return read_bad(r, "'idle' is missing");
	if (!n || n > REPLAY_MAX || !(s->scale > 0))
		return read_bad(r, "too many steps, or no scale");
	r->replay_steps = n;
	n *= s->idle_honor ? 2 : 1;
	s->replay = r->replay_step = arena_array(r->a, struct capture_step, n);
	s->replay_access = r->replay_access = arena_array(r->a, const struct access *, n);
	s->replay_no = r->replay_no = arena_array(r->a, unsigned, n);
	return take_phase(r, s);
}

/* The access of an earlier replay at the same place, by its name. */
static const struct access *replayed(const struct reading *r, const char *name)
{
	unsigned i = r->replay->n_replay;

	for (const struct step *s = r->step; s < r->replay; s++)
		if (s->op == STEP_REPLAY && i < s->n_replay && s->replay_access[i] &&
		    !strcmp(s->replay_access[i]->name, name))
			return s->replay_access[i];
	return NULL;
}

/* 'access "gps step 1": 30 W seq 4k ...' or, told before, 'access "gps step 1"' */
static int read_replay_access(struct reading *r, const struct access **ret)
{
	struct access *a;
	const char *name;
	int rc;

	if (!read_eat(r, " access "))
		return read_bad(r, "an access is missing");
	if (strstr(r->p, "\": ")) {
		rc = read_access(r, &a);
		*ret = a;
		return rc;
	}
	rc = read_quoted(r, true, &name);
	if (rc)
		return rc;
	*ret = replayed(r, name);
	return *ret ? 0 : read_bad(r, "an access that was not told before");
}

/* "1: 1s idle", '2: 1s oio 6 T1 access "...": ...' */
static int read_replay_step(struct reading *r)
{
	struct step *s = r->replay;
	unsigned k = s->n_replay, i = 0, oio = 0, threads;
	struct capture_step *c = &r->replay_step[k];
	int rc = read_unsigned(r, &i);
	bool idle_share = s->idle_honor && k && i == r->replay_no[k - 1] && r->replay_access[k - 1];

	if (!rc &&
	    (!read_eat(r, ": ") || (!idle_share && i != r->replay_seen + 1) || i > r->replay_steps))
		return read_bad(r, "a step of the capture is missing");
	if (!rc)
		rc = read_time(r, &c->duration_ns);
	if (!rc && read_eat(r, " idle")) {
		c->qd_max = read_eat(r, " (no dominant stream)");
	} else if (!rc) {
		if (idle_share || !read_eat(r, " oio "))
			return read_bad(r, "the depth is missing");
		rc = read_unsigned(r, &oio);
		if (!rc && !read_eat(r, " T"))
			return read_bad(r, "threads are missing");
		if (!rc)
			rc = read_unsigned(r, &threads);
		if (!rc)
			rc = read_replay_access(r, &r->replay_access[k]);
		c->qd_avg = c->qd_max = oio / s->scale;
	}
	if (rc)
		return rc;
	r->replay_no[k] = r->replay_seen = i;
	s->n_replay++;
	return 0;
}

/* ---- loops ---- */

static int read_cond(struct reading *r, struct cond *c)
{
	int rc;

	if (read_eat(r, "steady")) {
		c->kind = COND_STEADY;
		return 0;
	}
	if (read_eat(r, "time ")) {
		c->kind = COND_TIME;
		return read_time(r, &c->value);
	}
	if (!read_eat(r, "written "))
		return read_bad(r, "unknown condition");
	c->kind = COND_WRITTEN;
	rc = read_uint(r, &c->value);
	return rc || read_eat(r, " bytes") ? rc : read_bad(r, "'bytes' is missing");
}

/* "iops of sample rw 0/100 bs 4k threads 1 qd 1 label x": as the definition says it. */
static int read_selector(const char *text, struct selector *sel)
{
	double num;

	*sel = (struct selector){ .phase = "round", .read_pct = -1 };
	for (const char *p = text; *p;) {
		char word[3][64] = { "" };
		size_t n = strcspn(p, " ");
		const char *v = p + n + (p[n] == ' ');
		size_t m = strcspn(v, " ");
		uint64_t size;
		char *key = word[0], *value = word[1];

		strncat(key, p, n < 63 ? n : 63);
		strncat(value, v, m < 63 ? m : 63);
		if (!strcmp(key, "rw"))
			sel->read_pct = strtod(value, NULL);
		else if (!strcmp(key, "bs") && !parse_size(value, &size))
			sel->block_bytes = (uint32_t)size;
		else if (!strcmp(key, "threads") && !parse_number(value, &num))
			sel->threads = (unsigned)num;
		else if (!strcmp(key, "qd") && !parse_number(value, &num))
			sel->qd = (unsigned)num;
		else if (strcmp(key, "label"))
			return -EINVAL;
		p = v + m + (v[m] == ' ');
	}
	return 0;
}

static bool is_key(const char *s, size_t n)
{
	static const char *const keys[] = { "rw", "bs", "threads", "qd", "label" };

	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strlen(keys[i]) == n && !strncmp(s, keys[i], n))
			return true;
	return false;
}

static int read_track(struct reading *r, struct track *t)
{
	size_t n = strcspn(r->p, ";"), k;
	char *text = arena_strndup(r->a, r->p, n), *of = strstr(text, " of ");
	const char *label, *phase = NULL;
	char *rest;
	int rc;

	r->p += n;
	t->text = text;
	t->var = *text == 'i' ? VAR_IOPS : *text == 'b' ? VAR_BYTES_PER_S : VAR_ART;
	if (!of)
		return read_bad(r, "a track is of nothing");
	rest = arena_strdup(r->a, of + 4);
	k = strcspn(rest, " ");
	if (!is_key(rest, k)) {
		phase = arena_strndup(r->a, rest, k);
		rest += k + (rest[k] == ' ');
	}
	label = strstr(rest, "label ");
	rc = read_selector(rest, &t->sel);
	if (rc)
		return read_bad(r, "unknown words in a track");
	if (phase)
		t->sel.phase = phase;
	if (label)
		t->sel.label = arena_strndup(r->a, label + 6, strcspn(label + 6, " "));
	return 0;
}

static int read_loop(struct reading *r, struct step *s)
{
	static const char *const thens[] = { "go-on", "stop", "abort" };
	struct cond *cond = arena_array(r->a, struct cond, 3);
	struct track *track = arena_array(r->a, struct track, TRACKS_MAX + 1);
	int rc = 0;

	if (read_eat(r, " rounds ")) {
		rc = read_unsigned(r, &s->rounds);
		if (!rc && !read_eat(r, " then "))
			return read_bad(r, "'then' is missing");
		const char *word = rc ? "" : read_word(r, ";");
		for (unsigned i = 0; i < 3; i++)
			if (!strcmp(word, thens[i]))
				s->then = (enum loop_then)i;
	}
	for (const char *by = " until "; !rc && s->n_conds < 3 && read_eat(r, by); by = " or ")
		rc = read_cond(r, &cond[s->n_conds++]);
	while (!rc && s->n_tracks < TRACKS_MAX && read_eat(r, "; track "))
		rc = read_track(r, &track[s->n_tracks++]);
	s->cond = cond;
	s->track = track;
	return rc;
}

static int read_pick(struct reading *r, struct step *s)
{
	uint64_t ns = 0;
	int rc = 0;

	s->point = read_word(r, ";");
	s->rule = PICK_AT;
	if (read_eat(r, " by highest iops"))
		s->rule = PICK_HIGHEST_IOPS;
	else if (read_eat(r, " by nearest iops to (highest + lowest) / 2"))
		s->rule = PICK_NEAREST_IOPS_MID;
	if (s->rule == PICK_AT)
		return take_load(r, s);
	if (read_eat(r, " of "))
		s->pick_phase = read_word(r, ";");
	if (read_eat(r, " where art < "))
		rc = read_time(r, &ns);
	s->art_below_ns = (double)ns;
	if (!rc && read_eat(r, " tie ")) {
		rc = read_num(r, &s->tie_pct);
		if (!rc && !read_eat(r, "%"))
			return read_bad(r, "'%' is missing");
		s->tie_lowest_oio = read_eat(r, " lowest oio");
		s->tie_lowest_tc = read_eat(r, " lowest tc");
	}
	s->else_lowest_art = !rc && read_eat(r, " else lowest art");
	return rc;
}

/* As the compiler has it: no loop in a block, no repeat in a repeat. */
static int block_open(struct reading *r, unsigned index)
{
	if (r->depth == READ_DEPTH ||
	    (r->depth &&
	     (r->step[index].op == STEP_LOOP || r->step[r->block[r->depth - 1]].op == STEP_REPEAT)))
		return read_bad(r, "too deep");
	r->block[r->depth++] = index;
	r->step[index].head = index;
	return 0;
}

static int block_close(struct reading *r, struct step *s, unsigned index)
{
	enum opcode opens = s->op == STEP_UNTIL ? STEP_LOOP : STEP_REPEAT;
	unsigned head, said = 0;
	int rc;

	if (!r->depth || r->step[r->block[r->depth - 1]].op != opens || !read_eat(r, " -> "))
		return read_bad(r, "it closes nothing");
	head = r->block[--r->depth];
	r->step[head].end = index;
	s->head = head;
	rc = read_unsigned(r, &said);
	return rc || said == head ? rc : read_bad(r, "it closes another block");
}

static int read_check(struct reading *r, struct step *s)
{
	if (r->depth != 1 || r->step[r->block[0]].op != STEP_LOOP)
		return read_bad(r, "it stands in no loop");
	s->head = r->block[0];
	r->step[s->head].own_check = true;
	return 0;
}

static int read_op(struct reading *r, struct step *s, unsigned index)
{
	static const struct {
		const char *word;
		enum opcode op;
	} ops[] = { { "PURGE optional", STEP_PURGE },
		    { "PURGE", STEP_PURGE },
		    { "FILL ", STEP_FILL },
		    { "RUN ", STEP_RUN },
		    { "REPLAY ", STEP_REPLAY },
		    { "IDLE ", STEP_IDLE },
		    { "LOOP", STEP_LOOP },
		    { "CHECK", STEP_CHECK },
		    { "UNTIL", STEP_UNTIL },
		    { "REPEAT ", STEP_REPEAT },
		    { "AGAIN", STEP_AGAIN },
		    { "PICK ", STEP_PICK },
		    { "END", STEP_END } };
	unsigned i = 0;
	int rc = 0;

	while (i < sizeof ops / sizeof *ops && !read_eat(r, ops[i].word))
		i++;
	if (i == sizeof ops / sizeof *ops)
		return read_bad(r, "unknown step");
	s->op = ops[i].op;
	s->optional = i == 0;
	if (s->op == STEP_RUN)
		rc = read_run(r, s);
	else if (s->op == STEP_FILL)
		rc = read_fill(r, s);
	else if (s->op == STEP_REPLAY)
		rc = read_replay(r, s);
	else if (s->op == STEP_IDLE)
		rc = read_time(r, &s->time_ns);
	else if (s->op == STEP_LOOP)
		rc = read_loop(r, s);
	else if (s->op == STEP_REPEAT)
		rc = read_unsigned(r, &s->rounds);
	else if (s->op == STEP_PICK)
		rc = read_pick(r, s);
	else if (s->op == STEP_CHECK)
		rc = read_check(r, s);
	if (!rc && s->op == STEP_IDLE)
		rc = take_phase(r, s);
	if (!rc && (s->op == STEP_LOOP || s->op == STEP_REPEAT))
		rc = block_open(r, index);
	if (!rc && (s->op == STEP_UNTIL || s->op == STEP_AGAIN))
		rc = block_close(r, s, index);
	return rc || !*r->p ? rc : read_bad(r, "unknown words");
}

static int read_step(struct reading *r)
{
	struct plan *p = r->plan;
	unsigned index = 0;
	struct step *s;
	int rc;

	r->p += strspn(r->p, " ");
	if (r->p[strspn(r->p, "0123456789")] == ':')
		return r->replay ? read_replay_step(r) : read_bad(r, "this is no step of a replay");
	if (r->replay && r->replay_seen < r->replay_steps)
		return read_bad(r, "a step of the capture is missing");
	rc = read_unsigned(r, &index);
	if (rc || index != p->n)
		return rc ? rc : read_bad(r, "steps are not in order");
	if (p->n == r->cap) {
		unsigned cap = r->cap ? 2 * r->cap : 128;
		struct step *v = arena_array(r->a, struct step, cap);

		if (p->n)
			memcpy(v, r->step, p->n * sizeof *v);
		r->step = v;
		r->cap = cap;
	}
	r->p += strspn(r->p, " ");
	s = &r->step[p->n++];
	*s = (struct step){ .section = p->n_sections,
			    .section_label = r->section_label,
			    .opens_section = r->open_section,
			    .label = "",
			    .read_pct = NAN };
	r->open_section = false;
	rc = read_op(r, s, index);
	r->replay = s->op == STEP_REPLAY ? s : NULL;
	r->replay_seen = 0;
	return rc;
}

/* ---- the head ---- */

static int read_test(struct reading *r)
{
	struct plan *p = r->plan;
	const char *clause = strstr(r->p, "\" clause ");

	p->name = read_word(r, "\"");
	if (!read_eat(r, " \"") || !clause)
		return read_bad(r, "the title is missing");
	p->title = arena_strndup(r->a, r->p, (size_t)(clause - r->p));
	p->clause = arena_strdup(r->a, clause + strlen("\" clause "));
	return 0;
}

static int read_range(struct reading *r)
{
	struct active_range *a = &r->plan->range;
	int rc = read_uint(r, &a->bytes);

	if (!rc && !read_eat(r, " bytes, fills "))
		return read_bad(r, "'fills' is missing");
	if (!rc)
		rc = read_uint(r, &r->plan->fill_range.bytes);
	if (!rc && !read_eat(r, " bytes"))
		return read_bad(r, "'bytes' is missing");
	if (rc || !read_eat(r, ", "))
		return rc;
	rc = read_unsigned(r, &a->n_seg);
	if (!rc && !read_eat(r, " segments of "))
		return read_bad(r, "'segments' is missing");
	if (!rc)
		rc = read_uint(r, &a->seg_bytes);
	if (!rc && !read_eat(r, " bytes, seed "))
		return read_bad(r, "the seed is missing");
	return rc ? rc : read_uint(r, &a->seed);
}

static int read_deviation(struct reading *r)
{
	struct plan *p = r->plan;
	struct plan_deviation *v = arena_array(r->a, struct plan_deviation, p->n_deviations + 1);
	const char *colon = strstr(r->p, ": ");

	if (!colon)
		return read_bad(r, "the clause is missing");
	if (p->n_deviations)
		memcpy(v, p->deviation, p->n_deviations * sizeof *v);
	v[p->n_deviations].clause = arena_strndup(r->a, r->p, (size_t)(colon - r->p));
	v[p->n_deviations++].text = arena_strdup(r->a, colon + 2);
	p->deviation = v;
	return 0;
}

static int read_section(struct reading *r)
{
	unsigned n = 0;
	int rc = read_unsigned(r, &n);

	if (!rc && (n != r->plan->n_sections + 1 || r->depth))
		return read_bad(r, "sections are not in order");
	r->section_label = "";
	r->open_section = true;
	r->plan->n_sections++;
	return rc || !read_eat(r, " ") ? rc : read_quoted(r, true, &r->section_label);
}

static int read_line(struct reading *r)
{
	if (*r->p == ' ')
		return read_step(r);
	if (read_eat(r, "test "))
		return read_test(r);
	if (read_eat(r, "params ")) {
		r->plan->params = arena_strdup(r->a, r->p);
		return 0;
	}
	if (read_eat(r, "write-cache ")) {
		r->plan->write_cache = read_eat(r, "on");
		return 0;
	}
	if (read_eat(r, "range "))
		return read_range(r);
	if (read_eat(r, "deviation "))
		return read_deviation(r);
	if (read_eat(r, "access "))
		return read_new_access(r);
	if (read_eat(r, "section "))
		return read_section(r);
	return *r->p >= '0' && *r->p <= '9' ? read_step(r) : read_bad(r, "unknown line");
}

int plan_read(const char *text, struct plan *ret, struct err *err)
{
	struct plan p = { .arena = ARENA_INIT, .title = "", .clause = "", .params = "{}" };
	struct reading r = { .plan = &p, .a = &p.arena, .err = err, .section_label = "" };
	int rc = 0;

	for (const char *line = text; *line && !rc;) {
		size_t n = strcspn(line, "\n");

		r.line++;
		r.p = arena_strndup(r.a, line, n);
		rc = *r.p ? read_line(&r) : 0;
		line += n + (line[n] == '\n');
	}
	p.step = r.step;
	if (!rc && (!p.name || !p.n || p.step[p.n - 1].op != STEP_END || r.depth))
		rc = err_set(err, -EINVAL, "plan, line %u: it does not come to its end", r.line);
	if (rc)
		arena_release(&p.arena);
	else
		*ret = p;
	return rc;
}
