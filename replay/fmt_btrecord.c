/* SPDX-License-Identifier: MIT */
/*
 * btrecord's .replay files, in the byte order of the machine that made them: version, genesis, bunches, packets; then each
 * bunch: packets (512 at most), its time, and for each packet sector, bytes and direction (0 write, 1 read), padded to 24.
 */
#include <errno.h>
#include <string.h>

#include "replay/format.h"
#include "replay/wire.h"

#define VERSION_1_0_0 0x010000u
#define PACKETS_MAX 512u
#define HEAD_BYTES 32u
#define BUNCH_BYTES 16u
#define PACKET_BYTES 24u

static uint64_t get(const char *p, unsigned bytes, bool big)
{
	return big ? get_be(p, bytes) : get_le(p, bytes);
}

static int detect(const char *head, size_t n)
{
	if (n < HEAD_BYTES + BUNCH_BYTES)
		return 0;
	for (int big = 0; big < 2; big++) {
		uint64_t first = get(head + HEAD_BYTES, 8, big);

		if (get(head, 8, big) == VERSION_1_0_0 && first >= 1 && first <= PACKETS_MAX &&
		    get(head + 16, 8, big) <= get(head + 24, 8, big))
			return 85;
	}
	return 0;
}

struct reader {
	struct import *im;
	struct input *in;
	uint16_t dev;
	bool big;
};

static int read_packet(const struct reader *r, const char *p, uint64_t time_ns, struct err *err)
{
	uint64_t sector = get(p, 8, r->big);
	struct import_row row = { .start_ns = time_ns > INT64_MAX ? INT64_MAX : (int64_t)time_ns,
				  .response_ns = TRACE_NO_RESPONSE,
				  .off = sector > INT64_MAX / 512 ? UINT64_MAX : sector * 512,
				  .bytes = get(p + 8, 8, r->big),
				  .dev = r->dev,
				  .op = get(p + 16, 4, r->big) ? TRACE_READ : TRACE_WRITE };

	import_record(r->im);
	return import_row(r->im, r->in, &row, err);
}

/* 1 read, 0 the end */
static int read_bunch(const struct reader *r, struct err *err)
{
	uint64_t packets, time_ns;
	const char *p;
	size_t left, bytes;
	int rc = input_peek(r->in, BUNCH_BYTES + PACKETS_MAX * PACKET_BYTES, &p, &left, err);

	if (rc || left == 0)
		return rc;
	packets = left < BUNCH_BYTES ? 1 : get(p, 8, r->big);
	if (packets == 0 || packets > PACKETS_MAX)
		return err_set(err, -EINVAL, "%s: byte %llu: a bunch of %llu packets (1 to %u)",
			       input_path(r->in), (unsigned long long)input_offset(r->in),
			       (unsigned long long)packets, PACKETS_MAX);
	bytes = BUNCH_BYTES + packets * PACKET_BYTES;
	if (left < bytes) {
		import_skip(r->im, "cut off at the end of the file");
		return 0;
	}
	time_ns = get(p + 8, 8, r->big);
	for (uint64_t i = 0; i < packets && !rc; i++)
		rc = read_packet(r, p + BUNCH_BYTES + i * PACKET_BYTES, time_ns, err);
	input_skip(r->in, bytes);
	return rc ? rc : 1;
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct reader r = { .im = im, .in = in[0] };
	const void *head;
	size_t got;
	int rc = input_bytes(in[0], HEAD_BYTES, &head, &got, err);

	if (rc < 0)
		return rc;
	r.big = rc == 1 && get(head, 8, true) == VERSION_1_0_0;
	if (rc != 1 || get(head, 8, r.big) != VERSION_1_0_0)
		return err_set(err, -EINVAL,
			       "%s: byte 0: no head of a btrecord file of version 1.0.0",
			       input_path(in[0]));
	import_clock(im, "ns from the start");
	rc = import_device(im, "0", &r.dev, err);
	if (rc)
		return rc;
	do {
		rc = read_bunch(&r, err);
	} while (rc == 1);
	return rc;
}

const struct trace_format fmt_btrecord = {
	.name = "btrecord",
	.title = "btrecord .replay file",
	.binary = true,
	.detect = detect,
	.import = import,
};
