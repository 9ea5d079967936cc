/* SPDX-License-Identifier: MIT */
/* The library of definitions: the built-in set, the folders that hide parts of it, and files that are wrong. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/embed.h"
#include "pts/base/rng.h"
#include "pts/def_ast.h"
#include "tests/test.h"

static char folder[256];

static void folder_make(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof folder, "%s/pts-def-XXXXXX", base ? base : "/tmp");
	CHECK(mkdtemp(folder));
}

static void folder_put(const char *name, const char *text, size_t len)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	CHECK(f && fwrite(text, 1, len, f) == len && !fclose(f));
}

static void folder_remove(void)
{
	DIR *d = opendir(folder);
	char path[512 + 256];

	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

/* Loads a folder that holds one file. */
static int load_text(struct def_lib *lib, const char *name, const char *text, size_t len,
		     struct err *err)
{
	err->msg[0] = 0;
	folder_make();
	folder_put(name, text, len);
	int rc = def_lib_load(lib, folder, err);
	folder_remove();
	return rc;
}

static int load_string(struct def_lib *lib, const char *text, struct err *err)
{
	return load_text(lib, "a.pts", text, strlen(text), err);
}

TEST(the_built_in_set_is_whole)
{
	static const char *const tests[] = { "iops",	      "tp",
					     "lat",	      "wsat",
					     "hir",	      "xsr",
					     "dirth",	      "cbw",
					     "rwsw-dirth",    "replay-native",
					     "replay-scaled", "individual-streams",
					     "multi-wsat",    "curve",
					     "scale",	      "bounded" };
	static const char *const suites[] = { "pts-basic", "pts-advanced", "pts-full" };
	struct err err = { "" };
	struct def_lib lib;

	CHECK_MSG(!def_lib_load(&lib, NULL, &err), "%s", err.msg);
	CHECK_INT(lib.set, 1);
	for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++) {
		const struct def *d = def_find(&lib, DEF_TEST, tests[i]);
		CHECK_MSG(d, "no test %s", tests[i]);
		CHECK(def_summary(d).formal && !strcmp(def_summary(d).source, "built-in"));
	}
	for (unsigned i = 0; i < sizeof suites / sizeof *suites; i++)
		CHECK_MSG(def_find(&lib, DEF_SUITE, suites[i]), "no suite %s", suites[i]);
	for (const struct embed *e = embed_workloads; e->name; e++) {
		char name[128];
		snprintf(name, sizeof name, "%.*s", (int)strlen(e->name) - 3, e->name);
		const struct def *d = def_find(&lib, DEF_WORKLOAD, name);
		CHECK_MSG(d, "no workload %s in %s", name, e->name);
		CHECK_MSG(*def_summary(d).origin, "%s does not say where it comes from", name);
	}
	def_lib_release(&lib);
}

/* Text, parsed in a folder of its own, as text again. */
static void round_trip(const struct def_lib *lib, const struct def *d)
{
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = { "" };
	struct def_lib again;

	def_text(lib, d, &one);
	int rc = load_text(&again, "a.pts", one.s, one.len, &err);
	CHECK_MSG(!rc, "%s: %s", d->name, err.msg);
	const struct def *e = def_find(&again, d->kind, d->name);
	CHECK(e && !e->builtin);
	def_text(&again, e, &two);
	bool same = !strcmp(buf_cstr(&one), buf_cstr(&two)), formal = def_summary(e).formal;
	def_lib_release(&again);
	buf_release(&one);
	buf_release(&two);
	CHECK_MSG(same, "%s: another text", d->name);
	CHECK_MSG(formal, "%s: an equal copy is formal", d->name);
}

TEST(text_parses_to_the_same_text)
{
	struct err err = { "" };
	struct def_lib lib;

	CHECK(!def_lib_load(&lib, NULL, &err));
	for (const struct def *d = def_next(&lib, NULL); d; d = def_next(&lib, d))
		DO(round_trip(&lib, d));
	def_lib_release(&lib);
}

TEST(text_is_normalised)
{
	struct buf b = BUF_INIT;
	struct err err = { "" };
	struct def_lib lib;

	CHECK(!load_string(&lib,
			   "test  x\t\"A  b\"   clause C-1 # why\r\n"
			   "  run rnd-4k-w   for 1m # comment\r\n\r\n"
			   "  pick mid by nearest iops to ( highest+lowest )/ 2\n"
			   "\trun rnd-4k-w rate $mid.iops*50% for 5s\nend",
			   &err));
	def_text(&lib, def_find(&lib, DEF_TEST, "x"), &b);
	CHECK_STR(buf_cstr(&b), "test x \"A  b\" clause C-1\n"
				"\trun rnd-4k-w for 1m\n"
				"\tpick mid by nearest iops to (highest + lowest) / 2\n"
				"\trun rnd-4k-w rate $mid.iops * 50% for 5s\nend\n");
	buf_release(&b);
	def_lib_release(&lib);
}

TEST(like_takes_text_and_sets_params_anew)
{
	struct buf b = BUF_INIT;
	struct err err = { "" };
	struct def_lib lib;

	CHECK(!def_lib_load(&lib, NULL, &err));
	def_text(&lib, def_find(&lib, DEF_TEST, "cbw"), &b);
	const char *want = "test cbw \"Composite Block Size Workload\" clause CBW\n"
			   "\tparam access = cbw\n\tparam mix = 40/60\n"
			   "\tparam prewrite = 0/100 choice 0/100 own\n"
			   "\tparam tie = 1% choice 0% 1%\n\tpurge\n";
	CHECK_MSG(!strncmp(buf_cstr(&b), want, strlen(want)), "%.300s", buf_cstr(&b));
	buf_release(&b);
	def_lib_release(&lib);
}

TEST(a_folder_hides_the_built_in)
{
	struct err err = { "" };
	struct def_lib lib;

	CHECK(!load_string(&lib,
			   "test dirth like dirth \"Mine\" clause DIRTH\n\tparam mix = 50/50\nend\n"
			   "test new like cbw \"New\" clause -\nend\n"
			   "suite mine\n\tnew\n\tdirth\nend\n",
			   &err));
	const struct def *dirth = def_find(&lib, DEF_TEST, "dirth");
	CHECK_STR(dirth->title, "Mine");
	CHECK(!def_summary(dirth).formal && strcmp(def_summary(dirth).source, "built-in"));
	/* What is like the built-in one stays so. */
	CHECK(def_summary(def_find(&lib, DEF_TEST, "cbw")).formal);
	const struct def *full = def_find(&lib, DEF_SUITE, "pts-full");
	CHECK(full->member[full->n_members - 1] == dirth);
	CHECK(!def_summary(def_find(&lib, DEF_SUITE, "mine")).formal);
	def_lib_release(&lib);
}

TEST(the_first_folder_wins)
{
	static const char *const text[] = {
		"workload rnd-4k-w \"One\" source \"here\"\n\tstream 1 write rnd 8k\nend\n",
		"workload rnd-4k-w \"Two\" source \"here\"\n\tstream 1 write rnd 16k\nend\n",
	};
	char first[256], path[1024];
	struct err err = { "" };
	struct def_lib lib;

	DO(folder_make());
	DO(folder_put("b.wl", text[0], strlen(text[0])));
	DO(folder_put(".hidden.wl", "garbage", 7));
	DO(folder_put("note.txt", "garbage", 7));
	snprintf(first, sizeof first, "%s", folder);
	DO(folder_make());
	DO(folder_put("b.wl", text[1], strlen(text[1])));
	snprintf(path, sizeof path, "%s::%s", first, folder);
	int rc = def_lib_load(&lib, path, &err);
	folder_remove();
	snprintf(folder, sizeof folder, "%s", first);
	folder_remove();
	CHECK_MSG(!rc, "%s", err.msg);
	CHECK_STR(def_find(&lib, DEF_WORKLOAD, "rnd-4k-w")->title, "One");
	def_lib_release(&lib);
}

TEST(paths_that_are_wrong)
{
	struct err err = { "" };
	struct def_lib lib;

	CHECK_INT(def_lib_load(&lib, "/nonexistent-pts", &err), -ENOENT);
	CHECK(strstr(err.msg, "/nonexistent-pts"));
	err.msg[0] = 0;
	CHECK_INT(def_lib_load(&lib, "/dev/null", &err), -EINVAL);
}

TEST(words_resolve_to_tests)
{
	static const char *const words[] = { "lat", "pts-basic", "iops" };
	static const char *const wrong[] = { "ipos" }, *const load[] = { "rnd-4k-w" };
	struct err err = { "" };
	struct def_lib lib;
	const struct def **test;
	unsigned n;

	CHECK(!def_lib_load(&lib, NULL, &err));
	CHECK(!def_resolve(&lib, words, 3, &test, &n, &err));
	CHECK_INT(n, 4);
	CHECK_STR(test[0]->name, "lat");
	CHECK_STR(test[1]->name, "iops");
	CHECK_STR(test[3]->name, "wsat");
	CHECK_INT(def_resolve(&lib, wrong, 1, &test, &n, &err), -EINVAL);
	CHECK_STR(err.msg, "unknown test or suite 'ipos' (did you mean 'iops'?)");
	err.msg[0] = 0;
	CHECK_INT(def_resolve(&lib, load, 1, &test, &n, &err), -EINVAL);
	CHECK(strstr(err.msg, "'rnd-4k-w' is a workload"));
	def_lib_release(&lib);
}

/* ---- files that are wrong ---- */

/* "# expect: LINE MESSAGE PART" is the first line of each. */
static void fixture(const char *name)
{
	char path[512], want[300], at[64];
	struct buf text = BUF_INIT;
	struct err err = { "" };
	struct def_lib lib;
	unsigned line;
	int skip;

	snprintf(path, sizeof path, "tests/fixtures/defs/%s", name);
	CHECK(!buf_read_file(&text, path, 1 << 20));
	CHECK(sscanf(text.s, "# expect: %u %n", &line, &skip) == 1);
	snprintf(want, sizeof want, "%.*s", (int)strcspn(text.s + skip, "\n"), text.s + skip);
	int rc = load_text(&lib, name, text.s, text.len, &err);
	buf_release(&text);
	if (!rc)
		def_lib_release(&lib);
	CHECK_MSG(rc == -EINVAL, "%s was taken", name);
	snprintf(at, sizeof at, "/%s:%u: ", name, line);
	CHECK_MSG(strstr(err.msg, at), "%s: not at line %u: %s", name, line, err.msg);
	CHECK_MSG(strstr(err.msg, want), "%s: wanted \"%s\", got: %s", name, want, err.msg);
}

TEST(each_mistake_is_told_clearly)
{
	DIR *d = opendir("tests/fixtures/defs");
	unsigned n = 0;

	CHECK(d);
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		DO(fixture(e->d_name));
		n++;
	}
	closedir(d);
	CHECK_MSG(n >= 40, "only %u fixtures", n);
}

/* ---- what is not even text ---- */

TEST(garbage_is_refused)
{
	static const char nul[] = "test x \"X\" clause -\n\tpurge\0\nend\n";
	static const char del[] = "test x \"X\x7f\" clause -\n\tpurge\nend\n";
	struct err err;
	struct def_lib lib;

	CHECK_INT(load_text(&lib, "a.pts", nul, sizeof nul - 1, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, ":2: this is not text: byte 0x00"), "%s", err.msg);
	CHECK_INT(load_text(&lib, "a.pts", del, sizeof del - 1, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, ":1: a control character"), "%s", err.msg);
	CHECK_INT(load_text(&lib, "a.pts",
			    "\x7f"
			    "ELF\x02\x01",
			    6, &err),
		  -EINVAL);
	CHECK_INT(load_text(&lib, "a.pts", "", 0, &err), 0);
	def_lib_release(&lib);
	CHECK_INT(load_text(&lib, "a.pts", "\r\n\n# nothing", 12, &err), 0);
	def_lib_release(&lib);
}

TEST(long_lines_and_files_are_refused)
{
	size_t n = 1 << 20;
	char *big = malloc(n + 2);
	struct err err;
	struct def_lib lib;

	CHECK(big);
	memset(big, 'a', n + 2);
	CHECK_INT(load_text(&lib, "a.pts", big, n, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, ":1: the line is longer than"), "%s", err.msg);
	CHECK_INT(load_text(&lib, "a.pts", big, n + 2, &err), -EINVAL);
	CHECK_MSG(strstr(err.msg, "larger than 1 MiB"), "%s", err.msg);
	memcpy(big, "test x \"X\" clause -\n\tpurge ", 27);
	CHECK_INT(load_text(&lib, "a.pts", big, 4000, &err), -EINVAL);
	CHECK_MSG(strlen(err.msg) < 400 && strstr(err.msg, "aaa..."), "%s", err.msg);
	free(big);
}

/* Broken copies of everything that is built in: an error or not, never more than that. */
static void mutate(struct rng *r, char *text, size_t *len)
{
	static const char bytes[] = "$%./*()<>=\"# \n\tx019-,:\0\xff";
	unsigned times = 1 + (unsigned)rng_below(r, 4);

	while (times-- && *len) {
		size_t at = rng_below(r, *len), n = rng_below(r, 20);
		if (at + n > *len)
			n = *len - at;
		switch (rng_below(r, 3)) {
		case 0:
			text[at] = bytes[rng_below(r, sizeof bytes)];
			break;
		case 1:
			memmove(text + at, text + at + n, *len - at - n);
			*len -= n;
			break;
		default:
			memmove(text + rng_below(r, *len - n + 1), text + at, n);
		}
	}
}

TEST(broken_files_never_crash)
{
	struct rng r;
	struct err err;
	unsigned bad = 0;

	rng_init(&r, 11);
	for (unsigned round = 0; round < 40; round++) {
		for (const struct embed *e = embed_defs; e->name; e++) {
			char text[8192];
			size_t len = e->len < sizeof text ? e->len : sizeof text;
			struct def_lib lib;
			memcpy(text, e->data, len);
			mutate(&r, text, &len);
			int rc = load_text(&lib, "a.pts", text, len, &err);
			CHECK_MSG(!rc || rc == -EINVAL, "%s: %d", e->name, rc);
			CHECK_MSG(!rc == !*err.msg, "%s: a code without a message", e->name);
			bad += !!rc;
			if (!rc)
				def_lib_release(&lib);
		}
	}
	CHECK_MSG(bad > 50, "only %u were found wrong", bad);
}

/* ---- the manual ---- */

/* Copies what stands between .EX and .EE, with the escapes of roff undone. */
static void man_examples(const char *man, struct buf *out)
{
	bool in = false;

	for (const char *p = man; *p;) {
		size_t n = strcspn(p, "\n");
		if (!strncmp(p, ".EX", 3) || !strncmp(p, ".EE", 3)) {
			in = p[2] == 'X';
		} else if (in) {
			for (size_t i = 0; i < n; i++) {
				if (p[i] == '\\' && i + 1 < n && p[i + 1] == '&')
					i++;
				else if (p[i] == '\\' && i + 1 < n)
					buf_add(out, p[++i] == 'e' ? "\\" : &p[i], 1);
				else
					buf_add(out, p + i, 1);
			}
			buf_str(out, "\n");
		}
		p += n + (p[n] == '\n');
	}
}

TEST(examples_of_the_manual_are_right)
{
	struct buf man = BUF_INIT, text = BUF_INIT;
	struct err err = { "" };
	struct def_lib lib;

	CHECK(!buf_read_file(&man, "pts/man/pts-def.5", 1 << 20));
	man_examples(man.s, &text);
	CHECK(text.len > 1000);
	for (const char *const *w = stmt_words; *w; w++)
		CHECK_MSG(strstr(text.s, *w), "no example of '%s'", *w);
	int rc = load_text(&lib, "man.pts", text.s, text.len, &err);
	CHECK_MSG(!rc, "%s", err.msg);
	def_lib_release(&lib);
	buf_release(&man);
	buf_release(&text);
}

TEST_MAIN
