/* SPDX-License-Identifier: MIT */
/*
 * Private to dut_sim*.c: configuration, distributions, drive model, and how a segment becomes a
 * result.
 */
#ifndef WORKLOADS_DUT_SIM_MODEL_H
#define WORKLOADS_DUT_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/err.h"
#include "pts/base/hist.h"
#include "workloads/access.h"
#include "workloads/result.h"

/* ---- configuration (dut_sim_conf.c): the ini, one field a key; units as in the key's name ---- */

/*
 * A distribution is given by its values at these shares of the IOs: least, 50 90 99 99.9 99.99
 * 99.999 %, greatest.
 */
enum sim_knot {
	KNOT_MIN,
	KNOT_P50,
	KNOT_P90,
	KNOT_P99,
	KNOT_P999,
	KNOT_P9999,
	KNOT_P99999,
	KNOT_MAX,
	SIM_KNOTS
};

struct sim_dir { /* one direction: [read] or [write] */
	double iops, mb_s, xfer_mb_s;
	double us[SIM_KNOTS]; /* [read], [write]: at T1Q1, 4 KiB, no other load */
	double busy_x[SIM_KNOTS]; /* [read.busy], [write.busy]: times this under full write load */
};

struct sim_conf {
	char profile[512];
	char model[64], interface[64], link[64];
	uint64_t capacity_bytes, lba_bytes, map_unit_bytes;
	double rated_tbw_tb;
	struct sim_dir dir[IO_OPS];
	double seq_x, rmw_us; /* [read] [write] */
	double knee, full_x, queue_x[SIM_KNOTS]; /* [queue] */
	double interference_pct; /* [mix] */
	double op_pct, nand_mb_s, wa_steady, cover_x, cliff_fills, transition_fills, clean_fills,
		pool_pct, idle_mb_s; /* [gc] */
	uint64_t erase_unit_bytes;
	double slc_static_pct, slc_dynamic_pct, slc_mb_s, slc_drain_mb_s,
		slc_drain_load_pct; /* [slc] */
	bool cache_volatile; /* [cache] */
	double cache_off_x;
	double purge_s; /* [purge] */
	bool nvme_format;
	double cpus, cpu_us, cpu_idle_pct; /* [host] */
	double idle_c, full_c, rise_s, critical_c, throttle_c, throttle_x; /* [thermal] */
	double cell_pct, second_pct, drift_pct_per_hour, swing_pct, swing_s; /* [noise] */
	struct sim_events { /* [events], all counted from the purge; 0 never */
		double throttle_at_gb, throttle_gb, throttle_pct;
		double link_at_s, link_s, link_mb_s;
		char link_to[64];
		double error_cell, error_cells, error_at_gb, error_ios;
		double gone_at_gb;
	} ev;
};

int sim_conf_load(const char *profile, struct sim_conf *ret, struct err *err) must_check;
/* Every parameter as it holds, wherever it was given: a line "gc.wa_steady=4.2" each. */
void sim_conf_text(const struct sim_conf *c, struct buf *out);

/* ---- distributions (dut_sim_dist.c) ---- */

#define SIM_GRID 449 /* points of a quantile function, the knots among them */

struct sim_grid {
	double above[SIM_GRID]; /* share of the IOs above it */
	double queue[SIM_GRID]; /* waiting time there, in units of its mean */
	double knot_z[SIM_KNOTS];
	unsigned knot_at[SIM_KNOTS];
};

#define SIM_BUSY_STEPS 64
struct sim_shape { /* of one direction */
	double ln_s[SIM_KNOTS], ln_busy[SIM_KNOTS];
	double mean_s[SIM_BUSY_STEPS + 1]; /* mean latency at busy = i / SIM_BUSY_STEPS */
};

void sim_grid_init(struct sim_grid *g, const struct sim_conf *conf);
void sim_shape_init(struct sim_shape *s, const struct sim_grid *g, const struct sim_dir *dir);
double sim_shape_mean(const struct sim_shape *s, double busy);

struct sim_curve { /* a quantile function over the grid, seconds */
	double x[SIM_GRID], mean;
};
void sim_shape_curve(const struct sim_shape *s, const struct sim_grid *g, double busy,
		     struct sim_curve *ret);

/*
 * Latency of an IO: slow * (factor * base + shift + queue * waiting) + a delay uniform in [late,
 * late + spread]. Seconds.
 */
struct sim_latency {
	const struct sim_curve *base;
	double factor, shift_s, queue_s, slow, late_s, spread_s;
	double last; /* 0..1: where the slowest of n IOs lies: at the 1 - last / n quantile */
};
double sim_latency_mean(const struct sim_latency *l);

/*
 * A histogram under construction: only its buckets lo..hi are in use; target is the sum the
 * latencies should have.
 */
struct sim_hist {
	struct hist *h;
	unsigned lo, hi;
	double target_ns;
};

void sim_hist_reset(struct sim_hist *h); /* allocates at first */
/*
 * Counts @n IOs distributed as @l: the IO of rank r gets the r/n quantile, the slowest the one that
 * l->last says.
 */
void sim_hist_fill(struct sim_hist *h, const struct sim_grid *g, const struct sim_latency *l,
		   uint64_t n);
/* Settles the exact sum: as near to the target as the buckets, min and max allow. */
void sim_hist_seal(struct sim_hist *h);
void sim_hist_merge(struct sim_hist *into, const struct sim_hist *h);

/* ---- the drive (dut_sim_model.c) ---- */

struct sim_state { /* everything a purge resets */
	double valid; /* bytes of LBAs that hold data */
	double free; /* bytes that can be written without garbage collection */
	double frag; /* 0 laid out by sequential writes .. 1 by random ones */
	double gc; /* 0 no garbage collected yet .. 1 as much as each write causes */
	double slc; /* bytes in the SLC cache */
	bool slc_full; /* full and not drained enough since to be used again */
	double written, moved; /* host bytes: writes; reads and writes */
	double age_s; /* since the purge */
	double temperature_c;
	bool throttled; /* by temperature */
	bool failed; /* error_at_gb had its IOs fail */
	uint64_t cells; /* segments run */
};

struct sim_model {
	struct sim_conf conf;
	double capacity, physical; /* bytes */
	uint64_t seed;
	bool cache_on;
	struct sim_grid grid;
	struct sim_shape shape[IO_OPS];
	struct sim_state st;
	double wa_at[2]; /* the last answer: utilisation -> write amplification */
	/* since it was opened, whatever was purged */
	double host_written, nand_written, media_errors;
	bool gone;
	bool throttle_seen; /* since health was asked */
};

struct sim_mix { /* an access as the model sees it; shares are of all IOs */
	unsigned n;
	struct sim_stream {
		double share, bytes;
		double nand_bytes; /* written: rounded up to mapping units */
		double extra_s; /* of drive time: the read of a read-modify-write */
		double factor, shift_s; /* base latency */
		uint8_t op;
	} s[ACCESS_STREAMS_MAX];
	double share[IO_OPS];
	double bytes, write_bytes; /* mean per IO */
	double rnd; /* share of the written bytes that fragment the drive */
	double range; /* bytes that the writes may touch */
	unsigned n_zones;
	double zone_w[ACCESS_ZONES_MAX],
		zone_s[ACCESS_ZONES_MAX]; /* share of writes, of the range */
	double zone_op_sum;
};

struct sim_rate { /* how the drive runs, while its state stays as it is */
	double max_iops; /* at this depth */
	double iops; /* done: max_iops, or less when fewer are due */
	double util; /* of the drive's time */
	double busy; /* by writes: place between the quiet and the busy distributions */
	double slow; /* factor on latencies: noise, drift, throttling */
	double mean_s; /* latency, all IOs */
	double queue_s[ACCESS_STREAMS_MAX]; /* waiting of each stream */
	double wait_s; /* rate: mean wait for a free slot before submission */
	double nand_x; /* flash written / host writes */
};

void sim_model_init(struct sim_model *m); /* conf, seed, capacity set */
void sim_model_purge(struct sim_model *m);
void sim_mix_init(struct sim_mix *x, const struct sim_model *m, const struct access *a,
		  const struct active_range *r);
/* Factor on the speed now: noise, drift, throttling. */
double sim_speed(const struct sim_model *m, double noise);
/* Write amplification of uniform random writes at utilisation @rho (valid / physical). */
double sim_wa_uniform(double rho);

struct sim_load {
	double oio; /* IOs outstanding */
	double due_iops; /* rate: IOs due; 0 closed loop. Above max_iops when there is a backlog */
	double noise; /* factor on the speed */
};
void sim_rate(struct sim_model *m, const struct sim_mix *x, const struct sim_load *load,
	      struct sim_rate *ret);
/* Seconds until the model has to be asked again. */
double sim_horizon(const struct sim_model *m, const struct sim_mix *x, const struct sim_rate *r);
void sim_advance(struct sim_model *m, const struct sim_mix *x, const struct sim_rate *r,
		 double dt_s);
void sim_idle(struct sim_model *m, double dt_s);
/* Factor on speed of segment @cell, series row @row: noise of [noise], mean 1. */
double sim_noise(const struct sim_model *m, uint64_t row);
/*
 * Where the slowest IO of part @part of this segment lies (struct sim_latency): 0.5 without noise.
 */
double sim_luck(const struct sim_model *m, unsigned part);

/* ---- what happens to it (dut_sim_event.c) ---- */

bool sim_throttled(const struct sim_model *m); /* by temperature or [events] */
/* Factor on the speed by throttling. */
double sim_throttle_x(const struct sim_model *m);
const char *sim_link(const struct sim_model *m); /* as it is now; "" unknown */
/* Bytes a second that the link as it is now lets through. INFINITY: it is no limit. */
double sim_link_bytes_s(const struct sim_model *m);
/* Seconds until something happens to a drive that moves @bytes_s. INFINITY: nothing does. */
double sim_event_in(const struct sim_model *m, double bytes_s);
/* The segment to be run next is one whose IOs fail by its number. */
bool sim_fails_by_number(const struct sim_model *m);
/* IOs fail now by what was moved. */
bool sim_fails_by_bytes(const struct sim_model *m);
/* The drive has gone, or goes now. */
bool sim_gone(struct sim_model *m);

/* ---- a segment (dut_sim_cell.c) ---- */

struct sim_cell;
struct sim_cell *sim_cell_new(void);
void sim_cell_free(struct sim_cell *c);
/*
 * Runs a segment of the job and fills @ret (which points into @c). 0; -EINTR when job->stop, -EIO
 * when IOs that failed, -ENODEV when the loss of the drive cut it short.
 */
int sim_cell_run(struct sim_cell *c, struct sim_model *m, const struct job *job,
		 const struct segment *seg, struct result *ret);

#endif
