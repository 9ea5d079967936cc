/* SPDX-License-Identifier: MIT */
#include "workloads/dut.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "pts/base/words.h"
#include "workloads/dut_real.h"
#include "workloads/dut_set.h"
#include "workloads/dut_sim.h"
#include "workloads/fault.h"

/* ---- purge methods ---- */

static const struct {
	const char *name;
	bool pts; /* spec 3.2 */
} methods[PURGE_METHODS] = {
	[PURGE_NONE] = { "none", false },
	[PURGE_AUTO] = { "auto", false },
	[PURGE_NVME_FORMAT] = { "nvme-format", true },
	[PURGE_NVME_SANITIZE_BLOCK] = { "nvme-sanitize-block", true },
	[PURGE_NVME_SANITIZE_CRYPTO] = { "nvme-sanitize-crypto", true },
	[PURGE_NVME_SANITIZE_OVERWRITE] = { "nvme-sanitize-overwrite", true },
	[PURGE_SCSI_FORMAT] = { "scsi-format", true },
	[PURGE_SCSI_SANITIZE] = { "scsi-sanitize", true },
	[PURGE_ATA_SECURITY_ERASE] = { "ata-security-erase", true },
	[PURGE_ATA_SANITIZE] = { "ata-sanitize", true },
	[PURGE_BLKDISCARD] = { "blkdiscard", false },
	[PURGE_PUNCH] = { "punch", false },
	[PURGE_SIM] = { "sim", false },
	[PURGE_HOOK] = { "hook", false },
};

const char *purge_method_name(enum purge_method m)
{
	return m < PURGE_METHODS ? methods[m].name : "?";
}

int purge_method_parse(const char *s, enum purge_method *ret)
{
	for (unsigned m = 0; m < PURGE_METHODS; m++) {
		if (strcmp(s, methods[m].name))
			continue;
		*ret = (enum purge_method)m;
		return 0;
	}
	return -EINVAL;
}

const char *const *purge_method_names(void)
{
	/* In the order of the enum from PURGE_AUTO on. */
	static const char *const names[] = { "auto",
					     "nvme-format",
					     "nvme-sanitize-block",
					     "nvme-sanitize-crypto",
					     "nvme-sanitize-overwrite",
					     "scsi-format",
					     "scsi-sanitize",
					     "ata-security-erase",
					     "ata-sanitize",
					     "blkdiscard",
					     "punch",
					     "sim",
					     NULL };

	return names;
}

/* PTS[GEN-3.2-METHOD] */
bool purge_method_is_pts(enum purge_method m)
{
	return m < PURGE_METHODS && methods[m].pts;
}

/* ---- names ---- */

static int parse_option(const char *name, struct dut_name *n, char *word, struct err *err)
{
	static const char *const file_keys[] = { "size", NULL };
	static const char *const sim_keys[] = { "size", "seed", NULL };
	const char *const *keys = n->kind == DUT_SIM ? sim_keys : file_keys;
	char *value = strchr(word, '=');
	uint64_t v;

	if (value)
		*value++ = 0;
	if (value && !strcmp(word, "size")) {
		if (parse_size(value, &v) || !v)
			return err_set(err, -EINVAL, "%s: size '%s' (such as 1g, 512m)", name,
				       value);
		n->size_bytes = v;
		return 0;
	}
	if (value && n->kind == DUT_SIM && !strcmp(word, "seed")) {
		if (parse_uint(value, 0, UINT64_MAX, &n->seed))
			return err_set(err, -EINVAL, "%s: seed '%s' is no whole number", name,
				       value);
		n->has_seed = true;
		return 0;
	}
	const char *near = nearest_word(word, keys);
	return err_set(err, -EINVAL, "%s: unknown option '%s'%s%s%s", name, word,
		       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static int parse_options(const char *name, struct dut_name *n, struct err *err)
{
	char *at = strrchr(n->path, '?'), *word, *rest;
	int rc = 0;

	if (!at)
		return 0;
	*at++ = 0;
	for (word = strtok_r(at, "&", &rest); word && !rc; word = strtok_r(NULL, "&", &rest))
		rc = parse_option(name, n, word, err);
	return rc;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

const char *dut_name_inner(const char *name)
{
	const char *end = starts(name, "fault:") ? strchr(name + 6, ':') : NULL;

	return end ? end + 1 : name;
}

static int parse_fault(const char *name, struct dut_name *n, struct err *err)
{
	const char *spec = name + 6, *inner = dut_name_inner(name);
	struct fault *f;
	int rc;

	if (inner == name || (size_t)(inner - spec) > sizeof n->fault)
		return err_set(err, -EINVAL, "'%s' is not fault:SPEC:DUT", name);
	if (starts(inner, "fault:") || starts(inner, "sim:") || set_name_is(inner))
		return err_set(err, -EINVAL, "faults need a drive or a file, not '%s'", inner);
	snprintf(n->fault, sizeof n->fault, "%.*s", (int)(inner - spec - 1), spec);
	rc = fault_open(n->fault, &f, err);
	if (!rc)
		fault_close(f);
	return rc;
}

static int parse_bare(const char *name, struct dut_name n, struct dut_name *ret, struct err *err)
{
	const char *path = name;
	int rc;

	if (starts(name, "file:")) {
		n.kind = DUT_FILE;
		path = name + 5;
	} else if (starts(name, "sim:")) {
		n.kind = DUT_SIM;
		n.simulated = true;
		path = name + 4;
	} else if (!starts(name, "/dev/") || !name[5]) {
		return err_set(err, -EINVAL,
			       "'%s' is no DUT name: /dev/NAME, file:PATH?size=1g, "
			       "sim:PROFILE?size=30t&seed=7 or set:DUT,DUT,...",
			       name);
	}
	if (strlen(path) >= sizeof n.path)
		return err_set(err, -EINVAL, "DUT name of %zu bytes is too long", strlen(path));
	snprintf(n.path, sizeof n.path, "%s", path);
	rc = n.kind == DUT_BLOCK ? 0 : parse_options(name, &n, err);
	if (rc)
		return rc;
	if (!n.path[0])
		return err_set(err, -EINVAL, "'%s' names nothing after the colon", name);
	if (n.kind == DUT_FILE && starts(n.path, "/dev/") && !starts(n.path, "/dev/shm/"))
		return err_set(err, -EINVAL,
			       "file: takes regular files; a device is named as it is: %s", n.path);
	*ret = n;
	return 0;
}

int dut_name_parse(const char *name, struct dut_name *ret, struct err *err)
{
	struct dut_name n = { .kind = DUT_BLOCK };
	int rc = starts(name, "fault:") ? parse_fault(name, &n, err) : 0;

	if (set_name_is(name))
		return set_name_parse(name, ret, err);
	return rc ? rc : parse_bare(dut_name_inner(name), n, ret, err);
}

/* ---- opening ---- */

int dut_open(const char *name, enum dut_open_mode mode, const struct dut_options *opt,
	     struct dut **ret_dut, struct err *err)
{
	static const struct dut_options none;
	struct dut_name n;
	int rc = dut_name_parse(name, &n, err);

	if (rc)
		return rc;
	struct dut_request q = { &n, name, mode, opt ? opt : &none };
	if (q.opt->passthrough && n.kind != DUT_BLOCK && n.kind != DUT_SET)
		return err_set(err, -EOPNOTSUPP,
			       "%s is no NVMe drive, and --engine passthrough sends NVMe commands",
			       name);
	switch (n.kind) {
	case DUT_SIM:
		return dut_sim_open(&n, name, q.opt, ret_dut, err);
	case DUT_FILE:
		return dut_file_open(&q, ret_dut, err);
	case DUT_SET:
		return dut_set_open(name, mode, q.opt, ret_dut, err);
	case DUT_BLOCK:
		break;
	}
	return dut_block_open(&q, ret_dut, err);
}

void dut_close(struct dut *d)
{
	if (d)
		d->ops->close(d);
}
