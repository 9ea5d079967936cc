/* SPDX-License-Identifier: MIT */
/* A replay in the database: a run of one test of one section, a cell (of several targets a sum and their rows), its account. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cell_row.h"
#include "pts/base/json.h"
#include "pts/cmd_capture_rows.h"
#include "pts/cmd_replay.h"
#include "pts/cmd_session.h"

#define TEST "replay"

/* ---- before it ---- */

/* The engine as it was found, beside the facts of the host. */
static const struct key_value *host_rows(const struct replay *r, struct arena *a)
{
	const struct key_value *host = targets_host(&r->targets, r->d, a);
	struct key_value *out;
	unsigned n = 0;

	while (host[n].key)
		n++;
	out = arena_array(a, struct key_value, n + 2);
	memcpy(out, host, n * sizeof *out);
	out[n].key = "engine";
	out[n].value = r->io[0].pass.nsid
			       ? arena_fmt(a,
					   "io_uring passthrough on %s, one thread and ring, timed",
					   r->io[0].pass.path)
			       : "io_uring, one thread and ring, timed";
	return out;
}

static int store_run(struct replay *r, struct err *err)
{
	const struct dut_info *d = &r->d->info;
	struct arena a = ARENA_INIT;
	struct key_value args[] = { { "command", "replay" },
				    { "capture", r->o->arg.v[0] },
				    { "dut", buf_cstr(&r->dut) },
				    { NULL, NULL } };
	struct run_row row = { .uuid = r->uuid,
			       .dut = buf_cstr(&r->dut),
			       .dut_path = d->path,
			       .vendor = d->vendor,
			       .model = d->model,
			       .serial = d->serial,
			       .wwid = d->wwid,
			       .firmware = d->firmware,
			       .interface = d->interface,
			       .capacity_bytes = d->capacity_bytes,
			       .lba_bytes = d->lba_bytes,
			       .profile = "enterprise",
			       .spec = "SNIA SSS PTS 2.0.2",
			       .definition_set = 1,
			       .software = pts_software(),
			       .seed = r->seed,
			       .note = r->o->note,
			       .info = r->info.v,
			       .args = args };
	int rc;

	row.host = host_rows(r, &a);
	rc = store_run_begin(r->store, &row, &r->run, err);
	if (!rc)
		rc = targets_store(&r->targets, r->d, r->store, r->run, err);
	arena_release(&a);
	return rc;
}

static void put_params(const struct replay *r, struct buf *out)
{
	struct json j = JSON_INIT(out);
	char speed[32];

	json_object(&j, NULL);
	json_str(&j, "capture", trace_head(r->trace)->name);
	json_str(&j, "speed", replay_speed(r, speed, sizeof speed));
	json_str(&j, "fit", replay_fit(r));
	json_str(&j, "order", replay_order(r));
	json_uint(&j, "loops", r->conf.loops);
	json_bool(&j, "flushes", r->conf.flushes);
	json_bool(&j, "discards", r->conf.discards);
	json_end_object(&j);
}

static void put_definition(const struct replay *r, struct buf *out)
{
	char speed[32];

	buf_fmt(out,
		"replay %s\n  speed %s\n  fit %s\n  order %s\n  loops %u\n  flushes %s\n  discards "
		"%s\n",
		trace_head(r->trace)->name, replay_speed(r, speed, sizeof speed), replay_fit(r),
		replay_order(r), r->conf.loops, r->conf.flushes ? "yes" : "no",
		r->conf.discards ? "yes" : "no");
}

static int store_one_test(struct replay *r, struct err *err)
{
	const struct exact_account *a = exact_account(r->exact);
	struct buf def = BUF_INIT, plan = BUF_INIT, params = BUF_INIT;
	struct test_row row = { .run = r->run,
				.ordinal = 1,
				.test = TEST,
				.title = "Exact replay of a capture",
				.clause = "-" };
	int rc;

	put_definition(r, &def);
	put_params(r, &params);
	buf_fmt(&plan, "REPLAY %" PRIu64 " of %" PRIu64 " records, %u times\n", a->planned,
		a->records, r->conf.loops);
	row.definition = buf_cstr(&def);
	row.plan = buf_cstr(&plan);
	row.params = buf_cstr(&params);
	rc = store_test(r->store, &row, err);
	buf_release(&def);
	buf_release(&plan);
	buf_release(&params);
	return rc;
}

static int store_deviations(struct replay *r, struct err *err)
{
	bool faults = false;
	int rc = store_deviation(r->store, r->run, "-",
				 "exact replay of a capture: no test of the PTS", err);

	for (unsigned i = 0; i < r->n_targets; i++)
		faults |= r->io[i].fault != NULL;
	if (!rc && faults)
		rc = store_deviation(r->store, r->run, "-", "faults injected (tests only)", err);
	return rc;
}

static int store_begun(struct replay *r, struct err *err)
{
	struct section_row section = { .purge_verified = -1 };
	int rc = store_run(r, err);

	r->at = (struct where){ .run = r->run, .test = TEST, .section = 1 };
	if (!rc)
		rc = store_one_test(r, err);
	if (!rc)
		rc = store_deviations(r, err);
	if (!rc)
		rc = store_attempt(r->store, r->run, TEST, &r->at.attempt, err);
	section.at = r->at;
	section.label = trace_head(r->trace)->name;
	return rc ? rc : store_section(r->store, &section, err);
}

int replay_register(struct replay *r, struct err *err)
{
	int rc = session_uuid(r->uuid, err);

	if (!rc)
		rc = store_begin(r->store, err);
	if (rc)
		return rc;
	rc = store_begun(r, err);
	if (!rc)
		return store_commit(r->store, err);
	store_abort(r->store);
	return rc;
}

/* ---- after it ---- */

/* One too long for steps is kept without them. */
static int store_bare_capture(struct replay *r, struct err *err)
{
	const struct trace_head *h = trace_head(r->trace);
	const struct trace_report *p = &h->report;
	struct capture_row row = { .run = r->run,
				   .name = h->name,
				   .format = p->format,
				   .sha256 = r->sha256,
				   .records = h->n,
				   .reads = p->ios[TRACE_READ],
				   .writes = p->ios[TRACE_WRITE],
				   .bytes_read = p->bytes[TRACE_READ],
				   .bytes_written = p->bytes[TRACE_WRITE],
				   .duration_ns = h->duration_ns,
				   .lost = (int64_t)p->lost,
				   .step_ns = -1 };

	return store_capture(r->store, &row, err);
}

/* Only now: to sum up and take apart a long capture takes a while, which the replay need not wait for. */
static int store_captured(struct replay *r, struct err *err)
{
	struct capture_used used = { .sha256 = r->sha256 };
	struct capture *c;
	struct err why = { "" };
	int rc = file_sha256(r->o->arg.v[0], r->sha256, err);

	if (rc)
		return rc;
	if (capture_load(r->o->arg.v[0], &(struct capture_choice){ 0 }, &c, &why))
		return store_bare_capture(r, err);
	used.capture = c;
	rc = capture_store(r->store, r->run, &used, err);
	capture_free(c);
	return rc;
}

struct cell_parts {
	struct cell_row row;
	struct cell_hist hist[2 * IO_OPS];
	struct second_row *second;
	struct hist *all;
	struct buf errnos;
};

static void put_counts(struct cell_parts *p, const struct result *res)
{
	struct cell_row *w = &p->row;
	unsigned __int128 sum = 0;

	w->elapsed_ns = res->elapsed_ns;
	w->read_ios = res->op[IO_READ].ios;
	w->write_ios = res->op[IO_WRITE].ios;
	w->read_bytes = res->op[IO_READ].bytes;
	w->write_bytes = w->host_bytes_written = res->op[IO_WRITE].bytes;
	w->prepared = res->prepared;
	w->short_ios = res->short_ios;
	w->errors = res->errors;
	w->inflight_avg = res->inflight_avg;
	w->inflight_max = (int)res->inflight_max;
	w->threads_seen = (int)res->threads_seen;
	w->partial = res->partial;
	for (unsigned op = 0; op < IO_OPS; op++)
		sum += res->op[op].service ? res->op[op].service->sum : 0;
	/* what failed was in flight as well */
	w->little_pct = sum && res->inflight_avg > 0 && !res->partial
				? ((double)sum / (double)res->elapsed_ns / res->inflight_avg - 1) *
					  100
				: NAN;
	cell_row_errnos(w, &p->errnos, res);
}

/* The rate asked for makes the latencies those from the due times on. */
static double rate_of(const struct replay *r)
{
	const struct timed_result *res = timed_result(r->timed);

	if (r->conf.speed_milli == EXACT_ASAP || !res->span_asked_ns)
		return NAN;
	return (double)res->issued * 1e9 / (double)res->span_asked_ns;
}

static double read_pct(const struct result *res)
{
	uint64_t all = res->op[IO_READ].ios + res->op[IO_WRITE].ios;

	return all ? 100.0 * (double)res->op[IO_READ].ios / (double)all : NAN;
}

static int store_one_cell(struct replay *r, const struct result *res, int member, struct err *err)
{
	struct cell_parts p = { .all = hist_new(), .errnos = BUF_INIT };
	struct cell_row *w = &p.row;
	int64_t id;
	int rc;

	*w = (struct cell_row){ .at = r->at,
				.phase = "replay",
				.round = -1,
				.round_try = -1,
				.label = trace_head(r->trace)->name,
				.member = member,
				.access = "exact replay",
				.threads = 1,
				.qd = -1,
				.oio = -1,
				.scale = NAN,
				.read_pct = read_pct(res),
				.block_bytes = -1,
				.workload = "[]",
				.cpu_sys_pct = NAN,
				.cpu_total_pct = NAN,
				.temperature_c = NAN,
				.rate_iops = rate_of(r),
				.note = r->truth.valid ? NULL : r->truth.why };
	put_counts(&p, res);
	cell_row_latencies(w, p.hist, p.all, res, !isnan(w->rate_iops));
	p.second = cell_row_seconds(w, res);
	if (res->n_members) {
		w->members = res->n_members;
		w->span_first_ns = res->first_done_ns;
		w->span_last_ns = res->elapsed_ns;
	}
	rc = store_cell(r->store, w, &id, err);
	free(p.second);
	free(p.all);
	buf_release(&p.errnos);
	return rc;
}

static int store_cells(struct replay *r, struct err *err)
{
	const struct result *all = &timed_result(r->timed)->all;
	int rc = store_one_cell(r, all, -1, err);

	for (unsigned i = 0; i < all->n_members && !rc; i++)
		rc = store_one_cell(r, all->member[i].result, (int)all->member[i].member, err);
	return rc;
}

static int store_truth(struct replay *r, struct err *err)
{
	const struct timed_result *res = timed_result(r->timed);
	const struct exact_account *a = exact_account(r->exact);
	const struct replay_truth *t = &r->truth;
	struct buf devices = BUF_INIT, drops = BUF_INIT;
	char speed[32];
	struct fidelity_row row = { .run = r->run,
				    .test = TEST,
				    .attempt = r->at.attempt,
				    .loops = r->conf.loops,
				    .speed = replay_speed(r, speed, sizeof speed),
				    .fit = replay_fit(r),
				    .order = replay_order(r),
				    .records = t->records,
				    .issued = res->issued,
				    .dropped = t->dropped,
				    .reordered = res->reordered,
				    .moved = a->moved * r->conf.loops,
				    .rounded = a->rounded * r->conf.loops,
				    .late_p50_ns = t->late_p50_ns,
				    .late_p99_ns = t->late_p99_ns,
				    .late_p999_ns = t->late_p999_ns,
				    .late_max_ns = t->late_max_ns,
				    .span_error_pct = t->span_error_pct,
				    .span_asked_ns = res->span_asked_ns,
				    .span_ns = res->span_ns,
				    .stalls = res->stalls,
				    .stall_ns = res->stall_ns,
				    .starved = res->starved,
				    .conflicts = res->conflicts,
				    .depth_asked_avg = a->depth_avg,
				    .depth_asked_max = a->depth_max ? (int64_t)a->depth_max : -1,
				    .depth_avg = t->depth_avg,
				    .depth_max = res->all.inflight_max,
				    .short_ios = res->all.short_ios,
				    .errors = res->all.errors,
				    .hung = res->hung,
				    .valid = t->valid,
				    .why_invalid = t->why };
	int rc;

	replay_devices(r, &devices);
	replay_drops(r, &drops);
	row.devices = buf_cstr(&devices);
	row.why_dropped = buf_cstr(&drops);
	rc = store_fidelity(r->store, &row, err);
	buf_release(&devices);
	buf_release(&drops);
	return rc;
}

static int store_end(struct replay *r, int how, struct err *err)
{
	struct section_end_row section = {
		.at = r->at, .steady = -1, .window_first = -1, .window_last = -1, .rounds = -1
	};
	struct test_end_row end = { .run = r->run,
				    .test = TEST,
				    .attempt = r->at.attempt,
				    .steady = -1,
				    .verdict = how ? "failed" : "done",
				    .write_cache = "unknown",
				    .detail = r->truth.valid ? NULL : r->truth.why };
	int rc = store_section_end(r->store, &section, err);

	return rc || how == -EINTR ? rc : store_test_end(r->store, &end, err);
}

/* How the ring was, which is known only once it is open. */
static int store_engine(struct replay *r, struct err *err)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "engine", timed_text(r->timed));
	json_uint(&j, "discards_sync", timed_result(r->timed)->discards_sync);
	json_end_object(&j);
	rc = store_event(r->store, r->run, "note", buf_cstr(&b), err);
	buf_release(&b);
	return rc;
}

int replay_store(struct replay *r, int rc, struct err *err)
{
	int how = rc;

	rc = store_begin(r->store, err);
	if (rc)
		return rc;
	rc = store_engine(r, err);
	if (!rc)
		rc = store_captured(r, err);
	if (!rc)
		rc = store_cells(r, err);
	if (!rc)
		rc = store_truth(r, err);
	if (!rc)
		rc = store_end(r, how, err);
	if (!rc)
		return store_commit(r->store, err);
	store_abort(r->store);
	return rc;
}
