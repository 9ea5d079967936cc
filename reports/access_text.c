/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/access_text.h"

static struct access_size *size_of(struct access_mix *m, const char *pattern, uint64_t bytes)
{
	for (unsigned i = 0; i < m->n_sizes; i++)
		if (m->size[i].bytes == bytes && !strcmp(m->size[i].pattern, pattern))
			return &m->size[i];
	if (m->n_sizes == ACCESS_SIZES)
		return NULL;
	m->size[m->n_sizes] = (struct access_size){ .pattern = pattern, .bytes = bytes };
	return &m->size[m->n_sizes++];
}

/* "1.6 R rnd 0.5k[ cursor 0 ...]" */
static bool take_stream(struct access_mix *m, const char *s)
{
	char word[4][16];
	double share;
	uint64_t bytes;

	if (sscanf(s, " %15s %15s %15s %15[^ ,;\n]", word[0], word[1], word[2], word[3]) != 4 ||
	    parse_number(word[0], &share) || parse_size(word[3], &bytes))
		return false;
	struct access_size *z = size_of(m, strcmp(word[2], "seq") ? "RND" : "SEQ", bytes);
	if (!z)
		return false;
	*(word[1][0] == 'R' ? &z->read_share : &z->write_share) += share;
	return true;
}

/* " zones 0-5%:50 5-20%:30 20-100%:20" */
static void take_zones(struct access_mix *m, const char *s)
{
	char from[16], to[16], share[16];
	int used;

	s += strlen(" zones");
	while (m->n_zones < ACCESS_ZONES &&
	       sscanf(s, " %15[0-9.]-%15[0-9.]%%:%15[0-9.]%n", from, to, share, &used) == 3) {
		struct access_zone *z = &m->zone[m->n_zones];
		if (parse_number(from, &z->from_pct) || parse_number(to, &z->to_pct) ||
		    parse_number(share, &z->share))
			return;
		m->n_zones++;
		s += used;
	}
}

static void mean_size(struct access_mix *m)
{
	double sum = 0, all = 0;

	for (unsigned i = 0; i < m->n_sizes; i++) {
		double share = m->size[i].read_share + m->size[i].write_share;
		sum += share * (double)m->size[i].bytes;
		all += share;
	}
	m->mean_bytes = all > 0 ? sum / all : NAN;
}

bool access_parse(const char *plan, const char *name, struct access_mix *ret)
{
	size_t len = strlen(name);
	const char *line = plan, *s = NULL;

	for (; line && !s; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
		if (!strncmp(line, "access \"", 8) && !strncmp(line + 8, name, len) &&
		    !strncmp(line + 8 + len, "\":", 2))
			s = line + 8 + len + 2;
	*ret = (struct access_mix){ 0 };
	if (!s)
		return false;
	const char *end = s + strcspn(s, "\n"), *semi = s + strcspn(s, ";\n");
	for (const char *p = s; p && p < semi;) {
		if (!take_stream(ret, p))
			return false;
		p += strcspn(p, ",;\n");
		p = p < semi && *p == ',' ? p + 1 : NULL;
	}
	const char *zones = strstr(s, "; zones");
	if (zones && zones < end)
		take_zones(ret, zones + 1);
	mean_size(ret);
	return ret->n_sizes > 0;
}

uint64_t plan_range_bytes(const struct test *t)
{
	const char *line = strstr(t->plan, "\nrange ");

	return line ? strtoull(line + 7, NULL, 10) : 0;
}
