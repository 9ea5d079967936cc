/* SPDX-License-Identifier: MIT */
/* Block devices and files: what dut.c, dut_*.c and purge.c share. */
#ifndef WORKLOADS_DUT_REAL_H
#define WORKLOADS_DUT_REAL_H

#include <stddef.h>

#include "workloads/dut.h"
#include "workloads/pass.h"

struct engine;
struct nvme_drive;
struct scsi_drive;

struct dut_real {
	struct dut d;
	int fd; /* -1: opened for its facts only */
	bool buffered; /* the file system refuses O_DIRECT */
	struct engine *engine; /* NULL: opened for its facts only */
	char fault[256]; /* tests only: see fault.h; "" none */
	uint64_t deadline_ns; /* from there; 0: the job's */
	bool polled, passthrough;
	struct pass pass; /* open while passthrough is asked for and @fd is */
	struct nvme_drive *nvme; /* dut_nvme.h; NULL: no NVMe namespace, or no right to ask it */
	struct scsi_drive *scsi; /* dut_scsi.h: SAS or SATA; NULL */
	char lost
		[256]; /* why no IO may follow: a purge left the drive in a state that is not known; "" fine */
	char dump_latencies[512]; /* "" none */
	char temperature[600]; /* file in sysfs, m degrees C; "" none */
	char link[600]; /* file in sysfs with the speed of the link; "" none */
};

struct dut_request {
	const struct dut_name *name;
	const char *typed;
	enum dut_open_mode mode;
	const struct dut_options *opt;
};

int dut_file_open(const struct dut_request *q, struct dut **ret, struct err *err) must_check;
int dut_block_open(const struct dut_request *q, struct dut **ret, struct err *err) must_check;

/* dut_block.c: an empty one with its operations; and the engine on it, once fd and facts are there. */
struct dut_real *dut_real_new(const struct dut_request *q, enum dut_kind kind);
int dut_real_start(struct dut_real *r, struct err *err) must_check;

/* dut_sysfs.c: fills what sysfs knows of block device @major:@minor; @root is "/sys" but in tests. */
void sysfs_facts(const char *root, unsigned major, unsigned minor, struct dut_real *r);
bool sysfs_host_managed(const char *root, unsigned major, unsigned minor);
bool sysfs_is_scsi(const char *root, unsigned major, unsigned minor);
/* The text of a file in sysfs, cleaned; "" when there is no such file. */
void sysfs_attribute(char *out, size_t n, const char *dir, const char *name);
/*
 * dut_health.c. Degrees are told whole, rounded to the nearest: drives know no finer, and the Kelvin of NVMe (0: not told)
 * have a fraction in Celsius that was never measured: 313 K is 40 C, not 39.85.
 */
double health_whole_c(double c);
double health_kelvin_c(unsigned kelvin); /* NAN for 0 */
/* The 512 bytes of NVMe's SMART / Health log. */
void health_smart(const uint8_t log[512], struct health *ret);
/* Finds the link of the drive whose folder in sysfs is @dir. */
void health_find_link(struct dut_real *r, const char *dir);
/* "16.0 GT/s PCIe" and "4" become "16.0 GT/s x4"; "6.0 Gbps" stays. @out is left alone where nothing is told. */
void health_read_link(const struct dut_real *r, char out[32]);
/* The same of the most that both ends can do. */
void health_read_link_max(const struct dut_real *r, char out[32]);
/* Asks the drive, through sysfs: to an NVMe drive each call is a command. What cannot be read is an error, and no more. */
int health_read(const struct dut_real *r, struct health *ret, struct err *err) must_check;
/* Printable UTF-8 only, trimmed, runs of blanks made one. */
void clean_text(char *out, size_t n, const char *in);

/*
 * dut_commands.c: the drive behind the block device, NVMe, SAS or SATA. Opening fills what it tells of itself; without the right to
 * ask it that is no error, and its purge commands are not offered.
 */
int commands_open(struct dut_real *r, unsigned major, unsigned minor, struct err *err) must_check;
void commands_close(struct dut_real *r);
/* Before anything is marked: waits for what runs in the drive by itself. */
int commands_ready(struct dut_real *r, enum purge_method m, struct err *err) must_check;
/* As nvme_purge(). The drive must have the same size after it; where that is not known, r->lost says so. */
int commands_purge(struct dut_real *r, enum purge_method m, char detail[256],
		   struct err *err) must_check;
int commands_write_cache(struct dut_real *r, bool on, bool *ret_was, struct err *err) must_check;
int commands_health(struct dut_real *r, struct health *ret, struct err *err) must_check;
/* Each path once; what does not fit is "and more". */
void purge_reach_add(struct purge_reach *r, const char *path);

/* purge.c: marks blocks, erases, reads them back. */
int purge_real(struct dut_real *r, enum purge_method m, struct purge_report *ret,
	       struct err *err) must_check;

#endif
