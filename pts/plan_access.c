/* SPDX-License-Identifier: MIT */
/* Accesses: what a definition calls rnd, seq, a workload, a composite, as streams for this drive. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/plan_ctx.h"

/* Without `top` or `cover`: the nine dominant streams, or as many as make 80 %, whichever is more (spec 22, row 32). */
#define TOP_DEFAULT 9
#define COVER_DEFAULT 80.0

/* PTS[GEN-2-SET] */
void ctx_formal(struct ctx *c, const struct def *d)
{
	static const char *const kinds[] = { "test", "workload", "suite" };

	if (def_summary(d).formal)
		return;
	c->formal = false;
	ctx_deviation(c, c->test->clause,
		      arena_fmt(c->a,
				d->hidden ? "%s %s is not as in definition set %d"
					  : "%s %s is not part of definition set %d",
				kinds[d->kind], d->name, c->lib->set));
}

/* "4K", "0.5K" */
static const char *block_name(char out[32], uint32_t bytes)
{
	fmt_block(out, 32, bytes);
	for (char *p = out; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return out;
}

static const char *order_name(uint8_t order)
{
	return order == IO_SEQ ? "SEQ" : "RND";
}

const char *stream_label(struct ctx *c, const struct capture_stream *s)
{
	char b[32];

	return arena_fmt(c->a, "%s %s %s", order_name(s->order), block_name(b, s->bytes),
			 s->op == IO_READ ? "R" : "W");
}

static const char *rw_name(struct ctx *c, double read_pct)
{
	char r[32], w[32];

	return arena_fmt(c->a, "%s/%s", fmt_double(r, sizeof r, read_pct),
			 fmt_double(w, sizeof w, 100 - read_pct));
}

/* ---- mixes ---- */

static bool same_group(const struct group *a, const struct group *b)
{
	/* Copied values, not computed ones: equal is equal. */
	return a->order == b->order && a->bytes == b->bytes && a->read_pct == b->read_pct;
}

/* Equal groups become one. @map (may be NULL) tells where each went. */
static void mix_merge(struct mix *m, unsigned *map)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n; i++) {
		unsigned k = 0;
		while (k < n && !same_group(&m->group[k], &m->group[i]))
			k++;
		if (k == n)
			m->group[n++] = m->group[i];
		else
			m->group[k].share += m->group[i].share;
		if (map)
			map[i] = k;
	}
	m->n = n;
}

static bool is_among(const uint32_t *list, unsigned n, uint32_t v)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return false;
}

/* Composite sizes the drive cannot do are rounded up to its LBA size, and said (spec 13). */
static void mix_round(struct ctx *c, struct mix *m, unsigned *map)
{
	uint32_t lba = c->env->lba_bytes, old[ACCESS_STREAMS_MAX];
	struct buf b = BUF_INIT;
	char was[32], now[32];

	for (unsigned i = 0; i < m->n && m->round_up; i++) {
		uint32_t *bytes = &m->group[i].bytes;
		uint32_t up = (*bytes + lba - 1) / lba * lba;
		old[i] = *bytes;
		*bytes = up;
		if (up == old[i] || is_among(old, i, old[i]))
			continue;
		fmt_block(was, sizeof was, old[i]);
		fmt_block(now, sizeof now, up);
		if (!b.len)
			buf_fmt(&b, "%s: blocks rounded up to the LBA size %u:", m->name, lba);
		buf_fmt(&b, " %s as %s", was, now);
	}
	if (b.len)
		ctx_deviation(c, c->test->clause, arena_strdup(c->a, buf_cstr(&b)));
	buf_release(&b);
	mix_merge(m, map);
}

static double mix_read_pct(const struct mix *m)
{
	double all = 0, read = 0;

	for (unsigned i = 0; i < m->n; i++) {
		all += m->group[i].share;
		read += m->group[i].share * m->group[i].read_pct;
	}
	return read / all;
}

/* rw on a mix: access, size and share stay, the direction is drawn anew. */
static void mix_redirect(struct ctx *c, struct mix *m, double read_pct)
{
	char name[sizeof m->name];

	for (unsigned i = 0; i < m->n; i++)
		m->group[i].read_pct = read_pct;
	mix_merge(m, NULL);
	snprintf(name, sizeof name, "%.50s rw %.24s", m->name, rw_name(c, read_pct));
	memcpy(m->name, name, sizeof name);
}

static int mix_simple(struct ctx *c, const struct node *n, uint8_t order, struct mix *ret)
{
	double read_pct = 0;
	uint32_t bytes = 0;
	bool own = false;
	char b[32];

	if (!value_given(&n->opt[O_RW]) || !value_given(&n->opt[O_BS]))
		return ctx_bad(c, "rnd and seq need 'rw R/W' and 'bs SIZE'");
	int rc = value_rw(c, &n->opt[O_RW], &read_pct, &own);
	if (!rc && own)
		return ctx_bad(c, "'rw own' goes with a workload, not with rnd and seq");
	if (!rc)
		rc = value_block(c, &n->opt[O_BS], &bytes);
	if (rc)
		return rc;
	ret->n = 1;
	ret->group[0] = (struct group){ 100, bytes, order, read_pct };
	snprintf(ret->name, sizeof ret->name, "%s %s %.32s", order_name(order),
		 block_name(b, bytes), rw_name(c, read_pct));
	return 0;
}

static int unknown_access(struct ctx *c, const char *name)
{
	unsigned n = 0;

	for (const struct def *d = c->lib->first; d; d = d->next)
		n += d->kind == DEF_WORKLOAD;
	const char **list = arena_array(c->a, const char *, n + 4);
	n = 0;
	for (const struct def *d = c->lib->first; d; d = d->next)
		if (d->kind == DEF_WORKLOAD)
			list[n++] = d->name;
	list[n++] = "rnd";
	list[n++] = "seq";
	list[n] = "composite";
	return ctx_unknown(c, "workload", name, list);
}

static int mix_workload(struct ctx *c, const char *name, struct mix *ret)
{
	const struct def *d = def_find(c->lib, DEF_WORKLOAD, name);

	if (!d)
		return unknown_access(c, name);
	ctx_formal(c, d);
	const struct workload_def *wl = d->wl;
	snprintf(ret->name, sizeof ret->name, "%s", d->name);
	for (unsigned i = 0; i < wl->n_streams; i++) {
		const struct wl_stream *s = &wl->stream[i];
		ret->group[ret->n++] = (struct group){ s->share, s->bytes, s->order,
						       s->op == IO_READ ? 100 : 0 };
	}
	for (unsigned i = 0; i < wl->n_sizes; i++) {
		const struct size_share *s = &wl->size[i];
		ret->group[ret->n++] = (struct group){ s->share, (uint32_t)s->bytes, wl->order,
						       wl->read_pct };
	}
	for (unsigned i = 1; i < ret->n; i++)
		ret->round_up |= ret->group[i].bytes != ret->group[0].bytes;
	ret->zone = wl->zone;
	ret->n_zones = wl->n_zones;
	ret->align_lba = wl->align_lba;
	return 0;
}

/* ---- captures ---- */

static void group_of_stream(struct ctx *c, const struct capture_stream *s, struct group *ret)
{
	*ret = (struct group){ s->share_pct, s->bytes, s->order, s->op == IO_READ ? 100 : 0 };
}

static int composite_rule(struct ctx *c, struct span w, unsigned *ret_top, double *ret_cover)
{
	static const char *const words[] = { "top", "cover", NULL };
	uint64_t v;

	*ret_top = 0;
	*ret_cover = 0;
	for (unsigned i = 0; i + 1 < w.n; i += 2) {
		const char *val = w.w[i + 1].s;
		if (!strcmp(w.w[i].s, "top")) {
			if (parse_uint(val, 1, ACCESS_STREAMS_MAX, &v))
				return ctx_bad(c, "bad number of streams '%s' (1 to %d)", val,
					       ACCESS_STREAMS_MAX);
			*ret_top = (unsigned)v;
		} else if (!strcmp(w.w[i].s, "cover")) {
			if (parse_pct(val, ret_cover) || *ret_cover <= 0 || *ret_cover > 100)
				return ctx_bad(c, "bad percentage '%s' of 'cover'", val);
		} else {
			return ctx_unknown(c, "word", w.w[i].s, words);
		}
	}
	if (w.n % 2)
		return ctx_bad(c, "'%s' needs a value", w.w[w.n - 1].s);
	if (!w.n) {
		*ret_top = TOP_DEFAULT;
		*ret_cover = COVER_DEFAULT;
	}
	return 0;
}

int composite_take(struct ctx *c, struct span words, struct composite *ret)
{
	const struct capture_facts *cap = c->env->capture;
	double cover, sum = 0;
	unsigned top;

	BUG_ON(!cap);
	int rc = composite_rule(c, words, &top, &cover);
	if (rc)
		return rc;
	if (!cap->n_streams)
		return ctx_bad(c, "capture %s has no IO", cap->name);
	*ret = (struct composite){ 0 };
	while (ret->n_streams < cap->n_streams && ret->n_streams < ACCESS_STREAMS_MAX &&
	       (ret->n_streams < top || sum < cover - 1e-9)) {
		const struct capture_stream *s = &cap->stream[ret->n_streams];
		sum += s->share_pct;
		group_of_stream(c, s, &ret->mix.group[ret->n_streams++]);
	}
	if (sum < cover - 1e-9 && !c->trial)
		ctx_deviation(c, c->test->clause,
			      arena_fmt(c->a,
					"capture %s: its %u largest streams cover %.1f %% of "
					"its IOs, %.1f %% were asked for",
					cap->name, ret->n_streams, sum, cover));
	c->plan->n_dominant = ret->n_streams;
	c->plan->coverage_pct = sum;
	ret->mix.n = ret->n_streams;
	ret->mix.round_up = true;
	snprintf(ret->mix.name, sizeof ret->mix.name, "composite %.48s top %u", cap->name,
		 ret->n_streams);
	return 0;
}

void composite_round(struct ctx *c, struct composite *comp)
{
	mix_round(c, &comp->mix, comp->group_of);
}

static int mix_composite(struct ctx *c, struct span w, struct mix *ret)
{
	struct composite comp;
	char show[48];

	if (w.n < 3 || strcmp(w.w[1].s, "of"))
		return ctx_bad(c, "it is written: composite of $capture [top N|cover PCT]");
	if (strcmp(w.w[2].s, "$capture"))
		return ctx_bad(c, "a composite is of $capture, not of '%s'",
			       lex_show(show, w.w[2].s));
	int rc = composite_take(c, (struct span){ w.w + 3, w.n - 3 }, &comp);
	if (!rc)
		*ret = comp.mix;
	return rc;
}

/* "@3": the third stream of the capture, as foreach ... in streams of $capture gives it. */
static int mix_stream(struct ctx *c, const char *word, struct mix *ret)
{
	uint64_t i;

	if (parse_uint(word + 1, 0, UINT32_MAX, &i) || !c->env->capture ||
	    i >= c->env->capture->n_streams)
		BUG("stream word %s", word);
	const struct capture_stream *s = &c->env->capture->stream[i];
	ret->n = 1;
	ret->round_up = true;
	group_of_stream(c, s, &ret->group[0]);
	snprintf(ret->name, sizeof ret->name, "%s", stream_label(c, s));
	return 0;
}

static int mix_take(struct ctx *c, const struct node *n, struct mix *ret)
{
	struct span w;
	char show[48];

	int rc = words_expand(c, n->access, &w);
	if (rc)
		return rc;
	const char *s = w.n ? w.w[0].s : "";
	if (!strcmp(s, "composite"))
		return mix_composite(c, w, ret);
	if (w.n != 1)
		return ctx_bad(c, "an access is one word, not '%s' after '%s'",
			       w.n ? lex_show(show, w.w[1].s) : "", s);
	if (!strcmp(s, "rnd") || !strcmp(s, "seq"))
		return mix_simple(c, n, *s == 'r' ? IO_RND : IO_SEQ, ret);
	if (value_given(&n->opt[O_BS]))
		return ctx_bad(c, "'bs' goes with rnd and seq; '%s' has sizes of its own",
			       *s == '@' ? "a stream" : lex_show(show, s));
	return *s == '@' ? mix_stream(c, s, ret) : mix_workload(c, s, ret);
}

/* ---- to streams ---- */

static unsigned dir_of(double read_pct)
{
	return read_pct >= 100 ? 1 : read_pct <= 0 ? 2 : 3;
}

/* The same stream of the same region has one position for the whole test; a fill has its own from the start. */
static int cursor_id(struct ctx *c, struct cursor_key key, bool fresh, uint16_t *ret)
{
	unsigned i = 0;

	if (!c->cursor)
		c->cursor = arena_array(c->a, struct cursor_key, CURSOR_KEYS_MAX);
	while (i < c->n_cursors &&
	       (fresh || c->cursor[i].regions != key.regions || c->cursor[i].region != key.region ||
		c->cursor[i].bytes != key.bytes || c->cursor[i].dir != key.dir))
		i++;
	if (i == CURSOR_KEYS_MAX)
		return ctx_bad(c, "more than %u SEQ streams in a test", CURSOR_KEYS_MAX);
	if (i == c->n_cursors) {
		c->cursor[c->n_cursors++] = key;
		if (fresh)
			c->cursor[i].regions = 0; /* matches no other */
	}
	*ret = (uint16_t)i;
	return 0;
}

static int add_stream(struct ctx *c, struct access *a, const struct stream *s)
{
	if (a->n_streams == ACCESS_STREAMS_MAX)
		return ctx_bad(c, "access '%s' has more than %d streams", a->name,
			       ACCESS_STREAMS_MAX);
	struct stream *to = &a->stream[a->n_streams++];
	to->share = s->share;
	to->bytes = s->bytes;
	to->op = s->op;
	to->order = s->order;
	to->cursor = s->cursor;
	to->region = s->region;
	return 0;
}

static int add_group(struct ctx *c, struct access *a, const struct group *g, unsigned region)
{
	struct stream s = { .bytes = g->bytes, .order = g->order, .cursor = CURSOR_NONE };
	int rc = 0;

	if (g->order == IO_SEQ) {
		struct cursor_key key = { a->regions, region, g->bytes, dir_of(g->read_pct) };
		s.region = (uint16_t)region;
		rc = cursor_id(c, key, a->exact, &s.cursor);
	}
	s.op = IO_READ;
	s.share = g->share * g->read_pct / 100;
	if (!rc && s.share > 0)
		rc = add_stream(c, a, &s);
	s.op = IO_WRITE;
	s.share = g->share * (100 - g->read_pct) / 100;
	if (!rc && s.share > 0)
		rc = add_stream(c, a, &s);
	return rc;
}

/* @share: per group, 0 leaves it out (a replay step); NULL: the mix's own. Regions are those of the whole mix. */
static int mix_access(struct ctx *c, const struct mix *m, const double *share, struct access *a)
{
	unsigned region = 0;

	snprintf(a->name, sizeof a->name, "%s", m->name);
	a->exact = c->at->kind == ST_FILL;
	a->align = m->align_lba ? c->env->lba_bytes : 0;
	for (unsigned i = 0; i < m->n; i++)
		a->regions += m->group[i].order == IO_SEQ;
	if (!a->regions)
		a->regions = 1;
	for (unsigned i = 0; i < m->n_zones; i++) {
		a->zone[i].from = m->zone[i].from;
		a->zone[i].to = m->zone[i].to;
		a->zone[i].share = m->zone[i].share / 100;
	}
	a->n_zones = m->n_zones;
	for (unsigned i = 0; i < m->n; i++) {
		struct group g = m->group[i];
		if (share)
			g.share = share[i];
		int rc = g.share > 0 ? add_group(c, a, &g, region) : 0;
		if (rc)
			return rc;
		region += g.order == IO_SEQ;
	}
	return 0;
}

/* Zones of a drive so small that one holds not one IO cannot be drawn from. */
static void note_sizes(struct ctx *c, const struct access *a)
{
	for (unsigned i = 0; i < a->n_streams; i++) {
		const struct stream *s = &a->stream[i];
		uint64_t parts = s->order == IO_SEQ ? a->regions : 1;
		if (s->bytes > c->largest)
			c->largest = s->bytes;
		if (parts * s->bytes > c->need_bytes)
			c->need_bytes = parts * s->bytes;
		for (unsigned z = 0; z < a->n_zones && s->order == IO_RND; z++) {
			double width = a->zone[z].to - a->zone[z].from;
			uint64_t need = (uint64_t)ceil(2 * (double)s->bytes / width);
			if (need > c->need_bytes)
				c->need_bytes = need;
		}
	}
}

static const struct access *intern(struct ctx *c, const struct access *a)
{
	for (unsigned i = 0; i < c->n_access; i++)
		if (!memcmp(c->access[i], a, sizeof *a))
			return c->access[i];
	if (c->n_access == c->cap_access) {
		const struct access **old = c->access;
		c->cap_access = c->cap_access ? 2 * c->cap_access : 64;
		c->access = arena_array(c->a, const struct access *, c->cap_access);
		for (unsigned i = 0; i < c->n_access; i++)
			c->access[i] = old[i];
	}
	c->access[c->n_access++] = a;
	return a;
}

static uint32_t common_bytes(const struct mix *m)
{
	for (unsigned i = 1; i < m->n; i++)
		if (m->group[i].bytes != m->group[0].bytes)
			return 0;
	return m->group[0].bytes;
}

static const char *na_reason(struct ctx *c, const struct mix *m)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->group[i].bytes % c->env->lba_bytes)
			return arena_fmt(c->a, "n/a (LBA %u)", c->env->lba_bytes);
	return NULL;
}

static int check_fill(struct ctx *c, const struct mix *m, const char *na)
{
	if (m->n != 1 || m->group[0].order != IO_SEQ || m->group[0].read_pct > 0)
		return ctx_bad(c, "a fill is one sequential stream of writes, '%s' is not",
			       m->name);
	if (na)
		return ctx_bad(c, "a fill with '%s' is not possible on this drive: %s", m->name,
			       na);
	return 0;
}

int access_build(struct ctx *c, const struct node *n, struct cell_access *ret)
{
	struct mix m = { 0 };
	double read_pct = 0;
	bool own = true;

	int rc = mix_take(c, n, &m);
	if (rc)
		return rc;
	mix_round(c, &m, NULL);
	bool simple = m.n == 1 && value_given(&n->opt[O_BS]);
	if (value_given(&n->opt[O_RW]) && !simple)
		rc = value_rw(c, &n->opt[O_RW], &read_pct, &own);
	if (!rc && !own)
		mix_redirect(c, &m, read_pct);
	ret->na = na_reason(c, &m);
	if (!rc && n->kind == ST_FILL)
		rc = check_fill(c, &m, ret->na);
	if (rc)
		return rc;
	struct access *a = arena_new(c->a, struct access);
	rc = mix_access(c, &m, NULL, a);
	if (rc)
		return rc;
	if (!ret->na)
		note_sizes(c, a);
	ret->access = intern(c, a);
	ret->read_pct = own ? mix_read_pct(&m) : read_pct;
	ret->block_bytes = common_bytes(&m);
	return 0;
}

int replay_accesses(struct ctx *c, const struct composite *comp, const struct access *const **ret)
{
	const struct capture_facts *cap = c->env->capture;

	*ret = c->replay.list;
	if (*ret && c->replay.n_streams == comp->n_streams)
		return 0;
	const struct access **list = arena_array(c->a, const struct access *, cap->n_steps + 1);

	for (unsigned i = 0; i < cap->n_steps; i++) {
		double share[ACCESS_STREAMS_MAX] = { 0 }, sum = 0;
		for (unsigned k = 0; k < comp->n_streams; k++) {
			share[comp->group_of[k]] += cap->step[i].share_pct[k];
			sum += cap->step[i].share_pct[k];
		}
		if (!(sum > 0))
			continue;
		struct access *a = arena_new(c->a, struct access);
		int rc = mix_access(c, &comp->mix, share, a);
		if (rc)
			return rc;
		note_sizes(c, a);
		snprintf(a->name, sizeof a->name, "%.60s step %u", cap->name, i + 1);
		list[i] = a; /* its name is its own: no other is the same */
	}
	c->replay.n_streams = comp->n_streams;
	*ret = c->replay.list = list;
	return 0;
}
