/* SPDX-License-Identifier: MIT */
/* What a segment did. Filled by a DUT backend, read by the interpreter; plain data, times in ns. */
#ifndef WORKLOADS_RESULT_H
#define WORKLOADS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/hist.h"
#include "workloads/access.h"

#define RESULT_ERRNOS 8
#define RESULT_NOTE 160

struct tally { /* good IOs only: result == length, no error */
	uint64_t ios, bytes;
	const struct hist *service; /* submission to completion; NULL when ios == 0 */
	const struct hist *response; /* due time to completion; NULL unless rate_iops was set */
};

struct stream_tally {
	uint64_t ios, bytes;
	uint64_t max_ns;
	unsigned __int128 sum_ns;
	const struct hist *lat; /* may be coarse or NULL (then percentiles are n/a) */
};

struct second { /* one interval of the series, by completion time */
	uint32_t
		index; /* seconds (intervals) since the start of the segment; intervals without IO may be absent */
	uint64_t ios, bytes;
	uint64_t sum_ns, max_ns;
};

struct result;
struct member_result { /* what one drive of a set did */
	unsigned member; /* from 1 */
	const struct result *result;
};

struct result {
	uint64_t start_ns; /* on the DUT's clock (dut_ops.now) */
	uint64_t elapsed_ns;
	struct tally op[IO_OPS];
	struct stream_tally stream[ACCESS_STREAMS_MAX]; /* in the order of the access */
	const struct second *second;
	unsigned n_seconds;
	/* accounts: prepared == good + short + error, checked by the engine at each segment's end */
	uint64_t prepared, short_ios,
		errors; /* errors counts completions with a negative result; short_ios 0 <= res < length */
	struct {
		int err;
		uint64_t n;
	} errnos[RESULT_ERRNOS]; /* by errno, most frequent kept; err == 0 ends */
	double inflight_avg; /* time-weighted mean of IOs in flight, measured by counting, not from latencies */
	unsigned inflight_max;
	unsigned threads_seen; /* threads that completed at least one IO */
	double cpu_sys_pct, cpu_total_pct; /* of the whole host over all CPUs; < 0 unknown */
	double temperature_c; /* NAN unknown */
	double late_max_ns; /* rate: latest submission behind its due time */
	uint64_t clock_back; /* IOs whose latency would have been negative (clamped to 0) */
	bool partial; /* stopped before its bound, or with IOs that failed or were lost: evidence, never a result */
	char note
		[RESULT_NOTE]; /* "" or what the cell should be read with: "IO punted to kernel workers", ... */
	/* of a set: this is the sum, from the first submission of any to the last completion of all. NULL and 0: one drive */
	const struct member_result *member; /* those that came to a result, in their order */
	unsigned n_members;
	uint64_t first_done_ns; /* until the first of them was done; elapsed_ns is until the last */
};

#endif
