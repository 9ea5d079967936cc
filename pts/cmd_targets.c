/* SPDX-License-Identifier: MIT */
#include "pts/cmd_targets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/gate.h"
#include "pts/host.h"
#include "pts/identity.h"

static const struct dut *member_of(const struct dut *d, unsigned i)
{
	return d->member ? d->member[i] : d;
}

void targets_take(struct targets *t, const char *name, const struct dut *d)
{
	struct err err = { "" };

	t->set = d->member;
	if (!d->member) {
		t->name.v[0] = strdup(name);
		t->name.n = 1;
	} else if (set_names_split(name, &t->name, &err)) {
		BUG("a set that was opened cannot be split: %s", err.msg);
	}
	t->info = calloc(t->name.n, sizeof *t->info);
	BUG_ON(!t->info || !t->name.v[0]);
	t->identity = calloc(t->name.n, sizeof *t->identity);
	BUG_ON(!t->identity);
	for (unsigned i = 0; i < t->name.n; i++) {
		struct buf b = BUF_INIT;

		t->info[i] = member_of(d, i)->info;
		identity_text(member_of(d, i), &b);
		t->identity[i] = strdup(buf_cstr(&b));
		BUG_ON(!t->identity[i]);
		buf_release(&b);
	}
}

void targets_release(struct targets *t)
{
	for (unsigned i = 0; t->identity && i < t->name.n; i++)
		free(t->identity[i]);
	free(t->identity);
	t->identity = NULL;
	set_names_release(&t->name);
	free(t->info);
	t->info = NULL;
}

int targets_gate(const struct targets *t, const struct opts *o, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < t->name.n && !rc; i++) {
		struct gate_request rq = { .info = &t->info[i],
					   .dut = dut_name_inner(t->name.v[i]),
					   .destroy = o->destroy.v,
					   .n_destroy = o->destroy.n,
					   .force_signature = o->force_signature };

		rc = gate_check(&rq, err);
		if (rc && t->set)
			err_prefix(err, rc, "member %u of the set", i + 1);
	}
	return rc;
}

void targets_named(const struct targets *t, const struct opts *o, bool ret_named[])
{
	for (unsigned i = 0; i < t->name.n; i++) {
		struct gate_request rq = { .info = &t->info[i],
					   .dut = dut_name_inner(t->name.v[i]) };

		for (unsigned k = 0; k < o->destroy.n; k++)
			ret_named[k] |= gate_names(&rq, o->destroy.v[k]);
	}
}

unsigned targets_deviations(const struct targets *t, const struct dut_info *all,
			    const char *ret[TARGETS_DEVIATIONS])
{
	unsigned n = 0;

	if (all->simulated)
		ret[n++] = "SIMULATED: a model, no drive was measured";
	else if (!all->formal)
		ret[n++] = all->kind == DUT_FILE  ? "the target is a file, not a drive"
			   : all->kind == DUT_SET ? "a member of the set is no whole drive"
						  : "the target is not a whole drive";
	if (!t->set)
		return n;
	ret[n++] = "several drives under one load: the PTS tests one by itself";
	for (unsigned i = 1; i < t->name.n; i++) {
		if (t->info[i].capacity_bytes == t->info[0].capacity_bytes)
			continue;
		ret[n++] = "members of unequal size: each is tested as far as the smallest goes";
		break;
	}
	return n;
}

int targets_db_apart(const struct targets *t, const char *db, struct err *err)
{
	char real[PATH_MAX];

	if (!realpath(db, real))
		return 0;
	for (unsigned i = 0; i < t->name.n; i++)
		if (t->info[i].kind == DUT_FILE && !strcmp(real, t->info[i].path))
			return err_set(err, -EPERM, "the database %s is the target itself", db);
	return 0;
}

int targets_unchanged(const struct targets *t, const struct dut *d, struct err *err)
{
	for (unsigned i = 0; i < t->name.n; i++) {
		const struct dut_info *now = &member_of(d, i)->info;

		if (now->capacity_bytes != t->info[i].capacity_bytes ||
		    now->lba_bytes != t->info[i].lba_bytes)
			return err_set(err, -EPERM, "%s changed while it was looked at",
				       t->name.v[i]);
	}
	return 0;
}

/* ---- what is stored ---- */

/* "sim:./mine.ini?seed=7" with the ini's whole path; a profile that pts brings along is no path. */
static const char *lasting_sim(const char *name, struct arena *a)
{
	char path[PATH_MAX];
	struct dut_name n;
	struct err ignored = { "" };
	size_t len;

	if (dut_name_parse(name, &n, &ignored))
		return name;
	len = strlen(n.path);
	if ((!strchr(n.path, '/') && (len < 5 || strcmp(n.path + len - 4, ".ini"))) ||
	    !realpath(n.path, path) || strncmp(name + 4, n.path, len))
		return name;
	return arena_fmt(a, "sim:%s%s", path, name + 4 + len);
}

static const char *lasting_one(const char *name, const struct dut_info *info, struct arena *a)
{
	char path[PATH_MAX];

	if (info->kind == DUT_SIM)
		return lasting_sim(dut_name_inner(name), a);
	if (info->kind != DUT_FILE || !realpath(info->path, path))
		return dut_name_inner(name);
	return arena_fmt(a, "file:%s?size=%llu", path, (unsigned long long)info->capacity_bytes);
}

const char *targets_lasting(const struct targets *t, const struct dut *d, struct arena *a)
{
	struct set_names n = { .n = t->name.n };
	struct buf b = BUF_INIT;
	const char *name;

	if (!t->set)
		return lasting_one(t->name.v[0], &d->info, a);
	for (unsigned i = 0; i < n.n; i++)
		n.v[i] = arena_strdup(a, lasting_one(t->name.v[i], &member_of(d, i)->info, a));
	set_names_join(&n, &b);
	name = arena_strdup(a, buf_cstr(&b));
	buf_release(&b);
	return name;
}

static unsigned count(const struct key_value *kv)
{
	unsigned n = 0;

	while (kv[n].key)
		n++;
	return n;
}

/* A file or drive has its queue's facts in the host's; a set has them of each member. */
const struct key_value *targets_host(const struct targets *t, const struct dut *d, struct arena *a)
{
	const struct key_value *host = host_facts(a, d->info.path);
	struct key_value *out;
	unsigned n = count(host);

	if (!t->set)
		return host;
	out = arena_array(a, struct key_value, n + t->name.n * n + t->name.n * 64 + 1);
	memcpy(out, host, n * sizeof *out);
	for (unsigned i = 0; i < t->name.n; i++) {
		const char *path = member_of(d, i)->info.path;
		const struct key_value *kv = *path ? host_facts(a, path) : NULL;

		for (unsigned k = 0; kv && kv[k].key; k++)
			if (!strncmp(kv[k].key, "dev_", 4))
				out[n++] = (struct key_value){
					arena_fmt(a, "member%u_%s", i + 1, kv[k].key), kv[k].value
				};
	}
	return out;
}

int targets_store(const struct targets *t, const struct dut *d, struct store *st, int64_t run,
		  struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; t->set && i < t->name.n && !rc; i++) {
		const struct dut_info *m = &member_of(d, i)->info;
		struct buf identity = BUF_INIT;
		struct member_row row = { .run = run,
					  .member = i + 1,
					  .dut = t->name.v[i],
					  .dut_path = m->path,
					  .vendor = m->vendor,
					  .model = m->model,
					  .serial = m->serial,
					  .wwid = m->wwid,
					  .firmware = m->firmware,
					  .interface = m->interface,
					  .capacity_bytes = m->capacity_bytes,
					  .lba_bytes = m->lba_bytes };

		identity_text(member_of(d, i), &identity);
		row.identity = buf_cstr(&identity);
		rc = store_member(st, &row, err);
		buf_release(&identity);
	}
	return rc;
}

int targets_load(struct reader *rd, int64_t run, struct arena *a, struct stored_target *ret,
		 unsigned *ret_n, struct err *err)
{
	struct rows *q = read_rows(rd, err,
				   "SELECT model, serial, firmware, capacity_bytes, lba_bytes, "
				   "identity FROM member WHERE run_id = ? ORDER BY member",
				   "i", run);
	unsigned n = 0;

	if (!q)
		return -EIO;
	while (n < SET_MEMBERS_MAX && rows_next(q) == 1) {
		struct stored_target *t = &ret[n++];

		*t = (struct stored_target){ .identity = arena_strdup(a, rows_text(q, 5)) };
		snprintf(t->id.model, sizeof t->id.model, "%s", rows_text(q, 0));
		snprintf(t->id.serial, sizeof t->id.serial, "%s", rows_text(q, 1));
		snprintf(t->id.firmware, sizeof t->id.firmware, "%s", rows_text(q, 2));
		t->id.capacity_bytes = (uint64_t)rows_int(q, 3);
		t->id.lba_bytes = (uint32_t)rows_int(q, 4);
	}
	*ret_n = n;
	return rows_close(q, err);
}
