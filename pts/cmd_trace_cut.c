/* SPDX-License-Identifier: MIT */
/* A part of a capture as a capture of its own, or the whole for other tools. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "pts/cmd_trace.h"
#include "replay/iolog.h"

struct cut {
	uint64_t from_ns, to_ns;
	int device; /* -1 all */
};

static int device_of(const struct opts *o, const struct trace_head *h, const char *name, int *ret)
{
	for (unsigned i = 0; i < h->n_devices; i++)
		if (strcmp(h->device[i].name, name) == 0) {
			*ret = (int)i;
			return 0;
		}
	return cmd_usage(o, "the capture has no device '%s' (pts trace stat names them)", name);
}

static int cut_choose(const struct opts *o, const struct trace_head *h, struct cut *ret)
{
	*ret = (struct cut){ .to_ns = UINT64_MAX, .device = -1 };
	if (!o->output)
		return cmd_usage(o, "where to? -o CAP");
	if (!o->from && !o->to && !o->device)
		return cmd_usage(o, "what? --from TIME, --to TIME, --device NAME");
	if (o->from && parse_time(o->from, &ret->from_ns))
		return cmd_usage(o, "--from takes a time such as 10s, not '%s'", o->from);
	if (o->to && (parse_time(o->to, &ret->to_ns) || ret->to_ns <= ret->from_ns))
		return cmd_usage(o, "--to takes a time later than --from, not '%s'", o->to);
	return o->device ? device_of(o, h, o->device, &ret->device) : 0;
}

struct part { /* what of the report a part has of its own */
	uint64_t n, matched, unmatched, errors;
};

static void account(struct part *p, const struct trace_rec *rec)
{
	p->n++;
	p->matched += rec->io.op <= TRACE_WRITE && rec->response_ns != TRACE_NO_RESPONSE;
	p->unmatched += rec->io.op <= TRACE_DISCARD && rec->response_ns == TRACE_NO_RESPONSE;
	p->errors += (rec->io.flags & TRACE_ERROR) != 0;
}

static int copy(struct trace *t, const struct cut *c, struct trace_writer *w, struct part *ret,
		struct err *err)
{
	const struct trace_head *h = trace_head(t);
	struct trace_cursor at = { 0 };
	struct trace_rec rec;
	uint16_t dev;
	int rc = 0;

	for (unsigned i = 0; i < h->n_devices && !rc; i++)
		if (c->device < 0 || c->device == (int)i)
			rc = trace_writer_device(w, h->device[i].name, &dev, err);
	while (!rc && (rc = trace_next(t, &at, &rec, err)) == 1) {
		rc = 0;
		if (rec.io.start_ns < c->from_ns || rec.io.start_ns >= c->to_ns ||
		    (c->device >= 0 && rec.io.dev != c->device))
			continue;
		if (c->device >= 0)
			rec.io.dev = 0;
		rec.order = (uint32_t)ret->n;
		account(ret, &rec);
		rc = trace_writer_add(w, &rec, err);
	}
	return rc;
}

int trace_cut(const struct opts *o, struct trace *t)
{
	const struct trace_head *h = trace_head(t);
	struct trace_report report = h->report;
	struct trace_writer *w;
	struct err err = { "" };
	struct cut c;
	struct part part = { 0 };
	int rc = cut_choose(o, h, &c);

	if (rc)
		return rc;
	rc = trace_writer_open(o->output, &w, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = copy(t, &c, w, &part, &err);
	if (!rc && part.n == 0)
		rc = err_set(&err, -EINVAL, "%s: no IO lies in that part", o->arg.v[1]);
	if (rc) {
		trace_writer_drop(w);
		return cmd_fail(o, exit_of(rc), &err);
	}
	snprintf(report.source, sizeof(report.source), "%.200s (a part)", h->report.source);
	report.wall_clock_utc[0] = '\0';
	report.matched = part.matched;
	if (h->report
		    .unmatched_starts) /* else the source has no completions, and none is missing */
		report.unmatched_starts = part.unmatched;
	report.unmatched_ends = 0;
	report.errors = part.errors;
	rc = trace_writer_commit(w, h->name, &report, &err);
	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	if (!o->quiet)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " records into %s\n", part.n, h->n,
			o->output);
	return EXIT_GOOD;
}

/* "7,0=/dev/loop1" */
static int map_devices(const struct opts *o, const struct trace_head *h, const char **file)
{
	for (unsigned i = 0; i < o->device_map.n; i++) {
		const char *equal = strchr(o->device_map.v[i], '=');
		char name[64];
		int dev = 0, rc;

		if (!equal || !equal[1])
			return cmd_usage(o, "--device-map takes DEVICE=FILE, not '%s'",
					 o->device_map.v[i]);
		snprintf(name, sizeof(name), "%.*s", (int)(equal - o->device_map.v[i]),
			 o->device_map.v[i]);
		rc = device_of(o, h, name, &dev);
		if (rc)
			return rc;
		file[dev] = equal + 1;
	}
	return 0;
}

/* No device and no file that is not an iolog is replaced: a slip in -o must not cost the capture. */
static int may_replace(const char *path, struct err *err)
{
	char head[12] = "";
	struct stat st;
	FILE *f;

	if (stat(path, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is no regular file (-o - is standard output)",
			       path);
	f = fopen(path, "re");
	if (!f || fread(head, 1, sizeof(head), f) == 0)
		head[0] = '\0';
	if (f)
		fclose(f);
	return st.st_size == 0 || memcmp(head, "fio version ", sizeof(head)) == 0
		       ? 0
		       : err_set(err, -EEXIST, "%s: exists and is no iolog: it is not overwritten",
				 path);
}

/* Under a name for the time being, so that a full disk leaves nothing that looks whole. */
static int export_to(const struct opts *o, struct trace *t, const char *const *file,
		     struct iolog_account *a, struct err *err)
{
	char tmp[4096];
	FILE *f;
	int rc;

	if (strcmp(o->output, "-") == 0)
		return iolog_write(t, file, stdout, a, err);
	rc = may_replace(o->output, err);
	if (rc)
		return rc;
	snprintf(tmp, sizeof(tmp), "%.4000s.%ld.tmp", o->output, (long)getpid());
	f = fopen(tmp, "wxe");
	if (!f)
		return err_set(err, -errno, "%s: cannot be written: %s", o->output,
			       strerror(errno));
	rc = iolog_write(t, file, f, a, err);
	if (fclose(f) && !rc)
		rc = err_set(err, -EIO, "%s: cannot be written: %s", o->output, strerror(errno));
	if (!rc && rename(tmp, o->output) < 0)
		rc = err_set(err, -errno, "%s: cannot be written: %s", o->output, strerror(errno));
	if (rc)
		unlink(tmp);
	return rc;
}

int trace_export(const struct opts *o, struct trace *t)
{
	const struct trace_head *h = trace_head(t);
	const char **file = calloc(h->n_devices ? h->n_devices : 1, sizeof(*file));
	struct iolog_account a = { 0 };
	struct err err = { "" };
	int rc;

	BUG_ON(!file);
	rc = o->output ? map_devices(o, h, file)
		       : cmd_usage(o, "where to? -o FILE (an iolog for fio), or -o -");
	if (!rc) {
		rc = export_to(o, t, file, &a, &err);
		if (rc)
			rc = cmd_fail(o, exit_of(rc), &err);
	}
	free(file);
	if (rc || o->quiet)
		return rc;
	fprintf(stderr, "%" PRIu64 " IOs as fio iolog version 3%s\n", a.written,
		a.cut_ns ? "; times are cut to microseconds" : "");
	if (a.skipped)
		fprintf(stderr, "%" PRIu64 " records are left out: fio has no such IO\n",
			a.skipped);
	return EXIT_GOOD;
}
