/* SPDX-License-Identifier: MIT */
/* Captured workloads of all candidates: replays at each scale of the queue depth, and streams run alone. */
#include <math.h>
#include <string.h>

#include "reports/compare_parts.h"
#include "reports/rwsw.h"
#include "reports/sheet.h"

#define CHART_ROWS 16
#define SCALES 64
#define ABREAST 3 /* candidates beside one another, and the baseline */
#define STREAMS 12 /* columns of them */

enum field { F_IOPS, F_ART, F_P99999, FIELDS };

struct scales_line {
	unsigned candidate, used;
	const char *why;
	struct cmp_mean v[FIELDS][SCALES]; /* IOPS, us */
	double sum[FIELDS][SCALES]; /* as numbers */
};

struct stream {
	const char *name;
	double share; /* normalised, %; NAN unknown */
};

struct streams_line {
	unsigned candidate, used;
	struct cmp_mean iops[RWSW_STREAMS], art[RWSW_STREAMS];
};

struct captured {
	struct cmp_page p;
	struct cmp_groups replays, streams, exact;
	const struct cmp_group *g;
	double scale[SCALES]; /* of the group, rising */
	const char *name[SCALES];
	unsigned n_scales;
	struct stream stream[RWSW_STREAMS];
	unsigned n_streams;
	unsigned list[COMPARE_RUNS], n; /* candidates of the group */
	struct scales_line *line;
	struct streams_line *alone;
};

/* What a run has of streams alone. */
struct alone {
	const struct workload *w;
	const struct test *t;
	struct stream_alone *s;
	unsigned n;
};

static void add_test(void *ctx, unsigned run, const struct test *t)
{
	struct captured *x = ctx;
	const struct dataset *d = &x->p.c->run[run].d;
	const struct replay *r = rwsw_replay(d, t);

	if (sheet_kind(t) == SHEET_REPLAY && r && r->n) {
		cmp_group_add(&x->replays, &x->p, run, t, d->rwsw->cap.name, r);
	} else if (r && r->cell) {
		cmp_group_add(&x->exact, &x->p, run, t, d->rwsw->cap.name, r);
	} else if (sheet_kind(t) == SHEET_STREAMS && d->rwsw) {
		struct alone *s = arena_new(x->p.a, struct alone);
		s->w = &d->rwsw->cap;
		s->t = t;
		s->s = arena_array(x->p.a, struct stream_alone, t->n_sections + 1);
		s->n = rwsw_alone(d, t, x->p.a, s->s);
		cmp_group_add(&x->streams, &x->p, run, t, d->rwsw->cap.name, s);
	}
}

/* ---- replays ---- */

static unsigned scale_at(const struct captured *x, double scale)
{
	unsigned i = 0;

	while (i < x->n_scales && x->scale[i] < scale)
		i++;
	return i;
}

static void list_scales(struct captured *x)
{
	x->n_scales = 0;
	for (unsigned r = 0; r < x->p.c->n_runs; r++) {
		const struct replay *one = x->g->of[r];
		for (unsigned i = 0; one && i < one->n; i++) {
			const struct replay_scale *s = &one->scale[i];
			unsigned at = scale_at(x, s->scale), rest = x->n_scales - at;
			if ((rest && x->scale[at] == s->scale) || x->n_scales == SCALES)
				continue;
			memmove(x->scale + at + 1, x->scale + at, rest * sizeof x->scale[0]);
			memmove(x->name + at + 1, x->name + at, rest * sizeof x->name[0]);
			x->scale[at] = s->scale;
			x->name[at] = s->name;
			x->n_scales++;
		}
	}
}

static void add_replay(const struct captured *x, struct scales_line *l, const struct replay *r)
{
	const char *why = why_no_result(r->test, NULL);

	for (unsigned i = 0; i < r->n; i++) {
		const struct replay_scale *s = &r->scale[i];
		unsigned at = scale_at(x, s->scale);
		if (at == x->n_scales || x->scale[at] != s->scale)
			continue;
		int64_t p = s->levels.p99999_ns;
		cmp_add(&l->v[F_IOPS][at], s->iops, why);
		cmp_add(&l->v[F_ART][at], s->art_ns / 1e3, why);
		cmp_add(&l->v[F_P99999][at], p < 0 ? NAN : (double)p / 1e3, why);
	}
	l->used += !why;
	l->why = why ? why : l->why;
}

static void fill_replays(struct captured *x)
{
	const struct comparison *c = x->p.c;

	list_scales(x);
	x->n = cmp_present(c, x->g, x->list);
	x->line = arena_array(x->p.a, struct scales_line, x->n);
	for (unsigned i = 0; i < x->n; i++) {
		struct scales_line *l = &x->line[i];
		const struct candidate *k = &c->candidate[x->list[i]];
		*l = (struct scales_line){ .candidate = x->list[i] };
		for (unsigned s = 0; s < k->n_runs; s++)
			if (x->g->of[k->run[s]])
				add_replay(x, l, x->g->of[k->run[s]]);
		for (unsigned f = 0; f < FIELDS; f++)
			for (unsigned t = 0; t < x->n_scales; t++)
				l->sum[f][t] = cmp_value(&l->v[f][t]);
	}
}

static void chart(struct captured *x, enum field f, struct place at)
{
	static const char *const title[] = { "IOPS (higher is better)",
					     "ART (log, lower is better)",
					     "99.999 % (log, lower is better)" };
	struct chart c = chart_new(CHART_LINE, "Scale of the queue depth",
				   f == F_IOPS ? "IOPS" : "us");
	unsigned shown = x->n < CMP_LINES ? x->n : CMP_LINES;
	double *all = arena_array(x->p.a, double, (size_t)shown * x->n_scales + 1);
	struct series series[CMP_LINES];
	struct plots pl;

	c.title = title[f];
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: %s", x->p.title, title[f]));
	struct range names = plots_labels(&pl, "scale", x->name, x->n_scales);
	for (unsigned i = 0; i < shown; i++) {
		const double *v = x->line[i].sum[f];
		memcpy(all + (size_t)i * x->n_scales, v, x->n_scales * sizeof *v);
		series[i] = cmp_line(&x->p, x->list[i]);
		series[i].x = names;
		series[i].y = plots_column(&pl, series[i].name, v, x->n_scales);
	}
	if (f == F_IOPS)
		cmp_axis_zero(&c.y, all, shown * x->n_scales, 1);
	else
		axis_decades(&c.y, all, shown * x->n_scales);
	c.y.fmt = NUM_GROUP;
	if (x->n > 6) /* a large legend leaves small charts no room: one for all three */
		c.legend = f + 1 < FIELDS ? LEGEND_NONE : LEGEND_RIGHT;
	cmp_chart(&x->p, &c, at, series, shown);
}

static void charts(struct captured *x)
{
	bool used = false;

	for (unsigned i = 0; i < x->n; i++)
		used |= x->line[i].used > 0;
	if (!used)
		cmp_no_results(&x->p);
	if (!used || x->n_scales < 2)
		return;
	for (uint32_t f = 0; f < FIELDS; f++)
		chart(x, (enum field)f,
		      (struct place){ x->p.row, f * 5,
				      f + 1 < FIELDS ? 5 * PAGE_COL_PX - 6 : 6 * PAGE_COL_PX,
				      CHART_ROWS * ROW_PX });
	x->p.row += CHART_ROWS + 1;
}

struct block { /* candidates beside one another: from @first, @n of them, @n_delta with a change */
	unsigned first, n, n_delta;
};

static void scale_heads(struct captured *x, const struct block *b)
{
	struct cmp_page *p = &x->p;

	cmp_table(p, LOOK_HEAD_PLATFORM, "%s - %s%s", x->g->sheet, x->g->what,
		  b->first ? ", continued" : "");
	cmp_head(p, 0, 0, "Scale");
	for (unsigned i = 0; i < b->n; i++) {
		const struct scales_line *l = &x->line[b->first + i];
		cmp_head(p, 1 + 3 * i, 1 + 3 * i,
			 arena_fmt(p->a, "%s IOPS",
				   cmp_name(p, l->candidate, l->used,
					    cmp_tried(p->c, x->g, l->candidate))));
		cmp_head(p, 2 + 3 * i, 2 + 3 * i, "ART us");
		cmp_head(p, 3 + 3 * i, 3 + 3 * i, "99.999 % us");
	}
	for (unsigned i = 0; i < b->n_delta; i++) {
		unsigned k = x->list[b->first + b->n - b->n_delta + i];
		cmp_head(p, 1 + 3 * b->n + i, 1 + 3 * b->n + i,
			 arena_fmt(p->a, "%s IOPS v base", p->c->candidate[k].label));
	}
	cmp_heads_end(p);
}

static void scale_row(struct captured *x, const struct block *b, unsigned t)
{
	struct cmp_page *p = &x->p;
	double base = x->line[0].sum[F_IOPS][t];

	put_text(p->s, AT(p->row, 0), LOOK_ROW_HEAD, x->name[t]);
	for (unsigned i = 0; i < b->n; i++) {
		const struct scales_line *l = &x->line[b->first + i];
		for (unsigned f = 0; f < FIELDS; f++) {
			struct cmp_mean m = l->v[f][t];
			m.why = m.why ? m.why : l->why;
			cmp_put(p, AT(p->row, 1 + 3 * i + f),
				STYLE(f ? LOOK_CELL : LOOK_STRONG, f ? NUM_GROUP1 : NUM_GROUP), &m);
		}
	}
	for (unsigned i = 0; i < b->n_delta; i++) {
		const struct scales_line *l = &x->line[b->first + b->n - b->n_delta + i];
		cmp_put_change(p, AT(p->row, 1 + 3 * b->n + i),
			       base > 0 ? l->sum[F_IOPS][t] / base - 1 : NAN, NAN, false);
	}
	p->row++;
}

static void put_scales(struct captured *x)
{
	bool based = x->list[0] == x->p.c->baseline;

	for (struct block b = { 0, 0, 0 }; b.first < x->n; b.first += b.n) {
		unsigned room = b.first || !based ? ABREAST : ABREAST + 1;
		b.n = x->n - b.first < room ? x->n - b.first : room;
		b.n_delta = !based ? 0 : b.first ? b.n : b.n - 1;
		cmp_room(&x->p, x->n_scales + 3 < 38 ? x->n_scales + 3 : 8);
		scale_heads(x, &b);
		for (unsigned t = 0; t < x->n_scales; t++) {
			if (cmp_room(&x->p, 1))
				scale_heads(x, &b);
			scale_row(x, &b, t);
		}
		x->p.row++;
	}
	cmp_note(&x->p,
		 "One capture: each step at its own queue depth times the scale; IOPS over the time"
		 " with I/O, ART weighted by I/Os, 99.999 %% of all I/Os of a replay.%s%s",
		 x->n > CMP_LINES ? " The charts show the first 16 candidates." : "",
		 cmp_absent(&x->p, x->g));
}

/* ---- exact replays ---- */

enum exact { X_IOPS, X_MBS, X_ART, X_P99999, X_RESPONSE, X_LATE, X_SPAN, EXACTS };

static double ns_or_nan(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
}

static void add_exact(const struct replay *r, struct cmp_mean *to)
{
	const char *why = why_no_result(r->test, NULL);
	const double v[EXACTS] = { [X_IOPS] = r->cell->iops,
				   [X_MBS] = r->cell->bytes_per_s / 1e6,
				   [X_ART] = r->service.art_ns / 1e3,
				   [X_P99999] = ns_or_nan(r->service.p99999_ns) / 1e3,
				   [X_RESPONSE] = r->response.art_ns / 1e3,
				   [X_LATE] = ns_or_nan(r->fidelity->late_p99_ns) / 1e3,
				   [X_SPAN] = r->fidelity->span_error_pct / 100 };

	for (unsigned i = 0; i < EXACTS; i++)
		cmp_add(&to[i], v[i], why);
}

static void put_exact(struct captured *x, unsigned candidate)
{
	const struct candidate *k = &x->p.c->candidate[candidate];
	struct cmp_mean v[EXACTS] = { { .n = 0 } };
	struct cmp_page *p = &x->p;

	for (unsigned s = 0; s < k->n_runs; s++)
		if (x->g->of[k->run[s]])
			add_exact(x->g->of[k->run[s]], v);
	put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_ROW_HEAD,
		 cmp_name(p, candidate, v[X_IOPS].n, cmp_tried(p->c, x->g, candidate)));
	for (unsigned i = 0; i < EXACTS; i++) {
		enum numfmt fmt = i == X_IOPS ? NUM_GROUP : i == X_SPAN ? NUM_PCT2 : NUM_GROUP1;
		cmp_put(p, AREA(p->row, 2 + 2 * i, p->row, 3 + 2 * i),
			STYLE(i ? LOOK_CELL : LOOK_STRONG, fmt), &v[i]);
	}
	p->row++;
}

static void pages_exact(struct captured *x)
{
	static const char *const heads[EXACTS] = { [X_IOPS] = "IOPS",
						   [X_MBS] = "MB/s",
						   [X_ART] = "ART (us), from submission",
						   [X_P99999] = "99.999 % (us)",
						   [X_RESPONSE] = "ART (us), from when due",
						   [X_LATE] = "99 % of I/Os less late than (us)",
						   [X_SPAN] = "Longer than the capture by" };

	for (unsigned g = 0; g < x->exact.n; g++) {
		x->g = x->exact.v[g];
		x->n = cmp_present(x->p.c, x->g, x->list);
		cmp_part(&x->p, x->n + 5 < 36 ? x->n + 5 : 8,
			 arena_fmt(x->p.a, "Exact replay - %s", x->g->what));
		cmp_head(&x->p, 0, 1, "Candidate");
		for (unsigned i = 0; i < EXACTS; i++)
			cmp_head(&x->p, 2 + 2 * i, 3 + 2 * i, heads[i]);
		cmp_heads_end(&x->p);
		for (unsigned i = 0; i < x->n; i++) {
			cmp_room(&x->p, 1);
			put_exact(x, x->list[i]);
		}
		cmp_note(&x->p,
			 "Each I/O of the capture at its own time or as fast as it goes; a replay"
			 " outside its limits is \"not valid\".%s",
			 cmp_absent(&x->p, x->g));
		x->p.row++;
	}
}

/* ---- streams alone ---- */

static unsigned stream_at(const struct captured *x, const char *name)
{
	unsigned i = 0;

	while (i < x->n_streams && strcmp(x->stream[i].name, name))
		i++;
	return i;
}

static double share_of(const struct alone *s, unsigned i)
{
	unsigned k = s->s[i].stream;

	return k < s->w->n_streams ? s->w->stream[k].normalized_pct : NAN;
}

static void list_streams(struct captured *x)
{
	x->n_streams = 0;
	for (unsigned r = 0; r < x->p.c->n_runs; r++) {
		const struct alone *s = x->g->of[r];
		for (unsigned i = 0; s && i < s->n && x->n_streams < RWSW_STREAMS; i++) {
			if (stream_at(x, s->s[i].name) == x->n_streams)
				x->stream[x->n_streams++] = (struct stream){ s->s[i].name,
									     share_of(s, i) };
		}
	}
}

static void add_alone(const struct captured *x, struct streams_line *l, const struct alone *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		unsigned at = stream_at(x, s->s[i].name);
		const struct combo *c = s->s[i].combo;
		const char *why = why_no_result(s->t, s->s[i].section);
		if (at == x->n_streams)
			continue;
		cmp_add(&l->iops[at], c && c->n_window ? c->iops : NAN, why);
		cmp_add(&l->art[at], c && c->n_window ? c->art_ns / 1e3 : NAN, why);
	}
	l->used += s->n > 0;
}

static void fill_streams(struct captured *x)
{
	const struct comparison *c = x->p.c;

	list_streams(x);
	x->n = cmp_present(c, x->g, x->list);
	x->alone = arena_array(x->p.a, struct streams_line, x->n);
	for (unsigned i = 0; i < x->n; i++) {
		const struct candidate *k = &c->candidate[x->list[i]];
		x->alone[i] = (struct streams_line){ .candidate = x->list[i] };
		for (unsigned s = 0; s < k->n_runs; s++)
			if (x->g->of[k->run[s]])
				add_alone(x, &x->alone[i], x->g->of[k->run[s]]);
	}
}

/* Right of the streams. */
static unsigned harmonic_col(const struct captured *x)
{
	return 2 + (x->n_streams > STREAMS ? STREAMS : x->n_streams);
}

static double harmonic_of(const struct captured *x, const struct streams_line *l)
{
	double v[RWSW_STREAMS], share[RWSW_STREAMS];

	for (unsigned i = 0; i < x->n_streams; i++) {
		v[i] = cmp_value(&l->iops[i]);
		share[i] = x->stream[i].share;
	}
	return cmp_harmonic(v, share, x->n_streams);
}

/* "=SUM(C5:H5)/SUMPRODUCT(C5:H5/C6:H6)" with the value it has. */
static void put_harmonic(struct captured *x, const struct streams_line *l, uint32_t shares)
{
	struct cmp_page *p = &x->p;
	unsigned col = harmonic_col(x);
	struct area at = AREA(p->row, col, p->row, col + 1);
	double mean = harmonic_of(x, l);

	if (isnan(mean)) {
		put_text(p->s, at, LOOK_NA, "n/a");
		return;
	}
	if (x->n_streams > STREAMS) {
		put_num(p->s, at, STYLE(LOOK_STRONG, NUM_GROUP1), mean);
		return;
	}
	const char *by = grid_ref(p->s->grid, AREA(shares, 2, shares, 1 + x->n_streams), true);
	put_formula(p->s, at, STYLE(LOOK_FORMULA, NUM_GROUP1), mean, "=SUM(%s)/SUMPRODUCT(%s/%s)",
		    by, by, grid_ref(p->s->grid, AREA(p->row, 2, p->row, 1 + x->n_streams), false));
}

static void stream_heads(struct captured *x, bool art, unsigned first, unsigned n)
{
	struct cmp_page *p = &x->p;
	bool mean = !art && first + n == x->n_streams;

	cmp_table_title(p, art ? LOOK_HEAD_DEVICE : LOOK_HEAD_SETUP, 2 + n + 2 * mean,
			arena_fmt(p->a, "%s - %s: %s of each stream alone%s", x->g->sheet,
				  x->g->what, art ? "ART (us)" : "steady-state IOPS",
				  first ? ", continued" : ""));
	cmp_head(p, 0, 1, "Candidate");
	for (unsigned i = 0; i < n; i++)
		cmp_head(p, 2 + i, 2 + i, x->stream[first + i].name);
	if (mean)
		cmp_head(p, harmonic_col(x), harmonic_col(x) + 1, "Harmonic mean");
	cmp_heads_end(p);
	if (art)
		return;
	put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_KEY, "Share replayed, %");
	for (unsigned i = 0; i < n; i++)
		put_num(p->s, AT(p->row, 2 + i), STYLE(LOOK_CENTER, NUM_2),
			x->stream[first + i].share);
	p->row++;
}

static void put_streams(struct captured *x, bool art, unsigned first)
{
	unsigned n = x->n_streams - first < STREAMS ? x->n_streams - first : STREAMS;
	struct cmp_page *p = &x->p;

	cmp_room(p, x->n + 4 < 38 ? x->n + 4 : 8);
	stream_heads(x, art, first, n);
	uint32_t top = p->row;
	for (unsigned i = 0; i < x->n; i++, p->row++) {
		const struct streams_line *l = &x->alone[i];
		put_text(p->s, AREA(p->row, 0, p->row, 1), LOOK_ROW_HEAD,
			 cmp_name(p, l->candidate, l->used, cmp_tried(p->c, x->g, l->candidate)));
		for (unsigned k = 0; k < n; k++)
			cmp_put(p, AT(p->row, 2 + k),
				STYLE(LOOK_CELL, art ? NUM_GROUP1 : NUM_GROUP),
				art ? &l->art[first + k] : &l->iops[first + k]);
		if (!art && first + n == x->n_streams)
			put_harmonic(x, l, top - 1);
	}
	if (n && x->n)
		grid_color_scale(p->s, AREA(top, 2, p->row - 1, 1 + n),
				 art ? SCALE_LOW_GREEN : SCALE_GREEN_RED);
	p->row++;
}

static void pages_streams(struct captured *x)
{
	for (unsigned i = 0; i < x->streams.n; i++) {
		x->g = x->streams.v[i];
		fill_streams(x);
		if (!x->p.n)
			cmp_begin(&x->p, "Individual streams");
		for (unsigned k = 0; k < x->n_streams; k += STREAMS)
			put_streams(x, false, k);
		for (unsigned k = 0; k < x->n_streams; k += STREAMS)
			put_streams(x, true, k);
		cmp_note(&x->p,
			 "Each stream of the capture alone, to its own steady state. Harmonic mean,"
			 " weighted by the shares replayed: the IOPS of the streams one after the"
			 " other in their shares; n/a where one of them has no result.%s",
			 cmp_absent(&x->p, x->g));
	}
}

/* ---- JSON ---- */

static void json_replay(const struct captured *x, struct json *j)
{
	for (unsigned i = 0; i < x->n; i++) {
		const struct scales_line *l = &x->line[i];
		json_object(j, NULL);
		cmp_json_candidate(j, x->p.c, l->candidate, l->used);
		json_str(j, "why", l->used ? NULL : l->why);
		json_array(j, "scales");
		for (unsigned t = 0; t < x->n_scales; t++) {
			json_object(j, NULL);
			json_num(j, "scale", x->scale[t]);
			cmp_json_mean(j, "iops", &l->v[F_IOPS][t], 1);
			cmp_json_mean(j, "art_ns", &l->v[F_ART][t], 1e3);
			cmp_json_mean(j, "lat_p99999_ns", &l->v[F_P99999][t], 1e3);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
}

static void json_streams(struct captured *x, struct json *j)
{
	for (unsigned i = 0; i < x->n; i++) {
		const struct streams_line *l = &x->alone[i];
		json_object(j, NULL);
		cmp_json_candidate(j, x->p.c, l->candidate, l->used);
		json_num(j, "harmonic_mean_iops", harmonic_of(x, l));
		json_array(j, "streams");
		for (unsigned k = 0; k < x->n_streams; k++) {
			json_object(j, NULL);
			json_str(j, "stream", x->stream[k].name);
			json_num(j, "share_pct", x->stream[k].share);
			cmp_json_mean(j, "iops", &l->iops[k], 1);
			cmp_json_mean(j, "art_ns", &l->art[k], 1e3);
			cmp_json_why(j, &l->iops[k]);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
}

static void json_replays(void *ctx, struct cmp_group *g, struct json *j)
{
	struct captured *x = ctx;

	x->g = g;
	fill_replays(x);
	json_replay(x, j);
}

static void json_alone(void *ctx, struct cmp_group *g, struct json *j)
{
	struct captured *x = ctx;

	x->g = g;
	fill_streams(x);
	json_streams(x, j);
}

void cmp_replay_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct captured *x = arena_new(&a, struct captured);

	x->p = (struct cmp_page){ .c = c, .a = &a };
	cmp_each_test(c, add_test, x);
	cmp_json_groups(j, "replays", &x->replays, json_replays, x);
	cmp_json_groups(j, "streams_alone", &x->streams, json_alone, x);
	arena_release(&a);
}

/* ---- the sheet ---- */

static bool applies(const struct comparison *c)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		for (unsigned i = 0; i < c->run[r].d.n_tests; i++) {
			const struct dataset *d = &c->run[r].d;
			const struct replay *one = rwsw_replay(d, &d->test[i]);
			if ((one && (one->n || one->cell)) ||
			    (d->rwsw && sheet_kind(&d->test[i]) == SHEET_STREAMS))
				return true;
		}
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct captured *x = arena_new(&g->arena, struct captured);

	cmp_open(&x->p, c, g, "Replay", "Captured Workload - replay at scales of the queue depth");
	cmp_each_test(c, add_test, x);
	for (unsigned i = 0; i < x->replays.n; i++) {
		x->g = x->replays.v[i];
		fill_replays(x);
		cmp_part(&x->p, x->n_scales + 8 + (x->n_scales > 1) * CHART_ROWS,
			 arena_fmt(x->p.a, "%s - %s", x->g->sheet, x->g->what));
		charts(x);
		put_scales(x);
		x->p.row++;
	}
	pages_exact(x);
	pages_streams(x);
	cmp_close(&x->p);
}

const struct compare_sheet cmp_replay = { 220, applies, build };
