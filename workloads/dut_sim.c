/* SPDX-License-Identifier: MIT */
#include "workloads/dut_sim.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "workloads/dut_sim_model.h"
#include "workloads/gen.h"

#define TB 1e12

struct sim {
	struct dut dut; /* first: a struct dut * is a struct sim * */
	struct sim_model model;
	struct sim_cell *cell;
	uint64_t now_ns; /* the virtual clock */
};

static struct sim *sim_of(struct dut *d)
{
	return (struct sim *)d;
}

static uint64_t sim_now(struct dut *d)
{
	return sim_of(d)->now_ns;
}

static int gone(const struct dut *d, struct err *err)
{
	return err_set(err, -ENODEV, "%s: the simulated drive has gone ([events] gone_at_gb)",
		       d->info.name);
}

static int sim_purge(struct dut *d, enum purge_method method, struct purge_report *ret,
		     struct err *err)
{
	struct sim *s = sim_of(d);
	enum purge_method m = method == PURGE_AUTO ? d->info.purge_auto : method;
	struct purge_report report = { .method = m, .started_ns = s->now_ns, .verified = true };

	if (m == PURGE_NONE || m >= PURGE_METHODS || !(d->info.purge_methods & 1u << m))
		return err_set(err, -EOPNOTSUPP,
			       "%s: a simulated drive is purged with method sim%s", d->info.name,
			       s->model.conf.nvme_format ? " or nvme-format" : "");
	if (s->model.gone)
		return gone(d, err);
	report.elapsed_ns = (uint64_t)(s->model.conf.purge_s * 1e9);
	s->now_ns += report.elapsed_ns;
	sim_model_purge(&s->model);
	/* holds no data, so there is nothing to mark and read back */
	snprintf(report.detail, sizeof report.detail,
		 "simulated drive: its model was set back to never written");
	*ret = report;
	return 0;
}

static int sim_write_cache(struct dut *d, bool on, bool *ret_was, struct err *err)
{
	struct sim_model *m = &sim_of(d)->model;

	if (!d->info.has_write_cache)
		return err_set(err, -EOPNOTSUPP, "%s: no volatile write cache", d->info.name);
	*ret_was = m->cache_on;
	m->cache_on = on;
	return 0;
}

static int check_segment(const struct dut_info *info, const struct job *job, unsigned k,
			 struct err *err)
{
	const struct segment *s = &job->seg[k];
	const struct bound *b = &s->stop;
	struct gen_conf conf = { .acc = s->acc,
				 .range = &job->range,
				 .lba_bytes = info->lba_bytes,
				 .cursor = job->cursor,
				 .n_cursors = job->n_cursors };
	struct gen gen;

	if (!b->time_ns && (!s->acc || (!b->bytes && !b->ios)))
		return err_set(err, -EINVAL, "segment %u has no end", k);
	if (!s->acc)
		return 0;
	if (!s->threads || (!s->oio && !s->qd))
		return err_set(err, -EINVAL, "segment %u: no IO outstanding", k);
	if (!(s->rate_iops >= 0 && s->rate_iops < 1e9))
		return err_set(err, -EINVAL, "segment %u: rate %g", k, s->rate_iops);
	/* what the real engine refuses, in its words */
	return gen_init(&gen, &conf, err);
}

static int check_job(const struct dut_info *info, const struct job *job, struct err *err)
{
	int rc = 0;

	if (!job->range.bytes || job->range.bytes > info->capacity_bytes)
		return err_set(err, -EINVAL,
			       "ActiveRange of %" PRIu64 " bytes on a drive of %" PRIu64,
			       job->range.bytes, info->capacity_bytes);
	for (unsigned k = 0; k < job->n && !rc; k++)
		rc = check_segment(info, job, k, err);
	return rc;
}

static void tell(const struct job *job, unsigned segment, const struct result *r)
{
	struct progress p = { .segment = segment, .elapsed_ns = r->elapsed_ns };

	for (unsigned op = 0; op < IO_OPS; op++) {
		p.ios += r->op[op].ios;
		p.bytes += r->op[op].bytes;
	}
	p.errors = r->errors;
	if (job->progress)
		job->progress(job->arg, &p);
}

static int sim_run(struct dut *d, const struct job *job, struct err *err)
{
	struct sim *s = sim_of(d);
	struct result r = { .errors = 0 };
	int rc = s->model.gone ? -ENODEV : check_job(&d->info, job, err), stop = 0;

	for (unsigned i = 0; i < job->n && !rc && !stop; i++) {
		if (job->stop && *job->stop)
			return -EINTR;
		rc = sim_cell_run(s->cell, &s->model, job, &job->seg[i], &r);
		r.start_ns = s->now_ns;
		s->now_ns += r.elapsed_ns;
		tell(job, i, &r);
		stop = job->sealed ? job->sealed(job->arg, i, &r) : 0;
	}
	if (rc == -ENODEV)
		return gone(d, err);
	if (rc == -EIO)
		return err_set(err, rc, "%s: %" PRIu64 " IOs failed: EIO ([events] error_...)",
			       d->info.name, r.errors);
	return rc;
}

static int sim_health(struct dut *d, struct health *ret, struct err *err)
{
	struct sim_model *m = &sim_of(d)->model;
	struct health h = { .have_temperature = true,
			    .temperature_c = m->st.temperature_c,
			    .throttled = sim_throttled(m) || m->throttle_seen,
			    .host_written_bytes = (uint64_t)m->host_written,
			    .nand_written_bytes = (uint64_t)m->nand_written,
			    .media_errors = (uint64_t)m->media_errors };

	if (m->gone)
		return gone(d, err);
	if (d->info.rated_tbw_bytes > 0)
		h.percentage_used = 100 * m->host_written / d->info.rated_tbw_bytes;
	snprintf(h.link, sizeof h.link, "%.31s", sim_link(m));
	h.critical = h.temperature_c >= m->conf.critical_c;
	if (h.critical)
		snprintf(h.text, sizeof h.text, "simulated drive: critical temperature");
	else if (m->st.throttled)
		snprintf(h.text, sizeof h.text, "simulated drive: throttled by temperature");
	else if (h.throttled)
		snprintf(h.text, sizeof h.text, "simulated drive: throttled");
	m->throttle_seen = false;
	*ret = h;
	return 0;
}

static void sim_close(struct dut *d)
{
	struct sim *s = sim_of(d);

	sim_cell_free(s->cell);
	free(s);
}

static const struct dut_ops sim_ops = {
	.purge = sim_purge,
	.write_cache = sim_write_cache,
	.run = sim_run,
	.now = sim_now,
	.health = sim_health,
	.close = sim_close,
};

static void set_info(struct dut_info *info, const char *name, const struct sim_model *m)
{
	const struct sim_conf *c = &m->conf;

	info->kind = DUT_SIM;
	info->numa_node = -1;
	info->simulated = info->formal = true;
	snprintf(info->name, sizeof info->name, "%s", name);
	snprintf(info->vendor, sizeof info->vendor, "SIMULATED");
	snprintf(info->model, sizeof info->model, "%s", c->model);
	snprintf(info->serial, sizeof info->serial, "SIM%" PRIu64, m->seed);
	snprintf(info->interface, sizeof info->interface, "%s", c->interface);
	info->capacity_bytes = c->capacity_bytes;
	info->lba_bytes = info->dio_mem_align = (uint32_t)c->lba_bytes;
	info->has_write_cache = c->cache_volatile;
	info->purge_methods = 1u << PURGE_SIM | (c->nvme_format ? 1u << PURGE_NVME_FORMAT : 0);
	info->purge_auto = PURGE_SIM;
	info->rated_tbw_bytes = c->rated_tbw_tb * TB;
	snprintf(info->link, sizeof info->link, "%.31s", c->link);
	info->most_write_bytes_per_s = 1e6 *
				       fmin(c->dir[IO_WRITE].mb_s, fmax(c->nand_mb_s, c->slc_mb_s));
	info->most_write_iops = c->dir[IO_WRITE].iops;
	info->most_read_iops = c->dir[IO_READ].iops;
}

/* Another size than the ini's: endurance goes with it, as do all shares of the capacity. */
static int resize(struct sim_conf *c, uint64_t bytes, const char *name, struct err *err)
{
	uint64_t was = c->capacity_bytes;

	if (bytes)
		c->capacity_bytes = bytes;
	c->capacity_bytes -= c->capacity_bytes % c->lba_bytes;
	if (c->capacity_bytes < 1 << 20)
		return err_set(err, -EINVAL, "%s: a simulated drive has at least 1 MiB", name);
	if (c->capacity_bytes > 1ull << 60)
		return err_set(err, -EINVAL, "%s: a simulated drive has at most 1 EiB", name);
	c->rated_tbw_tb *= (double)c->capacity_bytes / (double)(was - was % c->lba_bytes);
	return 0;
}

int dut_sim_open(const struct dut_name *n, const char *name, const struct dut_options *opt,
		 struct dut **ret_dut, struct err *err)
{
	struct sim *s;
	struct sim_conf conf;
	int rc;

	if (opt && opt->dump_latencies)
		return err_set(
			err, -EOPNOTSUPP,
			"%s: a simulated drive has no single IOs whose latencies could be dumped",
			name);
	rc = sim_conf_load(n->path, &conf, err);
	if (!rc)
		rc = resize(&conf, n->size_bytes, name, err);
	if (rc < 0)
		return rc;
	s = calloc(1, sizeof *s);
	if (!s)
		BUG("out of memory");
	s->model.conf = conf;
	s->model.seed = n->has_seed ? n->seed : opt ? opt->seed : 0;
	sim_model_init(&s->model);
	s->cell = sim_cell_new();
	s->dut.ops = &sim_ops;
	set_info(&s->dut.info, name, &s->model);
	snprintf(s->dut.engine, sizeof s->dut.engine,
		 "simulated drive, analytic model on a virtual clock, profile %.150s",
		 conf.profile);
	*ret_dut = &s->dut;
	return 0;
}

void dut_sim_params(const struct dut *d, struct buf *out)
{
	const struct sim *s = (const struct sim *)d;

	buf_fmt(out, "seed=%" PRIu64 "\n", s->model.seed);
	sim_conf_text(&s->model.conf, out);
}
