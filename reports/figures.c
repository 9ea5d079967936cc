/* SPDX-License-Identifier: MIT */
#include "reports/figures.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "reports/access_text.h"
#include "reports/bounded.h"
#include "reports/demand_priv.h"
#include "reports/load_curve.h"
#include "reports/rwsw.h"
#include "reports/scale.h"
#include "reports/sheet.h"

#define CELLS_MAX 12 /* of a loop that are told one by one; of larger ones those of the Summary */

struct list {
	const struct dataset *d;
	struct arena *a;
	struct figure *v;
	unsigned n, cap;
};

static bool is_steady(const struct test *t)
{
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].steady == 0)
			return false;
	return t->steady != 0;
}

const char *why_no_result(const struct test *t, const struct section *s)
{
	if (!t || !t->attempt)
		return "not run";
	if (!t->finished)
		return "not finished";
	if (!strcmp(t->verdict, "failed"))
		return "failed";
	if (s ? s->steady == 0 : !is_steady(t))
		return "not steady";
	/* an exact replay outside its limits; a section of a test stands for itself */
	return t->status == STATUS_NOT_VALID && is_steady(t) ? "not valid" : NULL;
}

static struct figure *add(struct list *l, const struct test *t, enum figure_kind kind,
			  const struct section *s)
{
	if (l->n == l->cap) {
		l->cap = l->cap * 2 + 32;
		struct figure *v = arena_array(l->a, struct figure, l->cap);
		if (l->n)
			memcpy(v, l->v, l->n * sizeof *v);
		l->v = v;
	}
	struct figure *f = &l->v[l->n++];
	*f = (struct figure){ .kind = kind,
			      .t = t,
			      .access = "-",
			      .what = "-",
			      .tcqd = "-",
			      .pattern = "",
			      .read_pct = NAN,
			      .iops = NAN,
			      .bytes_per_s = NAN,
			      .art_ns = NAN,
			      .p99999_ns = NAN,
			      .cv = NAN,
			      .inside = true,
			      .why = why_no_result(t, s) };
	return f;
}

static double ns_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
}

static bool is_plain(const struct measure *m)
{
	return (!strncasecmp(m->access, "rnd", 3) || !strncasecmp(m->access, "seq", 3)) &&
	       m->block_bytes > 0 && isfinite(m->read_pct);
}

const char *access_title(struct arena *a, const struct measure *m)
{
	if (!is_plain(m))
		return *m->access ? m->access : "idle";
	const char *dir = m->read_pct >= 100 ? "R"
			  : m->read_pct <= 0 ? "W"
					     : mix_text(a, m->read_pct);
	return arena_fmt(a, "%s %s KiB %s", strncasecmp(m->access, "seq", 3) ? "RND" : "SEQ",
			 kib_text(a, m->block_bytes), dir);
}

/* What its one stream is, where it has no more than one. */
static void set_access(struct figure *f, struct arena *a, const struct measure *m)
{
	struct access_mix *mix = arena_new(a, struct access_mix);

	f->access = access_title(a, m);
	f->block_bytes = m->block_bytes > 0 ? m->block_bytes : 0;
	f->read_pct = m->read_pct;
	if (access_parse(f->t->plan, m->access, mix) && mix->n_sizes == 1)
		f->pattern = mix->size[0].pattern;
	else if (is_plain(m))
		f->pattern = strncasecmp(m->access, "seq", 3) ? "RND" : "SEQ";
}

static void set_measure(struct list *l, struct figure *f, const struct measure *m, const char *tail)
{
	set_access(f, l->a, m);
	f->what = *tail ? arena_fmt(l->a, "%s, %s", f->access, tail) : f->access;
	f->tcqd = tcqd_text(l->a, m->threads, m->qd);
	f->iops = m->iops;
	f->bytes_per_s = m->bytes_per_s;
	f->art_ns = m->ios ? m->art_ns : NAN;
	f->p99999_ns = ns_of(m->p99999_ns);
}

static void set_combo(struct list *l, struct figure *f, const struct combo *c, const char *tail)
{
	f->access = c->title;
	f->pattern = c->block_bytes > 0 && strcmp(c->pattern, "MIX") ? c->pattern : "";
	f->block_bytes = c->block_bytes > 0 ? c->block_bytes : 0;
	f->read_pct = c->read_pct;
	f->what = *tail ? arena_fmt(l->a, "%s, %s", c->title, tail) : c->title;
	f->tcqd = tcqd_text(l->a, c->threads, c->qd);
	if (!c->n_window)
		return;
	f->iops = c->iops;
	f->bytes_per_s = c->bytes_per_s;
	f->art_ns = c->art_ns;
	f->p99999_ns = ns_of(c->p99999_ns);
	f->cv = c->iops_cv;
}

/* ---- demand variation ---- */

static void add_point(struct list *l, const struct demand *m, const struct demand_point *p)
{
	struct figure *f = add(l, m->t, FIGURE_MAX, NULL);

	if (p->cell)
		set_combo(l, f, p->cell, "Max IOPS");
	f->access = demand_access(l->a, m);
	f->what = arena_fmt(l->a, "%s, Max IOPS", f->access);
	f->tcqd = tcqd_text(l->a, p->op->threads, p->op->qd);
	f->iops = p->op->iops;
	f->art_ns = p->op->art_ns;
	f->p99999_ns = ns_of(p->op->p99999_ns);
}

static void add_demand(struct list *l, const struct test *t)
{
	struct arena heap = { 0 }; /* too large for the stack, and soon done with */
	struct demand *m = arena_new(&heap, struct demand);

	demand_init(m, l->d, t, l->a);
	for (unsigned i = 0; i < m->n_points; i++)
		if (!strcmp(m->point[i].key, "max"))
			add_point(l, m, &m->point[i]);
	arena_release(&heap);
}

/* ---- curves, bounds, drives ---- */

static void add_curves(struct list *l, const struct test *t)
{
	struct load_curve *c = arena_array(l->a, struct load_curve, CURVE_LOADS);
	unsigned n = load_curves(l->d, t, c);

	for (unsigned i = 0; i < n; i++)
		if (c[i].maximum)
			set_measure(l, add(l, t, FIGURE_PEAK, c[i].s), c[i].maximum, "peak");
}

static void add_bounds(struct list *l, const struct test *t)
{
	struct bounded *b = arena_array(l->a, struct bounded, BOUNDED_LOADS);
	unsigned n = bounded_loads(l->d, t, b);

	for (unsigned i = 0; i < n; i++) {
		const struct measure *m = bounded_best(&b[i]);
		if (!m)
			continue;
		struct figure *f = add(l, t, FIGURE_BEST, b[i].s);
		set_measure(l, f, m, arena_fmt(l->a, "ART below %s", bounded_limit(&b[i], l->a)));
		f->inside = bounded_inside(&b[i], m);
	}
}

static void add_scales(struct list *l, const struct test *t)
{
	struct arena heap = { 0 };
	struct scale_load *s = arena_array(&heap, struct scale_load, SCALE_LOADS);
	unsigned n = scale_loads(l->d, t, s);
	for (unsigned i = 0; i < n; i++) {
		const struct measure *m = scale_best(&s[i], s[i].n_drives - 1);
		if (m)
			set_measure(l, add(l, t, FIGURE_SCALE, NULL), m, "fastest thread count");
	}
	arena_release(&heap);
}

/* ---- captures ---- */

static void add_replay(struct list *l, const struct replay *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct replay_scale *s = &r->scale[i];
		struct figure *f = add(l, r->test, FIGURE_REPLAY, NULL);
		f->access = l->d->rwsw->cap.name;
		f->what = arena_fmt(l->a, "%s, replay %s", f->access, s->name);
		f->tcqd = s->oio_high ? arena_fmt(l->a, "OIO %s",
						  rwsw_range(l->a, s->oio_low, s->oio_high))
				      : "-";
		f->iops = s->iops;
		f->bytes_per_s = s->bytes_per_s;
		f->art_ns = s->art_ns;
		f->p99999_ns = ns_of(s->levels.p99999_ns);
	}
	if (!r->cell || r->cell->partial)
		return;
	struct figure *f = add(l, r->test, FIGURE_REPLAY, NULL);
	set_measure(l, f, r->cell, "");
	f->what = "exact replay";
	f->art_ns = r->service.art_ns;
	f->p99999_ns = ns_of(r->service.p99999_ns);
}

static void add_streams(struct list *l, const struct test *t)
{
	struct stream_alone *s = arena_array(l->a, struct stream_alone, t->n_sections + 1);
	unsigned n = rwsw_alone(l->d, t, l->a, s);

	for (unsigned i = 0; i < n; i++) {
		if (!s[i].combo)
			continue;
		struct figure *f = add(l, t, FIGURE_STREAM, s[i].section);
		set_combo(l, f, s[i].combo, "");
		f->what = arena_fmt(l->a, "%s, stream alone", s[i].name);
	}
}

/* ---- all other tests ---- */

static bool is_shown(const struct list *l, const struct test *t, const struct combo *c)
{
	for (unsigned i = 0; i < l->d->n_results; i++)
		if (l->d->result[i].test == t && !strcmp(l->d->result[i].access, c->title))
			return true;
	return false;
}

static void add_cells(struct list *l, const struct test *t)
{
	bool lat = !strcmp(t->name, "lat"); /* reports the mean of the rounds' ARTs (spec 9) */

	for (unsigned i = 0; i < t->n_sections; i++) {
		const struct section *s = &t->section[i];
		for (unsigned k = 0; k < s->n_combos; k++) {
			if (s->n_combos > CELLS_MAX && !is_shown(l, t, &s->combo[k]))
				continue;
			struct figure *f = add(l, t, FIGURE_CELL, s);
			set_combo(l, f, &s->combo[k], t->n_sections > 1 ? s->label : "");
			if (lat && s->combo[k].n_window)
				f->art_ns = s->combo[k].art_rounds_ns;
		}
	}
}

static bool is_free_step(const struct measure *m, const struct test *t)
{
	return measure_counts(m, t) && !strcmp(m->phase, "step") && m->ios && !(m->rate_iops > 0);
}

static void add_steps(struct list *l, const struct test *t)
{
	unsigned first = l->n;

	for (unsigned i = 0; i < l->d->n_measures; i++) {
		const struct measure *m = &l->d->measure[i];
		unsigned k = first;
		if (!is_free_step(m, t))
			continue;
		const char *title = access_title(l->a, m);
		while (k < l->n && strcmp(l->v[k].access, title))
			k++;
		if (k == l->n)
			add(l, t, FIGURE_STEP, section_at(t, m->section));
		else if (!(m->iops > l->v[k].iops))
			continue;
		set_measure(l, &l->v[k], m, "");
	}
}

static void add_test(struct list *l, const struct test *t)
{
	switch (sheet_kind(t)) {
	case SHEET_DIRTH:
	case SHEET_CBW:
		add_demand(l, t);
		break;
	case SHEET_CURVE:
		add_curves(l, t);
		break;
	case SHEET_BOUNDED:
		add_bounds(l, t);
		break;
	case SHEET_SCALE:
		add_scales(l, t);
		break;
	case SHEET_REPLAY:
		if (rwsw_replay(l->d, t))
			add_replay(l, rwsw_replay(l->d, t));
		break;
	case SHEET_STREAMS:
		if (l->d->rwsw)
			add_streams(l, t);
		break;
	case SHEET_GENERAL:
		add_cells(l, t);
		add_steps(l, t);
		break;
	default:
		add_cells(l, t);
	}
}

unsigned figures_load(const struct dataset *d, struct arena *a, struct figure **ret)
{
	struct list l = { .d = d, .a = a };

	for (unsigned i = 0; i < d->n_tests; i++)
		if (d->test[i].attempt)
			add_test(&l, &d->test[i]);
	*ret = l.v;
	return l.n;
}
