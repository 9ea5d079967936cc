/* SPDX-License-Identifier: MIT */
#include "pts/identity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "workloads/dut_sim.h"

static void first_line(const char *path, char *ret, size_t n)
{
	FILE *f = fopen(path, "re");

	ret[0] = 0;
	if (f && fgets(ret, (int)n, f))
		ret[strcspn(ret, "\n")] = 0;
	if (f)
		fclose(f);
}

static void of_file(const char *path, char *ret, size_t n)
{
	struct stat st;

	if (stat(path, &st) == 0)
		snprintf(ret, n, "file %x:%llu", (unsigned)st.st_dev,
			 (unsigned long long)st.st_ino);
}

static void of_disk(const char *path, char *ret, size_t n)
{
	char dir[64], name[128], line[PATH_MAX], boot[64];
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return;
	snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(st.st_rdev), minor(st.st_rdev));
	snprintf(name, sizeof name, "%s/loop/backing_file", dir);
	first_line(name, line, sizeof line);
	if (line[0]) {
		of_file(line, ret, n);
		return;
	}
	first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	snprintf(name, sizeof name, "%s/diskseq", dir);
	first_line(name, line, sizeof line);
	snprintf(ret, n, "boot %s disk %.40s", boot, line);
}

void identity_of(const struct dut_info *d, char *ret, size_t n)
{
	ret[0] = 0;
	if (d->kind == DUT_FILE)
		of_file(d->path, ret, n);
	else if (d->wwid[0])
		snprintf(ret, n, "wwid %s", d->wwid);
	else if (d->kind == DUT_BLOCK && !d->serial[0])
		of_disk(d->path, ret, n);
}

void identity_text(const struct dut *d, struct buf *out)
{
	char text[200];

	if (d->info.kind == DUT_SIM) {
		dut_sim_params(d, out);
		return;
	}
	identity_of(&d->info, text, sizeof text);
	buf_str(out, text);
}

/* The line of @text that begins with the name of @line, "gc.wa_steady=..."; NULL none. */
static const char *line_of(const char *text, const char *line)
{
	size_t n = strcspn(line, "=\n");

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (!strncmp(text, line, n) && (text[n] == '=' || text[n] == '\n' || !text[n]))
			return text;
	return NULL;
}

static size_t line_len(const char *line)
{
	return line ? strcspn(line, "\n") : 0;
}

/* Value in a line, "not there" without a line, the line itself where it has no name. */
static void value_of(const char *line, struct buf *out)
{
	size_t n = line_len(line);
	const char *eq = line ? memchr(line, '=', n) : NULL;

	if (!line || !n)
		buf_str(out, "not there");
	else if (eq)
		buf_add(out, eq + 1, n - (size_t)(eq + 1 - line));
	else
		buf_fmt(out, "'%.*s'", (int)n, line);
}

static void tell_line(const char *name, const char *was, const char *is, struct buf *out)
{
	size_t n = strcspn(name, "=\n");

	buf_fmt(out, "%s%.*s was ", out->len ? ", " : "", name[n] == '=' ? (int)n : 2,
		name[n] == '=' ? name : "it");
	value_of(was, out);
	buf_str(out, ", is ");
	value_of(is, out);
}

void identity_diff(const char *was, const char *is, struct buf *out)
{
	unsigned more = 0;

	if (!strcmp(was, is))
		return;
	if (!strchr(was, '=') || !strchr(is, '=')) { /* one line, or none */
		tell_line("", was, is, out);
		return;
	}
	for (unsigned turn = 0; turn < 2;
	     turn++) { /* lines that changed or went; lines that are new */
		for (const char *p = turn ? is : was; *p; p += line_len(p), p += *p == '\n') {
			const char *other = line_of(turn ? was : is, p);
			size_t n = line_len(p);

			if (other && (turn || (line_len(other) == n && !strncmp(p, other, n))))
				continue;
			if (more++ < 3)
				tell_line(p, turn ? NULL : p, turn ? p : other, out);
		}
	}
	if (more > 3)
		buf_fmt(out, ", and %u more", more - 3);
}
