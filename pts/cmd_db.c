/* SPDX-License-Identifier: MIT */
/* pts db: look after a database. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/table.h"
#include "pts/base/units.h"
#include "pts/base/words.h"
#include "pts/cmd.h"
#include "schema/admin.h"

/* Ends a document: a newline, and out. */
static int put_out(const struct opts *o, struct buf *out, int exit_code)
{
	int rc;

	if (o->json)
		buf_str(out, "\n");
	rc = cmd_out(o, out, exit_code);
	buf_release(out);
	return rc;
}

static void info_json(const struct opts *o, const struct admin_info *i, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.db-info/1");
	json_str(&j, "path", o->db);
	json_int(&j, "schema_version", i->schema);
	json_int(&j, "schema_version_known", i->schema_known);
	json_uint(&j, "size_bytes", i->size_bytes);
	json_uint(&j, "log_bytes", i->log_bytes);
	json_int(&j, "runs", i->runs);
	json_int(&j, "cells", i->cells);
	json_int(&j, "drives", i->drives);
	json_int(&j, "hosts", i->hosts);
	json_str(&j, "first_utc", i->first_utc[0] ? i->first_utc : NULL);
	json_str(&j, "last_utc", i->last_utc[0] ? i->last_utc : NULL);
	json_end_object(&j);
}

static void info_text(const struct opts *o, const struct admin_info *i, struct buf *out)
{
	char size[32];

	buf_fmt(out, "file     %s\n", o->db);
	buf_fmt(out, "schema   %d%s\n", i->schema,
		i->schema < i->schema_known ? " (older: pts db migrate)" : "");
	buf_fmt(out, "size     %s", fmt_capacity(size, sizeof size, i->size_bytes));
	if (i->log_bytes)
		buf_fmt(out, " and a log of %s", fmt_capacity(size, sizeof size, i->log_bytes));
	buf_fmt(out, "\nruns     %" PRId64 "\ncells    %" PRId64 "\ndrives   %" PRId64, i->runs,
		i->cells, i->drives);
	buf_fmt(out, "\nhosts    %" PRId64 "\n", i->hosts);
	if (i->runs)
		buf_fmt(out, "first    %s\nlast     %s\n", i->first_utc, i->last_utc);
}

static int db_info(const struct opts *o)
{
	struct err err = { "" };
	struct buf out = BUF_INIT;
	struct admin_info info;
	int rc = admin_info(o->db, &info, &err);

	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	if (o->json)
		info_json(o, &info, &out);
	else
		info_text(o, &info, &out);
	return put_out(o, &out, EXIT_GOOD);
}

/* An array of the lines of @text. */
static void lines_json(const char *key, const struct buf *text, struct json *j)
{
	const char *line = buf_cstr(text);

	json_array(j, key);
	for (size_t n; *line; line += n + 1) {
		struct buf one = BUF_INIT;

		n = strcspn(line, "\n");
		buf_add(&one, line, n);
		json_str(j, NULL, buf_cstr(&one));
		buf_release(&one);
	}
	json_end_array(j);
}

struct checked {
	struct buf faults, summary, notes;
};

static void check_json(const struct opts *o, const struct table *runs, const struct checked *c,
		       struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.db-check/1");
	json_str(&j, "path", o->db);
	json_bool(&j, "sound", !c->faults.len);
	lines_json("faults", &c->faults, &j);
	lines_json("notes", &c->notes, &j);
	if (runs)
		table_json(runs, &j, "runs");
	else
		json_null(&j, "runs");
	json_end_object(&j);
}

static void notes_text(const struct buf *notes, struct buf *out)
{
	for (const char *p = buf_cstr(notes); *p; p += strcspn(p, "\n"), p += *p == '\n')
		buf_fmt(out, "note: %.*s\n", (int)strcspn(p, "\n"), p);
}

static int check_print(const struct opts *o, struct reader *r, const struct checked *c)
{
	/* A damaged file may not even list its runs; the faults say so already. */
	struct err ignored = { "" };
	struct table *runs = admin_chains(r, &ignored);
	struct buf out = BUF_INIT;

	if (o->json) {
		check_json(o, runs, c, &out);
	} else {
		if (!o->quiet) {
			buf_str(&out, buf_cstr(&c->summary));
			notes_text(&c->notes, &out);
		}
		buf_str(&out, buf_cstr(&c->faults));
		buf_fmt(&out, "%s: %s\n", o->db, c->faults.len ? "FAULTS" : "sound");
	}
	table_free(runs);
	return put_out(o, &out, c->faults.len ? EXIT_BAD : EXIT_GOOD);
}

static int db_check(const struct opts *o)
{
	struct err err = { "" }, ignored = { "" };
	struct checked c = { .faults = BUF_INIT };
	struct reader *r;
	int code, rc = read_open_doubted(o->db, &r, &err);

	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	rc = read_check(r, &c.faults, &c.summary, &err);
	if (!rc && read_check_others(r, &c.notes, &ignored))
		buf_release(&c.notes); /* cannot be read: a fault, told above */
	code = rc ? cmd_fail(o, exit_of(rc), &err) : check_print(o, r, &c);
	read_close(r);
	buf_release(&c.faults);
	buf_release(&c.summary);
	buf_release(&c.notes);
	return code;
}

static int db_migrate_file(const struct opts *o)
{
	struct err err = { "" };
	struct buf out = BUF_INIT;
	int from, to, rc = admin_migrate(o->db, &from, &to, &err);

	if (rc)
		return cmd_fail(o, exit_of(rc), &err);
	if (from == to)
		buf_fmt(&out, "%s: schema %d, nothing to do\n", o->db, to);
	else
		buf_fmt(&out, "%s: migrated from schema %d to %d\n", o->db, from, to);
	rc = cmd_out(o, &out, EXIT_GOOD);
	buf_release(&out);
	return rc;
}

/* -EBADMSG is the other file's fault: a verdict, not a failure of ours. */
static int db_merge(const struct opts *o)
{
	struct err err = { "" };
	struct merge_result done;
	int rc = 0, code = EXIT_GOOD;

	for (unsigned i = 1; i < o->arg.n && code == EXIT_GOOD; i++) {
		rc = admin_merge(o->db, o->arg.v[i], &done, &err);
		if (done.said.len)
			code = cmd_out(o, &done.said, code);
		buf_release(&done.said);
		if (rc)
			code = cmd_fail(o, rc == -EBADMSG ? EXIT_BAD : exit_of(rc), &err);
	}
	return code;
}

static int db_backup(const struct opts *o)
{
	struct err err = { "" };
	int rc = admin_backup(o->db, o->arg.v[1], &err);

	if (rc)
		return cmd_fail(o, rc == -EEXIST ? EXIT_USAGE : exit_of(rc), &err);
	return EXIT_GOOD;
}

static const struct {
	const char *word, *needs; /* words that follow it */
	unsigned min, max;
	int (*fn)(const struct opts *o);
} action[] = {
	{ "info", "no further words", 1, 1, db_info },
	{ "check", "no further words", 1, 1, db_check },
	{ "migrate", "no further words", 1, 1, db_migrate_file },
	{ "merge", "the files to take runs from: pts db merge OTHER.db --db FILE", 2, OPTS_LIST_MAX,
	  db_merge },
	{ "backup", "the file to write: pts db backup COPY.db", 2, 2, db_backup },
};

int cmd_db(const struct opts *o)
{
	static const char *const words[] = { "info", "check", "migrate", "merge", "backup", NULL };
	const char *word = o->arg.n ? o->arg.v[0] : NULL, *near;

	if (!word)
		return cmd_usage(o, "what to do: info, check, migrate, merge or backup");
	for (size_t i = 0; i < sizeof action / sizeof *action; i++) {
		if (strcmp(action[i].word, word))
			continue;
		if (o->arg.n < action[i].min || o->arg.n > action[i].max)
			return cmd_usage(o, "%s takes %s", word, action[i].needs);
		if (o->json && action[i].fn != db_info && action[i].fn != db_check)
			return cmd_usage(o, "%s takes no --json", word);
		return action[i].fn(o);
	}
	near = nearest_word(word, words);
	if (near)
		return cmd_usage(o, "unknown word '%s' (did you mean '%s'?)", word, near);
	return cmd_usage(o, "unknown word '%s': info, check, migrate, merge or backup", word);
}
