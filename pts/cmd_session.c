/* SPDX-License-Identifier: MIT */
#include "pts/cmd_session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "pts/cmd_hook.h"

#define SAME_STOP_NS 300000000u /* signals this close together are one wish to stop */

volatile int session_stop;

static volatile uint64_t stop_ns;

static void on_signal(int sig)
{
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (session_stop && now - stop_ns > SAME_STOP_NS)
		_exit(EXIT_STOPPED);
	if (!session_stop)
		stop_ns = now;
	session_stop = sig;
}

void session_signals(void)
{
	struct sigaction old, sa = { .sa_handler = on_signal };

	/* shells start background jobs with SIGINT ignored; it is meant all the same when it comes */
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN) /* nohup is honoured */
		sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int session_uuid(char ret[37], struct err *err)
{
	int fd = open("/proc/sys/kernel/random/uuid", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, 36);

	if (fd >= 0)
		close(fd);
	if (n != 36)
		return err_set(err, -EIO, "the kernel gives no random uuid");
	ret[36] = 0;
	return 0;
}

static int random_seed(uint64_t *ret)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, sizeof *ret);

	if (fd >= 0)
		close(fd);
	*ret >>= 1; /* stored as a signed integer */
	return n == sizeof *ret ? 0 : -EIO;
}

/* --seed; else the simulated drive's own, so that two runs of one sim: name are the same; else random. */
static int choose_seed(struct session *s, struct err *err)
{
	if (s->o->seed)
		return parse_uint(s->o->seed, 0, INT64_MAX, &s->seed)
			       ? err_set(err, -EINVAL, "--seed '%s' is no whole number below 2^63",
					 s->o->seed)
			       : 0;
	if (s->name.simulated) {
		s->seed = s->name.has_seed ? s->name.seed : 1;
		return s->seed <= INT64_MAX
			       ? 0
			       : err_set(err, -EINVAL, "%s: the seed is not below 2^63",
					 s->o->dut.v[0]);
	}
	return random_seed(&s->seed) ? err_set(err, -EIO, "no random seed to be had") : 0;
}

static struct dut_options dut_options(const struct session *s)
{
	return (struct dut_options){ .seed = s->seed,
				     .polled = s->o->polled,
				     .passthrough = opts_passthrough(s->o),
				     .dump_latencies = s->o->dump_latencies };
}

static int read_facts(struct session *s, struct err *err)
{
	struct dut_options opt = dut_options(s);
	int rc = dut_open(s->o->dut.v[0], DUT_READ, &opt, &s->look, err);

	if (rc)
		return rc;
	s->facts = s->look->info;
	targets_take(&s->targets, s->o->dut.v[0], s->look);
	return 0;
}

/* Raw latencies go into a new file only: whatever is there already may be the target, the database, or dear to somebody. */
static int check_dump(const struct session *s, struct err *err)
{
	const char *f = s->o->dump_latencies;
	struct stat st;

	if (!f || lstat(f, &st))
		return 0;
	return err_set(err, -EEXIST, "--dump-latencies %s: exists already, a new file is wanted",
		       f);
}

static int choose_hook(struct session *s, struct err *err)
{
	const char *m = s->o->method;

	if (m && strcmp(m, "auto"))
		return err_set(err, -EINVAL, "--method %s and --purge-hook contradict one another",
			       m);
	if (s->targets.set || s->facts.kind == DUT_SIM)
		return err_set(err, -EINVAL, "--purge-hook purges one drive, array or file, not %s",
			       s->targets.set ? "a set" : "a simulated drive");
	s->method = PURGE_HOOK;
	return hook_check(s->o->purge_hook, err);
}

/* With what it can do instead; nothing of it is done unasked. */
static int no_such_method(const struct session *s, const char *m, struct err *err)
{
	struct buf can = BUF_INIT;
	int rc;

	for (unsigned k = PURGE_AUTO + 1; k < PURGE_METHODS; k++)
		if (s->facts.purge_methods & 1u << k)
			buf_fmt(&can, "%s%s", can.len ? ", " : "",
				purge_method_name((enum purge_method)k));
	rc = err_set(err, -EINVAL, "%s cannot be purged by %s: it offers %s", s->o->dut.v[0], m,
		     can.len ? buf_cstr(&can) : "no method");
	buf_release(&can);
	return rc;
}

static int choose_method(struct session *s, struct err *err)
{
	const char *m = s->o->method;

	s->method = PURGE_AUTO;
	if (s->o->purge_hook)
		return choose_hook(s, err);
	if (!m || !strcmp(m, "auto"))
		return 0;
	if (purge_method_parse(m, &s->method) || s->method == PURGE_NONE ||
	    s->method == PURGE_HOOK) {
		struct err near = { "" };

		err_set(&near, 0, "unknown purge method '%s'", m);
		return err_set(err, -EINVAL, "%s (pts help run lists them)", near.msg);
	}
	return s->facts.purge_methods & (1u << s->method) ? 0 : no_such_method(s, m, err);
}

/* A test of which this drive can do no cell would end well without a single number. */
static int check_measures(const struct plan *p, struct err *err)
{
	const char *why = NULL;

	for (unsigned i = 0; i < p->n; i++) {
		bool cell = p->step[i].op == STEP_RUN || p->step[i].op == STEP_REPLAY;

		if (cell && !p->step[i].na)
			return 0;
		if (cell)
			why = p->step[i].na;
	}
	return why ? err_set(err, -EINVAL, "%s: this drive can do none of its cells: %s", p->name,
			     why)
		   : 0;
}

static int compile_all(struct session *s, struct err *err)
{
	int rc = cmd_env_build(s->o, &s->facts, &s->env, err);

	if (rc)
		return rc;
	s->env.env.seed = s->seed;
	s->plan = calloc(s->env.n_tests, sizeof *s->plan);
	BUG_ON(!s->plan);
	for (unsigned i = 0; !rc && i < s->env.n_tests; i++) {
		rc = plan_compile(&s->env.lib, s->env.test[i], &s->env.env, &s->plan[i], err);
		s->n_plans += !rc;
		if (!rc)
			rc = check_measures(&s->plan[i], err);
	}
	return rc;
}

int session_look(struct session *s, const struct opts *o, struct err *err)
{
	int rc = dut_name_parse(o->dut.v[0], &s->name, err);

	s->o = o;
	s->progress.fd = -1;
	s->progress.quiet = o->quiet;
	if (!rc)
		rc = choose_seed(s, err);
	if (!rc)
		rc = read_facts(s, err);
	return rc ? rc : choose_method(s, err);
}

int session_gate(struct session *s, struct err *err)
{
	int rc = targets_gate(&s->targets, s->o, err);

	if (!rc)
		rc = session_reach(s, err);
	dut_close(s->look);
	s->look = NULL;
	return rc;
}

int session_prepare(struct session *s, const struct opts *o, const char *const *words, unsigned n,
		    struct err *err)
{
	int rc;

	s->o = o;
	s->progress.fd = -1;
	rc = cmd_env_load(o, words, n, &s->env, err);
	if (rc)
		return rc;
	s->env_loaded = true;
	rc = session_look(s, o, err);
	if (!rc)
		rc = targets_db_apart(&s->targets, o->db, err);
	if (!rc)
		rc = check_dump(s, err);
	if (!rc)
		rc = compile_all(s, err);
	return rc ? rc : session_gate(s, err);
}

int session_open_dut(struct session *s, struct err *err)
{
	struct dut_options opt = dut_options(s);
	const char *name = s->moved ? s->moved : s->o->dut.v[0];
	int rc = dut_open(name, DUT_WRITE, &opt, &s->dut, err);

	if (!rc)
		rc = targets_unchanged(&s->targets, s->dut, err);
	return rc ? rc : session_watch(s, err);
}

static const char *verdict_words(enum test_verdict v)
{
	return v == VERDICT_STEADY ? "steady state"
	       : v == VERDICT_DONE ? "done"
				   : "steady state NOT ACHIEVED";
}

int session_test(struct session *s, unsigned i, const struct recall *recall, struct err *err)
{
	enum test_verdict v = VERDICT_DONE;
	struct run_guard guard = session_guard(s);
	struct run_ctx ctx = { .dut = s->dut,
			       .store = s->store,
			       .run = s->run,
			       .method = s->method,
			       .allow_unpurged = s->o->allow_unpurged,
			       .critical_goes_on = s->o->on_critical &&
						   !strcmp(s->o->on_critical, "go-on"),
			       .cache_was = s->cache_was,
			       .link = s->link,
			       .one_of_many = s->o->member != NULL,
			       .seed = s->seed,
			       .stop = &session_stop,
			       .live = progress_live,
			       .warn = progress_warn,
			       .arg = &s->progress,
			       .guard = &guard,
			       .test_index = i + 1,
			       .tests = s->n_plans,
			       .recall = recall };
	int rc = session_quiet(s, err);

	if (!rc)
		rc = interp_test(&ctx, &s->plan[i], &v, err);
	s->hung = ctx.hung;
	s->storage_failed = rc && ctx.storage_failed;
	if (rc)
		return err_prefix(err, rc, "%s", s->plan[i].name);
	s->bad += v == VERDICT_NOT_ACHIEVED;
	progress_verdict(&s->progress, s->plan[i].name, verdict_words(v));
	return 0;
}

static const char *state_of(const struct session *s, int rc)
{
	return !rc					     ? "done"
	       : rc == -EINTR || rc == HEALTH_STOP	     ? "interrupted"
	       : s->hung				     ? "hung"
	       : s->storage_failed || store_failed(s->store) ? "interrupted"
							     : "failed";
}

static int print_end(const struct session *s, const char *state, int code)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "run %lld %s: %s", (long long)s->run, s->uuid, state);
	if (s->o->member)
		buf_fmt(&b, " on %s", s->o->member);
	if (!strcmp(state, "done"))
		buf_fmt(&b,
			s->bad ? ", %u of %u tests without steady state" : ", all tests achieved",
			s->bad, s->n_plans);
	buf_fmt(&b, "\ndatabase %s\n", s->o->db);
	if (!strcmp(state, "done"))
		buf_fmt(&b, "report: pts report %lld --db %s -o run-%.8s.xlsx\n", (long long)s->run,
			s->o->db, s->uuid);
	else
		buf_fmt(&b, "%s: pts resume %lld --db %s\n",
			strcmp(state, "failed") ? "go on"
						: "begin the failed test again, then the rest",
			(long long)s->run, s->o->db);
	code = cmd_out(s->o, &b, code);
	buf_release(&b);
	return code;
}

int session_end(struct session *s, int rc, struct err *err)
{
	const char *state = state_of(s, rc);
	struct err own = { "" };
	int code = rc == 0	       ? s->bad ? EXIT_BAD : EXIT_GOOD
		   : s->storage_failed ? EXIT_DEVICE
				       : exit_of(rc);

	progress_break(&s->progress);
	if (store_run_end(s->store, s->run, state, &own)) {
		/* Without an end the run counts as interrupted. Why is said once: by what failed first. */
		if (!rc || rc == -EINTR || rc == HEALTH_STOP)
			*err = own;
		rc = rc ? rc : -EIO;
		code = EXIT_DEVICE;
		state = "interrupted";
	}
	progress_close(&s->progress);
	if (rc)
		cmd_fail(s->o, code, err);
	code = print_end(s, state, code);
	if (!s->hung)
		return code;
	store_close(s->store);
	_exit(EXIT_DEVICE); /* threads that never came back cannot be joined */
}

void session_close(struct session *s)
{
	progress_close(&s->progress);
	for (unsigned i = 0; i < s->n_plans; i++)
		plan_release(&s->plan[i]);
	free(s->plan);
	dut_close(s->look);
	dut_close(s->dut);
	free(s->was);
	free(s->moved);
	targets_release(&s->targets);
	store_close(s->store);
	if (s->env_loaded)
		cmd_env_release(&s->env);
}
