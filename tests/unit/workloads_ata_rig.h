/* SPDX-License-Identifier: MIT */
/* What the tests of SATA drives share beside the script of SCSI commands. */
#ifndef TESTS_UNIT_WORKLOADS_ATA_RIG_H
#define TESTS_UNIT_WORKLOADS_ATA_RIG_H

#include "tests/unit/workloads_scsi_rig.h"

/* An ATA status as a controller of SAT brings it back. */
static struct line *with_registers(struct line *l, unsigned count, uint32_t lba, unsigned error)
{
	const uint8_t d[22] = { 0x72,
				error ? 0x0b : 1,
				0,
				error ? 0 : 0x1d,
				0,
				0,
				0,
				14,
				0x09,
				12,
				1,
				(uint8_t)error,
				(uint8_t)(count >> 8),
				(uint8_t)count,
				(uint8_t)(lba >> 24),
				(uint8_t)lba,
				0,
				(uint8_t)(lba >> 8),
				0,
				(uint8_t)(lba >> 16),
				0x40,
				error ? 0x51 : 0x50 };

	l->status = 2;
	memcpy(l->sense, d, sizeof d);
	l->sense_len = sizeof d;
	return l;
}

#endif
