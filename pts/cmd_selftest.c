/* SPDX-License-Identifier: MIT */
/*
 * pts selftest: one run on a drive of a lab, which exercises what no test of this program's own can: its purge methods, each
 * proved by reading back, its write cache, health, link and IO. What could not be tested is said as loudly.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/json.h"
#include "pts/base/table.h"
#include "pts/base/units.h"
#include "pts/cmd_selftest.h"
#include "pts/gate.h"
#include "workloads/dut_again.h"

static const struct column columns[] = {
	{ "check", "CHECK", COL_TEXT, NULL },
	{ "result", "RESULT", COL_TEXT, NULL },
	{ "found", "FOUND", COL_TEXT, NULL },
};

static const char *const words[] = { [SELFTEST_OK] = "ok",
				     [SELFTEST_FAILED] = "failed",
				     [SELFTEST_NOT_OFFERED] = "not offered",
				     [SELFTEST_NOT_TESTED] = "not tested here" };

enum selftest_result selftest_say(struct selftest *t, const char *check,
				  enum selftest_result result, const char *fmt, ...)
{
	struct selftest_row *r = &t->row[t->n];
	va_list ap;

	BUG_ON(t->n == SELFTEST_ROWS_MAX);
	t->n++;
	snprintf(r->check, sizeof r->check, "%s", check);
	r->result = result;
	va_start(ap, fmt);
	vsnprintf(r->found, sizeof r->found, fmt, ap);
	va_end(ap);
	progress_break(&t->s.progress);
	if (!t->s.o->quiet)
		fprintf(stderr, "%s: %s: %s\n", r->check, words[result], r->found);
	return result;
}

void selftest_rc(struct selftest *t, const char *check, int rc, const char *good,
		 const struct err *err)
{
	t->stopped |= rc == -EINTR;
	t->over |= rc == -EINTR || rc == -ENODEV || rc == -ETIMEDOUT;
	selftest_say(t, check,
		     !rc		 ? SELFTEST_OK
		     : rc == -EOPNOTSUPP ? SELFTEST_NOT_OFFERED
		     : rc == -EINTR	 ? SELFTEST_NOT_TESTED
					 : SELFTEST_FAILED,
		     "%s", rc ? err->msg : good);
}

/* ---- purges ---- */

/* "" it may be tried; else why not. */
static void hindered(struct selftest *t, enum purge_method m, char *ret, size_t n)
{
	struct session *s = &t->s;
	struct gate_request rq = { .info = &s->targets.info[0],
				   .dut = dut_name_inner(s->o->dut.v[0]),
				   .force_signature = s->o->force_signature };
	struct purge_reach reach = { .n = 0 };
	struct err err = { "" };
	int rc = dut_purge_reach(s->dut, m, &reach, &err);

	if (!rc)
		rc = gate_reach(&rq, m, &reach, s->o->all_namespaces, &err);
	snprintf(ret, n, "%s", rc ? err.msg : "");
}

/* The drive as it was before: a format may have left another; then it is over. */
static bool same_after(struct selftest *t, const char *check)
{
	struct err err = { "" };

	if (!session_same(&t->s, &err))
		return true;
	selftest_say(t, check, SELFTEST_FAILED, "%s", err.msg);
	t->over = true;
	return false;
}

static void try_purge(struct selftest *t, enum purge_method m, const char *check)
{
	struct session *s = &t->s;
	struct purge_report r = { .method = m };
	struct err err = { "" };
	char good[360];
	int rc = s->dut->ops->purge(s->dut, m, &r, &err);

	if (!rc)
		rc = session_purged(s, &err);
	if (!rc && !r.verified)
		rc = err_set(&err, -EBADE, "NOT VERIFIED: only %llu marks could be set and read",
			     (unsigned long long)r.canaries);
	snprintf(good, sizeof good, "%.1f s, none of %llu marks is left; %.250s",
		 (double)r.elapsed_ns / 1e9, (unsigned long long)r.canaries, r.detail);
	if (!rc && !same_after(t, check))
		return;
	selftest_rc(t, check, rc, good, &err);
	if (rc && !t->over) /* a failure may leave another drive as well */
		same_after(t, check);
}

static void purges(struct selftest *t)
{
	const struct dut_info *d = &t->s.facts;
	char check[48], why[400];

	for (enum purge_method m = PURGE_NVME_FORMAT; m <= PURGE_PUNCH && !t->over; m++) {
		bool asked = t->s.method == PURGE_AUTO || t->s.method == m;

		if (m == PURGE_PUNCH && d->kind != DUT_FILE)
			continue;
		snprintf(check, sizeof check, "purge %s", purge_method_name(m));
		if (!(d->purge_methods & 1u << m)) {
			selftest_say(t, check, SELFTEST_NOT_OFFERED, "by this drive");
			continue;
		}
		hindered(t, m, why, sizeof why);
		if (!asked)
			selftest_say(t, check, SELFTEST_NOT_TESTED, "--method names another");
		else if (why[0])
			selftest_say(t, check, SELFTEST_NOT_TESTED, "%s", why);
		else
			try_purge(t, m, check);
	}
}

/* ---- the command ---- */

static int prepare(struct selftest *t, struct err *err)
{
	struct session *s = &t->s;
	int rc = session_look(s, s->o, err);

	if (!rc && (s->facts.kind == DUT_SIM || s->facts.kind == DUT_SET))
		rc = err_set(err, -EINVAL, "%s: one real drive is tested at a time",
			     s->o->dut.v[0]);
	s->progress.tty = !s->o->quiet && isatty(STDERR_FILENO);
	s->progress.quiet = s->o->quiet;
	if (!rc && s->method == PURGE_AUTO) /* what methods reach hinders them one by one */
		rc = targets_gate(&s->targets, s->o, err);
	else if (!rc)
		rc = session_gate(s, err);
	dut_close(s->look);
	s->look = NULL;
	return rc ? rc : session_open_dut(s, err);
}

static void all(struct selftest *t)
{
	static void (*const part[])(struct selftest * t) = {
		selftest_identity, selftest_direct, selftest_engine, selftest_cache,
		selftest_health,   selftest_link,   purges,	     selftest_ways
	};

	for (unsigned i = 0; i < sizeof part / sizeof *part && !t->over; i++) {
		part[i](t);
		if (session_stop)
			t->over = t->stopped = true;
	}
	selftest_not_here(t);
}

static void print(const struct selftest *t, struct buf *out)
{
	struct table *table = table_new(columns, sizeof columns / sizeof *columns);
	const struct dut_info *d = &t->s.facts;
	struct json j = JSON_INIT(out);
	unsigned count[SELFTEST_NOT_TESTED + 1] = { 0 };

	for (unsigned i = 0; i < t->n; i++) {
		table_text(table, t->row[i].check);
		table_text(table, words[t->row[i].result]);
		table_text(table, t->row[i].found);
		table_row(table);
		count[t->row[i].result]++;
	}
	if (t->s.o->json) {
		json_object(&j, NULL);
		json_str(&j, "schema", "pts.selftest/1");
		json_str(&j, "dut", t->s.o->dut.v[0]);
		json_str(&j, "model", d->model[0] ? d->model : NULL);
		json_str(&j, "serial", d->serial[0] ? d->serial : NULL);
		json_str(&j, "firmware", d->firmware[0] ? d->firmware : NULL);
		json_bool(&j, "complete", !t->over);
		json_uint(&j, "failed", count[SELFTEST_FAILED]);
		table_json(table, &j, "checks");
		json_end_object(&j);
		buf_str(out, "\n");
	} else {
		table_print(table, out);
		buf_fmt(out, "%s: %u ok, %u failed, %u not offered, %u not tested here\n",
			t->s.o->dut.v[0], count[0], count[1], count[2], count[3]);
	}
	table_free(table);
}

static int code_of(const struct selftest *t)
{
	if (t->stopped)
		return EXIT_STOPPED;
	if (t->over)
		return EXIT_DEVICE;
	for (unsigned i = 0; i < t->n; i++)
		if (t->row[i].result == SELFTEST_FAILED)
			return EXIT_BAD;
	return EXIT_GOOD;
}

int cmd_selftest(const struct opts *o)
{
	struct selftest *t;
	struct buf out = BUF_INIT;
	struct err err = { "" };
	int rc, code;

	if (o->arg.n)
		return cmd_usage(o, "takes no word: '%s'; --dut names the drive", o->arg.v[0]);
	if (o->dut.n != 1)
		return cmd_usage(o, "one drive at a time: --dut names it (pts devices)");
	session_signals();
	t = calloc(1, sizeof *t);
	BUG_ON(!t);
	t->s.o = o;
	t->s.progress.fd = -1;
	rc = prepare(t, &err);
	if (rc) {
		code = cmd_fail(o, exit_of(rc), &err);
	} else {
		all(t);
		print(t, &out);
		code = cmd_out(o, &out, code_of(t));
	}
	if (t->s.hung)
		_exit(code); /* threads that never came back cannot be joined */
	session_close(&t->s);
	buf_release(&out);
	free(t);
	return code;
}
