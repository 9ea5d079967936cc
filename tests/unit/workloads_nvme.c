/* SPDX-License-Identifier: MIT */
/* An NVMe namespace by its own words: identity, facts, the choice of a purge, who else it reaches, write cache, health. */
#include <sys/stat.h>

#include "tests/unit/workloads_nvme_rig.h"

static struct dut_info info;

static void facts(uint32_t by_kernel)
{
	info = (struct dut_info){ .purge_methods = by_kernel };
	nvme_facts(drive, &info);
}

static uint32_t bit(enum purge_method m)
{
	return 1u << m;
}

/* ---- identity ---- */

TEST(identify)
{
	SCRIPT(ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	facts(bit(PURGE_BLKDISCARD));
	CHECK_STR(info.serial, "S1");
	CHECK_STR(info.model, "ACME NVMe");
	CHECK_STR(info.firmware, "1.2");
	CHECK_INT(info.nsid, 1);
	CHECK(info.has_write_cache && info.cache_known);
	CHECK_INT(info.purge_methods, bit(PURGE_NVME_FORMAT) | bit(PURGE_BLKDISCARD));
	CHECK_INT(info.purge_auto, PURGE_NVME_FORMAT);
	HAS(info.auto_why, "this namespace only");
	CHECK_INT(drive->ns.lba_bytes, 512);
	end();
}

/* The drive that answers must be the one that the kernel found. */
TEST(another_drive_answers)
{
	static const struct {
		unsigned page, at; /* of identify: 0 controller, 1 namespace */
		uint8_t is;
		const char *why;
	} bad[] = {
		{ 0, 4, 'X', "serial" },	{ 1, 1, 9, "has 1179648 bytes" },
		{ 1, 128 + 2, 12, "bytes" },	{ 1, 119, 1, "identifier is" },
		{ 1, 127, 1, "identifier is" },
	};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct nvme_place p = plain_place();

		SCRIPT(ID, NS);
		plain_pages();
		memset(ns_page + 104, 0xaa, 24);
		memset(p.nguid, 'a', 32);
		memset(p.eui, 'a', 16);
		(bad[i].page ? ns_page : ctrl_page)[bad[i].at] = bad[i].is;
		CHECK_INT(nvme_attach(open("/dev/null", O_RDWR), &p, &drive, &err), -ENODEV);
		CHECK_MSG(strstr(err.msg, bad[i].why), "%u: %s", i, err.msg);
		drive = NULL;
		DO(end());
	}
	SCRIPT(ID, NS);
	memset(ns_page, 0, 8); /* inactive */
	CHECK_INT(attach(), -ENODEV);
	HAS(err.msg, "no namespace 1");
	end();
}

TEST(no_right_to_ask)
{
	SCRIPT({ .opcode = IDENTIFY, .cdw10 = 1, .rc = -EACCES });
	CHECK_INT(attach(), -EACCES);
	HAS(err.msg, "are you root");
	end();
}

/* Upper bits of FLBAS count only where there are more than 16 formats. */
TEST(the_lba_format_in_use)
{
	static const struct {
		uint8_t flbas, nlbaf, nulbaf, format;
	} is[] = { { 0x03, 7, 0, 3 },
		   { 0x13, 7, 0, 3 },
		   { 0x23, 15, 0, 3 },
		   { 0x23, 20, 0, 0x13 },
		   { 0x63, 15, 40, 0x33 } };

	for (unsigned i = 0; i < sizeof is / sizeof *is; i++) {
		SCRIPT(ID, NS);
		plain_pages();
		ns_page[25] = is[i].nlbaf;
		ns_page[26] = is[i].flbas;
		ns_page[82] = is[i].nulbaf;
		ns_page[128 + 2] = 0;
		ns_page[128 + 4 * is[i].format] = 8; /* metadata */
		ns_page[128 + 4 * is[i].format + 2] = 9;
		CHECK_INT(attach(), 0);
		CHECK_INT(drive->ns.format, is[i].format);
		CHECK_INT(drive->ns.metadata_bytes, 8);
		CHECK_INT(drive->ns.extended, is[i].flbas >> 4 & 1);
		DO(end());
	}
}

/* ---- who else is erased, and the choice ---- */

static uint8_t list_page[4096], all_page[4096];

#define LIST \
	{ \
		.opcode = IDENTIFY, .cdw10 = 2, .data = list_page \
	}
#define ALL \
	{ \
		.opcode = IDENTIFY, .cdw10 = 0x10, .data = all_page \
	}

static void lists(uint32_t a, uint32_t b, uint32_t c)
{
	memset(list_page, 0, sizeof list_page);
	memset(all_page, 0, sizeof all_page);
	le(list_page, 4, a);
	le(list_page + 4, 4, b);
	le(all_page, 4, a);
	le(all_page + 4, 4, b);
	le(all_page + 8, 4, c);
}

TEST(U05_format_of_all_namespaces_with_one)
{
	SCRIPT(ID, NS, LIST);
	plain_pages();
	ctrl_page[524] = 3; /* FNA */
	lists(1, 0, 0);
	CHECK_INT(attach(), 0);
	facts(0);
	CHECK_INT(info.purge_auto, PURGE_NVME_FORMAT);
	end();
}

TEST(U05_format_of_all_namespaces_with_three)
{
	struct purge_reach r;

	/* one of them attached elsewhere: only the list of all knows it */
	SCRIPT(ID, NS, LIST, ALL, LIST, ALL);
	plain_pages();
	le(ctrl_page + 256, 2, 0x0a); /* OACS: Format, namespace management */
	ctrl_page[524] = 1; /* format applies to all */
	lists(1, 2, 7);
	CHECK_INT(attach(), 0);
	facts(bit(PURGE_BLKDISCARD));
	/* not the weaker method behind the operator's back: consent is asked for */
	CHECK_INT(info.purge_auto, PURGE_NVME_FORMAT);
	HAS(info.auto_why, "would erase other namespaces");
	CHECK_INT(nvme_reach(drive, PURGE_NVME_FORMAT, &r, &err), 0);
	CHECK_INT(r.n, 2);
	CHECK_STR(r.path[0], "nvme1 nsid 2");
	CHECK_STR(r.path[1], "nvme1 nsid 7");
	CHECK_INT(nvme_reach(drive, PURGE_BLKDISCARD, &r, &err), 0);
	CHECK_INT(r.n, 0);
	end();
}

TEST(U05_secure_erase_alone_may_reach_all)
{
	SCRIPT(ID, NS, LIST);
	plain_pages();
	ctrl_page[524] = 2;
	ctrl_page[328] = 2; /* SANICAP: block erase */
	lists(1, 2, 0);
	CHECK_INT(attach(), 0);
	facts(0);
	CHECK_INT(info.purge_auto, PURGE_NVME_SANITIZE_BLOCK);
	end();
}

TEST(U05_sanitize_always_reaches_all)
{
	struct purge_reach r;

	SCRIPT(ID, NS, LIST);
	plain_pages();
	ctrl_page[328] = 7;
	lists(1, 4, 0);
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_reach(drive, PURGE_NVME_FORMAT, &r, &err), 0);
	CHECK_INT(r.n, 0);
	CHECK_INT(nvme_reach(drive, PURGE_NVME_SANITIZE_CRYPTO, &r, &err), 0);
	CHECK_INT(r.n, 1);
	CHECK_STR(r.path[0], "nvme1 nsid 4");
	end();
}

/* Its disk is named where it has one here; a set that has it as a member reaches nobody else. */
TEST(U05_reach_of_a_set_of_both)
{
	static const struct dut_options none;
	struct dut_name name = { .kind = DUT_BLOCK };
	struct dut_request q = { &name, "x", DUT_WRITE, &none };
	char dir[] = "/tmp/pts-unit-XXXXXX", disk[64], nsid[80];
	struct dut_real *one = dut_real_new(&q, DUT_BLOCK), *two = dut_real_new(&q, DUT_BLOCK);
	struct dut *members[] = { &one->d, &two->d };
	struct dut set = { .info = { .kind = DUT_SET, .members = 2 }, .member = members };
	struct nvme_place p = plain_place();
	struct purge_reach r;
	FILE *f;

	CHECK(mkdtemp(dir));
	snprintf(disk, sizeof disk, "%s/nvme0n2", dir);
	snprintf(nsid, sizeof nsid, "%s/nsid", disk);
	CHECK(!mkdir(disk, 0700) && (f = fopen(nsid, "w")));
	fputs("2\n", f);
	fclose(f);
	snprintf(p.ctrl_dir, sizeof p.ctrl_dir, "%s", dir);
	SCRIPT(ID, NS, LIST, LIST, LIST);
	plain_pages();
	ctrl_page[328] = 2;
	lists(1, 2, 0);
	CHECK_INT(nvme_attach(open("/dev/null", O_RDWR), &p, &one->nvme, &err), 0);
	snprintf(one->d.info.path, sizeof one->d.info.path, "/dev/nvme0n1");
	one->d.info.purge_auto = PURGE_NVME_SANITIZE_BLOCK;
	CHECK_INT(dut_purge_reach(&one->d, PURGE_AUTO, &r, &err), 0);
	CHECK_INT(r.n, 1);
	CHECK_STR(r.path[0], "/dev/nvme0n2");
	CHECK_INT(dut_purge_reach(&set, PURGE_NVME_SANITIZE_BLOCK, &r, &err), 0);
	CHECK_INT(r.n, 1);
	snprintf(two->d.info.path, sizeof two->d.info.path, "/dev/nvme0n2");
	CHECK_INT(dut_purge_reach(&set, PURGE_NVME_SANITIZE_BLOCK, &r, &err), 0);
	CHECK_INT(r.n, 0);
	dut_close(&one->d);
	dut_close(&two->d);
	unlink(nsid);
	rmdir(disk);
	rmdir(dir);
	end();
}

TEST(more_namespaces_than_a_page_and_than_the_list)
{
	static uint8_t second[4096];
	struct purge_reach r;

	SCRIPT(ID, NS, LIST, { .opcode = IDENTIFY, .nsid = 1024, .cdw10 = 2, .data = second });
	plain_pages();
	ctrl_page[328] = 2;
	for (unsigned i = 0; i < 1024; i++)
		le(list_page + 4 * i, 4, i + 1);
	le(second, 4, 2000);
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_reach(drive, PURGE_NVME_SANITIZE_BLOCK, &r, &err), 0);
	CHECK_INT(r.n, REACH_MAX);
	CHECK_STR(r.path[0], "nvme1 nsid 2");
	CHECK_STR(r.path[REACH_MAX - 1], "and more");
	end();
}

TEST(a_controller_without_the_list_is_asked_for_each)
{
	static uint8_t none[4096];
	struct purge_reach r;

	SCRIPT(ID, NS, { .opcode = IDENTIFY, .cdw10 = 2, .rc = 0x4002 }, NS,
	       { .opcode = IDENTIFY, .nsid = 2, .data = none },
	       { .opcode = IDENTIFY, .nsid = 3, .data = ns_page },
	       { .opcode = IDENTIFY, .nsid = 4, .rc = 0x400b });
	plain_pages();
	ctrl_page[328] = 2;
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_reach(drive, PURGE_NVME_SANITIZE_BLOCK, &r, &err), 0);
	CHECK_INT(r.n, 1);
	CHECK_STR(r.path[0], "nvme1 nsid 3");
	end();
}

/* A list that cannot be had is no empty list. */
TEST(a_reach_that_is_not_known)
{
	struct purge_reach r = { .n = 77 };

	SCRIPT(ID, NS, { .opcode = IDENTIFY, .cdw10 = 2, .rc = -EIO });
	plain_pages();
	ctrl_page[328] = 2;
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_reach(drive, PURGE_NVME_SANITIZE_BLOCK, &r, &err), -EIO);
	CHECK_INT(r.n, 77);
	end();
}

TEST(U12_what_auto_takes)
{
	static const struct {
		uint8_t oacs, sanicap;
		bool discard;
		enum purge_method is;
		const char *why;
	} rows[] = {
		{ 2, 7, true, PURGE_NVME_FORMAT, "this namespace only" },
		{ 0, 7, true, PURGE_NVME_SANITIZE_BLOCK, "no Format NVM: sanitize by block erase" },
		{ 0, 1, true, PURGE_NVME_SANITIZE_CRYPTO, "no block erase" },
		{ 0, 4, true, PURGE_BLKDISCARD, "overwriting is only done when named" },
		{ 0, 4, false, PURGE_NONE, "overwriting is only done when named" },
		{ 0, 0, true, PURGE_BLKDISCARD, "no purge of the PTS" },
		{ 0, 0, false, PURGE_NONE, "nor sanitize, nor discard" },
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		SCRIPT(ID, NS);
		plain_pages();
		ctrl_page[256] = rows[i].oacs;
		ctrl_page[328] = rows[i].sanicap;
		CHECK_INT(attach(), 0);
		facts(rows[i].discard ? bit(PURGE_BLKDISCARD) : 0);
		CHECK_MSG(info.purge_auto == rows[i].is, "%u: %s", i,
			  purge_method_name(info.purge_auto));
		CHECK_MSG(strstr(info.auto_why, rows[i].why), "%u: %s", i, info.auto_why);
		CHECK(strlen(info.auto_why) < sizeof info.auto_why - 1);
		DO(end());
	}
}

/* ---- write cache ---- */

#define GET(on) \
	{ \
		.opcode = GET_FEATURE, .cdw10 = 6, .result = (on) \
	}
#define SET(on) \
	{ \
		.opcode = SET_FEATURE, .cdw10 = 6, .cdw11 = (on) \
	}

TEST(write_cache_off_and_on)
{
	bool was;

	SCRIPT(ID, NS, GET(1), SET(0), GET(0), GET(0), GET(0), GET(0), SET(1), GET(1));
	plain_pages();
	CHECK_INT(attach(), 0);
	was = false;
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), 0);
	CHECK(was);
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), 0); /* nothing to set */
	CHECK(!was);
	was = true;
	CHECK_INT(nvme_write_cache(drive, true, &was, &err), 0);
	CHECK(!was);
	end();
}

TEST(write_cache_that_stays_as_it_is)
{
	bool was = true;

	SCRIPT(ID, NS, GET(0), SET(1), GET(0), GET(1),
	       { .opcode = SET_FEATURE, .cdw10 = 6, .rc = 0x410e });
	plain_pages();
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_write_cache(drive, true, &was, &err), -EOPNOTSUPP);
	HAS(err.msg, "was to be on, and the drive says that it is off");
	CHECK(was); /* untouched */
	err = (struct err){ "" };
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), -EOPNOTSUPP);
	HAS(err.msg, "410e");
	HAS(err.msg, "cannot be changed");
	end();
}

TEST(no_write_cache)
{
	bool was;

	SCRIPT(ID, NS);
	plain_pages();
	ctrl_page[525] = 6; /* only flush behaviour */
	CHECK_INT(attach(), 0);
	facts(0);
	CHECK(!info.has_write_cache && info.cache_known);
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), -EOPNOTSUPP);
	end();
}

/* ---- health ---- */

static uint8_t smart[4][512];

#define SMART(k) \
	{ \
		.opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0002, .data = smart[k] \
	}

TEST(U52_health)
{
	struct health h = { .link = "8.0 GT/s x2" };

	SCRIPT(ID, NS, SMART(0), SMART(1), SMART(1), SMART(2),
	       { .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0002, .rc = -EIO }, SMART(3));
	plain_pages();
	memset(smart, 0, sizeof smart);
	for (unsigned k = 0; k < 3; k++) {
		le(smart[k] + 1, 2, 313);
		le(smart[k] + 216, 4, 5); /* throttled before we came */
	}
	le(smart[1] + 224, 4, 3); /* seconds of light throttling */
	le(smart[2] + 224, 4, 3);
	le(smart[2] + 220, 4, 1); /* heavy */
	smart[2][0] = 2;
	smart[2][5] = 9;
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_health(drive, &h, &err), 0);
	CHECK_NEAR(h.temperature_c, 40, 0);
	CHECK(h.have_temperature && !h.throttled && !h.critical);
	CHECK_STR(h.link, "8.0 GT/s x2");
	CHECK_INT(nvme_health(drive, &h, &err), 0);
	CHECK(h.throttled);
	CHECK_INT(nvme_health(drive, &h, &err), 0);
	CHECK(!h.throttled);
	CHECK_INT(nvme_health(drive, &h, &err), 0);
	CHECK(h.throttled && h.critical);
	HAS(h.text, "temperature");
	CHECK_NEAR(h.percentage_used, 9, 0);
	CHECK_INT(nvme_health(drive, &h, &err), -EIO);
	CHECK_NEAR(h.temperature_c, 40, 0); /* untouched */
	/* a log without a temperature: what sysfs told stays */
	CHECK_INT(nvme_health(drive, &h, &err), 0);
	CHECK(h.have_temperature);
	CHECK_NEAR(h.temperature_c, 40, 0);
	end();
}

/* ---- status ---- */

TEST(U10_status_cause_and_next_step)
{
	static const struct {
		int rc, code;
		const char *hex, *cause, *next;
	} rows[] = {
		{ 0x4001, -EIO, "0x4001", "BIOS or Opal locked it", "unlock" },
		{ 0x0001, -EIO, "0x0001", "BIOS or Opal locked it", "unlock" },
		{ 0x410a, -EIO, "0x410a", "LBA format", "suspend and resume" },
		{ 0x400b, -EIO, "0x400b", "no such namespace", "rescan" },
		{ 0x4020, -EROFS, "0x4020", "write protected", "power the drive off" },
		{ 0x4015, -EACCES, "0x4015", "locked", "Opal" },
		{ 0x401d, -EBUSY, "0x401d", "sanitize is in progress", "wait" },
		{ 0x401c, -EIO, "0x401c", "last sanitize failed", "sanitize method" },
		{ 0x0084, -EBUSY, "0x0084", "format is in progress", "wait" },
		{ 0x47c3, -EIO, "0x47c3", "not known", "manual" },
		{ 0x0371, -ETIMEDOUT, "0x0371", "gave the command up", "power" },
	};

	SCRIPT(ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		err = (struct err){ "" };
		CHECK_INT(nvme_result(drive, rows[i].rc, "Format NVM", &err), rows[i].code);
		HAS(err.msg, "nvme1: Format NVM: status ");
		HAS(err.msg, rows[i].hex);
		HAS(err.msg, rows[i].cause);
		HAS(err.msg, rows[i].next);
		CHECK_INT(drive->unknown, rows[i].code == -ETIMEDOUT);
	}
	CHECK_INT(nvme_result(drive, 0, "x", &err), 0);
	end();
}

TEST_MAIN
