/* SPDX-License-Identifier: MIT */
/*
 * The order is: what is it, is it in use, does it carry data, has the user agreed. Looking is by /sys and /proc, reading, and
 * an exclusive open for reading that is closed at once; nothing is opened for writing before all have said yes.
 */
#include "pts/gate.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "pts/gate_use.h"

static const char *root_of(const char *sysroot)
{
	return sysroot ? sysroot : "";
}

/* ---- in use ---- */

/* The kernel lets one holder have a drive exclusively: file systems, md, dm, ZFS, swap and other testers are such. */
static int exclusive_free(const struct gate_request *rq, const struct use_tree *t, struct err *err)
{
	struct open_query q = { .root = t->root, .tree = t, .readers = true };
	int rc = use_claimed(t->root, rq->info->path);
	char who[128];

	if (!rc || (rc == -ENOENT && t->root[0]))
		return 0;
	if (rc != -EBUSY)
		return err_set(err, rc, "%s: cannot be opened for reading: %s", rq->dut,
			       strerror(-rc));
	if (!use_opener(&q, who, sizeof who))
		snprintf(who, sizeof who, "another program, container or the kernel (ZFS?)");
	return err_set(err, -EPERM, "%s is in use: opened exclusively by %s: end that first",
		       rq->dut, who);
}

static int block_unused(const struct gate_request *rq, const struct use_tree *t, struct err *err)
{
	struct open_query q = { .root = t->root, .tree = t };
	struct use_report use;
	char who[128];

	use_find(t, &use);
	if (use.n)
		return err_set(err, -EPERM, "%s is in use: %s: %s", rq->dut, use.text, use.hint);
	if (use_opener(&q, who, sizeof who))
		return err_set(err, -EPERM, "%s is in use: open for writing in %s: end that first",
			       rq->dut, who);
	return exclusive_free(rq, t, err);
}

static int block_kind(const struct gate_request *rq, const struct use_tree *t, struct err *err)
{
	char disk[SYS_PATH], zoned[32];

	if (!sys_parent(t->node[0].dir, disk, sizeof disk))
		snprintf(disk, sizeof disk, "%s", t->node[0].dir);
	sys_line(zoned, sizeof zoned, "%s/queue/zoned", disk);
	if (!strcmp(zoned, "host-managed"))
		return err_set(err, -EPERM,
			       "%s is a host-managed zoned drive: it takes no random writes, which "
			       "every PTS test needs",
			       rq->dut);
	if (sys_num(0, "%s/ro", t->node[0].dir) == 1)
		return err_set(
			err, -EPERM,
			"%s is read-only: lift its write protection (blockdev --setrw) first",
			rq->dut);
	return 0;
}

/* ---- signatures ---- */

static const char *usage_words(const char *usage)
{
	if (!strcmp(usage, "filesystem"))
		return " file system";
	if (!strcmp(usage, "raid"))
		return " (member of an array, volume group or pool)";
	if (!strcmp(usage, "crypto"))
		return " (encrypted)";
	return "";
}

static void probe_value(blkid_probe pr, const char *where, struct buf *out)
{
	const char *type = NULL, *usage = "", *table = NULL;
	const char *sep = buf_cstr(out)[0] ? ", " : "";

	blkid_probe_lookup_value(pr, "TYPE", &type, NULL);
	blkid_probe_lookup_value(pr, "USAGE", &usage, NULL);
	blkid_probe_lookup_value(pr, "PTTYPE", &table, NULL);
	if (type)
		buf_fmt(out, "%s%s%s%s", sep, type, usage_words(usage), where);
	else if (table)
		buf_fmt(out, "%s%s partition table%s", sep, table, where);
}

/* Appends what the open device carries. 0 or -errno. */
static int probe_fd(int fd, const char *where, struct buf *out)
{
	blkid_probe pr = blkid_new_probe();
	int rc;

	if (!pr)
		return -ENOMEM;
	errno = 0;
	rc = blkid_probe_set_device(pr, fd, 0, 0);
	if (!rc) {
		blkid_probe_enable_superblocks(pr, 1);
		blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
		blkid_probe_enable_partitions(pr, 1);
		while ((rc = blkid_do_probe(pr)) == 0)
			probe_value(pr, where, out);
	}
	blkid_free_probe(pr);
	if (rc >= 0)
		return 0;
	return errno ? -errno : -EIO;
}

static int probe_path(const char *root, const char *path, const char *where, struct buf *out)
{
	char full[PATH_MAX];
	int fd, rc;

	snprintf(full, sizeof full, "%s%s", root, path);
	fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && root[0] ? 0 : -errno;
	rc = probe_fd(fd, where, out);
	close(fd);
	return rc;
}

/* The device itself, then its partitions; a partition that the kernel knows is data, table or no table. */
static int signatures(const struct use_tree *t, struct buf *out)
{
	int rc = probe_path(t->root, t->node[0].path, "", out);
	bool table = buf_cstr(out)[0];

	for (unsigned i = 1; i < t->n && !rc; i++) {
		char where[SYS_NAME + 8];

		if (t->node[i].how != USE_PARTITION || t->node[i].from)
			continue;
		snprintf(where, sizeof where, " on %s", t->node[i].path);
		if (!table)
			buf_fmt(out, "%spartition %s", buf_cstr(out)[0] ? ", " : "",
				t->node[i].path);
		rc = probe_path(t->root, t->node[i].path, where, out);
	}
	return rc;
}

#define LOOKED_AT ((off_t)1 << 20) /* bytes at both ends of a device: signatures are there */
#define LOOK_STEP 4096

/* The first place from @from to @to that cannot be read. 0, or -errno with the place. */
static int unreadable(int fd, off_t from, off_t to, off_t *ret)
{
	static char page[LOOK_STEP] __attribute__((aligned(LOOK_STEP)));

	for (off_t at = from; at < to; at += LOOK_STEP) {
		if (pread(fd, page, sizeof page, at) >= 0)
			continue;
		*ret = at;
		return -errno;
	}
	return 0;
}

/* Why the look at a device failed with @rc: the library that looks does not tell where. */
static int look_failed(const struct gate_request *rq, const char *path, int rc, struct err *err)
{
	/* direct: through the page cache a bad sector spoils its whole neighbourhood */
	int fd = open(path, O_RDONLY | O_DIRECT | O_NONBLOCK | O_CLOEXEC), bad = 0;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END), at = 0;
	char where[64] = "";

	if (size > 0)
		bad = unreadable(fd, 0, size < LOOKED_AT ? size : LOOKED_AT, &at);
	if (size > LOOKED_AT && !bad)
		bad = unreadable(fd, size - LOOKED_AT, size, &at);
	if (fd >= 0)
		close(fd);
	if (bad)
		snprintf(where, sizeof where, " at sector %lld (offset %lld)", (long long)at / 512,
			 (long long)at);
	rc = bad ? bad : rc;
	return err_set(err, rc,
		       "%s cannot be read%s: %s (%s): whether it carries data is not known; give "
		       "--force-signature if all of it may go, or have the drive looked at",
		       rq->dut, where, strerror(-rc), strerrorname_np(-rc));
}

static int block_blank(const struct gate_request *rq, const struct use_tree *t, struct err *err)
{
	struct buf found = BUF_INIT;
	int rc = signatures(t, &found);

	if (rc &&
	    rq->info->erasing) /* whatever it carried, it carries no more; a purge waits for it */
		rc = 0;
	else if (rc)
		look_failed(rq, rq->info->path, rc, err);
	else if (!strncmp(buf_cstr(&found), "partition ", 10) && !strchr(buf_cstr(&found), ','))
		rc = err_set(err, -EPERM,
			     "%s carries data: %.600s, of which it has no table: let the kernel "
			     "forget it (partx -d), or give --force-signature if all of it may go",
			     rq->dut, buf_cstr(&found));
	else if (buf_cstr(&found)[0])
		rc = err_set(err, -EPERM,
			     "%s carries data: %.600s: wipe it (wipefs -a), or give "
			     "--force-signature if all of it may go",
			     rq->dut, buf_cstr(&found));
	buf_release(&found);
	return rc;
}

/* ---- consent ---- */

static bool file_needs_word(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !dut_file_is_ours(path);
}

const char *gate_word(const struct dut_info *info)
{
	switch (info->kind) {
	case DUT_SIM:
	case DUT_SET: /* each of its members has a word of its own */
		return "";
	case DUT_FILE:
		return file_needs_word(info->path) ? info->path : "";
	case DUT_BLOCK:
		return info->serial[0] ? info->serial : info->path;
	}
	BUG("no such kind of DUT: %d", info->kind);
}

/* Where the word is a path, the path as the user wrote it will do: for "file:x?size=1g" that is "x". */
static bool path_as_given(const struct gate_request *rq, const char *word)
{
	const char *given = rq->dut;
	size_t n;

	if (rq->info->kind == DUT_BLOCK)
		return !rq->info->serial[0] && !strcmp(word, given);
	if (strncmp(given, "file:", 5))
		return false;
	given += 5;
	n = strcspn(given, "?");
	return n && strlen(word) == n && !memcmp(word, given, n);
}

static bool agreed(const struct gate_request *rq, const char *word)
{
	for (unsigned i = 0; i < rq->n_destroy; i++) {
		if (!strcmp(rq->destroy[i], word) || path_as_given(rq, rq->destroy[i]) ||
		    gate_layout_named(rq, rq->destroy[i]))
			return true;
	}
	return false;
}

bool gate_names(const struct gate_request *rq, const char *word)
{
	const struct dut_info *in = rq->info;

	return (in->serial[0] && !strcmp(word, in->serial)) || !strcmp(word, in->path) ||
	       !strcmp(word, gate_word(in)) || path_as_given(rq, word) ||
	       gate_layout_named(rq, word);
}

static int consent(const struct gate_request *rq, struct err *err)
{
	const struct dut_info *in = rq->info;
	const char *word = gate_word(in);
	char size[32], what[256], given[300] = "";

	if (rq->agreed || !word[0] || agreed(rq, word))
		return 0;
	fmt_capacity(size, sizeof size, in->capacity_bytes);
	if (in->kind == DUT_FILE)
		snprintf(what, sizeof what, "a file that pts did not make, %s", size);
	else
		snprintf(what, sizeof what, "%s, %s, %s%s", in->model[0] ? in->model : "no model",
			 size, in->serial[0] ? "serial " : "no serial", in->serial);
	if (rq->n_destroy == 1)
		snprintf(given, sizeof given, "--destroy '%.200s' does not name it; ",
			 rq->destroy[0]);
	else if (rq->n_destroy)
		snprintf(given, sizeof given, "none of the %u --destroy words names it; ",
			 rq->n_destroy);
	return err_set(err, -EPERM,
		       "%s (%s) would lose all its data: %sgive --destroy '%s' to agree", rq->dut,
		       what, given, word);
}

/* ---- the gate ---- */

static int block_tree(const struct gate_request *rq, struct use_tree *ret, struct err *err)
{
	int rc = use_tree_build(root_of(rq->sysroot), rq->info->path, ret);

	if (rc == -ENXIO)
		return err_set(err, -EPERM,
			       "%s is not in /sys: cannot tell whether it is in use; mount /sys",
			       rq->dut);
	if (rc == -ENOTBLK)
		return err_set(err, -EPERM, "%s is no block device: for a file say file:PATH",
			       rq->dut);
	return rc ? err_set(err, rc, "%s: %s", rq->dut, strerror(-rc)) : 0;
}

static int check_block(const struct gate_request *rq, struct err *err)
{
	struct use_tree tree;
	int rc = block_tree(rq, &tree, err);

	if (rc)
		return rc;
	rc = block_kind(rq, &tree, err);
	if (!rc)
		rc = block_unused(rq, &tree, err);
	if (!rc && !rq->force_signature)
		rc = block_blank(rq, &tree, err);
	use_tree_release(&tree);
	return rc ? rc : consent(rq, err);
}

int gate_check(const struct gate_request *rq, struct err *err)
{
	int rc;

	switch (rq->info->kind) {
	case DUT_SIM:
		return 0;
	case DUT_FILE:
		rc = gate_file_in_use(root_of(rq->sysroot), rq->info->path, err);
		return rc ? rc : consent(rq, err);
	case DUT_BLOCK:
		return check_block(rq, err);
	case DUT_SET: /* its members pass one by one, or not at all */
		return err_set(err, -EPERM, "%s is a set: one drive at a time", rq->dut);
	}
	BUG("no such kind of DUT: %d", rq->info->kind);
}

void gate_users(const char *path, const char *sysroot, char *ret, unsigned n)
{
	struct use_tree tree;
	struct use_report use;
	char who[128];

	ret[0] = '\0';
	if (use_tree_build(root_of(sysroot), path, &tree))
		return;
	use_find(&tree, &use);
	if (use.n)
		snprintf(ret, n, "%s", use.text);
	else if (use_opener(&(struct open_query){ .root = tree.root, .tree = &tree }, who,
			    sizeof who))
		snprintf(ret, n, "open for writing in %s", who);
	use_tree_release(&tree);
}

int gate_signature(const char *path, const char *sysroot, char *ret, unsigned n)
{
	struct buf found = BUF_INIT;
	struct use_tree tree;
	int rc = use_tree_build(root_of(sysroot), path, &tree);

	ret[0] = '\0';
	if (rc)
		return rc;
	rc = signatures(&tree, &found);
	snprintf(ret, n, "%s", buf_cstr(&found));
	buf_release(&found);
	use_tree_release(&tree);
	return rc;
}
