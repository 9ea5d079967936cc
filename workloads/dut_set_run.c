/* SPDX-License-Identifier: MIT */
/*
 * A job on all members at once. Each real member's runner, a thread, runs its own job; what it seals is kept in its slots. The
 * caller's thread takes a segment when all have sealed it, sums it up and hands it out, so that job.sealed(), progress() and
 * the store behind them stay where they were. Simulated members take turns in the caller's thread, a segment each.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "pts/base/units.h"
#include "workloads/dut_set_impl.h"
#include "workloads/thread.h"

#define POLL_NS 20000000u /* how often the caller looks for a stop */
#define TELL_NS 1000000000u
#define RUNNER_STACK_BYTES (1u << 20)

/* ---- the runners ---- */

static void halt(struct set *s)
{
	__atomic_store_n(&s->halt, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&s->to_members);
}

static bool halted(const struct set *s)
{
	return __atomic_load_n(&s->halt, __ATOMIC_RELAXED);
}

static void *runner_main(void *arg)
{
	struct set_member *m = arg;
	struct set *s = m->set;
	char name[16];

	snprintf(name, sizeof name, "pts-set-%u", m->no);
	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&s->mu);
	while (!s->exiting) {
		int (*work)(struct set_member * m) = m->work;

		if (!work) {
			pthread_cond_wait(&s->to_members, &s->mu);
			continue;
		}
		pthread_mutex_unlock(&s->mu);
		int rc = work(m);
		pthread_mutex_lock(&s->mu);
		m->rc = rc;
		m->work = NULL;
		if (rc)
			halt(s);
		pthread_cond_signal(&s->to_main);
	}
	pthread_mutex_unlock(&s->mu);
	return NULL;
}

static int start_runners(struct set *s, struct err *err)
{
	sigset_t all, was;
	int rc = 0;

	/* Signals are for the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	for (unsigned i = 0; i < s->n && !rc; i++) {
		struct set_member *m = &s->m[i];

		if (m->has_thread)
			continue;
		rc = thread_start(&m->thread, RUNNER_STACK_BYTES, runner_main, m);
		m->has_thread = !rc;
		if (rc)
			err_set(err, rc, "a thread for member %u cannot be started: %s", m->no,
				strerror(-rc));
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return rc;
}

void set_runners_end(struct set *s)
{
	pthread_mutex_lock(&s->mu);
	s->exiting = true;
	pthread_cond_broadcast(&s->to_members);
	pthread_mutex_unlock(&s->mu);
	for (unsigned i = 0; i < s->n; i++)
		if (s->m[i].has_thread)
			pthread_join(s->m[i].thread, NULL);
}

/* Locked. */
static bool at_work(const struct set *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->m[i].work)
			return true;
	return false;
}

/* Locked: until a member says something, or the poll interval is over. */
static void wait_members(struct set *s)
{
	uint64_t until = clock_mono_ns() + POLL_NS;
	struct timespec ts = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

	pthread_cond_timedwait(&s->to_main, &s->mu, &ts);
}

/* Locked or alone. Starts @work on members first..last. */
static void begin_work(struct set *s, int (*work)(struct set_member *m))
{
	for (unsigned i = s->first; i <= s->last; i++) {
		s->m[i].err = (struct err){ "" };
		s->m[i].rc = 0;
		s->m[i].work = work;
	}
	pthread_cond_broadcast(&s->to_members);
}

/* ---- who failed ---- */

/* Of the members' codes the one that says most: a hang, which ends the process, before others; a stop only when alone. */
static int worst(const struct set *s)
{
	int rc = 0;

	for (unsigned i = s->first; i <= s->last; i++) {
		int is = s->m[i].rc;

		if (is == -ETIMEDOUT)
			return is;
		if (is && is != -ECANCELED && (!rc || rc == -EINTR))
			rc = is;
	}
	return rc;
}

/* "member 2 (file:b): ...; member 3 ...": all that failed, stops left out. */
static int tell_failed(const struct set *s, int rc, struct err *err)
{
	struct buf b = BUF_INIT;

	for (unsigned i = s->first; i <= s->last; i++) {
		const struct set_member *m = &s->m[i];

		if (!m->rc || m->rc == -EINTR || m->rc == -ECANCELED)
			continue;
		buf_fmt(&b, "%smember %u (%s): %s", b.len ? "; " : "", m->no, m->name,
			m->err.msg[0] ? m->err.msg : strerror(-m->rc));
	}
	err_set(err, rc, "%s", buf_cstr(&b));
	buf_release(&b);
	return rc;
}

int set_each(struct set *s, int (*work)(struct set_member *m), struct err *err)
{
	int rc = 0;

	s->first = 0;
	s->last = s->n - 1;
	if (s->d.info.simulated) {
		begin_work(s, NULL);
		for (unsigned i = 0; i < s->n; i++)
			s->m[i].rc = work(&s->m[i]);
	} else {
		rc = start_runners(s, err);
		if (rc)
			return rc;
		pthread_mutex_lock(&s->mu);
		begin_work(s, work);
		while (at_work(s))
			wait_members(s);
		pthread_mutex_unlock(&s->mu);
	}
	rc = worst(s);
	if (rc == -EINTR)
		return err_set(err, rc, "interrupted");
	return rc ? tell_failed(s, rc, err) : 0;
}

/* ---- handing out ---- */

/* Sums up what the members sealed as @slot; those without a result make it partial. False: none has one. */
static bool sum_up(struct set *s, const bool *has, unsigned slot)
{
	struct member_result list[SET_MEMBERS_MAX];
	char missing[RESULT_NOTE] = "";
	unsigned n = 0;

	for (unsigned i = s->first; i <= s->last; i++) {
		if (has[i])
			list[n++] = (struct member_result){ s->m[i].no, &s->m[i].box[slot].r };
		else if (!missing[0])
			snprintf(missing, sizeof missing, "member %u has no result", s->m[i].no);
	}
	if (!n)
		return false;
	result_box_sum(&s->sum, list, n);
	if (missing[0]) {
		struct result *r = &s->sum.r;
		size_t at = strlen(r->note);

		r->partial = true;
		snprintf(r->note + at, sizeof r->note - at, "%s%s", at ? "; " : "", missing);
	}
	return true;
}

static void choose_members(struct set *s, const struct job *job)
{
	s->first = job->member_first ? job->member_first - 1 : 0;
	s->last = job->member_first ? job->member_last - 1 : s->n - 1;
	BUG_ON(s->first > s->last || s->last >= s->n);
}

static struct job job_of(const struct job *job, unsigned member)
{
	struct job j = *job;

	j.cursor = job->cursor ? job->cursor + (size_t)member * job->n_cursors : NULL;
	j.member_first = j.member_last = 0;
	return j;
}

/* ---- real members ---- */

/* In the runner's thread: all members' first IOs go together. */
static int member_ready(void *arg)
{
	struct set_member *m = arg;
	struct set *s = m->set;
	int rc;

	pthread_mutex_lock(&s->mu);
	s->ready++;
	pthread_cond_broadcast(&s->to_members);
	while (s->ready <= s->last - s->first && !halted(s))
		pthread_cond_wait(&s->to_members, &s->mu);
	rc = halted(s) ? -ECANCELED : 0;
	pthread_mutex_unlock(&s->mu);
	return rc;
}

/* In the runner's thread. */
static int member_sealed(void *arg, unsigned k, const struct result *r)
{
	struct set_member *m = arg;
	struct set *s = m->set;
	bool drop;

	pthread_mutex_lock(&s->mu);
	while (k >= s->taken + SET_SLOTS && !s->enough)
		pthread_cond_wait(&s->to_members, &s->mu);
	drop = s->enough;
	pthread_mutex_unlock(&s->mu);
	if (drop)
		return 1;
	result_box_keep(&m->box[k % SET_SLOTS], r);
	pthread_mutex_lock(&s->mu);
	m->sealed = k + 1;
	m->told = false;
	pthread_cond_signal(&s->to_main);
	pthread_mutex_unlock(&s->mu);
	return 0;
}

static void member_progress(void *arg, const struct progress *p)
{
	struct set_member *m = arg;

	pthread_mutex_lock(&m->set->mu);
	m->progress = *p;
	m->told = true;
	pthread_mutex_unlock(&m->set->mu);
}

static int work_run(struct set_member *m)
{
	return m->dut->ops->run(m->dut, &m->job, &m->err);
}

/* Of the segment that is to be handed out next: what the members in it have said of it. Locked. */
static struct progress sum_progress(const struct set *s, unsigned k)
{
	struct progress sum = { .segment = k };

	for (unsigned i = s->first; i <= s->last; i++) {
		const struct progress *p = &s->m[i].progress;

		if (!s->m[i].told || p->segment != k)
			continue;
		sum.elapsed_ns = p->elapsed_ns > sum.elapsed_ns ? p->elapsed_ns : sum.elapsed_ns;
		sum.ios += p->ios;
		sum.bytes += p->bytes;
		sum.errors += p->errors;
	}
	return sum;
}

struct stretch {
	const struct job *job;
	unsigned from, n; /* segments of the job */
	uint64_t told_ns;
};

/* Locked on entry and return, but not while the caller is told. */
static void tell(struct set *s, struct stretch *t, unsigned k)
{
	uint64_t now = clock_mono_ns();
	struct progress p;

	if (!t->job->progress || now - t->told_ns < TELL_NS)
		return;
	t->told_ns = now;
	p = sum_progress(s, k);
	p.segment += t->from;
	pthread_mutex_unlock(&s->mu);
	if (p.elapsed_ns)
		t->job->progress(t->job->arg, &p);
	pthread_mutex_lock(&s->mu);
}

/* Locked: every member has sealed segment @k, or never will. */
static bool collected(const struct set *s, unsigned k)
{
	for (unsigned i = s->first; i <= s->last; i++)
		if (s->m[i].work && s->m[i].sealed <= k)
			return false;
	return true;
}

static void begin_stretch(struct set *s, const struct stretch *t)
{
	s->enough = false;
	s->ready = s->taken = 0;
	__atomic_store_n(&s->halt, 0, __ATOMIC_RELAXED);
	for (unsigned i = s->first; i <= s->last; i++) {
		struct set_member *m = &s->m[i];

		m->job = job_of(t->job, i);
		m->job.seg += t->from;
		m->job.n = t->n;
		m->job.sealed = member_sealed;
		m->job.progress = member_progress;
		m->job.ready = member_ready;
		m->job.arg = m;
		m->job.stop = &s->halt;
		m->sealed = 0;
		m->told = false;
	}
	begin_work(s, work_run);
}

/* Locked. Waits for segment @k of all, and hands the sum out. True: go on with the next. */
static bool take_segment(struct set *s, struct stretch *t, unsigned k)
{
	bool has[SET_MEMBERS_MAX], all = true, more;

	while (!collected(s, k)) {
		wait_members(s);
		if (t->job->stop && *t->job->stop)
			halt(s);
		tell(s, t, k);
	}
	for (unsigned i = s->first; i <= s->last; i++) {
		has[i] = s->m[i].sealed > k;
		all &= has[i];
	}
	pthread_mutex_unlock(&s->mu);
	more = sum_up(s, has, k % SET_SLOTS) &&
	       !t->job->sealed(t->job->arg, t->from + k, &s->sum.r) && all && !s->sum.r.partial;
	pthread_mutex_lock(&s->mu);
	s->taken = k + 1;
	pthread_cond_broadcast(&s->to_members);
	return more;
}

/* 0 all segments are out, 1 the caller has enough, or an error. */
static int run_stretch(struct set *s, struct stretch *t, struct err *err)
{
	bool more = true, failed;
	int rc;

	pthread_mutex_lock(&s->mu);
	begin_stretch(s, t);
	for (unsigned k = 0; k < t->n && more; k++)
		more = take_segment(s, t, k);
	if (!more) {
		s->enough = true;
		halt(s);
	}
	while (at_work(s))
		wait_members(s);
	pthread_mutex_unlock(&s->mu);
	rc = worst(s);
	failed = rc && rc != -EINTR;
	if (failed)
		return tell_failed(s, rc, err);
	if (t->job->stop && *t->job->stop)
		return err_set(err, -EINTR, "interrupted");
	return !more;
}

static bool drained(const struct segment *g)
{
	return !g->acc || g->stop.bytes || g->stop.ios;
}

/* The engine drains around some segments anyhow: there the members wait for one another. */
static int run_real(struct set *s, const struct job *job, struct err *err)
{
	struct stretch t = { .job = job, .told_ns = clock_mono_ns() };
	int rc = start_runners(s, err);

	while (!rc && t.from < job->n) {
		for (t.n = 1; t.from + t.n < job->n && !drained(&job->seg[t.from + t.n - 1]) &&
			      !drained(&job->seg[t.from + t.n]);)
			t.n++;
		rc = run_stretch(s, &t, err);
		t.from += t.n;
	}
	return rc == 1 ? 0 : rc;
}

/* ---- simulated members ---- */

static int sim_sealed(void *arg, unsigned k, const struct result *r)
{
	struct set_member *m = arg;

	(void)k;
	result_box_keep(&m->box[0], r);
	m->sealed = 1;
	return 0;
}

int set_align(struct set *s, uint64_t range_bytes, struct err *err)
{
	uint64_t now = s->d.ops->now(&s->d);
	int rc = 0;

	for (unsigned i = 0; i < s->n && !rc; i++) {
		uint64_t late = now - s->dut[i]->ops->now(s->dut[i]);
		struct segment idle = { .stop = { .time_ns = late } };
		struct job job = { .seg = &idle, .n = 1, .range = { .bytes = range_bytes } };

		rc = late ? s->dut[i]->ops->run(s->dut[i], &job, err) : 0;
	}
	return rc;
}

static int run_sim_members(struct set *s, const struct job *job, unsigned k, bool *has)
{
	for (unsigned i = s->first; i <= s->last; i++) {
		struct set_member *m = &s->m[i];
		struct job j = job_of(job, i);

		j.seg += k;
		j.n = 1;
		j.sealed = sim_sealed;
		j.progress = NULL;
		j.arg = m;
		m->sealed = 0;
		m->err = (struct err){ "" };
		m->rc = m->dut->ops->run(m->dut, &j, &m->err);
		has[i] = m->sealed;
	}
	return worst(s);
}

static void tell_sim(const struct job *job, unsigned k, const struct result *r)
{
	struct progress p = { .segment = k, .elapsed_ns = r->elapsed_ns };

	for (unsigned op = 0; op < IO_OPS; op++) {
		p.ios += r->op[op].ios;
		p.bytes += r->op[op].bytes;
	}
	if (job->progress)
		job->progress(job->arg, &p);
}

static int run_sims(struct set *s, const struct job *job, struct err *err)
{
	bool has[SET_MEMBERS_MAX], stop = false;
	int rc = 0;

	for (unsigned k = 0; k < job->n && !rc && !stop; k++) {
		rc = run_sim_members(s, job, k, has);
		if (rc && rc != -EINTR)
			tell_failed(s, rc, err);
		if (set_align(s, job->range.bytes, err) && !rc)
			rc = -EIO;
		if (!sum_up(s, has, 0))
			continue;
		tell_sim(job, k, &s->sum.r);
		stop = job->sealed && job->sealed(job->arg, k, &s->sum.r);
	}
	return rc;
}

int set_run(struct dut *d, const struct job *job, struct err *err)
{
	struct set *s = set_of(d);

	if (!job->n || !job->sealed)
		return err_set(err, -EINVAL, "an empty job");
	choose_members(s, job);
	return d->info.simulated ? run_sims(s, job, err) : run_real(s, job, err);
}
