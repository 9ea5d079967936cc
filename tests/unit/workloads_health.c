/* SPDX-License-Identifier: MIT */
/* What a drive says of itself: NVMe's log as bytes, and what sysfs has of temperature, alarm and link. */
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/workloads_sysfs_rig.h"
#include "workloads/dut_real.h"

static struct dut_real drive;
static struct health h;
static struct err err;

static void begin(void)
{
	snprintf(root, sizeof root, "/tmp/pts-unit-health-XXXXXX");
	if (!mkdtemp(root))
		abort();
	drive = (struct dut_real){ .fd = -1 };
	err = (struct err){ "" };
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void end(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define CTRL "devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0"
#define PCI "devices/pci0000:00/0000:00:01.0/0000:01:00.0/"

static void nvme(const char *speed, const char *width)
{
	begin();
	DO(put(CTRL "/nvme0n1/size", "1000\n"));
	DO(tie(CTRL, CTRL "/nvme0n1/device"));
	DO(tie(CTRL "/nvme0n1", "dev/block/259:0"));
	DO(put(CTRL "/hwmon2/temp1_input", "39850\n"));
	DO(put(CTRL "/hwmon2/temp1_alarm", "0\n"));
	DO(put(PCI "current_link_speed", speed));
	DO(put(PCI "current_link_width", width));
	sysfs_facts(root, 259, 0, &drive);
}

/* ---- degrees ---- */

TEST(U52_kelvin_are_whole_degrees)
{
	uint8_t log[512] = { 0 };

	log[1] = 0x39;
	log[2] = 0x01;
	health_smart(log, &h);
	CHECK(h.have_temperature && !h.critical);
	CHECK_NEAR(h.temperature_c, 40, 0);
	CHECK_NEAR(health_kelvin_c(273), 0, 0);
	CHECK_NEAR(health_kelvin_c(272), -1, 0);
	CHECK(isnan(health_kelvin_c(0)));
	CHECK_NEAR(health_whole_c(39.85), 40, 0);
}

TEST(the_log_of_nvme)
{
	uint8_t log[512] = { 0 };

	log[0] = 1 | 2;
	log[5] = 103;
	log[48] = 0x10; /* data units written: 0x0210 */
	log[49] = 0x02;
	log[160] = 7;
	health_smart(log, &h);
	CHECK(!h.have_temperature && h.critical);
	CHECK_STR(h.text, "spare below its threshold, temperature beyond a threshold");
	CHECK_NEAR(h.percentage_used, 103, 0);
	CHECK_INT(h.host_written_bytes, 0x210 * 512000ll);
	CHECK_INT(h.media_errors, 7);
	memset(log, 0xff, sizeof log);
	health_smart(log, &h);
	CHECK(h.host_written_bytes == UINT64_MAX && h.media_errors == UINT64_MAX);
	CHECK(strlen(h.text) < sizeof h.text);
}

/* ---- sysfs ---- */

TEST(an_nvme_drive)
{
	DO(nvme("16.0 GT/s PCIe\n", "4\n"));
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK(h.have_temperature && !h.critical);
	CHECK_NEAR(h.temperature_c, 40, 0);
	CHECK_STR(h.link, "16.0 GT/s x4");
	DO(put(PCI "current_link_speed", "8.0 GT/s PCIe\n"));
	DO(put(PCI "current_link_width", "2\n"));
	DO(put(CTRL "/hwmon2/temp1_alarm", "1\n"));
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK_STR(h.link, "8.0 GT/s x2");
	CHECK(h.critical && strstr(h.text, "temperature"));
	end();
}

TEST(a_drive_with_two_ways_to_it)
{
	begin();
	DO(put("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/size", "1000\n"));
	DO(tie("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "dev/block/259:1"));
	DO(tie("devices/virtual/nvme-subsystem/nvme-subsys0",
	       "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/device"));
	DO(put(CTRL "/address", "x\n"));
	DO(put(PCI "current_link_speed", "32.0 GT/s PCIe\n"));
	DO(put(PCI "current_link_width", "4\n"));
	DO(tie(CTRL, "devices/virtual/nvme-subsystem/nvme-subsys0/nvme0"));
	sysfs_facts(root, 259, 1, &drive);
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK_STR(h.link, "32.0 GT/s x4");
	end();
}

#define ATA "devices/pci0000:00/0000:00:17.0/ata3/"

TEST(a_sata_drive_has_the_link_of_its_port)
{
	begin();
	DO(put("devices/pci0000:00/0000:00:17.0/current_link_speed", "5.0 GT/s PCIe\n"));
	DO(put(ATA "host2/target2:0:0/2:0:0:0/block/sda/size", "1000\n"));
	DO(put(ATA "link3/ata_link/link3/sata_spd", "6.0 Gbps\n"));
	DO(put(ATA "host2/target2:0:0/2:0:0:0/hwmon/hwmon1/temp1_input", "31000\n"));
	DO(tie(ATA "host2/target2:0:0/2:0:0:0", ATA "host2/target2:0:0/2:0:0:0/block/sda/device"));
	DO(tie(ATA "host2/target2:0:0/2:0:0:0/block/sda", "dev/block/8:0"));
	sysfs_facts(root, 8, 0, &drive);
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK_STR(h.link, "6.0 Gbps");
	CHECK_NEAR(h.temperature_c, 31, 0);
	DO(put(ATA "link3/ata_link/link3/sata_spd", "<unknown>\n"));
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK_STR(h.link, "");
	end();
}

TEST(what_is_not_told)
{
	DO(nvme("Unknown\n", "63\n"));
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK_STR(h.link, "");
	DO(put(CTRL "/hwmon2/temp1_input", "warm\n"));
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK(!h.have_temperature);
	end();
	/* the file is gone, or cannot be read: an error for who asks, and no more */
	CHECK_INT(health_read(&drive, &h, &err), -ENOENT);
	CHECK_MSG(strstr(err.msg, "temp1_input"), "%s", err.msg);
	drive = (struct dut_real){ .fd = -1 };
	CHECK_INT(health_read(&drive, &h, &err), 0);
	CHECK(!h.have_temperature && !h.critical && !h.link[0]);
}

TEST_MAIN
