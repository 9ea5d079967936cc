/* SPDX-License-Identifier: MIT */
/* Whole reports: same bytes, whole files or none, hostile databases, one number everywhere. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "pts/base/buf.h"
#include "reports/report.h"
#include "schema/read.h"
#include "tests/unit/reports_fixture.h"
#include "tests/unit/reports_lint.h"

/* DIR/NAME; the last few stay valid. */
static const char *in(const struct fix *f, const char *name)
{
	static char path[4][160];
	static unsigned n;
	char *p = path[n++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", f->dir, name);
	return p;
}

static void finish(struct fix *f)
{
	static const char *const files[] = { "a.xlsx", "b.xlsx", "a.txt", "a.json", "link.xlsx" };

	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
		unlink(in(f, files[i]));
	fix_close(f);
}

static void seal(struct fix *f)
{
	store_close(f->s);
	f->s = NULL;
}

static void write_ok(const struct fix *f, const char *name)
{
	struct err err = { "" };

	CHECK_MSG(!report_write(f->db, &f->run, 1, in(f, name), &err), "%s: %s", name, err.msg);
}

static void read_back(const struct fix *f, const char *name, struct buf *out)
{
	CHECK_MSG(!buf_read_file(out, in(f, name), 1u << 28), "no %s", name);
}

/* A value of the JSON report by its path; "" null. */
static void json_at(const struct fix *f, const char *path, char *out, size_t n)
{
	struct buf b = BUF_INIT;
	struct err err = { "" };
	struct reader *r;

	DO(read_back(f, "a.json", &b));
	CHECK(!read_open(f->db, &r, &err));
	struct rows *q = read_rows(r, &err, "SELECT json_extract(?1, ?2)", "tt", buf_cstr(&b),
				   path);
	CHECK_MSG(q && rows_next(q) == 1, "%s", err.msg);
	snprintf(out, n, "%s", rows_text(q, 0));
	CHECK_MSG(!rows_close(q, &err), "%s", err.msg);
	read_close(r);
	buf_release(&b);
}

TEST(same_database_same_bytes)
{
	static const char *const names[][2] = { { "a.xlsx", "b.xlsx" } };
	struct fix_opts o = { 0 };
	struct buf a = BUF_INIT, b = BUF_INIT;
	struct timespec pause = { 2, 100000000 }; /* zip entries carry two-second stamps */
	struct fix f;

	DO(fix_basic(&f, &o, false));
	seal(&f);
	DO(write_ok(&f, names[0][0]));
	nanosleep(&pause, NULL);
	DO(write_ok(&f, names[0][1]));
	DO(read_back(&f, "a.xlsx", &a));
	DO(read_back(&f, "b.xlsx", &b));
	CHECK(a.len == b.len && !memcmp(a.s, b.s, a.len));
	buf_release(&a);
	buf_release(&b);
	finish(&f);
}

TEST(three_kinds_of_a_formal_run)
{
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	char v[200];
	struct fix f;

	DO(fix_basic(&f, &o, false));
	seal(&f);
	DO(write_ok(&f, "a.xlsx"));
	DO(write_ok(&f, "a.txt"));
	DO(write_ok(&f, "a.json"));
	int rc = lint(&b, in(&f, "a.xlsx"), NULL, NULL);
	CHECK_MSG(rc <= 0, "%s", buf_cstr(&b));
	buf_release(&b);
	DO(json_at(&f, "$.schema", v, sizeof v));
	CHECK_STR(v, "pts.report/1");
	DO(json_at(&f, "$.runs[0].verdict", v, sizeof v));
	CHECK_STR(v, "CONFORMANT");
	DO(read_back(&f, "a.txt", &b));
	CHECK(strstr(buf_cstr(&b),
		     "conforms to definition set 1 of SNIA SSS PTS 2.0.2 (enterprise)"));
	CHECK(!strstr(buf_cstr(&b), "NOT REACHED"));
	CHECK(!strstr(buf_cstr(&b), "SIMULATED"));
	buf_release(&b);
	finish(&f);
}

/* Text of the line of @sheet's listing whose cell is at @ref ("H12"), or "". */
static void cell_at(const char *list, const char *ref, char *out, size_t n)
{
	char key[24];
	snprintf(key, sizeof key, "\n%s\t", ref);
	const char *p = strstr(list, key);

	*out = 0;
	if (p)
		snprintf(out, n, "%.*s", (int)strcspn(p + strlen(key), "\n"), p + strlen(key));
}

/* Row of the Summary with this access pattern and metric. */
static int summary_row(const char *list, const char *access, const char *metric)
{
	char ref[16], text[200];

	for (int row = 1; row < 60; row++) {
		snprintf(ref, sizeof ref, "B%d", row);
		cell_at(list, ref, text, sizeof text);
		if (strcmp(text, access))
			continue;
		snprintf(ref, sizeof ref, "F%d", row);
		cell_at(list, ref, text, sizeof text);
		if (!strcmp(text, metric))
			return row;
	}
	return 0;
}

/* Summary, the test's page and JSON: one number. */
TEST(one_number_once)
{
	struct fix_opts o = { 0 };
	struct buf summary = BUF_INIT, page = BUF_INIT;
	char ref[16], text[200], json[200];
	struct fix f;

	DO(fix_basic(&f, &o, false));
	seal(&f);
	DO(write_ok(&f, "a.xlsx"));
	DO(write_ok(&f, "a.json"));
	if (lint(&summary, "--cells", in(&f, "a.xlsx"), "Summary") < 0) {
		finish(&f);
		SKIP("no python3");
	}
	CHECK_INT(lint(&page, "--cells", in(&f, "a.xlsx"), "IOPS"), 0);
	int row = summary_row(buf_cstr(&summary), "RND 4 KiB W", "IOPS");
	CHECK(row > 0);
	snprintf(ref, sizeof ref, "H%d", row);
	cell_at(buf_cstr(&summary), ref, text, sizeof text);
	double shown = strtod(text, NULL);
	CHECK(shown > 100000);
	DO(json_at(&f, "$.runs[0].summary[2].shown", json, sizeof json));
	CHECK_NEAR(strtod(json, NULL), shown, 1e-14);
	/* the same digits stand on the sheet of the test: table, determination, convergence */
	unsigned found = 0;
	for (const char *p = buf_cstr(&page); (p = strchr(p, '\t')); p++)
		found += fabs(strtod(p + 1, NULL) - shown) <= 1e-12 * shown;
	CHECK_MSG(found >= 3, "%u times on the page", found);
	row = summary_row(buf_cstr(&summary), "RND 4 KiB W", "99.999 % RT");
	CHECK(row > 0);
	buf_release(&summary);
	buf_release(&page);
	finish(&f);
}

TEST(U14_not_steady_is_red_and_reported_nowhere)
{
	struct fix_opts o = { 0 };
	struct buf summary = BUF_INIT, page = BUF_INIT, text = BUF_INIT;
	char v[200], ref[16], cell[200];
	struct fix f;

	DO(fix_basic(&f, &o, true));
	seal(&f);
	DO(write_ok(&f, "a.xlsx"));
	DO(write_ok(&f, "a.json"));
	DO(write_ok(&f, "a.txt"));
	DO(json_at(&f, "$.runs[0].verdict", v, sizeof v));
	CHECK_STR(v, "NOT CONFORMANT");
	DO(json_at(&f, "$.runs[0].summary[9].access", v, sizeof v));
	CHECK_STR(v, "SEQ 128 KiB W");
	DO(json_at(&f, "$.runs[0].summary[9].value", v, sizeof v));
	CHECK_STR(v, "");
	DO(json_at(&f, "$.runs[0].summary[9].reported", v, sizeof v));
	CHECK_STR(v, "0");
	DO(read_back(&f, "a.txt", &text));
	CHECK(strstr(buf_cstr(&text), "not reported"));
	CHECK(strstr(buf_cstr(&text),
		     "STEADY STATE NOT REACHED - 128k did not settle in 25 rounds"));
	buf_release(&text);
	if (lint(&summary, "--cells", in(&f, "a.xlsx"), "Summary") < 0) {
		finish(&f);
		SKIP("no python3");
	}
	int row = summary_row(buf_cstr(&summary), "SEQ 128 KiB W", "Throughput");
	CHECK(row > 0);
	snprintf(ref, sizeof ref, "H%d", row);
	cell_at(buf_cstr(&summary), ref, cell, sizeof cell);
	CHECK_STR(cell, "not reported");
	CHECK_INT(lint(&page, "--cells", in(&f, "a.xlsx"), "TP"), 0);
	cell_at(buf_cstr(&page), "O5", cell, sizeof cell); /* in the rows repeated on each page */
	CHECK_STR(cell, "NOT REACHED (128k)");
	CHECK_INT(lint(&text, in(&f, "a.xlsx"), NULL, NULL), 0);
	buf_release(&summary);
	buf_release(&page);
	buf_release(&text);
	finish(&f);
}

static void hostile_run(struct fix *f, const char *model, const char *serial, const char *note)
{
	struct fix_opts o = { .model = model, .serial = serial, .note = note };
	struct fix_iops p = { .rounds = 5 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "iops", "<Title> & \"quotes\" \xff", "IOPS<"));
	DO(fix_iops(f, &p));
	CHECK(!store_deviation(f->s, f->run, "=1+1", "=cmd|' /C calc'!A0 \x01\xfe <&>", &f->err));
	CHECK(!store_event(f->s, f->run, "note", "{\"x\":\"=HYPERLINK(1)\"}", &f->err));
	DO(fix_end(f, "done"));
}

TEST(strings_of_devices_cannot_break_a_report)
{
	static const char *const model[] = { "=1+1", "\"<&>' \xff\xfe model", "line\nbreak\ttab",
					     "'quoted'", "&amp;&L&R%s%n" };
	struct buf b = BUF_INIT;
	struct fix f;

	DO(fix_open(&f));
	for (unsigned i = 0; i < sizeof model / sizeof model[0]; i++)
		DO(hostile_run(&f, model[i], "forty-characters-of-a-serial-number-0001",
			       "]]>--<!"));
	seal(&f);
	for (f.run = 1; f.run <= (int64_t)(sizeof model / sizeof model[0]); f.run++) {
		DO(write_ok(&f, "a.xlsx"));
		DO(write_ok(&f, "a.txt"));
		DO(write_ok(&f, "a.json"));
		char v[100];
		DO(json_at(&f, "$.runs[0].run_id", v, sizeof v));
		CHECK_INT(strtol(v, NULL, 10), f.run);
		int rc = lint(&b, in(&f, "a.xlsx"), NULL, NULL);
		CHECK_MSG(rc <= 0, "run %lld: %s", (long long)f.run, buf_cstr(&b));
		buf_release(&b);
	}
	finish(&f);
}

static void empty_iops(struct fix *f, int rounds)
{
	struct fix_iops p = { .rounds = rounds, .equal = true };
	struct fix_opts o = { .lba = rounds == 5 ? 4096 : 512 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "iops", "IOPS - Block Size x RW Mix Matrix", "IOPS"));
	DO(fix_iops(f, &p));
	DO(fix_end(f, "done"));
}

static void unfinished(struct fix *f)
{
	struct fix_opts o = { 0 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "iops", "IOPS - Block Size x RW Mix Matrix", "IOPS"));
	DO(fix_test(f, "tp", "Throughput", "TP"));
	DO(fix_test(f, "lat", "Latency", "LAT"));
	DO(fix_attempt(f, "iops"));
	DO(fix_section(f, ""));
	DO(fix_fill(f, 131072));
	DO(fix_end(f, "interrupted"));
}

static void bare_lat(struct fix *f)
{
	struct fix_opts o = { 0 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "lat", "Latency", "LAT"));
	DO(fix_lat(f, 5, 0));
	DO(fix_end(f, "done"));
}

/* Too few I/Os for any 99.999 %: n/a, and no empty series in a chart. */
static void short_lat(struct fix *f)
{
	f->lat_seconds = 0.2;
	DO(bare_lat(f));
	f->lat_seconds = 0;
}

static void other_test(struct fix *f)
{
	struct fix_opts o = { 0 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "tp2", "Throughput, changed", "-"));
	DO(fix_attempt(f, "tp2"));
	CHECK(!store_begin(f->s, &f->err));
	DO(fix_tp_section(f, "128k", 131072, 25, true));
	DO(fix_test_end(f, 0));
	CHECK(!store_commit(f->s, &f->err));
	DO(fix_end(f, "done"));
}

/* A round of an attempt that never ended, and is void from the next on. */
static void void_round(struct fix *f)
{
	struct fix_opts o = { 0 };
	struct fix_cell c = { .phase = "round",
			      .access = "SEQ 1024K 0/100",
			      .round = 1,
			      .iops = 1,
			      .art_ns = 1,
			      .bs = 1048576,
			      .tc = 1,
			      .qd = 32,
			      .seconds = 60 };

	DO(fix_run(f, &o));
	DO(fix_test(f, "tp", "Throughput", "TP"));
	DO(fix_attempt(f, "tp"));
	DO(fix_section(f, "1024k"));
	DO(fix_put(f, &c));
	DO(fix_tp(f, false));
	DO(fix_end(f, "done"));
}

/* Zero, one, five equal and 25 rounds, runs cut short, runs without tests: a sound workbook each. */
TEST(sparse_databases)
{
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	struct fix f;

	DO(fix_open(&f));
	DO(empty_iops(&f, 0));
	DO(empty_iops(&f, 1));
	DO(empty_iops(&f, 5));
	DO(empty_iops(&f, 25));
	DO(unfinished(&f));
	DO(bare_lat(&f));
	DO(short_lat(&f));
	DO(other_test(&f));
	DO(void_round(&f));
	DO(fix_run(&f, &o)); /* no test at all */
	int64_t last = f.run;
	seal(&f);
	for (f.run = 1; f.run <= last; f.run++) {
		DO(write_ok(&f, "a.xlsx"));
		DO(write_ok(&f, "a.txt"));
		DO(write_ok(&f, "a.json"));
		int rc = lint(&b, in(&f, "a.xlsx"), NULL, NULL);
		CHECK_MSG(rc <= 0, "run %lld: %s", (long long)f.run, buf_cstr(&b));
		buf_release(&b);
		DO(read_back(&f, "a.txt", &b));
		if (f.run != 3) /* five equal rounds are steady */
			CHECK_MSG(f.run == 4 || f.run == 6 || f.run == 7 || f.run == 9 ||
					  strstr(buf_cstr(&b), "NOT CONFORMANT"),
				  "run %lld", (long long)f.run);
		if (f.run == 3)
			CHECK(strstr(buf_cstr(&b), "n/a (LBA 4096)"));
		buf_release(&b);
	}
	finish(&f);
}

TEST(several_runs_in_one_workbook)
{
	struct fix_opts o = { 0 };
	struct fix_iops p = { .rounds = 6 };
	const int64_t runs[] = { 1, 2 };
	struct buf b = BUF_INIT;
	struct err err = { "" };
	struct fix f;

	DO(fix_open(&f));
	for (int i = 0; i < 2; i++) {
		DO(fix_run(&f, &o));
		DO(fix_test(&f, "iops", "IOPS - Block Size x RW Mix Matrix", "IOPS"));
		DO(fix_iops(&f, &p));
		DO(fix_end(&f, "done"));
	}
	seal(&f);
	CHECK_MSG(!report_write(f.db, runs, 2, in(&f, "a.xlsx"), &err), "%s", err.msg);
	int rc = lint(&b, in(&f, "a.xlsx"), NULL, NULL);
	CHECK_MSG(rc <= 0, "%s", buf_cstr(&b));
	buf_release(&b);
	CHECK_MSG(!report_write(f.db, runs, 2, in(&f, "a.json"), &err), "%s", err.msg);
	char v[100];
	DO(json_at(&f, "$.runs[1].run_id", v, sizeof v));
	CHECK_STR(v, "2");
	finish(&f);
}

/* ---- files ---- */

static void put_old(const struct fix *f, const char *name)
{
	FILE *o = fopen(in(f, name), "w");

	CHECK(o);
	fputs("old", o);
	CHECK(!fclose(o));
}

static void check_old(const struct fix *f, const char *name)
{
	struct buf b = BUF_INIT;
	unsigned other = 0;

	DO(read_back(f, name, &b));
	CHECK_STR(buf_cstr(&b), "old");
	buf_release(&b);
	DIR *d = opendir(f->dir);
	CHECK(d);
	for (struct dirent *e; (e = readdir(d));)
		other += strstr(e->d_name, ".tmp") != NULL;
	closedir(d);
	CHECK_MSG(!other, "a temporary file was left");
}

TEST(a_failure_leaves_the_old_file)
{
	struct fix_opts o = { 0 };
	struct err err = { "" };
	int64_t run = 99;
	struct fix f;

	DO(fix_basic(&f, &o, false));
	seal(&f);
	DO(put_old(&f, "a.xlsx"));
	CHECK_INT(report_write(f.db, &run, 1, in(&f, "a.xlsx"), &err), -ENOENT);
	DO(check_old(&f, "a.xlsx"));
	CHECK_INT(report_write(in(&f, "none.db"), &run, 1, in(&f, "a.xlsx"), &err), -ENOENT);
	DO(check_old(&f, "a.xlsx"));
	finish(&f);
}

/* In a child: files may grow to @bytes, then writes fail, as on a full disk. */
static int limited(const struct fix *f, const char *name, rlim_t bytes)
{
	struct rlimit limit = { bytes, bytes };
	struct err err = { "" };
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		int rc = report_write(f->db, &f->run, 1, in(f, name), &err);
		_exit(rc < 0 && err.msg[0] ? 42 : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(no_space_left_is_an_error_and_leaves_the_old_file)
{
	const rlim_t limits[] = { 0, 4096, 150000, 600000 };
	struct fix_opts o = { 0 };
	struct fix f;

	DO(fix_basic(&f, &o, false));
	seal(&f);
	DO(put_old(&f, "a.xlsx"));
	DO(put_old(&f, "a.txt"));
	for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		CHECK_MSG(limited(&f, "a.xlsx", limits[i]) == 42, "limit %llu: no error",
			  (unsigned long long)limits[i]);
		DO(check_old(&f, "a.xlsx"));
	}
	CHECK_INT(limited(&f, "a.txt", 4096), 42);
	DO(check_old(&f, "a.txt"));
	CHECK_INT(limited(&f, "a.xlsx", 100000000), 0);
	finish(&f);
}

/* Packed, a workbook is smaller than its parts: here only the temporary files of the library are cut off. */
TEST(a_part_cut_off_by_a_full_disk_is_noticed)
{
	struct fix_opts o = { 0 };
	struct stat st;
	struct fix f;

	DO(fix_open(&f));
	DO(fix_run(&f, &o));
	DO(fix_test(&f, "tp", "Throughput", "TP"));
	DO(fix_tp(&f, true));
	DO(fix_end(&f, "done"));
	seal(&f);
	DO(write_ok(&f, "b.xlsx"));
	CHECK_INT(stat(in(&f, "b.xlsx"), &st), 0);
	DO(put_old(&f, "a.xlsx"));
	CHECK_INT(limited(&f, "a.xlsx", (rlim_t)st.st_size + 2048), 42);
	DO(check_old(&f, "a.xlsx"));
	finish(&f);
}

TEST(names_that_are_refused)
{
	struct fix_opts o = { 0 };
	struct err err = { "" };
	struct fix f;

	DO(fix_open(&f));
	DO(fix_run(&f, &o));
	seal(&f);
	CHECK_INT(report_write(f.db, &f.run, 1, in(&f, "a.pdf"), &err), -EINVAL);
	CHECK(strstr(err.msg, ".xlsx, .html, .txt, .json"));
	CHECK_INT(report_write(f.db, &f.run, 1, ".xlsx", &err), -EINVAL);
	CHECK_INT(mkdir(in(&f, "d.xlsx"), 0755), 0);
	CHECK_INT(report_write(f.db, &f.run, 1, in(&f, "d.xlsx"), &err), -EINVAL);
	CHECK_INT(rmdir(in(&f, "d.xlsx")), 0);
	CHECK_INT(report_write(f.db, &f.run, 1, in(&f, "no/such/a.txt"), &err), -ENOENT);
	CHECK_INT(report_write(f.db, &f.run, 0, in(&f, "a.txt"), &err), -EINVAL);
	finish(&f);
}

TEST(a_link_stays_a_link)
{
	struct fix_opts o = { 0 };
	struct buf b = BUF_INIT;
	struct stat st;
	struct fix f;

	DO(fix_open(&f));
	DO(fix_run(&f, &o));
	seal(&f);
	DO(put_old(&f, "a.xlsx"));
	CHECK_INT(symlink("a.xlsx", in(&f, "link.xlsx")), 0);
	DO(write_ok(&f, "link.xlsx"));
	CHECK(!lstat(in(&f, "link.xlsx"), &st) && S_ISLNK(st.st_mode));
	DO(read_back(&f, "a.xlsx", &b));
	CHECK(b.len > 1000);
	buf_release(&b);
	finish(&f);
}

TEST(the_sheets_are_listed)
{
	const char *const *s = report_sheets();
	unsigned n = 0, iops = 0;

	for (; s[n]; n++)
		iops += !strcmp(s[n], "iops");
	CHECK(n >= 10);
	CHECK_INT(iops, 1);
}

TEST_MAIN
