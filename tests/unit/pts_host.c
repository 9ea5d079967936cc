/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include "pts/host.h"
#include "tests/unit/pts_tree.h"
static struct arena arena;

static void done(void)
{
	tree_end();
	arena_release(&arena);
}

/* "(none)" where the fact is left out. */
static const char *fact(const struct key_value *kv, const char *key)
{
	for (; kv->key; kv++) {
		if (!strcmp(kv->key, key))
			return kv->value;
	}
	return "(none)";
}

static void cpu(unsigned id, const char *siblings, const char *package, const char *governor)
{
	char name[200];

	snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 id);
	put(name, siblings);
	snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/topology/core_siblings_list", id);
	put(name, package);
	snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", id);
	put(name, governor);
}

/* Two sockets of two cores of two threads; one core is offline. */
static void machine(void)
{
	tree_begin();
	cpu(0, "0,4\n", "0-1,4-5\n", "performance\n");
	cpu(1, "1,5\n", "0-1,4-5\n", "powersave\n");
	cpu(2, "2,6\n", "2,6\n", "performance\n");
	cpu(4, "0,4\n", "0-1,4-5\n", "performance\n");
	cpu(5, "1,5\n", "0-1,4-5\n", "performance\n");
	cpu(6, "2,6\n", "2,6\n", "performance\n");
	put("sys/devices/system/cpu/cpu3/online", "0\n");
	put("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
	put("sys/devices/system/cpu/smt/control", "on\n");
	put("sys/devices/system/node/node0/cpulist", "0\n");
	put("sys/devices/system/node/node1/cpulist", "2\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("sys/class/dmi/id/board_name", "X11  \n");
	put("sys/class/dmi/id/board_vendor", "Acme\tBoards\n");
	put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU 1 @ 3 GHz\n");
	put("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
	put("proc/loadavg", "0.25 0.50 0.75 1/80 999\n");
	put("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n");
}

#define PCI "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
#define NVME PCI "/nvme/nvme0/nvme0n1"

static void drive(void)
{
	put(NVME "/dev", "259:0\n");
	put(NVME "/queue/scheduler", "mq-deadline kyber [none]\n");
	put(NVME "/queue/nr_requests", "1023\n");
	put(NVME "/queue/write_cache", "write back\n");
	put(NVME "/nvme0n1p1/dev", "259:1\n");
	put(NVME "/nvme0n1p1/partition", "1\n");
	put(PCI "/numa_node", "1\n");
	put(PCI "/current_link_speed", "8.0 GT/s PCIe\n");
	put(PCI "/max_link_speed", "16.0 GT/s PCIe\n");
	put(PCI "/current_link_width", "4\n");
	put(PCI "/max_link_width", "4\n");
	link_to("sys/dev/block/259:0", NVME);
	link_to("sys/dev/block/259:1", NVME "/nvme0n1p1");
	link_to("sys/class/block/nvme0n1", NVME);
	link_to("sys/class/block/nvme0n1p1", NVME "/nvme0n1p1");
}

TEST(cpus_board_and_system)
{
	const struct key_value *kv;

	machine();
	kv = host_facts_at(&arena, root, "");
	CHECK_STR(fact(kv, "cpu_threads"), "6");
	CHECK_STR(fact(kv, "cpu_cores"), "3");
	CHECK_STR(fact(kv, "cpu_sockets"), "2");
	CHECK_STR(fact(kv, "numa_nodes"), "2");
	CHECK_STR(fact(kv, "cpu_model"), "Fast CPU 1 @ 3 GHz");
	CHECK_STR(fact(kv, "cpu_smt"), "on");
	CHECK_STR(fact(kv, "cpu_idle_driver"), "intel_idle");
	CHECK_STR(fact(kv, "clocksource"), "tsc");
	CHECK_STR(fact(kv, "memory_bytes"), "16777216");
	CHECK_STR(fact(kv, "os"), "Some Linux 12");
	CHECK_STR(fact(kv, "load_average"), "0.25 0.50 0.75");
	CHECK_STR(fact(kv, "board_name"), "X11");
	CHECK_STR(fact(kv, "board_vendor"), "Acme?Boards");
	CHECK_STR(fact(kv, "bios_version"), "(none)");
	CHECK_STR(fact(kv, "dev_scheduler"), "(none)");
	done();
}

TEST(U27_every_governor_is_named)
{
	const struct key_value *kv;
	const char *g;

	machine();
	kv = host_facts_at(&arena, root, "");
	g = fact(kv, "cpu_governor");
	CHECK(!strcmp(g, "performance, powersave") || !strcmp(g, "powersave, performance"));
	done();
	tree_begin();
	kv = host_facts_at(&arena, root, "");
	CHECK_STR(fact(kv, "cpu_governor"), "unknown");
	done();
}

TEST(the_drive_and_its_link)
{
	static const char *const names[] = { "/dev/nvme0n1", "/dev/nvme0n1p1" };

	machine();
	drive();
	for (unsigned i = 0; i < 2; i++) {
		const struct key_value *kv = host_facts_at(&arena, root, names[i]);

		CHECK_STR(fact(kv, "dev_scheduler"), "none");
		CHECK_STR(fact(kv, "dev_nr_requests"), "1023");
		CHECK_STR(fact(kv, "dev_write_cache"), "write back");
		CHECK_STR(fact(kv, "dev_pci_address"), "0000:3b:00.0");
		CHECK_STR(fact(kv, "dev_numa_node"), "1");
		CHECK_STR(fact(kv, "dev_link_speed"), "8.0 GT/s PCIe");
		CHECK_STR(fact(kv, "dev_link_speed_max"), "16.0 GT/s PCIe");
		CHECK_STR(fact(kv, "dev_link_width"), "4");
		CHECK_STR(fact(kv, "dev_wbt_lat_usec"), "(none)");
	}
	done();
}

TEST(a_drive_that_is_not_there)
{
	machine();
	CHECK_STR(fact(host_facts_at(&arena, root, "/dev/sdx"), "dev_scheduler"), "(none)");
	done();
}

TEST(this_machine)
{
	const struct key_value *kv = host_facts(&arena, "/tmp/pts-no-such-file");
	unsigned n = 0;

	CHECK(strcmp(fact(kv, "kernel"), "(none)"));
	CHECK(strcmp(fact(kv, "hostname"), "(none)"));
	CHECK(strcmp(fact(kv, "cpu_threads"), "(none)"));
	CHECK(strcmp(fact(kv, "memory_bytes"), "(none)"));
	for (; kv[n].key; n++) {
		CHECK(kv[n].value[0]);
		CHECK(!n || strcmp(kv[n - 1].key, kv[n].key) < 0);
	}
	CHECK(n > 8);
	arena_release(&arena);
}

TEST_MAIN
