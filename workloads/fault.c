/* SPDX-License-Identifier: MIT */
/*
 * The engine of a ring with faults looks at a completion queue of ours. What the kernel completes is moved over to it, changed,
 * held back or dropped on the way, by ring_enter() and nothing else.
 */
#include "workloads/fault.h"

#include <ctype.h>
#include <linux/time_types.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "workloads/ring.h"

#define RULES_MAX 16
#define ERRNO_LAST 133

enum what { W_ERRNO, W_SHORT, W_LATE, W_NEVER, W_GONE, W_TAKE, W_REFUSE };

struct rule {
	enum what what;
	uint64_t arg; /* errno, bytes, ns, entries; SHORT: UINT64_MAX = half */
	uint64_t nth, every; /* nth 0: not by number */
	bool onwards;
};

struct fault {
	struct rule rule[RULES_MAX];
	unsigned n;
	uint64_t deadline_ns;
	_Atomic uint64_t completions, calls;
	_Atomic bool gone;
};

struct late {
	uint64_t user, due_ns;
	int32_t res;
};

struct fault_ring {
	struct fault *f;
	uint64_t poll_user; /* user_data of the poll in the ring, which is no IO */
	/* the kernel's */
	unsigned *khead, *ktail, mask, at;
	unsigned wide; /* completions of twice the size: see ring.h */
	struct io_uring_cqe *kcqe;
	/* ours */
	unsigned head, tail;
	struct io_uring_cqe *cqe;
	struct late *late;
	unsigned n_late;
};

/* ---- SPEC ---- */

static int errno_of(const char *word)
{
	char upper[24] = "";

	for (size_t i = 0; word[i] && i + 1 < sizeof upper; i++)
		upper[i] = (char)toupper((unsigned char)word[i]);
	for (int e = 1; e <= ERRNO_LAST; e++) {
		const char *name = strerrorname_np(e);
		if (name && !strcmp(name, upper))
			return e;
	}
	return 0;
}

static int bad(const char *word, struct err *err)
{
	return err_set(err, -EINVAL,
		       "fault '%s': such as eio@100, short@7, zero@1+, late=200ms@30, never@500, "
		       "gone@300, "
		       "take3, eagain*10, deadline=2s",
		       word);
}

/* Cuts "@N", "@N+" or "*K" off the end of @word. */
static int parse_when(char *word, struct rule *r)
{
	char *at = strpbrk(word, "@*"), kind = at ? *at : 0;
	size_t n;

	r->every = 1;
	if (!at)
		return 0;
	*at++ = 0;
	n = strlen(at);
	if (kind == '*')
		return parse_uint(at, 1, UINT64_MAX, &r->every);
	r->onwards = n && at[n - 1] == '+';
	if (r->onwards)
		at[n - 1] = 0;
	return parse_uint(at, 1, UINT64_MAX, &r->nth);
}

static int parse_what(const char *word, struct rule *r)
{
	static const struct {
		const char *word;
		struct rule rule;
	} plain[] = { { "short", { .what = W_SHORT, .arg = UINT64_MAX } },
		      { "zero", { .what = W_SHORT } },
		      { "never", { .what = W_NEVER } },
		      { "gone", { .what = W_GONE } },
		      { "again", { .what = W_ERRNO, .arg = EAGAIN } },
		      { "eagain", { .what = W_REFUSE, .arg = EAGAIN } },
		      { "ebusy", { .what = W_REFUSE, .arg = EBUSY } },
		      { "eintr", { .what = W_REFUSE, .arg = EINTR } } };

	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++) {
		if (strcmp(word, plain[i].word))
			continue;
		r->what = plain[i].rule.what;
		r->arg = plain[i].rule.arg;
		return 0;
	}
	r->what = W_SHORT;
	if (!strncmp(word, "short=", 6))
		return parse_size(word + 6, &r->arg);
	r->what = W_LATE;
	if (!strncmp(word, "late=", 5))
		return parse_time(word + 5, &r->arg);
	r->what = W_TAKE;
	if (!strncmp(word, "take", 4))
		return parse_uint(word + 4, 1, UINT32_MAX, &r->arg);
	r->what = W_ERRNO;
	r->arg = (uint64_t)errno_of(word);
	return r->arg ? 0 : -EINVAL;
}

static int parse_word(struct fault *f, const char *word, struct err *err)
{
	struct rule *r = &f->rule[f->n];
	char cut[64];

	snprintf(cut, sizeof cut, "%s", word);
	if (!strncmp(cut, "deadline=", 9))
		return parse_time(cut + 9, &f->deadline_ns) || !f->deadline_ns ? bad(word, err) : 0;
	if (strlen(word) >= sizeof cut || f->n == RULES_MAX || parse_when(cut, r) ||
	    parse_what(cut, r))
		return bad(word, err);
	f->n++;
	return 0;
}

int fault_open(const char *spec, struct fault **ret, struct err *err)
{
	struct fault *f = calloc(1, sizeof *f);
	char *words = strdup(spec), *rest = words, *word;
	int rc = 0;

	if (!f || !words)
		BUG("out of memory");
	while (!rc && (word = strsep(&rest, ",")))
		rc = parse_word(f, word, err);
	free(words);
	if (rc) {
		free(f);
		return rc;
	}
	*ret = f;
	return 0;
}

void fault_close(struct fault *f)
{
	free(f);
}

uint64_t fault_deadline_ns(const struct fault *f)
{
	return f->deadline_ns;
}

bool fault_gone(const struct fault *f)
{
	return f && atomic_load(&f->gone);
}

/* The first rule for event number @n, of calls or of completions. */
static const struct rule *find_rule(const struct fault *f, uint64_t n, bool calls)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct rule *r = &f->rule[i];
		if ((r->what >= W_TAKE) != calls)
			continue;
		if (r->nth ? n == r->nth || (r->onwards && n > r->nth) : n % r->every == 0)
			return r;
	}
	return NULL;
}

/* ---- completions ---- */

static void show(struct fault_ring *q, uint64_t user, int32_t res)
{
	struct io_uring_cqe *c = &q->cqe[(size_t)(q->tail & q->mask) << q->wide];

	c->user_data = user;
	c->res = res;
	__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_RELEASE);
}

static void hold(struct fault_ring *q, const struct io_uring_cqe *c, uint64_t ns)
{
	BUG_ON(q->n_late > q->mask);
	q->late[q->n_late++] = (struct late){ c->user_data, clock_mono_ns() + ns, c->res };
}

static int32_t shorter(int32_t res, uint64_t bytes)
{
	if (res <= 0)
		return res;
	if (bytes == UINT64_MAX)
		return res / 2;
	return bytes < (uint64_t)res ? (int32_t)bytes : res;
}

static void strike(struct fault_ring *q, const struct io_uring_cqe *c)
{
	struct fault *f = q->f;
	const struct rule *r = find_rule(f, atomic_fetch_add(&f->completions, 1) + 1, false);

	if (r && r->what == W_GONE)
		atomic_store(&f->gone, true);
	if (atomic_load(&f->gone)) /* a command that moves nothing has failed, and 0 is success */
		show(q, c->user_data, q->wide ? -ENODEV : 0);
	else if (r && r->what == W_ERRNO)
		show(q, c->user_data, -(int32_t)r->arg);
	else if (r && r->what == W_SHORT)
		show(q, c->user_data, shorter(c->res, r->arg));
	else if (r && r->what == W_LATE)
		hold(q, c, r->arg);
	else if (!r)
		show(q, c->user_data, c->res);
}

/* Moves over what the kernel has completed, and what was held back until now. */
static void pull(struct fault_ring *q)
{
	unsigned tail = __atomic_load_n(q->ktail, __ATOMIC_ACQUIRE), kept = 0;
	uint64_t now = q->n_late ? clock_mono_ns() : 0;

	for (unsigned i = 0; i < q->n_late; i++) {
		if (now >= q->late[i].due_ns)
			show(q, q->late[i].user, q->late[i].res);
		else
			q->late[kept++] = q->late[i];
	}
	q->n_late = kept;
	for (; q->at != tail; q->at++) {
		const struct io_uring_cqe *c = &q->kcqe[(size_t)(q->at & q->mask) << q->wide];
		if (c->user_data == q->poll_user)
			show(q, c->user_data, c->res);
		else
			strike(q, c);
	}
	__atomic_store_n(q->khead, q->at, __ATOMIC_RELEASE);
}

static unsigned visible(const struct fault_ring *q)
{
	return q->tail - __atomic_load_n(&q->head, __ATOMIC_RELAXED);
}

/* ---- the call ---- */

static void find_poll(struct fault_ring *q, const struct ring *r)
{
	for (unsigned i = r->taken; i != r->tail; i++) {
		const struct io_uring_sqe *sqe = ring_entry(r, i);
		if (sqe->opcode == IORING_OP_POLL_ADD)
			q->poll_user = sqe->user_data;
	}
}

/* Submission faults: the entries that the kernel may have, or -errno. */
static int grant(struct fault *f, unsigned n)
{
	uint64_t call = n ? atomic_fetch_add(&f->calls, 1) + 1 : 0;
	const struct rule *r = n ? find_rule(f, call, true) : NULL;

	if (r && r->what == W_REFUSE)
		return -(int)r->arg;
	return r && r->arg < n ? (int)r->arg : (int)n;
}

/* When to look again at the latest: 0 never. */
static uint64_t wake_time(const struct fault_ring *q, uint64_t until_ns)
{
	for (unsigned i = 0; i < q->n_late; i++)
		if (!until_ns || q->late[i].due_ns < until_ns)
			until_ns = q->late[i].due_ns;
	return until_ns;
}

static int enter(const struct ring *r, unsigned n, bool wait, uint64_t until_ns)
{
	uint64_t now = until_ns ? clock_mono_ns() : 0, ns = until_ns > now ? until_ns - now : 1;
	struct __kernel_timespec ts = { .tv_sec = (long long)(ns / 1000000000u),
					.tv_nsec = (long long)(ns % 1000000000u) };
	struct io_uring_getevents_arg arg = { .ts = (uintptr_t)&ts };
	unsigned how = IORING_ENTER_GETEVENTS;

	if (!wait || !until_ns)
		return ring_call(r, (struct ring_offer){ n, wait, how }, NULL, 0);
	how |= IORING_ENTER_EXT_ARG;
	return ring_call(r, (struct ring_offer){ n, wait, how }, &arg, sizeof arg);
}

static uint64_t caller_until(unsigned flags, const void *arg)
{
	const struct io_uring_getevents_arg *a = arg;
	const struct __kernel_timespec *ts;

	if (!(flags & IORING_ENTER_EXT_ARG) || !a->ts)
		return 0;
	ts = (const struct __kernel_timespec *)(uintptr_t)a->ts;
	return clock_mono_ns() + (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

/* Submits @n and waits until @least completions may be seen, or @until_ns. */
static int submit_and_wait(struct ring *r, unsigned n, unsigned least, uint64_t until_ns)
{
	struct fault_ring *q = r->fault;
	int taken = 0;

	for (;;) {
		pull(q);
		bool wait = visible(q) < least;
		int rc = enter(r, n, wait, wake_time(q, until_ns));
		pull(q);
		taken += rc > 0 ? rc : 0;
		n = 0;
		if (rc < 0 && rc != -ETIME)
			return taken ? taken : rc;
		if (!wait || visible(q) >= least)
			return taken;
		if (until_ns && clock_mono_ns() >= until_ns)
			return taken ? taken : -ETIME;
	}
}

int ring_enter_faulty(struct ring *r, struct ring_offer o, const void *arg)
{
	struct fault_ring *q = r->fault;
	int n;

	find_poll(q, r);
	n = grant(q->f, o.n);
	if (n < 0)
		return n;
	if ((unsigned)n < o.n || !(o.flags & IORING_ENTER_GETEVENTS)) {
		/* As the kernel does it: after a part was taken, nothing is waited for. */
		int rc = ring_call(r, (struct ring_offer){ (unsigned)n, 0, 0 }, NULL, 0);
		pull(q);
		return rc;
	}
	return submit_and_wait(r, (unsigned)n, o.least, caller_until(o.flags, arg));
}

/* ---- rings ---- */

int fault_ring_open(struct ring *r, struct fault *f, struct err *err)
{
	struct fault_ring *q = calloc(1, sizeof *q);
	unsigned n = r->cq_mask + 1;

	for (unsigned i = 0; i < f->n && r->wide; i++)
		if (f->rule[i].what == W_SHORT) {
			free(q);
			return err_set(err, -EINVAL, "no NVMe command of passthrough is short");
		}
	if (q) {
		q->cqe = calloc((size_t)n << r->wide, sizeof *q->cqe);
		q->late = calloc(n, sizeof *q->late);
	}
	r->fault = q;
	if (!q || !q->cqe || !q->late)
		return err_set(err, -ENOMEM, "no memory");
	q->f = f;
	q->wide = r->wide;
	q->khead = r->cq_khead;
	q->ktail = r->cq_ktail;
	q->kcqe = r->cqes;
	q->mask = r->cq_mask;
	q->at = q->head = q->tail = r->head;
	r->cq_khead = &q->head;
	r->cq_ktail = &q->tail;
	r->cqes = q->cqe;
	return 0;
}

void fault_ring_close(struct ring *r)
{
	struct fault_ring *q = r->fault;

	if (!q)
		return;
	free(q->cqe);
	free(q->late);
	free(q);
	r->fault = NULL;
}
