/* SPDX-License-Identifier: MIT */
/* Sheets as data, pictures, and what must never reach a workbook. */
#include <unistd.h>

#include "reports/canvas.h"
#include "reports/grid.h"
#include "reports/plot3d.h"
#include "reports/xlsx_check.h"
#include "tests/unit/reports_lint.h"

struct book {
	struct grid g;
	char dir[64], path[96];
	struct err err;
};

static void book_open(struct book *b)
{
	memset(b, 0, sizeof *b);
	grid_init(&b->g);
	snprintf(b->dir, sizeof b->dir, "/tmp/pts-grid-XXXXXX");
	CHECK(mkdtemp(b->dir));
	snprintf(b->path, sizeof b->path, "%s/t.xlsx", b->dir);
}

static void book_close(struct book *b)
{
	grid_release(&b->g);
	unlink(b->path);
	rmdir(b->dir);
}

TEST(clean_keeps_good_utf8)
{
	struct arena a = ARENA_INIT;

	CHECK_STR(grid_clean(&a, "plain \"<&>' text"), "plain \"<&>' text");
	CHECK_STR(grid_clean(&a, "\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x98\x80"),
		  "\xc2\xb5s \xe2\x80\x93 \xf0\x9f\x98\x80");
	CHECK_STR(grid_clean(&a, "  padded   "), "padded");
	CHECK_STR(grid_clean(&a, ""), "");
	arena_release(&a);
}

TEST(clean_replaces_what_xml_cannot_hold)
{
	struct arena a = ARENA_INIT;

	CHECK_STR(grid_clean(&a, "a\xff"
				 "b"),
		  "a?b");
	CHECK_STR(grid_clean(&a, "\xc0\xaf"), "??"); /* overlong */
	CHECK_STR(grid_clean(&a, "\xed\xa0\x80"), "???"); /* surrogate */
	CHECK_STR(grid_clean(&a, "\xef\xbf\xbf"), "???"); /* U+FFFF */
	CHECK_STR(grid_clean(&a, "\xf8\x88\x80\x80\x80"), "?????");
	CHECK_STR(grid_clean(&a, "\xe2\x82"), "??"); /* ends in the middle */
	CHECK_STR(grid_clean(&a, "a\x01\x1f\x7fz"), "a???z");
	CHECK_STR(grid_clean(&a, "two\nlines\tand"), "two lines and");
	arena_release(&a);
}

TEST(names_of_sheets)
{
	struct grid g;

	grid_init(&g);
	CHECK_STR(grid_sheet(&g, "IOPS", ROLE_PAGE)->name, "IOPS");
	CHECK_STR(grid_sheet(&g, "iops", ROLE_PAGE)->name, "iops 2");
	CHECK_STR(grid_sheet(&g, "a:b\\c/d?e*f[g]h'", ROLE_PAGE)->name, "a_b_c_d_e_f_g_h_");
	CHECK_INT(strlen(grid_sheet(&g, "a name of more than thirty-one characters", ROLE_PAGE)
				 ->name),
		  31);
	g.prefix = "r12 ";
	CHECK_STR(grid_sheet(&g, "IOPS", ROLE_PAGE)->name, "r12 IOPS");
	CHECK(grid_find(&g, "IOPS") && !strcmp(grid_find(&g, "IOPS")->name, "r12 IOPS"));
	CHECK(!grid_find(&g, "TP"));
	CHECK_INT(g.rc, 0);
	grid_release(&g);
}

TEST(pages_stand_before_data)
{
	struct grid g;

	grid_init(&g);
	grid_sheet(&g, "one", ROLE_PAGE);
	grid_sheet(&g, "D", ROLE_DATA);
	grid_sheet(&g, "two", ROLE_PAGE);
	CHECK_STR(g.first->name, "one");
	CHECK_STR(g.first->next->name, "two");
	CHECK_STR(g.first->next->next->name, "D");
	grid_release(&g);
}

TEST(overlapping_areas_are_refused)
{
	struct book b;

	DO(book_open(&b));
	struct grid_sheet *s = grid_sheet(&b.g, "S", ROLE_PAGE);
	put_text(s, AREA(2, 3, 4, 6), LOOK_CELL, "merged");
	CHECK_INT(b.g.rc, 0);
	put_text(s, AT(4, 6), LOOK_CELL, "inside");
	CHECK(b.g.rc < 0);
	CHECK(strstr(b.g.err.msg, "overlap"));
	CHECK(grid_write_xlsx(&b.g, b.path, &b.err) < 0);
	CHECK(access(b.path, F_OK));
	book_close(&b);
}

TEST(bad_areas_are_refused)
{
	struct grid g;

	grid_init(&g);
	struct grid_sheet *s = grid_sheet(&g, "S", ROLE_PAGE);
	put_num(s, AREA(5, 0, 4, 0), STYLE(LOOK_CELL, NUM_INT), 1);
	CHECK(g.rc < 0);
	grid_release(&g);
	grid_init(&g);
	s = grid_sheet(&g, "S", ROLE_PAGE);
	put_num(s, AT(0, 64), STYLE(LOOK_CELL, NUM_INT), 1);
	CHECK(g.rc < 0);
	grid_release(&g);
}

TEST(references)
{
	struct grid g;

	grid_init(&g);
	CHECK_STR(grid_ref(&g, AT(0, 0), false), "A1");
	CHECK_STR(grid_ref(&g, AT(9, 25), false), "Z10");
	CHECK_STR(grid_ref(&g, AT(9, 26), true), "$AA$10");
	CHECK_STR(grid_ref(&g, AREA(1, 2, 5, 54), false), "C2:BC6");
	CHECK_STR(grid_data_ref(&g, "D_x", 7, 2), "'D_x'!C8");
	g.max_rows = 10; /* nine rows of data a part, under the head row */
	CHECK_STR(grid_data_ref(&g, "D_x", 9, 0), "'D_x'!A10");
	CHECK_STR(grid_data_ref(&g, "D_x", 10, 0), "'D_x (2)'!A2");
	CHECK_STR(grid_data_ref(&g, "D_x", 19, 0), "'D_x (3)'!A2");
	grid_release(&g);
}

TEST(numbers_as_text)
{
	char t[64];

	CHECK_STR(numfmt_text(t, sizeof t, NUM_GROUP1, 183710.64), "183710.6");
	CHECK_STR(numfmt_text(t, sizeof t, NUM_4, 0.01413), "0.0141");
	CHECK_STR(numfmt_text(t, sizeof t, NUM_PCT2, 0.0063), "0.63%");
	CHECK_STR(numfmt_text(t, sizeof t, NUM_INT, -3), "-3");
	CHECK_STR(numfmt_text(t, sizeof t, NUM_GROUP, NAN), "n/a");
	CHECK_STR(numfmt_text(t, sizeof t, NUM_GROUP, INFINITY), "n/a");
}

/* What device strings and arithmetic may throw at a workbook, read back by the lint. */
TEST(hostile_cells_make_a_sound_workbook)
{
	struct buf out = BUF_INIT;
	char big[40000];
	struct book b;

	DO(book_open(&b));
	struct grid_sheet *s = grid_sheet(&b.g, "S", ROLE_PAGE);
	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = 0;
	put_text(s, AT(0, 0), LOOK_CELL, "=1+1");
	put_text(s, AT(1, 0), LOOK_CELL, "a\xff<&>\"'\x01");
	put_text(s, AT(2, 0), LOOK_CELL, big);
	put_num(s, AT(3, 0), STYLE(LOOK_CELL, NUM_GROUP), NAN);
	put_num(s, AT(4, 0), STYLE(LOOK_CELL, NUM_GROUP), -INFINITY);
	put_formula(s, AT(5, 0), STYLE(LOOK_FORMULA, NUM_GROUP), NAN, "=0/0");
	put_formula(s, AT(6, 0), STYLE(LOOK_FORMULA, NUM_GROUP), 0.1, "=A8/10");
	put_num(s, AT(7, 0), STYLE(LOOK_CELL, NUM_GENERAL), 1e300);
	put_int(s, AT(8, 0), LOOK_CELL, INT64_MAX);
	put_text(s, AT(9, 0), LOOK_CELL, "http://a.example/b");
	put_link(s, AT(10, 0), "to itself", "S");
	CHECK_INT(b.g.rc, 0);
	CHECK_MSG(!grid_write_xlsx(&b.g, b.path, &b.err), "%s", b.err.msg);
	int rc = lint(&out, b.path, NULL, NULL);
	if (rc < 0) {
		book_close(&b);
		SKIP("no python3");
	}
	CHECK_MSG(rc == 0, "%s", buf_cstr(&out));
	buf_release(&out);
	CHECK_INT(lint(&out, "--cells", b.path, "S"), 0);
	const char *t = buf_cstr(&out);
	CHECK(strstr(t, "A1\t=1+1\n"));
	CHECK(strstr(t, "A2\ta?<&>\"'?\n"));
	CHECK(strstr(t, "A4\tn/a\n") && strstr(t, "A5\tn/a\n") && strstr(t, "A6\tn/a\n"));
	CHECK(strstr(t, "A7\t0.1\n"));
	CHECK(strstr(t, "A9\t9223372036854775807\n")); /* as text: no digit is lost */
	CHECK(strstr(t, "A10\thttp://a.example/b\n"));
	buf_release(&out);
	book_close(&b);
}

TEST(long_data_goes_on_in_a_further_sheet)
{
	struct buf out = BUF_INIT;
	struct book b;

	DO(book_open(&b));
	b.g.max_rows = 10;
	struct grid_sheet *s = grid_sheet(&b.g, "D_x", ROLE_DATA);
	s->filter_cols = 2;
	put_text(s, AT(0, 0), LOOK_HEAD, "n");
	put_text(s, AT(0, 1), LOOK_HEAD, "square");
	for (int i = 1; i <= 25; i++) {
		put_num(s, AT(i, 0), STYLE(LOOK_CELL, NUM_INT), i);
		put_num(s, AT(i, 1), STYLE(LOOK_CELL, NUM_INT), i * i);
	}
	CHECK_MSG(!grid_write_xlsx(&b.g, b.path, &b.err), "%s", b.err.msg);
	int rc = lint(&out, b.path, NULL, NULL);
	if (rc < 0) {
		book_close(&b);
		SKIP("no python3");
	}
	CHECK_MSG(rc == 0, "%s", buf_cstr(&out));
	CHECK(strstr(buf_cstr(&out), "3 sheets"));
	buf_release(&out);
	CHECK_INT(lint(&out, "--cells", b.path, "D_x (3)"), 0);
	CHECK_MSG(strstr(buf_cstr(&out), "A1\tn\n") && strstr(buf_cstr(&out), "A2\t19.0\n") &&
			  strstr(buf_cstr(&out), "B8\t625.0\n"),
		  "%s", buf_cstr(&out));
	CHECK(strstr(buf_cstr(&out), "C1\tsheet 3 of 3: the last rows of 'D_x'\n"));
	buf_release(&out);
	CHECK_INT(lint(&out, "--cells", b.path, "D_x"), 0);
	CHECK(strstr(buf_cstr(&out), "C1\tsheet 1 of 3: its rows go on in 'D_x (2)'\n"));
	buf_release(&out);
	book_close(&b);
}

/* U49: rows beyond what a sheet can hold. */
TEST(U49_1100000_rows_are_all_there_on_two_sheets)
{
	enum { N = 1100000 };
	struct buf out = BUF_INIT;
	struct book b;

	if (!getenv("PTS_LONG"))
		SKIP("only in check-long");
	DO(book_open(&b));
	struct grid_sheet *s = grid_sheet(&b.g, "D_x", ROLE_DATA);
	put_text(s, AT(0, 0), LOOK_HEAD, "n");
	for (int i = 1; i <= N; i++)
		put_num(s, AT(i, 0), STYLE(LOOK_CELL, NUM_INT), i);
	CHECK_MSG(!grid_write_xlsx(&b.g, b.path, &b.err), "%s", b.err.msg);
	int rc = lint(&out, "--totals", b.path, NULL);
	if (rc < 0) {
		book_close(&b);
		SKIP("no python3");
	}
	CHECK_INT(rc, 0);
	/* the head row is on both; sums of 1 to 1048575 and of the rest: together N (N + 1) / 2 */
	CHECK_STR(buf_cstr(&out), "D_x\t1048576\t549755289600\nD_x (2)\t51426\t55245260400\n");
	CHECK(549755289600ll + 55245260400ll == (long long)N * (N + 1) / 2);
	buf_release(&out);
	book_close(&b);
}

TEST(text_output_aligns_rows_of_one_shape)
{
	struct buf out = BUF_INIT;
	struct grid g;

	grid_init(&g);
	struct grid_sheet *s = grid_sheet(&g, "S", ROLE_PAGE);
	put_text(s, AREA(0, 0, 0, 5), LOOK_TITLE, "Title");
	put_text(s, AT(2, 0), LOOK_HEAD, "name");
	put_text(s, AT(2, 1), LOOK_HEAD, "IOPS");
	put_text(s, AT(3, 0), LOOK_CELL, "a longer name");
	put_num(s, AT(3, 1), STYLE(LOOK_CELL, NUM_GROUP1), 12.34);
	put_text(s, AT(4, 0), LOOK_CELL, "b");
	put_formula(s, AT(4, 1), STYLE(LOOK_FORMULA, NUM_GROUP1), 1234567.89, "=1");
	grid_sheet(&g, "D_x", ROLE_DATA);
	grid_write_text(&g, &out);
	CHECK_STR(buf_cstr(&out), "======== S ========\n"
				  "Title\n"
				  "\n"
				  "name           IOPS\n"
				  "a longer name       12.3\n"
				  "b              1234567.9\n"
				  "\nD_x: 0 rows, in the workbook (.xlsx)\n");
	buf_release(&out);
	grid_release(&g);
}

TEST(polygons_cover_what_they_should)
{
	struct point2 square[4] = { { 2, 2 }, { 6.5, 2 }, { 6.5, 6 }, { 2, 6 } };
	struct canvas c;

	canvas_init(&c, 10, 10);
	canvas_polygon(&c, square, 4, 0x000000);
	CHECK_INT(c.rgb[(3 * 10 + 3) * 3], 0); /* inside */
	CHECK_INT(c.rgb[(1 * 10 + 3) * 3], 255); /* above */
	CHECK_INT(c.rgb[(3 * 10 + 1) * 3], 255); /* left of it */
	CHECK_INT(c.rgb[(3 * 10 + 6) * 3], 128); /* half a pixel */
	CHECK_INT(c.rgb[(6 * 10 + 3) * 3], 255); /* below */
	canvas_polygon(&c, (struct point2[3]){ { -5, -5 }, { 40, 5 }, { -5, 40 } }, 3, 0xff0000);
	CHECK_INT(c.rgb[(5 * 10 + 5) * 3], 255); /* clipped at the edges, and no crash */
	CHECK_INT(c.rgb[(5 * 10 + 5) * 3 + 1], 0);
	canvas_release(&c);
}

TEST(every_letter_of_the_reports_has_a_shape)
{
	double w;

	for (const char *s =
		     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,-/%():+=";
	     *s; s++)
		CHECK_MSG(*glyph_path(*s, &w) && w > 0, "no shape for '%c'", *s);
	CHECK_STR(glyph_path('\xff', &w), "");
}

static void picture(double scale, struct buf *out)
{
	struct plot3d p = { .n_x = 3,
			    .n_z = 2,
			    .x_title = "x",
			    .y_title = "y",
			    .z_title = "z",
			    .width = 400,
			    .height = 300 };

	for (unsigned i = 0; i < 3; i++)
		p.x_label[i] = "1";
	for (unsigned i = 0; i < 2; i++) {
		p.z_label[i] = "2";
		p.z_color[i] = 0x0000ff;
	}
	for (unsigned i = 0; i < 6; i++)
		p.value[i / 2][i % 2] = i == 4 ? NAN : scale * i;
	plot3d_png(&p, out);
}

TEST(pictures_are_pngs_and_repeat)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	const double scales[] = { 1, 0, 1e-12, 1e18, NAN };

	for (unsigned i = 0; i < sizeof scales / sizeof scales[0]; i++) {
		picture(scales[i], &a);
		picture(scales[i], &b);
		CHECK(a.len > 1000 && a.len == b.len && !memcmp(a.s, b.s, a.len));
		CHECK(!memcmp(a.s, "\x89PNG\r\n\x1a\n", 8));
		CHECK(!memcmp(a.s + a.len - 8, "IEND", 4));
		CHECK_INT((unsigned char)a.s[19] | (unsigned char)a.s[18] << 8, 400);
		buf_release(&a);
		buf_release(&b);
	}
}

TEST(steps_of_axes_are_round)
{
	CHECK_NEAR(nice_step(1041000), 250000, 1e-12);
	CHECK_NEAR(nice_step(6.7), 2, 1e-12);
	CHECK_NEAR(nice_step(0.09), 0.02, 1e-12);
	CHECK_NEAR(nice_step(0), 1, 1e-12);
	for (double v = 1e-6; v < 1e9; v *= 1.07)
		CHECK_MSG(v / nice_step(v) > 2.4 && v / nice_step(v) < 6.1, "%g: %g", v,
			  nice_step(v));
}

TEST(a_cut_off_part_is_found)
{
	struct book b;

	DO(book_open(&b));
	put_text(grid_sheet(&b.g, "S", ROLE_PAGE), AT(0, 0), LOOK_CELL, "text");
	CHECK_MSG(!grid_write_xlsx(&b.g, b.path, &b.err), "%s", b.err.msg);
	CHECK_INT(xlsx_check(b.path, &b.err), 0);
	CHECK_INT(truncate(b.path, 2000), 0);
	CHECK(xlsx_check(b.path, &b.err) < 0);
	CHECK_INT(truncate(b.path, 0), 0);
	CHECK(xlsx_check(b.path, &b.err) < 0);
	book_close(&b);
}

TEST_MAIN
