/* SPDX-License-Identifier: MIT */
/*
 * Private to pts/def*.c and pts/plan*.c: definitions as parsed. The parser knows the shape of the statements; what the words
 * between mean (times, sizes, $names) is found by the compiler, which def_lib_load() tries on every test.
 */
#ifndef PTS_DEF_AST_H
#define PTS_DEF_AST_H

#include "pts/def.h"

#define DEF_FILE_MAX (1u << 20) /* bytes */
#define DEF_LINE_MAX 4096u
#define DEF_NAME_MAX 64u
#define DEF_DEPTH_MAX 16u

struct word {
	const char *s;
	bool quoted;
};

struct span {
	const struct word *w;
	unsigned n;
};

struct value { /* with its short form; quick.n == 0: the same */
	struct span normal, quick;
};

enum stmt {
	ST_RANGE,
	ST_PURGE,
	ST_FILL,
	ST_RUN,
	ST_IDLE,
	ST_REPLAY,
	ST_LOOP,
	ST_TRACK,
	ST_CHECK,
	ST_REPEAT,
	ST_FOREACH,
	ST_PICK,
	STMTS
};

enum opt {
	O_RW,
	O_BS,
	O_THREADS,
	O_QD, /* REPLAY: avg or max */
	O_AT, /* "$max" */
	O_RATE,
	O_MEMBERS, /* the range after "on members" */
	O_FOR,
	O_EVERY,
	O_AS,
	O_LABEL,
	O_SCALE,
	O_STEP,
	O_IDLE, /* REPLAY: ignore or honor */
	O_TOP,
	O_COVER,
	O_ROUNDS,
	O_THEN,
	O_AMOUNT,
	O_SEGMENTS,
	O_UNTIL_STEADY, /* a flag: present or not */
	O_WRITTEN,
	O_TIME,
	O_VALUE, /* the one thing without a word before it: FILL's amount, IDLE's time, REPEAT's times, RANGE's % */
	O_BELOW, /* PICK: art < TIME */
	O_TIE,
	OPTS
};

struct node {
	enum stmt kind;
	const char *file;
	unsigned line;
	struct span words; /* the statement as written */
	struct span
		access; /* RUN, FILL: "rnd", "$access", "composite of $capture top 9"; REPLAY: "$capture" */
	struct value opt[OPTS];
	bool optional; /* PURGE */
	const char *name; /* FOREACH: variable; PICK: point; TRACK: variable ("iops"); else NULL */
	const char *phase; /* TRACK, PICK: "of PHASE"; NULL */
	int rule; /* PICK: enum pick_rule */
	bool tie_oio, tie_tc, else_art; /* PICK */
	struct value list; /* FOREACH */
	bool streams; /* FOREACH: list is "streams of $capture [top N]" */
	struct node *child, *next;
};

struct param {
	const char *name;
	const char *file;
	unsigned line;
	struct span words; /* the statement as written */
	struct value value; /* normal.n == 0: empty */
	struct span choice; /* n == 0: none */
	struct param *next;
};

struct size_share {
	uint64_t bytes; /* validated < 4 GiB */
	double share;
};

struct wl_stream {
	double share;
	uint32_t bytes;
	uint8_t op, order; /* enum io_op, enum io_order */
};

struct wl_zone {
	double from, to, share; /* fractions; share in percent */
};

struct workload_def {
	struct wl_stream *stream; /* either these ... */
	unsigned n_streams;
	struct size_share *size; /* ... or sizes with rw */
	unsigned n_sizes;
	double read_pct;
	uint8_t order; /* of sizes */
	struct wl_zone *zone;
	unsigned n_zones;
	bool align_lba; /* RND offsets are multiples of the LBA size, not of the IO's own */
};

struct def {
	enum def_kind kind;
	const char *name, *title, *clause, *source;
	const char *file; /* "iops.pts"; path for those of PTS_DEF_PATH */
	unsigned line;
	bool builtin;
	const struct def *hidden; /* the built-in one of the same name that this one hides */
	const char *like; /* TEST: NULL or the other's name */
	const struct def *like_def; /* linked */
	unsigned like_line;
	struct param *param; /* TEST: own ones, in order; after linking, all */
	struct node *body; /* TEST; after linking that of the other */
	struct workload_def *wl; /* WORKLOAD */
	struct span *line_words; /* WORKLOAD, SUITE: statements as written */
	unsigned *line_no;
	unsigned n_lines;
	const struct def **member; /* SUITE: its tests, linked */
	unsigned n_members;
	struct def *next; /* in the library's list */
};

struct profile_side {
	bool write_cache;
	double range_pct;
	unsigned threads, qd;
	bool set;
};

struct profile_def {
	struct profile_side side[2]; /* by enum profile */
	uint64_t quick_range_bytes;
	bool changed; /* not as built in */
};

/* ---- def_lex.c ---- */
struct lexer {
	struct arena *arena;
	struct err *err;
	const char *file; /* for messages */
	const char *p, *end;
	unsigned line; /* of the statement last read */
};

void lex_init(struct lexer *lx, const char *file, const char *text, size_t len);
/* The next line that has words. 1 a line, 0 the end, -EINVAL. */
int lex_line(struct lexer *lx, struct span *ret);
/* A word as it may be shown in a message: cut when long. @out >= 48 bytes. */
const char *lex_show(char *out, const char *s);

/* ---- def_parse.c ---- */
struct parser {
	struct lexer lx;
	struct arena *arena;
	struct err *err;
	struct def *first, **tail; /* what was parsed, in order */
	struct profile_def profile; /* sides that were set; quick_range_bytes 0 unset */
	int set; /* "set N"; 0 none */
	bool builtin;
	const char *source;
};

/* Parses one text; definitions are appended to the parser's list. */
int def_parse_text(struct parser *ps, const char *file, const char *text, size_t len) must_check;
/* "FILE:LINE: message"; -EINVAL. */
int parse_bad(struct parser *ps, const char *fmt, ...) printf_like(2, 3);
/* The same for a word that is none of @list, with the nearest one. */
int parse_unknown(struct parser *ps, const char *what, const char *word, const char *const *list);
bool def_name_ok(const char *s);

/* ---- def_stmt.c: statements of a test's body ---- */
int stmt_parse(struct parser *ps, struct span words, struct node **ret) must_check;
bool stmt_is_block(enum stmt kind);
/* All words that a statement can begin with, NULL-terminated ("param" and "end" too). */
extern const char *const stmt_words[];

/* ---- def_workload.c ---- */
int workload_line(struct parser *ps, struct def *d, struct span words) must_check;
int workload_done(struct parser *ps, struct def *d) must_check;
/* "65/35": share of reads. 0 or -EINVAL. */
int parse_rw(const char *s, double *ret_read_pct) must_check;
/* "75%". 0 or -EINVAL. */
int parse_pct(const char *s, double *ret) must_check;
/* A block size: > 0, a multiple of 512, below 2 GiB. 0 or -EINVAL. */
int parse_block(const char *s, uint32_t *ret) must_check;

/* ---- def_link.c ---- */
int def_link(struct def_lib *lib, struct err *err) must_check;

/* ---- def_text.c ---- */
void span_text(struct span s, struct buf *out);

/* ---- plan.c: tries a test on a made-up drive and capture, so that every mistake in it shows when it is loaded ---- */
int plan_try(const struct def_lib *lib, const struct def *test, struct err *err) must_check;

extern const char *const phase_words[]; /* NULL-terminated */

#endif
