/* SPDX-License-Identifier: MIT */
/*
 * VMware vscsi records, little-endian without a head: version 1 of 32 bytes, version 2 of 40. Times in us since the host booted,
 * places in blocks of 512. The unit of version 2's response times is nowhere written: used only where --time-unit says it.
 */
#include <errno.h>
#include <string.h>

#include "replay/columns.h"
#include "replay/wire.h"

struct layout {
	unsigned version, bytes;
	unsigned cmd, version_at, length, lbn, ts, rt; /* where in the record; rt 0: none */
};

static const struct layout layouts[] = { { 2, 40, 0, 2, 8, 16, 24, 32 },
					 { 1, 32, 12, 14, 4, 16, 24, 0 } };

static bool is_record(const struct layout *l, const char *p)
{
	return get_le(p + l->version_at, 2) >> 8 == l->version && get_le(p + l->cmd, 2) < 256;
}

/* All of the first records look so. */
static const struct layout *layout_of(const char *head, size_t n)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		size_t k, records = n / l->bytes < 8 ? n / l->bytes : 8;

		for (k = 0; k < records; k++)
			if (!is_record(l, head + k * l->bytes))
				break;
		if (records && k == records)
			return l;
	}
	return NULL;
}

static int detect(const char *head, size_t n)
{
	const struct layout *l = layout_of(head, n);

	return !l ? 0 : n >= 2 * l->bytes ? 80 : 40;
}

static const struct {
	uint8_t code, op;
} commands[] = {
	{ 0x08, TRACE_READ },  { 0x28, TRACE_READ },  { 0x88, TRACE_READ },  { 0xa8, TRACE_READ },
	{ 0x0a, TRACE_WRITE }, { 0x2a, TRACE_WRITE }, { 0x8a, TRACE_WRITE }, { 0xaa, TRACE_WRITE },
	{ 0x35, TRACE_FLUSH }, { 0x91, TRACE_FLUSH },
};

static uint8_t op_of(unsigned code)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].code == code)
			return commands[i].op;
	return TRACE_OTHER;
}

struct reader {
	struct import *im;
	struct input *in;
	const struct layout *l;
	uint16_t dev;
	bool has_unit;
	struct column_time unit;
};

static int read_record(const struct reader *r, const char *p, struct err *err)
{
	uint64_t ts = get_le(p + r->l->ts, 8), lbn = get_le(p + r->l->lbn, 8), rt;
	struct import_row row = { .dev = r->dev,
				  .response_ns = TRACE_NO_RESPONSE,
				  .bytes = get_le(p + r->l->length, 4),
				  .op = op_of((unsigned)get_le(p + r->l->cmd, 2)) };

	import_record(r->im);
	if (!is_record(r->l, p))
		return import_bad(r->im, r->in, err, "no record",
				  "the record that ends here is not of version %u", r->l->version);
	if (row.op == TRACE_OTHER) {
		import_skip(r->im, get_le(p + r->l->cmd, 2) == 0x42
					   ? "unmap: its size is not recorded"
					   : "other SCSI command");
		return 0;
	}
	row.off = lbn > INT64_MAX / 512 ? UINT64_MAX : lbn * 512;
	if (row.op == TRACE_FLUSH)
		row.off = row.bytes = 0;
	row.start_ns = ts > INT64_MAX / 1000 ? INT64_MAX : (int64_t)ts * 1000;
	if (r->has_unit) {
		rt = get_le(p + r->l->rt, 8);
		for (unsigned i = 0; i < r->unit.digits; i++)
			rt = rt > INT64_MAX / 10 ? INT64_MAX : rt * 10;
		row.response_ns = rt;
	}
	return import_row(r->im, r->in, &row, err);
}

static int begin(struct reader *r, struct err *err)
{
	const char *unit = import_options(r->im)->time_unit;
	const char *head;
	size_t n;
	int rc = input_head(r->in, &head, &n, err);

	if (rc)
		return rc;
	r->l = layout_of(head, n);
	if (!r->l)
		return err_set(err, -EINVAL,
			       "%s: byte 0: no vscsi record of version 1 or 2 begins here",
			       input_path(r->in));
	if (unit && (!columns_unit(unit, &r->unit) || r->unit.times != 1 || !r->l->rt))
		return err_set(
			err, -EINVAL,
			"--time-unit of vscsi is that of the response times of version 2: s, ms, "
			"us or ns");
	r->has_unit = unit != NULL;
	if (r->l->rt && !unit)
		import_note(r->im, "response times are left out: their unit is not known "
				   "(--time-unit says it)");
	import_clock(r->im, "us since the host booted");
	return import_device(r->im, "0", &r->dev, err);
}

static int import(struct import *im, struct input **in, unsigned n, struct err *err)
{
	struct reader r = { .im = im, .in = in[0] };
	const void *p;
	size_t got;
	int rc = begin(&r, err);

	if (rc)
		return rc;
	while ((rc = input_bytes(in[0], r.l->bytes, &p, &got, err)) == 1) {
		rc = read_record(&r, p, err);
		if (rc)
			return rc;
	}
	if (rc == 2)
		import_skip(im, "cut off at the end of the file");
	return rc < 0 ? rc : 0;
}

const struct trace_format fmt_vscsi = {
	.name = "vscsi",
	.title = "VMware vscsi binary, versions 1 and 2",
	.binary = true,
	.takes = TAKES_UNIT,
	.detect = detect,
	.import = import,
};
