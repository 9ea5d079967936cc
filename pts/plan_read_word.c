/* SPDX-License-Identifier: MIT */
/* Words and accesses of a plan's text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/plan_read_priv.h"

int read_bad(struct reading *r, const char *what)
{
	return err_set(r->err, -EINVAL, "plan, line %u: %s at '%.40s'", r->line, what, r->p);
}

bool read_eat(struct reading *r, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(r->p, text, n))
		return false;
	r->p += n;
	return true;
}

/* The next word, up to a blank or one of @stop. */
char *read_word(struct reading *r, const char *stop)
{
	size_t n = strcspn(r->p, " "), k = strcspn(r->p, stop);
	char *w = arena_strndup(r->a, r->p, n < k ? n : k);

	r->p += n < k ? n : k;
	return w;
}

int read_uint(struct reading *r, uint64_t *ret)
{
	char *end;

	if (*r->p < '0' || *r->p > '9')
		return read_bad(r, "a number is missing");
	*ret = strtoull(r->p, &end, 10);
	r->p = end;
	return 0;
}

int read_unsigned(struct reading *r, unsigned *ret)
{
	uint64_t v = 0;
	int rc = read_uint(r, &v);

	*ret = (unsigned)v;
	return rc;
}

int read_num(struct reading *r, double *ret)
{
	char *end;

	*ret = strtod(r->p, &end);
	if (end == r->p || !(fabs(*ret) < 1e15))
		return read_bad(r, "a number is missing");
	r->p = end;
	return 0;
}

int read_time(struct reading *r, uint64_t *ret)
{
	return parse_time(read_word(r, ";:"), ret) ? read_bad(r, "a time is missing") : 0;
}

/* "text" with its quotes; the last quote of the line closes it when @last. */
int read_quoted(struct reading *r, bool last, const char **ret)
{
	const char *end;

	if (!read_eat(r, "\""))
		return read_bad(r, "a quoted text is missing");
	end = last ? strrchr(r->p, '"') : strchr(r->p, '"');
	if (!end)
		return read_bad(r, "a quote is not closed");
	*ret = arena_strndup(r->a, r->p, (size_t)(end - r->p));
	r->p = end + 1;
	return 0;
}

/* ---- accesses ---- */

static int read_stream(struct reading *r, struct access *a)
{
	struct stream *s;
	uint64_t bytes = 0;
	unsigned region, cursor;
	int rc;

	if (a->n_streams == ACCESS_STREAMS_MAX)
		return read_bad(r, "too many streams");
	s = &a->stream[a->n_streams++];
	s->cursor = CURSOR_NONE;
	rc = read_num(r, &s->share);
	if (rc)
		return rc;
	s->op = read_eat(r, " R ") ? IO_READ : IO_WRITE;
	if (s->op == IO_WRITE && !read_eat(r, " W "))
		return read_bad(r, "R or W is missing");
	s->order = read_eat(r, "seq ") ? IO_SEQ : IO_RND;
	if (s->order == IO_RND && !read_eat(r, "rnd "))
		return read_bad(r, "seq or rnd is missing");
	if (parse_size(read_word(r, ",;"), &bytes))
		return read_bad(r, "a size is missing");
	s->bytes = (uint32_t)bytes;
	if (!read_eat(r, " cursor "))
		return 0;
	rc = read_unsigned(r, &cursor);
	if (rc || !read_eat(r, " region "))
		return rc ? rc : read_bad(r, "a region is missing");
	rc = read_unsigned(r, &region);
	s->cursor = (uint16_t)cursor;
	s->region = (uint16_t)(region - 1);
	if (!rc && !read_eat(r, "/"))
		return read_bad(r, "the number of regions is missing");
	return rc ? rc : read_unsigned(r, &a->regions);
}

static int read_zones(struct reading *r, struct access *a)
{
	do {
		struct zone *z = &a->zone[a->n_zones];
		int rc;

		if (a->n_zones++ == ACCESS_ZONES_MAX)
			return read_bad(r, "too many zones");
		rc = read_num(r, &z->from);
		if (!rc && !read_eat(r, "-"))
			return read_bad(r, "the end of a zone is missing");
		if (!rc)
			rc = read_num(r, &z->to);
		if (!rc && !read_eat(r, "%:"))
			return read_bad(r, "the share of a zone is missing");
		if (!rc)
			rc = read_num(r, &z->share);
		if (rc)
			return rc;
		z->from /= 100;
		z->to /= 100;
		z->share /= 100;
	} while (read_eat(r, " "));
	return 0;
}

/* After "access ": '"NAME": 65 R rnd 8k, 35 W rnd 8k; zones ...; align 512; exact' */
int read_access(struct reading *r, struct access **ret)
{
	struct access *a = arena_new(r->a, struct access);
	const char *name, *colon = strstr(r->p, "\": ");
	int rc;

	if (*r->p != '"' || !colon)
		return read_bad(r, "the name of an access is missing");
	name = arena_strndup(r->a, r->p + 1, (size_t)(colon - r->p - 1));
	r->p = colon + 3;
	a->regions = 1;
	strncat(a->name, name, sizeof a->name - 1);
	do
		rc = read_stream(r, a);
	while (!rc && read_eat(r, ", "));
	if (!rc && read_eat(r, "; zones "))
		rc = read_zones(r, a);
	if (!rc && read_eat(r, "; align "))
		rc = read_unsigned(r, &a->align);
	a->exact = !rc && read_eat(r, "; exact");
	if (!rc && *r->p)
		return read_bad(r, "unknown words");
	*ret = a;
	return rc;
}

int read_new_access(struct reading *r)
{
	struct access *a;
	int rc = read_access(r, &a);

	if (rc)
		return rc;
	if (r->n_access == r->cap_access) {
		unsigned cap = r->cap_access ? 2 * r->cap_access : 64;
		struct access **v = arena_array(r->a, struct access *, cap);
		bool *used = arena_array(r->a, bool, cap);

		if (r->n_access) {
			memcpy(v, r->access, r->n_access * sizeof(*v));
			memcpy(used, r->access_used, r->n_access * sizeof *used);
		}
		r->access = v;
		r->access_used = used;
		r->cap_access = cap;
	}
	r->access[r->n_access++] = a;
	return 0;
}

/*
 * The access that the line names, the longest that fits; fills are exact, the rest is not. Accesses are listed in the
 * order of their first use: of several that look alike the first one not used yet, else the last.
 */
const struct access *read_known_access(struct reading *r, bool fill)
{
	unsigned best = r->n_access;
	size_t len = 0;

	for (unsigned i = 0; i < r->n_access; i++) {
		const struct access *a = r->access[i];
		size_t n = strlen(a->name);

		if (a->exact != fill || n < len || strncmp(r->p, a->name, n) || r->p[n] != ' ')
			continue;
		if (n == len && best < r->n_access && !r->access_used[best])
			continue;
		best = i;
		len = n;
	}
	if (best == r->n_access)
		return NULL;
	r->access_used[best] = true;
	r->p += len;
	return r->access[best];
}
