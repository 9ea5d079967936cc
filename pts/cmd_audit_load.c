/* SPDX-License-Identifier: MIT */
/* The rows of a run, as they stand. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cmd_audit.h"
#include "pts/plan_read.h"

void *audit_grow(struct audit *a, void *array, unsigned *n, unsigned *cap, size_t size)
{
	char *v = array;

	if (*n == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		v = arena_alloc(&a->arena, *cap * size);
		if (*n)
			memcpy(v, array, *n * size);
	}
	memset(v + *n * size, 0, size);
	(*n)++;
	return v;
}

void audit_fault(struct audit *a, const char *row, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (a->n_faults < AUDIT_FAULTS_SHOWN)
		a->fault[a->n_faults] = arena_fmt(&a->arena, "%s: %s", row, text);
	a->n_faults++;
}

const char *audit_cell_name(struct audit *a, const struct acell *c)
{
	if (c->round < 0)
		return arena_fmt(&a->arena, "cell %lld (%s test)", (long long)c->ordinal, c->test);
	return arena_fmt(&a->arena, "cell %lld (%s test, round %d)", (long long)c->ordinal, c->test,
			 c->round);
}

const char *audit_section_name(struct audit *a, const struct asection *s)
{
	return arena_fmt(&a->arena, "%s test, section %d", s->test, s->section);
}

struct asection *audit_section(struct audit *a, const char *test, int attempt, int section)
{
	for (unsigned i = 0; i < a->n_sections; i++) {
		struct asection *s = &a->section[i];

		if (s->section == section && s->attempt == attempt && !strcmp(s->test, test))
			return s;
	}
	return NULL;
}

bool audit_of(const struct atest *t, const struct acell *c)
{
	return c->member < 0 && audit_row_of(t, c);
}

bool audit_row_of(const struct atest *t, const struct acell *c)
{
	return c->attempt == t->attempt && !strcmp(c->test, t->name);
}

/* ---- reading ---- */

static const char *text_of(struct audit *a, struct rows *q, int col)
{
	return arena_strdup(&a->arena, rows_text(q, col));
}

static int int_of(struct rows *q, int col) /* -1 unknown */
{
	return rows_is_null(q, col) ? -1 : (int)rows_int(q, col);
}

static int64_t long_of(struct rows *q, int col)
{
	return rows_is_null(q, col) ? -1 : rows_int(q, col);
}

/* Runs @sql, which takes the run, and hands each row to @take. */
static int each(struct audit *a, const char *sql, void (*take)(struct audit *a, struct rows *q))
{
	struct rows *q = read_rows(a->rd, a->err, sql, "i", a->run);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1)
		take(a, q);
	return rows_close(q, a->err);
}

static void take_run(struct audit *a, struct rows *q)
{
	const char **text[] = { &a->uuid,  &a->state,	 &a->dut,      &a->dut_path,   &a->vendor,
				&a->model, &a->serial,	 &a->firmware, &a->interface,  &a->profile,
				&a->spec,  &a->software, &a->digest,   &a->started_utc };
	int col = 0;

	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		*text[i] = text_of(a, q, col++);
	a->capacity_bytes = rows_int(q, col++);
	a->lba_bytes = (uint32_t)rows_int(q, col++);
	a->definition_set = rows_int(q, col++);
	a->seed = rows_int(q, col++);
	a->quick = rows_int(q, col++) != 0;
	a->simulated = rows_int(q, col++) != 0;
	a->sealed = rows_int(q, col++) != 0;
	a->rows = rows_int(q, col++);
	a->members = (unsigned)rows_int(q, col);
	a->client = !strcmp(a->profile, "client");
}

static void take_test(struct audit *a, struct rows *q)
{
	struct atest *t = audit_add(a, test, n_tests, cap_tests);

	t->name = text_of(a, q, 0);
	t->title = text_of(a, q, 1);
	t->clause = text_of(a, q, 2);
	t->formal = rows_int(q, 3) != 0;
	t->definition = text_of(a, q, 4);
	t->plan_text = text_of(a, q, 5);
	t->attempt = (int)rows_int(q, 6);
	t->n = rows_int(q, 7);
	t->finished = rows_int(q, 8) != 0;
	t->verdict = text_of(a, q, 9);
	t->write_cache = text_of(a, q, 10);
	t->detail = text_of(a, q, 11);
	t->steady = int_of(q, 12);
}

static void take_section(struct audit *a, struct rows *q)
{
	struct asection *s = audit_add(a, section, n_sections, cap_sections);

	s->id = rows_int(q, 0);
	s->n = rows_int(q, 1);
	s->test = text_of(a, q, 2);
	s->attempt = (int)rows_int(q, 3);
	s->section = (int)rows_int(q, 4);
	s->label = text_of(a, q, 5);
	s->purge_method = text_of(a, q, 6);
	s->purge_verified = int_of(q, 7);
	s->ended = rows_int(q, 8) != 0;
	s->steady = int_of(q, 9);
	s->window_first = int_of(q, 10);
	s->window_last = int_of(q, 11);
	s->rounds = int_of(q, 12);
	s->ended_by = text_of(a, q, 13);
}

static void cell_place(struct audit *a, struct rows *q, struct acell *c)
{
	c->id = rows_int(q, 0);
	c->ordinal = rows_int(q, 1);
	c->test = text_of(a, q, 2);
	c->attempt = (int)rows_int(q, 3);
	c->section = (int)rows_int(q, 4);
	c->phase = text_of(a, q, 5);
	c->round = int_of(q, 6);
	c->round_try = int_of(q, 7);
	c->step = (int)rows_int(q, 8);
	c->segment = (int)rows_int(q, 9);
	c->label = text_of(a, q, 10);
	c->member = int_of(q, 11);
	c->access = text_of(a, q, 12);
	c->no_load = rows_is_null(q, 13) || rows_is_null(q, 14);
	c->threads = (int)rows_int(q, 13);
	c->qd = (int)rows_int(q, 14);
	c->oio = int_of(q, 15);
	c->read_pct = rows_num(q, 16);
	c->block_bytes = long_of(q, 17);
	c->workload = text_of(a, q, 18);
}

static void take_cell(struct audit *a, struct rows *q)
{
	struct acell *c = audit_add(a, cell, n_cells, cap_cells);
	uint64_t *count[] = { &c->start_ns,  &c->elapsed_ns, &c->read_ios,
			      &c->write_ios, &c->read_bytes, &c->write_bytes,
			      &c->errors,    &c->short_ios,  &c->written };
	int64_t *ns[] = { &c->mrt_ns,  &c->min_ns,   &c->p50_ns,   &c->p99_ns,
			  &c->p999_ns, &c->p9999_ns, &c->p99999_ns };
	double *num[] = { &c->art_ns, &c->sum_ns, &c->rate_iops, &c->inflight_avg, &c->little_pct };
	int col = 19;

	cell_place(a, q, c);
	for (unsigned i = 0; i < sizeof count / sizeof *count; i++)
		*count[i] = (uint64_t)rows_int(q, col++);
	for (unsigned i = 0; i < sizeof ns / sizeof *ns; i++)
		*ns[i] = long_of(q, col++);
	for (unsigned i = 0; i < sizeof num / sizeof *num; i++)
		*num[i] = rows_num(q, col++);
	c->threads_seen = int_of(q, col++);
	c->partial = rows_int(q, col++) != 0;
	c->void_ = rows_int(q, col++) != 0;
	c->cursors = text_of(a, q, col++);
	c->members = (int)rows_int(q, col);
	c->service_ns = NAN;
}

static void take_round(struct audit *a, struct rows *q)
{
	struct around *r = audit_add(a, round, n_rounds, cap_rounds);
	struct steady_check *c = &r->check;
	double *num[] = { &c->y[0],
			  &c->y[1],
			  &c->y[2],
			  &c->y[3],
			  &c->y[4],
			  &c->average,
			  &c->range,
			  &c->range_allowed,
			  &c->slope,
			  &c->intercept,
			  &c->slope_excursion,
			  &c->slope_allowed,
			  &c->correlation };
	int col = 9;

	r->id = rows_int(q, 0);
	r->test = text_of(a, q, 1);
	r->attempt = (int)rows_int(q, 2);
	r->section = (int)rows_int(q, 3);
	r->round = (int)rows_int(q, 4);
	r->round_try = int_of(q, 5);
	r->variable = text_of(a, q, 6);
	r->value = rows_num(q, 7);
	r->full = !rows_is_null(q, 8);
	c->first_round = (unsigned)rows_int(q, 8);
	for (unsigned i = 0; i < sizeof num / sizeof *num; i++)
		*num[i] = rows_num(q, col++);
	c->steady = rows_int(q, col) != 0;
}

static void take_point(struct audit *a, struct rows *q)
{
	struct apoint *p = audit_add(a, point, n_points, cap_points);

	p->id = rows_int(q, 0);
	p->test = text_of(a, q, 1);
	p->attempt = (int)rows_int(q, 2);
	p->section = (int)rows_int(q, 3);
	p->point = text_of(a, q, 4);
	p->threads = int_of(q, 5);
	p->qd = int_of(q, 6);
	p->iops = rows_num(q, 7);
	p->art_ns = rows_num(q, 8);
	p->p99999_ns = long_of(q, 9);
	p->reason = text_of(a, q, 10);
}

static void take_event(struct audit *a, struct rows *q)
{
	struct aevent *e = audit_add(a, event, n_events, cap_events);

	e->id = rows_int(q, 0);
	e->n = rows_int(q, 1);
	e->kind = text_of(a, q, 2);
	e->test = text_of(a, q, 3);
	e->method = text_of(a, q, 4);
	e->asked = text_of(a, q, 5);
	e->now = text_of(a, q, 6);
	e->text = text_of(a, q, 7);
	e->ok = int_of(q, 8);
	e->verified = int_of(q, 9);
	e->inside = rows_int(q, 10) != 0;
}

static void take_void(struct audit *a, struct rows *q)
{
	struct avoid *v = audit_add(a, voided, n_voided, cap_voided);

	v->id = rows_int(q, 0);
	v->test = text_of(a, q, 1);
	v->attempt = (int)rows_int(q, 2);
	v->section = (int)rows_int(q, 3);
	v->round = int_of(q, 4);
	v->round_try = int_of(q, 5);
	v->reason = text_of(a, q, 6);
}

static void take_deviation(struct audit *a, struct rows *q)
{
	const char **d = audit_add(a, deviation, n_deviations, cap_deviations);

	*d = arena_fmt(&a->arena, "%s: %s", rows_text(q, 0), rows_text(q, 1));
}

#define PLACE(tbl, id) "(SELECT n FROM chain WHERE tbl = '" tbl "' AND row_id = " id ")"
#define DETAIL(key) "json_extract(detail, '$." key "')"

static const struct {
	const char *sql;
	void (*take)(struct audit *a, struct rows *q);
} parts[] = {
	{ "SELECT uuid, state, dut, dut_path, vendor, model, serial, firmware, interface, profile, "
	  "spec,"
	  " software, digest, started_utc, capacity_bytes, lba_bytes, definition_set, seed, quick, "
	  "simulated,"
	  " sealed, (SELECT count(*) FROM chain c WHERE c.run_id = v.run_id),"
	  " (SELECT max(1, count(*)) FROM v_member m WHERE m.run_id = v.run_id) FROM v_run v WHERE "
	  "run_id = ?",
	  take_run },
	{ "SELECT t.test, t.title, t.clause, t.formal,"
	  " (SELECT body FROM document WHERE hash = t.definition_hash),"
	  " (SELECT body FROM document WHERE hash = t.plan_hash), p.attempts,"
	  " (SELECT n FROM chain JOIN attempt x ON tbl = 'attempt' AND row_id = x.id WHERE "
	  "x.run_id = t.run_id"
	  " AND x.test = t.test AND x.attempt = p.attempts), p.finished, e.verdict, e.write_cache, "
	  "e.detail,"
	  " e.steady FROM test t JOIN v_planned p USING (run_id, test) LEFT JOIN test_end e"
	  " ON e.run_id = t.run_id AND e.test = t.test AND e.attempt = p.attempts"
	  " WHERE t.run_id = ? ORDER BY t.ordinal",
	  take_test },
	{ "SELECT s.id, " PLACE("section",
				"s.id") ", s.test, s.attempt, s.section, s.label, s.purge_method,"
					" s.purge_verified, e.id IS NOT NULL, e.steady, "
					"e.window_first, e.window_last, e.rounds, e.ended_by"
					" FROM section s LEFT JOIN section_end e USING (run_id, "
					"test, attempt, section) WHERE s.run_id = ?"
					" ORDER BY s.id",
	  take_section },
	{ "SELECT cell_id, ordinal, test, attempt, section, phase, round, round_try, step, "
	  "segment, label, member,"
	  " access, threads, qd, oio, read_pct, block_bytes, workload, start_ns, elapsed_ns, "
	  "read_ios, write_ios,"
	  " read_bytes, write_bytes, errors, short_ios, host_bytes_written, mrt_ns, lat_min_ns, "
	  "lat_p50_ns,"
	  " lat_p99_ns, lat_p999_ns, lat_p9999_ns, lat_p99999_ns, art_ns, lat_sum_ns, rate_iops, "
	  "inflight_avg,"
	  " little_pct, threads_seen, partial, void, (SELECT cursors FROM cell c WHERE c.cell_id = "
	  "v.cell_id), (SELECT members FROM cell_set s WHERE s.cell_id = v.cell_id)"
	  " FROM v_cell v WHERE run_id = ? ORDER BY ordinal",
	  take_cell },
	{ "SELECT id, test, attempt, section, round, round_try, variable, value, first_round, y1, "
	  "y2, y3, y4, y5,"
	  " average, range, range_allowed, slope, intercept, slope_excursion, slope_allowed, "
	  "correlation, steady"
	  " FROM round WHERE run_id = ? ORDER BY id",
	  take_round },
	{ "SELECT id, test, attempt, section, point, threads, qd, iops, art_ns, p99999_ns, reason "
	  "FROM point"
	  " WHERE run_id = ? ORDER BY id",
	  take_point },
	{ "SELECT event_id, " PLACE("event", "event_id") ", kind, " DETAIL("test") ", " DETAIL(
		  "met"
		  "ho"
		  "d") ", " DETAIL("asked") ", " DETAIL("now") ", " DETAIL("text") ", " DETAIL("ok") ", " DETAIL("verified") ", kind = "
															     "'resume' "
															     "AND "
															     "coalesce"
															     "(" DETAIL(
																     "inside") ", 0) FROM event WHERE run_id = ? ORDER BY event_id",
	  take_event },
	{ "SELECT id, test, attempt, section, round, round_try, reason FROM round_void WHERE "
	  "run_id = ?"
	  " ORDER BY id",
	  take_void },
	{ "SELECT clause, text FROM deviation WHERE run_id = ? ORDER BY id", take_deviation },
};

/* Names of the facts a report carries (spec 6) that are known of this run. */
static int load_items(struct audit *a)
{
	struct rows *q = read_rows(
		a->rd, a->err,
		"SELECT key FROM run_info WHERE run_id = ?1 UNION SELECT key FROM host_fact"
		" WHERE host_id = (SELECT host_id FROM run WHERE run_id = ?1) AND value IS NOT"
		" NULL",
		"i", a->run);
	unsigned cap = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		a->given = audit_grow(a, a->given, &a->n_given, &cap, sizeof *a->given);
		a->given[a->n_given - 1] = text_of(a, q, 0);
	}
	return rows_close(q, a->err);
}

static void read_plans(struct audit *a)
{
	for (unsigned i = 0; i < a->n_tests; i++) {
		struct atest *t = &a->test[i];
		struct err err = { "" };

		t->planned = !plan_read(t->plan_text, &t->plan, &err);
		if (!t->planned)
			t->stuck = arena_strdup(&a->arena, err.msg);
		t->plan.members = a->members; /* which its text does not say */
		for (unsigned k = 0; k < a->n_events; k++)
			t->continued |= a->event[k].inside && a->event[k].n > t->n && t->attempt &&
					!strcmp(a->event[k].test, t->name);
	}
}

int audit_load(struct audit *a)
{
	int rc = 0;

	for (unsigned i = 0; i < sizeof parts / sizeof *parts && !rc; i++)
		rc = each(a, parts[i].sql, parts[i].take);
	if (!rc)
		rc = load_items(a);
	if (!rc)
		read_plans(a);
	return rc;
}
