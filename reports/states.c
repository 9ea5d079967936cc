/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "reports/states.h"

const char *measure_title(struct arena *a, const struct measure *m)
{
	bool rnd = !strncasecmp(m->access, "rnd", 3), seq = !strncasecmp(m->access, "seq", 3);

	if (m->block_bytes <= 0 || !isfinite(m->read_pct))
		return *m->access ? m->access : "idle";
	return arena_fmt(a, "%s %s KiB %s",
			 rnd   ? "RND"
			 : seq ? "SEQ"
			       : "MIX",
			 kib_text(a, m->block_bytes),
			 m->read_pct >= 100 ? "R"
			 : m->read_pct <= 0 ? "W"
					    : mix_text(a, m->read_pct));
}

/* Whether @phase is one of the words of @phases. */
static bool phase_in(const char *phase, const char *phases)
{
	size_t n = strlen(phase);

	for (const char *p = phases; n && (p = strstr(p, phase)); p += n)
		if ((p == phases || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

const struct measure **measures_of(struct dataset *d, const struct test *t, const char *phases,
				   unsigned *ret_n)
{
	const struct measure **list = arena_array(&d->arena, const struct measure *,
						  d->n_measures + 1);
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_measures; i++)
		if (measure_counts(&d->measure[i], t) && phase_in(d->measure[i].phase, phases))
			list[n++] = &d->measure[i];
	*ret_n = n;
	return list;
}

const char *ended_text(const struct section *s)
{
	static const struct {
		const char *stored, *text;
	} by[] = { { "steady", "steady state reached" },
		   { "written", "limit of bytes written" },
		   { "time", "time limit" },
		   { "rounds", "limit of rounds" } };

	for (unsigned i = 0; i < sizeof by / sizeof by[0]; i++)
		if (!strcmp(s->ended_by, by[i].stored))
			return by[i].text;
	return *s->ended_by ? s->ended_by : "-";
}

int dataset_states(struct dataset *d, struct err *err)
{
	const struct test *wsat = dataset_test(d, "wsat"), *hir = dataset_test(d, "hir");
	const struct test *xsr = dataset_test(d, "xsr");

	if (hir && hir->n_sections)
		hir_load(d, hir);
	if (xsr && xsr->n_sections)
		xsr_load(d, xsr);
	return wsat && wsat->n_sections ? wsat_load(d, wsat, err) : 0;
}
