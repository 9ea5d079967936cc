/* SPDX-License-Identifier: MIT */
/* Which controller a namespace belongs to, in made-up trees of sysfs: never by its name. */
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/workloads_sysfs_rig.h"
#include "workloads/dut_nvme_impl.h"
#include "workloads/dut_real.h"

static struct nvme_place p;
static struct nvme_others others;
static struct err err;

/* A file with @text in a folder. */
static void in(const char *dir, const char *name, const char *text)
{
	char path[400];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	put(path, text);
}

#define PCI "devices/pci0000:00/0000:00:0%u.0/0000:0%u:00.0"
#define SUBSYSTEM "devices/virtual/nvme-subsystem/nvme-subsys0"

/* Controller nvme@k, its serial S@k. */
static void controller(char dir[200], unsigned k)
{
	char pci[120], path[256], text[32];

	snprintf(pci, sizeof pci, PCI, k, k);
	snprintf(dir, 200, "%s/nvme/nvme%u", pci, k);
	snprintf(text, sizeof text, "S%u  \n", k);
	in(dir, "serial", text);
	in(dir, "transport", "pcie\n");
	in(dir, "state", "live\n");
	snprintf(text, sizeof text, "%u\n", k);
	in(dir, "numa_node", text);
	snprintf(text, sizeof text, "0000:0%u:00.0\n", k);
	in(dir, "address", text);
	snprintf(text, sizeof text, "241:%u\n", k);
	in(dir, "dev", text);
	in(pci, "current_link_speed", "8.0 GT/s PCIe\n");
	in(pci, "current_link_width", "2\n");
	in(pci, "max_link_speed", "16.0 GT/s PCIe\n");
	in(pci, "max_link_width", "4\n");
	snprintf(path, sizeof path, "class/nvme/nvme%u", k);
	tie(dir, path);
}

static void namespace(const char *dir, unsigned nsid, const char *wwid)
{
	char text[32];

	snprintf(text, sizeof text, "%u\n", nsid);
	in(dir, "nsid", text);
	in(dir, "wwid", wwid);
	in(dir, "size", "2048\n");
}

/* A namespace under its controller: @disk, block device 259:@minor. */
static void disk(const char *dir, const char *name, unsigned nsid, unsigned minor)
{
	char path[300], link[300], wwid[32];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	snprintf(wwid, sizeof wwid, "eui.00%u\n", nsid);
	namespace(path, nsid, wwid);
	snprintf(link, sizeof link, "%s/device", path);
	tie(dir, link);
	snprintf(link, sizeof link, "dev/block/259:%u", minor);
	tie(path, link);
}

/* The hidden way of a controller to namespace @nsid of the subsystem. */
static void way(const char *ctrl, const char *name, unsigned nsid, const char *ana)
{
	char path[300], wwid[32];

	snprintf(path, sizeof path, "%s/%s", ctrl, name);
	snprintf(wwid, sizeof wwid, "eui.00%u\n", nsid);
	namespace(path, nsid, wwid);
	in(path, "hidden", "1\n");
	if (ana)
		in(path, "ana_state", ana);
}

static void begin(void)
{
	snprintf(root, sizeof root, "/tmp/pts-unit-nvme-XXXXXX");
	if (!mkdtemp(root))
		abort();
	memset(&p, 0, sizeof p);
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

/* ---- */

/* The fault of the field: nvme0 and nvme0n1 were different drives, and the wrong one was erased. */
TEST(U02_nvme0n1_under_controller_nvme1)
{
	char c0[200], c1[200];
	struct dut_real r = { .fd = -1 };

	begin();
	controller(c0, 0);
	controller(c1, 1);
	disk(c1, "nvme0n1", 3, 0);
	disk(c0, "nvme1n1", 1, 1);
	put("devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme1/ng0n1/dev", "1\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme1");
	CHECK_STR(p.serial, "S1");
	CHECK_STR(p.block, "nvme0n1");
	CHECK_STR(p.generic, "ng0n1");
	CHECK_INT(p.nsid, 3);
	CHECK_STR(p.dev, "241:1");
	CHECK_STR(p.address, "0000:01:00.0");
	CHECK_STR(p.transport, "pcie");
	CHECK_STR(p.wwid, "eui.003");
	CHECK_STR(p.link, "8.0 GT/s x2");
	CHECK_STR(p.link_max, "16.0 GT/s x4");
	CHECK_INT(p.numa_node, 1);
	CHECK_INT(p.capacity_bytes, 1 << 20);
	CHECK_INT(nvme_place_find(root, 259, 1, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme0");
	CHECK_STR(p.serial, "S0");
	CHECK_STR(p.generic, "");
	sysfs_facts(root, 259, 0, &r);
	CHECK_STR(r.d.info.serial, "S1");
	CHECK_STR(r.d.info.transport, "pcie");
	CHECK_STR(r.d.info.link_max, "16.0 GT/s x4");
	CHECK(r.d.info.nsid == 3 && r.d.info.numa_node == 1);
	end();
}

/* Two controllers, two namespaces, each private to one: the disks hang under the subsystem. */
static void subsystem(char c0[200], char c1[200])
{
	controller(c0, 0);
	controller(c1, 1);
	tie(c0, SUBSYSTEM "/nvme0");
	tie(c1, SUBSYSTEM "/nvme1");
	put(SUBSYSTEM "/subsysnqn", "nqn.x\n");
	tie(SUBSYSTEM, "class/nvme-subsystem/nvme-subsys0");
	disk(SUBSYSTEM, "nvme0n1", 1, 0);
	disk(SUBSYSTEM, "nvme0n2", 2, 1);
}

TEST(U02_a_subsystem_of_two_controllers)
{
	char c0[200], c1[200];

	begin();
	subsystem(c0, c1);
	way(c1, "nvme0c1n1", 1, NULL);
	way(c0, "nvme0c0n2", 2, NULL);
	put(SUBSYSTEM "/ng0n1/dev", "1\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme1");
	CHECK_STR(p.serial, "S1");
	CHECK_STR(p.dev, "241:1");
	CHECK_STR(p.generic, "ng0n1");
	nvme_place_others(&p, &others);
	CHECK_INT(others.n, 1);
	CHECK_STR(others.at[0].block, "nvme0n2");
	CHECK_INT(others.at[0].nsid, 2);
	CHECK_INT(nvme_place_find(root, 259, 1, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme0");
	end();
}

TEST(of_two_ways_the_better_one)
{
	char c0[200], c1[200];

	begin();
	subsystem(c0, c1);
	way(c0, "nvme0c0n1", 1, "non-optimized\n");
	way(c1, "nvme0c1n1", 1, "optimized\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme1");
	in(c1, "state", "connecting\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme0");
	/* the same number is not the same namespace */
	way(c0, "nvme0c0n1", 1, NULL);
	in(c0, "nvme0c0n1/wwid", "eui.00f\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.ctrl, "nvme1");
	in(c1, "nvme0c1n1/wwid", "eui.00f\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), -ENOENT);
	CHECK_MSG(strstr(err.msg, "no controller"), "%s", err.msg);
	end();
}

TEST(disks_of_other_drives_are_not_reached)
{
	char c0[200], c1[200];

	begin();
	controller(c0, 0);
	controller(c1, 1);
	disk(c0, "nvme0n1", 1, 0);
	disk(c0, "nvme0n2", 2, 1);
	disk(c0, "nvme0n10", 10, 2);
	disk(c1, "nvme1n1", 1, 3);
	tie(c0, SUBSYSTEM "/nvme0");
	tie(SUBSYSTEM, "class/nvme-subsystem/nvme-subsys0");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	nvme_place_others(&p, &others);
	CHECK_INT(others.n, 2);
	CHECK_STR(others.at[0].block, "nvme0n2");
	CHECK_STR(others.at[1].block, "nvme0n10");
	CHECK_INT(others.at[1].nsid, 10);
	end();
}

TEST(what_is_no_namespace)
{
	char c0[200];

	begin();
	controller(c0, 0);
	disk(c0, "nvme0n1", 1, 0);
	in(c0, "nvme0n1/nvme0n1p1/partition", "1\n");
	in(c0, "nvme0n1/nvme0n1p1/nsid", "1\n"); /* even if it had one */
	put("devices/virtual/block/loop0/size", "8\n");
	tie("devices/virtual/block/loop0", "dev/block/7:0");
	char part[300];
	snprintf(part, sizeof part, "%s/nvme0n1/nvme0n1p1", c0);
	tie(part, "dev/block/259:5");
	CHECK_INT(nvme_place_find(root, 259, 5, &p, &err), -ENOENT);
	CHECK_MSG(strstr(err.msg, "partition"), "%s", err.msg);
	err = (struct err){ "" };
	CHECK_INT(nvme_place_find(root, 7, 0, &p, &err), -ENOENT);
	CHECK_MSG(strstr(err.msg, "no NVMe namespace"), "%s", err.msg);
	err = (struct err){ "" };
	CHECK_INT(nvme_place_find(root, 7, 1, &p, &err), -ENOENT);
	CHECK_INT(p.nsid, 0);
	end();
}

/* Over a network there is neither link nor node. */
TEST(a_remote_namespace)
{
	static const char dir[] = "devices/virtual/nvme-fabrics/ctl/nvme4";

	begin();
	in(dir, "serial", "R4\n");
	in(dir, "transport", "tcp\n");
	in(dir, "numa_node", "-1\n");
	in(dir, "address", "traddr=10.0.0.1,trsvcid=4420\n");
	disk(dir, "nvme4n1", 1, 0);
	in(dir, "nvme4n1/eui", "00 25 38 ab 01 02 03 04\n");
	in(dir, "nvme4n1/nguid", "00112233-4455-6677-8899-AABBCCDDEEFF\n");
	CHECK_INT(nvme_place_find(root, 259, 0, &p, &err), 0);
	CHECK_STR(p.transport, "tcp");
	CHECK_STR(p.address, "traddr=10.0.0.1,trsvcid=4420");
	CHECK_STR(p.link, "");
	CHECK_STR(p.link_max, "");
	CHECK_INT(p.numa_node, -1);
	CHECK_STR(p.eui, "002538ab01020304");
	CHECK_STR(p.nguid, "00112233445566778899aabbccddeeff");
	end();
}

TEST_MAIN
