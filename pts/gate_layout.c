/* SPDX-License-Identifier: MIT */
/* Arrays as targets, and what a purge reaches besides its target. */
#include <blkid/blkid.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pts/gate.h"
#include "pts/gate_sys.h"
#include "workloads/dut_layout.h"

/* ---- arrays ---- */

bool gate_layout(const char *sysroot, const char *path, struct layout *ret)
{
	const char *root = sysroot ? sysroot : "";
	char sys[PATH_MAX];
	struct sys_dev dev;

	if (sys_resolve(root, path, &dev))
		return false;
	snprintf(sys, sizeof sys, "%s/sys", root);
	return layout_find(sys, dev.major, dev.minor, ret);
}

/* The array's uuid as it stands in the superblock of a member, for kernels that do not tell it. */
static bool superblock_uuid(const char *root, const char *member, char *ret, unsigned n)
{
	const char *type = NULL, *uuid = NULL;
	char path[PATH_MAX];
	blkid_probe pr;
	bool found;
	int fd;

	snprintf(path, sizeof path, "%s%s", root, member);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	pr = blkid_new_probe();
	found = pr && !blkid_probe_set_device(pr, fd, 0, 0);
	if (found) {
		blkid_probe_enable_superblocks(pr, 1);
		blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID);
		found = !blkid_do_safeprobe(pr);
	}
	if (found) {
		blkid_probe_lookup_value(pr, "TYPE", &type, NULL);
		blkid_probe_lookup_value(pr, "UUID", &uuid, NULL);
		found = type && uuid && !strcmp(type, "linux_raid_member");
		if (found)
			snprintf(ret, n, "%s", uuid);
	}
	blkid_free_probe(pr);
	close(fd);
	return found;
}

void gate_layout_uuid(const char *sysroot, const struct layout *l, char *ret, unsigned n)
{
	bool done = l->uuid[0] || l->kind[0] != 'm';

	snprintf(ret, n, "%s", l->uuid);
	for (unsigned i = 0; i < l->n && !done; i++)
		done = superblock_uuid(sysroot ? sysroot : "", l->member[i].path, ret, n);
}

/* mdadm parts the digits by ':', others by '-'. */
static bool same_uuid(const char *a, const char *b)
{
	while (*a || *b) {
		if (*a && strchr(":-", *a))
			a++;
		else if (*b && strchr(":-", *b))
			b++;
		else if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
			return false;
	}
	return true;
}

bool gate_layout_named(const struct gate_request *rq, const char *word)
{
	struct layout l;
	char uuid[140];

	if (!rq->info->layout[0] || !gate_layout(rq->sysroot, rq->info->path, &l))
		return false;
	gate_layout_uuid(rq->sysroot, &l, uuid, sizeof uuid);
	if (uuid[0] && same_uuid(uuid, word))
		return true;
	return l.name[0] && !strncmp(word, "/dev/mapper/", 12) && !strcmp(word + 12, l.name);
}

static bool has_word(const struct gate_request *rq, const struct layout_member *m)
{
	for (unsigned i = 0; i < rq->n_destroy; i++)
		if (!strcmp(rq->destroy[i], m->serial[0] ? m->serial : m->path))
			return true;
	return false;
}

int gate_members(const struct gate_request *rq, struct err *err)
{
	struct buf missing = BUF_INIT;
	struct layout l;
	int rc = 0;

	if (!gate_layout(rq->sysroot, rq->info->path, &l))
		return 0;
	for (unsigned i = 0; i < l.n; i++)
		if (!has_word(rq, &l.member[i]))
			buf_fmt(&missing, " --destroy '%s'",
				l.member[i].serial[0] ? l.member[i].serial : l.member[i].path);
	if (missing.len)
		rc = err_set(err, -EPERM,
			     "the hook would purge the members of %s: give%.700s to agree", rq->dut,
			     buf_cstr(&missing));
	buf_release(&missing);
	return rc;
}

bool gate_member_named(const struct gate_request *rq, const char *word)
{
	struct gate_request one = *rq;
	struct layout l;

	one.destroy = &word;
	one.n_destroy = 1;
	if (!rq->info->layout[0] || !gate_layout(rq->sysroot, rq->info->path, &l))
		return false;
	for (unsigned i = 0; i < l.n; i++)
		if (has_word(&one, &l.member[i]))
			return true;
	return false;
}

/* ---- other namespaces ---- */

/* "/dev/nvme0n2, nvme0 nsid 3" */
static void name_them(const struct purge_reach *reach, char *ret, size_t n)
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < reach->n && i < REACH_MAX && len < n; i++)
		len += (size_t)snprintf(ret + len, n - len, "%s%s", i ? ", " : "", reach->path[i]);
}

int gate_reach(const struct gate_request *rq, enum purge_method m, const struct purge_reach *reach,
	       bool all_namespaces, struct err *err)
{
	const char *method = purge_method_name(m);
	char list[512];

	if (!reach->n)
		return 0;
	name_them(reach, list, sizeof list);
	if (!all_namespaces)
		return err_set(err, -EPERM,
			       "%s: purge by %s erases more than it: %s as well: give "
			       "--all-namespaces if all of them may go, or another --method",
			       rq->dut, method, list);
	for (unsigned i = 0; i < reach->n && i < REACH_MAX; i++) {
		struct dut_info other = { .kind = DUT_BLOCK };
		struct gate_request one = *rq;
		int rc;

		if (!strcmp(reach->path[i], "and more")) /* what has no name cannot be looked at */
			return err_set(err, -EPERM,
				       "%s: purge by %s erases more than %d other namespaces: too "
				       "many to look at; take another --method",
				       rq->dut, method, REACH_MAX - 1);
		if (strncmp(reach->path[i], "/dev/", 5)) /* no block device: nobody here uses it */
			continue;
		snprintf(other.path, sizeof other.path, "%s", reach->path[i]);
		one.info = &other;
		one.dut = reach->path[i];
		one.agreed = true;
		rc = gate_check(&one, err);
		if (rc)
			return err_prefix(err, rc, "%s: purge by %s erases %s as well", rq->dut,
					  method, list);
	}
	return 0;
}
