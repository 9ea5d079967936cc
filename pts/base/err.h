/* SPDX-License-Identifier: MIT */
/*
 * Errors as values. A fallible function returns 0 or -Exxx; the place that knows why a thing failed
 * calls err_set() and returns its code. The first message wins; callers may only add a prefix.
 */
#ifndef PTS_BASE_ERR_H
#define PTS_BASE_ERR_H

#define must_check __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))

struct err {
	char msg[1024]; /* "" until the first err_set() */
};

/* Records the message unless one is there already. Returns @code (a negative errno), so that it can be returned. */
int err_set(struct err *err, int code, const char *fmt, ...) printf_like(3, 4);

/* Puts "text: " before the message that is there. Returns @code. */
int err_prefix(struct err *err, int code, const char *fmt, ...) printf_like(3, 4);

/* A broken promise of the program to itself: prints where, and aborts. Never for bad input. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(c) \
	do { \
		if (c) \
			BUG("%s", #c); \
	} while (0)
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) printf_like(3, 4);

#endif
