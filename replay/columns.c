/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pts/base/words.h"
#include "replay/columns.h"
#include "replay/fields.h"

/* Filetime counts 100 ns from 1601. */
#define FILETIME_TO_UNIX 116444736000000000

const struct columns columns_none = {
	.separator = ',',
	.start = { -1, 0, 1 },
	.end = { -1, 0, 1 },
	.response = { -1, 0, 1 },
	.response2 = { -1, 0, 1 },
	.blanks_at = -1,
	.device = -1,
	.device2 = -1,
	.op = -1,
	.off = -1,
	.len = -1,
	.pid = -1,
	.off_unit = 1,
	.len_unit = 1,
	.read = "R",
	.write = "W",
};

struct reader {
	const struct columns *c;
	struct import *im;
	struct input *in;
	struct rows *rows;
	uint64_t records;
	bool plain; /* the rows are IOs as they stand */
	const char *field[COLUMNS_MAX];
	size_t len[COLUMNS_MAX];
	unsigned n;
	bool based;
	int64_t base; /* of the first row's time, in the source's unit: epochs are too large for ns in 64 bits */
	char device[64];
	size_t device_len;
	uint16_t dev;
	bool any_device;
};

static const char *const unit_names[] = { "s", "ms", "us", "ns", "100ns", "ps", NULL };

bool columns_unit(const char *unit, struct column_time *ret)
{
	static const uint8_t digits[] = { 9, 6, 3, 0, 0, 0 }, times[] = { 1, 1, 1, 1, 100, 0 };

	for (unsigned i = 0; unit_names[i]; i++)
		if (strcmp(unit, unit_names[i]) == 0) {
			ret->digits = digits[i];
			ret->times = times[i];
			return true;
		}
	return false;
}

int columns_time(const struct import *im, const struct input *in, struct column_time *ret,
		 struct err *err)
{
	const char *unit = import_options(im)->time_unit;

	if (!unit)
		return err_set(err, -EINVAL,
			       "%s: files of this kind do not say the unit of their times: give "
			       "--time-unit s, ms, us, ns or ps",
			       input_path(in));
	if (!columns_unit(unit, ret))
		return err_set(err, -EINVAL,
			       "--time-unit: unknown unit '%s' (s, ms, us, ns, ps, 100ns)", unit);
	return 0;
}

static bool scale(int64_t v, unsigned times, int64_t *ret)
{
	if (times)
		return !__builtin_mul_overflow(v, times, ret);
	*ret = v / 1000;
	return true;
}

/* ---- rows ---- */

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static void split_blanks(struct reader *r, const char *p, const char *end)
{
	while (r->n < COLUMNS_MAX) {
		while (p < end && blank(*p))
			p++;
		if (p == end)
			return;
		r->field[r->n] = p;
		while (p < end && !blank(*p))
			p++;
		r->len[r->n] = (size_t)(p - r->field[r->n]);
		r->n++;
	}
}

/* A bit for each of the 64 bytes from @p on that is @c; INPUT_SLACK bytes behind a line may be read. */
#if defined(__x86_64__)
typedef char bytes16 __attribute__((vector_size(16)));

static inline uint64_t places(const char *p, char c)
{
	uint64_t all = 0;
	bytes16 v;

	_Static_assert(INPUT_SLACK >= 4 * sizeof(v), "the last piece of a line");
	for (unsigned i = 0; i < 4; i++) {
		memcpy(&v, p + i * sizeof(v), sizeof(v));
		all |= (uint64_t)(unsigned)__builtin_ia32_pmovmskb128((bytes16)(v == c))
		       << (i * sizeof(v));
	}
	return all;
}
#else
static inline uint64_t places(const char *p, char c)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < 64; i++)
		all |= (uint64_t)(p[i] == c) << i;
	return all;
}
#endif

/* All that is at most a blank: signs below it are in no field that is read. */
static inline bool low(char c)
{
	return (unsigned char)c <= ' ';
}

static inline void set_field(struct reader *r, unsigned n, const char *p, const char *end)
{
	if (p < end && (low(*p) || low(end[-1]))) {
		while (p < end && blank(*p))
			p++;
		while (p < end && blank(end[-1]))
			end--;
	}
	r->field[n] = p;
	r->len[n] = (size_t)(end - p);
}

/* Separators are looked for 64 bytes at a time: a search for each field, of all lengths, would cost more. */
static void split(struct reader *r, const char *p, size_t len)
{
	const char *end = p + len;
	unsigned n = 0;

	r->n = 0;
	if (r->c->separator == ' ') {
		split_blanks(r, p, end);
		return;
	}
	for (const char *piece = p;; piece += 64) {
		uint64_t hits = places(piece, r->c->separator);
		bool last = end - piece < 64;

		if (last)
			hits &= ((uint64_t)1 << (end - piece)) - 1;
		for (; hits && n < COLUMNS_MAX; hits &= hits - 1) {
			const char *stop = piece + __builtin_ctzll(hits);

			set_field(r, n++, p, stop);
			p = stop + 1;
		}
		if (last || n == COLUMNS_MAX)
			break;
	}
	if (n < COLUMNS_MAX)
		set_field(r, n++, p, end);
	r->n = n;
}

/* What is too many are blanks inside of the one column that may hold them. */
static void join_blanks(struct reader *r)
{
	unsigned at = (unsigned)r->c->blanks_at, more = r->n > r->c->least ? r->n - r->c->least : 0;

	if (!more || at + 1 + more > r->n)
		return;
	r->len[at] = (size_t)(r->field[at + more] + r->len[at + more] - r->field[at]);
	for (unsigned i = at + 1; i + more < r->n; i++) {
		r->field[i] = r->field[i + more];
		r->len[i] = r->len[i + more];
	}
	r->n -= more;
}

static bool at_end(const struct reader *r, int column, const char *p)
{
	return p == r->field[column] + r->len[column];
}

static bool take_number(const struct reader *r, int column, uint64_t *ret)
{
	const char *p = r->field[column];

	if (r->len[column] > 1 && p[0] == '0' && (p[1] | 0x20) == 'x')
		return take_hex(&p, ret) && at_end(r, column, p);
	return whole_digits(p, r->len[column], ret);
}

static bool take_time(const struct reader *r, const struct column_time *t, int64_t *ret)
{
	const char *p = r->field[t->at];
	uint64_t v;

	if (whole_digits(p, r->len[t->at], &v) && v <= INT64_MAX &&
	    !__builtin_mul_overflow((int64_t)v, fixed_unit(t->digits), ret))
		return true;
	return take_fixed(&p, t->digits, ret) && at_end(r, t->at, p);
}

static bool word_is(const struct reader *r, const char *word)
{
	size_t n = r->len[r->c->op];

	return strlen(word) == n && strncasecmp(r->field[r->c->op], word, n) == 0;
}

/* As it is written in most rows: without a look at other cases of letters. */
static inline bool letter_is(const struct reader *r, const char *word)
{
	return r->len[r->c->op] == 1 && r->field[r->c->op][0] == word[0] && !word[1];
}

static bool take_op(const struct reader *r, uint8_t *ret)
{
	static const struct {
		const char *word;
		uint8_t op;
	} words[] = { { "read", TRACE_READ },	    { "write", TRACE_WRITE },
		      { "r", TRACE_READ },	    { "w", TRACE_WRITE },
		      { "discard", TRACE_DISCARD }, { "trim", TRACE_DISCARD },
		      { "unmap", TRACE_DISCARD },   { "d", TRACE_DISCARD },
		      { "flush", TRACE_FLUSH },	    { "sync", TRACE_FLUSH },
		      { "f", TRACE_FLUSH } };

	if (r->c->op_bits) {
		const char *p = r->field[r->c->op];
		uint64_t bits;

		if (!take_hex(&p, &bits) || !at_end(r, r->c->op, p))
			return false;
		*ret = bits & 1 ? TRACE_READ : TRACE_WRITE;
		return true;
	}
	if (letter_is(r, r->c->read) || letter_is(r, r->c->write)) {
		*ret = letter_is(r, r->c->read) ? TRACE_READ : TRACE_WRITE;
		return true;
	}
	if (word_is(r, r->c->read) || word_is(r, r->c->write)) {
		*ret = word_is(r, r->c->read) ? TRACE_READ : TRACE_WRITE;
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word_is(r, words[i].word)) {
			*ret = words[i].op;
			return true;
		}
	return false;
}

static int find_device(struct reader *r, struct err *err)
{
	char name[sizeof(r->device)] = "0";
	const struct columns *c = r->c;
	int n, rc;

	if (c->device >= 0) {
		n = snprintf(name, sizeof(name), "%.*s", (int)r->len[c->device],
			     r->field[c->device]);
		if (c->device2 >= 0 && n < (int)sizeof(name))
			snprintf(name + n, sizeof(name) - (size_t)n, "_%.*s",
				 (int)r->len[c->device2], r->field[c->device2]);
	}
	rc = import_device(r->im, name, &r->dev, err);
	memcpy(r->device, name, sizeof(name));
	r->device_len = c->device >= 0 && c->device2 < 0 ? r->len[c->device] : 0;
	r->any_device = rc == 0;
	return rc;
}

/* The device of the row; neighbours mostly have the same, and then it is not looked up again. */
static int take_device(struct reader *r, uint16_t *ret, struct err *err)
{
	const struct columns *c = r->c;
	bool same = r->any_device &&
		    (c->device < 0 || (c->device2 < 0 && r->len[c->device] == r->device_len &&
				       r->device_len < sizeof(r->device) &&
				       memcmp(r->field[c->device], r->device, r->device_len) == 0));
	int rc = same ? 0 : find_device(r, err);

	*ret = r->dev;
	return rc;
}

static int bad(struct reader *r, struct err *err, const char *what, int column)
{
	return import_bad(r->im, r->in, err, what, "column %d is no %s: '%.*s'", column, what,
			  (int)(r->len[column] < 40 ? r->len[column] : 40), r->field[column]);
}

/* Unix times are in ns by their digits; filetime would not fit. */
static void note_epoch(struct reader *r, int64_t t)
{
	if (r->c->epoch == EPOCH_UNIX)
		import_wall_clock(r->im, 0, t);
	else if (r->c->epoch == EPOCH_FILETIME &&
		 !__builtin_sub_overflow(t, FILETIME_TO_UNIX, &t) &&
		 !__builtin_mul_overflow(t, 100, &t))
		import_wall_clock(r->im, 0, t);
}

/* In the source's unit, from the first row's, then in ns. */
static bool to_ns(struct reader *r, int64_t t, unsigned times, int64_t *ret)
{
	if (!r->based) {
		note_epoch(r, t);
		r->base = t;
		r->based = true;
	}
	return !__builtin_sub_overflow(t, r->base, &t) && scale(t, times, ret);
}

/* One column, or the sum of two. */
static bool take_response(const struct reader *r, int64_t *ret)
{
	const struct column_time *t[] = { &r->c->response, &r->c->response2 };
	int64_t v, sum = 0;

	for (int i = 0; i < 2 && t[i]->at >= 0; i++)
		if ((unsigned)t[i]->at >= r->n || !take_time(r, t[i], &v) || v < 0 ||
		    !scale(v, t[i]->times, &v) || __builtin_add_overflow(sum, v, &sum))
			return false;
	*ret = sum;
	return true;
}

/* 0 the row's times are there; 1 they made no sense and that was counted; <0. */
static int take_times(struct reader *r, struct import_row *row, struct err *err)
{
	const struct columns *c = r->c;
	const struct column_time *t = c->start.at >= 0 ? &c->start : &c->end;
	int64_t v, rt = 0;
	int rc;

	row->response_ns = TRACE_NO_RESPONSE;
	if (!take_time(r, t, &v) || !to_ns(r, v, t->times, &row->start_ns)) {
		rc = bad(r, err, "time", t->at);
		return rc ? rc : 1;
	}
	if (c->response.at >= 0 && (unsigned)c->response.at < r->n && r->len[c->response.at]) {
		if (!take_response(r, &rt)) {
			rc = bad(r, err, "response time", c->response.at);
			return rc ? rc : 1;
		}
		if (rt || !c->zero_unknown)
			row->response_ns = (uint64_t)rt;
	} else if (c->start.at >= 0 && c->end.at >= 0) {
		int64_t end;

		if (!take_time(r, &c->end, &v) || !to_ns(r, v, c->end.times, &end) ||
		    end < row->start_ns || __builtin_sub_overflow(end, row->start_ns, &rt)) {
			rc = bad(r, err, "time of completion", c->end.at);
			return rc ? rc : 1;
		}
		row->response_ns = (uint64_t)rt;
	}
	if (c->start.at < 0 && __builtin_sub_overflow(row->start_ns, rt, &row->start_ns)) {
		rc = bad(r, err, "time", t->at);
		return rc ? rc : 1;
	}
	return 0;
}

static int take_extent(struct reader *r, struct import_row *row, struct err *err)
{
	const struct columns *c = r->c;
	int rc;

	if (!take_number(r, c->off, &row->off) ||
	    __builtin_mul_overflow(row->off, c->off_unit, &row->off) || row->off > INT64_MAX) {
		rc = bad(r, err, "offset", c->off);
		return rc ? rc : 1;
	}
	if (!take_number(r, c->len, &row->bytes) ||
	    __builtin_mul_overflow(row->bytes, c->len_unit, &row->bytes)) {
		rc = bad(r, err, "length", c->len);
		return rc ? rc : 1;
	}
	return 0;
}

static int read_row(struct reader *r, struct err *err)
{
	const struct columns *c = r->c;
	struct import_row row = { .op = TRACE_READ };
	uint64_t pid;
	int rc;

	if (r->n < c->least)
		return import_bad(r->im, r->in, err, "too few columns", "%u columns; %u are needed",
				  r->n, c->least);
	if (c->op >= 0 && r->len[c->op] == 0) {
		import_skip(r->im, "no type");
		return 0;
	}
	if (c->op >= 0 && !take_op(r, &row.op))
		return bad(r, err, "read or write", c->op);
	rc = take_times(r, &row, err);
	if (!rc)
		rc = take_extent(r, &row, err);
	if (!rc)
		rc = take_device(r, &row.dev, err);
	if (rc)
		return rc < 0 ? rc : 0;
	if (c->pid >= 0 && (unsigned)c->pid < r->n && take_number(r, c->pid, &pid))
		row.pid = (uint32_t)pid;
	return r->plain ? import_row(r->im, r->in, &row, err) : rows_push(r->rows, &row, err);
}

struct before { /* what is to come before the rows */
	unsigned skip;
	bool begun;
};

static int read_line(struct reader *r, struct before *b, const char *line, size_t len,
		     struct err *err)
{
	const struct columns *c = r->c;
	size_t at = 0;

	while (blank(line[at]))
		at++;
	if (b->skip || !b->begun || at == len || line[at] == '#') {
		b->skip -= b->skip != 0;
		if (c->header && strncmp(line + at, c->header, strlen(c->header)) == 0)
			b->begun = true;
		import_skip(r->im, "header or comment");
		return 0;
	}
	if (c->digits_only && (line[at] < '0' || line[at] > '9')) {
		import_skip(r->im, "text between the rows");
		return 0;
	}
	split(r, line, len);
	if (c->blanks_at >= 0)
		join_blanks(r);
	r->records++;
	return read_row(r, err);
}

static int read_lines(struct reader *r, struct err *err)
{
	struct before b = { r->c->skip, r->c->header == NULL };
	struct input_place *place = input_place(r->in);
	const char *text;
	size_t n;
	int rc;

	while ((rc = input_lines(r->in, &text, &n, err)) == 1) {
		for (const char *end = text + n; text < end;) {
			const char *nl = memchr(text, '\n', (size_t)(end - text));
			const char *next = nl ? nl + 1 : end, *stop = nl ? nl : end;

			input_count_line(place, (size_t)(next - text));
			if (stop > text && stop[-1] == '\r')
				stop--;
			rc = read_line(r, &b, text, (size_t)(stop - text), err);
			if (rc)
				return rc;
			text = next;
		}
	}
	return rc;
}

int columns_import(const struct columns *c, struct import *im, struct input *in, struct err *err)
{
	struct reader r = { .c = c,
			    .im = im,
			    .in = in,
			    .rows = rows_new(im, in, &c->rule),
			    .plain = !c->rule.join_ns && !c->rule.spread };
	int rc;

	if (!r.rows)
		return err_set(err, -ENOMEM, "%s: no memory to read it", input_path(in));
	import_clock(im, c->clock);
	rc = read_lines(&r, err);
	import_records(im, r.records);
	if (!rc)
		rc = rows_end(r.rows, err);
	rows_free(r.rows);
	return rc;
}

/* ---- detection ---- */

unsigned columns_split(const char *head, size_t len, char separator, struct column_field *ret,
		       unsigned n)
{
	const char *nl = memchr(head, '\n', len);
	struct columns c = columns_none;
	struct reader r = { .c = &c };

	if (!nl)
		return 0;
	len = (size_t)(nl - head);
	if (len && head[len - 1] == '\r')
		len--;
	c.separator = separator;
	split(&r, head, len);
	for (unsigned i = 0; i < r.n && i < n; i++)
		snprintf(ret[i].s, sizeof(ret[i].s), "%.*s", (int)(r.len[i] < 31 ? r.len[i] : 31),
			 r.field[i]);
	return r.n;
}

/* ---- --map ---- */

enum map_kind { MAP_TIME, MAP_PLACE, MAP_COLUMN, MAP_OP, MAP_SEPARATOR, MAP_SKIP };

static const struct map_key {
	const char *key;
	enum map_kind kind;
	size_t at, unit; /* fields of struct columns */
} map_keys[] = {
	{ "ts", MAP_TIME, offsetof(struct columns, start), 0 },
	{ "end", MAP_TIME, offsetof(struct columns, end), 0 },
	{ "rt", MAP_TIME, offsetof(struct columns, response), 0 },
	{ "off", MAP_PLACE, offsetof(struct columns, off), offsetof(struct columns, off_unit) },
	{ "len", MAP_PLACE, offsetof(struct columns, len), offsetof(struct columns, len_unit) },
	{ "dev", MAP_COLUMN, offsetof(struct columns, device), 0 },
	{ "pid", MAP_COLUMN, offsetof(struct columns, pid), 0 },
	{ "op", MAP_OP, 0, 0 },
	{ "sep", MAP_SEPARATOR, 0, 0 },
	{ "header", MAP_SKIP, 0, 0 },
};

static const struct map_key *key_of(const char *key)
{
	for (size_t i = 0; i < sizeof(map_keys) / sizeof(map_keys[0]); i++)
		if (strcmp(key, map_keys[i].key) == 0)
			return &map_keys[i];
	return NULL;
}

static int map_place(const struct map_key *k, const char *unit, struct columns *c, struct err *err)
{
	uint32_t bytes = !unit || strcmp(unit, "B") == 0 ? 1
			 : strcmp(unit, "s") == 0	 ? 512
			 : strcmp(unit, "K") == 0	 ? 1024
							 : 0;

	if (!bytes)
		return err_set(err, -EINVAL,
			       "--map: %s: unknown unit '%s' (B bytes, s sectors of 512, K KiB)",
			       k->key, unit);
	memcpy((char *)c + k->unit, &bytes, sizeof(bytes));
	return 0;
}

static int map_op(const char *unit, struct columns *c, struct err *err)
{
	const char *slash = unit ? strchr(unit, '/') : NULL;

	if (!unit)
		return 0;
	if (!slash || slash == unit || !slash[1] || slash - unit > 15 || strlen(slash + 1) > 15)
		return err_set(
			err, -EINVAL,
			"--map: op: '%s' is not READ/WRITE, the words of the file (R/W, 0/1)",
			unit);
	snprintf(c->read, sizeof(c->read), "%.*s", (int)(slash - unit), unit);
	snprintf(c->write, sizeof(c->write), "%s", slash + 1);
	return 0;
}

static int map_column(const struct map_key *k, int column, const char *unit, struct columns *c,
		      struct err *err)
{
	struct column_time *t = (struct column_time *)(void *)((char *)c + k->at);

	switch (k->kind) {
	case MAP_OP:
		c->op = column;
		return map_op(unit, c, err);
	case MAP_SKIP:
		c->skip = (unsigned)column;
		return 0;
	case MAP_TIME:
		t->at = column;
		if (!unit)
			return err_set(err, -EINVAL,
				       "--map: %s: its unit is needed, as in %s=%d:us", k->key,
				       k->key, column);
		if (!columns_unit(unit, t))
			return err_set(err, -EINVAL,
				       "--map: %s: unknown unit '%s' (s, ms, us, ns, ps, 100ns)",
				       k->key, unit);
		return 0;
	default:
		memcpy((char *)c + k->at, &column, sizeof(column));
		return k->kind == MAP_PLACE ? map_place(k, unit, c, err) : 0;
	}
}

static int map_separator(const char *value, struct columns *c, struct err *err)
{
	static const struct {
		const char *word;
		char c;
	} words[] = { { "tab", '\t' }, { "blank", ' ' }, { "comma", ',' }, { "semicolon", ';' } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i].word) == 0) {
			c->separator = words[i].c;
			return 0;
		}
	if (strlen(value) != 1)
		return err_set(err, -EINVAL,
			       "--map: sep: '%s' is no separator (tab, blank, comma, semicolon)",
			       value);
	c->separator = value[0];
	return 0;
}

static int map_word(char *word, const char *time_unit, struct columns *c, struct err *err)
{
	char *equal = strchr(word, '='), *unit, *end;
	const struct map_key *k;
	long column;

	if (!equal)
		return err_set(err, -EINVAL, "--map: '%s' is not KEY=COLUMN", word);
	*equal = '\0';
	k = key_of(word);
	if (!k) {
		const char *names[] = { "ts",  "end", "rt",  "off",    "len", "dev",
					"pid", "op",  "sep", "header", NULL };
		const char *near = nearest_word(word, names);

		return err_set(err, -EINVAL, "--map: unknown key '%s'%s%s%s", word,
			       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	}
	if (k->kind == MAP_SEPARATOR)
		return map_separator(equal + 1, c, err);
	unit = strchr(equal + 1, ':');
	if (unit)
		*unit++ = '\0';
	column = strtol(equal + 1, &end, 10);
	if (*end || end == equal + 1 || column < 0 || column >= COLUMNS_MAX)
		return err_set(err, -EINVAL, "--map: %s: '%s' is no column (0 to %d)", word,
			       equal + 1, COLUMNS_MAX - 1);
	if (k->kind != MAP_SKIP && (unsigned)column >= c->least)
		c->least = (unsigned)column + 1;
	return map_column(k, (int)column,
			  k->kind == MAP_TIME && !unit ? (char *)(uintptr_t)time_unit : unit, c,
			  err);
}

int columns_parse(const char *map, const char *time_unit, struct columns *ret, struct err *err)
{
	struct columns c = columns_none;
	char *copy = strdup(map), *save = NULL;
	int rc = copy ? 0 : err_set(err, -ENOMEM, "no memory");

	c.clock = "as --map says";
	for (const char *s = map; *s && !rc; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			rc = err_set(err, -EINVAL, "--map: holds a control character");
	for (char *w = rc ? NULL : strtok_r(copy, ",", &save); w && !rc;
	     w = strtok_r(NULL, ",", &save))
		rc = map_word(w, time_unit, &c, err);
	free(copy);
	if (rc)
		return rc;
	if (c.off < 0 || c.len < 0 || (c.start.at < 0 && c.end.at < 0))
		return err_set(err, -EINVAL, "--map: ts (or end), off and len are needed");
	*ret = c;
	return 0;
}
