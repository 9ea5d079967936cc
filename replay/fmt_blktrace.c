/* SPDX-License-Identifier: MIT */
/*
 * blktrace's own files, one for each CPU, and the binary stream of the kernel's blk tracer: records of version 7 (48 bytes)
 * and version 8 (64 bytes), in either byte order.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/format.h"

#define MAGIC 0x65617400u

enum act { /* low byte of the action */
	   ACT_QUEUE = 1,
	   ACT_REQUEUE = 6,
	   ACT_ISSUE = 7,
	   ACT_COMPLETE = 8,
};

enum category { /* bits of the high half */
		CAT_WRITE = 1 << 1,
		CAT_FLUSH = 1 << 2,
		CAT_SYNC = 1 << 3,
		CAT_PC = 1 << 9,
		CAT_NOTIFY = 1 << 10,
		CAT_AHEAD = 1 << 11,
		CAT_META = 1 << 12,
		CAT_DISCARD = 1 << 13,
		CAT_FUA = 1 << 15,
};

#define NOTIFY_TIMESTAMP 1
#define NOTIFY_MESSAGE 2
#define ACTS 18 /* counted by name; above: "other event" */

struct record {
	uint64_t time_ns, sector;
	uint32_t seq, bytes, pid, act, cat, device, cpu;
	uint16_t error;
	bool swapped;
	const unsigned char *payload;
	size_t payload_bytes;
};

struct reader { /* one file */
	struct input *in;
	const unsigned char
		*p; /* what was peeked at; all before it is consumed but the @used bytes */
	size_t left, used;
	struct record next;
	bool end, last; /* last: the input has no more than @left */
};

struct parse { /* the whole capture */
	struct import *im;
	struct reader *rd;
	unsigned n;
	uint32_t device; /* that @dev is of */
	uint16_t dev;
	bool any_device;
	uint64_t records, notify, passthrough, skipped[ACTS + 1];
};

/* A record with the longest payload, and the same again so that refilling is rare. */
#define AHEAD_BYTES (2 * (64 + 65536))
_Static_assert(AHEAD_BYTES <= INPUT_PEEK_MAX, "a record lies in one piece");

static uint16_t get16(const unsigned char *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return swap ? __builtin_bswap16(v) : v;
}

static uint32_t get32(const unsigned char *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return swap ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const unsigned char *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return swap ? __builtin_bswap64(v) : v;
}

/* The version of a record that begins here, -1 none does. */
static int magic_version(const unsigned char *p, bool *ret_swapped)
{
	uint32_t m = get32(p, false);

	*ret_swapped = (__builtin_bswap32(m) & 0xffffff00u) == MAGIC;
	if (*ret_swapped)
		m = __builtin_bswap32(m);
	return (m & 0xffffff00u) == MAGIC ? (int)(m & 0xff) : -1;
}

static int detect(const char *head, size_t n)
{
	bool swapped;

	return n >= 48 && magic_version((const unsigned char *)head, &swapped) >= 0 ? 100 : 0;
}

static size_t head_bytes(int version)
{
	return version == 8 ? 64 : 48;
}

/* Version 8 has the pid and an action of 64 bits from byte 28 on; what follows comes 4 bytes later. */
static void decode(const unsigned char *p, int version, bool swap, struct record *r)
{
	unsigned later = version == 8 ? 4 : 0;

	r->swapped = swap;
	r->seq = get32(p + 4, swap);
	r->time_ns = get64(p + 8, swap);
	r->sector = get64(p + 16, swap);
	r->bytes = get32(p + 24, swap);
	if (version == 8) {
		uint64_t action = get64(p + 32, swap);

		r->pid = get32(p + 28, swap);
		r->act = (uint32_t)action & 0xff;
		r->cat = (uint32_t)(action >> 16);
	} else {
		uint32_t action = get32(p + 28, swap);

		r->pid = get32(p + 32, swap);
		r->act = action & 0xff;
		r->cat = action >> 16;
	}
	r->device = get32(p + 36 + later, swap);
	r->cpu = get32(p + 40 + later, swap);
	r->error = get16(p + 44 + later, swap);
	r->payload_bytes = get16(p + 46 + later, swap);
	r->payload = p + head_bytes(version);
}

static int refill(struct reader *rd, struct err *err)
{
	const char *p;
	int rc;

	input_skip(rd->in, rd->used);
	rd->used = 0;
	rc = input_peek(rd->in, AHEAD_BYTES, &p, &rd->left, err);
	if (rc)
		return rc;
	rd->p = (const unsigned char *)p;
	rd->last = rd->left < AHEAD_BYTES;
	return 0;
}

static void consume(struct reader *rd, size_t n)
{
	rd->p += n;
	rd->left -= n;
	rd->used += n;
}

/* With --skip-bad: on to the next thing that looks like a record, or to what of a magic may be at the end of what is read. */
static int find_record(struct reader *rd, struct err *err)
{
	bool swapped;
	int rc = 0;

	consume(rd, 1);
	while (!rc && rd->left >= 4 && magic_version(rd->p, &swapped) < 0) {
		consume(rd, 1);
		if (rd->left < 4 && !rd->last)
			rc = refill(rd, err);
	}
	if (!rc && rd->left < 4 && rd->last)
		consume(rd, rd->left);
	return rc;
}

/* No record begins where one should. 0: skipped to the next, <0. */
static int no_record(struct parse *s, struct reader *rd, int version, struct err *err)
{
	int rc;

	input_skip(rd->in, rd->used);
	rd->used = 0;
	if (version >= 0)
		rc = import_bad(s->im, rd->in, err, "version of a record",
				"a blktrace record of version %d; pts reads 7 and 8", version);
	else
		rc = import_bad(s->im, rd->in, err, "no record", "no blktrace record begins here");
	return rc ? rc : find_record(rd, err);
}

static int at_end(struct parse *s, struct reader *rd)
{
	if (rd->left)
		import_skip(s->im, "cut off at the end of the file");
	rd->end = true;
	return 0;
}

/* The next record of a file into @rd->next: 1 got, 0 its end. */
static int read_record(struct parse *s, struct reader *rd, struct err *err)
{
	for (;;) {
		bool swapped;
		size_t n;
		int version, rc;

		if (rd->left < AHEAD_BYTES / 2 && !rd->last) {
			rc = refill(rd, err);
			if (rc)
				return rc;
		}
		if (rd->left < 48)
			return at_end(s, rd);
		version = magic_version(rd->p, &swapped);
		if (version != 7 && version != 8) {
			rc = no_record(s, rd, version, err);
			if (rc)
				return rc;
			continue;
		}
		if (rd->left < head_bytes(version))
			return at_end(s, rd);
		decode(rd->p, version, swapped, &rd->next);
		n = head_bytes(version) + rd->next.payload_bytes;
		if (rd->left < n)
			return at_end(s, rd);
		consume(rd, n);
		return 1;
	}
}

static uint8_t op_of(const struct record *r)
{
	if (r->cat & CAT_FLUSH && r->bytes == 0)
		return TRACE_FLUSH;
	if (r->cat & CAT_DISCARD)
		return TRACE_DISCARD;
	if (r->cat & CAT_WRITE)
		return TRACE_WRITE;
	return r->bytes ? TRACE_READ : TRACE_OTHER;
}

static const char *act_word(uint32_t act)
{
	static const char *const words[ACTS] = {
		"other event", "queue", "merge",    "merge", "get request", "sleep",
		"requeue",     "issue", "complete", "plug",  "unplug",	    "timer unplug",
		"insert",      "split", "bounce",   "remap", "abort",	    "driver data"
	};

	return act < ACTS ? words[act] : "other event";
}

/* enum event_act of an act, -1 where it is only counted. */
static int event_of(uint32_t act)
{
	switch (act) {
	case ACT_QUEUE:
		return EVENT_QUEUE;
	case ACT_ISSUE:
		return EVENT_ISSUE;
	case ACT_COMPLETE:
		return EVENT_COMPLETE;
	case ACT_REQUEUE:
		return EVENT_REQUEUE;
	default:
		return -1;
	}
}

static int device_of(struct parse *s, uint32_t device, struct err *err)
{
	char name[32];
	int rc;

	if (s->any_device && device == s->device)
		return 0;
	snprintf(name, sizeof(name), "%u,%u", device >> 20, device & 0xfffff);
	rc = import_device(s->im, name, &s->dev, err);
	s->device = device;
	s->any_device = rc == 0;
	return rc;
}

static int give_event(struct parse *s, const struct reader *rd, int act, struct err *err)
{
	const struct record *r = &rd->next;
	struct import_event ev = {
		/* beyond 63 bits: a time that the sink refuses */
		.time_ns = r->time_ns > INT64_MAX ? INT64_MAX : (int64_t)r->time_ns,
		.sector = r->sector,
		.key = r->sector,
		.bytes = r->bytes,
		.seq = r->seq,
		.cpu = r->cpu,
		.pid = r->pid,
		.act = (uint8_t)act,
		.op = op_of(r),
		.flags = (uint8_t)((r->cat & CAT_SYNC ? TRACE_SYNC : 0) |
				   (r->cat & CAT_FUA ? TRACE_FUA : 0) |
				   (r->cat & CAT_META ? TRACE_META : 0) |
				   (r->cat & CAT_AHEAD ? TRACE_READAHEAD : 0)),
		.error = (int16_t)r->error,
	};
	int rc = device_of(s, r->device, err);

	ev.dev = s->dev;
	return rc ? rc : import_event(s->im, rd->in, &ev, err);
}

/* Messages that pts capture puts among the records: "pts: lost 12", "pts: device 7,0 loop0". */
static void take_message(struct parse *s, const struct record *r)
{
	char text[160], name[32], call_it[64];
	unsigned long long lost;

	snprintf(text, sizeof(text), "%.*s",
		 (int)(r->payload_bytes < sizeof(text) ? r->payload_bytes : sizeof(text) - 1),
		 (const char *)r->payload);
	if (sscanf(text, "pts: lost %llu", &lost) == 1)
		import_lost(s->im, lost);
	else if (sscanf(text, "pts: device %31s %63s", name, call_it) == 2)
		import_device_name(s->im, name, call_it);
}

/* Of notifies only the wall clock and what pts itself says mean something here. */
static void take_notify(struct parse *s, const struct record *r)
{
	uint64_t utc_s, utc_ns;

	s->notify++;
	if (r->act == NOTIFY_MESSAGE)
		take_message(s, r);
	if (r->act != NOTIFY_TIMESTAMP || r->payload_bytes < 8)
		return;
	utc_s = get32(r->payload, r->swapped);
	utc_ns = get32(r->payload + 4, r->swapped);
	if (utc_s)
		import_wall_clock(s->im, (int64_t)r->time_ns,
				  (int64_t)(utc_s * 1000000000 + utc_ns));
}

static int give(struct parse *s, const struct reader *rd, struct err *err)
{
	const struct record *r = &rd->next;
	int act = event_of(r->act);

	s->records++;
	if (r->cat & CAT_NOTIFY)
		take_notify(s, r);
	else if (r->cat & CAT_PC)
		s->passthrough++;
	else if (act < 0)
		s->skipped[r->act < ACTS ? r->act : ACTS]++;
	else
		return give_event(s, rd, act, err);
	return 0;
}

static bool earlier(const struct record *a, const struct record *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->seq < b->seq;
}

/* All files by time: the one whose next record is the earliest gives it, and goes on as long as it is. */
static int merge(struct parse *s, struct err *err)
{
	for (;;) {
		struct reader *first = NULL, *second = NULL;
		int rc;

		for (unsigned i = 0; i < s->n; i++) {
			struct reader *rd = &s->rd[i];

			if (rd->end)
				continue;
			if (!first || earlier(&rd->next, &first->next)) {
				second = first;
				first = rd;
			} else if (!second || earlier(&rd->next, &second->next)) {
				second = rd;
			}
		}
		if (!first)
			return 0;
		do {
			rc = give(s, first, err);
			if (!rc)
				rc = read_record(s, first, err);
			if (rc < 0)
				return rc;
		} while (rc && (!second || earlier(&first->next, &second->next)));
	}
}

static void count(const struct parse *s)
{
	import_records(s->im, s->records);
	if (s->notify)
		import_skip_many(s->im, "notify", s->notify);
	if (s->passthrough)
		import_skip_many(s->im, "passthrough command", s->passthrough);
	for (uint32_t i = 0; i <= ACTS; i++)
		if (s->skipped[i])
			import_skip_many(s->im, act_word(i), s->skipped[i]);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct parse s = { .im = im, .n = n, .rd = calloc(n, sizeof(*s.rd)) };
	int rc = 0;

	if (!s.rd)
		return err_set(err, -ENOMEM, "no memory to read blktrace files");
	import_clock(im, "ns, monotonic since boot");
	for (unsigned i = 0; i < n && rc >= 0; i++) {
		s.rd[i].in = in[i];
		rc = read_record(&s, &s.rd[i], err);
	}
	if (rc >= 0)
		rc = merge(&s, err);
	count(&s);
	free(s.rd);
	return rc < 0 ? rc : 0;
}

/* Bytes of "dir/x.blktrace." in "dir/x.blktrace.12.gz", and its ".gz"; 0: not named so. blktrace writes no leading zeros. */
static size_t cpu_name(const char *path, const char **ret_packing)
{
	static const char *const packings[] = { ".gz", ".xz", ".zst" };
	size_t n = strlen(path), end = n, at;

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		size_t k = strlen(packings[i]);

		if (n > k && strcmp(path + n - k, packings[i]) == 0)
			end = n - k;
	}
	for (at = end; at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9';)
		at--;
	*ret_packing = path + end;
	if (at == end || (path[at] == '0' && end - at > 1))
		return 0;
	return at >= 10 && strncmp(path + at - 10, ".blktrace.", 10) == 0 ? at : 0;
}

/* "x.blktrace.0.gz" -> the pattern "x.blktrace.*"; false: @path is not named so. */
static bool sibling_pattern(const char *path, char *ret, size_t n)
{
	const char *packing;
	size_t base = cpu_name(path, &packing), at = 0;

	if (!base)
		return false;
	for (size_t i = 0; i < base; i++) {
		if (at + 8 > n)
			return false;
		if (strchr("*?[\\", path[i]))
			ret[at++] = '\\';
		ret[at++] = path[i];
	}
	snprintf(ret + at, n - at, "*");
	return true;
}

/* A file that is there only in another packing than the @n of @paths would be left out unseen. */
static int check_packing(const char *name, char **paths, unsigned n, struct err *err)
{
	const char *packing, *other;
	size_t base = cpu_name(name, &packing), len = (size_t)(packing - name);

	if (!base)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		(void)cpu_name(paths[i], &other);
		if ((size_t)(other - paths[i]) == len && memcmp(paths[i], name, len) == 0)
			return 0;
	}
	return err_set(err, -EINVAL,
		       "%s: is of the same capture and packed in another way: pack all alike",
		       name);
}

/* Whichever numbers there are: a gap in them is no end. All are packed as @path is. */
static int siblings(const char *path, char ***ret_paths, unsigned *ret_n, struct err *err)
{
	const char *packing, *other;
	char pattern[8192];
	int rc = 0;
	glob_t g;

	if (!sibling_pattern(path, pattern, sizeof(pattern)) || glob(pattern, 0, NULL, &g) != 0)
		return 0;
	*ret_paths = calloc(g.gl_pathc, sizeof(**ret_paths));
	*ret_n = 0;
	(void)cpu_name(path, &packing);
	if (!*ret_paths)
		rc = err_set(err, -ENOMEM, "no memory for the names of blktrace files");
	for (size_t i = 0; i < g.gl_pathc && !rc; i++) {
		if (!cpu_name(g.gl_pathv[i], &other) || strcmp(other, packing) != 0)
			continue;
		(*ret_paths)[*ret_n] = strdup(g.gl_pathv[i]);
		if ((*ret_paths)[*ret_n])
			++*ret_n;
		else
			rc = err_set(err, -ENOMEM, "no memory for the names of blktrace files");
	}
	for (size_t i = 0; i < g.gl_pathc && !rc; i++)
		rc = check_packing(g.gl_pathv[i], *ret_paths, *ret_n, err);
	globfree(&g);
	return rc;
}

const struct trace_format fmt_blktrace = {
	.name = "blktrace",
	.title = "blktrace binary (per-CPU files, found by their common name), and the kernel's "
		 "blk tracer in binary",
	.binary = true,
	.detect = detect,
	.siblings = siblings,
	.import = import,
};
