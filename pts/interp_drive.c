/* SPDX-License-Identifier: MIT */
/* Purge and write cache: the first statements of every PTS test, and what is put back at its end. */
#include <errno.h>

#include "pts/base/buf.h"
#include "pts/base/json.h"
#include "pts/interp_priv.h"

static int event_purge(struct interp *in, const struct purge_report *r, int rc, const char *why)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);

	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	json_str(&j, "method", purge_method_name(r->method));
	json_uint(&j, "elapsed_ns", r->elapsed_ns);
	json_bool(&j, "ok", rc == 0);
	json_bool(&j, "verified", r->verified);
	json_uint(&j, "canaries", r->canaries);
	json_uint(&j, "survivors", r->survivors);
	json_str(&j, "detail", rc ? why : r->detail);
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
	if (s->optional || in->ctx->allow_unpurged)
		return note_deviation(in, "not purged: %s", why);
	if (rc == -EOPNOTSUPP || rc == -EINVAL)
		return err_set(in->err, -EINVAL,
			       "%s (--method names another way, --allow-unpurged goes on without)",
			       why);
	return err_set(in->err, rc, "purge failed, the test does not start: %s", why);
}

int drive_purge(struct interp *in, const struct step *s, struct section_row *row)
{
	struct dut *d = in->ctx->dut;
	enum purge_method m = in->ctx->method;
	struct purge_report r = { .method = PURGE_NONE };
	struct err why = { "" };
	int rc;

	if (m == PURGE_AUTO)
		m = d->info.purge_auto;
	if (m == PURGE_NONE)
		return unpurged(in, s, row, -EOPNOTSUPP,
				"this drive offers no purge method that pts knows");
	r.method = m;
	rc = d->ops->purge(d, m, &r, &why);
	in->written = 0;
	if (rc == -EINTR)
		return err_set(in->err, rc, "stopped while purging");
	row->purge_method = purge_method_name(m);
	if (event_purge(in, &r, rc, why.msg))
		return -EIO;
	if (rc)
		return unpurged(in, s, row, rc, why.msg);
	row->purge_verified = r.verified;
	if (!r.verified && !d->info.simulated &&
	    note_deviation(in, "purge not verified by reading back"))
		return -EIO;
	if (!purge_method_is_pts(m) && m != PURGE_SIM)
		return note_deviation(in, "purge by %s, which is no purge of the PTS",
				      purge_method_name(m));
	return 0;
}

static int event_cache(struct interp *in, const char *asked, const char *was)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	int rc;

	json_object(&j, NULL);
	json_str(&j, "test", in->plan->name);
	json_str(&j, "asked", asked);
	json_str(&j, "was", was);
	json_str(&j, "now", in->cache_state);
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
		bool first = !in->cache_state, none = d->info.simulated && !d->info.has_write_cache;

		in->cache_state = none ? "none" : "unknown";
		if (!first)
			return 0;
		if (!none &&
		    note_deviation(in, "write cache neither set to %s nor read back", asked))
			return -EIO;
		return event_cache(in, asked, NULL);
	}
	if (rc)
		return err_set(in->err, rc, "write cache: %s", why.msg);
	if (!in->cache_changed) {
		in->cache_was = was;
		in->cache_changed = was != want;
	}
	in->cache_state = asked;
	return event_cache(in, asked, was ? "on" : "off");
}

void drive_restore(struct interp *in)
{
	struct dut *d = in->ctx->dut;
	struct err why = { "" };
	bool was;

	if (!in->cache_changed || in->ctx->hung)
		return;
	in->cache_changed = false;
	if (d->ops->write_cache(d, in->cache_was, &was, &why)) {
		struct err ignored = { "" };

		if (store_event(in->ctx->store, in->ctx->run, "warning",
				"{\"text\":\"write cache could not be put back\"}", &ignored))
			err_set(in->err, -EIO, "%s", ignored.msg);
	}
}
