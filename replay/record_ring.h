/* SPDX-License-Identifier: MIT */
/*
 * Binary pages of the kernel's trace buffer, and events in them. Offsets come from the kernel's own description
 * (events/header_page, events/SYSTEM/EVENT/format), since they differ between kernels. Pure: bytes in, records out.
 */
#ifndef REPLAY_RECORD_RING_H
#define REPLAY_RECORD_RING_H

#include <linux/blktrace_api.h>
#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"

struct ring_field {
	unsigned off, bytes; /* 0 bytes: the event has none */
};

struct ring_event {
	uint16_t id;
	uint32_t action; /* BLK_TA_QUEUE, _ISSUE, _COMPLETE, _REQUEUE */
	struct ring_field dev, sector, nr_sector, nr_bytes, rwbs, error;
};

#define RING_EVENTS_MAX 5

struct ring_page {
	struct ring_field commit;
	unsigned data_off;
	struct ring_field type, pid; /* common to all events */
	struct ring_event event[RING_EVENTS_MAX];
	unsigned n_events;
};

/* @text: header_page. */
int ring_page_format(struct ring_page *p, const char *text, struct err *err) must_check;
/* Adds an event by its format file. */
int ring_event_format(struct ring_page *p, const char *text, uint32_t action,
		      struct err *err) must_check;

/*
 * The records of a page of @bytes, at most @max of them (a page has fewer than bytes / 4), with time, sector, bytes, action,
 * pid, device and error set; events of other kinds are passed over. Their number, or -EINVAL: no page of that kind.
 */
int ring_page_read(const struct ring_page *p, const void *page, size_t bytes,
		   struct blk_io_trace *ret, unsigned max);

#endif
