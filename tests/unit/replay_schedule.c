/* SPDX-License-Identifier: MIT */
/* Spec 17.1, 17.2: from the depth of a captured step to outstanding IOs, threads and the depth of each. */
#include "replay/schedule.h"
#include "tests/test.h"

TEST(depth_times_scale)
{
	CHECK_INT(replay_oio(0.2, 1), 1);
	CHECK_INT(replay_oio(0.2, 32), 32);
	CHECK_INT(replay_oio(14, 32), 448);
	CHECK_INT(replay_oio(14, 1), 14);
	CHECK_INT(replay_oio(2.5, 1), 3);
	CHECK_INT(replay_oio(2.4, 4), 8);
	CHECK_INT(replay_oio(0, 1), 1);
	CHECK_INT(replay_oio(NAN, 2), 2);
	CHECK_INT(replay_oio(1, 0.1), 1);
}

TEST(threads_of_a_depth)
{
	static const struct {
		unsigned oio, threads;
	} v[] = { { 1, 1 },    { 14, 1 },    { 32, 1 },	  { 33, 2 },   { 64, 2 },
		  { 65, 4 },   { 112, 4 },   { 224, 8 },  { 448, 16 }, { 512, 16 },
		  { 513, 32 }, { 1024, 32 }, { 5000, 32 } };

	for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
		CHECK_MSG(replay_threads(v[i].oio) == v[i].threads, "oio %u: %u threads", v[i].oio,
			  replay_threads(v[i].oio));
}

TEST(the_sum_over_threads_is_exact)
{
	for (unsigned oio = 1; oio <= 2000; oio++) {
		unsigned threads = replay_threads(oio), sum = 0, least = oio, most = 0;
		for (unsigned i = 0; i < threads; i++) {
			unsigned d = replay_thread_depth(oio, threads, i);
			sum += d;
			least = d < least ? d : least;
			most = d > most ? d : most;
		}
		CHECK_INT(sum, oio);
		CHECK(least >= 1 && most - least <= 1);
		CHECK(oio > 1024 || most <= 32);
	}
}

TEST_MAIN
