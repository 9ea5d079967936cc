/* SPDX-License-Identifier: MIT */
/* Strings, errors, arena, JSON, tables, words. */
#include <errno.h>
#include <unistd.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "pts/base/err.h"
#include "pts/base/json.h"
#include "pts/base/rng.h"
#include "pts/base/table.h"
#include "pts/base/words.h"
#include "tests/test.h"

TEST(err_first_message_wins)
{
	struct err e = { "" };

	CHECK_INT(err_set(&e, -EINVAL, "bad %d", 1), -EINVAL);
	CHECK_INT(err_set(&e, -EIO, "worse"), -EIO);
	CHECK_STR(e.msg, "bad 1");
	CHECK_INT(err_prefix(&e, -EINVAL, "file:%d", 7), -EINVAL);
	CHECK_STR(e.msg, "file:7: bad 1");
	CHECK_INT(err_set(NULL, -EIO, "nobody listens"), -EIO);
}

TEST(err_long_messages_are_cut)
{
	struct err e = { "" };
	char big[3000];

	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	CHECK_INT(err_set(&e, -EINVAL, "%s", big), -EINVAL);
	CHECK_INT(strlen(e.msg), sizeof e.msg - 1);
	CHECK_INT(err_prefix(&e, -EINVAL, "%s", big), -EINVAL);
	CHECK_INT(strlen(e.msg), sizeof e.msg - 1);
}

TEST(buf_grows)
{
	struct buf b = BUF_INIT;
	char *s;

	CHECK_STR(buf_cstr(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, "%03d,", i);
	CHECK_INT(b.len, 4000);
	CHECK(!strncmp(buf_cstr(&b) + 3996, "999,", 5));
	s = buf_take(&b);
	CHECK_INT(strlen(s), 4000);
	free(s);
	CHECK(!b.s && !b.len);
	s = buf_take(&b);
	CHECK_STR(s, "");
	free(s);
}

TEST(buf_reads_files)
{
	char path[] = "/tmp/pts-unit.XXXXXX";
	struct buf b = BUF_INIT;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, "abc\0d", 5), 5);
	close(fd);
	CHECK_INT(buf_read_file(&b, path, 5), 0);
	CHECK_INT(b.len, 5);
	CHECK(!memcmp(b.s, "abc\0d", 6));
	CHECK_INT(buf_read_file(&b, path, 4), -EFBIG);
	unlink(path);
	CHECK_INT(buf_read_file(&b, path, 5), -ENOENT);
	CHECK_INT(buf_read_file(&b, "/tmp", 5), -EISDIR);
	buf_release(&b);
}

TEST(arena_is_zeroed_and_aligned)
{
	struct arena a = ARENA_INIT;
	struct rng r;

	rng_init(&r, 1);
	for (int i = 0; i < 3000; i++) {
		size_t n = rng_below(&r, i % 100 ? 200 : 100000);
		unsigned char *p = arena_alloc(&a, n);

		CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
		for (size_t k = 0; k < n; k++)
			CHECK(p[k] == 0);
		memset(p, 0xff, n);
	}
	CHECK_STR(arena_strdup(&a, "text"), "text");
	CHECK_STR(arena_strndup(&a, "text", 2), "te");
	CHECK_STR(arena_strndup(&a, "te", 20), "te");
	CHECK_STR(arena_fmt(&a, "%s-%d", "x", 5), "x-5");
	CHECK(!memcmp(arena_memdup(&a, "ab", 2), "ab", 2));
	arena_release(&a);
	CHECK(!a.head);
}

TEST(embed_finds_by_name)
{
	static const struct embed list[] = { { "a.pts", "A", 1 }, { "b.pts", "B", 1 }, { 0 } };

	CHECK_STR(embed_find(list, "b.pts")->data, "B");
	CHECK(!embed_find(list, "c.pts"));
}

TEST(json_document)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.x/1");
	json_array(&j, "list");
	json_int(&j, NULL, -1);
	json_uint(&j, NULL, UINT64_MAX);
	json_num(&j, NULL, 0.1);
	json_num(&j, NULL, NAN);
	json_num(&j, NULL, INFINITY);
	json_end_array(&j);
	json_object(&j, "none");
	json_end_object(&j);
	json_bool(&j, "yes", true);
	json_null(&j, "null");
	json_str(&j, "nothing", NULL);
	json_raw(&j, "raw", "[1,{}]");
	json_end_object(&j);
	CHECK_STR(buf_cstr(&b),
		  "{\"schema\":\"pts.x/1\",\"list\":[-1,18446744073709551615,0.1,null,null],"
		  "\"none\":{},\"yes\":true,\"null\":null,\"nothing\":null,\"raw\":[1,{}]}");
	CHECK_INT(j.depth, 0);
	buf_release(&b);
}

static void escaped(const char *in, const char *out)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	char got[256];

	json_str(&j, NULL, in);
	snprintf(got, sizeof got, "%s", buf_cstr(&b));
	buf_release(&b);
	CHECK_STR(got, out);
}

TEST(json_escapes)
{
	DO(escaped("a\"b\\c/d", "\"a\\\"b\\\\c/d\""));
	DO(escaped("\b\t\n\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\""));
	DO(escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		   "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""));
}

#define FFFD "\xef\xbf\xbd"
TEST(json_bad_utf8)
{
	DO(escaped("\x80", "\"" FFFD "\"")); /* continuation alone */
	DO(escaped("\xc3", "\"" FFFD "\"")); /* cut off */
	DO(escaped("\xe2\x82", "\"" FFFD FFFD "\""));
	DO(escaped("\xf0\x9f\x98", "\"" FFFD FFFD FFFD "\""));
	DO(escaped("\xc0\xaf", "\"" FFFD FFFD "\"")); /* overlong */
	DO(escaped("\xe0\x80\xaf", "\"" FFFD FFFD FFFD "\""));
	DO(escaped("\xed\xa0\x80", "\"" FFFD FFFD FFFD "\"")); /* surrogate */
	DO(escaped("\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\"")); /* > U+10FFFF */
	DO(escaped("\xffok", "\"" FFFD "ok\""));
}

TEST(doubles_read_back)
{
	static const struct {
		double v;
		const char *text;
	} known[] = {
		{ 0.1, "0.1" },
		{ 1e300, "1e+300" },
		{ 3, "3" },
		{ -2.5, "-2.5" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 123456789012, "123456789012" },
	};
	char text[32];
	struct rng r;

	for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
		CHECK_STR(fmt_double(text, sizeof text, known[i].v), known[i].text);
	rng_init(&r, 5);
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = rng_next(&r);
		double v;

		memcpy(&v, &bits, sizeof v);
		if (isfinite(v))
			CHECK(strtod(fmt_double(text, sizeof text, v), NULL) == v);
	}
}

static const struct column cols[] = {
	{ "name", "NAME", COL_TEXT, NULL }, { "size_bytes", "SIZE", COL_INT, NULL },
	{ "hidden", NULL, COL_TEXT, NULL }, { "art_ms", "ART ms", COL_NUM, "%.3f" },
	{ "ok", "OK", COL_BOOL, NULL },
};

static struct table *filled(void)
{
	struct table *t = table_new(cols, 5);

	table_text(t, "b\xc3\xa9ta");
	table_int(t, 123456);
	table_text(t, "h");
	table_num(t, 0.12345);
	table_int(t, 1);
	table_row(t);
	table_text(t, "a\x1b[2J");
	table_null(t);
	table_text(t, NULL);
	table_num(t, NAN);
	table_row(t); /* last cell missing */
	return t;
}

TEST(table_as_text)
{
	struct table *t = filled();
	struct buf b = BUF_INIT;

	CHECK_INT(table_rows(t), 2);
	table_print(t, &b);
	CHECK_STR(buf_cstr(&b), "NAME     SIZE  ART ms  OK\n"
				"b\xc3\xa9ta   123456   0.123  yes\n"
				"a?[2J       -       -  -\n");
	buf_release(&b);
	table_free(t);
	table_free(NULL);
}

TEST(table_as_json)
{
	struct table *t = filled();
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	table_json(t, &j, NULL);
	CHECK_STR(buf_cstr(&b), "[{\"name\":\"b\xc3\xa9ta\",\"size_bytes\":123456,\"hidden\":\"h\","
				"\"art_ms\":0.12345,\"ok\":true},"
				"{\"name\":\"a\\u001b[2J\",\"size_bytes\":null,\"hidden\":null,"
				"\"art_ms\":null,\"ok\":null}]");
	buf_release(&b);
	table_free(t);
}

static void nearest(const char *word, const char *want)
{
	static const char *const list[] = { "devices", "list",	 "show",   "plan",   "run",
					    "resume",  "status", "steady", "report", "export",
					    "db",      "qd",	 "tc",	   "range",  NULL };
	const char *got = nearest_word(word, list);

	CHECK_MSG((!got && !want) || (got && want && !strcmp(got, want)), "\"%s\" is near %s", word,
		  got ? got : "nothing");
}

TEST(nearest_words)
{
	DO(nearest("rnu", "run"));
	DO(nearest("RUN", "run"));
	DO(nearest("lst", "list"));
	DO(nearest("stat", "status"));
	DO(nearest("qdepth", "qd"));
	DO(nearest("ranges", "range"));
	DO(nearest("reprot", "report"));
	DO(nearest("dev", "devices"));
	DO(nearest("x", NULL));
	DO(nearest("", NULL));
	DO(nearest("frobnicate", NULL));
	DO(nearest("a-word-that-is-far-too-long-for-anyone-to-have-meant-it", NULL));
}

struct pairs {
	struct buf b;
	int stop_at;
};

static int pair(void *arg, const char *section, const char *key, const char *value, unsigned line)
{
	struct pairs *p = arg;

	buf_fmt(&p->b, "%u:%s.%s=%s;", line, section, key, value);
	return line == (unsigned)p->stop_at ? -ENOENT : 0;
}

static void ini(const char *text, int rc_want, const char *want)
{
	struct pairs p = { BUF_INIT, 99 };
	struct err e = { "" };
	char got[256];
	int rc = ini_read("f.ini", text, strlen(text), pair, &p, &e);

	snprintf(got, sizeof got, "%s", rc == -EINVAL ? e.msg : buf_cstr(&p.b));
	buf_release(&p.b);
	CHECK_INT(rc, rc_want);
	CHECK_STR(got, want);
}

TEST(ini_files)
{
	DO(ini("", 0, ""));
	DO(ini("a = 1\n\n# c\n; c\n[ s ]\r\n b b =  x = #4 \r\nc=", 0,
	       "1:.a=1;6:s.b b=x = #4;7:s.c=;"));
	DO(ini("\xef\xbb\xbf"
	       "a=1",
	       0, "1:.a=1;"));
	DO(ini("a=1\nnonsense\n", -EINVAL, "f.ini:2: not \"key = value\": nonsense"));
	DO(ini("= 1", -EINVAL, "f.ini:1: no key before '='"));
	DO(ini("[s", -EINVAL, "f.ini:1: section without ']': [s"));
	DO(ini("[ ]", -EINVAL, "f.ini:1: section without a name"));
}

TEST(ini_stops_when_told)
{
	struct pairs p = { BUF_INIT, 2 };
	struct err e = { "" };

	CHECK_INT(ini_read("f", "a=1\nb=2\nc=3", 11, pair, &p, &e), -ENOENT);
	CHECK_STR(buf_cstr(&p.b), "1:.a=1;2:.b=2;");
	buf_release(&p.b);
	CHECK_INT(ini_read("f", "a\0=1", 4, pair, &p, &e), -EINVAL);
	buf_release(&p.b);
}

TEST_MAIN
