/* SPDX-License-Identifier: MIT */
/*
 * Is this host fit for a formal run, and what is to be changed: one row a check, each with the exact command. Reads only.
 * The checks are a plain function of /sys and /proc (below a prefix, for tests) and of what was measured beforehand.
 */
#ifndef PTS_DOCTOR_H
#define PTS_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "workloads/dut.h"

enum { DOCTOR_CHECKS_MAX = 48 };

/*
 * warn: it may cost rate or add noise. bad: something else than the drive is measured, or the run fails. Either makes a formal
 * run doubtful. ok may carry advice too, for those who want the last percent.
 */
enum doctor_verdict { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD, DOCTOR_UNKNOWN };
const char *doctor_verdict_name(enum doctor_verdict v);

struct doctor_check {
	const char *check; /* stable word: "governor" */
	enum doctor_verdict verdict;
	const char *found;
	const char *advice; /* what to change; NULL: nothing */
};

struct doctor {
	struct doctor_check check[DOCTOR_CHECKS_MAX];
	unsigned n;
	bool fit; /* no check is warn or bad */
};

/* Starting an IO without blocking: a target that cannot has all its IO done by kernel workers. */
enum doctor_nowait { NOWAIT_NOT_TRIED, NOWAIT_CAN, NOWAIT_CANNOT };

/* What no file below /sys or /proc tells. */
struct doctor_live {
	char kernel[72]; /* release: "6.1.0-18-amd64" */
	double gettime_ns, rdtsc_ns; /* cost of one call; NAN unknown */
	uint64_t memlock_bytes, open_files; /* limits; UINT64_MAX = none */
	char ring
		[256]; /* what io_uring can do here, as recorded with cells; "" when it cannot be used */
	char ring_error[256];
};
void doctor_measure(struct doctor_live *ret);

/* The target, already opened and closed again for its facts. */
struct doctor_target {
	const char *dut; /* as given */
	const struct dut_info *info; /* NULL: it may not be opened */
	const char *path; /* of device or file; "" of a simulated drive */
	const struct health *health; /* NULL unknown */
	enum doctor_nowait nowait;
};
/* Reads one block of the target without waiting. Opens it for reading; what cannot be opened is not tried. */
enum doctor_nowait doctor_nowait_probe(const struct dut_info *info);

struct doctor_conf {
	const char *sysroot; /* "" */
	const char *db; /* the database of a run */
	const struct doctor_live *live;
	const struct doctor_target *target; /* NULL: the host alone */
};

/* Texts live in the arena. */
void doctor_examine(struct arena *a, const struct doctor_conf *conf, struct doctor *ret);

#endif
