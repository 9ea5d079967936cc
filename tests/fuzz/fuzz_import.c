/* SPDX-License-Identifier: MIT */
/*
 * Bytes into a parser, and what comes out is looked at: nothing but a message or a capture that holds together may.
 *
 *	fuzz_import replay CORPUS [ROUNDS]	each seed of CORPUS/TARGET/, as it is and changed ROUNDS times, in one process
 *	fuzz_import mutate TARGET SECONDS CORPUS	changed seeds of one target until the time is over; prints the seed of each
 *						crash beforehand to crash-TARGET
 *
 * Built with -DLIBFUZZER the targets are libFuzzer's, chosen by the environment: PTS_FUZZ_TARGET. A target is a format's name,
 * "detect" (the format by content), "map", "streammap" or "capture" (the canonical file).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "replay/analysis.h"
#include "replay/columns.h"
#include "replay/format.h"
#include "replay/iolog.h"
#include "replay/streammap.h"
#include "replay/trace_file.h"
#include "pts/base/crc.h"

#define DATA_MAX ((size_t)64 << 10)

static char out_path[256]; /* of the capture */

static void __attribute__((noreturn)) wrong(const char *target, const char *what, const char *text)
{
	fprintf(stderr, "fuzz_import: %s: %s: %s\n", target, what, text);
	abort();
}

/* A message is there, on one line, whenever something failed. */
static void check_message(const char *target, int rc, const struct err *err)
{
	if (rc > 0)
		wrong(target, "an error that is none", err->msg);
	if (!err->msg[0] || strchr(err->msg, '\n'))
		wrong(target, "no message, or one of several lines", err->msg);
}

/* What was accepted can be read, analysed and exported. */
static void use_capture(const char *target, const char *path)
{
	struct err err = { "" };
	struct seq_rule rule = { .strict = false };
	struct trace_cursor c = { 0 };
	struct iolog_account account;
	struct trace_rec rec;
	struct analysis a;
	struct trace *t;
	uint64_t n = 0;
	FILE *null;
	int rc = trace_open(path, true, &t, &err);

	if (rc) {
		check_message(target, rc, &err);
		return;
	}
	while ((rc = trace_next(t, &c, &rec, &err)) == 1)
		n++;
	if (rc || n != trace_head(t)->n)
		wrong(target, "records are missing", err.msg);
	rc = analysis_run(t, &rule, trace_head(t)->duration_ns / 1000 + 1, &a, &err);
	if (rc)
		check_message(target, rc, &err);
	else
		analysis_release(&a);
	null = fopen("/dev/null", "we");
	if (null) {
		struct err ignored = { "" };

		if (iolog_write(t, NULL, null, &account, &ignored))
			wrong(target, "no export", ignored.msg);
		fclose(null);
	}
	trace_close(t);
}

static int memory_file(const void *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
		perror("memfd");
		exit(1);
	}
	return fd;
}

static void run_import(const char *target, const char *path, bool skip_bad)
{
	struct import_opts o = { .format = strcmp(target, "detect") == 0 ? NULL : target,
				 .skip_bad = skip_bad,
				 .name = "fuzz" };
	struct err err = { "" };
	int rc;

	if (strcmp(target, "csv") == 0)
		o.map = "ts=0:us,dev=1,op=2:rd/wr,off=3:B,len=4:B,rt=5:us,sep=semicolon,header=1";
	if (strcmp(target, "ssdsim") == 0 || strcmp(target, "disksim") == 0)
		o.time_unit = "ms";
	if (strcmp(target, "fiu") == 0)
		o.coalesce = skip_bad;
	rc = import_file(path, &o, out_path, NULL, &err);
	if (rc)
		check_message(target, rc, &err);
	else
		use_capture(target, out_path);
	unlink(out_path);
}

static void run_text(const char *target, const char *data, size_t n)
{
	char *text = malloc(n + 1);
	struct err err = { "" };
	struct streammap m;
	struct columns c;
	int rc;

	if (!text)
		return;
	memcpy(text, data, n);
	text[n] = '\0';
	if (strcmp(target, "map") == 0) {
		rc = columns_parse(text, "us", &c, &err);
	} else {
		rc = streammap_parse("fuzz", text, n, &m, &err);
		if (!rc)
			streammap_release(&m);
	}
	if (rc)
		check_message(target, rc, &err);
	free(text);
}

/* Checksums as they have to be, so that what lies behind them is reached. */
static void sign(char *data, size_t n)
{
	struct file_head h;

	if (n < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	memcpy(h.magic, FILE_MAGIC, sizeof(h.magic));
	h.version = FILE_VERSION;
	if (h.index_off <= n &&
	    (uint64_t)h.n_chunks * sizeof(struct file_chunk) <= n - h.index_off) {
		for (uint32_t i = 0; i < h.n_chunks; i++) {
			char *at = data + h.index_off + i * sizeof(struct file_chunk);
			struct file_chunk c;

			memcpy(&c, at, sizeof(c));
			if (c.off <= n && chunk_bytes(c.n, c.flags) <= n - c.off)
				c.crc = crc32c(0, data + c.off, chunk_bytes(c.n, c.flags));
			memcpy(at, &c, sizeof(c));
		}
		h.index_crc = crc32c(0, data + h.index_off, h.n_chunks * sizeof(struct file_chunk));
	}
	if (h.text_off <= n && h.text_bytes <= n - h.text_off)
		h.text_crc = crc32c(0, data + h.text_off, h.text_bytes);
	h.crc = 0;
	h.crc = crc32c(0, &h, sizeof(h));
	memcpy(data, &h, sizeof(h));
}

static void run_signed(const void *data, size_t n)
{
	char path[64], *copy = malloc(n);
	int fd;

	if (!copy)
		return;
	memcpy(copy, data, n);
	sign(copy, n);
	fd = memory_file(copy, n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	use_capture("capture", path);
	close(fd);
	free(copy);
}

static void run_one(const char *target, const void *data, size_t n)
{
	char path[64];
	int fd;

	if (n == 0 || n > DATA_MAX)
		return;
	if (strcmp(target, "map") == 0 || strcmp(target, "streammap") == 0) {
		run_text(target, data, n);
		return;
	}
	fd = memory_file(data, n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (strcmp(target, "capture") == 0) {
		use_capture(target, path);
		run_signed(data, n);
	} else {
		run_import(target, path, false);
		run_import(target, path, true);
	}
	close(fd);
}

static void init(void)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	snprintf(out_path, sizeof(out_path), "%s/pts-fuzz.%ld.cap", folder, (long)getpid());
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	const char *target = getenv("PTS_FUZZ_TARGET");

	if (!out_path[0])
		init();
	run_one(target ? target : "detect", data, n);
	return 0;
}
#else

static uint64_t state = 0x1234567;

static uint32_t any(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* Numbers and signs at which parsers trip. */
static const char *const tokens[] = { "18446744073709551615",
				      "9223372036854775808",
				      "-1",
				      "0",
				      "0x",
				      ".",
				      ",",
				      ";",
				      "\"",
				      "\n",
				      "\r\n",
				      " ",
				      "[",
				      "99999999999999999999",
				      "1e9",
				      "4294967296",
				      "\t",
				      "#",
				      "(" };

static size_t put_token(char *data, size_t n, size_t room, uint32_t at)
{
	const char *t = tokens[any(sizeof(tokens) / sizeof(tokens[0]))];
	size_t k = strlen(t), cut = any(6);

	if (cut > n - at)
		cut = n - at;
	if (n - cut + k > room)
		return n;
	memmove(data + at + k, data + at + cut, n - at - cut);
	memcpy(data + at, t, k);
	return n - cut + k;
}

static size_t change(char *data, size_t n, size_t room)
{
	static const uint64_t odd[] = {
		0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, UINT32_MAX
	};
	uint32_t at = any((uint32_t)n), size = 1u << any(4);
	uint64_t v = odd[any(sizeof(odd) / sizeof(odd[0]))];

	switch (any(6)) {
	case 0:
		data[at] ^= (char)(1u << any(8));
		return n;
	case 1:
		data[at] = (char)any(256);
		return n;
	case 2: /* torn off, or torn in the middle */
		if (any(2))
			return at ? at : 1;
		size = any((uint32_t)(n - at)) % 40;
		memmove(data + at, data + at + size, n - at - size);
		return n - size ? n - size : 1;
	case 3: /* a piece again */
		size = any(64) + 1;
		if (at + size > n || n + size > room)
			return n;
		memmove(data + at + size, data + at, n - at);
		return n + size;
	case 4:
		if (at + size <= n)
			memcpy(data + at, &v, size);
		return n;
	default:
		return put_token(data, n, room, at);
	}
}

static size_t read_seed(const char *path, char *data)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(data, 1, DATA_MAX, f) : 0;

	if (f)
		fclose(f);
	return n;
}

/* Walks the seeds of a target; each is run changed @rounds times. Returns the number of runs. */
static unsigned long run_seeds(const char *corpus, const char *target, unsigned rounds, FILE *note)
{
	static char seed[DATA_MAX], data[2 * DATA_MAX];
	char path[512];
	struct dirent *e;
	unsigned long runs = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", corpus, target);
	d = opendir(path);
	while (d && (e = readdir(d)) != NULL) {
		char file[1024];
		size_t n;

		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		n = e->d_name[0] == '.' ? 0 : read_seed(file, seed);
		for (unsigned i = 0; n && i <= rounds; i++, runs++) {
			size_t k = n;

			memcpy(data, seed, n);
			for (unsigned c = i ? 1 + any(4) : 0; c; c--)
				k = change(data, k, DATA_MAX);
			if (note) {
				rewind(note);
				fwrite(data, 1, k, note);
				fflush(note);
				if (ftruncate(fileno(note), (off_t)k))
					perror("crash file");
			}
			run_one(target, data, k);
		}
	}
	if (d)
		closedir(d);
	return runs;
}

static int replay(const char *corpus, unsigned rounds)
{
	DIR *d = opendir(corpus);
	struct dirent *e;
	int bad = 0;

	if (!d) {
		fprintf(stderr, "%s: %s\n", corpus, strerror(errno));
		return 1;
	}
	while ((e = readdir(d)) != NULL) {
		unsigned long runs;

		if (e->d_name[0] == '.')
			continue;
		runs = run_seeds(corpus, e->d_name, rounds, NULL);
		bad |= runs == 0;
		printf(runs ? "ok seeds of %s: %lu inputs\n" : "not ok seeds of %s: %lu inputs\n",
		       e->d_name, runs);
		fflush(stdout);
	}
	closedir(d);
	return bad;
}

static int mutate(const char *target, unsigned seconds, const char *corpus)
{
	time_t end = time(NULL) + seconds;
	unsigned long runs = 0, more = 1;
	char name[256];
	FILE *note;

	snprintf(name, sizeof(name), "crash-%s", target);
	note = fopen(name, "w+e");
	state = (uint64_t)time(NULL) * 2654435761u;
	while (time(NULL) < end && more) {
		more = run_seeds(corpus, target, 50, note);
		runs += more;
	}
	if (note)
		fclose(note);
	unlink(name);
	printf("%s: %lu inputs\n", target, runs);
	return runs ? 0 : 1;
}

int main(int argc, char **argv)
{
	init();
	if (argc >= 3 && strcmp(argv[1], "replay") == 0)
		return replay(argv[2], argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
	if (argc == 5 && strcmp(argv[1], "mutate") == 0)
		return mutate(argv[2], (unsigned)strtoul(argv[3], NULL, 10), argv[4]);
	fprintf(stderr,
		"usage: fuzz_import replay CORPUS [ROUNDS] | mutate TARGET SECONDS CORPUS\n");
	return 2;
}
#endif
