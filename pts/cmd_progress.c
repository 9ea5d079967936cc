/* SPDX-License-Identifier: MIT */
#include "pts/cmd_progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "pts/base/held.h"
#include "pts/base/units.h"

#define EVERY_NS 1000000000ull
#define FILE_BYTES 4096u

int progress_open(struct progress_out *p, const struct opts *o, const char *uuid, struct err *err)
{
	*p = (struct progress_out){ .fd = -1,
				    .quiet = o->quiet,
				    .tty = !o->progress && isatty(STDERR_FILENO),
				    .json = o->progress && !strcmp(o->progress, "json") };
	p->dut = o->dut.n ? o->dut.v[0] : "";
	p->member = o->member;
	p->tty &= !o->member; /* lines of several runs are told apart, one line of all is not */
	snprintf(p->uuid, sizeof p->uuid, "%s", uuid);
	held_name(p->path, sizeof p->path, o->db, uuid);
	p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p->fd < 0)
		return 0;
	if (flock(p->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	close(p->fd);
	p->fd = -1;
	return err_set(err, -EBUSY, "this run is being worked on by another process");
}

static void json_head(const struct progress_out *p, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "schema", "pts.progress/1");
	json_str(j, "uuid", p->uuid);
	json_str(j, "dut", p->dut);
}

static void live_json(const struct progress_out *p, const struct live *l, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_head(p, &j);
	json_str(&j, "test", l->test);
	json_uint(&j, "test_index", l->test_index);
	json_uint(&j, "tests", l->tests);
	json_str(&j, "phase", l->phase);
	json_int(&j, "round", l->round);
	json_uint(&j, "rounds_max", l->rounds_max);
	json_str(&j, "cell", l->cell);
	json_uint(&j, "step", l->step);
	json_uint(&j, "steps", l->steps);
	json_uint(&j, "cells", l->cells);
	json_num(&j, "iops", l->iops);
	json_num(&j, "bytes_per_s", l->bytes_per_s);
	json_uint(&j, "cell_elapsed_ns", l->cell_elapsed_ns);
	json_uint(&j, "cell_ns", l->cell_ns);
	json_uint(&j, "cell_bytes", l->cell_bytes);
	json_uint(&j, "cell_bytes_total", l->cell_bytes_total);
	json_uint(&j, "left_min_ns", l->left_min_ns);
	json_uint(&j, "left_max_ns", l->left_max_ns);
	json_str(&j, "steady_state", l->steady);
	json_end_object(&j);
}

static void left_text(const struct live *l, struct buf *out)
{
	char lo[40], hi[40];

	fmt_span(lo, sizeof lo, l->left_min_ns);
	fmt_span(hi, sizeof hi, l->left_max_ns);
	buf_fmt(out, strcmp(lo, hi) ? ", %s to %s left" : ", %s left", lo, hi);
}

static void round_text(const struct live *l, struct buf *out)
{
	buf_fmt(out, "%s (%u of %u)", l->test, l->test_index, l->tests);
	if (l->round && l->rounds_max)
		buf_fmt(out, ": round %d of at most %u", l->round, l->rounds_max);
	else if (l->round)
		buf_fmt(out, ": round %d", l->round);
}

/* The whole state in one line, for a terminal and for pts status. */
static void live_text(const struct live *l, struct buf *out)
{
	round_text(l, out);
	buf_fmt(out, ": %s", l->cell);
	if (l->cell_bytes_total)
		buf_fmt(out, ", %.0f %%",
			100.0 * (double)l->cell_bytes / (double)l->cell_bytes_total);
	if (l->iops > 0)
		buf_fmt(out, ", %s%.0f IOPS %.1f MB/s", l->cell_elapsed_ns ? "" : "last cell ",
			l->iops, l->bytes_per_s / 1e6);
	left_text(l, out);
}

/* A line for a log: only where a test or a round begins, and without rates, which are those of the cell before. */
static void turn_text(const struct live *l, struct buf *out)
{
	round_text(l, out);
	if (!l->round)
		buf_fmt(out, ": %s", l->cell);
	left_text(l, out);
	if (l->steady[0])
		buf_fmt(out, "; %s", l->steady);
}

/* One write of a fixed length: a reader sees the old state or the new one. */
static void file_put(struct progress_out *p, const struct buf *json, const struct buf *text)
{
	char block[FILE_BYTES];
	int n = snprintf(block, sizeof block, "%s\n%s\n", buf_cstr(json), buf_cstr(text));

	if (n < 0 || (unsigned)n >= sizeof block)
		return;
	memset(block + n, '\n', sizeof block - (size_t)n);
	if (pwrite(p->fd, block, sizeof block, 0) < 0) {
		close(p->fd); /* a full disk costs the status, never the run */
		p->fd = -1;
	}
}

void progress_live(void *arg, const struct live *l)
{
	struct progress_out *p = arg;
	struct buf json = BUF_INIT, text = BUF_INIT;
	bool turn = l->round != p->last_round || strcmp(p->last_test, l->test);
	uint64_t t = clock_mono_ns();

	if (!turn && p->last_ns && t - p->last_ns < EVERY_NS)
		return;
	p->last_ns = t;
	p->last_round = l->round;
	snprintf(p->last_test, sizeof p->last_test, "%s", l->test);
	live_json(p, l, &json);
	live_text(l, &text);
	if (p->fd >= 0)
		file_put(p, &json, &text);
	if (p->json) {
		fprintf(stderr, "%s\n", buf_cstr(&json));
	} else if (p->tty && !p->quiet) {
		fprintf(stderr, "\r\033[K%s", buf_cstr(&text));
		p->line_open = true;
	} else if (turn && !p->quiet && l->step < l->steps) { /* not for the END */
		buf_release(&text);
		turn_text(l, &text);
		fprintf(stderr, "%s%s%s\n", p->member ? p->member : "", p->member ? ": " : "",
			buf_cstr(&text));
	}
	buf_release(&json);
	buf_release(&text);
}

/* One line, or one object, about a test. */
static void say(struct progress_out *p, const char *test, const char *key, const char *text)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	progress_break(p);
	if (p->json) {
		json_head(p, &j);
		json_str(&j, "test", test);
		json_str(&j, key, text);
		json_end_object(&j);
	} else if (!p->quiet) {
		buf_fmt(&b, "%s%s%s: %s", p->member ? p->member : "", p->member ? ": " : "", test,
			text);
	}
	if (b.len)
		fprintf(stderr, "%s\n", buf_cstr(&b));
	buf_release(&b);
}

void progress_verdict(struct progress_out *p, const char *test, const char *verdict)
{
	say(p, test, "verdict", verdict);
}

void progress_warn(void *arg, const char *test, const char *text)
{
	say(arg, test, "warning", text);
}

void progress_purge(struct progress_out *p, const char *text)
{
	if (!p->tty || p->quiet) {
		say(p, "purge", "purge", text);
		return;
	}
	fprintf(stderr, "\r\033[Kpurge: %s", text);
	p->line_open = true;
}

void progress_break(struct progress_out *p)
{
	if (p->line_open)
		fputc('\n', stderr);
	p->line_open = false;
}

void progress_close(struct progress_out *p)
{
	progress_break(p);
	if (p->fd < 0)
		return;
	unlink(p->path);
	close(p->fd);
	p->fd = -1;
}

bool progress_read(const char *db, const char *uuid, struct buf *ret_json, struct buf *ret_text)
{
	char path[4096], block[FILE_BYTES + 1], *nl, *end;
	int fd;
	ssize_t n;
	bool held;

	held_name(path, sizeof path, db, uuid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) < 0;
	n = pread(fd, block, FILE_BYTES, 0);
	close(fd);
	block[n > 0 ? n : 0] = 0;
	nl = strchr(block, '\n');
	if (!nl)
		return held;
	buf_add(ret_json, block, (size_t)(nl - block));
	end = strchr(nl + 1, '\n');
	buf_add(ret_text, nl + 1, end ? (size_t)(end - nl - 1) : 0);
	return held;
}

const char *progress_state(const char *db, const char *uuid, const char *state)
{
	return strcmp(state, "running") || held_run(db, uuid) ? state : "interrupted";
}
