/* SPDX-License-Identifier: MIT */
/* SATA drives: IDENTIFY DEVICE by canned buffers, which purge follows, registers, health and write cache. */
#include "tests/unit/workloads_ata_rig.h"

#define IDENTIFY "85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00"
#define STATUS "85 07 20 00 00 00 00 00 00 00 00 00 00 40 b4 00"
#define LOG(page) "85 09 0e 00 00 00 01 00 04 00 " page " 00 00 00 2f 00"
#define SMART_DATA "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 00 b0 00"
#define SMART_STATUS "85 06 20 00 da 00 00 00 00 00 4f 00 c2 00 b0 00"

static struct scsi_drive *s;
static struct dut_info info;
static struct err err;
static uint16_t words[256];

/* "SAMPLE SATA SSD", serial "  SN42", firmware "FW1.0", 48 bits, write cache on, SMART on; no security, no sanitize. */
static void plain(void)
{
	static const char model[] = "ASPMELS TA ASSD", serial[] = "  NS24", firmware[] = "WF.1 0";

	memset(words, 0, sizeof words);
	for (unsigned i = 0; i < 20; i++)
		words[27 + i] = 0x2020;
	for (unsigned i = 0; i < 10; i++)
		words[10 + i] = 0x2020;
	memcpy(words + 27, model, 14);
	words[27 + 7] = 'D' << 8 | ' ';
	memcpy(words + 10, serial, 6);
	memcpy(words + 23, firmware, 6);
	words[26] = 0x2020;
	words[0] = 0x0040;
	words[82] = words[85] = 1u << 5 | 1;
	words[83] = words[86] = 0x4000 | 1u << 10;
	words[84] = words[87] = 0x4000;
	words[217] = 1;
}

static void put_sector(struct line *l, const uint16_t w[256])
{
	memcpy(l->data, w, 512);
	l->given = 512;
}

static struct line *expect_identify(void)
{
	struct line *l = expect_in(IDENTIFY, 512, "");

	put_sector(l, words);
	return l;
}

static void open_begin(void)
{
	static const char *const page[] = { "80", "83", "b0", "b1", "b2" };
	char cdb[40];

	scsi_begin();
	expect_in("12 00 00 00 60 00", 96,
		  "00 00 05 02 5b 00 00 02 41 54 41 20 20 20 20 20 53 41 4d 50 4c 45 20 53 41 54 "
		  "41 20 "
		  "53 53 44 20 31 2e 30 20");
	expect("00 00 00 00 00 00");
	for (unsigned i = 0; i < 5; i++) {
		snprintf(cdb, sizeof cdb, "12 01 %s 00 fc 00", page[i]);
		fails(expect_in(cdb, 252, ""), 5, 0x24, 0);
	}
	expect_in("9e 10 00 00 00 00 00 00 00 00 00 00 00 20 00 00", 32,
		  "00 00 00 00 00 0f 42 3f 00 00 02 00");
	expect_identify();
}

static void open_end(bool hint)
{
	CHECK_MSG(!scsi_open_file(hint, &s, &err), "%s", err.msg);
	DO(scsi_over());
	info = (struct dut_info){ .purge_methods = 1u << PURGE_BLKDISCARD };
	scsi_facts(s, &info);
	trail[0] = 0;
}

static void opened(void)
{
	open_begin();
	DO(open_end(false));
}

/* ---- IDENTIFY ---- */

TEST(what_a_sata_drive_is)
{
	plain();
	DO(opened());
	CHECK_STR(info.model, "SAMPLE SATA SSD");
	CHECK_STR(info.serial, "SN42");
	CHECK_STR(info.firmware, "FW1.0");
	CHECK_STR(info.transport, "sata");
	CHECK(info.has_write_cache);
	CHECK(!s->rotating);
	CHECK_INT(info.purge_auto, PURGE_BLKDISCARD);
	CHECK_INT(info.purge_methods, 1u << PURGE_BLKDISCARD);
	CHECK_MSG(strstr(info.auto_why, "neither ATA SANITIZE nor ATA security"), "%s",
		  info.auto_why);
	scsi_close(s);

	words[217] = 7200;
	words[82] = words[85] = 0;
	words[87] |= 1u << 8;
	words[108] = 0x5000;
	words[109] = 0xc500;
	words[110] = 0xaabb;
	words[111] = 0xccdd;
	DO(opened());
	CHECK(!info.has_write_cache);
	CHECK(s->rotating);
	CHECK_STR(info.wwid, "naa.5000c500aabbccdd");
	scsi_close(s);
}

TEST(strings_of_hostile_drives)
{
	plain();
	for (unsigned i = 27; i < 47; i++)
		words[i] = (uint16_t)(i & 1 ? 0x1b5b : 0xffff);
	memset(words + 10, 0, 20);
	DO(opened());
	for (const char *p = info.model; *p; p++)
		CHECK(*p >= ' ' && *p < 0x7f);
	CHECK_STR(info.serial, "");
	scsi_close(s);
}

TEST(identify_that_is_none)
{
	static const uint16_t first[] = { 0x8000, 0x0040 };

	for (unsigned i = 0; i < 2; i++) {
		plain();
		words[0] = first[i];
		words[128] = 0x21;
		words[255] = i ? 0x00a5 : 0; /* a checksum that is wrong */
		DO(opened());
		CHECK(!s->have_identify);
		CHECK_INT(info.purge_methods, 1u << PURGE_BLKDISCARD);
		CHECK_MSG(strstr(info.auto_why, "lets no ATA commands through"), "%s",
			  info.auto_why);
		scsi_close(s);
	}
	plain();
	open_begin();
	script[script_lines - 1].given = 200; /* cut off */
	DO(open_end(false));
	CHECK(!s->have_identify);
	scsi_close(s);

	open_begin();
	script_lines--;
	fails(expect_in(IDENTIFY, 512, ""), 5, 0x20, 0);
	DO(open_end(true));
	CHECK(!s->have_identify);
	scsi_close(s);

	plain();
	uint8_t sum = 0xa5;
	for (unsigned i = 0; i < 510; i++)
		sum = (uint8_t)(sum + ((uint8_t *)words)[i]);
	words[255] = (uint16_t)((uint8_t)-sum << 8 | 0xa5); /* one that is right */
	DO(opened());
	CHECK(s->have_identify);
	scsi_close(s);
}

/* ---- security ---- */

/* Word 128 in all its states: supported 1, enabled 2, locked 4, frozen 8, count expired 16, enhanced erase 32. */
TEST(security_table)
{
	static const struct {
		uint16_t w82, w128;
		enum ata_security is;
	} row[] = {
		{ 0x0021, 0x0000, ATA_NONE },	 { 0x0023, 0x0001, ATA_READY },
		{ 0x0023, 0x0021, ATA_READY },	 { 0x0023, 0x0029, ATA_FROZEN },
		{ 0x0023, 0x0023, ATA_ENABLED }, { 0x0023, 0x0123, ATA_ENABLED },
		{ 0x0023, 0x0027, ATA_LOCKED },	 { 0x0023, 0x0037, ATA_EXPIRED },
		{ 0x0023, 0x0031, ATA_EXPIRED }, { 0x0023, 0x003f, ATA_FROZEN },
		{ 0x0023, 0x002b, ATA_FROZEN },	 { 0x0023, 0xffff, ATA_NONE },
		{ 0x0000, 0x0001, ATA_READY }, /* word 82 not kept */
		{ 0xffff, 0x0001, ATA_READY },	 { 0x0021, 0x0001, ATA_NONE }, /* they disagree */
		{ 0x0023, 0x0008, ATA_NONE },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		uint16_t w[256] = { 0 };

		w[82] = row[i].w82;
		w[128] = row[i].w128;
		CHECK_MSG(ata_security_of(w) == row[i].is, "row %u: %d", i, ata_security_of(w));
	}
}

TEST(security_says_what_to_do)
{
	CHECK(strstr(ata_security_text(ATA_FROZEN), "suspend and resume the host"));
	CHECK(strstr(ata_security_text(ATA_FROZEN), "plug the drive in again"));
	CHECK(strstr(ata_security_text(ATA_LOCKED), "--recover"));
	CHECK(strstr(ata_security_text(ATA_ENABLED), "--recover"));
	CHECK(strstr(ata_security_text(ATA_EXPIRED), "power cycle"));
	CHECK(strstr(ata_security_text(ATA_NONE), "another --method"));
	for (unsigned i = 0; i < 32; i++)
		CHECK_INT(ata_password[i], i < 3 ? "pts"[i] : 0);
}

TEST(minutes_of_an_erase)
{
	static const struct {
		uint16_t word;
		unsigned minutes;
		bool more;
	} row[] = { { 0, 0, false },	     { 1, 2, false },	     { 0x8001, 2, false },
		    { 254, 508, false },     { 255, 508, true },     { 0x0100, 0, false },
		    { 0x80ff, 510, false },  { 0x8100, 512, false }, { 0xfffe, 65532, false },
		    { 0xffff, 65532, true }, { 0x8000, 0, false } };

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		bool more;

		CHECK_INT(ata_erase_minutes(row[i].word, &more), row[i].minutes);
		CHECK_INT(more, row[i].more);
	}
}

TEST(auto_of_a_sata_drive)
{
	static const struct {
		uint16_t w59, w128;
		enum purge_method is;
		unsigned methods;
		const char *why;
	} row[] = {
		{ 0xf000, 0x21, PURGE_ATA_SANITIZE,
		  1u << PURGE_ATA_SANITIZE | 1u << PURGE_ATA_SECURITY_ERASE, "block erase" },
		{ 0x3000, 0x29, PURGE_ATA_SANITIZE,
		  1u << PURGE_ATA_SANITIZE | 1u << PURGE_ATA_SECURITY_ERASE, "crypto" },
		{ 0x5000, 0x21, PURGE_ATA_SECURITY_ERASE,
		  1u << PURGE_ATA_SANITIZE | 1u << PURGE_ATA_SECURITY_ERASE, "SECURITY ERASE" },
		{ 0x0000, 0x21, PURGE_ATA_SECURITY_ERASE, 1u << PURGE_ATA_SECURITY_ERASE,
		  "SECURITY ERASE" },
		/* hindered: not silently something weaker */
		{ 0x0000, 0x29, PURGE_ATA_SECURITY_ERASE, 1u << PURGE_ATA_SECURITY_ERASE,
		  "frozen by the BIOS" },
		{ 0x0000, 0x27, PURGE_ATA_SECURITY_ERASE, 1u << PURGE_ATA_SECURITY_ERASE,
		  "locked" },
		{ 0x5000, 0, PURGE_BLKDISCARD, 1u << PURGE_ATA_SANITIZE, "neither" },
		{ 0xe000, 0, PURGE_BLKDISCARD, 0, "neither" }, /* kinds without the set */
		{ 0xffff, 0, PURGE_BLKDISCARD, 0, "neither" },
	};

	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		plain();
		words[59] = row[i].w59;
		words[82] |= row[i].w128 ? 2 : 0;
		words[128] = row[i].w128;
		open_begin();
		if (row[i].w59 & 0x1000 && row[i].w59 != 0xffff)
			with_registers(expect(STATUS), 0x0000, 0xffff, 0);
		DO(open_end(false));
		CHECK_MSG(info.purge_auto == row[i].is, "row %u: %s", i,
			  purge_method_name(info.purge_auto));
		CHECK_INT(info.purge_methods, row[i].methods | 1u << PURGE_BLKDISCARD);
		CHECK_MSG(strstr(info.auto_why, row[i].why), "row %u: %s", i, info.auto_why);
		scsi_close(s);
	}
}

TEST(the_hint_of_sysfs_is_enough)
{
	scsi_begin();
	plain();
	open_begin();
	memcpy(script[0].data + 8, "Samsung ", 8); /* some controller's own INQUIRY */
	DO(open_end(true));
	CHECK_STR(info.model, "SAMPLE SATA SSD");
	scsi_close(s);
}

/* ---- health ---- */

static void put_attribute(uint8_t *b, unsigned n, unsigned id, uint64_t raw)
{
	b += 2 + 12 * n;
	b[0] = (uint8_t)id;
	for (unsigned i = 0; i < 6; i++)
		b[5 + i] = (uint8_t)(raw >> 8 * i);
}

static void right_sum(uint8_t b[512])
{
	uint8_t sum = 0;

	for (unsigned i = 0; i < 511; i++)
		sum = (uint8_t)(sum + b[i]);
	b[511] = (uint8_t)-sum;
}

static void put_statistic(uint8_t *b, unsigned at, uint64_t v, unsigned flags)
{
	for (unsigned i = 0; i < 6; i++)
		b[at + i] = (uint8_t)(v >> 8 * i);
	b[at + 7] = (uint8_t)flags;
}

static void expect_smart(bool all, unsigned lba_back)
{
	struct line *l = expect_in(SMART_DATA, 512, "");

	l->given = 512;
	put_attribute(l->data, 0, 190,
		      0x1e2d0000002cull); /* 44 C, with the least and most beside */
	if (all) {
		put_attribute(l->data, 1, 194, 0x002d00170021ull); /* 33 C */
		put_attribute(l->data, 7, 241, 1000);
		put_attribute(l->data, 29, 187, 0xffff00000003ull);
	}
	right_sum(l->data);
	with_registers(expect(SMART_STATUS), 0, lba_back, 0);
}

TEST(health_by_smart)
{
	struct health h = { .have_temperature = false };

	plain();
	DO(opened());
	expect_smart(true, 0xc24f00);
	CHECK_MSG(!scsi_health(s, &h, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(h.have_temperature && h.temperature_c == 33);
	CHECK(!h.critical);
	CHECK_INT(h.host_written_bytes, 512000);
	CHECK_INT(h.media_errors, 3);

	h = (struct health){ .host_written_bytes = 7, .link = "6.0 Gbps" };
	expect_smart(false, 0x2cf400);
	CHECK_MSG(!scsi_health(s, &h, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(h.have_temperature && h.temperature_c == 44);
	CHECK(h.critical && strstr(h.text, "threshold"));
	CHECK_INT(h.host_written_bytes, 7); /* not told: left */
	CHECK_STR(h.link, "6.0 Gbps");
	scsi_close(s);
}

static void expect_statistics(unsigned flags)
{
	static const char *const page[] = { "01", "04", "05", "07" };
	char cdb[64];

	for (unsigned i = 0; i < 4; i++) {
		snprintf(cdb, sizeof cdb, "85 09 0e 00 00 00 01 00 04 00 %s 00 00 00 2f 00",
			 page[i]);
		struct line *l = expect_in(cdb, 512, "");
		l->given = 512;
		l->data[2] = (uint8_t)strtoul(page[i], NULL, 16);
		put_statistic(l->data, 8, i == 1 ? 5 : i == 2 ? 0xe6 : 12, flags);
		if (i == 0)
			put_statistic(l->data, 24, 2000, flags);
	}
}

TEST(device_statistics_come_before_attributes)
{
	struct health h = { .have_temperature = false };

	plain();
	words[84] |= 1u << 5;
	open_begin();
	struct line *l = expect_in(LOG("00"), 512, "01 00 00 00 00 00 00 00 05 00 01 04 05 07");
	l->given = 512;
	DO(open_end(false));
	expect_smart(true, 0xc24f00);
	expect_statistics(0xc0);
	CHECK_MSG(!scsi_health(s, &h, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK_INT(h.host_written_bytes, 2000 * 512);
	CHECK_INT(h.media_errors, 5);
	CHECK_MSG(h.temperature_c == -26, "%g", h.temperature_c);
	CHECK_MSG(h.percentage_used == 12, "%g", h.percentage_used);

	/* Supported, but not valid now: attributes stay. */
	h = (struct health){ .have_temperature = false };
	expect_smart(true, 0xc24f00);
	expect_statistics(0x80);
	CHECK_INT(scsi_health(s, &h, &err), 0);
	DO(scsi_over());
	CHECK_INT(h.host_written_bytes, 512000);
	CHECK(h.temperature_c == 33);
	scsi_close(s);
}

TEST(sectors_of_4096_bytes_are_counted_so)
{
	struct health h = { .have_temperature = false };

	plain();
	words[106] = 0x5000;
	words[117] = 2048;
	DO(opened());
	expect_smart(true, 0xc24f00);
	CHECK_INT(scsi_health(s, &h, &err), 0);
	DO(scsi_over());
	CHECK_INT(h.host_written_bytes, 4096000);
	scsi_close(s);
}

TEST(health_that_cannot_be_had)
{
	struct health h = { .have_temperature = true, .temperature_c = 21 };

	plain();
	words[85] = 0; /* SMART is off: what sysfs told stays */
	DO(opened());
	CHECK_INT(scsi_health(s, &h, &err), 0);
	DO(scsi_over());
	CHECK(h.temperature_c == 21);
	scsi_close(s);

	for (unsigned i = 0; i < 4; i++) {
		static const int rc[] = { -EIO, -EIO, -EIO, -ENODEV };

		plain();
		DO(opened());
		for (unsigned sysfs = 0; sysfs < 2; sysfs++) {
			struct line *l = expect_in(SMART_DATA, 512, "01 02 03"); /* short */

			if (i == 1) {
				l->given = 512;
				l->data[5] = 1; /* its checksum is wrong */
			} else if (i == 2) {
				with_registers(l, 0, 0, 0x04);
			} else if (i == 3) {
				l->host_status = 1;
			}
			err.msg[0] = 0;
			h = (struct health){ .have_temperature = sysfs, .temperature_c = 21 };
			CHECK_INT(scsi_health(s, &h, &err), sysfs && rc[i] == -EIO ? 0 : rc[i]);
			CHECK_MSG(i != 2 || sysfs || strstr(err.msg, "ATA error 04, status 51"),
				  "%s", err.msg);
			DO(scsi_over());
			CHECK(h.temperature_c == 21);
		}
		scsi_close(s);
	}
}

/* ---- write cache ---- */

TEST(cache_by_set_features)
{
	bool was = false;

	plain();
	DO(opened());
	expect_identify();
	expect("85 06 00 00 82 00 00 00 00 00 00 00 00 00 ef 00");
	words[85] &= (uint16_t) ~(1u << 5);
	expect_identify();
	CHECK_MSG(!scsi_write_cache(s, false, &was, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(was);

	expect_identify();
	expect("85 06 00 00 02 00 00 00 00 00 00 00 00 00 ef 00");
	words[85] |= 1u << 5;
	expect_identify();
	CHECK_MSG(!scsi_write_cache(s, true, &was, &err), "%s", err.msg);
	DO(scsi_over());
	CHECK(!was);

	expect_identify(); /* it is so already */
	CHECK_INT(scsi_write_cache(s, true, &was, &err), 0);
	DO(scsi_over());
	CHECK(was);

	expect_identify();
	expect("85 06 00 00 82 00 00 00 00 00 00 00 00 00 ef 00");
	expect_identify(); /* said ok, did nothing */
	CHECK_INT(scsi_write_cache(s, false, &was, &err), -EIO);
	CHECK_MSG(strstr(err.msg, "still on"), "%s", err.msg);
	DO(scsi_over());

	err.msg[0] = 0;
	words[82] &= (uint16_t) ~(1u << 5);
	expect_identify();
	CHECK_INT(scsi_write_cache(s, false, &was, &err), -EOPNOTSUPP);
	DO(scsi_over());
	scsi_close(s);
}

TEST_MAIN
