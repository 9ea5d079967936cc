/* SPDX-License-Identifier: MIT */
#include "pts/cmd_info.h"

#include <errno.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/units.h"
#include "pts/base/words.h"

/* Sorted as pts(1) lists them. */
static const char *const keys[] = {
	/* who */
	"operator", "auditor", "sponsor", "customer", "lab", "order",
	/* the drive */
	"nand_type", "controller", "dram", "plp", "form_factor", "media_type", "features",
	"power_state", "rated_tbw", "rated_dwpd", "warranty_years", "price", "purchased",
	/* where it was measured */
	"ambient", "airflow", "chassis", "slot", "hba", "backplane", "primary_storage",
	"peripherals", "comment", NULL
};

struct reading {
	struct info *to;
	const char *file;
	struct err *err;
};

static bool known(const char *key)
{
	if (!strncmp(key, "x_", 2) && key[2])
		return true;
	for (unsigned i = 0; keys[i]; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static int take_rated(struct reading *r, const char *value, unsigned line)
{
	if (parse_rated(value, &r->to->rated_tbw_bytes))
		return err_set(r->err, -EINVAL,
			       "%s:%u: rated_tbw is a number of TB, or '3.5 PB', not '%.40s'",
			       r->file, line, value);
	return 0;
}

static int check_key(const struct reading *r, const char *key, unsigned line)
{
	const char *near = known(key) ? NULL : nearest_word(key, keys);

	if (!known(key))
		return err_set(r->err, -EINVAL, "%s:%u: unknown key '%.40s'%s%s%s", r->file, line,
			       key, near ? " (did you mean '" : "", near ? near : "",
			       near ? "'?)" : "; a key of your own is written x_NAME");
	for (unsigned i = 0; i < r->to->n; i++)
		if (!strcmp(r->to->v[i].key, key))
			return err_set(r->err, -EINVAL, "%s:%u: '%s' is there twice", r->file, line,
				       key);
	return r->to->n < INFO_MAX ? 0
				   : err_set(r->err, -EINVAL, "%s:%u: more than %d values", r->file,
					     line, INFO_MAX);
}

static int take_pair(void *arg, const char *section, const char *key, const char *value,
		     unsigned line)
{
	struct reading *r = arg;
	struct info *to = r->to;
	int rc = check_key(r, key, line);

	(void)section; /* [drive], [lab]: for the reader of the file */
	if (!rc && !*value)
		rc = err_set(r->err, -EINVAL, "%s:%u: '%s' has no value", r->file, line, key);
	if (!rc && !strcmp(key, "rated_tbw"))
		rc = take_rated(r, value, line);
	if (rc)
		return rc;
	to->v[to->n].key = arena_strdup(&to->arena, key);
	to->v[to->n++].value = arena_strdup(&to->arena, value);
	return 0;
}

int info_read(const char *file, struct info *ret, struct err *err)
{
	struct reading r = { ret, file, err };
	struct buf b = BUF_INIT;
	int rc;

	*ret = (struct info){ .n = 0 };
	if (!file)
		return 0;
	rc = buf_read_file(&b, file, 1 << 20);
	if (rc)
		rc = err_set(err, -EINVAL, "--info %s: %s", file, strerror(-rc));
	else
		rc = ini_read(file, buf_cstr(&b), b.len, take_pair, &r, err);
	buf_release(&b);
	return rc;
}

void info_release(struct info *i)
{
	arena_release(&i->arena);
}
