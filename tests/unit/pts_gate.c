/* SPDX-License-Identifier: MIT */
/* The gate for drives, on small trees of /sys, /proc and /dev built in a folder of their own. */
#include "tests/unit/pts_gate_fixture.h"

/* ---- consent ---- */

TEST(the_serial_is_the_word)
{
	machine();
	GOOD(ask("/dev/nvme0n1", "S1234", "S1234"));
	REFUSED(ask("/dev/nvme0n1", "S1234", NULL), "--destroy 'S1234'");
	CHECK(says("ACME 9000") && says("1.92 TB") && says("/dev/nvme0n1"));
	REFUSED(ask("/dev/nvme0n1", "S1234", "S123"), "'S123' does not name it");
	REFUSED(ask("/dev/nvme0n1", "S1234", "S12345"), "does not name it");
	REFUSED(ask("/dev/nvme0n1", "S1234", "s1234"), "does not name it");
	REFUSED(ask("/dev/nvme0n1", "S1234", ""), "does not name it");
	REFUSED(ask("/dev/nvme0n1", "S1234", "/dev/nvme0n1"), "does not name it");
	done();
}

TEST(the_path_is_the_word_without_a_serial)
{
	struct dut_info in = drive("/dev/nvme0n1", "");

	machine();
	GOOD(ask("/dev/nvme0n1", "", "/dev/nvme0n1"));
	GOOD(ask_as("/dev/disk/by-id/x", &in, "/dev/disk/by-id/x", false));
	GOOD(ask_as("/dev/disk/by-id/x", &in, "/dev/nvme0n1", false));
	REFUSED(ask("/dev/nvme0n1", "", "/dev/nvme0n"), "--destroy '/dev/nvme0n1'");
	REFUSED(ask("/dev/nvme0n1", "", "nvme0n1"), "no serial");
	done();
}

TEST(words_are_matched_by_value)
{
	const char *const words[] = { "A1", "B2" };
	struct dut_info in = drive("/dev/nvme0n1", "B2");
	struct gate_request rq = { .info = &in,
				   .dut = "/dev/nvme0n1",
				   .destroy = words,
				   .n_destroy = 2,
				   .sysroot = root };

	machine();
	GOOD(gate_check(&rq, &err));
	snprintf(in.serial, sizeof in.serial, "C3");
	REFUSED(gate_check(&rq, &err), "none of the 2 --destroy words");
	done();
}

TEST(a_simulated_drive_needs_no_word)
{
	struct dut_info in = { .kind = DUT_SIM, .name = "sim:pm" };
	struct gate_request rq = { .info = &in, .dut = "sim:pm" };

	CHECK_INT(gate_check(&rq, &err), 0);
	CHECK_STR(gate_word(&in), "");
}

TEST(word_of_a_drive)
{
	struct dut_info in = drive("/dev/sdb", "");

	CHECK_STR(gate_word(&in), "/dev/sdb");
	snprintf(in.serial, sizeof in.serial, "WD-1");
	CHECK_STR(gate_word(&in), "WD-1");
}

/* While a sanitize runs, begun before our own restart, nothing can be read; what was there is going. */
TEST(U09_a_drive_that_erases_itself)
{
	struct dut_info in = drive("/dev/nvme0n1", "S");
	char path[PATH_MAX];

	machine();
	snprintf(path, sizeof path, "%s/dev/nvme0n1", root);
	CHECK(!unlink(path) && !mkdir(path, 0700)); /* opens, cannot be read */
	CHECK_INT(ask_as("/dev/nvme0n1", &in, "S", false), -EINVAL);
	CHECK(says("cannot be read"));
	in.erasing = true;
	GOOD(ask_as("/dev/nvme0n1", &in, "S", false));
	REFUSED(ask_as("/dev/nvme0n1", &in, "T", false), "does not name it");
	mounted("259:0", "/data", "ext4", "/dev/nvme0n1");
	REFUSED(ask_as("/dev/nvme0n1", &in, "S", false), "mounted");
	done();
}

/* ---- in use ---- */

TEST(a_mounted_partition)
{
	with_partitions();
	mounted("259:2", "/srv/with\\040blank", "xfs", "/dev/nvme0n1p2");
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"mounted on /srv/with blank (partition /dev/nvme0n1p2)");
	CHECK(says("unmount"));
	done();
}

TEST(a_mounted_drive)
{
	machine();
	mounted("259:0", "/data", "ext4", "/dev/nvme0n1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "mounted on /data: unmount");
	done();
}

TEST(swap_on_a_partition)
{
	with_partitions();
	swapped("/dev/nvme0n1p1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "used as swap (partition /dev/nvme0n1p1)");
	CHECK(says("swapoff"));
	done();
}

TEST(volume_on_a_partition_mounted)
{
	with_partitions();
	device("virtual/block/dm-0", "252:0");
	put("/sys/devices/virtual/block/dm-0/dm/name", "vg-home\n");
	holder(NVME "/nvme0n1p1", "virtual/block/dm-0");
	mounted("252:0", "/home", "ext4", "/dev/mapper/vg-home");
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"mounted on /home (/dev/dm-0 'vg-home' on partition /dev/nvme0n1p1)");
	done();
}

TEST(swap_on_a_volume_on_an_array)
{
	with_partitions();
	device("virtual/block/md0", "9:0");
	device("virtual/block/dm-1", "252:1");
	holder(NVME "/nvme0n1p2", "virtual/block/md0");
	holder("virtual/block/md0", "virtual/block/dm-1");
	swapped("/dev/dm-1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"used as swap (/dev/dm-1 on /dev/md0 on partition /dev/nvme0n1p2)");
	done();
}

TEST(partition_of_an_array_mounted)
{
	machine();
	device("virtual/block/md127", "9:127");
	partition("virtual/block/md127/md127p1", "259:9");
	holder(NVME, "virtual/block/md127");
	mounted("259:9", "/mnt", "ext4", "/dev/md127p1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"mounted on /mnt (partition /dev/md127p1 on /dev/md127)");
	done();
}

TEST(a_held_drive_that_is_not_mounted)
{
	machine();
	device("virtual/block/md0", "9:0");
	holder(NVME, "virtual/block/md0");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "held by another device (/dev/md0)");
	CHECK(says("mdadm --stop"));
	done();
}

TEST(holders_in_a_circle_end)
{
	machine();
	device("virtual/block/dm-0", "252:0");
	holder(NVME, "virtual/block/dm-0");
	holder("virtual/block/dm-0", NVME);
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "held by another device (/dev/dm-0): stop");
	done();
}

TEST(loop_on_a_partition)
{
	with_partitions();
	device("virtual/block/loop3", "7:3");
	link_to("/sys/block/loop3", "/sys/devices/virtual/block/loop3");
	put("/sys/devices/virtual/block/loop3/loop/backing_file", "/dev/nvme0n1p2\n");
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"held by a loop device (/dev/loop3 on partition /dev/nvme0n1p2)");
	mounted("7:3", "/iso", "ext4", "/dev/loop3");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "mounted on /iso (/dev/loop3 on");
	done();
}

TEST(names_that_begin_alike)
{
	machine();
	device("virtual/block/loop1", "7:1");
	device("virtual/block/loop10", "7:10");
	mounted("7:10", "/mnt", "ext4", "/dev/loop10");
	swapped("/dev/loop10");
	GOOD(ask("/dev/loop1", "", "/dev/loop1"));
	REFUSED(ask("/dev/loop10", "", "/dev/loop10"), "mounted on /mnt");
	mounted("7:1", "/other", "ext4", "/dev/loop1");
	REFUSED(ask("/dev/loop1", "", "/dev/loop1"), "mounted on /other");
	done();
}

TEST(btrfs_has_no_device_number)
{
	with_partitions();
	mounted("0:45", "/pool", "btrfs", "/dev/nvme0n1p1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "mounted on /pool (partition /dev/nvme0n1p1)");
	done();
}

TEST(second_device_of_a_mounted_btrfs)
{
	with_partitions();
	mounted("0:45", "/pool", "btrfs", "/dev/sda2");
	link_to("/sys/fs/btrfs/1f2e/devices/nvme0n1p2", "/sys/devices/" NVME "/nvme0n1p2");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "member of a mounted btrfs (partition");
	done();
}

/* The kernel's NVMe target does not hold what it exports. */
TEST(exported_to_other_hosts)
{
	machine();
	put("/sys/kernel/config/nvmet/subsystems/t1/namespaces/2/enable", "0\n");
	put("/sys/kernel/config/nvmet/subsystems/t1/namespaces/2/device_path", "/dev/nvme0n1\n");
	put("/sys/kernel/config/nvmet/subsystems/t1/namespaces/3/enable", "1\n");
	put("/sys/kernel/config/nvmet/subsystems/t1/namespaces/3/device_path", "/nowhere\n");
	GOOD(ask("/dev/nvme0n1", "S", "S"));
	put("/sys/kernel/config/nvmet/subsystems/t1/namespaces/2/enable", "1\n");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "exported to other hosts by nvmet");
	done();
}

TEST(several_sources_of_one_mount)
{
	machine();
	mounted("0:46", "/bc", "bcachefs", "/dev/sdz:/dev/nvme0n1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "mounted on /bc");
	done();
}

TEST(the_system_drive)
{
	machine();
	REFUSED(ask("/dev/sda", "W", "W"), "mounted on / (partition /dev/sda1)");
	CHECK(says("running system"));
	done();
}

TEST(all_uses_are_counted)
{
	with_partitions();
	for (int i = 0; i < 7; i++)
		mounted("259:1", "/m", "ext4", "/dev/nvme0n1p1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "; and 3 more: unmount");
	done();
}

/* ---- partitions as targets ---- */

TEST(a_partition_beside_a_mounted_one)
{
	with_partitions();
	mounted("259:1", "/data", "ext4", "/dev/nvme0n1p1");
	GOOD(ask("/dev/nvme0n1p2", "S", "S"));
	REFUSED(ask("/dev/nvme0n1p1", "S", "S"), "mounted on /data: unmount");
	done();
}

TEST(a_partition_of_the_system_drive)
{
	machine();
	REFUSED(ask("/dev/sda2", "W", "W"), "its disk /dev/sda is mounted on /");
	CHECK(says("running system"));
	done();
}

TEST(a_partition_of_a_claimed_drive)
{
	with_partitions();
	device("virtual/block/md0", "9:0");
	holder(NVME, "virtual/block/md0");
	REFUSED(ask("/dev/nvme0n1p2", "S", "S"),
		"its disk /dev/nvme0n1 is held by another device (/dev/md0)");
	done();
}

TEST(a_partition_beside_swap)
{
	with_partitions();
	swapped("/dev/nvme0n1p1");
	REFUSED(ask("/dev/nvme0n1p2", "S", "S"), "its disk /dev/nvme0n1 is used as swap");
	done();
}

/* ---- kinds of drives ---- */

TEST(U36_zoned_drives)
{
	machine();
	put("/sys/devices/" NVME "/queue/zoned", "host-managed\n");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "host-managed zoned");
	done();
	machine();
	put("/sys/devices/" NVME "/queue/zoned", "host-aware\n");
	GOOD(ask("/dev/nvme0n1", "S", "S"));
	done();
	with_partitions();
	put("/sys/devices/" NVME "/queue/zoned", "host-managed\n");
	REFUSED(ask("/dev/nvme0n1p1", "S", "S"), "host-managed zoned");
	done();
}

TEST(read_only_drives)
{
	machine();
	put("/sys/devices/" NVME "/ro", "1\n");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "read-only");
	done();
}

TEST(a_drive_that_sys_does_not_know)
{
	struct dut_info in = drive("/dev/sdq", "S");

	machine();
	CHECK_INT(ask_as("/dev/sdq", &in, "S", false), -ENOENT);
	put("/sys/class/block/sdq/dev", "65:0\n");
	REFUSED(ask_as("/dev/sdq", &in, "S", false), "not in /sys");
	done();
}

/* ---- signatures ---- */

static void image_write(const char *name, long at, const void *data, size_t n)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/dev/%s", root, name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || pwrite(fd, data, n, at) != (ssize_t)n || close(fd))
		abort();
}

/* One partition of type 83 from sector 64, 128 sectors long. */
static void image_mbr(const char *name)
{
	static const unsigned char entry[16] = { 0, 0, 0, 0, 0x83, 0, 0, 0, 64, 0, 0, 0, 128 };

	image_write(name, 446, entry, sizeof entry);
	image_write(name, 510, "\x55\xaa", 2);
}

static void image_swap(const char *name)
{
	static const unsigned char head[] = { 1, 0, 0, 0, 200, 0, 0, 0 }; /* version, last page */

	image_write(name, 1024, head, sizeof head);
	image_write(name, 4096 - 10, "SWAPSPACE2", 10);
}

TEST(a_partition_table)
{
	struct dut_info in = drive("/dev/nvme0n1", "S");

	machine();
	image_mbr("nvme0n1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "dos partition table");
	CHECK(says("--force-signature") && says("wipefs"));
	GOOD(ask_as("/dev/nvme0n1", &in, "S", true));
	REFUSED(ask_as("/dev/nvme0n1", &in, NULL, true), "--destroy 'S'");
	mounted("259:0", "/data", "ext4", "/dev/nvme0n1");
	REFUSED(ask_as("/dev/nvme0n1", &in, "S", true), "mounted on /data");
	done();
}

TEST(swap_that_is_not_in_use)
{
	machine();
	image_swap("nvme0n1");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "carries data: swap");
	done();
}

TEST(data_on_partitions)
{
	char text[256];

	with_partitions();
	image_mbr("nvme0n1");
	image_swap("nvme0n1p2");
	REFUSED(ask("/dev/nvme0n1", "S", "S"), "dos partition table, swap on /dev/nvme0n1p2");
	CHECK_INT(gate_signature("/dev/nvme0n1", root, text, sizeof text), 0);
	CHECK_STR(text, "dos partition table, swap on /dev/nvme0n1p2");
	CHECK_INT(gate_signature("/dev/nvme0n1p1", root, text, sizeof text), 0);
	CHECK_STR(text, "");
	done();
}

TEST(partitions_without_a_table)
{
	with_partitions();
	REFUSED(ask("/dev/nvme0n1", "S", "S"),
		"carries data: partition /dev/nvme0n1p1, partition /dev/nvme0n1p2");
	done();
}

/* ---- for pts devices ---- */

TEST(users_of_drives)
{
	char text[300];

	with_partitions();
	mounted("259:2", "/data", "ext4", "/dev/nvme0n1p2");
	gate_users("/dev/nvme0n1", root, text, sizeof text);
	CHECK_STR(text, "mounted on /data (partition /dev/nvme0n1p2)");
	gate_users("/dev/nvme0n1p1", root, text, sizeof text);
	CHECK_STR(text, "");
	gate_users("/dev/nothing", root, text, sizeof text);
	CHECK_STR(text, "");
	done();
}

TEST_MAIN
