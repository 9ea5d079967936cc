/* SPDX-License-Identifier: MIT */
/*
 * The writer of the evidence: one SQLite file, any number of runs. Rows are only inserted. Every row of a run goes into
 * its hash chain (schema/chain.h). Strings are borrowed for the call; NULL or "" is stored as NULL. Numbers that are
 * unknown: NAN for doubles, -1 for signed integers, are stored as NULL.
 *
 * Each store_* call below that says [tx] is one durable transaction of its own (WAL, synchronous=FULL) when it returns 0.
 * Errors: -ENOSPC disk full, -EBUSY locked beyond 30 s, -EIO, -EINVAL not a pts database or from a newer pts; the message
 * names the file. After an error the database holds what had returned 0 before.
 */
#ifndef SCHEMA_STORE_H
#define SCHEMA_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/base/hist.h"
#include "pts/base/steady.h"

struct store;

/* Opens, creates or migrates. Creating sets application_id, WAL, foreign keys. */
int store_open(const char *path, struct store **ret_store, struct err *err) must_check;
/* Existing file only, never created, never migrated: -EINVAL with a hint when it needs `pts db migrate`. */
int store_open_existing(const char *path, struct store **ret_store, struct err *err) must_check;
void store_close(struct store *s);

struct key_value {
	const char *key, *value;
};

struct run_row {
	const char *uuid, *campaign; /* campaign NULL for a single DUT */
	const char *dut, *dut_path, *vendor, *model, *serial, *wwid, *firmware, *interface;
	uint64_t capacity_bytes;
	uint32_t lba_bytes;
	const char *profile; /* "enterprise", "client" */
	bool quick, simulated;
	const char *spec; /* "SNIA SSS PTS 2.0.2" */
	int definition_set;
	const char *software; /* "pts 0.1.0 (git id)" */
	uint64_t seed;
	const char *note;
	const struct key_value
		*host; /* facts of the machine, ends with key NULL; equal sets share one host_id */
	const struct key_value *info; /* --info, ends with key NULL */
	const struct key_value *
		args; /* what resume needs: dut, method, destroy words, options; in order, keys may repeat */
};
/* [tx] */
int store_run_begin(struct store *s, const struct run_row *row, int64_t *ret_run,
		    struct err *err) must_check;

/* One drive of a set:; the run's own row describes the set. */
struct member_row {
	int64_t run;
	unsigned member; /* from 1 */
	const char *dut, *dut_path, *vendor, *model, *serial, *wwid, *firmware, *interface;
	uint64_t capacity_bytes;
	uint32_t lba_bytes;
	const char *identity; /* of one without a serial */
};
/* [tx] */
int store_member(struct store *s, const struct member_row *row, struct err *err) must_check;

struct test_row {
	int64_t run;
	unsigned ordinal; /* place in the run, from 1 */
	const char *test, *title, *clause;
	const char
		*definition; /* text as pts show prints it; its SHA-256 becomes definition_hash */
	const char *plan; /* text as pts plan prints it; its SHA-256 is kept too */
	const char *params; /* JSON object */
	bool formal; /* part of the definition set, unchanged */
};
/* [tx] all tests of a run are registered when it begins */
int store_test(struct store *s, const struct test_row *row, struct err *err) must_check;

/* [tx] A new attempt (1, 2, ...) of a test; an earlier one that did not end is void from now on. */
int store_attempt(struct store *s, int64_t run, const char *test, unsigned *ret_attempt,
		  struct err *err) must_check;

/* Where a row belongs. section from 1. */
struct where {
	int64_t run;
	const char *test;
	unsigned attempt, section;
};

struct section_row {
	struct where at;
	const char *label, *purge_method; /* method NULL: no purge in this section */
	int purge_verified; /* 0, 1, -1 unknown */
};
/* [tx] when a section begins; after its purge, if it has one */
int store_section(struct store *s, const struct section_row *row, struct err *err) must_check;

struct section_end_row {
	struct where at;
	int steady; /* 1, 0, -1: the section has no loop with a steady rule */
	int window_first, window_last; /* rounds; -1 none */
	int rounds;
	const char *ended_by; /* "steady", "rounds", "written", "time", "" */
};
int store_section_end(struct store *s, const struct section_end_row *row,
		      struct err *err) must_check;

struct stream_row {
	const char *op, *access; /* "R" "W"; "RND" "SEQ" */
	uint32_t block_bytes;
	uint64_t ios;
	double iops, art_ns;
	int64_t mrt_ns, p99999_ns; /* -1 n/a */
};

struct second_row {
	uint32_t second;
	uint64_t ios, bytes;
	double art_ns;
	uint64_t mrt_ns;
};

struct cell_hist {
	const char *op, *kind; /* "R" "W"; "service" "response" */
	const struct hist *hist; /* empty ones are not stored */
};

struct cell_row {
	struct where at;
	const char *phase;
	int round, round_try; /* -1 outside a loop */
	unsigned step; /* index of the plan step */
	unsigned segment; /* of the step's job (`every`), from 0 */
	const char *label;
	int member; /* -1: not a set */
	const char *access; /* "rnd-8k-65-35", "RND 4K 65/35" */
	int threads, qd, oio;
	double scale; /* NAN unless replay */
	double read_pct; /* as asked; NAN for idle */
	int64_t block_bytes; /* -1 when sizes are mixed */
	const char *workload; /* JSON array of the streams asked for */
	uint64_t start_ns, elapsed_ns; /* DUT clock, from the start of the attempt */
	uint64_t read_ios, write_ios, read_bytes, write_bytes;
	uint64_t prepared, short_ios, errors;
	const char *errnos; /* "EIO:3 ENODATA:1" */
	double art_ns;
	int64_t mrt_ns, min_ns, p50_ns, p99_ns, p999_ns, p9999_ns,
		p99999_ns; /* all IOs of the cell; -1 n/a */
	double sum_ns; /* exact sum of latencies, as a double */
	double rate_iops; /* asked; NAN closed loop */
	double inflight_avg;
	int inflight_max, threads_seen;
	double little_pct; /* (iops * art) / inflight_avg - 1, in percent: self-check; NAN when not meaningful */
	double cpu_sys_pct, cpu_total_pct, temperature_c;
	uint64_t host_bytes_written; /* since the last purge, this cell included (TGBW) */
	bool partial;
	const char *note;
	const struct stream_row *stream;
	unsigned n_streams;
	const struct second_row *second;
	unsigned n_seconds;
	const struct cell_hist *hist;
	unsigned n_hist;
	const char *cursors; /* JSON array of SEQ positions after the cell; private */
	/* the sum row of a set: rows of members that follow it, spans until the first and the last was done; else 0 */
	unsigned members;
	uint64_t span_first_ns, span_last_ns;
};
/* [tx] one measured step, sealed */
int store_cell(struct store *s, const struct cell_row *row, int64_t *ret_cell,
	       struct err *err) must_check;
/* Makes cells of a round void (an error in the round, a stop). [tx] */
int store_void_round(struct store *s, const struct where *at, int round, int round_try,
		     const char *reason, struct err *err) must_check;

/* [tx] Closes a round: its steady-state check, NULL check while the window is not full. variable: "iops of rw 0/100 bs 4k". */
struct round_row {
	struct where at;
	int round, round_try;
	const char *variable; /* one row for each tracked variable */
	double value; /* of this round */
	const struct steady_check *check; /* NULL until five rounds */
};
int store_round(struct store *s, const struct round_row *row, unsigned n,
		struct err *err) must_check;

struct point_row {
	struct where at;
	const char *point;
	int threads, qd;
	double iops, art_ns;
	int64_t p99999_ns;
	const char *reason; /* in words */
};
int store_point(struct store *s, const struct point_row *row, struct err *err) must_check;

/* Cells of a plan step: of these rounds (round_first -1: of all), without void and partial ones. */
struct hist_of {
	struct where at;
	unsigned step;
	int round_first, round_last;
};
/* Reads back: adds the latencies of all their IOs to @into. Response times where a rate was asked for. */
int store_step_hist(struct store *s, const struct hist_of *of, struct hist *into,
		    struct err *err) must_check;

/* What RWSW tests and exact replay work from; @devices a JSON array of names. lost, step_ns: -1 unknown. */
struct capture_row {
	int64_t run;
	const char *name, *format, *sha256; /* of the capture file: file_sha256() */
	uint64_t records, reads, writes, bytes_read, bytes_written, duration_ns;
	const char *devices;
	int64_t lost, step_ns;
};
/* [tx] */
int store_capture(struct store *s, const struct capture_row *row, struct err *err) must_check;

/* How it was read; see 0004_capture.sql. coverage_pct, qd_avg, qd_max: NAN unknown. */
struct capture_account_row {
	int64_t run; /* once a run */
	const char *source, *event, *level, *began_utc, *digest, *seq_rule;
	uint64_t ios;
	unsigned n_streams, n_dominant, n_steps;
	double coverage_pct, qd_avg, qd_max;
	const char *streams; /* JSON array */
};
/* [tx] */
int store_capture_account(struct store *s, const struct capture_account_row *row,
			  struct err *err) must_check;

struct capture_step_row {
	int64_t run;
	unsigned step; /* once each in a run */
	uint64_t start_ns, ios, bytes;
	double qd_avg; /* NAN, -1, NAN: no completions in the capture */
	int64_t qd_max;
	double art_ns;
	const char *streams; /* JSON array */
};
/* [tx] all @n together */
int store_capture_step(struct store *s, const struct capture_step_row *row, unsigned n,
		       struct err *err) must_check;

/* How true an exact replay was; see 0003_replay.sql. Times -1, depths NAN and -1 where unknown. */
struct fidelity_row {
	int64_t run;
	const char *test;
	unsigned attempt, loops;
	const char *speed, *fit, *order;
	const char *devices, *why_dropped; /* JSON objects */
	uint64_t records, issued, dropped, reordered, moved, rounded;
	int64_t late_p50_ns, late_p99_ns, late_p999_ns, late_max_ns;
	double span_error_pct;
	uint64_t span_asked_ns, span_ns, stalls, stall_ns, starved, conflicts;
	double depth_asked_avg, depth_avg;
	int64_t depth_asked_max, depth_max;
	uint64_t short_ios, errors, hung;
	bool valid;
	const char *why_invalid;
};
/* [tx] */
int store_fidelity(struct store *s, const struct fidelity_row *row, struct err *err) must_check;

/* SHA-256 of a file's content in hex. */
int file_sha256(const char *path, char ret[65], struct err *err) must_check;
/* The same of @n bytes. */
void bytes_sha256(const void *data, size_t n, char ret[65]);

struct test_end_row {
	int64_t run;
	const char *test;
	unsigned attempt;
	int steady; /* 1, 0, -1 no steady rule */
	const char *verdict; /* "steady", "not achieved", "done", "failed" */
	const char *write_cache; /* "off", "on", "none" (no volatile cache), "unknown" */
	const char *detail;
};
int store_test_end(struct store *s, const struct test_end_row *row, struct err *err) must_check;

/* @clause: id or "-"; repeated (clause, text) pairs of a run are kept once. */
int store_deviation(struct store *s, int64_t run, const char *clause, const char *text,
		    struct err *err) must_check;
/* @kind: "purge", "write-cache", "cell-na", "resume", "interrupted", "error", "warning", "note" ...; @detail a JSON object or NULL. */
int store_event(struct store *s, int64_t run, const char *kind, const char *detail,
		struct err *err) must_check;

/*
 * [tx] The run stops here: state "done", "failed", "interrupted", "hung". "done" and "failed" seal the chain (an event
 * "seal" with row count and head). An interrupted run may go on: rows after it continue the chain. So may a failed one,
 * behind its seal: the first row is an event "resume".
 */
int store_run_end(struct store *s, int64_t run, const char *state, struct err *err) must_check;

/* Several calls as one transaction: begin, calls, commit; abort undoes them. The [tx] calls join it. */
int store_begin(struct store *s, struct err *err) must_check;
int store_commit(struct store *s, struct err *err) must_check;
void store_abort(struct store *s);
/* A call has failed since it was opened: what ends a test then is the storage (full, locked, gone), not the drive. */
bool store_failed(const struct store *s);

#endif
