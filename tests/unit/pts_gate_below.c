/* SPDX-License-Identifier: MIT */
/* The gate for drives that lie on others: loop devices, partitions, dm and md, on small trees as in pts_gate.c. */
#include "tests/unit/pts_gate_fixture.h"

/* A loop device over @path; of a file also the file. */
static void loop(const char *name, const char *number, const char *path)
{
	char dir[PATH_MAX], link[PATH_MAX], line[PATH_MAX];

	snprintf(dir, sizeof dir, "virtual/block/%s", name);
	device(dir, number);
	snprintf(dir, sizeof dir, "/sys/devices/virtual/block/%s", name);
	snprintf(link, sizeof link, "/sys/block/%s", name);
	link_to(link, dir);
	snprintf(link, sizeof link, "%s/loop/backing_file", dir);
	snprintf(line, sizeof line, "%s\n", path);
	put(link, line);
	if (strncmp(path, "/dev/", 5))
		put(path, "");
}

static void member(const char *upper, const char *lower)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof path, "/sys/devices/%s/slaves/%s", upper, strrchr(lower, '/') + 1);
	snprintf(target, sizeof target, "/sys/devices/%s", lower);
	link_to(path, target);
	holder(lower, upper);
}

/* dm-N with the uuid of LVM, of cryptsetup or another. */
static void volume(const char *name, const char *number, const char *uuid, const char *lower)
{
	char dir[PATH_MAX], path[PATH_MAX];

	snprintf(dir, sizeof dir, "virtual/block/%s", name);
	device(dir, number);
	snprintf(path, sizeof path, "/sys/devices/%s/dm/uuid", dir);
	put(path, uuid);
	member(dir, lower);
}

/* ask() of a drive without a serial, the word given. */
static int ask_for(const char *path)
{
	return ask(path, "", path);
}

TEST(a_loop_over_a_file)
{
	machine();
	loop("loop1", "7:1", "/root/image");
	loop("loop2", "7:2", "/root/image2");
	mounted("7:2", "/mnt", "ext4", "/dev/loop2");
	GOOD(ask_for("/dev/loop1"));
	done();
}

TEST(a_loop_over_a_mounted_drive)
{
	machine();
	loop("loop1", "7:1", "/dev/nvme0n1");
	GOOD(ask_for("/dev/loop1"));
	mounted("259:0", "/data", "ext4", "/dev/nvme0n1");
	REFUSED(ask_for("/dev/loop1"),
		"in use: it lies on /dev/nvme0n1, which is mounted on /data: unmount it first");
	done();
}

TEST(a_loop_over_a_loop_that_is_mounted)
{
	char text[300];

	machine();
	loop("loop1", "7:1", "/image");
	loop("loop2", "7:2", "/dev/loop1");
	loop("loop3", "7:3", "/dev/loop2");
	GOOD(ask_for("/dev/loop3"));
	mounted("7:1", "/data", "ext4", "/dev/loop1");
	REFUSED(ask_for("/dev/loop3"),
		"it lies on /dev/loop2, which lies on /dev/loop1, which is mounted on /data");
	done();
	machine();
	loop("loop1", "7:1", "/image");
	loop("loop2", "7:2", "/dev/loop1");
	mounted("7:1", "/data", "ext4", "/dev/loop1");
	REFUSED(ask_for("/dev/loop2"), "it lies on /dev/loop1, which is mounted on /data: unmount");
	gate_users("/dev/loop2", root, text, sizeof text);
	CHECK_STR(text, "it lies on /dev/loop1, which is mounted on /data");
	done();
}

TEST(a_loop_over_a_drive_with_a_mounted_partition)
{
	with_partitions();
	loop("loop1", "7:1", "/dev/nvme0n1");
	GOOD(ask_for("/dev/loop1"));
	mounted("259:2", "/data", "xfs", "/dev/nvme0n1p2");
	REFUSED(ask_for("/dev/loop1"), "it lies on /dev/nvme0n1, which is mounted on /data "
				       "(partition /dev/nvme0n1p2)");
	done();
}

TEST(a_loop_over_a_partition)
{
	with_partitions();
	loop("loop1", "7:1", "/dev/nvme0n1p1");
	mounted("259:2", "/data", "xfs", "/dev/nvme0n1p2");
	GOOD(ask_for("/dev/loop1"));
	loop("loop2", "7:2", "/dev/sda2");
	REFUSED(ask_for("/dev/loop2"),
		"it lies on /dev/sda2, a partition of /dev/sda, which is "
		"mounted on / (partition /dev/sda1): it carries the running");
	swapped("/dev/nvme0n1p1");
	REFUSED(ask_for("/dev/loop1"), "it lies on /dev/nvme0n1p1, which is used as swap: take it");
	done();
}

TEST(a_loop_over_a_held_drive)
{
	machine();
	loop("loop1", "7:1", "/dev/nvme0n1");
	volume("dm-0", "252:0", "CRYPT-LUKS2-1", NVME);
	REFUSED(ask_for("/dev/loop1"),
		"it lies on /dev/nvme0n1, which is held by another device (/dev/dm-0): stop");
	mounted("252:0", "/home", "ext4", "/dev/mapper/x");
	REFUSED(ask_for("/dev/loop1"), "which is mounted on /home (/dev/dm-0): unmount");
	done();
}

TEST(two_loops_over_a_drive)
{
	machine();
	loop("loop1", "7:1", "/dev/nvme0n1");
	loop("loop2", "7:2", "/dev/nvme0n1");
	REFUSED(ask_for("/dev/loop1"),
		"it lies on /dev/nvme0n1, which is held by a loop device (/dev/loop2): detach");
	REFUSED(ask_for("/dev/loop2"), "held by a loop device (/dev/loop1)");
	mounted("7:2", "/data", "ext4", "/dev/loop2");
	REFUSED(ask_for("/dev/loop1"), "which is mounted on /data (/dev/loop2): unmount");
	done();
}

TEST(two_loops_over_a_file)
{
	char first[PATH_MAX], second[PATH_MAX];

	machine();
	loop("loop1", "7:1", "/image");
	snprintf(first, sizeof first, "%s/image", root);
	snprintf(second, sizeof second, "%s/hard", root);
	CHECK(!link(first, second));
	loop("loop2", "7:2", "/hard");
	REFUSED(ask_for("/dev/loop1"),
		"it lies on /image, which is also behind /dev/loop2: detach that first");
	mounted("7:2", "/data", "ext4", "/dev/loop2");
	REFUSED(ask_for("/dev/loop1"), "it lies on /image, which is also behind /dev/loop2, which "
				       "is mounted on /data: unmount it first");
	loop("loop3", "7:3", "/dev/loop1");
	REFUSED(ask_for("/dev/loop3"), "it lies on /dev/loop1, which lies on /image, which is also "
				       "behind /dev/loop2, which is mounted on /data");
	done();
}

TEST(a_partition_of_a_loop)
{
	machine();
	loop("loop1", "7:1", "/dev/nvme0n1");
	partition("virtual/block/loop1/loop1p1", "259:8");
	partition("virtual/block/loop1/loop1p2", "259:9");
	mounted("259:9", "/beside", "ext4", "/dev/loop1p2");
	GOOD(ask_for("/dev/loop1p1"));
	mounted("259:0", "/data", "ext4", "/dev/nvme0n1");
	REFUSED(ask_for("/dev/loop1p1"),
		"its disk /dev/loop1 lies on /dev/nvme0n1, which is mounted on /data: unmount");
	loop("loop4", "7:4", "/image");
	partition("virtual/block/loop4/loop4p1", "259:10");
	GOOD(ask_for("/dev/loop4p1"));
	loop("loop5", "7:5", "/image");
	REFUSED(ask_for("/dev/loop4p1"),
		"its disk /dev/loop4 lies on /image, which is also behind /dev/loop5: detach");
	done();
}

TEST(a_partition_of_a_drive_under_a_loop)
{
	with_partitions();
	loop("loop1", "7:1", "/dev/nvme0n1");
	REFUSED(ask_for("/dev/nvme0n1p1"),
		"its disk /dev/nvme0n1 is held by a loop device (/dev/loop1): detach");
	done();
}

TEST(a_swap_file_or_mounted_image_behind_a_loop)
{
	machine();
	loop("loop1", "7:1", "/swap file");
	loop("loop2", "7:2", "/image");
	add("/proc/swaps", "/swap\\040file   file\t1048572\t0\t-2\n");
	add("/proc/self/mountinfo", "36 35 0:50 / /mnt/i ro - erofs /image ro\n");
	REFUSED(ask_for("/dev/loop1"), "it lies on /swap file, which is used as swap: take it");
	REFUSED(ask_for("/dev/loop2"), "it lies on /image, which is mounted on /mnt/i: unmount");
	done();
}

/* A process of the fake tree: its descriptor 3 is @path. */
static void opened(const char *path, const char *flags)
{
	char line[64];

	snprintf(line, sizeof line, "pos: 0\nflags: %s\n", flags);
	put("/proc/77/comm", "editor\n");
	put("/proc/77/fdinfo/3", line);
	link_to("/proc/77/fd/3", path);
}

TEST(a_file_behind_a_loop_that_is_open)
{
	machine();
	loop("loop1", "7:1", "/image");
	opened("/image", "0100000");
	GOOD(ask_for("/dev/loop1"));
	put("/proc/77/fdinfo/3", "flags: 0100002\n");
	REFUSED(ask_for("/dev/loop1"),
		"it lies on /image, which is open for writing in editor (pid 77): end that first");
	done();
}

TEST(a_backing_file_without_a_name)
{
	char path[PATH_MAX];

	machine();
	loop("loop1", "7:1", "/image (deleted)");
	snprintf(path, sizeof path, "%s/image (deleted)", root);
	CHECK(!unlink(path));
	REFUSED(ask_for("/dev/loop1"), "it lies on /image, which is not to be found");
	put("/image", "");
	GOOD(ask_for("/dev/loop1"));
	done();
}

TEST(a_loop_over_itself_ends)
{
	machine();
	loop("loop1", "7:1", "/dev/loop2");
	loop("loop2", "7:2", "/dev/loop1");
	REFUSED(ask_for("/dev/loop1"), "held by a loop device (/dev/loop2)");
	done();
}

TEST(an_array_over_a_mounted_loop)
{
	machine();
	loop("loop1", "7:1", "/image");
	loop("loop2", "7:2", "/dev/loop1");
	device("virtual/block/md0", "9:0");
	member("virtual/block/md0", NVME);
	member("virtual/block/md0", "virtual/block/loop2");
	GOOD(ask_for("/dev/md0"));
	mounted("7:1", "/data", "ext4", "/dev/loop1");
	REFUSED(ask_for("/dev/md0"),
		"it lies on /dev/loop2, which lies on /dev/loop1, which is mounted on /data");
	done();
}

TEST(a_volume_over_a_partition)
{
	with_partitions();
	volume("dm-0", "252:0", "CRYPT-LUKS2-1", NVME "/nvme0n1p1");
	mounted("259:2", "/data", "xfs", "/dev/nvme0n1p2");
	GOOD(ask_for("/dev/dm-0"));
	loop("loop1", "7:1", "/dev/nvme0n1p1");
	REFUSED(ask_for("/dev/dm-0"),
		"it lies on /dev/nvme0n1p1, which is held by a loop device (/dev/loop1)");
	volume("dm-1", "252:1", "CRYPT-LUKS2-2", "pci0000:00/ata1/sda/sda2");
	REFUSED(ask_for("/dev/dm-1"),
		"it lies on /dev/sda2, a partition of /dev/sda, which is mounted on / (part");
	CHECK(says("running system"));
	done();
}

TEST(volumes_over_the_same_drive)
{
	machine();
	volume("dm-0", "252:0", "one", NVME);
	volume("dm-1", "252:1", "two", NVME);
	GOOD(ask_for("/dev/dm-0"));
	mounted("252:1", "/data", "ext4", "/dev/mapper/two");
	REFUSED(ask_for("/dev/dm-0"),
		"it lies on /dev/nvme0n1, which is mounted on /data (/dev/dm-1)");
	done();
}

TEST(volumes_of_lvm)
{
	machine();
	volume("dm-0", "252:0", "LVM-aaaabbbb", NVME);
	volume("dm-1", "252:1", "LVM-aaaacccc", NVME);
	mounted("252:1", "/data", "ext4", "/dev/mapper/vg-data");
	GOOD(ask_for("/dev/dm-0"));
	loop("loop1", "7:1", "/dev/nvme0n1");
	REFUSED(ask_for("/dev/loop1"),
		"it lies on /dev/nvme0n1, which is mounted on /data (/dev/dm-1");
	REFUSED(ask_for("/dev/dm-0"), "which is held by a loop device (/dev/loop1)");
	done();
	machine();
	volume("dm-0", "252:0", "LVM-aaaabbbb", NVME);
	volume("dm-1", "252:1", "LVM-aaaacccc", NVME);
	swapped("/dev/dm-1");
	REFUSED(ask_for("/dev/dm-0"), "it lies on /dev/nvme0n1, which is used as swap (/dev/dm-1)");
	CHECK(says("running system"));
	done();
}

/* A disk of a SAS drive with two ports. */
static void port(const char *name, const char *number, const char *wwid)
{
	char dir[PATH_MAX], link[PATH_MAX];

	snprintf(dir, sizeof dir, "pci/host0/%s", name);
	device(dir, number);
	snprintf(dir, sizeof dir, "/sys/devices/pci/host0/%s", name);
	snprintf(link, sizeof link, "/sys/block/%s", name);
	link_to(link, dir);
	snprintf(link, sizeof link, "%s/device/wwid", dir);
	put(link, wwid);
}

TEST(a_drive_that_is_used_through_its_other_port)
{
	struct dut_info in = drive("/dev/sdx", "S1");

	machine();
	port("sdx", "65:1", "naa.5000c500a1b2c3d4\n");
	port("sdy", "65:2", "naa.5000c500a1b2c3d4\n");
	port("sdz", "65:3", "naa.5000c500ffffffff\n");
	mounted("65:3", "/srv", "xfs", "/dev/sdz");
	GOOD(ask_as("/dev/sdx", &in, "S1", false));
	mounted("65:2", "/mnt", "xfs", "/dev/sdy");
	REFUSED(ask_as("/dev/sdx", &in, "S1", true), "the same drive is /dev/sdy too");
	REFUSED(ask_as("/dev/sdx", &in, "S1", false), "mounted on /mnt");
	done();
}

TEST(drives_without_a_wwid_are_not_one)
{
	struct dut_info in = drive("/dev/sdx", "S1");

	machine();
	port("sdx", "65:1", "\n");
	port("sdy", "65:2", "\n");
	mounted("65:2", "/mnt", "xfs", "/dev/sdy");
	GOOD(ask_as("/dev/sdx", &in, "S1", false));
	done();
}

TEST_MAIN
