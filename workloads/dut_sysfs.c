/* SPDX-License-Identifier: MIT */
/* What the kernel tells about a block device. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "workloads/dut_nvme.h"
#include "workloads/dut_real.h"

#define DIR_BYTES 600

/* Length of a valid UTF-8 sequence at @s, 0 for none and for control characters. */
static unsigned utf8_len(const unsigned char *s)
{
	unsigned n = s[0] < 0x80		   ? 1
		     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	if (n == 1)
		return isprint(s[0]) ? 1 : 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void clean_text(char *out, size_t n, const char *in)
{
	const unsigned char *s = (const unsigned char *)in;
	size_t at = 0;

	while (*s && at + 5 < n) {
		unsigned len = *s == ' ' ? 0 : utf8_len(s);
		if (len) {
			memcpy(out + at, s, len);
			at += len;
			s += len;
			continue;
		}
		if (at && out[at - 1] != ' ')
			out[at++] = ' ';
		s++;
	}
	while (at && out[at - 1] == ' ')
		at--;
	out[at] = 0;
}

void sysfs_attribute(char *out, size_t n, const char *dir, const char *name)
{
	struct buf b = BUF_INIT;
	char path[DIR_BYTES + 64];

	out[0] = 0;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	if (!buf_read_file(&b, path, 4096))
		clean_text(out, n, buf_cstr(&b));
	buf_release(&b);
}

/* SCSI vital product data: a binary header of four bytes before the text. */
static void vpd_serial(char *out, size_t n, const char *dir)
{
	struct buf b = BUF_INIT;
	char path[DIR_BYTES + 64];

	snprintf(path, sizeof path, "%s/device/vpd_pg80", dir);
	if (!buf_read_file(&b, path, 4096) && b.len > 4)
		clean_text(out, n, b.s + 4);
	buf_release(&b);
}

/* Directory of the whole drive: of a partition the one above. */
static void drive_dir(char *out, size_t n, const char *root, unsigned major, unsigned minor)
{
	char path[DIR_BYTES], real[PATH_MAX], part[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof path, "%s/dev/block/%u:%u", root, major, minor);
	if (!realpath(path, real))
		snprintf(real, sizeof real, "%s", path);
	snprintf(part, sizeof part, "%s/partition", real);
	if (!stat(part, &st))
		*strrchr(real, '/') = 0;
	snprintf(out, n, "%.*s", (int)n - 1, real);
}

static bool exists(const char *dir, const char *name)
{
	char path[DIR_BYTES + 64];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return !stat(path, &st);
}

/* How the drive is attached, from its place in the device tree. */
static void find_interface(struct dut_info *d, const char *dir, const char *block)
{
	char real[PATH_MAX], path[DIR_BYTES + 16], transport[32];

	snprintf(path, sizeof path, "%s/device", dir);
	if (!realpath(path, real))
		real[0] = 0;
	sysfs_attribute(transport, sizeof transport, path, "transport");
	if (!strncmp(block, "nvme", 4))
		snprintf(d->interface, sizeof d->interface, "NVMe%s%s%s", transport[0] ? " (" : "",
			 transport, transport[0] ? ")" : "");
	else if (strstr(real, "/ata"))
		snprintf(d->interface, sizeof d->interface, "SATA");
	else if (strstr(real, "/end_device-"))
		snprintf(d->interface, sizeof d->interface, "SAS");
	else if (strstr(real, "/usb"))
		snprintf(d->interface, sizeof d->interface, "USB");
	else if (strstr(real, "/virtio"))
		snprintf(d->interface, sizeof d->interface, "virtio");
	else if (exists(dir, "loop"))
		snprintf(d->interface, sizeof d->interface, "loop");
	else if (real[0] && exists(path, "scsi_level"))
		snprintf(d->interface, sizeof d->interface, "SCSI");
}

/* hwmonN/temp1_input in @dir. */
static bool hwmon_in(const char *dir, char *out, size_t n)
{
	DIR *d = opendir(dir);
	bool found = false;

	for (struct dirent *e; d && !found && (e = readdir(d));) {
		if (strncmp(e->d_name, "hwmon", 5) || !isdigit((unsigned char)e->d_name[5]))
			continue;
		snprintf(out, n, "%s/%s/temp1_input", dir, e->d_name);
		struct stat st;
		found = !stat(out, &st);
	}
	if (d)
		closedir(d);
	if (!found)
		out[0] = 0;
	return found;
}

static void find_temperature(struct dut_real *r, const char *dir)
{
	static const char *const places[] = { "device", "device/hwmon", "device/device/hwmon" };
	char path[DIR_BYTES];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%.500s/%s", dir, places[i]);
		if (hwmon_in(path, r->temperature, sizeof r->temperature))
			return;
	}
}

static uint64_t number(const char *dir, const char *name)
{
	char text[32];
	uint64_t v;

	sysfs_attribute(text, sizeof text, dir, name);
	return parse_uint(text, 0, UINT64_MAX, &v) ? 0 : v;
}

/* With native multipath the disk hangs under a subsystem: transport, link and node are its controller's. */
static void nvme_facts_of(const char *root, unsigned major, unsigned minor, struct dut_real *r)
{
	struct dut_info *d = &r->d.info;
	struct nvme_place p;
	struct err ignored = { "" };

	d->numa_node = -1;
	if (nvme_place_find(root, major, minor, &p, &ignored))
		return;
	d->nsid = p.nsid;
	d->numa_node = p.numa_node;
	snprintf(d->transport, sizeof d->transport, "%s", p.transport);
	if (p.serial[0])
		snprintf(d->serial, sizeof d->serial, "%s", p.serial);
	snprintf(d->interface, sizeof d->interface, "NVMe (%.20s)", p.transport);
	health_find_link(r, p.ctrl_dir);
}

/* The node that the host adapter is at. */
static void find_numa(struct dut_info *d, const char *dir)
{
	char at[PATH_MAX], path[PATH_MAX + 16], text[16], *slash;
	uint64_t node;

	snprintf(path, sizeof path, "%s/device", dir);
	if (!realpath(path, at))
		return;
	while ((slash = strrchr(at, '/')) && slash != at) {
		snprintf(path, sizeof path, "%s/numa_node", at);
		if (!access(path, F_OK)) {
			sysfs_attribute(text, sizeof text, at, "numa_node");
			if (!parse_uint(text, 0, INT_MAX, &node))
				d->numa_node = (int)node;
			return;
		}
		*slash = 0;
	}
}

void sysfs_facts(const char *root, unsigned major, unsigned minor, struct dut_real *r)
{
	struct dut_info *d = &r->d.info;
	char own[DIR_BYTES], dir[DIR_BYTES];

	snprintf(own, sizeof own, "%s/dev/block/%u:%u", root, major, minor);
	drive_dir(dir, sizeof dir, root, major, minor);
	const char *block = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;
	d->formal = !exists(own, "partition");
	sysfs_attribute(d->model, sizeof d->model, dir, "device/model");
	sysfs_attribute(d->vendor, sizeof d->vendor, dir, "device/vendor");
	if (!strncmp(d->vendor, "0x", 2)) /* a PCI or virtio number, no name */
		d->vendor[0] = 0;
	sysfs_attribute(d->serial, sizeof d->serial, dir, "device/serial");
	if (!d->serial[0])
		sysfs_attribute(d->serial, sizeof d->serial, dir, "serial");
	if (!d->serial[0])
		vpd_serial(d->serial, sizeof d->serial, dir);
	sysfs_attribute(d->firmware, sizeof d->firmware, dir, "device/firmware_rev");
	if (!d->firmware[0])
		sysfs_attribute(d->firmware, sizeof d->firmware, dir, "device/rev");
	sysfs_attribute(d->wwid, sizeof d->wwid, dir, "wwid");
	if (!d->wwid[0])
		sysfs_attribute(d->wwid, sizeof d->wwid, dir, "device/wwid");
	find_interface(d, dir, block);
	if (!d->model[0] && (exists(dir, "loop") || !strncmp(block, "zram", 4)))
		snprintf(d->model, sizeof d->model, "%s", exists(dir, "loop") ? "loop" : "zram");
	find_temperature(r, dir);
	health_find_link(r, dir);
	nvme_facts_of(root, major, minor, r);
	health_read_link(r, d->link);
	health_read_link_max(r, d->link_max);
	if (!d->transport[0] && (!strcmp(d->interface, "SATA") || !strcmp(d->interface, "SAS")))
		snprintf(d->transport, sizeof d->transport, "%s", d->interface[3] ? "sata" : "sas");
	if (d->numa_node < 0)
		find_numa(d, dir);
	d->capacity_bytes = number(own, "size") * 512;
	d->lba_bytes = (uint32_t)number(dir, "queue/logical_block_size");
	if (number(dir, "queue/discard_max_bytes"))
		d->purge_methods |= 1u << PURGE_BLKDISCARD;
}

bool sysfs_host_managed(const char *root, unsigned major, unsigned minor)
{
	char dir[DIR_BYTES], zoned[32];

	drive_dir(dir, sizeof dir, root, major, minor);
	sysfs_attribute(zoned, sizeof zoned, dir, "queue/zoned");
	return !strcmp(zoned, "host-managed");
}

bool sysfs_is_scsi(const char *root, unsigned major, unsigned minor)
{
	char dir[DIR_BYTES];

	drive_dir(dir, sizeof dir, root, major, minor);
	return exists(dir, "device/scsi_level");
}
