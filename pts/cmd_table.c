/* SPDX-License-Identifier: MIT */
/* The commands and their options: see cmd_opts.h. */
#include "pts/cmd_opts.h"

#include <string.h>

#define ANY 0xffffffffu

const struct command commands[] = {
	{ .name = "devices",
	  .fn = cmd_devices,
	  .synopsis = "[--json]",
	  .text = "drives here: the word to type for --destroy, size, what uses them, purge "
		  "methods",
	  .options = "json" },
	{ .name = "doctor",
	  .fn = cmd_doctor,
	  .synopsis = "[--dut DUT] [--json]",
	  .text = "is this host fit for a formal run, and what to change",
	  .options = "db dut json" },
	{ .name = "list",
	  .fn = cmd_list,
	  .synopsis = "tests|workloads|suites|formats|sheets|runs|captures [--json]",
	  .text = "what this pts knows, or what a database holds",
	  .options = "db json",
	  .needs = "one of tests, workloads, suites, formats, sheets, runs, captures",
	  .max_words = 1,
	  .words = "tests|workloads|suites|formats|sheets|runs|captures" },
	{ .name = "show",
	  .fn = cmd_show,
	  .synopsis = "NAME",
	  .text = "print a definition (test, workload, suite) as it will run",
	  .options = "json",
	  .needs = "a NAME",
	  .max_words = 1,
	  .words = "@tests @workloads @suites" },
	{ .name = "plan",
	  .fn = cmd_plan,
	  .synopsis = "TEST|SUITE... --dut DUT [--json]",
	  .text = "dry run: every step, expected duration and writes; opens nothing for writing",
	  .options = "dut profile quick set capture scale seq-rule seq-window step seed info json",
	  .needs = "a TEST or SUITE",
	  .max_words = ANY,
	  .words = "@tests @suites" },
	{ .name = "run",
	  .fn = cmd_run,
	  .synopsis = "TEST|SUITE... --dut DUT [--destroy WORD]",
	  .text = "purge, precondition and measure; every finished step goes to the database",
	  .options = "db dut destroy profile quick set engine polled method purge-hook "
		     "allow-unpurged all-namespaces force-signature info capture scale seq-rule "
		     "seq-window step note progress "
		     "seed dump-latencies "
		     "on-critical quiet verbose",
	  .needs = "a TEST or SUITE",
	  .max_words = ANY,
	  .words = "@tests @suites" },
	{ .name = "resume",
	  .fn = cmd_resume,
	  .synopsis = "[RUN]",
	  .text = "go on with an interrupted run (the last one), or with RUN, also if it failed",
	  .options = "db allow-unpurged all-namespaces continue-inside force-signature capture "
		     "note progress "
		     "on-critical "
		     "quiet verbose",
	  .max_words = 1,
	  .words = "@runs" },
	{ .name = "status",
	  .fn = cmd_status,
	  .synopsis = "[RUN] [--watch] [--json]",
	  .text = "where a run is: test, phase, round, cell, last rate, steady state, time left",
	  .options = "db watch json",
	  .max_words = 1,
	  .words = "@runs" },
	{ .name = "steady",
	  .fn = cmd_steady,
	  .synopsis = "V1 V2 V3 V4 V5 ... [--json]",
	  .text = "the steady-state verdict on numbers of your own (the last five)",
	  .options = "json",
	  .max_words = ANY },
	{ .name = "report",
	  .fn = cmd_report,
	  .synopsis = "RUN... -o FILE.xlsx|FILE.html|FILE.txt|FILE.json|DIR/",
	  .text = "write the report of runs, from the database alone",
	  .options = "db output claims quiet verbose",
	  .max_words = ANY,
	  .words = "@runs" },
	{ .name = "compare",
	  .fn = cmd_compare,
	  .synopsis = "RUN RUN... -o FILE.xlsx|FILE.html|FILE.txt|FILE.json|DIR/",
	  .text = "runs side by side: may they be compared, which is better, by how much",
	  .options = "db output baseline claims prices allow-tampered quiet verbose",
	  .needs = "two RUNs or more",
	  .max_words = ANY,
	  .words = "@runs" },
	{ .name = "audit",
	  .fn = cmd_audit,
	  .synopsis = "[RUN] [--head HASH] [--json]",
	  .text = "clause by clause: what was done, is it right, and do the stored rows bear it "
		  "out",
	  .options = "db head json",
	  .max_words = 1,
	  .words = "@runs" },
	{ .name = "capture",
	  .fn = cmd_capture,
	  .synopsis = "--dut DEV [--for TIME] -o CAP",
	  .text = "record the block IO of a device in use; nothing is written to it",
	  .options = "dut for output name via buffer json quiet" },
	{ .name = "import",
	  .fn = cmd_import,
	  .synopsis = "TRACE -o CAP [-f FORMAT]",
	  .text = "convert a foreign capture; its format is found by its content",
	  .options = "format map time-unit skip-bad assume-rt lba coalesce name output json quiet",
	  .needs = "a TRACE",
	  .max_words = 1 },
	{ .name = "trace",
	  .fn = cmd_trace,
	  .synopsis = "stat|streams|steps|cut|export CAP [--json]",
	  .text = "what is in a capture: counts, IO streams, steps; cut a part, export for fio",
	  .options =
		  "seq-rule seq-window step top cover from to device device-map output json quiet",
	  .needs = "one of stat, streams, steps, cut, export, and a CAP",
	  .max_words = 2,
	  .words = "stat|streams|steps|cut|export" },
	{ .name = "replay",
	  .fn = cmd_replay,
	  .synopsis = "CAP --dut DUT [--destroy WORD]",
	  .text = "replay a capture IO by IO, on its own clock, with an account of how true it was",
	  .options = "db dut destroy force-signature speed fit loops order with device-map dry "
		     "engine polled info note progress seed json quiet verbose",
	  .needs = "a CAP",
	  .max_words = 1 },
	{ .name = "purge",
	  .fn = cmd_purge,
	  .synopsis = "--dut DUT --destroy WORD [--method METHOD] [--recover] [--json]",
	  .text = "purge a drive, proved by reading back; --recover undoes a half-done ATA erase",
	  .options = "dut destroy method purge-hook all-namespaces force-signature recover json "
		     "quiet" },
	{ .name = "selftest",
	  .fn = cmd_selftest,
	  .synopsis = "--dut DUT --destroy WORD [--method METHOD] [--json]",
	  .text = "exercise purge, write cache, health and IO of a real drive, and say what works",
	  .options = "dut destroy method all-namespaces force-signature json quiet" },
	{ .name = "export",
	  .fn = cmd_export,
	  .synopsis = "RUN --json|--csv",
	  .text = "all rows of a run as JSON or CSV",
	  .options = "db json csv output",
	  .max_words = 1,
	  .words = "@runs" },
	{ .name = "db",
	  .fn = cmd_db,
	  .synopsis = "info|check|migrate|merge|backup [FILE...]",
	  .text = "look after a database",
	  .options = "db json quiet verbose",
	  .needs = "one of info, check, migrate, merge, backup",
	  .max_words = ANY,
	  .words = "info|check|migrate|merge|backup" },
	{ .name = "help",
	  .fn = cmd_help,
	  .synopsis = "[COMMAND]",
	  .text = "the list of commands, or the help of one",
	  .options = "",
	  .max_words = 1,
	  .words = "@commands" },
	{ .name = "completion",
	  .fn = cmd_completion,
	  .synopsis = "bash",
	  .text = "print the completion script of a shell",
	  .options = "",
	  .needs = "the name of a shell: bash",
	  .max_words = 1,
	  .words = "bash" },
	{ .name = "version",
	  .fn = cmd_version,
	  .synopsis = "",
	  .text = "print the version of pts, as it is recorded with runs",
	  .options = "" },
	{ .name = NULL },
};

#define FLAG(n, f, h) \
	{ \
		.name = n, .kind = OPTION_FLAG, .offset = offsetof(struct opts, f), .help = h \
	}
#define VALUE(n, f, v, h) \
	{ \
		.name = n, .kind = OPTION_VALUE, .offset = offsetof(struct opts, f), .value = v, \
		.help = h \
	}
#define CHOICE(n, f, c, h) \
	{ \
		.name = n, .kind = OPTION_VALUE, .offset = offsetof(struct opts, f), .value = c, \
		.choices = c, .help = h \
	}
#define LIST(n, f, v, h) \
	{ \
		.name = n, .kind = OPTION_LIST, .offset = offsetof(struct opts, f), .value = v, \
		.help = h \
	}

const struct option_def option_defs[] = {
	VALUE("db", db, "FILE", "the database (default $PTS_DB, else pts.db here)"),
	LIST("dut", dut, "DUT",
	     "the target: /dev/NAME, file:PATH?size=1g, sim:PROFILE, set:A,B; repeatable on run "
	     "and plan"),
	LIST("destroy", destroy, "WORD",
	     "consent to lose its data: the drive's serial as `pts devices` prints it; repeatable"),
	CHOICE("profile", profile, "enterprise|client",
	       "write cache off and all of the range, or on and 75 % (default enterprise)"),
	FLAG("quick", quick,
	     "the short values of each definition, about a minute a test; a deviation"),
	LIST("set", set, "PARAM=VALUE", "set a parameter of the definition; repeatable"),
	CHOICE("engine", engine, "uring|passthrough", "how IO is issued (default uring)"),
	FLAG("polled", polled, "poll for completions"),
	VALUE("method", method, "METHOD",
	      "how to purge (default auto, which prints its choice; never falls back)"),
	VALUE("purge-hook", purge_hook, "FILE",
	      "a program that purges: stops an array, purges its members, builds it again"),
	FLAG("recover", recover, "unlock a drive whose ATA security erase was cut short"),
	FLAG("all-namespaces", all_namespaces,
	     "let a purge erase the other namespaces of the drive as well"),
	FLAG("allow-unpurged", allow_unpurged,
	     "measure a drive that cannot be purged; a deviation"),
	FLAG("continue-inside", continue_inside,
	     "go on inside the interrupted test, not from its purge; a deviation"),
	FLAG("force-signature", force_signature,
	     "overwrite a partition table or a file-system signature as well"),
	VALUE("info", info, "FILE",
	      "ini of what no tool can read: operator, NAND type, rated TBW ..."),
	VALUE("claims", claims, "FILE",
	      "ini of what a vendor claims, held against what was measured"),
	VALUE("prices", prices, "FILE",
	      "ini of prices, power, endurance, and weights of the score"),
	VALUE("baseline", baseline, "RUN",
	      "the run that the others are held against (default the first)"),
	FLAG("allow-tampered", allow_tampered,
	     "compare runs whose stored rows were changed; each sheet says so"),
	VALUE("capture", capture, "CAP", "the capture that a real-world test replays"),
	VALUE("scale", scale, "LIST", "depth scales of the replay: 1,2,4,8,16,32"),
	VALUE("note", note, "TEXT", "stored with the run"),
	CHOICE("progress", progress, "json", "progress as JSON lines on stderr"),
	VALUE("seed", seed, "N", "seed of all random numbers of the run"),
	CHOICE("on-critical", on_critical, "stop|go-on",
	       "what a critical warning of the drive does (default stop: exit 3, resumable)"),
	VALUE("dump-latencies", dump_latencies, "FILE", "debug: write every latency, one a line"),
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_VALUE,
	  .offset = offsetof(struct opts, output),
	  .value = "FILE",
	  .help = "where to write" },
	{ .name = "format",
	  .letter = 'f',
	  .kind = OPTION_VALUE,
	  .offset = offsetof(struct opts, format),
	  .value = "FORMAT",
	  .help = "the format of the trace, as `pts list formats` names it" },
	VALUE("map", map, "COLUMNS",
	      "the columns of a table: "
	      "ts=0:us,op=1:R/W,off=2:B,len=3:B,rt=4:us,dev=5,sep=;,header=1"),
	VALUE("time-unit", time_unit, "UNIT",
	      "s, ms, us, ns, ps or 100ns, where the trace does not say"),
	FLAG("skip-bad", skip_bad, "count records that make no sense instead of stopping at them"),
	VALUE("assume-rt", assume_rt, "TIME", "the response time of IOs that have no completion"),
	VALUE("lba", lba, "SIZE", "nvme: block size of the drive (default 512)"),
	FLAG("coalesce", coalesce, "fiu: join the 4 KiB pages of an IO again"),
	VALUE("name", name, "NAME", "name of the capture (default from the file's)"),
	CHOICE("seq-rule", seq_rule, "window|strict",
	       "SEQ is what goes on from one of the last ends, or from the very last"),
	VALUE("seq-window", seq_window, "N", "how many ends are remembered (default 32)"),
	VALUE("step", step, "TIME", "length of a step (default 1s)"),
	VALUE("top", top, "N", "the dominant streams: the first N ..."),
	VALUE("cover", cover, "PCT",
	      "... or as many as cover so much of the IOs (default 9 and 80)"),
	VALUE("for", for_time, "TIME", "how long to record (default until interrupted)"),
	CHOICE("via", via, "events|blk",
	       "the kernel's block events (default), or its blk tracer, which one at a time can "
	       "use"),
	VALUE("buffer", buffer, "SIZE",
	      "memory in which the kernel keeps events, of each CPU (default 8m)"),
	VALUE("from", from, "TIME", "where the part begins"),
	VALUE("to", to, "TIME", "where the part ends"),
	VALUE("device", device, "NAME", "one device of the capture alone"),
	LIST("device-map", device_map, "DEVICE=FILE",
	     "what stands for a device of the capture (replay: DEVICE=DUT[@OFFSET], or - to leave "
	     "it out); repeatable"),
	VALUE("speed", speed, "native|asap|X",
	      "time scale: as captured, without any clock, or 0.5 to 32 times as fast"),
	CHOICE("fit", fit, "refuse|clip|wrap|scale",
	       "what becomes of IOs beyond the end of a smaller target (default refuse)"),
	VALUE("loops", loops, "N", "how many times over (default 1)"),
	CHOICE("order", order, "allow|order",
	       "an IO that overlaps one in flight: issued at once, or when that is done"),
	CHOICE("with", with, "flush|discard|both", "replay flushes, discards or both as well"),
	FLAG("dry", dry, "issue nothing: measures how late this host and pts are by themselves"),
	VALUE("head", head, "HASH",
	      "the chain's head as a report printed it: shows that the chain was not rebuilt"),
	FLAG("json", json, "one JSON document on stdout"),
	FLAG("csv", csv, "comma-separated values on stdout"),
	FLAG("watch", watch, "repeat until the run ends"),
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPTION_FLAG,
	  .offset = offsetof(struct opts, quiet),
	  .help = "errors only" },
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_FLAG,
	  .offset = offsetof(struct opts, verbose),
	  .help = "say more" },
	{ .name = NULL },
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

bool command_takes(const struct command *c, const struct option_def *d)
{
	size_t len = strlen(d->name);

	for (const char *p = c->options; (p = strstr(p, d->name)); p += len)
		if ((p == c->options || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}
