/* SPDX-License-Identifier: MIT */
#include "pts/cmd_targets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/gate.h"
#include "pts/gate_sys.h"
#include "pts/host.h"
#include "pts/identity.h"
#include "workloads/dut_again.h"
#include "workloads/dut_nvme.h"

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
		identity_of_dut(member_of(d, i), &b);
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
		if (!rc && o->purge_hook)
			rc = gate_members(&rq, err);
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
			ret_named[k] |= gate_names(&rq, o->destroy.v[k]) ||
					(o->purge_hook && gate_member_named(&rq, o->destroy.v[k]));
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
	for (unsigned i = 0; i < t->name.n; i++) {
		if (!t->info[i].layout[0])
			continue;
		ret[n++] =
			"the target is made of other drives (md, dm): the PTS tests one by itself";
		break;
	}
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

/* A name that means another drive since it passed the gate: the consent was not to that one. */
static int same_target(const struct targets *t, unsigned i, const struct dut *d, struct err *err)
{
	const struct dut_info *was = &t->info[i], *now = &d->info;
	struct buf is = BUF_INIT;
	char diff[640];
	int rc = 0;

	if (dut_differs(was, now, diff, sizeof diff))
		return err_set(err, -EPERM, "%s changed while it was looked at: %s", t->name.v[i],
			       diff);
	if (now->kind != DUT_BLOCK || now->layout[0]) /* a hook may build an array anew */
		return 0;
	identity_of_dut(d, &is);
	if (strcmp(buf_cstr(&is), t->identity[i]))
		rc = err_set(err, -EPERM,
			     "%s became another drive while it was looked at: was '%s', is '%s'",
			     t->name.v[i], t->identity[i], buf_cstr(&is));
	buf_release(&is);
	return rc;
}

int targets_unchanged(const struct targets *t, const struct dut *d, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < t->name.n && !rc; i++)
		rc = same_target(t, i, member_of(d, i), err);
	return rc;
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

/* What a namespace and its controller are called, however the kernel numbered them. */
static unsigned nvme_names(const struct dut_info *d, struct arena *a, struct key_value *out)
{
	struct nvme_place p;
	struct sys_dev dev;
	struct err ignored = { "" };
	unsigned n = 0;

	if (!d->nsid || sys_resolve("", d->path, &dev) ||
	    nvme_place_find("/sys", dev.major, dev.minor, &p, &ignored))
		return 0;
	if (p.eui[0])
		out[n++] = (struct key_value){ "dev_eui64", arena_strdup(a, p.eui) };
	if (p.nguid[0])
		out[n++] = (struct key_value){ "dev_nguid", arena_strdup(a, p.nguid) };
	out[n++] = (struct key_value){ "dev_controller", arena_strdup(a, p.ctrl) };
	if (p.address[0])
		out[n++] = (struct key_value){ "dev_address", arena_strdup(a, p.address) };
	return n;
}

/* What nothing else of the run tells of a drive. */
static unsigned drive_facts(const struct dut_info *d, struct arena *a, struct key_value *out)
{
	unsigned n = nvme_names(d, a, out);

	if (d->nsid)
		out[n++] = (struct key_value){ "dev_nsid", arena_fmt(a, "%u", d->nsid) };
	if (d->transport[0])
		out[n++] = (struct key_value){ "dev_transport", arena_strdup(a, d->transport) };
	if (d->link_max[0])
		out[n++] = (struct key_value){ "dev_link_max", arena_strdup(a, d->link_max) };
	if (d->layout[0])
		out[n++] = (struct key_value){ "dev_layout", arena_strdup(a, d->layout) };
	return n;
}

/* "dev_member1": "/dev/nvme1n1, ACME 9000, serial S1, firmware 1.0, wwid eui.01, 1.92 TB" */
static unsigned member_facts(const struct dut_info *d, struct arena *a, struct key_value *out)
{
	struct layout l;

	if (!d->layout[0] || !gate_layout("", d->path, &l))
		return 0;
	for (unsigned i = 0; i < l.n; i++) {
		const struct layout_member *m = &l.member[i];
		char size[32];

		fmt_capacity(size, sizeof size, m->capacity_bytes);
		out[i].key = arena_fmt(a, "dev_member%u", i + 1);
		out[i].value = arena_fmt(
			a, "%s, %s, serial %s, firmware %s, wwid %s, %s", m->path,
			m->model[0] ? m->model : "no model", m->serial[0] ? m->serial : "none",
			m->firmware[0] ? m->firmware : "none", m->wwid[0] ? m->wwid : "none", size);
	}
	return l.n;
}

enum { DRIVE_FACTS_MAX = 8 + LAYOUT_MEMBERS_MAX };

/* The host's facts and those of a drive; ends with key NULL. */
static const struct key_value *facts_with(const struct dut_info *d, struct arena *a)
{
	const struct key_value *host = host_facts(a, d->path);
	unsigned n = count(host);
	struct key_value *out = arena_array(a, struct key_value, n + DRIVE_FACTS_MAX + 1);

	memcpy(out, host, n * sizeof *out);
	n += drive_facts(d, a, out + n);
	n += member_facts(d, a, out + n);
	out[n] = (struct key_value){ NULL, NULL };
	return out;
}

/* A file or drive has its queue's facts in the host's; a set has them of each member. */
const struct key_value *targets_host(const struct targets *t, const struct dut *d, struct arena *a)
{
	const struct key_value *host = t->set ? host_facts(a, d->info.path)
					      : facts_with(&d->info, a);
	unsigned n = count(host), cap = n;
	const struct key_value **each;
	struct key_value *out;

	if (!t->set)
		return host;
	each = arena_array(a, const struct key_value *, t->name.n);
	for (unsigned i = 0; i < t->name.n; i++) {
		each[i] = *member_of(d, i)->info.path ? facts_with(&member_of(d, i)->info, a)
						      : NULL;
		cap += each[i] ? count(each[i]) : 0;
	}
	out = arena_array(a, struct key_value, cap + 1);
	memcpy(out, host, n * sizeof *out);
	for (unsigned i = 0; i < t->name.n; i++)
		for (const struct key_value *kv = each[i]; kv && kv->key; kv++)
			if (!strncmp(kv->key, "dev_", 4))
				out[n++] = (struct key_value){
					arena_fmt(a, "member%u_%s", i + 1, kv->key), kv->value
				};
	out[n] = (struct key_value){ NULL, NULL };
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

		identity_of_dut(member_of(d, i), &identity);
		row.identity = buf_cstr(&identity);
		rc = store_member(st, &row, err);
		buf_release(&identity);
	}
	return rc;
}

int targets_load(struct reader *rd, int64_t run, struct arena *a, struct stored_target *ret,
		 unsigned *ret_n, struct err *err)
{
	struct rows *q = read_rows(
		rd, err,
		"SELECT model, serial, firmware, capacity_bytes, lba_bytes, "
		"identity, wwid, dut_path, (SELECT value FROM v_host h JOIN "
		"v_run r USING (host_id) WHERE r.run_id = member.run_id AND key "
		"= 'member' || member || '_dev_nsid') FROM member WHERE run_id = ? ORDER BY member",
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
		snprintf(t->id.wwid, sizeof t->id.wwid, "%s", rows_text(q, 6));
		snprintf(t->id.path, sizeof t->id.path, "%s", rows_text(q, 7));
		t->id.nsid = (uint32_t)rows_int(q, 8);
	}
	*ret_n = n;
	return rows_close(q, err);
}
