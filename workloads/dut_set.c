/* SPDX-License-Identifier: MIT */
/* A set of drives: its name, its facts, and everything but running jobs. */
#include "workloads/dut_set.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "workloads/dut_set_impl.h"

/* ---- names ---- */

bool set_name_is(const char *name)
{
	return !strncmp(name, "set:", 4);
}

/* Copies up to a comma that is not escaped; returns where it stopped. */
static const char *cut_member(const char *s, char **ret)
{
	char *out = malloc(strlen(s) + 1);
	size_t n = 0;

	BUG_ON(!out);
	for (; *s && *s != ','; s++) {
		if (s[0] == '\\' && s[1] == ',')
			s++;
		out[n++] = *s;
	}
	out[n] = 0;
	*ret = out;
	return s;
}

static int check_member(const char *name, unsigned no, const char *member, struct err *err)
{
	if (!*member)
		return err_set(err, -EINVAL, "%s: member %u has no name", name, no);
	if (set_name_is(dut_name_inner(member)))
		return err_set(err, -EINVAL, "%s: member %u is a set itself", name, no);
	return 0;
}

int set_names_split(const char *name, struct set_names *ret, struct err *err)
{
	struct set_names n = { .n = 0 };
	const char *at = name + 4;
	int rc = set_name_is(name) ? 0 : err_set(err, -EINVAL, "'%s' is no set", name);

	for (bool more = true; more && !rc; more = *at++ == ',') {
		if (n.n == SET_MEMBERS_MAX) {
			rc = err_set(err, -EINVAL, "a set has at most %d members", SET_MEMBERS_MAX);
			break;
		}
		at = cut_member(at, &n.v[n.n++]);
		rc = check_member(name, n.n, n.v[n.n - 1], err);
	}
	if (rc) {
		set_names_release(&n);
		return rc;
	}
	*ret = n;
	return 0;
}

void set_names_release(struct set_names *n)
{
	for (unsigned i = 0; i < n->n; i++)
		free(n->v[i]);
	n->n = 0;
}

void set_names_join(const struct set_names *n, struct buf *out)
{
	buf_str(out, "set:");
	for (unsigned i = 0; i < n->n; i++) {
		if (i)
			buf_str(out, ",");
		for (const char *s = n->v[i]; *s; s++) {
			if (*s == ',')
				buf_str(out, "\\");
			buf_add(out, s, 1);
		}
	}
}

/* A member into what is known of the set. */
static int add_name(const struct set_names *n, unsigned i, struct dut_name *set, struct err *err)
{
	struct dut_name m;
	int rc = dut_name_parse(n->v[i], &m, err);

	if (rc)
		return err_prefix(err, rc, "member %u of the set", i + 1);
	if (i && m.simulated != set->simulated)
		return err_set(
			err, -EINVAL,
			"a set is of real or of simulated drives: '%s' does not go with '%s'",
			n->v[i], n->v[0]);
	if (!i) {
		set->simulated = m.simulated;
		set->seed = m.seed;
		set->has_seed = m.has_seed;
	}
	if (m.fault[0])
		memcpy(set->fault, m.fault, sizeof set->fault);
	return 0;
}

int set_name_parse(const char *name, struct dut_name *ret, struct err *err)
{
	struct dut_name set = { .kind = DUT_SET };
	struct set_names n = { .n = 0 };
	int rc = set_names_split(name, &n, err);

	for (unsigned i = 0; i < n.n && !rc; i++)
		rc = add_name(&n, i, &set, err);
	set_names_release(&n);
	if (!rc)
		*ret = set;
	return rc;
}

/* ---- the same drive twice ---- */

/* The folder in sysfs of the whole disk; "" none. */
static void whole_disk(dev_t dev, char ret[PATH_MAX])
{
	char path[PATH_MAX + 16], *slash;

	snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(dev), minor(dev));
	if (!realpath(path, ret)) {
		ret[0] = 0;
		return;
	}
	snprintf(path, sizeof path, "%s/partition", ret);
	slash = strrchr(ret, '/');
	if (!access(path, F_OK) && slash)
		*slash = 0;
}

/* A file that is there or will be. */
static void full_path(const char *path, char ret[PATH_MAX])
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	if (realpath(path, ret))
		return;
	snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	if (!realpath(dir, real))
		snprintf(real, sizeof real, "%s", dir);
	snprintf(ret, PATH_MAX, "%.3000s/%.1000s", real, base);
}

static bool same_block(const struct dut_info *a, const struct dut_info *b)
{
	char disk_a[PATH_MAX], disk_b[PATH_MAX];
	struct stat sa, sb;

	if (a->wwid[0] && !strcmp(a->wwid, b->wwid))
		return true;
	if (stat(a->path, &sa) || stat(b->path, &sb))
		return !strcmp(a->path, b->path);
	whole_disk(sa.st_rdev, disk_a);
	whole_disk(sb.st_rdev, disk_b);
	return sa.st_rdev == sb.st_rdev || (disk_a[0] && !strcmp(disk_a, disk_b));
}

static bool same_file(const struct dut_info *a, const struct dut_info *b)
{
	char path_a[PATH_MAX], path_b[PATH_MAX];
	struct stat sa, sb;

	if (!stat(a->path, &sa) && !stat(b->path, &sb))
		return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
	full_path(a->path, path_a);
	full_path(b->path, path_b);
	return !strcmp(path_a, path_b);
}

bool dut_same_drive(const struct dut_info *a, const struct dut_info *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == DUT_BLOCK)
		return same_block(a, b);
	if (a->kind == DUT_FILE)
		return same_file(a, b);
	return !strcmp(a->serial, b->serial) && !strcmp(a->model, b->model);
}

static int check_apart(const struct set *s, struct err *err)
{
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned j = 0; j < i; j++)
			if (dut_same_drive(&s->dut[i]->info, &s->dut[j]->info))
				return err_set(err, -EINVAL,
					       "members %u (%s) and %u (%s) of the set are the "
					       "same drive",
					       j + 1, s->m[j].name, i + 1, s->m[i].name);
	return 0;
}

/* ---- operations ---- */

/* Namespaces of one NVMe drive. */
static bool same_nvme(const struct dut_info *a, const struct dut_info *b)
{
	return a->nsid && b->nsid && a->serial[0] && !strcmp(a->serial, b->serial) &&
	       !strcmp(a->model, b->model);
}

/*
 * A purge of one namespace may reach, or keep busy, all of its drive: those of one drive go one after another, by the first of them.
 * Each begins with marks of its own, so that each is verified.
 */
static int work_purge(struct set_member *m)
{
	struct set *s = m->set;
	const struct dut_info *own = &m->dut->info;
	int rc = 0;

	for (unsigned i = 0; i < m->no - 1; i++)
		if (same_nvme(&s->dut[i]->info, own))
			return 0;
	for (unsigned i = m->no - 1; i < s->n && !rc; i++) {
		struct dut *d = s->dut[i];
		enum purge_method how = s->method == PURGE_AUTO ? d->info.purge_auto : s->method;

		if (i != m->no - 1 && !same_nvme(&d->info, own))
			continue;
		rc = d->ops->purge(d, how, &s->m[i].purge, &m->err);
		if (rc && i != m->no - 1)
			err_prefix(&m->err, rc, "its namespace that is member %u", i + 1);
	}
	return rc;
}

static int can_purge(const struct set *s, enum purge_method method, struct err *err)
{
	for (unsigned i = 0; i < s->n && method == PURGE_AUTO; i++)
		if (s->dut[i]->info.purge_auto == PURGE_NONE)
			return err_set(err, -EOPNOTSUPP,
				       "member %u (%s) offers no purge method that pts knows",
				       i + 1, s->m[i].name);
	return 0;
}

static void sum_purges(struct set *s, struct purge_report *ret)
{
	uint64_t first = UINT64_MAX, last = 0;
	struct purge_report sum = { .method = s->purge[0].method, .verified = true };

	for (unsigned i = 0; i < s->n; i++) {
		const struct purge_report *p = &s->purge[i];
		uint64_t end = p->started_ns + p->elapsed_ns;

		sum.method = p->method == sum.method ? sum.method : PURGE_AUTO;
		sum.verified &= p->verified;
		sum.canaries += p->canaries;
		sum.survivors += p->survivors;
		first = p->started_ns < first ? p->started_ns : first;
		last = end > last ? end : last;
	}
	sum.started_ns = first;
	sum.elapsed_ns = last - first;
	snprintf(sum.detail, sizeof sum.detail, "each of %u members; the first: %.180s", s->n,
		 s->purge[0].detail);
	sum.member = s->purge;
	*ret = sum;
}

/* Members purge at the same time, each in its thread: one after another they speak, and say who they are. */
static void member_tell(void *arg, const char *text)
{
	struct set_member *m = arg;
	struct dut *d = &m->set->d;
	char line[256];

	snprintf(line, sizeof line, "member %u: %.230s", m->no, text);
	pthread_mutex_lock(&m->set->mu);
	d->tell(d->arg, line);
	pthread_mutex_unlock(&m->set->mu);
}

static int member_record(void *arg, const char *what, const char *detail, struct err *err)
{
	struct set_member *m = arg;
	struct dut *d = &m->set->d;

	pthread_mutex_lock(&m->set->mu);
	int rc = d->record(d->arg, what, detail, err);
	pthread_mutex_unlock(&m->set->mu);
	return rc;
}

static int set_purge(struct dut *d, enum purge_method m, struct purge_report *ret, struct err *err)
{
	struct set *s = set_of(d);
	int rc = can_purge(s, m, err);

	if (rc)
		return rc;
	s->method = m;
	for (unsigned i = 0; i < s->n; i++) {
		s->m[i].purge = (struct purge_report){ .method = m };
		s->dut[i]->stop = d->stop;
		s->dut[i]->tell = d->tell ? member_tell : NULL;
		s->dut[i]->record = d->record ? member_record : NULL;
		s->dut[i]->arg = &s->m[i];
	}
	rc = set_each(s, work_purge, err);
	for (unsigned i = 0; i < s->n; i++)
		s->purge[i] = s->m[i].purge;
	if (!rc && d->info.simulated)
		rc = set_align(s, d->info.member_bytes, err);
	if (!rc || rc == -EBADE) /* how much is left is told */
		sum_purges(s, ret);
	return rc;
}

static bool has_no_cache(const struct dut *d)
{
	return (d->info.simulated || d->info.cache_known) && !d->info.has_write_cache;
}

static int switch_cache(struct set *s, unsigned i, bool on, bool *ret_was, struct err *err)
{
	struct dut *d = s->dut[i];

	if (has_no_cache(d)) {
		*ret_was = on;
		return 0;
	}
	return d->ops->write_cache
		       ? d->ops->write_cache(d, on, ret_was, err)
		       : err_set(err, -EOPNOTSUPP, "no write cache that can be switched");
}

static void undo_cache(struct set *s, unsigned n)
{
	struct err ignored = { "" };
	bool was;

	for (unsigned i = 0; i < n; i++)
		if (switch_cache(s, i, s->m[i].cache_was, &was, &ignored))
			continue;
}

/*
 * Members that were not alike are said to have been the other way, so that the caller puts them back with that; each then gets
 * the state it had.
 */
static int set_write_cache(struct dut *d, bool on, bool *ret_was, struct err *err)
{
	struct set *s = set_of(d);
	bool back = s->cache_mixed && on != s->cache_asked, was[SET_MEMBERS_MAX], all_on = true,
	     any_on = false;

	if (has_no_cache(d))
		return err_set(err, -EOPNOTSUPP, "%s: no volatile write cache", d->info.name);
	for (unsigned i = 0; i < s->n; i++) {
		int rc = switch_cache(s, i, back ? s->m[i].cache_was : on, &was[i], err);

		if (rc) {
			for (unsigned k = 0; k < i && !back; k++)
				s->m[k].cache_was = was[k];
			undo_cache(s, i);
			return err_prefix(err, rc, "member %u (%s)", i + 1, s->m[i].name);
		}
		all_on &= was[i];
		any_on |= was[i];
	}
	if (back) {
		s->cache_mixed = false;
		*ret_was = !on;
		return 0;
	}
	if (!s->cache_mixed)
		for (unsigned i = 0; i < s->n; i++)
			s->m[i].cache_was = was[i];
	s->cache_mixed |= all_on != any_on;
	s->cache_asked = on;
	*ret_was = all_on != any_on ? !on : all_on;
	return 0;
}

static uint64_t set_now(struct dut *d)
{
	struct set *s = set_of(d);
	uint64_t now = 0;

	for (unsigned i = 0; i < s->n; i++) {
		uint64_t t = s->dut[i]->ops->now(s->dut[i]);

		now = t > now ? t : now;
	}
	return now;
}

static void add_text(char *to, size_t size, unsigned member, const char *text)
{
	size_t n = strlen(to);

	if (*text)
		snprintf(to + n, size - n, "%smember %u: %s", n ? "; " : "", member, text);
}

static void add_health(struct health *sum, const struct health *h, unsigned member)
{
	if (h->have_temperature &&
	    (!sum->have_temperature || h->temperature_c > sum->temperature_c)) {
		sum->have_temperature = true;
		sum->temperature_c = h->temperature_c;
	}
	sum->critical |= h->critical;
	sum->throttled |= h->throttled;
	if (h->percentage_used > sum->percentage_used)
		sum->percentage_used = h->percentage_used;
	sum->host_written_bytes += h->host_written_bytes;
	sum->nand_written_bytes += h->nand_written_bytes;
	sum->media_errors += h->media_errors;
	add_text(sum->text, sizeof sum->text, member, h->text);
}

/* "16.0 GT/s x4", or of each where they differ. */
static void sum_link(const struct health *h, unsigned n, char *ret, size_t size)
{
	bool alike = true;
	size_t at = 0;

	for (unsigned i = 1; i < n; i++)
		alike &= !strcmp(h[i].link, h[0].link);
	ret[0] = 0;
	for (unsigned i = 0; i < (alike ? 1 : n) && at < size; i++)
		at += (size_t)snprintf(ret + at, size - at, "%s%s", i ? ", " : "", h[i].link);
}

/* The hottest, the most worn; counters are added. */
static int set_health(struct dut *d, struct health *ret, struct err *err)
{
	struct set *s = set_of(d);
	struct health sum = { .have_temperature = false }, h[SET_MEMBERS_MAX];

	memset(h, 0, sizeof h);
	for (unsigned i = 0; i < s->n; i++) {
		int rc = s->dut[i]->ops->health ? s->dut[i]->ops->health(s->dut[i], &h[i], err) : 0;

		if (rc)
			return err_prefix(err, rc, "member %u (%s)", i + 1, s->m[i].name);
		add_health(&sum, &h[i], i + 1);
	}
	sum_link(h, s->n, sum.link, sizeof sum.link);
	*ret = sum;
	return 0;
}

static void set_close(struct dut *d)
{
	struct set *s = set_of(d);

	set_runners_end(s);
	for (unsigned i = 0; i < s->n; i++) {
		dut_close(s->dut[i]);
		free(s->m[i].name);
		for (unsigned k = 0; k < SET_SLOTS; k++)
			result_box_release(&s->m[i].box[k]);
	}
	result_box_release(&s->sum);
	pthread_cond_destroy(&s->to_members);
	pthread_cond_destroy(&s->to_main);
	pthread_mutex_destroy(&s->mu);
	free(s);
}

static const struct dut_ops set_ops = {
	.purge = set_purge,
	.write_cache = set_write_cache,
	.run = set_run,
	.now = set_now,
	.health = set_health,
	.close = set_close,
};

/* ---- facts ---- */

/* What all members say, else "". */
static void common(const struct set *s, size_t field, char *ret, size_t size)
{
	const char *first = (const char *)&s->dut[0]->info + field;

	ret[0] = 0;
	for (unsigned i = 1; i < s->n; i++)
		if (strcmp((const char *)&s->dut[i]->info + field, first))
			return;
	snprintf(ret, size, "%s", first);
}

static void add_sizes(struct dut_info *set, const struct dut_info *m)
{
	set->capacity_bytes += m->capacity_bytes;
	if (!set->member_bytes || m->capacity_bytes < set->member_bytes)
		set->member_bytes = m->capacity_bytes;
	if (m->lba_bytes > set->lba_bytes)
		set->lba_bytes = m->lba_bytes;
	if (m->dio_mem_align > set->dio_mem_align)
		set->dio_mem_align = m->dio_mem_align;
}

static void set_facts(struct set *s, const char *name)
{
	struct dut_info *d = &s->d.info;
	char model[sizeof d->model];
	bool rated = true;

	d->kind = DUT_SET;
	d->members = s->n;
	snprintf(d->name, sizeof d->name, "%s", name);
	common(s, offsetof(struct dut_info, vendor), d->vendor, sizeof d->vendor);
	common(s, offsetof(struct dut_info, firmware), d->firmware, sizeof d->firmware);
	common(s, offsetof(struct dut_info, interface), d->interface, sizeof d->interface);
	common(s, offsetof(struct dut_info, link), d->link, sizeof d->link);
	common(s, offsetof(struct dut_info, link_max), d->link_max, sizeof d->link_max);
	common(s, offsetof(struct dut_info, transport), d->transport, sizeof d->transport);
	common(s, offsetof(struct dut_info, auto_why), d->auto_why, sizeof d->auto_why);
	common(s, offsetof(struct dut_info, model), model, sizeof model);
	snprintf(d->model, sizeof d->model, *model ? "%u x %.50s" : "set of %u drives", s->n,
		 model);
	d->simulated = s->dut[0]->info.simulated;
	d->formal = true;
	d->purge_methods = ~0u;
	d->purge_auto = s->dut[0]->info.purge_auto;
	d->numa_node = s->dut[0]->info.numa_node;
	d->cache_known = true;
	for (unsigned i = 0; i < s->n; i++) {
		const struct dut_info *m = &s->dut[i]->info;

		add_sizes(d, m);
		d->formal &= m->formal;
		d->has_write_cache |= m->has_write_cache;
		d->cache_known &= m->cache_known;
		if (m->numa_node != d->numa_node)
			d->numa_node = -1;
		d->purge_methods &= m->purge_methods;
		if (m->purge_auto != d->purge_auto)
			d->purge_auto = PURGE_AUTO; /* each its own */
		rated &= m->rated_tbw_bytes > 0;
		d->rated_tbw_bytes += m->rated_tbw_bytes;
		d->most_write_bytes_per_s = fmax(d->most_write_bytes_per_s,
						 m->most_write_bytes_per_s);
		d->most_write_iops = fmax(d->most_write_iops, m->most_write_iops);
		d->most_read_iops = fmax(d->most_read_iops, m->most_read_iops);
	}
	d->member_bytes -= d->member_bytes % d->lba_bytes;
	d->rated_tbw_bytes = rated ? d->rated_tbw_bytes : 0;
	snprintf(s->d.engine, sizeof s->d.engine, "set of %u: %.200s", s->n, s->dut[0]->engine);
}

/* ---- opening ---- */

static struct set *set_new(void)
{
	struct set *s = calloc(1, sizeof *s);
	pthread_condattr_t attr;

	BUG_ON(!s);
	s->d.ops = &set_ops;
	s->d.member = s->dut;
	pthread_mutex_init(&s->mu, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->to_main, &attr);
	pthread_cond_init(&s->to_members, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

static int open_members(struct set *s, const struct set_names *n, enum dut_open_mode mode,
			const struct dut_options *opt, struct err *err)
{
	for (unsigned i = 0; i < n->n; i++) {
		struct dut_options o = *opt;
		struct set_member *m = &s->m[i];
		int rc;

		o.seed += i;
		rc = dut_open(n->v[i], mode, &o, &m->dut, err);
		if (rc)
			return err_prefix(err, rc, "member %u of the set", i + 1);
		*m = (struct set_member){
			.set = s, .no = i + 1, .dut = m->dut, .name = strdup(n->v[i])
		};
		BUG_ON(!m->name);
		s->dut[s->n++] = m->dut;
	}
	return check_apart(s, err);
}

static int open_set(const char *name, const struct set_names *n, enum dut_open_mode mode,
		    const struct dut_options *opt, struct dut **ret, struct err *err)
{
	struct set *s = set_new();
	int rc = open_members(s, n, mode, opt, err);

	if (rc) {
		set_close(&s->d);
		return rc;
	}
	set_facts(s, name);
	*ret = &s->d;
	return 0;
}

int dut_set_open(const char *name, enum dut_open_mode mode, const struct dut_options *opt,
		 struct dut **ret_dut, struct err *err)
{
	struct set_names n = { .n = 0 };
	struct dut *facts;
	int rc;

	if (opt->dump_latencies)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the latencies of one drive can be dumped, not of a set", name);
	rc = set_names_split(name, &n, err);
	if (!rc && mode == DUT_WRITE) { /* twins are found before one is opened for writing */
		rc = open_set(name, &n, DUT_READ, opt, &facts, err);
		if (!rc)
			dut_close(facts);
	}
	if (!rc)
		rc = open_set(name, &n, mode, opt, ret_dut, err);
	set_names_release(&n);
	return rc;
}
