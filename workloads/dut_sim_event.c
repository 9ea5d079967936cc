/* SPDX-License-Identifier: MIT */
/*
 * What [events] of a profile lets happen to a simulated drive, so that policies can be tested: it
 * throttles, its link changes, IOs fail, it goes. All is counted from the purge, so that a test
 * that is begun again meets the same.
 */
#include "workloads/dut_sim_model.h"

#include <math.h>
#include <string.h>

#define GB 1e9
#define MB 1e6
#define NEAR 1e-9 /* of bytes or seconds: as good as there */

static bool reached(double is, double at)
{
	return at > 0 && is >= at * (1 - NEAR);
}

/* True from @at on, for @span; without a span until the purge. */
static bool within(double is, double at, double span)
{
	return reached(is, at) && !(span > 0 && reached(is, at + span));
}

static bool event_throttle(const struct sim_model *m)
{
	const struct sim_events *e = &m->conf.ev;

	return within(m->st.moved, e->throttle_at_gb * GB, e->throttle_gb * GB);
}

bool sim_throttled(const struct sim_model *m)
{
	return m->st.throttled || event_throttle(m);
}

double sim_throttle_x(const struct sim_model *m)
{
	double heat = m->st.throttled ? m->conf.throttle_x : 1;

	return event_throttle(m) ? fmin(heat, m->conf.ev.throttle_pct / 100) : heat;
}

static bool link_changed(const struct sim_model *m)
{
	const struct sim_events *e = &m->conf.ev;

	return within(m->st.age_s, e->link_at_s, e->link_s);
}

const char *sim_link(const struct sim_model *m)
{
	const char *text = link_changed(m) ? m->conf.ev.link_to : m->conf.link;

	return strcmp(text, "none") ? text : "";
}

double sim_link_bytes_s(const struct sim_model *m)
{
	return link_changed(m) ? m->conf.ev.link_mb_s * MB : INFINITY;
}

/* The sooner of @dt and what is left to @at, if that lies ahead. */
static double ahead(double dt, double is, double at, double per_s)
{
	return at > 0 && !reached(is, at) && per_s > 0 ? fmin(dt, (at - is) / per_s) : dt;
}

double sim_event_in(const struct sim_model *m, double bytes_s)
{
	const struct sim_events *e = &m->conf.ev;
	double dt = INFINITY;

	dt = ahead(dt, m->st.moved, e->throttle_at_gb * GB, bytes_s);
	if (e->throttle_gb > 0)
		dt = ahead(dt, m->st.moved, (e->throttle_at_gb + e->throttle_gb) * GB, bytes_s);
	dt = ahead(dt, m->st.moved, e->error_at_gb * GB, bytes_s);
	dt = ahead(dt, m->st.moved, e->gone_at_gb * GB, bytes_s);
	dt = ahead(dt, m->st.age_s, e->link_at_s, 1);
	if (e->link_s > 0)
		dt = ahead(dt, m->st.age_s, e->link_at_s + e->link_s, 1);
	return dt;
}

bool sim_fails_by_number(const struct sim_model *m)
{
	const struct sim_events *e = &m->conf.ev;
	double number = (double)m->st.cells + 1;

	return e->error_cell > 0 && number >= e->error_cell &&
	       number < e->error_cell + e->error_cells;
}

bool sim_fails_by_bytes(const struct sim_model *m)
{
	return !m->st.failed && reached(m->st.moved, m->conf.ev.error_at_gb * GB);
}

bool sim_gone(struct sim_model *m)
{
	if (reached(m->st.moved, m->conf.ev.gone_at_gb * GB))
		m->gone = true;
	return m->gone;
}
