/* SPDX-License-Identifier: MIT */
/* The doctor on a machine made of files: a fit one, and one thing at a time that is wrong with it. */
#include "tests/test.h"

#include "pts/doctor.h"
#include "tests/unit/pts_tree.h"

#define CPU "sys/devices/system/cpu/"
#define PCI "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
#define NVME PCI "/nvme/nvme0/nvme0n1"
#define QUEUE NVME "/queue/"
#define CLOCK "sys/devices/system/clocksource/clocksource0/"
#define WANTS "etc/systemd/system/timers.target.wants/"

static char db[96];
static struct arena arena;
static struct doctor doc;
static struct doctor_live live;
static struct dut_info info;
static struct health health;
static struct doctor_target target;

static void cpu(unsigned id)
{
	static const char *const file[] = {
		"topology/thread_siblings_list", "topology/core_siblings_list",
		"cpufreq/scaling_governor",	 "cpuidle/state0/latency",
		"cpuidle/state1/latency",	 "cpuidle/state2/latency",
		"cpuidle/state2/disable"
	};
	static const char *const text[] = { NULL,    "0-1\n", "performance\n", "0\n", "2\n",
					    "133\n", "1\n" };
	char name[120], own[8];

	snprintf(own, sizeof own, "%u\n", id);
	for (unsigned i = 0; i < sizeof file / sizeof *file; i++) {
		snprintf(name, sizeof name, CPU "cpu%u/%s", id, file[i]);
		put(name, text[i] ? text[i] : own);
	}
}

static void host(void)
{
	cpu(0);
	cpu(1);
	put(CPU "cpuidle/current_driver", "intel_idle\n");
	put(CPU "intel_pstate/no_turbo", "0\n");
	put(CPU "smt/active", "0\n");
	put("sys/devices/system/node/node0/cpulist", "0-1\n");
	put(CLOCK "current_clocksource", "tsc\n");
	put(CLOCK "available_clocksource", "tsc hpet acpi_pm\n");
	put("sys/module/nvme/parameters/poll_queues", "0\n");
	put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc vmx\n");
	put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n"
			    "SwapTotal:  1048576 kB\nSwapFree:   1048576 kB\n");
	put("proc/loadavg", "0.10 0.50 0.75 1/80 999\n");
	put("proc/swaps", "Filename Type Size Used Priority\n");
	put("proc/sys/kernel/io_uring_disabled", "0\n");
	put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-1\n");
	put("proc/self/mountinfo", "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	put("run/systemd/system/x", "");
	link_as(WANTS "logrotate.timer", "/lib/systemd/system/logrotate.timer");
}

static void drive(void)
{
	put(NVME "/dev", "259:0\n");
	put(NVME "/nvme0n1p1/dev", "259:1\n");
	put(NVME "/nvme0n1p1/partition", "1\n");
	put(NVME "/mq/0/cpu_list", "0\n");
	put(NVME "/mq/1/cpu_list", "1\n");
	put(QUEUE "scheduler", "[none] mq-deadline\n");
	put(QUEUE "iostats", "0\n");
	put(QUEUE "nomerges", "2\n");
	put(QUEUE "wbt_lat_usec", "0\n");
	put(QUEUE "nr_requests", "1023\n");
	put(QUEUE "io_poll", "0\n");
	put(QUEUE "rotational", "0\n");
	put(QUEUE "zoned", "none\n");
	put(QUEUE "write_cache", "write back\n");
	put(PCI "/numa_node", "0\n");
	put(PCI "/current_link_speed", "16.0 GT/s PCIe\n");
	put(PCI "/max_link_speed", "16.0 GT/s PCIe\n");
	put(PCI "/current_link_width", "4\n");
	put(PCI "/max_link_width", "4\n");
	link_to("sys/dev/block/259:0", NVME);
	link_to("sys/dev/block/259:1", NVME "/nvme0n1p1");
	link_to("sys/class/block/nvme0n1", NVME);
	link_to("sys/class/block/nvme0n1p1", NVME "/nvme0n1p1");
	put("proc/interrupts",
	    "           CPU0       CPU1\n"
	    " 30:          9          0  PCI-MSIX-0000:3b:00.0   0-edge      nvme0q0\n"
	    " 31:          5          0  PCI-MSIX-0000:3b:00.0   1-edge      nvme0q1  \n"
	    " 32:          0          7  PCI-MSIX-0000:3b:00.0   2-edge      nvme0q2\n"
	    " 40:          1          0  PCI-MSIX-0000:3c:00.0   1-edge      nvme01q1\n"
	    "NMI:          0          0  Non-maskable interrupts\n");
	put("proc/irq/30/effective_affinity_list", "0\n");
	put("proc/irq/31/effective_affinity_list", "0\n");
	put("proc/irq/32/effective_affinity_list", "1\n");
	put("proc/irq/40/effective_affinity_list", "0\n");
}

static void start(void)
{
	tree_begin();
	snprintf(db, sizeof db, "%s/pts.db", root);
	host();
	drive();
	live = (struct doctor_live){ .kernel = "6.1.0-18-amd64",
				     .gettime_ns = 20,
				     .rdtsc_ns = 8,
				     .memlock_bytes = UINT64_MAX,
				     .open_files = 1024,
				     .ring = "io_uring, registered buffers, DEFER_TASKRUN" };
	info = (struct dut_info){ .kind = DUT_BLOCK,
				  .model = "Fast 1",
				  .capacity_bytes = 1920000000000,
				  .lba_bytes = 512,
				  .formal = true };
	health = (struct health){ .have_temperature = true, .temperature_c = 35 };
	target = (struct doctor_target){ "/dev/nvme0n1", &info, "/dev/nvme0n1", &health,
					 NOWAIT_CAN };
}

static void done(void)
{
	tree_end();
	arena_release(&arena);
}

static void examine(void)
{
	struct doctor_conf conf = { root, db, &live, &target };

	doctor_examine(&arena, &conf, &doc);
}

static const struct doctor_check *row(const char *check)
{
	static const struct doctor_check none = { "", DOCTOR_OK, "(no row)", NULL };
	const struct doctor_check *found = NULL;

	for (unsigned i = 0; i < doc.n; i++) {
		if (strcmp(doc.check[i].check, check))
			continue;
		if (found)
			return &none; /* a check has one row */
		found = &doc.check[i];
	}
	return found ? found : &none;
}

static const char *verdict(const char *check)
{
	return doctor_verdict_name(row(check)->verdict);
}

/* All rows but @but are ok. */
static void all_ok_but(const char *but)
{
	for (unsigned i = 0; i < doc.n; i++) {
		const struct doctor_check *c = &doc.check[i];

		CHECK_MSG(!strcmp(c->check, but) || c->verdict == DOCTOR_OK, "%s is %s: %s",
			  c->check, doctor_verdict_name(c->verdict), c->found);
	}
}

TEST(a_fit_machine)
{
	start();
	examine();
	DO(all_ok_but(""));
	CHECK(doc.fit);
	CHECK_INT(doc.n, 32);
	CHECK_STR(row("governor")->found, "performance");
	CHECK_STR(row("c_states")->found, "intel_idle, up to 2 us to wake up");
	CHECK_STR(row("target")->found, "/dev/nvme0n1: Fast 1, 1.92 TB");
	CHECK_STR(row("irq_spread")->found, "2 queue interrupts on 2 of 2 CPUs");
	CHECK_STR(row("pcie_link")->found, "16.0 GT/s PCIe x4");
	CHECK(strstr(row("io_poll")->advice, "nvme.poll_queues=2"));
	done();
}

struct change {
	const char *file, *text; /* text NULL: not there */
	const char *check, *verdict, *found, *advice; /* parts of them; NULL: any, none */
};

static const struct change changes[] = {
	{ CPU "cpu1/cpufreq/scaling_governor", "powersave\n", "governor", "bad", "powersave",
	  "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor" },
	{ CPU "cpu1/cpuidle/state2/disable", "0\n", "c_states", "warn", "133 us",
	  "echo 1 | tee /sys/devices/system/cpu/cpu*/cpuidle/state2/disable" },
	{ CPU "cpuidle/current_driver", NULL, "c_states", "unknown", "not told", NULL },
	{ CPU "intel_pstate/no_turbo", "1\n", "turbo", "ok", "off", NULL },
	{ CPU "intel_pstate/no_turbo", NULL, "turbo", "unknown", NULL, NULL },
	{ CPU "smt/active", "1\n", "smt", "ok", "on", "echo off > /sys/devices/system/cpu/smt" },
	{ "proc/cpuinfo", "flags\t\t: fpu hypervisor lahf\n", "virtual_machine", "warn", "yes",
	  "the machine itself" },
	{ "proc/cpuinfo", "flags\t\t: fpu nohypervisor hypervisors\n", "virtual_machine", "ok",
	  "no", NULL },
	{ "proc/cpuinfo", "processor : 0\n", "virtual_machine", "unknown", NULL, NULL },
	{ CLOCK "current_clocksource", "hpet\n", "clocksource", "bad", "hpet", "echo tsc > " },
	{ CLOCK "current_clocksource", "kvm-clock\n", "clocksource", "warn", NULL, "echo tsc > " },
	{ "proc/meminfo", "MemAvailable: 524288 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", "memory",
	  "bad", "512 MiB", "free 1024 MiB" },
	{ "proc/meminfo", "MemAvailable: 9999999 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n",
	  "swap", "warn", "1024 KiB in use", "swapoff -a" },
	{ "proc/loadavg", "0.51 0 0 1/80 999\n", "load", "warn", "0.51", "below 0.5" },
	{ "proc/loadavg", "0.49 9 9 1/80 999\n", "load", "ok", NULL, NULL },
	{ "proc/loadavg", "2.10 0 0 1/80 999\n", "load", "bad", NULL, "top" },
	{ "proc/loadavg", NULL, "load", "unknown", NULL, NULL },
	{ QUEUE "scheduler", "none [mq-deadline]\n", "scheduler", "bad", "mq-deadline",
	  "echo none > /sys/block/nvme0n1/queue/scheduler" },
	{ QUEUE "scheduler", NULL, "scheduler", "unknown", NULL, NULL },
	{ QUEUE "iostats", "1\n", "iostats", "warn", "1",
	  "echo 0 > /sys/block/nvme0n1/queue/iostats" },
	{ QUEUE "nomerges", "0\n", "nomerges", "warn", "0",
	  "echo 2 > /sys/block/nvme0n1/queue/nomerges" },
	{ QUEUE "wbt_lat_usec", "2000\n", "wbt_lat_usec", "warn", "2000",
	  "echo 0 > /sys/block/nvme0n1/queue/wbt_lat_usec" },
	{ QUEUE "nr_requests", "256\n", "nr_requests", "warn", "256 in each of 2",
	  "echo 512 > /sys/block/nvme0n1/queue/nr_requests" },
	{ QUEUE "io_poll", "1\n", "io_poll", "ok", "can be had", NULL },
	{ QUEUE "rotational", "1\n", "rotational", "ok", "yes",
	  "echo 0 > /sys/block/nvme0n1/queue/rotational" },
	{ QUEUE "write_cache", "write through\n", "write_cache", "ok", "write through", NULL },
	{ NVME "/loop/dio", "0\n", "loop_direct_io", "bad", "page cache", "losetup --direct-io" },
	{ NVME "/loop/dio", "1\n", "loop_direct_io", "ok", "on", NULL },
	{ PCI "/current_link_speed", "8.0 GT/s PCIe\n", "pcie_link", "bad",
	  "8.0 GT/s PCIe x4, the drive can do 16.0 GT/s PCIe x4", "lspci -vv -s 0000:3b:00.0" },
	{ PCI "/current_link_width", "2\n", "pcie_link", "bad", "x2", "lspci" },
	{ PCI "/current_link_speed", "Unknown\n", "pcie_link", "unknown", NULL, NULL },
	{ PCI "/max_link_width", "255\n", "pcie_link", "unknown", NULL, NULL },
	{ "proc/irq/32/effective_affinity_list", "0\n", "irq_spread", "warn",
	  "2 queue interrupts on 1 of 2", "for q in 31 32; do echo $((i++ % 2))" },
	{ "proc/interrupts", " 31:  5  0  PCI-MSIX-0000:3b:00.0   1-edge      nvme0q1\n",
	  "irq_spread", "warn", "1 queue interrupt on 1", "one queue" },
	{ "proc/interrupts", NULL, "irq_spread", "unknown", NULL, NULL },
	{ NVME "/nvme0n1p1/holders/dm-0/dev", "253:0\n", "in_use", "bad", "dm-0", "" },
	{ "proc/self/mountinfo", "garbage\n", "database", "unknown", NULL, NULL },
};

TEST(one_thing_at_a_time)
{
	for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
		const struct change *c = &changes[i];
		const struct doctor_check *r;

		start();
		if (c->text)
			put(c->file, c->text);
		else
			take(c->file);
		examine();
		r = row(c->check);
		CHECK_MSG(!strcmp(verdict(c->check), c->verdict), "%s: %s is %s (%s), not %s",
			  c->file, c->check, verdict(c->check), r->found, c->verdict);
		CHECK_MSG(!c->found || strstr(r->found, c->found), "%s: found %s", c->check,
			  r->found);
		CHECK_MSG(!r->advice == !c->advice, "%s: advice %s", c->check,
			  r->advice ? r->advice : "none");
		CHECK_MSG(!c->advice || strstr(r->advice, c->advice), "%s: advice %s", c->check,
			  r->advice);
		DO(all_ok_but(c->check));
		CHECK_INT(doc.fit, r->verdict == DOCTOR_OK || r->verdict == DOCTOR_UNKNOWN);
		done();
	}
}

TEST(U36_zoned_drives_are_told)
{
	start();
	put(QUEUE "zoned", "host-aware\n");
	examine();
	CHECK_STR(verdict("zoned"), "warn");
	CHECK(strstr(row("zoned")->advice, "random writes go through a cache"));
	DO(all_ok_but("zoned"));
	put(QUEUE "zoned", "host-managed\n");
	examine();
	CHECK_STR(verdict("zoned"), "bad");
	CHECK(strstr(row("zoned")->advice, "no random writes"));
	take(QUEUE "zoned");
	examine();
	CHECK_STR(verdict("zoned"), "unknown");
	done();
}

TEST(clock_source_without_a_tsc)
{
	start();
	put(CLOCK "current_clocksource", "acpi_pm\n");
	put(CLOCK "available_clocksource", "tsc-early acpi_pm\n");
	examine();
	CHECK_STR(verdict("clocksource"), "bad");
	CHECK(strstr(row("clocksource")->advice, "dmesg"));
	done();
}

struct live_case {
	struct doctor_live live;
	const char *check, *verdict;
};

#define LIVE(k, ns, lock, files, rg) \
	{ \
		.kernel = k, .gettime_ns = ns, .rdtsc_ns = 8, .memlock_bytes = lock, \
		.open_files = files, .ring = rg, .ring_error = "io_uring is forbidden here" \
	}
#define RING "registered buffers, DEFER_TASKRUN"

TEST(what_was_measured)
{
	static const struct live_case cases[] = {
		{ LIVE("5.10.0", 20, UINT64_MAX, 1024, RING), "kernel", "bad" },
		{ LIVE("6.0.19", 20, UINT64_MAX, 1024, RING), "kernel", "warn" },
		{ LIVE("7.0", 20, UINT64_MAX, 1024, RING), "kernel", "ok" },
		{ LIVE("6.1", 150, UINT64_MAX, 1024, RING), "clock_cost", "warn" },
		{ LIVE("6.1", 700, UINT64_MAX, 1024, RING), "clock_cost", "bad" },
		{ LIVE("6.1", NAN, UINT64_MAX, 1024, RING), "clock_cost", "unknown" },
		{ LIVE("6.1", 20, 64 << 10, 1024, RING), "memlock", "warn" },
		{ LIVE("6.1", 20, 1 << 30, 1024, RING), "memlock", "ok" },
		{ LIVE("6.1", 20, UINT64_MAX, 255, RING), "open_files", "bad" },
		{ LIVE("6.1", 20, UINT64_MAX, UINT64_MAX, RING), "open_files", "ok" },
		{ LIVE("6.1", 20, UINT64_MAX, 1024, "registered buffers"), "io_uring", "warn" },
		{ LIVE("6.1", 20, UINT64_MAX, 1024, "buffers not registered, DEFER_TASKRUN"),
		  "io_uring", "warn" },
		{ LIVE("6.1", 20, UINT64_MAX, 1024, ""), "io_uring", "bad" },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		start();
		live = cases[i].live;
		examine();
		CHECK_MSG(!strcmp(verdict(cases[i].check), cases[i].verdict), "case %u: %s is %s",
			  i, cases[i].check, verdict(cases[i].check));
		DO(all_ok_but(cases[i].check));
		done();
	}
}

TEST(memlock_does_not_bind_who_may_lock)
{
	start();
	live.memlock_bytes = 64 << 10;
	put("proc/self/status", "CapEff:\t0000000000004000\nCpus_allowed_list:\t0-1\n");
	examine();
	CHECK_STR(verdict("memlock"), "ok");
	CHECK(strstr(row("memlock")->found, "64 KiB"));
	done();
}

TEST(io_uring_switched_off)
{
	start();
	live.ring[0] = '\0';
	put("proc/sys/kernel/io_uring_disabled", "2\n");
	examine();
	CHECK_STR(row("io_uring")->advice, "sysctl kernel.io_uring_disabled=0");
	done();
}

TEST(timers)
{
	start();
	link_as(WANTS "fstrim.timer", "/lib/systemd/system/fstrim.timer");
	link_as(WANTS "apt-daily.timer", "/lib/systemd/system/apt-daily.timer");
	examine();
	CHECK_STR(verdict("timers"), "warn");
	CHECK_STR(row("timers")->found, "apt-daily.timer fstrim.timer");
	CHECK(strstr(row("timers")->advice, "--now apt-daily.timer fstrim.timer"));
	/* the advice followed */
	link_as("run/systemd/system/fstrim.timer", "/dev/null");
	link_as("etc/systemd/system/apt-daily.timer", "/dev/null");
	examine();
	CHECK_STR(verdict("timers"), "ok");
	done();
	start();
	take("run/systemd/system/x");
	snprintf(db, sizeof db, "%s/run/systemd/system", root);
	CHECK(!rmdir(db));
	snprintf(db, sizeof db, "%s/pts.db", root);
	examine();
	CHECK_STR(verdict("timers"), "unknown");
	CHECK(doc.fit);
	done();
}

TEST(nodes)
{
	start();
	put("sys/devices/system/node/node0/cpulist", "0\n");
	put("sys/devices/system/node/node1/cpulist", "1\n");
	put(PCI "/numa_node", "1\n");
	examine();
	CHECK_STR(verdict("numa"), "warn");
	CHECK_STR(row("numa")->advice, "numactl --cpunodebind=1 --membind=1 pts run ...");
	/* the advice followed */
	put("proc/self/status", "CapEff:\t0\nCpus_allowed_list:\t1\n");
	examine();
	CHECK_STR(verdict("numa"), "ok");
	put(PCI "/numa_node", "-1\n");
	examine();
	CHECK_STR(verdict("numa"), "unknown");
	done();
}

TEST(database_on_the_drive)
{
	static const char sda[] = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
	char text[300];

	start();
	/* on a partition of the target; another mount below does not hide that */
	snprintf(text, sizeof text, "%s21 20 259:1 / %s rw - ext4 /dev/nvme0n1p1 rw\n", sda, root);
	put("proc/self/mountinfo", text);
	examine();
	CHECK_STR(verdict("database"), "bad");
	CHECK_STR(verdict("in_use"), "bad");
	/* covered by a later mount at the same place */
	snprintf(text, sizeof text,
		 "%s21 20 259:1 / %s rw - ext4 /dev/nvme0n1p1 rw\n"
		 "22 21 8:1 / %s rw - ext4 /dev/sda1 rw\n",
		 sda, root, root);
	put("proc/self/mountinfo", text);
	examine();
	CHECK_STR(verdict("database"), "ok");
	/* a path that only begins alike */
	snprintf(text, sizeof text, "%s21 20 259:1 / %.*s rw - ext4 /dev/nvme0n1p1 rw\n", sda,
		 (int)strlen(root) - 3, root);
	put("proc/self/mountinfo", text);
	examine();
	CHECK_STR(verdict("database"), "ok");
	/* btrfs: the number is its own, the source tells */
	snprintf(text, sizeof text, "%s21 20 0:33 / %s rw - btrfs /dev/nvme0n1p1 rw\n", sda, root);
	put("proc/self/mountinfo", text);
	examine();
	CHECK_STR(verdict("database"), "bad");
	/* through a holder: LVM on the drive */
	put("sys/devices/virtual/block/dm-0/dev", "253:0\n");
	link_to("sys/dev/block/253:0", "sys/devices/virtual/block/dm-0");
	link_to(NVME "/nvme0n1p1/holders/dm-0", "sys/devices/virtual/block/dm-0");
	snprintf(text, sizeof text, "%s21 20 253:0 / %s rw - ext4 /dev/mapper/v rw\n", sda, root);
	put("proc/self/mountinfo", text);
	examine();
	CHECK_STR(verdict("database"), "bad");
	CHECK(strstr(row("database")->advice, "--db FILE"));
	done();
}

TEST(targets_of_all_kinds)
{
	start();
	info.simulated = true;
	target.path = "";
	examine();
	CHECK_STR(verdict("target"), "warn");
	CHECK_STR(row("scheduler")->found, "(no row)");
	CHECK(!doc.fit);
	info.simulated = info.formal = false;
	info.kind = DUT_FILE;
	examine();
	CHECK_STR(verdict("target"), "warn");
	CHECK(strstr(row("target")->found, "a file"));
	target.info = NULL;
	target.nowait = NOWAIT_NOT_TRIED;
	target.health = NULL;
	target.path = "/dev/nvme0n1";
	examine();
	CHECK_STR(verdict("target"), "unknown");
	CHECK_STR(verdict("scheduler"), "ok");
	CHECK_STR(verdict("in_use"), "ok");
	CHECK_STR(verdict("punting"), "unknown");
	CHECK_STR(verdict("temperature"), "unknown");
	CHECK(doc.fit);
	done();
}

TEST(no_target)
{
	struct doctor_conf conf = { root, db, &live, NULL };

	start();
	doctor_examine(&arena, &conf, &doc);
	CHECK_STR(verdict("target"), "unknown");
	CHECK_STR(row("scheduler")->found, "(no row)");
	CHECK_STR(row("punting")->found, "(no row)");
	CHECK(doc.fit);
	done();
}

TEST(punting_and_heat)
{
	start();
	target.nowait = NOWAIT_CANNOT;
	examine();
	CHECK_STR(verdict("punting"), "bad");
	DO(all_ok_but("punting"));
	target.nowait = NOWAIT_CAN;
	health.temperature_c = 71;
	examine();
	CHECK_STR(verdict("temperature"), "warn");
	CHECK_STR(row("temperature")->found, "71 C");
	health.critical = true;
	examine();
	CHECK_STR(verdict("temperature"), "bad");
	done();
}

TEST(interrupts_of_a_virtio_drive)
{
	start();
	put("sys/devices/pci0/0000:00:02.0/virtio1/block/vdb/dev", "254:0\n");
	link_to("sys/dev/block/254:0", "sys/devices/pci0/0000:00:02.0/virtio1/block/vdb");
	link_to("sys/class/block/vdb", "sys/devices/pci0/0000:00:02.0/virtio1/block/vdb");
	put("proc/interrupts", " 35: 0 0 PCI-MSIX-0000:00:02.0 0-edge virtio1-config\n"
			       " 36: 0 9 PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0\n"
			       " 40: 0 9 PCI-MSIX-0000:00:12.0 1-edge virtio11-req.0\n");
	put("proc/irq/36/smp_affinity_list", "0-1\n");
	target.path = "/dev/vdb";
	examine();
	CHECK_STR(row("irq_spread")->found, "1 queue interrupt on 2 of 2 CPUs");
	CHECK_STR(verdict("irq_spread"), "ok");
	done();
}

TEST(measuring)
{
	struct doctor_live m;

	doctor_measure(&m);
	CHECK(m.gettime_ns > 0 && m.gettime_ns < 1e6);
	CHECK(isnan(m.rdtsc_ns) || (m.rdtsc_ns > 0 && m.rdtsc_ns < 1e6));
	CHECK(m.kernel[0] >= '1' && m.kernel[0] <= '9');
	CHECK(!m.ring[0] != !m.ring_error[0]);
	CHECK(m.open_files > 0);
}

TEST(probing_a_file)
{
	struct dut_info f = { .kind = DUT_FILE, .lba_bytes = 512, .capacity_bytes = 8192 };
	struct stat st;

	start();
	put("file", "");
	snprintf(f.path, sizeof f.path, "%s/file", root);
	CHECK(!truncate(f.path, 8192));
	/* whatever the file system can do; it answers, and the file stays as it is */
	doctor_nowait_probe(&f);
	CHECK(!stat(f.path, &st) && st.st_size == 8192 && !st.st_blocks);
	f.capacity_bytes = 512;
	CHECK_INT(doctor_nowait_probe(&f), NOWAIT_NOT_TRIED);
	f.capacity_bytes = 8192;
	f.path[strlen(f.path) - 1] = 'x';
	CHECK_INT(doctor_nowait_probe(&f), NOWAIT_NOT_TRIED);
	CHECK(stat(f.path, &st));
	done();
}

TEST_MAIN
