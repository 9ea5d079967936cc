/* SPDX-License-Identifier: MIT */
/* pts steady V1 ... Vn: the verdict of PTS 2.1.24 on the last five of numbers given by hand. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/steady.h"
#include "pts/base/units.h"
#include "pts/cmd.h"

/* A decimal number; unlike in definitions, "1.2e6" and ".095" as other tools print it will do. */
static int parse_value(const char *s, double *ret)
{
	size_t n = strcspn(s, "eE"), sign = *s == '-';
	bool point = s[sign] == '.' && s[sign + 1] >= '0' && s[sign + 1] <= '9';
	const char *exp = s + n;
	char mantissa[320];
	double v;

	if (n + point >= sizeof mantissa)
		return -EINVAL;
	snprintf(mantissa, sizeof mantissa, "%.*s%s%.*s", (int)sign, s, point ? "0" : "",
		 (int)(n - sign), s + sign);
	if (parse_number(mantissa, &v))
		return -EINVAL;
	if (*exp) {
		exp += 1 + (exp[1] == '+' || exp[1] == '-');
		if (!*exp || exp[strspn(exp, "0123456789")])
			return -EINVAL;
	}
	v = strtod(s, NULL);
	if (!isfinite(v))
		return -EINVAL;
	*ret = v;
	return 0;
}

static void print_json(const struct steady_check *c, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "schema", "pts.steady/1");
	json_array(&j, "window");
	json_uint(&j, NULL, c->first_round);
	json_uint(&j, NULL, c->first_round + STEADY_WINDOW - 1);
	json_end_array(&j);
	json_array(&j, "values");
	for (unsigned i = 0; i < STEADY_WINDOW; i++)
		json_num(&j, NULL, c->y[i]);
	json_end_array(&j);
	json_num(&j, "average", c->average);
	json_num(&j, "range", c->range);
	json_num(&j, "range_allowed", c->range_allowed);
	json_num(&j, "slope", c->slope);
	json_num(&j, "intercept", c->intercept);
	json_num(&j, "slope_excursion", c->slope_excursion);
	json_num(&j, "slope_allowed", c->slope_allowed);
	json_num(&j, "correlation", c->correlation);
	json_bool(&j, "steady", c->steady);
	json_end_object(&j);
}

/* "5.94 %" of the average; nothing where there is no average to speak of. */
static const char *percent(double v, const struct steady_check *c, char *out, size_t n)
{
	double p = 100 * v / c->average;

	if (isfinite(p))
		snprintf(out, n, " (%.2f %%)", p);
	else
		out[0] = 0;
	return out;
}

static void print_text(const struct steady_check *c, struct buf *out)
{
	char text[32];

	buf_fmt(out, "window       rounds %u-%u:", c->first_round,
		c->first_round + STEADY_WINDOW - 1);
	for (unsigned i = 0; i < STEADY_WINDOW; i++)
		buf_fmt(out, " %s", fmt_double(text, sizeof text, c->y[i]));
	buf_fmt(out, "\naverage      %.10g\n", c->average);
	buf_fmt(out, "range        %.10g%s, allowed %.10g (20 %%)\n", c->range,
		percent(c->range, c, text, sizeof text), c->range_allowed);
	buf_fmt(out, "slope        %.10g%s over the window, allowed %.10g (10 %%)\n",
		c->slope_excursion, percent(c->slope_excursion, c, text, sizeof text),
		c->slope_allowed);
	buf_fmt(out, "line         %.10g * R %c %.10g, correlation %.4f\n", c->slope,
		c->intercept < 0 ? '-' : '+', fabs(c->intercept), c->correlation);
	buf_str(out, c->steady ? "steady\n" : "not steady\n");
}

int cmd_steady(const struct opts *o)
{
	struct buf text = BUF_INIT;
	struct steady_check c;
	double y[STEADY_WINDOW] = { 0 };
	unsigned n = o->arg.n;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		memmove(y, y + 1, sizeof y - sizeof y[0]); /* the last five count */
		if (parse_value(o->arg.v[i], &y[STEADY_WINDOW - 1]))
			return cmd_usage(o, "'%s' is not a number", o->arg.v[i]);
	}
	if (n < STEADY_WINDOW)
		return cmd_usage(o, "needs at least %d values, one a round; got %u", STEADY_WINDOW,
				 n);
	steady_check(y, n - STEADY_WINDOW + 1, &c);
	if (o->json)
		print_json(&c, &text);
	else
		print_text(&c, &text);
	rc = cmd_out(o, &text, c.steady ? EXIT_GOOD : EXIT_BAD);
	buf_release(&text);
	return rc;
}
