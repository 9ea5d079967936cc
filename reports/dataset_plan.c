/* SPDX-License-Identifier: MIT */
/* What the stored text of a plan says: where cells go, how long they were to last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/dataset.h"

struct plan_range {
	uint64_t bytes, fills, segment_bytes;
	unsigned n_segments;
};

/* "range 1073741824 bytes, fills 1073741824 bytes[, 2048 segments of 262144 bytes, seed 1]" */
static bool plan_range(const struct test *t, struct plan_range *ret)
{
	const char *line = strstr(t->plan, "\nrange ");
	unsigned long long bytes = 0, fills = 0, segment = 0;
	unsigned n = 0;

	if (!line)
		return false;
	int got = sscanf(line, "\nrange %llu bytes, fills %llu bytes, %u segments of %llu bytes",
			 &bytes, &fills, &n, &segment);
	*ret = (struct plan_range){ bytes, fills, segment, got == 4 ? n : 0 };
	return got == 2 || got == 4;
}

static const char *binary_text(struct arena *a, uint64_t bytes)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} unit[] = { { "GiB", 1ull << 30 }, { "MiB", 1ull << 20 }, { "KiB", 1ull << 10 } };

	for (unsigned i = 0; i < sizeof unit / sizeof unit[0]; i++)
		if (bytes >= unit[i].bytes)
			return arena_fmt(a, "%.6g %s", (double)bytes / (double)unit[i].bytes,
					 unit[i].name);
	return arena_fmt(a, "%llu B", (unsigned long long)bytes);
}

const char *range_text(struct arena *a, const struct dataset *d, const struct test *t)
{
	const char *pct = pairs_get(&t->params, "range");
	const char *amount = pairs_get(&t->params, "range-amount-bytes");
	const char *segments = pairs_get(&t->params, "range-segments");
	const char *where = pct ? pct : "-";
	uint64_t bytes = amount ? strtoull(amount, NULL, 10) : 0;
	struct plan_range r;
	bool known = plan_range(t, &r);

	if (d->quick) /* not the percentage of the profile: a small range, and pieces that fit it */
		where = known ? arena_fmt(a, "%s (quick)", binary_text(a, r.fills)) : "quick range";
	if (known)
		bytes = r.n_segments * r.segment_bytes;
	if (!segments)
		return arena_fmt(a, "%s / n.a.", where);
	if (!bytes)
		return arena_fmt(a, "%s / %s", where, segments);
	return arena_fmt(a, "%s in %s / %s", binary_text(a, bytes), where, segments);
}

/* The line of a step: "    3   RUN RND 4K 0/100 T4Q32 1m as round", from RUN on; NULL. */
static const char *step_line(const char *plan, int step)
{
	const char *line = plan;

	while (line) {
		char *end;
		long n = strtol(line, &end, 10); /* skips blanks */
		if (end != line && *end == ' ' && n == step)
			return end + strspn(end, " ");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

uint64_t asked_ns(const struct test *t, const struct measure *m)
{
	const char *line = m->step < 0 ? NULL : step_line(t->plan, m->step);
	char word[32];
	uint64_t ns;

	if (!line || (strncmp(line, "RUN ", 4) && strncmp(line, "IDLE ", 5)))
		return 0;
	const char *end = strstr(line, " as "), *from = end;
	if (!end || end > line + strcspn(line, "\n"))
		return 0;
	while (from[-1] != ' ') /* the time, or that of each cell: "30m every 1m" */
		from--;
	snprintf(word, sizeof word, "%.*s", (int)(end - from), from);
	return parse_time(word, &ns) ? 0 : ns;
}

unsigned asked_members(const struct test *t, const struct measure *m)
{
	const char *line = m->step < 0 ? NULL : step_line(t->plan, m->step);
	const char *on = line ? strstr(line, " on members ") : NULL;
	unsigned first, last;

	if (!on || on > line + strcspn(line, "\n") ||
	    sscanf(on, " on members %u..%u", &first, &last) != 2 || last < first)
		return 0;
	return last - first + 1;
}

const char *asked_text(struct arena *a, const struct test *t, const struct measure *m)
{
	uint64_t ns = asked_ns(t, m);

	return ns ? arena_fmt(a, "%.6g s", (double)ns / 1e9)
		  : arena_fmt(a, "%.3g s", (double)m->elapsed_ns / 1e9);
}

bool plan_has_rule(const char *plan, int section)
{
	int now = 0;

	for (const char *line = plan; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		size_t n = strcspn(line, "\n");
		const char *op = line + strspn(line, " 0123456789");
		const char *track = strstr(line, "; track ");

		sscanf(line, "section %d", &now);
		if (!strncmp(op, "LOOP ", 5) && track && track < line + n &&
		    (!section || section == now))
			return true;
	}
	return false;
}
