/* SPDX-License-Identifier: MIT */
/* Threads: made here and nowhere else, parked between jobs. */
#include "workloads/engine_impl.h"
#include "workloads/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

/* One job, from preparation to the last completion. Called locked, returns locked. */
static void worker_job(struct worker *w)
{
	struct engine *e = w->e;

	pthread_mutex_unlock(&e->mu);
	w->err = (struct err){ "" };
	w->rc = worker_prepare(w, &w->err);
	pthread_mutex_lock(&e->mu);
	e->ready++;
	pthread_cond_signal(&e->to_main);
	while (!e->go)
		pthread_cond_wait(&e->to_workers, &e->mu);
	bool run = !e->cancelled;
	pthread_mutex_unlock(&e->mu);
	if (run)
		worker_run(w);
	else
		worker_release_io(w);
	pthread_mutex_lock(&e->mu);
	e->finished++;
	pthread_cond_signal(&e->to_main);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct engine *e = w->e;
	char name[16];

	snprintf(name, sizeof name, "pts-io-%u", w->id);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_TIMERSLACK, 1ul); /* open loops sleep to the point */
	pthread_mutex_lock(&e->mu);
	while (!e->exiting) {
		if (w->job_seen != e->job_id) {
			w->job_seen = e->job_id;
			if (w->id < e->active)
				worker_job(w);
			continue;
		}
		pthread_cond_wait(&e->to_workers, &e->mu);
	}
	pthread_mutex_unlock(&e->mu);
	worker_release(w); /* its ring belongs to this thread */
	return NULL;
}

int thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *), void *arg)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_bytes);
	rc = pthread_create(ret, &attr, main, arg);
	pthread_attr_destroy(&attr);
	return -rc;
}

static int pool_thread(struct engine *e, struct err *err)
{
	struct worker *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
	int rc;

	if (!w)
		return err_set(err, -ENOMEM, "no memory for a worker");
	memset(w, 0, sizeof *w);
	w->e = e;
	w->id = e->n_workers;
	w->job_seen = e->job_id;
	rc = thread_start(&w->thread, 256 << 10, worker_main, w);
	if (rc) {
		free(w);
		return err_set(err, rc, "thread %u cannot be started: %s", e->n_workers + 1,
			       strerror(-rc));
	}
	e->worker[e->n_workers++] = w;
	return 0;
}

int pool_grow(struct engine *e, unsigned threads, struct err *err)
{
	sigset_t all, was;
	int rc = 0;

	if (threads <= e->n_workers)
		return 0;
	struct worker **grown = realloc(e->worker, threads * sizeof(struct worker *));
	if (!grown)
		return err_set(err, -ENOMEM, "no memory for %u workers", threads);
	e->worker = grown;
	/* Signals are for the main thread, which looks at job.stop. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	while (e->n_workers < threads && !rc)
		rc = pool_thread(e, err);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return rc;
}

int pool_start(struct engine *e, struct err *err)
{
	int rc = 0;

	pthread_mutex_lock(&e->mu);
	e->go = e->cancelled = false;
	e->ready = e->finished = 0;
	e->job_id++;
	pthread_cond_broadcast(&e->to_workers);
	while (e->ready < e->active)
		pthread_cond_wait(&e->to_main, &e->mu);
	for (unsigned i = 0; i < e->active && !rc; i++)
		if (e->worker[i]->rc)
			rc = err_set(err, e->worker[i]->rc, "%s", e->worker[i]->err.msg);
	if (!rc && e->job->ready) {
		pthread_mutex_unlock(&e->mu);
		rc = e->job->ready(e->job->arg);
		pthread_mutex_lock(&e->mu);
	}
	e->cancelled = rc;
	if (!rc)
		seal_cpu_start(e);
	e->go = true;
	pthread_cond_broadcast(&e->to_workers);
	while (rc && e->finished < e->active)
		pthread_cond_wait(&e->to_main, &e->mu);
	pthread_mutex_unlock(&e->mu);
	return rc;
}

void pool_close(struct engine *e)
{
	pthread_mutex_lock(&e->mu);
	e->exiting = true;
	pthread_cond_broadcast(&e->to_workers);
	pthread_mutex_unlock(&e->mu);
	for (unsigned i = 0; i < e->n_workers; i++) {
		pthread_join(e->worker[i]->thread, NULL);
		free(e->worker[i]);
	}
	free(e->worker);
}
