/* SPDX-License-Identifier: MIT */
/* The target's part of the examination: who uses it, its queue, link, node and interrupts, and where the database lies. */
#include "pts/doctor_exam.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/gate_use.h"

enum {
	OIO_MAX = 1024, /* T32Q32 */
	HOT_C = 70,
	CPUS_MAX = 4096,
};

/* ---- what it is ---- */

static void check_target(struct exam *x)
{
	const struct doctor_target *t = x->conf->target;
	char size[32];

	if (!t) {
		exam_say(x, "target", DOCTOR_UNKNOWN, "none named");
		exam_advise(x, "pts doctor --dut DUT looks at queue, link and interrupts too");
		return;
	}
	if (!t->info) {
		exam_say(x, "target", DOCTOR_UNKNOWN, "%s: may not be opened", t->dut);
		exam_advise(x, "run as root");
		return;
	}
	fmt_capacity(size, sizeof size, t->info->capacity_bytes);
	if (t->info->simulated) {
		exam_say(x, "target", DOCTOR_WARN, "%s: simulated, %s", t->dut, size);
		exam_advise(x, "a formal run needs a drive; this host does not change the figures");
	} else if (!t->info->formal) {
		exam_say(x, "target", DOCTOR_WARN, "%s: a file", t->dut);
		exam_advise(x, "a formal run needs a whole drive: pts devices");
	} else {
		exam_say(x, "target", DOCTOR_OK, "%s: %s%s%s", t->dut, t->info->model,
			 t->info->model[0] ? ", " : "", size);
	}
}

static void check_use(struct exam *x, const struct use_tree *tree)
{
	struct use_report use;

	use_find(tree, &use);
	exam_say(x, "in_use", use.n ? DOCTOR_BAD : DOCTOR_OK, "%s", use.n ? use.text : "no");
	if (use.n)
		exam_advise(x, "%s", use.hint ? use.hint : "end that use, or name another drive");
}

static void check_temperature(struct exam *x)
{
	const struct health *h = x->conf->target->health;

	if (!h || (!h->have_temperature && !h->critical)) {
		exam_say(x, "temperature", DOCTOR_UNKNOWN, "not told");
	} else if (h->critical) {
		exam_say(x, "temperature", DOCTOR_BAD, "critical warning: %s", h->text);
		exam_advise(x, "do not test this drive before the cause is known");
	} else {
		exam_say(x, "temperature", h->temperature_c >= HOT_C ? DOCTOR_WARN : DOCTOR_OK,
			 "%.0f C", h->temperature_c);
		if (h->temperature_c >= HOT_C)
			exam_advise(x, "cool it: a drive that hot slows itself down");
	}
}

static void check_punting(struct exam *x)
{
	switch (x->conf->target->nowait) {
	case NOWAIT_NOT_TRIED:
		exam_say(x, "punting", DOCTOR_UNKNOWN, "not tried");
		break;
	case NOWAIT_CAN:
		exam_say(x, "punting", DOCTOR_OK, "no, IO starts without a worker");
		break;
	case NOWAIT_CANNOT:
		exam_say(x, "punting", DOCTOR_BAD, "all IO goes through kernel workers");
		exam_advise(x, "its driver cannot start IO without blocking, so the workers are "
			       "measured: take another target");
		break;
	}
}

/* ---- queue ---- */

struct setting {
	const char *check, *fact, *file, *want;
	enum doctor_verdict other;
};

static const struct setting settings[] = {
	{ "scheduler", "dev_scheduler", "scheduler", "none", DOCTOR_BAD },
	{ "iostats", "dev_iostats", "iostats", "0", DOCTOR_WARN },
	{ "nomerges", "dev_nomerges", "nomerges", "2", DOCTOR_WARN },
	{ "wbt_lat_usec", "dev_wbt_lat_usec", "wbt_lat_usec", "0", DOCTOR_WARN },
};

static void check_settings(struct exam *x, const char *disk)
{
	for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
		const struct setting *s = &settings[i];
		const char *v = exam_fact(x, s->fact);

		if (!v[0]) {
			exam_say(x, s->check, DOCTOR_UNKNOWN, "not told");
			continue;
		}
		exam_say(x, s->check, strcmp(v, s->want) ? s->other : DOCTOR_OK, "%s", v);
		if (strcmp(v, s->want))
			exam_advise(x, "echo %s > /sys/block/%s/queue/%s", s->want, disk, s->file);
	}
}

static unsigned hardware_queues(const char *dir)
{
	unsigned n = 0;

	while (n < CPUS_MAX && sys_exists("%s/mq/%u", dir, n))
		n++;
	return n ? n : 1;
}

static void check_requests(struct exam *x, const char *dir, const char *disk)
{
	unsigned long each = strtoul(exam_fact(x, "dev_nr_requests"), NULL, 10);
	unsigned queues = hardware_queues(dir);

	if (!each) {
		exam_say(x, "nr_requests", DOCTOR_UNKNOWN, "not told");
		return;
	}
	exam_say(x, "nr_requests", each * queues < OIO_MAX ? DOCTOR_WARN : DOCTOR_OK,
		 "%lu in each of %u hardware queues", each, queues);
	if (each * queues < OIO_MAX)
		exam_advise(x,
			    "echo %u > /sys/block/%s/queue/nr_requests, if its driver allows it: "
			    "T32Q32 is 1024 outstanding",
			    (OIO_MAX + queues - 1) / queues, disk);
}

/* Only --polled needs it. */
static void check_poll(struct exam *x, const char *disk)
{
	const char *poll = exam_fact(x, "dev_io_poll"), *queues = exam_fact(x, "nvme_poll_queues");

	if (!poll[0]) {
		exam_say(x, "io_poll", DOCTOR_UNKNOWN, "not told");
		return;
	}
	if (poll[0] == '1') {
		exam_say(x, "io_poll", DOCTOR_OK, "polled IO can be had");
		return;
	}
	exam_say(x, "io_poll", DOCTOR_OK, "no polled IO%s%s", queues[0] ? ", poll queues: " : "",
		 queues);
	if (!strncmp(disk, "nvme", 4))
		exam_advise(x, "for --polled only: boot with nvme.poll_queues=%u", exam_cpus(x));
}

static void check_kind(struct exam *x, const char *disk)
{
	const char *rotational = exam_fact(x, "dev_rotational");
	const char *cache = exam_fact(x, "dev_write_cache");
	const char *direct = exam_fact(x, "dev_loop_direct_io");

	exam_say(x, "rotational", rotational[0] ? DOCTOR_OK : DOCTOR_UNKNOWN, "%s",
		 rotational[0] == '1' ? "yes, says the kernel"
		 : rotational[0]      ? "no"
				      : "not told");
	if (rotational[0] == '1')
		exam_advise(x, "if it is an SSD: echo 0 > /sys/block/%s/queue/rotational", disk);
	exam_say(x, "write_cache", cache[0] ? DOCTOR_OK : DOCTOR_UNKNOWN, "%s",
		 cache[0] ? cache : "not told");
	if (!direct[0])
		return;
	exam_say(x, "loop_direct_io", direct[0] == '1' ? DOCTOR_OK : DOCTOR_BAD, "%s",
		 direct[0] == '1' ? "on" : "off, the page cache is measured");
	if (direct[0] != '1')
		exam_advise(x, "losetup --direct-io=on /dev/%s", disk);
}

/* ---- link, node, interrupts ---- */

static void check_link(struct exam *x)
{
	const char *speed = exam_fact(x, "dev_link_speed"),
		   *speed_max = exam_fact(x, "dev_link_speed_max"),
		   *width = exam_fact(x, "dev_link_width"),
		   *width_max = exam_fact(x, "dev_link_width_max");
	double s = strtod(speed, NULL), s_max = strtod(speed_max, NULL);
	long w = strtol(width, NULL, 10), w_max = strtol(width_max, NULL, 10);

	/* 255 lanes: the kernel's word for "unknown" */
	if (!(s > 0) || !(s_max > 0) || w <= 0 || w_max <= 0 || w_max == 255) {
		exam_say(x, "pcie_link", DOCTOR_UNKNOWN, "not told");
		return;
	}
	if (s >= s_max && w >= w_max) {
		exam_say(x, "pcie_link", DOCTOR_OK, "%s x%ld", speed, w);
		return;
	}
	exam_say(x, "pcie_link", DOCTOR_BAD, "%s x%ld, the drive can do %s x%ld", speed, w,
		 speed_max, w_max);
	exam_advise(x, "move it to a slot that gives all of it: lspci -vv -s %s | grep Lnk",
		    exam_fact(x, "dev_pci_address"));
}

static void check_node(struct exam *x)
{
	const char *node = exam_fact(x, "dev_numa_node"), *at;
	unsigned long nodes = strtoul(exam_fact(x, "numa_nodes"), NULL, 10);
	char near[1024], allowed[1024];
	unsigned lo, hi, far = 0;

	if (nodes <= 1) {
		exam_say(x, "numa", DOCTOR_OK, "one node");
		return;
	}
	if (!node[0] || node[0] == '-' ||
	    !sys_line(near, sizeof near, "%s/sys/devices/system/node/node%s/cpulist", x->root,
		      node) ||
	    !exam_field(x, "/proc/self/status", "Cpus_allowed_list", allowed, sizeof allowed)) {
		exam_say(x, "numa", DOCTOR_UNKNOWN, "%lu nodes, the drive's is not told", nodes);
		return;
	}
	at = allowed;
	while (cpulist_next(&at, &lo, &hi)) {
		for (unsigned cpu = lo; cpu <= hi && cpu < CPUS_MAX; cpu++)
			far += !cpulist_has(near, cpu);
	}
	exam_say(x, "numa", far ? DOCTOR_WARN : DOCTOR_OK,
		 "the drive is at node %s, pts may run on CPUs %s", node, allowed);
	if (far)
		exam_advise(x, "numactl --cpunodebind=%s --membind=%s pts run ...", node, node);
}

struct irqs {
	unsigned lines;
	unsigned cpus; /* that serve at least one of them */
	bool on[CPUS_MAX];
	struct buf numbers;
};

/* "nvme0", "virtio1": the folder on the way to the disk whose name its interrupts carry; "" none. */
static void controller(const char *dir, char *ret, size_t n)
{
	ret[0] = '\0';
	for (const char *c = dir; *c == '/';) {
		size_t len = strcspn(c + 1, "/"), base;
		const char *s = c + 1;

		base = !strncmp(s, "nvme", 4) ? 4 : !strncmp(s, "virtio", 6) ? 6 : 0;
		if (base && len > base && strspn(s + base, "0123456789") == len - base)
			snprintf(ret, n, "%.*s", (int)len, s);
		c += 1 + len;
	}
}

/* Does the tail of a line of /proc/interrupts speak of a queue of the drive? */
static bool irq_is_of(const char *tail, const char *ctrl, const char *pci)
{
	const char *name = strrchr(tail, ' ');
	size_t len = strlen(ctrl);

	name = name ? name + 1 : tail;
	if (!strncmp(ctrl, "nvme", 4))
		return !strncmp(name, ctrl, len) && name[len] == 'q' && strcmp(name + len, "q0");
	if (ctrl[0])
		return !strncmp(name, ctrl, len) && name[len] == '-' && !strstr(name, "-config");
	return pci[0] && strstr(tail, pci);
}

static void irq_cpus(const struct exam *x, unsigned irq, struct irqs *ret)
{
	char list[1024];
	const char *at = list;
	unsigned lo, hi;

	if (!sys_line(list, sizeof list, "%s/proc/irq/%u/effective_affinity_list", x->root, irq) ||
	    !list[0])
		sys_line(list, sizeof list, "%s/proc/irq/%u/smp_affinity_list", x->root, irq);
	while (cpulist_next(&at, &lo, &hi)) {
		for (unsigned cpu = lo; cpu <= hi && cpu < CPUS_MAX; cpu++) {
			ret->cpus += !ret->on[cpu];
			ret->on[cpu] = true;
		}
	}
}

static void find_irqs(const struct exam *x, const char *ctrl, struct irqs *ret)
{
	const char *pci = exam_fact(x, "dev_pci_address");
	struct sys_lines l;
	char *line, *end;

	sys_lines_open(&l, x->root, "/proc/interrupts");
	while ((line = sys_lines_next(&l)) != NULL) {
		unsigned long irq = strtoul(line, &end, 10);

		for (size_t n = strlen(line); n && line[n - 1] == ' ';)
			line[--n] = '\0';
		if (end == line || *end != ':' || !irq_is_of(end + 1, ctrl, pci))
			continue;
		buf_fmt(&ret->numbers, " %lu", irq);
		ret->lines++;
		irq_cpus(x, (unsigned)irq, ret);
	}
	sys_lines_close(&l);
}

static void check_irqs(struct exam *x, const char *dir)
{
	struct irqs q = { .numbers = BUF_INIT };
	unsigned cpus = exam_cpus(x);
	char ctrl[64];
	bool crowded, single;

	controller(dir, ctrl, sizeof ctrl);
	find_irqs(x, ctrl, &q);
	crowded = q.lines > 1 && q.cpus == 1 && cpus > 1;
	single = q.lines == 1 && cpus > 1 && !strncmp(ctrl, "nvme", 4);
	if (!q.lines)
		exam_say(x, "irq_spread", DOCTOR_UNKNOWN, "no interrupt of its own");
	else
		exam_say(x, "irq_spread", crowded || single ? DOCTOR_WARN : DOCTOR_OK,
			 "%u queue interrupt%s on %u of %u CPUs", q.lines, q.lines > 1 ? "s" : "",
			 q.cpus, cpus);
	if (crowded)
		exam_advise(x,
			    "i=0; for q in%s; do echo $((i++ %% %u)) > "
			    "/proc/irq/$q/smp_affinity_list; done",
			    buf_cstr(&q.numbers), cpus);
	if (single)
		exam_advise(x, "one queue serves all CPUs: see dmesg | grep %s", ctrl);
	buf_release(&q.numbers);
}

/* ---- the database ---- */

/* @path is @dir or below it. */
static bool below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

/* The device that carries a folder: of the longest mount point above it, the last one mounted there. */
static bool device_under(const struct exam *x, const char *folder, struct sys_dev *ret)
{
	struct sys_dev other;
	struct sys_lines l;
	struct sys_mount m;
	size_t best = 0;
	char *line;

	sys_lines_open(&l, x->root, "/proc/self/mountinfo");
	while ((line = sys_lines_next(&l)) != NULL) {
		if (!sys_mount_parse(line, &m) || !below(folder, m.point) || strlen(m.point) < best)
			continue;
		best = strlen(m.point);
		*ret = m.dev;
		/* btrfs and its like have numbers of their own, 0:N */
		if (!m.dev.major && !sys_resolve(x->root, m.source, &other))
			*ret = other;
	}
	sys_lines_close(&l);
	return best > 0;
}

/* The folder of a file that need not be there yet. */
static bool folder_of(const char *file, char *ret)
{
	char dir[PATH_MAX], *slash;

	if (realpath(file, ret)) {
		slash = strrchr(ret, '/');
		slash[slash == ret] = '\0';
		return true;
	}
	snprintf(dir, sizeof dir, "%s", file);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	return realpath(slash ? dir : ".", ret);
}

static void check_database(struct exam *x, const struct use_tree *tree)
{
	char folder[PATH_MAX];
	struct sys_dev dev;
	bool on = false;

	if (!folder_of(x->conf->db, folder) || !device_under(x, folder, &dev)) {
		exam_say(x, "database", DOCTOR_UNKNOWN, "%s: no such folder", x->conf->db);
		return;
	}
	for (unsigned i = 0; i < tree->n; i++)
		on |= sys_same(tree->node[i].dev, dev);
	exam_say(x, "database", on ? DOCTOR_BAD : DOCTOR_OK, "%s: %son the drive under test",
		 x->conf->db, on ? "" : "not ");
	if (on)
		exam_advise(x, "name one on another drive: --db FILE, or PTS_DB");
}

static void check_zoned(struct exam *x)
{
	const char *zoned = exam_fact(x, "dev_zoned");
	bool managed = !strcmp(zoned, "host-managed"), aware = !strcmp(zoned, "host-aware");

	exam_say(x, "zoned",
		 managed    ? DOCTOR_BAD
		 : aware    ? DOCTOR_WARN
		 : zoned[0] ? DOCTOR_OK
			    : DOCTOR_UNKNOWN,
		 "%s", zoned[0] ? zoned : "not told");
	if (managed)
		exam_advise(x, "it takes no random writes: no test of the PTS runs on it");
	if (aware)
		exam_advise(x, "its random writes go through a cache of its own: say so beside the "
			       "results");
}

static void exam_drive(struct exam *x, const char *dir)
{
	const char *name = strrchr(dir, '/') + 1;
	struct use_tree tree;
	char path[SYS_NAME];

	check_settings(x, name);
	check_requests(x, dir, name);
	check_poll(x, name);
	check_kind(x, name);
	check_zoned(x);
	check_link(x);
	check_node(x);
	check_irqs(x, dir);
	sys_dev_path(dir, path, sizeof path);
	if (use_tree_build(x->root, path, &tree))
		return;
	if (!x->conf->target->info || x->conf->target->info->kind == DUT_BLOCK)
		check_use(x, &tree);
	check_database(x, &tree);
	use_tree_release(&tree);
}

void exam_target(struct exam *x)
{
	const struct doctor_target *t = x->conf->target;
	char dir[SYS_PATH];

	check_target(x);
	if (!t || (t->info && t->info->simulated))
		return;
	if (host_disk(x->root, t->path, dir, sizeof dir))
		exam_drive(x, dir);
	check_punting(x);
	check_temperature(x);
}
