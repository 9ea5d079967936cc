/* SPDX-License-Identifier: MIT */
/* Pages about a capture: IO streams distribution, streams by quantity, IO stream map (spec 17.1); the header block (19). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/panels.h"
#include "reports/rwsw.h"

#define LISTED 12 /* streams of the table */
#define SHARES 9 /* bars beside their names: programs leave out names of more */
#define BARS 20 /* of streams by quantity */
#define FULL_PX (PAGE_COLS * PAGE_COL_PX)

uint32_t rwsw_color(unsigned i)
{
	static const uint32_t color[] = { 0x1F4E79, 0xC00000, 0x2E75B6, 0x9DC3E6, 0x7F7F7F,
					  0xED7D31, 0xFFC000, 0x7B3F00, 0xA9D18E };

	return i < sizeof color / sizeof color[0] ? color[i] : 0xD0CECE;
}

const char *rwsw_span(struct arena *a, double ns)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = { { 3600e9, "h" }, { 60e9, "min" }, { 1e9, "s" } };

	for (unsigned i = 0; i < 3; i++)
		if (ns >= 2 * unit[i].ns || (ns == unit[i].ns && i < 2) || (i == 2 && ns >= 1e9))
			return arena_fmt(a, "%.4g %s", ns / unit[i].ns, unit[i].name);
	return arena_fmt(a, "%.4g ms", ns / 1e6);
}

unsigned rwsw_bin(unsigned n, unsigned max)
{
	static const unsigned nice[] = { 1,   2,   5,	10,  15,   20,	 30,   60,
					 120, 300, 600, 900, 1800, 3600, 7200, 14400 };
	unsigned need = (n + max - 1) / max;

	for (unsigned i = 0; i < sizeof nice / sizeof nice[0]; i++)
		if (nice[i] >= need)
			return nice[i];
	return need;
}

unsigned rwsw_dominant(const struct workload *w, unsigned max)
{
	unsigned n = w->n_used ? w->n_used : w->n_streams;

	return n < max ? n : max;
}

/* ---- the header block ---- */

static const char *known(const char *s)
{
	return *s ? s : "not recorded";
}

static const char *length_text(struct arena *a, const struct workload *w)
{
	const char *steps = w->n_steps ? arena_fmt(a, ", %u steps", w->n_steps) : "";

	if (w->duration_ns < 0)
		return w->step_ns > 0 ? arena_fmt(a, "- / %s", rwsw_span(a, (double)w->step_ns))
				      : "not recorded";
	return arena_fmt(a, "%s / %s%s", rwsw_span(a, (double)w->duration_ns),
			 w->step_ns > 0 ? rwsw_span(a, (double)w->step_ns) : "-", steps);
}

static const char *used_text(struct arena *a, const struct workload *w)
{
	if (!w->n_used) /* an exact replay takes every IO */
		return w->n_all ? arena_fmt(a, "all %u", w->n_all) : "-";
	if (!w->n_all)
		return arena_fmt(a, "%u", w->n_used);
	if (isnan(w->used_pct))
		return arena_fmt(a, "%u of %u", w->n_used, w->n_all);
	return arena_fmt(a, "%u of %u (%.1f %% of IOs)", w->n_used, w->n_all, w->used_pct);
}

const char *rwsw_range(struct arena *a, int low, int high)
{
	return low == high ? arena_fmt(a, "%d", low) : arena_fmt(a, "%d - %d", low, high);
}

static const char *qd_text(struct arena *a, const struct workload *w)
{
	int64_t most = -1;

	for (unsigned i = 0; i < w->n_steps; i++)
		most = w->step[i].qd_max > most ? w->step[i].qd_max : most;
	if (!w->qd_high)
		return "not known";
	const char *range = rwsw_range(a, w->qd_low, w->qd_high);
	return most < 0 ? range : arena_fmt(a, "%s (moments: %lld)", range, (long long)most);
}

/* "x1 - x32"; "x1": of the test, or of no replay. */
static const char *scale_text(struct arena *a, const struct dataset *d, const struct test *t)
{
	const struct replay *r = rwsw_replay(d, t);
	const char *speed = r && r->fidelity ? r->fidelity->speed : "";

	if (*speed)
		return arena_fmt(a, "exact replay, speed %s", speed);
	if (!r || !r->n)
		return "-";
	return r->n == 1 ? r->scale[0].name
			 : arena_fmt(a, "%s - %s (%u)", r->scale[0].name, r->scale[r->n - 1].name,
				     r->n);
}

static const char *prepared_text(struct arena *a, const struct dataset *d, const struct test *t)
{
	const struct section *s = t->n_sections ? &t->section[0] : NULL;
	const char *fill = s && s->fill
				   ? arena_fmt(a, "%s %.2fx", s->fill->access,
					       (double)s->fill_bytes / (double)d->capacity_bytes)
				   : "";
	const char *loop = s && s->rounds > 0 ? sheet_kind(t) == SHEET_STREAMS ? "stream to SS"
									       : "composite to SS"
					      : "";

	if (!*fill && !*loop)
		return "none";
	return arena_fmt(a, "%s%s%s", fill, *fill && *loop ? ", " : "", loop);
}

void rwsw_header(struct header *h, const struct dataset *d, const struct test *t, struct arena *a)
{
	const struct workload *w = &d->rwsw->cap;
	const char *purge = h->setup[2].value, *rounds = h->setup[7].value;
	const char *name = *w->name ? w->name : "-";

	h->rev = RWSW_REV;
	h->subject = arena_fmt(a, "RWSW - %s - %s", *t->title ? t->title : t->name, name);
	h->setup[0] = (struct pair){ "Capture",
				     *w->began ? arena_fmt(a, "%s, %.10s", name, w->began) : name };
	h->setup[1] = (struct pair){ "  Level / drive", arena_fmt(a, "%s / %s", known(w->level),
								  *w->devices ? w->devices : "-") };
	h->setup[2] = (struct pair){ "  Duration / step", length_text(a, w) };
	h->setup[3] = (struct pair){ "  IO streams used", used_text(a, w) };
	h->setup[4] = (struct pair){ "  Native QD range", qd_text(a, w) };
	h->setup[5] = (struct pair){ "  QD scale", scale_text(a, d, t) };
	h->setup[6] = (struct pair){ "Purge", purge };
	h->setup[7] = (struct pair){ "Pre-condition", prepared_text(a, d, t) };
	if (*rounds && strcmp(rounds, "-") && strcmp(h->setup[8].value, "none") == 0)
		h->setup[8] = (struct pair){ "  SS rounds", rounds };
}

/* ---- IO streams distribution ---- */

/* Share of a stream in the first replay of the run: of all IOs replayed. */
static double replayed_pct(const struct dataset *d, const struct page *p, unsigned k)
{
	const struct replay *r = rwsw_replay(d, p->t);
	const struct replay_scale *s = r && r->n ? &r->scale[0] : NULL;
	uint64_t all = 0;

	for (unsigned i = 0; s && i <= d->rwsw->cap.n_streams; i++)
		all += s->of_sum[i];
	return all ? 100.0 * (double)s->of_sum[k] / (double)all : NAN;
}

static const struct table_head stream_heads[] = {
	{ 0, 0, "Rank" },	  { 1, 2, "IO stream" },    { 3, 3, "IOs" },
	{ 4, 5, "% of all IOs" }, { 6, 7, "Normalised %" }, { 8, 8, "Cumulative" },
	{ 9, 9, "Replayed %" },
};

static void put_stream(struct page *p, unsigned i, uint32_t row, uint32_t first)
{
	const struct workload *w = &p->d->rwsw->cap;
	const struct io_stream *s = &w->stream[i];
	struct grid *g = p->s->grid;
	double sum = 0;

	for (unsigned k = 0; k <= i; k++)
		sum += w->stream[k].share_pct;
	put_int(p->s, AT(row, 0), LOOK_ROW_HEAD, i + 1);
	put_text(p->s, AREA(row, 1, row, 2), s->used ? LOOK_ROW_HEAD : LOOK_CENTER, s->name);
	put_num(p->s, AT(row, 3), STYLE(LOOK_CELL, NUM_GROUP), s->ios ? (double)s->ios : NAN);
	put_num(p->s, AREA(row, 4, row, 5), STYLE(LOOK_CELL, NUM_2), s->share_pct);
	if (s->used || !w->n_used)
		put_num(p->s, AREA(row, 6, row, 7), STYLE(LOOK_STRONG, NUM_2),
			s->used ? s->normalized_pct : s->share_pct);
	else
		put_text(p->s, AREA(row, 6, row, 7), LOOK_NA, "not used");
	put_formula(p->s, AT(row, 8), STYLE(LOOK_FORMULA, NUM_2), sum, "=SUM(%s)",
		    grid_ref(g, AREA(first, 4, row, 4), false));
	put_num(p->s, AT(row, 9), STYLE(LOOK_CELL, NUM_2), replayed_pct(p->d, p, i));
}

static unsigned listed(const struct workload *w)
{
	return w->n_streams > LISTED ? LISTED : w->n_streams;
}

/* All streams that have no line of their own. */
static uint32_t put_others(struct page *p, uint32_t row)
{
	const struct workload *w = &p->d->rwsw->cap;
	unsigned n = listed(w);
	double ios = (double)w->ios, share = 100;

	for (unsigned i = 0; i < n; i++) {
		ios -= (double)w->stream[i].ios;
		share -= w->stream[i].share_pct;
	}
	if (w->n_all <= n)
		return row;
	put_text(p->s, AT(row, 0), LOOK_CENTER, "-");
	put_fmt(p->s, AREA(row, 1, row, 2), LOOK_CENTER, "other (%u)", w->n_all - n);
	put_num(p->s, AT(row, 3), STYLE(LOOK_CELL, NUM_GROUP), w->ios > 0 ? ios : NAN);
	put_num(p->s, AREA(row, 4, row, 5), STYLE(LOOK_CELL, NUM_2),
		w->ios > 0 ? 100 * ios / (double)w->ios : share);
	put_text(p->s, AREA(row, 6, row, 7), LOOK_NA,
		 w->n_used > n ? "see D_streams"
		 : w->n_used   ? "not used"
			       : "-");
	put_text(p->s, AT(row, 8), LOOK_NA, "-");
	put_text(p->s, AT(row, 9), LOOK_NA, "-");
	return row + 1;
}

static void put_sums(struct page *p, uint32_t first, uint32_t row)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct grid *g = p->s->grid;
	double normal = 0, share = 0;

	for (unsigned i = 0; i < listed(w); i++)
		normal += w->stream[i].used ? w->stream[i].normalized_pct
			  : w->n_used	    ? 0
					    : w->stream[i].share_pct;
	for (unsigned i = 0; i < w->n_used; i++)
		share += w->stream[i].share_pct;
	share = w->n_used ? share : 100;
	put_text(p->s, AREA(row, 0, row, 2), LOOK_KEY, "All IOs; the streams used");
	put_num(p->s, AT(row, 3), STYLE(LOOK_CELL, NUM_GROUP), w->ios > 0 ? (double)w->ios : NAN);
	put_num(p->s, AREA(row, 4, row, 5), STYLE(LOOK_STRONG, NUM_2), share);
	put_formula(p->s, AREA(row, 6, row, 7), STYLE(LOOK_FORMULA, NUM_2), normal, "=SUM(%s)",
		    grid_ref(g, AREA(first, 6, row - 1, 6), false));
	put_text(p->s, AT(row, 8), LOOK_NA, "-");
	put_text(p->s, AT(row, 9), LOOK_NA, "-");
}

static const char *count_text(struct arena *a, int64_t n, int64_t bytes)
{
	char size[32];

	if (n < 0)
		return "not recorded";
	if (bytes < 0)
		return arena_fmt(a, "%lld", (long long)n);
	return arena_fmt(a, "%lld, %s", (long long)n,
			 fmt_capacity(size, sizeof size, (uint64_t)bytes));
}

/* What is known of the capture, at the right of the streams. */
static void put_facts(struct page *p, uint32_t row)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct arena *a = &p->s->grid->arena;
	const char *sha = *w->sha256 ? arena_fmt(a, "%.12s...%s", w->sha256,
						 strlen(w->sha256) > 8
							 ? w->sha256 + strlen(w->sha256) - 8
							 : "")
				     : "not recorded";
	const struct pair line[] = {
		{ "Capture", *w->name ? w->name : "-" },
		{ "Format / event",
		  arena_fmt(a, "%s%s%s", known(w->format), *w->event ? " / " : "", w->event) },
		{ "SHA-256", sha },
		{ "Recorded (UTC)", known(w->began) },
		{ "Level", known(w->level) },
		{ "Drive", known(w->devices) },
		{ "Duration / step", length_text(a, w) },
		{ "Records / IOs", arena_fmt(a, "%s / %s", count_text(a, w->records, -1),
					     count_text(a, w->ios, -1)) },
		{ "Reads", count_text(a, w->reads, w->bytes_read) },
		{ "Writes", count_text(a, w->writes, w->bytes_written) },
		{ "Events lost", count_text(a, w->lost, -1) },
		{ "RND or SEQ", known(w->seq_rule) },
		{ "Steps without IO",
		  w->n_steps ? arena_fmt(a, "%u of %u", w->n_idle, w->n_steps) : "not recorded" },
		{ "Native QD", qd_text(a, w) },
		{ "IO streams used", used_text(a, w) },
	};

	put_text(p->s, AREA(row, 11, row, 15), LOOK_HEAD_SETUP, "THE CAPTURE");
	for (unsigned i = 0; i < sizeof line / sizeof line[0]; i++) {
		put_text(p->s, AREA(row + 1 + i, 11, row + 1 + i, 12), LOOK_KEY_SETUP, line[i].key);
		put_text(p->s, AREA(row + 1 + i, 13, row + 1 + i, 15), LOOK_VALUE, line[i].value);
	}
}

static void share_chart(struct page *p, uint32_t row)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct chart c = chart_new(CHART_BAR, "% of the IOs", NULL);
	const char *name[SHARES];
	double all[SHARES], normal[SHARES], top = 0;
	unsigned n = rwsw_dominant(w, SHARES);
	struct plots pl;

	for (unsigned i = 0; i < n; i++) { /* the first one at the top */
		const struct io_stream *s = &w->stream[n - 1 - i];
		name[i] = s->name;
		all[i] = s->share_pct;
		normal[i] = s->normalized_pct;
		top = fmax(top, fmax(isnan(all[i]) ? 0 : all[i], isnan(normal[i]) ? 0 : normal[i]));
	}
	plots_begin(&pl, p->s->grid,
		    arena_fmt(&p->s->grid->arena, "%s: shares of the IO streams", p->t->sheet));
	struct range names = plots_labels(&pl, "stream", name, n);
	struct series series[] = {
		{ .name = "Share of all IOs of the capture",
		  .x = names,
		  .y = plots_column(&pl, "% of all IOs", all, n),
		  .color = 0x9DC3E6,
		  .label_fmt = NUM_1 },
		{ .name = "Normalised: as replayed",
		  .x = names,
		  .y = plots_column(&pl, "normalised %", normal, n),
		  .color = 0x1F4E79,
		  .labels = true,
		  .label_fmt = NUM_1 },
	};
	if (w->n_streams > n)
		c.x.title = arena_fmt(&p->s->grid->arena, "%% of the IOs (the %u largest streams)",
				      n);
	series[0].labels = !w->n_used;
	axis_round(&c.x, 0, top * 1.06);
	c.x.fmt = NUM_INT;
	c.x.grid = true;
	c.y.grid = false;
	c.legend = LEGEND_TOP;
	c.gap = n > 6 ? 35 : 60;
	panel_put(p, &c, (struct place){ row, 0, FULL_PX, (p->next - row - 2) * ROW_PX }, series,
		  2);
}

static const char *stream_note(const struct page *p)
{
	const struct replay *r = rwsw_replay(p->d, p->t);

	if (!p->d->rwsw->cap.n_used)
		return "No test of this run chose streams: an exact replay takes every I/O.";
	return r && r->n ? "Replayed: of all I/Os of the first replay. In a closed loop a step of"
			   " fast streams makes more I/Os than one of slow ones."
			 : "";
}

void rwsw_page_streams(struct page *p)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct arena *a = &p->s->grid->arena;

	page_begin(p, "Table",
		   arena_fmt(a, "IO Streams Distribution - %s%s%s", *w->name ? w->name : "capture",
			     isnan(w->used_pct) ? "" : ", streams used ",
			     isnan(w->used_pct) ? ""
						: arena_fmt(a, "%.1f %% of all IOs", w->used_pct)));
	page_banner(p, NULL);
	uint32_t row = p->row, first = row + 1;
	put_heads(p, row++, stream_heads, sizeof stream_heads / sizeof stream_heads[0]);
	put_facts(p, p->row);
	for (unsigned i = 0; i < listed(w); i++)
		put_stream(p, i, row++, first);
	if (!w->n_streams)
		put_text(p->s, AREA(row, 0, row, 9), LOOK_NA,
			 "no stream was run before the test ended");
	else
		put_sums(p, first, put_others(p, row));
	put_text(p->s, AREA(p->row + 15, 0, p->row + 15, 9), LOOK_NOTE, stream_note(p));
	row = p->row + 17;
	if (w->n_streams)
		share_chart(p, row);
}

/* ---- streams by quantity ---- */

static unsigned bars_of(const struct workload *w)
{
	return w->n_streams < BARS ? w->n_streams : BARS;
}

static void quantity_chart(struct page *p, struct plots *pl, struct range names)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct chart c = chart_new(CHART_COLUMN, NULL, w->ios > 0 ? "IOs" : "% of the IOs");
	double v[BARS], top = 0;
	uint32_t color[BARS];

	for (unsigned i = 0; i < bars_of(w); i++) {
		v[i] = w->ios > 0 ? (double)w->stream[i].ios : w->stream[i].share_pct;
		color[i] = w->stream[i].used ? 0x2E75B6 : 0xBFBFBF;
		top = fmax(top, isnan(v[i]) ? 0 : v[i]);
	}
	struct series one = { .name = c.y.title,
			      .x = names,
			      .y = plots_column(pl, c.y.title, v, bars_of(w)),
			      .color = 0x2E75B6,
			      .labels = true,
			      .label_fmt = w->ios > 0 ? NUM_GROUP : NUM_1,
			      .point_color = color,
			      .n_points = bars_of(w) };
	axis_round(&c.y, 0, top * 1.1);
	c.y.fmt = axis_fmt(c.y.max);
	c.title = "IOs by stream (blue: used by the tests)";
	c.legend = LEGEND_NONE;
	c.gap = 40;
	c.x.bare = true;
	panel_put(p, &c, (struct place){ p->row, 0, FULL_PX, 16 * ROW_PX }, &one, 1);
}

static void coverage_chart(struct page *p, struct plots *pl, struct range names)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct chart c = chart_new(CHART_LINE, "The streams, the largest first",
				   "Coverage, % of all IOs");
	double v[BARS], rule[BARS], sum = 0;

	for (unsigned i = 0; i < bars_of(w); i++) {
		sum += w->stream[i].share_pct;
		v[i] = sum;
		rule[i] = 80;
	}
	struct series series[] = { { .name = "Coverage of the streams up to this one",
				     .x = names,
				     .y = plots_column(pl, "coverage %", v, bars_of(w)),
				     .color = 0xED7D31,
				     .width = 2,
				     .markers = true },
				   { .name = "80 %: enough, by the rule of thumb",
				     .x = names,
				     .y = plots_column(pl, "80 %", rule, bars_of(w)),
				     .color = 0x7F7F7F,
				     .width = 1,
				     .dash = DASH_DASH } };
	c.y.min = 0;
	c.y.max = 100;
	c.y.unit = 20;
	c.y.fmt = NUM_INT;
	c.x.bare = true;
	c.legend = LEGEND_TOP;
	panel_put(p, &c, (struct place){ p->row + 16, 0, FULL_PX, 14 * ROW_PX }, series,
		  isnan(sum) ? 0 : 2);
}

void rwsw_page_quantity(struct page *p)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct arena *a = &p->s->grid->arena;
	const char *name[BARS];
	struct plots pl;

	if (!w->stored || !w->n_streams)
		return;
	page_begin(p, "Plot",
		   arena_fmt(a, "IO Streams by Quantity - %u streams%s", w->n_all,
			     w->n_all > bars_of(w)
				     ? arena_fmt(a, ", the largest %u shown", bars_of(w))
				     : ""));
	page_banner(p, NULL);
	plots_begin(&pl, p->s->grid, arena_fmt(a, "%s: IO streams by quantity", p->t->sheet));
	for (unsigned i = 0; i < bars_of(w); i++)
		name[i] = w->stream[i].name;
	struct range names = plots_labels(&pl, "stream", name, bars_of(w));
	quantity_chart(p, &pl, names);
	coverage_chart(p, &pl, names);
}

void rwsw_pages(struct page *p)
{
	rwsw_page_map(p, NULL);
	rwsw_page_streams(p);
	rwsw_page_quantity(p);
}
