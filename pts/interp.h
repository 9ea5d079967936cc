/* SPDX-License-Identifier: MIT */
/* Runs a compiled plan against a DUT and commits every finished step. The only caller of dut_ops and of store_cell(). */
#ifndef PTS_INTERP_H
#define PTS_INTERP_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/plan.h"
#include "schema/store.h"
#include "workloads/dut.h"

/* Where a run is, for progress lines and `pts status`; valid during the call. */
struct live {
	const char *test;
	unsigned test_index, tests; /* from 1 */
	const char *phase, *cell; /* "round", "RUN rnd rw 0/100 bs 4k ..." */
	int round; /* 0 outside a loop */
	unsigned rounds_max; /* 0: no limit */
	unsigned step, steps; /* of the plan, from 1 */
	uint64_t cells; /* committed in this test */
	double iops, bytes_per_s; /* of the running cell so far, else of the last one */
	uint64_t cell_elapsed_ns, cell_ns; /* cell_ns 0: bounded by bytes */
	uint64_t cell_bytes, cell_bytes_total; /* of a fill */
	uint64_t left_min_ns, left_max_ns; /* of this test, on the DUT's clock */
	const char *steady; /* "rounds 3-7: range 12.1 % of 20, slope 4.0 % of 10", or "" */
};

/* One finished cell of an attempt that is continued inside (pts resume --continue-inside), in the order of the run. */
struct recalled_cell {
	unsigned section, step, segment;
	int round, round_try;
	uint64_t ios, read_bytes, write_bytes, elapsed_ns;
	double art_ns;
};

struct recall {
	unsigned attempt;
	const struct recalled_cell *cell;
	unsigned n_cells;
	unsigned sections, sections_ended; /* rows that exist */
	unsigned rounds_closed; /* in all sections */
	unsigned points;
	const uint64_t *cursor; /* SEQ positions after the last cell */
	unsigned n_cursors;
	const uint64_t
		*member_written; /* of a set: host bytes to each member since its last purge */
	unsigned n_members;
};

/* A critical warning of the drive stopped the test by policy: nothing failed, the run can be resumed. */
#define HEALTH_STOP (-EUCLEAN)

/* What the caller sees to about the drive. */
struct run_guard {
	/* Before each purge and at the end of a test. -ENODEV: it is not the drive any more that it was. */
	int (*same)(void *arg, struct err *err);
	/* Before each purge: whether what it erases besides the drive may be erased still; NULL does not ask. */
	int (*reach_free)(void *arg, struct err *err);
	/* Purges in place of the drive's own methods (PURGE_HOOK). @ret_dut: opened anew; NULL when it could not be. */
	int (*hook)(void *arg, struct dut **ret_dut, struct purge_report *ret, struct err *err);
	/* A purge went well: what was recorded for after a crash may go. */
	int (*purged)(void *arg, struct err *err);
	const struct purge_reach *reach; /* what purges erase besides */
	void *arg;
};

struct run_ctx {
	struct dut *dut;
	struct store *store;
	int64_t run;
	enum purge_method method;
	bool allow_unpurged;
	bool critical_goes_on; /* a critical warning of the drive is told, and no more */
	const char *
		cache_was; /* "on" "off": write cache before an attempt that could not put it back; or NULL */
	char *link; /* of 32: the drive's link as first seen in this run, "" not yet; NULL: each test for itself */
	bool one_of_many; /* other processes write their runs into the same database now */
	uint64_t seed;
	const volatile int *stop; /* set by a signal */
	void (*live)(void *arg,
		     const struct live *l); /* may be NULL; about once a second and at each step */
	void (*warn)(void *arg, const char *test,
		     const char *text); /* may be NULL: the drive throttles, its link changed ... */
	void *arg; /* of both */
	const struct run_guard *guard; /* may be NULL */
	unsigned test_index, tests;
	const struct recall *recall; /* NULL: a new attempt */
	bool hung; /* set on return: workers did not come back, the process must leave without ceremony */
	bool storage_failed; /* set on return: an error is that of the database, the test itself did not fail */
};

enum test_verdict { VERDICT_DONE, VERDICT_STEADY, VERDICT_NOT_ACHIEVED };

/*
 * Runs one test. 0 and a verdict; -EINTR stopped (resumable; the running cell is stored as partial); HEALTH_STOP; other errors: the
 * device, the definition (a point that was never picked), or the store. Rows of every committed step are in the database
 * whatever happens, and the drive's write cache is put back.
 */
int interp_test(struct run_ctx *ctx, const struct plan *p, enum test_verdict *ret_verdict,
		struct err *err) must_check;

#endif
