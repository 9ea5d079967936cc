/* SPDX-License-Identifier: MIT */
/* Purge and write cache: the first statements of every PTS test, and what is put back at its end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "pts/interp_priv.h"

void written_reset(struct interp *in)
{
	in->written = 0;
	memset(in->member_written, 0, in->plan->members * sizeof *in->member_written);
}

int drive_same(struct interp *in)
{
	const struct run_guard *g = in->ctx->guard;

	return g && g->same ? g->same(g->arg, in->err) : 0;
}

/* The drive of member @member of a set; 0: the one there is. */
static const struct dut_info *info_of(const struct interp *in, unsigned member)
{
	const struct dut *d = in->ctx->dut;

	if (!d)
		return NULL;
	return member && d->member ? &d->member[member - 1]->info : &d->info;
}

/* Why that method: the drive's choice, or the user's; and what else it erased. */
static void event_choice(const struct interp *in, struct json *j, unsigned member)
{
	const struct dut_info *info = info_of(in, member);
	const struct purge_reach *reach = in->ctx->guard ? in->ctx->guard->reach : NULL;

	json_bool(j, "auto", in->ctx->method == PURGE_AUTO);
	json_str(j, "why",
		 in->ctx->method != PURGE_AUTO ? "asked for"
		 : info && info->auto_why[0]   ? info->auto_why
					       : NULL);
	if (!reach || !reach->n)
		return;
	json_array(j, "reach");
	for (unsigned i = 0; i < reach->n && i < REACH_MAX; i++)
		json_str(j, NULL, reach->path[i]);
	json_end_array(j);
}

/* @member: of a set, from 1; 0: of all at once. */
static int event_purge(struct interp *in, const struct purge_report *r, unsigned member, int rc,
		       const char *why)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	if (member)
		json_uint(&j, "member", member);
	json_str(&j, "method", purge_method_name(r->method));
	json_uint(&j, "elapsed_ns", r->elapsed_ns);
	json_bool(&j, "ok", rc == 0);
	json_bool(&j, "verified", r->verified);
	json_uint(&j, "canaries", r->canaries);
	json_uint(&j, "survivors", r->survivors);
	json_str(&j, "detail", rc ? why : r->detail);
	event_choice(in, &j, member);
	json_end_object(&j);
	rc = store_event(in->ctx->store, in->ctx->run, "purge", buf_cstr(&b), in->err);
	buf_release(&b);
	return rc;
}

/* No purge, or none that held: a deviation if the operator or the definition allows it. */
static int unpurged(struct interp *in, const struct step *s, struct section_row *row, int rc,
		    const char *why)
{
	row->purge_verified = 0;
	if (rc == -ETIMEDOUT || rc == -ENODEV) /* what it does now is not known: no IO may follow */
		return err_set(in->err, rc, "purge failed, the state of the drive is unknown: %s",
			       why);
	if (s->optional || in->ctx->allow_unpurged)
		return note_deviation(in, "not purged: %s", why);
	if (rc == -EOPNOTSUPP || rc == -EINVAL)
		return err_set(in->err, -EINVAL,
			       "%s (--method names another way, --allow-unpurged goes on without)",
			       why);
	return err_set(in->err, rc, "purge failed, the test does not start: %s", why);
}

/* What was done to the drive, or to each of a set, as events, deviations, and in the section's row. */
static int purged(struct interp *in, const struct purge_report *r, unsigned member,
		  struct section_row *row)
{
	const struct dut *d = in->ctx->dut;
	const char *name = purge_method_name(r->method);
	size_t n = strlen(in->purge_methods);

	if (event_purge(in, r, member, 0, ""))
		return -EIO;
	if (!strstr(in->purge_methods, name))
		snprintf(in->purge_methods + n, sizeof in->purge_methods - n, "%s%s", n ? "," : "",
			 name);
	row->purge_method = in->purge_methods;
	row->purge_verified = row->purge_verified && r->verified;
	if (!r->verified && !d->info.simulated &&
	    note_deviation(in, "purge not verified by reading back"))
		return -EIO;
	if (!purge_method_is_pts(r->method) && r->method != PURGE_SIM)
		return note_deviation(in, "purge by %s, which is no purge of the PTS", name);
	return 0;
}

static int purge_by(struct interp *in, enum purge_method m, struct purge_report *r, struct err *why)
{
	const struct run_guard *g = in->ctx->guard;
	struct dut *d = in->ctx->dut;
	int rc;

	r->method = m;
	rc = m != PURGE_HOOK ? d->ops->purge(d, m, r, why)
	     : g && g->hook  ? g->hook(g->arg, &in->ctx->dut, r, why)
			     : err_set(why, -EOPNOTSUPP, "no purge hook");
	if (!rc && g && g->purged)
		rc = g->purged(g->arg, why);
	return rc;
}

int drive_purge(struct interp *in, const struct step *s, struct section_row *row)
{
	const struct dut_info *info = &in->ctx->dut->info;
	enum purge_method m = in->ctx->method;
	struct purge_report r = { .method = PURGE_NONE };
	struct err why = { "" };
	const struct run_guard *g = in->ctx->guard;
	int rc = drive_same(in);

	if (!rc && g && g->reach_free)
		rc = g->reach_free(g->arg, in->err);
	if (rc)
		return rc;
	if (m == PURGE_AUTO)
		m = info->purge_auto;
	if (m == PURGE_NONE)
		return unpurged(in, s, row, -EOPNOTSUPP,
				"this drive offers no purge method that pts knows");
	rc = purge_by(in, m, &r, &why);
	written_reset(in);
	if (rc == -EINTR)
		return err_set(in->err, rc, "stopped while purging");
	row->purge_method = purge_method_name(m);
	if (rc && event_purge(in, &r, 0, rc, why.msg))
		return -EIO;
	if (rc && !in->ctx->dut) /* lost by the hook: there is nothing to measure, purged or not */
		return err_set(in->err, -ENODEV, "purge failed: %s", why.msg);
	if (rc)
		return unpurged(in, s, row, rc, why.msg);
	info = &in->ctx->dut->info;
	in->purge_methods[0] = 0;
	row->purge_verified = 1;
	if (!r.member)
		return purged(in, &r, 0, row);
	for (unsigned i = 0; i < info->members && !rc; i++)
		rc = purged(in, &r.member[i], i + 1, row);
	return rc;
}

/* @put_back: the end of a test gives the drive what it had before. */
static int event_cache(struct interp *in, const char *asked, const char *was, bool put_back)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	json_str(&j, "asked", asked);
	json_str(&j, "was", was);
	json_str(&j, "now", put_back ? asked : in->cache_state);
	if (put_back)
		json_bool(&j, "put_back", true);
	json_end_object(&j);
	rc = store_event(in->ctx->store, in->ctx->run, "write-cache", buf_cstr(&b), in->err);
	buf_release(&b);
	return rc;
}

/* Spec 3.3: WCD for enterprise, WCE for client, set after each purge and read back. */
int drive_cache(struct interp *in)
{
	struct dut *d = in->ctx->dut;
	bool want = in->plan->write_cache, was = false;
	const char *asked = want ? "on" : "off";
	struct err why = { "" };
	int rc;

	rc = d->ops->write_cache ? d->ops->write_cache(d, want, &was, &why) : -EOPNOTSUPP;
	if (rc == -EOPNOTSUPP) {
		bool first = !in->cache_state,
		     none = (d->info.simulated || d->info.cache_known) && !d->info.has_write_cache;

		in->cache_state = none ? "none" : "unknown";
		if (!first)
			return 0;
		if (!none &&
		    note_deviation(in, "write cache neither set to %s nor read back", asked))
			return -EIO;
		return event_cache(in, asked, NULL, false);
	}
	if (rc)
		return err_set(in->err, rc, "write cache: %s", why.msg);
	if (!in->cache_known) /* later purges may have switched it themselves */
		in->cache_was = in->ctx->cache_was ? !strcmp(in->ctx->cache_was, "on") : was;
	in->cache_known = true;
	in->cache_state = asked;
	return event_cache(in, asked, was ? "on" : "off", false);
}

void drive_restore(struct interp *in)
{
	const char *to = in->cache_was ? "on" : "off";
	struct dut *d = in->ctx->dut;
	struct err why = { "" }, ignored = { "" };
	bool was = in->plan->write_cache;
	char lost[96];
	int rc;

	if (!d || !in->cache_known || in->ctx->hung || in->cache_was == in->plan->write_cache)
		return;
	in->cache_known = false;
	snprintf(lost, sizeof lost, "{\"text\":\"write cache could not be put back %s\"}", to);
	if (d->ops->write_cache(d, in->cache_was, &was, &why))
		rc = store_event(in->ctx->store, in->ctx->run, "warning", lost, &ignored);
	else
		rc = event_cache(in, to, was ? "on" : "off", true);
	if (rc)
		err_set(in->err, -EIO, "%s", ignored.msg);
}
