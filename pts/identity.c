/* SPDX-License-Identifier: MIT */
#include "pts/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pts/gate.h"
#include "pts/gate_sys.h"
#include "workloads/dut_sim.h"

static void of_file(const char *path, char *ret, size_t n)
{
	struct stat st;

	if (stat(path, &st) == 0)
		snprintf(ret, n, "file %x:%llu", (unsigned)st.st_dev,
			 (unsigned long long)st.st_ino);
}

/* Of a drive without serial and wwid; @dir is its folder in /sys. */
static void of_disk(const char *root, const char *dir, char *ret, size_t n)
{
	struct sys_backing below;
	char boot[64], seq[48];
	long long offset;
	size_t len;

	if (sys_backing(root, dir, &below)) {
		if (below.known && !below.block)
			snprintf(ret, n, "file %x:%llu", (unsigned)below.file_dev,
				 (unsigned long long)below.file_ino);
		else
			snprintf(ret, n, "over %.150s", below.path);
		offset = sys_num(0, "%s/loop/offset", dir);
		len = strlen(ret);
		if (offset) /* other bytes of the same file are another drive */
			snprintf(ret + len, n - len, " from %lld", offset);
		return;
	}
	sys_line(boot, sizeof boot, "%s/proc/sys/kernel/random/boot_id", root);
	sys_line(seq, sizeof seq, "%s/diskseq", dir);
	snprintf(ret, n, "boot %s disk %s", boot, seq);
}

static void of_block(const char *root, const struct dut_info *d, char *ret, size_t n)
{
	char dir[SYS_PATH], disk[SYS_PATH];
	struct sys_dev dev;
	long long part = 0;
	size_t len;

	if (!sys_resolve(root, d->path, &dev) && sys_dir(root, dev, dir, sizeof dir)) {
		part = sys_num(0, "%s/partition", dir);
		if (!sys_parent(dir, disk, sizeof disk))
			memcpy(disk, dir, sizeof disk);
		if (!d->wwid[0] && !d->serial[0])
			of_disk(root, disk, ret, n);
	}
	if (d->wwid[0])
		snprintf(ret, n, "wwid %s", d->wwid);
	len = strlen(ret);
	if (part)
		snprintf(ret + len, n - len, "%spartition %lld", len ? ", " : "", part);
}

void identity_of(const char *sysroot, const struct dut_info *d, char *ret, size_t n)
{
	ret[0] = 0;
	if (d->kind == DUT_FILE)
		of_file(d->path, ret, n);
	else if (d->kind == DUT_BLOCK)
		of_block(sysroot, d, ret, n);
	else if (d->wwid[0])
		snprintf(ret, n, "wwid %s", d->wwid);
}

/* ---- arrays ---- */

/* A member by what it is; its name may change. */
static void of_member(const char *sysroot, const struct layout_member *m, struct buf *out)
{
	struct dut_info d = { .kind = DUT_BLOCK };
	char id[200];

	snprintf(d.path, sizeof d.path, "%s", m->path);
	snprintf(d.serial, sizeof d.serial, "%s", m->serial);
	snprintf(d.wwid, sizeof d.wwid, "%s", m->wwid);
	identity_of(sysroot, &d, id, sizeof id);
	buf_fmt(out, "member %s%s%s=%s, firmware '%s', %llu bytes\n", m->serial,
		m->serial[0] && id[0] ? " " : "", id, m->model, m->firmware,
		(unsigned long long)m->capacity_bytes);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void of_layout(const char *sysroot, const struct layout *l, struct buf *out)
{
	char *line[LAYOUT_MEMBERS_MAX] = { NULL }, text[64], uuid[140];

	layout_text(l, text, sizeof text);
	gate_layout_uuid(sysroot, l, uuid, sizeof uuid);
	buf_fmt(out, "layout=%s\n", text);
	if (uuid[0])
		buf_fmt(out, "uuid=%s\n", uuid);
	if (l->name[0])
		buf_fmt(out, "name=%s\n", l->name);
	for (unsigned i = 0; i < l->n; i++) {
		struct buf b = BUF_INIT;

		of_member(sysroot, &l->member[i], &b);
		line[i] = buf_take(&b);
	}
	qsort(line, l->n, sizeof *line, by_text);
	for (unsigned i = 0; i < l->n; i++) {
		buf_str(out, line[i]);
		free(line[i]);
	}
}

void identity_text(const char *sysroot, const struct dut_info *d, struct buf *out)
{
	struct layout l;
	char text[200];

	if (d->kind == DUT_BLOCK && d->layout[0] && gate_layout(sysroot, d->path, &l)) {
		of_layout(sysroot, &l, out);
		return;
	}
	identity_of(sysroot, d, text, sizeof text);
	buf_str(out, text);
}

void identity_of_dut(const struct dut *d, struct buf *out)
{
	if (d->info.kind == DUT_SIM)
		dut_sim_params(d, out);
	else
		identity_text("", &d->info, out);
}

/* ---- what differs ---- */

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
