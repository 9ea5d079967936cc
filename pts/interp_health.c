/* SPDX-License-Identifier: MIT */
/*
 * The drive's health between cells: temperature for the rows; throttling, another link and critical warnings as events, with
 * the cells they touched. Nothing here fails a test but a critical warning, and that by policy.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/interp_priv.h"

#define ASK_EVERY_NS 10000000000ull
#define COLDEST_C (-60) /* what lies beyond was not measured by a drive that works */
#define HOTTEST_C 150
#define CONSTANT_MIN 5 /* answers before an unmoved temperature is worth a note */

/* A cell as events name it: no ids, which differ between identical runs. */
struct place {
	unsigned step, segment;
	bool any; /* false: before the first cell */
};

static uint64_t dut_now(const struct interp *in)
{
	return in->ctx->dut->ops->now(in->ctx->dut);
}

static char *first_link(struct interp *in)
{
	return in->ctx->link ? in->ctx->link : in->watch.own_link;
}

static void put_place(struct json *j, const struct interp *in, const struct place *at)
{
	struct buf what = BUF_INIT;

	json_str(j, "test", in->plan->name);
	json_uint(j, "attempt", in->at.attempt);
	if (!at->any)
		return;
	step_text(in->plan, at->step, &what);
	json_uint(j, "section", in->at.section);
	json_int(j, "round", in->loop.open ? in->loop.round : 0);
	json_int(j, "round_try", in->loop.open ? in->loop.round_try : 0);
	json_uint(j, "step", at->step);
	json_uint(j, "segment", at->segment);
	json_str(j, "cell", buf_cstr(&what));
	buf_release(&what);
}

/* An event of @kind: @text in words, and one further key. */
static int tell(struct interp *in, const char *kind, const struct place *at, const char *text)
{
	struct buf b = BUF_INIT;
	struct json j = JSON_INIT(&b);
	struct watch *w = &in->watch;
	int rc;

	json_object(&j, NULL);
	json_str(&j, "text", text);
	put_place(&j, in, at);
	if (!strcmp(kind, "link")) {
		json_str(&j, "first", first_link(in));
		json_str(&j, "now", w->link);
	}
	if (!strcmp(kind, "throttle"))
		json_uint(&j, "cells", w->touched);
	if (!isnan(w->temperature_c))
		json_num(&j, "temperature_c", w->temperature_c);
	json_end_object(&j);
	rc = store_event(in->ctx->store, in->ctx->run, kind, buf_cstr(&b), in->err);
	buf_release(&b);
	if (in->ctx->warn && strcmp(kind, "note"))
		in->ctx->warn(in->ctx->arg, in->plan->name, text);
	return rc;
}

static int look_temperature(struct interp *in, const struct health *h, const struct place *at)
{
	struct watch *w = &in->watch;
	bool odd = h->have_temperature &&
		   !(h->temperature_c >= COLDEST_C && h->temperature_c <= HOTTEST_C);

	w->temperature_c = h->have_temperature && !odd ? h->temperature_c : NAN;
	if (odd && !w->told_odd) {
		w->told_odd = true;
		return tell(in, "note", at,
			    "the drive tells a temperature that cannot be: taken as not told");
	}
	if (isnan(w->temperature_c))
		return 0;
	if (!w->answers++)
		w->first_c = w->temperature_c;
	w->varied |= w->temperature_c != w->first_c;
	return 0;
}

static int look_throttle(struct interp *in, const struct health *h, const struct place *at)
{
	struct watch *w = &in->watch;
	bool was = w->throttled;
	int rc = 0;

	w->throttled = h->throttled;
	if (h->throttled && !was)
		rc = tell(in, "throttle", at,
			  h->text[0] ? h->text : "the drive throttles itself from here on");
	else if (was && !h->throttled)
		rc = tell(in, "throttle", at, "the drive does not throttle itself any more");
	if (!h->throttled)
		w->touched = 0;
	return rc;
}

static int look_link(struct interp *in, const struct health *h, const struct place *at)
{
	struct watch *w = &in->watch;
	char *first = first_link(in);
	bool changed;

	if (!h->link[0])
		return 0;
	if (!first[0])
		memcpy(first, h->link, sizeof h->link);
	if (!w->link[0])
		memcpy(w->link, first, sizeof w->link);
	changed = strcmp(w->link, h->link) != 0;
	memcpy(w->link, h->link, sizeof w->link);
	if (!changed)
		return 0;
	return tell(in, "link", at,
		    strcmp(first, w->link) ? "the drive's link is not what it was"
					   : "the drive's link is again what it was");
}

static int look_critical(struct interp *in, const struct health *h, const struct place *at)
{
	struct watch *w = &in->watch;
	const char *text = h->text[0] ? h->text : "the drive gives a critical warning";
	bool was = w->critical;

	w->critical = h->critical;
	if (!h->critical || was)
		return 0;
	if (tell(in, "critical", at, text))
		return -EIO;
	if (in->ctx->critical_goes_on)
		return 0;
	w->stop = true;
	return err_set(in->err, HEALTH_STOP,
		       "critical warning of the drive: %s (`pts resume` goes on when it is over, "
		       "--on-critical go-on does not stop)",
		       text);
}

/* The drive is asked; while stored cells are gone through again, nothing that was told then is told twice. */
static int look(struct interp *in, const struct place *at)
{
	struct dut *d = in->ctx->dut;
	struct health h = { .critical = false };
	struct err why = { "" };
	int rc;

	in->watch.asked = true;
	in->watch.asked_ns = dut_now(in);
	rc = d->ops->health(d, &h, &why);
	if (rc) {
		in->watch.temperature_c = NAN;
		if (in->watch.told_failure || rc == -EOPNOTSUPP)
			return 0;
		in->watch.told_failure = true;
		return tell(in, "note", at, why.msg[0] ? why.msg : "health cannot be read");
	}
	rc = look_temperature(in, &h, at);
	if (!rc)
		rc = look_throttle(in, &h, at);
	if (!rc)
		rc = look_link(in, &h, at);
	return rc ? rc : look_critical(in, &h, at);
}

static bool due(const struct interp *in)
{
	return in->ctx->dut->ops->health &&
	       (!in->watch.asked || dut_now(in) - in->watch.asked_ns >= ASK_EVERY_NS);
}

int health_begin(struct interp *in)
{
	struct place none = { .any = false };

	in->watch.temperature_c = NAN;
	return in->ctx->dut->ops->health && !recalling(in) ? look(in, &none) : 0;
}

int health_cell(struct interp *in, unsigned index, unsigned segment, bool idle_follows)
{
	struct place at = { .step = index, .segment = segment, .any = true };
	int rc = !idle_follows && due(in) ? look(in, &at) : 0;

	in->watch.touched += in->watch.throttled;
	return rc;
}

int health_end(struct interp *in)
{
	struct place none = { .any = false };
	struct watch *w = &in->watch;

	if (w->throttled && tell(in, "throttle", &none, "the drive still throttles at the end"))
		return -EIO;
	if (w->answers < CONSTANT_MIN || w->varied)
		return 0;
	return tell(in, "note", &none,
		    "the temperature never changed: it may not be that of the drive");
}

double health_temperature(const struct interp *in)
{
	const struct watch *w = &in->watch;

	return w->asked && dut_now(in) - w->asked_ns <= ASK_EVERY_NS ? w->temperature_c : NAN;
}

void health_note(const struct interp *in, struct buf *out)
{
	const struct watch *w = &in->watch;
	const char *first = in->ctx->link ? in->ctx->link : w->own_link;

	if (w->throttled)
		buf_fmt(out, "%sdrive throttled", out->len ? "; " : "");
	if (w->link[0] && strcmp(w->link, first))
		buf_fmt(out, "%slink %s, at first %s", out->len ? "; " : "", w->link, first);
	if (w->critical)
		buf_fmt(out, "%scritical warning of the drive", out->len ? "; " : "");
}

static bool idle_first(const struct plan *p, unsigned i)
{
	while (i < p->n && (p->step[i].op == STEP_REPEAT || p->step[i].op == STEP_LOOP))
		i++;
	return i < p->n && (p->step[i].op == STEP_IDLE ||
			    (p->step[i].op == STEP_REPLAY && p->step[i].n_replay &&
			     !p->step[i].replay_access[0]));
}

bool health_idle_after(const struct plan *p, unsigned index)
{
	unsigned i = index + 1;

	while (i < p->n && (p->step[i].op == STEP_AGAIN || p->step[i].op == STEP_UNTIL ||
			    p->step[i].op == STEP_CHECK)) {
		if (p->step[i].op != STEP_CHECK && idle_first(p, p->step[i].head + 1))
			return true;
		i++;
	}
	return idle_first(p, i);
}
