/* SPDX-License-Identifier: MIT */
/* pts capture --dut DEV --for 30m -o CAP: record the block IO of a device in use. Nothing is written to the device. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "pts/cmd_trace.h"
#include "replay/format.h"
#include "replay/record.h"

static volatile sig_atomic_t stop_asked;

static void on_signal(int sig)
{
	stop_asked = 1;
}

/* @again: a further one is deadly. */
static void signals(bool again)
{
	struct sigaction old, sa = { .sa_handler = again ? SIG_DFL : on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN) /* nohup is honoured */
		sigaction(SIGHUP, &sa, NULL);
}

struct capture_job {
	struct record_target target[RECORD_TARGETS_MAX];
	struct record_opts rec;
	struct record_result result;
	bool shown; /* a progress line stands on the terminal */
};

/* ---- the command line ---- */

static int refuse_kind(const struct opts *o, const char *dut)
{
	static const struct {
		const char *prefix, *why;
	} row[] = {
		{ "file:", "a file has no block events: name the block device that it lies on" },
		{ "sim:", "a simulated drive does no IO that could be recorded" },
		{ "set:", "name the devices one by one: --dut A --dut B" },
		{ "fault:", "that is for runs: name the device itself" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (strncmp(dut, row[i].prefix, strlen(row[i].prefix)) == 0)
			return cmd_usage(o, "%s: %s", dut, row[i].why);
	return 0;
}

static int choose_targets(const struct opts *o, struct capture_job *j)
{
	struct err err = { "" };
	int rc = 0;

	if (!o->dut.n)
		return cmd_usage(o, "of which device? --dut /dev/NAME (pts devices)");
	if (o->dut.n > RECORD_TARGETS_MAX)
		return cmd_usage(o, "at most %d devices at once", RECORD_TARGETS_MAX);
	for (unsigned i = 0; i < o->dut.n; i++) {
		rc = refuse_kind(o, o->dut.v[i]);
		if (rc)
			return rc;
		rc = record_target_open(o->dut.v[i], &j->target[i], &err);
		if (rc)
			return cmd_fail(o, EXIT_USAGE, &err);
	}
	rc = record_targets_check(j->target, o->dut.n, &err);
	j->rec.target = j->target;
	j->rec.n_targets = o->dut.n;
	return rc ? cmd_fail(o, EXIT_USAGE, &err) : 0;
}

#define BUFFER_MIN ((uint64_t)4 << 10)
#define BUFFER_MAX ((uint64_t)4 << 30)

static int choose(const struct opts *o, struct capture_job *j)
{
	if (!o->output)
		return cmd_usage(o, "where to? -o CAP");
	if (o->for_time && (parse_time(o->for_time, &j->rec.for_ns) || !j->rec.for_ns))
		return cmd_usage(o, "--for takes a time such as 30m, not '%s'", o->for_time);
	if (o->buffer && (parse_size(o->buffer, &j->rec.buffer_bytes) ||
			  j->rec.buffer_bytes < BUFFER_MIN || j->rec.buffer_bytes > BUFFER_MAX))
		return cmd_usage(o, "--buffer takes a size from 4k to 4g, not '%s'", o->buffer);
	j->rec.via = o->via && strcmp(o->via, "blk") == 0 ? RECORD_BLK : RECORD_EVENTS;
	j->rec.out = o->output;
	return choose_targets(o, j);
}

/* ---- the file ---- */

/* What was recorded cannot be had again: never over a file that is there. */
static int open_output(const struct opts *o, struct capture_job *j)
{
	struct err err = { "" };
	struct stat st;
	int on;

	j->rec.fd = open(o->output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (j->rec.fd < 0) {
		err_set(&err, -errno, "%s: %s", o->output,
			errno == EEXIST ? "is there already; a recording never replaces a file"
					: strerror(errno));
		return cmd_fail(o, EXIT_USAGE, &err);
	}
	on = fstat(j->rec.fd, &st) ? -1 : record_lies_on(j->target, j->rec.n_targets, st.st_dev);
	if (on >= 0 && !o->quiet)
		fprintf(stderr,
			"pts: capture: note: %s lies on %s: the writes of the recording itself "
			"will be in it\n",
			o->output, j->target[on].path);
	return 0;
}

/* An empty recording, or one that never began, leaves no file. */
static void drop_output(const struct capture_job *j)
{
	unlink(j->rec.out);
}

/* ---- talk ---- */

static void progress(void *arg, const struct record_state *s)
{
	struct capture_job *j = arg;
	char span[32];

	if (!s->elapsed_ns && !j->rec.for_ns)
		fprintf(stderr, "pts: capture: recording; Ctrl-C ends it\n");
	else if (!s->elapsed_ns)
		fprintf(stderr, "pts: capture: recording for %s; Ctrl-C ends it earlier\n",
			fmt_span(span, sizeof(span), j->rec.for_ns));
	if (!s->elapsed_ns || !isatty(STDERR_FILENO))
		return;
	j->shown = true;
	fprintf(stderr, "\r%s: %" PRIu64 " IOs, %" PRIu64 " events lost   ",
		fmt_span(span, sizeof(span), s->elapsed_ns), s->ios, s->lost);
}

static void end_progress(struct capture_job *j)
{
	if (j->shown)
		fprintf(stderr, "\n");
	j->shown = false;
}

static double cpu_pct(const struct record_result *r)
{
	return r->elapsed_ns ? 100.0 * (double)r->cpu_ns / (double)r->elapsed_ns : 0;
}

static void print_text(const struct capture_job *j, const struct trace_head *h, struct buf *out)
{
	const struct record_result *r = &j->result;
	char span[32], size[32];

	trace_stat_print(h, false, out);
	buf_str(out, "recorded    ");
	for (unsigned i = 0; i < j->rec.n_targets; i++)
		buf_fmt(out, " %s (%s)", j->target[i].path, j->target[i].bio ? "bios" : "requests");
	buf_fmt(out, " for %s\n", fmt_span(span, sizeof(span), r->elapsed_ns));
	buf_fmt(out, "by           %s; %s of it a CPU\n", r->path,
		fmt_block(size, sizeof(size), r->buffer_bytes));
	buf_fmt(out, "cost         %.2f %% of one core; %" PRIu64 " events lost\n", cpu_pct(r),
		r->lost);
}

static void print_json(const struct capture_job *j, const struct trace_head *h, struct buf *out)
{
	const struct record_result *r = &j->result;
	struct json js = JSON_INIT(out);
	struct buf stat = BUF_INIT;

	json_object(&js, NULL);
	json_str(&js, "schema", "pts.capture/1");
	json_str(&js, "output", j->rec.out);
	json_array(&js, "devices");
	for (unsigned i = 0; i < j->rec.n_targets; i++) {
		json_object(&js, NULL);
		json_str(&js, "path", j->target[i].path);
		json_str(&js, "name", j->target[i].name);
		json_str(&js, "events", j->target[i].bio ? "bio" : "request");
		json_end_object(&js);
	}
	json_end_array(&js);
	json_str(&js, "via", j->rec.via == RECORD_BLK ? "blk" : "events");
	json_uint(&js, "elapsed_ns", r->elapsed_ns);
	json_uint(&js, "ios", r->ios);
	json_uint(&js, "records", r->records);
	json_uint(&js, "lost", r->lost);
	json_num(&js, "cpu_pct", cpu_pct(r));
	json_uint(&js, "buffer_bytes", r->buffer_bytes);
	trace_stat_print(h, true, &stat);
	stat.s[stat.len - 1] = '\0'; /* its newline */
	json_raw(&js, "stat", buf_cstr(&stat));
	json_end_object(&js);
	buf_str(out, "\n");
	buf_release(&stat);
}

static int tell(const struct opts *o, const struct capture_job *j)
{
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct trace *t;
	int rc = trace_open(o->output, false, &t, &err);

	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	(o->json ? print_json : print_text)(j, trace_head(t), &out);
	trace_warn(o, trace_head(t));
	trace_close(t);
	rc = cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return rc;
}

/* ---- the whole ---- */

/* The records become a capture, which takes their place; until then they stay as they are. */
static int replace(const struct opts *o, struct err *err)
{
	const struct import_opts choice = { .format = "blktrace", .name = o->name };
	struct buf next = BUF_INIT;
	int rc;

	buf_fmt(&next, "%s.%ld.new", o->output, (long)getpid());
	rc = import_file(o->output, &choice, buf_cstr(&next), NULL, err);
	if (!rc && rename(buf_cstr(&next), o->output)) {
		rc = err_set(err, -errno, "%s: %s", o->output, strerror(errno));
		unlink(buf_cstr(&next));
	}
	buf_release(&next);
	return rc;
}

static int convert(const struct opts *o, struct capture_job *j)
{
	struct err err = { "" };
	int rc;

	if (!j->result.ios) {
		drop_output(j);
		err_set(&err, -ENODATA, "no IO was seen: no capture is written");
		return cmd_fail(o, EXIT_BAD, &err);
	}
	rc = replace(o, &err);
	if (rc) {
		err_prefix(&err, rc, "the recording is whole, pts import %s -o CAP reads it",
			   o->output);
		return cmd_fail(o, EXIT_DEVICE, &err);
	}
	return tell(o, j);
}

static int record_it(const struct opts *o, struct capture_job *j)
{
	struct err err = { "" };
	int rc;

	signals(false);
	rc = record_run(&j->rec, &j->result, &err);
	signals(true);
	end_progress(j);
	close(j->rec.fd);
	if (!rc)
		return convert(o, j);
	if (j->result.records)
		err_prefix(&err, rc,
			   "what was recorded until then is kept, pts import %s -o CAP reads it",
			   o->output);
	else
		drop_output(j);
	return cmd_fail(o, rc == -EPERM ? EXIT_USAGE : EXIT_DEVICE, &err);
}

int cmd_capture(const struct opts *o)
{
	struct capture_job *j = calloc(1, sizeof(*j));
	int rc;

	if (!j)
		BUG("no memory");
	j->rec.stop = &stop_asked;
	j->rec.progress = o->quiet ? NULL : progress;
	j->rec.arg = j;
	rc = choose(o, j);
	if (!rc)
		rc = open_output(o, j);
	if (!rc)
		rc = record_it(o, j);
	free(j);
	return rc;
}
