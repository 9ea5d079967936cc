/* SPDX-License-Identifier: MIT */
/*
 * The nvme driver's events in the kernel's trace as text: nvme_setup_cmd and nvme_complete_rq, one found by the other by
 * disk, queue and command id. Where block events are there as well they are the same IOs, and the ftrace format takes those.
 */
#include <string.h>

#include "replay/fields.h"
#include "replay/ftrace_line.h"

#define LBA_DEFAULT 512u

/* Commands that do not count and have not completed: so many are remembered, the completions of others are unmatched. */
#define IGNORED_MAX 256u

struct reader {
	struct import *im;
	const struct input *in;
	uint32_t lba_bytes;
	struct {
		uint64_t key;
		uint16_t dev;
	} ignored[IGNORED_MAX];
	unsigned n_ignored;
};

static bool has(const char *head, size_t n, const char *word)
{
	return memmem(head, n, word, strlen(word)) != NULL;
}

static int detect(const char *head, size_t n)
{
	return has(head, n, "nvme_setup_cmd: ") && !has(head, n, "block_rq_issue: ") &&
			       !has(head, n, "block_bio_queue: ")
		       ? 97
		       : 0;
}

/* "name=123" anywhere in the line. */
static bool take_key(const char *line, const char *name, uint64_t *ret)
{
	const char *p = strstr(line, name);

	if (!p)
		return false;
	p += strlen(name);
	return take_u64(&p, ret);
}

/* "nvme0: disk=nvme0n1, qid=1, cmdid=37327": 1; 0 an admin command, which has no disk; -1 not such. */
static int take_command(struct reader *r, const char *line, struct import_event *ev,
			struct err *err)
{
	const char *disk = strstr(line, "disk=");
	uint64_t qid, cmdid;
	char name[64];
	size_t n = 0;
	int rc;

	if (!take_key(line, "qid=", &qid) || !take_key(line, "cmdid=", &cmdid) ||
	    qid > UINT16_MAX || cmdid > UINT16_MAX)
		return import_bad(r->im, r->in, err, "event", "the event cannot be read: '%.80s'",
				  line);
	if (!disk || qid == 0) {
		import_skip(r->im, "admin command");
		return 0;
	}
	for (disk += 5; n + 1 < sizeof(name) && disk[n] && !strchr(", ", disk[n]); n++)
		name[n] = disk[n];
	name[n] = '\0';
	ev->key = qid << 16 | cmdid;
	rc = import_device(r->im, name, &ev->dev, err);
	return rc ? rc : 1;
}

static void ignore(struct reader *r, const struct import_event *ev)
{
	if (r->n_ignored == IGNORED_MAX)
		memmove(r->ignored, r->ignored + 1, --r->n_ignored * sizeof(r->ignored[0]));
	r->ignored[r->n_ignored].key = ev->key;
	r->ignored[r->n_ignored++].dev = ev->dev;
}

static bool was_ignored(struct reader *r, const struct import_event *ev)
{
	for (unsigned i = 0; i < r->n_ignored; i++)
		if (r->ignored[i].key == ev->key && r->ignored[i].dev == ev->dev) {
			r->ignored[i] = r->ignored[--r->n_ignored];
			return true;
		}
	return false;
}

static int read_setup(struct reader *r, const char *body, struct import_event *ev, struct err *err)
{
	const char *cmd = strstr(body, "cmd=(");
	uint64_t slba, blocks;

	if (!cmd)
		return import_bad(r->im, r->in, err, "event", "names no command: '%.80s'", body);
	cmd += strlen("cmd=(");
	ev->act = EVENT_ISSUE;
	if (strncmp(cmd, "nvme_cmd_flush", 14) == 0) {
		ev->op = TRACE_FLUSH; /* counts at once, its completion means nothing */
		ignore(r, ev);
		return import_event(r->im, r->in, ev, err);
	}
	if (strncmp(cmd, "nvme_cmd_read ", 14) == 0)
		ev->op = TRACE_READ;
	else if (strncmp(cmd, "nvme_cmd_write ", 15) == 0)
		ev->op = TRACE_WRITE;
	if (ev->op == TRACE_OTHER) {
		ignore(r, ev);
		import_skip(r->im, strncmp(cmd, "nvme_cmd_dsm", 12) == 0
					   ? "trim: its size is not recorded"
					   : "other nvme command");
		return 0;
	}
	if (!take_key(cmd, "slba=", &slba) || !take_key(cmd, "len=", &blocks) ||
	    blocks > UINT16_MAX || __builtin_mul_overflow(slba, r->lba_bytes / 512, &ev->sector))
		return import_bad(r->im, r->in, err, "event", "has no place: '%.80s'", cmd);
	ev->bytes = (blocks + 1) * r->lba_bytes; /* counted from zero */
	return import_event(r->im, r->in, ev, err);
}

static int read_complete(struct reader *r, const char *body, struct import_event *ev,
			 struct err *err)
{
	const char *p = strstr(body, "status=");
	uint64_t status = 0;

	if (was_ignored(r, ev)) {
		import_skip(r->im, "completion of what does not count");
		return 0;
	}
	if (p)
		p += strlen("status=");
	if (!p || !take_hex(&p, &status))
		return import_bad(r->im, r->in, err, "event", "has no status: '%.80s'", body);
	ev->act = EVENT_COMPLETE;
	ev->bytes = UINT64_MAX;
	ev->error = status ? -5 : 0;
	return import_event(r->im, r->in, ev, err);
}

static int read_event(struct reader *r, const char *p, struct import_event *ev, struct err *err)
{
	int (*read)(struct reader *, const char *, struct import_event *, struct err *) = NULL;
	char other[40];
	size_t n;
	int rc;

	(void)(take_word(&p, "nvme:") || take_word(&p, "block:"));
	if (take_word(&p, "nvme_setup_cmd: "))
		read = read_setup;
	else if (take_word(&p, "nvme_complete_rq: "))
		read = read_complete;
	if (!read) {
		n = strcspn(p, ": ");
		n = n < sizeof(other) ? n : sizeof(other) - 1;
		memcpy(other, p, n);
		other[n] = '\0';
		import_skip(r->im, n ? other : "no event");
		return 0;
	}
	import_record(r->im);
	rc = take_command(r, p, ev, err);
	return rc == 1 ? read(r, p, ev, err) : rc;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	uint32_t lba = import_options(im)->lba_bytes;
	struct reader r = { .im = im, .in = in[0], .lba_bytes = lba ? lba : LBA_DEFAULT };
	char *line;
	size_t len;
	int rc;

	import_clock(im, "us of the trace clock");
	if (!lba)
		import_note(im, "blocks of %u bytes are taken for granted (--lba says other ones)",
			    LBA_DEFAULT);
	while ((rc = input_line(in[0], &line, &len, err)) == 1) {
		struct ftrace_head h;
		const char *p = line;

		if (!ftrace_head(&p, &h)) {
			rc = ftrace_other(im, in[0], line, err);
		} else {
			struct import_event ev = { .time_ns = h.time_ns,
						   .cpu = (uint32_t)h.cpu,
						   .pid = (uint32_t)h.pid,
						   .seq = (uint32_t)input_lineno(in[0]),
						   .op = TRACE_OTHER };

			rc = read_event(&r, p, &ev, err);
		}
		if (rc)
			return rc;
	}
	return rc;
}

const struct trace_format fmt_nvme = {
	.name = "nvme",
	.title = "nvme events of the kernel trace as text, without block events (--lba for the "
		 "block size)",
	.takes = TAKES_LBA,
	.detect = detect,
	.import = import,
};
