/* SPDX-License-Identifier: MIT */
/* Killed writers, many writers, full disks, and files that are no databases. */
#include "tests/unit/schema_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "schema/store_private.h"

static void uuid_of(char out[40], int i)
{
	snprintf(out, 40, "%08d-0000-4000-8000-000000000000", i);
}

/* In a child: opens, writes cells of one run, and says each cell that is stored down the pipe. */
static int write_cells(const char *db, int tag, int cells, int fd)
{
	struct sample *s = sample_new();
	struct store *st;
	struct rng rng;
	char uuid[40];
	int64_t cell = 0, run;

	uuid_of(uuid, tag);
	if (store_open(db, &st, &E) || write_run(st, uuid, 0, 0, NULL))
		return 1;
	rng_init(&rng, (uint64_t)tag);
	struct reader *r;
	if (read_open(db, &r, &E) || read_run(r, uuid, &run, &E))
		return 2;
	read_close(r);
	for (int i = 0; i < cells; i++) {
		sample_fill(s, &rng, run, "iops", i + 1);
		if (store_cell(st, &s->row, &cell, &E))
			return 3;
		if (fd >= 0 && write(fd, &cell, sizeof cell) != sizeof cell)
			return 4;
	}
	if (store_run_end(st, run, "done", &E))
		return 5;
	store_close(st);
	return 0;
}

TEST(U15_killed_writer_loses_nothing)
{
	const char *db = scratch("kill.db");
	struct rng rng;

	rng_init(&rng, 11);
	for (int round = 1; round <= 10; round++) {
		int fd[2], n = 0, status;
		int64_t cell, last = 0;
		char sql[96];

		CHECK(!pipe(fd));
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			close(fd[0]);
			_exit(write_cells(db, round, 100000, fd[1]));
		}
		close(fd[1]);
		/* After some cells, at a moment within the next ones. */
		for (int stop = (int)rng_below(&rng, 20); n < stop; n++) {
			CHECK(read(fd[0], &cell, sizeof cell) == sizeof cell);
			last = cell;
		}
		usleep((useconds_t)rng_below(&rng, 8000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CHECK(WIFSIGNALED(status));
		for (; read(fd[0], &cell, sizeof cell) == sizeof cell; n++)
			last = cell;
		close(fd[0]);
		if (access(db, F_OK)) /* killed before it made the file */
			continue;
		struct store *st; /* the first kill may come before the tables exist */
		OK(store_open(db, &st, &E));
		store_close(st);
		snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM v_cell WHERE cell_id = %lld",
			 (long long)last);
		CHECK_STR(ask(db, sql), last ? "1" : "0");
		snprintf(sql, sizeof sql,
			 "SELECT COUNT(*) >= %d FROM v_cell JOIN v_run USING (run_id) WHERE uuid "
			 "LIKE "
			 "'%08d%%'",
			 n, round);
		CHECK_STR(ask(db, sql), "1");
		CHECK_STR(faults_of(db), "");
	}
}

TEST(log_of_a_killed_writer_is_read_not_moved)
{
	const char *db = scratch("log.db");
	struct stat before, after;
	int fd[2];
	int64_t cell;

	OK(write_db(db, "99999999-1", 1, 1, NULL));
	CHECK(!pipe(fd));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(write_cells(db, 1, 100000, fd[1]));
	close(fd[1]);
	CHECK(read(fd[0], &cell, sizeof cell) == sizeof cell);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd[0]);
	CHECK(!stat(db, &before));
	CHECK_STR(ask(db, "SELECT COUNT(*) > 1 FROM v_cell"), "1");
	CHECK_STR(faults_of(db), "");
	CHECK(!stat(db, &after));
	CHECK(before.st_size == after.st_size && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	CHECK(!access(scratch("log.db-wal"), F_OK));
}

TEST(two_writers_at_once)
{
	const char *db = scratch("two.db");
	pid_t pid[2];
	int status;

	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(write_cells(db, i + 1, 200, -1));
	}
	for (int i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		CHECK_INT(status, 0);
	}
	CHECK_STR(ask(db, "SELECT group_concat(n) FROM (SELECT COUNT(*) AS n FROM v_cell GROUP BY "
			  "run_id)"),
		  "200,200");
	CHECK_STR(ask(db, "SELECT group_concat(state || sealed) FROM v_run"), "done1,done1");
	CHECK_STR(faults_of(db), "");
	/* two that close in one moment may leave the log to the next writer */
	CHECK_INT(write_cells(db, 3, 1, -1), 0);
	CHECK(access(scratch("two.db-wal"), F_OK) && access(scratch("two.db-shm"), F_OK));
}

TEST(locked_is_told)
{
	const char *db = scratch("locked.db");
	struct store *a, *b;

	OK(store_open(db, &a, &E));
	OK(write_run(a, "99999999-1", 1, 1, NULL));
	OK(store_open(db, &b, &E));
	b->db.busy_ms = 50;
	OK(store_begin(a, &E));
	FAILS(store_event(b, 1, "x", NULL, &E), -EBUSY, "locked.db: locked by another process");
	OK(store_commit(a, &E));
	OK(store_event(b, 1, "y", NULL, &E));
	store_close(a);
	store_close(b);
	CHECK_STR(ask(db, "SELECT group_concat(kind) FROM event"), "y");
}

/* ---- full disk: on a file system of our own ---- */

static char mounted[160];

static void unmount(void)
{
	if (mounted[0])
		umount2(mounted, MNT_DETACH);
	mounted[0] = '\0';
}

static bool small_disk(const char *options)
{
	snprintf(mounted, sizeof mounted, "%s", scratch("disk"));
	mkdir(mounted, 0700);
	if (mount("pts-test", mounted, "tmpfs", MS_NODEV | MS_NOSUID, options)) {
		mounted[0] = '\0';
		return false;
	}
	atexit(unmount);
	return true;
}

TEST(full_disk_keeps_what_was_stored)
{
	struct sample *s = sample_new();
	struct store *st;
	struct rng rng;
	char db[200], want[32];
	int64_t cell = 0, stored = 0;
	int rc = 0;

	if (!small_disk("size=4m"))
		SKIP("needs root to mount a small tmpfs");
	snprintf(db, sizeof db, "%s/full.db", mounted);
	OK(store_open(db, &st, &E));
	OK(write_run(st, "99999999-1", 0, 0, NULL));
	rng_init(&rng, 3);
	for (int i = 1; !rc; i++) {
		CHECK(i < 2000);
		sample_fill(s, &rng, 1, "iops", i);
		E.msg[0] = '\0';
		rc = store_cell(st, &s->row, &cell, &E);
		stored += !rc;
	}
	CHECK_INT(rc, -ENOSPC);
	CHECK_MSG(strstr(E.msg, "full.db: ") && strstr(E.msg, "no space left"), "%s", E.msg);
	CHECK(stored > 10);
	/* It goes on failing, and the same store can go on once there is room. */
	CHECK_INT(store_cell(st, &s->row, &cell, &E), -ENOSPC);
	snprintf(want, sizeof want, "%lld", (long long)stored);
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_cell"), want);
	store_close(st);
	CHECK_STR(faults_of(db), "");

	CHECK(!mount("pts-test", mounted, "tmpfs", MS_REMOUNT | MS_NODEV | MS_NOSUID, "size=16m"));
	OK(store_open_existing(db, &st, &E));
	OK(store_cell(st, &s->row, &cell, &E));
	OK(store_run_end(st, 1, "done", &E));
	store_close(st);
	snprintf(want, sizeof want, "%lld", (long long)stored + 1);
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_cell"), want);
	CHECK_STR(faults_of(db), "");
	unmount();
	sample_free(s);
}

TEST(no_room_to_create)
{
	struct store *st;
	char db[200];

	if (!small_disk("size=64k"))
		SKIP("needs root to mount a small tmpfs");
	snprintf(db, sizeof db, "%s/x.db", mounted);
	FAILS(store_open(db, &st, &E), -ENOSPC, "x.db");
	/* What it left is no obstacle once there is room. */
	CHECK(!mount("pts-test", mounted, "tmpfs", MS_REMOUNT | MS_NODEV | MS_NOSUID, "size=4m"));
	OK(store_open(db, &st, &E));
	OK(write_run(st, "99999999-1", 1, 1, "done"));
	store_close(st);
	CHECK_STR(faults_of(db), "");
	unmount();
}

TEST(read_only_disk)
{
	struct store *st;
	char db[200], db2[200];

	if (!small_disk("size=4m"))
		SKIP("needs root to mount a small tmpfs");
	snprintf(db, sizeof db, "%s/a%%b?#.db", mounted);
	snprintf(db2, sizeof db2, "%s/new.db", mounted);
	OK(write_db(db, "99999999-1", 1, 1, "done"));
	CHECK(!mount("pts-test", mounted, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL));
	CHECK_STR(ask(db, "SELECT COUNT(*) FROM v_cell"), "1");
	CHECK_STR(faults_of(db), "");
	FAILS(store_open(db, &st, &E), -EROFS, db);
	FAILS(store_open(db2, &st, &E), -EROFS, db2);
	unmount();
}

/* ---- what else a path may be ---- */

static void put_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	CHECK(f);
	fwrite(text, 1, n, f);
	fclose(f);
}

TEST(not_a_database)
{
	const char *text = scratch("notes.txt"), *tiny = scratch("tiny");
	static char big[20000];
	struct store *st;
	struct reader *r;

	memset(big, 'x', sizeof big);
	put_file(text, big, sizeof big);
	put_file(tiny, "hi\n", 3);
	FAILS(store_open(text, &st, &E), -EINVAL, "notes.txt: not a pts database");
	FAILS(store_open(tiny, &st, &E), -EINVAL, "tiny: not a pts database");
	FAILS(read_open(text, &r, &E), -EINVAL, "not a pts database");
	FAILS(store_open("/tmp", &st, &E), -EISDIR, "/tmp: is a directory");
	FAILS(read_open("/dev/null", &r, &E), -EINVAL, "not a regular file");
	FAILS(read_open(scratch("none.db"), &r, &E), -ENOENT, "none.db: no such database");
	FAILS(store_open_existing(scratch("none.db"), &st, &E), -ENOENT, "none.db: no such");
	CHECK(access(scratch("none.db"), F_OK));
	FAILS(store_open(scratch("no/folder.db"), &st, &E), -ENOENT, "folder.db");
	FAILS(store_open(scratch("tiny/folder.db"), &st, &E), -ENOTDIR, "folder.db");
	put_file(tiny, "", 0);
	FAILS(read_open(tiny, &r, &E), -EINVAL, "not a pts database (empty)");
	FAILS(store_open_existing(tiny, &st, &E), -EINVAL, "not a pts database (empty)");
	struct stat s;
	CHECK(!stat(text, &s) && s.st_size == sizeof big);
	OK(store_open(tiny, &st, &E)); /* an empty file becomes one */
	store_close(st);
}

static int raw(const char *path, const char *sql)
{
	struct db d;
	int rc = db_open(&d, path, DB_CREATE, embed_migrations, &E);

	if (!rc)
		rc = db_exec(&d, sql, &E);
	db_close(&d);
	return rc;
}

TEST(foreign_and_newer_files)
{
	const char *db = scratch("newer.db");
	struct store *st;
	struct reader *r;

	OK(raw(db, "PRAGMA user_version = 9"));
	FAILS(store_open(db, &st, &E), -EINVAL, "newer.db: made by a newer pts (its schema is 9");
	FAILS(read_open(db, &r, &E), -EINVAL, "newer pts");
	OK(raw(scratch("other.db"), "PRAGMA application_id = 7"));
	FAILS(store_open(scratch("other.db"), &st, &E), -EINVAL, "other.db: not a pts database");
	FAILS(read_open(scratch("other.db"), &r, &E), -EINVAL, "not a pts database");
}

/* What a histogram of a report becomes when its text is not what pts writes. */
TEST(a_damaged_histogram_is_no_histogram)
{
	static const struct {
		const char *buckets;
		int64_t n; /* -1: damaged */
	} t[] = { { "{\"3\":[1,2]}", 3 },
		  { " { \"3\" : [ 1 , 2 ] , \"9\" : [ ] }\n", 3 },
		  { "{}", 0 },
		  { "{\"10495\":[7]}", 7 },
		  { "{\"10495\":[7,1]}", -1 }, /* beyond the last bucket */
		  { "{\"10496\":[1]}", -1 },
		  { "{\"3\":[-1]}", -1 },
		  { "{\"3\":[1.5]}", -1 },
		  { "{\"3\":[99999999999999999999]}", -1 },
		  { "{\"3\":[1,\"2\"]}", -1 },
		  { "{\"3\":5}", -1 },
		  { "{\"a\":[1]}", -1 },
		  { "[1,2]", -1 },
		  { "null", -1 } };
	const char *db = scratch("buckets.db");
	struct hist *h = hist_new();

	OK(write_db(db, "99999999-2", 5, 2, "done"));
	OK(raw(db, "DROP TRIGGER cell_hist_no_update"));
	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct buf sql = BUF_INIT;
		struct reader *r;

		buf_fmt(&sql, "UPDATE cell_hist SET buckets = '%s'", t[i].buckets);
		OK(raw(db, buf_cstr(&sql)));
		buf_release(&sql);
		OK(read_open_doubted(db, &r, &E));
		hist_reset(h);
		if (t[i].n < 0)
			FAILS(read_hist(r, 1, "R", "service", h, &E), -EIO,
			      "cell 1: damaged histogram");
		else
			OK(read_hist(r, 1, "R", "service", h, &E));
		CHECK_MSG(t[i].n < 0 || (int64_t)h->n == t[i].n, "%s: %llu", t[i].buckets,
			  (unsigned long long)h->n);
		read_close(r);
	}
	free(h);
}

TEST(damaged_file_is_found)
{
	const char *db = scratch("damaged.db");
	int fd;

	OK(write_db(db, "99999999-1", 5, 2, "done"));
	fd = open(db, O_WRONLY);
	CHECK(fd >= 0);
	for (off_t at = 64 * 4096; at < 100 * 4096; at += 4096)
		CHECK(pwrite(fd, "damage damage damage", 20, at) == 20);
	close(fd);
	CHECK_MSG(strstr(faults_of(db), "file: ") || strstr(faults_of(db), "damaged.db"), "%s",
		  faults_of(db));
}

/* ---- migrations ---- */

TEST(migrations_are_steps)
{
	const char *db = scratch("steps.db");
	static const struct embed bad[] = {
		{ "0001_a.sql", "PRAGMA application_id = 0x50545331; CREATE TABLE a (x);", 0 },
		{ "0002_b.sql", "CREATE TABLE b (x); CREATE TABLE a (x);", 0 },
		{ NULL, NULL, 0 },
	};
	static const struct embed good[] = {
		{ "0001_a.sql", NULL, 0 }, /* done before */
		{ "0002_b.sql", "CREATE TABLE b (x); INSERT INTO b VALUES (7);", 0 },
		{ NULL, NULL, 0 },
	};
	struct db d;
	int version;
	int64_t n;

	FAILS(db_open(&d, db, DB_CREATE, bad, &E), -EINVAL, "migration 0002_b.sql: ");
	/* The first is done, of the second nothing. */
	FAILS(db_open(&d, db, DB_WRITE, bad, &E), -EINVAL,
	      "made by an older pts (schema 1, now 2)");
	FAILS(db_open(&d, db, DB_READ, bad, &E), -EINVAL, "run: pts db migrate --db");
	OK(db_open_any(&d, db, bad, &version, &E));
	CHECK_INT(version, 1);
	OK(db_int(&d, &E, 0, &n, "SELECT COUNT(*) FROM sqlite_master", ""));
	CHECK_INT(n, 1);
	db_close(&d);
	OK(db_open(&d, db, DB_CREATE, good, &E));
	OK(db_int(&d, &E, 0, &n, "SELECT x FROM b", ""));
	CHECK_INT(n, 7);
	db_close(&d);
	OK(db_open(&d, db, DB_CREATE, good, &E)); /* not again */
	OK(db_int(&d, &E, 0, &n, "SELECT COUNT(*) FROM b", ""));
	CHECK_INT(n, 1);
	db_close(&d);
}

/* ---- cost, printed for people; only the size is a limit ---- */

TEST(bytes_of_a_cell)
{
	const char *db = scratch("size.db");
	struct sample *s = sample_new();
	struct store *st;
	struct stat before, after;
	struct rng rng;
	int64_t cell;
	unsigned buckets = 0;

	OK(store_open(db, &st, &E));
	OK(write_run(st, "99999999-1", 0, 0, NULL));
	store_close(st);
	CHECK(!stat(db, &before));
	OK(store_open(db, &st, &E));
	rng_init(&rng, 3);
	for (int i = 1; i <= 100; i++) {
		sample_fill(s, &rng, 1, "iops", i);
		OK(store_cell(st, &s->row, &cell, &E));
		for (unsigned b = 0; b < HIST_BUCKETS; b++)
			buckets += (s->h[0]->count[b] > 0) + (s->h[1]->count[b] > 0);
	}
	store_close(st);
	CHECK(!stat(db, &after));
	double each = (double)(after.st_size - before.st_size) / 100;
	printf("# a cell of 60 seconds and %u buckets takes %.1f kB\n", buckets / 100, each / 1000);
	CHECK(buckets / 100 > 1300);
	CHECK(each <= 24000); /* D1 */
	sample_free(s);
}

TEST_MAIN
