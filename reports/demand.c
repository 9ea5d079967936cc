/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/demand.h"

/* ---- which tests ---- */

static bool is_loop_cell(const struct combo *c)
{
	return c->threads > 0 && c->qd > 0;
}

/* Thread counts and depths both vary within one access. */
static bool has_shape(const struct section *s)
{
	const struct combo *first = s->n_combos ? &s->combo[0] : NULL;
	bool tc = false, qd = false;

	for (unsigned i = 0; i < s->n_combos; i++) {
		const struct combo *c = &s->combo[i];
		if (!is_loop_cell(c) || strcmp(c->access, first->access))
			return false;
		tc |= c->threads != first->threads;
		qd |= c->qd != first->qd;
	}
	return tc && qd;
}

bool demand_is_cbw(const struct test *t)
{
	return !strcmp(t->clause, "CBW") || !strcmp(t->clause, "ECW") || !strcmp(t->name, "cbw");
}

bool demand_is(const struct test *t)
{
	if (demand_is_cbw(t) || !strcmp(t->clause, "DIRTH") || strstr(t->name, "dirth"))
		return true;
	for (unsigned i = 0; i < t->n_sections; i++)
		if (has_shape(&t->section[i]))
			return true;
	return false;
}

/* ---- the matrix ---- */

/* Adds @v to a list that falls; returns whether it is there. */
static bool add_falling(int *list, unsigned *n, int v)
{
	unsigned at = 0;

	while (at < *n && list[at] > v)
		at++;
	if (at < *n && list[at] == v)
		return true;
	if (*n == DEMAND_MAX)
		return false;
	memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
	list[at] = v;
	++*n;
	return true;
}

static unsigned place_of(const int *list, unsigned n, int v)
{
	unsigned i = 0;

	while (i < n && list[i] != v)
		i++;
	return i;
}

static void fill_matrix(struct demand *m)
{
	const struct section *s = m->dv;

	for (unsigned i = 0; s && i < s->n_combos; i++) {
		if (!is_loop_cell(&s->combo[i]))
			continue;
		add_falling(m->tc, &m->n_tc, s->combo[i].threads);
		add_falling(m->qd, &m->n_qd, s->combo[i].qd);
	}
	for (unsigned i = 0; s && i < s->n_combos; i++) {
		const struct combo *c = &s->combo[i];
		unsigned a = place_of(m->tc, m->n_tc, c->threads);
		unsigned b = place_of(m->qd, m->n_qd, c->qd);
		if (a == m->n_tc || b == m->n_qd || m->cell[a][b])
			continue;
		m->cell[a][b] = c;
		m->n_cells++;
		m->n_results += c->n_window > 0;
	}
}

/* ---- groups of one total OIO ---- */

static struct demand_toio *toio_of(struct demand *m, int toio)
{
	unsigned at = 0;

	while (at < m->n_toio && m->toio[at].toio < toio)
		at++;
	if (at < m->n_toio && m->toio[at].toio == toio)
		return &m->toio[at];
	memmove(m->toio + at + 1, m->toio + at, (m->n_toio - at) * sizeof *m->toio);
	m->n_toio++;
	m->toio[at] = (struct demand_toio){ .toio = toio };
	return &m->toio[at];
}

static void toio_means(struct demand_toio *g)
{
	double iops = 0, bytes = 0, art = 0, ios = 0, p = 0, cpu = 0;
	unsigned n_p = 0;

	for (unsigned i = 0; i < g->pairs; i++) {
		const struct combo *c = g->cell[i];
		if (!c->n_window)
			continue;
		g->n++;
		iops += c->iops;
		bytes += c->bytes_per_s;
		art += c->ios ? (double)c->ios * c->art_ns : 0;
		ios += (double)c->ios;
		cpu += combo_cpu_total(c);
		if (c->p99999_ns >= 0) {
			p += (double)c->p99999_ns;
			n_p++;
		}
	}
	g->iops = g->n ? iops / g->n : NAN;
	g->bytes_per_s = g->n ? bytes / g->n : NAN;
	g->art_ns = ios > 0 ? art / ios : NAN;
	g->p99999_ns = n_p ? p / n_p : NAN;
	g->cpu_total_pct = g->n ? cpu / g->n : NAN;
}

static void group_by_toio(struct demand *m)
{
	for (unsigned i = 0; i < m->n_tc; i++) {
		for (unsigned k = 0; k < m->n_qd; k++) {
			if (!m->cell[i][k])
				continue;
			struct demand_toio *g = toio_of(m, m->tc[i] * m->qd[k]);
			g->cell[g->pairs++] = m->cell[i][k];
		}
	}
	for (unsigned i = 0; i < m->n_toio; i++)
		toio_means(&m->toio[i]);
}

/* Sum of its service times: of a cell at a rate, art is that of the responses, and little_pct tells of the service. */
static double service_ns(const struct measure *m)
{
	if (m->rate_iops > 0)
		return (1 + m->little_pct / 100) * m->inflight_avg * (double)m->elapsed_ns;
	return (double)m->ios * m->art_ns;
}

/* Little's law over the rounds of the window: IOs a second x service time against what was in flight, by time. */
static double little_off_pct(const struct combo *c)
{
	double service = 0, ns = 0;

	for (unsigned i = 0; i < c->n_window; i++) {
		service += service_ns(c->window[i]);
		ns += (double)c->window[i]->elapsed_ns;
	}
	return 100 * fabs(service / ns / c->inflight - 1);
}

static void check_little(struct demand *m)
{
	m->little_worst_pct = NAN;
	for (unsigned i = 0; i < m->n_tc; i++) {
		for (unsigned k = 0; k < m->n_qd; k++) {
			const struct combo *c = m->cell[i][k];
			if (!c || !c->n_window || !(c->iops > 0))
				continue;
			double off = little_off_pct(c);
			if (isfinite(off) && !(off <= m->little_worst_pct)) {
				m->little_worst_pct = off;
				m->little_cell = c;
			}
		}
	}
}

/* ---- operating points, their pre-writes and histograms ---- */

static struct demand_point *point_add(struct demand *m, struct arena *a, const char *key)
{
	struct demand_point *p = &m->point[m->n_points++];
	char *word = arena_strdup(a, *key ? key : "?");

	if (*word >= 'a' && *word <= 'z')
		*word = (char)(*word - 'a' + 'A');
	*p = (struct demand_point){ .key = key, .name = arena_fmt(a, "%s IOPS", word) };
	p->minute = arena_array(a, const struct measure *, DEMAND_MINUTES);
	return p;
}

/* Max, Mid, Min in the order of the pages; any others after them. */
static void list_points(struct demand *m, const struct dataset *d, struct arena *a)
{
	static const char *const order[] = { "max", "mid", "min" };
	enum { N = sizeof order / sizeof order[0] };

	for (unsigned o = 0; o <= N; o++) {
		for (unsigned i = 0; i < d->n_points && m->n_points < DEMAND_POINTS; i++) {
			const struct operating_point *p = &d->point[i];
			unsigned rank = 0;
			while (rank < N && strcmp(order[rank], p->point))
				rank++;
			if (strcmp(p->test, m->t->name) || rank != o)
				continue;
			struct demand_point *x = point_add(m, a, p->point);
			unsigned tc = place_of(m->tc, m->n_tc, p->threads);
			unsigned qd = place_of(m->qd, m->n_qd, p->qd);
			x->op = p;
			if (tc < m->n_tc && qd < m->n_qd)
				x->cell = m->cell[tc][qd];
		}
	}
}

/* The first point of this depth that has no histogram yet: two points may share a cell. */
static struct demand_point *point_at(struct demand *m, const struct measure *x)
{
	struct demand_point *last = NULL;

	for (unsigned i = 0; i < m->n_points; i++) {
		struct demand_point *p = &m->point[i];
		if (p->op->threads != x->threads || p->op->qd != x->qd)
			continue;
		last = p;
		if (!p->hist && (!p->n_minutes || p->minute[0]->step == x->step ||
				 !strcmp(x->phase, "histogram")))
			return p;
	}
	return last && !last->hist ? last : NULL;
}

static const struct capture_hist *capture_of(const struct section *s, const struct measure *x)
{
	for (unsigned i = 0; i < s->n_hists; i++)
		if (s->hist[i].m == x)
			return &s->hist[i];
	return NULL;
}

/* In the order measured: pre-write, histogram, next point. */
static void fill_points(struct demand *m, const struct dataset *d)
{
	for (unsigned i = 0; m->dv && i < d->n_measures; i++) {
		const struct measure *x = &d->measure[i];
		bool hist = !strcmp(x->phase, "histogram"), pre = !strcmp(x->phase, "prewrite");
		if (!measure_counts(x, m->t) || x->section != m->dv->number || (!hist && !pre))
			continue;
		struct demand_point *p = point_at(m, x);
		if (p && hist)
			p->hist = capture_of(m->dv, x);
		else if (p && p->n_minutes < DEMAND_MINUTES)
			p->minute[p->n_minutes++] = x;
	}
}

static void fill_irpw(struct demand *m, const struct dataset *d, struct arena *a)
{
	m->irpw = arena_array(a, const struct measure *, DEMAND_MINUTES);
	for (unsigned i = 0; m->dv && i < d->n_measures && m->n_irpw < DEMAND_MINUTES; i++) {
		const struct measure *x = &d->measure[i];
		if (measure_counts(x, m->t) && x->section == m->dv->number &&
		    !strcmp(x->phase, "irpw"))
			m->irpw[m->n_irpw++] = x;
	}
}

/* The loop over TC and QD is that with the most cells; what stands before it is the preconditioning. */
static void find_sections(struct demand *m)
{
	for (unsigned i = 0; i < m->t->n_sections; i++) {
		const struct section *s = &m->t->section[i];
		if (has_shape(s) || s->n_combos > 1 || (i && !m->dv))
			m->dv = m->dv && m->dv->n_combos >= s->n_combos ? m->dv : s;
	}
	for (unsigned i = 0; i < m->t->n_sections && !m->pre; i++)
		if (&m->t->section[i] != m->dv)
			m->pre = &m->t->section[i];
	if (m->pre && m->dv && m->pre->number > m->dv->number)
		m->pre = NULL;
}

void demand_init(struct demand *m, const struct dataset *d, const struct test *t, struct arena *a)
{
	*m = (struct demand){ .t = t };
	find_sections(m);
	fill_matrix(m);
	group_by_toio(m);
	check_little(m);
	list_points(m, d, a);
	fill_points(m, d);
	fill_irpw(m, d, a);
}

/* ---- means over the window ---- */

static double mean(const double *v, unsigned n)
{
	double sum = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += isfinite(v[i]) ? v[i] : 0;
		k += isfinite(v[i]) != 0;
	}
	return k ? sum / k : NAN;
}

double combo_cpu_sys(const struct combo *c)
{
	double v[WINDOW_ROUNDS];

	for (unsigned i = 0; i < c->n_window; i++)
		v[i] = c->window[i]->cpu_sys_pct;
	return mean(v, c->n_window);
}

double combo_cpu_total(const struct combo *c)
{
	double v[WINDOW_ROUNDS];

	for (unsigned i = 0; i < c->n_window; i++)
		v[i] = c->window[i]->cpu_total_pct;
	return mean(v, c->n_window);
}

double combo_inflight(const struct combo *c)
{
	return c->inflight;
}

double combo_threads_seen(const struct combo *c)
{
	double v[WINDOW_ROUNDS];

	for (unsigned i = 0; i < c->n_window; i++)
		v[i] = c->window[i]->threads_seen < 0 ? NAN : c->window[i]->threads_seen;
	return mean(v, c->n_window);
}
