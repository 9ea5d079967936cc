/* SPDX-License-Identifier: MIT */
/* The sink of all formats: puts events in order, pairs them, counts everything, writes the capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pts/base/buf.h"
#include "pts/base/words.h"
#include "replay/format.h"
#include "replay/pair.h"
#include "replay/trace_put.h"

#define FORMAT(name) extern const struct trace_format fmt_##name;
#include "formats.inc"
#undef FORMAT

const struct trace_format *const trace_formats[] = {
#define FORMAT(name) &fmt_##name,
#include "formats.inc"
#undef FORMAT
	NULL
};

/* Events wait here until twice as many have come: one that comes late by less than half of it still finds its place. */
#define WINDOW_EVENTS ((size_t)1 << 17)

#define IMPORT_ALIASES_MAX 64

struct import {
	const struct import_opts *opts;
	const struct trace_format *format;
	struct trace_writer *writer;
	struct trace_put *put; /* its buffer */
	struct pair *pair;
	struct import_event *event, *spare; /* @cap_events each; made at the first event */
	size_t n_events, cap_events;
	bool ordered; /* the events as they wait */
	bool any; /* a record has come: last_ns is valid */
	int64_t last_ns;
	int64_t first_io_ns; /* of the IOs written */
	uint64_t ios, assumed; /* assumed: of them, those whose response time the user said */
	uint32_t order;
	bool wall;
	int64_t wall_at_ns, wall_utc_ns;
	struct {
		char name[32], call_it[64];
	} alias[IMPORT_ALIASES_MAX];
	unsigned n_aliases;
	struct trace_report report;
};

const struct import_opts *import_options(const struct import *im)
{
	return im->opts;
}

void import_record(struct import *im)
{
	im->report.records++;
}

void import_records(struct import *im, uint64_t n)
{
	im->report.records += n;
}

void import_note(struct import *im, const char *fmt, ...)
{
	size_t n = strlen(im->report.note);
	va_list ap;

	if (n && n + 3 < sizeof(im->report.note)) {
		memcpy(im->report.note + n, "; ", 3);
		n += 2;
	}
	va_start(ap, fmt);
	vsnprintf(im->report.note + n, sizeof(im->report.note) - n, fmt, ap);
	va_end(ap);
}

void import_skip(struct import *im, const char *reason)
{
	import_skip_many(im, reason, 1);
}

void import_skip_many(struct import *im, const char *reason, uint64_t n)
{
	for (unsigned i = 0; i < TRACE_SKIP_REASONS; i++) {
		char *r = im->report.skipped[i].reason;

		if (i == TRACE_SKIP_REASONS - 1 && strcmp(r, reason) != 0)
			reason = "other";
		if (!r[0])
			snprintf(r, sizeof(im->report.skipped[i].reason), "%s", reason);
		if (strncmp(r, reason, sizeof(im->report.skipped[i].reason) - 1) == 0) {
			im->report.skipped[i].n += n;
			return;
		}
	}
}

void import_lost(struct import *im, uint64_t n)
{
	im->report.lost += n;
}

void import_clock(struct import *im, const char *text)
{
	snprintf(im->report.clock, sizeof(im->report.clock), "%s", text);
}

void import_wall_clock(struct import *im, int64_t at_ns, int64_t utc_ns)
{
	if (im->wall)
		return;
	im->wall = true;
	im->wall_at_ns = at_ns;
	im->wall_utc_ns = utc_ns;
}

int import_bad(struct import *im, const struct input *in, struct err *err, const char *reason,
	       const char *fmt, ...)
{
	char text[600], why[64];
	va_list ap;

	if (im->opts->skip_bad) {
		snprintf(why, sizeof(why), "bad: %s", reason);
		import_skip(im, why);
		return 0;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *c = text; *c; c++) /* a source's bytes steer no terminal */
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (im->format->binary)
		return err_set(err, -EINVAL, "%s: byte %" PRIu64 ": %s", input_path(in),
			       input_offset(in), text);
	return err_set(err, -EINVAL, "%s:%" PRIu64 ": %s", input_path(in), input_lineno(in), text);
}

void import_device_name(struct import *im, const char *name, const char *call_it)
{
	if (im->n_aliases == IMPORT_ALIASES_MAX)
		return;
	snprintf(im->alias[im->n_aliases].name, sizeof(im->alias[0].name), "%s", name);
	snprintf(im->alias[im->n_aliases++].call_it, sizeof(im->alias[0].call_it), "%s", call_it);
}

int import_device(struct import *im, const char *name, uint16_t *ret_dev, struct err *err)
{
	for (unsigned i = 0; i < im->n_aliases; i++)
		if (strcmp(name, im->alias[i].name) == 0)
			name = im->alias[i].call_it;
	return trace_writer_device(im->writer, name, ret_dev, err);
}

static void note_time(struct import *im, int64_t t)
{
	if (im->any && t < im->last_ns)
		im->report.reordered++;
	im->any = true;
	im->last_ns = t;
}

/* An IO whose response time the user said. */
static int write_assumed(struct import *im, const struct trace_rec *rec, struct err *err)
{
	struct trace_rec assumed = *rec;

	im->assumed++;
	assumed.response_ns = im->opts->assume_rt_ns;
	return trace_writer_add(im->writer, &assumed, err);
}

static int write_io(void *arg, const struct trace_rec *rec, struct err *err)
{
	struct import *im = arg;
	int64_t t = (int64_t)rec->io.start_ns;

	if (im->ios++ == 0 || t < im->first_io_ns)
		im->first_io_ns = t;
	if (rec->response_ns == TRACE_NO_RESPONSE && im->opts->assume_rt_ns &&
	    rec->io.op <= TRACE_WRITE)
		return write_assumed(im, rec, err);
	return trace_put_last(im->put, rec) ? 0 : trace_writer_add(im->writer, rec, err);
}

static void skip_many(void *arg, const char *reason, uint64_t n)
{
	import_skip_many(arg, reason, n);
}

/* Differences of two such times fit into 63 bits; 73 years from whatever is 0 to the source. */
#define TIME_MAX_NS ((int64_t)1 << 61)

/* 0 fine; 1 it cannot be and was counted; <0. */
static int check_time(struct import *im, const struct input *in, int64_t t, struct err *err)
{
	int rc;

	if (t <= TIME_MAX_NS && t >= -TIME_MAX_NS)
		return 0;
	rc = import_bad(im, in, err, "time",
			"a time of %" PRId64 " s: is the time unit right (--time-unit)?",
			t / 1000000000);
	return rc ? rc : 1;
}

static int check_extent(struct import *im, const struct input *in, const struct import_row *x,
			struct err *err)
{
	int rc = 0;

	if (x->op == TRACE_FLUSH)
		return 0;
	if (x->bytes == 0)
		import_skip(im, "0 bytes"); /* moves nothing: no IO */
	else if (x->off > INT64_MAX || x->bytes > (uint64_t)INT64_MAX - x->off)
		rc = import_bad(im, in, err, "offset",
				"offset %" PRIu64 " and length %" PRIu64
				" reach beyond what a device can have",
				x->off, x->bytes);
	else if (x->bytes > UINT32_MAX && (x->op != TRACE_DISCARD || x->bytes % 512))
		rc = import_bad(im, in, err, "length", "an IO of %" PRIu64 " bytes: 4 GiB or more",
				x->bytes);
	else
		return 0;
	return rc ? rc : 1;
}

int import_row(struct import *im, const struct input *in, const struct import_row *row,
	       struct err *err)
{
	int rc = check_time(im, in, row->start_ns, err);
	struct trace_rec rec = { .io = { .start_ns = (uint64_t)row->start_ns,
					 .off = row->off,
					 .len = (uint32_t)row->bytes,
					 .dev = row->dev,
					 .op = row->op,
					 .flags = row->flags },
				 .response_ns = row->response_ns,
				 .pid = row->pid,
				 .order = im->order++ };

	if (!rc)
		rc = check_extent(im, in, row, err);
	if (rc)
		return rc < 0 ? rc : 0;
	if (row->bytes > UINT32_MAX) {
		rec.io.len = (uint32_t)(row->bytes / 512);
		rec.io.flags |= TRACE_LEN512;
	}
	if (row->op <= TRACE_WRITE)
		im->report.matched += rec.response_ns != TRACE_NO_RESPONSE;
	note_time(im, row->start_ns);
	return write_io(im, &rec, err);
}

/* ---- events: a window puts them in order ---- */

static bool earlier(const struct import_event *a, const struct import_event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->seq < b->seq;
}

static void sort_events(struct import *im)
{
	size_t n = im->n_events;

	for (size_t width = 1; width < n; width *= 2) {
		struct import_event *from = im->event, *to = im->spare;

		for (size_t a = 0; a < n; a += 2 * width) {
			size_t b = a + width < n ? a + width : n, c = b + width < n ? b + width : n;
			size_t i = a, j = b, at = a;

			while (at < c)
				to[at++] = j == c || (i < b && !earlier(&from[j], &from[i]))
						   ? from[i++]
						   : from[j++];
		}
		im->event = to;
		im->spare = from;
	}
	im->ordered = true;
}

/* The @n first of the window go on to be paired. */
static int release_events(struct import *im, size_t n, struct err *err)
{
	if (!im->ordered)
		sort_events(im);
	for (size_t i = 0; i < n; i++) {
		int rc = pair_event(im->pair, &im->event[i], err);

		if (rc)
			return rc;
	}
	im->n_events -= n;
	memmove(im->event, im->event + n, im->n_events * sizeof(*im->event));
	return 0;
}

/* Room for one more event: the window grows to its full size with the source. */
static int grow_window(struct import *im, struct err *err)
{
	const struct pair_sink sink = { write_io, skip_many, im };
	size_t cap = im->cap_events ? 4 * im->cap_events : 2048;
	struct import_event *p = realloc(im->event, cap * sizeof(*p));

	if (p)
		im->event = p;
	free(im->spare);
	im->spare = malloc(cap * sizeof(*im->spare));
	if (!im->pair)
		im->pair = pair_new(&sink);
	if (!p || !im->spare || !im->pair)
		return err_set(err, -ENOMEM, "no memory to put the events in order");
	im->cap_events = cap;
	return 0;
}

/* Completions of flushes have sectors that are none: only a start says where its IO is. */
static int check_event(struct import *im, const struct input *in, const struct import_event *ev,
		       struct err *err)
{
	struct import_row x = { .off = ev->sector * 512, .bytes = ev->bytes, .op = ev->op };
	int rc = check_time(im, in, ev->time_ns, err);

	if (rc || ev->op == TRACE_OTHER || (ev->act != EVENT_QUEUE && ev->act != EVENT_ISSUE))
		return rc;
	if (ev->sector > INT64_MAX / 512)
		x.off = UINT64_MAX;
	return check_extent(im, in, &x, err);
}

int import_event(struct import *im, const struct input *in, const struct import_event *ev,
		 struct err *err)
{
	int rc = check_event(im, in, ev, err);

	if (!rc && im->n_events == im->cap_events)
		rc = grow_window(im, err);
	if (rc)
		return rc < 0 ? rc : 0;
	note_time(im, ev->time_ns);
	im->event[im->n_events] = *ev;
	if (!im->format->binary) /* text of one stamp stays as it came: the sort is stable */
		im->event[im->n_events].cpu = im->event[im->n_events].seq = 0;
	if (im->n_events && earlier(&im->event[im->n_events], &im->event[im->n_events - 1]))
		im->ordered = false;
	im->n_events++;
	return im->n_events == WINDOW_EVENTS ? release_events(im, WINDOW_EVENTS / 2, err) : 0;
}

/* ---- which format, which files ---- */

static int format_by_name(const char *name, const struct trace_format **ret, struct err *err)
{
	const char *names[65];
	const char *near;
	unsigned n = 0;

	for (; trace_formats[n] && n < 64; n++) {
		names[n] = trace_formats[n]->name;
		if (strcmp(name, names[n]) == 0) {
			*ret = trace_formats[n];
			return 0;
		}
	}
	names[n] = NULL;
	near = nearest_word(name, names);
	if (near)
		return err_set(err, -EINVAL, "unknown format '%s' (did you mean '%s'?)", name,
			       near);
	return err_set(err, -EINVAL, "unknown format '%s' (pts list formats names them)", name);
}

static int detect(const char *path, const char *head, size_t n, const struct trace_format **ret,
		  struct err *err)
{
	const struct trace_format *best = NULL, *second = NULL;
	int best_score = 0, second_score = 0;

	for (unsigned i = 0; trace_formats[i]; i++) {
		int score = trace_formats[i]->detect ? trace_formats[i]->detect(head, n) : 0;

		if (score > best_score) {
			second = best;
			second_score = best_score;
			best = trace_formats[i];
			best_score = score;
		} else if (score > second_score) {
			second = trace_formats[i];
			second_score = score;
		}
	}
	if (!best)
		return err_set(err, -EINVAL,
			       "%s: is in no format that pts knows by its content: say -f FORMAT, "
			       "or --map for columns of your own",
			       path);
	if (second && second_score == best_score)
		return err_set(err, -EINVAL, "%s: could be %s or %s: say which with -f", path,
			       best->name, second->name);
	*ret = best;
	return 0;
}

/* An option that the format has no use for would be believed to have been heeded. */
static int check_options(const struct import *im, struct err *err)
{
	const struct import_opts *o = im->opts;
	const struct {
		bool given;
		unsigned bit;
		const char *name, *why;
	} takes[] = {
		{ o->time_unit != NULL, TAKES_UNIT, "--time-unit", "its times have one unit" },
		{ o->lba_bytes != 0, TAKES_LBA, "--lba",
		  "it does not count in blocks of the drive" },
		{ o->coalesce, TAKES_COALESCE, "--coalesce", "its rows are whole IOs" },
	};

	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++)
		if (takes[i].given && !(im->format->takes & takes[i].bit))
			return err_set(err, -EINVAL, "%s says nothing about format %s: %s",
				       takes[i].name, im->format->name, takes[i].why);
	return 0;
}

static int choose_format(struct import *im, struct input *in, struct err *err)
{
	const char *head;
	size_t n;
	int rc;

	if (im->opts->format) {
		rc = format_by_name(im->opts->format, &im->format, err);
	} else if (im->opts->map) {
		rc = format_by_name("csv", &im->format, err);
	} else {
		rc = input_head(in, &head, &n, err);
		if (!rc)
			rc = detect(input_path(in), head, n, &im->format, err);
	}
	return rc ? rc : check_options(im, err);
}

struct file_set {
	char **path;
	struct input **in;
	unsigned n;
};

static void close_set(struct file_set *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		input_close(s->in ? s->in[i] : NULL);
		free(s->path[i]);
	}
	free(s->path);
	free(s->in);
	*s = (struct file_set){ NULL, NULL, 0 };
}

/* Opens the siblings of @path, if the format has such; an empty one is no mistake among several. */
static int open_siblings(const struct import *im, const char *path, struct file_set *s,
			 struct err *err)
{
	int rc = im->format->siblings ? im->format->siblings(path, &s->path, &s->n, err) : 0;
	unsigned n = 0;

	if (rc || s->n == 0)
		return rc;
	s->in = calloc(s->n, sizeof(*s->in));
	if (!s->in)
		return err_set(err, -ENOMEM, "no memory to open the capture's files");
	for (unsigned i = 0; i < s->n; i++) {
		struct err why = { "" };

		rc = input_open(s->path[i], &s->in[n], &why);
		if (!rc)
			n++;
		else if (!strstr(why.msg, ": is empty"))
			return err_set(err, rc, "%s", why.msg);
		if (rc)
			free(s->path[i]), s->path[i] = NULL;
		else if (n - 1 != i)
			s->path[n - 1] = s->path[i], s->path[i] = NULL;
	}
	s->n = n;
	return 0;
}

/* ---- the whole ---- */

static bool cut_suffix(char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	if (n <= k || strcmp(s + n - k, suffix) != 0)
		return false;
	s[n - k] = '\0';
	return true;
}

/* "dir/gps.blktrace.0" -> "gps", "hm_1.csv.gz" -> "hm_1" */
static void name_of(const char *path, char *ret, size_t n)
{
	const char *slash = strrchr(path, '/');
	char *dot;

	snprintf(ret, n, "%s", strcmp(path, "-") == 0 ? "stdin" : slash ? slash + 1 : path);
	if (!cut_suffix(ret, ".gz") && !cut_suffix(ret, ".xz"))
		(void)cut_suffix(ret, ".zst");
	dot = strstr(ret, ".blktrace.");
	if (!dot)
		dot = strrchr(ret, '.');
	if (dot && dot != ret)
		*dot = '\0';
}

static void utc_text(const struct import *im, char *ret, size_t n)
{
	int64_t ns;
	time_t s;
	struct tm tm;

	if (!im->wall || __builtin_sub_overflow(im->first_io_ns, im->wall_at_ns, &ns) ||
	    __builtin_add_overflow(ns, im->wall_utc_ns, &ns))
		return;
	s = (time_t)(ns / 1000000000);
	if (ns > 0 && gmtime_r(&s, &tm))
		strftime(ret, n, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static int read_all(struct import *im, const char *path, struct input *first, struct err *err)
{
	struct file_set set = { NULL, NULL, 0 };
	int rc = open_siblings(im, path, &set, err);

	if (!rc && set.n > 0)
		rc = im->format->import(im, set.in, set.n, err);
	else if (!rc)
		rc = im->format->import(im, &first, 1, err);
	close_set(&set);
	if (!rc && im->pair) {
		rc = release_events(im, im->n_events, err);
		if (!rc)
			rc = pair_finish(im->pair, &im->report, err);
	}
	return rc;
}

static int import_open(struct import *im, const char *path, const char *out, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct input *in;
	char name[TRACE_NAME];
	int rc = input_open(path, &in, err);

	if (rc)
		return rc;
	rc = choose_format(im, in, err);
	if (!rc)
		rc = trace_writer_open(out, &im->writer, err);
	if (!rc) {
		im->put = trace_writer_put(im->writer);
		snprintf(im->report.format, sizeof(im->report.format), "%s", im->format->name);
		snprintf(im->report.event, sizeof(im->report.event), "row");
		snprintf(im->report.source, sizeof(im->report.source), "%s",
			 strcmp(path, "-") == 0 ? "standard input"
			 : slash		? slash + 1
						: path);
		rc = read_all(im, path, in, err);
	}
	if (!rc && im->ios == 0)
		rc = err_set(err, -EINVAL, "%s: holds no IO (read as %s)", input_path(in),
			     im->format->name);
	input_close(in);
	if (rc)
		return rc;
	if (im->assumed)
		import_note(im, "a response time of %" PRIu64 " ns is assumed for %" PRIu64 " IOs",
			    im->opts->assume_rt_ns, im->assumed);
	utc_text(im, im->report.wall_clock_utc, sizeof(im->report.wall_clock_utc));
	name_of(path, name, sizeof(name));
	rc = trace_writer_commit(im->writer, im->opts->name ? im->opts->name : name, &im->report,
				 err);
	im->writer = NULL;
	return rc;
}

int import_file(const char *path, const struct import_opts *o, const char *out,
		struct trace_report *ret_report, struct err *err)
{
	struct import *im = calloc(1, sizeof(*im));
	int rc;

	if (!im)
		return err_set(err, -ENOMEM, "no memory to import");
	im->opts = o;
	im->ordered = true;
	rc = import_open(im, path, out, err);
	if (!rc && ret_report)
		*ret_report = im->report;
	trace_writer_drop(im->writer);
	pair_free(im->pair);
	free(im->event);
	free(im->spare);
	free(im);
	return rc;
}
