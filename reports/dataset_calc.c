/* SPDX-License-Identifier: MIT */
/* Windows, means and tracked variables of the tests (spec 5, 7, 8, 9). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pts/base/units.h"
#include "reports/dataset.h"
#include "reports/rwsw.h"
#include "reports/states.h"
#include "schema/read.h"

const char *mix_text(struct arena *a, double read_pct)
{
	if (!isfinite(read_pct))
		return "-";
	return arena_fmt(a, "%.4g/%.4g", read_pct, 100 - read_pct);
}

const char *kib_text(struct arena *a, int64_t bytes)
{
	return bytes <= 0 ? "mixed" : arena_fmt(a, "%.6g", (double)bytes / 1024);
}

const char *tcqd_text(struct arena *a, int threads, int qd)
{
	return threads < 0 || qd < 0 ? "-" : arena_fmt(a, "T%dQ%d", threads, qd);
}

double unit_shown(enum unit u, double base)
{
	return u == UNIT_IOPS ? base : base / 1e6;
}

const char *unit_name(enum unit u)
{
	return u == UNIT_IOPS ? "IOPS" : u == UNIT_BYTES_PER_S ? "MB/s" : "ms";
}

const char *window_text(struct arena *a, const struct section *s)
{
	if (s->steady == 0)
		return arena_fmt(a, "%d tried", s->rounds);
	if (s->window_first < 0 || s->steady < 0)
		return "-";
	return arena_fmt(a, "%d-%d", s->window_first, s->window_last);
}

/* Rounds that the means of a section are made of: the window; without one, for information, the last up to five. */
static int mean_first(const struct section *s, int *ret_last)
{
	*ret_last = s->window_last > 0 ? s->window_last : *s->ended_by ? s->rounds : 0;
	if (*ret_last <= 0)
		return 0;
	return *ret_last > WINDOW_ROUNDS ? *ret_last - WINDOW_ROUNDS + 1 : 1;
}

const char *mean_text(struct arena *a, const struct section *s)
{
	int last, first = mean_first(s, &last);

	return first > 0 ? arena_fmt(a, "%d-%d", first, last) : "-";
}

const char *steady_text(struct arena *a, const struct test *t, const struct section *s)
{
	if (s && s->steady < 0) /* its test ended before the loop did */
		return plan_has_rule(t->plan, s->number) ? "NOT REACHED" : "n.a.";
	if (s)
		return s->steady == 0 ? "NOT REACHED"
				      : arena_fmt(a, "REACHED %s", window_text(a, s));
	if (!t->finished)
		return t->attempt ? "NOT FINISHED" : "NOT RUN";
	if (!t->has_rule)
		return "n.a.";
	if (t->n_sections == 1)
		return steady_text(a, t, &t->section[0]);
	const char *list = "";
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].steady == 0)
			list = arena_fmt(a, "%s%s%s", list, *list ? ", " : "", t->section[i].label);
	if (!*list)
		return t->steady == 1 ? "REACHED" : "NOT REACHED";
	return arena_fmt(a, "NOT REACHED (%s)", list);
}

static const char *pattern_of(const char *access)
{
	if (!strncasecmp(access, "seq", 3))
		return "SEQ";
	return strncasecmp(access, "rnd", 3) ? "MIX" : "RND";
}

static const char *combo_title(struct arena *a, const struct combo *c)
{
	if (c->block_bytes <= 0 || !isfinite(c->read_pct))
		return *c->access ? c->access : "idle";
	const char *dir = c->read_pct >= 100 ? "R"
			  : c->read_pct <= 0 ? "W"
					     : mix_text(a, c->read_pct);
	return arena_fmt(a, "%s %s KiB %s", c->pattern, kib_text(a, c->block_bytes), dir);
}

/* ---- combinations ---- */

bool measure_counts(const struct measure *m, const struct test *t)
{
	return !strcmp(m->test, t->name) && m->attempt == t->attempt && m->member < 0 &&
	       !m->partial && !m->void_;
}

bool measure_is_step(const struct measure *m)
{
	static const char *const phases[] = { "step",	  "maximum", "histogram", "baseline",
					      "stimulus", "replay",  NULL };

	for (unsigned i = 0; phases[i]; i++)
		if (!strcmp(m->phase, phases[i]))
			return true;
	return false;
}

static bool same_num(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

static struct combo *combo_of(struct section *s, const struct measure *m)
{
	for (unsigned i = 0; i < s->n_combos; i++) {
		struct combo *c = &s->combo[i];
		if (same_num(c->read_pct, m->read_pct) && c->block_bytes == m->block_bytes &&
		    c->threads == m->threads && c->qd == m->qd && !strcmp(c->label, m->label) &&
		    !strcmp(c->access, m->access))
			return c;
	}
	return NULL;
}

static struct combo *combo_add(struct dataset *d, struct section *s, const struct measure *m)
{
	if ((s->n_combos & (s->n_combos - 1)) == 0) { /* room doubles at each power of two */
		struct combo *v = arena_array(&d->arena, struct combo, s->n_combos * 2 + 1);
		if (s->n_combos)
			memcpy(v, s->combo, s->n_combos * sizeof *v);
		s->combo = v;
	}
	struct combo *c = &s->combo[s->n_combos++];
	*c = (struct combo){ .read_pct = m->read_pct,
			     .block_bytes = m->block_bytes,
			     .threads = m->threads,
			     .qd = m->qd,
			     .label = m->label,
			     .access = m->access,
			     .pattern = pattern_of(m->access),
			     .p50_ns = -1,
			     .p99_ns = -1,
			     .p999_ns = -1,
			     .p9999_ns = -1,
			     .p99999_ns = -1,
			     .mrt_ns = -1 };
	c->title = combo_title(&d->arena, c);
	c->n_rounds = s->rounds > 0 ? (unsigned)s->rounds : 0;
	c->round = arena_array(&d->arena, const struct measure *, c->n_rounds + 1);
	return c;
}

static bool of_a_round(const struct measure *m)
{
	return !strcmp(m->phase, "round") || !strcmp(m->phase, "sample");
}

static void collect(struct dataset *d, const struct test *t, struct section *s)
{
	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		if (!measure_counts(m, t) || m->section != s->number)
			continue;
		if (!strcmp(m->phase, "wipc")) {
			s->fill = s->fill ? s->fill : m;
			s->fill_bytes += m->bytes;
		}
		if (!of_a_round(m) || m->round < 1 || m->round > s->rounds)
			continue;
		struct combo *c = combo_of(s, m);
		if (!c)
			c = combo_add(d, s, m);
		c->round[m->round - 1] = m;
	}
}

double coefficient_of_variation(const double *v, unsigned n, double mean)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return n < 2 || mean == 0 ? NAN : sqrt(sum / (n - 1)) / fabs(mean);
}

static double mean_of(const double *v, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / n : NAN;
}

double measures_art(const struct measure *const *m, unsigned n)
{
	double sum = 0, ios = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += m[i]->ios && isfinite(m[i]->art_ns) ? m[i]->art_ns * (double)m[i]->ios : 0;
		ios += isfinite(m[i]->art_ns) ? (double)m[i]->ios : 0;
	}
	return ios > 0 ? sum / ios : NAN;
}

static double time_weighted(const struct combo *c)
{
	double sum = 0, ns = 0;

	for (unsigned i = 0; i < c->n_window; i++) {
		const struct measure *m = c->window[i];
		sum += isfinite(m->inflight_avg) ? m->inflight_avg * (double)m->elapsed_ns : 0;
		ns += isfinite(m->inflight_avg) ? (double)m->elapsed_ns : 0;
	}
	return ns > 0 ? sum / ns : NAN;
}

static void combo_means(struct combo *c, const struct section *s)
{
	double iops[WINDOW_ROUNDS], bytes[WINDOW_ROUNDS], art[WINDOW_ROUNDS], mrt[WINDOW_ROUNDS];
	int last, first = mean_first(s, &last);

	c->iops = c->bytes_per_s = c->art_ns = c->iops_cv = c->bytes_cv = c->art_cv = NAN;
	c->art_rounds_ns = c->mrt_rounds_ns = c->inflight = NAN;
	for (int r = first; first > 0 && r <= last; r++) {
		const struct measure *m = r <= (int)c->n_rounds ? c->round[r - 1] : NULL;
		if (!m) { /* a round without this cell: no window */
			c->n_window = 0;
			return;
		}
		iops[c->n_window] = m->iops;
		bytes[c->n_window] = m->bytes_per_s;
		art[c->n_window] = m->art_ns;
		mrt[c->n_window] = m->mrt_ns < 0 ? NAN : (double)m->mrt_ns;
		c->window[c->n_window++] = m;
		if (m->mrt_ns > c->mrt_ns)
			c->mrt_ns = m->mrt_ns;
	}
	c->iops = mean_of(iops, c->n_window);
	c->bytes_per_s = mean_of(bytes, c->n_window);
	c->art_ns = measures_art(c->window, c->n_window);
	c->art_rounds_ns = mean_of(art, c->n_window);
	c->mrt_rounds_ns = mean_of(mrt, c->n_window);
	c->inflight = time_weighted(c);
	c->iops_cv = coefficient_of_variation(iops, c->n_window, c->iops);
	c->bytes_cv = coefficient_of_variation(bytes, c->n_window, c->bytes_per_s);
	c->art_cv = coefficient_of_variation(art, c->n_window, c->art_rounds_ns);
}

int measure_hist(struct dataset *d, int64_t cell, struct hist *h, struct err *err)
{
	uint64_t before = h->n;
	int rc = read_hist(d->reader, cell, "R", "response", h, err);

	if (!rc)
		rc = read_hist(d->reader, cell, "W", "response", h, err);
	if (rc || h->n != before)
		return rc;
	rc = read_hist(d->reader, cell, "R", "service", h, err);
	if (!rc)
		rc = read_hist(d->reader, cell, "W", "service", h, err);
	return rc;
}

/* 99.999 % of the merged histograms of the window (spec 9: R and W in one distribution, by IO count). */
static int combo_percentile(struct dataset *d, struct combo *c, struct hist *h, struct err *err)
{
	struct levels l;
	int rc = 0;

	hist_reset(h);
	for (unsigned i = 0; !rc && i < c->n_window; i++)
		rc = measure_hist(d, c->window[i]->cell_id, h, err);
	levels_of(h, &l);
	c->ios = l.n;
	c->p50_ns = l.p50_ns;
	c->p99_ns = l.p99_ns;
	c->p999_ns = l.p999_ns;
	c->p9999_ns = l.p9999_ns;
	c->p99999_ns = l.p99999_ns;
	c->above = l.above;
	return rc;
}

static int load_captures(struct dataset *d, const struct test *t, struct section *s,
			 struct err *err)
{
	enum { MAX = 64 };
	int rc = 0;

	s->hist = arena_array(&d->arena, struct capture_hist, MAX);
	for (unsigned i = 0; !rc && i < d->n_measures && s->n_hists < MAX; i++) {
		const struct measure *m = &d->measure[i];
		if (!measure_counts(m, t) || m->section != s->number ||
		    strcmp(m->phase, "histogram"))
			continue;
		struct capture_hist *c = &s->hist[s->n_hists++];
		c->m = m;
		c->hist = hist_new();
		rc = measure_hist(d, m->cell_id, c->hist, err);
	}
	return rc;
}

/* ---- tracked variables ---- */

/* "iops of rw 0/100 bs 4k threads 32": what stands behind a word, or NULL. */
static const char *word_after(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		if ((p == text || p[-1] == ' ') && p[n] == ' ')
			return p + n + 1;
	return NULL;
}

static const struct combo *tracked_combo(const struct section *s, const char *variable)
{
	const char *rw = word_after(variable, "rw"), *bs = word_after(variable, "bs");
	const char *tc = word_after(variable, "threads"), *qd = word_after(variable, "qd");
	char size[32] = "";
	uint64_t bytes = 0;

	if (bs)
		snprintf(size, sizeof size, "%.*s", (int)strcspn(bs, " "), bs);
	if (bs && parse_size(size, &bytes))
		return NULL;
	const struct combo *found = NULL;
	for (unsigned i = 0; i < s->n_combos; i++) {
		const struct combo *c = &s->combo[i];
		if ((rw && fabs(c->read_pct - strtod(rw, NULL)) > 1e-9) ||
		    (bs && c->block_bytes != (int64_t)bytes) ||
		    (tc && c->threads != (int)strtol(tc, NULL, 10)) ||
		    (qd && c->qd != (int)strtol(qd, NULL, 10)))
			continue;
		if (found) /* not one cell only */
			return NULL;
		found = c;
	}
	return found;
}

static enum unit unit_of(const char *variable)
{
	return !strncmp(variable, "art", 3)	       ? UNIT_NS
	       : !strncmp(variable, "bytes_per_s", 11) ? UNIT_BYTES_PER_S
						       : UNIT_IOPS;
}

/* "RND 4 KiB R/W 0/100"; with TC/QD where the variable names them. */
static const char *track_title(struct arena *a, const struct track *t)
{
	const struct combo *c = t->combo;
	const char *depth = c && word_after(t->variable, "threads")
				    ? tcqd_text(a, c->threads, c->qd)
				    : "";
	const char *gap = *depth ? " " : "";

	if (!c)
		return t->variable;
	if (c->block_bytes <= 0 || !isfinite(c->read_pct))
		return *c->access ? arena_fmt(a, "%s%s%s", c->access, gap, depth) : t->variable;
	return arena_fmt(a, "%s %s KiB R/W %s%s%s", c->pattern, kib_text(a, c->block_bytes),
			 mix_text(a, c->read_pct), gap, depth);
}

static struct track *track_of(struct dataset *d, struct section *s, const char *variable)
{
	enum { MAX = 16 };

	for (unsigned i = 0; i < s->n_tracks; i++)
		if (!strcmp(s->track[i].variable, variable))
			return &s->track[i];
	if (s->n_tracks == MAX)
		return NULL;
	if (!s->track)
		s->track = arena_array(&d->arena, struct track, MAX);
	struct track *t = &s->track[s->n_tracks++];
	t->variable = arena_strdup(&d->arena, variable);
	t->unit = unit_of(variable);
	t->n = s->rounds > 0 ? (unsigned)s->rounds : 0;
	t->value = arena_array(&d->arena, double, t->n + 1);
	for (unsigned i = 0; i < t->n; i++)
		t->value[i] = NAN;
	t->combo = tracked_combo(s, variable);
	t->title = track_title(&d->arena, t);
	return t;
}

static int load_values(struct dataset *d, const struct test *t, struct section *s, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT variable, round, value FROM v_round WHERE run_id = ?"
				   " AND test = ? AND attempt = ? AND section = ? AND NOT void"
				   " ORDER BY round",
				   "itii", d->run_id, t->name, (int64_t)t->attempt,
				   (int64_t)s->number);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct track *k = track_of(d, s, rows_text(q, 0));
		int64_t round = rows_int(q, 1);
		if (k && round >= 1 && round <= k->n)
			k->value[round - 1] = rows_num(q, 2);
	}
	return rows_close(q, err);
}

static struct check_row *check_from(struct arena *a, struct rows *q)
{
	struct check_row *c = arena_new(a, struct check_row);
	double *num[] = { &c->average,	 &c->range,	      &c->range_allowed, &c->slope,
			  &c->intercept, &c->slope_excursion, &c->slope_allowed, &c->correlation };
	int col = 1;

	c->round = (int)rows_int(q, col++);
	c->first_round = (int)rows_int(q, col++);
	for (unsigned i = 0; i < WINDOW_ROUNDS; i++)
		c->y[i] = rows_num(q, col++);
	for (unsigned i = 0; i < sizeof num / sizeof num[0]; i++)
		*num[i] = rows_num(q, col++);
	c->steady = rows_int(q, col) != 0;
	return c;
}

/* The check that decided: of the last round of the window. */
static int load_checks(struct dataset *d, const struct test *t, struct section *s, struct err *err)
{
	struct rows *q = read_rows(d->reader, err,
				   "SELECT variable, round, first_round, y1, y2, y3, y4, y5,"
				   " average, range, range_allowed, slope, intercept,"
				   " slope_excursion, slope_allowed, correlation, steady"
				   " FROM v_steady WHERE run_id = ? AND test = ? AND attempt = ?"
				   " AND section = ? AND round = ? ORDER BY round_try",
				   "itiii", d->run_id, t->name, (int64_t)t->attempt,
				   (int64_t)s->number, (int64_t)s->window_last);

	if (!q)
		return -EIO;
	while (rows_next(q) == 1) {
		struct track *k = track_of(d, s, rows_text(q, 0));
		if (k)
			k->check = check_from(&d->arena, q);
	}
	return rows_close(q, err);
}

static int calc_section(struct dataset *d, struct test *t, struct section *s, struct err *err)
{
	struct hist *h = hist_new();
	int rc = 0;

	collect(d, t, s);
	for (unsigned i = 0; !rc && i < s->n_combos; i++) {
		combo_means(&s->combo[i], s);
		rc = combo_percentile(d, &s->combo[i], h, err);
	}
	free(h);
	if (!rc)
		rc = load_captures(d, t, s, err);
	if (!rc)
		rc = dataset_rated(d, t, s, err);
	if (!rc)
		rc = load_values(d, t, s, err);
	if (!rc)
		rc = load_checks(d, t, s, err);
	t->has_rule |= s->n_tracks > 0 || s->steady >= 0;
	return rc;
}

static void calc_temperature(const struct dataset *d, struct test *t)
{
	t->temp_min = t->temp_max = NAN;
	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		if (!strcmp(m->test, t->name) && isfinite(m->temperature_c)) {
			t->temp_min = fmin(t->temp_min, m->temperature_c);
			t->temp_max = fmax(t->temp_max, m->temperature_c);
		}
	}
}

int dataset_calc(struct dataset *d, struct err *err)
{
	for (unsigned i = 0; i < d->n_tests; i++) {
		struct test *t = &d->test[i];
		calc_temperature(d, t);
		for (unsigned k = 0; k < t->n_sections; k++) {
			int rc = calc_section(d, t, &t->section[k], err);
			if (rc)
				return rc;
		}
	}
	int rc = dataset_states(d, err);
	if (!rc)
		rc = dataset_rwsw(d, err);
	if (rc)
		return rc;
	dataset_warnings(d);
	dataset_results(d);
	return 0;
}
