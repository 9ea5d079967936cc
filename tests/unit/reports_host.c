/* SPDX-License-Identifier: MIT */
/* A host that makes results doubtful is named on the first page. */
#include "pts/base/buf.h"
#include "reports/report.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"

static void report_of(const char *governor, struct buf *out)
{
	struct fix_opts o = { .governor = governor };
	struct err err = { "" };
	char path[128];
	struct fix f;

	DO(fix_open(&f));
	f.lat_seconds = 1;
	DO(fix_run(&f, &o));
	DO(fix_test(&f, "lat", "a title", "LAT"));
	DO(fix_lat(&f, 5, 1));
	DO(fix_end(&f, "done"));
	store_close(f.s);
	f.s = NULL;
	snprintf(path, sizeof path, "%s/a.txt", f.dir);
	int rc = report_write(f.db, &f.run, 1, path, &err);
	buf_release(out);
	int got = rc ? rc : buf_read_file(out, path, 1u << 28);
	unlink(path);
	fix_close(&f);
	CHECK_MSG(!got, "%s", err.msg);
}

/* Of the first sheet, up to the second one. */
static bool on_page_1(const struct buf *b, const char *text)
{
	const char *from = strstr(buf_cstr(b), "SSD Performance Qualification Report");
	const char *to = from ? strstr(from, "Results at a glance") : NULL;
	const char *at = from ? strstr(from, text) : NULL;

	return to && at && at < to;
}

static int warnings(const struct buf *b)
{
	const char *at = strstr(buf_cstr(b), "- warnings: ");

	return at ? (int)strtol(at + 12, NULL, 10) : -1;
}

TEST(U27_a_governor_that_saves_power_is_a_warning_on_page_1)
{
	static const char *const slow[] = { "powersave", "performance, powersave", "schedutil" };
	struct buf b = BUF_INIT;
	char text[80];

	DO(report_of(NULL, &b));
	int others = warnings(&b);
	CHECK(others >= 0 && on_page_1(&b, "performance") && !strstr(buf_cstr(&b), "WARNING"));
	DO(report_of("unknown", &b)); /* a machine without cpufreq */
	CHECK_INT(warnings(&b), others);
	for (unsigned i = 0; i < sizeof slow / sizeof *slow; i++) {
		DO(report_of(slow[i], &b));
		snprintf(text, sizeof text, "%s - WARNING", slow[i]);
		CHECK_MSG(on_page_1(&b, text), "no \"%s\" on page 1", text);
		CHECK_INT(warnings(&b), others + 1);
		snprintf(text, sizeof text, "CPU governor \"%s\": not every CPU", slow[i]);
		CHECK_MSG(strstr(buf_cstr(&b), text), "no warning \"%s\"", text);
	}
	buf_release(&b);
}

TEST_MAIN
