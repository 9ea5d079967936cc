/* SPDX-License-Identifier: MIT */
/*
 * A unit test program: TEST(name) { ... CHECK(...) } and TEST_MAIN. Each TEST prints "ok NAME", "not ok NAME: where: what" or
 * "skip NAME: why"; the runner counts these lines.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*fn)(void);
	struct test_case *next;
};

static struct test_case *test_first, **test_last = &test_first;
static char test_why[512];
static bool test_failed, test_skipped;

#define TEST(n) \
	static void test_##n(void); \
	__attribute__((constructor)) static void test_reg_##n(void) \
	{ \
		static struct test_case c = { #n, test_##n, NULL }; \
		*test_last = &c; \
		test_last = &c.next; \
	} \
	static void test_##n(void)

#define CHECK_MSG(c, ...) \
	do { \
		if (!(c)) { \
			int at_ = snprintf(test_why, sizeof test_why, "%s:%d: ", __FILE__, \
					   __LINE__); \
			snprintf(test_why + at_, sizeof test_why - (size_t)at_, __VA_ARGS__); \
			test_failed = true; \
			return; \
		} \
	} while (0)
#define CHECK(c) CHECK_MSG(c, "%s", #c)
#define CHECK_INT(a, b) \
	do { \
		long long a_ = (long long)(a), b_ = (long long)(b); \
		CHECK_MSG(a_ == b_, "%s is %lld, not %lld", #a, a_, b_); \
	} while (0)
#define CHECK_STR(a, b) \
	do { \
		const char *a_ = (a), *b_ = (b); \
		CHECK_MSG(!strcmp(a_, b_), "%s is \"%s\", not \"%s\"", #a, a_, b_); \
	} while (0)
#define CHECK_NEAR(a, b, rel) \
	do { \
		double a_ = (a), b_ = (b); \
		CHECK_MSG(fabs(a_ - b_) <= (rel)*fmax(fabs(b_), 1e-300), "%s is %.17g, not %.17g", \
			  #a, a_, b_); \
	} while (0)
#define SKIP(...) \
	do { \
		snprintf(test_why, sizeof test_why, __VA_ARGS__); \
		test_skipped = true; \
		return; \
	} while (0)
/* For helper functions that CHECK inside: leave the TEST when one failed. */
#define DO(call) \
	do { \
		call; \
		if (test_failed || test_skipped) \
			return; \
	} while (0)

#define TEST_MAIN \
	int main(int argc, char **argv) \
	{ \
		int bad = 0; \
		for (struct test_case *c = test_first; c; c = c->next) { \
			if (argc > 1 && strcmp(argv[1], c->name)) \
				continue; \
			test_failed = test_skipped = false; \
			c->fn(); \
			if (test_failed) \
				printf("not ok %s: %s\n", c->name, test_why); \
			else if (test_skipped) \
				printf("skip %s: %s\n", c->name, test_why); \
			else \
				printf("ok %s\n", c->name); \
			fflush(stdout); \
			bad |= test_failed; \
		} \
		return bad; \
	}

#endif
