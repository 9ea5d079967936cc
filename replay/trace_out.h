/* SPDX-License-Identifier: MIT */
/* A capture file while it is written: nameless until it is whole. Private to trace_write.c. */
#ifndef REPLAY_TRACE_OUT_H
#define REPLAY_TRACE_OUT_H

#include "replay/trace_file.h"

struct trace_out {
	int fd;
	char tmp[4096]; /* its name for the time being; "" where the system keeps it nameless */
	uint64_t pos; /* end of what is written */
	struct file_chunk *chunk;
	uint32_t n_chunks;
	char *column; /* a chunk as it lies in the file */
	uint64_t column_bytes; /* allocated */
	uint64_t n, digest;
	bool any_rw;
	uint64_t first_rw_ns, last_rw_ns; /* starts of the first and the last R or W */
	uint64_t ios[TRACE_OPS], bytes[TRACE_OPS];
};

struct trace_run { /* chunks in order within themselves */
	uint32_t first_chunk, end_chunk;
	int64_t last_ns;
};

void trace_out_init(struct trace_out *o);
/* A temporary file in the folder of @path. What has that name now must be a capture of pts, empty, or nothing: -EEXIST. */
int trace_out_open(struct trace_out *o, const char *path, struct err *err) must_check;
void trace_out_release(struct trace_out *o); /* removes a file that has not been published */
/* @n <= CHUNK_RECORDS records in order; @base_ns is taken off their starts. */
int trace_out_chunk(struct trace_out *o, const struct trace_rec *rec, size_t n, uint64_t base_ns,
		    struct err *err) must_check;
/* All runs of @from into @to, by start, equal ones by run; times move so that the first is 0. */
int trace_out_merge(const struct trace_out *from, const struct trace_run *run, unsigned n,
		    struct trace_out *to, struct err *err) must_check;
/* Index, text and head; on the disk when it returns. */
int trace_out_seal(struct trace_out *o, const char *name, const struct trace_report *r,
		   const struct trace_device *dev, unsigned n_devices, struct err *err) must_check;
/* Gives the sealed file its name, in place of what had it. */
int trace_out_publish(struct trace_out *o, const char *path, struct err *err) must_check;

#endif
