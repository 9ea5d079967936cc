/* SPDX-License-Identifier: MIT */
#include "reports/claims_words.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pts/base/units.h"

#define TOKENS_MAX 12

/* ---- accesses ---- */

struct tokens {
	char text[TOKENS_MAX][24];
	unsigned n, at;
};

/* Parted by blanks and hyphens, in lower case. False: too long for an access. */
static bool split(const char *s, struct tokens *ret)
{
	ret->n = ret->at = 0;
	for (;;) {
		s += strspn(s, " \t-_");
		size_t len = strcspn(s, " \t-_");
		if (!len)
			return true;
		if (ret->n == TOKENS_MAX || len >= sizeof ret->text[0])
			return false;
		char *to = ret->text[ret->n++];
		for (size_t i = 0; i < len; i++)
			to[i] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] - 'A' + 'a') : s[i];
		to[len] = '\0';
		s += len;
	}
}

static const char *token(const struct tokens *t, unsigned ahead)
{
	return t->at + ahead < t->n ? t->text[t->at + ahead] : "";
}

static bool is_any(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static const char *const rnd_words[] = { "rnd", "rand", "random", NULL };
static const char *const seq_words[] = { "seq", "sequential", NULL };

/* What of an access was read so far; each part once, in any order. */
struct parts {
	struct tokens t;
	struct access a;
	bool pattern, size, mix;
};

static bool take_pattern(struct parts *p)
{
	const char *s = token(&p->t, 0);
	bool rnd = is_any(s, rnd_words);

	if (p->pattern || (!rnd && !is_any(s, seq_words)))
		return false;
	p->a.pattern = rnd ? "RND" : "SEQ";
	p->t.at++;
	return p->pattern = true;
}

/* "4k" "4kib" "4kb" "512b" "0.5k"; or "4" and the unit behind it. Sizes of blocks are binary, whatever a data sheet calls them. */
static bool take_size(struct parts *p)
{
	static const char *const units[] = { "k",  "kib", "kb",	  "m",	   "mib",
					     "mb", "b",	  "byte", "bytes", NULL };
	const char *s = token(&p->t, 0);
	size_t digits = strspn(s, "0123456789.");
	const char *unit = s + digits;
	bool apart = !*unit && is_any(token(&p->t, 1), units);
	char text[48];
	uint64_t bytes;

	unit = apart ? token(&p->t, 1) : unit;
	if (p->size || !digits || (*unit && !is_any(unit, units)))
		return false;
	snprintf(text, sizeof text, "%.*s%s", (int)digits, s,
		 *unit == 'k'	? "k"
		 : *unit == 'm' ? "m"
				: "");
	if (parse_size(text, &bytes) || !bytes || bytes > INT64_MAX)
		return false;
	p->a.block_bytes = (int64_t)bytes;
	p->t.at += apart ? 2 : 1;
	return p->size = true;
}

static bool mix_of(const char *read, const char *write, double *ret)
{
	double r, w;

	if (parse_number(read, &r) || parse_number(write, &w) || r < 0 || w < 0 ||
	    fabs(r + w - 100) > 1e-9)
		return false;
	*ret = r;
	return true;
}

/* "r" "read(s)" "w" "65/35", "65" and "35". Returns the tokens it takes. */
static unsigned mix_tokens(const struct tokens *t, unsigned ahead, double *ret)
{
	static const char *const reads[] = { "r", "read", "reads", NULL };
	static const char *const writes[] = { "w", "write", "writes", NULL };
	const char *s = token(t, ahead), *slash = strchr(s, '/');
	char read[24];

	if (is_any(s, reads) || is_any(s, writes)) {
		*ret = *s == 'r' ? 100 : 0;
		return 1;
	}
	if (!slash)
		return mix_of(s, token(t, ahead + 1), ret) ? 2 : 0;
	snprintf(read, sizeof read, "%.*s", (int)(slash - s), s);
	return mix_of(read, slash + 1, ret) ? 1 : 0;
}

/* With "r/w" or "rw" before it a second one changes the first ("rnd-8k-65-35 rw 0/100"); behind it these words say nothing. */
static bool take_mix(struct parts *p)
{
	bool word = !strcmp(token(&p->t, 0), "rw") || !strcmp(token(&p->t, 0), "r/w");
	unsigned n = word || !p->mix ? mix_tokens(&p->t, word, &p->a.read_pct) : 0;

	if (!n && !(word && p->mix))
		return false;
	p->t.at += n + word;
	return p->mix = true;
}

/* "T4Q32" */
static bool take_depth(struct parts *p)
{
	int tc, qd, used = 0;
	const char *s = token(&p->t, 0);

	if (sscanf(s, "t%4dq%4d%n", &tc, &qd, &used) != 2 || s[used] || tc < 1 || qd < 1 || p->a.tc)
		return false;
	p->a.tc = tc;
	p->a.qd = qd;
	p->t.at++;
	return true;
}

static bool read_parts(const char *text, struct parts *p)
{
	*p = (struct parts){ .a.pattern = "" };
	if (!split(text, &p->t))
		return false;
	while (p->t.at < p->t.n)
		if (!take_pattern(p) && !take_mix(p) && !take_size(p) && !take_depth(p))
			break;
	return true;
}

bool access_read(const char *text, bool loose, struct access *ret)
{
	struct parts p;

	if (!read_parts(text, &p) || !p.pattern || !p.size || !p.mix)
		return false;
	if (p.t.at < p.t.n && (!loose || token(&p.t, 0)[0] != '('))
		return false;
	*ret = p.a;
	return true;
}

bool access_is_meant(const char *text)
{
	struct parts p;

	if (!read_parts(text, &p))
		return !strncasecmp(text, "rnd", 3) || !strncasecmp(text, "seq", 3);
	return p.pattern || (p.size && p.mix);
}

bool access_same(const struct access *a, const struct access *b)
{
	return a->block_bytes == b->block_bytes && fabs(a->read_pct - b->read_pct) < 1e-9 &&
	       !strcmp(a->pattern, b->pattern);
}

/* Each run of blanks is one. */
static void squeeze(const char *s, char out[256])
{
	size_t n = 0;

	for (s += strspn(s, " \t"); *s && n < 255;) {
		size_t blanks = strspn(s, " \t");
		if (blanks && s[blanks])
			out[n++] = ' ';
		if (!blanks)
			out[n++] = *s;
		s += blanks ? blanks : 1;
	}
	out[n] = '\0';
}

bool words_match(const char *pattern, const char *text)
{
	char a[256], b[256];

	squeeze(pattern, a);
	squeeze(text, b);
	return !strcasecmp(a, b) || !fnmatch(a, b, FNM_CASEFOLD);
}

static bool is_like(const char *pattern, const char *text)
{
	char bare[256];
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ') /* as drives pad it */
		n--;
	snprintf(bare, sizeof bare, "%.*s", (int)(n < 255 ? n : 255), text);
	return !strcmp(pattern, bare) || !fnmatch(pattern, bare, 0);
}

bool drive_matches(const char *pattern, const char *model, const char *serial)
{
	return is_like(pattern, model) || is_like(pattern, serial);
}

/* ---- metrics ---- */

static const struct metric_word metrics[] = {
	{ "iops", "IOPS", UNIT_IOPS, "iops" },
	{ "bytes_per_s", "Throughput", UNIT_BYTES_PER_S, "bytes_per_s mbps throughput" },
	{ "art_ns", "ART", UNIT_NS, "art art_ns" },
	{ "art_mean_of_rounds_ns", "ART, mean of rounds", UNIT_NS, "art_mean_of_rounds_ns" },
	{ "lat_p50_ns", "50 % RT", UNIT_NS, "p50 50% lat_p50_ns" },
	{ "lat_p99_ns", "99 % RT", UNIT_NS, "p99 99% lat_p99_ns" },
	{ "lat_p999_ns", "99.9 % RT", UNIT_NS, "p999 99.9% lat_p999_ns" },
	{ "lat_p9999_ns", "99.99 % RT", UNIT_NS, "p9999 99.99% lat_p9999_ns" },
	{ "lat_p99999_ns", "99.999 % RT", UNIT_NS, "p99999 99.999% lat_p99999_ns" },
	{ "mrt_ns", "MRT", UNIT_NS, "mrt mrt_ns" },
};

#define N_METRICS (sizeof metrics / sizeof metrics[0])

/* Blanks in it do not count: "99.9 %". */
const struct metric_word *metric_find(const char *words)
{
	char word[64];
	size_t len = 0;

	for (const char *p = words; *p && len < sizeof word - 1; p++)
		if (*p != ' ')
			word[len++] = *p;
	word[len] = '\0';
	for (unsigned i = 0; i < N_METRICS; i++)
		for (const char *p = metrics[i].words; *p; p += strcspn(p, " "), p += *p == ' ')
			if (len && strcspn(p, " ") == len && !strncasecmp(p, word, len))
				return &metrics[i];
	return NULL;
}

const struct metric_word *metric_of_key(const char *key)
{
	for (unsigned i = 0; i < N_METRICS; i++)
		if (!strcmp(metrics[i].key, key))
			return &metrics[i];
	return NULL;
}

const char *const *metric_words(void)
{
	static const char *const words[] = {
		"iops",		"mbps",		 "bytes_per_s",
		"throughput",	"art",		 "art_mean_of_rounds_ns",
		"p50",		"p99",		 "p999",
		"p9999",	"p99999",	 "mrt",
		"lat_p50_ns",	"lat_p99_ns",	 "lat_p999_ns",
		"lat_p9999_ns", "lat_p99999_ns", NULL
	};

	return words;
}

/* ---- values ---- */

struct scale {
	const char *name;
	double factor;
};

static const struct scale iops_scales[] = {
	{ "", 1 },	  { "IOPS", 1 },    { "k", 1e3 },      { "K", 1e3 },
	{ "kIOPS", 1e3 }, { "KIOPS", 1e3 }, { "k IOPS", 1e3 }, { "K IOPS", 1e3 },
	{ "M", 1e6 },	  { "MIOPS", 1e6 }, { "M IOPS", 1e6 }, { NULL, 0 },
};

static const struct scale rate_scales[] = {
	{ "B/s", 1 },	      { "kB/s", 1e3 },	    { "KB/s", 1e3 }, { "MB/s", 1e6 },
	{ "GB/s", 1e9 },      { "MBps", 1e6 },	    { "GBps", 1e9 }, { "KiB/s", 1 << 10 },
	{ "MiB/s", 1 << 20 }, { "GiB/s", 1 << 30 }, { NULL, 0 },
};

static const struct scale time_scales[] = {
	{ "ns", 1 },	      { "us", 1e3 }, { "\xc2\xb5s", 1e3 },
	{ "\xce\xbcs", 1e3 }, /* both signs of micro */
	{ "ms", 1e6 },	      { "s", 1e9 },  { NULL, 0 },
};

static const struct scale *scales_of(enum unit u)
{
	return u == UNIT_IOPS ? iops_scales : u == UNIT_BYTES_PER_S ? rate_scales : time_scales;
}

static const char *bad_unit(enum unit u)
{
	return u == UNIT_IOPS ? "a number of IOPS, as in 950000, 950k or 1.2M IOPS"
	       : u == UNIT_BYTES_PER_S
		       ? "a rate with its unit: B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s"
		       : "a time with its unit: ns, us, ms or s";
}

const char *value_read(const char *text, enum unit unit, const char *word, double *ret)
{
	size_t digits = strspn(text, "0123456789.");
	const char *name = text + digits + strspn(text + digits, " \t");
	char num[64];
	double v;

	if (text[0] == '-')
		return "above 0";
	if (text[digits] == ',')
		return "written without ',': 1000000, 1.5";
	if (digits >= sizeof num)
		return bad_unit(unit);
	snprintf(num, sizeof num, "%.*s", (int)digits, text);
	if (parse_number(num, &v))
		return bad_unit(unit);
	if (!(v > 0))
		return "above 0";
	if (!*name && unit == UNIT_BYTES_PER_S)
		name = !strcasecmp(word, "mbps")	  ? "MB/s"
		       : !strcasecmp(word, "bytes_per_s") ? "B/s"
							  : "";
	for (const struct scale *s = scales_of(unit); s->name; s++) {
		if (strcmp(s->name, name))
			continue;
		*ret = v * s->factor;
		return *ret < 1e18 ? NULL : "of a drive";
	}
	return bad_unit(unit);
}

int percent_read(const char *text, double *ret)
{
	size_t digits = strspn(text, "0123456789.");
	const char *rest = text + digits + strspn(text + digits, " \t");
	char num[64];
	double v;

	if (digits >= sizeof num)
		return -EINVAL;
	snprintf(num, sizeof num, "%.*s", (int)digits, text);
	if (parse_number(num, &v) || (strcmp(rest, "%") && (*rest || v != 0)))
		return -EINVAL;
	*ret = v / 100;
	return 0;
}
