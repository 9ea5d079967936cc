/* SPDX-License-Identifier: MIT */
/* Lines to words. Only printable ASCII outside quotes and comments; CRLF is taken as a line end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/json.h"
#include "pts/def_ast.h"

#define WORDS_MAX 512u

void lex_init(struct lexer *lx, const char *file, const char *text, size_t len)
{
	lx->file = file;
	lx->p = text;
	lx->end = text + len;
	lx->line = 0;
}

const char *lex_show(char *out, const char *s)
{
	size_t n = strlen(s);

	if (n > 40)
		snprintf(out, 48, "%.40s...", s);
	else
		snprintf(out, 48, "%s", s);
	return out;
}

static int lex_bad(struct lexer *lx, const char *what)
{
	return err_set(lx->err, -EINVAL, "%s:%u: %s", lx->file, lx->line, what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Characters that are words of their own. */
static bool is_single(char c)
{
	return c && strchr("()*+<=", c);
}

static bool is_word_char(char c)
{
	return c > ' ' && c < 0x7f && c != '"' && c != '#' && c != '@' && !is_single(c);
}

/* A quoted text: no escapes, ends on its line. */
static int lex_quoted(struct lexer *lx, const char **p, const char *eol, struct word *ret)
{
	const char *from = ++*p, *q;

	for (q = from; q < eol && *q != '"'; q++)
		if ((unsigned char)*q < ' ' || *q == 0x7f)
			return lex_bad(lx, "a control character in a quoted text");
	if (q == eol)
		return lex_bad(lx, "a quoted text does not end on its line");
	ret->s = arena_strndup(lx->arena, from, (size_t)(q - from));
	if (!text_is_utf8(ret->s))
		return lex_bad(lx, "a quoted text is not UTF-8");
	ret->quoted = true;
	*p = q + 1;
	return 0;
}

static int lex_word(struct lexer *lx, const char **p, const char *eol, struct word *ret)
{
	const char *from = *p, *q = from;

	if (*q == '"')
		return lex_quoted(lx, p, eol, ret);
	if (is_single(*q))
		q++;
	else
		while (q < eol && is_word_char(*q))
			q++;
	if (q == from) {
		char msg[64];
		snprintf(msg, sizeof msg, "this is not text: byte 0x%02x",
			 (unsigned)(unsigned char)*q);
		if (*q == '@')
			return lex_bad(lx, "the character '@' has no meaning here");
		return lex_bad(lx, msg);
	}
	ret->s = arena_strndup(lx->arena, from, (size_t)(q - from));
	ret->quoted = false;
	*p = q;
	return 0;
}

static int lex_words(struct lexer *lx, const char *p, const char *eol, struct span *ret)
{
	struct word w[WORDS_MAX];
	unsigned n = 0;

	for (;;) {
		while (p < eol && is_blank(*p))
			p++;
		if (p == eol || *p == '#')
			break;
		if (n == WORDS_MAX)
			return lex_bad(lx, "too many words on a line");
		int rc = lex_word(lx, &p, eol, &w[n]);
		if (rc)
			return rc;
		n++;
	}
	ret->n = n;
	ret->w = n ? arena_memdup(lx->arena, w, n * sizeof w[0]) : NULL;
	return 0;
}

int lex_line(struct lexer *lx, struct span *ret)
{
	while (lx->p < lx->end) {
		const char *from = lx->p;
		const char *eol = memchr(from, '\n', (size_t)(lx->end - from));

		lx->line++;
		lx->p = eol ? eol + 1 : lx->end;
		if (!eol)
			eol = lx->end;
		if (eol > from && eol[-1] == '\r')
			eol--;
		if (eol - from > (ptrdiff_t)DEF_LINE_MAX)
			return lex_bad(lx, "the line is longer than 4096 characters");
		int rc = lex_words(lx, from, eol, ret);
		if (rc)
			return rc;
		if (ret->n)
			return 1;
	}
	return 0;
}
