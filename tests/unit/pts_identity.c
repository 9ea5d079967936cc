/* SPDX-License-Identifier: MIT */
/* U03: a drive is found by what it is, under whatever name, on small trees of /sys; arrays by what they are made of. */
#include "tests/unit/pts_gate_fixture.h"

#include "pts/identity.h"

#define SYS "/sys/devices/"

static void attribute(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, SYS "%s/%s", dir, name);
	put(path, text);
}

/* An NVMe namespace with its controller's facts beside it. */
static void nvme(const char *name, const char *number, const char *serial, const char *nsid)
{
	char dir[128], wwid[128];

	snprintf(dir, sizeof dir, "pci/%s", name);
	device(dir, number);
	attribute(dir, "device/model", "ACME 9000\n");
	attribute(dir, "device/serial", serial);
	attribute(dir, "device/firmware_rev", "1.0\n");
	attribute(dir, "nsid", nsid);
	snprintf(wwid, sizeof wwid, "nvme.%s-%s\n", serial, nsid);
	attribute(dir, "wwid", wwid);
	attribute(dir, "size", "2048\n");
	attribute(dir, "queue/logical_block_size", "512\n");
}

static struct dut_info known(const char *path, const char *serial, uint32_t nsid)
{
	struct dut_info d = drive(path, serial);

	d.nsid = nsid;
	return d;
}

/* "" where it is not found. */
static const char *where(const struct dut_info *id, const char *identity)
{
	static char path[128];

	if (!identity_find(root, id, identity, path))
		path[0] = '\0';
	return path;
}

#define FOUND(id, identity, path) \
	do { \
		const char *got_ = where(id, identity); \
		if (strcmp(got_, path)) \
			done(); \
		CHECK_STR(got_, path); \
	} while (0)

TEST(under_its_own_name)
{
	struct dut_info id = known("/dev/nvme1n1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S1", "1"); /* the same drive by another path, say */
	nvme("nvme1n1", "259:1", "S1", "1");
	FOUND(&id, "", "/dev/nvme1n1");
	done();
}

TEST(under_another_name)
{
	struct dut_info id = known("/dev/nvme0n1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S2", "1");
	nvme("nvme1n1", "259:1", "S3", "1");
	nvme("nvme2n1", "259:2", "S1", "1");
	FOUND(&id, "", "/dev/nvme2n1");
	done();
}

TEST(its_namespace_not_its_neighbour)
{
	struct dut_info id = known("/dev/nvme0n1", "S1", 2);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S1", "1");
	nvme("nvme0n2", "259:1", "S1", "2");
	FOUND(&id, "", "/dev/nvme0n2");
	id.nsid = 3;
	FOUND(&id, "", "");
	done();
}

TEST(another_model_with_that_serial_is_another)
{
	struct dut_info id = known("/dev/nvme0n1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S1", "1");
	attribute("pci/nvme0n1", "device/model", "OTHER\n");
	FOUND(&id, "", "");
	done();
}

TEST(without_nsid_the_wwid_decides)
{
	struct dut_info id = known("/dev/sda", "S1", 0);

	tree_begin_in("/tmp");
	device("pci/sdb", "8:16");
	attribute("pci/sdb", "device/model", "ACME 9000\n");
	attribute("pci/sdb", "device/serial", "S1\n");
	attribute("pci/sdb", "device/wwid", "naa.2\n");
	snprintf(id.wwid, sizeof id.wwid, "naa.1");
	FOUND(&id, "wwid naa.1", "");
	snprintf(id.wwid, sizeof id.wwid, "naa.2");
	FOUND(&id, "wwid naa.2", "/dev/sdb");
	done();
}

TEST(of_two_with_one_serial_the_wwid_decides)
{
	struct dut_info id = known("/dev/nvme0n1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S1", "1");
	nvme("nvme1n1", "259:1", "S1", "1");
	attribute("pci/nvme1n1", "wwid", "eui.2\n");
	snprintf(id.wwid, sizeof id.wwid, "eui.2");
	FOUND(&id, "wwid eui.2", "/dev/nvme1n1");
	snprintf(id.wwid, sizeof id.wwid, "eui.3"); /* another kernel's wwid: the name stays */
	FOUND(&id, "wwid eui.3", "/dev/nvme0n1");
	done();
}

TEST(the_kernel_cuts_models_of_sata)
{
	struct dut_info id = known("/dev/sda", "S1", 0);

	tree_begin_in("/tmp");
	device("pci/sdc", "8:32");
	attribute("pci/sdc", "device/model", "ACME SSD 9000 Pr\n");
	attribute("pci/sdc", "device/serial", "S1\n");
	snprintf(id.model, sizeof id.model, "ACME SSD 9000 Pro 1TB");
	FOUND(&id, "", "/dev/sdc");
	snprintf(id.model, sizeof id.model, "ACME SSD");
	FOUND(&id, "", "");
	done();
}

TEST(a_partition_is_not_its_drive)
{
	struct dut_info id = known("/dev/nvme0n1p1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme3n1", "259:0", "S1", "1");
	partition("pci/nvme3n1/nvme3n1p1", "259:1");
	FOUND(&id, "wwid nvme.S1-1, partition 1", "/dev/nvme3n1p1");
	FOUND(&id, "wwid nvme.S1-1, partition 2", "");
	FOUND(&id, "wwid nvme.S1-1", "/dev/nvme3n1");
	done();
}

TEST(a_hidden_path_is_no_drive)
{
	struct dut_info id = known("/dev/nvme0n1", "S1", 1);

	tree_begin_in("/tmp");
	nvme("nvme0c0n1", "259:9", "S1", "1");
	attribute("pci/nvme0c0n1", "hidden", "1\n");
	FOUND(&id, "", "");
	done();
}

TEST(nothing_is_not_found)
{
	struct dut_info id = known("/dev/nvme0n1", "S9", 1), none = known("/dev/loop0", "", 0);

	tree_begin_in("/tmp");
	nvme("nvme0n1", "259:0", "S1", "1");
	device("virtual/block/loop0", "7:0");
	FOUND(&id, "", "");
	FOUND(&none, "", ""); /* nothing is known of it: no drive is as good as another */
	done();
}

/* ---- arrays ---- */

static void member(const char *upper, const char *lower)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof path, SYS "%s/slaves/%s", upper, strrchr(lower, '/') + 1);
	snprintf(target, sizeof target, SYS "%s", lower);
	link_to(path, target);
	holder(lower, upper);
}

static void raid(const char *name, const char *number, const char *uuid)
{
	char dir[64];

	snprintf(dir, sizeof dir, "virtual/block/%s", name);
	device(dir, number);
	attribute(dir, "md/level", "raid1\n");
	attribute(dir, "md/raid_disks", "2\n");
	attribute(dir, "md/degraded", "0\n");
	attribute(dir, "md/sync_action", "idle\n");
	attribute(dir, "md/uuid", uuid);
	attribute(dir, "size", "2048\n");
	member(dir, "pci/nvme0n1");
	member(dir, "pci/nvme1n1");
}

static void two_drives(void)
{
	tree_begin_in("/tmp");
	put("/proc/swaps", "");
	nvme("nvme0n1", "259:0", "S1", "1");
	nvme("nvme1n1", "259:1", "S2", "1");
}

static struct dut_info array(const char *path)
{
	struct dut_info d = drive(path, "");
	struct layout l;

	if (gate_layout(root, path, &l))
		layout_text(&l, d.layout, sizeof d.layout);
	return d;
}

TEST(an_array_is_told_with_its_members)
{
	struct buf b = BUF_INIT;
	struct dut_info d;

	two_drives();
	raid("md0", "9:0", "aaaa-1\n");
	d = array("/dev/md0");
	identity_text(root, &d, &b);
	done();
	CHECK_STR(d.layout, "md raid1 of 2");
	CHECK_STR(buf_cstr(&b),
		  "layout=md raid1 of 2\nuuid=aaaa-1\n"
		  "member S1 wwid nvme.S1-1=ACME 9000, firmware '1.0', 1048576 bytes\n"
		  "member S2 wwid nvme.S2-1=ACME 9000, firmware '1.0', 1048576 bytes\n");
	buf_release(&b);
}

TEST(an_array_is_found_by_its_uuid)
{
	struct dut_info d;
	struct buf b = BUF_INIT;
	char identity[600];

	two_drives();
	raid("md0", "9:0", "aaaa-1\n");
	d = array("/dev/md0");
	identity_text(root, &d, &b);
	snprintf(identity, sizeof identity, "%s", buf_cstr(&b));
	buf_release(&b);
	done();
	two_drives();
	raid("md127", "9:127", "aaaa-1\n");
	attribute("pci/nvme1n1", "device/firmware_rev", "2.0\n"); /* told by who compares */
	FOUND(&d, identity, "/dev/md127");
	attribute("virtual/block/md127", "md/uuid", "bbbb-2\n");
	FOUND(&d, identity, "");
	done();
}

TEST(what_changed_of_an_array_is_told)
{
	struct dut_info d;
	struct buf was = BUF_INIT, is = BUF_INIT, diff = BUF_INIT;

	two_drives();
	raid("md0", "9:0", "aaaa-1\n");
	d = array("/dev/md0");
	identity_text(root, &d, &was);
	attribute("virtual/block/md0", "md/degraded", "1\n");
	d = array("/dev/md0");
	identity_text(root, &d, &is);
	done();
	identity_diff(buf_cstr(&was), buf_cstr(&is), &diff);
	CHECK_STR(buf_cstr(&diff), "layout was md raid1 of 2, is md raid1 of 2, 1 missing");
	buf_release(&was);
	buf_release(&is);
	buf_release(&diff);
}

TEST(an_array_may_be_purged_though_its_members_are_held)
{
	struct dut_info d;

	two_drives();
	raid("md0", "9:0", "aaaa:1\n");
	d = array("/dev/md0");
	REFUSED(ask_as("/dev/md0", &d, NULL, false), "give --destroy '/dev/md0'");
	GOOD(ask_as("/dev/md0", &d, "/dev/md0", false));
	GOOD(ask_as("/dev/md0", &d, "AAAA1", false)); /* however the uuid is parted */
	REFUSED(ask_as("/dev/md0", &d, "aaaa:2", false), "does not name it");
	REFUSED(ask("/dev/nvme0n1", "S1", "S1"), "held by another device");
	mounted("9:0", "/data", "ext4", "/dev/md0");
	REFUSED(ask_as("/dev/md0", &d, "/dev/md0", false), "mounted on /data");
	done();
}

TEST(a_hook_wants_a_word_for_each_member)
{
	const char *words[] = { "/dev/md0", "S1", "S2" };
	struct dut_info d;
	struct gate_request rq;

	two_drives();
	raid("md0", "9:0", "aaaa:1\n");
	d = array("/dev/md0");
	rq = (struct gate_request){
		.info = &d, .dut = "/dev/md0", .destroy = words, .n_destroy = 2, .sysroot = root
	};
	err.msg[0] = 0;
	REFUSED(gate_members(&rq, &err), "give --destroy 'S2' to agree");
	rq.n_destroy = 3;
	err.msg[0] = 0;
	GOOD(gate_members(&rq, &err));
	if (!gate_member_named(&rq, "S2") || gate_member_named(&rq, "S3"))
		done();
	CHECK(gate_member_named(&rq, "S2") && !gate_member_named(&rq, "S3"));
	done();
}

/* ---- what a purge reaches besides ---- */

static int reach(const char *a, const char *b, bool agreed)
{
	struct dut_info d = known("/dev/nvme0n1", "S1", 1);
	struct gate_request rq = { .info = &d, .dut = "/dev/nvme0n1", .sysroot = root };
	struct purge_reach r = { .n = b ? 2 : a ? 1 : 0 };

	snprintf(r.path[0], sizeof r.path[0], "%s", a ? a : "");
	snprintf(r.path[1], sizeof r.path[1], "%s", b ? b : "");
	err.msg[0] = 0;
	return gate_reach(&rq, PURGE_NVME_FORMAT, &r, agreed, &err);
}

static void namespaces(void)
{
	tree_begin_in("/tmp");
	put("/proc/swaps", "");
	nvme("nvme0n1", "259:0", "S1", "1");
	nvme("nvme0n2", "259:1", "S1", "2");
}

TEST(U05_other_namespaces_need_their_consent)
{
	namespaces();
	GOOD(reach(NULL, NULL, false));
	REFUSED(reach("/dev/nvme0n2", "nvme0 nsid 3", false),
		"purge by nvme-format erases more than it: /dev/nvme0n2, nvme0 nsid 3 as well: "
		"give --all-namespaces");
	GOOD(reach("/dev/nvme0n2", "nvme0 nsid 3", true));
	done();
}

TEST(U05_consent_does_not_lift_the_gate)
{
	namespaces();
	mounted("259:1", "/home", "ext4", "/dev/nvme0n2");
	REFUSED(reach("/dev/nvme0n2", NULL, true), "mounted on /home");
	REFUSED(reach("nvme0 nsid 3", "/dev/nvme0n2", true), "/dev/nvme0n1: purge by nvme-format");
	done();
}

TEST(U05_more_than_can_be_looked_at_is_refused)
{
	namespaces();
	REFUSED(reach("nvme0 nsid 3", "and more", true), "too many to look at");
	done();
}

TEST(U05_a_namespace_that_carries_data_is_refused_as_the_target_would_be)
{
	static const unsigned char head[] = { 1, 0, 0, 0, 200, 0, 0, 0 }; /* version, last page */
	char path[PATH_MAX];
	int fd;

	namespaces();
	fd = open(in_tree(path, "/dev/nvme0n2"), O_WRONLY);
	if (fd < 0 || pwrite(fd, head, sizeof head, 1024) < 0 ||
	    pwrite(fd, "SWAPSPACE2", 10, 4086) < 0 || close(fd))
		abort();
	REFUSED(reach("/dev/nvme0n2", NULL, true), "carries data: swap");
	done();
}

TEST(other_bytes_of_the_same_file_are_another_drive)
{
	struct dut_info d = drive("/dev/loop7", "");
	char first[200], later[200];

	tree_begin_in("/tmp");
	device("virtual/block/loop7", "7:7");
	put("/image", "");
	attribute("virtual/block/loop7", "loop/backing_file", "/image\n");
	attribute("virtual/block/loop7", "loop/offset", "0\n");
	identity_of(root, &d, first, sizeof first);
	attribute("virtual/block/loop7", "loop/offset", "1048576\n");
	identity_of(root, &d, later, sizeof later);
	done();
	CHECK(!strncmp(first, "file ", 5) && !strstr(first, "from"));
	CHECK(!strncmp(later, first, strlen(first)) && strstr(later, " from 1048576"));
}

TEST_MAIN
