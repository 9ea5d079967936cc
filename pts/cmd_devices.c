/* SPDX-License-Identifier: MIT */
/* pts devices: the drives here, the word that --destroy wants for each, and what uses them. Opens for reading only. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/table.h"
#include "pts/base/units.h"
#include "pts/cmd.h"
#include "pts/gate.h"
#include "pts/gate_sys.h"
#include "pts/left.h"
#include "workloads/dut_real.h"
#include "workloads/dut_security.h"

static const struct column columns[] = {
	{ "path", "DEVICE", COL_TEXT, NULL },
	{ "model", "MODEL", COL_TEXT, NULL },
	{ "serial", "SERIAL", COL_TEXT, NULL },
	{ "word", "--destroy", COL_TEXT, NULL },
	{ "firmware", "FIRMWARE", COL_TEXT, NULL },
	{ "capacity_bytes", NULL, COL_INT, NULL },
	{ NULL, "SIZE", COL_TEXT, NULL },
	{ "lba_bytes", "LBA", COL_INT, NULL },
	{ "interface", "INTERFACE", COL_TEXT, NULL },
	{ "purge_methods", "PURGE", COL_WORDS, NULL },
	{ "purge_auto", "AUTO", COL_TEXT, NULL },
	{ "note", "NOTE", COL_TEXT, NULL },
	{ "in_use", "IN USE", COL_TEXT, NULL },
	{ "signature", "CARRIES", COL_TEXT, NULL },
	{ "purge_why", NULL, COL_TEXT, NULL },
	{ "security", NULL, COL_TEXT, NULL },
	{ "left", NULL, COL_TEXT, NULL },
	{ "transport", NULL, COL_TEXT, NULL },
	{ "nsid", NULL, COL_INT, NULL },
	{ "namespaces", NULL, COL_WORDS, NULL },
	{ "link", NULL, COL_TEXT, NULL },
	{ "link_max", NULL, COL_TEXT, NULL },
	{ "numa_node", NULL, COL_INT, NULL },
	{ "wwid", NULL, COL_TEXT, NULL },
	{ "layout", NULL, COL_TEXT, NULL },
	{ "members", NULL, COL_WORDS, NULL },
	{ "uuid", NULL, COL_TEXT, NULL },
};

/* One drive of the list. */
struct entry {
	struct dut_info info;
	bool known; /* it was asked itself, not only looked at from outside */
	const char *security; /* ATA, in words; "" */
	const char *db; /* where notes of crashed purges may lie, too */
};

static void text_or_null(struct table *t, const char *s)
{
	table_text(t, s[0] ? s : NULL);
}

static void int_or_null(struct table *t, uint64_t v)
{
	if (v)
		table_int(t, (int64_t)v);
	else
		table_null(t);
}

/* What /sys tells to those who may not open the drive. */
static void facts_of_sysfs(const char *name, const char *path, struct dut_info *in)
{
	char dir[512];

	*in = (struct dut_info){ .kind = DUT_BLOCK, .numa_node = -1 };
	snprintf(dir, sizeof dir, "/sys/block/%s", name);
	snprintf(in->path, sizeof in->path, "%s", path);
	sys_line(in->model, sizeof in->model, "%s/device/model", dir);
	sys_line(in->serial, sizeof in->serial, "%s/device/serial", dir);
	sys_line(in->firmware, sizeof in->firmware, "%s/device/firmware_rev", dir);
	in->capacity_bytes = (uint64_t)sys_num(0, "%s/size", dir) * 512;
	in->lba_bytes = (uint32_t)sys_num(0, "%s/queue/logical_block_size", dir);
}

static void method_words(uint32_t methods, struct buf *out)
{
	for (unsigned m = PURGE_AUTO + 1; m < PURGE_METHODS; m++) {
		if (methods & (1u << m))
			buf_fmt(out, "%s%s", out->len ? " " : "",
				purge_method_name((enum purge_method)m));
	}
}

/* Other namespaces of the same NVMe drive: a purge may reach them. */
static void namespaces_of(const struct dut_info *in, struct buf *out)
{
	struct dirent *e;
	DIR *dir = in->nsid && in->serial[0] ? opendir("/sys/block") : NULL;

	while (dir && (e = readdir(dir)) != NULL) {
		struct dut_real other = { .fd = -1 };
		struct sys_dev dev;
		char path[SYS_NAME];

		snprintf(path, sizeof path, "/sys/block/%.60s", e->d_name);
		if (strncmp(e->d_name, "nvme", 4) || !sys_dev_of(path, &dev))
			continue;
		sysfs_facts("/sys", dev.major, dev.minor, &other);
		sys_dev_path(e->d_name, path, sizeof path);
		if (other.d.info.nsid && !strcmp(other.d.info.serial, in->serial) &&
		    strcmp(path, in->path))
			buf_fmt(out, "%s%s", out->len ? " " : "", path);
	}
	if (dir)
		closedir(dir);
}

static void left_note(const struct entry *e, char *ret, size_t n)
{
	struct left *l = calloc(LEFT_MAX, sizeof *l);

	BUG_ON(!l);
	ret[0] = '\0';
	if (left_of(e->db, &e->info, l))
		snprintf(ret, n, "since %.19s: %s: pts purge --recover undoes it (%s)", l[0].utc,
			 l[0].detail, l[0].file);
	free(l);
}

static void layout_cells(struct table *t, const struct dut_info *in)
{
	struct buf members = BUF_INIT;
	struct layout l;
	char uuid[140] = "";

	if (in->layout[0] && gate_layout(NULL, in->path, &l)) {
		gate_layout_uuid(NULL, &l, uuid, sizeof uuid);
		for (unsigned i = 0; i < l.n; i++)
			buf_fmt(&members, "%s%s", i ? " " : "", l.member[i].path);
	}
	text_or_null(t, in->layout);
	table_text(t, members.len ? buf_cstr(&members) : NULL);
	text_or_null(t, uuid);
	buf_release(&members);
}

/* What the drive is, besides; in JSON alone. */
static void more_cells(struct table *t, const struct entry *e, const char *left)
{
	const struct dut_info *in = &e->info;
	struct buf others = BUF_INIT;

	namespaces_of(in, &others);
	text_or_null(t, in->auto_why);
	text_or_null(t, e->security);
	text_or_null(t, left);
	text_or_null(t, in->transport);
	int_or_null(t, in->nsid);
	table_text(t, others.len ? buf_cstr(&others) : NULL);
	text_or_null(t, in->link);
	text_or_null(t, in->link_max);
	if (in->numa_node < 0)
		table_null(t);
	else
		table_int(t, in->numa_node);
	text_or_null(t, in->wwid);
	layout_cells(t, in);
	buf_release(&others);
}

static void add_row(struct table *t, const struct entry *e)
{
	const struct dut_info *in = &e->info;
	char size[32], in_use[640], carries[640], left[640];
	struct buf methods = BUF_INIT;

	method_words(in->purge_methods, &methods);
	gate_users(in->path, NULL, in_use, sizeof in_use);
	if (gate_signature(in->path, NULL, carries, sizeof carries))
		carries[0] = '\0';
	left_note(e, left, sizeof left);
	table_text(t, in->path);
	text_or_null(t, in->model);
	text_or_null(t, in->serial);
	/* without having asked the drive itself, its word is not sure */
	table_text(t, e->known || in->serial[0] ? gate_word(in) : NULL);
	text_or_null(t, in->firmware);
	table_int(t, (int64_t)in->capacity_bytes);
	table_text(t, fmt_capacity(size, sizeof size, in->capacity_bytes));
	int_or_null(t, in->lba_bytes);
	text_or_null(t, in->interface);
	table_text(t, e->known ? buf_cstr(&methods) : NULL);
	table_text(t, e->known ? purge_method_name(in->purge_auto) : NULL);
	text_or_null(t, left[0]		 ? left
			: e->security[0] ? e->security
			: in->unasked	 ? in->auto_why
					 : in->layout);
	text_or_null(t, in_use);
	text_or_null(t, carries);
	more_cells(t, e, left);
	table_row(t);
	buf_release(&methods);
}

/* Drives only: no RAM disks, no optical or floppy drives, no paths below a multipath drive, nothing without a size. */
static bool is_drive(const char *name)
{
	static const char *const others[] = { "ram", "sr", "fd" };

	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		size_t n = strlen(others[i]);

		if (!strncmp(name, others[i], n) && name[n] >= '0' && name[n] <= '9')
			return false;
	}
	return name[0] != '.' && sys_num(0, "/sys/block/%s/size", name) > 0 &&
	       sys_num(0, "/sys/block/%s/hidden", name) == 0;
}

static void add_device(const struct opts *o, struct table *t, const char *name)
{
	struct entry e = { .security = "", .db = o->db };
	struct dut_options opt = { .seed = 0 };
	struct dut *d = NULL;
	struct err err = { "" };
	char path[SYS_NAME];

	sys_dev_path(name, path, sizeof path);
	if (dut_open(path, DUT_READ, &opt, &d, &err)) {
		/* the list goes on; what is known without opening is shown */
		cmd_fail(o, EXIT_DEVICE, &err);
		facts_of_sysfs(name, path, &e.info);
		add_row(t, &e);
		return;
	}
	e.info = d->info;
	e.known = !d->info.unasked;
	e.security = dut_security(d);
	add_row(t, &e);
	dut_close(d);
}

static int drives_only(const struct dirent *e)
{
	return is_drive(e->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int list_devices(const struct opts *o, struct table *t)
{
	struct err err = { "" };
	struct dirent **list;
	int n = scandir("/sys/block", &list, drives_only, by_name);

	if (n < 0) {
		err_set(&err, -errno, "/sys/block: %s", strerror(errno));
		return cmd_fail(o, EXIT_DEVICE, &err);
	}
	for (int i = 0; i < n; i++) {
		add_device(o, t, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return EXIT_GOOD;
}

static void print(const struct opts *o, const struct table *t, struct buf *out)
{
	struct json j = JSON_INIT(out);

	if (o->json) {
		json_object(&j, NULL);
		json_str(&j, "schema", "pts.devices/1");
		table_json(t, &j, "devices");
		json_end_object(&j);
		buf_str(out, "\n");
	} else if (table_rows(t)) {
		table_print(t, out);
	} else {
		buf_str(out, "no drives here\n");
	}
}

int cmd_devices(const struct opts *o)
{
	struct buf out = BUF_INIT;
	struct table *t;
	int rc;

	if (o->arg.n)
		return cmd_usage(o, "takes no word: '%s'; it lists all drives", o->arg.v[0]);
	t = table_new(columns, sizeof columns / sizeof *columns);
	rc = list_devices(o, t);
	if (rc == EXIT_GOOD) {
		print(o, t, &out);
		rc = cmd_out(o, &out, EXIT_GOOD);
	}
	buf_release(&out);
	table_free(t);
	return rc;
}
