/* SPDX-License-Identifier: MIT */
/* pts replay CAP --dut DUT: every IO of a capture again, at its own moment, with an account of how true that was. */
#include "pts/cmd_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "pts/cmd_session.h"
#include "pts/cmd_trace.h"
#include "workloads/fault.h"

#define SPEED_MIN 500u /* thousandths */
#define SPEED_MAX 32000u
#define LOOPS_MAX 1000000u
#define ASAP_DEPTH 32u /* where the capture knows no depth */
#define DEPTH_SPARE 4u /* slots, in multiples of the capture's depth */

/* ---- options ---- */

static int parse_speed(const char *s, uint32_t *ret)
{
	double v;

	*ret = EXACT_NATIVE;
	if (!s || !strcmp(s, "native"))
		return 0;
	*ret = EXACT_ASAP;
	if (!strcmp(s, "asap"))
		return 0;
	if (parse_number(s[0] == 'x' ? s + 1 : s, &v) || v * 1000 < SPEED_MIN ||
	    v * 1000 > SPEED_MAX)
		return -EINVAL;
	*ret = (uint32_t)(v * 1000 + 0.5);
	return 0;
}

static enum exact_fit fit_of(const char *s)
{
	return !s || !strcmp(s, "refuse") ? FIT_REFUSE
	       : !strcmp(s, "clip")	  ? FIT_CLIP
	       : !strcmp(s, "wrap")	  ? FIT_WRAP
					  : FIT_SCALE;
}

static int choose(struct replay *r)
{
	const struct opts *o = r->o;
	uint64_t loops = 1;

	if (parse_speed(o->speed, &r->conf.speed_milli))
		return cmd_usage(o, "--speed takes native, asap or 0.5 to 32, not '%s'", o->speed);
	if (o->loops && parse_uint(o->loops, 1, LOOPS_MAX, &loops))
		return cmd_usage(o, "--loops takes 1 to %u, not '%s'", LOOPS_MAX, o->loops);
	if (o->dut.n > 1)
		return cmd_usage(o, "one --dut; --device-map names a target for each device");
	if (o->dut.n && o->device_map.n)
		return cmd_usage(o, "--dut or --device-map, not both");
	if (!o->dut.n && !o->device_map.n && !o->dry)
		return cmd_usage(o, "on which target? --dut names it (pts devices)");
	if (o->seed && parse_uint(o->seed, 0, INT64_MAX, &r->seed))
		return cmd_usage(o, "--seed '%s' is no whole number below 2^63", o->seed);
	if (o->quiet && o->progress)
		return cmd_usage(o, "--quiet and --progress contradict each other");
	r->conf.fit = fit_of(o->fit);
	r->conf.loops = (unsigned)loops;
	r->conf.flushes = o->with && strcmp(o->with, "discard") != 0;
	r->conf.discards = o->with && strcmp(o->with, "flush") != 0;
	if (o->polled && o->with)
		return cmd_usage(o, "--polled: neither flushes nor discards can be polled for");
	if (o->note && !text_is_utf8(o->note))
		return cmd_usage(o, "--note is not UTF-8");
	if (!o->seed && getrandom(&r->seed, sizeof r->seed, 0) == sizeof r->seed)
		r->seed >>= 1; /* stored as a signed integer */
	return 0;
}

/* ---- which device goes where ---- */

static int check_kind(const char *dut, struct err *err)
{
	struct dut_name n;
	int rc = dut_name_parse(dut, &n, err);

	if (rc)
		return rc;
	if (n.kind == DUT_SET)
		return err_set(err, -EINVAL,
			       "%s: a capture is of single drives: --device-map DEVICE=DUT says "
			       "which one stands for which",
			       dut);
	if (n.kind == DUT_SIM)
		return err_set(
			err, -EINVAL,
			"%s: exact replay needs a real target: a simulated drive knows rates "
			"and distributions, no single IOs",
			dut);
	return 0;
}

static int add_target(struct replay *r, struct set_names *names, const char *dut, int *ret_index,
		      struct err *err)
{
	int rc;

	for (unsigned i = 0; i < names->n; i++)
		if (!strcmp(names->v[i], dut)) {
			*ret_index = (int)i;
			return 0;
		}
	rc = check_kind(dut, err);
	if (rc)
		return rc;
	if (names->n == SET_MEMBERS_MAX)
		return err_set(err, -E2BIG, "more than %d targets", SET_MEMBERS_MAX);
	names->v[names->n] = strdup(dut);
	BUG_ON(!names->v[names->n]);
	*ret_index = (int)names->n++;
	return 0;
}

static int find_device(const struct replay *r, const char *word, size_t len, unsigned *ret,
		       struct err *err)
{
	const struct trace_head *h = trace_head(r->trace);

	for (unsigned d = 0; d < h->n_devices; d++)
		if (strlen(h->device[d].name) == len && !memcmp(h->device[d].name, word, len)) {
			*ret = d;
			return 0;
		}
	return err_set(err, -EINVAL,
		       "--device-map %s: the capture has no device '%.*s' (pts trace stat lists "
		       "them)",
		       word, (int)len, word);
}

/* "DUT@OFFSET": what follows the last @ is an offset if it reads as a size. */
static void split_offset(char *dut, uint64_t *ret_base)
{
	char *at = strrchr(dut, '@');

	*ret_base = 0;
	if (at && !parse_size(at + 1, ret_base))
		*at = 0;
}

static int map_one(struct replay *r, struct set_names *names, const char *word, struct err *err)
{
	const char *eq = strchr(word, '=');
	struct exact_map *m;
	unsigned device = 0;
	char dut[512];
	int rc;

	if (!eq || eq == word || !eq[1] || strlen(eq + 1) >= sizeof dut)
		return err_set(err, -EINVAL, "--device-map takes DEVICE=DUT, not '%s'", word);
	rc = find_device(r, word, (size_t)(eq - word), &device, err);
	if (rc)
		return rc;
	m = &r->map[device];
	if (m->target != EXACT_UNMAPPED)
		return err_set(err, -EINVAL, "--device-map: device '%.*s' is there twice",
			       (int)(eq - word), word);
	m->target = EXACT_LEFT_OUT;
	if (!strcmp(eq + 1, "-"))
		return 0;
	snprintf(dut, sizeof dut, "%s", eq + 1);
	split_offset(dut, &m->base_bytes);
	return add_target(r, names, dut, &m->target, err);
}

static void map_all(struct replay *r, int target)
{
	for (unsigned d = 0; d < trace_head(r->trace)->n_devices; d++)
		r->map[d].target = target;
}

/* --dut is for a capture of one device. */
static int map_single(struct replay *r, struct set_names *names, struct err *err)
{
	const struct trace_head *h = trace_head(r->trace);
	unsigned with_io = 0, last = 0;
	int target, rc = add_target(r, names, r->o->dut.v[0], &target, err);

	for (unsigned d = 0; d < h->n_devices; d++)
		if (h->device[d].ios) {
			with_io++;
			last = d;
		}
	if (rc || with_io > 1) /* what has no target is refused with its names */
		return rc;
	r->map[last].target = target;
	return 0;
}

static int make_map(struct replay *r, struct set_names *names, struct err *err)
{
	unsigned n = trace_head(r->trace)->n_devices;
	int rc = 0;

	r->map = calloc(n ? n : 1, sizeof *r->map);
	BUG_ON(!r->map);
	map_all(r, EXACT_UNMAPPED);
	if (r->o->dut.n)
		return map_single(r, names, err);
	for (unsigned i = 0; i < r->o->device_map.n && !rc; i++)
		rc = map_one(r, names, r->o->device_map.v[i], err);
	if (!rc && !r->o->device_map.n)
		map_all(r, 0); /* dry */
	else if (!rc && !names->n)
		rc = err_set(err, -EINVAL, "--device-map leaves out every device");
	return rc;
}

/* ---- targets ---- */

static int check_bases(const struct replay *r, struct err *err)
{
	for (unsigned d = 0; d < trace_head(r->trace)->n_devices; d++) {
		const struct exact_map *m = &r->map[d];
		const struct exact_target *g = m->target < 0 ? NULL : &r->target[m->target];

		if (!g || !m->base_bytes)
			continue;
		if (m->base_bytes % g->lba_bytes || m->base_bytes >= g->capacity_bytes)
			return err_set(err, -EINVAL,
				       "%s: offset %" PRIu64 " is not within its %" PRIu64
				       " bytes, or no multiple of %u",
				       g->name, m->base_bytes, g->capacity_bytes, g->lba_bytes);
	}
	return 0;
}

static void name_dut(struct replay *r, const struct set_names *names)
{
	if (names->n == 1)
		buf_str(&r->dut, names->v[0]);
	else
		set_names_join(names, &r->dut);
}

static int look_at(struct replay *r, const struct set_names *names, struct err *err)
{
	const struct dut_options opt = { .passthrough = opts_passthrough(r->o) };
	int rc;

	if (!names->n) { /* dry: a target without end */
		r->n_targets = 1;
		r->target[0] = (struct exact_target){ .name = "dry", .lba_bytes = 512 };
		r->io[0] = (struct engine_target){ .fd = -1 };
		return 0;
	}
	name_dut(r, names);
	rc = dut_open(buf_cstr(&r->dut), DUT_READ, &opt, &r->d, err);
	if (rc)
		return rc;
	targets_take(&r->targets, buf_cstr(&r->dut), r->d);
	r->n_targets = r->targets.name.n;
	for (unsigned i = 0; i < r->n_targets; i++) {
		const struct dut_info *d = &r->targets.info[i];

		r->io[i].fd = -1;
		r->target[i] = (struct exact_target){ .name = r->targets.name.v[i],
						      .capacity_bytes = d->capacity_bytes,
						      .lba_bytes = d->lba_bytes };
	}
	return check_bases(r, err);
}

static int check_discards(const struct replay *r, struct err *err)
{
	for (unsigned i = 0; i < r->targets.name.n && exact_account(r->exact)->discards; i++) {
		const struct dut_info *d = &r->targets.info[i];

		if (d->kind == DUT_BLOCK && !(d->purge_methods & 1u << PURGE_BLKDISCARD))
			return err_set(err, -EINVAL,
				       "%s takes no discards: without --with discard they are left "
				       "out and counted",
				       r->targets.name.v[i]);
	}
	return 0;
}

/* A file that is not there yet is made: as for a run. */
static bool all_exist(const struct replay *r)
{
	for (unsigned i = 0; i < r->n_targets; i++)
		if (access(r->targets.info[i].path, F_OK))
			return false;
	return true;
}

static int open_to_write(struct replay *r, struct err *err)
{
	const struct dut_options opt = { .passthrough = opts_passthrough(r->o) };
	int rc = targets_db_apart(&r->targets, r->o->db, err);

	if (!rc)
		rc = targets_gate(&r->targets, r->o, err);
	if (rc)
		return rc;
	dut_close(r->d);
	r->d = NULL;
	rc = dut_open(buf_cstr(&r->dut), DUT_WRITE, &opt, &r->d, err);
	return rc ? rc : targets_unchanged(&r->targets, r->d, err);
}

/* A capture that only reads gets descriptors that can only read: no consent is needed. */
static int open_targets(struct replay *r, struct err *err)
{
	int rc = 0;

	if (exact_account(r->exact)->writes || !all_exist(r))
		rc = open_to_write(r, err);
	for (unsigned i = 0; i < r->n_targets && !rc; i++) {
		struct dut *d = r->d->member ? r->d->member[i] : r->d;

		rc = dut_target_open(d, &r->io[i], err);
		if (!rc && r->o->polled)
			r->io[i].polled = engine_can_poll(&r->io[i]);
		if (!rc && r->n_targets > 1 && r->io[i].fault)
			rc = err_set(err, -EINVAL, "faults go with one target");
	}
	for (unsigned i = 1; i < r->n_targets; i++) /* one ring for all */
		r->io[0].polled &= r->io[i].polled;
	return rc;
}

/* ---- the run ---- */

static void on_progress(void *arg, const struct timed_progress *p)
{
	struct replay *r = arg;
	struct live l = { .test = "replay",
			  .test_index = 1,
			  .tests = 1,
			  .phase = "replay",
			  .cell = trace_head(r->trace)->name,
			  .step = 1,
			  .steps = 1,
			  .cell_elapsed_ns = p->elapsed_ns,
			  .cell_ns = r->span_ns,
			  .steady = "" };
	double s = p->elapsed_ns ? (double)p->elapsed_ns / 1e9 : 1;

	l.iops = (double)p->done / s;
	l.bytes_per_s = (double)p->bytes / s;
	l.left_min_ns = l.left_max_ns = r->span_ns > p->elapsed_ns ? r->span_ns - p->elapsed_ns : 0;
	progress_live(&r->progress, &l);
}

static int load(void *arg, struct timed_io *ret, unsigned n, struct err *err)
{
	const struct replay *r = arg;

	return exact_load(r->exact, ret, n, err);
}

/* Without a clock as deep as the capture was; with it the depth is the trace's own, and the slots are no limit. */
static unsigned depth_of(const struct replay *r)
{
	unsigned native = exact_account(r->exact)->depth_max;

	if (r->conf.speed_milli == EXACT_ASAP)
		return !native ? ASAP_DEPTH : native < TIMED_DEPTH_MAX ? native : TIMED_DEPTH_MAX;
	if (native * DEPTH_SPARE <= TIMED_DEPTH)
		return TIMED_DEPTH;
	return native < TIMED_DEPTH_MAX / DEPTH_SPARE ? native * DEPTH_SPARE : TIMED_DEPTH_MAX;
}

static uint64_t span_of(const struct replay *r)
{
	const struct exact_account *a = exact_account(r->exact);

	if (r->conf.speed_milli == EXACT_ASAP)
		return 0;
	return (uint64_t)((unsigned __int128)(a->last_ns - a->first_ns +
					      (r->conf.loops - 1) * a->loop_ns) *
			  EXACT_NATIVE / r->conf.speed_milli);
}

static int play(struct replay *r, struct err *err)
{
	const struct exact_account *a = exact_account(r->exact);
	struct timed_job job = { .target = r->io,
				 .n_targets = r->n_targets,
				 .dry = r->o->dry,
				 .asap = r->conf.speed_milli == EXACT_ASAP,
				 .order = r->o->order && !strcmp(r->o->order, "order"),
				 .depth = depth_of(r),
				 .max_read_bytes = a->max_read_bytes,
				 .max_write_bytes = a->max_write_bytes,
				 .seed = r->seed,
				 .stop = &session_stop,
				 .load = load,
				 .progress = r->o->dry ? NULL : on_progress,
				 .arg = r };
	int rc;

	if (r->io[0].fault)
		job.deadline_ns = fault_deadline_ns(r->io[0].fault);
	r->span_ns = span_of(r);
	rc = timed_open(&job, &r->timed, err);
	return rc ? rc : timed_run(r->timed, err);
}

/* IOs that failed are told by their counts; the replay itself went on. */
static int count_failures(const struct replay *r, struct err *err)
{
	const struct timed_result *t = timed_result(r->timed);
	struct buf b = BUF_INIT;
	int rc = 0;

	for (unsigned i = 0; i < RESULT_ERRNOS && t->all.errnos[i].err; i++)
		buf_fmt(&b, "%s%s:%" PRIu64, i ? " " : ", ", strerrorname_np(t->all.errnos[i].err),
			t->all.errnos[i].n);
	if (t->all.errors || t->all.short_ios)
		rc = err_set(err, -EIO, "%" PRIu64 " IOs failed%s, %" PRIu64 " came back short",
			     t->all.errors, buf_cstr(&b), t->all.short_ios);
	buf_release(&b);
	return rc;
}

static const char *state_of(int rc)
{
	return !rc ? "done" : rc == -EINTR ? "interrupted" : rc == -ETIMEDOUT ? "hung" : "failed";
}

/* The replay has run: what it was, told and stored. */
static int finish(struct replay *r, int rc, struct err *err)
{
	struct err own = { "" };
	struct buf out = BUF_INIT;
	int code;

	if (!rc)
		rc = count_failures(r, err);
	replay_judge(r, rc);
	code = rc ? exit_of(rc) : r->truth.valid ? EXIT_GOOD : EXIT_BAD;
	progress_close(&r->progress);
	if (r->store &&
	    (replay_store(r, rc, &own) || store_run_end(r->store, r->run, state_of(rc), &own))) {
		if (!rc)
			*err = own;
		else
			err_prefix(err, rc, "(what was measured could not be stored: %s) ",
				   own.msg);
		rc = rc ? rc : -EIO;
		code = EXIT_DEVICE;
	}
	if (rc)
		cmd_fail(r->o, code, err);
	replay_print(r, state_of(rc), &out);
	code = cmd_out(r->o, &out, code);
	buf_release(&out);
	if (rc == -ETIMEDOUT)
		_exit(code); /* what the drive still holds cannot be waited for */
	return code;
}

static int refuse_map(const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	bool is_map = trace_find_map(path, &text);

	buf_release(&text);
	return is_map ? err_set(err, -EINVAL,
				"%s is a stream map and has no IOs of its own: a run replays its "
				"steps (pts run replay-native --capture %s)",
				path, path)
		      : 0;
}

/* Everything that can be refused, before anything is opened for writing. */
static int prepare(struct replay *r, struct err *err)
{
	struct set_names names = { .n = 0 };
	int rc = info_read(r->o->info, &r->info, err);

	if (!rc)
		rc = refuse_map(r->o->arg.v[0], err);
	if (!rc)
		rc = trace_open(r->o->arg.v[0], true, &r->trace, err);
	if (!rc)
		rc = make_map(r, &names, err);
	if (!rc)
		rc = look_at(r, &names, err);
	set_names_release(&names);
	if (rc)
		return rc;
	r->conf.target = r->target;
	r->conf.n_targets = r->n_targets;
	r->conf.map = r->map;
	rc = exact_open(r->trace, &r->conf, &r->exact, err);
	return rc ? rc : check_discards(r, err);
}

static int set_up(struct replay *r, struct err *err)
{
	int rc = prepare(r, err);

	if (rc || r->o->dry)
		return rc;
	rc = open_targets(r, err);
	if (!rc)
		rc = store_open(r->o->db, &r->store, err);
	if (!rc)
		rc = replay_register(r, err);
	return rc ? rc : progress_open(&r->progress, r->o, r->uuid, err);
}

static void release(struct replay *r)
{
	progress_close(&r->progress);
	timed_close(r->timed);
	exact_close(r->exact);
	trace_close(r->trace);
	for (unsigned i = 0; i < r->n_targets; i++)
		dut_target_close(&r->io[i]);
	if (r->targets.info)
		targets_release(&r->targets);
	dut_close(r->d);
	store_close(r->store);
	info_release(&r->info);
	buf_release(&r->dut);
	free(r->map);
	free(r);
}

int cmd_replay(const struct opts *o)
{
	struct replay *r = calloc(1, sizeof *r);
	struct err err = { "" };
	int code, rc;

	BUG_ON(!r);
	r->o = o;
	r->progress.fd = -1;
	code = choose(r);
	if (code)
		goto out;
	session_signals();
	rc = set_up(r, &err);
	if (rc) {
		code = cmd_fail(o, exit_of(rc), &err);
		goto out;
	}
	if (r->store && !o->quiet && !r->progress.json)
		fprintf(stderr, "run %lld %s on %s\n", (long long)r->run, r->uuid,
			buf_cstr(&r->dut));
	rc = play(r, &err);
	code = r->timed ? finish(r, rc, &err) : cmd_fail(o, exit_of(rc), &err);
out:
	release(r);
	return code;
}
