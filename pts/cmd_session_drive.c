/* SPDX-License-Identifier: MIT */
/* What happens to the drive around a run or a purge: reach, notes for after a crash, is it still the same, the user's hook. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_session.h"
#include "pts/gate.h"
#include "pts/cmd_hook.h"
#include "pts/identity.h"
#include "pts/left.h"
#include "workloads/dut_again.h"
#include "workloads/purge_marks.h"

#define TELL_EVERY_NS 30000000000ull /* lines of a log; a terminal's line is made anew at once */

static const struct dut *member_of(const struct dut *d, unsigned i)
{
	return d->member ? d->member[i] : d;
}

/* ---- method and reach ---- */

enum purge_method session_method(const struct session *s, unsigned i)
{
	return s->method == PURGE_AUTO ? s->targets.info[i].purge_auto : s->method;
}

static bool is_target(const struct session *s, const char *path)
{
	for (unsigned i = 0; i < s->targets.name.n; i++)
		if (!strcmp(s->targets.info[i].path, path))
			return true;
	return false;
}

/* What is a target itself has a consent of its own. */
static void add_reach(struct session *s, const struct purge_reach *r, struct purge_reach *ret)
{
	*ret = (struct purge_reach){ .n = 0 };
	for (unsigned i = 0; i < r->n && i < REACH_MAX; i++) {
		if (is_target(s, r->path[i]))
			continue;
		memcpy(ret->path[ret->n++], r->path[i], sizeof r->path[i]);
		if (s->reach.n < REACH_MAX)
			memcpy(s->reach.path[s->reach.n++], r->path[i], sizeof r->path[i]);
	}
}

/* A run whose tests purge nothing erases nothing. */
static bool purges(const struct session *s)
{
	for (unsigned i = 0; i < s->n_plans; i++)
		for (unsigned k = 0; k < s->plan[i].n; k++)
			if (s->plan[i].step[k].op == STEP_PURGE)
				return true;
	return !s->n_plans;
}

int session_reach(struct session *s, struct err *err)
{
	const struct targets *t = &s->targets;
	const struct dut *d = s->look ? s->look : s->dut;
	int rc = 0;

	s->reach.n = 0;
	for (unsigned i = 0; i < t->name.n && !rc && purges(s); i++) {
		struct gate_request rq = { .info = &t->info[i],
					   .dut = dut_name_inner(t->name.v[i]),
					   .force_signature = s->o->force_signature };
		enum purge_method m = session_method(s, i);
		struct purge_reach all = { .n = 0 }, others;

		if (m == PURGE_NONE || m == PURGE_HOOK)
			continue;
		rc = dut_purge_reach(member_of(d, i), m, &all, err);
		if (rc)
			return err_prefix(err, rc, "what purge by %s reaches",
					  purge_method_name(m));
		add_reach(s, &all, &others);
		rc = gate_reach(&rq, m, &others, s->o->all_namespaces, err);
	}
	return rc;
}

bool session_reaches(const struct session *a, const struct session *b)
{
	for (unsigned i = 0; i < a->reach.n && i < REACH_MAX; i++)
		if (is_target(b, a->reach.path[i]))
			return true;
	return false;
}

static void tell_one(struct session *s, unsigned i)
{
	enum purge_method m = session_method(s, i);
	const char *why = s->method == PURGE_AUTO ? s->targets.info[i].auto_why : "";
	char text[400];

	if (m == PURGE_NONE || m == PURGE_SIM) /* a model has no choice */
		return;
	snprintf(text, sizeof text, "purge by %s (%s%s%s)", purge_method_name(m),
		 s->method == PURGE_AUTO ? "auto" : "asked for", why[0] ? ": " : "", why);
	if (s->progress.json)
		progress_purge(&s->progress, text);
	else
		fprintf(stderr, "%s: %s\n", dut_name_inner(s->targets.name.v[i]), text);
}

void session_tell_method(struct session *s)
{
	if (s->o->quiet || !purges(s))
		return;
	for (unsigned i = 0; i < s->targets.name.n; i++)
		tell_one(s, i);
	if (s->reach.n && !s->progress.json)
		fprintf(stderr, "%s: erases %u other namespace%s as well (--all-namespaces)\n",
			s->o->dut.v[0], s->reach.n, s->reach.n > 1 ? "s" : "");
}

void session_tell_left(const struct session *s)
{
	struct left *l = calloc(LEFT_MAX, sizeof *l);

	BUG_ON(!l);
	for (unsigned i = 0; i < s->targets.name.n && !s->o->quiet; i++) {
		unsigned n = left_of(s->o->db, &s->targets.info[i], l);

		for (unsigned k = 0; k < n; k++)
			fprintf(stderr,
				"pts: %s: note: a purge of %s did not end well on %s: %s; pts "
				"purge "
				"--recover undoes it\n",
				s->o->command, s->targets.info[i].path, l[k].utc, l[k].detail);
	}
	free(l);
}

/* ---- how a purge speaks ---- */

/* Called from a set's threads: one write a line, nothing shared. */
static void tell_member(struct session_voice *v, const char *text)
{
	if (!v->s->o->quiet && !v->s->progress.json)
		fprintf(stderr, "%s: purge: %s\n",
			dut_name_inner(v->s->targets.name.v[v->member - 1]), text);
}

static void on_tell(void *arg, const char *text)
{
	struct session_voice *v = arg;
	uint64_t now = clock_mono_ns();

	if (!v->member && v->s->progress.tty) {
		progress_purge(&v->s->progress, text);
		return;
	}
	if (v->last_ns && now - v->last_ns < TELL_EVERY_NS)
		return;
	v->last_ns = now;
	if (v->member)
		tell_member(v, text);
	else
		progress_purge(&v->s->progress, text);
}

static int store_recorded(const struct session_voice *v, struct err *err)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	if (!v->s->store)
		return 0;
	json_object(&j, NULL);
	if (v->member)
		json_uint(&j, "member", v->member);
	json_str(&j, "what", v->what);
	json_str(&j, "detail", v->detail);
	json_end_object(&j);
	rc = store_event(v->s->store, v->s->run, "purge-note", buf_cstr(&b), err);
	buf_release(&b);
	return rc;
}

/* The note outlives whatever the database loses; of a set the database is told later, by the main thread. */
static int on_record(void *arg, const char *what, const char *detail, struct err *err)
{
	struct session_voice *v = arg;
	const struct dut_info *d = &v->s->targets.info[v->member ? v->member - 1 : 0];
	int rc = left_put(v->s->o->db, d, what, detail, err);

	if (rc)
		return rc;
	v->recorded = true;
	snprintf(v->what, sizeof v->what, "%s", what);
	snprintf(v->detail, sizeof v->detail, "%s", detail);
	return v->member ? 0 : store_recorded(v, err);
}

static void give_voice(struct session *s, struct dut *d, unsigned member)
{
	struct session_voice *v = &s->voice[member];

	*v = (struct session_voice){ .s = s, .member = member };
	d->tell = on_tell;
	d->record = on_record;
	d->arg = v;
}

int session_watch(struct session *s, struct err *err)
{
	unsigned n = s->targets.name.n;
	int rc = 0;

	s->dut->stop = &session_stop; /* a purge of hours can be given up */
	give_voice(s, s->dut, 0);
	for (unsigned i = 0; s->dut->member && i < n; i++)
		give_voice(s, s->dut->member[i], i + 1);
	free(s->was);
	s->was = calloc(n, sizeof *s->was);
	BUG_ON(!s->was);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = dut_again(member_of(s->dut, i), &s->was[i], err);
	return rc;
}

int session_purged(struct session *s, struct err *err)
{
	unsigned n = s->targets.name.n;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		struct session_voice *v = &s->voice[s->dut->member ? i + 1 : 0];

		if (!v->recorded)
			continue;
		rc = v->member ? store_recorded(v, err) : 0;
		v->recorded = false;
		if (!rc)
			rc = left_remove(s->o->db, &s->targets.info[i], err);
	}
	return rc;
}

/* ---- is it still the same ---- */

int session_same(struct session *s, struct err *err)
{
	char diff[640];
	int rc = 0;

	for (unsigned i = 0; i < s->targets.name.n && !rc; i++) {
		const char *name = dut_name_inner(s->targets.name.v[i]);
		struct dut_info now;

		rc = dut_again(member_of(s->dut, i), &now, err);
		if (!rc && dut_differs(&s->was[i], &now, diff, sizeof diff))
			rc = err_set(err, -ENODEV, "%s is not what it was when the run began: %s",
				     name, diff);
	}
	return rc;
}

int session_quiet(struct session *s, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < s->targets.name.n && !rc; i++) {
		const struct dut_info *d = &s->targets.info[i];
		struct layout l;
		char text[200];

		if (!d->layout[0] || !gate_layout("", d->path, &l) || !l.sync[0])
			continue;
		snprintf(text, sizeof text,
			 "%.60s copies by itself (%s) while it is measured: that load is not the "
			 "test's",
			 d->path, l.sync);
		progress_warn(&s->progress, d->layout, text);
		rc = store_deviation(s->store, s->run, "-", text, err);
	}
	return rc;
}

/* ---- the user's hook ---- */

/* Members alone, not their order or the array's uuid, which a hook may choose anew. */
static bool same_members(const struct layout *a, const struct layout *b)
{
	unsigned found = 0;

	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			found += !strcmp(a->member[i].path, b->member[k].path);
	return a->n == b->n && found == a->n && !strcmp(a->kind, b->kind) &&
	       !strcmp(a->level, b->level);
}

static int array_lost(const char *path, struct err *err)
{
	return err_set(err, -ENODEV,
		       "%s is not there after the purge hook, nor another array of its members",
		       path);
}

/* The name that the array has now. */
static int find_array(const char *path, const struct layout *was, char ret[128], struct err *err)
{
	struct layout now;
	bool found = gate_layout("", path, &now) && same_members(was, &now);
	DIR *dir = found ? NULL : opendir("/sys/block");
	struct dirent *e;

	snprintf(ret, 128, "%.127s", path);
	while (dir && !found && (e = readdir(dir)) != NULL) {
		snprintf(ret, 128, "/dev/%.120s", e->d_name);
		found = gate_layout("", ret, &now) && same_members(was, &now);
	}
	if (dir)
		closedir(dir);
	if (!found)
		return array_lost(path, err);
	return now.missing ? err_set(err, -ENODEV, "%s came back with %u of its %u disks missing",
				     ret, now.missing, now.disks)
			   : 0;
}

static int find_again(const struct session *s, const struct layout *was, char ret[512],
		      struct err *err)
{
	const struct dut_info *id = &s->targets.info[0];

	if (id->kind == DUT_FILE && !access(id->path, F_OK)) {
		snprintf(ret, 512, "%s", id->path);
		return 0;
	}
	if (was)
		return find_array(id->path, was, ret, err);
	if (id->kind == DUT_BLOCK && identity_find("", id, s->targets.identity[0], ret))
		return 0;
	return err_set(err, -ENODEV, "%s is not there after the purge hook", id->path);
}

/* Only the name may be another than before. The gate is asked once more; its word was given. */
static int take_back(struct session *s, const char *path, struct err *err)
{
	struct dut_info *info = &s->targets.info[0];
	struct gate_request rq = {
		.info = info, .dut = path, .force_signature = s->o->force_signature, .agreed = true
	};
	struct dut_options look = { .seed = 0 };
	struct dut *d;
	int rc = 0;

	if (strcmp(path, info->path)) {
		free(s->moved);
		s->moved = strdup(path);
		BUG_ON(!s->moved);
		rc = dut_open(path, DUT_READ, &look, &d, err);
		if (rc)
			return rc;
		*info = d->info;
		info->capacity_bytes = s->was[0].capacity_bytes;
		info->lba_bytes = s->was[0].lba_bytes;
		dut_close(d);
	}
	rc = gate_check(&rq, err);
	if (!rc)
		rc = session_open_dut(s, err);
	if (!rc || !s->dut)
		return rc;
	dut_close(s->dut);
	s->dut = NULL;
	return rc;
}

static int run_hook(struct session *s, const struct layout *l, struct err *err)
{
	char uuid[140] = "";
	struct hook h = { .file = s->o->purge_hook,
			  .path = s->targets.info[0].path,
			  .layout = l,
			  .uuid = uuid,
			  .stop = &session_stop };

	if (l)
		gate_layout_uuid("", l, uuid, sizeof uuid);
	progress_break(&s->progress);
	return hook_run(&h, err);
}

static int hook_between(struct session *s, struct purge_report *r, struct err *err)
{
	struct layout l;
	bool array = gate_layout("", s->targets.info[0].path, &l);
	struct err ignored = { "" };
	char path[512];
	int rc, back;

	dut_close(s->dut);
	s->dut = NULL;
	r->started_ns = clock_mono_ns();
	rc = run_hook(s, array ? &l : NULL, err);
	r->elapsed_ns = clock_mono_ns() - r->started_ns;
	snprintf(r->detail, sizeof r->detail, "hook %.200s", s->o->purge_hook);
	if (rc == -EINTR)
		return rc;
	back = find_again(s, array ? &l : NULL, path, rc ? &ignored : err);
	if (!back)
		back = take_back(s, path, rc ? &ignored : err);
	return rc ? rc : back; /* after a failure the target is there for who goes on unpurged */
}

int session_hook(struct session *s, struct purge_report *ret, struct err *err)
{
	struct purge_report r = { .method = PURGE_HOOK };
	struct purge_marks *marks = NULL;
	int rc = purge_marks_set(s->dut, &marks, err);

	if (!rc)
		rc = hook_between(s, &r, err);
	if (!rc)
		rc = purge_marks_look(s->dut, marks, &r, err);
	purge_marks_free(marks);
	*ret = r;
	return rc;
}

/* ---- of a run ---- */

static int guard_same(void *arg, struct err *err)
{
	return session_same(arg, err);
}

/* Between two purges of a run lie hours, in which another namespace may be made, or mounted. */
static int guard_reach(void *arg, struct err *err)
{
	return session_reach(arg, err);
}

static int guard_hook(void *arg, struct dut **ret_dut, struct purge_report *ret, struct err *err)
{
	struct session *s = arg;
	int rc = session_hook(s, ret, err);

	*ret_dut = s->dut;
	return rc;
}

static int guard_purged(void *arg, struct err *err)
{
	return session_purged(arg, err);
}

struct run_guard session_guard(struct session *s)
{
	return (struct run_guard){ .same = guard_same,
				   .reach_free = guard_reach,
				   .hook = guard_hook,
				   .purged = guard_purged,
				   .reach = &s->reach,
				   .arg = s };
}
