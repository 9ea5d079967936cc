/* SPDX-License-Identifier: MIT */
/*
 * The kernel's blk tracer as a stream of blktrace records. There is one for the whole machine, with the settings of the top
 * instance: it is used only when nobody else uses that, and all is put back as it was. What was there before is the name of
 * an instance that we hold meanwhile, so that whoever comes after a kill can put it back too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "replay/record_priv.h"

#define STREAM_BYTES ((size_t)256 << 10)

struct blk {
	int root, pipe;
	char instance[96]; /* whose name tells what to put back */
	char disk[RECORD_TARGETS_MAX][64]; /* with the tracer on */
	unsigned n_disks;
	uint64_t lost_before;
	unsigned char *buf;
	size_t n;
};

/* ---- what was there before ---- */

struct before {
	char clock[24];
	uint64_t buffer_kb, on, bin, context;
};

/* "[local] global counter": the one in brackets. */
static void chosen(const char *line, char *ret, size_t n)
{
	const char *p = strchr(line, '[');

	snprintf(ret, n, "%.*s", p ? (int)strcspn(p + 1, "]") : 0, p ? p + 1 : "");
}

static uint64_t number_of(int root, const char *file)
{
	char line[64];
	const char *p = line;

	if (!tfs_line(root, file, line, sizeof(line)))
		return 0;
	if (strstr(line, "expanded: ")) /* "7 (expanded: 1410)" */
		p = strstr(line, "expanded: ") + 10;
	return strtoull(p, NULL, 10);
}

static void look(int root, struct before *ret)
{
	char line[160];

	*ret = (struct before){ .buffer_kb = number_of(root, "buffer_size_kb"),
				.on = number_of(root, "tracing_on"),
				.bin = number_of(root, "options/bin"),
				.context = number_of(root, "options/context-info") };
	(void)tfs_line(root, "trace_clock", line, sizeof(line));
	chosen(line, ret->clock, sizeof(ret->clock));
}

static void name_before(const struct before *b, char *ret, size_t n)
{
	snprintf(ret, n, ".%s.%llu.%llu%llu%llu", b->clock, (unsigned long long)b->buffer_kb,
		 (unsigned long long)b->on, (unsigned long long)b->bin,
		 (unsigned long long)b->context);
}

/* "ptsblk.PID.CLOCK.KB.110" and maybe "-1" */
static bool parse_before(const char *name, struct before *ret)
{
	unsigned long long kb;
	char on, bin, context;

	if (sscanf(name, BLK_PREFIX ".%*[0-9].%23[^.].%llu.%c%c%c", ret->clock, &kb, &on, &bin,
		   &context) != 5)
		return false;
	ret->buffer_kb = kb;
	ret->on = on == '1';
	ret->bin = bin == '1';
	ret->context = context == '1';
	return true;
}

static void disk_tracer(const char *disk, const char *file, const char *text, int *ret_rc)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/trace/%s", disk, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	*ret_rc = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
}

static void put_back(int root, const struct before *b)
{
	char kb[32];

	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)b->buffer_kb);
	(void)tfs_write(root, "tracing_on", "0");
	(void)tfs_write(root, "current_tracer", "nop");
	(void)tfs_write(root, "options/bin", b->bin ? "1" : "0");
	(void)tfs_write(root, "options/context-info", b->context ? "1" : "0");
	if (b->buffer_kb)
		(void)tfs_write(root, "buffer_size_kb", kb);
	if (b->clock[0])
		(void)tfs_write(root, "trace_clock", b->clock);
	(void)tfs_write(root, "tracing_on", b->on ? "1" : "0");
}

static bool tracer_is(int root, const char *name)
{
	char line[64];

	return tfs_line(root, "current_tracer", line, sizeof(line)) && strcmp(line, name) == 0;
}

void blk_restore(int root, const char *instance)
{
	struct before b = { .on = 1 };
	DIR *d;
	struct dirent *e;

	if (!(tracer_is(root, "blk") || tracer_is(root, "nop")) || !parse_before(instance, &b))
		return;
	put_back(root, &b);
	d = opendir("/sys/block");
	while (d && (e = readdir(d))) {
		char path[300], on[2] = "";
		int fd, rc;

		snprintf(path, sizeof(path), "/sys/block/%s/trace/enable", e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (read(fd, on, 1) == 1 && on[0] == '1')
			disk_tracer(e->d_name, "enable", "0", &rc);
		close(fd);
	}
	if (d)
		closedir(d);
}

/* ---- setting up ---- */

static int check_unused(int root, struct err *err)
{
	char line[96];

	if (flock(root, LOCK_EX | LOCK_NB))
		return err_set(err, -EBUSY,
			       "another capture uses the kernel's only blk tracer (--via events "
			       "shares)");
	if (!tfs_line(root, "current_tracer", line, sizeof(line)))
		return err_set(err, -ENOSYS, "tracefs: current_tracer cannot be read");
	if (strcmp(line, "nop") != 0)
		return err_set(err, -EBUSY,
			       "the kernel's tracer is in use ('%s'): --via events shares", line);
	if (tfs_line(root, "set_event", line, sizeof(line)) && line[0])
		return err_set(err, -EBUSY,
			       "the kernel's top trace buffer is in use (event %s): --via events "
			       "shares",
			       line);
	return 0;
}

static int enable_disk(struct blk *b, const struct record_target *t, struct err *err)
{
	int rc;

	for (unsigned i = 0; i < b->n_disks; i++)
		if (strcmp(b->disk[i], t->disk_name) == 0)
			return 0;
	disk_tracer(t->disk_name, "enable", "1", &rc);
	if (rc)
		return err_set(err, rc == -EBUSY ? rc : -ENOSYS,
			       "%s: its blk tracer cannot be switched on: %s", t->path,
			       strerror(-rc));
	memcpy(b->disk[b->n_disks++], t->disk_name, sizeof(b->disk[0]));
	disk_tracer(t->disk_name, "act_mask", t->bio ? "queue,complete" : "issue,complete,requeue",
		    &rc);
	return rc ? err_set(err, -ENOSYS, "%s: its blk tracer cannot be told what to record: %s",
			    t->path, strerror(-rc))
		  : 0;
}

static int set_up(struct blk *b, const struct record_opts *o, uint64_t *ret_buffer, struct err *err)
{
	int rc = tfs_set(b->root, "tracing_on", "0", err);

	if (!rc)
		rc = tfs_set(b->root, "trace_clock", "mono", err);
	if (!rc)
		rc = tfs_buffer(b->root, o->buffer_bytes, ret_buffer, err);
	if (!rc)
		rc = tfs_set(b->root, "options/bin", "1", err);
	if (!rc)
		rc = tfs_set(b->root, "options/context-info", "0", err);
	for (unsigned i = 0; !rc && i < o->n_targets; i++)
		rc = enable_disk(b, &o->target[i], err);
	if (!rc)
		rc = tfs_set(b->root, "current_tracer", "blk", err);
	if (rc)
		return rc;
	b->pipe = openat(b->root, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (b->pipe < 0)
		return err_set(err, -errno, "tracefs: trace_pipe: %s", strerror(errno));
	b->lost_before = tfs_lost(b->root);
	return tfs_set(b->root, "tracing_on", "1", err);
}

int blk_open(struct tracefs *t, const struct record_opts *o, struct blk **ret, uint64_t *ret_buffer,
	     struct err *err)
{
	struct before before;
	char suffix[64];
	struct blk *b;
	int rc = check_unused(t->root, err);

	if (rc)
		return rc;
	look(t->root, &before);
	name_before(&before, suffix, sizeof(suffix));
	rc = tracefs_instance(t, BLK_PREFIX, suffix, err);
	if (rc)
		return rc;
	(void)tfs_write(t->inst, "buffer_size_kb", "4"); /* it only bears a name */
	b = calloc(1, sizeof(*b));
	if (!b || !(b->buf = malloc(STREAM_BYTES))) {
		free(b);
		return err_set(err, -ENOMEM, "no memory to record");
	}
	b->root = t->root;
	b->pipe = -1;
	memcpy(b->instance, t->name, sizeof(b->instance));
	rc = set_up(b, o, ret_buffer, err);
	if (rc) {
		blk_close(b);
		return rc;
	}
	*ret = b;
	return 0;
}

void blk_close(struct blk *b)
{
	struct before before;
	int rc;

	if (!b)
		return;
	if (b->pipe >= 0)
		close(b->pipe);
	if (!parse_before(b->instance, &before))
		BUG("the instance %s tells nothing", b->instance);
	put_back(b->root, &before);
	for (unsigned i = 0; i < b->n_disks; i++)
		disk_tracer(b->disk[i], "enable", "0", &rc);
	free(b->buf);
	free(b);
}

int blk_stop(struct blk *b, struct err *err)
{
	return tfs_set(b->root, "tracing_on", "0", err);
}

uint64_t blk_lost(const struct blk *b)
{
	uint64_t lost = tfs_lost(b->root);

	return lost > b->lost_before ? lost - b->lost_before : 0;
}

void blk_wait(struct blk *b, unsigned ms)
{
	struct pollfd p = { .fd = b->pipe, .events = POLLIN };

	(void)poll(&p, 1, (int)ms);
}

/* ---- reading ---- */

static bool wanted(const struct blk_io_trace *t)
{
	uint32_t act = t->action & 0xff;

	if (t->action & BLK_TC_ACT(BLK_TC_NOTIFY))
		return false;
	return act == __BLK_TA_QUEUE || act == __BLK_TA_ISSUE || act == __BLK_TA_COMPLETE ||
	       act == __BLK_TA_REQUEUE;
}

/*
 * One thing at the front of the buffer: a record, or what the kernel puts between records as text, "CPU:1 [LOST 5 EVENTS]".
 * Its bytes; 0: more must come first; -EIO.
 */
static int next(struct blk *b, size_t at, struct source_sink *s, struct err *err)
{
	const unsigned char *p = b->buf + at;
	size_t left = b->n - at;
	struct blk_io_trace t;
	const unsigned char *end;
	int rc;

	if (left >= 4 && memcmp(p, "CPU:", 4) == 0) {
		end = memchr(p, '\n', left);
		return end ? (int)(end - p) + 1 : 0;
	}
	if (left < sizeof(t))
		return 0;
	memcpy(&t, p, sizeof(t));
	if (t.magic != (BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION))
		return err_set(err, -EIO,
			       "the blk tracer's stream is not of version 7 (%08x): --via events "
			       "does not need it",
			       t.magic);
	if (left < sizeof(t) + t.pdu_len)
		return 0;
	left = sizeof(t) + t.pdu_len;
	t.pdu_len = 0;
	t.action &= ~(uint32_t)__BLK_TA_CGROUP;
	rc = wanted(&t) ? sink_record(s, &t, err) : 0;
	return rc ? rc : (int)left;
}

static int parse(struct blk *b, struct source_sink *s, struct err *err)
{
	size_t at = 0;
	int n;

	while ((n = next(b, at, s, err)) > 0)
		at += (size_t)n;
	memmove(b->buf, b->buf + at, b->n - at);
	b->n -= at;
	return n;
}

int blk_read(struct blk *b, struct source_sink *s, struct err *err)
{
	for (;;) {
		ssize_t k = read(b->pipe, b->buf + b->n, STREAM_BYTES - b->n);
		int rc;

		if (k == 0 || (k < 0 && (errno == EAGAIN || errno == EINTR)))
			return 0;
		if (k < 0)
			return err_set(err, -EIO, "tracefs: trace_pipe: %s", strerror(errno));
		b->n += (size_t)k;
		rc = parse(b, s, err);
		if (rc < 0)
			return rc;
	}
}
