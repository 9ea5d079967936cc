/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/cmd_resume.h"
#include "pts/identity.h"

/* A consent to the path of a drive without serial is one to that drive. @given: as it was, since names may be swapped. */
static void rename_words(struct opts *o, const struct opt_list *given, const char *was,
			 const char *now)
{
	for (unsigned i = 0; i < given->n; i++)
		if (!strcmp(given->v[i], was))
			o->destroy.v[i] = now;
}

static void tell(const struct dut_info *id, const char *now, const char *was)
{
	if (id->serial[0])
		fprintf(stderr, "pts: resume: the drive with serial %s is %s now (was %s)\n",
			id->serial, now, was);
	else
		fprintf(stderr, "pts: resume: the target is %s now (was %s)\n", now, was);
}

const char *resume_find(const char *dut, const struct stored_target *was,
			const struct opt_list *given, struct opts *o, struct arena *a)
{
	struct dut_info id = was->id;
	struct dut_name n;
	struct err ignored = { "" };
	char real[PATH_MAX], now[128];
	const char *name;

	if (dut_name_parse(dut, &n, &ignored) || n.kind != DUT_BLOCK)
		return dut;
	if (realpath(n.path, real) && strlen(real) < sizeof id.path)
		snprintf(id.path, sizeof id.path, "%s", real); /* of a link, where it points now */
	if (!identity_find("", &id, was->identity ? was->identity : "", now) ||
	    !strcmp(now, id.path))
		return dut;
	name = arena_strdup(a, now);
	tell(&id, name, dut);
	rename_words(o, given, was->id.path, name);
	rename_words(o, given, dut, name);
	return name;
}

int resume_same_info(const struct dut_info *was, const struct dut_info *now, struct err *err)
{
	const struct {
		const char *what, *was, *is;
	} text[] = { { "model", was->model, now->model },
		     { "serial", was->serial, now->serial },
		     { "firmware", was->firmware, now->firmware } };

	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		if (strcmp(text[i].was, text[i].is))
			return err_set(err, -EPERM, "another drive: %s was '%s', is '%s' now",
				       text[i].what, text[i].was, text[i].is);
	if (was->capacity_bytes != now->capacity_bytes || was->lba_bytes != now->lba_bytes)
		return err_set(err, -EPERM,
			       "another drive or format: was %llu bytes in blocks of %u, is %llu "
			       "in blocks of %u",
			       (unsigned long long)was->capacity_bytes, was->lba_bytes,
			       (unsigned long long)now->capacity_bytes, now->lba_bytes);
	return 0;
}

int resume_same_identity(const char *was, const char *is, const char *dut, struct err *err)
{
	struct buf diff = BUF_INIT;
	int rc = 0;

	identity_diff(was ? was : "", is, &diff);
	if (diff.len)
		rc = err_set(err, -EPERM, "not the target of the run, %s: %s", dut,
			     buf_cstr(&diff));
	buf_release(&diff);
	return rc;
}
