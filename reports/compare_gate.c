/* SPDX-License-Identifier: MIT */
/* Whether the runs may be compared: each condition of a measurement, by run, and what is not the same in all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pts/base/units.h"
#include "reports/compare_priv.h"
#include "reports/page.h"
#include "reports/rwsw.h"
#include "reports/save.h"

#define AGE_DAYS 90 /* runs further apart than this are told of */
#define AMBIENT_C 2.0 /* differences up to this are none (reports of one room) */
#define HASH_SHOWN 12

struct asked { /* a condition before its values */
	const char *name, *test;
	bool subject;
	bool optional; /* left out where no run says it */
	enum gate differs; /* what a difference is */
};

static const char *text(const char *s)
{
	return s ? s : "";
}

static const char *host(const struct dataset *d, const char *key)
{
	return text(pairs_get(&d->host, key));
}

static const char *info(const struct dataset *d, const char *key)
{
	return text(pairs_get(&d->info, key));
}

/* ---- judging ---- */

#define WHO_SHOWN 8

static bool all_of(const struct comparison *c, const struct condition *one,
		   const struct candidate *of, const char *value)
{
	for (unsigned i = 0; i < of->n_runs; i++)
		if (strcmp(one->value[of->run[i]], value))
			return false;
	return true;
}

/* "A, B #2": who has this value; a candidate by its name when all its samples do. */
static const char *who_has(struct comparison *c, const struct condition *one, const char *value)
{
	struct arena *a = &c->arena;
	const char *who = "";
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct candidate *of = &c->candidate[c->run[i].candidate];
		bool whole = all_of(c, one, of, value);
		if (strcmp(one->value[i], value) || (whole && of->run[0] != i))
			continue;
		if (n++ < WHO_SHOWN)
			who = arena_fmt(a, "%s%s%s", who, *who ? ", " : "",
					whole ? of->label : c->run[i].label);
	}
	return n > WHO_SHOWN ? arena_fmt(a, "%s, %u more", who, n - WHO_SHOWN) : who;
}

/* "1.2.0 (A, B); 1.3.1 (C)" */
static const char *both_values(struct comparison *c, const struct condition *one)
{
	struct arena *a = &c->arena;
	const char *out = "";

	for (unsigned i = 0; i < c->n_runs; i++) {
		const char *value = one->value[i];
		bool told = false;
		for (unsigned k = 0; k < i; k++)
			told |= !strcmp(value, one->value[k]);
		if (!told)
			out = arena_fmt(a, "%s%s%s (%s)", out, *out ? "; " : "",
					*value ? value : "not recorded", who_has(c, one, value));
	}
	return out;
}

static const struct test *run_of(const struct comparison *c, unsigned run, const char *test)
{
	const struct test *t = dataset_test(&c->run[run].d, test);

	return t && t->attempt ? t : NULL;
}

/* Of a test, runs that did not do it have no say: "" of them is no gap. @test NULL: of the run. */
static enum gate gate_of(const struct comparison *c, const struct condition *one, const char *test,
			 enum gate differs)
{
	const char *first = NULL;
	bool unknown = false;

	for (unsigned i = 0; i < c->n_runs; i++) {
		const char *v = one->value[i];
		if (test && !run_of(c, i, test))
			continue;
		if (!*v)
			unknown = true;
		else if (!first)
			first = v;
		else if (strcmp(first, v))
			return differs;
	}
	return unknown ? GATE_UNKNOWN : GATE_SAME;
}

/* A condition with empty values, for the caller to fill and then to settle. */
static struct condition *begin(struct comparison *c, const struct asked *q)
{
	void *more = compare_grown(c, c->condition, c->n_conditions, sizeof *c->condition);

	if (more)
		c->condition = more;
	struct condition *one = &c->condition[c->n_conditions++];
	*one = (struct condition){ .name = q->name, .test = text(q->test), .subject = q->subject };
	one->text = "";
	for (unsigned i = 0; i < c->n_runs; i++)
		one->value[i] = "";
	return one;
}

static void settle(struct comparison *c, struct condition *one, enum gate gate)
{
	bool any = false;
	struct arena *a = &c->arena;

	for (unsigned i = 0; i < c->n_runs; i++) {
		one->value[i] = grid_clean(a, one->value[i]);
		any |= *one->value[i] != 0;
	}
	one->gate = gate;
	if (gate == GATE_SAME)
		return;
	one->text = any ? arena_fmt(a, "%s%s%s: %s", one->test, *one->test ? " " : "", one->name,
				    both_values(c, one))
			: arena_fmt(a, "%s%s%s: not recorded of any run", one->test,
				    *one->test ? " " : "", one->name);
	c->n_differ += gate == GATE_DIFFERS;
	c->n_unknown += gate == GATE_UNKNOWN;
}

/* Judged by its values alone. */
static void settle_plain(struct comparison *c, struct condition *one, const struct asked *q)
{
	bool any = false;

	for (unsigned i = 0; i < c->n_runs; i++)
		any |= *one->value[i] != 0;
	if (!any && q->optional)
		c->n_conditions--;
	else
		settle(c, one, gate_of(c, one, NULL, q->differs));
}

static void ask(struct comparison *c, const struct asked *q,
		const char *(*value)(struct arena *a, const struct subject *s))
{
	struct condition *one = begin(c, q);

	for (unsigned i = 0; i < c->n_runs; i++)
		one->value[i] = value(&c->arena, &c->run[i]);
	settle_plain(c, one, q);
}

/* ---- of the drive ---- */

static const char *v_model(struct arena *a, const struct subject *s)
{
	return arena_fmt(a, "%s%s%s", s->d.vendor, *s->d.vendor ? " " : "", s->d.model);
}

static const char *v_firmware(struct arena *a, const struct subject *s)
{
	return s->d.firmware;
}

static const char *v_serial(struct arena *a, const struct subject *s)
{
	return s->d.serial;
}

static const char *v_capacity(struct arena *a, const struct subject *s)
{
	char size[32];

	return s->d.capacity_bytes > 0
		       ? arena_fmt(a, "%s (%lld bytes)",
				   fmt_capacity(size, sizeof size, (uint64_t)s->d.capacity_bytes),
				   (long long)s->d.capacity_bytes)
		       : "";
}

static const char *v_lba(struct arena *a, const struct subject *s)
{
	return s->d.lba_bytes ? arena_fmt(a, "%u bytes", s->d.lba_bytes) : "";
}

static const char *v_interface(struct arena *a, const struct subject *s)
{
	return s->d.interface;
}

static const char *v_transport(struct arena *a, const struct subject *s)
{
	return s->transport;
}

static const char *v_layout(struct arena *a, const struct subject *s)
{
	return s->layout;
}

/* The drives of an array, each with its model, firmware and serial number. */
static const char *v_members(struct arena *a, const struct subject *s)
{
	const char *all = "";

	for (unsigned i = 1; i <= s->members; i++) {
		const char *one = host(&s->d, arena_fmt(a, "dev_member%u", i));
		if (*one)
			all = arena_fmt(a, "%s%s%s", all, *all ? "; " : "", one);
	}
	return all;
}

static const char *v_link(struct arena *a, const struct subject *s)
{
	const char *speed = drive_fact(a, &s->d, "dev_link_speed");
	const char *width = drive_fact(a, &s->d, "dev_link_width");

	return *speed || *width ? arena_fmt(a, "%s x%s", *speed ? speed : "?", *width ? width : "?")
				: "";
}

static const char *v_simulated(struct arena *a, const struct subject *s)
{
	return s->d.simulated ? "simulated" : "a drive";
}

static bool models_differ(const struct comparison *c)
{
	for (unsigned i = 1; i < c->n_runs; i++)
		if (strcmp(c->run[i].d.model, c->run[0].d.model) ||
		    strcmp(c->run[i].d.vendor, c->run[0].d.vendor))
			return true;
	return false;
}

static bool transports_differ(const struct comparison *c)
{
	for (unsigned i = 1; i < c->n_runs; i++)
		if (strcmp(c->run[i].transport, c->run[0].transport))
			return true;
	return false;
}

/*
 * What a comparison is made for is no reason against it: another model, with its own firmware and capacity; another layout, another
 * way to the drive. Of one model, firmware and capacity are to be the same.
 */
static void gate_drive(struct comparison *c)
{
	enum gate own = models_differ(c) ? GATE_NOTE : GATE_DIFFERS;
	enum gate way = transports_differ(c) ? GATE_NOTE : GATE_DIFFERS;

	ask(c, &(struct asked){ .name = "model", .subject = true, .differs = GATE_NOTE }, v_model);
	ask(c, &(struct asked){ .name = "firmware", .subject = true, .differs = own }, v_firmware);
	ask(c, &(struct asked){ .name = "capacity", .subject = true, .differs = own }, v_capacity);
	ask(c, &(struct asked){ .name = "LBA size", .differs = GATE_DIFFERS }, v_lba);
	ask(c, &(struct asked){ .name = "interface", .subject = true, .differs = way },
	    v_interface);
	ask(c,
	    &(struct asked){
		    .name = "transport", .subject = true, .optional = true, .differs = GATE_NOTE },
	    v_transport);
	ask(c, &(struct asked){ .name = "layout", .subject = true, .differs = GATE_NOTE },
	    v_layout);
	ask(c, &(struct asked){ .name = "members", .optional = true, .differs = GATE_NOTE },
	    v_members);
	ask(c, &(struct asked){ .name = "link", .differs = GATE_DIFFERS }, v_link);
	ask(c, &(struct asked){ .name = "serial number", .differs = GATE_NOTE }, v_serial);
	ask(c, &(struct asked){ .name = "simulated", .differs = GATE_DIFFERS }, v_simulated);
}

/* ---- of the run ---- */

static const char *v_profile(struct arena *a, const struct subject *s)
{
	return s->d.profile;
}

static const char *v_quick(struct arena *a, const struct subject *s)
{
	return s->d.quick ? "quick values" : "formal values";
}

static const char *v_spec(struct arena *a, const struct subject *s)
{
	return arena_fmt(a, "%s, definition set %d", s->d.spec, s->d.definition_set);
}

static const char *v_software(struct arena *a, const struct subject *s)
{
	return s->d.software;
}

static const char *v_engine(struct arena *a, const struct subject *s)
{
	return s->d.simulated ? "a model" : host(&s->d, "engine");
}

static const char *v_capture(struct arena *a, const struct subject *s)
{
	const struct rwsw *w = s->d.rwsw;

	return w && w->cap.stored ? arena_fmt(a, "%.*s", HASH_SHOWN, w->cap.sha256) : "";
}

static const char *v_state(struct arena *a, const struct subject *s)
{
	return s->d.state;
}

static const char *v_chain(struct arena *a, const struct subject *s)
{
	return s->d.tampered ? "CHAIN BROKEN" : s->d.sealed ? "sealed, intact" : "intact, no seal";
}

static const char *v_health(struct arena *a, const struct subject *s)
{
	static const char *const kinds[] = { "throttle", "critical", "link", "error" };
	const char *out = "";

	for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		unsigned n = 0;
		for (unsigned i = 0; i < s->d.n_events; i++)
			n += !strcmp(s->d.event[i].kind, kinds[k]);
		if (n)
			out = arena_fmt(a, "%s%s%s: %u", out, *out ? ", " : "", kinds[k], n);
	}
	return *out ? out : "none";
}

/* A condition that each run should meet by itself; @good: what it then says. */
static void ask_each(struct comparison *c, const struct asked *q,
		     const char *(*value)(struct arena *a, const struct subject *s),
		     const char *good)
{
	struct condition *one = begin(c, q);
	enum gate gate = GATE_SAME;

	for (unsigned i = 0; i < c->n_runs; i++) {
		one->value[i] = value(&c->arena, &c->run[i]);
		if (strncmp(one->value[i], good, strlen(good)))
			gate = GATE_DIFFERS;
	}
	settle(c, one, gate);
}

static const char *v_started(struct arena *a, const struct subject *s)
{
	return arena_fmt(a, "%.10s", s->d.started_utc);
}

static void gate_age(struct comparison *c)
{
	const struct asked q = { .name = "age" };
	struct condition *one = begin(c, &q);
	time_t low = 0, high = 0;

	for (unsigned i = 0; i < c->n_runs; i++) {
		time_t t = utc_time(c->run[i].d.started_utc);
		one->value[i] = v_started(&c->arena, &c->run[i]);
		low = !low || t < low ? t : low;
		high = t > high ? t : high;
	}
	unsigned days = (unsigned)((high - low) / 86400);
	settle(c, one, days > AGE_DAYS ? GATE_NOTE : GATE_SAME);
	if (days > AGE_DAYS)
		one->text = arena_fmt(&c->arena, "age: the runs are %u days apart", days);
}

static void gate_run(struct comparison *c)
{
	ask(c, &(struct asked){ .name = "profile", .differs = GATE_DIFFERS }, v_profile);
	ask(c, &(struct asked){ .name = "length", .differs = GATE_DIFFERS }, v_quick);
	ask(c, &(struct asked){ .name = "specification", .differs = GATE_DIFFERS }, v_spec);
	ask(c, &(struct asked){ .name = "software", .differs = GATE_DIFFERS }, v_software);
	ask(c, &(struct asked){ .name = "IO engine", .optional = true, .differs = GATE_DIFFERS },
	    v_engine);
	ask(c, &(struct asked){ .name = "capture", .optional = true, .differs = GATE_DIFFERS },
	    v_capture);
	ask_each(c, &(struct asked){ .name = "state of the run" }, v_state, "done");
	ask_each(c, &(struct asked){ .name = "evidence" }, v_chain, "sealed");
	ask_each(c, &(struct asked){ .name = "throttling and health events" }, v_health, "none");
	gate_age(c);
}

/* ---- of the host ---- */

static const char *v_machine(struct arena *a, const struct subject *s)
{
	const char *vendor = host(&s->d, "system_vendor"), *name = host(&s->d, "system_product");

	return arena_fmt(a, "%s%s%s", vendor, *vendor && *name ? " " : "", name);
}

static const char *v_board(struct arena *a, const struct subject *s)
{
	const char *vendor = host(&s->d, "board_vendor"), *name = host(&s->d, "board_name");

	return arena_fmt(a, "%s%s%s", vendor, *vendor && *name ? " " : "", name);
}

static const char *v_bios(struct arena *a, const struct subject *s)
{
	return host(&s->d, "bios_version");
}

static const char *v_cpu(struct arena *a, const struct subject *s)
{
	const char *model = host(&s->d, "cpu_model"), *cores = host(&s->d, "cpu_cores"),
		   *threads = host(&s->d, "cpu_threads");

	return *model ? arena_fmt(a, "%s, %s cores, %s threads", model, *cores ? cores : "?",
				  *threads ? threads : "?")
		      : "";
}

/* Of one machine it changes by a few pages from start to start. */
static const char *v_memory(struct arena *a, const struct subject *s)
{
	uint64_t bytes;

	if (parse_uint(host(&s->d, "memory_bytes"), 0, UINT64_MAX / 2, &bytes))
		return "";
	return arena_fmt(a, "%.0f GiB", (double)bytes / (1 << 30));
}

static const char *v_kernel(struct arena *a, const struct subject *s)
{
	return host(&s->d, "kernel");
}

static const char *v_os(struct arena *a, const struct subject *s)
{
	return host(&s->d, "os");
}

static const char *v_governor(struct arena *a, const struct subject *s)
{
	const char *governor = host(&s->d, "cpu_governor");

	return strcmp(governor, "unknown") ? governor : "";
}

static const char *v_scheduler(struct arena *a, const struct subject *s)
{
	return drive_fact(a, &s->d, "dev_scheduler");
}

static const char *v_hostname(struct arena *a, const struct subject *s)
{
	return host(&s->d, "hostname");
}

static const char *v_slot(struct arena *a, const struct subject *s)
{
	const char *slot = info(&s->d, "slot");

	return *slot ? slot : drive_fact(a, &s->d, "dev_pci_address");
}

static const char *v_power(struct arena *a, const struct subject *s)
{
	return info(&s->d, "power_state");
}

/* "22.4 - 23.1 C" -> 22.75; NAN where it has no number. */
static double mean_of_text(const char *s)
{
	double sum = 0, v;
	unsigned n = 0;

	while (*s) {
		char word[32];
		size_t len = strspn(s, "0123456789.");
		if (!len) {
			s++;
			continue;
		}
		snprintf(word, sizeof word, "%.*s", (int)(len < 31 ? len : 31), s);
		if (!parse_number(word, &v)) {
			sum += v;
			n++;
		}
		s += len;
	}
	return n ? sum / n : NAN;
}

static void gate_ambient(struct comparison *c)
{
	const struct asked q = { .name = "ambient" };
	struct condition *one = begin(c, &q);
	double low = NAN, high = NAN;

	for (unsigned i = 0; i < c->n_runs; i++) {
		one->value[i] = info(&c->run[i].d, "ambient");
		low = fmin(low, mean_of_text(one->value[i]));
		high = fmax(high, mean_of_text(one->value[i]));
	}
	enum gate gate = gate_of(c, one, NULL, GATE_DIFFERS);
	if (gate == GATE_DIFFERS && high - low <= AMBIENT_C)
		gate = GATE_SAME;
	settle(c, one, gate);
}

static void gate_host(struct comparison *c)
{
	ask(c, &(struct asked){ .name = "host machine", .differs = GATE_DIFFERS }, v_machine);
	ask(c, &(struct asked){ .name = "main board", .optional = true, .differs = GATE_DIFFERS },
	    v_board);
	ask(c, &(struct asked){ .name = "BIOS", .differs = GATE_DIFFERS }, v_bios);
	ask(c, &(struct asked){ .name = "CPU", .differs = GATE_DIFFERS }, v_cpu);
	ask(c, &(struct asked){ .name = "memory", .differs = GATE_DIFFERS }, v_memory);
	ask(c, &(struct asked){ .name = "kernel", .differs = GATE_DIFFERS }, v_kernel);
	ask(c, &(struct asked){ .name = "operating system", .differs = GATE_DIFFERS }, v_os);
	ask(c, &(struct asked){ .name = "CPU governor", .differs = GATE_DIFFERS }, v_governor);
	ask(c, &(struct asked){ .name = "IO scheduler", .optional = true, .differs = GATE_DIFFERS },
	    v_scheduler);
	ask(c, &(struct asked){ .name = "host name", .optional = true, .differs = GATE_NOTE },
	    v_hostname);
	ask(c, &(struct asked){ .name = "slot", .optional = true, .differs = GATE_NOTE }, v_slot);
	ask(c, &(struct asked){ .name = "power state", .optional = true, .differs = GATE_DIFFERS },
	    v_power);
	gate_ambient(c);
}

/* ---- of each test ---- */

static const char *t_definition(struct arena *a, const struct test *t)
{
	return arena_fmt(a, "%.*s", HASH_SHOWN, t->definition_hash);
}

static const char *t_plan(struct arena *a, const struct test *t)
{
	return arena_fmt(a, "%.*s", HASH_SHOWN, t->plan_hash);
}

static const char *t_purge(struct arena *a, const struct test *t)
{
	return !*t->purge_method ? ""
				 : arena_fmt(a, "%s%s", t->purge_method,
					     t->purge_verified == 1   ? ", verified"
					     : t->purge_verified == 0 ? ", found incomplete"
								      : ", not verified");
}

static const char *t_cache(struct arena *a, const struct test *t)
{
	bool known = *t->write_cache && strcmp(t->write_cache, "unknown");

	return known ? cache_text(t, true) : "";
}

static const char *t_steady(struct arena *a, const struct test *t)
{
	if (t->status <= STATUS_WARN)
		return t->has_rule ? "steady" : "valid, no rule";
	return !strcmp(t->reason, "steady state not reached") ? "NOT STEADY" : t->reason;
}

static const char *t_temperature(struct arena *a, const struct test *t)
{
	return isfinite(t->temp_min) ? arena_fmt(a, "%.0f - %.0f C", t->temp_min, t->temp_max) : "";
}

static void ask_test(struct comparison *c, const struct asked *q,
		     const char *(*value)(struct arena *a, const struct test *t))
{
	struct condition *one = begin(c, q);
	bool any = false;

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *t = run_of(c, i, q->test);
		if (t)
			one->value[i] = value(&c->arena, t);
		any |= *one->value[i] != 0;
	}
	if (!any && q->optional) {
		c->n_conditions--;
		return;
	}
	enum gate gate = gate_of(c, one, q->test, q->differs);
	for (unsigned i = 0; i < c->n_runs; i++)
		if (!run_of(c, i, q->test))
			one->value[i] = "not run";
	settle(c, one, gate);
}

static bool asked_before(const struct comparison *c, unsigned from, const char *key)
{
	bool known = !strcmp(key, "profile") || !strcmp(key, "quick"); /* of the run */

	for (unsigned i = from; i < c->n_conditions; i++)
		known |= !strcmp(c->condition[i].name + strlen("parameter "), key);
	return known;
}

/* Plans of one definition say their bytes: of drives that differ in size, or in number, they cannot be the same. */
static bool sizes_differ(const struct comparison *c)
{
	for (unsigned i = 1; i < c->n_runs; i++)
		if (c->run[i].d.capacity_bytes != c->run[0].d.capacity_bytes ||
		    c->run[i].members != c->run[0].members)
			return true;
	return false;
}

static void gate_param(struct comparison *c, const char *test, const char *key)
{
	const struct asked q = { .name = arena_fmt(&c->arena, "parameter %s", key), .test = test };
	struct condition *one = begin(c, &q);

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *t = run_of(c, i, test);
		one->value[i] = t ? text(pairs_get(&t->params, key)) : "";
	}
	bool follows = strstr(key, "-bytes") && sizes_differ(c); /* from the size of the drive */
	enum gate gate = gate_of(c, one, test, follows ? GATE_NOTE : GATE_DIFFERS);
	for (unsigned i = 0; i < c->n_runs; i++)
		if (!run_of(c, i, test))
			one->value[i] = "not run";
	settle(c, one, gate);
}

/* Each parameter of a test, of whichever run. */
static void gate_params(struct comparison *c, const char *test)
{
	unsigned before = c->n_conditions;

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *t = run_of(c, i, test);
		for (unsigned k = 0; t && k < t->params.n; k++)
			if (!asked_before(c, before, t->params.v[k].key))
				gate_param(c, test, t->params.v[k].key);
	}
}

/* A test that is not steady in a run is no ground for its numbers. */
static void gate_steady(struct comparison *c, const char *test)
{
	const struct asked q = { .name = "steady state", .test = test };
	struct condition *one = begin(c, &q);
	enum gate gate = GATE_SAME;

	for (unsigned i = 0; i < c->n_runs; i++) {
		const struct test *t = run_of(c, i, test);
		one->value[i] = t ? t_steady(&c->arena, t) : "not run";
		if (t && t->status > STATUS_WARN)
			gate = GATE_DIFFERS;
	}
	settle(c, one, gate);
}

static void gate_one_test(struct comparison *c, const char *test)
{
	enum gate own = sizes_differ(c) ? GATE_NOTE : GATE_DIFFERS;

	ask_test(c, &(struct asked){ .name = "definition", .test = test, .differs = GATE_DIFFERS },
		 t_definition);
	gate_params(c, test);
	ask_test(c, &(struct asked){ .name = "plan", .test = test, .differs = own }, t_plan);
	ask_test(c, &(struct asked){ .name = "purge", .test = test, .differs = GATE_DIFFERS },
		 t_purge);
	ask_test(c, &(struct asked){ .name = "write cache", .test = test, .differs = GATE_DIFFERS },
		 t_cache);
	gate_steady(c, test);
	ask_test(c,
		 &(struct asked){ .name = "temperature",
				  .test = test,
				  .optional = true,
				  .differs = GATE_NOTE },
		 t_temperature);
}

static const char *v_tests(struct arena *a, const struct subject *s)
{
	const char *out = "";

	for (unsigned i = 0; i < s->d.n_tests; i++)
		if (s->d.test[i].attempt)
			out = arena_fmt(a, "%s%s%s", out, *out ? " " : "", s->d.test[i].name);
	return *out ? out : "none";
}

static void gate_tests(struct comparison *c)
{
	ask(c, &(struct asked){ .name = "tests", .differs = GATE_NOTE }, v_tests);
	for (unsigned i = 0; i < c->n_runs; i++)
		for (unsigned k = 0; k < c->run[i].d.n_tests; k++) {
			const struct test *t = &c->run[i].d.test[k];
			bool known = !t->attempt;
			for (unsigned r = 0; r < i; r++)
				known |= run_of(c, r, t->name) != NULL;
			if (!known)
				gate_one_test(c, t->name);
		}
}

void compare_gate(struct comparison *c)
{
	gate_drive(c);
	gate_run(c);
	gate_host(c);
	gate_tests(c);
}
