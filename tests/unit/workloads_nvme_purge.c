/* SPDX-License-Identifier: MIT */
/* Format NVM and Sanitize, command by command: what is sent, what is waited for, and where it stops. */
#include "tests/unit/workloads_nvme_rig.h"

static char detail[256];

static int purge(enum purge_method m)
{
	detail[0] = 0;
	return nvme_purge(drive, m, &dut, detail, &err);
}

/* ---- Format NVM ---- */

#define FMT(dword10) \
	{ \
		.opcode = FORMAT, .nsid = 1, .cdw10 = (dword10) \
	}

TEST(format_is_a_secure_erase_in_the_same_format)
{
	SCRIPT(ID, NS, FMT(0x200), ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), 0);
	HAS(detail, "nsid 1, CDW10 00000200h (SES 1, user data erase; LBA format 0) by nvme1");
	HAS(detail, "limit 600 s: status 0000h");
	HAS(told, "at most 10 min");
	CHECK_INT(timeout_ms, 600000);
	end();
}

/* Format 0x13 with extended metadata, protection of type 2 in its first bytes: all of that is kept. */
TEST(format_keeps_metadata_and_protection)
{
	SCRIPT(ID, NS, FMT(0x1353), ID, NS);
	plain_pages();
	ns_page[25] = 20;
	ns_page[26] = 0x33;
	ns_page[29] = 2 | 8;
	ns_page[128 + 4 * 0x13] = 8;
	ns_page[128 + 4 * 0x13 + 2] = 9;
	CHECK_INT(attach(), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), 0);
	HAS(detail, "LBA format 19");
	end();
}

/* Three terabytes: an hour. */
TEST(U11_the_limit_grows_with_the_drive)
{
	struct nvme_place p = plain_place();

	SCRIPT(ID, NS, FMT(0x200), ID, NS);
	plain_pages();
	p.capacity_bytes = 5859375ull * 1024 * 512; /* 3.07 TB */
	le(ns_page, 8, 5859375ull * 1024);
	CHECK_INT(nvme_attach(open("/dev/null", O_RDWR), &p, &drive, &err), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), 0);
	CHECK_INT(timeout_ms, 3672000);
	HAS(told, "at most 62 min");
	HAS(detail, "limit 3672 s");
	end();
}

TEST(U10_what_fails_is_not_tried_in_another_way)
{
	static const struct command fails[][3] = {
		{ ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = 0x4001 } },
		{ ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = 0x410a } },
		{ ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = 0x4020 } },
	};
	static const char *const why[] = { "status 0x4001", "status 0x410a", "write protected" };
	static const int code[] = { -EIO, -EIO, -EROFS };

	for (unsigned i = 0; i < 3; i++) {
		begin(fails[i], 3);
		plain_pages();
		ctrl_page[328] = 7; /* sanitize would be there; its log is not even looked at */
		CHECK_INT(attach(), 0);
		CHECK_INT(purge(PURGE_NVME_FORMAT), code[i]);
		HAS(err.msg, "Format NVM, nsid 1, CDW10 00000200h");
		HAS(err.msg, why[i]);
		DO(end());
	}
}

TEST(U11_without_an_answer_it_is_asked_who_it_is_before_any_command)
{
	bool was;

	SCRIPT(ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = -ETIMEDOUT },
	       { .opcode = IDENTIFY, .cdw10 = 1, .rc = -ETIMEDOUT }, ID, NS,
	       { .opcode = GET_FEATURE, .cdw10 = 6 }, { .opcode = GET_FEATURE, .cdw10 = 6 },
	       { .opcode = GET_FEATURE, .cdw10 = 6 }, { .opcode = GET_FEATURE, .cdw10 = 6 });
	plain_pages();
	CHECK_INT(attach(), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), -ETIMEDOUT);
	HAS(err.msg, "not known");
	CHECK(drive->unknown);
	err = (struct err){ "" };
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), -ETIMEDOUT);
	CHECK(drive->unknown);
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), 0);
	CHECK(!drive->unknown);
	CHECK_INT(nvme_write_cache(drive, false, &was, &err), 0);
	end();
}

static void grow(void)
{
	ns_page[26] = 1;
	ns_page[128 + 4 + 2] = 12;
	le(ns_page, 8, 256);
}

TEST(a_format_that_leaves_another_format)
{
	SCRIPT(ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .effect = grow }, ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), -EIO);
	HAS(err.msg, "256 blocks of 4096");
	HAS(err.msg, "2048 of 512");
	end();
}

TEST(methods_that_the_controller_has_not)
{
	SCRIPT(ID, NS);
	plain_pages();
	ctrl_page[256] = 0;
	ctrl_page[328] = 2;
	CHECK_INT(attach(), 0);
	CHECK_INT(purge(PURGE_NVME_FORMAT), -EOPNOTSUPP);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_CRYPTO), -EOPNOTSUPP);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_OVERWRITE), -EOPNOTSUPP);
	CHECK_INT(purge(PURGE_SCSI_FORMAT), -EOPNOTSUPP);
	end();
}

/* ---- Sanitize ---- */

#define SANI(dword10) \
	{ \
		.opcode = SANITIZE, .cdw10 = (dword10) \
	}

static int sanitizer(void)
{
	plain_pages();
	ctrl_page[328] = 7;
	return attach();
}

TEST(U09_sanitize_from_nothing_to_its_end)
{
	SCRIPT(ID, NS, SANI(2), SAN(0, 2), SAN(655, 2), SAN(656, 2), SAN(32768, 2), SAN(65535, 2),
	       SAN(65535, 0x101));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), 0);
	CHECK_STR(told, "nvme-sanitize-block: 0 % | nvme-sanitize-block: 1 % | "
			"nvme-sanitize-block: 50 % | nvme-sanitize-block: 99 %");
	HAS(detail, "Sanitize, CDW10 00000002h by nvme1, of all namespaces");
	HAS(detail, "SSTAT 1");
	CHECK_INT(clock_ns, 6000000000); /* a second between two looks */
	end();
}

TEST(the_three_actions)
{
	static const struct command crypto[] = { ID, NS, SANI(4), SAN(65535, 4) };
	static const struct command overwrite[] = { ID, NS, SANI(0x13), SAN(65535, 1) };

	begin(crypto, 4);
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_CRYPTO), 0);
	DO(end());
	begin(overwrite, 4); /* one pass */
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_OVERWRITE), 0);
	end();
}

/* Answers for ever: the script's last command again and again. */
static unsigned polls;
static void again(void)
{
	polls++;
	script_at--;
}

#define STUCK(progress, estimate) \
	{ \
		.opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .sprog = (progress), \
		.sstat = 2, .scdw10 = 2, .estimate_s = (estimate), .effect = again \
	}

TEST(U09_stuck_at_655)
{
	static const struct {
		unsigned estimate, bound;
	} is[] = { { 0xffffffff, 600 }, { 0, 600 }, { 1000, 2600 } };
	static struct command list[5] = { ID, NS, SANI(2), SAN(0, 2) };

	for (unsigned i = 0; i < 3; i++) {
		list[4] = (struct command)STUCK(655, is[i].estimate);
		begin(list, 5);
		CHECK_INT(sanitizer(), 0);
		polls = 0;
		CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -ETIMEDOUT);
		HAS(err.msg, "stuck at 0 % (SPROG 655");
		CHECK_INT(polls, is[i].bound + 2);
		script_at = script_n;
		DO(end());
	}
}

TEST(U09_a_failed_sanitize)
{
	SCRIPT(ID, NS, SANI(2), SAN(100, 2), SAN(65535, 3));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -EIO);
	HAS(err.msg, "FAILED");
	HAS(err.msg, "until a sanitize succeeds");
	end(); /* leaving the failure mode (action 1) was not sent */
}

TEST(a_sanitize_that_never_began)
{
	SCRIPT(ID, NS, SANI(2), SAN(65535, 0));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -EIO);
	HAS(err.msg, "SSTAT 0");
	end();
}

TEST(U09_one_in_progress_is_joined)
{
	SCRIPT(ID, NS, { .opcode = SANITIZE, .cdw10 = 2, .rc = 0x401d }, SAN(30000, 2),
	       SAN(65535, 1));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), 0);
	HAS(detail, "another one in progress was waited for");
	end();
}

/* What another does is no crypto erase: when it ended, ours is sent. */
TEST(one_of_another_kind_is_waited_for)
{
	static const struct command list[] = { ID,
					       NS,
					       { .opcode = SANITIZE, .cdw10 = 4, .rc = 0x401d },
					       SAN(30000, 2),
					       SAN(65535, 1),
					       SANI(4),
					       SAN(65535, 1) };
	begin(list, 7);
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_CRYPTO), 0);
	end();
}

TEST(U09_after_our_own_restart)
{
	SCRIPT(ID, NS, SAN(30000, 2), SAN(30000, 2), SAN(60000, 2), SAN(65535, 1), SAN(65535, 1),
	       SAN(65535, 0));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), 0);
	HAS(told, "waiting for its end | sanitize in progress: 45 % | sanitize in progress: 91 %");
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), 0); /* never one */
	end();
}

TEST(that_one_runs_is_known_when_it_is_opened)
{
	SCRIPT(ID, NS, SAN(30000, 2), SAN(65535, 1),
	       { .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .rc = 0x4109 });
	CHECK_INT(sanitizer(), 0);
	CHECK(nvme_erasing(drive));
	CHECK(!nvme_erasing(drive));
	CHECK(!nvme_erasing(drive)); /* no log, no sanitize */
	end();
}

TEST(after_one_that_failed_only_a_sanitize_is_taken)
{
	SCRIPT(ID, NS, SAN(65535, 3), SAN(65535, 3), SANI(2), SAN(1, 2), SAN(65535, 1), SAN(1, 2),
	       SAN(1, 2), SAN(65535, 3));
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), -EIO);
	HAS(err.msg, "FAILED");
	err = (struct err){ "" };
	CHECK_INT(nvme_ready(drive, PURGE_NVME_SANITIZE_BLOCK, &dut, &err), 0);
	HAS(told, "the last sanitize failed: one more");
	CHECK_INT(nvme_ready(drive, PURGE_BLKDISCARD, &dut, &err),
		  -EIO); /* it fails while waited for */
	HAS(err.msg, "FAILED");
	end();
}

TEST(a_format_does_without_that_log)
{
	static const struct command list[] = {
		ID,
		NS,
		{ .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .rc = 0x4109 },
		{ .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .rc = 0x4109 }
	};

	begin(list, 4);
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_SANITIZE_BLOCK, &dut, &err), -EIO);
	end();
}

TEST(drives_without_sanitize_are_not_asked_for_its_log)
{
	SCRIPT(ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	CHECK_INT(nvme_ready(drive, PURGE_NVME_FORMAT, &dut, &err), 0);
	end();
}

TEST(a_stop_leaves_it_to_the_drive)
{
	SCRIPT(ID, NS, SANI(2), SAN(100, 2), SAN(200, 2), SAN(300, 2));
	CHECK_INT(sanitizer(), 0);
	stop_at_ns = clock_ns + 2000000000;
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -EINTR);
	HAS(err.msg, "goes on in the drive");
	end();
}

TEST(a_log_that_fails_now_and_then)
{
	static const struct command list[] = {
		ID,
		NS,
		SANI(2),
		SAN(100, 2),
		{ .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .rc = 0x6 },
		{ .opcode = GET_LOG, .nsid = 0xffffffff, .cdw10 = 0x7f0081, .rc = -ETIMEDOUT },
		ID, /* without an answer: who is it? */
		NS,
		SAN(200, 2),
		SAN(65535, 1),
	};

	begin(list, 10);
	CHECK_INT(sanitizer(), 0);
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), 0);
	end();
}

TEST(a_log_that_fails_for_good)
{
	static struct command list[] = {
		ID,
		NS,
		SANI(2),
		SAN(100, 2),
		{ .opcode = GET_LOG,
		  .nsid = 0xffffffff,
		  .cdw10 = 0x7f0081,
		  .rc = 0x6,
		  .effect = again },
	};

	begin(list, 5);
	CHECK_INT(sanitizer(), 0);
	polls = 0;
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -EIO);
	HAS(err.msg, "goes on in the drive, but");
	CHECK_INT(polls, 10);
	list[4].rc = -ENODEV; /* gone: no use waiting */
	begin(list, 5);
	nvme_drive_close(drive);
	CHECK_INT(sanitizer(), 0);
	polls = 0;
	CHECK_INT(purge(PURGE_NVME_SANITIZE_BLOCK), -ENODEV);
	CHECK_INT(polls, 1);
	script_at = script_n;
	end();
}

/* ---- with the marks around it ---- */

static struct dut_real *real;
static bool erases;

static void open_real(void)
{
	static const struct dut_options none;
	struct dut_name name = { .kind = DUT_BLOCK };
	struct dut_request q = { &name, "/dev/nvme0n1", DUT_WRITE, &none };
	char path[] = "/dev/shm/pts-unit-XXXXXX";

	real = dut_real_new(&q, DUT_BLOCK);
	real->fd = mkstemp(path);
	unlink(path);
	if (ftruncate(real->fd, 1 << 20))
		abort();
	real->nvme = drive;
	drive = NULL;
	real->d.stop = &stop_flag;
	real->d.info.capacity_bytes = 1 << 20;
	real->d.info.lba_bytes = 512;
	nvme_facts(real->nvme, &real->d.info);
}

static void erased(void)
{
	if (erases && (ftruncate(real->fd, 0) || ftruncate(real->fd, 1 << 20)))
		abort();
}

static void resized(void)
{
	lba_bytes = 4096;
}

static int purge_all(enum purge_method m, struct purge_report *p)
{
	memset(p, 0, sizeof *p);
	return real->d.ops->purge(&real->d, m, p, &err);
}

static int run_now(void)
{
	struct job job = { .n = 0 };
	struct err why = { "" };

	return real->d.ops->run(&real->d, &job, &why);
}

static void end_real(void)
{
	dut_close(&real->d);
	end();
}

static const struct command formats[] = {
	ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .effect = erased }, ID, NS
};

TEST(U07_a_format_is_verified_by_its_marks)
{
	struct purge_report p;

	begin(formats, 5);
	plain_pages();
	CHECK_INT(attach(), 0);
	open_real();
	erases = true;
	CHECK_INT(purge_all(PURGE_AUTO, &p), 0);
	CHECK(p.method == PURGE_NVME_FORMAT && p.verified);
	CHECK_INT(p.canaries, 1026);
	CHECK_INT(p.survivors, 0);
	HAS(p.detail, "CDW10 00000200h");
	CHECK(ios_after >= 1026);
	CHECK_INT(run_now(), -EBADF); /* it could run, had it been opened for that */
	end_real();
}

TEST(U07_a_format_that_erases_nothing)
{
	struct purge_report p;

	begin(formats, 5);
	plain_pages();
	CHECK_INT(attach(), 0);
	open_real();
	erases = false;
	CHECK_INT(purge_all(PURGE_NVME_FORMAT, &p), -EBADE);
	HAS(err.msg, "NOT VERIFIED");
	CHECK_INT(p.survivors, 1026);
	end_real();
}

TEST(U11_no_io_follows_a_format_without_an_answer)
{
	struct purge_report p;

	SCRIPT(ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = -EINTR });
	plain_pages();
	CHECK_INT(attach(), 0);
	open_real();
	CHECK_INT(purge_all(PURGE_NVME_FORMAT, &p), -ETIMEDOUT);
	CHECK_INT(ios_after, 0);
	CHECK_INT(run_now(), -EIO); /* whatever the operator allowed */
	HAS(real->lost, "not known");
	end_real();
}

/* Before the marks: they could not be written. */
TEST(a_sanitize_in_progress_is_waited_for_before_the_marks)
{
	static const struct command list[] = { ID,
					       NS,
					       SAN(1, 2),
					       SAN(2, 2),
					       SAN(65535, 1),
					       { .opcode = SANITIZE, .cdw10 = 2, .effect = erased },
					       SAN(9, 2),
					       SAN(65535, 1) };
	struct purge_report p;

	begin(list, 8);
	CHECK_INT(sanitizer(), 0);
	open_real();
	erases = true;
	CHECK_INT(purge_all(PURGE_NVME_SANITIZE_BLOCK, &p), 0);
	CHECK(p.verified);
	end_real();
}

TEST(another_size_for_the_kernel_after_it)
{
	struct purge_report p;

	SCRIPT(ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .effect = resized }, ID, NS);
	plain_pages();
	CHECK_INT(attach(), 0);
	open_real();
	CHECK_INT(purge_all(PURGE_NVME_FORMAT, &p), -EIO);
	HAS(err.msg, "blocks of 4096");
	CHECK_INT(ios_after, 0);
	CHECK_INT(run_now(), -EIO);
	CHECK_INT(purge_all(PURGE_NVME_FORMAT, &p), -EIO); /* nor another purge */
	end_real();
}

/* A failure that leaves the drive as it was: it may be used, or purged in another way. */
TEST(after_a_refusal_the_drive_is_as_before)
{
	struct purge_report p;

	SCRIPT(ID, NS, { .opcode = FORMAT, .nsid = 1, .cdw10 = 0x200, .rc = 0x4001 });
	plain_pages();
	CHECK_INT(attach(), 0);
	open_real();
	CHECK_INT(purge_all(PURGE_NVME_FORMAT, &p), -EIO);
	CHECK_INT(run_now(), -EBADF);
	CHECK_INT(purge_all(PURGE_NVME_SANITIZE_BLOCK, &p), -EOPNOTSUPP);
	end_real();
}

TEST_MAIN
