/* SPDX-License-Identifier: MIT */
/* FORMAT UNIT and SANITIZE by scripted commands: the bytes, the waiting, and how each failure ends. */
#include "tests/unit/workloads_scsi_rig.h"

#define READY "00 00 00 00 00 00"
#define ASK_SENSE "03 00 00 00 60 00"
#define CAPACITY "9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00"
#define SENSE10 "5a 00 08 00 00 00 00 00 80 00"
#define MILLION \
	"00 00 00 00 00 0f 42 3f 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 " \
	"00 00 00"
#define CACHE_ON \
	"00 1c 00 00 00 00 00 08 00 0f 42 40 00 00 02 00 88 0a 04 00 ff ff 00 00 ff ff 00 00"
#define FORMAT "04 10 00 00 00 00"
#define LIST "00 02 00 00"

static struct scsi_drive drive, *s = &drive;
static struct err err;
static char detail[256];
static struct dut dut;

/* A drive that was opened, of 512 MB: an erase by FORMAT UNIT may take 1805 s. */
static void begin(void)
{
	scsi_begin();
	drive = (struct scsi_drive){ .fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
				     .path = "/dev/sdx",
				     .capacity = { .blocks = 1000000, .lba_bytes = 512 },
				     .format = SCSI_YES,
				     .now_ns = fake_now,
				     .sleep_ms = fake_sleep };
	err.msg[0] = detail[0] = 0;
	dut = (struct dut){ .stop = &stop_flag, .tell = note_tell };
}

static int purge(enum purge_method m)
{
	int rc = scsi_purge(s, m, &dut, detail, &err);

	close(drive.fd);
	return rc;
}

static void running(unsigned ascq, int of_65536)
{
	struct line *l = fails(expect(READY), 2, 0x04, ascq);

	if (of_65536 >= 0)
		with_progress(l, (unsigned)of_65536);
}

static void begin_format(void)
{
	begin();
	expect_in(SENSE10, 128, CACHE_ON);
	expect_out(FORMAT, LIST)->timeout_ms = 1805000;
}

/* ---- FORMAT UNIT ---- */

TEST(format_to_its_end)
{
	begin_format();
	running(0x04, 0);
	running(0x04, 0x4000);
	running(0x04, 0x4001); /* no percent more */
	running(0x04, 0xffff);
	fails(expect(READY), 6, 0x29, 0); /* after it, what a drive has to say */
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());
	CHECK_STR(detail, "FORMAT UNIT, blocks of 512 bytes and protection type 0 kept, 4 s");
	CHECK_INT(n_tells, 4);
	CHECK_STR(tells[0], "FORMAT UNIT: sent, waited for at most 30 min 5 s");
	CHECK_STR(tells[1], "FORMAT UNIT: 0 %");
	CHECK_STR(tells[2], "FORMAT UNIT: 25 %");
	CHECK_STR(tells[3], "FORMAT UNIT: 99 %");
}

TEST(format_keeps_the_protection)
{
	static const struct {
		uint8_t protection, exponent;
		const char *format, *list, *capacity;
	} row[] = {
		{ 1, 0, "04 90 00 00 00 00", "00 02 00 00", "01" },
		{ 2, 0, "04 d0 00 00 00 00", "00 02 00 00", "03" },
		{ 3, 0, "04 d0 00 00 00 00", "01 02 00 00", "05" },
		{ 2, 3, "04 f0 00 00 00 00", "00 02 00 03 00 00 00 00", "03" },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		char now[128];

		begin();
		drive.capacity.protection = row[i].protection;
		drive.capacity.exponent = row[i].exponent;
		expect_in(SENSE10, 128, CACHE_ON);
		expect_out(row[i].format, row[i].list);
		expect(READY);
		snprintf(now, sizeof now, "00 00 00 00 00 0f 42 3f 00 00 02 00 %s %x0",
			 row[i].capacity, row[i].exponent);
		expect_in(CAPACITY, 32, now);
		CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "row %u: %s", i, err.msg);
		DO(scsi_over());
	}
}

TEST(format_that_would_change_the_blocks_is_refused)
{
	begin();
	/* Someone's MODE SELECT: 4096 with the next format. */
	expect_in(SENSE10, 128,
		  "00 1c 00 00 00 00 00 08 00 01 e8 48 00 00 10 00 88 0a 04 00 ff ff 00 00 ff ff "
		  "00 00");
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EINVAL);
	CHECK_MSG(strstr(err.msg, "4096"), "%s", err.msg);
	DO(scsi_over());

	/* The same in a long descriptor. */
	begin();
	expect_in(SENSE10, 128,
		  "00 24 00 00 01 00 00 10 00 00 00 00 00 01 e8 48 00 00 00 00 00 00 10 00 "
		  "88 0a 04 00 ff ff 00 00 ff ff 00 00");
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EINVAL);
	DO(scsi_over());

	begin();
	drive.capacity.blocks = 0; /* READ CAPACITY was not answered */
	expect_in(SENSE10, 128, CACHE_ON);
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EIO);
	DO(scsi_over());
}

TEST(format_that_came_back_with_another_size)
{
	static const char *const now[] = {
		"00 00 00 00 00 0f 42 3e 00 00 02 00 00 00",
		"00 00 00 00 00 01 e8 47 00 00 10 00 00 00",
		"00 00 00 00 00 0f 42 3f 00 00 02 00 01 00",
	};

	for (unsigned i = 0; i < 3; i++) {
		begin_format();
		expect(READY);
		expect_in(CAPACITY, 32, now[i]);
		CHECK_INT(purge(PURGE_SCSI_FORMAT), -ENODEV);
		CHECK_MSG(strstr(err.msg, "came back with"), "%s", err.msg);
		CHECK_STR(detail, "");
		DO(scsi_over());
	}
}

TEST(format_refused)
{
	begin();
	expect_in(SENSE10, 128, CACHE_ON);
	fails(expect_out(FORMAT, LIST), 5, 0x20, 0);
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EOPNOTSUPP);
	CHECK_MSG(strstr(err.msg, "does not know this command"), "%s", err.msg);
	DO(scsi_over()); /* and no other form, no other command is tried */
}

TEST(a_changed_drive_is_not_formatted_after_all)
{
	static const struct {
		unsigned asc, ascq;
		bool again;
	} row[] = { { 0x29, 0x01, true },
		    { 0x2a, 0x01, true },
		    { 0x2a, 0x09, false },
		    { 0x28, 0x00, false },
		    { 0x3f, 0x03, false } };

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		begin();
		expect_in(SENSE10, 128, CACHE_ON);
		fails(expect_out(FORMAT, LIST), 6, row[i].asc, row[i].ascq);
		if (row[i].again) {
			expect_out(FORMAT, LIST);
			expect(READY);
			expect_in(CAPACITY, 32, MILLION);
		}
		CHECK_INT(purge(PURGE_SCSI_FORMAT), row[i].again ? 0 : -EAGAIN);
		DO(scsi_over());
	}
}

TEST(format_that_fails)
{
	static const struct {
		unsigned key, asc, ascq;
		const char *has;
	} row[] = { { 3, 0x31, 0x01, "format of the drive failed" },
		    { 3, 0x31, 0x00, "is damaged" },
		    { 4, 0x44, 0x00, "hardware failed" } };

	for (unsigned i = 0; i < 3; i++) {
		begin_format();
		running(0x04, 100);
		fails(expect(READY), row[i].key, row[i].asc, row[i].ascq);
		CHECK_INT(purge(PURGE_SCSI_FORMAT), -EIO);
		CHECK_MSG(strstr(err.msg, row[i].has), "%s", err.msg);
		DO(scsi_over());
	}
}

/* ---- waiting ---- */

TEST(progress_that_only_request_sense_has)
{
	begin_format();
	running(0x04, -1);
	expect_in(ASK_SENSE, 96, "70 00 02 00 00 00 00 0a 00 00 00 00 04 04 00 80 80 00");
	running(0x04, -1);
	expect_in(ASK_SENSE, 96, "70 00 00 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 00");
	running(0x01, -1); /* becoming ready */
	fails(expect_in(ASK_SENSE, 96, ""), 5, 0x24, 0);
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());
	CHECK_STR(tells[1], "FORMAT UNIT: 50 %");
	CHECK_STR(tells[2], "FORMAT UNIT: running, no progress told");
}

static void stop_at_third_look(void)
{
	stop_flag = script_at >= 5;
}

TEST(stopped_while_the_drive_goes_on)
{
	begin_format();
	for (unsigned i = 0; i < 3; i++)
		running(0x04, 1000);
	on_command = stop_at_third_look;
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EINTR);
	CHECK_MSG(strstr(err.msg, "goes on in the drive"), "%s", err.msg);
	DO(scsi_over());
}

static int stuck_drive(struct sg_io_hdr *h)
{
	static const uint8_t sense[18] = { 0x70, 0, 2, [7] = 10, [12] = 4, 4, 0, 0x80, 0x02, 0x8f };

	if (h->cmdp[0] == 0x5a || h->cmdp[0] == 0x04)
		return 0;
	h->status = 2;
	h->driver_status = 8;
	h->info = SG_INFO_CHECK;
	memcpy(h->sbp, sense, sizeof sense);
	h->sb_len_wr = sizeof sense;
	return 0;
}

TEST(stuck_at_one_percent_ends_at_the_deadline)
{
	begin();
	drive_model = stuck_drive;
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -ETIMEDOUT);
	CHECK_MSG(strstr(err.msg, "not over after 30 min 5 s, the last it told was 0 %"), "%s",
		  err.msg);
	CHECK_MSG(strstr(err.msg, "state is unknown"), "%s", err.msg);
	CHECK(fake_ns >= 1805000000000ull && fake_ns < 1820000000000ull);
	CHECK_INT(n_tells, 2);
	/* each look by TEST UNIT READY, nothing else was sent in half an hour */
	CHECK(!strncmp(trail, "5a 1a 04 00 00", 14) || !strncmp(trail, "5a 04 00 00", 11));
}

TEST(deadline_grows_with_capacity)
{
	drive = (struct scsi_drive){ .capacity = { .blocks = 3750748848, .lba_bytes = 4096 } };
	CHECK_INT(scsi_most_ns(s, SCSI_WRITING_BYTES_PER_S) / 1000000000, 1800 + 153630);
	CHECK_INT(scsi_most_ns(s, SCSI_ERASING_BYTES_PER_S) / 1000000000, 1800 + 15363);
}

TEST(a_controller_that_is_busy_is_asked_again_but_not_for_ever)
{
	begin_format();
	for (unsigned i = 0; i < 20; i++)
		expect(READY)->status = 8;
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());

	begin_format(); /* each time that it answers, it may be busy again */
	for (unsigned i = 0; i < 60; i++) {
		expect(READY)->status = 8;
		if (i == 29)
			running(0x04, 10);
	}
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());

	begin_format();
	for (unsigned i = 0; i < 31; i++)
		expect(READY)->status = 8;
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EBUSY);
	DO(scsi_over());
}

TEST(a_drive_with_very_much_to_tell)
{
	begin_format();
	for (unsigned i = 0; i < 7; i++) /* five are passed over at a time */
		fails(expect(READY), 6, 0x29, i);
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());
}

TEST(gone_or_silent_while_it_formats)
{
	for (unsigned i = 0; i < 2; i++) {
		begin_format();
		running(0x04, 1000);
		expect(READY)->host_status = i ? 3 : 1;
		CHECK_INT(purge(PURGE_SCSI_FORMAT), i ? -ETIMEDOUT : -ENODEV);
		DO(scsi_over());
	}
}

/* ---- SANITIZE ---- */

static void sanitize_row(unsigned kinds, const char *cdb, const char *list, unsigned most_s,
			 const char *says)
{
	char first[160];

	begin();
	for (unsigned k = 1; k < SANITIZE_KINDS; k++)
		drive.sanitize[k] = kinds & 1u << k ? SCSI_YES : SCSI_NO;
	(list ? expect_out(cdb, list) : expect(cdb))->timeout_ms = 600000;
	running(0x1b, 0x8000);
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_SANITIZE), "%s", err.msg);
	DO(scsi_over());
	CHECK_MSG(!strncmp(detail, says, strlen(says)), "%s", detail);
	snprintf(first, sizeof first, "%s: sent, waited for at most %s", says,
		 most_s == 1805 ? "30 min 5 s" : "30 min");
	CHECK_STR(tells[0], first);
	snprintf(first, sizeof first, "%s: 50 %%", says);
	CHECK_STR(tells[1], first);
}

TEST(sanitize_block_before_crypto_before_overwrite)
{
	DO(sanitize_row(1u << 1 | 1u << 2 | 1u << 3, "48 82 00 00 00 00 00 00 00 00", NULL, 1800,
			"SANITIZE (block erase)"));
	DO(sanitize_row(1u << 1 | 1u << 3, "48 83 00 00 00 00 00 00 00 00", NULL, 1800,
			"SANITIZE (cryptographic erase)"));
	DO(sanitize_row(1u << 1, "48 81 00 00 00 00 00 00 08 00", "01 00 00 04 00 00 00 00", 1805,
			"SANITIZE (overwrite)"));
}

TEST(sanitize_refused_unknown_or_failed)
{
	begin();
	CHECK_INT(purge(PURGE_SCSI_SANITIZE), -EOPNOTSUPP);
	DO(scsi_over());

	begin();
	drive.sanitize[SANITIZE_BLOCK] = drive.sanitize[SANITIZE_CRYPTO] = SCSI_YES;
	fails(expect("48 82 00 00 00 00 00 00 00 00"), 5, 0x24, 0);
	CHECK_INT(purge(PURGE_SCSI_SANITIZE), -EOPNOTSUPP);
	DO(scsi_over()); /* not the other one in its place */

	begin();
	drive.sanitize[SANITIZE_BLOCK] = SCSI_YES;
	expect("48 82 00 00 00 00 00 00 00 00");
	running(0x1b, 0x8000);
	fails(expect(READY), 3, 0x31, 0x03);
	CHECK_INT(purge(PURGE_SCSI_SANITIZE), -EIO);
	CHECK_MSG(strstr(err.msg, "refuses IO until one ends well"), "%s", err.msg);
	DO(scsi_over());
}

TEST(methods_of_other_drives)
{
	static const enum purge_method m[] = { PURGE_ATA_SANITIZE, PURGE_ATA_SECURITY_ERASE,
					       PURGE_NVME_FORMAT, PURGE_BLKDISCARD, PURGE_NONE };

	for (unsigned i = 0; i < sizeof m / sizeof *m; i++) {
		begin();
		CHECK_INT(purge(m[i]), -EOPNOTSUPP);
		CHECK_MSG(strstr(err.msg, purge_method_name(m[i])), "%s", err.msg);
		DO(scsi_over());
	}
}

/* ---- what ran already ---- */

static void asked_anew(void)
{
	expect_in(CAPACITY, 32, MILLION);
	expect_in("a3 0c 01 04 00 00 00 00 00 20 00 00", 32, "00 03 00 06");
	expect_in("a3 0c 02 48 00 01 00 00 00 20 00 00", 32, "00 01 00 00");
	expect_in("a3 0c 02 48 00 02 00 00 00 20 00 00", 32, "00 01 00 00");
	expect_in("a3 0c 02 48 00 03 00 00 00 20 00 00", 32, "00 01 00 00");
	fails(expect_in("4d 00 40 00 00 00 00 02 00 00", 512, ""), 5, 0x20, 0);
	expect_in(SENSE10, 128, CACHE_ON);
	expect_in("5a 00 48 00 00 00 00 00 80 00", 128,
		  "00 14 00 00 00 00 00 00 08 0a 04 00 00 00 00 00 00 00 00 00");
}

TEST(what_runs_since_before_is_waited_for)
{
	struct dut_info info = { .purge_methods = 0 };

	begin();
	drive.running = SCSI_FORMATTING;
	drive.capacity = (struct scsi_capacity){ .blocks = 0 };
	scsi_facts(s, &info);
	CHECK_INT(info.purge_auto, PURGE_SCSI_FORMAT);
	CHECK_MSG(strstr(info.auto_why, "runs in the drive already"), "%s", info.auto_why);
	running(0x04, 0xc000);
	expect(READY);
	asked_anew();
	expect_in(SENSE10, 128, CACHE_ON);
	expect_out(FORMAT, LIST); /* the one that is asked for now: its marks must be seen to go */
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!purge(PURGE_SCSI_FORMAT), "%s", err.msg);
	DO(scsi_over());
	CHECK_STR(tells[0], "FORMAT UNIT that ran already: waiting for its end");
	CHECK_STR(tells[1], "FORMAT UNIT that ran already: 75 %");
}

TEST(settling_is_nothing_where_nothing_runs)
{
	begin();
	CHECK_INT(scsi_settle(s, &dut, &err), 0);
	CHECK_INT(scsi_settle(s, NULL, &err), 0);
	DO(scsi_over());
	close(drive.fd);
}

TEST(settling_survives_a_failure_of_what_ran)
{
	begin();
	drive.running = SCSI_SANITIZING;
	fails(expect(READY), 3, 0x31, 0x03);
	asked_anew();
	CHECK_MSG(!scsi_settle(s, &dut, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK_STR(err.msg, "");
	CHECK_MSG(strstr(tells[1], "failed"), "%s", tells[1]);
	CHECK_INT(drive.running, SCSI_IDLE);
	close(drive.fd);
}

TEST(ready_is_asked_before_anything_is_marked)
{
	begin();
	expect(READY);
	expect(READY);
	CHECK_INT(scsi_ready(s, PURGE_BLKDISCARD, &dut, &err), 0);
	DO(scsi_over());

	begin(); /* begun by someone since it was opened */
	running(0x04, 0x8000);
	running(0x04, 0x8000);
	expect(READY);
	asked_anew();
	expect(READY);
	expect_in(SENSE10, 128, CACHE_ON);
	CHECK_MSG(!scsi_ready(s, PURGE_SCSI_FORMAT, &dut, &err), "%s", err.msg);
	DO(scsi_over());

	begin();
	expect(READY);
	expect(READY);
	expect_in(SENSE10, 128,
		  "00 1c 00 00 00 00 00 08 00 01 e8 48 00 00 10 00 88 0a 04 00 ff ff 00 00 ff ff "
		  "00 00");
	CHECK_INT(scsi_ready(s, PURGE_SCSI_FORMAT, &dut, &err), -EINVAL);
	DO(scsi_over());
	close(drive.fd);
}

TEST(a_drive_that_failed_before_is_led_out_by_the_same_kind_only)
{
	begin();
	drive.sanitize[SANITIZE_BLOCK] = SCSI_YES;
	fails(expect(READY), 3, 0x31, 0x03);
	fails(expect(READY), 3, 0x31, 0x03);
	expect("48 82 00 00 00 00 00 00 00 00");
	expect(READY);
	expect_in(CAPACITY, 32, MILLION);
	CHECK_MSG(!scsi_ready(s, PURGE_SCSI_SANITIZE, &dut, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK_MSG(strstr(tells[0], "once more, before the purge that is verified"), "%s", tells[0]);

	begin();
	fails(expect(READY), 3, 0x31, 0x03);
	fails(expect(READY), 3, 0x31, 0x03);
	CHECK_INT(scsi_ready(s, PURGE_BLKDISCARD, &dut, &err), -EIO);
	CHECK_MSG(strstr(err.msg, "sanitize of the drive failed"), "%s", err.msg);
	DO(scsi_over());
	close(drive.fd);
}

static void stop_now(void)
{
	stop_flag = 1;
}

TEST(settling_can_be_stopped)
{
	begin();
	drive.running = SCSI_SANITIZING;
	running(0x1b, 5);
	on_command = stop_now;
	CHECK_INT(scsi_settle(s, &dut, &err), -EINTR);
	DO(scsi_over());
	CHECK_INT(drive.running, SCSI_SANITIZING);
	close(drive.fd);
}

TEST_MAIN
