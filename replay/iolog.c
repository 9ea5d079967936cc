/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/iolog.h"

static const char *const words[TRACE_OPS] = { "read", "write", "trim", "sync", NULL };

static void plain_name(const struct trace_head *h, const char *const *file, unsigned dev, char *ret,
		       size_t n)
{
	snprintf(ret, n, "%s", file && file[dev] ? file[dev] : h->device[dev].name);
	for (char *c = ret; *c; c++)
		if (*c == ' ' || *c == '\t')
			*c = '_';
}

static int write_all(struct trace *t, char (*name)[256], FILE *out, struct iolog_account *a,
		     struct err *err)
{
	struct trace_cursor c = { 0 };
	struct trace_rec rec;
	int rc;

	while ((rc = trace_next(t, &c, &rec, err)) == 1) {
		uint64_t bytes = trace_io_bytes(&rec.io);

		if (!words[rec.io.op] || bytes > UINT32_MAX) {
			a->skipped++;
			continue;
		}
		a->cut_ns |= rec.io.start_ns % 1000 != 0;
		a->written++;
		fprintf(out, "%" PRIu64 " %s %s %" PRIu64 " %" PRIu64 "\n", rec.io.start_ns / 1000,
			name[rec.io.dev], words[rec.io.op], rec.io.off, bytes);
	}
	return rc;
}

int iolog_write(struct trace *t, const char *const *file, FILE *out, struct iolog_account *ret,
		struct err *err)
{
	const struct trace_head *h = trace_head(t);
	char(*name)[256] = calloc(h->n_devices ? h->n_devices : 1, sizeof(*name));
	struct iolog_account a = { 0 };
	int rc;

	if (!name)
		return err_set(err, -ENOMEM, "no memory for the names of %u devices", h->n_devices);
	fprintf(out, "fio version 3 iolog\n");
	for (unsigned i = 0; i < h->n_devices; i++) {
		plain_name(h, file, i, name[i], sizeof(name[i]));
		fprintf(out, "0 %s add\n0 %s open\n", name[i], name[i]);
	}
	rc = write_all(t, name, out, &a, err);
	for (unsigned i = 0; i < h->n_devices && !rc; i++)
		fprintf(out, "%" PRIu64 " %s close\n", (h->first_ns + h->duration_ns) / 1000,
			name[i]);
	free(name);
	if (!rc && (fflush(out) || ferror(out)))
		rc = err_set(err, -EIO, "the iolog cannot be written: %s", strerror(errno));
	*ret = a;
	return rc;
}
