/* SPDX-License-Identifier: MIT */
/*
 * What a drive says of itself. Through sysfs: its temperature and alarm (hwmon: nvme, drivetemp), the speed and width of its
 * link. The SMART log of NVMe is read here as bytes; who fetches it is the NVMe backend's matter.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pts/base/buf.h"
#include "workloads/dut_real.h"

#define KELVIN 273.15
#define DATA_UNIT_BYTES 512000ull /* NVMe: a thousand units of 512 bytes */

double health_whole_c(double c)
{
	return round(c);
}

double health_kelvin_c(unsigned kelvin)
{
	return kelvin ? health_whole_c(kelvin - KELVIN) : NAN;
}

/* ---- NVMe log page 02h ---- */

static uint64_t le64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 8; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* What is 128 bits wide in the log, and never that large. */
static uint64_t le128(const uint8_t *p)
{
	return le64(p + 8) ? UINT64_MAX : le64(p);
}

void health_smart(const uint8_t log[512], struct health *ret)
{
	static const char *const bits[] = {
		"spare below its threshold",	  "temperature beyond a threshold",
		"reliability degraded by errors", "read-only",
		"volatile memory backup failed",  "persistent memory region unreliable"
	};
	double c = health_kelvin_c(log[1] | (unsigned)log[2] << 8);
	uint64_t units = le128(log + 48);
	struct health h = { .have_temperature = !isnan(c),
			    .temperature_c = isnan(c) ? 0 : c,
			    .critical = log[0] != 0,
			    .percentage_used = log[5],
			    .media_errors = le128(log + 160) };
	size_t at = 0;

	h.host_written_bytes = units > UINT64_MAX / DATA_UNIT_BYTES ? UINT64_MAX
								    : units * DATA_UNIT_BYTES;
	for (unsigned i = 0; i < sizeof bits / sizeof *bits && at < sizeof h.text; i++)
		if (log[0] & 1u << i)
			at += (size_t)snprintf(h.text + at, sizeof h.text - at, "%s%s",
					       at ? ", " : "", bits[i]);
	*ret = h;
}

/* ---- where sysfs keeps it ---- */

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

/* "ata7": the number, else 0. */
static unsigned ata_port(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned n;
	int end = 0;

	return name && sscanf(name, "/ata%u%n", &n, &end) == 1 && !name[end] ? n : 0;
}

/* An NVMe namespace with more than one way to it hangs under its subsystem: the first controller's folder. */
static bool controller_of(const char *dir, char real[PATH_MAX])
{
	char up[PATH_MAX], path[PATH_MAX + 300];
	bool found = false;
	DIR *d;

	snprintf(up, sizeof up, "%s/device", dir);
	d = opendir(up);
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		unsigned n;
		int end = 0;

		if (sscanf(e->d_name, "nvme%u%n", &n, &end) != 1 || e->d_name[end])
			continue;
		snprintf(path, sizeof path, "%s/%s", up, e->d_name);
		found = realpath(path, real) != NULL;
	}
	if (d)
		closedir(d);
	return found;
}

void health_find_link(struct dut_real *r, const char *dir)
{
	char at[PATH_MAX], path[PATH_MAX + 100], *slash;
	unsigned port;

	r->link[0] = 0;
	if (!controller_of(dir, at) && !realpath(dir, at))
		return;
	while ((slash = strrchr(at, '/')) && slash != at) {
		port = ata_port(at);
		snprintf(path, sizeof path, "%s/current_link_speed", at);
		if (port)
			snprintf(path, sizeof path, "%s/link%u/ata_link/link%u/sata_spd", at, port,
				 port);
		if (is_there(path)) {
			snprintf(r->link, sizeof r->link, "%.*s", (int)sizeof r->link - 1, path);
			return;
		}
		*slash = 0;
	}
}

/* ---- reading it ---- */

static int line_of(const char *path, char *out, size_t n)
{
	struct buf b = BUF_INIT;
	int rc = buf_read_file(&b, path, 4096);

	out[0] = 0;
	if (!rc)
		clean_text(out, n, buf_cstr(&b));
	buf_release(&b);
	return rc;
}

/* "16.0 GT/s x4" from a file with the speed and, beside it, one with the width. */
static void read_pair(const char *file, const char *beside, char out[32])
{
	char speed[40], width[24], path[700];
	char *tail;

	if (line_of(file, speed, sizeof speed) || !isdigit((unsigned char)*speed))
		return;
	tail = strstr(speed, " PCIe");
	if (tail)
		*tail = 0;
	snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(file, '/') - file), file, beside);
	snprintf(out, 32, "%.20s%s%.6s", speed, line_of(path, width, sizeof width) ? "" : " x",
		 width);
}

void health_read_link(const struct dut_real *r, char out[32])
{
	if (r->link[0])
		read_pair(r->link, "current_link_width", out);
}

void health_read_link_max(const struct dut_real *r, char out[32])
{
	const char *file = r->link[0] ? strrchr(r->link, '/') : NULL;
	char path[sizeof r->link + 32];

	if (!file)
		return;
	snprintf(path, sizeof path, "%.*s/%s", (int)(file - r->link), r->link,
		 strcmp(file, "/sata_spd") ? "max_link_speed" : "hw_sata_spd_limit");
	read_pair(path, "max_link_width", out);
}

/* The alarm beside the temperature: the drive's own critical warning of heat. */
static bool alarm_on(const struct dut_real *r)
{
	static const char input[] = "_input";
	char path[sizeof r->temperature + 8], text[16];
	size_t n = strlen(r->temperature);

	if (n < sizeof input || strcmp(r->temperature + n - (sizeof input - 1), input))
		return false;
	snprintf(path, sizeof path, "%.*s_alarm", (int)(n - (sizeof input - 1)), r->temperature);
	return !line_of(path, text, sizeof text) && !strcmp(text, "1");
}

int health_read(const struct dut_real *r, struct health *ret, struct err *err)
{
	struct health h = { .critical = alarm_on(r) };
	char text[32], *end;
	int rc;

	health_read_link(r, h.link);
	if (h.critical)
		snprintf(h.text, sizeof h.text, "temperature beyond a threshold of the drive");
	if (r->temperature[0]) {
		rc = line_of(r->temperature, text, sizeof text);
		if (rc)
			return err_set(err, rc, "%s: %s", r->temperature, strerror(-rc));
		h.temperature_c = health_whole_c((double)strtol(text, &end, 10) / 1000);
		h.have_temperature = end != text;
	}
	*ret = h;
	return 0;
}
