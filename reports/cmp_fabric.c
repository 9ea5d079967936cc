/* SPDX-License-Identifier: MIT */
/* A drive reached directly against the same through a fabric: each figure of both, what the way adds, whether it is more than noise. */
#include <math.h>
#include <string.h>

#include "reports/compare_figures.h"
#include "reports/student.h"

#define BARS 10 /* loads of one chart */

struct fabric {
	struct cmp_page p;
	struct cmp_groups g;
	unsigned direct, remote; /* candidates */
	const struct cmp_group **row; /* loads that both have */
	unsigned n;
};

static const char *transport(const struct comparison *c, unsigned candidate)
{
	return c->run[c->candidate[candidate].run[0]].transport;
}

static const char *model(const struct comparison *c, unsigned candidate)
{
	return c->run[c->candidate[candidate].run[0]].d.model;
}

static bool is_fabric(const struct comparison *c, unsigned candidate)
{
	static const char *const names[] = { "tcp", "rdma", "fc", "loop", NULL };

	for (unsigned i = 0; names[i]; i++)
		if (!strcmp(names[i], transport(c, candidate)))
			return true;
	return false;
}

static bool is_direct(const struct comparison *c, unsigned candidate)
{
	return *transport(c, candidate) && !is_fabric(c, candidate);
}

static bool same_layout(const struct comparison *c, unsigned a, unsigned b)
{
	return !strcmp(c->run[c->candidate[a].run[0]].layout,
		       c->run[c->candidate[b].run[0]].layout);
}

/* The one that is reached directly: of the same model and layout, else the baseline, else the first. -1: none. */
static int partner(const struct comparison *c, unsigned remote)
{
	int best = -1;
	unsigned rank = 0;

	for (unsigned k = 0; k < c->n_candidates; k++) {
		if (!is_direct(c, k))
			continue;
		unsigned r = 1 + (k == c->baseline) + 2 * same_layout(c, k, remote) +
			     4 * !strcmp(model(c, k), model(c, remote));
		if (r > rank) {
			rank = r;
			best = (int)k;
		}
	}
	return best;
}

static bool has(const struct comparison *c, const struct cmp_group *g, unsigned candidate)
{
	unsigned list[COMPARE_RUNS], n = cmp_present(c, g, list);

	for (unsigned i = 0; i < n; i++)
		if (list[i] == candidate)
			return true;
	return false;
}

/* ---- bars ---- */

enum field { F_IOPS, F_ART, F_P99999, FIELDS };

static double value_of(const struct cmp_figure *f, enum field field)
{
	return cmp_value(field == F_IOPS ? &f->iops : field == F_ART ? &f->art_us : &f->p99999_us);
}

static void bars(struct fabric *x, enum field field, struct place at)
{
	static const char *const title[] = { "IOPS (higher is better)",
					     "ART, us, log (lower is better)",
					     "99.999 %, us, log (lower is better)" };
	struct chart c = chart_new(CHART_BAR, NULL, NULL);
	unsigned n = x->n < BARS ? x->n : BARS;
	unsigned of[2] = { x->remote, x->direct }; /* the last one is drawn on top */
	const char *label[BARS];
	struct series series[2];
	double v[2 * BARS];
	struct plots pl;

	c.title = title[field];
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: %s", x->p.title, c.title));
	for (unsigned i = 0; i < n; i++)
		label[i] = arena_fmt(x->p.a, "%s: %s", x->row[n - 1 - i]->sheet,
				     x->row[n - 1 - i]->what);
	struct range names = plots_labels(&pl, "load", label, n);
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < n; i++) {
			struct cmp_figure f = cmp_figure_of(&x->p, x->row[n - 1 - i], of[k]);
			v[k * n + i] = value_of(&f, field);
		}
		series[k] = (struct series){ .name = candidate_head(x->p.a,
								    &x->p.c->candidate[of[k]]),
					     .x = names,
					     .color = x->p.c->candidate[of[k]].color,
					     .labels = true,
					     .label_fmt = NUM_GROUP };
		series[k].y = plots_column(&pl, series[k].name, v + k * n, n);
	}
	if (field == F_IOPS)
		cmp_axis_zero(&c.x, v, 2 * n, 1.15);
	else
		cmp_axis_bars(&c.x, v, 2 * n);
	c.x.fmt = NUM_GROUP;
	c.x.grid = true;
	c.y.grid = false;
	c.gap = 40;
	cmp_chart(&x->p, &c, at, series, 2);
}

static void charts(struct fabric *x)
{
	const uint32_t wide = PAGE_COLS * PAGE_COL_PX, n = x->n < BARS ? x->n : BARS;
	const uint32_t rows = n > 6 ? 15 : 5 + n * 5 / 3;

	bars(x, F_IOPS, (struct place){ x->p.row, 0, wide, rows * ROW_PX });
	x->p.row += rows;
	bars(x, F_ART, (struct place){ x->p.row, 0, wide / 2 - 6, rows * ROW_PX });
	bars(x, F_P99999, (struct place){ x->p.row, 8, wide / 2, rows * ROW_PX });
	x->p.row += rows + 1;
}

/* ---- the table ---- */

static void heads(struct fabric *x)
{
	static const struct {
		unsigned col, col2;
		const char *text;
	} head[] = { { 0, 3, "Workload" },	   { 4, 4, "Direct IOPS" },
		     { 5, 5, "Fabric IOPS" },	   { 6, 6, "Change" },
		     { 7, 7, "ART direct us" },	   { 8, 8, "ART fabric us" },
		     { 9, 9, "Added us" },	   { 10, 10, "5 9s direct us" },
		     { 11, 11, "5 9s fabric us" }, { 12, 12, "Noise" },
		     { 13, 15, "Verdict" } };

	cmp_table(&x->p, LOOK_HEAD_PLATFORM, "Direct: %s (%s); fabric: %s (%s)",
		  cmp_rows_name(&x->p, x->row, x->n, x->direct), transport(x->p.c, x->direct),
		  cmp_rows_name(&x->p, x->row, x->n, x->remote), transport(x->p.c, x->remote));
	for (unsigned i = 0; i < sizeof head / sizeof head[0]; i++)
		cmp_head(&x->p, head[i].col, head[i].col2, head[i].text);
	cmp_heads_end(&x->p);
}

static void put_verdict(struct fabric *x, const struct cmp_figure *d, const struct cmp_figure *f,
			double noise)
{
	double change = cmp_value(&f->iops) / cmp_value(&d->iops) - 1;
	const char *way = change < 0 ? "slower" : "faster";
	struct area at = AREA(x->p.row, 13, x->p.row, 15);
	struct grid_sheet *s = x->p.s;
	enum look look = change < 0 ? LOOK_WARN : LOOK_GOOD;

	if (!isfinite(change)) {
		put_text(s, at, LOOK_NA, "-");
	} else if (d->n > 1 && f->n > 1) {
		double p = welch_test(d->sample, d->n, f->sample, f->n).p;
		if (p < 0.05)
			put_fmt(s, at, look, "%s, significant (p = %.2g)", way, p);
		else
			put_fmt(s, at, LOOK_NA, "no significant difference (p = %.2g)", p);
	} else if (isnan(noise)) {
		put_fmt(s, at, LOOK_NA, "%s, noise not known", way);
	} else if (fabs(change) <= noise) {
		put_text(s, at, LOOK_NA, "inside the noise");
	} else {
		put_fmt(s, at, look, "%s, beyond the noise", way);
	}
}

/* A difference or a quotient of two cells of the row, live. */
static void put_live(struct fabric *x, unsigned col, bool quotient, double v, unsigned from)
{
	struct grid_sheet *s = x->p.s;
	const char *a = grid_ref(s->grid, AT(x->p.row, from), false);
	const char *b = grid_ref(s->grid, AT(x->p.row, from + 1), false);

	if (!isfinite(v))
		put_text(s, AT(x->p.row, col), LOOK_NA, "-");
	else if (quotient)
		put_formula(s, AT(x->p.row, col), STYLE(LOOK_FORMULA, NUM_DELTA), v, "=%s/%s-1", b,
			    a);
	else
		put_formula(s, AT(x->p.row, col), STYLE(LOOK_FORMULA, NUM_GROUP1), v, "=%s-%s", b,
			    a);
}

static double noise_of(const struct cmp_figure *a, const struct cmp_figure *b)
{
	return isnan(a->noise) ? b->noise : isnan(b->noise) ? a->noise : fmax(a->noise, b->noise);
}

static void put_row(struct fabric *x, const struct cmp_group *g)
{
	struct cmp_figure d = cmp_figure_of(&x->p, g, x->direct);
	struct cmp_figure f = cmp_figure_of(&x->p, g, x->remote);
	double noise = noise_of(&d, &f);
	struct cmp_page *p = &x->p;

	put_fmt(p->s, AREA(p->row, 0, p->row, 3), LOOK_ROW_HEAD, "%s: %s", g->sheet, g->what);
	cmp_put(p, AT(p->row, 4), STYLE(LOOK_STRONG, NUM_GROUP), &d.iops);
	cmp_put(p, AT(p->row, 5), STYLE(LOOK_STRONG, NUM_GROUP), &f.iops);
	put_live(x, 6, true, cmp_value(&f.iops) / cmp_value(&d.iops) - 1, 4);
	cmp_put(p, AT(p->row, 7), STYLE(LOOK_CELL, NUM_GROUP1), &d.art_us);
	cmp_put(p, AT(p->row, 8), STYLE(LOOK_CELL, NUM_GROUP1), &f.art_us);
	put_live(x, 9, false, cmp_value(&f.art_us) - cmp_value(&d.art_us), 7);
	cmp_put(p, AT(p->row, 10), STYLE(LOOK_CELL, NUM_GROUP1), &d.p99999_us);
	cmp_put(p, AT(p->row, 11), STYLE(LOOK_CELL, NUM_GROUP1), &f.p99999_us);
	put_num(p->s, AT(p->row, 12), STYLE(LOOK_CENTER, NUM_PCT1), noise);
	put_verdict(x, &d, &f, noise);
	p->row++;
}

static void page_pair(struct fabric *x)
{
	const struct comparison *c = x->p.c;

	x->n = 0;
	for (unsigned i = 0; i < x->g.n; i++)
		if (has(c, x->g.v[i], x->direct) && has(c, x->g.v[i], x->remote))
			x->row[x->n++] = x->g.v[i];
	cmp_begin(&x->p, "%s (%s) v %s (%s)", c->candidate[x->direct].label,
		  transport(c, x->direct), c->candidate[x->remote].label, transport(c, x->remote));
	if (strcmp(model(c, x->direct), model(c, x->remote))) {
		put_fmt(x->p.s, AREA(x->p.row, 0, x->p.row, PAGE_COLS - 1), LOOK_WARN,
			"The models named differ: %s, %s. A target may give its own name; sheet"
			" Sources has the serials.",
			model(c, x->direct), model(c, x->remote));
		x->p.row++;
	}
	if (!x->n) {
		put_text(x->p.s, AREA(x->p.row, 0, x->p.row, PAGE_COLS - 1), LOOK_NA,
			 "No load was measured in both ways.");
		return;
	}
	charts(x);
	cmp_room(&x->p, x->n + 3 < 36 ? x->n + 3 : 8);
	heads(x);
	for (unsigned i = 0; i < x->n; i++) {
		if (cmp_room(&x->p, 1))
			heads(x);
		put_row(x, x->row[i]);
	}
	cmp_note(&x->p,
		 "Change and added time: fabric against direct, live formulas. Noise: twice the"
		 " largest CV of the window's rounds or of samples. Verdict on IOPS: with two "
		 "samples"
		 " or more on both sides Welch's test (5 %%), else against the noise.%s",
		 x->n > BARS ? " The charts show the first 10 loads." : "");
}

/* ---- JSON ---- */

static void json_side(const char *key, const struct cmp_figure *f, struct json *j)
{
	json_object(j, key);
	json_uint(j, "samples", f->n);
	cmp_json_mean(j, "iops", &f->iops, 1);
	cmp_json_mean(j, "art_ns", &f->art_us, 1e3);
	cmp_json_mean(j, "lat_p99999_ns", &f->p99999_us, 1e3);
	cmp_json_why(j, &f->iops);
	json_end_object(j);
}

static void json_row(struct fabric *x, const struct cmp_group *g, struct json *j)
{
	struct cmp_figure d = cmp_figure_of(&x->p, g, x->direct);
	struct cmp_figure f = cmp_figure_of(&x->p, g, x->remote);

	json_object(j, NULL);
	cmp_json_group(j, g);
	json_str(j, "direct", x->p.c->candidate[x->direct].label);
	json_str(j, "fabric", x->p.c->candidate[x->remote].label);
	json_side("of_direct", &d, j);
	json_side("of_fabric", &f, j);
	json_num(j, "change", cmp_value(&f.iops) / cmp_value(&d.iops) - 1);
	json_num(j, "added_ns", 1e3 * (cmp_value(&f.art_us) - cmp_value(&d.art_us)));
	json_num(j, "noise", noise_of(&d, &f));
	json_num(j, "p", welch_test(d.sample, d.n, f.sample, f.n).p);
	json_end_object(j);
}

void cmp_fabric_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct fabric *x = arena_new(&a, struct fabric);

	x->p = (struct cmp_page){ .c = c, .a = &a };
	cmp_figures(&x->p, &x->g, NULL);
	json_array(j, "direct_v_fabric");
	for (unsigned k = 0; k < c->n_candidates; k++) {
		int direct = is_fabric(c, k) ? partner(c, k) : -1;
		x->direct = (unsigned)direct;
		x->remote = k;
		for (unsigned i = 0; direct >= 0 && i < x->g.n; i++)
			if (has(c, x->g.v[i], x->direct) && has(c, x->g.v[i], k))
				json_row(x, x->g.v[i], j);
	}
	json_end_array(j);
	arena_release(&a);
}

/* ---- the sheet ---- */

static bool applies(const struct comparison *c)
{
	for (unsigned k = 0; k < c->n_candidates; k++)
		if (is_fabric(c, k) && partner(c, k) >= 0)
			return true;
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct fabric *x = arena_new(&g->arena, struct fabric);

	cmp_open(&x->p, c, g, "Direct v fabric", "Direct attached v through a fabric");
	cmp_figures(&x->p, &x->g, NULL);
	x->row = arena_array(x->p.a, const struct cmp_group *, x->g.n + 1);
	for (unsigned k = 0; k < c->n_candidates; k++) {
		int direct = is_fabric(c, k) ? partner(c, k) : -1;
		if (direct < 0)
			continue;
		x->direct = (unsigned)direct;
		x->remote = k;
		page_pair(x);
	}
	cmp_close(&x->p);
}

const struct compare_sheet cmp_fabric = { 250, applies, build };
