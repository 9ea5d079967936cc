/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/report_csv.h"
#include "reports/save.h"
#include "schema/read.h"

struct folder {
	const char *path;
	struct arena arena;
	struct buf readme, sums;
	const char **name; /* of the files so far, each once */
	unsigned n;
};

static bool taken(const struct folder *f, const char *name)
{
	for (unsigned i = 0; i < f->n; i++)
		if (!strcasecmp(f->name[i], name))
			return true;
	return false;
}

/* "SS audit" -> "SS_audit.csv": letters, digits, "-", "_" and "." only, so that a sheet's name is never a path. */
static const char *file_name(struct folder *f, const char *sheet)
{
	char *base = arena_strdup(&f->arena, sheet);

	for (char *p = base; *p; p++) {
		bool safe = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || *p == '_' ||
			    (p > base && (*p == '-' || *p == '.'));
		*p = safe ? *p : '_';
	}
	const char *name = arena_fmt(&f->arena, "%s.csv", base);
	for (unsigned i = 2; taken(f, name); i++)
		name = arena_fmt(&f->arena, "%s-%u.csv", base, i);
	f->name[f->n++] = name;
	return name;
}

static int put_file(struct folder *f, const char *name, const struct buf *text, struct err *err)
{
	char digest[65];

	bytes_sha256(buf_cstr(text), text->len, digest);
	buf_fmt(&f->sums, "%s  %s\n", digest, name);
	return save_text(text, arena_fmt(&f->arena, "%s/%s", f->path, name), err);
}

static int put_sheet(struct folder *f, const struct grid_sheet *s, struct err *err)
{
	struct buf text = BUF_INIT;
	const char *name = file_name(f, s->name);

	grid_write_csv(s, &text);
	buf_fmt(&f->readme, "%-32s %s%s\n", name,
		s->role == ROLE_DATA ? "rows, one head: sheet " : "tables of the pages of sheet ",
		s->name);
	int rc = put_file(f, name, &text, err);
	buf_release(&text);
	return rc;
}

static void begin_readme(struct folder *f, const struct grid *g)
{
	buf_fmt(&f->readme, "%s\n%s\n%s\n%s\n\n", g->title, g->subject, g->footer_left,
		g->footer_right);
	for (unsigned i = 0; i < g->n_properties; i++)
		buf_fmt(&f->readme, "%s: %s\n", g->property[i].name, g->property[i].value);
	buf_str(&f->readme,
		"\nCSV as RFC 4180 has it: comma, CR LF, a point in numbers, UTF-8. Numbers are not"
		" rounded. Units are\nthose of the heads. A ' stands before a text that a "
		"spreadsheet"
		" would take for a formula.\nSHA256SUMS lists every file of this report (sha256sum "
		"-c"
		" SHA256SUMS); others in this folder are\nnot of it. The database is the"
		" evidence.\n\n");
}

static int fill(struct folder *f, const struct grid *g, struct err *err)
{
	int rc = 0;

	begin_readme(f, g);
	for (const struct grid_sheet *s = g->first; s && !rc; s = s->next)
		rc = put_sheet(f, s, err);
	if (!rc)
		rc = put_file(f, "README.txt", &f->readme, err);
	/* last: while it is the old one, it does not fit the new files */
	if (!rc)
		rc = save_text(&f->sums, arena_fmt(&f->arena, "%s/SHA256SUMS", f->path), err);
	return rc;
}

static int make_folder(const char *path, struct err *err)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a folder", path);
	return 0;
}

int report_csv(const struct grid *g, const char *dir, struct err *err)
{
	struct folder f = { .readme = BUF_INIT, .sums = BUF_INIT };
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	f.path = arena_strndup(&f.arena, dir, len);
	f.name = arena_array(&f.arena, const char *, g->n_sheets + 1);
	int rc = make_folder(f.path, err);
	if (!rc)
		rc = fill(&f, g, err);
	buf_release(&f.readme);
	buf_release(&f.sums);
	arena_release(&f.arena);
	return rc;
}
