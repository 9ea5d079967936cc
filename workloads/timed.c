/* SPDX-License-Identifier: MIT */
/* Timed IO as the caller sees it: memory, thread, loading ahead, watching. */
#include "workloads/timed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "pts/base/units.h"
#include "workloads/fault.h"
#include "workloads/thread.h"
#include "workloads/timed_impl.h"

#define WRITE_POOL_MIN ((uint64_t)16 << 20) /* beyond the window of usual compressors */
#define WRITE_POOL_MAX ((uint64_t)256 << 20)
#define READ_POOL ((uint64_t)4 << 20)
#define HUGE_BYTES ((size_t)2 << 20)
#define LOAD_CHUNK 4096u
#define TURN_NS 20000000u /* how often the loader looks */
#define DEADLINE_NS 60000000000u
#define STOP_GRACE_NS 1000000000u /* after a stop, for what is in flight */
#define GIVE_UP_NS 2000000000u

static uint64_t up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

static uint64_t within(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* ---- memory ---- */

/* Any write finds room once nothing is in flight: twice its size is enough wherever the region is cut. */
static void size_buffers(struct timed *t)
{
	const struct timed_job *j = &t->job;
	uint64_t unit = 4096, write, bufs;

	for (unsigned i = 0; i < j->n_targets; i++)
		if (j->target[i].mem_align > unit)
			unit = j->target[i].mem_align;
	write = up(j->max_write_bytes, unit);
	t->read_unit = up(j->max_read_bytes ? j->max_read_bytes : 1, unit);
	bufs = READ_POOL / t->read_unit;
	t->read_bufs = within(bufs, 1, t->n_slots);
	if (write)
		t->pool.bytes = within(within(write * t->n_slots, WRITE_POOL_MIN, WRITE_POOL_MAX),
				       4 * write, UINT64_MAX);
	t->memory_bytes = t->pool.bytes + t->read_unit * t->read_bufs;
}

static int map_buffers(struct timed *t, struct err *err)
{
	uint64_t have = available_bytes();

	if (t->memory_bytes > have)
		return err_set(err, -ENOMEM,
			       "IOs of up to %llu bytes need %llu bytes of buffers; %llu bytes of "
			       "memory are available",
			       (unsigned long long)(t->job.max_write_bytes > t->job.max_read_bytes
							    ? t->job.max_write_bytes
							    : t->job.max_read_bytes),
			       (unsigned long long)t->memory_bytes, (unsigned long long)have);
	t->memory = mmap(NULL, t->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (t->memory == MAP_FAILED) {
		t->memory = NULL;
		return err_set(err, -ENOMEM, "no memory for %zu bytes of IO buffers",
			       t->memory_bytes);
	}
	if (t->memory_bytes > HUGE_BYTES)
		madvise(t->memory, t->memory_bytes, MADV_HUGEPAGE);
	data_fill(t->memory, t->pool.bytes, t->job.seed);
	memset((char *)t->memory + t->pool.bytes, 0, t->memory_bytes - t->pool.bytes);
	t->pool.base = (uintptr_t)t->memory;
	t->pool.way = data_way(0);
	t->pool.state = t->job.seed ^ 0x7473646174610001ull;
	return 0;
}

static void *table(size_t n, size_t size)
{
	void *p = aligned_alloc(64, (n * size + 63) / 64 * 64);

	BUG_ON(!p);
	memset(p, 0, n * size); /* touched: no page faults later */
	return p;
}

static void make_tables(struct timed *t)
{
	uint32_t claims = 1;

	while (claims < t->n_slots)
		claims *= 2;
	t->queue = table(QUEUE_IOS, sizeof *t->queue);
	t->series = table(SERIES_QUEUE, sizeof *t->series);
	t->slot = table(t->n_slots, sizeof *t->slot);
	t->free = table(t->n_slots, sizeof *t->free);
	t->held = table(t->n_slots, sizeof *t->held);
	t->over.live = table(t->n_slots, sizeof *t->over.live);
	t->pool.claim = table(claims, sizeof *t->pool.claim);
	t->pool.mask = claims - 1;
	t->target = table(t->job.n_targets, sizeof *t->target);
	t->late = hist_new();
	for (unsigned i = t->n_slots; i-- > 0;)
		t->free[t->n_free++] = &t->slot[i];
	for (unsigned i = 0; i < t->job.n_targets; i++)
		for (unsigned op = 0; op < IO_OPS; op++) {
			t->target[i].service[op] = hist_new();
			t->target[i].response[op] = hist_new();
		}
}

/* One IO is one command here. */
static int check_pass(const struct timed_job *j, struct err *err)
{
	uint64_t most = j->max_read_bytes > j->max_write_bytes ? j->max_read_bytes
							       : j->max_write_bytes;

	for (unsigned i = 0; i < j->n_targets && !j->dry; i++) {
		const struct pass *p = &j->target[i].pass;

		if (!p->nsid != !j->target[0].pass.nsid)
			return err_set(err, -EINVAL, "passthrough to all targets, or to none");
		if (p->nsid && most > p->max_bytes)
			return err_set(err, -EOPNOTSUPP,
				       "--engine passthrough: an IO of %llu bytes; one command of "
				       "%s moves at most %u",
				       (unsigned long long)most, p->path, p->max_bytes);
	}
	return 0;
}

int timed_open(const struct timed_job *job, struct timed **ret, struct err *err)
{
	struct timed *t;
	int rc;

	if (!job->n_targets || job->n_targets > TIMED_TARGETS_MAX || job->depth > TIMED_DEPTH_MAX ||
	    job->max_read_bytes > TIMED_IO_MAX || job->max_write_bytes > TIMED_IO_MAX)
		return err_set(err, -EINVAL, "no such timed job is possible");
	rc = check_pass(job, err);
	if (rc)
		return rc;
	t = table(1, sizeof *t);
	t->job = *job;
	t->n_slots = job->depth ? job->depth : TIMED_DEPTH;
	t->deadline_ns = job->deadline_ns ? job->deadline_ns : DEADLINE_NS;
	make_tables(t);
	size_buffers(t);
	rc = map_buffers(t, err);
	if (rc) {
		timed_close(t);
		return rc;
	}
	snprintf(t->text, sizeof t->text, "dry: IOs are done as soon as they are issued");
	*ret = t;
	return 0;
}

/* ---- loading ahead ---- */

/* 1 loaded some, 0 no room or the end. */
static int load_some(struct timed *t, struct err *err)
{
	uint64_t tail = t->q_tail, room = QUEUE_IOS - (tail - atomic_load(&t->q_head));
	uint64_t at = tail % QUEUE_IOS, n = within(QUEUE_IOS - at, 0, room);
	int got;

	if (t->q_end || !n)
		return 0;
	got = t->job.load(t->job.arg, &t->queue[at], n < LOAD_CHUNK ? (unsigned)n : LOAD_CHUNK,
			  err);
	if (got > 0)
		atomic_store(&t->q_tail, tail + (unsigned)got);
	else
		atomic_store(&t->q_end, true);
	return got < 0 ? got : got > 0;
}

static int load(struct timed *t, struct err *err)
{
	int rc;

	while ((rc = load_some(t, err)) > 0)
		;
	return rc;
}

/* ---- the run ---- */

static int start(struct timed *t, struct err *err)
{
	sigset_t all, was;
	int rc;

	sigfillset(&all); /* signals are for the caller's thread */
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = thread_start(&t->thread, 256 << 10, timed_main, t);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (rc)
		return err_set(err, rc, "the thread of timed IO cannot be started: %s",
			       strerror(-rc));
	t->started = true;
	return 0;
}

struct watch {
	uint64_t seen_done, seen_ns; /* last time that something came back */
	uint64_t told_ns, stopped_ns, given_up_ns;
};

static bool hangs(struct timed *t, struct watch *w, uint64_t now)
{
	uint64_t done = atomic_load(&t->pub_done);

	if (done != w->seen_done || !atomic_load(&t->pub_live)) {
		w->seen_done = done;
		w->seen_ns = now;
	}
	return now - w->seen_ns > t->deadline_ns;
}

static int no_answer(struct timed *t, struct err *err)
{
	uint64_t issued = atomic_load(&t->pub_issued), done = atomic_load(&t->pub_done);

	if (issued == done)
		return err_set(err, -ETIMEDOUT, "the kernel took no IO for %g s",
			       (double)t->deadline_ns / 1e9);
	return err_set(err, -ETIMEDOUT, "the drive hangs: no IO came back for %g s",
		       (double)t->deadline_ns / 1e9);
}

static void tell(struct timed *t, struct watch *w, uint64_t now)
{
	uint64_t t0 = t->t0, raw = tick_gettime_ns();
	struct timed_progress p = { .issued = t->pub_issued,
				    .done = t->pub_done,
				    .elapsed_ns = t0 && raw > t0 ? raw - t0 : 0,
				    .bytes = t->pub_bytes };

	if (!t->job.progress || now - w->told_ns < 1000000000u)
		return;
	w->told_ns = now;
	t->job.progress(t->job.arg, &p);
}

static void cut(struct timed *t, int how)
{
	if (atomic_load(&t->cut) < how)
		atomic_store(&t->cut, how);
}

/* Until the thread is through, or given up. */
static int watch(struct timed *t, struct err *err)
{
	const struct timespec turn = { 0, TURN_NS };
	struct watch w = { .seen_ns = clock_mono_ns() };
	int rc = 0;

	w.told_ns = w.seen_ns;
	while (!atomic_load(&t->finished)) {
		uint64_t now = clock_mono_ns();

		if (!rc)
			rc = load(t, err);
		if (rc < 0 && rc != -EINTR && rc != -ETIMEDOUT)
			cut(t, TIMED_CUT);
		timed_collect(t);
		tell(t, &w, now);
		if (!rc && t->job.stop && *t->job.stop) {
			rc = err_set(err, -EINTR, "interrupted");
			w.stopped_ns = now;
			cut(t, TIMED_CUT);
		}
		if (!w.given_up_ns && hangs(t, &w, now)) {
			w.given_up_ns = now;
			rc = no_answer(t, err);
		}
		if (w.given_up_ns || (w.stopped_ns && now - w.stopped_ns > STOP_GRACE_NS))
			cut(t, TIMED_LEAVE);
		if (w.given_up_ns && now - w.given_up_ns > GIVE_UP_NS)
			break;
		nanosleep(&turn, NULL);
	}
	return rc;
}

int timed_run(struct timed *t, struct err *err)
{
	const struct timespec ms = { 0, 1000000 };
	int rc = load(t, err);

	if (!rc)
		rc = start(t, err);
	if (rc) {
		timed_sum(t);
		return rc;
	}
	while (!atomic_load(&t->ready))
		nanosleep(&ms, NULL);
	atomic_store(&t->go, true);
	rc = watch(t, err);
	if (atomic_load(&t->finished)) {
		pthread_join(t->thread, NULL);
		t->started = false;
	}
	if (!rc && t->rc)
		rc = err_set(err, t->rc, "%s", t->err.msg);
	for (unsigned i = 0; i < t->job.n_targets && !t->job.dry; i++)
		if (fault_gone(t->job.target[i].fault) && (!rc || rc == -EIO))
			rc = err_set(err, -ENODEV, "the drive is gone");
	t->result.partial = rc;
	timed_collect(t);
	timed_sum(t);
	return rc;
}

const struct timed_result *timed_result(const struct timed *t)
{
	return &t->result;
}

const char *timed_text(const struct timed *t)
{
	return t->text;
}

void timed_close(struct timed *t)
{
	if (!t || t->started)
		return; /* a thread that never came back still looks at it */
	timed_result_release(t);
	if (t->memory)
		munmap(t->memory, t->memory_bytes);
	for (unsigned i = 0; i < t->job.n_targets; i++) {
		for (unsigned op = 0; op < IO_OPS; op++) {
			free(t->target[i].service[op]);
			free(t->target[i].response[op]);
		}
		free(t->target[i].second);
	}
	free(t->late);
	free(t->target);
	free(t->pool.claim);
	free(t->over.live);
	free(t->held);
	free(t->free);
	free(t->slot);
	free(t->series);
	free(t->queue);
	free(t);
}
