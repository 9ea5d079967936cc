/* SPDX-License-Identifier: MIT */
/* Hosts that give less than wished: no io_uring, little lockable or addressable memory. Each in a child of its own. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/workloads_rig.h"

/* What the child wrote, its last line; exit code in @code. */
static void in_child(void (*fn)(void), char *out, size_t n, int *code)
{
	int fd[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(fd))
		abort();
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		fn();
		fflush(stdout);
		_exit(0);
	}
	close(fd[1]);
	ssize_t got = 0, more;
	while ((more = read(fd[0], out + got, n - 1 - (size_t)got)) > 0)
		got += more;
	out[got] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
	*code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* io_uring_setup fails with @error from now on. */
static void deny_io_uring(int error)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { 4, f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(9);
}

static void open_and_tell(void)
{
	struct engine_target t = { .fd = open("/dev/zero", O_RDWR),
				   .capacity_bytes = 1 << 20,
				   .lba_bytes = 512 };
	struct err err = { "" };
	struct engine *e;

	printf("%d %s", engine_open(&t, &e, &err), err.msg);
}

static void without_io_uring(void)
{
	deny_io_uring(ENOSYS);
	open_and_tell();
}

static void in_a_container(void)
{
	deny_io_uring(EPERM);
	open_and_tell();
}

TEST(U30_no_io_uring_says_why)
{
	char out[600], want[32];
	int code;

	in_child(without_io_uring, out, sizeof out, &code);
	if (code == 9)
		SKIP("no seccomp here");
	snprintf(want, sizeof want, "-%d ", ENOSYS);
	CHECK_MSG(!strncmp(out, want, strlen(want)) && strstr(out, "ENOSYS"), "%s", out);
	in_child(in_a_container, out, sizeof out, &code);
	snprintf(want, sizeof want, "-%d ", EPERM);
	CHECK_MSG(!strncmp(out, want, strlen(want)) && strstr(out, "EPERM") &&
			  strstr(out, "seccomp"),
		  "%s", out);
}

/* Another file in the place of the sysctl, for this child alone, and what the kernel would answer then. */
static void switched_off(void)
{
	static const char sysctl[] = "/proc/sys/kernel/io_uring_disabled";
	char file[] = "/tmp/pts-unit-sysctl-XXXXXX";
	int fd = mkstemp(file);
	bool there = fd >= 0 && write(fd, "2\n", 2) == 2 && !unshare(CLONE_NEWNS) &&
		     !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		     !mount(file, sysctl, NULL, MS_BIND, NULL);

	unlink(file);
	if (!there)
		_exit(9);
	deny_io_uring(EPERM);
	open_and_tell();
}

TEST(U30_a_sysctl_that_forbids_is_named)
{
	char out[600], want[32];
	int code;

	in_child(switched_off, out, sizeof out, &code);
	if (code == 9)
		SKIP("no mount namespace, no seccomp or no such sysctl here");
	snprintf(want, sizeof want, "-%d ", EPERM);
	CHECK_MSG(!strncmp(out, want, strlen(want)) &&
			  strstr(out, "sysctl kernel.io_uring_disabled=2"),
		  "%s", out);
}

static void little_lockable_memory(void)
{
	struct rlimit r = { 64 << 10, 64 << 10 };

	setrlimit(RLIMIT_MEMLOCK, &r);
	/* A user of its own: what is locked counts for all processes of a user. */
	if (!getuid() && setuid(70000 + (uid_t)getpid() % 100000))
		_exit(9);
	struct rig *g = rig_open("/dev/zero", 1 << 30);
	rig_segment(g, 0, rig_access(IO_READ, IO_RND, 4096), 4, 32, (struct bound){ .ios = 5000 });
	int rc = rig_run(g);
	printf("%d %llu %s%s", rc, (unsigned long long)rig_ios(g, 0), g->r[0].note, g->err.msg);
}

/* Registered buffers are a help, not a need. */
TEST(U31_registered_buffers_are_optional)
{
	char out[600];
	int code;

	in_child(little_lockable_memory, out, sizeof out, &code);
	if (code == 9)
		SKIP("the rights cannot be given up here");
	CHECK_MSG(!code, "code %d: %s", code, out);
	CHECK_MSG(!strncmp(out, "0 5000 ", 7), "%s", out);
	CHECK_MSG(strstr(out, "buffers not registered"), "%s", out);
}

static void little_address_space(void)
{
	struct rlimit r = { 600000 * 1024ull, 600000 * 1024ull };
	struct rig *g = rig_open("/dev/null", 1 << 30);

	setrlimit(RLIMIT_AS, &r);
	rig_segment(g, 0, rig_access(IO_WRITE, IO_RND, 1 << 20), 32, 32,
		    (struct bound){ .ios = 5000 });
	int rc = rig_run(g);
	printf("%d %s", rc, g->err.msg);
}

/* T32 Q32 of 1 MiB. */
TEST(U35_a_limit_of_memory_is_no_crash)
{
	char out[600], want[32];
	int code;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("sanitizers need address space");
#endif
	in_child(little_address_space, out, sizeof out, &code);
	CHECK_INT(code, 0);
	snprintf(want, sizeof want, "-%d ", ENOMEM);
	CHECK_MSG(!strncmp(out, want, strlen(want)) && strstr(out, "bytes"), "%s", out);
}

TEST_MAIN
