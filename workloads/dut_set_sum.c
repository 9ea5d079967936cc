/* SPDX-License-Identifier: MIT */
/* Results of the members: kept, and summed up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/dut_set_impl.h"

static struct hist *emptied(struct hist **h)
{
	if (!*h)
		*h = hist_new();
	else
		hist_reset(*h);
	return *h;
}

static const struct hist *keep_hist(struct hist **to, const struct hist *h)
{
	if (!h)
		return NULL;
	if (!*to)
		*to = hist_new();
	**to = *h;
	return *to;
}

static struct second *room(struct second **s, uint32_t *cap, uint64_t n)
{
	if (n > *cap) {
		free(*s);
		*s = calloc(n, sizeof **s);
		BUG_ON(!*s || n > UINT32_MAX);
		*cap = (uint32_t)n;
	}
	return *s;
}

void result_box_keep(struct result_box *b, const struct result *r)
{
	b->r = *r;
	for (unsigned op = 0; op < IO_OPS; op++) {
		b->r.op[op].service = keep_hist(&b->service[op], r->op[op].service);
		b->r.op[op].response = keep_hist(&b->response[op], r->op[op].response);
	}
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++)
		b->r.stream[i].lat = keep_hist(&b->stream[i], r->stream[i].lat);
	if (r->n_seconds)
		memcpy(room(&b->second, &b->second_cap, r->n_seconds), r->second,
		       r->n_seconds * sizeof *r->second);
	b->r.second = b->second;
	b->r.member = NULL;
	b->r.n_members = 0;
}

/* ---- the sum ---- */

static const struct hist *add_hist(struct hist **to, const struct hist *sum, const struct hist *h)
{
	if (!h)
		return sum;
	if (!sum)
		emptied(to);
	hist_merge(*to, h);
	return *to;
}

static void add_ops(struct result_box *b, const struct result *r)
{
	for (unsigned op = 0; op < IO_OPS; op++) {
		struct tally *t = &b->r.op[op];

		t->ios += r->op[op].ios;
		t->bytes += r->op[op].bytes;
		t->service = add_hist(&b->service[op], t->service, r->op[op].service);
		t->response = add_hist(&b->response[op], t->response, r->op[op].response);
	}
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++) {
		struct stream_tally *t = &b->r.stream[i];
		const struct stream_tally *m = &r->stream[i];

		t->ios += m->ios;
		t->bytes += m->bytes;
		t->sum_ns += m->sum_ns;
		t->max_ns = m->max_ns > t->max_ns ? m->max_ns : t->max_ns;
		t->lat = add_hist(&b->stream[i], t->lat, m->lat);
	}
}

static struct second both(const struct second *a, const struct second *b)
{
	return (struct second){ .index = a->index,
				.ios = a->ios + b->ios,
				.bytes = a->bytes + b->bytes,
				.sum_ns = a->sum_ns + b->sum_ns,
				.max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns };
}

/* Two rising series into one; each counts from the start of its own member, which is the same but for microseconds. */
static void add_seconds(struct result_box *b, const struct result *r)
{
	const struct second *x = b->second, *y = r->second;
	unsigned i = 0, j = 0, n = 0, nx = b->r.n_seconds;
	struct second *to = room(&b->spare, &b->spare_cap, (uint64_t)nx + r->n_seconds + 1);

	while (i < nx || j < r->n_seconds) {
		if (j == r->n_seconds || (i < nx && x[i].index < y[j].index)) {
			to[n++] = x[i++];
		} else if (i == nx || y[j].index < x[i].index) {
			to[n++] = y[j++];
		} else {
			to[n++] = both(&x[i], &y[j]);
			i++;
			j++;
		}
	}
	uint32_t cap = b->second_cap;

	b->second_cap = b->spare_cap;
	b->spare_cap = cap;
	b->spare = b->second;
	b->second = to;
	b->r.n_seconds = n;
}

static void add_errno(struct result *sum, int err, uint64_t n)
{
	for (unsigned i = 0; n && i < RESULT_ERRNOS; i++) {
		if (sum->errnos[i].n && sum->errnos[i].err != err)
			continue;
		sum->errnos[i].err = err;
		sum->errnos[i].n += n;
		return;
	}
}

static void sort_errnos(struct result *r)
{
	for (unsigned i = 1; i < RESULT_ERRNOS; i++)
		for (unsigned j = i; j && r->errnos[j].n > r->errnos[j - 1].n; j--) {
			__typeof__(r->errnos[0]) t = r->errnos[j];

			r->errnos[j] = r->errnos[j - 1];
			r->errnos[j - 1] = t;
		}
}

static void add_accounts(struct result *sum, const struct result *r)
{
	sum->prepared += r->prepared;
	sum->short_ios += r->short_ios;
	sum->errors += r->errors;
	sum->clock_back += r->clock_back;
	sum->inflight_max += r->inflight_max;
	sum->threads_seen += r->threads_seen;
	sum->late_max_ns = fmax(sum->late_max_ns, r->late_max_ns);
	sum->partial |= r->partial;
	sum->temperature_c = fmax(sum->temperature_c, r->temperature_c); /* a NAN gives way */
	/* Of the one host; a simulated drive has a host of its own, of which the busiest counts. */
	sum->cpu_sys_pct = fmax(sum->cpu_sys_pct, r->cpu_sys_pct);
	sum->cpu_total_pct = fmax(sum->cpu_total_pct, r->cpu_total_pct);
	for (unsigned i = 0; i < RESULT_ERRNOS && r->errnos[i].n; i++)
		add_errno(sum, r->errnos[i].err, r->errnos[i].n);
}

static void add_times(struct result *sum, const struct member_result *m, unsigned n)
{
	uint64_t start = UINT64_MAX, first = UINT64_MAX, last = 0;
	double area = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct result *r = m[i].result;
		uint64_t end = r->start_ns + r->elapsed_ns;

		start = r->start_ns < start ? r->start_ns : start;
		first = end < first ? end : first;
		last = end > last ? end : last;
		area += r->inflight_avg * (double)r->elapsed_ns;
	}
	sum->start_ns = start;
	sum->elapsed_ns = last - start;
	sum->first_done_ns = first - start;
	sum->inflight_avg = last > start ? area / (double)(last - start) : 0;
}

static bool all_say(const struct member_result *m, unsigned n, const char *note)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(m[i].result->note, note))
			return false;
	return true;
}

/* "2: IO punted to kernel workers; 3: ..."; what all say is said once. */
static void put_note(struct result *sum, const struct member_result *m, unsigned n)
{
	size_t at = 0;

	if (all_say(m, n, m[0].result->note)) {
		snprintf(sum->note, sizeof sum->note, "%s", m[0].result->note);
		return;
	}
	for (unsigned i = 0; i < n && at < sizeof sum->note; i++) {
		const char *text = m[i].result->note;

		if (*text)
			at += (size_t)snprintf(sum->note + at, sizeof sum->note - at,
					       "%smember %u: %s", at ? "; " : "", m[i].member,
					       text);
	}
}

void result_box_sum(struct result_box *b, const struct member_result *m, unsigned n)
{
	BUG_ON(!n || n > SET_MEMBERS_MAX);
	b->r = (struct result){ .cpu_sys_pct = -1, .cpu_total_pct = -1, .temperature_c = NAN };
	for (unsigned i = 0; i < n; i++) {
		add_ops(b, m[i].result);
		add_seconds(b, m[i].result);
		add_accounts(&b->r, m[i].result);
		b->member[i] = m[i];
	}
	sort_errnos(&b->r);
	add_times(&b->r, m, n);
	put_note(&b->r, m, n);
	b->r.second = b->second;
	b->r.member = b->member;
	b->r.n_members = n;
}

void result_box_release(struct result_box *b)
{
	for (unsigned op = 0; op < IO_OPS; op++) {
		free(b->service[op]);
		free(b->response[op]);
	}
	for (unsigned i = 0; i < ACCESS_STREAMS_MAX; i++)
		free(b->stream[i]);
	free(b->second);
	free(b->spare);
}
