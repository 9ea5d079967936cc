/* SPDX-License-Identifier: MIT */
/*
 * Format NVM and Sanitize. Never the broadcast nsid, never another LBA format than the one in use, never a method that was not asked
 * for: what fails is told, with its status, and that is the end of it.
 */
#include <endian.h>
#include <errno.h>
#include <libnvme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/dut_nvme_impl.h"

#define NS_PER_S 1000000000ull
#define SHORTEST_S 600u
#define POLL_NS NS_PER_S
#define LOG_FAILURES 10 /* in a row: a controller that is being reset answers again soon */

static void tell(const struct dut *d, const char *text)
{
	if (d->tell)
		d->tell(d->arg, text);
}

static bool stopped(const struct dut *d)
{
	return d->stop && *d->stop;
}

/* Ten minutes, and a second for each gigabyte: four times what the slowest drives take. */
static uint32_t scaled_s(const struct nvme_drive *n)
{
	uint64_t s = SHORTEST_S + n->place.capacity_bytes / 1000000000;

	return s > 1000000 ? 1000000 : (uint32_t)s;
}

static void time_text(char out[24], uint64_t s)
{
	if (s < 7200)
		snprintf(out, 24, "%llu min", (unsigned long long)(s + 59) / 60);
	else
		snprintf(out, 24, "%llu h", (unsigned long long)(s + 3599) / 3600);
}

/* ---- Format NVM ---- */

static bool same_format(const struct nvme_ns *a, const struct nvme_ns *b)
{
	return a->blocks == b->blocks && a->lba_bytes == b->lba_bytes && a->format == b->format &&
	       a->extended == b->extended && a->metadata_bytes == b->metadata_bytes &&
	       a->protection == b->protection;
}

/* The drive must be the same after it, but empty. */
static int check_format(struct nvme_drive *n, const struct nvme_ns *before, struct err *err)
{
	int rc = nvme_drive_identify(n, err);

	if (!same_format(before, &n->ns))
		return err_set(err, -EIO,
			       "%s: after Format NVM it has %llu blocks of %u + %u bytes (format "
			       "%u), before %llu of %u + %u (format %u)",
			       n->place.block, (unsigned long long)n->ns.blocks, n->ns.lba_bytes,
			       n->ns.metadata_bytes, n->ns.format,
			       (unsigned long long)before->blocks, before->lba_bytes,
			       before->metadata_bytes, before->format);
	return rc ? err_prefix(err, rc, "after Format NVM") : 0;
}

static int format(struct nvme_drive *n, const struct dut *d, char detail[256], struct err *err)
{
	struct nvme_ns before = n->ns;
	uint32_t result = 0, limit_s = scaled_s(n);
	struct nvme_format_nvm_args a = {
		.result = &result,
		.args_size = sizeof a,
		.fd = n->fd,
		.timeout = limit_s * 1000,
		.nsid = n->place.nsid,
		.mset = before.extended ? NVME_FORMAT_MSET_EXTENDED : NVME_FORMAT_MSET_SEPARATE,
		.pi = (enum nvme_cmd_format_pi)before.protection,
		.pil = before.protection_first ? NVME_FORMAT_PIL_FIRST : NVME_FORMAT_PIL_LAST,
		.ses = NVME_FORMAT_SES_USER_DATA_ERASE,
		.lbaf = before.format & 0xf,
		.lbafu = before.format >> 4,
	};
	uint32_t cdw10 = a.lbaf | (uint32_t)a.mset << 4 | (uint32_t)a.pi << 5 |
			 (uint32_t)a.pil << 8 | (uint32_t)a.ses << 9 | (uint32_t)a.lbafu << 12;
	char what[96], limit[24], text[160];

	time_text(limit, limit_s);
	snprintf(what, sizeof what, "Format NVM, nsid %u, CDW10 %08xh", a.nsid, cdw10);
	snprintf(text, sizeof text,
		 "nvme-format: user data erase, LBA format %u kept; it takes at most %s and cannot "
		 "be stopped",
		 before.format, limit);
	tell(d, text);
	int rc = nvme_result(n, nvme_format_nvm(&a), what, err);
	if (!rc)
		rc = check_format(n, &before, err);
	snprintf(detail, 256,
		 "%s (SES 1, user data erase; LBA format %u) by %s, limit %u s: status 0000h", what,
		 before.format, n->place.ctrl, limit_s);
	return rc;
}

/* ---- Sanitize ---- */

struct san { /* log page 81h */
	unsigned progress, status, action;
	uint32_t estimate_s[3]; /* overwrite, block, crypto; UINT32_MAX not told */
};

static int read_san(struct nvme_drive *n, struct san *ret, struct err *err)
{
	struct nvme_sanitize_log_page *l = calloc(1, sizeof *l);
	int rc;

	BUG_ON(!l);
	rc = nvme_trusted(n, err);
	if (!rc)
		rc = nvme_result(n, nvme_get_log_sanitize(n->fd, false, l), "sanitize status log",
				 err);
	if (!rc)
		*ret = (struct san){
			.progress = le16toh(l->sprog),
			.status = le16toh(l->sstat) & NVME_SANITIZE_SSTAT_STATUS_MASK,
			.action = le32toh(l->scdw10) & 7,
			.estimate_s = { le32toh(l->eto), le32toh(l->etbe), le32toh(l->etce) },
		};
	free(l);
	return rc;
}

static enum nvme_sanitize_sanact action_of(enum purge_method m)
{
	return m == PURGE_NVME_SANITIZE_BLOCK	 ? NVME_SANITIZE_SANACT_START_BLOCK_ERASE
	       : m == PURGE_NVME_SANITIZE_CRYPTO ? NVME_SANITIZE_SANACT_START_CRYPTO_ERASE
						 : NVME_SANITIZE_SANACT_START_OVERWRITE;
}

/* How long it may stand still: ten minutes and twice the drive's estimate; without one, by capacity. */
static uint64_t bound_s(const struct nvme_drive *n, const struct san *s)
{
	bool overwrite = s->action == NVME_SANITIZE_SANACT_START_OVERWRITE;
	unsigned k = overwrite ? 0 : s->action == NVME_SANITIZE_SANACT_START_CRYPTO_ERASE ? 2 : 1;

	if (s->estimate_s[k] != UINT32_MAX)
		return SHORTEST_S + 2ull * s->estimate_s[k];
	return overwrite ? 10ull * scaled_s(n) : scaled_s(n);
}

static unsigned pct_of(const struct san *s)
{
	return s->progress * 100 / 65536;
}

/* A log that cannot be read now and then is no end: the sanitize goes on in the drive. */
static int look(struct nvme_drive *n, unsigned *failures, struct san *ret, struct err *err)
{
	struct err why = { "" };
	int rc = read_san(n, ret, &why);

	if (!rc) {
		*failures = 0;
		return 0;
	}
	if (rc != -ENODEV && ++*failures < LOG_FAILURES)
		return -EAGAIN;
	return err_set(err, rc, "the sanitize goes on in the drive, but %s", why.msg);
}

static int ended(const struct nvme_drive *n, const struct san *s, struct err *err)
{
	switch (s->status) {
	case NVME_SANITIZE_SSTAT_STATUS_COMPLETE_SUCCESS:
	case NVME_SANITIZE_SSTAT_STATUS_ND_COMPLETE_SUCCESS:
		return 0;
	case NVME_SANITIZE_SSTAT_STATUS_COMPLETED_FAILED:
		return err_set(err, -EIO,
			       "%s: sanitize FAILED (SSTAT 3): the drive refuses all else until a "
			       "sanitize succeeds; purge by a sanitize method again. Leaving that "
			       "state without erasing is not done here",
			       n->place.ctrl);
	default:
		return err_set(err, -EIO,
			       "%s: no sanitize in progress, and none that ended (SSTAT %u)",
			       n->place.ctrl, s->status);
	}
}

/* Polls until it ends, and tells how far it is. */
static int wait_end(struct nvme_drive *n, const char *name, const struct dut *d, struct san *ret,
		    struct err *err)
{
	unsigned failures = 0, progress = UINT32_MAX, pct = UINT32_MAX;
	uint64_t moved_ns = n->now();
	struct san s = { .status = 0 };
	char text[96];

	for (;; n->pause(POLL_NS)) {
		int rc = look(n, &failures, &s, err);

		if (stopped(d))
			return err_set(err, -EINTR,
				       "stopped; the sanitize cannot be: it goes on in the drive, "
				       "which takes no IO until it ends");
		if (rc == -EAGAIN)
			continue;
		if (rc)
			return rc;
		if (s.status != NVME_SANITIZE_SSTAT_STATUS_IN_PROGESS)
			break;
		if (s.progress != progress)
			moved_ns = n->now();
		progress = s.progress;
		if (n->now() - moved_ns > bound_s(n, &s) * NS_PER_S)
			return err_set(
				err, -ETIMEDOUT,
				"%s: sanitize is stuck at %u %% (SPROG %u for %llu s): it may "
				"still go on; look at it with nvme sanitize-log",
				n->place.ctrl, pct_of(&s), s.progress,
				(unsigned long long)bound_s(n, &s));
		if (pct_of(&s) == pct)
			continue;
		pct = pct_of(&s);
		snprintf(text, sizeof text, "%s: %u %%", name, pct);
		tell(d, text);
	}
	*ret = s;
	return ended(n, &s, err);
}

/* CDW10; one pass where it overwrites, deallocation allowed, restricted: a failure leaves the drive in a state that shows. */
static uint32_t start(struct nvme_drive *n, enum nvme_sanitize_sanact action, int *ret_rc)
{
	uint32_t result = 0, passes = action == NVME_SANITIZE_SANACT_START_OVERWRITE;
	struct nvme_sanitize_nvm_args a = {
		.result = &result,
		.args_size = sizeof a,
		.fd = n->fd,
		.timeout = SHORTEST_S * 1000,
		.sanact = action,
		.owpass = passes,
	};

	*ret_rc = nvme_sanitize_nvm(&a);
	return (uint32_t)action | passes << 4;
}

static int sanitize(struct nvme_drive *n, enum purge_method m, const struct dut *d,
		    char detail[256], struct err *err)
{
	enum nvme_sanitize_sanact action = action_of(m);
	struct san s = { .status = 0 };
	const char *joined = "";
	char what[64];

	for (unsigned tries = 0;; tries++) {
		int rc;
		uint32_t cdw10 = start(n, action, &rc);
		bool runs = nvme_code(rc) == NVME_CODE_SANITIZE_RUNS && !tries;

		snprintf(what, sizeof what, "Sanitize, CDW10 %08xh", cdw10);
		if (!runs) {
			rc = nvme_result(n, rc, what, err);
			if (rc)
				return rc;
		}
		rc = wait_end(n, purge_method_name(m), d, &s, err);
		if (rc)
			return rc;
		if (!runs)
			break;
		/* Somebody was faster: what erased after the marks were written counts, if it was the same. */
		joined = "; another one in progress was waited for";
		if (s.action == action)
			break;
	}
	snprintf(detail, 256, "%s by %s, of all namespaces: status 0000h, log 81h: SSTAT %u%s",
		 what, n->place.ctrl, s.status, joined);
	return 0;
}

/* ---- */

static bool is_sanitize(enum purge_method m)
{
	return m == PURGE_NVME_SANITIZE_BLOCK || m == PURGE_NVME_SANITIZE_CRYPTO ||
	       m == PURGE_NVME_SANITIZE_OVERWRITE;
}

static int check_method(const struct nvme_drive *n, enum purge_method m, struct err *err)
{
	const struct nvme_caps *c = &n->caps;
	bool can = m == PURGE_NVME_FORMAT		? c->format
		   : m == PURGE_NVME_SANITIZE_BLOCK	? c->block
		   : m == PURGE_NVME_SANITIZE_CRYPTO	? c->crypto
		   : m == PURGE_NVME_SANITIZE_OVERWRITE ? c->overwrite
							: false;

	return can ? 0
		   : err_set(err, -EOPNOTSUPP, "%s: the controller has no %s", n->place.block,
			     purge_method_name(m));
}

bool nvme_erasing(struct nvme_drive *n)
{
	const struct nvme_caps *c = &n->caps;
	struct san s = { .status = 0 };
	struct err ignored = { "" };

	return (c->block || c->crypto || c->overwrite) && !read_san(n, &s, &ignored) &&
	       s.status == NVME_SANITIZE_SSTAT_STATUS_IN_PROGESS;
}

int nvme_ready(struct nvme_drive *n, enum purge_method m, const struct dut *d, struct err *err)
{
	const struct nvme_caps *c = &n->caps;
	struct san s = { .status = 0 };
	struct err why = { "" };
	char ignored[256];
	int rc = nvme_trusted(n, err);

	if (rc || !(c->block || c->crypto || c->overwrite))
		return rc;
	rc = read_san(n, &s, &why);
	if (rc && !is_sanitize(m) && !n->unknown && rc != -ENODEV)
		return 0; /* the method at hand does without that log */
	if (rc)
		return err_set(err, rc, "%s", why.msg);
	if (s.status == NVME_SANITIZE_SSTAT_STATUS_IN_PROGESS) {
		tell(d, "a sanitize is in progress: waiting for its end");
		rc = wait_end(n, "sanitize in progress", d, &s, &why);
		if (rc && s.status != NVME_SANITIZE_SSTAT_STATUS_COMPLETED_FAILED)
			return err_set(err, rc, "%s", why.msg);
	}
	if (s.status != NVME_SANITIZE_SSTAT_STATUS_COMPLETED_FAILED)
		return 0;
	if (!is_sanitize(m) || check_method(n, m, &why))
		return ended(n, &s, err);
	tell(d, "the last sanitize failed: one more, before the purge that is verified");
	return sanitize(n, m, d, ignored, err);
}

/* PTS[GEN-3.2-METHOD] */
int nvme_purge(struct nvme_drive *n, enum purge_method m, const struct dut *d, char detail[256],
	       struct err *err)
{
	int rc = nvme_trusted(n, err);

	if (!rc)
		rc = check_method(n, m, err);
	if (rc)
		return rc;
	return m == PURGE_NVME_FORMAT ? format(n, d, detail, err) : sanitize(n, m, d, detail, err);
}
