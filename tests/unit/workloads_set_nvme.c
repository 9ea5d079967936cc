/* SPDX-License-Identifier: MIT */
/* A set of which some members are namespaces of one drive: their purges do not meet; what is told and recorded says whose it is. */
#include "workloads/dut_set.c"

#include "tests/test.h"

#include <stdatomic.h>
#include <time.h>

static struct fake {
	struct dut d;
	unsigned drive;
	int rc;
} fake[4];
static _Atomic int busy[2], most[2], purges;
static char told[400];
static atomic_bool telling;
static bool mixed; /* two told at once */

static int fake_purge(struct dut *d, enum purge_method m, struct purge_report *ret, struct err *err)
{
	struct fake *f = (struct fake *)d;
	struct timespec t = { .tv_nsec = 5000000 };
	int now = ++busy[f->drive];

	if (now > most[f->drive])
		most[f->drive] = now;
	purges++;
	if (d->tell)
		d->tell(d->arg, "half");
	nanosleep(&t, NULL);
	busy[f->drive]--;
	*ret = (struct purge_report){ .method = m, .verified = true, .canaries = 1026 };
	return f->rc ? err_set(err, f->rc, "refused") : 0;
}

static void fake_close(struct dut *d)
{
}

static const struct dut_ops fake_ops = { .purge = fake_purge, .close = fake_close };

static void tell(void *arg, const char *text)
{
	size_t n = strlen(told);

	mixed |= atomic_exchange(&telling, true);
	snprintf(told + n, sizeof told - n, "%s|", text);
	atomic_store(&telling, false);
}

static struct set *make(void)
{
	static const char *const serial[] = { "A", "B", "A", "A" };
	struct set *s = set_new();

	most[0] = most[1] = purges = 0;
	told[0] = 0;
	for (unsigned i = 0; i < 4; i++) {
		fake[i] = (struct fake){ .drive = i == 1, .d.ops = &fake_ops };
		fake[i].d.info = (struct dut_info){ .kind = DUT_BLOCK,
						    .nsid = i + 1,
						    .capacity_bytes = 1 << 20,
						    .lba_bytes = 512,
						    .purge_auto = PURGE_NVME_FORMAT };
		snprintf(fake[i].d.info.serial, sizeof fake[i].d.info.serial, "%s", serial[i]);
		s->dut[i] = &fake[i].d;
		s->m[i] = (struct set_member){
			.set = s, .no = i + 1, .dut = &fake[i].d, .name = strdup(serial[i])
		};
	}
	s->n = 4;
	set_facts(s, "set:a,b,c,d");
	s->d.tell = tell;
	return s;
}

TEST(namespaces_of_one_drive_are_purged_one_after_another)
{
	struct set *s = make();
	struct purge_report r;
	struct err err = { "" };

	CHECK_INT(set_purge(&s->d, PURGE_AUTO, &r, &err), 0);
	CHECK_INT(purges, 4);
	CHECK_INT(most[0], 1);
	CHECK(r.verified && r.method == PURGE_NVME_FORMAT);
	CHECK_INT(r.canaries, 4 * 1026);
	for (unsigned i = 0; i < 4; i++)
		CHECK(r.member[i].verified);
	CHECK(!mixed);
	for (unsigned i = 1; i <= 4; i++) {
		char part[32];

		snprintf(part, sizeof part, "member %u: half|", i);
		CHECK_MSG(strstr(told, part), "%s", told);
	}
	dut_close(&s->d);
}

TEST(a_purge_of_one_of_them_that_fails)
{
	struct set *s = make();
	struct purge_report r;
	struct err err = { "" };

	fake[2].rc = -EIO;
	CHECK_INT(set_purge(&s->d, PURGE_AUTO, &r, &err), -EIO);
	CHECK_INT(purges, 3); /* the fourth was not begun */
	CHECK_MSG(strstr(err.msg, "member 3: refused"), "%s", err.msg);
	dut_close(&s->d);
}

TEST_MAIN
