/* SPDX-License-Identifier: MIT */
/* The host's part of the examination: CPU, clock, kernel, limits, and what else goes on here. */
#include "pts/doctor_exam.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/units.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define GIB (1ull << 30)

enum {
	CPUS_MAX = 4096,
	IDLE_STATES_MAX = 16,
	IDLE_LATENCY_US = 10, /* a fast drive answers in about as much */
	FILES_NEEDED = 256, /* 32 rings, the database, the reports, and what libraries open */
};
/* Buffers of the deepest cell, T32Q32 with 1 MiB blocks; and some for everything else. */
static const uint64_t buffer_bytes = GIB, spare_bytes = GIB / 2;

/* ---- CPU ---- */

static void check_governor(struct exam *x)
{
	const char *g = exam_fact(x, "cpu_governor");

	if (!strcmp(g, "performance")) {
		exam_say(x, "governor", DOCTOR_OK, "%s", g);
	} else if (!strcmp(g, "unknown")) {
		exam_say(x, "governor", DOCTOR_UNKNOWN, "no cpufreq here");
	} else {
		exam_say(x, "governor", DOCTOR_BAD, "%s", g);
		exam_advise(x, "echo performance | tee " CPU_DIR "/cpu*/cpufreq/scaling_governor");
	}
}

static void check_turbo(struct exam *x)
{
	const char *boost = exam_fact(x, "cpu_boost");
	long long no_turbo = sys_num(-1, "%s" CPU_DIR "/intel_pstate/no_turbo", x->root);

	if (boost[0] || no_turbo >= 0)
		exam_say(x, "turbo", DOCTOR_OK, "%s",
			 boost[0] == '1' || no_turbo == 0 ? "on" : "off");
	else
		exam_say(x, "turbo", DOCTOR_UNKNOWN, "not told");
}

struct idle {
	long long max_us; /* of states that are not disabled; -1: none at all */
	unsigned deep; /* bits of states that take too long to leave */
};

static void idle_of_cpu(const char *dir, struct idle *ret)
{
	for (unsigned s = 0; s < IDLE_STATES_MAX; s++) {
		long long us = sys_num(-1, "%s/state%u/latency", dir, s);

		if (us < 0)
			break;
		if (sys_num(0, "%s/state%u/disable", dir, s))
			continue;
		if (us > ret->max_us)
			ret->max_us = us;
		if (us > IDLE_LATENCY_US)
			ret->deep |= 1u << s;
	}
}

static void idle_advice(struct exam *x, unsigned deep)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "echo 1 | tee");
	for (unsigned s = 0; s < IDLE_STATES_MAX; s++) {
		if (deep & 1u << s)
			buf_fmt(&b, " " CPU_DIR "/cpu*/cpuidle/state%u/disable", s);
	}
	exam_advise(x, "%s", buf_cstr(&b));
	buf_release(&b);
}

static void check_idle(struct exam *x)
{
	const char *driver = exam_fact(x, "cpu_idle_driver");
	struct idle idle = { -1, 0 };
	char dir[PATH_MAX];

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		snprintf(dir, sizeof dir, "%s" CPU_DIR "/cpu%u", x->root, cpu);
		if (!sys_exists("%s", dir))
			break;
		snprintf(dir, sizeof dir, "%s" CPU_DIR "/cpu%u/cpuidle", x->root, cpu);
		idle_of_cpu(dir, &idle);
	}
	if (!driver[0] || idle.max_us < 0) {
		exam_say(x, "c_states", DOCTOR_UNKNOWN, "%s", driver[0] ? driver : "not told");
		return;
	}
	exam_say(x, "c_states", idle.deep ? DOCTOR_WARN : DOCTOR_OK, "%s, up to %lld us to wake up",
		 driver, idle.max_us);
	if (idle.deep)
		idle_advice(x, idle.deep);
}

static void check_smt(struct exam *x)
{
	long long active = sys_num(-1, "%s" CPU_DIR "/smt/active", x->root);

	if (active < 0) {
		exam_say(x, "smt", DOCTOR_UNKNOWN, "not told");
		return;
	}
	exam_say(x, "smt", DOCTOR_OK, active ? "on, two workers may share a core" : "off");
	if (active)
		exam_advise(x, "echo off > " CPU_DIR "/smt/control");
}

/* " fpu vme hypervisor ": whole words only. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = words; (p = strstr(p, word)); p += len) {
		if ((p == words || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	}
	return false;
}

static void check_virtual(struct exam *x)
{
	const char *product = exam_fact(x, "system_product");
	char flags[8192];

	if (!exam_field(x, "/proc/cpuinfo", "flags", flags, sizeof flags)) {
		exam_say(x, "virtual_machine", DOCTOR_UNKNOWN, "the CPU tells no flags");
	} else if (!has_word(flags, "hypervisor")) {
		exam_say(x, "virtual_machine", DOCTOR_OK, "no");
	} else {
		exam_say(x, "virtual_machine", DOCTOR_WARN, "yes%s%s", product[0] ? ": " : "",
			 product);
		exam_advise(x, "run formal tests on the machine itself");
	}
}

/* ---- clock ---- */

#define CLOCK_DIR "/sys/devices/system/clocksource/clocksource0"

static void check_clocksource(struct exam *x)
{
	const char *now = exam_fact(x, "clocksource");
	char available[256];
	bool fair = !strcmp(now, "kvm-clock") || strstr(now, "hyperv");

	if (!now[0]) {
		exam_say(x, "clocksource", DOCTOR_UNKNOWN, "not told");
		return;
	}
	if (!strcmp(now, "tsc") || !strcmp(now, "arch_sys_counter")) {
		exam_say(x, "clocksource", DOCTOR_OK, "%s", now);
		return;
	}
	exam_say(x, "clocksource", fair ? DOCTOR_WARN : DOCTOR_BAD, "%s", now);
	sys_line(available, sizeof available, "%s" CLOCK_DIR "/available_clocksource", x->root);
	if (has_word(available, "tsc"))
		exam_advise(x, "echo tsc > " CLOCK_DIR "/current_clocksource");
	else
		exam_advise(x, "find out why the kernel gave up the TSC: dmesg | grep -i tsc");
}

/* A call into the kernel takes about 100 ns and more; the vDSO a third of it. */
static void check_clock_cost(struct exam *x)
{
	const struct doctor_live *v = x->conf->live;
	char tsc[48] = "";

	if (isnan(v->gettime_ns)) {
		exam_say(x, "clock_cost", DOCTOR_UNKNOWN, "not measured");
		return;
	}
	if (!isnan(v->rdtsc_ns))
		snprintf(tsc, sizeof tsc, ", rdtsc %.0f ns", v->rdtsc_ns);
	exam_say(x, "clock_cost",
		 v->gettime_ns > 400   ? DOCTOR_BAD
		 : v->gettime_ns > 100 ? DOCTOR_WARN
				       : DOCTOR_OK,
		 "clock_gettime %.0f ns%s", v->gettime_ns, tsc);
	if (v->gettime_ns > 100)
		exam_advise(x, "use the clocksource tsc: the clock is read for every batch of IOs");
}

/* ---- kernel and limits ---- */

static void check_kernel(struct exam *x)
{
	const char *release = x->conf->live->kernel;
	unsigned a, b;

	if (sscanf(release, "%u.%u", &a, &b) != 2) {
		exam_say(x, "kernel", DOCTOR_UNKNOWN, "%s", release[0] ? release : "not told");
		return;
	}
	exam_say(x, "kernel",
		 a < 5 || (a == 5 && b < 11)  ? DOCTOR_BAD
		 : a < 6 || (a == 6 && b < 1) ? DOCTOR_WARN
					      : DOCTOR_OK,
		 "%s", release);
	if (a < 6 || (a == 6 && b < 1))
		exam_advise(x, "install Linux 6.1 or later; below 5.11 pts cannot run");
}

static void check_io_uring(struct exam *x)
{
	const struct doctor_live *v = x->conf->live;
	const char *disabled = exam_fact(x, "io_uring_disabled");
	bool full = strstr(v->ring, "DEFER_TASKRUN") && !strstr(v->ring, "not registered");

	if (v->ring[0]) {
		exam_say(x, "io_uring", full ? DOCTOR_OK : DOCTOR_WARN, "%s", v->ring);
		if (!full)
			exam_advise(x,
				    "Linux 6.1 or later and a higher 'ulimit -l' give all of it");
		return;
	}
	exam_say(x, "io_uring", DOCTOR_BAD, "%s", v->ring_error);
	if (disabled[0] && strcmp(disabled, "0"))
		exam_advise(x, "sysctl kernel.io_uring_disabled=0");
	else
		exam_advise(x, "allow io_uring_setup, io_uring_enter and io_uring_register");
}

/* Whoever has CAP_IPC_LOCK may pin what he likes. */
static bool may_lock(const struct exam *x)
{
	enum { CAP_IPC_LOCK_BIT = 14 };
	char caps[64];

	return exam_field(x, "/proc/self/status", "CapEff", caps, sizeof caps) &&
	       (strtoull(caps, NULL, 16) >> CAP_IPC_LOCK_BIT & 1);
}

static void check_memlock(struct exam *x)
{
	uint64_t limit = x->conf->live->memlock_bytes;
	bool enough = limit >= buffer_bytes || may_lock(x);
	char text[40] = "unlimited";

	if (limit != UINT64_MAX)
		snprintf(text, sizeof text, "%" PRIu64 " KiB", limit / 1024);
	exam_say(x, "memlock", enough ? DOCTOR_OK : DOCTOR_WARN, "%s%s", text,
		 limit >= buffer_bytes ? ""
		 : enough	       ? ", of no effect with CAP_IPC_LOCK"
				       : ", T32Q32 with 1 MiB blocks registers 1 GiB");
	if (!enough)
		exam_advise(x, "ulimit -l %" PRIu64 " (as root, or in limits.conf)",
			    (buffer_bytes + spare_bytes) / 1024);
}

static void check_open_files(struct exam *x)
{
	uint64_t limit = x->conf->live->open_files;

	if (limit == UINT64_MAX)
		exam_say(x, "open_files", DOCTOR_OK, "unlimited");
	else
		exam_say(x, "open_files", limit < FILES_NEEDED ? DOCTOR_BAD : DOCTOR_OK, "%" PRIu64,
			 limit);
	if (limit < FILES_NEEDED)
		exam_advise(x, "ulimit -n 1024");
}

/* ---- memory, load, other work ---- */

static bool meminfo(const struct exam *x, const char *key, uint64_t *ret_bytes)
{
	char text[64];
	uint64_t kib;

	if (!exam_field(x, "/proc/meminfo", key, text, sizeof text) ||
	    sscanf(text, "%" SCNu64, &kib) != 1)
		return false;
	*ret_bytes = kib * 1024;
	return true;
}

static void check_memory(struct exam *x)
{
	uint64_t available;

	if (!meminfo(x, "MemAvailable", &available)) {
		exam_say(x, "memory", DOCTOR_UNKNOWN, "not told");
		return;
	}
	exam_say(x, "memory", available < buffer_bytes + spare_bytes ? DOCTOR_BAD : DOCTOR_OK,
		 "%" PRIu64 " MiB available", available >> 20);
	if (available < buffer_bytes + spare_bytes)
		exam_advise(x,
			    "free %" PRIu64 " MiB: T32Q32 with 1 MiB blocks has 1 GiB of buffers",
			    (buffer_bytes + spare_bytes - available + (1 << 20) - 1) >> 20);
}

static void check_swap(struct exam *x)
{
	uint64_t total, unused;

	if (!meminfo(x, "SwapTotal", &total) || !meminfo(x, "SwapFree", &unused)) {
		exam_say(x, "swap", DOCTOR_UNKNOWN, "not told");
		return;
	}
	if (total <= unused) {
		exam_say(x, "swap", DOCTOR_OK, total ? "none in use" : "none");
		return;
	}
	exam_say(x, "swap", DOCTOR_WARN, "%" PRIu64 " KiB in use", (total - unused) / 1024);
	exam_advise(x, "swapoff -a");
}

/* Of two cores, half of one may be busy. */
static void check_load(struct exam *x)
{
	const char *text = exam_fact(x, "load_average");
	double load = strtod(text, NULL), cpus = exam_cpus(x);

	if (!text[0]) {
		exam_say(x, "load", DOCTOR_UNKNOWN, "not told");
		return;
	}
	exam_say(x, "load",
		 load > cpus	      ? DOCTOR_BAD
		 : load > cpus * 0.25 ? DOCTOR_WARN
				      : DOCTOR_OK,
		 "load average %s, %u CPUs", text, exam_cpus(x));
	if (load > cpus * 0.25)
		exam_advise(x, "stop what else runs here (top -o %%CPU), wait until it is below %g",
			    cpus * 0.25);
}

/* A masked unit is a link to /dev/null. */
static bool masked(const struct exam *x, const char *unit)
{
	static const char *const dirs[] = { "/etc/systemd/system", "/run/systemd/system" };

	for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		char path[PATH_MAX], to[16];
		ssize_t n;

		snprintf(path, sizeof path, "%s%s/%s", x->root, dirs[i], unit);
		n = readlink(path, to, sizeof to);
		if (n == 9 && !memcmp(to, "/dev/null", 9))
			return true;
	}
	return false;
}

/* What is wanted stands as a link in one of these; it points to where it may not exist below the root of a test. */
static bool wanted(const struct exam *x, const char *unit)
{
	static const char *const dirs[] = { "/etc/systemd/system/timers.target.wants",
					    "/etc/systemd/system/mdmonitor.service.wants",
					    "/lib/systemd/system/timers.target.wants",
					    "/usr/lib/systemd/system/timers.target.wants" };

	for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		char path[PATH_MAX], to[PATH_MAX];

		snprintf(path, sizeof path, "%s%s/%s", x->root, dirs[i], unit);
		if (readlink(path, to, sizeof to) > 0 || sys_exists("%s", path))
			return true;
	}
	return false;
}

static void check_timers(struct exam *x)
{
	static const char *const timers[] = {
		"apt-daily.timer",     "apt-daily-upgrade.timer", "fstrim.timer",
		"mdcheck_start.timer", "mdcheck_continue.timer",  "e2scrub_all.timer",
		"xfs_scrub_all.timer", "plocate-updatedb.timer",  "updatedb.timer",
		"smartmontools.timer", "dnf-makecache.timer",	  "raid-check.timer",
	};
	struct buf b = BUF_INIT;

	if (!sys_exists("%s/run/systemd/system", x->root)) {
		exam_say(x, "timers", DOCTOR_UNKNOWN, "systemd does not run here; look into cron");
		return;
	}
	for (unsigned i = 0; i < sizeof timers / sizeof *timers; i++) {
		if (wanted(x, timers[i]) && !masked(x, timers[i]))
			buf_fmt(&b, "%s%s", b.len ? " " : "", timers[i]);
	}
	exam_say(x, "timers", b.len ? DOCTOR_WARN : DOCTOR_OK, "%s",
		 b.len ? buf_cstr(&b) : "none that works on drives");
	if (b.len)
		exam_advise(x, "systemctl mask --runtime --now %s (until the next boot)",
			    buf_cstr(&b));
	buf_release(&b);
}

void exam_host(struct exam *x)
{
	check_governor(x);
	check_turbo(x);
	check_idle(x);
	check_smt(x);
	check_virtual(x);
	check_clocksource(x);
	check_clock_cost(x);
	check_kernel(x);
	check_io_uring(x);
	check_memlock(x);
	check_open_files(x);
	check_memory(x);
	check_swap(x);
	check_load(x);
	check_timers(x);
}
