/* SPDX-License-Identifier: MIT */
/* The one place where threads are made (engine_pool.c). */
#ifndef WORKLOADS_THREAD_H
#define WORKLOADS_THREAD_H

#include <pthread.h>
#include <stddef.h>

#include "pts/base/err.h"

/* 0 or -errno. The new thread has the caller's signal mask; whoever needs the signals elsewhere blocks them around the call. */
int thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *), void *arg) must_check;

#endif
