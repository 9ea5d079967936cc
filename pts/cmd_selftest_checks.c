/* SPDX-License-Identifier: MIT */
/* What `pts selftest` looks at besides purges. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "pts/cmd_selftest.h"
#include "pts/gate.h"
#include "workloads/data.h"
#include "workloads/dut_again.h"
#include "workloads/dut_security.h"
#include "workloads/dut_target.h"

#define RUN_NS 300000000ull /* of a short load */

/* ---- what it says of itself ---- */

void selftest_identity(struct selftest *t)
{
	const struct dut_info *look = &t->s.facts, *now = &t->s.dut->info;
	const char *security = dut_security(t->s.dut);
	struct dut_info again;
	struct err err = { "" };
	char diff[400], size[32];
	int rc = dut_again(t->s.dut, &again, &err);

	if (rc) {
		selftest_rc(t, "identify", rc, "", &err);
		return;
	}
	fmt_capacity(size, sizeof size, now->capacity_bytes);
	again.wwid[0] = 0; /* the kernel writes it its own way */
	if (dut_differs(look, now, diff, sizeof diff))
		selftest_say(t, "identify", SELFTEST_FAILED, "two questions, two answers: %s",
			     diff);
	else if (again.capacity_bytes != now->capacity_bytes || again.lba_bytes != now->lba_bytes)
		selftest_say(t, "identify", SELFTEST_FAILED,
			     "the drive says %llu bytes in blocks of %u, the kernel %llu in blocks "
			     "of %u",
			     (unsigned long long)now->capacity_bytes, now->lba_bytes,
			     (unsigned long long)again.capacity_bytes, again.lba_bytes);
	else
		selftest_say(t, "identify", SELFTEST_OK,
			     "%s, serial %s, firmware %s, %s, LBA %u, word '%s'",
			     now->model[0] ? now->model : "no model",
			     now->serial[0] ? now->serial : "none",
			     now->firmware[0] ? now->firmware : "none", size, now->lba_bytes,
			     gate_word(now));
	if (security[0])
		selftest_say(t, "ATA security",
			     now->purge_methods & 1u << PURGE_ATA_SECURITY_ERASE
				     ? SELFTEST_OK
				     : SELFTEST_NOT_TESTED,
			     "%s", security);
}

void selftest_link(struct selftest *t)
{
	const struct dut_info *d = &t->s.dut->info;

	if (!d->link[0])
		selftest_say(t, "link", SELFTEST_NOT_OFFERED, "speed and width are not told%s%s",
			     d->transport[0] ? " by " : "", d->transport);
	else if (d->link_max[0] && strcmp(d->link, d->link_max))
		selftest_say(t, "link", SELFTEST_FAILED, "runs at %s, drive and slot can do %s",
			     d->link, d->link_max);
	else
		selftest_say(t, "link", SELFTEST_OK, "%s%s%s", d->transport,
			     d->transport[0] ? " " : "", d->link);
}

static const char *implausible(const struct health *h)
{
	if (h->have_temperature && (h->temperature_c < -40 || h->temperature_c > 125))
		return "no drive has such a temperature";
	if (h->percentage_used > 255)
		return "more endurance used than the field can hold";
	if (h->nand_written_bytes && h->nand_written_bytes < h->host_written_bytes / 1000)
		return "less written to the flash than a thousandth of what hosts wrote";
	return h->critical ? "the drive gives a critical warning" : NULL;
}

void selftest_health(struct selftest *t)
{
	struct dut *d = t->s.dut;
	struct health h = { .have_temperature = false };
	struct err err = { "" };
	char written[32], temperature[32] = "not told";
	int rc = d->ops->health ? d->ops->health(d, &h, &err) : -EOPNOTSUPP;
	const char *why;

	if (rc) {
		selftest_rc(t, "health", rc, "", &err);
		return;
	}
	why = implausible(&h);
	if (h.have_temperature)
		snprintf(temperature, sizeof temperature, "%.0f C", h.temperature_c);
	if (!h.have_temperature && !h.host_written_bytes && !h.text[0]) {
		selftest_say(t, "health", SELFTEST_NOT_OFFERED, "no SMART or health log");
		return;
	}
	fmt_capacity(written, sizeof written, h.host_written_bytes);
	selftest_say(t, "health", why ? SELFTEST_FAILED : SELFTEST_OK,
		     "%s%stemperature %s, %.0f %% of its endurance used, %s written by hosts, %llu "
		     "media errors%s%s%s",
		     why ? why : "", why ? ": " : "", temperature, h.percentage_used, written,
		     (unsigned long long)h.media_errors, h.throttled ? ", it throttles" : "",
		     h.text[0] ? "; " : "", h.text);
}

/* ---- write cache ---- */

void selftest_cache(struct selftest *t)
{
	struct dut *d = t->s.dut;
	bool was = false, now;
	struct err err = { "" }, ignored = { "" };
	char good[96];
	int rc = d->ops->write_cache ? d->ops->write_cache(d, false, &was, &err)
				     : err_set(&err, -EOPNOTSUPP, "no write cache");

	if (rc) {
		selftest_rc(t, "write cache", rc, "", &err);
		return;
	}
	rc = d->ops->write_cache(d, true, &now, &err);
	if (!rc && now)
		rc = err_set(&err, -EIO, "switched off and read back, but it was on");
	if (d->ops->write_cache(d, was, &now, &ignored) && !rc)
		rc = err_set(&err, -EIO, "it could not be put back %s: %s", was ? "on" : "off",
			     ignored.msg);
	snprintf(good, sizeof good, "off and on, each read back; put back %s", was ? "on" : "off");
	selftest_rc(t, "write cache", rc, good, &err);
}

/* ---- IO ---- */

/* Writes and reads one IO of that size by itself, past the first MiB. */
static int direct_io(const struct engine_target *to, uint32_t bytes, struct err *err)
{
	uint64_t at = to->capacity_bytes > (2u << 20) ? 1u << 20 : 0;
	char *out = aligned_alloc(4096, 4096), *in = aligned_alloc(4096, 4096);
	int rc = 0;

	BUG_ON(!out || !in);
	data_fill(out, bytes, rng_seed(at, bytes, 1, 0));
	memset(in, 0, bytes);
	errno = 0;
	if (pwrite(to->fd, out, bytes, (off_t)at) != (ssize_t)bytes)
		rc = err_set(err, errno ? -errno : -EIO, "write: %s",
			     errno ? strerror(errno) : "short");
	else if (fdatasync(to->fd))
		rc = err_set(err, -errno, "flush: %s", strerror(errno));
	else if (pread(to->fd, in, bytes, (off_t)at) != (ssize_t)bytes)
		rc = err_set(err, errno ? -errno : -EIO, "read: %s",
			     errno ? strerror(errno) : "short");
	else if (memcmp(in, out, bytes))
		rc = err_set(err, -EBADE, "other data came back than was written");
	free(out);
	free(in);
	return rc;
}

void selftest_direct(struct selftest *t)
{
	static const uint32_t sizes[] = { 512, 4096 };
	struct engine_target to = { .fd = -1 };
	struct err err = { "" };
	int rc = dut_target_open(t->s.dut, &to, &err);

	for (unsigned i = 0; i < 2 && !t->over; i++) {
		char check[48];
		struct err why = { "" };

		snprintf(check, sizeof check, "direct IO of %u", sizes[i]);
		if (rc)
			selftest_rc(t, check, rc, "", &err);
		else if (!(fcntl(to.fd, F_GETFL) & O_DIRECT))
			selftest_say(t, check, SELFTEST_NOT_OFFERED,
				     "the file system refuses O_DIRECT");
		else if (sizes[i] % t->s.dut->info.lba_bytes)
			selftest_say(t, check, SELFTEST_NOT_OFFERED, "its LBA has %u bytes",
				     t->s.dut->info.lba_bytes);
		else
			selftest_rc(t, check, direct_io(&to, sizes[i], &why),
				    "written, flushed, read back", &why);
	}
	dut_target_close(&to);
}

struct load {
	uint64_t ios[IO_OPS], errors;
};

static int sealed(void *arg, unsigned segment, const struct result *r)
{
	struct load *l = arg;

	for (unsigned op = 0; op < IO_OPS; op++)
		l->ios[op] += r->op[op].ios;
	l->errors += r->errors;
	return 0;
}

/* A short random load, half of it writes unless @read_only. */
static int run_load(struct dut *d, bool read_only, char *good, size_t n, struct err *err)
{
	uint32_t bytes = d->info.lba_bytes > 4096 ? d->info.lba_bytes : 4096;
	struct access acc = { .name = "selftest", .n_streams = read_only ? 1 : 2, .regions = 1 };
	struct segment seg = {
		.acc = &acc, .threads = 2, .qd = 8, .stop = { .time_ns = RUN_NS }, .seed = 1
	};
	struct load l = { .errors = 0 };
	struct job job = { .seg = &seg,
			   .n = 1,
			   .range = { .bytes = d->info.capacity_bytes -
					       d->info.capacity_bytes % bytes },
			   .sealed = sealed,
			   .arg = &l,
			   .stop = &session_stop };
	int rc;

	for (unsigned op = 0; op < acc.n_streams; op++)
		acc.stream[op] = (struct stream){
			.share = 1, .bytes = bytes, .op = (uint8_t)op, .cursor = CURSOR_NONE
		};
	rc = d->ops->run(d, &job, err);
	if (!rc && (!l.ios[IO_READ] || l.errors))
		rc = err_set(err, -EIO, "%llu reads, %llu errors", (unsigned long long)l.ios[0],
			     (unsigned long long)l.errors);
	snprintf(good, n, "%llu reads, %llu writes of %u bytes, none failed: %.150s",
		 (unsigned long long)l.ios[IO_READ], (unsigned long long)l.ios[IO_WRITE], bytes,
		 d->engine);
	return rc;
}

void selftest_engine(struct selftest *t)
{
	struct err err = { "" };
	char good[300];
	int rc = run_load(t->s.dut, false, good, sizeof good, &err);

	t->s.hung = rc == -ETIMEDOUT;
	selftest_rc(t, "engine", rc, good, &err);
}

/* Reads alone: what was purged last stays so. */
static void one_way(struct selftest *t, const char *check, const struct dut_options *opt)
{
	struct err err = { "" };
	struct dut *d = NULL;
	char good[300] = "";
	int rc = dut_open(t->s.o->dut.v[0], DUT_WRITE, opt, &d, &err);

	if (!rc)
		rc = run_load(d, true, good, sizeof good, &err);
	if (!rc && opt->polled && !strstr(d->engine, "polled"))
		rc = err_set(&err, -EOPNOTSUPP, "its queue cannot be polled: %s", d->engine);
	t->s.hung = rc == -ETIMEDOUT;
	if (!t->s.hung)
		dut_close(d);
	selftest_rc(t, check, rc, good, &err);
}

void selftest_ways(struct selftest *t)
{
	struct dut_options passthrough = { .passthrough = true }, polled = { .polled = true };

	if (t->s.o->method)
		return;
	dut_close(t->s.dut);
	t->s.dut = NULL;
	if (t->s.facts.nsid)
		one_way(t, "NVMe passthrough", &passthrough);
	else
		selftest_say(t, "NVMe passthrough", SELFTEST_NOT_OFFERED, "no NVMe namespace");
	if (!t->over)
		one_way(t, "polled", &polled);
}

void selftest_not_here(struct selftest *t)
{
	if (t->over)
		selftest_say(t, "all that follows", SELFTEST_NOT_TESTED, "%s",
			     t->stopped ? "interrupted" : "the drive is gone or its state unknown");
	selftest_say(t, "sudden power loss", SELFTEST_NOT_TESTED,
		     "needs an outlet that a program can switch");
	selftest_say(t, "throttling by heat", SELFTEST_NOT_TESTED,
		     "needs hours of load; a run watches for it");
	selftest_say(t, "pulling and plugging", SELFTEST_NOT_TESTED, "needs a hand");
}
