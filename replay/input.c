/* SPDX-License-Identifier: MIT */
/* One buffer: what was read and not yet given out. It slides to the front when it runs low, and is filled to the brim. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/input.h"
#include "replay/unpack.h"

#define BUFFER_BYTES ((size_t)256 << 10) /* what is read stays in the cache until it is parsed */
#define PACKED_BYTES ((size_t)64 << 10)

_Static_assert(INPUT_PEEK_MAX <= BUFFER_BYTES && INPUT_LINE_MAX < BUFFER_BYTES,
	       "what is asked for in one piece");

/* No trace shrinks like that: what does is made to fill disks. */
#define BOMB_RATIO 400u
#define BOMB_BYTES ((uint64_t)64 << 20)

struct input {
	char *path;
	int fd;
	int raw_end; /* the file has no more bytes */
	int end; /* nor has the unpacker */
	struct unpack *unpack; /* NULL: plain */
	unsigned char *packed; /* read and not unpacked yet: packed[at, n) */
	size_t packed_at, packed_n;
	char *buf; /* BUFFER_BYTES and INPUT_SLACK: buf[at, n) is to be given out */
	size_t at, n;
	uint64_t packed_bytes, plain_bytes; /* of a packed file: taken and given so far */
	struct input_place place;
	char *hidden; /* where a NUL stands in for a byte of the buffer, and that byte */
	char hidden_byte;
};

/* Up to @room bytes of the file. 0 at its end. */
static ssize_t read_some(struct input *in, void *to, size_t room, struct err *err)
{
	ssize_t got;

	do {
		got = read(in->fd, to, room);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, errno == EISDIR ? -EINVAL : -EIO, "%s: %s", in->path,
			       errno == EISDIR ? "is a folder" : strerror(errno));
	if (got == 0)
		in->raw_end = 1;
	return got;
}

static int fill_plain(struct input *in, struct err *err)
{
	ssize_t got = read_some(in, in->buf + in->n, BUFFER_BYTES - in->n, err);

	if (got < 0)
		return (int)got;
	in->n += (size_t)got;
	in->end = in->raw_end;
	return 0;
}

static int fill_packed(struct input *in, struct err *err)
{
	struct unpack_io io;
	int rc;

	if (in->packed_at == in->packed_n && !in->raw_end) {
		ssize_t got = read_some(in, in->packed, PACKED_BYTES, err);

		if (got < 0)
			return (int)got;
		in->packed_at = 0;
		in->packed_n = (size_t)got;
	}
	io = (struct unpack_io){ in->packed + in->packed_at, in->packed_n - in->packed_at,
				 (unsigned char *)in->buf + in->n, BUFFER_BYTES - in->n };
	rc = unpack_step(in->unpack, &io, in->raw_end, err);
	in->packed_bytes += in->packed_n - in->packed_at - io.in_n;
	if (rc < 0)
		return err_prefix(err, rc, "%s: byte %llu of the packed file", in->path,
				  (unsigned long long)in->packed_bytes);
	in->plain_bytes += BUFFER_BYTES - in->n - io.out_n;
	in->packed_at = in->packed_n - io.in_n;
	in->n = BUFFER_BYTES - io.out_n;
	in->end = rc;
	if (in->plain_bytes > BOMB_BYTES && in->plain_bytes / BOMB_RATIO > in->packed_bytes)
		return err_set(err, -EINVAL,
			       "%s: unpacks to more than %u times its size: no capture does",
			       in->path, BOMB_RATIO);
	return 0;
}

/* Makes at least @want bytes ready, or all that is left. */
static int fill(struct input *in, size_t want, struct err *err)
{
	int rc = 0;

	BUG_ON(want > BUFFER_BYTES);
	if (in->n - in->at >= want || in->end)
		return 0;
	memmove(in->buf, in->buf + in->at, in->n - in->at);
	in->n -= in->at;
	in->at = 0;
	while (!rc && !in->end && in->n < BUFFER_BYTES && (in->n < want || !in->unpack))
		rc = in->unpack ? fill_packed(in, err) : fill_plain(in, err);
	return rc;
}

/* The first bytes say how the file is packed; they then wait where they belong. */
static int begin(struct input *in, struct err *err)
{
	int rc = 0;

	while (!rc && !in->raw_end && in->packed_n < 8) {
		ssize_t got = read_some(in, in->packed + in->packed_n, PACKED_BYTES - in->packed_n,
					err);

		if (got < 0)
			rc = (int)got;
		else
			in->packed_n += (size_t)got;
	}
	if (rc)
		return rc;
	if (in->packed_n == 0)
		return err_set(err, -EINVAL, "%s: is empty", in->path);
	rc = unpack_open(in->packed, in->packed_n, &in->unpack, err);
	if (rc)
		return err_prefix(err, rc, "%s", in->path);
	if (!in->unpack) {
		memcpy(in->buf, in->packed, in->packed_n);
		in->n = in->packed_n;
		in->packed_n = 0;
	}
	return 0;
}

static int open_path(const char *path, int *ret_fd, struct err *err)
{
	struct stat st;
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0) {
		int rc = err_set(err, -EINVAL, "%s: %s", path, strerror(errno));

		if (fd >= 0)
			close(fd);
		return rc;
	}
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
		close(fd);
		return err_set(err, -EINVAL, "%s: %s", path,
			       S_ISDIR(st.st_mode) ? "is a folder, not a capture"
						   : "is not a regular file or a pipe");
	}
	*ret_fd = fd;
	return 0;
}

int input_open(const char *path, struct input **ret_input, struct err *err)
{
	struct input *in;
	int fd = -1, rc;

	rc = open_path(path, &fd, err);
	if (rc)
		return rc;
	in = calloc(1, sizeof(*in));
	if (in) {
		in->fd = fd;
		in->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
		in->buf = malloc(BUFFER_BYTES + INPUT_SLACK);
		in->packed = malloc(PACKED_BYTES);
	} else {
		close(fd);
	}
	if (!in || !in->path || !in->buf || !in->packed)
		rc = err_set(err, -ENOMEM, "%s: no memory to read it", path);
	if (!rc)
		rc = begin(in, err);
	if (rc) {
		input_close(in);
		return rc;
	}
	*ret_input = in;
	return 0;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	unpack_close(in->unpack);
	close(in->fd);
	free(in->packed);
	free(in->buf);
	free(in->path);
	free(in);
}

const char *input_path(const struct input *in)
{
	return in->path;
}

uint64_t input_lineno(const struct input *in)
{
	return in->place.lineno;
}

uint64_t input_offset(const struct input *in)
{
	return in->place.offset;
}

/* Puts the byte back that a NUL stood in for. */
static void unhide(struct input *in)
{
	if (in->hidden)
		*in->hidden = in->hidden_byte;
	in->hidden = NULL;
}

static void hide(struct input *in, char *at)
{
	in->hidden = at;
	in->hidden_byte = *at;
	*at = '\0';
}

int input_peek(struct input *in, size_t want, const char **ret_bytes, size_t *ret_n,
	       struct err *err)
{
	int rc;

	BUG_ON(want > INPUT_PEEK_MAX);
	unhide(in);
	rc = fill(in, want, err);
	if (rc)
		return rc;
	*ret_bytes = in->buf + in->at;
	*ret_n = in->n - in->at;
	return 0;
}

void input_skip(struct input *in, size_t n)
{
	BUG_ON(n > in->n - in->at);
	in->at += n;
	in->place.offset += n;
}

int input_head(struct input *in, const char **ret_head, size_t *ret_n, struct err *err)
{
	int rc = input_peek(in, INPUT_HEAD, ret_head, ret_n, err);

	if (!rc && *ret_n > INPUT_HEAD)
		*ret_n = INPUT_HEAD;
	return rc;
}

static int too_long(const struct input *in, struct err *err)
{
	return err_set(err, -EINVAL,
		       "%s:%llu: the line is longer than %d bytes: no capture as text", in->path,
		       (unsigned long long)in->place.lineno + 1, INPUT_LINE_MAX);
}

/* Up to the newline found by @search (memchr: the first, memrchr: the last), or all that is left of the file. */
static int find_newline(struct input *in, void *(*search)(const void *, int, size_t),
			const char **ret, struct err *err)
{
	int rc;

	*ret = search(in->buf + in->at, '\n', in->n - in->at);
	if (*ret || in->end)
		return 0;
	rc = fill(in, INPUT_LINE_MAX + 1, err);
	if (!rc)
		*ret = search(in->buf + in->at, '\n', in->n - in->at);
	return rc;
}

static void *first_of(const void *s, int c, size_t n)
{
	return memchr(s, c, n);
}

static void *last_of(const void *s, int c, size_t n)
{
	return memrchr(s, c, n);
}

int input_line(struct input *in, char **ret_line, size_t *ret_n, struct err *err)
{
	const char *nl;
	char *line;
	size_t len;
	int rc;

	unhide(in);
	rc = find_newline(in, first_of, &nl, err);
	if (rc)
		return rc;
	line = in->buf + in->at;
	len = nl ? (size_t)(nl - line) : in->n - in->at;
	if (len > INPUT_LINE_MAX)
		return too_long(in, err);
	if (!nl && len == 0)
		return 0;
	input_count_line(&in->place, len + (nl != NULL));
	in->at += len + (nl != NULL);
	if (len && line[len - 1] == '\r')
		len--;
	hide(in, line + len);
	*ret_line = line;
	*ret_n = len;
	return 1;
}

int input_lines(struct input *in, const char **ret_text, size_t *ret_n, struct err *err)
{
	const char *nl;
	size_t n;
	int rc;

	unhide(in);
	rc = find_newline(in, last_of, &nl, err);
	if (rc)
		return rc;
	*ret_text = in->buf + in->at;
	n = nl ? (size_t)(nl + 1 - *ret_text) : in->n - in->at;
	if (!nl && n > INPUT_LINE_MAX)
		return too_long(in, err);
	if (n == 0)
		return 0;
	in->at += n;
	hide(in, in->buf + in->at);
	*ret_n = n;
	return 1;
}

struct input_place *input_place(struct input *in)
{
	return &in->place;
}

int input_bytes(struct input *in, size_t n, const void **ret_bytes, size_t *ret_n, struct err *err)
{
	size_t have;
	int rc;

	unhide(in);
	rc = fill(in, n, err);
	if (rc)
		return rc;
	have = in->n - in->at;
	if (have == 0)
		return 0;
	*ret_bytes = in->buf + in->at;
	*ret_n = have < n ? have : n;
	in->at += *ret_n;
	in->place.offset += *ret_n;
	return have < n ? 2 : 1;
}
