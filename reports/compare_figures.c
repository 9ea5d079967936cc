/* SPDX-License-Identifier: MIT */
#include "reports/compare_figures.h"

#include <math.h>
#include <string.h>

#include "reports/compare_write.h"

#define CHART_LOADS 12 /* loads of one chart */
#define LABEL_PX 52 /* a value above its column */

void cmp_figures(struct cmp_page *p, struct cmp_groups *g, bool (*wanted)(const struct figure *f))
{
	for (unsigned r = 0; r < p->c->n_runs; r++) {
		struct figure *f;
		unsigned n = figures_load(&p->c->run[r].d, p->a, &f);
		for (unsigned i = 0; i < n; i++)
			if (!wanted || wanted(&f[i]))
				cmp_group_add(g, p, r, f[i].t, f[i].what, &f[i]);
	}
}

static void add_sample(struct cmp_page *p, struct cmp_figure *to, const struct figure *f)
{
	to->f = to->f ? to->f : f;
	cmp_add(&to->iops, f->iops, f->why);
	cmp_add(&to->mbs, f->bytes_per_s / 1e6, f->why);
	cmp_add(&to->art_us, f->art_ns / 1e3, f->why);
	cmp_add(&to->p99999_us, f->p99999_ns / 1e3, f->why);
	if (f->why)
		return;
	to->tcqd = cmp_join(p, to->tcqd, f->tcqd);
	to->outside |= !f->inside;
	if (isfinite(f->iops))
		to->sample[to->n++] = f->iops;
	if (isfinite(f->cv) && !(2 * f->cv <= to->noise))
		to->noise = 2 * f->cv;
}

struct cmp_figure cmp_figure_of(struct cmp_page *p, const struct cmp_group *g, unsigned candidate)
{
	const struct candidate *k = &p->c->candidate[candidate];
	struct cmp_figure to = { .noise = NAN, .tcqd = "" };

	for (unsigned s = 0; s < k->n_runs; s++)
		if (g->of[k->run[s]])
			add_sample(p, &to, g->of[k->run[s]]);
	double cv = coefficient_of_variation(to.sample, to.n, cmp_value(&to.iops));
	if (isfinite(cv) && !(2 * cv <= to.noise))
		to.noise = 2 * cv;
	return to;
}

const struct figure *cmp_figure_any(const struct comparison *c, const struct cmp_group *g)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		if (g->of[r])
			return g->of[r];
	BUG("a group without a run");
}

/* ---- JSON ---- */

static const char *const kind_name[] = {
	[FIGURE_CELL] = "cell",	    [FIGURE_STEP] = "step",	  [FIGURE_MAX] = "max",
	[FIGURE_PEAK] = "peak",	    [FIGURE_BEST] = "best",	  [FIGURE_REPLAY] = "replay",
	[FIGURE_STREAM] = "stream", [FIGURE_SCALE] = "all drives"
};

static void json_figure(struct cmp_page *p, const struct cmp_group *g, struct json *j)
{
	unsigned list[COMPARE_RUNS], n = cmp_present(p->c, g, list);

	json_object(j, NULL);
	cmp_json_group(j, g);
	json_str(j, "kind", kind_name[cmp_figure_any(p->c, g)->kind]);
	json_array(j, "candidates");
	for (unsigned i = 0; i < n; i++) {
		struct cmp_figure f = cmp_figure_of(p, g, list[i]);
		json_object(j, NULL);
		cmp_json_candidate(j, p->c, list[i], f.iops.n);
		cmp_json_mean(j, "iops", &f.iops, 1);
		cmp_json_mean(j, "bytes_per_s", &f.mbs, 1e6);
		cmp_json_mean(j, "art_ns", &f.art_us, 1e3);
		cmp_json_mean(j, "lat_p99999_ns", &f.p99999_us, 1e3);
		json_num(j, "noise", f.noise);
		json_str(j, "tcqd", *f.tcqd ? f.tcqd : NULL);
		json_bool(j, "outside_bound", f.outside);
		cmp_json_why(j, &f.iops);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void figures_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct cmp_page p = { .c = c, .a = &a };
	struct cmp_groups g = { .n = 0 };

	cmp_figures(&p, &g, NULL);
	json_array(j, "figures");
	for (unsigned i = 0; i < g.n; i++)
		json_figure(&p, g.v[i], j);
	json_end_array(j);
	arena_release(&a);
}

void sheets_json(const struct comparison *c, struct json *j)
{
	figures_json(c, j);
	cmp_dirth_json(c, j);
	cmp_curve_json(c, j);
	cmp_replay_json(c, j);
	cmp_scale_json(c, j);
	cmp_fabric_json(c, j);
}

/* ---- tables ---- */

const char *cmp_rows_name(struct cmp_page *p, const struct cmp_group *const *row, unsigned n,
			  unsigned candidate)
{
	unsigned used = 0, tried = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned t = cmp_tried(p->c, row[i], candidate);
		if (t <= tried)
			continue;
		tried = t;
		used = cmp_used(p->c, row[i], candidate);
	}
	return cmp_name(p, candidate, used, tried);
}

static void heads(struct cmp_page *p, const struct cmp_wide *w, unsigned first, unsigned n)
{
	cmp_table_title(p, w->look, w->first_cols + n * w->n_sub,
			arena_fmt(p->a, "%s%s", w->title, first ? ", continued" : ""));
	cmp_head(p, 0, w->first_cols - 1, w->first);
	for (unsigned i = 0; i < n; i++) {
		unsigned k = w->list[first + i], col = w->first_cols + i * w->n_sub;
		for (unsigned s = 0; s < w->n_sub; s++)
			cmp_head(p, col + s, col + s,
				 s ? w->sub[s]
				   : arena_fmt(p->a, "%s: %s",
					       cmp_rows_name(p, w->row, w->n_rows, k), w->sub[s]));
	}
	cmp_heads_end(p);
}

const char *cmp_wide_row(struct cmp_page *p, const struct cmp_wide *w, unsigned row)
{
	const struct cmp_group *g = w->row[row];
	bool same = w->tests;

	for (unsigned i = 0; i < w->n_rows; i++)
		same |= i != row && !strcmp(w->row[i]->what, g->what);
	return same ? arena_fmt(p->a, "%s: %s", g->sheet, g->what) : g->what;
}

void cmp_wide_put(struct cmp_page *p, const struct cmp_wide *w)
{
	unsigned abreast = (PAGE_COLS - w->first_cols) / w->n_sub;

	for (unsigned first = 0; first < w->n; first += abreast) {
		unsigned n = w->n - first < abreast ? w->n - first : abreast;
		cmp_room(p, w->n_rows + 4 < 36 ? w->n_rows + 4 : 8);
		heads(p, w, first, n);
		for (unsigned r = 0; r < w->n_rows; r++, p->row++) {
			if (cmp_room(p, 1))
				heads(p, w, first, n);
			put_text(p->s, AREA(p->row, 0, p->row, w->first_cols - 1), LOOK_ROW_HEAD,
				 cmp_wide_row(p, w, r));
			for (unsigned i = 0; i < n; i++)
				w->put(p, w, r, w->list[first + i],
				       AT(p->row, w->first_cols + i * w->n_sub));
		}
		p->row++;
	}
}

/* ---- charts ---- */

double cmp_figure_iops(const struct cmp_figure *f)
{
	return cmp_value(&f->iops);
}

double cmp_figure_mbs(const struct cmp_figure *f)
{
	return cmp_value(&f->mbs);
}

void cmp_figure_chart(struct cmp_page *p, struct chart *c, struct place at,
		      const struct cmp_wide *w, double (*value)(const struct cmp_figure *f))
{
	unsigned n = w->n_rows < CHART_LOADS ? w->n_rows : CHART_LOADS;
	unsigned shown = w->n < CMP_LINES ? w->n : CMP_LINES;
	double *all = arena_array(p->a, double, (size_t)n *shown + 1);
	struct series series[CMP_LINES];
	const char *label[CHART_LOADS];
	struct plots pl;

	plots_begin(&pl, p->s->grid, arena_fmt(p->a, "%s: %s", p->title, c->title));
	for (unsigned i = 0; i < n; i++)
		label[i] = cmp_wide_row(p, w, i);
	struct range names = plots_labels(&pl, "load", label, n);
	for (unsigned k = 0; k < shown; k++) {
		double *v = all + (size_t)k * n;
		for (unsigned i = 0; i < n; i++) {
			struct cmp_figure f = cmp_figure_of(p, w->row[i], w->list[k]);
			v[i] = value(&f);
		}
		series[k] = cmp_line(p, w->list[k]);
		series[k].x = names;
		series[k].y = plots_column(&pl, series[k].name, v, n);
		series[k].labels = n * shown * LABEL_PX <= at.width_px;
		series[k].label_fmt = NUM_GROUP;
	}
	if (c->y.log)
		cmp_axis_bars(&c->y, all, n * shown);
	else
		cmp_axis_zero(&c->y, all, n * shown, 1.12);
	cmp_chart(p, c, at, series, shown);
}
