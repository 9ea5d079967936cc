/* SPDX-License-Identifier: MIT */
/* pts run: from purge to verdicts. One process and one run for each --dut; several form a campaign. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pts/cmd_capture_rows.h"
#include "pts/cmd_info.h"
#include "pts/cmd_session.h"
#include "pts/identity.h"

#define PTS_SPEC "SNIA SSS PTS 2.0.2"
#define PAIRS_MAX 256

struct pairs {
	struct key_value v[PAIRS_MAX + 1]; /* ends with key NULL */
	unsigned n;
	struct arena arena;
};

static void pair(struct pairs *p, const char *key, const char *value)
{
	if (value && p->n < PAIRS_MAX)
		p->v[p->n++] = (struct key_value){ key, value };
}

static void pair_flag(struct pairs *p, const char *key, bool on)
{
	pair(p, key, on ? "1" : NULL);
}

/* From wherever it is resumed. A name that is no file is that of a map that pts brings along. */
static const char *lasting_path(const char *path, struct arena *a)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_strdup(a, real) : path;
}

/* All that resume needs to run the rest as it was asked for, consent included. */
static void list_args(const struct session *s, struct pairs *p)
{
	const struct opts *o = s->o;

	struct buf identity = BUF_INIT;

	identity_of_dut(s->dut, &identity);
	pair(p, "dut", targets_lasting(&s->targets, s->dut, &p->arena));
	pair(p, "identity", arena_strdup(&p->arena, buf_cstr(&identity)));
	buf_release(&identity);
	for (unsigned i = 0; i < s->n_plans; i++)
		pair(p, "test", s->plan[i].name);
	for (unsigned i = 0; i < o->arg.n; i++) {
		char path[PATH_MAX];

		if (def_is_file(o->arg.v[i]) && realpath(o->arg.v[i], path))
			pair(p, "def", arena_strdup(&p->arena, path));
	}
	for (unsigned i = 0; i < o->destroy.n; i++)
		pair(p, "destroy", o->destroy.v[i]);
	for (unsigned i = 0; i < o->set.n; i++)
		pair(p, "set", o->set.v[i]);
	pair(p, "profile", o->profile);
	pair(p, "method", o->method);
	pair(p, "engine", o->engine);
	if (o->capture)
		pair(p, "capture", lasting_path(o->capture, &p->arena));
	pair(p, "seq-rule", o->seq_rule);
	pair(p, "seq-window", o->seq_window);
	pair(p, "step", o->step);
	pair(p, "scale", o->scale);
	pair(p, "on-critical", o->on_critical);
	if (o->purge_hook)
		pair(p, "purge-hook", lasting_path(o->purge_hook, &p->arena));
	pair_flag(p, "quick", o->quick);
	pair_flag(p, "polled", o->polled);
	pair_flag(p, "allow-unpurged", o->allow_unpurged);
	pair_flag(p, "all-namespaces", o->all_namespaces);
	pair_flag(p, "force-signature", o->force_signature);
}

/* The facts of the host and, beside them, how the engine runs here. */
static const struct key_value *with_engine(struct arena *a, const struct key_value *host,
					   const char *engine)
{
	struct key_value *out;
	unsigned n = 0;

	while (host[n].key)
		n++;
	out = arena_array(a, struct key_value, n + 2);
	memcpy(out, host, n * sizeof *out);
	out[n].key = "engine";
	out[n].value = engine;
	return out;
}

/* PTS[GEN-6-ITEMS] */
static int store_run(struct session *s, const char *campaign, const struct info *info,
		     struct err *err)
{
	const struct dut_info *d = &s->dut->info;
	struct pairs args = { .n = 0 };
	struct arena a = ARENA_INIT;
	struct run_row row = { .uuid = s->uuid,
			       .campaign = campaign,
			       .dut = s->o->dut.v[0],
			       .dut_path = d->path,
			       .vendor = d->vendor,
			       .model = d->model,
			       .serial = d->serial,
			       .wwid = d->wwid,
			       .firmware = d->firmware,
			       .interface = d->interface,
			       .capacity_bytes = d->capacity_bytes,
			       .lba_bytes = d->lba_bytes,
			       .profile = s->env.env.profile == PROFILE_CLIENT ? "client"
									       : "enterprise",
			       .quick = s->o->quick,
			       .simulated = d->simulated,
			       .spec = PTS_SPEC,
			       .definition_set = s->env.lib.set,
			       .software = pts_software(),
			       .seed = s->seed,
			       .note = s->o->note,
			       .info = info->v };
	int rc;

	row.host = with_engine(&a, targets_host(&s->targets, s->dut, &a), s->dut->engine);
	list_args(s, &args);
	row.args = args.v;
	rc = store_run_begin(s->store, &row, &s->run, err);
	if (!rc)
		rc = targets_store(&s->targets, s->dut, s->store, s->run, err);
	arena_release(&args.arena);
	arena_release(&a);
	return rc;
}

static int store_tests(struct session *s, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < s->n_plans; i++) {
		const struct plan *p = &s->plan[i];
		struct buf def = BUF_INIT, text = BUF_INIT;
		struct test_row row = { .run = s->run,
					.ordinal = i + 1,
					.test = p->name,
					.title = p->title,
					.clause = p->clause,
					.params = p->params,
					.formal = p->formal };

		def_text(&s->env.lib, p->def, &def);
		plan_text(p, &text);
		row.definition = buf_cstr(&def);
		row.plan = buf_cstr(&text);
		rc = store_test(s->store, &row, err);
		buf_release(&def);
		buf_release(&text);
	}
	return rc;
}

/* PTS[GEN-22-DEV] PTS[GEN-3.1-DRIVE] */
static int store_deviations(struct session *s, struct err *err)
{
	const char *list[TARGETS_DEVIATIONS];
	unsigned n = targets_deviations(&s->targets, &s->dut->info, list);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = store_deviation(s->store, s->run, "-", list[i], err);
	if (!rc && s->name.fault[0])
		rc = store_deviation(s->store, s->run, "-", "faults injected (tests only)", err);
	for (unsigned i = 0; i < s->n_plans; i++)
		for (unsigned k = 0; !rc && k < s->plan[i].n_deviations; k++)
			rc = store_deviation(s->store, s->run, s->plan[i].deviation[k].clause,
					     s->plan[i].deviation[k].text, err);
	return rc;
}

static int store_captured(struct session *s, struct err *err)
{
	struct capture_used u = { .capture = s->env.capture, .sha256 = s->env.capture_sha256 };

	if (!u.capture)
		return 0;
	for (unsigned i = 0; i < s->n_plans; i++) {
		if (s->plan[i].n_dominant <= u.n_dominant)
			continue;
		u.n_dominant = s->plan[i].n_dominant;
		u.coverage_pct = s->plan[i].coverage_pct;
	}
	return capture_store(s->store, s->run, &u, err);
}

/* Run, tests and what is known to deviate: one transaction, so that no half-registered run is ever seen. */
static int register_run(struct session *s, const char *campaign, const struct info *info,
			struct err *err)
{
	int rc = session_uuid(s->uuid, err);

	if (!rc)
		rc = store_begin(s->store, err);
	if (rc)
		return rc;
	rc = store_run(s, campaign, info, err);
	if (!rc)
		rc = store_tests(s, err);
	if (!rc)
		rc = store_captured(s, err);
	if (!rc)
		rc = store_deviations(s, err);
	if (!rc)
		return store_commit(s->store, err);
	store_abort(s->store);
	return rc;
}

static int run_all(struct session *s, const char *campaign, struct err *err)
{
	struct info info;
	int rc = info_read(s->o->info, &info, err);

	if (!rc)
		rc = store_open(s->o->db, &s->store, err);
	if (!rc)
		rc = session_open_dut(s, err);
	if (!rc)
		rc = register_run(s, campaign, &info, err);
	info_release(&info);
	if (!rc)
		rc = progress_open(&s->progress, s->o, s->uuid, err);
	if (rc)
		return cmd_fail(s->o, exit_of(rc), err);
	if (!s->o->quiet && !s->progress.json)
		fprintf(stderr, "run %lld %s on %s: %s\n", (long long)s->run, s->uuid,
			s->o->dut.v[0], s->dut->engine);
	session_tell_method(s);
	for (unsigned i = 0; !rc && i < s->n_plans; i++)
		rc = session_test(s, i, NULL, err);
	return session_end(s, rc, err);
}

/* Options that did nothing: the operator may have meant another drive. */
static void tell_strays(const struct opts *o, const bool *named)
{
	for (unsigned k = 0; !o->quiet && k < o->destroy.n; k++)
		if (!named[k])
			fprintf(stderr,
				"pts: run: note: --destroy '%s' names no target of this run and "
				"did "
				"nothing\n",
				o->destroy.v[k]);
}

static void tell_unused(const struct session *s)
{
	bool named[OPTS_LIST_MAX] = { false };

	if (s->o->polled && s->facts.simulated && !s->o->quiet)
		fprintf(stderr,
			"pts: run: note: --polled does nothing on %s: it has no queue to poll\n",
			s->o->dut.v[0]);
	if (s->o->member) /* the parent knows the other targets */
		return;
	targets_named(&s->targets, s->o, named);
	tell_strays(s->o, named);
}

static int run_one(const struct opts *o, const char *campaign)
{
	struct session s = { .o = o };
	struct err err = { "" };
	int rc = session_prepare(&s, o, o->arg.v, o->arg.n, &err), code;

	if (!rc) {
		tell_unused(&s);
		session_tell_left(&s);
	}
	code = rc ? cmd_fail(o, exit_of(rc), &err) : run_all(&s, campaign, &err);
	session_close(&s);
	return code;
}

/* The worst of the members: a failed drive is 3 whatever the others did. */
static int worse(int a, int b)
{
	static const int order[] = {
		[EXIT_GOOD] = 0, [EXIT_BAD] = 1, [EXIT_STOPPED] = 2, [EXIT_DEVICE] = 3
	};

	return order[b] > order[a] ? b : a;
}

static int member_code(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DEVICE;

	return code == EXIT_GOOD || code == EXIT_BAD || code == EXIT_STOPPED ? code : EXIT_DEVICE;
}

static int wait_members(const pid_t *pid, unsigned n)
{
	const struct timespec tenth = { 0, 100000000 };
	int code = EXIT_GOOD, status;
	bool told = false;
	pid_t p;

	while ((p = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (p > 0)
			code = worse(code, member_code(status));
		else
			nanosleep(&tenth, NULL);
		for (unsigned k = 0; session_stop && !told && k < n; k++)
			kill(pid[k], SIGTERM);
		told |= session_stop != 0;
	}
	return code;
}

/* Models are no drives: any number of one kind may run. */
static bool share_a_drive(const struct session *a, const struct session *b)
{
	for (unsigned i = 0; i < a->targets.name.n; i++)
		for (unsigned k = 0; k < b->targets.name.n; k++)
			if (a->targets.info[i].kind != DUT_SIM &&
			    dut_same_drive(&a->targets.info[i], &b->targets.info[k]))
				return true;
	return false;
}

static int look_apart(const struct session *a, const struct session *b)
{
	struct err err = { "" };

	if (!share_a_drive(a, b))
		return EXIT_GOOD;
	err_set(&err, -EPERM, "%s is the same drive, or lies on it: run them one after the other",
		b->o->dut.v[0]);
	return cmd_fail(a->o, EXIT_USAGE, &err);
}

/* Targets of one campaign run side by side: none may have its data erased by the purge of another. */
static int look_across(const struct session *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			if (look_apart(&s[i], &s[k]) != EXIT_GOOD)
				return EXIT_USAGE;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			struct err err = { "" };

			if (i == k || !session_reaches(&s[i], &s[k]))
				continue;
			err_set(&err, -EPERM,
				"its purges would erase %s, a target of this campaign too: run "
				"them "
				"one after the other",
				s[k].o->dut.v[0]);
			return cmd_fail(s[i].o, EXIT_USAGE, &err);
		}
	return EXIT_GOOD;
}

static int look_at_each(const struct opts *o, struct opts *one, struct session *s, bool *named)
{
	for (unsigned i = 0; i < o->dut.n; i++) {
		struct err err = { "" };
		int rc;

		one[i] = *o;
		one[i].dut.v[0] = o->dut.v[i];
		one[i].dut.n = 1;
		rc = session_prepare(&s[i], &one[i], o->arg.v, o->arg.n, &err);
		if (rc)
			return cmd_fail(&one[i], exit_of(rc), &err);
		targets_named(&s[i].targets, &one[i], named);
	}
	return look_across(s, o->dut.n);
}

/* A mistake in words or a refusal is found before any drive is touched. */
static int look_at_all(const struct opts *o)
{
	struct session *s = calloc(o->dut.n, sizeof *s);
	struct opts *one = calloc(o->dut.n, sizeof *one);
	struct info info;
	struct err wrong = { "" };
	bool named[OPTS_LIST_MAX] = { false };
	int rc, code;

	BUG_ON(!s || !one);
	rc = info_read(o->info, &info, &wrong);
	info_release(&info);
	for (unsigned i = 0; i < o->dut.n; i++)
		s[i].progress.fd = -1;
	code = rc ? cmd_fail(o, exit_of(rc), &wrong) : look_at_each(o, one, s, named);
	if (code == EXIT_GOOD)
		tell_strays(o, named);
	for (unsigned i = 0; i < o->dut.n; i++)
		session_close(&s[i]);
	free(one);
	free(s);
	return code;
}

/* In the child: a process group of its own, so that ^C reaches the parent alone, which tells each once; dies with the parent. */
static int be_member(const struct opts *o, unsigned i, const char *campaign, pid_t parent)
{
	struct opts one = *o;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return EXIT_STOPPED;
	one.dut.v[0] = one.member = o->dut.v[i];
	one.dut.n = 1;
	return run_one(&one, campaign);
}

static int run_campaign(const struct opts *o)
{
	pid_t pid[OPTS_LIST_MAX], parent = getpid();
	char campaign[37];
	struct err err = { "" };
	unsigned n = 0;
	int code = look_at_all(o);

	if (code != EXIT_GOOD)
		return code;
	if (session_uuid(campaign, &err))
		return cmd_fail(o, EXIT_DEVICE, &err);
	for (; n < o->dut.n; n++) {
		fflush(NULL);
		pid[n] = fork();
		if (pid[n] < 0) {
			err_set(&err, -errno, "fork: %s", strerror(errno));
			cmd_fail(o, EXIT_DEVICE, &err);
			break;
		}
		if (!pid[n])
			return be_member(o, n, campaign, parent); /* main() ends the member */
	}
	code = wait_members(pid, n);
	return n == o->dut.n ? code : EXIT_DEVICE;
}

int cmd_run(const struct opts *o)
{
	if (!o->arg.n)
		return cmd_usage(o, "which test or suite? (pts list tests)");
	if (!o->dut.n)
		return cmd_usage(o, "on which target? --dut names it (pts devices)");
	if (o->progress && strcmp(o->progress, "json"))
		return cmd_usage(o, "--progress takes json, not '%s'", o->progress);
	if (o->dump_latencies && o->dut.n > 1)
		return cmd_usage(o, "--dump-latencies goes with one --dut");
	if (cmd_env_contradictions(o))
		return EXIT_USAGE;
	session_signals();
	return o->dut.n > 1 ? run_campaign(o) : run_one(o, NULL);
}
