/* SPDX-License-Identifier: MIT */
#include "pts/host.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pts/gate_sys.h"

enum { FACTS_MAX = 96 };

struct facts {
	struct arena *arena;
	const char *root;
	struct key_value *kv;
	unsigned n;
};

/* A fact that is not there is left out. */
static void put(struct facts *f, const char *key, const char *value)
{
	BUG_ON(f->n + 1 >= FACTS_MAX);
	if (!value[0])
		return;
	f->kv[f->n].key = key;
	f->kv[f->n++].value = arena_strdup(f->arena, value);
}

static void put_fmt(struct facts *f, const char *key, const char *fmt, ...) printf_like(3, 4);
static void put_fmt(struct facts *f, const char *key, const char *fmt, ...)
{
	char value[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	put(f, key, value);
}

/* The first line of a file as a fact; its bytes made printable. */
static void put_file(struct facts *f, const char *key, const char *dir, const char *file)
{
	char value[256];

	sys_line(value, sizeof value, "%s%s", dir, file);
	for (char *c = value; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
	put(f, key, value);
}

static int by_key(const void *a, const void *b)
{
	const struct key_value *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* ---- kernel and system ---- */

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void os_facts(struct facts *f)
{
	static const char key[] = "PRETTY_NAME=";
	struct sys_lines l;
	char *line;

	sys_lines_open(&l, f->root, "/etc/os-release");
	while ((line = sys_lines_next(&l)) != NULL) {
		size_t n;

		if (strncmp(line, key, sizeof key - 1))
			continue;
		line += sizeof key - 1;
		n = strlen(line);
		if (n > 1 && (line[0] == '"' || line[0] == '\'') && line[n - 1] == line[0]) {
			line[n - 1] = '\0';
			line++;
		}
		put(f, "os", line);
		break;
	}
	sys_lines_close(&l);
}

static void kernel_facts(struct facts *f)
{
	struct utsname u;
	struct rlimit r;
	char load[128];
	int end = 0;

	if (!uname(&u)) {
		put(f, "hostname", u.nodename);
		put(f, "kernel", u.release);
		put(f, "kernel_version", u.version);
		put(f, "architecture", u.machine);
	}
	if (!getrlimit(RLIMIT_MEMLOCK, &r) && r.rlim_cur == RLIM_INFINITY)
		put(f, "memlock_limit_bytes", "unlimited");
	else if (!getrlimit(RLIMIT_MEMLOCK, &r))
		put_fmt(f, "memlock_limit_bytes", "%" PRIu64, (uint64_t)r.rlim_cur);
	put_file(f, "io_uring_disabled", f->root, "/proc/sys/kernel/io_uring_disabled");
	if (sys_line(load, sizeof load, "%s/proc/loadavg", f->root) &&
	    sscanf(load, "%*s %*s %*s%n", &end) == 0 && end > 0)
		put_fmt(f, "load_average", "%.*s", end, load);
	put_file(f, "nvme_poll_queues", f->root, "/sys/module/nvme/parameters/poll_queues");
	put_file(f, "clocksource", f->root,
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

static void board_facts(struct facts *f)
{
	static const struct key_value list[] = {
		{ "system_vendor", "sys_vendor" },  { "system_product", "product_name" },
		{ "board_vendor", "board_vendor" }, { "board_name", "board_name" },
		{ "bios_version", "bios_version" }, { "bios_date", "bios_date" },
	};
	char dir[PATH_MAX];

	snprintf(dir, sizeof dir, "%s/sys/class/dmi/id/", f->root);
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
		put_file(f, list[i].key, dir, list[i].value);
}

/* ---- CPU and memory ---- */

static void cpu_model(struct facts *f)
{
	struct sys_lines l;
	char *line, *value;

	sys_lines_open(&l, f->root, "/proc/cpuinfo");
	while ((line = sys_lines_next(&l)) != NULL) {
		value = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !value)
			continue;
		put(f, "cpu_model", value + 1 + strspn(value + 1, " \t"));
		break;
	}
	sys_lines_close(&l);
}

struct cpus {
	unsigned threads, cores, sockets;
	char governor[256]; /* distinct ones, joined by ", " */
};

static void add_governor(struct cpus *c, const char *g)
{
	size_t len = strlen(c->governor);

	if (!g[0] || strstr(c->governor, g))
		return;
	snprintf(c->governor + len, sizeof c->governor - len, "%s%s", len ? ", " : "", g);
}

/* A CPU that leads the list of its siblings stands for a core; of its package, for a socket. */
static void count_cpu(struct facts *f, struct cpus *c, const char *name)
{
	char dir[PATH_MAX], line[256];
	long id = strtol(name + 3, NULL, 10);

	snprintf(dir, sizeof dir, "%s/sys/devices/system/cpu/%s", f->root, name);
	if (!sys_exists("%s/topology", dir)) /* offline */
		return;
	c->threads++;
	if (sys_line(line, sizeof line, "%s/topology/thread_siblings_list", dir))
		c->cores += strtol(line, NULL, 10) == id;
	if (sys_line(line, sizeof line, "%s/topology/core_siblings_list", dir))
		c->sockets += strtol(line, NULL, 10) == id;
	sys_line(line, sizeof line, "%s/cpufreq/scaling_governor", dir);
	add_governor(c, line);
}

static unsigned count_entries(const char *root, const char *path, const char *prefix,
			      void (*each)(void *arg, const char *name), void *arg)
{
	char dir[PATH_MAX];
	struct dirent *e;
	unsigned n = 0;
	size_t len = strlen(prefix);
	DIR *d;

	snprintf(dir, sizeof dir, "%s%s", root, path);
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, prefix, len) || e->d_name[len] < '0' || e->d_name[len] > '9')
			continue;
		n++;
		if (each)
			each(arg, e->d_name);
	}
	if (d)
		closedir(d);
	return n;
}

struct cpu_arg {
	struct facts *f;
	struct cpus c;
};

static void each_cpu(void *arg, const char *name)
{
	struct cpu_arg *a = arg;

	count_cpu(a->f, &a->c, name);
}

static void cpu_facts(struct facts *f)
{
	struct cpu_arg a = { .f = f };
	unsigned nodes;

	cpu_model(f);
	count_entries(f->root, "/sys/devices/system/cpu", "cpu", each_cpu, &a);
	nodes = count_entries(f->root, "/sys/devices/system/node", "node", NULL, NULL);
	if (a.c.threads)
		put_fmt(f, "cpu_threads", "%u", a.c.threads);
	if (a.c.cores)
		put_fmt(f, "cpu_cores", "%u", a.c.cores);
	if (a.c.sockets)
		put_fmt(f, "cpu_sockets", "%u", a.c.sockets);
	if (nodes)
		put_fmt(f, "numa_nodes", "%u", nodes);
	put(f, "cpu_governor", a.c.governor[0] ? a.c.governor : "unknown");
	put_file(f, "cpu_smt", f->root, "/sys/devices/system/cpu/smt/control");
	put_file(f, "cpu_boost", f->root, "/sys/devices/system/cpu/cpufreq/boost");
	put_file(f, "cpu_idle_driver", f->root, "/sys/devices/system/cpu/cpuidle/current_driver");
	put_file(f, "cpu_idle_governor", f->root,
		 "/sys/devices/system/cpu/cpuidle/current_governor");
}

static void memory_facts(struct facts *f)
{
	struct sys_lines l;
	uint64_t kib;
	char *line;

	sys_lines_open(&l, f->root, "/proc/meminfo");
	while ((line = sys_lines_next(&l)) != NULL) {
		if (sscanf(line, "MemTotal: %" SCNu64 " kB", &kib) != 1)
			continue;
		put_fmt(f, "memory_bytes", "%" PRIu64, kib * 1024);
		break;
	}
	sys_lines_close(&l);
}

/* ---- the target ---- */

/* "mq-deadline kyber [none]" */
static void scheduler(struct facts *f, const char *disk)
{
	char line[256], *open, *close;

	sys_line(line, sizeof line, "%s/queue/scheduler", disk);
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		*close = '\0';
	put(f, "dev_scheduler", close ? open + 1 : line);
}

static void queue_facts(struct facts *f, const char *disk)
{
	static const struct key_value list[] = {
		{ "dev_nr_requests", "/queue/nr_requests" },
		{ "dev_nomerges", "/queue/nomerges" },
		{ "dev_rq_affinity", "/queue/rq_affinity" },
		{ "dev_iostats", "/queue/iostats" },
		{ "dev_wbt_lat_usec", "/queue/wbt_lat_usec" },
		{ "dev_write_cache", "/queue/write_cache" },
		{ "dev_io_poll", "/queue/io_poll" },
		{ "dev_rotational", "/queue/rotational" },
		{ "dev_max_sectors_kb", "/queue/max_sectors_kb" },
		{ "dev_zoned", "/queue/zoned" },
		{ "dev_loop_direct_io", "/loop/dio" },
	};

	for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
		put_file(f, list[i].key, disk, list[i].value);
	scheduler(f, disk);
}

/* "0000:5e:00.0" */
static bool is_pci(const char *s, size_t n)
{
	unsigned dom, bus, dev, fn;
	int end = -1;
	char name[32];

	if (n >= sizeof name)
		return false;
	snprintf(name, sizeof name, "%.*s", (int)n, s);
	return sscanf(name, "%x:%x:%x.%x%n", &dom, &bus, &dev, &fn, &end) == 4 && end == (int)n;
}

/* The last PCI function on the way to the disk: the drive itself when it is NVMe, else its host adapter. */
static void pci_facts(struct facts *f, const char *disk)
{
	const char *from = NULL, *end = NULL;
	char dir[SYS_PATH];

	for (const char *c = disk; *c == '/';) {
		size_t n = strcspn(c + 1, "/");

		if (is_pci(c + 1, n)) {
			from = c + 1;
			end = c + 1 + n;
		}
		c += 1 + n;
	}
	if (!from)
		return;
	put_fmt(f, "dev_pci_address", "%.*s", (int)(end - from), from);
	snprintf(dir, sizeof dir, "%.*s", (int)(end - disk), disk);
	put_file(f, "dev_numa_node", dir, "/numa_node");
	put_file(f, "dev_link_speed", dir, "/current_link_speed");
	put_file(f, "dev_link_speed_max", dir, "/max_link_speed");
	put_file(f, "dev_link_width", dir, "/current_link_width");
	put_file(f, "dev_link_width_max", dir, "/max_link_width");
}

static void filesystem(struct facts *f, struct sys_dev dev)
{
	struct sys_lines l;
	struct sys_mount m;
	char *line;

	sys_lines_open(&l, f->root, "/proc/self/mountinfo");
	while ((line = sys_lines_next(&l)) != NULL) {
		if (!sys_mount_parse(line, &m) || !sys_same(m.dev, dev))
			continue;
		put(f, "dev_filesystem", m.type);
		break;
	}
	sys_lines_close(&l);
}

/* A file, or one not made yet in a folder: the device under its file system. */
static bool device_below(const char *path, struct sys_dev *ret)
{
	char dir[PATH_MAX], *slash;
	struct stat st;

	if (stat(path, &st)) {
		snprintf(dir, sizeof dir, "%s", path);
		slash = strrchr(dir, '/');
		if (slash)
			slash[1] = '\0';
		if (stat(slash ? dir : ".", &st))
			return false;
	}
	ret->major = major(st.st_dev);
	ret->minor = minor(st.st_dev);
	return true;
}

bool host_disk(const char *sysroot, const char *path, char *ret, size_t n)
{
	char dir[SYS_PATH];
	struct sys_dev dev;

	if (!path[0] || (sys_resolve(sysroot, path, &dev) && !device_below(path, &dev)))
		return false;
	if (!sys_dir(sysroot, dev, dir, sizeof dir))
		return false;
	if (!sys_parent(dir, ret, n))
		snprintf(ret, n, "%s", dir);
	return true;
}

static void device_facts(struct facts *f, const char *path)
{
	char disk[SYS_PATH];
	struct sys_dev dev;

	if (path[0] && sys_resolve(f->root, path, &dev) && device_below(path, &dev))
		filesystem(f, dev);
	if (!host_disk(f->root, path, disk, sizeof disk))
		return;
	queue_facts(f, disk);
	pci_facts(f, disk);
}

const struct key_value *host_facts_at(struct arena *a, const char *sysroot, const char *dev_path)
{
	struct facts f = { a, sysroot, arena_array(a, struct key_value, FACTS_MAX), 0 };

	kernel_facts(&f);
	os_facts(&f);
	board_facts(&f);
	cpu_facts(&f);
	memory_facts(&f);
	device_facts(&f, dev_path);
	qsort(f.kv, f.n, sizeof *f.kv, by_key);
	return f.kv;
}

const struct key_value *host_facts(struct arena *a, const char *dev_path)
{
	return host_facts_at(a, "", dev_path);
}
