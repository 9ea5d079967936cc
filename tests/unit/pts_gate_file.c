/* SPDX-License-Identifier: MIT */
/* The gate for file: targets: the real /proc where a process is needed, else a tree of a few files. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "pts/gate.h"
#include "tests/unit/pts_tree.h"

static struct err err;

static void start(void)
{
	tree_begin_in("/tmp");
}

static void done(void)
{
	tree_end();
}

static const char *at(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static int ask_in(const char *sysroot, const char *name, const char *word)
{
	struct dut_info in = { .kind = DUT_FILE, .capacity_bytes = 1 << 30 };
	char dut[600];
	struct gate_request rq = { .info = &in,
				   .dut = dut,
				   .destroy = &word,
				   .n_destroy = word ? 1 : 0,
				   .sysroot = sysroot };

	snprintf(in.path, sizeof in.path, "%s", name[0] == '/' ? name : at(name));
	snprintf(dut, sizeof dut, "file:./given/%s?size=1g", name);
	err.msg[0] = '\0';
	return gate_check(&rq, &err);
}

static int ask(const char *name, const char *word)
{
	return ask_in(NULL, name, word);
}

#define REFUSED(call, text) \
	do { \
		int rc_ = (call); \
		CHECK_MSG(rc_ == -EPERM && strstr(err.msg, text), \
			  "%d \"%s\", not refused with \"%s\"", rc_, err.msg, text); \
	} while (0)
#define GOOD(call) \
	do { \
		int rc_ = (call); \
		CHECK_MSG(!rc_, "%d \"%s\"", rc_, err.msg); \
	} while (0)

TEST(a_new_file)
{
	start();
	GOOD(ask("new", NULL));
	CHECK(access(at("new"), F_OK));
	done();
}

TEST(a_file_of_someone_else)
{
	char path[PATH_MAX];

	start();
	put("data", "precious");
	snprintf(path, sizeof path, "%s", at("data"));
	REFUSED(ask("data", NULL), "a file that pts did not make");
	CHECK(strstr(err.msg, path));
	REFUSED(ask("data", "data"), "'data' does not name it");
	REFUSED(ask("data", "./given/dat"), "does not name it");
	REFUSED(ask("data", "./given/data?size=1g"), "does not name it");
	GOOD(ask("data", path));
	GOOD(ask("data", "./given/data"));
	done();
}

static int make_own(const char *name)
{
	struct dut_options opt = { .seed = 1 };
	struct dut *d;
	char dut[PATH_MAX];
	int rc;

	snprintf(dut, sizeof dut, "file:%s?size=4m", at(name));
	err.msg[0] = '\0';
	rc = dut_open(dut, DUT_WRITE, &opt, &d, &err);
	if (!rc)
		dut_close(d);
	return rc;
}

TEST(a_file_of_our_own)
{
	char copy[PATH_MAX];

	start();
	GOOD(make_own("own"));
	GOOD(ask("own", NULL));
	put("copy", "x");
	snprintf(copy, sizeof copy, "%s", at("copy"));
	CHECK(!rename(copy, at("own")));
	REFUSED(ask("own", NULL), "a file that pts did not make");
	done();
}

TEST(an_empty_file_is_someone_elses_too)
{
	start();
	put("empty", "");
	REFUSED(ask("empty", NULL), "a file that pts did not make");
	done();
}

TEST(things_that_are_no_files)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	start();
	CHECK(!mkdir(at("dir"), 0755));
	REFUSED(ask("dir", at("dir")), "a folder");
	if (!mknod(at("null"), S_IFCHR | 0666, makedev(1, 3))) /* as root */
		REFUSED(ask("null", at("null")), "a character device");
	CHECK(!mkfifo(at("pipe"), 0644));
	REFUSED(ask("pipe", at("pipe")), "a pipe");
	snprintf(sa.sun_path, sizeof sa.sun_path, "%s", at("sock"));
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&sa, sizeof sa));
	close(fd);
	REFUSED(ask("sock", at("sock")), "a socket");
	CHECK(!symlink("/dev/null", at("link")));
	REFUSED(ask("link", at("link")), "/dev: name a drive");
	CHECK(!symlink("nothing", at("dangling")));
	REFUSED(ask("dangling", NULL), "a symbolic link to nothing");
	done();
}

TEST(names_below_dev)
{
	start();
	REFUSED(ask("/dev/null", "/dev/null"), "lies in /dev");
	REFUSED(ask("/dev/pts-no-such-drive", NULL), "lies in /dev");
	REFUSED(ask("/dev/../dev/pts-no-such-drive", NULL), "lies in /dev");
	CHECK(!symlink("/dev", at("link")));
	REFUSED(ask("link/pts-no-such-drive", NULL), "lies in /dev");
	done();
}

TEST(a_file_marked_read_only)
{
	start();
	put("kept", "x");
	CHECK(!chmod(at("kept"), 0444));
	REFUSED(ask("kept", at("kept")), "read-only (mode 0444)");
	done();
}

TEST(a_folder_that_is_not_there)
{
	start();
	put("file", "x");
	GOOD(ask("nowhere/new", NULL)); /* opening it will say what is wrong */
	CHECK_INT(ask("file/new", NULL), -ENOTDIR);
	done();
}

TEST(a_swap_file)
{
	start();
	put("swap file", "x");
	put("other", "x");
	put("proc/swaps", "Filename Type Size Used Priority\n"
			  "/swap\\040file    file  1024 0 -2\n");
	REFUSED(ask_in(root, "swap file", at("swap file")), "used as swap");
	GOOD(ask_in(root, "other", at("other")));
	done();
}

TEST(another_name_of_a_swap_file)
{
	char first[PATH_MAX];

	start();
	put("swap", "x");
	put("proc/swaps", "Filename Type Size Used Priority\n/swap file 1024 0 -2\n");
	snprintf(first, sizeof first, "%s", at("swap"));
	CHECK(!link(first, at("hard")));
	REFUSED(ask_in(root, "hard", at("hard")), "used as swap");
	done();
}

TEST(a_file_behind_a_loop_device)
{
	start();
	put("image", "x");
	put("image1", "x");
	put("sys/block/loop7/loop/backing_file", "/image\n");
	REFUSED(ask_in(root, "image", at("image")), "in use as /dev/loop7");
	GOOD(ask_in(root, "image1", at("image1")));
	done();
}

TEST(a_deleted_file_behind_a_loop_device)
{
	start();
	put("image", "x");
	put("sys/block/loop7/loop/backing_file", "/image (deleted)\n");
	REFUSED(ask_in(root, "image", at("image")), "in use as /dev/loop7");
	done();
}

TEST(a_mounted_image)
{
	start();
	put("image", "x");
	put("proc/self/mountinfo", "36 35 0:50 / /mnt/i ro - erofs /image ro\n");
	REFUSED(ask_in(root, "image", at("image")), "mounted on /mnt/i");
	done();
}

/* A child that does @how with the file until it is killed. */
static pid_t busy_child(const char *name, void (*how)(const char *path))
{
	int ready[2];
	char c;
	pid_t pid;

	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		close(ready[0]);
		how(at(name));
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		abort();
	close(ready[0]);
	return pid;
}

static void keep_open(const char *path)
{
	if (open(path, O_RDONLY) < 0)
		_exit(1);
}

static void keep_mapped(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

static void used_by(void (*how)(const char *path))
{
	char pid[32];
	pid_t child;

	start();
	put("data", "x");
	child = busy_child("data", how);
	snprintf(pid, sizeof pid, "(pid %d)", (int)child);
	ask("data", at("data"));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK_MSG(strstr(err.msg, "is open in") && strstr(err.msg, pid), "\"%s\"", err.msg);
	GOOD(ask("data", at("data")));
	done();
}

TEST(a_file_open_elsewhere)
{
	DO(used_by(keep_open));
}

TEST(a_file_mapped_elsewhere)
{
	DO(used_by(keep_mapped));
}

TEST(a_file_open_here)
{
	int fd;

	start();
	put("data", "x");
	fd = open(at("data"), O_RDONLY);
	GOOD(ask("data", at("data")));
	close(fd);
	done();
}

TEST_MAIN
