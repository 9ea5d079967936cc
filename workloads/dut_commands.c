/* SPDX-License-Identifier: MIT */
/* A block device as the drive it is: NVMe, SAS or SATA behind one set of calls; and what holds while its state is not known. */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "workloads/dut_nvme.h"
#include "workloads/dut_real.h"
#include "workloads/dut_scsi.h"

/* A drive that cannot be asked is a block device still; what that leaves is said beside the choice of a purge. */
static int not_asked(struct dut_real *r, int rc, const struct err *why, struct err *err)
{
	struct dut_info *d = &r->d.info;

	if (rc != -EACCES && rc != -EPERM)
		return err_set(err, rc, "%s: %s", d->path, why->msg);
	d->unasked = true;
	snprintf(d->auto_why, sizeof d->auto_why, "the drive could not be asked: %.150s", why->msg);
	return 0;
}

static int open_scsi(struct dut_real *r, unsigned major, unsigned minor, struct err *err)
{
	struct dut_info *d = &r->d.info;
	struct err why = { "" };
	int rc;

	if (!d->formal || !sysfs_is_scsi("/sys", major, minor))
		return 0;
	rc = scsi_open(d->path, !strcmp(d->interface, "SATA"), &r->scsi, &why);
	if (!rc && !scsi_is(r->scsi, major, minor))
		return err_set(err, -ENODEV, "%s became another device meanwhile", d->path);
	if (!rc)
		scsi_facts(r->scsi, d);
	return rc && rc != -ENOTTY ? not_asked(r, rc, &why, err) : 0;
}

int commands_open(struct dut_real *r, unsigned major, unsigned minor, struct err *err)
{
	struct dut_info *d = &r->d.info;
	struct err why = { "" };
	int rc = nvme_drive_open(major, minor, &r->nvme, &why);

	if (!rc) {
		nvme_facts(r->nvme, d);
		d->erasing = nvme_erasing(r->nvme);
	} else if (rc == -ENOENT)
		rc = open_scsi(r, major, minor, err);
	else
		rc = not_asked(r, rc, &why, err);
	if (!rc && !d->auto_why[0])
		snprintf(d->auto_why, sizeof d->auto_why, "%s",
			 !d->formal ? "a partition is no drive: no command reaches it alone"
			 : d->purge_auto == PURGE_NONE
				 ? "it takes neither purge commands nor discards"
				 : "it takes no purge command that pts knows; a discard is no "
				   "purge of the PTS");
	return rc;
}

void commands_close(struct dut_real *r)
{
	nvme_drive_close(r->nvme);
	scsi_close(r->scsi);
}

int commands_ready(struct dut_real *r, enum purge_method m, struct err *err)
{
	if (r->nvme)
		return nvme_ready(r->nvme, m, &r->d, err);
	return r->scsi ? scsi_ready(r->scsi, m, &r->d, err) : 0;
}

/* The drive as it was measured out when it was opened. */
static int same_size(const struct dut_real *r, struct err *err)
{
	uint64_t bytes = 0;
	int lba = 0;

	if (ioctl(r->fd, BLKGETSIZE64, &bytes) || ioctl(r->fd, BLKSSZGET, &lba))
		return err_set(err, -errno, "%s: its size after the purge: %s", r->d.info.path,
			       strerror(errno));
	if (bytes != r->d.info.capacity_bytes || (uint32_t)lba != r->d.info.lba_bytes)
		return err_set(err, -EIO,
			       "%s: after the purge it has %llu bytes in blocks of %d, before %llu "
			       "in blocks of %u",
			       r->d.info.path, (unsigned long long)bytes, lba,
			       (unsigned long long)r->d.info.capacity_bytes, r->d.info.lba_bytes);
	return 0;
}

int commands_purge(struct dut_real *r, enum purge_method m, char detail[256], struct err *err)
{
	struct err why = { "" }, size = { "" };
	int rc;

	if (r->nvme)
		rc = nvme_purge(r->nvme, m, &r->d, detail, &why);
	else if (r->scsi)
		rc = scsi_purge(r->scsi, m, &r->d, detail, &why);
	else
		return err_set(err, -EOPNOTSUPP, "%s takes no commands", r->d.info.path);
	if (rc == -ETIMEDOUT) {
		snprintf(r->lost, sizeof r->lost, "%.250s", why.msg);
	} else if (
		same_size(
			r,
			&size)) { /* where it failed, too: a format broken off may leave another */
		snprintf(r->lost, sizeof r->lost, "%.250s", size.msg);
		if (!rc)
			return err_set(err, -EIO, "%s", size.msg);
	}
	return rc ? err_set(err, rc, "%s", why.msg) : 0;
}

static int known(const struct dut_real *r, struct err *err)
{
	return r->lost[0] ? err_set(err, -EIO,
				    "%s: no command after a purge that left it like this: %s",
				    r->d.info.path, r->lost)
			  : 0;
}

int commands_write_cache(struct dut_real *r, bool on, bool *ret_was, struct err *err)
{
	int rc = known(r, err);

	if (rc)
		return rc;
	if (r->nvme)
		return nvme_write_cache(r->nvme, on, ret_was, err);
	if (r->scsi)
		return scsi_write_cache(r->scsi, on, ret_was, err);
	return err_set(err, -EOPNOTSUPP, "%s: no write cache that can be switched", r->d.info.name);
}

/* A drive that is asked itself is not asked through sysfs besides: to an NVMe drive that is the same command once more. */
int commands_health(struct dut_real *r, struct health *ret, struct err *err)
{
	struct health h = { .have_temperature = false };
	int rc = known(r, err);

	if (rc)
		return rc;
	if (!r->nvme)
		rc = health_read(r, &h, err);
	else
		health_read_link(r, h.link);
	if (!rc && r->nvme)
		rc = nvme_health(r->nvme, &h, err);
	else if (!rc && r->scsi)
		rc = scsi_health(r->scsi, &h, err);
	if (!rc)
		*ret = h;
	return rc;
}

/* ---- who else is erased ---- */

static bool is_member(const struct dut *set, const char *path)
{
	for (unsigned i = 0; i < set->info.members; i++)
		if (!strcmp(set->member[i]->info.path, path))
			return true;
	return false;
}

/* What the members' purges erase besides the members. */
static int set_reach(const struct dut *set, enum purge_method m, struct purge_reach *ret,
		     struct err *err)
{
	struct purge_reach sum = { .n = 0 }, one;

	for (unsigned i = 0; i < set->info.members; i++) {
		int rc = dut_purge_reach(set->member[i], m, &one, err);

		if (rc)
			return err_prefix(err, rc, "member %u", i + 1);
		for (unsigned k = 0; k < one.n; k++)
			if (!is_member(set, one.path[k]))
				purge_reach_add(&sum, one.path[k]);
	}
	*ret = sum;
	return 0;
}

int dut_purge_reach(const struct dut *d, enum purge_method m, struct purge_reach *ret,
		    struct err *err)
{
	const struct dut_real *r = (const struct dut_real *)d; /* of a block device */

	if (d->info.kind == DUT_SET)
		return set_reach(d, m, ret, err);
	if (d->info.kind == DUT_BLOCK && r->nvme)
		return nvme_reach(r->nvme, m == PURGE_AUTO ? d->info.purge_auto : m, ret, err);
	*ret = (struct purge_reach){ .n = 0 };
	return 0;
}

void purge_reach_add(struct purge_reach *r, const char *path)
{
	for (unsigned i = 0; i < r->n; i++)
		if (!strcmp(r->path[i], path))
			return;
	if (r->n < REACH_MAX)
		snprintf(r->path[r->n++], sizeof r->path[0], "%.31s", path);
	else
		snprintf(r->path[REACH_MAX - 1], sizeof r->path[0], "and more");
}
