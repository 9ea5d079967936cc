/* SPDX-License-Identifier: MIT */
/* Workload blocks: either `stream` lines, or `sizes` with `rw` (and `zones`, `order`, `align`). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/def_ast.h"
#include "workloads/access.h"

#define BLOCK_MAX (1u << 30)

int parse_rw(const char *s, double *ret_read_pct)
{
	const char *slash = strchr(s, '/');
	char head[32];
	double r, w;

	if (!slash || (size_t)(slash - s) >= sizeof head)
		return -EINVAL;
	memcpy(head, s, (size_t)(slash - s));
	head[slash - s] = 0;
	if (parse_number(head, &r) || parse_number(slash + 1, &w))
		return -EINVAL;
	if (r < 0 || w < 0 || fabs(r + w - 100) > 1e-9)
		return -EINVAL;
	*ret_read_pct = r;
	return 0;
}

int parse_pct(const char *s, double *ret)
{
	size_t n = strlen(s);
	char head[32];

	if (n < 2 || n > sizeof head || s[n - 1] != '%')
		return -EINVAL;
	memcpy(head, s, n - 1);
	head[n - 1] = 0;
	return parse_number(head, ret);
}

int parse_block(const char *s, uint32_t *ret)
{
	uint64_t v;

	if (parse_size(s, &v) || !v || v % 512 || v > BLOCK_MAX)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

static int bad_value(struct parser *ps, const char *what, const char *word)
{
	char show[48];

	return parse_bad(ps, "bad %s '%s'", what, lex_show(show, word));
}

static int stream_line(struct parser *ps, struct workload_def *wl, struct span w)
{
	static const char *const ops[] = { "read", "write", NULL };
	static const char *const orders[] = { "rnd", "seq", NULL };
	struct wl_stream st = { 0 };

	if (w.n != 5)
		return parse_bad(ps, "a stream is written: stream SHARE read|write rnd|seq SIZE");
	if (parse_number(w.w[1].s, &st.share) || st.share <= 0)
		return bad_value(ps, "share (more than 0)", w.w[1].s);
	if (strcmp(w.w[2].s, "read") && strcmp(w.w[2].s, "write"))
		return parse_unknown(ps, "direction", w.w[2].s, ops);
	st.op = strcmp(w.w[2].s, "read") ? IO_WRITE : IO_READ;
	if (strcmp(w.w[3].s, "rnd") && strcmp(w.w[3].s, "seq"))
		return parse_unknown(ps, "order", w.w[3].s, orders);
	st.order = strcmp(w.w[3].s, "rnd") ? IO_SEQ : IO_RND;
	if (parse_block(w.w[4].s, &st.bytes))
		return bad_value(ps, "block size", w.w[4].s);
	for (unsigned i = 0; i < wl->n_streams; i++)
		if (wl->stream[i].bytes == st.bytes && wl->stream[i].op == st.op &&
		    wl->stream[i].order == st.order)
			return parse_bad(ps, "the same stream is there twice");
	if (!wl->stream)
		wl->stream = arena_array(ps->arena, struct wl_stream, ACCESS_STREAMS_MAX);
	if (wl->n_streams == ACCESS_STREAMS_MAX)
		return parse_bad(ps, "more than %d streams", ACCESS_STREAMS_MAX);
	wl->stream[wl->n_streams++] = st;
	return 0;
}

/* "4k:67" to size and share. */
static int size_word(struct parser *ps, const char *s, struct size_share *ret)
{
	const char *colon = strchr(s, ':');
	uint32_t bytes;

	if (!colon)
		return bad_value(ps, "size (written SIZE:SHARE)", s);
	if (parse_block(arena_strndup(ps->arena, s, (size_t)(colon - s)), &bytes))
		return bad_value(ps, "block size", s);
	if (parse_number(colon + 1, &ret->share) || ret->share <= 0)
		return bad_value(ps, "share (more than 0)", s);
	ret->bytes = bytes;
	return 0;
}

static int sizes_line(struct parser *ps, struct workload_def *wl, struct span w)
{
	if (wl->size)
		return parse_bad(ps, "'sizes' is there twice");
	if (w.n < 2 || w.n - 1 > ACCESS_STREAMS_MAX / 2)
		return parse_bad(ps, "'sizes' needs 1 to %d of SIZE:SHARE", ACCESS_STREAMS_MAX / 2);
	wl->size = arena_array(ps->arena, struct size_share, w.n - 1);
	for (unsigned i = 1; i < w.n; i++) {
		struct size_share *z = &wl->size[wl->n_sizes];
		int rc = size_word(ps, w.w[i].s, z);
		if (rc)
			return rc;
		for (unsigned k = 0; k < wl->n_sizes; k++)
			if (wl->size[k].bytes == z->bytes)
				return bad_value(ps, "size, there twice:", w.w[i].s);
		wl->n_sizes++;
	}
	return 0;
}

/* "5-20%:30" */
static int zone_word(struct parser *ps, const char *s, struct wl_zone *ret)
{
	const char *dash = strchr(s, '-'), *colon = strchr(s, ':');
	double from, to;

	if (!dash || !colon || dash > colon || colon == s || colon[-1] != '%')
		return bad_value(ps, "zone (written FROM-TO%:SHARE)", s);
	if (parse_number(arena_strndup(ps->arena, s, (size_t)(dash - s)), &from) ||
	    parse_number(arena_strndup(ps->arena, dash + 1, (size_t)(colon - dash - 2)), &to) ||
	    parse_number(colon + 1, &ret->share))
		return bad_value(ps, "zone (written FROM-TO%:SHARE)", s);
	if (from < 0 || to > 100 || from >= to)
		return bad_value(ps, "zone (within 0-100%)", s);
	if (ret->share <= 0)
		return bad_value(ps, "share (more than 0)", s);
	ret->from = from / 100;
	ret->to = to / 100;
	return 0;
}

static int zones_line(struct parser *ps, struct workload_def *wl, struct span w)
{
	double sum = 0, end = 0;

	if (wl->zone)
		return parse_bad(ps, "'zones' is there twice");
	if (w.n < 2 || w.n - 1 > ACCESS_ZONES_MAX)
		return parse_bad(ps, "'zones' needs 1 to %d of FROM-TO%%:SHARE", ACCESS_ZONES_MAX);
	wl->zone = arena_array(ps->arena, struct wl_zone, w.n - 1);
	for (unsigned i = 1; i < w.n; i++) {
		struct wl_zone *z = &wl->zone[wl->n_zones++];
		int rc = zone_word(ps, w.w[i].s, z);
		if (rc)
			return rc;
		if (z->from < end - 1e-12)
			return bad_value(ps, "zone, it overlaps the one before:", w.w[i].s);
		end = z->to;
		sum += z->share;
	}
	if (fabs(sum - 100) > 0.01)
		return parse_bad(ps, "the shares of the zones sum to %g, not 100", sum);
	return 0;
}

static int rw_line(struct parser *ps, struct workload_def *wl, struct span w)
{
	if (wl->read_pct >= 0)
		return parse_bad(ps, "'rw' is there twice");
	if (w.n != 2 || parse_rw(w.w[1].s, &wl->read_pct))
		return bad_value(ps, "mix (written READ/WRITE, together 100)",
				 w.n > 1 ? w.w[1].s : "");
	return 0;
}

static int word_line(struct parser *ps, struct workload_def *wl, struct span w)
{
	static const char *const orders[] = { "rnd", "seq", NULL };
	static const char *const aligns[] = { "own", "lba", NULL };
	bool order = !strcmp(w.w[0].s, "order");
	const char *const *list = order ? orders : aligns;

	if (w.n != 2)
		return parse_bad(ps, "'%s' needs one word: %s or %s", w.w[0].s, list[0], list[1]);
	if (strcmp(w.w[1].s, list[0]) && strcmp(w.w[1].s, list[1]))
		return parse_unknown(ps, w.w[0].s, w.w[1].s, list);
	bool second = !strcmp(w.w[1].s, list[1]);
	if (order)
		wl->order = second ? IO_SEQ : IO_RND;
	else
		wl->align_lba = second;
	return 0;
}

int workload_line(struct parser *ps, struct def *d, struct span w)
{
	static const char *const words[] = { "stream", "sizes", "zones", "rw",
					     "order",  "align", "end",	 NULL };
	const char *s = w.w[0].s;

	if (!strcmp(s, "stream"))
		return stream_line(ps, d->wl, w);
	if (!strcmp(s, "sizes"))
		return sizes_line(ps, d->wl, w);
	if (!strcmp(s, "zones"))
		return zones_line(ps, d->wl, w);
	if (!strcmp(s, "rw"))
		return rw_line(ps, d->wl, w);
	if (!strcmp(s, "order") || !strcmp(s, "align"))
		return word_line(ps, d->wl, w);
	if (!strcmp(s, "test") || !strcmp(s, "workload") || !strcmp(s, "suite"))
		return parse_bad(ps, "'%s' inside workload '%s': is an 'end' missing?", s, d->name);
	return parse_unknown(ps, "word", s, words);
}

int workload_done(struct parser *ps, struct def *d)
{
	const struct workload_def *wl = d->wl;

	if (wl->stream && wl->size)
		return parse_bad(ps, "workload '%s' has both 'stream' and 'sizes'", d->name);
	if (!wl->stream && !wl->size)
		return parse_bad(ps, "workload '%s' has no 'stream' and no 'sizes'", d->name);
	if (wl->size && wl->read_pct < 0)
		return parse_bad(ps, "workload '%s' has 'sizes' but no 'rw'", d->name);
	if (wl->stream && (wl->read_pct >= 0 || wl->order))
		return parse_bad(ps, "'rw' and 'order' go with 'sizes', not with 'stream'");
	if (wl->zone && wl->order == IO_SEQ)
		return parse_bad(ps, "'zones' are of RND accesses");
	return 0;
}
