/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/page.h"

enum numfmt unit_fmt(enum unit u)
{
	return u == UNIT_NS ? NUM_4 : NUM_GROUP1;
}

enum numfmt ms_fmt(double ms)
{
	return ms < 0.1 ? NUM_4 : NUM_3;
}

enum numfmt axis_fmt(double top)
{
	return top >= 20 ? NUM_GROUP : top >= 2 ? NUM_1 : top >= 0.2 ? NUM_2 : NUM_4;
}

uint32_t mix_color(double read_pct)
{
	static const struct {
		double upto;
		uint32_t rgb;
	} colors[] = { { 2, 0xA02B2B },	 { 20, 0xC8553D }, { 42, 0xE09F3E }, { 57, 0x8D99B4 },
		       { 80, 0x5FA8D3 }, { 97, 0x2D7DA1 }, { 101, 0x014F86 } };

	for (unsigned i = 0; i < sizeof colors / sizeof colors[0]; i++)
		if (read_pct <= colors[i].upto)
			return colors[i].rgb;
	return 0x808080;
}

uint32_t series_color(unsigned i)
{
	static const uint32_t colors[] = { 0x7030A0, 0x2E75B6, 0x00A99D, 0x70AD47,
					   0xBF9000, 0xED7D31, 0xC00000, 0x7F7F7F };

	return colors[i % (sizeof colors / sizeof colors[0])];
}

enum look result_look(const struct section *s, enum look good)
{
	return s->steady == 0 ? LOOK_UNSTEADY : good;
}

struct grid_sheet *page_plain(struct grid *g, const char *name, const char *title,
			      const char *subtitle)
{
	struct grid_sheet *s = grid_sheet(g, name, ROLE_PAGE);

	s->print_cols = PAGE_COLS;
	grid_col_width(s, 0, PAGE_COLS - 1, PAGE_COL_PX);
	grid_row_height(s, 0, 34);
	grid_row_height(s, 1, 22);
	put_fmt(s, AREA(0, 0, 0, PAGE_COLS - 1), LOOK_TITLE, "%s", title);
	put_fmt(s, AREA(1, 0, 1, PAGE_COLS - 1), LOOK_SUBTITLE, "%s", subtitle);
	return s;
}

/* ---- the header block ---- */

/* "Throughput" -> "THROUGHPUT TEST", "IOPS - Block Size x ..." -> "IOPS TEST". */
static const char *bar_text(struct arena *a, const struct test *t)
{
	const char *end = strstr(t->title, " - ");
	char *s = *t->title ? arena_strndup(a, t->title,
					    end ? (size_t)(end - t->title) : strlen(t->title))
			    : arena_strdup(a, t->name);

	for (char *p = s; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return s;
}

/* Repeated at the head of each page: what must not be overlooked on any. */
static const char *bar_warning(const struct page *p)
{
	return p->d->simulated	       ? " - SIMULATED, NO DRIVE WAS MEASURED"
	       : !p->t->purge_verified ? " - NOT PURGED"
				       : "";
}

static void header_top(struct page *p, const struct header *h)
{
	struct grid_sheet *s = p->s;
	const struct dataset *d = p->d;
	const char *name = bar_text(&s->grid->arena, p->t);
	bool client = !strcmp(d->profile, "client");
	bool not_pts = !*p->t->clause || !strcmp(p->t->clause, "-");

	put_text(s, AREA(0, 0, 0, 1), LOOK_KEY_PLATFORM, "Test run start");
	put_text(s, AREA(0, 2, 0, 5), LOOK_VALUE, p->t->started_utc);
	put_text(s, AREA(0, 6, 0, 7), LOOK_KEY_PLATFORM, "Test run finish");
	put_text(s, AREA(0, 8, 0, 11), LOOK_VALUE,
		 *p->t->ended_utc ? p->t->ended_utc : "not finished");
	put_text(s, AREA(0, 12, 0, 13), LOOK_KEY_PLATFORM, "Run ID");
	put_fmt(s, AREA(0, 14, 0, 15), LOOK_VALUE, "%lld / %.8s", (long long)d->run_id, d->uuid);
	grid_row_height(s, 1, 27);
	put_fmt(s, AREA(1, 0, 1, PAGE_COLS - 1), d->simulated ? LOOK_SIMULATED : LOOK_TEST_BAR,
		"%s TEST - REPORT PAGE%s", name, bar_warning(p));
	put_text(s, AREA(2, 0, 3, 1), LOOK_ORG, not_pts ? "pts" : "SNIA SSS TWG");
	put_text(s, AREA(2, 2, 3, 4), LOOK_ORG,
		 not_pts ? "not a PTS test" : "Solid State Storage Performance Test Spec");
	put_text(s, AREA(2, 5, 3, 12), LOOK_SUBJECT, h->subject);
	put_text(s, AT(2, 13), LOOK_KEY_PLATFORM, "Rev.");
	if (not_pts)
		put_text(s, AREA(2, 14, 2, 15), LOOK_VALUE, "not a PTS test");
	else if (h->rev)
		put_text(s, AREA(2, 14, 2, 15), LOOK_VALUE, h->rev);
	else
		put_fmt(s, AREA(2, 14, 2, 15), LOOK_VALUE, "%s %s", client ? "PTS-C" : "PTS-E",
			strncmp(d->spec, "SNIA SSS PTS ", 13) ? d->spec : d->spec + 13);
	put_text(s, AT(3, 13), LOOK_KEY_PLATFORM, "Pages");
}

static void header_subject(struct page *p)
{
	struct grid_sheet *s = p->s;
	const struct dataset *d = p->d;
	const char *by = pairs_get(&d->info, "operator"), *lab = pairs_get(&d->info, "lab");
	const char *steady = steady_text(&s->grid->arena, p->t, NULL);
	bool bad = !strncmp(steady, "NOT", 3);

	put_text(s, AT(4, 0), LOOK_KEY_PLATFORM, "Vendor");
	put_text(s, AREA(4, 1, 4, 3), LOOK_VALUE, *d->vendor ? d->vendor : "-");
	put_text(s, AT(4, 4), LOOK_KEY_PLATFORM, "Model");
	put_fmt(s, AREA(4, 5, 4, 8), LOOK_VALUE, "%s, FW %s, S/N %s", d->model,
		*d->firmware ? d->firmware : "-", *d->serial ? d->serial : "-");
	put_text(s, AT(4, 9), LOOK_KEY_PLATFORM, "Tested by");
	put_text(s, AREA(4, 10, 4, 12), LOOK_VALUE, by ? by : lab ? lab : "-");
	put_text(s, AT(4, 13), LOOK_KEY_PLATFORM, "Steady state");
	put_text(s, AREA(4, 14, 4, 15),
		 bad		  ? LOOK_BAD
		 : *steady == 'n' ? LOOK_NA
				  : LOOK_GOOD,
		 steady);
	if (bad)
		p->steady = steady;
}

static void header_block(struct grid_sheet *s, unsigned index, const char *title,
			 const struct pair *line)
{
	uint32_t col = index * 4;

	put_text(s, AREA(5, col, 5, col + 3), LOOK_HEAD_PLATFORM + index, title);
	for (uint32_t i = 0; i < HEADER_LINES; i++) {
		put_text(s, AREA(6 + i, col, 6 + i, col + 1), LOOK_KEY_PLATFORM + index,
			 line[i].key ? line[i].key : "");
		put_text(s, AREA(6 + i, col + 2, 6 + i, col + 3), LOOK_VALUE,
			 line[i].value && *line[i].value ? line[i].value : "-");
	}
}

static const char *host(const struct dataset *d, const char *key)
{
	const char *v = pairs_get(&d->host, key);

	return v ? v : "";
}

/* Both with the separator between them, or the one that is known, or "". */
static const char *joined(struct arena *a, const char *first, const char *separator,
			  const char *second)
{
	if (!*first || !*second)
		return *first ? first : second;
	return arena_fmt(a, "%s%s%s", first, separator, second);
}

/* "16.0 GT/s PCIe" -> "16.0 GT/s" */
static int speed_len(const char *speed)
{
	const char *pcie = strstr(speed, " PCIe");

	return pcie ? (int)(pcie - speed) : (int)strlen(speed);
}

static const char *link_text(struct arena *a, const struct dataset *d)
{
	const char *speed = host(d, "dev_link_speed"), *cap = host(d, "dev_link_speed_max");

	if (!*speed)
		return "-";
	return arena_fmt(a, "%.*s x%s (cap %.*s x%s)", speed_len(speed), speed,
			 host(d, "dev_link_width"), speed_len(cap), cap,
			 host(d, "dev_link_width_max"));
}

/* "Debian GNU/Linux 12, 6.1.0-28-amd64": without the code name in brackets. */
static const char *os_text(struct arena *a, const struct dataset *d)
{
	const char *os = host(d, "os");

	return arena_fmt(a, "%.*s, %s", (int)(strcspn(os, "(") - (strstr(os, " (") != NULL)), os,
			 host(d, "kernel"));
}

static void platform_lines(struct arena *a, const struct dataset *d, struct pair *line)
{
	double gib = strtod(host(d, "memory_bytes"), NULL) / (1 << 30);
	const char *engine = pairs_get(&d->host, "engine");

	line[0] = (struct pair){ "Ref. test platform", joined(a, host(d, "system_vendor"), " ",
							      host(d, "system_product")) };
	line[1] = (struct pair){ "Motherboard / BIOS", joined(a,
							      joined(a, host(d, "board_vendor"),
								     " ", host(d, "board_name")),
							      " / ", host(d, "bios_version")) };
	line[2] = (struct pair){ "CPU", arena_fmt(a, "%s, %s C / %s T", host(d, "cpu_model"),
						  host(d, "cpu_cores"), host(d, "cpu_threads")) };
	line[3] = (struct pair){ "Memory", gib > 0 ? arena_fmt(a, "%.1f GiB", gib) : "-" };
	line[4] = (struct pair){ "Operating system", os_text(a, d) };
	line[5] = (struct pair){ "Test SW", d->software };
	line[6] = (struct pair){ "I/O engine", d->simulated ? "model, virtual clock"
					       : engine	    ? engine
							    : "io_uring" };
	line[7] = (struct pair){ "HBA / path", *host(d, "dev_pci_address")
						       ? host(d, "dev_pci_address")
						       : d->dut };
	line[8] = (struct pair){ "PCIe link", link_text(a, d) };
}

const char *cache_text(const struct test *t, bool brief)
{
	static const struct {
		const char *stored, *brief, *text;
	} states[] = { { "off", "WCD", "disabled (WCD)" },
		       { "on", "WCE", "enabled (WCE)" },
		       { "none", "no VWC", "no volatile write cache" } };

	for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++)
		if (!strcmp(t->write_cache, states[i].stored))
			return brief ? states[i].brief : states[i].text;
	return brief ? "WC not known" : "not known";
}

static void device_lines(struct arena *a, const struct dataset *d, const struct test *t,
			 struct pair *line)
{
	const char *nand = pairs_get(&d->info, "nand_type"), *plp = pairs_get(&d->info, "plp");

	line[0] = (struct pair){ "Vendor", d->vendor };
	line[1] = (struct pair){ "Model", d->model };
	line[2] = (struct pair){ "Serial no.", d->serial };
	line[3] = (struct pair){ "Firmware", d->firmware };
	char size[32];

	line[4] = (struct pair){ "Capacity", arena_fmt(a, "%s (%lld B)",
						       fmt_capacity(size, sizeof size,
								    (uint64_t)d->capacity_bytes),
						       (long long)d->capacity_bytes) };
	line[5] = (struct pair){ "Interface",
				 arena_fmt(a, "%s, LBA %u B", d->interface, d->lba_bytes) };
	line[6] = (struct pair){
		"NAND / PLP",
		nand || plp ? arena_fmt(a, "%s / %s", nand ? nand : "-", plp ? plp : "-") : "-"
	};
	line[7] = (struct pair){ "Purge method", *t->purge_method ? t->purge_method : "none" };
	line[8] = (struct pair){ "Write cache", cache_text(t, false) };
}

void page_open(struct page *p, struct grid *g, const struct dataset *d, const struct test *t,
	       const struct header *h)
{
	struct pair line[HEADER_LINES];

	*p = (struct page){ .s = grid_sheet(g, t->sheet, ROLE_PAGE), .d = d, .t = t };
	p->s->repeat_rows = HEADER_ROWS;
	p->s->freeze_rows = 0;
	p->next = HEADER_ROWS;
	grid_col_width(p->s, 0, PAGE_COLS - 1, PAGE_COL_PX);
	header_top(p, h);
	header_subject(p);
	platform_lines(&g->arena, d, line);
	header_block(p->s, 0, "TEST PLATFORM", line);
	device_lines(&g->arena, d, t, line);
	header_block(p->s, 1, "DEVICE UNDER TEST", line);
	header_block(p->s, 2, "SET-UP PARAMETERS", h->setup);
	header_block(p->s, 3, "TEST PARAMETERS", h->test);
}

void page_close(struct page *p)
{
	put_fmt(p->s, AREA(3, 14, 3, 15), LOOK_VALUE, "%u in this test", p->n);
	p->s->print_cols = PAGE_COLS;
	p->s->print_rows = p->next - 1; /* without the slack of the last page */
}

void page_begin(struct page *p, const char *kind, const char *title)
{
	if (p->n++)
		grid_page_break(p->s, p->next);
	const char *number = p->number ? p->number
				       : arena_fmt(&p->s->grid->arena, "%c.%u",
						   p->letter ? p->letter : 'A', p->n);
	put_fmt(p->s, AREA(p->next, 0, p->next, PAGE_COLS - 1), LOOK_PAGE_BAR, "%s%s%s - %s", kind,
		*number ? " " : "", number, title);
	p->row = p->next + 1;
	p->next += BODY_ROWS;
}

void page_banner(struct page *p, const struct section *s)
{
	const char *what = s && *s->label ? s->label : p->t->sheet;

	if (!p->steady || (s && s->steady != 0))
		return;
	grid_row_height(p->s, p->row, 27);
	if (!s || s->steady != 0)
		put_fmt(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_BANNER_BAD,
			"%s: the values of this test are NOT PTS results", p->steady);
	else
		put_fmt(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_BANNER_BAD,
			"STEADY STATE NOT REACHED - %s did not settle in %d rounds: its values are"
			" NOT PTS results",
			what, s->rounds);
	p->row++;
}

/* ---- common lines of set-up and test parameters ---- */

/* What the test did: the cells of its loops or, where it has none, its steps. */
#define STIMULI_MAX 1024
struct stimulus {
	double read_pct;
	int64_t block_bytes;
	int threads, qd;
	const struct measure *m; /* one of its cells, NULL none */
};

struct stimuli {
	struct stimulus v[STIMULI_MAX];
	unsigned n;
	bool loop;
};

static void add_combos(struct stimuli *l, const struct section *s)
{
	for (unsigned k = 0; k < s->n_combos && l->n < STIMULI_MAX; k++) {
		const struct combo *c = &s->combo[k];
		struct stimulus x = { c->read_pct, c->block_bytes, c->threads, c->qd, NULL };
		for (unsigned r = 0; r < c->n_rounds && !x.m; r++)
			x.m = c->round[r];
		l->v[l->n++] = x;
	}
}

static void stimuli_fill(struct stimuli *l, const struct dataset *d, const struct test *t)
{
	l->n = 0;
	for (unsigned i = 0; i < t->n_sections; i++)
		add_combos(l, &t->section[i]);
	l->loop = l->n > 0;
	for (unsigned i = 0; !l->loop && i < d->n_measures && l->n < STIMULI_MAX; i++) {
		const struct measure *m = &d->measure[i];
		if (measure_counts(m, t) && measure_is_step(m))
			l->v[l->n++] = (struct stimulus){ m->read_pct, m->block_bytes, m->threads,
							  m->qd, m };
	}
}

static const char *mixes(struct arena *a, const struct stimuli *l)
{
	const char *list = "";
	double seen[64];
	unsigned n = 0;

	for (unsigned i = 0; i < l->n && n < 64; i++) {
		double v = l->v[i].read_pct;
		bool old = !isfinite(v);
		for (unsigned m = 0; m < n; m++)
			old |= seen[m] == v;
		if (old)
			continue;
		seen[n++] = v;
		list = arena_fmt(a, "%s%s%s", list, n > 1 ? ", " : "", mix_text(a, v));
	}
	return n > 4 ? arena_fmt(a, "%s%u mixes", l->loop ? "outer loop, " : "", n) : list;
}

static const char *sizes(struct arena *a, const struct stimuli *l)
{
	const char *list = "";
	int64_t seen[64];
	unsigned n = 0;

	for (unsigned i = 0; i < l->n && n < 64; i++) {
		int64_t v = l->v[i].block_bytes;
		bool old = v <= 0;
		for (unsigned m = 0; m < n; m++)
			old |= seen[m] == v;
		if (old)
			continue;
		seen[n++] = v;
		list = arena_fmt(a, "%s%s%s", list, n > 1 ? ", " : "", kib_text(a, v));
	}
	if (!n)
		return "-";
	return n > 4 ? arena_fmt(a, "%s%u sizes", l->loop ? "inner loop, " : "", n)
		     : arena_fmt(a, "%s KiB", list);
}

static const char *depth(struct arena *a, const struct stimuli *l)
{
	for (unsigned i = 1; i < l->n; i++)
		if (l->v[i].threads != l->v[0].threads || l->v[i].qd != l->v[0].qd)
			return "several";
	if (!l->n || l->v[0].threads < 0 || l->v[0].qd < 0)
		return "-";
	return arena_fmt(a, "TC %d / QD %d", l->v[0].threads, l->v[0].qd);
}

/* "IOPS loop, 60 s/step"; "12 steps of 10 s"; "3 steps, 60 s to 600 s" */
static const char *stimulus_text(struct arena *a, const struct test *t, const struct stimuli *l)
{
	const struct measure *low = NULL, *high = NULL;
	uint64_t low_ns = 0, high_ns = 0;

	for (unsigned i = 0; i < l->n; i++) {
		const struct measure *m = l->v[i].m;
		uint64_t ns = m ? asked_ns(t, m) : 0; /* a known time stands before any other */
		if (m && (!low || (ns && (!low_ns || ns < low_ns)))) {
			low = m;
			low_ns = ns;
		}
		if (m && (!high || ns > high_ns)) {
			high = m;
			high_ns = ns;
		}
	}
	if (!low)
		return "-";
	const char *from = asked_text(a, t, low), *to = asked_text(a, t, high);
	const char *time = strcmp(from, to) ? arena_fmt(a, "%s to %s", from, to) : from;
	if (l->loop)
		return arena_fmt(a, "%s loop, %s/step", t->sheet, time);
	return arena_fmt(a, "%u step%s, %s", l->n, l->n == 1 ? "" : "s", time);
}

static const char *rounds_text(struct arena *a, const struct test *t)
{
	const char *list = "";

	for (unsigned i = 0; i < t->n_sections; i++) {
		const struct section *s = &t->section[i];
		if (s->rounds <= 0)
			continue;
		list = arena_fmt(a, "%s%s%s%s%s", list, *list ? ", " : "",
				 t->n_sections > 1 ? s->label : "",
				 t->n_sections > 1 && *s->label ? ": " : "", window_text(a, s));
	}
	return list;
}

static const char *fill_text(struct arena *a, const struct dataset *d, const struct section *s)
{
	char size[32];

	return arena_fmt(a, "%s (%.2f x capacity)", fmt_capacity(size, sizeof size, s->fill_bytes),
			 (double)s->fill_bytes / (double)d->capacity_bytes);
}

static void setup_lines(struct header *h, const struct dataset *d, const struct test *t,
			struct arena *a)
{
	const struct section *s = t->n_sections ? &t->section[0] : NULL;
	const struct measure *f = s ? s->fill : NULL;
	const char *verified = t->purge_verified == 1	? ", verified"
			       : t->purge_verified == 0 ? ", NOT VERIFIED"
							: "";

	h->setup[0] = (struct pair){ "Data pattern", "RND (non-compressible)" };
	h->setup[1] = (struct pair){ "AR / segments", range_text(a, d, t) };
	h->setup[2] = (struct pair){
		"Purge", *t->purge_method ? arena_fmt(a, "%s%s", t->purge_method, verified) : "none"
	};
	h->setup[3] = (struct pair){ "Pre-condition 1", f ? f->access : "none" };
	h->setup[4] = (struct pair){ "  Duration", f ? fill_text(a, d, s) : "-" };
	h->setup[5] = (struct pair){ "  TOIO - TC/QD",
				     f ? arena_fmt(a, "TC %d / QD %d", f->threads, f->qd) : "-" };
	h->setup[6] = (struct pair){ "Pre-condition 2", s && s->rounds > 0
								? arena_fmt(a, "%s loop", t->sheet)
								: "none" };
	h->setup[7] = (struct pair){ "  SS rounds", rounds_text(a, t) };
	h->setup[8] = (struct pair){ "Notes", d->quick		 ? "QUICK values, not the PTS's"
					      : *d->note	 ? d->note
					      : test_is_exact(t) ? "no test of the PTS"
					      : !t->formal	 ? "CHANGED definition"
								 : "none" };
}

void header_fill(struct header *h, const struct dataset *d, const struct test *t, struct arena *a)
{
	struct stimuli *all = arena_new(a, struct stimuli);
	int rounds = 0;

	stimuli_fill(all, d, t);
	*h = (struct header){ .subject = t->title };
	setup_lines(h, d, t, a);
	for (unsigned i = 0; i < t->n_sections; i++)
		if (t->section[i].rounds > rounds)
			rounds = t->section[i].rounds;
	h->test[0] = (struct pair){ "Data pattern", "RND" };
	h->test[1] = (struct pair){ "Test stimulus", stimulus_text(a, t, all) };
	h->test[2] = (struct pair){ "  R/W mix", mixes(a, all) };
	h->test[3] = (struct pair){ "  Block size", sizes(a, all) };
	h->test[4] = (struct pair){ "  TOIO - TC/QD", depth(a, all) };
	h->test[5] = (struct pair){ "Tracking variable", t->n_sections && t->section[0].n_tracks
								 ? t->section[0].track[0].title
								 : "-" };
	h->test[6] = (struct pair){ "SS criteria", t->has_rule ? "20 % / 10 %, 5 rounds" : "none" };
	h->test[7] = (struct pair){ "Rounds used", arena_fmt(a, "%d", rounds) };
	h->test[8] = (struct pair){ "Temp. (comp.)", isfinite(t->temp_min)
							     ? arena_fmt(a, "%.0f - %.0f C",
									 t->temp_min, t->temp_max)
							     : "not recorded" };
}
