/* SPDX-License-Identifier: MIT */
/* The HTML report and the folder of CSV: markup that strings cannot break, numbers as in the workbook, charts of odd data. */
#include <dirent.h>
#include <sys/wait.h>

#include "pts/base/buf.h"
#include "reports/grid_html.h"
#include "reports/plot3d.h"
#include "reports/report.h"
#include "reports/report_csv.h"
#include "tests/unit/reports_fixture.h"

#define HTML_LINT "tests/tools/html_lint.py"

/* Exit code of the lint over a document, what it says in @out; -1: no Python here. */
static int lint_page(const struct buf *page, struct buf *out)
{
	char name[] = "/tmp/pts-html-XXXXXX", chunk[4096];
	int fd[2], status, file = mkstemp(name);
	ssize_t n = file < 0 ? -1 : write(file, page->s, page->len);

	if (file >= 0)
		close(file);
	if (n != (ssize_t)page->len || access("/usr/bin/python3", X_OK) || pipe(fd))
		return -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		dup2(fd[1], 2);
		close(fd[0]);
		execl("/usr/bin/python3", "python3", HTML_LINT, name, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	while ((n = read(fd[0], chunk, sizeof chunk)) > 0)
		buf_add(out, chunk, (size_t)n);
	close(fd[0]);
	waitpid(pid, &status, 0);
	unlink(name);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void page_is_sound(const struct grid *g)
{
	struct buf page = BUF_INIT, said = BUF_INIT;

	CHECK_MSG(!g->rc, "%s", g->err.msg);
	grid_write_html(g, "{\"x\":\"</script><b>\"}", &page);
	int rc = lint_page(&page, &said);
	CHECK_MSG(rc <= 0, "%s", buf_cstr(&said));
	buf_release(&page);
	buf_release(&said);
}

TEST(text_is_escaped_and_clean)
{
	struct buf b = BUF_INIT;

	html_text(&b, "<&>\"' \xff\x01 \xc2\xb5s");
	CHECK_STR(buf_cstr(&b), "&lt;&amp;&gt;&quot;&#39; ?? \xc2\xb5s");
	buf_release(&b);
}

TEST(numbers_have_groups_only_where_the_format_has)
{
	char s[80];

	CHECK_STR(html_num(s, sizeof s, NUM_GROUP1, 1234567.25), "1,234,567.2");
	CHECK_STR(html_num(s, sizeof s, NUM_GROUP, 999), "999");
	CHECK_STR(html_num(s, sizeof s, NUM_GROUP, 1000), "1,000");
	CHECK_STR(html_num(s, sizeof s, NUM_GROUP, -123456), "-123,456");
	CHECK_STR(html_num(s, sizeof s, NUM_INT, 1234567), "1234567");
	CHECK_STR(html_num(s, sizeof s, NUM_PCT1, 0.1234), "12.3%");
	CHECK_STR(html_num(s, sizeof s, NUM_GROUP, NAN), "n/a");
	CHECK_STR(plot_num(s, sizeof s, NUM_GENERAL, 1048576), "1,048,576");
	CHECK_STR(plot_num(s, sizeof s, NUM_GENERAL, 0.25), "0.25");
}

TEST(every_look_can_be_read)
{
	CHECK_NEAR(html_contrast(0, 0xffffff), 21, 1e-9);
	CHECK(html_contrast(0x808080, 0xededed) < 4.5); /* grey on grey, as the workbook has it */
	CHECK_INT(html_ink(0x123456, 0xffffff), 0x123456);
	for (enum look k = 0; k < LOOK_MAX; k++) {
		uint32_t ground = look_def(k)->bg == 0xffffffff ? 0xffffff : look_def(k)->bg;
		uint32_t ink = html_ink(look_def(k)->color, ground);
		CHECK_MSG(html_contrast(ink, ground) >= 4.5, "%s: %06x on %06x", look_def(k)->name,
			  ink, ground);
	}
}

TEST(ticks_of_an_axis)
{
	struct axis a = { .min = NAN, .max = NAN, .unit = NAN };
	struct scale s;

	scale_init(&s, &a, 3, 97, true);
	CHECK_NEAR(s.min + 1, 1, 1e-12);
	CHECK_NEAR(s.max, 100, 1e-12);
	CHECK(s.n_ticks >= 3 && s.n_ticks <= 11);
	scale_init(&s, &a, 5, 5, false); /* all equal */
	CHECK(s.max > s.min && s.n_ticks >= 2);
	scale_init(&s, &a, INFINITY, -INFINITY, false); /* none */
	CHECK(s.max > s.min && s.n_ticks >= 2);
	a.unit = 1e-9; /* a million ticks */
	scale_init(&s, &a, 0, 1000, true);
	CHECK(s.n_ticks >= 2 && s.n_ticks <= TICKS_MAX);
	a = (struct axis){ .min = NAN, .max = NAN, .unit = NAN, .log = true };
	scale_init(&s, &a, 12, 1.5e6, false);
	CHECK_NEAR(s.min, 10, 1e-12);
	CHECK_NEAR(s.max, 1e7, 1e-12);
	CHECK_INT(s.n_ticks, 7);
	s.from = 0;
	s.to = 60;
	CHECK_NEAR(scale_at(&s, 1e4), 30, 1e-9);
	scale_init(&s, &a, 120, 700, false); /* one decade: 100 200 500 1000 */
	CHECK_INT(s.n_ticks, 4);
}

TEST(heat_is_even_over_powers_of_ten_and_leaves_warnings_alone)
{
	static const double v[] = { 10, 100, 1000 };
	static const uint32_t rgb[] = { 0xf8cbad, 0xfff2cc, 0xa9d18e };
	uint32_t got;
	struct grid g;

	grid_init(&g);
	struct grid_sheet *s = grid_sheet(&g, "T", ROLE_PAGE);
	for (uint32_t i = 0; i < 3; i++)
		put_num(s, AT(0, i), STYLE(LOOK_CELL, NUM_1), v[i]);
	put_num(s, AT(0, 3), STYLE(LOOK_WARN, NUM_1), 500);
	put_num(s, AT(1, 0), STYLE(LOOK_CELL, NUM_1), 5);
	grid_color_scale(s, AREA(0, 0, 0, 3), SCALE_GREEN_RED);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(html_heat(s, &s->cell[i], &got));
		CHECK_INT(got, rgb[i]);
	}
	CHECK(!html_heat(s, &s->cell[3], &got));
	CHECK(!html_heat(s, &s->cell[4], &got)); /* beside the scale */
	grid_release(&g);
}

static struct range put_range(struct grid_sheet *s, uint32_t col, const double *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (isfinite(v[i]))
			put_num(s, AT(i + 1, col), STYLE(LOOK_CELL, NUM_GENERAL), v[i]);
	return (struct range){ s->name, AREA(1, col, n ? n : 1, col) };
}

static const double odd[][5] = { { 1, 2, 3, 4, 5 },
				 { NAN, NAN, NAN, NAN, NAN },
				 { 0, 0, 0, 0, 0 },
				 { 7, NAN, 7, 7, 7 },
				 { -1e300, 1e300, 1e-300, 0, 1 } };

/* Every kind of chart with values that no axis likes. */
TEST(charts_of_odd_values)
{
	struct axis axis = { "<x> & \"y\"", .min = NAN, .max = NAN, .unit = NAN, .grid = true };
	const unsigned n = sizeof odd / sizeof odd[0];
	struct grid g;

	grid_init(&g);
	struct grid_sheet *page = grid_sheet(&g, "Page", ROLE_PAGE);
	struct grid_sheet *data = grid_sheet(&g, "D_x", ROLE_DATA);
	for (unsigned i = 0; i < 2 * n * 6; i++) {
		unsigned kind = i % 6, k = i / 6 % n;
		struct series s = { .name = "]]>--<!</title>",
				    .y = put_range(data, i < 60 ? i : 0, odd[k], i < 60 ? 5 : 0),
				    .color = 0xc00000,
				    .width = 1.5,
				    .markers = true,
				    .labels = true,
				    .named = i % 7 == 0,
				    .hatched = ~0ull };
		struct chart c = { .kind = (enum chart_kind)kind,
				   .title = "<script>alert(1)</script>",
				   .x = axis,
				   .y = axis,
				   .legend = (enum legend)(i % 4),
				   .row = i * 20,
				   .width_px = 20 + 60 * i,
				   .height_px = 10 * i,
				   .gap = 80,
				   .series = &s,
				   .n_series = 1 };
		c.y.log = i % 12 >= 6;
		grid_chart(page, &c);
	}
	CHECK_INT(page->n_charts, 2 * n * 6);
	DO(page_is_sound(&g));
	grid_release(&g);
}

TEST(the_same_drawing_calls_make_svg)
{
	struct plot3d p = { .n_x = 2, .n_z = 2, .width = 400, .height = 200, .x_title = "<x>" };
	struct buf b = BUF_INIT;

	p.y_title = p.z_title = "t";
	for (unsigned i = 0; i < 2; i++) {
		p.x_label[i] = "a&b";
		p.z_label[i] = "c";
		p.value[i][0] = 1 + i;
		p.value[i][1] = NAN;
	}
	plot3d_svg(&p, &b);
	unsigned polygons = 0;
	for (const char *s = buf_cstr(&b); (s = strstr(s, "Z\" fill=")); s++)
		polygons++;
	CHECK_INT(polygons, 3 + 2 * 3); /* the room, and three faces of each column */
	CHECK(strstr(buf_cstr(&b), "a&amp;b") && strstr(buf_cstr(&b), "&lt;x&gt;"));
	CHECK(!strstr(buf_cstr(&b), "nan"));
	buf_release(&b);
}

static void hostile_page(const struct fix *f, const char *model)
{
	char path[160];
	struct err err = { "" };
	struct buf page = BUF_INIT, said = BUF_INIT;

	snprintf(path, sizeof path, "%s/a.html", f->dir);
	CHECK_MSG(!report_write(f->db, &f->run, 1, path, &err), "%s", err.msg);
	CHECK(!buf_read_file(&page, path, 1u << 26));
	int rc = lint_page(&page, &said);
	CHECK_MSG(rc <= 0, "%s: %s", model, buf_cstr(&said));
	CHECK(!strstr(buf_cstr(&page), "<Title>"));
	CHECK(!strstr(buf_cstr(&page), "<img src=x"));
	unlink(path);
	buf_release(&page);
	buf_release(&said);
}

TEST(strings_of_devices_stay_text)
{
	static const char *const model[] = { "=1+1",
					     "\"><img src=x onerror=alert(1)>",
					     "</style></title></script>\xff\xfe",
					     "line\nbreak\ttab javascript:alert(1)",
					     "&amp;&lt;'\"`$\\ --><!-- ]]>",
					     "forty characters of a model number 000001" };
	struct fix_iops p = { .rounds = 5 };
	struct fix f;

	DO(fix_open(&f));
	for (unsigned i = 0; i < sizeof model / sizeof model[0]; i++) {
		struct fix_opts o = { .model = model[i],
				      .serial = model[(i + 1) % 6],
				      .note = "</script>" };
		DO(fix_run(&f, &o));
		DO(fix_test(&f, "iops", "<Title> & \"quotes\" \xff", "IOPS<"));
		DO(fix_iops(&f, &p));
		CHECK(!store_deviation(f.s, f.run, "=1+1", "=cmd|' /C calc'!A0 \x01\xfe <&>",
				       &f.err));
		DO(fix_end(&f, "done"));
	}
	store_close(f.s);
	f.s = NULL;
	for (f.run = 1; f.run <= 6; f.run++)
		DO(hostile_page(&f, model[f.run - 1]));
	fix_close(&f);
}

/* ---- CSV ---- */

TEST(csv_as_the_standard_has_it)
{
	struct buf b = BUF_INIT;
	struct grid g;

	grid_init(&g);
	struct grid_sheet *s = grid_sheet(&g, "T", ROLE_PAGE);
	put_text(s, AREA(0, 0, 0, 1), LOOK_HEAD, "two, \"wide\"");
	put_text(s, AT(0, 2), LOOK_HEAD, "=1+1");
	put_num(s, AT(2, 1), STYLE(LOOK_CELL, NUM_INT), 0.1);
	put_num(s, AT(2, 2), STYLE(LOOK_CELL, NUM_GROUP1), 1234567.25);
	put_formula(s, AT(3, 0), STYLE(LOOK_CELL, NUM_1), 1.0 / 3, "=1/3");
	put_num(s, AT(3, 2), STYLE(LOOK_CELL, NUM_1), NAN);
	grid_write_csv(s, &b);
	CHECK_STR(buf_cstr(&b), "\"two, \"\"wide\"\"\",,'=1+1\r\n,,\r\n,0.1,1234567.25\r\n"
				"0.3333333333333333,,n/a\r\n");
	buf_release(&b);
	grid_release(&g);
}

/* A text that a spreadsheet would compute when it opens the file gets a ' before it; a number or a dash stays. */
TEST(no_text_of_a_csv_is_a_formula)
{
	static const struct {
		const char *text, *csv;
	} t[] = {
		{ "=1+1", "'=1+1\r\n" },
		{ "-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0\r\n" },
		{ "@SUM(A1,A2)", "\"'@SUM(A1,A2)\"\r\n" },
		{ "+A1", "'+A1\r\n" },
		{ "--quick: short", "'--quick: short\r\n" },
		{ "-", "-\r\n" },
		{ "-5.25", "-5.25\r\n" },
		{ "a=b", "a=b\r\n" },
		{ "\t=1", "' =1\r\n" },
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct buf b = BUF_INIT;
		struct grid g;

		grid_init(&g);
		put_text(grid_sheet(&g, "T", ROLE_PAGE), AT(0, 0), LOOK_CELL, t[i].text);
		grid_write_csv(g.first, &b);
		CHECK_STR(buf_cstr(&b), t[i].csv);
		buf_release(&b);
		grid_release(&g);
	}
}

TEST(names_of_sheets_are_no_paths)
{
	static const char *const names[] = { "..", "-rf", "a b", "A_b", "x<y>|z", "README" };
	char dir[] = "/tmp/pts-csv-XXXXXX", path[300];
	unsigned files = 0;
	struct err err = { "" };
	struct dirent *e;
	struct grid g;

	grid_init(&g);
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		put_text(grid_sheet(&g, names[i], ROLE_PAGE), AT(0, 0), LOOK_CELL, "x");
	CHECK(mkdtemp(dir));
	CHECK_MSG(!report_csv(&g, dir, &err), "%s", err.msg);
	DIR *d = opendir(dir);
	CHECK(d);
	while ((e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		CHECK_MSG(strspn(e->d_name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01"
					    "23456789_.-") == strlen(e->d_name) &&
				  *e->d_name != '-',
			  "%s", e->d_name);
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		CHECK(!unlink(path));
		files++;
	}
	closedir(d);
	CHECK(!rmdir(dir));
	CHECK_INT(files, 6 + 2);
	grid_release(&g);
}

TEST_MAIN
