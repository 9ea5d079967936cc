/* SPDX-License-Identifier: MIT */
/* What [events] and [noise] of a profile let happen, and what health tells of it. */
#include "tests/unit/workloads_sim_rig.h"

#include <errno.h>

#include "pts/base/steady.h"

static struct health health;
static struct err why;

static const struct health *look(struct dut *d)
{
	why.msg[0] = '\0';
	health = (struct health){ .text = "not asked" };
	if (d->ops->health(d, &health, &why))
		snprintf(health.text, sizeof health.text, "it failed: %.100s", why.msg);
	return &health;
}

static double reads(struct dut *d, uint64_t time_ns)
{
	return run(d, mix(128 * 1024, IO_RND, 100), 32, 32, time_ns);
}

static double sum_s(const struct cell *c, unsigned from, unsigned to)
{
	double ios = 0;

	for (unsigned i = 0; i < c->r.n_seconds; i++)
		if (c->second[i].index >= from && c->second[i].index < to)
			ios += (double)c->second[i].ios;
	return ios / (to - from);
}

TEST(throttled_for_some_gigabytes)
{
	struct dut *d;
	double full = 6800e6 / 131072;

	CHECK(!open_ini(&d, QUIET "[events]\nthrottle_at_gb = 68\nthrottle_gb = 34\n"
				  "throttle_pct = 25\n"));
	CHECK_NEAR(reads(d, 9 * SEC), full, 1e-4);
	CHECK(!look(d)->throttled);
	/* a second at full speed, 34 GB at a quarter, 10 s at full speed */
	reads(d, 31 * SEC);
	CHECK_NEAR(sum_s(&cell, 0, 1), full, 1e-3);
	CHECK_NEAR(sum_s(&cell, 1, 21), full / 4, 1e-3);
	CHECK_NEAR(sum_s(&cell, 21, 31), full, 1e-3);
	CHECK(look(d)->throttled); /* it was, meanwhile */
	CHECK(!look(d)->throttled);
	CHECK_INT(purge(d), 0); /* and the same again */
	reads(d, 11 * SEC);
	CHECK(look(d)->throttled);
	CHECK(strstr(health.text, "throttled"));
	CHECK_NEAR(cell.art_ns, 1024e9 / cell.iops, 1e-3);
	done(d);
}

TEST(a_link_that_changes)
{
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "[events]\nlink_at_s = 100\nlink_s = 50\nlink_mb_s = 1700\n"
				  "link_to = 8.0 GT/s x2\n"));
	CHECK_STR(look(d)->link, "16.0 GT/s x4");
	CHECK_NEAR(reads(d, 60 * SEC) * 131072, 6800e6, 1e-4);
	CHECK_INT(idle(d, 30 * SEC), 0);
	CHECK_STR(look(d)->link, "16.0 GT/s x4");
	reads(d, 70 * SEC);
	CHECK_NEAR(sum_s(&cell, 0, 10) * 131072, 6800e6, 1e-3);
	CHECK_NEAR(sum_s(&cell, 10, 60) * 131072, 1700e6, 1e-3);
	CHECK_NEAR(sum_s(&cell, 60, 70) * 131072, 6800e6, 1e-3);
	CHECK_STR(look(d)->link, "16.0 GT/s x4");
	CHECK_INT(purge(d), 0);
	CHECK_INT(idle(d, 101 * SEC), 0);
	CHECK_STR(look(d)->link, "8.0 GT/s x2");
	CHECK(!health.throttled && !health.critical);
	done(d);
	CHECK(!open_sim("pm", 0, 3, &d));
	CHECK_STR(look(d)->link, "");
	done(d);
}

/* @rc: a step ended with @errors, the @of_all th since it was opened. */
static void check_failed(int rc, unsigned errors, unsigned of_all)
{
	CHECK_INT(rc, -EIO);
	CHECK_INT(cell.r.errors, errors);
	CHECK_INT(cell.r.errnos[0].err, EIO);
	CHECK_INT(cell.r.errnos[0].n, errors);
	CHECK_INT(cell.r.prepared, cell.r.op[0].ios + cell.r.op[1].ios + errors);
	CHECK(cell.r.partial);
	CHECK_INT(cell.sealed, of_all);
}

TEST(steps_that_fail_by_number)
{
	struct access a = mix(4096, IO_RND, 100);
	struct segment g[3] = { { .acc = &a, .threads = 1, .qd = 8, .stop.time_ns = MIN } };
	struct job j = { .seg = g, .n = 3, .sealed = keep, .arg = &cell };
	struct dut *d;

	g[1] = g[2] = g[0];
	CHECK(!open_ini(&d, QUIET "[events]\nerror_cell = 5\nerror_cells = 2\nerror_ios = 3\n"));
	j.range.bytes = d->info.capacity_bytes;
	CHECK_INT(d->ops->run(d, &j, &why), 0);
	/* the 4th step, the 5th fails after a second, the 6th of the job is not begun */
	DO(check_failed(d->ops->run(d, &j, &why), 3, 5));
	CHECK_INT(cell.r.elapsed_ns, SEC);
	CHECK(cell.r.op[IO_READ].ios > 10000);
	CHECK(strstr(why.msg, "3 IOs failed"));
	CHECK_INT(look(d)->media_errors, 3);
	g[0].stop.time_ns = SEC / 100; /* half of it, when it is shorter */
	DO(check_failed(run_seg(d, g, 0), 3, 6));
	CHECK_INT(cell.r.elapsed_ns, SEC / 200);
	CHECK_INT(run_seg(d, g, 0), 0); /* the 7th: well again */
	CHECK_INT(cell.r.errors, 0);
	CHECK_INT(look(d)->media_errors, 6);
	CHECK_INT(purge(d), 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(run_seg(d, g, 0), 0);
	CHECK_INT(run_seg(d, g, 0), -EIO);
	CHECK_INT(look(d)->media_errors, 9); /* they stay */
	done(d);
}

TEST(ios_that_fail_at_a_place)
{
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "[events]\nerror_at_gb = 27\n"));
	CHECK_INT(fill(d, 131072, 0, 20000000000), 0);
	DO(check_failed(fill(d, 131072, 0, 20000000000), 1, 2));
	CHECK_NEAR((double)cell.r.op[IO_WRITE].bytes, 7e9, 1e-4);
	CHECK_INT(fill(d, 131072, 0, 20000000000), 0); /* once */
	done(d);
}

TEST(a_drive_that_goes)
{
	struct purge_report p;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "[events]\ngone_at_gb = 27\n"));
	CHECK_INT(fill(d, 131072, 0, 20000000000), 0);
	CHECK_INT(fill(d, 131072, 0, 20000000000), -ENODEV);
	CHECK_INT(cell.sealed, 2);
	CHECK(cell.r.partial);
	CHECK_NEAR((double)cell.r.op[IO_WRITE].bytes, 7e9, 1e-4);
	CHECK_INT(fill(d, 131072, 0, 20000000000), -ENODEV);
	CHECK_INT(cell.sealed, 2);
	CHECK_INT(d->ops->health(d, &health, &why), -ENODEV);
	CHECK_INT(d->ops->purge(d, PURGE_AUTO, &p, &why), -ENODEV);
	CHECK(strstr(why.msg, "gone"));
	done(d);
}

TEST(a_speed_that_swings_never_settles)
{
	double y[25], least = 1e9, most = 0;
	struct steady_check s;
	struct dut *d;

	CHECK(!open_ini(&d, QUIET "swing_pct = 30\nswing_s = 18000\n"));
	for (unsigned r = 0; r < 25; r++) {
		y[r] = reads(d, HOUR);
		least = fmin(least, y[r]);
		most = fmax(most, y[r]);
		if (r < 4)
			continue;
		steady_check(y + r - 4, r - 3, &s);
		CHECK(!s.steady);
	}
	CHECK_NEAR(most, 6800e6 / 131072 * 1.28, 0.02);
	CHECK_NEAR(least, 6800e6 / 131072 * 0.72, 0.02);
	done(d);
}

TEST(wear_is_told)
{
	uint64_t host, nand;
	double wa;
	struct dut *d;

	CHECK(!open_ini(&d, "[drive]\nlike = ent-nvme\nrated_tbw_tb = 10\n"));
	CHECK_INT(fill(d, 131072, 0, ENT_BYTES), 0);
	CHECK_NEAR((double)look(d)->host_written_bytes, ENT_BYTES, 1e-6);
	CHECK_INT(health.nand_written_bytes, health.host_written_bytes); /* in order */
	CHECK_NEAR(health.percentage_used, 100 * ENT_BYTES / 10e12, 1e-6);
	for (unsigned i = 0; i < 12; i++)
		run(d, mix(4096, IO_RND, 0), 4, 32, HOUR);
	host = look(d)->host_written_bytes;
	nand = health.nand_written_bytes;
	run(d, mix(4096, IO_RND, 0), 4, 32, HOUR);
	wa = (double)(look(d)->nand_written_bytes - nand) /
	     (double)(health.host_written_bytes - host);
	CHECK_NEAR((double)(health.host_written_bytes - host), (double)cell.r.op[IO_WRITE].bytes,
		   1e-6);
	CHECK_NEAR(wa, 2800 / cell.mb_s, 0.02); /* what the flash writes is its speed */
	CHECK(wa > 4 && wa < 7);
	host = health.host_written_bytes;
	CHECK_INT(purge(d), 0); /* wear is no data */
	CHECK_INT(look(d)->host_written_bytes, host);
	done(d);
}

TEST_MAIN
