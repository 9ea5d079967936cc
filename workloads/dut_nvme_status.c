/* SPDX-License-Identifier: MIT */
/* Status codes of NVMe: what they mean for a purge, and what the operator does next. Nothing here tries a harsher method. */
#include <errno.h>
#include <libnvme.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dut_nvme_impl.h"

#define LOCKED \
	"unlock it in the BIOS or with its Opal password, or suspend and resume the host, then " \
	"purge again"
#define OTHER "name another --method that `pts devices` lists"
#define REPLUG \
	"power the drive off and on and look at its SMART log; if it stays so, the drive is " \
	"broken"

static const struct meaning {
	unsigned code;
	int rc;
	const char *cause, *next;
} meanings[] = {
	{ 0x001, -EIO,
	  "the drive does not take this command: it has none, or BIOS or Opal locked it", LOCKED },
	{ 0x002, -EIO, "the drive does not take these settings", OTHER },
	{ 0x004, -EIO, "the drive could not transfer the data", REPLUG },
	{ 0x005, -EIO, "the drive is losing power", REPLUG },
	{ 0x006, -EIO, "the drive failed inside", REPLUG },
	{ 0x007, -ETIMEDOUT, "the kernel gave the command up", REPLUG },
	{ 0x008, -ETIMEDOUT, "the controller was reset meanwhile", REPLUG },
	{ 0x00b, -EIO, "the drive has no such namespace, or not in this format",
	  "rescan the controller (nvme ns-rescan) and look at `pts devices`" },
	{ 0x00c, -EIO, "another command had to come before this one", LOCKED },
	{ 0x015, -EACCES, "the drive denies it: it is locked", LOCKED },
	{ 0x01c, -EIO, "the last sanitize failed and the drive refuses all else",
	  "purge by a sanitize method until one succeeds" },
	{ NVME_CODE_SANITIZE_RUNS, -EBUSY, "a sanitize is in progress",
	  "wait for it: pts purge does so by itself" },
	{ 0x020, -EROFS, "the namespace is write protected",
	  "lift its write protection (nvme set-feature, feature 84h), or power the drive off and "
	  "on" },
	{ 0x021, -EIO, "the drive broke the command off", "try it again" },
	{ 0x022, -EIO, "the transport failed for a moment", "try it again" },
	{ 0x023, -EACCES, "command lockdown forbids it",
	  "lift it where it was set: BMC or management software" },
	{ 0x024, -EIO, "the medium is not ready", "try it again in a minute" },
	{ 0x082, -EIO, "the namespace is not ready", "try it again in a minute" },
	{ 0x083, -EACCES, "another host holds a reservation on the namespace",
	  "release it there (nvme resv-release)" },
	{ 0x084, -EBUSY, "a format is in progress", "wait for its end, then purge again" },
	{ 0x10a, -EIO,
	  "the drive does not take this LBA format or erase setting; some answer so while frozen",
	  "suspend and resume the host and purge again, or " OTHER },
	{ 0x10b, -EIO, "new firmware waits for a reset", "power the drive off and on" },
	{ 0x10d, -EIO, "the feature cannot be saved", OTHER },
	{ 0x10e, -EIO, "the feature cannot be changed", "leave it as it is" },
	{ 0x110, -EIO, "new firmware waits for a reset of the subsystem",
	  "power the drive off and on" },
	{ 0x111, -EIO, "new firmware waits for a reset of the controller",
	  "power the drive off and on" },
	{ 0x11d, -EBUSY, "a self-test of the drive is in progress", "wait for its end" },
	{ 0x123, -EIO, "no sanitize while the persistent memory region is on", "switch it off" },
	{ 0x286, -EACCES, "the drive denies access: it is locked", LOCKED },
	{ 0x370, -ETIMEDOUT, "no way to the controller was left", REPLUG },
	{ 0x371, -ETIMEDOUT, "the kernel gave the command up", REPLUG },
};

static const struct meaning *find(int rc)
{
	static const struct meaning none = { 0, -EIO, "what that means here is not known to pts",
					     "look for it in the drive's manual; " OTHER };

	for (unsigned i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (meanings[i].code == nvme_code(rc))
			return &meanings[i];
	return &none;
}

void nvme_status_text(int rc, char *out, size_t n)
{
	const struct meaning *m = find(rc);
	const char *name = nvme_status_to_string((int)nvme_code(rc), false);

	snprintf(out, n, "status 0x%04x, %.60s: %s; %s", (unsigned)rc & 0xffff,
		 name ? name : "unknown", m->cause, m->next);
}

static int no_status(struct nvme_drive *n, int e, const char *what, struct err *err)
{
	switch (e) {
	case ETIMEDOUT:
	case EINTR: /* how the kernel says that it cancelled it */
	case ECANCELED:
		n->unknown = true;
		return err_set(
			err, -ETIMEDOUT,
			"%s: %s: no answer in time (%s): what the drive does now is not "
			"known; look at it before any use (nvme id-ctrl, nvme sanitize-log), "
			"then purge again",
			n->place.ctrl, what, strerror(e));
	case EPERM:
	case EACCES:
		return err_set(err, -EACCES, "%s: %s: no permission (are you root?)", n->place.ctrl,
			       what);
	case ENODEV:
	case ENXIO:
		return err_set(err, -ENODEV, "%s: %s: the controller is gone", n->place.ctrl, what);
	default:
		return err_set(err, e ? -e : -EIO, "%s: %s: %s", n->place.ctrl, what, strerror(e));
	}
}

int nvme_result(struct nvme_drive *n, int rc, const char *what, struct err *err)
{
	char text[400];

	if (rc < 0)
		return no_status(n, errno, what, err);
	if (!rc)
		return 0;
	nvme_status_text(rc, text, sizeof text);
	n->unknown |= find(rc)->rc == -ETIMEDOUT;
	return err_set(err, find(rc)->rc, "%s: %s: %s", n->place.ctrl, what, text);
}
