/* SPDX-License-Identifier: MIT */
#include "workloads/dut_sim_model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/embed.h"
#include "pts/base/json.h"
#include "pts/base/units.h"
#include "pts/base/words.h"

#define CONF_FILE_MAX (1u << 20) /* bytes of an ini */

enum kind { NUM, SIZE, TEXT, YES };

struct param {
	const char *section, *key;
	enum kind kind;
	size_t at; /* offset in struct sim_conf */
	double lo, hi; /* NUM and SIZE: allowed values */
};

#define P(sec, key, kind, field, lo, hi) \
	{ \
		sec, key, kind, offsetof(struct sim_conf, field), lo, hi \
	}
/* The eight points of a distribution. */
#define KNOTS(sec, unit, field, lo, hi) \
	P(sec, "min_" unit, NUM, field[KNOT_MIN], lo, hi), \
		P(sec, "p50_" unit, NUM, field[KNOT_P50], lo, hi), \
		P(sec, "p90_" unit, NUM, field[KNOT_P90], lo, hi), \
		P(sec, "p99_" unit, NUM, field[KNOT_P99], lo, hi), \
		P(sec, "p999_" unit, NUM, field[KNOT_P999], lo, hi), \
		P(sec, "p9999_" unit, NUM, field[KNOT_P9999], lo, hi), \
		P(sec, "p99999_" unit, NUM, field[KNOT_P99999], lo, hi), \
		P(sec, "max_" unit, NUM, field[KNOT_MAX], lo, hi)
#define DIRECTION(sec, d) \
	P(sec, "iops", NUM, dir[d].iops, 1, 1e9), P(sec, "mb_s", NUM, dir[d].mb_s, 0.1, 1e6), \
		P(sec, "xfer_mb_s", NUM, dir[d].xfer_mb_s, 0.1, 1e6), \
		KNOTS(sec, "us", dir[d].us, 0.01, 1e8), \
		KNOTS(sec ".busy", "x", dir[d].busy_x, 0.1, 1e4)

static const struct param params[] = {
	P("drive", "model", TEXT, model, 0, 0),
	P("drive", "interface", TEXT, interface, 0, 0),
	P("drive", "capacity", SIZE, capacity_bytes, 1 << 20, 0x1p60),
	P("drive", "link", TEXT, link, 0, 0),
	P("drive", "lba", SIZE, lba_bytes, 512, 4096),
	P("drive", "rated_tbw_tb", NUM, rated_tbw_tb, 0, 1e9),
	DIRECTION("read", IO_READ),
	P("read", "seq_x", NUM, seq_x, 0.01, 1),
	DIRECTION("write", IO_WRITE),
	P("write", "map_unit", SIZE, map_unit_bytes, 1, 1 << 20),
	P("write", "rmw_us", NUM, rmw_us, 0, 1e6),
	P("queue", "knee", NUM, knee, 0, 0.99),
	P("queue", "full_x", NUM, full_x, 1.01, 1e4),
	KNOTS("queue", "x", queue_x, 0.001, 1e4),
	P("mix", "interference_pct", NUM, interference_pct, 0, 500),
	P("gc", "op_pct", NUM, op_pct, 0.5, 1000),
	P("gc", "nand_mb_s", NUM, nand_mb_s, 0.1, 1e6),
	P("gc", "wa_steady", NUM, wa_steady, 0, 1000),
	P("gc", "cover_x", NUM, cover_x, 1, 100),
	P("gc", "cliff_fills", NUM, cliff_fills, 0, 100),
	P("gc", "transition_fills", NUM, transition_fills, 0.001, 100),
	P("gc", "clean_fills", NUM, clean_fills, 0.001, 100),
	P("gc", "erase_unit", SIZE, erase_unit_bytes, 4096, 0x1p40),
	P("gc", "pool_pct", NUM, pool_pct, 0, 50),
	P("gc", "idle_mb_s", NUM, idle_mb_s, 0, 1e6),
	P("slc", "static_pct", NUM, slc_static_pct, 0, 100),
	P("slc", "dynamic_pct", NUM, slc_dynamic_pct, 0, 100),
	P("slc", "mb_s", NUM, slc_mb_s, 0.1, 1e6),
	P("slc", "drain_mb_s", NUM, slc_drain_mb_s, 0, 1e6),
	P("slc", "drain_load_pct", NUM, slc_drain_load_pct, 0.1, 100),
	P("cache", "volatile", YES, cache_volatile, 0, 0),
	P("cache", "off_x", NUM, cache_off_x, 1, 1e4),
	P("purge", "seconds", NUM, purge_s, 0.001, 1e6),
	P("purge", "nvme_format", YES, nvme_format, 0, 0),
	P("host", "cpus", NUM, cpus, 1, 4096),
	P("host", "cpu_us", NUM, cpu_us, 0, 1e4),
	P("host", "cpu_idle_pct", NUM, cpu_idle_pct, 0, 100),
	P("thermal", "idle_c", NUM, idle_c, -40, 150),
	P("thermal", "full_c", NUM, full_c, -40, 150),
	P("thermal", "rise_s", NUM, rise_s, 0.1, 1e6),
	P("thermal", "critical_c", NUM, critical_c, -40, 500),
	P("thermal", "throttle_c", NUM, throttle_c, 0, 500),
	P("thermal", "throttle_x", NUM, throttle_x, 0.01, 1),
	P("noise", "cell_pct", NUM, cell_pct, 0, 30),
	P("noise", "second_pct", NUM, second_pct, 0, 30),
	P("noise", "drift_pct_per_hour", NUM, drift_pct_per_hour, -99, 1e4),
	P("noise", "swing_pct", NUM, swing_pct, 0, 90),
	P("noise", "swing_s", NUM, swing_s, 1, 1e9),
	P("events", "throttle_at_gb", NUM, ev.throttle_at_gb, 0, 1e9),
	P("events", "throttle_gb", NUM, ev.throttle_gb, 0, 1e9),
	P("events", "throttle_pct", NUM, ev.throttle_pct, 1, 100),
	P("events", "link_at_s", NUM, ev.link_at_s, 0, 1e9),
	P("events", "link_s", NUM, ev.link_s, 0, 1e9),
	P("events", "link_to", TEXT, ev.link_to, 0, 0),
	P("events", "link_mb_s", NUM, ev.link_mb_s, 0.1, 1e6),
	P("events", "error_cell", NUM, ev.error_cell, 0, 1e9),
	P("events", "error_cells", NUM, ev.error_cells, 1, 1e9),
	P("events", "error_at_gb", NUM, ev.error_at_gb, 0, 1e9),
	P("events", "error_ios", NUM, ev.error_ios, 1, 1e6),
	P("events", "gone_at_gb", NUM, ev.gone_at_gb, 0, 1e9),
};
#define N_PARAMS (sizeof params / sizeof params[0])

struct reading {
	const char *name; /* of the ini, for messages */
	struct sim_conf *conf;
	unsigned seen[N_PARAMS]; /* line where it was given; 0 not yet */
	bool any; /* a key of this file was read */
	bool based; /* values missing here come from the profile named by like */
	struct err *err;
};

static int read_text(struct reading *r, const char *name, const char *text, size_t len) must_check;

static int unknown(const struct reading *r, const char *what, const char *word,
		   const char *const *words, unsigned line)
{
	const char *near = nearest_word(word, words);

	if (near)
		return err_set(r->err, -EINVAL, "%s:%u: unknown %s '%s' (did you mean '%s'?)",
			       r->name, line, what, word, near);
	return err_set(r->err, -EINVAL, "%s:%u: unknown %s '%s'", r->name, line, what, word);
}

static int unknown_word(const struct reading *r, const char *section, const char *key,
			unsigned line)
{
	const char *sections[N_PARAMS + 1] = { NULL }, *keys[N_PARAMS + 2] = { NULL };
	unsigned n_sections = 0, n_keys = 0;

	for (unsigned i = 0; i < N_PARAMS; i++) {
		sections[n_sections++] = params[i].section;
		if (!strcmp(params[i].section, section))
			keys[n_keys++] = params[i].key;
	}
	if (!n_keys)
		return unknown(r, "section", section, sections, line);
	if (!strcmp(section, "drive"))
		keys[n_keys++] = "like";
	return unknown(r, "key", key, keys, line);
}

static int out_of_range(const struct reading *r, const struct param *p, const char *value,
			unsigned line)
{
	return err_set(r->err, -EINVAL, "%s:%u: %s = %s is out of range (%.10g to %.10g)", r->name,
		       line, p->key, value, p->lo, p->hi);
}

static int bad_value(const struct reading *r, const struct param *p, const char *value,
		     unsigned line)
{
	static const char *const wants[] = { "a number", "a size such as 4k or 1g",
					     "a text of up to 60 characters", "yes or no" };

	return err_set(r->err, -EINVAL, "%s:%u: %s = %s is not %s", r->name, line, p->key, value,
		       wants[p->kind]);
}

static int set_value(struct reading *r, const struct param *p, const char *value, unsigned line)
{
	void *at = (char *)r->conf + p->at;
	uint64_t size;
	double num;

	switch (p->kind) {
	case NUM:
		if (parse_number(value, &num) < 0)
			return bad_value(r, p, value, line);
		if (num < p->lo || num > p->hi)
			return out_of_range(r, p, value, line);
		*(double *)at = num;
		return 0;
	case SIZE:
		if (parse_size(value, &size) < 0)
			return bad_value(r, p, value, line);
		if ((double)size < p->lo || (double)size > p->hi)
			return out_of_range(r, p, value, line);
		*(uint64_t *)at = size;
		return 0;
	case TEXT:
		if (strlen(value) > 60)
			return bad_value(r, p, value, line);
		snprintf(at, 64, "%s", value);
		return 0;
	case YES:
		if (strcmp(value, "yes") && strcmp(value, "no"))
			return bad_value(r, p, value, line);
		*(bool *)at = !strcmp(value, "yes");
		return 0;
	}
	BUG("kind of parameter");
}

static int no_profile(struct err *err, const char *profile)
{
	const char *names[64] = { NULL };
	char name[64][32], list[512] = "";
	unsigned n = 0;

	for (const struct embed *e = embed_sims; e->name && n < 63; e++, n++) {
		snprintf(name[n], sizeof name[n], "%.*s", (int)strcspn(e->name, "."), e->name);
		names[n] = name[n];
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n ? ", " : "",
			 name[n]);
	}
	const char *near = nearest_word(profile, names);

	return err_set(err, -ENOENT,
		       "no simulated drive '%s'%s%s%s; there are: %s, or a path to an ini", profile,
		       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", list);
}

static const struct embed *built_in(const char *profile)
{
	char file[64];

	if (strlen(profile) > 50)
		return NULL;
	snprintf(file, sizeof file, "%s.ini", profile);
	return embed_find(embed_sims, file);
}

/* "like = ent-nvme": every value of that profile, before the first of one's own. */
static int read_like(struct reading *r, const char *value, unsigned line)
{
	const struct embed *e = built_in(value);
	struct reading base = { .name = value, .conf = r->conf, .err = r->err };

	if (!e)
		return err_prefix(r->err, no_profile(r->err, value), "%s:%u", r->name, line);
	if (r->any)
		return err_set(r->err, -EINVAL, "%s:%u: like = %s must be the first key", r->name,
			       line, value);
	r->any = r->based = true;
	return read_text(&base, e->name, e->data, e->len);
}

static int read_key(void *arg, const char *section, const char *key, const char *value,
		    unsigned line)
{
	struct reading *r = arg;

	if (!strcmp(section, "drive") && !strcmp(key, "like"))
		return read_like(r, value, line);
	r->any = true;
	for (unsigned i = 0; i < N_PARAMS; i++) {
		if (strcmp(params[i].section, section) || strcmp(params[i].key, key))
			continue;
		if (r->seen[i])
			return err_set(r->err, -EINVAL, "%s:%u: %s was given in line %u already",
				       r->name, line, key, r->seen[i]);
		r->seen[i] = line;
		return set_value(r, &params[i], value, line);
	}
	return unknown_word(r, section, key, line);
}

static int check_rising(const struct reading *r, const char *section, const double *v)
{
	for (unsigned i = 1; i < SIM_KNOTS; i++)
		if (v[i] < v[i - 1])
			return err_set(r->err, -EINVAL,
				       "%s: [%s] does not rise from min to max: %.10g after %.10g",
				       r->name, section, v[i], v[i - 1]);
	return 0;
}

static int check_direction(const struct reading *r, const struct sim_dir *d, const char *section,
			   const char *busy)
{
	double both[SIM_KNOTS];
	int rc = check_rising(r, section, d->us);

	for (unsigned i = 0; i < SIM_KNOTS; i++)
		both[i] = d->us[i] * d->busy_x[i];
	return rc < 0 ? rc : check_rising(r, busy, both);
}

static int check_whole(const struct reading *r)
{
	const struct sim_conf *c = r->conf;
	int rc = check_direction(r, &c->dir[IO_READ], "read", "read.busy");

	if (!rc)
		rc = check_direction(r, &c->dir[IO_WRITE], "write", "write.busy");
	if (!rc)
		rc = check_rising(r, "queue", c->queue_x);
	if (rc < 0)
		return rc;
	if (c->lba_bytes != 512 && c->lba_bytes != 4096)
		return err_set(r->err, -EINVAL, "%s: lba is 512 or 4096", r->name);
	if (c->wa_steady && c->wa_steady < 1)
		return err_set(r->err, -EINVAL, "%s: wa_steady is 0 (from op_pct) or at least 1",
			       r->name);
	if (c->full_c < c->idle_c)
		return err_set(r->err, -EINVAL, "%s: full_c is below idle_c", r->name);
	return 0;
}

static int read_text(struct reading *r, const char *name, const char *text, size_t len)
{
	int rc;

	r->name = name;
	rc = ini_read(name, text, len, read_key, r, r->err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < N_PARAMS && !r->based; i++)
		if (!r->seen[i])
			return err_set(
				r->err, -EINVAL,
				"%s: [%s] %s is missing (or begin with [drive] like = PROFILE)",
				name, params[i].section, params[i].key);
	return check_whole(r);
}

static int load_file(struct reading *r, const char *path)
{
	struct buf text = BUF_INIT;
	int rc = buf_read_file(&text, path, CONF_FILE_MAX);

	if (rc < 0)
		err_set(r->err, rc, "%s: %s", path, strerror(-rc));
	else
		rc = read_text(r, path, buf_cstr(&text), text.len);
	buf_release(&text);
	return rc;
}

int sim_conf_load(const char *profile, struct sim_conf *ret, struct err *err)
{
	struct sim_conf conf = { .profile = "" };
	struct reading r = { .conf = &conf, .err = err };
	size_t len = strlen(profile);
	const struct embed *e;
	int rc;

	if (strchr(profile, '/') || (len > 4 && !strcmp(profile + len - 4, ".ini"))) {
		rc = load_file(&r, profile);
	} else {
		e = built_in(profile);
		rc = e ? read_text(&r, e->name, e->data, e->len) : no_profile(err, profile);
	}
	if (rc < 0)
		return rc;
	snprintf(conf.profile, sizeof conf.profile, "%s", profile);
	*ret = conf;
	return 0;
}

static void value_text(const struct sim_conf *c, const struct param *p, struct buf *out)
{
	const void *at = (const char *)c + p->at;
	struct json j = JSON_INIT(out);

	switch (p->kind) {
	case NUM:
		json_num(&j, NULL, *(const double *)at); /* the shortest exact form */
		break;
	case SIZE:
		buf_fmt(out, "%" PRIu64, *(const uint64_t *)at);
		break;
	case TEXT:
		buf_str(out, at);
		break;
	case YES:
		buf_str(out, *(const bool *)at ? "yes" : "no");
		break;
	}
}

void sim_conf_text(const struct sim_conf *c, struct buf *out)
{
	for (unsigned i = 0; i < N_PARAMS; i++) {
		buf_fmt(out, "%s.%s=", params[i].section, params[i].key);
		value_text(c, &params[i], out);
		buf_str(out, "\n");
	}
}
