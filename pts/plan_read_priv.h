/* SPDX-License-Identifier: MIT */
/* Private to plan_read*.c: the state of reading a plan's text, and its words. */
#ifndef PTS_PLAN_READ_PRIV_H
#define PTS_PLAN_READ_PRIV_H

#include "pts/plan_read.h"

#define READ_DEPTH 2 /* a loop, and a repeat in it */

struct reading {
	struct plan *plan;
	struct arena *a;
	struct err *err;
	const char *p; /* the rest of the line at hand, NUL-terminated */
	unsigned line;
	struct step *step;
	unsigned cap;
	struct access **access;
	unsigned n_access, cap_access;
	bool *access_used;
	const char *section_label;
	bool open_section;
	unsigned depth, block[READ_DEPTH]; /* LOOP and REPEAT around the line */
	struct step *replay; /* whose steps follow */
	struct capture_step *replay_step;
	const struct access **replay_access;
	unsigned *replay_no, replay_steps, replay_seen;
};

/* "plan, line 7: WHAT at '...'"; -EINVAL. */
int read_bad(struct reading *r, const char *what);
/* Takes @text when it stands here. */
bool read_eat(struct reading *r, const char *text);
/* The next word, up to a blank or one of @stop. */
char *read_word(struct reading *r, const char *stop);
int read_uint(struct reading *r, uint64_t *ret) must_check;
int read_unsigned(struct reading *r, unsigned *ret) must_check;
int read_num(struct reading *r, double *ret) must_check;
int read_time(struct reading *r, uint64_t *ret) must_check;
/* "text" with its quotes; the last quote of the line closes it when @last. */
int read_quoted(struct reading *r, bool last, const char **ret) must_check;

/* '"NAME": 65 R rnd 8k, 35 W rnd 8k; zones ...; align 512; exact' */
int read_access(struct reading *r, struct access **ret) must_check;
/* The same, kept for the steps that name it. */
int read_new_access(struct reading *r) must_check;
/* The access that a FILL or RUN names; NULL. */
const struct access *read_known_access(struct reading *r, bool fill);

#endif
