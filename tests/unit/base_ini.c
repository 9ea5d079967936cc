/* SPDX-License-Identifier: MIT */
/* ini files as sections, and what a drive is rated to take. */
#include "pts/base/ini.h"
#include "pts/base/units.h"
#include "tests/test.h"

static int read_ini(const char *text, struct arena *a, struct ini_file *f, struct err *err)
{
	*err = (struct err){ "" };
	return ini_sections("x.ini", text, strlen(text), a, f, err);
}

TEST(sections_with_their_pairs_and_lines)
{
	struct arena a = ARENA_INIT;
	struct ini_file f;
	struct err err;

	CHECK(!read_ini(
		"\xef\xbb\xbf# c\r\n[ one ]\r\nk = v = w\r\n; c\r\n[empty]\n[one]\nk=2\nl\t=\t3\n",
		&a, &f, &err));
	CHECK_INT(f.n, 3);
	CHECK_STR(f.v[0].name, "one");
	CHECK_INT(f.v[0].line, 2);
	CHECK_INT(f.v[0].n, 1);
	CHECK_STR(ini_pair(&f.v[0], "k")->value, "v = w");
	CHECK_INT(ini_pair(&f.v[0], "k")->line, 3);
	CHECK_STR(f.v[1].name, "empty");
	CHECK_INT(f.v[1].n, 0);
	CHECK_STR(f.v[2].name, "one"); /* again: what that means is for the caller */
	CHECK_STR(ini_pair(&f.v[2], "l")->value, "3");
	CHECK(!ini_pair(&f.v[2], "m"));
	arena_release(&a);
}

TEST(many_sections_and_pairs)
{
	struct arena a = ARENA_INIT;
	struct ini_file f;
	struct err err;
	char *text = malloc(1 << 20);
	size_t n = 0;

	for (int i = 0; i < 300; i++) {
		n += (size_t)snprintf(text + n, 64, "[s%d]\n", i);
		for (int k = 0; k < i % 40; k++)
			n += (size_t)snprintf(text + n, 64, "k%d = %d\n", k, k);
	}
	CHECK_MSG(!read_ini(text, &a, &f, &err), "%s", err.msg);
	CHECK_INT(f.n, 300);
	CHECK_INT(f.v[39].n, 39);
	CHECK_STR(ini_pair(&f.v[39], "k38")->value, "38");
	CHECK_STR(f.v[299].name, "s299");
	arena_release(&a);
	free(text);
}

static void refused(const char *text, const char *wants)
{
	struct arena a = ARENA_INIT;
	struct ini_file f;
	struct err err;

	CHECK_INT(read_ini(text, &a, &f, &err), -22);
	CHECK_STR(err.msg, wants);
	arena_release(&a);
}

TEST(mistakes_name_their_line)
{
	DO(refused("k = 1\n[s]\n", "x.ini:1: 'k' stands before the first [section]"));
	DO(refused("[s]\nk = 1\nk = 2\n", "x.ini:3: 'k' was given in line 2 already"));
	DO(refused("[s]\nk =\n", "x.ini:2: 'k' has no value"));
	DO(refused("[s]\n= 1\n", "x.ini:2: no key before '='"));
	DO(refused("[s\n", "x.ini:1: section without ']': [s"));
	DO(refused("\n[]\n", "x.ini:2: section without a name"));
}

TEST(keys_that_are_not_known)
{
	static const char *const keys[] = { "price", "power_w", NULL };
	struct arena a = ARENA_INIT;
	struct ini_file f;
	struct err err;

	CHECK(!read_ini("[s]\nprice = 1\nprise = 2\n", &a, &f, &err));
	CHECK_INT(ini_only(&f, &f.v[0], keys, &err), -22);
	CHECK_STR(err.msg, "x.ini:3: unknown key 'prise' (did you mean 'price'?)");
	CHECK(!read_ini("[s]\nprice = 1\npower_w = 2\n", &a, &f, &err));
	CHECK_INT(ini_only(&f, &f.v[0], keys, &err), 0);
	arena_release(&a);
}

TEST(what_a_drive_is_rated_to_take)
{
	static const char *const bad[] = { "",	    "0",   "-1", "1 GB",  "x",
					   "1.2.3", "1e3", "TB", "1 TB x" };
	double v = 0;

	CHECK(!parse_rated("1200", &v) && v == 1200e12);
	CHECK(!parse_rated("1200 TB", &v) && v == 1200e12);
	CHECK(!parse_rated("3.5 PB", &v) && v == 3.5e15);
	CHECK(!parse_rated("3.5PBW", &v) && v == 3.5e15);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_MSG(parse_rated(bad[i], &v), "%s", bad[i]);
}

TEST_MAIN
