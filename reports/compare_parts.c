/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare_parts.h"

#define PAGE_PX 868 /* what a printed page holds; a little is left for programs with taller rows */
#define NOTE_CHARS 210 /* of a line of a note */
#define TITLE_COLS 8 /* of a title over a narrow table */
#define BAR_LABELS 8 /* columns whose values fit above them in half a page */
#define HEAD_CHARS 13 /* of a head that fit a column of the page */

/* ---- pages ---- */

static double band_px(const struct grid_sheet *s)
{
	double px = 0;

	for (size_t i = 0; i < s->n_heights; i++)
		px += s->height[i].px;
	return px;
}

void cmp_open(struct cmp_page *p, const struct comparison *c, struct grid *g, const char *name,
	      const char *title)
{
	*p = (struct cmp_page){ .c = c, .a = &g->arena };
	p->s = compare_page(c, g, name, title, &p->next);
	p->s->repeat_rows = p->next;
	p->body = (unsigned)((PAGE_PX - band_px(p->s)) / ROW_PX);
}

static void begin(struct cmp_page *p, const char *title)
{
	if (p->n++)
		grid_page_break(p->s, p->next);
	put_text(p->s, AREA(p->next, 0, p->next, PAGE_COLS - 1), LOOK_PAGE_BAR, title);
	p->row = p->next + 1;
	p->next += p->body;
	p->tall_px = 0;
}

__attribute__((format(printf, 2, 0))) static const char *text_of(struct arena *a, const char *fmt,
								 va_list ap)
{
	va_list again;

	va_copy(again, ap);
	size_t room = (size_t)vsnprintf(NULL, 0, fmt, again) + 1;
	va_end(again);
	char *text = arena_alloc(a, room);
	vsnprintf(text, room, fmt, ap);
	return text;
}

void cmp_begin(struct cmp_page *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	p->title = text_of(p->a, fmt, ap);
	va_end(ap);
	begin(p, p->title);
}

void cmp_part(struct cmp_page *p, unsigned rows, const char *title)
{
	if (!p->n || p->row + rows + 1 >= p->next) {
		cmp_begin(p, "%s", title);
		return;
	}
	p->title = arena_strdup(p->a, title);
	put_text(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_PAGE_BAR, title);
	p->row++;
}

bool cmp_room(struct cmp_page *p, unsigned rows)
{
	if (p->row + rows < p->next)
		return false;
	begin(p, arena_fmt(p->a, "%s - continued", p->title));
	return true;
}

void cmp_close(struct cmp_page *p)
{
	if (!p->n) {
		cmp_begin(p, "No values");
		put_text(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_NA,
			 "Nothing was measured: no run came that far.");
		p->row++;
	}
	p->s->print_cols = PAGE_COLS;
	p->s->print_rows = p->next - 1;
}

void cmp_no_results(struct cmp_page *p)
{
	grid_row_height(p->s, p->row, 27);
	put_text(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_BANNER_BAD,
		 "No candidate has a result of this test: nothing is drawn");
	p->row += 2;
}

void cmp_note(struct cmp_page *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = text_of(p->a, fmt, ap);
	va_end(ap);
	uint32_t lines = (uint32_t)(strlen(text) / NOTE_CHARS) + 1;
	cmp_room(p, lines);
	put_text(p->s, AREA(p->row, 0, p->row + lines - 1, PAGE_COLS - 1), LOOK_NOTE, text);
	p->row += lines;
}

void cmp_table_title(struct cmp_page *p, enum look look, unsigned cols, const char *text)
{
	cols = cols < TITLE_COLS ? TITLE_COLS : cols;
	put_text(p->s, AREA(p->row, 0, p->row, cols - 1), look, text);
	p->row++;
}

void cmp_table(struct cmp_page *p, enum look look, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmp_table_title(p, look, PAGE_COLS, text_of(p->a, fmt, ap));
	va_end(ap);
}

/* Lines of @text, words kept whole, @room characters each. */
static unsigned lines_of(const char *text, size_t room)
{
	unsigned lines = 1;
	size_t used = 0;

	while (*text) {
		size_t word = strcspn(text, " ");
		if (used && used + 1 + word > room) {
			lines++;
			used = 0;
		}
		used += word + (used > 0);
		for (; used > room; used -= room)
			lines++;
		text += word + (text[word] == ' ');
	}
	return lines;
}

void cmp_head(struct cmp_page *p, unsigned col, unsigned col2, const char *text)
{
	unsigned lines = lines_of(text, (size_t)(col2 - col + 1) * HEAD_CHARS);

	put_text(p->s, AREA(p->row, col, p->row, col2), LOOK_HEAD, text);
	p->head_lines = lines > p->head_lines ? lines : p->head_lines;
}

void cmp_heads_end(struct cmp_page *p)
{
	double px = p->head_lines < 2 ? ROW_PX : 4 + 13.0 * p->head_lines;

	if (px > ROW_PX)
		grid_row_height(p->s, p->row, px);
	for (p->tall_px += px - ROW_PX; p->tall_px > 0; p->tall_px -= ROW_PX)
		p->next--;
	p->head_lines = 0;
	p->row++;
}

/* ---- values ---- */

static bool is_bad(const char *why)
{
	return why && strcmp(why, "not run") && strcmp(why, "n/a");
}

void cmp_add(struct cmp_mean *m, double v, const char *why)
{
	if (why) {
		if (!is_bad(m->why))
			m->why = why;
	} else if (isfinite(v)) {
		m->sum += v;
		m->n++;
	}
}

double cmp_value(const struct cmp_mean *m)
{
	return m->n ? m->sum / m->n : NAN;
}

void cmp_put_missing(struct cmp_page *p, struct area at, const char *why)
{
	if (is_bad(why))
		put_text(p->s, at, LOOK_BAD, why);
	else
		put_text(p->s, at, LOOK_NA, "n/a");
}

void cmp_put(struct cmp_page *p, struct area at, unsigned style, const struct cmp_mean *m)
{
	if (m->n)
		put_num(p->s, at, style, cmp_value(m));
	else
		cmp_put_missing(p, at, m->why);
}

void cmp_json_mean(struct json *j, const char *key, const struct cmp_mean *m, double by)
{
	json_num(j, key, by * cmp_value(m));
}

void cmp_json_why(struct json *j, const struct cmp_mean *m)
{
	json_str(j, "why", m->n ? NULL : m->why);
}

void cmp_json_group(struct json *j, const struct cmp_group *g)
{
	json_str(j, "test", g->name);
	json_str(j, "load", g->what);
}

void cmp_json_groups(struct json *j, const char *key, const struct cmp_groups *g,
		     void (*put)(void *ctx, struct cmp_group *one, struct json *j), void *ctx)
{
	json_array(j, key);
	for (unsigned i = 0; i < g->n; i++) {
		json_object(j, NULL);
		cmp_json_group(j, g->v[i]);
		json_array(j, "candidates");
		put(ctx, g->v[i], j);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

void cmp_json_candidate(struct json *j, const struct comparison *c, unsigned candidate,
			unsigned used)
{
	json_str(j, "candidate", c->candidate[candidate].label);
	json_uint(j, "samples", used);
}

/* ---- the same test of several runs ---- */

static bool candidate_has(const struct comparison *c, unsigned candidate, const char *test)
{
	const struct candidate *k = &c->candidate[candidate];

	for (unsigned i = 0; i < k->n_runs; i++)
		if (dataset_test(&c->run[k->run[i]].d, test))
			return true;
	return false;
}

/*
 * Under another name it is the same only where nobody has both: else they are two tests, and runs of one candidate
 * that did one each would pass for samples of it.
 */
static bool takes(const struct cmp_group *g, const struct comparison *c, unsigned run,
		  const struct test *t)
{
	if (g->of[run])
		return false;
	if (!strcmp(g->name, t->name))
		return true;
	for (unsigned r = 0; r < c->n_runs; r++) {
		if (!g->of[r] || !strcmp(g->test[r]->name, t->name))
			continue; /* a further sample of what was taken already */
		if (candidate_has(c, c->run[run].candidate, g->test[r]->name) ||
		    candidate_has(c, c->run[r].candidate, t->name))
			return false;
	}
	return true;
}

static struct cmp_group *group_for(struct cmp_groups *g, const struct comparison *c, unsigned run,
				   const struct test *t, const char *what)
{
	struct cmp_group *alike = NULL;

	for (unsigned i = 0; i < g->n; i++) {
		if (strcmp(g->v[i]->what, what) || !takes(g->v[i], c, run, t))
			continue;
		if (!strcmp(g->v[i]->name, t->name))
			return g->v[i];
		alike = alike ? alike : g->v[i];
	}
	return alike;
}

void cmp_group_add(struct cmp_groups *g, struct cmp_page *p, unsigned run, const struct test *t,
		   const char *what, const void *of)
{
	struct cmp_group *to = group_for(g, p->c, run, t, what);

	if (!to) {
		if (g->n == g->cap) {
			g->cap = g->cap * 2 + 16;
			struct cmp_group **v = arena_array(p->a, struct cmp_group *, g->cap);
			if (g->n)
				memcpy(v, g->v, g->n * sizeof(struct cmp_group *));
			g->v = v;
		}
		to = arena_new(p->a, struct cmp_group);
		*to = (struct cmp_group){ .name = t->name, .sheet = t->sheet, .what = what };
		g->v[g->n++] = to;
	}
	to->test[run] = t;
	to->of[run] = of;
}

void cmp_each_test(const struct comparison *c,
		   void (*add)(void *ctx, unsigned run, const struct test *t), void *ctx)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		for (unsigned i = 0; i < c->run[r].d.n_tests; i++)
			add(ctx, r, &c->run[r].d.test[i]);
}

static bool has_run(const struct comparison *c, const struct cmp_group *g, unsigned candidate)
{
	const struct candidate *k = &c->candidate[candidate];

	for (unsigned i = 0; i < k->n_runs; i++)
		if (g->of[k->run[i]])
			return true;
	return false;
}

unsigned cmp_present(const struct comparison *c, const struct cmp_group *g, unsigned *ret)
{
	unsigned n = 0;

	if (has_run(c, g, c->baseline))
		ret[n++] = c->baseline;
	for (unsigned k = 0; k < c->n_candidates; k++)
		if (k != c->baseline && has_run(c, g, k))
			ret[n++] = k;
	return n;
}

unsigned cmp_groups_present(const struct comparison *c, const struct cmp_groups *g, unsigned *ret)
{
	struct cmp_group any = { .name = "" };

	for (unsigned r = 0; r < c->n_runs; r++)
		for (unsigned i = 0; i < g->n && !any.of[r]; i++)
			any.of[r] = g->v[i]->of[r];
	return cmp_present(c, &any, ret);
}

/* Of the runs of a candidate the one that came furthest. */
static const char *why_absent(const struct comparison *c, const struct cmp_group *g,
			      unsigned candidate)
{
	const struct candidate *k = &c->candidate[candidate];
	const char *why = "not run";

	for (unsigned i = 0; i < k->n_runs; i++) {
		const struct test *t = dataset_test(&c->run[k->run[i]].d, g->name);
		const char *now = why_no_result(t, NULL);
		if (!now)
			return "nothing measured";
		if (strcmp(now, "not run"))
			why = now;
	}
	return why;
}

const char *cmp_absent(struct cmp_page *p, const struct cmp_group *g)
{
	const char *list = "";

	for (unsigned k = 0; k < p->c->n_candidates; k++)
		if (!has_run(p->c, g, k))
			list = arena_fmt(p->a, "%s%s%s (%s)", list, *list ? ", " : "",
					 p->c->candidate[k].label, why_absent(p->c, g, k));
	return *list ? arena_fmt(p->a, " No values of: %s.", list) : "";
}

/* ---- candidates ---- */

unsigned cmp_used(const struct comparison *c, const struct cmp_group *g, unsigned candidate)
{
	const struct candidate *k = &c->candidate[candidate];
	unsigned n = 0;

	for (unsigned i = 0; i < k->n_runs; i++)
		n += g->of[k->run[i]] && !why_no_result(g->test[k->run[i]], NULL);
	return n;
}

unsigned cmp_tried(const struct comparison *c, const struct cmp_group *g, unsigned candidate)
{
	const struct candidate *k = &c->candidate[candidate];
	unsigned n = 0;

	for (unsigned i = 0; i < k->n_runs; i++)
		n += g->of[k->run[i]] != NULL;
	return n;
}

const char *cmp_name(struct cmp_page *p, unsigned candidate, unsigned used, unsigned tried)
{
	const char *head = candidate_head(p->a, &p->c->candidate[candidate]);

	if (tried < 2)
		return head;
	if (used < tried)
		return arena_fmt(p->a, "%s, %u of %u samples", head, used, tried);
	return arena_fmt(p->a, "%s, mean of %u", head, used);
}

const char *cmp_join(struct cmp_page *p, const char *list, const char *one)
{
	if (!*list)
		return one;
	if (strstr(arena_fmt(p->a, ", %s,", list), arena_fmt(p->a, " %s,", one)))
		return list;
	return arena_fmt(p->a, "%s, %s", list, one);
}

struct series cmp_line(struct cmp_page *p, unsigned candidate)
{
	static const enum dash dashes[] = { DASH_SOLID, DASH_LONG, DASH_DASH, DASH_DOT };
	const struct candidate *k = &p->c->candidate[candidate];
	unsigned nth = k->baseline ? 0 : candidate + (candidate < p->c->baseline);

	return (struct series){ .name = candidate_head(p->a, k),
				.color = k->color,
				.width = 2.25,
				.dash = dashes[nth % 4],
				.markers = true };
}

void cmp_axis_bars(struct axis *a, const double *v, unsigned n)
{
	double low = INFINITY;

	axis_decades(a, v, n);
	for (unsigned i = 0; i < n; i++)
		low = v[i] > 0 ? fmin(low, v[i]) : low;
	if (low < 2 * a->min)
		a->min /= 10;
	a->fmt = NUM_GROUP;
}

void cmp_axis_zero(struct axis *a, const double *v, unsigned n, double room)
{
	double top = 0;

	for (unsigned i = 0; i < n; i++)
		top = isfinite(v[i]) ? fmax(top, v[i]) : top;
	axis_round(a, 0, top * room);
	a->fmt = axis_fmt(a->max);
}

void cmp_chart(struct cmp_page *p, struct chart *c, struct place at, struct series *series,
	       unsigned n)
{
	chart_place(c, at);
	c->series = series;
	c->n_series = n;
	grid_chart(p->s, c);
}

void cmp_bars(struct cmp_page *p, struct chart *c, struct place at, const unsigned *list,
	      const double *v, unsigned n)
{
	const char *label[COMPARE_RUNS];
	uint32_t color[COMPARE_RUNS];
	struct plots pl;

	for (unsigned i = 0; i < n; i++) {
		label[i] = candidate_head(p->a, &p->c->candidate[list[i]]);
		color[i] = p->c->candidate[list[i]].color;
	}
	plots_begin(&pl, p->s->grid, arena_fmt(p->a, "%s: %s", p->title, c->title));
	struct range names = plots_labels(&pl, "candidate", label, n);
	struct series one = { .name = c->title,
			      .x = names,
			      .y = plots_column(&pl, c->title, v, n),
			      .color = 0x2E75B6,
			      .labels = n <= BAR_LABELS,
			      .label_fmt = NUM_GROUP,
			      .point_color = color,
			      .n_points = n };
	cmp_axis_zero(&c->y, v, n, 1.15);
	c->legend = LEGEND_NONE;
	c->gap = 50;
	cmp_chart(p, c, at, &one, 1);
}

void cmp_put_change(struct cmp_page *p, struct area at, double change, double noise,
		    bool lower_is_better)
{
	bool good = lower_is_better ? change < 0 : change > 0;
	enum look look = isnan(noise)		 ? LOOK_CELL
			 : fabs(change) <= noise ? LOOK_NA
			 : good			 ? LOOK_GOOD
						 : LOOK_WARN;

	if (isfinite(change))
		put_num(p->s, at, STYLE(look, NUM_DELTA), change);
	else
		put_text(p->s, at, LOOK_NA, "-");
}

/* ---- arithmetic ---- */

struct cmp_between cmp_interpolate(const double *x, const double *y, unsigned n, double limit)
{
	struct cmp_between best = { .value = NAN };
	int last = -1;

	for (unsigned i = 0; i < n; i++) {
		if (!isfinite(x[i]) || !isfinite(y[i]))
			continue;
		double v = NAN;
		unsigned from = i;
		if (x[i] == limit) {
			v = y[i];
		} else if (last >= 0 && x[last] < limit && x[i] > limit) {
			from = (unsigned)last;
			v = y[last] + (y[i] - y[last]) * (limit - x[last]) / (x[i] - x[last]);
		}
		if (isfinite(v) && !(v <= best.value))
			best = (struct cmp_between){ v, from, i };
		last = (int)i;
	}
	return best;
}

double cmp_harmonic(const double *v, const double *share, unsigned n)
{
	double sum = 0, time = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!(v[i] > 0) || !(share[i] > 0))
			return NAN;
		sum += share[i];
		time += share[i] / v[i];
	}
	return n ? sum / time : NAN;
}
