/* SPDX-License-Identifier: MIT */
#include "replay/schedule.h"

#include <math.h>

#define DEPTH_MAX 32u /* of a thread, while there are threads left to take more */
#define THREADS_MAX 32u

unsigned replay_threads(unsigned oio)
{
	unsigned threads = 1;

	while (threads < THREADS_MAX && (oio + threads - 1) / threads > DEPTH_MAX)
		threads *= 2;
	return threads;
}

unsigned replay_thread_depth(unsigned oio, unsigned threads, unsigned i)
{
	return oio / threads + (i < oio % threads);
}

unsigned replay_oio(double qd, double scale)
{
	double base = round(qd);

	/* Not known, or nothing in flight on average: one IO at a time. */
	if (!(base >= 1))
		base = 1;
	double oio = round(scale * base);
	if (oio < 1)
		return 1;
	return oio > 1e6 ? 1000000u : (unsigned)oio;
}
