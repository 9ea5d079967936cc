/* SPDX-License-Identifier: MIT */
/* Reading: the public views into plain structs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/dataset.h"

#include "pts/base/buf.h"
#include "schema/read.h"

const char *pairs_get(const struct pairs *p, const char *key)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].key, key))
			return *p->v[i].value ? p->v[i].value : NULL;
	return NULL;
}

/* ---- columns, in the order of the query ---- */

struct take {
	struct rows *q;
	struct arena *a;
	int col;
};

static const char *take_text(struct take *t)
{
	return arena_strdup(t->a, rows_text(t->q, t->col++));
}

static int64_t take_int(struct take *t, int64_t unknown)
{
	int c = t->col++;

	return rows_is_null(t->q, c) ? unknown : rows_int(t->q, c);
}

static double take_num(struct take *t)
{
	return rows_num(t->q, t->col++);
}

static bool take_bool(struct take *t)
{
	return take_int(t, 0) != 0;
}

/* Counts with one query so that arrays are made once. */
static int count_rows(struct dataset *d, const char *sql, unsigned *ret_n, struct err *err)
{
	struct rows *q = read_rows(d->reader, err, sql, "i", d->run_id);

	if (!q)
		return -EIO;
	*ret_n = rows_next(q) == 1 ? (unsigned)rows_int(q, 0) : 0;
	return rows_close(q, err);
}

static int load_run(struct dataset *d, struct err *err)
{
	struct rows *q = read_rows(
		d->reader, err,
		"SELECT host_id, capacity_bytes, lba_bytes, uuid, campaign, dut, vendor, model,"
		" serial, firmware, interface, wwid, profile, spec, software, seed, started_utc,"
		" ended_utc, state, digest, note, definition_set, quick, compliant, simulated,"
		" sealed FROM v_run WHERE run_id = ?",
		"i", d->run_id);
	struct take t = { q, &d->arena, 0 };

	if (!q)
		return -EIO;
	bool found = rows_next(q) == 1;
	if (found) {
		const char **text[] = { &d->uuid,   &d->campaign,    &d->dut,	    &d->vendor,
					&d->model,  &d->serial,	     &d->firmware,  &d->interface,
					&d->wwid,   &d->profile,     &d->spec,	    &d->software,
					&d->seed,   &d->started_utc, &d->ended_utc, &d->state,
					&d->digest, &d->note };
		d->host_id = take_int(&t, 0);
		d->capacity_bytes = take_int(&t, 0);
		d->lba_bytes = (uint32_t)take_int(&t, 0);
		for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++)
			*text[i] = take_text(&t);
		d->definition_set = (int)take_int(&t, 0);
		d->quick = take_bool(&t);
		d->compliant = take_bool(&t);
		d->simulated = take_bool(&t);
		d->sealed = take_bool(&t);
	}
	int rc = rows_close(q, err);
	if (!rc && !found)
		rc = err_set(err, -ENOENT, "no run %lld in this database", (long long)d->run_id);
	return rc;
}

/* What was changed or added by hand since the rows were written, host and definitions too, must not look like evidence. */
static int load_chain(struct dataset *d, struct err *err)
{
	struct buf faults = BUF_INIT;
	int rc = read_check_evidence(d->reader, d->run_id, &faults, err);

	if (!rc && faults.len)
		d->tampered = arena_strndup(&d->arena, buf_cstr(&faults),
					    strcspn(buf_cstr(&faults), "\n"));
	buf_release(&faults);
	return rc;
}

static int load_pairs(struct dataset *d, const char *sql, int64_t id, struct pairs *ret,
		      struct err *err)
{
	struct rows *q = read_rows(d->reader, err, sql, "i", id);
	unsigned cap = 0;

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		if (ret->n == cap) {
			struct pair *v = arena_array(&d->arena, struct pair, cap + 64);
			if (ret->n)
				memcpy(v, ret->v, ret->n * sizeof *v);
			ret->v = v;
			cap += 64;
		}
		ret->v[ret->n].key = take_text(&t);
		ret->v[ret->n++].value = take_text(&t);
	}
	return rows_close(q, err);
}

static int load_deviations(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_deviation WHERE run_id = ?", &n, err);

	if (rc)
		return rc;
	d->deviation = arena_array(&d->arena, struct deviation, n + 1);
	struct rows *q = read_rows(d->reader, err,
				   "SELECT clause, text FROM v_deviation WHERE run_id = ?"
				   " ORDER BY rowid",
				   "i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_deviations < n && rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		struct deviation *v = &d->deviation[d->n_deviations++];
		v->clause = take_text(&t);
		v->text = take_text(&t);
	}
	return rows_close(q, err);
}

static int load_events(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_event WHERE run_id = ?", &n, err);

	if (rc)
		return rc;
	d->event = arena_array(&d->arena, struct event, n + 1);
	struct rows *q = read_rows(d->reader, err,
				   "SELECT event_id, utc, kind, detail, hash, j ->> '$.test',"
				   " coalesce(j ->> '$.text', j ->> '$.error'), j ->> '$.cell',"
				   " j ->> '$.first', j ->> '$.now', j ->> '$.round',"
				   " j ->> '$.cells' FROM (SELECT *,"
				   " iif(json_valid(detail), detail, '{}') AS j FROM v_event"
				   " WHERE run_id = ?) ORDER BY event_id",
				   "i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_events < n && rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		struct event *v = &d->event[d->n_events++];
		v->id = take_int(&t, 0);
		v->utc = take_text(&t);
		v->kind = take_text(&t);
		v->detail = take_text(&t);
		v->hash = take_text(&t);
		v->test = take_text(&t);
		v->text = take_text(&t);
		v->cell = take_text(&t);
		v->first = take_text(&t);
		v->now = take_text(&t);
		v->round = (int)take_int(&t, 0);
		v->cells = (unsigned)take_int(&t, 0);
	}
	return rows_close(q, err);
}

/* "n/a (LBA 4096)" -> "LBA 4096" */
static const char *bare_reason(struct arena *a, const char *s)
{
	size_t len = strlen(s);

	if (len > 6 && !strncmp(s, "n/a (", 5) && s[len - 1] == ')')
		return arena_strndup(a, s + 5, len - 6);
	return s;
}

static int load_na(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_event WHERE kind = 'cell-na' AND run_id = ?",
			    &n, err);

	if (rc)
		return rc;
	d->na = arena_array(&d->arena, struct na_cell, n + 1);
	struct rows *q = read_rows(d->reader, err,
				   "SELECT detail ->> '$.test', detail ->> '$.access',"
				   " detail ->> '$.reason', detail ->> '$.block_bytes',"
				   " detail ->> '$.read_pct' FROM v_event"
				   " WHERE kind = 'cell-na' AND run_id = ? ORDER BY event_id",
				   "i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_na < n && rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		struct na_cell *v = &d->na[d->n_na++];
		v->test = take_text(&t);
		v->access = take_text(&t);
		v->reason = bare_reason(&d->arena, take_text(&t));
		v->block_bytes = take_int(&t, -1);
		v->read_pct = take_num(&t);
	}
	return rows_close(q, err);
}

static int load_points(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_point WHERE NOT void AND run_id = ?", &n,
			    err);

	if (rc)
		return rc;
	d->point = arena_array(&d->arena, struct operating_point, n + 1);
	struct rows *q = read_rows(d->reader, err,
				   "SELECT test, point, reason, section, threads, qd, iops, art_ns,"
				   " lat_p99999_ns FROM v_point WHERE NOT void AND run_id = ?",
				   "i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_points < n && rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		struct operating_point *v = &d->point[d->n_points++];
		v->test = take_text(&t);
		v->point = take_text(&t);
		v->reason = take_text(&t);
		v->section = (int)take_int(&t, 0);
		v->threads = (int)take_int(&t, -1);
		v->qd = (int)take_int(&t, -1);
		v->iops = take_num(&t);
		v->art_ns = take_num(&t);
		v->p99999_ns = take_int(&t, -1);
	}
	return rows_close(q, err);
}

/* ---- measured steps ---- */

static void take_measure(struct take *t, struct measure *m)
{
	const char **text[] = { &m->test,  &m->section_label, &m->phase,
				&m->label, &m->access,	      &m->note };
	int *ints[] = { &m->attempt, &m->section, &m->round, &m->round_try, &m->step,
			&m->member,  &m->threads, &m->qd,    &m->oio,	    &m->threads_seen };
	uint64_t *counts[] = { &m->start_ns,	&m->elapsed_ns, &m->ios,
			       &m->read_ios,	&m->write_ios,	&m->bytes,
			       &m->write_bytes, &m->errors,	&m->host_bytes_written,
			       &m->short_ios };
	double *nums[] = { &m->read_pct,      &m->scale,	 &m->iops,	 &m->bytes_per_s,
			   &m->art_ns,	      &m->inflight_avg,	 &m->little_pct, &m->cpu_sys_pct,
			   &m->cpu_total_pct, &m->temperature_c, &m->rate_iops };
	int64_t *times[] = { &m->mrt_ns,  &m->p50_ns,	&m->p99_ns,
			     &m->p999_ns, &m->p9999_ns, &m->p99999_ns };

	m->cell_id = take_int(t, 0);
	for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++)
		*text[i] = take_text(t);
	for (unsigned i = 0; i < sizeof ints / sizeof ints[0]; i++)
		*ints[i] = (int)take_int(t, -1);
	for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++)
		*counts[i] = (uint64_t)take_int(t, 0);
	for (unsigned i = 0; i < sizeof nums / sizeof nums[0]; i++)
		*nums[i] = take_num(t);
	for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++)
		*times[i] = take_int(t, -1);
	m->block_bytes = take_int(t, -1);
	m->in_window = take_bool(t);
	m->partial = take_bool(t);
	m->void_ = take_bool(t);
}

static int load_measures(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_cell WHERE run_id = ?", &n, err);

	if (rc)
		return rc;
	d->measure = arena_array(&d->arena, struct measure, n + 1);
	struct rows *q = read_rows(
		d->reader, err,
		"SELECT cell_id, test, section_label, phase, label, access, note, attempt, section,"
		" round, round_try, step, member, threads, qd, oio, threads_seen, start_ns, "
		"elapsed_ns, ios,"
		" read_ios, write_ios, bytes, write_bytes, errors, host_bytes_written, short_ios, "
		"read_pct, "
		"scale, iops,"
		" bytes_per_s, art_ns, inflight_avg, little_pct, cpu_sys_pct, cpu_total_pct,"
		" temperature_c, rate_iops, mrt_ns, lat_p50_ns, lat_p99_ns, lat_p999_ns, "
		"lat_p9999_ns,"
		" lat_p99999_ns, block_bytes, in_window, partial, void"
		" FROM v_cell WHERE run_id = ? ORDER BY cell_id",
		"i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_measures < n && rows_next(q) == 1) {
		struct take t = { q, &d->arena, 0 };
		struct measure *m = &d->measure[d->n_measures];
		take_measure(&t, m);
		m->index = d->n_measures++;
	}
	return rows_close(q, err);
}

/* ---- tests and their sections ---- */

static int load_params(struct dataset *d, struct test *t, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT j.key, j.value FROM v_planned p, json_each(p.params) j"
				   " WHERE p.run_id = ? AND p.test = ?",
				   "it", d->run_id, t->name);

	if (!q)
		return -EIO;
	t->params.v = arena_array(&d->arena, struct pair, 64);
	while (t->params.n < 64 && rows_next(q) == 1) {
		struct take c = { q, &d->arena, 0 };
		t->params.v[t->params.n].key = take_text(&c);
		t->params.v[t->params.n++].value = take_text(&c);
	}
	return rows_close(q, err);
}

/* "iops" -> "IOPS": also the name of the sheet. */
static const char *sheet_of(struct arena *a, const char *test)
{
	char *s = arena_strdup(a, test);

	for (char *p = s; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return s;
}

static int load_tests(struct dataset *d, struct err *err)
{
	unsigned n;
	int rc = count_rows(d, "SELECT COUNT(*) FROM v_planned WHERE run_id = ?", &n, err);

	if (rc)
		return rc;
	d->test = arena_array(&d->arena, struct test, n + 1);
	struct rows *q = read_rows(
		d->reader, err,
		"SELECT p.test, p.title, p.clause, p.definition_hash, p.plan_hash, v.purge_method,"
		" v.write_cache, v.verdict, v.detail, v.started_utc, v.ended_utc, v.plan, p.formal,"
		" p.finished, p.attempts, v.purge_verified, v.steady,"
		" (SELECT body FROM document WHERE hash = p.plan_hash) FROM v_planned p"
		" LEFT JOIN v_test v ON v.run_id = p.run_id AND v.test = p.test"
		" AND v.attempt = p.attempts WHERE p.run_id = ? ORDER BY p.ordinal",
		"i", d->run_id);
	if (!q)
		return -EIO;
	while (d->n_tests < n && rows_next(q) == 1) {
		struct take c = { q, &d->arena, 0 };
		struct test *t = &d->test[d->n_tests++];
		const char **text[] = {
			&t->name,      &t->title,	 &t->clause,	  &t->definition_hash,
			&t->plan_hash, &t->purge_method, &t->write_cache, &t->verdict,
			&t->detail,    &t->started_utc,	 &t->ended_utc,	  &t->plan
		};
		for (unsigned i = 0; i < sizeof text / sizeof text[0]; i++)
			*text[i] = take_text(&c);
		t->formal = take_bool(&c);
		t->finished = take_bool(&c);
		t->attempt = (int)take_int(&c, 0);
		t->purge_verified = (int)take_int(&c, -1);
		t->steady = (int)take_int(&c, -1);
		t->has_rule = plan_has_rule(take_text(&c), 0); /* known before an attempt, too */
		t->sheet = sheet_of(&d->arena, t->name);
	}
	rc = rows_close(q, err);
	for (unsigned i = 0; !rc && i < d->n_tests; i++)
		rc = load_params(d, &d->test[i], err);
	return rc;
}

static int load_sections(struct dataset *d, struct test *t, struct err *err)
{
	enum { MAX = 256 };
	struct rows *q = read_rows(d->reader, err,
				   "SELECT section_label, purge_method, ended_by, section,"
				   " purge_verified, steady, window_first, window_last, rounds"
				   " FROM v_section WHERE run_id = ? AND test = ? AND attempt = ?"
				   " ORDER BY section",
				   "iti", d->run_id, t->name, (int64_t)t->attempt);

	if (!q)
		return -EIO;
	t->section = arena_array(&d->arena, struct section, MAX);
	while (t->n_sections < MAX && rows_next(q) == 1) {
		struct take c = { q, &d->arena, 0 };
		struct section *s = &t->section[t->n_sections++];
		s->label = take_text(&c);
		s->purge_method = take_text(&c);
		s->ended_by = take_text(&c);
		s->number = (int)take_int(&c, 0);
		s->purge_verified = (int)take_int(&c, -1);
		s->steady = (int)take_int(&c, -1);
		s->window_first = (int)take_int(&c, -1);
		s->window_last = (int)take_int(&c, -1);
		s->rounds = (int)take_int(&c, 0);
		if (s->window_last - s->window_first + 1 < WINDOW_ROUNDS) /* no window of five */
			s->window_first = s->window_last = -1;
	}
	return rows_close(q, err);
}

int dataset_load(struct reader *r, int64_t run, struct dataset *ret, struct err *err)
{
	*ret = (struct dataset){ .reader = r, .run_id = run };
	int rc = load_run(ret, err);
	if (!rc)
		rc = load_chain(ret, err);

	if (!rc)
		rc = load_pairs(ret, "SELECT key, value FROM v_host WHERE host_id = ?",
				ret->host_id, &ret->host, err);
	if (!rc)
		rc = load_pairs(ret, "SELECT key, value FROM v_info WHERE run_id = ?", run,
				&ret->info, err);
	if (!rc)
		rc = load_deviations(ret, err);
	if (!rc)
		rc = load_events(ret, err);
	if (!rc)
		rc = load_na(ret, err);
	if (!rc)
		rc = load_points(ret, err);
	if (!rc)
		rc = load_measures(ret, err);
	if (!rc)
		rc = load_tests(ret, err);
	for (unsigned i = 0; !rc && i < ret->n_tests; i++)
		rc = load_sections(ret, &ret->test[i], err);
	if (!rc)
		rc = dataset_calc(ret, err);
	if (rc)
		dataset_release(ret);
	return rc;
}

void dataset_release(struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		for (unsigned k = 0; k < d->test[i].n_sections; k++)
			for (unsigned h = 0; h < d->test[i].section[k].n_hists; h++)
				free(d->test[i].section[k].hist[h].hist);
	arena_release(&d->arena);
	*d = (struct dataset){ 0 };
}

const struct test *dataset_test(const struct dataset *d, const char *name)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (!strcmp(d->test[i].name, name))
			return &d->test[i];
	return NULL;
}

const struct combo *section_combo(const struct section *s, double read_pct, int64_t block_bytes)
{
	for (unsigned i = 0; i < s->n_combos; i++)
		if (fabs(s->combo[i].read_pct - read_pct) < 1e-9 &&
		    s->combo[i].block_bytes == block_bytes)
			return &s->combo[i];
	return NULL;
}

const char *dataset_na(const struct dataset *d, const char *test, double read_pct,
		       int64_t block_bytes)
{
	for (unsigned i = 0; i < d->n_na; i++)
		if (!strcmp(d->na[i].test, test) && d->na[i].block_bytes == block_bytes &&
		    !(fabs(d->na[i].read_pct - read_pct) > 1e-9))
			return d->na[i].reason;
	return NULL;
}
