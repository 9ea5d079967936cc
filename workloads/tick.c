/* SPDX-License-Identifier: MIT */
#include "workloads/tick.h"

#include <math.h>
#include <string.h>

#include "pts/base/buf.h"

#define TICK_ONE ((uint64_t)1 << 32)
#define TICK_DRIFT_BASE_NS 50000000u /* a pair is good to about 100 ns: 2 ppm over 50 ms */

static bool file_has(const char *path, const char *word)
{
	struct buf b = BUF_INIT;
	bool yes = !buf_read_file(&b, path, 1 << 20) && strstr(buf_cstr(&b), word);

	buf_release(&b);
	return yes;
}

static bool tsc_trusted(void)
{
#if defined(__x86_64__)
	return file_has("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			"tsc") &&
	       file_has("/proc/cpuinfo", " constant_tsc") &&
	       file_has("/proc/cpuinfo", " nonstop_tsc");
#else
	return false;
#endif
}

struct tick_pair tick_sample(const struct tick *c)
{
	struct tick_pair best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t a = tick_now(c->tsc), raw = tick_gettime_ns(), b = tick_now(c->tsc);
		if (b - a >= width)
			continue;
		width = b - a;
		best = (struct tick_pair){ a + (b - a) / 2, raw };
	}
	return best;
}

static uint64_t rate(struct tick_pair a, struct tick_pair b)
{
	if (b.tick <= a.tick || b.raw_ns <= a.raw_ns)
		return 0;
	return (uint64_t)(((unsigned __int128)(b.raw_ns - a.raw_ns) << 32) / (b.tick - a.tick));
}

void tick_open(struct tick *c)
{
	struct timespec ts = { 0, 10000000 };

	*c = (struct tick){ .tsc = tsc_trusted(), .mult = TICK_ONE };
	c->first = tick_sample(c);
	if (!c->tsc)
		return;
	nanosleep(&ts, NULL);
	c->mult = rate(c->first, tick_sample(c));
	/* Outside 0.1 .. 20 GHz it is no cycle counter that can be trusted. */
	if (c->mult < TICK_ONE / 20 || c->mult > TICK_ONE * 10)
		tick_distrust(c);
}

void tick_refine(struct tick *c)
{
	struct tick_pair now = tick_sample(c);

	if (c->tsc && now.raw_ns - c->first.raw_ns >= TICK_DRIFT_BASE_NS && rate(c->first, now))
		c->mult = rate(c->first, now);
}

double tick_drift_ppm(const struct tick *c, struct tick_pair from, struct tick_pair to)
{
	if (!c->tsc)
		return 0;
	if (to.tick <= from.tick)
		return HUGE_VAL;
	if (to.raw_ns - from.raw_ns < TICK_DRIFT_BASE_NS)
		return 0;
	double seen = (double)(to.raw_ns - from.raw_ns);
	return fabs((double)tick_to_ns(to.tick - from.tick, c->mult) / seen - 1) * 1e6;
}

void tick_distrust(struct tick *c)
{
	c->tsc = false;
	c->mult = TICK_ONE;
	c->first = tick_sample(c);
}

uint64_t tick_from_ns(const struct tick *c, uint64_t ns)
{
	unsigned __int128 t = (((unsigned __int128)ns << 32) + c->mult - 1) / c->mult;

	return t >> 63 ? UINT64_MAX >> 1 : (uint64_t)t;
}
