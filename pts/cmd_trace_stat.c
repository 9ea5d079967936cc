/* SPDX-License-Identifier: MIT */
/* What is known of a capture without looking at its IOs. */
#include <inttypes.h>
#include <stdio.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_trace.h"

static void stat_json(const struct trace_head *h, struct buf *out)
{
	const struct trace_report *r = &h->report;
	struct json j = JSON_INIT(out);
	char digest[20];

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.trace.stat/1");
	json_str(&j, "name", h->name);
	json_str(&j, "source", r->source);
	json_str(&j, "format", r->format);
	json_str(&j, "event", r->event);
	json_uint(&j, "records", r->records);
	json_uint(&j, "ios", r->ios[TRACE_READ] + r->ios[TRACE_WRITE]);
	json_uint(&j, "reads", r->ios[TRACE_READ]);
	json_uint(&j, "writes", r->ios[TRACE_WRITE]);
	json_uint(&j, "discards", r->ios[TRACE_DISCARD]);
	json_uint(&j, "flushes", r->ios[TRACE_FLUSH]);
	json_uint(&j, "bytes_read", r->bytes[TRACE_READ]);
	json_uint(&j, "bytes_written", r->bytes[TRACE_WRITE]);
	json_uint(&j, "bytes_discarded", r->bytes[TRACE_DISCARD]);
	json_uint(&j, "first_ns", h->first_ns);
	json_uint(&j, "duration_ns", h->duration_ns);
	json_str(&j, "wall_clock_utc", r->wall_clock_utc[0] ? r->wall_clock_utc : NULL);
	json_str(&j, "clock", r->clock);
	json_str(&j, "note", r->note[0] ? r->note : NULL);
	json_uint(&j, "devices", h->n_devices);
	json_array(&j, "device_list");
	for (unsigned i = 0; i < h->n_devices; i++) {
		json_object(&j, NULL);
		json_str(&j, "name", h->device[i].name);
		json_uint(&j, "ios", h->device[i].ios);
		json_uint(&j, "end_bytes", h->device[i].end_bytes);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_uint(&j, "matched", r->matched);
	json_uint(&j, "unmatched", r->unmatched_starts);
	json_uint(&j, "completions_without_start", r->unmatched_ends);
	json_uint(&j, "errors", r->errors);
	json_uint(&j, "lost", r->lost);
	json_uint(&j, "reordered", r->reordered);
	json_object(&j, "skipped");
	for (unsigned i = 0; i < TRACE_SKIP_REASONS && r->skipped[i].reason[0]; i++)
		json_uint(&j, r->skipped[i].reason, r->skipped[i].n);
	json_end_object(&j);
	snprintf(digest, sizeof(digest), "%016" PRIx64, h->digest);
	json_str(&j, "digest", digest);
	json_end_object(&j);
	buf_str(out, "\n");
}

static void stat_text(const struct trace_head *h, struct buf *out)
{
	const struct trace_report *r = &h->report;
	uint64_t ios = r->ios[TRACE_READ] + r->ios[TRACE_WRITE];
	char a[32], b[32];

	buf_fmt(out, "capture      %s, from %s (%s)\n", h->name, r->source, r->format);
	buf_fmt(out, "records      %" PRIu64 " in the source; the IO is its %s\n", r->records,
		r->event);
	buf_fmt(out,
		"IOs          %" PRIu64 ": %" PRIu64 " reads of %s, %" PRIu64 " writes of %s\n",
		ios, r->ios[TRACE_READ], fmt_capacity(a, sizeof(a), r->bytes[TRACE_READ]),
		r->ios[TRACE_WRITE], fmt_capacity(b, sizeof(b), r->bytes[TRACE_WRITE]));
	buf_fmt(out, "besides      %" PRIu64 " discards of %s, %" PRIu64 " flushes\n",
		r->ios[TRACE_DISCARD], fmt_capacity(a, sizeof(a), r->bytes[TRACE_DISCARD]),
		r->ios[TRACE_FLUSH]);
	buf_fmt(out, "duration     %.9f s", (double)h->duration_ns / 1e9);
	if (h->duration_ns)
		buf_fmt(out, ", %.1f IO/s", (double)ios / ((double)h->duration_ns / 1e9));
	buf_fmt(out, "; clock: %s\n", r->clock);
	if (r->wall_clock_utc[0])
		buf_fmt(out, "began        %s\n", r->wall_clock_utc);
	buf_fmt(out, "devices      %u", h->n_devices);
	for (unsigned i = 0; i < h->n_devices && i < 8; i++)
		buf_fmt(out, "%s %s (%" PRIu64 " IOs, up to %s)", i ? "," : ":", h->device[i].name,
			h->device[i].ios, fmt_capacity(a, sizeof(a), h->device[i].end_bytes));
	buf_fmt(out, "%s\n", h->n_devices > 8 ? ", ..." : "");
	buf_fmt(out,
		"completions  %" PRIu64 " matched, %" PRIu64 " IOs without one, %" PRIu64
		" without an IO, %" PRIu64 " with an error\n",
		r->matched, r->unmatched_starts, r->unmatched_ends, r->errors);
	buf_fmt(out,
		"order        %" PRIu64 " records put back into order; %" PRIu64 " events lost\n",
		r->reordered, r->lost);
	for (unsigned i = 0; i < TRACE_SKIP_REASONS && r->skipped[i].reason[0]; i++)
		buf_fmt(out, "%s%" PRIu64 " %s\n", i ? "             " : "left out     ",
			r->skipped[i].n, r->skipped[i].reason);
	if (r->note[0])
		buf_fmt(out, "note         %s\n", r->note);
	buf_fmt(out, "digest       %016" PRIx64 "\n", h->digest);
}

void trace_stat_print(const struct trace_head *h, bool json, struct buf *out)
{
	(json ? stat_json : stat_text)(h, out);
}

static void warn(const struct opts *o, const char *text)
{
	if (!o->quiet)
		fprintf(stderr, "pts: %s: note: %s\n", o->command, text);
}

#define MONTH_NS ((uint64_t)30 * 86400 * 1000000000)

void trace_warn(const struct opts *o, const struct trace_head *h)
{
	const struct trace_report *r = &h->report;

	if (r->lost)
		warn(o, "the source says that events were lost: counts and depths are too low");
	if (!h->has_response)
		warn(o, "no completions: the native queue depth is unknown (--assume-rt TIME "
			"assumes a response time)");
	else if (r->unmatched_starts > (r->ios[TRACE_READ] + r->ios[TRACE_WRITE]) / 100)
		warn(o, "more than 1 % of the IOs have no completion: the depth is too low");
	if (h->n > 1 && h->duration_ns < 1000000)
		warn(o, "shorter than 1 ms: is the time unit right (--time-unit)?");
	if (h->duration_ns > MONTH_NS)
		warn(o, "longer than 30 days: is the time unit right (--time-unit)?");
}
