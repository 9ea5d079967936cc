/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/ini.h"
#include "pts/base/units.h"
#include "reports/claims_words.h"
#include "reports/prices.h"

#define FILE_MAX (1u << 20) /* bytes */

struct taking {
	struct prices *to;
	const struct ini_file *f;
	unsigned currency_line; /* 0: none yet */
	bool quoted; /* there was a [quote] */
	struct err *err;
};

static int bad(const struct taking *t, const struct ini_pair *p, const char *wants)
{
	return err_set(t->err, -EINVAL, "%s:%u: %.60s is %s, not '%.60s'", t->f->name, p->line,
		       p->key, wants, p->value);
}

static int take_number(const struct taking *t, const struct ini_section *s, const char *key,
		       double *ret)
{
	const struct ini_pair *p = ini_pair(s, key);
	double v;

	if (!p)
		return 0;
	if (parse_number(p->value, &v) || !(v > 0) || v > 1e12)
		return bad(t, p, "a number above 0, without unit and ','");
	*ret = v;
	return 0;
}

/* One for all: prices are compared. */
static int take_currency(struct taking *t, const struct ini_section *s)
{
	const struct ini_pair *p = ini_pair(s, "currency");

	if (!p)
		return 0;
	if (strlen(p->value) > 12)
		return bad(t, p, "a short word such as USD");
	if (t->currency_line && strcmp(p->value, t->to->currency))
		return err_set(t->err, -EINVAL,
			       "%s:%u: currency is '%s', but '%s' in line %u: all prices need the"
			       " same one",
			       t->f->name, p->line, p->value, t->to->currency, t->currency_line);
	t->currency_line = p->line;
	t->to->currency = p->value;
	return 0;
}

static int take_price(struct taking *t, const struct ini_section *s)
{
	static const char *const keys[] = { "price",	 "currency", "power_w",
					    "rated_tbw", "dwpd",     NULL };
	struct price *v = &t->to->v[t->to->n];
	const struct ini_pair *rated = ini_pair(s, "rated_tbw");
	int rc = ini_only(t->f, s, keys, t->err);

	*v = (struct price){ s->name, NAN, NAN, NAN, NAN };
	if (!rc && !s->n)
		rc = err_set(t->err, -EINVAL, "%s:%u: [%.60s] says nothing", t->f->name, s->line,
			     s->name);
	for (unsigned i = 0; !rc && i < t->to->n; i++)
		if (!strcmp(t->to->v[i].match, s->name))
			rc = err_set(t->err, -EINVAL, "%s:%u: [%.60s] is there twice", t->f->name,
				     s->line, s->name);
	if (!rc)
		rc = take_number(t, s, "price", &v->price);
	if (!rc)
		rc = take_number(t, s, "power_w", &v->power_w);
	if (!rc)
		rc = take_number(t, s, "dwpd", &v->dwpd);
	if (!rc)
		rc = take_currency(t, s);
	if (!rc && rated && parse_rated(rated->value, &v->rated_tbw_bytes))
		rc = bad(t, rated, "a number of TB, or as '3.5 PB'");
	t->to->n += !rc;
	return rc;
}

static int take_weights(struct taking *t, const struct ini_section *s)
{
	double percent, sum = 0;

	if (t->to->weight)
		return err_set(t->err, -EINVAL, "%s:%u: [weights] is there twice", t->f->name,
			       s->line);
	t->to->weight = arena_array(&t->to->arena, struct weight, s->n + 1);
	for (unsigned i = 0; i < s->n; i++) {
		const struct ini_pair *p = &s->v[i];
		size_t digits = strspn(p->value, "0123456789.");
		const char *rest = p->value + digits + strspn(p->value + digits, " \t");
		char num[64];
		if (digits < sizeof num)
			snprintf(num, sizeof num, "%.*s", (int)digits, p->value);
		if (digits >= sizeof num || (*rest && strcmp(rest, "%")) ||
		    parse_number(num, &percent) || percent > 100)
			return bad(t, p, "a percentage from 0 to 100");
		t->to->weight[t->to->n_weights++] = (struct weight){ p->key, percent, p->line };
		sum += percent;
	}
	if (!(sum > 0))
		return err_set(t->err, -EINVAL, "%s:%u: [weights] has no weight above 0",
			       t->f->name, s->line);
	return 0;
}

static int take_quote(struct taking *t, const struct ini_section *s)
{
	static const char *const keys[] = { "note", "currency", NULL };
	const struct ini_pair *note = ini_pair(s, "note");
	int rc = ini_only(t->f, s, keys, t->err);

	if (!rc && t->quoted)
		rc = err_set(t->err, -EINVAL, "%s:%u: [quote] is there twice", t->f->name, s->line);
	if (!rc && !s->n)
		rc = err_set(t->err, -EINVAL, "%s:%u: [quote] says nothing", t->f->name, s->line);
	t->quoted = true;
	if (!rc && note)
		t->to->note = note->value;
	return rc ? rc : take_currency(t, s);
}

static int take_file(const struct ini_file *f, struct prices *ret, struct err *err)
{
	struct taking t = { ret, f, 0, false, err };
	int rc = 0;

	if (!f->n)
		return err_set(err, -EINVAL,
			       "%s: nothing in it: prices stand under the [MODEL] of a drive",
			       f->name);
	ret->v = arena_array(&ret->arena, struct price, f->n);
	for (unsigned i = 0; !rc && i < f->n; i++) {
		const struct ini_section *s = &f->v[i];
		rc = !strcmp(s->name, "weights") ? take_weights(&t, s)
		     : !strcmp(s->name, "quote") ? take_quote(&t, s)
						 : take_price(&t, s);
	}
	return rc;
}

int prices_read(const char *file, struct prices *ret, struct err *err)
{
	struct buf text = BUF_INIT;
	struct ini_file f;

	*ret = (struct prices){ .currency = "", .note = "", .file = "" };
	if (!file)
		return 0;
	int rc = buf_read_file(&text, file, FILE_MAX);
	if (rc)
		rc = err_set(err, rc == -ENOENT ? rc : -EINVAL, "--prices %s: %s", file,
			     strerror(-rc));
	if (!rc) {
		const char *slash = strrchr(file, '/');
		ret->file = arena_strdup(&ret->arena, slash ? slash + 1 : file);
		rc = ini_sections(arena_strdup(&ret->arena, file), buf_cstr(&text), text.len,
				  &ret->arena, &f, err);
	}
	if (!rc)
		rc = take_file(&f, ret, err);
	buf_release(&text);
	return rc;
}

void prices_release(struct prices *p)
{
	arena_release(&p->arena);
	*p = (struct prices){ .n = 0 };
}

const struct price *price_find(const struct prices *p, const char *model, const char *serial)
{
	for (unsigned i = 0; i < p->n; i++)
		if (drive_matches(p->v[i].match, model, serial))
			return &p->v[i];
	return NULL;
}
