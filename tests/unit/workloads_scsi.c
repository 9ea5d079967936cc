/* SPDX-License-Identifier: MIT */
/* SAS drives by scripted commands: what they are asked when they are opened, which purge follows, cache, health, errors. */
#include "tests/unit/workloads_scsi_rig.h"

#include "workloads/dut_real.h"

#define INQUIRY "12 00 00 00 60 00"
#define READY "00 00 00 00 00 00"
#define CAPACITY "9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00"
#define CODES "a3 0c 01 04 00 00 00 00 00 20 00 00"
#define CODES_SANITIZE(n) "a3 0c 02 48 00 0" n " 00 00 00 20 00 00"
#define LOG(page) "4d 00 " page " 00 00 00 00 02 00 00"
#define SENSE10 "5a 00 08 00 00 00 00 00 80 00"
#define SENSE10_CAN "5a 00 48 00 00 00 00 00 80 00"
/* A disk, "PTSTEST ", "SAS SSD         ", "R002". */
#define DISK_BYTES \
	"00 00 07 02 5b 00 00 02 50 54 53 54 45 53 54 20 53 41 53 20 53 53 44 20 20 20 20 20 20 " \
	"20 20 20 " \
	"52 30 30 32"
/* 1 000 000 blocks of 512 bytes. */
#define MILLION \
	"00 00 00 00 00 0f 42 3f 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 " \
	"00 00 00"
#define CACHE_ON \
	"00 1c 00 00 00 00 00 08 00 0f 42 40 00 00 02 00 88 0a 04 00 ff ff 00 00 ff ff 00 00"
#define CACHE_OFF \
	"00 1c 00 00 00 00 00 08 00 0f 42 40 00 00 02 00 88 0a 00 00 ff ff 00 00 ff ff 00 00"
#define CACHE_CAN "00 14 00 00 00 00 00 00 08 0a 04 00 00 00 00 00 00 00 00 00"
#define CACHE_FIXED "00 14 00 00 00 00 00 00 08 0a 00 00 00 00 00 00 00 00 00 00"
#define YES "00 03 00 06"
#define NO "00 01 00 00"

static struct scsi_drive *s;
static struct dut_info info;
static struct err err;

static void pages(void)
{
	expect_in("12 01 80 00 fc 00", 252, "00 80 00 0a 20 20 53 45 52 31 32 33 20 20");
	/* The port's name by SAS; T10 vendor text; EUI-64; NAA. */
	expect_in("12 01 83 00 fc 00", 252,
		  "00 83 00 30 61 93 00 08 50 00 c5 00 11 11 11 12 "
		  "02 01 00 08 50 54 53 54 45 53 54 20 01 02 00 08 00 11 22 33 44 55 66 77 "
		  "01 03 00 08 50 00 c5 00 aa bb cc dd");
	expect_in("12 01 b0 00 fc 00", 252,
		  "00 b0 00 3c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 40 00 00");
	expect_in("12 01 b1 00 fc 00", 252, "00 b1 00 3c 00 01");
	expect_in("12 01 b2 00 fc 00", 252, "00 b2 00 04 00 e0 00 00");
}

static void identity(void)
{
	expect_in(INQUIRY, 96, DISK_BYTES);
	expect(READY);
	pages();
	expect_in(CAPACITY, 32, MILLION);
}

static void commands(const char *format, const char *overwrite, const char *block,
		     const char *crypto)
{
	expect_in(CODES, 32, format);
	expect_in(CODES_SANITIZE("1"), 32, overwrite);
	expect_in(CODES_SANITIZE("2"), 32, block);
	expect_in(CODES_SANITIZE("3"), 32, crypto);
}

static void rest(void)
{
	expect_in(LOG("40"), 512, "00 00 00 05 00 02 03 0d 2f");
	expect_in(SENSE10, 128, CACHE_ON);
	expect_in(SENSE10_CAN, 128, CACHE_CAN);
}

static void open_it(void)
{
	CHECK_MSG(!scsi_open_file(false, &s, &err), "%s", err.msg);
	DO(scsi_over());
	info = (struct dut_info){ .purge_methods = 1u << PURGE_BLKDISCARD,
				  .purge_auto = PURGE_BLKDISCARD };
	scsi_facts(s, &info);
	trail[0] = 0;
}

static void opened(const char *format, const char *overwrite, const char *block, const char *crypto)
{
	scsi_begin();
	identity();
	commands(format, overwrite, block, crypto);
	rest();
	DO(open_it());
}

/* ---- opening ---- */

TEST(what_a_sas_drive_is)
{
	DO(opened(YES, NO, YES, YES));
	CHECK_STR(info.vendor, "PTSTEST");
	CHECK_STR(info.model, "SAS SSD");
	CHECK_STR(info.firmware, "R002");
	CHECK_STR(info.serial, "SER123");
	CHECK_STR(info.wwid, "naa.5000c500aabbccdd");
	CHECK_STR(info.transport, "sas");
	CHECK(info.has_write_cache);
	CHECK_INT(s->capacity.blocks, 1000000);
	CHECK_INT(s->capacity.lba_bytes, 512);
	CHECK_INT(s->unmap_blocks, 0x400000);
	CHECK(s->thin_write_same);
	CHECK(!s->rotating);
	scsi_close(s);
}

TEST(a_drive_that_answers_little_is_opened_all_the_same)
{
	static const char *const page[] = { "80", "83", "b0", "b1", "b2" };
	char cdb[40];

	scsi_begin();
	expect_in(INQUIRY, 96, DISK_BYTES);
	expect(READY);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(cdb, sizeof cdb, "12 01 %s 00 fc 00", page[i]);
		fails(expect_in(cdb, 252, ""), 5, 0x24, 0);
	}
	fails(expect_in(CAPACITY, 32, ""), 5, 0x20, 0);
	fails(expect_in(CODES, 32, ""), 5, 0x20, 0);
	fails(expect_in(CODES_SANITIZE("1"), 32, ""), 5, 0x20, 0);
	fails(expect_in(LOG("40"), 512, ""), 5, 0x20, 0);
	fails(expect_in(SENSE10, 128, ""), 5, 0x20, 0);
	fails(expect_in("1a 00 08 00 80 00", 128, ""), 5, 0x24, 0);
	DO(open_it());
	CHECK_STR(info.serial, "");
	CHECK(!info.has_write_cache);
	CHECK_INT(info.purge_auto, PURGE_BLKDISCARD);
	CHECK(info.purge_methods & 1u << PURGE_SCSI_FORMAT);
	CHECK(!(info.purge_methods & 1u << PURGE_SCSI_SANITIZE));
	CHECK_MSG(strstr(info.auto_why, "does not tell which commands"), "%s", info.auto_why);
	scsi_close(s);
}

TEST(what_is_no_drive_for_commands)
{
	static const struct {
		int error;
		const char *inquiry;
		int rc;
	} row[] = {
		{ ENOTTY, "", -ENOTTY },
		{ EINVAL, "", -ENOTTY },
		{ EPERM, "", -EACCES },
		{ ENODEV, "", -ENODEV },
		{ 0,
		  "05 80 05 02 1f 00 00 00 51 45 4d 55 20 20 20 20 51 45 4d 55 20 44 56 44 2d 52 "
		  "4f 4d "
		  "20 20 20 20 32 2e 35 2b",
		  -ENOTTY },
		{ 0,
		  "7f 00 00 00 1f 00 00 00 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 "
		  "20 20 "
		  "20 20 20 20 20 20 20 20",
		  -ENODEV },
		{ 0, "00 00", -ENODEV },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		scsi_begin();
		expect_in(INQUIRY, 96, row[i].inquiry)->error = row[i].error;
		CHECK_INT(scsi_open_file(false, &s, &err), row[i].rc);
		CHECK(err.msg[0]);
		DO(scsi_over());
	}
}

TEST(capacity_is_that_of_the_kernel)
{
	scsi_begin();
	kernel_bytes = 512000000;
	kernel_lba = 512;
	identity();
	commands(YES, NO, NO, NO);
	rest();
	DO(open_it());
	scsi_close(s);

	for (unsigned i = 0; i < 2; i++) {
		scsi_begin();
		kernel_bytes = i ? 512000000 : 512000512;
		kernel_lba = i ? 4096 : 512;
		identity();
		CHECK_INT(scsi_open_file(false, &s, &err), -ENODEV);
		CHECK_MSG(strstr(err.msg, "rescan"), "%s", err.msg);
		DO(scsi_over());
	}
}

TEST(capacity_that_makes_no_sense)
{
	static const char *const answer[] = {
		"ff ff ff ff ff ff ff ff 00 00 02 00", /* one more is none */
		"00 00 00 00 00 0f 42 3f 00 00 00 00",
		"00 00 00 00 00 0f 42 3f 00 00 02 00 0f", /* a protection of type 8 */
		"00 00 00 00 00 0f 42 3f",
	};

	for (unsigned i = 0; i < sizeof answer / sizeof *answer; i++) {
		struct scsi_capacity c = { .blocks = 7 };

		DO(opened(YES, NO, NO, NO));
		expect_in(CAPACITY, 32, answer[i]);
		CHECK_INT(scsi_read_capacity(s, &c, &err), -EIO);
		DO(scsi_over());
		CHECK_INT(s->capacity.blocks, 1000000);
		scsi_close(s);
	}
}

TEST(unit_attentions_are_passed_over)
{
	scsi_begin();
	expect_in(INQUIRY, 96, DISK_BYTES);
	fails(expect(READY), 6, 0x29, 0);
	fails(expect(READY), 6, 0x2a, 1);
	expect(READY);
	pages();
	expect_in(CAPACITY, 32, MILLION);
	commands(YES, NO, NO, NO);
	rest();
	DO(open_it());
	scsi_close(s);
}

TEST(auto_of_a_sas_drive)
{
	static const struct {
		const char *format, *overwrite, *block, *crypto;
		enum purge_method is;
		unsigned methods;
		const char *why;
	} row[] = {
		{ YES, YES, YES, YES, PURGE_SCSI_SANITIZE,
		  1u << PURGE_SCSI_SANITIZE | 1u << PURGE_SCSI_FORMAT, "block erase" },
		{ YES, NO, NO, YES, PURGE_SCSI_SANITIZE,
		  1u << PURGE_SCSI_SANITIZE | 1u << PURGE_SCSI_FORMAT, "cryptographic" },
		{ NO, NO, YES, NO, PURGE_SCSI_SANITIZE, 1u << PURGE_SCSI_SANITIZE, "block erase" },
		{ YES, NO, NO, NO, PURGE_SCSI_FORMAT, 1u << PURGE_SCSI_FORMAT, "FORMAT UNIT" },
		{ YES, YES, NO, NO, PURGE_SCSI_FORMAT,
		  1u << PURGE_SCSI_SANITIZE | 1u << PURGE_SCSI_FORMAT, "FORMAT UNIT" },
		{ "00 05 00 06", NO, NO, NO, PURGE_SCSI_FORMAT, 1u << PURGE_SCSI_FORMAT,
		  "FORMAT UNIT" },
		{ NO, YES, NO, NO, PURGE_BLKDISCARD, 1u << PURGE_SCSI_SANITIZE, "only overwrite" },
		{ NO, NO, NO, NO, PURGE_BLKDISCARD, 0, "neither SANITIZE nor FORMAT UNIT" },
		/* "not known now" */
		{ "00 00 00 00", NO, NO, NO, PURGE_BLKDISCARD, 1u << PURGE_SCSI_FORMAT,
		  "does not tell which" },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		DO(opened(row[i].format, row[i].overwrite, row[i].block, row[i].crypto));
		CHECK_MSG(info.purge_auto == row[i].is, "row %u: %s", i,
			  purge_method_name(info.purge_auto));
		CHECK_INT(info.purge_methods, row[i].methods | 1u << PURGE_BLKDISCARD);
		CHECK_MSG(strstr(info.auto_why, row[i].why), "row %u: %s", i, info.auto_why);
		info = (struct dut_info){ .purge_methods = 0 };
		scsi_facts(s, &info);
		CHECK_INT(info.purge_auto, row[i].is == PURGE_BLKDISCARD ? PURGE_NONE : row[i].is);
		scsi_close(s);
	}
}

TEST(auto_says_what_a_discard_is_and_that_a_disk_rotates)
{
	DO(opened(NO, NO, NO, NO));
	CHECK_MSG(strstr(info.auto_why, "discard (UNMAP)"), "%s", info.auto_why);
	s->unmap_blocks = 0;
	scsi_facts(s, &info);
	CHECK_MSG(strstr(info.auto_why, "discard (WRITE SAME)"), "%s", info.auto_why);
	s->rotating = true;
	scsi_facts(s, &info);
	CHECK_MSG(!strstr(info.auto_why, "rotates"), "%s", info.auto_why);
	s->format = SCSI_YES;
	scsi_facts(s, &info);
	CHECK_INT(info.purge_auto, PURGE_SCSI_FORMAT);
	CHECK_MSG(strstr(info.auto_why, "rotates"), "%s", info.auto_why);
	scsi_close(s);
}

/* ---- cache ---- */

TEST(cache_is_switched_for_now_and_read_back)
{
	bool was = false;

	DO(opened(YES, NO, NO, NO));
	expect_in(SENSE10, 128, CACHE_ON);
	expect_in(SENSE10_CAN, 128, CACHE_CAN);
	expect_in(SENSE10, 128, CACHE_ON);
	expect_out("55 10 00 00 00 00 00 00 14 00",
		   "00 00 00 00 00 00 00 00 08 0a 00 00 ff ff 00 00 ff ff 00 00");
	expect_in(SENSE10, 128, CACHE_OFF);
	expect_in(SENSE10_CAN, 128, CACHE_CAN);
	CHECK_MSG(!scsi_write_cache(s, false, &was, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(was);
	scsi_close(s);
}

TEST(cache_that_is_so_already_is_left_alone)
{
	bool was = false;

	DO(opened(YES, NO, NO, NO));
	for (unsigned i = 0; i < 2; i++) {
		expect_in(SENSE10, 128, CACHE_ON);
		expect_in(SENSE10_CAN, 128, CACHE_FIXED);
	}
	CHECK_INT(scsi_write_cache(s, true, &was, &err), 0);
	DO(scsi_over());
	CHECK(was);
	scsi_close(s);
}

TEST(cache_by_the_short_forms)
{
	bool was = true;

	DO(opened(YES, NO, NO, NO));
	for (unsigned i = 0; i < 5; i++) {
		bool can = i == 1 || i == 4;
		if (i == 3) {
			expect_out("15 10 00 00 10 00",
				   "00 00 00 00 08 0a 04 00 ff ff 00 00 ff ff 00 00");
		}
		fails(expect_in(can ? SENSE10_CAN : SENSE10, 128, ""), 5, 0x20, 0);
		expect_in(can ? "1a 00 48 00 80 00" : "1a 00 08 00 80 00", 128,
			  can	  ? "0f 00 00 00 08 0a 04 00 00 00 00 00 00 00 00 00"
			  : i < 3 ? "0f 00 00 00 88 0a 00 00 ff ff 00 00 ff ff 00 00"
				  : "0f 00 00 00 88 0a 04 00 ff ff 00 00 ff ff 00 00");
	}
	CHECK_MSG(!scsi_write_cache(s, true, &was, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(!was);
	scsi_close(s);
}

TEST(cache_that_cannot_be_switched_or_will_not)
{
	bool was = true;

	DO(opened(YES, NO, NO, NO));
	expect_in(SENSE10, 128, CACHE_ON);
	expect_in(SENSE10_CAN, 128, CACHE_FIXED);
	CHECK_INT(scsi_write_cache(s, false, &was, &err), -EOPNOTSUPP);
	DO(scsi_over());

	err.msg[0] = 0;
	expect_in(SENSE10, 128, CACHE_ON);
	expect_in(SENSE10_CAN, 128, CACHE_CAN);
	expect_in(SENSE10, 128, CACHE_ON);
	expect_out("55 10 00 00 00 00 00 00 14 00",
		   "00 00 00 00 00 00 00 00 08 0a 00 00 ff ff 00 00 ff ff 00 00");
	expect_in(SENSE10, 128, CACHE_ON); /* it said ok and did nothing */
	expect_in(SENSE10_CAN, 128, CACHE_CAN);
	CHECK_INT(scsi_write_cache(s, false, &was, &err), -EIO);
	CHECK_MSG(strstr(err.msg, "still on"), "%s", err.msg);
	DO(scsi_over());
	scsi_close(s);
}

TEST(mode_pages_that_are_cut_off)
{
	static const char *const answer[] = {
		"00",
		"00 1c 00 00 00 00 00 08 00",
		"00 1c 00 00 00 00 ff ff 00 0f 42 40",
		"00 1c 00 00 00 00 00 00 88 ff 04",
		"00 1c 00 00 00 00 00 00 0a 0a 04 00",
	};

	for (unsigned i = 0; i < sizeof answer / sizeof *answer; i++) {
		bool was;

		DO(opened(YES, NO, NO, NO));
		expect_in(SENSE10, 128, answer[i]);
		expect_in("1a 00 08 00 80 00", 128, answer[i]);
		CHECK_INT(scsi_write_cache(s, false, &was, &err), -EOPNOTSUPP);
		DO(scsi_over());
		scsi_close(s);
	}
}

/* ---- health ---- */

TEST(health_by_log_pages)
{
	struct health h = { .have_temperature = true,
			    .temperature_c = 77,
			    .link = "12.0 Gbps",
			    .media_errors = 9 };

	DO(opened(YES, NO, NO, NO));
	expect_in(LOG("4d"), 512, "0d 00 00 0c 00 00 03 02 00 26 00 01 03 02 00 41");
	expect_in(LOG("6f"), 512, "2f 00 00 08 00 00 03 04 00 00 27 00");
	expect_in(LOG("42"), 512,
		  "02 00 00 18 00 05 03 08 00 00 00 01 00 00 00 00 00 06 03 08 00 00 00 00 00 00 "
		  "00 02");
	expect_in(LOG("43"), 512, "03 00 00 08 00 06 03 04 00 00 00 03");
	CHECK_MSG(!scsi_health(s, &h, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(h.have_temperature && h.temperature_c == 38);
	CHECK(!h.critical);
	CHECK_STR(h.link, "12.0 Gbps"); /* sysfs told */
	CHECK_INT(h.host_written_bytes, (uint64_t)1 << 32);
	CHECK_INT(h.media_errors, 5);
	scsi_close(s);
}

TEST(health_alarms_and_what_is_not_told)
{
	static const struct {
		const char *temperature, *exceptions;
		double c; /* -1: not told */
		const char *text;
	} row[] = {
		{ "0d 00 00 06 00 00 03 02 00 ff", "2f 00 00 08 00 00 03 04 00 00 00 00", -1, "" },
		{ "0d 00 00 06 00 00 03 02 00 00", "2f 00 00 08 00 00 03 04 5d 10 29 00", 41,
		  "(5d/10)" },
		{ "0d 00 00 06 00 00 03 02 00 3c", "2f 00 00 08 00 00 03 04 0b 01 29 00", 60,
		  "emperature" },
		{ "0d 00 00 ff 00 00 03 ff 00", "2f 00 ff ff 00 00 03", -1, "" }, /* cut off */
		{ "00", "0d 00 00 08 00 00 03 04 5d 10 29 00", -1, "" }, /* another page */
		/* beyond the end of the page */
		{ "0d 00 00 04 00 00 03 02 00 26", "2f 00 00 05 00 00 03 04 5d 10 29 00", -1, "" },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		struct health h = { .have_temperature = false };

		DO(opened(YES, NO, NO, NO));
		expect_in(LOG("4d"), 512, row[i].temperature);
		expect_in(LOG("6f"), 512, row[i].exceptions);
		fails(expect_in(LOG("42"), 512, ""), 5, 0x24, 0);
		fails(expect_in(LOG("43"), 512, ""), 5, 0x24, 0);
		CHECK_MSG(!scsi_health(s, &h, &err), "row %u: %s", i, err.msg);
		DO(scsi_over());
		CHECK_INT(h.have_temperature, row[i].c >= 0);
		CHECK_MSG(row[i].c < 0 || h.temperature_c == row[i].c, "row %u: %g", i,
			  h.temperature_c);
		CHECK_INT(h.critical, row[i].text[0] != 0);
		CHECK_MSG(strstr(h.text, row[i].text), "row %u: %s", i, h.text);
		scsi_close(s);
	}
}

TEST(health_of_a_drive_that_left)
{
	struct health h = { .have_temperature = false };

	DO(opened(YES, NO, NO, NO));
	expect_in(LOG("4d"), 512, "")->host_status = 1;
	CHECK_INT(scsi_health(s, &h, &err), -ENODEV);
	CHECK_MSG(strstr(err.msg, "gone"), "%s", err.msg);
	DO(scsi_over());
	scsi_close(s);
}

/* ---- errors in words ---- */

TEST(sense_cause_and_next_step)
{
	static const struct {
		unsigned key, asc, ascq;
		int rc;
		const char *has[3];
	} row[] = {
		{ 2, 0x04, 0x04, -EBUSY, { "a format runs", "2/04/04", "wait" } },
		{ 2, 0x04, 0x1b, -EBUSY, { "a sanitize runs", "2/04/1b", "wait" } },
		{ 2, 0x04, 0x02, -EBUSY, { "stopped", "2/04/02", "start it" } },
		{ 2, 0x3e, 0x00, -EBUSY, { "not ready", "2/3e/00", "wait" } },
		{ 3,
		  0x11,
		  0x00,
		  -EIO,
		  { "cannot read or write", "3/11/00", "nrecovered read error" } },
		{ 3,
		  0x31,
		  0x03,
		  -EIO,
		  { "sanitize of the drive failed", "3/31/03", "power cycle" } },
		{ 4, 0x44, 0x00, -EIO, { "hardware", "4/44/00", "power cycle" } },
		{ 5,
		  0x20,
		  0x00,
		  -EOPNOTSUPP,
		  { "does not know this command", "5/20/00", "--method" } },
		{ 5, 0x24, 0x00, -EOPNOTSUPP, { "this form", "5/24/00", "--method" } },
		{ 5, 0x26, 0x00, -EOPNOTSUPP, { "these parameters", "5/26/00", "--method" } },
		{ 5, 0x74, 0x71, -EOPNOTSUPP, { "locked", "5/74/71", "unlock" } },
		{ 7, 0x27, 0x00, -EACCES, { "write-protected", "7/27/00", "" } },
		{ 0xb, 0x00, 0x00, -EIO, { "aborted", "b/00/00", "frozen or locked" } },
		{ 9, 0x80, 0xfe, -EIO, { "failed the command", "9/80/fe", "kernel's log" } },
		{ 0xe, 0x1d, 0x00, -EIO, { "failed the command", "e/1d/00", "iscompare" } },
	};

	DO(opened(YES, NO, NO, NO));
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		struct scsi_cmd c = { .name = "FORMAT UNIT", .cdb = { 4 }, .cdb_len = 6 };

		err.msg[0] = 0;
		fails(expect("04 00 00 00 00 00"), row[i].key, row[i].asc, row[i].ascq);
		CHECK_INT(scsi_do(s, &c, &err), row[i].rc);
		DO(scsi_over());
		for (unsigned k = 0; k < 3; k++)
			CHECK_MSG(strstr(err.msg, row[i].has[k]), "row %u: %s", i, err.msg);
		CHECK_MSG(!strncmp(err.msg, "/dev/sdx: FORMAT UNIT: ", 23), "%s", err.msg);
	}
	scsi_close(s);
}

TEST(status_and_transport_in_words)
{
	static const struct {
		unsigned status, host;
		int error, rc;
		const char *has;
		bool erases;
	} row[] = {
		{ 0, 8, 0, -EIO, "host status 08", false },
		{ 0, 8, 0, -ETIMEDOUT, "lost link (host status 08): the drive's state is unknown",
		  true },
		{ 0, 5, 0, -ETIMEDOUT, "state is unknown", true },
		{ 0, 0xe, 0, -ETIMEDOUT, "state is unknown", true },
		{ 0, 0xf, 0, -ETIMEDOUT, "state is unknown", true },
		{ 0x18, 0, 0, -EBUSY, "another host has reserved", false },
		{ 0x08, 0, 0, -EBUSY, "status 08", false },
		{ 0x28, 0, 0, -EBUSY, "status 28", false },
		{ 0, 1, 0, -ENODEV, "gone", false },
		{ 0, 3, 0, -ETIMEDOUT, "state is unknown", false },
		{ 0, 7, 0, -EIO, "host status 07", false },
		{ 0, 0, EPERM, -EACCES, "root", false },
		{ 0, 0, ENODEV, -ENODEV, "gone", false },
		{ 0, 0, ENXIO, -ENXIO, "gone", false },
		{ 0, 0, ETIMEDOUT, -ETIMEDOUT, "state is unknown", false },
		{ 0, 0, ENOMEM, -ENOMEM, "Cannot allocate memory", false },
	};

	DO(opened(YES, NO, NO, NO));
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		struct scsi_cmd c = {
			.name = "SANITIZE", .cdb = { 0x48 }, .cdb_len = 10, .erases = row[i].erases
		};
		struct line *l = expect("48 00 00 00 00 00 00 00 00 00");

		err.msg[0] = 0;
		l->status = (uint8_t)row[i].status;
		l->host_status = row[i].host;
		l->error = row[i].error;
		CHECK_INT(scsi_do(s, &c, &err), row[i].rc);
		DO(scsi_over());
		CHECK_MSG(strstr(err.msg, row[i].has), "row %u: %s", i, err.msg);
	}
	scsi_close(s);
}

TEST(a_recovered_error_is_none_a_deferred_one_is)
{
	struct scsi_cmd c = { .name = "TEST UNIT READY", .cdb_len = 6 };
	struct line *l;

	DO(opened(YES, NO, NO, NO));
	fails(expect(READY), 1, 0x17, 1);
	CHECK_INT(scsi_do(s, &c, &err), 0);
	l = fails(expect(READY), 1, 0x17, 1);
	l->sense[0] = 0x71;
	CHECK_INT(scsi_do(s, &c, &err), -EIO);
	CHECK_MSG(strstr(err.msg, "deferred"), "%s", err.msg);
	DO(scsi_over());
	scsi_close(s);
}

TEST_MAIN
