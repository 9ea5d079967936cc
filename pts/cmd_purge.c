/* SPDX-License-Identifier: MIT */
/* pts purge: a purge alone, through the whole gate, proved by reading back; --recover undoes a half-done ATA erase. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/cmd_session.h"
#include "pts/left.h"
#include "workloads/dut_scsi.h"

/* ---- the result ---- */

static void member_json(const struct session *s, struct json *j, const struct purge_report *r,
			unsigned i)
{
	const struct dut_info *d = &s->targets.info[i];

	json_object(j, NULL);
	json_uint(j, "member", i + 1);
	json_str(j, "dut", s->targets.name.v[i]);
	json_str(j, "serial", d->serial[0] ? d->serial : NULL);
	json_str(j, "method", purge_method_name(r->method));
	json_uint(j, "elapsed_ns", r->elapsed_ns);
	json_uint(j, "canaries", r->canaries);
	json_uint(j, "survivors", r->survivors);
	json_bool(j, "verified", r->verified);
	json_str(j, "detail", r->detail);
	json_end_object(j);
}

static void drive_json(const struct session *s, struct json *j)
{
	const struct dut_info *d = &s->facts;

	json_str(j, "dut", s->o->dut.v[0]);
	json_str(j, "path", d->path[0] ? d->path : NULL);
	json_str(j, "model", d->model[0] ? d->model : NULL);
	json_str(j, "serial", d->serial[0] ? d->serial : NULL);
	json_str(j, "firmware", d->firmware[0] ? d->firmware : NULL);
	json_uint(j, "capacity_bytes", d->capacity_bytes);
}

static void result_json(const struct session *s, const struct purge_report *r,
			const struct err *failed, struct buf *out)
{
	struct json j = JSON_INIT(out);
	bool chosen = s->method == PURGE_AUTO;

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.purge/1");
	drive_json(s, &j);
	json_str(&j, "method", purge_method_name(r->method));
	json_bool(&j, "auto", chosen);
	json_str(&j, "why", chosen && s->facts.auto_why[0] ? s->facts.auto_why : NULL);
	json_bool(&j, "pts_method", purge_method_is_pts(r->method));
	json_bool(&j, "ok", !failed);
	json_str(&j, "error", failed ? failed->msg : NULL);
	json_bool(&j, "verified", r->verified);
	json_uint(&j, "canaries", r->canaries);
	json_uint(&j, "survivors", r->survivors);
	json_uint(&j, "elapsed_ns", r->elapsed_ns);
	json_str(&j, "detail", r->detail[0] ? r->detail : NULL);
	json_array(&j, "reach");
	for (unsigned i = 0; i < s->reach.n && i < REACH_MAX; i++)
		json_str(&j, NULL, s->reach.path[i]);
	json_end_array(&j);
	json_array(&j, "members");
	for (unsigned i = 0; r->member && i < s->targets.name.n; i++)
		member_json(s, &j, &r->member[i], i);
	json_end_array(&j);
	json_end_object(&j);
	buf_str(out, "\n");
}

static void one_text(const char *name, const struct purge_report *r, struct buf *out)
{
	char took[40];

	fmt_span(took, sizeof took, r->elapsed_ns);
	if (r->elapsed_ns < 1000000000)
		snprintf(took, sizeof took, "%.0f ms", (double)r->elapsed_ns / 1e6);
	buf_fmt(out, "%s: purged by %s in %s: %s\n", name, purge_method_name(r->method), took,
		r->detail);
	if (r->verified)
		buf_fmt(out, "%s: verified: none of %llu marked blocks can be read any more\n",
			name, (unsigned long long)r->canaries);
	else if (r->survivors)
		buf_fmt(out,
			"%s: PURGE NOT VERIFIED: of %llu marked blocks %llu can be read still\n",
			name, (unsigned long long)r->canaries, (unsigned long long)r->survivors);
	else
		buf_fmt(out,
			"%s: PURGE NOT VERIFIED: it did not keep its marks: before the purge only "
			"%llu could be read\n",
			name, (unsigned long long)r->canaries);
}

static void result_text(const struct session *s, const struct purge_report *r, struct buf *out)
{
	for (unsigned i = 0; r->member && i < s->targets.name.n; i++)
		one_text(dut_name_inner(s->targets.name.v[i]), &r->member[i], out);
	if (!r->member)
		one_text(dut_name_inner(s->o->dut.v[0]), r, out);
}

/* A verdict is not an error: data that is still there is exit 1, a drive that failed 3. */
static int conclude(struct session *s, int rc, const struct purge_report *r, const struct err *err)
{
	int code = rc == -EBADE ? EXIT_BAD : rc ? exit_of(rc) : r->verified ? EXIT_GOOD : EXIT_BAD;
	struct buf out = BUF_INIT;

	progress_break(&s->progress);
	if (rc)
		cmd_fail(s->o, code, err);
	if (rc == -ETIMEDOUT)
		fprintf(stderr, "the state of %s is unknown: look at it before it is used\n",
			s->o->dut.v[0]);
	if (s->o->json)
		result_json(s, r, rc ? err : NULL, &out);
	else if (!rc || rc == -EBADE)
		result_text(s, r, &out);
	code = cmd_out(s->o, &out, code);
	buf_release(&out);
	return code;
}

/* ---- the purge ---- */

static int purge(struct session *s, struct purge_report *r, struct err *err)
{
	enum purge_method m = s->method == PURGE_AUTO ? s->facts.purge_auto : s->method;
	int rc;

	r->method = m;
	rc = m == PURGE_HOOK ? session_hook(s, r, err) : s->dut->ops->purge(s->dut, m, r, err);
	return rc ? rc : session_purged(s, err);
}

/* All that can be refused, before anything is opened for writing. */
static int prepare(struct session *s, struct err *err)
{
	int rc = session_look(s, s->o, err);

	if (!rc && session_method(s, 0) == PURGE_NONE)
		rc = err_set(err, -EOPNOTSUPP,
			     "%s offers no purge method that pts knows%s%s (--purge-hook FILE runs "
			     "one of your own)",
			     s->o->dut.v[0], s->facts.auto_why[0] ? ": " : "", s->facts.auto_why);
	s->progress.tty = !s->o->quiet && isatty(STDERR_FILENO);
	s->progress.quiet = s->o->quiet;
	return rc ? rc : session_gate(s, err);
}

static int purge_alone(struct session *s)
{
	struct purge_report r = { .method = PURGE_NONE };
	struct err err = { "" };
	int rc = prepare(s, &err);

	if (rc)
		return cmd_fail(s->o, exit_of(rc), &err);
	session_tell_left(s);
	session_tell_method(s);
	rc = session_open_dut(s, &err);
	if (rc)
		return cmd_fail(s->o, exit_of(rc), &err);
	rc = purge(s, &r, &err);
	return conclude(s, rc, &r, &err);
}

/* ---- undoing ---- */

static int print_recovered(const struct session *s, const char *detail)
{
	struct buf out = BUF_INIT;
	struct json j = JSON_INIT(&out);
	int code;

	if (s->o->json) {
		json_object(&j, NULL);
		json_str(&j, "schema", "pts.purge/1");
		drive_json(s, &j);
		json_bool(&j, "recover", true);
		json_bool(&j, "ok", true);
		json_str(&j, "detail", detail);
		json_end_object(&j);
		buf_str(&out, "\n");
	} else {
		buf_fmt(&out, "%s: %s\n", s->o->dut.v[0], detail);
	}
	code = cmd_out(s->o, &out, EXIT_GOOD);
	buf_release(&out);
	return code;
}

/* It is opened by its name once more, which may mean another drive by now. */
static int same_serial(const struct session *s, const struct scsi_drive *drive, struct err *err)
{
	struct dut_info now = s->facts;

	scsi_facts(drive, &now);
	return strcmp(now.serial, s->facts.serial)
		       ? err_set(err, -EPERM,
				 "%s became another drive while it was looked at: serial was '%s', "
				 "is '%s'",
				 s->o->dut.v[0], s->facts.serial, now.serial)
		       : 0;
}

/* The drive is locked: what it carries cannot be looked at, so that is not asked. */
static int recover(struct session *s, char detail[256], struct err *err)
{
	struct scsi_drive *drive = NULL;
	int rc = session_look(s, s->o, err);

	if (!rc && s->facts.kind != DUT_BLOCK)
		rc = err_set(err, -EOPNOTSUPP, "%s is no drive: there is nothing to recover",
			     s->o->dut.v[0]);
	if (!rc)
		rc = targets_gate(&s->targets, s->o, err);
	if (!rc)
		rc = scsi_open(s->facts.path, true, &drive, err);
	if (rc == -ENOTTY) {
		struct err no = { "" };

		err_set(&no, 0, "%s takes no ATA commands: there is nothing to recover",
			s->o->dut.v[0]);
		*err = no;
		return -EOPNOTSUPP;
	}
	if (!rc)
		rc = same_serial(s, drive, err);
	if (!rc)
		rc = ata_recover(drive, detail, err);
	scsi_close(drive);
	return rc ? rc : left_remove(s->o->db, &s->facts, err);
}

static int recover_alone(const struct opts *o)
{
	struct opts forced = *o;
	struct session s = { .o = &forced };
	struct err err = { "" };
	char detail[256] = "";
	int rc, code;

	forced.force_signature = true;
	rc = recover(&s, detail, &err);
	code = rc ? cmd_fail(o, exit_of(rc), &err) : print_recovered(&s, detail);
	session_close(&s);
	return code;
}

int cmd_purge(const struct opts *o)
{
	struct session s = { .o = o };
	int code;

	if (o->arg.n)
		return cmd_usage(o, "takes no word: '%s'; --dut names the target", o->arg.v[0]);
	if (!o->dut.n)
		return cmd_usage(o, "which target? --dut names it (pts devices)");
	if (o->dut.n > 1)
		return cmd_usage(o, "one --dut at a time; set:A,B purges several");
	if (o->recover && (o->method || o->purge_hook || o->all_namespaces))
		return cmd_usage(o, "--recover purges nothing: it goes without a method");
	session_signals();
	if (o->recover)
		return recover_alone(o);
	code = purge_alone(&s);
	session_close(&s);
	return code;
}
