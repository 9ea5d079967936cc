/* SPDX-License-Identifier: MIT */
/* Reading a capture: head, index and text stay in memory, records are mapped a chunk at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/crc.h"
#include "replay/trace_file.h"

struct trace {
	char *path;
	int fd;
	uint64_t bytes;
	struct file_head file;
	struct trace_head head;
	struct trace_device *device;
	struct file_chunk *chunk;
	void *map; /* the chunk that is mapped now */
	size_t map_bytes;
	uint32_t mapped; /* its number */
};

static int damaged(const struct trace *t, struct err *err, const char *what)
{
	return err_set(err, -EINVAL, "%s: %s", t->path, what);
}

static int read_at(const struct trace *t, void *to, uint64_t n, uint64_t off, struct err *err)
{
	char *p = to;

	while (n) {
		ssize_t got = pread(t->fd, p, n, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, -EIO, "%s: byte %llu: %s", t->path,
				       (unsigned long long)off, strerror(errno));
		if (got == 0)
			return damaged(t, err, "the capture is cut short");
		p += got;
		off += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

#define BLKTRACE_MAGIC 0x65617400u /* a version in the low byte */

static int no_capture(const struct trace *t, struct err *err)
{
	uint32_t magic = 0;

	if (pread(t->fd, &magic, 4, 0) == 4 && (magic & 0xffffff00u) == BLKTRACE_MAGIC)
		return err_set(err, -EINVAL,
			       "%s: holds blktrace records, as blktrace writes them, or a pts "
			       "capture that was killed: pts import %s -o CAP",
			       t->path, t->path);
	return damaged(t, err, "is no capture of pts (import it first: pts import)");
}

static int read_head(struct trace *t, struct err *err)
{
	struct file_head h;
	uint32_t crc;
	int rc;

	if (t->bytes < FILE_ALIGN)
		return no_capture(t, err);
	rc = read_at(t, &h, sizeof(h), 0, err);
	if (rc)
		return rc;
	if (memcmp(h.magic, FILE_MAGIC, sizeof(h.magic)) != 0)
		return no_capture(t, err);
	if (h.version != FILE_VERSION)
		return err_set(err, -EINVAL,
			       "%s: is a capture of version %u; this pts reads version %d", t->path,
			       h.version, FILE_VERSION);
	crc = h.crc;
	h.crc = 0;
	if (crc32c(0, &h, sizeof(h)) != crc)
		return damaged(t, err, "the head of the capture is damaged");
	if (h.index_off > t->bytes ||
	    (uint64_t)h.n_chunks * sizeof(*t->chunk) > t->bytes - h.index_off ||
	    h.text_off > t->bytes || h.text_bytes > t->bytes - h.text_off || h.n_devices > 65535 ||
	    memchr(h.name, '\0', sizeof(h.name)) == NULL)
		return damaged(t, err, "the capture is cut short");
	t->file = h;
	return 0;
}

/* Each chunk lies inside the file, and their records make up the number of the head. */
static int read_index(struct trace *t, struct err *err)
{
	uint64_t bytes = (uint64_t)t->file.n_chunks * sizeof(*t->chunk), n = 0;
	int rc;

	t->chunk = malloc(bytes ? bytes : 1);
	if (!t->chunk)
		return err_set(err, -ENOMEM, "%s: no memory for its index", t->path);
	rc = read_at(t, t->chunk, bytes, t->file.index_off, err);
	if (rc)
		return rc;
	if (crc32c(0, t->chunk, bytes) != t->file.index_crc)
		return damaged(t, err, "the index of the capture is damaged");
	for (uint32_t i = 0; i < t->file.n_chunks; i++) {
		const struct file_chunk *c = &t->chunk[i];

		if (c->n == 0 || c->n > CHUNK_RECORDS || c->off % FILE_ALIGN || c->off > t->bytes ||
		    chunk_bytes(c->n, c->flags) > t->bytes - c->off)
			return damaged(t, err, "the index of the capture is damaged");
		n += c->n;
		t->head.has_response |= (c->flags & CHUNK_RESPONSE) != 0;
		t->head.has_pid |= (c->flags & CHUNK_PID) != 0;
	}
	return n == t->file.n ? 0 : damaged(t, err, "the index of the capture is damaged");
}

static int read_text(struct trace *t, struct err *err)
{
	char *text = malloc(t->file.text_bytes + 1);
	int rc;

	if (!text)
		return err_set(err, -ENOMEM, "%s: no memory for its tables", t->path);
	rc = read_at(t, text, t->file.text_bytes, t->file.text_off, err);
	if (!rc && crc32c(0, text, t->file.text_bytes) != t->file.text_crc)
		rc = damaged(t, err, "the text of the capture is damaged");
	if (!rc)
		rc = trace_text_read(text, t->file.text_bytes, &t->head.report, t->file.n_devices,
				     &t->device, err);
	free(text);
	return rc;
}

static void unmap(struct trace *t)
{
	if (t->map)
		munmap(t->map, t->map_bytes);
	t->map = NULL;
}

static int map_chunk(struct trace *t, uint32_t i, struct err *err)
{
	const struct file_chunk *c = &t->chunk[i];
	void *p;

	if (t->map && t->mapped == i)
		return 0;
	unmap(t);
	t->map_bytes = chunk_bytes(c->n, c->flags);
	p = mmap(NULL, t->map_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, t->fd, (off_t)c->off);
	if (p == MAP_FAILED)
		return err_set(err, -EIO, "%s: cannot be mapped: %s", t->path, strerror(errno));
	t->map = p;
	t->mapped = i;
	return 0;
}

/* Even where the checksum agrees: who reads the records trusts their devices and kinds, and the order of their times. */
static bool makes_sense(const struct trace *t, uint32_t chunk)
{
	const struct trace_io *io = t->map;
	uint64_t last = chunk ? t->chunk[chunk - 1].last_ns : 0;
	bool bad = false;

	for (uint32_t i = 0; i < t->chunk[chunk].n; i++) {
		bad |= io[i].dev >= t->file.n_devices;
		bad |= io[i].op >= TRACE_OPS;
		bad |= io[i].start_ns < last;
		last = io[i].start_ns;
	}
	return !bad && last == t->chunk[chunk].last_ns;
}

static int check_chunks(struct trace *t, struct err *err)
{
	for (uint32_t i = 0; i < t->file.n_chunks; i++) {
		int rc = map_chunk(t, i, err);

		if (rc)
			return rc;
		if (crc32c(0, t->map, t->map_bytes) != t->chunk[i].crc || !makes_sense(t, i))
			return err_set(err, -EINVAL,
				       "%s: the records from byte %llu on are damaged", t->path,
				       (unsigned long long)t->chunk[i].off);
	}
	return 0;
}

static int open_file(struct trace *t, struct err *err)
{
	struct stat st;

	t->fd = open(t->path, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0 || fstat(t->fd, &st) < 0)
		return err_set(err, -EINVAL, "%s: %s", t->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return damaged(t, err,
			       S_ISDIR(st.st_mode) ? "is a folder, not a capture"
						   : "is no regular file");
	t->bytes = (uint64_t)st.st_size;
	return 0;
}

int trace_open(const char *path, bool check, struct trace **ret_trace, struct err *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	int rc;

	if (t) {
		t->fd = -1;
		t->path = strdup(path);
	}
	if (!t || !t->path) {
		trace_close(t);
		return err_set(err, -ENOMEM, "%s: no memory", path);
	}
	rc = open_file(t, err);
	if (!rc)
		rc = read_head(t, err);
	if (!rc)
		rc = read_index(t, err);
	if (!rc)
		rc = read_text(t, err);
	if (!rc && check)
		rc = check_chunks(t, err);
	if (rc) {
		trace_close(t);
		return rc;
	}
	memcpy(t->head.name, t->file.name, sizeof(t->head.name));
	t->head.n = t->file.n;
	t->head.first_ns = t->file.first_ns;
	t->head.duration_ns = t->file.duration_ns;
	t->head.digest = t->file.digest;
	t->head.n_devices = t->file.n_devices;
	t->head.device = t->device;
	*ret_trace = t;
	return 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	unmap(t);
	if (t->fd >= 0)
		close(t->fd);
	free(t->chunk);
	free(t->device);
	free(t->path);
	free(t);
}

const struct trace_head *trace_head(const struct trace *t)
{
	return &t->head;
}

/* The chunk that holds record @c->next becomes the cursor's window. */
static int move_window(struct trace *t, struct trace_cursor *c, struct err *err)
{
	uint32_t i = 0;
	uint64_t first = 0;
	const char *p;
	int rc;

	if (c->n && c->next == c->first + c->n)
		i = c->chunk + 1, first = c->next;
	for (; first + t->chunk[i].n <= c->next; i++)
		first += t->chunk[i].n;
	rc = map_chunk(t, i, err);
	if (rc)
		return rc;
	p = t->map;
	*c = (struct trace_cursor){
		.next = c->next, .chunk = i, .first = first, .n = t->chunk[i].n
	};
	c->io = (const void *)p;
	p += (uint64_t)c->n * sizeof(struct trace_io);
	if (t->chunk[i].flags & CHUNK_RESPONSE) {
		c->response = (const void *)p;
		p += (uint64_t)c->n * 8;
	}
	if (t->chunk[i].flags & CHUNK_PID)
		c->pid = (const void *)p;
	return 0;
}

int trace_next(struct trace *t, struct trace_cursor *c, struct trace_rec *ret, struct err *err)
{
	uint64_t at;

	if (c->next >= t->head.n)
		return 0;
	if (c->next - c->first >= c->n || !t->map || t->mapped != c->chunk) {
		int rc = move_window(t, c, err);

		if (rc)
			return rc;
	}
	at = c->next++ - c->first;
	ret->io = c->io[at];
	ret->response_ns = c->response ? c->response[at] : TRACE_NO_RESPONSE;
	ret->pid = c->pid ? c->pid[at] : 0;
	return 1;
}

int trace_window(struct trace *t, struct trace_cursor *c, struct err *err)
{
	if (c->next >= t->head.n)
		return 0;
	if (c->next - c->first < c->n && t->map && t->mapped == c->chunk)
		return 1;
	int rc = move_window(t, c, err);
	return rc ? rc : 1;
}
