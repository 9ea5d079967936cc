/* SPDX-License-Identifier: MIT */
/* Waiting for what runs in a drive for minutes or days: told on the way, given up on demand, never for ever. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "workloads/dut_scsi_impl.h"

#define NAP_MS 100 /* between two looks at the stop flag */
#define S_NS 1000000000ull
#define MINUTE_NS (60 * S_NS)
#define SOON_NS (300 * S_NS)
#define BASE_NS (1800 * S_NS)
#define BUSY_MOST 30 /* looks in a row that a controller may refuse */

void scsi_tell(const struct dut *d, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!d || !d->tell)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	d->tell(d->arg, text);
}

uint64_t scsi_most_ns(const struct scsi_drive *s, uint64_t bytes_per_s)
{
	uint64_t bytes = s->capacity.blocks * s->capacity.lba_bytes;

	return BASE_NS + bytes / bytes_per_s * S_NS;
}

static bool stopped(const struct dut *d)
{
	return d && d->stop && *d->stop;
}

/* False: stopped. */
static bool nap(struct scsi_drive *s, const struct dut *d, uint64_t since_ns)
{
	unsigned ms = s->now_ns() - since_ns < SOON_NS ? 1000 : 5000;

	for (unsigned slept = 0; slept < ms && !stopped(d); slept += NAP_MS)
		s->sleep_ms(NAP_MS);
	return !stopped(d);
}

static unsigned percent(int of_65536)
{
	return (unsigned)((uint64_t)of_65536 * 100 / 65536);
}

/* Each percent once; where the drive tells none, each minute. */
static void report(const struct dut *d, const struct scsi_wait *w, const struct scsi_progress *p,
		   uint64_t waited_ns, char last[128])
{
	char text[128], span[48];

	if (p->of_65536 >= 0)
		snprintf(text, sizeof text, "%s: %u %%", w->what, percent(p->of_65536));
	else if (waited_ns < MINUTE_NS)
		snprintf(text, sizeof text, "%s: running, no progress told", w->what);
	else
		snprintf(text, sizeof text, "%s: running for %s, no progress told", w->what,
			 fmt_span(span, sizeof span, waited_ns / MINUTE_NS * MINUTE_NS));
	if (!strcmp(text, last))
		return;
	snprintf(last, 128, "%s", text);
	scsi_tell(d, "%s", text);
}

static int too_long(const struct scsi_drive *s, const struct scsi_wait *w, int of_65536,
		    struct err *err)
{
	char span[48], at[64] = "it told no progress";

	if (of_65536 >= 0)
		snprintf(at, sizeof at, "the last it told was %u %%", percent(of_65536));
	return err_set(
		err, -ETIMEDOUT,
		"%s: %s: not over after %s, %s: it is stuck or very slow, and goes on in the "
		"drive, whose state is unknown: nothing more is sent to it",
		s->path, w->what, fmt_span(span, sizeof span, w->most_ns), at);
}

int scsi_wait(struct scsi_drive *s, const struct dut *d, const struct scsi_wait *w, struct err *err)
{
	uint64_t start_ns = s->now_ns();
	char last[128] = "";
	int of_65536 = -1;
	unsigned busy = 0;

	for (;;) {
		struct scsi_progress p = { .of_65536 = -1 };
		struct err why = { "" };
		int rc = w->look(s, &p, &why);

		if (rc && (rc != -EBUSY || ++busy > BUSY_MOST))
			return err_set(err, rc, "%s", why.msg);
		busy = rc ? busy : 0;
		if (!rc && p.state == SCSI_OVER)
			return 0;
		if (!rc && p.state == SCSI_FAILED)
			return err_set(err, -EIO, "%s: %s failed: %s", s->path, w->what, p.why);
		of_65536 = p.of_65536 >= 0 ? p.of_65536 : of_65536;
		if (!rc)
			report(d, w, &p, s->now_ns() - start_ns, last);
		if (s->now_ns() - start_ns >= w->most_ns)
			return too_long(s, w, of_65536, err);
		if (!nap(s, d, start_ns))
			return err_set(
				err, -EINTR,
				"%s: interrupted: %s goes on in the drive; a later pts purge "
				"waits for its end",
				s->path, w->what);
	}
}
