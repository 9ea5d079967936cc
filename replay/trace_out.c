/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/crc.h"
#include "replay/trace_out.h"

void trace_out_init(struct trace_out *o)
{
	*o = (struct trace_out){ .fd = -1, .pos = FILE_ALIGN };
}

/* "a/b.cap" -> "a", "b.cap" -> "." */
static void folder_of(const char *path, char *ret, size_t n)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(ret, n, ".");
	else
		snprintf(ret, n, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* Nothing is lost by a slip in -o: neither a device nor a file that is not a capture is replaced. */
static int may_replace(const char *path, struct err *err)
{
	char magic[8];
	struct stat st;
	ssize_t got;
	int fd;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: is no regular file: a capture cannot go there",
			       path);
	if (st.st_size == 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	got = pread(fd, magic, sizeof(magic), 0);
	close(fd);
	if (got == sizeof(magic) && memcmp(magic, FILE_MAGIC, sizeof(magic)) == 0)
		return 0;
	return err_set(err, -EEXIST,
		       "%s: exists and is no capture of pts: it is not overwritten (-o takes "
		       "another name)",
		       path);
}

/* A name beside @path that nobody has; several captures may be written at a time. */
static void name_tmp(char *ret, size_t n, const char *path)
{
	static unsigned count;
	char folder[PATH_MAX];

	folder_of(path, folder, sizeof(folder));
	snprintf(ret, n, "%.4000s/.pts-capture.%ld.%u", folder, (long)getpid(),
		 __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
}

/* For file systems that cannot keep a file nameless. */
/* A name that nobody has, in the folder of @path: for a new file, or for the nameless one that is open. */
static int take_name(struct trace_out *o, const char *path, struct err *err)
{
	char self[64] = "";
	bool taken;
	int rc;

	if (o->fd >= 0)
		snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	for (int i = 0; i < 100; i++) {
		name_tmp(o->tmp, sizeof(o->tmp), path);
		if (self[0]) {
			taken = linkat(AT_FDCWD, self, AT_FDCWD, o->tmp, AT_SYMLINK_FOLLOW) == 0;
		} else {
			o->fd = open(o->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
			taken = o->fd >= 0;
		}
		if (taken)
			return 0;
		if (errno != EEXIST)
			break;
	}
	rc = err_set(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	o->tmp[0] = '\0';
	return rc;
}

int trace_out_open(struct trace_out *o, const char *path, struct err *err)
{
	char folder[PATH_MAX];
	int rc = may_replace(path, err);

	if (rc)
		return rc;
	folder_of(path, folder, sizeof(folder));
	o->fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	if (o->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return err_set(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	return take_name(o, path, err);
}

void trace_out_release(struct trace_out *o)
{
	if (o->tmp[0])
		unlink(o->tmp);
	if (o->fd >= 0)
		close(o->fd);
	free(o->column);
	free(o->chunk);
	trace_out_init(o);
}

static int write_at(const struct trace_out *o, const void *data, uint64_t n, uint64_t off,
		    struct err *err)
{
	const char *p = data;

	while (n) {
		ssize_t put = pwrite(o->fd, p, n, (off_t)off);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_set(err, -errno, "the capture cannot be written: %s",
				       strerror(errno));
		p += put;
		off += (uint64_t)put;
		n -= (uint64_t)put;
	}
	return 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static struct file_chunk *new_chunk(struct trace_out *o)
{
	if ((o->n_chunks & (o->n_chunks - 1)) == 0) {
		struct file_chunk *p = realloc(
			o->chunk, (o->n_chunks ? 2 * (size_t)o->n_chunks : 1) * sizeof(*p));

		if (!p)
			return NULL;
		o->chunk = p;
	}
	return &o->chunk[o->n_chunks];
}

struct totals { /* of a chunk: apart from struct trace_out so that they stay in registers */
	uint64_t ios[TRACE_OPS], bytes[TRACE_OPS];
	uint32_t flags;
};

/* Columns in the order of the file; one that holds nothing is left out. */
static void fill_columns(char *to, const struct trace_rec *rec, size_t n, uint64_t base_ns,
			 struct totals *ret)
{
	struct trace_io *io = (void *)to;
	char *p = to + n * sizeof(*io);
	bool response = false, pid = false;

	for (size_t i = 0; i < n; i++) {
		io[i] = rec[i].io;
		io[i].start_ns -= base_ns;
		response |= rec[i].response_ns != TRACE_NO_RESPONSE;
		pid |= rec[i].pid != 0;
		ret->ios[io[i].op]++;
		ret->bytes[io[i].op] += trace_io_bytes(&io[i]);
	}
	for (size_t i = 0; i < n && response; i++, p += 8)
		memcpy(p, &rec[i].response_ns, 8);
	for (size_t i = 0; i < n && pid; i++, p += 4)
		memcpy(p, &rec[i].pid, 4);
	ret->flags = (response ? CHUNK_RESPONSE : 0) | (pid ? CHUNK_PID : 0);
}

/* Starts of the first and last read or write of all. */
static void note_span(struct trace_out *o, const struct trace_io *io, size_t n)
{
	size_t first = 0, last = n;

	while (first < n && io[first].op > TRACE_WRITE)
		first++;
	if (first == n)
		return;
	while (io[last - 1].op > TRACE_WRITE)
		last--;
	if (!o->any_rw)
		o->first_rw_ns = io[first].start_ns;
	o->any_rw = true;
	o->last_rw_ns = io[last - 1].start_ns;
}

int trace_out_chunk(struct trace_out *o, const struct trace_rec *rec, size_t n, uint64_t base_ns,
		    struct err *err)
{
	struct file_chunk *c = new_chunk(o);
	uint64_t bytes = chunk_bytes((uint32_t)n, CHUNK_RESPONSE | CHUNK_PID);
	struct totals t = { .flags = 0 };
	int rc;

	if (c && bytes > o->column_bytes) {
		free(o->column);
		o->column = malloc(bytes);
		o->column_bytes = o->column ? bytes : 0;
	}
	if (!c || !o->column)
		return err_set(err, -ENOMEM, "no memory for the capture's index");
	fill_columns(o->column, rec, n, base_ns, &t);
	*c = (struct file_chunk){ .off = o->pos, .n = (uint32_t)n, .flags = t.flags };
	c->first_ns = rec[0].io.start_ns - base_ns;
	c->last_ns = rec[n - 1].io.start_ns - base_ns;
	bytes = chunk_bytes(c->n, c->flags);
	c->crc = crc32c(0, o->column, bytes);
	rc = write_at(o, o->column, bytes, o->pos, err);
	if (rc)
		return rc;
	for (int op = 0; op < TRACE_OPS; op++) {
		o->ios[op] += t.ios[op];
		o->bytes[op] += t.bytes[op];
	}
	note_span(o, (const void *)o->column, n);
	o->digest = mix(mix(o->digest, c->crc), (uint64_t)c->n << 32 | c->flags);
	o->n += n;
	o->pos += (bytes + FILE_ALIGN - 1) / FILE_ALIGN * FILE_ALIGN;
	o->n_chunks++;
	return 0;
}

/* ---- merging: a little of each run is in memory ---- */

#define AHEAD 512u

struct run_reader {
	uint32_t chunk, end; /* of the file's chunks */
	uint32_t at; /* next record of the chunk to be read */
	unsigned i, n; /* of @rec */
	struct trace_rec rec[AHEAD];
};

static int read_column(int fd, void *to, size_t n, uint64_t off, struct err *err)
{
	ssize_t got = pread(fd, to, n, (off_t)off);

	if (got == (ssize_t)n)
		return 0;
	return err_set(err, -EIO, "the capture cannot be read back: %s",
		       got < 0 ? strerror(errno) : "cut short");
}

/* Refills @r->rec; n = 0 at the run's end. */
static int read_ahead(const struct trace_out *from, struct run_reader *r, struct err *err)
{
	const struct file_chunk *c;
	struct trace_io io[AHEAD];
	uint64_t response[AHEAD], off;
	uint32_t pid[AHEAD];
	int rc;

	r->i = r->n = 0;
	if (r->chunk < r->end && r->at == from->chunk[r->chunk].n)
		r->chunk++, r->at = 0;
	if (r->chunk == r->end)
		return 0;
	c = &from->chunk[r->chunk];
	r->n = c->n - r->at < AHEAD ? c->n - r->at : AHEAD;
	rc = read_column(from->fd, io, r->n * sizeof(io[0]), c->off + r->at * sizeof(io[0]), err);
	off = c->off + (uint64_t)c->n * sizeof(io[0]);
	if (!rc && c->flags & CHUNK_RESPONSE) {
		rc = read_column(from->fd, response, r->n * 8u, off + r->at * 8u, err);
		off += c->n * 8u;
	}
	if (!rc && c->flags & CHUNK_PID)
		rc = read_column(from->fd, pid, r->n * 4u, off + r->at * 4u, err);
	for (unsigned i = 0; i < r->n && !rc; i++) {
		r->rec[i].io = io[i];
		r->rec[i].response_ns = c->flags & CHUNK_RESPONSE ? response[i] : TRACE_NO_RESPONSE;
		r->rec[i].pid = c->flags & CHUNK_PID ? pid[i] : 0;
	}
	r->at += r->n;
	return rc;
}

struct merger {
	const struct trace_out *from;
	struct run_reader *run;
	unsigned *heap,
		n; /* runs that are not at their ends, the one with the first record on top */
};

static bool run_before(const struct merger *m, unsigned a, unsigned b)
{
	int64_t x = (int64_t)m->run[a].rec[m->run[a].i].io.start_ns;
	int64_t y = (int64_t)m->run[b].rec[m->run[b].i].io.start_ns;

	return x < y || (x == y && a < b);
}

static void sink_top(struct merger *m, unsigned i)
{
	for (;;) {
		unsigned least = i, l = 2 * i + 1, r = l + 1, t;

		if (l < m->n && run_before(m, m->heap[l], m->heap[least]))
			least = l;
		if (r < m->n && run_before(m, m->heap[r], m->heap[least]))
			least = r;
		if (least == i)
			return;
		t = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = t;
		i = least;
	}
}

/* The next record of all: 1, 0 none left. */
static int merger_next(struct merger *m, struct trace_rec *ret, struct err *err)
{
	struct run_reader *r;
	int rc;

	if (m->n == 0)
		return 0;
	r = &m->run[m->heap[0]];
	*ret = r->rec[r->i++];
	if (r->i == r->n) {
		rc = read_ahead(m->from, r, err);
		if (rc)
			return rc;
		if (r->n == 0)
			m->heap[0] = m->heap[--m->n];
	}
	sink_top(m, 0);
	return 1;
}

static int merger_start(struct merger *m, const struct trace_run *run, unsigned n, struct err *err)
{
	for (unsigned i = 0; i < n; i++) {
		int rc;

		m->run[i].chunk = run[i].first_chunk;
		m->run[i].end = run[i].end_chunk;
		rc = read_ahead(m->from, &m->run[i], err);
		if (rc)
			return rc;
		m->heap[m->n++] = i;
	}
	for (unsigned i = m->n / 2; i-- > 0;)
		sink_top(m, i);
	return 0;
}

static int merge_all(struct merger *m, struct trace_rec *buf, struct trace_out *to, struct err *err)
{
	uint64_t base = 0;
	bool based = false;
	size_t n = 0;
	int rc;

	while ((rc = merger_next(m, &buf[n], err)) == 1) {
		if (!based)
			base = buf[n].io.start_ns;
		based = true;
		if (++n < CHUNK_RECORDS)
			continue;
		rc = trace_out_chunk(to, buf, n, base, err);
		if (rc)
			return rc;
		n = 0;
	}
	return rc == 0 && n ? trace_out_chunk(to, buf, n, base, err) : rc;
}

int trace_out_merge(const struct trace_out *from, const struct trace_run *run, unsigned n,
		    struct trace_out *to, struct err *err)
{
	struct merger m = { .from = from };
	struct trace_rec *buf = malloc(CHUNK_RECORDS * sizeof(*buf));
	int rc = 0;

	m.run = calloc(n, sizeof(*m.run));
	m.heap = calloc(n, sizeof(*m.heap));
	if (!buf || !m.run || !m.heap)
		rc = err_set(err, -ENOMEM, "no memory to sort the capture");
	if (!rc)
		rc = merger_start(&m, run, n, err);
	if (!rc)
		rc = merge_all(&m, buf, to, err);
	free(m.heap);
	free(m.run);
	free(buf);
	return rc;
}

/* ---- the end ---- */

int trace_out_seal(struct trace_out *o, const char *name, const struct trace_report *r,
		   const struct trace_device *dev, unsigned n_devices, struct err *err)
{
	struct file_head h = { .version = FILE_VERSION, .head_bytes = FILE_ALIGN };
	uint64_t index_bytes = (uint64_t)o->n_chunks * sizeof(*o->chunk);
	struct buf text = BUF_INIT;
	char page[FILE_ALIGN] = { 0 };
	int rc;

	trace_text_write(&text, r, dev, n_devices);
	memcpy(h.magic, FILE_MAGIC, sizeof(h.magic));
	snprintf(h.name, sizeof(h.name), "%s", name);
	h.n = o->n;
	h.first_ns = o->first_rw_ns;
	h.duration_ns = o->last_rw_ns - o->first_rw_ns;
	for (unsigned i = 0; i < n_devices; i++)
		o->digest = mix(o->digest, crc32c(i, dev[i].name, strlen(dev[i].name)));
	h.digest = o->digest;
	h.n_chunks = o->n_chunks;
	h.n_devices = n_devices;
	h.index_off = o->pos;
	h.index_crc = crc32c(0, o->chunk, index_bytes);
	h.text_off = o->pos + index_bytes;
	h.text_bytes = text.len;
	h.text_crc = crc32c(0, buf_cstr(&text), text.len);
	h.crc = crc32c(0, &h, sizeof(h));
	memcpy(page, &h, sizeof(h));
	rc = write_at(o, o->chunk, index_bytes, h.index_off, err);
	if (!rc)
		rc = write_at(o, buf_cstr(&text), text.len, h.text_off, err);
	if (!rc)
		rc = write_at(o, page, sizeof(page), 0, err);
	buf_release(&text);
	if (!rc && fsync(o->fd) < 0)
		rc = err_set(err, -errno, "the capture cannot be written: %s", strerror(errno));
	return rc;
}

int trace_out_publish(struct trace_out *o, const char *path, struct err *err)
{
	char folder[PATH_MAX];
	/* rename() puts a file in the place of another, which linking alone cannot: a nameless one gets a name first */
	int rc = o->tmp[0] ? 0 : take_name(o, path, err), fd;

	if (rc)
		return rc;
	if (rename(o->tmp, path) < 0)
		return err_set(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	o->tmp[0] = '\0';
	folder_of(path, folder, sizeof(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) { /* the name itself; a file system that cannot is no reason to fail */
		fsync(fd);
		close(fd);
	}
	return 0;
}
