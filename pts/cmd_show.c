/* SPDX-License-Identifier: MIT */
/* pts show NAME: a test, workload or suite as it will run. */
#include <errno.h>
#include <stdlib.h>

#include "pts/base/words.h"
#include "pts/cmd.h"
#include "pts/def.h"

static const char *const kinds[] = { "test", "workload", "suite" };

/* A test before a suite before a workload: cbw names one of each kind but suite. */
static const struct def *find_any(const struct def_lib *lib, const char *name)
{
	static const enum def_kind order[] = { DEF_TEST, DEF_SUITE, DEF_WORKLOAD };

	for (unsigned i = 0; i < 3; i++) {
		const struct def *d = def_find(lib, order[i], name);
		if (d)
			return d;
	}
	return NULL;
}

static int unknown_name(struct def_lib *lib, const char *name, struct err *err)
{
	unsigned n = 0;
	const char **names;

	for (const struct def *d = def_next(lib, NULL); d; d = def_next(lib, d))
		n++;
	names = arena_array(&lib->arena, const char *, n + 1);
	n = 0;
	for (const struct def *d = def_next(lib, NULL); d; d = def_next(lib, d))
		names[n++] = def_summary(d).name;
	const char *near = nearest_word(name, names);
	if (near)
		return err_set(err, -EINVAL,
			       "unknown test, workload or suite '%s' (did you mean '%s'?)", name,
			       near);
	return err_set(err, -EINVAL, "unknown test, workload or suite '%s'", name);
}

static void show_json(const struct def *d, const char *text, struct buf *out)
{
	struct def_summary s = def_summary(d);
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.show/1");
	json_str(&j, "kind", kinds[s.kind]);
	json_str(&j, "name", s.name);
	json_str(&j, "title", s.title);
	json_str(&j, "clause", *s.clause ? s.clause : NULL);
	json_str(&j, "source", s.source);
	json_str(&j, "origin", *s.origin ? s.origin : NULL);
	json_bool(&j, "formal", s.formal);
	json_str(&j, "text", text);
	json_end_object(&j);
	buf_str(out, "\n");
}

/* A name that a test and a workload share shows both: the test runs the workload. */
static void show_text(const struct def_lib *lib, const struct def *d, bool json, struct buf *out)
{
	struct buf text = BUF_INIT;
	struct def_summary s = def_summary(d);

	def_text(lib, d, &text);
	const struct def *w = def_find(lib, DEF_WORKLOAD, s.name);
	if (w && w != d && !json) {
		buf_str(&text, "\n");
		def_text(lib, w, &text);
	}
	if (json)
		show_json(d, buf_cstr(&text), out);
	else
		buf_str(out, buf_cstr(&text));
	buf_release(&text);
}

int cmd_show(const struct opts *o)
{
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct def_lib lib;

	if (o->arg.n != 1)
		return cmd_usage(o, "one NAME is wanted (pts list tests|workloads|suites)");
	int rc = def_lib_load(&lib, getenv("PTS_DEF_PATH"), &err);
	if (rc)
		return cmd_fail(o, EXIT_USAGE, &err);
	const struct def *d = find_any(&lib, o->arg.v[0]);
	if (d)
		show_text(&lib, d, o->json, &out);
	else
		rc = unknown_name(&lib, o->arg.v[0], &err);
	rc = rc ? cmd_fail(o, exit_of(rc), &err) : cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	def_lib_release(&lib);
	return rc;
}
