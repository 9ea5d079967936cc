/* SPDX-License-Identifier: MIT */
#include "workloads/dut_security.h"

#include "workloads/dut_real.h"
#include "workloads/dut_scsi_impl.h"

const char *dut_security(const struct dut *d)
{
	const struct dut_real *r = (const struct dut_real *)d; /* of a block device */
	enum ata_security s;

	if (d->info.kind != DUT_BLOCK || !r->scsi || !r->scsi->have_identify)
		return "";
	s = ata_security_of(r->scsi->identify);
	return s == ATA_NONE ? "" : ata_security_text(s);
}
