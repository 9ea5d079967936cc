/* SPDX-License-Identifier: MIT */
/* Private to pts/plan*.c: the compiler's state. */
#ifndef PTS_PLAN_CTX_H
#define PTS_PLAN_CTX_H

#include "pts/def_ast.h"
#include "pts/plan.h"

#define CURSOR_KEYS_MAX 4096u

struct binding { /* a foreach variable in this pass */
	const char *name;
	struct span words;
	const char *label; /* for people: "1024k", "SEQ 4K W" */
	const char *blame; /* "sizes=7x" when the list came from --set */
	const struct binding *up;
};

struct param_val {
	const struct param *param;
	struct span words; /* n == 0: empty */
	const char *set; /* "hours=6x" when --set or --scale gave it, else NULL */
};

struct cursor_key {
	unsigned regions, region;
	uint32_t bytes;
	unsigned dir; /* 1 R, 2 W, 3 both */
};

/* A stream before it is cut by direction: R and W of one group share a SEQ cursor and region. */
struct group {
	double share; /* of the IO count */
	uint32_t bytes;
	uint8_t order; /* enum io_order */
	double read_pct;
};

/* An access as the definition means it, before it meets the drive. */
struct mix {
	char name[80];
	unsigned n;
	struct group group[ACCESS_STREAMS_MAX];
	const struct wl_zone *zone;
	unsigned n_zones;
	bool align_lba;
	bool round_up; /* sizes that the drive cannot do are rounded up (composites), else the cell is n/a */
};

/* The dominant streams of the capture, and the group each went to. */
struct composite {
	struct mix mix;
	unsigned n_streams; /* taken of the capture */
	unsigned group_of[ACCESS_STREAMS_MAX];
};

struct ctx {
	const struct def_lib *lib;
	const struct def *test;
	const struct plan_env *env;
	struct plan *plan;
	struct arena *a; /* of the plan */
	struct err *err;
	bool trial; /* plan_try(): empty params are passed over */
	bool holes; /* a statement was passed over */

	const struct profile_side *profile;
	struct param_val *param;
	unsigned n_params;
	const struct binding *vars;
	const char *blame; /* "hours=6x": the --set that the value at hand came from */
	const char *const *set; /* of the environment */

	const struct node *at; /* the statement at hand, for messages */
	const char **point; /* picked so far */
	unsigned n_points;

	struct step *step; /* growing */
	unsigned n, cap;
	unsigned section;
	bool open_section; /* the next step opens one */
	const char *section_label;
	int loop; /* index of the LOOP step being filled, -1 none */
	int repeat;
	bool own_check;
	unsigned n_tracks;
	struct track track[16];

	uint64_t capacity_bytes; /* whole LBAs */
	uint64_t range_bytes; /* of fills: whole LBAs */
	double range_pct;
	uint64_t seg_amount; /* AR amount; 0 none */
	uint32_t n_seg;
	bool have_range;
	uint32_t largest; /* block used so far */
	const char *largest_where;
	uint64_t need_bytes; /* the range must hold this much, for the SEQ regions */

	struct cursor_key *cursor;
	unsigned n_cursors;
	struct plan_deviation *deviation;
	unsigned n_deviations, cap_deviations;
	const struct access **access; /* each different one once */
	unsigned n_access, cap_access;
	struct { /* accesses of the steps of the capture, the same for every scale */
		unsigned n_streams;
		const struct access *const *list;
	} replay;
	bool formal;
};

/* ---- plan_value.c ---- */
/* "FILE:LINE: ..." of the statement at hand, with the --set to blame; -EINVAL. */
int ctx_bad(struct ctx *c, const char *fmt, ...) printf_like(2, 3);
int ctx_unknown(struct ctx *c, const char *what, const char *word, const char *const *list);
void ctx_deviation(struct ctx *c, const char *clause, const char *text);
/* $names put in. -ENODATA: an empty param while trying. */
int words_expand(struct ctx *c, struct span in, struct span *ret) must_check;
int value_words(struct ctx *c, const struct value *v, struct span *ret) must_check;
/* One word; @what for messages ("time"). */
int value_word(struct ctx *c, const struct value *v, const char *what, const char **ret) must_check;
int value_time(struct ctx *c, const struct value *v, uint64_t *ret_ns) must_check;
int value_uint(struct ctx *c, const struct value *v, const char *what, const uint64_t range[2],
	       uint64_t *ret) must_check;
int value_pct(struct ctx *c, const struct value *v, double *ret) must_check;
int value_block(struct ctx *c, const struct value *v, uint32_t *ret) must_check;
/* @ret_own: the word was "own" */
int value_rw(struct ctx *c, const struct value *v, double *ret_read_pct, bool *ret_own) must_check;
/* "2x" or "10g" to bytes. */
int value_amount(struct ctx *c, const struct value *v, uint64_t *ret_bytes) must_check;
int value_scale(struct ctx *c, const struct value *v, double *ret) must_check;
int value_expr(struct ctx *c, const struct value *v, struct expr *ret,
	       const char **ret_label) must_check;
/* "$max" to the point's name. */
int value_point(struct ctx *c, const struct value *v, const char **ret) must_check;
int value_label(struct ctx *c, const struct value *v, const char **ret) must_check;
bool value_given(const struct value *v);
/* Mean depth of the capture. -EINVAL with what to do, where it does not say it. */
int capture_depth(struct ctx *c, double *ret) must_check;
bool ctx_uses_capture(const struct ctx *c);

/* ---- plan_param.c ---- */
int params_take(struct ctx *c) must_check;
const char *params_json(struct ctx *c);

/* ---- plan_access.c ---- */
struct cell_access {
	const struct access *access;
	double read_pct;
	uint32_t block_bytes; /* 0 mixed */
	const char *na; /* NULL, or why this drive cannot */
};
/* The access of a RUN or FILL statement with its rw and bs. */
int access_build(struct ctx *c, const struct node *n, struct cell_access *ret) must_check;
/* Dominant streams by [top N] [cover PCT] in @words (after "composite of $capture"). */
int composite_take(struct ctx *c, struct span words, struct composite *ret) must_check;
/* Sizes made to fit the drive; fills group_of[]. */
void composite_round(struct ctx *c, struct composite *comp);
/* An access for each step of the capture; NULL entries are idle steps. */
int replay_accesses(struct ctx *c, const struct composite *comp,
		    const struct access *const **ret) must_check;
/* "SEQ 4K W" */
const char *stream_label(struct ctx *c, const struct capture_stream *s);
/* Notes when a definition that is used is not of the definition set. */
void ctx_formal(struct ctx *c, const struct def *d);

/* ---- plan_stmt.c ---- */
extern const uint64_t threads_range[2], qd_range[2];
int block_compile(struct ctx *c, const struct node *first) must_check;
int step_new(struct ctx *c, enum opcode op, struct step **ret) must_check;
int value_constant(struct ctx *c, const struct value *v, const char *what, const uint64_t range[2],
		   struct expr *ret) must_check;

/* ---- plan_flow.c ---- */
int loop_compile(struct ctx *c, const struct node *n) must_check;
int check_compile(struct ctx *c, const struct node *n) must_check;
int track_compile(struct ctx *c, const struct node *n) must_check;
int repeat_compile(struct ctx *c, const struct node *n) must_check;
int foreach_compile(struct ctx *c, const struct node *n) must_check;
int pick_compile(struct ctx *c, const struct node *n) must_check;

/* ---- plan.c ---- */
void range_set(struct ctx *c);

#endif
