/* SPDX-License-Identifier: MIT */
/* Commands: one table row and one cmd_NAME() in cmd_NAME.c each. Options are parsed once, by main.c, from one table. */
#ifndef PTS_CMD_H
#define PTS_CMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "pts/base/json.h"

enum exit_code { EXIT_GOOD, EXIT_BAD, EXIT_USAGE, EXIT_DEVICE, EXIT_STOPPED };

#define OPTS_LIST_MAX 1024

struct opt_list {
	const char *v[OPTS_LIST_MAX];
	unsigned n;
};

struct opts {
	const char *command;
	struct opt_list arg; /* words that are not options */
	const char *db; /* --db, else $PTS_DB, else "pts.db" */
	struct opt_list dut, destroy, set;
	struct opt_list def; /* resume: files of definitions that the run was begun with */
	const char *profile; /* NULL: enterprise */
	const char *method, *engine, *info, *capture, *scale, *note, *output, *progress,
		*dump_latencies;
	const char *purge_hook; /* a program that purges in place of a method */
	const char *member; /* of a campaign: the target this process works on; NULL otherwise */
	const char *seed; /* --seed N */
	const char *head; /* audit: what the chain must contain */
	const char *claims, *prices; /* report, compare: files */
	const char *baseline; /* compare: a RUN */
	bool allow_tampered;
	/* captures: import, trace */
	const char *format, *map, *time_unit, *name, *assume_rt, *lba; /* import */
	const char *seq_rule, *seq_window, *step, *top, *cover; /* trace */
	const char *from, *to, *device; /* trace cut */
	const char *for_time, *buffer, *via; /* capture */
	struct opt_list device_map; /* trace export, replay: DEVICE=... */
	const char *speed, *fit, *loops, *order, *with; /* replay */
	bool dry;
	bool skip_bad, coalesce;
	const char *on_critical; /* "stop" "go-on"; NULL: stop */
	bool all_namespaces; /* a purge may erase the other namespaces of its drive */
	bool recover; /* purge: undoes a half-done ATA erase, and does nothing else */
	bool quick, polled, allow_unpurged, continue_inside, force_signature, json, csv, watch,
		quiet, verbose;
};

/* Each returns an exit code, having printed its own error with cmd_fail(). */
static inline bool opts_passthrough(const struct opts *o)
{
	return o->engine && !strcmp(o->engine, "passthrough");
}

int cmd_devices(const struct opts *o);
int cmd_doctor(const struct opts *o);
int cmd_list(const struct opts *o);
int cmd_show(const struct opts *o);
int cmd_plan(const struct opts *o);
int cmd_run(const struct opts *o);
int cmd_resume(const struct opts *o);
int cmd_purge(const struct opts *o);
int cmd_selftest(const struct opts *o);
int cmd_status(const struct opts *o);
int cmd_steady(const struct opts *o);
int cmd_report(const struct opts *o);
int cmd_compare(const struct opts *o);
int cmd_audit(const struct opts *o);
int cmd_export(const struct opts *o);
int cmd_capture(const struct opts *o);
int cmd_import(const struct opts *o);
int cmd_trace(const struct opts *o);
int cmd_replay(const struct opts *o);
int cmd_db(const struct opts *o);
int cmd_help(const struct opts *o);
int cmd_completion(const struct opts *o);
int cmd_version(const struct opts *o);

/* "pts: COMMAND: message" on stderr; returns the exit code given. */
int cmd_fail(const struct opts *o, int exit_code, const struct err *err);
/* The same for a mistake in usage, with one line of hint: exit 2. */
int cmd_usage(const struct opts *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Exit code for an error of the library: -EINVAL, -ENOENT, -EPERM ... of input are 2, devices and system 3, -EINTR 4. */
int exit_of(int rc);
/* Writes a finished text to stdout; a write error (closed pipe, full disk) is exit 3 with a message. */
int cmd_out(const struct opts *o, const struct buf *text, int exit_code);
/* "pts 0.1.0 git abcdef": recorded with runs. */
const char *pts_software(void);

#endif
