/* SPDX-License-Identifier: MIT */
/* How true a replay was: the account, in figures and for people. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_replay.h"

/* ---- names ---- */

const char *replay_speed(const struct replay *r, char *out, size_t n)
{
	if (r->conf.speed_milli == EXACT_ASAP)
		snprintf(out, n, "asap");
	else if (r->conf.speed_milli == EXACT_NATIVE)
		snprintf(out, n, "native");
	else
		fmt_double(out, (unsigned)n, r->conf.speed_milli / 1000.0);
	return out;
}

const char *replay_fit(const struct replay *r)
{
	return r->o->fit ? r->o->fit : "refuse";
}

const char *replay_order(const struct replay *r)
{
	return r->o->order ? r->o->order : "allow";
}

void replay_devices(const struct replay *r, struct buf *out)
{
	const struct trace_head *h = trace_head(r->trace);
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	for (unsigned d = 0; d < h->n_devices; d++) {
		const struct exact_map *m = &r->map[d];
		char to[640];

		if (m->target < 0) {
			json_null(&j, h->device[d].name);
			continue;
		}
		snprintf(to, sizeof to, "%s", r->target[m->target].name);
		if (m->base_bytes)
			snprintf(to + strlen(to), sizeof to - strlen(to), "@%" PRIu64,
				 m->base_bytes);
		json_str(&j, h->device[d].name, to);
	}
	json_end_object(&j);
}

void replay_drops(const struct replay *r, struct buf *out)
{
	const struct exact_account *a = exact_account(r->exact);
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	for (unsigned i = 0; i < EXACT_DROPS; i++)
		if (a->dropped[i])
			json_uint(&j, exact_drop_names[i], a->dropped[i] * r->conf.loops);
	json_end_object(&j);
}

/* ---- judging ---- */

static int64_t late_of(const struct hist *h, uint32_t ppm)
{
	uint64_t v;

	return hist_percentile(h, ppm, &v) ? (int64_t)v : -1;
}

static const char *ns_text(char *out, size_t n, double ns)
{
	static const struct {
		double unit;
		const char *name;
	} u[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	unsigned i = 0;

	while (i < 3 && fabs(ns) < u[i].unit)
		i++;
	snprintf(out, n, "%.3g %s", ns / u[i].unit, u[i].name);
	return out;
}

static void add_why(struct replay_truth *t, const char *text)
{
	size_t n = strlen(t->why);

	t->valid = false;
	snprintf(t->why + n, sizeof t->why - n, "%s%s", n ? "; " : "", text);
}

static void judge_times(struct replay_truth *t)
{
	int64_t late = t->late_p99_ns >= 0 ? t->late_p99_ns : t->late_max_ns;
	char one[96], a[32];

	if (late > REPLAY_LATE_P99_NS) {
		snprintf(one, sizeof one, "99 %% of the IOs were up to %s late, not 1 ms",
			 ns_text(a, sizeof a, (double)late));
		add_why(t, one);
	}
	if (fabs(t->span_error_pct) > REPLAY_SPAN_ERROR_PCT) {
		snprintf(one, sizeof one, "the span was off by %+.3f %%, not 0.1 %%",
			 t->span_error_pct);
		add_why(t, one);
	}
}

void replay_judge(struct replay *r, int rc)
{
	const struct exact_account *a = exact_account(r->exact);
	const struct timed_result *res = timed_result(r->timed);
	struct replay_truth *t = &r->truth;
	double asked = (double)res->span_asked_ns;

	*t = (struct replay_truth){ .records = a->records * r->conf.loops,
				    .planned = a->planned * r->conf.loops,
				    .valid = true };
	t->dropped = t->records - t->planned;
	t->late_p50_ns = late_of(res->late, P50);
	t->late_p99_ns = late_of(res->late, P99);
	t->late_p999_ns = late_of(res->late, P999);
	t->late_max_ns = res->late->n ? (int64_t)res->late->max : -1;
	t->span_error_pct = asked > 0 ? ((double)res->span_ns / asked - 1) * 100 : NAN;
	t->depth_avg = res->all.inflight_avg;
	if (rc == -EINTR)
		add_why(t, "it was interrupted");
	else if (res->issued < t->planned)
		add_why(t, "it was cut short");
	if (rc == -ETIMEDOUT && !res->hung)
		add_why(t, "the kernel took no IO");
	if (res->hung)
		add_why(t, "IOs never came back");
	if (res->all.errors || res->all.short_ios)
		add_why(t, "IOs failed");
	judge_times(t);
}

/* ---- printing ---- */

static void put_asked(const struct replay *r, const char *state, struct json *j)
{
	struct buf devices = BUF_INIT, drops = BUF_INIT;
	char speed[32];

	replay_devices(r, &devices);
	replay_drops(r, &drops);
	json_str(j, "capture", trace_head(r->trace)->name);
	json_str(j, "uuid", r->store ? r->uuid : NULL);
	json_str(j, "state", state);
	json_bool(j, "dry", r->o->dry);
	json_raw(j, "device_map", buf_cstr(&devices));
	json_str(j, "speed", replay_speed(r, speed, sizeof speed));
	json_str(j, "fit", replay_fit(r));
	json_str(j, "order", replay_order(r));
	json_uint(j, "loops", r->conf.loops);
	json_raw(j, "why_dropped", buf_cstr(&drops));
	buf_release(&devices);
	buf_release(&drops);
}

static void put_counts(const struct replay *r, struct json *j)
{
	const struct timed_result *res = timed_result(r->timed);
	const struct exact_account *a = exact_account(r->exact);
	const struct {
		const char *key;
		uint64_t n;
	} counts[] = { { "records", r->truth.records },
		       { "issued", res->issued },
		       { "dropped", r->truth.dropped },
		       { "moved", a->moved * r->conf.loops },
		       { "rounded", a->rounded * r->conf.loops },
		       { "reads", res->all.op[IO_READ].ios },
		       { "writes", res->all.op[IO_WRITE].ios },
		       { "discards", res->discards },
		       { "discards_sync", res->discards_sync },
		       { "flushes", res->flushes },
		       { "bytes_read", res->all.op[IO_READ].bytes },
		       { "bytes_written", res->all.op[IO_WRITE].bytes },
		       { "short_ios", res->all.short_ios },
		       { "errors", res->all.errors },
		       { "hung", res->hung },
		       { "stalls", res->stalls },
		       { "stall_ns", res->stall_ns },
		       { "starved", res->starved },
		       { "conflicts", res->conflicts },
		       { "held", res->held },
		       { "reordered", res->reordered },
		       { "span_asked_ns", res->span_asked_ns },
		       { "span_ns", res->span_ns },
		       { "elapsed_ns", res->all.elapsed_ns },
		       { "depth_max", res->all.inflight_max } };

	for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
		json_uint(j, counts[i].key, counts[i].n);
}

/* null where unknown */
static void put_json(const struct replay *r, const char *state, struct buf *out)
{
	const struct exact_account *a = exact_account(r->exact);
	const struct replay_truth *t = &r->truth;
	const struct {
		const char *key;
		int64_t n;
	} opt[] = { { "late_p50_ns", t->late_p50_ns },
		    { "late_p99_ns", t->late_p99_ns },
		    { "late_p999_ns", t->late_p999_ns },
		    { "late_max_ns", t->late_max_ns },
		    { "depth_asked_max", a->depth_max ? (int64_t)a->depth_max : -1 } };
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.replay/1");
	put_asked(r, state, &j);
	put_counts(r, &j);
	for (unsigned i = 0; i < sizeof opt / sizeof *opt; i++) {
		if (opt[i].n < 0)
			json_null(&j, opt[i].key);
		else
			json_int(&j, opt[i].key, opt[i].n);
	}
	json_num(&j, "span_error_pct", t->span_error_pct);
	json_num(&j, "depth_asked_avg", a->depth_avg);
	json_num(&j, "depth_avg", t->depth_avg);
	json_bool(&j, "valid", t->valid);
	json_str(&j, "why_invalid", t->valid ? NULL : t->why);
	json_end_object(&j);
	buf_str(out, "\n");
}

static void put_drops(const struct replay *r, struct buf *out)
{
	const struct exact_account *a = exact_account(r->exact);
	unsigned n = 0;

	for (unsigned i = 0; i < EXACT_DROPS; i++)
		if (a->dropped[i])
			buf_fmt(out, "%s%s %" PRIu64, n++ ? ", " : " (", exact_drop_names[i],
				a->dropped[i] * r->conf.loops);
	buf_str(out, n ? ")" : "");
}

static void put_late(const struct replay_truth *t, struct buf *out)
{
	const int64_t ns[] = { t->late_p50_ns, t->late_p99_ns, t->late_p999_ns, t->late_max_ns };
	static const char *const name[] = { "p50", "p99", "p99.9", "max" };
	char a[32];

	buf_str(out, "  lateness   ");
	for (unsigned i = 0; i < 4; i++)
		buf_fmt(out, "%s%s %s", i ? ", " : "", name[i],
			ns[i] < 0 ? "n/a" : ns_text(a, sizeof a, (double)ns[i]));
	buf_str(out, "\n");
}

static void put_ops(const struct timed_result *res, struct buf *out)
{
	static const char *const name[] = { "reads", "writes" };
	char a[32], b[32];

	for (unsigned op = 0; op < IO_OPS; op++) {
		const struct tally *t = &res->all.op[op];

		if (!t->ios)
			continue;
		buf_fmt(out, "  %-10s %" PRIu64 " IOs, %" PRIu64 " bytes; mean service %s",
			name[op], t->ios, t->bytes, ns_text(a, sizeof a, hist_mean(t->service)));
		if (t->response)
			buf_fmt(out, ", response %s", ns_text(b, sizeof b, hist_mean(t->response)));
		buf_str(out, "\n");
	}
	if (res->discards || res->flushes)
		buf_fmt(out, "  others     %" PRIu64 " discards, %" PRIu64 " flushes\n",
			res->discards, res->flushes);
	if (res->discards_sync)
		buf_fmt(out,
			"             %" PRIu64
			" discards were issued synchronously (ioctl BLKDISCARD): "
			"other IOs waited meanwhile\n",
			res->discards_sync);
}

static void put_depth(const struct replay *r, struct buf *out)
{
	const struct exact_account *a = exact_account(r->exact);
	const struct timed_result *res = timed_result(r->timed);

	if (a->depth_max)
		buf_fmt(out, "  depth      captured %.2f mean, %u max; ", a->depth_avg,
			a->depth_max);
	else
		buf_str(out, "  depth      captured unknown; ");
	buf_fmt(out, "achieved %.2f mean, %u max\n", r->truth.depth_avg, res->all.inflight_max);
}

static void put_span(const struct replay *r, struct buf *out)
{
	const struct timed_result *res = timed_result(r->timed);

	buf_fmt(out, "  span       %.6f s", (double)res->span_ns / 1e9);
	if (!isnan(r->truth.span_error_pct))
		buf_fmt(out, ", asked %.6f s, error %+.4f %%", (double)res->span_asked_ns / 1e9,
			r->truth.span_error_pct);
	buf_str(out, "\n");
}

static void put_text(const struct replay *r, const char *state, struct buf *out)
{
	const struct timed_result *res = timed_result(r->timed);
	const struct exact_account *a = exact_account(r->exact);
	const struct replay_truth *t = &r->truth;
	char b[32], speed[32];

	buf_fmt(out, "replay of %s on %s, speed %s: %s\n", trace_head(r->trace)->name,
		r->o->dry ? "nothing (dry)" : buf_cstr(&r->dut),
		replay_speed(r, speed, sizeof speed), state);
	buf_fmt(out, "  issued     %" PRIu64 " of %" PRIu64 " records, %" PRIu64 " left out",
		res->issued, t->records, t->dropped);
	put_drops(r, out);
	buf_str(out, "\n");
	if (a->moved || a->rounded)
		buf_fmt(out,
			"  addresses  %" PRIu64 " moved by --fit %s, %" PRIu64
			" widened to whole blocks\n",
			a->moved * r->conf.loops, replay_fit(r), a->rounded * r->conf.loops);
	put_span(r, out);
	put_late(t, out);
	put_depth(r, out);
	buf_fmt(out,
		"  waits      %" PRIu64 " stalls of %s in all, %" PRIu64
		" times not loaded in time; %" PRIu64 " conflicts, %" PRIu64 " held back\n",
		res->stalls, ns_text(b, sizeof b, (double)res->stall_ns), res->starved,
		res->conflicts, res->held);
	put_ops(res, out);
	if (res->all.errors || res->all.short_ios || res->hung)
		buf_fmt(out,
			"  failed     %" PRIu64 " errors, %" PRIu64 " short, %" PRIu64
			" never came back\n",
			res->all.errors, res->all.short_ios, res->hung);
	buf_fmt(out, "  fidelity   %s%s\n", t->valid ? "good" : "NOT VALID: ", t->why);
	if (r->store)
		buf_fmt(out, "run %lld %s: %s\ndatabase %s\n", (long long)r->run, r->uuid, state,
			r->o->db);
}

void replay_print(const struct replay *r, const char *state, struct buf *out)
{
	if (r->o->json)
		put_json(r, state, out);
	else
		put_text(r, state, out);
}
