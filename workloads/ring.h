/* SPDX-License-Identifier: MIT */
/*
 * An io_uring of one thread, with what the hot loop needs laid open: SQEs are written in place, five words each, since all
 * other words of an entry never change. With NVMe passthrough (pass.h) entries are of twice the size and carry the command: nine words.
 */
#ifndef WORKLOADS_RING_H
#define WORKLOADS_RING_H

#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pts/base/err.h"

struct io_uring;
struct fault;
struct fault_ring;
struct pass;

/* What the SQEs of NVMe commands have in common. */
struct ring_nvme {
	uint64_t word[3]; /* 0, 1 and 3 */
	uint64_t buffers; /* where they begin */
	unsigned buffer_shift; /* to the number of the registered one; 63: none is */
	uint32_t nsid;
	unsigned lba_shift;
	uint32_t max_bytes; /* of a command */
};

/*
 * Registered are pieces of the largest command, side by side: before Linux 6.12 the kernel takes no command into a buffer that goes on
 * for more pages than the queue has segments.
 */
struct ring {
	/* submission */
	unsigned *sq_ktail;
	struct io_uring_sqe *sqes;
	unsigned sq_mask, tail; /* next entry to write */
	unsigned taken; /* entries the kernel has taken; tail - taken are to be submitted */
	/* completion */
	unsigned *cq_khead, *cq_ktail;
	struct io_uring_cqe *cqes;
	unsigned cq_mask, head;

	int fd; /* for io_uring_enter; an index when registered */
	unsigned enter_flags;
	int target; /* fd for SQEs; an index when registered */
	uint64_t head_word
		[2]; /* first word of an SQE that reads, writes; with passthrough its command's */
	unsigned wide; /* 1: NVMe passthrough, entries of both rings are twice as large; else 0 */
	struct ring_nvme nvme;
	const char *node; /* of passthrough */
	uint64_t buffers; /* as in struct ring_nvme */
	unsigned buffer_shift;
	bool fixed_file, fixed_buffers, ring_fd, defer, polled;
	unsigned entries;
	struct io_uring *uring;
	struct fault_ring *fault; /* tests only; NULL: none */
};

/* What a call offers and asks for. */
struct ring_offer {
	unsigned n, least, flags; /* entries; completions to wait for; IORING_ENTER_* */
};

struct ring_conf {
	int fd; /* of the target */
	unsigned entries, least_entries; /* wish; what will do where memory is locked up */
	void *buffers; /* one region, to be registered if possible; NULL = none */
	size_t buffer_bytes;
	bool polled;
	const struct pass *
		pass; /* commands go there in place of @fd, as long as the ring lives; NULL or one of zeros: none */
	struct fault
		*fault; /* tests only: faults put between kernel and user (fault.h); NULL: none */
};

/* Each feature the kernel refuses falls back. Opened, used and closed by one thread (SINGLE_ISSUER). */
int ring_open(struct ring *r, const struct ring_conf *c, struct err *err) must_check;
void ring_close(struct ring *r);
/* "io_uring, registered buffers and file, DEFER_TASKRUN" */
void ring_describe(const struct ring *r, char *out, size_t n);
/* What NVMe commands to @p have in common when they go through @r; @file: its file, as in an SQE, with flags. */
struct ring_nvme ring_nvme_of(const struct ring *r, const struct pass *p, uint64_t file);
/* First word of the command with this opcode. */
uint64_t ring_nvme_head(const struct ring_nvme *v, uint8_t opcode);

#define NVME_OP_FLUSH 0x00
#define NVME_OP_WRITE 0x01
#define NVME_OP_READ 0x02

#define RING_FIXED_FILE_FLAG (1u << 8) /* IOSQE_FIXED_FILE in the first word */

/* Atomic only to keep compilers from gathering the words in vector registers first, which takes longer. */
static inline void ring_word(uint64_t *at, uint64_t v)
{
	__atomic_store_n(at, v, __ATOMIC_RELAXED);
}

/* @wide: r->wide, where that is known beforehand. */
static inline struct io_uring_sqe *ring_entry_of(const struct ring *r, unsigned tail, unsigned wide)
{
	return &r->sqes[(size_t)(tail & r->sq_mask) << wide];
}

static inline struct io_uring_sqe *ring_entry(const struct ring *r, unsigned tail)
{
	return ring_entry_of(r, tail, r->wide);
}

static inline struct io_uring_cqe *ring_cqe_of(const struct ring *r, unsigned head, unsigned wide)
{
	return &r->cqes[(size_t)(head & r->cq_mask) << wide];
}

static inline struct io_uring_cqe *ring_cqe(const struct ring *r, unsigned head)
{
	return ring_cqe_of(r, head, r->wide);
}

/* Entries up to where the ring wraps. */
static inline unsigned ring_room(const struct ring *r)
{
	return r->sq_mask + 1 - (r->tail & r->sq_mask);
}

static inline void ring_fill(struct io_uring_sqe *sqe, const uint64_t word[4], void *user)
{
	uint64_t *at = (uint64_t *)sqe;

	ring_word(&at[0], word[0]); /* opcode, flags, priority, file */
	ring_word(&at[1], word[1]); /* offset */
	ring_word(&at[2], word[2]); /* address */
	ring_word(&at[3], word[3]); /* length, and the opcode's own flags above it */
	ring_word(&at[4], (uintptr_t)user);
}

/* The same four words as an NVMe command; all that another kind of entry may have changed is written anew. */
static inline void ring_fill_nvme(const struct ring_nvme *v, struct io_uring_sqe *sqe,
				  const uint64_t word[4], void *user)
{
	uint64_t *at = (uint64_t *)sqe;

	ring_word(&at[0], v->word[0]);
	ring_word(&at[1], v->word[1]); /* IO command */
	ring_word(&at[3], v->word[2]); /* registered buffer */
	ring_word(&at[4], (uintptr_t)user);
	ring_word(&at[5], (word[2] - v->buffers) >> v->buffer_shift);
	ring_word(&at[6], word[0]); /* opcode, namespace */
	ring_word(&at[9], word[2]);
	ring_word(&at[10], word[3] << 32);
	ring_word(&at[11], word[1] >> v->lba_shift); /* first LBA: command words 10 and 11 */
	ring_word(&at[12], (uint32_t)((word[3] >> v->lba_shift) - 1)); /* LBAs, 0 is one */
}

#define NVME_SQE_ADDR 72 /* where in an SQE the words begin that follow the namespace: buffer ... */
#define NVME_SQE_WORDS 32 /* ... length, first LBA, LBAs */

static inline void ring_put_nvme(struct ring *r, const struct ring_nvme *v, const uint64_t word[4],
				 void *user)
{
	uint64_t from = word[2] - v->buffers, to = from + word[3] - 1;
	struct io_uring_sqe *sqe = ring_entry(r, r->tail++);

	ring_fill_nvme(v, sqe, word, user);
	if (from >> v->buffer_shift != to >> v->buffer_shift)
		sqe->rw_flags = sqe->buf_index =
			0; /* in two buffers: as one that is not registered */
}

static inline void ring_put(struct ring *r, const uint64_t word[4], void *user)
{
	ring_fill(ring_entry(r, r->tail++), word, user);
}

static inline unsigned ring_cq_tail(const struct ring *r)
{
	return __atomic_load_n(r->cq_ktail, __ATOMIC_ACQUIRE);
}

static inline void ring_cq_done(struct ring *r, unsigned head)
{
	r->head = head;
	__atomic_store_n(r->cq_khead, head, __ATOMIC_RELEASE);
}

/* The bare call: entries taken, or -errno. */
static inline int ring_call(const struct ring *r, struct ring_offer o, const void *arg,
			    size_t arg_bytes)
{
	long fd = r->fd, n = o.n, least = o.least, how = o.flags | r->enter_flags;

#if defined(__x86_64__)
	/* The last statements before the call: nothing may come between that a compiler makes a call of. */
	register long r10 __asm__("r10") = how;
	register const void *r8 __asm__("r8") = arg;
	register size_t r9 __asm__("r9") = arg_bytes;
	long out = SYS_io_uring_enter;

	__asm__ volatile("syscall"
			 : "+a"(out)
			 : "D"(fd), "S"(n), "d"(least), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return (int)out;
#else
	long out = syscall(SYS_io_uring_enter, fd, n, least, how, arg, arg_bytes);

	return out < 0 ? -errno : (int)out;
#endif
}

/* fault.c */
int ring_enter_faulty(struct ring *r, struct ring_offer o, const void *arg);

/* io_uring_enter with all that was put into the ring: entries taken, or -errno. */
static inline int ring_enter(struct ring *r, unsigned min_complete, unsigned flags, const void *arg,
			     size_t arg_bytes)
{
	struct ring_offer o = { r->tail - r->taken, min_complete, flags };

	__atomic_store_n(r->sq_ktail, r->tail, __ATOMIC_RELEASE);
	if (__builtin_expect(r->fault != NULL, 0))
		return ring_enter_faulty(r, o, arg);
	return ring_call(r, o, arg, arg_bytes);
}

#endif
