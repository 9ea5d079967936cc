/* SPDX-License-Identifier: MIT */
/*
 * ATA security erase and sanitize: the bytes by scripted commands; and on a model of a drive's security each way to fail at each
 * step, after which nothing may be locked and unsaid, and pts purge --recover must open it.
 */
#include "tests/unit/workloads_ata_rig.h"

#define IDENTIFY "85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00"
#define PASSWORD_OUT(command) "85 0a 06 00 00 00 01 00 00 00 00 00 00 00 " command " 00"
#define PREPARE "85 06 00 00 00 00 00 00 00 00 00 00 00 00 f3 00"
#define STATUS "85 07 20 00 00 00 00 00 00 00 00 00 00 40 b4 00"

static struct scsi_drive drive, *s = &drive;
static struct err err;
static char detail[256];
static struct dut dut;
static char recorded[400];
static int record_rc;

static int note_record(void *arg, const char *what, const char *text, struct err *e)
{
	trail_add("record");
	snprintf(recorded, sizeof recorded, "%s: %s", what, text);
	return record_rc ? err_set(e, record_rc, "no space in the database") : 0;
}

static void begin(void)
{
	scsi_begin();
	drive = (struct scsi_drive){ .fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
				     .path = "/dev/sdx",
				     .serial = "SN42",
				     .ata = true,
				     .have_identify = true,
				     .capacity = { .blocks = 1000000, .lba_bytes = 512 },
				     .now_ns = fake_now,
				     .sleep_ms = fake_sleep };
	err.msg[0] = detail[0] = recorded[0] = 0;
	record_rc = 0;
	dut = (struct dut){ .stop = &stop_flag, .tell = note_tell, .record = note_record };
}

static int purge(enum purge_method m)
{
	int rc = scsi_purge(s, m, &dut, detail, &err);

	close(drive.fd);
	return rc;
}

static int recover(void)
{
	int rc;

	err.msg[0] = 0;
	rc = ata_recover(s, detail, &err);
	close(drive.fd);
	return rc;
}

/* ---- the bytes ---- */

static void expect_identify(unsigned w59, unsigned w128)
{
	struct line *l = expect_in(IDENTIFY, 512, "40");

	l->given = 512;
	l->data[2 * 59] = (uint8_t)w59;
	l->data[2 * 59 + 1] = (uint8_t)(w59 >> 8);
	l->data[2 * 82] = 2;
	l->data[2 * 89] = 3; /* six minutes */
	l->data[2 * 128] = (uint8_t)w128;
	l->timeout_ms = 20000;
}

static struct line *expect_password(const char *cdb)
{
	struct line *l = expect_out(cdb, "00 00 70 74 73");

	l->bytes = 512; /* the rest of it zeros */
	return l;
}

TEST(erase_bytes_order_and_times)
{
	begin();
	expect_identify(0, 0x21);
	expect_password(PASSWORD_OUT("f1"))->timeout_ms = 60000;
	expect_identify(0, 0x23);
	expect(PREPARE)->timeout_ms = 60000;
	expect_password(PASSWORD_OUT("f4"))->timeout_ms = (6 * 60 * 2 + 600) * 1000;
	expect_identify(0, 0x21);
	CHECK_MSG(!purge(PURGE_ATA_SECURITY_ERASE), "%s", err.msg);
	DO(scsi_over());
	CHECK_STR(trail, "ec record f1 ec f3 f4 ec");
	CHECK_MSG(!strncmp(recorded, "ata-password: /dev/sdx serial SN42: ", 36), "%s", recorded);
	CHECK(strstr(recorded, "\"pts\"") && strstr(recorded, "--recover"));
	CHECK_MSG(strstr(detail, "SECURITY ERASE UNIT (normal erase") && strstr(detail, "6 min"),
		  "%s", detail);
	CHECK_INT(n_tells, 1);
}

TEST(time_of_an_erase_that_states_none_or_more)
{
	static const struct {
		uint16_t w89;
		unsigned timeout_s;
		uint64_t blocks;
	} row[] = { { 0, 1805, 1000000 },
		    { 255, 508 * 120 + 600, 1000000 },
		    { 255, 1800 + 81920, 16000000000 },
		    { 0xffff, 2000000, 1000000 },
		    { 2, 4 * 120 + 600, 16000000000 } };

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		begin();
		drive.capacity.blocks = row[i].blocks;
		expect_identify(0, 0x21);
		expect_password(PASSWORD_OUT("f1"));
		expect_identify(0, 0x23);
		memcpy(script[script_at].data + 2 * 89, &row[i].w89, 2);
		memcpy(script[2].data + 2 * 89, &row[i].w89, 2);
		memcpy(script[0].data + 2 * 89, &row[i].w89, 2);
		expect(PREPARE);
		expect_password(PASSWORD_OUT("f4"))->timeout_ms = row[i].timeout_s * 1000;
		expect_identify(0, 0x21);
		CHECK_MSG(!purge(PURGE_ATA_SECURITY_ERASE), "row %u: %s", i, err.msg);
		DO(scsi_over());
	}
}

TEST(what_hinders_is_said_before_anything_is_sent)
{
	static const struct {
		unsigned w128;
		int rc;
		const char *has;
	} row[] = { { 0x00, -EOPNOTSUPP, "no ATA security" },
		    { 0x29, -EBUSY, "suspend and resume" },
		    { 0x23, -EBUSY, "--recover" },
		    { 0x27, -EBUSY, "locked with a password" },
		    { 0x37, -EBUSY, "power cycle" } };

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		begin();
		expect_identify(0, row[i].w128);
		CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), row[i].rc);
		DO(scsi_over());
		CHECK_STR(trail, "ec"); /* nothing recorded, nothing set */
		CHECK_MSG(strstr(err.msg, row[i].has), "%s", err.msg);
	}
	begin();
	drive.have_identify = false;
	CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), -EOPNOTSUPP);
	DO(scsi_over());
}

TEST(no_password_without_a_record)
{
	begin();
	record_rc = -ENOSPC;
	expect_identify(0, 0x21);
	CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), -ENOSPC);
	CHECK_STR(trail, "ec record");
	DO(scsi_over());

	begin();
	dut.record = NULL;
	expect_identify(0, 0x21);
	CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), -EINVAL);
	CHECK_STR(trail, "ec");
	DO(scsi_over());
}

/* ---- a model of security, and every way to fail ---- */

static struct {
	bool enabled, locked, frozen, prepared, erased, deaf;
	uint8_t password[32];
	unsigned tries; /* of UNLOCK with a wrong password */
	unsigned n; /* commands so far */
	unsigned fail_at; /* that one, from 1; 0 none */
	enum { ABORTS, TIMES_OUT, IS_GONE, DROPS_LATE } how;
	bool swallows; /* a controller that answers ok to security commands */
	bool keeps_password; /* after an erase */
	bool never_off; /* DISABLE PASSWORD answers ok and does nothing */
} model;

static int answer_abort(struct sg_io_hdr *h)
{
	static const uint8_t sense[22] = { 0x72, 0x0b, 0,  0,		0,	     0,		 0,
					   14,	 0x09, 12, [11] = 0x04, [20] = 0x40, [21] = 0x51 };

	h->status = 2;
	h->driver_status = 8;
	h->info = SG_INFO_CHECK;
	h->sb_len_wr = sizeof sense;
	memcpy(h->sbp, sense, sizeof sense);
	return 0;
}

static void model_identify(uint8_t *b)
{
	memset(b, 0, 512);
	b[0] = 0x40;
	b[2 * 82] = 2;
	b[2 * 128] = (uint8_t)(0x21 | model.enabled << 1 | model.locked << 2 | model.frozen << 3 |
			       (model.tries > 4) << 4);
}

static bool model_password(const uint8_t *sector)
{
	return !memcmp(sector + 2, model.password, 32);
}

/* True: done. */
static bool model_security(uint8_t command, const uint8_t *sector)
{
	bool prepared = model.prepared;

	model.prepared = command == 0xf3;
	if (model.frozen)
		return false;
	switch (command) {
	case 0xf1:
		if (model.locked)
			return false;
		model.enabled = true;
		memcpy(model.password, sector + 2, 32);
		return true;
	case 0xf2:
		if (model.tries > 4 || (model.locked && !model_password(sector))) {
			model.tries++;
			return false;
		}
		model.locked = false;
		return true;
	case 0xf3:
		return true;
	case 0xf4:
		if (!prepared || !model.enabled || !model_password(sector))
			return false;
		model.erased = true;
		model.locked = false;
		model.enabled = model.keeps_password;
		return true;
	case 0xf6:
		if (model.locked || !model.enabled || !model_password(sector))
			return false;
		model.enabled = model.never_off;
		return true;
	default:
		return false;
	}
}

static int model_run(struct sg_io_hdr *h)
{
	uint8_t command = h->cmdp[14];

	if (command == 0xec)
		model_identify(h->dxferp);
	else if (!model.swallows && !model_security(command, h->dxferp))
		return answer_abort(h);
	return 0;
}

static int model_drive(struct sg_io_hdr *h)
{
	bool now = ++model.n == model.fail_at;

	if (h->cmdp[0] != 0x85)
		script_wrong("%02x to a SATA drive", h->cmdp[0]);
	if (model.deaf) {
		h->host_status = 1;
		h->info = SG_INFO_CHECK;
		return 0;
	}
	if (now && model.how == DROPS_LATE) /* done, but the answer is lost */
		(void)model_run(h);
	if (!now)
		return model_run(h);
	if (model.how == ABORTS)
		return answer_abort(h);
	h->host_status = model.how == IS_GONE ? 1 : 3;
	h->info = SG_INFO_CHECK;
	model.deaf = model.how == IS_GONE;
	return 0;
}

static void model_begin(void)
{
	begin();
	memset(&model, 0, sizeof model);
	drive_model = model_drive;
}

/* The drive had a power cycle: what had a password is locked now. */
static void power_cycle(void)
{
	model.locked = model.enabled;
	model.deaf = model.prepared = false;
	model.tries = 0;
	model.fail_at = 0;
	trail[0] = 0;
	drive.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(on_the_model_it_works)
{
	model_begin();
	CHECK_MSG(!purge(PURGE_ATA_SECURITY_ERASE), "%s", err.msg);
	CHECK(model.erased && !model.enabled && !model.locked);
	CHECK_STR(trail, "ec record f1 ec f3 f4 ec");
}

static void check_failure(unsigned at, unsigned how, int rc)
{
	bool was_sent = strstr(trail, "f1") != NULL;

	CHECK_MSG(rc && err.msg[0], "step %u how %u: %d", at, how, rc);
	/* Nothing was set that had not been recorded. */
	CHECK_MSG(!was_sent || strstr(trail, "record f1"), "step %u: %s", at, trail);
	/* Nothing was erased without its password, or twice. */
	CHECK_MSG(!strstr(trail, "f4") || strstr(trail, "f3 f4"), "%s", trail);
	/* Without an answer nothing was sent after it. */
	if (how == TIMES_OUT || how == IS_GONE || how == DROPS_LATE)
		CHECK_MSG(model.n == at, "step %u how %u: %s", at, how, trail);
	/* What is left with a password is said to be, with the way out. */
	if (model.enabled)
		CHECK_MSG(strstr(err.msg, "pts purge --recover"), "step %u how %u: %s", at, how,
			  err.msg);
	if (was_sent && !model.enabled && how == ABORTS)
		CHECK_MSG(strstr(err.msg, "left open, without a password") || model.erased,
			  "step %u: %s", at, err.msg);
}

TEST(each_step_fails_in_each_way_and_recovers)
{
	for (unsigned how = ABORTS; how <= DROPS_LATE; how++) {
		for (unsigned at = 1; at <= 6; at++) {
			model_begin();
			model.fail_at = at;
			model.how = how;
			int rc = purge(PURGE_ATA_SECURITY_ERASE);

			DO(check_failure(at, how, rc));
			power_cycle();
			CHECK_MSG(!recover(), "step %u how %u: %s", at, how, err.msg);
			CHECK(!model.enabled && !model.locked);
			CHECK_MSG(!strstr(trail, "f1") && !strstr(trail, "f4"), "%s", trail);
			CHECK_MSG(!script_fault[0], "%s", script_fault);
		}
	}
}

TEST(a_crash_after_the_password_is_recovered)
{
	for (unsigned locked = 0; locked < 2; locked++) {
		model_begin();
		model.enabled = true;
		model.locked = locked;
		memcpy(model.password, ata_password, 32);
		CHECK_MSG(!recover(), "%s", err.msg);
		CHECK(!model.enabled && !model.locked);
		CHECK_STR(trail, locked ? "ec f2 f6 ec" : "ec f6 ec");
		CHECK_MSG(strstr(detail, "taken off"), "%s", detail);
	}
}

TEST(recovering_where_nothing_is_to_undo)
{
	model_begin();
	CHECK_INT(recover(), 0);
	CHECK_STR(trail, "ec");
	CHECK_MSG(strstr(detail, "nothing to undo"), "%s", detail);

	model_begin();
	model.frozen = true; /* as most are, without a password */
	CHECK_INT(recover(), 0);

	begin();
	drive.ata = false;
	CHECK_INT(recover(), 0);
	CHECK_STR(trail, "");

	for (unsigned sata = 0; sata < 2; sata++) { /* taken for one, but it is a SAS drive */
		begin();
		snprintf(drive.vendor, sizeof drive.vendor, "%s", sata ? "ATA" : "SEAGATE");
		fails(expect_in(IDENTIFY, 512, ""), 5, 0x20, 0);
		CHECK_INT(recover(), sata ? -EOPNOTSUPP : 0);
		DO(scsi_over());
		CHECK(sata ? err.msg[0] != 0 : strstr(detail, "no ATA commands") != NULL);
	}
}

TEST(a_password_that_stays_though_the_answer_is_ok)
{
	model_begin();
	model.enabled = model.never_off = true;
	memcpy(model.password, ata_password, 32);
	CHECK(recover() < 0);
	CHECK_MSG(strstr(err.msg, "answered ok, but the drive is open, with the password"), "%s",
		  err.msg);
}

TEST(the_password_of_someone_else_stays)
{
	for (unsigned locked = 0; locked < 2; locked++) {
		model_begin();
		model.enabled = true;
		model.locked = locked;
		memcpy(model.password, "theirs", 6);
		CHECK_INT(recover(), -EACCES);
		CHECK_MSG(strstr(err.msg, "not that of pts"), "%s", err.msg);
		CHECK_STR(trail, locked ? "ec f2" : "ec f6");
		CHECK(model.enabled && model.locked == locked);
	}
	model_begin();
	model.enabled = model.frozen = true;
	CHECK_INT(recover(), -EBUSY);
	CHECK_STR(trail, "ec");
	CHECK_MSG(strstr(err.msg, "suspend and resume"), "%s", err.msg);

	model_begin();
	model.enabled = model.locked = true;
	model.tries = 5;
	CHECK_INT(recover(), -EBUSY);
	CHECK_STR(trail, "ec");
	CHECK_MSG(strstr(err.msg, "power cycle"), "%s", err.msg);
}

TEST(a_controller_that_swallows_security_commands)
{
	model_begin();
	model.swallows = true;
	CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), -EIO);
	CHECK_MSG(strstr(err.msg, "filters security commands"), "%s", err.msg);
	CHECK_STR(trail, "ec record f1 ec ec"); /* no erase was tried */
}

TEST(an_erase_that_keeps_its_password)
{
	model_begin();
	model.keeps_password = true;
	CHECK_INT(purge(PURGE_ATA_SECURITY_ERASE), -EIO);
	CHECK_MSG(strstr(err.msg, "did not take its password off"), "%s", err.msg);
	CHECK_MSG(strstr(err.msg, "left open, without a password"), "%s", err.msg);
	CHECK_STR(trail, "ec record f1 ec f3 f4 ec ec f6 ec");
	CHECK(!model.enabled);
}

/* ---- SANITIZE DEVICE ---- */

static struct line *expect_status(unsigned count, uint32_t lba)
{
	return with_registers(expect(STATUS), count, lba, 0);
}

static void begin_sanitize(unsigned w59)
{
	begin();
	expect_identify(w59, 0x21);
	expect_status(0x0000, 0xffff);
}

TEST(sanitize_bytes_and_progress)
{
	static const struct {
		unsigned w59;
		const char *cdb, *says;
	} row[] = {
		{ 0xf000, "85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00", "block erase" },
		{ 0x7000, "85 07 20 00 11 00 00 43 70 00 79 00 72 40 b4 00", "crypto scramble" },
		{ 0x5000, "85 07 20 00 14 00 01 00 00 57 00 4f 00 40 b4 00", "overwrite" },
	};

	for (unsigned i = 0; i < 3; i++) {
		begin_sanitize(row[i].w59);
		with_registers(expect(row[i].cdb), 0x4000, 0, 0)->timeout_ms = 300000;
		expect_status(0x4000, 0x0000);
		expect_status(0x4000, 0x8000);
		expect_status(0x8000, 0xffff);
		CHECK_MSG(!purge(PURGE_ATA_SANITIZE), "row %u: %s", i, err.msg);
		DO(scsi_over());
		CHECK_MSG(strstr(detail, row[i].says), "%s", detail);
		CHECK_INT(n_tells, 3);
		CHECK_MSG(strstr(tells[2], "50 %"), "%s", tells[2]);
	}
}

TEST(sanitize_that_ends_badly)
{
	for (unsigned i = 0; i < 2; i++) {
		begin_sanitize(0xf000);
		with_registers(expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00"), 0x4000, 0,
			       0);
		expect_status(0x4000, 0x1000);
		if (i)
			with_registers(expect(STATUS), 0, 1, 0x04); /* aborted: unsuccessful */
		else
			expect_status(0x0000, 0xffff); /* over, but not well */
		CHECK_INT(purge(PURGE_ATA_SANITIZE), -EIO);
		CHECK_MSG(strstr(err.msg, "failed"), "%s", err.msg);
		DO(scsi_over());
	}
}

TEST(sanitize_that_is_frozen_locked_or_cannot_be_watched)
{
	begin();
	expect_identify(0xf000, 0x21);
	expect_status(0x2000, 0xffff);
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EBUSY);
	CHECK_MSG(strstr(err.msg, "frozen"), "%s", err.msg);
	DO(scsi_over());

	begin(); /* frozen, but told only by refusing */
	expect_identify(0xf000, 0x21);
	expect_status(0x0000, 0xffff);
	with_registers(expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00"), 0, 3, 0x04);
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EBUSY);
	CHECK_MSG(strstr(err.msg, "frozen"), "%s", err.msg);
	DO(scsi_over());

	begin();
	expect_identify(0xf000, 0x27);
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EBUSY);
	CHECK_MSG(strstr(err.msg, "locked"), "%s", err.msg);
	DO(scsi_over());

	begin(); /* ok, but no registers: nothing is begun that cannot be watched */
	expect_identify(0xf000, 0x21);
	expect(STATUS);
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EOPNOTSUPP);
	CHECK_MSG(strstr(err.msg, "brings no registers back"), "%s", err.msg);
	DO(scsi_over());

	begin();
	expect_identify(0x0000, 0x21);
	with_registers(expect(STATUS), 0, 2, 0x04);
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EOPNOTSUPP);
	DO(scsi_over());
}

TEST(sanitize_over_a_controller_with_fixed_sense)
{
	static const uint16_t progress[] = { 0xffff, 0x4000, 0xffff };

	begin();
	expect_identify(0xf000, 0x21);
	for (unsigned i = 0; i < 3; i++) {
		struct line *l;
		if (i == 1)
			expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00");
		l = fails(expect(STATUS), 1, 0, 0x1d);
		l->sense[4] = 0x50;
		l->sense[8] = 0xc0; /* the count's upper byte is something */
		l->sense[9] = (uint8_t)progress[i];
		l->sense[10] = (uint8_t)(progress[i] >> 8);
	}
	CHECK_MSG(!purge(PURGE_ATA_SANITIZE), "%s", err.msg);
	DO(scsi_over());
	CHECK_MSG(strstr(tells[1], "25 %"), "%s", tells[1]);
}

TEST(registers_that_come_in_part_or_with_a_lie)
{
	begin(); /* EXTEND is 0: the upper bytes of the count say nothing */
	expect_identify(0xf000, 0x21);
	for (unsigned i = 0; i < 2; i++) {
		expect_status(0x2000, 0xffff)->sense[10] = 0;
		if (!i)
			expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00");
	}
	CHECK_MSG(!purge(PURGE_ATA_SANITIZE), "%s", err.msg);
	DO(scsi_over());

	begin_sanitize(0xf000); /* said to be fine, but the drive's own status says ERR */
	struct line *l = expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00");
	with_registers(l, 0, 0, 0);
	l->sense[11] = 0x04;
	l->sense[21] = 0x51;
	CHECK_INT(purge(PURGE_ATA_SANITIZE), -EIO);
	CHECK_MSG(strstr(err.msg, "ATA error 04, status 51"), "%s", err.msg);
	DO(scsi_over());
}

TEST(a_sanitize_that_runs_already_is_waited_for)
{
	begin();
	drive.running = SCSI_SANITIZING;
	expect_status(0x4000, 0x8000);
	expect_status(0x8000, 0xffff);
	/* asked anew */
	expect_in("9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00", 32,
		  "00 00 00 00 00 0f 42 3f 00 00 02 00");
	expect_identify(0xf000, 0x21);
	expect_status(0x8000, 0xffff);
	CHECK_MSG(!scsi_settle(s, &dut, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK_INT(drive.running, SCSI_IDLE);
	close(drive.fd);
}

TEST(a_failed_sanitize_is_left_by_another)
{
	begin();
	expect_identify(0xf000, 0x21);
	with_registers(expect(STATUS), 0, 1, 0x04);
	with_registers(expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00"), 0x4000, 0, 0);
	expect_status(0x8000, 0xffff);
	CHECK_MSG(!purge(PURGE_ATA_SANITIZE), "%s", err.msg);
	DO(scsi_over());
}

TEST(ready_says_what_hinders_before_anything_is_marked)
{
	static const struct {
		enum purge_method m;
		unsigned w128;
		int rc;
		const char *has;
	} row[] = { { PURGE_BLKDISCARD, 0x21, 0, "" },
		    { PURGE_BLKDISCARD, 0x29, 0, "" }, /* frozen is no matter for a discard */
		    { PURGE_BLKDISCARD, 0x27, -EBUSY, "locked with a password" },
		    { PURGE_ATA_SECURITY_ERASE, 0x21, 0, "" },
		    { PURGE_ATA_SECURITY_ERASE, 0x29, -EBUSY, "suspend and resume" },
		    { PURGE_ATA_SECURITY_ERASE, 0x27, -EBUSY, "--recover" } };

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		begin();
		expect_identify(0, row[i].w128);
		CHECK_INT(scsi_ready(s, row[i].m, &dut, &err), row[i].rc);
		DO(scsi_over());
		CHECK_MSG(strstr(err.msg, row[i].has), "row %u: %s", i, err.msg);
		close(drive.fd);
	}
	begin();
	drive.have_identify = false;
	CHECK_INT(scsi_ready(s, PURGE_BLKDISCARD, &dut, &err), 0);
	DO(scsi_over());
	close(drive.fd);
}

TEST(ready_leads_out_of_a_failed_sanitize)
{
	begin();
	for (unsigned i = 0; i < 2; i++) {
		expect_identify(0xf000, 0x21);
		with_registers(expect(STATUS), 0, 1, 0x04);
		if (!i)
			with_registers(expect(STATUS), 0, 1, 0x04);
	}
	with_registers(expect("85 07 20 00 12 00 00 42 72 00 45 00 6b 40 b4 00"), 0x4000, 0, 0);
	expect_status(0x8000, 0xffff);
	CHECK_MSG(!scsi_ready(s, PURGE_ATA_SANITIZE, &dut, &err), "%s", err.msg);
	DO(scsi_over());
	close(drive.fd);

	begin();
	expect_identify(0xf000, 0x21);
	with_registers(expect(STATUS), 0, 1, 0x04);
	CHECK_INT(scsi_ready(s, PURGE_ATA_SECURITY_ERASE, &dut, &err), -EIO);
	CHECK_MSG(strstr(err.msg, "--method ata-sanitize"), "%s", err.msg);
	DO(scsi_over());
	close(drive.fd);
}

TEST(methods_of_other_drives)
{
	static const enum purge_method m[] = { PURGE_SCSI_FORMAT, PURGE_SCSI_SANITIZE,
					       PURGE_BLKDISCARD };

	for (unsigned i = 0; i < 3; i++) {
		begin();
		CHECK_INT(purge(m[i]), -EOPNOTSUPP);
		DO(scsi_over());
	}
}

TEST_MAIN
