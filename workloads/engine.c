/* SPDX-License-Identifier: MIT */
/* The main thread's side: open, check a job, start it, watch it, end it. */
#include "workloads/engine_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <linux/fs.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "workloads/fault.h"

#define STOP_GRACE_NS 1000000000u /* for what is in flight when a user asks for the end */
#define GIVE_UP_NS \
	5000000000u /* for workers of a drive that hangs to hand over what they have counted */
#define SECONDS_SLACK 64 /* for what is still in flight when the time is up */
#define SECONDS_UNBOUNDED (1u << 17)
#define SECONDS_MAX (1u << 20)
#define PARTS_MAX 4096u /* NVMe commands an IO */

unsigned engine_depth(const struct segment *s, unsigned worker)
{
	if (worker >= s->threads)
		return 0;
	if (s->oio)
		return s->oio / s->threads + (worker < s->oio % s->threads);
	return s->qd;
}

bool engine_counted(const struct segment *s)
{
	return s->stop.bytes || s->stop.ios;
}

/* ---- opening ---- */

/* Without such a queue a polled IO may well end, by an interrupt: then nothing was polled for. */
static bool queue_polls(int fd)
{
	static const char *const where[] = { "", "../" }; /* of a partition */
	bool polls = true; /* where nothing is told */
	struct stat st;

	if (fstat(fd, &st) || !S_ISBLK(st.st_mode))
		return true;
	for (unsigned i = 0; i < 2; i++) {
		struct buf b = BUF_INIT;
		char path[96];

		snprintf(path, sizeof path, "/sys/dev/block/%u:%u/%squeue/io_poll",
			 major(st.st_rdev), minor(st.st_rdev), where[i]);
		if (!buf_read_file(&b, path, 64) && b.len)
			polls = buf_cstr(&b)[0] != '0';
		buf_release(&b);
	}
	return polls;
}

static bool read_polled(struct ring *r, uint32_t lba_bytes)
{
	void *buf = aligned_alloc(4096, 65536);
	int n;

	BUG_ON(!buf);
	ring_put(r, (uint64_t[4]){ r->head_word[IO_READ], 0, (uintptr_t)buf, lba_bytes }, NULL);
	do { /* Linux 6.1 may come back before the drive, and never closes a polled ring with an IO in it */
		n = ring_enter(r, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		r->taken += n > 0 ? (unsigned)n : 0;
	} while (n == -EINTR || n == -EAGAIN || (n >= 0 && ring_cq_tail(r) == r->head));
	free(buf);
	return n >= 0 && r->cqes[r->head & r->cq_mask].res == (int)lba_bytes;
}

/* Polled completion is refused per IO, not at set-up: try one. */
static bool polling_works(const struct engine *e)
{
	const struct pass *p = &e->target.pass;
	struct ring_conf c = {
		.fd = e->target.fd, .entries = 4, .least_entries = 4, .polled = true, .pass = p
	};
	struct err err = { "" };
	struct ring r;
	bool ok;

	if (p->nsid ? p->no_poll != NULL : !queue_polls(e->target.fd))
		return false;
	if (ring_open(&r, &c, &err))
		return false;
	ok = p->nsid || read_polled(&r, e->target.lba_bytes); /* passthrough has tried it */
	ring_close(&r);
	return ok;
}

bool engine_can_poll(const struct engine_target *t)
{
	struct engine e = { .target = *t };

	return polling_works(&e);
}

static size_t tell_no_poll(const struct engine *e, char *out, size_t n)
{
	const char *why = e->target.pass.nsid ? e->target.pass.no_poll : NULL;

	snprintf(out, n, ", polling not possible here%s%s%s", why ? " (" : "", why ? why : "",
		 why ? ")" : "");
	return strlen(out);
}

/* What a worker will get, tried out and put into words. */
static int probe(struct engine *e, struct err *err)
{
	size_t bytes = e->target.pass.lba_bytes > 4096 ? e->target.pass.lba_bytes : 4096;
	void *buf = aligned_alloc(4096, bytes);
	struct ring_conf c = { .fd = e->target.fd,
			       .entries = 4,
			       .buffers = buf,
			       .buffer_bytes = bytes,
			       .pass = &e->target.pass };
	struct ring r;
	int rc = buf ? ring_open(&r, &c, err) : err_set(err, -ENOMEM, "no memory");

	if (!rc) {
		e->polled = e->target.polled && polling_works(e);
		r.polled = e->polled;
		ring_describe(&r, e->text, sizeof e->text);
		ring_close(&r);
		size_t n = strlen(e->text);
		if (e->target.polled && !e->polled)
			n += tell_no_poll(e, e->text + n, sizeof e->text - n);
		snprintf(e->text + n, sizeof e->text - n, ", %s",
			 e->clock.tsc ? "TSC" : "clock_gettime");
	}
	free(buf);
	return rc;
}

static int open_parts(struct engine *e, struct err *err)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&e->mu, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->to_main, &attr);
	pthread_cond_init(&e->to_workers, &attr);
	pthread_condattr_destroy(&attr);
	e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->wake_fd < 0)
		return err_set(err, -errno, "eventfd: %s", strerror(errno));
	if (e->target.dump_latencies) {
		e->dump = fopen(e->target.dump_latencies, "wxe"); /* never over what is there */
		if (!e->dump)
			return err_set(err, -errno, "%s: %s", e->target.dump_latencies,
				       strerror(errno));
	}
	tick_open(&e->clock);
	return probe(e, err);
}

int engine_open(const struct engine_target *t, struct engine **ret, struct err *err)
{
	struct engine *e = calloc(1, sizeof *e);
	int rc;

	if (!e)
		return err_set(err, -ENOMEM, "no memory");
	e->target = *t;
	rc = open_parts(e, err);
	if (rc) {
		engine_close(e);
		return rc;
	}
	*ret = e;
	return 0;
}

const char *engine_text(const struct engine *e)
{
	return e->text;
}

void engine_close(struct engine *e)
{
	if (!e || e->hung)
		return;
	pool_close(e);
	seal_release(e);
	if (e->dump)
		fclose(e->dump);
	if (e->wake_fd > 0)
		close(e->wake_fd);
	pthread_cond_destroy(&e->to_main);
	pthread_cond_destroy(&e->to_workers);
	pthread_mutex_destroy(&e->mu);
	fault_close(e->target.fault);
	free(e);
}

/* ---- what a job needs, and whether it can be ---- */

static int check_bounds(const struct segment *s, unsigned k, uint32_t lba, struct err *err)
{
	bool idle = !s->acc;

	if (!s->stop.time_ns && !engine_counted(s))
		return err_set(err, -EINVAL, "segment %u has no end", k);
	if (idle)
		return s->stop.time_ns ? 0
				       : err_set(err, -EINVAL, "segment %u: idle for how long?", k);
	if (!s->threads || s->threads > ENGINE_THREADS_MAX)
		return err_set(err, -EINVAL, "segment %u: %u threads; 1 to %d are possible", k,
			       s->threads, ENGINE_THREADS_MAX);
	if (!engine_depth(s, 0) || engine_depth(s, 0) > ENGINE_DEPTH_MAX)
		return err_set(err, -EINVAL, "segment %u: queue depth %u; 1 to %d are possible", k,
			       engine_depth(s, 0), ENGINE_DEPTH_MAX);
	if (s->acc->exact && s->stop.bytes % lba)
		return err_set(err, -EINVAL,
			       "segment %u: %llu bytes are no multiple of the LBA size", k,
			       (unsigned long long)s->stop.bytes);
	if (s->rate_iops < 0 || !(s->rate_iops < 1e9))
		return err_set(err, -EINVAL, "segment %u: rate %g", k, s->rate_iops);
	return 0;
}

static void add_need(struct need *n, const struct segment *s)
{
	if (!s->acc)
		return;
	if (s->threads > n->threads)
		n->threads = s->threads;
	if (s->acc->n_streams > n->streams)
		n->streams = s->acc->n_streams;
	n->response |= s->rate_iops > 0;
	for (unsigned i = 0; i < s->acc->n_streams; i++) {
		const struct stream *t = &s->acc->stream[i];
		uint64_t *max = t->op == IO_READ ? &n->read_bytes : &n->write_bytes;
		if (t->bytes > *max)
			*max = t->bytes;
	}
}

static int check_segment(struct engine *e, const struct job *j, unsigned k, struct err *err)
{
	const struct segment *s = &j->seg[k];
	struct gen_conf c = { .acc = s->acc,
			      .range = &j->range,
			      .lba_bytes = e->target.lba_bytes,
			      .cursor = j->cursor,
			      .n_cursors = j->n_cursors };
	struct gen g;
	int rc = check_bounds(s, k, e->target.lba_bytes, err);

	if (!rc && s->acc)
		rc = gen_init(&g, &c, err);
	if (rc)
		return rc;
	add_need(&e->need, s);
	uint64_t interval = j->interval_ns ? j->interval_ns : 1000000000u;
	uint64_t n = s->stop.time_ns ? s->stop.time_ns / interval + SECONDS_SLACK
				     : SECONDS_UNBOUNDED;
	n = n > SECONDS_MAX ? SECONDS_MAX : n;
	if (n > e->need.seconds)
		e->need.seconds = (uint32_t)n;
	return 0;
}

static int check_job(struct engine *e, const struct job *j, struct err *err)
{
	int rc = 0;

	if (e->hung)
		return err_set(err, -ETIMEDOUT, "the drive hung before; nothing more can be run");
	if (!j->n || !j->sealed)
		return err_set(err, -EINVAL, "an empty job");
	if (j->range.bytes > e->target.capacity_bytes)
		return err_set(err, -EINVAL, "ActiveRange of %llu bytes on a target of %llu",
			       (unsigned long long)j->range.bytes,
			       (unsigned long long)e->target.capacity_bytes);
	e->need = (struct need){ .threads = 1, .double_parts = j->n > 1 };
	for (unsigned k = 0; k < j->n && !rc; k++)
		rc = check_segment(e, j, k, err);
	if (!rc && engine_parts(e) > PARTS_MAX)
		rc = err_set(
			err, -EINVAL,
			"an IO of %u commands of passthrough, of %u bytes each; %u are possible",
			engine_parts(e), e->target.pass.max_bytes, PARTS_MAX);
	return rc;
}

/* ---- segments ---- */

bool engine_enter_segment(struct engine *e, struct worker *w, unsigned k, uint64_t tick)
{
	const struct segment *s = &e->job->seg[k];
	struct seg_state *st = &e->seg[k];
	bool go;

	pthread_mutex_lock(&e->mu);
	go = !(atomic_load(&e->cut) && (k > e->cut_seg || e->cut_seg == UINT_NONE));
	if (go && !st->begun) {
		st->begun = true;
		st->start = tick;
		if (s->acc)
			gen_begin(&w->gen, &st->budget);
		if (s->stop.time_ns)
			atomic_store(&st->end, tick + tick_from_ns(&e->clock, s->stop.time_ns));
		if (!s->acc)
			pthread_cond_signal(&e->to_main);
	}
	pthread_mutex_unlock(&e->mu);
	return go;
}

void engine_cut(struct engine *e, unsigned k, uint64_t tick, int rc, const char *why)
{
	uint64_t one = 1;

	pthread_mutex_lock(&e->mu);
	if (!atomic_load(&e->cut)) {
		struct seg_state *st = &e->seg[k];
		e->cut_seg = st->begun ? k : k ? k - 1 : UINT_NONE;
		e->cut_rc = rc;
		snprintf(e->cut_why, sizeof e->cut_why, "%s", why);
		if (st->begun && tick < atomic_load(&st->end)) {
			atomic_store(&st->end, tick > st->start ? tick : st->start);
			st->cut = true;
		}
		atomic_store(&e->cut, CUT_END);
		pthread_cond_broadcast(&e->to_workers);
		if (write(e->wake_fd, &one, sizeof one) < 0)
			BUG("eventfd: %s", strerror(errno));
	}
	pthread_mutex_unlock(&e->mu);
}

static int copy_job(struct engine *e, const struct job *j, struct err *err)
{
	e->seg = calloc(j->n, sizeof *e->seg);
	e->own_seg = calloc(j->n, sizeof *e->own_seg);
	if (!e->seg || !e->own_seg)
		return err_set(err, -ENOMEM, "no memory for %u segments", j->n);
	memcpy(e->own_seg, j->seg, j->n * sizeof *e->own_seg);
	e->own_job = *j;
	e->own_job.seg = e->own_seg;
	e->job = &e->own_job;
	return 0;
}

static int setup_job(struct engine *e, const struct job *j, struct err *err)
{
	int rc = copy_job(e, j, err);

	if (rc)
		return rc;
	for (unsigned k = 0; k < j->n; k++) {
		const struct segment *s = &j->seg[k], *next = k + 1 < j->n ? s + 1 : NULL;
		struct seg_state *st = &e->seg[k];
		atomic_store(&st->end, TICK_NEVER);
		st->budget.max_ios = s->stop.ios;
		st->budget.max_bytes = s->stop.bytes;
		st->drain = next &&
			    (engine_counted(s) || !s->acc || engine_counted(next) || !next->acc);
	}
	atomic_store(&e->merged, 0);
	atomic_store(&e->cut, CUT_NOT);
	e->cut_rc = 0;
	e->cut_seg = UINT_NONE;
	e->collector_late = false;
	if (e->clock_off)
		tick_distrust(&e->clock);
	e->clock_off = false;
	tick_refine(&e->clock);
	e->interval_ticks = tick_from_ns(&e->clock, j->interval_ns ? j->interval_ns : 1000000000u);
	e->deadline_ns = j->deadline_ns ? j->deadline_ns : 60000000000u;
	return 0;
}

static void start_clocks(struct engine *e)
{
	e->job_start = tick_sample(&e->clock);
	e->job_start_ns = clock_mono_ns();
	e->progress_ns = e->job_start_ns;
	for (unsigned i = 0; i < e->active; i++) {
		struct worker *w = e->worker[i];
		w->base_done = w->seen_done = atomic_load(&w->pub_done);
		w->seen_ns = e->job_start_ns;
	}
}

/* ---- watching ---- */

/* The segment that @t falls into: the first not sealed whose time is not over. */
static unsigned segment_at(struct engine *e, unsigned k, uint64_t t)
{
	while (k + 1 < e->job->n && e->seg[k].begun && t >= atomic_load(&e->seg[k].end))
		k++;
	return k;
}

static void cut_now(struct engine *e, unsigned k, int rc, const char *why)
{
	uint64_t t = tick_now(e->clock.tsc);

	pthread_mutex_lock(&e->mu);
	k = segment_at(e, k, t);
	pthread_mutex_unlock(&e->mu);
	engine_cut(e, k, t, rc, why);
}

/* What is in flight of the job, which is cut, is not waited for any longer. */
static void leave(struct engine *e)
{
	pthread_mutex_lock(&e->mu);
	atomic_store(&e->cut, CUT_LEAVE);
	pthread_cond_broadcast(&e->to_workers);
	pthread_mutex_unlock(&e->mu);
}

/* A worker with IOs in flight and no completion for the deadline. */
static bool hangs(struct engine *e, uint64_t now)
{
	bool hung = false;

	for (unsigned i = 0; i < e->active; i++) {
		struct worker *w = e->worker[i];
		uint64_t done = atomic_load(&w->pub_done);
		if (done != w->seen_done || atomic_load(&w->pub_live) <= 0) {
			w->seen_done = done;
			w->seen_ns = now;
		}
		hung |= now - w->seen_ns > e->deadline_ns;
	}
	return hung;
}

static void tell_progress(struct engine *e, unsigned k, uint64_t now)
{
	const struct job *j = e->job;
	struct seg_state *st = &e->seg[k];
	struct progress p = { .segment = k };

	if (!j->progress || now - e->progress_ns < 1000000000u)
		return;
	e->progress_ns = now;
	for (unsigned i = 0; i < e->active; i++)
		p.ios += atomic_load(&e->worker[i]->pub_done) - e->worker[i]->base_done;
	pthread_mutex_lock(&e->mu);
	bool begun = st->begun;
	pthread_mutex_unlock(&e->mu);
	uint64_t t = tick_now(e->clock.tsc);
	p.elapsed_ns = begun && t > st->start ? tick_to_ns(t - st->start, e->clock.mult) : 0;
	p.bytes = atomic_load(&st->budget.bytes);
	if (!p.bytes && j->seg[k].acc)
		p.bytes = (uint64_t)((double)p.ios * access_mean_bytes(j->seg[k].acc));
	j->progress(j->arg, &p);
}

/* Until something happens: a worker passes on or is through, an idle segment is over, or the poll interval. */
static void wait_event(struct engine *e, unsigned k, uint64_t passed_before)
{
	struct seg_state *st = &e->seg[k];
	uint64_t until = clock_mono_ns() + ENGINE_POLL_NS;

	pthread_mutex_lock(&e->mu);
	if (st->begun && !e->job->seg[k].acc && !st->over) {
		uint64_t end = atomic_load(&st->end), t = tick_now(e->clock.tsc);
		uint64_t left = end > t ? tick_to_ns(end - t, e->clock.mult) : 0;
		if (left < ENGINE_POLL_NS)
			until = clock_mono_ns() + left;
	}
	struct timespec ts = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };
	if (e->finished < e->active && atomic_load(&st->passed) == passed_before)
		pthread_cond_timedwait(&e->to_main, &e->mu, &ts);
	if (st->begun && !e->job->seg[k].acc && !st->over &&
	    tick_now(e->clock.tsc) >= atomic_load(&st->end)) {
		st->over = true;
		pthread_cond_broadcast(&e->to_workers);
	}
	pthread_mutex_unlock(&e->mu);
}

static bool all_finished(struct engine *e)
{
	pthread_mutex_lock(&e->mu);
	bool yes = e->finished == e->active;
	pthread_mutex_unlock(&e->mu);
	return yes;
}

/* Hands out what is over. False: nobody wants the rest. */
static bool seal_passed(struct engine *e, unsigned *k)
{
	while (*k < e->job->n && atomic_load(&e->seg[*k].passed) == e->active) {
		bool more = !seal_segment(e, *k);
		pthread_mutex_lock(&e->mu);
		atomic_store(&e->merged, ++*k);
		pthread_cond_broadcast(&e->to_workers);
		pthread_mutex_unlock(&e->mu);
		if (!more)
			return false;
	}
	return true;
}

/* Watches until all workers are through or given up. Returns the number of segments sealed. */
static unsigned watch(struct engine *e)
{
	const struct job *j = e->job;
	bool wanted = true, finished = false;
	uint64_t give_up_ns = 0, stopped_ns = 0;
	unsigned k = 0;

	while (!finished) {
		unsigned at = k < j->n ? k : j->n - 1;
		wait_event(e, at, atomic_load(&e->seg[at].passed));
		uint64_t now = clock_mono_ns();
		finished = all_finished(e);
		if (j->stop && *j->stop) {
			cut_now(e, at, -EINTR, "stopped");
			stopped_ns = stopped_ns ? stopped_ns : now;
		}
		if (!give_up_ns && hangs(e, now)) {
			give_up_ns = now + GIVE_UP_NS;
			e->hung = true;
			cut_now(e, at, -ETIMEDOUT, "");
		}
		if (give_up_ns || (stopped_ns && now - stopped_ns > STOP_GRACE_NS))
			leave(e);
		if (wanted && !seal_passed(e, &k)) {
			wanted = false;
			cut_now(e, k < j->n ? k : j->n - 1, 0, "");
		}
		if (give_up_ns && (now > give_up_ns || !wanted || k == e->cut_seg + 1))
			break;
		if (wanted)
			tell_progress(e, k < j->n ? k : j->n - 1, now);
	}
	return k;
}

/* ---- the end ---- */

static bool without_capacity(int fd)
{
	uint64_t bytes = 0;

	return ioctl(fd, BLKGETSIZE64, &bytes) || !bytes;
}

/* Errors come before the kernel has taken a removed drive's capacity away: looks for half a second. */
static bool device_gone(const struct engine *e)
{
	struct timespec ts = { 0, 20000000 };
	struct stat st;

	if (fault_gone(e->target.fault))
		return true;
	if (fstat(e->target.fd, &st) || !S_ISBLK(st.st_mode))
		return false;
	for (int i = 0; i < 25 && !without_capacity(e->target.fd); i++)
		nanosleep(&ts, NULL);
	return without_capacity(e->target.fd);
}

static int verdict(struct engine *e, struct err *err)
{
	unsigned broken = 0;

	if (e->hung)
		return err_set(
			err, -ETIMEDOUT,
			"the drive hangs: no IO came back for %g s; its threads are given up",
			(double)e->deadline_ns / 1e9);
	for (unsigned i = 0; i < e->active; i++)
		broken += e->worker[i]->broken;
	e->hung = broken; /* such rings are not to be used or waited for again */
	if (e->cut_rc == -EIO && device_gone(e))
		return err_set(err, -ENODEV, "the drive is gone (%s)", e->cut_why);
	if (e->cut_rc == -EINTR)
		return err_set(err, -EINTR, "interrupted");
	return e->cut_rc ? err_set(err, e->cut_rc, "%s", e->cut_why) : 0;
}

static void end_job(struct engine *e)
{
	uint64_t rest;

	if (e->hung)
		return; /* workers still look at it */
	while (read(e->wake_fd, &rest, sizeof rest) > 0)
		;
	free(e->seg);
	free(e->own_seg);
	e->seg = NULL;
	e->own_seg = NULL;
	e->job = NULL;
}

int engine_run(struct engine *e, const struct job *j, struct err *err)
{
	int rc = check_job(e, j, err);

	if (rc)
		return rc;
	e->active = e->need.threads;
	e->job = j;
	rc = memory_check(e, err);
	if (!rc)
		rc = pool_grow(e, e->active, err);
	if (!rc)
		rc = setup_job(e, j, err);
	if (!rc) {
		start_clocks(e);
		rc = pool_start(e, err);
	}
	if (!rc) {
		watch(e);
		rc = verdict(e, err);
	}
	if (!rc && e->dump && (fflush(e->dump) || ferror(e->dump)))
		rc = err_set(err, -EIO, "%s: raw latencies could not be written",
			     e->target.dump_latencies);
	end_job(e);
	return rc;
}
