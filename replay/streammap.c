/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/crc.h"
#include "replay/columns.h"
#include "replay/fields.h"
#include "replay/streammap.h"
#include "workloads/access.h"

#define TITLE "# stream-map 1"
#define ROWS_MAX 1000000u
#define KINDS_MAX 4096u /* streams of a map: a table that people made has some tens */
#define SHARE_SUM_MAX \
	100500000u /* 100.5 % in millionths: what rounding may add to the shares of a step */

struct row {
	uint64_t step, bytes, ios;
	int64_t start_ns, duration_ns;
	double qd;
	bool has_qd, idle; /* idle: no IOs, whatever kind it names */
	uint8_t op, order;
};

struct parser {
	const char *file;
	unsigned line;
	struct err *err;
	struct streammap *m;
	struct row *row;
	uint32_t n, cap;
	uint64_t share_sum; /* of the step now read */
	bool columns;
};

bool streammap_is(const char *text, size_t n)
{
	return n > strlen(TITLE) && memcmp(text, TITLE, strlen(TITLE)) == 0;
}

static int bad(const struct parser *p, const char *what)
{
	return err_set(p->err, -EINVAL, "%s:%u: %s", p->file, p->line, what);
}

/* "# key: value" */
static void comment(struct parser *p, const char *s)
{
	const struct {
		const char *key;
		char *to;
		size_t n;
	} keys[] = { { "name: ", p->m->name, sizeof(p->m->name) },
		     { "source: ", p->m->source, sizeof(p->m->source) },
		     { "level: ", p->m->level, sizeof(p->m->level) } };

	s++;
	take_blanks(&s);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(s, keys[i].key, strlen(keys[i].key)) == 0)
			snprintf(keys[i].to, keys[i].n, "%s", s + strlen(keys[i].key));
}

static int header(struct parser *p, const char *s)
{
	static const char *const fixed = "step,start_s,duration_s,qd,access,block_bytes,op,";

	if (strncmp(s, fixed, strlen(fixed)) != 0)
		return bad(p, "the line of columns is "
			      "'step,start_s,duration_s,qd,access,block_bytes,op,ios'");
	s += strlen(fixed);
	p->columns = true;
	p->m->shares_only = strcmp(s, "share_pct") == 0;
	return p->m->shares_only || strcmp(s, "ios") == 0
		       ? 0
		       : bad(p, "the last column is ios or share_pct");
}

static bool whole(const char *s)
{
	return *s == '\0';
}

static bool take_seconds(const char *s, int64_t *ret)
{
	return take_fixed(&s, 9, ret) && whole(s) && *ret >= 0;
}

static int take_count(const struct parser *p, const char *s, struct row *r)
{
	int64_t v;

	if (p->m->shares_only) {
		if (!take_fixed(&s, 6, &v) || !whole(s) || v < 0 || v > 100000000)
			return bad(p, "share_pct is a percentage");
		r->ios = (uint64_t)v;
		return 0;
	}
	if (!take_u64(&s, &r->ios) || !whole(s))
		return bad(p, "ios is a whole number");
	return r->ios <= UINT32_MAX ? 0 : bad(p, "ios is more than 4294967295");
}

static int take_kind(const struct parser *p, const struct column_field *f, struct row *r)
{
	const char *s = f[5].s;

	r->idle = r->ios == 0;
	if (r->idle && !f[4].s[0])
		return 0;
	if (strcmp(f[4].s, "SEQ") != 0 && strcmp(f[4].s, "RND") != 0)
		return bad(p, "access is SEQ or RND");
	if (!take_u64(&s, &r->bytes) || !whole(s) || r->bytes == 0 || r->bytes > UINT32_MAX)
		return bad(p, "block_bytes is the size of an IO in bytes");
	if (strcmp(f[6].s, "R") != 0 && strcmp(f[6].s, "W") != 0)
		return bad(p, "op is R or W");
	r->order = f[4].s[0] == 'S' ? IO_SEQ : IO_RND;
	r->op = f[6].s[0] == 'W' ? IO_WRITE : IO_READ;
	return 0;
}

/* Steps rise by one and each begins where the one before ended. */
static int in_sequence(const struct parser *p, const struct row *r)
{
	const struct row *last = p->n ? &p->row[p->n - 1] : NULL;

	if (!last)
		return r->step == 0 && r->start_ns == 0
			       ? 0
			       : bad(p, "the first step is 0 and starts at 0");
	if (r->step == last->step)
		return r->start_ns == last->start_ns && r->duration_ns == last->duration_ns &&
				       r->has_qd == last->has_qd && r->qd == last->qd
			       ? 0
			       : bad(p, "the rows of a step have one start, duration and qd");
	return r->step == last->step + 1 && r->start_ns == last->start_ns + last->duration_ns
		       ? 0
		       : bad(p, "a step follows the one before without a gap");
}

/* The shares of a step are of one whole. */
static int add_up(struct parser *p, const struct row *r)
{
	if (!p->m->shares_only)
		return 0;
	if (p->n && r->step != p->row[p->n - 1].step)
		p->share_sum = 0;
	p->share_sum += r->ios;
	return p->share_sum <= SHARE_SUM_MAX ? 0
					     : bad(p, "the shares of the step are more than 100 %");
}

static int keep(struct parser *p, const struct row *r)
{
	if (p->n == ROWS_MAX)
		return err_set(p->err, -EINVAL, "%s:%u: a stream map has at most %u rows", p->file,
			       p->line, ROWS_MAX);
	if (p->n == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 64;
		struct row *rows = realloc(p->row, cap * sizeof(*rows));

		if (!rows)
			return err_set(p->err, -ENOMEM, "%s: no memory for its rows", p->file);
		p->row = rows;
		p->cap = cap;
	}
	p->row[p->n++] = *r;
	return 0;
}

static int row(struct parser *p, const char *s, size_t len)
{
	struct column_field f[9];
	struct row r = { 0 };
	const char *q;
	int64_t qd;
	int rc;

	if (columns_split(s, len, ',', f, 9) != 8)
		return bad(p, "a row has 8 columns");
	q = f[0].s;
	if (!take_u64(&q, &r.step) || !whole(q))
		return bad(p, "step is a whole number");
	if (!take_seconds(f[1].s, &r.start_ns) || !take_seconds(f[2].s, &r.duration_ns) ||
	    !r.duration_ns)
		return bad(p, "start_s and duration_s are seconds");
	q = f[3].s;
	r.has_qd = *q != '\0';
	if (r.has_qd && (!take_fixed(&q, 6, &qd) || !whole(q) || qd < 0))
		return bad(p, "qd is a mean queue depth, or empty");
	r.qd = r.has_qd ? (double)qd / 1e6 : 0;
	rc = take_count(p, f[7].s, &r);
	if (!rc)
		rc = take_kind(p, f, &r);
	if (!rc)
		rc = in_sequence(p, &r);
	if (!rc)
		rc = add_up(p, &r);
	return rc ? rc : keep(p, &r);
}

static int line(struct parser *p, char *s, size_t len)
{
	if (len && s[len - 1] == '\r')
		s[--len] = '\0';
	p->line++;
	if (s[0] == '#')
		comment(p, s);
	else if (!p->columns && len)
		return header(p, s);
	else if (len) {
		s[len] = '\n'; /* columns_split() reads lines */
		return row(p, s, len + 1);
	}
	return 0;
}

/* KINDS_MAX: there are as many already. */
static uint32_t stream_of(struct analysis *a, const struct row *r)
{
	uint32_t i;

	for (i = 0; i < a->n_streams; i++)
		if (a->stream[i].op == r->op && a->stream[i].order == r->order &&
		    a->stream[i].bytes == r->bytes)
			break;
	if (i == KINDS_MAX)
		return i;
	if (i == a->n_streams)
		a->stream[a->n_streams++] =
			(struct stream_stat){ .op = r->op, .order = r->order, .bytes = r->bytes };
	a->stream[i].ios += r->ios;
	return i;
}

/* A step is idle until a row of it has IOs. */
static int take_row(struct streammap *m, const struct row *r, bool new_step)
{
	struct analysis *a = &m->a;
	struct step_stat *s;
	uint32_t stream;

	if (new_step) {
		a->step[a->n_steps] = (struct step_stat){ .start_ns = (uint64_t)r->start_ns,
							  .first = (uint32_t)a->n_step_streams };
		m->step_ns[a->n_steps] = (uint64_t)r->duration_ns;
		m->qd_known |= r->has_qd;
		m->duration_ns += (uint64_t)r->duration_ns;
		a->n_steps++;
	}
	if (r->idle)
		return 0;
	stream = stream_of(a, r);
	if (stream == KINDS_MAX)
		return -E2BIG;
	s = &a->step[a->n_steps - 1];
	s->busy_ns = (uint64_t)r->duration_ns;
	s->qd_area_ns = r->qd * (double)r->duration_ns;
	m->step_qd[a->n_steps - 1] = r->qd;
	a->step_stream[a->n_step_streams++] = (struct step_stream){ stream, (uint32_t)r->ios };
	s->n_streams++;
	s->ios += r->ios;
	s->bytes += r->ios * r->bytes;
	*(r->op == IO_WRITE ? &s->writes : &s->reads) += r->ios;
	a->ios += r->ios;
	a->seq_ios += r->order == IO_SEQ ? r->ios : 0;
	return 0;
}

static int build(struct parser *p)
{
	struct analysis *a = &p->m->a;
	uint32_t n = p->n ? p->n : 1;

	a->stream = calloc(n, sizeof(*a->stream));
	a->step = calloc(n, sizeof(*a->step));
	a->step_stream = calloc(n, sizeof(*a->step_stream));
	p->m->step_ns = calloc(n, sizeof(*p->m->step_ns));
	p->m->step_qd = calloc(n, sizeof(*p->m->step_qd));
	if (!a->stream || !a->step || !a->step_stream || !p->m->step_ns || !p->m->step_qd)
		return err_set(p->err, -ENOMEM, "%s: no memory for its rows", p->file);
	for (uint32_t i = 0; i < p->n; i++)
		if (take_row(p->m, &p->row[i], i == 0 || p->row[i].step != p->row[i - 1].step))
			return err_set(p->err, -EINVAL, "%s: has more than %u streams", p->file,
				       KINDS_MAX);
	if (a->ios == 0)
		return err_set(p->err, -EINVAL, "%s: holds no IO", p->file);
	a->qd_known = p->m->qd_known;
	a->step_ns = p->m->step_ns[0];
	a->span_ns = p->m->duration_ns;
	return analysis_rank(a) ? err_set(p->err, -ENOMEM, "%s: no memory for its streams", p->file)
				: 0;
}

int streammap_parse(const char *file, const char *text, size_t n, struct streammap *ret,
		    struct err *err)
{
	struct streammap m = { .name = "" };
	struct parser p = { .file = file, .err = err, .m = &m };
	char *copy = calloc(1, n + 2 + INPUT_SLACK); /* columns_split() wants it */
	int rc = copy ? 0 : err_set(err, -ENOMEM, "%s: no memory to read it", file);

	if (copy)
		memcpy(copy, text, n);
	for (char *s = copy; !rc && s < copy + n;) {
		char *nl = memchr(s, '\n', (size_t)(copy + n - s)), *next = nl ? nl + 1 : copy + n;

		if (nl)
			*nl = '\0';
		rc = line(&p, s, strlen(s));
		s = next;
	}
	if (!rc && !p.columns)
		rc = err_set(err, -EINVAL, "%s: has no line of columns", file);
	if (!rc)
		rc = build(&p);
	free(copy);
	free(p.row);
	if (rc) {
		streammap_release(&m);
		return rc;
	}
	m.digest = (uint64_t)crc32c(0, text, n) << 32 | (uint32_t)n;
	*ret = m;
	return 0;
}

void streammap_release(struct streammap *m)
{
	analysis_release(&m->a);
	free(m->step_ns);
	free(m->step_qd);
	m->step_ns = NULL;
	m->step_qd = NULL;
}
