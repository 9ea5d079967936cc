/* SPDX-License-Identifier: MIT */
/*
 * The device under test behind one coarse seam: identify, purge, set the write cache, run a job, be idle, tell the time.
 * Backends: file: and block devices (dut_block.c over the engine), sim: (dut_sim.c, virtual clock).
 * Opening never writes. The safety gate (pts/gate.c) has had its say before dut_open() with DUT_WRITE.
 */
#ifndef WORKLOADS_DUT_H
#define WORKLOADS_DUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "workloads/result.h"

enum purge_method { /* names as --method takes them */
		    PURGE_NONE,
		    PURGE_AUTO,
		    PURGE_NVME_FORMAT,
		    PURGE_NVME_SANITIZE_BLOCK,
		    PURGE_NVME_SANITIZE_CRYPTO,
		    PURGE_NVME_SANITIZE_OVERWRITE,
		    PURGE_SCSI_FORMAT,
		    PURGE_SCSI_SANITIZE,
		    PURGE_ATA_SECURITY_ERASE,
		    PURGE_ATA_SANITIZE,
		    PURGE_BLKDISCARD,
		    PURGE_PUNCH,
		    PURGE_SIM,
		    PURGE_HOOK, /* a program of the user's (--purge-hook), which no drive offers by itself */
		    PURGE_METHODS
};

/* "blkdiscard"; parse: -EINVAL for an unknown word. */
const char *purge_method_name(enum purge_method m);
int purge_method_parse(const char *s, enum purge_method *ret) must_check;
const char *const *purge_method_names(void); /* NULL-terminated, without none and hook */
/* True for the methods that PTS names (spec 3.2); the others are deviations. */
bool purge_method_is_pts(enum purge_method m);

enum dut_kind { DUT_FILE, DUT_BLOCK, DUT_SIM, DUT_SET };

/* Facts of a drive; "" and 0 where unknown. Strings are cleaned: printable UTF-8, trimmed. */
struct dut_info {
	enum dut_kind kind;
	char name[512]; /* the DUT as the user named it */
	char path[512]; /* resolved path; "" for sim */
	char vendor[64], model[64], serial[64], firmware[32], interface[64], wwid[80];
	uint64_t capacity_bytes;
	uint32_t lba_bytes; /* logical block: smallest IO */
	uint32_t dio_mem_align; /* alignment of buffers for direct IO */
	bool has_write_cache; /* volatile write cache that can be switched */
	bool cache_known; /* the drive itself said whether it has one */
	bool erasing; /* it erases itself now, begun before we came: nothing can be read, and what it carried goes */
	bool unasked; /* no right to ask the drive itself: of its purge methods at most discard is known */
	bool simulated;
	bool formal; /* a whole drive; false for file: */
	uint32_t purge_methods; /* bit per enum purge_method */
	enum purge_method purge_auto;
	double rated_tbw_bytes; /* 0 unknown */
	char link[32]; /* speed and width when it was opened, "16.0 GT/s x4"; "" unknown */
	char link_max[32]; /* the most that drive and slot can do; "" unknown */
	char transport[16]; /* "pcie" "tcp" "rdma" "fc" "sas" "sata"; "" unknown */
	uint32_t nsid; /* of an NVMe namespace; 0 none */
	int numa_node; /* -1 unknown */
	char layout[64]; /* "md raid5 of 4", "dm linear of 1"; "" a drive by itself */
	char auto_why[200]; /* why purge_auto is what it is, in words */
	/* the most it can do, of a simulated drive (of a set: of the fastest); 0 unknown */
	double most_write_bytes_per_s, most_write_iops, most_read_iops;
	/* of a set (capacity and endurance are the sum, purge methods those that all have) */
	unsigned members; /* 0: not a set */
	uint64_t member_bytes; /* capacity of the smallest */
};

struct purge_report {
	enum purge_method method;
	uint64_t started_ns, elapsed_ns; /* DUT clock */
	bool verified; /* read back: first, last and >= 1024 random blocks held no canary written before */
	uint64_t canaries, survivors; /* blocks marked before; of these still readable after */
	char detail[256]; /* in words, what was done */
	const struct purge_report
		*member; /* of a set: each member's, until its next purge; else NULL */
};

struct health {
	bool have_temperature;
	double temperature_c;
	bool critical; /* the drive's own critical warning */
	char text[128];
	/* below: "" and 0 where the drive does not tell; counters are since it was made */
	bool throttled; /* holds itself back, by heat or of its own will, or did since last asked */
	char link[32]; /* speed and width now, "16.0 GT/s x4"; another text: the link changed */
	double percentage_used; /* of the rated endurance, the drive's estimate; may pass 100 */
	uint64_t host_written_bytes; /* what hosts wrote */
	uint64_t nand_written_bytes; /* what went into the flash for that */
	uint64_t media_errors; /* data that could not be recovered */
};

struct dut;
struct dut_ops {
	/* Erases the drive with @m (never falls back). 0; -EOPNOTSUPP method not possible here; -EBADE survivors found. */
	int (*purge)(struct dut *d, enum purge_method m, struct purge_report *ret, struct err *err);
	/* Switches the volatile write cache, reads it back. @ret_was gets the former state. -EOPNOTSUPP where it cannot. */
	int (*write_cache)(struct dut *d, bool on, bool *ret_was, struct err *err);
	/* Runs a job: see struct job. 0 all segments over (or stopped by sealed()); -EINTR by job.stop; -EIO a segment had
	 * errors (it was sealed); -ENODEV drive gone; -ETIMEDOUT hung: workers did not stop, the process must leave. */
	int (*run)(struct dut *d, const struct job *job, struct err *err);
	uint64_t (*now)(struct dut *d); /* the DUT's monotonic clock: host's, or virtual */
	int (*health)(struct dut *d, struct health *ret, struct err *err);
	void (*close)(struct dut *d);
};

struct dut {
	const struct dut_ops *ops;
	struct dut_info info;
	struct dut *const *member; /* of a set: info.members drives (dut_set.h); else NULL */
	/* what the engine found and how it runs: "io_uring, registered buffers and file, DEFER_TASKRUN" */
	char engine[256];
	const volatile int *
		stop; /* set by the caller: a long purge gives up with -EINTR when it becomes non-zero; may be NULL */
	/*
	 * Set by the caller; may be NULL. tell: how a long purge goes on, "sanitize: 43 %". record: what must be known after a
	 * crash, before it is done ("ata-password", detail); durable when it returns 0, else the purge does not go on.
	 */
	void (*tell)(void *arg, const char *text);
	int (*record)(void *arg, const char *what, const char *detail, struct err *err);
	void *arg; /* of both */
};

enum dut_open_mode { DUT_READ, DUT_WRITE };

struct dut_options {
	uint64_t seed; /* sim: of the model unless the name says &seed= */
	bool polled;
	bool passthrough; /* NVMe commands through /dev/ngXnY in place of block IO; -EOPNOTSUPP where there is none */
	const char *
		dump_latencies; /* debug: raw latencies of every IO, one ns per line, into this file; or NULL */
};

/*
 * Opens "/dev/NAME", "file:PATH[?size=1g]", "sim:PROFILE[?size=..&seed=..]", "set:DUT,DUT,...", and for tests "fault:SPEC:DUT". DUT_READ: facts only, no exclusive open, creates
 * nothing. DUT_WRITE: exclusive; a new file: is created with its marker. Bad names, sizes, unreadable targets: -EINVAL and a
 * message that says what is wrong; -EACCES, -EROFS, -EBUSY, -ENOSPC as they come. Caller closes with dut_close().
 */
int dut_open(const char *name, enum dut_open_mode mode, const struct dut_options *opt,
	     struct dut **ret_dut, struct err *err) must_check;
void dut_close(struct dut *d); /* NULL is fine */

/* Namespaces that a purge erases besides the one that is named. */
#define REACH_MAX 32
struct purge_reach {
	unsigned n;
	char path[REACH_MAX]
		 [32]; /* "/dev/nvme0n2"; "nvme0 nsid 3" where it has no block device here */
};
/*
 * Asks the drive (identify commands only) what purge by @m of @d would erase besides: NVMe Format where FNA says that it reaches
 * all namespaces, Sanitize always. 0 with n 0 for all other methods and drives.
 */
int dut_purge_reach(const struct dut *d, enum purge_method m, struct purge_reach *ret,
		    struct err *err) must_check;

/*
 * Splits a DUT name without touching anything: kind, path or profile, and size/seed (0 when absent). Of a set the seed is the
 * first member's, and path is empty (dut_set.h splits it).
 */
struct dut_name {
	enum dut_kind kind;
	bool simulated; /* sim:, or a set of them */
	char fault
		[256]; /* SPEC of fault:SPEC:DUT (tests only, see fault.h); "" none. All else is DUT's */
	char path[512]; /* path, or sim profile */
	uint64_t size_bytes, seed;
	bool has_seed;
};
int dut_name_parse(const char *name, struct dut_name *ret, struct err *err) must_check;
/* Points to DUT in fault:SPEC:DUT, else to @name. */
const char *dut_name_inner(const char *name);

/*
 * file: targets that pts made carry a marker beside them (PATH.pts-scratch) naming the file's device and inode, so that a
 * file put in its place later is not taken for ours. True: marker there and matching.
 */
bool dut_file_is_ours(const char *path);

#endif
