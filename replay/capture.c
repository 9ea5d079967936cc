/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "replay/capture.h"
#include "replay/streammap.h"

#define MAP_BYTES_MAX ((size_t)256 << 20)

struct capture {
	struct capture_about about;
	struct capture_facts facts;
	struct analysis a;
	struct streammap map; /* its analysis has moved into @a */
	struct capture_stream *stream;
	struct capture_step *step;
	double *share;
};

void capture_free(struct capture *c)
{
	if (!c)
		return;
	analysis_release(&c->a);
	streammap_release(&c->map);
	free(c->stream);
	free(c->step);
	free(c->share);
	free(c);
}

const struct capture_facts *capture_facts(const struct capture *c)
{
	return &c->facts;
}

const struct capture_about *capture_about(const struct capture *c)
{
	return &c->about;
}

const struct analysis *capture_analysis(const struct capture *c)
{
	return &c->a;
}

static double step_qd(const struct capture *c, unsigned i)
{
	return c->map.step_qd ? c->map.step_qd[i] : step_qd_avg(&c->a.step[i]);
}

static void fill_step(struct capture *c, unsigned i)
{
	const struct step_stat *s = &c->a.step[i];
	struct capture_step *to = &c->step[i];
	double *share = c->share + (size_t)i * c->facts.n_streams;
	uint64_t length = c->map.step_ns ? c->map.step_ns[i] : c->a.step_ns;

	to->duration_ns = length;
	to->share_pct = share;
	to->qd_avg = step_qd(c, i);
	to->qd_max = c->map.step_qd ? to->qd_avg : s->qd_max;
	to->busy_pct = 100.0 * (double)s->busy_ns / (double)length;
	if (to->busy_pct > 100)
		to->busy_pct = 100;
	for (uint32_t k = 0; k < s->n_streams; k++) {
		const struct step_stream *p = &c->a.step_stream[s->first + k];

		if (p->stream < c->facts.n_streams)
			share[p->stream] = 100.0 * (double)p->ios / (double)s->ios;
	}
}

/* Depth over the busy time of all steps. */
static double whole_qd(const struct capture *c)
{
	double area = 0, busy = 0;

	for (unsigned i = 0; i < c->a.n_steps; i++) {
		double length = (double)c->a.step[i].busy_ns;

		area += step_qd(c, i) * length;
		busy += length;
	}
	return busy > 0 ? area / busy : 0;
}

/* What the plan needs: the largest streams, as many as an access can have. */
static int fill_facts(struct capture *c, struct err *err)
{
	struct capture_facts *f = &c->facts;
	const struct analysis *a = &c->a;

	f->n_streams = a->n_streams < ACCESS_STREAMS_MAX ? a->n_streams : ACCESS_STREAMS_MAX;
	f->n_steps = a->n_steps;
	c->stream = calloc(f->n_streams, sizeof(*c->stream));
	c->step = calloc(f->n_steps, sizeof(*c->step));
	c->share = calloc((size_t)f->n_steps * f->n_streams, sizeof(*c->share));
	if (!c->stream || !c->step || !c->share)
		return err_set(err, -ENOMEM, "no memory for the steps of the capture");
	for (unsigned i = 0; i < f->n_streams; i++) {
		if (a->stream[i].bytes > UINT32_MAX)
			return err_set(err, -EINVAL, "%s: IOs of 4 GiB and more cannot be replayed",
				       c->about.name);
		c->stream[i] = (struct capture_stream){ .op = a->stream[i].op,
							.order = a->stream[i].order,
							.bytes = (uint32_t)a->stream[i].bytes,
							.share_pct = a->stream[i].share_pct };
	}
	for (unsigned i = 0; i < f->n_steps; i++)
		fill_step(c, i);
	snprintf(f->name, sizeof(f->name), "%s", c->about.name);
	f->stream = c->stream;
	f->step = c->step;
	f->is_map = c->about.is_map;
	f->qd_avg = c->about.qd_known ? whole_qd(c) : 0;
	for (unsigned i = 0; i < f->n_steps; i++)
		c->about.qd_max = fmax(c->about.qd_max, c->step[i].qd_max);
	c->about.n_streams = a->n_streams;
	c->about.step_ns = a->step_ns;
	return 0;
}

static void name_devices(struct capture_about *b, const struct trace_head *h)
{
	size_t n = 0;

	for (unsigned i = 0; i < h->n_devices && n + 80 < sizeof(b->devices); i++)
		n += (size_t)snprintf(b->devices + n, sizeof(b->devices) - n, "%s%s", i ? ", " : "",
				      h->device[i].name);
}

static int load_trace(struct capture *c, const char *path, const struct capture_choice *choice,
		      struct err *err)
{
	struct capture_about *b = &c->about;
	const struct trace_report *r;
	struct trace *t;
	int rc = trace_open(path, true, &t, err);

	if (rc)
		return rc;
	r = &trace_head(t)->report;
	memcpy(b->name, trace_head(t)->name, sizeof(b->name));
	memcpy(b->format, r->format, sizeof(b->format));
	memcpy(b->event, r->event, sizeof(b->event));
	memcpy(b->source, r->source, sizeof(b->source));
	snprintf(b->level, sizeof(b->level), "block");
	memcpy(b->began_utc, r->wall_clock_utc, sizeof(b->began_utc));
	b->records = r->records;
	b->reads = r->ios[TRACE_READ];
	b->writes = r->ios[TRACE_WRITE];
	b->ios = b->reads + b->writes;
	b->bytes_read = r->bytes[TRACE_READ];
	b->bytes_written = r->bytes[TRACE_WRITE];
	b->duration_ns = trace_head(t)->duration_ns;
	b->lost = r->lost;
	b->digest = trace_head(t)->digest;
	name_devices(b, trace_head(t));
	rc = analysis_run(t, &choice->rule, choice->step_ns, &c->a, err);
	trace_close(t);
	b->qd_known = c->a.qd_known;
	if (choice->rule.strict)
		snprintf(b->seq_rule, sizeof(b->seq_rule), "strict");
	else
		snprintf(b->seq_rule, sizeof(b->seq_rule), "window %u", c->a.rule.window);
	return rc;
}

/* Shares of a map need not make 100 %: a published table ends with the streams that matter. They stay of all IOs. */
static void keep_shares(struct analysis *a)
{
	double whole = 0;

	for (unsigned i = 0; i < a->n_steps; i++)
		whole += a->step[i].ios ? 1e8 : 0; /* 100 % in millionths, as streammap.c counts */
	if ((double)a->ios >= whole)
		return;
	for (unsigned i = 0; i < a->n_streams; i++)
		a->stream[i].share_pct = 100.0 * (double)a->stream[i].ios / whole;
}

static int load_map(struct capture *c, const char *file, const char *text, size_t n,
		    struct err *err)
{
	struct capture_about *b = &c->about;
	int rc = streammap_parse(file, text, n, &c->map, err);

	if (rc)
		return rc;
	c->a = c->map.a;
	c->map.a = (struct analysis){ .ios = 0 };
	if (c->map.shares_only)
		keep_shares(&c->a);
	snprintf(b->name, sizeof(b->name), "%s", c->map.name[0] ? c->map.name : "a stream map");
	memcpy(b->source, c->map.source, sizeof(b->source));
	memcpy(b->level, c->map.level, sizeof(b->level));
	snprintf(b->format, sizeof(b->format), "stream-map");
	snprintf(b->event, sizeof(b->event), "row");
	snprintf(b->seq_rule, sizeof(b->seq_rule), "as the map says");
	for (unsigned i = 0; i < c->a.n_streams && !c->map.shares_only; i++) {
		const struct stream_stat *s = &c->a.stream[i];

		*(s->op == IO_WRITE ? &b->writes : &b->reads) += s->ios;
		*(s->op == IO_WRITE ? &b->bytes_written : &b->bytes_read) += s->ios * s->bytes;
	}
	b->ios = b->reads + b->writes;
	b->duration_ns = c->map.duration_ns;
	b->digest = c->map.digest;
	b->qd_known = c->map.qd_known;
	b->is_map = true;
	return 0;
}

static int load(struct capture *c, const char *path, const struct capture_choice *choice,
		struct err *err)
{
	struct buf text = BUF_INIT;
	char name[128];
	const struct embed *own;
	int rc;

	snprintf(name, sizeof(name), "%s.csv", path);
	own = embed_find(embed_maps, name);
	rc = buf_read_file(&text, path, MAP_BYTES_MAX);
	if (rc == -ENOENT && own)
		rc = load_map(c, name, own->data, own->len, err);
	else if (rc == -EFBIG || (!rc && !streammap_is(text.s ? text.s : "", text.len)))
		rc = load_trace(c, path, choice, err);
	else if (!rc)
		rc = load_map(c, path, text.s, text.len, err);
	else
		rc = err_set(err, -EINVAL, "%s: %s", path, strerror(-rc));
	buf_release(&text);
	return rc;
}

int capture_load(const char *path, const struct capture_choice *choice, struct capture **ret,
		 struct err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return err_set(err, -ENOMEM, "%s: no memory to read it", path);
	rc = load(c, path, choice, err);
	if (!rc)
		rc = fill_facts(c, err);
	if (rc) {
		capture_free(c);
		return rc;
	}
	*ret = c;
	return 0;
}
