/* SPDX-License-Identifier: MIT */
/* The gate for drives, on small trees of /sys, /proc and /dev built in a folder of their own. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/gate.h"

static char root[64];
static struct err err;

/* ---- building a machine ---- */

static void make_parents(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof dir, "%s", path);
	for (char *c = dir + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(dir, 0755);
		*c = '/';
	}
}

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof full, "%s%s", root, path);
	make_parents(full);
	f = fopen(full, "a");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void link_to(const char *path, const char *target)
{
	char full[PATH_MAX], to[PATH_MAX];

	snprintf(full, sizeof full, "%s%s", root, path);
	snprintf(to, sizeof to, "%s%s", root, target);
	make_parents(full);
	if (symlink(to, full))
		abort();
}

/* A device whose folder is /sys/devices/@dir, and 1 MiB of zeroes as /dev/NAME. */
static void device(const char *dir, const char *number)
{
	const char *name = strrchr(dir, '/') + 1;
	char path[PATH_MAX], folder[PATH_MAX], line[32];

	snprintf(folder, sizeof folder, "/sys/devices/%s", dir);
	snprintf(path, sizeof path, "%s/dev", folder);
	snprintf(line, sizeof line, "%s\n", number);
	put(path, line);
	snprintf(path, sizeof path, "/sys/dev/block/%s", number);
	link_to(path, folder);
	snprintf(path, sizeof path, "/sys/class/block/%s", name);
	link_to(path, folder);
	snprintf(path, sizeof path, "/dev/%s", name);
	put(path, "");
	snprintf(path, sizeof path, "%s/dev/%s", root, name);
	if (truncate(path, 1 << 20))
		abort();
}

static void partition(const char *dir, const char *number)
{
	char path[PATH_MAX];

	device(dir, number);
	snprintf(path, sizeof path, "/sys/devices/%s/partition", dir);
	put(path, "1\n");
}

static void holder(const char *lower, const char *upper)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof path, "/sys/devices/%s/holders/%s", lower, strrchr(upper, '/') + 1);
	snprintf(target, sizeof target, "/sys/devices/%s", upper);
	link_to(path, target);
}

static void mounted(const char *number, const char *point, const char *type, const char *source)
{
	char line[512];

	snprintf(line, sizeof line, "36 35 %s / %s rw,noatime shared:1 - %s %s rw\n", number, point,
		 type, source);
	put("/proc/self/mountinfo", line);
}

static void swapped(const char *path)
{
	char line[512];

	snprintf(line, sizeof line, "%s   partition\t1048572\t0\t-2\n", path);
	put("/proc/swaps", line);
}

#define NVME "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1"

/* nvme0n1 with two partitions, a root drive sda, nothing else. */
static void machine(void)
{
	snprintf(root, sizeof root, "/tmp/pts-gate.XXXXXX");
	if (!mkdtemp(root))
		abort();
	memset(&err, 0, sizeof err);
	device(NVME, "259:0");
	device("pci0000:00/ata1/sda", "8:0");
	partition("pci0000:00/ata1/sda/sda1", "8:1");
	partition("pci0000:00/ata1/sda/sda2", "8:2");
	put("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	mounted("8:1", "/", "ext4", "/dev/root");
	mounted("0:22", "/proc", "proc", "proc");
}

static void with_partitions(void)
{
	machine();
	partition(NVME "/nvme0n1p1", "259:1");
	partition(NVME "/nvme0n1p2", "259:2");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void done(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- asking ---- */

static struct dut_info drive(const char *path, const char *serial)
{
	struct dut_info in = { .kind = DUT_BLOCK, .capacity_bytes = 1920383410176 };

	snprintf(in.path, sizeof in.path, "%s", path);
	snprintf(in.name, sizeof in.name, "%s", path);
	snprintf(in.serial, sizeof in.serial, "%s", serial);
	snprintf(in.model, sizeof in.model, "ACME 9000");
	return in;
}

static int ask_as(const char *dut, const struct dut_info *in, const char *word, bool force)
{
	struct gate_request rq = { .info = in,
				   .dut = dut,
				   .destroy = &word,
				   .n_destroy = word ? 1 : 0,
				   .force_signature = force,
				   .sysroot = root };

	err.msg[0] = '\0';
	return gate_check(&rq, &err);
}

static int ask(const char *path, const char *serial, const char *word)
{
	struct dut_info in = drive(path, serial);

	return ask_as(path, &in, word, false);
}

static bool says(const char *text)
{
	return strstr(err.msg, text) != NULL;
}

/* Takes the machine away before it judges, so that a failed test leaves nothing behind. */
#define REFUSED(call, text) \
	do { \
		int rc_ = (call); \
		if (rc_ != -EPERM || !says(text)) \
			done(); \
		CHECK_MSG(rc_ == -EPERM && says(text), "%d \"%s\", not refused with \"%s\"", rc_, \
			  err.msg, text); \
	} while (0)
#define GOOD(call) \
	do { \
		int rc_ = (call); \
		if (rc_) \
			done(); \
		CHECK_MSG(!rc_, "%d \"%s\"", rc_, err.msg); \
	} while (0)

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
	struct gate_request rq = { &in, "/dev/nvme0n1", words, 2, false, root };

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

TEST(zoned_drives)
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
