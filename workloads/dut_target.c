/* SPDX-License-Identifier: MIT */
#include "workloads/dut_target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "workloads/dut_real.h"
#include "workloads/fault.h"

static int open_to_read(const struct dut_info *d, struct err *err)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, fd = open(d->path, flags | O_DIRECT);

	if (fd < 0 && errno == EINVAL) /* a file system without direct IO */
		fd = open(d->path, flags);
	return fd < 0 ? err_set(err, -errno, "%s: %s", d->path, strerror(errno)) : fd;
}

static int open_pass(const struct dut_real *r, struct engine_target *t, struct err *err)
{
	if (!r->passthrough)
		return 0;
	return r->fd < 0 ? pass_open(t->fd, true, &t->pass, err)
			 : pass_dup(&r->pass, &t->pass, err);
}

int dut_target_open(struct dut *d, struct engine_target *ret, struct err *err)
{
	const struct dut_real *r = (const struct dut_real *)d; /* d is its first member */
	struct engine_target t = { .capacity_bytes = d->info.capacity_bytes,
				   .lba_bytes = d->info.lba_bytes,
				   .mem_align = d->info.dio_mem_align };
	int rc;

	if (d->info.kind != DUT_FILE && d->info.kind != DUT_BLOCK)
		return err_set(err, -EINVAL, "%s: IOs cannot be issued one by one there",
			       d->info.name);
	t.fd = r->fd < 0 ? open_to_read(&d->info, err) : fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	if (t.fd < 0)
		return r->fd < 0 ? t.fd
				 : err_set(err, -errno, "%s: %s", d->info.path, strerror(errno));
	rc = open_pass(r, &t, err);
	if (!rc && r->fault[0])
		rc = fault_open(r->fault, &t.fault, err);
	if (rc) {
		pass_close(&t.pass);
		close(t.fd);
		return rc;
	}
	*ret = t;
	return 0;
}

void dut_target_close(struct engine_target *t)
{
	pass_close(&t->pass);
	if (t->fd > 0)
		close(t->fd);
	fault_close(t->fault);
	*t = (struct engine_target){ .fd = -1 };
}
